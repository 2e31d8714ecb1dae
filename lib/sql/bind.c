/* Binding: walks over the statement, makes its blocks, sources and outputs, and resolves every name.
 *
 * DESIGN. One recursive walk visits the clauses in the order in which SQLite resolves them. FROM comes first, then the
 * select list, then join conditions, HAVING and WHERE, then GROUP BY, WINDOW and ORDER BY. The clauses after the select
 * list see its aliases. GROUP BY, WINDOW and ORDER BY see no enclosing block. CTE bodies are bound at their WITH, each
 * once; a CTE is bound earlier if an earlier one names it. Set operations are bound arm by arm. Their ORDER BY is
 * matched against the arms' outputs, not looked up in a scope.
 *
 * Diagnostics do not stop the walk: an unresolved name gets a ref of kind UNKNOWN, and the walk continues. */
#include "lib/sql/bind_walk.h"
#include "lib/sql/precedence.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- blocks ---- */

static struct sql_block *new_block(struct binder *b, const struct sql_node *node, const struct sql_node *query,
                                   const struct way_in *way)
{
    struct sql_bound *bound = b->bound;
    struct sql_block *block = arena_new(b->arena, struct sql_block);
    if (block && bound->n_blocks == b->cap_blocks) {
        uint32_t cap = b->cap_blocks ? b->cap_blocks * 2 : 8;
        struct sql_block **blocks = arena_new_array(b->arena, cap, struct sql_block *);
        if (blocks && bound->n_blocks) memcpy(blocks, bound->blocks, bound->n_blocks * sizeof(struct sql_block *));
        bound->blocks = blocks;
        b->cap_blocks = cap;
    }
    if (!block || !bound->blocks) {
        scope_fail(b, ERR_LIMIT_MEMORY);
        return NULL;
    }
    block->node = node;
    block->query = query;
    block->parent = way->parent;
    block->role = way->role;
    block->arm = way->arm;
    block->right_arm_of_except = way->except_right;
    block->index = bound->n_blocks;
    bound->blocks[bound->n_blocks++] = block;
    if (node->id < bound->stmt->n_nodes) bound->block_of[node->id] = block;
    return block;
}

/* ---- expressions ---- */

static enum sql_block_role role_of(const struct sql_node *n)
{
    const struct sql_node *p = n->parent;
    if (n->kind == SQL_EXISTS) return SQL_BLOCK_EXISTS;
    if (sql_is(p, SQL_IN) && sql_kid(p, IN_RIGHT) == n) return SQL_BLOCK_IN;
    if (sql_is(p, SQL_QUANTIFIED) && sql_kid(p, 1) == n) return SQL_BLOCK_QUANTIFIED;
    return SQL_BLOCK_SCALAR;
}

static bool bind_subquery(struct binder *b, const struct sql_node *query, struct scope *scope, enum sql_block_role role)
{
    struct scope_rows rows;
    enum sql_clause clause = b->clause;
    const struct sql_node *aggregate = b->aggregate;
    b->aggregate = NULL;
    bool ok = bind_query(b, query, (struct way_in){.role = role, .parent = scope->block, .outer = scope}, &rows);
    b->clause = clause;
    b->aggregate = aggregate;
    return ok;
}

/* Binds the table of SQLite's `x IN t`: a source that is in no block's FROM. */
static bool bind_in_table(struct binder *b, struct sql_node *t, struct scope *scope)
{
    struct sql_source *source = arena_new(b->arena, struct sql_source);
    if (!source) return scope_fail(b, ERR_LIMIT_MEMORY);
    *source = (struct sql_source){.node = t, .table = -1, .block = scope->block};
    return bind_table_source(b, source, scope);
}

/* Assigns an aggregate to the block of the innermost column that it reads. An aggregate without columns belongs to its
 * own block. */
static void note_aggregate(struct binder *b, struct scope *scope, uint32_t first_ref)
{
    if (!scope->block) return;
    struct sql_block *owner = NULL;
    uint32_t nearest = UINT32_MAX;
    for (uint32_t i = first_ref; i < b->bound->n_refs; i++) {
        const struct sql_ref *ref = b->bound->refs[i];
        bool reads = ref->kind == SQL_REF_COLUMN || ref->kind == SQL_REF_ROW;
        if (!reads || ref->block != scope->block || ref->levels >= nearest) continue;
        nearest = ref->levels;
        owner = ref->source->block;
    }
    if (!owner) owner = scope->block;
    bool counts = b->clause == SQL_CLAUSE_SELECT || b->clause == SQL_CLAUSE_HAVING || b->clause == SQL_CLAUSE_ORDER;
    if (counts || owner != scope->block) owner->aggregate = true;
}

