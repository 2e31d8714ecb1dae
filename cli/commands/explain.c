/* assay explain: one statement, why it has the result it has. */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/links_output.h"
#include "cli/output/terminal.h"
#include "cli/settings/catalogue.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "lib/base/input.h"
#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/question/question.h"
#include "scoring/features/features.h"
#include "signals/support/links.h"

#include <math.h>
#include <string.h>

enum { MAX_GAPS = 32 };

/* Everything about the statement in hand. */
struct story {
    struct cli *cli;
    struct worker_database database; /* with what may leave of it */
    struct arena arena;
    struct db *db;
    struct schema_index *schema;
    struct vsig_subject subject;
    struct explain_options options;
    struct explanation *explanation;
    double entails; /* by the built-in verifier; NAN: it has nothing to say */
    struct features_gap gaps[MAX_GAPS];
    uint32_t n_gaps;
};

/* --- making it --- */

static enum explain_expose exposed(enum msg_expose expose)
{
    static const enum explain_expose known[MSG_EXPOSE_COUNT] = {EXPLAIN_VALUES, EXPLAIN_NONE, EXPLAIN_VALUES,
                                                                EXPLAIN_ROWS};
    return known[expose];
}

static enum err_code open_story(struct story *story, struct err *err)
{
    const struct worker_database *database = &story->database;
    struct schema_options options = engine_settings_schema_options(story->cli, database);
    enum err_code code = db_open(database->path, &database->limits, &story->db, err);
    char *name = db_path_name(database->path);
    if (!code) code = schema_build(story->db, name, database->path, &options, &story->schema, err);
    g_free(name);
    return code;
}

/* What the engine does not take cannot be explained: its reason is the answer. */
static enum err_code read_statement(struct story *story, const char *sql, size_t len, struct err *err)
{
    const struct settings *s = &story->cli->settings;
    struct vsig_subject *subject = &story->subject;
    const struct question *question =
        s->check.question ? question_read(&story->arena, story->schema, s->check.question, s->check.evidence) : NULL;
    enum err_code code = db_prepare_check(story->db, sql, len, NULL, err);
    if (code) return code;
    code = vsig_subject_init(subject, &story->arena, story->schema, story->db, sql, len, s->check.question,
                             s->check.evidence, question);
    if (!code && subject->bound->diags) code = subject->bound->diags->code;
    if (code) return err_set(err, code, "Assay does not understand this statement: %s", err_meaning(code));
    vsig_result(subject);
    return ERR_OK;
}

static enum err_code explain(struct story *story, struct err *err)
{
    const struct vsig_subject *subject = &story->subject;
    bool ran = subject->result_code == ERR_OK;
    struct explain_source source = {.sql = subject->sql,
                                    .sql_len = subject->sql_len,
                                    .stmt = subject->stmt,
                                    .bound = subject->bound,
                                    .index = story->schema,
                                    .db = ran ? story->db : NULL,
                                    .result = ran ? &subject->result : NULL};
    story->options = explain_defaults;
    story->options.expose = exposed(story->database.expose);
    story->options.deny_columns = story->database.deny_columns;
    story->options.n_deny_columns = story->database.n_deny_columns;
    story->options.may_probe = ran;
    if (schema_uses_denied(story->schema, subject->bound, story->options.deny_columns, story->options.n_deny_columns))
        story->options.expose = EXPLAIN_NONE;
    return explain_query(&story->arena, &source, &story->options, &story->explanation, err);
}

/* --- against the question --- */

/* What a request with this one candidate would be told. Without models there is an explanation all the same. */
static double ask_verifier(const struct story *story)
{
    struct err err = {0};
    struct msg_verdict *verdict = NULL;
    struct engine_config config;
    const struct settings *s = &story->cli->settings;
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
    engine_settings(story->cli, &config);
    config.databases = (struct worker_databases){.files = &file, .n_files = 1};
    config.remote = (struct scorer_config){0};
    config.workers = 1;
    config.defaults.strategy = MSG_RERANK; /* asks the verifier of every candidate */
    config.defaults.explain = MSG_EXPLAIN_ON;
    double entails = NAN;
    if (engine_judge(&config, &request, &verdict, &err))
        complain_err("the verifier", &err);
    else if (verdict->n_candidates)
        entails = verdict->candidates[0].entailment;
    msg_verdict_free(verdict);
    g_free(name);
    return entails;
}

