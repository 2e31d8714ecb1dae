/* Compares strings by their letters: edit distance and Jaro-Winkler similarity. */
#include "lib/text/internal.h"

#include <string.h>

enum { POINTS_MAX = 64, BYTES_MAX = 1024 };

/* A string as comparable units: code points, or bytes if it has too many code points. */
struct units {
    uint32_t items[BYTES_MAX];
    unsigned n;
};

static bool fill_points(struct units *units, const char *text, size_t len)
{
    const char *end = text + len;
    units->n = 0;
    while (text < end) {
        if (units->n == POINTS_MAX) return false;
        text += utf8_read(text, end, &units->items[units->n++]);
    }
    return true;
}

static void fill_bytes(struct units *units, const char *text, size_t len)
{
    units->n = (unsigned)len;
    for (size_t i = 0; i < len; i++) units->items[i] = (unsigned char)text[i];
}

static bool fill_both(struct units *a, struct units *b, const char *x, const char *y)
{
    size_t nx = strlen(x), ny = strlen(y);
    if (nx > BYTES_MAX || ny > BYTES_MAX) return false;
    if (fill_points(a, x, nx) && fill_points(b, y, ny)) return true;
    fill_bytes(a, x, nx);
    fill_bytes(b, y, ny);
    return true;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Fills one row of the table of the optimal string alignment. Returns the smallest entry of the row. */
static unsigned fill_row(const struct units *a, const struct units *b, unsigned i, const unsigned *before,
                         const unsigned *last, unsigned *row)
{
    unsigned best = row[0] = i;
    for (unsigned j = 1; j <= b->n; j++) {
        unsigned same = a->items[i - 1] == b->items[j - 1];
        row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same);
        bool swapped = i > 1 && j > 1 && a->items[i - 1] == b->items[j - 2] && a->items[i - 2] == b->items[j - 1];
        if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        if (row[j] < best) best = row[j];
    }
    return best;
}

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
    struct units x, y;
    if (!fill_both(&x, &y, a, b)) return strcmp(a, b) == 0 ? 0 : limit + 1;
    unsigned gap = x.n > y.n ? x.n - y.n : y.n - x.n;
    if (gap > limit) return limit + 1;
    unsigned rows[3][BYTES_MAX + 1];
    for (unsigned j = 0; j <= y.n; j++) rows[0][j] = j;
    unsigned best_before = 0, distance = y.n;
    for (unsigned i = 1; i <= x.n; i++) {
        unsigned best = fill_row(&x, &y, i, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
        /* a swap refers to the row before the last, so both rows must exceed the limit */
        if (best > limit && best_before > limit) return limit + 1;
        best_before = best;
        distance = rows[i % 3][y.n]; /* NOLINT: fill_row has set all of 0 .. y.n */
    }
    return distance > limit ? limit + 1 : distance;
}

/* Returns the Jaro similarity: the share of letters that match within half the longer length, reduced for letters that
 * match in another order. */
static double jaro(const struct units *a, const struct units *b)
{
    bool used_a[BYTES_MAX] = {false}, used_b[BYTES_MAX] = {false};
    unsigned longest = a->n > b->n ? a->n : b->n, reach = longest / 2 ? longest / 2 - 1 : 0, matches = 0;
    for (unsigned i = 0; i < a->n; i++) {
        unsigned from = i > reach ? i - reach : 0, to = i + reach + 1 < b->n ? i + reach + 1 : b->n;
        for (unsigned j = from; j < to; j++) {
            if (used_b[j] || a->items[i] != b->items[j]) continue;
            used_a[i] = used_b[j] = true;
            matches++;
            break;
        }
    }
    if (!matches) return 0;
    unsigned moved = 0;
    for (unsigned i = 0, j = 0; i < a->n; i++) {
        if (!used_a[i]) continue;
        while (!used_b[j]) j++;
        moved += a->items[i] != b->items[j++];
    }
    double m = matches;
    return (m / a->n + m / b->n + (m - moved / 2.0) / m) / 3;
}

double text_similarity(const char *a, const char *b)
{
    struct units x, y;
    if (strcmp(a, b) == 0) return 1;
    if (!fill_both(&x, &y, a, b) || !x.n || !y.n) return 0;
    double base = jaro(&x, &y);
    unsigned prefix = 0;
    while (prefix < 4 && prefix < x.n && prefix < y.n && x.items[prefix] == y.items[prefix]) prefix++;
    return base > 0.7 ? base + prefix * 0.1 * (1 - base) : base; /* Winkler's bonus for a common prefix */
}
