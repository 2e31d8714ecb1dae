#include "lib/text/text.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(tokenize, .fini = leak_check);

/* Returns tokens as "norm/kind norm/kind". Kinds are w word, n number, q quoted, p punctuation. '#' means that the word
 * is a number. */
static const char *shown(struct arena *arena, const char *text, size_t len)
{
    struct text_tokens tokens = text_tokenize(arena, text, len);
    cr_assert_not_null(tokens.items);
    const char *out = "";
    for (uint32_t i = 0; i < tokens.n; i++) {
        const struct text_token *t = &tokens.items[i];
        cr_expect(t->start < t->end && t->end <= len);
        out = arena_printf(arena, "%s%s%s/%c%s", out, i ? " " : "", t->norm, "wnqp"[t->kind],
                           t -> kind == TEXT_WORD && t -> is_number ? "#" : "");
    }
    return out;
}

static const char *const CASES[][2] = {
    {"How many singers?", "how/w many/w singers/w ?/p"},
    {"more than 1,234.5 or -5", "more/w than/w 1,234.5/n or/w -5/n"},
    {"a 3-D film by O'Brien's", "a/w 3-d/w film/w by/w o'brien's/w"},
    {"the e-mail on 2014-06-18.", "the/w e-mail/w on/w 2014-06-18/w ./p"},
    {"1/2/2010 at 12:30:00", "1/2/2010/w at/w 12:30:00/w"},
    {"ages 5-10, 2010-2015", "ages/w 5/n -/p 10/n ,/p 2010/n -/p 2015/n"},
    {"Boeing 747-400", "boeing/w 747-400/w"},
    {"called 'New  York' or \"Bob's\"", "called/w new york/q or/w bob's/q"},
    {"the students' names and teachers' ages", "the/w students/w '/p names/w and/w teachers/w '/p ages/w"},
    {"don't use Bob's", "don't/w use/w bob's/w"},
    {"\xE2\x80\x9CThe Hey Arnold\xE2\x80\x9D show", "the hey arnold/q show/w"},
    {"a 12\" disc and 5\" more", "a/w 12/n \"/p disc/w and/w 5/n \"/p more/w"},
    {"two dozen, twenty-five", "two/w# dozen/w# ,/p twenty-five/w#"},
    {"10k runners", "10k/n runners/w"},
    {"the 2nd U.S. AT&T a@b.com x.y", "the/w 2nd/w u.s/w ./p at&t/w a@b.com/w x.y/w"},
    {"end.Next", "end/w ./p next/w"},
    {"S\xC3\xA3o", "sao/w"},
    {"'unclosed", "'/p unclosed/w"},
    {"'' \"\"", "'/p '/p \"/p \"/p"},
    {"a_b 3.14.15", "a_b/w 3.14/n ./p 15/n"},
    {".5 v.", ".5/n v/w ./p"},
    {"", ""},
};

Test(tokenize, tokens_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        cr_expect_str_eq(shown(&arena, CASES[i][0], strlen(CASES[i][0])), CASES[i][1], "%s\n  got  %s\n  want %s",
                         CASES[i][0], shown(&arena, CASES[i][0], strlen(CASES[i][0])), CASES[i][1]);
    arena_free(&arena);
}

Test(tokenize, numbers_flags_and_spans_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *text = "What is the 1,234.5 of 'Bob' for twenty-five Dogs 10k";
    struct text_tokens t = text_tokenize(&arena, text, strlen(text));
    cr_assert_eq(t.n, 10);
    cr_expect(t.items[0].is_capital && t.items[0].is_stop);
    cr_expect_float_eq(t.items[3].number, 1234.5, 1e-9);
    cr_expect_eq(t.items[5].start, 23);
    cr_expect_eq(t.items[5].end, 28);
    cr_expect_float_eq(t.items[7].number, 25, 0);
    cr_expect_str_eq(t.items[8].stem, "dog");
    cr_expect(t.items[8].is_capital && !t.items[8].is_stop);
    cr_expect_float_eq(t.items[9].number, 10000, 0);
    arena_free(&arena);
}

/* Random bytes must not cause a crash. Tokens must be in order and within the text. */
Test(tokenize, random_bytes_are_tokenized_safely)
{
    static const char ALPHABET[] = "ab'\"`-.,:/&@0159 _\xE2\x80\x99\xC3\xA9\xFF\x00zK\xCC\x81";
    struct arena arena;
    arena_init(&arena, 0);
    srand(7);
    for (int round = 0; round < 3000; round++) {
        char text[80];
        size_t n = (size_t)rand() % sizeof text;
        for (size_t i = 0; i < n; i++) text[i] = ALPHABET[(size_t)rand() % (sizeof ALPHABET - 1)];
        char *exact = malloc(n + !n);
        memcpy(exact, text, n);
        struct text_tokens t = text_tokenize(&arena, exact, n);
        uint32_t last = 0;
        for (uint32_t i = 0; i < t.n; i++) {
            cr_assert(t.items[i].start >= last && t.items[i].end > t.items[i].start && t.items[i].end <= n);
            last = t.items[i].end;
        }
        text_split_identifier(&arena, exact, n);
        free(exact);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

Test(tokenize, large_input_is_truncated_and_small_arena_fails)
{
    struct arena arena;
    size_t n = 1 << 20;
    char *text = malloc(n);
    memset(text, '\'', n);
    arena_init(&arena, 0);
    struct text_tokens t = text_tokenize(&arena, text, n);
    cr_expect_not_null(t.items);
    cr_expect_eq(t.len, 64 * 1024);
    arena_free(&arena);
    arena_init(&arena, 4096);
    t = text_tokenize(&arena, text, n);
    cr_expect_null(t.items);
    cr_expect_eq(t.n, 0);
    arena_free(&arena);
    free(text);
}
