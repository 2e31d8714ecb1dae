/* assay eval: evaluates Assay on a log with gold queries. With --gold, counts how often each signal fires on the gold
 * queries. */
#include "cli/output/eval_output.h"
#include "cli/output/progress.h"
#include "cli/output/terminal.h"
#include "cli/output/unreached.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "eval/plots/plots.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/outfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAID = 20 }; /* maximum number of omitted requests that are reported with their reasons */

/* The votes of each candidate of a request as the log gives them. A verdict does not preserve them, because it adds up
 * the votes of repeated candidates. */
struct votes {
    uint32_t n;
    uint32_t counts[];
};

struct eval {
    struct cli *cli;
    struct engine_config config;
    struct logs logs;
    uint64_t read;
    bool gold, vectors_only, failed;
    struct labeler *labeler;
    GHashTable *definitions; /* database → its DDL; NULL means that candidates are judged with the data */
    struct schema_cache *schemas;
    struct eval_data *data;
    struct eval_gold *golds;
    GHashTable *votes; /* tag → struct votes */
    GPtrArray *labels; /* labels of each request as a JSON array, indexed by tag - 1; NULL unless requested */
    enum msg_strategy strategy;
    struct progress progress;
    bool show;
};

/* --- requests --------------------------------------------------------------------------------------------------- */

static void report_line(struct eval *e, const char *what)
{
    progress_clear(&e->progress);
    complain("%s:%llu: %s", e->logs.lines.path, (unsigned long long)e->logs.lines.number, what);
}

static void remember_votes(struct eval *e, const struct msg_request *request)
{
    struct votes *votes = g_malloc(sizeof *votes + request->n_candidates * sizeof votes->counts[0]);
    votes->n = request->n_candidates;
    for (uint32_t i = 0; i < votes->n; i++) votes->counts[i] = request->candidates[i].count;
    g_hash_table_insert(e->votes, GSIZE_TO_POINTER(request->tag), votes);
}

/* Replaces the candidates by the gold query alone. */
static bool judge_gold(struct arena *arena, struct msg_request *request)
{
    struct msg_candidate *gold = arena_new(arena, struct msg_candidate);
    if (!gold) return false;
    *gold = (struct msg_candidate){
        .sql = {request->gold, (uint32_t)strlen(request->gold)}, .count = 1, .score = (double)NAN};
    request->candidates = gold;
    request->n_candidates = 1;
    return true;
}

/* Replaces the database by its DDL, so that the request is judged without data. Returns false if the DDL is
 * unavailable. */
static bool judge_schema(struct eval *e, struct arena *arena, struct msg_request *request)
{
    struct err err = {0};
    const char *text = g_hash_table_lookup(e->definitions, request->db);
    char *fresh = text ? NULL : labeler_definitions(e->labeler, request->db, &err);
    if (fresh) g_hash_table_insert(e->definitions, g_strdup(request->db), fresh);
    if (!text) text = fresh;
    if (!text) {
        report_line(e, err.text);
        e->data->unreached += !e->vectors_only;
    }
    request->schema = text ? arena_strdup(arena, text) : NULL;
    return request->schema != NULL;
}

static bool usable(struct eval *e, struct arena *arena, struct msg_request *request)
{
    if (!request->gold || (!e->gold && !request->n_candidates)) {
        e->data->lines_without_gold++;
        return false;
    }
    if (e->definitions && !judge_schema(e, arena, request)) return false;
    return !e->gold || judge_gold(arena, request);
}

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct eval *e = ctx;
    uint64_t limit = (uint64_t)e->cli->settings.log.limit;
    while (!limit || e->read < limit) {
        struct err err = {0};
        int more = logs_next(&e->logs, &err);
        if (more < 0) {
            progress_clear(&e->progress);
            complain_text(&err);
            e->failed = true;
        }
        if (more <= 0) return more;
        e->read++;
        enum err_code code = e->logs.lines.too_long
                                 ? err_set(&err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES)
                                 : msg_request_from_json(arena, e->logs.lines.text, e->logs.lines.len, out, &err);
        if (code != ERR_OK) {
            report_line(e, err.text[0] ? err.text : err_meaning(code));
            e->data->lines_failed++;
            continue;
        }
        (*out)->tag = e->read;
        if (!usable(e, arena, *out)) continue;
        if (!(*out)->id) (*out)->id = arena_printf(arena, "line-%llu", (unsigned long long)e->logs.lines.number);
        if (e->strategy) (*out)->options.strategy = e->strategy;
        if (!e->gold) remember_votes(e, *out);
        return 1;
    }
    return 0;
}

