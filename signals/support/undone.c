/* Finds outer joins whose unmatched rows are dropped again.
 *
 * NULL does not meet a condition of WHERE on the optional side, and it has no partner in an inner join with that side.
 * In both cases the query loses the rows that the outer join keeps. A probe compares the keys of the kept side with and
 * without the later condition or join. A condition that handles NULL on purpose (IS NULL, OR, COALESCE) is not
 * reported. */
#include "signals/support/undone.h"

#include "signals/support/predicate.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

static bool is_inner(const struct sql_node *join)
{
    return !join || join->op == SQL_JOIN_INNER || join->op == SQL_JOIN_CROSS;
}

static bool is_filling(const struct sql_node *call)
{
    static const struct {
        const char *name;
        size_t len;
    } NAMES[] = {{"coalesce", 8}, {"ifnull", 6}, {"nvl", 3}, {"isnull", 6}};
    if (!sql_is(call, SQL_CALL)) return false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (sql_name_is(call->text, call->text_len, NAMES[i].name, NAMES[i].len)) return true;
    return false;
}

/* True if the condition may be true when all columns are NULL, or is written for this case. */
static bool handles_null(const struct sql_node *condition)
{
    bool negated = false;
    if (vsig_is_null_test(condition, &negated)) return !negated;
    for (const struct sql_node *n = condition; n; n = sql_walk(condition, n)) {
        bool either = sql_is(n, SQL_BINARY) && n->op == SQL_OP_OR;
        if (either || vsig_is_null_test(n, &negated) || is_filling(n) || sql_is(n, SQL_CASE) || sql_is(n, SQL_SUBQUERY))
            return true;
    }
    return false;
}

/* True if the query drops rows on purpose. It may select the rows without a partner (an anti-join), have a HAVING
 * condition on the partners, or have a LIMIT. */
static bool is_meant(const struct vsig_block_shape *shape, vsig_sources optional)
{
    for (uint32_t i = 0; i < shape->n_conditions; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        if (condition->clause == SQL_CLAUSE_FROM || !(condition->sources & optional)) continue;
        if (condition->clause == SQL_CLAUSE_HAVING || handles_null(condition->node)) return true;
    }
    return sql_kid(shape->block->query, QUERY_LIMIT) != NULL;
}

static void look_at_items(const struct sql_block *block, vsig_sources optional, struct vsig_undone *undone)
{
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (const struct sql_node *n = items; n; n = sql_walk(items, n)) {
        if (!sql_is(n, SQL_CALL) || !(vsig_sources_in(block, n, NULL) & optional)) continue;
        const struct sql_node *args = sql_kid(n, CALL_ARGS);
        double number;
        undone->counts |= query_aggregate_of(n) == QUERY_COUNT || query_aggregate_of(n) == QUERY_SUM;
        undone->fills |= is_filling(n) && args->n_kids && query_literal_number(args->kids[args->n_kids - 1], &number);
    }
}

struct outer_join {
    struct vsig_subject *subject;
    const struct vsig_block_shape *shape;
    vsig_sources optional;         /* an optional FROM item and the optional items that are joined to it */
    const struct sql_node *join;   /* the outer join */
    const struct sql_ref *key;     /* the kept side's column in the join */
    const struct sql_node *filter; /* the first condition on the optional side; NULL if there is none */
    const struct sql_node *later;  /* the first later inner join with the optional side; NULL if there is none */
    bool strange;                  /* true if another later inner join may also drop rows */
};

/* Finds the conditions and inner joins after the outer join that may drop its rows. */
static void look_at_rest(struct outer_join *look)
{
    const struct sql_block *block = look->shape->block;
    for (uint32_t i = 0; i < look->shape->n_conditions; i++) {
        const struct vsig_condition *condition = &look->shape->conditions[i];
        bool on_optional = condition->clause == SQL_CLAUSE_WHERE && condition->sources & look->optional;
        if (on_optional && !look->filter) look->filter = condition->node;
    }
    for (uint32_t i = 0; i < look->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = look->shape->pairs[i];
        vsig_sources both = vsig_source_bit(block, pair->left->source) | vsig_source_bit(block, pair->right->source);
        const struct sql_node *join = sql_up(pair->node, SQL_JOIN);
        if (!join || !is_inner(join) || !pair->conjunct) continue;
        bool inside = false;
        for (const struct sql_node *n = join; n && !inside; n = n->parent) inside = n == look->join;
        if (inside) continue;
        if (both & look->optional && !(pair->left->source->nullable && pair->right->source->nullable)) {
            if (!look->later) look->later = pair->node;
        } else {
            look->strange = true;
        }
    }
}

/* Returns a probe for rows of `before` whose key is not in `after`. */
static const char *lost_rows(struct outer_join *look, const char *before, const char *after)
{
    struct vsig_subject *subject = look->subject;
    const struct schema_column *column = schema_column_of(subject->schema, look->key);
    const char *key = column ? vsig_probe_column(subject, look->key->source, column) : NULL;
    const char *with = vsig_probe_with(subject, NULL, NULL);
    if (!key || !with || !before || !after) return NULL;
    return arena_printf(subject->arena,
                        "%sSELECT 1 FROM (SELECT %s AS k %s) kept_rows WHERE k IS NOT NULL AND k NOT IN (SELECT %s %s) "
                        "LIMIT 1",
                        with, key, before, key, after);
}

