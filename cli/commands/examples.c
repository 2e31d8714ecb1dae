/* assay examples: builds and queries a store of few-shot examples (examples/examples.h). */
#include "cli/output/format.h"
#include "cli/output/table.h"
#include "cli/replay/labelled.h"
#include "examples/examples.h"
#include "lib/learn/json_file.h"
#include "lib/schema/deny_name.h"
#include "repair/transfer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char OTHER_RESULT[] = "its result is another one than that of the right query";

/* --- build --- */

struct build {
    struct labelled_run run;
    struct examples *store;
    uint64_t kept, left_out;
    enum err_code code;
    struct err *err;
};

/* Returns the error of a candidate: the engine's message, or else that of the first finding, or else that the result
 * differs. */
static const char *error_of(const struct msg_judged *judged, const struct labels *labels, uint32_t index)
{
    if (labels->errors[index]) return labels->errors[index];
    return judged->n_findings && judged->findings[0].message ? judged->findings[0].message : OTHER_RESULT;
}

/* Sets out->steps to the repair steps, one on each line, and out->kind to the changed clauses, each once. */
static bool describe(struct arena *arena, const char *wrong, const char *right, struct example *out)
{
    struct repair_step steps[REPAIR_MAX_STEPS];
    int n = repair_steps(arena, wrong, right, steps);
    GString *lines = g_string_new(NULL), *kind = g_string_new(NULL);
    for (int i = 0; i < n; i++) {
        const char *was = steps[i].was ? steps[i].was : "nothing", *now = steps[i].now ? steps[i].now : "nothing";
        g_string_append_printf(lines, "%s%s: %s becomes %s", i ? "\n" : "", steps[i].clause, was, now);
        if (!strstr(kind->str, steps[i].clause))
            g_string_append_printf(kind, "%s%s", kind->len ? ", " : "", steps[i].clause);
    }
    out->steps = arena_strdup(arena, lines->str);
    out->kind = arena_strdup(arena, kind->str);
    g_string_free(lines, TRUE);
    g_string_free(kind, TRUE);
    return n > 0 && out->steps && out->kind;
}

/* True if `lower` may contain the name that the entry denies. For the entry `table.*`, this is the name of the
 * table. */
static bool holds_denied(const char *lower, const char *entry)
{
    struct deny_name name;
    if (deny_name_parse(entry, &name, NULL)) return true;
    char *part = g_ascii_strdown(deny_name_last(&name), -1);
    bool found = strstr(lower, part) != NULL;
    g_free(part);
    return found;
}

/* True if the SQL contains the name of a denied column. Such SQL is not stored, because it may also contain values of
 * the column. */
static bool names_denied(const struct build *b, const char *sql)
{
    const struct msg_options *options = &b->run.config.defaults;
    char *lower = g_ascii_strdown(sql, -1);
    bool found = false;
    for (uint32_t i = 0; i < options->n_deny_columns && !found; i++)
        found = holds_denied(lower, options->deny_columns[i]);
    g_free(lower);
    return found;
}

/* Adds descriptions of the columns of both queries, so that the edit can be applied to other schemas. */
static bool know_columns(struct arena *arena, const struct schema_index *schema, struct example *out)
{
    int n = schema ? repair_example_columns(arena, schema, out->wrong, out->right, &out->columns) : 0;
    out->n_columns = n > 0 ? (uint32_t)n : 0;
    return n >= 0;
}

static bool may_be_shown(const struct build *b, const struct msg_judged *judged, const struct example *example)
{
    bool withheld = judged->execution && judged->execution->withheld;
    return !withheld && !names_denied(b, example->wrong) && !names_denied(b, example->right);
}

static void add(struct build *b, const struct labelled *one, uint32_t index)
{
    const struct msg_judged *judged = &one->verdict->candidates[index];
    struct arena arena;
    bool added = false;
    arena_init(&arena, 0);
    struct example example = {.source = one->verdict->id,
                              .db = one->verdict->db,
                              .question = one->question,
                              .wrong = arena_strndup(&arena, judged->sql.bytes, judged->sql.len),
                              .error = error_of(judged, one->labels, index),
                              .right = one->verdict->gold};
    if (example.wrong && may_be_shown(b, judged, &example) &&
        describe(&arena, example.wrong, example.right, &example) && know_columns(&arena, one->schema, &example))
        b->code = examples_add(b->store, &example, &added, b->err);
    b->kept += added;
    b->left_out += !added;
    arena_free(&arena);
}

