/* Looks up values in an index. */
#include "lib/schema/schema_int.h"

#include <string.h>

/* --- columns that hold a value ------------------------------------------------------------------------------------ */

struct hits {
    struct schema_hit *out;
    uint32_t n, max;
    enum value_match wanted;
};

static bool take_hit(void *ctx, uint32_t column, const struct value_entry *entry, const char *form,
                     enum value_match match)
{
    struct hits *hits = ctx;
    if (match == hits->wanted) {
        hits->out[hits->n++] = (struct schema_hit){column, match == VALUE_EXACT, form, entry->count};
    }
    return hits->n < hits->max;
}

uint32_t schema_values_with(const struct schema_index *index, const char *text, size_t len, struct schema_hit *out,
                            uint32_t max)
{
    const struct values *values = &index->priv->values;
    struct hits hits = {out, 0, max, VALUE_EXACT};
    struct value_query query;
    if (max && len <= values->max_value_bytes && value_query_begin(&query, text, len)) {
        values_find(values, &query, -1, take_hit, &hits);
        hits.wanted = VALUE_FOLDED;
        if (hits.n < max) values_find(values, &query, -1, take_hit, &hits);
        value_query_end(&query);
    }
    return hits.n;
}

struct best_match {
    enum value_match match, enough;
};

static bool take_match(void *ctx, uint32_t column, const struct value_entry *entry, const char *form,
                       enum value_match match)
{
    (void)column, (void)entry, (void)form;
    struct best_match *best = ctx;
    if (match > best->match) best->match = match;
    return best->match < best->enough;
}

int schema_column_has(const struct schema_index *index, const struct schema_column *column, const char *text,
                      size_t len, bool exact)
{
    const struct values *values = &index->priv->values;
    const struct value_column *held = &values->columns[column->id];
    if (!held->indexed || len > values->max_value_bytes) return -1;
    struct best_match best = {VALUE_OTHER, exact && !column->folds ? VALUE_EXACT : VALUE_FOLDED};
    struct value_query query;
    bool asked = value_query_begin(&query, text, len);
    if (asked) values_find(values, &query, column->id, take_match, &best);
    bool sure = asked && !query.unknown && held->complete;
    value_query_end(&query);
    if (best.match >= best.enough) return 1;
    return sure ? 0 : -1;
}

/* --- nearest values ----------------------------------------------------------------------------------------------- */

enum { NEAR_LOOKS = 200000, NEAR_DISTANCES = 4000, NEAR_MAX = 16 };

struct near {
    double score; /* 0 for equal texts; a lower score is better */
    const char *form;
};

struct near_search {
    const char *folded;
    size_t len;
    uint64_t letters;
    struct near best[NEAR_MAX];
    uint32_t n, max;
    unsigned distances; /* remaining number of distances to compute */
    struct arena scratch;
};

/* Returns the bytes of a text as a set of bits. One edit changes at most two bits. */
static uint64_t letters_of(const char *text, size_t len)
{
    uint64_t set = 0;
    for (size_t i = 0; i < len; i++) set |= 1ULL << ((unsigned char)text[i] & 63);
    return set;
}

static void offer(struct near_search *search, double score, const char *form)
{
    if (search->n == search->max && score >= search->best[search->n - 1].score) return;
    uint32_t at = search->n < search->max ? search->n++ : search->n - 1;
    for (; at > 0 && search->best[at - 1].score > score; at--) search->best[at] = search->best[at - 1];
    search->best[at] = (struct near){score, form};
}

/* Scores containment: the larger the share of the longer text that the shorter one covers, the better. Returns false if
 * the shorter text has fewer than three bytes or is not contained. */
static bool contained(const char *a, size_t a_len, const char *b, size_t b_len, double *score)
{
    const char *longer = a_len > b_len ? a : b, *shorter = a_len > b_len ? b : a;
    size_t more = MAX(a_len, b_len), less = MIN(a_len, b_len);
    if (less < 3 || !memmem(longer, more, shorter, less)) return false;
    *score = 0.1 + 0.4 * (1 - (double)less / (double)more);
    return true;
}

static void look_at(struct near_search *search, const char *form, const char *folded)
{
    size_t len = strlen(folded);
    double score;
    if (contained(search->folded, search->len, folded, len, &score)) {
        offer(search, score, form);
        return;
    }
    size_t longest = MAX(search->len, len), gap = longest - MIN(search->len, len);
    unsigned limit = (unsigned)MIN(longest / 3 + 1, 8);
    int strange = __builtin_popcountll(search->letters ^ letters_of(folded, len));
    if (gap > limit || (unsigned)strange > 2 * limit || !search->distances) return;
    search->distances--;
    unsigned distance = text_distance(search->folded, folded, limit);
    if (distance <= limit) offer(search, (double)distance / (double)longest, form);
}

static void look_through(struct near_search *search, const struct value_column *held)
{
    uint32_t n = MIN(held->n, NEAR_LOOKS);
    for (uint32_t i = 0; i < n; i++) {
        struct form form = form_at(held->strings, held->entries[i].form);
        if (form.len > 4 * search->len + 64) continue;
        arena_reset(&search->scratch);
        const char *folded = text_fold(&search->scratch, form.text, form.len);
        if (folded) look_at(search, form.text, folded);
    }
}

uint32_t schema_nearest_values(struct arena *arena, const struct schema_index *index,
                               const struct schema_column *column, const char *text, size_t len, const char **out,
                               uint32_t max)
{
    const struct values *values = values_holding(&index->priv->values, column->id);
    if (!values) return 0;
    const struct value_column *held = &values->columns[column->id];
    const char *folded = len <= index->priv->values.max_value_bytes ? text_fold(arena, text, len) : NULL;
    if (!folded || !held->indexed || !max) return 0;
    struct near_search search = {.folded = folded, .len = strlen(folded), .max = MIN(max, NEAR_MAX)};
    search.letters = letters_of(folded, search.len);
    search.distances = NEAR_DISTANCES;
    arena_init(&search.scratch, 0);
    look_through(&search, held);
    arena_free(&search.scratch);
    for (uint32_t i = 0; i < search.n; i++) {
        out[i] = arena_strdup(arena, search.best[i].form);
        if (!out[i]) return i;
    }
    return search.n;
}
