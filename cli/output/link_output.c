/* Prints the measures of schema linking (link_output.h). Each table is built once, as rows of numbers, and printed as
 * text with a title or as a member of one JSON object. Shares are in percent. */
#include "cli/output/link_output.h"

#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "lib/learn/metrics.h"

#include <glib.h>
#include <math.h>

static const double ALPHAS[] = {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3};
static const uint32_t LAYERS[] = {1, 2, 3, 4, 5, 6, 8, 12, 16};
static const double Z95 = 1.96;
enum { NEAR = 100 };

static const char *const merge_names[] = {[PREDICTOR_MAJORITY] = "majority", [PREDICTOR_PERMUTED] = "permuted"};

/* The target of the tables: text with titles, or members of one JSON object. */
struct output {
    const struct predictor *predictor;
    const struct link_surrogate *surrogate;
    const char *recording;
    enum format format;
    FILE *stream;
    json_t *json;
};

static struct table *begin(const struct output *out, const char *title, const struct table_column *columns)
{
    if (out->format == FORMAT_TEXT) fprintf(out->stream, "\n%s%s%s\n", style_start(STYLE_BOLD), title, style_end());
    return table_new(columns);
}

static void end(const struct output *out, struct table *table)
{
    if (out->format == FORMAT_TEXT) table_print(table, out->stream);
    if (out->format == FORMAT_CSV) table_print_csv(table, out->stream);
    table_free(table);
}

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : (double)NAN;
}

static void percent_cell(struct table *table, unsigned column, double value)
{
    if (isnan(value))
        table_cell(table, column, "-");
    else
        table_cell(table, column, "%.1f", value);
}

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

/* --- the linker itself --- */

static void print_linker(const struct output *out, const struct link_evaluation *e)
{
    static const struct table_column columns[] = {{"linker", false, false},   {"questions", true, false},
                                                  {"EM %", true, false},      {"tokens", true, false},
                                                  {"branching", true, false}, {NULL, false, false}};
    struct table *table = begin(out, out->recording, columns);
    for (int s = 0; s < TRACE_STAGES; s++) {
        const struct link_counts *c = &e->stages[s];
        if (!c->generations) continue;
        table_row(table);
        table_cell(table, 0, "%s", trace_stage_names[s]);
        table_cell(table, 1, "%llu", (unsigned long long)c->generations);
        percent_cell(table, 2, percent(c->right, c->generations));
        table_cell(table, 3, "%llu", (unsigned long long)c->tokens);
        table_cell(table, 4, "%llu", (unsigned long long)c->branching);
        json_object_set_new(out->json, trace_stage_names[s],
                            json_pack("{s:I,s:o,s:I,s:I}", "questions", (json_int_t)c->generations, "em",
                                      number(percent(c->right, c->generations)), "tokens", (json_int_t)c->tokens,
                                      "branching", (json_int_t)c->branching));
    }
    end(out, table);
}

static enum err_code print_layers(const struct output *out, const struct link_evaluation *e, struct err *err)
{
    static const struct table_column columns[] = {
        {"layer", false, false}, {"AUC at calibration", true, false}, {"AUC here", true, false}, {NULL, false, false}};
    struct table *table = begin(out, "layers, best first", columns);
    double auc[TRACE_MAX_LAYERS];
    enum err_code code = ERR_OK;
    for (int s = 0; !code && s < TRACE_STAGES; s++) {
        const struct predictor_stage *stage = &out->predictor->stages[s];
        if (!e->stages[s].generations) continue;
        code = link_layer_auc(out->predictor, (enum trace_stage)s, out->recording, auc, err);
        json_t *list = json_array();
        for (uint32_t i = 0; !code && i < stage->n_layers; i++) {
            table_row(table);
            table_cell(table, 0, "%s %u", trace_stage_names[s], stage->layers[i].number);
            table_cell(table, 1, "%.3f", stage->layers[i].auc);
            table_cell(table, 2, "%.3f", auc[i]);
            json_array_append_new(list, json_pack("{s:I,s:f,s:o}", "layer", (json_int_t)stage->layers[i].number,
                                                  "calibration", stage->layers[i].auc, "here", number(auc[i])));
        }
        json_object_set_new(json_object_get(out->json, trace_stage_names[s]), "layers", list);
    }
    end(out, table);
    return code;
}

