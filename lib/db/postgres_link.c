/* The connection to a PostgreSQL server. Every wait has a time limit.
 *
 * All calls of libpq are non-blocking. The calling thread waits in poll() and checks the clock and `cancelled` at
 * intervals, so no watchdog is needed. Received bytes are counted before libpq reads them, because libpq buffers a row
 * until it is complete, and a row may have a gigabyte.
 *
 * Flights. The frame of a statement (BEGIN and settings), the statement, the FETCH and the clean-up are sent at once.
 * This is a flight, which uses libpq's pipeline mode: the server answers in order. A flight is divided into sections,
 * so it is as safe as waiting after each step. If a step fails, the server skips the rest of its section, so no
 * statement runs without its frame. The clean-up is in separate sections at the end, so it always runs.
 *
 * Cancelling. libpq opens a second connection and waits until the server closes it, which a stopped server never does.
 * So a separate thread cancels. The caller waits for this thread, but at most STOP_MS and not past end_ns. Then it
 * closes the connection; the server detects this within client_connection_check_interval. The wait makes cancelling
 * safe: once the thread has ended, the server has sent the signal, so it cannot stop the next statement.
 *
 * After the limit of a statement the server's own timeout has GRACE_NS to act; the cancellation then has 80 ms. So the
 * timeout is in time if a round trip takes less than GRACE_NS. The cancellation needs two round trips and a new server
 * process, so a round trip must take less than about 30 ms. On a slower network the connection is closed, and the next
 * statement opens a new one. The same happens if the server is in a long call, in which it reacts to neither.
 */
#include "lib/db/postgres_int.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

LATE_LIBRARY(libpq, LIBPQ_CALLS, LIBPQ_FILE, LIBPQ_PACKAGE)

enum { SLICE_MS = 20, STOP_MS = 500, CONNECT_MS = 5000, MAX_CANCELLERS = 16, ROW_SLACK = 1 << 20 };
static const int64_t GRACE_NS = 150 * 1000000LL; /* time for the server's own timeout to act */

/* --- failures ----------------------------------------------------------------------------------------------------- */

/* Maps SQLSTATEs to errors; the first match applies. Unlisted SQLSTATEs, such as those of class 42, are errors of the
 * statement. */
static const struct {
    const char *state; /* SQLSTATE or a prefix of it */
    enum err_code code;
} states[] = {
    {"42501", ERR_REFUSED},     /* insufficient privilege */
    {"25006", ERR_REFUSED},     /* read-only transaction */
    {"0A000", ERR_ENGINE},      /* feature not supported */
    {"57014", ERR_LIMIT_TIME},  /* query canceled */
    {"55P03", ERR_DB_LOCKED},   /* lock not available */
    {"40", ERR_DB_LOCKED},      /* serialization failure, deadlock */
    {"53300", ERR_UNREACHABLE}, /* too many connections */
    {"53", ERR_LIMIT_MEMORY},   /* out of memory, disk full, temp_file_limit */
    {"54001", ERR_LIMIT_DEPTH}, /* statement too complex (stack depth) */
    {"54011", ERR_LIMIT_COUNT}, /* too many columns */
    {"54023", ERR_LIMIT_COUNT}, /* too many arguments */
    {"54", ERR_LIMIT_BYTES},    /* program limit exceeded, usually by a long value */
    {"3D", ERR_DB_MISSING},     /* no such database */
    {"57P04", ERR_DB_MISSING},  /* database dropped */
    {"57P", ERR_UNREACHABLE},   /* server shut down, crashed or starting */
    {"08P01", ERR_ENGINE},      /* protocol violation: a parameter has no value */
    {"08", ERR_UNREACHABLE},    /* connection failed or lost */
    {"28", ERR_DB_UNREADABLE},  /* authorization failed */
    {"XX001", ERR_DB_CORRUPT},  {"XX002", ERR_DB_CORRUPT}, {"58", ERR_DB_UNREADABLE}, /* file errors of the server */
};

