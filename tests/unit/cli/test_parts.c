/* Small parts of the command line: carets, percentiles, lines of a log, the last record of a replay. */
#include "cli/output/caret.h"
#include "cli/output/latency.h"
#include "cli/output/terminal.h"
#include "cli/replay/resume.h"
#include "cli/settings/options.h"
#include "lib/base/input.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(parts, .init = begin, .fini = end);

static char *carets(const char *sql, const struct mark *marks, unsigned n, unsigned width)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    caret_print(stream, sql, strlen(sql), marks, n, 2, width);
    fclose(stream);
    return text;
}

static void expect_carets(const char *sql, const struct mark *marks, unsigned n, unsigned width, const char *want)
{
    char *got = carets(sql, marks, n, width);
    cr_expect_str_eq(got, want);
    free(got);
}

Test(parts, carets_are_under_their_clause)
{
    expect_carets("SELECT a FROM t", (struct mark[]){{7, 8, 1}}, 1, 80, "  SELECT a FROM t\n         ^ [1]\n");
    expect_carets("SELECT a FROM t", (struct mark[]){{0, 6, 1}, {14, 15, 2}}, 2, 80,
                  "  SELECT a FROM t\n  ^^^^^^ [1]    ^ [2]\n");
    expect_carets("SELECT a, b FROM t", (struct mark[]){{7, 8, 1}, {10, 11, 2}}, 2, 80,
                  "  SELECT a, b FROM t\n         ^ [1]\n            ^ [2]\n");
    expect_carets("SELECT a\nFROM t", (struct mark[]){{14, 15, 1}}, 1, 80, "  SELECT a\n  FROM t\n       ^ [1]\n");
    expect_carets("SELECT a FROM", (struct mark[]){{13, 13, 1}}, 1, 80, "  SELECT a FROM\n               ^ [1]\n");
}

Test(parts, carets_count_characters_not_bytes)
{
    expect_carets("SELECT 'caf\xC3\xA9', x", (struct mark[]){{16, 17, 1}}, 1, 80,
                  "  SELECT 'caf\xC3\xA9', x\n                 ^ [1]\n");
    expect_carets("SELECT '\033[31m'", (struct mark[]){{7, 14, 1}}, 1, 80,
                  "  SELECT '\\u001b[31m'\n         ^^^^^^^^^^^^ [1]\n");
    unsigned line, column;
    caret_position("a\nb\xC3\xA9z", 6, 5, &line, &column);
    cr_expect_eq(line, 2);
    cr_expect_eq(column, 3);
}

/* Text that looks different from the SQL that runs is shown with escapes. The carets stay in place. */
Test(parts, invisible_characters_are_escaped)
{
    static const struct {
        const char *bytes, *escape;
    } rows[] = {
        {"\xC2\xAD", "\\u00ad"},
        {"\xC2\x85", "\\u0085"},
        {"\xC2\x9B", "\\u009b"},
        {"\xD8\x9C", "\\u061c"},
        {"\xE2\x80\x8B", "\\u200b"},
        {"\xE2\x80\x8D", "\\u200d"},
        {"\xE2\x80\x8F", "\\u200f"},
        {"\xE2\x80\xA8", "\\u2028"},
        {"\xE2\x80\xAA", "\\u202a"},
        {"\xE2\x80\xAE", "\\u202e"},
        {"\xE2\x81\xA0", "\\u2060"},
        {"\xE2\x81\xA6", "\\u2066"},
        {"\xE2\x81\xA9", "\\u2069"},
        {"\xEF\xB8\x8F", "\\ufe0f"},
        {"\xEF\xBB\xBF", "\\ufeff"},
        {"\xE3\x85\xA4", "\\u3164"},
        {"\xF3\xA0\x80\x81", "\\U000e0001"},
        {"\xF3\xA0\x81\x81", "\\U000e0041"},
        {"\xF3\xA0\x84\x80", "\\U000e0100"},
        {"\x7F", "\\u007f"},
        {"\x9B", "\\x9b"},
        {"\xE2\x80", "\\xe2\\x80"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *sql = g_strdup_printf("SELECT '%s' x", rows[i].bytes), *stars = g_strnfill(strlen(rows[i].escape), ' ');
        char *want = g_strdup_printf("  SELECT '%s' x\n            %s^ [1]\n", rows[i].escape, stars);
        uint32_t at = (uint32_t)strlen(sql) - 1;
        expect_carets(sql, (struct mark[]){{at, at + 1, 1}}, 1, 80, want);
        g_free(sql);
        g_free(stars);
        g_free(want);
    }
    expect_carets(
        "SELECT '\xC3\xA9\xE6\xBC\xA2\xD7\x90' x", (struct mark[]){{17, 18, 1}}, 1, 80,
        "  SELECT '\xC3\xA9\xE6\xBC\xA2\xD7\x90' x\n                ^ [1]\n"); /* letters of any script are unchanged */
}

Test(parts, long_sql_is_broken_at_spaces)
{
    expect_carets("SELECT aaaaaaaa, bbbbbbbb FROM cccc", (struct mark[]){{7, 25, 1}}, 1, 22,
                  "  SELECT aaaaaaaa, \n         ^^^^^^^^^^ [1]\n  bbbbbbbb FROM cccc\n  ^^^^^^^^ [1]\n");
}

static char *wrapped(const char *lead, const char *text)
{
    char *out = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&out, &len); /* not a terminal: 80 columns */
    print_paragraph(stream, lead, (unsigned)strlen(lead), text);
    fclose(stream);
    return out;
}

