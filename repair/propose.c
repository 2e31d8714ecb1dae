/* Collects proposals (propose.h): nearest stored values, parts of the question, scripts of examples, then single edits.
 *
 * Each source adds its proposals in order of preference, up to REPAIR_MAX_PROPOSALS in total. repair_add drops
 * duplicates and the query itself. If a name does not bind, the sources are repairs of names, and then the scripts. */
#include "lib/schema/edits.h"
#include "repair/propose_int.h"
#include "repair/transfer.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_NEAREST = 2, SEED = 1, MAX_NODES_LOOKED_AT = 100000, MAX_NODES_EDITED = 200000 };

bool repair_may_look(struct proposals *p)
{
    uint32_t nodes = p->stmt->n_nodes + 1;
    if (p->nodes_left < nodes) return false;
    p->nodes_left -= nodes;
    return true;
}

static bool is_known(const struct proposals *p, const char *sql)
{
    bool known = strcmp(sql, p->sql) == 0;
    for (uint32_t i = 0; i < p->n && !known; i++) known = strcmp(p->items[i].sql, sql) == 0;
    return known;
}

void repair_add(struct proposals *p, const char *sql, const char *reason)
{
    if (!sql || p->n == p->room || is_known(p, sql)) return;
    p->items[p->n++] = (struct repair_proposal){sql, reason};
}

/* Returns the message of the first suspect that shares a byte with [start, end). */
static const char *suspect_at(const struct proposals *p, uint32_t start, uint32_t end)
{
    for (uint32_t i = 0; i < p->query->n_suspects; i++) {
        const struct repair_suspect *suspect = &p->query->suspects[i];
        if (suspect->start < end && start < suspect->end) return suspect->message;
    }
    return NULL;
}

/* --- texts that their column does not hold --- */

static const struct schema_column *compared_column(const struct proposals *p, const struct sql_node *literal)
{
    const struct sql_node *parent = literal->parent;
    if (!sql_is(parent, SQL_BINARY) || !sql_is_comparison(parent->op)) return NULL;
    const struct sql_node *other = sql_kid(parent, sql_kid(parent, 0) == literal);
    return sql_is(other, SQL_COLUMN) && other->ref ? schema_column_of(p->schema, other->ref) : NULL;
}

const char *repair_replaced(struct arena *arena, const char *sql, uint32_t start, uint32_t end, const char *text)
{
    return arena_printf(arena, "%.*s%s%s", (int)start, sql, text, sql + end);
}

static void add_stored(struct proposals *p, const struct sql_node *literal)
{
    const struct schema_column *column = compared_column(p, literal);
    const char *found[MAX_NEAREST];
    if (!column || !literal->text_len) return;
    if (schema_column_is_denied(p->schema, column, p->query->deny_columns, p->query->n_deny_columns)) return;
    if (schema_column_has(p->schema, column, literal->text, literal->text_len, true) != 0) return;
    uint32_t n =
        schema_nearest_values(p->arena, p->schema, column, literal->text, literal->text_len, found, MAX_NEAREST);
    for (uint32_t i = 0; i < n; i++) {
        const struct db_value value = {.type = DB_TEXT, .text = found[i], .len = strlen(found[i])};
        const char *quoted = db_quote_value(p->arena, &value);
        const char *reason = suspect_at(p, literal->start, literal->end);
        if (quoted) repair_add(p, repair_replaced(p->arena, p->sql, literal->start, literal->end, quoted), reason);
    }
}

static void add_values(struct proposals *p)
{
    for (const struct sql_node *n = p->stmt->root; n; n = sql_walk(p->stmt->root, n))
        if (sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_STRING) add_stored(p, n);
}

/* --- edit scripts of examples --- */

struct transferred {
    struct repair_proposal list[REPAIR_MAX_TRANSFERS];
    int n;
};

/* Computes the queries of one example's script in temporary memory. Returns false with `err` set on an error. */
static bool transfer(struct proposals *p, const struct repair_example *example, struct transferred *out,
                     struct err *err)
{
    struct repair_proposal *list = NULL;
    out->n = repair_transfer(&p->scratch, p->schema, p->query, example, &list, err);
    bool whole = true;
    for (int i = 0; i < out->n && whole; i++) {
        out->list[i].sql = arena_strdup(p->arena, list[i].sql);
        out->list[i].reason = arena_strdup(p->arena, list[i].reason);
        whole = out->list[i].sql && out->list[i].reason;
    }
    arena_reset(&p->scratch);
    if (!whole) err_set(err, ERR_LIMIT_MEMORY, "the query is too large to repair");
    return whole && out->n >= 0;
}

/* Adds the best query of each of the nearest examples whose scripts fit, then the second best of each, and so on.
 * Returns false with `err` set on an error. */
static bool add_transferred(struct proposals *p, struct err *err)
{
    struct transferred fitting[REPAIR_MAX_FITTING];
    uint32_t n = 0, before = p->n;
    for (uint32_t i = 0; i < MIN(p->query->n_examples, REPAIR_MAX_EXAMPLES) && n < REPAIR_MAX_FITTING; i++) {
        if (!transfer(p, &p->query->examples[i], &fitting[n], err)) return false;
        n += fitting[n].n > 0;
    }
    for (int place = 0; place < REPAIR_MAX_TRANSFERS; place++)
        for (uint32_t i = 0; i < n && p->n - before < REPAIR_MAX_TRANSFERRED; i++)
            if (place < fitting[i].n) repair_add(p, fitting[i].list[place].sql, fitting[i].list[place].reason);
    return true;
}

