/* Tests the parts of an explanation: phrases with their spans and columns, inner queries, the graph. */
#include "tests/support/leak.h"
#include "tests/unit/explain/ground.h"

#include <criterion/criterion.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE crew (id INTEGER PRIMARY KEY, name TEXT, rank TEXT);"
    "CREATE TABLE duty (id INTEGER PRIMARY KEY, crew_id INTEGER REFERENCES crew(id), hours INTEGER);"
    "INSERT INTO crew VALUES (1, 'Ada', 'mate'), (2, 'Bo', 'cook'), (3, 'Cy', 'mate');"
    "INSERT INTO duty VALUES (1, 1, 5), (2, 1, 7), (3, 2, 4);";

struct told {
    struct ground ground;
    struct arena arena;
    struct explain_source *source;
    struct explanation *e;
};

static void tell(struct told *told, const char *sql)
{
    char *why = ground_open(&told->ground, SCHEMA, NULL, NULL);
    cr_assert_null(why, "%s", why);
    arena_init(&told->arena, 0);
    told->source = ground_source(&told->ground, &told->arena, sql);
    cr_assert_not_null(told->source);
    cr_assert(explain_query(&told->arena, told->source, NULL, &told->e, NULL) == ERR_OK);
    const char *wrong = ground_check(&told->ground, told->source, NULL, told->e);
    cr_assert_null(wrong, "%s", wrong);
}

static void end(struct told *told)
{
    arena_free(&told->arena);
    ground_close(&told->ground);
    leak_check();
}

/* Returns phrase number n of a kind, counted from 0. */
static const struct explain_phrase *phrase(const struct told *told, enum explain_kind kind, unsigned nth)
{
    for (uint32_t i = 0; i < told->e->n_phrases; i++)
        if (told->e->phrases[i].kind == kind && nth-- == 0) return &told->e->phrases[i];
    cr_assert(false, "no such phrase: %s", explain_kind_name(kind));
    return NULL;
}

static void expect_place(const struct told *told, const struct explain_phrase *p, const char *text)
{
    cr_expect(p->end - p->start == strlen(text) && memcmp(told->source->sql + p->start, text, strlen(text)) == 0,
              "%s stands at \"%.*s\", not at \"%s\"", p->premise, (int)(p->end - p->start),
              told->source->sql + p->start, text);
}

static const char *column_name(const struct told *told, uint32_t id)
{
    return told->ground.schema->columns[id]->name;
}

Test(explain, phrases_have_places)
{
    struct told told;
    tell(&told,
         "SELECT rank, sum(hours) FROM crew JOIN duty ON crew.id = duty.crew_id WHERE name <> 'Cy' GROUP BY rank "
         "HAVING count(*) > 0 ORDER BY 2 LIMIT 3");
    expect_place(&told, phrase(&told, EXPLAIN_SELECT, 1), "sum(hours)");
    expect_place(&told, phrase(&told, EXPLAIN_JOIN, 1), "crew.id = duty.crew_id");
    expect_place(&told, phrase(&told, EXPLAIN_FILTER, 0), "name <> 'Cy'");
    expect_place(&told, phrase(&told, EXPLAIN_GROUP, 0), "GROUP BY rank");
    expect_place(&told, phrase(&told, EXPLAIN_HAVING, 0), "count(*) > 0");
    expect_place(&told, phrase(&told, EXPLAIN_ORDER, 0), "ORDER BY 2");
    expect_place(&told, phrase(&told, EXPLAIN_LIMIT, 0), "LIMIT 3");
    end(&told);
}

Test(explain, phrases_have_columns)
{
    struct told told;
    tell(&told, "SELECT name FROM crew JOIN duty ON crew.id = duty.crew_id WHERE hours > 4");
    const struct explain_phrase *join = phrase(&told, EXPLAIN_JOIN, 1), *filter = phrase(&told, EXPLAIN_FILTER, 0);
    cr_assert(join->n_columns == 2 && filter->n_columns == 1);
    cr_expect_str_eq(column_name(&told, join->columns[0]), "crew_id");
    cr_expect_str_eq(column_name(&told, join->columns[1]), "id");
    cr_expect_str_eq(column_name(&told, filter->columns[0]), "hours");
    end(&told);
}

Test(explain, operations_hold_no_data)
{
    struct told told;
    tell(&told, "SELECT name FROM crew WHERE rank = 'MATE' OR rank = 'mate'");
    const char *operations = explain_operations(&told.arena, told.e);
    cr_assert_not_null(operations);
    cr_expect_str_eq(operations,
                     "The query returns 1 column. Column 1 is crew.name. It reads crew. Rows are kept where "
                     "crew.rank is equal to 'MATE' or crew.rank is equal to 'mate'.");
    cr_expect_not_null(strstr(told.e->premise, "'Ada'"));
    cr_expect_not_null(strstr(told.e->premise, "2 rows"));
    end(&told);
}

