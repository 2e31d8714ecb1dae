/* Tests damaged or unusual database files, and files that change while a handle is open. */
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROWS                                                                                                           \
    "CREATE TABLE t(a, b); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 5000)"     \
    " SELECT x, 'row ' || x FROM c;"

static enum err_code open_code(const char *path)
{
    struct db *db = NULL;
    struct err err = {0};
    enum err_code code = db_open(path, NULL, &db, &err);
    cr_assert(code ? err.text[0] && !db : db != NULL, "%s", path);
    db_close(db);
    return code;
}

static void past_the_look(void)
{
    struct timespec pause = {.tv_nsec = 130000000}; /* more than the 100 ms between two checks of the file */
    nanosleep(&pause, NULL);
}

Test(files, missing_or_special_file_is_refused)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    char path[200];
    snprintf(path, sizeof path, "%s/none.sqlite", f.dir);
    cr_assert_eq(open_code(path), ERR_DB_MISSING);
    cr_assert_eq(fixture_files_in(f.dir), 1, "and it is not made");
    snprintf(path, sizeof path, "%s/t.sqlite/inside.sqlite", f.dir);
    cr_assert_eq(open_code(path), ERR_DB_MISSING);
    cr_assert_eq(open_code(f.dir), ERR_DB_UNREADABLE);
    cr_assert_eq(open_code("/dev/null"), ERR_DB_UNREADABLE);
    cr_assert_eq(open_code(""), ERR_DB_MISSING);
    cr_assert_eq(open_code("mysql://nowhere/x"), ERR_DB_MISSING);
    fixture_end(&f);
}

Test(files, unreadable_file_is_refused)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    chmod(f.path, 0);
    chmod(f.dir, 0755);
    bool root = geteuid() == 0;
    if (root) cr_assert_eq(seteuid(65534), 0);
    enum err_code code = open_code(f.path);
    if (root) cr_assert_eq(seteuid(0), 0);
    cr_assert_eq(code, ERR_DB_UNREADABLE);
    fixture_end(&f);
}

Test(files, files_with_odd_names_open)
{
    static const char *const names[] = {"a b.sqlite", "q?x=1.sqlite", "h#1.sqlite", "100%41.sqlite", "ü.sqlite"};
    struct fixture f;
    fixture_init(&f, ROWS);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", f.dir, names[i]);
        cr_assert_eq(link(f.path, path), 0);
        cr_assert_eq(open_code(path), ERR_OK, "%s", names[i]);
    }
    char twice[200];
    snprintf(twice, sizeof twice, "/%s", f.path);
    cr_assert_eq(open_code(twice), ERR_OK, "two slashes are no host");
    fixture_end(&f);
}

Test(files, database_without_tables_is_refused)
{
    struct fixture f;
    fixture_init(&f, NULL);
    fixture_write(f.path, "", 0);
    cr_assert_eq(open_code(f.path), ERR_DB_EMPTY);
    fixture_exec(f.path, "CREATE TABLE t(a); DROP TABLE t;");
    cr_assert_eq(open_code(f.path), ERR_DB_EMPTY, "pages, but no tables");
    fixture_end(&f);
}

Test(files, file_of_other_format_is_refused)
{
    struct fixture f;
    fixture_init(&f, NULL);
    char junk[4096];
    memset(junk, 'x', sizeof junk);
    fixture_write(f.path, junk, sizeof junk);
    cr_assert_eq(open_code(f.path), ERR_DB_CORRUPT);
    fixture_write(f.path, "id,name\n1,x\n", 12);
    cr_assert_eq(open_code(f.path), ERR_DB_CORRUPT);
    fixture_write(f.path, "SQLite format 3", 16);
    cr_assert_eq(open_code(f.path), ERR_DB_CORRUPT, "a header and nothing else");
    fixture_end(&f);
}

