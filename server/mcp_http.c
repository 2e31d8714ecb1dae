#include "server/mcp_http.h"

#include <stdlib.h>
#include <string.h>

#define VERSION_HEADER "MCP-Protocol-Version"
#define METHOD_HEADER  "Mcp-Method"
#define NAME_HEADER    "Mcp-Name"

/* --- headers that repeat parts of the message: proxies may route by them, so they must match it --- */

/* Returns true if the header, optionally in base64, contains this text. */
static bool says(const char *header, const char *text)
{
    static const char before[] = "=?base64?", after[] = "?=";
    if (!header || !g_str_has_prefix(header, before) || !g_str_has_suffix(header, after))
        return g_strcmp0(header, text) == 0;
    gsize len;
    char *inner = g_strndup(header + strlen(before), strlen(header) - strlen(before) - strlen(after));
    guchar *decoded = g_base64_decode(inner, &len);
    bool same = text && strlen(text) == len && memcmp(decoded, text, len) == 0;
    g_free(decoded);
    g_free(inner);
    return same;
}

/* Returns the name that a header must repeat; NULL if the method has none. */
static const char *name_of(const struct mcp_message *message)
{
    static const char *const rows[][2] = {{"tools/call", "name"}, {"resources/read", "uri"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(message->method, rows[i][0]) == 0) return mcp_message_text(message, rows[i][1]);
    return NULL;
}

/* Returns MCP_NO_ERROR if the headers match the message. */
static enum mcp_error check_headers(const struct http_request *request, const struct mcp_message *message,
                                    const char **why)
{
    const char *version = http_request_header(request, VERSION_HEADER);
    const json_t *own = mcp_message_version(message);
    if (version && !mcp_knows_version(version)) {
        *why = "unsupported version in " VERSION_HEADER;
        return MCP_UNSUPPORTED_VERSION;
    }
    if (message->kind != MCP_REQUEST || (!own && !(version && mcp_is_stateless_version(version)))) return MCP_NO_ERROR;
    if (!own) {
        *why = "the protocol version is missing in params._meta";
        return MCP_INVALID_PARAMS;
    }
    const char *name = name_of(message);
    if (g_strcmp0(version, json_string_value(own)) == 0 &&
        says(http_request_header(request, METHOD_HEADER), message->method) &&
        (!name || says(http_request_header(request, NAME_HEADER), name)))
        return MCP_NO_ERROR;
    *why = VERSION_HEADER ", " METHOD_HEADER " or " NAME_HEADER " does not match the message";
    return MCP_HEADER_MISMATCH;
}

/* --- answers --- */

/* Returns the HTTP status. Versions with a handshake answer errors with 200; later versions have statuses for them. */
static unsigned status_of(const struct mcp_answer *answer, bool whole)
{
    if (!answer->error || (answer->handshake && whole)) return 200;
    if (answer->error == MCP_METHOD_NOT_FOUND) return 404;
    return answer->error == MCP_INTERNAL_ERROR ? 500 : 400;
}

/* Converts the answer to a reply. Takes over the answer's data. `whole` means that the request contained a valid
 * message. */
static void put_answer(struct mcp_answer *answer, bool whole, struct http_reply *reply)
{
    if (answer->judge) {
        reply->judge = g_bytes_new(answer->judge, strlen(answer->judge));
        reply->state = g_strdup(answer->state);
    } else if (answer->reply) {
        http_reply_json(reply, answer->reply);
        answer->reply = NULL;
        reply->status = status_of(answer, whole);
    } else {
        reply->status = 202; /* a notification */
    }
    mcp_answer_clear(answer);
}

static void answer_message(const struct mcp *mcp, const struct http_request *request, const struct mcp_message *message,
                           struct http_reply *reply)
{
    const char *why = NULL;
    struct mcp_answer answer = {0};
    answer.error = message->kind == MCP_BROKEN ? MCP_NO_ERROR : check_headers(request, message, &why);
    if (answer.error)
        answer.reply = mcp_reply_error(message->id, answer.error, why, NULL);
    else
        mcp_answer(mcp, message, request->tenant, &answer);
    put_answer(&answer, message->kind != MCP_BROKEN && !why, reply);
}

static void on_post(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct mcp_message message;
    mcp_message_read(&message, request->body, request->body_len);
    answer_message(ctx, request, &message, reply);
    mcp_message_clear(&message);
}

static void on_verdict(void *ctx, const char *state, const struct outcome *outcome, const struct err *err,
                       struct http_reply *reply)
{
    gsize len = 0;
    struct mcp_answer answer;
    const char *verdict = outcome ? g_bytes_get_data(outcome->body, &len) : NULL;
    mcp_finish(ctx, state, verdict, len, err, &answer);
    put_answer(&answer, true, reply);
}

struct http_route mcp_http_route(const struct mcp *mcp)
{
    return (struct http_route){.method = "POST",
                               .path = MCP_PATH,
                               .scope = HTTP_SCOPE_JUDGE,
                               .work = HTTP_SLOW,
                               .max_bytes = MCP_MAX_BYTES,
                               .answer = on_post,
                               .finish = on_verdict,
                               .ctx = (void *)mcp};
}
