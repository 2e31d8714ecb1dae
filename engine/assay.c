/* DESIGN: an engine (engine.h) gives verdicts in order of completion to one reader. Here each of many callers needs the
 * verdict of its own request. A separate thread, the collector, therefore reads all verdicts and dispatches them by
 * tag. It calls the callback, or wakes the waiter in assay_judge. All callbacks run on this thread. assay_judge submits
 * its request with an internal callback, so both kinds of calls use the same code.
 *
 * Each accepted request is answered once, by the first of three events: its verdict, the end of the engine, or
 * assay_close. The thread that removes the request from `waiting` under the lock answers it. If a submit fails after
 * its request was already cancelled, another thread has answered the request, so the submit returns success.
 *
 * The command line uses structs (assay_internal.h). `assay check` needs settings that do not belong in a small public
 * struct: a Redis, a remote verifier, options of single signals. It also prints verdicts in five formats, of which JSON
 * is one. It shares all code except that which reads and writes JSON: threads, answers, closing.
 *
 * Rejected: settings by name in assay.h. The tables of settings belong to the command line, with its files, environment
 * and errors, and every setting would become part of the ABI.
 */
#include "engine/assay_internal.h"

#include "lib/base/clock.h"
#include "lib/schema/deny_name.h"

#include <glib.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define AS_RESULT(result, class) _Static_assert((int)ASSAY_##result == (int)ERR_CLASS_##class, #result)
AS_RESULT(OK, OK);
AS_RESULT(RETRY, RETRY);
AS_RESULT(REJECT, REJECT);
AS_RESULT(FATAL, FATAL);
#define AS_STATUS(status) _Static_assert((int)ASSAY_STATUS_##status == (int)MSG_STATUS_##status, #status)
AS_STATUS(FAILED);
AS_STATUS(VALIDATED);
AS_STATUS(REPAIRED);
AS_STATUS(BEST_EFFORT);
AS_STATUS(ABSTAINED);
AS_STATUS(ASK);
_Static_assert(MSG_STATUS_COUNT == 6, "assay.h lists them all");
_Static_assert(ASSAY_VERSION_NUMBER == 10000 * ASSAY_MAJOR + 100 * ASSAY_MINOR + ASSAY_PATCH,
               "assay.h has the version");

/* A waiter for an answer. */
struct waiting {
    void (*answer)(struct waiting *self, struct msg_verdict *verdict,
                   const struct err *err); /* takes ownership of the verdict */
};

struct assay_engine {
    struct engine *engine;
    struct arena arena; /* memory of the copied options */
    struct worker_database *databases;
    bool arena_full; /* true if the arena was too full to copy some of the options */
    pthread_t collector;

    pthread_mutex_t lock;
    pthread_cond_t idle; /* signalled when n_out or n_callers falls to 0 */
    GHashTable *waiting; /* tag → struct waiting; the table does not own them */
    uint64_t last_tag;
    uint32_t n_out;     /* number of requests whose answer has not been delivered */
    uint32_t n_callers; /* number of calls that assay_close waits for */
    bool closing;
    struct err stopped; /* the reason why no further requests are accepted */
};

struct assay_verdict {
    struct msg_verdict *message;
    struct msg_buffer json; /* empty until assay_verdict_json is called */
};

const char *assay_version(void)
{
    return ASSAY_VERSION;
}

int assay_version_number(void)
{
    return ASSAY_VERSION_NUMBER;
}

/* --- errors --- */

static enum assay_result fill_error(struct assay_error *out, enum err_code code, const struct err *err)
{
    enum assay_result result = (enum assay_result)err_class(code);
    if (!out) return result;
    *out = (struct assay_error){.result = result};
    g_strlcpy(out->code, err_name(code), sizeof out->code);
    g_strlcpy(out->text, code == ERR_OK ? "" : err->text[0] ? err->text : err_meaning(code), sizeof out->text);
    return result;
}

/* --- answers --- */

/* Removes and returns the waiter for this tag. The caller must then answer it. Returns NULL if another thread answers
 * it. */
static struct waiting *take(struct assay_engine *self, uint64_t tag)
{
    gpointer found = NULL;
    pthread_mutex_lock(&self->lock);
    g_hash_table_steal_extended(self->waiting, GSIZE_TO_POINTER(tag), NULL, &found);
    pthread_mutex_unlock(&self->lock);
    return found;
}

static void count_down(struct assay_engine *self, uint32_t *count)
{
    pthread_mutex_lock(&self->lock);
    if (--*count == 0) pthread_cond_broadcast(&self->idle);
    pthread_mutex_unlock(&self->lock);
}

