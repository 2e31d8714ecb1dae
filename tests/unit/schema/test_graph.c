/* Compares the smallest connected sets of tables in the join graph with those that brute force finds. */
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { NODES = 12 };

/* Creates a database whose join graph has the given edges. For edge[a][b], table t<a> references table t<b>. */
static void open_graph(struct school *s, unsigned n, bool edge[][NODES])
{
    GString *sql = g_string_new("");
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(sql, "CREATE TABLE t%02u(id INTEGER PRIMARY KEY", i);
        for (unsigned j = 0; j < i; j++)
            if (edge[i][j]) g_string_append_printf(sql, ", r%u INTEGER REFERENCES t%02u", j, j);
        g_string_append(sql, ");");
    }
    school_open(s, sql->str, NULL);
    g_string_free(sql, TRUE);
}

static bool is_connected(unsigned set, unsigned n, bool edge[][NODES])
{
    unsigned reached = set & -set, before = 0;
    while (reached != before) {
        before = reached;
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; j < i; j++)
                if (edge[i][j] && set >> i & 1 && set >> j & 1 && (reached >> i & 1 || reached >> j & 1))
                    reached |= 1U << i | 1U << j;
    }
    return reached == set;
}

static unsigned brute_force(unsigned wanted, unsigned n, bool edge[][NODES])
{
    unsigned best = 0;
    for (unsigned set = 1; set < 1U << n; set++) {
        unsigned size = (unsigned)__builtin_popcount(set);
        if ((set & wanted) == wanted && (!best || size < best) && is_connected(set, n, edge)) best = size;
    }
    return best;
}

static void check(const struct school *s, unsigned n, bool edge[][NODES], const uint32_t *terminals,
                  unsigned n_terminals)
{
    unsigned wanted = 0, got = 0;
    uint32_t tables[NODES];
    bool exact;
    for (unsigned i = 0; i < n_terminals; i++) wanted |= 1U << terminals[i];
    unsigned size = schema_steiner(s->index, terminals, n_terminals, tables, &exact);
    for (unsigned i = 0; i < size; i++) got |= 1U << tables[i];
    unsigned best = brute_force(wanted, n, edge);
    if (exact)
        cr_assert_eq(size, best);
    else
        cr_assert(best ? size >= best && size <= 2 * best : size == 0, "%u for %u", size, best);
    if (!size) return;
    cr_assert_eq(got & wanted, wanted);
    cr_assert(is_connected(got, n, edge));
}

Test(graph, steiner_trees_are_minimal)
{
    GRand *rand = g_rand_new_with_seed(3);
    for (int round = 0; round < 12; round++) {
        bool edge[NODES][NODES] = {{false}};
        for (unsigned i = 0; i < NODES; i++)
            for (unsigned j = 0; j < i; j++) edge[i][j] = g_rand_int_range(rand, 0, 100) < 12 + round;
        struct school s;
        open_graph(&s, NODES, edge);
        for (int trial = 0; trial < 12; trial++) {
            uint32_t terminals[NODES];
            unsigned n = (unsigned)g_rand_int_range(rand, 1, NODES + 1);
            for (unsigned i = 0; i < n; i++) terminals[i] = (uint32_t)g_rand_int_range(rand, 0, NODES);
            check(&s, NODES, edge, terminals, n);
        }
        uint32_t all[NODES];
        for (unsigned i = 0; i < NODES; i++) all[i] = i;
        check(&s, NODES, edge, all, NODES); /* more than ten, so the approximation is used */
        check(&s, NODES, edge, all, 11);
        school_end(&s);
    }
    g_rand_free(rand);
}

Test(graph, degenerate_terminals_are_handled)
{
    struct school s;
    school_open(&s, NULL, NULL);
    uint32_t tables[16];
    bool exact;
    uint32_t same[] = {1, 1, 1}, beyond[] = {0, 99};
    cr_assert_eq(schema_steiner(s.index, same, 3, tables, &exact), 1);
    cr_assert_eq(tables[0], 1);
    cr_assert_eq(schema_steiner(s.index, same, 0, tables, &exact), 0);
    cr_assert_eq(schema_steiner(s.index, beyond, 2, tables, &exact), 0);
    uint32_t apart[] = {school_table(&s, "teacher"), school_table(&s, "islet")};
    cr_assert_eq(schema_steiner(s.index, apart, 2, tables, &exact), 0);
    uint32_t through[] = {school_table(&s, "teacher"), school_table(&s, "room")};
    cr_assert_eq(schema_steiner(s.index, through, 2, tables, &exact), 3, "by way of course");
    cr_assert(exact);
    school_end(&s);
}
