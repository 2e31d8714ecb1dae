/* What the data says: how many rows, where the representative row comes from, how a literal is stored, why nothing came
 * back. Phrases here are `from_data`; policy decides which values they may hold. */
#include "lib/explain/teller.h"

#include <string.h>

enum {
    MAX_CELLS = 12,
    MAX_FORMS = 3,
    MAX_HITS = 16,
    MAX_COUNTED_SOURCES = 6,
    MAX_COUNTED_ROWS = 20000,
    COUNT_MS = 500
};

static bool shows_values(const struct teller *t)
{
    return t->options->expose != EXPLAIN_NONE;
}

static void say_cell(struct teller *t, struct say *out, const struct db_value *value, bool withheld)
{
    (void)t;
    if (withheld)
        say(out, "(withheld)");
    else
        say_value(out, value);
}

/* --- the result --- */

/* May the values of an output column of the result be shown? Every arm of a set operation feeds it. */
static bool output_withheld(const struct teller *t, uint32_t output)
{
    const struct sql_bound *bound = t->source->bound;
    if (t->options->n_deny_columns == 0) return false;
    for (uint32_t i = 0; i < bound->n_blocks; i++) {
        const struct sql_block *block = bound->blocks[i];
        if (block->parent || block->role != SQL_BLOCK_TOP) continue;
        if (output >= block->n_outputs) return true;
        const struct sql_output *o = &block->outputs[output];
        if (o->expr) {
            if (tell_uses_denied(t, o->expr)) return true;
        } else if (o->table < 0 || o->column < 0 || tell_denied(t, &t->index->tables[o->table].columns[o->column])) {
            return true;
        }
    }
    return false;
}

/* Called by a name of its own? */
static bool is_named(const struct sql_output *o)
{
    return o->expr && sql_is(o->expr->parent, SQL_ITEM) && o->expr->parent->text && !sql_is(o->expr, SQL_COLUMN);
}

static void say_output_label(struct teller *t, struct say *out, const struct sql_block *block, uint32_t output)
{
    const struct sql_output *o = block && output < block->n_outputs ? &block->outputs[output] : NULL;
    if (o && out->prose && is_named(o)) {
        say_bytes(out, o->name, o->name_len, TELL_NAME_BYTES);
    } else if (o && out->prose && o->expr && !sql_plain_literal(o->expr)) {
        say_expr(t, out, o->expr);
    } else if (o && out->prose && o->table >= 0 && o->column >= 0) {
        const struct schema_column *column = &t->index->tables[o->table].columns[o->column];
        say(out, "the ");
        say_column_words(out, column);
        tell_column_used(t, column);
    } else {
        say(out, "column ");
        say_count(out, output + 1);
    }
}

static void say_result_row(struct teller *t, struct say *out, const struct provenance *p)
{
    const struct db_result *result = p->result;
    const struct sql_block *block = sql_block_of(t->source->bound, t->source->stmt->root);
    uint32_t n = result->n_columns > MAX_CELLS ? MAX_CELLS : result->n_columns;
    if (result->n_rows == 1)
        say(out, "in its only row ");
    else
        say(out, "for example, in row ");
    if (result->n_rows != 1) {
        say_count(out, p->row + 1);
        say(out, " ");
    }
    for (uint32_t i = 0; i < n; i++) {
        say_comma(out, i, n);
        say_output_label(t, out, block, i);
        say(out, " is ");
        say_cell(t, out, &result->values[(size_t)p->row * result->n_columns + i], output_withheld(t, i));
    }
    if (n < result->n_columns) say(out, " and so on");
}

static void say_result_size(struct say *out, const struct db_result *result, bool cut)
{
    say(out, "the result has ");
    if (result->n_rows == 0) {
        say(out, "no rows");
        return;
    }
    if (cut) say(out, "at least ");
    say_counted(out, result->n_rows, "row", "rows");
}