Test(explain, inner_queries_follow_in_order)
{
    struct told told;
    tell(&told,
         "SELECT name FROM crew WHERE id IN (SELECT crew_id FROM duty WHERE hours > (SELECT avg(hours) FROM duty))");
    const struct explain_phrase *first = phrase(&told, EXPLAIN_SUBQUERY, 0),
                                *second = phrase(&told, EXPLAIN_SUBQUERY, 1);
    cr_expect(first->opened == 1 && first->depth == 1 && second->opened == 2 && second->depth == 2);
    cr_expect(phrase(&told, EXPLAIN_FILTER, 0)->query == 0 && phrase(&told, EXPLAIN_FILTER, 1)->query == 1);
    cr_expect_not_null(strstr(phrase(&told, EXPLAIN_FILTER, 0)->premise, "the values of query 1"));
    cr_expect_not_null(strstr(phrase(&told, EXPLAIN_FILTER, 1)->premise, "the value of query 2"));
    end(&told);
}

static const struct explain_node *find_node(const struct explain_graph *graph, enum explain_node_kind kind,
                                            const char *name)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].kind == kind && strcmp(graph->nodes[i].name, name) == 0) return &graph->nodes[i];
    cr_assert(false, "no node %s", name);
    return NULL;
}

static bool has_edge(const struct explain_graph *graph, enum explain_edge_kind kind, const struct explain_node *from,
                     const struct explain_node *to)
{
    for (uint32_t i = 0; i < graph->n_edges; i++)
        if (graph->edges[i].kind == kind && &graph->nodes[graph->edges[i].from] == from &&
            &graph->nodes[graph->edges[i].to] == to)
            return true;
    return false;
}

Test(explain, graph_holds_tables_columns_and_values)
{
    struct told told;
    tell(&told, "SELECT hours FROM crew JOIN duty ON crew.id = duty.crew_id WHERE name = 'Bo'");
    const struct explain_graph *graph = told.e->graph;
    const struct explain_node *crew = find_node(graph, EXPLAIN_NODE_TABLE, "crew"),
                              *name = find_node(graph, EXPLAIN_NODE_COLUMN, "name"),
                              *value = find_node(graph, EXPLAIN_NODE_VALUE, "'Bo'"),
                              *refers = find_node(graph, EXPLAIN_NODE_COLUMN, "crew_id"),
                              *key = find_node(graph, EXPLAIN_NODE_COLUMN, "id");
    cr_expect(has_edge(graph, EXPLAIN_HAS_ATTRIBUTE, crew, name));
    cr_expect(has_edge(graph, EXPLAIN_HAS_VALUE, name, value));
    cr_expect(has_edge(graph, EXPLAIN_JOINS, refers, key));
    cr_assert(name->n_phrases >= 1);
    cr_expect(told.e->phrases[name->phrases[0]].kind == EXPLAIN_FILTER, "the filter does not stand at its column");
    end(&told);
}

Test(explain, explanation_is_deterministic)
{
    struct told told;
    tell(&told, "SELECT rank, count(*) FROM crew GROUP BY rank");
    for (int i = 0; i < 3; i++) {
        struct explanation *again;
        cr_assert(explain_query(&told.arena, told.source, NULL, &again, NULL) == ERR_OK);
        cr_expect_str_eq(again->premise, told.e->premise);
        cr_expect_str_eq(again->prose, told.e->prose);
    }
    end(&told);
}

Test(explain, passed_deadline_keeps_static_explanation)
{
    struct told told;
    tell(&told, "SELECT name FROM crew WHERE rank = 'cook'");
    struct explanation *late;
    db_set_deadline(told.ground.db, 1);
    cr_assert(explain_query(&told.arena, told.source, NULL, &late, NULL) == ERR_OK);
    cr_expect_not_null(late->missing);
    cr_expect_not_null(strstr(late->premise, "crew.rank is equal to 'cook'"));
    end(&told);
}

/* Explains the same source with other options. Returns the new explanation. */
static const struct explanation *retell(struct told *told, const struct explain_options *options)
{
    struct explanation *e;
    cr_assert(explain_query(&told->arena, told->source, options, &e, NULL) == ERR_OK);
    const char *wrong = ground_check(&told->ground, told->source, options, e);
    cr_assert_null(wrong, "%s", wrong);
    return e;
}

