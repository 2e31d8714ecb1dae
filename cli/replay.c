/* assay replay: a query log in, a verdict a line out.
 *
 * DESIGN. One thread reads the log, hands requests to the engine and takes verdicts; the engine's threads judge.
 * Verdicts come in order of completion; `pending` holds the lines that are out, in the order of the log, and the
 * verdicts that came before their turn, so at most `bound` of them. A line that is an object with an id but no valid
 * request gets a `failed` verdict here; a line that is nothing of the kind is reported with its number and has none.
 *
 * Memory is that of the longest line, the engine's window and `bound` verdicts, however long the log is.
 */
#include "cli/input.h"
#include "cli/judge.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/resume.h"
#include "cli/terminal.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

enum { WAITING_PER_REQUEST = 4, MIN_WAITING = 64 };

struct replay {
    struct cli *cli;
    struct lines lines;
    struct output *output;
    FILE *stream;
    struct resume resume;
    struct progress progress;
    GQueue pending;        /* line numbers that are out, in the order of the log */
    GHashTable *finished;  /* line number → verdict that waits for its turn */
    guint bound;           /* of `pending` */
    uint64_t read, failed; /* lines taken from the log; verdicts that could not be judged */
    bool show, refused, interrupted;
    int io_error; /* errno of a failed write */
};

/* SIGINT and SIGTERM: stop, say how far it came. The second one kills as usual. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* --- verdicts out ---------------------------------------------------------------------------------------------- */

static bool write_verdict(struct replay *r, struct msg_verdict *verdict)
{
    if (!r->cli->settings.general.quiet && r->stream == stdout && r->show) progress_clear(&r->progress);
    r->failed += verdict->status == MSG_STATUS_FAILED;
    progress_count(&r->progress, verdict);
    output_verdict(r->output, verdict->tag, verdict);
    msg_verdict_free(verdict);
    if (ferror(r->stream) && !r->io_error) r->io_error = errno ? errno : EIO;
    return !r->io_error;
}

static gpointer line_key(uint64_t line)
{
    return GSIZE_TO_POINTER(line);
}

/* Write what is next in order and there. */
static bool write_ready(struct replay *r)
{
    while (!g_queue_is_empty(&r->pending)) {
        gpointer line = g_queue_peek_head(&r->pending);
        struct msg_verdict *verdict = g_hash_table_lookup(r->finished, line);
        if (!verdict) return true;
        g_hash_table_steal(r->finished, line);
        g_queue_pop_head(&r->pending);
        if (!write_verdict(r, verdict)) return false;
    }
    return true;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct replay *r = ctx;
    if (r->cli->settings.replay.unordered) {
        if (!write_verdict(r, verdict)) return false;
    } else {
        g_hash_table_insert(r->finished, line_key(verdict->tag), verdict);
        if (!write_ready(r)) return false;
    }
    return !interrupted;
}

/* --- requests in ------------------------------------------------------------------------------------------------ */

static void report(struct replay *r, const char *what)
{
    progress_clear(&r->progress);
    complain("%s:%llu: %s", r->lines.path, (unsigned long long)r->lines.number, what);
}

/* The id and database of a line that is an object with an id but no request we can take. False: it is none. */
static bool failed_verdict(struct arena *arena, const struct lines *lines, const struct err *err,
                           struct msg_verdict *out)
{
    json_t *json = lines->too_long ? NULL : json_loadb(lines->text, lines->len, 0, NULL);
    const char *id = json_string_value(json_object_get(json, "id")),
               *db = json_string_value(json_object_get(json, "db"));
    if (id) {
        *out = (struct msg_verdict){.id = arena_strdup(arena, id),
                                    .db = db ? arena_strdup(arena, db) : NULL,
                                    .tag = lines->number,
                                    .status = MSG_STATUS_FAILED,
                                    .reason = err_name(err->code),
                                    .message = err->text,
                                    .p_correct = (double)NAN,
                                    .threshold = (double)NAN};
    }
    json_decref(json);
    return id && out->id;
}

/* A copy of a verdict with its own memory, as the engine's have. */
static struct msg_verdict *own(const struct msg_verdict *verdict)
{
    struct msg_buffer buffer = {0};
    struct msg_verdict *copy = NULL;
    if (msg_encode_verdict(&buffer, verdict) == ERR_OK) msg_decode_verdict_own(buffer.bytes, buffer.len, &copy, NULL);
    msg_buffer_free(&buffer);
    return copy;
}