/* --- single edits --- */

/* Returns the message of a suspect whose part of the query the other query changes. Returns NULL if there is none. */
static const char *reason_for(struct proposals *p, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_diff_span *spans = NULL;
    const char *reason = NULL;
    if (!p->query->n_suspects || !repair_may_look(p)) return NULL;
    const struct sql_diff *diff = sql_parse(&p->scratch, sql, strlen(sql), NULL, &stmt) == ERR_OK
                                      ? sql_diff(&p->scratch, p->stmt->root, stmt->root)
                                      : NULL;
    int n = diff ? sql_diff_spans(&p->scratch, diff, &spans) : 0;
    for (int i = 0; i < n && !reason; i++)
        reason = suspect_at(p, spans[i].start, MAX(spans[i].end, spans[i].start + 1));
    arena_reset(&p->scratch);
    return reason;
}

/* True for edits that may repair a query. The other edits only introduce errors, for training. */
static bool may_repair(enum sql_mutator op)
{
    static const bool never[SQL_MUTATOR_COUNT] = {
        [SQL_MUTATE_string_column] = true,
        [SQL_MUTATE_drop_join_condition] = true,
        [SQL_MUTATE_subquery_to_literal] = true,
        [SQL_MUTATE_idle_condition] = true,
        [SQL_MUTATE_percentage_integer_division] = true,
    };
    return !never[op];
}

static int add_edits(struct proposals *p, struct err *err)
{
    const struct schema_edits_options options = {
        .values = p->query->values,
        .deny_columns = p->query->deny_columns,
        .n_deny_columns = p->query->n_deny_columns,
        .seed = SEED,
        .n = MAX(REPAIR_MAX_PROPOSALS, MAX_NODES_EDITED / (p->stmt->n_nodes + 1))};
    struct sql_mutation *edits = NULL;
    int n = schema_edits(p->arena, p->schema, &options, p->sql, p->query->len, &edits, err);
    const char **reasons = n < 0 ? NULL : arena_array(p->arena, (size_t)n + 1, sizeof *reasons);
    if (n >= 0 && !reasons) err_set(err, ERR_LIMIT_MEMORY, "the query is too large to repair");
    if (!reasons) return -1;
    for (int i = 0; i < n; i++) reasons[i] = reason_for(p, edits[i].sql);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++)
            if (may_repair(edits[i].op) && (reasons[i] == NULL) == pass && repair_keeps_said(p, edits[i].sql))
                repair_add(p, edits[i].sql, reasons[i]);
    return n;
}

static int propose(struct proposals *p, struct err *err)
{
    const struct repair_query *query = p->query;
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    enum err_code code = sql_parse(p->arena, p->sql, query->len, NULL, &stmt);
    if (code == ERR_OK) code = sql_bind(p->arena, stmt, &p->schema->catalog, &bound);
    p->stmt = stmt;
    if (code == ERR_OK) {
        p->bound = bound;
        if (query->links) repair_find_said(p);
        if (query->values) add_values(p);
        if (query->links) repair_propose_asked(p);
        return add_transferred(p, err) && add_edits(p, err) >= 0 ? (int)p->n : -1;
    }
    if (bound) repair_propose_names(p, bound);
    if (bound && !add_transferred(p, err)) return -1;
    const struct sql_diag *diag = bound && bound->diags ? bound->diags : stmt ? stmt->diags : NULL;
    if (!p->n) err_set(err, code, "%s", diag ? diag->message : err_meaning(code));
    return p->n ? (int)p->n : -1;
}

int repair_propose(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                   struct repair_proposal **out, struct err *err)
{
    struct proposals p = {.arena = arena,
                          .schema = schema,
                          .query = query,
                          .sql = arena_strndup(arena, query->sql, query->len),
                          .items = arena_new_array(arena, REPAIR_MAX_PROPOSALS, struct repair_proposal),
                          .room = REPAIR_MAX_PROPOSALS,
                          .nodes_left = MAX_NODES_LOOKED_AT};
    *out = p.items;
    if (!p.sql || !p.items) {
        err_set(err, ERR_LIMIT_MEMORY, "the query is too large to repair");
        return -1;
    }
    arena_init(&p.scratch, 0);
    int n = propose(&p, err);
    arena_free(&p.scratch);
    return n;
}

bool repair_is_better(double before, double after, double threshold, double margin)
{
    return after >= threshold && !(after - before < margin);
}

/* --- steps between two queries --- */

static const char *text_of(struct arena *arena, const char *sql, const struct sql_node *node)
{
    return node ? arena_strndup(arena, sql + node->start, node->end - node->start) : NULL;
}

int repair_steps(struct arena *arena, const char *before, const char *after, struct repair_step out[REPAIR_MAX_STEPS])
{
    struct sql_stmt *a = NULL, *b = NULL;
    int n = 0;
    if (sql_parse(arena, before, strlen(before), NULL, &a) != ERR_OK ||
        sql_parse(arena, after, strlen(after), NULL, &b) != ERR_OK)
        return -1;
    const struct sql_diff *diff = sql_diff(arena, a->root, b->root);
    if (!diff) return -1;
    for (uint32_t i = 0; i < diff->n_edits && n < REPAIR_MAX_STEPS; i++) {
        const struct sql_edit *edit = &diff->edits[i];
        const struct sql_node *at = edit->from ? edit->from : edit->to;
        out[n++] = (struct repair_step){sql_clause_name(sql_clause_of(at)), text_of(arena, before, edit->from),
                                        text_of(arena, after, edit->to)};
    }
    return n;
}
