/* Functions on single values: comparison, SQL literals, and numbers as text. */
#include "lib/db/db.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

/* Returns the rank of the type in the order NULL < numbers < text < blob. */
static int rank_of(const struct db_value *value)
{
    static const int ranks[] = {[DB_NULL] = 0, [DB_INT] = 1, [DB_FLOAT] = 1, [DB_TEXT] = 2, [DB_BLOB] = 3};
    return ranks[value->type];
}

/* Compares exactly. A cast of `i` to double would lose digits: 2^53 + 1 would equal 2^53. */
static int compare_int_real(int64_t i, double f)
{
    if (isnan(f)) return 1; /* SQLite stores NaN as NULL, which sorts first */
    if (f < -0x1p63) return 1;
    if (f >= 0x1p63) return -1;
    int64_t whole = (int64_t)f;
    if (i != whole) return i < whole ? -1 : 1;
    double rest = f - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

static int compare_numbers(const struct db_value *a, const struct db_value *b)
{
    if (a->type == DB_INT && b->type == DB_INT) return (a->i > b->i) - (a->i < b->i);
    if (a->type == DB_INT) return compare_int_real(a->i, b->f);
    if (b->type == DB_INT) return -compare_int_real(b->i, a->f);
    return (a->f > b->f) - (a->f < b->f);
}

int db_value_compare(const struct db_value *a, const struct db_value *b)
{
    int rank = rank_of(a);
    if (rank != rank_of(b)) return rank < rank_of(b) ? -1 : 1;
    if (rank == 0) return 0;
    if (rank == 1) return compare_numbers(a, b);
    size_t common = a->len < b->len ? a->len : b->len;
    int order = common ? memcmp(a->text, b->text, common) : 0;
    if (order) return order < 0 ? -1 : 1;
    return (a->len > b->len) - (a->len < b->len);
}

size_t db_real_text(double real, char out[DB_REAL_TEXT])
{
    int n;
    if (fabs(real) < 1e16 && real == floor(real)) {
        n = snprintf(out, DB_REAL_TEXT, "%.1f", real);
        return (size_t)n;
    }
    /* Begins with 15 digits, because %g prints shorter decimals without trailing zeros. Very small numbers have less
     * precision, so their search begins with 1 digit. */
    for (int digits = fabs(real) < 1e-290 ? 1 : 15; digits <= 17; digits++) {
        n = snprintf(out, DB_REAL_TEXT, "%.*g", digits, real);
        if (strtod(out, NULL) == real) break;
    }
    return (size_t)n;
}

/* Returns `text` in quotes, with each quote inside doubled. */
static char *quote_with(struct arena *arena, const char *text, size_t len, char quote)
{
    size_t inner = 0;
    for (size_t i = 0; i < len; i++) inner += text[i] == quote;
    char *out = len < SIZE_MAX / 4 ? arena_alloc(arena, len + inner + 3) : NULL;
    if (!out) return NULL;
    char *p = out;
    *p++ = quote;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == quote) *p++ = quote;
        *p++ = text[i];
    }
    *p++ = quote;
    *p = '\0';
    return out;
}

char *db_quote_name(struct arena *arena, const char *name, size_t len)
{
    return quote_with(arena, name, len, '"');
}

/* Returns the text `before`, a literal such as x'0a1b', and the text `after`. */
static char *hex_literal(struct arena *arena, const struct db_value *value, const char *before, const char *after)
{
    static const char digits[] = "0123456789abcdef";
    if (value->len > SIZE_MAX / 8) return NULL;
    char *out = arena_alloc(arena, strlen(before) + strlen(after) + 2 * value->len + 4);
    if (!out) return NULL;
    char *p = stpcpy(out, before);
    *p++ = 'x';
    *p++ = '\'';
    for (size_t i = 0; i < value->len; i++) {
        *p++ = digits[(unsigned char)value->text[i] >> 4];
        *p++ = digits[(unsigned char)value->text[i] & 15];
    }
    *p++ = '\'';
    stpcpy(p, after);
    return out;
}

static char *quote_real(struct arena *arena, double real)
{
    if (isnan(real)) return arena_strdup(arena, "NULL");
    if (isinf(real)) return arena_strdup(arena, real > 0 ? "9e999" : "-9e999");
    char text[DB_REAL_TEXT];
    return arena_strndup(arena, text, db_real_text(real, text));
}

/* Returns a text literal. A text with NUL or invalid UTF-8 becomes a cast of its bytes, because a literal cannot
 * contain it. */
static char *quote_text(struct arena *arena, const struct db_value *value)
{
    if (memchr(value->text, '\0', value->len) || !g_utf8_validate_len(value->text, value->len, NULL))
        return hex_literal(arena, value, "CAST(", " AS TEXT)");
    return quote_with(arena, value->text, value->len, '\'');
}

char *db_quote_value(struct arena *arena, const struct db_value *value)
{
    switch (value->type) {
    case DB_INT: return arena_printf(arena, "%" PRId64, value->i);
    case DB_FLOAT: return quote_real(arena, value->f);
    case DB_TEXT: return quote_text(arena, value);
    case DB_BLOB: return hex_literal(arena, value, "", "");
    case DB_NULL: break;
    }
    return arena_strdup(arena, "NULL");
}
