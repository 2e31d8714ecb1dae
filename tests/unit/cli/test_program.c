/* Tests the program as users see it: exit codes, help, settings and their sources, documentation. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static const char *const command_names[] = {
#define COMMAND(name) #name,
#define HIDDEN_COMMAND(name)
#include "cli/commands/list.h"
};

TestSuite(program, .init = scratch_begin, .fini = scratch_end);

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    run_free(&run);
}

Test(program, version_is_printed)
{
    expect(assay("--version"), 0, "SQLite 3.", NULL);
    expect(assay("--help"), 0, "Exit status: 0 validated", NULL);
    expect(assay("replay", "--help"), 0, "--db-root=DIR", NULL);
    expect(assay("replay", "--help=all"), 0, "--index-cache-bytes=BYTES", NULL);
    expect(assay("replay", "--help=some"), 2, NULL, "--help=all");
    expect(assay("replay", "--usage"), 0, "Usage: assay replay", NULL);
    expect(assay("replay", "--version"), 0, "SQLite 3.", NULL);
    expect(assay("-h"), 0, "Exit status: 0 validated", NULL);
    expect(assay("help"), 0, "Exit status: 0 validated", NULL);
    expect(assay("check", "-h"), 0, "--db=FILE", NULL);
    expect(assay("help", "check"), 0, "--db=FILE", NULL);
    expect(assay("version"), 0, "SQLite 3.", NULL);
    expect(assay("-V"), 0, "SQLite 3.", NULL);
    expect(assay("signals", "--format=csv"), 0, "cartesian_product,join,", NULL);
    expect(assay("signals", "--format=json"), 0, "\"sentence\"", NULL);
}

Test(program, wrong_usage_is_status_2)
{
    expect(assay_with(NULL, (const char *const[]){NULL}), 2, NULL, "missing command");
    expect(assay("judge"), 2, NULL, "unknown command 'judge'");
    expect(assay("chek"), 2, NULL, "did you mean check?");
    expect(assay("help", "chek"), 2, NULL, "did you mean check?");
    expect(assay("halp"), 2, NULL, "did you mean help?");
    expect(assay("check", "--colour"), 2, NULL, "did you mean --color?");
    expect(assay("check", "--questoin", "x"), 2, NULL, "check has no flag '--questoin': did you mean --question?");
    expect(assay("check", "--zzzz"), 2, NULL, "check has no flag '--zzzz'\nhint: ");
    expect(assay("check", "-c", "--colour", "--question", "--questoin"), 2, NULL, "--colour: cannot be read");
    expect(assay("parse", "--", "--colour"), 2, NULL, "--colour");
    expect(assay("check", "--db", "shop/shop.sqlite", "SELECT 1"), 2, NULL, "--question=TEXT");
    expect(assay("check", "--db", "shop/shop.sqlite", "--question", "", "SELECT 1"), 2, NULL, "--question=TEXT");
    expect(assay("check", "--db", "shop/shop.sqlite", "--question", " \xC2\xA0\n", "SELECT 1"), 2, NULL,
           "--question=TEXT");
    expect(assay("check", "SELECT 1"), 2, NULL, "--db=FILE");
    expect(assay("replay"), 2, NULL, "too few arguments");
    expect(assay("replay", "log.jsonl"), 2, NULL, "--db-root");
    expect(assay("replay", "log.jsonl", "--db-root", "nowhere"), 2, NULL, "not a directory");
    expect(assay("replay", "log.jsonl", "--db-root", "."), 2, NULL, "log.jsonl");
    expect(assay("eval", "log.jsonl", "--db-root", ".", "--format", "csv"), 2, NULL, "does not support the format csv");
    expect(assay("signals", "--format=yaml"), 2, NULL, "must be one of");
    expect(assay("check", "--db", "shop/shop.sqlite", "--threshold", "2"), 2, NULL, "from 0 to 1");
    expect(assay("index", "show", "nothing.sqlite"), 2, NULL, "db_missing");
    expect(assay("index", "show", "."), 2, NULL, NULL);
}

/* The help of a command begins with about twenty important lines. It names existing flags, and tells where the other
 * flags are described. */
