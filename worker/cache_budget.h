/* The budget of a minute: requests, tokens, money.
 *
 * A token bucket holds one minute's amount and fills evenly. It is in Redis, at `<prefix>:budget:<name>`, for the whole
 * fleet, by the server's clock. If Redis is unavailable, each process has a bucket with its share: budget / processes.
 * An estimate is taken in advance and settled afterwards, so the budget may be overdrawn by the calls in flight.
 */
#ifndef ASSAY_WORKER_CACHE_BUDGET_H
#define ASSAY_WORKER_CACHE_BUDGET_H

#include "worker/cache.h"

struct budget_amount {
    double requests, tokens, money;
};

struct budget_config {
    struct cache_config redis;       /* without an address: shares only */
    uint32_t processes;              /* assumed if Redis is unavailable; 0: 8 with Redis, 1 without */
    struct budget_amount per_minute; /* 0 means no limit */
};

struct budget;

/* Creates a budget. `config` is copied with the strings of redis. Returns ERR_CONFIG as cache_open does. */
enum err_code budget_open(const struct budget_config *config, struct budget **out, struct err *err);
void budget_close(struct budget *budget); /* NULL is allowed */

/* Takes an estimate. Returns false, and takes nothing, if too little is left. Thread: any. */
bool budget_take(struct budget *budget, const struct budget_amount *estimate);
/* Replaces the estimate with the actual amount. Thread: any. */
void budget_settle(struct budget *budget, const struct budget_amount *estimate, const struct budget_amount *spent);

#endif
