#include "lib/text/text.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(identifier, .fini = leak_check);

static const char *const CASES[][2] = {
    {"AvgSalary_2", "average salary 2"},
    {"HTTPServer", "http server"},
    {"dept-no", "department number"},
    {"no_smoking", "no smoking"},
    {"StuID", "student id"},
    {"stuid", "student id"},
    {"firstname", "first name"},
    {"LName", "l name"},
    {"lname", "last name"},
    {"PetType", "pet type"},
    {"pettype", "pet type"},
    {"customerID", "customer id"},
    {"IDs", "ids"},
    {"grid", "grid"},
    {"candidate", "candidate"},
    {"username", "user name"},
    {"DOB", "date of birth"},
    {"number_of_cities", "number of cities"},
    {"A1B2", "a 1 b 2"},
    {"Pa\xC3\xADs", "pais"},
    {"__x__", "x"},
    {"order", "order"},
    {"year_join", "year join"},
    {"tryout", "tryout"},
    {"is_valid", "is valid"},
    {"co_author", "co author"},
    {"", ""},
    {"--", ""},
};

Test(identifier, identifiers_are_split)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct text_tokens t = text_split_identifier(&arena, CASES[i][0], strlen(CASES[i][0]));
        cr_assert_not_null(t.items);
        const char *got = "";
        for (uint32_t j = 0; j < t.n; j++) got = arena_printf(&arena, "%s%s%s", got, j ? " " : "", t.items[j].norm);
        cr_expect_str_eq(got, CASES[i][1], "%s: got %s", CASES[i][0], got);
    }
    arena_free(&arena);
}

Test(identifier, spans_point_into_the_name)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct text_tokens t = text_split_identifier(&arena, "avgDOB", 6);
    cr_assert_eq(t.n, 4);
    cr_expect(t.items[0].start == 0 && t.items[0].end == 3);
    for (int i = 1; i < 4; i++) cr_expect(t.items[i].start == 3 && t.items[i].end == 6);
    arena_free(&arena);
}
