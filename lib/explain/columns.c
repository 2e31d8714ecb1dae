/* Rule 2 of provenance (provenance.h): the columns that an arm uses, their roles, and the keys of its tables.
 *
 * One pass over the names of the statement collects the columns, in order of first use. The clause of a reference gives
 * the column's role. Columns that are named without a reference (USING, NATURAL, positions, aliases) are added
 * separately. The keys of all tables come last. Columns that SQL cannot name unambiguously are omitted. */
#include "lib/explain/trace.h"

#include <stdlib.h>
#include <string.h>

/* ---- names of columns ------------------------------------------------------------------------------------------- */

int trace_source_column(const struct tracer *t, const struct sql_source *source, const char *name, size_t len)
{
    if (source->kind == SQL_SOURCE_TABLE) return schema_find_column(t->source->index, source->table, name, len);
    for (uint32_t i = 0; i < source->n_outputs; i++)
        if (source->outputs[i].name && sql_name_is(source->outputs[i].name, source->outputs[i].name_len, name, len))
            return (int)i;
    return -1;
}

static const struct schema_column *base_column(const struct tracer *t, const struct sql_source *source, int output)
{
    const struct schema_index *index = t->source->index;
    int table = source->table, column = output;
    if (source->kind != SQL_SOURCE_TABLE) {
        bool known = output >= 0 && (uint32_t)output < source->n_outputs;
        table = known ? source->outputs[output].table : -1;
        column = known ? source->outputs[output].column : -1;
    }
    if (table < 0 || (uint32_t)table >= index->n_tables) return NULL;
    if (column < 0 || (uint32_t)column >= index->tables[table].n_columns) return NULL;
    return &index->tables[table].columns[column];
}

/* Returns the column's name, NUL-terminated. Returns NULL if SQL cannot name the column. */
static const char *column_name(const struct tracer *t, const struct sql_source *source, int output)
{
    if (output < 0) return db_dialect(t->source->db)->row_id;
    if (source->kind == SQL_SOURCE_TABLE) {
        const struct schema_column *column = base_column(t, source, output);
        return column ? column->name : NULL;
    }
    if ((uint32_t)output >= source->n_outputs || !source->outputs[output].name) return NULL;
    return arena_strndup(t->arena, source->outputs[output].name, source->outputs[output].name_len);
}

/* True if `instance.column` can only mean this source. A source without a name is unambiguous only if the block has no
 * other. */
static bool is_distinct(const struct sql_source *source)
{
    const struct sql_block *block = source->block;
    if (!source->name) return block->n_sources == 1;
    for (uint32_t i = 0; i < block->n_sources; i++) {
        const struct sql_source *other = &block->sources[i];
        if (other != source && other->name && sql_name_is(other->name, other->name_len, source->name, source->name_len))
            return false;
    }
    return true;
}

static struct sql_node *name_column(const struct tracer *t, const struct sql_source *source, int output)
{
    const char *name = is_distinct(source) ? column_name(t, source, output) : NULL;
    return name ? rewrite_column(t->arena, source->name, source->name_len, name, strlen(name)) : NULL;
}

/* ---- the list --------------------------------------------------------------------------------------------------- */

static struct prov_column *find_column(struct arm_work *work, const struct sql_source *source, int output)
{
    for (uint32_t i = 0; i < work->n_columns; i++)
        if (work->columns[i].source == source && work->columns[i].output == output) return &work->columns[i];
    return NULL;
}

/* Returns a label such as "T1.name". Its dot distinguishes it from all names of the statement. */
static const char *make_label(const struct arm_work *work, const struct prov_column *column)
{
    struct arena *arena = work->t->arena;
    const char *label = column->instance
                            ? arena_printf(arena, "%.*s.%s", (int)column->instance_len, column->instance, column->name)
                            : arena_printf(arena, "subquery.%s", column->name);
    for (uint32_t i = 0; label && i < work->n_columns; i++)
        if (sql_name_is(work->columns[i].label, strlen(work->columns[i].label), label, strlen(label)))
            return arena_printf(arena, "%s#%u", label, work->n_columns);
    return label;
}

/* Adds a column. `node` is its reference in the statement, which certainly resolves. If it is NULL, a new reference is
 * made. */
