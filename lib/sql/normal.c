/* Normal form: one spelling for the many spellings of the same meaning.
 *
 * DESIGN. The tree is copied node by node under rules that each preserve the result's rows, and their order if the
 * statement fixes one. Then it is printed. The rules are conservative: FROM items, GROUP BY terms and set operands stay
 * in their order. That order may decide which rows are returned, if there is no ORDER BY, or if rows tie at a LIMIT.
 * The rules normalise:
 *
 *    names       lower case; every column qualified by its source; sources named after their table (t, the second t_2)
 *    aliases     select aliases that only name the output are dropped; uses of an alias become its expression
 *    strings     "x" that SQLite reads as a string is written 'x'
 *    operators   a > b as b < a; literals on the right; AND / OR chains and IN lists sorted; ISNULL as IS NULL
 *    noise       dropped: parentheses, ASC, INNER, OUTER; == as =; LIMIT a, b as LIMIT b OFFSET a
 *
 * Some results depend on the engine's plan: LIMIT cuts through ties, and group_concat uses the order in which rows are
 * read. Conditions then stay in their order, because another order can change the plan. If a column beside an aggregate
 * is not in GROUP BY, the engine chooses its value freely. No rule here can preserve that choice. Two columns that are
 * compared with each other are assumed to have the same collation; SQLite uses that of the left one. If the tree is not
 * bound, or a name is unknown, only case and noise are changed. */
#include "lib/sql/bind.h"

#include <stdlib.h>
#include <string.h>

/* The names that the normal form gives to the sources of one block. */
struct frame {
    const struct frame *outer;
    struct sql_block *block;
    const char **names; /* by index of the source */
};

struct normal {
    struct arena *arena;
    const struct frame *frame;
    bool bound;
    bool fixed_order; /* conditions stay in their order */
    bool failed;
    uint32_t depth; /* nesting of alias expansion */
};

enum { MAX_EXPANSION = 16 };

static struct sql_node *norm(struct normal *n, const struct sql_node *from);

/* ---- helpers ---- */

static char *lower(struct normal *n, const char *text, uint32_t len)
{
    char *copy = text ? arena_strndup(n->arena, text, len) : NULL;
    if (text && !copy) n->failed = true;
    for (char *c = copy; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c | 32);
    return copy;
}

static struct sql_node *make(struct normal *n, enum sql_kind kind, const struct sql_node *from)
{
    struct sql_node *node = sql_make(n->arena, kind);
    if (!node) {
        n->failed = true;
        return NULL;
    }
    if (from) {
        node->start = from->start;
        node->end = from->end;
    }
    return node;
}

