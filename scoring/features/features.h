/* The verifier's features of one candidate: its SQL, its result and its explanation against the question, as numbers.
 *
 * The explain worker computes the features beside the data and sends them. The coordinator adds those that only it can
 * compute (the other candidates, the other families' signals, the expected components) and runs the model:
 * scoring/verifier.h. A feature measures how well question and candidate agree, never their subject. It therefore means
 * the same on a database that is not in the training data.
 *
 * NAN means "not known" and is never replaced by 0: without a question, without a result, without an explanation. */
#ifndef ASSAY_SCORING_FEATURES_FEATURES_H
#define ASSAY_SCORING_FEATURES_FEATURES_H

#include "lib/sql/components.h"
#include "signals/vsig.h"

struct explanation; /* lib/explain/explain.h */

enum { FEATURE_COMPONENT_ID = 1000 }; /* wire id of the component with id 0 */

enum feature_index {
#define X(id, name, group) FEATURE_##name,
#include "scoring/features/feature_list.h"
#undef X
    FEATURE_COMPONENTS, /* index of the component with id 0: 1 has it, 0 has it not */
    FEATURE_COUNT = FEATURE_COMPONENTS + SQL_COMPONENT_COUNT
};

/* Groups that can be left out as a unit, to measure their worth. The last ones are the coordinator's. */
enum feature_group {
    FEATURE_GROUP_SHAPE,      /* size of the query */
    FEATURE_GROUP_SCHEMA,     /* columns and tables mentioned and used */
    FEATURE_GROUP_VALUES,     /* values in the question and in the query */
    FEATURE_GROUP_OPERATORS,  /* operators, negation, aggregates, order against cues */
    FEATURE_GROUP_RESULT,     /* the result against the form of the question */
    FEATURE_GROUP_ALIGNMENT,  /* phrases of the explanation against the question */
    FEATURE_GROUP_JOINS,      /* joins: rows multiplied, direction of foreign keys */
    FEATURE_GROUP_LINKS,      /* words of the question linked to parts of the query */
    FEATURE_GROUP_COMPONENTS, /* components against those that the question calls for */
    FEATURE_GROUP_SIGNALS,    /* verdicts of the other families */
    FEATURE_GROUP_AGREEMENT,  /* other candidates of the request */
    FEATURE_GROUP_COUNT
};

/* Fills out[FEATURE_COUNT], by index. If `explanation` is NULL, its features are NAN. The candidate's result is run at
 * most once, through vsig_result. Returns ERR_OK, or ERR_LIMIT_MEMORY if the arena is full (out is then all NAN). A
 * candidate that does not parse or bind gives all NAN and ERR_OK. Temporary memory comes from `arena`. Thread: eval. */
enum err_code features_extract(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                               float *out);

/* A phrase of the question that the query does not cover. No word of the explanation means it, and the query does not
 * use the value, column or operation that it names. */
struct features_gap {
    uint32_t start, end; /* bytes of the question */
};

/* Writes at most `max` gaps to `out`, in the question's order, and returns their number. Gaps separated only by small
 * words are merged. Returns 0 without a question or an explanation. Thread: eval. */
uint32_t features_gaps(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                       struct features_gap *out, uint32_t max);

/* Convert between index (dense, of this build), permanent wire id, and name. Return -1 or NULL if unknown. Thread:
 * any. */
uint32_t features_id(unsigned index);
int features_by_id(uint32_t id);
const char *features_name(unsigned index);
int features_by_name(const char *name);
enum feature_group features_group(unsigned index);
const char *features_group_name(enum feature_group group);
int features_group_by_name(const char *name);

#endif