/* --- verdicts --------------------------------------------------------------------------------------------------- */

static void restore_votes(struct eval *e, struct msg_verdict *verdict)
{
    gpointer tag = GSIZE_TO_POINTER(verdict->tag);
    const struct votes *votes = g_hash_table_lookup(e->votes, tag);
    for (uint32_t i = 0; votes && i < votes->n && i < verdict->n_candidates; i++)
        verdict->candidates[i].count = votes->counts[i];
    g_hash_table_remove(e->votes, tag);
}

static json_t *labels_json(const struct labels *labels)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < labels->n; i++) {
        char *text = labels->of[i] == LABEL_RIGHT   ? g_strdup("ok")
                     : labels->of[i] == LABEL_WRONG ? g_strdup("wrong")
                                                    : g_strdup_printf("err:%.60s", labels->errors[i]);
        json_array_append_new(list, format_text(text));
        g_free(text);
    }
    return list;
}

static void keep_labels(struct eval *e, uint64_t tag, const struct labels *labels)
{
    if (e->labels->len < tag) g_ptr_array_set_size(e->labels, (gint)tag);
    e->labels->pdata[tag - 1] = labels_json(labels);
}

static void take_labelled(struct eval *e, const struct msg_verdict *verdict, const struct labels *labels)
{
    if (e->vectors_only) {
        vectors_add(e->data->vectors, verdict, labels, false);
        return;
    }
    /* the index resolves names, so that the trees of queries can be compared */
    struct schema_index *index = labeler_schema(e->labeler, e->schemas, verdict->db, &e->config.limits);
    eval_add(e->data, verdict, labels, index ? &index->catalog : NULL);
    if (index) schema_unref(index);
    if (e->labels) keep_labels(e, verdict->tag, labels);
}

static void leave_out(struct eval *e, const struct msg_verdict *verdict, const char *why)
{
    if (e->vectors_only) return; /* the first pass has already counted this request */
    if (e->data->unreached++ >= SAID) return;
    progress_clear(&e->progress);
    complain("%s: left out: %s", verdict->id, why);
}

static void label_verdict(struct eval *e, const struct msg_verdict *verdict)
{
    struct arena arena;
    struct labels labels;
    struct err err = {0};
    arena_init(&arena, 0);
    enum err_code code = label_line(e->labeler, &arena, verdict->db, verdict->gold, verdict->candidates,
                                    verdict->n_candidates, &labels, &err);
    if (code == ERR_OK) code = label_repair(e->labeler, verdict, &labels, &err);
    if (code == ERR_OK)
        take_labelled(e, verdict, &labels);
    else
        leave_out(e, verdict, err.text);
    arena_free(&arena);
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct eval *e = ctx;
    progress_count(&e->progress, verdict);
    restore_votes(e, verdict);
    if (verdict_is_unreached(verdict))
        leave_out(e, verdict, verdict->message ? verdict->message : verdict->reason);
    else if (e->gold)
        eval_gold_add(e->golds, verdict);
    else
        label_verdict(e, verdict);
    msg_verdict_free(verdict);
    return true;
}

