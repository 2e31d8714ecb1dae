/* Tests the complete path on real databases: engine, coordinator, workers, local transport. */
#include "tests/support/wait.h"
#include "tests/support/leak.h"
#include "tests/support/transport_mem.h"
#include "tests/unit/engine/world.h"

#include "lib/learn/metrics.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct world world;
static struct engine *engine;

static void begin(void)
{
    cr_assert(world_make(&world));
}
static void end(void)
{
    engine_close(engine);
    engine = NULL;
    world_remove(&world);
    leak_check();
}
TestSuite(engine, .init = begin, .fini = end);

static void open_with(struct engine_config config)
{
    struct err err = {0};
    if (!config.workers) config.workers = 2;
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
}

static struct msg_verdict *judge(const struct msg_request *request)
{
    struct msg_verdict *verdict;
    struct err err = {0};
    cr_assert_eq(engine_submit(engine, request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}

static struct msg_verdict *judge_sql(const char *db, const char *question, const char *sql)
{
    struct msg_candidate one = {.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
    struct msg_request request = {.id = "q", .db = db, .question = question, .candidates = &one, .n_candidates = 1};
    return judge(&request);
}

static const struct msg_finding *find(const struct msg_judged *judged, const char *signal)
{
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (strcmp(judged->findings[i].name, signal) == 0) return &judged->findings[i];
    return NULL;
}

Test(engine, candidate_is_judged)
{
    open_with((struct engine_config){0});
    struct msg_verdict *v = judge_sql("zoo", "How many lions?", "SELECT count(*) FROM animal WHERE kind = 'lion'");
    const struct msg_judged *judged = &v->candidates[0];
    unsigned n, expected = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) expected += !all[i]->off_by_default && all[i]->family != VSIG_LLM;
    cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT, "without a model nothing validates");
    cr_assert(isnan(v->p_correct));
    cr_assert_eq(judged->n_signals, expected);
    cr_assert_eq(judged->execution->rows, 1);
    cr_assert_str_eq(judged->execution->code, "ok");
    cr_assert_eq(judged->execution->n_sample, 0, "rows are not shown unless asked for");
    msg_verdict_free(v);
}

Test(engine, unknown_names_are_marked_with_similar_names)
{
    open_with((struct engine_config){0});
    struct msg_verdict *v = judge_sql("zoo", "Names?", "SELECT nam FROM keeper");
    const struct msg_finding *finding = find(&v->candidates[0], "invalid_sql");
    cr_assert_eq(v->status, MSG_STATUS_ABSTAINED);
    cr_assert_str_eq(v->reason, "invalid_sql");
    cr_assert_float_eq(v->candidates[0].p_correct, 0, 0);
    cr_assert(finding);
    cr_assert_eq(finding->n_clauses, 1);
    cr_assert_str_eq(finding->clauses[0].text, "nam");
    cr_assert_str_eq(finding->clauses[0].label, "SELECT");
    cr_assert_eq(finding->clauses[0].start, 7);
    bool near = false;
    for (uint32_t i = 0; i < finding->n_facts; i++)
        near = near || (strcmp(finding->facts[i].key, "near") == 0 && strcmp(finding->facts[i].value, "name") == 0);
    cr_assert(near, "a near name is given");
    cr_assert_str_eq(v->report[0].signal, "invalid_sql");
    msg_verdict_free(v);
}

/* The database engine decides whether a statement is valid. One that it accepts must not be reported as invalid; one
 * that it refuses must be. */
Test(engine, engine_decides_validity)
{
    static const struct {
        const char *sql;
        bool invalid;
    } cases[] = {{"SELECT rowid FROM keeper", false},
                 {"SELECT \"no column\" FROM keeper", false},
                 {"SELECT kount(*) FROM keeper", true},
                 {"SELECT name FROM keeper WHERE id = ANY (SELECT 1)", true},
                 {"SELECT * FROM sqlite_master", true},
                 {"SELECT load_extension('x')", true},
                 {"SELECT name FROM nowhere", true},
                 {"SELECT id FROM keeper JOIN animal USING (id)", false},
                 {"SELECT name FROM keeper, animal", true},
                 {"SELECT 1; SELECT 2", true},
                 {"DROP TABLE keeper", true},
                 {"", true}};
    open_with((struct engine_config){0});
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_verdict *v = judge_sql("zoo", "Names?", cases[i].sql);
        cr_assert_eq(v->candidates[0].invalid, cases[i].invalid, "%s", cases[i].sql);
        cr_assert_eq(find(&v->candidates[0], "invalid_sql") != NULL, cases[i].invalid, "%s", cases[i].sql);
        msg_verdict_free(v);
    }
}

