/* A budget per minute for calls: requests, tokens, money.
 *
 * A token bucket holds the amount of one minute and fills evenly. It is stored in Redis at `<prefix>:budget:<name>`, is
 * shared by the whole fleet, and uses the server's clock. If Redis is unavailable, each process uses a bucket with its
 * share: budget / processes. A call takes an estimate in advance and replaces it with the actual amount afterwards. The
 * calls in flight may therefore overdraw the budget.
 */
#ifndef ASSAY_WORKER_CACHE_BUDGET_H
#define ASSAY_WORKER_CACHE_BUDGET_H

#include "worker/cache.h"

struct budget_amount {
    double requests, tokens, money;
};

struct budget_config {
    struct cache_config redis;       /* if it has no address, only shares are used */
    uint32_t processes;              /* number of processes assumed if Redis is unavailable; 0: 8 with Redis, 1
                                      * without */
    struct budget_amount per_minute; /* limits per minute; 0 means no limit */
};

struct budget;

/* Creates a budget. Copies `config` and the strings of its `redis`. Returns ERR_CONFIG as cache_open does. */
enum err_code budget_open(const struct budget_config *config, struct budget **out, struct err *err);
void budget_close(struct budget *budget); /* NULL is allowed */

/* Takes an estimate from the budget. Returns false, and takes nothing, if not enough is left. Thread: any. */
bool budget_take(struct budget *budget, const struct budget_amount *estimate);
/* Replaces an estimate that was taken with the actual amount. Thread: any. */
void budget_settle(struct budget *budget, const struct budget_amount *estimate, const struct budget_amount *spent);

#endif
