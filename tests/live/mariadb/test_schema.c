/* Tests the schema index of a real MariaDB database, and that it shows no denied values. */
#include "lib/schema/deny_match.h"
#include "lib/schema/schema.h"

#include "tests/live/mariadb/server.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>
#include <sys/wait.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE teacher(teacher_id int AUTO_INCREMENT PRIMARY KEY, full_name varchar(40) NOT NULL,"                  \
    " email varchar(60) UNIQUE, salary decimal(8,2) COMMENT 'a month, before tax', hired date, active boolean,"        \
    " photo blob, kind enum('a', 'b'), code varchar(9) COLLATE utf8mb4_nopad_bin) COMMENT 'who teaches';"              \
    "INSERT INTO teacher(full_name, email, salary, hired, active, code) VALUES ('José Álvarez', 'jose@x.org',"       \
    " 1000.5, '2001-02-03', true, 'x'), ('Ann Lee', NULL, 0, '2002-03-04', false, 'X'), ('bob stone', 'b@x.org', "     \
    "NULL, NULL,"                                                                                                      \
    " NULL, 'y'), ('ann lee', NULL, NULL, NULL, NULL, 'z');"                                                           \
    "CREATE TABLE room(building varchar(9), number int, PRIMARY KEY (building, number));"                              \
    "INSERT INTO room VALUES ('North', 1), ('North', 2);"                                                              \
    "CREATE TABLE Course(id int PRIMARY KEY, title varchar(30), teacher int, building varchar(9), number int,"         \
    " twice int AS (id * 2) STORED, UNIQUE KEY course_title (title), UNIQUE KEY pair (building, title),"               \
    " FOREIGN KEY (building, number) REFERENCES room(building, number), FOREIGN KEY (teacher) REFERENCES teacher("     \
    "teacher_id));"                                                                                                    \
    "INSERT INTO Course(id, title, teacher, building, number) VALUES (10, 'Art', 1, 'North', 1), (11, 'Biology', 1,"   \
    " 'North', 2);"                                                                                                    \
    "CREATE VIEW names AS SELECT full_name AS name FROM teacher; CREATE VIEW copies AS SELECT name AS other FROM "     \
    "names;"                                                                                                           \
    "CREATE VIEW endless AS SELECT count(*) AS n FROM seq_1_to_1000000 a, seq_1_to_1000000 b WHERE a.seq % 7 = b.seq " \
    "% 9;"                                                                                                             \
    "CREATE TABLE gone(a int); CREATE VIEW failing AS SELECT a FROM gone; DROP TABLE gone;"                            \
    "CREATE TABLE `odd \"name\" o'``table\\`(`select` varchar(9)); INSERT INTO `odd \"name\" o'``table\\` VALUES "     \
    "('x');"                                                                                                           \
    "CREATE TABLE visit(visit_no int, head_teacher_id int); CREATE SEQUENCE s;"                                        \
    "INSERT INTO visit SELECT seq, 1 + seq % 3 FROM seq_1_to_30;"

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
    server_open(&server, READER, NULL);
}

static void end(void)
{
    schema_unref(school);
    server_end(&server);
}
TestSuite(schema, .init = begin, .fini = end, .timeout = 120);

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

Test(schema, tables_columns_and_keys_are_indexed)
{
    build(NULL);
    cr_expect_eq(schema_find_table(school, "s", 1), -1, "a sequence");
    cr_expect_str_eq(table("teacher")->description, "who teaches");
    cr_expect_str_eq(column("teacher", "salary")->description, "a month, before tax");
    cr_expect_str_eq(column("teacher", "full_name")->type, "varchar(40)");
    cr_expect_eq(column("teacher", "full_name")->affinity, SCHEMA_TEXT);
    cr_expect_eq(column("teacher", "salary")->affinity, SCHEMA_NUMERIC);
    cr_expect_eq(column("teacher", "hired")->affinity, SCHEMA_TEXT);
    cr_expect_eq(column("teacher", "photo")->affinity, SCHEMA_BLOB);
    cr_expect_eq(column("teacher", "kind")->affinity, SCHEMA_TEXT);
    cr_expect(column("teacher", "full_name")->not_null);
    cr_expect(column("teacher", "teacher_id")->unique && column("teacher", "teacher_id")->pk == 1);
    cr_expect(column("teacher", "email")->unique && !column("teacher", "email")->unique_measured);
    cr_expect(column("Course", "title")->unique && !column("Course", "title")->unique_measured);
    cr_expect_not(column("Course", "building")->unique);
    cr_expect_eq(table("room")->n_pk, 2);
    cr_expect_eq(column("room", "number")->pk, 2);
    cr_expect_eq(column("Course", "twice")->stats.max.i, 22);
    cr_expect(table("names")->is_view && table("names")->rows == 4);
    cr_expect_not(table("failing")->scannable);
    cr_expect_not(table("endless")->scannable);
    cr_expect_eq(table("odd \"name\" o'`table\\")->rows, 1);
    cr_expect_geq(school->n_notes, 1);
}

