/* Implements assay serve with a fleet: requests and verdicts are records of its topics. Any number of replicas may run,
 * because a replica has no state that must survive. */
#include "cli/commands/serve.h"

#include "cli/settings/fleet_settings.h"
#include "proto/bus/letter.h"
#include "proto/bus/range.h"
#include "proto/message/edge.h"
#include "server/http_route.h"

#include <stdlib.h>
#include <string.h>

enum { TURN_MS = 50 };

struct fleet {
    const struct settings *settings;
    struct bus *bus;
    struct pending *pending;
    struct range *verdicts, *letters;
};

/* --- outcomes --- */

static bool read_number(const struct bus_message *message, const char *name, gint64 most, gint64 *out)
{
    const char *text = bus_header_get(message, name);
    return text && g_ascii_string_to_signed(text, 10, 0, most, out, NULL);
}

/* Reads the position of the request to which a message belongs. Returns false if it is not a request of this fleet. */
static bool read_position(const struct fleet *fleet, const struct bus_message *message, struct msg_key *out)
{
    const char *group = bus_header_get(message, BUS_OF_GROUP);
    gint64 partition, offset;
    if (group && strcmp(group, fleet->settings->serve.group) != 0) return false;
    if (!read_number(message, BUS_OF_PARTITION, INT32_MAX, &partition)) return false;
    if (!read_number(message, BUS_OF_OFFSET, INT64_MAX, &offset)) return false;
    *out = (struct msg_key){(int32_t)partition, offset};
    return true;
}

/* Passes a verdict to its waiter. Verdicts for callers of a server arrive as JSON, because their requests were sent as
 * JSON. A verdict in msgpack belongs to another sender. */
static void take_verdict(struct fleet *fleet, const struct bus_message *message)
{
    struct outcome outcome = {0};
    enum edge_type type;
    if (!read_position(fleet, message, &outcome.position)) return;
    if (edge_type_of(message, &type, NULL) || type != EDGE_TYPE_JSON) return;
    if (message->key && message->key_len < sizeof outcome.id) memcpy(outcome.id, message->key, message->key_len);
    outcome.body = g_bytes_new(message->value, message->len);
    pending_outcome(fleet->pending, &outcome);
    g_bytes_unref(outcome.body);
}

static void take_letter(struct fleet *fleet, const struct bus_message *message)
{
    struct outcome outcome = {.letter = true};
    struct letter_origin origin;
    if (!read_position(fleet, message, &outcome.position) || letter_read(message, &origin, NULL)) return;
    outcome.body =
        http_problem(422, "the request is a dead letter", origin.code ? origin.code : "rejected", origin.text);
    pending_outcome(fleet->pending, &outcome);
    g_bytes_unref(outcome.body);
}

/* Reads all available records; waits up to timeout_ms for the first. */
static enum err_code listen_to(struct fleet *fleet, struct range *range, int64_t timeout_ms,
                               void (*take)(struct fleet *fleet, const struct bus_message *message), struct err *err)
{
    const struct bus_message *message;
    enum err_code code;
    for (unsigned n = 0; n < 1000; n++) {
        code = range_poll(range, n ? 0 : timeout_ms, &message, err);
        if (code) return code == ERR_FULL ? ERR_OK : code;
        take(fleet, message);
    }
    return ERR_OK;
}

static enum err_code turn(void *self, struct err *err)
{
    struct fleet *fleet = self;
    enum err_code code = listen_to(fleet, fleet->verdicts, TURN_MS, take_verdict, err);
    if (!code) code = listen_to(fleet, fleet->letters, 0, take_letter, err);
    return code ? code : bus_health(fleet->bus, err);
}

/* --- requests --- */

static void on_place(void *ctx, int32_t partition, int64_t offset)
{
    pending_position(ctx, partition, offset);
}

static enum err_code send_on(void *self, struct msg_request *request, const char *traceparent, struct waiter *waiter)
{
    struct fleet *fleet = self;
    char *json = msg_request_to_json(request);
    if (!json) return ERR_NOMEM;
    const struct bus_header headers[] = {{EDGE_HEADER, EDGE_JSON, sizeof EDGE_JSON - 1},
                                         {"traceparent", traceparent, traceparent ? (uint32_t)strlen(traceparent) : 0}};
    struct bus_out out = {.topic = fleet->settings->serve.requests,
                          .partition = BUS_ANY_PARTITION,
                          .key = request->id,
                          .key_len = (uint32_t)strlen(request->id),
                          .value = json,
                          .len = strlen(json),
                          .headers = headers,
                          .n_headers = traceparent ? 2 : 1};
    enum err_code code = bus_produce_with_report(fleet->bus, &out, on_place, waiter);
    free(json);
    return code;
}

/* --- open, close --- */

/* Opens an endless range that begins in the past. If a replica dies, its callers ask another one, which may have
 * started after their verdicts were written. */
static enum err_code open_range(const struct fleet *fleet, const char *topic, struct range **out, struct err *err)
{
    int64_t since_ms = bus_now_ns(fleet->bus) / 1000000 - fleet->settings->serve.look_back_ms;
    const struct range_config config = {
        .topic = topic, .group = fleet->settings->serve.group, .from = {RANGE_TIME, since_ms}, .to = {RANGE_NEVER, 0}};
    return range_open(fleet->bus, &config, out, err);
}

static void close_fleet(void *self)
{
    struct fleet *fleet = self;
    range_close(fleet->verdicts);
    range_close(fleet->letters);
    if (fleet->bus) bus_close(fleet->bus);
    g_free(fleet);
}

/* INVARIANT fixed: the process fixes the position from which it reads verdicts before it can send the first request. */
static enum err_code open_fleet(struct cli *cli, struct tracer *tracer, struct pending *pending, void **out,
                                struct err *err)
{
    (void)tracer; /* the coordinators and workers of the fleet write their own spans */
    const struct settings *s = &cli->settings;
    struct fleet *fleet = g_new0(struct fleet, 1);
    *fleet = (struct fleet){.settings = s, .pending = pending};
    enum err_code code = fleet_settings_open_bus(cli, &fleet->bus, err);
    if (!code) code = range_topic_exists(fleet->bus, s->serve.requests, err);
    if (!code) code = bus_know_topics(fleet->bus, &s->serve.requests, 1, err);
    if (!code) code = open_range(fleet, s->serve.verdicts, &fleet->verdicts, err);
    if (!code) code = open_range(fleet, s->serve.letters, &fleet->letters, err);
    if (code)
        close_fleet(fleet);
    else
        *out = fleet;
    return code;
}

static struct bus *bus_of(void *self)
{
    return ((struct fleet *)self)->bus;
}

const struct serve_backend serve_fleet = {
    .open = open_fleet, .send = send_on, .turn = turn, .close = close_fleet, .bus = bus_of};
