#include "lib/text/text.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(fold, .fini = leak_check);

static const struct {
    const char *in;
    size_t len;
    const char *out;
} CASES[] = {
    {"  New   York ", 12, "new york"},
    {"S\xC3\xA3o Paulo", 10, "sao paulo"},
    {"Jesen\xC3\xADk", 8, "jesenik"},
    {"Jesen\xEDk", 7, "jesenik"}, /* a Latin-1 byte in a text declared as UTF-8 */
    {"STRA\xC3\x9F"
     "E",
     7, "strasse"},
    {"\xC3\x98rsted", 7, "orsted"},
    {"\xEF\xAC\x81ne", 5, "fine"},  /* ligature fi */
    {"caf\x65\xCC\x81", 6, "cafe"}, /* e + combining acute */
    {"a\0b", 3, "a b"},
    {"\xE2\x80\x9Cq\xE2\x80\x9D \xE2\x80\x93 r", 13, "\"q\" - r"},
    {"\xC3", 1, "a"}, /* a truncated sequence, which is read as Latin-1: A with tilde */
    {"", 0, ""},
    {"   ", 3, ""},
    {"\xC2\xB4 a\xC2\xB4", 6, "a"}, /* a spacing accent decomposes to a space with a mark */
};

Test(fold, folded_texts_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        cr_expect_str_eq(text_fold(&arena, CASES[i].in, CASES[i].len), CASES[i].out, "case %zu", i);
    arena_free(&arena);
}

Test(fold, short_text_needs_no_arena)
{
    char out[8];
    cr_expect_str_eq(text_fold_short(out, sizeof out, " Ulm  A", 7), "ulm a");
    cr_expect_str_eq(text_fold_short(out, sizeof out, "Jesen\xC3\xADk", 8), "jesenik");
    cr_expect_null(text_fold_short(out, sizeof out, "Budapest", 8), "no room for the NUL");
}

Test(fold, folding_twice_changes_nothing)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned cp = 0x80; cp < 0x3000; cp++) {
        char wide[3] = {(char)(0xE0 | cp >> 12), (char)(0x80 | (cp >> 6 & 63)), (char)(0x80 | (cp & 63))};
        char narrow[2] = {(char)(0xC0 | cp >> 6), (char)(0x80 | (cp & 63))};
        const char *once = cp < 0x800 ? text_fold(&arena, narrow, 2) : text_fold(&arena, wide, 3);
        const char *twice = text_fold(&arena, once, strlen(once));
        cr_expect_str_eq(once, twice, "U+%04X", cp);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

Test(fold, full_arena_returns_null)
{
    struct arena arena;
    arena_init(&arena, 8);
    cr_expect_null(text_fold(&arena, "some words here", 15));
    arena_free(&arena);
}

Test(stem, irregular_and_regular_words_are_stemmed)
{
    static const char *const CASE[][2] = {{"customers", "custom"},
                                          {"cities", "citi"},
                                          {"children", "child"},
                                          {"people", "person"},
                                          {"oldest", "old"},
                                          {"bob's", "bob"},
                                          {"does", "does"},
                                          {"singers", "singer"},
                                          {"e-mails", "email"},
                                          {"written", "write"},
                                          {"", ""}};
    struct arena arena;
    arena_init(&arena, 0);
    for (int round = 0; round < 2; round++) /* the second round reads from the cache */
        for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++)
            cr_expect_str_eq(text_stem(&arena, CASE[i][0]), CASE[i][1]);
    char big[5000];
    memset(big, 'a', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    cr_expect_str_eq(text_stem(&arena, big), big);
    arena_free(&arena);
}
