/* Resolves a COLUMN node. It searches the scopes from the inside out, and then tries SQLite's extras, such as strings
 * in double quotes. */
#include "lib/sql/bind_walk.h"

#include <string.h>

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

/* Returns a new ref, or the node's old ref cleared: ORDER BY of a set operation is tried on several arms. Returns NULL
 * if memory ran out. */
struct sql_ref *bind_ref_new(struct binder *b, struct sql_node *node, struct sql_block *block)
{
    /* safe to reuse, because sql_bind first clears the refs of all nodes */
    struct sql_ref *ref = (struct sql_ref *)node->ref;
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
    ref->aggregate = b->aggregate;
    node->ref = ref;
    return ref;
}

static void refer_output(struct sql_ref *ref, const struct sql_output *output)
{
    ref->table = output->table;
    ref->column = output->column;
    ref->expr = output->expr;
}

/* Points the ref at column `output` of `source`. */
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

/* Points the ref at the rowid, a system column or the whole row of `source`. */
static void refer_beside(struct sql_ref *ref, enum sql_ref_kind kind, struct sql_source *source)
{
    refer(ref, source, -1);
    ref->kind = kind;
    bind_mark_levels(ref);
}

void bind_mark_levels(struct sql_ref *ref)
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

void bind_to_alias(struct sql_ref *ref, const struct scope *scope, const struct sql_node *item)
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

/* True if the source may have a rowid. SQLite refuses it on a CTE; on a view or another subquery it is NULL. */
static bool has_rowid(const struct sql_source *source)
{
    return source->kind == SQL_SOURCE_TABLE || source->kind == SQL_SOURCE_DERIVED;
}

static struct sql_source *only_admitted(struct binder *b, struct sql_block *block, const struct sql_node *c)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (scope_admits(b, &block->sources[i], c)) return &block->sources[i];
    return NULL;
}

/* Resolves a column that a star does not expand to, in the first table of this scope that has it. If several tables
 * have it, the engine takes the first one or refuses the name. */
static bool resolve_hidden(struct binder *b, const struct scope *scope, struct sql_ref *ref)
{
    static const enum sql_ref_kind kinds[] = {[SQL_HIDDEN_SYSTEM] = SQL_REF_SYSTEM, [SQL_HIDDEN_ROW] = SQL_REF_ROW};
    const struct sql_catalog *c = b->catalog;
    const struct sql_node *name = ref->node;
    for (uint32_t i = 0; c->find_hidden && i < scope->block->n_sources; i++) {
        struct sql_source *source = &scope->block->sources[i];
        if (source->kind != SQL_SOURCE_TABLE || !scope_admits(b, source, name)) continue;
        enum sql_hidden hidden = c->find_hidden(c->self, source->table, name->text, name->text_len);
        if (hidden == SQL_HIDDEN_NONE) continue;
        refer_beside(ref, kinds[hidden], source);
        return true;
    }
    return false;
}

/* Returns the FROM item that an unqualified name means as a whole row, from the inside out; NULL if there is none. */
static struct sql_source *row_named(const struct binder *b, const struct scope *scope, const struct sql_node *c)
{
    if (!b->catalog->alias_is_row || c->text2) return NULL;
    for (const struct scope *at = scope; at; at = at->outer)
        for (uint32_t i = 0; at->block && i < at->block->n_sources; i++)
            if (bind_names_source(&at->block->sources[i], c)) return &at->block->sources[i];
    return NULL;
}

/* Resolves the name in one scope. Returns true if the name is found, even if it is ambiguous. *open gets the first
 * source with unknown columns. */
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
        bind_mark_levels(ref);
        return true;
    }
    if (hit.open && !*open) *open = hit.open;
    if (hit.visible == 1 && is_rowid(c)) {
        struct sql_source *source = only_admitted(b, scope->block, c);
        if (has_rowid(source)) {
            refer_beside(ref, SQL_REF_ROWID, source);
            return true;
        }
    }
    if (resolve_hidden(b, scope, ref)) return true;
    const struct sql_node *item = scope->aliases && !c->text2 ? scope_alias(scope, c->text, c->text_len) : NULL;
    if (item) bind_to_alias(ref, scope, item);
    return item != NULL;
}

/* Resolves a name that no scope has, as a whole row, a column of a source with unknown columns, a string, or an error.
 * The row is tried first, because it exposes more columns. */
static void resolve_nowhere(struct binder *b, const struct scope *scope, struct sql_ref *ref, struct sql_source *open)
{
    const struct sql_node *c = ref->node;
    struct sql_source *row = row_named(b, scope, c);
    if (row) {
        refer_beside(ref, SQL_REF_ROW, row);
    } else if (open) {
        refer(ref, open, -1);
        bind_mark_levels(ref);
    } else if (!c->text2 && c->quote == '"' && !b->catalog->quotes_names) {
        ref->kind = SQL_REF_STRING;
    } else {
        scope_unknown_column(b, scope, c);
    }
}

/* True for the name of an argument, such as hours in make_interval(hours => 1). */
static bool is_argument_name(const struct sql_node *c)
{
    const struct sql_node *up = c->parent;
    bool named = sql_is(up, SQL_BINARY) && up->text && up->text_len == 2 &&
                 (memcmp(up->text, "=>", 2) == 0 || memcmp(up->text, ":=", 2) == 0);
    return named && sql_kid(up, 0) == c && sql_is(up->parent, SQL_ARGS) && !c->text2;
}

bool bind_column(struct binder *b, struct sql_node *c, const struct scope *scope, struct sql_block *block)
{
    if (is_argument_name(c)) return true;
    struct sql_ref *ref = bind_ref_new(b, c, block);
    if (!ref) return false;
    struct sql_source *open = NULL;
    bool found = false;
    for (const struct scope *at = scope; at && !found; at = at->outer)
        if (at->block) found = resolve_here(b, at, ref, &open);
    if (!found) resolve_nowhere(b, scope, ref, open);
    return b->failed == ERR_OK;
}
