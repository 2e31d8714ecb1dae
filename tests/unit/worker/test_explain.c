/* Tests the explain family of a worker: its results, the values that they show, and their cost. */
#include "tests/unit/db/fixture.h"
#include "worker/internal.h"

#include "examples/examples.h"
#include "lib/base/clock.h"
#include "lib/sql/components.h"
#include "scoring/features/features.h"

#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fixture zoo;
static const char *const roots[] = {zoo.dir};
static struct schema_cache *schemas;
static struct vsig_options *signals;
static struct worker_config config;
static struct worker_stats stats;
static struct handles handles;
static struct workspace workspace;
static struct arena arena;

static const char schema[] =
    "CREATE TABLE keeper(id INTEGER PRIMARY KEY, name TEXT, pay INT, photo BLOB, note TEXT);"
    "CREATE TABLE animal(id INTEGER PRIMARY KEY, name TEXT, age INT, keeper_id INT REFERENCES keeper(id));"
    "INSERT INTO keeper VALUES(1, 'Ada', 4711, x'00ff10', NULL), (2, 'Bo', 812, x'01', NULL);"
    "INSERT INTO animal VALUES(1, 'Leo', 7, 1), (2, 'Mia', 4, 1), (3, 'Tux', 3, 2);";

static void begin(void)
{
    fixture_init_as(&zoo, "zoo", schema);
    schemas = schema_cache_new(NULL, 0);
    signals = vsig_options_new();
    config = (struct worker_config){.databases = {.roots = roots, .n_roots = 1},
                                    .schemas = schemas,
                                    .signals = signals,
                                    .limits = {.time_ms = 500}};
    stats = (struct worker_stats){0};
    cr_assert_eq(handles_init(&handles, &config), ERR_OK);
    workspace_init(&workspace, &config, &handles, &stats);
    arena_init(&arena, 0);
}

static void end(void)
{
    workspace_free(&workspace);
    handles_free(&handles);
    schema_cache_free(schemas);
    vsig_options_free(signals);
    arena_free(&arena);
    fixture_end(&zoo);
}
TestSuite(explain, .init = begin, .fini = end);

static struct msg_task task_of(const char *question, const char *sql)
{
    static uint64_t number;
    return (struct msg_task){.key = {0, 1},
                             .hash = {1, ++number},
                             .family = "explain",
                             .db = "zoo",
                             .question = question,
                             .sql = {sql, (uint32_t)strlen(sql)}};
}

