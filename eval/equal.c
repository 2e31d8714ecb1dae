/* Compares results by hashes (equal.h). Each value has two hashes: one of the value and one of its text form. Columns
 * are paired only if their bags of values match. Pairings are tried in the order of the reference labeller, up to its
 * limit. */
#include "eval/equal.h"

#include <glib.h>
#include <math.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reference labeller tries at most this many pairings of the columns. The same limit and order apply here. */
enum { MAX_PAIRINGS = 20000 };

enum { SEED_NULL = 1, SEED_INT, SEED_FLOAT, SEED_TEXT, SEED_BLOB, SEED_ROW };

/* Returns the length of the valid UTF-8 sequence at `s`, or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
    unsigned char c = s[0];
    if (c < 0x80) return 1;
    size_t n = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    if (c < 0xC2 || c > 0xF4 || n > left) return 0;
    unsigned char low = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80, high = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    return n;
}

/* Hashes a text without its invalid bytes. */
static XXH128_hash_t text_hash(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t valid = 0, n = 0;
    while (valid < len && (n = utf8_length(s + valid, len - valid)) > 0) valid += n;
    if (valid == len) return XXH3_128bits_withSeed(text, len, SEED_TEXT);
    GString *clean = g_string_sized_new(len);
    for (size_t i = 0; i < len; i += n ? n : 1) {
        n = utf8_length(s + i, len - i);
        g_string_append_len(clean, text + i, (gssize)n);
    }
    XXH128_hash_t hash = XXH3_128bits_withSeed(clean->str, clean->len, SEED_TEXT);
    g_string_free(clean, TRUE);
    return hash;
}

/* Writes the fewest digits that read back as `value`, as "d.ddde+xx". */
static void shortest(double value, char out[32])
{
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*e", digits - 1, value);
        if (strtod(out, NULL) == value) return;
    }
}

