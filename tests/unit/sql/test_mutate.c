/* Tests the mutation operators. Each one makes its documented mutants. Equal seeds give equal mutants. Mutants of the
 * training questions parse and bind. */
#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/sql/mutate.h"
#include "tests/support/leak.h"
#include "tests/support/querylog.h"

TestSuite(mutate, .timeout = 600);

static struct sql_bound *bind_text(struct arena *arena, struct catalog_sqlite *catalog, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    return sql_bind(arena, stmt, &catalog->catalog, &bound) == ERR_OK ? bound : NULL;
}

static const char SCHEMA[] =
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT);"
    "CREATE TABLE friend(student_id INT REFERENCES person(id), friend_id INT REFERENCES person(id), since INT);"
    "CREATE TABLE trip(id INTEGER PRIMARY KEY, guide_id INT REFERENCES person(id), leader_id INT REFERENCES person(id),"
    " source TEXT, destination TEXT, start_date TEXT, end_date TEXT, km INT, seats INT);"
    "CREATE TABLE visit(person_id INT REFERENCES person(id), place TEXT, day TEXT);"
    "INSERT INTO trip VALUES (1, 1, 2, 'Oslo', 'Bern', '2014-01-02', '2014-02-03', 150, 4),"
    " (2, 2, 3, 'Bern', 'Oslo', '2015-01-02', '2015-02-03', 2000, 9);"
    "INSERT INTO visit VALUES (1, 'Bern', '2014-01-02'), (2, 'Oslo', '2015-01-02');"
    "INSERT INTO person VALUES (1, 'Ann', 'Paris', 20), (2, 'Bob', 'Rome', 30), (3, 'Cid', 'Paris', 40);"
    "INSERT INTO friend VALUES (1, 2, 2001), (2, 3, 2002);";

