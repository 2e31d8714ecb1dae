/* The connection to a MariaDB server. Every wait has a time limit.
 *
 * All calls of the client library are non-blocking. The calling thread waits in poll() and checks the clock and
 * `cancelled` at intervals, so no watchdog is needed. Rows are read as they arrive; the library does not store them. A
 * packet that is larger than the limit on a result ends the connection.
 *
 * Stopping. The server ends a statement at its max_statement_time. If it does not within GRACE_NS, or on cancellation,
 * a separate thread opens a second connection and sends KILL QUERY. The call meanwhile continues to wait for the
 * server. If the server has not answered by stop_ns, the statement is abandoned and the connection is closed. A late
 * kill could stop the next statement. So the caller waits for the killer thread, and sends a ROLLBACK after each
 * statement, which a kill may safely stop. Unread rows are read if they arrive at once; otherwise the statement is
 * killed.
 *
 * Rejected: suspending the call and resuming it after the statement was stopped. The library does not support this.
 */
#include "lib/db/mariadb_int.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <mysqld_error.h>
#include <errmsg.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

LATE_LIBRARY(libmariadb, LIBMARIADB_CALLS, LIBMARIADB_FILE, LIBMARIADB_PACKAGE)

enum { SLICE_MS = 20, STOP_MS = 500, CONNECT_MS = 5000, KILL_S = 2, MAX_KILLERS = 16, PACKET_SLACK = 1 << 20 };
enum { STACK = 256 << 10 }; /* stack of a non-blocking call; resolving a host name needs much of it */
enum { READ_ON_ROWS = 1000 };
static const int64_t READ_ON_NS = 20 * 1000000LL;
static const int64_t GRACE_NS = 150 * 1000000LL; /* time for the server's own timeout to act */

/* --- failures ----------------------------------------------------------------------------------------------------- */

enum { STATEMENT_TIMEOUT = 1969, TOO_DEEP = 1473, OF_SESSION_MEMORY = 1290, NO_ROUTINE_RIGHT = 1370 };

/* Error numbers of the server and the client. Unlisted errors of the server are errors of the statement. */
static const struct {
    unsigned number;
    enum err_code code;
} failures[] = {
    {ER_ACCESS_DENIED_ERROR, ERR_DB_UNREADABLE},
    {ER_ACCESS_DENIED_NO_PASSWORD_ERROR, ERR_DB_UNREADABLE},
    {ER_DBACCESS_DENIED_ERROR, ERR_DB_UNREADABLE},
    {ER_HOST_NOT_PRIVILEGED, ERR_DB_UNREADABLE},
    {CR_SSL_CONNECTION_ERROR, ERR_DB_UNREADABLE},
    {CR_AUTH_PLUGIN_CANNOT_LOAD, ERR_DB_UNREADABLE},
    {ER_BAD_DB_ERROR, ERR_DB_MISSING},
    {ER_CON_COUNT_ERROR, ERR_UNREACHABLE},
    {ER_TOO_MANY_USER_CONNECTIONS, ERR_UNREACHABLE},
    {ER_USER_LIMIT_REACHED, ERR_UNREACHABLE},
    {ER_HOST_IS_BLOCKED, ERR_UNREACHABLE},
    {ER_SERVER_SHUTDOWN, ERR_UNREACHABLE},
    {ER_CONNECTION_KILLED, ERR_UNREACHABLE},
    {CR_SERVER_GONE_ERROR, ERR_UNREACHABLE},
    {CR_SERVER_LOST, ERR_UNREACHABLE},
    {CR_SERVER_LOST_EXTENDED, ERR_UNREACHABLE},
    {CR_CONNECTION_ERROR, ERR_UNREACHABLE},
    {CR_CONN_HOST_ERROR, ERR_UNREACHABLE},
    {CR_UNKNOWN_HOST, ERR_UNREACHABLE},
    {CR_OUT_OF_MEMORY, ERR_LIMIT_MEMORY},
    {STATEMENT_TIMEOUT, ERR_LIMIT_TIME},
    {ER_QUERY_INTERRUPTED, ERR_LIMIT_TIME},
    {ER_LOCK_WAIT_TIMEOUT, ERR_DB_LOCKED},
    {ER_LOCK_DEADLOCK, ERR_DB_LOCKED},
    {ER_TABLEACCESS_DENIED_ERROR, ERR_REFUSED},
    {ER_COLUMNACCESS_DENIED_ERROR, ERR_REFUSED},
    {ER_SPECIFIC_ACCESS_DENIED_ERROR, ERR_REFUSED},
    {NO_ROUTINE_RIGHT, ERR_REFUSED},
    {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ERR_REFUSED},
    {OF_SESSION_MEMORY, ERR_REFUSED},
    {ER_OUTOFMEMORY, ERR_LIMIT_MEMORY},
    {ER_OUT_OF_SORTMEMORY, ERR_LIMIT_MEMORY},
    {ER_OUT_OF_RESOURCES, ERR_LIMIT_MEMORY},
    {ER_DISK_FULL, ERR_LIMIT_MEMORY},
    {ER_RECORD_FILE_FULL, ERR_LIMIT_MEMORY}, /* a temporary table exceeds tmp_disk_table_size */
    {ER_STACK_OVERRUN, ERR_LIMIT_DEPTH},
    {ER_STACK_OVERRUN_NEED_MORE, ERR_LIMIT_DEPTH},
    {TOO_DEEP, ERR_LIMIT_DEPTH},
    {ER_TOO_MANY_TABLES, ERR_LIMIT_COUNT},
    {ER_TOO_MANY_FIELDS, ERR_LIMIT_COUNT},
    {ER_NET_PACKET_TOO_LARGE, ERR_LIMIT_BYTES},
    {ER_CRASHED_ON_USAGE, ERR_DB_CORRUPT},
    {ER_CRASHED_ON_REPAIR, ERR_DB_CORRUPT},
    {ER_NOT_KEYFILE, ERR_DB_CORRUPT},
};

