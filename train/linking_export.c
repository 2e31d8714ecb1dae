/* Writes a line of the input of a schema linker (linking_export.h): the schema, the mentions of its parts in the
 * question, and the tables and columns of the gold query. */
#include "train/linking_export.h"

#include "lib/sql/bind.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static json_t *text_json(const char *text)
{
    char *valid = g_utf8_make_valid(text, -1);
    json_t *json = json_string(valid);
    g_free(valid);
    return json;
}

/* --- the schema, in relation to the question --- */

static json_t *words_json(const struct text_tokens *words)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < words->n; i++) json_array_append_new(out, text_json(words->items[i].norm));
    return out;
}

/* Rounds a score to two digits, which is all that a linker can use. This keeps the lines short. */
static json_t *score_json(double score)
{
    return json_real(round(score * 100) / 100);
}

/* Writes the mentions of names in the question: [index of the first word, number of words, table, column or -1,
 * score]. */
static void mentions_json(json_t *out, const struct question_mention *mentions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct question_mention *m = &mentions[i];
        json_array_append_new(out, json_pack("[I,I,i,i,o]", (json_int_t)m->first, (json_int_t)m->n_tokens, m->table,
                                             m->column, score_json(m->score)));
    }
}

/* Returns the columns whose values occur in the question: [index of the first word, number of words, table, column]. */
static json_t *values_json(const struct linking_export *from)
{
    json_t *out = json_array();
    for (uint32_t i = 0; i < from->question->n_values; i++) {
        const struct question_value *value = &from->question->values[i];
        for (uint32_t h = 0; h < value->n_hits; h++) {
            const struct schema_column *column = from->schema->columns[value->hits[h].column];
            json_array_append_new(out, json_pack("[I,I,I,I]", (json_int_t)value->first, (json_int_t)value->n_tokens,
                                                 (json_int_t)column->table, (json_int_t)column->index));
        }
    }
    return out;
}

static json_t *column_json(const struct schema_column *column)
{
    return json_pack("{s:o,s:o,s:b,s:b}", "name", text_json(column->name), "words", words_json(&column->words), "key",
                     column->pk > 0, "number", column->affinity != SCHEMA_TEXT);
}

static json_t *table_json(const struct schema_table *table)
{
    json_t *columns = json_array();
    for (uint32_t c = 0; c < table->n_columns; c++) json_array_append_new(columns, column_json(&table->columns[c]));
    return json_pack("{s:o,s:o,s:o}", "name", text_json(table->name), "words", words_json(&table->words), "columns",
                     columns);
}

/* Returns the pairs of joined columns: [[table, column], [table, column]], by index. */
static json_t *joins_json(const struct schema_index *schema)
{
    json_t *out = json_array();
    for (uint32_t j = 0; j < schema->n_joins; j++)
        for (uint32_t p = 0; p < schema->joins[j].n_pairs; p++) {
            const struct schema_column *a = schema->columns[schema->joins[j].from[p]],
                                       *b = schema->columns[schema->joins[j].to[p]];
            json_array_append_new(out, json_pack("[[I,I],[I,I]]", (json_int_t)a->table, (json_int_t)a->index,
                                                 (json_int_t)b->table, (json_int_t)b->index));
        }
    return out;
}

/* --- the tables and columns of the gold query --- */

enum err_code linking_used_by(struct arena *arena, const struct schema_index *schema, const char *sql,
                              struct linking_used *out, struct err *err)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    *out = (struct linking_used){arena_new_array(arena, schema->n_tables + 1, bool),
                                 arena_new_array(arena, schema->n_columns + 1, bool)};
    if (!out->tables || !out->columns) return err_set(err, ERR_LIMIT_MEMORY, "out of memory for a line");
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK ||
        sql_bind(arena, stmt, &schema->catalog, &bound) != ERR_OK)
        return err_set(err, ERR_MALFORMED, "the query does not parse, or has a name that is not in the schema");
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct schema_column *column = schema_column_of(schema, ref);
        if (column) out->columns[column->id] = true;
        if (ref->kind == SQL_REF_TABLE && ref->source && ref->source->table >= 0)
            out->tables[ref->source->table] = true;
    }
    return ERR_OK;
}

static json_t *gold_json(const struct linking_export *from, struct err *err)
{
    const struct schema_index *schema = from->schema;
    struct linking_used used;
    if (linking_used_by(from->arena, schema, from->gold, &used, err)) return NULL;
    json_t *of_tables = json_array(), *of_columns = json_array();
    for (uint32_t t = 0; t < schema->n_tables; t++)
        if (used.tables[t]) json_array_append_new(of_tables, json_integer(t));
    for (uint32_t c = 0; c < schema->n_columns; c++)
        if (used.columns[c])
            json_array_append_new(of_columns, json_pack("[I,I]", (json_int_t)schema->columns[c]->table,
                                                        (json_int_t)schema->columns[c]->index));
    return json_pack("{s:o,s:o}", "tables", of_tables, "columns", of_columns);
}

json_t *linking_export_line(const struct linking_export *from, struct err *err)
{
    json_t *gold = from->gold ? gold_json(from, err) : NULL, *tables = json_array();
    if (from->gold && !gold) return json_decref(tables), NULL;
    for (uint32_t t = 0; t < from->schema->n_tables; t++)
        json_array_append_new(tables, table_json(&from->schema->tables[t]));
    json_t *line = json_pack("{s:o,s:o}", "db", text_json(from->db), "question", text_json(from->question->text));
    json_t *named = json_array(), *weakly = json_array();
    mentions_json(named, from->question->mentions, from->question->n_mentions);
    mentions_json(weakly, from->question->weak, from->question->n_weak);
    json_object_set_new(line, "words", words_json(&from->question->tokens));
    json_object_set_new(line, "names", named);
    json_object_set_new(line, "names_weakly", weakly);
    json_object_set_new(line, "holds", values_json(from));
    json_object_set_new(line, "tables", tables);
    json_object_set_new(line, "joins", joins_json(from->schema));
    if (from->id) json_object_set_new(line, "id", text_json(from->id));
    if (gold) json_object_set_new(line, "gold", gold);
    return line;
}
