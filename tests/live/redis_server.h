/* A real Redis of one test's own, on a free port of the loopback address: to be killed, paused, filled and restarted
 * without anybody else noticing. */
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

/* Skips the running test, with the reason, where no server was asked for (ASSAY_TEST_REDIS) or none is installed. */
void redis_needed(void);

/* Start; further arguments end with NULL, and may be NULL. Ready on return. */
void redis_start(struct redis_server *server, const char *const *args, const char *password);
void redis_kill(struct redis_server *server);  /* SIGKILL, reaped */
void redis_again(struct redis_server *server); /* on the old port, empty */
void redis_pause(const struct redis_server *server);
void redis_resume(const struct redis_server *server);
void redis_end(struct redis_server *server);

/* One command from words, on a connection of its own; the caller frees the reply. Asserts that there is one. */
redisReply *redis_do(const struct redis_server *server, const char *first, ...);
/* Its integer, its text (static, "" for nil), and whether a key is there. */
long long redis_int(const struct redis_server *server, const char *command, const char *argument);
const char *redis_text(const struct redis_server *server, const char *command, const char *argument);
/* The only key that matches a pattern, "" when there is none; asserts that there are not two. Static. */
const char *redis_key(const struct redis_server *server, const char *pattern);

#endif
