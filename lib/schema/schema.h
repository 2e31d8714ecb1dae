/* The schema index of one database: what it holds, how its tables join, and where each value occurs.
 *
 * Built once per fingerprint, then read-only: any number of threads may read one index. Hold a reference while reading.
 * Column ids are dense over the whole database (`schema_column.id`), so that sets of columns are small bitmaps.
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
    uint64_t rows, nulls, distinct;     /* distinct non-NULL values; exact unless sampled */
    uint64_t ints, reals, texts, blobs; /* type mix of the non-NULL values */
    uint64_t zeros;                     /* numeric zeros */
    uint64_t numeric_texts;             /* texts that read as a whole number or decimal */
    uint64_t date_texts;                /* texts that look like a date or time */
    struct db_value min, max;           /* by the engine's order; texts cut to 256 bytes */
    double sum;                         /* of numbers */
    const struct schema_top_value *top; /* most frequent first, at most 16 */
    uint32_t n_top;
    bool sampled; /* the cap was met: counts are estimates, and `schema_values_with` may miss values of this column */
};

/* A column that another one shows something of, by name: its table may be one that the index does not hold. */
struct schema_origin {
    const char *schema; /* NULL: the engine has none, or any */
    const char *table;  /* NULL: any */
    const char *column; /* NULL: any */
};

struct schema_column {
    const char *name;
    const char *type; /* as declared, "" if none */
    enum schema_affinity affinity;
    const char *description;       /* sidecar: column description, or NULL */
    const char *value_description; /* sidecar: what its values mean, or NULL */
    const char *full_name;         /* sidecar: name in plain words, or NULL */
    struct text_tokens words;      /* of the name (and full_name), split, folded, stemmed */
    uint32_t id;                   /* dense over the database */
    uint32_t table, index;         /* table number, position in the table */
    bool not_null;                 /* declared NOT NULL, or INTEGER PRIMARY KEY */
    uint8_t pk;                    /* position in the primary key from 1; 0: not part of it */
    bool unique;           /* alone a primary key or under a UNIQUE index; or measured so when `unique_measured` */
    bool folds;            /* its texts may be equal to the engine that differ in case, accents or trailing blanks */
    bool unique_measured;  /* no repeats in the data (rows > 0), not declared */
    const char *generated; /* the expression it is computed by, "" if that is not known; NULL: it is not generated */
    const struct schema_origin *origins; /* of a generated column, or one of a view: what it is computed from, through
                                            any number of views; also what it inherits */
    uint32_t n_origins;
    struct schema_stats stats;
};

struct schema_table {
    const char *name;   /* as a statement reaches it, unquoted: "orders", or "sales.orders" where it takes the schema */
    const char *bare;   /* the same without a schema */
    const char *schema; /* the schema it is in; NULL: the engine has no others (SQLite) */
    const char *description;
    bool is_view;
    bool is_virtual;           /* of a module: full-text search */
    const char *const *hidden; /* columns that no star brings, through which any of the row may be reached */
    uint32_t n_hidden;
    const struct schema_origin *origins; /* of a view: all columns of all tables that it reads */
    uint32_t n_origins;
    bool scannable; /* false: it could not be read, or the time was over. Its columns' stats are empty and `sampled` */
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
    bool declared;      /* else inferred from names and values */
    bool to_unique;     /* the referenced columns are a key */
    bool from_not_null; /* all referencing columns are NOT NULL, or hold no NULL */
    double inclusion; /* share of distinct non-NULL from-values found in to (measured; if not, 1 of a declared one, and
                      min_inclusion of one that is inferred from names alone) */
};

/* A word of the team's own, of words.yaml (lib/schema/terms.c). */
struct schema_term {
    const char *term;         /* as written: "churned customers" */
    struct text_tokens words; /* of it */
    const char *meaning;      /* "customer.status = 'C'", a formula, or a column's name */
    uint32_t column;          /* id; UINT32_MAX: of none alone */
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
    struct sql_catalog catalog; /* for sql_bind; table and column numbers are this index's */
    const char *const *notes;   /* oddities met: foreign keys to nowhere, tables that could not be read */
    uint32_t n_notes;
    bool has_descriptions;
    /* Of the engine, for who has no handle (db_dialect in lib/db/db.h). */
    bool alias_is_row, quotes_names, divides_exactly;
    bool no_data; /* of a schema alone: no table is scannable, every column is `sampled` with counts of 0, and no value
                     is known. Whoever takes a count or a value for a fact asks this first */
    const struct schema_term *terms;
    uint32_t n_terms;
    uint64_t bytes; /* memory held */
    int64_t build_ns;
    /* private: value index, graph, arena, reference count */
    struct schema_private *priv;
};

