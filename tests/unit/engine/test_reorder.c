/* Training and measurements must not depend on the speed of threads. So verdicts are put back into order. */
#include "engine/reorder.h"
#include "engine/run.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(reorder, .init = scratch_begin, .fini = end);

/* Returns a verdict in its own memory, as an engine does. */
static struct msg_verdict *verdict_of(uint64_t tag)
{
    struct msg_verdict blank = {.id = "q", .db = "shop", .tag = tag, .status = MSG_STATUS_ABSTAINED}, *out = NULL;
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_verdict(&buffer, &blank), ERR_OK);
    cr_assert_eq(msg_decode_verdict_own(buffer.bytes, buffer.len, &out, NULL), ERR_OK);
    msg_buffer_free(&buffer);
    out->tag = tag;
    return out;
}

static void expect_next(struct reorder *reorder, uint64_t tag)
{
    struct msg_verdict *verdict = reorder_next(reorder);
    cr_expect_eq(verdict ? verdict->tag : 0, tag, "%llu", verdict ? (unsigned long long)verdict->tag : 0);
    msg_verdict_free(verdict);
}

Test(reorder, early_verdict_waits_for_order)
{
    struct reorder reorder;
    reorder_init(&reorder, 1);
    for (uint64_t tag = 7; tag <= 10; tag++) reorder_expect(&reorder, tag);
    reorder_put(&reorder, verdict_of(9));
    reorder_put(&reorder, verdict_of(8));
    expect_next(&reorder, 0);
    reorder_put(&reorder, verdict_of(7));
    for (uint64_t tag = 7; tag <= 9; tag++) expect_next(&reorder, tag);
    expect_next(&reorder, 0);
    reorder_put(&reorder, verdict_of(10));
    reorder_free(&reorder); /* frees all verdicts, including one that belongs to no request */
}

Test(reorder, verdicts_behind_slow_one_are_bounded)
{
    struct reorder reorder;
    uint64_t tag = 0;
    reorder_init(&reorder, 100);
    while (!reorder_full(&reorder) && tag < 10000) reorder_expect(&reorder, ++tag);
    cr_expect(tag > 100 && tag < 1000, "%llu", (unsigned long long)tag);
    reorder_put(&reorder, verdict_of(1));
    expect_next(&reorder, 1);
    cr_expect(!reorder_full(&reorder));
    reorder_free(&reorder);
}

/* --- whole logs --- */

enum { REQUESTS = 12 };

/* takes longer than all other requests together */
#define SLOW "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 400000) SELECT max(x) FROM n"

struct log {
    struct msg_candidate candidate;
    struct msg_request request;
    uint64_t asked, answered;
};

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct log *log = ctx;
    const char *sql = log->asked == 0 ? SLOW : "SELECT name FROM customer";
    (void)arena;
    if (log->asked == REQUESTS) return 0;
    log->candidate = (struct msg_candidate){.sql = {sql, (uint32_t)strlen(sql)}, .count = 1};
    log->request = (struct msg_request){.id = "q",
                                        .db = "shop",
                                        .question = "Who are the customers?",
                                        .tag = ++log->asked,
                                        .candidates = &log->candidate,
                                        .n_candidates = 1};
    *out = &log->request;
    return 1;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct log *log = ctx;
    cr_expect_eq(verdict->tag, ++log->answered, "%llu came as number %llu", (unsigned long long)verdict->tag,
                 (unsigned long long)log->answered);
    cr_expect_neq(verdict->status, MSG_STATUS_FAILED, "%s", verdict->message);
    msg_verdict_free(verdict);
    return true;
}

Test(reorder, verdicts_follow_request_order)
{
    const char *roots[] = {"."};
    struct engine_config config = {.workers = 4,
                                   .databases = {.roots = roots, .n_roots = 1},
                                   .label_model = "none",
                                   .classifier = "none",
                                   .verifier = "none"};
    struct engine *engine = NULL;
    struct err err = {0};
    struct log log = {0};
    struct engine_loop loop = {.next = next_request, .each = on_verdict, .ctx = &log, .in_order = true};
    cr_assert_eq(engine_open(&config, &engine, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(engine_run(engine, &loop, &err), ERR_OK, "%s", err.text);
    engine_close(engine);
    cr_expect_eq(log.answered, REQUESTS);
}

/* Writes a log whose first line is slow and wrong. A consumer in order of completion would receive it last. */
static void write_log(void)
{
    static const char first[] =
        "{\"id\":\"q-0\",\"db\":\"shop\",\"question\":\"How many customers are there?\",\"candidates\":[\"" SLOW
        "\",\"SELECT name FROM customer\"],\"gold\":\"SELECT count(*) FROM customer\"}\n";
    char *others = shop_log(60), *all = g_strconcat(first, others, NULL);
    write_file("log.jsonl", all);
    g_free(others);
    g_free(all);
}

#define BY_FOUR "replay:\n  workers: 4\n"
#define BY_ONE  "replay:\n  workers: 1\n"

/* Trains with this configuration. Returns the classifier. */
static char *learned(const char *config)
{
    write_file("my.yaml", config);
    struct run run =
        assay("train", "classifier", "log.jsonl", "--db-root", ".", "--config", "my.yaml", "--out", "model.json");
    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    char *model = read_file("model.json");
    cr_assert_not_null(model);
    return model;
}

/* Returns eval's report on selection. Its intervals depend on the positions of the questions. */
static char *measured(const char *config)
{
    write_file("my.yaml", config);
    struct run run = assay("eval", "log.jsonl", "--db-root", ".", "--config", "my.yaml", "--format", "json");
    cr_assert_eq(run.status, 0, "%s", run.err);
    const char *end = strstr(run.out, "\"ceiling\"");
    cr_assert(end, "%s", run.out);
    char *selection = g_strndup(run.out, (gsize)(end - run.out));
    run_free(&run);
    return selection;
}

Test(reorder, results_are_equal_with_one_and_four_threads)
{
    char *(*const all[])(const char *) = {learned, measured};
    write_log();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *by_one = all[i](BY_ONE), *by_four = all[i](BY_FOUR);
        cr_expect_str_eq(by_one, by_four);
        g_free(by_one);
        g_free(by_four);
    }
}
