/* Counts the values of one column (tally.h). A hash table of slots finds the entry of a value. Texts are appended to
 * one buffer of strings. Entries, slots and strings grow through grow(), which charges the memory budget of the whole
 * index. At the cap or the end of the budget, no entry is added, and HyperLogLog registers estimate the number of
 * distinct values. */
#include "lib/schema/tally.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_ROOM = 16, FIRST_STRINGS = 256, REGISTERS = 4096, REGISTER_BITS = 12, TOP = 16 };

struct form form_at(const char *strings, uint32_t offset)
{
    uint16_t len;
    memcpy(&len, strings + offset - FORM_PREFIX, sizeof len);
    return (struct form){strings + offset, len, (enum db_type)strings[offset - 1]};
}

size_t number_form(const struct db_value *value, char out[DB_REAL_TEXT])
{
    if (value->type == DB_INT) return (size_t)snprintf(out, DB_REAL_TEXT, "%lld", (long long)value->i);
    if (fabs(value->f) < 1e15 && value->f == floor(value->f))
        return (size_t)snprintf(out, DB_REAL_TEXT, "%.0f", value->f + 0.0); /* adding 0.0 turns -0 into 0 */
    return db_real_text(value->f, out);
}

void tally_init(struct tally *tally, struct budget *budget, const struct schema_options *options, uint64_t seed)
{
    memset(tally, 0, sizeof *tally);
    tally->budget = budget;
    tally->max_values = MIN(options->max_values, UINT32_MAX / 4);
    tally->max_value_bytes = MIN(options->max_value_bytes, UINT16_MAX);
    tally->seed = seed;
}

/* --- memory: the budget covers everything that a tally holds ------------------------------------------------------ */

/* Grows `p` from `old` to `new` elements of `size`. Returns NULL and changes nothing if the budget or memory is
 * exhausted. */
static void *grow(struct tally *tally, void *p, uint64_t old, uint64_t new, size_t size)
{
    uint64_t more = (new - old) * size;
    if (tally->budget->used + more > tally->budget->max) return NULL;
    void *moved = realloc(p, new *size);
    if (moved) tally->budget->used += more;
    return moved;
}

static void place_entry(struct tally *tally, uint32_t entry)
{
    uint32_t mask = tally->n_slots - 1;
    uint32_t at = (uint32_t)tally->entries[entry].hash & mask;
    while (tally->slots[at]) at = (at + 1) & mask;
    tally->slots[at] = entry + 1;
}

static bool grow_slots(struct tally *tally)
{
    uint32_t n = tally->n_slots ? tally->n_slots * 2 : FIRST_ROOM * 2;
    uint32_t *slots = grow(tally, tally->slots, tally->n_slots, n, sizeof *slots);
    if (!slots) return false;
    tally->slots = slots;
    tally->n_slots = n;
    memset(tally->slots, 0, n * sizeof *tally->slots);
    for (uint32_t i = 0; i < tally->n_entries; i++) place_entry(tally, i);
    return true;
}

static bool make_room(struct tally *tally)
{
    if (tally->n_entries == tally->room) {
        uint32_t room = tally->room ? tally->room * 2 : FIRST_ROOM;
        struct value_entry *entries = grow(tally, tally->entries, tally->room, room, sizeof *entries);
        if (!entries) return false;
        tally->entries = entries;
        tally->room = room;
    }
    return tally->n_entries * 3ULL < tally->n_slots * 2ULL || grow_slots(tally);
}

/* Stores a text. Returns false if there is no space. */
static bool keep_form(struct tally *tally, const char *text, size_t len, enum db_type type, uint32_t *form)
{
    uint64_t need = (uint64_t)tally->n_strings + FORM_PREFIX + len + 1;
    if (need >= VALUE_NO_FORM) return false;
    if (need > tally->strings_room) {
        uint64_t room = MAX(tally->strings_room * 2ULL, FIRST_STRINGS);
        room = MIN(MAX(room, need), UINT32_MAX);
        char *strings = grow(tally, tally->strings, tally->strings_room, room, 1);
        if (!strings) return false;
        tally->strings = strings;
        tally->strings_room = (uint32_t)room;
    }
    char *p = tally->strings + tally->n_strings;
    uint16_t short_len = (uint16_t)len;
    memcpy(p, &short_len, sizeof short_len);
    p[2] = (char)type;
    memcpy(p + FORM_PREFIX, text, len);
    p[FORM_PREFIX + len] = '\0';
    *form = tally->n_strings + FORM_PREFIX;
    tally->n_strings = (uint32_t)need;
    return true;
}

/* --- the estimate of distinct values past the cap ----------------------------------------------------------------- */

