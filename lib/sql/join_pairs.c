/* Finds the column pairs that join rows: `a.x = b.y` in ON and WHERE, USING, NATURAL, correlated conditions, IN (SELECT
 * y). */
#include "lib/sql/bind.h"

#include <string.h>

struct pairs {
    struct arena *arena;
    const struct sql_bound *bound;
    struct sql_join_pair *list;
    uint32_t n, cap;
    bool failed;
};

static void put(struct pairs *p, struct sql_join_pair pair)
{
    if (p->n == p->cap) {
        uint32_t cap = p->cap ? p->cap * 2 : 8;
        struct sql_join_pair *list = arena_new_array(p->arena, cap, struct sql_join_pair);
        if (!list) {
            p->failed = true;
            return;
        }
        if (p->n) memcpy(list, p->list, p->n * sizeof *list);
        p->list = list;
        p->cap = cap;
    }
    p->list[p->n++] = pair;
}

/* True if the condition must hold for every row that its clause keeps. */
static bool is_conjunct(const struct sql_node *n)
{
    for (n = n->parent; n; n = n->parent) {
        if (n->kind == SQL_WHERE || n->kind == SQL_ON) return true;
        if (n->kind != SQL_BINARY || n->op != SQL_OP_AND) return false;
    }
    return false;
}

static bool in_condition(const struct sql_node *n)
{
    enum sql_clause clause = sql_clause_of(n);
    return clause == SQL_CLAUSE_WHERE || clause == SQL_CLAUSE_FROM;
}

static void from_equality(struct pairs *p, const struct sql_node *n)
{
    const struct sql_ref *left = sql_plain_column(sql_kid(n, 0)), *right = sql_plain_column(sql_kid(n, 1));
    bool equality = n->op == SQL_OP_EQ || n->op == SQL_OP_IS || n->op == SQL_OP_IS_NOT_DISTINCT;
    if (!equality || !left || !right || !left->source || left->source == right->source || !right->source) return;
    if (!in_condition(n)) return;
    put(p,
        (struct sql_join_pair){
            .node = n, .left = left, .right = right, .block = sql_block_of(p->bound, n), .conjunct = is_conjunct(n)});
}

/* Adds the pairs of x IN (SELECT y ...) for one arm of the subquery. (a, b) IN (SELECT c, d) gives two pairs. */
static void from_in_arm(struct pairs *p, const struct sql_node *in, const struct sql_block *arm)
{
    const struct sql_node *x = sql_kid(in, IN_VALUE);
    uint32_t width = sql_is(x, SQL_ROW) ? x->n_kids : 1;
    for (uint32_t i = 0; i < width && i < arm->n_outputs; i++) {
        const struct sql_ref *left = sql_plain_column(width > 1 || sql_is(x, SQL_ROW) ? x->kids[i] : x);
        const struct sql_ref *right = sql_plain_column(arm->outputs[i].expr);
        if (!left || !right || !left->source || !right->source) continue;
        put(p, (struct sql_join_pair){.node = in,
                                      .left = left,
                                      .right = right,
                                      .block = sql_block_of(p->bound, in),
                                      .negated = (in->flags & SQL_F_NOT) != 0,
                                      .is_in = true,
                                      .conjunct = is_conjunct(in)});
    }
}

/* Visits all SELECTs that supply the query's rows. */
static void from_in_body(struct pairs *p, const struct sql_node *in, const struct sql_node *body)
{
    if (!body) return;
    if (body->kind == SQL_QUERY) {
        from_in_body(p, in, sql_kid(body, QUERY_BODY));
    } else if (body->kind == SQL_COMPOUND) {
        from_in_body(p, in, sql_kid(body, 0));
        from_in_body(p, in, sql_kid(body, 1));
    } else if (body->kind == SQL_SELECT) {
        const struct sql_block *arm = sql_block_of(p->bound, body);
        if (arm) from_in_arm(p, in, arm);
    }
}

