/* One thread for the process that stops statements past their deadline.
 *
 * The engine's own progress callback does the same between opcodes and is usually first; the watchdog covers what runs
 * without calling back: preparing, and waiting for a lock. A watch is armed for the length of one statement. Its `fire`
 * is called, again every few milliseconds, until it is disarmed: an interrupt that falls between two statements is
 * lost.
 *
 * pthread locks and not GLib's: ThreadSanitizer knows them.
 */
#ifndef ASSAY_LIB_DB_WATCHDOG_H
#define ASSAY_LIB_DB_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
    struct watch *next, **link; /* private */
    int64_t deadline_ns;        /* private; INT64_MAX: at rest */
    void (*fire)(void *ctx);    /* thread: watchdog, under its lock: short, no call into this module */
    void *ctx;
};

/* Add and remove. The thread starts with the first watch and has ended when the last remove returns. false: the
 * thread could not be started. Thread: any. */
bool watchdog_add(struct watch *watch, void (*fire)(void *ctx), void *ctx);
void watchdog_remove(struct watch *watch);

/* Thread: the watch's owner. When disarm has returned, `fire` is not running. */
void watchdog_arm(struct watch *watch, int64_t deadline_ns);
void watchdog_disarm(struct watch *watch);

#endif