static void answer(struct assay_engine *self, struct waiting *waiting, struct msg_verdict *verdict,
                   const struct err *err)
{
    waiting->answer(waiting, verdict, err);
    count_down(self, &self->n_out);
}

static bool is_closing(struct assay_engine *self)
{
    pthread_mutex_lock(&self->lock);
    bool closing = self->closing;
    pthread_mutex_unlock(&self->lock);
    return closing;
}

/* Stops accepting requests and answers all waiters. */
static void call_off(struct assay_engine *self, const struct err *why)
{
    GHashTableIter iter;
    gpointer tag, waiting;
    pthread_mutex_lock(&self->lock);
    self->stopped = *why;
    GHashTable *left = self->waiting;
    self->waiting = g_hash_table_new(g_direct_hash, g_direct_equal);
    pthread_mutex_unlock(&self->lock);
    g_hash_table_iter_init(&iter, left);
    while (g_hash_table_iter_next(&iter, &tag, &waiting)) answer(self, waiting, NULL, why);
    g_hash_table_destroy(left);
}

static void *collect(void *arg)
{
    struct assay_engine *self = arg;
    struct err why = {0};
    enum err_code code;
    pthread_setname_np(pthread_self(), "assay");
    do {
        struct msg_verdict *verdict = NULL;
        code = engine_next(self->engine, -1, &verdict, &why);
        struct waiting *waiting = code == ERR_OK ? take(self, verdict->tag) : NULL;
        if (waiting)
            answer(self, waiting, verdict, NULL);
        else
            msg_verdict_free(verdict);
    } while (code == ERR_OK && !is_closing(self));
    if (is_closing(self))
        err_set(&why, ERR_CANCELLED, "the engine was closed before the request was judged");
    else if (why.code == ERR_OK)
        err_set(&why, ERR_CLOSED, "the engine has stopped");
    call_off(self, &why);
    return NULL;
}

static bool on_own_thread(const struct assay_engine *self)
{
    return pthread_equal(pthread_self(), self->collector);
}

static enum err_code refuse_here(struct err *err)
{
    return err_set(err, ERR_REFUSED, "a callback cannot wait for the engine that called it");
}

/* --- requests --- */

static void enter(struct assay_engine *self)
{
    pthread_mutex_lock(&self->lock);
    self->n_callers++;
    pthread_mutex_unlock(&self->lock);
}

static enum err_code expect(struct assay_engine *self, struct waiting *waiting, uint64_t *tag, struct err *err)
{
    pthread_mutex_lock(&self->lock);
    if (self->stopped.code) {
        *err = self->stopped;
    } else if (self->closing) {
        err_set(err, ERR_CANCELLED, "the engine is being closed");
    } else {
        *tag = ++self->last_tag;
        self->n_out++;
        g_hash_table_insert(self->waiting, GSIZE_TO_POINTER(*tag), waiting);
    }
    enum err_code code = err->code;
    pthread_mutex_unlock(&self->lock);
    return code;
}

/* Submits a request. After ERR_OK, `waiting` is answered exactly once. After an error, it is never answered. */
static enum err_code submit(struct assay_engine *self, const struct msg_request *request, int64_t timeout_ms,
                            struct waiting *waiting, struct err *err)
{
    struct msg_request tagged = *request;
    *err = (struct err){0};
    enum err_code code = expect(self, waiting, &tagged.tag, err);
    if (code) return code;
    code = engine_submit(self->engine, &tagged, on_own_thread(self) ? 0 : timeout_ms, err);
    if (!code || !take(self, tagged.tag)) return ERR_OK;
    count_down(self, &self->n_out);
    if (is_closing(self)) code = err_set(err, ERR_CANCELLED, "the engine is being closed");
    return code;
}

struct waiter {
    struct waiting waiting;
    struct assay_engine *engine;
    pthread_cond_t answered;
    bool done;
    struct msg_verdict *verdict;
    struct err err;
};

static void wake(struct waiting *waiting, struct msg_verdict *verdict, const struct err *err)
{
    struct waiter *waiter = (struct waiter *)(void *)waiting;
    pthread_mutex_t *lock = &waiter->engine->lock; /* read now, because the waiter may be freed once `done` is set */
    pthread_mutex_lock(lock);
    waiter->verdict = verdict;
    if (err) waiter->err = *err;
    waiter->done = true;
    pthread_cond_signal(&waiter->answered);
    pthread_mutex_unlock(lock);
}

