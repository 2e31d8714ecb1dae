/* Tests assay mcp through the program: its tools on a real database. tests/unit/server/test_mcp.c tests the protocol.
 * tests/clients/mcp tests clients of other projects. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <sqlite3.h>
#include <string.h>

TestSuite(mcp_program, .init = scratch_begin, .fini = scratch_end, .timeout = 120);

#define CALL(id, name, arguments)                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name                       \
    "\",\"arguments\":" arguments "}}\n"
#define COUNT "\"db\":\"shop\",\"question\":\"How many customers are there?\""

/* Returns the response to the request of that id; Checks that every line of the output is a message. Free with
 * json_decref. */
static json_t *answer_to(const struct run *run, json_int_t id)
{
    json_t *found = NULL;
    gchar **lines = g_strsplit(run->out, "\n", -1);
    for (gchar **line = lines; *line && **line; line++) {
        json_t *message = json_loads(*line, JSON_REJECT_DUPLICATES, NULL);
        cr_assert(message, "not a message: %s", *line);
        if (json_integer_value(json_object_get(message, "id")) == id && !found)
            found = message;
        else
            json_decref(message);
    }
    g_strfreev(lines);
    cr_assert(found, "nothing to %d: %s %s", (int)id, run->out, run->err);
    return found;
}

/* Checks the text of a call's result, and whether the call failed. */
static void expect_text(const struct run *run, json_int_t id, bool error, const char *says)
{
    json_t *answer = answer_to(run, id), *result = json_object_get(answer, "result");
    const json_t *content = json_array_get(json_object_get(result, "content"), 0);
    const char *text = json_string_value(json_object_get(content, "text"));
    cr_expect(text && strstr(text, says), "%d: no '%s' in %s", (int)id, says, text);
    cr_expect_eq(json_is_true(json_object_get(result, "isError")), error, "%d: %s", (int)id, text);
    cr_expect_eq(!json_object_get(result, "structuredContent"), error, "%d: %s", (int)id, text);
    json_decref(answer);
}

static json_t *structured(const struct run *run, json_int_t id)
{
    json_t *answer = answer_to(run, id);
    json_t *out = json_incref(json_object_get(json_object_get(answer, "result"), "structuredContent"));
    json_decref(answer);
    return out;
}

Test(mcp_program, tool_calls_are_answered)
{
    struct run run = assay_input(
        CALL(1, "judge_sql",
             "{" COUNT ",\"candidates\":[\"SELECT count(*) FROM orders\",\"SELECT count(*) FROM customer\"]}")
            CALL(2, "judge_sql", "{" COUNT ",\"candidates\":[\"SELECT nothing\"]}")
                CALL(3, "repair_sql", "{" COUNT ",\"sql\":\"SELECT count(*) FROM customer LIMIT 0\"}")
                    CALL(4, "explain_sql", "{\"db\":\"shop\",\"sql\":\"SELECT count(*) FROM customer\"}")
                        CALL(5, "explain_sql", "{\"db\":\"shop\",\"sql\":\"DROP TABLE customer\"}")
                            CALL(6, "describe_schema", "{\"db\":\"shop\",\"table\":\"customer\"}") CALL(
                                7, "judge_sql", "{" COUNT ",\"candidates\":[\"SELECT 1\"],\"answers\":[\"yes\"]}")
                                CALL(8, "judge_sql", "{" COUNT ",\"candidates\":[\"SELECT 1\"],\"answers\":[\"a=b\"]}"),
        "mcp", "--db-root=.");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_str_eq(run.err, "");
    expect_text(&run, 1, false, "VALIDATED: candidate 2 of 2");
    expect_text(&run, 2, false, "invalid_sql");
    expect_text(&run, 3, false, "REPAIRED");
    expect_text(&run, 4, false, "number of customers");
    expect_text(&run, 5, true, "refused");
    expect_text(&run, 6, false, "customer (");
    expect_text(&run, 7, true, "\"QUESTION=CHOICE\"");
    expect_text(&run, 8, true, "FAILED: the SQL could not be judged (malformed)");
    json_t *schema = structured(&run, 6);
    cr_expect_eq(json_array_size(json_object_get(schema, "tables")), 1);
    cr_expect(json_is_true(json_object_get(schema, "complete")));
    json_decref(schema);
    run_free(&run);
}