static int column_of(const struct sql_bound *bound, const struct sql_source *s, const char *name, uint32_t len)
{
    if (s->kind == SQL_SOURCE_TABLE) return bound->catalog->find_column(bound->catalog->self, s->table, name, len);
    for (uint32_t i = 0; i < s->n_outputs; i++)
        if (s->outputs[i].name && sql_name_is(s->outputs[i].name, s->outputs[i].name_len, name, len)) return (int)i;
    return -1;
}

static struct sql_ref *make_ref(struct pairs *p, const struct sql_node *node, struct sql_source *s, int output)
{
    struct sql_ref *ref = arena_new(p->arena, struct sql_ref);
    if (!ref) {
        p->failed = true;
        return NULL;
    }
    *ref = (struct sql_ref){.kind = SQL_REF_COLUMN,
                            .node = node,
                            .source = s,
                            .output = output,
                            .table = -1,
                            .column = -1,
                            .block = s->block,
                            .clause = SQL_CLAUSE_FROM};
    if (s->kind == SQL_SOURCE_TABLE) {
        ref->table = s->table;
        ref->column = output;
    } else {
        ref->table = s->outputs[output].table;
        ref->column = s->outputs[output].column;
    }
    return ref;
}

/* Adds the pair of `right` and the leftmost source before it that has the shared name. */
static void from_shared_name(struct pairs *p, const struct sql_node *node, struct sql_source *right, const char *name,
                             uint32_t len)
{
    int at_right = column_of(p->bound, right, name, len);
    for (uint32_t i = 0; at_right >= 0 && i < right->index; i++) {
        struct sql_source *left = &right->block->sources[i];
        int at_left = column_of(p->bound, left, name, len);
        if (at_left < 0) continue;
        struct sql_ref *l = make_ref(p, node, left, at_left), *r = make_ref(p, node, right, at_right);
        if (l && r)
            put(p,
                (struct sql_join_pair){.node = node, .left = l, .right = r, .block = right->block, .conjunct = true});
        return;
    }
}

static void from_natural(struct pairs *p, struct sql_source *right)
{
    const struct sql_catalog *c = p->bound->catalog;
    uint32_t n = right->kind == SQL_SOURCE_TABLE ? (uint32_t)c->n_columns(c->self, right->table) : right->n_outputs;
    for (uint32_t i = 0; i < n; i++) {
        const char *name =
            right->kind == SQL_SOURCE_TABLE ? c->column_name(c->self, right->table, (int)i) : right->outputs[i].name;
        uint32_t len = right->kind == SQL_SOURCE_TABLE ? (uint32_t)strlen(name) : right->outputs[i].name_len;
        if (name) from_shared_name(p, right->join, right, name, len);
    }
}

static void from_source(struct pairs *p, struct sql_source *right)
{
    const struct sql_node *using = sql_kid(right->join, JOIN_USING);
    for (uint32_t i = 0; using && i < using->n_kids; i++)
        from_shared_name(p, using->kids[i], right, using->kids[i]->text, using->kids[i]->text_len);
    if (right->join && (right->join->flags & SQL_F_NATURAL)) from_natural(p, right);
}

int sql_join_pairs(struct arena *arena, const struct sql_bound *bound, struct sql_join_pair **out)
{
    struct pairs p = {.arena = arena, .bound = bound};
    for (uint32_t i = 0; i < bound->n_blocks; i++)
        for (uint32_t k = 0; k < bound->blocks[i]->n_sources; k++) from_source(&p, &bound->blocks[i]->sources[k]);
    const struct sql_node *root = bound->stmt->root;
    for (const struct sql_node *n = root; n && !p.failed; n = sql_walk(root, n)) {
        if (n->kind == SQL_BINARY) from_equality(&p, n);
        if (n->kind == SQL_IN && sql_is(sql_kid(n, IN_RIGHT), SQL_SUBQUERY) && in_condition(n))
            from_in_body(&p, n, sql_kid(n->kids[IN_RIGHT], 0));
    }
    *out = p.list;
    return p.failed ? -1 : (int)p.n;
}
