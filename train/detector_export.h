/* Writes the input of the learned detector (train/detector), for training and for use: one line of JSON for each
 * candidate.
 *
 * A candidate's line holds question, evidence, SQL, a label computed by execution, and a fold that depends on its
 * database. It also holds the SQL's graph (train/sql_graph.h) and the question's words. Its `links` connect words of
 * the question to the names and values in the query that schema linking finds for them. docs/detector.md has the
 * format. Without a database a line has neither label nor links. Requests to a served detector are such lines. */
#ifndef ASSAY_TRAIN_DETECTOR_EXPORT_H
#define ASSAY_TRAIN_DETECTOR_EXPORT_H

#include "eval/label.h"
#include "lib/question/question.h"

#include <jansson.h>

enum { DETECTOR_FOLDS = 5 };

struct detector_export {
    struct arena *arena;               /* reset by the caller between requests */
    const struct schema_index *schema; /* NULL if unknown */
    const struct question *question;   /* read with that schema; NULL if unknown */
    const struct msg_request *request; /* the request with its candidates */
    const struct labels *labels;       /* labels of these candidates; NULL if unknown */
    const char *origin;                /* "beam", "made": origin of the candidates */
};

/* Returns the fold of a database, 0 to DETECTOR_FOLDS - 1, which is the same in every log. Thread: any. */
unsigned detector_fold(const char *db);

/* Makes the line of candidate `index`. Release with json_decref. Returns NULL if its SQL is not a query, or memory runs
 * out. Thread: any, with a separate arena. */
json_t *detector_export_candidate(const struct detector_export *from, uint32_t index);

#endif