static void compare(struct story *story)
{
    story->entails = NAN;
    if (!story->subject.question) return;
    story->entails = ask_verifier(story);
    story->n_gaps = features_gaps(&story->subject, story->explanation, &story->arena, story->gaps, MAX_GAPS);
}

/* --- JSON --- */

static json_t *text_json(const char *text, size_t len)
{
    char *copy = g_strndup(text, len);
    json_t *out = format_text(copy);
    g_free(copy);
    return out;
}

static json_t *value_json(const struct db_value *value)
{
    switch (value->type) {
    case DB_NULL: return json_null();
    case DB_INT: return json_integer(value->i);
    case DB_FLOAT: return isfinite(value->f) ? json_real(value->f) : json_null();
    case DB_TEXT: return text_json(value->text, value->len);
    case DB_BLOB: return json_sprintf("blob of %zu bytes", value->len);
    }
    return json_null();
}

static json_t *phrase_json(const struct story *story, const struct explain_phrase *phrase)
{
    json_t *columns = json_array();
    for (uint32_t i = 0; i < phrase->n_columns; i++) {
        const struct schema_column *column = story->schema->columns[phrase->columns[i]];
        json_array_append_new(columns, json_sprintf("%s.%s", story->schema->tables[column->table].name, column->name));
    }
    return json_pack("{s:s,s:o,s:o,s:b,s:i,s:i,s:i,s:o}", "kind", explain_kind_name(phrase->kind), "prose",
                     format_text(phrase->prose), "premise", format_text(phrase->premise), "from_data",
                     phrase->from_data, "depth", (int)phrase->depth, "start", (int)phrase->start, "end",
                     (int)phrase->end, "columns", columns);
}

/* What is computed, and a row number, may be a denied column's. */
static bool is_denied(const struct story *story, const struct prov_column *column)
{
    uint32_t n = story->options.n_deny_columns;
    return column->column ? schema_column_is_denied(story->schema, column->column, story->options.deny_columns, n)
                          : n > 0;
}

/* Why something could not be run. What the engine says may quote a value. */
static json_t *reason_json(const struct story *story, const char *reason)
{
    bool engine_said = story->explanation->provenance->code == ERR_ENGINE;
    bool closed = story->options.n_deny_columns > 0 || story->options.expose == EXPLAIN_NONE;
    if (!reason || !*reason) return json_null();
    return format_text(engine_said && closed ? err_meaning(ERR_ENGINE) : reason);
}

