/* Tests logs that name a database that cannot be opened. The figures must tell how many requests they leave out. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static void begin(void)
{
    scratch_begin();
    char *shop = shop_log(12);
    GString *log = g_string_new(shop);
    for (unsigned i = 1; i <= 3; i++)
        g_string_append_printf(
            log,
            "{\"id\":\"gone-%u\",\"db\":\"gone\",\"question\":\"How many?\",\"candidates\":[\"SELECT "
            "count(*) FROM t\"],\"gold\":\"SELECT count(*) FROM t\"}\n",
            i);
    write_file("log.jsonl", log->str);
    g_string_free(log, TRUE);
    g_free(shop);
}

TestSuite(unreached, .init = begin, .fini = scratch_end);

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

static const char left_out[] = "gone-3: left out: database 'gone' not found";
static const char complaint[] = "1 database could not be opened, and its requests are left out: gone: ";

Test(unreached, eval_headline_counts_omitted_requests)
{
    static const char headline[] = "(12 questions; 3 requests left out, their databases could not be read)";
    expect(assay("eval", "log.jsonl", "--db-root", "."), 1, headline, left_out);
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--folds"), 1, headline, left_out);
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--format=json"), 1, "\"left_out\": 3", left_out);
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--gold"), 1,
           "(12 queries, 0 of them invalid; 3 requests left out, their databases could not be read)", NULL);
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--limit", "12"), 0, "(12 questions)", NULL);
}

Test(unreached, eval_without_any_database_is_status_2)
{
    write_file("none.jsonl", "{\"id\":\"a\",\"db\":\"gone\",\"question\":\"How many?\",\"candidates\":[\"SELECT 1\"],"
                             "\"gold\":\"SELECT 1\"}\n");
    expect(assay("eval", "none.jsonl", "--db-root", "."), 2, NULL, "no database could be opened");
}

Test(unreached, commands_over_logs_are_status_1)
{
    expect(assay("replay", "log.jsonl", "--db-root", ".", "--out", "v.jsonl"), 1, NULL, "failed 3");
    expect(assay("mutate", "log.jsonl", "--db-root", "."), 1, NULL, "gone");
    expect(assay("train", "export", "log.jsonl", "--db-root", ".", "--out", "x.jsonl"), 1, NULL, complaint);
    expect(assay("link", "export", "log.jsonl", "--db-root", ".", "--out", "y.jsonl"), 1, NULL, complaint);
    expect(assay("train", "label-model", "log.jsonl", "--db-root", ".", "--out", "m.json"), 1, NULL, complaint);
    expect(assay("calibrate", "log.jsonl", "--db-root", ".", "--out", "c.json"), 1, NULL, complaint);
    expect(assay("examples", "build", "log.jsonl", "--db-root", ".", "--out", "e.sqlite"), 1, NULL, complaint);
}

Test(unreached, pairs_of_missing_database_are_not_judged)
{
    write_file("pairs/a.sql", "-- db: gone\n-- question: How many?\nSELECT 1;\n");
    expect(assay("check", "--pairs", "pairs", "--db-root", "."), 2, "failed", "1 not judged");
}
