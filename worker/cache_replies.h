/* Cached replies of language models, by the hash of their input: in memory and, if configured, in Redis for the fleet.
 *
 * Concurrent identical calls are coalesced. replies_find reports whether the reply is cached or the caller must call
 * the model; other callers with the same hash wait for that call. In Redis, `<prefix>:llm:<hash>` holds the reply and
 * `<prefix>:llm:<hash>:asked` the lease of the calling process. A process that dies delays the others until its lease
 * expires. Without Redis, processes do not share calls.
 */
#ifndef ASSAY_WORKER_CACHE_REPLIES_H
#define ASSAY_WORKER_CACHE_REPLIES_H

#include "worker/cache.h"

enum { REPLIES_KEY = 64 }; /* hexadecimal digits of a hash */

struct replies_config {
    struct cache_config redis; /* if it has no address, replies are cached only in memory */
    uint32_t entries;          /* maximum replies in memory; 0: 4,096 */
    int64_t ttl_ms;            /* lifetime of a cached reply; 0: a day */
    int64_t lease_ms;          /* lifetime of a lease; 0: 30,000 */
};

enum replies_found {
    REPLIES_TO_ASK, /* the caller must call the model and then replies_put, even on failure */
    REPLIES_HERE,   /* found in the memory of this process */
    REPLIES_SHARED  /* found in Redis, or received from a concurrent identical call */
};

struct replies;

/* Creates a cache. Copies `config` and the strings of its `redis`. Returns ERR_CONFIG as cache_open does. */
enum err_code replies_open(const struct replies_config *config, struct replies **out, struct err *err);
void replies_close(struct replies *replies); /* NULL is allowed */

/* Returns the cached reply in *text, allocated with malloc, or REPLIES_TO_ASK if the caller must call the model. Waits
 * for a concurrent identical call until clock_now_ns reaches until_ns; then the caller must call the model. Thread:
 * any. */
enum replies_found replies_find(struct replies *replies, const char *key, int64_t until_ns, char **text);
/* Stores the model's reply. NULL reports a failure; the waiters then call the model themselves. Thread: any. */
void replies_put(struct replies *replies, const char *key, const char *text);

#endif