/* Source rows: all that were fetched, the first one, or none, as the policy has it. */
static json_t *rows_json(const struct story *story, const struct prov_arm *arm)
{
    json_t *rows = json_array();
    uint32_t n = story->options.expose == EXPLAIN_ROWS ? arm->n_rows : story->options.expose == EXPLAIN_VALUES;
    for (uint32_t r = 0; r < n && r < arm->n_rows; r++) {
        json_t *row = json_array();
        for (uint32_t c = 0; c < arm->n_columns; c++)
            json_array_append_new(row, is_denied(story, &arm->columns[c])
                                           ? json_null()
                                           : value_json(&arm->values[(size_t)r * arm->n_columns + c]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *arm_json(const struct story *story, const struct prov_arm *arm)
{
    static const char *const states[] = {[PROV_ARM_ROWS] = "rows",
                                         [PROV_ARM_OTHER] = "other",
                                         [PROV_ARM_EXCLUDED] = "excluded",
                                         [PROV_ARM_NO_SOURCE] = "no_source",
                                         [PROV_ARM_UNAVAILABLE] = "unavailable"};
    static const char *const shapes[] = {[PROV_SHAPE_PLAIN] = "plain",
                                         [PROV_SHAPE_WHOLE] = "whole",
                                         [PROV_SHAPE_GROUP] = "group",
                                         [PROV_SHAPE_MERGED] = "merged"};
    bool open = story->options.expose != EXPLAIN_NONE; /* the rewritten statement holds the chosen row's values */
    json_t *columns = json_array();
    for (uint32_t c = 0; c < arm->n_columns; c++) json_array_append_new(columns, format_text(arm->columns[c].label));
    return json_pack("{s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:b,s:b}", "state", states[arm->state], "shape", shapes[arm->shape],
                     "parent", (int)arm->parent, "reason", reason_json(story, arm->reason), "sql",
                     format_text(open ? arm->all_sql : NULL), "columns", columns, "rows", rows_json(story, arm), "more",
                     arm->more || (open && story->options.expose == EXPLAIN_VALUES && arm->n_rows > 1), "exact",
                     arm->exact);
}

static json_t *provenance_json(const struct story *story)
{
    static const char *const states[] = {[PROV_ROWS] = "rows",
                                         [PROV_NO_SOURCE] = "no_source",
                                         [PROV_EMPTY] = "empty",
                                         [PROV_NOTHING] = "nothing",
                                         [PROV_UNAVAILABLE] = "unavailable"};
    const struct provenance *from = story->explanation->provenance;
    if (!from) return json_null();
    json_t *arms = json_array();
    for (uint32_t i = 0; i < from->n_arms; i++) json_array_append_new(arms, arm_json(story, &from->arms[i]));
    return json_pack("{s:s,s:o,s:i,s:s,s:i,s:o}", "status", states[from->status], "reason",
                     reason_json(story, from->reason), "row", (int)from->row, "rule", prov_rule_text(from->rule),
                     "statements", (int)from->statements, "arms", arms);
}

static json_t *culprit_json(const struct story *story, const struct whynot_culprit *culprit)
{
    bool open = story->options.expose != EXPLAIN_NONE;
    json_t *nearest = json_array();
    for (uint32_t i = 0; open && i < culprit->n_nearest; i++)
        json_array_append_new(nearest, format_text(culprit->nearest[i]));
    uint32_t start = culprit->node->start, end = culprit->node->end;
    return json_pack("{s:s,s:o,s:i,s:i,s:o,s:o,s:o,s:o}", "kind", whynot_kind_name(culprit->kind), "text",
                     text_json(story->subject.sql + start, end - start), "start", (int)start, "end", (int)end, "column",
                     format_text(culprit->column ? culprit->column->name : NULL), "literal",
                     format_text(culprit->written), "stored",
                     culprit->stored < 0 ? json_null() : json_boolean(culprit->stored), "nearest", nearest);
}

static json_t *whynot_json(const struct story *story)
{
    static const char *const states[] = {[WHYNOT_FOUND] = "found",
                                         [WHYNOT_NOT_EMPTY] = "not_empty",
                                         [WHYNOT_NO_DATA] = "no_data",
                                         [WHYNOT_UNAVAILABLE] = "unavailable"};
    const struct whynot *from = story->explanation->whynot;
    if (!from) return json_null();
    json_t *culprits = json_array();
    for (uint32_t i = 0; i < from->n_culprits; i++)
        json_array_append_new(culprits, culprit_json(story, &from->culprits[i]));
    return json_pack("{s:s,s:o,s:b,s:i,s:o}", "status", states[from->status], "reason",
                     format_text(from->reason && *from->reason ? from->reason : NULL), "minimal", from->minimal,
                     "probes", (int)from->probes, "culprits", culprits);
}

/* What the verifier would be told, by name; unknown ones are left out. */
static json_t *features_json(struct story *story)
{
    float values[FEATURE_COUNT];
    json_t *out = json_object();
    if (features_extract(&story->subject, story->explanation, &story->arena, values)) return out;
    for (unsigned i = 0; i < FEATURE_COUNT; i++)
        if (isfinite(values[i])) json_object_set_new(out, features_name(i), json_real((double)values[i]));
    return out;
}

static json_t *gaps_json(const struct story *story)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < story->n_gaps; i++) {
        const struct features_gap *gap = &story->gaps[i];
        json_array_append_new(out, json_pack("{s:o,s:i,s:i}", "text",
                                             text_json(story->subject.question + gap->start, gap->end - gap->start),
                                             "start", (int)gap->start, "end", (int)gap->end));
    }
    return out;
}

static json_t *story_json(struct story *story)
{
    const struct explanation *explanation = story->explanation;
    const struct vsig_subject *subject = &story->subject;
    bool ran = subject->result_code == ERR_OK;
    json_t *phrases = json_array();
    for (uint32_t i = 0; i < explanation->n_phrases; i++)
        json_array_append_new(phrases, phrase_json(story, &explanation->phrases[i]));
    json_t *out = json_pack(
        "{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o}", "schema_version", 1, "sql",
        text_json(subject->sql, subject->sql_len), "rows", ran ? json_integer(subject->result.n_rows) : json_null(),
        "error", format_text(ran ? NULL : err_name(subject->result_code)), "prose", format_text(explanation->prose),
        "premise", format_text(explanation->premise), "missing", format_text(explanation->missing), "cut",
        explanation->cut, "phrases", phrases, "provenance", provenance_json(story), "why_not", whynot_json(story));
    if (!subject->question) return out;
    json_object_set_new(out, "features", features_json(story));
    json_object_set_new(out, "entailment", isnan(story->entails) ? json_null() : json_real(story->entails));
    json_object_set_new(out, "unanswered", gaps_json(story));
    const struct link_query *links = vsig_links(&story->subject);
    if (links) json_object_set_new(out, "links", links_json(links));
    return out;
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
        g_string_append(text, "The built-in verifier has nothing to go by.");
    else
        g_string_append_printf(text, "P(entails) %.3f, by the built-in verifier.", story->entails);
    for (uint32_t i = 0; i < story->n_gaps; i++) {
        const struct features_gap *gap = &story->gaps[i];
        g_string_append(text, i ? ", " : " Nothing said above answers, in the question: ");
        g_string_append_printf(text, "\"%.*s\"", (int)(gap->end - gap->start), story->subject.question + gap->start);
    }
    if (story->n_gaps) g_string_append_c(text, '.');
    putchar('\n');
    print_prose(text->str);
    g_string_free(text, TRUE);
}

static void print_story(struct story *story, enum format format)
{
    if (format != FORMAT_TEXT && !story->cli->settings.explain.premise) {
        json_t *json = story_json(story);
        format_json(json, format, stdout);
        json_decref(json);
        return;
    }
    if (story->cli->settings.explain.premise) {
        print_line(story->explanation->premise); /* as the verifier reads it */
        print_line(story->explanation->missing);
        return;
    }
    const struct link_query *links = story->cli->settings.explain.words ? vsig_links(&story->subject) : NULL;
    if (links) {
        links_print(links, stdout);
        return;
    }
    print_prose(story->explanation->prose);
    print_prose(story->explanation->missing);
    print_comparison(story);
}

/* --- the command --- */

static int explain_text(struct cli *cli, const char *sql, size_t len, enum format format)
{
    struct story story = {.cli = cli};
    struct err err = {0};
    int code = 0;
    arena_init(&story.arena, (size_t)256 << 20);
    if (catalogue_pick(cli, cli->settings.check.db, &story.database, &err)) {
        code = complain_err(NULL, &err);
    } else if (open_story(&story, &err)) {
        char *shown = db_path_shown(story.database.path);
        code = complain_err(shown, &err);
        g_free(shown);
    } else if (read_statement(&story, sql, len, &err) || explain(&story, &err)) {
        complain_err(NULL, &err);
        code = EXIT_JUDGED;
    } else {
        compare(&story);
        print_story(&story, format);
    }
    if (story.schema) schema_unref(story.schema);
    db_close(story.db);
    arena_free(&story.arena);
    return code;
}

static int explain_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_JSONL, &format)) return EXIT_ERROR;
    if (!cli->settings.check.db) {
        complain("which database? --db=FILE names it");
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
    .sentence = "say in words what a statement asks for and where its result comes from",
    .args = "--db DB [SQL]",
    .description =
        "Explains one SQL statement from the database's own rows: what it selects, joins, filters and groups, the "
        "story "
        "of one row of its result and the rows it came from, or, when there is no row, which condition empties it. "
        "Without an argument the statement comes from standard input.\n\n"
        "As JSON there is also each phrase with its place in the statement, the rewritten statements with their source "
        "rows, and, with --question, what the verifier is told.\n\n"
        "With --question the built-in verifier also says how sure it is that the explanation answers it, as it would "
        "in a request with this one candidate, and which words of the question nothing in the explanation answers. "
        "--words shows what each word stands for in the statement, and what no word asks for.\n\n"
        "--expose and --deny-column say what of the data may appear: with values the first source row of each part, "
        "with rows all that were fetched; of a database of the configuration no more than its entry allows.\n\n"
        "The exit status is 1 when the statement does not execute or is not understood.",
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
