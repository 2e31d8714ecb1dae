/* Passes any text to PostgreSQL's gate. A refusal must have a reason. The gate must refuse every text with a word that
 * begins like a function with external effects. */
#include "lib/db/postgres_gate.h"

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80);
}

static bool has_word(const char *text, const char *start)
{
    for (const char *at = strstr(text, start); at; at = strstr(at + 1, start))
        if (at == text || !in_word(at[-1])) return true;
    return false;
}

/* Checks the list of calls to look up: it must have each operator character of the text, and each a.b with its
 * table. */
static void check_calls(const struct postgres_calls *calls, const char *sql)
{
    static const char of_operators[] = "+-*/<>=~!@#%^&|`?";
    if (calls->lists[CALLS_ATTRIBUTES]->len != calls->lists[CALLS_TABLES]->len) abort();
    for (const char *c = of_operators; *c; c++) {
        const char one[] = {*c, '\0'};
        if (strchr(sql, *c) && !g_ptr_array_find_with_equal_func(calls->lists[CALLS_OPERATORS], one, g_str_equal, NULL))
            abort();
    }
}

static void look_up(const char *sql, size_t size)
{
    struct postgres_calls calls = {0};
    struct err err = {0};
    if (!postgres_calls_of_text(sql, size, &calls, &err)) check_calls(&calls, sql);
    postgres_calls_clear(&calls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct db_limits limits = {.sql_bytes = 65536, .expr_depth = 400};
    struct err err = {0};
    char *sql = g_strndup((const char *)data, size), *lower = g_ascii_strdown(sql, -1);
    if (strlen(sql) == size && g_utf8_validate(sql, -1, NULL)) { /* other texts are refused by db.c before the gate */
        struct postgres_calls calls;
        enum err_code code = postgres_gate(sql, size, &limits, &calls, NULL, &err);
        if (code && !err.text[0]) abort();
        if (!code) check_calls(&calls, sql);
        if (!code) postgres_calls_clear(&calls);
        look_up(sql, size);
        if (!code && (has_word(lower, "set_config") || has_word(lower, "pg_read_file"))) abort();
    }
    g_free(lower);
    g_free(sql);
    return 0;
}