Test(program, help_is_short)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(command_names); i++) {
        struct run brief = assay(command_names[i], "--help"), all = assay(command_names[i], "--help=all");
        gchar **lines = g_strsplit(brief.out, "\n", -1);
        unsigned of_flags = 0;
        for (gchar **line = lines; *line; line++) of_flags += g_str_has_prefix(*line, "  ") != 0;
        cr_expect_leq(of_flags, 20, "%u lines of flags\n%s", of_flags, brief.out);
        cr_expect_leq(g_strv_length(lines), 28, "%s", brief.out);
        cr_expect(strstr(brief.out, "--help=all") && !*brief.err, "%s%s", brief.out, brief.err);
        cr_expect_lt(strlen(brief.out), strlen(all.out), "%s", command_names[i]);
        for (gchar **line = lines; *line; line++) { /* checks that each flag in the help exists */
            const char *flag = strstr(*line, " --");
            char *name = flag ? g_strndup(flag, 3 + strcspn(flag + 3, "= [")) : NULL;
            if (name && g_str_has_prefix(*line, "  "))
                cr_expect(strstr(all.out, name), "%s: %s", command_names[i], name);
            g_free(name);
        }
        g_strfreev(lines);
        run_free(&brief);
        run_free(&all);
    }
}

/* The program finds the models next to itself, even if its path contains symbolic links. */
Test(program, models_are_found_through_links)
{
    static const char *const ways[] = {"tree/build/asan/cli/assay", "bin/assay", "again"};
    char *copy =
        g_strdup_printf("mkdir -p tree far/asan/cli bin && cp '%s' far/asan/cli/assay && ln -s ../far tree/build && "
                        "ln -s '%s/models' tree/models && ln -s ../tree/build/asan/cli/assay bin/assay && "
                        "ln -s bin/assay again",
                        ASSAY_BINARY, SOURCE_ROOT);
    cr_assert_eq(system(copy), 0);
    g_unsetenv("ASSAY_MODELS");
    for (unsigned i = 0; i < G_N_ELEMENTS(ways); i++) {
        char *path = g_canonicalize_filename(ways[i], NULL), *out = NULL, *err = NULL;
        const char *argv[] = {path, "check", "--db", "shop/shop.sqlite", "--question", "q", "SELECT 1", NULL};
        cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, &out, &err, NULL, NULL));
        cr_expect(strstr(out, "label_model.json "), "%s: %s%s", ways[i], out, err);
        g_free(out);
        g_free(err);
        g_free(path);
    }
    g_free(copy);
}

/* --- inputs ------------------------------------------------------------------------------------------------------- */

#define BOM  "\xEF\xBB\xBF"
#define LINE "{\"id\":\"a\",\"db\":\"shop\",\"question\":\"q\",\"gold\":\"SELECT 1\",\"candidates\":[\"SELECT 1\"]}\n"

/* A byte-order mark at the start of a file is not part of its text. */
Test(program, byte_order_mark_is_skipped)
{
    write_file("log.jsonl", BOM LINE);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "--out", "out.jsonl", "--quiet"), 0, NULL, NULL);
    expect(assay_input(BOM LINE, "replay", "-", "--db-root", "."), 0, "\"id\":\"a\"", NULL);
    expect(assay("eval", "log.jsonl", "--db-root", "."), 0, "1 questions", NULL);
    expect(assay("mutate", "log.jsonl", "--db-root", "."), 0, "\"candidates\"", NULL);
    char *out = read_file("out.jsonl"), *marked = g_strconcat(BOM, out, NULL);
    write_file("marked.jsonl", marked);
    expect(assay("diff", "out.jsonl", "marked.jsonl"), 0, NULL, NULL);
    expect(assay("diff", "marked.jsonl", "out.jsonl", "--log", "log.jsonl"), 0, NULL, NULL);
    expect(assay("replay", "log.jsonl", "--db-root", ".", "--out", "marked.jsonl", "--resume"), 0, NULL, NULL);
    g_free(out);
    g_free(marked);
    expect(assay_input(BOM "SELECT 1", "parse", "-"), 0, "(literal int 1)", NULL);
    expect(assay_input(BOM "SELECT name FROM customer", "explain", "--db", "shop/shop.sqlite"), 0, NULL, NULL);
    struct run run =
        assay_input(BOM "SELECT 1;\n", "check", "--db", "shop/shop.sqlite", "--question", "q", "--format=json");
    cr_expect(strstr(run.out, "\"sql\": \"SELECT 1;\""), "%s", run.out);
    run_free(&run);
    write_file("my.yaml", BOM "judge:\n  policy: abstain\n");
    expect(assay("config", "print", "--config", "my.yaml"), 0, "policy: abstain", NULL);
}

