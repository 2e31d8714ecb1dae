/* Tests the metrics: counters, gauges and histograms in Prometheus' text format, the limits on series, and the rules
 * for a table of metrics. */
#include "lib/base/metrics.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN, LABELLED, LEVEL, TIMES, N_DEFS };

static const struct metrics_def defs[N_DEFS] = {
    [PLAIN] = {"assay_plain_total", METRICS_COUNTER, "", "What has no labels."},
    [LABELLED] = {"assay_labelled_total", METRICS_COUNTER, "family,outcome", "A backslash \\ and\na second line."},
    [LEVEL] = {"assay_level", METRICS_GAUGE, "", "Goes up and down."},
    [TIMES] = {"assay_times_seconds", METRICS_HISTOGRAM, "family", "How long."},
};

static struct metrics *open_metrics(void)
{
    struct metrics *metrics;
    struct err err = {0};
    cr_assert_eq(metrics_new(defs, N_DEFS, &metrics, &err), ERR_OK, "%s", err.text);
    return metrics;
}

/* Returns true if the text contains this line. */
static bool has(const char *text, const char *line)
{
    size_t len = strlen(line);
    for (const char *at = strstr(text, line); at; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && at[len] == '\n') return true;
    return false;
}

static void expect(struct metrics *metrics, const char *line)
{
    char *text = metrics_write(metrics, NULL);
    cr_assert(has(text, line), "'%s' is not in\n%s", line, text);
    free(text);
}

Test(metrics, requested_series_show_zero_others_are_hidden)
{
    static const char all[] = "# HELP assay_plain_total What has no labels.\n"
                              "# TYPE assay_plain_total counter\n"
                              "assay_plain_total 0\n"
                              "# HELP assay_level Goes up and down.\n"
                              "# TYPE assay_level gauge\n"
                              "assay_level 0\n";
    struct metrics *metrics = open_metrics();
    size_t len;
    char *text = metrics_write(metrics, &len);
    cr_assert(len == 0 && text[0] == '\0');
    free(text);
    metrics_get(metrics, LEVEL, NULL);
    metrics_get(metrics, PLAIN, NULL);
    text = metrics_write(metrics, &len);
    cr_assert_str_eq(text, all, "in the order of the table");
    cr_assert_eq(len, strlen(all));
    free(text);
    metrics_free(metrics);
    leak_check();
}

Test(metrics, counters_and_gauges)
{
    struct metrics *metrics = open_metrics();
    struct metric *plain = metrics_get(metrics, PLAIN, NULL), *level = metrics_get(metrics, LEVEL, NULL);
    metrics_add(plain, 1);
    metrics_add(plain, 41);
    expect(metrics, "assay_plain_total 42");
    metrics_set(level, -0.25);
    expect(metrics, "assay_level -0.25");
    metrics_set(level, 1234567890123.0);
    expect(metrics, "assay_level 1234567890123");
    metrics_set(level, NAN);
    expect(metrics, "assay_level NaN");
    metrics_set(level, -INFINITY);
    expect(metrics, "assay_level -Inf");
    cr_assert_eq(metrics_get(metrics, PLAIN, NULL), plain);
    metrics_free(metrics);
    leak_check();
}

Test(metrics, labels_and_help_are_escaped)
{
    struct metrics *metrics = open_metrics();
    const char *const values[] = {"a\"b\\c\nd", "caf\xC3\xA9 \xFF\xC0\xAF\xED\xA0\x80"};
    metrics_add(metrics_get(metrics, LABELLED, values), 3);
    expect(metrics, "# HELP assay_labelled_total A backslash \\\\ and\\na second line.");
    expect(metrics, "assay_labelled_total{family=\"a\\\"b\\\\c\\nd\",outcome=\"caf\xC3\xA9 ??????\"} 3");
    metrics_free(metrics);
    leak_check();
}

Test(metrics, long_label_value_is_cut_between_characters)
{
    struct metrics *metrics = open_metrics();
    char value[METRICS_MAX_VALUE + 20], line[200];
    memset(value, 'x', sizeof value);
    memcpy(value + METRICS_MAX_VALUE - 1, "\xE2\x82\xAC", 3);
    value[sizeof value - 1] = '\0';
    metrics_add(metrics_get(metrics, LABELLED, (const char *const[]){value, "ok"}), 1);
    snprintf(line, sizeof line, "assay_labelled_total{family=\"%.*s\",outcome=\"ok\"} 1", METRICS_MAX_VALUE - 1, value);
    expect(metrics, line);
    metrics_free(metrics);
}