static enum err_code code_of(unsigned number, const char *text)
{
    if (number == OF_SESSION_MEMORY && strstr(text, "max-session-mem-used")) return ERR_LIMIT_MEMORY;
    for (size_t i = 0; i < G_N_ELEMENTS(failures); i++)
        if (failures[i].number == number) return failures[i].code;
    return number >= CR_MIN_ERROR && number <= CR_MAX_ERROR ? ERR_UNREACHABLE : ERR_ENGINE;
}

enum err_code mariadb_link_stopped(const struct mariadb_db *self, enum err_code code, struct err *err)
{
    switch (code) {
    case ERR_DEADLINE: return err_set(err, code, "the deadline passed before the statement finished");
    case ERR_CANCELLED: return err_set(err, code, "the statement was cancelled");
    default: return err_set(err, code, "the statement was stopped after %lld ms", (long long)self->base.limits.time_ms);
    }
}

static enum err_code out_of_time(const struct mariadb_db *self)
{
    return self->due_is_deadline ? ERR_DEADLINE : ERR_LIMIT_TIME;
}

/* True if a packet exceeded the limit. The library reports this as a lost connection; net.error distinguishes the two.
 */
static bool is_too_large(const MYSQL *conn, unsigned number)
{
    enum { PACKET_REFUSED = 1 }; /* 2 means that the connection was lost */
    return number == CR_NET_PACKET_TOO_LARGE || (number == CR_SERVER_LOST && conn->net.error == PACKET_REFUSED);
}

/* Replaces each 'user'@'host' with "the account". */
static void hide_accounts(char *text)
{
    static const char at[] = "'@'", instead[] = "the account";
    for (char *middle = strstr(text, at); middle; middle = strstr(text, at)) {
        char *start = middle, *end = strchr(middle + strlen(at), '\'');
        while (start > text && start[-1] != '\'') start--;
        if (start > text) start--;
        size_t len = end ? (size_t)(end + 1 - start) : strlen(start);
        if (len < strlen(instead)) return; /* too short for the replacement */
        memcpy(start, instead, strlen(instead));
        memmove(start + strlen(instead), start + len, strlen(start + len) + 1);
    }
}

