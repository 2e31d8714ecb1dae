/* Tests the file of tenants: the identity and rights that a token gives, and the effect of an invalid file. */
#include "lib/base/arena.h"
#include "server/tokens.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static char *path;

static void begin(void)
{
    char *dir = g_dir_make_tmp("assay-tokens-XXXXXX", NULL);
    path = g_build_filename(dir, "tokens.json", NULL);
    g_free(dir);
}

static void end(void)
{
    char *dir = g_path_get_dirname(path);
    g_unlink(path);
    g_rmdir(dir);
    g_free(dir);
    g_free(path);
}

TestSuite(tokens, .init = begin, .fini = end);

/* Writes `tenants` with %1 and %2 replaced by the hashes of "one" and "two". */
static void write_tenants(const char *tenants)
{
    char *one = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "one", -1),
         *two = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "two", -1);
    GString *text = g_string_new("{\"tokens_version\":1,\"tenants\":{");
    g_string_append(text, tenants);
    g_string_append(text, "}}");
    g_string_replace(text, "%1", one, 0);
    g_string_replace(text, "%2", two, 0);
    cr_assert(g_file_set_contents(path, text->str, -1, NULL));
    g_string_free(text, TRUE);
    g_free(one);
    g_free(two);
}

static struct tokens *open_tokens(const char *tenants)
{
    struct err err = {0};
    struct tokens *tokens = NULL;
    write_tenants(tenants);
    cr_assert_eq(tokens_open(path, NULL, NULL, &tokens, &err), ERR_OK, "%s", err.text);
    return tokens;
}

#define TWO                                                                                                            \
    "\"acme\":{\"sha256\":[\"%1\"],\"databases\":[\"shop\"],\"expose\":\"none\",\"deny_columns\":[\"a.b\"]},"          \
    "\"beta\":{\"sha256\":[\"%2\"],\"databases\":[\"*\"]}"

Test(tokens, token_identifies_tenant)
{
    static const struct {
        const char *header, *tenant;
    } rows[] = {{"Bearer one", "acme"}, {"bearer two", "beta"}, {"Bearer three", NULL},
                {"Bearer ", NULL},      {"one", NULL},          {"Basic one", NULL},
                {NULL, NULL},           {"Bearer one ", NULL},  {"Bearer onetwo", NULL}};
    struct tokens *tokens = open_tokens(TWO);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct tenant *tenant = tokens_check(tokens, rows[i].header);
        cr_expect_str_eq(tenant ? tenant->name : "", rows[i].tenant ? rows[i].tenant : "", "'%s'", rows[i].header);
        tenant_unref(tenant);
    }
    tokens_close(tokens);
}

Test(tokens, request_is_restricted_to_rights_of_tenant)
{
    static const struct {
        const char *header, *db;
        enum msg_expose asked, given;
        enum err_code code;
        uint32_t n_denied;
        const char *schema;
    } rows[] = {{"Bearer one", "shop", MSG_EXPOSE_ROWS, MSG_EXPOSE_NONE, ERR_OK, 2},
                {"Bearer one", "shop", MSG_EXPOSE_UNSET, MSG_EXPOSE_NONE, ERR_OK, 2},
                {"Bearer one", "Shop", MSG_EXPOSE_ROWS, MSG_EXPOSE_ROWS, ERR_FORBIDDEN, 1},
                {"Bearer one", "*", MSG_EXPOSE_ROWS, MSG_EXPOSE_ROWS, ERR_FORBIDDEN, 1},
                {"Bearer one", "label", MSG_EXPOSE_ROWS, MSG_EXPOSE_NONE, ERR_OK, 2, "CREATE TABLE t (a)"},
                {"Bearer two", "any", MSG_EXPOSE_ROWS, MSG_EXPOSE_ROWS, ERR_OK, 1}};
    static const char *const denied[] = {"x.y"};
    struct tokens *tokens = open_tokens(TWO);
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct arena arena;
        struct msg_request request = {
            .db = rows[i].db,
            .schema = rows[i].schema,
            .options = {.expose = rows[i].asked, .deny_columns = denied, .n_deny_columns = 1}};
        const struct tenant *tenant = tokens_check(tokens, rows[i].header);
        arena_init(&arena, 0);
        cr_expect_eq(tenant_narrow(tenant, &request, &arena, NULL), rows[i].code, "row %u", i);
        cr_expect_eq(request.options.expose, rows[i].given, "row %u", i);
        cr_expect_eq(request.options.n_deny_columns, rows[i].n_denied, "row %u", i);
        cr_expect_str_eq(request.options.deny_columns[0], "x.y");
        if (rows[i].n_denied > 1) cr_expect_str_eq(request.options.deny_columns[1], "a.b");
        arena_free(&arena);
        tenant_unref(tenant);
    }
    tokens_close(tokens);
}

