/* Tests entries of deny_columns: their syntax, the columns that they match, and entries that are refused. */
#include "lib/schema/deny_match.h"
#include "lib/schema/deny_name.h"
#include "lib/schema/schema.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

Test(deny_name, entries_follow_identifier_rules)
{
    static const struct {
        const char *entry, *text;
        unsigned n_dots;
        bool all;
    } rows[] = {
        {"email", "email", 0, false},
        {"customer.email", "customer.email", 1, false},
        {"sales.customer.email", "sales.customer.email", 2, false},
        {"  customer . email\t", "customer.email", 1, false},
        {"\"customer\".\"email\"", "customer.email", 1, false},
        {"`customer` . [email]", "customer.email", 1, false},
        {"\"a.b\".\"c\"", "a.b.c", 1, false}, /* a dot within quotes does not separate parts */
        {"\"say \"\"hi\"\"\"", "say \"hi\"", 0, false},
        {"[a]", "a", 0, false},
        {"\" a \"", " a ", 0, false},
        {"frpm.Percent (%) Eligible", "frpm.Percent (%) Eligible", 1, false},
        {"customer.*", "customer", 0, true},
        {"sales.\"customer\". *", "sales.customer", 1, true},
        {"customer.\"*\"", "customer.*", 1, false},
        {"stra\xc3\x9f"
         "e.x",
         "stra\xc3\x9f"
         "e.x",
         1, false},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct deny_name name;
        struct err err = {0};
        cr_assert_eq(deny_name_parse(rows[i].entry, &name, &err), ERR_OK, "%s: %s", rows[i].entry, err.text);
        cr_expect_str_eq(name.text, rows[i].text);
        cr_expect_eq(name.n_dots, rows[i].n_dots, "%s", rows[i].entry);
        cr_expect_eq(name.all_columns, rows[i].all, "%s", rows[i].entry);
    }
}

