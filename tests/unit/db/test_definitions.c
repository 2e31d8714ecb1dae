/* Tests a database that is only a schema, without data: the tables that it lists, the statements that it prepares, and
 * the refusal of all other statements. */
#include "tests/support/leak.h"

#include "lib/db/db.h"
#include "lib/db/db_listing.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(definitions, .fini = leak_check, .timeout = 60);

static const char SHOP[] = "CREATE TABLE shop (id INTEGER PRIMARY KEY, name TEXT NOT NULL, \"we\"\"ird\" TEXT);"
                           "CREATE TABLE sale (shop_id int REFERENCES shop (id), paid real);"
                           "CREATE VIEW large AS SELECT shop_id, paid FROM sale WHERE paid > 100;";

static enum err_code open_text(const char *ddl, struct db **db, struct err *err)
{
    char *path = g_strconcat(DB_SCHEMA_PREFIX, ddl, NULL);
    enum err_code code = db_open(path, NULL, db, err);
    g_free(path);
    return code;
}

static struct db *opened(const char *ddl)
{
    struct db *db;
    struct err err = {0};
    cr_assert_eq(open_text(ddl, &db, &err), ERR_OK, "%s", err.text);
    return db;
}

static enum err_code prepare(struct db *db, const char *sql)
{
    int offset;
    struct err err = {0};
    return db_prepare_check(db, sql, strlen(sql), &offset, &err);
}

static enum err_code query(struct db *db, const char *sql)
{
    struct arena arena;
    struct db_result result;
    struct err err = {0};
    arena_init(&arena, 0);
    enum err_code code = db_query(db, &arena, sql, strlen(sql), NULL, 0, 0, &result, &err);
    cr_expect_eq(result.n_rows, 0);
    cr_expect_eq(result.n_columns, 0);
    arena_free(&arena);
    return code;
}

/* Even a query without a table fails. Otherwise its result could be mistaken for a fact about the data. */
Test(definitions, every_query_fails_without_data)
{
    struct db *db = opened(SHOP);
    static const char *const queries[] = {"SELECT 1",    "SELECT * FROM shop", "SELECT count(*) FROM sale",
                                          "SELECT nope", "DELETE FROM shop",   "PRAGMA table_info(shop)"};
    for (unsigned i = 0; i < G_N_ELEMENTS(queries); i++)
        cr_expect_eq(query(db, queries[i]), ERR_NO_DATA, "%s", queries[i]);
    cr_expect(db_dialect(db)->no_data);
    db_close(db);
}

Test(definitions, statements_are_prepared_under_same_authorizer)
{
    struct db *db = opened(SHOP);
    cr_expect_eq(prepare(db, "SELECT \"we\"\"ird\" FROM shop JOIN large ON large.shop_id = shop.id"), ERR_OK);
    cr_expect_eq(prepare(db, "SELECT nme FROM shop"), ERR_ENGINE);
    cr_expect_eq(prepare(db, "SELECT name FROM shops"), ERR_ENGINE);
    static const char *const refused[] = {"DELETE FROM shop",
                                          "INSERT INTO shop VALUES (1, 'x', 'y')",
                                          "CREATE TABLE t (a)",
                                          "ATTACH 'x' AS x",
                                          "PRAGMA query_only = 0",
                                          "SELECT * FROM sqlite_master",
                                          "SELECT * FROM pragma_schemas",
                                          "SELECT load_extension('x')",
                                          "SELECT 1; SELECT 2"};
    for (unsigned i = 0; i < G_N_ELEMENTS(refused); i++)
        cr_expect_eq(prepare(db, refused[i]), ERR_REFUSED, "%s", refused[i]);
    db_close(db);
}

static bool add_row(void *ctx, const struct db_value *row, uint32_t n)
{
    cr_assert_eq(n, 8);
    g_string_append_printf(ctx, "%s %s %s\n", row[0].text, row[1].text, row[5].type == DB_TEXT ? row[5].text : "-");
    return true;
}

static void check_tables(const char *ddl, const char *want)
{
    struct db *db = opened(ddl);
    struct err err = {0};
    GString *got = g_string_new(NULL);
    cr_expect_eq(db_scan(db, db_dialect(db)->listing->tables, add_row, got, &err), ERR_OK, "%s", err.text);
    cr_expect_str_eq(got->str, want);
    g_string_free(got, TRUE);
    db_close(db);
}

