/* Tests assay.h from a caller's side. test_library.py tests the installed shared library. */
#include "engine/assay.h"
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LIONS "{\"id\": \"q\", \"db\": \"zoo\", \"question\": \"How many lions are there?\", \"candidates\": "
#define GOOD  LIONS "[\"SELECT kount(*) FROM animal\", \"SELECT count(*) FROM animal WHERE kind = 'lion'\"]}"
#define WRONG LIONS "[\"SELECT kount(*) FROM animal\"]}"

static struct world world;
static struct assay_engine *engine;
static struct assay_options options;
static struct assay_error error;

static void begin(void)
{
    cr_assert(world_make(&world));
    assay_options_init(&options);
    options.database_root = world.dir;
    options.models = SOURCE_ROOT "/models";
    options.threads = 2;
}
static void end(void)
{
    cr_assert_eq(assay_close(engine), ASSAY_OK);
    engine = NULL;
    world_remove(&world);
    leak_check();
}
TestSuite(assay, .init = begin, .fini = end);

static void open_engine(void)
{
    cr_assert_eq(assay_open(&options, &engine, &error), ASSAY_OK, "%s: %s", error.code, error.text);
}

static struct assay_verdict *judge(const char *request)
{
    struct assay_verdict *verdict;
    cr_assert_eq(assay_judge(engine, request, strlen(request), &verdict, &error), ASSAY_OK, "%s", error.text);
    return verdict;
}

Test(assay, request_is_judged)
{
    open_engine();
    struct assay_verdict *verdict = judge(GOOD);
    cr_assert_str_eq(assay_verdict_id(verdict), "q");
    cr_assert_eq(assay_verdict_chosen(verdict), 1);
    cr_assert_str_eq(assay_verdict_sql(verdict), "SELECT count(*) FROM animal WHERE kind = 'lion'");
    cr_assert_gt(assay_verdict_p_correct(verdict), 0);
    cr_assert_gt(assay_verdict_threshold(verdict), 0);
    json_t *json = json_loads(assay_verdict_json(verdict), 0, NULL);
    cr_assert_eq(json_integer_value(json_object_get(json, "schema_version")), MSG_SCHEMA_VERSION);
    cr_assert_str_eq(json_string_value(json_object_get(json, "status")), assay_verdict_status_name(verdict));
    cr_assert_eq(json_array_size(json_object_get(json, "candidates")), 2);
    cr_assert_eq(assay_verdict_json(verdict), assay_verdict_json(verdict), "written once");
    json_decref(json);
    cr_assert_eq(assay_close(engine), ASSAY_OK);
    engine = NULL;
    cr_assert_str_eq(assay_verdict_id(verdict), "q", "it outlives its engine");
    assay_verdict_free(verdict);
    assay_verdict_free(NULL);
}

Test(assay, request_without_valid_candidate_abstains)
{
    options.defaults = "{\"policy\": \"abstain\"}";
    open_engine();
    struct assay_verdict *verdict = judge(WRONG);
    cr_assert_eq(assay_verdict_status(verdict), ASSAY_STATUS_ABSTAINED);
    cr_assert_eq(assay_verdict_chosen(verdict), -1);
    cr_assert_null(assay_verdict_sql(verdict));
    cr_assert_str_eq(assay_verdict_reason(verdict), "invalid_sql");
    cr_assert_not_null(assay_verdict_message(verdict));
    assay_verdict_free(verdict);
}

Test(assay, statements_run_in_another_process)
{
    options.executor = ASSAY_BINARY;
    open_engine();
    struct assay_verdict *verdict = judge(GOOD);
    cr_assert_eq(assay_verdict_chosen(verdict), 1);
    assay_verdict_free(verdict);
}

/* --- errors --- */

static void expect_rejected(const char *request, size_t len, const char *code)
{
    struct assay_verdict *verdict = (struct assay_verdict *)1;
    cr_assert_eq(assay_judge(engine, request, len, &verdict, &error), ASSAY_REJECT, "%s", request);
    cr_assert_eq(error.result, ASSAY_REJECT);
    cr_assert_str_eq(error.code, code, "%s: %s", request, error.text);
    cr_assert_neq(error.text[0], '\0');
    cr_assert_null(verdict);
    cr_assert_eq(assay_judge(engine, request, len, &verdict, NULL), ASSAY_REJECT, "nobody needs to ask why");
}

