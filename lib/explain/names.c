/* Writes the names of tables, columns and queries: exact in the premise, in English words in the prose.
 *
 * A table or column gets a noun on first use, from the sidecar or from its name (noun.h). FROM items of the same table
 * are numbered. A name that is not a noun keeps its spelling, and the sentence adds "column" or "row of". The options
 * and the denied columns determine which values are shown; this file applies them. */
#include "lib/explain/narrator.h"
#include "lib/explain/noun.h"

#include <string.h>

/* Returns the position, from 1, among the sources of the block that are the same table or CTE. Returns 0 if there is
 * only one. */
static uint32_t ordinal(const struct sql_source *source)
{
    uint32_t before = 0, same = 0;
    const struct sql_block *block = source->block;
    if (!sql_is(source->node, SQL_TABLE)) return 0;
    for (uint32_t i = 0; i < block->n_sources; i++) {
        const struct sql_source *other = &block->sources[i];
        if (other->kind != source->kind || other->table != source->table || other->of != source->of) continue;
        same++;
        before += other->index <= source->index;
    }
    return same > 1 ? before : 0;
}

/* --- nouns --- */

/* Returns the noun of a column or table; `at` is the column's id, or the number of columns plus the table's number.
 * *is_new is true if the caller must still read the name. If the arena is full, the noun is empty, and other code
 * reports the failure. */
static struct noun *noun_at(const struct narrator *t, uint32_t at, bool *is_new)
{
    static struct noun none;
    *is_new = t->nouns && !t->nouns[at];
    if (*is_new && !(t->nouns[at] = arena_new(t->arena, struct noun))) *is_new = false;
    return t->nouns && t->nouns[at] ? t->nouns[at] : &none;
}

static const struct noun *noun_of_table(const struct narrator *t, int table)
{
    const struct schema_table *known = &t->index->tables[table];
    bool is_new;
    struct noun *noun = noun_at(t, t->index->n_columns + (uint32_t)table, &is_new);
    if (is_new) noun_of_name(noun, known->bare, &known->words, true);
    return noun;
}

static const struct noun *noun_of_column(const struct narrator *t, const struct schema_column *column)
{
    bool is_new;
    struct noun *noun = noun_at(t, column->id, &is_new);
    if (is_new && column->full_name && *column->full_name)
        noun_of_words(noun, column->full_name);
    else if (is_new)
        noun_of_name(noun, column->name, &column->words, false);
    return noun;
}

static void say_exact_table(struct narrator *t, struct say *out, int table)
{
    const char *name = t->index->tables[table].name;
    say_bytes(out, name, strlen(name), NARRATE_NAME_BYTES);
}

/* --- FROM items --- */

static void say_exposed(struct narrator *t, struct say *out, const struct sql_source *source)
{
    if (sql_is(source->node, SQL_TABLE)) /* a CTE has its own name */
        say_bytes(out, source->node->text, source->node->text_len, NARRATE_NAME_BYTES);
    else if (source->name)
        say_bytes(out, source->name, source->name_len, NARRATE_NAME_BYTES);
    else if (source->kind == SQL_SOURCE_DERIVED)
        say_query(out, narrate_query_number(t, sql_kid(source->node, DERIVED_QUERY), source->node, NARRATE_DERIVED));
    else
        say_sql(t, out, source->node);
}

/* Returns the noun for one row of the source, or NULL if it has only a name ("has_pet", "staff 2", "query 1"). */
static const struct noun *noun_of(const struct narrator *t, const struct sql_source *source)
{
    if (source->kind != SQL_SOURCE_TABLE || source->table < 0) return NULL;
    const struct noun *noun = noun_of_table(t, source->table);
    return noun->is_phrase && noun->is_counted && !ordinal(source) ? noun : NULL;
}

bool narrate_has_noun(const struct narrator *t, const struct sql_source *source)
{
    return noun_of(t, source) != NULL;
}

void say_source_name(struct narrator *t, struct say *out, const struct sql_source *source)
{
    uint32_t nth = ordinal(source);
    bool is_table = source->kind == SQL_SOURCE_TABLE && source->table >= 0;
    if (!is_table) {
        say_exposed(t, out, source);
    } else if (out->prose) {
        const struct noun *noun = noun_of_table(t, source->table);
        (noun->is_counted ? say_noun_singular : say_noun)(out, noun);
    } else {
        say_exact_table(t, out, source->table);
    }
    if (!nth) return;
    say(out, " ");
    say_count(out, nth);
}

void say_source(struct narrator *t, struct say *out, const struct sql_source *source)
{
    if (out->prose && !noun_of(t, source)) say(out, "row of ");
    say_source_name(t, out, source);
}

