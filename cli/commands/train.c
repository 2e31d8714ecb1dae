/* assay train: fits the label model or a classifier on logs.
 *
 * Candidates go through the engine with all signals and no model. The signals become a decision vector, and execution
 * against the gold query gives the label. For a log without candidates, mutants of the gold query are used, with the
 * gold query at a random position among them. The model file contains the command that created it.
 */
#include "cli/commands/train_verifier.h"
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "cli/output/unreached.h"
#include "cli/replay/replay.h"
#include "cli/settings/engine_settings.h"
#include "engine/run.h"
#include "lib/base/input.h"
#include "train/mutants.h"
#include "train/signal_models.h"

#include <math.h>
#include <string.h>

struct train {
    struct cli *cli;
    struct engine_config config;
    struct logs logs;
    uint64_t read, skipped;
    struct labeler *labeler;
    struct schema_cache *schemas;
    struct vectors *vectors;
    GHashTable *made; /* set of the tags of requests whose candidates are mutants */
    struct progress progress;
    bool show, failed;
};

/* --- candidates ------------------------------------------------------------------------------------------------- */

static void skip_line(struct train *t, const char *what)
{
    t->skipped++;
    if (t->skipped > 20) return; /* a file that is not a log would otherwise print one message for each line */
    progress_clear(&t->progress);
    complain("%s:%llu: skipped: %s", t->logs.lines.path, (unsigned long long)t->logs.lines.number, what);
}

/* Makes candidates from the gold query and its mutants. The gold query has a random position, so that a model cannot
 * learn from the order. */
static bool make_candidates(struct train *t, struct arena *arena, struct msg_request *request, struct err *err)
{
    const char *path = NULL;
    struct schema_index *index = NULL;
    struct db *db = labeler_db(t->labeler, request->db, &path, err);
    if (!db) return false;
    struct db_limits limits = labeler_limits(t->labeler, request->db, &t->config.limits);
    db_set_limits(db, &limits);
    if (schema_cache_get(t->schemas, db, request->db, path, &index, err) != ERR_OK) return false;
    uint64_t seed = (uint64_t)t->cli->settings.train.seed ^ g_str_hash(request->id ? request->id : request->gold);
    struct sql_mutation *mutants = NULL;
    const struct schema_edits_options options = {
        .values = worker_expose(&t->config.databases, request->db, t->config.defaults.expose) != MSG_EXPOSE_NONE,
        .seed = seed,
        .n = (uint32_t)t->cli->settings.train.mutants};
    int n = schema_edits(arena, index, &options, request->gold, strlen(request->gold), &mutants, err);
    schema_unref(index);
    struct msg_candidate *candidates = n < 0 ? NULL : arena_new_array(arena, (size_t)n + 1, struct msg_candidate);
    if (!candidates) return false;
    int place = (int)(learn_random(&seed) % ((uint64_t)n + 1));
    for (int i = 0; i <= n; i++) {
        const char *sql = i == place ? request->gold : mutants[i < place ? i : i - 1].sql;
        candidates[i] = (struct msg_candidate){.sql = {sql, (uint32_t)strlen(sql)}, .count = 1, .score = (double)NAN};
    }
    request->candidates = candidates;
    request->n_candidates = (uint32_t)n + 1;
    g_hash_table_add(t->made, GSIZE_TO_POINTER(request->tag));
    return true;
}

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct train *t = ctx;
    uint64_t limit = (uint64_t)t->cli->settings.log.limit;
    while (!limit || t->read < limit) {
        struct err err = {0};
        int more = logs_next(&t->logs, &err);
        if (more < 0) {
            progress_clear(&t->progress);
            complain_text(&err);
            t->failed = true;
        }
        if (more <= 0) return more;
        t->read++;
        if (t->logs.lines.too_long ||
            msg_request_from_json(arena, t->logs.lines.text, t->logs.lines.len, out, &err) != ERR_OK) {
            skip_line(t, err.text);
            continue;
        }
        struct msg_request *request = *out;
        request->tag = t->read;
        if (!request->id) request->id = "line";
        request->options.strategy = MSG_RERANK;
        if (request->n_candidates) return 1;
        if (request->gold && make_candidates(t, arena, request, &err)) return 1;
        skip_line(t, request->gold ? err.text : "neither gold nor candidates");
    }
    return 0;
}

