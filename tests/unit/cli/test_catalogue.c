/* Tests the catalogue of databases: how it is read, checked, printed without secrets, and used. */
#include "cli/settings/catalogue.h"
#include "lib/learn/learn.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

TestSuite(catalogue, .init = scratch_begin, .fini = scratch_end);

static void expect(struct run run, int status, const char *in_out, const char *in_err)
{
    cr_expect_eq(run.status, status, "status %d, not %d\n%s\n%s", run.status, status, run.out, run.err);
    if (in_out) cr_expect(strstr(run.out, in_out), "no '%s' in:\n%s", in_out, run.out);
    if (in_err) cr_expect(strstr(run.err, in_err), "no '%s' in:\n%s", in_err, run.err);
    cr_expect(!strstr(run.out, "hunter2") && !strstr(run.err, "hunter2"), "a secret is shown:\n%s\n%s", run.out,
              run.err);
    run_free(&run);
}

Test(catalogue, catalogue_is_shown_without_secrets)
{
    write_file("secret", "hunter2\n");
    write_file("my.yaml",
               "databases:\n  shop:\n    path: shop/shop.sqlite\n    expose: values\n    deny_columns: [customer.name, "
               "email]\n"
               "  orders:\n    path: host=127.0.0.1 port=1 dbname=orders user=assay\n    password_file: secret\n"
               "    max_statements: 20\n    max_cost: 50000\n    time_ms: 1500\n");
    expect(assay("config", "print", "--origin", "--config", "my.yaml"), 0,
           "databases:\n  shop:  # my.yaml:2\n    path: shop/shop.sqlite\n", NULL);
    struct run run = assay("config", "print", "--config", "my.yaml");
    static const char *const lines[] = {"    expose: values\n",        "    deny_columns: [customer.name, email]\n",
                                        "    password_file: secret\n", "    max_statements: 20\n",
                                        "    max_cost: 50000\n",       "    time_ms: 1500\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        cr_expect(strstr(run.out, lines[i]), "no %s in\n%s", lines[i], run.out);
    write_file("again.yaml", run.out);
    struct run again = assay("config", "print", "--config", "again.yaml");
    cr_expect_str_eq(run.out, again.out, "what is printed is read back as the same");
    run_free(&run);
    run_free(&again);
}

Test(catalogue, quoted_denied_columns_are_read_back)
{
    write_file("my.yaml", "databases:\n  shop:\n    path: shop/shop.sqlite\n"
                          "    deny_columns: ['\"customer\".\"na\'\'me\"', customer.*, '[a,b]']\n");
    struct run run = assay("config", "print", "--config", "my.yaml");
    cr_expect(strstr(run.out, "    deny_columns: ['\"customer\".\"na\'\'me\"', customer.*, '[a,b]']\n"), "%s%s",
              run.out, run.err);
    run_free(&run);
}

/* An entry that matches no column is an error before any request is judged, whether it was written in a file or a
 * flag. */
Test(catalogue, unmatched_denied_columns_are_errors)
{
    static const char *const sql = "SELECT count(*) FROM customer";
    write_file("my.yaml", "databases:\n  mine: {path: shop/shop.sqlite, deny_columns: [customer.nmae]}\n"
                          "  gone: {path: gone.sqlite, deny_columns: [customer.nmae]}\n");
    write_file("gone.yaml", "databases:\n  gone: {path: gone.sqlite, deny_columns: [customer.nmae]}\n"
                            "  shop: {path: shop/shop.sqlite, deny_columns: ['main.\"customer\".*']}\n");
    static const char says[] = "my.yaml:2: database mine: denied column 'customer.nmae' matches no column";
    expect(assay("check", "--config", "my.yaml", "--db", "mine", "-Q", "How many?", sql), 2, NULL,
           "denied column 'customer.nmae' matches no column");
    expect(assay("explain", "--config", "my.yaml", "--db", "mine", sql), 2, NULL, says);
    expect(assay("serve", "--config", "my.yaml", "--http", "127.0.0.1:0"), 2, NULL, says);
    expect(assay("worker", "--config", "my.yaml", "--servers", "127.0.0.1:1"), 2, NULL, says);
    expect(assay("mcp", "--config", "my.yaml"), 2, NULL, says);
    expect(assay("doctor", "--catalogue", "--config", "my.yaml"), 2, "'customer.nmae' matches no column", NULL);
    expect(assay("check", "--db", "shop/shop.sqlite", "--deny-column", "main.customer.emial", "-Q", "How many?", sql),
           2, NULL, "deny_column: denied column 'main.customer.emial' matches no column");
    expect(assay("check", "--db", "shop/shop.sqlite", "--deny-column", "customer.", "-Q", "How many?", sql), 2, NULL,
           "a part is empty");
    char *log = shop_log(1);
    write_file("log.jsonl", log);
    g_free(log);
    expect(assay("replay", "log.jsonl", "--config", "my.yaml", "--format", "jsonl"), 2, NULL, says);
    expect(assay("replay", "log.jsonl", "--config", "gone.yaml", "--format", "jsonl"), 0, "q-1",
           "cannot check whether denied column 'customer.nmae' exists: database 'gone' cannot be read");
}

static void expect_refused(const char *entry, const char *says)
{
    char *text = g_strdup_printf("databases:\n  shop:\n%s", entry);
    write_file("my.yaml", text);
    g_free(text);
    expect(assay("config", "check", "--config", "my.yaml"), 2, NULL, says);
}

Test(catalogue, unknown_members_are_refused)
{
    expect_refused("    file: x\n", "unknown setting 'file' of a database; known: path,");
    expect_refused("    expose: all\n", "one of none|values|rows");
    expect_refused("    expose: values\n", "path is missing");
    expect_refused("    path: [a, b]\n", "one value");
    expect_refused("    path: shop.sqlite\n    max_statements: -1\n", "from 0");
    expect_refused("    path: shop.sqlite\n    password_file: x\n", "a SQLite file takes no password_file");
    expect_refused("    path: shop.sqlite\n    max_cost: 10\n", "max_cost is supported for PostgreSQL only");
    expect_refused("    path: mariadb://me@db.example/shop\n    max_cost: 10\n",
                   "max_cost is supported for PostgreSQL only");
    expect_refused("    path: mariadb://me:hunter2@db.example/shop\n", "contains a password");
    expect_refused("    path: postgresql://assay:hunter2@db.example/shop\n", "contains a password");
    expect_refused("    path: host=db.example password=hunter2\n", "contains a password");
    expect_refused("    path: postgresql://assay:hunter2/@db.example/shop\n", "malformed");
    expect_refused("    path: host=a\n    password_file: x\n    password_variable: Y\n", "cannot be combined");
    expect_refused("    path: a.sqlite\n  shop:\n    path: b.sqlite\n", "duplicate key");
    expect_refused("    path: shop.sqlite\n    deny_columns: [customer.email, 'a..b']\n", "my.yaml:4");
    expect_refused("    path: shop.sqlite\n    deny_columns: ['\"customer.email']\n",
                   "'\"customer.email' is malformed: a quote is not closed");
    write_file("my.yaml", "databases: [a]\n");
    expect(assay("config", "check", "--config", "my.yaml"), 2, NULL, "expected a mapping");
}

Test(catalogue, later_file_replaces_whole_entry)
{
    write_file("one.yaml", "databases:\n  shop: {path: nowhere.sqlite, expose: none}\n");
    write_file("two.yaml", "databases:\n  shop: {path: shop/shop.sqlite}\n");
    struct run run = assay("config", "print", "--config", "one.yaml", "--config", "two.yaml");
    cr_expect(strstr(run.out, "  shop:\n    path: shop/shop.sqlite\n"), "%s%s", run.out, run.err);
    cr_expect_null(strstr(run.out, "expose: none\n    "));
    cr_expect_null(strstr(run.out, "nowhere"));
    run_free(&run);
}

Test(catalogue, policy_applies_to_every_command)
{
    write_file("my.yaml", "databases:\n  mine: {path: shop/shop.sqlite, deny_columns: [customer.name]}\n"
                          "  open: {path: shop/shop.sqlite}\n");
    const char *question = "What is the name of the oldest customer?",
               *sql = "SELECT name, age FROM customer ORDER BY age DESC LIMIT 1";
    struct run open = assay("check", "--config", "my.yaml", "--db", "open", "--expose", "rows", "--format", "json",
                            "-Q", question, sql);
    struct run mine = assay("check", "--config", "my.yaml", "--db", "mine", "--expose", "rows", "--format", "json",
                            "-Q", question, sql);
    cr_expect(open.status < 2 && mine.status < 2, "%s%s", open.err, mine.err);
    cr_expect(strstr(open.out, "\"sample\""), "%s", open.out);
    cr_expect_null(strstr(mine.out, "\"sample\""), "%s", mine.out);
    run_free(&open);
    run_free(&mine);
    char *log = shop_log(2);
    write_file("log.jsonl", log);
    g_free(log);
    write_file("named.yaml", "databases:\n  shop: {path: shop/shop.sqlite}\n");
    expect(assay("replay", "log.jsonl", "--config", "named.yaml", "--format", "jsonl"), 0, "q-2", NULL);
}

Test(catalogue, explain_applies_policy_of_named_entry)
{
    write_file("my.yaml", "databases:\n  open: {path: shop/shop.sqlite}\n"
                          "  mine: {path: shop/shop.sqlite, deny_columns: [customer.name]}\n"
                          "  closed: {path: shop/shop.sqlite, expose: none}\n");
    static const char *const sql = "SELECT name, country FROM customer WHERE id = 1";
    struct run file = assay("explain", "--db", "shop/shop.sqlite", "--expose", "rows", "--format", "json", sql);
    struct run open =
        assay("explain", "--config", "my.yaml", "--db", "open", "--expose", "rows", "--format", "json", sql);
    cr_expect(file.status == 0 && open.status == 0, "%s%s", file.err, open.err);
    cr_expect_str_eq(open.out, file.out, "%s", open.out);
    cr_expect(strstr(open.out, "Ada"), "a value is shown: %s", open.out);
    static const char *const strict[] = {"mine", "closed"};
    for (unsigned i = 0; i < 2; i++) {
        struct run run =
            assay("explain", "--config", "my.yaml", "--db", strict[i], "--expose", "rows", "--format", "json", sql);
        cr_expect_eq(run.status, 0, "%s", run.err);
        cr_expect_null(strstr(run.out, "Ada"), "%s: %s", strict[i], run.out);
        run_free(&run);
    }
    run_free(&file);
    run_free(&open);
    expect(assay("explain", "--config", "my.yaml", "--db", "other", sql), 2, NULL, "db_missing");
}

Test(catalogue, index_applies_policy_of_named_entry)
{
    write_file("my.yaml", "databases:\n  mine: {path: shop/shop.sqlite, deny_columns: [name]}\n"
                          "  closed: {path: shop/shop.sqlite, expose: none}\n");
    struct run file = assay("index", "show", "shop/shop.sqlite", "--format", "json");
    struct run mine = assay("index", "show", "mine", "--config", "my.yaml", "--format", "json");
    struct run closed = assay("index", "show", "closed", "--config", "my.yaml", "--format", "json");
    struct run bare = assay("index", "show", "shop/shop.sqlite", "--deny-column", "name", "--format", "json");
    cr_expect(file.status == 0 && mine.status == 0 && closed.status == 0 && bare.status == 0, "%s", mine.err);
    cr_expect(strstr(file.out, "Ada") && strstr(file.out, "France"), "%s", file.out);
    cr_expect(!strstr(mine.out, "Ada") && strstr(mine.out, "France"), "%s", mine.out);
    cr_expect(!strstr(bare.out, "Ada") && strstr(bare.out, "France"), "a name without its table: %s", bare.out);
    cr_expect(!strstr(closed.out, "Ada") && !strstr(closed.out, "France"), "%s", closed.out);
    run_free(&file);
    run_free(&mine);
    run_free(&closed);
    run_free(&bare);
}

Test(catalogue, eval_finds_databases_in_catalogue)
{
    write_file("my.yaml", "databases:\n  shop: {path: shop/shop.sqlite, deny_columns: [customer.name]}\n");
    write_file("log.jsonl", "{\"id\": \"a\", \"db\": \"shop\", \"question\": \"How many customers are there?\","
                            " \"gold\": \"SELECT count(*) FROM customer\", \"candidates\": [\"SELECT count(*) FROM"
                            " customer\", \"SELECT count(*) FROM orders\"]}\n");
    expect(assay("eval", "log.jsonl", "--config", "my.yaml", "--format", "json", "--bootstrap", "0"), 0, "selection",
           NULL);
    expect(assay("eval", "log.jsonl", "--format", "json", "--bootstrap", "0"), 2, NULL, "--db-root=DIR");
}

/* Checks that mutants contain a value of the data only if the index may provide it. The query itself contains none. */
static const char *const bare_query = "SELECT count(*) FROM customer";

static bool shows_a_name(const char *text)
{
    return strstr(text, "'Ada'") || strstr(text, "'Bo'") || strstr(text, "'Cy'") || strstr(text, "'Di'");
}

static bool shows_a_value(const char *text)
{
    return shows_a_name(text) || strstr(text, "France") || strstr(text, "Norway") || strstr(text, "> 31") ||
           strstr(text, "> 27") || strstr(text, "> 44") || strstr(text, "> 60");
}

/* Returns the output of mutate with many seeds, for one query on a database, or for a log if `db` is NULL. Free with
 * g_free. */
static char *mutants_of(const char *config, const char *db)
{
    GString *all = g_string_new(NULL);
    for (unsigned seed = 1; seed <= 6; seed++) {
        char number[12];
        g_snprintf(number, sizeof number, "%u", seed);
        struct run run = db ? assay("mutate", "--config", config, "--db", db, "-n", "100", "--seed", number, bare_query)
                            : assay("mutate", "--config", config, "-n", "100", "--seed", number, "log.jsonl");
        cr_assert_eq(run.status, 0, "%s", run.err);
        g_string_append(all, run.out);
        run_free(&run);
    }
    return g_string_free(all, FALSE);
}

static void write_bare_log(const char *db)
{
    char *log = g_strdup_printf("{\"id\": \"a\", \"db\": \"%s\", \"question\": \"How many customers are there?\","
                                " \"gold\": \"%s\"}\n",
                                db, bare_query);
    write_file("log.jsonl", log);
    g_free(log);
}

static const char policies[] = "databases:\n  open: {path: shop/shop.sqlite}\n"
                               "  mine: {path: shop/shop.sqlite, deny_columns: [customer.name]}\n"
                               "  closed: {path: shop/shop.sqlite, expose: none}\n";

Test(catalogue, mutants_hold_no_denied_value)
{
    write_file("my.yaml", policies);
    for (unsigned from_log = 0; from_log < 2; from_log++) {
        static const char *const names[] = {"open", "mine", "closed"};
        char *of[3];
        for (unsigned i = 0; i < 3; i++) {
            write_bare_log(names[i]);
            of[i] = mutants_of("my.yaml", from_log ? NULL : names[i]);
        }
        cr_expect(shows_a_name(of[0]), "the test sees values at all: %s", of[0]);
        cr_expect(shows_a_value(of[1]) && !shows_a_name(of[1]), "%s", of[1]);
        cr_expect(*of[2] && !shows_a_value(of[2]), "%s", of[2]);
        for (unsigned i = 0; i < 3; i++) g_free(of[i]);
    }
}

Test(catalogue, mutants_follow_settings_without_entry)
{
    write_file("deny.yaml", "database: {db_root: [.]}\njudge: {deny_column: [customer.name]}\n");
    write_file("none.yaml", "database: {db_root: [.]}\njudge: {expose: none}\n");
    write_file("plain.yaml", "database: {db_root: [.]}\n");
    write_bare_log("shop");
    for (unsigned from_log = 0; from_log < 2; from_log++) {
        const char *db = from_log ? NULL : "shop/shop.sqlite";
        char *plain = mutants_of("plain.yaml", db), *deny = mutants_of("deny.yaml", db),
             *none = mutants_of("none.yaml", db);
        cr_expect(shows_a_name(plain), "%s", plain);
        cr_expect(shows_a_value(deny) && !shows_a_name(deny), "%s", deny);
        cr_expect(*none && !shows_a_value(none), "%s", none);
        g_free(plain);
        g_free(deny);
        g_free(none);
    }
}

/* Writes three entries with the same policy, because training needs several databases. Also writes a log whose gold
 * queries contain names of customers. Mutants replace these names by values of the index. */
static void write_training(const char *policy)
{
    GString *entries = g_string_new("databases:\n"), *log = g_string_new(NULL);
    static const char *const golds[] = {"SELECT age FROM customer WHERE name = 'Zoe'",
                                        "SELECT count(*) FROM customer WHERE name = 'Ada'",
                                        "SELECT id FROM customer WHERE name = 'Bo'"};
    for (unsigned db = 0; db < 3; db++) {
        g_string_append_printf(entries, "  d%u: {path: shop/shop.sqlite%s}\n", db, policy);
        for (unsigned i = 0; i < G_N_ELEMENTS(golds); i++)
            g_string_append_printf(log,
                                   "{\"id\": \"%u-%u\", \"db\": \"d%u\", \"question\": \"Which?\", \"gold\": \"%s\"}\n",
                                   db, i, db, golds[i]);
    }
    write_file("my.yaml", entries->str);
    write_file("log.jsonl", log->str);
    g_string_free(entries, TRUE);
    g_string_free(log, TRUE);
}

/* Returns the number of candidates that the training reports. */
static unsigned learned_from(const char *kind, const char *policy)
{
    write_training(policy);
    struct run run =
        assay("train", kind, "--config", "my.yaml", "--recipe", "{mutants: 64}", "--out", "model.json", "log.jsonl");
    const char *at = strstr(run.out, " candidates"), *start;
    while (at && (at == run.out || !g_ascii_isdigit(at[-1]))) at = strstr(at + 1, " candidates");
    for (start = at; start && start > run.out && g_ascii_isdigit(start[-1]);) start--;
    cr_assert(run.status == 0 && at, "%s%s: %d %s%s", kind, policy, run.status, run.out, run.err);
    unsigned n = (unsigned)strtoul(start, NULL, 10);
    run_free(&run);
    return n;
}

Test(catalogue, training_mutants_hold_no_denied_value, .timeout = 600)
{
    static const char *const kinds[] = {"label-model", "classifier", "verifier"};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (i > 0 && learn_unsupported("trees")) continue;
        unsigned open = learned_from(kinds[i], ""), mine = learned_from(kinds[i], ", deny_columns: [customer.name]"),
                 closed = learned_from(kinds[i], ", expose: none");
        cr_expect(closed < mine && mine < open, "%s: %u, %u, %u", kinds[i], closed, mine, open);
    }
}

