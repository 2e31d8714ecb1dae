/* Tests the origins of columns in a real PostgreSQL database, as a role that cannot see all of it. */
#include "lib/schema/schema.h"
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

static const char SQL[] =
    "CREATE TABLE customer(id serial PRIMARY KEY, name text, email text, phone text,"
    " email_lc text GENERATED ALWAYS AS (lower(email)) STORED,"
    " phone_lc text GENERATED ALWAYS AS (lower(phone)) STORED);"
    "CREATE SCHEMA apart; CREATE TABLE apart.secret(id int, iban text, note text);"
    "CREATE TABLE eu(country text) INHERITS (customer);"
    "CREATE VIEW of_hidden AS SELECT id, upper(note) AS n FROM apart.secret;"
    "CREATE VIEW above AS SELECT n AS m FROM of_hidden;"
    "CREATE VIEW plain AS SELECT name AS who, email_lc || '!' AS reach FROM customer;"
    "CREATE MATERIALIZED VIEW kept AS SELECT reach, count(*) AS times FROM plain GROUP BY reach;"
    "CREATE VIEW whole AS SELECT c.id, c AS r FROM customer c;"
    "CREATE VIEW arms AS SELECT name AS x FROM customer UNION SELECT phone FROM customer;"
    "CREATE RECURSIVE VIEW counted(n) AS SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 3;";

static struct server server;
static struct schema_index *schema;

static void begin(void)
{
    struct err err = {0};
    server_init(&server, SQL);
    char *sql = g_strdup_printf("REVOKE ALL ON customer FROM %s; GRANT SELECT (id, name, email, email_lc, phone_lc) ON "
                                "customer TO %s; REVOKE ALL ON SCHEMA apart FROM %s",
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
TestSuite(origins, .init = begin, .fini = end);

static bool is_denied(const char *table, const char *name, const char *denied)
{
    int number = schema_find_table(schema, table, strlen(table));
    int at = schema_find_column(schema, number, name, strlen(name));
    cr_assert(at >= 0, "%s.%s", table, name);
    return schema_column_is_denied(schema, &schema->tables[number].columns[at], &denied, 1);
}

Test(origins, columns_showing_denied_column_are_denied)
{
    static const struct {
        const char *denied, *table, *column;
        bool is_denied;
    } cases[] = {
        {"customer.email", "customer", "email_lc", true},
        {"customer.email", "customer", "phone_lc", false},
        {"public.customer.phone", "customer", "phone_lc", true}, /* the role may not read `phone` directly */
        {"customer.email", "eu", "email", true},
        {"customer.email", "eu", "name", false},
        {"customer.email", "plain", "reach", true},
        {"email_lc", "plain", "reach", true},
        {"customer.email", "plain", "who", false},
        {"customer.email", "kept", "reach", true},
        {"plain.reach", "kept", "reach", true},
        {"customer.email", "kept", "times", false},
        {"apart.secret.note", "of_hidden", "n", true},
        {"secret.iban", "of_hidden", "n", true}, /* the table is invisible, so any of its columns may be the origin */
        {"customer.email", "of_hidden", "n", false},
        {"apart.secret.note", "above", "m", true},
        {"customer.phone", "whole", "r", true},
        {"customer.phone", "whole", "id", false},
        {"customer.phone", "arms", "x", true},
        {"customer.email", "arms", "x", true}, /* `phone` is invisible, so any column of its tables may be the origin */
        {"customer.email", "counted", "n", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(is_denied(cases[i].table, cases[i].column, cases[i].denied), cases[i].is_denied,
                     "%s denied: %s.%s", cases[i].denied, cases[i].table, cases[i].column);
}

Test(origins, statement_uses_reachable_columns)
{
    static const struct {
        const char *sql;
        bool uses, reaches;
    } cases[] = {
        {"SELECT c.name FROM customer c, generate_series(1, (c::text)::int) g", true, true},
        {"SELECT c::text FROM customer c, generate_series(1, 1) g", true, true},
        {"SELECT k.value FROM customer c, json_each_text(row_to_json(c)) k WHERE k.key = 'email'", true, true},
        {"SELECT g FROM generate_series(1, 2) g", true, true}, /* a whole row with unknown columns */
        {"SELECT name FROM customer", false, true},
        {"SELECT ctid, xmin FROM customer", false, true},
        {"SELECT who FROM plain", false, true},
        {"SELECT n FROM of_hidden", false, false},
        {"SELECT count(c) FROM customer c", true, true},
        {"SELECT name FROM customer ORDER BY customer", true, true},
        {"SELECT id FROM whole", false, true},
    };
    static const char *const denied = "customer.email";
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sql_stmt *stmt;
        struct sql_bound *bound = NULL;
        cr_assert_eq(sql_parse(&server.arena, cases[i].sql, strlen(cases[i].sql), NULL, &stmt), ERR_OK);
        sql_bind(&server.arena, stmt, &schema->catalog, &bound);
        cr_expect_eq(schema_uses_denied(schema, bound, &denied, 1), cases[i].uses, "%s", cases[i].sql);
        cr_expect_eq(schema_reaches_denied(schema, bound, &denied, 1), cases[i].reaches, "%s", cases[i].sql);
    }
}

/* Returns the message of the only candidate's execution. *shows receives whether the output contains any part of it.
 * Free with g_free. */
static char *message_of(const char *sql, const char *denied, bool *shows)
{
    const char *argv[] = {ASSAY_BINARY,    "check",  "--db",     server.dsn[READER],
                          "--question",    "Which?", "--format", "json",
                          "--deny-column", denied,   sql,        NULL};
    char *out, *err;
    int status;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, &err, &status, NULL));
    json_t *verdict = json_loads(out, 0, NULL);
    cr_assert_not_null(verdict, "%s%s", out, err);
    const json_t *first = json_array_get(json_object_get(verdict, "candidates"), 0);
    const char *message = json_string_value(json_object_get(json_object_get(first, "execution"), "message"));
    *shows = strstr(out, "quokka") || strstr(err, "quokka");
    char *copy = g_strdup(message);
    json_decref(verdict);
    g_free(out);
    g_free(err);
    return copy;
}

/* The condition of a view may fail on a column that the statement does not name. */
Test(origins, error_near_denied_value_shows_only_class)
{
    static const struct {
        const char *sql, *denied, *message;
        bool shows;
    } cases[] = {
        {"SELECT name FROM customer WHERE name::int > 1", "customer.email", "must not be shown (SQLSTATE 22P02)",
         false},
        {"SELECT id FROM customer WHERE email::int > 1", "customer.email", "reads a denied column", false},
        {"SELECT n FROM failing", "customer.email", "reads a denied column", false},
        {"SELECT id FROM customer WHERE email::int > 1", "apart.secret.iban", "invalid input syntax", true},
        {"SELECT nme FROM customer", "customer.email", "column \"nme\" does not exist", false},
    };
    server_exec(&server, "INSERT INTO customer(id, name, email) VALUES (1, 'Ann', 'quokka@x'); CREATE VIEW failing AS "
                         "SELECT id AS n FROM customer WHERE email::int > 1;");
    char *grant = g_strdup_printf("GRANT SELECT ON failing TO %s", server.name);
    server_exec(&server, grant);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool shows;
        char *message = message_of(cases[i].sql, cases[i].denied, &shows);
        cr_expect(message && strstr(message, cases[i].message), "%s: %s", cases[i].sql, message ? message : "none");
        cr_expect_eq(shows, cases[i].shows, "%s", cases[i].sql);
        g_free(message);
    }
    g_free(grant);
}