/* In most columns, texts that differ only in case are equal. So they are not unique keys, and a lookup of one finds the
 * other. */
Test(schema, equality_follows_server_collation)
{
    build(NULL);
    const struct schema_column *name = column("teacher", "full_name"), *code = column("teacher", "code");
    cr_expect(name->folds && !code->folds);
    cr_expect_not(name->unique, "'Ann Lee' and 'ann lee' would both be found");
    cr_expect(code->unique && code->unique_measured);
    cr_expect_eq(schema_column_has(school, name, "BOB STONE", 9, true), 1);
    cr_expect_eq(schema_column_has(school, code, "Y", 1, true), 0);
    struct db_result result;
    static const char sql[] = "SELECT count(*) FROM teacher WHERE full_name = 'ANN LEE ' AND code <> 'X'";
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), NULL, 0, 0, &result, NULL), ERR_OK);
    cr_expect_eq(result.values[0].i, 1, "so does the server");
}

Test(schema, joins_are_found)
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

Test(schema, values_and_statistics_are_indexed)
{
    build(NULL);
    struct schema_hit hits[8];
    cr_expect_eq(schema_values_with(school, "jose alvarez", 12, hits, 8), 1);
    cr_expect_eq(hits[0].column, column("teacher", "full_name")->id);
    cr_expect_eq(schema_column_has(school, column("teacher", "hired"), "2001-02-03", 10, true), 1);
    cr_expect_eq(schema_column_has(school, column("teacher", "salary"), "1000.5", 6, true), 1);
    cr_expect_eq(schema_column_has(school, column("teacher", "salary"), "7", 1, true), 0);
    const struct schema_stats *salary = &column("teacher", "salary")->stats;
    cr_expect(salary->rows == 4 && salary->nulls == 2 && salary->distinct == 2 && salary->zeros == 1);
    cr_expect_eq(column("teacher", "hired")->stats.date_texts, 2);
    cr_expect_eq(column("teacher", "active")->stats.ints, 2);
}