static void tell_result(struct teller *t, const struct provenance *p)
{
    const struct db_result *result = p && p->result ? p->result : t->source->result;
    const struct sql_node *root = t->source->stmt->root;
    if (!result) return;
    bool cut = result->truncated || (p && p->result_cut);
    tell_begin(t);
    say_result_size(&t->premise, result, cut);
    say_result_size(&t->prose, result, cut);
    tell_end(t, EXPLAIN_SUMMARY, root, true);
    if (!p || !p->result || p->row >= result->n_rows || !shows_values(t)) return;
    tell_begin(t);
    say_result_row(t, &t->premise, p);
    say_result_row(t, &t->prose, p);
    tell_end(t, EXPLAIN_STORY, root, true);
}

/* --- the rows behind it --- */

static void say_source_count(struct say *out, const struct prov_arm *arm)
{
    if (arm->total < 0 && arm->more) say(out, "more than ");
    say_counted(out, arm->total >= 0 ? (uint64_t)arm->total : arm->n_rows, "source row", "source rows");
}

/* A column of the provenance, by the FROM item that it belongs to. */
static void say_traced_column(struct teller *t, struct say *out, const struct prov_column *column)
{
    const struct sql_source *source = column->source;
    if (!column->column) {
        if (source && !out->prose) {
            say_source(t, out, source);
            say(out, ".");
        }
        say_bytes(out, column->name, strlen(column->name), TELL_NAME_BYTES);
        return;
    }
    tell_column_used(t, column->column);
    if (!out->prose) {
        if (source)
            say_source(t, out, source);
        else
            say_bytes(out, column->table, strlen(column->table), TELL_NAME_BYTES);
        say(out, ".");
        say_bytes(out, column->column->name, strlen(column->column->name), TELL_NAME_BYTES);
    } else {
        say_column_words(out, column->column);
        if (source && source->block->n_sources > 1 && !tell_names_its_table(t, source, column->output)) {
            say(out, " of ");
            say_source(t, out, source);
        }
    }
}

/* People are not told of keys and what is joined by, unless there is nothing else. */
static unsigned keys_left_out(const struct prov_arm *arm)
{
    for (uint32_t i = 0; i < arm->n_columns; i++)
        if (arm->columns[i].roles & ~(unsigned)(PROV_KEY | PROV_JOIN)) return PROV_KEY | PROV_JOIN;
    return 0;
}

/* Is this the column itself? */
static bool is_column(const struct sql_node *expr, const struct prov_column *column)
{
    const struct sql_ref *ref = sql_plain_column(expr);
    return ref && ref->source == column->source && ref->output == column->output && ref->levels == 0;
}

/* A condition on that column that does not name the one value it may have. */
static bool tests_column(const struct sql_node *condition, const struct prov_column *column)
{
    bool names_it = condition->kind == SQL_BINARY && condition->op == SQL_OP_EQ;
    return !names_it && tell_has_test(condition) && is_column(condition->kids[0], column);
}

/* "620 (which is greater than 200)": the conditions of WHERE that the value meets. */
static void say_tests_met(struct teller *t, struct say *out, const struct prov_arm *arm,
                          const struct prov_column *column)
{
    const struct sql_node *where = sql_kid(arm->select, SELECT_WHERE), **conditions;
    int n = where && (column->roles & PROV_FILTER) ? sql_conjuncts(t->arena, where->kids[0], &conditions) : 0;
    int told = 0;
    if (n < 0) t->full = true;
    for (int i = 0; i < n; i++) {
        if (!tests_column(conditions[i], column)) continue;
        say(out, told++ ? " and" : " (which");
        say_test(t, out, conditions[i]);
    }
    if (told) say(out, ")");
}

static void say_traced_row(struct teller *t, struct say *out, const struct prov_arm *arm, uint32_t row)
{
    uint32_t told = 0;
    unsigned left_out = keys_left_out(arm);
    for (uint32_t i = 0; i < arm->n_columns && told < MAX_CELLS; i++) {
        const struct prov_column *column = &arm->columns[i];
        if (column->is_rowid || (out->prose && (!column->roles || !(column->roles & ~left_out)))) continue;
        bool withheld = column->column ? tell_denied(t, column->column) : t->options->n_deny_columns > 0;
        if (told++) say(out, ", ");
        say_traced_column(t, out, column);
        say(out, " ");
        say_cell(t, out, &arm->values[(size_t)row * arm->n_columns + i], withheld);
        say_tests_met(t, out, arm, column);
    }
    if (told == 0) say(out, "one without columns of interest");
}

