/* The parent's part of an executor (executor.h). It starts the child, sends each statement and waits for the reply.
 *
 * A handle of an executor is a `struct apart`. Its functions `query` and `check` send a request to the child, and
 * `interrupt` sends it a signal. All other functions use `here`, a handle in this process. A child that exceeds the
 * time of a statement, or that sends a malformed reply, is killed; the next statement starts a new child. Each child
 * has a generation number, which shows whether a handle is open in the current child. */
#include "lib/db/executor.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/db/executor_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPEN_MS = 5000, KEEP_BYTES = 1 << 20 /* larger buffers are freed after a statement */, EVER_MS = 1000000000 };

struct apart; /* a handle of an executor */

struct executor {
    char *program;
    pthread_mutex_t lock; /* protects pid, so that no signal is sent to another process that has reused the id */
    pid_t pid;            /* 0 if no child runs */
    pid_t dying;          /* killed child that is not yet reaped, because it takes time to end; 0 if there is none */
    int fd;               /* our end of the socket pair; valid while pid is not 0 */
    uint64_t generation;  /* number of the current child; handles of an earlier child are closed */
    struct apart *handles[EXECUTOR_HANDLES];
    GByteArray *out, *in;
    struct executor_stats stats;
};

struct apart {
    struct db base;          /* must be the first member */
    struct db_engine engine; /* engine of `base`: engine_apart with the dialect of `here` */
    struct db *here;         /* handle of the same database in this process, for the program's own statements */
    struct executor *executor;
    char *path;
    uint32_t slot;
    uint64_t opened_in; /* generation of the child in which the handle is open; 0 if there is none */
    atomic_bool running;
};

static struct apart *apart_of(struct db *db)
{
    return (struct apart *)db;
}

/* --- the process -------------------------------------------------------------------------------------------------- */

struct executor *executor_new(const char *program)
{
    struct executor *executor = g_new0(struct executor, 1);
    executor->program = g_strdup(program);
    pthread_mutex_init(&executor->lock, NULL);
    executor->fd = -1;
    executor->out = g_byte_array_new();
    executor->in = g_byte_array_new();
    return executor;
}

/* Waits until the killed child has ended, and returns its wait status. */
static int reap(struct executor *executor)
{
    int status = 0;
    while (executor->dying && waitpid(executor->dying, &status, 0) < 0 && errno == EINTR) continue;
    executor->dying = 0;
    return status;
}

/* Kills the child without waiting for it. */
static void kill_child(struct executor *executor)
{
    reap(executor);
    pthread_mutex_lock(&executor->lock);
    kill(executor->pid, SIGKILL);
    executor->dying = executor->pid;
    executor->pid = 0;
    pthread_mutex_unlock(&executor->lock);
    close(executor->fd);
    executor->fd = -1;
}

void executor_free(struct executor *executor)
{
    if (!executor) return;
    if (executor->pid) kill_child(executor);
    reap(executor);
    g_byte_array_free(executor->out, TRUE);
    g_byte_array_free(executor->in, TRUE);
    pthread_mutex_destroy(&executor->lock);
    g_free(executor->program);
    g_free(executor);
}

struct executor_stats executor_stats(const struct executor *executor)
{
    return executor->stats;
}

/* Starts the child with default signal handling, no blocked signals, and `end` as WIRE_FD. Standard input and output
 * are /dev/null. The child closes all other inherited descriptors except standard error. */