/* A line that is no request: a failed verdict in its place, or a word on standard error. False: stop. */
static bool bad_line(struct replay *r, struct arena *arena, const struct err *err)
{
    struct msg_verdict failed;
    bool named = failed_verdict(arena, &r->lines, err, &failed);
    if (!named || r->cli->settings.replay.strict) report(r, err->text[0] ? err->text : err_meaning(err->code));
    if (r->cli->settings.replay.strict) {
        r->refused = true;
        return false;
    }
    struct msg_verdict *verdict = named ? own(&failed) : NULL;
    if (!verdict) {
        r->progress.bad_lines++;
        return true;
    }
    if (r->cli->settings.replay.unordered) return write_verdict(r, verdict);
    g_queue_push_tail(&r->pending, line_key(verdict->tag));
    return on_verdict(r, verdict);
}

static enum err_code read_request(struct replay *r, struct arena *arena, struct msg_request **out, struct err *err)
{
    if (r->lines.too_long) return err_set(err, ERR_LIMIT_BYTES, "the line is longer than %d bytes", INPUT_MAX_BYTES);
    enum err_code code = msg_request_from_json(arena, r->lines.text, r->lines.len, out, err);
    if (code != ERR_OK) return code;
    (*out)->tag = r->lines.number;
    if (!(*out)->id) (*out)->id = arena_printf(arena, "line-%llu", (unsigned long long)r->lines.number);
    return (*out)->id ? ERR_OK : err_set(err, ERR_LIMIT_MEMORY, "out of memory");
}

/* The next line that has no verdict yet. 1, 0 at the end, -1 to stop. */
static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct replay *r = ctx;
    uint64_t limit = (uint64_t)r->cli->settings.log.limit;
    while (!interrupted) {
        if (limit && r->read >= limit) return 0;
        int more = lines_next(&r->lines);
        if (interrupted) break;
        if (more < 0) {
            report(r, g_strerror(errno));
            r->refused = true;
            return -1;
        }
        if (more == 0) return 0;
        r->read++;
        struct err err = {0};
        bool done = resume_has(&r->resume, r->lines.number);
        if (done && r->read > RESUME_SAMPLES) continue;
        enum err_code code = read_request(r, arena, out, &err);
        if (done) {
            if (code != ERR_OK || !resume_conflicts(&r->resume, r->lines.number, (*out)->id)) continue;
            report(r, "the file of --out was made from another log");
            r->refused = true;
            return -1;
        }
        if (code == ERR_OK) {
            if (!r->cli->settings.replay.unordered) g_queue_push_tail(&r->pending, line_key(r->lines.number));
            return 1;
        }
        err.code = code;
        if (!bad_line(r, arena, &err)) return -1;
    }
    return -1;
}

/* Enough verdicts wait for one that is slow: read no further. The line just read is itself the last of `pending`. */
static bool must_wait(void *ctx)
{
    struct replay *r = ctx;
    return g_queue_get_length(&r->pending) > r->bound;
}

