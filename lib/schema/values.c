/* The inverted index (values.h). Each column owns its entries. A hash table over all columns links entries into chains
 * by the hash of their folded text. A tag in each entry holds the bits of the hash that the slot does not imply. Chains
 * lead from low to high columns, so one walk yields columns in order. The values of large columns can be split off into
 * parts and replaced by Bloom filters. */
#include "lib/schema/values.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

bool values_init(struct values *values, uint32_t n_columns, const struct schema_options *options)
{
    *values = (struct values){.n_columns = n_columns, .max_value_bytes = options->max_value_bytes};
    values->columns = calloc((size_t)n_columns + 1, sizeof *values->columns);
    values->base = calloc((size_t)n_columns + 1, sizeof *values->base);
    return values->columns && values->base;
}

void values_free(struct values *values)
{
    for (uint32_t i = 0; values->columns && i < values->n_columns; i++) {
        free(values->columns[i].entries);
        free(values->columns[i].strings);
        free(values->columns[i].filter);
        struct values *part = atomic_load_explicit(&values->columns[i].part, memory_order_acquire);
        if (part) values_free(part);
        free(part);
    }
    if (values->loading) pthread_mutex_destroy(values->loading);
    free(values->loading);
    free(values->apart);
    free(values->columns);
    free(values->base);
    free(values->heads);
    *values = (struct values){0};
}

/* Removes entries without a form (blobs, long texts), which only the counts need. */
static uint32_t drop_formless(struct value_entry *entries, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (entries[i].form != VALUE_NO_FORM) entries[kept++] = entries[i];
    return kept;
}

static void *shrink(void *p, size_t size)
{
    if (!size) {
        free(p);
        return NULL;
    }
    void *smaller = realloc(p, size);
    return smaller ? smaller : p;
}

void values_take(struct values *values, uint32_t column, struct tally *tally)
{
    struct value_column *to = &values->columns[column];
    to->indexed = true;
    to->complete = !tally->registers && !tally->stats.blobs;
    to->n = drop_formless(tally->entries, tally->n_entries);
    to->entries = shrink(tally->entries, to->n * sizeof *to->entries);
    to->strings = shrink(tally->strings, tally->n_strings);
    to->n_strings = tally->n_strings;
    uint64_t kept = to->n * sizeof *to->entries + tally->n_strings;
    values->bytes += kept;
    tally->budget->used += kept; /* tally_free subtracts the bytes that the tally held */
    tally->entries = NULL;
    tally->strings = NULL;
    tally_free(tally);
}

static uint64_t hash_folded(const char *text, size_t len)
{
    return XXH3_64bits(text, len);
}

/* Folds the text of a form. Resets `scratch`, so the result is valid until the next call. */
static const char *fold_form(struct arena *scratch, struct form form, size_t *len)
{
    arena_reset(scratch);
    const char *folded = text_fold(scratch, form.text, form.len);
    *len = folded ? strlen(folded) : 0;
    return folded;
}

static bool link_entry(struct values *values, struct value_column *column, uint32_t i, uint32_t number,
                       struct arena *scratch)
{
    struct value_entry *entry = &column->entries[i];
    size_t len;
    const char *folded = fold_form(scratch, form_at(column->strings, entry->form), &len);
    if (!folded) return false;
    uint64_t hash = hash_folded(folded, len);
    uint32_t *head = &values->heads[(uint32_t)hash & values->mask];
    entry->tag = (uint32_t)(hash >> 32);
    entry->next = *head;
    *head = number + 1;
    return true;
}

bool values_seal(struct values *values)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < values->n_columns; i++) {
        values->base[i] = (uint32_t)n;
        n += values->columns[i].n;
        if (n >= UINT32_MAX) return false;
    }
    values->base[values->n_columns] = (uint32_t)n;
    uint64_t room = 16;
    while (room < n) room *= 2;
    values->heads = calloc(room, sizeof *values->heads);
    if (!values->heads) return false;
    values->mask = (uint32_t)(room - 1);
    values->bytes += room * sizeof *values->heads;
    struct arena scratch;
    arena_init(&scratch, 0);
    bool ok = true;
    /* From the last column on, so that chains start with the lowest column. */
    for (uint32_t i = values->n_columns; ok && i-- > 0;)
        for (uint32_t j = values->columns[i].n; ok && j-- > 0;)
            ok = link_entry(values, &values->columns[i], j, values->base[i] + j, &scratch);
    arena_free(&scratch);
    return ok;
}

