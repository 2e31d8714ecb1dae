/* Traces the source columns of computed columns. Parses and binds the text of a view and the expression of a generated
 * column. A policy that denies a column thus denies every column that shows it under another name.
 *
 * If a text cannot be traced completely, the result is a superset: all columns that the view reads, all columns of the
 * table, or any column. A server also lists the tables of a view that the role may not see, and the ancestors of a
 * table.
 *
 * Rejected: pg_depend alone. It lists the sources of all columns of a view together. It also omits a whole-row
 * reference to a table if the view also names a column of that table (PostgreSQL's find_expr_references_walker).
 * Therefore all columns of each table in pg_depend count as sources.
 *
 * With table inheritance, a column's values can appear under two names. A scan of a table also shows the rows of all
 * its descendants. A row also belongs, by column name, to all ancestors of its table. The server lists both relations,
 * from catalogues that any role may read. Columns that are computed from a column are traced after the inherited
 * origins of that column.
 */
#include "lib/db/db_listing.h"
#include "lib/schema/definition.h"
#include "lib/schema/schema_int.h"

#include <string.h>

enum { MAX_ORIGINS = 4096, MAX_DEEP = 50 };

enum state { UNSEEN, TRACING, TRACED };

struct origin_tracer {
    struct builder *builder;
    struct schema_index *index;
    enum state *states; /* by table */
    bool *generated;    /* by column id: true if the expression was traced */
    GHashTable *names;  /* unique names from the server: text → itself, in the builder's arena */
    uint32_t deep;      /* depth of recursion: tables and columns being traced */
    enum err_code failed;
};

/* A list of origins. `anything` is true if the origin may be any column. */
struct origins {
    GArray *list; /* items are struct schema_origin, unique */
    bool anything;
};

static struct origins origins_new(void)
{
    return (struct origins){g_array_new(FALSE, FALSE, sizeof(struct schema_origin)), false};
}

static bool equal_names(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void add(struct origins *to, struct schema_origin origin)
{
    for (guint i = 0; i < to->list->len; i++) {
        const struct schema_origin *one = &g_array_index(to->list, struct schema_origin, i);
        if (equal_names(one->column, origin.column) && equal_names(one->table, origin.table) &&
            equal_names(one->schema, origin.schema))
            return;
    }
    if (to->list->len < MAX_ORIGINS)
        g_array_append_val(to->list, origin);
    else
        to->anything = true;
}

static void add_all(struct origins *to, const struct schema_origin *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) add(to, from[i]);
}

/* Copies the origins to the index. */
static void keep(struct origin_tracer *t, const struct origins *from, const struct schema_origin **out, uint32_t *n)
{
    static const struct schema_origin anything;
    const struct schema_origin *list = from->anything ? &anything : (const void *)from->list->data;
    *n = from->anything ? 1 : from->list->len;
    struct schema_origin *copy = arena_new_array(t->builder->arena, *n, struct schema_origin);
    if (copy && *n) memcpy(copy, list, *n * sizeof *copy);
    if (!copy) t->failed = builder_full(t->builder);
    *out = copy;
}

/* True for a view or a materialized view, whose rows come from other tables. A server reports its query as the
 * definition. */
static bool shows_others(const struct origin_tracer *t, const struct schema_table *table)
{
    const char *definition = t->builder->definitions[table - t->index->tables];
    return table->is_view || (definition && g_ascii_strncasecmp(definition, "CREATE", 6) != 0);
}

/* --- sources in the syntax tree ----------------------------------------------------------------------------------- */

static void trace_table(struct origin_tracer *t, struct schema_table *table);
static void trace_generated(struct origin_tracer *t, struct schema_table *table, struct schema_column *column);

/* Adds a column and its origins. */
static void add_column(struct origin_tracer *t, struct origins *to, int number, int column)
{
    struct schema_table *table = &t->index->tables[number];
    struct schema_column *from = &table->columns[column];
    bool within = t->states[number] == TRACING; /* a generated column of the same table, or a view that reads itself */
    if (t->deep > MAX_DEEP || (within && shows_others(t, table))) {
        to->anything = true;
        return;
    }
    if (!within) trace_table(t, table);
    if (within && from->generated) trace_generated(t, table, from);
    add(to, schema_origin_of(t->index, from));
    add_all(to, from->origins, from->n_origins);
}

