/* Measures the time of one request through libassay. bench/python.py compares the Python client with it.
 *
 *   bench_library DB_ROOT < REQUESTS
 *
 * Prints two numbers for each line of standard input: microseconds of assay_judge, and microseconds to write the
 * verdict as JSON. */
#include "engine/assay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e6 + (double)at.tv_nsec / 1e3;
}

static int fail(const struct assay_error *error)
{
    fprintf(stderr, "%s: %s\n", error->code, error->text);
    return 2;
}

int main(int argc, char **argv)
{
    struct assay_options options;
    struct assay_engine *engine;
    struct assay_error error;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_library DB_ROOT < REQUESTS\n");
        return 2;
    }
    assay_options_init(&options);
    options.database_root = argv[1];
    options.threads = 1;
    if (assay_open(&options, &engine, &error)) return fail(&error);

    char *line = NULL;
    size_t room = 0;
    for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
        struct assay_verdict *verdict;
        double began = now_us();
        if (assay_judge(engine, line, (size_t)len, &verdict, &error)) return fail(&error);
        double judged = now_us();
        const char *json = assay_verdict_json(verdict);
        double written = now_us();
        printf("%.1f %.1f\n", judged - began, json ? written - judged : -1);
        fflush(stdout);
        assay_verdict_free(verdict);
    }
    free(line);
    assay_close(engine);
    return 0;
}
