/* Starts a real Redis for one test, on a free port of the loopback address. The test may kill, pause, fill and restart
 * it without any effect on other tests. */
#ifndef ASSAY_TESTS_LIVE_REDIS_SERVER_H
#define ASSAY_TESTS_LIVE_REDIS_SERVER_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

struct redis_server {
    char dir[64], address[32];
    int port;
    pid_t pid;
    const char *const *args;
    const char *password; /* password that redis_do sends */
};

/* Skips the running test, and prints the reason, if ASSAY_TEST_REDIS is unset or no server is installed. */
void redis_needed(void);

/* Starts the server and waits until it is ready. `args` are further arguments, ended by NULL; `args` may be NULL. */
void redis_start(struct redis_server *server, const char *const *args, const char *password);
void redis_kill(struct redis_server *server);  /* kills with SIGKILL and reaps */
void redis_again(struct redis_server *server); /* restarts on the old port, empty */
void redis_pause(const struct redis_server *server);
void redis_resume(const struct redis_server *server);
void redis_end(struct redis_server *server);

/* Runs one command, given as words, on its own connection. Asserts that there is a reply, which the caller frees. */
redisReply *redis_do(const struct redis_server *server, const char *first, ...);
/* Return the integer of the reply, the text of the reply (static, "" for nil), and whether a key exists. */
long long redis_int(const struct redis_server *server, const char *command, const char *argument);
const char *redis_text(const struct redis_server *server, const char *command, const char *argument);
/* Returns the only key that matches a pattern, in static memory; "" if there is none. Asserts that at most one
 * matches. */
const char *redis_key(const struct redis_server *server, const char *pattern);

#endif
