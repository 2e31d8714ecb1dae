/* From labelled verdicts to the numbers of docs/results.md. Intervals are bootstrapped over questions, paired where two
 * figures are compared, always from the same seed: two runs print the same. */
#include "eval/eval.h"
#include "eval/exact.h"
#include "eval/localise.h"

#include <math.h>
#include <string.h>

enum { BOOTSTRAP_SEED = 20240501 };
static const size_t exact_arena = 64U << 20;
static const double level = 0.95, nothing = (double)NAN;

/* --- collecting ---------------------------------------------------------------------------------------------- */

struct eval_data *eval_data_new(bool vectors)
{
    struct eval_data *data = g_new0(struct eval_data, 1);
    data->questions = g_array_new(FALSE, TRUE, sizeof(struct eval_question));
    data->rows = g_array_new(FALSE, TRUE, sizeof(struct eval_row));
    data->databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (vectors) data->vectors = vectors_new(FEATURES_REQUEST);
    return data;
}

void eval_data_free(struct eval_data *data)
{
    g_array_free(data->questions, TRUE);
    g_array_free(data->rows, TRUE);
    g_hash_table_destroy(data->databases);
    vectors_free(data->vectors);
    g_free(data);
}

/* The entry that was judged for candidate i: a repeat stands for the one it repeats. */
static uint32_t original(const struct msg_verdict *verdict, uint32_t i)
{
    uint32_t same = verdict->candidates[i].same_as;
    return same ? same - 1 : i;
}

static void add_row(struct eval_data *data, const struct msg_verdict *verdict, uint32_t i, bool right, bool detection,
                    const struct sql_catalog *catalog)
{
    const struct msg_judged *judged = &verdict->candidates[i];
    struct eval_row row = {
        .question = data->questions->len, .right = right, .detection = detection, .p = judged->p_correct};
    for (uint32_t k = 0; k < judged->n_signals; k++) {
        uint64_t bit = judged->signals[k].id < 64 ? 1ULL << judged->signals[k].id : 0;
        if (judged->signals[k].state == MSG_FIRED) row.fired |= bit;
        if (judged->signals[k].state == MSG_UNAVAILABLE) row.missing |= bit;
    }
    if (!right && catalog && verdict->gold) {
        struct localisation where = localise(catalog, judged, verdict->gold);
        row.known = where.known;
        row.pointed = where.pointed;
        row.hit = where.hit;
        row.by_chance = where.by_chance;
    }
    g_array_append_val(data->rows, row);
}

static void add_rows(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
                     const struct sql_catalog *catalog)
{
    uint32_t first = labels->first_executable == LABEL_NONE ? LABEL_NONE : original(verdict, labels->first_executable);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_judged *judged = &verdict->candidates[i];
        bool detection = i == first && !labels->gold_empty;
        if (detection && !judged->judged) data->unjudged++;
        if (!judged->judged || judged->same_as || labels->of[i] == LABEL_FAILED) continue;
        add_row(data, verdict, i, labels->of[i] == LABEL_RIGHT, detection, catalog);
    }
}

/* The loop of a verifier that is never wrong: in order, repeats left out, until the right one. */
static void add_ceiling(const struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
                        struct eval_question *question)
{
    uint32_t most = data->max_iterations ? data->max_iterations : UINT32_MAX;
    for (uint32_t i = 0; i < labels->n && !question->ceiling && question->ceiling_tried < most; i++) {
        if (verdict->candidates[i].same_as) continue;
        question->ceiling_tried++;
        question->ceiling = labels->of[i] == LABEL_RIGHT;
    }
}

/* Exact matches of the choices; `taken` are their candidates, LABEL_NONE for none. */
static void add_matches(const struct msg_verdict *verdict, const struct sql_catalog *catalog, const uint32_t *taken,
                        struct eval_question *question)
{
    struct arena kept, arena; /* the second one is for a candidate at a time */
    arena_init(&kept, exact_arena);
    arena_init(&arena, exact_arena);
    const char *gold = exact_form(&kept, catalog, verdict->gold, strlen(verdict->gold));
    question->comparable = gold != NULL;
    for (uint32_t i = 0; gold && i < verdict->n_candidates; i++) {
        const struct msg_text *sql = &verdict->candidates[i].sql;
        const char *form = sql->bytes ? exact_form(&arena, catalog, sql->bytes, sql->len) : NULL;
        bool same = form && strcmp(form, gold) == 0;
        arena_reset(&arena);
        if (!same) continue;
        for (int c = 0; c < CHOICE_ORACLE; c++) question->matches[c] |= taken[c] == i;
        question->matches[CHOICE_ORACLE] = true;
    }
    arena_free(&arena);
    arena_free(&kept);
}

