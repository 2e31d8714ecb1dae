/* Tests tables in several schemas. An unqualified name follows the search path, a qualified name never does. Tables of
 * the same name in two schemas are different tables. */
#include "lib/schema/blob.h"
#include "lib/schema/schema.h"
#include "lib/sql/sql.h"
#include "lib/schema/edits.h"

#include "tests/live/postgres/server.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMAS                                                                                                        \
    "CREATE SCHEMA sales; CREATE SCHEMA archive; CREATE SCHEMA closed; CREATE SCHEMA \"Odd.One\";"                     \
    "CREATE TABLE orders(id int PRIMARY KEY, note text); INSERT INTO orders VALUES (1, 'plain');"                      \
    "CREATE TABLE sales.customer(id int PRIMARY KEY, name text); INSERT INTO sales.customer VALUES (7, 'Quokka');"     \
    "CREATE TABLE sales.orders(id int PRIMARY KEY, customer int REFERENCES sales.customer, paid numeric);"             \
    "INSERT INTO sales.orders VALUES (1, 7, 1.5), (2, 7, 2.5);"                                                        \
    "CREATE TABLE archive.orders(id int PRIMARY KEY, origin int REFERENCES sales.orders, year int);"                   \
    "INSERT INTO archive.orders VALUES (1, 1, 1999), (2, 2, 1999), (3, 2, 2001);"                                      \
    "CREATE TABLE \"Odd.One\".\"Two \"\"x\"(a int); INSERT INTO \"Odd.One\".\"Two \"\"x\" VALUES (4);"                 \
    "CREATE TABLE \"sales.customer\"(dotted int); CREATE TABLE closed.orders(id int);"

static struct server server;
static struct schema_index *shop;

static void begin(void)
{
    server_init(&server, SCHEMAS);
    for (int i = 0; i < 3; i++) {
        static const char *const open[] = {"sales", "archive", "\"Odd.One\""};
        char *sql = g_strdup_printf("GRANT USAGE ON SCHEMA %s TO %s", open[i], server.name);
        server_exec(&server, sql);
        g_free(sql);
    }
}

static void build(const char *search_path)
{
    struct err err = {0};
    if (search_path) {
        char *dsn = g_strdup_printf("%s options='-csearch_path=%s'", server.dsn[READER], search_path);
        g_free(server.dsn[READER]);
        server.dsn[READER] = dsn;
    }
    server_open(&server, READER, NULL);
    cr_assert_eq(schema_build(server.db, "shop", NULL, NULL, &shop, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    schema_unref(shop);
    if (server.admin) server_end(&server);
}
TestSuite(schemas, .init = begin, .fini = end);

static const struct schema_table *table(const struct schema_index *index, const char *name)
{
    int number = schema_find_table(index, name, strlen(name));
    cr_assert(number >= 0, "%s", name);
    return &index->tables[number];
}

/* Returns the tables of the columns of a statement; "?" for an unknown or ambiguous column. */
static char *meant(const char *sql)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    GString *out = g_string_new(NULL);
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    enum err_code code = sql_bind(&arena, stmt, &shop->catalog, &bound);
    cr_assert(code == ERR_OK || code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME, "%s: %s", sql, err_name(code));
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        if (ref->node->kind == SQL_STAR) continue;
        const char *name = ref->table >= 0 ? shop->tables[ref->table].name : "?";
        g_string_append_printf(out, "%s%s", out->len ? " " : "", name);
    }
    arena_free(&arena);
    return g_string_free(out, FALSE);
}

static void expect(const char *sql, const char *tables)
{
    char *found = meant(sql);
    cr_expect_str_eq(found, tables, "%s: %s", sql, found);
    g_free(found);
}

Test(schemas, tables_of_same_name_are_distinct)
{
    build(NULL);
    cr_expect_str_eq(table(shop, "orders")->schema, "public");
    cr_expect_str_eq(table(shop, "orders")->name, "orders");
    cr_expect_eq(table(shop, "orders")->rows, 1);
    cr_expect_str_eq(table(shop, "sales.orders")->name, "sales.orders");
    cr_expect_str_eq(table(shop, "sales.orders")->bare, "orders");
    cr_expect_eq(table(shop, "sales.orders")->rows, 2);
    cr_expect_eq(table(shop, "archive.orders")->rows, 3);
    cr_expect_eq(table(shop, "public.orders"), table(shop, "orders"));
    cr_expect_eq(table(shop, "Odd.One.Two \"x")->columns[0].stats.max.i, 4);
    cr_expect_eq(schema_find_table(shop, "closed.orders", 13), -1, "a schema that the role may not use");
    cr_expect_eq(schema_find_table(shop, "customer", 8), -1, "nothing without a schema reaches it");
    cr_expect_eq(table(shop, "sales.orders")->words.n, 1, "the schema is no word of the name");
    struct schema_hit hit;
    cr_assert_eq(schema_values_with(shop, "quokka", 6, &hit, 1), 1);
    cr_expect_str_eq(shop->tables[shop->columns[hit.column]->table].name, "sales.customer");
}

