/* Tests db_query on SQLite: values of every type, errors, the result cache, prepared statements, and the limits on
 * rows, bytes, time, steps and memory. */
#include "lib/base/clock.h"
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PEOPLE                                                                                                         \
    "CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT, pay REAL, photo BLOB);"                                    \
    "INSERT INTO people VALUES(1,'Ann',10.5,x'00ff'),(2,'Bob',NULL,NULL),(3,'Zoë',7,x'');"

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"

Test(query, values_of_every_type_are_returned)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT id, name AS who, pay, photo FROM people ORDER BY id", &r, &err), ERR_OK);
    cr_assert_eq(r.n_columns, 4);
    cr_assert_eq(r.n_rows, 3);
    cr_assert_str_eq(r.columns[1], "who");
    cr_assert(r.values[0].type == DB_INT && r.values[0].i == 1);
    cr_assert(r.values[1].type == DB_TEXT && strcmp(r.values[1].text, "Ann") == 0 && r.values[1].len == 3);
    cr_assert(r.values[2].type == DB_FLOAT && r.values[2].f == 10.5);
    cr_assert(r.values[3].type == DB_BLOB && r.values[3].len == 2 && memcmp(r.values[3].text, "\0\xff", 2) == 0);
    cr_assert(r.values[6].type == DB_NULL && r.values[7].type == DB_NULL);
    cr_assert(r.values[11].type == DB_BLOB && r.values[11].len == 0);
    cr_assert(r.ns > 0 && r.prepare_ns > 0 && r.prepare_ns <= r.ns);
    cr_assert(!r.truncated);
    fixture_end(&f);
}

Test(query, text_with_nul_and_broken_utf8_is_returned)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(CAST(x'610062' AS TEXT)),(CAST(x'ff41' AS TEXT));");
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT a FROM t", &r, &err), ERR_OK);
    cr_assert(r.values[0].len == 3 && memcmp(r.values[0].text, "a\0b", 4) == 0);
    cr_assert(r.values[1].len == 2 && r.values[1].text[2] == '\0');
    fixture_end(&f);
}

Test(query, engine_error_has_engines_text)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    cr_assert_eq(fixture_query(&f, "SELECT nmae FROM people", &r, &err), ERR_ENGINE);
    cr_assert_str_eq(err.text, "no such column: nmae");
    cr_assert_eq(r.n_rows, 0);
    cr_assert_null(r.values);
    cr_assert_eq(fixture_query(&f, "-- nothing", &r, &err), ERR_ENGINE);
    cr_assert_eq(fixture_query(&f, "", &r, &err), ERR_ENGINE);
    fixture_end(&f);
}

Test(query, prepare_check_gives_error_offset)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct err err;
    int offset;
    const char *sql = "SELECT nmae FROM people";
    cr_assert_eq(db_prepare_check(f.db, sql, strlen(sql), &offset, &err), ERR_ENGINE);
    cr_assert_eq(offset, 7);
    sql = "SELECT name FROM people";
    cr_assert_eq(db_prepare_check(f.db, sql, strlen(sql), &offset, &err), ERR_OK);
    cr_assert_eq(offset, -1);
    sql = "DELETE FROM people";
    cr_assert_eq(db_prepare_check(f.db, sql, strlen(sql), NULL, &err), ERR_REFUSED);
    fixture_end(&f);
}

