/* Converts values of PostgreSQL so that equal data has equal digests on all engines.
 *
 *     smallint, integer, bigint, oid    DB_INT
 *     boolean                           DB_INT 1 and 0, as SQLite stores them
 *     real, double precision            DB_FLOAT
 *     numeric                           DB_INT if it has no point (sum of bigint), otherwise DB_FLOAT (avg). SQLite's
 *                                       sum and avg do the same. Digits past the 17th are lost, as in SQLite
 *     bytea                             DB_BLOB
 *     char(n)                           DB_TEXT without the padding
 *     NaN                               DB_TEXT, which sorts after all numbers, as in the server
 *     all others                        DB_TEXT as the server writes them (dates in ISO form, UTC)
 */
#include "lib/db/postgres_int.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Object numbers of types in pg_type, which never change. */
enum {
    BOOL = 16,
    BYTEA = 17,
    INT8 = 20,
    INT2 = 21,
    INT4 = 23,
    OID = 26,
    FLOAT4 = 700,
    FLOAT8 = 701,
    BPCHAR = 1042,
    NUMERIC = 1700
};

static struct db_value text_value(const char *text, size_t len)
{
    return (struct db_value){.type = DB_TEXT, .text = text, .len = len};
}

static struct db_value whole(const char *text, size_t len)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (!errno && *end == '\0') return (struct db_value){.type = DB_INT, .i = i};
    double f = g_ascii_strtod(text, &end);
    return *end == '\0' ? (struct db_value){.type = DB_FLOAT, .f = f} : text_value(text, len);
}

static struct db_value real(const char *text, size_t len)
{
    double f = g_ascii_strtod(text, NULL);
    return isnan(f) ? text_value(text, len) : (struct db_value){.type = DB_FLOAT, .f = f};
}

static int nibble(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Decodes a text such as "\x0a1b" in place. */
static struct db_value bytes(char *text, size_t len)
{
    size_t n = len >= 2 ? (len - 2) / 2 : 0;
    for (size_t i = 0; i < n; i++) text[i] = (char)(nibble(text[2 + 2 * i]) << 4 | nibble(text[3 + 2 * i]));
    if (len) text[n] = '\0';
    return (struct db_value){.type = DB_BLOB, .text = text, .len = n};
}

static struct db_value unpadded(char *text, size_t len)
{
    while (len && text[len - 1] == ' ') len--;
    text[len] = '\0';
    return text_value(text, len);
}

struct db_value postgres_value(PGresult *row, int i)
{
    if (PQgetisnull(row, 0, i)) return (struct db_value){.type = DB_NULL};
    char *text = PQgetvalue(row, 0, i);
    size_t len = (size_t)PQgetlength(row, 0, i);
    switch (PQftype(row, i)) {
    case INT2:
    case INT4:
    case INT8:
    case OID: return whole(text, len);
    case NUMERIC: return memchr(text, '.', len) || *text == 'N' ? real(text, len) : whole(text, len);
    case FLOAT4:
    case FLOAT8: return real(text, len);
    case BOOL: return (struct db_value){.type = DB_INT, .i = *text == 't'};
    case BYTEA: return bytes(text, len);
    case BPCHAR: return unpadded(text, len);
    default: return text_value(text, len);
    }
}
