/* assay words: proposes the terms of a team (words.yaml). */
#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "train/suggest.h"

#include <jansson.h>
#include <string.h>

struct suggesting {
    struct engine_config config;
    struct labeler *labeler; /* keeps the databases open */
    struct schema_cache *schemas;
    struct suggest *suggest;
    struct lines lines;
    bool failed;
};

static void suggest_line(struct suggesting *s)
{
    struct err err = {0};
    const char *path = NULL;
    struct schema_index *index = NULL;
    json_t *line = s->lines.too_long ? NULL : json_loadb(s->lines.text, s->lines.len, JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(line, "db")),
               *gold = json_string_value(json_object_get(line, "gold")),
               *question = json_string_value(json_object_get(line, "question")),
               *evidence = json_string_value(json_object_get(line, "evidence"));
    enum err_code code = ERR_OK;
    if (!name || !gold || !question) code = err_set(&err, ERR_MALFORMED, "the line lacks db, question or gold");
    struct db *db = code ? NULL : labeler_db(s->labeler, name, &path, &err);
    if (!code) code = db ? schema_cache_get(s->schemas, db, name, path, &index, &err) : err.code;
    if (!code) suggest_add(s->suggest, name, index, question, evidence, gold);
    if (code) complain("%s:%llu: %s", s->lines.path, (unsigned long long)s->lines.number, err.text);
    s->failed |= code != ERR_OK;
    if (index) schema_unref(index);
    json_decref(line);
}

static int suggest_log(struct suggesting *s, const char *path)
{
    struct err err = {0};
    if (lines_open(path, &s->lines, &err) != ERR_OK) return complain_err(path, &err);
    int more = 0;
    if (s->lines.empty) complain_empty(path);
    while ((more = lines_next(&s->lines)) > 0) suggest_line(s);
    if (more < 0) complain("%s: cannot be read: %s", path, lines_error(&s->lines));
    lines_close(&s->lines);
    if (!suggest_print(s->suggest, stdout)) complain("no word of the questions is associated with one column or value");
    return more < 0 ? EXIT_ERROR : s->failed ? EXIT_JUDGED : 0;
}

static int words_run(struct cli *cli)
{
    if (strcmp(cli->args[0], "suggest") != 0) {
        complain("unknown action '%s' of words, expected suggest", cli->args[0]);
        return EXIT_ERROR;
    }
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    struct suggesting s = {0};
    struct err err = {0};
    engine_settings(cli, &s.config);
    s.schemas = engine_settings_schemas(cli, &s.config, &err);
    if (!s.schemas) return complain_err(NULL, &err);
    s.labeler = labeler_new(&s.config.databases);
    s.suggest = suggest_new();
    int code = suggest_log(&s, cli->args[1]);
    suggest_free(s.suggest);
    schema_cache_free(s.schemas);
    labeler_free(s.labeler);
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
