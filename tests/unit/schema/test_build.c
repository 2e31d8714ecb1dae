/* Tests the schema index: tables, statistics, joins, limits on memory and time, descriptions, and the printed and
 * outlined forms. */
#include "tests/unit/schema/school.h"

#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

Test(build, tables_and_columns_are_indexed)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_index *x = s.index;
    cr_assert_str_eq(x->db_name, "school");
    cr_assert_eq(strlen(x->fingerprint), 32);
    cr_assert_eq(x->n_tables, 10, "six tables, three views, one full-text table without its shadows: %u", x->n_tables);
    cr_assert_eq(schema_find_table(x, "pages_content", 13), -1);
    for (uint32_t i = 0; i < x->n_columns; i++) cr_assert_eq(x->columns[i]->id, i);
    const struct schema_column *id = school_column(&s, "TEACHER.Teacher_ID");
    cr_assert(id->pk == 1 && id->unique && !id->unique_measured && id->not_null && id->affinity == SCHEMA_INTEGER);
    cr_assert_str_eq(id->type, "INTEGER");
    cr_assert(school_column(&s, "teacher.email")->unique && !school_column(&s, "teacher.email")->not_null);
    cr_assert(school_column(&s, "course.code")->unique && !school_column(&s, "course.code")->unique_measured);
    cr_assert_not(school_column(&s, "course.title")->unique_measured == false &&
                      school_column(&s, "course.title")->unique,
                  "a partial index makes nothing unique");
    cr_assert_not(school_column(&s, "room.building")->unique, "half a key");
    cr_assert_eq(school_column(&s, "room.number")->pk, 2);
    cr_assert_eq(x->tables[school_table(&s, "room")].n_pk, 2);
    cr_assert_eq(school_column(&s, "teacher.note")->affinity, SCHEMA_BLOB);
    cr_assert_eq(school_column(&s, "teacher.hired")->affinity, SCHEMA_NUMERIC);
    cr_assert_eq(school_column(&s, "teacher.email")->affinity, SCHEMA_TEXT);
    cr_assert_eq(school_column(&s, "course.twice")->stats.max.i, 26, "generated columns are read");
    cr_assert_eq(school_column(&s, "odd \"name\" table.select")->stats.rows, 1);
    school_end(&s);
}

Test(build, working_and_broken_views_are_indexed)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_table *busy = &s.index->tables[school_table(&s, "busy")];
    cr_assert(busy->is_view && busy->scannable && busy->rows == 2);
    const struct schema_table *broken = &s.index->tables[school_table(&s, "broken")];
    cr_assert(broken->is_view && !broken->scannable && broken->n_columns == 0);
    const struct schema_table *endless = &s.index->tables[school_table(&s, "endless")];
    cr_assert(endless->is_view && !endless->scannable && endless->n_columns == 1);
    cr_assert_eq(schema_column_has(s.index, &busy->columns[0], "Ann Lee", 7, true), -1,
                 "values of views are not indexed");
    school_end(&s);
}

Test(build, statistics_are_computed)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_stats *salary = &school_column(&s, "teacher.salary")->stats;
    cr_assert(salary->rows == 4 && salary->nulls == 1 && salary->distinct == 3 && salary->reals == 3 &&
              salary->zeros == 1);
    cr_assert(salary->min.f == 0 && salary->max.f == 1000.5 && salary->sum == 1003.5 && !salary->sampled);
    const struct schema_stats *note = &school_column(&s, "teacher.note")->stats;
    cr_assert(note->ints == 1 && note->texts == 1 && note->blobs == 1 && note->nulls == 1 && note->distinct == 3);
    cr_assert_eq(note->max.type, DB_BLOB);
    cr_assert_eq(school_column(&s, "teacher.hired")->stats.date_texts, 2);
    cr_assert_eq(school_column(&s, "course.code")->stats.numeric_texts, 3);
    const struct schema_stats *building = &school_column(&s, "room.building")->stats;
    cr_assert_eq(building->n_top, 2);
    cr_assert_str_eq(building->top[0].value.text, "North");
    cr_assert(building->top[0].count == 2 && building->top[1].count == 1);
    cr_assert(school_column(&s, "visit.visit_no")->unique_measured);
    cr_assert_eq(school_column(&s, "islet.thing")->stats.rows, 0);
    cr_assert_not(school_column(&s, "islet.thing")->unique, "of no rows nothing is measured");
    school_end(&s);
}