static int spawn(const char *program, int end, pid_t *pid)
{
    char parent[24];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    char name[] = EXECUTOR_NAME;
    char *argv[] = {name, parent, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, end, WIRE_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    int failed = posix_spawn(pid, program, &files, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Returns the descriptor, or a duplicate if it equals WIRE_FD. dup2 of a descriptor onto itself would leave its
 * close-on-exec flag set. */
static int move_off(int fd)
{
    if (fd != WIRE_FD) return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, WIRE_FD + 1);
    close(fd);
    return moved;
}

static enum err_code start_child(struct executor *executor, struct err *err)
{
    int ends[2];
    pid_t pid = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(err, ERR_UNREACHABLE, "cannot create a socket pair for an executor: %s", g_strerror(errno));
    ends[1] = move_off(ends[1]);
    int failed = ends[1] < 0 ? errno : spawn(executor->program, ends[1], &pid);
    if (ends[1] >= 0) close(ends[1]);
    if (!failed && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) failed = errno;
    if (failed) {
        close(ends[0]);
        return err_set(err, ERR_UNREACHABLE, "cannot start an executor: %s", g_strerror(failed));
    }
    pthread_mutex_lock(&executor->lock);
    executor->pid = pid;
    pthread_mutex_unlock(&executor->lock);
    executor->fd = ends[0];
    executor->generation++;
    executor->stats.started++;
    return ERR_OK;
}

/* --- one exchange ------------------------------------------------------------------------------------------------- */

enum exchange { EXCHANGE_DONE, EXCHANGE_LATE, EXCHANGE_ENDED, EXCHANGE_UNSENT /* the child read nothing */ };

/* Waits until the socket is ready. Returns false after `due_ns`. */
static bool wait_for(int fd, short events, int64_t due_ns)
{
    struct pollfd at = {fd, events, 0};
    int64_t left_ns = due_ns - clock_now_ns();
    if (left_ns <= 0) return false;
    struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
    return ppoll(&at, 1, &left, NULL) != 0;
}

static enum exchange send_all(int fd, const guint8 *bytes, size_t len, int64_t due_ns)
{
    for (size_t sent = 0; sent < len;) {
        ssize_t n = send(fd, bytes + sent, len - sent, MSG_NOSIGNAL);
        if (n > 0) sent += (size_t)n;
        if (n >= 0 || errno == EINTR) continue;
        if (errno != EAGAIN) return sent ? EXCHANGE_ENDED : EXCHANGE_UNSENT;
        if (!wait_for(fd, POLLOUT, due_ns)) return EXCHANGE_LATE;
    }
    return EXCHANGE_DONE;
}

/* Waits for data and appends at most `most` bytes to executor->in. */
static enum exchange receive(struct executor *executor, size_t most, int64_t due_ns)
{
    enum { CHUNK = 64 << 10 };
    GByteArray *in = executor->in;
    guint had = in->len;
    for (;;) {
        guint want = (guint)MIN(most, CHUNK);
        g_byte_array_set_size(in, had + want);
        ssize_t n = recv(executor->fd, in->data + had, want, 0);
        g_byte_array_set_size(in, had + (n > 0 ? (guint)n : 0));
        if (n > 0) return EXCHANGE_DONE;
        /* The child ended before it read anything. */
        if (n < 0 && errno == ECONNRESET && had == 0) return EXCHANGE_UNSENT;
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) return EXCHANGE_ENDED;
        if (errno == EAGAIN && !wait_for(executor->fd, POLLIN, due_ns)) return EXCHANGE_LATE;
    }
}

/* Reads one whole reply into executor->in. Returns EXCHANGE_ENDED if the reply is longer than `most` or other bytes
 * follow it. */
static enum exchange receive_reply(struct executor *executor, uint64_t most, int64_t due_ns)
{
    uint32_t len = 0;
    size_t whole = WIRE_LENGTH;
    g_byte_array_set_size(executor->in, 0);
    /* The first read asks for more than the length, so it usually returns the whole reply. */
    while (executor->in->len < whole || executor->in->len < WIRE_LENGTH) {
        size_t missing = executor->in->len < WIRE_LENGTH ? KEEP_BYTES : whole - executor->in->len;
        enum exchange outcome = receive(executor, missing, due_ns);
        if (outcome) return outcome;
        if (executor->in->len < WIRE_LENGTH) continue;
        memcpy(&len, executor->in->data, sizeof len);
        whole = WIRE_LENGTH + (size_t)len;
        if (len > most || executor->in->len > whole) return EXCHANGE_ENDED;
    }
    return EXCHANGE_DONE;
}

static void trim(GByteArray **buffer)
{
    if ((*buffer)->len <= KEEP_BYTES) return;
    g_byte_array_free(*buffer, TRUE);
    *buffer = g_byte_array_new();
}

/* --- failures ----------------------------------------------------------------------------------------------------- */

static enum err_code overrun_error(const struct wire_request *request, bool by_deadline, struct err *err)
{
    if (by_deadline) return err_set(err, ERR_DEADLINE, "the deadline passed before the statement finished");
    return err_set(err, ERR_LIMIT_TIME, "the statement was stopped after %lld ms, and its process was killed",
                   (long long)request->limits.time_ms + EXECUTOR_GRACE_MS);
}

static enum err_code crash_error(int status, struct err *err)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    log_warn("db", "an executor died while it ran a statement: %s", signal ? g_strsignal(signal) : "it exited");
    /* SIGKILL comes from the system when memory is exhausted, or from kill_child after a malformed reply. */
    if (signal == SIGKILL) return err_set(err, ERR_LIMIT_MEMORY, "the process that ran the statement was killed");
    return err_set(err, ERR_ENGINE, "the process that ran the statement died: %s",
                   signal ? g_strsignal(signal) : "it exited");
}

