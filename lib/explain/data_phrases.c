/* Narrates data-level phrases: the number of rows, and the provenance of the representative row.
 *
 * All phrases of this file are `from_data`. The options decide which values they may contain; values of denied columns
 * never appear. The result row comes first, then the source rows of each arm. The rows that derived tables and
 * subqueries contribute come last. The prose omits keys and join columns unless an arm has no others. */
#include "lib/explain/narrator.h"

#include <string.h>

enum { MAX_CELLS = 12 };

static void say_cell(struct say *out, const struct db_value *value, bool withheld)
{
    if (withheld)
        say(out, "(withheld)");
    else
        say_value(out, value);
}

/* --- the result --- */

/* True if the values of an output column must not be shown. In a set operation, the columns of all arms decide. */
static bool output_withheld(const struct narrator *t, uint32_t output)
{
    const struct sql_bound *bound = t->source->bound;
    if (t->options->n_deny_columns == 0) return false;
    for (uint32_t i = 0; i < bound->n_blocks; i++) {
        const struct sql_block *block = bound->blocks[i];
        if (block->parent || block->role != SQL_BLOCK_TOP) continue;
        if (output >= block->n_outputs) return true;
        const struct sql_output *o = &block->outputs[output];
        if (o->expr) {
            if (narrate_uses_denied(t, o->expr)) return true;
        } else if (o->table < 0 || o->column < 0 || narrate_denied(t, &t->index->tables[o->table].columns[o->column])) {
            return true;
        }
    }
    return false;
}

/* True if the output has an alias. */
static bool is_named(const struct sql_output *o)
{
    return o->expr && sql_is(o->expr->parent, SQL_ITEM) && o->expr->parent->text && !sql_is(o->expr, SQL_COLUMN);
}

static void say_output_label(struct narrator *t, struct say *out, const struct sql_block *block, uint32_t output)
{
    const struct sql_output *o = block && output < block->n_outputs ? &block->outputs[output] : NULL;
    if (o && out->prose && is_named(o)) {
        say_bytes(out, o->name, o->name_len, NARRATE_NAME_BYTES);
    } else if (o && out->prose && o->expr && !sql_plain_literal(o->expr)) {
        say_expr(t, out, o->expr);
    } else if (o && out->prose && o->table >= 0 && o->column >= 0) {
        const struct schema_column *column = &t->index->tables[o->table].columns[o->column];
        say_the_column(t, out, column);
        narrate_column_used(t, column);
    } else {
        say(out, "column ");
        say_count(out, output + 1);
    }
}

/* True if the label names a column that takes the verb "are". */
static bool label_is_plural(const struct narrator *t, const struct sql_block *block, uint32_t output)
{
    const struct sql_output *o = block && output < block->n_outputs ? &block->outputs[output] : NULL;
    if (!o || is_named(o)) return false;
    if (o->expr) return narrate_is_plural(t, o->expr);
    return o->table >= 0 && o->column >= 0 &&
           narrate_column_is_plural(t, &t->index->tables[o->table].columns[o->column]);
}

static void say_result_row(struct narrator *t, struct say *out, const struct provenance *p)
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
        say(out, out->prose && label_is_plural(t, block, i) ? " are " : " is ");
        say_cell(out, &result->values[(size_t)p->row * result->n_columns + i], output_withheld(t, i));
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

static void narrate_result(struct narrator *t, const struct provenance *p)
{
    const struct db_result *result = p && p->result ? p->result : t->source->result;
    const struct sql_node *root = t->source->stmt->root;
    if (!result) return;
    bool cut = result->truncated || (p && p->result_cut);
    narrate_begin(t);
    say_result_size(&t->premise, result, cut);
    say_result_size(&t->prose, result, cut);
    narrate_end(t, EXPLAIN_SUMMARY, root, true);
    if (!p || !p->result || p->row >= result->n_rows || !narrate_shows_values(t)) return;
    narrate_begin(t);
    say_result_row(t, &t->premise, p);
    say_result_row(t, &t->prose, p);
    narrate_end(t, EXPLAIN_STORY, root, true);
}

/* --- source rows --- */

static void say_source_count(struct say *out, const struct prov_arm *arm)
{
    if (arm->total < 0 && arm->more) say(out, "more than ");
    say_counted(out, arm->total >= 0 ? (uint64_t)arm->total : arm->n_rows, "source row", "source rows");
}

/* Writes a column of the provenance, qualified by its FROM item. */
static void say_traced_column(struct narrator *t, struct say *out, const struct prov_column *column)
{
    const struct sql_source *source = column->source;
    bool of_table = column->column && (!source || source->kind == SQL_SOURCE_TABLE);
    const char *name = of_table ? column->column->name : column->name; /* a derived table has its own names */
    if (column->column) narrate_column_used(t, column->column);
    if (!out->prose) {
        if (source)
            say_source(t, out, source);
        else if (column->table)
            say_bytes(out, column->table, strlen(column->table), NARRATE_NAME_BYTES);
        if (source || column->table) say(out, ".");
        say_bytes(out, name, strlen(name), NARRATE_NAME_BYTES);
        return;
    }
    if (of_table)
        say_column_label(t, out, column->column);
    else
        say_bytes(out, name, strlen(name), NARRATE_NAME_BYTES);
    if (source && source->block->n_sources > 1 && !narrate_names_its_table(t, source, column->output)) {
        say(out, " of ");
        say_source_name(t, out, source);
    }
    bool runs_on = out->len > 0 && out->text[out->len - 1] >= '0' && out->text[out->len - 1] <= '9';
    if (runs_on) say(out, " ="); /* separates two numbers: "id of staff 1 = 7" */
}

