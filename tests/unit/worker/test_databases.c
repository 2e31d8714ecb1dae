/* Tests how names become files. Whatever a message contains, the database is a file under a root, or there is none. */
#include "tests/support/leak.h"
#include "tests/unit/db/fixture.h"
#include "worker/internal.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char first[64], second[64];
static const char *roots[2];
static char made[32][128];
static unsigned n_made;

static void make(const char *format, const char *root, const char *name)
{
    char *path = made[n_made++];
    snprintf(path, sizeof made[0], strcmp(format, "dir") == 0 ? "%s/%s" : "%s/%s.sqlite", root, name);
    if (strcmp(format, "dir") == 0) {
        cr_assert_eq(mkdir(path, 0700), 0, "%s", path);
        return;
    }
    fixture_exec(path, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
}

static void begin(void)
{
    strcpy(first, "/tmp/assay-root-XXXXXX");
    strcpy(second, "/tmp/assay-root-XXXXXX");
    cr_assert(mkdtemp(first) && mkdtemp(second));
    roots[0] = first;
    roots[1] = second;
    make("dir", first, "a");
    make("file", first, "a/a");
    make("file", second, "a");
    make("file", second, "b");
    make("file", second, "with space \xc3\xa9");
    make("file", first, ".hidden");
}

static void end(void)
{
    while (n_made) {
        n_made--;
        unlink(made[n_made]);
        rmdir(made[n_made]);
    }
    rmdir(first);
    rmdir(second);
    leak_check();
}
TestSuite(databases, .init = begin, .fini = end);

static enum err_code find(const char *name, char *out, size_t size)
{
    struct worker_database extra = {"given/../name", "/somewhere/else.db"};
    struct worker_databases databases = {.roots = roots, .n_roots = 2, .files = &extra, .n_files = 1};
    char *path;
    enum err_code code = worker_database_path(&databases, name, &path, NULL);
    snprintf(out, size, "%s", path ? path : "");
    free(path);
    return code;
}

Test(databases, databases_are_found_in_root_order)
{
    char path[256], expected[256];
    cr_assert_eq(find("a", path, sizeof path), ERR_OK);
    snprintf(expected, sizeof expected, "%s/a/a.sqlite", first);
    cr_assert_str_eq(path, expected, "the folder before the file, the first root before the second");
    cr_assert_eq(find("b", path, sizeof path), ERR_OK);
    snprintf(expected, sizeof expected, "%s/b.sqlite", second);
    cr_assert_str_eq(path, expected);
    cr_assert_eq(find("with space \xc3\xa9", path, sizeof path), ERR_OK);
    cr_assert_eq(find("given/../name", path, sizeof path), ERR_OK, "what the operator names may be anything");
    cr_assert_str_eq(path, "/somewhere/else.db");
}

Test(databases, listed_databases_are_unique_and_found)
{
    const struct worker_database extra[] = {{"given", "/somewhere/else.db"}, {"b", "/somewhere/b.db"}};
    const struct worker_databases databases = {.roots = roots, .n_roots = 2, .files = extra, .n_files = 2};
    static const char *const expected[] = {"a", "b", "given", "with space \xc3\xa9"};
    struct arena arena;
    const char *const *names;
    uint32_t n;
    make("dir", second, "empty");
    arena_init(&arena, 0);
    cr_assert_eq(worker_databases_names(&databases, &arena, &names, &n, NULL), ERR_OK);
    cr_assert_eq(n, sizeof expected / sizeof *expected, "%u", n);
    for (uint32_t i = 0; i < n; i++) cr_expect_str_eq(names[i], expected[i]);
    arena_free(&arena);
}

Test(databases, names_cannot_leave_root)
{
    static const char *const names[] = {"",     ".",   "..",   "../b",    "a/a",      "/etc/passwd", ".hidden",
                                        "a\\a", "b\n", "\x01", "nowhere", "b.sqlite", "a/../b"};
    char path[256], longer[400];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        cr_assert_eq(find(names[i], path, sizeof path), ERR_DB_MISSING, "'%s'", names[i]);
        cr_assert_str_eq(path, "");
    }
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    cr_assert_eq(find(longer, path, sizeof path), ERR_DB_MISSING);
}

Test(databases, error_lists_searched_roots)
{
    struct err err = {0};
    char *path;
    struct worker_databases none = {0}, some = {.roots = roots, .n_roots = 1};
    worker_database_path(&some, "nowhere", &path, &err);
    cr_assert(strstr(err.text, "nowhere") && strstr(err.text, first), "%s", err.text);
    worker_database_path(&none, "nowhere", &path, &err);
    cr_assert(strstr(err.text, "none is configured"), "%s", err.text);
}

/* Only the text identifies a schema. A name of the catalogue never refers to a schema, and a schema never refers to a
 * database of the catalogue. */
Test(databases, schema_is_identified_by_text)
{
    static const char ddl[] = "CREATE TABLE t (a int)", other[] = "CREATE TABLE t (b int)";
    struct worker_config config = {.databases = {.roots = roots, .n_roots = 2}, .max_databases = 2};
    struct handles handles;
    struct handle *a, *b, *again;
    struct err err = {0};
    char name[100];
    cr_assert_eq(handles_init(&handles, &config), ERR_OK);
    cr_assert_eq(handles_get_schema(&handles, &config, ddl, &a, &err), ERR_OK, "%s", err.text);
    struct db *db = a->db;
    cr_assert_eq(handles_get_schema(&handles, &config, other, &b, &err), ERR_OK, "%s", err.text);
    cr_assert_str_neq(handles.items[0].path, handles.items[1].path);
    cr_assert_eq(handles_get_schema(&handles, &config, ddl, &again, &err), ERR_OK);
    cr_assert_eq(again->db, db, "it was open");
    snprintf(name, sizeof name, "%s", again->path);
    cr_assert_eq(handles_get(&handles, &config, name, &b, &err), ERR_DB_MISSING, "no task names it by its path");
    cr_assert_eq(handles_get_schema(&handles, &config, "CREATE TABLE", &b, &err), ERR_SCHEMA);
    cr_assert_eq(handles.n, 2, "a failure takes nobody's place");
    handles_free(&handles);
}

Test(databases, recently_used_databases_stay_open)
{
    struct worker_config config = {.databases = {.roots = roots, .n_roots = 2}, .max_databases = 2};
    struct handles handles;
    struct handle *a, *b, *again;
    struct err err = {0};
    cr_assert_eq(handles_init(&handles, &config), ERR_OK);
    cr_assert_eq(handles_get(&handles, &config, "a", &a, &err), ERR_OK, "%s", err.text);
    struct db *db_a = a->db;
    cr_assert_eq(handles_get(&handles, &config, "b", &b, &err), ERR_OK);
    cr_assert_eq(handles_get(&handles, &config, "a", &again, &err), ERR_OK);
    cr_assert_eq(again->db, db_a, "it was open");
    cr_assert_eq(handles_get(&handles, &config, "with space \xc3\xa9", &b, &err), ERR_OK);
    cr_assert_eq(handles.n, 2);
    cr_assert_eq(handles_get(&handles, &config, "a", &again, &err), ERR_OK);
    cr_assert_eq(again->db, db_a, "the one unused for longest made room");
    cr_assert_eq(handles_get(&handles, &config, "nowhere", &b, &err), ERR_DB_MISSING);
    cr_assert_eq(handles.n, 2, "a failure takes nobody's place");
    handles_drop(&handles, again);
    cr_assert_eq(handles.n, 1);
    handles_free(&handles);
}
