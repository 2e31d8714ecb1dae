/* Tests calibration from a feedback topic on a real broker. */
#include "proto/bus/range.h"
#include "tests/live/broker.h"
#include "tests/live/program.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { REQUESTS = 24, LIMIT_MS = 40000 };

static char topic[100];

TestSuite(feedback, .init = program_begin, .fini = program_end, .timeout = 300);

/* Makes a topic, and requests whose third candidate is right. Its result differs from that of the first two. */
static void prepare(const char *test, int32_t partitions)
{
    broker_needed();
    const char *prefix = broker_prefix(test);
    broker_topics(prefix, partitions, (const char *const[]){"feedback", NULL});
    g_snprintf(topic, sizeof topic, "%s.feedback", prefix);
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < REQUESTS; i++)
        g_string_append_printf(
            text,
            "{\"id\": \"r-%u\", \"db\": \"shop\", \"question\": \"How many customers have an id over "
            "%u?\", \"candidates\": [\"SELECT max(id) + %u FROM customer\", \"SELECT -%u\", \"SELECT "
            "count(*) FROM customer WHERE id > %u\"]}\n",
            i, i, 100 + i, i + 1, i);
    write_file("requests.jsonl", text->str);
    g_string_free(text, TRUE);
}

static char *record_of(unsigned request)
{
    return g_strdup_printf("{\"feedback_version\": 1, \"id\": \"r-%u\", \"candidate\": 2, \"right\": true}", request);
}

/* Produces feedback on the requests from `first` up to, but not including, `last`; the feedback is committed on
 * return. */
static void put(unsigned first, unsigned last)
{
    struct bus *bus = broker_open(NULL, 0);
    for (unsigned i = first; i < last; i++) {
        char key[16], *record = record_of(i);
        g_snprintf(key, sizeof key, "r-%u", i);
        broker_put(bus, topic, key, record);
        g_free(record);
    }
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
}

static int64_t now_ms(void)
{
    struct bus *bus = broker_open(NULL, 0);
    int64_t ms = bus_now_ns(bus) / 1000000 + 50;
    while (bus_now_ns(bus) / 1000000 < ms + 50) g_usleep(1000);
    bus_close(bus);
    return ms;
}

#define CALIBRATE                                                                                                      \
    "train", "calibration", "requests.jsonl", "--db-root", ".", "--verifier", SOURCE_ROOT "/models/verifier.json"
#define FROM_TOPIC CALIBRATE, "--servers", servers, "--from-topic", topic

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d: %s%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

Test(feedback, topic_gives_same_fit_as_file)
{
    prepare("same", 3);
    GString *lines = g_string_new(NULL);
    for (unsigned i = 0; i < REQUESTS; i++) {
        char *record = record_of(i);
        g_string_append_printf(lines, "%s\n", record);
        g_free(record);
    }
    write_file("feedback.jsonl", lines->str);
    put(0, REQUESTS);
    static const char says[] = "feedback: 24 records for 24 requests";
    expect(assay(CALIBRATE, "feedback.jsonl", "--out", "file.json"), 0, says, NULL);
    expect(assay(FROM_TOPIC, "--out", "topic.json"), 0, says, NULL);
    expect(assay(CALIBRATE, "--out", "neither.json"), 0, NULL, NULL);
    char *file = read_file("file.json"), *same = read_file("topic.json"), *neither = read_file("neither.json");
    cr_expect_str_eq(file, same);
    cr_expect_str_neq(file, neither, "else the feedback moved nothing");
    g_free(file);
    g_free(same);
    g_free(neither);
    g_string_free(lines, TRUE);
}

Test(feedback, range_of_topic_is_used)
{
    prepare("stretch", 1);
    put(0, 10);
    char *time = g_strdup_printf("%lld", (long long)now_ms());
    put(10, REQUESTS);
    expect(assay(FROM_TOPIC, "--to-offset", "7", "--out", "o"), 0, "feedback: 7 records for 7 requests", NULL);
    expect(assay(FROM_TOPIC, "--from-offset", "21", "--out", "o"), 0, "feedback: 3 records for 3 requests", NULL);
    expect(assay(FROM_TOPIC, "--to-time", time, "--out", "o"), 0, "feedback: 10 records for 10 requests", NULL);
    expect(assay(FROM_TOPIC, "--from-time", time, "--out", "o"), 0, "feedback: 14 records for 14 requests", NULL);
    expect(assay(FROM_TOPIC, "--from-time", "soon", "--out", "o"), 2, NULL, "'soon' is not a time");
    g_free(time);
}

static atomic_bool enough;

static void *never_quiet(void *bus)
{
    for (unsigned i = 0; !enough; i = (i + 1) % REQUESTS) {
        char *record = record_of(i);
        broker_put(bus, topic, "k", record);
        bus_flush(bus, LIMIT_MS);
        g_free(record);
    }
    return NULL;
}

/* Returns the number of messages that a group has not read yet. */
static unsigned left_of(const char *group)
{
    struct bus *bus = broker_open(NULL, 0);
    struct range_config config = {.topic = topic, .group = group, .to = {RANGE_LAST, 0}, .resume = true};
    const struct bus_message *message;
    struct range *range;
    struct err err = {0};
    unsigned n = 0;
    cr_assert_eq(range_open(bus, &config, &range, &err), ERR_OK, "%s", err.text);
    while (range_poll(range, LIMIT_MS, &message, &err) == ERR_OK) n++;
    range_close(range);
    bus_close(bus);
    return n;
}

Test(feedback, busy_topic_ends_without_commits)
{
    prepare("busy", 2);
    put(0, REQUESTS);
    pthread_t thread;
    struct bus *bus = broker_open(NULL, 0);
    cr_assert_eq(pthread_create(&thread, NULL, never_quiet, bus), 0);
    struct run run = assay(FROM_TOPIC, "--out", "o");
    enough = true;
    pthread_join(thread, NULL);
    bus_close(bus);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, " for 24 requests"), "%s", run.out);
    run_free(&run);
    cr_expect_geq(left_of("assay-train"), REQUESTS, "nothing is committed");
}

Test(feedback, errors_are_reported)
{
    prepare("wrong", 1);
    struct bus *bus = broker_open(NULL, 0);
    broker_put(bus, topic, "k", "garbage");
    broker_put(bus, topic, "k", "{\"feedback_version\": 1, \"id\": \"r-1\"}");
    broker_put(bus, topic, "k", "{\"id\": \"q-1\", \"db\": \"shop\"}");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
    put(0, 2);
    char where[160];
    g_snprintf(where, sizeof where, "%s[0]@0: skipped: not a feedback record", topic);
    expect(assay(FROM_TOPIC, "--out", "o"), 0, "feedback: 2 records for 2 requests; skipped: 3 unreadable records",
           where);
    g_snprintf(where, sizeof where, "%s[0]@1: skipped: \"right\"", topic);
    expect(assay(FROM_TOPIC, "--out", "o"), 0, NULL, where);
    expect(assay(CALIBRATE, "--servers", servers, "--from-topic", "live.no.such.topic", "--out", "o"), 2, NULL,
           "assay: topic 'live.no.such.topic' does not exist");
    expect(assay(CALIBRATE, "--servers", "127.0.0.1:1", "--connect-ms", "500", "--from-topic", topic, "--out", "o"), 2,
           NULL, "no broker answered");
}
