#include "lib/base/error.h"
#include "lib/base/locations.h"

#include <criterion/criterion.h>
#include <string.h>

Test(error, every_code_has_unique_name_meaning_and_class)
{
    for (int i = 0; i < ERR_COUNT; i++) {
        enum err_code code = (enum err_code)i;
        cr_assert(strlen(err_name(code)) > 0 && strlen(err_meaning(code)) > 5);
        cr_assert_eq(err_from_name(err_name(code)), code, "the name %s is taken twice", err_name(code));
        cr_assert_eq(err_class(code) == ERR_CLASS_OK, code == ERR_OK);
    }
}

Test(error, unknown_codes_are_internal_not_ok)
{
    cr_assert_eq(err_class((enum err_code)9999), ERR_CLASS_FATAL);
    cr_assert_eq(err_from_name("no such"), ERR_INTERNAL);
}

Test(error, long_texts_are_cut_between_characters)
{
    char text[ERR_TEXT_MAX + 50];
    memset(text, 'a', sizeof text);
    memcpy(text + ERR_TEXT_MAX - 3, "\xE2\x82\xAC", 3); /* the character's last byte would overwrite the terminator */
    text[sizeof text - 1] = '\0';
    struct err err;
    cr_assert_eq(err_set(&err, ERR_IO, "%s", text), ERR_IO);
    cr_assert_eq(strlen(err.text), ERR_TEXT_MAX - 3);
    cr_assert_eq(err_set(NULL, ERR_IO, "x"), ERR_IO);
}

Test(error, hint_follows_the_message)
{
    struct err err;
    err_set(&err, ERR_CONFIG, "%s is not a directory" ERR_HINT "create %s", "a", "it");
    cr_expect_str_eq(err.text, "a is not a directory; create it");
    cr_expect_str_eq(err_hint(&err), "create it");
    int len;
    cr_expect_eq(err_message(&err, &len), err.text);
    cr_expect_eq(len, (int)strlen("a is not a directory"));
    err_set(&err, ERR_CONFIG, "%s is not a directory", "a" ERR_HINT "b");
    cr_expect_str_eq(err_hint(&err), "", "a separator in an argument is text");
    err_set(&err, ERR_CONFIG, "no file" ERR_HINT "%s", "");
    cr_expect_str_eq(err.text, "no file");
    cr_expect_str_eq(err_hint(&err), "");
}

Test(error, place_comes_before_message_and_hint)
{
    struct err inner, err;
    err_set(&inner, ERR_CONFIG, "unknown key" ERR_HINT "remove it");
    cr_expect_eq(err_at(&err, ERR_CONFIG, &inner, "%s:%d", "a.yaml", 3), ERR_CONFIG);
    cr_expect_str_eq(err.text, "a.yaml:3: unknown key; remove it");
    cr_expect_str_eq(err_hint(&err), "remove it");
    cr_expect_eq(err_at(&err, ERR_IO, &(struct err){0}, "a"), ERR_IO);
    cr_expect_str_eq(err.text, "a: a file cannot be read or written");
}

Test(error, hint_past_the_end_is_left_out)
{
    char name[ERR_TEXT_MAX + 50];
    memset(name, 'a', sizeof name);
    for (size_t len = ERR_TEXT_MAX - 5; len < sizeof name; len++) {
        struct err err;
        err_set(&err, ERR_CONFIG, "%.*s" ERR_HINT "bbb", (int)len, name);
        cr_expect_lt(strlen(err.text), sizeof err.text);
        cr_expect_null(strchr(err.text, ERR_HINT[0]), "%zu", len);
        cr_expect_eq(strlen(err_hint(&err)), err.hint_at ? strlen(err.text) - err.hint_at : 0);
    }
}

Test(error, public_text_names_no_location)
{
    static const struct {
        enum err_code code;
        const char *text, *shown;
    } rows[] = {
        {ERR_DB_MISSING, "'/srv/a.sqlite' does not exist", "the database does not exist"},
        {ERR_DB_LOCKED, "'/srv/a.sqlite': busy", "the database is locked by a writer"},
        {ERR_UNREACHABLE, "127.0.0.1:1 does not answer", NULL},
        {ERR_IO, "/srv/a: no space", "a file cannot be read or written"},
        {ERR_ENGINE, "no such table: t", "no such table: t"},
        {ERR_MALFORMED, "", NULL},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err;
        err_set(&err, rows[i].code, "%s", rows[i].text);
        cr_expect_str_eq(err_public_text(&err), rows[i].shown ? rows[i].shown : err_meaning(rows[i].code));
    }
}
