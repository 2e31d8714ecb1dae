/* The builders that the grammar's actions call. Every builder returns a node, never NULL. If the arena is full, it
 * returns the parser's spare node and sets p->full, and the parse ends with ERR_LIMIT_MEMORY. The action gives the
 * start of a node. The node ends at p->end, the end of the last token shifted, which is the end of the rule being
 * reduced. */
#ifndef ASSAY_LIB_SQL_BUILD_H
#define ASSAY_LIB_SQL_BUILD_H

#include "lib/sql/parser.h"

/* An operator as the grammar passes it: which one, and whether NOT preceded it. */
struct sqlb_op {
    uint8_t op;
    uint32_t flags;
};

/* Makes a node with its slots filled from `kids` (n of them; NULL is absent). */
struct sql_node *sqlb_node(struct sql_parser *p, enum sql_kind kind, uint32_t start, unsigned n,
                           struct sql_node *const *kids);
#define NODE(kind, start, ...)                                                                                         \
    sqlb_node(p, SQL_##kind, (start), sizeof((struct sql_node *[]){__VA_ARGS__}) / sizeof(struct sql_node *),          \
              (struct sql_node *[]){__VA_ARGS__})
#define LEAF(kind, start) sqlb_node(p, SQL_##kind, (start), 0, NULL)

/* Make a list node around its first entry (NULL for an empty list); append an entry; rename a list, from `start`. */
struct sql_node *sqlb_list(struct sql_parser *p, enum sql_kind kind, struct sql_node *first);
struct sql_node *sqlb_add(struct sql_parser *p, struct sql_node *list, struct sql_node *kid);
/* Moves the children of another list to the end of `list`. */
struct sql_node *sqlb_add_all(struct sql_parser *p, struct sql_node *list, const struct sql_node *kids);
struct sql_node *sqlb_as(struct sql_parser *p, struct sql_node *list, enum sql_kind kind, uint32_t start);

static inline struct sql_node *sqlb_flag(struct sql_node *node, uint32_t flags)
{
    node->flags |= flags;
    return node;
}

/* Joins the tokens from `start` to the end of the rule into one. */
struct sql_token sqlb_span(const struct sql_parser *p, uint32_t start);
/* Set node->text to the identifier or quoted name, or to the slice as written. */
struct sql_node *sqlb_named(struct sql_parser *p, struct sql_node *node, struct sql_token name);
struct sql_node *sqlb_worded(struct sql_parser *p, struct sql_node *node, struct sql_token slice);
/* Set the qualifier (text2) in the same ways. */
struct sql_node *sqlb_qualified(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier);
struct sql_node *sqlb_both_named(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier,
                                 struct sql_token name);
struct sql_node *sqlb_worded2(struct sql_parser *p, struct sql_node *node, struct sql_token slice);

/* Queries. */
struct sql_node *sqlb_query(struct sql_parser *p, struct sql_node *with, struct sql_node *body, struct sql_node *order,
                            struct sql_node *limit);
struct sql_node *sqlb_in_parens(struct sql_parser *p, struct sql_node *query, uint32_t start);
struct sql_node *sqlb_compound(struct sql_parser *p, struct sql_node *left, uint8_t op, struct sql_node *right);
/* Returns the query inside its parentheses, for the nodes whose own syntax has them (DERIVED, EXISTS, CTE). */
struct sql_node *sqlb_bare(struct sql_node *query);
struct sql_node *sqlb_subquery(struct sql_parser *p, struct sql_node *query);
struct sql_node *sqlb_in_query(struct sql_parser *p, struct sql_node *query);
/* Makes SELECT * FROM t from TABLE t. */
struct sql_node *sqlb_table_query(struct sql_parser *p, struct sql_token keyword, struct sql_node *table);
/* Adds to a CTE the columns of one more SEARCH or CYCLE clause; makes NAMES of these tokens. */
struct sql_node *sqlb_cte_added(struct sql_parser *p, struct sql_node *cte, struct sql_node *names);
struct sql_node *sqlb_names(struct sql_parser *p, unsigned n, const struct sql_token *names);
/* Makes an entry of the select list without alias: ITEM, or the STAR itself. */
struct sql_node *sqlb_item(struct sql_parser *p, struct sql_node *expr);

/* Unwraps the count of FETCH FIRST. */
void sqlb_fetch(struct sql_parser *p, struct sql_node *limit, struct sql_node *fetch);

