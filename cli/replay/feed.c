/* assay replay LOG --feed TOPIC: sends a log's requests to a fleet, and collects its verdicts.
 *
 * DESIGN. A valid request is sent as JSON, with its id as key; a line without an id gets one here. Verdicts are read
 * from the end that their topic had before the first request was sent. A verdict belongs to this log if its id does.
 * Ids are stored as hashes (eval/diff.h), so memory is about 45 bytes for each request. A fleet gives each id one
 * verdict. Waiting ends when all ids have a verdict, or when no verdict has arrived for --wait-ms.
 *
 * A file with verdicts on another log is refused, as by a replay. Before any request is sent, the ids of its verdicts
 * and the digests of their requests are compared with the log.
 *
 * With --resume, only requests without a verdict in the file are sent. Some of them may have been sent before. Their
 * verdicts may be in the topic but not in the file, if the earlier process died before it wrote them. So the offsets of
 * the group record up to where the file is complete. They are committed at the start, and later only after the verdicts
 * are written to the file. Before any request is sent, the topic is read from these offsets to its end. The fleet
 * recognises a repeated request by its id. Rejected: continuing after the last verdict of the file, because a fleet
 * does not answer in the order of the requests.
 */
#include "cli/output/destination.h"
#include "cli/output/format.h"
#include "cli/output/terminal.h"
#include "cli/replay/rate_limiter.h"
#include "cli/replay/replay.h"
#include "cli/replay/resume.h"
#include "cli/replay/topic_sink.h"
#include "cli/settings/fleet_settings.h"
#include "eval/diff.h"
#include "lib/base/clock.h"
#include "proto/bus/source.h"

#include <stdlib.h>
#include <string.h>

enum { DRAIN_MS = 30000, LISTEN_MS = 100 };
/* State of an id. ANSWERED: it has a verdict. FOREIGN: it has a verdict, but has not been found in the log yet. OPEN:
 * it was sent and has no verdict. UNSENT: it was not sent and has no verdict. */
enum { ANSWERED, OPEN, UNSENT, FOREIGN };
static const int64_t COMMIT_NS = 5000000000;

struct feed {
    struct cli *cli;
    struct bus *bus;
    struct source source;
    struct rate_limiter limiter;
    struct range *answers; /* NULL if verdicts are not awaited */
    struct destination to; /* --out */
    struct diff_ids asked; /* `line` is one of the states above; `start` is the first half of a FOREIGN id's digest */
    /* before: verdicts that the file of a resumed run already had */
    uint64_t read, sent, repeated, bad, open, answered, before;
    uint64_t undigested; /* verdicts counted in `before` that have no digest */
    int64_t heard_ns;    /* time of the last verdict or request */
    int64_t committed_ns;
    bool failed;
};

static bool fail(struct feed *f, const struct err *err)
{
    complain_err(NULL, err);
    f->failed = true;
    return false;
}

/* --- requests --------------------------------------------------------------------------------------------------- */

/* Returns the entry of an id. A new entry gets `state`. On failure prints an error and returns NULL. */
static struct diff_id *know(struct feed *f, const char *id, uint32_t state, bool *fresh)
{
    struct diff_id *entry = diff_ids_take(&f->asked, id, fresh);
    struct err err = {0};
    if (!entry) {
        err_set(&err, ERR_LIMIT_COUNT, "more than %d ids", DIFF_MAX_IDS);
        fail(f, &err);
        return NULL;
    }
    if (*fresh) entry->line = state;
    f->open += *fresh && (state == OPEN || state == UNSENT);
    return entry;
}

static bool ask(struct feed *f, const char *id)
{
    bool fresh;
    if (!f->answers) return true;
    struct diff_id *entry = know(f, id, OPEN, &fresh);
    if (!entry) return false;
    f->repeated += !fresh && entry->line != UNSENT;
    if (entry->line == UNSENT) entry->line = OPEN;
    return true;
}

/* True if the id already has a verdict. */
static bool is_settled(const struct feed *f, const char *id)
{
    const struct diff_id *entry = f->cli->settings.replay.resume ? diff_ids_find(&f->asked, id) : NULL;
    return entry && entry->line == ANSWERED;
}

