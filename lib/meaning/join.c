/* Brings outer joins into normal form.
 *
 * A comparison with NULL is never true. A LEFT JOIN is therefore an inner join if a condition compares a column of its
 * optional side. A LEFT JOIN is NOT EXISTS if a condition keeps only the rows without a match, and nothing else reads
 * the optional side. Such a condition is IS NULL on a column that ON compares by an equality. */
#include "lib/meaning/meaning_int.h"

#include <string.h>

static bool is_column_of(const struct meaning_term *term, const char *source)
{
    size_t len = strlen(source);
    bool named = term->kind == MEANING_COLUMN || (term->kind == MEANING_QUERY && term->name);
    return named && strncmp(term->name, source, len) == 0 && term->name[len] == '.';
}

static bool reads_source(const struct meaning_term *term, const char *source);

static bool window_reads(const struct meaning_window *window, const char *source)
{
    for (uint32_t i = 0; window && i < window->n_partition; i++)
        if (reads_source(window->partition[i], source)) return true;
    for (uint32_t i = 0; window && i < window->n_order; i++)
        if (reads_source(window->order[i].term, source)) return true;
    return false;
}

/* True if the term may read the source. A subquery may read any source of the enclosing relations. */
static bool reads_source(const struct meaning_term *term, const char *source)
{
    if (!term) return false;
    if (is_column_of(term, source) || term->kind == MEANING_UNKNOWN) return true;
    if (term->kind == MEANING_QUERY && !(term->name && *term->name)) return true;
    for (uint32_t i = 0; i < term->n_parts; i++)
        if (reads_source(term->parts[i], source)) return true;
    return reads_source(term->rows, source) || window_reads(term->window, source);
}

/* True if the term is NULL when the row of the source is missing. */
static bool is_strict(const struct meaning_term *term, const char *source)
{
    static const char *const operators[] = {"+", "-", "*", "/", "%", "||", "negative"};
    if (is_column_of(term, source)) return true;
    if (term->kind == MEANING_PERIOD) return is_strict(term->parts[0], source);
    for (size_t o = 0; o < sizeof operators / sizeof *operators; o++)
        for (uint32_t i = 0; meaning_is_operation(term, operators[o]) && i < term->n_parts; i++)
            if (is_strict(term->parts[i], source)) return true;
    return false;
}

static bool drops_missing(const struct meaning_term *condition, const char *source)
{
    static const char *const operators[] = {
        "=", "<>", "<", "<=", ">", ">=", "like", "not like", "in", "not in", "in period", "is not null"};
    if (condition->kind != MEANING_OPERATION) return false;
    bool in_query = condition->n_parts == 2 && condition->parts[1]->kind == MEANING_QUERY;
    bool may_be_empty = in_query || condition->n_parts == 1;
    if (may_be_empty && strcmp(condition->name, "not in") == 0) return false; /* NULL NOT IN an empty query is true */
    bool all = strcmp(condition->name, "or") == 0, any = strcmp(condition->name, "and") == 0;
    if (all || any) {
        for (uint32_t i = 0; i < condition->n_parts; i++)
            if (drops_missing(condition->parts[i], source) != all) return any;
        return all;
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(condition->name, operators[i]) == 0)
            return is_strict(condition->parts[0], source) ||
                   (i < 6 && condition->n_parts == 2 && is_strict(condition->parts[1], source));
    return false;
}

/* --- LEFT JOIN as inner join --- */

static bool undo_join(struct meaning_reader *r, struct meaning *m, struct meaning_source *source)
{
    bool dropped = false;
    for (uint32_t i = 0; i < m->n_conditions; i++) dropped |= drops_missing(m->conditions[i], source->name);
    if (!dropped) return false;
    struct meaning_term *all = meaning_from_conjuncts(r, m->conditions, m->n_conditions);
    all = meaning_join_terms(r, "and", all, source->on);
    m->n_conditions = meaning_conjuncts(r, all, &m->conditions);
    source->join = MEANING_INNER;
    source->undone = true;
    source->on = NULL;
    return true;
}

/* --- LEFT JOIN as NOT EXISTS --- */

/* True if the column is an operand of an equality that every match satisfies. */
static bool is_match_column(const struct meaning_term *on, const struct meaning_term *column)
{
    if (!on) return false;
    if (meaning_is_operation(on, "=")) return on->parts[0]->hash == column->hash || on->parts[1]->hash == column->hash;
    for (uint32_t i = 0; meaning_is_operation(on, "and") && i < on->n_parts; i++)
        if (is_match_column(on->parts[i], column)) return true;
    return false;
}

