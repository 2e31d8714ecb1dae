/* Why-not: finds the smallest set of parts whose removal makes a row appear.
 *
 * DESIGN. A probe is the statement with some parts removed; it runs up to its first row. A removed condition becomes 1
 * = 1, a join loses its ON, and a set operation loses one side. First, each part is removed alone. Conditions with a
 * literal that the column does not hold come first, then other conditions, then joins. Next, pairs are removed, as far
 * as the budget permits. If no probe gives a row, all parts are removed. They are then restored one by one, as long as
 * a row remains. The resulting set needs each of its parts, though another set may be smaller. A probe omits
 * aggregates, GROUP BY and ORDER BY that no part needs, so that it stops at its first source row.
 *
 * Rejected: finding the cause by statistics alone. They are often right but never certain, so they only determine the
 * order of the probes. */
#include "lib/explain/whynot.h"

#include "lib/base/clock.h"

#include <string.h>

const char *whynot_kind_name(enum whynot_kind kind)
{
    static const char *const names[] = {
        [WHYNOT_WHERE] = "WHERE",       [WHYNOT_ON] = "JOIN",     [WHYNOT_HAVING] = "HAVING",
        [WHYNOT_ARM] = "set operation", [WHYNOT_LIMIT] = "LIMIT",
    };
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

struct whynot_search {
    struct arena *arena;
    const struct explain_source *source;
    struct prov_options options;
    struct whynot *out;
    const struct sql_node *body; /* the probed body: the body of the statement, or one arm */
    struct whynot_parts parts;
    bool failed; /* true if a probe did not run; its set may have rows */
};

/* ---- one probe -------------------------------------------------------------------------------------------------- */

static bool is_out(const struct whynot_search *s, const struct sql_node *node)
{
    for (uint32_t i = 0; i < s->parts.n; i++)
        if (s->parts.list[i].out && s->parts.list[i].culprit.node == node) return true;
    return false;
}

static struct sql_node *edit(void *ctx, struct sql_node *node);

static struct sql_node *edit_below(struct whynot_search *s, struct sql_node *node)
{
    return rewrite_map(s->arena, node, edit, s);
}

/* Returns a copy of a JOIN without USING and NATURAL. */
static struct sql_node *cross(struct whynot_search *s, struct sql_node *join)
{
    struct sql_node *kids[] = {edit_below(s, join->kids[JOIN_LEFT]), edit_below(s, join->kids[JOIN_RIGHT])};
    struct sql_node *copy = rewrite_node(s->arena, SQL_JOIN, kids, 2);
    if (copy) copy->op = join->op;
    return copy;
}

static bool having_stays(const struct whynot_search *s, const struct sql_node *select)
{
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const struct whynot_part *part = &s->parts.list[i];
        bool here = part->culprit.kind == WHYNOT_HAVING && part->culprit.block->node == select;
        if (here && !part->out) return true;
    }
    return sql_kid(select, SELECT_HAVING) && s->parts.cut;
}

/* Returns the only arm of the statement without the clauses that hide whether it has source rows. Returns NULL if the
 * arm must not change. */
static struct sql_node *bare(struct whynot_search *s, struct sql_node *select)
{
    const struct sql_node *root = s->source->stmt->root;
    const struct sql_node *limit = sql_kid(root, QUERY_LIMIT);
    if (select != s->body || having_stays(s, select) || (limit && sql_kid(limit, LIMIT_OFFSET) && !is_out(s, limit)))
        return NULL;
    struct sql_node *items = REWRITE(s->arena, ITEMS, REWRITE(s->arena, ITEM, rewrite_count(s->arena, 1)));
    return REWRITE(s->arena, SELECT, NULL, items, edit_below(s, sql_kid(select, SELECT_FROM)),
                   edit_below(s, sql_kid(select, SELECT_WHERE)));
}

static bool is_top(const struct whynot_search *s, const struct sql_node *n)
{
    while (sql_is(n, SQL_COMPOUND)) n = n->parent;
    return n == s->source->stmt->root;
}

/* Edits a set operation, one side of which may be removed. At the top, UNION becomes UNION ALL, which is empty for the
 * same data and returns its first row at once. Deeper inside, UNION ALL would change counts, and a recursion might not
 * end. */
