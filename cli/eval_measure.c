/* From labelled verdicts to the numbers of docs/quality.md. Intervals are bootstrapped over questions, paired where two
 * figures are compared, always from the same seed: two runs print the same. */
#include "cli/eval.h"
#include "cli/localise.h"

#include <math.h>
#include <string.h>

enum { BOOTSTRAP_SEED = 20240501 };
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

static uint32_t database_number(struct eval_data *data, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(data->databases, name));
    if (number) return number;
    number = g_hash_table_size(data->databases) + 1;
    g_hash_table_insert(data->databases, g_strdup(name), GUINT_TO_POINTER(number));
    return number;
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

void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog)
{
    uint32_t n = labels->n, first = labels->first_executable;
    struct eval_question question = {
        .database = database_number(data, verdict->db ? verdict->db : ""),
        .n_candidates = n,
        .iterations = verdict->iterations,
        .first = n > 0 && labels->of[0] == LABEL_RIGHT,
        .first_executable = first != LABEL_NONE && labels->of[first] == LABEL_RIGHT,
        .majority = n > 0 && labels->of[labels->majority] == LABEL_RIGHT,
        .executable = first != LABEL_NONE,
        .answered = verdict->chosen > 0 && verdict->chosen <= n,
        .gold_empty = labels->gold_empty,
        .p = verdict->p_correct,
    };
    question.assay = question.answered && labels->of[verdict->chosen - 1] == LABEL_RIGHT;
    for (uint32_t i = 0; i < n; i++) question.oracle |= labels->of[i] == LABEL_RIGHT;
    add_rows(data, verdict, labels, catalog);
    g_array_append_val(data->questions, question);
}

/* --- shares and intervals -------------------------------------------------------------------------------------- */

static struct eval_share interval(learn_statistic statistic, const void *context, size_t n, unsigned rounds,
                                  double scale)
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
    out.auc = interval(learn_stat_auc, &plain, n, rounds, 100);
    out.accuracy = interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_precision;
    out.precision = interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_recall;
    out.recall = interval(confusion_statistic, &s, n, rounds, 100);
    s.measure = learn_f1;
    out.f1 = interval(confusion_statistic, &s, n, rounds, 100);
    return out;
}

/* --- selection --------------------------------------------------------------------------------------------------- */

static const struct eval_question *question_at(const struct eval_data *data, guint i)
{
    return &g_array_index(data->questions, struct eval_question, i);
}

static const struct eval_row *row_at(const struct eval_data *data, guint i)
{
    return &g_array_index(data->rows, struct eval_row, i);
}

static bool choice_right(const struct eval_question *q, enum eval_choice choice)
{
    const bool right[] = {q->first, q->first_executable, q->majority, q->assay, q->oracle};
    return right[choice];
}

static void measure_selection(const struct eval_data *data, unsigned rounds, struct eval_report *out)
{
    guint n = data->questions->len;
    double *right[CHOICE_COUNT];
    for (int c = 0; c < CHOICE_COUNT; c++) {
        right[c] = g_new0(double, n + 1);
        for (guint i = 0; i < n; i++) right[c][i] = choice_right(question_at(data, i), (enum eval_choice)c);
        for (guint i = 0; i < n; i++) out->right[c] += right[c][i] > 0;
        struct learn_pair pair = {.a = right[c]};
        out->selection[c] = interval(learn_stat_mean, &pair, n, rounds, 100);
    }
    struct learn_pair both = {.a = right[CHOICE_ASSAY], .b = right[CHOICE_FIRST_EXECUTABLE]};
    out->gain = interval(learn_stat_difference, &both, n, rounds, 100);
    for (guint i = 0; i < n; i++) {
        const struct eval_question *q = question_at(data, i);
        out->fixed += q->assay && !q->first_executable;
        out->broken += !q->assay && q->first_executable;
        out->unanswered += !q->answered;
        out->tried += (double)q->iterations / n;
    }
    for (int c = 0; c < CHOICE_COUNT; c++) g_free(right[c]);
}

/* --- answering -----------------------------------------------------------------------------------------------------
 */

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

/* --- detection and signals ------------------------------------------------------------------------------------------
 */

static unsigned bits(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static void measure_detection(const struct eval_data *data, unsigned rounds, struct eval_report *out)
{
    guint n = data->rows->len;
    uint32_t used = 0;
    bool model = false;
    double *score = g_new(double, n + 1), *p = g_new(double, n + 1);
    uint8_t *wrong = g_new(uint8_t, n + 1);
    for (guint i = 0; i < n; i++) {
        const struct eval_row *row = row_at(data, i);
        if (!row->detection) continue;
        model |= !isnan(row->p);
        /* Without a model the number of signals that fired stands in: any at all means wrong. */
        score[used] = isnan(row->p) ? bits(row->fired) / 64.0 : 1 - row->p;
        p[used] = 1 - row->p;
        wrong[used++] = !row->right;
    }
    out->detection = eval_detect("assay", score, wrong, used, model ? 0.5 : 1 / 64.0, rounds);
    out->ece = model ? 100 * learn_ece(p, wrong, used, 10) : nothing;
    g_free(score);
    g_free(p);
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
    out->precision = interval(learn_stat_vote_precision, &vote, out->seen, out->fired ? rounds : 0, 100);
    out->lift = interval(learn_stat_lift, &vote, out->seen, out->fired ? rounds : 0, 1);
    out->recall = interval(recall_statistic, &recall, out->seen, 0, 100);
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
    out->hit = interval(learn_stat_mean, &(struct learn_pair){.a = hit}, out->wrong_known, rounds, 100);
    out->hit_pointed = interval(learn_stat_mean, &(struct learn_pair){.a = pointed}, out->wrong_pointed, rounds, 100);
    out->chance = interval(learn_stat_mean, &(struct learn_pair){.a = chance}, out->wrong_pointed, rounds, 100);
    g_free(hit);
    g_free(pointed);
    g_free(chance);
}

struct eval_report *eval_measure(const struct eval_data *data, const struct vsig_options *signals, unsigned rounds)
{
    struct eval_report *out = g_new0(struct eval_report, 1);
    out->n = data->questions->len;
    measure_selection(data, rounds, out);
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
