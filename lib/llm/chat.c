/* The protocol of chat completions, for all chat tasks (struct chat_task).
 *
 * Servers differ in the fields that they accept: some refuse an unknown field with status 400, others ignore it. So
 * each request has a `shape`, the set of optional fields. The first shape requests the strictest form of an answer.
 * After a refusal the shape is relaxed by one step. A shape that worked is stored for the endpoint. The failure of a
 * shape is not stored, because this one input may have caused it. Every answer must be a JSON object as the task
 * requires, whatever the shape.
 *
 * The input is untrusted. It is sent as strings of one JSON object, separate from the instructions. Escaping keeps any
 * input inside of these strings, and the instructions declare them to be data.
 */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

#include <stdatomic.h>
#include <string.h>

enum form { FORM_SCHEMA, FORM_OBJECT, FORM_PROMPT };

/* The optional fields of a request. They are packed into one word, so threads share them without a lock. */
struct shape {
    enum form form;
    bool no_logprobs; /* omits log probabilities, which reasoning models refuse */
    bool no_sampling; /* omits temperature and seed, which reasoning models refuse too */
    bool old_tokens;  /* uses max_tokens, the older name of max_completion_tokens */
};

struct chat {
    atomic_uint shape;
};

static struct shape shape_unpack(unsigned word)
{
    return (struct shape){(enum form)(word & 3), word & 4, word & 8, word & 16};
}

static unsigned shape_pack(struct shape s)
{
    return (unsigned)s.form | (s.no_logprobs ? 4U : 0) | (s.no_sampling ? 8U : 0) | (s.old_tokens ? 16U : 0);
}

void *chat_open(void)
{
    return g_new0(struct chat, 1);
}

void chat_close(void *state)
{
    g_free(state);
}

enum err_code chat_check(const struct scorer_config *config, struct err *err)
{
    if (!config->model || !*config->model) return err_set(err, ERR_CONFIG, "the chat model has no name");
    if (config->max_tokens < 16) return err_set(err, ERR_CONFIG, "max_tokens must be at least 16");
    return ERR_OK;
}

/* --- requests --------------------------------------------------------------------------------------------------- */

static json_t *response_format(const struct call *call, enum form form)
{
    const struct chat_task *task = call->scorer->backend->chat;
    if (form == FORM_OBJECT) return json_pack("{s:s}", "type", "json_object");
    return json_pack("{s:s,s:o}", "type", "json_schema", "json_schema", task->schema(call));
}

static json_t *messages(const struct call *call)
{
    const struct chat_task *task = call->scorer->backend->chat;
    json_t *data = task->data(call);
    char *text = data ? json_dumps(data, JSON_COMPACT) : NULL;
    json_decref(data);
    json_t *list = text ? json_pack("[{s:s,s:s},{s:s,s:s}]", "role", "system", "content", task->prompt(call->scorer),
                                    "role", "user", "content", text)
                        : NULL;
    free(text);
    return list;
}