Test(build, equal_numbers_are_one_value)
{
    struct school s;
    school_open(&s,
                "CREATE TABLE t(a); INSERT INTO t VALUES(3),(3.0),('3'),(3.5),(-0.0),(0),(1e300),(9007199254740993);",
                NULL);
    const struct schema_stats *a = &school_column(&s, "t.a")->stats;
    cr_assert_eq(a->distinct, 6);
    cr_assert_eq(a->top[0].count, 2);
    cr_assert_eq(a->zeros, 2);
    school_end(&s);
}

Test(build, declared_joins_are_found)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_join *join = school_join(&s, "course.Teacher", "teacher.teacher_id");
    cr_assert(join && join->declared && join->to_unique && !join->from_not_null && join->inclusion == 1);
    join = school_join(&s, "room.number", "course.room_number");
    cr_assert(join && join->declared && join->n_pairs == 2 && join->to_unique, "either direction");
    cr_assert_eq(join->from_table, school_table(&s, "course"));
    cr_assert(schema_is_foreign_key(s.index, school_column(&s, "course.Teacher")->id));
    cr_assert_not(schema_is_foreign_key(s.index, school_column(&s, "teacher.teacher_id")->id));
    cr_assert_null(school_join(&s, "course.id", "teacher.teacher_id"));
    unsigned lost = 0;
    for (uint32_t i = 0; i < s.index->n_notes; i++) lost += strstr(s.index->notes[i], "foreign key") != NULL;
    cr_assert_eq(lost, 2, "two keys lead nowhere");
    school_end(&s);
}

Test(build, inferred_joins_are_found)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_join *join = school_join(&s, "visit.head_teacher_id", "teacher.teacher_id");
    cr_assert(join && !join->declared && join->to_unique && join->from_not_null && join->inclusion == 1);
    cr_assert_not_null(school_join(&s, "visit.course", "course.id"), "named for the table");
    cr_assert_null(school_join(&s, "visit.amount", "teacher.teacher_id"), "values alone do not do");
    cr_assert_null(school_join(&s, "visit.room", "room.number"), "names alone do not do");
    school_end(&s);
    school_open(&s, NULL, &(struct schema_options){.no_inferred_joins = true});
    cr_assert_null(school_join(&s, "visit.head_teacher_id", "teacher.teacher_id"));
    cr_assert_not_null(school_join(&s, "course.Teacher", "teacher.teacher_id"));
    school_end(&s);
}

/* Matches the words of a key, of its table, or of both. A text that is a number matches that number. */
Test(build, names_are_matched_to_keys)
{
    struct school s;
    school_open(
        &s,
        "CREATE TABLE team(id INTEGER PRIMARY KEY); INSERT INTO team VALUES (1), (2), (3);"
        "CREATE TABLE line_group(group_no INTEGER PRIMARY KEY); INSERT INTO line_group VALUES (1), (2), (3);"
        "CREATE TABLE game(team TEXT, home_team_id TEXT, away_line_group_no INTEGER, group_no TEXT, teams INTEGER,"
        " id INTEGER, other_id INTEGER, team_id_of INTEGER);"
        "INSERT INTO game VALUES ('1', '02.0', 3, '01', 1, 1, 1, 1), ('2', '1', 2, '3', 1, 1, 1, 1);",
        NULL);
    cr_assert_not_null(school_join(&s, "game.team", "team.id"), "the table");
    cr_assert_not_null(school_join(&s, "game.home_team_id", "team.id"), "words before the table and the key");
    cr_assert_not_null(school_join(&s, "game.away_line_group_no", "line_group.group_no"), "words before both");
    cr_assert_not_null(school_join(&s, "game.group_no", "line_group.group_no"), "the same words");
    cr_assert_eq(s.index->n_joins, 4, "not the plural, nor a name that every table has, nor words behind");
    school_end(&s);
}

