/* Constructs recordings of a schema linker: a JSONL file of generations and a safetensors file of hidden states. A
 * seeded generator chooses the branching points. Later layers show them more clearly. */
#include "tests/unit/linking/made.h"

#include "lib/learn/metrics.h"
#include "lib/learn/tensors.h"
#include "linking/predictor.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
            /* Every second number of a hidden state is shifted at a branching point. The shift grows with the layer. */
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

static void copy_tensors(struct tensors *from, struct tensors_writer *to)
{
    for (uint32_t i = 0; i < from->n; i++) {
        const struct tensor *t = &from->items[i];
        float *numbers = g_new(float, t->rows * t->columns);
        struct err err = {0};
        cr_assert_eq(tensors_all(from, t, numbers, &err), ERR_OK, "%s", err.text);
        tensors_writer_add(to, t->name, t->type, numbers, t->rows, t->columns);
        g_free(numbers);
    }
}

GBytes *made_message(const struct made *made)
{
    struct made one = *made;
    struct tensors *states = NULL;
    struct err err = {0};
    char *line = NULL, *bytes = NULL, name[64], path[80];
    gsize len = 0;
    one.questions = 1;
    if (!one.stage) one.stage = "tables";
    snprintf(name, sizeof name, "/tmp/assay-message-%d", (int)getpid());
    snprintf(path, sizeof path, "%s.jsonl", name);
    made_write(name, &one);
    cr_assert(g_file_get_contents(path, &line, NULL, NULL));
    snprintf(path, sizeof path, "%s.safetensors", name);
    cr_assert_eq(tensors_open(path, &states, &err), ERR_OK, "%s", err.text);
    struct tensors_writer *w = tensors_writer_new();
    tensors_writer_metadata(w, "trace", g_strchomp(line));
    copy_tensors(states, w);
    tensors_close(states);
    cr_assert_eq(tensors_writer_save(w, path, &err), ERR_OK, "%s", err.text);
    cr_assert(g_file_get_contents(path, &bytes, &len, NULL));
    tensors_writer_free(w);
    made_remove(name);
    g_free(line);
    return g_bytes_new_take(bytes, len);
}

void made_predictor(const char *path, const struct made *made)
{
    struct made one = *made;
    struct predictor *predictor = NULL;
    struct err err = {0};
    char learn[64], calibrate[64];
    const char *learns[] = {learn}, *calibrates[] = {calibrate};
    struct perceptron_options options = perceptron_options_default();
    options.hidden = 8;
    options.epochs = 10;
    one.stage = "tables";
    snprintf(learn, sizeof learn, "/tmp/assay-learn-%d", (int)getpid());
    snprintf(calibrate, sizeof calibrate, "/tmp/assay-calibrate-%d", (int)getpid());
    made_write(learn, &one);
    one.seed++;
    made_write(calibrate, &one);
    const struct predictor_sources sources = {
        .training = learns, .calibration = calibrates, .n_training = 1, .n_calibration = 1};
    cr_assert_eq(predictor_train(&sources, &options, &predictor, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(predictor_save(predictor, "made", path, &err), ERR_OK, "%s", err.text);
    predictor_free(predictor);
    made_remove(learn);
    made_remove(calibrate);
}
