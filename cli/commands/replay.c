/* assay replay: reads a query log or the records of a topic, and writes one verdict for each line or record.
 *
 * DESIGN. One thread reads the requests, submits them to the engine and takes verdicts; the engine's threads judge.
 * Verdicts arrive in order of completion. `reorder` holds the requests in flight, in source order, and the verdicts
 * that arrived early. Its size is a few engine windows. A line that is an object with an id but no valid request gets a
 * `failed` verdict here. Any other invalid line is reported with its number and has no verdict.
 *
 * A topic is read with separate offsets (proto/bus/range.h), so the live group is not affected. The position is stored
 * with the verdicts. If they go to a file, each record contains partition and offset. If they go to a topic, the
 * offsets are committed in the replay's own group, after the earlier verdicts are durable. After a crash, some verdicts
 * are repeated and none is lost.
 *
 * Memory is bounded by the longest line, the engine's window and `reorder`, whatever the length of the log.
 */
#include "cli/output/destination.h"
#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "cli/output/terminal.h"
#include "cli/replay/rate_limiter.h"
#include "cli/replay/replay.h"
#include "cli/replay/resume.h"
#include "cli/replay/topic_sink.h"
#include "cli/settings/engine_settings.h"
#include "cli/settings/fleet_settings.h"
#include "engine/reorder.h"
#include "engine/run.h"
#include "lib/base/clock.h"
#include "proto/bus/source.h"

#include <math.h>
#include <string.h>

static const int64_t COMMIT_NS = 5000000000, BEHIND_NS = 1000000000;

struct replay {
    struct cli *cli;
    struct bus *bus; /* NULL unless the source or the destination is a topic */
    struct source source;
    struct rate_limiter limiter;
    bool held; /* the source holds a request that is not submitted yet */
    struct output *output;
    struct destination to;
    struct topic_sink *sink; /* used instead of `output` and `to` if verdicts go to a topic */
    int64_t committed_ns;
    struct resume resume;
    bool compared; /* all earlier verdicts in --out have been compared with the log */
    struct progress progress;
    /* requests in flight, by tag. The engine's own order is not used, because invalid lines need a slot too */
    struct reorder reorder;
    uint64_t read, failed; /* requests taken from the source; requests that could not be judged */
    bool ordered;          /* verdicts are written in source order */
    bool show, refused, interrupted;
};

/* --- verdicts out ---------------------------------------------------------------------------------------------- */

static void report(struct replay *r, const char *what)
{
    char *where = source_where(&r->source);
    progress_clear(&r->progress);
    complain("%s: %s", where, what);
    g_free(where);
}

/* Makes the written verdicts durable, and then commits the offsets of their requests. Called periodically. */
static bool commit(struct replay *r)
{
    struct err err = {0};
    r->committed_ns = clock_now_ns();
    enum err_code code = topic_sink_flush(r->sink, &err);
    if (code == ERR_FULL) return true; /* the brokers are slow or unreachable; the next call retries */
    if (!code) code = source_commit(&r->source, &err);
    if (!code || err_class(code) == ERR_CLASS_RETRY) return true;
    complain_err(NULL, &err);
    r->refused = true;
    return false;
}

static bool send_verdict(struct replay *r, const struct msg_verdict *verdict)
{
    struct err err = {0};
    if (topic_sink_write(r->sink, verdict, &err) != ERR_OK) {
        if (replay_interrupted) return false;
        progress_clear(&r->progress);
        complain_err(NULL, &err);
        r->refused = true;
        return false;
    }
    source_answered(&r->source, verdict->tag);
    return clock_now_ns() - r->committed_ns < COMMIT_NS || commit(r);
}

static bool write_verdict(struct replay *r, struct msg_verdict *verdict)
{
    if (!r->cli->settings.general.quiet && !r->sink && r->to.stream == stdout && r->show) progress_clear(&r->progress);
    r->failed += verdict->status == MSG_STATUS_FAILED;
    progress_count(&r->progress, verdict);
    bool good = true;
    if (r->sink)
        good = send_verdict(r, verdict);
    else
        output_verdict(r->output, verdict->tag, verdict);
    msg_verdict_free(verdict);
    return good && (r->sink || !destination_failed(&r->to));
}

