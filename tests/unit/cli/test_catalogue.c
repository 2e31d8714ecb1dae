/* The catalogue of databases: read, checked, shown without secrets, used. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
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

Test(catalogue, is_shown_as_it_is_read_and_without_secrets)
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

static void expect_refused(const char *entry, const char *says)
{
    char *text = g_strdup_printf("databases:\n  shop:\n%s", entry);
    write_file("my.yaml", text);
    g_free(text);
    expect(assay("config", "check", "--config", "my.yaml"), 2, NULL, says);
}

Test(catalogue, refuses_what_it_does_not_understand)
{
    expect_refused("    file: x\n", "no setting 'file'; known: path,");
    expect_refused("    expose: all\n", "one of none|values|rows");
    expect_refused("    expose: values\n", "it has no path");
    expect_refused("    path: [a, b]\n", "one value");
    expect_refused("    path: shop.sqlite\n    max_statements: -1\n", "from 0");
    expect_refused("    path: shop.sqlite\n    password_file: x\n", "SQLite file has no password");
    expect_refused("    path: shop.sqlite\n    max_cost: 10\n", "SQLite knows no cost");
    expect_refused("    path: postgresql://assay:hunter2@db.example/shop\n", "holds no password");
    expect_refused("    path: host=db.example password=hunter2\n", "holds no password");
    expect_refused("    path: postgresql://assay:hunter2/@db.example/shop\n", "malformed");
    expect_refused("    path: host=a\n    password_file: x\n    password_variable: Y\n", "not in both");
    expect_refused("    path: a.sqlite\n  shop:\n    path: b.sqlite\n", "occurs twice");
    write_file("my.yaml", "databases: [a]\n");
    expect(assay("config", "check", "--config", "my.yaml"), 2, NULL, "expected a mapping");
}

Test(catalogue, a_later_file_replaces_the_whole_entry)
{
    write_file("one.yaml", "databases:\n  shop: {path: nowhere.sqlite, expose: none}\n");
    write_file("two.yaml", "databases:\n  shop: {path: shop/shop.sqlite}\n");
    struct run run = assay("config", "print", "--config", "one.yaml", "--config", "two.yaml");
    cr_expect(strstr(run.out, "  shop:\n    path: shop/shop.sqlite\n"), "%s%s", run.out, run.err);
    cr_expect_null(strstr(run.out, "expose: none\n    "));
    cr_expect_null(strstr(run.out, "nowhere"));
    run_free(&run);
}

Test(catalogue, its_policy_holds_for_whoever_judges)
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

Test(catalogue, explain_takes_an_entry_by_its_name_and_obeys_it)
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

Test(catalogue, index_takes_an_entry_by_its_name_and_obeys_it)
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

Test(catalogue, eval_finds_its_databases_there)
{
    write_file("my.yaml", "databases:\n  shop: {path: shop/shop.sqlite, deny_columns: [customer.name]}\n");
    write_file("log.jsonl", "{\"id\": \"a\", \"db\": \"shop\", \"question\": \"How many customers are there?\","
                            " \"gold\": \"SELECT count(*) FROM customer\", \"candidates\": [\"SELECT count(*) FROM"
                            " customer\", \"SELECT count(*) FROM orders\"]}\n");
    expect(assay("eval", "log.jsonl", "--config", "my.yaml", "--format", "json", "--bootstrap", "0"), 0, "selection",
           NULL);
    expect(assay("eval", "log.jsonl", "--format", "json", "--bootstrap", "0"), 2, NULL, "--db-root=DIR");
}

Test(catalogue, a_password_that_cannot_be_read_stops_the_start)
{
    write_file("my.yaml", "databases:\n  orders: {path: host=127.0.0.1 port=1 dbname=x, password_file: missing}\n");
    expect(assay("doctor", "--catalogue", "--config", "my.yaml"), 2, NULL,
           "missing, with its password, cannot be read");
    write_file("my.yaml", "databases:\n  orders: {path: host=127.0.0.1 port=1 dbname=x, password_variable: NO_SUCH}\n");
    expect(assay("doctor", "--catalogue", "--config", "my.yaml"), 2, NULL, "NO_SUCH");
}

Test(catalogue, doctor_looks_at_every_entry)
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