static unsigned count_values(const struct explain_graph *graph, const char *value)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        n += graph->nodes[i].kind == EXPLAIN_NODE_VALUE && (!value || strcmp(graph->nodes[i].name, value) == 0);
    return n;
}

Test(explain, policy_applies_to_graph)
{
    struct told told;
    tell(&told, "SELECT name, hours FROM crew JOIN duty ON crew.id = duty.crew_id WHERE rank = 'cook'");
    cr_expect(count_values(told.e->graph, "'Bo'") == 1 && count_values(told.e->graph, "4") == 1);
    static const char *const DENIED[] = {"crew.name"};
    struct explain_options options = explain_defaults;
    options.deny_columns = DENIED;
    options.n_deny_columns = 1;
    const struct explanation *e = retell(&told, &options);
    cr_expect(count_values(e->graph, "'Bo'") == 0 && count_values(e->graph, "4") == 1);
    cr_expect_null(strstr(e->premise, "'Bo'"), "%s", e->premise);
    cr_expect_null(strstr(e->prose, "'Bo'"), "%s", e->prose);
    options = explain_defaults;
    options.expose = EXPLAIN_NONE;
    e = retell(&told, &options);
    cr_expect_eq(count_values(e->graph, NULL), 0);
    cr_expect_null(strstr(e->premise, "'Bo'"), "%s", e->premise);
    end(&told);
}

/* Statements over the same columns, each with another meaning. */
static const char *const DIFFERENT[] = {
    "SELECT id FROM crew WHERE id = 2",
    "SELECT id FROM crew WHERE id <> 2",
    "SELECT id FROM crew WHERE id < 2",
    "SELECT id FROM crew WHERE id <= 2",
    "SELECT id FROM crew WHERE id > 2",
    "SELECT id FROM crew WHERE id >= 2",
    "SELECT id FROM crew WHERE id = '2'",
    "SELECT id FROM crew WHERE id = 2.0",
    "SELECT id FROM crew WHERE id IS 2",
    "SELECT id FROM crew WHERE id IS NOT 2",
    "SELECT id FROM crew WHERE id IS NULL",
    "SELECT id FROM crew WHERE id IS NOT NULL",
    "SELECT id FROM crew WHERE id = NULL",
    "SELECT id FROM crew WHERE id IN (2)",
    "SELECT id FROM crew WHERE id NOT IN (2)",
    "SELECT id FROM crew WHERE id BETWEEN 1 AND 2",
    "SELECT id FROM crew WHERE id NOT BETWEEN 1 AND 2",
    "SELECT id FROM crew WHERE NOT id",
    "SELECT id FROM crew WHERE id",
    "SELECT id FROM crew WHERE name LIKE 'a'",
    "SELECT id FROM crew WHERE name GLOB 'a'",
    "SELECT id FROM crew WHERE name LIKE '%a'",
    "SELECT id FROM crew WHERE name LIKE 'a%'",
    "SELECT id FROM crew WHERE name LIKE '%a%'",
    "SELECT id FROM crew WHERE name LIKE 'a' ESCAPE '!'",
    "SELECT id FROM crew WHERE id = 1 OR id = 2 AND name = 'x'",
    "SELECT id FROM crew WHERE (id = 1 OR id = 2) AND name = 'x'",
    "SELECT id FROM crew WHERE id + 1 * 2 > 3",
    "SELECT id FROM crew WHERE (id + 1) * 2 > 3",
    "SELECT id FROM crew WHERE id - (1 - 2) > 3",
    "SELECT id FROM crew WHERE id - 1 - 2 > 3",
    "SELECT id FROM crew WHERE id = (SELECT max(id) FROM crew)",
    "SELECT id FROM crew WHERE id = (SELECT min(id) FROM crew)",
    "SELECT id FROM crew WHERE id IN (SELECT crew_id FROM duty)",
    "SELECT id FROM crew WHERE id IN (SELECT id FROM duty)",
    "SELECT id FROM crew WHERE id NOT IN (SELECT crew_id FROM duty)",
    "SELECT id FROM crew WHERE EXISTS (SELECT 1 FROM duty WHERE crew_id = crew.id)",
    "SELECT id FROM crew WHERE EXISTS (SELECT 1 FROM duty WHERE duty.id = crew.id)",
    "SELECT id FROM crew WHERE NOT EXISTS (SELECT 1 FROM duty WHERE crew_id = crew.id)",
    "SELECT DISTINCT id FROM crew",
    "SELECT id FROM crew",
    "SELECT count(rank) FROM crew",
    "SELECT count(DISTINCT rank) FROM crew",
    "SELECT count(*) FROM crew",
    "SELECT sum(id) FROM crew",
    "SELECT total(id) FROM crew",
    "SELECT avg(id) FROM crew",
    "SELECT id FROM crew ORDER BY id",
    "SELECT id FROM crew ORDER BY id DESC",
    "SELECT id FROM crew ORDER BY id DESC NULLS LAST",
    "SELECT id FROM crew LIMIT 1",
    "SELECT id FROM crew ORDER BY id LIMIT 1",
    "SELECT id FROM crew ORDER BY id LIMIT 1 OFFSET 1",
    "SELECT id FROM crew GROUP BY rank",
    "SELECT id FROM crew GROUP BY rank HAVING count(*) > 1",
    "SELECT id FROM crew GROUP BY rank HAVING count(*) >= 1",
    "SELECT id FROM crew UNION SELECT id FROM duty",
    "SELECT id FROM crew UNION ALL SELECT id FROM duty",
    "SELECT id FROM crew INTERSECT SELECT id FROM duty",
    "SELECT id FROM crew EXCEPT SELECT id FROM duty",
    "SELECT id FROM duty EXCEPT SELECT id FROM crew",
    "SELECT crew.id FROM crew JOIN duty ON crew.id = duty.crew_id",
    "SELECT crew.id FROM crew JOIN duty ON crew.id = duty.id",
    "SELECT crew.id FROM crew JOIN duty ON crew.id > duty.id",
    "SELECT crew.id FROM crew LEFT JOIN duty ON crew.id = duty.crew_id",
    "SELECT crew.id FROM duty LEFT JOIN crew ON crew.id = duty.crew_id",
    "SELECT crew.id FROM crew LEFT JOIN duty ON crew.id = duty.crew_id AND hours > 4",
    "SELECT crew.id FROM crew LEFT JOIN duty ON crew.id = duty.crew_id WHERE hours > 4",
    "SELECT crew.id FROM crew LEFT JOIN duty ON hours > 4 WHERE crew.id = duty.crew_id",
    "SELECT crew.id FROM crew JOIN duty",
    "SELECT duty.id FROM crew JOIN duty ON crew.id = duty.crew_id",
    "SELECT rank() OVER (ORDER BY id) FROM crew",
    "SELECT rank() OVER (ORDER BY id DESC) FROM crew",
    "SELECT rank() OVER (PARTITION BY rank ORDER BY id) FROM crew",
    "SELECT sum(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM crew",
    "SELECT sum(id) OVER (ORDER BY id) FROM crew",
    "SELECT count(*) FILTER (WHERE id > 1) FROM crew",
    "SELECT CASE WHEN id = 1 THEN 'a' ELSE 'b' END FROM crew",
    "SELECT CASE WHEN id = 1 THEN 'a' END FROM crew",
    "SELECT CASE id WHEN 1 THEN 'b' ELSE 'a' END FROM crew",
    "SELECT CAST(id AS TEXT) FROM crew",
    "SELECT id || 'a' FROM crew",
    "SELECT * FROM crew",
    "SELECT crew.* FROM crew, duty",
    "SELECT * FROM crew, duty",
};

