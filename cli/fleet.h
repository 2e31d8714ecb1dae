/* A process of the fleet: its parts run on threads of their own until a signal, or the failure of one, ends them all.
 *
 * SIGTERM and SIGINT ask every part to stop: it takes nothing new, finishes or hands back what it holds, and leaves. A
 * process that has not done so after drain_ms, or gets a second signal, ends at once: the rest of the fleet repeats
 * what it held, since nothing is acknowledged before its time.
 */
#ifndef ASSAY_CLI_FLEET_H
#define ASSAY_CLI_FLEET_H

#include "cli/cli.h"
#include "proto/bus/transport.h"

struct fleet_part {
    const char *name; /* of the thread; at most 15 bytes */
    void *ctx;
    enum err_code (*run)(void *ctx, struct err *err); /* until stop; what it returns else ends the process */
    void (*stop)(void *ctx);                          /* thread: main */
    int64_t (*turned_ns)(void *ctx); /* when its loop last turned, clock_now_ns; 0: not yet. Any thread */
};

enum { FLEET_MAX_PARTS = 256 };

/* Before anything that starts threads: signals then come to fleet_run alone, and the log is as the settings say. */
void fleet_start(const struct cli *cli);

/* Run all parts; returns when all have ended. Exit code: 0 after a signal, 2 after a complaint when one failed. Does
 * not return at all when draining takes longer than drain_ms. Thread: main. */
int fleet_run(const struct fleet_part *parts, uint32_t n, int64_t drain_ms);

/* The transport that the settings name; ERR_CONFIG when they name no server. */
enum err_code fleet_open_bus(struct cli *cli, struct bus **out, struct err *err);

#endif
