/* Narrates queries inside expressions by their number. In the prose, the simplest queries are written out in place. */
#include "lib/explain/expr.h"

/* Returns the SELECT of an inner query if the query has only one table, one block and at most a simple WHERE. Otherwise
 * returns NULL. */
static const struct sql_node *simple_select(const struct narrator *t, const struct sql_node *query)
{
    const struct sql_node *select = query->kids[QUERY_BODY];
    if (query->kids[QUERY_WITH] || query->kids[QUERY_ORDER] || query->kids[QUERY_LIMIT] || select->kind != SQL_SELECT)
        return NULL;
    const struct sql_block *block = sql_block_of(t->source->bound, select);
    if (!block || block->n_sources != 1 || block->sources[0].kind != SQL_SOURCE_TABLE) return NULL;
    if (select->kids[SELECT_DISTINCT] || select->kids[SELECT_GROUP] || select->kids[SELECT_HAVING] ||
        select->kids[SELECT_WINDOWS])
        return NULL;
    for (const struct sql_node *n = select; n; n = sql_walk(select, n))
        if (n->kind == SQL_QUERY) return NULL;
    return select;
}

static void say_rows_in_place(struct narrator *t, struct say *out, const struct sql_node *select,
                              void (*say_rows)(struct narrator *t, struct say *out, const struct sql_source *source))
{
    const struct sql_source *source = &sql_block_of(t->source->bound, select)->sources[0];
    const struct sql_node *where = select->kids[SELECT_WHERE];
    say_rows(t, out, source);
    if (!where) return;
    say(out, " where ");
    say_expr(t, out, where->kids[0]);
}

/* Writes a simple query in place: "the largest value of the capacity of all vessels". Returns false and writes nothing
 * if the query is too complex. */
static bool say_in_place(struct narrator *t, struct say *out, const struct sql_node *query, uint32_t number)
{
    const struct sql_node *select = out->prose ? simple_select(t, query) : NULL;
    if (!select || number >= NARRATE_MAX_QUERIES) return false;
    const struct sql_node *items = select->kids[SELECT_ITEMS];
    if (items->n_kids != 1 || items->kids[0]->kind != SQL_ITEM) return false;
    const struct sql_node *item = items->kids[0]->kids[0];
    if (!sql_is_aggregate(item) && !sql_plain_column(item)) return false;
    if (sql_is(item, SQL_CALL) && narrate_counts_rows(item) && !item->kids[CALL_FILTER]) {
        say(out, "the number of ");
    } else {
        say_expr(t, out, item);
        say(out, " of ");
    }
    if (!select->kids[SELECT_WHERE]) say(out, "all ");
    say_rows_in_place(t, out, select, say_source_plural);
    t->queries[number].in_place = true;
    return true;
}

/* Writes "there is a sailing where ..." in the prose of a simple query. Otherwise writes "query 1 gives at least one
 * row". */
static void say_existence(struct narrator *t, struct say *out, const struct sql_node *query, const char *there_is,
                          void (*say_rows)(struct narrator *t, struct say *out, const struct sql_source *source),
                          const char *gives)
{
    uint32_t number = narrate_query_number(t, query, NULL, NARRATE_EXISTS);
    const struct sql_node *select = out->prose && number < NARRATE_MAX_QUERIES ? simple_select(t, query) : NULL;
    if (!select || sql_block_of(t->source->bound, select)->aggregate) {
        say_query(out, number);
        say(out, gives);
        return;
    }
    say(out, there_is);
    say_rows_in_place(t, out, select, say_rows);
    t->queries[number].in_place = true;
}

void say_values_of(struct narrator *t, struct say *out, const struct sql_node *query)
{
    uint32_t number = narrate_query_number(t, query, NULL, NARRATE_IN);
    say(out, "the values of ");
    if (!say_in_place(t, out, query, number)) say_query(out, number);
}

void say_exists(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_existence(t, out, n->kids[0], "there is ", say_a_source, " gives at least one row");
}

void say_not_exists(struct narrator *t, struct say *out, const struct sql_node *n)
{
    say_existence(t, out, n->kids[0], "there is no ", say_source, " gives no row");
}

void say_quantified(struct narrator *t, struct say *out, const struct sql_node *n)
{
    const struct sql_node *right = n->kids[1];
    say_operand(t, out, n->kids[0], CONDITION);
    say_operator(t, out, n);
    say(out, n->flags & SQL_F_ALL ? "every value of " : "at least one value of ");
    if (sql_is(right, SQL_SUBQUERY))
        say_query(out, narrate_query_number(t, right->kids[0], NULL, NARRATE_COMPARED));
    else
        say_operand(t, out, right, CONDITION);
}

void say_subquery(struct narrator *t, struct say *out, const struct sql_node *n)
{
    uint32_t number = narrate_query_number(t, n->kids[0], NULL, NARRATE_VALUE);
    if (say_in_place(t, out, n->kids[0], number)) return;
    say(out, "the value of ");
    say_query(out, number);
}
