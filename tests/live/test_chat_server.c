/* Uses remote models on a real server, llama.cpp. It accepts our requests, and its grammar makes answers follow our
 * schemas. Failures are reported and change no verdict. */
#include "tests/live/chat_server.h"
#include "tests/support/wait.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <curl/curl.h>
#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum { LIMIT_MS = 30000 };

static struct chat_server server;

static void begin(void)
{
    chat_server_begin(&server);
}

static void end(void)
{
    chat_server_end(&server);
}

TestSuite(chat_server, .init = begin, .fini = end, .timeout = 120);

#define RIGHT "SELECT count(*) FROM customer WHERE country = 'France'"
#define WRONG "SELECT count(*) FROM customer WHERE name = 'France'"
#define CHECK "check", "--db=shop/shop.sqlite", "--question=How many customers are from France?", "--format=json"
#define AS_VERIFIER                                                                                                    \
    "--verifier-backend=chat", "--verifier-model=" CHAT_MODEL, "--verifier-key-variable=" CHAT_KEY,                    \
        "--verifier-endpoint", server.endpoint
#define AS_CORRECTOR                                                                                                   \
    "--repair=apply", "--corrector-model=" CHAT_MODEL, "--corrector-key-variable=" CHAT_KEY, "--corrector-endpoint",   \
        server.endpoint
#define AS_POLISHER                                                                                                    \
    "--polish-model=" CHAT_MODEL, "--polish-key-variable=" CHAT_KEY, "--polish-endpoint", server.endpoint

#define AS_JUDGE                                                                                                       \
    "--llm-when=always", "--llm-model=" CHAT_MODEL, "--llm-key-variable=" CHAT_KEY, "--llm-answer-tokens=600",         \
        "--llm-endpoint", server.endpoint

