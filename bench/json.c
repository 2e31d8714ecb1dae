/* Measures the time to read a request and to write a verdict. Compares it with jansson and, if its source is given,
 * yyjson.
 *
 *   bench_json LOG.jsonl DB_ROOT [LIMIT]
 *
 * Requests are the lines of the log; verdicts are those of an engine on them. Each method handles all messages in turn,
 * in one process. Prints the medians of ROUNDS rounds, in microseconds a message. The libraries do less work than
 * Assay: they do not check keys, and they write a tree that exists already. */
#include "engine/engine.h"
#include "engine/run.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef WITH_YYJSON
#include <yyjson.h>
#endif

enum { ROUNDS = 21 };

struct bench {
    struct logs logs;
    uint64_t limit, read;
    GPtrArray *requests, *verdicts; /* JSON texts */
    GPtrArray *judged;              /* struct msg_verdict */
    GPtrArray *trees;               /* json_t of each verdict */
};

/* --- the messages --- */

static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct bench *b = ctx;
    struct err err = {0};
    if (b->limit && b->read >= b->limit) return 0;
    int more = logs_next(&b->logs, &err);
    if (more <= 0) return more;
    if (msg_request_from_json(arena, b->logs.lines.text, b->logs.lines.len, out, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    (*out)->tag = ++b->read;
    g_ptr_array_add(b->requests, g_strndup(b->logs.lines.text, b->logs.lines.len));
    return 1;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct bench *b = ctx;
    char *text = msg_verdict_to_json(verdict);
    g_ptr_array_add(b->judged, verdict);
    g_ptr_array_add(b->verdicts, text);
    g_ptr_array_add(b->trees, json_loads(text, 0, NULL));
    return true;
}

/* --- the methods --- */

static void read_here(const struct bench *b, guint i)
{
    struct arena arena;
    struct msg_request *request;
    const char *text = b->requests->pdata[i];
    arena_init(&arena, 0);
    if (msg_request_from_json(&arena, text, strlen(text), &request, NULL)) abort();
    arena_free(&arena);
}

static void read_jansson(const struct bench *b, guint i)
{
    json_decref(json_loads(b->requests->pdata[i], JSON_REJECT_DUPLICATES, NULL));
}

static void write_here(const struct bench *b, guint i)
{
    free(msg_verdict_to_json(b->judged->pdata[i]));
}

static void write_jansson(const struct bench *b, guint i)
{
    free(json_dumps(b->trees->pdata[i], JSON_REAL_PRECISION(6) | JSON_COMPACT));
}

#ifdef WITH_YYJSON
static void read_yyjson(const struct bench *b, guint i)
{
    const char *text = b->requests->pdata[i];
    yyjson_doc_free(yyjson_read(text, strlen(text), 0));
}

/* Makes a tree from existing values, as a program with structs does, and writes it. */
static void write_yyjson(const struct bench *b, guint i)
{
    static yyjson_doc *docs[1 << 16];
    const char *text = b->verdicts->pdata[i];
    if (!docs[i]) docs[i] = yyjson_read(text, strlen(text), 0);
    yyjson_mut_doc *tree = yyjson_doc_mut_copy(docs[i], NULL);
    free(yyjson_mut_write(tree, 0, NULL));
    yyjson_mut_doc_free(tree);
}
#endif

static const struct {
    const char *what, *way;
    void (*run)(const struct bench *b, guint i);
} ways[] = {
    {"read a request", "here, keys checked, into a struct", read_here},
    {"read a request", "jansson, into a tree", read_jansson},
#ifdef WITH_YYJSON
    {"read a request", "yyjson, into a tree", read_yyjson},
#endif
    {"write a verdict", "here, from a struct", write_here},
    {"write a verdict", "jansson, from a tree", write_jansson},
#ifdef WITH_YYJSON
    {"write a verdict", "yyjson, tree made and written", write_yyjson},
#endif
};

/* --- time --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: bench_json LOG.jsonl DB_ROOT [LIMIT]\n"), 2;
    struct bench b = {.logs = {.paths = (const char *const *)&argv[1], .n = 1},
                      .limit = argc > 3 ? g_ascii_strtoull(argv[3], NULL, 10) : 0,
                      .requests = g_ptr_array_new(),
                      .verdicts = g_ptr_array_new(),
                      .judged = g_ptr_array_new(),
                      .trees = g_ptr_array_new()};
    const char *roots[] = {argv[2]};
    struct engine_config config = {.databases = {.roots = roots, .n_roots = 1},
                                   .defaults = {.explain = MSG_EXPLAIN_ON}};
    struct engine_loop loop = {.next = next_request, .each = on_verdict, .ctx = &b, .in_order = true};
    struct engine *engine = NULL;
    struct err err = {0};
    if (engine_open(&config, &engine, &err) || engine_run(engine, &loop, &err))
        return fprintf(stderr, "%s\n", err.text), 2;
    double samples[G_N_ELEMENTS(ways)][ROUNDS];
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
            int64_t began = clock_now_ns();
            for (guint i = 0; i < b.judged->len; i++) ways[w].run(&b, i);
            samples[w][round] = (double)(clock_now_ns() - began) / 1e3 / MAX(b.judged->len, 1);
        }
    printf("%u messages; medians of %d rounds, in microseconds a message\n", b.judged->len, ROUNDS);
    for (size_t w = 0; w < G_N_ELEMENTS(ways); w++) {
        qsort(samples[w], ROUNDS, sizeof samples[w][0], by_value);
        printf("%-16s %-34s %7.2f\n", ways[w].what, ways[w].way, samples[w][ROUNDS / 2]);
    }
    for (guint i = 0; i < b.judged->len; i++) msg_verdict_free(b.judged->pdata[i]);
    engine_close(engine);
    return 0;
}