static void add_column(struct arm_work *work, const struct sql_source *source, int output, struct sql_node *node,
                       unsigned roles)
{
    struct prov_column *known = find_column(work, source, output);
    if (known) {
        known->roles |= roles;
        return;
    }
    const struct tracer *t = work->t;
    if (work->n_columns == t->options.max_columns) {
        work->arm->columns_cut = true;
        return;
    }
    if (!node) node = name_column(t, source, output);
    const struct schema_column *base = output >= 0 ? base_column(t, source, output) : NULL;
    struct prov_column column = {.source = source,
                                 .instance = source->name,
                                 .instance_len = source->name_len,
                                 .column = base,
                                 .output = output,
                                 .name = node ? column_name(t, source, output) : NULL,
                                 .roles = roles,
                                 .is_rowid = output < 0};
    if (!column.name && node) column.name = arena_strndup(t->arena, node->text, node->text_len);
    if (!column.name) return;
    int table = base ? (int)base->table : source->table;
    if (table >= 0) column.table = t->source->index->tables[table].name;
    column.label = make_label(work, &column);
    if (!column.label) return;
    work->projected[work->n_columns] = node;
    work->columns[work->n_columns++] = column;
}

/* ---- roles ------------------------------------------------------------------------------------------------------ */

static const unsigned ROLE_OF[SQL_CLAUSE_COUNT] = {
    [SQL_CLAUSE_SELECT] = PROV_SELECTED, [SQL_CLAUSE_FROM] = PROV_JOIN,     [SQL_CLAUSE_WHERE] = PROV_FILTER,
    [SQL_CLAUSE_GROUP] = PROV_GROUP,     [SQL_CLAUSE_HAVING] = PROV_HAVING, [SQL_CLAUSE_ORDER] = PROV_ORDER,
    [SQL_CLAUSE_WINDOW] = PROV_WINDOW,
};

/* True for a reference in T1.a = T2.b, in any clause. */
static bool joins(const struct sql_ref *ref)
{
    const struct sql_node *parent = ref->node->parent;
    if (!sql_is(parent, SQL_BINARY) || parent->op != SQL_OP_EQ) return false;
    const struct sql_ref *left = sql_plain_column(parent->kids[0]), *right = sql_plain_column(parent->kids[1]);
    return left && right && left->source && right->source && left->source != right->source &&
           left->source->block == right->source->block;
}

static unsigned roles_of(const struct sql_ref *ref, const struct sql_block *block)
{
    if (ref->block != block) return PROV_CORRELATED;
    unsigned role = ROLE_OF[ref->clause];
    if (ref->clause == SQL_CLAUSE_WHERE) return joins(ref) ? PROV_JOIN : PROV_FILTER;
    if (ref->clause == SQL_CLAUSE_FROM || ref->clause == SQL_CLAUSE_GROUP) return role;
    for (const struct sql_node *n = ref->node->parent; n && n->kind != SQL_SELECT && n->kind != SQL_QUERY;
         n = n->parent) {
        if (n->kind != SQL_CALL) continue;
        unsigned inside = sql_kid(n, CALL_WINDOW) ? PROV_WINDOW : sql_is_aggregate(n) ? PROV_AGGREGATED : 0;
        if (inside) return inside | (role & ~(unsigned)PROV_SELECTED);
    }
    return role;
}

static bool of_block(const struct sql_ref *ref, const struct sql_block *block)
{
    bool column = ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROWID;
    return column && ref->source && ref->source->block == block;
}

/* Adds the columns of an expression, with further roles. */
static void add_below(struct arm_work *work, const struct sql_node *expr, unsigned roles)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n))
        if (n->kind == SQL_COLUMN && n->ref && of_block(n->ref, work->arm->block))
            add_column(work, n->ref->source, n->ref->output, rewrite_borrow(n), roles);
}

static void add_star(struct arm_work *work, const struct sql_source *source)
{
    uint32_t n =
        source->kind == SQL_SOURCE_TABLE ? work->t->source->index->tables[source->table].n_columns : source->n_outputs;
    for (uint32_t i = 0; i < n && !work->arm->columns_cut; i++) add_column(work, source, (int)i, NULL, PROV_SELECTED);
}