Test(schemas, keys_cross_schemas)
{
    build(NULL);
    bool derived;
    const struct schema_table *sales = table(shop, "sales.orders"), *archive = table(shop, "archive.orders");
    const struct schema_join *join = schema_join_between(shop, archive->columns[1].id, sales->columns[0].id, &derived);
    cr_assert(join && join->declared && join->to_unique);
    cr_expect_null(schema_join_between(shop, archive->columns[1].id, table(shop, "orders")->columns[0].id, &derived),
                   "not to the table of that name in another schema");
    cr_expect_eq(archive->n_pk, 1);
}

Test(schemas, names_resolve_like_server)
{
    build(NULL);
    expect("SELECT note FROM orders", "orders orders");
    expect("SELECT note FROM public.orders", "orders orders");
    expect("SELECT public.orders.note FROM orders", "orders orders");
    expect("SELECT paid FROM sales.orders", "sales.orders sales.orders");
    expect("SELECT PAID FROM Sales.ORDERS", "sales.orders sales.orders");
    expect("SELECT orders.paid FROM sales.orders", "sales.orders sales.orders");
    expect("SELECT sales.orders.paid FROM sales.orders", "sales.orders sales.orders");
    expect("SELECT o.paid FROM sales.orders AS o", "sales.orders sales.orders");
    expect("SELECT a FROM \"Odd.One\".\"Two \"\"x\"", "Odd.One.Two \"x Odd.One.Two \"x");
    expect("SELECT sales.orders.id, archive.orders.id FROM sales.orders, archive.orders",
           "sales.orders archive.orders sales.orders archive.orders");
    expect("SELECT dotted FROM \"sales.customer\"", "sales.customer sales.customer");
    expect("SELECT name FROM sales.customer", "sales.customer sales.customer");
    cr_expect_neq(schema_find_table(shop, "sales.customer", 14), -1);
}

Test(schemas, names_do_not_resolve_otherwise)
{
    build(NULL);
    expect("SELECT paid FROM orders", "? orders");
    expect("SELECT note FROM sales.orders", "? sales.orders");
    expect("SELECT id FROM closed.orders", "? ?");
    expect("SELECT id FROM nowhere.orders", "? ?");
    expect("SELECT name FROM customer", "? ?");
    expect("SELECT id FROM main.orders", "? ?");
    expect("SELECT dotted FROM sales.customer", "? sales.customer");
    expect("SELECT public.orders.id FROM sales.orders", "? sales.orders");
    expect("SELECT orders.id FROM sales.orders, archive.orders", "? sales.orders archive.orders");
    expect("SELECT sales.o.id FROM sales.orders AS o", "? sales.orders");
    expect("WITH orders AS (SELECT 1 AS x) SELECT x FROM sales.orders", "? sales.orders");
}

/* The server accepts the statements that Assay binds, and refuses the others. */
Test(schemas, server_accepts_bound_statements)
{
    static const char *const statements[] = {
        "SELECT note FROM orders",
        "SELECT public.orders.note FROM orders",
        "SELECT orders.paid FROM sales.orders",
        "SELECT sales.orders.paid FROM sales.orders",
        "SELECT sales.orders.id, archive.orders.id FROM sales.orders, archive.orders",
        "SELECT name FROM sales.customer",
        "SELECT paid FROM orders",
        "SELECT id FROM closed.orders",
        "SELECT name FROM customer",
        "SELECT id FROM main.orders",
        "SELECT public.orders.id FROM sales.orders",
        "SELECT orders.id FROM sales.orders, archive.orders",
        "SELECT sales.o.id FROM sales.orders AS o",
    };
    build(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        struct err err = {0};
        char *found = meant(statements[i]);
        bool takes = db_prepare_check(server.db, statements[i], strlen(statements[i]), NULL, &err) == ERR_OK;
        cr_expect_eq(strchr(found, '?') == NULL, takes, "%s: %s, %s", statements[i], found, err.text);
        g_free(found);
    }
}

