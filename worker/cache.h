/* The fleet's cache of schema indexes, in Redis: the layer between a process's own cache and building.
 *
 *   thread: the subject in hand → process: struct schema_cache → fleet: this → schema_build
 *
 * Redis can only ever save work. Down, slow, full, evicting, restarting, failing over, or answering rubbish: the index
 * is then built here, it is the same index, and a counter says so. After a failure Redis is left alone for a while (a
 * circuit breaker), so that a dead one costs one timeout and not one a database.
 *
 * Keys, `assay` being the prefix and <fp> schema_blob_key, so that nothing is invalidated in place:
 *   assay:<db>:<fp>:schema          the index (lib/schema/blob.h), expiring
 *   assay:<db>:<fp>:values:<column> the values of a large column, expiring; fetched when it is asked for
 *   assay:<db>:<fp>:lock            token of the one process that builds it, expiring in `lease_ms`
 *   assay:<db>:<fp>:stage:<token>   what it has built, until the token is found to be good
 *   assay:<db>:index                "<fp> <when>": the newest index of the database, for people and tools
 *
 * One builder in the whole fleet: SET NX PX takes the lock, a heartbeat keeps it, and the others wait for the index, at
 * most `wait_ms`, then build for themselves. A builder that was paused past its lease finds another's token: its result
 * is used here and thrown away there. `when` is the server's clock at the time of the lock, so that a late builder of
 * an old index cannot put the pointer back.
 */
#ifndef ASSAY_WORKER_CACHE_H
#define ASSAY_WORKER_CACHE_H

#include "lib/schema/schema.h"

/* Zero is a default; NULL is none. */
struct cache_config {
    const char *address;                                  /* host, host:port, [v6]:port, or unix:/path */
    bool tls;                                             /* refused: hiredis is used without its TLS part */
    const char *user, *password_file, *password_variable; /* first line of a file; name of an environment variable */
    uint32_t database;
    const char *prefix; /* "assay" */
    int64_t ttl_ms;     /* 7 days: of an index since it was last asked for */
    int64_t timeout_ms; /* 500: of silence, and to connect. A whole call may take 8 times as long */
    int64_t wait_ms;    /* 30,000: for the index that another process is building */
    int64_t lease_ms;   /* 10,000: a builder that died holds the others up for so long */
    int64_t retry_ms;   /* 1,000: before Redis is asked again after a failure; doubles up to 30 times as much */
    uint64_t max_bytes; /* 256 MiB: a longer reply or index is not taken, nor put there */
};

/* counter, what it counts */
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
    bool unavailable;              /* Redis failed last time; it is left alone */
    char last_error[ERR_TEXT_MAX]; /* how it failed last; empty: never */
};

struct cache;

/* `config` is copied. Does not connect: a Redis that is down at the start is like one that goes down later. ERR_CONFIG:
 * an address that is none, TLS, a password that cannot be read, no database number. */
enum err_code cache_open(const struct cache_config *config, struct cache **out, struct err *err);
/* After the last index that came through it was let go. NULL is fine. */
void cache_close(struct cache *cache);

/* For schema_cache_build_with; `ctx` is a struct cache. Errors are schema_build's alone. Thread: any. */
enum err_code cache_build(void *ctx, struct db *db, const char *db_name, const char *path,
                          const struct schema_options *options, struct schema_index **out, struct err *err);

/* Does Redis answer, with these credentials? ERR_UNREACHABLE, with its own words. Asks even when it is left alone. For
 * a start-up message or a check by a person, not needed for anything. Thread: any. */
enum err_code cache_ping(struct cache *cache, struct err *err);

/* Thread: any. */
void cache_get_stats(struct cache *cache, struct cache_stats *out);

#endif
