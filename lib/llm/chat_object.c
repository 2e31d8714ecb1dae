/* The chat task that fills in a form. The caller supplies the instructions and the schema, and interprets the answer.
 */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

static json_t *object_schema(const struct call *call)
{
    return json_pack("{s:s,s:b,s:o}", "name", "form", "strict", 1, "schema", json_loads(call->scorer->schema, 0, NULL));
}

static bool has_what_is_required(const json_t *object, const char *schema)
{
    json_t *form = json_loads(schema, 0, NULL);
    const json_t *name;
    size_t i;
    bool whole = json_is_object(object);
    json_array_foreach(json_object_get(form, "required"), i, name) whole =
        whole && json_object_get(object, json_string_value(name));
    json_decref(form);
    return whole;
}

/* Stores the first object in the content that has all required members. */
static bool object_read(struct call *call, const json_t *choice, const char *content, double *p)
{
    size_t len = 0;
    (void)choice;
    g_clear_pointer(&call->text, free);
    for (const char *at = content; !call->text && (at = remote_json_object(at, &len)); at += len) {
        json_t *object = remote_json(at, len);
        if (has_what_is_required(object, call->scorer->schema)) call->text = json_dumps(object, JSON_COMPACT);
        json_decref(object);
    }
    if (call->text) *p = 1;
    return call->text != NULL;
}

const struct chat_task chat_object = {chat_own_prompt, chat_own_data,     object_schema,
                                      object_read,     .logprobs = false, .instructions = ""};

const struct scorer_backend scorer_object_backend = {.name = "form",
                                                     .check = chat_check,
                                                     .open = chat_open,
                                                     .close = chat_close,
                                                     .ask = chat_ask,
                                                     .chat = &chat_object,
                                                     .texts = true};
