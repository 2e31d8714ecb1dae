/* Tests the core's part of the rule "one verdict for each request": duplicate requests, revoked partitions, and
 * requests that never end. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <string.h>

static const int64_t MS = 1000000, MOST_MS = 600000;
static struct script s;

static const char *const line = "{\"id\": \"q1\", \"db\": \"d\", \"question\": \"?\", \"candidates\": [\"SELECT 1\"]}";
static const char *const other = "{\"id\": \"q1\", \"db\": \"d\", \"question\": \"?\", \"candidates\": [\"SELECT 2\"]}";
static const char *const nameless = "{\"db\": \"d\", \"question\": \"?\", \"candidates\": [\"SELECT 1\"]}";

static void ask(int32_t partition, int64_t offset, const char *text)
{
    script_ask_json(&s, (struct msg_key){partition, offset}, text, 0);
}

static void finish(void)
{
    script_close(&s);
    leak_check();
}

Test(once, duplicate_request_is_judged_once)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 5, line);
    ask(0, 9, line);
    cr_assert_eq(s.duplicates, 1);
    cr_assert_eq(s.token, (void *)10);
    cr_assert_eq(core_open_requests(s.core), 1);
    script_answer_all(&s, 0, 0);
    ask(0, 10, line);
    cr_assert_eq(s.duplicates, 2, "also when the first one has its verdict");
    cr_assert_eq(s.verdicts->len, 1);
    cr_assert_eq(core_get_stats(s.core).duplicates, 2);
    finish();
}

Test(once, same_id_with_other_content_fails)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 5, line);
    ask(0, 6, other);
    cr_assert_eq(s.duplicates, 0);
    cr_assert_eq(s.verdicts->len, 1);
    json_t *v = script_verdict(&s);
    cr_assert_str_eq(script_text(v, "status"), "failed");
    cr_assert_str_eq(script_text(v, "reason"), "id_reused");
    json_decref(v);
    ask(0, 7, other);
    cr_assert_eq(s.duplicates, 1, "and that one has its verdict already");
    finish();
}

/* Policy ask: the same request id is sent with an answer, and later with a changed answer. */
Test(once, answer_is_new_round_of_same_id)
{
    char first[512], second[512];
    script_open_shared(&s, MOST_MS);
    snprintf(first, sizeof first, "%.*s, \"answers\": [{\"question\": \"a\", \"choice\": \"b\"}]}",
             (int)strlen(line) - 1, line);
    snprintf(second, sizeof second, "%.*s, \"answers\": [{\"question\": \"a\", \"choice\": \"c\"}]}",
             (int)strlen(line) - 1, line);
    ask(0, 5, line);
    ask(0, 6, first);
    ask(0, 7, second);
    cr_assert_eq(s.duplicates, 0);
    ask(0, 8, first);
    cr_assert_eq(s.duplicates, 1, "sent twice it is judged once, like any other");
    cr_assert_eq(s.verdicts->len, 2, "of the two that answer what was never asked");
    finish();
}

Test(once, distinct_requests_are_not_duplicates)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 5, line);
    ask(1, 6, line);
    cr_assert_eq(core_open_requests(s.core), 2, "across partitions nothing is promised");
    ask(0, 5 + DUPLICATES_WINDOW + 1, line);
    cr_assert_eq(core_open_requests(s.core), 3, "nor so much later");
    ask(0, 5 + DUPLICATES_WINDOW + 1 + DUPLICATES_WINDOW, line);
    cr_assert_eq(s.duplicates, 1);
    ask(2, 1, nameless);
    ask(2, 2, nameless);
    cr_assert_eq(core_open_requests(s.core), 5, "nobody knows whether they are the same");
    struct core_incoming redriven = {
        .key = {1, 8}, .bytes = line, .len = strlen(line), .type = EDGE_TYPE_JSON, .redriven = true};
    core_request(s.core, &redriven, 0);
    cr_assert_eq(core_open_requests(s.core), 6, "a dead letter that was sent again is meant");
    finish();
}