static enum err_code judge(struct assay_engine *self, const struct msg_request *request, struct msg_verdict **out,
                           struct err *err)
{
    struct waiter waiter = {.waiting = {wake}, .engine = self};
    if (on_own_thread(self)) return refuse_here(err);
    pthread_cond_init(&waiter.answered, NULL);
    enum err_code code = submit(self, request, -1, &waiter.waiting, err);
    if (!code) {
        pthread_mutex_lock(&self->lock);
        while (!waiter.done) pthread_cond_wait(&waiter.answered, &self->lock);
        pthread_mutex_unlock(&self->lock);
        *out = waiter.verdict;
        *err = waiter.err;
        code = err->code;
    }
    pthread_cond_destroy(&waiter.answered);
    return code;
}

enum err_code assay_judge_request(struct assay_engine *self, const struct msg_request *request,
                                  struct msg_verdict **out, struct err *err)
{
    *out = NULL;
    enter(self);
    enum err_code code = judge(self, request, out, err);
    count_down(self, &self->n_callers);
    return code;
}

static struct assay_verdict *own_verdict(struct msg_verdict *message)
{
    struct assay_verdict *verdict = g_new0(struct assay_verdict, 1);
    verdict->message = message;
    return verdict;
}

static enum err_code read_request(struct arena *arena, const char *request, size_t len, struct msg_request **out,
                                  struct err *err)
{
    enum err_code code = msg_request_from_json(arena, request, len, out, err);
    return code ? code : deny_names_check((*out)->options.deny_columns, (*out)->options.n_deny_columns, err);
}

enum assay_result assay_judge(struct assay_engine *self, const char *request, size_t len, struct assay_verdict **out,
                              struct assay_error *error)
{
    struct arena arena;
    struct err err = {0};
    struct msg_request *message = NULL;
    struct msg_verdict *verdict = NULL;
    arena_init(&arena, 0);
    enum err_code code = read_request(&arena, request, len, &message, &err);
    if (!code) code = assay_judge_request(self, message, &verdict, &err);
    arena_free(&arena);
    *out = verdict ? own_verdict(verdict) : NULL;
    return fill_error(error, code, &err);
}

struct asynchronous {
    struct waiting waiting;
    assay_callback *callback;
    void *context;
};

static void call_back(struct waiting *waiting, struct msg_verdict *verdict, const struct err *err)
{
    struct asynchronous *own = (struct asynchronous *)(void *)waiting;
    struct assay_error error;
    fill_error(&error, err ? err->code : ERR_OK, err);
    own->callback(own->context, verdict ? own_verdict(verdict) : NULL, &error);
    g_free(own);
}

enum assay_result assay_submit(struct assay_engine *self, const char *request, size_t len, int64_t timeout_ms,
                               assay_callback *callback, void *context, struct assay_error *error)
{
    struct arena arena;
    struct err err = {0};
    struct msg_request *message = NULL;
    arena_init(&arena, 0);
    enum err_code code = read_request(&arena, request, len, &message, &err);
    if (!code) {
        struct asynchronous *own = g_new(struct asynchronous, 1);
        *own = (struct asynchronous){{call_back}, callback, context};
        enter(self);
        code = submit(self, message, timeout_ms, &own->waiting, &err);
        count_down(self, &self->n_callers);
        if (code) g_free(own);
    }
    arena_free(&arena); // NOLINT(clang-analyzer-unix.Malloc): call_back frees `own`
    return fill_error(error, code, &err);
}

enum assay_result assay_wait(struct assay_engine *self, int64_t timeout_ms)
{
    if (on_own_thread(self)) return ASSAY_REJECT;
    struct timespec until = clock_after_ms(timeout_ms > 0 ? timeout_ms : 0);
    bool late = timeout_ms == 0;
    enter(self);
    pthread_mutex_lock(&self->lock);
    while (self->n_out && !late) {
        if (timeout_ms < 0)
            pthread_cond_wait(&self->idle, &self->lock);
        else
            late = pthread_cond_timedwait(&self->idle, &self->lock, &until) != 0;
    }
    bool some = self->n_out > 0;
    pthread_mutex_unlock(&self->lock);
    count_down(self, &self->n_callers);
    return some ? ASSAY_RETRY : ASSAY_OK;
}

/* --- open, close --- */

void assay_options_init_sized(struct assay_options *options, size_t size, size_t database_size)
{
    memset(options, 0, size);
    options->size = size;
    options->database_size = database_size;
}

/* Copies a struct of another version. The caller's struct may be shorter than ours, if the caller is older. It may be
 * longer if the unknown part is zero; otherwise returns false. */
static bool copy_known(void *out, size_t known, const void *from, size_t size)
{
    const char *bytes = from;
    memset(out, 0, known);
    for (size_t i = known; i < size; i++)
        if (bytes[i]) return false;
    memcpy(out, from, size < known ? size : known);
    return true;
}

