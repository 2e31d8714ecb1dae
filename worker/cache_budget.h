/* What may be spent in a minute: requests, tokens, money. A bucket that holds a minute's worth and fills evenly; in Redis, `<prefix>:budget:<name>`,
 * for the whole fleet, by the server's clock. Redis away: each process has a bucket with its share of it, which is budget / processes. What is
 * spent is taken in advance as an estimate and settled after; so it may be overdrawn by what is under way.
 */
#ifndef ASSAY_WORKER_CACHE_BUDGET_H
#define ASSAY_WORKER_CACHE_BUDGET_H

#include "worker/cache.h"

struct budget_amount {
    double requests, tokens, money;
};

struct budget_config {
    struct cache_config redis;       /* no address: shares only */
    uint32_t processes;              /* assumed when Redis does not count; 0: 8 with Redis, one without */
    struct budget_amount per_minute; /* 0: no bound */
};

struct budget;

/* `config` is copied, the strings of redis too. ERR_CONFIG as cache_open. */
enum err_code budget_open(const struct budget_config *config, struct budget **out, struct err *err);
void budget_close(struct budget *budget); /* NULL is fine */

/* Take an estimate out. False: too little is left, and nothing was taken. Thread: any. */
bool budget_take(struct budget *budget, const struct budget_amount *estimate);
/* What it came to, in place of the estimate. Thread: any. */
void budget_settle(struct budget *budget, const struct budget_amount *estimate, const struct budget_amount *spent);

#endif
