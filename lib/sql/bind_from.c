/* Binds FROM and the select list: makes the sources of a block and its output columns. */
#include "lib/sql/bind_walk.h"

#include <string.h>
#include <strings.h>

/* ---- FROM ---- */

/* Returns the number of FROM items in a table reference. */
static uint32_t count_sources(const struct sql_node *ref)
{
    if (!ref) return 0;
    if (ref->kind == SQL_JOIN) return count_sources(ref->kids[JOIN_LEFT]) + count_sources(ref->kids[JOIN_RIGHT]);
    if (ref->kind == SQL_FROM_PAREN) return count_sources(sql_kid(ref, 0));
    return 1;
}

bool bind_rename(struct binder *b, struct scope_rows *rows, const struct sql_node *names)
{
    if (!names || !rows->n_outputs) return true;
    struct sql_output *copy = arena_new_array(b->arena, rows->n_outputs, struct sql_output);
    if (!copy) return scope_fail(b, ERR_LIMIT_MEMORY);
    memcpy(copy, rows->outputs, rows->n_outputs * sizeof *copy);
    for (uint32_t i = 0; i < names->n_kids && i < rows->n_outputs; i++) {
        copy[i].name = names->kids[i]->text;
        copy[i].name_len = names->kids[i]->text_len;
    }
    rows->outputs = copy;
    return true;
}

bool bind_add_columns(struct binder *b, struct scope_rows *rows, const struct sql_node *names)
{
    if (!names || !rows->first) return true;
    struct sql_output *all = arena_new_array(b->arena, rows->n_outputs + names->n_kids, struct sql_output);
    if (!all) return scope_fail(b, ERR_LIMIT_MEMORY);
    if (rows->n_outputs) memcpy(all, rows->outputs, rows->n_outputs * sizeof *all);
    for (uint32_t i = 0; i < names->n_kids; i++) {
        const struct sql_node *name = names->kids[i];
        all[rows->n_outputs++] =
            (struct sql_output){.name = name->text, .name_len = name->text_len, .table = -1, .column = -1};
    }
    rows->outputs = all;
    return true;
}

static void take_rows(struct sql_source *source, const struct scope_rows *rows)
{
    source->of = rows->first;
    source->outputs = rows->outputs;
    source->n_outputs = rows->n_outputs;
}

static void name_source(struct sql_source *source, const char *name, uint32_t len)
{
    const struct sql_node *n = source->node;
    source->name = n->alias ? n->alias : name;
    source->name_len = n->alias ? n->alias_len : len;
}

static bool note_use(struct binder *b, struct scope_cte *cte)
{
    struct scope_use *use = arena_new(b->arena, struct scope_use);
    if (!use) return scope_fail(b, ERR_LIMIT_MEMORY);
    *use = (struct scope_use){.from = b->in_cte, .to = cte, .next = b->uses};
    b->uses = use;
    return true;
}

/* Binds a table reference that names a CTE. A CTE that is defined later in its WITH is bound first. */
static bool bind_cte_use(struct binder *b, struct sql_source *source, struct scope_cte *cte, const struct scope *outer)
{
    source->kind = SQL_SOURCE_CTE;
    if (!note_use(b, cte)) return false;
    if (!cte->started && !bind_cte(b, cte, outer, source->block->parent)) return false;
    if (!cte->published) {
        scope_report(b, ERR_UNKNOWN_NAME, source->node, "circular reference: a CTE without RECURSIVE refers to itself");
        source->kind = SQL_SOURCE_UNKNOWN;
        return true;
    }
    take_rows(source, &cte->rows);
    return true;
}

/* True for a table of the engine that no catalog lists. Its columns are not checked. */
static bool is_engine_table(const struct sql_node *t)
{
    static const char *const names[] = {"sqlite_master",      "sqlite_schema", "sqlite_temp_master",
                                        "sqlite_temp_schema", "json_each",     "json_tree"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sql_name_is(t->text, t->text_len, names[i], strlen(names[i]))) return true;
    return t->text_len > 7 && strncasecmp(t->text, "pragma_", 7) == 0;
}