static void observe(struct tally *tally, uint64_t hash)
{
    uint8_t *cell = &tally->registers[hash >> (64 - REGISTER_BITS)];
    uint64_t rest = hash << REGISTER_BITS | 1ULL << (REGISTER_BITS - 1);
    uint8_t zeros = (uint8_t)(__builtin_clzll(rest) + 1);
    if (zeros > *cell) *cell = zeros;
}

/* Estimates the number of distinct values by HyperLogLog (Flajolet et al. 2007), with linear counting for few
 * values. */
static double estimate(const uint8_t *registers)
{
    double sum = 0;
    unsigned empty = 0;
    for (unsigned i = 0; i < REGISTERS; i++) {
        sum += ldexp(1, -registers[i]);
        empty += registers[i] == 0;
    }
    const double m = REGISTERS, alpha = 0.7213 / (1 + 1.079 / m);
    double raw = alpha * m * m / sum;
    return raw <= 2.5 * m && empty ? m * log(m / empty) : raw;
}

static void freeze(struct tally *tally)
{
    tally->registers = g_new0(uint8_t, REGISTERS);
    tally->stats.sampled = true;
    for (uint32_t i = 0; i < tally->n_entries; i++) observe(tally, tally->entries[i].hash);
}

/* --- distinct values ---------------------------------------------------------------------------------------------- */

enum { SEED_NUMBER, SEED_TEXT, SEED_BLOB };

/* Hashes a value. 3 and 3.0 are one value for the engine; '3' is another. */
static uint64_t hash_value(const struct tally *tally, const struct db_value *value)
{
    if (value->type == DB_TEXT) return XXH3_64bits_withSeed(value->text, value->len, tally->seed + SEED_TEXT);
    if (value->type == DB_BLOB) return XXH3_64bits_withSeed(value->text, value->len, tally->seed + SEED_BLOB);
    int64_t whole = value->i;
    if (value->type == DB_FLOAT) {
        bool fits = value->f >= -0x1p63 && value->f < 0x1p63 && value->f == floor(value->f);
        if (fits)
            whole = (int64_t)value->f;
        else
            memcpy(&whole, &value->f, sizeof whole);
    }
    return XXH3_64bits_withSeed(&whole, sizeof whole, tally->seed + SEED_NUMBER);
}

static struct value_entry *find_entry(struct tally *tally, uint64_t hash)
{
    if (!tally->n_slots) return NULL;
    uint32_t mask = tally->n_slots - 1;
    for (uint32_t at = (uint32_t)hash & mask; tally->slots[at]; at = (at + 1) & mask) {
        struct value_entry *entry = &tally->entries[tally->slots[at] - 1];
        if (entry->hash == hash) return entry;
    }
    return NULL;
}

static bool form_of(struct tally *tally, const struct db_value *value, uint32_t *form)
{
    *form = VALUE_NO_FORM;
    if (value->type == DB_BLOB) return true;
    if (value->type == DB_TEXT) {
        if (value->len <= tally->max_value_bytes) return keep_form(tally, value->text, value->len, DB_TEXT, form);
        tally->has_unindexed = true;
        return true;
    }
    char text[DB_REAL_TEXT];
    return keep_form(tally, text, number_form(value, text), value->type, form);
}

static bool add_entry(struct tally *tally, const struct db_value *value, uint64_t hash)
{
    uint32_t form;
    if (tally->n_entries >= tally->max_values || !make_room(tally) || !form_of(tally, value, &form)) return false;
    struct value_entry *entry = &tally->entries[tally->n_entries++];
    entry->hash = hash;
    entry->form = form;
    entry->count = 1;
    place_entry(tally, tally->n_entries - 1);
    return true;
}

static void count_value(struct tally *tally, const struct db_value *value)
{
    uint64_t hash = hash_value(tally, value);
    struct value_entry *entry = find_entry(tally, hash);
    if (entry) {
        if (entry->count < UINT32_MAX) entry->count++;
        return;
    }
    if (!tally->registers && add_entry(tally, value, hash)) return;
    if (!tally->registers) freeze(tally);
    observe(tally, hash);
}

/* --- minimum and maximum ------------------------------------------------------------------------------------------ */

static void remember(struct db_value *place, char text[256], const struct db_value *value)
{
    *place = *value;
    if (value->type != DB_TEXT && value->type != DB_BLOB) return;
    place->len = MIN(value->len, 255);
    memcpy(text, value->text, place->len);
    text[place->len] = '\0';
    place->text = text;
}

