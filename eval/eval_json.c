/* Converts the report of `assay eval` to one JSON object. Percentages are 0 to 100; undefined values are null. */
#include "eval/eval.h"
#include "eval/triggering.h"

#include <math.h>

static const struct {
    const char *name, *text;
} scores[SCORE_COUNT] = {
#define X(id, name, text) {#name, text},
    EVAL_SCORES(X)
#undef X
};

const char *eval_score_name(enum eval_score score)
{
    return scores[score].name;
}

const char *eval_score_text(enum eval_score score)
{
    return scores[score].text;
}

const char *eval_choice_name(enum eval_choice choice)
{
    static const char *const names[CHOICE_COUNT] = {"first", "first_executable", "majority", "assay", "oracle"};
    return names[choice];
}

static json_t *number(double value)
{
    return isnan(value) || isinf(value) ? json_null() : json_real(value);
}

static json_t *range_json(const struct eval_share *share)
{
    return json_pack("[o,o]", number(share->low), number(share->high));
}

/* Returns one number for each choice. */
static json_t *choices_json(const struct eval_share shares[CHOICE_COUNT])
{
    json_t *json = json_object();
    for (int c = 0; c < CHOICE_COUNT; c++)
        json_object_set_new(json, eval_choice_name((enum eval_choice)c), number(shares[c].value));
    return json;
}

static json_t *contrasts_json(const struct eval_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < EVAL_CONTRASTS; i++) {
        const struct eval_contrast *c = &r->contrasts[i];
        json_array_append_new(list, json_pack("{s:s,s:o,s:o,s:i,s:i}", "against", eval_choice_name(c->against), "gain",
                                              number(c->gain.value), "interval", range_json(&c->gain), "fixed",
                                              (int)c->fixed, "broken", (int)c->broken));
    }
    return list;
}

static json_t *counts_json(uint32_t n, uint32_t fixed, uint32_t broken)
{
    return json_pack("{s:i,s:i,s:i,s:i}", "n", (int)n, "fixed", (int)fixed, "broken", (int)broken, "net",
                     (int)fixed - (int)broken);
}

static json_t *repairs_json(const struct eval_repairs *repairs)
{
    json_t *json = counts_json(repairs->n, repairs->fixed, repairs->broken), *signals = json_object();
    for (unsigned id = 0; id < G_N_ELEMENTS(repairs->of); id++) {
        const struct eval_repairs_of *of = &repairs->of[id];
        const struct vsig_def *def = vsig_by_id((enum vsig_id)id);
        if (of->n) json_object_set_new(signals, def ? def->name : "none", counts_json(of->n, of->fixed, of->broken));
    }
    json_object_set_new(json, "by_signal", signals);
    return json;
}

static json_t *selection_json(const struct eval_report *r)
{
    json_t *json = json_object(), *intervals = json_object(), *counts = json_object();
    for (int c = 0; c < CHOICE_COUNT; c++) {
        json_object_set_new(json, eval_choice_name((enum eval_choice)c), number(r->selection[c].value));
        json_object_set_new(intervals, eval_choice_name((enum eval_choice)c), range_json(&r->selection[c]));
        json_object_set_new(counts, eval_choice_name((enum eval_choice)c), json_integer(r->right[c]));
    }
    json_object_set_new(json, "counts", counts);
    json_object_set_new(json, "intervals", intervals);
    json_object_set_new(json, "gain", number(r->gain.value));
    json_object_set_new(json, "gain_interval", range_json(&r->gain));
    json_object_set_new(json, "fixed", json_integer(r->fixed));
    json_object_set_new(json, "broken", json_integer(r->broken));
    json_object_set_new(json, "unanswered", json_integer(r->unanswered));
    json_object_set_new(json, "gap_closed", number(r->gap_closed.value));
    json_object_set_new(json, "gap_closed_interval", range_json(&r->gap_closed));
    json_object_set_new(json, "exact_match", choices_json(r->exact));
    json_object_set_new(json, "contrasts", contrasts_json(r));
    json_object_set_new(json, "repaired", repairs_json(&r->repaired));
    json_object_set_new(json, "proposed_repairs", repairs_json(&r->proposed));
    json_object_set_new(json, "ceiling",
                        json_pack("{s:o,s:o,s:i,s:o}", "ex", number(r->ceiling_ex.value), "interval",
                                  range_json(&r->ceiling_ex), "right", (int)r->ceiling, "candidates_tried",
                                  number(r->ceiling_tried)));
    return json;
}

