/* Tests the schema index of a real PostgreSQL database. */
#include "lib/schema/schema.h"

#include "tests/live/postgres/server.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE teacher(teacher_id serial PRIMARY KEY, full_name varchar(40) NOT NULL, email text UNIQUE,"           \
    " salary numeric(8,2), hired date, active boolean, photo bytea, tags text[]);"                                     \
    "INSERT INTO teacher(full_name, email, salary, hired, active) VALUES ('José Álvarez', 'jose@x.org', 1000.5,"     \
    " '2001-02-03', true), ('Ann Lee', NULL, 0, '2002-03-04', false), ('bob stone', 'b@x.org', NULL, NULL, NULL);"     \
    "COMMENT ON TABLE teacher IS 'who teaches'; COMMENT ON COLUMN teacher.salary IS 'a month, before tax';"            \
    "CREATE TABLE room(building text, number int, PRIMARY KEY (building, number));"                                    \
    "INSERT INTO room VALUES ('North', 1), ('North', 2);"                                                              \
    "CREATE TABLE \"Course\"(id int PRIMARY KEY, title text, teacher int REFERENCES teacher, building text, number "   \
    "int,"                                                                                                             \
    " twice int GENERATED ALWAYS AS (id * 2) STORED, FOREIGN KEY (building, number) REFERENCES room);"                 \
    "INSERT INTO \"Course\" VALUES (10, 'Art', 1, 'North', 1), (11, 'Biology', 1, 'North', 2);"                        \
    "CREATE UNIQUE INDEX course_title ON \"Course\"(title); CREATE UNIQUE INDEX ON \"Course\"(building) WHERE id > "   \
    "10;"                                                                                                              \
    "CREATE UNIQUE INDEX ON \"Course\"(lower(title));"                                                                 \
    "CREATE TABLE log(at date, note text) PARTITION BY RANGE (at);"                                                    \
    "CREATE TABLE log_old PARTITION OF log FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');"                          \
    "CREATE TABLE log_new PARTITION OF log FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');"                          \
    "INSERT INTO log VALUES ('2010-01-01', 'old'), ('2030-01-01', 'new');"                                             \
    "CREATE VIEW names AS SELECT full_name FROM teacher; CREATE VIEW failing AS SELECT 1 / (teacher_id - 1) AS x"      \
    " FROM teacher; CREATE VIEW endless AS SELECT count(*) AS n FROM generate_series(1, 1000000000000);"               \
    "CREATE MATERIALIZED VIEW kept AS SELECT title FROM \"Course\";"                                                   \
    "CREATE TABLE \"odd \"\"name\"\" o'table\"(\"select\" text); INSERT INTO \"odd \"\"name\"\" o'table\" VALUES "     \
    "('x');"                                                                                                           \
    "CREATE TABLE hidden(a int); CREATE SCHEMA apart; CREATE TABLE apart.teacher(x int);"                              \
    "CREATE TABLE visit(visit_no int, head_teacher_id int);"                                                           \
    "INSERT INTO visit SELECT i, 1 + i % 3 FROM generate_series(1, 30) AS i;"

static struct server server;
static struct schema_index *school;

static void build(const struct schema_options *options)
{
    struct err err = {0};
    cr_assert_eq(schema_build(server.db, "school", NULL, options, &school, &err), ERR_OK, "%s", err.text);
}

static void begin(void)
{
    server_init(&server, SCHEMA);
    char *sql = g_strdup_printf("REVOKE ALL ON hidden FROM %s", server.name);
    server_exec(&server, sql);
    g_free(sql);
    server_open(&server, READER, NULL);
}

static void end(void)
{
    schema_unref(school);
    if (server.admin) server_end(&server);
}

static const struct schema_table *table(const char *name)
{
    int number = schema_find_table(school, name, strlen(name));
    cr_assert(number >= 0, "%s", name);
    return &school->tables[number];
}

static const struct schema_column *column(const char *of, const char *name)
{
    int number = schema_find_column(school, schema_find_table(school, of, strlen(of)), name, strlen(name));
    cr_assert(number >= 0, "%s.%s", of, name);
    return &table(of)->columns[number];
}

Test(schema, tables_columns_and_keys_are_indexed, .init = begin, .fini = end)
{
    build(NULL);
    cr_expect_eq(schema_find_table(school, "hidden", 6), -1, "the role may not read it");
    cr_expect_eq(schema_find_table(school, "log_old", 7), -1, "a partition");
    cr_expect_eq(table("teacher")->n_columns, 8, "not the one of another schema");
    cr_expect_str_eq(table("teacher")->description, "who teaches");
    cr_expect_str_eq(column("teacher", "salary")->description, "a month, before tax");
    cr_expect(school->has_descriptions);
    cr_expect_str_eq(column("teacher", "full_name")->type, "character varying(40)");
    cr_expect_eq(column("teacher", "full_name")->affinity, SCHEMA_TEXT);
    cr_expect_eq(column("teacher", "salary")->affinity, SCHEMA_NUMERIC);
    cr_expect_eq(column("teacher", "hired")->affinity, SCHEMA_TEXT);
    cr_expect_eq(column("teacher", "photo")->affinity, SCHEMA_BLOB);
    cr_expect_eq(column("teacher", "tags")->affinity, SCHEMA_TEXT);
    cr_expect(column("teacher", "full_name")->not_null);
    cr_expect(column("teacher", "teacher_id")->unique && column("teacher", "teacher_id")->pk == 1);
    cr_expect(column("teacher", "email")->unique && !column("teacher", "email")->unique_measured);
    cr_expect(column("Course", "title")->unique && !column("Course", "title")->unique_measured);
    cr_expect(!column("Course", "building")->unique, "partial and expression indexes are no keys");
    cr_expect_eq(table("room")->n_pk, 2);
    cr_expect_eq(column("room", "number")->pk, 2);
    cr_expect_eq(column("Course", "twice")->stats.max.i, 22);
    cr_expect(table("names")->is_view && table("names")->rows == 3);
    cr_expect(!table("kept")->is_view && table("kept")->rows == 2);
    cr_expect_not(table("failing")->scannable);
    cr_expect_not(table("endless")->scannable);
    cr_expect_eq(table("log")->rows, 2, "with all its partitions");
    cr_expect_eq(table("odd \"name\" o'table")->rows, 1);
    cr_expect_geq(school->n_notes, 2);
}

