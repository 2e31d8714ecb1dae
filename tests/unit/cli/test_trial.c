/* Tests a worker that is started for one task. It reads the task, judges it and writes the result. */
#include "proto/message/msg.h"
#include "tests/unit/cli/spawn.h"
#include "worker/isolated.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

static struct arena arena;

static void begin(void)
{
    scratch_begin();
    signal(SIGPIPE, SIG_IGN);
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_free(&arena);
    scratch_end();
}
TestSuite(isolated, .init = begin, .fini = end);

static const char *const ARGV[] = {ASSAY_BINARY, "worker", "--db-root", ".", "--servers", "127.0.0.1:1", NULL};

/* Returns the code of the result, or "" if there is none. */
static const char *judge(const char *db, const char *sql, enum err_code expected)
{
    struct msg_task task = {.key = {1, 2},
                            .hash = {3, 4},
                            .family = "execution",
                            .db = db,
                            .question = "How many customers are there?",
                            .sql = {sql, (uint32_t)strlen(sql)}};
    struct msg_buffer bytes = {0}, output = {0};
    struct msg_result *result = NULL;
    struct err err = {0};
    cr_assert_eq(msg_encode_task(&bytes, &task), ERR_OK);
    enum err_code code = isolated_run(ARGV, "ASSAY_TRIAL=60000", bytes.bytes, bytes.len, 60000, 1 << 24, &output, &err);
    cr_expect_eq(code, expected, "%s: %s", err_name(code), err.text);
    if (!code) cr_assert_eq(msg_decode_result(&arena, output.bytes, output.len, &result, &err), ERR_OK, "%s", err.text);
    if (result) cr_expect(result->key.offset == 2 && result->hash[0] == 3 && result->n_signals > 0);
    msg_buffer_free(&bytes);
    msg_buffer_free(&output);
    return result ? result->code : "";
}

Test(isolated, task_is_judged_in_own_process)
{
    cr_expect_str_eq(judge("shop", "SELECT count(*) FROM customer", ERR_OK), "ok");
    cr_expect_str_eq(judge("nowhere", "SELECT 1", ERR_OK), "db_missing", "an answer like any");
}

Test(isolated, invalid_task_gives_no_result)
{
    struct msg_buffer output = {0};
    struct err err = {0};
    cr_expect_eq(isolated_run(ARGV, "ASSAY_TRIAL=60000", "junk", 4, 60000, 1 << 24, &output, &err), ERR_UNREACHABLE);
    cr_expect_eq(output.len, 0);
    msg_buffer_free(&output);
}
