/* DESIGN: a small table of open databases for each worker lane. The least recently used one is closed when the table is
 * full.
 *
 * A handle is opened on first use and stays open for later tasks, with its result cache. A schema without data also has
 * a handle, under a name that no database can have. Only the lane uses its handles. Another thread may interrupt the
 * current one, so closing takes a lock.
 */
#include "worker/internal.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX = 16 };

enum err_code handles_init(struct handles *handles, const struct worker_config *config)
{
    *handles = (struct handles){.max = config->max_databases ? config->max_databases : DEFAULT_MAX};
    if (config->executor) handles->executor = executor_new(config->executor);
    pthread_mutex_init(&handles->closing, NULL);
    handles->items = calloc(handles->max, sizeof *handles->items);
    return handles->items ? ERR_OK : ERR_NOMEM;
}

static void handle_close(struct handle *handle)
{
    db_close(handle->db);
    db_memo_free(handle->memo);
    free(handle->name);
    free(handle->path);
    *handle = (struct handle){0};
}

static void close_handle(struct handles *handles, struct handle *handle)
{
    struct db *own = handle->db;
    pthread_mutex_lock(&handles->closing);
    atomic_compare_exchange_strong(&handles->current, &own, NULL);
    handle_close(handle);
    pthread_mutex_unlock(&handles->closing);
}

/* INVARIANT open: a handle is not closed while it is being interrupted. Closing may take seconds, during which no
 * statement runs. If the lock is taken, the function therefore returns without interrupting anything. */
void handles_interrupt(struct handles *handles)
{
    if (pthread_mutex_trylock(&handles->closing)) return;
    struct db *db = atomic_load(&handles->current);
    if (db) db_interrupt(db);
    pthread_mutex_unlock(&handles->closing);
}

void handles_free(struct handles *handles)
{
    if (!handles->max) return; /* the struct was never initialized */
    for (uint32_t i = 0; i < handles->n; i++) close_handle(handles, &handles->items[i]);
    executor_free(handles->executor);
    free(handles->items);
    pthread_mutex_destroy(&handles->closing);
    *handles = (struct handles){0};
}

void handles_drop(struct handles *handles, struct handle *handle)
{
    close_handle(handles, handle);
    *handle = handles->items[--handles->n];
    handles->items[handles->n] = (struct handle){0};
}

static struct handle *find(struct handles *handles, const char *name)
{
    for (uint32_t i = 0; i < handles->n; i++)
        if (strcmp(handles->items[i].name, name) == 0) return &handles->items[i];
    return NULL;
}

/* Returns the worker's limits with those of the database's entry instead, where they are set. */
static struct db_limits limits_of(const struct worker_config *config, const char *name)
{
    const struct worker_database *entry = worker_database_find(&config->databases, name);
    struct db_limits limits = config->limits;
    if (!entry) return limits;
    const struct db_limits *own = &entry->limits;
    if (own->time_ms) {
        limits.time_ms = own->time_ms;
        limits.by_steps = false; /* an owner who sets time_ms limits time, not steps */
    }
    if (own->max_rows) limits.max_rows = own->max_rows;
    if (own->max_bytes) limits.max_bytes = own->max_bytes;
    if (own->max_cost > 0) limits.max_cost = own->max_cost;
    return limits;
}

static enum err_code open_database(struct handles *handles, const char *path, const struct db_limits *limits,
                                   struct db **out, struct err *err)
{
    return handles->executor ? executor_open(handles->executor, path, limits, out, err)
                             : db_open(path, limits, out, err);
}

static void make_room(struct handles *handles)
{
    struct handle *oldest = &handles->items[0];
    for (uint32_t i = 1; i < handles->n; i++)
        if (handles->items[i].used < oldest->used) oldest = &handles->items[i];
    handles_drop(handles, oldest);
}

static struct handle *keep(struct handles *handles, const struct handle *fresh)
{
    if (handles->n == handles->max) make_room(handles);
    struct handle *handle = &handles->items[handles->n++];
    *handle = *fresh;
    handle->memo = db_memo_new();
    return handle;
}

void handles_remember(struct handle *handle, const char fingerprint[33], bool again)
{
    bool same = strcmp(handle->memo_of, fingerprint) == 0;
    if (!same || (!again && !db_is_file(handle->path)))
        db_memo_clear(handle->memo);
    else if (!again)
        db_memo_make_room(handle->memo);
    memcpy(handle->memo_of, fingerprint, sizeof handle->memo_of);
    db_set_memo(handle->db, handle->memo);
}

static void hand_out(struct handles *handles, struct handle *handle, struct handle **out)
{
    handle->used = ++handles->tick;
    atomic_store_explicit(&handles->current, handle->db, memory_order_release);
    *out = handle;
}

enum err_code handles_get(struct handles *handles, const struct worker_config *config, const char *name,
                          struct handle **out, struct err *err)
{
    struct handle *handle = find(handles, name);
    if (!handle) {
        struct handle fresh = {.name = strdup(name)};
        enum err_code code = fresh.name ? worker_database_path(&config->databases, name, &fresh.path, err) : ERR_NOMEM;
        struct db_limits limits = limits_of(config, name);
        if (!code) code = open_database(handles, fresh.path, &limits, &fresh.db, err);
        if (code) {
            handle_close(&fresh);
            return code;
        }
        handle = keep(handles, &fresh);
    }
    hand_out(handles, handle, out);
    return ERR_OK;
}

/* Opens a schema. The handle's path has the prefix of schemas, here and in every cache, so it is neither a file nor a
 * server. The handle's name starts with a line break, unlike that of any database. The text itself would also be
 * unique, but is long. */
static enum err_code open_schema(struct handles *handles, const struct worker_config *config, const char *name,
                                 const char *text, struct handle *out, struct err *err)
{
    char *path = NULL;
    struct err why = {0};
    *out = (struct handle){.name = strdup(name), .path = strdup(name + 1)};
    if (!out->name || !out->path || asprintf(&path, DB_SCHEMA_PREFIX "%s", text) < 0)
        return err_set(err, ERR_NOMEM, "no memory for a schema");
    enum err_code code = open_database(handles, path, &config->limits, &out->db, &why);
    free(path);
    if (code && err_class(code) == ERR_CLASS_REJECT) return err_set(err, ERR_SCHEMA, "%s", why.text);
    if (code && err) *err = why;
    return code;
}

enum err_code handles_get_schema(struct handles *handles, const struct worker_config *config, const char *text,
                                 struct handle **out, struct err *err)
{
    char name[sizeof "\n" DB_SCHEMA_PREFIX + 32] = "\n" DB_SCHEMA_PREFIX;
    db_schema_digest(text, strlen(text), name + strlen(name));
    struct handle *handle = find(handles, name);
    if (!handle) {
        struct handle fresh;
        enum err_code code = open_schema(handles, config, name, text, &fresh, err);
        if (code) {
            handle_close(&fresh);
            return code;
        }
        handle = keep(handles, &fresh);
    }
    hand_out(handles, handle, out);
    return ERR_OK;
}
