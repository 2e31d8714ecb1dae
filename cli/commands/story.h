/* What is told of one statement: its explanation, and how it meets a question. Of `assay explain`, and of agents that ask. */
#ifndef ASSAY_CLI_COMMANDS_STORY_H
#define ASSAY_CLI_COMMANDS_STORY_H

#include "lib/explain/explain.h"
#include "scoring/features/features.h"
#include "signals/vsig.h"
#include "worker/worker.h"

#include <jansson.h>

enum { STORY_MAX_GAPS = 32 };

struct executor; /* lib/db/executor.h */

struct story {
    struct worker_database database; /* with what may leave of it */
    struct arena arena;
    struct db *db;
    struct schema_index *schema;
    struct schema_gate gate; /* what the story's statements pass */
    struct vsig_subject subject;
    struct explain_options options;
    struct explanation *explanation;
    double entails; /* by the built-in verifier; NAN: it has nothing to say */
    struct features_gap gaps[STORY_MAX_GAPS];
    uint32_t n_gaps;
};

/* Opens the database; `executor` NULL: its statements run in this process. `schema` is for the caller to set then, a reference that
 * story_close gives back; it is built without reading the denied columns. Whatever comes of it, the caller owes story_close. Errors as db_open's. */
enum err_code story_open(struct story *story, const struct worker_database *database, struct executor *executor,
                         struct err *err);
void story_close(struct story *story);

/* Explains a statement; the text must outlive the story. `question` and `evidence` may be NULL. What the engine does not take cannot be
 * explained: its reason is the error. */
enum err_code story_tell(struct story *story, const char *sql, size_t len, const char *question, const char *evidence,
                         struct err *err);

/* All of it. Owed: json_decref. */
json_t *story_json(struct story *story);

#endif