static bool bind_kids(struct binder *b, struct sql_node *n, struct scope *scope)
{
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (!bind_expr(b, n->kids[i], scope)) return false;
    return true;
}

static bool bind_call(struct binder *b, struct sql_node *call, struct scope *scope)
{
    if (!sql_is_aggregate(call)) return bind_kids(b, call, scope);
    const struct sql_node *around = b->aggregate;
    uint32_t first_ref = b->bound->n_refs;
    b->aggregate = call;
    bool ok = bind_kids(b, call, scope);
    b->aggregate = around;
    if (ok) note_aggregate(b, scope, first_ref);
    return ok;
}

static bool bind_window(struct binder *b, struct sql_node *window, struct scope *scope)
{
    enum sql_clause clause = b->clause;
    b->clause = SQL_CLAUSE_WINDOW;
    bool ok = bind_kids(b, window, scope);
    b->clause = clause;
    return ok;
}

static bool is_row_name(const struct sql_node *n)
{
    return sql_is(n, SQL_COLUMN) && !n->text2;
}

bool bind_expr(struct binder *b, struct sql_node *n, struct scope *scope)
{
    if (!n) return true;
    switch (n->kind) {
    case SQL_COLUMN: return bind_column(b, n, scope, scope->block);
    case SQL_STAR: return bind_row(b, n, scope);
    case SQL_FIELD:
        if (is_row_name(sql_kid(n, 0))) return bind_row(b, sql_kid(n, 0), scope);
        return bind_kids(b, n, scope);
    case SQL_TABLE: return bind_in_table(b, n, scope);
    case SQL_EXISTS:
    case SQL_SUBQUERY: return bind_subquery(b, sql_kid(n, 0), scope, role_of(n));
    case SQL_QUERY: return bind_subquery(b, n, scope, SQL_BLOCK_SCALAR);
    case SQL_WINDOW: return bind_window(b, n, scope);
    case SQL_CALL: return bind_call(b, n, scope);
    default: return bind_kids(b, n, scope);
    }
}

static bool bind_clause(struct binder *b, enum sql_clause clause, struct sql_node *n, struct scope *scope)
{
    b->clause = clause;
    return bind_expr(b, n, scope);
}

/* ---- ORDER BY and LIMIT ---- */

/* Binds ORDER BY of one block. A bare alias takes precedence over a column of the same name. */
static bool bind_order(struct binder *b, const struct sql_node *order, struct scope *scope)
{
    b->clause = SQL_CLAUSE_ORDER;
    for (uint32_t i = 0; order && i < order->n_kids; i++) {
        struct sql_node *expr = sql_kid(order->kids[i], 0);
        while (sql_is(expr, SQL_COLLATE)) expr = sql_kid(expr, 0);
        const struct sql_node *item =
            sql_is(expr, SQL_COLUMN) && !expr->text2 ? scope_alias(scope, expr->text, expr->text_len) : NULL;
        if (!item) {
            if (!bind_expr(b, order->kids[i], scope)) return false;
            continue;
        }
        struct sql_ref *ref = bind_ref_new(b, expr, scope->block);
        if (!ref) return false;
        bind_to_alias(ref, scope, item);
    }
    return true;
}

static bool bind_limit(struct binder *b, struct sql_node *limit, struct sql_block *block)
{
    struct scope nothing = {.block = NULL}; /* LIMIT sees no columns at all */
    b->clause = SQL_CLAUSE_LIMIT;
    uint32_t first = b->bound->n_refs;
    bool ok = bind_expr(b, limit, &nothing);
    for (uint32_t i = first; i < b->bound->n_refs; i++)
        if (!b->bound->refs[i]->block) b->bound->refs[i]->block = block;
    return ok;
}

/* True if two bound expressions are the same. Columns are compared by their refs, everything else by spelling. */
static bool same_expression(const struct sql_node *x, const struct sql_node *y)
{
    if (!x || !y) return x == y;
    if (x->kind == SQL_COLUMN && y->kind == SQL_COLUMN && x->ref && y->ref && x->ref->source)
        return x->ref->source == y->ref->source && x->ref->output == y->ref->output && x->ref->kind == y->ref->kind;
    if (x->kind != y->kind || x->n_kids != y->n_kids || x->op != y->op) return false;
    if (x->n_kids == 0) return sql_equal(x, y);
    if ((x->flags ^ y->flags) & (SQL_F_NOT | SQL_F_DISTINCT | SQL_F_STAR)) return false;
    if (x->text_len != y->text_len || (x->text_len && strncasecmp(x->text, y->text, x->text_len) != 0)) return false;
    for (uint32_t i = 0; i < x->n_kids; i++)
        if (!same_expression(x->kids[i], y->kids[i])) return false;
    return true;
}

