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
    uint64_t numeric_texts;             /* texts that are a whole number or decimal */
    uint64_t date_texts;                /* texts that look like a date or time */
    struct db_value min, max;           /* in the engine's order; texts cut to 256 bytes */
    double sum;                         /* sum of the numbers */
    const struct schema_top_value *top; /* most frequent first, at most 16 */
    uint32_t n_top;
    /* The cap was reached: counts are estimates, and `schema_values_with` may miss values of this column. */
    bool sampled;
};

/* The name of a source column, whose values another column shows. Its table may be missing from the index. */
struct schema_origin {
    const char *schema; /* NULL if the engine has no schemas, or if any schema is possible */
    const char *table;  /* NULL if any table is possible */
    const char *column; /* NULL if any column is possible */
};

struct schema_column {
    const char *name;
    const char *type; /* as declared, "" if none */
    enum schema_affinity affinity;
    const char *description;       /* from a description file: description of the column, or NULL */
    const char *value_description; /* from a description file: meaning of the column's values, or NULL */
    const char *full_name;         /* from a description file: name in plain words, or NULL */
    struct text_tokens words;      /* words of the name (and full_name), split, folded, stemmed */
    uint32_t id;                   /* dense over the database */
    uint32_t table, index;         /* table number, position in the table */
    bool not_null;                 /* declared NOT NULL, or INTEGER PRIMARY KEY */
    uint8_t pk;                    /* position in the primary key, from 1; 0 if the column is not part of it */
    /* True for a declared primary key or UNIQUE index of this column alone. Also true if `unique_measured`. */
    bool unique;
    bool folds;            /* the engine may compare texts as equal that differ in case, accents or trailing blanks */
    bool unique_measured;  /* not declared unique, but without repeats in the data (rows > 0) */
    const char *generated; /* expression of a generated column, "" if unknown; NULL if the column is not generated */
    /* For a generated column or a view's column: its source columns, through any number of views. For an inherited
     * column: the matching columns of other tables. */
    const struct schema_origin *origins;
    uint32_t n_origins;
    struct schema_stats stats;
};

struct schema_table {
    const char *name;   /* name in statements, unquoted: "orders", or "sales.orders" if it requires the schema */
    const char *bare;   /* the name without a schema */
    const char *schema; /* NULL if the engine has a single schema (SQLite) */
    const char *description;
    bool is_view;
    bool is_virtual;           /* true for a table of a module, such as full-text search */
    const char *const *hidden; /* columns that * does not return and that may show any part of the row */
    uint32_t n_hidden;
    const struct schema_origin *origins; /* for a view: all columns of all tables that it reads */
    uint32_t n_origins;
    /* False if the table could not be read or time ran out. The columns' stats are then empty and `sampled`. */
    bool scannable;
    uint64_t rows;
    struct schema_column *columns;
    uint32_t n_columns;
    uint32_t n_pk;
    struct text_tokens words;
};

/* A join edge: the columns of `from` reference those of `to`, pairwise. */
struct schema_join {
    uint32_t from_table, to_table;
    const uint32_t *from, *to; /* n_pairs column ids each */
    uint32_t n_pairs;
    bool declared;      /* declared by the database or in words.yaml; otherwise inferred from names and values */
    bool to_unique;     /* the referenced columns are a key */
    bool from_not_null; /* all referencing columns are NOT NULL, or hold no NULL */
    /* Share of the distinct non-NULL values of `from` that `to` holds. If not measured: 1 for a declared join, and
     * min_inclusion for a join inferred from names alone. */
    double inclusion;
};

/* A team's term from words.yaml (lib/schema/terms.c). */
struct schema_term {
    const char *term;         /* as the team wrote it: "churned customers" */
    struct text_tokens words; /* words of `term` */
    const char *meaning;      /* "customer.status = 'C'", a formula, or a column's name */
    uint32_t column;          /* id; UINT32_MAX if the term does not mean a single column */
};

