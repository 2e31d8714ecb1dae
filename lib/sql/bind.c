/* Binding: the walk over the statement that builds blocks, sources and outputs and gives every name its meaning.
 *
 * DESIGN. One recursive walk, clause by clause, in the order in which SQLite resolves: FROM, the select list (which
 * sees no aliases), then the other clauses (which do), then GROUP BY, WINDOW and ORDER BY (which see no enclosing
 * block). CTE bodies are bound where WITH stands, each once, earlier when an earlier CTE names them. Set operations
 * are bound arm by arm; their ORDER BY is matched against the arms' outputs, not looked up in a scope.
 *
 * Diagnostics do not stop the walk: a name without meaning gets a ref of kind UNKNOWN and everything else goes on.
 */
#include "lib/sql/scope.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How the walk came to a query. */
struct way_in {
    enum sql_block_role role;
    struct sql_block *parent;
    const struct scope *outer;
    struct scope_cte *cte; /* whose body it is, to publish its columns after the first arm */
    bool arm, except_right;
};

static bool bind_query(struct binder *b, const struct sql_node *query, struct way_in way, struct scope_rows *rows);
static bool bind_expr(struct binder *b, struct sql_node *n, struct scope *scope);

/* ---- refs ---- */

static bool keep_ref(struct binder *b, struct sql_ref *ref)
{
    struct sql_bound *bound = b->bound;
    if (bound->n_refs == b->cap_refs) {
        uint32_t cap = b->cap_refs ? b->cap_refs * 2 : 32;
        struct sql_ref **refs = arena_new_array(b->arena, cap, struct sql_ref *);
        if (!refs) return scope_fail(b, ERR_LIMIT_MEMORY);
        if (bound->n_refs) memcpy(refs, bound->refs, bound->n_refs * sizeof(struct sql_ref *));
        bound->refs = refs;
        b->cap_refs = cap;
    }
    bound->refs[bound->n_refs++] = ref;
    return true;
}

/* The node's ref, fresh or (ORDER BY of a set operation is tried against several arms) wiped. NULL: out of memory. */
static struct sql_ref *new_ref(struct binder *b, struct sql_node *node, struct sql_block *block)
{
    struct sql_ref *ref = (struct sql_ref *)node->ref; /* ours: sql_bind began by dropping all others */
    if (!ref) {
        ref = arena_new(b->arena, struct sql_ref);
        if (!ref) {
            scope_fail(b, ERR_LIMIT_MEMORY);
            return NULL;
        }
        if (!keep_ref(b, ref)) return NULL;
    }
    *ref = (struct sql_ref){.kind = SQL_REF_UNKNOWN, .node = node, .output = -1, .table = -1, .column = -1};
    ref->block = block;
    ref->clause = b->clause;
    node->ref = ref;
    return ref;
}

static void refer_output(struct sql_ref *ref, const struct sql_output *output)
{
    ref->table = output->table;
    ref->column = output->column;
    ref->expr = output->expr;
}

/* Point the ref at column `output` of `source`. */
static void refer(struct sql_ref *ref, struct sql_source *source, int output)
{
    ref->kind = SQL_REF_COLUMN;
    ref->source = source;
    ref->output = output;
    if (source->kind == SQL_SOURCE_TABLE) {
        ref->table = source->table;
        ref->column = output;
    } else if (output >= 0 && (uint32_t)output < source->n_outputs) {
        refer_output(ref, &source->outputs[output]);
        if (ref->table >= 0) ref->expr = NULL;
    }
}

/* Count the steps outwards and mark every block on the way as correlated. */
static void mark_levels(struct sql_ref *ref)
{
    for (struct sql_block *at = ref->block; at && at != ref->source->block; at = at->parent) {
        at->correlated = true;
        ref->levels++;
    }
}

/* ---- names ---- */

static const struct sql_output *output_of_item(const struct sql_block *block, const struct sql_node *item)
{
    for (uint32_t i = 0; i < block->n_outputs; i++)
        if (block->outputs[i].expr && block->outputs[i].expr == sql_kid(item, 0)) return &block->outputs[i];
    return NULL;
}

static void refer_alias(struct sql_ref *ref, const struct scope *scope, const struct sql_node *item)
{
    ref->kind = SQL_REF_ALIAS;
    ref->expr = sql_kid(item, 0);
    const struct sql_output *output = output_of_item(scope->block, item);
    if (output) {
        ref->table = output->table;
        ref->column = output->column;
    }
    for (struct sql_block *at = ref->block; at && at != scope->block; at = at->parent) {
        at->correlated = true;
        ref->levels++;
    }
}

