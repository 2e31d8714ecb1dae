/* Promises about the share of wrong answers, made from answers whose truth is known. Numbers only; no state but what is given.
 *
 * DESIGN. An answer is given where its P(correct) reaches a threshold, and the risk at a threshold is the share of wrong ones among the
 * answers given. Learn then Test (Angelopoulos et al. 2021) turns that into a promise: "at most alpha are wrong, with confidence
 * 1 - delta" holds at every threshold whose hypothesis "the risk is above alpha" is rejected by tests in a fixed sequence, each at
 * delta, up to the first that is not. The sequence goes from the surest quarter of the records to all of them, in steps of a
 * twentieth. It depends on P and not on what was right, and given P the number of wrong ones among independent records is a sum of
 * coins: the binomial tail at alpha bounds it (Hoeffding 1956), so each test is exact or errs on the safe side.
 *
 * The promise is about answers drawn as the records were. Records of few databases depend on each other: see risk_design_effect.
 * Traffic that drifts is what risk_shift is for. Thread: any, an object by one at a time.
 */
#ifndef ASSAY_LIB_LEARN_RISK_H
#define ASSAY_LIB_LEARN_RISK_H

#include <stdbool.h>
#include <stdint.h>

enum { RISK_TRAITS = 8 };

/* One answer whose truth is known. */
struct risk_record {
    double p;         /* its P(correct), 0 to 1 */
    uint32_t cluster; /* what it depends on others by: the number of its database */
    bool right;
    float traits[RISK_TRAITS]; /* what likeness is measured by; all 0: not known, and all are alike */
};

/* The surest first; of equal ones in no order that tells right from wrong. In place. */
void risk_sort(struct risk_record *records, uint32_t n);

/* P(at most `wrong` of n are wrong) where each is with probability alpha, independently. 1 for n = 0. */
double risk_tail(uint32_t n, uint32_t wrong, double alpha);

/* The greatest share that `wrong` of n do not rule out with confidence 1 - delta (Clopper and Pearson). 1 for n = 0. */
double risk_upper(uint32_t n, uint32_t wrong, double delta);

struct risk_promise {
    bool held;                /* there is a threshold at which it can be made */
    double threshold;         /* of P; answers from here on are given; 1 where it cannot be made */
    uint32_t records;         /* that it was looked for in */
    uint32_t answered, wrong; /* of these, at the threshold */
};

/* The least threshold at which at most a share alpha of the answers is wrong, with confidence 1 - delta. `sorted` by risk_sort.
 * `design_effect`: 1 for independent records; what risk_design_effect says else. */
struct risk_promise risk_control(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                                 double design_effect);

/* Records that would do for it, if more were like these; 0: no number of them up to a million. */
uint32_t risk_records_needed(const struct risk_record *sorted, uint32_t n, double alpha, double delta,
                             double design_effect);

/* The least alpha for which it can be made, in steps of 0.005; 1: for none below it. */
double risk_least_alpha(const struct risk_record *sorted, uint32_t n, double delta, double design_effect);

/* Which labels a promise is still short of. */
struct risk_wanted {
    uint32_t
        region; /* of the answers, so many of the surest: where the threshold may come to lie; labels elsewhere tell nothing of it */
    uint32_t
        labels; /* in there, drawn evenly, if as many are wrong as P says, or half of alpha where P says more; 0: all of them would not do */
};

/* For n answers whose truth is not known, from their P alone; `sorted` the surest first. The region is a quarter of them at least, the rest
 * as far as P says that not more than half of alpha are wrong. */
struct risk_wanted risk_labels_wanted(const double *sorted, uint32_t n, double alpha, double delta);

/* How many independent records one counts for less than itself because records of one cluster go wrong together: the variance of the
 * clusters' errors by that of independent ones (Kish's design effect), at least 1. */
double risk_design_effect(const struct risk_record *records, uint32_t n);

/* How far traits usually are from each other. */
struct risk_scale {
    float by[RISK_TRAITS]; /* 1 / standard deviation; 0: a trait that never changes */
};
struct risk_scale risk_measure(const struct risk_record *records, uint32_t n);

/* Split conformal: of wrong answers like the records', the share that looks at least as sure as p; small where an answer is
 * hardly wrong. Valid for one answer taken at random, not for the surest of many. 1 without wrong records.
 *
 * Where answers are no longer drawn as the records were, those weigh most that are like this one: exp(-distance), the distance the mean square
 * of the scaled traits, the answer itself 1 (conformal beyond exchangeability, Barber et al. 2023; Reliable Text-to-SQL with Adaptive
 * Abstention, section 3.2.2). An answer unlike all that is known has a P-value near 1. */
double risk_p_value(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                    const struct risk_record *answer);

/* --- has the traffic changed? --- */

/* A conformal martingale (Vovk's simple jumper): as long as new values are exchangeable with those before, the chance that it ever reaches
 * 1 / level is at most `level`. Values are P, and how unlike the labelled ones an answer is (risk_strangeness); what is looked at is the mean of
 * both martingales, which is one. It sees a change of what is asked and generated, not of how often a given P is right.
 *
 * What is bet while nothing changes is lost, within some hundred answers. So the capital is staked bit by bit: half of it at the first answer,
 * and every RISK_SHIFT_STAKE answers 1 / (k (k + 1)) of it, k = 2, 3 ... Then drift after a quiet week is still seen: what had to be gained
 * grows with the logarithm of the time, not with the time. */
enum { RISK_SHIFT_BINS = 1024, RISK_SHIFT_STAKE = 100, RISK_SHIFT_VALUES = 2 };

struct risk_martingale {
    uint32_t counts[RISK_SHIFT_BINS + 1]; /* values seen so far, by a Fenwick tree */
    uint64_t n;                           /* of them */
    uint64_t draws;                       /* made to part equal ranks; not random, so that a run can be repeated */
    uint64_t answers;                     /* that were bet on */
    double capital[3];                    /* of bets on smaller, no, and greater ranks */
    double reserve;                       /* not yet staked */
};

struct risk_shift {
    struct risk_martingale of[RISK_SHIFT_VALUES];
    double level;
    bool shifted; /* it has once reached 1 / level */
};

void risk_shift_begin(struct risk_shift *shift, double level);
/* What is known from before; nothing is bet on that. Values from 0 to 1. */
void risk_shift_know(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* One more answer. Returns `shifted`. */
bool risk_shift_add(struct risk_shift *shift, const double values[RISK_SHIFT_VALUES]);
/* What the bets have come to: 1 at the beginning. */
double risk_shift_value(const struct risk_shift *shift);

/* How unlike the labelled ones: the distance d (as above) to the nearest, as d / (1 + d), of at most RISK_LANDMARKS of the n, evenly spread. `skip`: not
 * this one of them; n: none is left out. */
enum { RISK_LANDMARKS = 1000 };
double risk_strangeness(const struct risk_record *records, uint32_t n, const struct risk_scale *scale,
                        const float traits[RISK_TRAITS], uint32_t skip);

#endif
