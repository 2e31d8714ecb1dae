/* The tables of docs/quality.md, and the same as JSON. Percentages are 0 to 100. */
#include "cli/eval.h"
#include "cli/table.h"
#include "cli/terminal.h"

#include <math.h>
#include <string.h>

static const char *const choice_names[CHOICE_COUNT] = {"first", "first_executable", "majority", "assay", "oracle"};
static const char *const choice_titles[CHOICE_COUNT] = {"first candidate", "first that executes", "majority result",
                                                        "Assay", "oracle"};

static void share_cell(struct table *table, unsigned column, const struct eval_share *share, const char *format)
{
    char text[32];
    if (isnan(share->value)) {
        table_cell(table, column, "-");
        return;
    }
    snprintf(text, sizeof text, strcmp(format, "x") == 0 ? "%.2f" : "%.1f", share->value);
    table_cell(table, column, "%s", text);
}

static void range_cell(struct table *table, unsigned column, const struct eval_share *share, const char *format)
{
    if (isnan(share->value) || isnan(share->low) || (share->low == 0 && share->high == 0)) return;
    bool ratio = strcmp(format, "x") == 0;
    table_cell(table, column, ratio ? "%.2f-%.2f" : "%.1f-%.1f", share->low, share->high);
}

static void title(FILE *stream, const char *text)
{
    fprintf(stream, "\n%s%s%s\n", style_start(STYLE_BOLD), text, style_end());
}

static void print_selection(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {
        {"SQL taken"}, {"right", .right = true}, {"EX %", .right = true}, {"95 % interval", .right = true}, {NULL}};
    fprintf(stream, "%sSelection%s (%u questions)\n", style_start(STYLE_BOLD), style_end(), r->n);
    struct table *table = table_new(columns);
    for (int c = 0; c < CHOICE_COUNT; c++) {
        table_row(table);
        table_cell(table, 0, "%s", choice_titles[c]);
        table_cell(table, 1, "%u", r->right[c]);
        share_cell(table, 2, &r->selection[c], "");
        range_cell(table, 3, &r->selection[c], "");
    }
    table_print(table, stream);
    table_free(table);
    fprintf(stream, "Assay against the first that executes: %+.1f points", r->gain.value);
    if (r->gain.low != 0 || r->gain.high != 0) fprintf(stream, " (%+.1f to %+.1f)", r->gain.low, r->gain.high);
    fprintf(stream, "; fixed %u, broken %u. Candidates tried: %.2f a question.", r->fixed, r->broken, r->tried);
    if (r->unanswered) fprintf(stream, " No answer to %u.", r->unanswered);
    fputc('\n', stream);
}

static void detection_row(struct table *table, const struct eval_detection *d)
{
    const struct eval_share *shares[] = {&d->accuracy, &d->auc, &d->precision, &d->recall, &d->f1};
    table_row(table);
    table_cell(table, 0, "%s", d->name);
    for (unsigned i = 0; i < G_N_ELEMENTS(shares); i++) {
        share_cell(table, 1 + 2 * i, shares[i], "");
        range_cell(table, 2 + 2 * i, shares[i], "");
    }
}

static void print_detections(FILE *stream, const struct eval_detection *first, unsigned n)
{
    static const struct table_column columns[] = {{"by"},
                                                  {"accuracy", .right = true},
                                                  {"", .right = true},
                                                  {"AUC", .right = true},
                                                  {"", .right = true},
                                                  {"precision", .right = true},
                                                  {"", .right = true},
                                                  {"recall", .right = true},
                                                  {"", .right = true},
                                                  {"F1", .right = true},
                                                  {"", .right = true},
                                                  {NULL}};
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < n; i++) detection_row(table, &first[i]);
    table_print(table, stream);
    table_free(table);
}

static void print_detection(FILE *stream, const struct eval_report *r)
{
    title(stream, "Detection of wrong SQL");
    fprintf(stream, "first executable candidate of %u questions with a non-empty gold result; %u of them wrong\n",
            r->detection.n, r->detection.positives);
    print_detections(stream, &r->detection, 1);
    if (!isnan(r->ece)) fprintf(stream, "Calibration error of P(correct): %.1f points.\n", r->ece);
    if (!r->n_folds) return;
    fprintf(stream, "\nModels fitted here, five-fold by %s:\n", r->folds_by_question ? "question" : "database");
    print_detections(stream, r->folds, r->n_folds);
}

