/* Judging one request, or a whole log, with an engine. */
#ifndef ASSAY_ENGINE_RUN_H
#define ASSAY_ENGINE_RUN_H

#include "engine/engine.h"

/* One request by an engine of its own; the caller owes msg_verdict_free. */
enum err_code engine_judge(const struct engine_config *config, const struct msg_request *request,
                           struct msg_verdict **out, struct err *err);

/* Run a whole log through an engine: requests come from `next`, verdicts go to `each` in order of completion or, with
 * `in_order`, of the requests, whose tags must differ and not be 0.
 *
 * next: the next request, in the arena (which is emptied before the call): 1; 0 at the end; ENGINE_LATER: none yet, ask
 * again, which it does at once, so that `next` itself waits for some milliseconds; below 0: stop now, the
 * verdicts that are still out are not waited for. each: takes the verdict over (msg_verdict_free); false: stop now.
 * `wait` (may be NULL) is asked before each submit: true says that the caller holds enough verdicts and wants none but
 * the next ones. `tick` (may be NULL) is called at least ten times a second.
 */
enum { ENGINE_LATER = 2 };

struct engine_loop {
    int (*next)(void *ctx, struct arena *arena, struct msg_request **out);
    bool (*each)(void *ctx, struct msg_verdict *verdict);
    bool (*wait)(void *ctx);
    void (*tick)(void *ctx);
    void *ctx;
    bool in_order;
};

/* ERR_OK when everything was handed out or a callback stopped it. Thread: main; all callbacks run on it. */
enum err_code engine_run(struct engine *engine, const struct engine_loop *loop, struct err *err);

#endif