Test(build, columns_naming_same_key_are_joined)
{
    struct school s;
    school_open(&s, NULL, NULL);
    bool derived;
    uint32_t a = school_column(&s, "visit.head_teacher_id")->id, b = school_column(&s, "course.Teacher")->id;
    cr_assert_not_null(schema_join_between(s.index, a, b, &derived));
    cr_assert(derived);
    cr_assert_null(schema_join_between(s.index, a, school_column(&s, "visit.amount")->id, &derived));
    cr_assert_null(schema_join_between(s.index, a, a, &derived));
    school_end(&s);
}

Test(build, column_past_cap_is_sampled)
{
    const char *sql =
        "CREATE TABLE t(few INTEGER, many TEXT); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 "
        "FROM c LIMIT 30000) SELECT x % 10, 'value ' || x FROM c;";
    struct school s;
    school_open(&s, sql, &(struct schema_options){.max_values = 1000});
    const struct schema_column *many = school_column(&s, "t.many"), *few = school_column(&s, "t.few");
    cr_assert(many->stats.sampled && !few->stats.sampled && few->stats.distinct == 10 && few->stats.rows == 30000);
    cr_assert(many->stats.distinct > 28500 && many->stats.distinct < 31500, "estimated: %lu", many->stats.distinct);
    cr_assert_not(many->unique_measured, "an estimate proves nothing");
    cr_assert_eq(schema_column_has(s.index, many, "value 5", 7, true), 1, "one of those that were kept");
    cr_assert_eq(schema_column_has(s.index, many, "value 29999", 11, true), -1);
    cr_assert_eq(schema_column_has(s.index, few, "11", 2, true), 0);
    school_end(&s);
}

Test(build, memory_stays_under_the_cap)
{
    const char *sql =
        "CREATE TABLE t(a TEXT, b TEXT); INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c "
        "LIMIT 60000) SELECT 'a longer text for number ' || x, 'another text for number ' || x FROM c;";
    struct school s;
    school_open(&s, sql, &(struct schema_options){.max_bytes = 2 << 20});
    cr_assert_leq(s.index->bytes, 2 << 20);
    cr_assert(school_column(&s, "t.a")->stats.sampled || school_column(&s, "t.b")->stats.sampled);
    school_end(&s);
}

Test(build, catalogue_too_large_for_cap_is_error)
{
    struct fixture f;
    GString *sql = g_string_new("");
    for (int i = 0; i < 400; i++) g_string_append_printf(sql, "CREATE TABLE t%d(a, b, c, d, e, f, g, h);", i);
    fixture_init(&f, sql->str);
    fixture_open(&f, NULL);
    struct schema_index *index;
    struct err err;
    struct schema_options options = {.max_bytes = 1 << 20};
    cr_assert_eq(schema_build(f.db, "x", f.path, &options, &index, &err), ERR_LIMIT_MEMORY);
    cr_assert_null(index);
    g_string_free(sql, TRUE);
    fixture_end(&f);
}

Test(build, the_handle_keeps_its_limits_and_deadline)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1);");
    fixture_open(&f, &(struct db_limits){.time_ms = 123, .value_bytes = 456});
    db_set_deadline(f.db, 1); /* a deadline in the past does not stop the build */
    struct schema_index *index;
    cr_assert_eq(schema_build(f.db, "x", f.path, NULL, &index, NULL), ERR_OK);
    struct db_limits limits = db_get_limits(f.db);
    cr_assert(limits.time_ms == 123 && limits.value_bytes == 456 && db_get_deadline(f.db) == 1);
    schema_unref(index);
    fixture_end(&f);
}

/* --- time budget
 * --------------------------------------------------------------------------------------------------- */

static const struct schema_table *table_of(const struct schema_index *index, const char *name)
{
    int at = schema_find_table(index, name, strlen(name));
    cr_assert_geq(at, 0, "%s", name);
    return &index->tables[at];
}

static unsigned count_notes(const struct schema_index *index, const char *text)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < index->n_notes; i++) n += strstr(index->notes[i], text) != NULL;
    return n;
}

static struct schema_index *build_within(struct fixture *f, int64_t time_ms)
{
    struct schema_index *index;
    struct err err = {0};
    fixture_open(f, NULL);
    cr_assert_eq(schema_build(f->db, "x", f->path, &(struct schema_options){.time_ms = time_ms}, &index, &err), ERR_OK,
                 "%s", err.text);
    return index;
}

