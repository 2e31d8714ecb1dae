/* The program as its users meet it: exit codes, help, settings and where they come from, documentation. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(program, .init = scratch_begin, .fini = scratch_end);

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

Test(program, says_what_it_is)
{
    expect(assay("--version"), 0, "SQLite 3.", NULL);
    expect(assay("--help"), 0, "Exit status: 0 validated", NULL);
    expect(assay("replay", "--help"), 0, "--db-root=DIR", NULL);
    expect(assay("signals", "--format=csv"), 0, "cartesian_product,join,", NULL);
    expect(assay("signals", "--format=json"), 0, "\"sentence\"", NULL);
}

Test(program, wrong_usage_is_status_2)
{
    expect(assay_with(NULL, (const char *const[]){NULL}), 2, NULL, "which command");
    expect(assay("judge"), 2, NULL, "no command 'judge'");
    expect(assay("check", "--colour"), 2, NULL, "colour");
    expect(assay("check", "SELECT 1"), 2, NULL, "--db=FILE");
    expect(assay("replay"), 2, NULL, "too few arguments");
    expect(assay("replay", "log.jsonl"), 2, NULL, "--db-root");
    expect(assay("replay", "log.jsonl", "--db-root", "nowhere"), 2, NULL, "no folder");
    expect(assay("replay", "log.jsonl", "--db-root", "."), 2, NULL, "log.jsonl");
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--format", "csv"), 2, NULL, "does not write csv");
    expect(assay("signals", "--format=yaml"), 2, NULL, "is one of");
    expect(assay("check", "--db", "shop/shop.sqlite", "--threshold", "2"), 2, NULL, "from 0 to 1");
    expect(assay("index", "show", "nothing.sqlite"), 2, NULL, "db_missing");
    expect(assay("index", "show", "."), 2, NULL, NULL);
}

Test(program, parse_shows_the_tree_or_the_place)
{
    expect(assay_input("SELECT name FROM customer", "parse", "-"), 0, "select", NULL);
    expect(assay_input("SELECT name FORM customer x y", "parse", "-"), 1, NULL, "line 1, column");
    expect(assay_input("DROP TABLE customer", "parse", "-"), 1, NULL, "DROP");
    expect(assay("parse", "nowhere.sql"), 2, NULL, "nowhere.sql");
}

Test(program, index_shows_tables_and_joins)
{
    expect(assay("index", "build", "shop/shop.sqlite"), 0, "3 tables", NULL);
    expect(assay("index", "show", "shop/shop.sqlite", "--format=text"), 0, "orders.customer_id customer.id declared",
           NULL);
    expect(assay("index", "show", "shop/shop.sqlite", "--format=json"), 0, "\"fingerprint\"", NULL);
    expect(assay("index", "show", "shop/shop.sqlite", "--format=csv", "--expose=none"), 0,
           "customer,age,INTEGER,unique (measured),4,4,0,,,", NULL);
    expect(assay("index", "show", "shop/shop.sqlite", "--format=csv"), 0,
           "customer,age,INTEGER,unique (measured),4,4,0,27,60,", NULL);
}

/* Text is broken at spaces, never in a word, and nothing of it is lost. */
Test(program, a_verdict_fits_the_page)
{
    struct run run = assay("check", "--format=text", "--db", "shop/shop.sqlite", "--question",
                           "How many customers are older than 30?",
                           "SELECT name FROM customer JOIN orders ON customer.id = orders.id WHERE age > 3000",
                           "SELECT count(*) FROM customer WHERE age > 30");
    char **lines = g_strsplit(run.out, "\n", -1);
    unsigned listed = 0;
    for (char **line = lines; *line; line++) {
        bool reason = g_str_has_prefix(*line, "  1  ");
        if (reason || strstr(*line, "The query returns")) cr_expect_leq(g_utf8_strlen(*line, -1), 120, "%s", *line);
        listed += reason;
    }
    cr_expect_eq(listed, 1, "the first is passed over with a reason:\n%s", run.out);
    cr_expect(strstr(run.out, "The query returns"), "%s", run.out);
    cr_expect(strstr(run.out, "age 31"), "the paragraph goes on to its end:\n%s", run.out);
    g_strfreev(lines);
    run_free(&run);
    struct run help = assay("--help");
    const char *topics = strstr(help.out, "\n  topics ");
    cr_expect(topics && !strstr(topics + 1, "\n  topics "), "a command is listed once:\n%s", help.out);
    run_free(&help);
}

