/* Inside of lib/schema: the private part of an index, and the builder that fills one. */
#ifndef ASSAY_LIB_SCHEMA_SCHEMA_INT_H
#define ASSAY_LIB_SCHEMA_SCHEMA_INT_H

#include "lib/schema/blob.h"
#include "lib/schema/schema.h"
#include "lib/schema/values.h"

#include <glib.h>
#include <stdatomic.h>

struct schema_private {
    struct arena arena; /* everything but the values */
    atomic_uint references;
    struct values values;
    struct schema_part_source source; /* of an index that was read */
    uint32_t *tables_by_name;         /* tables that take no schema, sorted by name without case */
    uint32_t n_tables_by_name;        /* how many these are */
    uint32_t *tables_by_schema;       /* all, by schema and bare name; NULL where there are no schemas */
    uint32_t **columns_by_name;       /* by table: positions, likewise */
    bool *is_foreign;                 /* by column id: on the referencing side of a declared key */
    uint32_t *key_root;               /* by column id: columns that joins declare equal share a root */
    uint32_t *neighbours;             /* join graph: tables next to table t are neighbours[first[t] .. first[t + 1]) */
    uint32_t *first_neighbour;
};

/* A declared key of one column or several. */
struct key {
    uint32_t table;
    const uint32_t *columns; /* ids */
    uint32_t n;
};

struct builder {
    struct db *db;
    const struct schema_options *options;
    struct schema_index *index;
    struct arena *arena; /* index->priv->arena */
    struct budget budget;
    const char **definitions; /* by table: the SQL that made it; NULL: not known */
    bool *inherits;           /* by table: some of its columns are also another one's, above or below it */
    GArray *keys;             /* struct key */
    GArray *joins;            /* struct schema_join */
    GPtrArray *notes;
    int64_t until_ns; /* the build's own deadline */
    struct err *err;
};

/* The options with their defaults filled in; an empty index with one reference, for those options (build.c). */
struct schema_options schema_options_resolve(const struct schema_options *asked);
struct schema_index *schema_index_new(const struct schema_options *options);

/* Add the words of the full name to those of the name (sidecar.c). */
void schema_widen_words(struct arena *arena, struct schema_column *column);
/* A number that changes when a description file beside the database (or in the folder given, NULL: none) does; 0: no
 * files. */
uint64_t schema_sidecar_stamp(const char *path, const char *descriptions_dir);

/* Each step returns ERR_OK or has filled builder->err. */
enum err_code schema_load(struct builder *builder);              /* tables, columns, keys (load.c) */
enum err_code schema_load_foreign_keys(struct builder *builder); /* (load.c), after names are sorted */
enum err_code schema_trace_origins(struct builder *builder);     /* what columns are computed from (origins.c) */
enum err_code schema_scan_tables(struct builder *builder);       /* statistics and values (scan.c) */
enum err_code schema_read_sidecar(struct builder *builder, const char *path); /* (sidecar.c) */
void schema_read_terms(struct builder *builder, const char *path); /* words.yaml, where there is one (terms.c) */
enum err_code schema_infer_joins(struct builder *builder);         /* (infer.c) */
enum err_code schema_sort_names(struct builder *builder);          /* (find.c) */
enum err_code schema_link_graph(struct builder *builder);          /* (graph.c), after all joins */
/* The table that a listing calls so: by its schema where that is a text. -1. (find.c) */
int schema_find_listed(const struct schema_index *index, const struct db_value *schema, const struct db_value *name);
void schema_fill_catalog(struct schema_index *index); /* (find.c) */

enum err_code builder_full(struct builder *builder); /* ERR_LIMIT_MEMORY */
void builder_note(struct builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Limits of the handle for the next statements: at most time_ms, and what is left of the build's time; value_bytes 0:
 * the default. */
void builder_set_limits(struct builder *builder, int64_t time_ms, uint64_t value_bytes);

/* Rows (const struct db_value *, in the builder's arena) of a listing; `sql` NULL: there is no memory. The caller frees
 * *rows in any case. (load.c) */
enum err_code builder_list(struct builder *builder, const char *sql, GPtrArray **rows);
struct db_listing_sql;
/* The statement of a listing of one table or index, by its quoted name (NULL: there is no memory); in the builder's
 * arena. NULL: there is no memory. (load.c) */
char *builder_listing_sql(struct builder *builder, const struct db_listing_sql *listing, const char *quoted);
/* Rows (const struct db_value *, in the builder's arena) of that statement. The caller frees *rows in any case. (load.c)
 */
enum err_code builder_list_of(struct builder *builder, const struct db_listing_sql *listing, const char *quoted,
                              GPtrArray **rows);

/* Add a join of the pairs from[i] → to[i] (column ids, copied). */
enum err_code builder_add_join(struct builder *builder, const uint32_t *from, const uint32_t *to, uint32_t n_pairs,
                               bool declared, double inclusion);

#endif
