/* Serves runs over HTTP (serve_runs.h).
 *
 * A table maps names of files to their state; only serve_runs_close frees entries. One thread builds indexes. A request
 * for a run without an index gets 202. It queues the run unless the file is still being written. Each run has a lock
 * for its index, taken after the table's lock. A file that changed is opened again. Replies hide the paths of files. */
#include "cli/commands/serve_runs.h"

#include "cli/output/diff_output.h"
#include "eval/runs/run_index.h"
#include "lib/base/clock.h"
#include "lib/base/digits.h"
#include "lib/base/locations.h"
#include "lib/base/log.h"
#include "server/libmicrohttpd.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

enum state { RUN_NEW, RUN_WRITTEN, RUN_INDEXING, RUN_READY, RUN_FAILED };
static const char *const state_names[] = {"new", "written", "indexing", "ready", "failed"};

/* A requested file; freed by serve_runs_close. */
struct shown {
    struct serve_runs *runs;
    char *name, *path;
    GMutex lock; /* protects the members below; held while the index is queried, but not while it is built */
    enum state state;
    struct run_index *run; /* NULL unless ready */
    /* status of the file at the last check; after a failure, the file is retried only when it has changed */
    struct stat status;
    struct run_progress progress;
    struct err err; /* reason of the state RUN_FAILED */
    int64_t used_ns;
};

struct serve_runs {
    char *dir;
    GMutex lock; /* protects `shown`; lock it before the lock of a run */
    GHashTable *shown;
    GThreadPool *indexer;
    atomic_bool closing;
};

/* --- files -------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    return len && len <= 255 && name[0] != '.' && !strchr(name, '/') &&
           (g_str_has_suffix(name, ".jsonl") || g_str_has_suffix(name, ".ndjson"));
}

static bool is_file(const char *path, struct stat *status)
{
    return lstat(path, status) == 0 && S_ISREG(status->st_mode); /* a link may lead out of the folder */
}

static bool has_changed(const struct stat *a, const struct stat *b)
{
    return a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
           a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

static bool is_being_written(const struct stat *status)
{
    int64_t age_ms =
        g_get_real_time() / 1000 - (status->st_mtim.tv_sec * INT64_C(1000) + status->st_mtim.tv_nsec / 1000000);
    return age_ms >= 0 && age_ms < RUNS_QUIET_MS;
}

static void no_run(struct http_reply *reply, const char *detail)
{
    http_reply_problem(reply, MHD_HTTP_NOT_FOUND, "no such run", "run_missing", detail);
}

/* --- indexes ------------------------------------------------------------------------------------------------------ */

static bool on_progress(void *ctx, const struct run_progress *progress)
{
    struct shown *shown = ctx;
    g_mutex_lock(&shown->lock);
    shown->progress = *progress;
    g_mutex_unlock(&shown->lock);
    return !atomic_load(&shown->runs->closing);
}

static void make_index(gpointer item, gpointer ctx)
{
    struct shown *shown = item;
    const struct run_index_build build = {.path = shown->path, .progress = on_progress, .ctx = shown};
    struct err err = {0};
    (void)ctx;
    enum err_code code = run_index_build(&build, &err);
    if (code) {
        const struct log_field fields[] = {log_field_text("run", shown->name), log_field_text("why", err.text)};
        log_event(LOG_LEVEL_WARN, "serve", fields, 2, "cannot index a run");
    }
    g_mutex_lock(&shown->lock);
    shown->state = code ? RUN_FAILED : RUN_NEW; /* the next request opens the index */
    shown->err = err;
    g_mutex_unlock(&shown->lock);
}

static void close_index(struct shown *shown)
{
    run_index_close(shown->run);
    shown->run = NULL;
    shown->state = RUN_NEW;
}

/* Closes the least recently used index that no request uses, if RUNS_OPEN are open. The caller must hold the table's
 * lock. */
static void make_room(struct serve_runs *runs)
{
    GHashTableIter iter;
    gpointer value;
    struct shown *oldest = NULL;
    unsigned open = 0;
    g_hash_table_iter_init(&iter, runs->shown);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct shown *shown = value;
        if (!g_mutex_trylock(&shown->lock)) continue;
        if (shown->run && (++open, !oldest || shown->used_ns < oldest->used_ns)) oldest = shown;
        g_mutex_unlock(&shown->lock);
    }
    if (open < RUNS_OPEN || !g_mutex_trylock(&oldest->lock)) return;
    close_index(oldest);
    g_mutex_unlock(&oldest->lock);
}

