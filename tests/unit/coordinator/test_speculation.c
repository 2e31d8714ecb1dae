/* Speculation and the order of results may change the duration of a verdict, but not its content. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include "lib/learn/metrics.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { CASES = 400, MAX_CANDIDATES_HERE = 9 };

static char *draw_sql(uint64_t *random)
{
    static const char *const shapes[] = {"SELECT rows_%u FROM t",
                                         "SELECT rows_%u, fires_1",
                                         "SELECT fires_%u",
                                         "SELECT rows_2 , fires_%u",
                                         "SELECT bad_name, %u",
                                         "SELEC %u",
                                         "SELECT slow, rows_%u",
                                         "select   rows_%u from T",
                                         "SELECT rows_1, fires_%u",
                                         "SELECT entails_%u",
                                         "SELECT rows_1, entails_%u, fires_2",
                                         "SELECT entails_%u, rows_2",
                                         "SELECT unreachable, rows_%u",
                                         "SELECT unexplained, rows_%u"};
    unsigned shape = (unsigned)(learn_random(random) % G_N_ELEMENTS(shapes));
    char *out = NULL;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    cr_assert_gt(asprintf(&out, shapes[shape], (unsigned)(learn_random(random) % 4)), 0);
#pragma GCC diagnostic pop
    return out;
}

/* The verifiers of a test: none, remote, shipped, or remote with the shipped one as fallback. */
enum { NOBODY, REMOTE, BUILT_IN, BOTH, WAYS };

static char *verdict_of(const char *const *sqls, struct msg_options options, uint64_t order, unsigned way,
                        struct verifier_model *shipped)
{
    struct script s;
    if (way == REMOTE || way == BOTH)
        script_open_remote(&s, (struct msg_options){0});
    else
        script_open(&s, (struct msg_options){0});
    if (way == BUILT_IN || way == BOTH) s.models->verifier = shipped;
    s.models->margins[MSG_ORDER_RANKED] = 0.05;
    script_ask(&s, 0, &options, sqls, 0);
    script_answer_all(&s, order, 0);
    cr_assert_eq(s.verdicts->len, 1);
    char *out = g_strdup(s.verdicts->pdata[0]);
    char *digest = strstr(out, "\"request_digest\":\"");
    cr_assert_not_null(digest);
    /* masks the digest, which differs because requests name the number of candidates in flight */
    memset(digest + strlen("\"request_digest\":\""), '0', 32);
    char *said = strstr(out, "\"speculate\":"); /* masks the same number in a clarification question */
    if (said) said[strlen("\"speculate\":")] = '1';
    s.models->verifier = NULL; /* belongs to the test */
    script_close(&s);
    return out;
}

/* Checks that a candidate that executes is chosen if there is one. A best effort must never be a candidate that fails
 * to execute. */
static void best_effort_executes(const char *text, unsigned number)
{
    json_t *verdict = json_loads(text, 0, NULL);
    const json_t *candidates = json_object_get(verdict, "candidates");
    size_t i;
    json_t *one;
    bool any = false;
    json_array_foreach(candidates, i, one) any |=
        json_is_integer(json_object_get(json_object_get(one, "execution"), "rows"));
    const json_t *chosen = json_object_get(verdict, "chosen");
    if (any && strcmp(script_text(verdict, "status"), "best_effort") == 0) {
        one = json_array_get(candidates, (size_t)json_integer_value(chosen));
        cr_assert(json_is_integer(json_object_get(json_object_get(one, "execution"), "rows")), "case %u: %s", number,
                  text);
    }
    json_decref(verdict);
}

