/* A thread, one in the process, that stops statements past their deadline.
 *
 * SQLite's progress callback also stops statements and usually acts first. The watchdog is needed where SQLite does not
 * call it: while it compiles a statement, and while it waits for a lock. A handle arms its watch for the duration of
 * one statement. Past the deadline `fire` is called every few milliseconds until the watch is disarmed, because SQLite
 * drops an interrupt that arrives while no statement runs.
 *
 * It uses pthread locks instead of GLib's, because ThreadSanitizer supports only the former.
 */
#ifndef ASSAY_LIB_DB_WATCHDOG_H
#define ASSAY_LIB_DB_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    struct watch *next, **link; /* links of the list; private */
    int64_t deadline_ns;        /* private; INT64_MAX if disarmed */
    void (*fire)(void *ctx); /* Thread: the watchdog's, under its lock. Must be fast and must not call functions of this
                              * file */
    void *ctx;
};

/* Add and remove a watch. The first watch starts the watchdog thread; removing the last watch ends it. watchdog_add
 * returns false if the thread could not be started. Thread: any. */
bool watchdog_add(struct watch *watch, void (*fire)(void *ctx), void *ctx);
void watchdog_remove(struct watch *watch);

/* Set and clear the deadline. After watchdog_disarm has returned, `fire` is not running and will not be called. Thread:
 * the watch's owner. */
void watchdog_arm(struct watch *watch, int64_t deadline_ns);
void watchdog_disarm(struct watch *watch);

#endif