static void print_signals(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"on"},
                                                  {"fired", .right = true},
                                                  {"right", .right = true},
                                                  {"precision %", .right = true},
                                                  {"95 %", .right = true},
                                                  {"lift", .right = true},
                                                  {"95 %", .right = true},
                                                  {"recall %", .right = true},
                                                  {"all fired", .right = true},
                                                  {"all right", .right = true},
                                                  {NULL}};
    title(stream, "Signals");
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < r->n_signals; i++) {
        const struct eval_signal *s = &r->signals[i];
        table_row(table);
        table_cell(table, 0, "%s", s->name);
        table_cell(table, 1, "%s", s->enabled ? "yes" : "no");
        table_cell(table, 2, "%u", s->fired);
        table_cell(table, 3, "%u", s->right);
        share_cell(table, 4, &s->precision, "");
        range_cell(table, 5, &s->precision, "");
        share_cell(table, 6, &s->lift, "x");
        range_cell(table, 7, &s->lift, "x");
        share_cell(table, 8, &s->recall, "");
        table_cell(table, 9, "%u", s->all_fired);
        table_cell(table, 10, "%u", s->all_right);
    }
    table_print(table, stream);
    table_free(table);
    fputs(
        "right: fired on wrong SQL; lift: precision over the share of wrong SQL. The last two columns count all judged "
        "candidates that run.\n",
        stream);
}

static void print_rest(FILE *stream, const struct eval_report *r)
{
    title(stream, "Answering");
    fprintf(stream,
            "answered at 95 %% precision: %u of %u (%.1f %%), P from %.3f; answers to put right until 95 %% are: %u\n",
            r->answered_at_95, r->n, r->n ? 100.0 * r->answered_at_95 / r->n : 0, r->answered_threshold,
            r->interactions_to_95);
    title(stream, "Localisation");
    fprintf(stream,
            "wrong candidates with a finding on what differs from gold: %u of %u (%.1f %%); of the %u with a finding "
            "%.1f %%, by chance %.1f %%\n",
            r->wrong_hit, r->wrong_known, r->hit.value, r->wrong_pointed, r->hit_pointed.value, r->chance.value);
}

/* --- profile ---------------------------------------------------------------------------------------------------- */

struct cost {
    const char *name;
    int64_t ns;
    uint64_t runs;
};

static int by_cost(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

enum { SHARED_COSTS = 3 };

/* Signals and shared work, dearest first. Returns how many; *total is the time inside tasks. */
static unsigned costs_of(const struct worker_stats *stats, struct cost out[VSIG_ID_END + SHARED_COSTS], int64_t *total)
{
    unsigned n = 0, defs = 0;
    const struct vsig_def *const *all = vsig_all(&defs);
    for (unsigned i = 0; i < defs; i++)
        out[n++] = (struct cost){all[i]->name, stats->signal_ns[all[i]->id], stats->signal_runs[all[i]->id]};
    out[n++] = (struct cost){"(parse and bind)", stats->parse_ns, stats->candidates};
    out[n++] = (struct cost){"(prepare)", stats->prepare_ns, stats->candidates};
    out[n++] = (struct cost){"(run the candidate)", stats->execute_ns, stats->executed};
    qsort(out, n, sizeof *out, by_cost);
    *total = stats->busy_ns;
    return n;
}

static void print_profile(FILE *stream, const struct eval_data *data)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"runs", .right = true},
                                                  {"µs a run", .right = true},
                                                  {"ms", .right = true},
                                                  {"share %", .right = true},
                                                  {NULL}};
    struct cost costs[VSIG_ID_END + SHARED_COSTS];
    int64_t total = 0;
    unsigned n = costs_of(&data->workers, costs, &total);
    title(stream, "Profile");
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < n; i++) {
        table_row(table);
        table_cell(table, 0, "%s", costs[i].name);
        table_cell(table, 1, "%llu", (unsigned long long)costs[i].runs);
        table_cell(table, 2, "%.1f", costs[i].runs ? (double)costs[i].ns / 1e3 / (double)costs[i].runs : 0);
        table_cell(table, 3, "%.1f", (double)costs[i].ns / 1e6);
        table_cell(table, 4, "%.1f", total ? 100 * (double)costs[i].ns / (double)total : 0);
    }
    table_print(table, stream);
    table_free(table);
    fprintf(stream, "workers were busy for %.1f ms on %llu candidates\n", (double)total / 1e6,
            (unsigned long long)data->workers.candidates);
}

