/* Asking a model off the poll thread: a remote verifier, a corrector, or a polisher.
 *
 * DESIGN. A few threads take questions from a bounded queue, call lib/llm's scorer, which blocks, and send what it said
 * to the topic of results under the family of its role, MSG_VERIFIER ... So an answer comes to the coordinator the way every answer
 * does: it wakes the poll, is matched by content, and is stray when nobody waits for it any more. Rejected: a queue
 * beside the transport (nothing could wake a poll of the broker but polling in small steps).
 *
 * Every question that was accepted gets an answer, even if it is an error; a full queue accepts none. Nothing here
 * waits for the coordinator, except for room in the topic, as workers do.
 */
#ifndef ASSAY_COORDINATOR_MODEL_POOL_H
#define ASSAY_COORDINATOR_MODEL_POOL_H

#include "coordinator/core.h"
#include "examples/examples.h"
#include "lib/llm/scorer.h"

struct model_pool;

/* What a model is asked for. But for a verifier the premise is all that it is given, as JSON. */
enum model_role { MODEL_VERIFIER, MODEL_CORRECTOR, MODEL_POLISHER, MODEL_ROLES };

struct model_pool_config {
    struct bus *bus;
    const struct scorer_config *scorer;
    enum model_role role;
    struct examples_shots shots; /* that a corrector is shown */
    uint32_t threads;            /* calls at a time; 0: 4 */
    uint32_t max_waiting;        /* questions; 0: 1,024 */
    uint32_t per_minute;         /* questions that are taken at most; 0: all */
    int64_t timeout_ms;          /* for a question without a deadline; 0: 60,000 */
    struct tracer *tracer;       /* of the calls; NULL: nothing is traced */
};

/* `config` is copied, what the scorer needs too; the bus must outlive the pool. ERR_CONFIG: as scorer_open and examples_open say. */
enum err_code model_pool_new(const struct model_pool_config *config, struct model_pool **out, struct err *err);
/* Calls off what runs and joins the threads; questions that wait get no answer. NULL is fine. */
void model_pool_free(struct model_pool *pool);

/* Copies the question. False: the queue is full, the minute's questions are used up, or there is no memory. Never blocks. Thread: any. */
bool model_pool_submit(struct model_pool *pool, const struct core_model_question *question);

#endif
