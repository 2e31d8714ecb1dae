/* Tests denied columns with inheritance on a real PostgreSQL, as a role that cannot see all tables. Rows of a child
 * appear in scans of its parent. Columns of a parent appear in its children. Views and generated columns can show
 * either of them. */
#include "lib/schema/deny_match.h"
#include "lib/schema/schema.h"
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

/* The role can read customer, low, late, us, pack, events and the views. It cannot read eu, hidden_root or any
 * partition. */
static const char SQL[] =
    "CREATE TABLE customer(id int, name text, email text, tag text);"
    "CREATE TABLE eu(country text, iban text) INHERITS (customer);"
    "CREATE TABLE us(state text) INHERITS (customer);"
    "CREATE TABLE low(mail_lc text GENERATED ALWAYS AS (lower(email)) STORED,"
    " name_lc text GENERATED ALWAYS AS (lower(name)) STORED) INHERITS (customer);"
    "CREATE TABLE late() INHERITS (low);"
    "CREATE VIEW over_eu AS SELECT country AS c, upper(email) AS m FROM eu;"
    "CREATE VIEW over_that AS SELECT m AS x FROM over_eu;"
    "CREATE VIEW over_us AS SELECT state AS s, email AS m FROM us;"
    "CREATE VIEW over_parent AS SELECT name AS n, email AS m FROM customer;"
    "CREATE TABLE hidden_root(id int, secret text, plain text);"
    "CREATE TABLE pack(label text GENERATED ALWAYS AS (secret || '!') STORED) INHERITS (hidden_root);"
    "CREATE TABLE left_parent(a text, b text); CREATE TABLE right_parent(b text, c text);"
    "CREATE TABLE both_child() INHERITS (left_parent, right_parent);"
    "CREATE TABLE events(day int, who text, what text) PARTITION BY RANGE (day);"
    "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (1) TO (10);"
    "CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (day);"
    "CREATE TABLE events_2a PARTITION OF events_2 FOR VALUES FROM (10) TO (15);"
    "CREATE VIEW part AS SELECT who AS w, what AS t FROM events_2a;"
    "CREATE TABLE apart(id int, who text);";

static struct server server;
static struct schema_index *schema;

