#include "lib/db/digest.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Different seeds separate types whose bytes could be equal. Numbers have the seed of texts, because 1 equals '1'. */
enum { SEED_TEXT = 0, SEED_NULL = 1, SEED_BLOB = 2 };

static bool is_ascii(const char *text, size_t len)
{
    for (; len >= 8; text += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        if (word & 0x8080808080808080ULL) return false;
    }
    while (len--)
        if (*text++ & 0x80) return false;
    return true;
}

/* Hashes only the valid characters of a text with invalid UTF-8. */
static XXH128_hash_t hash_broken_text(const char *text, size_t len)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    for (const char *p = text, *end = text + len; p < end;) {
        gunichar c = *p & 0x80 ? g_utf8_get_char_validated(p, end - p) : 0;
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            p++;
            continue;
        }
        const char *next = *p & 0x80 ? g_utf8_next_char(p) : p + 1;
        XXH3_128bits_update(&state, p, (size_t)(next - p));
        p = next;
    }
    return XXH3_128bits_digest(&state);
}

static XXH128_hash_t hash_text(const char *text, size_t len)
{
    if (is_ascii(text, len) || g_utf8_validate_len(text, len, NULL)) return XXH3_128bits(text, len);
    return hash_broken_text(text, len);
}

static XXH128_hash_t hash_int(int64_t value)
{
    char text[24], *p = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do *--p = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) *--p = '-';
    return XXH3_128bits(p, (size_t)(text + sizeof text - p));
}

static XXH128_hash_t hash_real(double value)
{
    char text[DB_REAL_TEXT];
    return XXH3_128bits(text, db_real_text(value, text));
}

static XXH128_hash_t hash_value(const struct db_value *value)
{
    switch (value->type) {
    case DB_INT: return hash_int(value->i);
    case DB_FLOAT: return hash_real(value->f);
    case DB_TEXT: return hash_text(value->text, value->len);
    case DB_BLOB: return XXH3_128bits_withSeed(value->text, value->len, SEED_BLOB);
    case DB_NULL: break;
    }
    return XXH3_128bits_withSeed("", 0, SEED_NULL);
}

static int compare_hashes(const void *a, const void *b)
{
    return XXH128_cmp(a, b);
}

/* Sorts the hashes of a row. Insertion sort is faster than qsort for up to a few dozen columns. */
static void sort_hashes(XXH128_hash_t *hashes, uint32_t n)
{
    if (n > 32) {
        qsort(hashes, n, sizeof *hashes, compare_hashes);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        XXH128_hash_t h = hashes[i];
        uint32_t j = i;
        for (; j > 0 && XXH128_cmp(&hashes[j - 1], &h) > 0; j--) hashes[j] = hashes[j - 1];
        hashes[j] = h;
    }
}

void digest_init(struct digest *digest)
{
    memset(digest, 0, sizeof *digest);
    XXH3_128bits_reset(&digest->ordered);
}

void digest_row(struct digest *digest, const struct db_value *row, uint32_t n_columns, XXH128_hash_t *scratch)
{
    for (uint32_t i = 0; i < n_columns; i++) scratch[i] = hash_value(&row[i]);
    XXH3_128bits_update(&digest->ordered, scratch, n_columns * sizeof *scratch);
    XXH3_128bits_update(&digest->ordered, &n_columns, sizeof n_columns);
    sort_hashes(scratch, n_columns);
    /* Row hashes are added, because a sum does not depend on the order of rows. Unlike XOR it depends on repeated rows.
     */
    XXH128_hash_t sorted = XXH3_128bits(scratch, n_columns * sizeof *scratch);
    digest->bag[0] += sorted.low64;
    digest->bag[1] += sorted.high64;
    digest->n_rows++;
}

void digest_finish(struct digest *digest, uint64_t bag[2], uint64_t ordered[2])
{
    uint64_t parts[3] = {digest->bag[0], digest->bag[1], digest->n_rows};
    XXH128_hash_t whole = XXH3_128bits(parts, sizeof parts);
    XXH128_hash_t in_order = XXH3_128bits_digest(&digest->ordered);
    bag[0] = whole.low64;
    bag[1] = whole.high64;
    ordered[0] = in_order.low64;
    ordered[1] = in_order.high64;
}