static enum err_code too_new(struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "the options use fields that version " ASSAY_VERSION " of the library does not support");
}

/* Copies a text to the arena. Returns NULL if `text` is NULL, or if the arena is full. */
static const char *keep(struct assay_engine *self, const char *text)
{
    const char *copy = text ? arena_strdup(&self->arena, text) : NULL;
    self->arena_full |= text && !copy;
    return copy;
}

/* Changes an error that a request could cause to an error of the configuration. */
static enum err_code config_error(struct err *err)
{
    return err->code = ERR_CONFIG;
}

static enum err_code keep_database(struct assay_engine *self, const struct assay_database *from,
                                   struct worker_database *out, struct err *err)
{
    int expose = from->expose ? msg_expose_by_name(from->expose) : MSG_EXPOSE_UNSET;
    if (!from->name || !from->path) return err_set(err, ERR_CONFIG, "a database has no name or no path");
    if (expose < 0)
        return err_set(err, ERR_CONFIG, "invalid expose '%.40s': expected none, values or rows", from->expose);
    if (from->n_deny_columns > MSG_MAX_LIST)
        return err_set(err, ERR_CONFIG, "a database has more than %d denied columns", MSG_MAX_LIST);
    const char **denied = arena_new_array(&self->arena, from->n_deny_columns, const char *);
    if (!denied) return err_set(err, ERR_NOMEM, "out of memory for the denied columns");
    for (size_t i = 0; i < from->n_deny_columns; i++) {
        if (!from->deny_columns[i]) return err_set(err, ERR_CONFIG, "a denied column has no name");
        if (deny_name_check(from->deny_columns[i], err)) return config_error(err);
        denied[i] = keep(self, from->deny_columns[i]);
    }
    *out = (struct worker_database){
        .name = keep(self, from->name),
        .path = keep(self, from->path),
        .descriptions = keep(self, from->descriptions),
        .expose = (enum msg_expose)expose,
        .deny_columns = denied,
        .n_deny_columns = (uint32_t)from->n_deny_columns,
    };
    return ERR_OK;
}

static enum err_code keep_databases(struct assay_engine *self, const struct assay_options *options,
                                    struct worker_databases *out, struct err *err)
{
    const char *next = (const char *)options->databases;
    enum err_code code = ERR_OK;
    if (!options->n_databases && !options->database_root)
        return err_set(err, ERR_CONFIG, "neither databases nor database_root is set");
    if (options->database_root && !g_file_test(options->database_root, G_FILE_TEST_IS_DIR))
        return err_set(err, ERR_CONFIG, "database_root '%.200s' is not a directory", options->database_root);
    struct worker_database *files = arena_new_array(&self->arena, options->n_databases, struct worker_database);
    const char **roots = arena_new_array(&self->arena, 1, const char *);
    if (!files || !roots) return err_set(err, ERR_NOMEM, "out of memory for the databases");
    for (size_t i = 0; i < options->n_databases && !code; i++, next += options->database_size) {
        struct assay_database database;
        if (!copy_known(&database, sizeof database, next, options->database_size)) return too_new(err);
        code = keep_database(self, &database, &files[i], err);
    }
    roots[0] = keep(self, options->database_root);
    *out = (struct worker_databases){
        .roots = roots, .n_roots = roots[0] ? 1 : 0, .files = files, .n_files = (uint32_t)options->n_databases};
    return code;
}

static enum err_code read_config(struct assay_engine *self, const struct assay_options *options,
                                 struct engine_config *out, struct err *err)
{
    *out = (struct engine_config){
        .workers = options->threads,
        .window = options->window,
        .models_dir = options->models,
        .executor = keep(self, options->executor),
        .schema_cache_bytes = options->index_bytes,
        .shows_locations = options->show_locations != 0,
        .limits = {.time_ms = options->statement_ms,
                   .max_rows = options->statement_rows,
                   .max_bytes = options->statement_bytes,
                   .heap_bytes = options->sqlite_bytes},
    };
    if (options->executor && access(options->executor, X_OK) != 0)
        return err_set(err, ERR_CONFIG, "executor '%.200s' is not an executable file", options->executor);
    enum err_code code = keep_databases(self, options, &out->databases, err);
    if (!code && self->arena_full) code = err_set(err, ERR_NOMEM, "out of memory for the options");
    if (code || !options->defaults) return code;
    code = msg_options_from_json(&self->arena, options->defaults, strlen(options->defaults), &out->defaults, err);
    if (!code) code = deny_names_check(out->defaults.deny_columns, out->defaults.n_deny_columns, err);
    return code ? config_error(err) : ERR_OK;
}

