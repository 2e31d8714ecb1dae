/* The gate in front of PostgreSQL takes any text and says why it is shut; and whatever stands around it, a word that
 * begins as a function that reaches outside keeps it shut. */
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct db_limits limits = {.sql_bytes = 65536, .expr_depth = 400};
    struct err err = {0};
    char *sql = g_strndup((const char *)data, size), *lower = g_ascii_strdown(sql, -1);
    if (strlen(sql) == size && g_utf8_validate(sql, -1, NULL)) { /* else db.c has refused it */
        struct postgres_calls calls;
        enum err_code code = postgres_gate(sql, size, &limits, &calls, &err);
        if (code && !err.text[0]) abort();
        if (!code) postgres_calls_clear(&calls);
        if (!code && (has_word(lower, "set_config") || has_word(lower, "pg_read_file"))) abort();
    }
    g_free(lower);
    g_free(sql);
    return 0;
}
