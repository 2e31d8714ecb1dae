/* Compares the gate with the server on random statements. If the server resolves a name to a function that the database
 * defines, its parse tree (debug_print_parse) has that function's number. Assay must have refused such a statement.
 * Only one such function exists at a time, so most statements are permitted. */
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 800 };

static struct server server;

static void begin(void)
{
    server_init(&server, "CREATE TABLE customer(id integer, name text, email text);"
                         "CREATE TABLE orders(id integer, customer_id integer, total integer, code text)");
    char *path = g_strdup_printf("ALTER DATABASE %s SET search_path = own, public", server.name);
    server_exec(&server, path);
    server_exec(&server, "SET search_path = own, public; SET debug_print_parse = on; SET debug_pretty_print = off;"
                         "SET client_min_messages = log");
    g_free(path);
}

static void end(void)
{
    if (server.admin) server_end(&server);
}

/* --- random statements: mostly of the right type ------------------------------------------------------------------ */

static GRand *dice;

static bool one_in(int n)
{
    return g_rand_int_range(dice, 0, n) == 0;
}

#define PICK(...)                                                                                                      \
    ((const char *const[]){__VA_ARGS__}[g_rand_int_range(                                                              \
        dice, 0, (gint32)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))])

static void add_text(GString *out, int depth);
static void add_condition(GString *out, int depth);

/* Expands a template: i is an integer, t a text, b a condition; ~ marks literal text. */
static void add_template(GString *out, const char *template, int depth);

static void add_integer(GString *out, int depth)
{
    if (one_in(8)) {
        add_text(out, depth);
    } else if (depth <= 0) {
        g_string_append(out, PICK("1", "2", "a.id", "b.id", "a.total", "b.total", "a.\"id\"", "g.g", "id", "total"));
    } else {
        add_template(out,
                     PICK("length(#t)", "#i + #i", "#i*-#i", "(#i - #i)", "CASE #i WHEN #i THEN #i ELSE #i END",
                          "abs(#i)", "(#t)::int", "CAST(#i AS integer)", "coalesce(#i, #i)", "NULLIF(#i, #i)",
                          "round(#i)", "(SELECT max(#i))", "a::int", "@@@ #t"),
                     depth);
    }
}

static void add_text(GString *out, int depth)
{
    if (one_in(8)) {
        add_integer(out, depth);
    } else if (depth <= 0) {
        g_string_append(out, PICK("'x'", "a.name", "b.name", "a.code", "b.code", "a.fullname", "b.fullname", "a.label",
                                  "g.label", "name", "code", "a.\"Label\"", "A.NAME"));
    } else {
        add_template(out,
                     PICK("upper(#t)", "#t || #t", "lower(#t)", "(#i)::text", "CASE WHEN #b THEN #t ELSE #t END",
                          "concat(#t, #i)", "coalesce(#t, #t)", "substring(#t from #i)", "substr(#t, #i)", "a::text",
                          "row_to_json(a)::text", "\"Upper\"(#t)"),
                     depth);
    }
}

static void add_condition(GString *out, int depth)
{
    add_template(out,
                 PICK("#i = #i", "#t = #t", "#t <> #t", "#t != #i", "#i >= #i", "#i BETWEEN #i AND #i", "#t LIKE #t",
                      "#i LIKE #i", "#t IN (#t, #t)", "#t IN (#i)", "#i IS DISTINCT FROM #i", "#b AND #b", "NOT (#b)",
                      "#i = ANY (ARRAY[#i])", "(#i, #t) = (#i, #t)", "EXISTS (SELECT 1 FROM customer a WHERE #b)",
                      "#t IS NULL"),
                 depth > 0 ? depth - 1 : -1);
}

static void add_template(GString *out, const char *template, int depth)
{
    if (depth < -3) template = "true"; /* ends nested conditions */
    for (; *template; template ++) {
        if (*template != '#') {
            g_string_append_c(out, *template);
            continue;
        }
        template ++;
        (*template == 'i' ? add_integer : *template == 't' ? add_text : add_condition)(out, depth - 1);
    }
}

static void add_query(GString *out)
{
    int depth = g_rand_int_range(dice, 0, 3);
    g_string_append(out, PICK("", "", "WITH w AS (SELECT id, name AS label FROM customer) ",
                              "WITH customer AS (SELECT 1 AS id, 'x'::text AS name, 2 AS total) "));
    add_template(out, PICK("SELECT #i, #t", "SELECT #t", "SELECT DISTINCT #i", "SELECT sum(#i), max(#t)"), depth);
    g_string_append(
        out,
        PICK(" FROM customer a, orders b", " FROM customer a JOIN orders b USING (id)", " FROM orders a, customer b",
             " FROM (SELECT * FROM customer) a, orders b",
             " FROM (SELECT id, name, 1 AS total, code FROM customer, (SELECT code FROM orders) q) a, orders b",
             " FROM customer AS a(name, id, code), orders b", " FROM customer a, generate_series(1, 2) AS g",
             " FROM customer AS a NATURAL JOIN orders AS b", " FROM public.customer a, (VALUES (1, 'x')) b(id, name)",
             " FROM customer a, lower('x') AS label, abs(1) AS g(\"Label\")"));
    if (one_in(2)) add_template(out, " WHERE #b", depth);
    if (one_in(4)) add_template(out, " ORDER BY #i", depth);
}