Test(assay, malformed_request_is_refused)
{
    static const char nul[] = "{\"db\": \"zoo\", \"question\": \"a\\u0000b\"}";
    open_engine();
    expect_rejected("", 0, "malformed");
    expect_rejected("{\"db\"", 5, "malformed");
    expect_rejected("[]", 2, "malformed");
    expect_rejected("{\"question\": \"How many?\"}", 25, "malformed");
    expect_rejected("{\"db\": \"\xff\"}", 11, "encoding");
    expect_rejected(nul, sizeof nul - 1, "encoding");
    struct assay_verdict *verdict = judge(GOOD);
    cr_assert_eq(assay_verdict_chosen(verdict), 1, "the engine goes on");
    assay_verdict_free(verdict);
}

Test(assay, missing_database_fails_request)
{
    open_engine();
    struct assay_verdict *verdict =
        judge("{\"db\": \"nowhere\", \"question\": \"Q?\", \"candidates\": [\"SELECT 1\"]}");
    cr_assert_eq(assay_verdict_status(verdict), ASSAY_STATUS_FAILED);
    cr_assert_str_eq(assay_verdict_reason(verdict), "db_missing");
    cr_assert_neq(assay_verdict_id(verdict)[0], '\0', "one is made up");
    cr_assert(isnan(assay_verdict_p_correct(verdict)));
    assay_verdict_free(verdict);
}

static void expect_no_engine(const char *why)
{
    engine = (struct assay_engine *)1;
    cr_assert_eq(assay_open(&options, &engine, &error), ASSAY_FATAL, "%s", why);
    cr_assert_str_eq(error.code, "config", "%s", why);
    cr_assert(strstr(error.text, why), "%s", error.text);
    cr_assert_null(engine);
}

Test(assay, invalid_options_are_refused)
{
    struct assay_options valid = options;
    struct assay_database database = {.name = "zoo", .path = "zoo.sqlite", .expose = "everything"};
    options.database_root = NULL;
    expect_no_engine("neither databases nor database_root");
    options.database_root = "/no/such/folder";
    expect_no_engine("is not a directory");
    options = valid;
    options.databases = &database, options.n_databases = 1;
    expect_no_engine("'everything'");
    database.expose = "none";
    database.deny_columns = (const char *const[]){NULL}, database.n_deny_columns = 1;
    expect_no_engine("denied column");
    database.deny_columns = (const char *const[]){"keeper..name"};
    expect_no_engine("'keeper..name' is malformed: a part is empty");
    database.path = NULL;
    expect_no_engine("no path");
    options = valid;
    options.models = "/no/such/folder";
    expect_no_engine("label model");
    options = valid;
    options.defaults = "{\"policy\": \"guess\"}";
    expect_no_engine("policy");
    options.defaults = "{\"deny_columns\": [\"*\"]}";
    expect_no_engine("`*` needs its table");
    options.defaults = "[]";
    expect_no_engine("not a JSON object");
    options = valid;
    options.executor = "/no/such/program";
    expect_no_engine("is not an executable file");
    options = valid;
    options.threads = 100000;
    expect_no_engine("workers");
}

/* Tests callers that were compiled with structs of another version. */
Test(assay, options_of_other_size_are_accepted)
{
    struct {
        struct assay_options known;
        void *new;
    } longer;
    struct assay_options whole = options;
    assay_options_init_sized(&longer.known, sizeof longer, sizeof(struct assay_database));
    longer.known.database_root = world.dir;
    longer.known.models = options.models;
    cr_assert_eq(assay_open(&longer.known, &engine, &error), ASSAY_OK, "what is not set does not matter");
    cr_assert_eq(assay_close(engine), ASSAY_OK);
    longer.new = &longer;
    cr_assert_eq(assay_open(&longer.known, &engine, &error), ASSAY_FATAL);
    cr_assert(strstr(error.text, "does not support"), "%s", error.text);
    whole.threads = 100000; /* lies beyond the end of an older caller's struct */
    whole.size = offsetof(struct assay_options, threads);
    cr_assert_eq(assay_open(&whole, &engine, &error), ASSAY_OK, "%s", error.text);
}

