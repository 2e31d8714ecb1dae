/* Tests assay serve without a fleet. Callers use HTTP, and the engine runs in the server's process. */
#include "tests/support/fake_model.h"
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

enum { START_MS = 30000, CALLERS = 24 };

static char base[64];
static const char *trusted;   /* certificate that the caller trusts; NULL for plain HTTP */
static struct curl_slist *as; /* additional header fields, or replacements of curl's own; may be NULL */
static GSList *sent;          /* struct curl_slist: header fields of all requests so far */
static pid_t server;
static size_t file_bytes; /* limit on the size of the server's files; 0 means no limit */

static bool has_port(void *ctx)
{
    char *log = read_file(".err");
    const char *at = log ? strstr(log, "\"port\":") : NULL;
    if (at)
        g_snprintf(base, sizeof base, "%s://127.0.0.1:%d", trusted ? "https" : "http", atoi(at + strlen("\"port\":")));
    g_free(log);
    (void)ctx;
    return at != NULL;
}

static void begin_with(const char *const *options)
{
    const char *args[16] = {"serve", "--db-root=.", "--http=127.0.0.1:0", "--log-form=json"};
    for (unsigned i = 0; options[i]; i++) args[4 + i] = options[i];
    g_remove(".err"); /* removes the file of an earlier start, which contains its port */
    server = file_bytes ? assay_start_within(file_bytes, args) : assay_start(args);
    cr_assert(wait_until(has_port, NULL, START_MS), "it does not listen: %s", read_file(".err"));
}

static void begin(const char *option)
{
    const char *const options[] = {option, NULL};
    begin_with(options);
}

static void free_fields(gpointer fields)
{
    curl_slist_free_all(fields);
}

static void end(void)
{
    int status;
    g_slist_free_full(g_steal_pointer(&sent), free_fields);
    kill(server, SIGTERM);
    cr_assert_eq(waitpid(server, &status, 0), server);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x %s", (unsigned)status, read_file(".err"));
}

TestSuite(serve_alone, .init = scratch_begin, .fini = scratch_end, .timeout = 120);

struct answer {
    long status;
    GString *body;
};

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    g_string_append_len(ctx, bytes, (gssize)(size * n));
    return size * n;
}

/* Returns the media type of a request body as a header field. */
static const char *type_of(const char *path)
{
    static const char *const rows[][2] = {{"/v1/batch", "Content-Type: application/x-ndjson"},
                                          {"/v1/runs", "Content-Type: application/x-ndjson"},
                                          {"/v1/linkings", "Content-Type: application/octet-stream"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_str_has_prefix(path, rows[i][0])) return rows[i][1];
    return "Content-Type: application/json";
}

/* Returns the header fields of a request. They must live until the server ends. */
static struct curl_slist *fields_of(const char *path)
{
    struct curl_slist *fields = curl_slist_append(NULL, type_of(path));
    for (const struct curl_slist *one = as; one; one = one->next) fields = curl_slist_append(fields, one->data);
    sent = g_slist_prepend(sent, fields);
    return fields;
}

/* Prepares a request: POST, or GET if `bytes` is NULL. */
static CURL *prepare(const char *path, const void *bytes, size_t len, struct answer *out)
{
    CURL *curl = curl_easy_init();
    char *url = g_strconcat(base, path, NULL);
    *out = (struct answer){0, g_string_new(NULL)};
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out->body);
    if (trusted) curl_easy_setopt(curl, CURLOPT_CAINFO, trusted);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, bytes ? fields_of(path) : as);
    if (bytes) curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)len);
    if (bytes) curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, bytes);
    g_free(url);
    return curl;
}

static void expect_bytes(const char *path, const void *bytes, size_t len, long status, const char *says)
{
    struct answer answer;
    CURL *curl = prepare(path, bytes, len, &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    cr_expect_eq(answer.status, status, "%ld, not %ld: %s", answer.status, status, answer.body->str);
    cr_expect(strstr(answer.body->str, says), "no '%s' in %s", says, answer.body->str);
    g_string_free(answer.body, TRUE);
}

static void expect(const char *path, const char *json, long status, const char *says)
{
    expect_bytes(path, json, json ? strlen(json) : 0, status, says);
}

#define COUNT                                                                                                          \
    "\"db\":\"shop\",\"question\":\"How many customers are there?\",\"candidates\":[\"SELECT count(*) FROM "           \
    "customer\"]"

Test(serve_alone, request_is_judged_and_verdict_stored)
{
    begin(NULL);
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"status\":\"validated\"");
    expect("/v1/verdicts/a", NULL, 200, "\"id\":\"a\"");
    expect("/v1/judge", "{" COUNT "}", 200, "\"id\":\"http-");
    expect("/v1/judge", "{\"id\":\"b\",\"db\":\"nowhere\",\"question\":\"?\",\"candidates\":[\"SELECT 1\"]}", 200,
           "\"status\":\"failed\"");
    expect("/v1/judge", "{\"id\":\"c\"}", 400, "\"code\":");
    expect("/v1/verdicts/c", NULL, 404, "unknown_id");
    expect("/v1/linkings", "x", 404, "unknown_path");
    end();
}

static bool log_tells_file_limit(void *ctx)
{
    char *log = read_file(".err");
    bool told = log && strstr(log, "File too large");
    g_free(log);
    (void)ctx;
    return told;
}

