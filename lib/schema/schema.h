/* The schema index of one database: its tables and columns, their joins, and the positions of values.
 *
 * An index is built once for each fingerprint and then read-only: any number of threads may read it. Hold a reference
 * while reading. Column ids are dense over the whole database (`schema_column.id`), so sets of columns are small
 * bitmaps.
 */
#ifndef ASSAY_LIB_SCHEMA_SCHEMA_H
#define ASSAY_LIB_SCHEMA_SCHEMA_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/sql/bind.h"
#include "lib/text/text.h"

#include <stdio.h>

enum schema_affinity { SCHEMA_TEXT, SCHEMA_INTEGER, SCHEMA_REAL, SCHEMA_NUMERIC, SCHEMA_BLOB };

struct schema_top_value {
    struct db_value value;
    uint64_t count;
};

/* Statistics of a column. Exact unless `sampled`. */
struct schema_stats {
    uint64_t rows, nulls, distinct;     /* distinct counts non-NULL values */
    uint64_t ints, reals, texts, blobs; /* type mix of the non-NULL values */
    uint64_t zeros;                     /* numeric zeros */
    uint64_t numeric_texts;             /* texts that read as a whole number or decimal */
    uint64_t date_texts;                /* texts that look like a date or time */
    struct db_value min, max;           /* by the engine's order; texts cut to 256 bytes */
    double sum;                         /* of numbers */
    const struct schema_top_value *top; /* most frequent first, at most 16 */
    uint32_t n_top;
    bool sampled; /* the cap was reached: counts are estimates, and `schema_values_with` may miss values of this
                   * column */
};

/* The name of a column that another column shows. Its table may be missing from the index. */
struct schema_origin {
    const char *schema; /* NULL if the engine has none, or for any */
    const char *table;  /* NULL for any */
    const char *column; /* NULL for any */
};

struct schema_column {
    const char *name;
    const char *type; /* as declared, "" if none */
    enum schema_affinity affinity;
    const char *description;       /* sidecar: column description, or NULL */
    const char *value_description; /* sidecar: meaning of its values, or NULL */
    const char *full_name;         /* sidecar: name in plain words, or NULL */
    struct text_tokens words;      /* words of the name (and full_name), split, folded, stemmed */
    uint32_t id;                   /* dense over the database */
    uint32_t table, index;         /* table number, position in the table */
    bool not_null;                 /* declared NOT NULL, or INTEGER PRIMARY KEY */
    uint8_t pk;                    /* position in the primary key from 1; 0 if it is not part of it */
    bool unique; /* declared primary key or UNIQUE index of this column alone; or measured if `unique_measured` */
    bool folds;  /* the engine may take texts for equal that differ in case, accents or trailing blanks */
    bool unique_measured;  /* not declared, but without repeats in the data (rows > 0) */
    const char *generated; /* expression of a generated column, "" if unknown; NULL if it is not generated */
    const struct schema_origin *origins; /* of a generated column or a view's column: its source columns, through any
                                          * number of views; also its inherited ones */
    uint32_t n_origins;
    struct schema_stats stats;
};

struct schema_table {
    const char *name;   /* name in statements, unquoted: "orders", or "sales.orders" if it requires the schema */
    const char *bare;   /* the name without a schema */
    const char *schema; /* NULL if the engine has a single schema (SQLite) */
    const char *description;
    bool is_view;
    bool is_virtual;           /* of a full-text search module */
    const char *const *hidden; /* columns that * leaves out and that may show any part of the row */
    uint32_t n_hidden;
    const struct schema_origin *origins; /* of a view: all columns of all tables that it reads */
    uint32_t n_origins;
    bool scannable; /* false if it could not be read or the time ran out: the columns' stats are then empty and
                     * `sampled` */
    uint64_t rows;
    struct schema_column *columns;
    uint32_t n_columns;
    uint32_t n_pk;
    struct text_tokens words;
};

/* A join edge: the columns of `from` reference those of `to`, pairwise. */
struct schema_join {
    uint32_t from_table, to_table;
    const uint32_t *from, *to; /* column ids; n_pairs of them */
    uint32_t n_pairs;
    bool declared;      /* by the database or in words.yaml; otherwise inferred from names and values */
    bool to_unique;     /* the referenced columns are a key */
    bool from_not_null; /* all referencing columns are NOT NULL, or hold no NULL */
    double inclusion;   /* share of distinct non-NULL from-values found in `to`. If not measured: 1 for a declared
                         * join, and min_inclusion for a join inferred from names alone */
};

