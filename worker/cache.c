/* DESIGN: a column's values are stored and fetched together. Small columns are part of the index. A large column is a
 * separate part. It is read only when the filter in the index says that it may contain the requested value.
 *
 * Rejected: the first design, which looked values up in Redis one by one, in hashes from value to columns. Signals look
 * up dozens of values for a question, mostly to find one absent. To find the nearest values of a column, all its values
 * are needed. Redis cannot distinguish "absent" from "evicted", so a lookup there could silently change a verdict.
 * bench/notes/databases.md has the figures of both designs.
 */
#include "worker/cache.h"

#include "lib/base/backoff.h"
#include "lib/base/bom.h"
#include "lib/base/clock.h"
#include "lib/schema/blob.h"
#include "worker/cache_link.h"
#include "worker/lease_keeper.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

static const int64_t STAGE_MS = 60000;
static const struct backoff PAUSES = {10000000, 200000000, 0.5, 1.5};
enum { MAX_KEY = 1024, MAX_SECRET = 4096 };

#define X(name, help) atomic_ullong name;
struct counters {
    CACHE_COUNTERS(X)
};
#undef X

struct cache {
    struct links links;
    struct counters counters; /* counters of this layer; `links` has those of the connections */
    char *prefix;
    int64_t ttl_ms, wait_ms, lease_ms;
    struct lease_keeper *keeper; /* renews the locks of this process */
};

/* The state of searching for an index, or of building it. */
struct flight {
    struct cache *cache;
    struct db *db;
    const char *db_name, *path;
    const struct schema_options *options;
    char fingerprint[33], key[33];
    struct lease lock;                     /* lock on building the index */
    char *schema, *stage, *index, *values; /* keys in Redis; `values` is a prefix of keys */
    char when[32];                         /* time on the server's clock when the lock was taken */
};