/* --- vectors ---------------------------------------------------------------------------------------------------- */

/* Removes right candidates from the verdict, as if the generator had not found the answer. If a generator was trained
 * on the questions of the log, it almost always ranks right candidates first. Rank and agreement are then far better
 * predictors than on new questions. Changes `verdict` and `labels`; the caller frees the returned candidates. Returns
 * NULL if none remain. */
static struct msg_judged *leave_unsolved(struct msg_verdict *verdict, struct labels *labels)
{
    uint32_t n = 0, *place = g_new0(uint32_t, verdict->n_candidates + 1);
    struct msg_judged *kept = g_new(struct msg_judged, verdict->n_candidates + 1);
    labels->first_executable = LABEL_NONE;
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        if (labels->of[i] == LABEL_RIGHT) continue;
        kept[n] = verdict->candidates[i];
        if (kept[n].same_as) kept[n].same_as = place[kept[n].same_as - 1];
        if (labels->of[i] == LABEL_WRONG && labels->first_executable == LABEL_NONE) labels->first_executable = n;
        labels->of[n] = labels->of[i];
        place[i] = ++n;
    }
    g_free(place);
    if (labels->first_executable == LABEL_NONE) {
        g_free(kept);
        return NULL;
    }
    verdict->candidates = kept;
    verdict->n_candidates = labels->n = n;
    return kept;
}

static void add_verdict(struct train *t, const struct msg_verdict *verdict, struct labels *labels, bool made)
{
    uint64_t state = (uint64_t)t->cli->settings.train.seed + verdict->tag;
    struct msg_verdict all = *verdict;
    struct msg_judged *kept = NULL;
    if (labels && !made && learn_random_unit(&state) < t->cli->settings.train.unsolved) {
        kept = leave_unsolved(&all, labels);
        if (!kept) return;
    }
    vectors_add(t->vectors, &all, labels, made);
    g_free(kept);
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct train *t = ctx;
    struct arena arena;
    struct labels labels;
    bool made = g_hash_table_remove(t->made, GSIZE_TO_POINTER(verdict->tag));
    arena_init(&arena, 0);
    bool labelled = verdict->gold && label_line(t->labeler, &arena, verdict->db, verdict->gold, verdict->candidates,
                                                verdict->n_candidates, &labels, NULL) == ERR_OK;
    if (labelled && labels.gold_failed) labelled = false;
    add_verdict(t, verdict, labelled ? &labels : NULL, made);
    progress_count(&t->progress, verdict);
    arena_free(&arena);
    msg_verdict_free(verdict);
    return true;
}

static void on_tick(void *ctx)
{
    struct train *t = ctx;
    if (t->show)
        progress_draw(&t->progress,
                      t->logs.lines.size ? (double)t->logs.lines.offset / (double)t->logs.lines.size : -1);
}

static int collect(struct train *t)
{
    struct err err = {0};
    struct engine *engine = NULL;
    enum err_code code = engine_open(&t->config, &engine, &err);
    if (code == ERR_OK) {
        struct engine_loop loop = {
            .next = next_request, .each = on_verdict, .tick = on_tick, .ctx = t, .in_order = true};
        progress_start(&t->progress);
        code = engine_run(engine, &loop, &err);
        progress_clear(&t->progress);
    }
    engine_close(engine);
    logs_rewind(&t->logs);
    if (code == ERR_OK && t->failed) return EXIT_ERROR;
    if (code == ERR_OK && t->vectors->n == 0) code = err_set(&err, ERR_CONFIG, "the logs contain no training data");
    err.code = code;
    return code == ERR_OK ? 0 : complain_err(NULL, &err);
}

/* --- the label model -------------------------------------------------------------------------------------------- */

