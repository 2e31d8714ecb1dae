/* Inside of the mutator: what an operator is and what it gets.
 *
 * An operator looks at one node of the bound original and says in how many ways it applies there; then it carries one
 * of them out on a fresh copy of the statement. The driver (mutate.c) copies, prints, parses, binds and drops what is
 * not sound, so an operator may be optimistic.
 */
#ifndef ASSAY_LIB_SQL_MUTATE_OPS_H
#define ASSAY_LIB_SQL_MUTATE_OPS_H

#include "lib/sql/mutate.h"

struct mutant {
    struct arena *arena; /* for the copy and all that is put into it */
    const struct sql_bound *bound;
    const struct sql_mutate_env *env;
    struct sql_node *root;
    struct sql_node **copy; /* by id of the original node */
    uint64_t draw;          /* random bits of this mutant */
};

struct mutate_op {
    const char *name, *what;
    /* Ways to apply at this node of the original; 0: none. */
    uint32_t (*ways)(const struct mutant *m, const struct sql_node *at);
    /* Apply way `way` (0-based) to the copy. Returns the touched node of the copy, or NULL if it does not work out. */
    struct sql_node *(*apply)(struct mutant *m, const struct sql_node *at, uint32_t way);
};

#define X(name, what)                                                                                                  \
    uint32_t mutate_##name##_ways(const struct mutant *m, const struct sql_node *at);                                  \
    struct sql_node *mutate_##name(struct mutant *m, const struct sql_node *at, uint32_t way);
SQL_MUTATORS(X)
#undef X

/* The copy of an original node; NULL stays NULL. */
static inline struct sql_node *mutate_copy(const struct mutant *m, const struct sql_node *original)
{
    return original ? m->copy[original->id] : NULL;
}

/* Building blocks; NULL when the arena is full (or, for values, when there is none). */
struct sql_node *mutate_column(struct mutant *m, const struct sql_source *source, int column);
struct sql_node *mutate_integer(struct mutant *m, long long value);
struct sql_node *mutate_comparison(struct mutant *m, enum sql_op op, struct sql_node *left, struct sql_node *right);
struct sql_node *mutate_value(struct mutant *m, int table, int column);
/* Write the source's name before a column; before all columns of the block's sources, so that one table more makes none
 * of them ambiguous. */
void mutate_set_qualifier(struct sql_node *column, const struct sql_source *source);
void mutate_qualify(struct mutant *m, const struct sql_block *block);
/* Take a condition out of the AND / OR chain it stands in, with the clause if nothing is left. Returns what it stood
 * in. */
struct sql_node *mutate_cut_condition(struct sql_node *condition);
/* A plain column of a table in FROM, or NULL. */
const struct sql_ref *mutate_base_column(const struct sql_node *n);
/* The column that a literal is compared with, or NULL. */
const struct sql_ref *mutate_column_beside(const struct sql_node *literal);
bool mutate_is_number(const struct sql_node *n); /* a literal of at most 17 digits */
bool mutate_is_string(const struct sql_node *n);
struct sql_node *mutate_set_text(struct mutant *m, struct sql_node *n, const char *text);
struct sql_node *mutate_put_string(struct mutant *m, const struct sql_node *at, const char *text, size_t len);
/* Another column of the same table where the base column `at` stands; NULL if it is the same one. */
struct sql_node *mutate_put_sibling(struct mutant *m, const struct sql_node *at, int column);
unsigned mutate_traits(const struct mutant *m, int table, int column);
/* A random column of the table with one of these traits, `except` apart; -1: there is none. */
int mutate_column_with(const struct mutant *m, int table, unsigned traits, int except, uint32_t salt);
/* The source joined to one more table by a key that touches it. Returns the new JOIN. */
struct sql_node *mutate_join_by(struct mutant *m, const struct sql_node *from, const struct sql_source *source,
                                const struct sql_mutate_key *key);
/* A FROM item for one more table: under its own name, or under T2, T3 ... where that is taken. */
bool mutate_new_source(struct mutant *m, struct sql_block *block, int table, struct sql_source *source);
/* Pick one of n by the mutant's random bits and a salt. */
uint32_t mutate_pick(const struct mutant *m, uint32_t salt, uint32_t n);
/* Number of columns of the source's base table; 0 if it is no table. */
int mutate_n_columns(const struct mutant *m, const struct sql_source *source);

#endif
