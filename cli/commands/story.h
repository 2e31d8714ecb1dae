/* Explains one statement, and aligns it with a question; for `assay explain` and for agents. */
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
    struct worker_database database; /* database with the policy for its values */
    struct arena arena;
    struct db *db;
    struct schema_index *schema;
    struct schema_gate gate; /* gate that every statement of the story passes */
    struct vsig_subject subject;
    struct explain_options options;
    struct explanation *explanation;
    double entails; /* entailment by the built-in verifier; NAN if there is none */
    struct features_gap gaps[STORY_MAX_GAPS];
    uint32_t n_gaps;
};

/* Opens the database. If `executor` is NULL, statements run in this process. The caller then sets `schema`, which must
 * be built without reading the denied columns; story_close releases that reference. Call story_close even after an
 * error. Errors: those of db_open. */
enum err_code story_open(struct story *story, const struct worker_database *database, struct executor *executor,
                         struct err *err);
void story_close(struct story *story);

/* Explains a statement; the text must outlive the story. `question` and `evidence` may be NULL. If the engine refuses
 * the statement, its reason is the error. */
enum err_code story_tell(struct story *story, const char *sql, size_t len, const char *question, const char *evidence,
                         struct err *err);

/* Returns the whole explanation. Release with json_decref. */
json_t *story_json(struct story *story);

#endif