/* Premise and prose are exact: neither text loses an operator or a clause. */
Test(explain, different_queries_have_different_explanations)
{
    enum { N = sizeof DIFFERENT / sizeof *DIFFERENT };
    GHashTable *premises = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GHashTable *proses = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct explain_options options = explain_defaults;
    options.may_probe = false;
    struct told told;
    tell(&told, "SELECT 1");
    for (size_t i = 0; i < N; i++) {
        told.source = ground_source(&told.ground, &told.arena, DIFFERENT[i]);
        cr_assert_not_null(told.source, "%s", DIFFERENT[i]);
        cr_expect_not_null(told.source->result, "%s does not run", DIFFERENT[i]);
        told.source->result = NULL;
        const struct explanation *e = retell(&told, &options);
        const char *premise = g_hash_table_lookup(premises, e->premise), *prose = g_hash_table_lookup(proses, e->prose);
        cr_expect_null(premise, "the same premise: %s | %s", premise, DIFFERENT[i]);
        cr_expect_null(prose, "the same prose: %s | %s", prose, DIFFERENT[i]);
        g_hash_table_insert(premises, g_strdup(e->premise), (gpointer)DIFFERENT[i]);
        g_hash_table_insert(proses, g_strdup(e->prose), (gpointer)DIFFERENT[i]);
    }
    g_hash_table_unref(premises);
    g_hash_table_unref(proses);
    end(&told);
}