/* Returns the command as typed, for the model file. */
static char *command_line(const struct train *t, const char *what)
{
    const struct settings *s = &t->cli->settings;
    GString *text = g_string_new("assay train ");
    g_string_append(text, what);
    for (int i = 1; i < t->cli->n_args; i++) g_string_append_printf(text, " %s", t->cli->args[i]);
    for (unsigned i = 0; i < s->database.root.n; i++)
        g_string_append_printf(text, " --db-root %s", s->database.root.items[i]);
    if (strcmp(what, "classifier") == 0)
        g_string_append_printf(text, " --kind %s%s", s->train.kind, s->train.weak ? " --weak" : "");
    if (s->log.limit > 0) g_string_append_printf(text, " --limit %lld", (long long)s->log.limit);
    g_string_append_printf(text, " --seed %lld", (long long)s->train.seed);
    train_append_recipe(t->cli, text);
    return g_string_free(text, FALSE);
}

/* Prints the values that the model learned beside those computed from the labels, and their rank correlation. */
static void print_label_model(const struct vectors *v, const struct lm_model *model)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"coverage %", .right = true},
                                                  {"learned precision %", .right = true},
                                                  {"labelled precision %", .right = true},
                                                  {"depends on"},
                                                  {NULL}};
    struct table *table = table_new(columns);
    double *learned = g_new(double, model->n_signals + 1), *labelled = g_new(double, model->n_signals + 1);
    unsigned n = 0;
    for (unsigned i = 0; i < model->n_signals; i++) {
        const struct lm_signal *signal = &model->signals[i];
        double truth = label_model_labelled_precision(v, signal->name);
        table_row(table);
        table_cell(table, 0, "%s", signal->name);
        table_cell(table, 1, "%.2f", 100 * signal->coverage);
        table_cell(table, 2, "%.1f", 100 * lm_precision(model, i));
        if (!isnan(truth)) table_cell(table, 3, "%.1f", 100 * truth);
        if (signal->parent >= 0) table_cell(table, 4, "%s", model->signals[signal->parent].name);
        if (isnan(truth) || signal->kind != LM_SIGNAL) continue;
        learned[n] = lm_precision(model, i);
        labelled[n++] = truth;
    }
    table_print(table, stdout);
    printf("P(wrong) %.3f, %g candidates, %u iterations%s; rank correlation of learned and labelled precision %.2f "
           "over %u "
           "signals\n",
           model->prior_wrong, model->n, model->iterations, model->converged ? "" : ", not converged",
           learn_spearman(learned, labelled, n), n);
    table_free(table);
    g_free(learned);
    g_free(labelled);
}

static struct label_model_fit label_model_of(const struct train *t, const char *command)
{
    const struct settings *s = &t->cli->settings;
    return (struct label_model_fit){s->train.prior, s->train.target_prior, s->train.trust, command};
}

static int train_label_model(struct train *t)
{
    struct err err = {0};
    char *command = command_line(t, "label-model");
    struct label_model_fit how = label_model_of(t, command);
    struct lm_model *model = label_model_fit(t->vectors, &how, &err);
    int code = 0;
    if (!model || lm_save(model, t->cli->settings.train.out, &err) != ERR_OK)
        code = complain_err(t->cli->settings.train.out, &err);
    else
        print_label_model(t->vectors, model);
    lm_free(model);
    g_free(command);
    return code;
}

/* --- the classifier --------------------------------------------------------------------------------------------- */

