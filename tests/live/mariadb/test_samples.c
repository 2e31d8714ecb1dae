/* Compares the samples in SQLite and in MariaDB. */
#include "tests/live/mariadb/server.h"
#include "tests/live/samples.h"

#include <criterion/criterion.h>
#include <glib.h>

static struct server server;

static char *replace(const char *text, const char *pattern, const char *with)
{
    GRegex *regex = g_regex_new(pattern, 0, 0, NULL);
    char *out = g_regex_replace_literal(regex, text, -1, 0, with, 0, NULL);
    g_regex_unref(regex);
    return out;
}

/* Quotes a table name of the samples that MariaDB reserves. SQLite accepts these quotes too. */
static char *quote_reserved(const char *sql)
{
    return replace(sql, "\\bshow\\b", "`show`");
}

/* Makes texts compare as in SQLite, so that differences come from the engine and not from the data. Uses varchar
 * instead of TEXT, because a TEXT cannot be a key in MariaDB. */
static struct db *open_sample(const char *script)
{
    char *text = replace(script, "\\bTEXT\\b", "varchar(200)");
    char *all = g_strconcat("ALTER DATABASE COLLATE utf8mb4_nopad_bin; ", text, NULL);
    server_init(&server, all);
    server_open(&server, READER, NULL);
    g_free(text);
    g_free(all);
    return server.db;
}

static void close_sample(void)
{
    server_end(&server);
}

Test(samples, engines_agree_except_known_differences, .timeout = 900)
{
    if (!g_getenv("ASSAY_TEST_MARIADB")) cr_skip_test("ASSAY_TEST_MARIADB names no server");
    samples_compare(&(struct samples_server){"mariadb/differences.txt", open_sample, close_sample, quote_reserved});
}
