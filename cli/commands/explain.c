/* assay explain: explains the result of one statement. */
#include "cli/cli.h"
#include "cli/commands/story.h"
#include "cli/output/format.h"
#include "cli/output/alignment_output.h"
#include "cli/output/links_output.h"
#include "cli/output/terminal.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "lib/base/input.h"
#include "lib/meaning/meaning.h"
#include "signals/support/links.h"
#include "signals/support/meaning.h"

#include <math.h>
#include <string.h>

/* --- comparison with the question --- */

/* Returns the verifier's estimate for a request with this one candidate, or NAN. If no models can be loaded, the
 * statement is still explained. */
static double ask_verifier(const struct cli *cli, const struct story *story)
{
    struct err err = {0};
    struct msg_verdict *verdict = NULL;
    struct engine_config config;
    const struct settings *s = &cli->settings;
    const struct vsig_subject *subject = &story->subject;
    char *name = db_path_name(story->database.path);
    struct worker_database file = story->database;
    file.name = name;
    struct msg_candidate candidate = {.sql = {subject->sql, (uint32_t)subject->sql_len}, .count = 1, .score = NAN};
    struct msg_request request = {.id = "explain",
                                  .db = file.name,
                                  .question = s->check.question,
                                  .evidence = s->check.evidence,
                                  .candidates = &candidate,
                                  .n_candidates = 1};
    engine_settings(cli, &config);
    config.databases = (struct worker_databases){.files = &file, .n_files = 1};
    config.remote = (struct scorer_config){0};
    config.workers = 1;
    config.defaults.strategy = MSG_RERANK; /* with this strategy, the verifier judges every candidate */
    config.defaults.explain = MSG_EXPLAIN_ON;
    double entails = NAN;
    if (engine_judge(&config, &request, &verdict, &err))
        complain_err("verifier", &err);
    else if (verdict->n_candidates)
        entails = verdict->candidates[0].entailment;
    msg_verdict_free(verdict);
    g_free(name);
    return entails;
}

static void compare(const struct cli *cli, struct story *story)
{
    if (!story->subject.question) return;
    story->entails = ask_verifier(cli, story);
    story->n_gaps = features_gaps(&story->subject, story->explanation, &story->arena, story->gaps, STORY_MAX_GAPS);
}

/* --- text --- */

static void print_line(const char *text)
{
    if (!text || !*text) return;
    print_safe(stdout, text, strlen(text), true);
    putchar('\n');
}

static void print_prose(const char *text)
{
    if (text && *text) print_paragraph(stdout, "", 0, text);
}

static void print_comparison(const struct story *story)
{
    if (!story->subject.question) return;
    GString *text = g_string_new(NULL);
    if (isnan(story->entails))
        g_string_append(text, "The built-in verifier gives no score.");
    else
        g_string_append_printf(text, "P(entails) %.3f, by the built-in verifier.", story->entails);
    for (uint32_t i = 0; i < story->n_gaps; i++) {
        const struct features_gap *gap = &story->gaps[i];
        g_string_append(text, i ? ", " : " Words of the question that the explanation does not cover: ");
        g_string_append_printf(text, "\"%.*s\"", (int)(gap->end - gap->start), story->subject.question + gap->start);
    }
    if (story->n_gaps) g_string_append_c(text, '.');
    putchar('\n');
    print_prose(text->str);
    g_string_free(text, TRUE);
}

static void print_meaning(struct story *story)
{
    struct meaning *meaning = NULL;
    if (meaning_read(&story->arena, story->subject.bound, &meaning) || !meaning) return;
    const char *text = meaning_print(&story->arena, meaning);
    if (text) print_safe(stdout, text, strlen(text), true);
}

