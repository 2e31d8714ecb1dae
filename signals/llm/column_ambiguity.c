/* column_ambiguity: asks a language model for columns that are similar to those of the query and could also answer the
 * question (SQLens §3.1). Each column that the model names must exist in the schema. */
#include "signals/support/ask.h"

#include <glib.h>
#include <string.h>

enum { MAX_RIVALS = 4 };

/* Returns the column of the schema with the name "table.column". Returns NULL if there is none. */
static const struct schema_column *column_named(const struct schema_index *schema, const char *name)
{
    const char *point = name ? strrchr(name, '.') : NULL;
    for (uint32_t i = 0; point && i < schema->n_columns; i++) {
        const struct schema_column *column = schema->columns[i];
        const char *table = schema->tables[column->table].name;
        if (g_ascii_strcasecmp(column->name, point + 1) == 0 && strlen(table) == (size_t)(point - name) &&
            g_ascii_strncasecmp(table, name, strlen(table)) == 0)
            return column;
    }
    return NULL;
}

static enum err_code column_ambiguity_eval(struct vsig_run *run)
{
    const json_t *part = ask_part(run), *rivals = part ? ask_list(run, part, "rivals") : NULL, *rival;
    const struct schema_index *schema = run->subject->schema;
    unsigned dropped = 0;
    size_t i;
    json_array_foreach(rivals, i, rival)
    {
        const struct sql_node *place = ask_place(run, ask_text(rival, "clause"));
        const struct schema_column *column = column_named(schema, ask_text(rival, "column"));
        if (!place || !column || i >= MAX_RIVALS) {
            dropped++;
            continue;
        }
        vsig_fire(run, VSIG_WARNING, place, "a language model reports that %s.%s could also answer the question",
                  schema->tables[column->table].name, column->name);
    }
    ask_note_dropped(run, dropped);
    return ERR_OK;
}

const struct vsig_def vsig_column_ambiguity = {
    .id = VSIG_ID_column_ambiguity,
    .name = "column_ambiguity",
    .family = VSIG_LLM,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a language model names another column that could also answer the question",
    .description = "The schema has very similar columns, and the question and evidence do not say which one is meant.",
    .example = "What is the name of the winner? - SELECT winner_name FROM race. The table also has the column "
               "winner_full_name.",
    .instruction = "Choose the column whose name or description is closest to the words of the question.",
    .eval = column_ambiguity_eval,
};