/* A subquery of a condition, asked for the source row that it let through. */
static void say_inner_query(struct teller *t, struct say *out, const struct prov_arm *arm)
{
    uint32_t number = tell_query_number(t, arm->block->query, NULL, TELL_IN);
    bool in_place = number < t->n_queries && t->queries[number].in_place;
    say(out, "for this row, ");
    if (out->prose && in_place)
        say(out, "the inner query");
    else
        say_query(out, number);
    if (arm->value && shows_values(t)) {
        say(out, " gives ");
        say_cell(t, out, arm->value, tell_uses_denied(t, arm->select));
        say(out, ", computed from ");
    } else {
        say(out, arm->value ? " is computed from " : " finds ");
    }
}

static void say_origin(struct teller *t, struct say *out, const struct prov_arm *arm, uint32_t row)
{
    static const char *const SHAPES[] = {
        [PROV_SHAPE_PLAIN] = " comes from ",
        [PROV_SHAPE_WHOLE] = " is computed from ",
        [PROV_SHAPE_GROUP] = " stands for a group of ",
        [PROV_SHAPE_MERGED] = " stands for equal values of ",
    };
    if (arm->inside) {
        say(out, "the rows of ");
        say_source(t, out, arm->inside);
        say(out, " come from ");
    } else if (arm->condition) {
        say_inner_query(t, out, arm);
    } else {
        if (arm->set_op) {
            say(out, "in ");
            say_query(out, tell_query_number(t, arm->select, NULL, TELL_ARM));
            say(out, ", ");
        }
        if (shows_values(t)) {
            say(out, "this row");
        } else { /* no phrase before this one has told which */
            say(out, "row ");
            say_count(out, row + 1);
            say(out, " of the result");
        }
        say(out, SHAPES[arm->shape]);
    }
    say_source_count(out, arm);
    if (!shows_values(t)) return;
    uint32_t rows = t->options->expose == EXPLAIN_ROWS ? t->options->max_rows : 1;
    if (rows > arm->n_rows) rows = arm->n_rows;
    say(out, rows < arm->n_rows || arm->more ? ", for instance " : ": ");
    for (uint32_t i = 0; i < rows; i++) {
        if (i) say(out, "; ");
        say_traced_row(t, out, arm, i);
    }
}

static void tell_origins(struct teller *t, const struct provenance *p)
{
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const struct prov_arm *arm = &p->arms[i];
        if (arm->state != PROV_ARM_ROWS || arm->n_rows == 0) continue;
        tell_begin(t);
        say_origin(t, &t->premise, arm, p->row);
        say_origin(t, &t->prose, arm, p->row);
        tell_end(t, EXPLAIN_STORY, arm->select, true);
    }
}

/* --- how a literal is stored --- */

struct forms {
    const struct schema_column *column;
    const struct sql_node *literal;
    const char *forms[MAX_FORMS];
    uint32_t n, more;
};

static bool find_forms(struct teller *t, const struct sql_node *side, const struct sql_node *literal, struct forms *out)
{
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(side));
    bool is_text = sql_is(literal, SQL_LITERAL) ? literal->op == SQL_LIT_STRING : sql_is(literal, SQL_COLUMN);
    if (!column || !is_text || tell_denied(t, column)) return false;
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

static void say_forms(struct teller *t, struct say *out, const struct forms *forms)
{
    say(out, "no value of ");
    say_column(t, out, forms->column);
    say(out, " is written ");
    say_quoted(out, forms->literal->text, forms->literal->text_len, TELL_LITERAL_BYTES);
    for (uint32_t i = 0; i < forms->n; i++) {
        say(out, i == 0 ? "; it is stored as " : i + 1 < forms->n ? ", " : " and ");
        say_quoted(out, forms->forms[i], strlen(forms->forms[i]), TELL_LITERAL_BYTES);
    }
}

static void tell_forms(struct teller *t, const struct sql_node *condition, const struct sql_node *side,
                       const struct sql_node *literal)
{
    struct forms forms;
    if (!side || !literal || !find_forms(t, side, literal, &forms)) return;
    tell_begin(t);
    say_forms(t, &t->premise, &forms);
    say_forms(t, &t->prose, &forms);
    tell_end(t, EXPLAIN_FILTER, condition, true);
}

