/* Tests the graph of a statement, and the input lines of the learned detector. */
#include "tests/support/leak.h"
#include "train/detector_export.h"
#include "train/sql_graph.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static struct arena arena;

static void begin(void)
{
    arena_init(&arena, 0);
}

static void end(void)
{
    arena_free(&arena);
    leak_check();
}

TestSuite(detector_export, .init = begin, .fini = end);

static struct sql_graph graph_of(const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_graph graph;
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert(sql_graph_make(&arena, stmt, &graph));
    return graph;
}

/* Returns the edges by the types of their nodes, such as "a>b a>c b-c". A dash means an edge of the chain. */
static const char *edges_of(const struct sql_graph *graph)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < graph->n_edges; i++) {
        const struct sql_graph_edge *e = &graph->edges[i];
        bool chain = i >= graph->n_edges - graph->n_chained;
        cr_assert(e->from < graph->n && e->to < graph->n && graph->kept[e->from] && graph->kept[e->to]);
        g_string_append_printf(text, "%s%s%s%s", i ? ", " : "", sql_graph_type(&arena, graph->nodes[e->from]),
                               chain ? " - " : " > ", sql_graph_type(&arena, graph->nodes[e->to]));
    }
    const char *out = arena_strdup(&arena, text->str);
    g_string_free(text, TRUE);
    return out;
}

Test(detector_export, pass_through_nodes_are_omitted)
{
    struct sql_graph graph = graph_of("SELECT count(*) FROM t WHERE a <= 3");
    cr_assert_str_eq(edges_of(&graph), "select > call count, select > from, from > table, select > where, "
                                       "where > binary <=, binary <= > column, binary <= > literal int, "
                                       "call count - table, table - column, column - literal int");
}

Test(detector_export, join_constraints_are_omitted_with_descendants)
{
    struct sql_graph graph = graph_of("SELECT a FROM t JOIN u ON t.id = u.id AND t.x > (SELECT max(x) FROM v)");
    cr_assert_str_eq(edges_of(&graph), "select > column, select > from, from > join JOIN, join JOIN > table, "
                                       "join JOIN > table, column - table, table - table");
    cr_assert_lt(graph.n_edges, graph.n);
}

Test(detector_export, meaningful_single_child_nodes_are_kept)
{
    struct sql_graph graph = graph_of("SELECT DISTINCT a FROM t WHERE b NOT IN (1) ORDER BY a DESC");
    const char *edges = edges_of(&graph);
    cr_expect(strstr(edges, "term DESC > column"), "%s", edges);
    cr_expect(strstr(edges, "where > in not"), "%s", edges);
    cr_expect(strstr(edges, "select > distinct"), "%s", edges);
    cr_expect_null(strstr(edges, "list"), "%s", edges);
}

Test(detector_export, leaves_are_chained_in_order)
{
    struct sql_graph graph = graph_of("SELECT CASE WHEN a THEN b ELSE c END FROM t");
    uint32_t last = 0;
    cr_assert_eq(graph.n_chained, 3);
    for (uint32_t i = graph.n_edges - graph.n_chained; i < graph.n_edges; i++) {
        cr_expect_leq(last, graph.nodes[graph.edges[i].from]->start);
        last = graph.nodes[graph.edges[i].to]->start;
    }
}

Test(detector_export, line_without_database_has_no_labels)
{
    struct msg_candidate candidates[] = {{.sql = {"SELECT a FROM t", 15}, .count = 2}, {.sql = {"DELETE FROM t", 13}}};
    struct msg_request request = {
        .id = "q", .db = "d", .question = "Which a?", .candidates = candidates, .n_candidates = 2};
    const struct detector_export from = {.arena = &arena, .request = &request, .origin = "beam"};
    json_t *line = detector_export_candidate(&from, 0);
    cr_assert(line);
    cr_expect(json_is_null(json_object_get(line, "label")));
    cr_expect_eq(json_array_size(json_object_get(line, "links")), 0);
    cr_expect_eq(json_array_size(json_object_get(line, "words")), 3);
    cr_expect_eq(json_integer_value(json_object_get(line, "votes")), 2);
    cr_expect_eq(json_integer_value(json_object_get(line, "fold")), detector_fold("d"));
    json_decref(line);
    cr_expect_null(detector_export_candidate(&from, 1), "what is no query has no graph");
}

Test(detector_export, folds_keep_databases_together)
{
    cr_expect_lt(detector_fold("pets_1"), DETECTOR_FOLDS);
    cr_expect_eq(detector_fold("pets_1"), detector_fold("pets_1"));
}