static void begin(void)
{
    struct err err = {0};
    server_init(&server, SQL);
    char *sql = g_strdup_printf("REVOKE ALL ON eu, hidden_root, events_1, events_2, events_2a FROM %s;"
                                "REVOKE ALL ON low FROM %s; GRANT SELECT (id, mail_lc, name_lc) ON low TO %s;",
                                server.name, server.name, server.name);
    server_exec(&server, sql);
    g_free(sql);
    server_open(&server, READER, NULL);
    cr_assert_eq(schema_build(server.db, "shop", NULL, NULL, &schema, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    schema_unref(schema);
    if (server.admin) server_end(&server);
}
TestSuite(inheritance, .init = begin, .fini = end);

static bool is_denied(const char *table, const char *name, const char *denied)
{
    int number = schema_find_table(schema, table, strlen(table));
    int at = schema_find_column(schema, number, name, strlen(name));
    cr_assert(at >= 0, "%s.%s", table, name);
    return schema_column_is_denied(schema, &schema->tables[number].columns[at], &denied, 1);
}

Test(inheritance, denial_follows_rows_in_both_directions)
{
    static const struct {
        const char *denied, *table, *column;
        bool is_denied;
    } cases[] = {
        /* from parent to child: a child inherits the denial, and so does a column that is computed from it */
        {"customer.email", "us", "email", true},
        {"customer.email", "us", "name", false},
        {"customer.email", "us", "state", false},
        {"customer.email", "low", "mail_lc", true}, /* the role may not read the source column */
        {"customer.email", "low", "name_lc", false},
        {"customer.email", "late", "mail_lc", true},
        {"public.customer.email", "late", "email", true},
        {"low.email", "late", "mail_lc", true},
        {"low.mail_lc", "late", "mail_lc", true},
        {"customer.*", "us", "name", true},
        {"customer.*", "us", "state", false},
        /* from child to parent: a scan of the parent shows the child's rows */
        {"eu.email", "customer", "email", true},
        {"eu.email", "customer", "name", false},
        {"eu.iban", "customer", "email", false},
        {"late.mail_lc", "low", "mail_lc", true},
        {"eu.email", "us", "email", false}, /* the two tables share no row */
        {"eu.*", "customer", "name", true},
        /* a parent that the role cannot see */
        {"hidden_root.secret", "pack", "secret", true},
        {"hidden_root.secret", "pack", "label", true},
        {"hidden_root.secret", "pack", "plain", false},
        {"hidden_root.*", "pack", "plain", true},
        /* a child of two parents: its rows appear in both */
        {"left_parent.b", "both_child", "b", true},
        {"left_parent.b", "right_parent", "b", true},
        {"left_parent.a", "right_parent", "c", false},
        /* views, also over tables that the role cannot see */
        {"customer.email", "over_eu", "m", true},
        {"eu.email", "over_eu", "m", true},
        {"customer.email", "over_that", "x", true},
        {"customer.email", "over_us", "m", true},
        {"customer.email", "over_us", "s", false},
        {"eu.email", "over_parent", "m", true},
        {"eu.email", "over_parent", "n", false},
        {"apart.who", "over_eu", "m", false},
        /* partitions */
        {"events_1.who", "events", "who", true},
        {"events_2a.who", "events", "who", true},
        {"events_2a.who", "events", "what", false},
        {"events.who", "part", "w", true},
        {"events_2.who", "part", "w", true},
        {"events_2a.who", "part", "w", true},
        {"events_1.who", "part", "w", false},
        {"apart.who", "part", "w", false},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        cr_expect_eq(is_denied(cases[i].table, cases[i].column, cases[i].denied), cases[i].is_denied,
                     "%s denied: %s.%s", cases[i].denied, cases[i].table, cases[i].column);
}

/* A partition or child outside of the index cannot be resolved, and counts as denied. */
Test(inheritance, statement_on_unlisted_table_uses_denied)
{
    static const struct {
        const char *sql, *denied;
        bool uses;
    } cases[] = {
        {"SELECT who FROM events_1", "events.who", true},       {"SELECT email FROM eu", "customer.email", true},
        {"SELECT mail_lc FROM low", "customer.email", true},    {"SELECT x FROM over_that", "customer.email", true},
        {"SELECT label FROM pack", "hidden_root.secret", true}, {"SELECT email FROM customer", "eu.email", true},
        {"SELECT email FROM ONLY customer", "eu.email", true}, /* stricter than necessary */
        {"SELECT name FROM us", "customer.email", false},       {"SELECT what FROM events", "events_1.who", false},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct sql_stmt *stmt = NULL;
        struct sql_bound *bound = NULL;
        sql_parse(&server.arena, cases[i].sql, strlen(cases[i].sql), NULL, &stmt);
        if (stmt) sql_bind(&server.arena, stmt, &schema->catalog, &bound);
        cr_expect_eq(schema_uses_denied(schema, bound, &cases[i].denied, 1), cases[i].uses, "%s", cases[i].sql);
    }
}

/* Entries can deny columns, tables and partitions that the role may not read. */
Test(inheritance, entries_match_invisible_columns)
{
    static const char *const entries[] = {"hidden_root.secret", "public.eu.iban", "events_2a.who", "low.email",
                                          "hidden_root.sceret", "other.eu.iban",  "over_eu.*",     "pg_class.relname"};
    static const bool expected[] = {true, true, true, true, false, false, true, false};
    bool matched[G_N_ELEMENTS(entries)] = {0};
    struct err err = {0};
    cr_assert_eq(deny_match(server.db, entries, G_N_ELEMENTS(entries), matched, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < G_N_ELEMENTS(entries); i++) cr_expect_eq(matched[i], expected[i], "%s", entries[i]);
}

/* A child may compute a column that is a plain column in its parent (up to PostgreSQL 15). The child's rows appear in
 * scans of the parent. */
Test(inheritance, generated_column_of_child_shows_in_parent)
{
    PGresult *made = PQexec(server.admin, "CREATE TABLE tagged(tag text GENERATED ALWAYS AS (lower(email)) STORED) "
                                          "INHERITS (customer)");
    bool possible = PQresultStatus(made) == PGRES_COMMAND_OK;
    PQclear(made);
    if (!possible) return;
    struct err err = {0};
    schema_unref(schema);
    schema = NULL;
    cr_assert_eq(schema_build(server.db, "shop", NULL, NULL, &schema, &err), ERR_OK, "%s", err.text);
    cr_expect(is_denied("customer", "tag", "customer.email"));
    cr_expect(is_denied("customer", "tag", "tagged.email"));
    cr_expect_not(is_denied("customer", "tag", "customer.name"));
}

Test(inheritance, fingerprint_changes_with_invisible_parent)
{
    char before[33], after[33];
    struct err err = {0};
    server_exec(&server, "CREATE SCHEMA hidden; CREATE TABLE hidden.root(id int, who text)");
    cr_assert_eq(db_fingerprint(server.db, before, &err), ERR_OK, "%s", err.text);
    server_exec(&server, "ALTER TABLE apart INHERIT hidden.root");
    cr_assert_eq(db_fingerprint(server.db, after, &err), ERR_OK, "%s", err.text);
    cr_expect_str_neq(before, after);
    server_exec(&server, "ALTER TABLE hidden.root RENAME TO renamed");
    cr_assert_eq(db_fingerprint(server.db, before, &err), ERR_OK, "%s", err.text);
    cr_expect_str_neq(before, after);
    schema_unref(schema);
    schema = NULL;
    cr_assert_eq(schema_build(server.db, "shop", NULL, NULL, &schema, &err), ERR_OK, "%s", err.text);
    cr_expect(is_denied("apart", "who", "hidden.renamed.who"));
}

/* With more than 512 partitions, table names are ignored: a column is denied by its name in every table. */
Test(inheritance, many_partitions_deny_by_column_name)
{
    struct err err = {0};
    server_exec(&server, "CREATE TABLE wide(day int, who text, what text) PARTITION BY LIST (day);"
                         "DO $$ BEGIN FOR i IN 1..520 LOOP EXECUTE format("
                         "'CREATE TABLE wide_%s PARTITION OF wide FOR VALUES IN (%s)', i, i); END LOOP; END $$");
    char *grant = g_strdup_printf("GRANT SELECT ON wide TO %s", server.name);
    server_exec(&server, grant);
    g_free(grant);
    schema_unref(schema);
    schema = NULL;
    cr_assert_eq(schema_build(server.db, "shop", NULL, NULL, &schema, &err), ERR_OK, "%s", err.text);
    cr_expect(is_denied("wide", "who", "wide_519.who"));
    cr_expect(is_denied("wide", "who", "events.who"), "more than is true");
    cr_expect_not(is_denied("wide", "what", "wide_519.who"));
}

/* The partition of a row depends on a value in the row. */
Test(inheritance, number_of_partition_is_denied_with_any_column)
{
    static const struct {
        const char *sql;
        enum err_code code;
    } cases[] = {
        {"SELECT tableoid FROM events", ERR_DENIED},
        {"SELECT count(*) FROM events AS e GROUP BY e.tableoid", ERR_DENIED},
        {"SELECT w FROM part", ERR_DENIED},
        {"SELECT tableoid FROM apart", ERR_OK},
        {"SELECT ctid, who FROM events", ERR_OK},
    };
    struct schema_gate gate = {schema, (const char *const[]){"events.day"}, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(schema_gate_check(&gate, cases[i].sql, strlen(cases[i].sql), NULL), cases[i].code, "%s",
                     cases[i].sql);
}
