/* Implements a store in a SQLite file. The table `example` holds all data; `words` is its full-text index. */
#include "examples/file.h"

#include "lib/base/clock.h"
#include "lib/base/sqlite_reason.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { APPLICATION_ID = 0x41534558 /* "ASEX" */, BUSY_MS = 5000 };
static const int64_t LOOK_NS = 1000000000;
#define DATA_VERSION "PRAGMA data_version" /* changes when another connection commits */

static const char SCHEMA[] =
    "CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE example(id INTEGER PRIMARY KEY, source TEXT NOT NULL, db TEXT NOT NULL, question TEXT NOT NULL,"
    " wrong TEXT NOT NULL, error TEXT NOT NULL, fixed TEXT NOT NULL, steps TEXT NOT NULL, kind TEXT NOT NULL,"
    " columns TEXT NOT NULL, vectors BLOB NOT NULL, UNIQUE(question, wrong));"
    "CREATE VIRTUAL TABLE words USING fts5(question, wrong, error, tokenize='porter unicode61');";

static enum err_code failed(struct examples_file *store, struct err *err)
{
    char why[SQLITE_REASON_BYTES];
    return err_set(err, ERR_IO, "%s: %s", store->path, sqlite_reason(store->db, why));
}

static enum err_code run(struct examples_file *store, const char *sql, struct err *err)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ERR_OK : failed(store, err);
}

/* --- open and close --- */

static enum err_code open_file(const char *path, int flags, struct examples_file **out, struct err *err)
{
    struct examples_file *store = g_new0(struct examples_file, 1);
    store->base = (struct examples){.kind = &examples_file_kind, .name = g_strdup(path)};
    store->path = g_strdup(path);
    pthread_mutex_init(&store->lock, NULL);
    pthread_rwlock_init(&store->current, NULL);
    atomic_init(&store->look_ns, INT64_MAX);
    *out = store;
    if (sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK) return failed(store, err);
    sqlite3_busy_timeout(store->db, BUSY_MS);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return ERR_OK;
}

static enum err_code close_store(struct examples *base, struct err *err);

static enum err_code give_up(struct examples_file **out, enum err_code code)
{
    (*out)->changed = false;
    close_store(&(*out)->base, NULL);
    return code;
}

/* Runs `sql` with the embedder's name as its parameter. Returns the first column of the first row, 0 if there is no
 * row, or -1 on failure. */
static int64_t with_encoder(struct examples_file *store, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, examples_encoder_name(store->base.encoder), -1, SQLITE_STATIC);
        int got = sqlite3_step(stmt);
        value = got == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : got == SQLITE_DONE ? 0 : -1;
    }
    sqlite3_finalize(stmt);
    return value;
}

static enum err_code create(const char *path, struct examples_encoder *encoder, struct examples **base, struct err *err)
{
    struct examples_file *store = NULL, **out = &store;
    unlink(path);
    enum err_code code = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, out, err);
    char pragmas[128];
    g_snprintf(pragmas, sizeof pragmas, "PRAGMA journal_mode=OFF; PRAGMA application_id=%d; PRAGMA user_version=%d;",
               APPLICATION_ID, EXAMPLES_VERSION);
    if (!code) code = run(*out, pragmas, err);
    if (!code) code = run(*out, "BEGIN", err);
    if (!code) code = run(*out, SCHEMA, err);
    (*out)->base.encoder = encoder;
    if (!code && with_encoder(*out, "INSERT INTO about VALUES('embedder', ?)") < 0) code = failed(*out, err);
    if (code) return give_up(out, code);
    (*out)->changed = true;
    *base = &store->base;
    return ERR_OK;
}

static int64_t number(struct examples_file *store, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return value;
}

