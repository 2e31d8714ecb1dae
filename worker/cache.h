/* The fleet's cache of schema indexes, in Redis: the layer between a process's own cache and building.
 *
 *    thread: the current subject → process: struct schema_cache → fleet: this → schema_build
 *
 * Redis only saves work. If it is down, slow, full, evicting, restarting, failing over or corrupt, the index is built
 * here. It is the same index, and a counter records it. After a failure the circuit is open for a while, so a dead
 * Redis costs one timeout and not one for each database.
 *
 * The keys, with the prefix `assay` and <fp> from schema_blob_key, so that nothing is invalidated in place:
 *    assay:<db>:<fp>:schema          the index (lib/schema/blob.h), expiring
 *    assay:<db>:<fp>:values:<column> the values of a large column, expiring; fetched on demand
 *    assay:<db>:<fp>:lock            token of the one process that builds it, expiring in `lease_ms`
 *    assay:<db>:<fp>:stage:<token>   the built index, until the token is validated
 *    assay:<db>:index                "<fp> <when>": the newest index of the database, for people and tools
 *
 * One process of the fleet builds an index. SET NX PX takes the lock, and a heartbeat renews it. The others wait for
 * the index, at most `wait_ms`, then build their own. A builder that was paused past its lease finds another's token:
 * its result is used locally and not published. `when` is the server's clock when the lock was taken, so a late builder
 * of an old index cannot move the pointer back.
 */
#ifndef ASSAY_WORKER_CACHE_H
#define ASSAY_WORKER_CACHE_H

#include "lib/schema/schema.h"

/* Zero is the default; NULL is none. */
struct cache_config {
    const char *address;                                  /* host, host:port, [v6]:port, or unix:/path */
    bool tls;                                             /* refused: hiredis is used without its TLS part */
    const char *user, *password_file, *password_variable; /* first line of a file; name of an environment variable */
    uint32_t database;
    const char *prefix; /* "assay" */
    int64_t ttl_ms;     /* 7 days: since the last use of an index */
    int64_t timeout_ms; /* 500: of silence, and to connect; a whole call may take 8 times as long */
    int64_t wait_ms;    /* 30,000: for an index that another process builds */
    int64_t lease_ms;   /* 10,000: longest delay by a builder that died */
    int64_t retry_ms;   /* 1,000: pause after a failure; doubles up to 30 times as much */
    uint64_t max_bytes; /* 256 MiB: longest reply or index that is accepted or stored */
};

/* counter, meaning */
#define CACHE_COUNTERS(X)                                                                                              \
    X(hits, "indexes read from Redis")                                                                                 \
    X(misses, "indexes not found in Redis")                                                                            \
    X(builds, "indexes built here")                                                                                    \
    X(stored, "indexes written to Redis")                                                                              \
    X(fenced, "indexes not written to Redis because the lock was lost")                                                \
    X(refused, "indexes rejected by Redis or by a limit: memory full, or too large")                                   \
    X(parts, "large columns read from Redis")                                                                          \
    X(rebuilds, "indexes built here because a large column was not available")                                         \
    X(waits, "waits for an index that another process was building")                                                   \
    X(impatient, "waits of that kind that timed out")                                                                  \
    X(rejected, "indexes in Redis that were corrupt, foreign or of another version")                                   \
    X(failures, "calls that failed: no connection, timeout, invalid reply or error")                                   \
    X(skipped, "calls skipped because the circuit was open")                                                           \
    X(connects, "connections opened")                                                                                  \
    X(bytes_in, "bytes received")                                                                                      \
    X(bytes_out, "bytes sent")                                                                                         \
    X(call_ns, "nanoseconds spent in calls")                                                                           \
    X(read_ns, "nanoseconds spent on decoding indexes")

struct cache_stats {
#define X(name, help) uint64_t name;
    CACHE_COUNTERS(X)
#undef X
    bool unavailable;              /* circuit open after a failure */
    char last_error[ERR_TEXT_MAX]; /* last failure; empty if there was none */
};

struct cache;

/* Creates a cache. `config` is copied. Does not connect, because Redis may be down at any time. Returns ERR_CONFIG for
 * an invalid address, TLS, an unreadable password or an invalid database number. */
enum err_code cache_open(const struct cache_config *config, struct cache **out, struct err *err);
/* Frees the cache. All indexes that came through it must be released before. NULL is allowed. */
void cache_close(struct cache *cache);

/* Builds an index or reads it from the cache; a callback for schema_cache_build_with. `ctx` is a struct cache. Errors
 * are those of schema_build. Thread: any. */
enum err_code cache_build(void *ctx, struct db *db, const char *db_name, const char *path,
                          const struct schema_options *options, struct schema_index **out, struct err *err);

/* Checks that Redis replies with these credentials, even if the circuit is open. Returns ERR_UNREACHABLE with the
 * error. Only for messages and manual checks. Thread: any. */
enum err_code cache_ping(struct cache *cache, struct err *err);

/* Copies the statistics. Thread: any. */
void cache_get_stats(struct cache *cache, struct cache_stats *out);

#endif
