/* DESIGN: a table of watched databases, and one thread that inspects them one after the other.
 *
 * Workers add a database to the table when they judge it. Only the thread removes it, once it is idle. The thread uses
 * its own handles. The lock guards the table and the two fields that workers use. It is not held during an inspection.
 */
#include "worker/db_states.h"

#include "lib/base/clock.h"
#include "lib/schema/blob.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

enum { LOOK_MS = 1000, STATE_MS = 5000, IDLE_MS = 600000, MAX_WATCHED = 1024 };
static const int64_t MS = 1000000;

/* A database that the thread inspects. */
struct watched {
    char *path;
    int64_t used_ns; /* guarded by the lock, like the next field */
    bool tells;      /* the database was inspected, and its fingerprint shows every change */
    struct db *db;   /* the thread's handle; NULL until it is opened */
};

struct db_states {
    struct cache_verdicts *redis;
    struct worker_config worker;
    pthread_t thread;
    bool runs;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;     /* guarded by the lock, like the fields below */
    bool has_new;      /* true if there are databases that were not inspected yet */
    GHashTable *names; /* name → struct watched; only the thread removes entries */
};

/* --- computing a state --- */

static void add_limits(GString *text, const struct db_limits *limits)
{
    g_string_append_printf(text, " %lld %lld %d %u %llu %llu %u %u %.17g", (long long)limits->time_ms,
                           (long long)limits->max_steps, limits->by_steps, limits->max_rows,
                           (unsigned long long)limits->max_bytes, (unsigned long long)limits->value_bytes,
                           limits->sql_bytes, limits->expr_depth, limits->max_cost);
}

static void add_signals(GString *text, const struct vsig_options *signals)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) {
        const struct vsig_option *option = all[i]->options;
        g_string_append_printf(text, " %u:%d", (unsigned)all[i]->id, signals->enabled[all[i]->id]);
        for (unsigned k = 0; option && option[k].name; k++)
            g_string_append_printf(text, ",%.17g", signals->values[all[i]->id][k]);
    }
}