static bool is_rowid(const struct sql_node *c)
{
    static const char *const names[] = {"rowid", "oid", "_rowid_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sql_name_is(c->text, c->text_len, names[i], strlen(names[i]))) return true;
    return false;
}

static struct sql_source *only_admitted(struct binder *b, struct sql_block *block, const struct sql_node *c)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (scope_admits(b, &block->sources[i], c)) return &block->sources[i];
    return NULL;
}

/* Try one scope. True when the name means something here, be it "ambiguous". */
static bool resolve_here(struct binder *b, const struct scope *scope, struct sql_ref *ref, struct sql_source **open)
{
    const struct sql_node *c = ref->node;
    struct scope_hit hit = scope_search(b, scope->block, c);
    if (hit.matches > 1) {
        ref->kind = SQL_REF_AMBIGUOUS;
        scope_ambiguous(b, scope, c);
        return true;
    }
    if (hit.matches == 1) {
        refer(ref, hit.source, hit.output);
        ref->using_right = hit.right;
        mark_levels(ref);
        return true;
    }
    if (hit.open && !*open) *open = hit.open;
    if (hit.visible == 1 && is_rowid(c)) {
        struct sql_source *source = only_admitted(b, scope->block, c);
        if (source->kind == SQL_SOURCE_TABLE) {
            refer(ref, source, -1);
            ref->kind = SQL_REF_ROWID;
            mark_levels(ref);
            return true;
        }
    }
    const struct sql_node *item = scope->aliases && !c->text2 ? scope_alias(scope, c->text, c->text_len) : NULL;
    if (item) refer_alias(ref, scope, item);
    return item != NULL;
}

/* After all scopes: a column of a source whose columns nobody knows, a string, or an error. */
static void resolve_nowhere(struct binder *b, const struct scope *scope, struct sql_ref *ref, struct sql_source *open)
{
    const struct sql_node *c = ref->node;
    if (open) {
        refer(ref, open, -1);
        mark_levels(ref);
    } else if (!c->text2 && c->quote == '"') {
        ref->kind = SQL_REF_STRING;
    } else {
        scope_unknown_column(b, scope, c);
    }
}

static bool bind_column(struct binder *b, struct sql_node *c, const struct scope *scope, struct sql_block *block)
{
    struct sql_ref *ref = new_ref(b, c, block);
    if (!ref) return false;
    struct sql_source *open = NULL;
    bool found = false;
    for (const struct scope *at = scope; at && !found; at = at->outer)
        if (at->block) found = resolve_here(b, at, ref, &open);
    if (!found) resolve_nowhere(b, scope, ref, open);
    return b->failed == ERR_OK;
}

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

/* ---- FROM ---- */

/* FROM items below a table reference. */
static uint32_t count_sources(const struct sql_node *ref)
{
    if (!ref) return 0;
    if (ref->kind == SQL_JOIN) return count_sources(ref->kids[JOIN_LEFT]) + count_sources(ref->kids[JOIN_RIGHT]);
    if (ref->kind == SQL_FROM_PAREN) return count_sources(sql_kid(ref, 0));
    return 1;
}

/* Column aliases rename the first columns of a query's rows. */
static bool rename_outputs(struct binder *b, struct scope_rows *rows, const struct sql_node *names)
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

static bool bind_cte(struct binder *b, struct scope_cte *cte, const struct scope *outer, struct sql_block *parent);

static bool note_use(struct binder *b, struct scope_cte *cte)
{
    struct scope_use *use = arena_new(b->arena, struct scope_use);
    if (!use) return scope_fail(b, ERR_LIMIT_MEMORY);
    *use = (struct scope_use){.from = b->in_cte, .to = cte, .next = b->uses};
    b->uses = use;
    return true;
}

/* A table reference that names a CTE; one that is further down its own WITH is bound first. */
static bool bind_cte_use(struct binder *b, struct sql_source *source, struct scope_cte *cte, const struct scope *outer)
{
    source->kind = SQL_SOURCE_CTE;
    if (!note_use(b, cte)) return false;
    if (!cte->started && !bind_cte(b, cte, outer, source->block->parent)) return false;
    if (!cte->published) {
        scope_report(b, ERR_UNKNOWN_NAME, source->node, "circular reference: a CTE that is not recursive uses itself");
        source->kind = SQL_SOURCE_UNKNOWN;
        return true;
    }
    take_rows(source, &cte->rows);
    return true;
}

