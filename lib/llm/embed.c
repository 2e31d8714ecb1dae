/* The backend for embedding models. It uses POST {endpoint}/embeddings, which OpenAI, text-embeddings-inference and
 * llama.cpp implement. */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

#include <math.h>

enum { MAX_DIMENSIONS = 16384 };

/* Returns the number of dimensions of a vector, or 0 if `vector` is not an array of finite numbers or is too long. */
static size_t dimensions_of(const json_t *vector)
{
    const json_t *value;
    size_t i, n = json_array_size(vector);
    json_array_foreach(vector, i, value)
    {
        double number;
        if (!remote_number(value, &number)) return 0;
    }
    return n <= MAX_DIMENSIONS ? n : 0;
}

/* Returns the vectors in the order of the texts. Returns NULL unless there are `n` vectors of one length, in that
 * order. */
static json_t *vectors_of(const json_t *root, size_t n)
{
    const json_t *data = json_object_get(root, "data"), *entry;
    json_t *out = json_array();
    size_t i, dimensions = 0;
    json_array_foreach(data, i, entry)
    {
        json_t *vector = json_object_get(entry, "embedding");
        const json_t *index = json_object_get(entry, "index");
        size_t own = dimensions_of(vector);
        if (!own || (i && own != dimensions) || (index && json_integer_value(index) != (json_int_t)i)) break;
        dimensions = own;
        json_array_append(out, vector);
    }
    if (json_array_size(out) == n && json_array_size(data) == n) return out;
    json_decref(out);
    return NULL;
}

static enum err_code embed_read(struct call *call, const struct http_reply *reply, size_t n)
{
    json_t *root = remote_json(reply->body, reply->len), *vectors = vectors_of(root, n);
    remote_word(json_string_value(json_object_get(root, "model")), call->info->model, sizeof call->info->model);
    call->text = vectors ? json_dumps(vectors, JSON_COMPACT) : NULL;
    json_decref(vectors);
    json_decref(root);
    return call->text ? ERR_OK
                      : err_set(call->err, ERR_MALFORMED, "the response is not a list of vectors, one per text");
}

static enum err_code embed_ask(struct call *call, double *p)
{
    struct http_reply reply = {.end = HTTP_STOPPED};
    json_t *texts = json_loads(call->premise, 0, NULL);
    size_t n = json_array_size(texts);
    json_t *body = json_pack("{s:s,s:o}", "model", call->scorer->config.model, "input", texts);
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (!text || !n) {
        free(text);
        return err_set(call->err, ERR_NOMEM, "out of memory");
    }
    enum err_code code = call_exchange(call, "/embeddings", text, &reply);
    free(text);
    if (!code) code = embed_read(call, &reply, n);
    http_reply_clear(&reply);
    if (!code) *p = 1;
    return code;
}

const struct scorer_backend scorer_embed_backend = {
    .name = "embed", .check = chat_check, .open = chat_open, .close = chat_close, .ask = embed_ask, .texts = true};