void eval_print(FILE *stream, const struct eval_report *report, const struct eval_data *data, bool profile)
{
    print_selection(stream, report);
    print_detection(stream, report);
    print_signals(stream, report);
    print_rest(stream, report);
    if (profile) print_profile(stream, data);
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *number(double value)
{
    return isnan(value) || isinf(value) ? json_null() : json_real(value);
}

static json_t *range_json(const struct eval_share *share)
{
    return json_pack("[o,o]", number(share->low), number(share->high));
}

static json_t *selection_json(const struct eval_report *r)
{
    json_t *json = json_object(), *intervals = json_object(), *counts = json_object();
    for (int c = 0; c < CHOICE_COUNT; c++) {
        json_object_set_new(json, choice_names[c], number(r->selection[c].value));
        json_object_set_new(intervals, choice_names[c], range_json(&r->selection[c]));
        json_object_set_new(counts, choice_names[c], json_integer(r->right[c]));
    }
    json_object_set_new(json, "counts", counts);
    json_object_set_new(json, "intervals", intervals);
    json_object_set_new(json, "gain", number(r->gain.value));
    json_object_set_new(json, "gain_interval", range_json(&r->gain));
    json_object_set_new(json, "fixed", json_integer(r->fixed));
    json_object_set_new(json, "broken", json_integer(r->broken));
    json_object_set_new(json, "unanswered", json_integer(r->unanswered));
    return json;
}

static json_t *detection_json(const struct eval_detection *d)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:i,s:i,s:{s:o,s:o,s:o,s:o,s:o}}", "accuracy", number(d->accuracy.value),
                     "auc", number(d->auc.value), "precision", number(d->precision.value), "recall",
                     number(d->recall.value), "f1", number(d->f1.value), "n", (int)d->n, "wrong", (int)d->positives,
                     "intervals", "accuracy", range_json(&d->accuracy), "auc", range_json(&d->auc), "precision",
                     range_json(&d->precision), "recall", range_json(&d->recall), "f1", range_json(&d->f1));
}

static json_t *signals_json(const struct eval_report *r)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < r->n_signals; i++) {
        const struct eval_signal *s = &r->signals[i];
        json_array_append_new(list,
                              json_pack("{s:s,s:s,s:b,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:{s:i,s:i}}", "name", s->name,
                                        "family", s->family, "enabled", s->enabled, "seen", (int)s->seen, "fired",
                                        (int)s->fired, "right", (int)s->right, "precision", number(s->precision.value),
                                        "precision_interval", range_json(&s->precision), "lift", number(s->lift.value),
                                        "lift_interval", range_json(&s->lift), "recall", number(s->recall.value), "all",
                                        "fired", (int)s->all_fired, "right", (int)s->all_right));
    }
    return list;
}

static json_t *localisation_json(const struct eval_report *r)
{
    return json_pack("{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "wrong", (int)r->wrong_known, "with_finding",
                     (int)r->wrong_pointed, "hits", (int)r->wrong_hit, "share", number(r->hit.value), "interval",
                     range_json(&r->hit), "share_with_finding", number(r->hit_pointed.value), "interval_with_finding",
                     range_json(&r->hit_pointed), "by_chance", number(r->chance.value));
}

static json_t *profile_json(const struct eval_data *data)
{
    struct cost costs[VSIG_ID_END + SHARED_COSTS];
    int64_t total = 0;
    unsigned n = costs_of(&data->workers, costs, &total);
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list, json_pack("{s:s,s:I,s:f,s:f}", "name", costs[i].name, "runs",
                                              (json_int_t)costs[i].runs, "ms", (double)costs[i].ns / 1e6, "share",
                                              total ? 100 * (double)costs[i].ns / (double)total : 0.0));
    return json_pack("{s:f,s:I,s:o}", "busy_ms", (double)total / 1e6, "candidates",
                     (json_int_t)data->workers.candidates, "parts", list);
}

json_t *eval_json(const struct eval_report *r, const struct eval_data *data, bool profile)
{
    json_t *detection = detection_json(&r->detection), *folds = json_array();
    json_object_set_new(detection, "calibration_error", number(r->ece));
    json_t *json = json_pack("{s:i,s:i,s:o,s:o,s:o,s:i,s:o,s:i,s:o,s:o}", "schema_version", 1, "questions", (int)r->n,
                             "selection", selection_json(r), "detection", detection, "signals", signals_json(r),
                             "answered_at_95", (int)r->answered_at_95, "answered_threshold",
                             number(r->answered_threshold), "interactions_to_95", (int)r->interactions_to_95,
                             "candidates_tried", number(r->tried), "localisation", localisation_json(r));
    for (unsigned i = 0; i < r->n_folds; i++) {
        json_t *row = detection_json(&r->folds[i]);
        json_object_set_new(row, "by", json_string(r->folds[i].name));
        json_array_append_new(folds, row);
    }
    if (r->n_folds) {
        json_object_set_new(json, "folds", folds);
        json_object_set_new(json, "folds_by", json_string(r->folds_by_question ? "question" : "database"));
    } else {
        json_decref(folds);
    }
    if (profile) json_object_set_new(json, "profile", profile_json(data));
    json_object_set_new(json, "skipped",
                        json_pack("{s:I,s:I,s:I}", "without_gold", (json_int_t)data->lines_without_gold, "failed",
                                  (json_int_t)data->lines_failed, "unjudged", (json_int_t)data->unjudged));
    return json;
}
