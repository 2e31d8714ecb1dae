/* No statement may run far beyond its time limit, whatever work it does between two moments at which the engine reads
 * the clock. */
#include "lib/base/clock.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum {
    TIME_MS = 100,
    OVER_MS = 2000 /* applies inside the engine only; allows for sanitizers */
};

/* One row without a table. Its x is computed once, however often x is used. */
#define DIGITS  "(SELECT hex(hex(zeroblob(%u / 2))) AS x LIMIT 1)"
#define NOUGHTS "(SELECT hex(zeroblob(%u)) || '1' AS x LIMIT 1)"

/* Returns a statement whose columns are `n` copies of the expression, in one row of `from`. */
static char *repeated(const char *expression, const char *separator, unsigned n, const char *from, unsigned size)
{
    GString *sql = g_string_new("SELECT ");
    for (unsigned i = 0; i < n; i++) g_string_append_printf(sql, "%s%s", i ? separator : "", expression);
    char *source = g_strdup_printf(from, size);
    g_string_append_printf(sql, " FROM %s", source);
    g_free(source);
    return g_string_free(sql, FALSE);
}

/* Returns how far the statement ran beyond its limit, in ms. */
static double run_past(struct fixture *f, const char *sql, enum err_code *code)
{
    struct db_result result;
    struct err err = {0};
    int64_t start = clock_now_ns();
    *code = fixture_query(f, sql, &result, &err);
    double ms = clock_ms(clock_now_ns() - start);
    cr_assert(*code == ERR_OK || (*code >= ERR_LIMIT_BYTES && *code <= ERR_LIMIT_COUNT), "%.60s: %s", sql, err.text);
    arena_reset(&f->arena);
    cr_assert_eq(fixture_int(f, "SELECT 1"), 1, "%.60s: the handle is dead", sql);
    return ms - TIME_MS;
}

/* A regression: 900 such columns over 83,000 bytes ran for 40 s. */
Test(clock, like_in_every_column_ends_in_time, .timeout = 120)
{
    static const char *const calls[] = {
        "x LIKE '%0%0%0%0%0%0%0%0000000000000000000000000000000000000c'",
        "x LIKE '%0000000000000000000000000000000000000000000c%'",
        "x GLOB '*000000000000000000000000000000000000000000[c]*'",
    };
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, &(struct db_limits){.time_ms = TIME_MS});
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++) {
        char *sql = repeated(calls[i], ", ", 900, NOUGHTS, 41500);
        enum err_code code;
        double past = run_past(&f, sql, &code);
        cr_assert_lt(past, 200, "%s: %.0f ms past its limit", calls[i], past);
        cr_assert(code == ERR_LIMIT_TIME || code == ERR_LIMIT_BYTES, "%s: %s", calls[i], err_name(code));
        g_free(sql);
    }
    fixture_end(&f);
}

Test(clock, single_call_checks_the_clock, .timeout = 120)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, &(struct db_limits){.time_ms = TIME_MS});
    enum err_code code;
    char *sql =
        repeated("x LIKE '%00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                 "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000c%'",
                 "", 1, NOUGHTS, 900000);
    double past = run_past(&f, sql, &code);
    cr_assert_eq(code, ERR_LIMIT_TIME, "%s", err_name(code));
    cr_assert_lt(past, 200, "%.0f ms past its limit", past);
    g_free(sql);
    fixture_end(&f);
}

/* Work outside of Assay's own functions: arithmetic on digits, comparisons, calls that allocate and calls that do
 * not. */
Test(clock, every_column_of_long_statement_ends_in_time, .timeout = 300)
{
    static const struct {
        const char *expression, *separator;
        unsigned n;
    } shapes[] = {
        {"x", "+", 300},
        {"x+x+x+x+x+x+x+x+x+x+x+x+x+x+x+x", ", ", 1900},
        {"length(x)", ", ", 1900},
        {"(x = x COLLATE NOCASE)", ", ", 1900},
        {"hex(x)", ", ", 1900},
        {"upper(x)", ", ", 1900},
        {"json_valid('[' || x || ']')", ", ", 1900},
        {"x || x", ", ", 1900},
        {"printf('%.50000c', x)", ", ", 1900},
        {"trim(x, '0123456789')", ", ", 1900},
        {"instr(x, '8')", ", ", 1900},
        {"replace(x, '3030', '8')", ", ", 1900},
        {"CAST(x AS REAL)", ", ", 1900},
    };
    static const unsigned sizes[] = {8000, 100000, 1900000};
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, &(struct db_limits){.time_ms = TIME_MS});
    for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
        for (size_t j = 0; j < G_N_ELEMENTS(sizes); j++) {
            enum err_code code;
            char *sql = repeated(shapes[i].expression, shapes[i].separator, shapes[i].n, DIGITS, sizes[j]);
            double past = run_past(&f, sql, &code);
            cr_assert_lt(past, OVER_MS, "%s at %u: %.0f ms past its limit", shapes[i].expression, sizes[j], past);
            g_free(sql);
        }
    fixture_end(&f);
}

/* Each width is below the limit, but the sum of all widths exceeds it. */
Test(clock, printf_is_bounded_by_sum_of_widths, .timeout = 120)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, &(struct db_limits){.time_ms = TIME_MS});
    enum err_code code;
    double past = run_past(&f, "SELECT length(printf(replace(hex(zeroblob(5000)), '00', '%.99999c'), 'ab'))", &code);
    cr_assert_eq(code, ERR_LIMIT_BYTES, "%s", err_name(code));
    cr_assert_lt(past, 200, "%.0f ms past its limit", past);
    fixture_end(&f);
}

/* A long value is permitted in a short statement. */
Test(clock, short_statement_may_hold_long_value)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    cr_assert_eq(fixture_int(&f, "SELECT length(hex(zeroblob(1000000)))"), 2000000);
    cr_assert_eq(fixture_int(&f, "SELECT length(a || a) FROM (SELECT hex(zeroblob(200000)) AS a LIMIT 1)"), 800000);
    fixture_end(&f);
}