/* A term of the team from words.yaml (lib/schema/terms.c). */
struct schema_term {
    const char *term;         /* as written: "churned customers" */
    struct text_tokens words; /* words of `term` */
    const char *meaning;      /* "customer.status = 'C'", a formula, or a column's name */
    uint32_t column;          /* id; UINT32_MAX if it means no single column */
};

struct schema_index {
    const char *db_name;
    char fingerprint[33];
    struct schema_table *tables;
    uint32_t n_tables;
    struct schema_column **columns; /* by id */
    uint32_t n_columns;
    struct schema_join *joins;
    uint32_t n_joins;
    struct sql_catalog catalog; /* for sql_bind; uses the table and column numbers of this index */
    const char *const *notes;   /* anomalies: foreign keys without a target, unreadable tables */
    uint32_t n_notes;
    bool has_descriptions;
    /* Properties of the engine for callers without a handle (db_dialect in lib/db/db.h). */
    bool alias_is_row, quotes_names, divides_exactly;
    bool no_data; /* schema without data: no table is scannable, every column is `sampled` with counts of 0, and no
                   * value is known. Check it before using a count or a value as a fact */
    const struct schema_term *terms;
    uint32_t n_terms;
    uint64_t bytes; /* memory held */
    int64_t build_ns;
    /* private: value index, graph, arena, reference count */
    struct schema_private *priv;
};

struct schema_options {
    uint64_t max_bytes;  /* 256 MiB: memory of one index */
    uint64_t max_values; /* 200,000 distinct values of a column in the value index; above it the column is sampled */
    uint32_t max_value_bytes; /* 200: longer texts are not indexed */
    uint64_t max_rows; /* 1,000,000 rows read of a server's table, spread over it; above it the table is sampled */
    bool no_inferred_joins;
    double min_inclusion;         /* 0.95 */
    const char *descriptions_dir; /* folder with <table>.csv as BIRD's database_description, and words.yaml; NULL
                                   * looks beside the database */
    int64_t time_ms; /* 60,000: for reading the rows of all tables and views. Tables beyond it are left out or read
                      * in part, with a note */
    /* Columns that the build does not read ("table.column" or "column"), so the index does not depend on their
     * contents. A view or table whose rows depend on such a column is not read either. Must outlive the index. */
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    bool deny_hides; /* denied columns are counted, and none of their values is stored */
    bool keep_here;  /* the index must not be stored in a cache outside this process */
};

/* Builds an index from an open database, in one pass for each table and then each view. `path` may be NULL (no
 * sidecar). The handle's limits and deadline do not apply, because other requests share the index. Values of views are
 * counted but not indexed. Release *out with schema_unref. Errors: those of db_scan, ERR_LIMIT_MEMORY. */
enum err_code schema_build(struct db *db, const char *db_name, const char *path, const struct schema_options *options,
                           struct schema_index **out, struct err *err);
struct schema_index *schema_ref(struct schema_index *index);
void schema_unref(struct schema_index *index);

/* Finds a table by its `name`, or by its schema, a dot and its `bare` name; the first match wins. All lookups here
 * compare without case, and return -1 or NULL if there is no match. */
int schema_find_table(const struct schema_index *index, const char *name, size_t len);
/* Returns the quoted name for a FROM clause, with its schema if it requires one. Text of the arena; NULL if it is full.
 */
char *schema_quote_table(struct arena *arena, const struct schema_table *table);
/* True if the statement reads a table or view whose existing rows the index did not read. */
bool schema_reads_unread(const struct schema_index *index, const struct sql_bound *bound);
int schema_find_column(const struct schema_index *index, int table, const char *name, size_t len);
/* Returns the column of a bound reference, or NULL (computed, unknown, rowid). */
const struct schema_column *schema_column_of(const struct schema_index *index, const struct sql_ref *ref);

