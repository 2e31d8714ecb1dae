/* Compares the samples in SQLite and in PostgreSQL. */
#include "tests/live/postgres/server.h"
#include "tests/live/samples.h"

#include <criterion/criterion.h>
#include <glib.h>

static struct server server;

/* SQLite's REAL has eight bytes. All other parts of the samples have the same meaning in both. */
static struct db *open_sample(const char *script)
{
    GRegex *real = g_regex_new("\\bREAL\\b", 0, 0, NULL);
    char *text = g_regex_replace_literal(real, script, -1, 0, "double precision", 0, NULL);
    server_init(&server, text);
    server_open(&server, READER, NULL);
    g_regex_unref(real);
    g_free(text);
    return server.db;
}

static void close_sample(void)
{
    server_end(&server);
}

Test(samples, engines_agree_except_known_differences, .timeout = 900)
{
    if (!g_getenv("ASSAY_TEST_POSTGRES")) cr_skip_test("ASSAY_TEST_POSTGRES names no server");
    samples_compare(&(struct samples_server){"postgres/differences.txt", open_sample, close_sample, NULL});
}
