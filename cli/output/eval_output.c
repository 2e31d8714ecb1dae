/* Prints the tables of `assay eval` for people. Percentages are 0 to 100. */
#include "cli/output/eval_output.h"
#include "cli/output/table.h"
#include "cli/output/terminal.h"
#include "eval/triggering.h"

#include <math.h>
#include <string.h>

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

static void gain_cells(struct table *table, unsigned column, const struct eval_share *gain)
{
    if (isnan(gain->value)) return;
    table_cell(table, column, "%+.1f", gain->value);
    if (!isnan(gain->low)) table_cell(table, column + 1, "%+.1f to %+.1f", gain->low, gain->high);
}

static void print_choices(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {{"selection"},
                                                  {"right", .right = true},
                                                  {"EX %", .right = true},
                                                  {"95 % interval", .right = true},
                                                  {"exact %", .right = true},
                                                  {"tried", .right = true},
                                                  {NULL}};
    struct table *table = table_new(columns);
    for (int c = 0; c < CHOICE_COUNT; c++) {
        table_row(table);
        table_cell(table, 0, "%s", choice_titles[c]);
        table_cell(table, 1, "%u", r->right[c]);
        share_cell(table, 2, &r->selection[c], "");
        range_cell(table, 3, &r->selection[c], "");
        share_cell(table, 4, &r->exact[c], "");
        if (c == CHOICE_ASSAY) table_cell(table, 5, "%.2f", r->tried);
    }
    table_row(table);
    table_cell(table, 0, "loop, perfect verifier");
    table_cell(table, 1, "%u", r->ceiling);
    share_cell(table, 2, &r->ceiling_ex, "");
    range_cell(table, 3, &r->ceiling_ex, "");
    table_cell(table, 5, "%.2f", r->ceiling_tried);
    table_print(table, stream);
    table_free(table);
    fputs("exact: equal normal forms without values (approximates Spider's exact match); tried: candidates per "
          "question.\n",
          stream);
}

static void print_contrasts(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {
        {"Assay against"},        {"points", .right = true}, {"95 % interval", .right = true},
        {"fixed", .right = true}, {"broken", .right = true}, {NULL}};
    struct table *table = table_new(columns);
    for (int i = 0; i < EVAL_CONTRASTS; i++) {
        const struct eval_contrast *c = &r->contrasts[i];
        table_row(table);
        table_cell(table, 0, "%s", choice_titles[c->against]);
        gain_cells(table, 1, &c->gain);
        table_cell(table, 3, "%u", c->fixed);
        table_cell(table, 4, "%u", c->broken);
    }
    fputc('\n', stream);
    table_print(table, stream);
    table_free(table);
}

static void print_repairs(FILE *stream, const char *what, const struct eval_repairs *repairs)
{
    if (repairs->n)
        fprintf(stream, "%s: %u; compared with the repaired query: %u fixed, %u broken, net %+d.\n", what, repairs->n,
                repairs->fixed, repairs->broken, (int)repairs->fixed - (int)repairs->broken);
}

static void repairs_cells(struct table *table, unsigned first, const struct eval_repairs_of *of)
{
    table_cell(table, first, "%u", of->n);
    table_cell(table, first + 1, "%u", of->fixed);
    table_cell(table, first + 2, "%u", of->broken);
    table_cell(table, first + 3, "%+d", (int)of->fixed - (int)of->broken);
}

static void repairs_row(struct table *table, const char *name, const struct eval_repairs_of *gated,
                        const struct eval_repairs_of *rest)
{
    const struct eval_repairs_of all = {gated->n + rest->n, gated->fixed + rest->fixed, gated->broken + rest->broken};
    if (!all.n) return;
    table_row(table);
    table_cell(table, 0, "%s", name);
    repairs_cells(table, 1, gated);
    repairs_cells(table, 5, &all);
}

/* Prints repairs by the signals that fired on the old query. "Repaired" counts the applied repairs; "without the gate"
 * also counts the proposed ones. The table shows which signals justify repairs, as Table 6 of SQLens does, which omits
 * two of its signals. The last row is the union. */