/* The signal SIGXFSZ must not end the server. */
Test(serve_alone, keep_file_at_size_limit_serves_on)
{
    enum { REQUESTS = 12, LIMIT = 48 << 10 };
    file_bytes = LIMIT;
    begin("--keep=verdicts.sqlite");
    for (unsigned i = 0; i < REQUESTS; i++) {
        char *json = g_strdup_printf("{\"id\":\"k-%u\"," COUNT "}", i);
        expect("/v1/judge", json, 200, "\"status\":\"validated\"");
        g_free(json);
    }
    cr_expect(wait_until(log_tells_file_limit, NULL, START_MS), "%s", read_file(".err"));
    expect("/v1/judge", "{\"id\":\"last\"," COUNT "}", 200, "\"status\":\"validated\"");
    end();
}

/* Posts a batch. Returns the lines of the answer. Free with g_strfreev. */
static char **batch(const char *path, const char *lines)
{
    struct answer answer;
    CURL *curl = prepare(path, lines, strlen(lines), &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    cr_assert_eq(answer.status, 200, "%s", answer.body->str);
    char **out = g_strsplit(g_strchomp(answer.body->str), "\n", -1);
    g_string_free(answer.body, TRUE);
    return out;
}

static json_int_t line_of(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    json_int_t line = json_integer_value(json_object_get(json, "line"));
    json_decref(json);
    return line;
}

/* The batch has more requests than the server judges at once, and more than it has slots. */
Test(serve_alone, batch_is_answered_in_either_order)
{
    enum { REQUESTS = 200 };
    GString *lines = g_string_new("\n");
    bool seen[REQUESTS + 2] = {false};
    begin("--max-waiting=8");
    for (unsigned i = 0; i < REQUESTS; i++) g_string_append_printf(lines, "{\"id\":\"q%u\"," COUNT "}\n", i);
    char **ordered = batch("/v1/batch", lines->str), **done = batch("/v1/batch?order=done", lines->str);
    cr_assert_eq(g_strv_length(ordered), REQUESTS);
    cr_assert_eq(g_strv_length(done), REQUESTS);
    for (unsigned i = 0; i < REQUESTS; i++) {
        cr_expect(strstr(ordered[i], "\"status\":\"validated\""), "%s", ordered[i]);
        cr_expect_eq(line_of(ordered[i]), i + 2, "%s", ordered[i]);
        json_int_t line = line_of(done[i]);
        cr_assert(line >= 2 && line < REQUESTS + 2 && !seen[line]);
        seen[line] = true;
    }
    expect("/v1/verdicts/q199", NULL, 200, "\"id\":\"q199\"");
    g_strfreev(ordered);
    g_strfreev(done);
    g_string_free(lines, TRUE);
    end();
}

Test(serve_alone, bad_line_of_batch_affects_no_other)
{
    begin(NULL);
    char **got = batch("/v1/batch", "{\"id\":\"a\"}\nno JSON\n\n{\"id\":\"b\"," COUNT "}");
    cr_assert_eq(g_strv_length(got), 3);
    cr_expect(strstr(got[0], "{\"problem\":{") && strstr(got[0], "\"line\":1}"), "%s", got[0]);
    cr_expect(strstr(got[1], "\"code\":\"malformed\"") && strstr(got[1], "\"line\":2}"), "%s", got[1]);
    cr_expect(strstr(got[2], "\"validated\"") && strstr(got[2], "\"line\":4}"), "%s", got[2]);
    g_strfreev(got);
    expect("/v1/batch", " \n\n", 400, "has no requests");
    expect("/v1/batch?order=random", "{}", 400, "order must be input or done");
    GString *many = g_string_new(NULL);
    for (unsigned i = 0; i < 1001; i++) g_string_append(many, "{}\n");
    expect("/v1/batch", many->str, 400, "limit_count");
    g_string_free(many, TRUE);
    end();
}

/* The events arrive in order: accepted, one for each family, the verdict. */
Test(serve_alone, event_stream_shows_progress)
{
    struct answer answer;
    begin(NULL);
    as = curl_slist_append(NULL, "Accept: text/event-stream");
    CURL *curl = prepare("/v1/judge", "{\"id\":\"a\"," COUNT "}", strlen("{\"id\":\"a\"," COUNT "}"), &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_cleanup(curl);
    cr_expect(g_str_has_prefix(answer.body->str, "event: accepted\ndata: {\"id\":\"a\"}\n\n"), "%s", answer.body->str);
    cr_expect(
        strstr(answer.body->str, "event: progress\ndata: {\"candidate\":0,\"candidates\":1,\"family\":\"join\"}\n\n"));
    const char *verdict = strstr(answer.body->str, "event: verdict\ndata: {");
    cr_expect(verdict && strstr(verdict, "\"validated\"") && g_str_has_suffix(verdict, "}\n\n"), "%s",
              answer.body->str);
    g_string_free(answer.body, TRUE);
    expect("/v1/judge", "{\"id\":\"b\"}", 200, "event: problem\ndata: {");
    expect("/v1/judge?wait_ms=0", "{\"id\":\"c\"," COUNT "}", 200, "event: accepted");
    curl_slist_free_all(as);
    as = NULL;
    end();
}

/* A request may deny more columns, but not fewer. */
Test(serve_alone, request_cannot_expose_denied_columns)
{
    static const char names[] =
        "{\"db\":\"shop\",\"question\":\"Name the customers.\",\"expose\":\"rows\",\"deny_columns\":[\"orders.id\"],"
        "\"candidates\":[\"SELECT name FROM customer\"]}",
                      ids[] = "{\"db\":\"shop\",\"question\":\"Name the "
                              "orders.\",\"expose\":\"rows\",\"deny_columns\":[\"orders.id\"],"
                              "\"candidates\":[\"SELECT id FROM orders\"]}",
                      open[] = "{\"db\":\"shop\",\"question\":\"Name the "
                               "customers.\",\"expose\":\"rows\",\"candidates\":[\"SELECT id FROM customer\"]}";
    begin("--deny-column=customer.name");
    expect("/v1/judge", names, 200, "\"digest\":null");
    expect("/v1/judge", ids, 200, "\"digest\":null");
    expect("/v1/judge", open, 200, "\"sample\":");
    end();
}

Test(serve_alone, server_describes_itself)
{
    begin(NULL);
    expect("/openapi.json", NULL, 200, "\"/v1/verdicts/{id}/answers\"");
    expect("/openapi.json", "{}", 405, "GET");
    GString *long_name = g_string_new("/v1/databases/a");
    for (unsigned i = 0; i < 80; i++) g_string_append(long_name, "%F0%9D%90%93"); /* truncated within a character */
    expect(long_name->str, NULL, 404, "\"code\":\"db_missing\"");
    g_string_free(long_name, TRUE);
    expect("/v1/verdicts/a", "{}", 405, "GET");
    end();
}

static bool has_posted(void *collector)
{
    return fake_model_requests(collector, "/v1/traces") > 0;
}

/* The trace context of the caller may also be a field of the request. */
Test(serve_alone, spans_are_children_of_callers_span)
{
    static const struct fake_step taken = {.body = "{}"};
    struct fake_model *collector = fake_model_start();
    char *option = g_strconcat("--otlp=", fake_model_url(collector), NULL);
    fake_model_script(collector, "/v1/traces", &taken, 1);
    begin(option);
    expect("/v1/judge",
           "{\"id\":\"a\",\"traceparent\":\"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\"," COUNT "}", 200,
           "validated");
    cr_assert(wait_until(has_posted, collector, START_MS));
    end();
    const char *body = fake_model_body(collector, "/v1/traces", 0);
    cr_expect(strstr(body, "\"traceId\":\"0af7651916cd43dd8448eb211c80319c\""), "%s", body);
    GString *all = g_string_new(NULL);
    for (unsigned i = 0; i < fake_model_requests(collector, "/v1/traces"); i++)
        g_string_append(all, fake_model_body(collector, "/v1/traces", i));
    cr_expect(strstr(all->str, "\"name\":\"serve\"") && strstr(all->str, "\"name\":\"decide\""), "%s", all->str);
    cr_expect(strstr(all->str, "\"parentSpanId\":\"b7ad6b7169203331\""), "%s", all->str);
    g_string_free(all, TRUE);
    fake_model_stop(collector);
    g_free(option);
}

Test(serve_alone, stored_verdicts_survive_restart)
{
    begin("--keep=verdicts.sqlite");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "validated");
    end();
    begin("--keep=verdicts.sqlite");
    expect("/v1/verdicts/a", NULL, 200, "\"id\":\"a\"");
    expect("/v1/verdicts/b", NULL, 404, "unknown_id");
    end();
}

Test(serve_alone, second_process_on_kept_file_is_refused)
{
    begin("--keep=verdicts.sqlite");
    struct run second = assay("serve", "--db-root=.", "--http=127.0.0.1:0", "--keep=./verdicts.sqlite");
    cr_expect_eq(second.status, 2);
    cr_expect(strstr(second.err, "is in use by another process"), "%s", second.err);
    run_free(&second);
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "validated");
    expect("/v1/verdicts/a", NULL, 200, "\"id\":\"a\"");
    end();
}

