#include "server/fleet.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { LOOK_MS = 100 };

struct running {
    const struct fleet_part *part;
    pthread_t thread;
    enum err_code code;
    struct err err;
    atomic_bool ended;
};

static sigset_t ending_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

void fleet_start(enum log_form form, enum log_level most)
{
    sigset_t set = ending_signals();
    log_open(-1, form, most);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void log_start(const char *version, uint32_t n)
{
    const struct log_field fields[] = {log_field_text("version", version), log_field_number("parts", n)};
    log_event(LOG_LEVEL_INFO, "fleet", fields, 2, "running");
}

static void *run_part(void *arg)
{
    struct running *own = arg;
    pthread_setname_np(pthread_self(), own->part->name);
    own->code = own->part->run(own->part->ctx, &own->err);
    atomic_store(&own->ended, true);
    return NULL;
}

static uint32_t count_ended(const struct running *all, uint32_t n)
{
    uint32_t ended = 0;
    for (uint32_t i = 0; i < n; i++) ended += atomic_load(&all[i].ended);
    return ended;
}

bool fleet_wait(int64_t ms)
{
    sigset_t set = ending_signals();
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    return sigtimedwait(&set, NULL, &wait) > 0;
}

/* Ends the process at once. No work is lost: unfinished messages are not acknowledged, so they are delivered again. */
static void end_hard(const char *why)
{
    log_error("fleet", "%s: exiting at once; unfinished work will be redelivered", why);
    _exit(FLEET_EXIT_FAILED);
}

/* Waits until the first part ends or a signal arrives. Returns true for a signal. */
static bool wait_for_end(const struct running *all, uint32_t n)
{
    while (count_ended(all, n) == 0)
        if (fleet_wait(LOOK_MS)) return true;
    return false;
}

static void drain(const struct running *all, uint32_t n, int64_t drain_ms)
{
    int64_t until = clock_now_ns() + drain_ms * 1000000;
    log_info("fleet", "draining");
    for (uint32_t i = 0; i < n; i++) all[i].part->stop(all[i].part->ctx);
    while (count_ended(all, n) < n) {
        if (fleet_wait(LOOK_MS)) end_hard("second signal received");
        if (clock_now_ns() > until) end_hard("drain timed out (--drain-ms)");
    }
}

/* Logs why a part ended before it was asked to stop. */
static int report(const struct fleet_part *part, enum err_code code, const struct err *err)
{
    const struct log_field fields[] = {log_field_text("part", part->name), log_field_text("code", err_name(code)),
                                       log_field_text("why", err->text[0] ? err->text : err_meaning(code))};
    log_event(LOG_LEVEL_ERROR, "fleet", fields, 3, "component failed");
    return FLEET_EXIT_FAILED;
}

int fleet_run(const struct fleet_part *parts, uint32_t n, const char *version, int64_t drain_ms)
{
    static struct running all[FLEET_MAX_PARTS];
    uint32_t started = 0;
    int code = 0;
    for (; started < n && started < FLEET_MAX_PARTS; started++) {
        all[started] = (struct running){.part = &parts[started]};
        if (pthread_create(&all[started].thread, NULL, run_part, &all[started])) break;
    }
    log_start(version, started);
    if (started < n)
        log_error("fleet", "started only %u of %u threads", started, n), code = FLEET_EXIT_FAILED;
    else if (!wait_for_end(all, n))
        code = FLEET_EXIT_FAILED;
    drain(all, started, drain_ms);
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(all[i].thread, NULL);
        if (all[i].code) code = report(&parts[i], all[i].code, &all[i].err);
    }
    log_info("fleet", "ended");
    return code;
}
