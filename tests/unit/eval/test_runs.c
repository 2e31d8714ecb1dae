/* Tests runs: the index of a file of verdicts, queries on the index, its renewal, and hostile files. */
#include "eval/runs/run_index.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void begin(void)
{
    scratch_begin();
}

static void end(void)
{
    scratch_end();
    leak_check();
}

TestSuite(runs, .init = begin, .fini = end);

#define FIRED(name)  "\"" name "\":\"fired\""
#define SILENT(name) "\"" name "\":\"silent\""

/* Returns a verdict as one line. A negative p makes it abstained. */
static char *verdict_line(const char *id, const char *db, double p, const char *signals, double ms)
{
    if (p < 0)
        return g_strdup_printf(
            "{\"schema_version\":2,\"id\":\"%s\",\"db\":\"%s\",\"status\":\"abstained\",\"reason\":"
            "\"invalid_sql\",\"sql\":null,\"chosen\":null,\"p_correct\":null,\"candidates\":[{\"signals\":{%s}}],"
            "\"iterations\":1,\"timings\":{\"total_ms\":%g},\"gold\":\"SELECT 1\"}\n",
            id, db, signals, ms);
    return g_strdup_printf(
        "{\"schema_version\":2,\"id\":\"%s\",\"db\":\"%s\",\"status\":\"%s\",\"sql\":\"SELECT %d\",\"chosen\":1,"
        "\"p_correct\":%g,\"threshold\":0.5,\"candidates\":[{\"signals\":null},{\"signals\":{%s}}],\"iterations\":2,"
        "\"timings\":{\"total_ms\":%g},\"gold\":\"SELECT 1\"}\n",
        id, db, p >= 0.5 ? "validated" : "best_effort", p >= 0.5, p, signals, ms);
}

/* Writes ten verdicts: q-0 to q-8 with P(correct) from 0.1 to 0.9 and rising times, and "late" without P(correct).
 * Those with at least 0.5 are right. */
static void write_run(const char *path)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < 9; i++) {
        char *id = g_strdup_printf("q-%d", i),
             *line = verdict_line(id, i % 2 ? "shop" : "other", 0.1 * (i + 1),
                                  i < 3 ? FIRED("fan_out") "," SILENT("null_first") : SILENT("fan_out"), i + 1);
        g_string_append(text, line);
        g_free(line);
        g_free(id);
    }
    char *line = verdict_line("late", "shop", -1, "", 99);
    g_string_append(text, line);
    g_free(line);
    write_file(path, text->str);
    g_string_free(text, TRUE);
}

static struct run_index *built(const char *path)
{
    const struct run_index_build build = {.path = path};
    struct run_index *run = NULL;
    struct err err = {0};
    cr_assert_eq(run_index_take(&build, &run, &err), ERR_OK, "%s", err.text);
    cr_assert(run);
    return run;
}

/* Returns the ids that a filter finds, as "q-1 q-2"; *total is their number. Free with g_free. */
static char *found(struct run_index *run, struct run_filter filter, int *total)
{
    struct err err = {0};
    json_t *page = run_index_query(run, &filter, &err), *row;
    GString *ids = g_string_new(NULL);
    size_t i;
    cr_assert(page, "%s", err.text);
    json_array_foreach(json_object_get(page, "verdicts"), i, row)
        g_string_append_printf(ids, "%s%s", i ? " " : "", json_string_value(json_object_get(row, "id")));
    if (total) *total = (int)json_integer_value(json_object_get(page, "total"));
    json_decref(page);
    return g_string_free(ids, FALSE);
}

static void expect_found(struct run_index *run, struct run_filter filter, const char *ids, int total)
{
    int n = 0;
    char *got = found(run, filter, &n);
    cr_expect_str_eq(got, ids);
    cr_expect_eq(n, total, "%s: %d", ids, n);
    g_free(got);
}

static long long count_of(const struct run_index *run, const char *key)
{
    return (long long)json_integer_value(json_object_get(run_index_summary(run), key));
}

Test(runs, runs_are_filtered_sorted_and_paged)
{
    write_run("run.jsonl");
    struct run_index *run = built("run.jsonl");
    struct run_filter f = RUN_FILTER_ALL;
    f.limit = 3;
    f.offset = 2;
    expect_found(run, f, "q-2 q-3 q-4", 10);
    f = RUN_FILTER_ALL;
    f.status = MSG_STATUS_ABSTAINED;
    expect_found(run, f, "late", 1);
    f = RUN_FILTER_ALL;
    f.signal = "fan_out";
    expect_found(run, f, "q-0 q-1 q-2", 3);
    f.db = "shop";
    expect_found(run, f, "q-1", 1);
    f.signal = "never_heard_of";
    expect_found(run, f, "", 0);
    f = RUN_FILTER_ALL;
    f.p_from = 0.35;
    f.p_to = 0.65;
    f.sort = RUN_BY_SUREST;
    expect_found(run, f, "q-5 q-4 q-3", 3);
    f = RUN_FILTER_ALL;
    f.sort = RUN_BY_SLOWEST;
    f.limit = 2;
    expect_found(run, f, "late q-8", 10);
    f = RUN_FILTER_ALL;
    f.reason = "invalid_sql";
    expect_found(run, f, "late", 1);
    f = RUN_FILTER_ALL;
    f.text = "Q-7";
    expect_found(run, f, "q-7", 1);
    f.text = "%"; /* matches literally, not as a pattern */
    expect_found(run, f, "", 0);
    f.text = "' OR 1 --";
    expect_found(run, f, "", 0);
    run_index_close(run);
}