/* The policy of a catalogue entry holds, whatever a request asks for. */
Test(assay, catalogue_policy_bounds_requests)
{
    static const char *const denied[] = {"keeper.name"};
    static const char request[] =
        "{\"db\": \"animals\", \"question\": \"Which keepers live in Rome?\", \"expose\": \"rows\","
        " \"candidates\": [\"SELECT name, city FROM keeper\"]}";
    char path[160];
    snprintf(path, sizeof path, "%s/zoo/zoo.sqlite", world.dir);
    struct assay_database database = {.name = "animals", .path = path};
    options.databases = &database, options.n_databases = 1;
    open_engine();
    struct assay_verdict *open = judge(request);
    cr_assert(strstr(assay_verdict_json(open), "Oslo"));
    assay_close(engine);
    database.deny_columns = denied, database.n_deny_columns = 1;
    open_engine();
    database.deny_columns = NULL, path[0] = '\0'; /* safe, because the library has copied these texts */
    struct assay_verdict *closed = judge(request);
    cr_assert_not(strstr(assay_verdict_json(closed), "Ada"));
    cr_assert_neq(assay_verdict_status(closed), ASSAY_STATUS_FAILED);
    assay_verdict_free(open);
    assay_verdict_free(closed);
}

Test(assay, locations_are_shown_on_request_alone)
{
    static const char request[] = "{\"db\": \"gone\", \"question\": \"?\", \"candidates\": [\"SELECT 1\"]}";
    const struct assay_database database = {.name = "gone", .path = "/no/such/place/gone.sqlite"};
    options.databases = &database, options.n_databases = 1;
    open_engine();
    struct assay_verdict *verdict = judge(request);
    cr_expect(strstr(assay_verdict_json(verdict), "'gone': the database does not exist"), "%s",
              assay_verdict_json(verdict));
    cr_expect_not(strstr(assay_verdict_json(verdict), "/no/such"));
    assay_verdict_free(verdict);
    assay_close(engine);
    options.show_locations = 1;
    open_engine();
    verdict = judge(request);
    cr_expect(strstr(assay_verdict_json(verdict), "/no/such/place/gone.sqlite"), "%s", assay_verdict_json(verdict));
    assay_verdict_free(verdict);
}

Test(assay, malformed_denied_column_is_rejected)
{
    static const char request[] = "{\"db\": \"zoo\", \"question\": \"?\", \"deny_columns\": [\"keeper.\"],"
                                  " \"candidates\": [\"SELECT 1\"]}";
    struct assay_verdict *verdict = NULL;
    open_engine();
    cr_expect_eq(assay_judge(engine, request, strlen(request), &verdict, &error), ASSAY_REJECT);
    cr_expect_str_eq(error.code, "malformed");
    cr_expect(strstr(error.text, "'keeper.'"), "%s", error.text);
    cr_expect_null(verdict);
}

/* --- callbacks --- */

enum { MANY = 20 };

static struct {
    atomic_uint answers, verdicts, cancelled, elsewhere;
    atomic_bool held, began; /* while `held` is set, a callback blocks */
    pthread_t caller;
} seen;