/* The file changes while the handle is open. Only queries that are not cached show the change. */
Test(query, result_cache_answers_repeated_query)
{
    static const char count[] = "SELECT count(*), 'Zoë' AS z, NULL FROM people", bad[] = "SELECT nothing FROM people";
    static const char *const clocks[] = {"SELECT count(*) FROM people WHERE DATE() > '2000'",
                                         "SELECT count(*) FROM people WHERE CURRENT_TIMESTAMP > '2000'",
                                         "SELECT count(*) FROM people WHERE random() IS NOT NULL",
                                         "SELECT count(*) FROM recent"};
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_exec(f.path, "CREATE VIEW recent AS SELECT * FROM people WHERE unixepoch() > 1000");
    fixture_open(&f, NULL);
    struct db_memo *memo = db_memo_new();
    struct db_result r;
    struct err err;
    db_set_memo(f.db, memo);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(db_query(f.db, &f.arena, count, strlen(count), NULL, 0, 1, &r, &err), ERR_OK);
        cr_assert(r.n_rows == 1 && r.values[0].i == 3 && r.values[2].type == DB_NULL);
        cr_assert_str_eq(r.values[1].text, "Zoë");
        cr_assert_str_eq(r.columns[1], "z");
        cr_assert_eq(db_query(f.db, &f.arena, bad, strlen(bad), NULL, 0, 1, &r, &err), ERR_ENGINE);
        for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++) {
            cr_assert_eq(db_query(f.db, &f.arena, clocks[c], strlen(clocks[c]), NULL, 0, 1, &r, &err), ERR_OK);
            cr_assert_eq(r.values[0].i, 3 + i, "it may be another one each time: %s", clocks[c]);
        }
        if (i == 0) fixture_exec(f.path, "INSERT INTO people VALUES(4,'Dan',1,NULL)");
    }
    cr_assert_eq(db_query(f.db, &f.arena, count, strlen(count), NULL, 0, 0, &r, &err), ERR_OK);
    cr_assert_eq(r.values[0].i, 4, "a whole result is another one than its first row");
    db_memo_make_room(memo);
    cr_assert_eq(db_query(f.db, &f.arena, count, strlen(count), NULL, 0, 1, &r, &err), ERR_OK);
    cr_assert_eq(r.values[0].i, 3, "there is room enough");
    db_memo_clear(memo);
    cr_assert_eq(db_query(f.db, &f.arena, count, strlen(count), NULL, 0, 1, &r, &err), ERR_OK);
    cr_assert_eq(r.values[0].i, 4);
    db_set_memo(f.db, NULL);
    db_memo_free(memo);
    fixture_end(&f);
}

/* 1, 1.0 and '1' are different parameters. After the row is deleted, each still gets its own cached answer. */
Test(query, result_cache_distinguishes_parameters)
{
    static const char kind[] = "SELECT typeof(?1), count(*) FROM people";
    const struct db_value params[] = {{.type = DB_INT, .i = 1},
                                      {.type = DB_FLOAT, .f = 1},
                                      {.type = DB_TEXT, .text = "1", .len = 1},
                                      {.type = DB_NULL}};
    static const char *const names[] = {"integer", "real", "text", "null"};
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_memo *memo = db_memo_new();
    struct db_result r;
    struct err err;
    db_set_memo(f.db, memo);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
            cr_assert_eq(db_query(f.db, &f.arena, kind, strlen(kind), &params[i], 1, 1, &r, &err), ERR_OK);
            cr_assert_str_eq(r.values[0].text, names[i]);
            cr_assert_eq(r.values[1].i, 3);
        }
        if (round == 0) fixture_exec(f.path, "DELETE FROM people WHERE rowid = 1");
    }
    db_set_memo(f.db, NULL);
    db_memo_free(memo);
    fixture_end(&f);
}

/* A cached result must respect the limits of each caller, not those of the first caller. */
Test(query, result_cache_respects_callers_limits)
{
    static const char many[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                               "SELECT count(*) FROM n";
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_memo *memo = db_memo_new();
    struct db_result r;
    struct err err;
    db_set_memo(f.db, memo);
    cr_assert_eq(db_query(f.db, &f.arena, many, strlen(many), NULL, 0, 1, &r, &err), ERR_OK);
    const struct db_limits few = {.max_steps = 5000};
    db_set_limits(f.db, &few);
    cr_assert_eq(db_query(f.db, &f.arena, many, strlen(many), NULL, 0, 1, &r, &err), ERR_LIMIT_STEPS);
    db_set_limits(f.db, NULL);
    cr_assert_eq(db_query(f.db, &f.arena, many, strlen(many), NULL, 0, 1, &r, &err), ERR_OK);
    cr_assert_eq(r.values[0].i, 20000);
    db_set_memo(f.db, NULL);
    db_memo_free(memo);
    fixture_end(&f);
}

Test(query, stop_rows_truncates_without_error)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    const char *sql = "SELECT id FROM people ORDER BY id";
    cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), NULL, 0, 2, &r, &err), ERR_OK);
    cr_assert(r.n_rows == 2 && r.truncated);
    cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), NULL, 0, 4, &r, &err), ERR_OK);
    cr_assert(r.n_rows == 3 && !r.truncated);
    fixture_end(&f);
}