static enum err_code check(struct examples_file *store, struct err *err)
{
    int64_t version = number(store, "PRAGMA user_version");
    if (number(store, "PRAGMA application_id") != APPLICATION_ID)
        return err_set(err, ERR_CONFIG,
                       "%s is not a store of examples" ERR_HINT "create one with `assay examples build`", store->path);
    if (version != EXAMPLES_VERSION)
        return err_set(err, ERR_CONFIG, "%s has version %lld, expected %d" ERR_HINT "build the store again",
                       store->path, (long long)version, EXAMPLES_VERSION);
    if (with_encoder(store, "SELECT count(*) FROM about WHERE key = 'embedder' AND value = ?") != 1)
        return err_set(err, ERR_CONFIG,
                       "%s has vectors of another embedder than '%s'" ERR_HINT
                       "build the store again, or set the embedder that built it",
                       store->path, examples_encoder_name(store->base.encoder));
    return ERR_OK;
}

static enum err_code open_store(const char *path, bool writes, struct examples_encoder *encoder, struct examples **base,
                                struct err *err)
{
    struct examples_file *store = NULL, **out = &store;
    enum err_code code = open_file(path, writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, out, err);
    (*out)->base.encoder = encoder;
    if (!code) code = check(*out, err);
    if (!code) code = file_load(*out, err);
    if (!code && writes) code = run(*out, "BEGIN IMMEDIATE", err);
    if (code) return give_up(out, code);
    (*out)->changed = writes;
    (*out)->version = number(*out, DATA_VERSION);
    if (!writes) atomic_store(&(*out)->look_ns, clock_now_ns() + LOOK_NS);
    *base = &store->base;
    return ERR_OK;
}

static void forget(struct examples_file *store)
{
    free(store->vectors);
    free(store->signs);
    free(store->ids);
    free(store->questions);
    free(store->sources);
}

void file_refresh(struct examples_file *store)
{
    int64_t due = atomic_load(&store->look_ns), now_ns = clock_now_ns();
    /* only one thread at a time checks the file */
    if (now_ns < due || !atomic_compare_exchange_strong(&store->look_ns, &due, INT64_MAX)) return;
    int64_t version = number(store, DATA_VERSION);
    struct examples_file fresh = {.db = store->db, .path = store->path};
    bool changed = version >= 0 && version != store->version;
    if (changed && file_load(&fresh, NULL) == ERR_OK) {
        pthread_rwlock_wrlock(&store->current);
        forget(store);
        store->base.n = fresh.base.n;
        store->ids = fresh.ids;
        store->vectors = fresh.vectors;
        store->signs = fresh.signs;
        store->questions = fresh.questions;
        store->sources = fresh.sources;
        pthread_rwlock_unlock(&store->current);
        store->version = version;
    } else if (changed) {
        forget(&fresh);
    }
    atomic_store(&store->look_ns, clock_now_ns() + LOOK_NS);
}

static enum err_code close_store(struct examples *base, struct err *err)
{
    struct examples_file *store = (struct examples_file *)base;
    enum err_code code = store->changed ? run(store, "COMMIT", err) : ERR_OK;
    sqlite3_finalize(store->insert);
    sqlite3_finalize(store->insert_words);
    sqlite3_finalize(store->read);
    sqlite3_finalize(store->match);
    sqlite3_close(store->db);
    pthread_mutex_destroy(&store->lock);
    pthread_rwlock_destroy(&store->current);
    forget(store);
    g_free(store->path);
    g_free(store->base.name);
    g_free(store);
    return code;
}

/* --- rows --- */

static enum err_code prepare(struct examples_file *store, sqlite3_stmt **stmt, const char *sql, struct err *err)
{
    if (*stmt) return ERR_OK;
    return sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) == SQLITE_OK
               ? ERR_OK
               : failed(store, err);
}

static void bind_texts(sqlite3_stmt *stmt, const char *const *texts, int n)
{
    for (int i = 0; i < n; i++) sqlite3_bind_text(stmt, i + 1, texts[i], -1, SQLITE_STATIC);
}

static enum err_code step(struct examples_file *store, sqlite3_stmt *stmt, struct err *err)
{
    int got = sqlite3_step(stmt);
    enum err_code code = got == SQLITE_DONE ? ERR_OK : failed(store, err);
    sqlite3_reset(stmt);
    return code;
}

