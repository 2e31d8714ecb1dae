/* Verdicts into a topic: JSON, keyed by the request's id, as the fleet's own. Thread: main. */
#ifndef ASSAY_CLI_REPLAY_TOPIC_SINK_H
#define ASSAY_CLI_REPLAY_TOPIC_SINK_H

#include "proto/bus/transport.h"
#include "proto/message/msg.h"

struct topic_sink;

/* ERR_CONFIG: there is no such topic. The bus must outlive it; the caller owes topic_sink_close. */
enum err_code topic_sink_open(struct bus *bus, const char *topic, struct topic_sink **out, struct err *err);
void topic_sink_close(struct topic_sink *sink); /* NULL is fine */

/* Hand one over, waiting for room until a signal comes (ERR_CANCELLED). Fatal codes as those of the bus. */
enum err_code topic_sink_write(struct topic_sink *sink, const struct msg_verdict *verdict, struct err *err);

/* Wait a moment until all are acknowledged: ERR_FULL when they are not. finish waits longer, and returns
 * ERR_UNREACHABLE. */
enum err_code topic_sink_flush(struct topic_sink *sink, struct err *err);
enum err_code topic_sink_finish(struct topic_sink *sink, struct err *err);

/* How many were handed over. */
uint64_t topic_sink_sent(const struct topic_sink *sink);

/* Send one message in the same way, for callers that send something other than verdicts. */
enum err_code topic_produce(struct bus *bus, const struct bus_out *out, struct err *err);

/* Wait until all that the bus took is safe, at most `limit_ms` or until a signal: ERR_UNREACHABLE, ERR_CANCELLED. */
enum err_code topic_drain(struct bus *bus, int64_t limit_ms, struct err *err);

#endif