static void count(void *context, struct assay_verdict *verdict, const struct assay_error *why)
{
    atomic_uint *own = context;
    atomic_store(&seen.began, true);
    while (atomic_load(&seen.held)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_add(own, 1);
    atomic_fetch_add(&seen.answers, 1);
    atomic_fetch_add(&seen.verdicts, verdict && why->result == ASSAY_OK);
    atomic_fetch_add(&seen.cancelled, !verdict && strcmp(why->code, "cancelled") == 0);
    atomic_fetch_add(&seen.elsewhere, !pthread_equal(pthread_self(), seen.caller));
    assay_verdict_free(verdict);
}

static enum assay_result submit(const char *request, int64_t timeout_ms, atomic_uint *own)
{
    seen.caller = pthread_self();
    return assay_submit(engine, request, strlen(request), timeout_ms, count, own, &error);
}

static void wait_for(atomic_bool *flag)
{
    for (int i = 0; i < 10000 && !atomic_load(flag); i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    cr_assert(atomic_load(flag));
}

Test(assay, each_callback_is_called_once)
{
    static atomic_uint each[MANY];
    options.window = 3;
    open_engine();
    for (int i = 0; i < MANY; i++) cr_assert_eq(submit(GOOD, -1, &each[i]), ASSAY_OK, "%s", error.text);
    cr_assert_eq(assay_wait(engine, -1), ASSAY_OK);
    for (int i = 0; i < MANY; i++) cr_assert_eq(atomic_load(&each[i]), 1);
    cr_assert_eq(atomic_load(&seen.verdicts), MANY);
    cr_assert_eq(atomic_load(&seen.elsewhere), MANY, "on the engine's thread");
    cr_assert_eq(submit("{", 0, &each[0]), ASSAY_REJECT);
    cr_assert_eq(atomic_load(&each[0]), 1, "not for what was not taken");
}

/* Fills the engine: one request is being answered, another fills the window. */
static void fill(atomic_uint *own)
{
    options.window = 1;
    open_engine();
    atomic_store(&seen.held, true);
    cr_assert_eq(submit(GOOD, -1, own), ASSAY_OK);
    wait_for(&seen.began);
    cr_assert_eq(submit(GOOD, 10000, own), ASSAY_OK);
}

Test(assay, full_window_refuses_request)
{
    static atomic_uint own;
    fill(&own);
    cr_assert_eq(submit(GOOD, 0, &own), ASSAY_RETRY);
    cr_assert_str_eq(error.code, "full");
    cr_assert_eq(submit(GOOD, 20, &own), ASSAY_RETRY);
    cr_assert_eq(assay_wait(engine, 0), ASSAY_RETRY);
    cr_assert_eq(assay_wait(engine, 20), ASSAY_RETRY);
    atomic_store(&seen.held, false);
    cr_assert_eq(assay_wait(engine, -1), ASSAY_OK);
    cr_assert_eq(atomic_load(&own), 2);
}

static void *judge_until_closed(void *arg)
{
    struct assay_verdict *verdict;
    struct assay_error *why = arg;
    assay_judge(engine, GOOD, strlen(GOOD), &verdict, why);
    assay_verdict_free(verdict);
    return NULL;
}

static void *close_engine(void *arg)
{
    cr_assert_eq(assay_close(engine), ASSAY_OK);
    return arg;
}

/* Closing the engine completes all requests in flight: one in the window, and one whose thread is blocked because the
 * window is full. */
Test(assay, closing_cancels_requests_in_flight)
{
    static atomic_uint own;
    struct assay_error why = {0};
    pthread_t judging, closing;
    fill(&own);
    pthread_create(&judging, NULL, judge_until_closed, &why);
    /* the thread either waits by now or is too late; both outcomes are valid */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    pthread_create(&closing, NULL, close_engine, NULL);
    pthread_join(judging, NULL);
    cr_assert_str_eq(why.code, "cancelled", "%s", why.text);
    atomic_store(&seen.held, false);
    pthread_join(closing, NULL);
    engine = NULL;
    cr_assert_eq(atomic_load(&own), 2);
    cr_assert_eq(atomic_load(&seen.verdicts) + atomic_load(&seen.cancelled), 2);
}

static void misbehave(void *context, struct assay_verdict *verdict, const struct assay_error *why)
{
    struct assay_verdict *none = (struct assay_verdict *)1;
    struct assay_error own;
    bool good = verdict && why->result == ASSAY_OK && why->text[0] == '\0';
    assay_verdict_free(verdict);
    good = good && assay_judge(engine, GOOD, strlen(GOOD), &none, &own) == ASSAY_REJECT && !none;
    good = good && strcmp(own.code, "refused") == 0;
    good = good && assay_wait(engine, -1) == ASSAY_REJECT && assay_close(engine) == ASSAY_REJECT;
    good = good && assay_submit(engine, GOOD, strlen(GOOD), -1, count, context, &own) == ASSAY_OK;
    atomic_fetch_add((atomic_uint *)context, good);
}

Test(assay, callback_may_call_library)
{
    static atomic_uint own;
    open_engine();
    cr_assert_eq(assay_submit(engine, GOOD, strlen(GOOD), -1, misbehave, &own, &error), ASSAY_OK);
    cr_assert_eq(assay_wait(engine, -1), ASSAY_OK);
    cr_assert_eq(atomic_load(&own), 2, "its own, and that of the request that it submitted");
}

static void submit_again(void *context, struct assay_verdict *verdict, const struct assay_error *why)
{
    struct assay_error own;
    assay_verdict_free(verdict);
    if (why->result == ASSAY_OK) {
        atomic_store(&seen.began, true);
        while (atomic_load(&seen.held)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        return;
    }
    if (assay_submit(engine, GOOD, strlen(GOOD), -1, count, context, &own) == ASSAY_REJECT)
        atomic_fetch_add((atomic_uint *)context, strcmp(own.code, "cancelled") == 0);
}

static void *release_later(void *arg)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    atomic_store(&seen.held, false);
    return arg;
}

Test(assay, closed_engine_refuses_requests)
{
    static atomic_uint own;
    pthread_t releasing;
    options.window = 4;
    open_engine();
    atomic_store(&seen.held, true);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(assay_submit(engine, GOOD, strlen(GOOD), -1, submit_again, &own, &error), ASSAY_OK);
    wait_for(&seen.began);
    pthread_create(&releasing, NULL, release_later, NULL);
    cr_assert_eq(assay_close(engine), ASSAY_OK);
    engine = NULL;
    pthread_join(releasing, NULL);
    cr_assert_gt(atomic_load(&own), 0, "called off, and refused what they submitted then");
    cr_assert_eq(assay_close(NULL), ASSAY_OK);
}

/* --- the process --- */

/* The JSON must be valid even if the program's locale writes numbers with a comma. */
Test(assay, locale_does_not_change_json)
{
    static const char *const with_comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    bool set = false;
    for (unsigned i = 0; i < sizeof with_comma / sizeof *with_comma && !set; i++)
        set = setlocale(LC_NUMERIC, with_comma[i]) != NULL;
    if (!set) cr_skip_test("no locale with a comma is installed");
    open_engine();
    struct assay_verdict *verdict = judge(GOOD);
    json_t *json = json_loads(assay_verdict_json(verdict), 0, NULL);
    cr_assert_not_null(json, "%s", assay_verdict_json(verdict));
    cr_assert_str_eq(localeconv()->decimal_point, ",", "it is left as it was");
    json_decref(json);
    assay_verdict_free(verdict);
}

static atomic_bool blocked;

static void look_at_signals(void *context, struct assay_verdict *verdict, const struct assay_error *why)
{
    sigset_t set;
    (void)context, (void)why;
    assay_verdict_free(verdict);
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    atomic_store(&blocked, sigismember(&set, SIGTERM) == 1 && sigismember(&set, SIGSEGV) == 0);
}

Test(assay, signals_reach_the_program)
{
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    open_engine();
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    cr_assert_eq(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM), "the caller's mask is as it was");
    cr_assert_eq(assay_submit(engine, GOOD, strlen(GOOD), -1, look_at_signals, NULL, &error), ASSAY_OK);
    cr_assert_eq(assay_wait(engine, -1), ASSAY_OK);
    cr_assert(atomic_load(&blocked));
}

Test(assay, versions_match_header)
{
    char expected[32];
    int number = assay_version_number();
    snprintf(expected, sizeof expected, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    cr_assert_str_eq(assay_version(), expected);
    cr_assert_eq(number, ASSAY_VERSION_NUMBER);
}