static enum err_code add(struct examples *base, const char *const texts[EXAMPLES_TEXTS], const int8_t *vectors,
                         bool *added, struct err *err)
{
    struct examples_file *store = (struct examples_file *)base;
    const char *const words[] = {texts[EXAMPLES_QUESTION_TEXT], texts[EXAMPLES_WRONG_TEXT], texts[EXAMPLES_ERROR_TEXT]};
    enum err_code code =
        prepare(store, &store->insert,
                "INSERT OR IGNORE INTO example(" EXAMPLES_ROW ", vectors) VALUES(?,?,?,?,?,?,?,?,?,?)", err);
    if (!code)
        code = prepare(store, &store->insert_words, "INSERT INTO words(question, wrong, error, rowid) VALUES(?,?,?,?)",
                       err);
    if (code) return code;
    bind_texts(store->insert, texts, EXAMPLES_TEXTS);
    sqlite3_bind_blob(store->insert, EXAMPLES_TEXTS + 1, vectors, EXAMPLES_PARTS * TEXT_DIM, SQLITE_STATIC);
    code = step(store, store->insert, err);
    if (code || !sqlite3_changes(store->db)) return code;
    bind_texts(store->insert_words, words, G_N_ELEMENTS(words));
    sqlite3_bind_int64(store->insert_words, G_N_ELEMENTS(words) + 1, sqlite3_last_insert_rowid(store->db));
    code = step(store, store->insert_words, err);
    *added = code == ERR_OK;
    return code;
}

static bool read_one(struct examples_file *store, struct arena *arena, uint32_t at, struct example *out)
{
    const char *texts[EXAMPLES_TEXTS];
    if (at >= store->base.n) return false;
    sqlite3_bind_int64(store->read, 1, store->ids[at]);
    bool whole = sqlite3_step(store->read) == SQLITE_ROW;
    for (int i = 0; whole && i < EXAMPLES_TEXTS; i++) texts[i] = (const char *)sqlite3_column_text(store->read, i);
    whole = whole && examples_row_read(arena, texts, out);
    sqlite3_reset(store->read);
    return whole;
}

static enum err_code read_found(struct examples *base, struct arena *arena, const struct examples_found *found,
                                uint32_t n, struct example *out, struct err *err)
{
    struct examples_file *store = (struct examples_file *)base;
    bool whole = true;
    pthread_rwlock_rdlock(&store->current);
    pthread_mutex_lock(&store->lock);
    enum err_code code = prepare(store, &store->read, "SELECT " EXAMPLES_ROW " FROM example WHERE id = ?", err);
    for (uint32_t i = 0; !code && whole && i < n; i++) whole = read_one(store, arena, found[i].at, &out[i]);
    pthread_mutex_unlock(&store->lock);
    pthread_rwlock_unlock(&store->current);
    return code    ? code
           : whole ? ERR_OK
                   : err_set(err, ERR_CONFIG, "%s is damaged" ERR_HINT "build the store again", store->path);
}

static uint32_t list(struct examples *base, uint32_t most, struct examples_found *out)
{
    uint32_t n = MIN(most, base->n);
    for (uint32_t i = 0; i < n; i++) out[i] = (struct examples_found){i, -1};
    return n;
}

static enum err_code prune(struct examples *base, float likeness, uint32_t *taken, struct err *err)
{
    struct examples_file *store = (struct examples_file *)base;
    char sql[128];
    enum err_code code = ERR_OK;
    *taken = 0;
    if (store->base.n > EXAMPLES_EXACT)
        return err_set(err, ERR_LIMIT_COUNT, "%s has more than %d examples, too many to prune", store->path,
                       EXAMPLES_EXACT);
    bool *gone = g_new0(bool, store->base.n + 1);
    for (uint32_t i = 0; i < store->base.n && !code; i++) {
        for (uint32_t k = 0; k < i && !gone[i]; k++) gone[i] = !gone[k] && file_likeness(store, i, k) > likeness;
        if (!gone[i]) continue;
        g_snprintf(sql, sizeof sql, "DELETE FROM example WHERE id = %lld; DELETE FROM words WHERE rowid = %lld",
                   (long long)store->ids[i], (long long)store->ids[i]);
        code = run(store, sql, err);
        ++*taken;
    }
    g_free(gone);
    return code;
}

const struct examples_kind examples_file_kind = {
    create, open_store, close_store, add, read_found, list, file_search, prune,
};
