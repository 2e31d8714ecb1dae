/* Tests replaying the past of a topic, and feeding a fleet, on a real broker. Each test has its own topics and
 * group. */
#include "lib/base/clock.h"
#include "proto/bus/range.h"
#include "tests/live/broker.h"
#include "tests/live/program.h"
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { LIMIT_MS = 40000 };

static char from[BROKER_NAME], to[BROKER_NAME], group[BROKER_NAME];

TestSuite(replay, .init = program_begin, .fini = program_end, .timeout = 180);

static void topics(const char *test, int32_t partitions)
{
    const struct broker_topic both[] = {{"in", from}, {"out", to}, {NULL, NULL}};
    broker_scene(test, partitions, both, group);
}

/* Produces requests q-<first> to q-<last>; the requests are committed on return. */
static void put(unsigned first, unsigned last)
{
    struct bus *bus = broker_open(NULL, 0);
    for (unsigned i = first; i <= last; i++) {
        char id[16], *json = g_strdup_printf(
                         "{\"id\":\"q-%u\",\"db\":\"shop\",\"question\":\"How many customers are older than %u?\","
                         "\"candidates\":[\"SELECT count(*) FROM customer WHERE age > %u\"]}",
                         i, i, i);
        g_snprintf(id, sizeof id, "q-%u", i);
        broker_put(bus, from, id, json);
        g_free(json);
    }
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
}

/* Checks that the text has exactly one verdict on each of q-<first> to q-<last>, and no other verdict. */
static void expect_ids(const char *text, unsigned first, unsigned last)
{
    unsigned lines = 0;
    for (const char *c = text; c && *c; c++) lines += *c == '\n';
    cr_expect_eq(lines, last + 1 - first, "%u verdicts, not %u", lines, last + 1 - first);
    for (unsigned i = first; i <= last; i++) {
        char id[24];
        g_snprintf(id, sizeof id, "\"id\":\"q-%u\",", i);
        const char *at = text ? strstr(text, id) : NULL;
        cr_expect(at && !strstr(at + 1, id), "%s once in:\n%.2000s", id, text);
    }
}

static void expect_file(const char *path, unsigned first, unsigned last)
{
    char *text = read_file(path);
    expect_ids(text, first, last);
    g_free(text);
}

#define REPLAY "replay", "--servers", servers, "--from-topic", from, "--db-root", ".", "-q"

static void expect(struct run run, int status, const char *says)
{
    cr_expect_eq(run.status, status, "status %d, not %d: %s", run.status, status, run.err);
    if (says) cr_expect(strstr(run.err, says), "no '%s' in: %s", says, run.err);
    run_free(&run);
}

/* --- which records ---------------------------------------------------------------------------------------------- */

Test(replay, offsets_select_records)
{
    topics("offset", 1);
    put(1, 12);
    expect(assay(REPLAY, "--out", "all"), 0, NULL);
    expect_file("all", 1, 12);
    expect(assay(REPLAY, "--from-offset", "3", "--to-offset", "7", "--out", "some"), 0, NULL);
    expect_file("some", 4, 7);
    expect(assay(REPLAY, "--from-offset", "9", "--to-offset", "1000", "--out", "rest"), 0, NULL);
    expect_file("rest", 10, 12);
    expect(assay(REPLAY, "--from-offset", "7", "--to-offset", "7", "--out", "none"), 0, NULL);
    expect(assay(REPLAY, "--from-offset", "900", "--out", "beyond"), 0, NULL);
    expect_file("none", 1, 0);
    expect_file("beyond", 1, 0);
}

/* Records of all partitions are selected by time. The offsets that the broker finds for a time may divide the records
 * anywhere. */
