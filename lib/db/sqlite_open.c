/* Opens SQLite files and detects when they change.
 *
 * Files are read only through SQLite's own descriptor. Closing another descriptor of the same file would release all
 * POSIX locks of this process on the file, while other threads run statements.
 *
 * WAL. A read-only connection to a WAL-mode database creates the -wal and -shm files if they are missing, or fails if
 * it cannot create them. Assay must not write and should not fail, so it distinguishes three cases:
 * - Both files exist: another process has the database open. It is opened in the normal way.
 * - There is no -wal file, or it is empty and there is no -shm file. All data is then in the database file, and no
 *   process has it open. It is opened as immutable. If a process writes to it later, the handle is reopened.
 * - The -wal file has changes and there is no -shm file: only recovery could determine which changes are committed, and
 *   recovery writes. The database is refused.
 */
#include "lib/db/sqlite_int.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEADER = 100, WAL_VERSION = 2, BUSY_MS = 100 };
static const int64_t CHECK_INTERVAL_NS = 100 * 1000000LL;

static enum err_code stat_error(const char *path, struct err *err)
{
    if (errno == ENOENT || errno == ENOTDIR) return err_set(err, ERR_DB_MISSING, "'%s' does not exist", path);
    return err_set(err, ERR_DB_UNREADABLE, "'%s': %s", path, g_strerror(errno));
}

static enum err_code check_file(const char *path, struct stat *st, struct err *err)
{
    if (stat(path, st) != 0) return stat_error(path, err);
    if (!S_ISREG(st->st_mode)) return err_set(err, ERR_DB_UNREADABLE, "'%s' is not a file", path);
    if (st->st_size == 0) return err_set(err, ERR_DB_EMPTY, "'%s' is an empty file", path);
    return ERR_OK;
}

/* Returns the size of the file path + suffix, or -1 if there is none. */
static int64_t side_file(const char *path, const char *suffix, struct stat *st)
{
    char *name = g_strconcat(path, suffix, NULL);
    int64_t size = stat(name, st) == 0 ? (int64_t)st->st_size : -1;
    g_free(name);
    return size;
}