struct schema_index {
    const char *db_name;
    char fingerprint[33];
    struct schema_table *tables;
    uint32_t n_tables;
    struct schema_column **columns; /* by column id */
    uint32_t n_columns;
    struct schema_join *joins;
    uint32_t n_joins;
    struct sql_catalog catalog; /* for sql_bind; uses the table and column numbers of this index */
    const char *const *notes;   /* anomalies: foreign keys without a target, unreadable tables */
    uint32_t n_notes;
    bool has_descriptions;
    /* Properties of the engine for callers without a handle (db_dialect in lib/db/db.h). */
    bool alias_is_row, quotes_names, divides_exactly;
    /* The schema was given without data: no table is scannable, no value is known, and every column is `sampled` with
     * counts of 0. Check this before you use a count or a value as a fact. */
    bool no_data;
    const struct schema_term *terms;
    uint32_t n_terms;
    uint64_t bytes; /* memory of the index */
    int64_t build_ns;
    /* private: value index, graph, arena, reference count */
    struct schema_private *priv;
};

struct schema_options {
    uint64_t max_bytes; /* memory of one index; default 256 MiB */
    /* Distinct values of a column in the value index; default 200,000. Above it the column is sampled. */
    uint64_t max_values;
    uint32_t max_value_bytes; /* longer texts are not indexed; default 200 */
    /* Rows that are read of a server's table, spread over it; default 1,000,000. A larger table is sampled. */
    uint64_t max_rows;
    bool no_inferred_joins;
    double min_inclusion; /* default 0.95 */
    /* Folder with words.yaml and <table>.csv in the format of BIRD's database_description. NULL selects the files
     * beside the database. */
    const char *descriptions_dir;
    /* Time for reading the rows of all tables and views; default 60,000. When it ends, the remaining tables are left
     * out or read in part, with a note. */
    int64_t time_ms;
    /* Columns that the build does not read ("table.column" or "column"), so the index does not depend on their
     * contents. A view or table whose rows depend on such a column is not read either. Must outlive the index. */
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    bool deny_hides; /* denied columns are read and counted, and none of their values is stored */
    bool keep_here;  /* the index must not be stored in a cache outside this process */
};

/* Builds an index from an open database. Reads each table in one pass, then each view. `path` may be NULL, which means
 * that no description files exist. The handle's limits and deadline do not apply, because other requests share the
 * index. Values of views are counted but not indexed. Release *out with schema_unref. Errors: those of db_scan,
 * ERR_LIMIT_MEMORY. */
enum err_code schema_build(struct db *db, const char *db_name, const char *path, const struct schema_options *options,
                           struct schema_index **out, struct err *err);
struct schema_index *schema_ref(struct schema_index *index);
void schema_unref(struct schema_index *index);

/* Finds a table by its `name`, or by its schema, a dot and its `bare` name. The first match wins. All schema_find_*
 * functions compare without case, and return -1 if there is no match. */
int schema_find_table(const struct schema_index *index, const char *name, size_t len);
/* Returns the quoted name for a FROM clause, with its schema if the name requires one. The text is in the arena.
 * Returns NULL if the arena is full.
 */
char *schema_quote_table(struct arena *arena, const struct schema_table *table);
/* True if the statement reads a table or view that has rows which the index did not read. */
bool schema_reads_unread(const struct schema_index *index, const struct sql_bound *bound);
int schema_find_column(const struct schema_index *index, int table, const char *name, size_t len);
/* Returns the column of a bound reference. Returns NULL for a computed or unknown column or a rowid. */
const struct schema_column *schema_column_of(const struct schema_index *index, const struct sql_ref *ref);

/* True if the column matches an entry of `names`, or if a source column of this generated column or view column does.
 * Entries are "schema.table.column", "table.column" of any schema, or "column", compared without case. In views and
 * virtual tables a match of the column name alone is enough, because they may show a table's column. Thread: any, for
 * this and all following functions. */
bool schema_column_is_denied(const struct schema_index *index, const struct schema_column *column,
                             const char *const *names, uint32_t n);
/* True if a column of this name may be denied, when only the name is known. */
bool schema_name_is_denied(const char *name, const char *const *names, uint32_t n);
/* Returns the column as an origin. The index owns the names. */
struct schema_origin schema_origin_of(const struct schema_index *index, const struct schema_column *column);
/* True if reading the table may evaluate a denied column: the table has such a column, or the view reads one at any
 * depth. */
