/* Connects live tests to a real chat model and a real embedding model. Both run in llama.cpp's server and give a few
 * fixed answers (tests/live/llama/serve.py). Tests share the servers, so they run one at a time. */
#ifndef ASSAY_TESTS_LIVE_CHAT_SERVER_H
#define ASSAY_TESTS_LIVE_CHAT_SERVER_H

/* The addresses of the servers, and the key of the chat model. The environment variable CHAT_KEY has the same key. */
struct chat_server {
    char *endpoint, *key, *embeddings; /* addresses end in /v1 */
    char *servers;                     /* folder that servers.sh calls DIR */
};

#define CHAT_KEY "CHAT_KEY"

/* The name of the chat model, and its answers to requests whose schema has the members below. */
#define CHAT_MODEL    "tiny"
#define CHAT_SAYS_SQL "SELECT count(*) FROM customer WHERE country = 'France'" /* {"sql"} */
#define CHAT_SAYS_TEXT                                                                                                 \
    "There are 2 customers whose country is 'France'. That is the only row, computed from 2 source rows." /* {"text"} */
/* {"verdict", "confidence"}: the probability of the verdict token. The confidence in the text is 0.75. */
#define CHAT_SAYS_P_YES 0.7310585786

/* Run before and after each test. The first creates a scratch folder (tests/unit/cli/spawn.h), and skips the test if no
 * server was started. The second restarts the chat model if the test stopped it. */
void chat_server_begin(struct chat_server *server);
void chat_server_end(struct chat_server *server);

/* Runs servers.sh with "kill" or "up" on "llama" or "llama-embeddings"; asserts that it succeeds. */
void chat_server_command(const struct chat_server *server, const char *command, const char *name);

#endif
