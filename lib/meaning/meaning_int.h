/* Internal to lib/meaning: the state of the reader, and the functions that its files share. */
#ifndef ASSAY_LIB_MEANING_MEANING_INT_H
#define ASSAY_LIB_MEANING_MEANING_INT_H

#include "lib/meaning/meaning.h"

/* How the columns of a source are read. One of `name`, `relation` and `terms` is set. */
struct meaning_binding {
    const struct sql_source *source;
    uint32_t scope;              /* depth of the relation that reads the source, from 1 */
    const char *name;            /* for a table: the name of its instance */
    struct meaning *relation;    /* for a relation that is not merged */
    const char *relation_name;   /* "q1" */
    struct meaning_term **terms; /* for a merged relation: its outputs */
    uint32_t n_terms;
    struct meaning_binding *next; /* older */
};

/* A query that is being read as a source. The list of these queries, from the inside out, detects recursive CTEs. */
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
    uint32_t depth; /* nesting of expressions and queries */
    uint32_t scope; /* nesting of relations */
    bool grouped;   /* the relation being read has GROUP BY, so each group has a row */
    bool as_value;  /* a condition is being read as a value, so NULL and false differ */
    bool failed;    /* the arena is full */
};

/* --- term.c --- */

/* Makes a term with `n` parts. The array of parts is copied; `name` is not. `node` sets the span; it may be NULL. */
struct meaning_term *meaning_term_make(struct meaning_reader *r, enum meaning_kind kind, const char *name,
                                       struct meaning_term *const *parts, uint32_t n, const struct sql_node *node);
/* Returns a copy of a term with the same parts. Terms may be shared, so change only copies. */
struct meaning_term *meaning_term_copy(struct meaning_reader *r, const struct meaning_term *term);
/* Makes a term of kind UNKNOWN with this reason. */
struct meaning_term *meaning_term_unknown(struct meaning_reader *r, const char *reason, const struct sql_node *node);
/* Computes the hash of a term from its fields and parts. Call it after a change of a field. */
void meaning_term_rehash(struct meaning_term *term);
/* Sorts terms by hash, and drops repeated ones if `unique`. Returns the number of terms left. */
uint32_t meaning_terms_sort(struct meaning_term **terms, uint32_t n, bool unique);
/* True if the term is an operation of this name. */
bool meaning_is_operation(const struct meaning_term *term, const char *name);
/* True if the term is a literal with this text. A NULL `text` matches any literal. */
bool meaning_is_value(const struct meaning_term *term, const char *text);
/* True if the term, a part of it or its condition has this kind. */
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
/* Reads a condition in normal form, or its negation if `negated`. */
struct meaning_term *meaning_read_condition(struct meaning_reader *r, const struct sql_node *node, bool negated);
/* Splits a condition into conjuncts, merges pairs of bounds into periods, and sorts the conjuncts. Returns their
 * number. *out is in the arena. */
uint32_t meaning_conjuncts(struct meaning_reader *r, struct meaning_term *condition, struct meaning_term ***out);
/* Joins conjuncts by AND. Returns NULL if there are none. */
struct meaning_term *meaning_from_conjuncts(struct meaning_reader *r, struct meaning_term **terms, uint32_t n);

/* --- period.c --- */

/* Reads a call or EXTRACT that takes a period of a date. Returns a term of kind PERIOD, or NULL for other calls. `args`
 * are the `n` arguments, already read. */
struct meaning_term *meaning_read_period(struct meaning_reader *r, const struct sql_node *node,
                                         struct meaning_term **args, uint32_t n);
/* Returns the condition `subject in PERIOD` for a comparison of a period or a date with a literal, or NULL. */
struct meaning_term *meaning_period_condition(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                              struct meaning_term *right);
/* Merges `low <= subject` and `subject < high` into one period. Returns NULL unless both bounds are dates. */
struct meaning_term *meaning_merge_bounds(struct meaning_reader *r, struct meaning_term *a, struct meaning_term *b);

/* --- expression.c --- */

/* Reads an expression. Never NULL; UNKNOWN if it cannot be read. */
struct meaning_term *meaning_read_term(struct meaning_reader *r, const struct sql_node *node);

/* --- measure.c --- */

/* Reads an aggregate call. */
struct meaning_term *meaning_read_measure(struct meaning_reader *r, const struct sql_node *call);
/* Reads a quotient or product as a ratio of measures. Returns NULL if it is not one. */
struct meaning_term *meaning_read_ratio(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                        struct meaning_term *right, const struct sql_node *node);

/* --- window.c --- */

/* Reads a call with OVER. */
struct meaning_term *meaning_read_window(struct meaning_reader *r, const struct sql_node *call);
/* Reads the keys of an ORDER. Returns their number. *out is in the arena. */
uint32_t meaning_read_order(struct meaning_reader *r, const struct sql_node *order, struct meaning_key **out);

/* --- relation.c --- */

/* Reads a QUERY node. Never NULL unless the arena is full. */
struct meaning *meaning_read_query(struct meaning_reader *r, const struct sql_node *query);
/* Reads a query for the condition that it has a row. If `x` is not NULL, the first output of the row must be equal to
 * `x`. */
struct meaning *meaning_read_match(struct meaning_reader *r, const struct sql_node *query, const struct sql_node *x);

/* --- join.c --- */

/* Brings the joins of a relation into normal form. Call it after its outputs and keys are read. A LEFT JOIN becomes an
 * inner join if a condition drops the rows without a match. It becomes NOT EXISTS if a condition drops the rows with a
 * match. */
void meaning_settle_joins(struct meaning_reader *r, struct meaning *m);

/* --- column.c --- */

/* Reads the column that a reference means. */
struct meaning_term *meaning_read_column(struct meaning_reader *r, const struct sql_node *node);
/* Reads column `index` of a source. `name` is the name of the column if the source is a table. */
struct meaning_term *meaning_read_source_column(struct meaning_reader *r, const struct sql_source *source, int index,
                                                const char *name, const struct sql_node *node);

/* --- hash.c --- */

/* Computes the hash of a relation from its parts. */
void meaning_rehash(struct meaning *m);

#endif
