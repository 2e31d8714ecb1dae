/* Tests the origins of generated columns and views, and which columns therefore show values of a denied column. */
#include "lib/schema/blob.h"
#include "lib/schema/definition.h"
#include "lib/schema/schema.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static const char SQL[] =
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT DEFAULT (upper('a, b')), \"e mail\" TEXT /* as (x) */,"
    " size TEXT CHECK (cast(size AS int) > 0),"
    " lower_mail TEXT GENERATED ALWAYS AS (lower(\"e mail\")) VIRTUAL,"
    " twice AS (lower_mail || lower_mail) STORED, \"odd\"\"name\" TEXT AS (coalesce(name, ')', id)),"
    " fixed AS (1 + 1), PRIMARY_NOTE text, CHECK (id > 0));"
    "CREATE TABLE pet(id INTEGER PRIMARY KEY, owner INT REFERENCES person(id), kind TEXT, \"e mail\" TEXT);"
    "CREATE VIEW over_view AS SELECT address, n FROM plain;" /* created before the view that it reads */
    "CREATE VIEW plain(address, n, k) AS SELECT person.\"e mail\", count(*), kind || name FROM person JOIN pet ON "
    "owner = person.id;"
    "CREATE VIEW starred AS SELECT * FROM person;"
    "CREATE VIEW joined AS SELECT id, kind FROM person JOIN pet USING (id);"
    "CREATE VIEW both_arms AS SELECT name AS x FROM person UNION SELECT kind FROM pet;"
    "CREATE VIEW from_cte AS WITH c(a, b) AS (SELECT id, lower_mail FROM person) SELECT upper(b) AS u, a FROM c;"
    "CREATE VIEW of_subquery AS SELECT (SELECT max(\"e mail\") FROM person WHERE person.id = owner) AS m, kind FROM "
    "pet;"
    "CREATE VIEW by_rowid AS SELECT rowid AS r, kind FROM pet;"
    "CREATE VIEW broken AS SELECT zilch FROM nowhere;"
    "CREATE VIEW \"as\" AS /* AS */ SELECT 'as' AS AS_IS, kind FROM pet;"
    "CREATE VIRTUAL TABLE docs USING fts5(title, body);";

static struct fixture people;
static struct schema_index *schema;

