/* String functions whose built-in form is quadratic in one call.
 *
 * instr(X, Y) of SQLite compares Y at each place of X; with two values of some megabytes that is hours inside one opcode, where
 * neither the progress callback nor an interrupt reaches. memmem is linear. trim's cost is its text times its set: the set is
 * bounded. What they return is the same, which tests/unit/db/test_functions.c checks against the built-in ones.
 */
#include "lib/db/sqlite_guard.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

enum { TRIM_SET_BYTES = 1000 };

struct span {
    const char *p;
    size_t n;
};

/* The argument as text, or as bytes when `blob`. A span without memory is empty or out of memory: `ok` says which. */
static struct span argument(sqlite3_value *value, bool blob)
{
    const void *p = blob ? sqlite3_value_blob(value) : (const void *)sqlite3_value_text(value);
    int n = sqlite3_value_bytes(value);
    return (struct span){p ? p : "", p && n > 0 ? (size_t)n : 0};
}

static bool any_null(int n, sqlite3_value **values)
{
    for (int i = 0; i < n; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) return true;
    return false;
}

/* Characters before `offset`, as SQLite counts them: every byte that does not continue one. */
static int64_t characters(const char *text, size_t offset)
{
    int64_t n = 0;
    for (size_t i = 0; i < offset; i++) n += (text[i] & 0xc0) != 0x80;
    return n;
}

static void instr_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    if (any_null(n, values)) return;
    bool blobs = sqlite3_value_type(values[0]) == SQLITE_BLOB && sqlite3_value_type(values[1]) == SQLITE_BLOB;
    struct span hay = argument(values[0], blobs), needle = argument(values[1], blobs);
    const char *at = needle.n ? memmem(hay.p, hay.n, needle.p, needle.n) : hay.p;
    if (!at)
        sqlite3_result_int64(ctx, 0);
    else if (blobs)
        sqlite3_result_int64(ctx, at - hay.p + 1);
    else
        sqlite3_result_int64(ctx, characters(hay.p, (size_t)(at - hay.p)) + 1);
}

static size_t count_of(struct span hay, struct span needle)
{
    size_t n = 0;
    const char *p = hay.p, *end = hay.p + hay.n;
    while ((p = memmem(p, (size_t)(end - p), needle.p, needle.n)) != NULL) {
        n++;
        p += needle.n;
    }
    return n;
}

static char *replace_all(char *out, struct span hay, struct span from, struct span to)
{
    const char *p = hay.p, *end = hay.p + hay.n, *at;
    while ((at = memmem(p, (size_t)(end - p), from.p, from.n)) != NULL) {
        out = mempcpy(out, p, (size_t)(at - p));
        out = mempcpy(out, to.p, to.n);
        p = at + from.n;
    }
    return mempcpy(out, p, (size_t)(end - p));
}

static void replace_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    if (any_null(n, values)) return;
    struct span hay = argument(values[0], false), from = argument(values[1], false), to = argument(values[2], false);
    if (from.n == 0 || from.p[0] == '\0') { /* SQLite looks for an empty pattern by its first byte */
        sqlite3_result_value(ctx, values[0]);
        return;
    }
    size_t hits = count_of(hay, from);
    size_t limit = (size_t)sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);
    size_t rest = hay.n - hits * from.n;
    if (rest > limit || (to.n && hits > (limit - rest) / to.n)) {
        sqlite3_result_error_toobig(ctx);
        return;
    }
    char *out = sqlite3_malloc64(rest + hits * to.n + 1);
    if (!out) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    char *end = replace_all(out, hay, from, to);
    sqlite3_result_text64(ctx, out, (sqlite3_uint64)(end - out), sqlite3_free, SQLITE_UTF8);
}

/* Bytes of the character at p: a lead byte and all that continue it. */
static size_t character_size(const char *p, const char *end)
{
    size_t n = 1;
    if ((unsigned char)*p >= 0xc0)
        while (p + n < end && (p[n] & 0xc0) == 0x80) n++;
    return n;
}

/* Length of the first character of `set` that `text` starts (or ends) with; 0: none. */
static size_t in_set(struct span text, struct span set, bool at_end)
{
    const char *end = set.p + set.n;
    for (const char *p = set.p; p < end;) {
        size_t size = character_size(p, end);
        if (size <= text.n && memcmp(at_end ? text.p + text.n - size : text.p, p, size) == 0) return size;
        p += size;
    }
    return 0;
}

enum { TRIM_LEFT = 1, TRIM_RIGHT = 2 };

static void trim_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    if (any_null(n, values)) return;
    struct span text = argument(values[0], false), set = {" ", 1};
    if (n == 2) set = argument(values[1], false);
    set.n = strnlen(set.p, set.n); /* SQLite's set ends at a NUL */
    if (set.n > TRIM_SET_BYTES) {
        sqlite3_result_error_toobig(ctx);
        return;
    }
    intptr_t sides = (intptr_t)sqlite3_user_data(ctx);
    size_t size;
    while (sides & TRIM_LEFT && text.n && (size = in_set(text, set, false)) > 0) {
        text.p += size;
        text.n -= size;
    }
    while (sides & TRIM_RIGHT && text.n && (size = in_set(text, set, true)) > 0) text.n -= size;
    sqlite3_result_text64(ctx, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static const struct {
    const char *name;
    int n_arguments;
    intptr_t data;
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} own_functions[] = {
    {"instr", 2, 0, instr_function},
    {"replace", 3, 0, replace_function},
    {"trim", 1, TRIM_LEFT | TRIM_RIGHT, trim_function},
    {"trim", 2, TRIM_LEFT | TRIM_RIGHT, trim_function},
    {"ltrim", 1, TRIM_LEFT, trim_function},
    {"ltrim", 2, TRIM_LEFT, trim_function},
    {"rtrim", 1, TRIM_RIGHT, trim_function},
    {"rtrim", 2, TRIM_RIGHT, trim_function},
};

int guard_add_functions(sqlite3 *conn)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = SQLITE_OK;
    for (size_t i = 0; rc == SQLITE_OK && i < G_N_ELEMENTS(own_functions); i++)
        rc = sqlite3_create_function_v2(conn, own_functions[i].name, own_functions[i].n_arguments, flags,
                                        (void *)own_functions[i].data, own_functions[i].call, NULL, NULL, NULL);
    return rc;
}
