/* Runs a process of the fleet. Its parts run on their own threads until a signal, or the failure of one part, ends them
 * all.
 *
 * SIGTERM and SIGINT ask every part to stop. A part then accepts nothing new, finishes its work or returns it, and
 * ends. If that takes longer than drain_ms, or a second signal arrives, the process ends at once. The rest of the fleet
 * then repeats its unfinished work, since a message is acknowledged only after its work is done.
 */
#ifndef ASSAY_SERVER_FLEET_H
#define ASSAY_SERVER_FLEET_H

#include "lib/base/error.h"
#include "lib/base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct fleet_part {
    const char *name; /* thread name; at most 15 bytes */
    void *ctx;
    enum err_code (*run)(void *ctx, struct err *err); /* runs until `stop`; an earlier return ends the process */
    void (*stop)(void *ctx);                          /* asks `run` to end. Thread: main */
    /* Returns the clock_now_ns of the last loop iteration, or 0 before the first. Thread: any. */
    int64_t (*heartbeat_ns)(void *ctx);
};

enum { FLEET_MAX_PARTS = 256, FLEET_EXIT_ENDED = 0, FLEET_EXIT_FAILED = 2 /* exit codes */ };

/* Opens the log on standard error and blocks the signals in all threads but the one in fleet_run. Call it before any
 * thread starts. */
void fleet_start(enum log_form form, enum log_level most);

/* Waits at most `ms` for a signal that asks the process to end. Returns true if one arrived. Thread: main. */
bool fleet_wait(int64_t ms);

/* Runs all parts and returns when all have ended. Returns FLEET_EXIT_ENDED after a signal, FLEET_EXIT_FAILED if a part
 * failed; the log has the reason. `version` is written to the log. Ends the process instead if draining takes longer
 * than drain_ms. Thread: main. */
int fleet_run(const struct fleet_part *parts, uint32_t n, const char *version, int64_t drain_ms);

#endif
