/* Decides whether a policy denies a column, by its name or by its origins, and whether a statement reads such a column.
 * A case that is not provably harmless counts as denied. */
#include "lib/schema/deny_name.h"
#include "lib/schema/schema.h"

#include <string.h>

/* --- by name ------------------------------------------------------------------------------------------------------ */

/* True if a table that `table.*` names has a column of this name. Expands `table.*` if only the name of a column is
 * known. */
static bool lists_column(const struct schema_index *index, const struct deny_name *denied, const char *column)
{
    for (uint32_t i = 0; i < index->n_tables; i++) {
        const struct schema_table *table = &index->tables[i];
        if (deny_name_covers(denied, table->schema, table->bare, NULL) &&
            schema_find_column(index, (int)i, column, strlen(column)) >= 0)
            return true;
    }
    return false;
}

/* True if the entry covers the origin. Without an index, an entry `table.*` covers every origin whose table is
 * unknown. */
static bool is_denied(const struct schema_index *index, const struct schema_origin *of, const struct deny_name *denied)
{
    if (denied->all_columns && !of->table && of->column && index) return lists_column(index, denied, of->column);
    return deny_name_covers(denied, of->schema, of->table, of->column);
}

/* True if an entry covers one of the origins. An entry that does not parse covers all columns; callers reject such
 * entries earlier. */
static bool any_denied(const struct schema_index *index, const struct schema_origin *origins, uint32_t n_origins,
                       const char *const *names, uint32_t n)
{
    for (uint32_t k = 0; k < n && n_origins; k++) {
        struct deny_name denied;
        if (deny_name_parse(names[k], &denied, NULL)) return true;
        for (uint32_t i = 0; i < n_origins; i++)
            if (is_denied(index, &origins[i], &denied)) return true;
    }
    return false;
}

struct schema_origin schema_origin_of(const struct schema_index *index, const struct schema_column *column)
{
    const struct schema_table *table = &index->tables[column->table];
    bool shows_others = table->is_view || table->is_virtual;
    return (struct schema_origin){table->schema, shows_others ? NULL : table->bare, column->name};
}

bool schema_column_is_denied(const struct schema_index *index, const struct schema_column *column,
                             const char *const *names, uint32_t n)
{
    struct schema_origin own = schema_origin_of(index, column);
    return any_denied(index, &own, 1, names, n) || any_denied(index, column->origins, column->n_origins, names, n);
}

bool schema_name_is_denied(const char *name, const char *const *names, uint32_t n)
{
    return any_denied(NULL, &(struct schema_origin){.column = name}, 1, names, n);
}

bool schema_table_reaches_denied(const struct schema_index *index, const struct schema_table *table,
                                 const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < table->n_columns; i++)
        if (schema_column_is_denied(index, &table->columns[i], names, n)) return true;
    return any_denied(index, table->origins, table->n_origins, names, n);
}

static bool holds_denied(const struct schema_index *index, const struct schema_table *table, bool key_only,
                         const char *const *names, uint32_t n)
{
    if (!table) return false;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const struct schema_column *column = &table->columns[i];
        if ((!key_only || column->pk) && schema_column_is_denied(index, column, names, n)) return true;
    }
    return false;
}

bool schema_table_is_denied(const struct schema_index *index, const struct schema_table *table,
                            const char *const *names, uint32_t n)
{
    if (n == 0) return false;
    if (table->is_view || table->is_virtual) return schema_table_reaches_denied(index, table, names, n);
    return holds_denied(index, table, true, names, n);
}

/* --- in a statement ----------------------------------------------------------------------------------------------- */

static const struct schema_table *table_of(const struct schema_index *index, int table)
{
    return table >= 0 && (uint32_t)table < index->n_tables ? &index->tables[table] : NULL;
}

/* True if a source with unknown columns may return a denied column. A function returns the contents of its arguments,
 * which have separate references. But docs('x') may be a virtual table in the form of a function, and then returns its
 * columns. */
static bool may_be_denied(const struct schema_index *index, const struct sql_source *source)
{
    const struct sql_node *call = source->kind == SQL_SOURCE_FUNCTION ? sql_kid(source->node, FROM_CALL_CALL) : NULL;
    return !call || schema_find_table(index, call->text, call->text_len) >= 0;
}

/* True if the rowid may reveal a denied column. The rowid of a table may be its primary key. The rowid of a view or a
 * subquery is NULL or that of an inner table, depending on SQLite's build. */
static bool rowid_may_be_denied(const struct schema_index *index, const struct sql_source *source,
                                const char *const *names, uint32_t n)
{
    const struct schema_table *table = table_of(index, source->table);
    return !table || table->is_view || holds_denied(index, table, true, names, n);
}