/* Returns the entry of a name, and creates it if it is new. Returns NULL if there are too many. */
static struct shown *find(struct serve_runs *runs, const char *name)
{
    g_mutex_lock(&runs->lock);
    make_room(runs);
    struct shown *shown = g_hash_table_lookup(runs->shown, name);
    if (!shown && g_hash_table_size(runs->shown) < RUNS_FILES) {
        shown = g_new0(struct shown, 1);
        shown->runs = runs;
        shown->name = g_strdup(name);
        shown->path = g_build_filename(runs->dir, name, NULL);
        g_mutex_init(&shown->lock);
        g_hash_table_insert(runs->shown, shown->name, shown);
    }
    g_mutex_unlock(&runs->lock);
    return shown;
}

/* Advances the state of a run as far as possible without waiting, to RUN_READY if its index exists. The caller must
 * hold the run's lock. */
static void bring(struct shown *shown, const struct stat *status)
{
    shown->used_ns = clock_now_ns();
    if (shown->state == RUN_INDEXING) return;
    if (shown->state == RUN_READY && !run_index_is_current(shown->run)) close_index(shown);
    if (shown->state == RUN_FAILED && has_changed(&shown->status, status)) shown->state = RUN_NEW;
    if (shown->state == RUN_READY || shown->state == RUN_FAILED) return;
    shown->status = *status;
    if (run_index_open(shown->path, &shown->run, &shown->err)) {
        shown->state = RUN_FAILED;
    } else if (shown->run) {
        shown->state = RUN_READY;
    } else if (is_being_written(status)) {
        shown->state = RUN_WRITTEN;
    } else {
        shown->state = RUN_INDEXING;
        shown->progress = (struct run_progress){.size = (uint64_t)status->st_size};
        g_thread_pool_push(shown->runs->indexer, shown, NULL);
    }
}

static void say_state(const struct shown *shown, struct http_reply *reply)
{
    if (shown->state == RUN_FAILED) {
        http_reply_problem(reply, MHD_HTTP_UNPROCESSABLE_CONTENT, "cannot index the run", err_name(shown->err.code),
                           err_public_text(&shown->err));
        return;
    }
    json_t *json = json_pack("{s:s,s:s,s:I,s:I,s:I}", "name", shown->name, "state", state_names[shown->state], "bytes",
                             (json_int_t)shown->progress.bytes, "size", (json_int_t)shown->progress.size, "verdicts",
                             (json_int_t)shown->progress.verdicts);
    http_reply_json(reply, json ? json_dumps(json, JSON_COMPACT) : NULL);
    reply->status = MHD_HTTP_ACCEPTED;
    json_decref(json);
}

/* Returns a run that is ready, and holds its lock. If the run is not ready, sets the reply and returns NULL. */
static struct shown *take(struct serve_runs *runs, const char *name, struct http_reply *reply)
{
    struct stat status;
    struct shown *shown = is_name(name) ? find(runs, name) : NULL;
    if (!shown || !is_file(shown->path, &status)) {
        no_run(reply, shown || !is_name(name) ? "no file of this name in the folder of --runs"
                                              : "too many files were requested since the server started");
        return NULL;
    }
    g_mutex_lock(&shown->lock);
    bring(shown, &status);
    if (shown->state == RUN_READY) return shown;
    say_state(shown, reply);
    if (shown->state == RUN_WRITTEN) shown->state = RUN_NEW;
    g_mutex_unlock(&shown->lock);
    return NULL;
}

/* Replies with the error, without the path of the index that it contains. */
static void reply_failure(struct http_reply *reply, const struct err *err)
{
    struct err shown = {0};
    err_set(&shown, err->code, "%s", err_public_text(err));
    http_reply_error(reply, &shown);
}

static void reply_json(struct http_reply *reply, json_t *json, const struct err *err)
{
    if (!json && err)
        reply_failure(reply, err);
    else
        http_reply_json(reply, json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6)));
    json_decref(json);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static void summary(struct shown *shown, struct http_reply *reply)
{
    json_t *json = json_pack("{s:s,s:s,s:O}", "name", shown->name, "state", state_names[RUN_READY], "summary",
                             (json_t *)run_index_summary(shown->run));
    reply_json(reply, json, NULL);
}

