/* Tests assay link judge on a topic of a real broker. It judges traces of linkers as they arrive, and skips other
 * messages. */
#include "tests/live/broker.h"
#include "tests/live/program.h"
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { LIMIT_MS = 30000, TRACES = 5 };
static const struct made linker = {.questions = 200, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};

static char topic[BROKER_NAME];

static void prepare(const char *test)
{
    broker_needed();
    const char *prefix = broker_prefix(test);
    broker_topics(prefix, 2, (const char *const[]){"traces", NULL});
    g_snprintf(topic, sizeof topic, "%s.traces", prefix);
    made_predictor("predictor", &linker);
}

static void put(struct bus *bus, const char *key, const void *bytes, size_t len)
{
    const struct bus_out out = {.topic = topic,
                                .partition = BUS_ANY_PARTITION,
                                .key = key,
                                .key_len = (uint32_t)strlen(key),
                                .value = bytes,
                                .len = len};
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
}

/* Writes five traces with invalid messages between them, and one trace of another model. */
static void put_all(void)
{
    struct bus *bus = broker_open(NULL, 0);
    struct made one = linker, other = linker;
    other.hidden = 3;
    for (unsigned i = 0; i < TRACES; i++) {
        gsize len;
        one.seed = 10 + i;
        GBytes *message = made_message(&one);
        const void *bytes = g_bytes_get_data(message, &len);
        put(bus, "q0", bytes, len);
        put(bus, "bad", bytes, len / 2);
        g_bytes_unref(message);
    }
    gsize len;
    GBytes *message = made_message(&other);
    const void *bytes = g_bytes_get_data(message, &len);
    put(bus, "other", bytes, len);
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    g_bytes_unref(message);
    bus_close(bus);
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part)) n++;
    return n;
}

TestSuite(traces, .init = program_begin, .fini = program_end, .timeout = 120);

Test(traces, topic_is_judged_to_end_skipping_invalid_messages)
{
    prepare("traces-all");
    put_all();
    struct run run = assay("link", "judge", "--servers", servers, "--from-topic", topic, "--predictor=predictor");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_eq(count(run.out, "{\"id\":\"q0\",\"linking\":{"), TRACES, "%s", run.out);
    cr_expect_eq(count(run.err, "skipped: "), TRACES + 1, "%s", run.err);
    cr_expect(strstr(run.err, "the predictor expects") && strstr(run.err, "5 judged, 6 skipped"), "%s", run.err);
    run_free(&run);
    run = assay("link", "judge", "--from-topic", topic, "--predictor=predictor");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "bootstrap.servers is not set"), "%s", run.err);
    run_free(&run);
}

static bool all_are_there(void *ctx)
{
    char *out = read_file(".out");
    bool there = out && count(out, "\n") >= *(unsigned *)ctx;
    g_free(out);
    return there;
}

Test(traces, later_traces_are_followed_until_signal)
{
    prepare("traces-follow");
    unsigned once = TRACES, twice = 2 * TRACES;
    int status;
    put_all();
    const char *const args[] = {"link", "judge",       "--servers", servers,    "--from-topic",
                                topic,  "--predictor", "predictor", "--follow", NULL};
    pid_t child = assay_start(args);
    cr_assert(wait_until(all_are_there, &once, LIMIT_MS), "%s", read_file(".err"));
    put_all();
    cr_assert(wait_until(all_are_there, &twice, LIMIT_MS), "%s", read_file(".err"));
    kill(child, SIGTERM);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
}