static void on_tick(void *ctx)
{
    struct replay *r = ctx;
    if (r->show) progress_draw(&r->progress, r->lines.size ? (double)r->lines.offset / (double)r->lines.size : -1);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static bool is_full_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

/* Open --out (or standard output) as the flags ask. False after a complaint. */
static bool open_output(struct replay *r, enum format *format)
{
    const struct settings *s = &r->cli->settings;
    const char *path = s->replay.out;
    r->stream = stdout;
    if (!format_choose(r->cli, FORMATS_VERDICT, format)) return false;
    if (path && strcmp(s->output.format, "auto") == 0) *format = FORMAT_JSONL;
    if (s->replay.resume && (!path || *format != FORMAT_JSONL)) {
        complain("--resume needs --out=FILE and the format jsonl");
        return false;
    }
    if (!path) return true;
    struct err err = {0};
    if (s->replay.resume) {
        enum err_code code = resume_scan(path, &r->resume, &err);
        if (code != ERR_OK) {
            complain("%s", err.text);
            return false;
        }
    } else if (!s->replay.force && is_full_file(path)) {
        complain("%s exists: --resume continues it, --force overwrites it", path);
        return false;
    }
    r->stream = fopen(path, s->replay.resume ? "ae" : "we");
    if (!r->stream) complain("%s: cannot be written: %s", path, g_strerror(errno));
    return r->stream != NULL;
}

static int exit_code(const struct replay *r, enum err_code code, const struct err *err)
{
    if (code != ERR_OK) return complain_err(NULL, err);
    if (r->refused || r->io_error) return EXIT_ERROR;
    if (r->interrupted) return EXIT_INTERRUPTED;
    return r->failed || r->progress.bad_lines ? EXIT_JUDGED : 0;
}

static int run_engine(struct replay *r)
{
    struct err err = {0};
    struct engine_config config;
    struct engine *engine = NULL;
    judge_config(r->cli, &config);
    enum err_code code = engine_open(&config, &engine, &err);
    if (code == ERR_OK) {
        uint32_t workers = config.workers ? config.workers : (uint32_t)g_get_num_processors();
        uint32_t window = config.window ? config.window : 8 * workers;
        r->bound = MAX(window * WAITING_PER_REQUEST, MIN_WAITING);
        struct judge_loop loop = {next_request, on_verdict, must_wait, on_tick, r};
        progress_start(&r->progress);
        catch_interrupts();
        code = judge_run(engine, &loop, &err);
        judge_report_cache(r->cli, engine);
    }
    r->interrupted = interrupted != 0;
    engine_close(engine);
    err.code = code;
    return exit_code(r, code, &err);
}

/* Close the output; a full disk shows here at the latest. A reader that left is no error. */
static int close_output(struct replay *r, int code)
{
    errno = 0;
    bool good = output_end(r->output);
    if (r->stream != stdout && fclose(r->stream) != 0) good = false;
    if (r->io_error) errno = r->io_error;
    if (good || errno == EPIPE) return code;
    complain("%s: cannot be written: %s", r->cli->settings.replay.out ? r->cli->settings.replay.out : "standard output",
             g_strerror(errno));
    return EXIT_ERROR;
}

static void free_verdict(gpointer verdict)
{
    msg_verdict_free(verdict);
}

static int replay_log(struct replay *r)
{
    enum format format;
    struct err err = {0};
    if (!judge_has_root(r->cli)) return EXIT_ERROR;
    if (lines_open(r->cli->args[0], &r->lines, &err) != ERR_OK) return complain_err(r->cli->args[0], &err);
    int code = EXIT_ERROR;
    if (open_output(r, &format)) {
        r->output = output_begin(format, false, r->stream);
        r->show = terminal_progress() && !r->cli->settings.general.quiet && !(r->stream == stdout && terminal_output());
        code = close_output(r, run_engine(r));
        if (r->progress.started_ns && !r->cli->settings.general.quiet && !r->refused)
            progress_summary(&r->progress, r->interrupted);
    }
    lines_close(&r->lines);
    return code;
}

static int replay_run(struct cli *cli)
{
    struct replay *r = g_new0(struct replay, 1);
    r->cli = cli;
    r->finished = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, free_verdict);
    g_queue_init(&r->pending);
    int code = replay_log(r);
    g_queue_clear(&r->pending);
    g_hash_table_destroy(r->finished);
    resume_free(&r->resume);
    g_free(r);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .sentence = "judge a query log, a verdict a line",
    .args = "LOG|- --db-root DIR",
    .description =
        "Reads a query log (JSON lines with id, db, question, candidates) and writes one verdict a line, in the order "
        "of the "
        "log or, with --unordered, as they come. Each verdict says which line it answers.\n\n"
        "A line that has an id but is no valid request gets a verdict with status failed. A line that is not even that "
        "(not "
        "JSON, not UTF-8, no id, longer than 16 MiB) is reported on standard error with its number and skipped. With "
        "--strict either stops the replay.\n\n"
        "--out writes to a file. A replay that was stopped or killed goes on with --resume: the file's torn last line "
        "is cut "
        "off and only lines without a verdict are judged. SIGINT prints the summary so far; the exit status is 130.\n\n"
        "The exit status is 0 when every line was answered, whatever the verdicts; 1 when a line was skipped or its "
        "verdict "
        "is failed; 2 when the replay itself could not go on.",
    .examples = "assay replay log.jsonl --db-root databases --out verdicts.jsonl\n"
                "assay replay log.jsonl --db-root databases --out verdicts.jsonl --resume\n"
                "zcat log.jsonl.gz | assay replay - --db-root databases --unordered | jq .status",
    .groups = (const struct option_group *const[]){&options_replay, &options_log, &options_judge, &options_verifier,
                                                   &options_output, &options_signals, &options_database,
                                                   &options_schema, &options_redis, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = replay_run,
};