/* FROM. */
struct sqlb_op sqlb_join_op(struct sql_parser *p, unsigned n, const struct sql_token *words);
struct sql_node *sqlb_join(struct sql_parser *p, struct sql_node *left, struct sqlb_op op, struct sql_node *right);
/* Adds ON or USING to the innermost join that has neither. */
struct sql_node *sqlb_join_on(struct sql_parser *p, struct sql_node *joined, struct sql_node *clause);
struct sql_node *sqlb_comma(struct sql_parser *p, struct sql_node *tables, struct sql_node *joined);
struct sql_node *sqlb_from(struct sql_parser *p, struct sql_node *tables, uint32_t start);
struct sql_node *sqlb_from_paren(struct sql_parser *p, struct sql_node *tables, uint32_t start);
struct sql_node *sqlb_alias(struct sql_parser *p, struct sql_node *table, struct sql_token name, bool as,
                            struct sql_node *names);
/* f(x) AS (a int, b text) */
struct sql_node *sqlb_columns(struct sql_parser *p, struct sql_node *table, struct sql_node *names);
struct sql_node *sqlb_using_alias(struct sql_parser *p, struct sql_node *using, struct sql_token name);
/* Stores INDEXED BY i, NOT INDEXED, TABLESAMPLE ... as written. */
struct sql_node *sqlb_table_suffix(struct sql_parser *p, struct sql_node *table, uint32_t start);
/* JSON_TABLE(x, path COLUMNS (...)): a FROM_CALL with the names of its columns. */
struct sql_node *sqlb_json_table(struct sql_parser *p, struct sql_token name, struct sql_node *x, struct sql_node *path,
                                 struct sql_node *columns);

/* Expressions. */
struct sql_node *sqlb_paren(struct sql_parser *p, struct sql_node *expr, uint32_t start);
struct sql_node *sqlb_column(struct sql_parser *p, unsigned n, const struct sql_token *names);
struct sql_node *sqlb_literal(struct sql_parser *p, struct sql_token token);
struct sql_node *sqlb_param(struct sql_parser *p, struct sql_token token);
struct sql_node *sqlb_unary(struct sql_parser *p, uint32_t start, enum sql_op op, struct sql_node *x);
struct sql_node *sqlb_prefix(struct sql_parser *p, struct sql_token op, struct sql_node *x);
struct sql_node *sqlb_binary(struct sql_parser *p, struct sql_node *left, struct sql_token op, struct sql_node *right);
struct sql_node *sqlb_is(struct sql_parser *p, struct sql_node *left, enum sql_op op, struct sql_node *right);
struct sqlb_op sqlb_like_op(const struct sql_parser *p, struct sql_token word, uint32_t flags);
struct sql_node *sqlb_like(struct sql_parser *p, struct sql_node *value, struct sqlb_op op, struct sql_node *pattern,
                           struct sql_node *escape);
struct sql_node *sqlb_quantified(struct sql_parser *p, struct sql_node *left, struct sqlb_op op, struct sql_token which,
                                 struct sql_node *right);
struct sqlb_op sqlb_op_of(const struct sql_parser *p, struct sql_token token);
struct sql_node *sqlb_case(struct sql_parser *p, uint32_t start, struct sql_node *operand, struct sql_node *whens,
                           struct sql_node *otherwise);
/* Sets the name of a CALL that sqlb_args has begun, or wraps plain ARGS in a CALL. */
struct sql_node *sqlb_call(struct sql_parser *p, struct sql_token name, struct sql_node *args);
/* Makes GROUP_CONCAT's arguments, with the separator as the last. */
struct sql_node *sqlb_separated(struct sql_parser *p, struct sql_node *list, struct sql_token separator, uint32_t flags,
                                struct sql_node *order);
struct sql_node *sqlb_args(struct sql_parser *p, struct sql_node *list, uint32_t flags, struct sql_node *order);
struct sql_node *sqlb_call_add(struct sql_parser *p, struct sql_node *call, unsigned slot, struct sql_node *kid);
/* Appends an argument and the word after it to `args`, as in f(x FROM y FOR z). Each of `x`, `word` and `args` may be
 * NULL; a NULL `args` begins a new list. args->text becomes "? FROM ? FOR ?". */
struct sql_node *sqlb_word_arg(struct sql_parser *p, struct sql_node *args, struct sql_node *x,
                               const struct sql_token *word);
/* MATCH (a, b) AGAINST (x mode): a call whose last argument is x. A mode of length 0 is absent. */
struct sql_node *sqlb_against(struct sql_parser *p, struct sql_token name, struct sql_node *columns, struct sql_node *x,
                              struct sql_token mode);
/* Adds PARTITION BY ... to the other parts of a window. */
struct sql_node *sqlb_partitioned(struct sql_parser *p, uint32_t start, struct sql_node *exprs, struct sql_node *order,
                                  struct sql_node *frame);
/* Makes an ERROR node of the tokens that recovery skipped. */
struct sql_node *sqlb_error(struct sql_parser *p, struct sql_token bad);
/* Makes a list whose only entry is the ERROR node of `bad`. */
struct sql_node *sqlb_broken(struct sql_parser *p, enum sql_kind kind, uint32_t start, struct sql_token bad);

#endif