/* A killed process must not leave a lock that prevents a restart. */
Test(serve_alone, kept_file_of_killed_process_opens)
{
    int status;
    begin("--keep=verdicts.sqlite");
    kill(server, SIGKILL);
    cr_assert_eq(waitpid(server, &status, 0), server);
    begin("--keep=verdicts.sqlite");
    end();
}

static void use_token(const char *token)
{
    char *header = token ? g_strdup_printf("Authorization: Bearer %s", token) : NULL;
    curl_slist_free_all(as);
    as = header ? curl_slist_append(NULL, header) : NULL;
    g_free(header);
}

static void write_tokens(const char *name)
{
    char *acme = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "acme's", -1),
         *beta = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "beta's", -1);
    char *text = g_strdup_printf("{\"tokens_version\":1,\"tenants\":{"
                                 "\"acme\":{\"sha256\":[\"%s\"],\"databases\":[\"shop\"]},"
                                 "\"beta\":{\"sha256\":[\"%s\"],\"databases\":[\"%s\"]}}}",
                                 acme, beta, name);
    cr_assert(g_file_set_contents("tokens.json", text, -1, NULL));
    g_free(text);
    g_free(acme);
    g_free(beta);
}

static bool beta_may_ask(void *ctx)
{
    struct answer answer;
    CURL *curl = prepare("/v1/judge", "{" COUNT "}", strlen("{" COUNT "}"), &answer);
    (void)ctx;
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    g_string_free(answer.body, TRUE);
    return answer.status == 200;
}

