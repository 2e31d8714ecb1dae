/* Tries every way to call a function that the database defines (tests/data/hostile/postgres_calls.sql), as a superuser
 * and as a read-only role. Assay must run none of these functions. A function that runs writes a file, which no
 * ROLLBACK removes. */
#include "lib/db/postgres_gate.h"
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static struct server server;
static char *trace;

/* The file belongs to the server, which writes it and empties it. */
#define SCHEMA                                                                                                         \
    "CREATE TABLE customer(id integer PRIMARY KEY, name text, email text);"                                            \
    "INSERT INTO customer VALUES (1, 'Ann', 'a@example.org'), (2, 'Bob', 'b@example.org');"                            \
    "CREATE TABLE orders(id integer PRIMARY KEY, customer_id integer, total integer, code text);"                      \
    "INSERT INTO orders VALUES (1, 1, 10, 'x'), (2, 2, 20, 'y');"                                                      \
    "CREATE FUNCTION public.ran() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN EXECUTE "                 \
    "format('COPY (SELECT 1) TO %%L', '%s'); RETURN '1'; END $$;"                                                      \
    "ALTER DATABASE %s SET search_path = own, public"

static void begin(void)
{
    server_init(&server, NULL);
    trace = g_strdup_printf("/tmp/assay-ran-%s", server.name);
    char *sql = g_strdup_printf(SCHEMA, trace, server.name);
    server_exec(&server, sql);
    server_exec(&server, "SET search_path = own, public");
    g_free(sql);
}

static void end(void)
{
    if (!server.admin) return;
    g_unlink(trace);
    g_free(trace);
    server_end(&server);
}

static bool has_run(void)
{
    bool there = g_file_test(trace, G_FILE_TEST_EXISTS);
    if (there) cr_assert_eq(g_unlink(trace), 0, "%s cannot be removed", trace);
    return there;
}

/* Returns true if the statement runs a function when it is sent without Assay. */
static bool runs_alone(const char *sql)
{
    PGresult *result = PQexec(server.admin, sql);
    PQclear(result);
    return has_run();
}

static void check_attack(const char *name, const char *class, const char *sql, enum role role)
{
    struct db_result result;
    struct err err = {0};
    server_open(&server, role, NULL);
    enum err_code code = server_query(&server, sql, &result, &err);
    cr_expect_str_eq(err_name(code), class, "%s: %s, %s", name, err_name(code), err.text);
    cr_expect_not(has_run(), "%s: a function ran", name);
    code = db_prepare_check(server.db, sql, strlen(sql), NULL, &err);
    cr_expect_str_eq(err_name(code), class, "%s, prepared: %s, %s", name, err_name(code), err.text);
    cr_expect_not(has_run(), "%s: a function ran while it was prepared", name);
    struct db_limits costly = {.max_cost = 1e9};
    db_set_limits(server.db, &costly);
    code = server_query(&server, sql, &result, &err);
    cr_expect_str_eq(err_name(code), class, "%s, with a ceiling: %s, %s", name, err_name(code), err.text);
    cr_expect_not(has_run(), "%s: a function ran while its cost was estimated", name);
    db_close(server.db);
    server.db = NULL;
    arena_reset(&server.arena);
}

static void check_case(char *block, enum role role)
{
    char *line_end = strchr(block, '\n'), *colon = g_strrstr_len(block, line_end - block, ": ");
    char *middle = strstr(block, "\n--\n");
    cr_assert(colon && middle, "a case has a class, what is made, and a statement: %s", block);
    *line_end = *colon = *middle = '\0';
    const char *name = block + 4, *class = colon + 2, *sql = g_strchomp(middle + 4);
    server_exec(&server, "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC");
    server_exec(&server, line_end + 1);
    if (strcmp(class, "refused") == 0) cr_expect(runs_alone(sql), "%s: has no teeth", name);
    check_attack(name, g_str_has_prefix(class, "refused") ? "refused" : class, sql, role);
    server_exec(&server, "DROP SCHEMA own CASCADE; DROP SCHEMA IF EXISTS \"PG_CATALOG\" CASCADE;"
                         "DROP FUNCTION IF EXISTS pg_catalog.length(integer)");
}

static void check_all(enum role role)
{
    char *text;
    unsigned n = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/hostile/postgres_calls.sql", &text, NULL, NULL));
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++) {
        if (!g_str_has_prefix(*block, "### ")) continue;
        check_case(*block, role);
        n++;
    }
    printf("%u ways to call\n", n);
    cr_expect_geq(n, 60);
    g_strfreev(blocks);
    g_free(text);
}

Test(calls, own_functions_are_refused_as_superuser, .init = begin, .fini = end, .timeout = 300)
{
    check_all(SUPERUSER);
}

Test(calls, own_functions_are_refused_as_reader, .init = begin, .fini = end, .timeout = 300)
{
    check_all(READER);
}

static enum err_code ask(const char *sql)
{
    struct db_result result;
    struct err err = {0};
    enum err_code code = server_query(&server, sql, &result, &err);
    cr_expect_not(has_run(), "%s: a function ran", sql);
    arena_reset(&server.arena);
    return code;
}

/* The database changes while a handle is open. A created or dropped function takes effect from the next statement
 * on. */
