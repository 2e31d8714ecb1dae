/* Tests a worker's connection between two tasks. */
#include "lib/base/clock.h"
#include "tests/live/postgres/server.h"
#include "tests/support/wait.h"
#include "worker/internal.h"

#include <criterion/criterion.h>
#include <string.h>

enum { FRESH_MS = 600 /* longer than the half second during which an index is not checked again */, LIMIT_MS = 10000 };

static bool is_past(void *ctx)
{
    return clock_now_ns() >= *(const int64_t *)ctx;
}

/* The deadline of the first task passes. Then the state of the database is read for the second task, which has no
 * deadline. */
Test(workspace, passed_deadline_does_not_affect_next_task)
{
    struct server server;
    struct err err = {0};
    struct handles handles;
    struct workspace workspace;
    struct worker_stats stats = {0};
    server_init(&server, "CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)");
    const struct worker_database zoo = {.name = "zoo", .path = server.dsn[READER]};
    struct schema_cache *schemas = schema_cache_new(NULL, 0);
    struct vsig_options *signals = vsig_options_new();
    const struct worker_config config = {.databases = {.files = &zoo, .n_files = 1},
                                         .schemas = schemas,
                                         .signals = signals,
                                         .limits = {.time_ms = 5000}};
    struct msg_task task = {.key = {0, 1},
                            .hash = {1, 1},
                            .family = "join",
                            .db = "zoo",
                            .question = "How many?",
                            .sql = {"SELECT a FROM t", 15}};
    cr_assert_eq(handles_init(&handles, &config), ERR_OK);
    workspace_init(&workspace, &config, &handles, &stats);
    int64_t deadline_ns = clock_now_ns() + 5000 * INT64_C(1000000), past_ns;
    cr_assert_eq(workspace_take(&workspace, &task, deadline_ns, &err), ERR_OK, "%s", err.text);
    db_set_deadline(workspace.subject.db, 1); /* a deadline in the past, as after a task that used all of its time */
    past_ns = clock_now_ns() + FRESH_MS * INT64_C(1000000);
    cr_assert(wait_until(is_past, &past_ns, LIMIT_MS));
    task.key.offset = 2;
    task.hash[1] = 2;
    cr_expect_eq(workspace_take(&workspace, &task, 0, &err), ERR_OK, "%s", err.text);
    workspace_free(&workspace);
    handles_free(&handles);
    schema_cache_free(schemas);
    vsig_options_free(signals);
    server_end(&server);
}