void tell_stored_forms(struct teller *t, const struct sql_node *condition)
{
    if (!shows_values(t)) return;
    uint32_t looked = 0;
    for (const struct sql_node *n = condition; n && looked < TELL_MAX_LIST; n = sql_walk(condition, n)) {
        if (sql_is(n, SQL_QUERY)) return; /* its own conditions are told with it */
        if (n->kind == SQL_BINARY && (n->op == SQL_OP_EQ || n->op == SQL_OP_NE || n->op == SQL_OP_IS)) {
            looked++;
            tell_forms(t, condition, n->kids[0], sql_plain_literal(n->kids[1]));
            tell_forms(t, condition, n->kids[1], sql_plain_literal(n->kids[0]));
        } else if (n->kind == SQL_IN && sql_is(n->kids[IN_RIGHT], SQL_LIST)) {
            const struct sql_node *list = n->kids[IN_RIGHT];
            for (uint32_t i = 0; i < list->n_kids && looked < TELL_MAX_LIST; i++, looked++)
                tell_forms(t, condition, n->kids[IN_VALUE], sql_plain_literal(list->kids[i]));
        }
    }
}

/* --- why nothing came back --- */

/* One side of a set operation; the left one may be a chain of them. */
static void say_blamed_arm(struct teller *t, struct say *out, const struct sql_node *arm)
{
    if (sql_is(arm, SQL_COMPOUND)) {
        say(out, "what comes before ");
        arm = arm->parent->kids[1];
    }
    say_query(out, tell_query_number(t, arm, NULL, TELL_ARM));
}

/* "of query 2": the inner query that a condition stands in. */
static void say_home(struct teller *t, struct say *out, const struct sql_block *block)
{
    uint32_t i = 1;
    while (i < t->n_queries && t->queries[i].node != block->node && t->queries[i].node != block->query) i++;
    if (i >= t->n_queries) return;
    say(out, " of ");
    if (out->prose && t->queries[i].in_place)
        say(out, "the inner query");
    else
        say_query(out, i);
}

static void say_culprit(struct teller *t, struct say *out, const struct whynot_culprit *culprit)
{
    static const struct {
        const char *what, *next;
    } BLAMES[] = {
        [WHYNOT_WHERE] = {"the condition", " that "},
        [WHYNOT_ON] = {"the join condition", " "},
        [WHYNOT_HAVING] = {"the condition on groups", " that "},
        [WHYNOT_ARM] = {"", ""},
        [WHYNOT_LIMIT] = {"the limit", " "},
    };
    say(out, BLAMES[culprit->kind].what);
    if (culprit->kind != WHYNOT_ARM && culprit->block) say_home(t, out, culprit->block);
    say(out, BLAMES[culprit->kind].next);
    if (culprit->kind == WHYNOT_ARM)
        say_blamed_arm(t, out, culprit->node);
    else if (culprit->kind == WHYNOT_LIMIT || sql_is(culprit->node, SQL_JOIN) || sql_is(culprit->node, SQL_USING) ||
             sql_is(culprit->node, SQL_NAME))
        say_sql(t, out, culprit->node);
    else
        say_expr(t, out, culprit->node);
    if (!shows_values(t) || !culprit->column || tell_denied(t, culprit->column)) return;
    if (culprit->stored == 0) say(out, " (a value that the column does not hold)");
    for (uint32_t i = 0; i < culprit->n_nearest; i++) {
        say(out, i == 0 ? ", nearest to it " : ", ");
        say_quoted(out, culprit->nearest[i], strlen(culprit->nearest[i]), TELL_LITERAL_BYTES);
    }
}

static void say_why_not(struct teller *t, struct say *out, const struct whynot *whynot, bool aggregate)
{
    say(out, aggregate ? "the aggregate has no row to work on" : "no row comes back");
    if (whynot->status == WHYNOT_NO_DATA) {
        say(out, ", whatever the conditions: a table that it reads has no rows to match");
        return;
    }
    say(out, " because of ");
    for (uint32_t i = 0; i < whynot->n_culprits; i++) {
        if (i) say(out, ", together with ");
        say_culprit(t, out, &whynot->culprits[i]);
    }
    say(out, whynot->n_culprits == 1 ? "; without it there is a row" : "; without them there is a row");
}

