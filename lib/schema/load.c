/* Reads the catalogue of a database: tables, columns and keys. db_listing.h describes the differences between
 * engines. */
#include "lib/db/db_listing.h"
#include "lib/schema/schema_int.h"

#include <string.h>
#include <strings.h>

_Static_assert((int)SCHEMA_TEXT == (int)DB_AFFINITY_TEXT && (int)SCHEMA_INTEGER == (int)DB_AFFINITY_INTEGER &&
                   (int)SCHEMA_REAL == (int)DB_AFFINITY_REAL && (int)SCHEMA_NUMERIC == (int)DB_AFFINITY_NUMERIC &&
                   (int)SCHEMA_BLOB == (int)DB_AFFINITY_BLOB,
               "the engines' affinities are those of lib/schema/schema.h");

/* Rows of a listing statement, copied to the builder's arena. */
struct listing {
    struct builder *builder;
    GPtrArray *rows; /* items are const struct db_value *, n_columns each */
    bool full;
};

static bool copy_row(void *ctx, const struct db_value *row, uint32_t n)
{
    struct listing *listing = ctx;
    struct arena *arena = listing->builder->arena;
    struct db_value *copy = arena_new_array(arena, n, struct db_value);
    for (uint32_t i = 0; copy && i < n; i++) {
        copy[i] = row[i];
        if (row[i].type != DB_TEXT && row[i].type != DB_BLOB) continue;
        copy[i].text = arena_strndup(arena, row[i].text, row[i].len);
        if (!copy[i].text) copy = NULL;
    }
    if (copy) g_ptr_array_add(listing->rows, copy);
    listing->full = !copy;
    return !listing->full;
}

enum err_code builder_list(struct builder *builder, const char *sql, GPtrArray **rows)
{
    *rows = g_ptr_array_new();
    if (!sql) return builder_full(builder);
    struct listing listing = {builder, *rows, false};
    enum err_code code = db_scan(builder->db, sql, copy_row, &listing, builder->err);
    return !code && listing.full ? builder_full(builder) : code;
}

char *builder_listing_sql(struct builder *builder, const struct db_listing_sql *listing, const char *quoted)
{
    struct db_value text = {.type = DB_TEXT, .text = quoted, .len = quoted ? strlen(quoted) : 0};
    if (quoted && db_dialect(builder->db)->listing->name_is_text) quoted = db_quote_value(builder->arena, &text);
    return quoted ? arena_printf(builder->arena, "%s%s%s", listing->before, quoted, listing->after) : NULL;
}

enum err_code builder_list_of(struct builder *builder, const struct db_listing_sql *listing, const char *quoted,
                              GPtrArray **rows)
{
    return builder_list(builder, builder_listing_sql(builder, listing, quoted), rows);
}

