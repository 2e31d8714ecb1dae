/* Tests assay diff: golden files in every format, correctness by execution, its index, and bad input. Bad input is a
 * missing, repeated or bad line, or a file without verdicts. */
#include "eval/diff.h"
#include "lib/learn/metrics.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static void copy(const char *name)
{
    char *from = g_build_filename(SOURCE_ROOT "/tests/data/diff", name, NULL), *text = read_file(from);
    cr_assert(text, "%s", from);
    write_file(name, text);
    g_free(text);
    g_free(from);
}

static void begin(void)
{
    scratch_begin();
    copy("a.jsonl");
    copy("b.jsonl");
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(diff, .init = begin, .fini = end);

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

Test(diff, changes_are_shown_in_every_format)
{
    static const char *const formats[] = {"text", "jsonl", "csv"};
    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
        char *path = g_strdup_printf(SOURCE_ROOT "/tests/data/diff/expected.%s", formats[i]), *want = read_file(path);
        struct run run = assay("diff", "a.jsonl", "b.jsonl", "--format", formats[i]);
        cr_assert(want, "%s", path);
        cr_expect_eq(run.status, 1, "%s", run.err);
        cr_expect_str_eq(run.out, want);
        cr_expect_str_empty(run.err);
        run_free(&run);
        g_free(want);
        g_free(path);
    }
    struct run run = assay("diff", "a.jsonl", "b.jsonl", "--format=json");
    json_t *json = json_loads(run.out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert(json, "%s", run.out);
    cr_expect_eq(json_array_size(json_object_get(json, "changes")), 9);
    cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "summary"), "changed")), 5);
    json_decref(json);
    run_free(&run);
}

Test(diff, equal_files_have_no_changes)
{
    char *text = read_file("b.jsonl");
    char **lines = g_strsplit(text, "\n", -1);
    GString *backwards = g_string_new(NULL);
    for (int i = 8; i >= 0; i--) g_string_append_printf(backwards, "%s\n", lines[i]); /* omits the repeated line */
    write_file("c.jsonl", backwards->str);
    expect(assay("diff", "c.jsonl", "c.jsonl"), 0, "\"changed\":0,", NULL);
    char *after = strstr(text, lines[9]);
    cr_assert(after);
    *after = '\0';
    write_file("d.jsonl", text);
    expect(assay("diff", "c.jsonl", "d.jsonl", "--explanations"), 0, "\"requests\":9,", NULL);
    g_string_free(backwards, TRUE);
    g_strfreev(lines);
    g_free(text);
}

/* Either input may be a pipe. The output does not depend on which one is. */
Test(diff, reads_one_side_from_a_pipe)
{
    char *a = read_file("a.jsonl"), *b = read_file("b.jsonl");
    struct run piped = assay_input(b, "diff", "a.jsonl", "-", "--format=text");
    struct run other = assay_input(a, "diff", "-", "b.jsonl", "--format=text");
    expect(assay_input(a, "diff", "-", "-"), 2, NULL, "must be a regular file");
    const char *const figures[] = {
        "5 of 8 requests changed: status 2, reason 1, sql 3, p_correct 3, signals 2, candidates 1",
        "validated   abstained          1",
        "known better 0, worse 1",
        "empty_predicate         2       2",
        "0.560 moved up, 0.000 down",
        "10 verdicts, 1 ids only here, 1 repeated, 0 bad lines\nB "};
    for (unsigned i = 0; i < G_N_ELEMENTS(figures); i++) {
        cr_expect(strstr(piped.out, figures[i]), "no '%s' in:\n%s", figures[i], piped.out);
        cr_expect(strstr(other.out, figures[i]), "no '%s' in:\n%s", figures[i], other.out);
    }
    cr_expect(strstr(other.out, "only old  only in -:6"), "%s", other.out);
    cr_expect(strstr(other.out, "only new, with a comma  only in b.jsonl:5"), "%s", other.out);
    run_free(&piped);
    run_free(&other);
    g_free(a);
    g_free(b);
}

/* `count(id)` differs from the gold query in its text, but is correct. Only execution shows this. */
Test(diff, runs_gold_on_request)
{
    expect(assay("diff", "a.jsonl", "b.jsonl", "--gold", "--db-root", ".", "--format=text"), 1,
           "Right answers by execution, 5 requests: A 4 (80.0 %), B 4 (80.0 %); better 1, worse 1", NULL);
    expect(assay("diff", "a.jsonl", "b.jsonl", "--gold"), 2, NULL, "--db-root");
    write_file("log.jsonl", "{\"id\":\"better\",\"db\":\"shop\",\"candidates\":[],\"gold\":\"SELECT no FROM where\"}\n"
                            "{\"id\":\"twice\",\"db\":\"shop\",\"candidates\":[],\"gold\":\"SELECT 4\"}\n");
    struct run run =
        assay("diff", "a.jsonl", "b.jsonl", "--gold", "--db-root", ".", "--log", "log.jsonl", "--format=text");
    cr_expect_eq(run.status, 1);
    cr_expect(strstr(run.err, "better: not measured: the gold query failed"), "%s", run.err);
    cr_expect(strstr(run.out, "5 requests: A 5 (100.0 %), B 4 (80.0 %); better 0, worse 1"), "%s", run.out);
    cr_expect(strstr(run.out, "Not measured: 2 without gold, 1 whose"), "%s", run.out);
    run_free(&run);
}