static bool send_request(struct feed *f, struct arena *arena)
{
    struct msg_request *request = NULL;
    struct err err = {0};
    arena_reset(arena);
    if (source_read(&f->source, arena, &request, &err) != ERR_OK) {
        char *where = source_where(&f->source);
        complain("%s: %s", where, err.text[0] ? err.text : err_meaning(err.code));
        g_free(where);
        f->bad++;
        return !f->cli->settings.replay.strict;
    }
    if (is_settled(f, request->id)) return true;
    request->tag = 0;
    char *json = msg_request_to_json(request); /* includes the id that was assigned to a line without an id */
    struct bus_out out = {.topic = f->cli->settings.past.feed,
                          .partition = BUS_ANY_PARTITION,
                          .key = request->id,
                          .key_len = (uint32_t)strlen(request->id),
                          .value = json,
                          .len = json ? strlen(json) : 0,
                          .headers = &(struct bus_header){EDGE_HEADER, EDGE_JSON, (uint32_t)strlen(EDGE_JSON)},
                          .n_headers = 1};
    enum err_code code = json ? topic_produce(f->bus, &out, &err) : err_set(&err, ERR_NOMEM, "out of memory");
    free(json);
    if (code == ERR_CANCELLED) return false;
    if (code) return fail(f, &err);
    f->sent++;
    f->heard_ns = clock_now_ns();
    return ask(f, request->id);
}

/* --- verdicts --------------------------------------------------------------------------------------------------- */

/* Returns a verdict as JSON, from either encoding, or NULL if it is not one. */
static json_t *read_verdict(const struct bus_message *message)
{
    enum edge_type type;
    struct msg_verdict *verdict = NULL;
    if (edge_type_of(message, &type, NULL) != ERR_OK) return NULL;
    if (type == EDGE_TYPE_JSON) return json_loadb(message->value, message->len, 0, NULL);
    if (msg_decode_verdict_own(message->value, message->len, &verdict, NULL) != ERR_OK) return NULL;
    char *text = msg_verdict_to_json(verdict);
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    msg_verdict_free(verdict);
    return json;
}

static bool take_verdict(struct feed *f, const struct bus_message *message)
{
    json_t *json = read_verdict(message);
    const char *id = json_string_value(json_object_get(json, "id"));
    struct diff_id *entry = id ? diff_ids_find(&f->asked, id) : NULL;
    if (entry && entry->line) {
        entry->line = ANSWERED;
        f->open--;
        f->answered++;
        f->heard_ns = clock_now_ns();
        format_json(json, FORMAT_JSONL, f->to.stream);
    }
    json_decref(json);
    return !destination_failed(&f->to); /* destination_close reports the error */
}

/* Commits the offsets of the verdicts that are in the file. A later --resume continues after them. */
static enum err_code commit(struct feed *f, struct range *answers, struct err *err)
{
    uint32_t n;
    const struct range_part *parts = range_parts(answers, &n);
    int64_t *next = g_new(int64_t, n + 1);
    for (uint32_t i = 0; i < n; i++) next[i] = parts[i].at;
    f->committed_ns = clock_now_ns();
    enum err_code code = ERR_OK;
    int why = outfile_flush(&f->to.file);
    if (why)
        code = err_set(err, ERR_IO, "%s: cannot be written: %s", f->to.path, g_strerror(why));
    else
        code = range_commit(answers, next, err);
    g_free(next);
    return code;
}

/* Commits periodically. If a commit fails, a later one covers it; without a later one, --resume only reads more
 * verdicts again. */
static void commit_if_due(struct feed *f)
{
    struct err err = {0};
    if (clock_now_ns() - f->committed_ns >= COMMIT_NS) commit(f, f->answers, &err);
}

/* Processes the records that have arrived. */
static bool listen_for(struct feed *f, int64_t timeout_ms)
{
    const struct bus_message *message;
    struct err err = {0};
    while (f->answers) {
        enum err_code code = range_poll(f->answers, timeout_ms, &message, &err);
        if (code == ERR_FULL) break;
        if (code) return fail(f, &err);
        if (!take_verdict(f, message)) return false;
        timeout_ms = 0;
    }
    if (f->answers) commit_if_due(f);
    return true;
}

static void wait_for_verdicts(struct feed *f)
{
    int64_t patience_ns = f->cli->settings.past.wait_ms * 1000000;
    while (f->open && !replay_interrupted && clock_now_ns() - f->heard_ns < patience_ns)
        if (!listen_for(f, LISTEN_MS)) return;
}

/* --- the run ---------------------------------------------------------------------------------------------------- */

/* Sends one request when it is due. Returns false at the end, or if it cannot continue. */
static bool step(struct feed *f, struct arena *arena)
{
    uint64_t limit = (uint64_t)f->cli->settings.log.limit;
    struct err err = {0};
    if (limit && f->read >= limit) return false;
    int more = source_advance(&f->source, &err);
    if (more == SOURCE_LATER) return true;
    if (more == SOURCE_STOP) return fail(f, &err);
    if (more == SOURCE_END) return false;
    f->read++;
    int64_t wait_ns, time_ms = source_time_ms(&f->source);
    while ((wait_ns = rate_limiter_wait_ns(&f->limiter, time_ms, clock_now_ns())) > 0 && !replay_interrupted) {
        if (!listen_for(f, 0)) return false;
        rate_limiter_sleep(wait_ns);
    }
    if (replay_interrupted) return false;
    rate_limiter_take(&f->limiter, clock_now_ns());
    return send_request(f, arena) && listen_for(f, 0);
}