struct schema_options {
    uint64_t max_bytes;       /* 256 MiB: memory of one index */
    uint64_t max_values;      /* 200,000 distinct values a column in the value index; past it: sampled */
    uint32_t max_value_bytes; /* 200: longer texts are not indexed */
    uint64_t max_rows;        /* 1,000,000 rows read of a table on a server, spread over it; past it: sampled */
    bool no_inferred_joins;
    double min_inclusion; /* 0.95 */
    const char *
        descriptions_dir; /* folder with <table>.csv as BIRD's database_description, and words.yaml; NULL: look beside the database */
    int64_t
        time_ms; /* 60,000: for reading the rows of all tables and views. What it does not suffice for is left out or
                        read in part, with a note */
    /* Columns that the build does not read ("table.column" or "column"), so that the index is the same whatever they
     * hold. A view or table whose rows depend on one is not read either. Must outlive the index. */
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    bool deny_hides; /* denied columns are counted, and none of their values kept */
    bool keep_here;  /* the index stays in the process that built it: no cache beyond may have it */
};

/* Build from an open database. One pass a table, then one a view. `path` may be NULL (no sidecar). The handle's limits and deadline are
 * set aside meanwhile: an index is shared work that outlives one request. Values of views are counted but not indexed.
 * On success the caller owes schema_unref. Errors: those of db_scan, ERR_LIMIT_MEMORY. */
enum err_code schema_build(struct db *db, const char *db_name, const char *path, const struct schema_options *options,
                           struct schema_index **out, struct err *err);
struct schema_index *schema_ref(struct schema_index *index);
void schema_unref(struct schema_index *index);

/* Lookups: -1 / NULL when there is none; names without case. A table is found by what its `name` is, and also with its
 * schema and a dot before the `bare` name; the first wins. */
int schema_find_table(const struct schema_index *index, const char *name, size_t len);
/* Its name in a FROM clause: quoted, after its schema where it takes one. Arena text; NULL when full. */
char *schema_quote_table(struct arena *arena, const struct schema_table *table);
/* True if the statement reads a table or view whose rows the index did not read, although there are some to read. */
bool schema_reads_unread(const struct schema_index *index, const struct sql_bound *bound);
int schema_find_column(const struct schema_index *index, int table, const char *name, size_t len);
/* The column that a bound reference means, or NULL (computed, unknown, rowid). */
const struct schema_column *schema_column_of(const struct schema_index *index, const struct sql_ref *ref);

/* Is the column one of these ("schema.table.column", "table.column" of whatever schema, or "column"; names without
 * case), or does it show something of one (a generated column, a view's)? Of a view and a virtual table the name alone
 * counts as well: it may show a table's column. Thread: any, as all that follow. */
bool schema_column_is_denied(const struct schema_index *index, const struct schema_column *column,
                             const char *const *names, uint32_t n);
/* The same where no more than the name of a column is known. */
bool schema_name_is_denied(const char *name, const char *const *names, uint32_t n);
/* What a column is called where it is an origin. Names are the index's. */
struct schema_origin schema_origin_of(const struct schema_index *index, const struct schema_column *column);
/* May reading the table compute with a denied column: has it one, or does the view read one anywhere? */
bool schema_table_reaches_denied(const struct schema_index *index, const struct schema_table *table,
                                 const char *const *names, uint32_t n);
/* True if a statement that reads any of the table reads a denied column: a view or a virtual table that reaches one, or a
 * table whose primary key holds one, since rows may come in the order of the key. */
bool schema_table_is_denied(const struct schema_index *index, const struct schema_table *table,
                            const char *const *names, uint32_t n);
/* Can this reference give a value of a denied column? What is not known to be harmless can: a star, a whole row, what
 * did not resolve. */
bool schema_ref_is_denied(const struct schema_index *index, const struct sql_ref *ref, const char *const *names,
                          uint32_t n);
/* Does a statement use a denied column, so that none of its values may be shown? What did not bind (NULL, or with
 * diagnostics) does. False where nothing is denied. */
bool schema_uses_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                        uint32_t n);
/* True if the statement reads a denied column in any place, so that its rows, errors or times may depend on one: it uses
 * one, or reads a table that is denied as a whole. What did not bind does. False where nothing is denied. */
bool schema_reads_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                         uint32_t n);
/* A gate for db_set_gate. Refuses with ERR_DENIED each statement that reads a column of `names`, and each that does not
 * parse or bind. The caller owns what it points to. */
struct schema_gate {
    const struct schema_index *index;
    const char *const *names;
    uint32_t n;
};
enum err_code schema_gate_check(void *gate, const char *sql, size_t len, struct err *err);
/* Is a denied column within reach: does the statement use one, or read a table or view that holds one? What the engine
 * says of an error may quote it then. */
bool schema_reaches_denied(const struct schema_index *index, const struct sql_bound *bound, const char *const *names,
                           uint32_t n);

/* Columns that hold a value. */
struct schema_hit {
    uint32_t column;  /* id */
    bool exact;       /* holds the very same text; else equal after folding (case, spaces, accents) */
    const char *form; /* the stored form */
    uint32_t count;   /* rows, 0 if not known */
};
/* Up to `max` hits of a literal's text (numbers in text form), exact ones first. Count. */
uint32_t schema_values_with(const struct schema_index *index, const char *text, size_t len, struct schema_hit *out,
                            uint32_t max);
/* Does that column hold the value? 1 yes, 0 no, -1 not known (sampled, too long, blob). `exact` asks for what the engine
 * takes for the same: the same text, or, of a column that folds, one that is equal after folding. */
