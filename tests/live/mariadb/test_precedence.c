/* Checks that MariaDB groups operators and set operations as lib/sql/precedence.h does. */
#include "tests/live/expressions.h"
#include "tests/live/mariadb/server.h"

#include <criterion/criterion.h>

static struct server server;

static void begin(void)
{
    server_init(&server, "CREATE TABLE t(id int PRIMARY KEY);");
    server_open(&server, READER, NULL);
}

static void end(void)
{
    server_end(&server);
}

TestSuite(precedence, .init = begin, .fini = end, .timeout = 300);

Test(precedence, random_expressions_have_the_value_of_our_grouping)
{
    static const char *const operators[] = {"+", "-", "*", "%", "&",  "|",  "<<",  ">>",
                                            "^", "=", "<", ">", "<>", "&&", "AND", "OR"};
    expressions_compare(server.db, &server.arena, SQL_PRECEDENCE_MARIADB, operators,
                        sizeof operators / sizeof *operators, 2000);
}

Test(precedence, intersect_takes_its_arms_before_union)
{
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM (SELECT 1 UNION SELECT 2 INTERSECT SELECT 2) AS x"), 2);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM (SELECT 1 UNION (SELECT 2 INTERSECT SELECT 2)) AS x"), 2);
}
