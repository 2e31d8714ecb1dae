/* assay calibrate: computes the guarantees that logs with gold or feedback support. Writes them to a file for
 * --calibration (scoring/guarantee.h). */
#include "cli/output/table.h"
#include "cli/replay/labelled.h"
#include "coordinator/core.h"
#include "lib/learn/json_file.h"
#include "scoring/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double USUAL_ALPHA = 0.05;

struct group {
    char *name;
    GArray *records; /* struct risk_record */
};

struct calibrate {
    struct labelled_run run;
    GHashTable *clusters; /* database → its number, from 1 */
    GPtrArray *databases; /* names of the databases, indexed by number - 1 */
    GPtrArray *groups;    /* struct group */
    uint64_t unknown, unanswered;
};

static void group_free(gpointer p)
{
    struct group *group = p;
    g_free(group->name);
    g_array_free(group->records, TRUE);
    g_free(group);
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
        g_ptr_array_add(c->databases, g_strdup(db));
    }
    return GPOINTER_TO_UINT(known) - 1;
}

/* Returns 1 if the answer is right, 0 if it is wrong, and -1 if this is unknown. It is unknown, for example, if people
 * only marked another query as wrong. */
static int truth_of(const struct labelled *one)
{
    const struct msg_verdict *verdict = one->verdict;
    for (const char *const *wrong = one->wrong; wrong && *wrong; wrong++)
        if (strcmp(*wrong, verdict->sql) == 0) return 0;
    if (!one->labels) return -1;
    return (verdict->chosen ? one->labels->of[verdict->chosen - 1] : one->labels->repair) == LABEL_RIGHT;
}

static void take(void *ctx, const struct labelled *one)
{
    struct calibrate *c = ctx;
    const struct msg_verdict *verdict = one->verdict;
    bool answered = verdict->sql && !isnan(verdict->p_correct);
    int right = answered ? truth_of(one) : -1;
    c->unanswered += !answered;
    c->unknown += answered && right < 0;
    if (right < 0) return;
    struct risk_record record = {.p = verdict->p_correct, .cluster = cluster_of(c, verdict->db), .right = right == 1};
    uint32_t answer = verdict->chosen ? verdict->chosen : verdict->repair->of;
    guarantee_traits(verdict->candidates, verdict->n_candidates, answer - 1, record.traits);
    g_array_append_val(group_of(c, one->generator)->records, record);
}

/* --- the calibration file --- */

