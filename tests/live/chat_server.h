/* The real chat model and the real embeddings of the live tests: llama.cpp's server with models that know a few answers
 * (tests/live/llama/serve.py). Tests run one at a time, since they share the servers. */
#ifndef ASSAY_TESTS_LIVE_CHAT_SERVER_H
#define ASSAY_TESTS_LIVE_CHAT_SERVER_H

/* The addresses of the servers, and the key of the chat model, which is also in the environment variable CHAT_KEY. */
struct chat_server {
    char *endpoint, *key, *embeddings; /* addresses with /v1 */
    char *servers;                     /* DIR in servers.sh */
};

#define CHAT_KEY "CHAT_KEY"

/* The name of the chat model, and its answers to schemas with these members. */
#define CHAT_MODEL    "tiny"
#define CHAT_SAYS_SQL "SELECT count(*) FROM customer WHERE country = 'France'" /* {"sql"} */
#define CHAT_SAYS_TEXT                                                                                                 \
    "There are 2 customers whose country is 'France'. That is the only row, computed from 2 source rows." /* {"text"} */
/* {"verdict", "confidence"}: probability of the verdict token; the stated confidence is 0.75 */
#define CHAT_SAYS_P_YES 0.7310585786

/* Runs before each test: creates a scratch folder (tests/unit/cli/spawn.h), and skips the test with the reason if no
 * server was started. The second function runs after it: it restarts the chat model if the test stopped it. */
void chat_server_begin(struct chat_server *server);
void chat_server_end(struct chat_server *server);

/* Runs servers.sh with "kill" or "up" on "llama" or "llama-embeddings"; asserts that it succeeds. */
void chat_server_command(const struct chat_server *server, const char *command, const char *name);

#endif