Test(calls, functions_created_meanwhile_are_refused, .init = begin, .fini = end)
{
    char *grant = g_strdup_printf("GRANT EXECUTE ON FUNCTION own.length(integer) TO %s", server.name);
    server_exec(&server, "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC; DROP FUNCTION ran()");
    server_open(&server, READER, NULL);
    cr_expect_eq(ask("SELECT length(name) FROM customer"), ERR_OK, "nothing own is there");
    char *ran =
        g_strdup_printf("CREATE FUNCTION public.ran() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN "
                        "EXECUTE format('COPY (SELECT 1) TO %%L', '%s'); RETURN '1'; END $$",
                        trace);
    server_exec(&server, ran);
    cr_expect_eq(ask("SELECT length(name) FROM customer"), ERR_OK);
    server_exec(&server, "CREATE FUNCTION own.length(integer) RETURNS integer LANGUAGE sql AS 'SELECT ran()::integer'");
    cr_expect_eq(ask("SELECT length(id) FROM customer"), ERR_REFUSED);
    cr_expect_eq(ask("SELECT length(name) FROM customer"), ERR_REFUSED, "types of arguments are not looked at");
    cr_expect_eq(ask("SELECT upper(name) FROM customer"), ERR_OK);
    server_exec(&server, "REVOKE EXECUTE ON FUNCTION own.length(integer) FROM PUBLIC");
    cr_expect_eq(ask("SELECT length(name) FROM customer"), ERR_OK);
    cr_expect_eq(ask("SELECT length(id) FROM customer"), ERR_REFUSED, "by the server");
    server_exec(&server, grant);
    cr_expect_eq(ask("SELECT length(id) FROM customer"), ERR_REFUSED);
    server_exec(&server, "DROP FUNCTION own.length(integer)");
    cr_expect_eq(ask("SELECT length(name) FROM customer"), ERR_OK);
    server_exec(&server, "CREATE OPERATOR own.+ (FUNCTION = pg_catalog.textcat, LEFTARG = text, RIGHTARG = text)");
    cr_expect_eq(ask("SELECT name + name FROM customer"), ERR_OK, "an operator of a built-in function");
    server_exec(&server, "CREATE FUNCTION own.add(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()';"
                         "CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer)");
    cr_expect_eq(ask("SELECT name + 1 FROM customer"), ERR_REFUSED);
    server_exec(&server,
                "DROP FUNCTION own.add CASCADE; CREATE FUNCTION own.fine(text) RETURNS boolean LANGUAGE sql AS "
                "'SELECT ran() = ''1'''");
    cr_expect_eq(ask("SELECT '{x}'::text[] FROM customer"), ERR_OK);
    server_exec(&server, "CREATE DOMAIN own.mail AS text CHECK (own.fine(VALUE))");
    cr_expect_eq(ask("SELECT '{x}'::mail[] FROM customer"), ERR_REFUSED);
    server_exec(&server, "REVOKE EXECUTE ON FUNCTION own.fine(text) FROM PUBLIC");
    cr_expect_eq(ask("SELECT 1 FROM customer"), ERR_OK);
    g_free(ran);
    g_free(grant);
}

/* Functions of extensions that count as built in are permitted; other functions with their names are not. */
Test(calls, extension_functions_are_permitted, .init = begin, .fini = end)
{
    server_exec(&server, "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC; CREATE EXTENSION citext;"
                         "CREATE EXTENSION pg_trgm; CREATE TABLE mails(a citext); INSERT INTO mails VALUES ('Ann')");
    server_open(&server, READER, NULL);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM mails WHERE a = 'ANN'"), 1, "citext compares as citext");
    cr_expect_eq(ask("SELECT lower(a), length(a), replace(a, 'A', 'b') FROM mails WHERE a LIKE 'a%' ORDER BY a"),
                 ERR_OK);
    cr_expect_eq(ask("SELECT similarity(m.a::text, 'anne') FROM mails m WHERE m.a::text % 'ann'"), ERR_OK);
    cr_expect_eq(ask("SELECT 'x'::citext"), ERR_OK);
    server_exec(&server, "CREATE FUNCTION own.similarity(text, integer) RETURNS text LANGUAGE sql AS 'SELECT ran()'");
    cr_expect_eq(ask("SELECT similarity(a::text, 1) FROM mails"), ERR_REFUSED);
}

/* Checks the gate's list. No built-in function with these names changes the database, and the volatile ones are
 * known. */
Test(calls, listed_functions_change_nothing, .init = begin, .fini = end)
{
    size_t n;
    const char *const *names = postgres_gate_functions(&n);
    GString *sql =
        g_string_new("SELECT coalesce(string_agg(DISTINCT proname, ',' ORDER BY proname), '') FROM pg_proc WHERE "
                     "oid < 16384 AND provolatile = 'v' AND proname IN (''");
    for (size_t i = 0; i < n; i++) g_string_append_printf(sql, ",'%s'", names[i]);
    g_string_append(sql, ")");
    char *found = server_ask(&server, sql->str);
    cr_expect_str_eq(found, "clock_timestamp,random");
    g_free(found);
    g_string_free(sql, TRUE);
}
