/* Converts values of MariaDB so that equal data has equal digests on all engines.
 *
 *     integers, year, bit          DB_INT; a bigint unsigned past its range DB_FLOAT
 *     boolean                      DB_INT, because it is a tinyint
 *     float, double                DB_FLOAT
 *     decimal                      DB_INT if it has no point (sum of integers), otherwise DB_FLOAT (avg)
 *     binary, blob, geometry       DB_BLOB
 *     all others                   DB_TEXT as the server writes them (dates in ISO form, timestamps in UTC)
 */
#include "lib/db/mariadb_int.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { BINARY = 63 }; /* number of the character set "binary" */

static struct db_value real(const char *text)
{
    return (struct db_value){.type = DB_FLOAT, .f = g_ascii_strtod(text, NULL)};
}

static struct db_value whole(const char *text)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    return !errno && *end == '\0' ? (struct db_value){.type = DB_INT, .i = i} : real(text);
}

/* Reads a BIT value: big-endian, at most eight bytes. */
static struct db_value bits(const char *bytes, unsigned long len)
{
    uint64_t value = 0;
    for (unsigned long i = 0; i < len; i++) value = value << 8 | (unsigned char)bytes[i];
    return (struct db_value){.type = DB_INT, .i = (int64_t)value};
}

struct db_value mariadb_value(const MYSQL_FIELD *field, char *text, unsigned long len)
{
    if (!text) return (struct db_value){.type = DB_NULL};
    switch (field->type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR: return whole(text);
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL: return memchr(text, '.', len) ? real(text) : whole(text);
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE: return real(text);
    case MYSQL_TYPE_BIT: return bits(text, len);
    case MYSQL_TYPE_GEOMETRY: return (struct db_value){.type = DB_BLOB, .text = text, .len = len};
    case MYSQL_TYPE_DATE:
    case MYSQL_TYPE_NEWDATE:
    case MYSQL_TYPE_TIME:
    case MYSQL_TYPE_DATETIME:
    case MYSQL_TYPE_TIMESTAMP: return (struct db_value){.type = DB_TEXT, .text = text, .len = len};
    default: return (struct db_value){.type = field->charsetnr == BINARY ? DB_BLOB : DB_TEXT, .text = text, .len = len};
    }
}