Test(deny_name, malformed_entries_are_refused)
{
    static const struct {
        const char *entry, *says;
    } rows[] = {
        {"", "empty"},
        {"   ", "empty"},
        {"customer.", "empty"},
        {".email", "empty"},
        {"customer..email", "empty"},
        {"\"\".email", "empty"},
        {"\"customer.email", "not closed"},
        {"[customer.email", "not closed"},
        {"`a", "not closed"},
        {"cust\"omer\".email", "inside an unquoted part"},
        {"customer].x", "inside an unquoted part"},
        {"\"customer\"email", "follows a quoted part"},
        {"*", "needs its table"},
        {"*.email", "only allowed as the column"},
        {"a.*.b", "only allowed as the column"},
        {"a\x01.b", "control"},
        {"\xff.b", "UTF-8"},
        {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r", "17 parts"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct err err = {0};
        cr_expect_eq(deny_name_check(rows[i].entry, &err), ERR_MALFORMED, "%s", rows[i].entry);
        cr_expect(strstr(err.text, rows[i].says), "%s: %s", rows[i].entry, err.text);
        cr_expect(strstr(err.text, "table.column"), "the right form is told: %s", err.text);
    }
    char *longest = g_strnfill(DENY_NAME_BYTES, 'a'), *longer = g_strnfill(DENY_NAME_BYTES + 1, 'a');
    cr_expect_eq(deny_name_check(longest, NULL), ERR_OK);
    cr_expect_eq(deny_name_check(longer, NULL), ERR_MALFORMED);
    g_free(longest);
    g_free(longer);
}

Test(deny_name, entry_covers_what_it_can_mean)
{
    static const struct {
        const char *entry, *schema, *table, *column;
        bool covers;
    } rows[] = {
        {"email", "sales", "customer", "Email", true},
        {"customer.email", NULL, "Customer", "EMAIL", true},
        {"customer.email", NULL, "other", "email", false},
        {"main.customer.email", NULL, "customer", "email", true},
        {"temp.customer.email", NULL, "customer", "email", false},
        {"main.customer.email", "sales", "customer", "email", false},
        {"sales.customer.email", "sales", "customer", "email", true},
        {"\"customer\".\"email\"", NULL, "customer", "email", true},
        {"a.b.c", NULL, "a", "b.c", true}, /* ambiguous without quotes */
        {"a.b.c", NULL, "a.b", "c", true},
        {"a.b.c", "a", "b", "c", true},
        {"a.b.c", NULL, NULL, "a.b.c", true},
        {"\"a.b\".c", NULL, "a.b", "c", true},
        {"\"a.b\".c", "a", "b", "c", false},
        {"a.\"b.c\"", "a", "b", "c", false},
        {"customer.*", NULL, "customer", "phone", true},
        {"main.customer.*", NULL, "customer", "phone", true},
        {"sales.customer.*", "sales", "customer", "phone", true},
        {"customer.*", "sales", "customer", "phone", true},
        {"customer.*", NULL, "orders", "phone", false},
        {"customer.*", NULL, NULL, NULL, true}, /* any column of any table */
        {"customer.email", NULL, NULL, "email", true},
        {"customer.email", NULL, "orders", NULL, true},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct deny_name name;
        cr_assert_eq(deny_name_parse(rows[i].entry, &name, NULL), ERR_OK, "%s", rows[i].entry);
        cr_expect_eq(deny_name_covers(&name, rows[i].schema, rows[i].table, rows[i].column), rows[i].covers,
                     "row %u: %s of %s.%s", i, rows[i].entry, rows[i].table ? rows[i].table : "*",
                     rows[i].column ? rows[i].column : "*");
    }
}

/* --- in a database ------------------------------------------------------------------------------------------------ */

static struct fixture shop;
static struct schema_index *schema;

static void begin(void)
{
    struct err err = {0};
    fixture_init(&shop, "CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, email TEXT, low AS (lower(email)));"
                        "CREATE TABLE orders(id INTEGER PRIMARY KEY, note TEXT);"
                        "CREATE VIEW mails AS SELECT email AS m FROM customer;"
                        "CREATE VIEW over AS SELECT m AS n FROM mails;"
                        "CREATE VIEW notes AS SELECT note FROM orders;"
                        "CREATE VIEW broken AS SELECT x FROM gone;"
                        "CREATE VIRTUAL TABLE docs USING fts5(title, body);");
    fixture_open(&shop, NULL);
    cr_assert_eq(schema_build(shop.db, "shop", shop.path, NULL, &schema, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    schema_unref(schema);
    fixture_end(&shop);
}
TestSuite(deny_match, .init = begin, .fini = end);

Test(deny_match, every_spelling_denies_the_column)
{
    static const struct {
        const char *entry, *table, *column;
        bool denied;
    } rows[] = {
        {"main.customer.email", "customer", "email", true},
        {"\"customer\".\"email\"", "customer", "email", true},
        {" customer.email ", "customer", "email", true},
        {"customer.*", "customer", "name", true},
        {"customer.*", "orders", "note", false},
        {"customer.*", "customer", "low", true},
        {"customer.*", "mails", "m", true},
        {"customer.*", "over", "n", true},
        {"customer.*", "notes", "note", false},
        {"mails.*", "mails", "m", true},
        {"mails.*", "over", "n", true}, /* the column comes through the view */
        {"mails.*", "customer", "email", false},
        {"docs.*", "docs", "body", true},
        {"main.mails.*", "mails", "m", true},
        {"customer.", "orders", "note", true}, /* malformed, and not refused earlier: it matches every column */
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        int table = schema_find_table(schema, rows[i].table, strlen(rows[i].table));
        int at = schema_find_column(schema, table, rows[i].column, strlen(rows[i].column));
        cr_assert(at >= 0, "%s.%s", rows[i].table, rows[i].column);
        cr_expect_eq(schema_column_is_denied(schema, &schema->tables[table].columns[at], &rows[i].entry, 1),
                     rows[i].denied, "%s: %s.%s", rows[i].entry, rows[i].table, rows[i].column);
    }
}

Test(deny_match, entries_without_column_do_not_match)
{
    static const char *const entries[] = {"customer.email",
                                          "customer.emial",
                                          "main.customer.*",
                                          "sales.customer.email",
                                          "nobody.*",
                                          "over.n",
                                          "docs.body",
                                          "customer..email",
                                          "low",
                                          "phone"};
    static const bool expected[] = {true, false, true, false, false, true, true, false, true, false};
    bool matched[G_N_ELEMENTS(entries)] = {0};
    struct err err = {0};
    cr_assert_eq(deny_match(shop.db, entries, G_N_ELEMENTS(entries), matched, &err), ERR_OK, "%s", err.text);
    for (unsigned i = 0; i < G_N_ELEMENTS(entries); i++) cr_expect_eq(matched[i], expected[i], "%s", entries[i]);
}
