/* Tests statements in a child process. Their results are the same as without a child. A child that crashes or
 * misbehaves must not harm its parent. */
#include "lib/base/clock.h"
#include "lib/db/executor.h"
#include "lib/db/executor_wire.h"
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIME_MS = 200, OVER_MS = EXECUTOR_GRACE_MS + 1500 /* generous, for a busy machine under sanitizers */ };

#define SCHEMA "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 'x', 2.5), (NULL, x'00ff', ''), (-7, 'ä''\"', 1e300)"

static struct executor *begin(struct fixture *f, const char *child, int64_t time_ms)
{
    if (child)
        setenv("ASSAY_TEST_CHILD", child, 1);
    else
        unsetenv("ASSAY_TEST_CHILD");
    struct err err = {0};
    fixture_init(f, SCHEMA);
    struct executor *executor = executor_new(EXECUTOR_PROGRAM);
    enum err_code code = executor_open(executor, f->path, &(struct db_limits){.time_ms = time_ms}, &f->db, &err);
    cr_assert_eq(code, ERR_OK, "%s", err.text);
    return executor;
}

static void end(struct fixture *f, struct executor *executor)
{
    db_close(f->db);
    f->db = NULL;
    executor_free(executor);
    fixture_end(f);
}

static bool is_same(const struct db_value *a, const struct db_value *b)
{
    bool text = a->type == DB_TEXT || a->type == DB_BLOB;
    if (a->type != b->type || a->i != b->i || a->len != b->len) return false;
    if (a->type == DB_FLOAT && memcmp(&a->f, &b->f, sizeof a->f) != 0) return false;
    return !text || memcmp(a->text, b->text, a->len + 1) == 0;
}

static void compare_results(const char *sql, const struct db_result *ours, const struct db_result *theirs)
{
    cr_assert_eq(ours->n_rows, theirs->n_rows, "%s", sql);
    cr_assert_eq(ours->n_columns, theirs->n_columns, "%s", sql);
    cr_assert_eq(ours->truncated, theirs->truncated, "%s", sql);
    cr_assert_eq(ours->steps, theirs->steps, "%s", sql);
    cr_assert_arr_eq(ours->digest, theirs->digest, sizeof ours->digest);
    cr_assert_arr_eq(ours->ordered_digest, theirs->ordered_digest, sizeof ours->ordered_digest);
    for (uint32_t i = 0; i < ours->n_columns; i++) cr_assert_str_eq(ours->columns[i], theirs->columns[i]);
    for (size_t i = 0; i < (size_t)ours->n_rows * ours->n_columns; i++)
        cr_assert(is_same(&ours->values[i], &theirs->values[i]), "%s: value %zu", sql, i);
}

Test(executor, child_answers_like_own_process, .timeout = 120)
{
    static const char *const statements[] = {
        "SELECT * FROM t",
        "SELECT a AS \"ä b\", b, c FROM t ORDER BY a",
        "SELECT count(*), sum(a), group_concat(b) FROM t",
        "SELECT NULL, '', x'', 9223372036854775807, -0.0, 1e999",
        "SELECT a FROM t WHERE 0",
        "SELECT nothing FROM t",
        "SELEC 1",
        "",
        "DELETE FROM t",
        "SELECT load_extension('x')",
        "SELECT * FROM t; SELECT 2",
        "SELECT hex(zeroblob(3000000)) || hex(zeroblob(3000000))",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5000) SELECT x, 'row ' || x FROM c",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200000) SELECT x FROM c",
        "SELECT hex(zeroblob(1000000)), hex(zeroblob(900000)), hex(zeroblob(800000))",
    };
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 5000);
    struct db *plain;
    struct err err;
    cr_assert_eq(db_open(f.path, &(struct db_limits){.time_ms = 5000}, &plain, &err), ERR_OK);
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        for (uint32_t stop = 0; stop < 3; stop++) {
            struct db_result ours, theirs;
            struct err our_err = {0}, their_err = {0};
            const char *sql = statements[i];
            enum err_code a = db_query(f.db, &f.arena, sql, strlen(sql), NULL, 0, stop, &ours, &our_err);
            enum err_code b = db_query(plain, &f.arena, sql, strlen(sql), NULL, 0, stop, &theirs, &their_err);
            cr_assert_eq(a, b, "%s: %s (%s), not %s (%s)", sql, err_name(a), our_err.text, err_name(b), their_err.text);
            cr_assert_str_eq(our_err.text, their_err.text);
            if (!a) compare_results(sql, &ours, &theirs);
            int our_at, their_at;
            a = db_prepare_check(f.db, sql, strlen(sql), &our_at, &our_err);
            b = db_prepare_check(plain, sql, strlen(sql), &their_at, &their_err);
            cr_assert(a == b && our_at == their_at, "%s: %d, not %d", sql, our_at, their_at);
            arena_reset(&f.arena);
        }
    cr_assert_eq(executor_stats(executor).started, 1);
    db_close(plain);
    end(&f, executor);
}

