/* Tests JSON: log lines and their errors, request digests, verdicts as documented, and the texts of invalid SQL. */
#include "proto/message/findings.h"
#include "tests/support/leak.h"
#include "tests/unit/proto/samples.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arena arena;
static void begin(void)
{
    arena_init(&arena, 0);
}
static void end(void)
{
    arena_free(&arena);
    leak_check();
}
TestSuite(json, .init = begin, .fini = end);

static enum err_code parse(const char *line, struct msg_request **out, struct err *err)
{
    return msg_request_from_json(&arena, line, strlen(line), out, err);
}

Test(json, log_line_is_parsed)
{
    struct msg_request *r;
    const char *line =
        "{\"id\":\"spider-0\",\"db\":\"concert_singer\",\"question\":\"How many?\",\"evidence\":null,"
        "\"candidates\":[\"SELECT 1\",{\"sql\":\"SELECT 2\",\"count\":4,\"score\":-1.5,\"generators\":[\"a\"]}],"
        "\"gold\":\"SELECT 3\",\"meta\":{\"b\": [1, 2]},\"unknown\":{}}";
    cr_assert_eq(parse(line, &r, NULL), ERR_OK);
    cr_assert_str_eq(r->id, "spider-0");
    cr_assert_null(r->evidence);
    cr_assert_eq(r->n_candidates, 2);
    cr_assert_str_eq(r->candidates[0].sql.bytes, "SELECT 1");
    cr_assert_eq(r->candidates[0].count, 0);
    cr_assert(isnan(r->candidates[0].score));
    cr_assert_eq(r->candidates[1].count, 4);
    cr_assert_float_eq(r->candidates[1].score, -1.5, 0);
    cr_assert_str_eq(r->candidates[1].generators[0], "a");
    cr_assert_str_eq(r->meta, "{\"b\":[1,2]}");
    cr_assert_eq(r->options.strategy, MSG_STRATEGY_UNSET);
}

Test(json, options_are_members_of_line)
{
    struct msg_request *r;
    cr_assert_eq(
        parse("{\"db\":\"d\",\"candidates\":[],\"deadline_ms\":-1,\"speculate\":3,\"strategy\":\"rerank\",\"policy\":"
              "\"ask\",\"expose\":\"none\",\"threshold\":0.9,\"families\":[\"join\"],\"max_iterations\":2,"
              "\"alpha\":0,\"deny_columns\":[\"a.b\"],\"explain\":false,\"repair\":\"apply\",\"repair_margin\":0.2,"
              "\"delta\":0.25,\"ask_gain\":0.2,\"cache\":false,\"answers\":[{\"question\":\"q\",\"choice\":\"none\"}],"
              "\"linking\":{"
              "\"tables\":[\"t\"],\"uncertain\":[{\"stage\":\"columns\",\"name\":\"t.c\",\"p\":0.5},{\"stage\":"
              "\"tables\"}]}}",
              &r, NULL),
        ERR_OK);
    cr_assert_null(r->id);
    cr_assert_eq(r->options.deadline_ms, -1);
    cr_assert_eq(r->options.speculate, 3);
    cr_assert_eq(r->options.strategy, MSG_RERANK);
    cr_assert_eq(r->options.policy, MSG_ASK);
    cr_assert_eq(r->options.expose, MSG_EXPOSE_NONE);
    cr_assert_float_eq(r->options.threshold, 0.9, 0);
    cr_assert_str_eq(r->options.families[0], "join");
    cr_assert_str_eq(r->options.deny_columns[0], "a.b");
    cr_assert_eq(r->options.explain, MSG_EXPLAIN_OFF);
    cr_assert_eq(r->options.repair, MSG_REPAIR_APPLY);
    cr_assert_float_eq(r->options.repair_margin, 0.2, 0);
    cr_assert_float_eq(r->options.delta, 0.25, 0);
    cr_assert_float_eq(r->options.ask_gain, 0.2, 0);
    cr_assert(r->options.no_cache);
    cr_assert_eq(r->n_answers, 1);
    cr_assert_str_eq(r->answers[0].question, "q");
    cr_assert_str_eq(r->answers[0].choice, "none");
    cr_assert(r->linking->n_tables == 1 && r->linking->n_columns == 0 && r->linking->n_uncertain == 2);
    cr_assert_str_eq(r->linking->uncertain[0].name, "t.c");
    cr_assert(!r->linking->uncertain[1].name && isnan(r->linking->uncertain[1].p));
    cr_assert_eq(parse("{\"db\":\"d\",\"explain\":\"full\",\"strategy\":\"cyclesql\"}", &r, NULL), ERR_OK);
    cr_assert_eq(r->options.explain, MSG_EXPLAIN_FULL);
    cr_assert_eq(r->options.strategy, MSG_CYCLESQL);
}