/* Returns the result, decoded from its message. */
static struct msg_result *answer(const struct msg_task *task)
{
    struct err err = {0};
    struct msg_result result, *out;
    struct msg_buffer buffer = {0};
    cr_assert_eq(workspace_take(&workspace, task, 0, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(
        answer_family(&workspace, &arena, task, (enum vsig_family)vsig_family_by_name(task->family), &result, &err),
        ERR_OK, "%s", err.text);
    cr_assert_eq(msg_encode_result(&buffer, &result), ERR_OK);
    cr_assert_eq(msg_decode_result(&arena, buffer.bytes, buffer.len, &out, &err), ERR_OK, "%s", err.text);
    msg_buffer_free(&buffer);
    return out;
}

static const struct msg_explanation *explained(const char *question, const char *sql)
{
    struct msg_task task = task_of(question, sql);
    const struct msg_result *result = answer(&task);
    cr_assert_str_eq(result->code, "ok");
    cr_assert(result->explanation, "%s", sql);
    cr_assert(result->explanation->prose && *result->explanation->prose, "an explanation, or a statement: %s", sql);
    return result->explanation;
}

Test(explain, result_has_all_inputs_of_verifier)
{
    struct msg_task task = task_of("How old is Leo?", "SELECT age FROM animal WHERE name = 'Leo'");
    const struct msg_result *result = answer(&task);
    const struct msg_explanation *explanation = result->explanation;
    cr_assert(explanation);
    cr_assert_eq(result->n_signals, 0);
    cr_assert_str_eq(result->execution->code, "ok");
    cr_assert_eq(memcmp(explanation->digest, result->execution->digest, sizeof explanation->digest), 0);
    cr_assert(explanation->components >> SQL_HAS_one_table & 1);
    cr_assert(explanation->components >> SQL_HAS_equals_text & 1);
    cr_assert_not(explanation->components >> SQL_HAS_grouped & 1);
    cr_assert_gt(explanation->n_numbers, 0);
    for (uint32_t i = 0; i < explanation->n_numbers; i++) {
        cr_assert_geq(features_by_id(explanation->numbers[i].id), 0);
        cr_assert_lt(explanation->numbers[i].id, FEATURE_COMPONENT_ID, "components go as bits");
    }
    cr_assert_eq(strncmp(explanation->premise, "SELECT age FROM animal WHERE name = 'Leo' | 1 row (age): 7 | ", 61), 0,
                 "%s", explanation->premise);
}

Test(explain, candidate_runs_once_for_execution_and_explanation)
{
    static const char *const families[] = {"execution", "explain", "structure", "explain"};
    struct msg_task task = task_of("Ages?", "SELECT age FROM animal");
    for (unsigned i = 0; i < 4; i++) {
        task.family = families[i];
        answer(&task);
    }
    cr_assert_eq(stats.executed, 1);
    cr_assert_eq(stats.candidates, 1);
}

/* If no values may be shown, only counts of the database appear. If the candidate uses a denied column, there is no
 * explanation. */
Test(explain, exposure_governs_explanations)
{
    static const char *const denied[] = {"keeper.pay"};
    static const struct {
        enum msg_expose expose;
        uint32_t n_denied;
        const char *sql, *secret;
        bool shown;
    } cases[] = {
        {MSG_EXPOSE_NONE, 0, "SELECT name, pay FROM keeper WHERE id = 1", "4711", false},
        {MSG_EXPOSE_NONE, 0, "SELECT max(pay) FROM keeper", "4711", false},
        {MSG_EXPOSE_NONE, 0, "SELECT count(*) FROM keeper JOIN animal ON keeper.id = keeper_id WHERE age = 7", "Leo",
         false},
        {MSG_EXPOSE_VALUES, 0, "SELECT name, pay FROM keeper WHERE id = 1", "4711", true},
        {MSG_EXPOSE_UNSET, 0, "SELECT name, pay FROM keeper WHERE id = 1", "4711", true},
        {MSG_EXPOSE_ROWS, 0, "SELECT name, pay FROM keeper WHERE id = 1", "4711", true},
        {MSG_EXPOSE_ROWS, 1, "SELECT name, pay FROM keeper WHERE id = 1", "4711", false},
        {MSG_EXPOSE_ROWS, 1, "SELECT max(pay) FROM keeper", "4711", false},
        {MSG_EXPOSE_ROWS, 1, "SELECT * FROM keeper WHERE id = 1", "4711", false},
        {MSG_EXPOSE_ROWS, 1, "SELECT name FROM keeper ORDER BY pay DESC LIMIT 1", "4711", false},
        {MSG_EXPOSE_ROWS, 1, "SELECT name FROM keeper WHERE id = 1", "4711", false},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_task task = task_of("Who?", cases[i].sql);
        task.expose = cases[i].expose;
        task.deny_columns = denied;
        task.n_deny_columns = cases[i].n_denied;
        const struct msg_explanation *explanation = answer(&task)->explanation;
        bool shown = strstr(explanation->premise, cases[i].secret) || strstr(explanation->prose, cases[i].secret);
        cr_assert_eq(shown, cases[i].shown, "case %u: %s | %s", i, explanation->premise, explanation->prose);
    }
}

/* The database engine runs this query, but Assay does not understand it. The explanation says so and has no numbers. A
 * missing number must not look like a zero. */
Test(explain, unsupported_query_is_reported)
{
    const struct msg_explanation *explanation =
        explained("Who?", "WITH t(a) AS (VALUES (1)) SELECT a, oid FROM t, keeper");
    cr_assert(strstr(explanation->prose, "no explanation"), "%s", explanation->prose);
    cr_assert_eq(explanation->components, 0);
    cr_assert_eq(explanation->n_numbers, 0);
}

static void grow(char *sql, size_t room, unsigned tables)
{
    size_t at = (size_t)snprintf(sql, room, "SELECT count(*) FROM keeper AS k0");
    for (unsigned i = 1; i < tables; i++)
        at += (size_t)snprintf(sql + at, room - at, " JOIN keeper AS k%u ON k%u.id = k%u.id", i, i, i - 1);
}

Test(explain, odd_candidates_are_explained_or_have_reason)
{
    char wide[4096];
    grow(wide, sizeof wide, 40);
    const char *const sqls[] = {"SELECT 1",
                                "SELECT NULL, 'x', 2.5",
                                "VALUES (1), (2)",
                                wide,
                                "SELECT photo FROM keeper",
                                "SELECT note FROM keeper",
                                "SELECT note, count(*) FROM keeper GROUP BY note",
                                "SELECT max(note) FROM keeper",
                                "SELECT name FROM keeper WHERE photo = x'00ff10'",
                                "SELECT name FROM animal WHERE age > 100",
                                "SELECT name FROM animal WHERE name = 'Lea'",
                                "SELECT avg(age) FROM animal WHERE 1 = 0",
                                "SELECT name FROM keeper UNION SELECT name FROM animal",
                                "SELECT name FROM keeper EXCEPT SELECT name FROM keeper"};
    for (unsigned i = 0; i < sizeof sqls / sizeof *sqls; i++) explained("Which ones?", sqls[i]);
}

Test(explain, odd_questions_do_not_fail)
{
    static char large[MSG_MAX_QUESTION + 1];
    memset(large, 'w', MSG_MAX_QUESTION);
    for (unsigned i = 5; i < MSG_MAX_QUESTION; i += 7) large[i] = ' ';
    const char *const questions[] = {NULL,
                                     "",
                                     "lions",
                                     "\xc2\xbf"
                                     "Cu\xc3\xa1ntos leones hay?",
                                     "\xe7\x8d\x85\xe5\xad\x90\xe3\x81\xaf\xef\xbc\x9f",
                                     large};
    for (unsigned i = 0; i < sizeof questions / sizeof *questions; i++)
        explained(questions[i], "SELECT count(*) FROM animal");
}

/* A candidate whose result exceeds the limits does not run again. The explanation uses the parts that need no
 * result. */
Test(explain, candidate_that_hits_limit_runs_once)
{
    const char *endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    struct msg_task task = task_of("How many?", endless);
    config.limits.max_rows = 1000;
    workspace_free(&workspace);
    handles_free(&handles);
    cr_assert_eq(handles_init(&handles, &config), ERR_OK);
    workspace_init(&workspace, &config, &handles, &stats);
    const struct msg_result *result = answer(&task);
    cr_assert_str_eq(result->execution->code, "limit_rows");
    cr_assert(result->explanation->prose && *result->explanation->prose);
    cr_assert(strstr(result->explanation->premise, "no result (limit_rows)"), "%s", result->explanation->premise);
    cr_assert_eq(result->explanation->digest[0] | result->explanation->digest[1], 0);
    cr_assert_eq(stats.executed, 1);
}

/* Tracing that does not end stops at explain_ms. The candidate is then explained without provenance. */
Test(explain, tracing_has_own_time_limit)
{
    const char *slow = "SELECT k.name FROM keeper AS k WHERE k.id = 1 AND (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                       "SELECT i + 1 FROM n WHERE i < 60000) SELECT count(*) FROM n) > k.id";
    config.explain_ms = 1;
    struct msg_task task = task_of("Who?", slow);
    int64_t started = clock_now_ns();
    const struct msg_result *result = answer(&task);
    cr_assert_lt(clock_now_ns() - started, INT64_C(5000000000));
    cr_assert_str_eq(result->execution->code, "ok");
    cr_assert(result->explanation->prose && *result->explanation->prose);
}