bool bind_table_source(struct binder *b, struct sql_source *source, const struct scope *outer)
{
    struct sql_node *t = (struct sql_node *)source->node;
    struct sql_ref *ref = bind_ref_new(b, t, source->block);
    if (!ref) return false;
    ref->kind = SQL_REF_TABLE;
    ref->source = source;
    name_source(source, t->text, t->text_len);
    struct scope_cte *cte = t->text2 ? NULL : scope_find_cte(b, t->text, t->text_len);
    if (cte) return bind_cte_use(b, source, cte, outer);
    source->table = scope_find_table(b, t->text2, t->text2_len, t);
    source->kind = source->table >= 0 ? SQL_SOURCE_TABLE : SQL_SOURCE_UNKNOWN;
    ref->table = source->table;
    bool dual = b->catalog->quotes_names && !t->text2 && sql_name_is(t->text, t->text_len, "dual", 4); /* not a table */
    if (source->table >= 0 || dual || is_engine_table(t)) return b->failed == ERR_OK;
    ref->kind = SQL_REF_UNKNOWN;
    scope_unknown_table(b, t);
    return b->failed == ERR_OK;
}

/* Binds a subquery in FROM. It sees the enclosing blocks. It sees the other FROM items only if it is LATERAL. */
static bool bind_derived(struct binder *b, struct sql_source *source, struct scope *scope)
{
    source->kind = SQL_SOURCE_DERIVED;
    name_source(source, NULL, 0);
    struct scope_rows rows = {0};
    struct way_in way = {.role = SQL_BLOCK_DERIVED, .parent = source->block};
    way.outer = (source->node->flags & SQL_F_LATERAL) ? scope : scope->outer;
    if (!bind_query(b, sql_kid(source->node, DERIVED_QUERY), way, &rows)) return false;
    if (!bind_rename(b, &rows, sql_kid(source->node, DERIVED_NAMES))) return false;
    take_rows(source, &rows);
    return true;
}

static bool bind_source(struct binder *b, struct sql_node *n, const struct sql_node *join, struct scope *scope)
{
    struct sql_block *block = scope->block;
    struct sql_source *source = &block->sources[block->n_sources];
    *source = (struct sql_source){.node = n, .table = -1, .block = block, .index = block->n_sources, .join = join};
    bool ok = true;
    if (n->kind == SQL_TABLE) {
        ok = bind_table_source(b, source, scope->outer);
    } else if (n->kind == SQL_DERIVED) {
        ok = bind_derived(b, source, scope);
    } else {
        const struct sql_node *call = n->kind == SQL_FROM_CALL ? sql_kid(n, FROM_CALL_CALL) : NULL;
        source->kind = call ? SQL_SOURCE_FUNCTION : SQL_SOURCE_UNKNOWN;
        name_source(source, call ? call->text : NULL, call ? call->text_len : 0);
    }
    block->n_sources++; /* only now, because a derived table does not see itself */
    return ok;
}

static void mark_nullable(struct sql_block *block, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) block->sources[i].nullable = true;
}

/* Binds the sources of a table reference. `join` is the JOIN whose right side contains it, or NULL. */
static bool bind_table_ref(struct binder *b, struct sql_node *n, const struct sql_node *join, struct scope *scope)
{
    if (n->kind == SQL_FROM_PAREN) {
        b->paren_alias |= n->alias != NULL;
        return !sql_kid(n, 0) || bind_table_ref(b, n->kids[0], join, scope);
    }
    if (n->kind != SQL_JOIN) return bind_source(b, n, join, scope);
    struct sql_block *block = scope->block;
    uint32_t first = block->n_sources;
    if (n->kids[JOIN_LEFT] && !bind_table_ref(b, n->kids[JOIN_LEFT], join, scope)) return false;
    uint32_t middle = block->n_sources;
    if (n->kids[JOIN_RIGHT] && !bind_table_ref(b, n->kids[JOIN_RIGHT], n, scope)) return false;
    if (n->op == SQL_JOIN_LEFT_OUTER || n->op == SQL_JOIN_FULL_OUTER) mark_nullable(block, middle, block->n_sources);
    if (n->op == SQL_JOIN_RIGHT_OUTER || n->op == SQL_JOIN_FULL_OUTER) mark_nullable(block, first, middle);
    return true;
}

