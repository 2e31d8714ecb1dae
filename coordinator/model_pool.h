/* Calls a model outside the poll thread: a remote verifier, a corrector, or a polisher.
 *
 * DESIGN: a few threads take questions from a bounded queue and call lib/llm's scorer, which blocks. They send the
 * response to the topic of results under the family of its role, such as MSG_VERIFIER. A response therefore reaches the
 * coordinator like every result. It wakes the poll, is matched by content, and is stray if it is no longer needed.
 * Rejected: a queue beside the transport (the loop would then have to poll with a short timeout).
 *
 * Every accepted question gets a response, even if the response is an error. A full queue accepts no question. The
 * threads wait for the coordinator only while the topic of results is full, as workers do.
 */
#ifndef ASSAY_COORDINATOR_MODEL_POOL_H
#define ASSAY_COORDINATOR_MODEL_POOL_H

#include "coordinator/core.h"
#include "examples/examples.h"
#include "lib/llm/scorer.h"

struct model_pool;

/* The role of a model. For a corrector and a polisher, the premise is the whole input, as JSON. */
enum model_role { MODEL_VERIFIER, MODEL_CORRECTOR, MODEL_POLISHER, MODEL_ROLES };

struct model_pool_config {
    struct bus *bus;
    const struct scorer_config *scorer;
    enum model_role role;
    struct examples_shots shots; /* few-shot examples for a corrector */
    uint32_t threads;            /* concurrent calls; 0: 4 */
    uint32_t max_waiting;        /* maximum queued questions; 0: 1,024 */
    uint32_t per_minute;         /* maximum questions accepted per minute; 0 means no limit */
    int64_t timeout_ms;          /* timeout for a question without a deadline; 0: 60,000 */
    struct tracer *tracer;       /* traces the calls; NULL disables tracing */
};

/* Creates a pool. `config` and the scorer's settings are copied; the bus must outlive the pool. Returns the errors of
 * scorer_open and examples_open, such as ERR_CONFIG. */
enum err_code model_pool_new(const struct model_pool_config *config, struct model_pool **out, struct err *err);
/* Cancels running calls, joins the threads and frees the pool. Queued questions get no response. NULL is allowed. */
void model_pool_free(struct model_pool *pool);

/* Copies and queues the question. Returns false if the queue is full, the budget of the minute is used up, or memory is
 * short. Never blocks. Thread: any. */
bool model_pool_submit(struct model_pool *pool, const struct core_model_question *question);

#endif
