/* The child of an executor (executor.h): its sandbox, and the loop that serves requests. */
#include "lib/db/executor.h"
#include "lib/db/executor_wire.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* --- the sandbox -------------------------------------------------------------------------------------------------- */

#define REFUSE(name)                                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

#if defined(__x86_64__)
enum { THIS_ARCH = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { THIS_ARCH = AUDIT_ARCH_AARCH64 };
#endif

/* Refuses system calls that open sockets, start programs or processes, or change names in the file system. If seccomp
 * is unavailable, the limits below and the restrictions inside SQLite still apply. */
static void refuse_calls(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)THIS_ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__ /* kills the process for x32 system calls, which have other numbers */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
#endif
        REFUSE(socket),
        REFUSE(socketpair),
        REFUSE(io_uring_setup), /* a ring can perform refused operations */
        REFUSE(pidfd_getfd),
        REFUSE(connect),
        REFUSE(bind),
        REFUSE(execve),
        REFUSE(execveat),
        REFUSE(ptrace),
        REFUSE(process_vm_readv),
        REFUSE(process_vm_writev),
        REFUSE(kill),
        REFUSE(unlinkat),
        REFUSE(renameat2),
        REFUSE(linkat),
        REFUSE(symlinkat),
        REFUSE(mkdirat),
        REFUSE(fchmodat),
        REFUSE(fchownat),
#ifdef __x86_64__
        REFUSE(fork),
        REFUSE(vfork),
        REFUSE(unlink),
        REFUSE(rename),
        REFUSE(link),
        REFUSE(symlink),
        REFUSE(mkdir),
        REFUSE(rmdir),
        REFUSE(chmod),
        REFUSE(chown),
        REFUSE(creat),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof *program, program};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
#endif
}

static void limit_to(__rlimit_resource_t what, rlim_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now) != 0 || (now.rlim_max != RLIM_INFINITY && now.rlim_max <= most)) return;
    setrlimit(what, &(struct rlimit){most, most});
}

/* Restricts the child: it is killed when `parent` ends, has no inherited descriptors, and has limits on its resources
 * and system calls. */
static void confine(pid_t parent)
{
    enum { DESCRIPTORS = 1024 };
    static const rlim_t MEMORY = (rlim_t)4 << 30; /* address space: libraries, stacks and twice SQLite's share */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    close_range(WIRE_FD + 1, ~0U, 0);
    limit_to(RLIMIT_CORE, 0);
    limit_to(RLIMIT_FSIZE, 0);
    limit_to(RLIMIT_NOFILE, DESCRIPTORS);
    if (!SANITIZED) limit_to(RLIMIT_AS, MEMORY);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    refuse_calls();
}

/* --- serving ------------------------------------------------------------------------------------------------------ */

static struct db *handles[EXECUTOR_HANDLES];
static struct db *volatile running; /* handle whose statement runs; read by the signal handler */

static void on_interrupt(int signal)
{
    (void)signal;
    struct db *db = running;
    if (db) db_interrupt(db); /* only sets a flag, so it is safe in a signal handler */
}

static void serve_open(const struct wire_request *request, struct wire_reply *reply)
{
    struct db **handle = &handles[request->handle];
    db_close(*handle);
    *handle = NULL;
    reply->code = db_open(request->statement.sql, &request->limits, handle, &reply->err);
}

static void serve_close(const struct wire_request *request, struct wire_reply *reply)
{
    (void)reply;
    db_close(handles[request->handle]);
    handles[request->handle] = NULL;
}

/* Returns the handle of the request, with the limits of the request, or NULL if it is not open. Sets `killable`,
 * because the parent can kill this process. */
static struct db *handle_for(const struct wire_request *request)
{
    struct db *db = handles[request->handle];
    if (!db) return NULL;
    struct db_limits limits = request->limits;
    limits.killable = true;
    db_set_limits(db, &limits);
    db_set_deadline(db, request->deadline_ns);
    running = db;
    return db;
}

static struct arena arena;

static void serve_query(const struct wire_request *request, struct wire_reply *reply)
{
    const struct db_statement *statement = &request->statement;
    struct db *db = handle_for(request);
    if (!db) return;
    arena.cap = request->result_bytes;
    reply->code = db_query(db, &arena, statement->sql, statement->len, statement->params, statement->n_params,
                           statement->stop_rows, &reply->result, &reply->err);
    running = NULL;
}

static void serve_check(const struct wire_request *request, struct wire_reply *reply)
{
    struct db *db = handle_for(request);
    if (!db) return;
    reply->code = db_prepare_check(db, request->statement.sql, request->statement.len, &reply->offset, &reply->err);
    running = NULL;
}

static void (*const serve[WIRE_OP_COUNT])(const struct wire_request *, struct wire_reply *) = {
    [WIRE_OPEN] = serve_open, [WIRE_CLOSE] = serve_close, [WIRE_CHECK] = serve_check, [WIRE_QUERY] = serve_query};

/* Reads `len` bytes. Exits the process if the parent has ended or closed the socket, because it then expects no reply.
 */
static void receive_all(void *into, size_t len)
{
    for (size_t got = 0; got < len;) {
        ssize_t n = read(WIRE_FD, (char *)into + got, len - got);
        if (n > 0) got += (size_t)n;
        if (n == 0 || (n < 0 && errno != EINTR)) _exit(0);
    }
}

static void send_all(const void *from, size_t len)
{
    for (size_t sent = 0; sent < len;) {
        ssize_t n = write(WIRE_FD, (const char *)from + sent, len - sent);
        if (n > 0) sent += (size_t)n;
        if (n < 0 && errno != EINTR) _exit(0);
    }
}

static void serve_one(GByteArray *in, GByteArray *out)
{
    uint32_t len;
    struct wire_request request;
    struct wire_reply reply = {.code = ERR_INTERNAL, .offset = -1};
    struct db_value *params;
    receive_all(&len, sizeof len);
    g_byte_array_set_size(in, len);
    receive_all(in->data, len);
    arena_reset(&arena);
    if (wire_read_request(in->data, len, &request, &params)) {
        if (request.op == WIRE_CLOSE) reply.code = ERR_OK;
        serve[request.op](&request, &reply);
    }
    g_free(params);
    wire_write_reply(out, &reply);
    send_all(out->data, out->len);
}

_Noreturn void executor_serve(const char *parent)
{
    enum { KEEP_BYTES = 1 << 20 };
    confine((pid_t)atol(parent ? parent : "0"));
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGINT, SIG_IGN); /* a terminal sends SIGINT to the child too; the parent handles it and ends the child */
    signal(SIGTERM, SIG_IGN);
    arena_init(&arena, 0);
    for (GByteArray *in = g_byte_array_new(), *out = g_byte_array_new();;) {
        serve_one(in, out);
        if (in->len > KEEP_BYTES) g_byte_array_free(in, TRUE), in = g_byte_array_new();
        if (out->len > KEEP_BYTES) g_byte_array_free(out, TRUE), out = g_byte_array_new();
    }
}
