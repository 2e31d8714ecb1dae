#include "signals/support/probe.h"

#include <string.h>

enum err_code vsig_probe(struct vsig_subject *subject, const char *sql, uint32_t stop_rows, struct db_result *out)
{
    if (!sql) return ERR_LIMIT_MEMORY;
    struct db_limits limits = db_get_limits(subject->db), bounded = limits;
    if (bounded.time_ms > VSIG_PROBE_MS) bounded.time_ms = VSIG_PROBE_MS;
    db_set_limits(subject->db, &bounded);
    enum err_code code =
        db_query(subject->db, subject->arena, sql, __builtin_strlen(sql), NULL, 0, stop_rows, out, NULL);
    db_set_limits(subject->db, &limits);
    return code;
}

int vsig_probe_any(struct vsig_subject *subject, const char *sql, enum err_code *code)
{
    struct db_result result;
    *code = vsig_probe(subject, sql, 1, &result);
    if (*code != ERR_OK) return -1;
    return result.n_rows > 0;
}

const char *vsig_probe_with(struct vsig_subject *subject, const char *name, const struct sql_node *query)
{
    const struct sql_node *with = sql_kid(subject->stmt->root, QUERY_WITH);
    const char *own = with ? sql_print(subject->arena, with) : "";
    const char *body = query ? sql_print(subject->arena, query) : "";
    if (!own || !body) return NULL;
    if (!query) return *own ? arena_printf(subject->arena, "%s ", own) : "";
    return arena_printf(subject->arena, "%s%s%s AS (%s) ", *own ? own : "WITH ", *own ? ", " : "", name, body);
}

int vsig_probe_proves(struct vsig_subject *subject, const char *sql, enum err_code *code)
{
    *code = ERR_OK;
    if (!sql || !subject->db || db_dialect(subject->db)->no_data) return 0;
    return vsig_probe_any(subject, sql, code) > 0;
}

const char *vsig_probe_rows(struct vsig_subject *subject, const struct vsig_block_shape *shape, vsig_sources without,
                            const struct sql_node *skipped)
{
    const struct sql_node *from = sql_kid(shape->block->node, SELECT_FROM);
    const char *text = from ? sql_print(subject->arena, from) : NULL, *word = "WHERE";
    for (uint32_t i = 0; text && i < shape->n_conditions; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        if (condition->clause != SQL_CLAUSE_WHERE || condition->sources & without || condition->node == skipped)
            continue;
        const char *printed = sql_print(subject->arena, condition->node);
        text = printed ? arena_printf(subject->arena, "%s %s (%s)", text, word, printed) : NULL;
        word = "AND";
    }
    return text;
}

const char *vsig_probe_column(struct vsig_subject *subject, const struct sql_source *source,
                              const struct schema_column *column)
{
    const char *of = source->name ? db_quote_name(subject->arena, source->name, source->name_len) : NULL;
    const char *name = of ? db_quote_name(subject->arena, column->name, strlen(column->name)) : NULL;
    return name ? arena_printf(subject->arena, "%s.%s", of, name) : NULL;
}

/* True if `inner` is `outer` or one of its descendants. */
static bool is_below(const struct sql_node *inner, const struct sql_node *outer)
{
    while (inner && inner != outer) inner = inner->parent;
    return inner != NULL;
}

bool vsig_is_correlated(const struct vsig_subject *subject, const struct sql_node *query)
{
    (void)subject;
    for (const struct sql_node *n = query; n; n = sql_walk(query, n))
        if (n->kind == SQL_COLUMN && n->ref && n->ref->levels > 0 && n->ref->source &&
            !is_below(n->ref->source->node, query))
            return true;
    return false;
}