Test(parts, paragraphs_are_broken_at_spaces)
{
    static const char han[] = "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2"; /* three characters, each two columns wide */
    char *word = g_strnfill(81, 'a'), *text = g_strconcat(word, "  b", NULL), *got = wrapped(" 1 ", "one line");
    cr_expect_str_eq(got, " 1 one line\n");
    free(got);
    got = wrapped("", text);
    cr_expect(strncmp(got, word, 80) == 0 && strcmp(got + 80, "\na  b\n") == 0, "too long a word is broken: %s", got);
    free(got);
    g_free(text);
    text = g_strdup_printf("%.35s %.35s %s", word, word, han); /* 72 columns and six more; the lead leaves 76 */
    got = wrapped("    ", text);
    cr_expect_str_eq(got + 4 + 71, "\n    \xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\n", "%s", got);
    free(got);
    g_free(text);
    g_free(word);
    got = wrapped("", "");
    cr_expect_str_eq(got, "");
    free(got);
}

Test(parts, percentiles_are_within_a_percent)
{
    struct latency latency = {0};
    cr_expect_eq(latency_quantile(&latency, 0.5), 0);
    for (int i = 1; i <= 1000; i++) latency_add(&latency, i);
    cr_expect(fabs(latency_quantile(&latency, 0.5) - 500) <= 5.1);
    cr_expect(fabs(latency_quantile(&latency, 0.99) - 990) <= 10);
    cr_expect_eq(latency_quantile(&latency, 1), 1000);
}

Test(parts, lines_are_numbered_and_capped)
{
    char *big = g_strnfill(INPUT_MAX_BYTES + 10, 'x'), *log = g_strconcat("one\n\n  \r\n", big, "\nlast", NULL);
    write_file("log", log);
    g_free(big);
    g_free(log);
    struct lines lines;
    struct err err = {0};
    cr_assert_eq(lines_open("log", &lines, &err), ERR_OK);
    cr_expect_eq(lines_next(&lines), 1);
    cr_expect_str_eq(lines.text, "one");
    cr_expect_eq(lines_next(&lines), 1);
    cr_expect_eq(lines.number, 4);
    cr_expect(lines.too_long && lines.len == 0);
    cr_expect_eq(lines_next(&lines), 1);
    cr_expect_str_eq(lines.text, "last");
    cr_expect_not(lines.too_long);
    cr_expect_eq(lines_next(&lines), 0);
    cr_expect_eq(lines.offset, lines.size);
    lines_close(&lines);
    cr_expect_eq(lines_open("nowhere", &lines, &err), ERR_IO);
    cr_expect_eq(lines_open(".", &lines, &err), ERR_IO);
}

static uint64_t line_of(const char *record)
{
    return resume_place_of(record, strlen(record));
}

Test(parts, record_ends_with_its_line)
{
    cr_expect_eq(line_of("{\"id\":\"a\",\"line\":12}"), 12);
    cr_expect_eq(line_of("{\"id\":\"a\",\"line\":12"), 0);
    cr_expect_eq(line_of("{\"id\":\"a\"}"), 0);
    cr_expect_eq(line_of("{\"id\":\",\\\"line\\\":3\"}"), 0);
    cr_expect_eq(line_of("{\"a\":{\"b\":1,\"line\":3}}"), 0);
    cr_expect_eq(line_of(",\"line\":3}"), 0);
    cr_expect_eq(line_of(""), 0);
}

