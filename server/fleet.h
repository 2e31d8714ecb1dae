/* A process of the fleet: its parts run on threads of their own until a signal, or the failure of one, ends them all.
 *
 * SIGTERM and SIGINT ask every part to stop: it takes nothing new, finishes or hands back what it holds, and leaves. A
 * process that has not done so after drain_ms, or gets a second signal, ends at once: the rest of the fleet repeats
 * what it held, since nothing is acknowledged before it is done.
 */
#ifndef ASSAY_SERVER_FLEET_H
#define ASSAY_SERVER_FLEET_H

#include "lib/base/error.h"
#include "lib/base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct fleet_part {
    const char *name; /* of the thread; at most 15 bytes */
    void *ctx;
    enum err_code (*run)(void *ctx, struct err *err); /* until stop; what it returns else ends the process */
    void (*stop)(void *ctx);                          /* thread: main */
    int64_t (*heartbeat_ns)(void *ctx); /* when its loop last turned, clock_now_ns; 0: not yet. Any thread */
};

enum { FLEET_MAX_PARTS = 256, FLEET_EXIT_ENDED = 0, FLEET_EXIT_FAILED = 2 /* exit codes */ };

/* Before anything that starts threads: opens the log on standard error; signals then come to fleet_run alone. */
void fleet_start(enum log_form form, enum log_level most);

/* Waits until a signal asks the process to end, at most `ms`. Returns true if one did. Thread: main. */
bool fleet_wait(int64_t ms);

/* Run all parts; returns when all have ended: FLEET_EXIT_ENDED after a signal, FLEET_EXIT_FAILED when one failed, which
 * the log says. `version` is for the log. Does not return at all when draining takes longer than drain_ms. Thread:
 * main. */
int fleet_run(const struct fleet_part *parts, uint32_t n, const char *version, int64_t drain_ms);

#endif