static struct assay_engine *make(void)
{
    struct assay_engine *self = g_new0(struct assay_engine, 1);
    arena_init(&self->arena, 0);
    pthread_mutex_init(&self->lock, NULL);
    clock_cond_init(&self->idle);
    self->waiting = g_hash_table_new(g_direct_hash, g_direct_equal);
    return self;
}

static void destroy(struct assay_engine *self)
{
    engine_close(self->engine);
    g_hash_table_destroy(self->waiting);
    pthread_cond_destroy(&self->idle);
    pthread_mutex_destroy(&self->lock);
    arena_free(&self->arena);
    g_free(self);
}

/* Blocks all signals that a handler can wait for. Signals for faults of the thread itself stay unblocked. */
static void block_signals(sigset_t *before)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t all;
    sigfillset(&all);
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++) sigdelset(&all, own[i]);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* Starts the engine. Blocks signals meanwhile, because the new threads inherit the signal mask of their creator. */
static enum err_code start(struct assay_engine *self, const struct engine_config *config, struct err *err)
{
    sigset_t before;
    block_signals(&before);
    enum err_code code = engine_open(config, &self->engine, err);
    if (!code && pthread_create(&self->collector, NULL, collect, self))
        code = err_set(err, ERR_NOMEM, "cannot start the thread for verdicts");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

enum err_code assay_open_config(const struct engine_config *config, struct assay_engine **out, struct err *err)
{
    struct assay_engine *self = make();
    enum err_code code = start(self, config, err);
    if (code) destroy(self);
    *out = code ? NULL : self;
    return code;
}

const struct engine *assay_inner_engine(const struct assay_engine *self)
{
    return self->engine;
}

enum assay_result assay_open(const struct assay_options *options, struct assay_engine **out, struct assay_error *error)
{
    struct assay_options known;
    struct engine_config config;
    struct err err = {0};
    struct assay_engine *self = make();
    *out = NULL;
    enum err_code code = copy_known(&known, sizeof known, options, options->size) ? ERR_OK : too_new(&err);
    if (!code) code = read_config(self, &known, &config, &err);
    if (!code) code = start(self, &config, &err);
    if (code)
        destroy(self);
    else
        *out = self;
    return fill_error(error, code, &err);
}

enum assay_result assay_close(struct assay_engine *self)
{
    if (!self) return ASSAY_OK;
    if (on_own_thread(self)) return ASSAY_REJECT;
    pthread_mutex_lock(&self->lock);
    self->closing = true;
    pthread_mutex_unlock(&self->lock);
    engine_finish(self->engine); /* wakes the callers that are blocked on a full window */
    engine_interrupt(self->engine);
    pthread_join(self->collector, NULL);
    pthread_mutex_lock(&self->lock);
    while (self->n_callers) pthread_cond_wait(&self->idle, &self->lock);
    pthread_mutex_unlock(&self->lock);
    destroy(self);
    return ASSAY_OK;
}

/* --- verdicts --- */

enum assay_status assay_verdict_status(const struct assay_verdict *verdict)
{
    return (enum assay_status)verdict->message->status;
}

const char *assay_verdict_status_name(const struct assay_verdict *verdict)
{
    return msg_status_name(verdict->message->status);
}

const char *assay_verdict_id(const struct assay_verdict *verdict)
{
    return verdict->message->id;
}

int32_t assay_verdict_chosen(const struct assay_verdict *verdict)
{
    return (int32_t)verdict->message->chosen - 1;
}

const char *assay_verdict_sql(const struct assay_verdict *verdict)
{
    return verdict->message->sql;
}

double assay_verdict_p_correct(const struct assay_verdict *verdict)
{
    return verdict->message->p_correct;
}

double assay_verdict_threshold(const struct assay_verdict *verdict)
{
    return verdict->message->threshold;
}

const char *assay_verdict_reason(const struct assay_verdict *verdict)
{
    return verdict->message->reason;
}

const char *assay_verdict_message(const struct assay_verdict *verdict)
{
    return verdict->message->message;
}

const char *assay_verdict_json(struct assay_verdict *verdict)
{
    if (verdict->json.len) return verdict->json.bytes;
    locale_t callers = uselocale(engine_locale());
    enum err_code code = msg_verdict_write_json(&verdict->json, verdict->message, 0);
    uselocale(callers);
    return code ? NULL : verdict->json.bytes;
}

void assay_verdict_free(struct assay_verdict *verdict)
{
    if (!verdict) return;
    msg_buffer_free(&verdict->json);
    msg_verdict_free(verdict->message);
    g_free(verdict);
}
