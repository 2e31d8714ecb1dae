/* Internal to the mutator: the interface of an operator.
 *
 * An operator inspects one node of the bound original and returns the number of ways in which it applies there. It then
 * applies one of these ways to a fresh copy of the statement. The driver (mutate.c) copies the statement, prints,
 * parses and binds each result, and drops unsound ones. An operator may therefore try ways that fail. */
#ifndef ASSAY_LIB_SQL_MUTATE_OPS_H
#define ASSAY_LIB_SQL_MUTATE_OPS_H

#include "lib/sql/mutate.h"

struct mutant {
    struct arena *arena; /* for the copy and everything added to it */
    const struct sql_bound *bound;
    const struct sql_mutate_env *env;
    struct sql_node *root;
    struct sql_node **copy; /* the copies, by the id of the original node */
    uint64_t draw;          /* random bits of this mutant */
};

struct mutate_op {
    const char *name, *what;
    /* Returns the number of ways in which the operator applies at this node of the original. */
    uint32_t (*ways)(const struct mutant *m, const struct sql_node *at);
    /* Applies way `way` (0-based) to the copy. Returns the touched node of the copy, or NULL if the way fails. */
    struct sql_node *(*apply)(struct mutant *m, const struct sql_node *at, uint32_t way);
};

#define X(name, what)                                                                                                  \
    uint32_t mutate_##name##_ways(const struct mutant *m, const struct sql_node *at);                                  \
    struct sql_node *mutate_##name(struct mutant *m, const struct sql_node *at, uint32_t way);
SQL_MUTATORS(X)
#undef X

/* Returns the copy of an original node; NULL for NULL. */
static inline struct sql_node *mutate_copy(const struct mutant *m, const struct sql_node *original)
{
    return original ? m->copy[original->id] : NULL;
}

/* Make a node. They return NULL if the arena is full; mutate_value also if the column has no value. */
struct sql_node *mutate_column(struct mutant *m, const struct sql_source *source, int column);
struct sql_node *mutate_integer(struct mutant *m, long long value);
struct sql_node *mutate_comparison(struct mutant *m, enum sql_op op, struct sql_node *left, struct sql_node *right);
struct sql_node *mutate_value(struct mutant *m, int table, int column);
/* Qualify columns with the names of their sources. The columns then remain unambiguous if FROM gets another table.
 * mutate_qualify does so for every column of the block's sources. */
void mutate_set_qualifier(struct sql_node *column, const struct sql_source *source);
void mutate_qualify(struct mutant *m, const struct sql_block *block);
/* Removes a condition from its AND / OR chain. If it is the only condition of a WHERE, HAVING or ON, removes that
 * clause. Returns the node above the removed one, or NULL if the condition is elsewhere. */
struct sql_node *mutate_cut_condition(struct sql_node *condition);
/* Returns the ref of a plain column of a table in FROM, or NULL. */
const struct sql_ref *mutate_base_column(const struct sql_node *n);
/* Returns the column that a literal is compared with, or NULL. */
const struct sql_ref *mutate_column_beside(const struct sql_node *literal);
bool mutate_is_number(const struct sql_node *n); /* True for a number of at most 17 characters. */
bool mutate_is_string(const struct sql_node *n);
struct sql_node *mutate_set_text(struct mutant *m, struct sql_node *n, const char *text);
struct sql_node *mutate_put_string(struct mutant *m, const struct sql_node *at, const char *text, size_t len);
/* Replaces the base column `at` by another column of the same table. Returns NULL if both are the same column. */
struct sql_node *mutate_put_sibling(struct mutant *m, const struct sql_node *at, int column);
unsigned mutate_traits(const struct mutant *m, int table, int column);
/* Returns a random column of the table with one of these traits, other than `except`; -1 if there is none. */
int mutate_column_with(const struct mutant *m, int table, unsigned traits, int except, uint32_t salt);
/* Joins another table to the source by `key`, a key of either table. Returns the new JOIN. */
struct sql_node *mutate_join_by(struct mutant *m, const struct sql_node *from, const struct sql_source *source,
                                const struct sql_mutate_key *key);
/* Makes a FROM item for another table. Its name is that of the table, or T2, T3 ... if that name is used. */
bool mutate_new_source(struct mutant *m, struct sql_block *block, int table, struct sql_source *source);
/* Picks one of n by the mutant's random bits and a salt. */
uint32_t mutate_pick(const struct mutant *m, uint32_t salt, uint32_t n);
/* Returns the number of columns of the source's base table; 0 if the source is not a table. */
int mutate_n_columns(const struct mutant *m, const struct sql_source *source);

#endif
