/* null_first: ORDER BY ... LIMIT n returns a row whose key is NULL, because the engine sorts NULL first.
 *
 * SQLite treats NULL as less than any value, so an ascending order begins with it. PostgreSQL treats NULL as greater,
 * so a descending order begins with it. A blank text and a date of zeros also stand for a missing value. The probe is
 * the query itself with its keys in the output. It therefore has all conditions that exclude NULL. */
#include "signals/support/names.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"
#include "signals/support/widened.h"

#include <string.h>

/* True if the engine sorts NULL first for this term by default. NULLS FIRST and NULLS LAST in the query are intended
 * and return false. */
static bool begins_with_null(const struct vsig_run *run, const struct sql_node *term)
{
    if (term->flags & (SQL_F_NULLS_FIRST | SQL_F_NULLS_LAST)) return false;
    return db_dialect(run->subject->db)->nulls_are_least == (term->op != SQL_DESC);
}

/* True for a text that stands for NULL: an empty or blank one, or a date of zeros. */
static bool is_blank(const struct db_value *value)
{
    if (value->type != DB_TEXT) return false;
    for (size_t i = 0; i < value->len; i++)
        if (!strchr(" 0-:/.", value->text[i])) return false;
    return value->len == 0 || memchr(value->text, '-', value->len) || memchr(value->text, ' ', value->len);
}

/* True if the statistics show that the key always has a value. The query then need not run again. */
static bool always_has_value(const struct vsig_run *run, const struct sql_node *query, const struct sql_node *term)
{
    const struct sql_node *items = sql_kid(sql_kid(query, QUERY_BODY), SELECT_ITEMS);
    const struct sql_node *key = vsig_term_expression(term, items);
    if (!key || query_aggregate_of(key) == QUERY_COUNT) return key != NULL;
    const struct sql_ref *ref = sql_plain_column(key);
    const struct schema_column *column = ref ? schema_column_of(run->subject->schema, ref) : NULL;
    if (!column || !ref->source || ref->source->kind != SQL_SOURCE_TABLE || ref->source->nullable) return false;
    const struct schema_stats *stats = &column->stats;
    /* otherwise `min` is a number, and the least text is unknown */
    bool one_kind = stats->texts == 0 || stats->ints + stats->reals == 0;
    return !stats->sampled && stats->nulls == 0 && one_kind && !is_blank(&stats->min);
}

static enum err_code look_at(struct vsig_run *run, const struct sql_node *query)
{
    struct vsig_subject *subject = run->subject;
    const struct sql_node *term = sql_kid(sql_kid(query, QUERY_ORDER), 0);
    long cut = vsig_cut_of(query);
    uint32_t n_keys = 0;
    if (!cut || !term || always_has_value(run, query, term) || vsig_is_correlated(subject, query)) return ERR_OK;
    const char *sql = vsig_widened(subject, query, cut + 1, &n_keys);
    if (!sql) return subject->arena->failed ? ERR_LIMIT_MEMORY : ERR_OK;
    struct db_result result;
    enum err_code code = vsig_probe(subject, sql, 0, &result);
    if (code != ERR_OK) return code;
    if (result.n_rows <= (uint32_t)cut || result.n_columns <= n_keys) return ERR_OK;
    const struct db_value *key = &result.values[result.n_columns - n_keys];
    bool null = key->type == DB_NULL && begins_with_null(run, term);
    if (!null && !is_blank(key)) return ERR_OK;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, term, "the first row has no value to sort by, because %s is sorted first",
                  null ? "NULL" : "a placeholder for a missing value");
    vsig_add_clause(run, finding, sql_kid(query, QUERY_LIMIT));
    return ERR_OK;
}

static enum err_code null_first_eval(struct vsig_run *run)
{
    enum err_code worst = ERR_OK;
    const struct sql_node *root = run->subject->stmt->root;
    if (vsig_question_says_null(run->subject)) return ERR_OK;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        enum err_code code = n->kind == SQL_QUERY ? look_at(run, n) : ERR_OK;
        if (code != ERR_OK) worst = code;
    }
    return run->verdict->state == VSIG_FIRED ? ERR_OK : worst;
}

const struct vsig_def vsig_null_first = {
    .id = VSIG_ID_null_first,
    .name = "null_first",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "ORDER BY with LIMIT returns a row whose order key is NULL",
    .description = "A NULL key means that the value is unknown, but the engine can sort NULL first. SQLite does so in "
                   "ascending order, and PostgreSQL in descending order.",
    .example = "`SELECT name FROM singer ORDER BY age LIMIT 1` returns a singer whose age is NULL, if there is one.",
    .instruction = "Exclude rows without a key (`WHERE key IS NOT NULL`), or sort with NULLS LAST.",
    .eval = null_first_eval,
};