Test(query, parameters_bind_and_statement_stays_prepared)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    const char *sql = "SELECT id FROM people WHERE name = ?1";
    for (int round = 0; round < 3; round++) {
        struct db_value ann = {.type = DB_TEXT, .text = "Ann", .len = 3}, none = {.type = DB_NULL};
        cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), &ann, 1, 0, &r, &err), ERR_OK);
        cr_assert(r.n_rows == 1 && r.values[0].i == 1);
        cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), &none, 1, 0, &r, &err), ERR_OK);
        cr_assert_eq(r.n_rows, 0, "the last round's value is gone");
    }
    /* There are more statements than the cache holds, so the oldest are evicted. */
    for (int i = 0; i < 100; i++) {
        char shape[64];
        int n = snprintf(shape, sizeof shape, "SELECT ?1 + %d", i);
        struct db_value one = {.type = DB_INT, .i = 1};
        cr_assert_eq(db_query(f.db, &f.arena, shape, (size_t)n, &one, 1, 0, &r, &err), ERR_OK);
        cr_assert_eq(r.values[0].i, i + 1);
    }
    fixture_end(&f);
}

Test(query, kept_statement_follows_schema_change)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    struct db_value one = {.type = DB_INT, .i = 1};
    const char *sql = "SELECT * FROM people WHERE id = ?1";
    cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), &one, 1, 0, &r, &err), ERR_OK);
    cr_assert_eq(r.n_columns, 4);
    fixture_exec(f.path, "ALTER TABLE people ADD COLUMN extra DEFAULT 5");
    cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), &one, 1, 0, &r, &err), ERR_OK);
    cr_assert_eq(r.n_columns, 5);
    cr_assert_eq(r.values[4].i, 5);
    fixture_end(&f);
}

static enum err_code limited(const char *sql, const struct db_limits *limits)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, limits);
    struct db_result r;
    struct err err = {0};
    enum err_code code = fixture_query(&f, sql, &r, &err);
    if (code) cr_assert(err.text[0] && err.code == code);
    cr_assert_eq(fixture_int(&f, "SELECT 1"), 1, "the handle lives on");
    fixture_end(&f);
    return code;
}

Test(limits, each_limit_has_its_error_class)
{
    cr_assert_eq(limited(ENDLESS, &(struct db_limits){.time_ms = 50}), ERR_LIMIT_TIME);
    cr_assert_eq(limited(ENDLESS, &(struct db_limits){.max_steps = 20000}), ERR_LIMIT_STEPS);
    cr_assert_eq(limited("SELECT a.id FROM people a, people b", &(struct db_limits){.max_rows = 8}), ERR_LIMIT_ROWS);
    cr_assert_eq(limited("SELECT a.id FROM people a, people b", &(struct db_limits){.max_rows = 9}), ERR_OK);
    cr_assert_eq(limited("SELECT zeroblob(500) FROM people", &(struct db_limits){.max_bytes = 1400}), ERR_LIMIT_BYTES);
    cr_assert_eq(limited("SELECT length(zeroblob(2000))", &(struct db_limits){.value_bytes = 1000}), ERR_LIMIT_BYTES);
    cr_assert_eq(limited("SELECT 1 + 1 + 1 + 1 + 1", &(struct db_limits){.expr_depth = 3}), ERR_LIMIT_DEPTH);
    cr_assert_eq(limited("SELECT 'longer than ten'", &(struct db_limits){.sql_bytes = 10}), ERR_LIMIT_BYTES);
}

Test(limits, time_limit_may_count_steps)
{
    cr_assert_eq(limited(ENDLESS, &(struct db_limits){.time_ms = 50, .by_steps = true}), ERR_LIMIT_STEPS);
    cr_assert_eq(limited(ENDLESS, &(struct db_limits){.time_ms = INT64_MAX, .max_steps = 20000, .by_steps = true}),
                 ERR_LIMIT_STEPS, "the smaller one counts");
    cr_assert_eq(
        limited("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 1000) SELECT max(x) FROM c",
                &(struct db_limits){.time_ms = 1, .by_steps = true}),
        ERR_OK, "fewer steps than a millisecond has");
}

Test(limits, statement_memory_is_limited)
{
    const char *sql =
        "WITH RECURSIVE c(x, b) AS (SELECT 1, randomblob(100000) UNION SELECT x+1, randomblob(100000) FROM c LIMIT 150)"
        " SELECT count(*) FROM c";
    cr_assert_eq(limited(sql, &(struct db_limits){.time_ms = 60000, .heap_bytes = 16U << 20}), ERR_LIMIT_MEMORY);
    cr_assert_eq(limited(sql, &(struct db_limits){.time_ms = 60000}), ERR_OK);
}

/* Memory of other users of SQLite counts too. Here the test itself holds such memory outside of any statement. */
Test(limits, statements_share_process_memory_limit)
{
    const char *sql = "SELECT count(*) FROM people a, people b ORDER BY a.name";
    struct fixture f;
    struct db_result r;
    struct err err;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, &(struct db_limits){.heap_bytes = 16U << 20});
    void *held = sqlite3_malloc(20 << 20);
    cr_assert(held);
    cr_assert_eq(fixture_query(&f, sql, &r, &err), ERR_LIMIT_MEMORY);
    sqlite3_free(held);
    cr_assert_eq(fixture_query(&f, sql, &r, &err), ERR_OK);
    fixture_end(&f);
}