static void add_table(struct origin_tracer *t, struct origins *to, int number)
{
    for (uint32_t i = 0; i < t->index->tables[number].n_columns; i++) add_column(t, to, number, (int)i);
}

/* Adds all columns of a source that is read as a whole. A subquery adds nothing, because its own references cover
 * it. */
static void add_source(struct origin_tracer *t, struct origins *to, const struct sql_source *source)
{
    if (source->kind == SQL_SOURCE_TABLE) add_table(t, to, source->table);
    if (source->kind == SQL_SOURCE_UNKNOWN) to->anything = true;
    const struct sql_node *call = source->kind == SQL_SOURCE_FUNCTION ? sql_kid(source->node, FROM_CALL_CALL) : NULL;
    int table = call ? schema_find_table(t->index, call->text, call->text_len) : -1;
    if (table >= 0) add_table(t, to, table); /* a virtual table in the form of a function call */
}

/* Adds the primary key of a table whose rowid is read, because the rowid may be this key. The rowid of another source
 * may belong to any table. */
static void add_rowid(struct origin_tracer *t, struct origins *to, int number)
{
    const struct schema_table *table = number >= 0 ? &t->index->tables[number] : NULL;
    if (!table || table->is_view) to->anything = true;
    for (uint32_t i = 0; table && i < table->n_columns; i++)
        if (table->columns[i].pk) add_column(t, to, number, (int)i);
}

/* Adds the columns that a reference reads. */
static void add_ref(struct origin_tracer *t, struct origins *to, const struct sql_ref *ref)
{
    switch (ref->kind) {
    case SQL_REF_COLUMN:
    case SQL_REF_ALIAS:
        if (ref->table >= 0 && ref->column >= 0)
            add_column(t, to, ref->table, ref->column);
        else if (ref->kind == SQL_REF_COLUMN && ref->output < 0)
            add_source(t, to, ref->source);
        return;
    case SQL_REF_ROWID: add_rowid(t, to, ref->source->table); return;
    case SQL_REF_ROW: add_source(t, to, ref->source); return;
    case SQL_REF_STAR:
        for (uint32_t i = 0; ref->block && i < ref->block->n_sources; i++)
            if (!ref->source || ref->source == &ref->block->sources[i]) add_source(t, to, &ref->block->sources[i]);
        return;
    case SQL_REF_TABLE:
        if (ref->table >= 0 && sql_is(ref->node->parent, SQL_IN)) add_table(t, to, ref->table);
        return;
    case SQL_REF_STRING:
    case SQL_REF_SYSTEM: return;
    case SQL_REF_UNKNOWN:
    case SQL_REF_AMBIGUOUS: to->anything = true;
    }
}

/* Adds the columns that an expression reads, including those in subqueries. Returns false if the expression cannot be
 * traced, for example through a set operation. */
static bool add_expression(struct origin_tracer *t, struct origins *to, const struct sql_node *expr, unsigned deep)
{
    if (deep > MAX_DEEP) return false;
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n)) {
        const struct sql_ref *ref = n->ref;
        if (!ref) continue;
        if (ref->using_right || ref->kind == SQL_REF_STAR || ref->kind == SQL_REF_ROW) return false;
        bool computed = (ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ALIAS) && ref->table < 0;
        if (!computed)
            add_ref(t, to, ref);
        else if (!ref->expr || !add_expression(t, to, ref->expr, deep + 1))
            return false;
    }
    return true;
}

static struct sql_bound *bind_text(struct origin_tracer *t, struct arena *arena, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    bool clean = sql && sql_parse(arena, sql, strlen(sql), NULL, &stmt) == ERR_OK &&
                 sql_bind(arena, stmt, &t->index->catalog, &bound) == ERR_OK;
    return clean && bound->n_blocks ? bound : NULL;
}

/* --- generated columns -------------------------------------------------------------------------------------------- */