Test(speculation, speculation_does_not_change_verdicts, .fini = leak_check)
{
    uint64_t random = 20240607;
    struct verifier_model *shipped = NULL;
    struct err err = {0};
    unsigned differ = 0;
    cr_assert_eq(verifier_load(TEST_DATA "/../../models/verifier.json", &shipped, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < CASES / 4; i++) {
        char *sqls[MAX_CANDIDATES_HERE + 1] = {0};
        unsigned n = 1 + (unsigned)(learn_random(&random) % MAX_CANDIDATES_HERE);
        for (unsigned k = 0; k < n; k++) sqls[k] = draw_sql(&random);
        struct msg_options options = {.strategy = MSG_FIRST_VALID + i % (MSG_STRATEGY_COUNT - 1),
                                      .policy = MSG_BEST_EFFORT + (unsigned)(learn_random(&random) % 3),
                                      .threshold = 0.3 + 0.6 * learn_random_unit(&random),
                                      .max_iterations = (unsigned)(learn_random(&random) % 6),
                                      .speculate = 1};
        unsigned way = i / (MSG_STRATEGY_COUNT - 1) % WAYS;
        char *plain = verdict_of((const char *const *)sqls, options, 0, way, shipped);
        differ += strstr(plain, "\"verifier\":\"builtin\"") != NULL;
        best_effort_executes(plain, i);
        for (unsigned speculate = 1; speculate <= 8; speculate += 3) {
            options.speculate = speculate;
            char *ahead = verdict_of((const char *const *)sqls, options, learn_random(&random) | 1, way, shipped);
            cr_assert_str_eq(ahead, plain, "case %u, %u at a time", i, speculate);
            g_free(ahead);
        }
        g_free(plain);
        for (unsigned k = 0; k < n; k++) free(sqls[k]);
    }
    cr_assert_gt(differ, CASES / 40, "the built-in verifier did judge");
    verifier_free(shipped);
}

Test(speculation, speculation_bounds_candidates_in_flight, .fini = leak_check)
{
    struct script s;
    struct msg_options options = {.speculate = 3, .strategy = MSG_FIRST_VALID};
    script_open(&s, (struct msg_options){0});
    script_ask(
        &s, 0, &options,
        (const char *const[]){"SELECT fires_4", "SELECT fires_5", "SELECT fires_3", "SELECT rows_1", "SELECT 9", NULL},
        0);
    cr_assert_eq(s.tasks->len, 3 * FAMILIES);
    for (unsigned i = 0; i < FAMILIES; i++) script_answer(&s, FAMILIES, 0);
    cr_assert_eq(s.tasks->len, 2 * FAMILIES, "the second is done, but the first is not");
    for (unsigned i = 0; i < FAMILIES; i++) script_answer(&s, 0, 0);
    cr_assert_eq(s.tasks->len, 3 * FAMILIES, "two are done, two more are out");
    script_close(&s);
}

/* Judges n requests one after another; the first result of each takes `ns`. Returns how many candidates of the last
 * request were in flight at once. */
static unsigned out_at_once(struct script *s, int64_t *number, unsigned requests, int64_t wait_ns, int64_t *now)
{
    unsigned out = 0;
    for (unsigned i = 0; i < requests; i++) {
        char *line = g_strdup_printf(
            "{\"id\":\"r%d\",\"db\":\"d\",\"question\":\"What?\",\"options\":{\"strategy\":\"first_valid\"},"
            "\"candidates\":[\"SELECT fires_4\",\"SELECT fires_5\",\"SELECT fires_3\"]}",
            (int)*number);
        script_ask_json(s, (struct msg_key){0, (*number)++}, line, *now);
        g_free(line);
        out = s->tasks->len / FAMILIES;
        *now += wait_ns;
        script_answer_all(s, 0, *now);
    }
    return out;
}

Test(speculation, idle_workers_allow_more_in_flight, .fini = leak_check)
{
    struct script s;
    int64_t number = 0, now = 1;
    script_open_shared(&s, 100000);
    cr_expect_eq(out_at_once(&s, &number, 1, SCRIPT_IDLE_NS / 2, &now), 3, "nobody has waited yet");
    cr_expect_eq(out_at_once(&s, &number, 100, 10 * SCRIPT_IDLE_NS, &now), 1, "tasks wait for workers");
    cr_expect_eq(out_at_once(&s, &number, 400, SCRIPT_IDLE_NS / 2, &now), 3, "and no longer do");
    script_close(&s);
}

Test(speculation, requested_speculation_is_kept, .fini = leak_check)
{
    struct script s;
    const struct msg_options options = {.strategy = MSG_FIRST_VALID, .speculate = 1};
    script_open_shared(&s, 100000);
    script_ask(&s, 0, &options, (const char *const[]){"SELECT fires_4", "SELECT fires_5", NULL}, 1);
    cr_expect_eq(s.tasks->len, FAMILIES);
    script_answer_all(&s, 0, 2);
    script_close(&s);
}
