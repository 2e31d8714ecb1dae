/* No call of a permitted function continues in the server for more than a second after its cancellation. By default a
 * few calls run. ASSAY_TEST_GIVEUP=full runs the calls of all functions, which takes half an hour. */
#include "tests/live/giveup.h"

#include "lib/db/mariadb_gate.h"
#include "tests/live/mariadb/server.h"

#include <criterion/criterion.h>
#include <glib.h>

static struct server server;

Test(giveup, hostile_calls_end_within_a_second, .timeout = 7200)
{
    server_init(&server, "CREATE TABLE large(a text, b text, n integer); "
                         "INSERT INTO large VALUES (repeat('a', 2000), repeat('b', 2000), 1);"
                         "CREATE TABLE many(n integer); INSERT INTO many VALUES (1), (2), (3)");
    server_open(&server, READER, &(struct db_limits){.time_ms = GIVEUP_LIMIT_MS});
    struct giveup search = {.db = server.db, .arena = &server.arena};
    cr_assert_eq(db_open(server.url[READER], NULL, &search.watch, NULL), ERR_OK);
    size_t n;
    const char *const *functions = mariadb_gate_functions(&n);
    giveup_search(&search, &giveup_mariadb, functions, n, g_strcmp0(g_getenv("ASSAY_TEST_GIVEUP"), "full") == 0);
    giveup_print(&search, "mariadb", stdout);
    cr_expect_geq(search.n, 60);
    cr_expect_eq(search.n_late, 0);
    db_close(search.watch);
    server_end(&server);
}
