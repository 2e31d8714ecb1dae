/* The real chat model and the real embeddings of the live tests: llama.cpp's server with models that know a few answers
 * (tests/live/llama/serve.py). One test at a time: they share the servers. */
#ifndef ASSAY_TESTS_LIVE_CHAT_SERVER_H
#define ASSAY_TESTS_LIVE_CHAT_SERVER_H

/* Where they are, and the key of the chat model, which is in the variable CHAT_KEY of the environment too. */
struct chat_server {
    char *endpoint, *key, *embeddings; /* addresses with /v1 */
    char *servers;                     /* what servers.sh calls DIR */
};

#define CHAT_KEY "CHAT_KEY"

/* What the chat model is called, and what it says where a schema asks for these members. */
#define CHAT_MODEL    "tiny"
#define CHAT_SAYS_SQL "SELECT count(*) FROM customer WHERE country = 'France'" /* {"sql"} */
#define CHAT_SAYS_TEXT                                                                                                 \
    "There are 2 customers whose country is 'France'. That is the only row, computed from 2 source rows." /* {"text"} */
#define CHAT_SAYS_P_YES 0.7310585786 /* {"verdict", "confidence"}: of its token; the stated confidence is 0.75 */

/* Before each test: a scratch folder (tests/unit/cli/spawn.h). Skips the test, with the reason, where no server was started.
 * After it: the chat model runs again, if the test took it away. */
void chat_server_begin(struct chat_server *server);
void chat_server_end(struct chat_server *server);

/* servers.sh with "kill", "up", on "llama" or "llama-embeddings"; asserts that it succeeds. */
void chat_server_command(const struct chat_server *server, const char *command, const char *name);

#endif
