#include "lib/schema/tally.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static int has(const struct school *s, const char *column, const char *text, bool exact)
{
    return schema_column_has(s->index, school_column(s, column), text, strlen(text), exact);
}

Test(lookup, exact_and_folded_values_are_found)
{
    struct school s;
    school_open(&s, NULL, NULL);
    cr_assert_eq(has(&s, "teacher.full_name", "José Álvarez", true), 1);
    cr_assert_eq(has(&s, "teacher.full_name", "jose alvarez", true), 0);
    cr_assert_eq(has(&s, "teacher.full_name", "jose alvarez", false), 1, "accents and case");
    cr_assert_eq(has(&s, "teacher.full_name", " BOB   Stone ", false), 1, "spaces");
    cr_assert_eq(has(&s, "teacher.full_name", "jose", false), 0, "no part of it");
    cr_assert_eq(has(&s, "teacher.full_name", "", false), 0);
    cr_assert_eq(has(&s, "islet.thing", "x", false), 0);
    char longer[300];
    memset(longer, 'x', sizeof longer);
    cr_assert_eq(schema_column_has(s.index, school_column(&s, "teacher.full_name"), longer, sizeof longer, true), -1);
    cr_assert_eq(has(&s, "teacher.note", "free text", true), 1);
    cr_assert_eq(has(&s, "teacher.note", "absent", true), -1, "there are blobs");
    school_end(&s);
}

Test(lookup, numbers_are_found_in_any_spelling)
{
    struct school s;
    school_open(&s, NULL, NULL);
    cr_assert_eq(has(&s, "teacher.salary", "3", true), 1);
    cr_assert_eq(has(&s, "teacher.salary", "3.0", true), 1);
    cr_assert_eq(has(&s, "teacher.salary", "+03.00", true), 1);
    cr_assert_eq(has(&s, "teacher.salary", "1000.5", true), 1);
    cr_assert_eq(has(&s, "teacher.salary", "1000.50", true), 1);
    cr_assert_eq(has(&s, "teacher.salary", "1000", true), 0);
    cr_assert_eq(has(&s, "teacher.teacher_id", "4.0", true), 1);
    cr_assert_eq(has(&s, "course.code", "007", true), 1);
    cr_assert_eq(has(&s, "course.code", "07", true), 0, "a text is not a number");
    cr_assert_eq(has(&s, "course.code", "3", true), 0);
    cr_assert_eq(has(&s, "course.code", "3.0", true), 1);
    school_end(&s);
}

Test(lookup, columns_with_value_are_listed)
{
    struct school s;
    school_open(&s, NULL, NULL);
    struct schema_hit hits[8];
    cr_assert_eq(schema_values_with(s.index, "ann lee", 7, hits, 8), 2, "two forms");
    cr_assert(!hits[0].exact && !hits[1].exact && hits[0].column == school_column(&s, "teacher.full_name")->id);
    cr_assert_eq(schema_values_with(s.index, "Ann Lee", 7, hits, 8), 2);
    cr_assert(hits[0].exact && !hits[1].exact, "the very same comes first");
    cr_assert_str_eq(hits[1].form, "Ann  Lee");
    cr_assert_eq(schema_values_with(s.index, "North", 5, hits, 8), 2, "two columns");
    cr_assert(hits[0].column < hits[1].column && hits[0].count == 2);
    cr_assert_eq(schema_values_with(s.index, "North", 5, hits, 1), 1);
    cr_assert_eq(schema_values_with(s.index, "North", 5, hits, 0), 0);
    cr_assert_eq(schema_values_with(s.index, "West", 4, hits, 8), 0);
    cr_assert_geq(schema_values_with(s.index, "10", 2, hits, 8), 2);
    school_end(&s);
}

Test(lookup, every_value_is_found)
{
    struct school s;
    school_open(
        &s,
        "CREATE TABLE t(a, b); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 20000) "
        "SELECT x * 7, 'Value ' || x FROM c;",
        NULL);
    for (int i = 1; i <= 20000; i += 13) {
        char number[32], text[32];
        snprintf(number, sizeof number, "%d", i * 7);
        snprintf(text, sizeof text, "VALUE %d", i);
        cr_assert_eq(has(&s, "t.a", number, true), 1, "%s", number);
        cr_assert_eq(has(&s, "t.b", text, false), 1, "%s", text);
        cr_assert_eq(has(&s, "t.b", text, true), 0, "%s", text);
        cr_assert_eq(has(&s, "t.b", number, false), 0, "%s", number);
    }
    school_end(&s);
}

Test(lookup, nearest_values_are_found)
{
    struct school s;
    school_open(
        &s,
        "CREATE TABLE t(a); INSERT INTO t VALUES('United States'),('United Kingdom'),('France'),('Frnce'),('Germany'),"
        "('USA'),('New York City'),('x');",
        NULL);
    const struct schema_column *a = school_column(&s, "t.a");
    const char *near[4];
    cr_assert_geq(schema_nearest_values(&s.f.arena, s.index, a, "france", 6, near, 4), 2);
    cr_assert_str_eq(near[0], "France");
    cr_assert_str_eq(near[1], "Frnce");
    cr_assert_geq(schema_nearest_values(&s.f.arena, s.index, a, "New York", 8, near, 4), 1);
    cr_assert_str_eq(near[0], "New York City");
    cr_assert_geq(schema_nearest_values(&s.f.arena, s.index, a, "Untied States", 13, near, 4), 1);
    cr_assert_str_eq(near[0], "United States");
    cr_assert_eq(schema_nearest_values(&s.f.arena, s.index, a, "completely else", 15, near, 4), 0);
    cr_assert_eq(schema_nearest_values(&s.f.arena, s.index, a, "France", 6, near, 0), 0);
    school_end(&s);
}

Test(lookup, text_shapes_are_recognised)
{
    static const char *const dates[] = {
        "2001-02-03",
        "2001/2/3",
        "3.2.2001",
        "02/13/2001",
        "13-02-99",
        "2001-02-03 10:11:12",
        "2001-02-03T10:11:12.5Z",
        "2001-02-03T10:11:12+02:00",
        "10:11",
        "10:11:12",
        "9:05 PM",
        "May 3, 2001",
        "3 May 2001",
        "May 2001",
        "03-MAY-01",
        "September 2001",
        "Sept 3 2001",
    };
    static const char *const no_dates[] = {
        "2001",   "12345", "1.5.7.9", "1-2",     "99-99-9999", "2001-45-01", "Maybe 3, 2001", "555-123-4567",
        "12:345", "a:b",   "",        "3.14.15", "hello",      "25:00:00x",  "May",
    };
    static const char *const numbers[] = {"1", "-1", "+1.5", ".5", "5.", "000"};
    static const char *const no_numbers[] = {"", "-", ".", "1e5", "1,000", " 1", "1 ", "0x10", "1.2.3"};
    for (size_t i = 0; i < G_N_ELEMENTS(dates); i++)
        cr_assert(looks_like_date(dates[i], strlen(dates[i])), "%s", dates[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(no_dates); i++)
        cr_assert_not(looks_like_date(no_dates[i], strlen(no_dates[i])), "%s", no_dates[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
        cr_assert(looks_numeric(numbers[i], strlen(numbers[i])), "%s", numbers[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(no_numbers); i++)
        cr_assert_not(looks_numeric(no_numbers[i], strlen(no_numbers[i])), "%s", no_numbers[i]);
}