static void feed_all(struct feed *f)
{
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, 0);
    replay_catch_interrupts();
    while (!replay_interrupted && step(f, &arena)) {
    }
    arena_free(&arena);
    bool safe = !f->failed && topic_drain(f->bus, DRAIN_MS, &err) == ERR_OK;
    if (!safe && !f->failed) fail(f, &err);
    f->heard_ns = clock_now_ns();
    if (safe && !replay_interrupted) wait_for_verdicts(f);
    if (f->answers && !f->failed) commit(f, f->answers, &err);
    if (f->cli->settings.general.quiet) return;
    fprintf(stderr, "%s%llu requests sent%s, %llu bad lines", replay_interrupted ? "interrupted: " : "",
            (unsigned long long)f->sent,
            safe ? " and acknowledged by the brokers" : ", not all acknowledged by the brokers",
            (unsigned long long)f->bad);
    if (f->answers)
        fprintf(stderr, "; %llu verdicts, %llu requests without a verdict, %llu repeated ids",
                (unsigned long long)f->answered, (unsigned long long)f->open, (unsigned long long)f->repeated);
    if (f->cli->settings.replay.resume)
        fprintf(stderr, "; %llu verdicts were already in the file", (unsigned long long)f->before);
    fputc('\n', stderr);
}

/* --- resuming --------------------------------------------------------------------------------------------------- */

/* Returns the first 16 digits of a digest as a number, or 0 if there is none. */
static uint64_t first_half(const char *digest)
{
    char *half = g_strndup(digest ? digest : "", 16);
    uint64_t number = g_ascii_strtoull(half, NULL, 16);
    g_free(half);
    return number;
}

static const char *take_old(void *ctx, const struct lines *lines, bool keep)
{
    struct feed *f = ctx;
    struct resume_record record;
    bool fresh, known = resume_read(lines, &record);
    struct diff_id *entry = known && keep ? know(f, record.id, FOREIGN, &fresh) : NULL;
    if (entry && fresh) entry->start = first_half(record.digest);
    if (known && keep && !entry) known = false;
    f->before += known && keep;
    f->undigested += known && keep && record.old;
    json_decref(record.json);
    return known ? NULL : "not a verdict with an id";
}

static enum err_code another_log(const struct feed *f, const char *why, const char *id, struct err *err)
{
    return err_set(err, ERR_CONFIG, "%s was made from another log: %s%s%.256s", f->cli->settings.replay.out, why,
                   id ? " " : "", id ? id : "");
}

/* Compares one request of the log with the verdict of its id, if there is one. `sent` is false for requests beyond
 * --limit, which are not sent. */
static enum err_code know_request(struct feed *f, const struct msg_request *request, bool sent, struct err *err)
{
    struct diff_id *entry = diff_ids_find(&f->asked, request->id);
    bool fresh;
    if (!entry && sent) return know(f, request->id, UNSENT, &fresh) ? ERR_OK : ERR_LIMIT_COUNT;
    if (!entry || entry->line != FOREIGN) return ERR_OK;
    uint64_t digest[2];
    msg_request_digest(request, digest);
    if (entry->start && entry->start != digest[0])
        return another_log(f, "it has a verdict on another request with the id", request->id, err);
    entry->line = ANSWERED;
    return ERR_OK;
}

static enum err_code all_named(const struct feed *f, struct err *err)
{
    uint64_t foreign = 0;
    char why[80];
    for (uint32_t i = 0; i < f->asked.n; i++) foreign += f->asked.all[i].line == FOREIGN;
    snprintf(why, sizeof why, "%llu of its verdicts have ids that are not in the log", (unsigned long long)foreign);
    return foreign ? another_log(f, why, NULL, err) : ERR_OK;
}

/* Reads the ids of all requests to be sent, so that their verdicts are recognised. */
static enum err_code know_log(struct feed *f, struct err *err)
{
    struct source source;
    struct arena arena;
    const char *path = f->cli->args[0];
    uint64_t limit = (uint64_t)f->cli->settings.log.limit, read = 0;
    int more = SOURCE_END;
    enum err_code code = source_open_log(&source, path, err);
    if (code) return code;
    arena_init(&arena, 0);
    while (!code && (more = source_advance(&source, err)) > 0) {
        struct msg_request *request;
        arena_reset(&arena);
        read += more == SOURCE_READY;
        if (more == SOURCE_READY && source_read(&source, &arena, &request, NULL) == ERR_OK)
            code = know_request(f, request, !limit || read <= limit, err);
    }
    arena_free(&arena);
    source_close(&source);
    if (!code && more < 0) code = ERR_IO;
    return code ? code : all_named(f, err);
}