static struct sql_node *edit_compound(struct whynot_search *s, struct sql_node *compound)
{
    if (is_out(s, compound->kids[0])) return edit_below(s, compound->kids[1]);
    if (is_out(s, compound->kids[1])) return edit_below(s, compound->kids[0]);
    if (compound->op != SQL_UNION || !is_top(s, compound)) return NULL;
    struct sql_node *copy =
        REWRITE(s->arena, COMPOUND, edit_below(s, compound->kids[0]), edit_below(s, compound->kids[1]));
    if (copy) copy->op = SQL_UNION_ALL;
    return copy;
}

static bool is_condition(const struct sql_node *node)
{
    const struct sql_node *parent = node->parent;
    while (sql_is(parent, SQL_BINARY) && parent->op == SQL_OP_AND) parent = parent->parent;
    return sql_is(parent, SQL_WHERE) || sql_is(parent, SQL_ON) || sql_is(parent, SQL_HAVING);
}

static struct sql_node *edit(void *ctx, struct sql_node *node)
{
    struct whynot_search *s = ctx;
    struct sql_node *other = NULL;
    bool out = is_out(s, node);
    if (node->kind == SQL_COLUMN) /* an alias, whose select list may be removed */
        return node->ref && node->ref->kind == SQL_REF_ALIAS ? rewrite_borrow(node->ref->expr) : node;
    if (node->kind == SQL_LIMIT && out) return NULL;
    if (node->kind == SQL_JOIN && out) return cross(s, node);
    if (out && is_condition(node)) return rewrite_verbatim(s->arena, "(1 = 1)"); /* true in every dialect */
    if (node->kind == SQL_COMPOUND) other = edit_compound(s, node);
    if (node->kind == SQL_SELECT) other = bare(s, node);
    return other ? other : node;
}

/* Runs the probe. Returns true if it gives a row. */
static bool probe(struct whynot_search *s)
{
    const struct sql_node *root = s->source->stmt->root;
    const struct sql_node *limit = sql_kid(root, QUERY_LIMIT);
    struct sql_node *body = edit_below(s, rewrite_borrow(s->body)), *with = edit_below(s, sql_kid(root, QUERY_WITH));
    bool keep_limit = limit && !is_out(s, limit) && s->body == sql_kid(root, QUERY_BODY);
    struct sql_node *query = REWRITE(s->arena, QUERY, with, body, NULL, keep_limit ? rewrite_borrow(limit) : NULL);
    const char *sql = query && !s->arena->failed ? sql_print(s->arena, query) : NULL;
    struct db_result result;
    if (!sql) {
        s->failed = true;
        return false;
    }
    s->out->probes++;
    int64_t start = clock_now_ns(); /* needed because a failed probe reports no time of its own */
    enum err_code code = db_query(s->source->db, s->arena, sql, strlen(sql), NULL, 0, 1, &result, NULL);
    s->out->sql_ns += clock_now_ns() - start;
    if (code) s->failed = true;
    return !code && result.n_rows > 0;
}

/* True if the budget permits a probe and `reserve` probes after it. */
static bool may_probe(struct whynot_search *s, uint32_t reserve)
{
    bool time = s->out->sql_ns < 2 * s->options.time_ms * 1000000;
    if (time && s->out->probes + reserve < s->options.max_probes && !s->arena->failed) return true;
    s->out->exhausted = true;
    return false;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

static bool try_singles(struct whynot_search *s)
{
    for (uint32_t i = 0; i < s->parts.n && may_probe(s, 0); i++) {
        s->parts.list[i].out = true;
        if (probe(s)) return true;
        s->parts.list[i].out = false;
    }
    return false;
}

/* Probes all pairs. Reserves enough probes to remove and restore all parts afterwards. */
static bool try_pairs(struct whynot_search *s)
{
    struct whynot_part *list = s->parts.list;
    for (uint32_t i = 0; i < s->parts.n; i++)
        for (uint32_t j = i + 1; j < s->parts.n; j++) {
            if (!may_probe(s, s->parts.n)) return false;
            list[i].out = list[j].out = true;
            if (probe(s)) return true;
            list[i].out = list[j].out = false;
        }
    return false;
}

static void set_all(struct whynot_search *s, bool out)
{
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const struct whynot_culprit *c = &s->parts.list[i].culprit;
        bool left = c->kind == WHYNOT_ARM && c->node->slot == 0; /* one of the two sides must stay */
        s->parts.list[i].out = out && !left;
    }
}

static bool put_back(struct whynot_search *s)
{
    for (uint32_t i = s->parts.n; i-- > 0 && may_probe(s, 0);) {
        if (!s->parts.list[i].out) continue;
        s->parts.list[i].out = false;
        if (!probe(s)) s->parts.list[i].out = true;
    }
    return true;
}

