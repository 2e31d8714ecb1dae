/* Implements the methods of tools. The rows of the tools are listed as JSON Schemas. A call's arguments are checked
 * against the same rows before the tool runs, so that tools need no checks of their own. Errors in arguments are
 * results with `isError`, since the model can read and correct them. */
#include "server/mcp_int.h"

#include <string.h>

/* --- the schemas of a tool --- */

static json_t *choices_json(const char *choices)
{
    json_t *out = json_array();
    gchar **names = g_strsplit(choices, "|", -1);
    for (gchar **name = names; *name; name++) json_array_append_new(out, json_string(*name));
    g_strfreev(names);
    return out;
}

static json_t *parameter_json(const struct mcp_parameter *parameter)
{
    json_t *text = json_pack("{s:s, s:i}", "type", "string", "maxLength", (int)parameter->max_bytes);
    if (parameter->type == MCP_CHOICE) {
        json_decref(text);
        text = json_pack("{s:s, s:o}", "type", "string", "enum", choices_json(parameter->choices));
    } else if (parameter->type == MCP_TEXTS) {
        text = json_pack("{s:s, s:o, s:i, s:i}", "type", "array", "items", text, "minItems", 1, "maxItems",
                         (int)parameter->max_items);
    }
    json_object_set_new(text, "description", json_string(parameter->description));
    return text;
}

static json_t *input_schema(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++) {
        json_object_set_new(properties, p->name, parameter_json(p));
        if (p->required) json_array_append_new(required, json_string(p->name));
    }
    return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                     "additionalProperties", 0);
}

static json_t *field_json(const struct mcp_field *field)
{
    json_t *out = field->nullable ? json_pack("{s:[s, s]}", "type", field->type, "null")
                                  : json_pack("{s:s}", "type", field->type);
    json_object_set_new(out, "description", json_string(field->description));
    return out;
}

static json_t *output_schema(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct mcp_field *field = tool->fields; field->name; field++) {
        json_object_set_new(properties, field->name, field_json(field));
        if (!field->nullable) json_array_append_new(required, json_string(field->name));
    }
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required", required);
}

static bool is_choice(const char *choices, const char *text)
{
    gchar **names = g_strsplit(choices, "|", -1);
    bool found = g_strv_contains((const gchar *const *)names, text);
    g_strfreev(names);
    return found;
}

/* --- checking arguments: the model reads the errors and can correct its call --- */

static bool check_text(const struct mcp_parameter *parameter, const json_t *value, GString *why)
{
    if (!json_is_string(value))
        g_string_append_printf(why, "`%s` must be %s.", parameter->name,
                               parameter->type == MCP_TEXTS ? "a list of strings" : "a string");
    else if (parameter->type == MCP_CHOICE && !is_choice(parameter->choices, json_string_value(value)))
        g_string_append_printf(why, "`%s` must be one of: %s.", parameter->name, parameter->choices);
    else if (parameter->type != MCP_CHOICE && json_string_length(value) > parameter->max_bytes)
        g_string_append_printf(why, "`%s` has more than %u bytes.", parameter->name, parameter->max_bytes);
    else if (parameter->required && json_string_length(value) == 0)
        g_string_append_printf(why, "`%s` is empty.", parameter->name);
    return why->len == 0;
}

static bool check_value(const struct mcp_parameter *parameter, const json_t *value, GString *why)
{
    size_t i;
    const json_t *item;
    if (parameter->type != MCP_TEXTS) return check_text(parameter, value, why);
    if (!json_is_array(value) || json_array_size(value) < 1 || json_array_size(value) > parameter->max_items) {
        g_string_append_printf(why, "`%s` must be a list of 1 to %u strings.", parameter->name, parameter->max_items);
        return false;
    }
    json_array_foreach(value, i, item) if (!check_text(parameter, item, why)) return false;
    return true;
}

static bool has_parameter(const struct mcp_tool *tool, const char *name)
{
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++)
        if (strcmp(p->name, name) == 0) return true;
    return false;
}

