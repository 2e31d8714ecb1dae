/* Computes the figures of docs/results.md from labelled verdicts. Intervals resample questions. If two figures are
 * compared, the interval is that of their paired difference. */
#include "eval/eval.h"

#include <math.h>
#include <string.h>

static const double nothing = (double)NAN;

static const struct eval_question *question_at(const struct eval_data *data, guint i)
{
    return &g_array_index(data->questions, struct eval_question, i);
}

static const struct eval_row *row_at(const struct eval_data *data, guint i)
{
    return &g_array_index(data->rows, struct eval_row, i);
}

/* --- answering -------------------------------------------------------------------------------------------------- */

struct answer {
    double p; /* P(correct); -1 if there is none */
    bool right;
};

static int by_p(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}

/* Returns how many of the least certain answers a person must correct until 95 % of all are right. */
static uint32_t interactions(const struct eval_data *data)
{
    guint n = data->questions->len, right = 0, asked = 0;
    struct answer *answers = g_new(struct answer, n + 1);
    for (guint i = 0; i < n; i++) {
        const struct eval_question *q = question_at(data, i);
        answers[i] = (struct answer){isnan(q->p) ? -1 : q->p, q->assay};
        right += q->assay;
    }
    qsort(answers, n, sizeof *answers, by_p);
    while (asked < n && (double)right < 0.95 * n) right += !answers[asked++].right;
    g_free(answers);
    return asked;
}

static void measure_answering(const struct eval_data *data, struct eval_report *out)
{
    guint n = data->questions->len;
    double *p = g_new(double, n + 1);
    uint8_t *right = g_new(uint8_t, n + 1);
    uint32_t asked = 0;
    for (guint i = 0; i < n; i++) {
        const struct eval_question *q = question_at(data, i);
        if (!q->answered || isnan(q->p)) continue;
        p[asked] = q->p;
        right[asked++] = q->assay;
    }
    out->answered_at_95 = (uint32_t)learn_threshold_at(p, right, asked, 0.95, &out->answered_threshold);
    out->interactions_to_95 = interactions(data);
    g_free(p);
    g_free(right);
}

/* --- detection and signals -------------------------------------------------------------------------------------- */

