#include "tests/unit/linking/made.h"

#include "lib/learn/metrics.h"
#include "lib/learn/tensors.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>

enum { CANDIDATES = 6, END = 1, FIRST_ID = 10 };

static void write_generation(GString *lines, GArray *states, const struct made *made, uint32_t number,
                             const char *stage, uint64_t *random)
{
    uint32_t n = 2 + (uint32_t)(learn_random(random) % 3);
    g_string_append_printf(
        lines,
        "{\"format\":\"assay-traces/1\",\"id\":\"q%u\",\"database\":\"d\",\"question\":\"?\",\"stage\":\"%s\","
        "\"candidates\":[",
        number, stage);
    for (int i = 0; i < CANDIDATES; i++)
        g_string_append_printf(lines, "%s{\"name\":\"n%d\",\"ids\":[%d]}", i ? "," : "", i, FIRST_ID + i);
    g_string_append(lines, "],\"end\":1,\"tokens\":[");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t gold = i + 1 < n ? FIRST_ID + i : END;
        bool wrong = learn_random_unit(random) < made->wrong;
        g_string_append_printf(lines, "%s{\"id\":%u,\"gold_id\":%u,\"probability\":0.9}", i ? "," : "",
                               wrong ? FIRST_ID + i + 1 : gold, gold);
        for (uint32_t k = 0; k < made->layers * made->hidden; k++) {
            /* Every second number shows it, in a later layer more. */
            double shift = wrong && k % 2 ? made->plain * (1 + k / made->hidden) / made->layers : 0;
            float x = (float)(2 * learn_random_unit(random) - 1 + shift);
            g_array_append_val(states, x);
        }
    }
    g_string_append(lines, "]}\n");
}

static void write_states(const char *name, const struct made *made, const GArray *states)
{
    struct err err = {0};
    struct tensors_writer *w = tensors_writer_new();
    uint32_t width = made->layers * made->hidden, rows = states->len / width;
    float *layer = g_new(float, (size_t)rows * made->hidden + 1);
    for (uint32_t l = 0; l < made->layers; l++) {
        char tensor[32];
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t k = 0; k < made->hidden; k++)
                layer[r * made->hidden + k] = g_array_index(states, float, r *width + l * made->hidden + k);
        snprintf(tensor, sizeof tensor, "layer_%u", l);
        tensors_writer_add(w, tensor, TENSOR_F16, layer, rows, made->hidden);
    }
    char *path = g_strdup_printf("%s.safetensors", name);
    cr_assert_eq(tensors_writer_save(w, path, &err), ERR_OK, "%s", err.text);
    tensors_writer_free(w);
    g_free(layer);
    g_free(path);
}

void made_write(const char *name, const struct made *made)
{
    GString *lines = g_string_new(NULL);
    GArray *states = g_array_new(FALSE, FALSE, sizeof(float));
    uint64_t random = made->seed;
    for (uint32_t i = 0; i < made->questions; i++) {
        if (!made->stage || made->stage[0] == 't') write_generation(lines, states, made, i, "tables", &random);
        if (!made->stage || made->stage[0] == 'c') write_generation(lines, states, made, i, "columns", &random);
    }
    char *path = g_strdup_printf("%s.jsonl", name);
    cr_assert(g_file_set_contents(path, lines->str, (gssize)lines->len, NULL));
    write_states(name, made, states);
    g_free(path);
    g_string_free(lines, TRUE);
    g_array_free(states, TRUE);
}

void made_remove(const char *name)
{
    static const char *const ends[] = {"jsonl", "safetensors"};
    for (int i = 0; i < 2; i++) {
        char *path = g_strdup_printf("%s.%s", name, ends[i]);
        remove(path);
        g_free(path);
    }
}
