/* What a log with gold queries says of Assay: collected question by question, then measured. */
#ifndef ASSAY_EVAL_EVAL_H
#define ASSAY_EVAL_EVAL_H

#include "eval/difficulty.h"
#include "eval/vectors.h"
#include "worker/worker.h"

#include <jansson.h>

/* Whose SQL is taken. */
enum eval_choice { CHOICE_FIRST, CHOICE_FIRST_EXECUTABLE, CHOICE_MAJORITY, CHOICE_ASSAY, CHOICE_ORACLE, CHOICE_COUNT };

/* Scores of an answer by which it may be given or held back (triggering.h): X(ID, name, what it is). */
#define EVAL_SCORES(X)                                                                                                 \
    X(P, p_correct, "P(correct)")                                                                                      \
    X(LABEL_MODEL, label_model, "label model")                                                                         \
    X(VERIFIER, verifier, "verifier")                                                                                  \
    X(FINDINGS, findings, "fewest findings")                                                                           \
    X(VOTES, votes, "votes")                                                                                           \
    X(GENERATOR, generator, "the generator's own score")                                                               \
    X(NOTHING, nothing, "nothing known")                                                                               \
    X(TRUTH, truth, "the truth")

enum eval_score {
#define X(id, name, text) SCORE_##id,
    EVAL_SCORES(X)
#undef X
        SCORE_COUNT
};
/* "p_correct", as in JSON; "P(correct)". */
const char *eval_score_name(enum eval_score score);
const char *eval_score_text(enum eval_score score);

/* One question. */
struct eval_question {
    uint32_t database;
    uint32_t n_candidates, iterations;
    bool first, first_executable, majority, assay, oracle; /* is that one's answer right? */
    bool executable;                                       /* some candidate runs */
    bool answered;                                         /* Assay returned SQL */
    bool gold_empty;
    double p;                   /* of the answer; NAN: none */
    double scores[SCORE_COUNT]; /* of the answer; NAN: none */
    enum difficulty difficulty;
    bool comparable;            /* gold has a normal form, so that the next can be told */
    bool matches[CHOICE_COUNT]; /* exact match of that one's SQL (eval/exact.h); oracle: of any candidate's */
    bool ceiling;               /* the loop with a verifier that is never wrong: does it find the right one, */
    uint32_t ceiling_tried;     /* and after how many? */
    struct {
        bool shown, applied;
        bool fixes, breaks; /* the old query is wrong and this is right; the other way round */
        uint64_t fired;     /* bit id of each signal that fired on the old query; 0: none, or it does not run */
    } repair;
};

/* One judged candidate that runs. */
struct eval_row {
    uint32_t question;
    bool right;
    bool detection;           /* the first executable candidate of a question whose gold result is not empty */
    double p;                 /* P(correct); NAN */
    uint64_t fired;           /* bit id of each signal that fired */
    uint64_t missing;         /* of each that was unavailable, and of the family llm where no model was asked */
    bool known, pointed, hit; /* localisation, of wrong ones */
    double by_chance;
};

struct eval_data {
    GArray *questions, *rows; /* of struct eval_question, struct eval_row */
    GHashTable *databases;
    struct vectors *vectors; /* NULL unless models are to be fitted */
    uint32_t max_iterations; /* candidates that the loop may try; 0: all */
    uint64_t lines_without_gold, lines_failed, unjudged;
    uint64_t unreached;          /* requests that were left out because their database could not be opened */
    struct worker_stats workers; /* for --profile */
    double wall_s;
};

/* A share with its 95 % interval, in percent; NAN where it is not defined. */
struct eval_share {
    double value, low, high;
};

struct eval_detection {
    const char *name;
    uint32_t n, positives;
    struct eval_share accuracy, auc, precision, recall, f1;
};

struct eval_signal {
    const char *name, *family;
    bool enabled;
    uint32_t seen, fired, right;               /* over the detection rows it could look at */
    struct eval_share precision, lift, recall; /* lift is a ratio, not a percentage */
    uint32_t all_fired, all_right;             /* over all judged candidates that run */
};

/* Assay's choice against another one, question by question. */
struct eval_contrast {
    enum eval_choice against;
    struct eval_share gain; /* in points, paired */
    uint32_t fixed, broken;
};

/* The questions of one level. */
struct eval_level {
    uint32_t n;
    struct eval_share selection[CHOICE_COUNT], gain; /* gain: over the first executable */
    double exact;                                    /* share of Assay's exact matches, in percent */
};

enum { EVAL_BINS = 10 };

/* Is P right? Predictions in bins of equal width. */
struct eval_bin {
    uint32_t n;
    double p;                /* mean prediction, in percent */
    struct eval_share right; /* Wilson's interval */
};
struct eval_calibration {
    uint32_t n;
    double ece; /* in percent; NAN: no predictions */
    struct eval_bin bins[EVAL_BINS];
};