/* --- coverage --- */

static const struct table_column coverage_columns[] = {{"sets", false, false},          {"alpha", true, false},
                                                       {"all tokens %", true, false},   {"branching %", true, false},
                                                       {"95 % interval", false, false}, {"EAR %", true, false},
                                                       {"EM %", true, false},           {"TAR %", true, false},
                                                       {"FAR %", true, false},          {NULL, false, false}};

static void coverage_row(struct table *table, json_t *list, const char *name, const struct predictor_options *options,
                         const struct link_counts *c)
{
    struct learn_interval range = learn_wilson(c->branching_held, c->branching, Z95);
    char *sets = g_strdup_printf("%s, %s%s, %u %s", name, options->marginal ? "marginal" : "by label",
                                 options->near ? ", by likeness" : "", options->layers, merge_names[options->merge]);
    table_row(table);
    table_cell(table, 0, "%s", sets);
    table_cell(table, 1, "%.2f", options->alpha);
    percent_cell(table, 2, percent(c->held, c->tokens));
    percent_cell(table, 3, percent(c->branching_held, c->branching));
    table_cell(table, 4, "%.1f-%.1f", 100 * range.low, 100 * range.high);
    percent_cell(table, 5, percent(c->extra, c->tokens));
    percent_cell(table, 6, link_em(&c->abstention));
    percent_cell(table, 7, link_tar(&c->abstention));
    percent_cell(table, 8, link_far(&c->abstention));
    json_array_append_new(list, json_pack("{s:s,s:f,s:o,s:o,s:[f,f],s:o,s:o,s:o,s:o}", "sets", sets, "alpha",
                                          options->alpha, "all", number(percent(c->held, c->tokens)), "branching",
                                          number(percent(c->branching_held, c->branching)), "interval", 100 * range.low,
                                          100 * range.high, "ear", number(percent(c->extra, c->tokens)), "em",
                                          number(link_em(&c->abstention)), "tar", number(link_tar(&c->abstention)),
                                          "far", number(link_far(&c->abstention))));
    g_free(sets);
}

/* Adds the results with one set of options: a row for each stage. */
static enum err_code add_coverage(const struct output *out, struct table *table, json_t *list,
                                  const struct predictor_options *options, struct err *err)
{
    struct link_evaluation e;
    enum err_code code = link_evaluate(out->predictor, options, out->recording, NULL, &e, err);
    for (int s = 0; !code && s < TRACE_STAGES; s++)
        if (e.stages[s].generations) coverage_row(table, list, trace_stage_names[s], options, &e.stages[s]);
    return code;
}

static enum err_code print_coverage(const struct output *out, const struct predictor_options *options, struct err *err)
{
    struct table *table = begin(out, "coverage and extra abstention", coverage_columns);
    json_t *list = json_array();
    enum err_code code = ERR_OK;
    for (int marginal = 0; marginal < 2; marginal++)
        for (unsigned a = 0; !code && a < G_N_ELEMENTS(ALPHAS); a++) {
            struct predictor_options o = *options;
            o.alpha = ALPHAS[a];
            o.marginal = marginal;
            code = add_coverage(out, table, list, &o, err);
        }
    end(out, table);
    json_object_set_new(out->json, "coverage", list);
    return code;
}

static enum err_code print_ablation(const struct output *out, const struct predictor_options *options, struct err *err)
{
    struct table *table = begin(out, "by layers, merge and form of calibration", coverage_columns);
    json_t *list = json_array();
    enum err_code code = ERR_OK;
    uint32_t most = MAX(out->predictor->stages[TRACE_TABLES].n_layers, out->predictor->stages[TRACE_COLUMNS].n_layers);
    for (unsigned merge = 0; merge < G_N_ELEMENTS(merge_names); merge++)
        for (int near = 0; near < 2; near++)
            for (unsigned k = 0; !code && k < G_N_ELEMENTS(LAYERS) && LAYERS[k] <= most; k++) {
                struct predictor_options o = *options;
                o.merge = (enum predictor_merge)merge;
                o.near = near ? NEAR : 0;
                o.layers = LAYERS[k];
                code = add_coverage(out, table, list, &o, err);
            }
    end(out, table);
    json_object_set_new(out->json, "ablation", list);
    return code;
}

