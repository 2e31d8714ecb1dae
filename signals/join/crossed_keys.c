/* crossed_keys: a join by <> between a key and its reference combines each row with the rows of all other things.
 *
 * For "Who has never ordered", the condition customer.id <> orders.customer_id is true for each customer as soon as
 * another customer has ordered. It finds some row of another customer, not the absence of a row. Within one table
 * (pairs of things), such a condition is correct. */
#include "signals/support/logic.h"
#include "signals/support/names.h"

static bool equal_too(const struct sql_node *node)
{
    for (const struct sql_node *n = node->parent; n; n = n->parent)
        if (sql_is(n, SQL_UNARY) && n->op == SQL_OP_NOT) return true; /* as in NOT (a <> b) */
    return sql_clause_of(node) == SQL_CLAUSE_SELECT;
}

static enum err_code crossed_keys_eval(struct vsig_run *run)
{
    struct vsig_logic logic;
    vsig_logic_look(run->subject, &logic);
    if (!logic.crossed || equal_too(logic.crossed)) return ERR_OK;
    const struct schema_column *a = query_column(run->subject, sql_kid(logic.crossed, 0));
    const struct schema_column *b = query_column(run->subject, sql_kid(logic.crossed, 1));
    struct vsig_finding *finding = vsig_fire(
        run, VSIG_ERROR, logic.crossed,
        "a join on unequal keys pairs each row with all unrelated rows; it does not find rows without a match");
    vsig_add_fact(run, finding, "keys", false, "%s.%s, %s.%s", run->subject->schema->tables[a->table].name, a->name,
                  run->subject->schema->tables[b->table].name, b->name);
    return ERR_OK;
}

const struct vsig_def vsig_crossed_keys = {
    .id = VSIG_ID_crossed_keys,
    .name = "crossed_keys",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "tables are joined on unequal keys, so each row is paired with all unrelated rows",
    .description = "The join compares a key and its reference with `<>`. Nearly every pair of rows satisfies that "
                   "condition. The join does not find the rows without a match.",
    .example =
        "Which singers were in no concert? - SELECT name FROM singer JOIN singer_in_concert ON singer.singer_id <> "
        "singer_in_concert.singer_id",
    .instruction = "To find rows without a match, use `NOT IN (SELECT ...)`, NOT EXISTS, or a LEFT JOIN with IS NULL.",
    .eval = crossed_keys_eval,
};