static const struct {
    const char *line;
    enum err_code code;
    const char *says;
} bad[] = {
    {"", ERR_MALFORMED, "not JSON"},
    {"not json", ERR_MALFORMED, "not JSON"},
    {"[]", ERR_MALFORMED, "object"},
    {"{\"db\":\"d\"} trailing", ERR_MALFORMED, "not JSON"},
    {"{\"db\":\"d\",\"db\":\"e\"}", ERR_MALFORMED, "duplicate"},
    {"{\"id\":\"x\"}", ERR_MALFORMED, "db"},
    {"{\"db\":7}", ERR_MALFORMED, "db"},
    {"{\"db\":\"d\",\"question\":[]}", ERR_MALFORMED, "question"},
    {"{\"db\":\"d\",\"question\":\"\xff\"}", ERR_ENCODING, "not JSON"},
    {"{\"db\":\"d\",\"question\":\"\\u0000\"}", ERR_ENCODING, "not JSON"},
    {"{\"db\":\"d\",\"candidates\":\"SELECT 1\"}", ERR_MALFORMED, "candidates"},
    {"{\"db\":\"d\",\"candidates\":[1]}", ERR_MALFORMED, "candidates"},
    {"{\"db\":\"d\",\"candidates\":[{\"count\":1}]}", ERR_MALFORMED, "sql"},
    {"{\"db\":\"d\",\"candidates\":[{\"sql\":\"x\",\"count\":-1}]}", ERR_MALFORMED, "count"},
    {"{\"db\":\"d\",\"candidates\":[{\"sql\":\"x\",\"count\":1.5}]}", ERR_MALFORMED, "count"},
    {"{\"db\":\"d\",\"candidates\":[{\"sql\":\"x\",\"score\":\"high\"}]}", ERR_MALFORMED, "score"},
    {"{\"db\":\"d\",\"strategy\":\"best\"}", ERR_MALFORMED, "strategy"},
    {"{\"db\":\"d\",\"explain\":\"fully\"}", ERR_MALFORMED, "explain"},
    {"{\"db\":\"d\",\"explain\":1}", ERR_MALFORMED, "explain"},
    {"{\"db\":\"d\",\"repair\":\"yes\"}", ERR_MALFORMED, "repair"},
    {"{\"db\":\"d\",\"repair_margin\":-1}", ERR_MALFORMED, "repair_margin"},
    {"{\"db\":\"d\",\"delta\":2}", ERR_MALFORMED, "delta"},
    {"{\"db\":\"d\",\"ask_gain\":\"much\"}", ERR_MALFORMED, "ask_gain"},
    {"{\"db\":\"d\",\"cache\":\"off\"}", ERR_MALFORMED, "cache"},
    {"{\"db\":\"d\",\"answers\":{}}", ERR_MALFORMED, "answers"},
    {"{\"db\":\"d\",\"answers\":[\"none\"]}", ERR_MALFORMED, "answers"},
    {"{\"db\":\"d\",\"answers\":[{\"question\":\"q\"}]}", ERR_MALFORMED, "answers"},
    {"{\"db\":\"d\",\"answers\":[{\"question\":\"q\",\"choice\":7}]}", ERR_MALFORMED, "choice"},
    {"{\"db\":\"d\",\"linking\":[]}", ERR_MALFORMED, "linking"},
    {"{\"db\":\"d\",\"linking\":{\"tables\":[1]}}", ERR_MALFORMED, "tables"},
    {"{\"db\":\"d\",\"linking\":{\"uncertain\":7}}", ERR_MALFORMED, "not a list"},
    {"{\"db\":\"d\",\"linking\":{\"uncertain\":[{\"stage\":\"rows\"}]}}", ERR_MALFORMED, "neither tables nor columns"},
    {"{\"db\":\"d\",\"linking\":{\"uncertain\":[{\"stage\":\"tables\",\"p\":2}]}}", ERR_MALFORMED, "from 0 to 1"},
    {"{\"db\":\"d\",\"answers\":[0,0,0,0,0,0,0,0,0]}", ERR_LIMIT_COUNT, "8 are allowed"},
    {"{\"db\":\"d\",\"threshold\":1.5}", ERR_MALFORMED, "threshold"},
    {"{\"db\":\"d\",\"families\":[null]}", ERR_MALFORMED, "families"},
    {"{\"db\":\"d\",\"deadline_ms\":1e400}", ERR_MALFORMED, "not JSON"},
    {"{\"db\":\"d\",\"max_iterations\":99999999999}", ERR_MALFORMED, "max_iterations"},
};

