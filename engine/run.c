#include "engine/run.h"

#include "engine/assay_internal.h"
#include "engine/reorder.h"

enum { TICK_MS = 100 };

struct run {
    struct engine *engine;
    const struct engine_loop *loop;
    struct reorder reorder; /* used with in_order */
};

/* Passes a verdict to the caller, or to the reorder buffer. Returns false if the caller stops the run. */
static bool give(struct run *run, struct msg_verdict *verdict)
{
    const struct engine_loop *loop = run->loop;
    if (!loop->in_order) return loop->each(loop->ctx, verdict);
    reorder_put(&run->reorder, verdict);
    while ((verdict = reorder_next(&run->reorder)))
        if (!loop->each(loop->ctx, verdict)) return false;
    return true;
}

/* Takes one verdict if it arrives within timeout_ms. Returns ERR_FULL if none arrived, and ERR_CANCELLED if the caller
 * stops the run. */
static enum err_code take(struct run *run, int64_t timeout_ms, struct err *err)
{
    struct msg_verdict *verdict = NULL;
    enum err_code code = engine_next(run->engine, timeout_ms, &verdict, err);
    if (code == ERR_OK && !give(run, verdict)) code = ERR_CANCELLED;
    if (run->loop->tick) run->loop->tick(run->loop->ctx);
    return code;
}

static bool must_wait(const struct run *run)
{
    const struct engine_loop *loop = run->loop;
    return (loop->wait && loop->wait(loop->ctx)) || (loop->in_order && reorder_full(&run->reorder));
}

/* Submits one request. Takes verdicts while it waits, because the engine accepts no request while its window is
 * full. */
static enum err_code submit(struct run *run, const struct msg_request *request, struct err *err)
{
    for (;;) {
        enum err_code code = must_wait(run) ? ERR_FULL : engine_submit(run->engine, request, 0, err);
        if (code != ERR_FULL) return code;
        code = take(run, TICK_MS, err);
        if (code != ERR_OK && code != ERR_FULL) return code;
    }
}

static enum err_code feed(struct run *run, struct arena *arena, struct err *err)
{
    for (;;) {
        struct msg_request *request = NULL;
        arena_reset(arena);
        int more = run->loop->next(run->loop->ctx, arena, &request);
        if (more < 0) return ERR_CANCELLED;
        if (more == 0) return ERR_OK;
        if (more != ENGINE_LATER && run->loop->in_order) reorder_expect(&run->reorder, request->tag);
        enum err_code code = more == ENGINE_LATER ? ERR_OK : submit(run, request, err);
        while (code == ERR_OK) code = take(run, 0, err);
        if (code != ERR_FULL) return code;
    }
}

enum err_code engine_run(struct engine *engine, const struct engine_loop *loop, struct err *err)
{
    struct run run = {.engine = engine, .loop = loop};
    struct arena arena;
    arena_init(&arena, 0);
    reorder_init(&run.reorder, engine_window(engine));
    enum err_code code = feed(&run, &arena, err);
    arena_free(&arena);
    if (code == ERR_OK) {
        engine_finish(engine);
        do code = take(&run, TICK_MS, err);
        while (code == ERR_OK || code == ERR_FULL);
    }
    reorder_free(&run.reorder);
    if (code == ERR_CANCELLED) return ERR_OK;
    return code == ERR_CLOSED && (!err || err->code == ERR_OK) ? ERR_OK : code;
}

enum err_code engine_judge(const struct engine_config *config, const struct msg_request *request,
                           struct msg_verdict **out, struct err *err)
{
    struct assay_engine *engine = NULL;
    *out = NULL;
    enum err_code code = assay_open_config(config, &engine, err);
    if (code == ERR_OK) code = assay_judge_request(engine, request, out, err);
    assay_close(engine);
    return code;
}