bool schema_table_reaches_denied(const struct schema_index *index, const struct schema_table *table,
                                 const char *const *names, uint32_t n);
/* True if every statement that reads the table reads a denied column. This holds for a view or virtual table that may
 * evaluate a denied column. It also holds for a table whose primary key contains one, because rows may come in key
 * order. */
bool schema_table_is_denied(const struct schema_index *index, const struct schema_table *table,
                            const char *const *names, uint32_t n);
/* True if the reference can return a value of a denied column. Also true in uncertain cases: a star, a whole row, an
 * unresolved name. */
bool schema_ref_is_denied(const struct schema_index *index, const struct sql_ref *ref, const char *const *names,
                          uint32_t n);
/* True if the statement uses a denied column. Do not show values from such a statement. Also true if the statement did
 * not bind (NULL, or with diagnostics). False if `names` is empty. */
bool schema_uses_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                        uint32_t n);
/* True if the statement reads a denied column anywhere, so its rows, errors or times may depend on it. Such a statement
 * uses a denied column, or reads a table that is denied as a whole. Also true if the statement did not bind. False if
 * `names` is empty.
 */
bool schema_reads_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                         uint32_t n);
/* Argument of schema_gate_check, which is a gate for db_set_gate. The gate refuses with ERR_DENIED each statement that
 * reads a column of `names`, or that does not parse or bind. The caller owns the pointers. */
struct schema_gate {
    const struct schema_index *index;
    const char *const *names;
    uint32_t n;
};
enum err_code schema_gate_check(void *gate, const char *sql, size_t len, struct err *err);
/* True if the statement uses a denied column, or reads a table or view that holds one. The engine's error messages may
 * then quote values of this column. */
bool schema_reaches_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                           uint32_t n);

/* A column that holds a value. */
struct schema_hit {
    uint32_t column; /* id */
    bool exact; /* true for the same text; false for a text that is equal only after folding (case, spaces, accents) */
    const char *form; /* the text as stored */
    uint32_t count;   /* number of rows with the value; 0 if unknown */
};
/* Finds up to `max` columns that hold a literal's text, exact matches first. Numbers are given as text. Returns the
 * number of columns.
 */
uint32_t schema_values_with(const struct schema_index *index, const char *text, size_t len, struct schema_hit *out,
                            uint32_t max);
/* Returns 1 if the column holds the value, 0 if not, -1 if unknown (sampled, too long, blob). `exact` requires a value
 * that the engine compares as equal. That is the same text or, in a column with `folds`, an equal text after
 * folding. */
int schema_column_has(const struct schema_index *index, const struct schema_column *column, const char *text,
                      size_t len, bool exact);
/* Lists at most `max` stored values of a column that are nearest to the text, best first. Nearness is edit distance or
 * containment. The work is bounded. Returns the number of values. */
uint32_t schema_nearest_values(struct arena *arena, const struct schema_index *index,
                               const struct schema_column *column, const char *text, size_t len, const char **out,
                               uint32_t max);

/* Finds the smallest set of tables that connects `terminals`: exact for up to 10 terminals, otherwise at most twice the
 * minimum. Writes the set to tables[], which must have capacity for all tables. Returns their number, or 0 if the
 * terminals are not connected. */
uint32_t schema_steiner(const struct schema_index *index, const uint32_t *terminals, uint32_t n, uint32_t *tables,
                        bool *exact);
/* Returns the edge with this column pair (in either direction), declared or inferred. If there is none but both columns
 * reference the same key, sets *derived and returns an edge of column_a. Otherwise returns NULL. */
const struct schema_join *schema_join_between(const struct schema_index *index, uint32_t column_a, uint32_t column_b,
                                              bool *derived);
/* True if the column is on the referencing side of a declared foreign key. */
bool schema_is_foreign_key(const struct schema_index *index, uint32_t column);
/* True if the column is on the referencing side of a join, declared or inferred. */
bool schema_is_reference(const struct schema_index *index, uint32_t column);

