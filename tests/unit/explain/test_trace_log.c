/* Checks every executable candidate of the dev logs: its source rows must reproduce the explained row. */
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
    trace_print(&t, name, stdout);
    cr_expect(t.executable > 1000);
    cr_expect(share >= 99.0, "%.2f %%", share);
    leak_check();
}

Test(trace_log, chatgpt_log_rows_are_reproduced)
{
    over("dev.chatgpt");
}

Test(trace_log, resdsql_log_rows_are_reproduced)
{
    over("dev.resdsql");
}
