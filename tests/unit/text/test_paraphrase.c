/* Tests which changes a reworded text may and may not make. */
#include "lib/text/paraphrase.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(paraphrase, .fini = leak_check);

static const char count_of_french[] =
    "The query returns one row: the number of customers. It looks at customers. Only rows where the country is equal "
    "to "
    "'France' are kept. The result has 1 row. In its only row the number of customers is 2.";

static bool check(const char *text, const char *original, struct paraphrase_difference *why)
{
    struct arena arena;
    arena_init(&arena, 16 << 20);
    *why = (struct paraphrase_difference){0};
    bool same = paraphrase_check(&arena, text, original, NULL, 0, why);
    arena_free(&arena);
    return same;
}

/* Returns the verdict on a reworded text, such as "lost number 2" or "added name singers"; "" for a valid
 * paraphrase. */
static const char *verdict(const char *text, const char *original)
{
    static char said[100];
    struct paraphrase_difference why;
    *said = 0;
    if (!check(text, original, &why))
        g_snprintf(said, sizeof said, "%s %s %s", why.added ? "added" : "lost", why.kind, why.what);
    return said;
}

static void expect(const char *expected, const char *text, const char *original)
{
    cr_expect_str_eq(verdict(text, original), expected, "'%s': %s", text, verdict(text, original));
}

#define SAME(text, original)              expect("", text, original)
#define DIFFERS(expected, text, original) expect(expected, text, original)

Test(paraphrase, identical_text_is_paraphrase)
{
    SAME(count_of_french, count_of_french);
    SAME("", "");
}

Test(paraphrase, plain_words_may_change)
{
    SAME("One row: there are 2 customers whose country is France.", count_of_french);
    SAME("Looking at all customers with the country \"France\", the query finds two of them, in a single row.",
         count_of_french);
    SAME("The customer table contains two entries with country ‘France’; that is the only row.", count_of_french);
}

/* Texts as people and models write them. */
Test(paraphrase, free_prose_is_accepted)
{
    static const char grouped[] = "The query returns the number of customers and the country. It looks at customers. "
                                  "Only rows where the age is greater "
                                  "than 20 are kept. Rows are put into groups by the country. The result has 3 rows. "
                                  "For example, in row 2 the number of "
                                  "customers is 2 and the country is 'France'. This row stands for a group of 2 source "
                                  "rows, for instance country "
                                  "'France', age 31 (which is greater than 20).";
    static const char nested[] = "The query returns the name. It looks at customers. Only rows where the age is "
                                 "greater than the average of the age of "
                                 "all customers are kept. The result has 2 rows. For example, in row 1 the name is "
                                 "'Bo'. This row comes from 1 source "
                                 "row: name 'Bo', age 44 (which is greater than the average of the age of all "
                                 "customers). For this row, the inner query "
                                 "gives 40.5, computed from 4 source rows, for instance age 31.";
    SAME("Counting the customers whose age is above 20 in every country gives three rows. The second of them, for "
         "instance, says "
         "that there are 2 customers in the country 'France'; it summarises 2 rows, one of which has age 31.",
         grouped);
    SAME("Two customers have an age above the average age of all customers; the first one's name is 'Bo', whose age is "
         "44. The "
         "average, worked out in an inner query over 4 rows (one of them has age 31), is 40.5.",
         nested);
    DIFFERS("added name years",
            "Counting the customers older than 20 years in every country gives 3 rows; in row 2, 'France' has 2, one "
            "with age 31.",
            grouped);
}

Test(paraphrase, omissions_and_additions_are_found)
{
    DIFFERS("lost value France", "A row: there are 2 customers from that country.", count_of_french);
    DIFFERS("lost value France", "A row: there are 2 customers whose country is Franceville.", count_of_french);
    DIFFERS("lost number 2", "A row: there are customers whose country is France.", count_of_french);
    DIFFERS("lost name country", "A row: there are 2 customers from France.", count_of_french);
    DIFFERS("added number 3", "A row: there are 2 customers whose country is France, in 3 cities.", count_of_french);
    DIFFERS("added name singers", "A row: there are 2 customers whose country is France, and singers.",
            count_of_french);
    DIFFERS("added name germany", "A row: there are 2 customers whose country is France or 'Germany'.",
            count_of_french);
}

Test(paraphrase, numbers_are_compared_by_value)
{
    static const char many[] = "The number of customers is 1234.";
    SAME("There are 1,234 customers.", many);
    SAME("There are 1 234 customers.", many);
    SAME("There are 1\u202f234 customers.", many);
    SAME("There are 1234.0 customers.", many);
    SAME("There are one thousand two hundred and thirty-four customers.", many);
    DIFFERS("added number 1235", "There are 1,235 customers.", many);
    DIFFERS("added number 1233", "There are one thousand two hundred thirty-three customers.", many);
    SAME("There are two hundred customers.", "The number of customers is 200.");
    SAME("There are a dozen customers.", "The number of customers is 12.");
    SAME("There are two dozen customers.", "The number of customers is 24.");
    SAME("There are 2.5 million customers.", "The number of customers is 2500000.");
    SAME("The customers in the second row ...", "The customers in row 2.");
    SAME("The customers in the 2nd row ...", "The customers in row 2.");
    DIFFERS("added number 3", "The customers in the third row and row 2.", "The customers in row 2.");
    DIFFERS("added number 12", "The price is 12.", "The price is -12.");
    DIFFERS("added sign %", "The share is 50%.", "The share is 50.");
    DIFFERS("added sign $", "The price is $50.", "The price is 50.");
}

