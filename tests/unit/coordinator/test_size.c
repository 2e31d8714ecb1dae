/* Tests topics with small message limits. Each request must still end with a verdict. */
#include "tests/support/leak.h"
#include "tests/support/transport_mem.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS = 30, WIDTH = 190 };

static struct world world;
static char wide[COLUMNS * (WIDTH + 8) + 100];

/* Begins with a short request that has a long verdict. */
static void begin(void)
{
    int len = snprintf(wide, sizeof wide, "SELECT name");
    for (int i = 0; i < COLUMNS; i++)
        len += snprintf(wide + len, sizeof wide - (size_t)len, ", printf('%%%d.c', 'x')", WIDTH);
    snprintf(wide + len, sizeof wide - (size_t)len, " FROM keeper");
    cr_assert(world_make(&world));
}
static void end(void)
{
    mem_set(NULL);
    world_remove(&world);
    leak_check();
}
TestSuite(size, .init = begin, .fini = end);

static struct msg_verdict *judge(const char *topics, size_t largest, const char *sql)
{
    struct msg_candidate one = {.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
    struct msg_request request = {.id = "q",
                                  .db = "zoo",
                                  .question = "Who keeps animals?",
                                  .candidates = &one,
                                  .n_candidates = 1,
                                  .options = {.expose = MSG_EXPOSE_ROWS, .explain = MSG_EXPLAIN_FULL}};
    struct engine_config config = {.transport = "mem", .workers = 1};
    struct engine *engine;
    struct msg_verdict *verdict;
    struct err err = {0};
    mem_set(&(struct mem_faults){.topics = topics, .largest = largest});
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_submit(engine, &request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%zu: %s", largest, err.text);
    engine_close(engine);
    return verdict;
}

static unsigned unavailable(const struct msg_verdict *verdict, const char *reason)
{
    unsigned n = 0;
    const struct msg_judged *judged = &verdict->candidates[0];
    for (uint32_t i = 0; i < judged->n_signals; i++)
        n += judged->signals[i].state == MSG_UNAVAILABLE && strcmp(judged->signals[i].reason, reason) == 0;
    return n;
}

/* Returns which parts a verdict has: 0 all, 1 no samples, 2 no explanations either, 3 only the failure. */
static unsigned stage(const struct msg_verdict *v)
{
    if (v->status == MSG_STATUS_FAILED) {
        cr_assert_str_eq(v->reason, "verdict_too_large");
        cr_assert_eq(v->n_candidates, 0);
        return 3;
    }
    const struct msg_judged *judged = &v->candidates[0];
    cr_assert(judged->judged);
    cr_assert_str_eq(judged->execution->code, "ok");
    cr_assert_eq(judged->execution->rows, 3);
    cr_assert_eq(unavailable(v, "limit_bytes"), 0);
    if (judged->explanation && judged->execution->n_sample) return 0;
    cr_assert_eq(judged->execution->n_sample, 0, "samples go first");
    if (!judged->explanation) cr_assert_null(judged->explained);
    return judged->explanation ? 1 : 2;
}

/* Rule 11: an oversized verdict loses its samples first, then its explanations, then everything. */
Test(size, oversized_verdict_drops_parts_then_fails)
{
    unsigned last = 0, seen[4] = {0};
    for (size_t largest = 96 << 10; largest > 1 << 10; largest -= largest / 8) {
        struct msg_verdict *v = judge(BUS_VERDICTS, largest, wide);
        unsigned now = stage(v);
        cr_assert_geq(now, last, "%zu", largest);
        seen[last = now]++;
        msg_verdict_free(v);
    }
    for (unsigned i = 0; i < 4; i++) cr_assert_gt(seen[i], 0, "stage %u was never seen", i);
}

Test(size, oversized_tasks_make_their_families_unavailable)
{
    struct msg_verdict *v = judge(BUS_TASKS_ALL, 256, wide);
    cr_assert_neq(v->status, MSG_STATUS_FAILED);
    cr_assert_eq(unavailable(v, "limit_bytes"), v->candidates[0].n_signals, "all of them");
    cr_assert_lt(v->total_ns, INT64_C(30) * 1000000000, "nobody waited for them");
    msg_verdict_free(v);
}

Test(size, oversized_result_is_reported)
{
    struct msg_verdict *v = judge(BUS_RESULTS, 12 << 10, wide);
    cr_assert_eq(unavailable(v, "limit_bytes"), 0);
    cr_assert_eq(v->candidates[0].execution->rows, 3);
    cr_assert_eq(v->candidates[0].execution->n_sample, 0, "without its rows it fits");
    msg_verdict_free(v);
    /* A query without rows has findings. So its result is larger than the error that replaces it. */
    char nobody[sizeof wide + 128];
    snprintf(nobody, sizeof nobody, "%s WHERE name = 'Nobody of this name' OR name = 'Nobody else either'", wide);
    v = judge(BUS_RESULTS, 420, nobody);
    cr_assert_gt(unavailable(v, "limit_bytes"), 0);
    cr_assert_lt(v->total_ns, INT64_C(30) * 1000000000);
    msg_verdict_free(v);
}