static uint32_t column_of(const struct values *values, uint32_t number)
{
    uint32_t low = 0, high = values->n_columns;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (values->base[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static const struct value_entry *entry_at(const struct values *values, uint32_t number)
{
    uint32_t column = column_of(values, number);
    return &values->columns[column].entries[number - values->base[column]];
}

/* --- parts of large columns --------------------------------------------------------------------------------------- */

uint32_t *values_slots(const struct values *values)
{
    uint32_t n = values->base[values->n_columns];
    uint32_t *slots = calloc((size_t)n + 1, sizeof *slots);
    for (uint32_t slot = 0; slots && slot <= values->mask; slot++)
        for (uint32_t at = values->heads[slot]; at; at = entry_at(values, at - 1)->next) slots[at - 1] = slot;
    return slots;
}

/* Copies the entries and strings of a column. */
static bool copy_column(const struct value_column *from, struct value_column *to)
{
    to->entries = malloc(from->n * sizeof *to->entries + 1);
    to->strings = malloc((size_t)from->n_strings + 1);
    if (!to->entries || !to->strings) return false;
    if (from->n) memcpy(to->entries, from->entries, from->n * sizeof *to->entries);
    if (from->n_strings) memcpy(to->strings, from->strings, from->n_strings);
    to->n = from->n;
    to->n_strings = from->n_strings;
    to->indexed = from->indexed;
    to->complete = from->complete;
    return true;
}

/* Builds the chains of the copy. Its hash table is no larger than the old one, so the low bits of an entry's old slot
 * give the new slot. */
static bool link_picked(struct values *out, const struct values *from, const uint32_t *slots)
{
    uint64_t n = 0, room = 16;
    for (uint32_t i = 0; i < out->n_columns; i++) {
        out->base[i] = (uint32_t)n;
        n += out->columns[i].n;
    }
    out->base[out->n_columns] = (uint32_t)n;
    while (room < n) room *= 2;
    out->heads = calloc(room, sizeof *out->heads);
    if (!out->heads) return false;
    out->mask = (uint32_t)(room - 1);
    for (uint32_t i = out->n_columns; i-- > 0;)
        for (uint32_t j = out->columns[i].n; j-- > 0;) {
            uint32_t *head = &out->heads[slots[from->base[i] + j] & out->mask];
            out->columns[i].entries[j].next = *head;
            *head = out->base[i] + j + 1;
        }
    return true;
}

struct values *values_pick(const struct values *values, const uint32_t *slots, const bool *picked)
{
    struct schema_options options = {.max_value_bytes = values->max_value_bytes};
    struct values *out = calloc(1, sizeof *out);
    bool ok = out && values_init(out, values->n_columns, &options);
    for (uint32_t i = 0; ok && i < values->n_columns; i++)
        if (picked[i]) ok = copy_column(&values->columns[i], &out->columns[i]);
    if (ok) ok = link_picked(out, values, slots);
    if (!ok && out) values_free(out);
    if (!ok) free(out);
    return ok ? out : NULL;
}

/* A Bloom filter over the tags, with 10 bits for each value and 6 probes. About one absent text in a hundred passes. */
enum { FILTER_BITS = 10, FILTER_PROBES = 6 };

static bool probe_filter(uint8_t *filter, uint32_t bytes, uint32_t tag, bool set)
{
    uint64_t mixed = (tag + 1) * 0x9E3779B97F4A7C15ULL, bits = (uint64_t)bytes * 8;
    uint32_t at = (uint32_t)mixed, step = (uint32_t)(mixed >> 32) | 1;
    bool all = bytes > 0;
    for (int i = 0; i < FILTER_PROBES && all; i++, at += step) {
        uint64_t bit = at % bits;
        if (set)
            filter[bit / 8] |= (uint8_t)(1U << bit % 8);
        else
            all = filter[bit / 8] >> bit % 8 & 1;
    }
    return all;
}

uint8_t *values_filter(const struct value_column *column, uint32_t *bytes)
{
    *bytes = (uint32_t)((uint64_t)column->n * FILTER_BITS / 8 + 1);
    uint8_t *filter = calloc(*bytes, 1);
    for (uint32_t i = 0; filter && i < column->n; i++) probe_filter(filter, *bytes, column->entries[i].tag, true);
    return filter;
}

bool values_note_apart(struct values *values)
{
    values->apart = calloc((size_t)values->n_columns + 1, sizeof *values->apart);
    if (!values->apart) return false;
    for (uint32_t i = 0; i < values->n_columns; i++)
        if (values->columns[i].apart) values->apart[values->n_apart++] = i;
    if (!values->n_apart) return true;
    values->loading = calloc(1, sizeof *values->loading);
    if (values->loading) pthread_mutex_init(values->loading, NULL);
    return values->loading != NULL;
}

const struct values *values_holding(const struct values *values, uint32_t column)
{
    struct value_column *held = &values->columns[column];
    if (!held->apart) return values;
    struct values *part = atomic_load_explicit(&held->part, memory_order_acquire);
    if (part || !values->load) return part;
    pthread_mutex_lock(values->loading);
    part = atomic_load_explicit(&held->part, memory_order_acquire);
    if (!part) {
        part = values->load(values->load_ctx, column);
        atomic_store_explicit(&held->part, part, memory_order_release);
    }
    pthread_mutex_unlock(values->loading);
    return part;
}

/* --- lookup ------------------------------------------------------------------------------------------------------- */

/* Writes the index form of a number that a text contains, and returns its length; 0 if the text is not a number. "007",
 * "3.0" and " 42 " become "7", "3" and "42". */
static size_t as_number(const char *text, size_t len, char out[DB_REAL_TEXT])
{
    while (len && g_ascii_isspace(*text)) text++, len--;
    while (len && g_ascii_isspace(text[len - 1])) len--;
    char copy[64];
    if (len >= sizeof copy || !looks_numeric(text, len)) return 0;
    memcpy(copy, text, len);
    copy[len] = '\0';
    struct db_value value = {.type = DB_FLOAT, .f = g_ascii_strtod(copy, NULL)};
    if (!memchr(copy, '.', len)) {
        char *end;
        errno = 0;
        gint64 whole = g_ascii_strtoll(copy, &end, 10);
        if (!errno && *end == '\0') value = (struct db_value){.type = DB_INT, .i = whole};
    }
    return number_form(&value, out);
}

bool value_query_begin(struct value_query *query, const char *text, size_t len)
{
    arena_init(&query->arena, 0);
    query->text = text;
    query->unknown = false;
    query->len = len;
    query->number_len = as_number(text, len, query->number);
    query->folded = text_fold_short(query->room, sizeof query->room, text, len);
    if (!query->folded) query->folded = text_fold(&query->arena, text, len);
    query->folded_len = query->folded ? strlen(query->folded) : 0;
    return query->folded != NULL;
}

void value_query_end(struct value_query *query)
{
    arena_free(&query->arena);
}

/* Compares the texts, because entries of equal tags may still differ. */
static enum value_match match_form(const struct value_query *query, struct form form, struct arena *scratch)
{
    if (form.type != DB_TEXT) {
        bool same = form.len == query->number_len && memcmp(form.text, query->number, form.len) == 0;
        return same && form.len ? VALUE_EXACT : VALUE_OTHER;
    }
    if (form.len == query->len && memcmp(form.text, query->text, form.len) == 0) return VALUE_EXACT;
    size_t len;
    const char *folded = fold_form(scratch, form, &len);
    bool same = folded && len == query->folded_len && memcmp(folded, query->folded, len) == 0;
    return same ? VALUE_FOLDED : VALUE_OTHER;
}

struct walk {
    const struct values *values;
    struct value_query *query;
    uint32_t first, end; /* range of entry numbers */
    value_each_fn *each;
    void *ctx;
    struct arena scratch;
};

/* Calls `each` for an entry whose text matches. Returns false if the walk must stop. */
static bool visit(struct walk *walk, uint32_t number)
{
    uint32_t column = column_of(walk->values, number);
    const struct value_column *from = &walk->values->columns[column];
    const struct value_entry *entry = &from->entries[number - walk->values->base[column]];
    struct form form = form_at(from->strings, entry->form);
    enum value_match match = match_form(walk->query, form, &walk->scratch);
    return match == VALUE_OTHER || walk->each(walk->ctx, column, entry, form.text, match);
}

static bool walk_chain(struct walk *walk, const char *folded, size_t len)
{
    uint64_t hash = hash_folded(folded, len);
    uint32_t at = walk->values->heads[(uint32_t)hash & walk->values->mask];
    while (at) {
        uint32_t number = at - 1;
        const struct value_entry *entry = entry_at(walk->values, number);
        bool wanted = entry->tag == (uint32_t)(hash >> 32) && number >= walk->first && number < walk->end;
        if (wanted && !visit(walk, number)) return false;
        at = entry->next;
    }
    return true;
}

/* Visits the chain of a text, for the columns [from, end) of a table. */
static bool walk_columns(struct walk *walk, const struct values *values, uint32_t from, uint32_t end,
                         const char *folded, size_t len)
{
    walk->values = values;
    walk->first = values->base[from];
    walk->end = values->base[end];
    return walk->first == walk->end || walk_chain(walk, folded, len);
}

static bool walk_apart(struct walk *walk, const struct values *all, uint32_t column, const char *folded, size_t len)
{
    const struct value_column *held = &all->columns[column];
    uint32_t tag = (uint32_t)(hash_folded(folded, len) >> 32);
    if (!probe_filter(held->filter, held->n_filter, tag, false)) return true;
    const struct values *part = values_holding(all, column);
    if (!part) walk->query->unknown = true;
    return !part || walk_columns(walk, part, column, column + 1, folded, len);
}

/* Visits the columns [from, end) in order, including the columns in parts. */
static bool walk_text(struct walk *walk, const struct values *all, uint32_t from, uint32_t end, const char *folded,
                      size_t len)
{
    for (uint32_t i = 0; i < all->n_apart; i++) {
        uint32_t column = all->apart[i];
        if (column < from || column >= end) continue;
        if (!walk_columns(walk, all, from, column, folded, len)) return false;
        if (!walk_apart(walk, all, column, folded, len)) return false;
        from = column + 1;
    }
    return walk_columns(walk, all, from, end, folded, len);
}

void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each, void *ctx)
{
    struct walk walk = {values, query, 0, 0, each, ctx, {0}};
    uint32_t from = column >= 0 ? (uint32_t)column : 0, end = column >= 0 ? from + 1 : values->n_columns;
    arena_init(&walk.scratch, 0);
    bool same = query->number_len == query->folded_len && memcmp(query->number, query->folded, query->folded_len) == 0;
    bool go_on = walk_text(&walk, values, from, end, query->folded, query->folded_len);
    if (go_on && query->number_len && !same) walk_text(&walk, values, from, end, query->number, query->number_len);
    arena_free(&walk.scratch);
}

/* --- inclusion ---------------------------------------------------------------------------------------------------- */

/* A text of the sample, with the tag that an equal entry of the other column has. */
struct sampled {
    uint32_t tag, entry; /* number of the entry in the sampled column */
};

static int compare_tags(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static uint32_t tag_of(const char *folded, size_t len)
{
    return (uint32_t)(hash_folded(folded, len) >> 32);
}

static void add_sampled(GArray *sample, const struct value_column *from, uint32_t entry)
{
    struct form form = form_at(from->strings, from->entries[entry].form);
    struct value_query query;
    if (value_query_begin(&query, form.text, form.len)) {
        struct sampled as_text = {tag_of(query.folded, query.folded_len), entry};
        struct sampled as_number = {tag_of(query.number, query.number_len), entry};
        g_array_append_val(sample, as_text);
        if (query.number_len && as_number.tag != as_text.tag) g_array_append_val(sample, as_number);
    }
    value_query_end(&query);
}

static bool is_exact(struct form wanted, struct form form, struct arena *scratch)
{
    struct value_query query;
    bool exact = value_query_begin(&query, wanted.text, wanted.len) && match_form(&query, form, scratch) == VALUE_EXACT;
    value_query_end(&query);
    return exact;
}

static guint first_of(const GArray *sample, uint32_t tag)
{
    guint low = 0, high = sample->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(sample, struct sampled, middle).tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Marks every entry of the sample that is equal to the text `entry` of `to`. */
static void mark_equal(const GArray *sample, const struct value_column *from, const struct value_column *to,
                       const struct value_entry *entry, bool *found, struct arena *scratch)
{
    struct form form = form_at(to->strings, entry->form);
    for (guint i = first_of(sample, entry->tag); i < sample->len; i++) {
        const struct sampled *each = &g_array_index(sample, struct sampled, i);
        if (each->tag != entry->tag) break;
        if (!found[each->entry])
            found[each->entry] = is_exact(form_at(from->strings, from->entries[each->entry].form), form, scratch);
    }
}

/* Makes one pass over `b` instead of a lookup for each text. A lookup would walk the chain of a small number through
 * every column that contains it. With one join for each table, the time would be quadratic in the number of tables. */
double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample)
{
    const struct value_column *from = &values->columns[a], *to = &values->columns[b];
    if (!from->indexed || !to->indexed || !to->complete || !from->n) return -1;
    uint32_t step = from->n > sample ? from->n / sample : 1, seen = 0, n_found = 0;
    GArray *texts = g_array_new(FALSE, FALSE, sizeof(struct sampled));
    bool *found = g_new0(bool, from->n);
    struct arena scratch;
    arena_init(&scratch, 0);
    for (uint32_t i = 0; i < from->n; i += step, seen++) add_sampled(texts, from, i);
    g_array_sort(texts, compare_tags);
    for (uint32_t i = 0; i < to->n; i++) mark_equal(texts, from, to, &to->entries[i], found, &scratch);
    for (uint32_t i = 0; i < from->n; i += step) n_found += found[i];
    arena_free(&scratch);
    g_free(found);
    g_array_free(texts, TRUE);
    return (double)n_found / seen;
}