static void track_range(struct tally *tally, const struct db_value *value)
{
    struct schema_stats *stats = &tally->stats;
    bool first = stats->rows - stats->nulls == 1;
    if (first || db_value_compare(value, &stats->min) < 0) remember(&stats->min, tally->min_text, value);
    if (first || db_value_compare(value, &stats->max) > 0) remember(&stats->max, tally->max_text, value);
}

static void track_type(struct schema_stats *stats, const struct db_value *value)
{
    switch (value->type) {
    case DB_INT:
        stats->ints++;
        stats->zeros += value->i == 0;
        stats->sum += (double)value->i;
        break;
    case DB_FLOAT:
        stats->reals++;
        stats->zeros += value->f == 0;
        stats->sum += value->f;
        break;
    case DB_TEXT:
        stats->texts++;
        stats->numeric_texts += looks_numeric(value->text, value->len);
        stats->date_texts += looks_like_date(value->text, value->len);
        break;
    default: stats->blobs++;
    }
}

void tally_add(struct tally *tally, const struct db_value *value)
{
    tally->stats.rows++;
    if (value->type == DB_NULL) {
        tally->stats.nulls++;
        return;
    }
    track_type(&tally->stats, value);
    track_range(tally, value);
    count_value(tally, value);
}

/* --- samples ------------------------------------------------------------------------------------------------------ */

void tally_sample(struct tally *tally, double factor)
{
    struct schema_stats *stats = &tally->stats;
    uint64_t *const counts[] = {&stats->rows,  &stats->nulls, &stats->ints,          &stats->reals,     &stats->texts,
                                &stats->blobs, &stats->zeros, &stats->numeric_texts, &stats->date_texts};
    if (!tally->registers) freeze(tally);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) *counts[i] = (uint64_t)llround((double)*counts[i] * factor);
    stats->sum *= factor;
}

/* --- completion --------------------------------------------------------------------------------------------------- */

/* Converts a form back to its value. */
static bool value_of_form(struct arena *arena, struct form form, struct db_value *out)
{
    *out = (struct db_value){.type = form.type};
    if (form.type == DB_INT) {
        out->i = g_ascii_strtoll(form.text, NULL, 10);
    } else if (form.type == DB_FLOAT) {
        out->f = g_ascii_strtod(form.text, NULL);
    } else {
        out->text = arena_strndup(arena, form.text, form.len);
        out->len = form.len;
        return out->text != NULL;
    }
    return true;
}

/* Selects the most frequent entries. Of equally frequent entries, the earlier one precedes. Returns their number. */
static uint32_t pick_top(const struct tally *tally, uint32_t top[TOP])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tally->n_entries; i++) {
        const struct value_entry *entry = &tally->entries[i];
        if (entry->form == VALUE_NO_FORM) continue;
        if (n == TOP && entry->count <= tally->entries[top[n - 1]].count) continue;
        uint32_t at = n < TOP ? n++ : n - 1;
        for (; at > 0 && tally->entries[top[at - 1]].count < entry->count; at--) top[at] = top[at - 1];
        top[at] = i;
    }
    return n;
}

static bool copy_top(const struct tally *tally, struct arena *arena, struct schema_stats *out)
{
    uint32_t top[TOP], n = pick_top(tally, top);
    struct schema_top_value *values = arena_new_array(arena, n, struct schema_top_value);
    if (!values) return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct value_entry *entry = &tally->entries[top[i]];
        values[i].count = entry->count;
        if (!value_of_form(arena, form_at(tally->strings, entry->form), &values[i].value)) return false;
    }
    out->top = values;
    out->n_top = n;
    return true;
}

static bool own_text(struct arena *arena, struct db_value *value)
{
    if (value->type != DB_TEXT && value->type != DB_BLOB) return true;
    value->text = arena_strndup(arena, value->text, value->len);
    return value->text != NULL;
}

bool tally_stats(struct tally *tally, struct arena *arena, struct schema_stats *out)
{
    *out = tally->stats;
    out->distinct = tally->n_entries;
    if (tally->registers) out->distinct = MAX(out->distinct, (uint64_t)estimate(tally->registers));
    return own_text(arena, &out->min) && own_text(arena, &out->max) && copy_top(tally, arena, out);
}

void tally_free(struct tally *tally)
{
    if (!tally->budget) return; /* already freed, or moved to the index */
    uint64_t held = (uint64_t)tally->room * sizeof *tally->entries + (uint64_t)tally->n_slots * sizeof *tally->slots +
                    tally->strings_room;
    tally->budget->used -= held;
    free(tally->entries);
    free(tally->slots);
    free(tally->strings);
    g_free(tally->registers);
    memset(tally, 0, sizeof *tally);
}
