/* Tracks the abandoned statements of the process: those whose connection it closed while the server still ran them.
 *
 * They are stored by the path of the database, because the handles may be closed earlier. A server may reuse a session
 * number. So the query to the server also requires that the session's current statement began before the connection was
 * closed.
 */
#include "lib/db/db_engine.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <string.h>

enum { ASK_MS = 1000, MOST = 1000 };

struct session {
    int64_t id, since_ns;
};

struct database {
    GArray *sessions; /* array of struct session */
    uint64_t ever;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *databases; /* path → struct database; NULL until the first entry */

static void database_free(void *database)
{
    g_array_free(((struct database *)database)->sessions, TRUE);
    g_free(database);
}

void abandoned_note(const char *path, int64_t id)
{
    struct session session = {id, clock_now_ns()};
    pthread_mutex_lock(&lock);
    if (!databases) databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, database_free);
    struct database *database = g_hash_table_lookup(databases, path);
    if (!database) {
        database = g_new0(struct database, 1);
        database->sessions = g_array_new(FALSE, FALSE, sizeof session);
        g_hash_table_insert(databases, g_strdup(path), database);
    }
    database->ever++;
    if (database->sessions->len < MOST) g_array_append_val(database->sessions, session);
    pthread_mutex_unlock(&lock);
}

static struct database *find(const char *path)
{
    return databases ? g_hash_table_lookup(databases, path) : NULL;
}

struct db_abandoned db_abandoned(const char *path)
{
    pthread_mutex_lock(&lock);
    const struct database *database = find(path);
    struct db_abandoned count = {database ? database->sessions->len : 0, database ? database->ever : 0};
    pthread_mutex_unlock(&lock);
    return count;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static GArray *copy_sessions(const char *path)
{
    GArray *copy = g_array_new(FALSE, FALSE, sizeof(struct session));
    pthread_mutex_lock(&lock);
    const struct database *database = find(path);
    if (database) g_array_append_vals(copy, database->sessions->data, database->sessions->len);
    pthread_mutex_unlock(&lock);
    return copy;
}

static bool has(const GArray *sessions, const struct session *session)
{
    for (guint i = 0; i < sessions->len; i++) {
        const struct session *other = &g_array_index(sessions, struct session, i);
        if (other->id == session->id && other->since_ns == session->since_ns) return true;
    }
    return false;
}

/* Removes the sessions in `asked` that are not in `running`. Does not remove sessions that were added after `asked` was
 * copied. */
static void forget(const char *path, const GArray *asked, const GHashTable *running)
{
    pthread_mutex_lock(&lock);
    GArray *sessions = find(path)->sessions;
    for (guint i = sessions->len; i-- > 0;) {
        const struct session *session = &g_array_index(sessions, struct session, i);
        bool runs = g_hash_table_contains((GHashTable *)running, &session->id);
        if (!runs && has(asked, session)) g_array_remove_index_fast(sessions, i);
    }
    pthread_mutex_unlock(&lock);
}

static bool note_running(void *ctx, const struct db_value *row, uint32_t n)
{
    if (n != 1 || row[0].type != DB_INT) return true;
    int64_t *id = g_new(int64_t, 1);
    *id = row[0].i;
    g_hash_table_add(ctx, id);
    return true;
}

static char *query_of(const struct db_engine *engine, const GArray *sessions)
{
    GString *sql = g_string_new(engine->running_from);
    int64_t now = clock_now_ns();
    for (guint i = 0; i < sessions->len; i++) {
        const struct session *session = &g_array_index(sessions, struct session, i);
        g_string_append(sql, i ? " OR (" : "(");
        engine->append_running(sql, session->id, (now - session->since_ns) / 1000000);
        g_string_append_c(sql, ')');
    }
    g_string_append_c(sql, ')');
    return g_string_free(sql, FALSE);
}

static enum err_code ask(const char *path, const GArray *sessions, GHashTable *running, struct err *err)
{
    const struct db_limits limits = {.time_ms = ASK_MS};
    struct db *db = NULL;
    enum err_code code = db_open(path, &limits, &db, err);
    if (code) return code;
    char *sql = query_of(db->engine, sessions);
    code = db_scan(db, sql, note_running, running, err);
    g_free(sql);
    db_close(db);
    return code;
}

enum err_code db_abandoned_ask(const char *path, struct err *err)
{
    GArray *sessions = copy_sessions(path);
    GHashTable *running = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    enum err_code code = sessions->len ? ask(path, sessions, running, err) : ERR_OK;
    if (!code && sessions->len) forget(path, sessions, running);
    g_hash_table_destroy(running);
    g_array_free(sessions, TRUE);
    return code;
}
