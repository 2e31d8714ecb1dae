/* assay calibrate: what may be promised of answers, from logs with gold or feedback, as a file for --calibration
 * (scoring/guarantee.h). */
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "eval/label.h"
#include "lib/base/input.h"
#include "lib/learn/json_file.h"
#include "scoring/models.h"
#include "scoring/verifier_context.h"
#include "train/feedback.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_ALPHA = 0.05;

/* What was said of a request's answers, until its verdict is there. */
struct asked {
    char *generator;
    char **wrong; /* SQL that people called wrong; NULL-terminated */
};

struct group {
    char *name;
    GArray *records; /* of struct risk_record */
};

struct calibrate {
    struct cli *cli;
    struct engine_config config;
    struct logs logs;
    struct feedback *feedback;
    struct labeler *labeler;
    GHashTable *asked;    /* tag → struct asked */
    GHashTable *clusters; /* database → its number */
    GPtrArray *groups;    /* of struct group */
    uint64_t read, skipped, unanswered;
    struct progress progress;
    bool failed, show;
};

static void asked_free(gpointer p)
{
    struct asked *asked = p;
    g_free(asked->generator);
    g_strfreev(asked->wrong);
    g_free(asked);
}

static void group_free(gpointer p)
{
    struct group *group = p;
    g_free(group->name);
    g_array_free(group->records, TRUE);
    g_free(group);
}

/* --- requests --- */

static void skip_line(struct calibrate *c, const char *what)
{
    progress_clear(&c->progress);
    complain("%s:%llu: %s", c->logs.lines.path, (unsigned long long)c->logs.lines.number, what);
    c->skipped++;
}

/* False: nothing is known of what is right. */
static bool take_truth(struct calibrate *c, struct arena *arena, struct msg_request *request, struct asked *asked)
{
    struct feedback_labels labels = {0};
    if (request->gold) {
        feedback_pass_by(c->feedback, request);
        return true;
    }
    if (!feedback_labels(c->feedback, request, &labels)) return false;
    request->gold = labels.right ? arena_strdup(arena, labels.right) : NULL;
    asked->wrong = g_new0(char *, labels.n_wrong + 1);
    for (uint32_t i = 0; i < labels.n_wrong; i++) asked->wrong[i] = g_strdup(labels.wrong[i]);
    if (labels.generator) {
        g_free(asked->generator);
        asked->generator = g_strdup(labels.generator);
    }
    g_free(labels.wrong);
    return true;
}

static bool is_usable(struct calibrate *c, struct arena *arena, struct msg_request *request)
{
    const char *generator = verifier_generator(request);
    struct asked *asked = g_new0(struct asked, 1);
    asked->generator = g_strdup(generator ? generator : "*");
    if (!request->n_candidates || !take_truth(c, arena, request, asked)) {
        asked_free(asked);
        return false;
    }
    request->tag = c->read;
    g_hash_table_insert(c->asked, GSIZE_TO_POINTER(request->tag), asked);
    return true;
}

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct calibrate *c = ctx;
    uint64_t limit = (uint64_t)c->cli->settings.log.limit;
    while (!limit || c->read < limit) {
        struct err err = {0};
        int more = logs_next(&c->logs, &err);
        if (more < 0) {
            progress_clear(&c->progress);
            complain("%s", err.text);
            c->failed = true;
        }
        if (more <= 0) return more;
        c->read++;
        const struct lines *line = &c->logs.lines;
        if (feedback_is_meant(line->text, line->len) || feedback_is_verdict(line->text, line->len)) continue;
        enum err_code code =
            line->too_long ? ERR_LIMIT_BYTES : msg_request_from_json(arena, line->text, line->len, out, &err);
        if (code != ERR_OK)
            skip_line(c, err.text[0] ? err.text : err_meaning(code));
        else if (is_usable(c, arena, *out))
            return 1;
    }
    return 0;
}

/* --- verdicts --- */

static struct group *group_of(struct calibrate *c, const char *name)
{
    for (guint i = 0; i < c->groups->len; i++) {
        struct group *group = c->groups->pdata[i];
        if (strcmp(group->name, name) == 0) return group;
    }
    struct group *group = g_new0(struct group, 1);
    *group = (struct group){g_strdup(name), g_array_new(FALSE, FALSE, sizeof(struct risk_record))};
    g_ptr_array_add(c->groups, group);
    return group;
}

static uint32_t cluster_of(struct calibrate *c, const char *db)
{
    gpointer known = g_hash_table_lookup(c->clusters, db);
    if (!known) {
        known = GUINT_TO_POINTER(g_hash_table_size(c->clusters) + 1);
        g_hash_table_insert(c->clusters, g_strdup(db), known);
    }
    return GPOINTER_TO_UINT(known) - 1;
}