static void on_tick(void *ctx)
{
    struct eval *e = ctx;
    if (e->show)
        progress_draw(&e->progress,
                      e->logs.lines.size ? (double)e->logs.lines.offset / (double)e->logs.lines.size : -1);
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* Makes one pass over the logs. `strategy` applies to every request; MSG_STRATEGY_UNSET means the configured
 * strategy. */
static int run_pass(struct eval *e, enum msg_strategy strategy)
{
    struct err err = {0};
    struct engine *engine = NULL;
    e->strategy = strategy;
    logs_rewind(&e->logs);
    e->read = 0;
    int64_t began = clock_now_ns();
    enum err_code code = engine_open(&e->config, &engine, &err);
    if (code == ERR_OK) {
        struct engine_loop loop = {
            .next = next_request, .each = on_verdict, .tick = on_tick, .ctx = e, .in_order = true};
        progress_start(&e->progress);
        code = engine_run(engine, &loop, &err);
        progress_clear(&e->progress);
        struct engine_stats stats;
        engine_stats(engine, &stats);
        if (!e->vectors_only) e->data->workers = stats.workers;
    }
    e->data->wall_s = (double)(clock_now_ns() - began) / 1e9;
    engine_close(engine);
    logs_rewind(&e->logs);
    if (code == ERR_OK) return e->failed ? EXIT_ERROR : 0;
    err.code = code;
    return complain_err(NULL, &err);
}

static int write_labels(const struct eval *e, const char *path)
{
    json_t *all = json_array();
    for (guint i = 0; i < e->labels->len; i++)
        json_array_append_new(all, e->labels->pdata[i] ? e->labels->pdata[i] : json_array());
    char *text = json_dumps(all, JSON_COMPACT);
    struct err err = {.code = ERR_NOMEM};
    enum err_code code = text ? outfile_write(path, text, strlen(text), &err) : ERR_NOMEM;
    json_decref(all);
    free(text);
    return code ? complain_err(NULL, &err) : 0;
}

static int write_report(struct eval *e, enum format format)
{
    const struct settings *s = &e->cli->settings;
    struct err err = {0};
    struct eval_report *report = eval_measure(e->data, e->cli->signals, (unsigned)s->eval.bootstrap);
    int code = 0;
    if (s->eval.folds && eval_folds(e->data, (unsigned)s->eval.bootstrap, report, &err) != ERR_OK)
        code = complain_err("--folds", &err);
    if (s->eval.plots && plots_write(s->eval.plots, report, e->data, &err) != ERR_OK)
        code = complain_err("--plots", &err);
    if (s->eval.plots && s->eval.triggering && plots_write_triggering(s->eval.plots, e->data, &err) != ERR_OK)
        code = complain_err("--plots", &err);
    if (format == FORMAT_TEXT) {
        eval_print(stdout, report, e->data, s->eval.profile);
        if (s->eval.triggering) eval_print_triggering(stdout, e->data);
    } else {
        json_t *json = eval_json(report, e->data, s->eval.profile);
        if (s->eval.triggering) json_object_set_new(json, "triggering", eval_triggering_json(e->data));
        format_json(json, format, stdout);
        json_decref(json);
    }
    eval_report_free(report);
    return code;
}

static int eval_log(struct eval *e, enum format format)
{
    const struct settings *s = &e->cli->settings;
    if (e->gold) {
        int code = run_pass(e, MSG_RERANK);
        e->golds->left_out = e->data->unreached;
        if (code == 0) eval_gold_write(e->golds, format, stdout);
        return code;
    }
    int code = run_pass(e, MSG_STRATEGY_UNSET);
    if (code == 0 && s->eval.folds) {
        e->vectors_only = true;
        code = run_pass(e, MSG_RERANK);
    }
    if (code == 0 && e->labels) code = write_labels(e, s->eval.labels);
    if (code == 0 && e->data->questions->len == 0) {
        complain(e->data->unreached ? "no request of the logs could be judged: no database could be opened"
                                    : "no line has both a gold query and candidates");
        code = EXIT_ERROR;
    }
    return code ? code : write_report(e, format);
}

static int eval_run(struct cli *cli)
{
    enum format format;
    unsigned formats = 1U << FORMAT_TEXT | 1U << FORMAT_JSON | 1U << FORMAT_JSONL;
    if (!format_choose(cli, formats, &format) || !engine_settings_has_databases(cli)) return EXIT_ERROR;
    /* the output is a table even in a file or pipe; programs can request JSON explicitly */
    if (strcmp(cli->settings.output.format, "auto") == 0) format = FORMAT_TEXT;
    struct eval e = {.cli = cli,
                     .logs = {.paths = cli->args, .n = cli->n_args, .on_empty = complain_empty},
                     .gold = cli->settings.eval.gold};
    engine_settings(cli, &e.config);
    e.config.shows_locations = true;
    struct err err = {0};
    e.schemas = engine_settings_schemas(cli, &e.config, &err);
    if (!e.schemas) return complain_err(NULL, &err);
    e.labeler = labeler_new(&e.config.databases);
    e.data = eval_data_new(cli->settings.eval.folds);
    e.data->max_iterations = (uint32_t)cli->settings.judge.max_iterations;
    e.golds = eval_gold_new();
    if (cli->settings.eval.schema_only) e.definitions = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    e.votes = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
    e.labels = cli->settings.eval.labels ? g_ptr_array_new() : NULL;
    e.show = terminal_progress() && !cli->settings.general.quiet;
    int code = eval_log(&e, format);
    code = report_unreached(e.labeler, code);
    if (!code && e.data->unreached) code = EXIT_JUDGED;
    if (e.labels) g_ptr_array_free(e.labels, TRUE);
    if (e.definitions) g_hash_table_destroy(e.definitions);
    g_hash_table_destroy(e.votes);
    eval_gold_free(e.golds);
    eval_data_free(e.data);
    schema_cache_free(e.schemas);
    labeler_free(e.labeler);
    return code;
}

const struct command command_eval = {
    .name = "eval",
    .guide = "results.md",
    .sentence = "measure the verdicts on a log with gold queries",
    .args = "LOG... --db-root DIR",
    .description = "Measures how good the verdicts on logs with reference (gold) queries are. The command judges the "
                   "candidates, and labels each as correct if its result equals that of the gold query.\n\n"
                   "The chosen answers are measured by execution, by exact match and by Spider's levels of difficulty. "
                   "They are compared with the first candidate, the first candidate that executes, and the majority "
                   "result. Two upper bounds are shown too: choosing a correct candidate whenever there is one (the "
                   "oracle), and a verifier that is never wrong.\n\n"
                   "The output also shows calibration, the detection of wrong SQL, and the precision, lift and recall "
                   "of each signal. It shows which questions can be answered at 95 % precision, and whether findings "
                   "point at the difference from the gold query. Intervals are 95 %, by bootstrap over questions.\n\n"
                   "With --folds, the label model and the classifiers are also trained on four fifths of the databases "
                   "and measured on the rest. They are compared with a majority vote and the best single signal. With "
                   "--gold, the gold queries themselves are judged, and the output shows how often each signal fires "
                   "on them. The log then needs no candidates.\n\n"
                   "If a database cannot be read, its requests are left out. The first line then shows how many, and "
                   "the exit status is 1.",
    .examples = "assay eval dev.jsonl --db-root databases\n"
                "assay eval dev.jsonl --db-root databases --format json\n"
                "assay eval train.jsonl --db-root databases --gold",
    .main_flags = "db-root format limit folds gold plots",
    .groups =
        (const struct option_group *const[]){&options_eval, &options_log, &options_judge, &options_verifier,
                                             &options_repair, &options_encoder, &options_llm, &options_consult,
                                             &options_corrector, &options_output, &options_signals, &options_database,
                                             &options_schema, &options_redis, &options_general, NULL},
    .min_args = 1,
    .max_args = -1,
    .run = eval_run,
};