static void print_story(const struct cli *cli, struct story *story, enum format format)
{
    if (format != FORMAT_TEXT && !cli->settings.explain.premise && !cli->settings.explain.meaning) {
        json_t *json = story_json(story);
        format_json(json, format, stdout);
        json_decref(json);
        return;
    }
    if (cli->settings.explain.premise) {
        print_line(story->explanation->premise); /* the exact form of the explanation, as the verifier reads it */
        print_line(story->explanation->missing);
        return;
    }
    if (cli->settings.explain.meaning) {
        print_meaning(story);
        return;
    }
    const struct link_query *links = cli->settings.explain.words ? vsig_links(&story->subject) : NULL;
    if (links) {
        links_print(links, stdout);
        const struct alignment *alignment = vsig_alignment(&story->subject);
        if (alignment) alignment_print(story->subject.analysis, alignment, story->subject.sql, stdout);
        return;
    }
    print_prose(story->explanation->prose);
    print_prose(story->explanation->missing);
    print_comparison(story);
}

/* --- the command --- */

static enum err_code open_story(struct cli *cli, struct story *story, struct err *err)
{
    const struct worker_database database = story->database;
    struct schema_options options = engine_settings_schema_options(cli, &database);
    enum err_code code = story_open(story, &database, NULL, err);
    char *name = db_path_name(database.path);
    if (!code) code = schema_build(story->db, name, database.path, &options, &story->schema, err);
    g_free(name);
    return code;
}

static int explain_text(struct cli *cli, const char *sql, size_t len, enum format format)
{
    struct story story = {0};
    struct err err = {0};
    const struct settings *s = &cli->settings;
    int code = 0;
    if (catalogue_pick(cli, s->check.db, &story.database, &err)) return complain_err(NULL, &err);
    if (open_story(cli, &story, &err)) {
        char *shown = db_path_shown(story.database.path);
        code = complain_err(shown, &err);
        g_free(shown);
    } else if (story_tell(&story, sql, len, s->check.question, s->check.evidence, &err)) {
        complain_err(NULL, &err);
        code = EXIT_JUDGED;
    } else {
        compare(cli, &story);
        print_story(cli, &story, format);
    }
    story_close(&story);
    return code;
}

static int explain_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_JSONL, &format)) return EXIT_ERROR;
    if (!cli->settings.check.db) {
        complain("no database is given" ERR_HINT "set --db=FILE");
        return EXIT_ERROR;
    }
    if (cli->n_args == 1) return explain_text(cli, cli->args[0], strlen(cli->args[0]), format);
    struct input input;
    struct err err = {0};
    if (input_read("-", &input, &err) != ERR_OK) return complain_err("standard input", &err);
    int code = explain_text(cli, input.text, input.len, format);
    input_free(&input);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .guide = "explanations.md",
    .sentence = "explain in words what a statement returns, and from which rows",
    .args = "--db DB [SQL]",
    .description =
        "Explains one SQL statement from the rows of the database. The explanation says what the statement selects, "
        "joins, filters and groups, and from which source rows one row of the result was derived. If the result is "
        "empty, it names the condition that removes all rows. Without a SQL argument, the statement is read from "
        "standard input.\n\n"
        "JSON output also has each phrase with its position in the statement, and the rewritten statements with their "
        "source rows. With --question, it has the input of the verifier.\n\n"
        "With --question, the built-in verifier also prints how likely the explanation answers the question, as in a "
        "request with this candidate only. The output lists the words of the question that the explanation does not "
        "answer. --words shows which part of the statement each word refers to, and which parts no word asks for.\n\n"
        "--expose and --deny-column limit the data shown: values shows the first source row of each part, rows shows "
        "all rows that were fetched. For a database of the configuration, its entry limits the data too.\n\n"
        "The exit status is 1 if the statement does not execute or is not understood.",
    .examples = "assay explain --db shop.sqlite 'SELECT count(*) FROM customer WHERE city = ''Rome'''\n"
                "assay explain --db shop.sqlite --question 'How many customers live in Rome?' 'SELECT 7'\n"
                "assay explain --db shop.sqlite --question 'Which customers live in Rome?' --words 'SELECT name FROM "
                "customer'\n"
                "assay explain --db shop.sqlite --expose rows --format json 'SELECT name FROM product LIMIT 1'",
    .main_flags = "db question words premise expose deny-column format",
    .groups = (const struct option_group *const[]){&options_check, &options_explain, &options_judge, &options_output,
                                                   &options_database, &options_schema, &options_general, NULL},
    .max_args = 1,
    .run = explain_run,
};