static void count(atomic_ullong *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

/* Builds a command from strings; the list ends with NULL. */
static struct link_command make(const char *first, ...)
{
    struct link_command command = {0};
    va_list args;
    va_start(args, first);
    for (const char *text = first; text; text = va_arg(args, const char *)) {
        command.argv[command.argc] = text;
        command.lens[command.argc++] = strlen(text);
    }
    va_end(args);
    return command;
}

struct number {
    char text[24];
};
static struct number number_of(int64_t value)
{
    struct number number;
    g_snprintf(number.text, sizeof number.text, "%lld", (long long)value);
    return number;
}

static bool is_string(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING;
}

/* --- the lock ----------------------------------------------------------------------------------------------------- */

/* Scripts that renew and release the lock. They do nothing unless the caller holds the lock. */
static const char RENEW[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                            "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
static const char RELEASE[] = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
                              "return redis.call('DEL', KEYS[1])";

/* INVARIANT fenced: one script publishes a staged index only while the lock holds the builder's token. It moves the
 * pointer only to an index whose lock was taken later. Keys: lock, stage, schema, index. Arguments: token, ttl,
 * fingerprint, when. A corrupt or unwritable pointer is ignored. */
static const char PUBLISH[] =
    "local held = redis.call('GET', KEYS[1]) == ARGV[1] "
    "if held then redis.call('DEL', KEYS[1]) end "
    "if redis.call('EXISTS', KEYS[2]) == 0 then return -1 end "
    "if not held then redis.call('DEL', KEYS[2]) return 0 end "
    "redis.call('RENAME', KEYS[2], KEYS[3]) "
    "redis.call('PEXPIRE', KEYS[3], ARGV[2]) "
    "local at = redis.pcall('GET', KEYS[4]) "
    "at = type(at) == 'string' and tonumber(string.match(at, ' (%d+)$') or '0') or 0 "
    "if tonumber(ARGV[4]) > at then redis.pcall('SET', KEYS[4], ARGV[3] .. ' ' .. ARGV[4], 'PX', ARGV[2]) end "
    "return 1";

static void release(struct flight *flight)
{
    struct link_command command = make("EVAL", RELEASE, "1", flight->lock.key, flight->lock.token, NULL);
    redisReply *reply;
    if (links_call(&flight->cache->links, &command, 1, false, &reply, NULL) == ERR_OK) links_free_replies(&reply, 1);
}

/* Renews the lock; a callback of the keeper. If a renewal fails, another process may build the index too. */
static void renew(void *ctx, const struct lease *lock)
{
    struct cache *cache = ctx;
    struct number lease = number_of(cache->lease_ms);
    struct link_command command = make("EVAL", RENEW, "1", lock->key, lock->token, lease.text, NULL);
    redisReply *reply;
    if (links_call(&cache->links, &command, 1, false, &reply, NULL) == ERR_OK) links_free_replies(&reply, 1);
}

/* --- large columns ------------------------------------------------------------------------------------------------ */

static const int64_t REBUILD_PAUSE_NS = 1000000000;

/* The source of the large columns of an index that was found in Redis, and the settings for building the index
 * instead. */
struct parts {
    struct cache *cache;
    char *values, *db_name, *path, *descriptions_dir;
    struct schema_options options;
    struct db_limits limits;
    struct schema_index *built; /* index built in this process after Redis failed */
    int64_t failed_ns;
};

static void parts_end(void *ctx)
{
    struct parts *parts = ctx;
    schema_unref(parts->built);
    g_free(parts->values);
    g_free(parts->db_name);
    g_free(parts->path);
    g_free(parts->descriptions_dir);
    g_free(parts);
}

/* Stores one column. Returns false on failure. */
static bool put_part(struct cache *cache, const char *values, const struct schema_index *index, uint32_t column)
{
    struct schema_blob blob;
    if (schema_part_write(index, column, &blob, NULL)) return false;
    char *key = g_strdup_printf("%s%u", values, column);
    struct number ttl = number_of(cache->ttl_ms);
    struct link_command command = make("SET", key, "", "PX", ttl.text, NULL);
    command.argv[2] = (const char *)blob.bytes;
    command.lens[2] = blob.len;
    redisReply *reply = NULL;
    bool good = blob.len <= cache->links.config.max_bytes &&
                links_call(&cache->links, &command, 1, false, &reply, NULL) == ERR_OK;
    if (good) {
        good = reply->type == REDIS_REPLY_STATUS;
        links_free_replies(&reply, 1);
    }
    schema_blob_free(&blob);
    g_free(key);
    return good;
}

/* Stores the large columns. Must be called before the index is stored. Their content depends only on the key, so a late
 * builder writes the same content again. */
static bool put_parts(struct flight *flight, const struct schema_index *index)
{
    uint32_t *columns = g_new(uint32_t, index->n_columns + 1), n = schema_parts(index, columns);
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) good = put_part(flight->cache, flight->values, index, columns[i]);
    g_free(columns);
    return good;
}

static struct values *get_part(struct parts *parts, const struct schema_index *index, uint32_t column)
{
    struct cache *cache = parts->cache;
    char *key = g_strdup_printf("%s%u", parts->values, column);
    struct number ttl = number_of(cache->ttl_ms);
    struct link_command commands[] = {make("GET", key, NULL), make("PEXPIRE", key, ttl.text, NULL)};
    redisReply *replies[2];
    struct values *part = NULL;
    if (links_call(&cache->links, commands, 2, false, replies, NULL) == ERR_OK) {
        if (is_string(replies[0])) schema_part_read(replies[0]->str, replies[0]->len, index, column, &part, NULL);
        if (!part && replies[0]->type != REDIS_REPLY_NIL) count(&cache->counters.rejected, 1);
        if (part) count(&cache->counters.parts, 1);
        links_free_replies(replies, 2);
    }
    g_free(key);
    return part;
}

/* Builds the index with its own database handle, because callers that look up a value have no handle. */
static struct schema_index *build_again(struct parts *parts)
{
    struct db *db;
    struct schema_index *index = NULL;
    count(&parts->cache->counters.rebuilds, 1);
    if (db_open(parts->path, &parts->limits, &db, NULL)) return NULL;
    schema_build(db, parts->db_name, parts->path, &parts->options, &index, NULL);
    db_close(db);
    return index;
}

/* INVARIANT equal: if Redis does not return a column, it is built, so that the answer is the same. If that is
 * impossible (the database has changed since), its values are unknown, which differs from absent. */
static struct values *load_part(void *ctx, const struct schema_index *index, uint32_t column)
{
    struct parts *parts = ctx;
    struct values *part = parts->built ? NULL : get_part(parts, index, column);
    if (part) return part;
    if (parts->failed_ns && clock_now_ns() - parts->failed_ns < REBUILD_PAUSE_NS) return NULL;
    if (!parts->built) parts->built = build_again(parts);
    if (parts->built) part = schema_part_of(parts->built, index, column);
    if (part) {
        put_part(parts->cache, parts->values, parts->built, column);
    } else {
        schema_unref(parts->built);
        parts->built = NULL;
        parts->failed_ns = clock_now_ns();
    }
    return part;
}

static void attach_parts(const struct flight *flight, struct schema_index *index)
{
    struct parts *parts = g_new0(struct parts, 1);
    parts->cache = flight->cache;
    parts->values = g_strdup(flight->values);
    parts->db_name = g_strdup(flight->db_name);
    parts->path = g_strdup(flight->path);
    parts->limits = db_get_limits(flight->db);
    if (flight->options) parts->options = *flight->options;
    parts->options.descriptions_dir = parts->descriptions_dir = g_strdup(parts->options.descriptions_dir);
    schema_parts_from(index, &(struct schema_part_source){parts, load_part, parts_end});
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

/* Decodes an index from a reply. Returns NULL if it is unusable or not the requested one. */
static struct schema_index *read_reply(struct flight *flight, const redisReply *reply)
{
    struct schema_index *index;
    int64_t started = clock_now_ns();
    enum err_code code = schema_blob_read(reply->str, reply->len, flight->db_name, flight->options, &index, NULL);
    count(&flight->cache->counters.read_ns, (uint64_t)(clock_now_ns() - started));
    if (!code && strcmp(index->fingerprint, flight->fingerprint) == 0) {
        count(&flight->cache->counters.hits, 1);
        attach_parts(flight, index);
        return index;
    }
    if (!code) schema_unref(index);
    return NULL;
}

/* Deletes an unusable index, so that other processes do not read it again. If a usable one was written meanwhile,
 * deleting it only costs another build. */
static void delete_unusable(struct flight *flight)
{
    struct link_command command = make("DEL", flight->schema, NULL);
    redisReply *reply;
    count(&flight->cache->counters.rejected, 1);
    if (links_call(&flight->cache->links, &command, 1, false, &reply, NULL) == ERR_OK) links_free_replies(&reply, 1);
}

enum found { FOUND, LOCKED, LOCKED_ELSEWHERE, NO_REDIS };

/* Fetches the index and extends its expiry in one round trip, which is the common case. Returns LOCKED_ELSEWHERE if the
 * index is missing or unusable. Whether another process builds it is then found by try_lock. */
static enum found fetch(struct flight *flight, struct schema_index **out)
{
    struct number ttl = number_of(flight->cache->ttl_ms);
    struct link_command commands[] = {make("GET", flight->schema, NULL),
                                      make("PEXPIRE", flight->schema, ttl.text, NULL)};
    redisReply *replies[2];
    if (links_call(&flight->cache->links, commands, 2, false, replies, NULL)) return NO_REDIS;
    bool there = replies[0]->type != REDIS_REPLY_NIL;
    *out = is_string(replies[0]) ? read_reply(flight, replies[0]) : NULL;
    links_free_replies(replies, 2);
    if (!*out && there) delete_unusable(flight);
    return *out ? FOUND : LOCKED_ELSEWHERE;
}

/* Stores the time from the reply to TIME, in microseconds, or "0" if the reply is invalid. */
static void note_time(struct flight *flight, const redisReply *reply)
{
    g_strlcpy(flight->when, "0", sizeof flight->when);
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) return;
    const redisReply *s = reply->element[0], *us = reply->element[1];
    if (!is_string(s) || !is_string(us) || strlen(s->str) > 12 || strlen(us->str) > 6) return;
    g_snprintf(flight->when, sizeof flight->when, "%s%06d", s->str, atoi(us->str));
}

/* Takes the lock if it is free. In the same round trip fetches the index again, because it may have been stored
 * meanwhile. */
static enum found try_lock(struct flight *flight, struct schema_index **out)
{
    struct number lease = number_of(flight->cache->lease_ms);
    struct link_command commands[] = {make("SET", flight->lock.key, flight->lock.token, "NX", "PX", lease.text, NULL),
                                      make("GET", flight->lock.key, NULL), make("TIME", NULL),
                                      make("GET", flight->schema, NULL)};
    redisReply *replies[4];
    if (links_call(&flight->cache->links, commands, 4, false, replies, NULL)) return NO_REDIS;
    bool mine = is_string(replies[1]) && strcmp(replies[1]->str, flight->lock.token) == 0;
    bool lockable = mine || is_string(replies[1]); /* false if memory is full, or if the key has another type */
    bool there = replies[3]->type != REDIS_REPLY_NIL;
    note_time(flight, replies[2]);
    *out = is_string(replies[3]) ? read_reply(flight, replies[3]) : NULL;
    links_free_replies(replies, 4);
    if (*out && mine) release(flight);
    if (*out) return FOUND;
    if (there) delete_unusable(flight);
    if (!lockable) count(&flight->cache->counters.refused, 1);
    return mine ? LOCKED : lockable ? LOCKED_ELSEWHERE : NO_REDIS;
}

/* Fetches the index, or takes the lock. Returns FOUND, LOCKED (the caller builds, then publishes), or NO_REDIS (the
 * caller builds without publishing). */
static enum found fetch_or_lock(struct flight *flight, struct schema_index **out)
{
    struct cache *cache = flight->cache;
    int64_t until_ns = clock_now_ns() + cache->wait_ms * 1000000;
    enum found found = fetch(flight, out);
    if (found == FOUND || found == NO_REDIS) return found;
    count(&cache->counters.misses, 1);
    for (uint32_t attempt = 0; (found = try_lock(flight, out)) == LOCKED_ELSEWHERE; attempt++) {
        if (!attempt) count(&cache->counters.waits, 1);
        if (clock_now_ns() >= until_ns) {
            count(&cache->counters.impatient, 1);
            return NO_REDIS;
        }
        g_usleep((gulong)(backoff_wait_ns(&PAUSES, attempt, NULL) / 1000));
    }
    return found;
}

/* --- publishing --------------------------------------------------------------------------------------------------- */

static void stage_and_publish(struct flight *flight, const struct schema_blob *blob)
{
    struct cache *cache = flight->cache;
    struct number stage = number_of(STAGE_MS), ttl = number_of(cache->ttl_ms);
    struct link_command commands[] = {make("SET", flight->stage, "", "PX", stage.text, NULL),
                                      make("EVAL", PUBLISH, "4", flight->lock.key, flight->stage, flight->schema,
                                           flight->index, flight->lock.token, ttl.text, flight->key, flight->when,
                                           NULL)};
    commands[0].argv[2] = (const char *)blob->bytes;
    commands[0].lens[2] = blob->len;
    redisReply *replies[2];
    if (links_call(&cache->links, commands, 2, false, replies, NULL)) return;
    bool answered = replies[1]->type == REDIS_REPLY_INTEGER;
    if (answered && replies[1]->integer == 1)
        count(&cache->counters.stored, 1);
    else if (answered && replies[1]->integer == 0)
        count(&cache->counters.fenced, 1);
    else
        count(&cache->counters.refused, 1);
    if (!answered) release(flight);
    links_free_replies(replies, 2);
}

/* Publishes an index. Does not publish it if the database changed during the build, because its key would be wrong. */
static void publish(struct flight *flight, const struct schema_index *index)
{
    struct schema_blob blob = {0};
    bool same = strcmp(index->fingerprint, flight->fingerprint) == 0;
    bool fits = same && put_parts(flight, index) && schema_blob_write(index, &blob, NULL) == ERR_OK &&
                blob.len <= flight->cache->links.config.max_bytes;
    if (fits) {
        stage_and_publish(flight, &blob);
    } else {
        if (same) count(&flight->cache->counters.refused, 1);
        release(flight);
    }
    schema_blob_free(&blob);
}

/* --- the layer ---------------------------------------------------------------------------------------------------- */

static void make_keys(struct flight *flight)
{
    const struct cache *cache = flight->cache;
    const char *db_name = flight->db_name;
    schema_blob_key(flight->fingerprint, flight->path, flight->options, flight->key);
    lease_token(flight->lock.token);
    flight->lock.cap = 1;
    flight->schema = g_strdup_printf("%s:%s:%s:schema", cache->prefix, db_name, flight->key);
    flight->lock.key = g_strdup_printf("%s:%s:%s:lock", cache->prefix, db_name, flight->key);
    flight->stage = g_strdup_printf("%s:%s:%s:stage:%s", cache->prefix, db_name, flight->key, flight->lock.token);
    flight->index = g_strdup_printf("%s:%s:index", cache->prefix, db_name);
    flight->values = g_strdup_printf("%s:%s:%s:values:", cache->prefix, db_name, flight->key);
}

static void flight_end(struct flight *flight)
{
    g_free(flight->schema);
    g_free(flight->lock.key);
    g_free(flight->stage);
    g_free(flight->index);
    g_free(flight->values);
}

enum err_code cache_build(void *ctx, struct db *db, const char *db_name, const char *path,
                          const struct schema_options *options, struct schema_index **out, struct err *err)
{
    struct cache *cache = ctx;
    struct flight flight = {.cache = cache, .db = db, .db_name = db_name, .path = path, .options = options};
    *out = NULL;
    if (options && options->keep_here) return schema_build(db, db_name, path, options, out, err);
    enum err_code code = db_fingerprint(db, flight.fingerprint, err);
    if (code) return code;
    make_keys(&flight);
    enum found found = fetch_or_lock(&flight, out);
    if (found != FOUND) {
        if (found == LOCKED) lease_keeper_add(cache->keeper, &flight.lock);
        count(&cache->counters.builds, 1);
        code = schema_build(db, db_name, path, options, out, err);
        if (found == LOCKED && code) release(&flight);
        if (found == LOCKED && !code) publish(&flight, *out);
        if (found == LOCKED) lease_keeper_remove(cache->keeper, &flight.lock);
    }
    flight_end(&flight);
    return code;
}

enum err_code cache_ping(struct cache *cache, struct err *err)
{
    struct link_command command = make("PING", NULL);
    redisReply *reply;
    enum err_code code = links_call(&cache->links, &command, 1, true, &reply, err);
    if (!code) links_free_replies(&reply, 1);
    return code;
}

void cache_get_stats(struct cache *cache, struct cache_stats *out)
{
    struct link_counters *links = &cache->links.counters;
    *out = (struct cache_stats){0};
#define X(name, help) out->name = atomic_load_explicit(&cache->counters.name, memory_order_relaxed);
    CACHE_COUNTERS(X)
#undef X
#define FROM_LINKS(X) X(failures) X(skipped) X(connects) X(bytes_in) X(bytes_out) X(call_ns)
#define X(name)       out->name = atomic_load_explicit(&links->name, memory_order_relaxed);
    FROM_LINKS(X)
#undef X
    pthread_mutex_lock(&cache->links.lock);
    out->unavailable = cache->links.breaker.state != BREAKER_CLOSED;
    memcpy(out->last_error, cache->links.last_error, sizeof out->last_error);
    pthread_mutex_unlock(&cache->links.lock);
}

/* --- configuration ------------------------------------------------------------------------------------------------ */

enum { DEFAULT_PORT = 6379 };

static enum err_code bad_address(const char *address, struct err *err)
{
    return err_set(err, ERR_CONFIG, "invalid Redis address '%.80s', expected host, host:port, [v6]:port or unix:/path",
                   address);
}

static enum err_code parse_address(const char *address, struct link_config *out, struct err *err)
{
    if (strncmp(address, "unix:", 5) == 0) {
        if (address[5] != '/') return bad_address(address, err);
        out->host = g_strdup(address + 5);
        return ERR_OK;
    }
    if (strncmp(address, "rediss:", 7) == 0)
        return err_set(err, ERR_CONFIG, "TLS to Redis (rediss:) is not supported" ERR_HINT "use a tunnel");
    const char *end = *address == '[' ? strchr(address, ']') : address + strcspn(address, ":");
    const char *start = *address == '[' ? address + 1 : address;
    if (!end || end == start || strchr(address, '/')) return bad_address(address, err);
    const char *rest = *end == ']' ? end + 1 : end;
    guint64 port = DEFAULT_PORT;
    if (*rest && (*rest != ':' || !g_ascii_string_to_unsigned(rest + 1, 10, 1, 65535, &port, NULL)))
        return bad_address(address, err);
    out->host = g_strndup(start, (gsize)(end - start));
    out->port = (int)port;
    return ERR_OK;
}

static enum err_code first_line(const char *path, char **out, struct err *err)
{
    char *text = NULL;
    gsize len = 0;
    if (!g_file_get_contents(path, &text, &len, NULL) || len > MAX_SECRET) {
        g_free(text);
        return err_set(err, ERR_CONFIG, "cannot read the Redis password from %.200s, or it is too long", path);
    }
    bom_strip(text, len);
    text[strcspn(text, "\r\n")] = '\0';
    *out = text;
    return ERR_OK;
}

static enum err_code read_password(const struct cache_config *config, char **out, struct err *err)
{
    if (config->password_file && config->password_variable)
        return err_set(err, ERR_CONFIG,
                       "both a file and a variable are set for the Redis password" ERR_HINT "set only one of them");
    if (config->password_file) return first_line(config->password_file, out, err);
    if (!config->password_variable) return ERR_OK;
    const char *value = getenv(config->password_variable);
    if (!value)
        return err_set(err, ERR_CONFIG, "environment variable %.80s is not set; it should contain the Redis password",
                       config->password_variable);
    *out = g_strdup(value);
    return ERR_OK;
}

static int64_t or_default(int64_t value, int64_t usual)
{
    return value > 0 ? value : usual;
}

static enum err_code read_link_config(const struct cache_config *config, struct link_config *out, struct err *err)
{
    *out = (struct link_config){
        .database = config->database,
        .timeout_ms = or_default(config->timeout_ms, 500),
        .retry_ms = or_default(config->retry_ms, 1000),
        .max_bytes = config->max_bytes ? config->max_bytes : 256ULL << 20,
    };
    if (config->tls)
        return err_set(err, ERR_CONFIG,
                       "TLS to Redis is not supported" ERR_HINT "use a tunnel, or leave redis.tls unset");
    enum err_code code = parse_address(config->address ? config->address : "", out, err);
    if (!code) code = read_password(config, &out->password, err);
    if (!code && config->user && !out->password)
        code = err_set(err, ERR_CONFIG, "a Redis user is set without a password");
    if (!code) out->user = g_strdup(config->user);
    return code;
}

enum err_code cache_read_config(const struct cache_config *config, struct link_config *out, struct err *err)
{
    enum err_code code = read_link_config(config, out, err);
    if (!code) return ERR_OK;
    g_free(out->host);
    g_free(out->password);
    return code;
}

enum err_code cache_open(const struct cache_config *config, struct cache **out, struct err *err)
{
    struct link_config link;
    *out = NULL;
    enum err_code code = cache_read_config(config, &link, err);
    if (code) return code;
    struct cache *cache = g_new0(struct cache, 1);
    links_init(&cache->links, &link);
    cache->prefix = g_strdup(config->prefix && *config->prefix ? config->prefix : "assay");
    cache->ttl_ms = or_default(config->ttl_ms, 7LL * 86400000);
    cache->wait_ms = or_default(config->wait_ms, 30000);
    cache->lease_ms = MAX(or_default(config->lease_ms, 10000), 30);
    cache->keeper = lease_keeper_new(cache->lease_ms, renew, cache);
    *out = cache;
    return ERR_OK;
}

void cache_close(struct cache *cache)
{
    if (!cache) return;
    lease_keeper_free(cache->keeper);
    links_free(&cache->links);
    g_free(cache->prefix);
    g_free(cache);
}
