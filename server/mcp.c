/* Answers MCP messages by the rows of a table of methods. An exchange holds one message and its result, error or
 * request to judge. Versions with a handshake and stateless versions share the methods; a row states the kinds of
 * versions in which its method exists. A call that needs a verdict returns the message itself as its state, so that
 * mcp_finish can continue it in any thread.
 */
#include "server/mcp_int.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* The protocol versions, newest first. Those before 2026-07-28 begin with `initialize`; in later ones each request
 * contains its version. */
static const struct {
    const char *name;
    bool stateless;
} versions[] = {
    {"2026-07-28", true}, {"2025-11-25", false}, {"2025-06-18", false}, {"2025-03-26", false}, {"2024-11-05", false}};

#define NEWEST_WITH_HANDSHAKE "2025-11-25"
#define SERVER_KEY            "io.modelcontextprotocol/serverInfo"
#define CAPABILITIES_KEY      "io.modelcontextprotocol/clientCapabilities"

enum { LONG_MS = 3600000 /* lifetime of answers about the server itself, which do not change while it runs */ };

bool mcp_knows_version(const char *version)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(versions); i++)
        if (strcmp(versions[i].name, version) == 0) return true;
    return false;
}

bool mcp_is_stateless_version(const char *version)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(versions); i++)
        if (strcmp(versions[i].name, version) == 0) return versions[i].stateless;
    return false;
}

static json_t *versions_json(void)
{
    json_t *out = json_array();
    for (unsigned i = 0; i < G_N_ELEMENTS(versions); i++) json_array_append_new(out, json_string(versions[i].name));
    return out;
}

