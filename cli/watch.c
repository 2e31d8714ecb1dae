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

/* --- pages --- */

static bool write_metrics(void *ctx, FILE *out)
{
    struct watch *watch = ctx;
    struct bus_traffic traffic;
    bool started;
    double age = (double)loop_age(watch, &started) / 1e9;
    watch->config.collect(watch->config.ctx, watch->metrics);
    bus_traffic(watch->config.bus, &traffic);
    if (traffic.clients) fleet_metrics_traffic(watch->metrics, &traffic);
    fleet_metrics_process(watch->metrics);
    metrics_set(metrics_get(watch->metrics, FLEET_LOOP_AGE, NULL), age);
    char *text = metrics_write(watch->metrics, NULL);
    if (!text) return false;
    fputs(text, out);
    free(text);
    return true;
}

static bool write_live(void *ctx, FILE *out)
{
    struct watch *watch = ctx;
    struct err err = {0};
    bool started;
    int64_t age = loop_age(watch, &started);
    bool turns = age < watch->stall_ns, carries = bus_health(watch->config.bus, &err) == ERR_OK;
    fprintf(out, "loops: %s, the slowest turned %.1f s ago\n", turns ? "ok" : "stuck", (double)age / 1e9);
    fprintf(out, "transport: %s\n", carries ? "ok" : err.text);
    return turns && carries;
}

static bool write_ready(void *ctx, FILE *out)
{
    const struct watch *watch = ctx;
    struct bus_traffic traffic;
    bool started, live = write_live(ctx, out);
    loop_age(watch, &started);
    bus_traffic(watch->config.bus, &traffic);
    fprintf(out, "started: %s\n", started ? "ok" : "not yet");
    fprintf(out, "joined: %u of %u\n", traffic.joined, traffic.members);
    int64_t restoring = watch->config.restoring_ns ? watch->config.restoring_ns(watch->config.ctx) : 0;
    bool caught_up = restoring == 0 || restoring > WATCH_RESTORE_MS * INT64_C(1000000);
    if (restoring)
        fprintf(out, "taking over: %s, for %.1f s\n", caught_up ? "goes on" : "not yet", (double)restoring / 1e9);
    return live && started && traffic.joined == traffic.members && caught_up;
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