Test(build, slow_views_share_one_budget)
{
    enum { VIEWS = 30, BUDGET_MS = 1800 };
    struct fixture f;
    GString *sql =
        g_string_new("CREATE TABLE t(a); INSERT INTO t VALUES(1), (2); CREATE VIEW z_fast AS SELECT a FROM t;");
    for (int i = 0; i < VIEWS; i++)
        g_string_append_printf(sql,
                               "CREATE VIEW slow_%02d AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
                               "c) SELECT i AS n FROM c WHERE i < 0;",
                               i);
    fixture_init(&f, sql->str);
    int64_t start = clock_now_ns();
    struct schema_index *index = build_within(&f, BUDGET_MS);
    cr_expect_lt(clock_now_ns() - start, 1000000LL * BUDGET_MS, "%.0f ms", (double)(clock_now_ns() - start) / 1e6);
    cr_expect(table_of(index, "t")->scannable && table_of(index, "z_fast")->scannable);
    cr_expect_eq(table_of(index, "z_fast")->rows, 2);
    cr_expect_eq(index->n_notes, VIEWS, "%u notes", index->n_notes);
    for (int i = 0; i < VIEWS; i++) {
        char name[16];
        snprintf(name, sizeof name, "slow_%02d", i);
        const struct schema_table *slow = table_of(index, name);
        cr_expect(!slow->scannable && slow->columns[0].stats.sampled, "%s", name);
        cr_expect_eq(count_notes(index, name), 1);
    }
    schema_unref(index);
    g_string_free(sql, TRUE);
    fixture_end(&f);
}

Test(build, slow_table_is_sampled_others_read_whole)
{
    struct fixture f;
    /* Computing a value of `v` takes at least a tenth of a millisecond. The column is added last, because INSERT would
     * compute its values. */
    fixture_init(&f,
                 "CREATE TABLE a(i); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 40000) "
                 "INSERT INTO a SELECT i FROM c; ALTER TABLE a ADD COLUMN v AS (length(hex(zeroblob(100000 + i))));"
                 "CREATE TABLE b(i); INSERT INTO b VALUES(1), (2), (3);");
    struct schema_index *index = build_within(&f, 1200);
    const struct schema_table *a = table_of(index, "a"), *b = table_of(index, "b");
    cr_expect(a->scannable && a->rows > 0 && a->rows < 40000, "%llu rows", (unsigned long long)a->rows);
    cr_expect(a->columns[0].stats.sampled && !a->columns[0].unique);
    cr_expect(b->scannable && b->rows == 3 && !b->columns[0].stats.sampled);
    cr_expect_eq(count_notes(index, "table a was read in part"), 1);
    cr_expect_eq(index->n_notes, 1);
    schema_unref(index);
    fixture_end(&f);
}

Test(build, left_out_table_is_unknown_not_empty)
{
    struct fixture f;
    struct sql_bound bound = {0};
    fixture_init(&f, "CREATE TABLE a(i); INSERT INTO a VALUES(7);");
    struct schema_index *index = build_within(&f, 1);
    const struct schema_table *a = table_of(index, "a");
    cr_expect(!a->scannable && a->columns[0].stats.sampled && !a->columns[0].unique);
    cr_expect_eq(schema_column_has(index, &a->columns[0], "9", 1, false), -1);
    cr_expect_eq(count_notes(index, "table a was left out: the time for reading rows was over"), 1);
    cr_expect_not(schema_reads_unread(index, &bound));
    schema_unref(index);
    fixture_end(&f);
}

Test(build, descriptions_are_read_from_sidecar_files)
{
    struct school s;
    school_open(&s, NULL, &(struct schema_options){.descriptions_dir = TEST_DATA "/schema/descriptions"});
    cr_assert(s.index->has_descriptions);
    const struct schema_column *id = school_column(&s, "teacher.teacher_id");
    cr_assert_str_eq(id->description, "the number, unique, of a \"teacher\"");
    cr_assert_str_eq(id->full_name, "id of the teacher");
    cr_assert_null(id->value_description);
    cr_assert_str_eq(school_column(&s, "teacher.full_name")->value_description, "line one\r\nline two");
    const struct schema_column *salary = school_column(&s, "teacher.salary");
    cr_assert_str_eq(salary->value_description, "0: unpaid");
    bool pay = false;
    for (uint32_t i = 0; i < salary->words.n; i++) pay |= strcmp(salary->words.items[i].norm, "pay") == 0;
    cr_assert(pay, "the plain name gives words, too");
    cr_assert_str_eq(school_column(&s, "course.title")->description, "café “or” course", "Windows-1252");
    bool noted = false;
    for (uint32_t i = 0; i < s.index->n_notes; i++) noted |= strstr(s.index->notes[i], "room.csv") != NULL;
    cr_assert(noted);
    school_end(&s);
}