static void begin(void)
{
    struct err err = {0};
    fixture_init(&people, SQL);
    fixture_open(&people, NULL);
    cr_assert_eq(schema_build(people.db, "people", people.path, NULL, &schema, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    schema_unref(schema);
    fixture_end(&people);
}
TestSuite(origins, .init = begin, .fini = end);

static const struct schema_column *column(const char *table, const char *name)
{
    int number = schema_find_table(schema, table, strlen(table));
    int at = schema_find_column(schema, number, name, strlen(name));
    cr_assert(at >= 0, "%s.%s", table, name);
    return &schema->tables[number].columns[at];
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Returns the origins of a column, sorted, such as "person.e mail person.lower_mail". "*.name" is a column of a view,
 * because only its name is known. */
static char *told(const struct schema_column *of)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (uint32_t i = 0; i < of->n_origins; i++)
        g_ptr_array_add(names, g_strdup_printf("%s.%s", of->origins[i].table ? of->origins[i].table : "*",
                                               of->origins[i].column ? of->origins[i].column : "*"));
    g_ptr_array_sort(names, by_text);
    g_ptr_array_add(names, NULL);
    char *text = g_strjoinv(" ", (char **)names->pdata);
    g_ptr_array_free(names, TRUE);
    return text;
}

Test(origins, columns_have_their_origins)
{
    static const struct {
        const char *table, *column, *origins;
    } cases[] = {
        {"person", "e mail", ""},
        {"person", "name", ""},
        {"person", "size", ""},
        {"person", "lower_mail", "person.e mail"},
        {"person", "twice", "person.e mail person.lower_mail"},
        {"person", "odd\"name", "person.id person.name"},
        {"person", "fixed", ""},
        {"plain", "address", "person.e mail"},
        {"plain", "n", ""},
        {"plain", "k", "person.name pet.kind"},
        {"over_view", "address", "*.address person.e mail"},
        {"over_view", "n", "*.n"},
        {"starred", "name", "person.name"},
        {"starred", "twice", "person.e mail person.lower_mail person.twice"},
        {"joined", "id", "person.id pet.kind"}, /* the view reads only one of the two columns */
        {"both_arms", "x", "person.name pet.kind"},
        {"from_cte", "u", "person.e mail person.lower_mail"},
        {"from_cte", "a", "person.id"},
        {"of_subquery", "m", "person.e mail person.id pet.owner"},
        {"of_subquery", "kind", "pet.kind"},
        {"by_rowid", "r", "pet.id"},
        {"as", "kind", "pet.kind"},
        {"as", "AS_IS", ""},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = told(column(cases[i].table, cases[i].column));
        cr_expect_str_eq(text, cases[i].origins, "%s.%s: '%s'", cases[i].table, cases[i].column, text);
        g_free(text);
    }
}

Test(origins, columns_showing_denied_column_are_denied)
{
    static const struct {
        const char *denied, *table, *column;
        bool is_denied;
    } cases[] = {
        {"person.e mail", "person", "lower_mail", true},
        {"e mail", "person", "twice", true},
        {"person.e mail", "person", "odd\"name", false},
        {"person.e mail", "plain", "address", true},
        {"person.e mail", "over_view", "address", true},
        {"plain.address", "over_view", "address", true},
        {"person.e mail", "pet", "e mail", false},
        {"pet.e mail", "plain", "address", false},
        {"person.lower_mail", "person", "e mail", false},
        {"person.lower_mail", "from_cte", "u", true},
        {"person.id", "by_rowid", "r", false},
        {"pet.id", "by_rowid", "r", true},
        {"articles.body", "docs", "body", true}, /* a full-text table may show the content of another table */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(schema_column_is_denied(schema, column(cases[i].table, cases[i].column), &cases[i].denied, 1),
                     cases[i].is_denied, "%s denied: %s.%s", cases[i].denied, cases[i].table, cases[i].column);
}

static bool uses(const char *sql, const char *denied, bool reaches)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt;
    struct sql_bound *bound = NULL;
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    sql_bind(&arena, stmt, &schema->catalog, &bound);
    bool answer =
        reaches ? schema_reaches_denied(schema, bound, &denied, 1) : schema_uses_denied(schema, bound, &denied, 1);
    arena_free(&arena);
    return answer;
}

Test(origins, statement_use_of_denied_column_is_found)
{
    static const struct {
        const char *sql;
        bool uses, reaches;
    } cases[] = {
        {"SELECT name FROM person", false, true},
        {"SELECT kind FROM pet", false, false},
        {"SELECT \"e mail\" FROM pet", false, false},
        {"SELECT lower_mail FROM person", true, true},
        {"SELECT count(*) FROM person", false, true},
        {"SELECT * FROM pet", true, true}, /* the star counts as a use of the column */
        {"SELECT kind FROM pet WHERE id IN person", true, true},
        {"SELECT kind FROM pet JOIN person USING (\"e mail\")", true, true},
        {"SELECT kind FROM pet NATURAL JOIN person", true, true},
        {"SELECT n FROM over_view", false, true},
        {"SELECT address FROM over_view", true, true},
        {"SELECT zilch FROM person", true, true},
        {"SELECT x FROM both_arms", false, true},
        {"SELECT value FROM json_each('[1]')", false, false},
        {"SELECT p.value FROM person, json_each(person.name) AS p", false, true},
        {"SELECT p.value FROM person, json_each(person.twice) AS p", true, true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(uses(cases[i].sql, "person.e mail", false), cases[i].uses, "%s", cases[i].sql);
        cr_expect_eq(uses(cases[i].sql, "person.e mail", true), cases[i].reaches, "%s", cases[i].sql);
    }
}

/* Tests an alias of the key, an invisible column, and a table with the name of a function. */
Test(origins, indirect_references_to_column_are_found)
{
    static const struct {
        const char *sql, *denied;
        bool uses;
    } cases[] = {
        {"SELECT rowid FROM pet", "pet.id", true},
        {"SELECT _rowid_ FROM pet", "pet.kind", false},
        {"SELECT t.rowid FROM (SELECT kind FROM pet) AS t", "pet.id", true}, /* the table of the column is unknown */
        {"SELECT rowid FROM plain", "pet.id", true},
        {"SELECT snippet(docs, 0, '', '', '', 3) FROM docs", "docs.body", true},
        {"SELECT title FROM docs WHERE docs MATCH 'x'", "docs.body", true},
        {"SELECT body FROM docs('x')", "docs.body", true},
        {"SELECT title FROM docs", "docs.body", false},
        {"SELECT kind FROM broken, pet", "person.id", false},
        {"SELECT name FROM sqlite_master", "person.id", true},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(uses(cases[i].sql, cases[i].denied, false), cases[i].uses, "%s", cases[i].sql);
    static const char *const denied = "no.matter";
    const struct schema_table *broken = &schema->tables[schema_find_table(schema, "broken", 6)];
    cr_expect(schema_table_reaches_denied(schema, broken, &denied, 1), "what it reads is not known");
}

/* A worker that reads the index from a cache must deny the same columns. */
Test(origins, cached_index_has_origins)
{
    struct schema_blob blob;
    struct schema_index *built = schema;
    cr_assert_eq(schema_blob_write(built, &blob, NULL), ERR_OK);
    cr_assert_eq(schema_blob_read(blob.bytes, blob.len, "people", NULL, &schema, NULL), ERR_OK);
    schema_blob_free(&blob);
    for (uint32_t i = 0; i < built->n_columns; i++) {
        char *here = told(schema->columns[i]), *there = told(built->columns[i]);
        cr_expect_str_eq(here, there);
        g_free(here);
        g_free(there);
    }
    cr_expect(uses("SELECT lower_mail FROM person", "person.e mail", false));
    cr_expect(uses("SELECT snippet(docs, 0, '', '', '', 3) FROM docs", "docs.body", false));
    cr_expect(uses("SELECT n FROM over_view", "person.e mail", true));
    schema_unref(built);
}

/* A database file may contain any text as a definition. */
Test(origins, expressions_are_found_in_any_text)
{
    static const struct {
        const char *definition, *expression;
    } cases[] = {
        {"CREATE TABLE t(a, b AS (a))", "(a)"},
        {"CREATE TABLE \"b AS (1)\"(a /* , b AS (2) */, 'b' INT GENERATED ALWAYS AS (a || ')' /* ( */) STORED, c)",
         "(a || ')' /* ( */)"},
        {"CREATE TABLE t(a -- b AS (1)\n, [b] as (a + (1)))", "(a + (1))"},
        {"CREATE TABLE t(bb AS (1), `b` AS(2))", "(2)"},
        {"CREATE TABLE t(b INT, a AS (b))", ""},
        {"CREATE TABLE t(a, b AS (", ""},
        {"CREATE TABLE t(a, \"b", ""},
        {"CREATE TABLE t(a, b AS", ""},
        {"CREATE TABLE t(a, /* b", ""},
        {"CREATE TABLE t(a, ", ""},
        {"CREATE TABLE t(", ""},
        {"CREATE TABLE t", ""},
        {"", ""},
        {NULL, ""},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *exact = g_strdup(cases[i].definition); /* exact copy, so that a sanitizer detects a read past the end */
        cr_expect_str_eq(definition_expression(&arena, exact, "b"), cases[i].expression, "%s", exact ? exact : "none");
        g_free(exact);
    }
    arena_free(&arena);
}