static void print_classifier(const struct learn_model *model, const struct classifier_rows *rows,
                             const struct learn_options *options)
{
    const struct learn_data *data = &rows->data;
    static const struct table_column columns[] = {{"feature"}, {"importance %", .right = true}, {NULL}};
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < learn_n_features(model); i++) {
        if (learn_importance(model, i) < 0.005) continue;
        table_row(table);
        table_cell(table, 0, "%s", learn_feature(model, i));
        table_cell(table, 1, "%.1f", 100 * learn_importance(model, i));
    }
    table_print(table, stdout);
    table_free(table);
    struct err err = {0};
    double *p = g_new(double, data->n + 1);
    uint8_t *right = g_new(uint8_t, data->n + 1);
    for (size_t i = 0; i < data->n; i++) right[i] = data->y[i] >= 0.5;
    if (learn_cross_predict(learn_kind(model), data, options, 5, p, &err) == ERR_OK)
        printf(
            "%zu candidates; five-fold: AUC %.1f, calibration error %.1f points at the expected share of right ones\n",
            data->n, 100 * learn_auc(p, right, data->n), 100 * classifier_served_error(rows, p));
    else
        printf("%zu candidates; not cross-validated: %s\n", data->n, err.text);
    g_free(p);
    g_free(right);
}

/* Sets *model to the label model whose probability is a feature. It is also the teacher of a weak classifier. It is the
 * model of --label-model. If that is unset and the classifier is weak, fits a model. Otherwise *model stays NULL. */
static enum err_code teacher(struct train *t, struct lm_model **model, struct err *err)
{
    const char *path = t->cli->settings.judge.label_model;
    if (path && strcmp(path, "none") != 0) {
        enum err_code code = lm_load(path, model, err);
        if (code != ERR_OK) return code;
    } else if (t->cli->settings.train.weak) {
        struct label_model_fit how = label_model_of(t, NULL);
        *model = label_model_fit(t->vectors, &how, err);
        if (!*model) return err && err->code ? err->code : ERR_CONFIG;
    }
    if (*model) vectors_set_label_model_p(t->vectors, *model);
    return ERR_OK;
}

static int train_classifier(struct train *t)
{
    const struct settings *s = &t->cli->settings;
    struct err err = {0};
    struct lm_model *label_model = NULL;
    struct learn_model *model = NULL;
    struct classifier_rows rows = {0};
    enum err_code code = teacher(t, &label_model, &err);
    if (code == ERR_OK) {
        char *command = command_line(t, "classifier");
        struct learn_options options = learn_options_default();
        options.command = command;
        options.seed = (uint64_t)s->train.seed;
        classifier_rows(t->vectors, s->train.weak ? label_model : NULL, s->train.target_prior, &rows);
        code = learn_fit(s->train.kind, &rows.data, &options, &model, &err);
        if (code == ERR_OK) code = learn_save(model, s->train.out, &err);
        if (code == ERR_OK) print_classifier(model, &rows, &options);
        g_free(command);
    }
    classifier_rows_free(&rows);
    learn_free(model);
    lm_free(label_model);
    err.code = code;
    return code == ERR_OK ? 0 : complain_err(s->train.out, &err);
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    int (*train)(struct train *t);
} kinds[] = {{"label-model", train_label_model}, {"classifier", train_classifier}};

static int run_with(struct cli *cli, int (*train)(struct train *t))
{
    struct train t = {.cli = cli, .logs = {.paths = cli->args + 1, .n = cli->n_args - 1, .on_empty = complain_empty}};
    struct err err = {0};
    engine_settings(cli, &t.config);
    t.config.label_model = t.config.classifier = "none";
    /* limits count steps, and there is no default deadline, so that the result does not depend on the machine */
    t.config.limits.by_steps = true;
    if (!t.config.defaults.deadline_ms) t.config.defaults.deadline_ms = -1;
    t.schemas = engine_settings_schemas(cli, &t.config, &err);
    if (!t.schemas) return complain_err(NULL, &err);
    t.labeler = labeler_new(&t.config.databases);
    labeler_by_steps(t.labeler);
    t.vectors = vectors_new(cli->settings.train.views ? VOTES_REQUEST : 0);
    t.made = g_hash_table_new(g_direct_hash, g_direct_equal);
    t.show = terminal_progress() && !cli->settings.general.quiet;
    int code = collect(&t);
    if (t.skipped) complain("%llu lines skipped", (unsigned long long)t.skipped);
    if (code == 0) code = train(&t);
    code = report_unreached(t.labeler, code);
    g_hash_table_destroy(t.made);
    vectors_free(t.vectors);
    schema_cache_free(t.schemas);
    labeler_free(t.labeler);
    return code;
}