/* Reads the verdicts that arrived in the topic after the earlier process had died. */
static enum err_code catch_up(struct feed *f, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    struct range_config config = {
        .topic = s->past.answers, .group = s->past.group, .to = {RANGE_LAST, 0}, .resume = true};
    const struct bus_message *message;
    struct range *range;
    enum err_code code = range_open(f->bus, &config, &range, err);
    if (code) return code;
    while ((code = range_poll(range, LISTEN_MS, &message, err)) == ERR_OK || code == ERR_FULL)
        if (code == ERR_OK && !take_verdict(f, message)) break;
    if (code == ERR_CLOSED) code = commit(f, range, err);
    range_close(range);
    return f->failed ? ERR_IO : code;
}

static enum err_code go_on(struct feed *f, struct err *err)
{
    enum err_code code = resume_each(f->cli->settings.replay.out, take_old, f, err);
    if (!code && f->undigested && !f->cli->settings.general.quiet)
        complain(RESUME_OLD_VERDICTS, f->cli->settings.replay.out, (unsigned long long)f->undigested);
    if (!code) code = know_log(f, err);
    if (!code) code = destination_open(&f->to, f->cli->settings.replay.out, true, err);
    return code ? code : catch_up(f, err);
}

static enum err_code open_answers(struct feed *f, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    const char *out = s->replay.out;
    bool on = s->replay.resume && replay_is_full_file(out);
    struct range_config config = {.topic = s->past.answers,
                                  .group = s->past.group,
                                  .from = {on ? RANGE_FIRST : RANGE_LAST, 0},
                                  .to = {RANGE_NEVER, 0},
                                  .resume = on};
    if (!on && !s->replay.force && replay_is_full_file(out))
        return err_set(err, ERR_CONFIG, "%s exists" ERR_HINT "use --resume to continue it, or --force to overwrite it",
                       out);
    enum err_code code = on ? go_on(f, err) : ERR_OK;
    if (!code) code = range_open(f->bus, &config, &f->answers, err);
    if (!code && !on) code = destination_open(&f->to, out, false, err);
    struct err why = {0};
    if (!code && commit(f, f->answers, &why)) complain("cannot store the position for --resume: %s", why.text);
    return code;
}

static bool open_feed(struct feed *f, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    if (source_open_log(&f->source, f->cli->args[0], err) != ERR_OK) {
        struct err inner = *err;
        return err_at(err, inner.code, &inner, "%s", f->cli->args[0]), false;
    }
    if (f->source.lines.empty) complain_empty(f->source.lines.path);
    f->source.timed = s->past.speed > 0;
    f->limiter = (struct rate_limiter){.rate = s->past.rate, .speed = s->past.speed};
    return fleet_settings_open_bus(f->cli, &f->bus, err) == ERR_OK &&
           range_topic_exists(f->bus, s->past.feed, err) == ERR_OK &&
           (!s->replay.out || open_answers(f, err) == ERR_OK);
}

/* Checks that the settings are compatible. Otherwise prints an error and returns false. */
static bool check(const struct cli *cli)
{
    const struct settings *s = &cli->settings;
    if (s->past.from_topic || s->past.to_topic || !cli->n_args) {
        complain("--feed needs a LOG, and cannot be combined with --from-topic or --to-topic");
        return false;
    }
    if (s->replay.resume && (!s->replay.out || strcmp(cli->args[0], "-") == 0)) {
        complain("--resume with --feed needs --out, and a LOG other than standard input");
        return false;
    }
    return replay_check_group(s);
}

int feed_run(struct cli *cli)
{
    struct err err = {0};
    if (!check(cli)) return EXIT_ERROR;
    struct feed f = {.cli = cli};
    diff_ids_init(&f.asked);
    bool opened = open_feed(&f, &err);
    if (opened)
        feed_all(&f);
    else if (!f.failed)
        complain_err(NULL, &err);
    if (destination_close(&f.to, 0)) f.failed = true;
    range_close(f.answers);
    source_close(&f.source);
    if (f.bus) bus_close(f.bus);
    diff_ids_free(&f.asked);
    if (!opened || f.failed) return EXIT_ERROR;
    if (replay_interrupted) return EXIT_INTERRUPTED;
    return f.bad || f.open ? EXIT_JUDGED : 0;
}