/* Returns a FROM clause with the left side of the outer join, and the conditions of WHERE that use only this side. */
static const char *left_rows(struct outer_join *look)
{
    struct vsig_subject *subject = look->subject;
    const char *text = sql_print(subject->arena, sql_kid(look->join, JOIN_LEFT)), *word = "WHERE";
    vsig_sources left = 0;
    for (uint32_t i = 0; i < look->shape->block->n_sources; i++)
        for (const struct sql_node *n = look->shape->block->sources[i].node; n; n = n->parent)
            if (n == sql_kid(look->join, JOIN_LEFT))
                left |= vsig_source_bit(look->shape->block, &look->shape->block->sources[i]);
    if (text) text = arena_printf(subject->arena, "FROM %s", text);
    for (uint32_t i = 0; text && i < look->shape->n_conditions; i++) {
        const struct vsig_condition *condition = &look->shape->conditions[i];
        if (condition->clause != SQL_CLAUSE_WHERE || condition->sources & ~left) continue;
        const char *printed = sql_print(subject->arena, condition->node);
        text = printed ? arena_printf(subject->arena, "%s %s (%s)", text, word, printed) : NULL;
        word = "AND";
    }
    return text;
}

static enum err_code look_at_join(struct outer_join *look, struct vsig_undone *undone)
{
    enum err_code code = ERR_OK;
    const char *all = vsig_probe_rows(look->subject, look->shape, 0, NULL);
    look_at_rest(look);
    if (look->filter &&
        vsig_probe_proves(look->subject,
                          lost_rows(look, vsig_probe_rows(look->subject, look->shape, look->optional, NULL), all),
                          &code))
        undone->at = look->filter;
    else if (!code && look->later && !look->strange && look->join->op == SQL_JOIN_LEFT_OUTER &&
             vsig_probe_proves(look->subject, lost_rows(look, left_rows(look), all), &code))
        undone->at = look->later, undone->by_join = true;
    if (undone->at) undone->kept = look->key->source;
    return code;
}

/* Returns an optional FROM item and all optional items that joins connect to it. An item that is joined only to the
 * kept side is a lookup. A condition on a lookup restricts the kept rows on purpose. */
static vsig_sources chain_of(const struct vsig_block_shape *shape, const struct sql_source *optional)
{
    vsig_sources chain = vsig_source_bit(shape->block, optional), before = 0;
    while (chain != before) {
        before = chain;
        for (uint32_t i = 0; i < shape->n_pairs; i++) {
            const struct sql_source *left = shape->pairs[i]->left->source, *right = shape->pairs[i]->right->source;
            vsig_sources both = vsig_source_bit(shape->block, left) | vsig_source_bit(shape->block, right);
            if (both & chain && left->nullable && right->nullable) chain |= both;
        }
    }
    return chain;
}

/* Reads a pair of an outer join: the column of the kept side, and the optional side, which may have several rows for
 * each kept row. Returns false for any other pair. */
static bool read_outer(const struct vsig_subject *subject, const struct sql_join_pair *pair, struct outer_join *look)
{
    const struct sql_node *join = sql_up(pair->node, SQL_JOIN);
    const struct sql_ref *optional = pair->left->source->nullable ? pair->left : pair->right;
    const struct sql_ref *own = optional == pair->left ? pair->right : pair->left;
    const struct schema_column *column = schema_column_of(subject->schema, optional);
    bool outer = join && (join->op == SQL_JOIN_LEFT_OUTER || join->op == SQL_JOIN_RIGHT_OUTER);
    if (!outer || !optional->source->nullable || own->source->nullable || !column || column->unique) return false;
    look->join = join;
    look->key = own;
    look->optional = chain_of(look->shape, optional->source);
    return own->source->kind == SQL_SOURCE_TABLE && own->source->table >= 0;
}

/* True if only one FROM item of the statement reads the table. If several do, another join may add the lost rows
 * again. */
static bool is_read_once(const struct vsig_subject *subject, int table)
{
    uint32_t n = 0;
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++)
        for (uint32_t s = 0; s < subject->bound->blocks[b]->n_sources; s++)
            n += subject->bound->blocks[b]->sources[s].table == table;
    return n == 1;
}

static enum err_code look_at_block(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                                   struct vsig_undone *undone)
{
    const struct sql_block *block = shape->block;
    vsig_sources optional = 0;
    enum err_code code = ERR_OK;
    if (block->arm || block->correlated || !sql_is(block->node, SQL_SELECT)) return ERR_OK;
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].nullable) optional |= vsig_source_bit(block, &block->sources[i]);
    if (!optional || shape->too_large || is_meant(shape, optional)) return ERR_OK;
    for (uint32_t i = 0; i < shape->n_pairs && !code && !undone->at; i++) {
        struct outer_join look = {.subject = subject, .shape = shape};
        if (!read_outer(subject, shape->pairs[i], &look) || !is_read_once(subject, look.key->source->table)) continue;
        undone->counts = undone->fills = false;
        look_at_items(block, look.optional, undone);
        code = look_at_join(&look, undone);
    }
    return code;
}

enum err_code vsig_undone_look(struct vsig_subject *subject, struct vsig_undone *undone)
{
    const struct vsig_shape *shapes = vsig_shape(subject);
    enum err_code code = shapes ? ERR_OK : ERR_LIMIT_MEMORY;
    *undone = (struct vsig_undone){.at = NULL};
    if (!code && sql_kid(subject->stmt->root, QUERY_LIMIT)) return ERR_OK;
    for (uint32_t i = 0; i < subject->bound->n_blocks && !code && !undone->at; i++)
        code = look_at_block(subject, &shapes->blocks[i], undone);
    return code;
}