static int train_run(struct cli *cli)
{
    if (strcmp(cli->args[0], "export") == 0) return train_export(cli);
    bool verifier = strcmp(cli->args[0], "verifier") == 0;
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    if (!cli->settings.train.out && !(verifier && cli->settings.train.cross)) {
        complain("--out is required" ERR_HINT "set --out=FILE, the model file to write");
        return EXIT_ERROR;
    }
    bool calibration = strcmp(cli->args[0], "calibration") == 0;
    if (!replay_check_range(&cli->settings)) return EXIT_ERROR;
    if (cli->settings.past.from_topic && !calibration) {
        complain("--from-topic is supported by train calibration only");
        return EXIT_ERROR;
    }
    if (verifier) return train_verifier(cli);
    if (calibration) return train_calibration(cli);
    if (strcmp(cli->args[0], "wording") == 0) return train_wording(cli);
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(cli->args[0], kinds[i].name) == 0) return run_with(cli, kinds[i].train);
    complain("unknown train target '%s', expected label-model, classifier, verifier, wording, calibration or export",
             cli->args[0]);
    return EXIT_ERROR;
}

const struct command command_train = {
    .name = "train",
    .guide = "models.md",
    .sentence = "fit the label model, a classifier or the verifier on logs",
    .args = "label-model|classifier|verifier|wording|calibration|export LOG... --db-root DIR --out FILE",
    .description =
        "Runs all signals on the candidates of the logs and fits a model to the results. If a line has a reference "
        "(gold) query and no candidates, mutants are used: copies of the gold query with one seeded error each.\n\n"
        "label-model needs no labels. It learns the reliability of each signal from how the signals agree. If the log "
        "has gold queries, it also prints the labelled precision of each signal.\n\n"
        "classifier learns from labels (the result of a candidate equals that of the gold query). With --weak, it "
        "learns from the probabilities of the label model instead. With --label-model=FILE, the probability of that "
        "model is one of the classifier's features.\n\n"
        "verifier learns whether a candidate answers its question. Its data are gold queries, logged candidates, "
        "mutants, and gold queries of other questions. The printed results are from held-out databases.\n\n"
        "wording learns which words of a question ask for which parts of a query. It reads pairs of a correct and a "
        "wrong query (train/business/README.md). Its file is linked into the program: build again to use it.\n\n"
        "calibration learns how much the votes and ranks of a generator (system that wrote the candidates) mean, and "
        "adds that to the verifier's file. It reads logs with candidates and gold queries, or files of requests and "
        "feedback (docs/formats.md). With --from-topic, it also reads feedback from that topic, up to the end that the "
        "topic had at the start. No consumer group's offsets change.\n\n"
        "export writes training data for the learned detector (docs/detector.md), one line per candidate. A line has "
        "texts, label, fold by database, the graph of the SQL, and the schema links. FILE `-` is standard output. "
        "Without databases, a line has neither label nor links.\n\n"
        "On SQLite, --time-ms counts steps of the engine, 50,000 per millisecond, so that the result does not depend "
        "on the load. Other engines use the clock.",
    .examples =
        "assay train label-model train.jsonl --db-root databases --out label_model.json\n"
        "assay train classifier train.jsonl --db-root databases --kind trees --label-model label_model.json --out "
        "classifier.json\n"
        "assay train calibration requests.jsonl verdicts.jsonl --servers kafka:9092 --from-topic assay.feedback \\\n"
        "    --from-time 2026-03-01T00:00:00Z --db-root databases --out verifier.json",
    .main_flags = "db-root out verifier label-model limit seed",
    .words = "label-model classifier verifier wording calibration export",
    .groups = (const struct option_group *const[]){&options_train, &options_recipe, &options_log, &options_range,
                                                   &options_kafka, &options_judge, &options_llm, &options_consult,
                                                   &options_signals, &options_database, &options_schema,
                                                   &options_general, NULL},
    .min_args = 2,
    .max_args = -1,
    .run = train_run,
};