static enum err_code scan(const char *text, uint64_t *done, char **left)
{
    struct resume resume;
    struct err err = {0};
    write_file("out", text);
    enum err_code code = resume_scan("out", &resume, &err);
    *done = resume.done;
    resume_free(&resume);
    *left = read_file("out");
    return code;
}

static void expect_scan(const char *text, enum err_code code, uint64_t done, const char *left)
{
    uint64_t n;
    char *after;
    cr_expect_eq(scan(text, &n, &after), code, "%s", text);
    if (code == ERR_OK) cr_expect_eq(n, done, "%s", text);
    cr_expect_str_eq(after, left);
    g_free(after);
}

#define A "{\"id\":\"a\",\"line\":1}\n"
#define B "{\"id\":\"b\",\"line\":3}\n"

Test(parts, resume_cuts_only_torn_line)
{
    expect_scan(A B, ERR_OK, 2, A B);
    expect_scan(A "{\"schema_version\":1,\"id\":\"b\",\"li", ERR_OK, 1, A);
    expect_scan(A "{\"id\":\"b\",\"line\":3}", ERR_OK, 1, A); /* a line without its newline is judged again */
    expect_scan("{\"sch", ERR_OK, 0, "");
    expect_scan("precious\n", ERR_MALFORMED, 0, "precious\n");
    expect_scan("", ERR_OK, 0, "");
    expect_scan("id,status\n" A, ERR_MALFORMED, 0, "id,status\n" A);
    expect_scan(A A, ERR_MALFORMED, 0, A A);
}

Test(parts, resume_finds_completed_ids_and_source)
{
    struct resume resume;
    struct err err = {0};
    write_file("out", A B);
    cr_assert_eq(resume_scan("out", &resume, &err), ERR_OK);
    cr_expect(resume_has(&resume, 1) && !resume_has(&resume, 2) && resume_has(&resume, 3) &&
              !resume_has(&resume, 1000));
    static const uint64_t digest[2] = {3, 4}, other[2] = {3, 5};
    cr_expect_not(resume_conflicts(&resume, 3, digest, "b"), "an id is all that it says");
    cr_expect(resume_conflicts(&resume, 3, digest, "c"));
    cr_expect(resume_conflicts(&resume, 3, NULL, NULL));
    cr_expect_not(resume_conflicts(&resume, 2, digest, "x"));
    cr_expect_eq(resume.undigested, 2);
    resume_free(&resume);
    write_file("out", "{\"schema_version\":2,\"request_digest\":\"00000000000000030000000000000004\",\"id\":\"a\","
                      "\"line\":5}\n");
    cr_assert_eq(resume_scan("out", &resume, &err), ERR_OK);
    cr_expect_not(resume_conflicts(&resume, 5, digest, "a"));
    cr_expect(resume_conflicts(&resume, 5, digest, "b"), "the digest leaves the id out");
    cr_expect(resume_conflicts(&resume, 5, other, "a"));
    cr_expect(resume_conflicts(&resume, 5, NULL, "a"));
    cr_expect_eq(resume.undigested, 0);
    resume_free(&resume);
    cr_assert_eq(resume_scan("missing", &resume, &err), ERR_OK);
    cr_expect_eq(resume.done, 0);
    resume_free(&resume);
}

/* Checks all option tables. No two options of a command may share a name or letter, and every default must be valid. */
Test(parts, option_tables_are_valid)
{
    struct arena arena;
    struct settings settings = {0};
    struct err err = {0};
    arena_init(&arena, 0);
    for (const struct option_group *const *g = option_groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++) {
            char key[64];
            option_key(row, key, sizeof key);
            cr_expect_eq(option_find((*g)->section, key), row, "%s.%s", (*g)->section, key);
            cr_expect(row->sentence && *row->sentence, "%s", row->name);
            cr_expect((row->arg != NULL) == (row->type != OPT_FLAG), "%s", row->name);
            if (row->fallback)
                cr_expect_eq(option_set(&arena, row, row->fallback, false, &settings, &err), ERR_OK, "%s: %s",
                             row->name, err.text);
        }
    arena_free(&arena);
}
