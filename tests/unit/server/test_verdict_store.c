/* Tests verdicts in a file. They survive a restart and are bounded. A file of another program is not changed. */
#include "server/verdict_store.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

enum { LIMIT_MS = 20000 };

static char *dir, *path;

static void begin(void)
{
    dir = g_dir_make_tmp("assay-verdicts-XXXXXX", NULL);
    path = g_build_filename(dir, "verdicts.sqlite", NULL);
}

static void end(void)
{
    g_unlink(path);
    g_rmdir(dir);
    g_free(path);
    g_free(dir);
}

TestSuite(verdict_store, .init = begin, .fini = end);

static struct verdict_store *open_store(size_t bytes)
{
    struct err err = {0};
    struct verdict_store *store = NULL;
    cr_assert_eq(verdict_store_open(path, bytes, &store, &err), ERR_OK, "%s", err.text);
    return store;
}

static void put(struct verdict_store *store, const char *tenant, const char *id, const char *json)
{
    GBytes *bytes = g_bytes_new(json, strlen(json));
    verdict_store_put(store, tenant, id, bytes);
    g_bytes_unref(bytes);
}

static void expect(struct verdict_store *store, const char *tenant, const char *id, const char *json)
{
    gsize len = 0;
    GBytes *found = verdict_store_find(store, tenant, id);
    const char *text = found ? g_bytes_get_data(found, &len) : NULL;
    cr_expect(json ? text && len == strlen(json) && memcmp(text, json, len) == 0 : !found, "%s/%s: %.*s", tenant, id,
              (int)len, text ? text : "");
    if (found) g_bytes_unref(found);
}

Test(verdict_store, newest_verdict_of_id_survives_restart)
{
    struct stat file;
    struct verdict_store *store = open_store(1 << 20);
    put(store, "", "q", "{\"n\":1}");
    put(store, "", "q", "{\"n\":2}");
    put(store, "acme", "q", "{\"n\":3}");
    verdict_store_close(store);
    cr_assert_eq(stat(path, &file), 0);
    cr_expect_eq(file.st_mode & 0777, 0600);
    store = open_store(1 << 20);
    expect(store, "", "q", "{\"n\":2}");
    expect(store, "acme", "q", "{\"n\":3}");
    expect(store, "beta", "q", NULL);
    expect(store, "", "'; DROP TABLE verdict; --", NULL);
    verdict_store_close(store);
}

static bool is_written(void *ctx)
{
    struct verdict_store_stats stats;
    verdict_store_get_stats(ctx, &stats);
    return stats.written >= 2000;
}

Test(verdict_store, oldest_verdicts_are_evicted_at_size_limit)
{
    enum { BYTES = 100 << 10 };
    struct verdict_store_stats stats;
    struct verdict_store *store = open_store(BYTES);
    char *json = g_strnfill(1000, 'x'), id[16];
    for (unsigned i = 0; i < 2000; i++) {
        g_snprintf(id, sizeof id, "q-%u", i);
        put(store, "", id, json);
    }
    cr_assert(wait_until(is_written, store, LIMIT_MS));
    verdict_store_get_stats(store, &stats);
    cr_expect(stats.bytes <= BYTES && !stats.failed && !stats.dropped);
    expect(store, "", "q-1999", json);
    expect(store, "", "q-0", NULL);
    verdict_store_close(store);
    g_free(json);
}

Test(verdict_store, foreign_file_is_refused_and_unchanged)
{
    sqlite3 *db;
    struct err err = {0};
    struct verdict_store *store;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    cr_expect_eq(verdict_store_open(path, 1 << 20, &store, &err), ERR_VERSION, "%s", err.text);
    cr_expect_null(store);
    cr_assert(g_file_set_contents(path, "no database at all, but long enough to be looked at as one", -1, NULL));
    cr_expect_eq(verdict_store_open(path, 1 << 20, &store, &err), ERR_IO, "%s", err.text);
    char *text = NULL;
    cr_assert(g_file_get_contents(path, &text, NULL, NULL));
    cr_expect(g_str_has_prefix(text, "no database"));
    g_free(text);
    g_unlink(path);
    cr_expect_eq(verdict_store_open("/nowhere/verdicts", 1 << 20, &store, &err), ERR_IO, "%s", err.text);
}

Test(verdict_store, second_store_of_file_is_refused)
{
    struct err err = {0};
    struct verdict_store *first = open_store(1 << 20), *second;
    cr_expect_eq(verdict_store_open(path, 1 << 20, &second, &err), ERR_DB_LOCKED, "%s", err.text);
    cr_expect(strstr(err.text, "another process") && !second, "%s", err.text);
    put(first, "", "q", "{}");
    verdict_store_close(first);
    first = open_store(1 << 20);
    expect(first, "", "q", "{}");
    verdict_store_close(first);
}