/* Returns the label of a candidate compared with itself. Its result has four rows. */
static char *label_under(const char *limits)
{
    char *config = g_strdup_printf("databases:\n  shop: {path: shop/shop.sqlite%s}\n", limits);
    write_file("my.yaml", config);
    write_file("log.jsonl",
               "{\"id\": \"a\", \"db\": \"shop\", \"question\": \"What are the names?\","
               " \"gold\": \"SELECT name FROM customer\", \"candidates\": [\"SELECT name FROM customer\"]}\n");
    struct run run = assay("eval", "log.jsonl", "--config", "my.yaml", "--bootstrap", "0", "--labels", "labels.json");
    char *labels = read_file("labels.json");
    cr_assert(labels, "%d %s%s", run.status, run.out, run.err);
    g_free(config);
    run_free(&run);
    return labels;
}

Test(catalogue, labelling_keeps_limits_of_entry)
{
    static const struct {
        const char *limits, *label;
    } cases[] = {{"", "[[\"ok\"]]"},
                 {", max_rows: 4", "[[\"ok\"]]"},
                 {", max_rows: 3", "[[\"wrong\"]]"},
                 {", max_bytes: 4", "[[\"wrong\"]]"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *label = label_under(cases[i].limits);
        cr_expect_str_eq(label, cases[i].label, "%s", cases[i].limits);
        g_free(label);
    }
}

/* A byte-order mark is not part of a password. */
Test(catalogue, byte_order_mark_is_stripped_from_password)
{
    static struct cli cli;
    struct err err = {0};
    arena_init(&cli.arena, 0);
    write_file("secret", "\xEF\xBB\xBFhunter2\r\n");
    struct catalogue_entry *entry = catalogue_add(&cli, "orders", "here", &err);
    cr_assert(entry, "%s", err.text);
    entry->path = "host=127.0.0.1 port=1 dbname=x";
    entry->password_file = "secret";
    cr_assert_eq(catalogue_open(&cli, &err), ERR_OK, "%s", err.text);
    const char *path = catalogue_databases(&cli).files[0].path;
    cr_expect(strstr(path, "hunter2") && !strstr(path, "\xEF\xBB\xBF") && !strchr(path, '\r'), "%s", path);
    arena_free(&cli.arena);
}

Test(catalogue, unreadable_password_file_stops_start)
{
    write_file("my.yaml", "databases:\n  orders: {path: host=127.0.0.1 port=1 dbname=x, password_file: missing}\n");
    expect(assay("doctor", "--catalogue", "--config", "my.yaml"), 2, NULL, "password file missing cannot be read");
    write_file("my.yaml", "databases:\n  orders: {path: host=127.0.0.1 port=1 dbname=x, password_variable: NO_SUCH}\n");
    expect(assay("doctor", "--catalogue", "--config", "my.yaml"), 2, NULL, "NO_SUCH");
}

Test(catalogue, doctor_checks_every_entry)
{
    expect(assay("doctor", "--catalogue"), 2, NULL, "the catalogue is empty");
    write_file("secret", "hunter2\n");
    write_file("my.yaml", "databases:\n  shop: {path: shop/shop.sqlite}\n  gone: {path: gone.sqlite}\n"
                          "  orders: {path: host=127.0.0.1 port=1 dbname=x, password_file: secret}\n");
    struct run run = assay("doctor", "--catalogue", "--config", "my.yaml", "--format", "jsonl");
    cr_expect_eq(run.status, 2, "%s%s", run.out, run.err);
    cr_expect(strstr(run.out, "\"db\":\"gone\"") || strstr(run.out, "\"db\": \"gone\""), "%s", run.out);
    cr_expect(strstr(run.out, "cannot be opened"), "%s", run.out);
    cr_expect(strstr(run.out, "max_statements is not set"), "%s", run.out);
    cr_expect_null(strstr(run.out, "hunter2"));
    run_free(&run);
    write_file("my.yaml", "databases:\n  shop: {path: shop/shop.sqlite}\n");
    expect(assay("doctor", "--catalogue", "--config", "my.yaml", "--format", "text"), 0, "1 databases: 0 too wide",
           NULL);
}