Test(serve_alone, token_identifies_tenant_and_rights)
{
    const char *const options[] = {"--tokens=tokens.json", "--keep=verdicts.sqlite", NULL};
    write_tokens("other");
    begin_with(options);
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 401, "unauthorized");
    use_token("nobody's");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 401, "unauthorized");
    use_token("beta's");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 403, "forbidden");
    expect("/v1/batch", "{\"id\":\"a\"," COUNT "}", 200, "forbidden");
    use_token("acme's");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "validated");
    expect("/v1/verdicts/a", NULL, 200, "\"id\":\"a\"");
    use_token("beta's");
    expect("/v1/verdicts/a", NULL, 404, "unknown_id");
    expect("/v1/verdicts/a/answers", "{\"choice\":\"none\"}", 404, "unknown_id");
    write_tokens("shop");
    cr_expect(wait_until(beta_may_ask, NULL, START_MS), "the new file does not count");
    use_token(NULL);
    end();
}

/* Both appear in the log. */
static bool is_said(void *ctx)
{
    char *log = read_file(".err");
    bool said = log && strstr(log, ctx);
    g_free(log);
    return said;
}

/* Sends `json` as POST, or a GET if it is NULL. Returns the body. Checks that the body names no file, server or role.
 * Free with g_free. */
static char *placeless(const char *path, const char *json)
{
    struct answer answer;
    char *here = g_get_current_dir();
    const char *const places[] = {here, ".sqlite", "127.0.0.1", "hidden_role", "hidden_db"};
    CURL *curl = prepare(path, json, json ? strlen(json) : 0, &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_cleanup(curl);
    for (unsigned i = 0; i < G_N_ELEMENTS(places); i++)
        cr_expect_null(strstr(answer.body->str, places[i]), "%s: '%s' in %s", path, places[i], answer.body->str);
    g_free(here);
    return g_string_free(answer.body, FALSE);
}

static void expect_placeless(const char *path, const char *json, const char *says)
{
    char *body = placeless(path, json);
    cr_expect(strstr(body, says), "%s: no '%s' in %s", path, says, body);
    g_free(body);
}

#define TOOL(name, arguments)                                                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name                             \
    "\",\"arguments\":" arguments "}}"
#define SQL_OF(db) "{\"db\":\"" db "\",\"question\":\"How many?\",\"candidates\":[\"SELECT 1\"]}"
#define OF(db)     "{\"db\":\"" db "\",\"question\":\"How many?\",\"deadline_ms\":1500,\"candidates\":[\"SELECT 1\"]}"

/* The log may contain the locations, with the name of the database. */
Test(serve_alone, file_locations_reach_no_caller)
{
    static const char means[] = "'gone': the database does not exist";
    char *here = g_get_current_dir();
    char *config = g_strdup_printf("databases:\n  gone: {path: %s/gone.sqlite}\n"
                                   "  away: {path: host=127.0.0.1 port=1 dbname=hidden_db user=hidden_role}\n",
                                   here);
    write_file("my.yaml", config);
    begin("--config=my.yaml");
    expect_placeless("/v1/judge", OF("gone"), means);
    expect_placeless("/v1/batch", OF("gone"), means);
    expect_placeless("/v1/databases/gone", NULL, means);
    expect_placeless("/v1/judge", OF("away"), "a remote service does not answer");
    expect_placeless("/v1/batch", OF("away"), "a remote service does not answer");
    expect_placeless("/v1/databases/away", NULL, "'away': ");
    expect_placeless("/v1/judge", OF("nowhere"), "'nowhere': the database does not exist");
    as = curl_slist_append(NULL, "Accept: text/event-stream");
    expect_placeless("/v1/judge", OF("gone"), means);
    expect_placeless("/v1/judge", OF("away"), "a remote service does not answer");
    curl_slist_free_all(as);
    as = curl_slist_append(NULL, "Accept: application/json");
    as = curl_slist_append(as, "MCP-Protocol-Version: 2025-06-18");
    expect_placeless("/mcp", TOOL("judge_sql", SQL_OF("gone")), "the database does not exist");
    expect_placeless("/mcp", TOOL("explain_sql", "{\"db\":\"gone\",\"sql\":\"SELECT 1\"}"),
                     "the database does not exist");
    expect_placeless("/mcp", TOOL("describe_schema", "{\"db\":\"gone\"}"), "the database does not exist");
    expect_placeless("/mcp", TOOL("judge_sql", SQL_OF("away")), "NOT VALIDATED");
    expect_placeless("/mcp", TOOL("explain_sql", "{\"db\":\"away\",\"sql\":\"SELECT 1\"}"), "cannot be used");
    curl_slist_free_all(as);
    as = NULL;
    cr_expect(is_said("gone.sqlite") && is_said("\"db\":\"gone\""), "the log: %s", read_file(".err"));
    end();
    g_free(config);
    g_free(here);
}

static void write_denying(const char *entry)
{
    char *acme = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "acme's", -1);
    char *text = g_strdup_printf("{\"tokens_version\":1,\"tenants\":{\"acme\":{\"sha256\":[\"%s\"],\"databases\":"
                                 "[\"shop\"],\"deny_columns\":[\"%s\"]}}}",
                                 acme, entry);
    cr_assert(g_file_set_contents("tokens.json", text, -1, NULL));
    g_free(text);
    g_free(acme);
}

/* An entry of a token file that matches no column is an error at the start of the server. If the file changes later,
 * the previous version stays in effect. */
