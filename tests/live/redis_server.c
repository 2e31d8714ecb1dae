#include "tests/live/redis_server.h"

#include "tests/support/port.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_MS = 10000, MAX_ARGS = 32 };

void redis_needed(void)
{
    const char *address = getenv("ASSAY_TEST_REDIS");
    if (!address || !*address) cr_skip_test("no Redis: ASSAY_TEST_REDIS is not set (tests/live/servers.sh)");
    if (system("command -v redis-server >/dev/null") != 0) cr_skip_test("no Redis: redis-server is not installed");
}

static void run_server(const struct redis_server *server)
{
    char port[8];
    const char *argv[MAX_ARGS] = {"redis-server", "--port", port,    "--bind",   "127.0.0.1", "--save", "",
                                  "--appendonly", "no",     "--dir", server->dir};
    int n = 11, log = open("/dev/null", O_RDWR);
    snprintf(port, sizeof port, "%d", server->port);
    for (int i = 0; server->args && server->args[i]; i++) argv[n++] = server->args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the server ends even if the test crashes */
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static bool answers(void *context)
{
    const struct redis_server *server = context;
    redisContext *redis = redisConnectWithTimeout("127.0.0.1", server->port, (struct timeval){1, 0});
    redisReply *reply = redis && !redis->err ? redisCommand(redis, "PING") : NULL;
    bool ready = reply && (reply->type == REDIS_REPLY_STATUS || strncmp(reply->str, "NOAUTH", 6) == 0);
    if (reply) freeReplyObject(reply);
    if (redis) redisFree(redis);
    return ready;
}

void redis_again(struct redis_server *server)
{
    server->pid = fork();
    cr_assert_geq(server->pid, 0);
    if (server->pid == 0) run_server(server);
    cr_assert(wait_until(answers, server, READY_MS), "redis-server does not answer");
}

void redis_start(struct redis_server *server, const char *const *args, const char *password)
{
    *server = (struct redis_server){.port = free_port(), .args = args, .password = password};
    snprintf(server->dir, sizeof server->dir, "/tmp/assay-test-redis-XXXXXX");
    cr_assert_not_null(mkdtemp(server->dir));
    snprintf(server->address, sizeof server->address, "127.0.0.1:%d", server->port);
    redis_again(server);
}

void redis_kill(struct redis_server *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

void redis_pause(const struct redis_server *server)
{
    kill(server->pid, SIGSTOP);
}

void redis_resume(const struct redis_server *server)
{
    kill(server->pid, SIGCONT);
}

void redis_end(struct redis_server *server)
{
    if (server->pid) redis_kill(server);
    rmdir(server->dir);
}

static redisReply *run_command(const struct redis_server *server, int argc, const char **argv)
{
    redisContext *redis = redisConnectWithTimeout("127.0.0.1", server->port, (struct timeval){5, 0});
    cr_assert(redis && !redis->err);
    if (server->password) freeReplyObject(redisCommand(redis, "AUTH %s", server->password));
    redisReply *reply = redisCommandArgv(redis, argc, argv, NULL);
    cr_assert_not_null(reply, "%s: %s", argv[0], redis->errstr);
    redisFree(redis);
    return reply;
}

redisReply *redis_do(const struct redis_server *server, const char *first, ...)
{
    const char *argv[MAX_ARGS];
    int n = 0;
    va_list args;
    va_start(args, first);
    for (const char *word = first; word; word = va_arg(args, const char *)) argv[n++] = word;
    va_end(args);
    return run_command(server, n, argv);
}

long long redis_int(const struct redis_server *server, const char *command, const char *argument)
{
    redisReply *reply = redis_do(server, command, argument, NULL);
    cr_assert_eq(reply->type, REDIS_REPLY_INTEGER, "%s %s", command, argument);
    long long value = reply->integer;
    freeReplyObject(reply);
    return value;
}

const char *redis_text(const struct redis_server *server, const char *command, const char *argument)
{
    static char text[256];
    redisReply *reply = redis_do(server, command, argument, NULL);
    snprintf(text, sizeof text, "%s", reply->type == REDIS_REPLY_NIL ? "" : reply->str);
    freeReplyObject(reply);
    return text;
}

const char *redis_key(const struct redis_server *server, const char *pattern)
{
    static char key[512];
    redisReply *reply = redis_do(server, "KEYS", pattern, NULL);
    cr_assert_eq(reply->type, REDIS_REPLY_ARRAY);
    cr_assert_leq(reply->elements, 1, "%zu keys are like %s", reply->elements, pattern);
    snprintf(key, sizeof key, "%s", reply->elements ? reply->element[0]->str : "");
    freeReplyObject(reply);
    return key;
}
