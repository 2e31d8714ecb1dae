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
    }
    free(values->columns);
    free(values->base);
    free(values->heads);
    *values = (struct values){0};
}

/* Entries without a form (blobs, long texts) have done their duty once counted. */
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
    tally->budget->used += kept; /* what tally_free will take off is what the tally held */
    tally->entries = NULL;
    tally->strings = NULL;
    tally_free(tally);
}

static uint64_t hash_folded(const char *text, size_t len)
{
    return XXH3_64bits(text, len);
}

/* Scratch is reset: the text lives until the next call. */
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
    for (uint32_t i = values->n_columns; ok && i-- > 0;) /* backwards: chains start with the lowest column */
        for (uint32_t j = values->columns[i].n; ok && j-- > 0;)
            ok = link_entry(values, &values->columns[i], j, values->base[i] + j, &scratch);
    arena_free(&scratch);
    return ok;
}

/* --- lookup ------------------------------------------------------------------------------------------------------- */

/* "007", "3.0", " 42 " read as numbers; what is indexed for those is "7", "3", "42". */
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
    query->len = len;
    query->number_len = as_number(text, len, query->number);
    query->folded = text_fold(&query->arena, text, len);
    query->folded_len = query->folded ? strlen(query->folded) : 0;
    return query->folded != NULL;
}

void value_query_end(struct value_query *query)
{
    arena_free(&query->arena);
}

/* Compare for real: the chain only promises equal tags. */
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

struct walk {
    const struct values *values;
    const struct value_query *query;
    uint32_t first, end; /* entry numbers that are asked for */
    value_each_fn *each;
    void *ctx;
    struct arena scratch;
};

/* Entry `number` if the walk wants it. false: stop. */
static bool visit(struct walk *walk, uint32_t number)
{
    uint32_t column = column_of(walk->values, number);
    const struct value_column *from = &walk->values->columns[column];
    const struct value_entry *entry = &from->entries[number - walk->values->base[column]];
    enum value_match match = match_form(walk->query, form_at(from->strings, entry->form), &walk->scratch);
    return match == VALUE_OTHER || walk->each(walk->ctx, column, entry, match);
}

static const struct value_entry *entry_at(const struct values *values, uint32_t number)
{
    uint32_t column = column_of(values, number);
    return &values->columns[column].entries[number - values->base[column]];
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

void values_find(const struct values *values, struct value_query *query, int64_t column, value_each_fn *each, void *ctx)
{
    struct walk walk = {values, query, 0, values->base[values->n_columns], each, ctx, {0}};
    if (column >= 0) {
        walk.first = values->base[column];
        walk.end = values->base[column + 1];
    }
    arena_init(&walk.scratch, 0);
    bool same = query->number_len == query->folded_len && memcmp(query->number, query->folded, query->folded_len) == 0;
    bool go_on = walk_chain(&walk, query->folded, query->folded_len);
    if (go_on && query->number_len && !same) walk_chain(&walk, query->number, query->number_len);
    arena_free(&walk.scratch);
}

static bool note_exact(void *ctx, uint32_t column, const struct value_entry *entry, enum value_match match)
{
    (void)column, (void)entry;
    if (match == VALUE_EXACT) *(bool *)ctx = true;
    return match != VALUE_EXACT;
}

double values_inclusion(const struct values *values, uint32_t a, uint32_t b, uint32_t sample)
{
    const struct value_column *from = &values->columns[a], *to = &values->columns[b];
    if (!from->indexed || !to->indexed || !to->complete || !from->n) return -1;
    uint32_t step = from->n > sample ? from->n / sample : 1, seen = 0, found = 0;
    for (uint32_t i = 0; i < from->n; i += step) {
        struct form form = form_at(from->strings, from->entries[i].form);
        struct value_query query;
        bool has = false;
        if (value_query_begin(&query, form.text, form.len)) values_find(values, &query, b, note_exact, &has);
        value_query_end(&query);
        seen++;
        found += has;
    }
    return (double)found / seen;
}
