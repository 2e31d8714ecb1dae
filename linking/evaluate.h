/* What a predictor is worth on a recording with gold: the measures of Reliable Text-to-SQL with Adaptive Abstention, section 4.2.
 *
 * A generation is taken as the linker would have made it by itself up to its first branching point; behind that the recording tells only
 * what it would have done once corrected. So a generation counts as abstained when a token up to there is uncertain, and one that is
 * flagged later only would count as answered: what is printed errs on the side of too many wrong answers. Thread: any.
 */
#ifndef ASSAY_LINKING_EVALUATE_H
#define ASSAY_LINKING_EVALUATE_H

#include "linking/predictor.h"

/* Outcomes of generations: by whether it was abstained from, and whether the linker was right. */
struct link_outcomes {
    uint64_t answered_right, answered_wrong, abstained_right, abstained_wrong;
};
/* In percent: right of those answered (NAN: none); of all those rightly, wrongly abstained from. */
double link_em(const struct link_outcomes *o);
double link_tar(const struct link_outcomes *o);
double link_far(const struct link_outcomes *o);

struct link_counts {
    uint64_t generations, right; /* right: the linker by itself */
    uint64_t tokens, branching;
    uint64_t held, branching_held; /* tokens whose label is in the set; branching points alone */
    uint64_t extra;                /* tokens taken for branching points that are none */
    struct link_outcomes abstention, surrogate,
        human; /* human: abstained means asked; answered_right are right after the answers */
    uint64_t questions, human_right,
        human_in_vain; /* put to a person who knows; right then; asked although the linker was right */
};

struct link_evaluation {
    struct link_counts stages[TRACE_STAGES];
    struct link_outcomes joint; /* of questions with both stages: tables, then columns, abstained from when either is */
    uint64_t joint_human_right, joint_human_in_vain;
};

/* A stand-in for the person: the linker goes on where it finds that this is right, what was to be written or, for -1, that the list ends there.
 * Where it cannot tell it says false, and the linker stops. */
struct link_surrogate {
    bool (*confirms)(void *data, const struct trace *trace, uint32_t token, int candidate);
    void *data;
};

/* `surrogate` may be NULL. A stage that the recording has and the predictor has not is an error, as is a recording without gold. */
enum err_code link_evaluate(const struct predictor *predictor, const struct predictor_options *options,
                            const char *recording, const struct link_surrogate *surrogate, struct link_evaluation *out,
                            struct err *err);

/* AUC of each trained layer of a stage on a recording, in the order of the stage's layers; NAN where the recording has one class. */
enum err_code link_layer_auc(const struct predictor *predictor, enum trace_stage stage, const char *recording,
                             double *out, struct err *err);

#endif