/* Returns the verdict that a run printed. Release with json_decref. */
static json_t *verdict_of(struct run run)
{
    cr_assert(run.status == 0 || run.status == 1, "%d: %s", run.status, run.err);
    json_t *verdict = json_loads(run.out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(verdict, "%s", run.out);
    cr_expect_null(strstr(run.out, server.key), "the key is in a verdict");
    cr_expect_null(strstr(run.err, server.key), "the key is in a message");
    run_free(&run);
    return verdict;
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static const json_t *candidate_of(const json_t *verdict)
{
    return json_array_get(json_object_get(verdict, "candidates"), 0);
}

static bool has_note(const json_t *verdict, const char *words)
{
    size_t i;
    const json_t *note;
    json_array_foreach(json_object_get(verdict, "notes"), i,
                       note) if (strstr(json_string_value(note), words)) return true;
    return false;
}

static char *dumped(const json_t *json)
{
    static char *text;
    free(text);
    return text = json_dumps(json, JSON_COMPACT);
}

/* Compares status, answer, P(correct) and the verifier: the parts that a failure of a remote model must not change. */
static void expect_same(const json_t *verdict, const json_t *alone)
{
    const json_t *one = candidate_of(verdict), *other = candidate_of(alone);
    static const char *const texts[] = {"status", "sql"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        cr_expect_str_eq(text_of(verdict, texts[i]), text_of(alone, texts[i]), "%s", dumped(verdict));
    cr_expect(json_equal(json_object_get(one, "p_correct"), json_object_get(other, "p_correct")), "%s",
              dumped(verdict));
    cr_expect(json_equal(json_object_get(one, "entailment"), json_object_get(other, "entailment")));
    cr_expect_str_eq(text_of(one, "verifier"), "builtin");
}

Test(chat_server, entailment_is_reported_with_model_name)
{
    json_t *verdict = verdict_of(assay(CHECK, AS_VERIFIER, RIGHT));
    const json_t *candidate = candidate_of(verdict);
    cr_expect_str_eq(text_of(candidate, "verifier"), "chat " CHAT_MODEL ", judge/1");
    cr_expect_float_eq(json_number_value(json_object_get(candidate, "entailment")), CHAT_SAYS_P_YES, 1e-4,
                       "of the token, not the stated 0.75: %s", dumped(verdict));
    cr_expect_null(json_object_get(verdict, "notes"), "%s", dumped(verdict));
    json_decref(verdict);
}

/* The model answers at random, and constrained decoding forces its answers into our schema. */
Test(chat_server, answer_follows_schema_of_family_llm)
{
    static const char *const names[] = {"evidence_violation", "insufficient_evidence", "question_clause_linking",
                                        "column_ambiguity", "self_check"};
    static const char *const hows[] = {"--llm-calls=combined", "--llm-calls=single"};
    for (unsigned how = 0; how < G_N_ELEMENTS(hows); how++) {
        json_t *verdict = verdict_of(assay(CHECK, AS_JUDGE, hows[how], RIGHT));
        const json_t *signals = json_object_get(candidate_of(verdict), "signals"),
                     *llm = json_object_get(verdict, "llm");
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
            cr_expect(*text_of(signals, names[i]), "%s: %s", names[i], dumped(verdict));
        cr_expect_str_neq(text_of(signals, "evidence_violation"), "unavailable", "%s", dumped(verdict));
        cr_expect_eq(json_integer_value(json_object_get(llm, "calls")), how ? 5 : 1, "%s", dumped(verdict));
        cr_expect_gt(json_integer_value(json_object_get(llm, "tokens_in")), 100);
        cr_expect(g_str_has_prefix(text_of(llm, "source"), CHAT_MODEL ", signals/"), "%s", text_of(llm, "source"));
        json_decref(verdict);
    }
}

Test(chat_server, corrector_query_is_judged_with_instruction_version)
{
    json_t *verdict = verdict_of(assay(CHECK, AS_CORRECTOR, WRONG));
    const json_t *repair = json_object_get(verdict, "repair");
    cr_expect_str_eq(text_of(verdict, "status"), "repaired", "%s", dumped(verdict));
    cr_expect_str_eq(text_of(verdict, "sql"), CHAT_SAYS_SQL);
    cr_expect(g_str_has_prefix(text_of(repair, "source"), CHAT_MODEL ", correct/"), "%s", dumped(verdict));
    json_decref(verdict);
}

Test(chat_server, polished_text_is_checked_and_added)
{
    json_t *verdict = verdict_of(assay(CHECK, AS_POLISHER, RIGHT));
    const json_t *polished = json_object_get(candidate_of(verdict), "explanation_polished");
    cr_expect_str_eq(text_of(polished, "text"), CHAT_SAYS_TEXT, "%s", dumped(verdict));
    cr_expect(g_str_has_prefix(text_of(polished, "source"), CHAT_MODEL ", polish/"));
    cr_expect_null(json_object_get(verdict, "notes"));
    json_decref(verdict);
    verdict = verdict_of(assay(CHECK, AS_POLISHER, "SELECT count(*) FROM customer"));
    cr_expect_null(json_object_get(candidate_of(verdict), "explanation_polished"));
    cr_expect(has_note(verdict, "the explanation was not reworded: the model added"), "%s", dumped(verdict));
    json_decref(verdict);
}

/* llama.cpp serves its only model for any requested name, and reports that model's name. */
Test(chat_server, other_model_name_gets_served_model)
{
    json_t *verdict = verdict_of(assay(CHECK, AS_VERIFIER, "--verifier-model=nobody", RIGHT));
    cr_expect_str_eq(text_of(candidate_of(verdict), "verifier"), "chat " CHAT_MODEL ", judge/1", "%s", dumped(verdict));
    json_decref(verdict);
}

Test(chat_server, wrong_key_or_address_changes_no_verdict)
{
    g_setenv("WRONG_KEY", "key-of-somebody-else", TRUE);
    char *nowhere = g_strdup_printf("%s/nowhere", server.endpoint);
    json_t *alone = verdict_of(assay(CHECK, RIGHT)), *unrepaired = verdict_of(assay(CHECK, "--repair=apply", WRONG));
    json_t *verdict = verdict_of(assay(CHECK, AS_VERIFIER, "--verifier-key-variable=WRONG_KEY", RIGHT));
    expect_same(verdict, alone);
    cr_expect(has_note(verdict, "the remote verifier did not answer") && has_note(verdict, "rejected the key"), "%s",
              dumped(verdict));
    json_decref(verdict);
    verdict = verdict_of(assay(CHECK, AS_VERIFIER, "--verifier-endpoint", nowhere, RIGHT));
    expect_same(verdict, alone);
    cr_expect(has_note(verdict, "the remote verifier did not answer") && has_note(verdict, "does not know this path"),
              "%s", dumped(verdict));
    json_decref(verdict);
    verdict = verdict_of(assay(CHECK, AS_CORRECTOR, "--corrector-key-variable=WRONG_KEY", WRONG));
    cr_expect_str_eq(text_of(verdict, "sql"), text_of(unrepaired, "sql"), "%s", dumped(verdict));
    cr_expect(has_note(verdict, "the corrector failed") && has_note(verdict, "rejected the key"), "%s",
              dumped(verdict));
    json_decref(verdict);
    verdict = verdict_of(assay(CHECK, AS_POLISHER, "--polish-key-variable=WRONG_KEY", RIGHT));
    expect_same(verdict, alone);
    cr_expect(has_note(verdict, "the explanation was not reworded") && has_note(verdict, "rejected the key"), "%s",
              dumped(verdict));
    json_decref(verdict);
    json_decref(unrepaired);
    json_decref(alone);
    g_free(nowhere);
}

Test(chat_server, premise_beyond_context_is_reported)
{
    char *years = g_strnfill(50000, '9'), *question = g_strdup_printf("--question=How many are older than %s?", years);
    json_t *verdict = verdict_of(assay(CHECK, AS_VERIFIER, question, RIGHT));
    cr_expect_str_eq(text_of(candidate_of(verdict), "verifier"), "builtin", "%.300s", dumped(verdict));
    cr_expect(has_note(verdict, "the remote verifier did not answer"), "%.300s", dumped(verdict));
    json_decref(verdict);
    g_free(question);
    g_free(years);
}

/* --- unavailable servers --- */

static unsigned verdicts_in(const char *path)
{
    unsigned lines = 0;
    char *text = read_file(path);
    for (const char *c = text; c && *c; c++) lines += *c == '\n';
    g_free(text);
    return lines;
}

static bool some_are_there(void *context)
{
    (void)context;
    return verdicts_in("verdicts.jsonl") >= 5;
}

static bool is_over(void *child)
{
    return waitpid(*(pid_t *)child, NULL, WNOHANG) == *(pid_t *)child;
}

Test(chat_server, stopped_server_leaves_rest_to_built_in_verifier)
{
    enum { REQUESTS = 300 };
    char *log = shop_log(REQUESTS);
    write_file("log.jsonl", log);
    const char *const args[] = {"replay",
                                "log.jsonl",
                                "--db-root=.",
                                "--out=verdicts.jsonl",
                                "--workers=1",
                                "--window=1",
                                AS_VERIFIER,
                                "--verifier-timeout-ms=2000",
                                "--verifier-attempts=1",
                                NULL};
    pid_t child = assay_start(args);
    cr_assert(wait_until(some_are_there, NULL, LIMIT_MS), "%s", read_file(".err"));
    chat_server_command(&server, "kill", "llama");
    cr_expect(wait_until(is_over, &child, LIMIT_MS), "the replay does not end");
    unsigned by_model = 0, by_builtin = 0;
    char *text = read_file("verdicts.jsonl"), **lines = g_strsplit(g_strchomp(text), "\n", -1);
    for (char **line = lines; *line; line++) {
        json_t *verdict = json_loads(*line, JSON_REJECT_DUPLICATES, NULL);
        const char *by = text_of(candidate_of(verdict), "verifier");
        by_model += strcmp(by, "chat " CHAT_MODEL ", judge/1") == 0;
        bool builtin = strcmp(by, "builtin") == 0;
        by_builtin += builtin;
        cr_expect_eq(builtin, has_note(verdict, "the remote verifier did not answer, so the built-in verifier judged"),
                     "%s", *line);
        json_decref(verdict);
    }
    cr_expect_eq(g_strv_length(lines), REQUESTS);
    cr_expect(by_model >= 5 && by_builtin >= 5, "%u by the model, %u by the built-in one", by_model, by_builtin);
    g_strfreev(lines);
    g_free(text);
    g_free(log);
}

Test(chat_server, missing_server_is_reported_by_each_command)
{
    json_t *unrepaired = verdict_of(assay(CHECK, "--repair=apply", WRONG)), *alone = verdict_of(assay(CHECK, RIGHT));
    chat_server_command(&server, "kill", "llama");
    json_t *verdict = verdict_of(assay(CHECK, AS_CORRECTOR, "--corrector-attempts=1", WRONG));
    cr_expect_str_eq(text_of(verdict, "sql"), text_of(unrepaired, "sql"), "%s", dumped(verdict));
    cr_expect(has_note(verdict, "the corrector failed"), "%s", dumped(verdict));
    json_decref(verdict);
    verdict = verdict_of(assay(CHECK, AS_POLISHER, "--polish-attempts=1", RIGHT));
    expect_same(verdict, alone);
    cr_expect(has_note(verdict, "the explanation was not reworded"), "%s", dumped(verdict));
    json_decref(verdict);
    json_decref(unrepaired);
    json_decref(alone);
}

/* --- embeddings --- */

static size_t keep(char *bytes, size_t size, size_t n, void *into)
{
    g_string_append_len(into, bytes, (gssize)(size * n));
    return size * n;
}

static json_t *embed(const char *body)
{
    GString *reply = g_string_new(NULL);
    char *url = g_strdup_printf("%s/embeddings", server.embeddings);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)LIMIT_MS);
    cr_assert_eq(curl_easy_perform(curl), CURLE_OK);
    json_t *json = json_loads(reply->str, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(json, "%s", reply->str);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    g_free(url);
    g_string_free(reply, TRUE);
    return json;
}

static double cosine(const json_t *reply, size_t i, size_t j)
{
    const json_t *data = json_object_get(reply, "data");
    const json_t *a = json_object_get(json_array_get(data, i), "embedding"),
                 *b = json_object_get(json_array_get(data, j), "embedding");
    double dot = 0, aa = 0, bb = 0;
    cr_assert(json_array_size(a) > 0 && json_array_size(a) == json_array_size(b));
    for (size_t k = 0; k < json_array_size(a); k++) {
        double x = json_number_value(json_array_get(a, k)), y = json_number_value(json_array_get(b, k));
        dot += x * y;
        aa += x * x;
        bb += y * y;
    }
    return dot / sqrt(aa * bb);
}

/* Properties that the tests of the example store rely on. */
Test(chat_server, similar_texts_have_near_embeddings)
{
    json_t *reply =
        embed("{\"model\":\"tiny\",\"input\":[\"How many singers are there?\",\"How many singers are French?\","
              "\"zzzz 0000 !!!!\",\"How many singers are there?\"]}");
    cr_expect_float_eq(cosine(reply, 0, 3), 1, 1e-6, "equal texts");
    cr_expect_gt(cosine(reply, 0, 1), 0.9);
    cr_expect_lt(cosine(reply, 0, 2), 0.5);
    json_decref(reply);
}

#define EXAMPLE(id, question)                                                                                          \
    "{\"id\":\"" id "\",\"db\":\"shop\",\"question\":\"" question "\",\"gold\":\"SELECT count(*) FROM customer\","     \
    "\"candidates\":[\"SELECT name FROM customer\"]}\n"

/* The store has vectors of the server and is searched by them. A store with vectors of another model is refused. */
Test(chat_server, example_store_uses_server_vectors)
{
    write_file("log.jsonl", EXAMPLE("far", "zzzz 0000 !!!!") EXAMPLE("near", "How many customers are there?"));
    struct run run = assay("examples", "build", "log.jsonl", "--db-root=.", "--out=examples.db", "--encoder-model=tiny",
                           "--encoder-key-variable=" CHAT_KEY, "--encoder-endpoint", server.embeddings);
    cr_assert_eq(run.status, 0, "%s", run.err);
    run_free(&run);
    run = assay("examples", "search", "examples.db", "--question=How many customers are French?", "--key=question",
                "-k", "1", "--format=json", "--encoder-model=tiny", "--encoder-key-variable=" CHAT_KEY,
                "--encoder-endpoint", server.embeddings);
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "\"near\""), "%s", run.out);
    run_free(&run);
    run = assay("examples", "search", "examples.db", "--question=q");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "another embedder"), "%s", run.err);
    run_free(&run);
}
