/* Reads messages of agents. The answer to any bytes must be one line of JSON with a reply. After a notification or a
 * response it must be empty. A call that needs a verdict must get a reply for any verdict; here the input serves as the
 * verdict. */
#include "tests/support/mcp_tools.h"

#include <stdlib.h>
#include <string.h>

static void check(int holds)
{
    if (!holds) abort();
}

/* Checks that a reply is one line, has the id of the request or none, and has a result or an error. */
static void check_reply(const char *text, const json_t *id)
{
    check(!strchr(text, '\n'));
    json_t *reply = json_loads(text, 0, NULL);
    const json_t *own = json_object_get(reply, "id");
    check(reply && own && json_equal(own, id ? id : json_null()));
    check(strcmp(json_string_value(json_object_get(reply, "jsonrpc")), "2.0") == 0);
    check(!json_object_get(reply, "result") != !json_object_get(reply, "error"));
    json_decref(reply);
}

static void check_finish(const struct mcp_answer *asked, const char *bytes, size_t size, const json_t *id)
{
    struct mcp_answer answer;
    json_t *request = json_loads(asked->judge, 0, NULL);
    check(!asked->reply && request);
    mcp_finish(&test_mcp, asked->state, bytes, size, NULL, &answer);
    check(answer.reply && !answer.judge);
    check_reply(answer.reply, id);
    mcp_answer_clear(&answer);
    json_decref(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tenant tenant = {.name = "t", .number = 1, .all = true};
    struct mcp_message message;
    struct mcp_answer answer;
    const char *bytes = (const char *)data;
    mcp_message_read(&message, bytes, size);
    bool silent = message.kind == MCP_NOTIFICATION || message.kind == MCP_RESPONSE;
    mcp_answer(&test_mcp, &message, size % 2 ? &tenant : NULL, &answer);
    check(silent == (!answer.reply && !answer.judge));
    check(!mcp_is_slow(&message) || message.kind == MCP_REQUEST);
    if (answer.reply) check_reply(answer.reply, message.id);
    if (answer.judge) check_finish(&answer, bytes, size, message.id);
    mcp_answer_clear(&answer);
    mcp_message_clear(&message);
    return 0;
}