Test(json, bad_lines_are_reported_with_reason)
{
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct msg_request *r = (void *)&r;
        struct err err = {0};
        cr_assert_eq(parse(bad[i].line, &r, &err), bad[i].code, "%s: %s", bad[i].line, err.text);
        cr_assert(strstr(err.text, bad[i].says), "%s: %s", bad[i].line, err.text);
        cr_assert_eq(err_class(err.code), ERR_CLASS_REJECT);
        cr_assert_null(r);
    }
}

Test(json, too_many_candidates_and_bytes_are_refused)
{
    size_t room = 4 << 20;
    char *line = malloc(room), *at = line;
    struct msg_request *r;
    struct err err = {0};
    at += sprintf(at, "{\"db\":\"d\",\"candidates\":[\"\"");
    for (unsigned i = 1; i < 10000; i++) at += sprintf(at, ",\"SELECT %u\"", i);
    sprintf(at, "]}");
    cr_assert_eq(parse(line, &r, &err), ERR_LIMIT_COUNT);
    cr_assert(strstr(err.text, "10000 candidates"), "%s", err.text);

    at = line + sprintf(line, "{\"db\":\"d\",\"question\":\"");
    memset(at, 'x', 1 << 20);
    strcpy(at + (1 << 20), "\"}");
    cr_assert_eq(parse(line, &r, &err), ERR_LIMIT_BYTES);
    cr_assert(strstr(err.text, "question"), "%s", err.text);
    free(line);
}

Test(json, deep_nesting_is_refused)
{
    char *line = malloc(200000);
    struct msg_request *r;
    strcpy(line, "{\"db\":\"d\",\"meta\":");
    memset(line + strlen(line), '[', 100000);
    line[18 + 100000] = '\0';
    cr_assert_neq(parse(line, &r, NULL), ERR_OK);
    free(line);
}

Test(json, request_round_trips)
{
    struct msg_request *again;
    char *text = msg_request_to_json(&sample_request);
    cr_assert_eq(parse(text, &again, NULL), ERR_OK, "%s", text);
    again->tag = sample_request.tag;
    char *second = msg_request_to_json(again);
    cr_assert_str_eq(second, text);
    free(second);
    free(text);
}