/* Traces a generated column and adds its source columns to its inherited origins. */
static void trace_generated(struct origin_tracer *t, struct schema_table *table, struct schema_column *column)
{
    struct arena arena;
    if (t->generated[column->id]) return;
    t->generated[column->id] = true;
    arena_init(&arena, 0);
    struct origins origins = origins_new();
    add_all(&origins, column->origins, column->n_origins);
    if (!*column->generated)
        column->generated =
            definition_expression(t->builder->arena, t->builder->definitions[column->table], column->name);
    char *name = schema_quote_table(&arena, table);
    bool known = name && *column->generated;
    struct sql_bound *bound =
        bind_text(t, &arena, known ? arena_printf(&arena, "SELECT %s FROM %s", column->generated, name) : NULL);
    const struct sql_block *block = bound ? bound->top : NULL;
    t->deep++;
    bool followed = block && block->n_outputs == 1 && add_expression(t, &origins, block->outputs[0].expr, 0);
    if (!followed && !db_dialect(t->builder->db)->listing->origins.before)
        for (uint32_t i = 0; i < table->n_columns; i++)
            if (!table->columns[i].generated) add_column(t, &origins, (int)column->table, (int)i);
    t->deep--;
    keep(t, &origins, &column->origins, &column->n_origins);
    g_array_free(origins.list, TRUE);
    arena_free(&arena);
}

/* --- views -------------------------------------------------------------------------------------------------------- */

/* True if the query has no join by name and no set operation. These merge two columns into one. */
static bool is_plain(const struct sql_stmt *stmt)
{
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) {
        if (n->kind == SQL_JOIN && (sql_kid(n, JOIN_USING) || n->flags & SQL_F_NATURAL)) return false;
    }
    return sql_is(sql_kid(stmt->root, QUERY_BODY), SQL_SELECT);
}

static bool add_output(struct origin_tracer *t, struct origins *to, const struct sql_output *output)
{
    if (output->expr) return add_expression(t, to, output->expr, 0);
    if (output->table < 0 || output->column < 0) return false; /* a computed column that a star expands to */
    add_column(t, to, output->table, output->column);
    return true;
}

/* Records the origins of each column of a view. A column that cannot be traced gets the origins `whole`. */
static void trace_outputs(struct origin_tracer *t, struct schema_table *table, const struct sql_bound *bound,
                          const struct origins *whole)
{
    const struct sql_block *block = bound ? bound->top : NULL;
    bool known = block && block->n_outputs == table->n_columns && is_plain(bound->stmt);
    for (uint32_t i = 0; i < table->n_columns; i++) {
        struct schema_column *column = &table->columns[i];
        struct origins origins = origins_new();
        bool told = known && add_output(t, &origins, &block->outputs[i]);
        keep(t, told ? &origins : whole, &column->origins, &column->n_origins);
        g_array_free(origins.list, TRUE);
    }
}

/* --- origins listed by the server --------------------------------------------------------------------------------- */

/* State of reading a listing, whose rows are grouped by column. */
struct listed {
    struct origin_tracer *tracer;
    struct schema_table *table;
    struct origins *all;          /* origins in rows that name no column */
    struct schema_column *column; /* column of the current rows; NULL if there is none */
    struct origins own;           /* origins of that column */
};

/* Stores each name once. A table with hundreds of partitions has hundreds of rows for each column. */
static const char *intern(struct origin_tracer *t, const struct db_value *value)
{
    if (value->type != DB_TEXT) return NULL;
    const char *known = g_hash_table_lookup(t->names, value->text);
    if (known) return known;
    char *copy = arena_strdup(t->builder->arena, value->text);
    if (copy)
        g_hash_table_add(t->names, copy);
    else
        t->failed = builder_full(t->builder);
    return copy;
}

static void end_column(struct listed *l)
{
    if (l->column) keep(l->tracer, &l->own, &l->column->origins, &l->column->n_origins);
    l->column = NULL;
}

static void begin_column(struct listed *l, const struct db_value *name)
{
    int number = (int)(l->table - l->tracer->index->tables);
    int at = name->type == DB_TEXT ? schema_find_column(l->tracer->index, number, name->text, name->len) : -1;
    struct schema_column *column = at >= 0 ? &l->table->columns[at] : NULL;
    if (column == l->column) return;
    end_column(l);
    l->column = column;
    if (!column) return;
    g_array_set_size(l->own.list, 0);
    l->own.anything = false;
    add_all(&l->own, column->origins, column->n_origins);
}

/* Reads a row: column, schema, table, source column. A NULL column means all columns; the row is then added to `all`. A
 * NULL table means any table. */
