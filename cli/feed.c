/* assay replay LOG --feed TOPIC: a log's requests for a fleet, and its verdicts back.
 *
 * DESIGN. A line that is a request goes out as JSON, keyed by its id, which a line without one gets here. Verdicts are
 * looked for from where their topic ended before the first request went out; which are ours is told by the ids, kept as
 * hashes (cli/diff.h), so memory is about 45 bytes a request. A fleet gives an id one verdict. Waiting ends when all
 * have one, or when none has come for --wait-ms.
 */
#include "cli/diff.h"
#include "cli/pace.h"
#include "cli/replay.h"
#include "cli/source.h"
#include "cli/terminal.h"
#include "cli/topic_sink.h"
#include "lib/base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DRAIN_MS = 30000, LISTEN_MS = 100 };

struct feed {
    struct cli *cli;
    struct bus *bus;
    struct source source;
    struct pace pace;
    struct range *answers; /* NULL: nobody waits */
    FILE *out;
    struct diff_ids asked; /* line 1: no verdict on that id yet */
    uint64_t read, sent, repeated, bad, open, answered;
    int64_t heard_ns; /* the last verdict, or the last request */
    bool failed;
};

static bool fail(struct feed *f, const struct err *err)
{
    complain_err(NULL, err);
    f->failed = true;
    return false;
}

/* --- requests ------------------------------------------------------------------------------------------------------
 */

static bool ask(struct feed *f, const char *id)
{
    bool fresh;
    if (!f->answers) return true;
    struct diff_id *entry = diff_ids_take(&f->asked, id, &fresh);
    struct err err = {0};
    if (!entry) {
        err_set(&err, ERR_LIMIT_COUNT, "more than %d ids", DIFF_MAX_IDS);
        return fail(f, &err);
    }
    if (fresh) entry->line = 1;
    f->open += fresh;
    f->repeated += !fresh;
    return true;
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
    request->tag = 0;
    char *json = msg_request_to_json(request); /* with the id that a line without one gets */
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

/* --- verdicts ------------------------------------------------------------------------------------------------------
 */

/* A verdict as JSON, whichever way it came. NULL: it is none. */
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
        entry->line = 0;
        f->open--;
        f->answered++;
        f->heard_ns = clock_now_ns();
        format_json(json, FORMAT_JSONL, f->out);
    }
    json_decref(json);
    if (!ferror(f->out)) return true;
    complain("%s: cannot be written: %s", f->cli->settings.replay.out, g_strerror(errno));
    f->failed = true;
    return false;
}

/* Take what has come. */
static bool listen_for(struct feed *f, int64_t timeout_ms)
{
    const struct bus_message *message;
    struct err err = {0};
    while (f->answers) {
        enum err_code code = range_poll(f->answers, timeout_ms, &message, &err);
        if (code == ERR_FULL) return true;
        if (code) return fail(f, &err);
        if (!take_verdict(f, message)) return false;
        timeout_ms = 0;
    }
    return true;
}

static void wait_for_verdicts(struct feed *f)
{
    int64_t patience_ns = f->cli->settings.past.wait_ms * 1000000;
    while (f->open && !replay_interrupted && clock_now_ns() - f->heard_ns < patience_ns)
        if (!listen_for(f, LISTEN_MS)) return;
}

/* --- the run -------------------------------------------------------------------------------------------------------
 */

/* One request, when it is due. False: there are no more, or it cannot go on. */
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
    while ((wait_ns = pace_wait_ns(&f->pace, time_ms, clock_now_ns())) > 0 && !replay_interrupted) {
        if (!listen_for(f, 0)) return false;
        pace_nap(wait_ns);
    }
    if (replay_interrupted) return false;
    pace_take(&f->pace, clock_now_ns());
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
    if (f->cli->settings.general.quiet) return;
    fprintf(stderr, "%s%llu requests sent%s, %llu bad lines", replay_interrupted ? "interrupted: " : "",
            (unsigned long long)f->sent, safe ? " and taken by the brokers" : ", not all of them taken by the brokers",
            (unsigned long long)f->bad);
    if (f->answers)
        fprintf(stderr, "; %llu verdicts, %llu requests without one, %llu repeated ids",
                (unsigned long long)f->answered, (unsigned long long)f->open, (unsigned long long)f->repeated);
    fputc('\n', stderr);
}

static bool open_answers(struct feed *f, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    if (!s->replay.out) return true;
    if (!s->replay.force && replay_is_full_file(s->replay.out))
        return err_set(err, ERR_CONFIG, "%s exists: --force overwrites it", s->replay.out), false;
    struct range_config config = {
        .topic = s->past.answers, .group = s->past.group, .from = {RANGE_LAST, 0}, .to = {RANGE_NEVER, 0}};
    if (range_open(f->bus, &config, &f->answers, err) != ERR_OK) return false;
    f->out = fopen(s->replay.out, "we");
    if (!f->out) err_set(err, ERR_IO, "%s: cannot be written: %s", s->replay.out, g_strerror(errno));
    return f->out != NULL;
}

static bool open_feed(struct feed *f, struct err *err)
{
    const struct settings *s = &f->cli->settings;
    if (source_open_log(&f->source, f->cli->args[0], err) != ERR_OK)
        return err_set(err, ERR_IO, "%s: cannot be read: %s", f->cli->args[0], g_strerror(errno)), false;
    f->source.timed = s->past.speed > 0;
    f->pace = (struct pace){.rate = s->past.rate, .speed = s->past.speed};
    return replay_open_bus(f->cli, &f->bus, err) == ERR_OK && range_topic_exists(f->bus, s->past.feed, err) == ERR_OK &&
           open_answers(f, err);
}

int feed_run(struct cli *cli)
{
    struct err err = {0};
    if (cli->settings.past.from_topic || cli->settings.past.to_topic || cli->settings.replay.resume || !cli->n_args) {
        complain("--feed sends a LOG: without --from-topic, --to-topic and --resume");
        return EXIT_ERROR;
    }
    struct feed f = {.cli = cli};
    diff_ids_init(&f.asked);
    bool opened = open_feed(&f, &err);
    if (opened)
        feed_all(&f);
    else
        complain_err(NULL, &err);
    if (f.out && fclose(f.out) != 0 && !f.failed) {
        complain("%s: cannot be written: %s", cli->settings.replay.out, g_strerror(errno));
        f.failed = true;
    }
    range_close(f.answers);
    source_close(&f.source);
    if (f.bus) bus_close(f.bus);
    diff_ids_free(&f.asked);
    if (!opened || f.failed) return EXIT_ERROR;
    if (replay_interrupted) return EXIT_INTERRUPTED;
    return f.bad || f.open ? EXIT_JUDGED : 0;
}