Test(runs, verdicts_are_read_at_their_offset)
{
    write_run("run.jsonl");
    struct run_index *run = built("run.jsonl");
    struct err err = {0};
    json_t *verdict = run_index_verdict(run, 10, &err);
    cr_assert(verdict, "%s", err.text);
    cr_expect_str_eq(json_string_value(json_object_get(verdict, "id")), "late");
    json_decref(verdict);
    cr_expect_null(run_index_verdict(run, 11, &err));
    cr_expect_eq(err.code, ERR_REFUSED);
    cr_expect_null(run_index_verdict(run, 0, &err));
    run_index_close(run);
}

/* An index of another file, version or kind is rejected. If the file has grown, it is indexed again. */
Test(runs, stale_index_is_rebuilt)
{
    struct run_index *run = NULL;
    write_run("run.jsonl");
    run_index_close(built("run.jsonl"));
    cr_assert_eq(run_index_open("run.jsonl", &run, NULL), ERR_OK);
    cr_assert(run);
    run_index_close(run);
    char *line = verdict_line("resumed", "shop", 0.7, "", 1), *text = read_file("run.jsonl"),
         *longer = g_strconcat(text, line, NULL);
    write_file("run.jsonl", longer);
    cr_assert_eq(run_index_open("run.jsonl", &run, NULL), ERR_OK);
    cr_expect_null(run, "a file that has grown");
    run = built("run.jsonl");
    cr_expect_eq(run_index_verdicts(run), 11);
    run_index_close(run);
    struct stat status;
    cr_assert_eq(stat("run.jsonl", &status), 0);
    char *same = g_strdup(longer);
    memcpy(strstr(same, "q-3"), "z-3", 3);
    write_file("run.jsonl", same);
    struct timespec times[2] = {status.st_atim, status.st_mtim};
    cr_assert_eq(utimensat(AT_FDCWD, "run.jsonl", times, 0), 0);
    cr_assert_eq(run_index_open("run.jsonl", &run, NULL), ERR_OK);
    cr_expect_null(run, "of the same size and time, and other bytes");
    write_file("run.jsonl.index", "no database at all");
    run = built("run.jsonl");
    struct run_filter f = RUN_FILTER_ALL;
    f.text = "z-3";
    expect_found(run, f, "z-3", 1);
    run_index_close(run);
    g_free(same);
    g_free(longer);
    g_free(text);
    g_free(line);
}

static bool stop_at_once(void *ctx, const struct run_progress *progress)
{
    ++*(int *)ctx;
    cr_expect_gt(progress->size, 0);
    return false;
}

/* An index that is cancelled while it is built leaves no file. */
Test(runs, cancelled_index_leaves_no_file)
{
    int asked = 0;
    write_run("run.jsonl");
    const struct run_index_build build = {.path = "run.jsonl", .progress = stop_at_once, .ctx = &asked};
    struct run_index *run = NULL;
    cr_expect_eq(run_index_build(&build, NULL), ERR_CANCELLED);
    cr_expect_eq(asked, 1);
    cr_assert_eq(run_index_open("run.jsonl", &run, NULL), ERR_OK);
    cr_expect_null(run);
    GDir *dir = g_dir_open(".", 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir))) cr_expect_null(strstr(name, ".index"), "%s", name);
    g_dir_close(dir);
}

/* A last line that a kill truncated, lines that are not verdicts, and an overlong line are counted. They do not affect
 * other lines. */
Test(runs, broken_lines_are_counted_and_left_out)
{
    write_run("whole.jsonl");
    char *whole = read_file("whole.jsonl"), *deep = g_strnfill(5000, '['), *filler = g_strnfill(RUN_LINE_BYTES, 'x');
    char *text = g_strdup_printf(
        "%s{}\n[1]\n{\"id\":7,\"status\":\"validated\"}\n{\"id\":\"a\",\"status\":\"great\"}\n%s\n"
        "{\"id\":\"long\",\"status\":\"failed\",\"x\":\"%s\"}\n{\"schema_version\":2,\"id\":\"torn\",\"sta",
        whole, deep, filler);
    write_file("run.jsonl", text);
    struct run_index *run = built("run.jsonl");
    cr_expect_eq(run_index_verdicts(run), 10);
    cr_expect_eq(count_of(run, "broken_lines"), 6);
    cr_expect_eq(count_of(run, "long_lines"), 1);
    run_index_close(run);
    write_file("none.jsonl", "{}\n{}\n");
    const struct run_index_build build = {.path = "none.jsonl"};
    cr_expect_eq(run_index_take(&build, &run, NULL), ERR_MALFORMED);
    cr_expect_null(run);
    cr_expect_eq(run_index_take(&(struct run_index_build){.path = "nowhere.jsonl"}, &run, NULL), ERR_IO);
    g_free(text);
    g_free(filler);
    g_free(deep);
    g_free(whole);
}