static bool is_read_elsewhere(const struct meaning *m, const struct meaning_source *source, uint32_t but)
{
    bool read = false;
    for (uint32_t i = 0; i < m->n_conditions; i++) read |= i != but && reads_source(m->conditions[i], source->name);
    for (uint32_t i = 0; i < m->n_group_conditions; i++) read |= reads_source(m->group_conditions[i], source->name);
    for (uint32_t i = 0; i < m->n_keys; i++) read |= reads_source(m->keys[i], source->name);
    for (uint32_t i = 0; i < m->n_outputs; i++) read |= reads_source(m->outputs[i].term, source->name);
    for (uint32_t i = 0; i < m->n_sources; i++)
        read |= &m->sources[i] != source && m->sources[i].on && reads_source(m->sources[i].on, source->name);
    return read;
}

/* Copies a term into the subquery of NOT EXISTS. Columns of the source lose its instance number. All other columns
 * become those of the enclosing relation. */
static struct meaning_term *move_inside(struct meaning_reader *r, const struct meaning_term *term, const char *source,
                                        const char *plain)
{
    struct meaning_term *copy = meaning_term_copy(r, term);
    if (r->failed) return copy;
    bool own = is_column_of(term, source);
    if (own || term->kind == MEANING_COLUMN || (term->kind == MEANING_QUERY && term->name)) {
        copy->name = own ? arena_printf(r->arena, "%s%s", plain, term->name + strlen(source))
                         : arena_printf(r->arena, "outer %s", term->name);
        if (!copy->name) r->failed = true;
    }
    for (uint32_t i = 0; i < copy->n_parts; i++) copy->parts[i] = move_inside(r, term->parts[i], source, plain);
    if (!r->failed) meaning_term_rehash(copy);
    return copy;
}

/* Sorts the operands of a copied term again. Their order depends on hashes, which change with the names. */
static struct meaning_term *sort_inside(struct meaning_reader *r, struct meaning_term *term)
{
    for (uint32_t i = 0; i < term->n_parts; i++) term->parts[i] = sort_inside(r, term->parts[i]);
    if (meaning_is_operation(term, "and") || meaning_is_operation(term, "or"))
        term->n_parts = meaning_terms_sort(term->parts, term->n_parts, true);
    bool compares = term->kind == MEANING_OPERATION && term->n_parts == 2 && strchr("=<>", term->name[0]);
    if (compares) return meaning_compare_terms(r, term->name, term->parts[0], term->parts[1], NULL);
    meaning_term_rehash(term);
    return term;
}

static struct meaning_term *make_not_exists(struct meaning_reader *r, const struct meaning_source *source)
{
    struct meaning *inner = arena_new(r->arena, struct meaning);
    struct meaning_source *only = arena_new(r->arena, struct meaning_source);
    char *plain = arena_strndup(r->arena, source->name, strcspn(source->name, "#"));
    if (!inner || !only || !plain) {
        r->failed = true;
        return NULL;
    }
    *only = (struct meaning_source){.name = plain,
                                    .table = source->table,
                                    .relation = source->relation,
                                    .start = source->start,
                                    .end = source->end};
    inner->sources = only;
    inner->n_sources = 1;
    struct meaning_term *on = sort_inside(r, move_inside(r, source->on, source->name, plain));
    inner->n_conditions = meaning_conjuncts(r, on, &inner->conditions);
    meaning_rehash(inner);
    struct meaning_term *query = meaning_term_make(r, MEANING_QUERY, NULL, NULL, 0, NULL);
    if (r->failed) return NULL;
    query->relation = inner;
    meaning_term_rehash(query);
    return meaning_term_make(r, MEANING_OPERATION, "not exists", &query, 1, NULL);
}

static bool drop_matches(struct meaning_reader *r, struct meaning *m, uint32_t at)
{
    struct meaning_source *source = &m->sources[at];
    for (uint32_t i = 0; i < m->n_conditions; i++) {
        struct meaning_term *condition = m->conditions[i];
        if (!meaning_is_operation(condition, "is null") || !is_column_of(condition->parts[0], source->name)) continue;
        if (!is_match_column(source->on, condition->parts[0]) || is_read_elsewhere(m, source, i)) continue;
        /* the names in the subquery would have to change, too */
        if (meaning_term_has_kind(source->on, MEANING_QUERY)) continue;
        struct meaning_term *without = make_not_exists(r, source);
        if (!without) return false;
        m->conditions[i] = without;
        m->n_conditions = meaning_terms_sort(m->conditions, m->n_conditions, true);
        memmove(source, source + 1, (m->n_sources - at - 1) * sizeof *source);
        m->n_sources--;
        return true;
    }
    return false;
}

void meaning_settle_joins(struct meaning_reader *r, struct meaning *m)
{
    bool changed = true;
    while (changed && !r->failed) {
        changed = false;
        for (uint32_t i = 0; i < m->n_sources && !changed; i++)
            if (m->sources[i].join == MEANING_LEFT)
                changed = undo_join(r, m, &m->sources[i]) || (m->sources[i].on && drop_matches(r, m, i));
    }
}
