/* Tests the source rows of an answer: for which candidate and when they are requested, and verdicts without them. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <string.h>

static struct script s;
static const char *const TWO[] = {"SELECT rows_1, fires_4", "SELECT rows_2", NULL};
static const char STATEMENT[] = "It is as it says.", ROWS[] = "It is as it is.";

static void done(void)
{
    script_close(&s);
    leak_check();
}
TestSuite(story, .fini = done);

static void open_list(struct msg_options options)
{
    options.strategy = MSG_RERANK;
    script_open(&s, options);
}

/* Answers all tasks except the last one sent. */
static void judge_all(void)
{
    for (unsigned left = s.tasks->len; left; left--) script_answer(&s, 0, 1);
}

static const struct script_task *only_task(void)
{
    cr_assert_eq(s.tasks->len, 1, "%u tasks", s.tasks->len);
    return s.tasks->pdata[0];
}

/* Sends a result for this task that has another part than the task requested. */
static void answer_another_part(const struct script_task *asked, enum msg_part part)
{
    struct script_task task = *asked;
    struct msg_result result;
    struct arena arena;
    task.part = part;
    arena_init(&arena, 0);
    script_result(&task, &arena, &result);
    cr_assert_eq(script_send(&s, &result, 1), ERR_OK);
    arena_free(&arena);
    cr_assert_eq(core_get_stats(s.core).stray, 1);
}

static void expect_explanations(const char *first, const char *second)
{
    json_t *verdict = script_verdict(&s), *candidates = json_object_get(verdict, "candidates");
    cr_expect_str_eq(script_text(verdict, "sql"), TWO[1]);
    cr_expect_str_eq(script_text(json_array_get(candidates, 0), "explanation"), first);
    cr_expect_str_eq(script_text(json_array_get(candidates, 1), "explanation"), second);
    json_decref(verdict);
}

Test(story, rows_are_requested_only_for_answer)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    const struct script_task *task = only_task();
    cr_assert_eq(task->candidate, 1);
    cr_assert_eq(task->part, MSG_PART_ROWS);
    cr_assert_eq(s.verdicts->len, 0, "the verdict waits");
    script_answer(&s, 0, 1);
    expect_explanations(STATEMENT, ROWS);
}

Test(story, repeated_first_result_is_not_taken_as_rows)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    answer_another_part(only_task(), MSG_PART_STATEMENT);
    cr_assert_eq(s.verdicts->len, 0);
    script_answer(&s, 0, 1);
    expect_explanations(STATEMENT, ROWS);
}

Test(story, early_rows_are_not_taken_as_judgement)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, TWO, 0);
    unsigned explain = 0;
    while (strcmp(((const struct script_task *)s.tasks->pdata[explain])->family, "explain") != 0) explain++;
    answer_another_part(s.tasks->pdata[explain], MSG_PART_ROWS);
    script_answer_all(&s, 0, 1);
    expect_explanations(STATEMENT, ROWS);
}

Test(story, missing_rows_do_not_block_answer)
{
    static const struct msg_options options = {.deadline_ms = 1};
    open_list(options);
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    core_tick(s.core, 2000000);
    json_t *verdict = script_verdict(&s);
    cr_assert_str_eq(script_text(verdict, "status"), "validated", "all was judged in time");
    json_decref(verdict);
    expect_explanations(STATEMENT, STATEMENT);
}

/* The tasks before the request for rows took too long. The answer is returned without rows. */
Test(story, rows_are_not_requested_past_deadline)
{
    open_list((struct msg_options){.deadline_ms = 1});
    s.core->config.llm = (struct coordinator_llm){.on = true, .low = 0, .high = 1};
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    cr_assert_str_eq(only_task()->family, "llm");
    script_answer(&s, 0, 1000000);
    expect_explanations(STATEMENT, STATEMENT);
}

Test(story, failed_rows_do_not_change_answer)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    script_answer_failed(&s, 0, ERR_LIMIT_MEMORY, 1);
    expect_explanations(STATEMENT, STATEMENT);
}

Test(story, rows_behind_other_result_are_dropped)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    struct script_task changed = *only_task();
    struct msg_result result;
    struct arena arena;
    arena_init(&arena, 0);
    script_result(&changed, &arena, &result);
    result.execution->digest[0]++; /* as if the database had changed meanwhile */
    cr_assert_eq(script_send(&s, &result, 1), ERR_OK);
    arena_free(&arena);
    expect_explanations(STATEMENT, STATEMENT);
}

Test(story, older_workers_get_one_task)
{
    open_list((struct msg_options){0});
    s.whole = true;
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    expect_explanations(ROWS, ROWS);
}

Test(story, full_explanations_give_all_candidates_rows)
{
    open_list((struct msg_options){.explain = MSG_EXPLAIN_FULL});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all();
    expect_explanations(ROWS, ROWS);
}

Test(story, fleet_gives_all_candidates_rows)
{
    script_open_shared(&s, 1000);
    script_ask(&s, 0, &(const struct msg_options){.strategy = MSG_RERANK}, TWO, 0);
    judge_all();
    expect_explanations(ROWS, ROWS);
}

Test(story, only_candidate_gets_rows_at_once)
{
    open_list((struct msg_options){0});
    script_ask(&s, 0, NULL, (const char *const[]){TWO[1], NULL}, 0);
    judge_all();
    json_t *verdict = script_verdict(&s);
    cr_assert_str_eq(script_text(json_array_get(json_object_get(verdict, "candidates"), 0), "explanation"), ROWS);
    json_decref(verdict);
}

Test(story, first_candidate_in_order_gets_rows_at_once)
{
    script_open(&s, (struct msg_options){.strategy = MSG_FIRST_VALID, .speculate = 1});
    script_ask(&s, 0, NULL, TWO, 0);
    judge_all(); /* the first candidate does not validate */
    judge_all();
    cr_assert_eq(only_task()->part, MSG_PART_ROWS);
    script_answer(&s, 0, 1);
    expect_explanations(ROWS, ROWS);
}
