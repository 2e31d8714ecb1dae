#include "tests/live/chat_server.h"

#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

void chat_server_begin(struct chat_server *server)
{
    *server =
        (struct chat_server){g_strdup(g_getenv("ASSAY_TEST_CHAT")), g_strdup(g_getenv("ASSAY_TEST_CHAT_KEY")),
                             g_strdup(g_getenv("ASSAY_TEST_EMBEDDINGS")), g_strdup(g_getenv("ASSAY_TEST_SERVERS"))};
    if (!server->endpoint) cr_skip_test("no chat model: ASSAY_TEST_CHAT is not set (tests/live/servers.sh, llama)");
    scratch_begin();
    g_setenv(CHAT_KEY, server->key, TRUE);
}

void chat_server_end(struct chat_server *server)
{
    if (server->endpoint) {
        chat_server_command(server, "up", "llama");
        scratch_end();
    }
    g_free(server->endpoint);
    g_free(server->key);
    g_free(server->embeddings);
    g_free(server->servers);
    leak_check();
}

void chat_server_command(const struct chat_server *server, const char *command, const char *name)
{
    char *line =
        g_strdup_printf("bash '%s/tests/live/servers.sh' %s '%s' %s", SOURCE_ROOT, command, server->servers, name);
    cr_assert_eq(system(line), 0, "%s", line);
    g_free(line);
}
