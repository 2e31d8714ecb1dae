/* Tests the lexicon: its file is complete and validated, relations have weights by sense, and matches are ordered and
 * bounded. */
#include "lib/text/internal.h"
#include "lib/text/lexicon.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

Test(lexicon, shipped_file_is_complete)
{
    size_t size;
    const char *data = lexicon_data(&size);
    struct lexicon lexicon;
    cr_assert(lexicon_open(&lexicon, data, size, true));
    cr_expect_gt(lexicon.n_words, 50000);
    cr_expect_lt(size, LEXICON_MAX_BYTES);
    for (uint32_t w = 0; w < lexicon.n_words; w++) {
        uint32_t first = lexicon.words[w].links, end = lexicon.words[w + 1].links;
        cr_assert(first <= end && end - first <= TEXT_MAX_LINKS && end <= lexicon.n_links, "%u", w);
        for (uint32_t l = first; l < end; l++) {
            cr_assert_lt(lexicon.links[l] >> 12, lexicon.n_words);
            cr_assert(l == first || lexicon.links[l] >> 12 > lexicon.links[l - 1] >> 12, "ascending: %u", w);
        }
        const char *text = text_lexicon_text(w);
        cr_assert_eq(text_lexicon_stem(text), w, "%s", text);
    }
}

/* Changes one value of the file. The file must then be refused. `what` names the damaged part in a failure message. */
static void expect_refused(const char *what, size_t at, uint32_t value)
{
    size_t size;
    const char *data = lexicon_data(&size);
    char *copy = g_memdup2(data, size);
    struct lexicon lexicon;
    memcpy(copy + at, &value, sizeof value);
    cr_expect_not(lexicon_open(&lexicon, copy, size, true), "%s", what);
    g_free(copy);
}

Test(lexicon, damaged_files_are_refused)
{
    size_t size;
    const char *data = lexicon_data(&size);
    struct lexicon lexicon;
    expect_refused("magic", 0, 0);
    expect_refused("version", offsetof(struct lexicon_header, version), LEXICON_VERSION + 1);
    expect_refused("size", offsetof(struct lexicon_header, size), (uint32_t)size + 4);
    expect_refused("slots", offsetof(struct lexicon_header, n_slots), 3);
    expect_refused("no slots", offsetof(struct lexicon_header, n_slots), 0);
    expect_refused("words", offsetof(struct lexicon_header, n_words), UINT32_MAX);
    expect_refused("links", offsetof(struct lexicon_header, n_links), UINT32_MAX);
    expect_refused("texts", offsetof(struct lexicon_header, texts), UINT32_MAX - 3);
    expect_refused("offset", offsetof(struct lexicon_header, links), 5);
    expect_refused("sum", sizeof(struct lexicon_header) + 40, 12345);
    cr_expect_not(lexicon_open(&lexicon, data, size - 1, false));
    cr_expect_not(lexicon_open(&lexicon, data, sizeof(struct lexicon_header) - 1, false));
    cr_expect_not(lexicon_open(&lexicon, data, 0, false));
}

static const struct {
    const char *a, *b;
    enum text_relation_kind kind;
    float at_least;
} CASES[] = {
    {"singer", "singers", TEXT_RELATION_SAME, 1},
    {"customer", "clients", TEXT_RELATION_SYNONYM, 0.5F},
    {"singer", "vocalist", TEXT_RELATION_SYNONYM, 0.5F},
    {"salary", "wage", TEXT_RELATION_SYNONYM, 0.5F},
    {"car", "automobile", TEXT_RELATION_SYNONYM, 0.5F},
    {"airport", "aerodrome", TEXT_RELATION_SYNONYM, 0.5F},
    {"fly", "flight", TEXT_RELATION_DERIVED, 0.5F},
    {"teach", "teacher", TEXT_RELATION_DERIVED, 0.5F},
    {"oldest", "age", TEXT_RELATION_ATTRIBUTE, 0.9F},
    {"age", "old", TEXT_RELATION_ATTRIBUTE, 0.9F},
    {"expensive", "price", TEXT_RELATION_ATTRIBUTE, 0.9F},
    {"tallest", "height", TEXT_RELATION_ATTRIBUTE, 0.9F},
    {"heavy", "weight", TEXT_RELATION_ATTRIBUTE, 0.9F},
    {"french", "france", TEXT_RELATION_DEMONYM, 0.9F},
    {"american", "united states", TEXT_RELATION_DEMONYM, 0.9F},
    {"dutch", "netherlands", TEXT_RELATION_DEMONYM, 0.9F},
    {"african", "africa", TEXT_RELATION_DEMONYM, 0.9F},
    {"japan", "jpn", TEXT_RELATION_CODE, 0.9F},
    {"female", "f", TEXT_RELATION_CODE, 0.9F},
    {"january", "jan", TEXT_RELATION_CODE, 0.9F},
    {"california", "ca", TEXT_RELATION_CODE, 0.9F},
    {"yes", "y", TEXT_RELATION_CODE, 0.9F},
    {"singer", "person", TEXT_RELATION_IS_A, 0.5F},
    {"people", "singer", TEXT_RELATION_HAS_KIND, 0.5F},
    {"airport", "place", TEXT_RELATION_IS_A, 0.5F},
    {"male", "female", TEXT_RELATION_OPPOSITE, 0.9F},
    {"highest", "lowest", TEXT_RELATION_OPPOSITE, 0.9F},
    {"singer", "stadium", TEXT_RELATION_NONE, 0},
    {"age", "height", TEXT_RELATION_NONE, 0},
    {"", "age", TEXT_RELATION_NONE, 0},
    {"qwertyish", "age", TEXT_RELATION_NONE, 0},
};