/* A statement from which an operator must make a mutant, and a part of that mutant. */
static const struct {
    enum sql_mutator op;
    const char *sql, *part;
} SAMPLES[] = {
    {SQL_MUTATE_drop_condition, "SELECT name FROM person WHERE age > 20 AND city = 'Paris'", "WHERE city = 'Paris'"},
    {SQL_MUTATE_add_condition, "SELECT name FROM person", "WHERE"},
    {SQL_MUTATE_change_comparison, "SELECT name FROM person WHERE age > 20", ">="},
    {SQL_MUTATE_negate, "SELECT name FROM person WHERE id IN (SELECT friend_id FROM friend)", "NOT IN"},
    {SQL_MUTATE_literal_value, "SELECT name FROM person WHERE city = 'Paris'", "'Rome'"},
    {SQL_MUTATE_literal_case, "SELECT name FROM person WHERE city = 'Paris'", "'paris'"},
    {SQL_MUTATE_literal_plural, "SELECT name FROM person WHERE city = 'Rome'", "'Romes'"},
    {SQL_MUTATE_literal_number, "SELECT name FROM person WHERE age > 20", "21"},
    {SQL_MUTATE_like_pattern, "SELECT name FROM person WHERE city LIKE '%ari%'", "'ari'"},
    {SQL_MUTATE_column_sibling, "SELECT name FROM person", "SELECT city"},
    {SQL_MUTATE_column_other_table, "SELECT a.since FROM friend AS a JOIN friend AS b ON a.friend_id = b.student_id",
     "SELECT b.since"},
    {SQL_MUTATE_string_column, "SELECT friend_id FROM friend", "\"friend id\""},
    {SQL_MUTATE_change_aggregate, "SELECT max(age) FROM person", "MIN"},
    {SQL_MUTATE_count_what, "SELECT count(*) FROM person", "DISTINCT"},
    {SQL_MUTATE_toggle_distinct, "SELECT city FROM person", "DISTINCT"},
    {SQL_MUTATE_drop_order, "SELECT name FROM person ORDER BY age LIMIT 1", "person LIMIT"},
    {SQL_MUTATE_reverse_order, "SELECT name FROM person ORDER BY age", "DESC"},
    {SQL_MUTATE_change_limit, "SELECT name FROM person ORDER BY age LIMIT 1", "LIMIT 2"},
    {SQL_MUTATE_drop_limit, "SELECT name FROM person ORDER BY age LIMIT 1", "ORDER BY age"},
    {SQL_MUTATE_add_limit, "SELECT name FROM person ORDER BY age", "LIMIT 1"},
    {SQL_MUTATE_drop_join, "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id",
     "FROM person AS p"},
    {SQL_MUTATE_add_join, "SELECT name FROM person", "JOIN friend ON person.id = friend."},
    {SQL_MUTATE_wrong_join_column, "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id", "f.since"},
    {SQL_MUTATE_flip_join_column, "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id",
     "f.friend_id"},
    {SQL_MUTATE_drop_join_condition, "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id",
     "JOIN friend AS f"},
    {SQL_MUTATE_outer_join, "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id", "LEFT JOIN"},
    {SQL_MUTATE_drop_group, "SELECT city, count(*) FROM person GROUP BY city", "FROM person"},
    {SQL_MUTATE_add_group, "SELECT city FROM person", "GROUP BY city"},
    {SQL_MUTATE_change_group, "SELECT city, count(*) FROM person GROUP BY city", "GROUP BY name"},
    {SQL_MUTATE_drop_having, "SELECT city FROM person GROUP BY city HAVING count(*) > 1", "GROUP BY city"},
    {SQL_MUTATE_change_having, "SELECT city FROM person GROUP BY city HAVING count(*) > 1", "2"},
    {SQL_MUTATE_swap_and_or, "SELECT name FROM person WHERE age > 20 AND city = 'Paris'", " OR "},
    {SQL_MUTATE_change_set_operator, "SELECT id FROM person EXCEPT SELECT friend_id FROM friend", "INTERSECT"},
    {SQL_MUTATE_drop_set_arm, "SELECT id FROM person EXCEPT SELECT friend_id FROM friend", "SELECT id FROM person"},
    {SQL_MUTATE_add_item, "SELECT name FROM person", "name, "},
    {SQL_MUTATE_drop_item, "SELECT name, age FROM person", "SELECT age"},
    {SQL_MUTATE_swap_items, "SELECT name, age FROM person", "age, name"},
    {SQL_MUTATE_subquery_to_literal, "SELECT name FROM person WHERE age = (SELECT max(age) FROM person)", "age = "},
    {SQL_MUTATE_null_extreme, "SELECT min(age) FROM person WHERE city = 'Paris'", "ORDER BY age ASC LIMIT 1"},
    {SQL_MUTATE_count_vs_sum, "SELECT count(*) FROM trip", "SUM("},
    {SQL_MUTATE_group_key, "SELECT city, count(*) FROM person GROUP BY city", "GROUP BY id"},
    {SQL_MUTATE_ratio_inverted, "SELECT max(km) / (min(km) + 1) FROM trip", "(min(km) + 1) / max(km)"},
    {SQL_MUTATE_self_join_relation, "SELECT km FROM trip WHERE source = 'Oslo'", "WHERE destination = 'Oslo'"},
    {SQL_MUTATE_text_number, "SELECT id FROM trip ORDER BY km LIMIT 1", "CAST(km AS TEXT)"},
    {SQL_MUTATE_wrong_join_path, "SELECT p.name FROM person AS p JOIN trip AS t ON p.id = t.guide_id", "t.leader_id"},
    {SQL_MUTATE_negation_scope,
     "SELECT name FROM person WHERE id NOT IN (SELECT person_id FROM visit WHERE place = 'Bern')",
     "FROM visit JOIN person ON person.id = visit.person_id WHERE visit.place <> 'Bern'"},
    {SQL_MUTATE_contradicted_value, "SELECT name FROM person WHERE city = 'Paris'", "'Rome'"},
    {SQL_MUTATE_value_in_other_column, "SELECT age FROM person WHERE city = 'Paris'", "name = 'Paris'"},
    {SQL_MUTATE_superlative_on_wrong_column, "SELECT id FROM trip ORDER BY km DESC LIMIT 1", "ORDER BY seats DESC"},
    {SQL_MUTATE_percentage_integer_division, "SELECT avg(km) FROM trip", "SUM(km) / COUNT(km)"},
    {SQL_MUTATE_boundary, "SELECT id FROM trip WHERE km BETWEEN 150 AND 2000", "km > 150 AND km < 2000"},
    {SQL_MUTATE_never_vs_not_all,
     "SELECT name FROM person WHERE id NOT IN (SELECT person_id FROM visit WHERE place = 'Bern')",
     "id IN (SELECT person_id FROM visit WHERE place <> 'Bern')"},
    {SQL_MUTATE_set_both,
     "SELECT name FROM person WHERE age > 20 INTERSECT SELECT name FROM person WHERE city = 'Rome'",
     "WHERE age > 20 AND city = 'Rome'"},
    {SQL_MUTATE_fan_out_aggregate, "SELECT count(*) FROM person", "JOIN friend ON person.id = friend."},
    {SQL_MUTATE_top_per_group, "SELECT source, max(km) FROM trip GROUP BY source", "ORDER BY km DESC LIMIT 1"},
    {SQL_MUTATE_wrong_entity, "SELECT count(*) FROM person", "FROM trip"},
    {SQL_MUTATE_wrong_projection, "SELECT name FROM person", "SELECT city"},
    {SQL_MUTATE_date_part, "SELECT id FROM trip WHERE start_date LIKE '2014%'", "end_date"},
    {SQL_MUTATE_units, "SELECT id FROM trip WHERE km > 150", "150000"},
    {SQL_MUTATE_having_vs_where, "SELECT source FROM trip GROUP BY source HAVING sum(km) > 200", "WHERE km > 200"},
    {SQL_MUTATE_said_with_care, "SELECT id FROM trip ORDER BY km LIMIT 1", "WHERE km IS NOT NULL ORDER BY km"},
    {SQL_MUTATE_idle_condition, "SELECT name FROM person WHERE city = 'Paris' AND age > 20",
     "city IS NOT NULL AND age > 20"},
};