Test(replay, times_select_records_in_order)
{
    topics("time", 3);
    put(1, 6);
    struct bus *bus = broker_open(NULL, 0);
    int64_t ms = bus_now_ns(bus) / 1000000 + 50;
    while (bus_now_ns(bus) / 1000000 < ms + 50) g_usleep(1000);
    bus_close(bus);
    put(7, 12);
    char *time = g_strdup_printf("%lld", (long long)ms);
    expect(assay(REPLAY, "--to-time", time, "--out", "before"), 0, NULL);
    expect_file("before", 1, 6);
    expect(assay(REPLAY, "--from-time", time, "--out", "after"), 0, NULL);
    expect_file("after", 7, 12);
    expect(assay(REPLAY, "--from-time", "2100-01-01T00:00:00Z", "--out", "future"), 0, NULL);
    expect_file("future", 1, 0);
    expect(assay(REPLAY, "--from-time", "soon", "--out", "soon"), 2, "'soon' is not a time");
    expect(assay(REPLAY, "--out", "one"), 0, NULL);
    expect(assay(REPLAY, "--out", "two", "--workers", "1"), 0, NULL);
    expect(assay("diff", "one", "two"), 0, NULL);
    char *one = read_file("one");
    cr_expect_lt(strstr(one, "\"q-6\""), strstr(one, "\"q-7\""), "by time");
    g_free(one);
    g_free(time);
}

static bool has_output(void *path)
{
    char *text = read_file(path);
    bool some = text && *text;
    g_free(text);
    return some;
}

