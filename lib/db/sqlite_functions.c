/* Replacements for built-in functions of which a single call can run for minutes.
 *
 * SQLite calls the progress callback and checks for interrupts only at jumps of the compiled statement. So it cannot
 * stop a function. Measured with SQLite 3.40 and values of some megabytes:
 *
 * - instr, replace: take hours, because they compare the pattern at each position. The replacements use memmem, which
 *   is linear.
 * - trim: its time is the product of the lengths of text and set. The replacement limits the length of the set.
 * - like, glob: take 10 s a call; a statement may have 900 calls without a jump between them. The replacements follow
 *   SQLite's matcher line by line and charge the bytes that they read.
 * - printf, format: take minutes, because '%.*c' appends one character at a time, even past the length limit. The
 *   replacement limits the format, its widths and its precisions. It then calls the built-in function on a private
 *   connection.
 * - collation NOCASE: SQLite sorts all rows without a jump, and NOCASE is its slowest comparison.
 *
 * All replacements charge the bytes that they read to the statement (struct work), which checks the clock at intervals.
 * When the statement must stop, all further calls fail.
 *
 * The results equal those of the built-in functions (tests/unit/db/test_functions.c, test_match.c). A disadvantage is
 * that SQLite uses no index for replaced LIKE and GLOB.
 */
#include "lib/db/sqlite_guard.h"
#include "lib/db/sqlite_match.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

enum { TRIM_SET_BYTES = 1000, PRINTF_WIDTH = 100000, PRINTF_FORMAT = 100000 };

struct span {
    const char *p;
    size_t n;
};

/* Returns the argument as text, or as bytes with `blob`. Returns an empty span if the argument is empty or memory is
 * exhausted. */
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

/* Charges the bytes to the statement. If the statement must stop, makes the call fail and returns false. */
static bool may_go_on(sqlite3_context *ctx, struct work *work, size_t bytes)
{
    if (work_charge(work, bytes)) return true;
    sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
    return false;
}

/* Counts the characters before `offset` as SQLite does, which counts all bytes except continuation bytes. */
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
    if (!may_go_on(ctx, sqlite3_user_data(ctx), hay.n + needle.n)) return;
    const char *at = needle.n ? memmem(hay.p, hay.n, needle.p, needle.n) : hay.p;
    if (!at)
        sqlite3_result_int64(ctx, 0);
    else if (blobs)
        sqlite3_result_int64(ctx, at - hay.p + 1);
    else
        sqlite3_result_int64(ctx, characters(hay.p, (size_t)(at - hay.p)) + 1);
}

/* Counts the occurrences of `needle`. Returns -1 if the statement must stop. */
static int64_t count_of(struct work *work, struct span hay, struct span needle)
{
    int64_t n = 0;
    const char *p = hay.p, *end = hay.p + hay.n, *at;
    while ((at = memmem(p, (size_t)(end - p), needle.p, needle.n)) != NULL) {
        n++;
        at += needle.n;
        if (!work_charge(work, (size_t)(at - p))) return -1;
        p = at;
    }
    return work_charge(work, (size_t)(end - p)) ? n : -1;
}

/* Copies `hay` to *out with `from` replaced by `to`, and advances *out. Returns false if the statement must stop. */
static bool replace_all(struct work *work, char **out, struct span hay, struct span from, struct span to)
{
    const char *p = hay.p, *end = hay.p + hay.n, *at;
    while ((at = memmem(p, (size_t)(end - p), from.p, from.n)) != NULL) {
        *out = mempcpy(*out, p, (size_t)(at - p));
        *out = mempcpy(*out, to.p, to.n);
        if (!work_charge(work, (size_t)(at - p) + from.n + to.n)) return false;
        p = at + from.n;
    }
    *out = mempcpy(*out, p, (size_t)(end - p));
    return true;
}

static void replace_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    if (any_null(2, values)) return;
    struct span hay = argument(values[0], false), from = argument(values[1], false), to = argument(values[2], false);
    if (from.n == 0 || from.p[0] == '\0') { /* SQLite treats a pattern that begins with a NUL as empty */
        sqlite3_result_value(ctx, values[0]);
        return;
    }
    if (any_null(n, values)) return;
    struct work *work = sqlite3_user_data(ctx);
    int64_t counted = count_of(work, hay, from);
    if (counted < 0) {
        sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
        return;
    }
    size_t hits = (size_t)counted;
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
    char *end = out;
    if (replace_all(work, &end, hay, from, to)) {
        sqlite3_result_text64(ctx, out, (sqlite3_uint64)(end - out), sqlite3_free, SQLITE_UTF8);
        return;
    }
    sqlite3_free(out);
    sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
}

/* Returns the length of the character at p: its first byte and all continuation bytes after it. */
static size_t character_size(const char *p, const char *end)
{
    size_t n = 1;
    if ((unsigned char)*p >= 0xc0)
        while (p + n < end && (p[n] & 0xc0) == 0x80) n++;
    return n;
}

