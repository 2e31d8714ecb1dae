/* Searches a name in the sources of a block, by SQLite's rules. */
#include "lib/sql/scope.h"

#include <strings.h>

bool scope_fail(struct binder *b, enum err_code code)
{
    if (b->failed == ERR_OK) b->failed = code;
    return false;
}

/* Counts one search. Returns false if the statement exceeds SCOPE_MAX_LOOKUPS, which bounds the time of hostile
 * statements. */
static bool may_look(struct binder *b)
{
    if (++b->lookups > SCOPE_MAX_LOOKUPS) return scope_fail(b, ERR_LIMIT_COUNT);
    return b->failed == ERR_OK;
}

/* Returns the column aliases of a FROM item, as in `t AS x (a, b)`, or NULL. */
static const struct sql_node *names_of(const struct sql_node *source)
{
    return source->kind == SQL_TABLE ? sql_kid(source, 0) : sql_kid(source, DERIVED_NAMES);
}

_Static_assert((int)DERIVED_NAMES == (int)FROM_CALL_NAMES, "names_of reads both");

static int find_name(const struct sql_node *names, const char *name, size_t len)
{
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        if (sql_name_is(names->kids[i]->text, names->kids[i]->text_len, name, len)) return (int)i;
    return -1;
}

int scope_source_column(struct binder *b, const struct sql_source *source, const char *name, size_t len)
{
    if (!may_look(b)) return -1;
    const struct sql_node *names = names_of(source->node);
    int at = find_name(names, name, len);
    if (at >= 0) return at;
    int hidden = names ? (int)names->n_kids : 0; /* number of columns whose names the column aliases replace */
    if (source->kind == SQL_SOURCE_TABLE) {
        at = b->catalog->find_column(b->catalog->self, source->table, name, len);
        return at >= hidden ? at : -1;
    }
    for (uint32_t i = (uint32_t)hidden; i < source->n_outputs; i++)
        if (source->outputs[i].name && sql_name_is(source->outputs[i].name, source->outputs[i].name_len, name, len))
            return (int)i;
    b->lookups += source->n_outputs / 8;
    return -1;
}

int scope_find_table(const struct binder *b, const char *schema, size_t schema_len, const struct sql_node *table)
{
    const struct sql_catalog *c = b->catalog;
    if (schema && c->find_in_schema)
        return c->find_in_schema(c->self, schema, schema_len, table->text, table->text_len);
    bool known = !schema || sql_name_is(schema, schema_len, "main", 4);
    return known ? c->find_table(c->self, table->text, table->text_len) : -1;
}

/* True if a column may be written schema.table.column for this source. A table of the same name in another schema does
 * not match. */
static bool is_of_schema(const struct binder *b, const struct sql_source *source, const char *schema, size_t len)
{
    bool plain = source->kind == SQL_SOURCE_TABLE && !source->node->alias;
    return plain && scope_find_table(b, schema, len, source->node) == source->table;
}

/* True if the source is in a parenthesised join of that name. In `(a JOIN b) AS z`, the name z admits a and b. */
static bool in_named_paren(const struct sql_source *source, const char *name, size_t len)
{
    for (const struct sql_node *n = source->node->parent; n && n->kind != SQL_FROM; n = n->parent)
        if (n->kind == SQL_FROM_PAREN && n->alias && sql_name_is(n->alias, n->alias_len, name, len)) return true;
    return false;
}

/* Returns the qualifier of a name, or NULL, and sets its schema. COLUMN has them in text2 and text3, STAR in text and
 * text2. */
static const char *qualifier(const struct sql_node *n, size_t *len, const char **schema, size_t *schema_len)
{
    bool star = n->kind == SQL_STAR;
    *schema = star ? n->text2 : n->text3;
    *schema_len = star ? n->text2_len : n->text3_len;
    *len = star ? n->text_len : n->text2_len;
    return star ? n->text : n->text2;
}

bool scope_admits(struct binder *b, const struct sql_source *source, const struct sql_node *name)
{
    const char *schema;
    size_t len, schema_len;
    const char *table = qualifier(name, &len, &schema, &schema_len);
    if (!table) return true;
    if (schema && !is_of_schema(b, source, schema, schema_len)) return false;
    if (source->name && sql_name_is(source->name, source->name_len, table, len)) return true;
    return b->paren_alias && in_named_paren(source, table, len);
}

/* True if USING or NATURAL joins this source to the earlier ones by `name`. */
static bool joined_by_name(const struct sql_source *source, const char *name, size_t len)
{
    const struct sql_node *join = source->join;
    if (!join) return false;
    return (join->flags & SQL_F_NATURAL) || find_name(sql_kid(join, JOIN_USING), name, len) >= 0;
}

/* Adds a second source with the same name. If USING or NATURAL joins both by that name, one source represents both. */
static void meet_again(struct scope_hit *hit, struct sql_source *source, int output, const struct sql_node *column)
{
    if (!joined_by_name(source, column->text, column->text_len)) {
        hit->matches++;
        return;
    }
    if (source->join->op != SQL_JOIN_RIGHT_OUTER) {
        if (!hit->right) hit->right = source;
        return;
    }
    hit->matches = 1;
    hit->right = hit->source;
    hit->source = source;
    hit->output = output;
}

struct scope_hit scope_search(struct binder *b, struct sql_block *block, const struct sql_node *column)
{
    struct scope_hit hit = {.output = -1};
    for (uint32_t i = 0; i < block->n_sources; i++) {
        struct sql_source *source = &block->sources[i];
        if (!scope_admits(b, source, column)) continue;
        hit.visible++;
        int output = scope_source_column(b, source, column->text, column->text_len);
        if (output < 0) {
            if (source->kind == SQL_SOURCE_FUNCTION || source->kind == SQL_SOURCE_UNKNOWN) hit.open = source;
        } else if (hit.matches) {
            meet_again(&hit, source, output, column);
        } else {
            hit.matches = 1;
            hit.source = source;
            hit.output = output;
        }
    }
    return hit;
}

const struct sql_node *scope_alias(const struct scope *scope, const char *name, size_t len)
{
    if (!scope->block || scope->block->node->kind != SQL_SELECT) return NULL;
    const struct sql_node *items = sql_kid(scope->block->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        const struct sql_node *item = items->kids[i];
        if (item->kind == SQL_ITEM && item->text && sql_name_is(item->text, item->text_len, name, len)) return item;
    }
    return NULL;
}

struct scope_cte *scope_find_cte(struct binder *b, const char *name, size_t len)
{
    for (const struct scope_with *with = b->with; with; with = with->outer)
        for (uint32_t i = 0; i < with->n; i++) {
            if (!may_look(b)) return NULL;
            const struct sql_node *cte = with->ctes[i].node;
            if (sql_name_is(cte->text, cte->text_len, name, len)) return &with->ctes[i];
        }
    return NULL;
}