Test(schemas, custom_search_path_is_used)
{
    build("sales,public");
    cr_expect_str_eq(table(shop, "orders")->schema, "sales");
    cr_expect_str_eq(table(shop, "public.orders")->name, "public.orders");
    cr_expect_str_eq(table(shop, "customer")->name, "customer");
    expect("SELECT paid FROM orders", "orders orders");
    expect("SELECT note FROM public.orders", "public.orders public.orders");
    expect("SELECT year FROM archive.orders", "archive.orders archive.orders");
}

/* --- mutants ------------------------------------------------------------------------------------------------------ */

/* Makes all mutants of one operator for several seeds. Sets parts[i] to "" if a mutant contains it. Each mutant must
 * bind in Assay and be accepted by the server. */
static void expect_mutants(enum sql_mutator op, const char *sql, const char **parts)
{
    struct arena arena;
    struct err err = {0};
    struct sql_mutation *all;
    arena_init(&arena, 0);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        arena_reset(&arena);
        const struct schema_edits_options options = {.values = true, .seed = seed};
        int n = schema_edits(&arena, shop, &options, sql, strlen(sql), &all, &err);
        cr_assert_gt(n, 0, "%s: %s", sql, err.text);
        for (int i = 0; i < n; i++) {
            if (all[i].op != op) continue;
            char *found = meant(all[i].sql);
            cr_expect_null(strchr(found, '?'), "%s: %s", all[i].sql, found);
            cr_expect_eq(db_prepare_check(server.db, all[i].sql, strlen(all[i].sql), NULL, &err), ERR_OK, "%s: %s",
                         all[i].sql, err.text);
            for (const char **part = parts; *part; part++)
                if (strstr(all[i].sql, *part)) *part = "";
            g_free(found);
        }
    }
    for (const char **part = parts; *part; part++) cr_expect_str_empty(*part, "no mutant of %s has it", sql);
    arena_free(&arena);
}

#define EXPECT_JOINS(sql, ...) expect_mutants(SQL_MUTATE_add_join, sql, (const char *[]){__VA_ARGS__, NULL})

/* A superfluous join qualifies the table with its schema. A second table of the same name gets an alias. */
Test(schemas, mutants_join_across_schemas)
{
    build(NULL);
    EXPECT_JOINS("SELECT paid FROM sales.orders", "JOIN sales.customer ON orders.customer = customer.id",
                 "JOIN archive.orders AS T2 ON orders.id = T2.origin");
    EXPECT_JOINS("SELECT year FROM archive.orders", "JOIN sales.orders AS T2 ON orders.origin = T2.id");
    EXPECT_JOINS("SELECT o.year FROM archive.orders AS o", "JOIN sales.orders ON o.origin = orders.id");
    EXPECT_JOINS("SELECT name FROM sales.customer", "JOIN sales.orders ON customer.id = orders.customer");
}

/* Likewise for tables in the first schema of the search path, which need no qualifier. */
Test(schemas, mutants_join_by_the_search_path)
{
    build("sales,public");
    EXPECT_JOINS("SELECT paid FROM orders", "JOIN customer ON orders.customer = customer.id",
                 "JOIN archive.orders AS T2 ON orders.id = T2.origin");
    EXPECT_JOINS("SELECT year FROM archive.orders", "JOIN orders AS T2 ON orders.origin = T2.id");
}

/* --- too many of them --------------------------------------------------------------------------------------------- */

/* The index of a database with one schema for each tenant is truncated. It has all tables that an unqualified name can
 * reach. Tables of other schemas fill it up to 5,000, and a note has the number of the rest. A key from an indexed
 * table to one outside of the index is dropped. Most of the tables are views without columns, because these are fast to
 * create and to read. The remaining cost is one scan of the columns of each view. */
