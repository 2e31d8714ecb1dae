/* The in-process cache of indexes.
 *
 * Each path has one entry. If a name has options of its own, each pair of name and path has a separate entry. If a
 * caller denies further columns, each set of these columns has a separate entry. An index must not depend on a column
 * that its reader may not read.
 *
 * At most one thread works on an entry (checks the fingerprint or builds); other threads wait. The fingerprint is
 * checked at most once in 100 ms, so a busy worker does not call stat for each candidate. A rebuild replaces the
 * entry's reference; holders of the old index keep it.
 *
 * Entries are small and stay in the cache. If there are many, entries without an index are removed, because clients can
 * send any number of schemas. When the indexes exceed max_bytes, the cache drops the least recently used ones.
 *
 * pthread locks are used instead of GLib's, because ThreadSanitizer supports them.
 */
#include "lib/schema/schema_int.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int64_t CHECK_INTERVAL_NS = 100 * 1000000LL, FAILURE_NS = 1000 * 1000000LL;
enum { MANY_ENTRIES = 4096 };
static const uint64_t DEFAULT_MAX_BYTES = 1ULL << 30;

struct cache_entry {
    struct schema_index *index; /* a counted reference, or NULL */
    bool busy;                  /* true while a thread works on the entry */
    unsigned waiting;           /* number of threads waiting for `busy` to clear */
    int64_t checked_ns, used_ns;
    struct err failure; /* the cached error; code ERR_OK if there is none */
    int64_t failed_ns;
};

struct schema_cache {
    pthread_mutex_t lock;
    pthread_cond_t not_busy; /* signalled when an entry is no longer busy */
    GHashTable *entries;     /* path or key_of → struct cache_entry */
    struct schema_options options;
    GHashTable *own; /* name → struct schema_options of databases with their own options */
    char *descriptions_dir;
    uint64_t bytes, max_bytes;
    struct schema_cache_stats stats; /* current counts; `bytes` is not set here */
    schema_build_fn *build;
    void *build_ctx;
};

static void entry_free(void *p)
{
    struct cache_entry *entry = p;
    schema_unref(entry->index);
    g_free(entry);
}

static enum err_code build_here(void *ctx, struct db *db, const char *db_name, const char *path,
                                const struct schema_options *options, struct schema_index **out, struct err *err)
{
    (void)ctx;
    return schema_build(db, db_name, path, options, out, err);
}

struct schema_cache *schema_cache_new(const struct schema_options *options, uint64_t max_bytes)
{
    struct schema_cache *cache = g_new0(struct schema_cache, 1);
    pthread_mutex_init(&cache->lock, NULL);
    clock_cond_init(&cache->not_busy);
    cache->entries = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, entry_free);
    cache->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (options) cache->options = *options;
    cache->descriptions_dir = g_strdup(cache->options.descriptions_dir);
    cache->options.descriptions_dir = cache->descriptions_dir;
    cache->max_bytes = max_bytes ? max_bytes : DEFAULT_MAX_BYTES;
    cache->build = build_here;
    return cache;
}

void schema_cache_build_with(struct schema_cache *cache, schema_build_fn *build, void *ctx)
{
    cache->build = build;
    cache->build_ctx = ctx;
}

void schema_cache_options_for(struct schema_cache *cache, const char *db_name, const struct schema_options *options)
{
    g_hash_table_replace(cache->own, g_strdup(db_name), g_memdup2(options, sizeof *options));
}

const struct schema_options *schema_cache_options(const struct schema_cache *cache, const char *db_name)
{
    const struct schema_options *own = g_hash_table_lookup(cache->own, db_name);
    return own ? own : &cache->options;
}

void schema_cache_free(struct schema_cache *cache)
{
    if (!cache) return;
    g_hash_table_destroy(cache->entries);
    g_hash_table_destroy(cache->own);
    pthread_cond_destroy(&cache->not_busy);
    pthread_mutex_destroy(&cache->lock);
    g_free(cache->descriptions_dir);
    g_free(cache);
}

/* --- with the lock held ------------------------------------------------------------------------------------------- */

/* Names an index and the options of its build. */
struct index_request {
    const char *db_name, *path;
    struct schema_options options;
    bool own;     /* true if the name has options of its own */
    bool denying; /* the caller denies columns beyond those of the name's options */
};

