#include "cli/replay/topic_sink.h"
#include "cli/replay/replay.h"
#include "lib/base/clock.h"
#include "proto/message/edge.h"

#include <string.h>

enum { SLICE_MS = 100, FLUSH_MS = 1000, FINISH_MS = 30000 };

struct topic_sink {
    struct bus *bus;
    const char *topic;
    struct msg_buffer buffer;
    uint64_t sent;
};

enum err_code topic_sink_open(struct bus *bus, const char *topic, struct topic_sink **out, struct err *err)
{
    enum err_code code = range_topic_exists(bus, topic, err);
    *out = NULL;
    if (code) return code;
    *out = g_new0(struct topic_sink, 1);
    **out = (struct topic_sink){.bus = bus, .topic = topic};
    return ERR_OK;
}

void topic_sink_close(struct topic_sink *sink)
{
    if (!sink) return;
    msg_buffer_free(&sink->buffer);
    g_free(sink);
}

enum err_code topic_produce(struct bus *bus, const struct bus_out *out, struct err *err)
{
    for (;;) {
        enum err_code code = bus_produce(bus, out, 1, SLICE_MS, NULL);
        if (code == ERR_OK) return ERR_OK;
        if (code == ERR_FULL && replay_interrupted) return err_set(err, ERR_CANCELLED, "interrupted");
        if (code == ERR_FULL) continue;
        enum err_code reason = bus_health(bus, err);
        return reason ? reason : err_set(err, code, "%s: %s", out->topic, err_meaning(code));
    }
}

enum err_code topic_drain(struct bus *bus, int64_t limit_ms, struct err *err)
{
    int64_t until = clock_now_ns() + limit_ms * 1000000;
    for (;;) {
        enum err_code code = bus_flush(bus, SLICE_MS);
        if (code == ERR_OK) return ERR_OK;
        if (code != ERR_FULL) {
            enum err_code reason = bus_health(bus, err);
            return reason ? reason : err_set(err, code, "kafka: %s", err_meaning(code));
        }
        if (replay_interrupted)
            return err_set(err, ERR_CANCELLED, "interrupted before the brokers acknowledged all messages");
        if (clock_now_ns() >= until)
            return err_set(err, ERR_UNREACHABLE, "the brokers did not acknowledge all messages within %lld s",
                           (long long)limit_ms / 1000);
    }
}

enum err_code topic_sink_write(struct topic_sink *sink, const struct msg_verdict *verdict, struct err *err)
{
    struct bus_header header;
    enum err_code code = edge_write_verdict(verdict, EDGE_TYPE_JSON, &sink->buffer, &header);
    if (code) return err_set(err, code, "%s: the verdict cannot be written: %s", verdict->id, err_meaning(code));
    struct bus_out out = {.topic = sink->topic,
                          .partition = BUS_ANY_PARTITION,
                          .key = verdict->id,
                          .key_len = (uint32_t)strlen(verdict->id),
                          .value = sink->buffer.bytes,
                          .len = sink->buffer.len,
                          .headers = &header,
                          .n_headers = 1};
    code = topic_produce(sink->bus, &out, err);
    sink->sent += code == ERR_OK;
    return code;
}

enum err_code topic_sink_flush(struct topic_sink *sink, struct err *err)
{
    enum err_code code = bus_flush(sink->bus, FLUSH_MS);
    if (code == ERR_OK || code == ERR_FULL) return code;
    enum err_code reason = bus_health(sink->bus, err);
    return reason ? reason : code;
}

enum err_code topic_sink_finish(struct topic_sink *sink, struct err *err)
{
    return topic_drain(sink->bus, FINISH_MS, err);
}

uint64_t topic_sink_sent(const struct topic_sink *sink)
{
    return sink->sent;
}
