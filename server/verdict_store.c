/* Stores verdicts in a SQLite file with one writer thread.
 *
 * verdict_store_put appends to a queue with a limit in bytes. The thread takes the whole queue and writes it in one
 * transaction, then deletes the oldest verdicts beyond max_bytes. Readers use a second connection with its own lock, so
 * they do not wait for the writer. A lock on a byte of the file prevents two processes from using the same file.
 * Failures of the file are counted, and the first one is logged.
 */
#include "server/verdict_store.h"

#include "lib/base/log.h"
#include "lib/base/sqlite_reason.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    APPLICATION_ID = 0x41737679 /* "Asvy" */,
    FORMAT_VERSION = 1,
    MAX_QUEUED_BYTES = 32 << 20,
    BUSY_MS = 2000,
    LOCK_BYTE = 0x40000200
};

/* A verdict in the queue. */
struct entry {
    char *tenant, *id;
    GBytes *json;
};

struct verdict_store {
    char *path;
    int fd; /* descriptor with the lock */
    size_t max_bytes;
    pthread_t thread;
    bool running;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t more;
    GQueue queue; /* struct entry */
    size_t queued_bytes;
    bool closing;
    struct verdict_store_stats stats;
    sqlite3 *writer; /* used by the thread, and by open and close */
    sqlite3_stmt *insert, *forget;
    pthread_mutex_t reading; /* protects the two fields below */
    sqlite3 *reader;
    sqlite3_stmt *find;
};

/* --- the file --- */

static enum err_code refuse(const struct verdict_store *store, sqlite3 *db, const char *what, struct err *err)
{
    int rc = sqlite3_errcode(db) & 0xFF;
    return err_set(err, rc == SQLITE_BUSY || rc == SQLITE_LOCKED ? ERR_DB_LOCKED : ERR_IO, "%s: %s: %s", store->path,
                   what, sqlite3_errmsg(db));
}

