/* Converts the column descriptions of an example to JSON and back. Code that transfers the edits to another schema
 * needs them. */
#include "examples/store.h"

#include <jansson.h>

static json_t *text_json(const char *text)
{
    return text ? json_string(text) : json_null();
}

char *examples_columns_write(const struct repair_column *columns, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        const struct repair_column *c = &columns[i];
        json_array_append_new(list, json_pack("[s, o, o, b, o]", c->table, text_json(c->column), text_json(c->type),
                                              c->primary_key, text_json(c->references)));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}

/* Reads a text or null. Returns false if it is neither, or if the arena is full. */
static bool keep(struct arena *arena, const json_t *value, const char **out)
{
    *out = json_is_string(value) ? arena_strdup(arena, json_string_value(value)) : NULL;
    return *out || json_is_null(value);
}

static bool column_of(struct arena *arena, json_t *row, struct repair_column *out)
{
    json_t *table, *column, *type, *references;
    int primary_key = 0;
    if (json_unpack(row, "[o, o, o, b, o!]", &table, &column, &type, &primary_key, &references)) return false;
    out->primary_key = primary_key;
    return json_is_string(table) && keep(arena, table, &out->table) && keep(arena, column, &out->column) &&
           keep(arena, type, &out->type) && keep(arena, references, &out->references);
}

bool examples_columns_read(struct arena *arena, const char *text, struct example *out)
{
    json_t *list = json_loads(text, 0, NULL);
    size_t n = json_array_size(list);
    struct repair_column *columns = arena_new_array(arena, n + 1, struct repair_column);
    bool whole = json_is_array(list) && n <= EXAMPLES_MAX_COLUMNS && columns;
    for (size_t i = 0; whole && i < n; i++) whole = column_of(arena, json_array_get(list, i), &columns[i]);
    out->columns = columns;
    out->n_columns = (uint32_t)n;
    json_decref(list);
    return whole;
}
