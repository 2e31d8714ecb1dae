/* Verdicts that were kept of equal requests: found, they take the place of a judgement; else everything is as if nobody had looked. What is kept
 * was made of one state of the database, and whole. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>

TestSuite(lookup, .fini = leak_check);

static const char STATE[] = "0123456789abcdef0123456789abcdef", OTHER[] = "0123456789abcdef0123456789abcdee";
static const char *const good[] = {"SELECT 1 /* rows_1 */", NULL};
static struct script s;

static void begin(void)
{
    script_open_cache(&s, script_models(), (struct msg_options){0});
    s.state = STATE;
}

/* A request whose id is that number, in JSON so that it differs. */
static void ask(int64_t number, const char *rest, int64_t now_ns)
{
    char line[400];
    g_snprintf(line, sizeof line,
               "{\"id\":\"r%d\",\"db\":\"d\",\"question\":\"What?\",\"candidates\":[\"SELECT 1 /* rows_1 */\"]%s}",
               (int)number, rest);
    script_ask_json(&s, (struct msg_key){0, number}, line, now_ns);
}

static void find(int64_t number, enum err_code code, GBytes *bytes, int64_t now_ns)
{
    gsize len = 0;
    const void *data = bytes ? g_bytes_get_data(bytes, &len) : NULL;
    const struct core_found found = {code, data, len};
    core_found(s.core, (struct msg_key){0, number}, &found, now_ns);
}

static struct coordinator_lookups lookups(void)
{
    return core_get_stats(s.core).lookups;
}

static json_t *verdict(unsigned number)
{
    cr_assert_gt(s.verdicts->len, number);
    return json_loads(s.verdicts->pdata[number], 0, NULL);
}

/* The first request, judged and kept. */
static void keep_one(void)
{
    begin();
    ask(1, "", 100);
    cr_assert_eq(s.sent, 0, "nothing is asked of workers while it is looked for");
    find(1, ERR_OK, NULL, 105);
    cr_assert_eq(s.sent, FAMILIES);
    script_answer_all(&s, 0, 200);
    cr_assert_eq(s.n_kept, 1);
    cr_assert_str_eq(s.kept_state, STATE);
    cr_assert_str_eq(s.kept_key, s.wanted);
}

static void drop(json_t *object, const char *key)
{
    json_object_del(object, key);
}

Test(lookup, an_equal_request_has_the_verdict_without_a_task)
{
    keep_one();
    ask(2, ",\"meta\":{\"n\":2}", 300);
    cr_expect_str_eq(s.wanted, s.kept_key);
    find(2, ERR_OK, s.kept, 307);
    cr_expect_eq(s.sent, FAMILIES);
    cr_expect_eq(s.token, (void *)3);
    cr_expect_eq(core_open_requests(s.core), 0);
    json_t *first = verdict(0), *second = verdict(1);
    cr_expect_str_eq(script_text(second, "id"), "r2");
    cr_expect(json_is_true(json_object_get(second, "cached")));
    cr_expect_null(json_object_get(first, "cached"));
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(second, "meta"), "n")), 2);
    const char *const own[] = {"id", "cached", "meta", "timings"};
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++) drop(first, own[i]), drop(second, own[i]);
    cr_expect(json_equal(first, second));
    cr_expect(lookups().hits == 1 && lookups().misses == 1 && lookups().kept == 1, "what was found is not kept again");
    json_decref(first);
    json_decref(second);
    script_close(&s);
}

Test(lookup, whatever_else_comes_of_it_the_request_is_judged)
{
    static const char rubbish[] = "\x93 rubbish";
    GBytes *bytes = g_bytes_new_static(rubbish, sizeof rubbish);
    const struct {
        enum err_code code;
        GBytes *bytes;
    } cases[] = {{ERR_OK, NULL}, {ERR_DB_UNAVAILABLE, NULL}, {ERR_UNREACHABLE, NULL}, {ERR_OK, bytes}};
    begin();
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        ask(i, "", 100);
        find(i, cases[i].code, cases[i].bytes, 110);
        script_answer_all(&s, 0, 200);
        cr_expect_eq(s.verdicts->len, i + 1, "case %u", i);
    }
    struct coordinator_lookups seen = lookups();
    cr_expect(seen.misses == 1 && seen.unknown == 1 && seen.failed == 1 && seen.rejected == 1 && !seen.hits);
    g_bytes_unref(bytes);
    script_close(&s);
}

Test(lookup, a_verdict_on_another_request_is_no_answer)
{
    keep_one();
    script_ask_json(&s, (struct msg_key){0, 2},
                    "{\"id\":\"r2\",\"db\":\"d\",\"question\":\"Who?\",\"candidates\":[\"SELECT 1 /* rows_1 */\"]}",
                    300);
    cr_expect_str_neq(s.wanted, s.kept_key);
    find(2, ERR_OK, s.kept, 305);
    cr_expect_eq(lookups().rejected, 1);
    cr_expect_eq(s.sent, 2 * FAMILIES);
    script_close(&s);
}