/* Returns the length of the character of `set` with which `text` starts (ends with `at_end`), or 0 if there is none. */
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

/* Implements trim, ltrim and rtrim. The time is the number of removed characters times the size of the set. */
static void trim_sides(sqlite3_context *ctx, int n, sqlite3_value **values, unsigned sides)
{
    if (any_null(n, values)) return;
    struct work *work = sqlite3_user_data(ctx);
    struct span text = argument(values[0], false), set = {" ", 1};
    if (n == 2) set = argument(values[1], false);
    set.n = strnlen(set.p, set.n); /* in SQLite the set ends at a NUL */
    if (set.n > TRIM_SET_BYTES) {
        sqlite3_result_error_toobig(ctx);
        return;
    }
    size_t size;
    while (sides & TRIM_LEFT && text.n && (size = in_set(text, set, false)) > 0) {
        text.p += size;
        text.n -= size;
        if (!may_go_on(ctx, work, set.n)) return;
    }
    while (sides & TRIM_RIGHT && text.n && (size = in_set(text, set, true)) > 0) {
        text.n -= size;
        if (!may_go_on(ctx, work, set.n)) return;
    }
    sqlite3_result_text64(ctx, text.p, text.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void trim_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    trim_sides(ctx, n, values, TRIM_LEFT | TRIM_RIGHT);
}

static void ltrim_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    trim_sides(ctx, n, values, TRIM_LEFT);
}

static void rtrim_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    trim_sides(ctx, n, values, TRIM_RIGHT);
}

/* --- like and glob ------------------------------------------------------------------------------------------------ */

/* Reads both arguments. Returns false and sets the result of the call if they must not be matched. */
static bool may_match(sqlite3_context *ctx, sqlite3_value **values, struct span *pattern, struct span *text)
{
    bool blob = sqlite3_value_type(values[0]) == SQLITE_BLOB || sqlite3_value_type(values[1]) == SQLITE_BLOB;
    if (blob && sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
        sqlite3_result_int(ctx, 0);
        return false;
    }
    *pattern = argument(values[0], false);
    *text = argument(values[1], false);
    size_t limit = (size_t)sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    if (pattern->n <= limit) return true;
    sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
    return false;
}

static void answer_match(sqlite3_context *ctx, const struct match *match, struct span pattern, struct span text)
{
    enum match_outcome outcome = match_text(match, pattern.p, text.p);
    if (outcome == MATCH_OVER)
        sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
    else
        sqlite3_result_int(ctx, outcome == MATCH_YES);
}

static void like_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    struct span pattern, text;
    struct match match = match_like(sqlite3_user_data(ctx));
    if (!may_match(ctx, values, &pattern, &text)) return;
    if (n == 3 && sqlite3_value_type(values[2]) == SQLITE_NULL) return;
    if (n == 3 && !match_set_escape(&match, argument(values[2], false).p)) {
        sqlite3_result_error(ctx, "ESCAPE expression must be a single character", -1);
        return;
    }
    if (any_null(n, values)) return;
    answer_match(ctx, &match, pattern, text);
}

static void glob_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    struct span pattern, text;
    struct match match = match_glob(sqlite3_user_data(ctx));
    if (!may_match(ctx, values, &pattern, &text) || any_null(n, values)) return;
    answer_match(ctx, &match, pattern, text);
}

/* --- printf ------------------------------------------------------------------------------------------------------- */

/* A connection without a database that provides SQLite's printf, and the last statement prepared on it. */
struct plain {
    struct work *work; /* work of the calling statement */
    sqlite3 *conn;
    sqlite3_stmt *stmt;
    int n_arguments;
};

static void plain_free(void *p)
{
    struct plain *plain = p;
    sqlite3_finalize(plain->stmt);
    sqlite3_close_v2(plain->conn);
    g_free(plain);
}

static uint64_t magnitude(sqlite3_int64 value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

/* Adds the widths and precisions of a format to *sum. If there is a `*`, counts every argument as a width. Returns
 * false if a width exceeds PRINTF_WIDTH. */
static bool add_widths(struct span format, int n, sqlite3_value **values, uint64_t *sum)
{
    bool star = false;
    uint64_t number = 0;
    for (size_t i = 0; i < format.n; i++) {
        star |= format.p[i] == '*';
        bool digit = g_ascii_isdigit(format.p[i]);
        if (!digit) *sum += number;
        number = digit ? number * 10 + (uint64_t)(format.p[i] - '0') : 0;
        if (number > PRINTF_WIDTH) return false;
    }
    for (int i = 1; star && i < n; i++) {
        uint64_t width = magnitude(sqlite3_value_int64(values[i]));
        if (width > PRINTF_WIDTH) return false;
        *sum += width;
    }
    return true;
}

static uint64_t bytes_of(int n, sqlite3_value **values)
{
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        int type = sqlite3_value_type(values[i]);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB) sum += (uint64_t)sqlite3_value_bytes(values[i]);
    }
    return sum;
}