Test(engine, validity_without_the_execution_family)
{
    open_with((struct engine_config){.defaults = {.families = (const char *const[]){"structure"}, .n_families = 1}});
    struct msg_verdict *v = judge_sql("zoo", "Names?", "SELECT kount(*) FROM keeper");
    cr_assert(v->candidates[0].invalid);
    cr_assert_null(v->candidates[0].execution);
    msg_verdict_free(v);
    v = judge_sql("zoo", "Names?", "SELECT name FROM keeper");
    cr_assert_not(v->candidates[0].invalid);
    cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT);
    msg_verdict_free(v);
    struct engine_stats stats;
    engine_stats(engine, &stats);
    cr_assert_eq(stats.workers.executed, 0, "preparing is enough");
}

/* Each of these requests gets a failed verdict with a reason, and the next request is judged normally. */
Test(engine, bad_input_fails_alone)
{
    static const struct {
        const char *db, *question, *sql, *reason;
    } cases[] = {{"nowhere", "What?", "SELECT 1", "db_missing"},
                 {"../zoo/zoo", "What?", "SELECT 1", "db_missing"},
                 {"/etc/passwd", "What?", "SELECT 1", "db_missing"},
                 {".", "What?", "SELECT 1", "db_missing"},
                 {"", "What?", "SELECT 1", "db_missing"},
                 {"zoo\n", "What?", "SELECT 1", "db_missing"},
                 {"zoo", "\xff\xfe", "SELECT 1", "encoding"},
                 {"empty", "What?", "SELECT 1", "db_empty"},
                 {"junk", "What?", "SELECT 1", "db_corrupt"}};
    char empty[100], junk[100];
    snprintf(empty, sizeof empty, "%s/empty.sqlite", world.dir);
    snprintf(junk, sizeof junk, "%s/junk.sqlite", world.dir);
    fclose(fopen(empty, "w"));
    FILE *file = fopen(junk, "w");
    for (unsigned i = 0; i < 300; i++) fputs("this is no database, whatever it is called ", file);
    fclose(file);
    open_with((struct engine_config){0});
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_verdict *v = judge_sql(cases[i].db, cases[i].question, cases[i].sql);
        cr_assert_eq(v->status, MSG_STATUS_FAILED, "case %u", i);
        cr_assert_str_eq(v->reason, cases[i].reason, "case %u: %s", i, v->message);
        cr_assert_eq(err_class(err_from_name(v->reason)), ERR_CLASS_REJECT);
        cr_assert(v->message && *v->message);
        msg_verdict_free(v);
        v = judge_sql("zoo", "Names?", "SELECT name FROM keeper");
        cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT);
        msg_verdict_free(v);
    }
    unlink(empty);
    unlink(junk);
}

Test(engine, odd_candidates_are_invalid_not_fatal)
{
    open_with((struct engine_config){0});
    char *large = malloc(200001), *deep = malloc(200001);
    memset(large, ' ', 200000);
    memcpy(large, "SELECT 1", 8);
    large[200000] = deep[200000] = '\0';
    memset(deep, '(', 200000);
    memcpy(deep, "SELECT ", 7);
    const struct {
        struct msg_text sql;
        const char *code;
    } cases[] = {{{large, 200000}, "limit_bytes"},
                 {{deep, 60000}, NULL},
                 {{"SELECT \0 1", 10}, "encoding"},
                 {{"SELECT '\xff'", 10}, "encoding"}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_candidate one = {.sql = cases[i].sql, .score = NAN};
        struct msg_request request = {.id = "q", .db = "zoo", .question = "?", .candidates = &one, .n_candidates = 1};
        struct msg_verdict *v = judge(&request);
        cr_assert(v->candidates[0].invalid, "case %u", i);
        const struct msg_finding *finding = find(&v->candidates[0], "invalid_sql");
        if (cases[i].code) cr_assert_str_eq(finding->facts[0].value, cases[i].code, "case %u", i);
        msg_verdict_free(v);
    }
    free(large);
    free(deep);
}

/* Every question and every candidate must get a verdict. Each candidate that executes has an explanation, or a
 * statement that there is none. */
