/* `assay doctor` finds excessive rights of a role and suggests statements that revoke them. After these statements the
 * role still works. */
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

static struct server server;

static void begin(void)
{
    server_init(&server,
                "CREATE TABLE t(a int); INSERT INTO t VALUES (1); CREATE FUNCTION sly() RETURNS int LANGUAGE sql"
                " SECURITY DEFINER AS 'SELECT 1'");
}

static void end(void)
{
    if (server.admin) server_end(&server);
}

/* Returns the findings as JSON; *status is the exit status. */
static json_t *doctor(enum role role, int *status)
{
    const char *argv[] = {ASSAY_BINARY, "doctor", "--db", server.dsn[role], "--format", "json", NULL};
    char *out, *err, **env = g_get_environ();
    env = g_environ_unsetenv(env, "ASSAY_TEST_POSTGRES");
    int wait_status;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, env, 0, NULL, NULL, &out, &err, &wait_status, NULL));
    *status = WEXITSTATUS(wait_status);
    cr_expect(!strstr(out, "sesame") && !strstr(err, "sesame"), "a password is shown");
    json_t *json = json_loads(out, 0, NULL);
    cr_assert_not_null(json, "%s%s", out, err);
    g_strfreev(env);
    g_free(out);
    g_free(err);
    return json;
}

static const char *field(const json_t *finding, const char *key)
{
    const char *text = json_string_value(json_object_get(finding, key));
    return text ? text : "";
}

static unsigned count(const json_t *findings, const char *check, const char *part)
{
    unsigned n = 0;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        n += strcmp(field(finding, "check"), check) == 0 && strstr(field(finding, "what"), part);
    }
    return n;
}

Test(doctor, superuser_has_excessive_rights, .init = begin, .fini = end)
{
    int status;
    json_t *findings = doctor(SUPERUSER, &status);
    cr_expect_eq(status, 1);
    cr_expect_eq(count(findings, "superuser", "SUPERUSER"), 1);
    cr_expect_geq(count(findings, "write", " on t"), 1);
    cr_expect_eq(count(findings, "function", "files of the server"), 1);
    json_decref(findings);
}

/* Finds calls that operators, casts, domains and names hide. After the suggested statements, queries run again. */
Test(doctor, hidden_calls_are_found, .init = begin, .fini = end)
{
    int status;
    server_exec(&server,
                "CREATE FUNCTION length(int) RETURNS int LANGUAGE sql AS 'SELECT 1';"
                "CREATE FUNCTION fullname(t) RETURNS text LANGUAGE sql AS 'SELECT 1::text';"
                "CREATE FUNCTION add(text, int) RETURNS text LANGUAGE sql AS 'SELECT 1::text';"
                "CREATE OPERATOR + (FUNCTION = add, LEFTARG = text, RIGHTARG = int);"
                "CREATE FUNCTION holds(t) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
                "CREATE CAST (t AS boolean) WITH FUNCTION holds(t) AS IMPLICIT;"
                "CREATE FUNCTION fine(text) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
                "CREATE DOMAIN mail AS text CHECK (fine(VALUE)); CREATE TYPE mood AS ENUM ('good');"
                "CREATE FUNCTION as_json(mood) RETURNS json LANGUAGE sql AS 'SELECT NULL::json';"
                "CREATE CAST (mood AS json) WITH FUNCTION as_json(mood); CREATE EXTENSION citext;"
                "CREATE FUNCTION same(json, json) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
                "CREATE OPERATOR === (FUNCTION = same, LEFTARG = json, RIGHTARG = json, HASHES);"
                "CREATE FUNCTION hashed(json) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 1';"
                "CREATE OPERATOR CLASS json_ops DEFAULT FOR TYPE json USING hash AS OPERATOR 1 ===, FUNCTION 1 "
                "hashed(json)");
    json_t *findings = doctor(READER, &status);
    cr_expect_eq(status, 1);
    cr_expect_eq(count(findings, "hidden call", "the name of a built-in function calls length(integer)"), 1);
    cr_expect_eq(count(findings, "hidden call", "the operator +(text,integer) calls add(text,integer)"), 1);
    cr_expect_eq(count(findings, "hidden call", "the cast from t to boolean calls holds(t)"), 1);
    cr_expect_eq(count(findings, "hidden call", "of the domain mail calls fine(text)"), 1);
    cr_expect_eq(count(findings, "unasked call", "the cast from mood to json calls as_json(mood) in to_json"), 1);
    cr_expect_eq(count(findings, "unasked call", "the operator class of json calls "), 2);
    cr_expect_eq(count(findings, "own function", "fullname(t), which x.fullname calls too"), 1);
    cr_expect_eq(count(findings, "hidden call", "citext"), 0, "a trusted extension");
    server_open(&server, READER, NULL);
    struct db_result result;
    struct err err = {0};
    static const char sql[] = "SELECT length('x'), t.a FROM t WHERE a + 1 = 2";
    cr_expect_eq(server_query(&server, sql, &result, &err), ERR_REFUSED);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *narrow = field(json_array_get(findings, i), "narrow");
        if (*narrow) server_exec(&server, narrow);
    }
    json_decref(findings);
    findings = doctor(READER, &status);
    char *left = json_dumps(findings, JSON_INDENT(1));
    cr_expect_eq(json_array_size(findings), 0, "%s", left);
    cr_expect_eq(server_query(&server, sql, &result, &err), ERR_OK, "%s", err.text);
    free(left);
    json_decref(findings);
}