static bool take_origin(void *ctx, const struct db_value *row, uint32_t n)
{
    struct listed *l = ctx;
    if (n < 4) return true;
    begin_column(l, &row[0]);
    if (row[0].type == DB_TEXT && !l->column) return true; /* the role may not see the column */
    struct schema_origin origin = {intern(l->tracer, &row[1]), intern(l->tracer, &row[2]), intern(l->tracer, &row[3])};
    if (!l->tracer->failed) add(l->column ? &l->own : l->all, origin);
    return !l->tracer->failed;
}

static void add_listed(struct origin_tracer *t, struct schema_table *table, struct origins *all)
{
    struct builder *builder = t->builder;
    const struct db_listing_sql *listing = &db_dialect(builder->db)->listing->origins;
    if (!listing->before || t->failed) return;
    struct listed listed = {.tracer = t, .table = table, .all = all, .own = origins_new()};
    const char *sql = builder_listing_sql(builder, listing, schema_quote_table(builder->arena, table));
    enum err_code code = sql ? db_scan(builder->db, sql, take_origin, &listed, builder->err) : builder_full(builder);
    if (code) t->failed = code;
    if (!t->failed) end_column(&listed);
    g_array_free(listed.own.list, TRUE);
}

static bool is_row(const struct sql_ref *ref)
{
    return ref->kind == SQL_REF_STAR || ref->kind == SQL_REF_ROW;
}

/* Traces a view. Asks the server, which costs some milliseconds, only if the text is insufficient. The text may name
 * objects that the role may not see. It may also use a whole row that may contain such columns, or exceed our
 * grammar. */
static void trace_view(struct origin_tracer *t, struct schema_table *table)
{
    const char *definition = t->builder->definitions[table - t->index->tables];
    bool is_create = definition && g_ascii_strncasecmp(definition, "CREATE", 6) == 0;
    struct arena arena;
    arena_init(&arena, 0);
    struct origins reads = origins_new(), reaches = origins_new();
    struct sql_bound *bound = bind_text(t, &arena, is_create ? definition_query(definition) : definition);
    bool rows = false;
    for (uint32_t i = 0; bound && i < bound->n_refs; i++) {
        int number = bound->refs[i]->table;
        add_ref(t, &reads, bound->refs[i]);
        rows |= is_row(bound->refs[i]);
        if (number < 0) continue;
        add_table(t, &reaches, number);
        add_all(&reaches, t->index->tables[number].origins, t->index->tables[number].n_origins);
    }
    if (!bound || rows) add_listed(t, table, &reads);
    if (!bound && !reads.list->len) reads.anything = true;
    add_all(&reaches, (const void *)reads.list->data, reads.list->len);
    reaches.anything |= reads.anything;
    trace_outputs(t, table, bound, &reads);
    keep(t, &reaches, &table->origins, &table->n_origins);
    g_array_free(reads.list, TRUE);
    g_array_free(reaches.list, TRUE);
    arena_free(&arena);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

/* Traces a table once. A view is traced after the tables that it reads. */
static void trace_table(struct origin_tracer *t, struct schema_table *table)
{
    enum state *state = &t->states[table - t->index->tables];
    if (*state != UNSEEN) return;
    *state = TRACING;
    t->deep++;
    bool view = shows_others(t, table), generated = false;
    for (uint32_t i = 0; i < table->n_columns; i++) generated |= table->columns[i].generated != NULL;
    /* inherited origins precede the columns that are computed from them */
    if (!view && (generated || t->builder->inherits[table - t->index->tables])) {
        struct origins none = origins_new();
        add_listed(t, table, &none);
        g_array_free(none.list, TRUE);
    }
    for (uint32_t i = 0; generated && i < table->n_columns; i++)
        if (table->columns[i].generated) trace_generated(t, table, &table->columns[i]);
    if (view) trace_view(t, table);
    t->deep--;
    *state = TRACED;
}

enum err_code schema_trace_origins(struct builder *builder)
{
    struct schema_index *index = builder->index;
    struct origin_tracer t = {.builder = builder,
                              .index = index,
                              .states = g_new0(enum state, index->n_tables),
                              .generated = g_new0(bool, index->n_columns),
                              .names = g_hash_table_new(g_str_hash, g_str_equal)};
    for (uint32_t i = 0; !t.failed && i < index->n_tables; i++) trace_table(&t, &index->tables[i]);
    g_free(t.states);
    g_free(t.generated);
    g_hash_table_destroy(t.names);
    return t.failed;
}
