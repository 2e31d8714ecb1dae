#include "tests/unit/db/fixture.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

sqlite3 *fixture_writer(const char *path)
{
    sqlite3 *conn = NULL;
    cr_assert_eq(sqlite3_open(path, &conn), SQLITE_OK, "%s", sqlite3_errmsg(conn));
    return conn;
}

void fixture_exec(const char *path, const char *sql)
{
    sqlite3 *conn = fixture_writer(path);
    cr_assert_eq(sqlite3_exec(conn, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(conn));
    sqlite3_close(conn);
}

void fixture_init(struct fixture *fixture, const char *sql)
{
    fixture_init_as(fixture, "t", sql);
}

void fixture_init_as(struct fixture *fixture, const char *name, const char *sql)
{
    memset(fixture, 0, sizeof *fixture);
    arena_init(&fixture->arena, 256UL << 20);
    snprintf(fixture->dir, sizeof fixture->dir, "/tmp/assay-test-db-XXXXXX");
    cr_assert_not_null(mkdtemp(fixture->dir));
    snprintf(fixture->path, sizeof fixture->path, "%s/%s.sqlite", fixture->dir, name);
    if (sql) fixture_exec(fixture->path, sql);
}

void fixture_open(struct fixture *fixture, const struct db_limits *limits)
{
    struct err err = {0};
    cr_assert_eq(db_open(fixture->path, limits, &fixture->db, &err), ERR_OK, "%s", err.text);
}

static void remove_all(const char *dir)
{
    GDir *entries = g_dir_open(dir, 0, NULL);
    const char *name;
    while (entries && (name = g_dir_read_name(entries)) != NULL) {
        char *path = g_build_filename(dir, name, NULL);
        if (unlink(path) != 0) remove_all(path);
        g_free(path);
    }
    if (entries) g_dir_close(entries);
    rmdir(dir);
}

void fixture_end(struct fixture *fixture)
{
    db_close(fixture->db);
    arena_free(&fixture->arena);
    remove_all(fixture->dir);
    leak_check();
}

enum err_code fixture_query(struct fixture *fixture, const char *sql, struct db_result *out, struct err *err)
{
    return db_query(fixture->db, &fixture->arena, sql, strlen(sql), NULL, 0, 0, out, err);
}

int64_t fixture_int(struct fixture *fixture, const char *sql)
{
    struct db_result result;
    struct err err = {0};
    cr_assert_eq(fixture_query(fixture, sql, &result, &err), ERR_OK, "%s: %s", sql, err.text);
    cr_assert(result.n_rows == 1 && result.n_columns == 1 && result.values[0].type == DB_INT, "%s", sql);
    return result.values[0].i;
}

char *fixture_bytes(const char *path, size_t *len)
{
    char *bytes = NULL;
    return g_file_get_contents(path, &bytes, len, NULL) ? bytes : NULL;
}

void fixture_write(const char *path, const void *bytes, size_t len)
{
    cr_assert(g_file_set_contents(path, bytes, (gssize)len, NULL), "cannot write %s", path);
}

unsigned fixture_files_in(const char *path)
{
    unsigned n = 0;
    GDir *dir = g_dir_open(path, 0, NULL);
    while (g_dir_read_name(dir)) n++;
    g_dir_close(dir);
    return n;
}