/* The server reveals no file locations even to the local user, because that user passes its responses to a model. */
Test(mcp_program, file_locations_reach_no_model)
{
    write_file("my.yaml", "databases:\n  gone: {path: /no/such/place/gone.sqlite}\n");
    struct run run =
        assay_input(CALL(1, "judge_sql", "{\"db\":\"gone\",\"question\":\"How many?\",\"candidates\":[\"SELECT 1\"]}")
                        CALL(2, "explain_sql", "{\"db\":\"gone\",\"sql\":\"SELECT 1\"}") CALL(3, "describe_schema",
                                                                                              "{\"db\":\"gone\"}")
                            CALL(4, "repair_sql", "{\"db\":\"gone\",\"question\":\"How many?\",\"sql\":\"SELECT 1\"}"),
                    "mcp", "--config=my.yaml");
    cr_expect_null(strstr(run.out, "/no/such"), "%s", run.out);
    for (int i = 1; i <= 4; i++) expect_text(&run, i, true, "the database does not exist");
    run_free(&run);
}

/* Checks that every tool declares the schema of its result, and that results match the schema. */
Test(mcp_program, tools_have_schemas)
{
    size_t i;
    json_t *tool;
    struct run run =
        assay_input("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n", "mcp", "--db=shop/shop.sqlite");
    json_t *answer = answer_to(&run, 1);
    const json_t *tools = json_object_get(json_object_get(answer, "result"), "tools");
    cr_expect_eq(json_array_size(tools), 5);
    json_array_foreach(tools, i, tool)
    {
        const char *name = json_string_value(json_object_get(tool, "name"));
        const json_t *output = json_object_get(tool, "outputSchema");
        cr_expect(json_is_object(json_object_get(output, "properties")), "%s: no JSON", name);
        cr_expect(json_is_object(json_object_get(json_object_get(tool, "inputSchema"), "properties")), "%s", name);
        size_t k;
        json_t *required;
        json_array_foreach(json_object_get(output, "required"), k, required)
            cr_expect(json_object_get(json_object_get(output, "properties"), json_string_value(required)),
                      "%s requires %s, which it does not describe", name, json_string_value(required));
    }
    json_decref(answer);
    run_free(&run);
}

Test(mcp_program, large_schema_is_listed_by_table)
{
    GString *sql = g_string_new(NULL);
    for (int t = 0; t < 30; t++) {
        g_string_append_printf(sql, "CREATE TABLE wide_%d (id INTEGER PRIMARY KEY", t);
        for (int c = 0; c < 9; c++) g_string_append_printf(sql, ", column_%d TEXT", c);
        g_string_append(sql, ");");
    }
    sqlite3 *db;
    cr_assert_eq(sqlite3_open("wide.sqlite", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql->str, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    g_string_free(sql, TRUE);
    struct run run = assay_input(CALL(1, "describe_schema", "{\"db\":\"wide\"}")
                                     CALL(2, "describe_schema", "{\"db\":\"wide\",\"table\":\"wide_7\"}"),
                                 "mcp", "--db=wide.sqlite");
    expect_text(&run, 1, false, "This list is incomplete");
    json_t *names = structured(&run, 1), *one = structured(&run, 2);
    cr_expect_eq(json_array_size(json_object_get(names, "tables")), 30);
    cr_expect(json_is_false(json_object_get(names, "complete")) && json_is_true(json_object_get(one, "complete")));
    const json_t *table = json_array_get(json_object_get(one, "tables"), 0);
    cr_expect_eq(json_array_size(json_object_get(table, "columns")), 10);
    json_decref(names);
    json_decref(one);
    run_free(&run);
}

Test(mcp_program, invalid_start_options_are_refused)
{
    struct run none = assay("mcp"), missing = assay("mcp", "--db=nowhere.sqlite"),
               root = assay("mcp", "--db-root=none");
    cr_expect_eq(none.status, 2);
    cr_expect(strstr(none.err, "--db-root"), "%s", none.err);
    cr_expect_eq(missing.status, 2, "%s", missing.err);
    cr_expect(strstr(missing.err, "nowhere.sqlite"), "%s", missing.err);
    cr_expect_eq(root.status, 2);
    cr_expect_str_eq(none.out, "");
    run_free(&none);
    run_free(&missing);
    run_free(&root);
}
