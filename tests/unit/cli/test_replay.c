/* Tests parts of a replay: its rate, positions, times, and the valid combinations of flags. Tests with brokers are in
 * tests/live. */
#include "cli/replay/rate_limiter.h"
#include "cli/replay/resume.h"
#include "proto/bus/position.h"
#include "proto/bus/source.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(replay, .init = begin, .fini = end);

static const int64_t MS = 1000000;

/* Sends every item when it is due. Returns the time of the n-th item in milliseconds after the first. */
static double due_ms(struct rate_limiter *limiter, const int64_t *times_ms, unsigned n)
{
    const int64_t began = 5000 * MS;
    int64_t now = began;
    for (unsigned i = 0; i < n; i++) {
        int64_t wait = rate_limiter_wait_ns(limiter, times_ms ? times_ms[i] : -1, now);
        now += wait;
        cr_expect_eq(rate_limiter_wait_ns(limiter, times_ms ? times_ms[i] : -1, now), 0);
        rate_limiter_take(limiter, now);
    }
    return (double)(now - began) / (double)MS;
}

static void expect_due(struct rate_limiter *limiter, const int64_t *times_ms, unsigned n, double want_ms)
{
    double ms = due_ms(limiter, times_ms, n);
    cr_expect_float_eq(ms, want_ms, 1e-3, "%f, not %f", ms, want_ms);
}

Test(replay, pace_keeps_a_rate)
{
    struct rate_limiter none = {0}, ten = {.rate = 10}, slow = {.rate = 0.5};
    expect_due(&none, NULL, 1000, 0);
    expect_due(&ten, NULL, 101, 10000);
    expect_due(&slow, NULL, 3, 4000);
}

/* After a pause, at most the items of half a second may be sent at once. */
Test(replay, pace_limits_burst_after_pause)
{
    struct rate_limiter limiter = {.rate = 100};
    int64_t now = 1000 * MS;
    unsigned at_once = 0;
    cr_assert_eq(rate_limiter_wait_ns(&limiter, -1, now), 0);
    rate_limiter_take(&limiter, now);
    now += 60000 * MS;
    while (rate_limiter_wait_ns(&limiter, -1, now) == 0) {
        rate_limiter_take(&limiter, now);
        at_once++;
    }
    cr_expect_eq(at_once, 51);
}

Test(replay, pace_keeps_distances)
{
    static const int64_t times[] = {1000, 1100, 5000, 4000, -1, 9000};
    struct rate_limiter same = {.speed = 1}, ten = {.speed = 10}, both = {.speed = 10, .rate = 1};
    expect_due(&same, times, 6, 8000);
    expect_due(&ten, times, 6, 800);
    expect_due(&both, times, 6, 5000); /* both limits apply, so the slower one decides */
    cr_expect_eq(rate_limiter_wait_ns(&same, 9000, 20000 * MS), 0);
    cr_expect_eq(same.behind_ns, 7000 * MS);
}

Test(replay, positions_round_trip)
{
    const int64_t offsets[] = {0, 1, 4095, 4096, (INT64_C(1) << 47) - 1};
    for (unsigned i = 0; i < G_N_ELEMENTS(offsets); i++)
        for (int32_t partition = 0; partition < POSITION_MAX_PARTITIONS; partition += 4681) {
            uint64_t place = position_record(partition, offsets[i]);
            cr_expect(position_is_record(place) && position_partition(place) == partition &&
                      position_offset(place) == offsets[i]);
            char *text =
                g_strdup_printf("{\"id\":\"a\",\"partition\":%d,\"offset\":%lld}", partition, (long long)offsets[i]);
            cr_expect_eq(resume_place_of(text, strlen(text)), place, "%s", text);
            g_free(text);
        }
    static const char *const none[] = {
        "{\"partition\":1}", "{\"id\":1,\"offset\":1}", "{\"a\":0,\"partition\":99999,\"offset\":1}",
        "{\"a\":0,\"partition\":1,\"offset\":}", "{\"a\":0,\"line\":999999999999999999}"};
    for (unsigned i = 0; i < G_N_ELEMENTS(none); i++)
        cr_expect_eq(resume_place_of(none[i], strlen(none[i])), 0, "%s", none[i]);
}