/* Each source outranks the one before it. */
Test(program, settings_have_an_order)
{
    write_file("etc/assay/config.yaml", "judge: {policy: abstain, max_iterations: 1}\nreplay: {workers: 1}\n");
    write_file("user/assay/config.yaml", "judge:\n  max_iterations: 2\n  threshold: 0.2\n");
    write_file("my.yaml", "judge:\n  threshold: 0.3\n  speculate: 3\n");
    g_setenv("ASSAY_SYSCONFDIR", "etc", TRUE);
    g_setenv("XDG_CONFIG_HOME", "user", TRUE);
    g_setenv("ASSAY_JUDGE_SPECULATE", "4", TRUE);
    g_setenv("ASSAY_JUDGE_DEADLINE_MS", "40", TRUE);
    struct run run = assay("config", "print", "--origin", "--config", "my.yaml");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "policy: abstain  # etc/assay/config.yaml:1"), "%s", run.out);
    cr_expect(strstr(run.out, "max_iterations: 2  # user/assay/config.yaml:2"));
    cr_expect(strstr(run.out, "threshold: 0.3  # my.yaml:2"));
    cr_expect(strstr(run.out, "speculate: 4  # environment ASSAY_JUDGE_SPECULATE"));
    cr_expect(strstr(run.out, "strategy: auto  # default"));
    run_free(&run);
    expect(assay("check", "--deadline-ms=x", "--db", "d"), 2, NULL, "deadline-ms takes a whole number");
}

Test(program, settings_are_refused_with_a_reason)
{
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        {"judge:\n  polcy: ask\n", "bad.yaml:2: there is no setting 'polcy'"},
        {"juge:\n  policy: ask\n", "bad.yaml:1: there is no section 'juge'"},
        {"judge:\n  policy: maybe\n", "policy is one of"},
        {"judge: [1]\n", "expected a mapping"},
        {"judge:\n  policy: ask\n  policy: ask\n", "occurs twice"},
        {"signals:\n  empty_predicat: {enabled: true}\n", "no signal 'empty_predicat'"},
        {"signals:\n  empty_predicate: {enabld: true}\n", "bad.yaml:2:"},
        {"signals:\n  empty_predicate: {enabled: perhaps}\n", "yes or no"},
        {"replay:\n  resume: true\n", "there is no setting 'resume'"},
        {"judge: {policy: ask\n", "bad.yaml:"},
        {"\xff\xfe\x01", "bad.yaml:"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        write_file("bad.yaml", cases[i].yaml);
        expect(assay("config", "check", "--config", "bad.yaml"), 2, NULL, cases[i].says);
    }
    expect(assay("config", "check", "--config", "missing.yaml"), 2, NULL, "missing.yaml");
    g_setenv("ASSAY_REPLAY_WORKRS", "2", TRUE);
    expect(assay("config", "check"), 2, NULL, "ASSAY_REPLAY_WORKRS");
}

Test(program, signals_can_be_set_everywhere)
{
    write_file("assay/config.yaml", "signals:\n  empty_predicate: {enabled: no}\n");
    g_setenv("ASSAY_SIGNALS_CARTESIAN_PRODUCT_ENABLED", "off", TRUE);
    struct run run = assay("signals", "--signal", "fan_out.enabled=no", "--format", "csv");
    cr_expect(strstr(run.out, "empty_predicate,execution,no"), "%s%s", run.out, run.err);
    cr_expect(strstr(run.out, "cartesian_product,join,no"));
    cr_expect(strstr(run.out, "fan_out,join,no"));
    cr_expect(strstr(run.out, "contradiction,structure,yes"));
    run_free(&run);
    expect(assay("signals", "--signal", "fan_out.enabled=no", "--signal", "fan_out.enabled=yes", "--format", "csv"), 0,
           "fan_out,join,yes", NULL);
    expect(assay("signals", "--signal", "fan_out"), 2, NULL, "NAME.KEY=VALUE");
}