static void add_ref(struct arm_work *work, const struct sql_ref *ref, uint32_t *aliases)
{
    const struct sql_block *block = work->arm->block;
    if (of_block(ref, block)) {
        add_column(work, ref->source, ref->output, rewrite_borrow(ref->node), roles_of(ref, block));
    } else if (ref->kind == SQL_REF_STAR && ref->block == block && !sql_is(work->arm->condition, SQL_EXISTS)) {
        for (uint32_t i = 0; i < block->n_sources; i++)
            if (!ref->source || ref->source == &block->sources[i]) add_star(work, &block->sources[i]);
    } else if (ref->kind == SQL_REF_ALIAS && sql_up(ref->expr, SQL_SELECT) == block->node) {
        work->aliases = true;
        if (ref->block == block && ++*aliases <= TRACE_MAX_ALIASES) add_below(work, ref->expr, ROLE_OF[ref->clause]);
    }
}

/* ---- columns that are named without a reference ---------------------------------------------------------------- */

/* Returns the position in ORDER BY 2 or GROUP BY 2, counted from 0. Returns -1 if the node is not a position. */
static int ordinal(const struct sql_node *n, uint32_t n_outputs)
{
    if (!sql_is(n, SQL_LITERAL) || n->op != SQL_LIT_INT || n->text_len > 4) return -1;
    int number = 0;
    for (uint32_t i = 0; i < n->text_len; i++) {
        if (n->text[i] < '0' || n->text[i] > '9') return -1;
        number = number * 10 + (n->text[i] - '0');
    }
    return number >= 1 && (uint32_t)number <= n_outputs ? number - 1 : -1;
}

static void add_ordinals(struct arm_work *work, const struct sql_node *list, unsigned role)
{
    for (uint32_t i = 0; list && i < list->n_kids && i < TRACE_MAX_ALIASES; i++) {
        const struct sql_node *entry = list->kids[i]->kind == SQL_TERM ? sql_kid(list->kids[i], 0) : list->kids[i];
        int at = ordinal(entry, work->arm->block->n_outputs);
        if (at >= 0) add_below(work, work->outputs[at].expr, role);
    }
}

static void add_shared(struct arm_work *work, const struct sql_source *right, const char *name, size_t len)
{
    int at = trace_source_column(work->t, right, name, len);
    for (uint32_t i = 0; at >= 0 && i < right->index; i++) {
        const struct sql_source *left = &right->block->sources[i];
        int output = trace_source_column(work->t, left, name, len);
        if (output < 0) continue;
        add_column(work, left, output, NULL, PROV_JOIN);
        add_column(work, right, at, NULL, PROV_JOIN);
        return;
    }
}