Test(definitions, tables_are_listed_with_their_schemas)
{
    check_tables(SHOP, "shop table -\nsale table -\nlarge view -\n");
    check_tables("CREATE TABLE s.a (id int); CREATE TABLE b (id int); CREATE VIEW s.v AS SELECT id FROM s.a;",
                 "a table s\nb table \nv view s\n");
}

/* SQLite cannot decide whether a statement in the dialect of another engine is valid. */
Test(definitions, statements_of_other_dialect_are_not_judged)
{
    struct db *db = opened("CREATE TABLE public.a (id serial, at timestamptz)");
    cr_expect_eq(prepare(db, "SELECT date_trunc('day', at) FROM public.a"), ERR_NO_DATA);
    db_close(db);
}

static void digest_of(const char *ddl, char out[33])
{
    struct db *db = opened(ddl);
    struct err err = {0};
    char own[33];
    cr_assert_eq(db_fingerprint(db, out, &err), ERR_OK);
    db_schema_digest(ddl, strlen(ddl), own);
    cr_expect_str_eq(out, own);
    db_close(db);
}

Test(definitions, fingerprint_depends_on_text)
{
    char a[33], b[33], c[33];
    digest_of("CREATE TABLE a (id int)", a);
    digest_of("CREATE TABLE a (id int)", b);
    digest_of("CREATE TABLE a (id int) ", c);
    cr_expect_str_eq(a, b);
    cr_expect_str_neq(a, c);
    cr_expect_eq(strlen(a), 32);
}

/* Nothing in the text is executed: CHECK, defaults and generated columns are dropped. */
Test(definitions, hostile_texts_are_bounded)
{
    static const struct {
        const char *ddl;
        enum err_code code;
    } cases[] = {
        {"CREATE TABLE a (id int CHECK (id IN (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
         "x "
         "FROM c)), b AS (randomblob(1000000000)) STORED, c DEFAULT (load_extension('x')))",
         ERR_OK},
        {"CREATE TABLE \"a\"\"); DROP TABLE b; --\" (\"x\"\"\" \"t'\"\"y\", `y``` int, [z] int)", ERR_OK},
        /* the view reads itself, so it has no columns */
        {"CREATE TABLE a (id int); CREATE VIEW v AS SELECT * FROM v", ERR_OK},
        {"CREATE TABLE a (id int); CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v", ERR_OK},
        {"CREATE TABLE a (id int); CREATE VIEW v AS SELECT $$;$$ AS x FROM a", ERR_SYNTAX},
        {"CREATE TABLE a (id int); CREATE VIEW v AS SELECT E'\\'; DELETE FROM a' FROM a", ERR_SYNTAX},
        {"CREATE TABLE a (id int); ATTACH '/etc/passwd' AS p", ERR_REFUSED},
        {"", ERR_DB_EMPTY},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct db *db = NULL;
        struct err err = {0};
        cr_expect_eq(open_text(cases[i].ddl, &db, &err), cases[i].code, "%s: %s", cases[i].ddl, err.text);
        if (db) cr_expect_neq(prepare(db, "SELECT 1"), ERR_REFUSED);
        db_close(db);
    }
}

/* Tests a long text whose tables have almost the maximum number of columns. */
Test(definitions, maximum_number_of_columns_is_accepted)
{
    GString *ddl = g_string_new(NULL);
    for (unsigned t = 0; t < 18; t++) {
        g_string_append_printf(ddl, "CREATE TABLE t%u (", t);
        for (unsigned c = 0; c < 1900; c++) g_string_append_printf(ddl, "%sc%u", c ? "," : "", c);
        g_string_append(ddl, ");");
    }
    cr_assert(ddl->len > 180000 && ddl->len < 256 << 10, "%zu", ddl->len);
    struct db *db = opened(ddl->str);
    cr_expect_eq(prepare(db, "SELECT c1899 FROM t17"), ERR_OK);
    db_close(db);
    g_string_free(ddl, TRUE);
}

Test(definitions, errors_show_no_byte_of_text)
{
    char *shown = db_path_shown(DB_SCHEMA_PREFIX "CREATE TABLE secret (a int)");
    cr_expect_null(strstr(shown, "secret"));
    g_free(shown);
    cr_expect_not(db_is_file(DB_SCHEMA_PREFIX "CREATE TABLE a (b int)"));
}