/* Reports an error of the server or the client. Closes the connection if it is no longer usable. */
static enum err_code failed(struct mariadb_db *self, unsigned number, const char *state, const char *said,
                            struct err *err)
{
    enum err_code code = is_too_large(self->conn, number) ? ERR_LIMIT_BYTES : code_of(number, said);
    char text[ERR_TEXT_MAX];
    g_strlcpy(text, said, sizeof text);
    text[strcspn(text, "\r\n")] = '\0';
    hide_accounts(text);
    bool of_client = number >= CR_MIN_ERROR && number <= CR_MAX_ERROR;
    if (self->stopping) {
        code = mariadb_link_stopped(self, self->stopping, err);
    } else if (code == ERR_LIMIT_TIME) {
        code = mariadb_link_stopped(self, out_of_time(self), err);
    } else if (code == ERR_UNREACHABLE) {
        err_set(err, code, "the connection to %s was lost: %s", self->place, text);
    } else if (code == ERR_LIMIT_BYTES && of_client) {
        err_set(err, code, "a row is larger than the limit on a result");
    } else {
        err_set(err, code, "%s (%u)", text, number);
        if (err) g_strlcpy(err->sqlstate, state, sizeof err->sqlstate);
    }
    if (of_client || code == ERR_UNREACHABLE) mariadb_link_close(self);
    return code;
}

static enum err_code call_failed(struct mariadb_db *self, struct err *err)
{
    return failed(self, mysql_errno(self->conn), mysql_sqlstate(self->conn), mysql_error(self->conn), err);
}

/* --- options ------------------------------------------------------------------------------------------------------ */

/* The permitted authentication plugins. Excludes plugins that would send the password unencrypted to any server. */
#define PLUGINS "mysql_native_password,client_ed25519,caching_sha2_password,parsec"