bool bind_from(struct binder *b, const struct sql_node *from, struct scope *scope)
{
    uint32_t n = 0;
    for (uint32_t i = 0; from && i < from->n_kids; i++) n += count_sources(from->kids[i]);
    if (n > SCOPE_MAX_SOURCES) return scope_fail(b, ERR_LIMIT_COUNT);
    scope->block->sources = arena_new_array(b->arena, n ? n : 1, struct sql_source);
    if (!scope->block->sources) return scope_fail(b, ERR_LIMIT_MEMORY);
    for (uint32_t i = 0; from && i < from->n_kids; i++)
        if (!bind_table_ref(b, from->kids[i], NULL, scope)) return false;
    return true;
}

static bool any_has_column(struct binder *b, const struct sql_block *block, uint32_t from, uint32_t to,
                           const struct sql_node *name)
{
    for (uint32_t i = from; i < to; i++) {
        const struct sql_source *s = &block->sources[i];
        if (s->kind == SQL_SOURCE_FUNCTION || s->kind == SQL_SOURCE_UNKNOWN) return true;
        if (scope_source_column(b, s, name->text, name->text_len) >= 0) return true;
    }
    return false;
}

/* Checks that USING names exist on both sides. `at` is the index of the first source of the join's right side. */
static void check_using(struct binder *b, const struct sql_node *join, const struct scope *scope, uint32_t at)
{
    const struct sql_node *names = sql_kid(join, JOIN_USING);
    uint32_t n_right = count_sources(sql_kid(join, JOIN_RIGHT));
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        if (!any_has_column(b, scope->block, 0, at, names->kids[i]) ||
            !any_has_column(b, scope->block, at, at + n_right, names->kids[i]))
            scope_report(b, ERR_UNKNOWN_NAME, names->kids[i],
                         "the column named in USING is not on both sides of the join");
}

/* Binds ON, USING and the arguments of table functions, in the second pass over FROM. *at counts the sources passed. */
static bool bind_conditions(struct binder *b, struct sql_node *n, struct scope *scope, uint32_t *at)
{
    if (!n) return true;
    if (n->kind == SQL_FROM_PAREN) return bind_conditions(b, sql_kid(n, 0), scope, at);
    if (n->kind != SQL_JOIN) {
        ++*at;
        return n->kind != SQL_FROM_CALL || bind_expr(b, n, scope);
    }
    if (!bind_conditions(b, n->kids[JOIN_LEFT], scope, at)) return false;
    check_using(b, n, scope, *at);
    if (!bind_conditions(b, n->kids[JOIN_RIGHT], scope, at)) return false;
    return bind_expr(b, n->kids[JOIN_ON], scope);
}

bool bind_join_conditions(struct binder *b, const struct sql_node *from, struct scope *scope)
{
    uint32_t at = 0;
    for (uint32_t i = 0; from && i < from->n_kids; i++)
        if (!bind_conditions(b, from->kids[i], scope, &at)) return false;
    return true;
}

/* ---- the select list ---- */

bool bind_put_output(struct binder *b, struct bind_outputs *out, struct sql_output output)
{
    if (out->n >= SCOPE_MAX_OUTPUTS) return true;
    if (out->n == out->cap) {
        uint32_t cap = out->cap ? out->cap * 2 : 8;
        struct sql_output *list = arena_new_array(b->arena, cap, struct sql_output);
        if (!list) return scope_fail(b, ERR_LIMIT_MEMORY);
        if (out->n) memcpy(list, out->list, out->n * sizeof *list);
        out->list = list;
        out->cap = cap;
    }
    out->list[out->n++] = output;
    return true;
}

/* True if a bare * leaves out this column of the source because a source further left represents it. */
static bool merged_away(struct binder *b, const struct sql_source *s, const char *name, size_t len)
{
    const struct sql_node *using = sql_kid(s->join, JOIN_USING);
    if (!s->join || (!using && !(s->join->flags & SQL_F_NATURAL))) return false;
    if (using) {
        for (uint32_t i = 0; i < using->n_kids; i++)
            if (sql_name_is(using->kids[i]->text, using->kids[i]->text_len, name, len)) return true;
        return false;
    }
    for (uint32_t i = 0; i < s->index; i++)
        if (scope_source_column(b, &s->block->sources[i], name, len) >= 0) return true;
    return false;
}