Test(serve_alone, unmatched_denied_columns_of_tokens_are_refused)
{
    write_denying("customer.nmae");
    struct run run = assay("serve", "--db-root=.", "--http=127.0.0.1:0", "--tokens=tokens.json");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "tokens.json: tenant 'acme': denied column 'customer.nmae' matches no column"), "%s",
              run.err);
    run_free(&run);
    write_denying("main.customer.*");
    begin("--tokens=tokens.json");
    use_token("acme's");
    expect("/v1/databases/shop", NULL, 200, "\"denied\":true");
    write_denying("customers.name");
    cr_expect(wait_until(is_said, "denied column 'customers.name' matches no column", START_MS));
    expect("/v1/databases/shop", NULL, 200, "\"denied\":true");
    use_token(NULL);
    end();
}

Test(serve_alone, malformed_denied_columns_of_requests_are_refused)
{
    begin(NULL);
    expect("/v1/judge", "{\"id\":\"a\",\"deny_columns\":[\"customer.\"]," COUNT "}", 400,
           "the denied column 'customer.' is malformed: a part is empty");
    expect("/v1/batch", "{\"id\":\"a\",\"deny_columns\":[\"*\"]," COUNT "}", 200, "`*` needs its table");
    expect("/v1/judge", "{\"id\":\"b\",\"deny_columns\":[\"main.customer.*\"]," COUNT "}", 200, "\"id\":\"b\"");
    end();
}

static void make_certificate(void)
{
    char *out = NULL, *errors = NULL;
    int status = 0;
    const char *const args[] = {
        "openssl", "req",      "-x509", "-newkey", "rsa:2048", "-nodes",   "-keyout", "key.pem",
        "-out",    "cert.pem", "-days", "2",       "-subj",    "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1",
        NULL};
    cr_assert(g_spawn_sync(NULL, (char **)args, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &errors, &status, NULL) &&
                  status == 0,
              "openssl: %s", errors);
    g_free(out);
    g_free(errors);
}

static bool is_trusted(void *ctx)
{
    struct answer answer;
    CURL *curl = prepare("/v1/verdicts/a", NULL, 0, &answer);
    CURLcode code = curl_easy_perform(curl);
    (void)ctx;
    curl_easy_cleanup(curl);
    g_string_free(answer.body, TRUE);
    return code == CURLE_OK;
}

/* A request without TLS is not a handshake. A renewed certificate takes effect without a restart; an invalid one does
 * not. */
Test(serve_alone, tls_uses_current_certificate)
{
    const char *const options[] = {"--tls-cert=cert.pem", "--tls-key=key.pem", NULL};
    char plain[64];
    make_certificate();
    trusted = "cert.pem";
    begin_with(options);
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "validated");
    cr_assert(g_file_set_contents("key.pem", "half a key", -1, NULL));
    cr_assert(wait_until(is_said, "certificate: the new file is invalid", START_MS));
    expect("/v1/verdicts/a", NULL, 200, "validated");
    make_certificate();
    cr_expect(wait_until(is_trusted, NULL, START_MS), "the new certificate is not shown");
    g_snprintf(plain, sizeof plain, "http%s", base + strlen("https"));
    g_strlcpy(base, plain, sizeof base);
    cr_expect_not(is_trusted(NULL), "a plain caller is answered");
    trusted = NULL;
    end();
}

/* TLS encrypts the head of a request. So the HTTP library is the first to inspect it. */
Test(serve_alone, tls_applies_the_same_gate)
{
    static const struct {
        const char *fields[2];
        long status;
        const char *says;
    } rows[] = {{{"Authorization: Bearer a", "Authorization: Bearer b"}, 400, "duplicate"},
                {{"Origin: https://evil.example"}, 403, "cross-origin request"},
                {{"Origin: http://127.0.0.1"}, 403, "cross-origin request"},
                {{"Host: localhost:junk"}, 400, "is not HOST"},
                {{"Host: localhost", "Origin: https://localhost"}, 404, "unknown_id"}};
    const char *const options[] = {"--tls-cert=cert.pem", "--tls-key=key.pem", NULL};
    make_certificate();
    trusted = "cert.pem";
    begin_with(options);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        for (unsigned k = 0; k < 2 && rows[i].fields[k]; k++) as = curl_slist_append(as, rows[i].fields[k]);
        expect("/v1/verdicts/a", NULL, rows[i].status, rows[i].says);
        curl_slist_free_all(g_steal_pointer(&as));
    }
    expect("/v1/verdicts/a%00b", NULL, 400, "control character");
    trusted = NULL;
    end();
}

Test(serve_alone, public_address_requires_token_and_tls)
{
    static const char *const wrong[][8] = {{"--tokens=tokens.json"},
                                           {"--tls-cert=cert.pem", "--tls-key=key.pem"},
                                           {"--tokens=tokens.json", "--tls-cert=cert.pem"},
                                           {"--tokens=missing.json", "--tls-cert=cert.pem", "--tls-key=key.pem"},
                                           {"--tokens=tokens.json", "--tls-cert=cert.pem", "--tls-key=cert.pem"}};
    make_certificate();
    write_tokens("shop");
    for (unsigned i = 0; i < G_N_ELEMENTS(wrong); i++) {
        const char *args[12] = {"serve", "--db-root=.", "--http=0.0.0.0:0"};
        for (unsigned k = 0; wrong[i][k]; k++) args[3 + k] = wrong[i][k];
        struct run run = assay_with(NULL, args);
        cr_expect_eq(run.status, 2, "row %u: %s", i, run.err);
        run_free(&run);
    }
}