Test(engine, odd_input_never_fails_the_loop)
{
    enum { TABLES = 40 };
    char wide[4096];
    size_t at = (size_t)snprintf(wide, sizeof wide, "SELECT count(*) FROM keeper AS k0");
    for (unsigned i = 1; i < TABLES; i++)
        at += (size_t)snprintf(wide + at, sizeof wide - at, " JOIN keeper AS k%u ON k%u.id = k%u.id", i, i, i - 1);
    static char large[MSG_MAX_QUESTION + 1];
    memset(large, 'q', MSG_MAX_QUESTION);
    for (unsigned i = 4; i < MSG_MAX_QUESTION; i += 5) large[i] = ' ';
    const char *const sqls[] = {
        "SELECT 1",
        wide,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000) SELECT "
        "i FROM n",
        "SELECT zeroblob(1000), x'00ff'",
        "SELECT NULL, NULL FROM animal",
        "SELECT age FROM animal WHERE name = 'Nobody'"};
    const char *const questions[] = {NULL, "lions", "\xe7\x8d\x85\xe5\xad\x90\xe3\x81\xaf\xe4\xbd\x95", large};
    enum { N = sizeof sqls / sizeof *sqls };
    open_with((struct engine_config){.limits = {.max_rows = 20000}, .defaults = {.strategy = MSG_RERANK}});
    for (unsigned q = 0; q < sizeof questions / sizeof *questions; q++) {
        struct msg_candidate candidates[N];
        for (unsigned i = 0; i < N; i++)
            candidates[i] = (struct msg_candidate){.sql = {sqls[i], (uint32_t)strlen(sqls[i])}, .score = NAN};
        struct msg_request request = {
            .id = "q", .db = "zoo", .question = questions[q], .candidates = candidates, .n_candidates = N};
        struct msg_verdict *v = judge(&request);
        cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT, "question %u: %s", q, v->message);
        cr_assert_neq(v->chosen, 3, "the one that does not run to its end");
        cr_assert_str_eq(v->candidates[2].execution->code, "limit_rows");
        for (unsigned i = 0; i < N; i++) {
            const char *said = v->candidates[i].explanation;
            cr_assert(said && *said && strlen(said) <= MSG_MAX_PREMISE, "question %u, %s", q, sqls[i]);
        }
        msg_verdict_free(v);
    }
}

/* A question that exceeds its size limit fails its own request. The next request is judged. */
Test(engine, oversized_question_fails_alone)
{
    static char large[100001];
    memset(large, 'q', 100000);
    open_with((struct engine_config){0});
    struct msg_verdict *v = judge_sql("zoo", large, "SELECT count(*) FROM animal");
    cr_assert_eq(v->status, MSG_STATUS_FAILED);
    cr_assert_str_eq(v->reason, "limit_bytes");
    msg_verdict_free(v);
    v = judge_sql("zoo", "How many?", "SELECT count(*) FROM animal");
    cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT);
    msg_verdict_free(v);
}

Test(engine, empty_candidates_fail)
{
    struct msg_request request = {.id = "q", .db = "zoo", .question = "?"};
    open_with((struct engine_config){0});
    struct msg_verdict *v = judge(&request);
    cr_assert_eq(v->status, MSG_STATUS_FAILED);
    cr_assert_str_eq(v->reason, "no_candidates");
    msg_verdict_free(v);
}