Test(explain, invalid_candidates_have_no_explanation)
{
    struct msg_task task = task_of("Who?", "SELECT kount(*) FROM keeper");
    const struct msg_result *result = answer(&task);
    cr_assert(result->invalid);
    cr_assert_null(result->explanation);
}

static bool is_past(void *deadline_ns)
{
    return clock_now_ns() >= *(const int64_t *)deadline_ns;
}

Test(explain, late_task_is_reported_late)
{
    struct msg_task task = task_of("Who?", "SELECT count(*) FROM keeper");
    struct msg_result result;
    struct err err = {0};
    cr_assert_eq(workspace_take(&workspace, &task, clock_now_ns() + 50000000, &err), ERR_OK);
    int64_t deadline_ns = db_get_deadline(workspace.subject.db);
    cr_assert(wait_until(is_past, &deadline_ns, 1000));
    cr_assert_eq(answer_family(&workspace, &arena, &task, VSIG_EXPLAIN, &result, &err), ERR_DEADLINE);
}

static const struct question *reading_of(int64_t offset, const char *question)
{
    struct msg_task task = task_of(question, "SELECT count(*) FROM keeper");
    struct err err = {0};
    task.key.offset = offset;
    cr_assert_eq(workspace_take(&workspace, &task, 0, &err), ERR_OK, "%s", err.text);
    cr_assert_str_eq(workspace.reading->question, question);
    return workspace.reading->analysis;
}

Test(explain, interleaved_requests_are_read_once)
{
    const struct question *first = reading_of(1, "How old is Leo?"), *second = reading_of(2, "How many keepers?");
    cr_assert_eq(reading_of(1, "How old is Leo?"), first);
    cr_assert_eq(reading_of(2, "How many keepers?"), second);
    reading_of(1, "Who keeps Tux?"); /* the same key, in a topic that was created again */
    for (int64_t i = 0; i < 3L * KEPT_READINGS; i++) reading_of(10 + i, "How many?");
}

/* --- queries near a candidate --- */

static bool is_proposed(const struct msg_result *result, const char *sql)
{
    for (uint32_t i = 0; i < result->n_proposals; i++)
        if (strcmp(result->proposals[i].sql.bytes, sql) == 0) return true;
    return false;
}