Test(paraphrase, number_one_has_many_spellings)
{
    static const char one[] = "The result has 1 row: customers.";
    SAME("A row of customers.", one);
    SAME("The only row of customers.", one);
    SAME("One row of customers.", one);
    DIFFERS("lost number 1", "Rows of customers.", one);
    SAME("The one with the customers.", "The row with the customers.");
    DIFFERS("added number 4", "There are 4 and 2 customers.", "The number of customers is 2.");
}

Test(paraphrase, names_may_be_split_or_joined)
{
    static const char rows[] = "The customer_id and the homeTown of each row.";
    SAME("The customer ID and home town of every row.", rows);
    SAME("Customer id with home-town.", rows);
    SAME("Each customer's ID, and their home town.", rows);
    SAME("Each customer's \"ID\", and their home town.", rows);
    DIFFERS("lost name town", "Each customer's ID and home.", rows);
    DIFFERS("added name user", "Each customer's user ID and home town.", rows);
    DIFFERS("added name order", "Each customer's order_id and home town.", "The customer_id and the homeTown.");
}

Test(paraphrase, words_that_are_names_must_stay)
{
    struct arena arena;
    struct paraphrase_difference why = {0};
    const char *const names[] = {"order_list"};
    arena_init(&arena, 1 << 20);
    cr_expect(paraphrase_check(&arena, "Ships of each list.", "The ships of the list.", names, 1, &why));
    cr_expect_not(paraphrase_check(&arena, "Ships.", "The ships of the list.", names, 1, &why));
    cr_expect_str_eq(why.what, "list");
    arena_free(&arena);
}

Test(paraphrase, quoted_values_must_be_verbatim)
{
    static const char irish[] = "The name is 'O''Brien & Sons (12)'.";
    SAME("Their name is O'Brien & Sons (12).", irish);
    SAME("Their name is \"O'Brien & Sons (12)\".", irish);
    SAME("Their name is 'O''Brien & Sons (12)'.", irish);
    DIFFERS("lost value O'Brien & Sons (12)", "Their name is O'Brien & Sons.", irish);
    DIFFERS("lost value O'Brien & Sons (12)", "Their name is o'brien & sons (12).", irish);
    SAME("The date is 2014-06-18.", "The date is '2014-06-18'.");
    DIFFERS("lost value 2014-06-18", "The date is June 18, 2014.", "The date is '2014-06-18'.");
    DIFFERS("lost value all", "All ships.", "The ships that are called 'all'.");
    DIFFERS("added name first", "Ships called \"all\" and 'first'.", "The ships that are called 'all'.");
    SAME("Ships called \"all\".", "The ships that are called 'all'.");
    SAME("Ships in Rome and New Rome.", "Ships in 'Rome' and 'New Rome'.");
    DIFFERS("lost value Rome", "Ships in New Rome.", "Ships in 'Rome' and 'New Rome'.");
}

Test(paraphrase, sense_of_condition_must_stay)
{
    static const char old[] = "Rows where the age is greater than 20 are kept.";
    SAME("The age is above 20.", old);
    SAME("An age of more than 20.", old);
    DIFFERS("lost sense of greater", "The age is below 20.", old);
    DIFFERS("added sense of less", "The age is greater than 20 or less.", old);
    DIFFERS("added sense of not", "The age isn't greater than 20.", old);
    DIFFERS("added sense of average", "The average age is greater than 20.", old);
    DIFFERS("lost sense of not", "The country is 'France'.", "The country is not 'France'.");
}

/* Hostile and invalid texts must also get a verdict. */
Test(paraphrase, any_text_is_comparable)
{
    static const char *const texts[] = {"'",
                                        "''",
                                        "'''",
                                        "it's '",
                                        "\x01\x02",
                                        "9999999999999999999999 million billion",
                                        "two two two hundred hundred and",
                                        "1 234 567 89",
                                        "_ - __ --",
                                        "\u00e9\u202e\u200b",
                                        "and",
                                        "' '",
                                        "one hundred and"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(texts); k++) {
            struct paraphrase_difference why;
            bool same = check(texts[i], texts[k], &why);
            cr_expect(same || (why.kind && g_utf8_validate(why.what, -1, NULL)), "%s / %s", texts[i], texts[k]);
            cr_expect(i != k || same, "%s differs from itself: %s %s", texts[i], why.kind, why.what);
        }
    char *long_value = g_strnfill(100000, 'x'), *text = g_strdup_printf("'%s'", long_value);
    DIFFERS("lost value xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "", text);
    g_free(text);
    g_free(long_value);
}