/* Further mutants of operators that make several. */
static const struct {
    enum sql_mutator op;
    const char *sql, *part;
} FACES[] = {
    {SQL_MUTATE_null_extreme, "SELECT name FROM person WHERE age IS NOT NULL ORDER BY age LIMIT 1",
     "FROM person ORDER BY"},
    {SQL_MUTATE_count_vs_sum, "SELECT sum(seats) FROM trip", "COUNT(*)"},
    {SQL_MUTATE_count_vs_sum, "SELECT count(*) FROM trip", "SELECT seats"},
    {SQL_MUTATE_group_key, "SELECT name, count(*) FROM person GROUP BY id", "GROUP BY name"},
    {SQL_MUTATE_self_join_relation, "SELECT p.name FROM person AS p JOIN trip AS t ON p.id = t.guide_id", "leader_id"},
    {SQL_MUTATE_text_number, "SELECT name FROM visit AS v JOIN person ON CAST(v.day AS INTEGER) = id", "ON v.day = id"},
    {SQL_MUTATE_wrong_join_path, "SELECT p.name FROM person AS p JOIN visit AS v ON p.id = v.person_id",
     "JOIN trip AS v ON p.id = v."},
    {SQL_MUTATE_negation_scope, "SELECT name FROM person WHERE id NOT IN (SELECT person_id FROM visit)",
     "FROM visit JOIN person ON person.id <> visit.person_id"},
    {SQL_MUTATE_negation_scope,
     "SELECT name FROM person WHERE id NOT IN (SELECT v.person_id FROM visit AS v JOIN trip AS t ON v.place = t.source "
     "WHERE t.km = 150)",
     "FROM visit AS v JOIN trip AS t ON v.place = t.source JOIN person ON person.id = v.person_id WHERE t.km <> 150"},
    {SQL_MUTATE_negation_scope, "SELECT name FROM person WHERE city <> 'Rome' AND age <> 20",
     "NOT (city = 'Rome' AND age = 20)"},
    {SQL_MUTATE_negation_scope, "SELECT name FROM person EXCEPT SELECT name FROM person WHERE city = 'Rome'",
     "SELECT name FROM person WHERE city <> 'Rome'"},
    {SQL_MUTATE_never_vs_not_all, "SELECT name FROM person EXCEPT SELECT name FROM person WHERE city = 'Rome'",
     "INTERSECT SELECT name FROM person WHERE city <> 'Rome'"},
    {SQL_MUTATE_percentage_integer_division, "SELECT sum(km) * 100.0 / count(*) FROM trip", "* 100 /"},
    {SQL_MUTATE_percentage_integer_division, "SELECT avg(km) FROM trip", "SUM(km) * 1.0 / COUNT(km)"},
    {SQL_MUTATE_set_both, "SELECT name FROM person WHERE age > 20 AND city = 'Rome'",
     "WHERE age > 20 INTERSECT SELECT name FROM person WHERE city = 'Rome'"},
    {SQL_MUTATE_boundary, "SELECT id FROM trip WHERE km >= 150", "km > 150"},
    {SQL_MUTATE_date_part, "SELECT id FROM trip WHERE strftime('%Y', start_date) = '2014'", "'%m'"},
    {SQL_MUTATE_date_part, "SELECT id FROM trip WHERE start_date LIKE '2014%'", "'%2014'"},
    {SQL_MUTATE_units, "SELECT id FROM trip WHERE km > 2000", "km > 2"},
    {SQL_MUTATE_having_vs_where, "SELECT source FROM trip WHERE km > 200 GROUP BY source", "HAVING SUM(km) > 200"},
    {SQL_MUTATE_change_limit, "SELECT name FROM person ORDER BY age LIMIT 3", "LIMIT 1"},
    {SQL_MUTATE_said_with_care, "SELECT max(km) FROM trip", "max(CAST(km AS REAL))"},
    {SQL_MUTATE_said_with_care, "SELECT count(*) FROM person", "COUNT(id)"},
};