static json_t *levels_json(const struct eval_report *r)
{
    json_t *list = json_array();
    for (int i = 0; i < DIFFICULTY_COUNT; i++) {
        const struct eval_level *level = &r->levels[i];
        if (!level->n) continue;
        json_t *json = choices_json(level->selection);
        json_object_set_new(json, "level", json_string(difficulty_name((enum difficulty)i)));
        json_object_set_new(json, "questions", json_integer(level->n));
        json_object_set_new(json, "interval", range_json(&level->selection[CHOICE_ASSAY]));
        json_object_set_new(json, "gain", number(level->gain.value));
        json_object_set_new(json, "gain_interval", range_json(&level->gain));
        json_object_set_new(json, "exact_match", number(level->exact));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *eval_calibration_json(const struct eval_calibration *c)
{
    json_t *bins = json_array();
    for (unsigned i = 0; i < EVAL_BINS; i++)
        json_array_append_new(bins, json_pack("{s:f,s:f,s:i,s:o,s:o,s:o}", "from", (double)i / EVAL_BINS, "to",
                                              (i + 1.0) / EVAL_BINS, "n", (int)c->bins[i].n, "p", number(c->bins[i].p),
                                              "right", number(c->bins[i].right.value), "interval",
                                              range_json(&c->bins[i].right)));
    return json_pack("{s:i,s:o,s:o}", "n", (int)c->n, "ece", number(c->ece), "bins", bins);
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
    struct eval_cost costs[EVAL_COSTS];
    int64_t total = 0;
    unsigned n = eval_costs(&data->workers, costs, &total);
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
    json_object_set_new(detection, "calibration_error", number(r->rows.ece));
    json_t *json = json_pack("{s:i,s:i,s:o,s:o,s:o,s:i,s:o,s:i,s:o,s:o}", "schema_version", 1, "questions", (int)r->n,
                             "selection", selection_json(r), "detection", detection, "signals", signals_json(r),
                             "answered_at_95", (int)r->answered_at_95, "answered_threshold",
                             number(r->answered_threshold), "interactions_to_95", (int)r->interactions_to_95,
                             "candidates_tried", number(r->tried), "localisation", localisation_json(r));
    json_object_set_new(json, "difficulty", levels_json(r));
    json_object_set_new(json, "calibration",
                        json_pack("{s:o,s:o}", "candidates", eval_calibration_json(&r->rows), "answers",
                                  eval_calibration_json(&r->answers)));
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
    json_object_set_new(json, "left_out", json_integer((json_int_t)data->unreached));
    json_object_set_new(json, "skipped",
                        json_pack("{s:I,s:I,s:I}", "without_gold", (json_int_t)data->lines_without_gold, "failed",
                                  (json_int_t)data->lines_failed, "unjudged", (json_int_t)data->unjudged));
    return json;
}

static json_t *real_or_null(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

json_t *eval_triggering_json(const struct eval_data *data)
{
    json_t *rows = json_array();
    for (int i = 0; i < SCORE_COUNT; i++) {
        struct triggering t = triggering_measure(data, (enum eval_score)i);
        json_t *precision = json_array();
        for (int k = 0; k < TRIGGERING_STEPS; k++) json_array_append_new(precision, real_or_null(100 * t.precision[k]));
        json_array_append_new(rows, json_pack("{s:s,s:i,s:o,s:o,s:o,s:o}", "score", t.name, "answers", (int)t.n,
                                              "precision_area", real_or_null(100 * t.precision_area), "precision",
                                              precision, "accuracy_area", real_or_null(100 * t.accuracy_area),
                                              "interactions_to_95", real_or_null(100 * t.interactions_to_95)));
    }
    return rows;
}
