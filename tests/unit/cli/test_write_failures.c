/* Tests output that cannot be written. The user must see the reason, and the exit status must be 2. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

TestSuite(write_failures, .init = scratch_begin, .fini = scratch_end);

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect_refused(struct run run, const char *what, const char *why)
{
    char *shown = g_strdup_printf("%s: cannot be written: %s", what, why);
    cr_expect_eq(run.status, 2, "%s: status %d\n%s", what, run.status, run.err);
    cr_expect(strstr(run.err, shown), "no '%s' in:\n%s", shown, run.err);
    cr_expect_null(strstr(run.err, "Success"), "%s", run.err);
    g_free(shown);
    run_free(&run);
}

static void make_log(unsigned n)
{
    char *log = shop_log(n);
    write_file("log.jsonl", log);
    g_free(log);
}

Test(write_failures, full_stdout_names_its_reason)
{
    static const char question[] = "How many customers are there?", sql[] = "SELECT count(*) FROM customer";
    make_log(40);
    struct run verdicts = assay("replay", "log.jsonl", "--db-root", ".", "--out", "v.jsonl");
    cr_assert_eq(verdicts.status, 0, "%s", verdicts.err);
    run_free(&verdicts);
    const char *const *const commands[] = {
        ARGS("--help"),
        ARGS("--version"),
        ARGS("check", "--help=all"),
        ARGS("check", "--db", "shop/shop.sqlite", "--question", question, sql),
        ARGS("check", "--format=json", "--db", "shop/shop.sqlite", "--question", question, sql),
        ARGS("explain", "--db", "shop/shop.sqlite", sql),
        ARGS("fix", "--db", "shop/shop.sqlite", "--question", question, sql),
        ARGS("replay", "log.jsonl", "--db-root", ".", "--format=jsonl"),
        ARGS("replay", "log.jsonl", "--db-root", ".", "--format=csv"),
        ARGS("diff", "v.jsonl", "v.jsonl"),
        ARGS("report", "v.jsonl"),
        ARGS("eval", "log.jsonl", "--db-root", "."),
        ARGS("eval", "log.jsonl", "--db-root", ".", "--gold"),
        ARGS("mutate", "--db", "shop/shop.sqlite", sql),
        ARGS("mutate", "log.jsonl", "--db-root", "."),
        ARGS("link", "export", "log.jsonl", "--db-root", ".", "--out", "-"),
        ARGS("train", "export", "log.jsonl", "--db-root", ".", "--out", "-"),
        ARGS("doctor", "--db", "shop/shop.sqlite"),
        ARGS("signals", "--format=json"),
        ARGS("index", "show", "shop/shop.sqlite"),
        ARGS("parse", sql),
        ARGS("config", "print"),
        ARGS("docs", "configuration"),
        ARGS("docs", "man", "check"),
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++)
        expect_refused(assay_onto("/dev/full", commands[i]), "standard output", "No space left on device");
}

Test(write_failures, full_file_names_path_and_reason)
{
    make_log(200);
    expect_refused(assay("replay", "log.jsonl", "--db-root", ".", "--force", "--out", "/dev/full"), "/dev/full",
                   "No space left on device");
    expect_refused(assay("link", "export", "log.jsonl", "--db-root", ".", "--out", "/dev/full"), "/dev/full",
                   "No space left on device");
    expect_refused(assay("train", "export", "log.jsonl", "--db-root", ".", "--out", "/dev/full"), "/dev/full",
                   "No space left on device");
    expect_refused(assay("eval", "log.jsonl", "--db-root", ".", "--labels", "/dev/full"), "/dev/full",
                   "No space left on device");
    expect_refused(assay("replay", "log.jsonl", "--db-root", ".", "--out", "none/v.jsonl"), "none/v.jsonl",
                   "No such file or directory");
}

Test(write_failures, file_size_limit_is_an_error)
{
    make_log(200);
    expect_refused(assay_within(4096, ARGS("replay", "log.jsonl", "--db-root", ".", "--out", "v.jsonl")), "v.jsonl",
                   "File too large");
    expect_refused(assay_within(4096, ARGS("docs", "configuration")), "standard output", "File too large");
    expect_refused(assay_within(4096, ARGS("replay", "log.jsonl", "--db-root", ".")), "standard output",
                   "File too large");
}

/* The reader of the pipe reads one line and closes it. */
Test(write_failures, gone_pipe_reader_is_no_error)
{
    char *error = NULL, *out = NULL;
    int status = 0;
    make_log(400);
    char *command = g_strdup_printf(
        "bash -c 'set -o pipefail; %s replay log.jsonl --db-root . --format=jsonl | head -1'", ASSAY_BINARY);
    cr_assert(g_spawn_command_line_sync(command, &out, &error, &status, NULL));
    cr_expect_eq(status, 0, "%d: %s", status, error);
    cr_expect_null(strstr(error, "cannot be written"), "%s", error);
    cr_expect(g_str_has_prefix(out, "{"), "%s", out);
    g_free(command);
    g_free(out);
    g_free(error);
}

/* The file that a command writes is a SQLite file. */
Test(write_failures, sqlite_file_at_size_limit_names_reason)
{
    make_log(200);
    struct run verdicts = assay("replay", "log.jsonl", "--db-root", ".", "--out", "v.jsonl");
    cr_assert_eq(verdicts.status, 0, "%s", verdicts.err);
    run_free(&verdicts);
    const char *const *const commands[] = {
        ARGS("report", "v.jsonl"),
        ARGS("examples", "build", "log.jsonl", "--db-root", ".", "--out", "e.sqlite"),
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++) {
        struct run run = assay_within(8192, commands[i]);
        cr_expect_eq(run.status, 2, "%s", run.err);
        cr_expect(strstr(run.err, "disk I/O error: File too large"), "%s", run.err);
        run_free(&run);
    }
}