/* --- the server's resolution
 * ------------------------------------------------------------------------------------------ */

static GString *tree; /* parse tree of the last statement */

static void take_tree(void *unused, const PGresult *notice)
{
    const char *detail = PQresultErrorField(notice, PG_DIAG_MESSAGE_DETAIL);
    (void)unused;
    if (detail) g_string_append(tree, detail);
}

static void be_quiet(void *unused, const PGresult *notice)
{
    (void)unused, (void)notice;
}

/* Returns true if the parse tree names a function or operator that initdb did not create. */
static bool names_own(void)
{
    static const char *const keys[] = {":funcid ", ":opno ", ":aggfnoid ", ":winfnoid "};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        for (const char *at = strstr(tree->str, keys[i]); at; at = strstr(at + 1, keys[i]))
            if (atol(at + strlen(keys[i])) >= 16384) return true;
    return false;
}

enum word { INVALID, BUILT_IN, OWN };

static enum word ask_server(const char *sql)
{
    g_string_truncate(tree, 0);
    PGresult *result = PQprepare(server.admin, "", sql, 0, NULL);
    enum word word = PQresultStatus(result) != PGRES_COMMAND_OK ? INVALID : names_own() ? OWN : BUILT_IN;
    if (word != INVALID) cr_assert(tree->len, "the server shows no tree");
    PQclear(result);
    return word;
}

static unsigned n_own, n_built_in, n_refused;

static void compare(const char *sql)
{
    struct err err = {0};
    enum word word = ask_server(sql);
    if (word == INVALID) return;
    enum err_code code = db_prepare_check(server.db, sql, strlen(sql), NULL, &err);
    n_own += word == OWN;
    n_built_in += word == BUILT_IN;
    n_refused += word == BUILT_IN && code == ERR_REFUSED;
    if (word == OWN) cr_expect_eq(code, ERR_REFUSED, "not refused: %s", sql);
}

Test(resolve, statements_calling_own_functions_are_refused, .init = begin, .fini = end, .timeout = 600)
{
    static const char *const things[] = {
        "CREATE FUNCTION own.length(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION own.upper(integer) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.\"Upper\"(text) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.fullname(customer) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.fullname(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'",
        "CREATE FUNCTION own.total(customer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION own.name(orders) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.code(customer) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.label(anyelement) RETURNS text LANGUAGE sql AS 'SELECT 1::text'",
        "CREATE FUNCTION own.\"Label\"(record) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'",
        "CREATE FUNCTION own.add(text, integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';"
        "CREATE OPERATOR own.+ (FUNCTION = own.add, LEFTARG = text, RIGHTARG = integer)",
        "CREATE FUNCTION own.eq(text, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        "CREATE OPERATOR own.= (FUNCTION = own.eq, LEFTARG = text, RIGHTARG = integer)",
        "CREATE FUNCTION own.alike(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        "CREATE OPERATOR own.~~ (FUNCTION = own.alike, LEFTARG = integer, RIGHTARG = integer)",
        "CREATE FUNCTION own.ge(integer, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        "CREATE OPERATOR own.>= (FUNCTION = own.ge, LEFTARG = integer, RIGHTARG = text)",
        "CREATE FUNCTION own.neg(text) RETURNS integer LANGUAGE sql AS 'SELECT 1';"
        "CREATE OPERATOR own.- (FUNCTION = own.neg, RIGHTARG = text)",
        "CREATE FUNCTION own.neg(text) RETURNS integer LANGUAGE sql AS 'SELECT 1';"
        "CREATE OPERATOR own.@@@ (FUNCTION = own.neg, RIGHTARG = text)",
        "CREATE FUNCTION own.as_int(customer) RETURNS integer LANGUAGE sql AS 'SELECT 1';"
        "CREATE CAST (customer AS integer) WITH FUNCTION own.as_int(customer)",
        "CREATE AGGREGATE own.sum(text) (SFUNC = own.add, STYPE = text, INITCOND = '')",
    };
    dice = g_rand_new_with_seed(20);
    tree = g_string_new(NULL);
    PQsetNoticeReceiver(server.admin, take_tree, NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(things); i++) {
        server_exec(&server, "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC;"
                             "CREATE FUNCTION own.add(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1'");
        server_exec(&server, things[i]);
        server_open(&server, READER, NULL);
        for (unsigned k = 0; k < ROUNDS; k++) {
            GString *sql = g_string_new(NULL);
            add_query(sql);
            compare(sql->str);
            g_string_free(sql, TRUE);
        }
        db_close(server.db);
        server.db = NULL;
        server_exec(&server, "DROP SCHEMA own CASCADE");
    }
    PQsetNoticeReceiver(server.admin, be_quiet, NULL);
    g_string_free(tree, TRUE);
    g_rand_free(dice);
    printf("%u statements with an own function, %u without, of which %u refused\n", n_own, n_built_in, n_refused);
    cr_expect_geq(n_own, 100);
    cr_expect_geq(n_built_in, 5 * n_refused, "honest statements are refused");
}