void exchange_fail(struct exchange *exchange, enum mcp_error error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    exchange->error = error;
    exchange->why = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

/* --- the server's description --- */

static json_t *server_json(const struct mcp *mcp)
{
    return json_pack("{s:s, s:s, s:s}", "name", mcp->name, "title", mcp->title, "version", mcp->version);
}

/* Returns the capabilities. The server sends no notices of changed lists and offers no subscriptions to resources. */
static json_t *capabilities_json(void)
{
    return json_pack("{s:{}, s:{}}", "tools", "resources");
}

static void initialize(struct exchange *exchange)
{
    const char *asked = mcp_message_text(exchange->message, "protocolVersion");
    if (!asked) {
        exchange_fail(exchange, MCP_INVALID_PARAMS, "initialize: params.protocolVersion is missing");
        return;
    }
    bool known = mcp_knows_version(asked) && !mcp_is_stateless_version(asked);
    exchange->result = json_pack("{s:s, s:o, s:o, s:s}", "protocolVersion", known ? asked : NEWEST_WITH_HANDSHAKE,
                                 "capabilities", capabilities_json(), "serverInfo", server_json(exchange->mcp),
                                 "instructions", exchange->mcp->instructions);
}

static void discover(struct exchange *exchange)
{
    exchange->result = json_pack("{s:o, s:o, s:s}", "supportedVersions", versions_json(), "capabilities",
                                 capabilities_json(), "instructions", exchange->mcp->instructions);
}

static void ping(struct exchange *exchange)
{
    exchange->result = json_object();
}

/* --- resources --- */

static json_t *resource_json(const struct mcp_resource *resource, const char *name)
{
    char *escaped = g_uri_escape_string(name, NULL, FALSE), *uri = g_strconcat(resource->prefix, escaped, NULL);
    json_t *out = json_pack("{s:s, s:s, s:s, s:s}", "uri", uri, "name", name, "description", resource->description,
                            "mimeType", "application/json");
    g_free(escaped);
    g_free(uri);
    return out;
}

static void resources_list(struct exchange *exchange)
{
    json_t *out = json_array();
    for (const struct mcp_resource *resource = exchange->mcp->resources; resource->prefix; resource++) {
        size_t i;
        json_t *names = json_array(), *name;
        resource->list(exchange->mcp->ctx, exchange->tenant, names);
        json_array_foreach(names, i, name) json_array_append_new(out, resource_json(resource, json_string_value(name)));
        json_decref(names);
    }
    exchange->result = json_pack("{s:o}", "resources", out);
}

static void templates_list(struct exchange *exchange)
{
    json_t *out = json_array();
    for (const struct mcp_resource *resource = exchange->mcp->resources; resource->prefix; resource++)
        json_array_append_new(out, json_pack("{s:o, s:s, s:s, s:s, s:s}", "uriTemplate",
                                             json_sprintf("%s{%s}", resource->prefix, resource->variable), "name",
                                             resource->name, "title", resource->title, "description",
                                             resource->description, "mimeType", "application/json"));
    exchange->result = json_pack("{s:o}", "resourceTemplates", out);
}

/* Returns the document of a URI, allocated with malloc, or NULL if there is none. */
static char *read_resource(const struct exchange *exchange, const char *uri)
{
    for (const struct mcp_resource *resource = exchange->mcp->resources; resource->prefix; resource++) {
        if (!g_str_has_prefix(uri, resource->prefix)) continue;
        char *name = g_uri_unescape_string(uri + strlen(resource->prefix), NULL);
        bool valid = name && *name && g_utf8_validate(name, -1, NULL);
        char *text = valid ? resource->read(exchange->mcp->ctx, exchange->tenant, name) : NULL;
        g_free(name);
        return text;
    }
    return NULL;
}

static void resources_read(struct exchange *exchange)
{
    const char *uri = mcp_message_text(exchange->message, "uri");
    char *text = uri ? read_resource(exchange, uri) : NULL;
    if (!uri)
        exchange_fail(exchange, MCP_INVALID_PARAMS, "resources/read: params.uri is missing");
    else if (!text)
        exchange_fail(exchange, exchange->stateless ? MCP_INVALID_PARAMS : MCP_RESOURCE_NOT_FOUND,
                      "resource %.200s not found: verdicts are stored for a limited time", uri);
    else
        exchange->result =
            json_pack("{s:[{s:s, s:s, s:s}]}", "contents", "uri", uri, "mimeType", "application/json", "text", text);
    free(text);
}

/* --- methods --- */

static const struct method {
    const char *name;
    bool handshake, stateless; /* kinds of versions that have the method */
    bool slow;
    const char *cache; /* scope in which an answer may be cached, in versions with this field; else NULL */
    int64_t ttl_ms;
    void (*answer)(struct exchange *exchange);
} methods[] = {
    {"initialize", true, false, false, NULL, 0, initialize},
    {"ping", true, false, false, NULL, 0, ping},
    {"server/discover", false, true, false, "public", LONG_MS, discover},
    {"tools/list", true, true, false, "public", LONG_MS, tools_list},
    {"tools/call", true, true, true, NULL, 0, tools_call},
    {"resources/list", true, true, false, "private", 0, resources_list},
    {"resources/templates/list", true, true, false, "public", LONG_MS, templates_list},
    {"resources/read", true, true, true, "private", 0, resources_read},
};

static const struct method *find_method(const char *name)
{
    for (unsigned i = 0; name && i < G_N_ELEMENTS(methods); i++)
        if (strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}

bool mcp_is_slow(const struct mcp_message *message)
{
    const struct method *method = message->kind == MCP_REQUEST ? find_method(message->method) : NULL;
    return method && method->slow;
}

/* Returns true if the version in the request is valid. */
static bool check_version(struct exchange *exchange)
{
    const json_t *version = mcp_message_version(exchange->message);
    const char *name = json_string_value(version);
    if (!exchange->stateless) return true;
    if (!name || !json_object_get(json_object_get(exchange->message->params, "_meta"), CAPABILITIES_KEY)) {
        exchange_fail(exchange, MCP_INVALID_PARAMS,
                      "params._meta must contain the protocol version (a string) and " CAPABILITIES_KEY);
    } else if (!mcp_is_stateless_version(name)) {
        exchange_fail(exchange, MCP_UNSUPPORTED_VERSION, "unsupported protocol version");
        exchange->data = json_pack("{s:o, s:s}", "supported", versions_json(), "requested", name);
    }
    return !exchange->error;
}

static void run_method(struct exchange *exchange)
{
    const struct method *method = find_method(exchange->message->method);
    if (!check_version(exchange)) return;
    if (!method || !(exchange->stateless ? method->stateless : method->handshake))
        exchange_fail(exchange, MCP_METHOD_NOT_FOUND, "unknown method %.100s", exchange->message->method);
    else
        method->answer(exchange);
}

/* Adds the fields that every result of a stateless version has. */
static void stamp(struct exchange *exchange)
{
    const struct method *method = find_method(exchange->message->method);
    json_object_set_new(exchange->result, "resultType", json_string("complete"));
    json_object_set_new(exchange->result, "_meta", json_pack("{s:o}", SERVER_KEY, server_json(exchange->mcp)));
    if (!method || !method->cache) return;
    json_object_set_new(exchange->result, "ttlMs", json_integer(method->ttl_ms));
    json_object_set_new(exchange->result, "cacheScope", json_string(method->cache));
}

/* --- answers --- */

static char *state_of(const struct exchange *exchange)
{
    json_t *state = json_pack("{s:s, s:O}", "owner", exchange->owner, "message", exchange->message->root);
    char *text = json_dumps(state, JSON_COMPACT);
    json_decref(state);
    return text;
}

/* Converts an exchange to an answer. Takes over the exchange's data. */
static void write_answer(struct exchange *exchange, struct mcp_answer *out)
{
    const json_t *id = exchange->message->id;
    out->error = exchange->error;
    out->handshake = !exchange->stateless;
    if (exchange->judge) {
        out->judge = exchange->judge;
        out->state = state_of(exchange);
    } else if (exchange->result) {
        if (exchange->stateless) stamp(exchange);
        out->reply = mcp_reply_result(id, exchange->result);
    } else {
        if (!exchange->error) exchange_fail(exchange, out->error = MCP_INTERNAL_ERROR, "no memory for the answer");
        out->reply = mcp_reply_error(id, exchange->error, exchange->why, exchange->data);
    }
    g_free(exchange->why);
}

static struct exchange exchange_of(const struct mcp *mcp, const struct mcp_message *message)
{
    return (struct exchange){.mcp = mcp, .message = message, .stateless = mcp_message_version(message) != NULL};
}

void mcp_answer(const struct mcp *mcp, const struct mcp_message *message, const struct tenant *tenant,
                struct mcp_answer *out)
{
    struct exchange exchange = exchange_of(mcp, message);
    exchange.tenant = tenant;
    exchange.owner = tenant ? tenant->name : "";
    *out = (struct mcp_answer){.handshake = true};
    if (message->kind == MCP_NOTIFICATION || message->kind == MCP_RESPONSE) return;
    if (message->kind == MCP_REQUEST)
        run_method(&exchange);
    else
        exchange_fail(&exchange, message->error, "%s", message->why);
    write_answer(&exchange, out);
}

void mcp_finish(const struct mcp *mcp, const char *text, const char *verdict, size_t len, const struct err *err,
                struct mcp_answer *out)
{
    struct mcp_message message;
    json_t *state = json_loads(text, 0, NULL);
    *out = (struct mcp_answer){.handshake = true};
    mcp_message_take(&message, json_incref(json_object_get(state, "message")));
    struct exchange exchange = exchange_of(mcp, &message);
    exchange.owner = json_string_value(json_object_get(state, "owner"));
    tools_finish(&exchange, verdict, len, err);
    write_answer(&exchange, out);
    mcp_message_clear(&message);
    json_decref(state);
}

void mcp_answer_clear(struct mcp_answer *answer)
{
    free(answer->reply);
    free(answer->judge);
    free(answer->state);
    *answer = (struct mcp_answer){0};
}
