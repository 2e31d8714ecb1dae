/* Internals of lib/schema: the private part of an index, and the builder that fills one. */
#ifndef ASSAY_LIB_SCHEMA_SCHEMA_INT_H
#define ASSAY_LIB_SCHEMA_SCHEMA_INT_H

#include "lib/schema/blob.h"
#include "lib/schema/schema.h"
#include "lib/schema/values.h"

#include <glib.h>
#include <stdatomic.h>

struct schema_private {
    struct arena arena; /* holds everything except the values */
    atomic_uint references;
    struct values values;
    struct schema_part_source source; /* loads the parts of an index that was read from a blob */
    uint32_t *tables_by_name;         /* tables that require no schema, sorted by name without case */
    uint32_t n_tables_by_name;        /* length of tables_by_name */
    uint32_t *tables_by_schema;       /* all tables, by schema and bare name; NULL if there are no schemas */
    uint32_t **columns_by_name;       /* by table: positions, sorted by name without case */
    bool *is_foreign;                 /* by column id: true on the referencing side of a declared key */
    uint32_t *key_root;               /* by column id: columns that declared joins equate have the same root */
    uint32_t *neighbours; /* join graph: the tables adjacent to table t are neighbours[first[t] .. first[t + 1]) */
    uint32_t *first_neighbour;
};

/* A declared key of one or more columns. */
struct key {
    uint32_t table;
    const uint32_t *columns; /* column ids */
    uint32_t n;
};

struct builder {
    struct db *db;
    const struct schema_options *options;
    struct schema_index *index;
    struct arena *arena; /* index->priv->arena */
    struct budget budget;
    const char **definitions; /* by table: its definition in SQL; NULL if unknown */
    bool *inherits;           /* by table: true if another table has some of its columns by inheritance */
    GArray *keys;             /* items are struct key */
    GArray *joins;            /* items are struct schema_join */
    GPtrArray *notes;
    int64_t until_ns; /* the build's own deadline */
    struct err *err;
};

/* schema_options_resolve fills in the defaults. schema_index_new creates an empty index with one reference (build.c).
 */
struct schema_options schema_options_resolve(const struct schema_options *asked);
struct schema_index *schema_index_new(const struct schema_options *options);

/* Adds the words of the column's full name to the words of its name (sidecar.c). */
void schema_widen_words(struct arena *arena, struct schema_column *column);
/* Returns a number that changes if the description files change, or 0 if there are none. The files are in
 * descriptions_dir; if it is NULL, they are beside the database. */
uint64_t schema_sidecar_stamp(const char *path, const char *descriptions_dir);

/* Steps of the build. Each returns ERR_OK, or an error described in builder->err. */
enum err_code schema_load(struct builder *builder);              /* tables, columns, keys (load.c) */
enum err_code schema_load_foreign_keys(struct builder *builder); /* (load.c); call after names are sorted */
enum err_code schema_trace_origins(struct builder *builder);     /* source columns of computed columns (origins.c) */
enum err_code schema_scan_tables(struct builder *builder);       /* statistics and values (scan.c) */
enum err_code schema_read_sidecar(struct builder *builder, const char *path); /* descriptions (sidecar.c) */
void schema_read_words(struct builder *builder, const char *path); /* words.yaml, if it exists (words_file.c) */
enum err_code schema_infer_joins(struct builder *builder);         /* undeclared joins (infer.c) */
enum err_code schema_sort_names(struct builder *builder);          /* indexes of names (find.c) */
enum err_code schema_link_graph(struct builder *builder);          /* (graph.c); call after all joins are added */
/* Returns the table that a row of a listing names, or -1. The row's schema is used if it is a text (find.c). */
int schema_find_listed(const struct schema_index *index, const struct db_value *schema, const struct db_value *name);
void schema_fill_catalog(struct schema_index *index); /* the catalogue for sql_bind (find.c) */

enum err_code builder_full(struct builder *builder); /* returns ERR_LIMIT_MEMORY */
void builder_note(struct builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets the handle's limits for the next statements. A statement may run for time_ms, but not past the deadline of the
 * build. value_bytes 0 selects the default. */
void builder_set_limits(struct builder *builder, int64_t time_ms, uint64_t value_bytes);

/* Lists the rows of a statement (const struct db_value *, in the builder's arena). Pass NULL as `sql` if composing it
 * exhausted memory. The caller frees *rows in any case (load.c). */
enum err_code builder_list(struct builder *builder, const char *sql, GPtrArray **rows);
struct db_listing_sql;
/* Returns the statement that lists one table or index by its quoted name, in the builder's arena (load.c). Returns NULL
 * if memory is exhausted. `quoted` is NULL if quoting exhausted memory. */
char *builder_listing_sql(struct builder *builder, const struct db_listing_sql *listing, const char *quoted);
/* Lists the rows of the statement that builder_listing_sql returns (const struct db_value *, in the builder's arena).
 * The caller frees *rows in any case (load.c). */
enum err_code builder_list_of(struct builder *builder, const struct db_listing_sql *listing, const char *quoted,
                              GPtrArray **rows);

/* Adds a key of a table: the combination of the columns is unique. `columns` holds ids, which are copied (load.c). */
enum err_code builder_add_key(struct builder *builder, uint32_t table, const uint32_t *columns, uint32_t n);

/* Adds a join of the column pairs from[i] → to[i]. The arrays hold column ids, which are copied. */
enum err_code builder_add_join(struct builder *builder, const uint32_t *from, const uint32_t *to, uint32_t n_pairs,
                               bool declared, double inclusion);

#endif