Test(executor, child_binds_values, .timeout = 60)
{
    const struct db_value values[] = {{.type = DB_NULL},
                                      {.type = DB_INT, .i = -5},
                                      {.type = DB_FLOAT, .f = 0.1},
                                      {.type = DB_TEXT, .text = "a\0b", .len = 3},
                                      {.type = DB_BLOB, .text = "\xff", .len = 1},
                                      {.type = DB_TEXT, .text = "", .len = 0}};
    static const char sql[] = "SELECT ?1, ?2, ?3, ?4, ?5, ?6";
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 5000);
    struct db_result result;
    struct err err = {0};
    for (int i = 0; i < 3; i++) { /* the statement stays prepared between runs */
        cr_assert_eq(db_query(f.db, &f.arena, sql, strlen(sql), values, 6, 1, &result, &err), ERR_OK, "%s", err.text);
        for (size_t v = 0; v < G_N_ELEMENTS(values); v++) cr_assert(is_same(&result.values[v], &values[v]), "%zu", v);
    }
    end(&f, executor);
}

/* Returns the youngest child of this thread. An older child may be killed but not reaped yet. */
static pid_t child_of(void)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)gettid());
    cr_assert(g_file_get_contents(path, &text, NULL, NULL));
    char *space = strrchr(g_strchomp(text), ' ');
    pid_t pid = (pid_t)atol(space ? space + 1 : text);
    g_free(text);
    return pid;
}

static char *status_of(pid_t pid)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

/* Runs a statement; sets *code and returns the duration in ms. */
static double time_of(struct fixture *f, const char *sql, enum err_code *code, struct err *err)
{
    struct db_result result;
    int64_t start = clock_now_ns();
    *code = fixture_query(f, sql, &result, err);
    return clock_ms(clock_now_ns() - start);
}

/* Returns a statement that the engine cannot interrupt: 98 scans of two million numbers in one opcode, half a second in
 * all. */
static char *unstoppable(void)
{
    GString *sql = g_string_new("SELECT json_extract('[' || replace(hex(zeroblob(1990000)), '00', '1,') || '1]'");
    for (unsigned i = 0; i < 98; i++) g_string_append(sql, ",'$[#-1]'");
    g_string_append_c(sql, ')');
    return g_string_free(sql, FALSE);
}

Test(executor, no_statement_overruns_by_more_than_its_grace, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, TIME_MS);
    struct err err = {0};
    enum err_code code;
    char *sql = unstoppable();
    double ms = time_of(&f, sql, &code, &err);
    cr_assert_lt(ms, TIME_MS + OVER_MS, "%.0f ms", ms);
    cr_assert(code == ERR_LIMIT_TIME || code == ERR_OK, "%s: %s", err_name(code), err.text);
    g_free(sql);
    end(&f, executor);
}

/* The child never answers. */
Test(executor, overrunning_child_is_killed_and_replaced, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, TIME_MS);
    for (unsigned i = 1; i <= 2; i++) {
        struct err err = {0};
        enum err_code code;
        cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
        kill(child_of(), SIGSTOP);
        double ms = time_of(&f, "SELECT 1", &code, &err);
        cr_assert_eq(code, ERR_LIMIT_TIME, "%s: %s", err_name(code), err.text);
        cr_assert(ms >= TIME_MS + EXECUTOR_GRACE_MS && ms < TIME_MS + OVER_MS, "%.0f ms", ms);
        cr_assert_eq(executor_stats(executor).killed, i);
        cr_assert_eq(executor_stats(executor).started, i);
    }
    struct err err = {0};
    enum err_code code;
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
    kill(child_of(), SIGSTOP);
    db_set_deadline(f.db, clock_now_ns() + 50 * 1000000);
    time_of(&f, "SELECT 1", &code, &err);
    cr_assert_eq(code, ERR_DEADLINE, "%s", err.text);
    db_set_deadline(f.db, 0);
    end(&f, executor);
}

