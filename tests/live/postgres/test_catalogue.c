/* Uses a server from the catalogue, from its configuration to the verdict: password, policy and cost limit. The output
 * must not contain anything that the policy denies. */
#include "tests/live/postgres/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECRET "quokkaville"

static struct server server;
static char dir[64], config[128], secret[128];

static const char *const CANDIDATES[] = {
    "SELECT email FROM person",
    "SELECT * FROM person",
    "SELECT email::int FROM person",
    "SELECT id FROM person WHERE email::int > 3",
    "SELECT id FROM person WHERE CAST(email AS date) > '2020-01-01'",
    "SELECT person FROM person",
    "SELECT p FROM person AS p",
    "SELECT max(email), min(email) FROM person",
    "SELECT id FROM person WHERE email = 'quokkavile1@example.com'",
    "SELECT city FROM person WHERE city = 'quokkavile1@example.co'",
    "SELECT e.x::int FROM (SELECT email AS x FROM person) AS e",
    "SELECT email FROM address",
    "SELECT id / (length(email) - length(email)) FROM person",
};

static void begin(void)
{
    server_init(&server, "CREATE TABLE person(id int PRIMARY KEY, email text, city text);"
                         "INSERT INTO person SELECT i, '" SECRET
                         "' || i || '@example.com', 'Perth' FROM generate_series(1, 500) i;"
                         "CREATE VIEW address AS SELECT id, email FROM person; ANALYZE person");
    strcpy(dir, "/tmp/assay-catalogue-XXXXXX");
    cr_assert(mkdtemp(dir));
    snprintf(config, sizeof config, "%s/c.yaml", dir);
    snprintf(secret, sizeof secret, "%s/secret", dir);
    char *path = g_strndup(server.dsn[READER], (gsize)(strstr(server.dsn[READER], " password=") - server.dsn[READER]));
    char *text = g_strdup_printf("databases:\n"
                                 "  closed: {path: \"%s\", password_file: %s, deny_columns: [email]}\n"
                                 "  none: {path: \"%s\", password_file: %s, expose: none}\n"
                                 "  open: {path: \"%s\", password_file: %s, max_cost: 3000}\n",
                                 path, secret, path, secret, path, secret);
    cr_assert(g_file_set_contents(secret, "sesame\n", -1, NULL) && g_file_set_contents(config, text, -1, NULL));
    g_free(path);
    g_free(text);
}

static void end(void)
{
    if (!server.admin) return;
    unlink(config);
    unlink(secret);
    rmdir(dir);
    server_end(&server);
}
TestSuite(catalogue, .init = begin, .fini = end);

/* Returns standard output and standard error as one text. Checks that it contains no password. Free with g_free. */
static char *assay(const char *const *words, int *status)
{
    GPtrArray *argv = g_ptr_array_new();
    char *out, *err;
    int wait_status;
    g_ptr_array_add(argv, (char *)ASSAY_BINARY);
    for (; *words; words++) g_ptr_array_add(argv, (char *)*words);
    g_ptr_array_add(argv, NULL);
    char **env = g_environ_unsetenv(g_get_environ(), "ASSAY_TEST_POSTGRES");
    cr_assert(g_spawn_sync(NULL, (char **)argv->pdata, env, 0, NULL, NULL, &out, &err, &wait_status, NULL));
    *status = WEXITSTATUS(wait_status);
    char *all = g_strconcat(out, err, NULL);
    cr_expect_null(strstr(all, "sesame"), "a password is shown");
    g_strfreev(env);
    g_free(out);
    g_free(err);
    g_ptr_array_free(argv, TRUE);
    return all;
}

static char *check(const char *db, const char *sql)
{
    int status;
    char *all = assay((const char *const[]){"check", "--config", config, "--db", db, "--expose", "rows", "--format",
                                            "json", "--question", "Which people of Perth have an address?", sql, NULL},
                      &status);
    cr_expect_lt(status, 2, "%s: %s", sql, all);
    return all;
}

Test(catalogue, verdicts_show_no_denied_value)
{
    static const size_t telling[] = {0, 1, 2, 5, 7};
    for (size_t i = 0; i < G_N_ELEMENTS(CANDIDATES); i++) {
        char *closed = check("closed", CANDIDATES[i]);
        cr_expect_null(strstr(closed, SECRET), "%s: %s", CANDIDATES[i], closed);
        g_free(closed);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(telling); i++) {
        const char *sql = CANDIDATES[telling[i]];
        char *none = check("none", sql), *open = check("open", sql);
        cr_expect_null(strstr(none, SECRET), "%s: %s", sql, none);
        cr_expect(strstr(open, SECRET), "without a policy it shows, else this test says nothing: %s: %s", sql, open);
        g_free(none);
        g_free(open);
    }
}

Test(catalogue, excessive_cost_is_reported)
{
    const char *sql = "SELECT count(*) FROM person a, person b WHERE a.city = b.city";
    char *open = check("open", sql), *closed = check("closed", sql);
    cr_expect(strstr(open, "too_costly"), "%s", open);
    cr_expect_null(strstr(closed, "too_costly"), "no ceiling there: %s", closed);
    g_free(open);
    g_free(closed);
}

Test(catalogue, doctor_checks_each_entry)
{
    int status;
    char *all =
        assay((const char *const[]){"doctor", "--catalogue", "--config", config, "--format", "jsonl", NULL}, &status);
    cr_expect(status == 0 || status == 1, "%d: %s", status, all);
    cr_expect(strstr(all, "\"db\":\"closed\"") && strstr(all, "\"db\":\"open\""), "%s", all);
    cr_expect_null(strstr(all, "cannot be opened"), "%s", all);
    g_free(all);
}