static void take(void *ctx, const struct labelled *one)
{
    struct build *b = ctx;
    for (uint32_t i = 0; one->labels && i < one->labels->n && !b->code; i++)
        if (one->labels->of[i] != LABEL_RIGHT && !one->verdict->candidates[i].same_as) add(b, one, i);
}

/* Opens the configured encoder. *out stays NULL if the built-in embedder is used. */
static enum err_code open_encoder(const struct cli *cli, struct examples_encoder **out, struct err *err)
{
    struct engine_config config;
    engine_settings(cli, &config);
    return config.encoder.endpoint ? examples_encoder_open(&config.encoder, out, err) : ERR_OK;
}

/* Adds examples from the logs to a store, which `open` opens. Judges every candidate, so that each one has its
 * findings. */
static enum err_code fill(struct cli *cli,
                          enum err_code (*open)(const char *path, struct examples_encoder *encoder,
                                                struct examples **out, struct err *err),
                          bool *unreached, struct err *err)
{
    const char *out = cli->settings.examples.out;
    struct build b = {.run = {.cli = cli, .first = 1, .each = take}, .err = err};
    struct examples_encoder *encoder = NULL;
    if (!out) return err_set(err, ERR_USAGE, "--out is required" ERR_HINT "set --out=FILE, the store to write");
    if (!engine_settings_has_databases(cli))
        return err_set(err, ERR_USAGE, "no database is given to run the candidates on");
    b.run.ctx = &b;
    engine_settings(cli, &b.run.config);
    b.run.config.defaults.strategy = MSG_RERANK;
    b.run.schemas = engine_settings_schemas(cli, &b.run.config, err);
    if (!b.run.schemas) return err->code;
    enum err_code code = open_encoder(cli, &encoder, err);
    if (!code) code = open(out, encoder, &b.store, err);
    if (!code) code = labelled_run(&b.run, err);
    schema_cache_free(b.run.schemas);
    *unreached = b.run.unreached;
    if (!code) code = b.code;
    enum err_code closed = examples_close(b.store, code ? NULL : err);
    examples_encoder_close(encoder);
    if (!code) code = closed;
    if (!code)
        printf("%llu examples added to %s; %llu left out (duplicate, too long, denied or unparsable)\n",
               (unsigned long long)b.kept, out, (unsigned long long)b.left_out);
    return code;
}

static enum err_code open_to_add(const char *path, struct examples_encoder *encoder, struct examples **out,
                                 struct err *err)
{
    return examples_open(path, true, encoder, out, err);
}

/* --- show, search --- */

static json_t *example_json(const struct example *example, double likeness)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "source", example->source, "db", example->db, "question",
                     example->question, "wrong", example->wrong, "error", example->error, "right", example->right,
                     "steps", example->steps, "kind", example->kind, "likeness",
                     likeness >= 0 ? json_real(likeness) : json_null());
}

enum { READ_AT_ONCE = 100 };

static enum err_code print(struct examples *store, const struct examples_found *found, uint32_t n, enum format format,
                           struct err *err)
{
    enum err_code code = ERR_OK;
    json_t *rows = json_array();
    struct arena arena;
    arena_init(&arena, 0);
    struct example read[READ_AT_ONCE];
    for (uint32_t i = 0; i < n && !code; i++) {
        if (i % READ_AT_ONCE == 0) {
            arena_reset(&arena);
            code = examples_read(store, &arena, found + i, MIN(n - i, READ_AT_ONCE), read, err);
        }
        if (code) break;
        const struct example e = read[i % READ_AT_ONCE];
        if (format != FORMAT_TEXT) {
            json_array_append_new(rows, example_json(&e, (double)found[i].likeness));
            continue;
        }
        printf("%s%s (%s", i ? "\n" : "", e.question, e.db);
        if (found[i].likeness >= 0) printf(", likeness %.2f", (double)found[i].likeness);
        printf(")\n- %s\n+ %s\n  %s\n", e.wrong, e.right, e.error);
    }
    if (!code && format != FORMAT_TEXT) format_json(rows, format, stdout);
    json_decref(rows);
    arena_free(&arena);
    return code;
}

static enum err_code show(struct cli *cli, struct examples *store, enum format format, struct err *err)
{
    uint64_t limit = cli->settings.log.limit ? (uint64_t)cli->settings.log.limit : UINT64_MAX;
    uint32_t n = (uint32_t)MIN(limit, examples_count(store));
    struct examples_found *all = g_new0(struct examples_found, n + 1);
    enum err_code code = print(store, all, examples_list(store, n, all), format, err);
    g_free(all);
    return code;
}