/* The same while it is counted; starts with zeros. */
struct eval_reliability {
    uint32_t n[EVAL_BINS], right[EVAL_BINS];
    double p[EVAL_BINS]; /* sums */
};
void eval_reliability_add(struct eval_reliability *reliability, double p, bool right);
struct eval_calibration eval_reliability_end(const struct eval_reliability *reliability);

/* A point of a curve; both 0 to 1. */
struct eval_point {
    double x, y;
};

enum { EVAL_MAX_METHODS = 8, EVAL_CONTRASTS = 3 };

struct eval_report {
    uint32_t n;
    uint32_t right[CHOICE_COUNT];
    struct eval_share selection[CHOICE_COUNT], gain; /* gain: assay over the first executable, in points, paired */
    uint32_t fixed, broken, unanswered;
    struct eval_contrast contrasts[EVAL_CONTRASTS];
    struct eval_share gap_closed; /* of the way from the first executable to the oracle, in percent */
    struct eval_share exact[CHOICE_COUNT];
    uint32_t ceiling; /* right answers of the loop with a verifier that is never wrong */
    struct eval_share ceiling_ex;
    double ceiling_tried;
    struct eval_level levels[DIFFICULTY_COUNT];
    struct eval_detection detection;
    struct eval_calibration rows, answers; /* P of the detection rows; P of the answers given */
    struct eval_signal *signals;
    unsigned n_signals;
    uint32_t answered_at_95, interactions_to_95;
    double answered_threshold, tried;
    struct eval_repairs {
        uint32_t n, fixed, broken;
        struct eval_repairs_of {
            uint32_t n, fixed, broken;
        } of[64];         /* by the signals on the old query, by id; [0]: none fired. Several count each */
    } repaired, proposed; /* answers that are repairs; repairs that stand beside the answer */
    uint32_t wrong_known, wrong_pointed, wrong_hit;
    struct eval_share hit, hit_pointed, chance;
    struct eval_detection folds[EVAL_MAX_METHODS];
    unsigned n_folds;
    bool folds_by_question; /* the log has too few databases to fold by them */
};

struct eval_data *eval_data_new(bool vectors);
void eval_data_free(struct eval_data *data);

/* Take one verdict and its labels in. `catalog` may be NULL: no localisation. */
void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog);

/* Measure. `rounds` of bootstrap (0: no intervals). The caller owes eval_report_free. */
struct eval_report *eval_measure(const struct eval_data *data, const struct vsig_options *signals, unsigned rounds);
void eval_report_free(struct eval_report *report);

/* Fit the models five-fold by database and measure each; adds to report->folds. */
enum err_code eval_folds(const struct eval_data *data, unsigned rounds, struct eval_report *report, struct err *err);

/* Parts of eval_measure. */
void eval_selection(const struct eval_data *data, unsigned rounds, struct eval_report *out);
void eval_calibration(const struct eval_data *data, struct eval_report *out);

/* True positives over false positives of detection, threshold by threshold, from (0,0) to (1,1); precision over
 * coverage of the answers, most certain first. g_free; *n points, NULL and 0 when there is nothing to draw. */
struct eval_point *eval_roc(const struct eval_data *data, size_t *n);
struct eval_point *eval_coverage(const struct eval_data *data, size_t *n);

/* A statistic over rows 0..n-1, times `scale`, with its 95 % interval of `rounds` resamples. */
struct eval_share eval_interval(learn_statistic statistic, const void *context, size_t n, unsigned rounds,
                                double scale);

/* Detection by any score: higher means wrong. `predicted` wrong from `threshold` on. */
struct eval_detection eval_detect(const char *name, const double *score, const uint8_t *wrong, uint32_t n,
                                  double threshold, unsigned rounds);

/* Time of one signal, or of work that all share. */
struct eval_cost {
    const char *name;
    int64_t ns;
    uint64_t runs;
};
enum { EVAL_COSTS = VSIG_ID_END + 3 };

/* Dearest first. Returns how many; *total is the time inside of tasks. */
unsigned eval_costs(const struct worker_stats *stats, struct eval_cost out[EVAL_COSTS], int64_t *total);

/* "first_executable" of a choice, as in JSON. */
const char *eval_choice_name(enum eval_choice choice);

/* "n", "ece" and the "bins", as in the report; the caller owes json_decref. */
json_t *eval_calibration_json(const struct eval_calibration *calibration);
/* The report as one JSON object; the caller owes json_decref. */
json_t *eval_json(const struct eval_report *report, const struct eval_data *data, bool profile);
/* When to answer and when to ask (triggering.h), a row a score: for its member "triggering". json_decref. */
json_t *eval_triggering_json(const struct eval_data *data);

#endif