static unsigned bits(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static void measure_detection(const struct eval_data *data, unsigned rounds, struct eval_report *out)
{
    guint n = data->rows->len;
    uint32_t used = 0;
    bool model = false;
    double *score = g_new(double, n + 1);
    uint8_t *wrong = g_new(uint8_t, n + 1);
    for (guint i = 0; i < n; i++) {
        const struct eval_row *row = row_at(data, i);
        if (!row->detection) continue;
        model |= !isnan(row->p);
        /* If there is no P, the score is the number of fired signals: any fired signal predicts wrong. */
        score[used] = isnan(row->p) ? bits(row->fired) / 64.0 : 1 - row->p;
        wrong[used++] = !row->right;
    }
    out->detection = eval_detect("assay", score, wrong, used, model ? 0.5 : 1 / 64.0, rounds);
    g_free(score);
    g_free(wrong);
}

struct recall_vote {
    const uint8_t *fired, *wrong;
};

static double recall_statistic(const void *context, const uint32_t *rows, size_t n)
{
    const struct recall_vote *v = context;
    size_t wrong = 0, found = 0;
    for (size_t i = 0; i < n; i++) {
        wrong += v->wrong[rows[i]];
        found += v->wrong[rows[i]] && v->fired[rows[i]];
    }
    return wrong ? (double)found / (double)wrong : nothing;
}

static void measure_signal(const struct eval_data *data, const struct vsig_def *def, unsigned rounds,
                           struct eval_signal *out)
{
    guint n = data->rows->len;
    uint8_t *fired = g_new(uint8_t, n + 1), *wrong = g_new(uint8_t, n + 1);
    uint64_t bit = 1ULL << def->id;
    for (guint i = 0; i < n; i++) {
        const struct eval_row *row = row_at(data, i);
        bool fires = row->fired & bit;
        out->all_fired += fires;
        out->all_right += fires && !row->right;
        if (!row->detection || row->missing & bit) continue;
        fired[out->seen] = fires;
        wrong[out->seen++] = !row->right;
        out->fired += fires;
        out->right += fires && !row->right;
    }
    struct learn_vote vote = {fired, wrong};
    struct recall_vote recall = {fired, wrong};
    out->precision = eval_interval(learn_stat_vote_precision, &vote, out->seen, out->fired ? rounds : 0, 100);
    out->lift = eval_interval(learn_stat_lift, &vote, out->seen, out->fired ? rounds : 0, 1);
    out->recall = eval_interval(recall_statistic, &recall, out->seen, 0, 100);
    g_free(fired);
    g_free(wrong);
}

static void measure_signals(const struct eval_data *data, const struct vsig_options *options, unsigned rounds,
                            struct eval_report *out)
{
    const struct vsig_def *const *all = vsig_all(&out->n_signals);
    out->signals = g_new0(struct eval_signal, out->n_signals + 1);
    for (unsigned i = 0; i < out->n_signals; i++) {
        out->signals[i].name = all[i]->name;
        out->signals[i].family = vsig_family_name(all[i]->family);
        out->signals[i].enabled = options->enabled[all[i]->id];
        measure_signal(data, all[i], rounds, &out->signals[i]);
    }
}

/* --- profile ---------------------------------------------------------------------------------------------------- */

static int by_cost(const void *a, const void *b)
{
    const struct eval_cost *x = a, *y = b;
    return x->ns < y->ns ? 1 : x->ns > y->ns ? -1 : 0;
}

unsigned eval_costs(const struct worker_stats *stats, struct eval_cost out[EVAL_COSTS], int64_t *total)
{
    unsigned n = 0, defs = 0;
    const struct vsig_def *const *all = vsig_all(&defs);
    for (unsigned i = 0; i < defs; i++)
        out[n++] = (struct eval_cost){all[i]->name, stats->signal_ns[all[i]->id], stats->signal_runs[all[i]->id]};
    out[n++] = (struct eval_cost){"(parse and bind)", stats->parse_ns, stats->candidates};
    out[n++] = (struct eval_cost){"(prepare)", stats->prepare_ns, stats->candidates};
    out[n++] = (struct eval_cost){"(run the candidate)", stats->execute_ns, stats->executed};
    qsort(out, n, sizeof *out, by_cost);
    *total = stats->busy_ns;
    return n;
}

/* --- localisation ------------------------------------------------------------------------------------------------- */

static void measure_localisation(const struct eval_data *data, unsigned rounds, struct eval_report *out)
{
    guint n = data->rows->len;
    double *hit = g_new(double, n + 1), *pointed = g_new(double, n + 1), *chance = g_new(double, n + 1);
    for (guint i = 0; i < n; i++) {
        const struct eval_row *row = row_at(data, i);
        if (!row->known) continue;
        hit[out->wrong_known++] = row->hit;
        if (row->pointed) {
            chance[out->wrong_pointed] = row->by_chance;
            pointed[out->wrong_pointed++] = row->hit;
        }
        out->wrong_hit += row->hit;
    }
    out->hit = eval_interval(learn_stat_mean, &(struct learn_pair){.a = hit}, out->wrong_known, rounds, 100);
    out->hit_pointed =
        eval_interval(learn_stat_mean, &(struct learn_pair){.a = pointed}, out->wrong_pointed, rounds, 100);
    out->chance = eval_interval(learn_stat_mean, &(struct learn_pair){.a = chance}, out->wrong_pointed, rounds, 100);
    g_free(hit);
    g_free(pointed);
    g_free(chance);
}

struct eval_report *eval_measure(const struct eval_data *data, const struct vsig_options *signals, unsigned rounds)
{
    struct eval_report *out = g_new0(struct eval_report, 1);
    out->n = data->questions->len;
    eval_selection(data, rounds, out);
    eval_calibration(data, out);
    measure_answering(data, out);
    measure_detection(data, rounds, out);
    measure_signals(data, signals, rounds, out);
    measure_localisation(data, rounds, out);
    return out;
}

void eval_report_free(struct eval_report *report)
{
    g_free(report->signals);
    g_free(report);
}