/* Reads a number from the query string, or uses `fallback` if it is missing. Returns false if it is malformed. */
static bool read_number(const struct http_request *request, const char *name, double fallback, double *out)
{
    const char *text = http_request_query(request, name);
    char *end;
    *out = fallback;
    if (!text || !*text) return true;
    *out = g_ascii_strtod(text, &end);
    return end != text && !*end && isfinite(*out);
}

static const char *word(const struct http_request *request, const char *name)
{
    const char *text = http_request_query(request, name);
    return text && *text ? text : NULL;
}

static bool read_filter(const struct http_request *request, struct run_filter *f, const char **wrong)
{
    const char *status = word(request, "status"), *right = word(request, "right"), *sort = word(request, "sort");
    double offset, limit;
    int by = sort ? run_sort_by_name(sort) : RUN_BY_NUMBER;
    *f = RUN_FILTER_ALL;
    f->db = word(request, "db");
    f->reason = word(request, "reason");
    f->signal = word(request, "signal");
    f->text = word(request, "text");
    f->sql = word(request, "sql") != NULL;
    f->status = status ? msg_status_by_name(status) : -1;
    f->right = !right ? -1 : strcmp(right, "right") == 0;
    *wrong = status && f->status < 0                                     ? "status"
             : right && !f->right && strcmp(right, "wrong") != 0         ? "right"
             : by < 0                                                    ? "sort"
             : !read_number(request, "p_from", (double)NAN, &f->p_from)  ? "p_from"
             : !read_number(request, "p_to", (double)NAN, &f->p_to)      ? "p_to"
             : !read_number(request, "offset", 0, &offset) || offset < 0 ? "offset"
             : !read_number(request, "limit", 50, &limit) || limit < 1   ? "limit"
                                                                         : NULL;
    if (*wrong) return false;
    f->sort = (enum run_sort)by;
    f->offset = offset < 1e15 ? (uint64_t)offset : UINT64_C(1000000000000000);
    f->limit = limit < RUN_PAGE ? (uint32_t)limit : RUN_PAGE;
    return true;
}

static void verdicts(struct shown *shown, const struct http_request *request, struct http_reply *reply)
{
    struct run_filter filter;
    struct err err = {0};
    const char *wrong;
    if (!read_filter(request, &filter, &wrong)) {
        char *detail = g_strdup_printf("\"%s\" has an invalid value", wrong);
        http_reply_problem(reply, MHD_HTTP_BAD_REQUEST, "invalid filter", "malformed", detail);
        g_free(detail);
        return;
    }
    json_t *page = run_index_query(shown->run, &filter, &err);
    reply_json(reply, page, &err);
}

static void verdict(struct shown *shown, const char *number, struct http_reply *reply)
{
    struct err err = {0};
    guint64 n = 0;
    json_t *json = NULL;
    if (!g_ascii_string_to_unsigned(number, 10, 1, INT64_MAX, &n, NULL)) {
        no_run(reply, "the number of a verdict must be an integer from 1");
        return;
    }
    json = run_index_verdict(shown->run, n, &err);
    if (!json && err.code == ERR_REFUSED)
        http_reply_problem(reply, MHD_HTTP_NOT_FOUND, "no such verdict", "verdict_missing", err.text);
    else
        reply_json(reply, json, &err);
}

/* --- two runs --- */

struct changes {
    struct diff_writer *writer;
    unsigned n;
};

static void take_pair(void *ctx, const struct diff_pair *pair)
{
    struct changes *changes = ctx;
    if (changes->n++ < RUNS_CHANGES) diff_write_pair(changes->writer, pair);
}

static void take_lone(void *ctx, const char *id, unsigned side, uint64_t line, bool only)
{
    struct changes *changes = ctx;
    if (changes->n++ < RUNS_CHANGES) diff_write_lone(changes->writer, id, side, line, only);
}