static void digest_of(const char *text, uint64_t out[2])
{
    struct msg_request *request;
    struct msg_buffer buffer = {0};
    struct err err = {0};
    uint64_t again[2];
    cr_assert_eq(parse(text, &request, &err), ERR_OK, "%s: %s", text, err.text);
    msg_request_digest(request, out);
    cr_assert_eq(msg_encode_request(&buffer, request), ERR_OK);
    cr_assert_eq(msg_decode_request(&arena, buffer.bytes, buffer.len, &request, NULL), ERR_OK);
    msg_request_digest(request, again);
    cr_expect_eq(memcmp(out, again, sizeof again), 0, "read from a message: %s", text);
    char *json = msg_request_to_json(request);
    cr_assert_eq(parse(json, &request, &err), ERR_OK, "%s: %s", json, err.text);
    msg_request_digest(request, again);
    cr_expect_eq(memcmp(out, again, sizeof again), 0, "written as JSON and read again: %s", text);
    free(json);
    msg_buffer_free(&buffer);
}

/* The digest identifies the request that a verdict answers. Every field that affects the judgement must change the
 * digest; no other field may. */
Test(json, digest_covers_fields_that_affect_judgement)
{
    static const char *const requests[] = {
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"e\",\"candidates\":[\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"question\":\"q\",\"candidates\":[\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"evidence\":\"q\",\"candidates\":[\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"gold\":\"q\",\"candidates\":[\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT 2\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT 1\",\"SELECT 1\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[{\"sql\":\"SELECT 1\",\"count\":2}]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[{\"sql\":\"SELECT 1\",\"generators\":[\"g\"]}]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT 1\"],\"strategy\":\"rerank\"}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT 1\"],\"deny_columns\":[\"t.c\"]}",
        "{\"id\":\"a\",\"db\":\"d\",\"candidates\":[\"SELECT "
        "1\"],\"linking\":{\"uncertain\":[{\"stage\":\"tables\"}]}}",
    };
    enum { N = sizeof requests / sizeof *requests };
    uint64_t digests[N][2], same[2];
    for (unsigned i = 0; i < N; i++) {
        digest_of(requests[i], digests[i]);
        for (unsigned k = 0; k < i; k++)
            cr_expect_neq(memcmp(digests[i], digests[k], sizeof same), 0, "%s\n%s", requests[i], requests[k]);
    }
    digest_of("{\"id\":\"b\",\"candidates\":[{\"sql\":\"SELECT 1\",\"score\":0.123456789}],\"db\":\"d\","
              "\"meta\":{\"x\":1.23456789},\"alpha\":0.1234567891,\"question\":\"\"}",
              same);
    cr_expect_eq(memcmp(same, digests[0], sizeof same), 0);
}

/* Files of verdicts and caches contain digests, so old digests must stay valid. The lengths of the questions lie just
 * below and above the block size of the hash. */
Test(json, digests_are_stable_across_versions)
{
    static const struct {
        int length;
        uint64_t digest[2];
    } cases[] = {
        {0, {0x7e1476dce708f4b7, 0x127fd541301325d6}},    {914, {0x01662847d67714a7, 0x2918de21a4f9007d}},
        {915, {0xf2edc01a732559b5, 0x54384e6a585a3732}},  {916, {0x62f1da0f958c10a9, 0x340225f173950979}},
        {5000, {0xc8051ee3ed1fc1a6, 0x24d9e4acdee72323}},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t digest[2];
        char *question = g_strnfill((gsize)cases[i].length, 'q');
        char *text =
            g_strdup_printf("{\"id\":\"a\",\"db\":\"d\",\"question\":\"%s\",\"candidates\":[\"SELECT 1\"]}", question);
        digest_of(text, digest);
        cr_expect_eq(memcmp(digest, cases[i].digest, sizeof digest), 0, "%d bytes", cases[i].length);
        g_free(text);
        g_free(question);
    }
}