static const char *text_of(const struct db_value *value)
{
    return value->type == DB_TEXT ? value->text : "";
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static bool is_virtual(const struct db_value *row)
{
    return strncasecmp(text_of(&row[2]), "CREATE VIRTUAL", 14) == 0;
}

/* True for the shadow tables in which a full-text or R-tree table "docs" stores its data: "docs_content", "docs_data"
 * ... */
static bool is_shadow(const GPtrArray *virtuals, const char *name)
{
    for (guint i = 0; i < virtuals->len; i++) {
        const struct db_value *row = virtuals->pdata[i];
        size_t len = row[0].len;
        if (strncasecmp(name, text_of(&row[0]), len) == 0 && name[len] == '_') return true;
    }
    return false;
}

static GPtrArray *virtuals_of(const GPtrArray *rows)
{
    GPtrArray *virtuals = g_ptr_array_new();
    for (guint i = 0; i < rows->len; i++)
        if (is_virtual(rows->pdata[i])) g_ptr_array_add(virtuals, rows->pdata[i]);
    return virtuals;
}

/* Returns a comment of the catalogue, or NULL. A description file may replace it later. */
static const char *comment_of(struct builder *builder, const struct db_value *value)
{
    if (value->type != DB_TEXT || !value->len) return NULL;
    builder->index->has_descriptions = true;
    return value->text;
}

enum { TABLE_SCHEMA = 5, TABLE_TAKES_IT = 6, TABLE_INHERITS = 7 };

static const char *name_table(struct builder *builder, struct schema_table *table, const struct db_value *row)
{
    table->bare = table->name = text_of(&row[0]);
    table->schema = row[TABLE_SCHEMA].type == DB_TEXT ? row[TABLE_SCHEMA].text : NULL;
    if (!table->schema || !row[TABLE_TAKES_IT].i) return table->name;
    table->name = arena_printf(builder->arena, "%s.%s", table->schema, table->bare);
    if (table->name) table->bare = table->name + strlen(table->schema) + 1;
    return table->name;
}

static enum err_code fill_table(struct builder *builder, struct schema_table *table, const struct db_value *row)
{
    if (!name_table(builder, table, row)) return builder_full(builder);
    table->is_view = strcmp(text_of(&row[1]), "view") == 0;
    table->is_virtual = is_virtual(row);
    builder->definitions[table - builder->index->tables] = row[2].type == DB_TEXT ? row[2].text : NULL;
    builder->inherits[table - builder->index->tables] = row[TABLE_INHERITS].i != 0;
    table->description = comment_of(builder, &row[3]);
    table->rows = row[4].i > 0 ? (uint64_t)row[4].i : 0; /* the server's estimate, until the rows are counted */
    table->words = text_split_identifier(builder->arena, table->bare, strlen(table->bare));
    return table->words.items || !builder->arena->failed ? ERR_OK : builder_full(builder);
}

/* True if the table is left out because the index already has MANY_TABLES tables. Only tables that require a schema are
 * left out. A database with one schema for each tenant would otherwise fill the index. */
static bool is_too_far(const struct builder *builder, const struct db_value *row)
{
    enum { MANY_TABLES = 5000 };
    return row[TABLE_TAKES_IT].i && builder->index->n_tables >= MANY_TABLES;
}

static enum err_code load_tables(struct builder *builder)
{
    struct schema_index *index = builder->index;
    GPtrArray *rows;
    enum err_code code = builder_list(builder, db_dialect(builder->db)->listing->tables, &rows);
    GPtrArray *virtuals = virtuals_of(rows);
    index->tables = code ? NULL : arena_new_array(builder->arena, rows->len, struct schema_table);
    builder->definitions = code ? NULL : arena_new_array(builder->arena, rows->len, const char *);
    builder->inherits = code ? NULL : arena_new_array(builder->arena, rows->len, bool);
    if (!code && !(index->tables && builder->definitions && builder->inherits)) code = builder_full(builder);
    for (guint i = 0; !code && index->tables && i < rows->len; i++) {
        const struct db_value *row = rows->pdata[i];
        if (is_too_far(builder, row)) {
            builder_note(builder, "%u tables of other schemas are left out, for there are too many", rows->len - i);
            break;
        }
        if (!is_shadow(virtuals, text_of(&row[0]))) code = fill_table(builder, &index->tables[index->n_tables++], row);
    }
    g_ptr_array_free(virtuals, TRUE);
    g_ptr_array_free(rows, TRUE);
    return code;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

enum { XINFO_NAME = 1, XINFO_TYPE = 2, XINFO_NOT_NULL = 3, XINFO_PK = 5, XINFO_HIDDEN = 6, XINFO_COMMENT = 7 };
enum { XINFO_EXPRESSION = 8, XINFO_FOLDS = 9 };
enum { HIDDEN_BY_MODULE = 1, GENERATED_VIRTUAL = 2, GENERATED_STORED = 3 };

static enum err_code fill_column(struct builder *builder, struct schema_column *column, const struct db_value *row)
{
    column->name = text_of(&row[XINFO_NAME]);
    column->type = text_of(&row[XINFO_TYPE]);
    column->affinity = (enum schema_affinity)db_dialect(builder->db)->listing->affinity(column->type);
    column->not_null = row[XINFO_NOT_NULL].i != 0;
    column->pk = (uint8_t)MIN(row[XINFO_PK].i, UINT8_MAX);
    column->description = db_dialect(builder->db)->listing->comments ? comment_of(builder, &row[XINFO_COMMENT]) : NULL;
    bool generated = row[XINFO_HIDDEN].i == GENERATED_VIRTUAL || row[XINFO_HIDDEN].i == GENERATED_STORED;
    if (generated)
        column->generated = db_dialect(builder->db)->listing->expressions ? text_of(&row[XINFO_EXPRESSION]) : "";
    column->folds = db_dialect(builder->db)->listing->folds && row[XINFO_FOLDS].i;
    column->words = text_split_identifier(builder->arena, column->name, strlen(column->name));
    return column->words.items || !builder->arena->failed ? ERR_OK : builder_full(builder);
}

/* Records the names of hidden columns. */
static enum err_code note_hidden(struct builder *builder, struct schema_table *table, const GPtrArray *rows)
{
    const char **names = arena_new_array(builder->arena, rows->len, const char *);
    if (!names) return builder_full(builder);
    for (guint i = 0; i < rows->len; i++) {
        const struct db_value *row = rows->pdata[i];
        if (row[XINFO_HIDDEN].i == HIDDEN_BY_MODULE) names[table->n_hidden++] = text_of(&row[XINFO_NAME]);
    }
    table->hidden = names;
    return ERR_OK;
}

enum err_code builder_add_key(struct builder *builder, uint32_t table, const uint32_t *columns, uint32_t n)
{
    uint32_t *copy = arena_new_array(builder->arena, n, uint32_t);
    if (!copy) return builder_full(builder);
    memcpy(copy, columns, n * sizeof *copy);
    struct key key = {table, copy, n};
    g_array_append_val(builder->keys, key);
    return ERR_OK;
}

/* Records the primary key, with its columns in the declared order. */
static enum err_code note_primary_key(struct builder *builder, struct schema_table *table)
{
    uint32_t ids[UINT8_MAX] = {0};
    for (uint32_t i = 0; i < table->n_columns; i++) {
        struct schema_column *column = &table->columns[i];
        if (!column->pk) continue;
        ids[column->pk - 1] = column->id;
        table->n_pk++;
        if (table->n_pk == UINT8_MAX) break;
    }
    for (uint32_t i = 0; table->n_pk == 1 && i < table->n_columns; i++) {
        struct schema_column *column = &table->columns[i];
        if (!column->pk) continue;
        column->unique = true;
        /* An INTEGER PRIMARY KEY is an alias of the rowid. */
        column->not_null |= strcasecmp(column->type, "INTEGER") == 0;
    }
    return table->n_pk ? builder_add_key(builder, (uint32_t)(table - builder->index->tables), ids, table->n_pk)
                       : ERR_OK;
}

static enum err_code load_columns(struct builder *builder, uint32_t number)
{
    struct schema_table *table = &builder->index->tables[number];
    GPtrArray *rows;
    enum err_code code = builder_list_of(builder, &db_dialect(builder->db)->listing->columns,
                                         schema_quote_table(builder->arena, table), &rows);
    if (code == ERR_ENGINE || code == ERR_REFUSED) { /* a view of a dropped table, or a missing module */
        builder_note(builder, "%s %s cannot be read: %s", table->is_view ? "view" : "table", table->name,
                     builder->err->text);
        code = ERR_OK;
    }
    table->columns = arena_new_array(builder->arena, rows->len, struct schema_column);
    if (!code && !table->columns) code = builder_full(builder);
    for (guint i = 0; !code && i < rows->len; i++) {
        const struct db_value *row = rows->pdata[i];
        if (row[XINFO_HIDDEN].i == HIDDEN_BY_MODULE) continue;
        struct schema_column *column = &table->columns[table->n_columns];
        column->table = number;
        column->index = table->n_columns++;
        column->id = builder->index->n_columns++;
        code = fill_column(builder, column, row);
    }
    if (!code) code = note_hidden(builder, table, rows);
    g_ptr_array_free(rows, TRUE);
    return code ? code : note_primary_key(builder, table);
}

/* --- unique indexes ----------------------------------------------------------------------------------------------- */

static enum err_code load_unique(struct builder *builder, uint32_t number, const char *index_name)
{
    struct schema_table *table = &builder->index->tables[number];
    uint32_t ids[64], n = 0;
    GPtrArray *rows;
    enum err_code code = builder_list_of(builder, &db_dialect(builder->db)->listing->index,
                                         db_quote_name(builder->arena, index_name, strlen(index_name)), &rows);
    bool usable = !code && rows->len > 0 && rows->len <= G_N_ELEMENTS(ids);
    for (guint i = 0; usable && i < rows->len; i++) {
        const struct db_value *row = rows->pdata[i];
        int column = schema_find_column(builder->index, (int)number, text_of(&row[2]), row[2].len);
        usable = row[2].type == DB_TEXT && column >= 0; /* otherwise it is an expression */
        if (usable) ids[n++] = table->columns[column].id;
    }
    if (usable && n == 1) builder->index->columns[ids[0]]->unique = true;
    if (usable) code = builder_add_key(builder, number, ids, n);
    g_ptr_array_free(rows, TRUE);
    return code;
}

static enum err_code load_indexes(struct builder *builder, uint32_t number)
{
    GPtrArray *rows;
    enum err_code code = builder_list_of(builder, &db_dialect(builder->db)->listing->indexes,
                                         schema_quote_table(builder->arena, &builder->index->tables[number]), &rows);
    for (guint i = 0; !code && i < rows->len; i++) {
        const struct db_value *row = rows->pdata[i]; /* the columns are seq, name, unique, origin, partial */
        bool primary = strcmp(text_of(&row[3]), "pk") == 0;
        if (row[2].i && !row[4].i && !primary) code = load_unique(builder, number, text_of(&row[1]));
    }
    g_ptr_array_free(rows, TRUE);
    return code;
}

static enum err_code number_columns(struct builder *builder)
{
    struct schema_index *index = builder->index;
    index->columns = arena_new_array(builder->arena, index->n_columns, struct schema_column *);
    if (!index->columns) return builder_full(builder);
    for (uint32_t t = 0; t < index->n_tables; t++)
        for (uint32_t i = 0; i < index->tables[t].n_columns; i++)
            index->columns[index->tables[t].columns[i].id] = &index->tables[t].columns[i];
    return ERR_OK;
}

enum err_code schema_load(struct builder *builder)
{
    enum err_code code = load_tables(builder);
    uint32_t n_tables = builder->index->n_tables;
    for (uint32_t i = 0; !code && i < n_tables; i++) code = load_columns(builder, i);
    if (!code) code = number_columns(builder);
    if (!code) code = schema_sort_names(builder);
    for (uint32_t i = 0; !code && i < n_tables; i++)
        if (!builder->index->tables[i].is_view) code = load_indexes(builder, i);
    return code;
}

/* --- foreign keys ------------------------------------------------------------------------------------------------- */

enum { FK_ID = 0, FK_SCHEMA = 1, FK_TABLE = 2, FK_FROM = 3, FK_TO = 4, FK_MAX_PAIRS = 32 };

/* Returns the `nth` column of the primary key, which REFERENCES means without a column list. Returns -1 if there is
 * none. */
static int nth_of_primary_key(const struct schema_table *table, uint32_t nth)
{
    for (uint32_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].pk == nth + 1) return (int)i;
    return -1;
}

/* Loads one foreign key, whose column pairs are rows[first .. end). A key whose target does not exist is noted and
 * skipped. */
static enum err_code load_foreign_key(struct builder *builder, uint32_t number, GPtrArray *rows, guint first, guint end)
{
    struct schema_index *index = builder->index;
    const struct schema_table *from_table = &index->tables[number];
    const struct db_value *head = rows->pdata[first];
    uint32_t from[FK_MAX_PAIRS], to[FK_MAX_PAIRS], n = 0;
    int target = schema_find_listed(index, &head[FK_SCHEMA], &head[FK_TABLE]);
    bool known = target >= 0 && end - first <= FK_MAX_PAIRS;
    for (guint i = first; known && i < end; i++, n++) {
        const struct db_value *row = rows->pdata[i];
        const struct schema_table *to_table = &index->tables[target];
        int a = schema_find_column(index, (int)number, text_of(&row[FK_FROM]), row[FK_FROM].len);
        int b = row[FK_TO].type == DB_TEXT ? schema_find_column(index, target, row[FK_TO].text, row[FK_TO].len)
                                           : nth_of_primary_key(to_table, n);
        known = a >= 0 && b >= 0;
        if (!known) break;
        from[n] = from_table->columns[a].id;
        to[n] = to_table->columns[b].id;
    }
    if (known) return builder_add_join(builder, from, to, n, true, 1);
    builder_note(builder, "a foreign key of %s leads to %s%s%s, which is not there", from_table->name,
                 text_of(&head[FK_TABLE]), head[FK_TO].type == DB_TEXT ? "." : "", text_of(&head[FK_TO]));
    return ERR_OK;
}

static enum err_code load_foreign_keys_of(struct builder *builder, uint32_t number)
{
    GPtrArray *rows;
    enum err_code code = builder_list_of(builder, &db_dialect(builder->db)->listing->foreign_keys,
                                         schema_quote_table(builder->arena, &builder->index->tables[number]), &rows);
    for (guint first = 0, end; !code && first < rows->len; first = end) {
        const struct db_value *head = rows->pdata[first];
        for (end = first + 1; end < rows->len; end++)
            if (((const struct db_value *)rows->pdata[end])[FK_ID].i != head[FK_ID].i) break;
        code = load_foreign_key(builder, number, rows, first, end);
    }
    g_ptr_array_free(rows, TRUE);
    return code;
}

enum err_code schema_load_foreign_keys(struct builder *builder)
{
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; !code && i < builder->index->n_tables; i++)
        if (!builder->index->tables[i].is_view) code = load_foreign_keys_of(builder, i);
    return code;
}