Test(engine, endless_candidate_is_stopped)
{
    open_with((struct engine_config){.limits = {.time_ms = 100}});
    struct msg_verdict *v = judge_sql(
        "zoo", "What?", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    cr_assert_not(v->candidates[0].invalid);
    cr_assert_str_eq(v->candidates[0].execution->code, "limit_time");
    msg_verdict_free(v);
}

Test(engine, deadlines_hold_with_a_busy_worker)
{
    const char *sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    struct msg_candidate one = {.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
    struct msg_request request = {.id = "q",
                                  .db = "zoo",
                                  .question = "?",
                                  .candidates = &one,
                                  .n_candidates = 1,
                                  .options = {.deadline_ms = 150}};
    open_with((struct engine_config){.workers = 1, .limits = {.time_ms = 60000}});
    struct msg_verdict *v = judge(&request);
    cr_assert_str_eq(v->reason, "deadline");
    cr_assert_gt(v->n_unavailable + (v->candidates[0].judged ? v->candidates[0].n_signals : 0), 0);
    cr_assert_lt(v->total_ns, INT64_C(10) * 1000000000);
    msg_verdict_free(v);
}

/* Data may leave the database in three degrees: none, values in facts, or rows. */
Test(engine, exposure_follows_policy)
{
    const struct {
        struct msg_options options;
        uint32_t sample;
    } cases[] = {
        {{.expose = MSG_EXPOSE_NONE}, 0},
        {{.expose = MSG_EXPOSE_VALUES}, 0},
        {{.expose = MSG_EXPOSE_ROWS}, 3},
        {{.expose = MSG_EXPOSE_ROWS, .deny_columns = (const char *const[]){"keeper.NAME"}, .n_deny_columns = 1}, 0},
        {{.expose = MSG_EXPOSE_ROWS, .deny_columns = (const char *const[]){"keeper.city"}, .n_deny_columns = 1}, 3}};
    const char *sql = "SELECT name FROM keeper ORDER BY name";
    open_with((struct engine_config){0});
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_candidate one = {.sql = {sql, (uint32_t)strlen(sql)}, .score = NAN};
        struct msg_request request = {.id = "q",
                                      .db = "zoo",
                                      .question = "Names?",
                                      .candidates = &one,
                                      .n_candidates = 1,
                                      .options = cases[i].options};
        struct msg_verdict *v = judge(&request);
        cr_assert_eq(v->candidates[0].execution->n_sample, cases[i].sample, "case %u", i);
        if (cases[i].sample) cr_assert_str_eq(v->candidates[0].execution->sample[0].values[0], "Ada");
        msg_verdict_free(v);
    }
}

Test(engine, star_over_denied_column_shows_no_rows)
{
    open_with((struct engine_config){.defaults = {.expose = MSG_EXPOSE_ROWS,
                                                  .deny_columns = (const char *const[]){"keeper.city"},
                                                  .n_deny_columns = 1}});
    struct msg_verdict *v = judge_sql("zoo", "All?", "SELECT * FROM keeper");
    cr_assert_eq(v->candidates[0].execution->n_sample, 0);
    char *json = msg_verdict_to_json(v);
    cr_assert(strstr(json, "\"digest\":null"), "whoever knows how a digest is made could guess short values by it");
    free(json);
    msg_verdict_free(v);
}

Test(engine, explicit_files_come_first)
{
    char path[100];
    snprintf(path, sizeof path, "%s/zoo/zoo.sqlite", world.dir);
    struct worker_database files[] = {{"a name/with anything", path}};
    struct engine_config config = {.workers = 1};
    config.databases.files = files;
    config.databases.n_files = 1;
    open_with(config);
    struct msg_verdict *v = judge_sql("a name/with anything", "Names?", "SELECT name FROM keeper");
    cr_assert_eq(v->status, MSG_STATUS_BEST_EFFORT);
    msg_verdict_free(v);
}

/* True if the verdict was made from the new database. *context receives the verdict. */
static bool labels_are_read(void *context)
{
    struct msg_verdict **v = context;
    if (*v) msg_verdict_free(*v);
    *v = judge_sql("zoo", "Labels?", "SELECT label FROM item");
    return !(*v)->candidates[0].invalid;
}

/* If a database is replaced while the engine runs, the engine reads the new one. */
Test(engine, replaced_database_is_read_again)
{
    char shop[100], zoo[100];
    snprintf(shop, sizeof shop, "%s/shop/shop.sqlite", world.dir);
    snprintf(zoo, sizeof zoo, "%s/zoo/zoo.sqlite", world.dir);
    open_with((struct engine_config){.workers = 1});
    struct msg_verdict *v = judge_sql("zoo", "Names?", "SELECT name FROM keeper");
    cr_assert_not(v->candidates[0].invalid);
    msg_verdict_free(v);
    cr_assert_eq(rename(shop, zoo), 0);
    v = NULL;
    cr_assert(wait_until(labels_are_read, &v, 10000), "the index is checked again after a tenth of a second");
    cr_assert_eq(v->candidates[0].execution->rows, 3);
    msg_verdict_free(v);
}

/* --- many requests --- */

/* Returns n verdicts, ordered by tag, as JSON without the fields that depend on time. */
static char **judge_many(struct engine_config config, unsigned n)
{
    char **out = calloc(n, sizeof *out);
    struct msg_verdict *verdict;
    struct err err = {0};
    open_with(config);
    unsigned sent = 0, got = 0;
    while (got < n) {
        while (sent < n && engine_submit(engine, world_request(sent), 0, &err) == ERR_OK) sent++;
        if (sent == n) engine_finish(engine);
        cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%u of %u: %s", got, n, err.text);
        verdict->total_ns = verdict->worker_ns = 0;
        for (uint32_t i = 0; i < verdict->n_candidates; i++)
            if (verdict->candidates[i].execution) verdict->candidates[i].execution->ns = 0;
        cr_assert_lt(verdict->tag, n);
        cr_assert_null(out[verdict->tag], "one verdict a request");
        out[verdict->tag] = msg_verdict_to_json(verdict);
        msg_verdict_free(verdict);
        got++;
    }
    cr_assert_eq(engine_next(engine, 1000, &verdict, &err), ERR_CLOSED);
    cr_assert_eq(err.code, ERR_OK);
    engine_close(engine);
    engine = NULL;
    return out;
}

static void same_verdicts(char **a, char **b, unsigned n, const char *what)
{
    for (unsigned i = 0; i < n; i++) {
        cr_assert_str_eq(a[i], b[i], "%s", what);
        free(b[i]);
    }
    free(b);
}

static void forget(char **a, unsigned n)
{
    for (unsigned i = 0; i < n; i++) free(a[i]);
    free(a);
}

Test(engine, threads_window_and_speculation_change_no_verdict)
{
    enum { N = 40 };
    char **plain = judge_many((struct engine_config){.workers = 1, .window = 1}, N);
    same_verdicts(plain, judge_many((struct engine_config){.workers = 3, .window = 16}, N), N, "threads");
    same_verdicts(plain, judge_many((struct engine_config){.workers = 2, .defaults = {.speculate = 4}}, N), N,
                  "speculation");
    forget(plain, N);
}

/* Full queues, duplicate messages, lost acks, split batches and empty polls must not change a verdict. */
Test(engine, transport_faults_change_no_verdict)
{
    enum { N = 40 };
    char **plain = judge_many((struct engine_config){0}, N);
    static const struct mem_faults faults[] = {
        {.topics = "assay.tasks.",
         .duplicate_every = 3,
         .again_every = 4,
         .full_every = 5,
         .split_every = 2,
         .late_every = 7},
        {.topics = "assay.results", .duplicate_every = 2, .again_every = 3, .full_every = 2, .split_every = 3},
        {.topics = "assay.verdicts", .full_every = 2},
        {.topics = "assay.requests", .late_every = 3},
    };
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++) {
        mem_set(&faults[i]);
        same_verdicts(plain, judge_many((struct engine_config){.transport = "mem"}, N), N, faults[i].topics);
        struct mem_counts counts = mem_counts();
        cr_assert_gt(counts.full + counts.late, 0, "the faults did strike");
    }
    forget(plain, N);
}

