#include "tests/live/program.h"

#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <glib.h>

char *servers;

/* The scratch folder clears the environment, including the broker's variables; these are set again. */
void program_begin(void)
{
    char *dir = g_strdup(g_getenv("ASSAY_TEST_SERVERS"));
    servers = g_strdup(g_getenv("ASSAY_TEST_KAFKA"));
    scratch_begin();
    if (servers) g_setenv("ASSAY_TEST_KAFKA", servers, TRUE);
    if (dir) g_setenv("ASSAY_TEST_SERVERS", dir, TRUE);
    g_free(dir);
}

void program_end(void)
{
    scratch_end();
    g_free(servers);
    leak_check();
}
