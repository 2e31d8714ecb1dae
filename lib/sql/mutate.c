/* The driver: finds sites, samples them, and checks that each mutant is valid SQL and differs from the original. */
#include "lib/sql/mutate_ops.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SITES = 20000, MAX_NODES_MADE = 20000000 }; /* limits on the cost of hostile statements */

static const struct mutate_op OPS[SQL_MUTATOR_COUNT] = {
#define X(name, what) {#name, what, mutate_##name##_ways, mutate_##name},
    SQL_MUTATORS(X)
#undef X
};

const char *sql_mutator_name(enum sql_mutator op)
{
    return op < SQL_MUTATOR_COUNT ? OPS[op].name : "?";
}

const char *sql_mutator_meaning(enum sql_mutator op)
{
    return op < SQL_MUTATOR_COUNT ? OPS[op].what : "?";
}

/* ---- randomness ---- */

/* SplitMix64: returns a pseudorandom value for each input. */
static uint64_t scramble(uint64_t x)
{
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

uint32_t mutate_pick(const struct mutant *m, uint32_t salt, uint32_t n)
{
    return n ? (uint32_t)(scramble(m->draw + salt) % n) : 0;
}

/* ---- sites ---- */

/* One way to apply one operator at one node. */
struct site {
    enum sql_mutator op;
    const struct sql_node *at;
    uint32_t way;
    uint64_t order; /* random; sites of an operator are tried in this order */
    uint32_t round; /* index within the operator: sites of the first round precede those of the second */
};

struct sites {
    struct site *list;
    uint32_t n, cap;
};

static bool put_site(struct arena *arena, struct sites *sites, struct site site)
{
    if (sites->n == MAX_SITES) return true;
    if (sites->n == sites->cap) {
        uint32_t cap = sites->cap ? sites->cap * 2 : 128;
        struct site *list = arena_new_array(arena, cap, struct site);
        if (!list) return false;
        if (sites->n) memcpy(list, sites->list, sites->n * sizeof *list);
        sites->list = list;
        sites->cap = cap;
    }
    sites->list[sites->n++] = site;
    return true;
}

static int by_order(const void *x, const void *y)
{
    const struct site *a = x, *b = y;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int by_round(const void *x, const void *y)
{
    const struct site *a = x, *b = y;
    if (a->round != b->round) return a->round < b->round ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Finds all sites, ordered so that each operator has one site before any has a second. */
static bool find_sites(const struct mutant *m, uint64_t seed, struct sites *sites)
{
    const struct sql_node *root = m->bound->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        for (unsigned op = 0; op < SQL_MUTATOR_COUNT; op++) {
            uint32_t ways = OPS[op].ways(m, n);
            for (uint32_t way = 0; way < ways; way++) {
                uint64_t order = scramble(seed ^ scramble(((uint64_t)op << 40) | ((uint64_t)n->id << 8) | way));
                if (!put_site(m->arena, sites, (struct site){(enum sql_mutator)op, n, way, order, 0})) return false;
            }
        }
    if (!sites->n) return true;
    qsort(sites->list, sites->n, sizeof *sites->list, by_order);
    for (uint32_t i = 1; i < sites->n; i++)
        if (sites->list[i].op == sites->list[i - 1].op) sites->list[i].round = sites->list[i - 1].round + 1;
    qsort(sites->list, sites->n, sizeof *sites->list, by_round);
    return true;
}

/* ---- one mutant ---- */

static bool copy_statement(struct mutant *m, const struct sql_stmt *stmt)
{
    m->root = sql_copy(m->arena, stmt->root);
    m->copy = arena_new_array(m->arena, stmt->n_nodes, struct sql_node *);
    if (!m->root || !m->copy) return false;
    const struct sql_node *from = stmt->root;
    for (struct sql_node *to = m->root; to && from; to = sql_walk(m->root, to), from = sql_walk(stmt->root, from))
        if (from->id < stmt->n_nodes) m->copy[from->id] = to;
    return true;
}

static bool is_below(const struct sql_node *root, const struct sql_node *n)
{
    while (n && n != root) n = n->parent;
    return n != NULL;
}

/* True if the select list has an aggregate, so that ORDER BY may have one without GROUP BY. */
static bool aggregates_items(const struct sql_block *block)
{
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (const struct sql_node *n = items; n;
         n = n->kind == SQL_SUBQUERY ? sql_walk_over(items, n) : sql_walk(items, n))
        if (sql_is_aggregate(n)) return true;
    return false;
}

/* True if no aggregate is at a place where the engines refuse it. Such places are WHERE, ON, GROUP BY, and ORDER BY of
 * a query without aggregation. */
static bool aggregates_fit(const struct sql_bound *bound)
{
    const struct sql_node *root = bound->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (!sql_is_aggregate(n)) continue;
        const struct sql_block *block = sql_block_of(bound, n);
        enum sql_clause clause = sql_clause_of(n);
        if (clause == SQL_CLAUSE_WHERE || clause == SQL_CLAUSE_FROM || clause == SQL_CLAUSE_GROUP) return false;
        if (clause == SQL_CLAUSE_ORDER && block && !block->grouped && !aggregates_items(block)) return false;
    }
    return true;
}

/* True if the mutant parses, binds and differs from the original. Sets the span to that of the node whose id is
 * `touched`. Printing and parsing preserve the shape of the tree, and so the ids. */
static bool is_sound(struct mutant *m, const char *sql, uint32_t touched, const char *original,
                     struct sql_mutation *out)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    if (sql_parse(m->arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return false;
    if (sql_bind(m->arena, stmt, m->env->catalog, &bound) != ERR_OK || !aggregates_fit(bound)) return false;
    const char *form = sql_normal_form(m->arena, stmt->root);
    if (!form || strcmp(form, original) == 0) return false;
    out->end = (uint32_t)strlen(sql);
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (n->id == touched) {
            out->start = n->start;
            out->end = n->end;
        }
    return true;
}

/* Makes the mutant of a site. Its text lives in the mutant's own arena. Returns false if the result is unsound. */
static bool make_mutant(struct mutant *m, const struct site *site, const char *original, struct sql_mutation *out)
{
    if (!copy_statement(m, m->bound->stmt)) return false;
    m->draw = site->order;
    struct sql_node *touched = OPS[site->op].apply(m, site->at, site->way);
    if (!touched) return false;
    sql_renumber(m->root);
    if (!is_below(m->root, touched)) touched = m->root;
    const char *sql = sql_print(m->arena, m->root);
    *out = (struct sql_mutation){.op = site->op};
    if (!sql || !is_sound(m, sql, touched->id, original, out)) return false;
    out->sql = sql;
    return true;
}

static bool is_new(const struct sql_mutation *list, uint32_t n, const char *sql)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].sql, sql) == 0) return false;
    return true;
}

