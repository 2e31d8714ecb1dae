/* Implements the tools describe_schema and list_databases. They show databases and schemas as far as the policy
 * permits. */
#include "cli/commands/agent_int.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* For a schema with more than MAX_COLUMNS columns, only the tables are listed. MAX_BYTES bounds a document for an
 * agent. */
enum { MAX_COLUMNS = 200, MAX_BYTES = 48 << 10 };

/* --- list_databases --- */

json_t *agent_database_names(const struct agent *agent, const struct tenant *tenant)
{
    struct arena arena;
    struct err err = {0};
    uint32_t n = 0;
    const char *const *names = NULL;
    json_t *out = json_array();
    arena_init(&arena, 0);
    if (worker_databases_names(&agent->databases, &arena, &names, &n, &err)) n = 0;
    for (uint32_t i = 0; i < n && json_array_size(out) < AGENT_MAX_DATABASES; i++)
        if (tenant_may_ask(tenant, names[i])) json_array_append_new(out, json_string(names[i]));
    arena_free(&arena);
    return out;
}

void agent_list_databases(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    size_t i;
    json_t *name, *names = agent_database_names(ctx, call->tenant);
    g_string_append_printf(result->text, "%zu databases:", json_array_size(names));
    json_array_foreach(names, i, name)
    {
        g_string_append(result->text, i ? ", " : " ");
        agent_append(result->text, json_string_value(name), MSG_MAX_NAME);
    }
    result->structured = json_pack("{s:o}", "databases", names);
}

/* --- a schema as text --- */

/* Writes a sample as a SQL literal. */
static void tell_value(const json_t *value, GString *out)
{
    char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    if (!text) {
        gchar **parts = g_strsplit(json_string_value(value), "'", -1);
        char *quoted = g_strjoinv("''", parts);
        g_string_append_c(out, '\'');
        agent_append(out, quoted, MSG_MAX_NAME);
        g_string_append_c(out, '\'');
        g_strfreev(parts);
        g_free(quoted);
        return;
    }
    g_string_append(out, text);
    free(text);
}

static void tell_column(const json_t *column, GString *out)
{
    size_t i;
    const json_t *sample, *description = json_object_get(column, "description");
    g_string_append(out, "  ");
    agent_append(out, json_string_value(json_object_get(column, "name")), MSG_MAX_NAME);
    g_string_append_c(out, ' ');
    agent_append(out, json_string_value(json_object_get(column, "type")), MSG_MAX_NAME);
    if (json_object_get(column, "key")) g_string_append(out, ", key");
    if (json_object_get(column, "denied")) g_string_append(out, ", values hidden");
    json_array_foreach(json_object_get(column, "samples"), i, sample)
    {
        g_string_append(out, i ? ", " : ": ");
        tell_value(sample, out);
    }
    if (description) g_string_append(out, " -- ");
    if (description) agent_append(out, json_string_value(description), MSG_MAX_NAME);
    g_string_append_c(out, '\n');
}

static void tell_table(const json_t *table, GString *out)
{
    size_t i;
    const json_t *column, *rows = json_object_get(table, "rows");
    agent_append(out, json_string_value(json_object_get(table, "name")), MSG_MAX_NAME);
    if (json_is_integer(rows))
        g_string_append_printf(out, " (%" JSON_INTEGER_FORMAT " rows)", json_integer_value(rows));
    if (json_is_true(json_object_get(table, "view"))) g_string_append(out, " view");
    g_string_append_c(out, '\n');
    json_array_foreach(json_object_get(table, "columns"), i, column) tell_column(column, out);
}

static void tell_side(const json_t *side, GString *out)
{
    size_t i;
    const json_t *column;
    json_array_foreach(json_object_get(side, "columns"), i, column)
    {
        g_string_append(out, i ? ", " : "");
        agent_append(out, json_string_value(json_object_get(side, "table")), MSG_MAX_NAME);
        g_string_append_c(out, '.');
        agent_append(out, json_string_value(column), MSG_MAX_NAME);
    }
}

static void tell_schema(const json_t *schema, GString *out)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(schema, "tables"), i, item) tell_table(item, out);
    json_array_foreach(json_object_get(schema, "joins"), i, item)
    {
        tell_side(json_object_get(item, "from"), out);
        g_string_append(out, " refers to ");
        tell_side(json_object_get(item, "to"), out);
        g_string_append(out, json_is_true(json_object_get(item, "declared")) ? "\n" : " (inferred)\n");
    }
    if (!json_is_true(json_object_get(schema, "complete")))
        g_string_append(out,
                        "This list is incomplete: call describe_schema with a `table` for its columns and joins.\n");
}

/* --- describe_schema --- */

static bool find_index(const struct agent *agent, const struct worker_database *database, struct schema_index **out,
                       struct mcp_result *result)
{
    struct err err = {0};
    struct db *db = NULL;
    enum err_code code = db_open(database->path, &database->limits, &db, &err);
    if (!code)
        code = schema_cache_get_denying(agent->schemas, db, database->name, database->path, database->deny_columns,
                                        database->n_deny_columns, out, &err);
    db_close(db);
    if (code) agent_fail_database(agent, database->name, &err, result);
    return !code;
}

static bool find_table(const struct schema_index *index, const char *name, const struct schema_table **out,
                       struct mcp_result *result)
{
    int found = name ? schema_find_table(index, name, strlen(name)) : -1;
    *out = found < 0 ? NULL : &index->tables[found];
    if (!name || *out) return true;
    result->is_error = true;
    g_string_append(result->text, "Unknown table `");
    agent_append(result->text, name, MSG_MAX_NAME);
    g_string_append(result->text, "`: describe_schema without `table` lists the names.");
    return false;
}

/* Sets "complete": true if everything requested is included. */
static json_t *schema_of(const struct schema_index *index, const struct worker_database *database,
                         const struct schema_table *table)
{
    const struct schema_json_options options = {.values = database->expose != MSG_EXPOSE_NONE,
                                                .deny_columns = database->deny_columns,
                                                .n_deny_columns = database->n_deny_columns,
                                                .max_bytes = MAX_BYTES,
                                                .table = table,
                                                .names = !table && index->n_columns > MAX_COLUMNS};
    char *text = schema_json(index, &options);
    json_t *schema = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *left_out = json_object_get(schema, "left_out");
    bool complete = !options.names && !json_integer_value(json_object_get(left_out, "tables")) &&
                    !json_integer_value(json_object_get(left_out, "joins"));
    json_object_set_new(schema, "complete", json_boolean(complete));
    free(text);
    return schema;
}

json_t *agent_describe(const struct agent *agent, const struct tenant *tenant, const char *name, const char *table,
                       struct mcp_result *result)
{
    struct arena arena;
    json_t *schema = NULL;
    struct worker_database database;
    struct schema_index *index = NULL;
    const struct schema_table *only;
    arena_init(&arena, 0);
    if (agent_pick(agent, tenant, &arena, name, &database, result) && find_index(agent, &database, &index, result) &&
        find_table(index, table, &only, result))
        schema = schema_of(index, &database, only);
    if (index) schema_unref(index);
    arena_free(&arena);
    return schema;
}

void agent_describe_schema(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    result->structured =
        agent_describe(ctx, call->tenant, agent_argument(call, "db"), agent_argument(call, "table"), result);
    if (result->structured) tell_schema(result->structured, result->text);
}