/* A file that is not a log is reported once; a log with a damaged line is read to its end. */
Test(program, binary_file_is_reported_once)
{
    write_file("bin.jsonl", "\x1f\x8b\x08\n\x01\n\x02\n\x03\n");
    static const char *const commands_of[][6] = {{"replay", "bin.jsonl", "--db-root", "."},
                                                 {"eval", "bin.jsonl", "--db-root", "."},
                                                 {"mutate", "bin.jsonl", "--db-root", "."},
                                                 {"diff", "bin.jsonl", "bin.jsonl"},
                                                 {"train", "label-model", "bin.jsonl", "--db-root=.", "--out=m.json"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(commands_of); i++) {
        struct run run = assay_with(NULL, (const char *const[]){commands_of[i][0], commands_of[i][1], commands_of[i][2],
                                                                commands_of[i][3], commands_of[i][4], NULL});
        cr_expect_eq(run.status, 2, "%s: %s", commands_of[i][0], run.err);
        const char *first = strstr(run.err, "not a text file: byte 1 is 0x1f");
        cr_expect(first && !strstr(first + 1, "assay:"), "%s: %s", commands_of[i][0], run.err);
        run_free(&run);
    }
    expect(assay_input("\x1f\x8b\x08\n", "replay", "-", "--db-root", "."), 2, NULL, "not a text file");
    write_file("damaged.jsonl", "\x01\x02\n" LINE);
    expect(assay("replay", "damaged.jsonl", "--db-root", "."), 1, "\"id\":\"a\"", "damaged.jsonl:1:");
}

static void expect_no_log(const char *const *argv)
{
    struct run run = assay_with(NULL, argv);
    unsigned said = 0;
    for (const char *c = run.err; (c = strstr(c, "assay: log.jsonl")); c++) said++;
    cr_expect_eq(run.status, 2, "%s: status %d", argv[0], run.status);
    cr_expect(strstr(run.err, "this is no log") && said <= 5, "%s: %s", argv[0], run.err);
    run_free(&run);
}

/* A file of text that is not a log is not read to its end. A log may begin with damaged lines, and contain more of
 * them. */
Test(program, file_without_requests_stops_early)
{
    static const char *const texts[] = {"id,db,question\n1,shop,a\n2,shop,b\n3,shop,c\n4,shop,d\n5,shop,e\n6,shop,f\n",
                                        "# A shop\n\nIt sells.\nAnd\nbuys.\n\n## Where\n\nThere\nand\nthere.\n",
                                        "{\n  \"id\": \"a\",\n  \"db\": \"shop\",\n  \"question\": \"q\",\n"
                                        "  \"gold\": \"SELECT 1\",\n  \"candidates\": [\n    \"SELECT 1\"\n  ]\n}\n",
                                        "1\n[2]\n\"3\"\nnull\n5\n6\n7\n8\n"};
    static const char *const commands_of[][6] = {{"replay", "log.jsonl", "--db-root", "."},
                                                 {"eval", "log.jsonl", "--db-root", "."},
                                                 {"mutate", "log.jsonl", "--db-root", "."},
                                                 {"diff", "log.jsonl", "good.jsonl"},
                                                 {"diff", "good.jsonl", "log.jsonl"},
                                                 {"diff", "good.jsonl", "good.jsonl", "--log", "log.jsonl"},
                                                 {"train", "label-model", "log.jsonl", "--db-root=.", "--out=m.json"}};
    write_file("good.jsonl", "{\"schema_version\":2,\"id\":\"a\",\"status\":\"failed\",\"candidates\":[]}\n");
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        write_file("log.jsonl", texts[i]);
        for (unsigned k = 0; k < G_N_ELEMENTS(commands_of); k++) expect_no_log(commands_of[k]);
        expect(assay_input(texts[i], "replay", "-", "--db-root", "."), 2, NULL, "this is no log");
    }
    write_file("log.jsonl", "a\nb\nc\nd\n" LINE "e\nf\ng\nh\ni\nj\n");
    expect(assay("replay", "log.jsonl", "--db-root", "."), 1, "\"id\":\"a\"", "10 bad lines skipped");
}

