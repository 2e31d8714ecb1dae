/* Tests keys that are learned from the joins in a log. */
#include "tests/unit/schema/school.h"
#include "train/joined_keys.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SHOP                                                                                                           \
    "CREATE TABLE client(nr INTEGER PRIMARY KEY, town TEXT);"                                                          \
    "CREATE TABLE bill(nr INTEGER PRIMARY KEY, payer INTEGER, town TEXT, client_nr INTEGER REFERENCES client(nr));"    \
    "INSERT INTO client VALUES (1, 'Graz'), (2, 'Graz');"                                                              \
    "INSERT INTO bill VALUES (7, 1, 'Graz', 1), (8, 2, 'Wien', 2), (9, 2, 'Wien', 2)"

static char *learned(const char *const *queries, unsigned *n)
{
    struct school s;
    school_open(&s, SHOP, NULL);
    struct joined_keys *learn = joined_keys_new();
    for (; *queries; queries++) cr_expect(joined_keys_add(learn, "shop", s.index, *queries), "%s", *queries);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    *n = joined_keys_print(learn, out);
    fclose(out);
    joined_keys_free(learn);
    school_end(&s);
    return text;
}

Test(joined_keys, join_of_three_queries_is_a_reference)
{
    unsigned n;
    char *text =
        learned((const char *const[]){"SELECT 1 FROM bill b JOIN client c ON c.nr = b.payer",
                                      "SELECT c.town FROM client c, bill b WHERE b.payer = c.nr",
                                      "SELECT b.nr FROM bill b WHERE b.payer IN (SELECT nr FROM client)", NULL},
                &n);
    cr_expect_eq(n, 1);
    cr_expect_str_eq(text, "# shop\nkeys:\n  - \"bill.payer -> client.nr\" # 3 queries\n");
    free(text);
}

/* None of these is counted as a reference: a declared key, columns that merely share values, a negated condition, a
 * condition within OR. A query that occurs three times counts once. */
Test(joined_keys, other_equalities_are_no_reference)
{
    static const char *const QUERIES[] = {
        "SELECT 1 FROM bill b JOIN client c ON c.nr = b.client_nr",
        "SELECT 2 FROM bill b JOIN client c ON c.nr = b.client_nr",
        "SELECT 3 FROM bill b JOIN client c ON c.nr = b.client_nr",
        "SELECT 1 FROM bill b JOIN client c ON c.town = b.town",
        "SELECT 2 FROM bill b JOIN client c ON c.town = b.town",
        "SELECT 3 FROM bill b JOIN client c ON c.town = b.town",
        "SELECT 1 FROM bill WHERE payer NOT IN (SELECT nr FROM client)",
        "SELECT 1 FROM bill b JOIN client c ON c.nr = b.payer OR b.payer IS NULL",
        "SELECT 9 FROM bill b JOIN client c ON c.nr = b.payer",
        "SELECT 9 FROM bill b JOIN client c ON c.nr = b.payer",
        "SELECT 9 FROM bill b JOIN client c ON c.nr = b.payer",
        NULL,
    };
    unsigned n;
    char *text = learned(QUERIES, &n);
    cr_expect_eq(n, 0);
    cr_expect_str_eq(text, "");
    free(text);
}

Test(joined_keys, unreadable_queries_are_reported)
{
    struct school s;
    school_open(&s, SHOP, NULL);
    struct joined_keys *learn = joined_keys_new();
    cr_expect_not(joined_keys_add(learn, "shop", s.index, "SELECT FROM"));
    cr_expect_not(joined_keys_add(learn, "shop", s.index, "SELECT wages FROM client"));
    joined_keys_free(learn);
    school_end(&s);
}
