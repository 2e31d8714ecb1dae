#include "tests/support/mcp_tools.h"

#include <stdlib.h>
#include <string.h>

static void echo(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    char *text = json_dumps(call->arguments, JSON_COMPACT | JSON_SORT_KEYS);
    (void)ctx;
    g_string_append_printf(result->text, "%s of '%s'", text, call->owner);
    result->structured = json_pack("{s:s}", "owner", call->owner);
    free(text);
}

static void fail(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    (void)ctx, (void)call;
    result->is_error = true;
    g_string_append(result->text, "mend \xff it"); /* invalid UTF-8, as untrusted text from a database may contain */
}

static void judge(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    json_t *request = json_pack("{s:O}", "sql", json_array_get(json_object_get(call->arguments, "texts"), 0));
    (void)ctx;
    result->judge = json_dumps(request, JSON_COMPACT);
    json_decref(request);
}

static void tell(void *ctx, const struct mcp_call *call, const char *verdict, size_t len, const struct err *err,
                 struct mcp_result *result)
{
    (void)ctx;
    result->is_error = !verdict;
    g_string_append_printf(result->text, "%.*s for '%s'", verdict ? (int)len : (int)strlen(err->text),
                           verdict ? verdict : err->text, call->owner);
}

static const struct mcp_parameter echo_parameters[] = {{"text", MCP_TEXT, true, 0, 8, NULL, "A text."},
                                                       {"choice", MCP_CHOICE, false, 0, 0, "one|two", "One of two."},
                                                       {"texts", MCP_TEXTS, false, 2, 8, NULL, "Texts."},
                                                       {NULL}};
static const struct mcp_parameter judge_parameters[] = {{"texts", MCP_TEXTS, true, 2, 64, NULL, "Texts."}, {NULL}};
static const struct mcp_parameter none[] = {{NULL}};

static const struct mcp_field output[] = {{"owner", "string", false, "Who."}, {"more", "array", true, "More."}, {NULL}};

static const struct mcp_tool tools[] = {{"echo", "Echo", "Says it.", echo_parameters, output, echo, NULL},
                                        {"fail", "Fail", "Fails.", none, output, fail, NULL},
                                        {"judge", "Judge", "Judges.", judge_parameters, output, judge, tell},
                                        {NULL}};

static void list(void *ctx, const struct tenant *tenant, json_t *names)
{
    (void)ctx;
    json_array_append_new(names, json_string(tenant ? "mine" : "one"));
}

static char *read_note(void *ctx, const struct tenant *tenant, const char *name)
{
    (void)ctx;
    return strcmp(name, "one") == 0 || (tenant && strcmp(name, "mine") == 0) ? strdup("{\"note\":1}") : NULL;
}

static const struct mcp_resource resources[] = {{"test://notes/", "name", "note", "Note", "A note.", list, read_note},
                                                {NULL}};

const struct mcp test_mcp = {
    .name = "test", .title = "Test", .version = "1", .instructions = "Use it.", .tools = tools, .resources = resources};
