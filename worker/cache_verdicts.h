/* Cached verdicts of coordinators, and the database states that they belong to, in Redis.
 *
 *    assay:<db>:state                      recent state of the database as seen by a worker (db_states.h); expires soon
 *    assay:<db>:<state>:verdict:<key>      a verdict (coordinator/verdict_cache.h), expiring
 *
 * A lookup uses the current state, so it cannot find verdicts of past states. As with indexes, Redis only saves work.
 */
#ifndef ASSAY_WORKER_CACHE_VERDICTS_H
#define ASSAY_WORKER_CACHE_VERDICTS_H

#include "worker/cache.h"

enum { STATE_TEXT = 33 }; /* 32 hexadecimal digits and a NUL */

struct cache_verdicts;

/* Creates the cache. `redis` is copied; its ttl_ms is the lifetime of verdicts. Does not connect. Returns ERR_CONFIG as
 * cache_open does. */
enum err_code cache_verdicts_open(const struct cache_config *redis, struct cache_verdicts **out, struct err *err);
void cache_verdicts_close(struct cache_verdicts *verdicts); /* NULL is allowed */

/* Implement the functions of struct coordinator_cache; `ctx` is a struct cache_verdicts. Thread: any. */
enum err_code cache_verdicts_find(void *ctx, const char *db, const char *key, char **bytes, size_t *len);
enum err_code cache_verdicts_keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes,
                                  size_t len);

/* Publishes the state of a database, which expires after `ms` unless another state replaces it. NULL means that the
 * state is unknown. Thread: any. */
enum err_code cache_verdicts_publish(struct cache_verdicts *verdicts, const char *db, const char *state, int64_t ms);

#endif