/* True if a system column may depend on a denied column. Only PostgreSQL's tableoid depends on values: it identifies
 * the partition of a row, and the values of any column can determine the partition. */
static bool system_may_be_denied(const struct schema_index *index, const struct sql_ref *ref, const char *const *names,
                                 uint32_t n)
{
    const struct sql_node *name = ref->node;
    if (!name->text || !sql_name_is("tableoid", strlen("tableoid"), name->text, name->text_len)) return false;
    const struct schema_table *table = ref->source ? table_of(index, ref->source->table) : NULL;
    return !table || holds_denied(index, table, false, names, n);
}

bool schema_ref_is_denied(const struct schema_index *index, const struct sql_ref *ref, const char *const *names,
                          uint32_t n)
{
    if (n == 0) return false;
    const struct schema_column *column = schema_column_of(index, ref);
    if (column) return schema_column_is_denied(index, column, names, n);
    switch (ref->kind) {
    case SQL_REF_COLUMN: return ref->output < 0 && may_be_denied(index, ref->source);
    case SQL_REF_ROWID: return rowid_may_be_denied(index, ref->source, names, n);
    case SQL_REF_TABLE: /* in `x IN t`, the table is read as an operand */
        return sql_is(ref->node->parent, SQL_IN) && holds_denied(index, table_of(index, ref->table), false, names, n);
    case SQL_REF_ALIAS: /* the expression of the alias has separate references */
    case SQL_REF_STRING: return false;
    case SQL_REF_SYSTEM: return system_may_be_denied(index, ref, names, n);
    case SQL_REF_STAR:
    case SQL_REF_ROW:
    case SQL_REF_UNKNOWN:
    case SQL_REF_AMBIGUOUS: break;
    }
    return true;
}

/* True if a join compares a denied column by name. USING compares the listed columns; NATURAL compares all columns that
 * both tables have. */
static bool joins_by_denied(const struct schema_index *index, const struct sql_node *join, bool reaches,
                            const char *const *names, uint32_t n)
{
    const struct sql_node *using = sql_kid(join, JOIN_USING);
    if (join->flags & SQL_F_NATURAL) return reaches;
    for (uint32_t k = 0; using && k < using->n_kids; k++)
        for (uint32_t i = 0; i < index->n_columns; i++)
            if (sql_name_is(index->columns[i]->name, strlen(index->columns[i]->name), using->kids[k]->text,
                            using->kids[k]->text_len) &&
                schema_column_is_denied(index, index->columns[i], names, n))
                return true;
    return false;
}

bool schema_reaches_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                           uint32_t n)
{
    if (n == 0) return false;
    if (!bound || bound->diags) return true;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        if (ref->table >= 0 ? schema_table_reaches_denied(index, &index->tables[ref->table], names, n)
                            : schema_ref_is_denied(index, ref, names, n))
            return true;
    }
    return false;
}

bool schema_uses_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                        uint32_t n)
{
    if (n == 0) return false;
    if (!bound || bound->diags) return true;
    for (uint32_t i = 0; i < bound->n_refs; i++)
        if (schema_ref_is_denied(index, bound->refs[i], names, n)) return true;
    bool reaches = schema_reaches_denied(index, bound, names, n);
    const struct sql_node *root = bound->stmt->root;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node))
        if (node->kind == SQL_JOIN && joins_by_denied(index, node, reaches, names, n)) return true;
    return false;
}

static bool reads_denied_table(const struct schema_index *index, const struct sql_bound *bound,
                               const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct schema_table *table = table_of(index, bound->refs[i]->table);
        if (table && schema_table_is_denied(index, table, names, n)) return true;
    }
    return false;
}

bool schema_reads_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                         uint32_t n)
{
    return schema_uses_denied(index, bound, names, n) || (n && reads_denied_table(index, bound, names, n));
}

enum err_code schema_gate_check(void *gate, const char *sql, size_t len, struct err *err)
{
    enum { BYTES = 64 << 20 };
    const struct schema_gate *own = gate;
    struct arena arena;
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    arena_init(&arena, BYTES);
    enum err_code code = sql_parse(&arena, sql, len, NULL, &stmt);
    if (!code) code = sql_bind(&arena, stmt, &own->index->catalog, &bound);
    bool reads = code || schema_reads_denied(own->index, bound, own->names, own->n);
    arena_free(&arena);
    return reads ? err_set(err, ERR_DENIED, "%s", err_meaning(ERR_DENIED)) : ERR_OK;
}
