/* A chat model that rewords an explanation: the request that it receives, and the parts of its reply that are used. */
#include "tests/mock/llm/fixture.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fixture f;

static void begin(void)
{
    fixture_start(&f, "chat");
}
static void end(void)
{
    fixture_stop(&f);
}
TestSuite(polish, .init = begin, .fini = end);

#define PATH "/v1/chat/completions"
#define SAYS(content)                                                                                                  \
    "{\"model\":\"editor-1-2026\",\"choices\":[{\"message\":{\"content\":\"" content "\"},\"finish_reason\":\"stop\"}" \
    "]}"

static const char told[] = "{\"explanation\":\"The result has 1 row.\"}";

static enum err_code polish(char **text)
{
    if (!f.scorer) cr_assert_eq(scorer_open_polisher(&f.config, &f.scorer, &f.err), ERR_OK, "%s", f.err.text);
    return scorer_polish(f.scorer, told, clock_now_ns() + INT64_C(10000000000), text, &f.info, &f.err);
}

Test(polish, request_is_sent_as_data_and_text_read)
{
    char *text = NULL, version[32];
    script(&f, PATH, {.body = SAYS("{\\\"text\\\": \\\"There is one row.\\\"}")});
    assert_code(&f, polish(&text), ERR_OK);
    cr_assert_str_eq(text, "There is one row.");
    free(text);
    json_t *body = json_loads(fake_model_body(f.fake, PATH, 0), 0, NULL), *list = json_object_get(body, "messages");
    const char *system = json_string_value(json_object_get(json_array_get(list, 0), "content"));
    cr_expect_eq(strncmp(system, "You edit English.", 17), 0, "the instructions, without their version: %.60s", system);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(list, 1), "content")), told);
    const json_t *format = json_object_get(json_object_get(body, "response_format"), "json_schema");
    cr_expect(json_object_get(json_object_get(json_object_get(format, "schema"), "properties"), "text"));
    json_decref(body);
    scorer_prompt_version(f.scorer, version, sizeof version);
    cr_expect_str_eq(version, "polish/1");
}

Test(polish, reply_without_text_is_malformed)
{
    char *text = (char *)told;
    script(&f, PATH, {.body = SAYS("There is one row.")}, {.body = SAYS("{\\\"sql\\\": \\\"SELECT 1\\\"}")},
           {.body = SAYS("{\\\"text\\\": \\\"\\\"}")});
    assert_code(&f, polish(&text), ERR_MALFORMED);
    cr_assert_null(text);
}

Test(polish, custom_instructions_are_used)
{
    char *text = NULL, version[32], path[] = "/tmp/assay-prompt-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_neq(fd, -1);
    dprintf(fd, "ours/3\nBe brief.\n");
    close(fd);
    f.config.prompt_file = path;
    script(&f, PATH, {.body = SAYS("{\\\"text\\\": \\\"One row.\\\"}")});
    assert_code(&f, polish(&text), ERR_OK);
    free(text);
    remove(path);
    scorer_prompt_version(f.scorer, version, sizeof version);
    cr_expect_str_eq(version, "ours/3");
    cr_expect(strstr(fake_model_body(f.fake, PATH, 0), "Be brief."));
}
