#include "linking/result.h"

#include <glib.h>

enum { MESSAGE_BYTES = 64 << 20 };

struct linking_results {
    GHashTable *by_id; /* id → the `linking` object, owned by `list` */
    json_t *list;
};

struct linking_results *linking_results_new(void)
{
    struct linking_results *r = g_new(struct linking_results, 1);
    *r = (struct linking_results){g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL), json_array()};
    return r;
}

void linking_results_free(struct linking_results *r)
{
    g_hash_table_destroy(r->by_id);
    json_decref(r->list);
    g_free(r);
}

static json_t *linking_of(struct linking_results *r, const char *id)
{
    json_t *linking = g_hash_table_lookup(r->by_id, id);
    if (linking) return linking;
    linking = json_pack("{s:[]}", "uncertain");
    json_array_append_new(r->list, json_pack("{s:s,s:o}", "id", id, "linking", linking));
    g_hash_table_insert(r->by_id, g_strdup(id), linking);
    return linking;
}

static enum err_code add_names(json_t *linking, const struct trace *trace, struct arena *arena, struct err *err)
{
    uint32_t *ids = arena_new_array(arena, trace->n_tokens, uint32_t), *names = NULL;
    for (uint32_t i = 0; ids && i < trace->n_tokens; i++) ids[i] = trace->tokens[i].gold_id;
    int n = ids ? trace_names(arena, trace, ids, trace->n_tokens, &names) : -1;
    if (n < 0) return err_set(err, ERR_MALFORMED, "%.80s: the tokens do not form a list of candidate names", trace->id);
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_string(trace->candidates[names[i]].name));
    json_object_set_new(linking, trace_stage_names[trace->stage], list);
    return ERR_OK;
}

static void add_uncertain(json_t *linking, const struct trace *trace, uint32_t token, double p, struct arena *arena)
{
    int name = trace_back(arena, trace, token);
    json_t *place = json_pack("{s:s,s:f}", "stage", trace_stage_names[trace->stage], "p", p);
    if (name >= 0) json_object_set_new(place, "name", json_string(trace->candidates[name].name));
    json_array_append_new(json_object_get(linking, "uncertain"), place);
}

enum err_code linking_results_add(struct linking_results *r, const struct predictor *predictor,
                                  const struct predictor_options *options, struct recording *recording,
                                  const struct trace *trace, struct arena *arena, struct err *err)
{
    enum err_code code = predictor_check(predictor, options, trace->stage, recording, err);
    json_t *linking = code ? NULL : linking_of(r, trace->id);
    if (!code) code = add_names(linking, trace, arena, err);
    for (uint32_t i = 0; !code && i < trace->n_tokens; i++) {
        struct predictor_verdict verdict;
        code = predictor_judge(predictor, options, recording, trace, i, &verdict, err);
        if (!code && verdict.set & CONFORMAL_POSITIVE) add_uncertain(linking, trace, i, verdict.p, arena);
    }
    return code;
}

json_t *linking_results_json(const struct linking_results *r)
{
    return json_incref(r->list);
}

enum err_code linking_result_of_message(const struct predictor *predictor, const struct predictor_options *options,
                                        const void *bytes, size_t len, const char *name, json_t **out, struct err *err)
{
    struct arena arena;
    struct recording recording;
    struct trace *trace = NULL;
    *out = NULL;
    arena_init(&arena, MESSAGE_BYTES);
    enum err_code code = trace_message_read(bytes, len, name, &arena, &recording, &trace, err);
    if (!code) {
        struct linking_results *results = linking_results_new();
        code = linking_results_add(results, predictor, options, &recording, trace, &arena, err);
        if (!code) *out = json_incref(json_array_get(results->list, 0));
        linking_results_free(results);
        recording_close(&recording);
    }
    arena_free(&arena);
    return code;
}
