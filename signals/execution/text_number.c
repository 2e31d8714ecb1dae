/* text_number: numbers kept as text are compared or sorted letter by letter, and it makes a difference.
 *
 * '95' is greater than '150', and greater than 150 too: the engine turns the number into a text where the column is one.
 * Equality does no harm. Whether anything comes out otherwise is asked of the data: texts of one length ('0012', years)
 * have the order of their numbers. */
#include "signals/support/names.h"
#include "signals/support/predicate.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>

enum { OPT_SHARE, OPT_MAX_PROBE };

static const struct vsig_option OPTIONS[] = {
    [OPT_SHARE] = {"share", 0.8, 0.5, 1, "share of a column's texts that must be numbers"},
    [OPT_MAX_PROBE] = {"max_probe", 4, 0, 100, "queries that one candidate may cost"},
    {NULL, 0, 0, 0, NULL},
};

/* What one candidate costs and has learnt. */
struct text_number_search {
    struct vsig_run *run;
    uint32_t probes;
    enum err_code code; /* of what could not be asked */
};

static bool holds_numbers_as_text(const struct vsig_run *run, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    double least = db_dialect(run->subject->db)->casts_any_text ? vsig_opt(run, OPT_SHARE) : 1;
    return stats->texts > 0 && stats->ints + stats->reals == 0 && stats->numeric_texts > 0 &&
           (double)stats->numeric_texts >= least * (double)stats->texts;
}

static bool ask(struct text_number_search *search, const char *sql)
{
    enum err_code code = ERR_LIMIT_COUNT;
    bool yes = search->probes++ < (uint32_t)vsig_opt(search->run, OPT_MAX_PROBE) &&
               vsig_probe_any(search->run->subject, sql, &code) == 1;
    if (code != ERR_OK) search->code = code;
    return yes;
}

/* The expression as a number, as the engine converts it. */
static struct sql_node *as_number(struct arena *arena, const struct sql_node *expr)
{
    struct sql_node *cast = sql_make_text(arena, SQL_CAST, "REAL"), *inner = cast ? sql_copy(arena, expr) : NULL;
    if (!inner) return NULL;
    sql_set_kid(cast, 0, inner);
    return cast;
}

/* Does some row meet the condition by letters and not by numbers, or the other way round? */
static bool compares_otherwise(struct text_number_search *search, const struct vsig_predicate *predicate)
{
    struct arena *arena = search->run->subject->arena;
    struct sql_node *other = sql_copy(arena, predicate->node);
    for (unsigned i = 0; other && i < 2 && i < other->n_kids; i++) {
        if (!other->kids[i] || !sql_plain_column(predicate->node->kids[i])) continue;
        struct sql_node *number = as_number(arena, predicate->node->kids[i]);
        if (!number) return false;
        sql_set_kid(other, i, number);
    }
    const char *by_letters = sql_print(arena, predicate->node), *by_number = other ? sql_print(arena, other) : NULL;
    const char *from = sql_print(arena, predicate->ref->source->node);
    if (!by_letters || !by_number || !from) return false;
    return ask(search, arena_printf(arena, "SELECT 1 FROM %s WHERE (%s) <> (%s) LIMIT 1", from, by_letters, by_number));
}

/* Are there two values whose order by letters is not that of their numbers? */
static bool sorts_otherwise(struct text_number_search *search, const struct schema_column *column)
{
    const struct vsig_subject *subject = search->run->subject;
    struct arena *arena = subject->arena;
    const char *table = schema_quote_table(arena, &subject->schema->tables[column->table]);
    const char *name = db_quote_name(arena, column->name, strlen(column->name));
    if (!table || !name) return false;
    return ask(search,
               arena_printf(arena,
                            "SELECT 1 FROM (SELECT %s AS x, lag(%s) OVER (ORDER BY CAST(%s AS REAL)) AS y FROM %s "
                            "WHERE %s IS NOT NULL) AS t WHERE x < y AND CAST(x AS REAL) > CAST(y AS REAL) LIMIT 1",
                            name, name, name, table, name));
}

static void report(struct vsig_run *run, const struct sql_node *node, const struct schema_column *column,
                   const char *does)
{
    const char *table = run->subject->schema->tables[column->table].name;
    struct vsig_finding *finding = vsig_fire(
        run, VSIG_ERROR, node, "%s.%s holds numbers as text; they are %s letter by letter", table, column->name, does);
    vsig_add_fact(run, finding, "column", false, "%s.%s", table, column->name);
}

static bool is_order_comparison(const struct sql_node *node)
{
    return node->kind == SQL_BETWEEN || (node->kind == SQL_BINARY && (node->op == SQL_OP_LT || node->op == SQL_OP_LE ||
                                                                      node->op == SQL_OP_GT || node->op == SQL_OP_GE));
}

static void look_at_sorting(struct text_number_search *search, const struct sql_node *node, const char *does)
{
    const struct sql_node *expr = sql_kid(node->kind == SQL_CALL ? sql_kid(node, CALL_ARGS) : node, 0);
    if (sql_is(expr, SQL_COLUMN) && expr->ref && expr->ref->kind == SQL_REF_ALIAS) expr = expr->ref->expr;
    const struct schema_column *column = expr ? query_column(search->run->subject, expr) : NULL;
    if (column && holds_numbers_as_text(search->run, column) && sorts_otherwise(search, column))
        report(search->run, node, column, does);
}

static enum err_code text_number_eval(struct vsig_run *run)
{
    struct text_number_search search = {.run = run};
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    const struct sql_node *root = run->subject->stmt->root;
    uint32_t n = vsig_predicates(run->subject, all);
    for (uint32_t i = 0; i < n; i++)
        if (all[i].bare && is_order_comparison(all[i].node) && holds_numbers_as_text(run, all[i].column) &&
            compares_otherwise(&search, &all[i]))
            report(run, all[i].node, all[i].column, "compared");
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        enum query_aggregate aggregate = query_aggregate_of(node);
        if (node->kind == SQL_TERM)
            look_at_sorting(&search, node, "sorted");
        else if (aggregate == QUERY_MAX || aggregate == QUERY_MIN)
            look_at_sorting(&search, node, "compared");
    }
    return run->verdict->state == VSIG_FIRED ? ERR_OK : search.code;
}

const struct vsig_def vsig_text_number = {
    .id = VSIG_ID_text_number,
    .name = "text_number",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence =
        "numbers that a column keeps as text are compared or sorted as text, and the data's order is another one",
    .description =
        "The column is text although its values are numbers, so '95' is greater than '150'. The comparison, the "
        "order or the extreme that the query asks for is that of the letters.",
    .example = "SELECT model FROM car ORDER BY horsepower DESC LIMIT 1 when horsepower holds '95' and '150' as text.",
    .instruction = "Convert the column first: CAST(horsepower AS REAL).",
    .options = OPTIONS,
    .eval = text_number_eval,
};
