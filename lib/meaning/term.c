/* Makes terms, and computes their hashes and their order. */
#include "lib/meaning/meaning_int.h"

#include <stdlib.h>
#include <string.h>

uint64_t meaning_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9U;
    return x ^ (x >> 31);
}

uint64_t meaning_hash_text(const char *text)
{
    uint64_t hash = 0xCBF29CE484222325U;
    for (; text && *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3U;
    return hash;
}

const char *meaning_lower(struct meaning_reader *r, const char *text, size_t len)
{
    char *copy = text ? arena_strndup(r->arena, text, len) : NULL;
    if (text && !copy) r->failed = true;
    for (char *c = copy; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c | 32);
    return copy ? copy : "";
}

static uint64_t hash_keys(uint64_t hash, const struct meaning_key *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        hash =
            meaning_mix(hash, meaning_mix(keys[i].term->hash, keys[i].descending * 8U + (unsigned)(keys[i].nulls + 1)));
    return hash;
}

static uint64_t hash_window(const struct meaning_window *window)
{
    uint64_t hash = meaning_hash_text(window->frame);
    for (uint32_t i = 0; i < window->n_partition; i++) hash = meaning_mix(hash, window->partition[i]->hash);
    return hash_keys(meaning_mix(hash, window->n_partition), window->order, window->n_order);
}

/* Sets the size and the depth of a term. The sums do not overflow, because meaning_term_make bounds those of its
 * parts. */
static void measure_term(struct meaning_term *term)
{
    const struct meaning_window *window = term->window;
    uint32_t size = 1, depth = 0;
    for (uint32_t i = 0; i < term->n_parts; i++) {
        size += term->parts[i]->size;
        if (term->parts[i]->depth > depth) depth = term->parts[i]->depth;
    }
    if (term->rows) {
        size += term->rows->size;
        if (term->rows->depth > depth) depth = term->rows->depth;
    }
    for (uint32_t i = 0; window && i < window->n_partition; i++) size += window->partition[i]->size;
    for (uint32_t i = 0; window && i < window->n_order; i++) size += window->order[i].term->size;
    term->size = size;
    term->depth = depth + 1;
}

static bool is_too_large(struct meaning_term *const *parts, uint32_t n)
{
    uint64_t size = 1;
    for (uint32_t i = 0; i < n; i++) {
        size += parts[i]->size;
        if (parts[i]->depth > MEANING_MAX_DEPTH) return true;
    }
    return size > MEANING_MAX_SIZE;
}

void meaning_term_rehash(struct meaning_term *term)
{
    measure_term(term);
    uint64_t flags = (uint64_t)term->distinct | (uint64_t)term->or_zero << 1 | (uint64_t)term->integer << 2;
    uint64_t hash = meaning_mix(term->kind, meaning_mix(meaning_hash_text(term->name), flags));
    if (term->form) hash = meaning_mix(hash, meaning_hash_text(term->form));
    for (uint32_t i = 0; i < term->n_parts; i++) hash = meaning_mix(hash, term->parts[i]->hash);
    if (term->rows) hash = meaning_mix(hash, ~term->rows->hash);
    if (term->window) hash = meaning_mix(hash, hash_window(term->window));
    if (term->relation) hash = meaning_mix(meaning_mix(hash, term->relation->hash), term->output);
    term->hash = hash;
}

struct meaning_term *meaning_term_make(struct meaning_reader *r, enum meaning_kind kind, const char *name,
                                       struct meaning_term *const *parts, uint32_t n, const struct sql_node *node)
{
    static struct meaning_term full = {.kind = MEANING_UNKNOWN, .name = "no memory"};
    if (is_too_large(parts, n)) return meaning_term_unknown(r, "the query is too large", node);
    struct meaning_term *term = arena_new(r->arena, struct meaning_term);
    struct meaning_term **copy = term && n ? arena_new_array(r->arena, n, struct meaning_term *) : NULL;
    if (!term || (n && !copy)) {
        r->failed = true;
        return &full;
    }
    if (n) memcpy(copy, parts, n * sizeof *copy);
    *term = (struct meaning_term){.kind = kind, .name = name, .parts = copy, .n_parts = n};
    if (node) {
        term->start = node->start;
        term->end = node->end;
    }
    r->n_terms++;
    meaning_term_rehash(term);
    return term;
}

struct meaning_term *meaning_term_copy(struct meaning_reader *r, const struct meaning_term *term)
{
    struct meaning_term *copy = meaning_term_make(r, term->kind, term->name, term->parts, term->n_parts, NULL);
    if (r->failed) return copy;
    struct meaning_term **parts = copy->parts;
    *copy = *term;
    copy->parts = parts;
    return copy;
}

/* An unknown term is equal to no other term, so its hash includes a number of its own. */
struct meaning_term *meaning_term_unknown(struct meaning_reader *r, const char *reason, const struct sql_node *node)
{
    struct meaning_term *term = meaning_term_make(r, MEANING_UNKNOWN, reason, NULL, 0, node);
    r->n_unknown++;
    if (!r->failed) term->hash = meaning_mix(term->hash, r->n_unknown);
    return term;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = (*(struct meaning_term *const *)a)->hash, y = (*(struct meaning_term *const *)b)->hash;
    return (x > y) - (x < y);
}

uint32_t meaning_terms_sort(struct meaning_term **terms, uint32_t n, bool unique)
{
    if (n < 2) return n;
    qsort(terms, n, sizeof *terms, by_hash);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < n; i++)
        if (!unique || terms[i]->hash != terms[kept - 1]->hash) terms[kept++] = terms[i];
    return kept;
}

bool meaning_is_operation(const struct meaning_term *term, const char *name)
{
    return term && term->kind == MEANING_OPERATION && strcmp(term->name, name) == 0;
}

bool meaning_is_value(const struct meaning_term *term, const char *text)
{
    return term && term->kind == MEANING_VALUE && (!text || strcmp(term->name, text) == 0);
}

bool meaning_term_has_kind(const struct meaning_term *term, enum meaning_kind kind)
{
    if (!term) return false;
    if (term->kind == kind) return true;
    for (uint32_t i = 0; i < term->n_parts; i++)
        if (meaning_term_has_kind(term->parts[i], kind)) return true;
    return meaning_term_has_kind(term->rows, kind);
}
