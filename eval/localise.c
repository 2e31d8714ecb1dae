/* Normalises both trees before the comparison: each column gets its base table, and aliases of tables and columns are
 * removed. The remaining differences are differences of meaning. Spans still refer to the candidate's text. */
#include "eval/localise.h"
#include "lib/sql/diff.h"

#include <math.h>
#include <string.h>

static const size_t arena_bytes = 32U << 20;

static void set_text(const char **text, uint32_t *len, const char *value)
{
    *text = value;
    *len = value ? (uint32_t)strlen(value) : 0;
}

static void plain_column(struct sql_node *node, const struct sql_catalog *catalog)
{
    const struct sql_ref *ref = node->ref;
    if (!ref || ref->table < 0 || ref->column < 0) return;
    set_text(&node->text, &node->text_len, catalog->column_name(catalog->self, ref->table, ref->column));
    set_text(&node->text2, &node->text2_len, catalog->table_name(catalog->self, ref->table));
    node->text3 = NULL;
    node->text3_len = 0;
    node->quote = 0;
}

static void drop_alias(struct sql_node *node)
{
    node->alias = NULL;
    node->alias_len = 0;
    node->alias_quote = 0;
}

static void strip_names(struct sql_node *root, const struct sql_catalog *catalog)
{
    for (struct sql_node *node = root; node; node = sql_walk(root, node)) {
        node->flags &= ~(uint32_t)(SQL_F_AS | SQL_F_OUTER_KW | SQL_F_EQ2);
        if (node->kind == SQL_COLUMN) plain_column(node, catalog);
        if (node->kind == SQL_TABLE) drop_alias(node);
        if (node->kind == SQL_ITEM) set_text(&node->text, &node->text_len, NULL);
    }
}

static struct sql_node *read_tree(struct arena *arena, const struct sql_catalog *catalog, const char *sql, size_t len)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(arena, sql, len, NULL, &stmt) != ERR_OK || sql_bind(arena, stmt, catalog, &bound) != ERR_OK)
        return NULL;
    strip_names(stmt->root, catalog);
    return stmt->root;
}

/* An empty span marks a position where something is missing. It overlaps any range that touches it. */
static bool overlaps(uint32_t start, uint32_t end, const struct sql_diff_span *span)
{
    if (span->end > span->start && end > start) return start < span->end && end > span->start;
    return start <= span->end && end >= span->start;
}

static bool meets(uint32_t start, uint32_t end, const struct sql_diff_span *spans, int n)
{
    for (int i = 0; i < n; i++)
        if (overlaps(start, end, &spans[i])) return true;
    return false;
}

/* True for nodes that a finding can name: items, tables, joins, conditions and the other clauses. */
static bool is_clause(const struct sql_node *node)
{
    switch (node->kind) {
    case SQL_ITEM:
    case SQL_STAR:
    case SQL_TABLE:
    case SQL_ON:
    case SQL_WHERE:
    case SQL_GROUP:
    case SQL_HAVING:
    case SQL_ORDER:
    case SQL_LIMIT: return true;
    default: return false;
    }
}

/* Returns the share of the candidate's clauses that overlap the difference. */
static double share_of_clauses(const struct sql_node *root, const struct sql_diff_span *spans, int n)
{
    unsigned all = 0, met = 0;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        if (!is_clause(node)) continue;
        all++;
        met += meets(node->start, node->end, spans, n);
    }
    return all ? (double)met / all : 0;
}

static void compare(struct localisation *out, const struct msg_judged *candidate, const struct sql_node *root,
                    const struct sql_diff_span *spans, int n)
{
    unsigned clauses = 0;
    for (uint32_t i = 0; i < candidate->n_findings; i++)
        for (uint32_t k = 0; k < candidate->findings[i].n_clauses; k++) {
            const struct msg_clause *clause = &candidate->findings[i].clauses[k];
            if (candidate->findings[i].severity == MSG_NOTE) continue;
            clauses++;
            out->hit |= meets(clause->start, clause->end, spans, n);
        }
    out->pointed = clauses > 0;
    out->by_chance = 1 - pow(1 - share_of_clauses(root, spans, n), clauses);
}

struct localisation localise(const struct sql_catalog *catalog, const struct msg_judged *candidate, const char *gold)
{
    struct localisation out = {0};
    struct arena arena;
    arena_init(&arena, arena_bytes);
    struct sql_node *a = read_tree(&arena, catalog, candidate->sql.bytes, candidate->sql.len);
    struct sql_node *b = a ? read_tree(&arena, catalog, gold, strlen(gold)) : NULL;
    struct sql_diff *diff = b ? sql_diff(&arena, a, b) : NULL;
    struct sql_diff_span *spans = NULL;
    int n = diff ? sql_diff_spans(&arena, diff, &spans) : -1;
    out.known = n > 0;
    if (out.known) compare(&out, candidate, a, spans, n);
    arena_free(&arena);
    return out;
}
