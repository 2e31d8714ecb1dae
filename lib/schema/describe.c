/* Writes a schema as text for a language model: tables, columns, references, and some values. */
#include "lib/schema/describe.h"

#include "lib/db/db.h"

#include <glib.h>
#include <string.h>

enum { SHOWN_VALUES = 4, VALUE_BYTES = 40 };

static void put_values(GString *out, struct arena *arena, const struct schema_stats *stats)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < stats->n_top && shown < SHOWN_VALUES; i++) {
        const char *quoted = db_quote_value(arena, &stats->top[i].value);
        if (!quoted || strlen(quoted) > VALUE_BYTES || !g_utf8_validate(quoted, -1, NULL)) continue;
        g_string_append_printf(out, "%s%s", shown++ ? ", " : ": ", quoted);
    }
}

static void put_table(GString *out, struct arena *arena, const struct schema_index *index,
                      const struct schema_table *table, const struct schema_describe_options *options)
{
    g_string_append_printf(out, "%s (%" G_GUINT64_FORMAT " rows)\n", table->name, table->rows);
    for (uint32_t c = 0; c < table->n_columns; c++) {
        const struct schema_column *column = &table->columns[c];
        g_string_append_printf(out, "  %s %s%s", column->name, column->type, column->pk ? ", key" : "");
        if (options->values && !schema_column_is_denied(index, column, options->deny_columns, options->n_deny_columns))
            put_values(out, arena, &column->stats);
        if (column->description) g_string_append_printf(out, " (%s)", column->description);
        g_string_append_c(out, '\n');
    }
}

static void put_joins(GString *out, const struct schema_index *index)
{
    for (uint32_t i = 0; i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        for (uint32_t k = 0; k < join->n_pairs; k++) {
            const struct schema_column *from = index->columns[join->from[k]], *to = index->columns[join->to[k]];
            g_string_append_printf(out, "%s.%s refers to %s.%s\n", index->tables[join->from_table].name, from->name,
                                   index->tables[join->to_table].name, to->name);
        }
    }
}

const char *schema_describe(struct arena *arena, const struct schema_index *index,
                            const struct schema_describe_options *options)
{
    GString *out = g_string_new(NULL);
    uint32_t t = 0;
    for (; t < index->n_tables && out->len < options->max_bytes; t++)
        put_table(out, arena, index, &index->tables[t], options);
    if (t < index->n_tables) g_string_append_printf(out, "and %u more tables\n", index->n_tables - t);
    put_joins(out, index);
    if (out->len > options->max_bytes) g_string_truncate(out, options->max_bytes);
    char *valid = g_utf8_make_valid(out->str, (gssize)out->len);
    const char *text = arena_strdup(arena, valid);
    g_free(valid);
    g_string_free(out, TRUE);
    return text;
}