void say_source_plural(struct narrator *t, struct say *out, const struct sql_source *source)
{
    const struct noun *noun = noun_of(t, source);
    if (noun) {
        say_noun_plural(out, noun);
        return;
    }
    say(out, "rows of ");
    say_source_name(t, out, source);
}

void say_source_listed(struct narrator *t, struct say *out, const struct sql_source *source)
{
    const struct noun *noun = out->prose ? noun_of(t, source) : NULL;
    if (noun)
        say_noun_plural(out, noun);
    else
        say_source_name(t, out, source);
}

void say_a_source(struct narrator *t, struct say *out, const struct sql_source *source)
{
    const struct noun *noun = noun_of(t, source);
    say(out, noun && noun_takes_an(noun->text) ? "an " : "a ");
    say_source(t, out, source);
}

void say_of_source(struct narrator *t, struct say *out, const struct sql_source *source, uint32_t levels)
{
    say(out, noun_of(t, source) ? " of the " : " of ");
    for (uint32_t i = 0; i < levels; i++) say(out, "outer ");
    say_source_name(t, out, source);
}

/* --- columns --- */

const struct schema_column *narrate_column_at(const struct narrator *t, const struct sql_source *source, int output)
{
    int table = source->table, column = output;
    if (output < 0) return NULL;
    if (source->kind != SQL_SOURCE_TABLE) {
        if ((uint32_t)output >= source->n_outputs) return NULL;
        table = source->outputs[output].table;
        column = source->outputs[output].column;
    }
    if (table < 0 || (uint32_t)table >= t->index->n_tables || column < 0) return NULL;
    const struct schema_table *known = &t->index->tables[table];
    return (uint32_t)column < known->n_columns ? &known->columns[column] : NULL;
}

void say_column_words(struct narrator *t, struct say *out, const struct schema_column *column)
{
    say_noun(out, noun_of_column(t, column));
}

void say_column_label(struct narrator *t, struct say *out, const struct schema_column *column)
{
    if (!noun_of_column(t, column)->is_phrase) say(out, "column ");
    say_column_words(t, out, column);
}

void say_the_column(struct narrator *t, struct say *out, const struct schema_column *column)
{
    say(out, "the ");
    say_column_label(t, out, column);
}

bool narrate_column_is_plural(const struct narrator *t, const struct schema_column *column)
{
    return noun_is_plural(noun_of_column(t, column));
}

bool narrate_is_plural(const struct narrator *t, const struct sql_node *expr)
{
    const struct sql_ref *ref = sql_is(expr, SQL_COLUMN) ? expr->ref : NULL;
    if (ref && ref->kind == SQL_REF_ALIAS) expr = ref->expr;
    const struct schema_column *column = expr ? schema_column_of(t->index, sql_plain_column(expr)) : NULL;
    return column && narrate_column_is_plural(t, column);
}

/* Writes the description of the column from the sidecar, when the column is first mentioned. */
static void say_description(struct narrator *t, struct say *out, const struct schema_column *column)
{
    const char *text = out->prose ? column->description : column->full_name;
    if (!text || !*text) text = column->description;
    if (!text || !*text || !t->described) return;
    uint64_t *word = &t->described[column->id / 32], bit = (uint64_t)1 << (2 * (column->id % 32) + out->prose);
    if (*word & bit) return;
    *word |= bit;
    say(out, " (");
    say_bytes(out, text, strlen(text), NARRATE_NAME_BYTES);
    say(out, ")");
}

/* Returns the name that the statement gives to a column of a function in FROM; NULL if it gives none. */
static const struct sql_node *column_name(const struct sql_source *source, int output)
{
    return output < 0 ? NULL : sql_kid(sql_kid(source->node, FROM_CALL_NAMES), (unsigned)output);
}

static void say_output_name(struct narrator *t, struct say *out, const struct sql_source *source, int output)
{
    const struct schema_column *column = source->kind == SQL_SOURCE_TABLE ? narrate_column_at(t, source, output) : NULL;
    if (column && out->prose) {
        say_the_column(t, out, column);
    } else if (column) {
        say_bytes(out, column->name, strlen(column->name), NARRATE_NAME_BYTES);
    } else {
        const struct sql_node *named = sql_is(source->node, SQL_FROM_CALL) ? column_name(source, output) : NULL;
        say_either(out, "", "the ");
        if (output >= 0 && (uint32_t)output < source->n_outputs && source->outputs[output].name) {
            say_bytes(out, source->outputs[output].name, source->outputs[output].name_len, NARRATE_NAME_BYTES);
        } else if (named) {
            say_bytes(out, named->text, named->text_len, NARRATE_NAME_BYTES);
        } else {
            say(out, "column ");
            say_count(out, (uint64_t)output + 1);
        }
    }
    if (column) say_description(t, out, column);
}