/* Tables of the engine that no catalog lists. Their columns are not checked. */
static bool is_engine_table(const struct sql_node *t)
{
    static const char *const names[] = {"sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema",
                                        "json_each", "json_tree"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sql_name_is(t->text, t->text_len, names[i], strlen(names[i]))) return true;
    return t->text_len > 7 && strncasecmp(t->text, "pragma_", 7) == 0;
}

static bool bind_table_source(struct binder *b, struct sql_source *source, const struct scope *outer)
{
    struct sql_node *t = (struct sql_node *)source->node;
    struct sql_ref *ref = new_ref(b, t, source->block);
    if (!ref) return false;
    ref->kind = SQL_REF_TABLE;
    ref->source = source;
    name_source(source, t->text, t->text_len);
    struct scope_cte *cte = t->text2 ? NULL : scope_find_cte(b, t->text, t->text_len);
    if (cte) return bind_cte_use(b, source, cte, outer);
    bool known_schema = !t->text2 || scope_is_schema(b, t->text2, t->text2_len);
    source->table = known_schema ? b->catalog->find_table(b->catalog->self, t->text, t->text_len) : -1;
    source->kind = source->table >= 0 ? SQL_SOURCE_TABLE : SQL_SOURCE_UNKNOWN;
    ref->table = source->table;
    if (source->table >= 0 || is_engine_table(t)) return b->failed == ERR_OK;
    ref->kind = SQL_REF_UNKNOWN;
    scope_unknown_table(b, t);
    return b->failed == ERR_OK;
}

/* A subquery in FROM sees what encloses its block, not its neighbours, unless it is LATERAL. */
static bool bind_derived(struct binder *b, struct sql_source *source, struct scope *scope)
{
    source->kind = SQL_SOURCE_DERIVED;
    name_source(source, NULL, 0);
    struct scope_rows rows = {0};
    struct way_in way = {.role = SQL_BLOCK_DERIVED, .parent = source->block};
    way.outer = (source->node->flags & SQL_F_LATERAL) ? scope : scope->outer;
    if (!bind_query(b, sql_kid(source->node, DERIVED_QUERY), way, &rows)) return false;
    if (!rename_outputs(b, &rows, sql_kid(source->node, DERIVED_NAMES))) return false;
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
    block->n_sources++; /* only now: a derived table does not see itself */
    return ok;
}

static void mark_nullable(struct sql_block *block, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) block->sources[i].nullable = true;
}

/* `join`: the JOIN on whose right side this reference stands. */
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

static bool bind_from(struct binder *b, const struct sql_node *from, struct scope *scope)
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

/* USING names must stand on both sides. `at`: index of the first source of the join's right side. */
static void check_using(struct binder *b, const struct sql_node *join, const struct scope *scope, uint32_t at)
{
    const struct sql_node *names = sql_kid(join, JOIN_USING);
    uint32_t n_right = count_sources(sql_kid(join, JOIN_RIGHT));
    for (uint32_t i = 0; names && i < names->n_kids; i++)
        if (!any_has_column(b, scope->block, 0, at, names->kids[i]) ||
            !any_has_column(b, scope->block, at, at + n_right, names->kids[i]))
            scope_report(b, ERR_UNKNOWN_NAME, names->kids[i], "the column named in USING is not on both sides of the join");
}

/* Second pass over FROM, when all sources are known: ON, USING, arguments of table functions. */
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

/* ---- the select list ---- */

struct outputs {
    struct sql_output *list;
    uint32_t n, cap;
};

static bool put_output(struct binder *b, struct outputs *out, struct sql_output output)
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

/* Is this column of the source left out of a bare * because a source further left stands for it? */
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

static bool put_table_columns(struct binder *b, struct outputs *out, const struct sql_source *s, bool bare)
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
        if (!put_output(b, out, output)) return false;
    }
    return true;
}

static bool put_source_columns(struct binder *b, struct outputs *out, const struct sql_source *s, bool bare)
{
    if (s->kind == SQL_SOURCE_TABLE) return put_table_columns(b, out, s, bare);
    for (uint32_t i = 0; i < s->n_outputs; i++) {
        struct sql_output output = s->outputs[i];
        output.expr = NULL;
        if (bare && output.name && merged_away(b, s, output.name, output.name_len)) continue;
        if (!put_output(b, out, output)) return false;
    }
    return true;
}