/* Returns true if, for one of several seeds, a mutant of that operator contains the part. */
static bool gives(struct catalog_sqlite *catalog, enum sql_mutator op, const char *sql, const char *part)
{
    bool found = false;
    for (uint64_t seed = 1; seed <= 12 && !found; seed++) {
        struct arena arena;
        arena_init(&arena, 0);
        struct sql_mutation *list;
        struct sql_bound *bound = bind_text(&arena, catalog, sql);
        cr_assert(bound, "%s", sql);
        int n = sql_mutate(&arena, bound, &catalog->env, seed, 0, &list);
        for (int i = 0; i < n; i++) found |= list[i].op == op && strstr(list[i].sql, part);
        arena_free(&arena);
    }
    return found;
}

Test(mutate, every_operator_gives_documented_mutant)
{
    cr_assert_eq(G_N_ELEMENTS(SAMPLES), SQL_MUTATOR_COUNT);
    struct catalog_sqlite *catalog = catalog_sqlite_script(SCHEMA);
    for (size_t i = 0; i < G_N_ELEMENTS(SAMPLES); i++) {
        cr_expect_eq(SAMPLES[i].op, i, "one sample for each operator, in their order");
        cr_expect(gives(catalog, SAMPLES[i].op, SAMPLES[i].sql, SAMPLES[i].part), "%s gives no \"%s\" on %s",
                  sql_mutator_name(SAMPLES[i].op), SAMPLES[i].part, SAMPLES[i].sql);
        cr_expect(*sql_mutator_meaning(SAMPLES[i].op));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(FACES); i++)
        cr_expect(gives(catalog, FACES[i].op, FACES[i].sql, FACES[i].part), "%s gives no \"%s\" on %s",
                  sql_mutator_name(FACES[i].op), FACES[i].part, FACES[i].sql);
    catalog_sqlite_free(catalog);
    leak_check();
}

