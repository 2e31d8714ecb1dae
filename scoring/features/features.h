/* What the verifier looks at in one candidate: its SQL, its result and its explanation against the question, as
 * numbers.
 *
 * The explain worker computes them beside the data and sends them; the coordinator puts them together with what only it
 * knows (the other candidates, the other families' signals, the components that the question calls for) and runs the
 * model: scoring/verifier.h. A feature says how well question and candidate agree, never what they are about, so that
 * it means the same on a database that nobody has trained on.
 *
 * NAN is "not known" and never 0: without a question, without a result, without an explanation.
 */
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

/* What can be left out as one, to see what it is worth. The last ones are the coordinator's. */
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
    FEATURE_GROUP_SIGNALS,    /* what the other families say */
    FEATURE_GROUP_AGREEMENT,  /* other candidates of the request */
    FEATURE_GROUP_COUNT
};

/* Fill out[FEATURE_COUNT], by index. `explanation` NULL: its features are NAN. The candidate's result is run at
 * most once, through vsig_result. ERR_OK; ERR_LIMIT_MEMORY when the arena is full (out is all NAN). A candidate
 * that does not parse or bind gives all NAN and ERR_OK. Temporary memory comes from `arena`. Thread: eval. */
enum err_code features_extract(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                               float *out);

/* A phrase of the question that nothing answers: neither a word of the explanation means it, nor does the query use the
 * value, the column or the operation that it names. */
struct features_gap {
    uint32_t start, end; /* bytes of the question */
};

/* At most `max` of them into `out`, in the question's order; words with only small words between are one. Without a
 * question or an explanation: none. Count. Thread: eval. */
uint32_t features_gaps(struct vsig_subject *subject, const struct explanation *explanation, struct arena *arena,
                       struct features_gap *out, uint32_t max);

/* Between index (dense, this build's), wire id (for ever) and name. -1 / NULL: no such. Thread: any. */
uint32_t features_id(unsigned index);
int features_by_id(uint32_t id);
const char *features_name(unsigned index);
int features_by_name(const char *name);
enum feature_group features_group(unsigned index);
const char *features_group_name(enum feature_group group);
int features_group_by_name(const char *name);

#endif
