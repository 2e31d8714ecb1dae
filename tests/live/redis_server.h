/* A real Redis for one test, on a free port of the loopback address. The test may kill, pause, fill and restart it
 * without any effect on other tests. */
#ifndef ASSAY_TESTS_LIVE_REDIS_SERVER_H
#define ASSAY_TESTS_LIVE_REDIS_SERVER_H

#include <hiredis/hiredis.h>
#include <sys/types.h>

struct redis_server {
    char dir[64], address[32];
    int port;
    pid_t pid;
    const char *const *args;
    const char *password; /* for redis_do */
};

/* Skips the running test with the reason if no server was requested (ASSAY_TEST_REDIS) or none is installed. */
void redis_needed(void);

/* Starts the server, which is ready on return; further arguments end with NULL and may be NULL. */
void redis_start(struct redis_server *server, const char *const *args, const char *password);
void redis_kill(struct redis_server *server);  /* kills with SIGKILL and reaps */
void redis_again(struct redis_server *server); /* on the old port, empty */
void redis_pause(const struct redis_server *server);
void redis_resume(const struct redis_server *server);
void redis_end(struct redis_server *server);

/* Runs one command given as words, on a connection of its own; the caller frees the reply. Asserts that there is
 * one. */
redisReply *redis_do(const struct redis_server *server, const char *first, ...);
/* Return the integer of the reply, its text (static, "" for nil), and whether a key exists. */
long long redis_int(const struct redis_server *server, const char *command, const char *argument);
const char *redis_text(const struct redis_server *server, const char *command, const char *argument);
/* Returns the only key that matches a pattern, "" if there is none; asserts that there are not two. Static. */
const char *redis_key(const struct redis_server *server, const char *pattern);

#endif