Test(build, custom_terms_are_matched)
{
    struct school s;
    school_open(&s, NULL, &(struct schema_options){.descriptions_dir = TEST_DATA "/schema/descriptions"});
    cr_assert_eq(s.index->n_terms, 3);
    const struct schema_term *terms = s.index->terms;
    cr_expect_str_eq(terms[0].term, "well paid");
    cr_expect_str_eq(terms[0].meaning, "salary > 1500");
    cr_expect_eq(terms[0].column, UINT32_MAX);
    cr_expect_eq(terms[0].words.n, 2);
    cr_expect_str_eq(terms[1].meaning, "teacher.full_name = 'O''Hara'");
    cr_expect_eq(terms[1].column, school_column(&s, "teacher.full_name")->id);
    cr_expect_str_eq(terms[2].meaning, "teacher.salary");
    cr_expect(school_is_noted(s.index, "words.yaml:6: there is no such column"));
    cr_expect(school_is_noted(s.index, "words.yaml:7: a term takes a column or a formula"));
    cr_expect(school_is_noted(s.index, "words.yaml:8: no such key"));
    cr_expect(school_is_noted(s.index, "words.yaml:9: expected {column"));
    cr_expect(school_is_noted(s.index, "words.yaml:10: expected a term"));
    school_end(&s);
}

Test(build, malformed_terms_are_refused)
{
    static const char *const FILES[][2] = {
        {"", "has neither 'words' nor 'keys'"},
        {"words: [a]", "words.yaml:1: expected a mapping of terms"},
        {"keys: {a: b}", "words.yaml:1: expected a list of keys"},
        {"words: {", "words.yaml:"},
        {"other: {a: b}", "has neither 'words' nor 'keys'"},
        {"words: {a: b}", "expected {column"},
        {"- x", "has neither 'words' nor 'keys'"},
    };
    char *dir = g_dir_make_tmp("words-XXXXXX", NULL), *path = g_build_filename(dir, "words.yaml", NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(FILES); i++) {
        struct school s;
        cr_assert(g_file_set_contents(path, FILES[i][0], -1, NULL));
        school_open(&s, NULL, &(struct schema_options){.descriptions_dir = dir});
        cr_expect_eq(s.index->n_terms, 0, "%s", FILES[i][0]);
        cr_expect(school_is_noted(s.index, FILES[i][1]), "%s", FILES[i][0]);
        school_end(&s);
    }
    unlink(path);
    rmdir(dir);
    g_free(path);
    g_free(dir);
}

Test(build, index_is_printed_as_text_and_json)
{
    struct school s;
    school_open(&s, NULL, NULL);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    schema_print(s.index, out, false, true);
    fclose(out);
    cr_assert(strstr(text, "teacher_id") && strstr(text, "inferred") && strstr(text, "declared") &&
              strstr(text, "North"));
    free(text);
    out = open_memstream(&text, &len);
    schema_print(s.index, out, false, false);
    fclose(out);
    cr_assert_null(strstr(text, "North"), "values only when asked for");
    free(text);
    out = open_memstream(&text, &len);
    schema_print(s.index, out, true, true);
    fclose(out);
    cr_assert(text[0] == '{' && strstr(text, "\"schema_version\": 1") && strstr(text, "\"to_unique\": true"));
    free(text);
    school_end(&s);
}

static json_t *outline(const struct school *s, const struct schema_json_options *options)
{
    char *text = schema_json(s->index, options);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert(json, "%s", text);
    free(text);
    return json;
}