Test(doctor, table_is_printed_into_pipe, .init = begin, .fini = end)
{
    const char *argv[] = {ASSAY_BINARY, "doctor", "--db", server.dsn[SUPERUSER], NULL};
    char *out;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, NULL, NULL, NULL));
    cr_expect(strstr(out, "narrow it by") && strstr(out, " too wide, "), "%s", out);
    g_free(out);
}

Test(doctor, suggested_statements_restrict_role, .init = begin, .fini = end)
{
    int status;
    char *sql =
        g_strdup_printf("GRANT INSERT ON t TO %s; GRANT CREATE ON SCHEMA public TO PUBLIC;"
                        " GRANT pg_read_server_files TO %s; CREATE TABLE unread(a int); REVOKE ALL ON unread FROM %s",
                        server.name, server.name, server.name);
    server_exec(&server, sql);
    g_free(sql);
    json_t *findings = doctor(READER, &status);
    cr_expect_eq(status, 1);
    cr_expect_eq(count(findings, "superuser", ""), 0);
    cr_expect_eq(count(findings, "write", "INSERT on t"), 1);
    cr_expect_eq(count(findings, "create", "CREATE on the schema public"), 1);
    cr_expect_eq(count(findings, "membership", "pg_read_server_files"), 1);
    cr_expect_eq(count(findings, "function", "set_config"), 1);
    cr_expect_eq(count(findings, "definer", "sly()"), 1);
    cr_expect_eq(count(findings, "nothing to read", "unread"), 1);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *narrow = field(json_array_get(findings, i), "narrow");
        if (*narrow) server_exec(&server, narrow);
    }
    json_decref(findings);
    findings = doctor(READER, &status);
    char *left = json_dumps(findings, JSON_INDENT(1));
    cr_expect_eq(status, 0, "%s", left);
    cr_expect_eq(json_array_size(findings), 0, "%s", left);
    free(left);
    json_decref(findings);
    server_open(&server, READER, NULL);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 1, "Assay itself needs none of what was taken");
    char print[33];
    struct err err = {0};
    cr_expect_eq(db_fingerprint(server.db, print, &err), ERR_OK, "%s", err.text);
}

static char *replaced(char *text, const char *what, const char *by)
{
    char **parts = g_strsplit(text, what, 0), *whole = g_strjoinv(by, parts);
    g_strfreev(parts);
    g_free(text);
    return whole;
}

/* The role of docs/databases.md, exactly as documented there. */
Test(doctor, documented_role_is_accepted, .init = begin, .fini = end)
{
    char *text, role[80];
    g_snprintf(role, sizeof role, "%s_role", server.name);
    cr_assert(g_file_get_contents(DOCS "/databases.md", &text, NULL, NULL));
    char *start = strstr(text, "```sql\n"), *stop = start ? strstr(start, "\n```\n") : NULL;
    cr_assert(stop, "the script is not there");
    char *sql = g_strndup(start + 7, (size_t)(stop - start - 7));
    g_free(text);
    sql = replaced(sql, "assay", role);
    sql = replaced(sql, "DATABASE shop", "DATABASE @");
    sql = replaced(sql, "@", server.name);
    sql = replaced(sql, "FOR ROLE owner ", "");
    server_exec(&server,
                "CREATE SCHEMA sales; CREATE TABLE sales.customer(id int, name text); INSERT INTO sales.customer "
                "VALUES (1, 'Ann'); CREATE FUNCTION sales.length(int) RETURNS int LANGUAGE sql AS 'SELECT 1'");
    server_exec(&server, sql);
    g_free(sql);
    g_free(server.dsn[READER]);
    server.dsn[READER] = g_strdup_printf("%s user=%s password=...", server.dsn[SUPERUSER], role);
    int status;
    json_t *findings = doctor(READER, &status);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *check = field(json_array_get(findings, i), "check");
        cr_expect_str_eq(check, "function", "%s: %s", check, field(json_array_get(findings, i), "what"));
    }
    json_decref(findings);
    server_open(&server, READER, NULL);
    cr_expect_eq(server_int(&server, "SELECT length(c.name) FROM customer c"), 3);
    db_close(server.db);
    server.db = NULL;
    char *drop = g_strdup_printf("DROP OWNED BY %s; DROP ROLE %s", role, role);
    server_exec(&server, drop);
    g_free(drop);
}