Test(schema, large_table_is_sampled)
{
    server_exec(&server,
                "CREATE TABLE large AS SELECT seq AS n, CONCAT('v', seq % 7) AS few, CASE WHEN seq % 4 = 0 THEN"
                " seq END AS some FROM seq_1_to_50000; ANALYZE TABLE large");
    build(&(struct schema_options){.max_rows = 5000});
    uint64_t rows = table("large")->rows;
    cr_expect(rows > 40000 && rows < 60000, "%llu, an estimate", (unsigned long long)rows);
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

static bool cache_knows_more(void *cache)
{
    struct err err = {0};
    struct schema_index *now;
    cr_assert_eq(schema_cache_get(cache, server.db, "school", server.url[READER], &now, &err), ERR_OK, "%s", err.text);
    bool more = schema_find_column(now, schema_find_table(now, "visit", 5), "more", 4) >= 0;
    schema_unref(now);
    return more;
}

Test(schema, changed_data_rebuild_cached_index)
{
    struct schema_cache *cache = schema_cache_new(NULL, 0);
    cr_expect_not(cache_knows_more(cache));
    server_exec(&server, "ALTER TABLE visit ADD COLUMN more int");
    cr_expect(wait_until(cache_knows_more, cache, 5000));
    schema_cache_free(cache);
}

/* --- denied columns ----------------------------------------------------------------------------------------------- */

Test(schema, columns_showing_denied_column_are_denied)
{
    const char *const denied[] = {"teacher.full_name", "id"};
    build(&(struct schema_options){.deny_columns = denied, .n_deny_columns = 2});
    cr_expect(schema_column_is_denied(school, column("teacher", "full_name"), denied, 2));
    cr_expect(schema_column_is_denied(school, column("Course", "twice"), denied, 2), "computed from it");
    cr_expect(schema_column_is_denied(school, column("names", "name"), denied, 2), "a view of it");
    cr_expect(schema_column_is_denied(school, column("copies", "other"), denied, 2), "a view of that view");
    cr_expect_not(schema_column_is_denied(school, column("teacher", "salary"), denied, 2));
    struct schema_hit hits[8];
    cr_expect_eq(schema_values_with(school, "bob stone", 9, hits, 8), 0, "its values are not in the index");
}

Test(schema, entries_without_column_do_not_match)
{
    const char *const entries[] = {"teacher.full_name", "Teacher.Salary", "teacher.nobody", "names.*",
                                   "elsewhere.teacher.full_name"};
    static const bool expected[] = {true, true, false, true, false};
    bool matched[G_N_ELEMENTS(entries)] = {0};
    struct err err = {0};
    cr_assert_eq(deny_match(server.db, entries, G_N_ELEMENTS(entries), matched, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < G_N_ELEMENTS(entries); i++) cr_expect_eq(matched[i], expected[i], "%s", entries[i]);
}

/* Runs the program with a denied column and returns its output. */
static char *checked(const char *sql)
{
    const char *argv[] = {ASSAY_BINARY,    "check",     "--db",       server.url[READER],
                          "--deny-column", "full_name", "--question", "Who teaches?",
                          "--format",      "json",      sql,          NULL};
    char *out, *err;
    int status;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, &err, &status, NULL));
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "%s", err);
    g_free(err);
    return out;
}

Test(schema, no_denied_value_is_shown)
{
    static const char *const statements[] = {
        "SELECT full_name FROM teacher",
        "SELECT * FROM teacher",
        "SELECT `FULL_NAME` FROM teacher",
        "SELECT name FROM names",
        "SELECT other FROM copies",
        "SELECT max(full_name) FROM teacher",
        "SELECT teacher_id FROM teacher WHERE full_name = 'bob ston'",
        "SELECT cast((SELECT full_name FROM teacher WHERE teacher_id = 3) AS date)",
        "SELECT t.* FROM teacher t NATURAL JOIN names",
        "SELECT x FROM (SELECT full_name AS x FROM teacher) AS d",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        char *out = checked(statements[i]);
        cr_expect(!strstr(out, "bob stone") && !strstr(out, "lvarez") && !strstr(out, "Ann Lee"), "%s: %s",
                  statements[i], out);
        g_free(out);
    }
    char *out = checked("SELECT salary, 'seen' FROM teacher WHERE salary > 1");
    cr_expect_not_null(strstr(out, "1000.5"), "what is not denied does: %s", out);
    g_free(out);
}

/* --- assay doctor ------------------------------------------------------------------------------------------------- */

static unsigned too_wide(enum account account)
{
    const char *argv[] = {ASSAY_BINARY, "doctor", "--db", server.url[account], "--format", "json", NULL};
    char *out, *err;
    unsigned n = 0;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, &err, NULL, NULL));
    cr_expect(!strstr(out, "sesame") && !strstr(err, "sesame"), "a password is shown");
    json_t *findings = json_loads(out, 0, NULL);
    cr_assert_not_null(findings, "%s%s", out, err);
    for (size_t i = 0; i < json_array_size(findings); i++)
        n += strcmp(json_string_value(json_object_get(json_array_get(findings, i), "weight")), "too wide") == 0;
    json_decref(findings);
    g_free(out);
    g_free(err);
    return n;
}

Test(schema, doctor_distinguishes_reader_account)
{
    cr_expect_eq(too_wide(READER), 0);
    cr_expect_geq(too_wide(WRITER), 10, "FILE, INSERT, DROP ...");
    cr_expect_geq(too_wide(ALMIGHTY), 20);
}
