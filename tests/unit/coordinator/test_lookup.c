/* Cached verdicts of equal requests: a hit replaces the judgement, and after a miss the request is judged as if there
 * were no cache. A verdict is cached only if it is complete and all its results have the same database state. */
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

/* Submits a request whose id is `number`. Requests differ only in the id and in `rest`. */
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

/* Judges the first request and stores its verdict in the cache. */
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

Test(lookup, equal_request_gets_cached_verdict_without_task)
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

Test(lookup, failed_lookup_leads_to_judgement)
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

Test(lookup, verdict_on_other_request_is_rejected)
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

Test(lookup, lookup_wait_is_bounded)
{
    begin();
    ask(1, "", 100);
    cr_expect_eq(core_tick(s.core, 110), 120);
    cr_expect_eq(s.sent, 0);
    core_tick(s.core, 120);
    cr_expect_eq(s.sent, FAMILIES);
    cr_expect_eq(lookups().late, 1);
    find(1, ERR_OK, NULL, 130); /* this hit arrives too late and is ignored */
    cr_expect_eq(s.sent, FAMILIES);
    script_answer_all(&s, 0, 200);
    cr_expect_eq(s.verdicts->len, 1);
    script_close(&s);
}

Test(lookup, deadline_applies_during_lookup)
{
    begin();
    ask(1, ",\"deadline_ms\":1", 100);
    core_tick(s.core, 1000200); /* the thread of the lookup did not run meanwhile */
    json_t *only = script_verdict(&s);
    cr_expect_str_eq(script_text(only, "reason"), "deadline");
    cr_expect_eq(s.sent, 0);
    json_decref(only);
    script_close(&s);
}

Test(lookup, expired_request_is_not_looked_up_or_judged)
{
    for (int looked_for = 0; looked_for < 2; looked_for++) {
        begin();
        s.lay_ns = looked_for ? 0 : 1000000;
        ask(1, ",\"deadline_ms\":1", 1000000);
        cr_expect_eq(s.looked_for, (unsigned)looked_for);
        if (looked_for) find(1, ERR_OK, NULL, 2000000); /* there is no cached verdict */
        json_t *only = script_verdict(&s);
        cr_expect_str_eq(script_text(only, "reason"), "deadline");
        cr_expect_eq(s.sent, 0);
        json_decref(only);
        script_close(&s);
    }
}

Test(lookup, full_lookup_queue_judges_and_caches)
{
    begin();
    s.cache_full = true;
    ask(1, "", 100);
    cr_expect_eq(s.sent, FAMILIES);
    script_answer_all(&s, 0, 200);
    cr_expect(lookups().skipped == 1 && lookups().kept == 1);
    script_close(&s);
}

Test(lookup, opted_out_or_schema_only_request_bypasses_cache)
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

/* The database state changed between results, or is unknown. Such a verdict must not answer another request. */
Test(lookup, results_of_mixed_states_are_not_cached)
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

Test(lookup, verdict_with_missing_family_is_not_cached)
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

Test(lookup, revoked_partition_drops_its_lookups)
{
    begin();
    ask(1, "", 100);
    core_forget(s.core, 0);
    find(1, ERR_OK, NULL, 105);
    cr_expect_eq(s.sent, 0);
    cr_expect_eq(s.dropped, 1);
    ask(1, "", 200); /* the partition is assigned again: the lookup is repeated */
    cr_expect_eq(s.looked_for, 2);
    script_close(&s);
}

Test(lookup, disabled_cache_stores_no_verdict)
{
    script_open(&s, (struct msg_options){0});
    s.state = STATE;
    script_ask(&s, 1, NULL, good, 100);
    script_answer_all(&s, 0, 200);
    cr_expect_eq(s.verdicts->len, 1);
    cr_expect_eq(s.n_kept, 0);
    script_close(&s);
}