/* Each kind of fault fails its own statement, with a fitting error class. The next statement gets a new child. */
Test(executor, dying_child_leaves_parent_running, .timeout = 120)
{
    static const struct {
        const char *how;
        enum err_code code;
    } cases[] = {
        {"crash", ERR_ENGINE},       {"leave", ERR_ENGINE},      {"hang", ERR_LIMIT_TIME},
        {"stutter", ERR_LIMIT_TIME}, {"huge", ERR_LIMIT_MEMORY},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fixture f;
        struct executor *executor = begin(&f, cases[i].how, TIME_MS);
        for (unsigned n = 1; n <= 2; n++) {
            struct db_result result;
            struct err err = {0};
            enum err_code code = fixture_query(&f, "SELECT 1", &result, &err);
            cr_assert_eq(code, cases[i].code, "%s: %s: %s", cases[i].how, err_name(code), err.text);
            cr_assert(err.text[0], "%s", cases[i].how);
            cr_assert_eq(executor_stats(executor).started, n, "%s", cases[i].how);
        }
        end(&f, executor);
    }
}

Test(executor, malformed_reply_is_error_or_small_result, .timeout = 120)
{
    struct fixture f;
    struct executor *executor = begin(&f, "garbage", 2000);
    for (unsigned n = 0; n < 150; n++) {
        struct db_result result;
        struct err err = {0};
        enum err_code code = fixture_query(&f, "SELECT 1", &result, &err);
        cr_assert(code == ERR_OK || err.text[0]);
        cr_assert_neq(err_class(code), ERR_CLASS_FATAL, "%s", err_name(code));
        arena_reset(&f.arena);
    }
    end(&f, executor);
}

/* --- the reader of replies ---------------------------------------------------------------------------------------- */

static void answer(GByteArray *out, struct wire_request *asked)
{
    static const struct db_value values[] = {{.type = DB_TEXT, .text = "abc", .len = 3}, {.type = DB_INT, .i = 4}};
    static const char *const names[] = {"one", "two"};
    *asked = (struct wire_request){.op = WIRE_QUERY, .limits = {.max_rows = 10}};
    wire_write_reply(out,
                     &(struct wire_reply){.result = {.n_columns = 2, .columns = names, .n_rows = 1, .values = values}});
}

/* A reply is truncated at each place, or has one byte changed. It must be refused, or read without reading past its
 * end. */
Test(executor, replies_are_validated)
{
    struct wire_request asked;
    struct wire_reply reply;
    struct arena arena;
    GByteArray *out = g_byte_array_new();
    arena_init(&arena, 1 << 20);
    answer(out, &asked);
    size_t len = out->len - WIRE_LENGTH;
    cr_assert(wire_read_reply(out->data + WIRE_LENGTH, len, &asked, &arena, &reply));
    cr_assert_str_eq(reply.result.values[0].text, "abc");
    for (size_t cut = 0; cut < len; cut++) {
        /* a separate allocation, so that a sanitizer detects a read past the end */
        guint8 *copy = g_memdup2(out->data + WIRE_LENGTH, cut);
        cr_assert_not(wire_read_reply(copy, cut, &asked, &arena, &reply), "cut at %zu", cut);
        g_free(copy);
        arena_reset(&arena);
    }
    for (size_t at = 0; at < len; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            guint8 *copy = g_memdup2(out->data + WIRE_LENGTH, len);
            copy[at] = (guint8)byte;
            if (wire_read_reply(copy, len, &asked, &arena, &reply)) cr_assert_leq(reply.result.n_rows, 10);
            g_free(copy);
            arena_reset(&arena);
        }
    asked.limits.max_rows = 0;
    cr_assert_not(wire_read_reply(out->data + WIRE_LENGTH, len, &asked, &arena, &reply),
                  "more rows than were asked for");
    arena_free(&arena);
    g_byte_array_free(out, TRUE);
}

/* --- callers
 * -------------------------------------------------------------------------------------------------------- */

static bool is_gone(void *p)
{
    char *status = status_of(*(pid_t *)p);
    bool gone = !status || strstr(status, "State:\tZ");
    g_free(status);
    return gone;
}

static void kill_at_rest(pid_t pid)
{
    kill(pid, SIGKILL);
    cr_assert(wait_until(is_gone, &pid, 5000));
}

Test(executor, idle_child_is_confined_and_replaced_on_death, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 5000);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
    pid_t pid = child_of();
    char *status = status_of(pid);
    cr_assert_not_null(strstr(status, "NoNewPrivs:\t1"), "%s", status);
    cr_assert_not_null(strstr(status, "Seccomp:\t2"), "%s", status);
    g_free(status);
    kill_at_rest(pid);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
    cr_assert_neq(child_of(), pid);
    cr_assert_eq(executor_stats(executor).started, 2);
    end(&f, executor);
}

