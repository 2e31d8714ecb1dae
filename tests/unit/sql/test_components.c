/* Tests the components of statements. Each statement must have the expected components and no others. */
#include "lib/sql/components.h"
#include "tests/support/catalog_sqlite.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

static const char SCHEMA[] = "CREATE TABLE boat (boat_id INTEGER, name TEXT, length REAL, home_id INTEGER);"
                             "CREATE TABLE port (port_id INTEGER, name TEXT);";

static const struct {
    const char *sql, *has; /* `has` lists names separated by spaces, in the order of the list of components */
} CASES[] = {
    {"SELECT count(*) FROM boat", "answer_count answer_only_aggregates answer_one_item one_table no_condition"},
    {"SELECT name, max(length) FROM boat GROUP BY name HAVING count(*) > 1",
     "answer_max answer_column_and_aggregate answer_two_items one_table one_condition greater grouped having "
     "having_count"},
    {"SELECT DISTINCT b.boat_id FROM boat b JOIN port p ON b.home_id = p.port_id WHERE p.name = 'Ulm' OR b.length <= 3",
     "answer_distinct answer_one_item answer_key two_tables two_conditions equals_text less_equal either"},
    {"SELECT name FROM boat ORDER BY length DESC LIMIT 1",
     "answer_one_item one_table no_condition ordered descending limit_one"},
    {"SELECT name FROM boat ORDER BY length LIMIT 10",
     "answer_one_item one_table no_condition ordered ascending limit_many"},
    {"SELECT home_id FROM boat GROUP BY home_id, name ORDER BY count(*) DESC LIMIT 1",
     "answer_one_item answer_key one_table no_condition grouped grouped_by_many ordered descending ordered_by_count "
     "limit_one"},
    {"SELECT * FROM boat WHERE length > (SELECT avg(length) FROM boat)",
     "answer_one_item answer_star two_tables one_condition greater compares_subquery compares_average"},
    {"SELECT name FROM boat WHERE boat_id NOT IN (SELECT port_id FROM port)",
     "answer_one_item two_tables one_condition negation not_in_subquery"},
    {"SELECT name FROM boat WHERE length BETWEEN 1 AND 2 AND name LIKE 'A%' AND home_id IS NOT NULL",
     "answer_one_item one_table many_conditions between like negation is_null"},
    {"SELECT name FROM boat EXCEPT SELECT name FROM port",
     "answer_one_item two_tables no_condition negation difference"},
    {"SELECT a.name FROM boat a JOIN boat b ON a.boat_id = b.home_id",
     "answer_one_item two_tables self_join no_condition"},
    {"SELECT count(DISTINCT boat.name), avg(length), 2 * sum(length) FROM boat LEFT JOIN port ON home_id = port_id",
     "answer_count answer_sum answer_avg answer_only_aggregates count_distinct answer_many_items answer_computed "
     "two_tables outer_join no_condition"},
};

static uint64_t components_of(struct arena *arena, const struct sql_catalog *catalog, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_bind(arena, stmt, catalog, &bound), ERR_OK, "%s", sql);
    return sql_components(bound);
}

static const char *names_of(struct arena *arena, uint64_t has)
{
    const char *out = "";
    for (unsigned i = 0; i < SQL_COMPONENT_COUNT; i++)
        if (has >> i & 1)
            out = arena_printf(arena, "%s%s%s", out, *out ? " " : "", sql_component_name((enum sql_component)i));
    return out;
}

Test(components, components_of_statements_match)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script(SCHEMA);
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        cr_expect_str_eq(names_of(&arena, components_of(&arena, &catalog->catalog, CASES[i].sql)), CASES[i].has, "%s",
                         CASES[i].sql);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
    leak_check();
}

/* Ids are part of the wire format. If the id of a name changed, stored messages would become wrong. */
Test(components, component_ids_are_stable)
{
    cr_expect_str_eq(sql_component_name((enum sql_component)0), "answer_count");
    cr_expect_str_eq(sql_component_name((enum sql_component)22), "no_condition");
    cr_expect_str_eq(sql_component_name((enum sql_component)59), "difference");
    cr_expect_null(sql_component_name(SQL_COMPONENT_COUNT));
    cr_expect_eq(sql_component_group_of(SQL_HAS_limit_one), SQL_PART_ORDERING);
    leak_check();
}
