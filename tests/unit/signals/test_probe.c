/* Tests the probes that signals run on the database. */
#include "signals/support/probe.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>

#define ENDLESS "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"

static enum err_code probe(const struct db_limits *limits)
{
    struct fixture f;
    struct db_result result;
    fixture_init(&f, "CREATE TABLE t (a INTEGER)");
    fixture_open(&f, limits);
    struct vsig_subject subject = {.arena = &f.arena, .db = f.db};
    enum err_code code = vsig_probe(&subject, ENDLESS, 1, &result);
    struct db_limits after = db_get_limits(f.db);
    cr_expect(after.time_ms == limits->time_ms && after.by_steps == limits->by_steps, "the candidate's are back");
    fixture_end(&f);
    return code;
}

/* Training limits the steps of a probe, not its time. So its result does not depend on the load of the machine. */
Test(probe, probe_is_bounded_like_candidate)
{
    struct db_limits limits = {.time_ms = 3000};
    cr_expect_eq(probe(&limits), ERR_LIMIT_TIME);
    limits.by_steps = true;
    cr_expect_eq(probe(&limits), ERR_LIMIT_STEPS);
}
