/* Implements assay serve without a fleet: an engine in this process judges the requests. */
#include "cli/commands/agent.h"
#include "cli/commands/serve.h"

#include "cli/settings/catalogue.h"
#include "cli/settings/denied_settings.h"
#include "cli/settings/engine_settings.h"
#include "lib/db/executor.h"
#include "server/mcp_http.h"
#include "server/fleet_metrics.h"
#include "server/http_databases.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* A tag has the tenant's number from this bit on, and the request's number below. As an offset it is never
     * negative. */
    TENANT_SHIFT = 47,
    TURN_MS = 50,
    SLOW_THREADS = 2,          /* slow threads of a worker, as in a fleet */
    DEADLINE_MS = 10000,       /* default deadline of a request */
    MOST_DEADLINE_MS = 600000, /* maximum deadline of a request, as in a fleet */
    MOST_OPEN = 256            /* maximum number of requests in the engine; further callers are told to retry */
};

struct alone {
    struct engine *engine;
    struct agent *agent;
    struct pending *pending;
    atomic_uint_fast64_t sent; /* number of requests so far; the next request gets the next number in its tag */
};

static enum err_code send_on(void *self, struct msg_request *request, const char *traceparent, struct waiter *waiter)
{
    struct alone *alone = self;
    struct err err = {0};
    request->tag = (uint64_t)pending_tenant(waiter) << TENANT_SHIFT | (atomic_fetch_add(&alone->sent, 1) + 1);
    request->traceparent = traceparent;
    enum err_code code = engine_submit(alone->engine, request, 0, &err);
    if (!code) pending_position(waiter, 0, (int64_t)request->tag);
    return code;
}

static bool has_room(void *self, uint16_t tenant)
{
    return engine_has_room(((struct alone *)self)->engine, tenant);
}

static void hand_over(struct alone *alone, const struct msg_verdict *verdict)
{
    struct outcome outcome = {.position = {0, (int64_t)verdict->tag},
                              .tenant = (uint16_t)(verdict->tag >> TENANT_SHIFT)};
    /* the request was cancelled, so no caller waits for the verdict or knows its id */
    if (g_strcmp0(verdict->reason, err_name(ERR_CANCELLED)) == 0) return;
    char *json = msg_verdict_to_json(verdict);
    if (!json) return; /* memory is exhausted; the waiter times out and is told to poll */
    g_strlcpy(outcome.id, verdict->id ? verdict->id : "", sizeof outcome.id);
    outcome.body = g_bytes_new_with_free_func(json, strlen(json), free, json);
    pending_outcome(alone->pending, &outcome);
    g_bytes_unref(outcome.body);
}

static void on_lost(void *ctx, const struct msg_key *position)
{
    engine_cancel(((struct alone *)ctx)->engine, (uint64_t)position->offset);
}

static enum err_code turn(void *self, struct err *err)
{
    struct alone *alone = self;
    struct msg_verdict *verdict = NULL;
    enum err_code code = engine_next(alone->engine, TURN_MS, &verdict, err);
    if (code) return code == ERR_FULL || (code == ERR_CLOSED && !err->code) ? ERR_OK : code;
    hand_over(alone, verdict);
    msg_verdict_free(verdict);
    return ERR_OK;
}

static void tell_progress(void *ctx, const struct coordinator_progress *progress)
{
    struct alone *alone = ctx;
    const struct msg_key position = {0, (int64_t)progress->tag};
    pending_tell(alone->pending, &position, progress);
}

static void add_routes(void *self, GArray *routes)
{
    const struct http_route agents = mcp_http_route(agent_mcp(((struct alone *)self)->agent));
    g_array_append_val(routes, agents);
    http_databases_routes(((struct alone *)self)->engine, routes);
}

static void collect(void *self, struct metrics *metrics)
{
    const struct alone *alone = self;
    struct engine_stats stats;
    engine_stats(alone->engine, &stats);
    fleet_metrics_coordinator(metrics, &stats.coordinator);
    fleet_metrics_abandoned(metrics, engine_breakers(alone->engine));
    fleet_metrics_worker(metrics, &stats.workers, stats.coordinator.open);
}

static void close_alone(void *self)
{
    struct alone *alone = self;
    agent_free(alone->agent);
    engine_close(alone->engine);
    g_free(alone);
}

static enum err_code open_alone(struct cli *cli, struct tracer *tracer, struct pending *pending, void **out,
                                struct err *err)
{
    struct engine_config config = {0};
    enum err_code code = catalogue_open(cli, err);
    if (code) return code;
    if (!engine_settings_find_databases(cli))
        return err_set(err, ERR_USAGE,
                       "neither Kafka brokers nor databases are given" ERR_HINT "set --servers, or --db-root");
    if (!cli->settings.judge.deadline_ms)
        cli->settings.judge.deadline_ms = DEADLINE_MS; /* the deadline also applies to requests of agents */
    engine_settings(cli, &config);
    code = denied_settings_check(cli, &config.databases, denied_settings_warn, err);
    if (code) return code;
    engine_settings_polisher(cli, &config);
    config.tracer = tracer;
    config.executor = EXECUTOR_SELF; /* a child process runs the untrusted statements, as in a worker */
    config.max_deadline_ms = MOST_DEADLINE_MS;
    config.max_work_ms = cli->settings.serve.work_ms;
    config.slow_threads = SLOW_THREADS;
    config.fair = (struct engine_fair){true, TENANT_SHIFT, (uint32_t)cli->settings.serve.per_tenant};
    config.window = MIN((uint32_t)cli->settings.serve.max_waiting, MOST_OPEN);
    struct alone *alone = g_new0(struct alone, 1);
    alone->pending = pending;
    config.progress = tell_progress;
    config.progress_ctx = alone;
    code = engine_open(&config, &alone->engine, err);
    if (code) {
        close_alone(alone);
        return code;
    }
    pending_on_lost(pending, on_lost, alone);
    alone->agent = agent_new(cli, &config.databases, engine_schemas(alone->engine));
    *out = alone;
    return ERR_OK;
}

const struct serve_backend serve_alone = {.open = open_alone,
                                          .send = send_on,
                                          .has_room = has_room,
                                          .turn = turn,
                                          .close = close_alone,
                                          .routes = add_routes,
                                          .collect = collect};