int sql_mutate(struct arena *arena, const struct sql_bound *bound, const struct sql_mutate_env *env, uint64_t seed,
               uint32_t n, struct sql_mutation **out)
{
    struct sites sites = {0};
    struct mutant finder = {.arena = arena, .bound = bound, .env = env};
    *out = NULL;
    if (bound->diags) return 0;
    const char *original = sql_normal_form(arena, bound->stmt->root);
    if (!original || !find_sites(&finder, seed, &sites)) return -1;
    uint32_t most = n && n < sites.n ? n : sites.n, made = 0;
    struct sql_mutation *list = arena_new_array(arena, most, struct sql_mutation);
    if (!list) return -1;
    struct arena scratch;
    arena_init(&scratch, 0);
    uint32_t tries = MAX_NODES_MADE / (bound->stmt->n_nodes + 1);
    bool full = false;
    for (uint32_t i = 0; i < sites.n && i < tries && made < most && !full; i++) {
        struct mutant m = {.arena = &scratch, .bound = bound, .env = env};
        struct sql_mutation mutation;
        if (make_mutant(&m, &sites.list[i], original, &mutation) && is_new(list, made, mutation.sql)) {
            mutation.sql = arena_strdup(arena, mutation.sql);
            full = mutation.sql == NULL;
            list[made++] = mutation;
        }
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    if (full) return -1;
    *out = list;
    return (int)made;
}