static enum err_code search(struct cli *cli, struct examples *store, enum format format, struct err *err)
{
    const struct settings *s = &cli->settings;
    const struct examples_query query = {s->examples.question, s->examples.sql, s->examples.error, s->examples.source};
    struct examples_found found[EXAMPLES_MAX_FOUND];
    int key = examples_key_by_name(s->examples.key);
    uint32_t n = examples_search(store, &query, (enum examples_key)key, (uint32_t)s->examples.n, found);
    return print(store, found, n, format, err);
}

static enum err_code prune(struct cli *cli, struct examples *store, enum format format, struct err *err)
{
    uint32_t taken = 0;
    (void)format;
    enum err_code code = examples_prune(store, (float)cli->settings.examples.likeness, &taken, err);
    if (!code) printf("%u of %u examples removed\n", taken, examples_count(store));
    return code;
}

/* --- the command --- */

static const struct action {
    const char *name;
    bool writes;
    enum err_code (*run)(struct cli *cli, struct examples *store, enum format format, struct err *err);
} actions[] = {{"show", false, show}, {"search", false, search}, {"prune", true, prune}};

static enum err_code run_on_store(struct cli *cli, const struct action *action, struct err *err)
{
    enum format format;
    struct examples *store = NULL;
    struct examples_encoder *encoder = NULL;
    if (cli->n_args != 2) return err_set(err, ERR_USAGE, "%s expects one store", action->name);
    if (!format_choose(cli, FORMATS_TABLE, &format)) return err_set(err, ERR_USAGE, "unsupported format");
    enum err_code code = open_encoder(cli, &encoder, err);
    if (!code) code = examples_open(cli->args[1], action->writes, encoder, &store, err);
    if (!code) code = action->run(cli, store, format, err);
    enum err_code closed = examples_close(store, code ? NULL : err);
    examples_encoder_close(encoder);
    return code ? code : closed;
}

static int examples_run(struct cli *cli)
{
    struct err err = {0};
    const char *name = cli->args[0];
    bool build = strcmp(name, "build") == 0, unreached = false;
    if (build || strcmp(name, "add") == 0) {
        if (fill(cli, build ? examples_create : open_to_add, &unreached, &err))
            return complain_err(build ? "examples build" : "examples add", &err);
        return unreached ? EXIT_JUDGED : 0;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return run_on_store(cli, &actions[i], &err) ? complain_err("examples", &err) : 0;
    complain("unknown examples action '%s', expected build, add, show, search or prune", name);
    return EXIT_ERROR;
}

const struct command command_examples = {
    .name = "examples",
    .guide = "examples.md",
    .sentence = "store corrected queries as examples for repairs",
    .args = "build|add LOG... | show|search|prune STORE",
    .description =
        "Manages a store of wrong queries and their corrections, which repairs use with --examples. Each example has "
        "the question, the wrong SQL, its errors or findings, and the correct SQL. It also has the steps from the "
        "wrong to the correct SQL.\n\n"
        "build creates a store from the wrong candidates of logs with reference (gold) queries or feedback. add "
        "appends to an existing store, also while other processes search the store. With --from-topic, add reads the "
        "feedback of users from Kafka. show prints the store. prune removes near duplicates.\n\n"
        "search finds the most similar examples by error, question, SQL, question and SQL, or all three. The key "
        "hybrid uses all three and their words. search returns no example of the same question.\n\n"
        "See docs/examples.md.",
    .examples =
        "assay examples build labelled.jsonl --db-root databases --out examples.db\n"
        "assay examples search examples.db --question 'How many are there?' --sql 'SELECT sum(id) FROM t' --key hybrid "
        "-k 3\n"
        "assay replay log.jsonl --db-root databases --repair apply --corrector-endpoint http://localhost:8000/v1 "
        "--corrector-model m --examples examples.db",
    .main_flags = "db-root out question sql error key nearest format",
    .words = "build add show search prune",
    .groups =
        (const struct option_group *const[]){&options_examples, &options_encoder, &options_log, &options_range,
                                             &options_kafka, &options_judge, &options_signals, &options_database,
                                             &options_schema, &options_redis, &options_output, &options_general, NULL},
    .min_args = 2,
    .max_args = -1,
    .run = examples_run,
};