Test(serve_alone, answer_to_clarification_question_is_judged)
{
    begin("--policy=ask");
    expect("/v1/judge",
           "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"How many orders does each customer "
           "have?\",\"ask_gain\":0.01,\"candidates\":["
           "\"SELECT c.name, count(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id\","
           "\"SELECT c.name, count(o.id) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id\"]}",
           200, "Do you also want customers that have no order?");
    expect("/v1/verdicts/a/answers", "{\"choice\":\"none\"}", 200, "\"answers\":");
    end();
}

Test(serve_alone, concurrent_callers_get_their_own_verdicts)
{
    struct answer answers[CALLERS];
    CURLM *callers = curl_multi_init();
    int running = CALLERS;
    begin("--max-waiting=64");
    for (unsigned i = 0; i < CALLERS; i++) {
        char *json = g_strdup_printf("{\"id\":\"q%u\"," COUNT "}", i);
        CURL *curl = prepare("/v1/judge", json, strlen(json), &answers[i]);
        curl_multi_add_handle(callers, curl);
        g_free(json);
    }
    while (running) {
        cr_assert_eq(curl_multi_perform(callers, &running), CURLM_OK);
        curl_multi_poll(callers, NULL, 0, 100, NULL);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(callers, &running));) {
        CURL *curl = message->easy_handle;
        cr_expect_eq(message->data.result, CURLE_OK);
        curl_multi_remove_handle(callers, curl);
        curl_easy_cleanup(curl);
    }
    for (unsigned i = 0; i < CALLERS; i++) {
        char *id = g_strdup_printf("\"id\":\"q%u\"", i);
        cr_expect(strstr(answers[i].body->str, id) && strstr(answers[i].body->str, "\"validated\""), "%s",
                  answers[i].body->str);
        g_string_free(answers[i].body, TRUE);
        g_free(id);
    }
    curl_multi_cleanup(callers);
    end();
}

Test(serve_alone, trace_is_answered)
{
    struct made made = {.questions = 100, .layers = 2, .hidden = 6, .wrong = 0.15, .plain = 1.5, .seed = 1};
    gsize len;
    made_predictor("predictor", &made);
    begin("--predictor=predictor");
    GBytes *message = made_message(&made);
    const void *bytes = g_bytes_get_data(message, &len);
    expect_bytes("/v1/linkings", bytes, len, 200, "{\"id\":\"q0\",\"linking\":");
    g_bytes_unref(message);
    end();
}

#define RUN_LINE(id, status)                                                                                           \
    "{\"schema_version\":2,\"id\":\"" id "\",\"db\":\"shop\",\"status\":\"" status                                     \
    "\",\"sql\":\"SELECT 1\",\"candidates\":[],\"p_correct\":0.75}\n"

/* Writes a file so old that it counts as complete. */
static void write_old(const char *path, const char *text)
{
    write_file(path, text);
    cr_assert_eq(g_utime(path, &(struct utimbuf){1700000000, 1700000000}), 0);
}

static bool is_ready(void *ctx)
{
    struct answer answer;
    CURL *curl = prepare(ctx, NULL, 0, &answer);
    curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    g_string_free(answer.body, TRUE);
    return answer.status == 200;
}

Test(serve_alone, runs_are_listed_filtered_and_compared)
{
    g_mkdir("runs", 0700);
    write_old("secret.jsonl", RUN_LINE("secret", "failed"));
    write_old("runs/a.jsonl", RUN_LINE("one", "validated") "torn\n" RUN_LINE("two", "failed"));
    write_old("runs/b.jsonl", RUN_LINE("one", "abstained"));
    write_old("runs/none.jsonl", "{}\n");
    cr_assert_eq(symlink("../secret.jsonl", "runs/link.jsonl"), 0);
    begin("--runs=runs");
    expect("/v1/runs", NULL, 200, "\"name\":\"a.jsonl\"");
    cr_assert(wait_until(is_ready, (void *)"/v1/runs/a.jsonl", START_MS));
    expect("/v1/runs/a.jsonl", NULL, 200, "\"broken_lines\":1");
    expect("/v1/runs", NULL, 200, "\"state\":\"ready\"");
    expect("/v1/runs/a.jsonl/verdicts?status=failed", NULL, 200,
           "{\"total\":1,\"verdicts\":[{\"number\":2,\"id\":\"two\"");
    expect("/v1/runs/a.jsonl/verdicts?p_from=0.7&sort=-p&offset=1&limit=1", NULL, 200, "\"id\":\"two\"");
    expect("/v1/runs/a.jsonl/verdicts?status=great", NULL, 400, "status");
    expect("/v1/runs/a.jsonl/verdicts?p_to=x", NULL, 400, "p_to");
    expect("/v1/runs/a.jsonl/verdicts?offset=-1", NULL, 400, "offset");
    expect("/v1/runs/a.jsonl/verdicts/2", NULL, 200, "\"id\":\"two\"");
    expect("/v1/runs/a.jsonl/verdicts/3", NULL, 404, "verdict_missing");
    write_file("log.jsonl", "{\"id\":\"two\",\"db\":\"shop\",\"question\":\"How many lamps?\",\"candidates\":[]}\n");
    struct run run = assay("report", "runs/a.jsonl", "--log=log.jsonl", "--format=json");
    cr_expect_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    expect("/v1/runs/a.jsonl/verdicts?text=lamps", NULL, 200, "{\"total\":1,"); /* by now another index file exists */
    expect("/v1/runs/a.jsonl/diff/b.jsonl", NULL, 200, "\"only_in\": \"a\"");
    cr_assert(!is_ready((void *)"/v1/runs/none.jsonl"));
    static const char *const elsewhere[] = {"/v1/runs/link.jsonl",
                                            "/v1/runs/..%2fsecret.jsonl",
                                            "/v1/runs/a.jsonl.index",
                                            "/v1/runs/.jsonl",
                                            "/v1/runs/nowhere.jsonl",
                                            "/v1/runs/a.jsonl/diff/link.jsonl",
                                            "/v1/runs/a.jsonl/diff/..%2fsecret.jsonl",
                                            "/v1/runs/a.jsonl/verdicts/1/2"};
    for (unsigned i = 0; i < G_N_ELEMENTS(elsewhere); i++) expect(elsewhere[i], NULL, 404, "run_missing");
    end();
}