static void print_repaired_signals(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {{"fired on the old query"}, {"repaired", .right = true},
                                                  {"Q_fix", .right = true},   {"Q_break", .right = true},
                                                  {"Q_net", .right = true},   {"without the gate", .right = true},
                                                  {"Q_fix", .right = true},   {"Q_break", .right = true},
                                                  {"Q_net", .right = true},   {NULL}};
    const struct eval_repairs *gated = &r->repaired, *rest = &r->proposed;
    struct table *table = table_new(columns);
    for (unsigned id = 0; id < G_N_ELEMENTS(gated->of); id++) {
        const struct vsig_def *def = vsig_by_id((enum vsig_id)id);
        repairs_row(table, def ? def->name : "no signal", &gated->of[id], &rest->of[id]);
    }
    repairs_row(table, "any of these, each counted once",
                &(struct eval_repairs_of){gated->n, gated->fixed, gated->broken},
                &(struct eval_repairs_of){rest->n, rest->fixed, rest->broken});
    fputc('\n', stream);
    table_print(table, stream);
    table_free(table);
}

static void print_selection(FILE *stream, const struct eval_report *r, const struct eval_data *data)
{
    fprintf(stream, "%sSelection%s (%u questions", style_start(STYLE_BOLD), style_end(), r->n);
    if (data->unreached)
        fprintf(stream, "; %llu requests left out, their databases could not be read",
                (unsigned long long)data->unreached);
    fputs(")\n", stream);
    print_choices(stream, r);
    print_contrasts(stream, r);
    if (!isnan(r->gap_closed.value)) {
        fprintf(stream, "Gap closed between the first that executes and the oracle: %.1f %%", r->gap_closed.value);
        if (!isnan(r->gap_closed.low)) fprintf(stream, " (%.1f to %.1f)", r->gap_closed.low, r->gap_closed.high);
        fputs(".\n", stream);
    }
    if (r->unanswered) fprintf(stream, "%u questions without an answer.\n", r->unanswered);
    print_repairs(stream, "Repaired answers", &r->repaired);
    print_repairs(stream, "Repairs proposed, not applied", &r->proposed);
    if (r->repaired.n || r->proposed.n) print_repaired_signals(stream, r);
}

static void print_levels(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {{"level"},
                                                  {"questions", .right = true},
                                                  {"first that executes %", .right = true},
                                                  {"Assay %", .right = true},
                                                  {"95 % interval", .right = true},
                                                  {"points", .right = true},
                                                  {"95 % interval", .right = true},
                                                  {"exact %", .right = true},
                                                  {"oracle %", .right = true},
                                                  {NULL}};
    title(stream, "By difficulty of the gold query (Spider's levels)");
    struct table *table = table_new(columns);
    for (int i = 0; i < DIFFICULTY_COUNT; i++) {
        const struct eval_level *level = &r->levels[i];
        struct eval_share exact = {.value = level->exact};
        if (!level->n) continue;
        table_row(table);
        table_cell(table, 0, "%s", difficulty_name((enum difficulty)i));
        table_cell(table, 1, "%u", level->n);
        share_cell(table, 2, &level->selection[CHOICE_FIRST_EXECUTABLE], "");
        share_cell(table, 3, &level->selection[CHOICE_ASSAY], "");
        range_cell(table, 4, &level->selection[CHOICE_ASSAY], "");
        gain_cells(table, 5, &level->gain);
        share_cell(table, 7, &exact, "");
        share_cell(table, 8, &level->selection[CHOICE_ORACLE], "");
    }
    table_print(table, stream);
    table_free(table);
}

static void bin_cells(struct table *table, unsigned column, const struct eval_bin *bin)
{
    table_cell(table, column, "%u", bin->n);
    if (!bin->n) return;
    table_cell(table, column + 1, "%.1f", bin->p);
    share_cell(table, column + 2, &bin->right, "");
    range_cell(table, column + 3, &bin->right, "");
}