/* Returns the column `column` of the table `table`; asserts that it exists. */
static const json_t *outlined(const json_t *document, const char *table, const char *column)
{
    const json_t *one, *other;
    size_t i, j;
    json_array_foreach(json_object_get(document, "tables"), i,
                       one) if (strcmp(json_string_value(json_object_get(one, "name")), table) == 0)
        json_array_foreach(json_object_get(one, "columns"), j,
                           other) if (strcmp(json_string_value(json_object_get(other, "name")), column) ==
                                      0) return other;
    cr_assert_fail("no %s.%s", table, column);
    return NULL;
}

Test(build, outline_has_tables_columns_and_joins)
{
    static const char *const denied[] = {"teacher.salary"};
    struct school s;
    school_open(&s, NULL, NULL);
    json_t *shown = outline(&s, &(struct schema_json_options){.values = true, .max_samples = 2});
    json_t *names = outline(&s, &(struct schema_json_options){0});
    json_t *partly =
        outline(&s, &(struct schema_json_options){.values = true, .deny_columns = denied, .n_deny_columns = 1});
    cr_expect_eq(json_array_size(json_object_get(shown, "tables")), s.index->n_tables);
    cr_expect_eq(json_array_size(json_object_get(shown, "joins")), s.index->n_joins);
    const json_t *id = outlined(shown, "teacher", "teacher_id"), *salary = outlined(shown, "teacher", "salary");
    cr_expect_eq(json_integer_value(json_object_get(id, "key")), 1);
    cr_expect_eq(json_array_size(json_object_get(salary, "samples")), 2);
    cr_expect(!json_object_get(outlined(names, "teacher", "salary"), "samples"), "only with `values`");
    cr_expect(!json_object_get(outlined(partly, "teacher", "salary"), "samples"), "denied");
    cr_expect(json_is_true(json_object_get(outlined(partly, "teacher", "salary"), "denied")));
    cr_expect(json_object_get(outlined(partly, "teacher", "full_name"), "samples"), "the others are shown");
    json_decref(shown);
    json_decref(names);
    json_decref(partly);
    school_end(&s);
}

Test(build, outline_is_limited_to_table_or_names)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const struct schema_table *course = &s.index->tables[school_table(&s, "course")];
    json_t *one = outline(&s, &(struct schema_json_options){.table = course});
    json_t *names = outline(&s, &(struct schema_json_options){.names = true});
    size_t i;
    const json_t *item, *left_out = json_object_get(names, "left_out");
    cr_expect_eq(json_array_size(json_object_get(one, "tables")), 1);
    cr_expect(outlined(one, "course", "title"));
    cr_expect_gt(json_array_size(json_object_get(one, "joins")), 0);
    json_array_foreach(json_object_get(one, "joins"), i, item)
    {
        const char *from = json_string_value(json_object_get(json_object_get(item, "from"), "table"));
        const char *to = json_string_value(json_object_get(json_object_get(item, "to"), "table"));
        cr_expect(strcmp(from, "course") == 0 || strcmp(to, "course") == 0, "%s, %s", from, to);
    }
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(one, "left_out"), "tables")), 0);
    cr_expect_eq(json_array_size(json_object_get(names, "tables")), s.index->n_tables);
    json_array_foreach(json_object_get(names, "tables"), i, item)
        cr_expect_eq(json_array_size(json_object_get(item, "columns")), 0);
    cr_expect_eq(json_array_size(json_object_get(names, "joins")), 0);
    cr_expect_eq(json_integer_value(json_object_get(left_out, "joins")), s.index->n_joins);
    json_decref(one);
    json_decref(names);
    school_end(&s);
}

Test(build, outline_is_bounded_and_lists_omissions)
{
    struct school s;
    school_open(&s, NULL, NULL);
    const size_t most = 1024;
    char *text = schema_json(s.index, &(struct schema_json_options){.values = true, .max_bytes = most});
    cr_expect_lt(strlen(text), most + 256, "tables and joins, and what stands around them");
    json_t *json = json_loads(text, 0, NULL);
    size_t tables = json_array_size(json_object_get(json, "tables"));
    const json_t *left_out = json_object_get(json, "left_out");
    cr_expect_lt(tables, s.index->n_tables);
    cr_expect_eq(json_integer_value(json_object_get(left_out, "tables")), s.index->n_tables - tables);
    json_decref(json);
    free(text);
    school_end(&s);
}
