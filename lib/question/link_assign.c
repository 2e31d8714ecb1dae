/* Finds the best assignment of words to slots by the Hungarian method with potentials (Kuhn, Munkres), in O(words² ·
 * slots).
 *
 * Only words and slots with an edge take part, so a typical question takes a few hundred steps. Each word also has a
 * column of its own with gain 0; a word assigned to it has no slot. */
#include "lib/question/link_int.h"

#include <float.h>
#include <string.h>

struct assignment {
    uint32_t n_words, n_slots;                   /* number of words and slots with edges */
    uint8_t word[LINK_MAX_WORDS];                /* row → word */
    int edge_at[LINK_MAX_WORDS][LINK_MAX_SLOTS]; /* row, column → edge, or -1 */
    float gain[LINK_MAX_WORDS][LINK_MAX_SLOTS];
    float row_price[LINK_MAX_WORDS + 1], column_price[LINK_MAX_SLOTS + LINK_MAX_WORDS + 1];
    uint32_t row_of[LINK_MAX_SLOTS + LINK_MAX_WORDS + 1]; /* column → row, counted from 1; 0 if the column is free */
    uint32_t from[LINK_MAX_SLOTS + LINK_MAX_WORDS + 1];
};

static void fill(struct assignment *a, const struct link_edge *edges, uint32_t n)
{
    uint8_t row_of[LINK_MAX_WORDS], column_of[LINK_MAX_SLOTS];
    memset(row_of, 0xFF, sizeof row_of);
    memset(column_of, 0xFF, sizeof column_of);
    for (uint32_t e = 0; e < n; e++) {
        if (row_of[edges[e].word] == 0xFF) {
            row_of[edges[e].word] = (uint8_t)a->n_words;
            a->word[a->n_words++] = edges[e].word;
        }
        if (column_of[edges[e].slot] == 0xFF) column_of[edges[e].slot] = (uint8_t)a->n_slots++;
    }
    for (uint32_t r = 0; r < a->n_words; r++)
        for (uint32_t c = 0; c < a->n_slots; c++) a->edge_at[r][c] = -1, a->gain[r][c] = 0;
    for (uint32_t e = 0; e < n; e++) {
        uint32_t r = row_of[edges[e].word], c = column_of[edges[e].slot];
        if (a->edge_at[r][c] >= 0 && a->gain[r][c] >= edges[e].gain) continue;
        a->edge_at[r][c] = (int)e;
        a->gain[r][c] = edges[e].gain;
    }
}

/* Returns the cost of column c for row r, both counted from 1. Columns beyond the slots leave the row unassigned and
 * cost 0. */
static float cost(const struct assignment *a, uint32_t r, uint32_t c)
{
    return c <= a->n_slots ? -a->gain[r - 1][c - 1] : 0;
}

/* Reaches the nearest unreached column, and returns it. */
static uint32_t step(struct assignment *a, uint32_t at, uint32_t n_columns, float *least, bool *reached)
{
    uint32_t row = a->row_of[at], next = 0;
    float delta = FLT_MAX;
    reached[at] = true;
    for (uint32_t c = 1; c <= n_columns; c++) {
        if (reached[c]) continue;
        float reduced = cost(a, row, c) - a->row_price[row] - a->column_price[c];
        if (reduced < least[c]) least[c] = reduced, a->from[c] = at;
        if (least[c] < delta) delta = least[c], next = c;
    }
    for (uint32_t c = 0; c <= n_columns; c++) {
        if (reached[c]) {
            a->row_price[a->row_of[c]] += delta;
            a->column_price[c] -= delta;
        } else {
            least[c] -= delta;
        }
    }
    return next;
}

static void place_row(struct assignment *a, uint32_t row)
{
    float least[LINK_MAX_SLOTS + LINK_MAX_WORDS + 1];
    bool reached[LINK_MAX_SLOTS + LINK_MAX_WORDS + 1];
    uint32_t n_columns = a->n_slots + a->n_words, at = 0;
    for (uint32_t c = 0; c <= n_columns; c++) least[c] = FLT_MAX, reached[c] = false;
    a->row_of[0] = row;
    do {
        at = step(a, at, n_columns, least, reached);
    } while (a->row_of[at]);
    for (; at; at = a->from[at]) a->row_of[at] = a->row_of[a->from[at]];
}

bool link_assign(struct arena *arena, const struct link_edge *edges, uint32_t n, int best[LINK_MAX_WORDS])
{
    struct assignment *a = arena_alloc(arena, sizeof *a);
    if (!a) return false;
    for (uint32_t w = 0; w < LINK_MAX_WORDS; w++) best[w] = -1;
    a->n_words = a->n_slots = 0;
    fill(a, edges, n);
    uint32_t n_columns = a->n_slots + a->n_words;
    memset(a->row_price, 0, sizeof a->row_price);
    memset(a->column_price, 0, (n_columns + 1) * sizeof *a->column_price);
    memset(a->row_of, 0, (n_columns + 1) * sizeof *a->row_of);
    for (uint32_t r = 1; r <= a->n_words; r++) place_row(a, r);
    for (uint32_t c = 1; c <= a->n_slots; c++) {
        uint32_t r = a->row_of[c];
        if (r && a->gain[r - 1][c - 1] > 0) best[a->word[r - 1]] = a->edge_at[r - 1][c - 1];
    }
    return true;
}
