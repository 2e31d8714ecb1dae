/* Tests provenance and why-not on random queries. The source rows must reproduce the explained row, and an empty result
 * must have a reason. */
#include "tests/support/leak.h"
#include "tests/unit/explain/random_query.h"
#include "tests/unit/explain/trace_log.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>

TestSuite(trace_random, .timeout = 300);

enum { QUERIES = 1500 };

static void over(const char *script, uint64_t seed)
{
    char *path = g_strdup_printf("%s/%s", SOURCE_ROOT, script), *schema = NULL;
    cr_assert(g_file_get_contents(path, &schema, NULL, NULL), "%s", path);
    struct school school;
    struct trace_tally tally = {0};
    school_open(&school, schema, NULL);
    GString *sql = g_string_new(NULL);
    for (uint64_t i = 0; i < QUERIES; i++) {
        random_query(school.index, seed * QUERIES + i, sql);
        trace_candidate(school.f.db, school.index, &school.f.arena, sql->str, &tally);
    }
    trace_print(&tally, script, stdout);
    cr_expect_gt(tally.executable, QUERIES * 3 / 4, "most of the queries run");
    cr_expect_gt(tally.rows, QUERIES / 4, "many have source rows");
    cr_expect_gt(tally.found, QUERIES / 10, "many are empty");
    cr_expect_eq(tally.unavailable, 0);
    cr_expect_eq(tally.differ, 0);
    cr_expect_leq(tally.not_found, QUERIES / 100, "a probe of a cross join may meet its time");
    g_string_free(sql, TRUE);
    g_free(schema);
    g_free(path);
    school_end(&school);
    leak_check();
}

Test(trace_random, random_queries_on_orchard)
{
    over("deploy/samples/orchard.sql", 1);
}

Test(trace_random, random_queries_on_ferries)
{
    over("deploy/samples/ferries.sql", 2);
}

Test(trace_random, random_queries_on_awkward)
{
    over("tests/data/explain/awkward.sql", 3);
}
