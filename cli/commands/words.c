/* assay words: proposes entries for words.yaml, the file with the terms of a team. */
#include "cli/output/terminal.h"
#include "cli/replay/learning_log.h"
#include "cli/settings/engine_settings.h"
#include "train/suggest.h"

#include <string.h>

static const char *suggest_line(void *ctx, const char *db, const struct schema_index *schema, const json_t *line)
{
    const char *gold = json_string_value(json_object_get(line, "gold")),
               *question = json_string_value(json_object_get(line, "question")),
               *evidence = json_string_value(json_object_get(line, "evidence"));
    if (!gold || !question) return "the line lacks db, question or gold";
    suggest_add(ctx, db, schema, question, evidence, gold);
    return NULL;
}

static int words_run(struct cli *cli)
{
    if (strcmp(cli->args[0], "suggest") != 0) {
        complain("unknown action '%s' of words, expected suggest", cli->args[0]);
        return EXIT_ERROR;
    }
    struct suggest *suggest = suggest_new();
    int code = learning_log_walk(cli, cli->args[1], &(struct learning_log){suggest_line, suggest});
    bool any = code != EXIT_ERROR && suggest_print(suggest, stdout);
    if (code != EXIT_ERROR && !any) complain("no word of the questions is associated with one column or value");
    suggest_free(suggest);
    return code;
}

const struct command command_words = {
    .name = "words",
    .guide = "databases.md",
    .sentence = "propose words.yaml: a team's terms for columns and values",
    .args = "suggest LOG --db-root DIR",
    .description = "suggest reads a log with reference (gold) queries and proposes terms for words.yaml, for each "
                   "database. A proposed word occurs in questions, and no table, column, value or phrase explains it. "
                   "It goes together with one column or value of the gold queries: in at least 3 queries, in 8 of 10 "
                   "queries with the word, and 3 times as often as without the word.\n\n"
                   "Review the proposals, keep the correct ones, and save them as words.yaml beside the database, or "
                   "in its directory of descriptions. A term has a column (table.column), a value of that column, or a "
                   "formula. A question with the term is then read as if its evidence stated the meaning.",
    .examples = "assay words suggest train.jsonl --db-root databases > words.yaml",
    .main_flags = "db-root",
    .words = "suggest",
    .groups = (const struct option_group *const[]){&options_judge, &options_database, &options_schema, &options_general,
                                                   NULL},
    .min_args = 2,
    .max_args = 2,
    .run = words_run,
};