Test(replay, resumes_by_partition_and_offset)
{
    struct resume resume;
    struct err err = {0};
    write_file("out",
               "{\"id\":\"a\",\"partition\":0,\"offset\":7}\n{\"id\":\"b\",\"partition\":3,\"offset\":9000000000}\n"
               "{\"schema_version\":1,\"id\":\"c\",\"partition\":3,\"off");
    cr_assert_eq(resume_scan("out", &resume, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(resume.done, 2);
    cr_expect(resume_has(&resume, position_record(0, 7)) && resume_has(&resume, position_record(3, 9000000000)));
    cr_expect(!resume_has(&resume, position_record(3, 7)) && !resume_has(&resume, 7));
    cr_expect(resume_conflicts(&resume, position_record(0, 7), NULL, "b"));
    resume_free(&resume);
}

Test(replay, times_are_parsed)
{
    int64_t ms = 0;
    cr_expect(source_parse_time("1767225600123", &ms) && ms == 1767225600123);
    cr_expect(source_parse_time("2026-01-01T00:00:00Z", &ms) && ms == 1767225600000);
    cr_expect(source_parse_time("2026-01-01T02:00:00.5+02:00", &ms) && ms == 1767225600500);
    cr_expect(source_parse_time("2026-01-01T00:00:00", &ms) && ms == 1767225600000, "UTC unless it says");
    cr_expect_not(source_parse_time("yesterday", &ms));
    cr_expect_not(source_parse_time("", &ms));
    cr_expect_not(source_parse_time("-5", &ms));
}

static void expect_error(struct run run, const char *says)
{
    cr_expect_eq(run.status, 2, "%s", run.out);
    cr_expect(strstr(run.err, says), "no '%s' in %s", says, run.err);
    run_free(&run);
}

Test(replay, contradictory_flags_are_refused)
{
    char *log = shop_log(2);
    write_file("log.jsonl", log);
    g_free(log);
#define TOPIC "replay", "--db-root", ".", "--from-topic", "t"
    expect_error(assay("replay", "--db-root", "."), "--from-topic");
    expect_error(assay(TOPIC, "log.jsonl"), "cannot be combined");
    expect_error(assay("replay", "log.jsonl", "--db-root", ".", "--from-offset", "1"), "need --from-topic");
    expect_error(assay(TOPIC, "--from-offset", "1", "--from-time", "5"), "cannot be combined");
    expect_error(assay(TOPIC, "--to-offset", "1", "--to-time", "5"), "cannot be combined");
    expect_error(assay(TOPIC, "--to-topic", "u", "--out", "v"), "cannot be combined");
    expect_error(assay(TOPIC, "--to-topic", "assay.verdicts"), "a topic of the fleet");
    expect_error(assay(TOPIC, "--to-topic", "assay.tasks.join"), "a topic of the fleet");
    expect_error(assay(TOPIC, "--to-topic", "t"), "must differ");
    expect_error(assay(TOPIC, "--group", "assay-coordinator"), "a consumer group of the fleet");
    expect_error(assay(TOPIC), "bootstrap.servers is not set");
    expect_error(assay(TOPIC, "--servers", "127.0.0.1:1", "--connect-ms", "300"), "no broker answered");
    expect_error(assay("replay", "--feed", "t"), "--feed needs a LOG");
    expect_error(assay("replay", "log.jsonl", "--feed", "t", "--from-topic", "t"), "--feed needs a LOG");
    expect_error(assay("replay", "log.jsonl", "--feed", "t", "--resume"), "--resume with --feed needs --out");
    expect_error(assay("replay", "-", "--feed", "t", "--out", "o", "--resume"), "a LOG other than standard input");
    expect_error(assay("replay", "log.jsonl", "--feed", "t", "--out", "o", "--group", "assay-coordinator"),
                 "--group must not be a consumer group");
    expect_error(assay("replay", "nowhere.jsonl", "--feed", "t"), "nowhere.jsonl");
}

/* The lines of a log are spaced by their own times, or by a rate. */
Test(replay, replay_of_log_keeps_its_pace)
{
    GString *log = g_string_new(NULL);
    for (unsigned i = 0; i < 4; i++)
        g_string_append_printf(
            log,
            "{\"id\":\"q-%u\",\"db\":\"shop\",\"question\":\"How many customers are there?\",\"time\":%u,"
            "\"candidates\":[\"SELECT count(*) FROM customer\"]}\n",
            i, 1000 + 1000 * i);
    write_file("log.jsonl", log->str);
    g_string_free(log, TRUE);
    static const char *const ways[][2] = {{"--speed", "5"}, {"--rate", "5"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(ways); i++) {
        gint64 began = g_get_monotonic_time();
        struct run run = assay("replay", "log.jsonl", "--db-root", ".", ways[i][0], ways[i][1]);
        cr_expect_eq(run.status, 0, "%s", run.err);
        cr_expect_geq(g_get_monotonic_time() - began, 600000, "%s", ways[i][0]);
        run_free(&run);
    }
}
