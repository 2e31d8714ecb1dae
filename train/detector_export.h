/* What the learned detector (train/detector) is trained on and asked with: one candidate, as a line of JSON.
 *
 * A candidate's line holds question, evidence, SQL, label by execution, a fold by its database, the SQL's graph
 * (train/sql_graph.h), the question's words, and which words name or hold what of the query (`links`, by our own
 * schema linking). docs/detector.md has the format. Without databases a line has neither label nor links: that is what
 * a served detector asks with.
 */
#ifndef ASSAY_TRAIN_DETECTOR_EXPORT_H
#define ASSAY_TRAIN_DETECTOR_EXPORT_H

#include "eval/label.h"
#include "lib/question/question.h"

#include <jansson.h>

enum { DETECTOR_FOLDS = 5 };

struct detector_export {
    struct arena *arena;               /* reset by the caller between requests */
    const struct schema_index *schema; /* NULL: not known */
    const struct question *question;   /* read with that schema; NULL: not known */
    const struct msg_request *request; /* with candidates */
    const struct labels *labels;       /* of these; NULL: not known */
    const char *origin;                /* "beam", "made": how the candidates came about */
};

/* The fold of a database, 0 to DETECTOR_FOLDS - 1: the same in every log. Thread: any. */
unsigned detector_fold(const char *db);

/* The line of candidate `index`; the caller owes json_decref. NULL: its SQL is none, or memory is short. Thread: any,
 * an arena at a time. */
json_t *detector_export_candidate(const struct detector_export *from, uint32_t index);

#endif