int schema_column_has(const struct schema_index *index, const struct schema_column *column, const char *text,
                      size_t len, bool exact);
/* The nearest stored values of a column (edit distance, containment), best first, at most `max`; bounded work. Count.
 */
uint32_t schema_nearest_values(struct arena *arena, const struct schema_index *index,
                               const struct schema_column *column, const char *text, size_t len, const char **out,
                               uint32_t max);

/* Join graph. Shortest set of tables that connects `terminals`: exact to 10 terminals, else a 2-approximation. Fills
 * tables[] (room for n_tables) and returns their number; 0: not connected. */
uint32_t schema_steiner(const struct schema_index *index, const uint32_t *terminals, uint32_t n, uint32_t *tables,
                        bool *exact);
/* The edge that has this column pair (either direction), declared or inferred; NULL if none. `derived` is set when
 * instead both columns reference the same key. */
const struct schema_join *schema_join_between(const struct schema_index *index, uint32_t column_a, uint32_t column_b,
                                              bool *derived);
/* Does the column stand in any declared foreign key, on the referencing side? */
bool schema_is_foreign_key(const struct schema_index *index, uint32_t column);

/* In-process cache with single flight, keyed by path (by name and path where the name has options of its own); a
 * changed fingerprint leads to a rebuild while old readers keep theirs. `get` returns a reference. Failures are not
 * cached beyond 1 s. ERR_DEADLINE: that of `db`, also while another thread builds the index. Thread: any. */
struct schema_cache;
struct schema_cache *schema_cache_new(const struct schema_options *options, uint64_t max_bytes);
void schema_cache_free(struct schema_cache *cache);
enum err_code schema_cache_get(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                               struct schema_index **out, struct err *err);
/* Returns as schema_cache_get an index that is built without reading the columns of `names` either, beside those that the
 * options of the name deny. Each set of such columns has an index of its own, which stays in this process. Where the
 * options hide denied columns, `names` makes no difference to the index. The names are copied. */
enum err_code schema_cache_get_denying(struct schema_cache *cache, struct db *db, const char *db_name, const char *path,
                                       const char *const *names, uint32_t n, struct schema_index **out,
                                       struct err *err);
/* Have the cache ask `build` for what it lacks, instead of schema_build: a further layer behind it (worker/cache.h),
 * which may find the index elsewhere and calls schema_build if not. `ctx` must outlive the cache. `build` is called on
 * the thread of schema_cache_get, by at most one thread a path. Before the first schema_cache_get. */
typedef enum err_code schema_build_fn(void *ctx, struct db *db, const char *db_name, const char *path,
                                      const struct schema_options *options, struct schema_index **out, struct err *err);
void schema_cache_build_with(struct schema_cache *cache, schema_build_fn *build, void *ctx);

struct schema_cache_stats {
    uint64_t hits, misses;   /* asked for and here; and not here, or of an old state: built, or found behind */
    uint64_t failures;       /* could not be had */
    uint64_t evicted;        /* made room for another */
    uint64_t indexes, bytes; /* here now */
};
/* Thread: any. */
void schema_cache_get_stats(struct schema_cache *cache, struct schema_cache_stats *out);

/* Use these options for the database of that name instead of the cache's, and keep its index apart from those of other
 * names for the same file. Copied, but for what they point to, which must outlive the cache. Before the first
 * schema_cache_get. */
void schema_cache_options_for(struct schema_cache *cache, const char *db_name, const struct schema_options *options);

/* Those with which the index of that name is built; the cache's. Thread: any, after the last schema_cache_options_for. */
const struct schema_options *schema_cache_options(const struct schema_cache *cache, const char *db_name);

/* What a document of schema_json holds. */
struct schema_json_options {
    bool values;                     /* sample values of the columns, most frequent first */
    const char *const *deny_columns; /* of these none are shown */
    uint32_t n_deny_columns;
    uint32_t max_samples; /* of a column; 0: 5 */
    size_t max_bytes;     /* of the document; 0: 256 KiB. Tables, then joins, are left out where it is full */
    const struct schema_table *table; /* only this one and its joins; NULL: all */
    bool names;                       /* of tables alone, without columns and joins */
};

/* The schema for whoever is to write or read SQL on it, as compact JSON from malloc:
 *   {"db", "tables": [{"name", "view", "rows", "description"?, "columns": [{"name", "type", "key"?, "not_null"?, "unique"?,
 *    "denied"?, "full_name"?, "description"?, "value_description"?, "samples"?}]}], "joins": [{"from": {"table", "columns"},
 *    "to": {...}, "declared"}], "left_out": {"tables", "joins"}}
 * `key` is the position in the primary key, from 1; marks that do not hold are not there. Long texts are cut. NULL: no
 * memory. */
char *schema_json(const struct schema_index *index, const struct schema_json_options *options);

/* Print tables, columns, types, keys, joins and statistics for a person, or as one JSON document. Values of the data
 * (top, min, max) only with `values`. */
void schema_print(const struct schema_index *index, FILE *out, bool json, bool values);

#endif