static void state_of(const struct db_states *states, const char *name, const char *path, const char fingerprint[33],
                     char out[STATE_TEXT])
{
    const struct worker_config *worker = &states->worker;
    const struct worker_database *entry = worker_database_find(&worker->databases, name);
    char key[33];
    schema_blob_key(fingerprint, path, schema_cache_options(worker->schemas, name), key);
    GString *text = g_string_new(key);
    g_string_append_printf(text, " %d", entry ? (int)entry->expose : -1);
    add_limits(text, &worker->limits);
    if (entry) add_limits(text, &entry->limits);
    add_signals(text, worker->signals);
    XXH128_hash_t hash = XXH3_128bits(text->str, text->len);
    g_string_free(text, TRUE);
    g_snprintf(out, STATE_TEXT, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static void watched_free(gpointer p)
{
    struct watched *watched = p;
    db_close(watched->db);
    g_free(watched->path);
    g_free(watched);
}

bool db_states_of(struct db_states *states, const struct db *db, const char *name, const char *path,
                  const char fingerprint[33], char out[STATE_TEXT])
{
    pthread_mutex_lock(&states->lock);
    struct watched *watched = g_hash_table_lookup(states->names, name);
    if (!watched && g_hash_table_size(states->names) < MAX_WATCHED) {
        watched = g_new0(struct watched, 1);
        watched->path = g_strdup(path);
        g_hash_table_insert(states->names, g_strdup(name), watched);
        states->has_new = true;
        pthread_cond_signal(&states->changed);
    }
    if (watched) watched->used_ns = clock_now_ns();
    /* the thread may not have inspected the database yet */
    bool tells = watched && (watched->tells || db_tells_changes(db));
    pthread_mutex_unlock(&states->lock);
    if (tells) state_of(states, name, path, fingerprint, out);
    return tells;
}

/* --- the thread --- */

/* Inspects a database and writes its state. After an error, such as a replaced file or a lost server, closes the
 * handle; the next inspection opens it again. */
static enum err_code look(const struct db_states *states, const char *name, struct watched *watched,
                          char out[STATE_TEXT])
{
    char fingerprint[33];
    enum err_code code = watched->db ? ERR_OK : db_open(watched->path, &states->worker.limits, &watched->db, NULL);
    if (!code) code = db_fingerprint(watched->db, fingerprint, NULL);
    if (!code && !db_tells_changes(watched->db)) code = ERR_DB_UNAVAILABLE;
    if (!code) {
        state_of(states, name, watched->path, fingerprint, out);
        return ERR_OK;
    }
    db_close(watched->db);
    watched->db = NULL;
    return code;
}

/* Inspects a database and publishes its state. If the inspection took longer than STATE_MS, the state may be outdated
 * and is removed instead. */
static void look_and_publish(struct db_states *states, const char *name, struct watched *watched)
{
    char state[STATE_TEXT];
    int64_t started = clock_now_ns();
    enum err_code code = look(states, name, watched, state);
    pthread_mutex_lock(&states->lock);
    watched->tells = !code;
    pthread_mutex_unlock(&states->lock);
    int64_t left_ms = STATE_MS - (clock_now_ns() - started) / MS;
    cache_verdicts_publish(states->redis, name, !code && left_ms > 0 ? state : NULL, left_ms);
}

static gboolean is_idle(gpointer name, gpointer value, gpointer now_ns)
{
    (void)name;
    return *(const int64_t *)now_ns - ((const struct watched *)value)->used_ns > IDLE_MS * MS;
}

/* Removes idle databases and returns the names of the others. The names stay valid, because only this thread removes
 * entries. */
static GPtrArray *names_of(struct db_states *states)
{
    GPtrArray *names = g_ptr_array_new();
    GHashTableIter iter;
    gpointer name;
    int64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&states->lock);
    states->has_new = false;
    g_hash_table_foreach_remove(states->names, is_idle, &now_ns);
    g_hash_table_iter_init(&iter, states->names);
    while (g_hash_table_iter_next(&iter, &name, NULL)) g_ptr_array_add(names, name);
    pthread_mutex_unlock(&states->lock);
    return names;
}

static struct watched *watched_by(struct db_states *states, const char *name)
{
    pthread_mutex_lock(&states->lock);
    struct watched *watched = states->stopping ? NULL : g_hash_table_lookup(states->names, name);
    pthread_mutex_unlock(&states->lock);
    return watched;
}

/* Waits until the next inspection is due or a database is new. Returns false if the thread must stop. */
static bool rest(struct db_states *states)
{
    struct timespec due = clock_after_ns(LOOK_MS * MS);
    pthread_mutex_lock(&states->lock);
    int late = 0;
    while (!states->stopping && !states->has_new && !late)
        late = pthread_cond_timedwait(&states->changed, &states->lock, &due);
    bool goes_on = !states->stopping;
    pthread_mutex_unlock(&states->lock);
    return goes_on;
}

static void *run(void *arg)
{
    struct db_states *states = arg;
    pthread_setname_np(pthread_self(), "db-states");
    while (rest(states)) {
        GPtrArray *names = names_of(states);
        struct watched *watched;
        for (guint i = 0; i < names->len && (watched = watched_by(states, names->pdata[i])); i++)
            look_and_publish(states, names->pdata[i], watched);
        g_ptr_array_free(names, TRUE);
    }
    return NULL;
}

/* --- open, close --- */

enum err_code db_states_open(const struct cache_config *redis, const struct worker_config *worker,
                             struct db_states **out, struct err *err)
{
    struct db_states *states = g_new0(struct db_states, 1);
    *out = NULL;
    states->worker = *worker;
    states->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, watched_free);
    pthread_mutex_init(&states->lock, NULL);
    clock_cond_init(&states->changed);
    enum err_code code = cache_verdicts_open(redis, &states->redis, err);
    if (!code) states->runs = pthread_create(&states->thread, NULL, run, states) == 0;
    if (!code && !states->runs) code = err_set(err, ERR_NOMEM, "cannot create a thread for database states");
    if (code)
        db_states_close(states);
    else
        *out = states;
    return code;
}

void db_states_close(struct db_states *states)
{
    if (!states) return;
    pthread_mutex_lock(&states->lock);
    states->stopping = true;
    pthread_cond_signal(&states->changed);
    pthread_mutex_unlock(&states->lock);
    if (states->runs) pthread_join(states->thread, NULL);
    cache_verdicts_close(states->redis);
    g_hash_table_destroy(states->names);
    pthread_cond_destroy(&states->changed);
    pthread_mutex_destroy(&states->lock);
    g_free(states);
}
