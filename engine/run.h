/* Judges one request, or a whole log, with an engine. */
#ifndef ASSAY_ENGINE_RUN_H
#define ASSAY_ENGINE_RUN_H

#include "engine/engine.h"

/* Judges one request with a temporary engine. Free *out with msg_verdict_free. */
enum err_code engine_judge(const struct engine_config *config, const struct msg_request *request,
                           struct msg_verdict **out, struct err *err);

/* Callbacks of engine_run, which runs a whole log through an engine. `each` receives verdicts in order of completion.
 * With `in_order`, it receives them in the order of the requests, whose tags must then be unique and not 0.
 *
 * - next: stores the next request in the arena, which is emptied before the call. Returns 1, or 0 at the end.
 *   Returns ENGINE_LATER if there is no request yet. It is called again at once, so it should wait some milliseconds
 *   before. A negative result stops the run without waiting for verdicts in flight.
 * - each: takes ownership of the verdict (msg_verdict_free). Returns false to stop.
 * - wait (may be NULL): called before each submit. Returns true if the caller holds enough verdicts and accepts only
 *   the next ones in order.
 * - tick (may be NULL): called at least ten times a second.
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

/* Runs the log. Returns ERR_OK if all verdicts were delivered or a callback stopped the run. Thread: main; all
 * callbacks run on it. */
enum err_code engine_run(struct engine *engine, const struct engine_loop *loop, struct err *err);

#endif