Test(lexicon, relations_of_words_are_found)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct text_relation found = text_relate(CASES[i].a, CASES[i].b);
        cr_expect_eq(found.kind, CASES[i].kind, "%s %s: %s", CASES[i].a, CASES[i].b, text_relation_name(found.kind));
        cr_expect_geq(found.strength, CASES[i].at_least, "%s %s", CASES[i].a, CASES[i].b);
        cr_expect(found.kind == TEXT_RELATION_NONE ? found.strength <= 0 : found.strength <= 1);
    }
}

Test(lexicon, rare_senses_are_weak)
{
    cr_expect_lt(text_relate("state", "say").strength, 0.4);
    cr_expect_lt(text_relate("date", "friend").strength, 0.4);
    cr_expect_lt(text_relate("order", "soldier").strength, 0.4);
}

Test(lexicon, links_and_info_are_read)
{
    struct text_link links[TEXT_MAX_LINKS];
    uint32_t old = text_lexicon_word("old"), age = text_lexicon_word("age");
    unsigned n = text_lexicon_links(old, links, TEXT_MAX_LINKS), found = 0;
    for (unsigned i = 0; i < n; i++) found += links[i].word == age;
    cr_expect_eq(found, 1);
    cr_expect_eq(text_lexicon_links(old, links, 2), 2);
    cr_expect_eq(text_lexicon_links(TEXT_NO_WORD, links, TEXT_MAX_LINKS), 0);
    cr_expect_str_eq(text_lexicon_text(TEXT_NO_WORD), "");
    cr_expect_eq(text_lexicon_info(TEXT_NO_WORD).commonness, 0);
    cr_expect_eq(text_lexicon_info(text_lexicon_word("singer")).class, TEXT_CLASS_PERSON);
    cr_expect_eq(text_lexicon_info(text_lexicon_word("people")).class, TEXT_CLASS_PERSON);
    cr_expect_eq(text_lexicon_info(text_lexicon_word("country")).class, TEXT_CLASS_GROUP);
    cr_expect_gt(text_lexicon_info(text_lexicon_word("people")).commonness,
                 text_lexicon_info(text_lexicon_word("vocalist")).commonness);
}

Test(lexicon, long_words_are_bounded)
{
    char word[300];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    cr_expect_eq(text_lexicon_word(word), TEXT_NO_WORD);
    for (size_t i = 3; i < sizeof word - 1; i += 4) word[i] = ' ';
    cr_expect_eq(text_lexicon_word(word), TEXT_NO_WORD);
    cr_expect_eq(text_lexicon_word(" "), TEXT_NO_WORD);
}

static const unsigned ALL_KINDS = (1U << TEXT_RELATION_KINDS) - 1;

Test(word_set, phrases_are_matched)
{
    struct arena arena;
    struct text_word_match matches[4];
    arena_init(&arena, 0);
    struct text_word_set *set = text_word_set_new(&arena, 8);
    cr_assert_not_null(set);
    text_word_set_add(set, "old", 3);
    text_word_set_add(set, "person", 7);
    text_word_set_add(set, "qwertyish", 8);
    cr_assert_eq(text_word_set_match(set, "age", ALL_KINDS, matches, 4), 1);
    cr_expect_eq(matches[0].tag, 3);
    cr_expect_eq(matches[0].relation.kind, TEXT_RELATION_ATTRIBUTE);
    cr_assert_eq(text_word_set_match(set, "singer", ALL_KINDS, matches, 4), 1);
    cr_expect_eq(matches[0].tag, 7);
    cr_expect_eq(matches[0].relation.kind, TEXT_RELATION_HAS_KIND);
    cr_expect_eq(text_word_set_match(set, "singer", 1U << TEXT_RELATION_SYNONYM, matches, 4), 0);
    cr_assert_eq(text_word_set_match(set, "old", ALL_KINDS, matches, 4), 1);
    cr_expect_eq(matches[0].relation.kind, TEXT_RELATION_SAME);
    cr_expect_eq(text_word_set_match(set, "qwertyish", ALL_KINDS, matches, 4), 0);
    arena_free(&arena);
}

Test(word_set, matches_are_ordered_and_bounded)
{
    struct arena arena;
    struct text_word_match matches[3];
    arena_init(&arena, 0);
    struct text_word_set *set = text_word_set_new(&arena, 3);
    static const char *const PUT_IN[] = {"wage", "money", "salari", "rich"};
    for (uint32_t i = 0; i < 4; i++) text_word_set_add(set, PUT_IN[i], i); /* the last word exceeds the capacity */
    unsigned n = text_word_set_match(set, "salari", ALL_KINDS, matches, 3);
    cr_assert_geq(n, 2);
    cr_expect_eq(matches[0].tag, 2);
    cr_expect_eq(matches[1].tag, 0);
    for (unsigned i = 0; i < n; i++) cr_expect_neq(matches[i].tag, 3);
    cr_expect_eq(text_word_set_match(set, "salari", ALL_KINDS, matches, 1), 1);
    cr_expect_eq(matches[0].tag, 2);
    cr_expect_eq(text_word_set_match(set, "salari", ALL_KINDS, matches, 0), 0);
    arena_free(&arena);
}

Test(lexicon, tokens_carry_word_numbers)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct text_tokens tokens = text_tokenize(&arena, "Oldest qwertyish 42 singers", 27);
    cr_assert_eq(tokens.n, 4);
    cr_expect_eq(tokens.items[0].word, text_lexicon_word("old"));
    cr_expect_eq(tokens.items[1].word, TEXT_NO_WORD);
    cr_expect_eq(tokens.items[2].word, TEXT_NO_WORD);
    cr_expect_eq(tokens.items[3].word, text_lexicon_word("singer"));
    arena_free(&arena);
}