/* Returns the roles that the prose omits: keys and join columns, or none if the arm has no other columns. */
static unsigned keys_left_out(const struct prov_arm *arm)
{
    for (uint32_t i = 0; i < arm->n_columns; i++)
        if (arm->columns[i].roles & ~(unsigned)(PROV_KEY | PROV_JOIN)) return PROV_KEY | PROV_JOIN;
    return 0;
}

/* True if the expression is only a reference to the column. */
static bool is_column(const struct sql_node *expr, const struct prov_column *column)
{
    const struct sql_ref *ref = sql_plain_column(expr);
    return ref && ref->source == column->source && ref->output == column->output && ref->levels == 0;
}

/* True if the condition tests the column. False if it fixes the column to a single value, because the value itself
 * already shows that. */
static bool tests_column(const struct sql_node *condition, const struct prov_column *column)
{
    bool one_of_one = condition->kind == SQL_IN && sql_is(condition->kids[IN_RIGHT], SQL_LIST) &&
                      condition->kids[IN_RIGHT]->n_kids == 1 && !(condition->flags & SQL_F_NOT);
    bool names_it = one_of_one || (condition->kind == SQL_BINARY && condition->op == SQL_OP_EQ);
    return !names_it && narrate_has_test(condition) && is_column(condition->kids[0], column);
}

/* Writes the conditions of WHERE that the value satisfies: "620 (which is greater than 200)". */
static void say_tests_met(struct narrator *t, struct say *out, const struct prov_arm *arm,
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

static void say_traced_row(struct narrator *t, struct say *out, const struct prov_arm *arm, uint32_t row)
{
    uint32_t told = 0;
    unsigned left_out = keys_left_out(arm);
    for (uint32_t i = 0; i < arm->n_columns && told < MAX_CELLS; i++) {
        const struct prov_column *column = &arm->columns[i];
        if (column->is_rowid || (out->prose && (!column->roles || !(column->roles & ~left_out)))) continue;
        bool withheld = column->column ? narrate_denied(t, column->column) : t->options->n_deny_columns > 0;
        if (told++) say(out, ", ");
        say_traced_column(t, out, column);
        say(out, " ");
        say_cell(out, &arm->values[(size_t)row * arm->n_columns + i], withheld);
        say_tests_met(t, out, arm, column);
    }
    if (told == 0) say(out, "one without columns of interest");
}

/* Narrates the rows of a subquery in a condition, for the source row that satisfied the condition. */
static void say_inner_query(struct narrator *t, struct say *out, const struct prov_arm *arm)
{
    uint32_t number = narrate_query_number(t, arm->block->query, NULL, NARRATE_IN);
    bool in_place = number < t->n_queries && t->queries[number].in_place;
    say(out, "for this row, ");
    if (out->prose && in_place)
        say(out, "the inner query");
    else
        say_query(out, number);
    if (arm->value && narrate_shows_values(t)) {
        say(out, " gives ");
        say_cell(out, arm->value, narrate_uses_denied(t, arm->select));
        say(out, ", computed from ");
    } else {
        say(out, arm->value ? " is computed from " : " finds ");
    }
}

static void say_origin(struct narrator *t, struct say *out, const struct prov_arm *arm, uint32_t row)
{
    static const char *const SHAPES[] = {
        [PROV_SHAPE_PLAIN] = " comes from ",
        [PROV_SHAPE_WHOLE] = " is computed from ",
        [PROV_SHAPE_GROUP] = " stands for a group of ",
        [PROV_SHAPE_MERGED] = " stands for equal values of ",
    };
    if (arm->inside) {
        say(out, "the rows of ");
        say_source_name(t, out, arm->inside);
        say(out, " come from ");
    } else if (arm->condition) {
        say_inner_query(t, out, arm);
    } else {
        if (arm->set_op) {
            say(out, "in ");
            say_query(out, narrate_query_number(t, arm->select, NULL, NARRATE_ARM));
            say(out, ", ");
        }
        if (narrate_shows_values(t)) {
            say(out, "this row");
        } else { /* no earlier phrase named the row */
            say(out, "row ");
            say_count(out, row + 1);
            say(out, " of the result");
        }
        say(out, SHAPES[arm->shape]);
    }
    say_source_count(out, arm);
    if (!narrate_shows_values(t)) return;
    uint32_t rows = t->options->expose == EXPLAIN_ROWS ? t->options->max_rows : 1;
    if (rows > arm->n_rows) rows = arm->n_rows;
    say(out, rows < arm->n_rows || arm->more ? ", for instance " : ": ");
    for (uint32_t i = 0; i < rows; i++) {
        if (i) say(out, "; ");
        say_traced_row(t, out, arm, i);
    }
}

static void narrate_origins(struct narrator *t, const struct provenance *p)
{
    for (uint32_t i = 0; i < p->n_arms; i++) {
        const struct prov_arm *arm = &p->arms[i];
        if (arm->state != PROV_ARM_ROWS || arm->n_rows == 0) continue;
        narrate_begin(t);
        say_origin(t, &t->premise, arm, p->row);
        say_origin(t, &t->prose, arm, p->row);
        narrate_end(t, EXPLAIN_STORY, arm->select, true);
    }
}

/* --- all data phrases --- */

void narrate_data(struct narrator *t, const struct provenance *provenance, const struct whynot *whynot)
{
    const struct sql_block *block = sql_block_of(t->source->bound, t->source->stmt->root);
    narrate_result(t, provenance);
    if (whynot) narrate_why_not(t, provenance, whynot);
    if (provenance && provenance->status == PROV_ROWS) {
        narrate_origins(t, provenance);
        if (block && !block->arm) narrate_join_counts(t, block);
    }
}