static bool all_bound(const struct sql_node *expr)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n))
        if (n->kind == SQL_COLUMN && (!n->ref || n->ref->kind == SQL_REF_UNKNOWN || n->ref->kind == SQL_REF_AMBIGUOUS))
            return false;
    return true;
}

/* True if the term is an output of this arm: an alias, or the same expression as an item. */
static bool matches_arm(struct binder *b, struct sql_node *expr, struct sql_block *arm)
{
    struct scope scope = {.block = arm};
    const struct sql_node *item =
        expr->kind == SQL_COLUMN && !expr->text2 ? scope_alias(&scope, expr->text, expr->text_len) : NULL;
    if (item) {
        struct sql_ref *ref = bind_ref_new(b, expr, arm);
        if (ref) bind_to_alias(ref, &scope, item);
        return true;
    }
    b->muted++;
    bool bound = bind_expr(b, expr, &scope);
    b->muted--;
    if (!bound || !all_bound(expr)) return false;
    for (uint32_t i = 0; i < arm->n_outputs; i++) {
        const struct sql_output *output = &arm->outputs[i];
        if (output->expr && same_expression(output->expr, expr)) return true;
        if (!output->expr && expr->kind == SQL_COLUMN && output->name &&
            sql_name_is(output->name, output->name_len, expr->text, expr->text_len))
            return true;
    }
    return false;
}

/* Binds ORDER BY of a set operation. Each term must be an output of an arm; arms are tried from the left. Arms are the
 * blocks from `first` on that belong to the query. */
static bool bind_compound_order(struct binder *b, const struct sql_node *query, struct sql_block *first)
{
    const struct sql_node *order = sql_kid(query, QUERY_ORDER);
    b->clause = SQL_CLAUSE_ORDER;
    for (uint32_t i = 0; order && i < order->n_kids; i++) {
        struct sql_node *expr = sql_kid(order->kids[i], 0);
        while (sql_is(expr, SQL_COLLATE)) expr = sql_kid(expr, 0);
        if (!expr || expr->kind == SQL_LITERAL) continue;
        bool found = false;
        for (uint32_t k = first->index; k < b->bound->n_blocks && !found && b->failed == ERR_OK; k++) {
            struct sql_block *arm = b->bound->blocks[k];
            if (arm->parent == first->parent && arm->query == first->query) found = matches_arm(b, expr, arm);
        }
        if (!found)
            scope_report(b, ERR_UNKNOWN_NAME, expr, "the ORDER BY term is not a column of the set operation's result");
    }
    return b->failed == ERR_OK;
}

/* ---- queries ---- */

/* Publishes the columns of a CTE when its first arm is bound, because a recursive arm needs them. */
static bool publish(struct binder *b, struct scope_cte *cte, struct scope_rows rows)
{
    if (!cte || cte->published) return true;
    if (!bind_rename(b, &rows, sql_kid(cte->node, CTE_NAMES))) return false;
    cte->rows = rows;
    cte->published = true;
    return true;
}

static bool bind_select(struct binder *b, struct sql_node *select, const struct sql_node *query, struct way_in way,
                        struct scope_rows *rows)
{
    struct sql_block *block = new_block(b, select, query, &way);
    if (!block) return false;
    struct scope scope = {.block = block, .outer = way.outer};
    block->grouped = sql_kid(select, SELECT_GROUP) != NULL;
    b->clause = SQL_CLAUSE_FROM;
    if (!bind_from(b, sql_kid(select, SELECT_FROM), &scope)) return false;
    b->clause = SQL_CLAUSE_SELECT;
    if (!bind_items(b, sql_kid(select, SELECT_ITEMS), &scope)) return false;

    scope.aliases = true;
    if (!bind_expr(b, sql_kid(select, SELECT_DISTINCT), &scope)) return false;
    b->clause = SQL_CLAUSE_FROM;
    if (!bind_join_conditions(b, sql_kid(select, SELECT_FROM), &scope)) return false;
    if (!bind_clause(b, SQL_CLAUSE_HAVING, sql_kid(select, SELECT_HAVING), &scope)) return false;
    if (!bind_clause(b, SQL_CLAUSE_WHERE, sql_kid(select, SELECT_WHERE), &scope)) return false;