Test(limits, full_arena_is_limit_error)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct arena small;
    arena_init(&small, 20000);
    struct db_result r;
    struct err err;
    const char *sql = "SELECT zeroblob(9000), zeroblob(9000), zeroblob(9000)";
    cr_assert_eq(db_query(f.db, &small, sql, strlen(sql), NULL, 0, 0, &r, &err), ERR_LIMIT_MEMORY);
    cr_assert_null(r.values);
    arena_free(&small);
    fixture_end(&f);
}

Test(limits, deadline_is_distinct_from_statement_limit)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, &(struct db_limits){.time_ms = 5000});
    struct db_result r;
    struct err err;
    db_set_deadline(f.db, clock_now_ns() + 50000000);
    cr_assert_eq(fixture_query(&f, ENDLESS, &r, &err), ERR_DEADLINE);
    cr_assert_eq(fixture_query(&f, "SELECT 1", &r, &err), ERR_DEADLINE, "it is past already");
    db_set_deadline(f.db, 0);
    cr_assert_eq(fixture_int(&f, "SELECT 1"), 1);
    fixture_end(&f);
}

static atomic_bool interrupted;

/* Interrupts repeatedly, because an interrupt before the start of the statement has no effect. */
static bool is_heard(void *db)
{
    db_interrupt(db);
    return atomic_load(&interrupted);
}

static void *interrupter(void *db)
{
    wait_until(is_heard, db, 20000);
    return NULL;
}

Test(limits, another_thread_may_interrupt)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, &(struct db_limits){.time_ms = 20000});
    struct db_result r;
    struct err err;
    pthread_t thread;
    pthread_create(&thread, NULL, interrupter, f.db);
    cr_assert_eq(fixture_query(&f, ENDLESS, &r, &err), ERR_CANCELLED);
    atomic_store(&interrupted, true);
    pthread_join(thread, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT 1"), 1);
    fixture_end(&f);
}

Test(refused, non_text_input_is_refused)
{
    struct fixture f;
    fixture_init(&f, PEOPLE);
    fixture_open(&f, NULL);
    struct db_result r;
    struct err err;
    cr_assert_eq(db_query(f.db, &f.arena, "SELECT 1\0; SELECT 2", 19, NULL, 0, 0, &r, &err), ERR_ENCODING);
    cr_assert_eq(db_query(f.db, &f.arena, "SELECT '\xff'", 10, NULL, 0, 0, &r, &err), ERR_ENCODING);
    fixture_end(&f);
}

static bool count_rows(void *ctx, const struct db_value *row, uint32_t n)
{
    uint32_t *left = ctx;
    cr_assert(n >= 1 && row[0].type != DB_BLOB);
    return --*left > 0;
}

Test(scan, schema_listing_stops_on_request)
{
    struct fixture f;
    fixture_init(&f, PEOPLE "CREATE VIEW peek AS SELECT name FROM sqlite_master;");
    fixture_open(&f, &(struct db_limits){.max_rows = 1});
    struct err err = {0};
    uint32_t left = 100;
    cr_assert_eq(db_scan(f.db, "SELECT name FROM sqlite_master", count_rows, &left, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(left, 98);
    cr_assert_eq(db_scan(f.db, "SELECT * FROM pragma_table_info('people')", count_rows, &left, &err), ERR_OK, "%s",
                 err.text);
    cr_assert_eq(left, 94);
    left = 2;
    cr_assert_eq(db_scan(f.db, "SELECT id FROM people", count_rows, &left, &err), ERR_OK);
    cr_assert_eq(left, 0);
    left = 100;
    cr_assert_eq(db_scan(f.db, "SELECT * FROM peek", count_rows, &left, &err), ERR_REFUSED, "a view is not trusted");
    cr_assert_eq(db_scan(f.db, "DELETE FROM people", count_rows, &left, &err), ERR_REFUSED);
    cr_assert_eq(db_scan(f.db, "PRAGMA query_only = 0", count_rows, &left, &err), ERR_REFUSED);
    struct db_result r;
    cr_assert_eq(fixture_query(&f, "SELECT name FROM sqlite_master", &r, &err), ERR_REFUSED,
                 "trust ends with the scan");
    fixture_end(&f);
}