static void compare(const char *const paths[2], const char *const names[2], struct http_reply *reply)
{
    struct diff_totals totals;
    struct err err = {0};
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    struct changes changes = {.writer = diff_writer_new(FORMAT_JSON, names, 0, stream)};
    const struct diff_files files = {.names = {paths[0], paths[1]},
                                     .rules = {.tolerance = 1e-6},
                                     .most = RUNS_COMPARED,
                                     .pair = take_pair,
                                     .lone = take_lone,
                                     .ctx = &changes};
    diff_totals_init(&totals);
    enum err_code code = diff_files(&files, &totals, &err);
    diff_writer_end(changes.writer, code ? NULL : &totals);
    diff_totals_free(&totals);
    fclose(stream);
    if (!code) {
        http_reply_json(reply, text);
        return;
    }
    free(text);
    bool many = code == ERR_LIMIT_COUNT;
    http_reply_problem(reply, many ? MHD_HTTP_CONTENT_TOO_LARGE : MHD_HTTP_UNPROCESSABLE_CONTENT,
                       many ? "too many verdicts to compare here; assay diff compares any number"
                            : "cannot compare the files",
                       err_name(code), many ? NULL : "one of the files cannot be read");
}

static void diff(const struct serve_runs *runs, const char *a, const char *b, struct http_reply *reply)
{
    const char *const names[2] = {a, b};
    char *paths[2] = {g_build_filename(runs->dir, a, NULL), g_build_filename(runs->dir, b, NULL)};
    struct stat status;
    if (is_name(a) && is_name(b) && is_file(paths[0], &status) && is_file(paths[1], &status))
        compare((const char *const *)paths, names, reply);
    else
        no_run(reply, "no file of one of these names in the folder of --runs");
    g_free(paths[0]);
    g_free(paths[1]);
}

static bool is_refused(const struct http_request *request, struct http_reply *reply)
{
    if (!request->tenant) return false;
    http_reply_problem(reply, MHD_HTTP_FORBIDDEN, "runs are for the operator", "refused",
                       "a run holds verdicts of all callers, so callers with tokens must not see it");
    return true;
}

static void get_run(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct serve_runs *runs = ctx;
    if (is_refused(request, reply)) return;
    char **parts = g_strsplit(request->rest, "/", 4);
    guint n = g_strv_length(parts);
    bool known = n == 1 || (n <= 3 && strcmp(parts[1], "verdicts") == 0);
    struct shown *shown = NULL;
    if (n == 3 && strcmp(parts[1], "diff") == 0)
        diff(runs, parts[0], parts[2], reply);
    else if (!known)
        no_run(reply, NULL);
    else
        shown = take(runs, parts[0], reply);
    if (shown) {
        if (n == 1)
            summary(shown, reply);
        else if (n == 2)
            verdicts(shown, request, reply);
        else
            verdict(shown, parts[2], reply);
        g_mutex_unlock(&shown->lock);
    }
    g_strfreev(parts);
}

/* --- the folder --- */

static gint by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *file_json(struct serve_runs *runs, const char *name)
{
    struct stat status;
    char *path = g_build_filename(runs->dir, name, NULL);
    bool file = is_file(path, &status);
    g_free(path);
    if (!file) return NULL;
    enum state state = RUN_NEW;
    uint64_t n = 0;
    g_mutex_lock(&runs->lock);
    struct shown *shown = g_hash_table_lookup(runs->shown, name);
    g_mutex_unlock(&runs->lock);
    if (shown && g_mutex_trylock(&shown->lock)) {
        state = shown->state;
        if (shown->run) n = run_index_verdicts(shown->run);
        g_mutex_unlock(&shown->lock);
    }
    return json_pack("{s:s,s:I,s:I,s:s,s:o}", "name", name, "bytes", (json_int_t)status.st_size, "changed",
                     (json_int_t)status.st_mtim.tv_sec, "state", state_names[state], "verdicts",
                     n ? json_integer((json_int_t)n) : json_null());
}

static void get_runs(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    struct serve_runs *runs = ctx;
    const char *name;
    if (is_refused(request, reply)) return;
    GDir *dir = g_dir_open(runs->dir, 0, NULL);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    while (dir && names->len <= RUNS_FILES && (name = g_dir_read_name(dir)))
        if (is_name(name) && g_utf8_validate(name, -1, NULL)) g_ptr_array_add(names, g_strdup(name));
    if (dir) g_dir_close(dir);
    bool truncated = names->len > RUNS_FILES;
    g_ptr_array_sort(names, by_name);
    json_t *list = json_array();
    for (guint i = 0; i < MIN(names->len, RUNS_FILES); i++) {
        json_t *file = file_json(runs, names->pdata[i]);
        if (file) json_array_append_new(list, file);
    }
    g_ptr_array_unref(names);
    reply_json(reply, json_pack("{s:o,s:b}", "runs", list, "truncated", truncated), NULL);
}

