/* Adds few-shot examples to the request for a corrector. */
#include "examples/examples.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *data, const char *key)
{
    return json_string_value(json_object_get(data, key));
}

/* Returns the error of the query or, if the query runs, its first finding. */
static const char *error_of(const json_t *data)
{
    const char *error = text_of(data, "error");
    return error ? error : text_of(json_array_get(json_object_get(data, "findings"), 0), "what");
}

static json_t *shot_json(const struct example *example)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "question", example->question, "wrong", example->wrong, "error",
                     example->error, "right", example->right, "steps", example->steps);
}

char *examples_with_shots(struct examples *store, const char *data, enum examples_key key, uint32_t k)
{
    struct examples_found found[EXAMPLES_MAX_FOUND];
    struct arena arena;
    json_t *json = json_loads(data, JSON_REJECT_DUPLICATES, NULL), *shots = json_array();
    const struct examples_query query = {text_of(json, "question"), text_of(json, "sql"), error_of(json), NULL};
    uint32_t n = query.question && query.sql ? examples_search(store, &query, key, k, found) : 0;
    arena_init(&arena, 0);
    struct example read[EXAMPLES_MAX_FOUND];
    n = examples_read_whole(store, &arena, found, n, read);
    for (uint32_t i = 0; i < n; i++) json_array_append_new(shots, shot_json(&read[i]));
    arena_free(&arena);
    char *out = NULL;
    if (json_array_size(shots) && json_object_set(json, "examples", shots) == 0) out = json_dumps(json, JSON_COMPACT);
    json_decref(shots);
    json_decref(json);
    return out;
}