Test(diff, options_change_selection)
{
    expect(assay("diff", "a.jsonl", "b.jsonl", "--tolerance=0"), 1, "\"p_correct\":4,", NULL);
    expect(assay("diff", "a.jsonl", "b.jsonl", "--tolerance=0.01"), 1, "\"p_correct\":2,", NULL);
    expect(assay("diff", "a.jsonl", "b.jsonl", "--explanations"), 1, "\"explanations\":1", NULL);
    expect(assay("diff", "a.jsonl", "b.jsonl", "--format=text", "--list=1"), 1, "... and 8 more; --list=0", NULL);
}

Test(diff, lines_without_verdict_are_reported)
{
    write_file("bad.jsonl", "{\"id\":\"same\",\"status\":\"validated\"}\n\nnot json\n{\"id\":\"x\"}\n"
                            "{\"id\":\"x\",\"status\":\"splendid\"}\n[1]\n");
    struct run run = assay("diff", "bad.jsonl", "b.jsonl");
    cr_expect_eq(run.status, 2);
    static const char *const says[] = {"bad.jsonl:3: ", "bad.jsonl:4: not a verdict", "bad.jsonl:5: not a verdict",
                                       "bad.jsonl:6: not a verdict"};
    for (unsigned i = 0; i < G_N_ELEMENTS(says); i++) cr_expect(strstr(run.err, says[i]), "%s", run.err);
    cr_expect(strstr(run.out, "\"bad_lines\":[4,0]"), "%s", run.out);
    run_free(&run);
    write_file("empty.jsonl", "");
    expect(assay("diff", "empty.jsonl", "empty.jsonl"), 2, NULL, "neither file");
    expect(assay("diff", "empty.jsonl", "b.jsonl"), 1, "\"only\":[0,9]", NULL);
    expect(assay("diff", "nowhere.jsonl", "b.jsonl"), 2, NULL, "nowhere.jsonl");
    expect(assay("diff", "a.jsonl", "."), 2, NULL, NULL);
    expect(assay("diff", "a.jsonl"), 2, NULL, "too few");
    expect(assay("diff", "a.jsonl", "b.jsonl", "--format=sarif"), 2, NULL, "does not support the format sarif");
}

/* Checks that assay diff accepts the output of replay, and that its report names the origin. */
Test(diff, output_of_replay_is_accepted)
{
    char *log = shop_log(30);
    write_file("log.jsonl", log);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "-q", "--out", "one.jsonl"), 0, NULL, NULL);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "-q", "--out", "two.jsonl", "--unordered"), 0, NULL, NULL);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "-q", "--out", "three.jsonl", "--family=structure"), 0, NULL,
           NULL);
    expect(assay("diff", "one.jsonl", "two.jsonl", "--explanations", "--gold", "--db-root", "."), 0,
           "\"by\":\"execution\",\"requests\":30,\"right\":[30,30]", NULL);
    expect(assay("diff", "one.jsonl", "three.jsonl"), 1, NULL, NULL);
    g_free(log);
}

/* --- parts ------------------------------------------------------------------------------------------------------ */

Test(diff, index_finds_every_id)
{
    enum { N = 200000 };
    struct diff_ids ids;
    char id[32];
    bool fresh;
    diff_ids_init(&ids);
    for (unsigned i = 0; i < N; i++) {
        g_snprintf(id, sizeof id, "request-%u", i);
        struct diff_id *entry = diff_ids_take(&ids, id, &fresh);
        cr_assert(entry && fresh, "%s", id);
        entry->start = i;
    }
    for (unsigned i = 0; i < N; i += 7) {
        g_snprintf(id, sizeof id, "request-%u", i);
        const struct diff_id *entry = diff_ids_take(&ids, id, &fresh);
        cr_assert(entry && !fresh && entry->start == i, "%s", id);
    }
    cr_expect_null(diff_ids_find(&ids, "request-x"));
    cr_expect_eq(ids.n, N);
    size_t bytes = ids.room * sizeof *ids.all + ids.n_slots * sizeof *ids.slots;
    cr_expect_leq(bytes / N, 64, "%zu bytes an id", bytes / N);
    diff_ids_free(&ids);
}

Test(diff, sign_test_is_exact)
{
    cr_expect_float_eq(learn_sign_test(0, 0), 1, 1e-12);
    cr_expect_float_eq(learn_sign_test(5, 5), 1, 1e-12);
    cr_expect_float_eq(learn_sign_test(1, 0), 1, 1e-12);
    cr_expect_float_eq(learn_sign_test(6, 0), 2.0 / 64, 1e-12);
    cr_expect_float_eq(learn_sign_test(2, 8), 2 * (1 + 10 + 45) / 1024.0, 1e-12);
    cr_expect_float_eq(learn_sign_test(8, 2), learn_sign_test(2, 8), 1e-15);
    cr_expect_float_eq(learn_sign_test(500300, 499700), 0.549093, 1e-4, "%.6f", learn_sign_test(500300, 499700));
    cr_expect_lt(learn_sign_test(1000000, 0), 1e-300);
}