Test(files, damaged_file_is_refused)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    size_t len;
    char *bytes = fixture_bytes(f.path, &len);
    fixture_write(f.path, bytes, len / 2);
    cr_assert_eq(open_code(f.path), ERR_DB_CORRUPT, "cut in half");
    memset(bytes + 100, 0xee, 4096 - 100);
    fixture_write(f.path, bytes, len);
    cr_assert_eq(open_code(f.path), ERR_DB_CORRUPT, "the schema is gone");
    g_free(bytes);
    fixture_end(&f);
}

Test(files, damage_behind_schema_shows_on_read)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    size_t len;
    char *bytes = fixture_bytes(f.path, &len);
    memset(bytes + 8192, 0xee, len - 8192);
    fixture_write(f.path, bytes, len);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT * FROM t", &r, &err), ERR_DB_CORRUPT);
    cr_assert_eq(fixture_int(&f, "SELECT 1"), 1);
    g_free(bytes);
    fixture_end(&f);
}

Test(files, flipped_bytes_never_crash)
{
    struct fixture f;
    fixture_init(&f, ROWS "CREATE INDEX i ON t(b);");
    size_t len;
    char *bytes = fixture_bytes(f.path, &len);
    GRand *rand = g_rand_new_with_seed(7);
    for (int round = 0; round < 60; round++) {
        char *broken = g_memdup2(bytes, len);
        for (int i = 0; i < 40; i++) broken[g_rand_int_range(rand, 16, (gint32)len)] = (char)g_rand_int(rand);
        fixture_write(f.path, broken, len);
        struct db *db;
        struct db_result r;
        if (db_open(f.path, &(struct db_limits){.time_ms = 200}, &db, NULL) == ERR_OK) {
            const char *sql = "SELECT count(*), max(b) FROM t WHERE b > 'row 3'";
            db_query(db, &f.arena, sql, strlen(sql), NULL, 0, 0, &r, NULL);
            db_close(db);
        }
        arena_reset(&f.arena);
        g_free(broken);
    }
    g_rand_free(rand);
    g_free(bytes);
    fixture_end(&f);
}

