#include "server/mcp_message.h"

#include <glib.h>
#include <string.h>

#define VERSION_KEY "io.modelcontextprotocol/protocolVersion"

static void broken(struct mcp_message *message, enum mcp_error error, const char *why)
{
    message->kind = MCP_BROKEN;
    message->error = error;
    g_strlcpy(message->why, why, sizeof message->why);
}

/* Sets the kind of the message from its members. */
static void classify(struct mcp_message *message, const json_t *id, const json_t *method, const json_t *params)
{
    if (id && !message->id)
        broken(message, MCP_INVALID_REQUEST, "id must be a string or an integer");
    else if (!method && (json_object_get(message->root, "result") || json_object_get(message->root, "error")))
        message->kind = MCP_RESPONSE;
    else if (!json_is_string(method))
        broken(message, MCP_INVALID_REQUEST, "method must be a string");
    else if (params && !json_is_object(params))
        broken(message, MCP_INVALID_REQUEST, "params must be an object");
    else
        message->kind = id ? MCP_REQUEST : MCP_NOTIFICATION;
}

void mcp_message_take(struct mcp_message *out, json_t *root)
{
    *out = (struct mcp_message){.root = root};
    const char *jsonrpc = json_string_value(json_object_get(root, "jsonrpc"));
    json_t *id = json_object_get(root, "id"), *method = json_object_get(root, "method"),
           *params = json_object_get(root, "params");
    if (json_is_string(id) || json_is_integer(id)) out->id = id;
    if (json_is_object(params)) out->params = params;
    out->method = json_string_value(method);
    if (json_is_array(root))
        broken(out, MCP_INVALID_REQUEST, "batches are not supported");
    else if (!json_is_object(root) || !jsonrpc || strcmp(jsonrpc, "2.0") != 0)
        broken(out, MCP_INVALID_REQUEST, "a message must be an object with \"jsonrpc\": \"2.0\"");
    else
        classify(out, id, method, params);
}

void mcp_message_read(struct mcp_message *out, const char *bytes, size_t len)
{
    json_error_t error;
    json_t *root = json_loadb(bytes, len, JSON_REJECT_DUPLICATES, &error);
    mcp_message_take(out, root);
    if (root) return;
    char *why = g_strdup_printf("not JSON, at byte %d: %s", error.position, error.text);
    broken(out, MCP_PARSE_ERROR, why);
    g_free(why);
}

void mcp_message_clear(struct mcp_message *message)
{
    json_decref(message->root);
    *message = (struct mcp_message){0};
}

const char *mcp_message_text(const struct mcp_message *message, const char *name)
{
    return json_string_value(json_object_get(message->params, name));
}

const json_t *mcp_message_version(const struct mcp_message *message)
{
    return json_object_get(json_object_get(message->params, "_meta"), VERSION_KEY);
}

/* Returns the reply as text. Takes over the reference to `reply`. */
static char *dump(json_t *reply)
{
    char *text = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(reply);
    return text;
}

char *mcp_reply_result(const json_t *id, json_t *result)
{
    return dump(json_pack("{s:s, s:O?, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

char *mcp_reply_error(const json_t *id, enum mcp_error error, const char *why, json_t *data)
{
    char *valid = g_utf8_make_valid(why, -1); /* the text may quote the message, and be cut within a character */
    json_t *reply = json_pack("{s:s, s:O?, s:{s:i, s:s, s:o*}}", "jsonrpc", "2.0", "id", id, "error", "code",
                              (int)error, "message", valid, "data", data);
    g_free(valid);
    return dump(reply);
}
