/* The verifier's features of one candidate. They compare its SQL, its result and its explanation with the question, as
 * numbers.
 *
 * The explain worker computes the features, because it has the database, and sends them. The coordinator adds those
 * that only it can compute: the other candidates, the other families' signals and the expected components. It then runs
 * the model (scoring/verifier.h). A feature measures how well question and candidate agree, but never their subject. It
 * therefore means the same on databases that are not in the training data.
 *
 * NAN means "unknown", for example without a question, a result or an explanation. It is never replaced by 0. */
#ifndef ASSAY_SCORING_FEATURES_FEATURES_H
#define ASSAY_SCORING_FEATURES_FEATURES_H

#include "lib/sql/components.h"
#include "signals/vsig.h"

struct explanation; /* see lib/explain/explain.h */

enum { FEATURE_COMPONENT_ID = 1000 }; /* wire id of the component with id 0 */

enum feature_index {
#define X(id, name, group) FEATURE_##name,
#include "scoring/features/feature_list.h"
#undef X
    /* Index of the component with id 0. The value of a component is 1 if the query has it, otherwise 0. */
    FEATURE_COMPONENTS,
    FEATURE_COUNT = FEATURE_COMPONENTS + SQL_COMPONENT_COUNT
};

/* Groups that an experiment can leave out as a unit, to measure their contribution. The coordinator fills the last
 * groups. */
enum feature_group {
    FEATURE_GROUP_SHAPE,      /* size of the query */
    FEATURE_GROUP_SCHEMA,     /* columns and tables mentioned and used */
    FEATURE_GROUP_VALUES,     /* values in the question and in the query */
    FEATURE_GROUP_OPERATORS,  /* operators, negation, aggregates and order, compared with cues */
    FEATURE_GROUP_RESULT,     /* the result, compared with the form of the question */
    FEATURE_GROUP_ALIGNMENT,  /* phrases of the explanation, compared with the question */
    FEATURE_GROUP_JOINS,      /* joins: repeated rows, direction of foreign keys */
    FEATURE_GROUP_LINKS,      /* words of the question linked to parts of the query */
    FEATURE_GROUP_COMPONENTS, /* components of the query, compared with those that the question requires */
    FEATURE_GROUP_SIGNALS,    /* states of the other families' signals */
    FEATURE_GROUP_AGREEMENT,  /* agreement with the other candidates of the request */
    FEATURE_GROUP_COUNT
};

/* Fills out[FEATURE_COUNT], by index. If `explanation` is NULL, its features are NAN. Runs the candidate at most once,
 * through vsig_result. Returns ERR_OK, or ERR_LIMIT_MEMORY if the arena is full; `out` is then all NAN. A candidate
 * that does not parse or bind gives all NAN and ERR_OK. Temporary memory comes from `arena`. Thread: eval. */
enum err_code features_extract(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                               float *out);

/* A phrase of the question that the query does not cover. No word of the explanation has its meaning. The query does
 * not use the value, column or operation that it names. */
struct features_gap {
    uint32_t start, end; /* byte range in the question */
};

/* Writes at most `max` gaps to `out`, in the order of the question. Returns their number. Merges gaps that only small
 * words separate. Returns 0 without a question or an explanation. Thread: eval. */
uint32_t features_gaps(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                       struct features_gap *out, uint32_t max);

/* Convert between a feature's index, its wire id and its name. The index is dense and differs between builds; the wire
 * id is permanent. Return -1 or NULL if unknown. Thread: any. */
uint32_t features_id(unsigned index);
int features_by_id(uint32_t id);
const char *features_name(unsigned index);
int features_by_name(const char *name);
enum feature_group features_group(unsigned index);
const char *features_group_name(enum feature_group group);
int features_group_by_name(const char *name);

#endif
