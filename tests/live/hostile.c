#include "tests/live/hostile.h"

#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_MS = 400, WALL_MS = 5000 }; /* the wall-clock limit is generous, for a busy machine under sanitizers */

const struct db_limits HOSTILE_LIMITS = {.time_ms = TIME_MS};

static bool fits(const char *class, enum err_code code)
{
    bool limit = code >= ERR_LIMIT_BYTES && code <= ERR_LIMIT_COUNT;
    if (strcmp(class, "limit") == 0) return limit;
    if (strcmp(class, "bounded") == 0) return code == ERR_OK || limit;
    if (strcmp(class, "said no") == 0) return code == ERR_REFUSED || code == ERR_ENGINE;
    return strcmp(class, err_name(code)) == 0;
}

static void complain(struct hostile *suite, const char *name, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s %s\n", name, what, detail);
    suite->failures++;
}

bool hostile_session_is_clean(struct hostile *suite)
{
    static const char sql[] = "SELECT count(*) FROM t";
    struct db_result result;
    enum err_code code = db_query(suite->db, suite->arena, sql, strlen(sql), NULL, 0, 0, &result, NULL);
    return !code && result.n_rows == 1 && result.values[0].i == 3;
}

void hostile_attack(struct hostile *suite, const char *name, const char *class, const char *sql, size_t len)
{
    struct db_result result;
    struct err err = {0};
    int64_t start = clock_now_ns();
    enum err_code code = db_query(suite->db, suite->arena, sql, len, NULL, 0, 0, &result, &err);
    double ms = clock_ms(clock_now_ns() - start);
    if (!fits(class, code)) complain(suite, name, err_name(code), err.text);
    if (code && !err.text[0]) complain(suite, name, "no text with", err_name(code));
    if (ms > WALL_MS) complain(suite, name, "took too long", "");
    char *after = suite->traces(suite->ctx);
    if (strcmp(after, suite->before) != 0) complain(suite, name, "left a trace:", after);
    if (!hostile_session_is_clean(suite)) complain(suite, name, "spoilt", "the handle");
    arena_reset(suite->arena);
    if (ms > suite->slowest) suite->slowest = ms;
    if (getenv("ASSAY_TEST_VERBOSE")) fprintf(stderr, "%8.1f ms %-12s %s: %s\n", ms, err_name(code), name, err.text);
    suite->n++;
    g_free(after);
}

/* Replaces each "\0" by a NUL byte. Returns the new length. */
static size_t put_nuls(char *sql, size_t len)
{
    char *at = sql;
    while ((at = strstr(at, "\\0")) != NULL) {
        if (at[2]) { /* \005f is part of the statement, not a NUL */
            at += 2;
            continue;
        }
        *at++ = '\0';
        *at = '\0';
        len--;
    }
    return len;
}

static void attack_block(struct hostile *suite, char *block)
{
    char *line_end = strchr(block, '\n'), *colon = g_strrstr_len(block, line_end - block, ": ");
    cr_assert_not_null(colon, "a case without a class: %s", block);
    *line_end = *colon = '\0';
    char *sql = line_end + 1;
    size_t len = put_nuls(sql, strlen(g_strchomp(sql)));
    hostile_attack(suite, block + 4, colon + 2, sql, len);
}

void hostile_attack_repeated(struct hostile *suite, const char *class, const char *before, const char *part, unsigned n,
                             const char *after)
{
    GString *sql = g_string_new(before);
    for (unsigned i = 0; i < n; i++) g_string_append(sql, part);
    g_string_append(sql, after);
    hostile_attack(suite, part, class, sql->str, sql->len);
    g_string_free(sql, TRUE);
}

void hostile_attack_list(struct hostile *suite, const char *file)
{
    char *path = g_strconcat(TEST_DATA "/hostile/", file, NULL), *text;
    cr_assert(g_file_get_contents(path, &text, NULL, NULL), "%s", path);
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++)
        if (g_str_has_prefix(*block, "### ")) attack_block(suite, *block);
    g_strfreev(blocks);
    g_free(text);
    g_free(path);
    printf("%u hostile statements, the slowest took %.0f ms\n", suite->n, suite->slowest);
    cr_assert_geq(suite->n, 40);
}

void hostile_begin(struct hostile *suite)
{
    suite->before = suite->traces(suite->ctx);
}

void hostile_end(struct hostile *suite)
{
    cr_assert_eq(suite->failures, 0);
    g_free(suite->before);
}
