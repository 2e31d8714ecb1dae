/* The builders that the grammar's actions call. Every builder returns a node, never NULL. If the arena is full, it
 * returns the parser's spare node and sets p->full, and the parse ends with ERR_LIMIT_MEMORY. The action passes the
 * start of a node. The node ends at p->end, the end of the last token shifted, which is also the end of the rule being
 * reduced. */
#ifndef ASSAY_LIB_SQL_BUILD_H
#define ASSAY_LIB_SQL_BUILD_H

#include "lib/sql/parser.h"

/* An operator and the flags of its node, such as SQL_F_NOT, as the grammar passes them. */
struct sqlb_op {
    uint8_t op;
    uint32_t flags;
};

/* Makes a node whose slots are the `n` nodes of `kids`. NULL leaves a slot empty. */
struct sql_node *sqlb_node(struct sql_parser *p, enum sql_kind kind, uint32_t start, unsigned n,
                           struct sql_node *const *kids);
#define NODE(kind, start, ...)                                                                                         \
    sqlb_node(p, SQL_##kind, (start), sizeof((struct sql_node *[]){__VA_ARGS__}) / sizeof(struct sql_node *),          \
              (struct sql_node *[]){__VA_ARGS__})
#define LEAF(kind, start) sqlb_node(p, SQL_##kind, (start), 0, NULL)

/* Makes a list node. Its only entry is `first`; NULL makes an empty list. */
struct sql_node *sqlb_list(struct sql_parser *p, enum sql_kind kind, struct sql_node *first);
/* Appends an entry to a list. */
struct sql_node *sqlb_add(struct sql_parser *p, struct sql_node *list, struct sql_node *kid);
/* Moves the entries of `kids`, another list, to the end of `list`. */
struct sql_node *sqlb_add_all(struct sql_parser *p, struct sql_node *list, const struct sql_node *kids);
/* Changes the kind and the start of a list. */
struct sql_node *sqlb_as(struct sql_parser *p, struct sql_node *list, enum sql_kind kind, uint32_t start);

static inline struct sql_node *sqlb_flag(struct sql_node *node, uint32_t flags)
{
    node->flags |= flags;
    return node;
}

/* Returns one token that covers the text from `start` to the end of the rule. */
struct sql_token sqlb_span(const struct sql_parser *p, uint32_t start);
/* Set node->text: to a name without its quotes, or to a slice as written. */
struct sql_node *sqlb_named(struct sql_parser *p, struct sql_node *node, struct sql_token name);
struct sql_node *sqlb_worded(struct sql_parser *p, struct sql_node *node, struct sql_token slice);
/* Set node->text2: to a name without its quotes, or to a slice as written. sqlb_both_named sets node->text, too. */
struct sql_node *sqlb_qualified(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier);
struct sql_node *sqlb_both_named(struct sql_parser *p, struct sql_node *node, struct sql_token qualifier,
                                 struct sql_token name);
struct sql_node *sqlb_worded2(struct sql_parser *p, struct sql_node *node, struct sql_token slice);

/* Queries. */
struct sql_node *sqlb_query(struct sql_parser *p, struct sql_node *with, struct sql_node *body, struct sql_node *order,
                            struct sql_node *limit);
struct sql_node *sqlb_in_parens(struct sql_parser *p, struct sql_node *query, uint32_t start);
struct sql_node *sqlb_compound(struct sql_parser *p, struct sql_node *left, uint8_t op, struct sql_node *right);
/* Excludes the parentheses of a query from its span, and returns the query. The syntax of the node around it (DERIVED,
 * EXISTS, CTE) includes them. */
struct sql_node *sqlb_bare(struct sql_node *query);
struct sql_node *sqlb_subquery(struct sql_parser *p, struct sql_node *query);
struct sql_node *sqlb_in_query(struct sql_parser *p, struct sql_node *query);
/* Makes SELECT * FROM t from TABLE t. */
struct sql_node *sqlb_table_query(struct sql_parser *p, struct sql_token keyword, struct sql_node *table);
/* Adds the columns of a SEARCH or CYCLE clause to a CTE. */
struct sql_node *sqlb_cte_added(struct sql_parser *p, struct sql_node *cte, struct sql_node *names);
/* Makes a NAMES list from `n` tokens. */
struct sql_node *sqlb_names(struct sql_parser *p, unsigned n, const struct sql_token *names);
/* Makes an entry of the select list without alias: ITEM, or the STAR itself. */
struct sql_node *sqlb_item(struct sql_parser *p, struct sql_node *expr);

/* Sets the count and the flags of LIMIT from FETCH FIRST. Without a number the count is 1. */
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
/* Sets the column names of a table function, as in f(x) AS (a int, b text). */
struct sql_node *sqlb_columns(struct sql_parser *p, struct sql_node *table, struct sql_node *names);
struct sql_node *sqlb_using_alias(struct sql_parser *p, struct sql_node *using, struct sql_token name);
/* Stores a suffix of a table name, such as INDEXED BY i, NOT INDEXED or TABLESAMPLE ..., as written. */
struct sql_node *sqlb_table_suffix(struct sql_parser *p, struct sql_node *table, uint32_t start);
/* Makes the FROM_CALL of JSON_TABLE(x, path COLUMNS (...)), with the names of its columns. */
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
/* Sets the name of the CALL that sqlb_args has made. Plain ARGS are first wrapped in a CALL. */
struct sql_node *sqlb_call(struct sql_parser *p, struct sql_token name, struct sql_node *args);
/* Makes the CALL of GROUP_CONCAT. Its last argument is the separator. */
struct sql_node *sqlb_separated(struct sql_parser *p, struct sql_node *list, struct sql_token separator, uint32_t flags,
                                struct sql_node *order);
struct sql_node *sqlb_args(struct sql_parser *p, struct sql_node *list, uint32_t flags, struct sql_node *order);
struct sql_node *sqlb_call_add(struct sql_parser *p, struct sql_node *call, unsigned slot, struct sql_node *kid);
/* Appends an argument and the word after it to `args`, as in f(x FROM y FOR z). Each of `x`, `word` and `args` may be
 * NULL; a NULL `args` begins a new list. args->text becomes "? FROM ? FOR ?". */
struct sql_node *sqlb_word_arg(struct sql_parser *p, struct sql_node *args, struct sql_node *x,
                               const struct sql_token *word);
/* Makes the CALL of MATCH (a, b) AGAINST (x mode). Its last argument is x. The length of `mode` is 0 if there is no
 * mode. */
struct sql_node *sqlb_against(struct sql_parser *p, struct sql_token name, struct sql_node *columns, struct sql_node *x,
                              struct sql_token mode);
/* Makes a WINDOW from PARTITION BY `exprs` and the other parts of the window. */
struct sql_node *sqlb_partitioned(struct sql_parser *p, uint32_t start, struct sql_node *exprs, struct sql_node *order,
                                  struct sql_node *frame);
/* Makes an ERROR node of the tokens that recovery skipped. */
struct sql_node *sqlb_error(struct sql_parser *p, struct sql_token bad);
/* Makes a list whose only entry is the ERROR node of `bad`. */
struct sql_node *sqlb_broken(struct sql_parser *p, enum sql_kind kind, uint32_t start, struct sql_token bad);

#endif
