/* Opens the index of a verdict file, checks that it is current, and rebuilds it if necessary. */
#include "eval/runs/run_index_int.h"

#include "lib/base/sqlite_reason.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

enum { DIGEST_BYTES = 64 << 10 /* size of the head, and of the tail */ };

char *run_index_path(const char *path)
{
    return g_strconcat(path, ".index", NULL);
}

enum err_code run_sqlite_failed(sqlite3 *db, const char *path, struct err *err)
{
    char why[SQLITE_REASON_BYTES];
    return err_set(err, ERR_IO, "%s: %s", path, sqlite_reason(db, why));
}

/* --- identity of the file --------------------------------------------------------------------------------------- */

static bool digest_part(int file, off_t from, XXH3_state_t *state)
{
    char *bytes = g_malloc(DIGEST_BYTES);
    ssize_t got = pread(file, bytes, DIGEST_BYTES, from);
    if (got > 0) XXH3_128bits_update(state, bytes, (size_t)got);
    g_free(bytes);
    return got >= 0;
}

static char *identity_of(int file, const struct stat *status)
{
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    bool read = digest_part(file, 0, state) && digest_part(file, MAX(0, status->st_size - DIGEST_BYTES), state);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    if (!read) return NULL;
    return g_strdup_printf("%lld %lld.%09ld %016llx%016llx", (long long)status->st_size,
                           (long long)status->st_mtim.tv_sec, status->st_mtim.tv_nsec, (unsigned long long)hash.high64,
                           (unsigned long long)hash.low64);
}

char *run_identity(const char *path, struct err *err)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &status) != 0) {
        err_set(err, ERR_IO, "%s: cannot be read: %s", path, g_strerror(errno));
        if (file >= 0) close(file);
        return NULL;
    }
    char *identity = S_ISREG(status.st_mode) ? identity_of(file, &status) : NULL;
    if (!identity)
        err_set(err, ERR_IO, "%s: %s", path, S_ISREG(status.st_mode) ? "cannot be read" : "not a regular file");
    close(file);
    return identity;
}

/* --- open ------------------------------------------------------------------------------------------------------- */

static bool has_number(sqlite3 *db, const char *pragma, int64_t number)
{
    sqlite3_stmt *stmt = NULL;
    bool same = sqlite3_prepare_v2(db, pragma, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
                sqlite3_column_int64(stmt, 0) == number;
    sqlite3_finalize(stmt);
    return same;
}

/* Returns a value of the table `about`, or NULL. Free with g_free. */
static char *about(sqlite3 *db, const char *key)
{
    sqlite3_stmt *stmt = NULL;
    char *value = NULL;
    if (sqlite3_prepare_v2(db, "SELECT value FROM about WHERE key = ?", -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
        if (sqlite3_step(stmt) == SQLITE_ROW) value = g_strdup((const char *)sqlite3_column_text(stmt, 0));
    }
    sqlite3_finalize(stmt);
    return value;
}

static bool fits(sqlite3 *db, const char *identity)
{
    if (!has_number(db, "PRAGMA application_id", RUN_APPLICATION_ID)) return false;
    if (!has_number(db, "PRAGMA user_version", RUN_INDEX_VERSION)) return false;
    char *of = about(db, "file");
    bool same = of && strcmp(of, identity) == 0;
    g_free(of);
    return same;
}

static void load_signals(struct run_index *run)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(run->db, "SELECT id, text FROM name WHERE kind = ?", -1, &stmt, NULL) == SQLITE_OK) {
        sqlite3_bind_int(stmt, 1, RUN_SIGNAL);
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            int id = sqlite3_column_int(stmt, 0);
            if (id >= 0 && id < RUN_SIGNALS && !run->signals[id])
                run->signals[id] = g_strdup((const char *)sqlite3_column_text(stmt, 1));
        }
    }
    sqlite3_finalize(stmt);
}

static bool load(struct run_index *run, const char *identity)
{
    sqlite3_db_config(run->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(run->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (!fits(run->db, identity)) return false;
    char *summary = about(run->db, "summary");
    run->summary = summary ? json_loads(summary, 0, NULL) : NULL;
    run->verdicts = (uint64_t)json_integer_value(json_object_get(run->summary, "verdicts"));
    g_free(summary);
    load_signals(run);
    return run->verdicts > 0;
}

enum err_code run_index_open(const char *path, struct run_index **out, struct err *err)
{
    *out = NULL;
    char *identity = run_identity(path, err);
    if (!identity) return ERR_IO;
    struct run_index *run = g_new0(struct run_index, 1);
    char *index = run_index_path(path);
    run->path = g_strdup(path);
    bool there = stat(path, &run->file) == 0 && stat(index, &run->index) == 0;
    bool loaded = there &&
                  sqlite3_open_v2(index, &run->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, NULL) == SQLITE_OK &&
                  load(run, identity);
    enum err_code code = loaded ? lines_open(run->path, &run->lines, err) : ERR_OK;
    if (loaded && !code)
        *out = run;
    else
        run_index_close(run);
    g_free(index);
    g_free(identity);
    return code;
}

void run_index_close(struct run_index *run)
{
    if (!run) return;
    sqlite3_close(run->db);
    lines_close(&run->lines);
    json_decref(run->summary);
    for (int i = 0; i < RUN_SIGNALS; i++) g_free(run->signals[i]);
    g_free(run->path);
    g_free(run);
}

static bool is_same(const char *path, const struct stat *before)
{
    struct stat now;
    return stat(path, &now) == 0 && now.st_ino == before->st_ino && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec && now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

bool run_index_is_current(const struct run_index *run)
{
    char *index = run_index_path(run->path);
    bool current = is_same(run->path, &run->file) && is_same(index, &run->index);
    g_free(index);
    return current;
}

static bool has_what_is_asked(const struct run_index *run, const struct run_index_build *build)
{
    bool labelled = json_is_string(json_object_get(json_object_get(run->summary, "labels"), "by"));
    bool questions = json_is_true(json_object_get(run->summary, "questions"));
    return (labelled || !build->databases) && (questions || !build->log);
}

enum err_code run_index_take(const struct run_index_build *build, struct run_index **out, struct err *err)
{
    enum err_code code = run_index_open(build->path, out, err);
    if (code || (*out && has_what_is_asked(*out, build))) return code;
    run_index_close(*out);
    *out = NULL;
    code = run_index_build(build, err);
    if (!code) code = run_index_open(build->path, out, err);
    if (!code && !*out) code = err_set(err, ERR_IO, "%s: the file changed while it was read", build->path);
    return code;
}

uint64_t run_index_verdicts(const struct run_index *run)
{
    return run->verdicts;
}

const json_t *run_index_summary(const struct run_index *run)
{
    return run->summary;
}