/* True if the column matches an entry of `names`, or shows a column that does (as a generated column or a view's).
 * Entries are "schema.table.column", "table.column" of any schema, or "column", compared without case. For views and
 * virtual tables a match by column name alone counts too, because they may show a table's column. Thread: any, for this
 * and all following functions. */
bool schema_column_is_denied(const struct schema_index *index, const struct schema_column *column,
                             const char *const *names, uint32_t n);
/* The same if only the name of a column is known. */
bool schema_name_is_denied(const char *name, const char *const *names, uint32_t n);
/* Returns the column as an origin. The index owns the names. */
struct schema_origin schema_origin_of(const struct schema_index *index, const struct schema_column *column);
/* True if reading the table may evaluate a denied column: the table has one, or the view reads one at any depth. */
bool schema_table_reaches_denied(const struct schema_index *index, const struct schema_table *table,
                                 const char *const *names, uint32_t n);
/* True if a statement that reads any part of the table reads a denied column. This holds for a view or virtual table
 * that reaches one. It also holds for a table whose primary key contains one, because rows may come in key order. */
bool schema_table_is_denied(const struct schema_index *index, const struct schema_table *table,
                            const char *const *names, uint32_t n);
/* True if the reference can return a value of a denied column. Uncertain cases count: a star, a whole row, an
 * unresolved name. */
bool schema_ref_is_denied(const struct schema_index *index, const struct sql_ref *ref, const char *const *names,
                          uint32_t n);
/* True if the statement uses a denied column, so that none of its values may be shown. Also true if the statement did
 * not bind (NULL, or with diagnostics). False if `names` is empty. */
bool schema_uses_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                        uint32_t n);
/* True if the statement reads a denied column anywhere, so that its rows, errors or times may depend on one. It uses
 * such a column, or reads a table that is denied as a whole. Also true if it did not bind. False if `names` is empty.
 */
bool schema_reads_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                         uint32_t n);
/* Argument of schema_gate_check, a gate for db_set_gate. The gate refuses with ERR_DENIED each statement that reads a
 * column of `names`, or that does not parse or bind. The caller owns the pointers. */
struct schema_gate {
    const struct schema_index *index;
    const char *const *names;
    uint32_t n;
};
enum err_code schema_gate_check(void *gate, const char *sql, size_t len, struct err *err);
/* True if a denied column is within reach: the statement uses one, or reads a table or view that holds one. The
 * engine's error messages may then quote its values. */
bool schema_reaches_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                           uint32_t n);

/* A column that holds a value. */
struct schema_hit {
    uint32_t column;  /* id */
    bool exact;       /* true for the same text; false for equality after folding (case, spaces, accents) */
    const char *form; /* the stored form */
    uint32_t count;   /* rows; 0 if unknown */
};
/* Finds up to `max` columns that hold a literal's text (numbers in text form), exact ones first. Returns their number.
 */
uint32_t schema_values_with(const struct schema_index *index, const char *text, size_t len, struct schema_hit *out,
                            uint32_t max);
/* Returns 1 if the column holds the value, 0 if not, -1 if unknown (sampled, too long, blob). `exact` requires equality
 * for the engine: the same text or, in a column that folds, equality after folding. */
int schema_column_has(const struct schema_index *index, const struct schema_column *column, const char *text,
                      size_t len, bool exact);
/* Lists the nearest stored values of a column (edit distance, containment), best first, at most `max`. Bounded work.
 * Returns their number. */
uint32_t schema_nearest_values(struct arena *arena, const struct schema_index *index,
                               const struct schema_column *column, const char *text, size_t len, const char **out,
                               uint32_t max);

/* Finds the smallest set of tables that connects `terminals`: exact for up to 10 terminals, otherwise at most twice the
 * minimum. Fills tables[], which must hold n_tables. Returns their number, or 0 if the terminals are not connected. */
uint32_t schema_steiner(const struct schema_index *index, const uint32_t *terminals, uint32_t n, uint32_t *tables,
                        bool *exact);
/* Returns the edge with this column pair (in either direction), declared or inferred, or NULL. Sets `derived` if both
 * columns instead reference the same key. */
const struct schema_join *schema_join_between(const struct schema_index *index, uint32_t column_a, uint32_t column_b,
                                              bool *derived);