static enum err_code open_db(const struct verdict_store *store, int flags, sqlite3 **out, struct err *err)
{
    if (sqlite3_open_v2(store->path, out, flags | SQLITE_OPEN_NOMUTEX, NULL))
        return refuse(store, *out, "cannot be opened", err);
    sqlite3_busy_timeout(*out, BUSY_MS);
    return ERR_OK;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    int64_t value = -1;
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

/* Checks that the file is new or has this format. Any other file is left unchanged. */
static enum err_code check_format(const struct verdict_store *store, sqlite3 *db, struct err *err)
{
    int64_t id = number(db, "PRAGMA application_id"), version = number(db, "PRAGMA user_version");
    bool fresh = id == 0 && version == 0 && number(db, "SELECT count(*) FROM sqlite_master") == 0;
    if (fresh || (id == APPLICATION_ID && version == FORMAT_VERSION)) return ERR_OK;
    if (sqlite3_errcode(db) == SQLITE_NOTADB || id < 0) return refuse(store, db, "cannot be read", err);
    return err_set(err, ERR_VERSION,
                   "%s is not a verdict file of version %d" ERR_HINT "name another file, or remove this one",
                   store->path, FORMAT_VERSION);
}

static enum err_code prepare_writer(struct verdict_store *store, struct err *err)
{
    static const char schema[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA application_id = "
                                 "1098086009; PRAGMA user_version = 1;"
                                 "CREATE TABLE IF NOT EXISTS verdict (n INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT "
                                 "NOT NULL, id TEXT NOT NULL,"
                                 " json BLOB NOT NULL, UNIQUE (tenant, id))";
    _Static_assert(APPLICATION_ID == 1098086009, "as in the schema");
    sqlite3 *db = store->writer;
    if (sqlite3_exec(db, schema, NULL, NULL, NULL)) return refuse(store, db, "cannot be written", err);
    if (sqlite3_prepare_v3(db, "INSERT OR REPLACE INTO verdict (tenant, id, json) VALUES (?, ?, ?)", -1,
                           SQLITE_PREPARE_PERSISTENT, &store->insert, NULL) ||
        sqlite3_prepare_v3(db, "DELETE FROM verdict WHERE n IN (SELECT n FROM verdict ORDER BY n LIMIT 100)", -1,
                           SQLITE_PREPARE_PERSISTENT, &store->forget, NULL))
        return refuse(store, db, "unexpected schema", err);
    store->stats.bytes = (uint64_t)number(db, "SELECT coalesce(sum(length(json)), 0) FROM verdict");
    return ERR_OK;
}

static enum err_code prepare_reader(struct verdict_store *store, struct err *err)
{
    enum err_code code = open_db(store, SQLITE_OPEN_READONLY, &store->reader, err);
    if (!code && sqlite3_prepare_v3(store->reader, "SELECT json FROM verdict WHERE tenant = ? AND id = ?", -1,
                                    SQLITE_PREPARE_PERSISTENT, &store->find, NULL))
        code = refuse(store, store->reader, "cannot be read", err);
    return code;
}

/* Creates the file with mode 0600, since SQLite would create it with wider rights. Then locks it until the store closes
 * or the process ends. Two processes would delete each other's verdicts, since each counts only its own bytes. The lock
 * belongs to the open file, not to the process. Its byte follows the bytes that SQLite locks, so the two locks do not
 * conflict. */
static enum err_code take_file(struct verdict_store *store, struct err *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    store->fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (store->fd < 0) return err_set(err, ERR_IO, "%s: %s", store->path, g_strerror(errno));
    if (fcntl(store->fd, F_OFD_SETLK, &lock) == 0) return ERR_OK;
    if (errno == EAGAIN || errno == EACCES)
        return err_set(err, ERR_DB_LOCKED,
                       "%s is in use by another process" ERR_HINT "stop that process, or name another file",
                       store->path);
    return err_set(err, ERR_IO, "cannot lock %s: %s", store->path, g_strerror(errno));
}

/* --- writing --- */

static void entry_free(gpointer data)
{
    struct entry *entry = data;
    g_free(entry->tenant);
    g_free(entry->id);
    g_bytes_unref(entry->json);
    g_free(entry);
}

static bool insert(struct verdict_store *store, const struct entry *entry)
{
    gsize len;
    const void *json = g_bytes_get_data(entry->json, &len);
    sqlite3_bind_text(store->insert, 1, entry->tenant, -1, SQLITE_STATIC);
    sqlite3_bind_text(store->insert, 2, entry->id, -1, SQLITE_STATIC);
    sqlite3_bind_blob64(store->insert, 3, json, len, SQLITE_STATIC);
    bool done = sqlite3_step(store->insert) == SQLITE_DONE;
    sqlite3_reset(store->insert);
    sqlite3_clear_bindings(store->insert);
    return done;
}

/* Deletes the oldest verdicts, a hundred at a time. Recalculates the sum of bytes, since replaced verdicts were not
 * subtracted from it. */
static uint64_t forget_oldest(struct verdict_store *store, uint64_t bytes)
{
    while (bytes > store->max_bytes) {
        bytes = (uint64_t)number(store->writer, "SELECT coalesce(sum(length(json)), 0) FROM verdict");
        if (bytes <= store->max_bytes) break;
        bool done = sqlite3_step(store->forget) == SQLITE_DONE;
        sqlite3_reset(store->forget);
        if (!done || sqlite3_changes(store->writer) == 0) break;
    }
    return bytes;
}

static void write_group(struct verdict_store *store, GQueue *group)
{
    char why[SQLITE_REASON_BYTES] = "";
    errno = 0;
    uint64_t written = 0, bytes = store->stats.bytes; /* only this thread changes it */
    bool begun = sqlite3_exec(store->writer, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    if (!begun) sqlite_reason(store->writer, why);
    for (GList *link = group->head; begun && link; link = link->next) {
        const struct entry *entry = link->data;
        if (!insert(store, entry)) {
            sqlite_reason(store->writer, why);
            continue;
        }
        written++;
        bytes += g_bytes_get_size(entry->json);
    }
    if (begun) bytes = forget_oldest(store, bytes);
    bool kept = begun && sqlite3_exec(store->writer, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (begun && !kept) {
        sqlite_reason(store->writer, why);
        sqlite3_exec(store->writer, "ROLLBACK", NULL, NULL, NULL);
    }
    pthread_mutex_lock(&store->lock);
    bool first = why[0] && !store->stats.failed;
    store->stats.written += kept ? written : 0;
    store->stats.failed += kept ? group->length - written : group->length;
    if (kept) store->stats.bytes = bytes;
    pthread_mutex_unlock(&store->lock);
    const struct log_field field = log_field_text("why", why);
    if (first) log_event(LOG_LEVEL_WARN, "verdict_store", &field, 1, "cannot write verdicts to the file of --keep");
}

static void *run(void *arg)
{
    struct verdict_store *store = arg;
    pthread_setname_np(pthread_self(), "verdicts");
    for (bool more = true; more;) {
        pthread_mutex_lock(&store->lock);
        while (!store->queue.length && !store->closing) pthread_cond_wait(&store->more, &store->lock);
        GQueue group = store->queue;
        g_queue_init(&store->queue);
        store->queued_bytes = 0;
        more = !store->closing;
        pthread_mutex_unlock(&store->lock);
        if (group.length) write_group(store, &group);
        g_queue_clear_full(&group, entry_free);
    }
    return NULL;
}

void verdict_store_put(struct verdict_store *store, const char *tenant, const char *id, GBytes *json)
{
    struct entry *entry = g_new0(struct entry, 1);
    entry->tenant = g_strdup(tenant);
    entry->id = g_strdup(id);
    entry->json = g_bytes_ref(json);
    pthread_mutex_lock(&store->lock);
    bool room = store->queued_bytes < MAX_QUEUED_BYTES;
    if (room) {
        store->queued_bytes += g_bytes_get_size(json);
        g_queue_push_tail(&store->queue, entry);
        pthread_cond_signal(&store->more);
    } else {
        store->stats.dropped++;
    }
    pthread_mutex_unlock(&store->lock);
    if (!room) entry_free(entry);
}

/* --- reading --- */

GBytes *verdict_store_find(struct verdict_store *store, const char *tenant, const char *id)
{
    GBytes *json = NULL;
    pthread_mutex_lock(&store->reading);
    sqlite3_bind_text(store->find, 1, tenant, -1, SQLITE_STATIC);
    sqlite3_bind_text(store->find, 2, id, -1, SQLITE_STATIC);
    if (sqlite3_step(store->find) == SQLITE_ROW) {
        /* read the blob before its length: SQLite requires this order */
        const void *bytes = sqlite3_column_blob(store->find, 0);
        json = g_bytes_new(bytes, (gsize)sqlite3_column_bytes(store->find, 0));
    }
    sqlite3_reset(store->find);
    sqlite3_clear_bindings(store->find);
    pthread_mutex_unlock(&store->reading);
    return json;
}

void verdict_store_get_stats(struct verdict_store *store, struct verdict_store_stats *out)
{
    pthread_mutex_lock(&store->lock);
    *out = store->stats;
    pthread_mutex_unlock(&store->lock);
}

/* --- open, close --- */

static enum err_code start(struct verdict_store *store, struct err *err)
{
    enum err_code code = take_file(store, err);
    if (!code) code = open_db(store, SQLITE_OPEN_READWRITE, &store->writer, err);
    if (!code) code = check_format(store, store->writer, err);
    if (!code) code = prepare_writer(store, err);
    if (!code) code = prepare_reader(store, err);
    if (!code && pthread_create(&store->thread, NULL, run, store))
        code = err_set(err, ERR_NOMEM, "cannot create the thread of the verdict file");
    store->running = !code;
    return code;
}

enum err_code verdict_store_open(const char *path, size_t max_bytes, struct verdict_store **out, struct err *err)
{
    struct verdict_store *store = g_new0(struct verdict_store, 1);
    store->path = g_strdup(path);
    store->max_bytes = max_bytes;
    store->fd = -1;
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->reading, NULL);
    pthread_cond_init(&store->more, NULL);
    enum err_code code = start(store, err);
    if (code) {
        verdict_store_close(store);
        store = NULL;
    }
    *out = store;
    return code;
}

void verdict_store_close(struct verdict_store *store)
{
    if (!store) return;
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_signal(&store->more);
    pthread_mutex_unlock(&store->lock);
    if (store->running) pthread_join(store->thread, NULL);
    sqlite3_finalize(store->insert);
    sqlite3_finalize(store->forget);
    sqlite3_finalize(store->find);
    sqlite3_close(store->writer);
    sqlite3_close(store->reader);
    /* last, since closing a descriptor also releases SQLite's locks in this process */
    if (store->fd >= 0) close(store->fd);
    pthread_cond_destroy(&store->more);
    pthread_mutex_destroy(&store->reading);
    pthread_mutex_destroy(&store->lock);
    g_free(store->path);
    g_free(store);
}