/* Returns the key of an entry. A file may have several names with different policies, and an index of one name must not
 * be returned for another. The parts of a key cannot be confused: no database name contains a newline, and a length
 * precedes each denied name. Returns NULL if the path is the key. Free with g_free. */
static char *key_of(const struct index_request *request)
{
    if (!request->own && !request->denying) return NULL;
    GString *key = g_string_new(request->db_name);
    g_string_append_printf(key, "\n%s", request->path);
    for (uint32_t i = 0; request->denying && i < request->options.n_deny_columns; i++)
        g_string_append_printf(key, "\n%zu %s", strlen(request->options.deny_columns[i]),
                               request->options.deny_columns[i]);
    return g_string_free(key, FALSE);
}

static gboolean is_forgotten(void *key, void *value, void *ctx)
{
    (void)key, (void)ctx;
    const struct cache_entry *entry = value;
    return !entry->index && !entry->busy && !entry->waiting;
}

static struct cache_entry *entry_of(struct schema_cache *cache, const struct index_request *request)
{
    char *own = key_of(request);
    struct cache_entry *entry = g_hash_table_lookup(cache->entries, own ? own : request->path);
    if (entry) {
        g_free(own);
        return entry;
    }
    if (g_hash_table_size(cache->entries) >= MANY_ENTRIES)
        g_hash_table_foreach_remove(cache->entries, is_forgotten, NULL);
    entry = g_new0(struct cache_entry, 1);
    g_hash_table_insert(cache->entries, own ? own : g_strdup(request->path), entry);
    return entry;
}

static void drop_index(struct schema_cache *cache, struct cache_entry *entry)
{
    if (!entry->index) return;
    cache->bytes -= entry->index->bytes;
    cache->stats.indexes--;
    schema_unref(entry->index);
    entry->index = NULL;
}

static struct cache_entry *least_recent(struct schema_cache *cache, const struct cache_entry *but)
{
    GHashTableIter iter;
    void *value;
    struct cache_entry *oldest = NULL;
    g_hash_table_iter_init(&iter, cache->entries);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct cache_entry *entry = value;
        if (!entry->index || entry->busy || entry == but) continue;
        if (!oldest || entry->used_ns < oldest->used_ns) oldest = entry;
    }
    return oldest;
}

static void put_index(struct schema_cache *cache, struct cache_entry *entry, struct schema_index *index)
{
    drop_index(cache, entry);
    entry->index = index;
    cache->bytes += index->bytes;
    cache->stats.indexes++;
    struct cache_entry *victim;
    while (cache->bytes > cache->max_bytes && (victim = least_recent(cache, entry)) != NULL) {
        drop_index(cache, victim);
        cache->stats.evicted++;
    }
}

/* True if another call would fail in the same way. */
static bool is_lasting(enum err_code code)
{
    return code != ERR_CANCELLED && code != ERR_DEADLINE && err_class(code) == ERR_CLASS_REJECT;
}

static void note_failure(struct cache_entry *entry, enum err_code code, const struct err *err)
{
    entry->failure = (struct err){0};
    if (!is_lasting(code)) return;
    entry->failure = *err;
    entry->failed_ns = clock_now_ns();
}

/* --- without the lock, on a busy entry ---------------------------------------------------------------------------- */

/* Checks whether the index has the current fingerprint; if not, builds a new one and sets *fresh to a reference.
 */
static enum err_code look_or_build(struct schema_cache *cache, struct db *db, const struct index_request *request,
                                   const struct schema_index *have, struct schema_index **fresh, struct err *err)
{
    *fresh = NULL;
    if (have) {
        char now[33];
        enum err_code code = db_fingerprint(db, now, err);
        if (code || strcmp(now, have->fingerprint) == 0) return code;
    }
    return cache->build(cache->build_ctx, db, request->db_name, request->path, &request->options, fresh, err);
}

/* Checks or rebuilds the entry. The caller holds the lock. The function releases the lock while it works, and holds it
 * again on return. */
static enum err_code refresh(struct schema_cache *cache, struct cache_entry *entry, struct db *db,
                             const struct index_request *request, struct err *err)
{
    struct schema_index *have = entry->index, *fresh; /* a busy entry is not evicted */
    entry->busy = true;
    pthread_mutex_unlock(&cache->lock);
    enum err_code code = look_or_build(cache, db, request, have, &fresh, err);
    pthread_mutex_lock(&cache->lock);
    entry->busy = false;
    entry->checked_ns = clock_now_ns();
    note_failure(entry, code, err);
    if (fresh) put_index(cache, entry, fresh);
    cache->stats.misses += fresh != NULL;
    cache->stats.hits += !fresh && !code;
    pthread_cond_broadcast(&cache->not_busy);
    return code;
}

