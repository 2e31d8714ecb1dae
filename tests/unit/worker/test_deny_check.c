/* An operator's denied column that no database has is an error. If the databases cannot be read, it is only a
 * warning. */
#include "tests/unit/db/fixture.h"
#include "worker/deny_check.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static struct fixture shop;
static char warned[512];

static void begin(void)
{
    fixture_init_as(&shop, "shop", "CREATE TABLE customer(id INT, email TEXT)");
    warned[0] = '\0';
}

static void end(void)
{
    fixture_end(&shop);
}
TestSuite(deny_check, .init = begin, .fini = end);

static void warn(const char *text)
{
    g_strlcpy(warned, text, sizeof warned);
}

/* Checks one entry on these databases (NULL: all). Returns the text of the error or warning, or "". */
static const char *check(const char *entry, const char *const *names)
{
    static struct err err;
    const struct worker_database files[] = {{.name = "shop", .path = shop.path},
                                            {.name = "gone", .path = "/nowhere/at/all/gone.sqlite"}};
    const char *roots[] = {shop.dir};
    const struct worker_databases databases = {.roots = roots, .n_roots = 1, .files = files, .n_files = 2};
    const struct deny_scope scope = {"fleet.yaml:2", names, &entry, 1};
    err = (struct err){0};
    enum err_code code = deny_check(&databases, &scope, 1, warn, &err);
    cr_expect(code == ERR_OK || code == ERR_CONFIG, "%s: %s", entry, err_name(code));
    return code ? err.text : warned;
}

Test(deny_check, unmatched_entry_is_refused_and_named)
{
    static const char *const one[] = {"shop", NULL}, *const both[] = {"gone", "shop", NULL},
                             *const away[] = {"gone", NULL}, *const unknown[] = {"later", NULL};
    static const struct {
        const char *entry;
        const char *const *names;
        const char *says;
    } rows[] = {
        {"customer.email", one, NULL},
        {"main.\"customer\".*", one, NULL},
        {"customer.email", both, NULL}, /* one database with the column is enough */
        {"customer.email", NULL, NULL},
        {"customer.emial", one, "fleet.yaml:2: denied column 'customer.emial' matches no column of its database"},
        {"customer.", one, "fleet.yaml:2: the denied column 'customer.' is malformed"},
        {"customer.emial", both, "'gone' cannot be read"},
        {"customer.email", away, "'gone' cannot be read"},
        {"customer.email", unknown, "none of its databases exists"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        warned[0] = '\0';
        const char *text = check(rows[i].entry, rows[i].names);
        cr_expect(rows[i].says ? strstr(text, rows[i].says) != NULL : !*text, "row %u: '%s'", i, text);
        cr_expect_null(strstr(text, "/nowhere"), "no location: %s", text);
    }
}

Test(deny_check, all_scopes_are_checked)
{
    static const char *const names[] = {"shop", NULL}, *const good[] = {"email", "customer.id"},
                             *const wrong[] = {"email", "customer.phone"};
    const struct worker_database file = {.name = "shop", .path = shop.path};
    const struct worker_databases databases = {.files = &file, .n_files = 1};
    const struct deny_scope scopes[] = {{"first", names, good, 2}, {"second", NULL, wrong, 2}};
    struct err err = {0};
    cr_expect_eq(deny_check(&databases, scopes, 1, NULL, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(deny_check(&databases, scopes, 2, NULL, &err), ERR_CONFIG);
    cr_expect(strstr(err.text, "second: denied column 'customer.phone'"), "%s", err.text);
}