Test(schema, joins_are_found, .init = begin, .fini = end)
{
    build(NULL);
    bool derived;
    const struct schema_join *join =
        schema_join_between(school, column("Course", "teacher")->id, column("teacher", "teacher_id")->id, &derived);
    cr_assert_not_null(join);
    cr_expect(join->declared && join->to_unique && join->from_not_null);
    join = schema_join_between(school, column("Course", "number")->id, column("room", "number")->id, &derived);
    cr_assert_not_null(join);
    cr_expect_eq(join->n_pairs, 2);
    join = schema_join_between(school, column("visit", "head_teacher_id")->id, column("teacher", "teacher_id")->id,
                               &derived);
    cr_assert_not_null(join);
    cr_expect_not(join->declared);
}

Test(schema, values_and_statistics_are_indexed, .init = begin, .fini = end)
{
    build(NULL);
    struct schema_hit hits[8];
    cr_expect_eq(schema_values_with(school, "jose alvarez", 12, hits, 8), 1);
    cr_expect_eq(hits[0].column, column("teacher", "full_name")->id);
    cr_expect_eq(schema_column_has(school, column("teacher", "hired"), "2001-02-03", 10, true), 1);
    cr_expect_eq(schema_column_has(school, column("teacher", "salary"), "1000.5", 6, true), 1);
    cr_expect_eq(schema_column_has(school, column("teacher", "salary"), "7", 1, true), 0);
    const struct schema_stats *salary = &column("teacher", "salary")->stats;
    cr_expect(salary->rows == 3 && salary->nulls == 1 && salary->distinct == 2 && salary->zeros == 1);
    cr_expect_eq(column("teacher", "hired")->stats.date_texts, 2);
    cr_expect_eq(column("teacher", "active")->stats.ints, 2);
}

Test(schema, large_table_is_sampled, .init = begin, .fini = end)
{
    server_exec(&server,
                "CREATE TABLE large AS SELECT i AS n, 'v' || i % 7 AS few, CASE WHEN i % 4 = 0 THEN i END AS some"
                " FROM generate_series(1, 50000) AS i; ANALYZE large");
    build(&(struct schema_options){.max_rows = 5000});
    cr_expect_eq(table("large")->rows, 50000);
    const struct schema_column *n = column("large", "n"), *few = column("large", "few"),
                               *some = column("large", "some");
    cr_expect(n->stats.sampled && few->stats.sampled);
    cr_expect_not(n->unique, "not known from a sample");
    cr_expect(few->stats.distinct >= 7 && few->stats.distinct < 8);
    cr_expect(some->stats.nulls > 30000 && some->stats.nulls < 45000, "%llu", (unsigned long long)some->stats.nulls);
    cr_expect_eq(schema_column_has(school, n, "999999", 6, true), -1);
    cr_expect_eq(schema_column_has(school, few, "v3", 2, true), 1);
    cr_expect_not(column("teacher", "email")->stats.sampled);
}

Test(schema, table_larger_than_server_estimate_is_sampled, .init = begin, .fini = end)
{
    server_exec(&server, "CREATE TABLE grown(n int) WITH (autovacuum_enabled = off); INSERT INTO grown VALUES (1);"
                         " ANALYZE grown; INSERT INTO grown SELECT generate_series(1, 20000)");
    build(&(struct schema_options){.max_rows = 1000});
    cr_expect(column("grown", "n")->stats.sampled);
    cr_expect_geq(table("grown")->rows, 2000);
}

static bool cache_knows_more(void *cache)
{
    struct err err = {0};
    struct schema_index *now;
    cr_assert_eq(schema_cache_get(cache, server.db, "school", server.dsn[READER], &now, &err), ERR_OK, "%s", err.text);
    bool more = schema_find_column(now, schema_find_table(now, "visit", 5), "more", 4) >= 0;
    schema_unref(now);
    return more;
}

Test(schema, changed_data_rebuild_cached_index, .init = begin, .fini = end)
{
    struct schema_cache *cache = schema_cache_new(NULL, 0);
    struct err err = {0};
    struct schema_index *first, *second;
    cr_assert_eq(schema_cache_get(cache, server.db, "school", server.dsn[READER], &first, &err), ERR_OK, "%s",
                 err.text);
    cr_assert_eq(schema_cache_get(cache, server.db, "school", server.dsn[READER], &second, &err), ERR_OK);
    cr_expect_eq(first, second);
    server_exec(&server, "ALTER TABLE visit ADD COLUMN more int");
    cr_expect(wait_until(cache_knows_more, cache, 5000));
    cr_expect_eq(schema_find_column(first, schema_find_table(first, "visit", 5), "more", 4), -1);
    schema_unref(first);
    schema_unref(second);
    schema_cache_free(cache);
}