static uint32_t count_out(const struct whynot_search *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->parts.n; i++) n += s->parts.list[i].out;
    return n;
}

/* Finds the set. Returns false if no probe gives a row, or if the budget ends before. */
static bool find_set(struct whynot_search *s)
{
    struct whynot *out = s->out;
    if (try_singles(s)) {
        out->minimal = true;
        return true;
    }
    if (out->exhausted) return false;
    bool sure = !s->failed;
    set_all(s, true);
    if (!may_probe(s, 0) || !probe(s)) return false;
    if (count_out(s) == 2) {
        out->minimal = sure;
        return true;
    }
    set_all(s, false);
    if (try_pairs(s)) {
        out->minimal = sure;
        return true;
    }
    bool all_pairs = !out->exhausted;
    out->exhausted = false;
    set_all(s, true);
    put_back(s);
    out->exhausted |= !all_pairs;
    out->minimal = all_pairs && !s->failed && count_out(s) == 3;
    return true;
}

static void report(struct whynot_search *s)
{
    struct whynot *out = s->out;
    for (uint32_t i = 0; i < s->parts.n && out->n_culprits < WHYNOT_MAX_CULPRITS; i++)
        if (s->parts.list[i].out) out->culprits[out->n_culprits++] = s->parts.list[i].culprit;
    for (uint32_t i = 0; i < out->n_culprits; i++) whynot_nearest(s->arena, s->source, &out->culprits[i], out);
}

static bool aggregates_all(const struct whynot_search *s, const struct sql_node *arm)
{
    const struct sql_block *block = sql_is(arm, SQL_SELECT) ? sql_block_of(s->source->bound, arm) : NULL;
    return block && block->aggregate && !block->grouped && block->n_sources;
}

/* Finds the first arm of a set operation that aggregates no rows, and makes it the probed body. Returns false if there
 * is none. */
static bool find_empty_arm(struct whynot_search *s)
{
    const struct sql_node *root = s->source->stmt->root;
    for (const struct sql_node *n = sql_kid(root, QUERY_BODY); n; n = sql_is(n, SQL_COMPOUND) ? n->kids[0] : NULL) {
        const struct sql_node *arm = sql_is(n, SQL_COMPOUND) ? n->kids[1] : n;
        if (!aggregates_all(s, arm) || !may_probe(s, 0)) continue;
        s->body = arm;
        whynot_collect(s->arena, s->source, arm, &s->parts);
        if (!probe(s)) return true;
    }
    return false;
}

static bool is_empty(struct whynot_search *s)
{
    bool compound = sql_is(s->body, SQL_COMPOUND);
    if (s->source->result && !s->source->result->n_rows) return true;
    return !probe(s) || (compound && find_empty_arm(s));
}

static void search(struct whynot_search *s)
{
    struct whynot *out = s->out;
    s->body = sql_kid(s->source->stmt->root, QUERY_BODY);
    whynot_collect(s->arena, s->source, s->source->stmt->root, &s->parts);
    if (!is_empty(s)) {
        out->status = WHYNOT_NOT_EMPTY;
    } else if (find_set(s)) {
        out->status = WHYNOT_FOUND;
        report(s);
    } else if (!s->failed && !out->exhausted && !s->parts.cut) {
        out->status = WHYNOT_NO_DATA;
    } else {
        out->status = WHYNOT_UNAVAILABLE;
        out->reason = out->exhausted ? "the probes allowed were not enough" : "a probe could not be run";
    }
}

enum err_code prov_whynot(struct arena *arena, const struct explain_source *source, const struct prov_options *options,
                          struct whynot *out)
{
    *out = (struct whynot){.status = WHYNOT_UNAVAILABLE, .reason = ""};
    if (!source->db) {
        out->reason = "there is no database to look into";
        return ERR_OK;
    }
    struct whynot_search *s = arena_new(arena, struct whynot_search);
    if (!s) return ERR_LIMIT_MEMORY;
    *s = (struct whynot_search){.arena = arena, .source = source, .options = prov_defaults(options), .out = out};
    bool failed_before = arena->failed;
    arena->failed = false;
    struct db_limits limits = prov_limit(source, &s->options);
    search(s);
    db_set_limits(source->db, &limits);
    bool failed = arena->failed;
    arena->failed = failed || failed_before;
    if (!failed) return ERR_OK;
    *out = (struct whynot){.status = WHYNOT_UNAVAILABLE, .reason = "no memory to search"};
    return ERR_LIMIT_MEMORY;
}
