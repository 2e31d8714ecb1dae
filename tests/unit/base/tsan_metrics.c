/* Several threads count and log while another thread reads. It is a plain program, because Criterion does not start
 * under ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/log.h"
#include "lib/base/metrics.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20000, READS = 50 };
enum { COUNTED, TIMED, BY_NAME };

static const struct metrics_def defs[] = {
    [COUNTED] = {"assay_counted_total", METRICS_COUNTER, "", "Counted."},
    [TIMED] = {"assay_timed_seconds", METRICS_HISTOGRAM, "", "Timed."},
    [BY_NAME] = {"assay_by_name_total", METRICS_COUNTER, "name", "By name."},
};

static struct metrics *metrics;
static atomic_int failures;

static void *counter(void *arg)
{
    struct metric *counted = metrics_get(metrics, COUNTED, NULL), *timed = metrics_get(metrics, TIMED, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i % 100);
        metrics_add(counted, 1);
        metrics_observe(timed, i * 1000);
        if (i % 16 == 0) metrics_add(metrics_get(metrics, BY_NAME, (const char *const[]){name}), 1);
        if (i % 64 == 0) log_info(arg, "round %d", i);
    }
    return NULL;
}

/* Checks that the count of a histogram always equals its last bucket. */
static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < READS; i++) {
        char *text = metrics_write(metrics, NULL);
        const char *bucket = strstr(text, "le=\"+Inf\"} "), *count = strstr(text, "assay_timed_seconds_count ");
        if (!bucket || !count || atoll(bucket + 11) != atoll(count + 26)) {
            fprintf(stderr, "[----] the last bucket is not the count in\n%s", text);
            atomic_fetch_add(&failures, 1);
        }
        struct log_stats stats;
        log_get_stats(&stats);
        free(text);
    }
    return NULL;
}

static void expect(const char *line)
{
    char *text = metrics_write(metrics, NULL);
    if (!strstr(text, line)) {
        fprintf(stderr, "[----] no '%s' in\n%s", line, text);
        atomic_fetch_add(&failures, 1);
    }
    free(text);
}

int main(void)
{
    static char rooms[THREADS][8];
    pthread_t threads[THREADS + 1];
    struct err err;
    int fd = open("/dev/null", O_WRONLY);
    if (fd < 0 || metrics_new(defs, sizeof defs / sizeof *defs, &metrics, &err)) return 1;
    /* Creates the series now, because the reader may run first and a series is printed only after its first use. */
    metrics_get(metrics, TIMED, NULL);
    log_open(fd, LOG_FORM_JSON, LOG_LEVEL_INFO);
    for (int i = 0; i < THREADS; i++) {
        snprintf(rooms[i], sizeof rooms[i], "r%d", i % 2);
        pthread_create(&threads[i], NULL, counter, rooms[i]);
    }
    pthread_create(&threads[THREADS], NULL, reader, NULL);
    for (int i = 0; i <= THREADS; i++) pthread_join(threads[i], NULL);
    expect("assay_counted_total 80000\n");
    expect("assay_timed_seconds_count 80000\n");
    metrics_free(metrics);
    return atomic_load(&failures) != 0;
}