/* Returns true if the call is within its limits and the statement may go on. Otherwise sets the result of the call. */
static bool may_print(sqlite3_context *ctx, struct work *work, int n, sqlite3_value **values)
{
    struct span format = argument(values[0], false);
    uint64_t limit = (uint64_t)sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1), widths = 0;
    uint64_t bytes = bytes_of(n, values);
    bool fits = format.n <= PRINTF_FORMAT && add_widths(format, n, values, &widths) && widths <= limit;
    if (fits && bytes <= 4 * limit) return may_go_on(ctx, work, (size_t)(widths + bytes));
    sqlite3_result_error_toobig(ctx);
    return false;
}

static int plain_prepare(struct plain *plain, int n)
{
    if (plain->stmt && plain->n_arguments == n) return SQLITE_OK;
    if (!plain->conn && sqlite3_open_v2(":memory:", &plain->conn, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
        return SQLITE_NOMEM;
    sqlite3_finalize(plain->stmt);
    plain->stmt = NULL;
    plain->n_arguments = n;
    GString *sql = g_string_new("SELECT printf(?");
    for (int i = 1; i < n; i++) g_string_append(sql, ",?");
    g_string_append_c(sql, ')');
    int rc = sqlite3_prepare_v2(plain->conn, sql->str, (int)sql->len, &plain->stmt, NULL);
    g_string_free(sql, TRUE);
    return rc;
}

static void printf_function(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    struct plain *plain = sqlite3_user_data(ctx);
    if (n == 0 || sqlite3_value_type(values[0]) == SQLITE_NULL) return;
    if (!may_print(ctx, plain->work, n, values)) return;
    int rc = plain_prepare(plain, n);
    if (rc == SQLITE_OK) {
        int limit = sqlite3_limit(sqlite3_context_db_handle(ctx), SQLITE_LIMIT_LENGTH, -1);
        sqlite3_limit(plain->conn, SQLITE_LIMIT_LENGTH, limit);
        for (int i = 0; rc == SQLITE_OK && i < n; i++) rc = sqlite3_bind_value(plain->stmt, i + 1, values[i]);
        if (rc == SQLITE_OK && (rc = sqlite3_step(plain->stmt)) == SQLITE_ROW) rc = SQLITE_OK;
    }
    if (rc == SQLITE_OK)
        sqlite3_result_value(ctx, sqlite3_column_value(plain->stmt, 0));
    else
        sqlite3_result_error_code(ctx, rc);
    if (!plain->stmt) return;
    sqlite3_reset(plain->stmt);
    sqlite3_clear_bindings(plain->stmt);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* Compares by NOCASE. If the statement must stop, returns 0: the order is then irrelevant, because the statement fails.
 */
static int compare_nocase(void *work, int len_a, const void *text_a, int len_b, const void *text_b)
{
    const char *a = text_a, *b = text_b;
    int shared = len_a < len_b ? len_a : len_b, i = 0;
    if (!work_charge(work, (size_t)shared)) return 0;
    while (i < shared && a[i] && g_ascii_tolower(a[i]) == g_ascii_tolower(b[i])) i++;
    if (i == shared) return len_a - len_b;
    int order = (unsigned char)g_ascii_tolower(a[i]) - (unsigned char)g_ascii_tolower(b[i]);
    return order ? order : len_a - len_b;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int n_arguments; /* -1 means any number */
    void (*call)(sqlite3_context *, int, sqlite3_value **);
} own_functions[] = {
    {"instr", 2, instr_function}, {"replace", 3, replace_function}, {"trim", 1, trim_function},
    {"trim", 2, trim_function},   {"ltrim", 1, ltrim_function},     {"ltrim", 2, ltrim_function},
    {"rtrim", 1, rtrim_function}, {"rtrim", 2, rtrim_function},     {"like", 2, like_function},
    {"like", 3, like_function},   {"glob", 2, glob_function},
};

static const char *const printf_names[] = {"printf", "format"};

static struct plain *plain_new(struct work *work)
{
    struct plain *plain = g_new0(struct plain, 1);
    plain->work = work;
    return plain;
}

int guard_add_functions(sqlite3 *conn, struct work *work)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int rc = sqlite3_create_collation_v2(conn, "NOCASE", SQLITE_UTF8, work, compare_nocase, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < G_N_ELEMENTS(own_functions); i++)
        rc = sqlite3_create_function_v2(conn, own_functions[i].name, own_functions[i].n_arguments, flags, work,
                                        own_functions[i].call, NULL, NULL, NULL);
    /* Each name has its own private connection, opened at the first call. SQLite frees it with plain_free, also if the
     * registration fails. */
    for (size_t i = 0; rc == SQLITE_OK && i < G_N_ELEMENTS(printf_names); i++)
        rc = sqlite3_create_function_v2(conn, printf_names[i], -1, flags, plain_new(work), printf_function, NULL, NULL,
                                        plain_free);
    return rc;
}