static uint32_t chosen(const struct msg_verdict *verdict, uint32_t n)
{
    return verdict->chosen > 0 && verdict->chosen <= n ? verdict->chosen - 1 : LABEL_NONE;
}

void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog)
{
    uint32_t n = labels->n;
    const uint32_t taken[] = {[CHOICE_FIRST] = n ? 0 : LABEL_NONE,
                              [CHOICE_FIRST_EXECUTABLE] = labels->first_executable,
                              [CHOICE_MAJORITY] = n ? labels->majority : LABEL_NONE,
                              [CHOICE_ASSAY] = chosen(verdict, n)};
    bool right[CHOICE_ORACLE];
    for (int c = 0; c < CHOICE_ORACLE; c++) right[c] = taken[c] != LABEL_NONE && labels->of[taken[c]] == LABEL_RIGHT;
    struct eval_question question = {
        .database = vectors_database(data->databases, verdict->db ? verdict->db : ""),
        .n_candidates = n,
        .iterations = verdict->iterations,
        .first = right[CHOICE_FIRST],
        .first_executable = right[CHOICE_FIRST_EXECUTABLE],
        .majority = right[CHOICE_MAJORITY],
        .assay = right[CHOICE_ASSAY],
        .executable = labels->first_executable != LABEL_NONE,
        .answered = taken[CHOICE_ASSAY] != LABEL_NONE,
        .gold_empty = labels->gold_empty,
        .p = verdict->p_correct,
        .difficulty = verdict->gold ? difficulty_of(verdict->gold, strlen(verdict->gold)) : DIFFICULTY_UNKNOWN,
    };
    for (uint32_t i = 0; i < n; i++) question.oracle |= labels->of[i] == LABEL_RIGHT;
    add_ceiling(data, verdict, labels, &question);
    if (catalog && verdict->gold) add_matches(verdict, catalog, taken, &question);
    add_rows(data, verdict, labels, catalog);
    g_array_append_val(data->questions, question);
}

/* --- shares and intervals -------------------------------------------------------------------------------------- */

struct eval_share eval_interval(learn_statistic statistic, const void *context, size_t n, unsigned rounds, double scale)
{
    struct eval_share share = {nothing, nothing, nothing};
    if (n == 0) return share;
    uint32_t *all = g_new(uint32_t, n);
    for (size_t i = 0; i < n; i++) all[i] = (uint32_t)i;
    share.value = scale * statistic(context, all, n);
    g_free(all);
    if (rounds && !isnan(share.value)) {
        struct learn_interval range = learn_bootstrap(statistic, context, NULL, n, rounds, level, BOOTSTRAP_SEED);
        share.low = scale * range.low;
        share.high = scale * range.high;
    }
    return share;
}

struct scored {
    const double *score;
    const uint8_t *wrong;
    double threshold;
    double (*measure)(struct learn_confusion c);
};

static double confusion_statistic(const void *context, const uint32_t *rows, size_t n)
{
    const struct scored *s = context;
    struct learn_confusion c = {0};
    for (size_t i = 0; i < n; i++) {
        bool predicted = s->score[rows[i]] >= s->threshold, wrong = s->wrong[rows[i]];
        c.tp += predicted && wrong;
        c.fp += predicted && !wrong;
        c.fn += !predicted && wrong;
        c.tn += !predicted && !wrong;
    }
    return s->measure(c);
}

struct eval_detection eval_detect(const char *name, const double *score, const uint8_t *wrong, uint32_t n,
                                  double threshold, unsigned rounds)
{
    struct eval_detection out = {.name = name, .n = n};
    for (uint32_t i = 0; i < n; i++) out.positives += wrong[i];
    struct learn_scored plain = {score, wrong};
    struct scored s = {score, wrong, threshold, learn_accuracy};
    out.auc = eval_interval(learn_stat_auc, &plain, n, rounds, 100);
    out.accuracy = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_precision;
    out.precision = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_recall;
    out.recall = eval_interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_f1;
    out.f1 = eval_interval(confusion_statistic, &s, n, rounds, 100);
    return out;
}

/* --- rows --------------------------------------------------------------------------------------------------- */

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
    double p; /* -1: none */
    bool right;
};

static int by_p(const void *a, const void *b)
{
    const struct answer *x = a, *y = b;
    return x->p < y->p ? -1 : x->p > y->p;
}

/* How many of the least certain answers a person must put right until 95 % of all are. */
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
        /* Without a model the number of signals that fired stands in: any at all means wrong. */
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