/* Adds the columns that USING and NATURAL join on without a reference. */
static void add_using(struct arm_work *work, const struct sql_source *source)
{
    const struct sql_node *names = sql_kid(source->join, JOIN_USING);
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        add_shared(work, source, names->kids[i]->text, names->kids[i]->text_len);
    if (!source->join || !(source->join->flags & SQL_F_NATURAL) || source->kind != SQL_SOURCE_TABLE) return;
    const struct schema_table *table = &work->t->source->index->tables[source->table];
    for (uint32_t i = 0; i < table->n_columns; i++)
        add_shared(work, source, table->columns[i].name, strlen(table->columns[i].name));
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

static void add_table_key(struct arm_work *work, const struct sql_source *source)
{
    const struct schema_table *table = &work->t->source->index->tables[source->table];
    for (uint32_t i = 0; table->n_pk && i < table->n_columns; i++)
        if (table->columns[i].pk) add_column(work, source, (int)i, NULL, PROV_KEY);
    bool has_rowid = db_dialect(work->t->source->db)->row_id && !table->is_view &&
                     trace_source_column(work->t, source, "rowid", 5) < 0;
    if (!table->n_pk && has_rowid) add_column(work, source, -1, NULL, PROV_KEY);
}

/* Adds the key of a source. The key of a derived table is all its outputs, because nothing else identifies its rows. */
static void add_key(struct arm_work *work, const struct sql_source *source)
{
    if (!is_distinct(source)) return;
    if (source->kind == SQL_SOURCE_TABLE) {
        add_table_key(work, source);
        return;
    }
    for (uint32_t i = 0; i < source->n_outputs && i < TRACE_MAX_DERIVED; i++)
        add_column(work, source, (int)i, NULL, PROV_KEY);
}

void trace_columns(struct arm_work *work)
{
    const struct sql_bound *bound = work->t->source->bound;
    const struct sql_block *block = work->arm->block;
    uint32_t max = work->t->options.max_columns, aliases = 0;
    work->columns = arena_new_array(work->t->arena, max, struct prov_column);
    work->projected = arena_new_array(work->t->arena, max, struct sql_node *);
    if (!work->columns || !work->projected || !work->outputs) return;
    for (uint32_t i = 0; i < bound->n_refs; i++) add_ref(work, bound->refs[i], &aliases);
    for (uint32_t i = 0; i < block->n_sources; i++) add_using(work, &block->sources[i]);
    add_ordinals(work, sql_kid(block->node, SELECT_GROUP), PROV_GROUP);
    add_ordinals(work, sql_kid(work->query, QUERY_ORDER), PROV_ORDER);
    for (uint32_t i = 0; i < block->n_sources; i++) add_key(work, &block->sources[i]);
    work->arm->columns = work->columns;
    work->arm->n_columns = work->n_columns;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

/* Fills the outputs of one source to which `*` expands, in order. Columns that USING merged have no output. */
static uint32_t expand_source(struct arm_work *work, const struct sql_source *source, uint32_t at)
{
    const struct sql_block *block = work->arm->block;
    const struct tracer *t = work->t;
    bool is_table = source->kind == SQL_SOURCE_TABLE;
    uint32_t n = is_table ? t->source->index->tables[source->table].n_columns : source->n_outputs;
    for (uint32_t i = 0; i < n && at < block->n_outputs; i++) {
        const struct sql_output *want = &block->outputs[at];
        int table = is_table ? source->table : source->outputs[i].table;
        int column = is_table ? (int)i : source->outputs[i].column;
        if (want->expr || want->table != table || want->column != column) continue;
        work->outputs[at++] = (struct arm_output){name_column(t, source, (int)i), source, (int)i};
    }
    return at;
}

static struct arm_output item_output(struct sql_node *expr)
{
    const struct sql_ref *ref = sql_plain_column(expr);
    bool plain =
        ref && ref->source && (ref->kind == SQL_REF_ROWID || (ref->kind == SQL_REF_COLUMN && ref->output >= 0));
    return (struct arm_output){expr, plain ? ref->source : NULL, plain ? ref->output : -1};
}

void trace_outputs(struct arm_work *work)
{
    const struct sql_block *block = work->arm->block;
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    work->outputs = arena_new_array(work->t->arena, block->n_outputs, struct arm_output);
    uint32_t at = 0;
    for (uint32_t i = 0; work->outputs && items && i < items->n_kids && at < block->n_outputs; i++) {
        const struct sql_node *item = items->kids[i];
        if (item->kind != SQL_STAR) {
            struct sql_node *expr = sql_kid(item, 0);
            if (block->correlated) expr = trace_fill(work->t->arena, work->outer, expr);
            work->outputs[at++] = item_output(expr);
            continue;
        }
        const struct sql_source *only = item->ref ? item->ref->source : NULL;
        for (uint32_t s = 0; s < block->n_sources; s++)
            if (!only || only == &block->sources[s]) at = expand_source(work, &block->sources[s], at);
    }
}

static struct sql_node *write_out(void *ctx, struct sql_node *n)
{
    const struct arm_work *work = ctx;
    if (n->kind != SQL_COLUMN || !n->ref || n->ref->kind != SQL_REF_ALIAS) return n;
    return sql_up(n->ref->expr, SQL_SELECT) == work->arm->select ? rewrite_borrow(n->ref->expr) : n;
}

struct sql_node *trace_expand(struct arm_work *work, struct sql_node *node)
{
    const struct sql_node *list = node ? node->parent : NULL;
    if (sql_is(list, SQL_TERM)) list = list->parent;
    bool numbered = sql_is(list, SQL_GROUP) || sql_is(list, SQL_ORDER);
    int at = numbered ? ordinal(node, work->arm->block->n_outputs) : -1;
    if (at >= 0 && work->outputs[at].expr) return work->outputs[at].expr;
    if (node && work->aliases) node = rewrite_map(work->t->arena, node, write_out, work);
    return node && work->arm->block->correlated ? trace_fill(work->t->arena, work->outer, node) : node;
}