/* In-process cache: concurrent lookups of one index build it once. The key is the path. If the name has options of its
 * own, the key is the name and the path. A changed fingerprint causes a rebuild; holders of the old index keep it.
 * schema_cache_get returns a reference. Failures are cached for at most 1 s. ERR_DEADLINE: the deadline of `db` passed,
 * possibly while another thread built the index. Thread: any. */
struct schema_cache;
struct schema_cache *schema_cache_new(const struct schema_options *options, uint64_t max_bytes);
void schema_cache_free(struct schema_cache *cache);
enum err_code schema_cache_get(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                               struct schema_index **out, struct err *err);
/* Returns an index, as schema_cache_get does, that is built without reading the columns of `names`. The columns that
 * the name's options deny are not read either. Each set of such columns has a separate index, which stays in this
 * process. If the options hide denied columns, `names` makes no difference. Copies the names. */
enum err_code schema_cache_get_denying(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                                       const char *const *names, uint32_t n, struct schema_index **out,
                                       struct err *err);
/* Makes the cache call `build` on a miss instead of schema_build. `build` is a second cache layer (worker/cache.h). It
 * may find the index elsewhere, and otherwise calls schema_build. `ctx` must outlive the cache. `build` runs on the
 * thread of schema_cache_get, at most one call for each path at a time. Call this before the first schema_cache_get. */
typedef enum err_code schema_build_fn(void *ctx, struct db *db, const char *db_name, const char *path,
                                      const struct schema_options *options, struct schema_index **out, struct err *err);
void schema_cache_build_with(struct schema_cache *cache, schema_build_fn *build, void *ctx);

struct schema_cache_stats {
    /* Lookups served from the cache; all other lookups, whose index was built or loaded because it was missing or
     * outdated. */
    uint64_t hits, misses;
    uint64_t failures;       /* lookups that failed */
    uint64_t evicted;        /* indexes evicted to free memory for another index */
    uint64_t indexes, bytes; /* current number and memory of the indexes */
};
/* Copies the counts. Thread: any. */
void schema_cache_get_stats(struct schema_cache *cache, struct schema_cache_stats *out);

/* Sets options for the database of that name instead of the cache's options. Its index is then separate from those of
 * other names for the same file. Copies the options but not the data behind their pointers, which must outlive the
 * cache. Call before the first schema_cache_get. */
void schema_cache_options_for(struct schema_cache *cache, const char *db_name, const struct schema_options *options);

/* Returns the options of the index of that name. The cache owns them. Thread: any, after the last
 * schema_cache_options_for. */
const struct schema_options *schema_cache_options(const struct schema_cache *cache, const char *db_name);

/* Selects the contents of a schema_json document. */
struct schema_json_options {
    bool values;                     /* true to show sample values of the columns, most frequent first */
    const char *const *deny_columns; /* columns whose values are not shown */
    uint32_t n_deny_columns;
    uint32_t max_samples; /* for each column; 0 means 5 */
    /* Maximum length of the document; 0 means 256 KiB. When it is reached, the remaining tables and joins are left
     * out. */
    size_t max_bytes;
    const struct schema_table *table; /* only this table and its joins; NULL means all tables */
    bool names;                       /* true to show only names of tables, without columns and joins */
};

/* Writes the schema as compact JSON, for people or models that write SQL. The caller frees the text with free.
 *
 *     {"db", "tables": [{"name", "view", "rows", "description"?, "columns": [{"name", "type", "key"?, "not_null"?,
 *      "unique"?, "denied"?, "full_name"?, "description"?, "value_description"?, "samples"?}]}],
 *      "joins": [{"from": {"table", "columns"}, "to": {...}, "declared"}], "left_out": {"tables", "joins"}}
 *
 * `key` is the position in the primary key, from 1. Flags that are false are absent. Long texts are cut. Returns NULL
 * if memory is exhausted.
 */
char *schema_json(const struct schema_index *index, const struct schema_json_options *options);

/* Prints a text as a quoted scalar of words.yaml (words_file.c). */
void schema_print_scalar(const char *text, size_t len, FILE *out);

/* Prints tables, columns, types, keys, joins and statistics as text for people, or as one JSON document. Prints values
 * of the data (top, min, max) only if `values` is true. */
void schema_print(const struct schema_index *index, FILE *out, bool json, bool values);

#endif
