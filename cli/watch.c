#include "cli/watch.h"

#include "cli/observe.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <stdlib.h>

struct watch {
    struct watch_config config;
    struct metrics *metrics;
    struct observe *observe;
    int64_t stall_ns, opened_ns;
};

/* --- loops --- */

/* Since the slowest loop last turned; one that has not yet counts from the start. *started: all have. */
static int64_t loop_age(const struct watch *watch, bool *started)
{
    int64_t now = clock_now_ns(), oldest = now;
    *started = true;
    for (uint32_t i = 0; i < watch->config.n_parts; i++) {
        const struct fleet_part *part = &watch->config.parts[i];
        if (!part->turned_ns) continue;
        int64_t turned = part->turned_ns(part->ctx);
        if (!turned) *started = false;
        if (!turned) turned = watch->opened_ns;
        if (turned < oldest) oldest = turned;
    }
    return now - oldest;
}

/* --- how it stands --- */

/* What the pages of health say, each from one look. */
struct standing {
    int64_t age_ns, restoring_ns; /* since the slowest loop turned; since a take-over began, 0: none goes on */
    bool turns, started, carries, caught_up;
    struct bus_traffic traffic;
    struct err err; /* why the transport does not carry */
};

static struct standing look(const struct watch *watch)
{
    struct standing now = {0};
    now.age_ns = loop_age(watch, &now.started);
    now.turns = now.age_ns < watch->stall_ns;
    now.carries = bus_health(watch->config.bus, &now.err) == ERR_OK;
    now.restoring_ns = watch->config.restoring_ns ? watch->config.restoring_ns(watch->config.ctx) : 0;
    now.caught_up = now.restoring_ns == 0 || now.restoring_ns > WATCH_RESTORE_MS * INT64_C(1000000);
    bus_traffic(watch->config.bus, &now.traffic);
    return now;
}

static bool is_live(const struct standing *now)
{
    return now->turns && now->carries;
}

static bool is_ready(const struct standing *now)
{
    return is_live(now) && now->started && now->traffic.joined == now->traffic.members && now->caught_up;
}

/* --- pages --- */

static bool write_metrics(void *ctx, FILE *out)
{
    struct watch *watch = ctx;
    const struct standing now = look(watch);
    watch->config.collect(watch->config.ctx, watch->metrics);
    if (now.traffic.clients) fleet_metrics_traffic(watch->metrics, &now.traffic);
    fleet_metrics_process(watch->metrics);
    metrics_set(metrics_get(watch->metrics, FLEET_READY, NULL), is_ready(&now));
    metrics_set(metrics_get(watch->metrics, FLEET_LOOP_AGE, NULL), (double)now.age_ns / 1e9);
    char *text = metrics_write(watch->metrics, NULL);
    if (!text) return false;
    fputs(text, out);
    free(text);
    return true;
}

static void print_live(const struct standing *now, FILE *out)
{
    fprintf(out, "loops: %s, the slowest turned %.1f s ago\n", now->turns ? "ok" : "stuck", (double)now->age_ns / 1e9);
    fprintf(out, "transport: %s\n", now->carries ? "ok" : now->err.text);
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
        fprintf(out, "taking over: %s, for %.1f s\n", now.caught_up ? "goes on" : "not yet",
                (double)now.restoring_ns / 1e9);
    return is_ready(&now);
}

static const struct observe_page pages[] = {
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", write_metrics},
    {"/healthz", "text/plain; charset=utf-8", write_live},
    {"/readyz", "text/plain; charset=utf-8", write_ready},
};

/* --- open, close --- */

static enum err_code start(struct watch *watch, const struct cli *cli, struct err *err)
{
    const struct observe_config listen = {cli->settings.observe.listen, pages, sizeof pages / sizeof *pages, watch};
    enum err_code code = metrics_new(fleet_metrics_defs, FLEET_METRICS_COUNT, &watch->metrics, err);
    if (code) return code;
    fleet_metrics_start(watch->metrics, watch->config.name, watch->config.commit);
    return observe_open(&listen, &watch->observe, err);
}

enum err_code watch_open(const struct cli *cli, const struct watch_config *config, struct watch **out, struct err *err)
{
    *out = NULL;
    if (!cli->settings.observe.listen) return ERR_OK;
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) return err_set(err, ERR_NOMEM, "no memory to watch");
    watch->config = *config;
    watch->stall_ns = cli->settings.observe.stall_ms * 1000000;
    watch->opened_ns = clock_now_ns();
    enum err_code code = start(watch, cli, err);
    if (code) {
        watch_close(watch);
        return code;
    }
    const struct log_field fields[] = {log_field_text("listen", cli->settings.observe.listen),
                                       log_field_number("port", observe_port(watch->observe))};
    log_event(LOG_LEVEL_INFO, "fleet", fields, 2, "listening");
    *out = watch;
    return ERR_OK;
}

uint16_t watch_port(const struct watch *watch)
{
    return observe_port(watch->observe);
}

void watch_close(struct watch *watch)
{
    if (!watch) return;
    observe_close(watch->observe);
    metrics_free(watch->metrics);
    free(watch);
}