Test(program, empty_log_is_reported)
{
    static const char *const texts[] = {"", "\n \n", BOM};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        write_file("log.jsonl", texts[i]);
        expect(assay("replay", "log.jsonl", "--db-root", "."), 0, NULL, "log.jsonl is empty");
        expect(assay("eval", "log.jsonl", "--db-root", "."), 2, NULL, "log.jsonl is empty");
        expect(assay("mutate", "log.jsonl", "--db-root", "."), 0, NULL, "log.jsonl is empty");
        expect(assay_input(texts[i], "replay", "-", "--db-root", "."), 0, NULL, "- is empty");
    }
}

Test(program, parse_shows_tree_or_error_location)
{
    expect(assay_input("SELECT name FROM customer", "parse", "-"), 0, "select", NULL);
    expect(assay_input("SELECT name FORM customer x y", "parse", "-"), 1, NULL, "line 1, column");
    expect(assay_input("DROP TABLE customer", "parse", "-"), 1, NULL, "DROP");
    expect(assay("parse", "nowhere.sql"), 2, NULL, "nowhere.sql");
    expect(assay("parse", "SELECT name FROM customer"), 0, "select", NULL);
    expect(assay_input("SELECT name FROM customer", "parse"), 0, "select", NULL);
    expect(assay("parse", "SELECT name FORM customer x y"), 1, NULL, "line 1, column");
    write_file("a query.sql", "SELECT name FROM customer");
    expect(assay("parse", "a query.sql"), 0, "select", NULL);
}

/* Three queries join orders.quantity with a key. The schema does not declare this reference. */
Test(program, index_learns_and_imports_keys)
{
    write_file("queries.jsonl",
               "{\"db\":\"shop\",\"sql\":\"SELECT 1 FROM orders o JOIN product p ON p.id = o.quantity\"}\n"
               "{\"db\":\"shop\",\"sql\":\"SELECT 2 FROM orders o JOIN product p ON p.id = o.quantity\"}\n"
               "{\"db\":\"shop\",\"gold\":\"SELECT 3 FROM orders o JOIN product p ON p.id = o.quantity\"}\n");
    expect(assay("index", "learn", "queries.jsonl", "--db-root", "."), 0,
           "# shop\nkeys:\n  - \"orders.quantity -> product.id\" # 3 queries\n", NULL);
    write_file("queries.jsonl", "{\"db\":\"shop\"}\n{\"db\":\"shop\",\"sql\":\"SELECT FROM\"}\n");
    expect(assay("index", "learn", "queries.jsonl", "--db-root", "."), 1, NULL, "queries.jsonl:2: the query");
    expect(assay("index", "import", TEST_DATA "/schema/keys/manifest.json"), 0,
           "\"orders.customer_id -> customers.Id\"", NULL);
    expect(assay("index", "import", "queries.jsonl"), 2, NULL, "queries.jsonl:2:");
    expect(assay("index", "burn", "shop/shop.sqlite"), 2, NULL, "expected build, show, learn or import");
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

/* Checks that lines are broken only at spaces, and that no text is lost. */
Test(program, verdict_fits_page_width)
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

/* Each of these sources overrides the previous one. */
Test(program, settings_have_precedence)
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
    expect(assay("check", "--deadline-ms=x", "--db", "d"), 2, NULL, "deadline-ms expects a whole number");
}