Test(mutate, equal_seeds_give_equal_mutants)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script(SCHEMA);
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_bound *bound = bind_text(
        &arena, catalog,
        "SELECT p.name FROM person AS p JOIN friend AS f ON p.id = f.student_id WHERE since > 2000 ORDER BY age");
    struct sql_mutation *a, *b, *c;
    int n = sql_mutate(&arena, bound, &catalog->env, 7, 12, &a),
        m = sql_mutate(&arena, bound, &catalog->env, 7, 12, &b);
    cr_assert_eq(n, 12);
    cr_assert_eq(m, 12);
    cr_assert_eq(sql_mutate(&arena, bound, &catalog->env, 8, 12, &c), 12);
    bool differs = false;
    for (int i = 0; i < n; i++) {
        cr_expect_str_eq(a[i].sql, b[i].sql);
        cr_expect_eq(a[i].op, b[i].op);
        cr_expect(a[i].start < a[i].end && a[i].end <= strlen(a[i].sql));
        for (int k = 0; k < i; k++) cr_expect_str_neq(a[i].sql, a[k].sql);
        differs |= strcmp(a[i].sql, c[i].sql) != 0;
    }
    cr_expect(differs);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
    leak_check();
}

/* ---- the training questions ---- */

struct totals {
    size_t lines, gold, mutants, refused, none;
    size_t by_op[SQL_MUTATOR_COUNT], refused_by_op[SQL_MUTATOR_COUNT];
    int64_t ns;
};

static void mutate_line(const struct querylog_line *line, void *self)
{
    struct totals *t = self;
    if (t->lines++ % 10 || !line->gold) return;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_bound *bound = bind_text(&arena, line->catalog, line->gold);
    if (bound) {
        struct sql_mutation *list;
        int64_t start = clock_now_ns();
        int n = sql_mutate(&arena, bound, &line->catalog->env, t->lines, 0, &list);
        t->ns += clock_now_ns() - start;
        cr_assert_geq(n, 0);
        t->gold++;
        t->none += n == 0;
        for (int i = 0; i < n; i++) {
            sqlite3_stmt *stmt = NULL;
            t->mutants++;
            t->by_op[list[i].op]++;
            if (sqlite3_prepare_v2(line->catalog->db, list[i].sql, -1, &stmt, NULL) != SQLITE_OK) {
                t->refused_by_op[list[i].op]++;
                if (t->refused++ < 10)
                    fprintf(stderr, "refused (%s): %s\n  %s\n", sql_mutator_name(list[i].op),
                            sqlite3_errmsg(line->catalog->db), list[i].sql);
            }
            sqlite3_finalize(stmt);
        }
    }
    arena_free(&arena);
}

Test(mutate, mutants_of_training_gold_are_valid)
{
    struct totals t = {0};
    if (querylog_each("train.gold", mutate_line, &t) == 0) cr_skip_test("no query logs under the shared data folder");
    fprintf(stderr,
            "mutation: %zu gold queries, %.1f mutants each, %zu (%.2f %%) refused by SQLite, %zu gold without any, "
            "%.0f us a mutant\n",
            t.gold, (double)t.mutants / (double)t.gold, t.refused, 100.0 * (double)t.refused / (double)t.mutants,
            t.none, (double)t.ns / 1e3 / (double)t.mutants);
    for (unsigned op = 0; op < SQL_MUTATOR_COUNT; op++) {
        fprintf(stderr, "  %-22s %6zu  refused %zu\n", sql_mutator_name(op), t.by_op[op], t.refused_by_op[op]);
        cr_expect_gt(t.by_op[op], 0, "%s never applied", sql_mutator_name(op));
    }
    cr_expect_lt((double)t.refused, 0.005 * (double)t.mutants);
    cr_expect_eq(t.none, 0);
    leak_check();
}