Test(files, locked_file_is_retryable)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    fixture_open(&f, NULL);
    sqlite3 *writer = fixture_writer(f.path);
    cr_assert_eq(sqlite3_exec(writer, "BEGIN EXCLUSIVE; DELETE FROM t WHERE a = 1", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(open_code(f.path), ERR_DB_LOCKED);
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT count(*) FROM t", &r, &err), ERR_DB_LOCKED);
    cr_assert_eq(sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(writer);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 4999);
    fixture_end(&f);
}

/* --- write-ahead logs --------------------------------------------------------------------------------------------- */

Test(wal, idle_file_is_read_without_side_files)
{
    struct fixture f;
    fixture_init(&f, "PRAGMA journal_mode = WAL;" ROWS);
    cr_assert_eq(fixture_files_in(f.dir), 1, "the last writer has cleaned up");
    fixture_open(&f, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 5000);
    cr_assert_eq(fixture_files_in(f.dir), 1);
    fixture_end(&f);
}

Test(wal, read_only_directory_is_supported)
{
    struct fixture f;
    fixture_init(&f, "PRAGMA journal_mode = WAL;" ROWS);
    chmod(f.path, 0444);
    chmod(f.dir, 0555);
    bool root = geteuid() == 0;
    if (root) cr_assert_eq(seteuid(65534), 0);
    enum err_code code = open_code(f.path);
    if (root) cr_assert_eq(seteuid(0), 0);
    chmod(f.dir, 0755);
    cr_assert_eq(code, ERR_OK);
    fixture_end(&f);
}

Test(wal, reader_works_beside_writer)
{
    struct fixture f;
    fixture_init(&f, "PRAGMA journal_mode = WAL;" ROWS);
    sqlite3 *writer = fixture_writer(f.path);
    cr_assert_eq(sqlite3_exec(writer, "DELETE FROM t WHERE a <= 10", NULL, NULL, NULL), SQLITE_OK);
    fixture_open(&f, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 4990, "committed, but not in the file yet");
    cr_assert_eq(sqlite3_exec(writer, "DELETE FROM t WHERE a <= 20", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 4980);
    sqlite3_close(writer);
    fixture_end(&f);
}

Test(wal, later_writer_is_detected)
{
    struct fixture f;
    fixture_init(&f, "PRAGMA journal_mode = WAL;" ROWS);
    fixture_open(&f, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 5000);
    char before[33], after[33];
    cr_assert_eq(db_fingerprint(f.db, before, NULL), ERR_OK);
    sqlite3 *writer = fixture_writer(f.path);
    cr_assert_eq(sqlite3_exec(writer, "DELETE FROM t WHERE a <= 10", NULL, NULL, NULL), SQLITE_OK);
    past_the_look();
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 4990);
    cr_assert_eq(db_fingerprint(f.db, after, NULL), ERR_OK);
    cr_assert_str_neq(before, after);
    sqlite3_close(writer);
    fixture_end(&f);
}

Test(wal, log_left_by_crash_is_read)
{
    struct fixture f;
    fixture_init(&f, "PRAGMA journal_mode = WAL;" ROWS);
    sqlite3 *writer = fixture_writer(f.path);
    cr_assert_eq(sqlite3_exec(writer, "DELETE FROM t WHERE a <= 10", NULL, NULL, NULL), SQLITE_OK);
    char copy[200], wal[220], copy_wal[220];
    snprintf(copy, sizeof copy, "%s/copy.sqlite", f.dir);
    snprintf(wal, sizeof wal, "%s-wal", f.path);
    snprintf(copy_wal, sizeof copy_wal, "%s-wal", copy);
    size_t len, wal_len;
    char *bytes = fixture_bytes(f.path, &len), *wal_bytes = fixture_bytes(wal, &wal_len);
    fixture_write(copy, bytes, len);
    fixture_write(copy_wal, wal_bytes, wal_len);
    cr_assert_eq(open_code(copy), ERR_DB_UNREADABLE, "what is committed can only be told by writing");
    fixture_write(copy_wal, "", 0);
    cr_assert_eq(open_code(copy), ERR_OK);
    g_free(bytes);
    g_free(wal_bytes);
    sqlite3_close(writer);
    fixture_end(&f);
}

/* --- change ------------------------------------------------------------------------------------------------------- */

Test(fingerprint, fingerprint_follows_file)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    fixture_open(&f, NULL);
    char one[33], two[33], three[33];
    cr_assert_eq(db_fingerprint(f.db, one, NULL), ERR_OK);
    cr_assert_eq(strlen(one), 32);
    fixture_int(&f, "SELECT count(*) FROM t");
    cr_assert_eq(db_fingerprint(f.db, two, NULL), ERR_OK);
    cr_assert_str_eq(one, two);
    fixture_exec(f.path, "UPDATE t SET b = 'other' WHERE a = 1");
    cr_assert_eq(db_fingerprint(f.db, three, NULL), ERR_OK);
    cr_assert_str_neq(one, three);
    fixture_end(&f);
}

Test(fingerprint, replaced_file_is_followed)
{
    struct fixture f;
    fixture_init(&f, ROWS);
    fixture_open(&f, NULL);
    char one[33], two[33], other[200];
    cr_assert_eq(db_fingerprint(f.db, one, NULL), ERR_OK);
    snprintf(other, sizeof other, "%s/other.sqlite", f.dir);
    fixture_exec(other, "CREATE TABLE t(a); INSERT INTO t VALUES(42);");
    cr_assert_eq(rename(other, f.path), 0);
    cr_assert_eq(db_fingerprint(f.db, two, NULL), ERR_OK);
    cr_assert_str_neq(one, two);
    cr_assert_eq(fixture_int(&f, "SELECT a FROM t"), 42);
    cr_assert_eq(unlink(f.path), 0);
    past_the_look();
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT a FROM t", &r, &err), ERR_DB_MISSING);
    cr_assert_eq(db_fingerprint(f.db, two, NULL), ERR_DB_MISSING);
    fixture_exec(f.path, "CREATE TABLE t(a); INSERT INTO t VALUES(43);");
    past_the_look();
    cr_assert_eq(fixture_int(&f, "SELECT a FROM t"), 43, "and is back when the file is");
    fixture_end(&f);
}