/* --- statements --------------------------------------------------------------------------------------------------- */

static int64_t statement_due_ns(const struct wire_request *request, bool *by_deadline)
{
    const struct db_limits *limits = &request->limits;
    int64_t ms = MIN(limits->time_ms, EVER_MS) * (limits->by_steps ? DB_AMPLE : 1);
    int64_t due_ns = clock_now_ns() + ms * 1000000;
    *by_deadline = request->deadline_ns && request->deadline_ns < due_ns;
    return (*by_deadline ? request->deadline_ns : due_ns) + EXECUTOR_GRACE_MS * INT64_C(1000000);
}

/* Sends a request to the child and reads the reply. Returns EXCHANGE_UNSENT if the child ended before it read the
 * request. */
static enum exchange ask_once(struct executor *executor, const struct wire_request *request, int64_t due_ns)
{
    enum { HEAD = 4096 }; /* maximum size of a reply without rows */
    wire_write_request(executor->out, request);
    enum exchange outcome = send_all(executor->fd, executor->out->data, executor->out->len, due_ns);
    trim(&executor->out);
    return outcome ? outcome : receive_reply(executor, MIN(request->result_bytes + HEAD, WIRE_MAX), due_ns);
}

/* Sends a request, reads the reply and returns its error. Kills the child after any failure of the exchange, except if
 * the arena is full. */
static enum err_code ask(struct executor *executor, const struct wire_request *request, int64_t due_ns,
                         bool by_deadline, struct arena *arena, struct wire_reply *reply, struct err *err)
{
    enum exchange outcome = ask_once(executor, request, due_ns);
    bool fits = !outcome && wire_read_reply(executor->in->data + WIRE_LENGTH, executor->in->len - WIRE_LENGTH, request,
                                            arena, reply);
    trim(&executor->in);
    if (fits) {
        if (reply->code && err) *err = reply->err;
        return reply->code;
    }
    if (!outcome && arena && arena->failed)
        return err_set(err, ERR_LIMIT_MEMORY, "the result exceeds its memory limit");
    if (outcome == EXCHANGE_ENDED)
        g_usleep(1000); /* the child closed its end: gives it time to end by its own signal, which is then reported */
    kill_child(executor);
    if (outcome == EXCHANGE_LATE) {
        executor->stats.killed++;
        return overrun_error(request, by_deadline, err);
    }
    if (outcome == EXCHANGE_UNSENT) return err_set(err, ERR_UNREACHABLE, "the executor is not running");
    executor->stats.crashed++;
    return crash_error(reap(executor), err);
}

/* Starts a child unless one runs, and opens the database in it unless it is open. */
static enum err_code prepare(struct apart *self, struct err *err)
{
    struct executor *executor = self->executor;
    struct wire_reply reply;
    if (executor->pid && self->opened_in == executor->generation) return ERR_OK;
    for (int tries = 0; tries < 2; tries++) {
        enum err_code code = executor->pid ? ERR_OK : start_child(executor, err);
        if (code) return code;
        struct wire_request request = {.op = WIRE_OPEN, .handle = self->slot, .limits = self->base.limits};
        request.statement = (struct db_statement){.sql = self->path, .len = strlen(self->path)};
        code = ask(executor, &request, clock_now_ns() + OPEN_MS * INT64_C(1000000), false, NULL, &reply, err);
        if (!code) self->opened_in = executor->generation;
        if (executor->pid || code != ERR_UNREACHABLE) return code; /* otherwise the child ended while idle: retry */
    }
    return ERR_UNREACHABLE;
}

static enum err_code run(struct apart *self, struct wire_request *request, struct arena *arena,
                         struct wire_reply *reply, struct err *err)
{
    *reply = (struct wire_reply){.offset = -1};
    if (request->deadline_ns && clock_now_ns() >= request->deadline_ns) return overrun_error(request, true, err);
    enum err_code code = ERR_UNREACHABLE;
    for (int tries = 0; tries < 2 && code == ERR_UNREACHABLE; tries++) {
        bool by_deadline;
        code = prepare(self, err);
        if (code) return code;
        int64_t due_ns = statement_due_ns(request, &by_deadline);
        atomic_store(&self->running, true);
        code = ask(self->executor, request, due_ns, by_deadline, arena, reply, err);
        atomic_store(&self->running, false);
        if (self->executor->pid) return code; /* otherwise the child ended before it read the statement: retry */
    }
    return code;
}

