/* Guarantees on the share of wrong answers, computed from labelled answers. Works on numbers only and has no global
 * state.
 *
 * DESIGN. An answer is given if its P(correct) reaches a threshold. The risk at a threshold is the share of wrong
 * answers among those given. Learn then Test (Angelopoulos et al. 2021) yields the guarantee "at most alpha are wrong,
 * with confidence 1 - delta". It tests the hypothesis "the risk is above alpha" for a fixed sequence of thresholds.
 * Each test has level delta, and the sequence stops at the first hypothesis that is not rejected. The guarantee holds
 * at every threshold whose hypothesis is rejected. The sequence starts with the quarter of the records that have the
 * highest P, and grows to all records in steps of a twentieth. It depends on P and not on correctness. Given P, the
 * number of wrong answers among independent records is a sum of Bernoulli variables. The binomial tail at alpha bounds
 * it (Hoeffding 1956), so each test is exact or conservative.
 *
 * The guarantee covers answers that are drawn like the records. Records of few databases depend on each other;
 * risk_design_effect accounts for this. risk_shift detects traffic that has changed. Thread: any, one at a time for an
 * object. */
#ifndef ASSAY_LIB_LEARN_RISK_H
#define ASSAY_LIB_LEARN_RISK_H

#include <stdbool.h>
#include <stdint.h>

enum { RISK_TRAITS = 8 };

/* One labelled answer. */
struct risk_record {
    double p;         /* P(correct) of the answer, 0 to 1 */
    uint32_t cluster; /* group of dependent answers: number of the answer's database */
    bool right;
    /* Inputs of the distance between answers. All 0 if unknown; the distance is then 0. */
    float traits[RISK_TRAITS];
};

/* Sorts in place by P, highest first. The order of equal P is independent of correctness. */
void risk_sort(struct risk_record *records, uint32_t n);

/* Returns the probability that at most `wrong` of n answers are wrong, if each is wrong independently with probability
 * alpha. Returns 1 for n = 0. */
double risk_tail(uint32_t n, uint32_t wrong, double alpha);

/* Returns the upper confidence bound on the share of wrong answers, if `wrong` of n are wrong, at confidence 1 - delta
 * (Clopper and Pearson). Returns 1 for n = 0. */
double risk_upper(uint32_t n, uint32_t wrong, double delta);

struct risk_promise {
    bool held;                /* a threshold with the guarantee exists */
    double threshold;         /* an answer is given if its P is at least this; 1 if no guarantee is possible */
    uint32_t records;         /* number of records that were searched */
    uint32_t answered, wrong; /* number of these records at or above the threshold, and of the wrong ones among them */
};

/* Finds the lowest threshold at which at most a share alpha of the answers is wrong, with confidence 1 - delta.
 * `sorted` is in the order of risk_sort. `design_effect` is 1 for independent records, otherwise the value of
 * risk_design_effect. */
struct risk_promise risk_control(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                                 double design_effect);

/* Returns the number of records, similar to the given ones, that would suffice for the guarantee. Returns 0 if a
 * million would not suffice. */
uint32_t risk_records_needed(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                             double design_effect);

/* Returns the lowest alpha with a guarantee, in steps of 0.005. Returns 1 if there is none. */
double risk_least_alpha(const struct risk_record *sorted, uint32_t n, double delta, double design_effect);

/* The labels that a guarantee still needs. */
struct risk_wanted {
    uint32_t
        /* Number of answers with the highest P among which the threshold can lie. Labels of other answers do not
         * help. */
        region;
    uint32_t
        /* Number of labels needed in the region, drawn at random. Assumes that as many answers are wrong as P predicts,
         * but at most half of alpha. 0 if labels of the whole region would not suffice. */
        labels;
};

/* Plans the labels for n unlabelled answers, from their P alone. `sorted` has the highest P first. The region is at
 * least a quarter of the answers. It is extended while P predicts that at most half of alpha are wrong. */
struct risk_wanted risk_labels_wanted(const double *sorted, uint32_t n, double alpha, double delta);

/* Returns Kish's design effect, at least 1: the variance of the errors in clusters, divided by that of independent
 * errors. Records of one cluster tend to be wrong together, so each counts as 1 / effect independent records. */
double risk_design_effect(const struct risk_record *records, uint32_t n);

/* The scale of each trait, which makes traits comparable. */
struct risk_scale {
    float by[RISK_TRAITS]; /* 1 / standard deviation; 0 for a constant trait */
};
struct risk_scale risk_measure(const struct risk_record *records, uint32_t n);

/* Returns the split conformal p-value: the share of wrong records whose P is at least that of the answer. A small value
 * means that the answer is unlikely to be wrong. It is valid for one answer drawn at random, but not for the best of
 * several. Returns 1 if no record is wrong.
 *
 * If answers are no longer drawn like the records, records similar to this answer get more weight: exp(-distance). The
 * distance is the mean square of the differences of scaled traits. The answer itself weighs 1 (conformal beyond
 * exchangeability, Barber et al. 2023; Reliable Text-to-SQL with Adaptive Abstention, section 3.2.2). An answer that is
 * unlike all records has a p-value near 1. */
double risk_p_value(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                    const struct risk_record *answer);

/* --- detection of changed traffic --- */

/* A conformal martingale (Vovk's simple jumper). If new values are exchangeable with the earlier ones, it ever reaches
 * 1 / level with probability `level` at most. It tests two values of an answer: P, and the distance from the labelled
 * answers (risk_strangeness). The result is the mean of both martingales, which is a martingale too. It detects a
 * change of questions and candidates, but not a change in how often a given P is correct.
 *
 * While nothing changes, the staked capital is lost within some hundred answers. Therefore the capital is staked in
 * parts. Half of it is staked first, then 1 / (k (k + 1)) of it every RISK_SHIFT_STAKE answers, for k = 2, 3 ... So a
 * drift after a quiet week is still detected: the required gain grows with the logarithm of the time, not with the
 * time. */
enum { RISK_SHIFT_BINS = 1024, RISK_SHIFT_STAKE = 100, RISK_SHIFT_VALUES = 2 };

struct risk_martingale {
    uint32_t counts[RISK_SHIFT_BINS + 1]; /* number of earlier values in each bin, as a Fenwick tree */
    uint64_t n;                           /* number of earlier values */
    uint64_t draws;    /* draws made to break ties; a counter replaces randomness, so that a run can be repeated */
    uint64_t answers;  /* number of answers that were bet on */
    double capital[3]; /* capital of the bets on small ranks, on no change, and on large ranks */
    double reserve;    /* capital that is not yet staked */
};

struct risk_shift {
    struct risk_martingale of[RISK_SHIFT_VALUES];
    double level;
    bool shifted; /* the martingale has reached 1 / level at some time */
};

void risk_shift_begin(struct risk_shift *shift, double level);
/* Adds the values of a labelled answer, without a bet. Values are from 0 to 1. */
void risk_shift_know(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* Adds one answer and bets on it. Returns `shifted`. */
bool risk_shift_add(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* Returns the current value of the martingale, which starts at 1. */
double risk_shift_value(const struct risk_shift *shift);

/* Returns d / (1 + d), where d is the distance (see risk_p_value) of an answer from the nearest labelled one. At most
 * RISK_LANDMARKS of the n records are compared, evenly spaced. `skip` is the index of a record to leave out; n leaves
 * out none. */
enum { RISK_LANDMARKS = 1000 };
double risk_strangeness(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                        const float traits[RISK_TRAITS], uint32_t skip);

#endif