/* The file has more signals than a bit set holds, names as long as a line, and invalid values. */
Test(runs, hostile_names_and_numbers_are_bounded)
{
    GString *signals = g_string_new(NULL);
    for (int i = 0; i < 200; i++) g_string_append_printf(signals, "%s\"signal_%d\":\"fired\"", i ? "," : "", i);
    char *name = g_strnfill(3000, 'n'), *line = verdict_line("many", name, 0.5, signals->str, 1);
    char *text = g_strdup_printf(
        "%s{\"id\":\"odd\",\"status\":\"failed\",\"p_correct\":1e308,\"chosen\":99999999999,\"candidates\":7,"
        "\"iterations\":-5,\"timings\":[],\"db\":3,\"threshold\":\"x\",\"reason\":\"<script>\"}\n",
        line);
    write_file("run.jsonl", text);
    struct run_index *run = built("run.jsonl");
    struct run_filter f = RUN_FILTER_ALL;
    cr_expect_eq(run_index_verdicts(run), 2);
    f.signal = "signal_62";
    expect_found(run, f, "many", 1);
    f.signal = "signal_150";
    expect_found(run, f, "", 0);
    f.signal = RUN_OTHERS;
    expect_found(run, f, "many", 1);
    const json_t *databases = json_object_get(run_index_summary(run), "databases");
    for (size_t i = 0; i < json_array_size(databases); i++)
        cr_expect_leq(json_string_length(json_object_get(json_array_get(databases, i), "db")), RUN_NAME_BYTES);
    run_index_close(run);
    g_free(text);
    g_free(line);
    g_free(name);
    g_string_free(signals, TRUE);
}

/* In this run five of nine answers are right, and fan_out fires on three wrong ones. */
Test(runs, measures_use_labels)
{
    char *roots[] = {(char *)"."};
    const struct worker_databases databases = {.roots = (const char *const *)roots, .n_roots = 1};
    const struct run_index_build labelled = {.path = "run.jsonl", .databases = &databases};
    struct run_index *run = NULL;
    write_run("whole.jsonl");
    char *whole = read_file("whole.jsonl");
    char **parts = g_strsplit(whole, "\"db\":\"other\"", -1);
    char *text = g_strjoinv("\"db\":\"shop\"", parts);
    write_file("run.jsonl", text);
    run = built("run.jsonl");
    cr_expect(json_is_null(json_object_get(run_index_summary(run), "coverage")), "nothing is known");
    run_index_close(run);
    cr_assert_eq(run_index_take(&labelled, &run, NULL), ERR_OK);
    const json_t *summary = run_index_summary(run), *labels = json_object_get(summary, "labels"),
                 *signal = json_array_get(json_object_get(summary, "signals"), 0),
                 *points = json_object_get(json_object_get(summary, "coverage"), "points");
    cr_expect_eq(json_integer_value(json_object_get(labels, "known")), 9);
    cr_expect_eq(json_integer_value(json_object_get(labels, "right")), 5);
    cr_expect_eq(json_integer_value(json_object_get(labels, "unanswered")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(signal, "signal")), "fan_out");
    cr_expect_float_eq(json_number_value(json_object_get(signal, "precision")), 1, 1e-9);
    cr_expect_float_eq(json_number_value(json_object_get(signal, "lift")), 9 / 4.0, 1e-5);
    cr_assert_eq(json_array_size(points), 9);
    cr_expect_float_eq(json_number_value(json_array_get(json_array_get(points, 4), 1)), 0.5,
                       1e-9); /* share of ten requests */
    cr_expect_float_eq(json_number_value(json_array_get(json_array_get(points, 4), 2)), 0, 1e-9);
    cr_expect_float_eq(json_number_value(json_array_get(json_array_get(points, 8), 2)), 4 / 9.0, 1e-5);
    run_index_close(run);
    run = built("run.jsonl"); /* the index files still exist */
    struct run_filter f = RUN_FILTER_ALL;
    f.right = 0;
    f.sort = RUN_BY_SUREST;
    expect_found(run, f, "q-3 q-2 q-1 q-0", 4);
    f = RUN_FILTER_ALL;
    f.sort = RUN_BY_TELLING;
    f.limit = 2;
    expect_found(run, f, "q-3 q-2", 10);
    run_index_close(run);
    g_free(text);
    g_strfreev(parts);
    g_free(whole);
}