static int reap(int child)
{
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Records produced after the start of a replay are not read, even if reading is slow. */
Test(replay, replay_ends_at_initial_topic_end)
{
    topics("snapshot", 2);
    put(1, 8);
    int child = assay_start((const char *const[]){REPLAY, "--unordered", "--rate", "4", "--out", "out", NULL});
    cr_expect(wait_until(has_output, "out", LIMIT_MS));
    put(9, 20);
    cr_expect_eq(reap(child), 0);
    expect_file("out", 1, 8);
}

/* --- resuming --------------------------------------------------------------------------------------------------- */

Test(replay, replay_resumes_file)
{
    topics("resume", 2);
    put(1, 10);
    expect(assay(REPLAY, "--limit", "4", "--out", "out"), 0, NULL);
    char *text = read_file("out"), *torn = g_strdup_printf("%s{\"schema_version\":1,\"id\":\"q-", text);
    write_file("out", torn);
    expect(assay(REPLAY, "--out", "out"), 2, "use --resume to continue it");
    expect(assay(REPLAY, "--out", "out", "--resume"), 0, NULL);
    expect_file("out", 1, 10);
    expect(assay(REPLAY, "--out", "out", "--resume"), 0, NULL);
    expect_file("out", 1, 10);
    g_free(text);
    g_free(torn);
}

/* Produces requests with the same ids as `put` does, but with other questions. */
static void put_others(const char *topic, unsigned first, unsigned last)
{
    struct bus *bus = broker_open(NULL, 0);
    for (unsigned i = first; i <= last; i++) {
        char id[16],
            *json = g_strdup_printf("{\"id\":\"q-%u\",\"db\":\"shop\",\"question\":\"Which products are there?\","
                                    "\"candidates\":[\"SELECT title FROM product\"]}",
                                    i);
        g_snprintf(id, sizeof id, "q-%u", i);
        broker_put(bus, topic, id, json);
        g_free(json);
    }
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
}

/* Asserts that resuming is refused and the file is unchanged. */
static void expect_refused(struct run run, const char *path, const char *before, const char *says)
{
    char *after = read_file(path);
    expect(run, 2, says);
    cr_expect_str_eq(after, before);
    g_free(after);
}

/* Verdicts on records of another topic, or on lines of a log, are not resumed. */
Test(replay, replay_refuses_file_of_other_requests)
{
    topics("foreign", 1);
    put(1, 4);
    put_others(to, 1, 2);
    expect(assay("replay", "--servers", servers, "--from-topic", to, "--db-root", ".", "-q", "--out", "out"), 0, NULL);
    char *others = read_file("out"), *log = shop_log(2);
    expect_refused(assay(REPLAY, "--out", "out", "--resume"), "out", others, "the file was made from another log");
    write_file("log.jsonl", log);
    expect_refused(assay("replay", "log.jsonl", "--db-root", ".", "--out", "out", "--resume"), "out", others,
                   "out holds verdicts on records of a topic, but this replay reads a log");
    expect(assay("replay", "log.jsonl", "--db-root", ".", "-q", "--out", "lines"), 0, NULL);
    char *lines = read_file("lines");
    expect_refused(assay(REPLAY, "--out", "lines", "--resume"), "lines", lines,
                   "lines holds verdicts on lines of a log, but this replay reads a topic");
    g_free(lines);
    g_free(log);
    g_free(others);
}

/* Returns all messages of a topic. */
static char *content(const char *topic, const char *of_group, bool resume)
{
    struct bus *bus = broker_open(NULL, 0);
    struct range_config config = {.topic = topic, .group = of_group, .to = {RANGE_LAST, 0}, .resume = resume};
    const struct bus_message *message;
    struct range *range;
    struct err err = {0};
    enum err_code code;
    GString *text = g_string_new(NULL);
    cr_assert_eq(range_open(bus, &config, &range, &err), ERR_OK, "%s", err.text);
    while ((code = range_poll(range, LIMIT_MS, &message, &err)) == ERR_OK) {
        g_string_append_len(text, message->value, (gssize)message->len);
        g_string_append_c(text, '\n');
    }
    cr_expect_eq(code, ERR_CLOSED, "%s", err.text);
    range_close(range);
    bus_close(bus);
    return g_string_free(text, FALSE);
}

static void expect_topic(unsigned first, unsigned last)
{
    char *text = content(to, group, false);
    expect_ids(text, first, last);
    g_free(text);
}

Test(replay, replay_into_topic_resumes)
{
    topics("sink", 2);
    put(1, 9);
    expect(assay(REPLAY, "--limit", "4", "--to-topic", to, "--group", group), 0, NULL);
    char *some = content(to, group, false);
    expect(assay(REPLAY, "--to-topic", to, "--group", group, "--resume"), 0, NULL);
    expect_topic(1, 9);
    expect(assay(REPLAY, "--to-topic", to, "--group", group, "--resume"), 0, NULL);
    expect_topic(1, 9);
    char *left = content(from, group, true), *live = content(from, "assay-coordinator", true);
    cr_expect_str_empty(left, "its own group has come to the end");
    expect_ids(live, 1, 9); /* the fleet's group still has its offset */
    cr_expect(strstr(some, "\"status\":\"") && !strstr(some, "\"offset\""), "verdicts as the fleet's: %s", some);
    expect(assay(REPLAY, "--to-topic", "live.no.such.topic"), 2, "topic 'live.no.such.topic' does not exist");
    g_free(some);
    g_free(left);
    g_free(live);
}

/* --- missing or invalid input ------------------------------------------------------------------------------------ */

Test(replay, errors_are_reported)
{
    topics("wrong", 1);
    expect(assay(REPLAY, "--out", "empty"), 0, NULL);
    expect_file("empty", 1, 0);
    expect(assay("replay", "--servers", servers, "--from-topic", "live.no.such.topic", "--db-root", "."), 2,
           "topic 'live.no.such.topic' does not exist");
    struct bus *bus = broker_open(NULL, 0);
    broker_put(bus, from, "k", "garbage");
    broker_put(bus, from, "k", "{\"id\":\"q-1\",\"db\":5}");
    broker_put(bus, from, "no-id", "{\"db\":\"shop\",\"question\":\"How many?\",\"candidates\":[\"SELECT 1\"]}");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
    char where[160];
    g_snprintf(where, sizeof where, "%s[0]@0: ", from);
    struct run run = assay(REPLAY);
    cr_expect_eq(run.status, 1);
    cr_expect(strstr(run.err, where), "%s", run.err);
    cr_expect(strstr(run.out, "\"id\":\"q-1\",\"db\":null,\"status\":\"failed\""), "%s", run.out);
    cr_expect(strstr(run.out, "\"id\":\"no-id\""), "named by its key: %s", run.out);
    run_free(&run);
    expect(assay(REPLAY, "--strict"), 2, where);
    int64_t began = clock_now_ns();
    expect(assay("replay", "--servers", "127.0.0.1:1", "--connect-ms", "1500", "--from-topic", from, "--db-root", "."),
           2, "no broker answered");
    cr_expect_lt(clock_now_ns() - began, 10 * INT64_C(1000000000));
}

/* --- the end of a partition ------------------------------------------------------------------------------------- */

static rd_kafka_t *transactional(const char *id)
{
    char reason[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    cr_assert_eq(rd_kafka_conf_set(conf, "bootstrap.servers", servers, reason, sizeof reason), RD_KAFKA_CONF_OK);
    cr_assert_eq(rd_kafka_conf_set(conf, "transactional.id", id, reason, sizeof reason), RD_KAFKA_CONF_OK);
    rd_kafka_t *producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    cr_assert(producer, "%s", reason);
    rd_kafka_error_t *error = rd_kafka_init_transactions(producer, LIMIT_MS);
    cr_assert_null(error, "%s", rd_kafka_error_string(error));
    return producer;
}

/* Writes one transaction of `n` records. `then` 'c' commits it, 'a' aborts it; otherwise it stays open. */
static void transaction(rd_kafka_t *producer, unsigned n, char then)
{
    cr_assert_null(rd_kafka_begin_transaction(producer));
    for (unsigned i = 0; i < n; i++)
        cr_assert_eq(rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(from), RD_KAFKA_V_PARTITION(0),
                                       RD_KAFKA_V_VALUE((void *)(then == 'c' ? "kept" : "gone"), 4),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    cr_assert_eq(rd_kafka_flush(producer, LIMIT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_error_t *error = then == 'c'   ? rd_kafka_commit_transaction(producer, LIMIT_MS)
                              : then == 'a' ? rd_kafka_abort_transaction(producer, LIMIT_MS)
                                            : NULL;
    cr_assert_null(error, "%s", rd_kafka_error_string(error));
}

/* The last offsets of a partition may be markers or aborted records, which are never delivered. They may also belong to
 * an open transaction. Reading must end in each case. */
/* True if the topic has the wanted content. A commit becomes visible only with its markers, which are written after it
 * has returned. */
static bool is_content(void *wanted)
{
    char *text = content(from, group, false);
    bool same = strcmp(text, wanted) == 0;
    g_free(text);
    return same;
}

Test(replay, transaction_markers_do_not_block_end)
{
    topics("markers", 2);
    rd_kafka_t *one = transactional(group), *two = transactional(to);
    transaction(one, 3, 'c');
    cr_expect(wait_until(is_content, "kept\nkept\nkept\n", 5000));
    transaction(one, 2, 'a');
    cr_expect(wait_until(is_content, "kept\nkept\nkept\n", 5000), "aborted records at the end");
    transaction(one, 1, 'c');
    transaction(two, 2, '-');
    transaction(one, 1, 'c'); /* stays invisible while the earlier transaction is open */
    cr_expect(wait_until(is_content, "kept\nkept\nkept\nkept\n", 5000), "an open transaction at the end");
    rd_kafka_abort_transaction(two, LIMIT_MS);
    rd_kafka_destroy(two);
    rd_kafka_destroy(one);
}

/* --- feeding a fleet -------------------------------------------------------------------------------------------- */

#define FEED "replay", "log.jsonl", "--servers", servers, "--feed", from, "--answers", to

Test(replay, feed_sends_log_to_topic)
{
    topics("feed", 2);
    char *log = shop_log(20), *more = g_strdup_printf("%snot json\n", log);
    write_file("log.jsonl", more);
    expect(assay(FEED), 1, "20 requests sent and acknowledged by the brokers, 1 bad lines");
    char *text = content(from, group, false);
    expect_ids(text, 1, 20);
    g_free(text);
    expect(assay("replay", "log.jsonl", "--servers", servers, "--feed", "live.no.such.topic"), 2, "does not exist");
    expect(assay("replay", "log.jsonl", "--servers", "127.0.0.1:1", "--connect-ms", "500", "--feed", from), 2,
           "no broker answered");
    g_free(more);
    g_free(log);
}

/* Acts as the fleet: writes a verdict on each of n requests. The first request gets two, the last one none, and an
 * unknown request one. */
static void answer(unsigned n)
{
    struct bus *bus = broker_open(NULL, 0);
    struct range_config config = {.topic = from, .group = group, .to = {RANGE_NEVER, 0}};
    const struct bus_message *message;
    struct range *range;
    struct err err = {0};
    cr_assert_eq(range_open(bus, &config, &range, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < n; i++) {
        cr_assert_eq(range_poll(range, LIMIT_MS, &message, &err), ERR_OK, "%s", err.text);
        char *id = g_strndup(message->key, message->key_len),
             *json = g_strdup_printf("{\"schema_version\":1,\"id\":\"%s\",\"status\":\"validated\"}", id);
        for (unsigned k = i == n - 1 ? 1 : 0; k < (i ? 1 : 2); k++) broker_put(bus, to, id, json);
        g_free(json);
        g_free(id);
    }
    broker_put(bus, to, "q-99", "{\"schema_version\":1,\"id\":\"q-99\",\"status\":\"validated\"}");
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    range_close(range);
    bus_close(bus);
}

Test(replay, feed_collects_verdicts_of_fleet)
{
    topics("answers", 1);
    struct bus *bus = broker_open(NULL, 0);
    broker_put(bus, to, "q-1",
               "{\"schema_version\":1,\"id\":\"q-1\",\"status\":\"failed\"}"); /* an old verdict, not of this feed */
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
    char *one = shop_log(1), *five = shop_log(5), *log = g_strconcat(one, five, NULL); /* the log contains q-1 twice */
    write_file("log.jsonl", log);
    int child = assay_start((const char *const[]){FEED, "--out", "out", "--wait-ms", "3000", NULL});
    answer(6);
    cr_expect_eq(reap(child), 1, "one has no verdict");
    expect_file("out", 1, 4);
    char *out = read_file("out"), *said = read_file(".err");
    cr_expect_null(strstr(out, "failed"));
    cr_expect(strstr(said, "4 verdicts, 1 requests without a verdict, 1 repeated ids"), "%s", said);
    g_free(out);
    g_free(said);
    g_free(log);
    g_free(five);
    g_free(one);
}

static unsigned lines_of(char *text) /* Returns the number of lines; frees the text. */
{
    unsigned n = 0;
    for (const char *c = text; c && *c; c++) n += *c == '\n';
    g_free(text);
    return n;
}

static bool has_two_lines(void *path)
{
    return lines_of(read_file(path)) == 2;
}

static bool were_sent(void *n)
{
    return lines_of(content(from, group, false)) >= *(unsigned *)n;
}

static void put_verdicts(unsigned first, unsigned last)
{
    struct bus *bus = broker_open(NULL, 0);
    for (unsigned i = first; i <= last; i++) {
        char id[16], *json = g_strdup_printf("{\"schema_version\":1,\"id\":\"q-%u\",\"status\":\"validated\"}", i);
        g_snprintf(id, sizeof id, "q-%u", i);
        broker_put(bus, to, id, json);
        g_free(json);
    }
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    bus_close(bus);
}

/* A killed feed resumes. It uses the verdicts in its file and those that arrived meanwhile, and sends the unanswered
 * requests. */
Test(replay, killed_feed_resumes)
{
    topics("feedon", 2);
    put_verdicts(5, 5); /* old verdicts: the feed ignores them, and so does a resumed feed */
    char *log = shop_log(6);
    write_file("log.jsonl", log);
    unsigned sent = 6;
    int child = assay_start((const char *const[]){FEED, "--group", group, "--out", "out", NULL});
    cr_expect(wait_until(were_sent, &sent, LIMIT_MS));
    put_verdicts(1, 2);
    cr_expect(wait_until(has_two_lines, "out", LIMIT_MS));
    kill(child, SIGKILL);
    cr_expect_eq(reap(child), -SIGKILL);
    put_verdicts(3, 4);
    char *text = read_file("out"), *torn = g_strdup_printf("%s{\"schema_version\":1,\"id\":\"q-", text);
    write_file("out", torn);

    expect(assay(FEED, "--out", "out"), 2, "out exists");
    child = assay_start((const char *const[]){FEED, "--group", group, "--out", "out", "--resume", NULL});
    sent = 8;
    cr_expect(wait_until(were_sent, &sent, LIMIT_MS), "what has no verdict is sent again");
    put_verdicts(5, 6);
    cr_expect_eq(reap(child), 0);
    expect_file("out", 1, 6);
    expect(assay(FEED, "--group", group, "--out", "out", "--resume"), 0,
           "0 requests sent and acknowledged by the brokers, 0 bad lines; 0 verdicts, 0 requests without a verdict, 0 "
           "repeated ids; "
           "6 verdicts were already in the file");
    expect_file("out", 1, 6);
    cr_expect_eq(lines_of(content(from, group, false)), 8, "and nothing else");
    g_free(text);
    g_free(torn);
    g_free(log);
}

/* The file has verdicts on other requests with the same names, or on no request of the log. Nothing is sent, and the
 * file is unchanged. */
Test(replay, feed_refuses_file_of_other_requests)
{
    topics("feedforeign", 1);
    char *log = shop_log(3), *one = shop_log(1);
    write_file("log.jsonl", log);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "-q", "--out", "out"), 0, NULL);
    char *before = read_file("out");
    write_file("log.jsonl", one);
    expect_refused(assay(FEED, "--group", group, "--out", "out", "--resume"), "out", before,
                   "2 of its verdicts have ids that are not in the log");
    char *word = strstr(log, "How many"); /* a word in the question of q-1 */
    cr_assert(word, "%s", log);
    word[0] = 'W';
    write_file("log.jsonl", log);
    expect_refused(assay(FEED, "--group", group, "--out", "out", "--resume"), "out", before,
                   "it has a verdict on another request with the id q-1");
    char *sent = content(from, group, false);
    cr_expect_str_empty(sent);
    g_free(sent);
    word[0] = 'H';
    write_file("log.jsonl", log);
    expect(assay(FEED, "--group", group, "--out", "out", "--resume"), 0, "3 verdicts were already in the file");
    g_free(before);
    g_free(one);
    g_free(log);
}

static bool has_some(void *seen)
{
    char *text = content(from, group, false);
    for (const char *c = text; *c; c++) *(unsigned *)seen += *c == '\n';
    g_free(text);
    return *(unsigned *)seen > 0;
}

/* The number of sent requests that the feed reports equals the number of messages in the topic. */
Test(replay, interrupt_ends_feed_cleanly)
{
    topics("interrupt", 1);
    char *log = shop_log(2000);
    write_file("log.jsonl", log);
    int child = assay_start((const char *const[]){FEED, "--rate", "50", NULL});
    unsigned seen = 0;
    cr_expect(wait_until(has_some, &seen, LIMIT_MS));
    cr_assert_eq(kill(child, SIGINT), 0);
    cr_expect_eq(reap(child), 130);
    char *said = read_file(".err"), *text = content(from, group, false);
    const char *at = strstr(said, "interrupted: ");
    cr_assert(at && strstr(said, "acknowledged by the brokers"), "%s", said);
    unsigned sent = (unsigned)g_ascii_strtoull(at + strlen("interrupted: "), NULL, 10);
    cr_expect_geq(sent, 1);
    expect_ids(text, 1, sent);
    g_free(text);
    g_free(said);
    g_free(log);
}