/* Is the answer right? -1: not known, as where people only said of another query that it is wrong. */
static int truth_of(struct calibrate *c, const struct msg_verdict *verdict, const struct asked *asked)
{
    for (char **wrong = asked->wrong; wrong && *wrong; wrong++)
        if (strcmp(*wrong, verdict->sql) == 0) return 0;
    if (!verdict->gold) return -1;
    struct arena arena;
    struct labels labels;
    struct err err = {0};
    arena_init(&arena, 0);
    enum err_code code = label_line(c->labeler, &arena, verdict->db, verdict->gold, verdict->candidates,
                                    verdict->n_candidates, &labels, &err);
    if (code == ERR_OK) code = label_repair(c->labeler, verdict, &labels, &err);
    int right = -1;
    if (code == ERR_OK && !labels.gold_failed)
        right = (verdict->chosen ? labels.of[verdict->chosen - 1] : labels.repair) == LABEL_RIGHT;
    arena_free(&arena);
    if (code != ERR_OK) {
        progress_clear(&c->progress);
        complain("%s: %s", verdict->id, err.text);
    }
    return right;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct calibrate *c = ctx;
    gpointer tag = GSIZE_TO_POINTER(verdict->tag);
    const struct asked *asked = g_hash_table_lookup(c->asked, tag);
    progress_count(&c->progress, verdict);
    bool answered = verdict->sql && !isnan(verdict->p_correct);
    int right = answered ? truth_of(c, verdict, asked) : -1;
    if (right >= 0) {
        const struct risk_record record = {verdict->p_correct, cluster_of(c, verdict->db), right == 1};
        g_array_append_val(group_of(c, asked->generator)->records, record);
    }
    c->unanswered += !answered;
    c->skipped += answered && right < 0;
    g_hash_table_remove(c->asked, tag);
    msg_verdict_free(verdict);
    return true;
}

static void on_tick(void *ctx)
{
    struct calibrate *c = ctx;
    if (c->show)
        progress_draw(&c->progress,
                      c->logs.lines.size ? (double)c->logs.lines.offset / (double)c->logs.lines.size : -1);
}

/* --- what comes of it --- */

static json_t *group_json(const GArray *records)
{
    json_t *list = json_array();
    for (guint i = 0; i < records->len; i++) {
        const struct risk_record *record = &g_array_index(records, struct risk_record, i);
        json_array_append_new(list, json_pack("[f,i,I]", record->p, (int)record->right, (json_int_t)record->cluster));
    }
    return list;
}

static json_t *version_json(const char *version)
{
    return json_string(version ? version : "");
}

static enum err_code write_file(const struct calibrate *c, const struct scoring_models *models, struct err *err)
{
    const struct msg_options *defaults = &c->config.defaults;
    enum msg_strategy strategy = defaults->strategy ? defaults->strategy : models_strategy(models);
    json_t *groups = json_object();
    for (guint i = 0; i < c->groups->len; i++) {
        const struct group *group = c->groups->pdata[i];
        json_object_set_new(groups, group->name, group_json(group->records));
    }
    json_t *root = json_pack(
        "{s:s,s:i,s:s,s:b,s:{s:o,s:o,s:o},s:o}", "format", GUARANTEE_FORMAT, "version", GUARANTEE_VERSION, "strategy",
        msg_strategy_name(strategy), "repairs", defaults->repair == MSG_REPAIR_APPLY, "models", "label_model",
        version_json(models->label_model_version), "classifier", version_json(models->classifier_version), "verifier",
        version_json(models->verifier_version), "groups", groups);
    char *text = model_json_text(root, true);
    enum err_code code = text ? model_file_write(c->cli->settings.calibrate.out, text, err) : ERR_NOMEM;
    free(text);
    return code;
}

/* "312 verdicts suffice for 0.08; 0.05 takes some 540 like these" */
static void say_needs(struct table *table, const struct risk_record *sorted, uint32_t n, double alpha, double delta)
{
    struct risk_promise promise = risk_control(sorted, n, alpha, delta, 1);
    double least = promise.held ? alpha : risk_least_alpha(sorted, n, delta, 1);
    uint32_t needed = promise.held ? n : risk_records_needed(sorted, n, alpha, delta, 1);
    table_cell(table, 3, promise.held ? "held" : "too few");
    table_cell(table, 4, promise.held ? "%.3f" : "", promise.threshold);
    table_cell(table, 5, promise.held ? "%.1f" : "", n ? 100.0 * promise.answered / n : 0);
    table_cell(table, 6, promise.held ? "" : least < 1 ? "%.3f" : "none", least);
    table_cell(table, 7, needed ? "%u" : "no number", needed);
}

