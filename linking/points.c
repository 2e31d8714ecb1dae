#include "linking/points.h"

#include <glib.h>
#include <string.h>

enum { TRACE_BYTES = 256 << 20 };

static void add(struct points *p, uint32_t recording, uint64_t row, bool branching)
{
    if (p->n == p->room) {
        p->room = p->room ? 2 * p->room : 4096;
        p->of = g_renew(uint32_t, p->of, p->room);
        p->row = g_renew(uint64_t, p->row, p->room);
        p->branching = g_renew(uint8_t, p->branching, p->room);
    }
    p->of[p->n] = recording;
    p->row[p->n] = row;
    p->branching[p->n++] = branching;
    p->n_branching += branching;
}

static enum err_code read_recording(struct points *p, uint32_t number, enum trace_stage stage, struct err *err)
{
    struct recording *r = &p->recordings[number];
    struct arena arena;
    struct trace *trace = NULL;
    enum err_code code = ERR_OK;
    arena_init(&arena, TRACE_BYTES);
    while (!(code = recording_next(r, &arena, &trace, err)) && trace) {
        if (trace->stage == stage && !trace->has_gold) {
            code = err_set(err, ERR_MALFORMED, "%s:%llu: gold_id is missing, which training needs", r->path,
                           (unsigned long long)r->lines.number);
            break;
        }
        for (uint32_t i = 0; trace->stage == stage && i < trace->n_tokens; i++)
            add(p, number, trace->first_row + i, trace_is_branching(&trace->tokens[i]));
        arena_reset(&arena);
    }
    arena_free(&arena);
    return code;
}

enum err_code points_read(const char *const *names, uint32_t n, enum trace_stage stage, struct points *out,
                          struct err *err)
{
    *out = (struct points){.recordings = g_new0(struct recording, n + 1)};
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < n; i++) {
        code = recording_open(names[i], &out->recordings[i], err);
        if (code) break;
        out->n_recordings++;
        code = read_recording(out, i, stage, err);
    }
    return code;
}

void points_free(struct points *p)
{
    for (uint32_t i = 0; i < p->n_recordings; i++) recording_close(&p->recordings[i]);
    g_free(p->recordings);
    g_free(p->of);
    g_free(p->row);
    g_free(p->branching);
    *p = (struct points){0};
}

static const struct tensor *layer_of(const struct recording *r, uint32_t number, uint32_t hidden, struct err *err)
{
    for (uint32_t i = 0; i < r->n_layers; i++) {
        if (r->layer_numbers[i] != number) continue;
        if (r->hidden == hidden) return r->layers[i];
        err_set(err, ERR_MALFORMED,
                "%s: hidden states of %u numbers; expected %u" ERR_HINT "use recordings of one model", r->states->path,
                r->hidden, hidden);
        return NULL;
    }
    err_set(err, ERR_MALFORMED, "%s: layer %u is missing", r->states->path, number);
    return NULL;
}

float *points_states(struct points *p, uint32_t layer_number, uint32_t hidden, struct err *err)
{
    float *out = g_try_malloc_n(MAX(p->n, 1), (size_t)hidden * sizeof *out);
    if (!out) return err_set(err, ERR_NOMEM, "out of memory for %zu hidden states of %u numbers", p->n, hidden), NULL;
    const struct tensor *layer = NULL;
    bool good = true;
    for (size_t i = 0; good && i < p->n; i++) {
        struct recording *r = &p->recordings[p->of[i]];
        if (i == 0 || p->of[i] != p->of[i - 1]) layer = layer_of(r, layer_number, hidden, err);
        good = layer && tensors_row(r->states, layer, p->row[i], out + i * hidden, err) == ERR_OK;
    }
    if (good) return out;
    g_free(out);
    return NULL;
}