/* True if the column is on the referencing side of a declared foreign key. */
bool schema_is_foreign_key(const struct schema_index *index, uint32_t column);

/* In-process cache with single flight. The key is the path, or the name and path if the name has options of its own. A
 * changed fingerprint leads to a rebuild; old readers keep their index. schema_cache_get returns a reference. Failures
 * are cached for at most 1 s. ERR_DEADLINE: the deadline of `db` passed, possibly while another thread built the index.
 * Thread: any. */
struct schema_cache;
struct schema_cache *schema_cache_new(const struct schema_options *options, uint64_t max_bytes);
void schema_cache_free(struct schema_cache *cache);
enum err_code schema_cache_get(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                               struct schema_index **out, struct err *err);
/* Returns, as schema_cache_get does, an index built without reading the columns of `names`, in addition to those that
 * the name's options deny. Each set of such columns has a separate index, which stays in this process. If the options
 * hide denied columns, `names` makes no difference. Copies the names. */
enum err_code schema_cache_get_denying(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                                       const char *const *names, uint32_t n, struct schema_index **out,
                                       struct err *err);
/* Makes the cache call `build` on a miss instead of schema_build. `build` is a second layer (worker/cache.h), which may
 * find the index elsewhere and otherwise calls schema_build. `ctx` must outlive the cache. `build` runs on the thread
 * of schema_cache_get, at most one call for each path at a time. Call before the first schema_cache_get. */
typedef enum err_code schema_build_fn(void *ctx, struct db *db, const char *db_name, const char *path,
                                      const struct schema_options *options, struct schema_index **out, struct err *err);
void schema_cache_build_with(struct schema_cache *cache, schema_build_fn *build, void *ctx);

struct schema_cache_stats {
    uint64_t hits, misses;   /* lookups served from the cache; other lookups, including outdated entries, which were
                              * built or loaded */
    uint64_t failures;       /* lookups that failed */
    uint64_t evicted;        /* indexes evicted for another one */
    uint64_t indexes, bytes; /* current */
};
/* Copies the counts. Thread: any. */
void schema_cache_get_stats(struct schema_cache *cache, struct schema_cache_stats *out);

/* Sets options for the database of that name instead of the cache's, and separates its index from those of other names
 * for the same file. Copies the options but not the data behind their pointers, which must outlive the cache. Call
 * before the first schema_cache_get. */
void schema_cache_options_for(struct schema_cache *cache, const char *db_name, const struct schema_options *options);

/* Returns the options of the index of that name. The cache owns them. Thread: any, after the last
 * schema_cache_options_for. */
const struct schema_options *schema_cache_options(const struct schema_cache *cache, const char *db_name);

/* Contents of a schema_json document. */
struct schema_json_options {
    bool values;                     /* sample values of the columns, most frequent first */
    const char *const *deny_columns; /* columns whose values are not shown */
    uint32_t n_deny_columns;
    uint32_t max_samples; /* for each column; 0 means 5 */
    size_t max_bytes;     /* of the document; 0 means 256 KiB. Tables, then joins, are left out when it is full */
    const struct schema_table *table; /* only this table and its joins; NULL means all */
    bool names;                       /* only names of tables, without columns and joins */
};

/* Writes the schema for authors of SQL, people or models, as compact JSON from malloc:
 *     {"db", "tables": [{"name", "view", "rows", "description"?, "columns": [{"name", "type", "key"?, "not_null"?,
 *      "unique"?, "denied"?, "full_name"?, "description"?, "value_description"?, "samples"?}]}],
 *      "joins": [{"from": {"table", "columns"}, "to": {...}, "declared"}], "left_out": {"tables", "joins"}}
 * `key` is the position in the primary key, from 1. Flags that are false are absent. Long texts are cut. Returns NULL
 * if memory is exhausted.
 */
char *schema_json(const struct schema_index *index, const struct schema_json_options *options);

/* Prints one entry of the section `keys` of words.yaml, without a newline (keys.c). */
void schema_print_key(const char *text, FILE *out);

/* Prints tables, columns, types, keys, joins and statistics for people, or as one JSON document. Values of the data
 * (top, min, max) require `values`. */
void schema_print(const struct schema_index *index, FILE *out, bool json, bool values);

#endif
