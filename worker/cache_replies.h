/* Cached replies of language models, by the hash of their input: in memory and, if configured, in Redis for the fleet.
 *
 * Concurrent identical calls are coalesced. replies_find tells whether the reply is known or must be requested; the
 * other callers wait for it. In Redis, `<prefix>:llm:<hash>` holds the reply and `<prefix>:llm:<hash>:asked` the lease
 * of the calling process. A process that dies delays the others until its lease expires. Without Redis each process
 * calls by itself.
 */
#ifndef ASSAY_WORKER_CACHE_REPLIES_H
#define ASSAY_WORKER_CACHE_REPLIES_H

#include "worker/cache.h"

enum { REPLIES_KEY = 64 }; /* hexadecimal digits of a hash */

struct replies_config {
    struct cache_config redis; /* without an address: memory only */
    uint32_t entries;          /* in memory; 0: 4,096 */
    int64_t ttl_ms;            /* 0: a day */
    int64_t lease_ms;          /* 0: 30,000 */
};

enum replies_found {
    REPLIES_TO_ASK, /* the caller must call replies_put, even on failure */
    REPLIES_HERE,   /* from this process's memory */
    REPLIES_SHARED  /* from Redis, or from a concurrent identical call */
};

struct replies;

/* Creates a cache. `config` is copied with the strings of redis. Returns ERR_CONFIG as cache_open does. */
enum err_code replies_open(const struct replies_config *config, struct replies **out, struct err *err);
void replies_close(struct replies *replies); /* NULL is allowed */

/* Returns the reply in *text, allocated with malloc, unless it must be requested. Waits for a concurrent identical call
 * until clock_now_ns reaches until_ns; then the caller must request it. Thread: any. */
enum replies_found replies_find(struct replies *replies, const char *key, int64_t until_ns, char **text);
/* Stores the model's reply. NULL means failure: waiters then call by themselves. Thread: any. */
void replies_put(struct replies *replies, const char *key, const char *text);

#endif