/* Checks the verdict as users see it, with every key: architecture.md §3. */
Test(json, verdict_matches_documentation)
{
    char *text = msg_verdict_to_json(&sample_verdict);
    const char *expected =
        "{\"schema_version\":2,\"request_digest\":\"00000000000000030000000000000004\",\"id\":\"q-1\",\"db\":\"concert_"
        "singer\",\"status\":\"best_effort\",\"reason\":"
        "\"deadline\",\"message\":\"the "
        "deadline "
        "passed\",\"cause\":\"not enough evidence\",\"sql\":\"SELECT name FROM singer WHERE age > "
        "200\",\"chosen\":0,\"p_correct\":0.125,\"threshold\":0.5,"
        "\"entailment_threshold\":0.25,\"repair\":{\"applied\":true,\"sql\":\"SELECT name FROM singer WHERE age > 20 "
        "LIMIT 1\","
        "\"old_sql\":\"SELECT name FROM singer WHERE age > "
        "200\",\"of\":0,\"p_old\":0.125,\"p_correct\":0.875,\"reason\":"
        "\"no row of singer has age > 200\",\"source\":\"mender-1, "
        "correct/1\",\"steps\":[{\"clause\":\"WHERE\",\"was\":\"200\",\"now\":\"20\"},"
        "{\"clause\":\"LIMIT\",\"was\":null,\"now\":\"LIMIT 1\"}],\"proposals\":17},"
        "\"guarantee\":{\"alpha\":0.05,\"delta\":0.125,\"group\":\"all\",\"records\":312,\"status\":\"withdrawn\",\"p_"
        "value\":0.25,"
        "\"why\":\"its traffic has changed\"},"
        "\"llm\":{\"calls\":2,\"cached\":1,\"tokens_in\":1800,\"tokens_out\":240,\"cost\":0.125,\"source\":\"judge-1, "
        "signals/1 "
        "self_check/1\"},\"candidates\":[{\"sql\":\"SELECT "
        "name FROM singer WHERE age > "
        "200\",\"p_correct\":0.125,\"label_model_p\":0.25,"
        "\"entailment\":0.5,\"signals\":{\"empty_predicate\":\"fired\",\"abnormal_result\":\"unavailable\",\"limit_"
        "tie\":"
        "\"silent\"},\"unavailable\":{\"abnormal_result\":\"limit_time\"},\"findings\":[{\"signal\":\"empty_"
        "predicate\","
        "\"severity\":\"error\",\"message\":\"no row of singer has age > "
        "200\",\"clauses\":[{\"label\":\"WHERE\",\"text\":"
        "\"WHERE age > "
        "200\",\"start\":24,\"end\":39}],\"data\":{\"near\":[\"age\",\"aged\"],\"max\":\"61\"}},{\"signal\":"
        "\"invalid_sql\",\"severity\":\"note\",\"message\":\"no such "
        "column\",\"clauses\":[],\"data\":{}}],\"verifier\":\"builtin\",\"explanation\":"
        "\"names of singers older than 200\",\"explanation_polished\":{\"text\":\"singers older than 200, by "
        "name\",\"source\":"
        "\"editor-1, polish/1\"},\"explained\":{\"premise\":\"count singers | 6 | It counts the "
        "singers.\",\"digest\":\"00000000000000010000000000000002\",\"components\":\"8000000000000005\","
        "\"numbers\":{\"1\":0.5,\"2\":-3.0,\"300\":1e-20}},\"execution\":{\"rows\":6,\"columns\":2,\"ms\":0.25,"
        "\"digest\":"
        "\"00000000000000010000000000000002\",\"sample\":{\"columns\":[\"name\",\"age\"],\"rows\":[[\"Tribal "
        "King\",null],[]]}},"
        "\"why\":null},{\"sql\":\"SELECT "
        "1\",\"p_correct\":null,\"label_model_p\":null,\"entailment\":null,\"signals\":null,"
        "\"findings\":null,\"explanation\":null,\"execution\":null,\"same_as\":0,\"why\":\"repeats candidate "
        "1\"}],\"report\":"
        "[{\"signal\":\"empty_predicate\",\"cause\":\"data ambiguity\",\"description\":\"A condition selects "
        "nothing.\","
        "\"example\":\"age > 200\",\"instruction\":\"Use a value that occurs.\",\"clauses\":{\"WHERE\":[\"WHERE age > "
        "200\"]}}],"
        "\"questions\":[\"Is 200 an age?\"],"
        "\"clarification\":{\"id\":\"00c0ffee00c0ffee\",\"question\":\"Which of them do you mean?\",\"choices\":["
        "{\"id\":\"0123456789abcdef\",\"text\":\"only those where the age is more than "
        "200\",\"candidate\":0,\"rows\":6,"
        "\"sample\":{\"columns\":[\"name\",\"age\"],\"rows\":[[\"Tribal King\",null],[]]}},"
        "{\"id\":\"none\",\"text\":\"none of these\"}],\"gain\":0.375,\"request\":{\"db\":\"d\"}},"
        "\"answers\":[{\"question\":\"00c0ffee00c0ffee\",\"choice\":\"none\"}],"
        "\"unavailable\":[\"value\"],\"notes\":[\"the verifier could not be "
        "reached\"],\"cached\":true,\"iterations\":1,\"timings\":{\"total_ms\":2.5,"
        "\"worker_ms\":1.25},\"versions\":{\"assay\":\"0.1.0\"},\"gold\":\"SELECT name FROM "
        "singer\",\"meta\":{\"level\":3}}";
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(json, invalid_utf8_is_written_as_valid_json)
{
    struct msg_judged judged = {.sql = TEXT("SELECT '\xff'"), .p_correct = NAN};
    struct msg_verdict verdict = {.id = "x\xc3", .candidates = &judged, .n_candidates = 1, .p_correct = NAN};
    char *text = msg_verdict_to_json(&verdict);
    json_t *back = json_loads(text, 0, NULL);
    cr_assert(back, "%s", text);
    cr_assert_str_eq(json_string_value(json_object_get(back, "id")), "x\xef\xbf\xbd");
    json_decref(back);
    free(text);
}

Test(json, characters_and_numbers_are_valid_json)
{
    static const char sql[] = "a\"b\\\n\t\x01\0\x7f\xc3\xa9";
    struct msg_judged judged = {
        .sql = {sql, sizeof sql - 1}, .p_correct = 1e-7, .label_model_p = 1234567, .entailment = 1};
    struct msg_verdict verdict = {.id = "", .candidates = &judged, .n_candidates = 1, .p_correct = -0.0};
    struct msg_buffer buffer = {0};
    for (int again = 0; again < 2; again++) cr_assert_eq(msg_verdict_write_json(&buffer, &verdict, 7), ERR_OK);
    cr_expect(strstr(buffer.bytes, "\"sql\":\"a\\\"b\\\\\\n\\t\\u0001\\u0000\x7f\xc3\xa9\",\"p_correct\":1e-7,"
                                   "\"label_model_p\":1.23457e6,\"entailment\":1.0,"),
              "%s", buffer.bytes);
    cr_expect(strstr(buffer.bytes, "\"p_correct\":-0.0,"));
    cr_expect(g_str_has_suffix(buffer.bytes, ",\"line\":7}"));
    cr_expect_eq(strlen(buffer.bytes), buffer.len);
    json_t *back = json_loadb(buffer.bytes, buffer.len, JSON_ALLOW_NUL, NULL);
    json_t *first = json_array_get(json_object_get(back, "candidates"), 0);
    cr_assert_eq(json_string_length(json_object_get(first, "sql")), sizeof sql - 1);
    cr_expect_eq(memcmp(json_string_value(json_object_get(first, "sql")), sql, sizeof sql - 1), 0);
    json_decref(back);
    msg_buffer_free(&buffer);
}

/* --- invalid_sql --- */

static struct sql_stmt *parsed(const char *sql)
{
    struct sql_stmt *stmt = NULL;
    sql_parse(&arena, sql, strlen(sql), NULL, &stmt);
    cr_assert(stmt);
    return stmt;
}

Test(json, unparsable_sql_has_span_and_expected_tokens)
{
    struct sql_stmt *stmt = parsed("SELECT name FORM singer WHERE");
    struct msg_finding *finding = findings_from_parser(&arena, stmt, stmt->diags);
    cr_assert_eq(finding->signal, MSG_INVALID_SQL);
    cr_assert_str_eq(finding->name, "invalid_sql");
    cr_assert_eq(finding->n_clauses, 1);
    cr_assert_eq(finding->clauses[0].start, stmt->diags->start);
    cr_assert_str_eq(finding->facts[0].value, "syntax");
}

Test(json, engine_error_points_at_token)
{
    static const struct {
        const char *sql, *token;
        int offset;
    } cases[] = {{"SELECT nam FROM singer", "nam", 7},
                 {"SELECT \"x y\" FROM t", "\"x y\"", 7},
                 {"SELECT [x y] FROM t", "[x y]", 7},
                 {"SELECT * FROM t", "*", 7},
                 {"SELECT a", "", 8}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct msg_finding *finding =
            findings_from_engine(&arena, parsed(cases[i].sql), NULL, "no such thing", cases[i].offset);
        cr_assert_str_eq(finding->message, "no such thing");
        cr_assert_eq(finding->n_clauses, 1);
        cr_assert_str_eq(finding->clauses[0].text, cases[i].token);
    }
    struct msg_finding *nowhere = findings_from_engine(&arena, parsed("SELECT 1"), NULL, "no such thing", -1);
    cr_assert_eq(nowhere->n_clauses, 0);
}

Test(json, diagnostic_at_engine_token_adds_similar_names)
{
    const char *near[] = {"name"};
    struct sql_diag elsewhere = {.code = ERR_UNKNOWN_NAME, .start = 16, .end = 22, .message = "no table singer"};
    struct sql_diag here = {.code = ERR_UNKNOWN_NAME,
                            .start = 7,
                            .end = 10,
                            .message = "no column nam",
                            .expected = near,
                            .n_expected = 1,
                            .next = &elsewhere};
    struct msg_finding *finding =
        findings_from_engine(&arena, parsed("SELECT nam FROM singer"), &here, "no such column: nam", 7);
    cr_assert_str_eq(finding->message, "no column nam");
    cr_assert_eq(finding->n_facts, 3);
    cr_assert_str_eq(finding->facts[1].key, "near");
    cr_assert_str_eq(finding->facts[1].value, "name");
    cr_assert_str_eq(finding->facts[2].value, "no such column: nam");
}

/* A fast path of our own formats milliseconds. It prints six digits, as for other real numbers. */
Test(json, milliseconds_have_at_most_six_digits)
{
    const int64_t ns[] = {0, 499, 500, 1000, 99499, 999500, 1000000, 12345678, 999999499, 999999500, 1234567890, -1500};
    const char *texts[] = {"0.0", "0.0",    "0.001",   "0.001",  "0.099",   "1.0",
                           "1.0", "12.346", "999.999", "1000.0", "1234.57", "-0.002"};
    for (unsigned i = 0; i < sizeof ns / sizeof *ns; i++) {
        struct msg_verdict verdict = sample_verdict;
        char expected[64];
        verdict.total_ns = ns[i];
        char *text = msg_verdict_to_json(&verdict);
        snprintf(expected, sizeof expected, "\"total_ms\":%s,", texts[i]);
        cr_expect(strstr(text, expected), "%s is not in %s", expected, text);
        free(text);
    }
}
