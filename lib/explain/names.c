/* What things are called: exactly for the verifier, in words for people. */
#include "lib/explain/teller.h"

#include <string.h>

/* Position among the block's sources of the same table or CTE, from 1; 0 when it is the only one. */
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

enum number { AS_IT_IS, ONE, MANY };

/* Nouns whose plural no ending tells. */
static const struct {
    const char *one, *many;
} IRREGULAR[] = {
    {"person", "people"}, {"child", "children"}, {"man", "men"},         {"woman", "women"},       {"movie", "movies"},
    {"staff", "staff"},   {"series", "series"},  {"species", "species"}, {"analysis", "analyses"},
};

static bool ends_in(const char *word, size_t len, const char *ending)
{
    size_t n = strlen(ending);
    return len > n && memcmp(word + len - n, ending, n) == 0;
}

/* English, as far as names of tables need it: `word` in the plural or in the singular, from either. */
static void say_singular(struct say *out, const char *word, size_t len)
{
    size_t drop = 0;
    const char *add = "";
    if (ends_in(word, len, "ies") && len > 4)
        drop = 3, add = "y";
    else if (ends_in(word, len, "ches") || ends_in(word, len, "shes") || ends_in(word, len, "xes") ||
             ends_in(word, len, "sses"))
        drop = 2;
    else if (ends_in(word, len, "s") && !ends_in(word, len, "ss") && !ends_in(word, len, "us") &&
             !ends_in(word, len, "is"))
        drop = 1;
    say_bytes(out, word, len - drop, TELL_NAME_BYTES);
    say(out, add);
}

static void say_plural(struct say *out, const char *word, size_t len)
{
    bool in_y = len > 1 && word[len - 1] == 'y' && !strchr("aeiou", word[len - 2]);
    bool hissing = ends_in(word, len, "s") || ends_in(word, len, "x") || ends_in(word, len, "z") ||
                   ends_in(word, len, "ch") || ends_in(word, len, "sh");
    bool is_plural = ends_in(word, len, "s") && !ends_in(word, len, "ss") && !ends_in(word, len, "us");
    say_bytes(out, word, in_y ? len - 1 : len, TELL_NAME_BYTES);
    say(out, is_plural ? "" : in_y ? "ies" : hissing ? "es" : "s");
}

static void say_noun(struct say *out, const char *word, enum number number)
{
    size_t len = strlen(word);
    for (size_t i = 0; number != AS_IT_IS && i < sizeof IRREGULAR / sizeof *IRREGULAR; i++)
        if (strcmp(word, IRREGULAR[i].one) == 0 || strcmp(word, IRREGULAR[i].many) == 0) {
            say(out, number == ONE ? IRREGULAR[i].one : IRREGULAR[i].many);
            return;
        }
    bool is_word = len > 2 && word[len - 1] >= 'a' && word[len - 1] <= 'z';
    if (!is_word || number == AS_IT_IS)
        say_bytes(out, word, len, TELL_NAME_BYTES);
    else
        (number == ONE ? say_singular : say_plural)(out, word, len);
}

static void say_words(struct say *out, const struct text_tokens *words, const char *otherwise, enum number number)
{
    if (words->n == 0) say_bytes(out, otherwise, strlen(otherwise), TELL_NAME_BYTES);
    for (uint32_t i = 0; i < words->n; i++) {
        if (i) say(out, " ");
        say_noun(out, words->items[i].norm, i + 1 < words->n ? AS_IT_IS : number);
    }
}

static void say_table(struct teller *t, struct say *out, int table, enum number number)
{
    const struct schema_table *known = &t->index->tables[table];
    if (out->prose)
        say_words(out, &known->words, known->name, number);
    else
        say_bytes(out, known->name, strlen(known->name), TELL_NAME_BYTES);
}

/* --- FROM items --- */

static void say_exposed(struct teller *t, struct say *out, const struct sql_source *source)
{
    if (sql_is(source->node, SQL_TABLE)) /* a CTE, whatever it is called here */
        say_bytes(out, source->node->text, source->node->text_len, TELL_NAME_BYTES);
    else if (source->name)
        say_bytes(out, source->name, source->name_len, TELL_NAME_BYTES);
    else if (source->kind == SQL_SOURCE_DERIVED)
        say_query(out, tell_query_number(t, sql_kid(source->node, DERIVED_QUERY), source->node, TELL_DERIVED));
    else
        say_sql(t, out, source->node);
}

static void say_source_in(struct teller *t, struct say *out, const struct sql_source *source, enum number number)
{
    uint32_t nth = ordinal(source);
    bool is_table = source->kind == SQL_SOURCE_TABLE && source->table >= 0;
    if (is_table)
        say_table(t, out, source->table, nth ? ONE : number);
    else
        say_exposed(t, out, source);
    if (nth) {
        say(out, " ");
        say_count(out, nth);
    }
    if (number == MANY && (nth || !is_table)) say(out, " rows");
}

void say_source(struct teller *t, struct say *out, const struct sql_source *source)
{
    say_source_in(t, out, source, ONE);
}

void say_source_plural(struct teller *t, struct say *out, const struct sql_source *source)
{
    say_source_in(t, out, source, MANY);
}

/* --- columns --- */

const struct schema_column *tell_column_at(const struct teller *t, const struct sql_source *source, int output)
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