/* Writes the verdicts that are ready and next in order. */
static bool write_ready(struct replay *r)
{
    for (struct msg_verdict *verdict; (verdict = reorder_next(&r->reorder));)
        if (!write_verdict(r, verdict)) return false;
    return true;
}

static bool on_verdict(void *ctx, struct msg_verdict *verdict)
{
    struct replay *r = ctx;
    if (!r->ordered) {
        if (!write_verdict(r, verdict)) return false;
    } else {
        reorder_put(&r->reorder, verdict);
        if (!write_ready(r)) return false;
    }
    return !replay_interrupted;
}

/* --- requests in ------------------------------------------------------------------------------------------------ */

/* Builds a verdict for an invalid request with an id. Returns false if there is no id. */
static bool failed_verdict(const struct replay *r, struct arena *arena, const struct err *err, struct msg_verdict *out)
{
    const char *id, *db;
    if (!source_name(&r->source, arena, &id, &db)) return false;
    *out = (struct msg_verdict){.id = id,
                                .db = db,
                                .tag = source_position(&r->source),
                                .status = MSG_STATUS_FAILED,
                                .reason = err_name(err->code),
                                .message = err->text,
                                .p_correct = (double)NAN,
                                .threshold = (double)NAN,
                                .entailment_threshold = (double)NAN};
    return true;
}

/* Returns a copy of the verdict that owns its memory, like the engine's verdicts. */
static struct msg_verdict *own(const struct msg_verdict *verdict)
{
    struct msg_buffer buffer = {0};
    struct msg_verdict *copy = NULL;
    if (msg_encode_verdict(&buffer, verdict) == ERR_OK) msg_decode_verdict_own(buffer.bytes, buffer.len, &copy, NULL);
    msg_buffer_free(&buffer);
    return copy;
}

/* Handles a line that is not a valid request. Writes a failed verdict or, if the line has no id, prints a message.
 * Returns false if the replay must stop. */
static bool bad_line(struct replay *r, struct arena *arena, const struct err *err)
{
    struct msg_verdict failed;
    bool named = failed_verdict(r, arena, err, &failed);
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
    if (!r->ordered) return write_verdict(r, verdict);
    reorder_expect(&r->reorder, verdict->tag);
    return on_verdict(r, verdict);
}

/* True if the verdict in --out at the current position belongs to the current request. */
static bool answers_this(const struct replay *r, const struct source *source, struct arena *arena)
{
    struct msg_request *request = NULL;
    uint64_t digest[2];
    const char *id = NULL, *db;
    if (source_read(source, arena, &request, NULL) != ERR_OK) {
        source_name(source, arena, &id, &db);
        return !resume_conflicts(&r->resume, source_position(source), NULL, id);
    }
    msg_request_digest(request, digest);
    return !resume_conflicts(&r->resume, source_position(source), digest, request->id);
}

static void refuse_resume(struct replay *r, const struct source *source)
{
    char *where = source_where(source);
    progress_clear(&r->progress);
    complain("%s: the verdict in %s belongs to another request; the file was made from another log, or this log has "
             "changed" ERR_HINT "name another --out, or overwrite the file with --force",
             where, r->cli->settings.replay.out);
    g_free(where);
    r->refused = true;
}

/* Returns 1 if the current request already has its verdict, 0 if not, and -1 if the file belongs to another log. */
static int is_done(struct replay *r, struct arena *arena)
{
    if (!resume_has(&r->resume, source_position(&r->source))) return 0;
    if (r->compared || answers_this(r, &r->source, arena)) return 1;
    refuse_resume(r, &r->source);
    return -1;
}

/* Moves to the next request without a verdict. Returns the same values as source_advance. */
static int advance(struct replay *r, struct arena *arena)
{
    uint64_t limit = (uint64_t)r->cli->settings.log.limit;
    struct err err = {0};
    if (limit && r->read >= limit) return SOURCE_END;
    int more = source_advance(&r->source, &err);
    if (more == SOURCE_STOP) {
        progress_clear(&r->progress);
        complain_err(NULL, &err);
        r->refused = true;
    }
    if (more != SOURCE_READY) return more;
    r->read++;
    int done = is_done(r, arena);
    r->held = done == 0;
    return done < 0 ? SOURCE_STOP : done ? SOURCE_LATER : SOURCE_READY;
}