static bool any_mentions(const struct msg_result *result, const char *text)
{
    for (uint32_t i = 0; i < result->n_proposals; i++)
        if (strstr(result->proposals[i].sql.bytes, text)) return true;
    return false;
}

Test(explain, proposing_task_gives_only_proposals)
{
    struct msg_task task = task_of("How old is Leo?", "SELECT age FROM animal WHERE name = 'Loe'");
    struct msg_clause clause = {"WHERE", "name = 'Loe'", 29, 41};
    struct msg_finding finding = {.signal = 12, .message = "no row has it", .clauses = &clause, .n_clauses = 1};
    task.proposes = true;
    task.findings = &finding;
    task.n_findings = 1;
    const struct msg_result *result = answer(&task);
    cr_assert(result->proposes);
    cr_assert_null(result->explanation);
    cr_assert_null(result->execution);
    cr_assert(is_proposed(result, "SELECT age FROM animal WHERE name = 'Leo'"));
    cr_assert_str_eq(result->proposals[0].reason, "no row has it", "what a finding marks is changed first");
    cr_assert_null(result->proposals[result->n_proposals - 1].reason);
}

Test(explain, proposals_hold_no_denied_value)
{
    struct msg_task task = task_of("How old is Leo?", "SELECT age FROM animal WHERE name = 'Loe'");
    static const char *const denied[] = {"animal.age"}, *const name[] = {"animal.name"};
    task.proposes = true;
    task.expose = MSG_EXPOSE_NONE;
    cr_assert_not(any_mentions(answer(&task), "Leo"));
    struct msg_task uses = task_of("How old is Leo?", "SELECT age FROM animal WHERE name = 'Loe'");
    uses.proposes = true;
    uses.deny_columns = denied;
    uses.n_deny_columns = 1;
    cr_assert_not(any_mentions(answer(&uses), "Leo"), "a query that uses a denied column lends none at all");
    struct msg_task other = task_of("How many animals?", "SELECT count(*) FROM animal");
    other.proposes = true;
    other.deny_columns = name;
    other.n_deny_columns = 1;
    const struct msg_result *result = answer(&other);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const values[] = {"'Leo'", "'Mia'", "'Tux'"};
        cr_expect_not(any_mentions(result, values[i]), "%s", values[i]);
    }
}

Test(explain, unparsable_query_gets_reason_instead_of_proposals)
{
    struct msg_task task = task_of("How old is Leo?", "SELECT FROM WHERE");
    task.proposes = true;
    const struct msg_result *result = answer(&task);
    cr_assert_eq(result->n_proposals, 0);
    cr_assert(result->proposes && result->message && *result->message);
}

/* --- examples --- */

/* Creates examples for the database of another shop, where the same kind of error was corrected: an average instead of
 * a sum. */
static void open_examples(const char *path)
{
    static const struct repair_column columns[] = {{"sale", "price", "INT", false, NULL},
                                                   {"sale", NULL, NULL, false, NULL}};
    const struct example example = {"log-1",
                                    "shop",
                                    "What do all sales cost together?",
                                    "SELECT avg(price) FROM sale",
                                    "the question asks for the sum",
                                    "SELECT sum(price) FROM sale WHERE price IS NOT NULL",
                                    "SELECT: avg(price) becomes sum(price)",
                                    "SELECT",
                                    columns,
                                    2};
    struct examples *store;
    struct err err = {0};
    bool added;
    cr_assert_eq(examples_create(path, NULL, &store, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_add(store, &example, &added, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_close(store, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_open(path, false, NULL, &config.examples, &err), ERR_OK, "%s", err.text);
}

Test(explain, edits_of_similar_examples_are_proposed)
{
    const char *const edited = "SELECT sum(keeper.pay) FROM keeper WHERE keeper.pay IS NOT NULL";
    char path[sizeof zoo.dir + 16];
    struct msg_task task = task_of("What do all keepers earn together?", "SELECT avg(pay) FROM keeper");
    snprintf(path, sizeof path, "%s/examples.db", zoo.dir);
    task.proposes = true;
    cr_assert_not(is_proposed(answer(&task), edited), "two edits: nothing else proposes them");
    open_examples(path);
    const struct msg_result *result = answer(&task);
    struct msg_task asked = task_of("what do all sales cost together?", "SELECT avg(pay) FROM keeper");
    asked.proposes = true;
    const struct msg_result *same = answer(&asked);
    examples_close(config.examples, NULL);
    config.examples = NULL;
    remove(path);
    cr_assert(is_proposed(result, edited));
    cr_assert_not(is_proposed(same, edited), "the example is of this very question");
}