/* Writes a float as the reference labeller prints it: 1.0, 0.0001, 1e+16, 1e-05. */
static size_t float_text(double value, char out[64])
{
    if (isinf(value)) return (size_t)snprintf(out, 64, value < 0 ? "-inf" : "inf");
    char scientific[32], digits[24] = "0";
    shortest(value, scientific);
    int exponent = atoi(strchr(scientific, 'e') + 1), n = 0;
    for (const char *c = scientific; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') digits[n++] = *c;
    while (n > 1 && digits[n - 1] == '0') n--;
    const char *sign = signbit(value) ? "-" : "";
    if (exponent < -4 || exponent > 15)
        return (size_t)(n > 1 ? snprintf(out, 64, "%s%c.%.*se%+03d", sign, digits[0], n - 1, digits + 1, exponent)
                              : snprintf(out, 64, "%s%ce%+03d", sign, digits[0], exponent));
    if (exponent < 0) return (size_t)snprintf(out, 64, "%s0.%.*s%.*s", sign, -exponent - 1, "0000", n, digits);
    int whole = exponent + 1;
    if (n <= whole) return (size_t)snprintf(out, 64, "%s%.*s%.*s.0", sign, n, digits, whole - n, "000000000000000");
    return (size_t)snprintf(out, 64, "%s%.*s.%.*s", sign, whole, digits, n - whole, digits + whole);
}

/* Hashes the text form of a value. A blob has a separate kind and equals no other value. */
static XXH128_hash_t as_text(const struct db_value *value)
{
    char text[64];
    size_t n = 0;
    switch (value->type) {
    case DB_NULL: return XXH3_128bits_withSeed("None", 4, SEED_TEXT);
    case DB_INT: n = (size_t)snprintf(text, sizeof text, "%lld", (long long)value->i); break;
    case DB_FLOAT: n = float_text(value->f, text); break;
    case DB_TEXT: return text_hash(value->text, value->len);
    case DB_BLOB: return XXH3_128bits_withSeed(value->text, value->len, SEED_BLOB);
    }
    return XXH3_128bits_withSeed(text, n, SEED_TEXT);
}

/* Hashes the value itself: a whole float equals its integer. */
static XXH128_hash_t as_value(const struct db_value *value)
{
    int64_t whole = value->i;
    switch (value->type) {
    case DB_NULL: return XXH3_128bits_withSeed("", 0, SEED_NULL);
    case DB_TEXT: return text_hash(value->text, value->len);
    case DB_BLOB: return XXH3_128bits_withSeed(value->text, value->len, SEED_BLOB);
    case DB_FLOAT:
        if (!(value->f >= -0x1p63 && value->f < 0x1p63) || value->f != floor(value->f))
            return XXH3_128bits_withSeed(&value->f, sizeof value->f, SEED_FLOAT);
        whole = (int64_t)value->f;
        break;
    case DB_INT: break;
    }
    return XXH3_128bits_withSeed(&whole, sizeof whole, SEED_INT);
}

static int by_hash(const void *a, const void *b)
{
    return XXH128_cmp(a, b);
}

static void sort_hashes(XXH128_hash_t *hashes, size_t n)
{
    if (n > 1) qsort(hashes, n, sizeof *hashes, by_hash);
}

static XXH128_hash_t hash_of(const XXH128_hash_t *hashes, size_t n)
{
    return XXH3_128bits_withSeed(n ? (const void *)hashes : "", n * sizeof *hashes, SEED_ROW);
}

static void digest_rows(const struct db_result *result, struct fingerprint *out, XXH128_hash_t *scratch)
{
    uint32_t n = out->n_columns;
    for (uint32_t r = 0; r < out->n_rows; r++) {
        const struct db_value *row = result->values + (size_t)r * n;
        for (uint32_t c = 0; c < n; c++) {
            out->values[(size_t)r * n + c] = as_value(&row[c]);
            scratch[c] = as_text(&row[c]);
        }
        sort_hashes(scratch, n);
        out->texts[r] = out->sorted[r] = hash_of(scratch, n);
    }
    sort_hashes(out->sorted, out->n_rows);
    out->bag = hash_of(out->sorted, out->n_rows);
}

static void digest_columns(struct fingerprint *out, XXH128_hash_t *scratch)
{
    for (uint32_t c = 0; c < out->n_columns; c++) {
        for (uint32_t r = 0; r < out->n_rows; r++) scratch[r] = out->values[(size_t)r * out->n_columns + c];
        sort_hashes(scratch, out->n_rows);
        out->columns[c] = hash_of(scratch, out->n_rows);
    }
}

bool fingerprint_make(const struct db_result *result, struct fingerprint *out)
{
    size_t rows = result->n_rows, columns = result->n_columns, longer = rows > columns ? rows : columns;
    *out = (struct fingerprint){.n_rows = result->n_rows, .n_columns = result->n_columns};
    XXH128_hash_t *all = g_try_new(XXH128_hash_t, rows * columns + 2 * rows + columns + longer + 1);
    if (!all) return false;
    out->values = all;
    out->texts = all + rows * columns;
    out->sorted = out->texts + rows;
    out->columns = out->sorted + rows;
    digest_rows(result, out, out->columns + columns);
    digest_columns(out, out->columns + columns);
    return true;
}

void fingerprint_free(struct fingerprint *print)
{
    g_free(print->values); /* all arrays are one block, which fingerprint_make allocates */
    *print = (struct fingerprint){0};
}

static bool same(const XXH128_hash_t *a, const XXH128_hash_t *b, size_t n)
{
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

/* Hashes every row, with its columns in the order `pick` (NULL keeps the order). */
static void hash_rows(const struct fingerprint *print, const uint32_t *pick, bool ordered, XXH128_hash_t *row,
                      XXH128_hash_t *out)
{
    for (uint32_t r = 0; r < print->n_rows; r++) {
        const XXH128_hash_t *values = print->values + (size_t)r * print->n_columns;
        for (uint32_t c = 0; c < print->n_columns; c++) row[c] = values[pick ? pick[c] : c];
        out[r] = hash_of(row, print->n_columns);
    }
    if (!ordered) sort_hashes(out, print->n_rows);
}

/* State of a search for a pairing: pick[i] is the column of the other result that is paired with gold's column i. */
struct pairing {
    const struct fingerprint *gold, *other;
    bool ordered;
    uint32_t *pick;
    bool *taken;
    XXH128_hash_t *row, *want, *got;
};

static bool fits(const struct pairing *p, uint32_t i)
{
    return same(&p->gold->columns[i], &p->other->columns[p->pick[i]], 1);
}

/* Moves column i's pick to the next column with the same values. Returns false, and resets it, if there is none. */
static bool next_pick(struct pairing *p, uint32_t i)
{
    while (++p->pick[i] < p->other->n_columns)
        if (fits(p, i)) return true;
    p->pick[i] = UINT32_MAX;
    return false;
}

static bool is_permutation(struct pairing *p)
{
    uint32_t n = p->gold->n_columns;
    memset(p->taken, 0, n * sizeof *p->taken);
    for (uint32_t i = 0; i < n; i++) {
        if (p->taken[p->pick[i]]) return false;
        p->taken[p->pick[i]] = true;
    }
    return true;
}

static bool pairing_holds(struct pairing *p)
{
    if (!is_permutation(p)) return false;
    hash_rows(p->other, p->pick, p->ordered, p->row, p->got);
    return same(p->want, p->got, p->gold->n_rows);
}

/* Tries all combinations of columns with equal values. The pick of the last column changes fastest. */
static bool find_pairing(struct pairing *p)
{
    uint32_t n = p->gold->n_columns;
    for (uint32_t i = 0; i < n; i++) {
        p->pick[i] = UINT32_MAX;
        if (!next_pick(p, i)) return false;
    }
    for (int tried = 0; tried < MAX_PAIRINGS; tried++) {
        if (pairing_holds(p)) return true;
        uint32_t i = n;
        while (i > 0 && !next_pick(p, i - 1)) {
            next_pick(p, i - 1); /* resets the pick of this column to the first one */
            i--;
        }
        if (i == 0) return false;
    }
    return false;
}

static bool columns_pair(const struct fingerprint *gold, const struct fingerprint *other, bool ordered)
{
    uint32_t n = gold->n_columns, rows = gold->n_rows;
    struct pairing p = {gold, other, ordered};
    p.pick = g_new0(uint32_t, n);
    p.taken = g_new0(bool, n);
    p.row = g_new(XXH128_hash_t, n);
    p.want = g_try_new(XXH128_hash_t, rows);
    p.got = g_try_new(XXH128_hash_t, rows);
    bool found = false;
    if (p.want && p.got) {
        hash_rows(gold, NULL, ordered, p.row, p.want);
        found = find_pairing(&p);
    }
    g_free(p.pick);
    g_free(p.taken);
    g_free(p.row);
    g_free(p.want);
    g_free(p.got);
    return found;
}

bool fingerprint_equal(const struct fingerprint *gold, const struct fingerprint *other, bool ordered)
{
    if (gold->n_rows != other->n_rows) return false;
    if (gold->n_rows == 0) return true;
    if (gold->n_columns != other->n_columns) return false;
    const XXH128_hash_t *a = ordered ? gold->texts : gold->sorted, *b = ordered ? other->texts : other->sorted;
    return same(a, b, gold->n_rows) && columns_pair(gold, other, ordered);
}

/* Returns the text without its matched parentheses and their contents; unmatched ones stay. */
static GString *outside_parentheses(const char *sql)
{
    GString *out = g_string_new(NULL);
    GArray *open = g_array_new(FALSE, FALSE, sizeof(gsize));
    for (const char *c = sql; *c; c++) {
        if (*c == ')' && open->len > 0) {
            g_string_truncate(out, g_array_index(open, gsize, open->len - 1));
            g_array_set_size(open, open->len - 1);
            continue;
        }
        if (*c == '(') g_array_append_val(open, out->len);
        g_string_append_c(out, *c);
    }
    g_array_free(open, TRUE);
    return out;
}

bool orders_at_top(const char *sql)
{
    GString *text = outside_parentheses(sql);
    bool found = false;
    for (const char *c = text->str; *c && !found; c++) {
        if (g_ascii_strncasecmp(c, "order", 5) != 0 || !g_ascii_isspace(c[5])) continue;
        const char *by = c + 5;
        while (g_ascii_isspace(*by)) by++;
        found = g_ascii_strncasecmp(by, "by", 2) == 0;
    }
    g_string_free(text, TRUE);
    return found;
}
