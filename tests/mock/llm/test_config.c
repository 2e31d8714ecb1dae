/* Configurations that scorer_open refuses, and the confidentiality of the API key. */
#include "tests/mock/llm/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(config, .fini = leak_check);

static struct scorer_config sound(void)
{
    struct scorer_config config = scorer_defaults();
    config.endpoint = "https://verifier.example/v1";
    config.model = "m";
    return config;
}

static void expect(const struct scorer_config *config, const char *word)
{
    struct scorer *scorer = NULL;
    struct err err = {0};
    cr_assert_eq(scorer_open(config, &scorer, &err), ERR_CONFIG, "%s", word);
    cr_assert_null(scorer);
    cr_assert_not_null(strstr(err.text, word), "'%s' does not speak of %s", err.text, word);
}

#define REFUSED(word, ...)                                                                                             \
    do {                                                                                                               \
        struct scorer_config c = sound();                                                                              \
        __VA_ARGS__;                                                                                                   \
        expect(&c, word);                                                                                              \
    } while (0)

Test(config, unusable_configuration_is_refused_at_open)
{
    REFUSED("backend", c.backend = "oracle");
    REFUSED("backend", c.backend = NULL);
    REFUSED("not a URL", c.endpoint = "not a url at all");
    REFUSED("not a URL", c.endpoint = NULL);
    REFUSED("http", c.endpoint = "ftp://verifier.example");
    REFUSED("http", c.endpoint = "file:///etc/passwd");
    REFUSED("user name", c.endpoint = "https://me:secret@verifier.example");
    REFUSED("query", c.endpoint = "https://verifier.example/?key=secret");
    REFUSED("model", c.backend = "chat"; c.model = NULL);
    REFUSED("max_tokens", c.backend = "chat"; c.max_tokens = 1);
    REFUSED("timeout_ms", c.timeout_ms = 0);
    REFUSED("max_attempts", c.max_attempts = 1000);
    REFUSED("retry_share", c.retry_share = -1);
    REFUSED("max_reply_bytes", c.max_reply_bytes = SIZE_MAX);
    REFUSED("both a key file and a key variable", c.key_file = "x"; c.key_variable = "Y");
    REFUSED("cannot read key file", c.key_file = "/nonexistent/key");
    REFUSED("not set", c.key_variable = "ASSAY_TEST_NO_SUCH_KEY");
}

Test(config, errors_never_contain_secrets)
{
    struct scorer_config c = sound();
    struct scorer *scorer = NULL;
    struct err err = {0};
    c.endpoint = "https://me:hunter2@verifier.example";
    scorer_open(&c, &scorer, &err);
    cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);

    setenv("ASSAY_TEST_KEY", "hunter2\r\nX-Evil: yes", 1);
    c = sound();
    c.key_variable = "ASSAY_TEST_KEY";
    cr_assert_eq(scorer_open(&c, &scorer, &err), ERR_CONFIG, "a line break would add a header");
    cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);

    setenv("ASSAY_TEST_KEY", "hunter2", 1);
    c.endpoint = "http://verifier.example";
    cr_assert_eq(scorer_open(&c, &scorer, &err), ERR_CONFIG);
    cr_assert_not_null(strstr(err.text, "plain http"), "%s", err.text);
    cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);
    static const char *const elsewhere[] = {"http://127.0.0.1.example", "http://127.example",
                                            "http://localhost.example", "http://128.0.0.1", "http://[::2]"};
    static const char *const here[] = {"http://127.0.0.1:8080", "http://127.9.9.9", "http://[::1]:80",
                                       "http://LOCALHOST"};
    for (unsigned i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
        c.endpoint = elsewhere[i];
        cr_assert_eq(scorer_open(&c, &scorer, &err), ERR_CONFIG, "%s", elsewhere[i]);
    }
    for (unsigned i = 0; i < sizeof here / sizeof *here; i++) {
        c.endpoint = here[i];
        cr_assert_eq(scorer_open(&c, &scorer, &err), ERR_OK, "%s: %s", here[i], err.text);
        scorer_close(scorer);
    }
    c.endpoint = "http://verifier.example";
    c.plain_key = true;
    cr_assert_eq(scorer_open(&c, &scorer, &err), ERR_OK);
    scorer_close(scorer);
}

Test(config, key_from_file_is_sent_as_bearer_token)
{
    struct fixture f;
    char path[] = "/tmp/assay-key-XXXXXX";
    int fd = mkstemp(path);
    cr_assert_eq(write(fd, "\xEF\xBB\xBFs3cret\n", 10), 10);
    close(fd);
    fixture_start(&f, "tei");
    f.config.key_file = path;
    script(&f, "/predict", {.status = 401, .body = "{\"error\":\"s3cret is wrong\"}"});
    assert_code(&f, ask(&f), ERR_CONFIG);
    unlink(path);
    cr_assert_not_null(strstr(fake_model_head(f.fake, "/predict", 0), "\r\nAuthorization: Bearer s3cret\r\n"));
    cr_assert_null(strstr(f.err.text, "s3cret"), "%s", f.err.text);
    cr_assert_eq(fake_model_requests(f.fake, "/predict"), 1, "another try with the same key is of no use");
    fixture_stop(&f);
}

Test(config, proxies_of_environment_are_ignored)
{
    struct fixture f;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    fixture_start(&f, "tei");
    script(&f, "/predict", {.body = tei_answer});
    assert_code(&f, ask(&f), ERR_OK);
    fixture_stop(&f);
}

Test(config, backends_are_listed)
{
    cr_assert_str_eq(scorer_backends()[0], "tei");
    cr_assert_str_eq(scorer_backends()[1], "chat");
    cr_assert_null(scorer_backends()[2]);
}
