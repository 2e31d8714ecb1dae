/* The reader of meanings and its terms, as the files of this room share them. */
#ifndef ASSAY_LIB_MEANING_MEANING_INT_H
#define ASSAY_LIB_MEANING_MEANING_INT_H

#include "lib/meaning/meaning.h"

/* How the columns of a source are read. One of `name`, `relation` and `terms` is set. */
struct meaning_binding {
    const struct sql_source *source;
    uint32_t scope;              /* the relation that reads the source: its depth, from 1 */
    const char *name;            /* a table: its instance */
    struct meaning *relation;    /* a relation that stays one */
    const char *relation_name;   /* "q1" */
    struct meaning_term **terms; /* a merged relation: its outputs */
    uint32_t n_terms;
    struct meaning_binding *next; /* older */
};

/* A query that is being read as a source, and the one around it. */
struct meaning_reading {
    const struct sql_block *block;
    const struct meaning_reading *outer;
};

struct meaning_reader {
    const struct meaning_reading *reading;
    struct arena *arena;
    const struct sql_bound *bound;
    struct meaning_binding *bindings; /* newest first */
    uint32_t n_terms, n_unknown;
    uint32_t depth; /* of expressions and queries */
    uint32_t scope; /* of relations */
    bool grouped;   /* each group of the relation that is read has a row */
    bool as_value;  /* a condition is read as a value: NULL and false differ */
    bool failed;    /* the arena is full */
};

/* --- term.c --- */

/* Makes a term from `node` (may be NULL) with `n` parts, which are copied. `name` lives on. */
struct meaning_term *meaning_term_make(struct meaning_reader *r, enum meaning_kind kind, const char *name,
                                       struct meaning_term *const *parts, uint32_t n, const struct sql_node *node);
/* Copies a term, whose parts stay the same. Terms may be shared: change a copy. */
struct meaning_term *meaning_term_copy(struct meaning_reader *r, const struct meaning_term *term);
/* Makes a term of kind UNKNOWN with this reason. */
struct meaning_term *meaning_term_unknown(struct meaning_reader *r, const char *reason, const struct sql_node *node);
/* Computes the hash of a term from its fields and parts. Call it after a change of a field. */
void meaning_term_rehash(struct meaning_term *term);
/* Sorts terms by hash and drops equal ones if `unique`. Returns how many are left. */
uint32_t meaning_terms_sort(struct meaning_term **terms, uint32_t n, bool unique);
/* True if the term is an operation of this name. */
bool meaning_is_operation(const struct meaning_term *term, const char *name);
/* True if the term is a literal; `text` NULL: any. */
bool meaning_is_value(const struct meaning_term *term, const char *text);
/* True if `of` occurs in `term`. */
bool meaning_term_has_kind(const struct meaning_term *term, enum meaning_kind kind);
uint64_t meaning_mix(uint64_t a, uint64_t b);
uint64_t meaning_hash_text(const char *text);
/* Returns the text in lower case; NULL if the arena is full. */
const char *meaning_lower(struct meaning_reader *r, const char *text, size_t len);

/* --- condition.c --- */

/* Joins two conditions by AND or OR in normal form; either may be NULL. */
struct meaning_term *meaning_join_terms(struct meaning_reader *r, const char *name, struct meaning_term *a,
                                        struct meaning_term *b);
/* Makes a comparison in normal form. */
struct meaning_term *meaning_compare_terms(struct meaning_reader *r, const char *name, struct meaning_term *left,
                                           struct meaning_term *right, const struct sql_node *node);
/* Reads a condition in normal form; `negated`: its negation. */
struct meaning_term *meaning_read_condition(struct meaning_reader *r, const struct sql_node *node, bool negated);
/* Splits a condition into conjuncts, merges the bounds of a period, sorts. Returns the number; *out in the arena. */
uint32_t meaning_conjuncts(struct meaning_reader *r, struct meaning_term *condition, struct meaning_term ***out);
/* Puts conjuncts together again; NULL for none. */
struct meaning_term *meaning_from_conjuncts(struct meaning_reader *r, struct meaning_term **terms, uint32_t n);

/* --- period.c --- */

/* Reads a call or EXTRACT that takes a period of a date: a term of kind PERIOD, or NULL. `args`: read already. */
struct meaning_term *meaning_read_period(struct meaning_reader *r, const struct sql_node *node,
                                         struct meaning_term **args, uint32_t n);
/* Returns the condition `subject in PERIOD` for a comparison of a period or a date with a literal, or NULL. */
struct meaning_term *meaning_period_condition(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                              struct meaning_term *right);
/* Merges `low <= subject` and `subject < high` into one period, if both bounds are dates; else NULL. */
struct meaning_term *meaning_merge_bounds(struct meaning_reader *r, struct meaning_term *a, struct meaning_term *b);

/* --- expression.c --- */

/* Reads an expression. Never NULL; UNKNOWN if it cannot be read. */
struct meaning_term *meaning_read_term(struct meaning_reader *r, const struct sql_node *node);

/* --- measure.c --- */

/* Reads an aggregate call. */
struct meaning_term *meaning_read_measure(struct meaning_reader *r, const struct sql_node *call);
/* Reads a quotient as a ratio of measures; NULL if it is none. */
struct meaning_term *meaning_read_ratio(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                        struct meaning_term *right, const struct sql_node *node);

/* --- window.c --- */

/* Reads a call with OVER. */
struct meaning_term *meaning_read_window(struct meaning_reader *r, const struct sql_node *call);
/* Reads the keys of an ORDER. Returns the number; *out in the arena. */
uint32_t meaning_read_order(struct meaning_reader *r, const struct sql_node *order, struct meaning_key **out);

/* --- relation.c --- */

/* Reads a QUERY node. Never NULL unless the arena is full. */
struct meaning *meaning_read_query(struct meaning_reader *r, const struct sql_node *query);
/* Reads a query as the condition that it has a row, in which its first output is equal to `x`; `x` NULL: any row. */
struct meaning *meaning_read_match(struct meaning_reader *r, const struct sql_node *query, const struct sql_node *x);

/* --- join.c --- */

/* Brings the joins of a relation into normal form, once its outputs and keys are read. A LEFT JOIN that a condition
 * undoes becomes an inner join. One whose matches are dropped becomes NOT EXISTS. */
void meaning_settle_joins(struct meaning_reader *r, struct meaning *m);

/* --- column.c --- */

/* Reads the column that a reference means. */
struct meaning_term *meaning_read_column(struct meaning_reader *r, const struct sql_node *node);
/* Reads column `index` of a source; `name` is that of a table's column. */
struct meaning_term *meaning_read_source_column(struct meaning_reader *r, const struct sql_source *source, int index,
                                                const char *name, const struct sql_node *node);

/* --- hash.c --- */

/* Computes the hash of a relation from its parts. */
void meaning_rehash(struct meaning *m);

#endif
