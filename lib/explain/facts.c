/* Narrates facts of the data that are not provenance: the stored form of a literal, and the number of rows of a join.
 *
 * The stored forms come from the schema's value index, so they need no statement. One statement counts the rows of the
 * join and of its tables. It is limited by a number of engine steps, so the result depends on the data and not on the
 * load of the machine. */
#include "lib/base/clock.h"
#include "lib/explain/narrator.h"

#include <string.h>

enum {
    MAX_FORMS = 3,
    MAX_HITS = 16,
    MAX_COUNTED_SOURCES = 6,
    MAX_COUNT_STEPS = 30000, /* engine steps; they take much less than 1 ms */
    COUNT_MS = 500,
};

/* --- how a literal is stored --- */

struct forms {
    const struct schema_column *column;
    const struct sql_node *literal;
    const char *forms[MAX_FORMS];
    uint32_t n, more;
};

static bool find_forms(struct narrator *t, const struct sql_node *side, const struct sql_node *literal,
                       struct forms *out)
{
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(side));
    bool is_text = sql_is(literal, SQL_LITERAL) ? literal->op == SQL_LIT_STRING : sql_is(literal, SQL_COLUMN);
    if (!column || !is_text || narrate_denied(t, column)) return false;
    if (schema_column_has(t->index, column, literal->text, literal->text_len, true) != 0) return false;
    *out = (struct forms){.column = column, .literal = literal};
    struct schema_hit hits[MAX_HITS];
    uint32_t n = schema_values_with(t->index, literal->text, literal->text_len, hits, MAX_HITS);
    for (uint32_t i = 0; i < n; i++) {
        if (hits[i].column != column->id || hits[i].exact) continue;
        if (out->n < MAX_FORMS)
            out->forms[out->n++] = hits[i].form;
        else
            out->more++;
    }
    return true;
}

static void say_forms(struct narrator *t, struct say *out, const struct forms *forms)
{
    say(out, "no value of ");
    say_column(t, out, forms->column);
    say(out, " is written ");
    say_quoted(out, forms->literal->text, forms->literal->text_len, NARRATE_LITERAL_BYTES);
    for (uint32_t i = 0; i < forms->n; i++) {
        say(out, i == 0 ? "; it is stored as " : i + 1 < forms->n ? ", " : " and ");
        say_quoted(out, forms->forms[i], strlen(forms->forms[i]), NARRATE_LITERAL_BYTES);
    }
}

static void narrate_forms(struct narrator *t, const struct sql_node *condition, const struct sql_node *side,
                          const struct sql_node *literal)
{
    struct forms forms;
    if (!side || !literal || !find_forms(t, side, literal, &forms)) return;
    narrate_begin(t);
    say_forms(t, &t->premise, &forms);
    say_forms(t, &t->prose, &forms);
    narrate_end(t, EXPLAIN_FILTER, condition, true);
}

void narrate_stored_forms(struct narrator *t, const struct sql_node *condition)
{
    if (!narrate_shows_values(t)) return;
    uint32_t looked = 0;
    for (const struct sql_node *n = condition; n && looked < NARRATE_MAX_LIST; n = sql_walk(condition, n)) {
        if (sql_is(n, SQL_QUERY)) return; /* conditions of an inner query are narrated with that query */
        if (n->kind == SQL_BINARY && (n->op == SQL_OP_EQ || n->op == SQL_OP_NE || n->op == SQL_OP_IS)) {
            looked++;
            narrate_forms(t, condition, n->kids[0], sql_plain_literal(n->kids[1]));
            narrate_forms(t, condition, n->kids[1], sql_plain_literal(n->kids[0]));
        } else if (n->kind == SQL_IN && sql_is(n->kids[IN_RIGHT], SQL_LIST)) {
            const struct sql_node *list = n->kids[IN_RIGHT];
            for (uint32_t i = 0; i < list->n_kids && looked < NARRATE_MAX_LIST; i++, looked++)
                narrate_forms(t, condition, n->kids[IN_VALUE], sql_plain_literal(list->kids[i]));
        }
    }
}

/* --- how often the join repeats rows --- */

