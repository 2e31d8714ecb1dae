/* Serves the pages of --listen: /metrics, /healthz and /readyz. A page takes one snapshot of the loops and the
 * transport, and judges only that. A loop counts as stuck if it has completed no iteration for stall_ms. Before its
 * first iteration, its age counts from the start of the process. A takeover delays readiness for HEALTH_RESTORE_MS at
 * most.
 */
#include "server/health.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/admin_http.h"

#include <stdlib.h>

struct health {
    struct health_config config;
    struct metrics *metrics;
    struct admin_http *admin;
    int64_t stall_ns, opened_ns;
};

/* --- loops --- */

/* Returns the time since the slowest loop last completed an iteration. Before a loop's first iteration, its time counts
 * from the start. Sets *started if every loop has completed one. */
static int64_t loop_age(const struct health *health, bool *started)
{
    int64_t now = clock_now_ns(), oldest = now;
    *started = true;
    for (uint32_t i = 0; i < health->config.n_parts; i++) {
        const struct fleet_part *part = &health->config.parts[i];
        if (!part->heartbeat_ns) continue;
        int64_t turned = part->heartbeat_ns(part->ctx);
        if (!turned) *started = false;
        if (!turned) turned = health->opened_ns;
        if (turned < oldest) oldest = turned;
    }
    return now - oldest;
}

/* --- state --- */

/* The state that the health pages show, from one snapshot. */
struct standing {
    /* time since the slowest loop completed an iteration; duration of the current takeover, or 0 */
    int64_t age_ns, restoring_ns;
    bool turns, started, transport_ok, caught_up;
    struct bus_traffic traffic;
    struct err err; /* reason if the transport has failed */
};

static struct standing look(const struct health *health)
{
    struct standing now = {0};
    now.age_ns = loop_age(health, &now.started);
    now.turns = now.age_ns < health->stall_ns;
    now.transport_ok = !health->config.bus || bus_health(health->config.bus, &now.err) == ERR_OK;
    now.restoring_ns = health->config.restoring_ns ? health->config.restoring_ns(health->config.ctx) : 0;
    now.caught_up = now.restoring_ns == 0 || now.restoring_ns > HEALTH_RESTORE_MS * INT64_C(1000000);
    if (health->config.bus) bus_traffic(health->config.bus, &now.traffic);
    return now;
}

static bool is_live(const struct standing *now)
{
    return now->turns && now->transport_ok;
}

static bool is_ready(const struct standing *now)
{
    return is_live(now) && now->started && now->traffic.joined == now->traffic.members && now->caught_up;
}

/* --- pages --- */

static bool write_metrics(void *ctx, FILE *out)
{
    struct health *health = ctx;
    const struct standing now = look(health);
    health->config.collect(health->config.ctx, health->metrics);
    if (now.traffic.clients) fleet_metrics_traffic(health->metrics, &now.traffic);
    fleet_metrics_process(health->metrics);
    if (health->config.otlp) {
        struct otlp_stats spans;
        otlp_get_stats(health->config.otlp, &spans);
        fleet_metrics_spans(health->metrics, &spans);
    }
    metrics_set(metrics_get(health->metrics, FLEET_READY, NULL), is_ready(&now));
    metrics_set(metrics_get(health->metrics, FLEET_LOOP_AGE, NULL), (double)now.age_ns / 1e9);
    char *text = metrics_write(health->metrics, NULL);
    if (!text) return false;
    fputs(text, out);
    free(text);
    return true;
}

static void print_live(const struct standing *now, FILE *out)
{
    fprintf(out, "loops: %s, slowest iteration %.1f s ago\n", now->turns ? "ok" : "stuck", (double)now->age_ns / 1e9);
    fprintf(out, "transport: %s\n", now->transport_ok ? "ok" : now->err.text);
}

static bool write_live(void *ctx, FILE *out)
{
    const struct standing now = look(ctx);
    print_live(&now, out);
    return is_live(&now);
}

static bool write_ready(void *ctx, FILE *out)
{
    const struct standing now = look(ctx);
    print_live(&now, out);
    fprintf(out, "started: %s\n", now.started ? "ok" : "not yet");
    fprintf(out, "joined: %u of %u\n", now.traffic.joined, now.traffic.members);
    if (now.restoring_ns)
        fprintf(out, "takeover: %s, for %.1f s\n", now.caught_up ? "in progress" : "not yet",
                (double)now.restoring_ns / 1e9);
    return is_ready(&now);
}

static const struct admin_http_page pages[] = {
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", write_metrics},
    {"/healthz", "text/plain; charset=utf-8", write_live},
    {"/readyz", "text/plain; charset=utf-8", write_ready},
};

/* --- open, close --- */

static enum err_code start(struct health *health, struct err *err)
{
    const struct admin_http_config listen = {health->config.listen, pages, sizeof pages / sizeof *pages, health};
    enum err_code code = metrics_new(fleet_metrics_defs, FLEET_METRICS_COUNT, &health->metrics, err);
    if (code) return code;
    fleet_metrics_start(health->metrics, health->config.name, health->config.commit);
    return admin_http_open(&listen, &health->admin, err);
}

enum err_code health_open(const struct health_config *config, struct health **out, struct err *err)
{
    *out = NULL;
    if (!config->listen) return ERR_OK;
    struct health *health = calloc(1, sizeof *health);
    if (!health) return err_set(err, ERR_NOMEM, "no memory for the health checks");
    health->config = *config;
    health->stall_ns = config->stall_ms * 1000000;
    health->opened_ns = clock_now_ns();
    enum err_code code = start(health, err);
    if (code) {
        health_close(health);
        return code;
    }
    const struct log_field fields[] = {log_field_text("listen", config->listen),
                                       log_field_number("port", admin_http_port(health->admin))};
    log_event(LOG_LEVEL_INFO, "fleet", fields, 2, "listening");
    *out = health;
    return ERR_OK;
}

uint16_t health_port(const struct health *health)
{
    return admin_http_port(health->admin);
}

void health_close(struct health *health)
{
    if (!health) return;
    admin_http_close(health->admin);
    metrics_free(health->metrics);
    free(health);
}