Test(program, invalid_settings_are_refused_with_reason)
{
    static const struct {
        const char *yaml, *says;
    } cases[] = {
        {"judge:\n  polcy: ask\n", "bad.yaml:2: unknown setting 'polcy'"},
        {"juge:\n  policy: ask\n", "bad.yaml:1: unknown section 'juge'"},
        {"judge:\n  policy: maybe\n", "policy must be one of"},
        {"judge: [1]\n", "expected a mapping"},
        {"judge:\n  policy: ask\n  policy: ask\n", "duplicate key"},
        {"signals:\n  empty_predicat: {enabled: true}\n", "unknown signal 'empty_predicat'"},
        {"signals:\n  empty_predicate: {enabld: true}\n", "bad.yaml:2:"},
        {"signals:\n  empty_predicate: {enabled: perhaps}\n", "yes or no"},
        {"replay:\n  resume: true\n", "unknown setting 'resume'"},
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

Test(program, colour_is_optional)
{
    struct run plain = assay_input("SELECT 1 FORM", "parse", "-");
    cr_expect_null(strchr(plain.out, '\033'));
    run_free(&plain);
    g_setenv("CLICOLOR_FORCE", "1", TRUE);
    struct run run =
        assay("check", "--db", "shop/shop.sqlite", "--question", "q", "--format", "text", "SELECT nme FROM customer");
    cr_expect(strchr(run.out, '\033'), "%s%s", run.out, run.err);
    run_free(&run);
    g_setenv("NO_COLOR", "1", TRUE);
    run = assay("check", "--db", "shop/shop.sqlite", "--question", "q", "--format", "text", "SELECT nme FROM customer");
    cr_expect_null(strchr(run.out, '\033'));
    run_free(&run);
    run = assay("check", "--db", "shop/shop.sqlite", "--question", "q", "--format", "text", "--color=always",
                "SELECT nme FROM customer");
    cr_expect(strchr(run.out, '\033'));
    run_free(&run);
}

/* --- documentation is printed from the tables ------------------------------------------------------------------- */

Test(program, printed_guides_are_current)
{
    static const char *const guides[] = {"configuration", "api", "cli"};
    for (unsigned i = 0; i < G_N_ELEMENTS(guides); i++) {
        struct run run = assay("docs", guides[i]);
        char *path = g_strdup_printf(SOURCE_ROOT "/docs/%s.md", guides[i]), *kept = read_file(path);
        cr_assert_not_null(kept);
        cr_expect_str_eq(kept, run.out, "docs/%s.md is out of date: assay docs %s > docs/%s.md", guides[i], guides[i],
                         guides[i]);
        g_free(kept);
        g_free(path);
        run_free(&run);
    }
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

/* A source file that no row names would not be compiled. No other check reports this. */
Test(program, every_command_is_listed)
{
    static const char *const listed[] = {
#define COMMAND(name)        "const struct command command_" #name " = {",
#define HIDDEN_COMMAND(name) "const struct command command_" #name " = {",
#include "cli/commands/list.h"
    };
    GDir *folder = g_dir_open(SOURCE_ROOT "/cli/commands", 0, NULL);
    cr_assert_not_null(folder);
    unsigned n = 0;
    for (const char *name; (name = g_dir_read_name(folder));) {
        char *path = g_build_filename(SOURCE_ROOT "/cli/commands", name, NULL), *text = read_file(path);
        const char *defined = strstr(text, "const struct command command_");
        bool found = !defined || !g_str_has_suffix(name, ".c");
        n += !found;
        for (unsigned i = 0; !found && i < G_N_ELEMENTS(listed); i++) found = g_str_has_prefix(defined, listed[i]);
        cr_expect(found, "%s defines a command that is no row of cli/commands/list.h", name);
        g_free(text);
        g_free(path);
    }
    cr_expect_eq(n, G_N_ELEMENTS(listed), "%u files define commands", n);
    g_dir_close(folder);
}

Test(program, every_command_has_a_manual_page)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(command_names); i++) {
        struct run run = assay("docs", "man", command_names[i]);
        cr_expect(g_str_has_prefix(run.out, ".TH ASSAY\\-"), "%s", run.out);
        cr_expect(strstr(run.out, ".SH OPTIONS") && strstr(run.out, ".SH EXIT STATUS"));
        cr_expect(only_known_requests(run.out), "%s: a line would be read as a troff request", command_names[i]);
        char *entry = g_strdup_printf("\\fBassay\\-%s\\fR(1)", command_names[i]);
        expect(assay("docs", "man"), 0, entry, NULL);
        g_free(entry);
        run_free(&run);
    }
}

/* Runs the completion as bash does, and compares its proposals. */
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
    completes("assay check --polic", 2, "--policy=");
    completes("assay check --policy = as", 4, "ask");
    completes("assay check --policy =", 3, "best_effort");
    completes("assay index sh", 2, "show");
    completes("assay train cal", 2, "calibration");
    completes("assay help rep", 2, "replay");
    completes("assay check --signal = limit_t", 4, "limit_tie.enabled=");
}