    scope.outer = NULL;
    if (!bind_clause(b, SQL_CLAUSE_GROUP, sql_kid(select, SELECT_GROUP), &scope)) return false;
    if (!bind_clause(b, SQL_CLAUSE_WINDOW, sql_kid(select, SELECT_WINDOWS), &scope)) return false;
    if (!block->arm && !bind_order(b, sql_kid(query, QUERY_ORDER), &scope)) return false;
    *rows = (struct scope_rows){.first = block, .outputs = block->outputs, .n_outputs = block->n_outputs};
    return publish(b, way.cte, *rows);
}

static bool bind_values(struct binder *b, struct sql_node *values, const struct sql_node *query, struct way_in way,
                        struct scope_rows *rows)
{
    struct sql_block *block = new_block(b, values, query, &way);
    if (!block) return false;
    struct scope scope = {.block = block, .outer = way.outer};
    b->clause = SQL_CLAUSE_SELECT;
    if (!bind_kids(b, values, &scope)) return false;
    struct bind_outputs out = {0};
    const struct sql_node *row = values->n_kids ? values->kids[0] : NULL;
    for (uint32_t i = 0; row && i < row->n_kids; i++) {
        char *name = arena_printf(b->arena, "column%u", i + 1);
        struct sql_output output = {.name = name, .table = -1, .column = -1, .expr = row->kids[i]};
        output.name_len = name ? (uint32_t)strlen(name) : 0;
        if (!bind_put_output(b, &out, output)) return false;
    }
    block->outputs = out.list;
    block->n_outputs = out.n;
    *rows = (struct scope_rows){.first = block, .outputs = out.list, .n_outputs = out.n};
    return publish(b, way.cte, *rows);
}

static bool bind_body(struct binder *b, struct sql_node *body, const struct sql_node *query, struct way_in way,
                      struct scope_rows *rows);

/* Makes the outputs of a set operation from those of its left arm. An output keeps its base column only if both arms
 * have the same one. */
static bool merge_arms(struct binder *b, struct scope_rows *left, const struct scope_rows *right)
{
    if (!left->n_outputs) return true;
    struct sql_output *merged = arena_new_array(b->arena, left->n_outputs, struct sql_output);
    if (!merged) return scope_fail(b, ERR_LIMIT_MEMORY);
    memcpy(merged, left->outputs, left->n_outputs * sizeof *merged);
    for (uint32_t i = 0; i < left->n_outputs; i++) {
        bool same = i < right->n_outputs && right->outputs[i].table == merged[i].table &&
                    right->outputs[i].column == merged[i].column;
        if (!same) merged[i].table = merged[i].column = -1;
    }
    left->outputs = merged;
    return true;
}

static bool bind_compound(struct binder *b, struct sql_node *compound, const struct sql_node *query, struct way_in way,
                          struct scope_rows *rows)
{
    struct scope_rows right = {0};
    way.arm = true;
    if (!bind_body(b, sql_kid(compound, 0), query, way, rows)) return false;
    if (compound->op == SQL_EXCEPT || compound->op == SQL_EXCEPT_ALL) way.except_right = true;
    way.cte = NULL;
    if (!bind_body(b, sql_kid(compound, 1), query, way, &right)) return false;
    return merge_arms(b, rows, &right);
}

static bool bind_body(struct binder *b, struct sql_node *body, const struct sql_node *query, struct way_in way,
                      struct scope_rows *rows)
{
    *rows = (struct scope_rows){0};
    if (!body) return true;
    switch (body->kind) {
    case SQL_SELECT: return bind_select(b, body, query, way, rows);
    case SQL_VALUES: return bind_values(b, body, query, way, rows);
    case SQL_COMPOUND: return bind_compound(b, body, query, way, rows);
    case SQL_QUERY: return bind_query(b, body, way, rows);
    default: return true; /* an ERROR node: nothing to bind */
    }
}

bool bind_cte(struct binder *b, struct scope_cte *cte, const struct scope *outer, struct sql_block *parent)
{
    if (++b->cte_nesting > SCOPE_MAX_CTE_NESTING) return scope_fail(b, ERR_LIMIT_COUNT);
    const struct scope_with *with = b->with;
    struct scope_cte *in_cte = b->in_cte;
    enum sql_clause clause = b->clause;
    struct scope_rows rows = {0};
    cte->started = true;
    b->with = cte->home;
    b->in_cte = cte;
    struct way_in way = {.role = SQL_BLOCK_CTE, .parent = parent, .outer = outer, .cte = cte};
    bool ok = bind_query(b, sql_kid(cte->node, CTE_QUERY), way, &rows);
    if (ok) ok = bind_rename(b, &rows, sql_kid(cte->node, CTE_NAMES));
    if (ok) ok = bind_add_columns(b, &rows, sql_kid(cte->node, CTE_ADDED));
    if (rows.first) cte->rows = rows;
    cte->published = rows.first != NULL;
    cte->finished = true;
    b->with = with;
    b->in_cte = in_cte;
    b->clause = clause;
    b->cte_nesting--;
    return ok;
}

