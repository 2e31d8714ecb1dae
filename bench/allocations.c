/* Counts the allocations for judging a candidate with warm caches. Allocations by libraries are included.
 *
 *   bench_allocations LOG DB_ROOT
 *
 * One engine with one worker judges the log twice. This program replaces malloc, calloc and realloc of glibc to count
 * the calls of the second pass. It prints their number for each candidate, including those for reading the log and for
 * verdicts. */
#include "engine/engine.h"
#include "lib/base/input.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): these are the names in glibc */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

static _Atomic uint64_t calls, bytes;

static void count(size_t size)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    count(size);
    return __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    count(n * size);
    return __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    count(size);
    return __libc_realloc(old, size);
}

static _Noreturn void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    exit(2);
}

static uint64_t judge(struct engine *engine, const struct msg_request *request)
{
    struct err err = {0};
    struct msg_verdict *verdict;
    if (engine_submit(engine, request, -1, &err) || engine_next(engine, -1, &verdict, &err)) fail("judge", &err);
    msg_verdict_free(verdict);
    return request->n_candidates;
}

/* Judges the log once. Returns the number of candidates. */
static uint64_t pass(struct engine *engine, const char *log)
{
    struct lines lines;
    struct err err = {0};
    struct arena arena;
    uint64_t n = 0;
    if (lines_open(log, &lines, &err)) fail(log, &err);
    arena_init(&arena, 0);
    while (lines_next(&lines) > 0) {
        struct msg_request *request = NULL;
        arena_reset(&arena);
        if (!msg_request_from_json(&arena, lines.text, lines.len, &request, &err)) n += judge(engine, request);
    }
    arena_free(&arena);
    lines_close(&lines);
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench_allocations LOG DB_ROOT\n");
        return 2;
    }
    struct engine *engine = NULL;
    struct err err = {0};
    const char *const roots[] = {argv[2]};
    const struct engine_config config = {.workers = 1,
                                         .databases = {.roots = roots, .n_roots = 1},
                                         .defaults = {.strategy = MSG_RERANK, .deadline_ms = -1}};
    if (engine_open(&config, &engine, &err)) fail("bench_allocations", &err);
    pass(engine, argv[1]);
    uint64_t calls_before = calls, bytes_before = bytes, n = pass(engine, argv[1]);
    double each = n ? 1 / (double)n : 0;
    printf("%.1f allocations, %.0f bytes a candidate (%llu candidates)\n", (double)(calls - calls_before) * each,
           (double)(bytes - bytes_before) * each, (unsigned long long)n);
    engine_close(engine);
    return 0;
}