static char *request_body(const struct call *call, struct shape shape)
{
    const struct scorer_config *config = &call->scorer->config;
    json_t *json = json_pack("{s:s,s:o}", "model", config->model, "messages", messages(call));
    if (!json) return NULL;
    json_object_set_new(json, shape.old_tokens ? "max_tokens" : "max_completion_tokens",
                        json_integer((json_int_t)config->max_tokens));
    if (!shape.no_sampling) {
        json_object_set_new(json, "temperature", json_integer(0));
        json_object_set_new(json, "seed", json_integer(1));
    }
    if (!shape.no_logprobs && call->scorer->backend->chat->logprobs) {
        json_object_set_new(json, "logprobs", json_true());
        json_object_set_new(json, "top_logprobs", json_integer(10));
    }
    if (shape.form != FORM_PROMPT) json_object_set_new(json, "response_format", response_format(call, shape.form));
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

/* Relaxes the field that the refusal mentions. If it mentions none, relaxes the form of the answer, then the log
 * probabilities. Returns false if nothing is left to relax. */
static bool give_way(struct shape *shape, const struct http_reply *reply)
{
    char *words = reply->body ? g_ascii_strdown(reply->body, (gssize)MIN(reply->len, 2000)) : g_strdup("");
    bool logprobs = strstr(words, "logprob"), tokens = strstr(words, "max_completion_tokens");
    bool sampling = strstr(words, "temperature") || strstr(words, "seed");
    g_free(words);
    if (logprobs && !shape->no_logprobs) return shape->no_logprobs = true;
    if (tokens && !shape->old_tokens) return shape->old_tokens = true;
    if (sampling && !shape->no_sampling) return shape->no_sampling = true;
    if (shape->form != FORM_PROMPT) {
        shape->form++;
        return true;
    }
    if (!shape->no_logprobs) return shape->no_logprobs = true;
    return false;
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

static int64_t token_count(const json_t *usage, const char *key)
{
    const json_t *value = json_object_get(usage, key);
    json_int_t n = json_is_integer(value) ? json_integer_value(value) : -1;
    return n >= 0 ? (int64_t)n : -1;
}

static void read_usage(struct call *call, const json_t *root)
{
    const json_t *usage = json_object_get(root, "usage");
    call->info->tokens_in = token_count(usage, "prompt_tokens");
    call->info->tokens_out = token_count(usage, "completion_tokens");
    remote_word(json_string_value(json_object_get(root, "model")), call->info->model, sizeof call->info->model);
}

/* Returns ERR_REMOTE if the model refused, or if its answer was truncated or blocked. Otherwise returns ERR_OK. */
static enum err_code check_finish(struct call *call, const json_t *choice)
{
    const json_t *refusal = json_object_get(json_object_get(choice, "message"), "refusal");
    const char *finish = json_string_value(json_object_get(choice, "finish_reason"));
    if (json_string_length(refusal)) return err_set(call->err, ERR_REMOTE, "the model refused to answer");
    if (finish && strcmp(finish, "length") == 0)
        return err_set(call->err, ERR_REMOTE, "the model's response was truncated" ERR_HINT "raise max_tokens");
    if (finish && strcmp(finish, "content_filter") == 0)
        return err_set(call->err, ERR_REMOTE, "the model's response was blocked by a content filter");
    return ERR_OK;
}

enum err_code chat_read(struct call *call, const struct http_reply *reply, double *p, bool *formless)
{
    json_t *root = remote_json_with_nul(reply->body, reply->len);
    const json_t *choice = json_array_get(json_object_get(root, "choices"), 0);
    const char *content = remote_text(json_object_get(json_object_get(choice, "message"), "content"));
    enum err_code code = check_finish(call, choice);
    *formless = code == ERR_OK && content && !call->scorer->backend->chat->read(call, choice, content, p);
    if (code == ERR_OK && (!content || *formless))
        code = err_set(call->err, ERR_MALFORMED, "the model's response does not have the requested format");
    read_usage(call, root);
    json_decref(root);
    return code;
}

/* --- relaxing the shape ----------------------------------------------------------------------------------------- */

static enum err_code ask_in_shape(struct call *call, struct shape shape, double *p, struct http_reply *reply,
                                  bool *formless)
{
    *reply = (struct http_reply){.end = HTTP_STOPPED};
    *formless = false;
    char *body = request_body(call, shape);
    if (!body) return err_set(call->err, ERR_NOMEM, "out of memory");
    enum err_code code = call_exchange(call, "/chat/completions", body, reply);
    free(body);
    return code == ERR_OK ? chat_read(call, reply, p, formless) : code;
}

enum err_code chat_ask(struct call *call, double *p)
{
    struct chat *chat = call->scorer->state;
    unsigned began = atomic_load(&chat->shape);
    struct shape shape = shape_unpack(began);
    for (;;) {
        struct http_reply reply;
        bool formless = false;
        enum err_code code = ask_in_shape(call, shape, p, &reply, &formless);
        bool refused = code == ERR_REMOTE && (reply.status == 400 || reply.status == 422);
        bool other = refused && give_way(&shape, &reply);
        /* Some servers ignore the requested form and still return status 200. */
        if (formless && shape.form != FORM_PROMPT) {
            shape.form++;
            other = true;
        }
        http_reply_clear(&reply);
        if (other) continue;
        if (code == ERR_OK && shape_pack(shape) != began) atomic_store(&chat->shape, shape_pack(shape));
        return code;
    }
}