/* There are more ids than the table holds. The oldest ids are evicted, the newest are still known. */
Test(once, table_of_ids_is_bounded)
{
    struct duplicates *table = duplicates_new();
    char id[16];
    for (int64_t i = 0; i < 3 * DUPLICATES_WINDOW; i++) {
        snprintf(id, sizeof id, "r%d", (int)i);
        cr_assert_eq(duplicates_check(table, (struct msg_key){0, i}, id, id, 4), DUPLICATES_NONE);
    }
    for (int64_t i = 3 * DUPLICATES_WINDOW - 1, n = 0; n < DUPLICATES_WINDOW / 2; i--, n++) {
        snprintf(id, sizeof id, "r%d", (int)i);
        cr_assert_eq(duplicates_check(table, (struct msg_key){0, i}, id, id, 4), DUPLICATES_NONE,
                     "itself, shown again");
        cr_assert_eq(duplicates_check(table, (struct msg_key){0, 3 * DUPLICATES_WINDOW}, id, id, 4), DUPLICATES_SAME);
    }
    duplicates_free(table);
    leak_check();
}

/* After a take-over the core receives the earlier requests together with their verdicts. */
Test(once, history_is_known_and_not_judged)
{
    script_open_shared(&s, MOST_MS);
    struct core_incoming past = {.key = {0, 5}, .bytes = line, .len = strlen(line), .type = EDGE_TYPE_JSON};
    core_history(s.core, &past);
    past.bytes = "junk", past.len = 4, past.key.offset = 6;
    core_history(s.core, &past);
    cr_assert_eq(core_open_requests(s.core), 0);
    cr_assert_eq(s.dead->len, 0, "it is in the dead letters already");
    ask(0, 7, line);
    cr_assert_eq(s.duplicates, 1);
    finish();
}

Test(once, revoked_partition_is_forgotten)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 5, line);
    ask(1, 5, line);
    cr_assert_gt(s.tasks->len, 0);
    const struct script_task *task = s.tasks->pdata[0];
    cr_assert(core_awaits(s.core, task->key, task->hash, task->family));
    core_forget(s.core, 0);
    cr_assert_eq(s.dropped, 1);
    cr_assert_eq(s.token, (void *)6);
    cr_assert_eq(core_open_requests(s.core), 1);
    cr_assert(!core_awaits(s.core, task->key, task->hash, task->family));
    script_answer_all(&s, 0, 0);
    cr_assert_eq(s.verdicts->len, 1, "of the other partition");
    ask(0, 5, line);
    cr_assert_eq(s.duplicates, 0, "it may come back");
    cr_assert_eq(core_open_requests(s.core), 1);
    finish();
}

/* A task whose result was received need not run again after a restart. */
Test(once, completed_task_is_not_awaited)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 5, line);
    const struct script_task *first = s.tasks->pdata[0];
    struct script_task copy = *first;
    cr_assert(core_awaits(s.core, copy.key, copy.hash, copy.family));
    script_answer(&s, 0, 0);
    cr_assert(!core_awaits(s.core, copy.key, copy.hash, copy.family));
    copy.hash[0]++;
    cr_assert(!core_awaits(s.core, copy.key, copy.hash, "structure"));
    finish();
}

Test(once, every_request_ends)
{
    script_open_shared(&s, MOST_MS);
    ask(0, 1, line);
    cr_assert_eq(((struct script_task *)s.tasks->pdata[0])->deadline_ns, MOST_MS * MS, "it asked for none");
    ask(0, 2, "{\"id\": \"q2\", \"db\": \"d\", \"candidates\": [\"SELECT 1\"], \"deadline_ms\": 99999999}");
    cr_assert_eq(((struct script_task *)s.tasks->pdata[s.tasks->len - 1])->deadline_ns, MOST_MS * MS);
    ask(0, 3, "{\"id\": \"q3\", \"db\": \"d\", \"candidates\": [\"SELECT 1\"], \"deadline_ms\": 50}");
    cr_assert_eq(((struct script_task *)s.tasks->pdata[s.tasks->len - 1])->deadline_ns, 50 * MS);
    core_tick(s.core, MOST_MS * MS);
    cr_assert_eq(s.verdicts->len, 3);
    cr_assert_eq(core_open_requests(s.core), 0);
    finish();
}