Test(engine, full_window_blocks_writer)
{
    struct err err = {0};
    struct msg_verdict *verdict;
    open_with((struct engine_config){.window = 2});
    cr_assert_eq(engine_submit(engine, world_request(0), 0, &err), ERR_OK);
    cr_assert_eq(engine_submit(engine, world_request(1), 0, &err), ERR_OK);
    cr_assert_eq(engine_submit(engine, world_request(2), 0, &err), ERR_FULL);
    cr_assert_eq(engine_submit(engine, world_request(2), 30, &err), ERR_FULL);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK);
    msg_verdict_free(verdict);
    cr_assert_eq(engine_submit(engine, world_request(2), 0, &err), ERR_OK);
    engine_finish(engine);
    cr_assert_eq(engine_submit(engine, world_request(3), 0, &err), ERR_CLOSED);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK);
        msg_verdict_free(verdict);
    }
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_CLOSED);
}

Test(engine, empty_output_is_reported_in_time)
{
    struct err err = {0};
    struct msg_verdict *verdict;
    open_with((struct engine_config){0});
    cr_assert_eq(engine_next(engine, 0, &verdict, &err), ERR_FULL);
    cr_assert_eq(engine_next(engine, 20, &verdict, &err), ERR_FULL);
    cr_assert_null(verdict);
}

Test(engine, wrong_configuration_is_refused_by_name)
{
    struct err err = {0};
    struct engine_config pigeon = {.transport = "pigeon"}, lost = {.label_model = "/nowhere/model.json"};
    cr_assert_eq(world_open(&world, &pigeon, &engine, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "pigeon"));
    cr_assert_eq(world_open(&world, &lost, &engine, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "/nowhere/model.json"), "%s", err.text);
    cr_assert_null(engine);
}