/* True if a name needs no quotes: it is a plain word that the grammar reads as a column. */
static bool is_plain_name(struct normal *n, const char *name)
{
    if (!(*name == '_' || (*name >= 'a' && *name <= 'z'))) return false;
    for (const char *c = name; *c; c++)
        if (!(*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9'))) return false;
    const struct sql_node *parsed = sql_parse_expression(n->arena, name);
    return sql_is(parsed, SQL_COLUMN) && !parsed->text2;
}

static void set_name(struct normal *n, struct sql_node *node, const char *name, char quote)
{
    if (!name) return;
    node->text = name;
    node->text_len = (uint32_t)strlen(name);
    node->quote = quote && !is_plain_name(n, name) ? '"' : 0;
}

/* ---- names of sources ---- */

static bool taken(const struct normal *n, const char *name, uint32_t upto)
{
    for (const struct frame *f = n->frame; f; f = f->outer) {
        uint32_t count = f == n->frame ? upto : f->block->n_sources;
        for (uint32_t i = 0; i < count; i++)
            if (f->names[i] && strcmp(f->names[i], name) == 0) return true;
    }
    return false;
}

static const char *source_name(struct normal *n, const struct sql_source *source)
{
    const struct sql_node *t = source->node;
    const char *base = "d";
    if (t->kind == SQL_TABLE)
        base = lower(n, t->text, t->text_len);
    else if (t->kind == SQL_FROM_CALL && !t->alias)
        base = lower(n, source->name, source->name_len);
    if (!base) return NULL;
    const char *name = base;
    for (unsigned k = 2; taken(n, name, source->index); k++)
        if (!(name = arena_printf(n->arena, "%s_%u", base, k))) return NULL;
    return name;
}

static const char *name_of(const struct normal *n, const struct sql_source *source)
{
    for (const struct frame *f = n->frame; f; f = f->outer)
        if (f->block == source->block && source->index < f->block->n_sources &&
            source == &f->block->sources[source->index])
            return f->names[source->index];
    return NULL;
}

/* ---- columns ---- */

static struct sql_node *position(struct normal *n, const struct sql_node *from, uint32_t at)
{
    struct sql_node *literal = make(n, SQL_LITERAL, from);
    char *text = arena_printf(n->arena, "%u", at);
    if (!literal || !text) return NULL;
    literal->op = SQL_LIT_INT;
    literal->text = text;
    literal->text_len = (uint32_t)strlen(text);
    return literal;
}

static struct sql_node *as_string(struct normal *n, const struct sql_node *from)
{
    struct sql_node *literal = make(n, SQL_LITERAL, from);
    if (!literal) return NULL;
    literal->op = SQL_LIT_STRING;
    literal->quote = '\'';
    literal->text = from->text;
    literal->text_len = from->text_len;
    return literal;
}

/* Returns the normal form of an alias's expression, which replaces the alias. */
static struct sql_node *expand(struct normal *n, const struct sql_node *expr)
{
    if (n->depth >= MAX_EXPANSION) {
        n->failed = true;
        return NULL;
    }
    n->depth++;
    struct sql_node *copy = norm(n, expr);
    n->depth--;
    return copy;
}

/* Sets the qualifier as written, as for `t1.no_such_column`. If a visible source of that name was renamed, sets the new
 * name. */
static void set_written_qualifier(struct normal *n, struct sql_node *c, const struct sql_node *from)
{
    const char *name = NULL;
    for (const struct frame *f = n->bound && from->text2 ? n->frame : NULL; f && !name; f = f->outer)
        for (uint32_t i = 0; i < f->block->n_sources && !name; i++) {
            const struct sql_source *source = &f->block->sources[i];
            if (sql_name_is(source->name, source->name_len, from->text2, from->text2_len)) name = f->names[i];
        }
    c->text2 = name ? name : lower(n, from->text2, from->text2_len);
    c->text2_len = name ? (uint32_t)strlen(name) : from->text2_len;
}

static struct sql_node *norm_column(struct normal *n, const struct sql_node *from)
{
    const struct sql_ref *ref = n->bound ? from->ref : NULL;
    if (ref && ref->kind == SQL_REF_STRING) return as_string(n, from);
    if (ref && ref->kind == SQL_REF_ALIAS) return expand(n, ref->expr);
    struct sql_node *c = make(n, SQL_COLUMN, from);
    if (!c) return NULL;
    if (ref && ref->kind == SQL_REF_STAR) { /* the t of (t).name */
        set_name(n, c, name_of(n, ref->source), 0);
        return c;
    }
    const char *qualifier = ref && ref->source && !(ref->using_right && !from->text2) ? name_of(n, ref->source) : NULL;
    if (qualifier) {
        c->text2 = qualifier;
        c->text2_len = (uint32_t)strlen(qualifier);
    } else {
        set_written_qualifier(n, c, from);
        c->text3 = lower(n, from->text3, from->text3_len);
        c->text3_len = from->text3_len;
    }
    bool rowid = ref && ref->kind == SQL_REF_ROWID;
    set_name(n, c, rowid ? "rowid" : lower(n, from->text, from->text_len), rowid ? 0 : from->quote);
    if (!n->bound && from->quote == '"') { /* may be a string, in which upper and lower case differ */
        c->text = from->text;
        c->quote = '"';
    }
    return c;
}

static struct sql_node *norm_star(struct normal *n, const struct sql_node *from)
{
    struct sql_node *star = make(n, SQL_STAR, from);
    if (!star || !from->text) return star;
    const struct sql_source *source = n->bound ? from->ref->source : NULL;
    if (source && source->block->n_sources == 1 && sql_is(from->parent, SQL_ITEMS)) return star;
    const char *name = source ? name_of(n, source) : NULL;
    set_name(n, star, name ? name : lower(n, from->text, from->text_len), 0);
    return star;
}

/* ---- FROM ---- */

static struct sql_node *norm_kids(struct normal *n, struct sql_node *to, const struct sql_node *from)
{
    for (uint32_t i = 0; to && i < from->n_kids; i++) {
        struct sql_node *kid = from->kids[i] ? norm(n, from->kids[i]) : NULL;
        if (from->kids[i] && !kid) return NULL;
        if (i < to->n_kids)
            sql_set_kid(to, i, kid);
        else if (!sql_append(n->arena, to, kid))
            n->failed = true;
    }
    return n->failed ? NULL : to;
}

static const struct sql_source *source_at(const struct normal *n, const struct sql_node *item)
{
    const struct sql_block *block = n->frame ? n->frame->block : NULL;
    for (uint32_t i = 0; block && i < block->n_sources; i++)
        if (block->sources[i].node == item) return &block->sources[i];
    return NULL;
}

static void set_alias(struct normal *n, struct sql_node *to, const struct sql_node *from)
{
    const struct sql_source *source = n->bound ? source_at(n, from) : NULL;
    const char *alias = source ? name_of(n, source) : lower(n, from->alias, from->alias_len);
    const struct sql_node *named = to->kind == SQL_FROM_CALL ? sql_kid(to, FROM_CALL_CALL) : to;
    bool own_name = alias && named && named->text && strcmp(alias, named->text) == 0;
    if (!alias || own_name) return;
    to->alias = alias;
    to->alias_len = (uint32_t)strlen(alias);
    to->flags |= SQL_F_AS;
}

static struct sql_node *norm_table(struct normal *n, const struct sql_node *from)
{
    struct sql_node *t = make(n, (enum sql_kind)from->kind, from);
    if (!t || !norm_kids(n, t, from)) return NULL;
    t->flags = from->flags & (SQL_F_LATERAL | SQL_F_ONLY);
    bool paths = from->kind == SQL_FROM_CALL; /* the columns of JSON_TABLE; their paths depend on case */
    t->text = paths ? from->text : NULL;
    t->text_len = paths ? from->text_len : 0;
    if (from->text && !paths) set_name(n, t, lower(n, from->text, from->text_len), from->quote);
    t->text2 = lower(n, from->text2, from->text2_len);
    t->text2_len = from->text2_len;
    t->text3 = from->text3;
    t->text3_len = from->text3_len;
    set_alias(n, t, from);
    return t;
}

/* Drops parentheses without effect: around one table, or around the leftmost join of an entry. */
static struct sql_node *norm_from_paren(struct normal *n, const struct sql_node *from)
{
    const struct sql_node *in = sql_kid(from, 0), *p = from->parent;
    bool leftmost = !sql_is(p, SQL_JOIN) || sql_kid(p, JOIN_LEFT) == from;
    if (in && !from->alias && (leftmost || in->kind != SQL_JOIN)) return norm(n, in);
    struct sql_node *paren = make(n, SQL_FROM_PAREN, from);
    if (!paren || !norm_kids(n, paren, from)) return NULL;
    paren->alias = lower(n, from->alias, from->alias_len);
    paren->alias_len = from->alias_len;
    return paren;
}

/* ---- the select list ---- */

/* True if a query refers to the block's output names: it is the body of a derived table or CTE. */
static bool keeps_names(const struct sql_node *select)
{
    for (const struct sql_node *p = select ? select->parent : NULL; p; p = p->parent) {
        if (p->kind == SQL_DERIVED || p->kind == SQL_CTE) return true;
        if (p->kind != SQL_QUERY && p->kind != SQL_COMPOUND) return false;
    }
    return false;
}

static struct sql_node *norm_item(struct normal *n, const struct sql_node *from)
{
    struct sql_node *item = make(n, SQL_ITEM, from);
    if (!item || !norm_kids(n, item, from)) return NULL;
    const struct sql_node *expr = sql_kid(item, 0);
    bool said_by_column =
        sql_is(expr, SQL_COLUMN) && from->text && sql_name_is(from->text, from->text_len, expr->text, expr->text_len);
    bool needed = !n->bound || (keeps_names(sql_up(from, SQL_SELECT)) && !said_by_column);
    if (from->text && needed) {
        set_name(n, item, lower(n, from->text, from->text_len), from->quote);
        item->flags |= SQL_F_AS;
    }
    return item;
}

/* ---- expressions ---- */

static bool is_constant(const struct sql_node *n)
{
    if (sql_is(n, SQL_UNARY) && (n->op == SQL_OP_NEG || n->op == SQL_OP_PLUS)) n = sql_kid(n, 0);
    return sql_is(n, SQL_LITERAL) || sql_is(n, SQL_PARAM) || sql_is(n, SQL_TYPED);
}

static bool has_collate(const struct sql_node *top)
{
    for (const struct sql_node *n = top; n; n = sql_walk(top, n))
        if (n->kind == SQL_COLLATE) return true;
    return false;
}

static const char *printed(struct normal *n, const struct sql_node *node)
{
    const char *text = sql_print(n->arena, node);
    if (!text) n->failed = true;
    return text ? text : "";
}

/* Swaps the operands of a comparison if needed: a constant goes right. Otherwise the operand whose text sorts first
 * goes left. */
static void order_sides(struct normal *n, struct sql_node *c)
{
    enum sql_op swapped = sql_op_swap((enum sql_op)c->op);
    struct sql_node *left = sql_kid(c, 0), *right = sql_kid(c, 1);
    if (!sql_is_comparison((enum sql_op)c->op) || !left || !right) return;
    if (is_constant(right) || has_collate(left) || has_collate(right)) return;
    if (!is_constant(left) && (n->fixed_order || strcmp(printed(n, left), printed(n, right)) <= 0)) return;
    c->op = (uint8_t)swapped;
    sql_set_kid(c, 0, right);
    sql_set_kid(c, 1, left);
}

struct printed_node {
    struct sql_node *node;
    const char *text;
};

static int by_text(const void *x, const void *y)
{
    return strcmp(((const struct printed_node *)x)->text, ((const struct printed_node *)y)->text);
}

static bool is_chain(const struct sql_node *n, enum sql_op op)
{
    return sql_is(n, SQL_BINARY) && n->op == op;
}

static uint32_t chain_length(const struct sql_node *n, enum sql_op op)
{
    return is_chain(n, op) ? chain_length(n->kids[0], op) + chain_length(n->kids[1], op) : 1;
}

static struct printed_node *put_chain(struct normal *n, const struct sql_node *from, enum sql_op op,
                                      struct printed_node *at)
{
    if (is_chain(from, op)) return put_chain(n, from->kids[1], op, put_chain(n, from->kids[0], op, at));
    at->node = norm(n, from);
    at->text = at->node ? printed(n, at->node) : "";
    return at + 1;
}

/* Flattens and sorts an AND or OR chain, whose value depends neither on order nor on grouping. */
static struct sql_node *norm_chain(struct normal *n, const struct sql_node *from)
{
    enum sql_op op = (enum sql_op)from->op;
    uint32_t length = chain_length(from, op);
    struct printed_node *parts = arena_new_array(n->arena, length, struct printed_node);
    if (!parts) {
        n->failed = true;
        return NULL;
    }
    put_chain(n, from, op, parts);
    if (n->failed) return NULL;
    if (!n->fixed_order) qsort(parts, length, sizeof *parts, by_text);
    struct sql_node *chain = parts[0].node;
    for (uint32_t i = 1; i < length; i++) {
        struct sql_node *both = make(n, SQL_BINARY, from);
        if (!both) return NULL;
        both->op = (uint8_t)op;
        sql_set_kid(both, 0, chain);
        sql_set_kid(both, 1, parts[i].node);
        chain = both;
    }
    return chain;
}

static struct sql_node *norm_binary(struct normal *n, const struct sql_node *from)
{
    if (from->op == SQL_OP_AND || from->op == SQL_OP_OR) return norm_chain(n, from);
    struct sql_node *c = make(n, SQL_BINARY, from);
    if (!c || !norm_kids(n, c, from)) return NULL;
    c->op = from->op;
    c->text = from->text;
    c->text_len = from->text_len;
    order_sides(n, c);
    return c;
}

/* Writes x ISNULL as x IS NULL. */
static struct sql_node *norm_unary(struct normal *n, const struct sql_node *from)
{
    bool null_test = from->op == SQL_OP_ISNULL || from->op == SQL_OP_NOTNULL;
    struct sql_node *u = make(n, null_test ? SQL_BINARY : SQL_UNARY, from);
    if (!u || !norm_kids(n, u, from)) return NULL;
    u->op = from->op;
    u->text = from->text;
    u->text_len = from->text_len;
    if (!null_test) return u;
    struct sql_node *null = make(n, SQL_LITERAL, NULL);
    if (!null) return NULL;
    null->op = SQL_LIT_NULL;
    null->text = "NULL";
    null->text_len = 4;
    u->op = from->op == SQL_OP_ISNULL ? SQL_OP_IS : SQL_OP_IS_NOT;
    sql_set_kid(u, 1, null);
    return u;
}

static struct sql_node *norm_in_list(struct normal *n, const struct sql_node *from)
{
    struct sql_node *list = make(n, SQL_LIST, from);
    if (!list || !norm_kids(n, list, from)) return NULL;
    struct printed_node *parts = arena_new_array(n->arena, list->n_kids, struct printed_node);
    if (!parts) {
        n->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < list->n_kids; i++) {
        if (has_collate(list->kids[i])) return list;
        parts[i] = (struct printed_node){list->kids[i], printed(n, list->kids[i])};
    }
    qsort(parts, list->n_kids, sizeof *parts, by_text);
    for (uint32_t i = 0; i < list->n_kids; i++) sql_set_kid(list, i, parts[i].node);
    return list;
}

/* ---- ORDER BY and LIMIT ---- */

/* Returns the position, from 1, of the output that an ORDER BY term of a set operation names; 0 if it is unknown. */
static uint32_t output_place(const struct sql_node *expr)
{
    const struct sql_ref *ref = sql_is(expr, SQL_COLUMN) ? expr->ref : NULL;
    if (!ref || !ref->block) return 0;
    for (uint32_t i = 0; i < ref->block->n_outputs; i++) {
        const struct sql_output *output = &ref->block->outputs[i];
        if (ref->kind == SQL_REF_ALIAS && output->expr == ref->expr) return i + 1;
        const struct sql_ref *same = ref->kind == SQL_REF_COLUMN ? sql_plain_column(output->expr) : NULL;
        if (same && same->source == ref->source && same->output == ref->output) return i + 1;
    }
    return 0;
}

/* Returns the item that a position means, as in `ORDER BY 2` or `GROUP BY 2`. Returns NULL if the literal is not a
 * position. */
static const struct sql_node *item_by_place(const struct normal *n, const struct sql_node *expr)
{
    const struct sql_block *block = n->frame ? n->frame->block : NULL;
    if (!n->bound || !block || !sql_is(expr, SQL_LITERAL) || expr->op != SQL_LIT_INT || expr->text_len > 3) return NULL;
    unsigned place = 0;
    for (uint32_t i = 0; i < expr->text_len; i++) place = place * 10 + (unsigned)(expr->text[i] - '0');
    return place >= 1 && place <= block->n_outputs ? block->outputs[place - 1].expr : NULL;
}

static bool orders_compound(const struct sql_node *term)
{
    const struct sql_node *query = sql_up(term, SQL_QUERY);
    return query && !sql_is(sql_kid(query, QUERY_BODY), SQL_SELECT);
}

static struct sql_node *norm_term(struct normal *n, const struct sql_node *from)
{
    struct sql_node *term = make(n, SQL_TERM, from);
    const struct sql_node *expr = sql_kid(from, 0);
    if (!term) return NULL;
    term->op = from->op == SQL_DESC ? SQL_DESC : 0;
    term->text = from->text;
    term->text_len = from->text_len;
    term->flags = from->flags & (SQL_F_NULLS_FIRST | SQL_F_NULLS_LAST);
    bool compound = orders_compound(from), in_query = from->parent && sql_is(from->parent->parent, SQL_QUERY);
    uint32_t place = n->bound && compound && in_query ? output_place(expr) : 0;
    const struct sql_node *item = in_query && !compound ? item_by_place(n, expr) : NULL;
    struct sql_node *kid = place ? position(n, expr, place) : norm(n, item ? item : expr);
    if (!kid) return NULL;
    sql_set_kid(term, 0, kid);
    return term;
}

static struct sql_node *norm_group(struct normal *n, const struct sql_node *from)
{
    struct sql_node *group = make(n, SQL_GROUP, from);
    if (group) group->flags = from->flags & SQL_F_ROLLUP;
    for (uint32_t i = 0; group && i < from->n_kids; i++) {
        const struct sql_node *item = item_by_place(n, from->kids[i]);
        struct sql_node *kid = norm(n, item ? item : from->kids[i]);
        if (!kid || !sql_append(n->arena, group, kid)) return NULL;
    }
    return group;
}

static struct sql_node *norm_limit(struct normal *n, const struct sql_node *from)
{
    struct sql_node *limit = make(n, SQL_LIMIT, from);
    if (!limit || !norm_kids(n, limit, from)) return NULL;
    limit->flags = from->flags & SQL_F_WITH_TIES ? from->flags & (SQL_F_WITH_TIES | SQL_F_FETCH) : 0;
    const struct sql_node *offset = sql_kid(limit, LIMIT_OFFSET);
    bool zero = sql_is(offset, SQL_LITERAL) && offset->text_len == 1 && *offset->text == '0';
    if (zero && sql_kid(limit, LIMIT_COUNT)) sql_set_kid(limit, LIMIT_OFFSET, NULL);
    return limit;
}

/* ---- blocks and queries ---- */

static struct sql_block *block_of_select(const struct sql_node *select)
{
    for (const struct sql_node *k = select; k; k = sql_walk(select, k)) {
        if (!k->ref || !k->ref->block) continue;
        for (struct sql_block *b = k->ref->block; b; b = b->parent)
            if (b->node == select) return b;
    }
    return NULL;
}

static struct sql_node *norm_select(struct normal *n, const struct sql_node *from)
{
    struct sql_node *select = make(n, SQL_SELECT, from);
    return select ? norm_kids(n, select, from) : NULL;
}

/* Calls `walk` in the scope of a block, in which its sources have names. ORDER BY is outside of SELECT but inside its
 * scope, so the scope of a single SELECT is opened around its QUERY. */
static struct sql_node *in_scope(struct normal *n, const struct sql_node *select, const struct sql_node *from,
                                 struct sql_node *(*walk)(struct normal *, const struct sql_node *))
{
    struct sql_block *block = n->bound ? block_of_select(select) : NULL;
    if (!block || (n->frame && n->frame->block == block)) return walk(n, from);
    struct frame frame = {.outer = n->frame, .block = block};
    frame.names = arena_new_array(n->arena, block->n_sources + 1, const char *);
    if (!frame.names) n->failed = true;
    n->frame = &frame;
    for (uint32_t i = 0; !n->failed && i < block->n_sources; i++)
        if (!(frame.names[i] = source_name(n, &block->sources[i]))) n->failed = true;
    struct sql_node *made = n->failed ? NULL : walk(n, from);
    n->frame = frame.outer;
    return made;
}

static struct sql_node *query_parts(struct normal *n, const struct sql_node *from)
{
    struct sql_node *query = make(n, SQL_QUERY, from);
    return query ? norm_kids(n, query, from) : NULL;
}

static bool only_body(const struct sql_node *query)
{
    return !sql_kid(query, QUERY_WITH) && !sql_kid(query, QUERY_ORDER) && !sql_kid(query, QUERY_LIMIT);
}

static struct sql_node *norm_query(struct normal *n, const struct sql_node *from)
{
    const struct sql_node *body = sql_kid(from, QUERY_BODY);
    if (sql_is(body, SQL_QUERY) && only_body(from)) return norm(n, body);
    bool arm = sql_is(from->parent, SQL_COMPOUND);
    if (arm && only_body(from) && (sql_is(body, SQL_SELECT) || sql_is(body, SQL_VALUES))) return norm(n, body);
    struct sql_node *query = sql_is(body, SQL_SELECT) ? in_scope(n, body, from, query_parts) : query_parts(n, from);
    if (query && sql_is(from->parent, SQL_COMPOUND)) query->flags |= SQL_F_PAREN;
    return query;
}

/* ---- other nodes ---- */

static struct sql_node *norm_call(struct normal *n, const struct sql_node *from)
{
    struct sql_node *call = make(n, SQL_CALL, from);
    if (!call || !norm_kids(n, call, from)) return NULL;
    call->flags = from->flags & ~(uint32_t)SQL_F_PAREN;
    set_name(n, call, lower(n, from->text, from->text_len), from->quote);
    call->text2 = lower(n, from->text2, from->text2_len);
    call->text2_len = from->text2_len;
    call->text3 = from->text3;
    call->text3_len = from->text3_len;
    return call;
}

static struct sql_node *norm_name(struct normal *n, const struct sql_node *from)
{
    struct sql_node *name = make(n, (enum sql_kind)from->kind, from);
    if (!name || !norm_kids(n, name, from)) return NULL;
    name->flags = from->flags;
    if (from->text) set_name(n, name, lower(n, from->text, from->text_len), from->quote);
    name->text2 = from->text2;
    name->text2_len = from->text2_len;
    return name;
}

/* Copies a node unchanged, except for parentheses and spelling variants. */
static struct sql_node *norm_other(struct normal *n, const struct sql_node *from)
{
    struct sql_node *copy = make(n, (enum sql_kind)from->kind, from);
    if (!copy) return NULL;
    struct sql_node **kids = copy->kids;
    uint32_t n_kids = copy->n_kids, cap = copy->cap_kids;
    *copy = *from;
    copy->kids = kids;
    copy->n_kids = n_kids;
    copy->cap_kids = cap;
    copy->parent = NULL;
    copy->ref = NULL;
    copy->flags &= ~(uint32_t)(SQL_F_PAREN | SQL_F_EQ2 | SQL_F_OUTER_KW | SQL_F_COLON | SQL_F_OPERATOR);
    if (copy->kind == SQL_LITERAL && copy->op == SQL_LIT_STRING) copy->quote = '\'';
    return norm_kids(n, copy, from);
}

static struct sql_node *norm(struct normal *n, const struct sql_node *from)
{
    if (n->failed || !from) return NULL;
    switch (from->kind) {
    case SQL_QUERY: return norm_query(n, from);
    case SQL_SELECT: return in_scope(n, from, from, norm_select);
    case SQL_ITEM: return norm_item(n, from);
    case SQL_STAR: return norm_star(n, from);
    case SQL_TABLE:
    case SQL_DERIVED:
    case SQL_FROM_CALL: return norm_table(n, from);
    case SQL_FROM_PAREN: return norm_from_paren(n, from);
    case SQL_TERM: return norm_term(n, from);
    case SQL_GROUP: return norm_group(n, from);
    case SQL_LIMIT: return norm_limit(n, from);
    case SQL_COLUMN: return norm_column(n, from);
    case SQL_BINARY: return norm_binary(n, from);
    case SQL_UNARY: return norm_unary(n, from);
    case SQL_LIST: return norm_in_list(n, from);
    case SQL_CALL: return norm_call(n, from);
    case SQL_CTE:
    case SQL_NAME: return norm_name(n, from);
    default: return norm_other(n, from);
    }
}

/* True if the tree was bound, and no column is named after the text of a computed expression. The rules might change
 * that text. Unless `partly`, every name must also be resolved. */
static bool is_bound(const struct sql_node *top, bool partly)
{
    for (const struct sql_node *n = top; n; n = sql_walk(top, n)) {
        if (n->kind == SQL_ERROR) return false;
        if (n->kind != SQL_COLUMN && n->kind != SQL_STAR && n->kind != SQL_TABLE) continue;
        const struct sql_ref *ref = n->ref;
        if (!ref) return false;
        if (!partly && (ref->kind == SQL_REF_UNKNOWN || ref->kind == SQL_REF_AMBIGUOUS)) return false;
        if (ref->kind != SQL_REF_COLUMN || !ref->expr || ref->source->kind == SQL_SOURCE_TABLE) continue;
        if (sql_is(ref->expr->parent, SQL_ITEM) && !ref->expr->parent->text && ref->expr->kind != SQL_COLUMN)
            return false;
    }
    return true;
}

/* ---- entry points ---- */

/* True if the result may depend on the order in which rows are read. */
static bool shows_order(const struct sql_node *top)
{
    static const char *const calls[] = {"group_concat",     "string_agg", "array_agg",
                                        "json_group_array", "json_agg",   "jsonb_agg"};
    for (const struct sql_node *n = top; n; n = sql_walk(top, n)) {
        if (n->kind == SQL_LIMIT) return true;
        for (size_t i = 0; n->kind == SQL_CALL && i < sizeof calls / sizeof *calls; i++)
            if (sql_name_is(n->text, n->text_len, calls[i], strlen(calls[i]))) return true;
    }
    return false;
}

static struct sql_node *normal_tree(struct arena *arena, const struct sql_node *node, bool partly)
{
    struct normal n = {.arena = arena, .bound = is_bound(node, partly)};
    n.fixed_order = shows_order(node);
    struct sql_node *tree = norm(&n, node);
    if (!tree || n.failed) return NULL;
    sql_renumber(tree);
    return tree;
}

struct sql_node *sql_normal_tree(struct arena *arena, const struct sql_node *node)
{
    return normal_tree(arena, node, false);
}

struct sql_node *sql_partly_normal_tree(struct arena *arena, const struct sql_node *node)
{
    return normal_tree(arena, node, true);
}

char *sql_normal_form(struct arena *arena, const struct sql_node *node)
{
    struct sql_node *tree = sql_normal_tree(arena, node);
    return tree ? sql_print(arena, tree) : NULL;
}