Test(schemas, past_five_thousand_tables_other_schemas_are_cut, .timeout = 600)
{
    enum { TENANTS = 30, VIEWS = 170, MOST = 5000 };
    server_exec(&server, "CREATE SCHEMA tenant; CREATE TABLE tenant.near(id int PRIMARY KEY);"
                         "CREATE TABLE tenant.here(id int PRIMARY KEY, far int, near int REFERENCES tenant.near)");
    for (unsigned i = 0; i < TENANTS; i++) {
        char *sql = g_strdup_printf("CREATE SCHEMA tenant_%u; GRANT USAGE ON SCHEMA tenant, tenant_%u TO %s;"
                                    "DO $$ BEGIN FOR i IN 1..%u LOOP EXECUTE "
                                    "'CREATE VIEW tenant_%u.v' || i || ' AS SELECT'; END LOOP; END $$",
                                    i, i, server.name, VIEWS, i);
        server_exec(&server, sql);
        g_free(sql);
    }
    server_exec(&server, "CREATE TABLE tenant.far(id int PRIMARY KEY);"
                         "ALTER TABLE tenant.here ADD FOREIGN KEY (far) REFERENCES tenant.far");
    char *all = server_ask(&server, "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE "
                                    "relkind IN ('r', 'v') AND nspname !~ '^(pg_|information_schema)' AND nspname <> "
                                    "'closed'");
    build(NULL);
    char *note = g_strdup_printf("%d tables of other schemas are left out", atoi(all) - MOST);
    bool noted = false, derived;
    for (uint32_t i = 0; i < shop->n_notes; i++) noted |= g_str_has_prefix(shop->notes[i], note);
    cr_expect_eq(shop->n_tables, MOST);
    cr_expect(noted, "no '%s'", note);
    cr_expect_eq(table(shop, "orders")->rows, 1);
    cr_expect_eq(schema_find_table(shop, "tenant.far", 10), -1);
    const struct schema_table *here = table(shop, "tenant.here"), *near = table(shop, "tenant.near");
    cr_expect_eq(here->n_columns, 3);
    cr_expect_not(schema_is_foreign_key(shop, here->columns[1].id), "to a table that is left out");
    cr_expect(schema_join_between(shop, here->columns[2].id, near->columns[0].id, &derived));
    g_free(note);
    g_free(all);
}

Test(schemas, stored_index_keeps_schemas)
{
    build(NULL);
    struct schema_blob blob;
    struct schema_index *read;
    struct err err = {0};
    cr_assert_eq(schema_blob_write(shop, &blob, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(schema_blob_read(blob.bytes, blob.len, "shop", NULL, &read, &err), ERR_OK, "%s", err.text);
    schema_blob_free(&blob);
    schema_unref(shop);
    shop = read;
    expect("SELECT sales.orders.id, archive.orders.id FROM sales.orders, archive.orders",
           "sales.orders archive.orders sales.orders archive.orders");
    expect("SELECT paid FROM orders", "? orders");
    cr_expect_str_eq(table(shop, "sales.orders")->bare, "orders");
}

Test(schemas, denied_columns_are_per_schema)
{
    static const struct {
        const char *name;
        bool plain, sales;
    } cases[] = {{"id", true, true},
                 {"orders.id", true, true},
                 {"sales.orders.id", false, true},
                 {"public.orders.id", true, false},
                 {"SALES.Orders.ID", false, true},
                 {"archive.orders.id", false, false},
                 {"sales.id", false, false}};
    build(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *name = cases[i].name;
        cr_expect_eq(schema_column_is_denied(shop, &table(shop, "orders")->columns[0], &name, 1), cases[i].plain, "%s",
                     name);
        cr_expect_eq(schema_column_is_denied(shop, &table(shop, "sales.orders")->columns[0], &name, 1), cases[i].sales,
                     "%s", name);
        cr_expect(schema_name_is_denied("id", &name, 1), "%s", name);
    }
}

static bool fingerprint_moved(void *before)
{
    char now[33];
    struct err err = {0};
    cr_assert_eq(db_fingerprint(server.db, now, &err), ERR_OK, "%s", err.text);
    return strcmp(now, before) != 0;
}

Test(schemas, change_in_other_schema_is_detected)
{
    build(NULL);
    char before[33];
    struct err err = {0};
    cr_assert_eq(db_fingerprint(server.db, before, &err), ERR_OK, "%s", err.text);
    server_exec(&server, "ALTER TABLE sales.orders ADD COLUMN more int");
    cr_expect(wait_until(fingerprint_moved, before, 5000));
    cr_assert_eq(db_fingerprint(server.db, before, &err), ERR_OK, "%s", err.text);
    server_exec(&server, "ALTER SCHEMA archive RENAME TO attic");
    cr_expect(wait_until(fingerprint_moved, before, 5000));
}