static void list_parameters(const struct mcp_tool *tool, GString *out)
{
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++)
        g_string_append_printf(out, "%s%s%s", p == tool->parameters ? "" : ", ", p->name,
                               p->required ? "" : " (optional)");
}

static bool check_arguments(const struct mcp_tool *tool, const json_t *arguments, GString *why)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)arguments, name, value)
    {
        if (has_parameter(tool, name)) continue;
        g_string_append_printf(why, "%s has no parameter `%.60s`. Its parameters: ", tool->name, name);
        list_parameters(tool, why);
        g_string_append_c(why, '.');
        return false;
    }
    for (const struct mcp_parameter *p = tool->parameters; p->name; p++) {
        value = json_object_get(arguments, p->name);
        if (value ? !check_value(p, value, why) : p->required) {
            if (!value) g_string_append_printf(why, "`%s` is missing: %s", p->name, p->description);
            return false;
        }
    }
    return true;
}

/* --- tools/list --- */

static json_t *tool_json(const struct mcp_tool *tool)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:b, s:b, s:b}}", "name", tool->name, "title", tool->title,
                     "description", tool->description, "inputSchema", input_schema(tool), "outputSchema",
                     output_schema(tool), "annotations", "readOnlyHint", 1, "destructiveHint", 0, "openWorldHint", 0);
}

void tools_list(struct exchange *exchange)
{
    json_t *tools = json_array();
    for (const struct mcp_tool *tool = exchange->mcp->tools; tool->name; tool++)
        json_array_append_new(tools, tool_json(tool));
    exchange->result = json_pack("{s:o}", "tools", tools);
}

/* --- tools/call --- */

static const struct mcp_tool *find_tool(const struct exchange *exchange)
{
    const char *name = mcp_message_text(exchange->message, "name");
    for (const struct mcp_tool *tool = exchange->mcp->tools; name && tool->name; tool++)
        if (strcmp(tool->name, name) == 0) return tool;
    return NULL;
}

static struct mcp_call call_of(const struct exchange *exchange)
{
    return (struct mcp_call){.arguments = json_object_get(exchange->message->params, "arguments"),
                             .tenant = exchange->tenant,
                             .owner = exchange->owner};
}

/* Converts a result to JSON. Takes over the result's data. */
static void put_result(struct exchange *exchange, struct mcp_result *result)
{
    char *text = g_utf8_make_valid(result->text->str, (gssize)result->text->len);
    exchange->judge = result->judge;
    if (!exchange->judge)
        exchange->result = json_pack("{s:[{s:s, s:s}], s:b, s:o*}", "content", "type", "text", "text", text, "isError",
                                     result->is_error, "structuredContent", result->structured);
    g_free(text);
    g_string_free(result->text, TRUE);
}

void tools_call(struct exchange *exchange)
{
    const struct mcp_tool *tool = find_tool(exchange);
    const struct mcp_call call = call_of(exchange);
    if (!tool) {
        exchange_fail(exchange, MCP_INVALID_PARAMS, "unknown tool: see tools/list");
    } else if (call.arguments && !json_is_object(call.arguments)) {
        exchange_fail(exchange, MCP_INVALID_PARAMS, "arguments must be an object");
    } else {
        struct mcp_result result = {.text = g_string_new(NULL)};
        result.is_error = !check_arguments(tool, call.arguments, result.text);
        if (!result.is_error) tool->call(exchange->mcp->ctx, &call, &result);
        put_result(exchange, &result);
    }
}

void tools_finish(struct exchange *exchange, const char *verdict, size_t len, const struct err *err)
{
    const struct mcp_tool *tool = find_tool(exchange);
    const struct mcp_call call = call_of(exchange);
    struct mcp_result result = {.text = g_string_new(NULL)};
    tool->finish(exchange->mcp->ctx, &call, verdict, len, err, &result);
    put_result(exchange, &result);
}