static bool bind_with(struct binder *b, const struct sql_node *with, const struct way_in *way)
{
    struct scope_with *scope = arena_new(b->arena, struct scope_with);
    struct scope_cte *ctes = arena_new_array(b->arena, with->n_kids, struct scope_cte);
    if (!scope || !ctes) return scope_fail(b, ERR_LIMIT_MEMORY);
    for (uint32_t i = 0; i < with->n_kids; i++) ctes[i] = (struct scope_cte){.node = with->kids[i], .home = scope};
    *scope = (struct scope_with){.ctes = ctes, .n = with->n_kids, .outer = b->with};
    b->with = scope;
    for (uint32_t i = 0; i < with->n_kids; i++)
        if (!ctes[i].started && !bind_cte(b, &ctes[i], way->outer, way->parent)) return false;
    return true;
}

bool bind_query(struct binder *b, const struct sql_node *query, struct way_in way, struct scope_rows *rows)
{
    *rows = (struct scope_rows){0};
    if (!query || query->kind != SQL_QUERY) return true;
    const struct scope_with *outer_with = b->with;
    const struct sql_node *with = sql_kid(query, QUERY_WITH);
    struct sql_node *body = sql_kid(query, QUERY_BODY);
    if (with && !bind_with(b, with, &way)) return false;
    bool outer_arm = way.arm;
    if (!sql_is(body, SQL_COMPOUND)) way.arm = false; /* a query of one SELECT has its own ORDER BY */
    if (!bind_body(b, body, query, way, rows)) return false;
    if (rows->first && outer_arm) rows->first->arm = true;
    bool order_pending = sql_kid(query, QUERY_ORDER) && rows->first && !sql_is(body, SQL_SELECT);
    if (order_pending && !bind_compound_order(b, query, rows->first)) return false;
    if (sql_kid(query, QUERY_LIMIT) && !bind_limit(b, sql_kid(query, QUERY_LIMIT), rows->first)) return false;
    b->with = outer_with;
    return b->failed == ERR_OK;
}

/* ---- the statement ---- */

/* Marks a CTE as used if a chain of uses leads to it from the statement. Uses are newest first, so one pass settles
 * everything except forward references. */
static void spread_use(struct binder *b)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (struct scope_use *use = b->uses; use; use = use->next)
            if (!use->to->used && (!use->from || use->from->used)) changed = use->to->used = true;
    }
}

static int by_text(const void *x, const void *y)
{
    const struct sql_node *a = (*(struct sql_ref *const *)x)->node, *b = (*(struct sql_ref *const *)y)->node;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Publishes the diagnostics of used parts, in order of the text. There are at most SCOPE_MAX_DIAGS. */
static void hand_out_diags(struct binder *b)
{
    for (struct scope_diag *d = b->diags; d; d = d->next) {
        if (d->cte && !d->cte->used) continue;
        struct sql_diag **at = &b->bound->diags;
        while (*at && (*at)->start < d->diag.start) at = &(*at)->next;
        d->diag.next = *at;
        *at = &d->diag;
    }
}

enum err_code sql_bind(struct arena *arena, struct sql_stmt *stmt, const struct sql_catalog *catalog,
                       struct sql_bound **out)
{
    *out = NULL;
    struct sql_bound *bound = arena_new(arena, struct sql_bound);
    if (!bound || sql_regroup(arena, stmt, sql_precedence_of(catalog)) != ERR_OK) return ERR_LIMIT_MEMORY;
    bound->stmt = stmt;
    bound->catalog = catalog;
    bound->block_of = arena_new_array(arena, stmt->n_nodes, struct sql_block *);
    if (!bound->block_of) return ERR_LIMIT_MEMORY;
    struct binder b = {.arena = arena, .bound = bound, .catalog = catalog};
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) n->ref = NULL;
    struct scope_rows rows;
    bind_query(&b, stmt->root, (struct way_in){.role = SQL_BLOCK_TOP}, &rows);
    if (b.failed != ERR_OK) return b.failed;
    bound->top = rows.first;
    if (bound->n_refs) qsort(bound->refs, bound->n_refs, sizeof(struct sql_ref *), by_text);
    spread_use(&b);
    hand_out_diags(&b);
    *out = bound;
    return bound->diags ? bound->diags->code : ERR_OK;
}