static bool bind_star(struct binder *b, struct sql_node *star, const struct scope *scope, struct outputs *out)
{
    struct sql_block *block = scope->block;
    struct sql_ref *ref = new_ref(b, star, block);
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

static struct sql_output item_output(const struct binder *b, const struct sql_node *item)
{
    const struct sql_node *expr = sql_kid(item, 0);
    struct sql_output output = {.name = item->text, .name_len = item->text_len, .table = -1, .column = -1, .expr = expr};
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

static bool bind_items(struct binder *b, const struct sql_node *items, struct scope *scope)
{
    struct outputs out = {0};
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        struct sql_node *item = items->kids[i];
        if (item->kind == SQL_STAR) {
            if (!bind_star(b, item, scope, &out)) return false;
            continue;
        }
        if (!bind_expr(b, item, scope) || !put_output(b, &out, item_output(b, item))) return false;
    }
    scope->block->outputs = out.list;
    scope->block->n_outputs = out.n;
    return true;
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
    bool ok = bind_query(b, query, (struct way_in){.role = role, .parent = scope->block, .outer = scope}, &rows);
    b->clause = clause;
    return ok;
}

/* SQLite's `x IN t`: a source of its own, in no block's FROM. */
static bool bind_in_table(struct binder *b, struct sql_node *t, struct scope *scope)
{
    struct sql_source *source = arena_new(b->arena, struct sql_source);
    if (!source) return scope_fail(b, ERR_LIMIT_MEMORY);
    *source = (struct sql_source){.node = t, .table = -1, .block = scope->block};
    return bind_table_source(b, source, scope);
}

/* An aggregate belongs to the block of the innermost column it reads; without columns to the one it stands in. */
static void note_aggregate(struct binder *b, const struct sql_node *call, struct scope *scope, uint32_t first_ref)
{
    if (!scope->block || !sql_is_aggregate(call)) return;
    struct sql_block *owner = NULL;
    uint32_t nearest = UINT32_MAX;
    for (uint32_t i = first_ref; i < b->bound->n_refs; i++) {
        const struct sql_ref *ref = b->bound->refs[i];
        if (ref->kind != SQL_REF_COLUMN || ref->block != scope->block || ref->levels >= nearest) continue;
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

static bool bind_window(struct binder *b, struct sql_node *window, struct scope *scope)
{
    enum sql_clause clause = b->clause;
    b->clause = SQL_CLAUSE_WINDOW;
    bool ok = bind_kids(b, window, scope);
    b->clause = clause;
    return ok;
}

static bool bind_expr(struct binder *b, struct sql_node *n, struct scope *scope)
{
    if (!n) return true;
    uint32_t first_ref = b->bound->n_refs;
    switch (n->kind) {
    case SQL_COLUMN: return bind_column(b, n, scope, scope->block);
    case SQL_TABLE: return bind_in_table(b, n, scope);
    case SQL_EXISTS:
    case SQL_SUBQUERY: return bind_subquery(b, sql_kid(n, 0), scope, role_of(n));
    case SQL_QUERY: return bind_subquery(b, n, scope, SQL_BLOCK_SCALAR);
    case SQL_WINDOW: return bind_window(b, n, scope);
    case SQL_CALL:
        if (!bind_kids(b, n, scope)) return false;
        note_aggregate(b, n, scope, first_ref);
        return true;
    default: return bind_kids(b, n, scope);
    }
}

static bool bind_clause(struct binder *b, enum sql_clause clause, struct sql_node *n, struct scope *scope)
{
    b->clause = clause;
    return bind_expr(b, n, scope);
}

/* ---- ORDER BY and LIMIT ---- */

/* ORDER BY of one block: a bare alias comes before a column of the same name. */
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
        struct sql_ref *ref = new_ref(b, expr, scope->block);
        if (!ref) return false;
        refer_alias(ref, scope, item);
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

/* Do two bound expressions say the same? Columns by what they mean, the rest by how they are written. */
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

/* Does the term name an output of this arm, by alias or by saying the same as an item? */
static bool matches_arm(struct binder *b, struct sql_node *expr, struct sql_block *arm)
{
    struct scope scope = {.block = arm};
    const struct sql_node *item =
        expr->kind == SQL_COLUMN && !expr->text2 ? scope_alias(&scope, expr->text, expr->text_len) : NULL;
    if (item) {
        struct sql_ref *ref = new_ref(b, expr, arm);
        if (ref) refer_alias(ref, &scope, item);
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

/* ORDER BY of a set operation: each term must be an output of some arm, leftmost first. Arms are the blocks from
 * `first` on that belong to the query. */
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
            if (arm->parent == first->parent && arm->query == first->query)
                found = matches_arm(b, expr, arm);
        }
        if (!found)
            scope_report(b, ERR_UNKNOWN_NAME, expr, "the ORDER BY term is not a column of the set operation's result");
    }
    return b->failed == ERR_OK;
}

/* ---- queries ---- */

/* A CTE's columns are known once its first arm is; the recursive arm needs them. */
static bool publish(struct binder *b, struct scope_cte *cte, struct scope_rows rows)
{
    if (!cte || cte->published) return true;
    if (!rename_outputs(b, &rows, sql_kid(cte->node, CTE_NAMES))) return false;
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
    const struct sql_node *from = sql_kid(select, SELECT_FROM);
    uint32_t at = 0;
    for (uint32_t i = 0; from && i < from->n_kids; i++)
        if (!bind_conditions(b, from->kids[i], &scope, &at)) return false;
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
    struct outputs out = {0};
    const struct sql_node *row = values->n_kids ? values->kids[0] : NULL;
    for (uint32_t i = 0; row && i < row->n_kids; i++) {
        char *name = arena_printf(b->arena, "column%u", i + 1);
        struct sql_output output = {.name = name, .table = -1, .column = -1, .expr = row->kids[i]};
        output.name_len = name ? (uint32_t)strlen(name) : 0;
        if (!put_output(b, &out, output)) return false;
    }
    block->outputs = out.list;
    block->n_outputs = out.n;
    *rows = (struct scope_rows){.first = block, .outputs = out.list, .n_outputs = out.n};
    return publish(b, way.cte, *rows);
}

static bool bind_body(struct binder *b, struct sql_node *body, const struct sql_node *query, struct way_in way,
                      struct scope_rows *rows);

/* The outputs of a set operation are those of its left arm; a base column only where both arms agree on it. */
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

static bool bind_cte(struct binder *b, struct scope_cte *cte, const struct scope *outer, struct sql_block *parent)
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
    if (ok) ok = rename_outputs(b, &rows, sql_kid(cte->node, CTE_NAMES));
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

static bool bind_query(struct binder *b, const struct sql_node *query, struct way_in way, struct scope_rows *rows)
{
    *rows = (struct scope_rows){0};
    if (!query || query->kind != SQL_QUERY) return true;
    const struct scope_with *outer_with = b->with;
    const struct sql_node *with = sql_kid(query, QUERY_WITH);
    struct sql_node *body = sql_kid(query, QUERY_BODY);
    if (with && !bind_with(b, with, &way)) return false;
    bool outer_arm = way.arm;
    if (!sql_is(body, SQL_COMPOUND)) way.arm = false; /* its ORDER BY is its own */
    if (!bind_body(b, body, query, way, rows)) return false;
    if (rows->first && outer_arm) rows->first->arm = true;
    bool order_pending = sql_kid(query, QUERY_ORDER) && rows->first && !sql_is(body, SQL_SELECT);
    if (order_pending && !bind_compound_order(b, query, rows->first)) return false;
    if (sql_kid(query, QUERY_LIMIT) && !bind_limit(b, sql_kid(query, QUERY_LIMIT), rows->first)) return false;
    b->with = outer_with;
    return b->failed == ERR_OK;
}

/* ---- the statement ---- */

/* A CTE counts as used when a chain of uses leads to it from the statement. Uses are newest first, so that one round
 * settles all but forward references. */
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

/* Diagnostics of used parts, in order of the text. There are at most SCOPE_MAX_DIAGS. */
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
    if (!bound) return ERR_LIMIT_MEMORY;
    bound->stmt = stmt;
    bound->catalog = catalog;
    bound->block_of = arena_new_array(arena, stmt->n_nodes, struct sql_block *);
    if (!bound->block_of) return ERR_LIMIT_MEMORY;
    struct binder b = {.arena = arena, .bound = bound, .catalog = catalog};
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) n->ref = NULL;
    struct scope_rows rows;
    bind_query(&b, stmt->root, (struct way_in){.role = SQL_BLOCK_TOP}, &rows);
    if (b.failed != ERR_OK) return b.failed;
    if (bound->n_refs) qsort(bound->refs, bound->n_refs, sizeof(struct sql_ref *), by_text);
    spread_use(&b);
    hand_out_diags(&b);
    *out = bound;
    return bound->diags ? bound->diags->code : ERR_OK;
}
