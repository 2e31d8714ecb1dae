/* Every way to call a function of the database's own (tests/data/hostile/postgres_calls.sql), as a superuser and as a
 * role that may only read: with Assay none runs. What ran has left a file behind, which no ROLLBACK takes away. */
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

static struct server server;
static char *trace;

/* The file is the server's: it writes and empties it. */
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

/* Does it run a function when nobody holds it? */
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
    server_exec(&server, "DROP SCHEMA own CASCADE; DROP SCHEMA IF EXISTS \"PG_CATALOG\" CASCADE");
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

Test(calls, of_own_functions_as_superuser, .init = begin, .fini = end, .timeout = 300)
{
    check_all(SUPERUSER);
}

Test(calls, of_own_functions_as_reader, .init = begin, .fini = end, .timeout = 300)
{
    check_all(READER);
}