static const char *slice(struct narrator *t, const struct sql_node *node)
{
    if (!node || node->start >= node->end) return "";
    const char *text = arena_strndup(t->arena, t->source->stmt->text + node->start, node->end - node->start);
    return text ? text : "";
}

/* Returns a statement that counts the join: SELECT COUNT(*), COUNT(DISTINCT key), ... FROM ... WHERE .... Returns NULL
 * if a table has no key of one column.
 *
 * The statement may use as many engine steps as a small join needs. So whether the counts are narrated depends only on
 * the data, and not on the load. */
static const char *make_count(struct narrator *t, const struct sql_block *block)
{
    char *sql = arena_strdup(t->arena, "SELECT COUNT(*)");
    for (uint32_t i = 0; sql && i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        const struct schema_table *table = &t->index->tables[source->table];
        const char *key = table->n_pk == 1 ? NULL : db_dialect(t->source->db)->row_id, *name;
        if (table->is_view || (table->n_pk != 1 && !key)) return NULL;
        for (uint32_t c = 0; !key && c < table->n_columns; c++)
            if (table->columns[c].pk) key = table->columns[c].name;
        name = db_quote_name(t->arena, source->name, source->name_len);
        key = key ? db_quote_name(t->arena, key, strlen(key)) : NULL;
        sql = name && key ? arena_printf(t->arena, "%s, COUNT(DISTINCT %s.%s)", sql, name, key) : NULL;
    }
    return sql ? arena_printf(t->arena, "%s %s %s", sql, slice(t, sql_kid(block->node, SELECT_FROM)),
                              slice(t, sql_kid(block->node, SELECT_WHERE)))
               : NULL;
}

/* Writes "2 different rows of vessel" in the premise, and "2 different vessels" or "1 vessel" in the prose. */
static void say_distinct_rows(struct narrator *t, struct say *out, uint64_t n, const struct sql_source *source)
{
    if (!out->prose) {
        say_counted(out, n, "different row of ", "different rows of ");
        say_source(t, out, source);
        return;
    }
    if (n > 0)
        say_counted(out, n, "", "different ");
    else
        say(out, "no ");
    (n == 1 ? say_source : say_source_plural)(t, out, source);
}

static void say_join_counts(struct narrator *t, struct say *out, const struct sql_block *block,
                            const struct db_value *counts)
{
    say(out, "the join gives ");
    say_counted(out, (uint64_t)counts[0].i, "row", "rows");
    say(out, ", of ");
    for (uint32_t i = 0; i < block->n_sources; i++) {
        say_comma(out, i, block->n_sources);
        say_distinct_rows(t, out, (uint64_t)counts[i + 1].i, &block->sources[i]);
    }
}

static bool can_count(const struct narrator *t, const struct sql_block *block)
{
    if (!t->source->db || !t->options->may_probe || block->n_sources < 2 || block->n_sources > MAX_COUNTED_SOURCES)
        return false;
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].kind != SQL_SOURCE_TABLE || block->sources[i].table < 0) return false;
    return !sql_kid(t->source->stmt->root, QUERY_WITH);
}

void narrate_join_counts(struct narrator *t, const struct sql_block *block)
{
    if (!can_count(t, block)) return;
    const char *sql = make_count(t, block);
    struct db_limits limits = db_get_limits(t->source->db), own = limits;
    struct db_result result;
    if (!sql) return;
    if (own.time_ms > COUNT_MS) own.time_ms = COUNT_MS;
    if (own.max_steps == 0 || own.max_steps > MAX_COUNT_STEPS) own.max_steps = MAX_COUNT_STEPS;
    db_set_limits(t->source->db, &own);
    int64_t started = clock_now_ns();
    enum err_code code = db_query(t->source->db, t->arena, sql, strlen(sql), NULL, 0, 1, &result, NULL);
    t->sql_ns += clock_now_ns() - started;
    db_set_limits(t->source->db, &limits);
    if (code != ERR_OK || result.n_rows != 1 || result.n_columns != block->n_sources + 1) return;
    narrate_begin(t);
    say_join_counts(t, &t->premise, block, result.values);
    say_join_counts(t, &t->prose, block, result.values);
    narrate_end(t, EXPLAIN_JOIN, sql_kid(block->node, SELECT_FROM), true);
}
