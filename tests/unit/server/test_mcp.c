/* Tests the Model Context Protocol: the reply to each message, in both forms of the protocol, and the server over two
 * pipes. */
#include "server/mcp_stdio.h"
#include "server/recent_verdicts.h"
#include "tests/support/leak.h"
#include "tests/support/mcp_tools.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(mcp, .fini = leak_check, .timeout = 60);

#define META                                                                                                           \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                           \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define REQUEST(method, params) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"
#define CALL(name, arguments)   REQUEST("tools/call", "\"name\":\"" name "\",\"arguments\":" arguments)

static const struct {
    const char *what, *message, *says; /* `says` is NULL if no reply is expected */
    const char * not ;                 /* text that the reply must not contain, or NULL */
} cases[] = {
    /* JSON-RPC */
    {"nothing", "", "\"id\":null,\"error\":{\"code\":-32700"},
    {"no JSON", "ping", "-32700"},
    {"half of it", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi", "-32700"},
    {"no UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "-32700"},
    {"a NUL in a text", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000\"}", "-32700"},
    {"a key twice", "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", "-32700"},
    {"a batch", "[" REQUEST("ping", "") "]", "-32600"},
    {"a text", "\"ping\"", "-32700"},
    {"another version", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600"},
    {"no method", "{\"jsonrpc\":\"2.0\",\"id\":7}", "\"id\":7,\"error\":{\"code\":-32600"},
    {"an id that is none", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
     "\"id\":null,\"error\":{\"code\":-32600"},
    {"an id of null", "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "-32600"},
    {"params by place", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", "-32600"},
    {"a text as id", "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}"},
    {"a method that is none", REQUEST("tools/eat", ""), "-32601"},
    {"a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", NULL},
    {"a notification of no known kind", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", NULL},
    {"a response", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", NULL},
    {"an error", "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}", NULL},

    /* versions */
    {"the newest with a handshake", REQUEST("initialize", "\"protocolVersion\":\"2025-11-25\""),
     "\"protocolVersion\":\"2025-11-25\""},
    {"an old one", REQUEST("initialize", "\"protocolVersion\":\"2024-11-05\""), "\"protocolVersion\":\"2024-11-05\""},
    {"one to come", REQUEST("initialize", "\"protocolVersion\":\"2099-01-01\""), "\"protocolVersion\":\"2025-11-25\""},
    {"one without handshake", REQUEST("initialize", "\"protocolVersion\":\"2026-07-28\""),
     "\"protocolVersion\":\"2025-11-25\""},
    {"what it can", REQUEST("initialize", "\"protocolVersion\":\"2025-11-25\""),
     "\"capabilities\":{\"tools\":{},\"resources\":{}},\"serverInfo\":{\"name\":\"test\",\"title\":\"Test\","
     "\"version\":\"1\"},\"instructions\":\"Use it.\""},
    {"no version", REQUEST("initialize", ""), "-32602"},
    {"discovered", REQUEST("server/discover", META),
     "\"supportedVersions\":[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]"},
    {"discovered with an envelope only", REQUEST("server/discover", ""), "-32601"},
    {"a handshake in an envelope", REQUEST("initialize", "\"protocolVersion\":\"2026-07-28\"," META), "-32601"},
    {"half an envelope",
     REQUEST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}"), "-32602"},
    {"an envelope of an unknown version",
     REQUEST("tools/list", "\"_meta\":{\"io.modelcontextprotocol/"
                           "protocolVersion\":\"2099-01-01\",\"io.modelcontextprotocol/clientCapabilities\":{}}"),
     "\"code\":-32022,\"message\":\"unsupported protocol version\",\"data\":{\"supported\":[\"2026-07-28\""},
    {"stamped", REQUEST("tools/list", META),
     "\"resultType\":\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"},
    {"how long it holds", REQUEST("tools/list", META), "\"ttlMs\":3600000,\"cacheScope\":\"public\""},
    {"of one's own", REQUEST("resources/list", META), "\"ttlMs\":0,\"cacheScope\":\"private\""},
    {"not stamped", REQUEST("tools/list", ""), "\"tools\":[", "resultType"},

    /* tools */
    {"what a tool takes", REQUEST("tools/list", ""),
     "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":8,"
     "\"description\":\"A text.\"},"
     "\"choice\":{\"type\":\"string\",\"enum\":[\"one\",\"two\"],\"description\":\"One of two.\"},"
     "\"texts\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":8},\"minItems\":1,\"maxItems\":2,"
     "\"description\":\"Texts.\"}},"
     "\"required\":[\"text\"],\"additionalProperties\":false}"},
    {"what it gives", REQUEST("tools/list", ""),
     "\"outputSchema\":{\"type\":\"object\",\"properties\":{\"owner\":{\"type\":\"string\",\"description\":\"Who.\"},"
     "\"more\":{\"type\":[\"array\",\"null\"],\"description\":\"More.\"}},\"required\":[\"owner\"]}"},
    {"that it changes nothing", REQUEST("tools/list", ""),
     "\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,\"openWorldHint\":false}"},
    {"a call", CALL("echo", "{\"text\":\"a\",\"choice\":\"two\",\"texts\":[\"b\"]}"),
     "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"choice\\\":\\\"two\\\",\\\"text\\\":\\\"a\\\",\\\"texts\\\":["
     "\\\"b\\\"]} of ''\"}],"
     "\"isError\":false,\"structuredContent\":{\"owner\":\"\"}}"},
    {"a call of no tool", CALL("eat", "{}"), "-32602"},
    {"a call without a name", REQUEST("tools/call", ""), "-32602"},
    {"arguments by place", CALL("echo", "[]"), "-32602"},
    {"no arguments", CALL("echo", "{}"), "`text` is missing: A text.\"}],\"isError\":true}"},
    {"none at all", REQUEST("tools/call", "\"name\":\"echo\""), "`text` is missing"},
    {"an argument too many", CALL("echo", "{\"text\":\"a\",\"sql\":\"b\"}"),
     "echo has no parameter `sql`. Its parameters: text, choice (optional), texts (optional)."},
    {"an empty text", CALL("echo", "{\"text\":\"\"}"), "`text` is empty."},
    {"a long text", CALL("echo", "{\"text\":\"123456789\"}"), "`text` has more than 8 bytes."},
    {"a number", CALL("echo", "{\"text\":1}"), "`text` must be a string."},
    {"no choice", CALL("echo", "{\"text\":\"a\",\"choice\":\"three\"}"), "`choice` must be one of: one|two."},
    {"half a choice", CALL("echo", "{\"text\":\"a\",\"choice\":\"one|two\"}"), "`choice` must be one of"},
    {"an empty list", CALL("echo", "{\"text\":\"a\",\"texts\":[]}"), "`texts` must be a list of 1 to 2 strings."},
    {"a long list", CALL("echo", "{\"text\":\"a\",\"texts\":[\"1\",\"2\",\"3\"]}"),
     "`texts` must be a list of 1 to 2 strings."},
    {"a list of numbers", CALL("echo", "{\"text\":\"a\",\"texts\":[1]}"), "`texts` must be a list of strings."},
    {"a failure", CALL("fail", "{}"), "mend \xef\xbf\xbd it\"}],\"isError\":true}"},

    /* resources */
    {"resources", REQUEST("resources/list", ""), "\"uri\":\"test://notes/one\",\"name\":\"one\""},
    {"templates", REQUEST("resources/templates/list", ""), "\"uriTemplate\":\"test://notes/{name}\""},
    {"one that is there", REQUEST("resources/read", "\"uri\":\"test://notes/%6Fne\""),
     "{\"contents\":[{\"uri\":\"test://notes/%6Fne\",\"mimeType\":\"application/"
     "json\",\"text\":\"{\\\"note\\\":1}\"}]}"},
    {"one that is not", REQUEST("resources/read", "\"uri\":\"test://notes/two\""), "-32002"},
    {"one that is not, without a handshake", REQUEST("resources/read", "\"uri\":\"test://notes/two\"," META), "-32602"},
    {"another's", REQUEST("resources/read", "\"uri\":\"test://notes/mine\""), "-32002"},
    {"of another kind", REQUEST("resources/read", "\"uri\":\"file:///etc/passwd\""), "-32002"},
    {"of no name", REQUEST("resources/read", "\"uri\":\"test://notes/\""), "-32002"},
    {"a NUL in a name", REQUEST("resources/read", "\"uri\":\"test://notes/one%00\""), "-32002"},
    {"no uri", REQUEST("resources/read", ""), "-32602"},
    {"what is not offered", REQUEST("resources/subscribe", "\"uri\":\"test://notes/one\""), "-32601"},
};

Test(mcp, messages_get_expected_replies)
{
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct mcp_message message;
        struct mcp_answer answer;
        mcp_message_read(&message, cases[i].message, strlen(cases[i].message));
        mcp_answer(&test_mcp, &message, NULL, &answer);
        cr_expect_eq(!answer.reply, !cases[i].says, "%s: %s", cases[i].what, answer.reply);
        if (answer.reply && cases[i].says)
            cr_expect(strstr(answer.reply, cases[i].says), "%s: no %s in %s", cases[i].what, cases[i].says,
                      answer.reply);
        if (answer.reply && cases[i].not )
            cr_expect_not(strstr(answer.reply, cases[i].not ), "%s: %s", cases[i].what, answer.reply);
        mcp_answer_clear(&answer);
        mcp_message_clear(&message);
    }
}

/* --- tenants and verdicts --- */

static const struct tenant acme = {.name = "acme", .number = 1, .all = true};

static void answer_of(const char *text, const struct tenant *tenant, struct mcp_answer *out)
{
    struct mcp_message message;
    mcp_message_read(&message, text, strlen(text));
    mcp_answer(&test_mcp, &message, tenant, out);
    mcp_message_clear(&message);
}

Test(mcp, tenant_sees_only_its_resources)
{
    struct mcp_answer answer;
    answer_of(CALL("echo", "{\"text\":\"a\"}"), &acme, &answer);
    cr_expect(strstr(answer.reply, "of 'acme'"), "%s", answer.reply);
    mcp_answer_clear(&answer);
    answer_of(REQUEST("resources/read", "\"uri\":\"test://notes/mine\""), &acme, &answer);
    cr_expect(strstr(answer.reply, "contents"), "%s", answer.reply);
    mcp_answer_clear(&answer);
}

static void expect_finished(const char *state, const char *verdict, const struct err *err, const char *says)
{
    struct mcp_answer answer;
    mcp_finish(&test_mcp, state, verdict, verdict ? strlen(verdict) : 0, err, &answer);
    cr_expect(answer.reply && strstr(answer.reply, says), "no %s in %s", says, answer.reply);
    cr_expect(strstr(answer.reply, "\"id\":\"q\""), "%s", answer.reply);
    mcp_answer_clear(&answer);
}

Test(mcp, call_is_answered_when_verdict_arrives)
{
    struct mcp_answer answer;
    struct err late = {0};
    err_set(&late, ERR_DEADLINE, "too late");
    answer_of(
        "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"tools/call\",\"params\":{\"name\":\"judge\",\"arguments\":"
        "{\"texts\":[\"SELECT 1\"]}," META "}}",
        &acme, &answer);
    cr_assert(answer.judge && answer.state && !answer.reply);
    cr_expect_str_eq(answer.judge, "{\"sql\":\"SELECT 1\"}");
    expect_finished(answer.state, "right", NULL, "right for 'acme'\"}],\"isError\":false,\"resultType\":\"complete\"");
    expect_finished(answer.state, NULL, &late, "too late for 'acme'\"}],\"isError\":true");
    mcp_answer_clear(&answer);
}

Test(mcp, verdicts_are_stored_by_owner_and_bounded)
{
    struct recent_verdicts *kept = recent_verdicts_new(2, 10);
    json_t *ids = json_array();
    recent_verdicts_put(kept, "a", "1", "{}", 2);
    recent_verdicts_put(kept, "b", "1", "[]", 2);
    char *mine = recent_verdicts_find(kept, "a", "1"), *other = recent_verdicts_find(kept, "", "1");
    cr_expect_str_eq(mine, "{}");
    cr_expect_null(other);
    recent_verdicts_put(kept, "a", "2", "{}", 2); /* the first verdict is evicted: the limit is two */
    recent_verdicts_put(kept, "a", "2", "{ }", 3);
    cr_expect_null(recent_verdicts_find(kept, "a", "1"));
    recent_verdicts_put(kept, "a", "3", "12345678901", 11); /* exceeds the limit on all bytes */
    recent_verdicts_list(kept, "a", ids);
    char *listed = json_dumps(ids, JSON_COMPACT);
    cr_expect_str_eq(listed, "[\"2\"]");
    recent_verdicts_put(kept, "a", "4", "1234567", 7); /* 12 bytes in all: the oldest verdict, b's, is evicted */
    cr_expect_null(recent_verdicts_find(kept, "b", "1"));
    json_decref(ids);
    free(mine);
    free(listed);
    recent_verdicts_free(kept);
}

/* --- over two pipes --- */

struct pipes {
    int to[2], from[2];
    pthread_t server;
    struct mcp_stdio_config config;
    enum err_code code;
    pthread_mutex_t gate; /* while a test holds this lock, no verdict arrives */
    atomic_uint judged;
};

static enum err_code judge_slowly(void *ctx, const char *request, char **verdict, struct err *err)
{
    struct pipes *pipes = ctx;
    atomic_fetch_add(&pipes->judged, 1);
    pthread_mutex_lock(&pipes->gate);
    pthread_mutex_unlock(&pipes->gate);
    *verdict = strdup(request);
    (void)err;
    return ERR_OK;
}

static void *serve(void *arg)
{
    struct pipes *pipes = arg;
    struct err err = {0};
    pipes->code = mcp_stdio_run(&pipes->config, &err);
    close(pipes->from[1]);
    return NULL;
}

static void start(struct pipes *pipes, uint32_t threads, uint32_t max_open)
{
    *pipes = (struct pipes){.gate = PTHREAD_MUTEX_INITIALIZER};
    cr_assert(pipe(pipes->to) == 0 && pipe(pipes->from) == 0);
    pipes->config = (struct mcp_stdio_config){.mcp = &test_mcp,
                                              .in = pipes->to[0],
                                              .out = pipes->from[1],
                                              .threads = threads,
                                              .max_open = max_open,
                                              .judge = judge_slowly,
                                              .ctx = pipes};
    pthread_create(&pipes->server, NULL, serve, pipes);
}

static void say(struct pipes *pipes, const char *text)
{
    size_t len = strlen(text);
    cr_assert_eq(write(pipes->to[1], text, len), (ssize_t)len);
}

/* Reads one line. Returns it without its line end. Free with g_free. */
static char *hear(struct pipes *pipes)
{
    GString *line = g_string_new(NULL);
    for (char c; read(pipes->from[0], &c, 1) == 1 && c != '\n';) g_string_append_c(line, c);
    return g_string_free(line, FALSE);
}

static void expect_line(struct pipes *pipes, const char *says)
{
    char *line = hear(pipes);
    cr_expect(strstr(line, says), "no %s in %s", says, line);
    g_free(line);
}

static void end_input(struct pipes *pipes)
{
    if (pipes->to[1] >= 0) close(pipes->to[1]);
    pipes->to[1] = -1;
}

/* The server must finish its work and end. */
static void stop(struct pipes *pipes)
{
    end_input(pipes);
    pthread_join(pipes->server, NULL);
    cr_expect_eq(pipes->code, ERR_OK);
    expect_line(pipes, ""); /* the end of the output: no unexpected message precedes it */
    close(pipes->to[0]);
    close(pipes->from[0]);
}

#define JUDGE(id)                                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"judge\",\"arguments\":"       \
    "{\"texts\":[\"SELECT 1\"]}}}\n"

Test(mcp, lines_are_read_and_answered)
{
    struct pipes pipes;
    start(&pipes, 2, 4);
    say(&pipes, "\n \r\n" REQUEST("ping", "") "\r\n");
    expect_line(&pipes, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    say(&pipes, "{\"jsonrpc\":\"2.0\",\"id\":2,"); /* the message is sent in pieces */
    say(&pipes, "\"method\":\"ping\"}\nrubbish\n");
    expect_line(&pipes, "\"id\":2,\"result\"");
    expect_line(&pipes, "-32700");
    say(&pipes, REQUEST("ping", "")); /* a last line without a line end */
    end_input(&pipes);
    expect_line(&pipes, "\"id\":1,\"result\"");
    stop(&pipes);
}

Test(mcp, overlong_line_is_skipped)
{
    struct pipes pipes;
    char *chunk = g_strnfill(64 << 10, ' ');
    start(&pipes, 1, 4);
    for (int i = 0; i < MCP_MAX_BYTES / (64 << 10) + 2; i++) say(&pipes, chunk);
    say(&pipes, REQUEST("ping", "") "\n" REQUEST("ping", "") "\n");
    expect_line(&pipes, "-32600");
    expect_line(&pipes, "\"id\":1,\"result\"");
    stop(&pipes);
    g_free(chunk);
}

Test(mcp, calls_are_concurrent_and_quick_ones_overtake)
{
    struct pipes pipes;
    start(&pipes, 2, 3);
    pthread_mutex_lock(&pipes.gate);
    say(&pipes, JUDGE("1") JUDGE("2") JUDGE("3") JUDGE("4") JUDGE("1") REQUEST("ping", "") "\n");
    expect_line(&pipes, "\"id\":4,\"error\":{\"code\":-32000"); /* the limit of three open calls is reached */
    expect_line(&pipes, "\"id\":1,\"error\":{\"code\":-32000");
    expect_line(&pipes, "\"id\":1,\"result\":{}");
    say(&pipes, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}\n" REQUEST("ping", "") "\n");
    expect_line(&pipes, "\"id\":1,\"result\":{}");
    pthread_mutex_unlock(&pipes.gate);
    for (int i = 0; i < 2; i++) expect_line(&pipes, "\"result\":{\"content\""); /* the replies to calls 1 and 2 */
    stop(&pipes);
    cr_expect_eq(atomic_load(&pipes.judged), 2, "a call that was cancelled before it began was judged");
}

Test(mcp, id_in_flight_is_refused)
{
    struct pipes pipes;
    start(&pipes, 1, 8);
    pthread_mutex_lock(&pipes.gate);
    say(&pipes, JUDGE("1") JUDGE("1") JUDGE("\"1\""));
    expect_line(&pipes, "\"id\":1,\"error\":{\"code\":-32600");
    pthread_mutex_unlock(&pipes.gate);
    expect_line(&pipes, "\"id\":1,\"result\"");
    expect_line(&pipes, "\"id\":\"1\",");
    say(&pipes, JUDGE("1"));
    expect_line(&pipes, "\"id\":1,\"result\"");
    stop(&pipes);
}

Test(mcp, server_ends_without_reader)
{
    struct pipes pipes;
    signal(SIGPIPE, SIG_IGN);
    start(&pipes, 1, 8);
    close(pipes.from[0]);
    say(&pipes, REQUEST("ping", "") "\n");
    pthread_join(pipes.server, NULL); /* ends although its input is still open */
    cr_expect_eq(pipes.code, ERR_OK);
    close(pipes.to[0]);
    close(pipes.to[1]);
}
