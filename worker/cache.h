/* The fleet's cache of schema indexes, in Redis. It is the layer between the cache of a process and building an index.
 *
 *    thread: the current subject → process: struct schema_cache → fleet: this → schema_build
 *
 * Redis only saves work. If it is down, slow, full, evicting, restarting, failing over or corrupt, the index is built
 * in this process. The result is the same index, and a counter records the case. After a failure the circuit is open
 * for a while. An unreachable Redis thus costs one timeout in all, and not one for each database.
 *
 * The keys start with the prefix `assay`. <fp> is the fingerprint from schema_blob_key, so a change of the database
 * leads to another key, and no key needs to be invalidated:
 *    assay:<db>:<fp>:schema          the index (lib/schema/blob.h), expiring
 *    assay:<db>:<fp>:values:<column> the values of a large column, expiring; fetched on demand
 *    assay:<db>:<fp>:lock            token of the process that builds the index, expiring in `lease_ms`
 *    assay:<db>:<fp>:stage:<token>   the built index, until the token is validated
 *    assay:<db>:index                "<fp> <when>": the newest index of the database, for people and tools
 *
 * One process of the fleet builds an index. It takes the lock with SET NX PX, and a heartbeat renews the lock. The
 * others wait for the index, at most `wait_ms`, then build their own. A builder that was paused past its lease finds
 * another token in the lock. It uses its index locally and does not publish it. `when` is the time on the server's
 * clock at which the lock was taken. It prevents a late builder of an old index from overwriting a newer pointer.
 */
#ifndef ASSAY_WORKER_CACHE_H
#define ASSAY_WORKER_CACHE_H

#include "lib/schema/schema.h"

/* Zero selects the default of a number; NULL means that a text is not set. */
struct cache_config {
    const char *address;                                  /* host, host:port, [v6]:port, or unix:/path */
    bool tls;                                             /* must be false, because hiredis is used without its TLS
                                                           * part */
    const char *user, *password_file, *password_variable; /* files and variables that hold the password: first line of a
                                                           * file; name of an environment variable */
    uint32_t database;
    const char *prefix; /* prefix of the keys; NULL: "assay" */
    int64_t ttl_ms;     /* lifetime of an index since its last use; default 7 days */
    int64_t timeout_ms; /* maximum time without data, and to connect; default 500. A whole call may take 8 times as
                         * long */
    int64_t wait_ms;    /* maximum wait for an index that another process builds; default 30,000 */
    int64_t lease_ms;   /* maximum delay that a dead builder causes; default 10,000 */
    int64_t retry_ms;   /* pause after a failure; default 1,000; doubles up to 30 times that value */
    uint64_t max_bytes; /* maximum size of a reply or index that is accepted or stored; default 256 MiB */
};

/* X(counter, meaning) */
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
    bool unavailable;              /* the circuit is open after a failure */
    char last_error[ERR_TEXT_MAX]; /* last failure; empty if there was none */
};

struct cache;

/* Creates a cache. `config` is copied. Does not connect, because Redis may be down at any time. Returns ERR_CONFIG for
 * an invalid address, TLS, an unreadable password or an invalid database number. */
enum err_code cache_open(const struct cache_config *config, struct cache **out, struct err *err);
/* Frees the cache. The caller must first release all indexes that came from it. NULL is allowed. */
void cache_close(struct cache *cache);

/* Builds an index or reads it from the cache. This is a callback for schema_cache_build_with; `ctx` is a struct cache.
 * Returns the errors of schema_build. Thread: any. */
enum err_code cache_build(void *ctx, struct db *db, const char *db_name, const char *path,
                          const struct schema_options *options, struct schema_index **out, struct err *err);

/* Checks that Redis replies with these credentials, even if the circuit is open. Returns ERR_UNREACHABLE with the error
 * if it does not. Only for messages and manual checks. Thread: any. */
enum err_code cache_ping(struct cache *cache, struct err *err);

/* Copies the statistics. Thread: any. */
void cache_get_stats(struct cache *cache, struct cache_stats *out);

#endif
