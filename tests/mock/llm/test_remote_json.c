#include "lib/llm/remote_json.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(remote_json, .fini = leak_check);

static bool reads(const char *text)
{
    json_t *json = remote_json(text, strlen(text));
    json_decref(json);
    return json != NULL;
}

Test(remote_json, only_json_is_accepted)
{
    static const char *const good[] = {"{}", "[[1,2.5,\"x\"]]", " {\"a\":null} "};
    static const char *const bad[] = {
        "",        "{",    "{}{}",        "{\"a\":1,\"a\":2}", "{\"a\":NaN}", "[1e999]",      "[Infinity]",
        "{'a':1}", "[1,]", "\"\\ud800\"", "\"\xff\"",          "<html>",      "[\"\\u0000\"]"};
    for (unsigned i = 0; i < sizeof good / sizeof *good; i++) cr_assert(reads(good[i]), "%s", good[i]);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) cr_assert_not(reads(bad[i]), "%s", bad[i]);
}

/* Returns `n` opening brackets followed by as many closing ones. */
static char *nested(size_t n)
{
    char *text = malloc(2 * n + 1);
    memset(text, '[', n);
    memset(text + n, ']', n);
    text[2 * n] = 0;
    return text;
}

Test(remote_json, nul_is_accepted_only_on_request)
{
    static const char text[] = "{\"a\":\"x\\u0000y\",\"b\":\"x\",\"c\":1}";
    json_t *json = remote_json_with_nul(text, sizeof text - 1);
    cr_assert_not_null(json);
    cr_expect_null(remote_text(json_object_get(json, "a")));
    cr_expect_str_eq(remote_text(json_object_get(json, "b")), "x");
    cr_expect_null(remote_text(json_object_get(json, "c")));
    json_decref(json);
    cr_expect_null(remote_json_with_nul("{\"a\":1,\"a\":2}", 13), "as strict as ever about the rest");
}

Test(remote_json, depth_is_checked_before_parsing)
{
    char *deep = nested(REMOTE_JSON_DEPTH), *deeper = nested(REMOTE_JSON_DEPTH + 1), *absurd = nested(1000000);
    cr_assert(reads(deep));
    cr_assert_not(reads(deeper));
    cr_assert_not(reads(absurd));
    cr_assert(reads("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"), "brackets in a string have no depth");
    free(deep);
    free(deeper);
    free(absurd);
}

Test(remote_json, balanced_objects_are_found_in_prose)
{
    size_t len = 0;
    const char *text = "Sure! {\"a\": \"}\\\"{\", \"b\": {\"c\": 1}} and {\"d\": 2}";
    const char *first = remote_json_object(text, &len);
    cr_assert_not_null(first);
    cr_assert_eq(strncmp(first, "{\"a\": \"}\\\"{\", \"b\": {\"c\": 1}}", len), 0);
    cr_assert_eq(len, strlen("{\"a\": \"}\\\"{\", \"b\": {\"c\": 1}}"));
    cr_assert_eq(strcmp(remote_json_object(first + len, &len), "{\"d\": 2}"), 0);
    cr_assert_null(remote_json_object("{\"a\": 1", &len), "an open one is none");
    cr_assert_null(remote_json_object("none", &len));
}

Test(remote_json, texts_of_peer_are_truncated_and_cleaned)
{
    char word[8];
    remote_word("a\nb\x1b[1mc\xc3\xa9 defgh", word, sizeof word);
    cr_assert_str_eq(word, "ab[1mcd");
    remote_word(NULL, word, sizeof word);
    cr_assert_str_eq(word, "");
}
