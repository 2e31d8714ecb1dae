/* Verdicts that coordinators keep for equal requests, and the states of databases under which they do, in Redis.
 *
 *   assay:<db>:state                      the state in which a worker saw the database a moment ago (db_states.h); expires soon
 *   assay:<db>:<state>:verdict:<key>      a verdict (coordinator/verdict_cache.h), expiring
 *
 * A verdict of a state that is past is found by nobody. As with indexes, Redis can only ever save work.
 */
#ifndef ASSAY_WORKER_CACHE_VERDICTS_H
#define ASSAY_WORKER_CACHE_VERDICTS_H

#include "worker/cache.h"

enum { STATE_TEXT = 33 }; /* 32 hexadecimal digits, and the end */

struct cache_verdicts;

/* `redis` is copied, its ttl_ms is that of verdicts. Does not connect. ERR_CONFIG as cache_open. */
enum err_code cache_verdicts_open(const struct cache_config *redis, struct cache_verdicts **out, struct err *err);
void cache_verdicts_close(struct cache_verdicts *verdicts); /* NULL is fine */

/* As the functions of struct coordinator_cache, of which these are two; `ctx` is a struct cache_verdicts. Thread: any. */
enum err_code cache_verdicts_find(void *ctx, const char *db, const char *key, char **bytes, size_t *len);
enum err_code cache_verdicts_keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes,
                                  size_t len);

/* The database is in that state, which holds for so long if nobody says another; NULL: in none that could be told. Thread: any. */
enum err_code cache_verdicts_publish(struct cache_verdicts *verdicts, const char *db, const char *state, int64_t ms);

#endif