static void tell_why_not(struct teller *t, const struct provenance *p, const struct whynot *whynot)
{
    bool found = whynot->status == WHYNOT_FOUND && whynot->n_culprits;
    if (!found && whynot->status != WHYNOT_NO_DATA) return;
    tell_begin(t);
    say_why_not(t, &t->premise, whynot, p->status == PROV_NOTHING);
    say_why_not(t, &t->prose, whynot, p->status == PROV_NOTHING);
    tell_end(t, EXPLAIN_WHY_NOT, found ? whynot->culprits[0].node : t->source->stmt->root, true);
}

/* --- how often the join repeats rows --- */

static const char *slice(struct teller *t, const struct sql_node *node)
{
    if (!node || node->start >= node->end) return "";
    const char *text = arena_strndup(t->arena, t->source->stmt->text + node->start, node->end - node->start);
    return text ? text : "";
}

/* One more run of the join: only where the tables are small, so that whether it is told depends on the data alone.
 *
 * SELECT COUNT(*), COUNT(DISTINCT key), ... FROM ... WHERE ...; NULL when a table has no key of one column. */
static const char *make_count(struct teller *t, const struct sql_block *block)
{
    char *sql = arena_strdup(t->arena, "SELECT COUNT(*)");
    for (uint32_t i = 0; sql && i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        const struct schema_table *table = &t->index->tables[source->table];
        const char *key = table->n_pk == 1 ? NULL : "rowid", *name;
        if (table->is_view) return NULL;
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

static void say_join_counts(struct teller *t, struct say *out, const struct sql_block *block,
                            const struct db_value *counts)
{
    say(out, "the join gives ");
    say_counted(out, (uint64_t)counts[0].i, "row", "rows");
    say(out, ", of ");
    for (uint32_t i = 0; i < block->n_sources; i++) {
        say_comma(out, i, block->n_sources);
        say_counted(out, (uint64_t)counts[i + 1].i, "different row of ", "different rows of ");
        say_source(t, out, &block->sources[i]);
    }
}

static bool can_count(const struct teller *t, const struct sql_block *block)
{
    uint64_t rows = 0;
    if (!t->source->db || !t->options->may_probe || block->n_sources < 2 || block->n_sources > MAX_COUNTED_SOURCES)
        return false;
    for (uint32_t i = 0; i < block->n_sources; i++) {
        if (block->sources[i].kind != SQL_SOURCE_TABLE || block->sources[i].table < 0) return false;
        rows += t->index->tables[block->sources[i].table].rows;
    }
    return rows <= MAX_COUNTED_ROWS && !sql_kid(t->source->stmt->root, QUERY_WITH);
}

void tell_join_counts(struct teller *t, const struct sql_block *block)
{
    if (!can_count(t, block)) return;
    const char *sql = make_count(t, block);
    struct db_limits limits = db_get_limits(t->source->db), own = limits;
    struct db_result result;
    if (!sql) return;
    if (own.time_ms > COUNT_MS) own.time_ms = COUNT_MS;
    db_set_limits(t->source->db, &own);
    enum err_code code = db_query(t->source->db, t->arena, sql, strlen(sql), NULL, 0, 1, &result, NULL);
    db_set_limits(t->source->db, &limits);
    if (code != ERR_OK || result.n_rows != 1 || result.n_columns != block->n_sources + 1) return;
    t->sql_ns += result.ns;
    tell_begin(t);
    say_join_counts(t, &t->premise, block, result.values);
    say_join_counts(t, &t->prose, block, result.values);
    tell_end(t, EXPLAIN_JOIN, sql_kid(block->node, SELECT_FROM), true);
}

/* --- all of it --- */

void tell_story(struct teller *t, const struct provenance *provenance, const struct whynot *whynot)
{
    const struct sql_block *block = sql_block_of(t->source->bound, t->source->stmt->root);
    tell_result(t, provenance);
    if (whynot) tell_why_not(t, provenance, whynot);
    if (provenance && provenance->status == PROV_ROWS) {
        tell_origins(t, provenance);
        if (block && !block->arm) tell_join_counts(t, block);
    }
}