/* True if the entry is up to date. *code is then its result. */
static bool is_fresh(const struct cache_entry *entry, int64_t now, enum err_code *code, struct err *err)
{
    *code = ERR_OK;
    if (entry->failure.code && now - entry->failed_ns < FAILURE_NS) {
        *err = entry->failure;
        *code = entry->failure.code;
        return true;
    }
    return !entry->failure.code && entry->index && now - entry->checked_ns < CHECK_INTERVAL_NS;
}

/* Waits until no thread works on the entry. Returns false if the deadline passes first. deadline_ns 0 means no
 * deadline.
 */
static bool wait_for_others(struct schema_cache *cache, struct cache_entry *entry, int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - clock_now_ns();
    struct timespec due = clock_after_ns(MAX(left_ns, 0));
    int late = 0;
    entry->waiting++;
    while (entry->busy && !late)
        late = deadline_ns ? pthread_cond_timedwait(&cache->not_busy, &cache->lock, &due)
                           : pthread_cond_wait(&cache->not_busy, &cache->lock);
    entry->waiting--;
    return !entry->busy;
}

static enum err_code get_requested(struct schema_cache *cache, struct db *db, const struct index_request *request,
                                   struct schema_index **out, struct err *err)
{
    struct err own;
    if (!err) err = &own;
    *out = NULL;
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = entry_of(cache, request);
    entry->used_ns = clock_now_ns();
    enum err_code code;
    if (!wait_for_others(cache, entry, db_get_deadline(db)))
        code = err_set(err, ERR_DEADLINE, "the deadline passed while another thread worked on the schema index");
    else if (!is_fresh(entry, clock_now_ns(), &code, err))
        code = refresh(cache, entry, db, request, err);
    else
        cache->stats.hits += !code;
    cache->stats.failures += code != ERR_OK;
    if (!code) *out = schema_ref(entry->index);
    pthread_mutex_unlock(&cache->lock);
    return code;
}

static struct index_request make_request(const struct schema_cache *cache, const char *db_name, const char *path)
{
    const struct schema_options *options = schema_cache_options(cache, db_name);
    return (struct index_request){
        .db_name = db_name, .path = path, .options = *options, .own = options != &cache->options};
}

enum err_code schema_cache_get(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                               struct schema_index **out, struct err *err)
{
    struct index_request request = make_request(cache, db_name, path);
    return get_requested(cache, db, &request, out, err);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names and removes duplicates, so that equal sets have one key. */
static uint32_t sort_names(const char **names, uint32_t n)
{
    uint32_t kept = 0;
    qsort(names, n, sizeof *names, by_name);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0) names[kept++] = names[i];
    return kept;
}

static bool holds_name(const struct schema_options *options, const char *name)
{
    for (uint32_t i = 0; i < options->n_deny_columns; i++)
        if (strcmp(options->deny_columns[i], name) == 0) return true;
    return false;
}

enum err_code schema_cache_get_denying(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                                       const char *const *names, uint32_t n, struct schema_index **out, struct err *err)
{
    struct index_request request = make_request(cache, db_name, path);
    const struct schema_options *options = &request.options;
    uint32_t own = options->n_deny_columns;
    for (uint32_t i = 0; i < n && !options->deny_hides; i++) request.denying |= !holds_name(options, names[i]);
    if (!request.denying) return get_requested(cache, db, &request, out, err);
    const char **all = g_new(const char *, own + n);
    for (uint32_t i = 0; i < own + n; i++) all[i] = i < own ? options->deny_columns[i] : names[i - own];
    request.options.n_deny_columns = sort_names(all, own + n);
    request.options.deny_columns = all;
    request.options.keep_here = true; /* a shared cache would keep pointers to the names */
    enum err_code code = get_requested(cache, db, &request, out, err);
    g_free(all);
    return code;
}

void schema_cache_get_stats(struct schema_cache *cache, struct schema_cache_stats *out)
{
    pthread_mutex_lock(&cache->lock);
    *out = cache->stats;
    out->bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
}