struct caller {
    struct db *db;
    atomic_bool done;
};

static void *call_off(void *p)
{
    struct caller *caller = p;
    while (!atomic_load(&caller->done)) {
        db_interrupt(caller->db);
        g_usleep(1000);
    }
    return NULL;
}

Test(executor, statement_can_be_cancelled, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 30000);
    struct caller caller = {.db = f.db};
    struct db_result result;
    struct err err = {0};
    pthread_t thread;
    pthread_create(&thread, NULL, call_off, &caller);
    enum err_code code = fixture_query(
        &f, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", &result, &err);
    atomic_store(&caller.done, true);
    pthread_join(thread, NULL);
    cr_assert_eq(code, ERR_CANCELLED, "%s", err.text);
    cr_assert_eq(executor_stats(executor).killed, 0);
    end(&f, executor);
}

/* Several databases that a thread uses share a child. Each keeps its own state, even after the child is replaced. */
Test(executor, databases_share_child, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 5000);
    struct db *others[5];
    struct err err = {0};
    for (int i = 0; i < 5; i++) {
        char *path = g_strdup_printf("%s/other%d.sqlite", f.dir, i), *sql = g_strdup_printf("CREATE TABLE o%d(a)", i);
        fixture_exec(path, sql);
        cr_assert_eq(executor_open(executor, path, NULL, &others[i], &err), ERR_OK, "%s", err.text);
        g_free(path);
        g_free(sql);
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++) {
            struct db_result result;
            char *sql = g_strdup_printf("SELECT count(*) FROM o%d", i);
            enum err_code code = db_query(others[i], &f.arena, sql, strlen(sql), NULL, 0, 0, &result, &err);
            cr_assert_eq(code, ERR_OK, "%s: %s", sql, err.text);
            g_free(sql);
        }
        cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
        kill_at_rest(child_of());
    }
    for (int i = 0; i < 5; i++) db_close(others[i]);
    end(&f, executor);
}

Test(executor, changed_file_is_detected, .timeout = 60)
{
    struct fixture f;
    struct executor *executor = begin(&f, NULL, 5000);
    char before[33], after[33];
    struct err err = {0};
    cr_assert_eq(db_fingerprint(f.db, before, &err), ERR_OK);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 3);
    fixture_exec(f.path, "INSERT INTO t VALUES (4, 4, 4)");
    cr_assert_eq(db_fingerprint(f.db, after, &err), ERR_OK);
    cr_assert_str_neq(before, after);
    cr_assert_eq(fixture_int(&f, "SELECT count(*) FROM t"), 4);
    end(&f, executor);
}

Test(executor, missing_program_is_error)
{
    struct fixture f;
    struct db_result result;
    struct err err = {0};
    fixture_init(&f, SCHEMA);
    struct executor *executor = executor_new("/nonexistent/assay");
    cr_assert_eq(executor_open(executor, f.path, NULL, &f.db, &err), ERR_OK);
    cr_assert_eq(fixture_query(&f, "SELECT 1", &result, &err), ERR_UNREACHABLE, "%s", err.text);
    end(&f, executor);
}

/* Both processes create a database from the schema. The child decides on validity, and it has no more data than the
 * parent. */
Test(executor, schema_without_data_runs_in_child, .timeout = 60)
{
    static const char ddl[] = DB_SCHEMA_PREFIX "CREATE TABLE t (a int)", valid[] = "SELECT a FROM t",
                      invalid[] = "SELECT b FROM t";
    struct executor *executor = executor_new(EXECUTOR_PROGRAM);
    struct err err = {0};
    struct arena arena;
    struct db *db;
    struct db_result result;
    int offset;
    unsetenv("ASSAY_TEST_CHILD");
    arena_init(&arena, 0);
    cr_assert_eq(executor_open(executor, ddl, NULL, &db, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(db_prepare_check(db, valid, strlen(valid), &offset, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(db_prepare_check(db, invalid, strlen(invalid), &offset, &err), ERR_ENGINE);
    cr_expect_eq(offset, 7);
    cr_expect_eq(db_query(db, &arena, valid, strlen(valid), NULL, 0, 0, &result, &err), ERR_NO_DATA);
    cr_expect_eq(executor_stats(executor).started, 1, "that was a child's word");
    db_close(db);
    executor_free(executor);
    arena_free(&arena);
}