Test(lookup, nobody_waits_longer_than_that)
{
    begin();
    ask(1, "", 100);
    cr_expect_eq(core_tick(s.core, 110), 120);
    cr_expect_eq(s.sent, 0);
    core_tick(s.core, 120);
    cr_expect_eq(s.sent, FAMILIES);
    cr_expect_eq(lookups().late, 1);
    find(1, ERR_OK, NULL, 130); /* too late: nothing comes of it */
    cr_expect_eq(s.sent, FAMILIES);
    script_answer_all(&s, 0, 200);
    cr_expect_eq(s.verdicts->len, 1);
    script_close(&s);
}

Test(lookup, a_deadline_that_passes_meanwhile_holds)
{
    begin();
    ask(1, ",\"deadline_ms\":1", 100);
    core_tick(s.core, 1000200); /* whoever was to look was stopped meanwhile */
    json_t *only = script_verdict(&s);
    cr_expect_str_eq(script_text(only, "reason"), "deadline");
    cr_expect_eq(s.sent, 0);
    json_decref(only);
    script_close(&s);
}

Test(lookup, past_the_deadline_nothing_is_looked_for_or_judged)
{
    for (int looked_for = 0; looked_for < 2; looked_for++) {
        begin();
        s.lay_ns = looked_for ? 0 : 1000000;
        ask(1, ",\"deadline_ms\":1", 1000000);
        cr_expect_eq(s.looked_for, (unsigned)looked_for);
        if (looked_for) find(1, ERR_OK, NULL, 2000000); /* there is none */
        json_t *only = script_verdict(&s);
        cr_expect_str_eq(script_text(only, "reason"), "deadline");
        cr_expect_eq(s.sent, 0);
        json_decref(only);
        script_close(&s);
    }
}

Test(lookup, where_nothing_can_be_looked_for_it_is_judged_at_once_and_kept)
{
    begin();
    s.cache_full = true;
    ask(1, "", 100);
    cr_expect_eq(s.sent, FAMILIES);
    script_answer_all(&s, 0, 200);
    cr_expect(lookups().skipped == 1 && lookups().kept == 1);
    script_close(&s);
}

Test(lookup, a_request_goes_round_it_that_says_so_or_has_no_database)
{
    begin();
    ask(1, ",\"cache\":false", 100);
    ask(2, ",\"schema\":\"CREATE TABLE t (a)\"", 100);
    cr_expect_eq(s.looked_for, 0);
    script_answer_all(&s, 0, 200);
    cr_expect(s.verdicts->len == 2 && s.n_kept == 0);
    ask(3, ",\"cache\":true", 300);
    cr_expect_eq(s.looked_for, 1);
    script_close(&s);
}

/* Not in one state from the first result to the last, or not known: what was judged then is nobody else's. */
Test(lookup, results_of_two_states_or_of_none_are_not_kept)
{
    const char *const states[][2] = {{STATE, OTHER}, {STATE, NULL}, {NULL, STATE}, {NULL, NULL}};
    begin();
    for (unsigned i = 0; i < G_N_ELEMENTS(states); i++) {
        ask(i, "", 100);
        find(i, ERR_OK, NULL, 105);
        for (unsigned k = 0; k < s.tasks->len; k++) ((struct script_task *)s.tasks->pdata[k])->state = states[i][k > 2];
        script_answer_all(&s, 0, 200);
        cr_expect_eq(s.verdicts->len, i + 1);
        cr_expect_eq(s.n_kept, 0, "case %u", i);
    }
    script_close(&s);
}

Test(lookup, nor_is_a_verdict_in_which_a_family_is_missing)
{
    begin();
    ask(1, "", 100);
    find(1, ERR_OK, NULL, 105);
    script_answer_failed(&s, 0, ERR_DB_LOCKED, 150);
    script_answer_all(&s, 0, 200);
    cr_expect_eq(s.verdicts->len, 1);
    cr_expect_eq(s.n_kept, 0);
    script_close(&s);
}

Test(lookup, a_partition_that_was_taken_away_waits_for_nothing)
{
    begin();
    ask(1, "", 100);
    core_forget(s.core, 0);
    find(1, ERR_OK, NULL, 105);
    cr_expect_eq(s.sent, 0);
    cr_expect_eq(s.dropped, 1);
    ask(1, "", 200); /* it came back: the request is asked again */
    cr_expect_eq(s.looked_for, 2);
    script_close(&s);
}

Test(lookup, no_verdict_is_kept_where_none_is_looked_for)
{
    script_open(&s, (struct msg_options){0});
    s.state = STATE;
    script_ask(&s, 1, NULL, good, 100);
    script_answer_all(&s, 0, 200);
    cr_expect_eq(s.verdicts->len, 1);
    cr_expect_eq(s.n_kept, 0);
    script_close(&s);
}