void say_column_words(struct say *out, const struct schema_column *column)
{
    if (column->full_name && *column->full_name)
        say_bytes(out, column->full_name, strlen(column->full_name), TELL_NAME_BYTES);
    else
        say_words(out, &column->words, column->name, AS_IT_IS);
}

/* What the sidecar says of it, at its first mention. */
static void say_description(struct teller *t, struct say *out, const struct schema_column *column)
{
    const char *text = out->prose ? column->description : column->full_name;
    if (!text || !*text) text = column->description;
    if (!text || !*text || !t->described) return;
    uint64_t *word = &t->described[column->id / 32], bit = (uint64_t)1 << (2 * (column->id % 32) + out->prose);
    if (*word & bit) return;
    *word |= bit;
    say(out, " (");
    say_bytes(out, text, strlen(text), TELL_NAME_BYTES);
    say(out, ")");
}

static void say_output_name(struct teller *t, struct say *out, const struct sql_source *source, int output)
{
    const struct schema_column *column = source->kind == SQL_SOURCE_TABLE ? tell_column_at(t, source, output) : NULL;
    if (column && out->prose) {
        say_column_words(out, column);
    } else if (column) {
        say_bytes(out, column->name, strlen(column->name), TELL_NAME_BYTES);
    } else if (output >= 0 && (uint32_t)output < source->n_outputs && source->outputs[output].name) {
        say_bytes(out, source->outputs[output].name, source->outputs[output].name_len, TELL_NAME_BYTES);
    } else {
        say(out, "column ");
        say_count(out, (uint64_t)output + 1);
    }
    if (column) say_description(t, out, column);
}

/* customer.customer_name: "the customer name" needs no "of the customer". */
bool tell_names_its_table(const struct teller *t, const struct sql_source *source, int output)
{
    const struct schema_column *column = source->kind == SQL_SOURCE_TABLE ? tell_column_at(t, source, output) : NULL;
    if (!column || column->full_name || ordinal(source)) return false;
    const struct text_tokens *table = &t->index->tables[column->table].words, *words = &column->words;
    if (table->n == 0 || words->n <= table->n) return false;
    for (uint32_t i = 0; i < table->n; i++)
        if (strcmp(table->items[i].stem, words->items[i].stem) != 0) return false;
    return true;
}

void say_output(struct teller *t, struct say *out, const struct sql_source *source, int output, uint32_t levels)
{
    tell_column_used(t, tell_column_at(t, source, output));
    if (!out->prose) {
        for (uint32_t i = 0; i < levels; i++) say(out, "outer ");
        say_source(t, out, source);
        say(out, ".");
        say_output_name(t, out, source, output);
        return;
    }
    say(out, "the ");
    say_output_name(t, out, source, output);
    if (levels == 0 && (source->block->n_sources < 2 || tell_names_its_table(t, source, output))) return;
    say(out, " of the ");
    for (uint32_t i = 0; i < levels; i++) say(out, "outer ");
    say_source(t, out, source);
}

void say_ref(struct teller *t, struct say *out, const struct sql_ref *ref)
{
    if (ref->kind == SQL_REF_ROWID) {
        say_either(out, "", "the row number of the ");
        for (uint32_t i = 0; i < ref->levels; i++) say(out, "outer ");
        say_source(t, out, ref->source);
        say_either(out, ".rowid", "");
    } else {
        say_output(t, out, ref->source, ref->output, ref->levels);
    }
}

void say_column(struct teller *t, struct say *out, const struct schema_column *column)
{
    tell_column_used(t, column);
    if (out->prose) {
        say(out, "the ");
        say_column_words(out, column);
        say(out, " of ");
        say_table(t, out, (int)column->table, ONE);
    } else {
        say_table(t, out, (int)column->table, ONE);
        say(out, ".");
        say_bytes(out, column->name, strlen(column->name), TELL_NAME_BYTES);
    }
}

/* --- queries and the statement's text --- */

void say_query(struct say *out, uint32_t number)
{
    if (number == 0) {
        say(out, "the query");
    } else if (number == TELL_MAX_QUERIES) {
        say(out, "a further query");
    } else {
        say(out, "query ");
        say_count(out, number);
    }
}

void say_within(struct teller *t, struct say *out)
{
    if (t->query == 0) return;
    say(out, "in ");
    say_query(out, t->query);
    say(out, ", ");
}

void say_sql(struct teller *t, struct say *out, const struct sql_node *node)
{
    const struct sql_stmt *stmt = t->source->stmt;
    if (node->end > stmt->len || node->start >= node->end) {
        say(out, "?");
        return;
    }
    if (node->end - node->start > TELL_SQL_BYTES) t->cut = true;
    say(out, "`");
    say_bytes(out, stmt->text + node->start, node->end - node->start, TELL_SQL_BYTES);
    say(out, "`");
}

/* --- what may not be shown --- */

bool tell_shows_values(const struct teller *t)
{
    return t->options->expose != EXPLAIN_NONE;
}

bool tell_denied(const struct teller *t, const struct schema_column *column)
{
    return column && schema_column_is_denied(t->index, column, t->options->deny_columns, t->options->n_deny_columns);
}

/* What is not a plain column of a table may be computed from a denied one. */
bool tell_uses_denied(const struct teller *t, const struct sql_node *node)
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