static void print_groups(const struct calibrate *c, double alpha, double delta)
{
    static const struct table_column columns[] = {{"generator"},
                                                  {"verdicts", .right = true},
                                                  {"right %", .right = true},
                                                  {"promise"},
                                                  {"threshold", .right = true},
                                                  {"answered %", .right = true},
                                                  {"least alpha", .right = true},
                                                  {"verdicts needed", .right = true},
                                                  {NULL}};
    struct table *table = table_new(columns);
    for (guint i = 0; i < c->groups->len; i++) {
        const struct group *group = c->groups->pdata[i];
        struct risk_record *records = (struct risk_record *)(void *)group->records->data;
        uint32_t n = group->records->len, right = 0;
        for (uint32_t k = 0; k < n; k++) right += records[k].right;
        risk_sort(records, n);
        table_row(table);
        table_cell(table, 0, "%s", *group->name ? group->name : "(no name)");
        table_cell(table, 1, "%u", n);
        table_cell(table, 2, "%.1f", 100.0 * right / n);
        say_needs(table, records, n, alpha, delta);
    }
    printf("At most %g %% of the answers wrong, with confidence %g %%:\n\n", 100 * alpha, 100 * (1 - delta));
    table_print(table, stdout);
    table_free(table);
    if (c->unanswered) printf("%llu requests had no answer.\n", (unsigned long long)c->unanswered);
    if (c->skipped) printf("%llu were left out: their truth is not known.\n", (unsigned long long)c->skipped);
}

static enum err_code conclude(struct calibrate *c, struct err *err)
{
    const struct settings *s = &c->cli->settings;
    const struct models_files files = {.dir = c->config.models_dir,
                                       .label_model = c->config.label_model,
                                       .classifier = c->config.classifier,
                                       .verifier = c->config.verifier};
    struct scoring_models *models = NULL;
    if (!c->groups->len)
        return err_set(err, ERR_CONFIG,
                       "no request has both candidates and gold, or feedback: nothing can be promised");
    enum err_code code = models_load(&files, &models, err);
    if (!code) code = write_file(c, models, err);
    models_free(models);
    if (!code) print_groups(c, s->judge.alpha > 0 ? s->judge.alpha : USUAL_ALPHA, s->judge.delta);
    return code;
}

/* Every question is answered, whatever its P: which are to be given is what is looked for. */
static enum err_code judge_all(struct calibrate *c, struct err *err)
{
    struct engine *engine = NULL;
    engine_settings(c->cli, &c->config);
    c->config.defaults.policy = MSG_BEST_EFFORT;
    c->config.defaults.alpha = 0;
    c->config.calibration = NULL;
    c->labeler = labeler_new(&c->config.databases);
    enum err_code code = feedback_read(c->cli->args, c->cli->n_args, NULL, NULL, &c->feedback, err);
    if (!code) code = engine_open(&c->config, &engine, err);
    struct engine_loop loop = {.next = next_request, .each = on_verdict, .tick = on_tick, .ctx = c, .in_order = true};
    progress_start(&c->progress);
    if (!code) code = engine_run(engine, &loop, err);
    progress_clear(&c->progress);
    engine_close(engine);
    logs_rewind(&c->logs);
    return code;
}

static int calibrate_run(struct cli *cli)
{
    struct err err = {0};
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    if (!cli->settings.calibrate.out) {
        complain("--out FILE says where the calibration goes");
        return EXIT_ERROR;
    }
    struct calibrate c = {.cli = cli,
                          .logs = {.paths = cli->args, .n = cli->n_args, .on_empty = complain_empty},
                          .asked = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, asked_free),
                          .clusters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                          .groups = g_ptr_array_new_with_free_func(group_free),
                          .show = terminal_progress() && !cli->settings.general.quiet};
    enum err_code code = judge_all(&c, &err);
    if (!code && !c.failed) code = conclude(&c, &err);
    feedback_free(c.feedback);
    labeler_free(c.labeler);
    g_ptr_array_free(c.groups, TRUE);
    g_hash_table_destroy(c.clusters);
    g_hash_table_destroy(c.asked);
    if (code) return complain_err(NULL, &err);
    return c.failed ? EXIT_ERROR : 0;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .sentence = "see what may be promised of answers, and write it down for --calibration",
    .args = "LOG... --db-root DIR --out FILE",
    .description = "Judges the candidates of logs with gold queries, or with feedback among their lines, and looks for "
                   "the least P(correct) "
                   "from which at most a share alpha of the answers is wrong, with confidence 1 - delta: for each "
                   "generator, and for all "
                   "together. Where the verdicts do not suffice it says which alpha they do suffice for, and how many "
                   "would do. The file is for "
                   "check, replay, serve and coordinator, which then answer requests with alpha by it; it goes with "
                   "the models, strategy and "
                   "repair that it was made by. docs/guarantee.md says what is promised, and what is not.",
    .examples =
        "assay calibrate labelled.jsonl --db-root databases --alpha 0.05 --out calibration.json\n"
        "assay replay log.jsonl --db-root databases --alpha 0.05 --policy abstain --calibration calibration.json",
    .main_flags = "db-root alpha delta out limit",
    .groups = (const struct option_group *const[]){&options_calibrate, &options_log, &options_judge, &options_verifier,
                                                   &options_corrector, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .min_args = 1,
    .max_args = -1,
    .run = calibrate_run,
};