static MYSQL *new_connection(const struct mariadb_address *address)
{
    const my_bool off = 0, on = 1, verify = address->verified;
    const unsigned protocol = address->socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
    MYSQL *conn = mysql_init(NULL);
    if (!conn) return NULL;
    mysql_options(conn, MYSQL_OPT_PROTOCOL, &protocol);
    mysql_options(conn, MYSQL_OPT_LOCAL_INFILE, &(unsigned){0});
    mysql_options(conn, MYSQL_OPT_RECONNECT, &off);
    mysql_options(conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(conn, MARIADB_OPT_RESTRICTED_AUTH, PLUGINS);
    mysql_options4(conn, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "assay");
    if (!address->encrypted) return conn;
    mysql_ssl_set(conn, address->key, address->cert, address->ca, NULL, NULL);
    mysql_options(conn, MYSQL_OPT_SSL_ENFORCE, &on);
    mysql_options(conn, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
    return conn;
}

/* --- stopping ----------------------------------------------------------------------------------------------------- */

/* Shared by the killer thread and the waiting thread. The last of the two frees it. */
struct mariadb_killer {
    struct mariadb_address *address;
    unsigned long id; /* id of the connection whose statement is killed */
    atomic_bool done;
    atomic_uint holders;
};

static atomic_uint n_killers;

static void let_go(struct mariadb_killer *killer)
{
    if (atomic_fetch_sub(&killer->holders, 1) != 1) return;
    mariadb_address_free(killer->address);
    g_free(killer);
}

static void kill_query(const struct mariadb_killer *killer)
{
    const struct mariadb_address *a = killer->address;
    const unsigned seconds = KILL_S;
    MYSQL *conn = new_connection(a);
    if (!conn) return;
    mysql_options(conn, MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(conn, MYSQL_OPT_READ_TIMEOUT, &seconds);
    mysql_options(conn, MYSQL_OPT_WRITE_TIMEOUT, &seconds);
    char sql[64];
    g_snprintf(sql, sizeof sql, "KILL QUERY %lu", killer->id);
    if (mysql_real_connect(conn, a->host, a->user, a->password, NULL, a->port, a->socket, 0)) mysql_query(conn, sql);
    mysql_close(conn);
}

static void *kill_main(void *arg)
{
    struct mariadb_killer *killer = arg;
    kill_query(killer);
    atomic_store(&killer->done, true);
    let_go(killer);
    mysql_thread_end();
    atomic_fetch_sub(&n_killers, 1);
    return NULL;
}

/* Starts a killer thread. Returns NULL if MAX_KILLERS threads already run, or if no thread could be started. */
static struct mariadb_killer *start_killing(const struct mariadb_db *self)
{
    if (atomic_fetch_add(&n_killers, 1) >= MAX_KILLERS) {
        atomic_fetch_sub(&n_killers, 1);
        return NULL;
    }
    struct mariadb_killer *killer = g_new0(struct mariadb_killer, 1);
    killer->address = mariadb_address_copy(self->address);
    killer->id = mysql_thread_id(self->conn);
    atomic_init(&killer->holders, 2);
    pthread_t thread;
    if (pthread_create(&thread, NULL, kill_main, killer) == 0) {
        pthread_detach(thread);
        return killer;
    }
    atomic_store(&killer->holders, 1);
    let_go(killer);
    atomic_fetch_sub(&n_killers, 1);
    return NULL;
}

/* Starts to stop the running statement. The caller must continue the current call until it ends. */
static void stop(struct mariadb_db *self, enum err_code why)
{
    if (self->stopping) return;
    self->stopping = why;
    self->stop_ns = MIN(clock_now_ns() + STOP_MS * 1000000LL, self->end_ns);
    self->killer = start_killing(self);
}

void mariadb_link_settle(struct mariadb_db *self)
{
    while (self->killer && !atomic_load(&self->killer->done) && clock_now_ns() < self->stop_ns) poll(NULL, 0, 1);
    if (self->stopping && !(self->killer && atomic_load(&self->killer->done))) mariadb_link_close(self);
    if (self->killer) let_go(self->killer);
    self->killer = NULL;
    self->stopping = ERR_OK;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

/* Waits at most SLICE_MS for the events in `status`. Returns the events that occurred, as flags of the library. */
static int poll_slice(MYSQL *conn, int status, int64_t until_ns)
{
    int64_t left_ms = (until_ns - clock_now_ns()) / 1000000 + 1;
    struct pollfd fd = {.fd = mysql_get_socket(conn)};
    fd.events = (short)((status & MYSQL_WAIT_READ ? POLLIN : 0) | (status & MYSQL_WAIT_WRITE ? POLLOUT : 0) |
                        (status & MYSQL_WAIT_EXCEPT ? POLLPRI : 0));
    if (poll(&fd, 1, (int)CLAMP(left_ms, 0, SLICE_MS)) <= 0) return 0;
    int all = status & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
    int ready = (fd.revents & POLLIN ? MYSQL_WAIT_READ : 0) | (fd.revents & POLLOUT ? MYSQL_WAIT_WRITE : 0) |
                (fd.revents & POLLPRI ? MYSQL_WAIT_EXCEPT : 0);
    return fd.revents & (POLLERR | POLLHUP | POLLNVAL) ? ready | all : ready & status;
}

/* Waits for the events of the current call. Starts to stop the statement at its deadline or on cancellation. Returns an
 * error if the statement was abandoned; the connection is then closed. */
static enum err_code wait_for(struct mariadb_db *self, int *status, struct err *err)
{
    int wanted = *status;
    for (*status = 0; !*status;) {
        int64_t due = self->due_ns < INT64_MAX - GRACE_NS ? self->due_ns + GRACE_NS : INT64_MAX;
        *status = poll_slice(self->conn, wanted, self->stopping ? self->stop_ns : due);
        int64_t now = clock_now_ns();
        if (atomic_load_explicit(&self->cancelled, memory_order_relaxed)) stop(self, ERR_CANCELLED);
        if (now >= due) stop(self, out_of_time(self));
        if (self->stopping && !*status && now >= self->stop_ns) {
            enum err_code code = mariadb_link_stopped(self, self->stopping, err);
            abandoned_note(self->path, (int64_t)mysql_thread_id(self->conn));
            mariadb_link_close(self);
            return code;
        }
    }
    return ERR_OK;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* Settings of a session. They make the server read a statement like lib/sql/scan.re: a backslash is an ordinary
 * character, double quotes enclose names, and || concatenates texts. The other settings are the time zone UTC and
 * limits. ONLY_FULL_GROUP_BY keeps the global setting, because legitimate statements depend on it. */
static const char *const session[] = {
    "SET SESSION sql_mode = CONCAT('ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES',"
    " IF(FIND_IN_SET('ONLY_FULL_GROUP_BY', @@global.sql_mode), ',ONLY_FULL_GROUP_BY', ''))",
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN', time_zone = '+00:00', lock_wait_timeout = 1,"
    " innodb_lock_wait_timeout = 1, tmp_table_size = 16777216, max_heap_table_size = 16777216,"
    " tmp_disk_table_size = 1073741824, max_session_mem_used = 268435456",
};

enum { OLDEST = 100500 };

/* Reads the global sql_mode, which other sessions have by default. */
static enum err_code ask_modes(struct mariadb_db *self, struct err *err)
{
    static const char *const names[] = {"ANSI_QUOTES", "PIPES_AS_CONCAT", "NO_BACKSLASH_ESCAPES"};
    static const char sql[] = "SELECT @@global.sql_mode";
    MYSQL_RES *result;
    MYSQL_ROW row = NULL;
    enum err_code code = mariadb_link_ask(self, sql, strlen(sql), &result, err);
    if (!code && result) code = mariadb_link_row(self, result, &row, err);
    self->modes = 0;
    for (unsigned i = 0; !code && row && row[0] && i < G_N_ELEMENTS(names); i++)
        if (strstr(row[0], names[i])) self->modes |= 1U << i;
    mariadb_link_end(self, result);
    return code;
}

static enum err_code greet(struct mariadb_db *self, struct err *err)
{
    const char *version = mysql_get_server_info(self->conn);
    if (!mariadb_connection(self->conn) || mysql_get_server_version(self->conn) < OLDEST) {
        err_set(err, ERR_DB_UNREADABLE, "%s runs '%.40s'; MariaDB 10.5 or newer is required", self->place, version);
        mariadb_link_close(self);
        return ERR_DB_UNREADABLE;
    }
    struct err why = {0};
    enum err_code code = ask_modes(self, &why);
    for (size_t i = 0; !code && i < G_N_ELEMENTS(session); i++) code = mariadb_link_do(self, session[i], &why);
    if (code == ERR_ENGINE || code == ERR_REFUSED)
        code = err_set(err, ERR_DB_UNREADABLE, "%s refuses a read-only session with limits: %s", self->place, why.text);
    else if (code && err)
        *err = why;
    if (code) mariadb_link_close(self);
    return code;
}

static enum err_code connect_failed(struct mariadb_db *self, struct err *err)
{
    unsigned number = mysql_errno(self->conn);
    enum err_code code = code_of(number, mysql_error(self->conn));
    if (err_class(code) == ERR_CLASS_REJECT && code != ERR_DB_MISSING) code = ERR_DB_UNREADABLE;
    err_set(err, code, "%s: %s (%u)", self->place, mysql_error(self->conn), number);
    mariadb_link_close(self);
    return code;
}

static enum err_code finish_connecting(struct mariadb_db *self, int status, MYSQL **done, int64_t until_ns,
                                       struct err *err)
{
    while (status) {
        int ready = poll_slice(self->conn, status, until_ns);
        if (atomic_load(&self->cancelled)) {
            mariadb_link_close(self);
            return mariadb_link_stopped(self, ERR_CANCELLED, err);
        }
        if (!ready && clock_now_ns() >= until_ns) {
            mariadb_link_close(self);
            return err_set(err, ERR_UNREACHABLE, "%s does not answer", self->place);
        }
        if (ready) status = mysql_real_connect_cont(done, self->conn, ready);
    }
    return *done ? ERR_OK : connect_failed(self, err);
}

enum err_code mariadb_link_open(struct mariadb_db *self, int64_t until_ns, struct err *err)
{
    if (self->conn) return ERR_OK;
    enum err_code code = libmariadb_open(err);
    if (code) return code;
    static gsize once;
    if (g_once_init_enter(&once)) g_once_init_leave(&once, mysql_library_init(0, NULL, NULL) == 0 ? 1 : 2);
    const struct mariadb_address *a = self->address;
    const size_t stack = STACK;
    int64_t own = clock_now_ns() + CONNECT_MS * 1000000LL;
    self->conn = once == 1 ? new_connection(a) : NULL;
    if (!self->conn) return err_set(err, ERR_NOMEM, "out of memory for a connection");
    mysql_options(self->conn, MYSQL_OPT_NONBLOCK, &stack);
    MYSQL *done = NULL;
    int status =
        mysql_real_connect_start(&done, self->conn, a->host, a->user, a->password, a->database, a->port, a->socket, 0);
    code = finish_connecting(self, status, &done, MIN(own, until_ns), err);
    self->set_ms = 0;
    self->set_rows = 0;
    return code ? code : greet(self, err);
}

/* Closes the connection. Shuts down the socket first, because the library would otherwise send a message, which could
 * block. */
void mariadb_link_close(struct mariadb_db *self)
{
    if (!self->conn) return;
    int fd = mysql_get_socket(self->conn);
    if (fd >= 0) shutdown(fd, SHUT_RDWR);
    mysql_close(self->conn);
    self->conn = NULL;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

enum err_code mariadb_link_ask(struct mariadb_db *self, const char *sql, size_t len, MYSQL_RES **out, struct err *err)
{
    int failure = 0;
    enum err_code code = ERR_OK;
    *out = NULL;
    if (!self->conn) return err_set(err, ERR_UNREACHABLE, "the connection to %s was lost", self->place);
    uint64_t cap = MAX(self->base.limits.max_bytes, self->base.limits.value_bytes) + PACKET_SLACK;
    self->conn->net.max_packet_size = MIN(cap, 1U << 30);
    int status = mysql_real_query_start(&failure, self->conn, sql, len);
    while (status && !(code = wait_for(self, &status, err)))
        status = mysql_real_query_cont(&failure, self->conn, status);
    if (code) return code;
    if (failure) return call_failed(self, err);
    *out = mysql_use_result(self->conn);
    return *out || mysql_field_count(self->conn) == 0 ? ERR_OK : call_failed(self, err);
}

enum err_code mariadb_link_row(struct mariadb_db *self, MYSQL_RES *result, MYSQL_ROW *out, struct err *err)
{
    enum err_code code = ERR_OK;
    *out = NULL;
    int status = mysql_fetch_row_start(out, result);
    while (status && !(code = wait_for(self, &status, err))) status = mysql_fetch_row_cont(out, result, status);
    if (code) return code;
    return *out || !mysql_errno(self->conn) ? ERR_OK : call_failed(self, err);
}

/* Reads and drops unread rows if they are few and arrive at once. Usually only the end marker is unread. */
static void read_on(struct mariadb_db *self, MYSQL_RES *result)
{
    int64_t due = self->due_ns;
    self->due_ns = MIN(due, clock_now_ns() + READ_ON_NS - GRACE_NS);
    MYSQL_ROW row;
    for (int n = 0; self->conn && !result->eof && !self->stopping && n < READ_ON_ROWS; n++)
        if (mariadb_link_row(self, result, &row, NULL) || !row) break;
    self->due_ns = due;
}

void mariadb_link_end(struct mariadb_db *self, MYSQL_RES *result)
{
    enum err_code code = ERR_OK;
    if (!result) return;
    read_on(self, result);
    if (self->conn && !result->eof) {
        stop(self, ERR_CANCELLED);
        int status = mysql_free_result_start(result);
        while (status && !(code = wait_for(self, &status, NULL))) status = mysql_free_result_cont(result, status);
        if (!code) return;
    }
    result->handle = NULL; /* connection closed or result complete: no rows remain */
    mysql_free_result(result);
}

enum err_code mariadb_link_do(struct mariadb_db *self, const char *sql, struct err *err)
{
    MYSQL_RES *result;
    enum err_code code = mariadb_link_ask(self, sql, strlen(sql), &result, err);
    mariadb_link_end(self, result);
    return code;
}

/* --- preparing ---------------------------------------------------------------------------------------------------- */

enum err_code mariadb_link_prepare(struct mariadb_db *self, const char *sql, size_t len, struct err *err)
{
    int failure = 0;
    enum err_code code = ERR_OK;
    if (!self->conn) return err_set(err, ERR_UNREACHABLE, "the connection to %s was lost", self->place);
    MYSQL_STMT *stmt = mysql_stmt_init(self->conn);
    if (!stmt) return err_set(err, ERR_NOMEM, "out of memory for a statement");
    int status = mysql_stmt_prepare_start(&failure, stmt, sql, len);
    while (status && !(code = wait_for(self, &status, err))) status = mysql_stmt_prepare_cont(&failure, stmt, status);
    if (!code && failure)
        code = failed(self, mysql_stmt_errno(stmt), mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt), err);
    mysql_stmt_close(stmt); /* sends a message that has no reply, unless the connection is closed */
    return code;
}