/* A dropped request is reported at once, and no part of it remains. */
Test(serve_alone, dropped_verdicts_are_read_once)
{
    g_mkdir("runs", 0700);
    g_mkdir("tmp", 0700);
    g_setenv("TMPDIR", "tmp", TRUE);
    begin("--runs=runs");
    expect("/v1/runs?name=mine.jsonl", RUN_LINE("one", "validated") RUN_LINE("two", "failed"), 200,
           "\"name\":\"mine.jsonl\"");
    expect("/v1/runs", "no verdicts\n", 400, "no verdicts");
    GDir *dir = g_dir_open("tmp", 0, NULL);
    cr_expect_null(g_dir_read_name(dir));
    g_dir_close(dir);
    end();
    g_unsetenv("TMPDIR");
}

/* A web site may let its host name resolve to this machine. The browser would then send requests here, and the site's
 * page could read the answers. */
Test(serve_alone, request_with_foreign_host_name_is_refused)
{
    begin(NULL);
    as = curl_slist_append(NULL, "Host: evil.example");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 421, "unknown host");
    curl_slist_free_all(as);
    as = curl_slist_append(NULL, "Host: localhost.evil.example");
    expect("/v1/verdicts/a", NULL, 421, "unknown host");
    curl_slist_free_all(as);
    as = curl_slist_append(NULL, "Host: LOCALHOST:80");
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"validated\"");
    curl_slist_free_all(as);
    as = NULL;
    end();
}

Test(serve_alone, remote_callers_are_refused_by_default)
{
    struct run run = assay("serve", "--db-root=.", "--http=0.0.0.0:0");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "--open"), "%s", run.err);
    run_free(&run);
    run = assay("serve", "--http=127.0.0.1:0");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "--db-root"), "%s", run.err);
    run_free(&run);
    const char *const args[] = {"serve", "--db-root=.", "--http=0.0.0.0:0", "--open", "--log-form=json", NULL};
    server = assay_start(args);
    cr_assert(wait_until(has_port, NULL, START_MS), "%s", read_file(".err"));
    expect("/v1/judge", "{\"id\":\"a\"," COUNT "}", 200, "\"validated\"");
    end();
}

/* A page whose host name resolves to this address counts as same-origin. Only the Host field shows the difference. */
Test(serve_alone, open_server_answers_only_named_hosts)
{
    static const struct {
        const char *host;
        long status;
        const char *says;
    } rows[] = {{"Host: evil.example", 421, "unknown host"},
                {"Host: assay.example", 200, "shop"},
                {"Host: localhost:1", 200, "shop"}};
    const char *const options[] = {"--open", "--host=assay.example", NULL};
    begin_with(options);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        as = curl_slist_append(NULL, rows[i].host);
        expect("/v1/databases", NULL, rows[i].status, rows[i].says);
        curl_slist_free_all(g_steal_pointer(&as));
    }
    end();
    struct run run = assay("serve", "--db-root=.", "--http=127.0.0.1:0", "--host=assay.example:80");
    cr_expect(run.status == 2 && strstr(run.err, "without a port"), "%s", run.err);
    run_free(&run);
}

Test(serve_alone, permitted_databases_are_browsable)
{
    begin("--deny-column=customer.name");
    expect("/v1/databases", NULL, 200, "{\"name\":\"shop\"}");
    expect("/v1/databases/shop", NULL, 200, "\"samples\"");
    expect("/v1/databases/shop", NULL, 200, "\"name\":\"name\",\"type\":\"TEXT\",\"not_null\":true,\"denied\":true}");
    expect("/v1/databases/nowhere", NULL, 404, "'nowhere': the database does not exist");
    expect("/v1/databases/../shop", NULL, 404, "\"code\"");
    expect("/v1/metrics", NULL, 200, "assay_verdicts_total{decision=\"validated\"} 0");
    expect("/", NULL, 200, "<!doctype html>");
    end();
}

/* --- tenants of one process
 * ----------------------------------------------------------------------------------------- */