static enum err_code code_of(const char *state)
{
    for (size_t i = 0; state && i < G_N_ELEMENTS(states); i++)
        if (g_str_has_prefix(state, states[i].state)) return states[i].code;
    return ERR_ENGINE;
}

enum err_code link_stopped(const struct postgres_db *self, enum err_code code, struct err *err)
{
    switch (code) {
    case ERR_DEADLINE: return err_set(err, code, "the deadline passed before the statement finished");
    case ERR_CANCELLED: return err_set(err, code, "the statement was cancelled");
    default: return err_set(err, code, "the statement was stopped after %lld ms", (long long)self->base.limits.time_ms);
    }
}

static enum err_code out_of_time(const struct postgres_db *self, struct err *err)
{
    return link_stopped(self, self->due_is_deadline ? ERR_DEADLINE : ERR_LIMIT_TIME, err);
}

/* Returns the first line of a text, without the line end. Free with g_free. */
static char *one_line(const char *text)
{
    char *line = g_strdup(text ? text : "");
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

/* Reports that the connection was lost, and closes it. */
static enum err_code lost(struct postgres_db *self, struct err *err)
{
    char *line = one_line(self->conn ? PQerrorMessage(self->conn) : "");
    enum err_code code =
        err_set(err, ERR_UNREACHABLE, "the connection to %s was lost%s%s", self->place, line[0] ? ": " : "", line);
    g_free(line);
    link_close(self);
    return code;
}

/* Omits the DETAIL of the message, because it may contain data of rows. */
enum err_code link_failure(const struct postgres_db *self, const PGresult *result, struct err *err)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    enum err_code code = code_of(state);
    if (code == ERR_LIMIT_TIME && atomic_load(&self->cancelled)) return link_stopped(self, ERR_CANCELLED, err);
    if (code == ERR_LIMIT_TIME) return out_of_time(self, err);
    if (message && strstr(message, "invalid memory alloc request size")) code = ERR_LIMIT_BYTES;
    err_set(err, code, "%s (%s)" ERR_HINT "%s", message ? message : "no message", state ? state : "no SQLSTATE",
            hint ? hint : "");
    if (err && state) g_strlcpy(err->sqlstate, state, sizeof err->sqlstate);
    return code;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

/* Waits at most SLICE_MS until the socket is ready for `events`. Returns false if the socket is closed. */
static bool poll_slice(PGconn *conn, short events, int64_t until_ns)
{
    int64_t left_ms = (until_ns - clock_now_ns()) / 1000000 + 1;
    struct pollfd fd = {.fd = PQsocket(conn), .events = events};
    if (fd.fd < 0) return false;
    poll(&fd, 1, (int)CLAMP(left_ms, 0, SLICE_MS));
    return true;
}

/* Waits at most SLICE_MS. Returns an error after cancellation, at the statement's deadline plus GRACE_NS, or if the
 * connection was lost. */
static enum err_code wait_for(struct postgres_db *self, short events, struct err *err)
{
    int64_t until = MIN(self->due_ns < INT64_MAX - GRACE_NS ? self->due_ns + GRACE_NS : INT64_MAX, self->end_ns);
    if (!poll_slice(self->conn, events, until)) return lost(self, err);
    if (atomic_load_explicit(&self->cancelled, memory_order_relaxed)) return link_stopped(self, ERR_CANCELLED, err);
    if (clock_now_ns() >= until) return out_of_time(self, err);
    return ERR_OK;
}

/* Lets libpq read the received bytes. Returns ERR_LIMIT_BYTES if a row is too large. */
static enum err_code consume(struct postgres_db *self, struct err *err)
{
    int waiting = 0;
    if (ioctl(PQsocket(self->conn), FIONREAD, &waiting) == 0 && waiting > 0) self->unread += (uint64_t)waiting;
    uint64_t cap = MAX(self->base.limits.max_bytes, self->base.limits.value_bytes) + ROW_SLACK;
    if (self->unread > cap)
        return err_set(err, ERR_LIMIT_BYTES, "a row has more than %llu bytes", (unsigned long long)cap);
    return PQconsumeInput(self->conn) ? ERR_OK : lost(self, err);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static void be_quiet(void *unused, const PGresult *notice)
{
    (void)unused, (void)notice;
}

/* Returns the value of a connection option, or NULL if it is unset or empty. */
static const char *option(const PQconninfoOption *options, const char *name)
{
    for (; options && options->keyword; options++)
        if (strcmp(options->keyword, name) == 0) return options->val && *options->val ? options->val : NULL;
    return NULL;
}

/* Returns `text` if it consists of `characters`, otherwise NULL. Detects a password with an unescaped @, of which libpq
 * reads a part as the host. */
static const char *plain(const char *text, const char *characters)
{
    return text && strspn(text, characters) == strlen(text) ? text : NULL;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

bool link_is_plain(const char *dsn)
{
    if (libpq_open(NULL)) return false;
    PQconninfoOption *options = PQconninfoParse(dsn, NULL); /* NULL: the error message would quote the text */
    const char *host = option(options, "host"), *port = option(options, "port");
    bool ok = options && (!host || plain(host, LETTERS DIGITS "._-:,/%")) && (!port || plain(port, DIGITS ","));
    PQconninfoFree(options);
    return ok;
}

char *link_place(const char *dsn, bool name_only)
{
    PQconninfoOption *options = link_is_plain(dsn) ? PQconninfoParse(dsn, NULL) : NULL;
    const char *name = option(options, "dbname"), *host = option(options, "host"), *port = option(options, "port");
    if (!name) name = option(options, "service");
    char *place = name_only ? g_strdup(name ? name : "postgres")
                            : g_strdup_printf("PostgreSQL database '%s'%s%s%s%s", name ? name : "", host ? " on " : "",
                                              host ? host : "", port ? ":" : "", port ? port : "");
    if (options) PQconninfoFree(options);
    return place;
}

bool link_has_secret(const char *dsn)
{
    if (libpq_open(NULL)) return false; /* unknown without libpq; opening the database reports that it is missing */
    if (!link_is_plain(dsn)) return true;
    PQconninfoOption *options = PQconninfoParse(dsn, NULL);
    bool has = option(options, "password") || option(options, "sslpassword");
    PQconninfoFree(options);
    return has;
}

/* Adds the password as a separate parameter, so that the URL need not be parsed. */
char *link_with_password(const char *dsn, const char *password)
{
    if (strstr(dsn, "://")) {
        char *escaped = g_uri_escape_string(password, NULL, FALSE);
        char *whole = g_strdup_printf("%s%spassword=%s", dsn, strchr(dsn, '?') ? "&" : "?", escaped);
        g_free(escaped);
        return whole;
    }
    GString *whole = g_string_new(dsn);
    g_string_append(whole, " password='");
    for (const char *c = password; *c; c++) {
        if (*c == '\'' || *c == '\\') g_string_append_c(whole, '\\');
        g_string_append_c(whole, *c);
    }
    g_string_append_c(whole, '\'');
    return g_string_free(whole, FALSE);
}

static const struct {
    const char *part;
    enum err_code code;
} connect_failures[] = {
    {"database \"", ERR_DB_MISSING},
    {"authentication failed", ERR_DB_UNREADABLE},
    {"no password supplied", ERR_DB_UNREADABLE},
    {"role \"", ERR_DB_UNREADABLE},
    {"pg_hba.conf", ERR_DB_UNREADABLE},
    {"permission denied", ERR_DB_UNREADABLE},
    /* The server does not support the requested TLS, so a retry is useless. */
    {"certificate", ERR_DB_UNREADABLE},
    {"does not match host name", ERR_DB_UNREADABLE},
    {"server does not support SSL", ERR_DB_UNREADABLE},
    {"host name must be specified for a verified SSL", ERR_DB_UNREADABLE},
    {"too many connections", ERR_UNREACHABLE},
};

static enum err_code connect_failed(struct postgres_db *self, struct err *err)
{
    char *line = one_line(PQerrorMessage(self->conn));
    enum err_code code = ERR_UNREACHABLE;
    for (size_t i = G_N_ELEMENTS(connect_failures); i-- > 0;)
        if (strstr(line, connect_failures[i].part)) code = connect_failures[i].code;
    if (strstr(line, "too many connections")) code = ERR_UNREACHABLE;
    err_set(err, code, "%s: %s", self->place, line);
    g_free(line);
    link_close(self);
    return code;
}

/* Starts to connect. Adds options to those of the DSN: UTF-8 as encoding, a timeout for unacknowledged data, and a
 * name. */
static PGconn *start(const char *dsn)
{
    const char *const names[] = {"dbname", "client_encoding", "fallback_application_name", "tcp_user_timeout", NULL};
    const char *const values[] = {dsn, "UTF8", "assay", "10000", NULL};
    return PQconnectStartParams(names, values, 1);
}

static enum err_code finish_connecting(struct postgres_db *self, int64_t until_ns, struct err *err)
{
    PostgresPollingStatusType state = PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        struct pollfd fd = {.fd = PQsocket(self->conn), .events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        int64_t left_ms = (until_ns - clock_now_ns()) / 1000000;
        if (left_ms <= 0) {
            link_close(self);
            return err_set(err, ERR_UNREACHABLE, "%s does not answer", self->place);
        }
        if (atomic_load(&self->cancelled)) {
            link_close(self);
            return link_stopped(self, ERR_CANCELLED, err);
        }
        if (fd.fd < 0 || PQstatus(self->conn) == CONNECTION_BAD) return connect_failed(self, err);
        if (poll(&fd, 1, (int)MIN(left_ms, SLICE_MS)) <= 0) continue;
        state = PQconnectPoll(self->conn);
        if (state == PGRES_POLLING_FAILED) return connect_failed(self, err);
    }
    return ERR_OK;
}

static enum err_code flush(struct postgres_db *self, struct err *err)
{
    for (;;) {
        int left = PQflush(self->conn);
        if (left == 0) return ERR_OK;
        if (left < 0) return lost(self, err);
        enum err_code code = wait_for(self, POLLIN | POLLOUT, err);
        if (!code) code = consume(self, err);
        if (code) return code;
    }
}

/* Checks whether the server supports client_connection_check_interval, and enters pipeline mode. Versions before 14,
 * and some systems, do not support it. There a statement whose connection was closed runs until its statement_timeout.
 * Both statements are in one text and so in one transaction. So the setting does not remain in the session, which a
 * pooler may give to another client. */
static enum err_code ask_what_it_can(struct postgres_db *self, struct err *err)
{
    static const char sql[] = "SET LOCAL client_connection_check_interval = 1000; SELECT 1";
    if (!PQsendQuery(self->conn, sql)) return lost(self, err);
    enum err_code code = flush(self, err);
    if (!code) code = link_finish(self, err);
    if (!self->conn) return code;
    if (code && PQtransactionStatus(self->conn) == PQTRANS_ACTIVE) { /* the server did not answer in time */
        link_close(self);
        return code;
    }
    self->misses_clients = code == ERR_OK;
    return PQenterPipelineMode(self->conn) ? ERR_OK : lost(self, err);
}

enum err_code link_open(struct postgres_db *self, int64_t until_ns, struct err *err)
{
    if (self->conn) return ERR_OK;
    int64_t own = clock_now_ns() + CONNECT_MS * 1000000LL;
    self->conn = start(self->dsn);
    if (!self->conn) return err_set(err, ERR_NOMEM, "out of memory for a connection");
    if (PQstatus(self->conn) == CONNECTION_BAD) return connect_failed(self, err);
    PQsetNoticeReceiver(self->conn, be_quiet, NULL);
    enum err_code code = finish_connecting(self, MIN(own, until_ns), err);
    if (code) return code;
    PQsetnonblocking(self->conn, 1);
    const char *encoding = PQparameterStatus(self->conn, "server_encoding");
    self->positions_in_bytes = encoding && strcmp(encoding, "SQL_ASCII") == 0;
    return ask_what_it_can(self, err);
}

/* Closes the connection. If the server still runs a statement, records it as abandoned. If the server closed the
 * connection, no statement runs. */
void link_close(struct postgres_db *self)
{
    if (link_is_running(self) && PQstatus(self->conn) == CONNECTION_OK)
        abandoned_note(self->dsn, PQbackendPID(self->conn));
    PQfinish(self->conn);
    self->conn = NULL;
    self->owed = 0;
    self->unread = 0;
    self->cleaning = self->unclean = false;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

/* Parameters as text. The server infers their types, except for blobs and floating-point numbers. */
struct arguments {
    const char **texts;
    Oid *types;
    char (*numbers)[DB_REAL_TEXT];
    GPtrArray *owned;
};

static const char *argument(struct arguments *args, uint32_t i, const struct db_value *value)
{
    enum { BYTEA = 17, FLOAT8 = 701 };
    switch (value->type) {
    case DB_INT: snprintf(args->numbers[i], DB_REAL_TEXT, "%lld", (long long)value->i); return args->numbers[i];
    case DB_FLOAT:
        args->types[i] = FLOAT8;
        args->numbers[i][db_real_text(value->f, args->numbers[i])] = '\0';
        return args->numbers[i];
    case DB_TEXT: return value->text;
    case DB_BLOB: {
        GString *hex = g_string_new("\\x");
        for (size_t k = 0; k < value->len; k++) g_string_append_printf(hex, "%02x", (unsigned char)value->text[k]);
        args->types[i] = BYTEA;
        char *text = g_string_free(hex, FALSE);
        g_ptr_array_add(args->owned, text);
        return text;
    }
    case DB_NULL: break;
    }
    return NULL;
}

static int send_params(PGconn *conn, const char *sql, const struct db_statement *statement)
{
    uint32_t n = statement ? statement->n_params : 0;
    struct arguments args = {g_new0(const char *, n + 1), g_new0(Oid, n + 1), g_malloc0(((size_t)n + 1) * DB_REAL_TEXT),
                             g_ptr_array_new_with_free_func(g_free)};
    for (uint32_t i = 0; i < n; i++) args.texts[i] = argument(&args, i, &statement->params[i]);
    int sent = PQsendQueryParams(conn, sql, (int)n, args.types, args.texts, NULL, NULL, 0);
    g_free(args.texts);
    g_free(args.types);
    g_free(args.numbers);
    g_ptr_array_free(args.owned, TRUE);
    return sent;
}

enum err_code link_queue(struct postgres_db *self, const char *sql, const struct db_statement *params, struct err *err)
{
    return send_params(self->conn, sql, params) ? ERR_OK : lost(self, err);
}

enum err_code link_queue_parse(struct postgres_db *self, const char *sql, struct err *err)
{
    return PQsendPrepare(self->conn, "", sql, 0, NULL) ? ERR_OK : lost(self, err);
}

enum err_code link_end_section(struct postgres_db *self, struct err *err)
{
    if (!PQpipelineSync(self->conn)) return lost(self, err);
    self->owed++;
    return ERR_OK;
}

enum err_code link_fly(struct postgres_db *self, struct err *err)
{
    self->unread = 0;
    self->refused = false;
    return flush(self, err);
}

static bool is_failure(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_SINGLE_TUPLE &&
           status != PGRES_PIPELINE_SYNC;
}

/* Updates the state of the flight after a result. */
static void note(struct postgres_db *self, const PGresult *result)
{
    if (!result || !self->owed) return;
    bool of_cleaning = self->cleaning && self->owed <= CLEAN_SECTIONS;
    if (is_failure(result) && of_cleaning) self->unclean = true;
    if (is_failure(result) && !of_cleaning) self->refused = true;
    if (PQresultStatus(result) == PGRES_PIPELINE_SYNC && --self->owed == 0) self->cleaning = false;
}

enum err_code link_next(struct postgres_db *self, PGresult **out, struct err *err)
{
    *out = NULL;
    while (PQisBusy(self->conn)) {
        enum err_code code = wait_for(self, POLLIN, err);
        if (!code) code = consume(self, err);
        if (code) return code;
    }
    *out = PQgetResult(self->conn);
    note(self, *out);
    self->unread = 0;
    if (PQstatus(self->conn) != CONNECTION_BAD) return ERR_OK;
    PQclear(*out);
    *out = NULL;
    return lost(self, err);
}

enum err_code link_finish(struct postgres_db *self, struct err *err)
{
    enum err_code first = ERR_OK;
    for (;;) {
        PGresult *result;
        enum err_code code = link_next(self, &result, err);
        if (code) return code;
        if (!result) return first;
        if (!first && is_failure(result)) first = link_failure(self, result, err);
        PQclear(result);
    }
}

enum err_code link_settle(struct postgres_db *self, struct err *err)
{
    while (self->owed) {
        PGresult *result;
        enum err_code code = link_next(self, &result, err);
        if (code) return code;
        PQclear(result);
    }
    return ERR_OK;
}

bool link_is_running(const struct postgres_db *self)
{
    return self->conn && !self->refused && self->owed > (self->cleaning ? CLEAN_SECTIONS : 0);
}

/* --- stopping ----------------------------------------------------------------------------------------------------- */

/* Shared by the cancelling thread and the waiting thread. The last of the two frees it. */
struct canceller {
    PGcancel *cancel;
    atomic_bool done;
    atomic_uint holders;
};

static atomic_uint n_cancellers;

static void let_go(struct canceller *c)
{
    if (atomic_fetch_sub(&c->holders, 1) != 1) return;
    PQfreeCancel(c->cancel);
    g_free(c);
}

static void *cancel_main(void *arg)
{
    struct canceller *c = arg;
    char why[128];
    PQcancel(c->cancel, why, sizeof why);
    atomic_store(&c->done, true);
    let_go(c);
    atomic_fetch_sub(&n_cancellers, 1);
    return NULL;
}

/* Starts a thread that cancels. Returns NULL if MAX_CANCELLERS threads already run, or if no thread could be started.
 */
static struct canceller *start_cancelling(PGconn *conn)
{
    if (atomic_fetch_add(&n_cancellers, 1) >= MAX_CANCELLERS) {
        atomic_fetch_sub(&n_cancellers, 1);
        return NULL;
    }
    struct canceller *c = g_new0(struct canceller, 1);
    c->cancel = PQgetCancel(conn);
    atomic_init(&c->holders, 2);
    pthread_t thread;
    if (c->cancel && pthread_create(&thread, NULL, cancel_main, c) == 0) {
        pthread_detach(thread);
        return c;
    }
    atomic_store(&c->holders, 1);
    let_go(c);
    atomic_fetch_sub(&n_cancellers, 1);
    return NULL;
}

/* Reads and drops the results of the flight that have been received. Returns true if these were all. */
static bool drain(struct postgres_db *self)
{
    while (self->owed && !PQisBusy(self->conn)) {
        PGresult *result = PQgetResult(self->conn);
        note(self, result);
        if (result) self->unread = 0;
        if (!result && PQstatus(self->conn) == CONNECTION_BAD) return false;
        PQclear(result);
    }
    return !self->owed;
}

void link_stop(struct postgres_db *self)
{
    if (!self->conn || drain(self)) return;
    int64_t until = MIN(clock_now_ns() + STOP_MS * 1000000LL, self->end_ns);
    struct canceller *c = start_cancelling(self->conn);
    bool drained = false, ok = c != NULL;
    /* Stops reading if a row exceeds its limit. */
    while (ok && !(drained && atomic_load(&c->done))) {
        uint64_t unread = self->unread;
        struct err err;
        ok = clock_now_ns() < until && poll_slice(self->conn, POLLIN, MIN(until, clock_now_ns() + 1000000));
        if (ok && !drained) ok = consume(self, &err) == ERR_OK || self->unread == unread;
        if (ok && self->conn && !drained) drained = drain(self);
        if (drained) self->unread = 0;
    }
    if (c) let_go(c);
    if (!ok) link_close(self);
}