Test(tokens, invalid_file_is_refused_with_location)
{
    static const struct {
        const char *tenants, *says;
    } rows[] = {
        {"\"a\":{\"sha256\":[\"%1\"]}", "databases"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":\"shop\"}", "databases"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":[1]}", "databases"},
        {"\"a\":{\"sha256\":[],\"databases\":[\"*\"]}", "sha256"},
        {"\"a\":{\"sha256\":[\"one\"],\"databases\":[\"*\"]}", "64 hexadecimal"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"expose\":\"all\"}", "expose"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"deny_columns\":\"x\"}", "deny_columns"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"deny_columns\":[\"a.b\",\"a..b\"]}",
         "tenant 'a': the denied column 'a..b' is malformed: a part is empty"},
        {"\"a\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"exposes\":\"none\"}", "unknown key"},
        {"\"\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"]}", "1 to 64"},
        {"\"a\":1", "tenant 'a'"},
        {"\"a\":{},\"a\":{}", "line 1"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct err err = {0};
        struct tokens *tokens = NULL;
        write_tenants(rows[i].tenants);
        cr_expect_eq(tokens_open(path, NULL, NULL, &tokens, &err), ERR_CONFIG, "%s", rows[i].tenants);
        cr_expect(strstr(err.text, rows[i].says), "'%s', not '%s'", err.text, rows[i].says);
        cr_assert_null(tokens);
    }
}

static unsigned n_checked;

/* Refuses a file in which a tenant denies x.y. */
static enum err_code refuse_some(void *ctx, const char *of, const struct tenant *const *tenants, uint32_t n,
                                 struct err *err)
{
    cr_expect_str_eq(of, ctx);
    n_checked = n;
    for (uint32_t i = 0; i < n; i++)
        if (g_strv_contains((const gchar *const *)tenants[i]->deny_columns, "x.y"))
            return err_set(err, ERR_CONFIG, "%s denies x.y", tenants[i]->name);
    return ERR_OK;
}

Test(tokens, refused_tenants_keep_the_old_file)
{
    struct err err = {0};
    struct tokens *tokens = NULL;
    write_tenants("\"bad\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"deny_columns\":[\"x.y\"]}");
    cr_expect_eq(tokens_open(path, refuse_some, path, &tokens, &err), ERR_CONFIG);
    cr_expect_str_eq(err.text, "bad denies x.y");
    cr_assert_null(tokens);
    write_tenants("\"acme\":{\"sha256\":[\"%1\",\"%2\"],\"databases\":[\"*\"]}");
    cr_assert_eq(tokens_open(path, refuse_some, path, &tokens, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(n_checked, 1, "a tenant of two tokens is checked once, not %u times", n_checked);
    write_tenants("\"bad\":{\"sha256\":[\"%1\"],\"databases\":[\"*\"],\"deny_columns\":[\"x.y\"]}");
    cr_assert(tokens_refresh(tokens, &err));
    cr_expect_eq(err.code, ERR_CONFIG);
    const struct tenant *still = tokens_check(tokens, "Bearer two");
    cr_expect(still && strcmp(still->name, "acme") == 0);
    tenant_unref(still);
    tokens_close(tokens);
}

/* A holder of a tenant keeps it while the file changes. The next call gets the new tenant, with the same number. */
Test(tokens, changed_file_applies_unless_invalid)
{
    struct err err;
    struct tokens *tokens = open_tokens(TWO);
    const struct tenant *before = tokens_check(tokens, "Bearer two");
    cr_expect_not(tokens_refresh(tokens, &err), "nothing has changed");
    write_tenants("\"new\":{\"sha256\":[\"%1\"],\"databases\":[\"shop\"]},\"beta\":{\"sha256\":[\"%2\"],\"databases\":["
                  "\"shop\"]}");
    cr_assert(tokens_refresh(tokens, &err));
    cr_assert_eq(err.code, ERR_OK, "%s", err.text);
    const struct tenant *one = tokens_check(tokens, "Bearer one"), *two = tokens_check(tokens, "Bearer two");
    cr_assert(one && two && before);
    cr_expect_str_eq(one->name, "new");
    cr_expect(before->all && !two->all);
    cr_expect_eq(before->number, two->number);
    cr_expect_str_eq(tokens_name(tokens, two->number), "beta");
    write_tenants("\"new\":{}");
    cr_assert(tokens_refresh(tokens, &err));
    cr_expect_eq(err.code, ERR_CONFIG);
    g_unlink(path);
    cr_assert(tokens_refresh(tokens, &err));
    cr_expect_eq(err.code, ERR_IO);
    cr_expect_not(tokens_refresh(tokens, &err), "said once");
    const struct tenant *still = tokens_check(tokens, "Bearer one");
    cr_expect(still && strcmp(still->name, "new") == 0);
    tenant_unref(before), tenant_unref(one), tenant_unref(two), tenant_unref(still);
    tokens_close(tokens);
    write_tenants("");
}