static struct wire_request request_of(const struct apart *self, enum wire_op op, const struct db_statement *statement)
{
    return (struct wire_request){.op = op,
                                 .handle = self->slot,
                                 .limits = self->base.limits,
                                 .deadline_ns = self->base.deadline_ns,
                                 .statement = *statement};
}

/* --- the engine's slots ------------------------------------------------------------------------------------------- */

static enum err_code query(struct db *db, struct arena *arena, const struct db_statement *statement,
                           struct db_result *out, struct err *err)
{
    struct wire_request request = request_of(apart_of(db), WIRE_QUERY, statement);
    struct wire_reply reply;
    request.result_bytes = arena->cap - arena->used;
    enum err_code code = run(apart_of(db), &request, arena, &reply, err);
    *out = reply.result;
    return code;
}

static enum err_code check(struct db *db, const char *sql, size_t len, int *offset, struct err *err)
{
    const struct db_statement statement = {.sql = sql, .len = len};
    const struct wire_request request = request_of(apart_of(db), WIRE_CHECK, &statement);
    struct wire_reply reply;
    enum err_code code = run(apart_of(db), (struct wire_request *)&request, NULL, &reply, err);
    *offset = reply.offset >= 0 && (size_t)reply.offset <= len ? reply.offset : -1;
    return code;
}

static enum err_code scan(struct db *db, const char *sql, db_row_fn *each, void *ctx, struct err *err)
{
    struct db *here = apart_of(db)->here;
    here->deadline_ns = db->deadline_ns;
    return here->engine->scan(here, sql, each, ctx, err);
}

static enum err_code fingerprint(struct db *db, char out[33], struct err *err)
{
    return db_fingerprint(apart_of(db)->here, out, err);
}

static bool tells_changes(const struct db *db)
{
    return db_tells_changes(((const struct apart *)db)->here);
}

static void limits_changed(struct db *db)
{
    db_set_limits(apart_of(db)->here, &db->limits);
}

/* Sends SIGUSR1, on which the child cancels its running statement. */
static void interrupt(struct db *db)
{
    struct apart *self = apart_of(db);
    if (!atomic_load(&self->running)) return;
    pthread_mutex_lock(&self->executor->lock);
    if (self->executor->pid) kill(self->executor->pid, SIGUSR1);
    pthread_mutex_unlock(&self->executor->lock);
}

static void close_handle(struct db *db)
{
    struct apart *self = apart_of(db);
    struct executor *executor = self->executor;
    if (executor->pid && self->opened_in == executor->generation) {
        struct wire_request request = {.op = WIRE_CLOSE, .handle = self->slot};
        struct wire_reply reply;
        request.statement.sql = "";
        ask(executor, &request, clock_now_ns() + OPEN_MS * INT64_C(1000000), false, NULL, &reply, NULL);
    }
    executor->handles[self->slot] = NULL;
    db_close(self->here);
    g_free(self->path);
    g_free(self);
}

/* The engine of executor handles. It is not in db_engines[], because no path selects it. executor_open sets its
 * dialect. */
static const struct db_engine engine_apart = {
    .close = close_handle,
    .limits_changed = limits_changed,
    .interrupt = interrupt,
    .fingerprint = fingerprint,
    .tells_changes = tells_changes,
    .check = check,
    .query = query,
    .scan = scan,
};

static uint32_t free_slot(const struct executor *executor)
{
    uint32_t slot = 0;
    while (slot < EXECUTOR_HANDLES && executor->handles[slot]) slot++;
    return slot;
}

enum err_code executor_open(struct executor *executor, const char *path, const struct db_limits *limits,
                            struct db **out, struct err *err)
{
    struct db *here;
    enum err_code code = db_open(path, limits, &here, err);
    *out = here;
    bool file = !code && db_is_file(path);
    if (code || !(file || db_dialect(here)->no_data)) return code;
    uint32_t slot = free_slot(executor);
    if (slot == EXECUTOR_HANDLES) return ERR_OK; /* no free slot: statements of this handle run in this process */
    struct apart *self = g_new0(struct apart, 1);
    self->engine = engine_apart;
    self->engine.dialect = *db_dialect(here);
    self->base = (struct db){.engine = &self->engine, .limits = db_get_limits(here)};
    self->here = here;
    self->executor = executor;
    self->path = file ? g_canonicalize_filename(path, NULL) : g_strdup(path);
    self->slot = slot;
    executor->handles[slot] = self;
    *out = &self->base;
    return ERR_OK;
}
