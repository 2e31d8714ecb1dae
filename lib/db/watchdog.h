/* One thread for the process that stops statements past their deadline.
 *
 * The engine's own progress callback does the same between opcodes and usually acts first. The watchdog covers phases
 * without a callback: preparing, and waiting for a lock. A watch is armed for the duration of one statement. Its `fire`
 * is called, again every few milliseconds, until the watch is disarmed, because an interrupt between two statements is
 * lost.
 *
 * pthread locks are used instead of GLib's, because ThreadSanitizer supports them.
 */
#ifndef ASSAY_LIB_DB_WATCHDOG_H
#define ASSAY_LIB_DB_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    struct watch *next, **link; /* private */
    int64_t deadline_ns;        /* private; INT64_MAX if disarmed */
    void (*fire)(void *ctx); /* thread: the watchdog's, under its lock. Must be short and must not call this module */
    void *ctx;
};

/* Add and remove a watch. The thread starts with the first watch and ends before the last remove returns. Returns false
 * if the thread could not be started. Thread: any. */
bool watchdog_add(struct watch *watch, void (*fire)(void *ctx), void *ctx);
void watchdog_remove(struct watch *watch);

/* Set and clear the deadline. Once disarm has returned, `fire` is not running. Thread: the watch's owner. */
void watchdog_arm(struct watch *watch, int64_t deadline_ns);
void watchdog_disarm(struct watch *watch);

#endif