static json_t *group_json(const GArray *records)
{
    json_t *list = json_array();
    for (guint i = 0; i < records->len; i++) {
        const struct risk_record *record = &g_array_index(records, struct risk_record, i);
        json_t *item = json_pack("[f,i,I]", record->p, (int)record->right, (json_int_t)record->cluster);
        for (unsigned t = 0; t < RISK_TRAITS; t++) json_array_append_new(item, json_real((double)record->traits[t]));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *version_json(const char *version)
{
    return json_string(version ? version : "");
}

static enum err_code write_file(const struct calibrate *c, const struct scoring_models *models, struct err *err)
{
    const struct msg_options *defaults = &c->run.config.defaults;
    enum msg_strategy strategy = defaults->strategy ? defaults->strategy : models_strategy(models);
    json_t *groups = json_object();
    struct coordinator_llm consult = c->run.config.consult;
    char llm[CONSULT_TEXT];
    enum err_code code = consult_when(c->run.config.llm_when, &consult, err);
    if (code) return code;
    consult_text(&consult, llm);
    for (guint i = 0; i < c->groups->len; i++) {
        const struct group *group = c->groups->pdata[i];
        json_object_set_new(groups, group->name, group_json(group->records));
    }
    json_t *databases = json_array();
    for (guint i = 0; i < c->databases->len; i++) json_array_append_new(databases, json_string(c->databases->pdata[i]));
    json_t *root =
        json_pack("{s:s,s:i,s:s,s:b,s:s,s:{s:o,s:o,s:o},s:o,s:o}", "format", GUARANTEE_FORMAT, "version",
                  GUARANTEE_VERSION, "strategy", msg_strategy_name(strategy), "repairs",
                  defaults->repair == MSG_REPAIR_APPLY, "llm", llm, "models", "label_model",
                  version_json(models->label_model_version), "classifier", version_json(models->classifier_version),
                  "verifier", version_json(models->verifier_version), "databases", databases, "groups", groups);
    char *text = model_json_text(root, true);
    code = text ? model_file_write(c->run.cli->settings.calibrate.out, text, err) : ERR_NOMEM;
    free(text);
    return code;
}

/* Prints whether the verdicts guarantee `alpha`. If not, prints the least risk that they guarantee, and the number of
 * verdicts needed to guarantee `alpha`. */
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

static void print_row(struct table *table, const char *name, struct risk_record *records, uint32_t n, double alpha,
                      double delta)
{
    uint32_t right = 0;
    if (!n) return;
    for (uint32_t k = 0; k < n; k++) right += records[k].right;
    risk_sort(records, n);
    table_row(table);
    table_cell(table, 0, "%s", *name ? name : "(no name)");
    table_cell(table, 1, "%u", n);
    table_cell(table, 2, "%.1f", 100.0 * right / n);
    say_needs(table, records, n, alpha, delta);
}

/* Prints a row for each database with a guarantee of its own (scoring/guarantee.h), then one row for all others
 * together. */
static void print_group(const struct calibrate *c, struct table *table, const struct group *group, double alpha,
                        double delta)
{
    const struct risk_record *records = (const struct risk_record *)(const void *)group->records->data;
    struct risk_record *own = g_new(struct risk_record, group->records->len + 1),
                       *others = g_new(struct risk_record, group->records->len + 1);
    uint32_t *counts = g_new0(uint32_t, c->databases->len + 1), n_others = 0;
    for (guint i = 0; i < group->records->len; i++) counts[records[i].cluster]++;
    for (guint i = 0; i < group->records->len; i++)
        if (counts[records[i].cluster] < GUARANTEE_OF_DATABASE) others[n_others++] = records[i];
    for (uint32_t d = 0; d < c->databases->len; d++) {
        uint32_t n = 0;
        char *name = g_strdup_printf("%s/%s", group->name, (const char *)c->databases->pdata[d]);
        for (guint i = 0; counts[d] >= GUARANTEE_OF_DATABASE && i < group->records->len; i++)
            if (records[i].cluster == d) own[n++] = records[i];
        print_row(table, name, own, n, alpha, delta);
        g_free(name);
    }
    print_row(table, group->name, others, n_others, alpha, delta);
    g_free(own);
    g_free(others);
    g_free(counts);
}

static void print_groups(const struct calibrate *c, double alpha, double delta)
{
    static const struct table_column columns[] = {{"generator"},
                                                  {"verdicts", .right = true},
                                                  {"right %", .right = true},
                                                  {"guarantee"},
                                                  {"threshold", .right = true},
                                                  {"answered %", .right = true},
                                                  {"least alpha", .right = true},
                                                  {"verdicts needed", .right = true},
                                                  {NULL}};
    struct table *table = table_new(columns);
    for (guint i = 0; i < c->groups->len; i++) print_group(c, table, c->groups->pdata[i], alpha, delta);
    printf("At most %g %% of the answers wrong, with confidence %g %%:\n\n", 100 * alpha, 100 * (1 - delta));
    table_print(table, stdout);
    table_free(table);
    if (c->unanswered) printf("%llu requests had no answer.\n", (unsigned long long)c->unanswered);
    uint64_t left_out = c->unknown + c->run.skipped;
    if (left_out)
        printf("%llu requests were left out: the correctness of their answers is unknown.\n",
               (unsigned long long)left_out);
}

static enum err_code conclude(struct calibrate *c, struct err *err)
{
    const struct settings *s = &c->run.cli->settings;
    const struct models_files files = {.dir = c->run.config.models_dir,
                                       .label_model = c->run.config.label_model,
                                       .classifier = c->run.config.classifier,
                                       .verifier = c->run.config.verifier};
    struct scoring_models *models = NULL;
    if (!c->groups->len) return err_set(err, ERR_CONFIG, "no request has candidates with a gold query or feedback");
    enum err_code code = models_load(&files, &models, err);
    if (!code) code = write_file(c, models, err);
    models_free(models);
    if (!code) print_groups(c, s->judge.alpha > 0 ? s->judge.alpha : USUAL_ALPHA, s->judge.delta);
    return code;
}

static int calibrate_run(struct cli *cli)
{
    struct err err = {0};
    if (!engine_settings_has_databases(cli)) return EXIT_ERROR;
    if (!cli->settings.calibrate.out) {
        complain("--out is required" ERR_HINT "set --out=FILE, the calibration file to write");
        return EXIT_ERROR;
    }
    struct calibrate c = {.run = {.cli = cli, .each = take},
                          .clusters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                          .databases = g_ptr_array_new_with_free_func(g_free),
                          .groups = g_ptr_array_new_with_free_func(group_free)};
    c.run.ctx = &c;
    engine_settings(cli, &c.run.config);
    /* Every question gets an answer, whatever its P, because the calibration determines which answers validate. */
    c.run.config.defaults.policy = MSG_BEST_EFFORT;
    c.run.config.defaults.alpha = 0;
    c.run.config.calibration = NULL;
    enum err_code code = labelled_run(&c.run, &err);
    if (!code) code = conclude(&c, &err);
    g_ptr_array_free(c.groups, TRUE);
    g_ptr_array_free(c.databases, TRUE);
    g_hash_table_destroy(c.clusters);
    return code ? complain_err(NULL, &err) : c.run.unreached ? EXIT_JUDGED : 0;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .guide = "guarantee.md",
    .sentence = "compute thresholds that limit the share of wrong answers",
    .args = "LOG... --db-root DIR --out FILE",
    .description =
        "Computes thresholds for P(correct), the estimated probability that an answer is correct. Above a threshold, "
        "at most a share alpha of the answers is wrong, with confidence 1 - delta. There is one threshold for each "
        "generator (system that wrote the candidates), and one for all together.\n\n"
        "The command judges the candidates of logs with reference (gold) queries or feedback. If there are too few "
        "labelled verdicts, it prints the smallest alpha that they support, and how many verdicts are needed.\n\n"
        "check, replay, serve and coordinator use the file to answer requests with alpha. The file is valid only with "
        "the same models, strategy and repair setting. docs/guarantee.md describes the guarantee and its limits.",
    .examples =
        "assay calibrate labelled.jsonl --db-root databases --alpha 0.05 --out calibration.json\n"
        "assay replay log.jsonl --db-root databases --alpha 0.05 --policy abstain --calibration calibration.json",
    .main_flags = "db-root alpha delta out limit",
    .groups = (const struct option_group *const[]){&options_calibrate, &options_log, &options_judge, &options_verifier,
                                                   &options_repair, &options_encoder, &options_llm, &options_consult,
                                                   &options_corrector, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .min_args = 1,
    .max_args = -1,
    .run = calibrate_run,
};
