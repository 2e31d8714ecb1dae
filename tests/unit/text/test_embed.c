#include "lib/text/text.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(embed, .fini = leak_check);

static float closeness(const char *a, const char *b)
{
    const struct text_embedder *e = text_builtin_embedder();
    float x[TEXT_DIM], y[TEXT_DIM];
    cr_assert(e->embed(e, a, strlen(a), x) && e->embed(e, b, strlen(b), y));
    return text_cosine(x, y, e->dim);
}

Test(embed, related_is_closer_than_unrelated)
{
    static const char *const TRIPLES[][3] = {
        {"average salary of employees", "avg_wage", "birth_place"},
        {"customers of the shop", "client_id", "flight_no"},
        {"How old are the singers?", "singer age", "stadium capacity"},
        {"the tallest building", "height_feet", "city_code"},
        {"country of origin", "Country", "airline"},
        {"names of the instructors", "teacher_name", "course_code"},
    };
    for (size_t i = 0; i < sizeof TRIPLES / sizeof *TRIPLES; i++)
        cr_expect_gt(closeness(TRIPLES[i][0], TRIPLES[i][1]), closeness(TRIPLES[i][0], TRIPLES[i][2]) + 0.1F, "%s",
                     TRIPLES[i][0]);
}

/* The cache holds the contribution of a word from one text to the next. Between equal texts come other words and other
 * spellings. */
Test(embed, repeated_text_has_equal_embedding)
{
    static const char *const TEXTS[] = {"show the avg_salary of 3 'Staff' and staff", "STUID and StuId and stuid",
                                        "names of the 3rd customer_address_history_identification_number"};
    const struct text_embedder *e = text_builtin_embedder();
    float first[3][TEXT_DIM], again[TEXT_DIM];
    char word[32];
    for (size_t i = 0; i < 3; i++) cr_assert(e->embed(e, TEXTS[i], strlen(TEXTS[i]), first[i]));
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 3; i++) {
            cr_assert(e->embed(e, TEXTS[i], strlen(TEXTS[i]), again));
            cr_expect_eq(memcmp(first[i], again, sizeof again), 0, "%s", TEXTS[i]);
        }
        for (int i = 0; i < 2000; i++) { /* more words than the cache holds */
            snprintf(word, sizeof word, "word%d", i);
            cr_assert(e->embed(e, word, strlen(word), again));
        }
    }
}

Test(embed, embedding_is_deterministic_with_unit_length)
{
    const struct text_embedder *e = text_builtin_embedder();
    float x[TEXT_DIM], y[TEXT_DIM], norm = 0;
    cr_assert(e->embed(e, "what is it", 10, x)); /* a text of stop words alone still has a vector */
    for (int i = 0; i < TEXT_DIM; i++) norm += x[i] * x[i];
    cr_expect_float_eq(norm, 1, 1e-4);
    cr_assert(e->embed(e, "what is it", 10, y));
    cr_expect_eq(memcmp(x, y, sizeof x), 0);
    cr_assert(e->embed(e, "", 0, x));
    cr_expect_float_eq(text_cosine(x, y, TEXT_DIM), 0, 0);
    cr_expect_float_eq(closeness("City", "city"), 1, 1e-5);
}