/* True for customer.customer_name and customer.customer: "the customer name" needs no "of the customer". */
bool narrate_names_its_table(const struct narrator *t, const struct sql_source *source, int output)
{
    const struct schema_column *column = source->kind == SQL_SOURCE_TABLE ? narrate_column_at(t, source, output) : NULL;
    if (!column || column->full_name || ordinal(source)) return false;
    const struct text_tokens *table = &t->index->tables[column->table].words, *words = &column->words;
    if (table->n == 0 || words->n < table->n) return false;
    for (uint32_t i = 0; i < table->n; i++)
        if (strcmp(table->items[i].stem, words->items[i].stem) != 0) return false;
    return true;
}

void say_output(struct narrator *t, struct say *out, const struct sql_source *source, int output, uint32_t levels)
{
    narrate_column_used(t, narrate_column_at(t, source, output));
    if (!out->prose) {
        for (uint32_t i = 0; i < levels; i++) say(out, "outer ");
        say_source(t, out, source);
        say(out, ".");
        say_output_name(t, out, source, output);
        return;
    }
    say_output_name(t, out, source, output);
    if (levels == 0 && (source->block->n_sources < 2 || narrate_names_its_table(t, source, output))) return;
    say_of_source(t, out, source, levels);
}

void say_ref(struct narrator *t, struct say *out, const struct sql_ref *ref)
{
    if (ref->kind == SQL_REF_ROWID && out->prose) {
        say(out, "the row number");
        say_of_source(t, out, ref->source, ref->levels);
    } else if (ref->kind == SQL_REF_ROWID) {
        for (uint32_t i = 0; i < ref->levels; i++) say(out, "outer ");
        say_source(t, out, ref->source);
        say(out, ".rowid");
    } else {
        say_output(t, out, ref->source, ref->output, ref->levels);
    }
}

void say_column(struct narrator *t, struct say *out, const struct schema_column *column)
{
    narrate_column_used(t, column);
    if (out->prose) {
        const struct noun *noun = noun_of_table(t, (int)column->table);
        say_the_column(t, out, column);
        say(out, noun->is_phrase && noun->is_counted ? " of the " : " of ");
        say_noun_singular(out, noun);
    } else {
        say_exact_table(t, out, (int)column->table);
        say(out, ".");
        say_bytes(out, column->name, strlen(column->name), NARRATE_NAME_BYTES);
    }
}

/* --- queries and the statement's text --- */

void say_query(struct say *out, uint32_t number)
{
    if (number == 0) {
        say(out, "the query");
    } else if (number == NARRATE_MAX_QUERIES) {
        say(out, "a further query");
    } else {
        say(out, "query ");
        say_count(out, number);
    }
}

void say_within(struct narrator *t, struct say *out)
{
    if (t->query == 0) return;
    say(out, "in ");
    say_query(out, t->query);
    say(out, ", ");
}

void say_sql(struct narrator *t, struct say *out, const struct sql_node *node)
{
    const struct sql_stmt *stmt = t->source->stmt;
    if (node->end > stmt->len || node->start >= node->end) {
        say(out, "?");
        return;
    }
    if (node->end - node->start > NARRATE_SQL_BYTES) t->cut = true;
    uint32_t len = node->end - node->start;
    const char *mark = sql_quote_mark(stmt->text + node->start, len < NARRATE_SQL_BYTES ? len : NARRATE_SQL_BYTES);
    say(out, mark);
    say_bytes(out, stmt->text + node->start, len, NARRATE_SQL_BYTES);
    say(out, mark);
}

/* --- values that must not be shown --- */

bool narrate_shows_values(const struct narrator *t)
{
    return t->options->expose != EXPLAIN_NONE;
}

bool narrate_denied(const struct narrator *t, const struct schema_column *column)
{
    return column && schema_column_is_denied(t->index, column, t->options->deny_columns, t->options->n_deny_columns);
}

/* Returns true if the node uses a denied column. Returns true also for a column that is not a plain column of a table,
 * because it may be computed from a denied column. */
bool narrate_uses_denied(const struct narrator *t, const struct sql_node *node)
{
    if (t->options->n_deny_columns == 0) return false;
    for (const struct sql_node *n = node; n; n = sql_walk(node, n)) {
        const struct sql_ref *ref = n->ref;
        if (n->kind == SQL_STAR) return true;
        if (n->kind != SQL_COLUMN || !ref || ref->kind == SQL_REF_STRING) continue;
        if (schema_ref_is_denied(t->index, ref, t->options->deny_columns, t->options->n_deny_columns)) return true;
        if (ref->kind == SQL_REF_ROWID) continue;
        if (!schema_column_of(t->index, ref)) return true;
    }
    return false;
}