/* Returns a request of `n` different candidates that run until they are cancelled. Free with g_free. */
static char *never_ending(const char *head, unsigned n)
{
    GString *json = g_string_new(NULL);
    g_string_printf(json, "{%s\"db\":\"shop\",\"question\":\"How many?\",\"strategy\":\"rerank\",\"candidates\":[",
                    head);
    for (unsigned i = 0; i < n; i++)
        g_string_append_printf(
            json,
            "%s\"WITH RECURSIVE n(i) AS (SELECT %u UNION ALL SELECT i + 1 FROM n WHERE i > 0) SELECT "
            "count(*) FROM n, customer\"",
            i ? "," : "", i + 1);
    g_string_append(json, "]}");
    return g_string_free(json, FALSE);
}

static void expect_never_ending(const char *path, const char *head, unsigned n, long status, const char *says)
{
    char *json = never_ending(head, n);
    expect(path, json, status, says);
    g_free(json);
}

/* Sends the request, and disconnects without reading the answer. */
static void leave_waiting(const char *path, const char *head, unsigned n)
{
    struct answer answer;
    char *json = never_ending(head, n);
    CURL *curl = prepare(path, json, strlen(json), &answer);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 1000L);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OPERATION_TIMEDOUT, "it was answered: %s", answer.body->str);
    curl_easy_cleanup(curl);
    g_string_free(answer.body, TRUE);
    g_free(json);
}

static bool is_found(void *path)
{
    struct answer answer;
    CURL *curl = prepare(path, NULL, 0, &answer);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_easy_cleanup(curl);
    g_string_free(answer.body, TRUE);
    return answer.status == 200;
}

static bool is_idle(void *ctx)
{
    struct answer answer;
    CURL *curl = prepare("/v1/metrics", NULL, 0, &answer);
    (void)ctx;
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_cleanup(curl);
    bool idle = strstr(answer.body->str, "\nassay_state_open_requests 0\n") != NULL;
    g_string_free(answer.body, TRUE);
    return idle;
}

Test(serve_alone, hostile_tenant_delays_no_other)
{
    write_tokens("shop");
    begin("--tokens=tokens.json");
    use_token("acme's");
    expect_never_ending("/v1/judge?wait_ms=0", "\"id\":\"h1\",", 60, 202, "h1");
    expect_never_ending("/v1/judge?wait_ms=0", "\"id\":\"h2\",", 60, 202, "h2");
    use_token("beta's");
    expect("/v1/judge", "{" COUNT "}", 200, "validated");
    expect("/v1/batch", "{" COUNT "}\n{" COUNT "}", 200, "validated");
    use_token("acme's");
    expect("/v1/verdicts/h1", NULL, 404, "unknown_id");
    expect("/v1/verdicts/h2", NULL, 404, "unknown_id");
    cr_expect(wait_until(is_found, "/v1/verdicts/h1", START_MS), "it does not end by its deadline");
    expect("/v1/verdicts/h1", NULL, 200, "\"reason\":\"deadline\"");
    use_token(NULL);
    end();
}

Test(serve_alone, tenant_over_share_is_told_to_retry)
{
    const char *const options[] = {"--tokens=tokens.json", "--per-tenant=2", "--deadline-ms=3000", NULL};
    write_tokens("shop");
    begin_with(options);
    use_token("acme's");
    expect_never_ending("/v1/judge?wait_ms=0", "\"id\":\"h1\",", 60, 202, "h1");
    expect_never_ending("/v1/judge?wait_ms=0", "\"id\":\"h2\",", 60, 202, "h2");
    expect("/v1/judge", "{" COUNT "}", 503, "\"code\":\"full\"");
    use_token("beta's");
    expect("/v1/judge", "{" COUNT "}", 200, "validated");
    use_token("acme's");
    expect("/v1/batch", "{" COUNT "}", 200, "validated"); /* this request first waits for a slot */
    use_token(NULL);
    end();
}

Test(serve_alone, request_ends_once_its_work_is_spent)
{
    const char *const options[] = {"--work-ms=1000", "--deadline-ms=-1", NULL};
    begin_with(options);
    expect_never_ending("/v1/judge", "", 60, 200, "\"reason\":\"deadline\"");
    end();
}

/* Without a deadline the request would run for minutes. */
Test(serve_alone, work_is_cancelled_when_its_only_caller_leaves)
{
    const char *const options[] = {"--work-ms=0", "--deadline-ms=-1", NULL};
    begin_with(options);
    leave_waiting("/v1/judge", "", 200);
    cr_expect(wait_until(is_idle, NULL, START_MS), "/v1/judge");
    leave_waiting("/v1/batch", "", 200);
    cr_expect(wait_until(is_idle, NULL, START_MS), "/v1/batch");
    end();
}

Test(serve_alone, known_id_keeps_work_going_without_its_caller)
{
    begin("--deadline-ms=3000");
    leave_waiting("/v1/judge", "\"id\":\"known\",", 60);
    cr_expect(wait_until(is_found, "/v1/verdicts/known", START_MS));
    end();
}

Test(serve_alone, token_shows_only_its_databases)
{
    write_tokens("other");
    begin("--tokens=tokens.json");
    expect("/", NULL, 200, "<!doctype html>");
    expect("/v1/databases", NULL, 401, "unauthorized");
    use_token("beta's");
    expect("/v1/databases", NULL, 200, "{\"databases\":[]}");
    expect("/v1/databases/shop", NULL, 403, "forbidden");
    expect("/v1/metrics", NULL, 403, "forbidden");
    use_token("acme's");
    expect("/v1/databases", NULL, 200, "shop");
    expect("/v1/databases/shop", NULL, 200, "\"tables\"");
    use_token(NULL);
    end();
}
