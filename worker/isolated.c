/* DESIGN: a child process judges a task. Two pipes connect it.
 *
 * The parent writes the encoded task and reads the encoded result in one poll loop with a deadline, so neither process
 * blocks the other. The parent kills a child that exceeds its time. The wait status of the child decides: if a signal
 * killed it, the task is at fault; after any other failure it is not. The child uses a worker without a bus or group.
 */
#include "worker/isolated.h"

#include "lib/base/clock.h"
#include "worker/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, SLICE_MS = 50, END_MS = 2000 };

/* --- functions of the isolated process --- */

/* Judges the task. An error of class reject becomes a result with unavailable signals, which points into `why`. */
static enum err_code judge(struct lane *lane, const struct msg_task *task, int64_t left_ms, struct msg_result *result,
                           struct err *why)
{
    int64_t deadline_ns = left_ms > 0 ? clock_now_ns() + left_ms * 1000000 : 0;
    enum err_code code = dispatch_evaluate(lane, task, deadline_ns, result, why);
    if (code && why->code != code) err_set(why, code, "%s", err_meaning(code));
    if (!code || err_class(code) != ERR_CLASS_REJECT) return code;
    return answer_unavailable(&lane->answers, &lane->worker->config, task, vsig_family_by_name(task->family), why,
                              result);
}

enum err_code isolated_evaluate(const struct worker_config *config, const void *task, size_t len, int64_t left_ms,
                                struct msg_buffer *result, struct err *err)
{
    struct worker *worker;
    struct msg_task *own = NULL;
    struct msg_result answer = {0};
    struct err why = {0};
    enum err_code code = worker_make(config, 1, &worker);
    struct arena *arena = code ? NULL : &worker->batches->arena;
    if (!code) code = msg_decode_task(arena, task, len, &own, &why);
    if (!code) code = worker_policy(&config->databases, arena, own, &why);
    if (!code) code = judge(worker->lanes, own, left_ms, &answer, &why);
    if (!code) code = msg_encode_result(result, &answer);
    worker_free(worker);
    return code ? err_set(err, code, "%s", why.text[0] ? why.text : err_meaning(code)) : ERR_OK;
}

/* --- functions of the parent --- */

struct child {
    pid_t pid;
    int in, out; /* -1 if the pipe is closed */
};

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static char **environment_with(const char *variable)
{
    char **all = g_get_environ();
    const char *equals = strchr(variable, '=');
    char *name = g_strndup(variable, (gsize)(equals - variable));
    all = g_environ_setenv(all, name, equals + 1, TRUE);
    g_free(name);
    return all;
}

/* Starts the program with no signals blocked, although the parent blocks some. */
static int spawn(struct child *child, const char *const *argv, const char *variable, const int in[2], const int out[2])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    char **environment = environment_with(variable);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out[1], STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failed = posix_spawn(&child->pid, argv[0], &files, &attributes, (char *const *)argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    g_strfreev(environment);
    return failed;
}

static enum err_code start(struct child *child, const char *const *argv, const char *variable, struct err *err)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    bool piped = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0;
    int failed = piped ? spawn(child, argv, variable, in, out) : errno;
    *child = (struct child){failed ? 0 : child->pid, in[1], out[0]};
    close_end(&in[0]);
    close_end(&out[1]);
    if (!failed && fcntl(child->in, F_SETFL, O_NONBLOCK) == 0) return ERR_OK;
    close_end(&child->in);
    close_end(&child->out);
    return err_set(err, ERR_UNREACHABLE, "cannot start an isolated process for the task: %s", g_strerror(failed));
}

static bool append(struct msg_buffer *output, const char *bytes, size_t len, size_t max)
{
    if (output->len + len > max) return false;
    if (output->len + len > output->room) {
        size_t room = 2 * (output->len + len);
        char *grown = realloc(output->bytes, room);
        if (!grown) return false;
        output->bytes = grown;
        output->room = room;
    }
    memcpy(output->bytes + output->len, bytes, len);
    output->len += len;
    return true;
}

/* Writes and reads what the pipes allow now, once. Returns false if the child has closed its output or exceeds the
 * limit. */
static bool exchange(struct child *child, const char **input, size_t *left, size_t max, struct msg_buffer *output)
{
    static const short ENDED = POLLIN | POLLHUP | POLLERR;
    char chunk[CHUNK];
    struct pollfd fds[2] = {{child->out, POLLIN, 0}, {child->in, POLLOUT, 0}};
    poll(fds, child->in >= 0 ? 2 : 1, SLICE_MS);
    if (child->in >= 0 && fds[1].revents) {
        ssize_t n = write(child->in, *input, *left); /* SIGPIPE is ignored in processes that run workers */
        if (n > 0) *input += n, *left -= (size_t)n;
        if (!*left || (n < 0 && errno != EAGAIN && errno != EINTR)) close_end(&child->in);
    }
    if (!(fds[0].revents & ENDED)) return true;
    ssize_t n = read(child->out, chunk, sizeof chunk);
    return n < 0 ? errno == EINTR : n > 0 && append(output, chunk, (size_t)n, max);
}

/* Waits for the child until until_ns and returns its wait status. Kills it after that, and returns a value below 0. */
static int reap(pid_t pid, int64_t until_ns)
{
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_now_ns() >= until_ns) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        g_usleep(1000);
    }
    return status;
}

enum err_code isolated_run(const char *const *argv, const char *variable, const void *input, size_t len,
                           int64_t limit_ms, size_t max, struct msg_buffer *output, struct err *err)
{
    struct child child = {0};
    const char *rest = input;
    int64_t until_ns = clock_now_ns() + limit_ms * 1000000;
    output->len = 0;
    enum err_code code = start(&child, argv, variable, err);
    if (code) return code;
    while (clock_now_ns() < until_ns && exchange(&child, &rest, &len, max, output)) continue;
    close_end(&child.in);
    close_end(&child.out);
    int64_t end_ns = clock_now_ns() + END_MS * INT64_C(1000000);
    int status = reap(child.pid, until_ns < end_ns ? until_ns : end_ns);
    if (status < 0) return err_set(err, ERR_DEADLINE, "the isolated process of the task timed out");
    if (WIFSIGNALED(status))
        return err_set(err, ERR_REJECTED, "the task crashed its isolated process: %s", g_strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) == 0) return ERR_OK;
    return err_set(err, ERR_UNREACHABLE, "the isolated process of the task exited with status %d", WEXITSTATUS(status));
}
