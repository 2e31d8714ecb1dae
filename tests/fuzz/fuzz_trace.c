/* Reads recordings of a schema linker and files of predictors. Reading must end in an error or in contents within the
 * documented bounds. An odd first byte selects a line of a recording, whose tokens are read as names and traced back.
 * An even one selects a tensor file, which is read completely, and also as predictors. */
#include "linking/predictor.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const struct trace *trace, int name)
{
    if (name < -1 || name >= (int)trace->n_candidates) abort();
}

static void use_trace(struct arena *arena, const struct trace *trace)
{
    uint32_t *ids = arena_new_array(arena, trace->n_tokens, uint32_t), *names = NULL;
    for (uint32_t i = 0; ids && i < trace->n_tokens; i++) {
        ids[i] = trace->tokens[i].gold_id;
        check_name(trace, trace_back(arena, trace, i));
        check_name(trace, trace_gold_at(arena, trace, i));
    }
    int n = ids ? trace_names(arena, trace, ids, trace->n_tokens, &names) : 0;
    if (n > (int)trace->n_candidates) abort();
    for (int i = 0; i < n; i++)
        if (names[i] >= trace->n_candidates) abort();
}

static void read_line(const char *bytes, size_t len)
{
    struct arena arena;
    struct trace *trace = NULL;
    struct err err = {0};
    json_t *json = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, NULL);
    arena_init(&arena, 0);
    enum err_code code = json ? trace_from_json(&arena, json, &trace, &err) : ERR_MALFORMED;
    if ((code == ERR_OK) != (trace != NULL) || (json && code && !err.text[0])) abort();
    if (trace) use_trace(&arena, trace);
    json_decref(json);
    arena_free(&arena);
}

static void read_rows(struct tensors *tensors)
{
    enum { MOST = 1 << 16 };
    static float row[MOST];
    for (uint32_t i = 0; i < tensors->n; i++)
        for (uint64_t k = 0; k < tensors->items[i].rows && k < 100 && tensors->items[i].columns <= MOST; k++) {
            if (tensors_row(tensors, &tensors->items[i], k, row, NULL) != ERR_OK) continue;
            for (uint64_t c = 0; c < tensors->items[i].columns; c++)
                if (!isfinite(row[c])) abort();
        }
}

static void read_file(const char *bytes, size_t len)
{
    char path[64];
    struct tensors *tensors = NULL;
    struct predictor *predictor = NULL;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, bytes, len) != (ssize_t)len) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (tensors_open(path, &tensors, NULL) == ERR_OK) read_rows(tensors);
    tensors_close(tensors);
    if (predictor_load(path, &predictor, NULL) == ERR_OK && !predictor->hidden) abort();
    predictor_free(predictor);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    if (data[0] & 1)
        read_line((const char *)data + 1, size - 1);
    else
        read_file((const char *)data + 1, size - 1);
    return 0;
}
