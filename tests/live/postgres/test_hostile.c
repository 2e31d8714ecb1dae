/* Runs the hostile statements of tests/data/hostile/postgres.sql as a superuser and as a read-only role. After each one
 * it checks that the server runs, the data are unchanged, no object was created, and the handle still answers. */
#include "tests/live/hostile.h"
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id integer PRIMARY KEY, name text, body text);"                                                    \
    "INSERT INTO t VALUES (1, 'one', 'I'), (2, 'two', 'II'), (3, 'three', 'III');"                                     \
    "CREATE TABLE big(n integer); INSERT INTO big SELECT generate_series(1, 20000);"                                   \
    "CREATE SEQUENCE s; "                                                                                              \
    "CREATE FUNCTION evil() RETURNS integer LANGUAGE sql AS $$ SELECT set_config('assay.trace', 'x', false); SELECT "  \
    "1 $$;"                                                                                                            \
    "CREATE FUNCTION evil(integer) RETURNS integer LANGUAGE sql AS $$ SELECT set_config('assay.trace', 'x', false); "  \
    "SELECT 1 $$;"                                                                                                     \
    "CREATE FUNCTION lower(integer) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$;"

/* The query that returns the state of the server that a statement could change, as one text. */
static const char traces[] =
    "SELECT (SELECT string_agg(id || name || body, ',' ORDER BY id) FROM t) ||"
    " (SELECT count(*) FROM big) || (SELECT last_value || is_called::text FROM s) ||"
    " (SELECT count(*) FROM pg_class) || (SELECT count(*) FROM pg_proc) || (SELECT string_agg(rolname || rolsuper, "
    "',') FROM pg_roles"
    " WHERE rolname NOT LIKE 'assay_test%') || (SELECT bool_or(rolsuper) FROM pg_roles WHERE rolname LIKE "
    "'assay_test%') ||"
    " (SELECT count(*) FROM pg_largeobject_metadata) || (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') ||"
    " (SELECT count(*) FROM pg_prepared_xacts) || current_setting('work_mem') || pg_conf_load_time()";

static struct server server;

static char *what_is_left(void *unused)
{
    (void)unused;
    return server_ask(&server, traces);
}

static struct hostile begin(enum role role)
{
    server_init(&server, SCHEMA);
    server_open(&server, role, &HOSTILE_LIMITS);
    struct hostile suite = {.db = server.db, .arena = &server.arena, .traces = what_is_left};
    hostile_begin(&suite);
    return suite;
}

static void end(struct hostile *suite)
{
    hostile_end(suite);
    server_end(&server);
}

static void run_list(enum role role)
{
    struct hostile suite = begin(role);
    hostile_attack_list(&suite, "postgres.sql");
    for (const char *const *path = (const char *const[]){"program", "copy", "export", NULL}; *path; path++) {
        char *file = g_strconcat("/tmp/assay-hostile-", *path, NULL);
        cr_assert_not(g_file_test(file, G_FILE_TEST_EXISTS), "%s", file);
        g_free(file);
    }
    end(&suite);
}

Test(hostile, statements_as_superuser, .timeout = 600)
{
    run_list(SUPERUSER);
}

Test(hostile, statements_as_reader, .timeout = 600)
{
    run_list(READER);
}

Test(hostile, long_and_deep_statements_are_bounded, .timeout = 600)
{
    struct hostile suite = begin(READER);
    hostile_attack_repeated(&suite, "limit", "SELECT 1", " + 1", 20000, "");
    struct db_limits wide = HOSTILE_LIMITS;
    wide.sql_bytes = 4U << 20;
    db_set_limits(server.db, &wide);
    hostile_attack_repeated(&suite, "limit", "SELECT ", "(", 100000, "1");
    hostile_attack_repeated(&suite, "limit", "SELECT 1", " + 1", 100000, "");
    hostile_attack_repeated(&suite, "limit", "SELECT ", "NOT ", 100000, "true");
    hostile_attack_repeated(&suite, "limit", "SELECT ", "(SELECT ", 5000, "1");
    hostile_attack_repeated(&suite, "limit", "SELECT 1 FROM t WHERE id IN (1", ", 1", 100000, ")");
    hostile_attack_repeated(&suite, "limit", "SELECT 1", ", 1", 5000, "");
    end(&suite);
}