static void print_calibration(FILE *stream, const struct eval_report *r)
{
    static const struct table_column columns[] = {{"P(correct)"},
                                                  {"candidates", .right = true},
                                                  {"mean P %", .right = true},
                                                  {"right %", .right = true},
                                                  {"95 %", .right = true},
                                                  {"answers", .right = true},
                                                  {"mean P %", .right = true},
                                                  {"right %", .right = true},
                                                  {"95 %", .right = true},
                                                  {NULL}};
    if (!r->rows.n && !r->answers.n) return;
    title(stream, "Calibration");
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < EVAL_BINS; i++) {
        table_row(table);
        table_cell(table, 0, "%.1f-%.1f", (double)i / EVAL_BINS, (i + 1.0) / EVAL_BINS);
        bin_cells(table, 1, &r->rows.bins[i]);
        bin_cells(table, 5, &r->answers.bins[i]);
    }
    table_print(table, stream);
    table_free(table);
    fputs("Calibration error (ECE):", stream);
    if (r->rows.n) fprintf(stream, " %.1f points over %u first executable candidates", r->rows.ece, r->rows.n);
    if (r->answers.n)
        fprintf(stream, "%s %.1f points over %u answers", r->rows.n ? "," : "", r->answers.ece, r->answers.n);
    fputs(".\n", stream);
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
        table_cell(table, 1, "%s", !s->enabled ? "no" : s->seen ? "yes" : "unavailable");
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
    fputs("right: fired on wrong SQL; lift: precision divided by the share of wrong SQL. The last two columns count "
          "all judged "
          "candidates that run.\n",
          stream);
}

static void print_rest(FILE *stream, const struct eval_report *r)
{
    title(stream, "Answering");
    fprintf(stream, "answered at 95 %% precision: %u of %u (%.1f %%), P from %.3f; corrections needed for 95 %%: %u\n",
            r->answered_at_95, r->n, r->n ? 100.0 * r->answered_at_95 / r->n : 0, r->answered_threshold,
            r->interactions_to_95);
    title(stream, "Localisation");
    fprintf(stream,
            "wrong candidates with a finding on what differs from gold: %u of %u (%.1f %%); of the %u with a finding "
            "%.1f %%, by chance %.1f %%\n",
            r->wrong_hit, r->wrong_known, r->hit.value, r->wrong_pointed, r->hit_pointed.value, r->chance.value);
}

/* --- profile ---------------------------------------------------------------------------------------------------- */

static void print_profile(FILE *stream, const struct eval_data *data)
{
    static const struct table_column columns[] = {{"signal"},
                                                  {"runs", .right = true},
                                                  {"µs per run", .right = true},
                                                  {"ms", .right = true},
                                                  {"share %", .right = true},
                                                  {NULL}};
    struct eval_cost costs[EVAL_COSTS];
    int64_t total = 0;
    unsigned n = eval_costs(&data->workers, costs, &total);
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

static void percent_cell(struct table *table, unsigned column, double share)
{
    if (!isnan(share)) table_cell(table, column, "%.1f", 100 * share);
}

void eval_print_triggering(FILE *stream, const struct eval_data *data)
{
    static const struct table_column columns[] = {{"score"},
                                                  {"answers", .right = true},
                                                  {"precision, area %", .right = true},
                                                  {"a quarter %", .right = true},
                                                  {"half %", .right = true},
                                                  {"three quarters %", .right = true},
                                                  {"all %", .right = true},
                                                  {"accuracy, area %", .right = true},
                                                  {"asked for 95 %", .right = true},
                                                  {NULL}};
    title(stream, "Answering or asking a person (precision by the share of questions answered)");
    struct table *table = table_new(columns);
    for (int i = 0; i < SCORE_COUNT; i++) {
        struct triggering t = triggering_measure(data, (enum eval_score)i);
        bool is_reference = i == SCORE_NOTHING;
        if (!t.n && !is_reference) continue;
        table_row(table);
        table_cell(table, 0, "%s", eval_score_text((enum eval_score)i));
        if (!is_reference) table_cell(table, 1, "%u", t.n);
        percent_cell(table, 2, t.precision_area);
        for (unsigned k = 0; k < TRIGGERING_STEPS; k++) percent_cell(table, 3 + k, t.precision[k]);
        percent_cell(table, 7, t.accuracy_area);
        percent_cell(table, 8, t.interactions_to_95);
    }
    table_print(table, stream);
    table_free(table);
}

void eval_print(FILE *stream, const struct eval_report *report, const struct eval_data *data, bool profile)
{
    print_selection(stream, report, data);
    print_levels(stream, report);
    print_detection(stream, report);
    print_calibration(stream, report);
    print_signals(stream, report);
    print_rest(stream, report);
    if (profile) print_profile(stream, data);
}