/* Sets *out to the next request when it is due. Returns the same values as engine_loop.next. */
static int next_request(void *ctx, struct arena *arena, struct msg_request **out)
{
    struct replay *r = ctx;
    if (replay_interrupted) return -1;
    int more = r->held ? SOURCE_READY : advance(r, arena);
    if (more != SOURCE_READY) return more == SOURCE_LATER ? ENGINE_LATER : more;
    int64_t now_ns = clock_now_ns(), wait_ns = rate_limiter_wait_ns(&r->limiter, source_time_ms(&r->source), now_ns);
    if (wait_ns > 0) {
        rate_limiter_sleep(wait_ns);
        return ENGINE_LATER;
    }
    struct err err = {0};
    rate_limiter_take(&r->limiter, now_ns);
    r->held = false;
    err.code = source_read(&r->source, arena, out, &err);
    if (err.code != ERR_OK) return bad_line(r, arena, &err) ? ENGINE_LATER : -1;
    if (r->ordered) reorder_expect(&r->reorder, (*out)->tag);
    return 1;
}

static bool must_wait(void *ctx)
{
    struct replay *r = ctx;
    return reorder_full(&r->reorder);
}

static void on_tick(void *ctx)
{
    struct replay *r = ctx;
    if (r->show) progress_draw(&r->progress, source_share(&r->source));
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* Compares every verdict in --out with the log before the run adds any, if the log can be read twice. A topic or
 * standard input is compared during the run. Prints an error and returns false if a verdict belongs to another log. */
static bool compare_resumed(struct replay *r)
{
    struct source log;
    struct arena arena;
    struct err err = {0};
    uint64_t met = 0;
    const char *path = r->cli->n_args ? r->cli->args[0] : NULL;
    if (r->resume.of_topics != (path ? 0 : r->resume.done)) {
        complain("%s holds verdicts on %s, but this replay reads %s", r->cli->settings.replay.out,
                 path ? "records of a topic" : "lines of a log", path ? "a log" : "a topic");
        return false;
    }
    if (!r->resume.done || !path || !g_file_test(path, G_FILE_TEST_IS_REGULAR)) return true;
    if (source_open_log(&log, path, &err) != ERR_OK) return complain_err(path, &err), false;
    arena_init(&arena, 0);
    while (!r->refused && source_advance(&log, &err) == SOURCE_READY) {
        if (!resume_has(&r->resume, source_position(&log))) continue;
        arena_reset(&arena);
        met++;
        if (!answers_this(r, &log, &arena)) refuse_resume(r, &log);
    }
    arena_free(&arena);
    source_close(&log);
    if (!r->refused && met < r->resume.done) {
        complain("%s holds verdicts on %llu lines that are not in %s: it was made from another log",
                 r->cli->settings.replay.out, (unsigned long long)(r->resume.done - met), path);
        r->refused = true;
    }
    r->compared = true;
    return !r->refused;
}

/* Reports verdicts of an older version, which identify their requests less precisely. */
static void say_undigested(const struct replay *r)
{
    if (r->resume.undigested && !r->cli->settings.general.quiet)
        complain(RESUME_OLD_VERDICTS, r->cli->settings.replay.out, (unsigned long long)r->resume.undigested);
}

/* Opens --out, or standard output, as the flags require. On failure prints an error and returns false. */
static bool open_output(struct replay *r, enum format *format)
{
    const struct settings *s = &r->cli->settings;
    const char *path = s->replay.out;
    if (!format_choose(r->cli, FORMATS_VERDICT, format)) return false;
    if (path && strcmp(s->output.format, "auto") == 0) *format = FORMAT_JSONL;
    if (s->replay.resume && (!path || *format != FORMAT_JSONL)) {
        complain("--resume needs --out=FILE and the format jsonl");
        return false;
    }
    struct err err = {0};
    if (!path) return destination_open(&r->to, NULL, false, &err) == ERR_OK;
    if (s->replay.resume) {
        enum err_code code = resume_scan(path, &r->resume, &err);
        if (code != ERR_OK) {
            complain_text(&err);
            return false;
        }
        say_undigested(r);
        if (!compare_resumed(r)) return false;
    } else if (!s->replay.force && replay_is_full_file(path)) {
        complain("%s exists" ERR_HINT "use --resume to continue it, or --force to overwrite it", path);
        return false;
    }
    return destination_open(&r->to, path, s->replay.resume, &err) == ERR_OK || (complain_err(NULL, &err), false);
}

static int exit_code(const struct replay *r, enum err_code code, const struct err *err)
{
    if (code != ERR_OK) return complain_err(NULL, err);
    if (r->refused) return EXIT_ERROR;
    if (r->interrupted) return EXIT_INTERRUPTED;
    return r->failed || r->progress.bad_lines ? EXIT_JUDGED : 0;
}

/* Writes the last verdicts and the position for the next replay. Waits for the brokers for a limited time; a signal
 * ends the wait. */
static void finish_sink(struct replay *r)
{
    struct err err = {0};
    enum err_code code = topic_sink_finish(r->sink, &err);
    if (!code) code = source_commit(&r->source, &err);
    if (!code) return;
    progress_clear(&r->progress);
    complain_err(NULL, &err);
    r->refused = true;
}

static int run_engine(struct replay *r)
{
    struct err err = {0};
    struct engine_config config;
    struct engine *engine = NULL;
    engine_settings(r->cli, &config);
    config.shows_locations = true;
    engine_settings_polisher(r->cli, &config);
    enum err_code code = engine_open(&config, &engine, &err);
    if (code == ERR_OK) {
        reorder_init(&r->reorder, engine_window(engine));
        struct engine_loop loop = {next_request, on_verdict, must_wait, on_tick, r, false};
        progress_start(&r->progress);
        replay_catch_interrupts();
        code = engine_run(engine, &loop, &err);
        if (code == ERR_OK && r->sink && !r->refused) finish_sink(r);
        reorder_free(&r->reorder);
        engine_settings_report_cache(r->cli, engine);
    }
    r->interrupted = replay_interrupted != 0;
    engine_close(engine);
    err.code = code;
    return exit_code(r, code, &err);
}

/* Closes the output. If a write has failed, for example because the disk is full, reports it here at the latest. A
 * closed pipe is not an error. */
static int close_output(struct replay *r, int code)
{
    if (r->sink) {
        if (!r->cli->settings.general.quiet && !r->refused)
            fprintf(stderr, "%llu verdicts sent to %s\n", (unsigned long long)topic_sink_sent(r->sink),
                    r->cli->settings.past.to_topic);
        topic_sink_close(r->sink);
        return code;
    }
    if (!output_end(r->output)) code = complain_err(NULL, &(struct err){.code = ERR_NOMEM});
    return destination_close(&r->to, code);
}

/* Opens the target of the verdicts: a topic, a file, or standard output. On failure prints an error and returns
 * false. */
static bool open_sink(struct replay *r)
{
    const struct settings *s = &r->cli->settings;
    struct err err = {0};
    enum format format;
    if (s->past.to_topic) {
        r->ordered = true; /* a committed offset covers all earlier ones, so verdicts must be written in order */
        r->committed_ns = clock_now_ns();
        if (topic_sink_open(r->bus, s->past.to_topic, &r->sink, &err) == ERR_OK) return true;
        complain_err(NULL, &err);
        return false;
    }
    if (!open_output(r, &format)) return false;
    r->output = output_begin(format, false, r->to.stream);
    return true;
}

/* Opens the source of requests. On failure prints an error and returns false. */
static bool open_source(struct replay *r)
{
    const struct settings *s = &r->cli->settings;
    const char *name = r->cli->n_args ? r->cli->args[0] : s->past.from_topic;
    struct range_config config;
    struct err err = {0};
    if ((s->past.from_topic || s->past.to_topic) && fleet_settings_open_bus(r->cli, &r->bus, &err) != ERR_OK) {
        complain_err(NULL, &err);
        return false;
    }
    enum err_code code = ERR_OK;
    if (!s->past.from_topic)
        code = source_open_log(&r->source, name, &err);
    else if (!(code = replay_range(s, &config, &err)))
        code = source_open_topic(&r->source, r->bus, &config, &err);
    r->source.timed = s->past.speed > 0;
    r->limiter = (struct rate_limiter){.rate = s->past.rate, .speed = s->past.speed};
    if (code) complain_err(s->past.from_topic ? NULL : name, &err);
    if (!code && r->source.lines.empty) complain_empty(r->source.lines.path);
    return code == ERR_OK;
}

static int replay_all(struct replay *r)
{
    int code = EXIT_ERROR;
    if (!replay_check(r->cli) || !engine_settings_has_databases(r->cli)) return code;
    if (open_source(r) && open_sink(r)) {
        bool to_terminal = !r->sink && r->to.stream == stdout && terminal_output();
        r->show = terminal_progress() && !r->cli->settings.general.quiet && !to_terminal;
        code = run_engine(r);
        if (r->progress.started_ns && !r->cli->settings.general.quiet && !r->refused) {
            progress_summary(&r->progress, r->interrupted);
            if (r->limiter.behind_ns > BEHIND_NS)
                fprintf(stderr, "replay is behind --speed: the last request was %.1f s late\n",
                        (double)r->limiter.behind_ns / 1e9);
        }
        code = close_output(r, code);
    }
    source_close(&r->source);
    if (r->bus) bus_close(r->bus);
    return code;
}

static int replay_run(struct cli *cli)
{
    if (cli->settings.past.feed) return feed_run(cli);
    struct replay *r = g_new0(struct replay, 1);
    r->cli = cli;
    r->ordered = !cli->settings.replay.unordered;
    int code = replay_all(r);
    resume_free(&r->resume);
    g_free(r);
    return code;
}

const struct command command_replay = {
    .name = "replay",
    .guide = "replay.md",
    .sentence = "judge a query log, or past records of a topic",
    .args = "[LOG|-] --db-root DIR",
    .description =
        "Reads a query log (JSON lines with id, db, question and candidates) and writes one verdict per line. Verdicts "
        "are in the order of the log. With --unordered, they are in order of completion. Each verdict has the line "
        "number of its request.\n\n"
        "A line that has an id but is not a valid request gets a verdict with status failed. A line that is not JSON, "
        "not UTF-8, without id, or longer than 16 MiB is skipped, and standard error shows its number. With --strict, "
        "the replay stops at either kind of line.\n\n"
        "With --from-topic, the requests are past records of a topic, from all partitions in order of time. The first "
        "record is at --from-offset or --from-time. The last is before --to-offset or --to-time, or at the end that "
        "the topic had at the start. No consumer group of coordinators or workers is changed. Verdicts go to --out, "
        "with partition and offset, or to --to-topic, with the id as key. With --to-topic, --resume continues at the "
        "offsets of --group. --rate and --speed limit the rate.\n\n"
        "With --feed, this process judges nothing. It sends the log's requests to a topic that coordinators read. With "
        "--out, it writes their verdicts to a file. --resume then counts the verdicts in the file and reads verdicts "
        "that arrived since the offsets of --group. It sends only the requests without a verdict.\n\n"
        "--out writes verdicts to a file. After an interruption, --resume drops an incomplete last line and judges "
        "only the requests without a verdict. After SIGINT, the summary so far is printed, and the exit status is "
        "130.\n\n"
        "The exit status is 0 if every line has a verdict other than failed. It is 1 if a line was skipped or its "
        "verdict is failed, and 2 if the replay could not continue.",
    .examples = "assay replay --servers kafka:9092 --from-topic assay.requests --from-time 2026-03-01T00:00:00Z \\\n"
                "    --db-root databases --out march.jsonl --rate 50\n"
                "assay replay log.jsonl --servers kafka:9092 --feed assay.requests --rate 20 --out verdicts.jsonl\n"
                "assay replay log.jsonl --db-root databases --out verdicts.jsonl\n"
                "assay replay log.jsonl --db-root databases --out verdicts.jsonl --resume\n"
                "zcat log.jsonl.gz | assay replay - --db-root databases --unordered | jq .status",
    .main_flags = "db-root out resume format workers limit policy from-topic feed servers",
    .groups =
        (const struct option_group *const[]){&options_replay,  &options_range,  &options_past,     &options_kafka,
                                             &options_log,     &options_judge,  &options_verifier, &options_repair,
                                             &options_encoder, &options_llm,    &options_consult,  &options_corrector,
                                             &options_polish,  &options_output, &options_signals,  &options_database,
                                             &options_schema,  &options_redis,  &options_general,  NULL},
    .min_args = 0,
    .max_args = 1,
    .run = replay_run,
};