/* Reads the first HEADER bytes of the database file. Fills up a shorter file with zeros. */
static int read_header(sqlite3 *conn, unsigned char header[HEADER])
{
    memset(header, 0, HEADER);
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(conn, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc != SQLITE_OK || !file || !file->pMethods) return SQLITE_CANTOPEN;
    rc = file->pMethods->xRead(file, header, HEADER, 0);
    return rc == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : rc;
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum err_code open_error(struct sqlite_db *self, int rc, struct err *err)
{
    const char *message = self->conn ? sqlite3_errmsg(self->conn) : sqlite3_errstr(rc);
    enum err_code code = guard_classify(rc, message);
    if (code == ERR_ENGINE || code == ERR_INTERNAL) code = ERR_DB_UNREADABLE;
    if (code == ERR_LIMIT_MEMORY) code = ERR_NOMEM;
    err_set(err, code, "'%s': %s", self->path, message);
    return code;
}

static enum err_code open_file(struct sqlite_db *self, bool immutable, struct err *err)
{
    char *escaped = g_uri_escape_bytes((const guint8 *)self->path, strlen(self->path), "/");
    /* An absolute path gets an empty authority, because otherwise a path with two slashes at its start would be read as
     * a host. */
    char *uri =
        g_strconcat("file:", escaped[0] == '/' ? "//" : "", escaped, "?mode=ro", immutable ? "&immutable=1" : "", NULL);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(uri, &self->conn, flags, NULL);
    g_free(uri);
    g_free(escaped);
    self->immutable = immutable;
    return rc == SQLITE_OK ? ERR_OK : open_error(self, rc, err);
}

/* Decides from the -wal and -shm files whether to open the database as immutable (see the top of this file). */
static enum err_code choose_immutable(const char *path, bool *immutable, struct err *err)
{
    struct stat st;
    int64_t wal = side_file(path, "-wal", &st);
    int64_t shm = side_file(path, "-shm", &st);
    *immutable = wal < 0 || (wal == 0 && shm < 0);
    if (wal > 0 && shm < 0)
        return err_set(
            err, ERR_DB_UNREADABLE,
            "'%s' has changes in its -wal file that are not checkpointed, and Assay opens it read-only" ERR_HINT
            "open it once with sqlite3 and run PRAGMA wal_checkpoint(TRUNCATE)",
            path);
    return ERR_OK;
}

/* True if the file is shorter than the size in its header. */
static bool is_truncated(const unsigned char header[HEADER], int64_t size)
{
    int64_t page = header[16] << 8 | header[17];
    if (page == 1) page = 65536;
    bool counted = big_endian(header + 24) == big_endian(header + 92); /* the page count in the header is valid */
    return counted && size < page * (int64_t)big_endian(header + 28);
}

static enum err_code open_by_header(struct sqlite_db *self, const struct stat *st, struct err *err)
{
    enum err_code code = open_file(self, false, err);
    if (code) return code;
    unsigned char header[HEADER];
    int rc = read_header(self->conn, header);
    if (rc != SQLITE_OK) return open_error(self, rc, err);
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return err_set(err, ERR_DB_CORRUPT, "'%s' is not a SQLite database", self->path);
    if (header[19] != WAL_VERSION) {
        if (is_truncated(header, st->st_size))
            return err_set(err, ERR_DB_CORRUPT, "'%s' is truncated: it is shorter than its header says", self->path);
        return ERR_OK;
    }
    bool immutable;
    code = choose_immutable(self->path, &immutable, err);
    if (code || !immutable) return code;
    sqlite3_close_v2(self->conn);
    self->conn = NULL;
    return open_file(self, true, err);
}

static enum err_code check_tables(struct sqlite_db *self, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(self->conn, "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view')", -1,
                                &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(stmt);
    bool some = rc == SQLITE_ROW && sqlite3_column_int64(stmt, 0) > 0;
    enum err_code code = ERR_OK;
    if (rc != SQLITE_ROW)
        code = open_error(self, rc, err);
    else if (!some)
        code = err_set(err, ERR_DB_EMPTY, "'%s' has no tables", self->path);
    sqlite3_finalize(stmt);
    return code;
}

static enum err_code set_up(struct sqlite_db *self, struct err *err)
{
    int rc = sqlite3_busy_timeout(self->conn, BUSY_MS);
    if (rc == SQLITE_OK) rc = guard_install(self->conn, &self->guard, &self->work);
    if (rc != SQLITE_OK) return open_error(self, rc, err);
    sqlite_apply_limits(self);
    guard_begin(&self->guard, true);
    enum err_code code = check_tables(self, err);
    guard_begin(&self->guard, false);
    return code;
}

static struct file_face face_of(const struct stat *st)
{
    return (struct file_face){
        .device = st->st_dev,
        .inode = st->st_ino,
        .size = st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = st->st_mtim.tv_nsec,
    };
}

enum err_code sqlite_connect(struct sqlite_db *self, struct err *err)
{
    struct stat st = {0};
    enum err_code code = check_file(self->path, &st, err);
    if (!code) code = open_by_header(self, &st, err);
    if (!code) code = set_up(self, err);
    if (code) sqlite_disconnect(self);
    self->file = face_of(&st);
    return code;
}

void sqlite_disconnect(struct sqlite_db *self)
{
    sqlite_forget_probes(self);
    sqlite3_close_v2(self->conn);
    self->conn = NULL;
}

/* True after changes that SQLite cannot detect itself. The file may have been replaced or overwritten by a copy. Or a
 * process may write to a database that was opened as immutable. */
static bool is_changed(const struct sqlite_db *self, const struct stat *st)
{
    struct file_face now = face_of(st);
    struct stat unused;
    if (!self->conn || memcmp(&now, &self->file, sizeof now) != 0) return true;
    return self->immutable && side_file(self->path, "-wal", &unused) > 0;
}

static enum err_code reconnect(struct sqlite_db *self, struct err *err)
{
    sqlite_disconnect(self);
    return sqlite_connect(self, err);
}

enum err_code sqlite_reconnect_if_changed(struct sqlite_db *self, int64_t now_ns, struct err *err)
{
    if (!self->path || (self->conn && now_ns - self->checked_ns < CHECK_INTERVAL_NS)) return ERR_OK;
    self->checked_ns = now_ns;
    struct stat st;
    enum err_code code = check_file(self->path, &st, err);
    if (code || !is_changed(self, &st)) return code;
    return reconnect(self, err);
}

/* --- the fingerprint ---------------------------------------------------------------------------------------------- */

/* Input of the fingerprint's hash. It does not contain the inode, so a copy with the same times has the same
 * fingerprint. It must not have padding, because it is hashed as bytes. */
struct fingerprint {
    int64_t size, mtime_s, mtime_ns;
    int64_t wal_size, wal_mtime_s, wal_mtime_ns;
    unsigned char header[HEADER + 4];
};

static struct fingerprint fingerprint_of(const struct stat *st, const char *path)
{
    struct fingerprint print = {.size = st->st_size, .mtime_s = st->st_mtim.tv_sec, .mtime_ns = st->st_mtim.tv_nsec};
    struct stat wal;
    print.wal_size = side_file(path, "-wal", &wal);
    if (print.wal_size > 0) {
        print.wal_mtime_s = wal.st_mtim.tv_sec;
        print.wal_mtime_ns = wal.st_mtim.tv_nsec;
    } else {
        print.wal_size = 0; /* an empty -wal file counts as missing */
    }
    return print;
}

enum err_code sqlite_fingerprint(struct db *db, char out[33], struct err *err)
{
    struct sqlite_db *self = sqlite_of(db);
    struct stat st;
    enum err_code code = check_file(self->path, &st, err);
    if (!code && is_changed(self, &st)) code = reconnect(self, err);
    if (code) return code;
    struct fingerprint print = fingerprint_of(&st, self->path);
    int rc = read_header(self->conn, print.header);
    if (rc != SQLITE_OK) return open_error(self, rc, err);
    XXH128_hash_t hash = XXH3_128bits(&print, sizeof print);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    return ERR_OK;
}
