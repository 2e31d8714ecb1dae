/* Over every executable candidate of the dev logs: the source rows give the explained row back. */
#include "tests/support/leak.h"
#include "tests/unit/explain/trace_log.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(trace_log, .timeout = 900);

static void over(const char *name)
{
    char log[512];
    struct trace_tally t = {0};
    snprintf(log, sizeof log, "%s/spider/logs/%s.jsonl", SHARED_DATA, name);
    if (!trace_log(log, SHARED_DATA "/spider/database", &t)) cr_skip_test("the query logs are not here: %s", log);
    double share = 100.0 * trace_covered(&t) / t.executable;
    printf("%s: %u executable candidates, %.2f %% covered\n"
           "  rows %u, no FROM %u, empty %u, aggregate over nothing %u, unavailable %u\n"
           "  arms %u (%u inside), statements %u; computed again %u, of these other %u; not said %u, inexact %u\n"
           "  why-not: found %u (minimal %u), no data %u, not found %u, probes %u\n",
           name, t.executable, share, t.rows, t.no_source, t.empty, t.nothing, t.unavailable, t.arms, t.inner_arms,
           t.statements, t.checked, t.differ, t.unsaid, t.inexact, t.found, t.minimal, t.no_data, t.not_found,
           t.probes);
    cr_expect(t.executable > 1000);
    cr_expect(share >= 99.0, "%.2f %%", share);
    leak_check();
}

Test(trace_log, chatgpt)
{
    over("dev.chatgpt");
}

Test(trace_log, resdsql)
{
    over("dev.resdsql");
}
