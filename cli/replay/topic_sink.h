/* Writes verdicts to a topic in the form that a fleet uses: JSON, with the request's id as key. Thread: main. */
#ifndef ASSAY_CLI_REPLAY_TOPIC_SINK_H
#define ASSAY_CLI_REPLAY_TOPIC_SINK_H

#include "proto/bus/transport.h"
#include "proto/message/msg.h"

struct topic_sink;

/* Opens a sink. The bus must outlive it. Close with topic_sink_close. Returns ERR_CONFIG if the topic does not
 * exist. */
enum err_code topic_sink_open(struct bus *bus, const char *topic, struct topic_sink **out, struct err *err);
void topic_sink_close(struct topic_sink *sink); /* NULL is fine */

/* Sends a verdict. If the bus is full, waits for space. Returns ERR_CANCELLED if a signal arrives, or a fatal error of
 * the bus. */
enum err_code topic_sink_write(struct topic_sink *sink, const struct msg_verdict *verdict, struct err *err);

/* Wait until all verdicts are acknowledged. topic_sink_flush waits briefly and returns ERR_FULL on timeout.
 * topic_sink_finish waits longer and returns ERR_UNREACHABLE on timeout. */
enum err_code topic_sink_flush(struct topic_sink *sink, struct err *err);
enum err_code topic_sink_finish(struct topic_sink *sink, struct err *err);

/* Returns the number of verdicts sent. */
uint64_t topic_sink_sent(const struct topic_sink *sink);

/* Sends one message as topic_sink_write does, for callers that send other data. */
enum err_code topic_produce(struct bus *bus, const struct bus_out *out, struct err *err);

/* Waits until all messages of the bus are durable, at most `limit_ms` or until a signal. Errors: ERR_UNREACHABLE,
 * ERR_CANCELLED. */
enum err_code topic_drain(struct bus *bus, int64_t limit_ms, struct err *err);

#endif