/* Runs the script if the shell is installed. In any case checks that the script contains every name. */
Test(program, zsh_and_fish_have_completions)
{
    static const struct {
        const char *shell, *has[3];
    } cases[] = {{"zsh", {"#compdef assay", "index) compadd -- build show learn import", "limit_tie.enabled="}},
                 {"fish", {"-a check -d 'judge the candidates", "-a 'build show learn import'", "limit_tie.enabled="}}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct run docs = assay("docs", cases[i].shell);
        for (unsigned k = 0; k < 3; k++) cr_expect(strstr(docs.out, cases[i].has[k]), "%s", cases[i].has[k]);
        write_file("completion", docs.out);
        char *shell = g_find_program_in_path(cases[i].shell), *err = NULL;
        const char *argv[] = {shell, "-n", "completion", NULL};
        int status = 0;
        if (shell) {
            cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, 0, NULL, NULL, NULL, &err, &status, NULL));
            cr_expect_eq(status, 0, "%s: %s", cases[i].shell, err);
        }
        g_free(err);
        g_free(shell);
        run_free(&docs);
    }
}

/* Types each line into a zsh with the completion. A bound key completes the line and writes the result to a file. */
Test(program, zsh_completes)
{
    static const char *const cases[][2] = {{"assay repl", "assay replay "},
                                           {"assay replay --un", "assay replay --unordered"},
                                           {"assay check --polic", "assay check --policy="},
                                           {"assay check --policy=as", "assay check --policy=ask "},
                                           {"assay index sh", "assay index show "},
                                           {"assay train cal", "assay train calibration "},
                                           {"assay help repl", "assay help replay "},
                                           {"assay check --signal=limit_t", "assay check --signal=limit_tie.enabled="}};
    char *zsh = g_find_program_in_path("zsh"), *err = NULL;
    if (!zsh) cr_skip_test("no zsh is installed");
    struct run docs = assay("docs", "zsh");
    write_file("completion", docs.out);
    write_file(".zshrc", "autoload -Uz compinit && compinit -D -u\nsource ./completion\n"
                         "tell() { zle complete-word; print -r -- \"$BUFFER\" >> told; BUFFER= }\n"
                         "zle -N tell && bindkey '^T' tell\n");
    GString *driver = g_string_new("zmodload zsh/zpty && zpty shell env ZDOTDIR=$PWD TERM=dumb zsh -d -i || exit 1\n");
    GString *want = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_string_append_printf(driver, "zpty -n -w shell $'%s\\x14'\n", cases[i][0]);
        g_string_append_printf(want, "%s\n", cases[i][1]);
    }
    g_string_append(driver, "zpty -w shell exit\nwhile zpty -r shell line; do :; done\n");
    write_file("driver", driver->str);
    const char *argv[] = {"timeout", "60", zsh, "-f", "driver", NULL};
    cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &err, NULL, NULL));
    char *told = read_file("told");
    cr_expect_str_eq(told ? told : "", want->str, "%s", err);
    g_free(told);
    g_free(err);
    g_free(zsh);
    g_string_free(want, TRUE);
    g_string_free(driver, TRUE);
    run_free(&docs);
}

Test(program, fish_completes)
{
    static const char *const cases[][2] = {{"assay re", "replay\t"},
                                           {"assay replay --un", "--unordered\t"},
                                           {"assay check --policy=as", "--policy=ask\t"},
                                           {"assay index sh", "show\n"},
                                           {"assay train cal", "calibration\n"},
                                           {"assay help rep", "replay\n"},
                                           {"assay ver", "version\n"}};
    char *fish = g_find_program_in_path("fish");
    if (!fish) cr_skip_test("no fish is installed");
    struct run docs = assay("docs", "fish");
    write_file("completion", docs.out);
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *out = NULL, *err = NULL, *ask = g_strdup_printf("source completion; complete -C '%s'", cases[i][0]);
        const char *argv[] = {"timeout", "60", fish, "--no-config", "-c", ask, NULL};
        cr_assert(g_spawn_sync(NULL, (gchar **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err, NULL, NULL));
        cr_expect(g_str_has_prefix(out, cases[i][1]), "%s: '%s' %s", cases[i][0], out, err);
        g_free(ask);
        g_free(out);
        g_free(err);
    }
    g_free(fish);
    run_free(&docs);
}
