/* Guarantees on the share of wrong answers, computed from labelled answers. Numbers only; no state but the arguments.
 *
 * DESIGN. An answer is given if its P(correct) reaches a threshold. The risk at a threshold is the share of wrong
 * answers among those given. Learn then Test (Angelopoulos et al. 2021) yields the guarantee "at most alpha are wrong,
 * with confidence 1 - delta". Hypotheses "the risk is above alpha" are tested in a fixed sequence of thresholds, each
 * at level delta, up to the first that is not rejected. The guarantee holds at every threshold whose hypothesis is
 * rejected. The sequence goes from the quarter of the records with the highest P to all of them, in steps of a
 * twentieth. It depends on P and not on correctness. Given P, the number of wrong ones among independent records is a
 * sum of Bernoulli variables. The binomial tail at alpha bounds it (Hoeffding 1956), so each test is exact or
 * conservative.
 *
 * The guarantee covers answers drawn like the records. Records of few databases depend on each other: see
 * risk_design_effect. risk_shift detects traffic that drifts. Thread: any, an object by one at a time. */
#ifndef ASSAY_LIB_LEARN_RISK_H
#define ASSAY_LIB_LEARN_RISK_H

#include <stdbool.h>
#include <stdint.h>

enum { RISK_TRAITS = 8 };

/* One labelled answer. */
struct risk_record {
    double p;         /* its P(correct), 0 to 1 */
    uint32_t cluster; /* group of dependent answers: the number of its database */
    bool right;
    float traits[RISK_TRAITS]; /* inputs of the distance; all 0 means unknown, and all answers are then alike */
};

/* Sorts in place by P, highest first; the order of equal ones is independent of correctness. */
void risk_sort(struct risk_record *records, uint32_t n);

/* Returns P(at most `wrong` of n are wrong) if each is wrong with probability alpha, independently. 1 for n = 0. */
double risk_tail(uint32_t n, uint32_t wrong, double alpha);

/* Returns the upper confidence bound on the share of wrong answers, from `wrong` of n at confidence 1 - delta (Clopper
 * and Pearson). 1 for n = 0. */
double risk_upper(uint32_t n, uint32_t wrong, double delta);

struct risk_promise {
    bool held;                /* a threshold with the guarantee exists */
    double threshold;         /* of P; answers from here on are given; 1 if no guarantee is possible */
    uint32_t records;         /* number of records searched */
    uint32_t answered, wrong; /* of these, at the threshold */
};

/* Finds the least threshold at which at most a share alpha of the answers is wrong, with confidence 1 - delta. `sorted`
 * is ordered by risk_sort. `design_effect` is 1 for independent records, else the value of risk_design_effect. */
struct risk_promise risk_control(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                                 double design_effect);

/* Returns how many records would suffice for the guarantee, if more were like these; 0 if a million would not. */
uint32_t risk_records_needed(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                             double design_effect);

/* Returns the least alpha with a guarantee, in steps of 0.005; 1 if there is none below it. */
double risk_least_alpha(const struct risk_record *sorted, uint32_t n, double delta, double design_effect);

/* The labels that a guarantee still needs. */
struct risk_wanted {
    uint32_t
        region; /* number of answers, highest P first, among which the threshold may be; labels elsewhere do not help */
    uint32_t
        labels; /* labels needed there, drawn evenly, if as many are wrong as P predicts (at most half of alpha); 0:
                 * all of them would not suffice */
};

/* Plans the labels for n unlabelled answers, from their P alone; `sorted` has the highest P first. The region is at
 * least a quarter of them, and extends while P predicts at most half of alpha wrong. */
struct risk_wanted risk_labels_wanted(const double *sorted, uint32_t n, double alpha, double delta);

/* Returns Kish's design effect, at least 1: the variance of the clusters' errors divided by that of independent ones.
 * Records of one cluster err together, so each counts as 1 / effect independent records. */
double risk_design_effect(const struct risk_record *records, uint32_t n);

/* The scale of each trait. */
struct risk_scale {
    float by[RISK_TRAITS]; /* 1 / standard deviation; 0 for a constant trait */
};
struct risk_scale risk_measure(const struct risk_record *records, uint32_t n);

/* Returns the split conformal p-value: the share of wrong records with P at least that of the answer. It is small if
 * the answer is unlikely to be wrong. Valid for one answer drawn at random, not for the best of many. 1 without wrong
 * records.
 *
 * If answers are no longer drawn like the records, records similar to this answer weigh most: exp(-distance). The
 * distance is the mean square of the scaled traits, and the answer itself weighs 1 (conformal beyond exchangeability,
 * Barber et al. 2023; Reliable Text-to-SQL with Adaptive Abstention, section 3.2.2). An answer unlike all records has a
 * p-value near 1. */
double risk_p_value(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                    const struct risk_record *answer);

/* --- detection of changed traffic --- */

/* A conformal martingale (Vovk's simple jumper). If new values are exchangeable with those before, the probability that
 * it ever reaches 1 / level is at most `level`. Values are P, and the distance of an answer from the labelled ones
 * (risk_strangeness). The tested value is the mean of both martingales, which is a martingale too. It detects a
 * change of questions and candidates, not of how often a given P is correct.
 *
 * While nothing changes, staked capital is lost within some hundred answers. So the capital is staked in parts: half of
 * it first, then 1 / (k (k + 1)) of it every RISK_SHIFT_STAKE answers, k = 2, 3 ... Drift after a quiet week is then
 * still detected: the required gain grows with the logarithm of the time, not with the time. */
enum { RISK_SHIFT_BINS = 1024, RISK_SHIFT_STAKE = 100, RISK_SHIFT_VALUES = 2 };

struct risk_martingale {
    uint32_t counts[RISK_SHIFT_BINS + 1]; /* values seen so far, as a Fenwick tree */
    uint64_t n;                           /* number of values */
    uint64_t draws;                       /* draws made to break ties; not random, so that a run can be repeated */
    uint64_t answers;                     /* answers that were bet on */
    double capital[3];                    /* capital of bets on smaller, no, and greater ranks */
    double reserve;                       /* not yet staked */
};

struct risk_shift {
    struct risk_martingale of[RISK_SHIFT_VALUES];
    double level;
    bool shifted; /* the value has reached 1 / level once */
};

void risk_shift_begin(struct risk_shift *shift, double level);
/* Adds a known value; nothing is bet on it. Values from 0 to 1. */
void risk_shift_know(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* Adds one answer. Returns `shifted`. */
bool risk_shift_add(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* Returns the value of the martingale: 1 at the beginning. */
double risk_shift_value(const struct risk_shift *shift);

/* Returns d / (1 + d) for the distance d (as above) of an answer from the nearest labelled one. At most RISK_LANDMARKS
 * of the n are compared, evenly spread. `skip` is the index of one to leave out; n leaves out none. */
enum { RISK_LANDMARKS = 1000 };
double risk_strangeness(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                        const float traits[RISK_TRAITS], uint32_t skip);

#endif