Test(metrics, excess_series_are_counted_together)
{
    struct metrics *metrics = open_metrics();
    for (int i = 0; i < METRICS_MAX_SERIES + 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        metrics_add(metrics_get(metrics, LABELLED, (const char *const[]){name, "ok"}), 1);
    }
    metrics_add(metrics_get(metrics, LABELLED, (const char *const[]){"f0", "ok"}), 1);
    expect(metrics, "assay_labelled_total{family=\"f0\",outcome=\"ok\"} 2");
    expect(metrics, "assay_labelled_total{family=\"f63\",outcome=\"ok\"} 1");
    expect(metrics, "assay_labelled_total{family=\"other\",outcome=\"other\"} 100");
    metrics_free(metrics);
    leak_check();
}

Test(metrics, buckets_are_cumulative_with_inclusive_bounds)
{
    struct metrics *metrics = open_metrics();
    struct metric *times = metrics_get(metrics, TIMES, (const char *const[]){"join"});
    metrics_observe(times, 0);
    metrics_observe(times, -5);         /* negative, as after the clock was set back */
    metrics_observe(times, 500000);     /* equal to the first bound */
    metrics_observe(times, 500001);     /* just above the first bound */
    metrics_observe(times, 2000000000); /* 2 s */
    metrics_observe(times, 600000000000);
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"0.0005\"} 3");
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"0.001\"} 4");
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"1\"} 4");
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"2.5\"} 5");
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"120\"} 5");
    expect(metrics, "assay_times_seconds_bucket{family=\"join\",le=\"+Inf\"} 6");
    expect(metrics, "assay_times_seconds_count{family=\"join\"} 6");
    expect(metrics, "assay_times_seconds_sum{family=\"join\"} 602.001000001");
    metrics_free(metrics);
    leak_check();
}

Test(metrics, external_histogram_prints_the_same)
{
    static const int64_t durations[] = {0, 499999, 500000, 500001, 9999999, 120000000000, 120000000001, -1};
    struct metrics *metrics = open_metrics();
    struct metrics_histogram one = {{0}, 0}, two = {{0}, 0};
    struct metric *counted = metrics_get(metrics, TIMES, (const char *const[]){"x"});
    for (unsigned i = 0; i < sizeof durations / sizeof *durations; i++) {
        metrics_observe(counted, durations[i]);
        metrics_histogram_count(i % 2 ? &one : &two, durations[i]);
    }
    char *here = metrics_write(metrics, NULL);
    metrics_histogram_add(&one, &two);
    cr_assert_eq(metrics_histogram_total(&one), sizeof durations / sizeof *durations);
    struct metrics *other = open_metrics();
    metrics_set_histogram(metrics_get(other, TIMES, (const char *const[]){"x"}), &one);
    char *there = metrics_write(other, NULL);
    cr_assert_str_eq(here, there);
    free(here);
    free(there);
    metrics_free(metrics);
    metrics_free(other);
    leak_check();
}

Test(metrics, table_that_breaks_rule_is_refused)
{
    static const struct {
        struct metrics_def def;
        const char *why;
    } wrong[] = {
        {{"assay_x", METRICS_COUNTER, "", "H."}, "_total"},
        {{"assay_x_total", METRICS_GAUGE, "", "H."}, "not a counter"},
        {{"assay_x_ms", METRICS_HISTOGRAM, "", "H."}, "_seconds"},
        {{"1x", METRICS_GAUGE, "", "H."}, "invalid name"},
        {{"", METRICS_GAUGE, "", "H."}, "invalid name"},
        {{"assay-x", METRICS_GAUGE, "", "H."}, "invalid name"},
        {{"assay_x", METRICS_GAUGE, "a b", "H."}, "label"},
        {{"assay_x", METRICS_GAUGE, "a,,b", "H."}, "label"},
        {{"assay_x", METRICS_GAUGE, "a:b", "H."}, "label"},
        {{"assay_x", METRICS_GAUGE, "__name", "H."}, "label"},
        {{"assay_x", METRICS_GAUGE, "a,b,c,d,e", "H."}, "too many"},
        {{"assay_x_seconds", METRICS_HISTOGRAM, "le", "H."}, "le"},
        {{"assay_x", METRICS_GAUGE, "", ""}, "help"},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct metrics *metrics;
        struct err err = {0};
        cr_assert_eq(metrics_new(&wrong[i].def, 1, &metrics, &err), ERR_CONFIG, "%s", wrong[i].def.name);
        cr_assert(strstr(err.text, wrong[i].why), "%s", err.text);
        cr_assert_null(metrics);
    }
    const struct metrics_def twice[] = {defs[PLAIN], defs[LEVEL], defs[PLAIN]};
    struct metrics *metrics;
    struct err err = {0};
    cr_assert_eq(metrics_new(twice, 3, &metrics, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "twice"));
    leak_check();
}

Test(metrics, series_without_memory_is_not_counted)
{
    metrics_add(NULL, 1);
    metrics_set(NULL, 1);
    metrics_observe(NULL, 1);
    metrics_set_histogram(NULL, &(struct metrics_histogram){.sum_ns = 1});
}