static bool put_table_columns(struct binder *b, struct bind_outputs *out, const struct sql_source *s, bool bare)
{
    const struct sql_catalog *c = b->catalog;
    const struct sql_node *names = sql_kid(s->node, 0);
    int n = c->n_columns(c->self, s->table);
    for (int i = 0; i < n; i++) {
        const char *name = c->column_name(c->self, s->table, i);
        struct sql_output output = {.name = name, .name_len = (uint32_t)strlen(name), .table = s->table, .column = i};
        if (names && (uint32_t)i < names->n_kids) {
            output.name = names->kids[i]->text;
            output.name_len = names->kids[i]->text_len;
        }
        if (bare && merged_away(b, s, output.name, output.name_len)) continue;
        if (!bind_put_output(b, out, output)) return false;
    }
    return true;
}

static bool put_source_columns(struct binder *b, struct bind_outputs *out, const struct sql_source *s, bool bare)
{
    if (s->kind == SQL_SOURCE_TABLE) return put_table_columns(b, out, s, bare);
    for (uint32_t i = 0; i < s->n_outputs; i++) {
        struct sql_output output = s->outputs[i];
        output.expr = NULL;
        if (bare && output.name && merged_away(b, s, output.name, output.name_len)) continue;
        if (!bind_put_output(b, out, output)) return false;
    }
    return true;
}

static bool bind_star(struct binder *b, struct sql_node *star, const struct scope *scope, struct bind_outputs *out)
{
    struct sql_block *block = scope->block;
    struct sql_ref *ref = bind_ref_new(b, star, block);
    if (!ref) return false;
    ref->kind = SQL_REF_STAR;
    bool found = !star->text;
    for (uint32_t i = 0; i < block->n_sources; i++) {
        struct sql_source *s = &block->sources[i];
        if (star->text && !scope_admits(b, s, star)) continue;
        found = true;
        if (star->text) ref->source = s;
        if (!put_source_columns(b, out, s, !star->text)) return false;
    }
    if (found) return true;
    ref->kind = SQL_REF_UNKNOWN;
    scope_unknown_star(b, scope, star);
    return b->failed == ERR_OK;
}

bool bind_names_source(const struct sql_source *s, const struct sql_node *c)
{
    return s->name && sql_name_is(s->name, s->name_len, c->text, c->text_len);
}

/* Binds t.* as an argument of a call, or the t of (t).name. It means the row of a source in this block or an enclosing
 * one. */
bool bind_row(struct binder *b, struct sql_node *n, const struct scope *scope)
{
    struct sql_ref *ref = bind_ref_new(b, n, scope->block);
    if (!ref) return false;
    for (const struct scope *at = scope; at; at = at->outer) {
        for (uint32_t i = 0; at->block && i < at->block->n_sources; i++) {
            struct sql_source *s = &at->block->sources[i];
            if (n->kind == SQL_STAR ? !scope_admits(b, s, n) : !bind_names_source(s, n)) continue;
            ref->kind = SQL_REF_STAR;
            ref->source = s;
            bind_mark_levels(ref);
            return true;
        }
    }
    if (n->kind == SQL_COLUMN) return bind_column(b, n, scope, scope->block);
    scope_unknown_star(b, scope, n);
    return b->failed == ERR_OK;
}

static struct sql_output item_output(const struct binder *b, const struct sql_node *item)
{
    const struct sql_node *expr = sql_kid(item, 0);
    struct sql_output output = {
        .name = item->text, .name_len = item->text_len, .table = -1, .column = -1, .expr = expr};
    const struct sql_ref *ref = sql_plain_column(expr);
    if (ref) {
        output.table = ref->table;
        output.column = ref->column;
    }
    if (output.name || !expr) return output;
    if (expr->kind == SQL_COLUMN) {
        output.name = expr->text;
        output.name_len = expr->text_len;
    } else if (expr->end > expr->start && expr->end <= b->bound->stmt->len) {
        output.name = b->bound->stmt->text + expr->start;
        output.name_len = expr->end - expr->start;
    }
    return output;
}

bool bind_items(struct binder *b, const struct sql_node *items, struct scope *scope)
{
    struct bind_outputs out = {0};
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        struct sql_node *item = items->kids[i];
        if (item->kind == SQL_STAR) {
            if (!bind_star(b, item, scope, &out)) return false;
            continue;
        }
        if (!bind_expr(b, item, scope) || !bind_put_output(b, &out, item_output(b, item))) return false;
    }
    scope->block->outputs = out.list;
    scope->block->n_outputs = out.n;
    return true;
}