Test(program, colour_is_a_choice)
{
    struct run plain = assay_input("SELECT 1 FORM", "parse", "-");
    cr_expect_null(strchr(plain.out, '\033'));
    run_free(&plain);
    g_setenv("CLICOLOR_FORCE", "1", TRUE);
    struct run run = assay("check", "--db", "shop/shop.sqlite", "--format", "text", "SELECT nme FROM customer");
    cr_expect(strchr(run.out, '\033'), "%s%s", run.out, run.err);
    run_free(&run);
    g_setenv("NO_COLOR", "1", TRUE);
    run = assay("check", "--db", "shop/shop.sqlite", "--format", "text", "SELECT nme FROM customer");
    cr_expect_null(strchr(run.out, '\033'));
    run_free(&run);
    run = assay("check", "--db", "shop/shop.sqlite", "--format", "text", "--color=always", "SELECT nme FROM customer");
    cr_expect(strchr(run.out, '\033'));
    run_free(&run);
}

/* --- documentation is printed from the tables ------------------------------------------------------------------------
 */

Test(program, the_configuration_guide_is_current)
{
    struct run run = assay("docs", "configuration");
    char *kept = read_file(SOURCE_ROOT "/docs/configuration.md");
    cr_assert_not_null(kept);
    cr_expect_str_eq(kept, run.out,
                     "docs/configuration.md is out of date: assay docs configuration > docs/configuration.md");
    g_free(kept);
    run_free(&run);
}

static bool only_known_requests(const char *page)
{
    static const char *const known[] = {".TH", ".SH", ".SS", ".TP", ".PP", ".I ", ".nf", ".fi"};
    gchar **lines = g_strsplit(page, "\n", -1);
    bool good = true;
    for (gchar **line = lines; *line; line++) {
        bool found = (*line)[0] != '.' && (*line)[0] != '\'';
        for (unsigned i = 0; i < G_N_ELEMENTS(known); i++) found |= g_str_has_prefix(*line, known[i]);
        good &= found;
    }
    g_strfreev(lines);
    return good;
}

Test(program, every_command_has_a_manual_page)
{
    static const char *const names[] = {"check",   "replay", "eval",  "train", "mutate",
                                        "signals", "index",  "parse", "config"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        struct run run = assay("docs", "man", names[i]);
        cr_expect(g_str_has_prefix(run.out, ".TH ASSAY\\-"), "%s", run.out);
        cr_expect(strstr(run.out, ".SH OPTIONS") && strstr(run.out, ".SH EXIT STATUS"));
        cr_expect(only_known_requests(run.out), "%s: a line would be read as a troff request", names[i]);
        run_free(&run);
    }
    expect(assay("docs", "man"), 0, "\\fBassay\\-replay\\fR(1)", NULL);
}

/* The completion, asked as bash would ask it. */
static void completes(const char *words, int at, const char *want)
{
    struct run docs = assay("docs", "bash");
    char *script = g_strdup_printf(
        "%s\ncompopt() { :; }\nCOMP_WORDS=(%s)\nCOMP_CWORD=%d\n_assay\nprintf '%%s\\n' \"${COMPREPLY[@]}\"\n", docs.out,
        words, at);
    const char *argv[] = {"bash", "-c", script, NULL};
    char *out = NULL, *err = NULL;
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, NULL, NULL));
    char *line = g_strdup_printf("\n%s\n", want), *all = g_strdup_printf("\n%s", out);
    cr_expect(strstr(all, line), "no '%s' for '%s' in:\n%s%s", want, words, out, err);
    g_free(line);
    g_free(all);
    g_free(out);
    g_free(err);
    g_free(script);
    run_free(&docs);
}

Test(program, bash_completes)
{
    completes("assay re", 1, "replay");
    completes("assay replay --un", 2, "--unordered");
    completes("assay check --pol", 2, "--policy=");
    completes("assay check --policy = as", 4, "ask");
    completes("assay check --policy =", 3, "best_effort");
}