/* --- an uploaded file --- */

static json_t *report_of(const char *path, const char *name, const struct http_request *request, struct err *err)
{
    const struct run_index_build build = {.path = path};
    struct run_index *run = NULL;
    GError *error = NULL;
    if (!g_file_set_contents(path, request->body, (gssize)request->body_len, &error)) {
        err_set(err, ERR_IO, "cannot write the verdicts to a temporary file: %s", error->message);
        g_error_free(error);
        return NULL;
    }
    json_t *report = run_index_take(&build, &run, err) ? NULL : run_index_report(run, name, RUN_PAGE, err);
    run_index_close(run);
    return report;
}

static void post_run(void *ctx, const struct http_request *request, struct http_reply *reply)
{
    const char *name = word(request, "name");
    struct err err = {0};
    (void)ctx;
    if (is_refused(request, reply)) return;
    char *dir = g_dir_make_tmp("assay-run-XXXXXX", NULL);
    char *path = dir ? g_build_filename(dir, "verdicts.jsonl", NULL) : NULL,
         *index = dir ? g_build_filename(dir, "verdicts.jsonl.index", NULL) : NULL;
    json_t *report = NULL;
    if (dir)
        report = report_of(path, name && g_utf8_validate(name, -1, NULL) ? name : "dropped", request, &err);
    else
        err_set(&err, ERR_IO, "cannot create a temporary folder");
    if (report || !dir)
        reply_json(reply, report, &err);
    else
        http_reply_problem(reply, MHD_HTTP_BAD_REQUEST, "no verdicts", err_name(err.code),
                           "no line is a verdict in the format of assay replay --out");
    if (dir) {
        unlink(index);
        unlink(path);
        g_rmdir(dir);
    }
    g_free(index);
    g_free(path);
    g_free(dir);
}

/* --- open, close -------------------------------------------------------------------------------------------------- */

enum err_code serve_runs_open(const char *dir, struct serve_runs **out, struct err *err)
{
    if (!g_file_test(dir, G_FILE_TEST_IS_DIR)) return err_set(err, ERR_CONFIG, "--runs %s is not a directory", dir);
    struct serve_runs *runs = *out = g_new0(struct serve_runs, 1);
    runs->dir = g_strdup(dir);
    runs->shown = g_hash_table_new(g_str_hash, g_str_equal);
    runs->indexer = g_thread_pool_new(make_index, NULL, 1, FALSE, NULL);
    g_mutex_init(&runs->lock);
    return ERR_OK;
}

void serve_runs_close(struct serve_runs *runs)
{
    GHashTableIter iter;
    gpointer value;
    if (!runs) return;
    atomic_store(&runs->closing, true);
    g_thread_pool_free(runs->indexer, FALSE, TRUE);
    g_hash_table_iter_init(&iter, runs->shown);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        struct shown *shown = value;
        run_index_close(shown->run);
        g_mutex_clear(&shown->lock);
        g_free(shown->path);
        g_free(shown->name);
        g_free(shown);
    }
    g_hash_table_destroy(runs->shown);
    g_mutex_clear(&runs->lock);
    g_free(runs->dir);
    g_free(runs);
}

void serve_runs_routes(struct serve_runs *runs, GArray *routes)
{
    const struct http_route rows[] = {
        {.method = MHD_HTTP_METHOD_GET, .path = "/v1/runs", .answer = get_runs},
        {.method = MHD_HTTP_METHOD_GET, .path = "/v1/runs/", .answer = get_run},
        {.method = MHD_HTTP_METHOD_POST,
         .path = "/v1/runs",
         .accepts = HTTP_NDJSON,
         .max_bytes = RUNS_DROP_BYTES,
         .answer = post_run},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct http_route row = rows[i];
        row.scope = HTTP_SCOPE_JUDGE;
        row.work = HTTP_SLOW;
        row.ctx = runs;
        g_array_append_val(routes, row);
    }
}