/* --- abstention --- */

static void outcome_row(struct table *table, json_t *list, const char *stage, const char *what, double em, double tar,
                        double far)
{
    table_row(table);
    table_cell(table, 0, "%s", stage);
    table_cell(table, 1, "%s", what);
    percent_cell(table, 2, em);
    percent_cell(table, 3, tar);
    percent_cell(table, 4, far);
    json_array_append_new(list, json_pack("{s:s,s:s,s:o,s:o,s:o}", "stage", stage, "what", what, "em", number(em),
                                          "tar", number(tar), "far", number(far)));
}

static void print_outcomes(const struct output *out, const struct link_evaluation *e)
{
    static const struct table_column columns[] = {{"stage", false, false}, {"at an uncertain token", false, false},
                                                  {"EM %", true, false},   {"TAR %", true, false},
                                                  {"FAR %", true, false},  {NULL, false, false}};
    struct table *table = begin(out, "right, rightly abstained and wrongly abstained", columns);
    json_t *list = json_array();
    uint64_t both =
        e->joint.answered_right + e->joint.answered_wrong + e->joint.abstained_right + e->joint.abstained_wrong;
    for (int s = 0; s < TRACE_STAGES; s++) {
        const struct link_counts *c = &e->stages[s];
        if (!c->generations) continue;
        const char *name = trace_stage_names[s];
        outcome_row(table, list, name, "abstain", link_em(&c->abstention), link_tar(&c->abstention),
                    link_far(&c->abstention));
        if (out->surrogate)
            outcome_row(table, list, name, "abstain, unless the judge confirms", link_em(&c->surrogate),
                        link_tar(&c->surrogate), link_far(&c->surrogate));
        outcome_row(table, list, name, "ask a person who knows", percent(c->human_right, c->generations), (double)NAN,
                    percent(c->human_in_vain, c->generations));
    }
    if (both) {
        outcome_row(table, list, "both", "abstain", link_em(&e->joint), link_tar(&e->joint), link_far(&e->joint));
        outcome_row(table, list, "both", "ask a person who knows", percent(e->joint_human_right, both), (double)NAN,
                    percent(e->joint_human_in_vain, both));
    }
    end(out, table);
    json_object_set_new(out->json, "outcomes", list);
}

enum err_code link_print_evaluation(const struct predictor *predictor, const struct predictor_options *options,
                                    const char *recording, const struct link_surrogate *surrogate, bool ablation,
                                    enum format format, FILE *stream, struct err *err)
{
    struct output out = {predictor, surrogate, recording, format, stream, json_object()};
    struct link_evaluation e;
    enum err_code code = link_evaluate(predictor, options, recording, surrogate, &e, err);
    if (!code) print_linker(&out, &e);
    if (!code) code = print_layers(&out, &e, err);
    if (!code) code = print_coverage(&out, options, err);
    if (!code) print_outcomes(&out, &e);
    if (!code && ablation) code = print_ablation(&out, options, err);
    if (!code && (format == FORMAT_JSON || format == FORMAT_JSONL)) format_json(out.json, format, stream);
    json_decref(out.json);
    return code;
}

void link_print_training(const struct predictor *predictor, FILE *stream)
{
    for (int s = 0; s < TRACE_STAGES; s++) {
        const struct predictor_stage *stage = &predictor->stages[s];
        if (!stage->n_layers) {
            fprintf(stream, "%s: no training data\n", trace_stage_names[s]);
            continue;
        }
        fprintf(stream,
                "%s: %zu training tokens, %zu of them branching; %zu calibration tokens, %zu of them branching; AUC:",
                trace_stage_names[s], stage->trained, stage->trained_branching, stage->n, stage->n_branching);
        for (uint32_t i = 0; i < stage->n_layers; i++)
            fprintf(stream, " layer %u %.3f%s", stage->layers[i].number, stage->layers[i].auc,
                    i + 1 < stage->n_layers ? "," : "\n");
    }
}
