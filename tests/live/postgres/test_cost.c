/* The limit on the estimated cost: a statement above it does not run, and the error gives this reason. */
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static struct server server;

static void begin(void)
{
    server_init(&server,
                "CREATE TABLE t AS SELECT i AS a, 'x' || i AS b FROM generate_series(1, 20000) AS i; ANALYZE t");
}

static void end(void)
{
    if (server.admin) server_end(&server);
}
TestSuite(cost, .init = begin, .fini = end);

Test(cost, excessive_cost_is_refused_before_execution)
{
    struct db_result result;
    struct err err = {0};
    server_open(&server, READER, &(struct db_limits){.max_cost = 5000});
    cr_expect_eq(server_query(&server, "SELECT count(*) FROM t", &result, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(server_query(&server, "SELECT count(*) FROM t x, t y", &result, &err), ERR_TOO_COSTLY);
    cr_expect(strstr(err.text, "the limit is 5000"), "%s", err.text);
    cr_expect_eq(err_class(err.code), ERR_CLASS_REJECT);
    cr_expect_eq(server_query(&server, "SELECT a FROM t WHERE a = 7", &result, &err), ERR_OK,
                 "the connection is as good as before: %s", err.text);
    cr_expect_eq(result.n_rows, 1);
    cr_expect_eq(server_query(&server, "SELECT nothing FROM t", &result, &err), ERR_ENGINE);
    cr_expect(strstr(err.text, "nothing"), "%s", err.text);
    cr_expect_eq(server_query(&server,
                              "SELECT 1 AS \"Total Cost\", a AS \"\"\"Total Cost\"\": 0\" FROM t x CROSS JOIN LATERAL"
                              " (SELECT b FROM t) AS \"\"\"Total Cost\"\": 0\"",
                              &result, &err),
                 ERR_TOO_COSTLY, "names are no numbers");
}

Test(cost, parameters_affect_cost)
{
    struct db_result result;
    struct err err = {0};
    struct db_value seven = {.type = DB_INT, .i = 7};
    const char *sql = "SELECT b FROM t WHERE a = $1";
    server_open(&server, READER, &(struct db_limits){.max_cost = 5000});
    cr_expect_eq(db_query(server.db, &server.arena, sql, strlen(sql), &seven, 1, 0, &result, &err), ERR_OK, "%s",
                 err.text);
    cr_expect_eq(result.n_rows, 1);
}

Test(cost, missing_limit_requests_no_estimate)
{
    struct db_result result;
    struct err err = {0};
    server_open(&server, READER, NULL);
    cr_expect_eq(server_query(&server, "SELECT count(*) FROM t x, t y WHERE x.a = y.a", &result, &err), ERR_OK, "%s",
                 err.text);
}

/* libpq receives the password as a parameter, or at the end of the connection string. */
Test(cost, password_appears_only_in_connection_string)
{
    static const char *const strange = "p'w\\ &=%#d\xc3\xa9";
    char *url = db_path_with_password("postgresql://assay@db.example/shop?sslmode=require", strange);
    char *words = db_path_with_password("host=db.example dbname=shop", strange);
    for (int i = 0; i < 2; i++) {
        PQconninfoOption *options = PQconninfoParse(i ? words : url, NULL);
        const char *password = NULL;
        cr_assert_not_null(options);
        for (PQconninfoOption *o = options; o->keyword; o++)
            if (strcmp(o->keyword, "password") == 0) password = o->val;
        cr_expect_str_eq(password, strange);
        PQconninfoFree(options);
        char *shown = db_path_shown(i ? words : url);
        cr_expect_null(strstr(shown, "p'w"), "%s", shown);
        g_free(shown);
        cr_expect(db_path_has_secret(i ? words : url));
    }
    cr_expect_not(db_path_has_secret("host=db.example dbname=shop passfile=/run/x"));
    cr_expect_not(db_path_has_secret("shop.sqlite"));
    g_free(url);
    g_free(words);
}
