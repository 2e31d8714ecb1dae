/* Reads a reference to a column as a term over base columns. */
#include "lib/meaning/meaning_int.h"

#include <string.h>

enum { MOST_SCOPES = 40 };

static struct meaning_binding *find_binding(struct meaning_reader *r, const struct sql_source *source)
{
    struct meaning_binding *b = r->bindings;
    while (b && b->source != source) b = b->next;
    return b;
}

/* Returns the name of a column. It begins with "outer " for each step from the current relation out to the relation of
 * the column. */
static const char *name_in_scope(struct meaning_reader *r, const struct meaning_binding *b, const char *instance,
                                 const char *column)
{
    static const char outer[] = "outer ";
    char prefix[MOST_SCOPES * sizeof outer] = "";
    for (uint32_t i = b->scope; i < r->scope && i < b->scope + MOST_SCOPES; i++) strcat(prefix, outer);
    char *name = arena_printf(r->arena, "%s%s.%s", prefix, instance, column);
    if (!name) r->failed = true;
    return name ? name : "";
}

static struct meaning_term *read_relation_column(struct meaning_reader *r, const struct meaning_binding *b, int index,
                                                 const struct sql_node *node)
{
    if (index < 0 || (uint32_t)index >= b->relation->n_outputs)
        return meaning_term_unknown(r, "a column of a relation without a list of outputs", node);
    const char *number = arena_printf(r->arena, "%d", index + 1);
    struct meaning_term *term =
        meaning_term_make(r, MEANING_QUERY, name_in_scope(r, b, b->relation_name, number ? number : ""), NULL, 0, node);
    if (r->failed) return term;
    term->relation = b->relation;
    term->output = (uint32_t)index;
    meaning_term_rehash(term);
    return term;
}

/* Returns a term of a merged query for a subquery that reads it `levels` further in. Its columns become those of an
 * enclosing relation. */
static struct meaning_term *move_outside(struct meaning_reader *r, struct meaning_term *term, uint32_t levels)
{
    bool named = term->kind == MEANING_COLUMN || (term->kind == MEANING_QUERY && term->name && *term->name);
    if (term->kind == MEANING_VALUE || term->kind == MEANING_UNKNOWN) return term;
    if (term->kind == MEANING_QUERY && !named)
        return meaning_term_unknown(r, "a subquery of a merged query that a subquery reads", NULL);
    struct meaning_term *copy = meaning_term_copy(r, term);
    for (uint32_t i = 0; i < levels && named && !r->failed; i++) {
        copy->name = arena_printf(r->arena, "outer %s", copy->name);
        if (!copy->name) r->failed = true;
    }
    for (uint32_t i = 0; i < copy->n_parts && !r->failed; i++) copy->parts[i] = move_outside(r, term->parts[i], levels);
    if (!r->failed) meaning_term_rehash(copy);
    return copy;
}

struct meaning_term *meaning_read_source_column(struct meaning_reader *r, const struct sql_source *source, int index,
                                                const char *name, const struct sql_node *node)
{
    const struct meaning_binding *b = find_binding(r, source);
    if (!b) return meaning_term_unknown(r, "a column of a source that was not read", node);
    if (b->terms) {
        if (index < 0 || (uint32_t)index >= b->n_terms)
            return meaning_term_unknown(r, "a column of a merged query", node);
        return b->scope < r->scope ? move_outside(r, b->terms[index], r->scope - b->scope) : b->terms[index];
    }
    if (b->relation) return read_relation_column(r, b, index, node);
    const char *column = meaning_lower(r, name, strlen(name));
    return meaning_term_make(r, MEANING_COLUMN, name_in_scope(r, b, b->name, column), NULL, 0, node);
}

/* Reads a resolved column by its index in the source. For a table that is the index in the catalog. */
static struct meaning_term *read_found(struct meaning_reader *r, const struct sql_ref *ref, const struct sql_node *node)
{
    const struct sql_catalog *catalog = r->bound->catalog;
    const struct sql_source *source = ref->source;
    if (source->kind != SQL_SOURCE_TABLE) return meaning_read_source_column(r, source, ref->output, "", node);
    if (ref->column < 0) return meaning_term_unknown(r, "a column without a place in the schema", node);
    return meaning_read_source_column(r, source, ref->column,
                                      catalog->column_name(catalog->self, ref->table, ref->column), node);
}

static struct meaning_term *read_text(struct meaning_reader *r, const struct sql_node *node)
{
    char *text = arena_printf(r->arena, "'%.*s'", (int)node->text_len, node->text);
    if (!text) r->failed = true;
    return meaning_term_make(r, MEANING_VALUE, text ? text : "''", NULL, 0, node);
}

struct meaning_term *meaning_read_column(struct meaning_reader *r, const struct sql_node *node)
{
    const struct sql_ref *ref = node->ref;
    if (!ref) return meaning_term_unknown(r, "a name that is not bound", node);
    switch (ref->kind) {
    case SQL_REF_COLUMN:
        if (ref->source) return read_found(r, ref, node);
        break;
    case SQL_REF_ALIAS:
        if (ref->expr) return meaning_read_term(r, ref->expr);
        break;
    case SQL_REF_STRING: return read_text(r, node);
    default: break;
    }
    return meaning_term_unknown(r, "a row identifier or a whole row", node);
}
