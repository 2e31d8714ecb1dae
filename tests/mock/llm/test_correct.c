/* A chat model as corrector: the request that it receives, and the parts of its reply that are used. */
#include "tests/mock/llm/fixture.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fixture f;

static void begin(void)
{
    fixture_start(&f, "chat");
}
static void end(void)
{
    fixture_stop(&f);
}
TestSuite(correct, .init = begin, .fini = end);

#define PATH "/v1/chat/completions"
#define SAYS(content)                                                                                                  \
    "{\"model\":\"mender-1-2026\",\"choices\":[{\"message\":{\"content\":\"" content                                   \
    "\"},\"finish_reason\":\"stop\"}],"                                                                                \
    "\"usage\":{\"prompt_tokens\":50,\"completion_tokens\":9}}"

static const char told[] = "{\"question\":\"How many ships?\",\"sql\":\"SELECT 1\"}";

static enum err_code mend(char **sql)
{
    if (!f.scorer) cr_assert_eq(scorer_open_corrector(&f.config, &f.scorer, &f.err), ERR_OK, "%s", f.err.text);
    return scorer_correct(f.scorer, told, clock_now_ns() + INT64_C(10000000000), sql, &f.info, &f.err);
}

Test(correct, request_is_sent_as_data_and_query_read)
{
    char *sql = NULL;
    script(&f, PATH, {.body = SAYS("{\\\"sql\\\": \\\"SELECT count(*) FROM ship\\\"}")});
    assert_code(&f, mend(&sql), ERR_OK);
    cr_assert_str_eq(sql, "SELECT count(*) FROM ship");
    cr_assert_str_eq(f.info.model, "mender-1-2026");
    cr_assert_eq(f.info.tokens_in, 50);
    free(sql);
    json_t *body = json_loads(fake_model_body(f.fake, PATH, 0), 0, NULL), *list = json_object_get(body, "messages");
    const char *system = json_string_value(json_object_get(json_array_get(list, 0), "content"));
    cr_assert_eq(strncmp(system, "You mend SQL.", 13), 0, "the instructions, without their version: %.60s", system);
    cr_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 1), "content")), told);
    cr_assert_null(json_object_get(body, "logprobs"));
    cr_assert(json_object_get(body, "response_format"));
    json_decref(body);
    char version[32];
    scorer_prompt_version(f.scorer, version, sizeof version);
    cr_assert_str_eq(version, "correct/3");
}

Test(correct, prose_around_query_is_ignored)
{
    char *sql = NULL;
    script(&f, PATH,
           {.body = SAYS(
                "Sure! {\\\"note\\\": 1} Here: {\\\"sql\\\": \\\"SELECT 2\\\"} and {\\\"sql\\\": \\\"SELECT 3\\\"}")});
    assert_code(&f, mend(&sql), ERR_OK);
    cr_assert_str_eq(sql, "SELECT 2", "the first one");
    free(sql);
}

Test(correct, reply_without_query_is_malformed)
{
    char *sql = (char *)told;
    script(&f, PATH, {.body = SAYS("I cannot.")}, {.body = SAYS("{\\\"sql\\\": 7}")},
           {.body = SAYS("{\\\"sql\\\": \\\"\\\"}")});
    assert_code(&f, mend(&sql), ERR_MALFORMED);
    cr_assert_null(sql);
    script(
        &f, PATH,
        {.body = "{\"choices\":[{\"message\":{\"content\":\"{\\\"sql\\\": \\\"SEL\"},\"finish_reason\":\"length\"}]}"});
    assert_code(&f, mend(&sql), ERR_REMOTE);
    script(&f, PATH, {.body = "{\"choices\":["});
    assert_code(&f, mend(&sql), ERR_MALFORMED);
    script(&f, PATH, {.status = 503});
    assert_code(&f, mend(&sql), ERR_UNREACHABLE);
    script(&f, PATH, {.status = 401});
    assert_code(&f, mend(&sql), ERR_CONFIG);
    cr_assert_null(sql);
}

/* Equal questions are sent twice, because replies of a corrector are not cached. */
Test(correct, answers_are_not_cached)
{
    char *sql = NULL;
    f.config.cache_entries = 16;
    script(&f, PATH, {.body = SAYS("{\\\"sql\\\": \\\"SELECT 1\\\"}")},
           {.body = SAYS("{\\\"sql\\\": \\\"SELECT 2\\\"}")});
    assert_code(&f, mend(&sql), ERR_OK);
    free(sql);
    assert_code(&f, mend(&sql), ERR_OK);
    cr_assert_str_eq(sql, "SELECT 2");
    free(sql);
}

static void write_prompt(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
}

Test(correct, custom_instructions_are_used)
{
    char *sql = NULL, version[32], path[] = "/tmp/assay-prompt-XXXXXX";
    cr_assert_neq(mkstemp(path), -1);
    write_prompt(path, "ours/7\nMend it.\n");
    f.config.prompt_file = path;
    script(&f, PATH, {.body = SAYS("{\\\"sql\\\": \\\"SELECT 1\\\"}")});
    assert_code(&f, mend(&sql), ERR_OK);
    free(sql);
    scorer_prompt_version(f.scorer, version, sizeof version);
    cr_assert_str_eq(version, "ours/7");
    cr_assert(strstr(fake_model_body(f.fake, PATH, 0), "Mend it."));
    static const char *const bad[] = {"", "only a version", "\nno version", "v\n\xff"};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct scorer *none = NULL;
        write_prompt(path, bad[i]);
        cr_expect_eq(scorer_open_corrector(&f.config, &none, &f.err), ERR_CONFIG, "%u", i);
        cr_expect(strstr(f.err.text, "instructions"), "%s", f.err.text);
    }
    remove(path);
    struct scorer *none = NULL;
    cr_expect_eq(scorer_open_corrector(&f.config, &none, &f.err), ERR_CONFIG, "no such file");
}
