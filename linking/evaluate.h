/* Evaluates a predictor on a recording with gold, by the measures of Reliable Text-to-SQL with Adaptive Abstention,
 * section 4.2.
 *
 * A generation is scored as if the linker had run without corrections. After the first branching point the recording
 * only shows the corrected run. So a generation counts as abstained if a token up to that point is uncertain, and as
 * answered if only later tokens are. The reported share of wrong answers is therefore too high rather than too low.
 * Thread: any. */
#ifndef ASSAY_LINKING_EVALUATE_H
#define ASSAY_LINKING_EVALUATE_H

#include "linking/predictor.h"

/* Numbers of generations, by abstention and by correctness of the linker. */
struct link_outcomes {
    uint64_t answered_right, answered_wrong, abstained_right, abstained_wrong;
};
/* Return percentages. link_em: correct generations among the answered ones; NAN if none was answered. link_tar and
 * link_far: generations that the predictor rightly and wrongly abstained from, among all generations. */
double link_em(const struct link_outcomes *o);
double link_tar(const struct link_outcomes *o);
double link_far(const struct link_outcomes *o);

struct link_counts {
    uint64_t generations, right; /* right: correct without abstention */
    uint64_t tokens, branching;
    /* Tokens whose label is in the predicted set; number of branching points among them. */
    uint64_t held, branching_held;
    uint64_t extra; /* tokens that were wrongly predicted as branching points */
    /* In `abstention` and `surrogate`, `abstained` means that the predictor, or the surrogate, stopped the linker. In
     * `human`, `abstained` means that a person was asked, and `answered_right` counts the generations that are right
     * with the answers. */
    struct link_outcomes abstention, surrogate, human;
    /* questions: number of questions to a person who always answers correctly. human_right: generations that are
     * correct with these answers. human_in_vain: generations with a question although the linker was correct. */
    uint64_t questions, human_right, human_in_vain;
};

struct link_evaluation {
    struct link_counts stages[TRACE_STAGES];
    struct link_outcomes joint; /* questions with both stages; abstained if either stage is */
    uint64_t joint_human_right, joint_human_in_vain;
};

/* Replaces the person. `confirms` returns true if the candidate that the linker is about to write is right; -1 means
 * the end of the list. The linker then continues. It returns false if the candidate is wrong or the surrogate does not
 * know. The linker then stops. */
struct link_surrogate {
    bool (*confirms)(void *data, const struct trace *trace, uint32_t token, int candidate);
    void *data;
};

/* Evaluates a predictor on a recording. `surrogate` may be NULL. Returns an error if the recording has no gold, or has
 * a stage that the predictor lacks. */
enum err_code link_evaluate(const struct predictor *predictor, const struct predictor_options *options,
                            const char *recording, const struct link_surrogate *surrogate, struct link_evaluation *out,
                            struct err *err);

/* Computes the AUC of each trained layer of a stage on a recording, in the order of the stage's layers. The AUC is NAN
 * if all tokens of the recording have the same label. */
enum err_code link_layer_auc(const struct predictor *predictor, enum trace_stage stage, const char *recording,
                             double *out, struct err *err);

#endif
