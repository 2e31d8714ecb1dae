/* What is settled of one request partition, as a value: the state that travels in the group's commit.
 *
 *                 low                       next            low + LEDGER_SPAN
 *   ── finished ──┤ open or finished, a bit each ├── unread ──┤ may not be opened
 *
 * low is the lowest offset that is not finished: everything below it is. Above it, a bit says which are. Whoever takes
 * the partition over reads the log from low on, skips what is finished and opens the rest; a commit carries the whole
 * state, so one that is lost is made good by the next.
 *
 * Offsets are compared, never counted: markers of transactions and retention leave holes, and low passes them.
 *
 * r: open requests were opened when their partition of the results had been read up to r or further; their answers lie
 * at or behind it. Kept for each 64 offsets, which errs to the low side: more is read again, nothing is missed.
 *
 * outputs: where the output topics' partitions stood before the last transaction that wrote to them. What lies behind
 * was perhaps committed without this ledger: it is read back at a take-over.
 *
 * Knows neither Kafka nor threads nor clocks; a struct that is copied by assignment.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H
#define ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEDGER_VERSION = 1,
    LEDGER_SPAN = 16384,             /* requests at or past low + this are not opened */
    LEDGER_WORDS = LEDGER_SPAN / 64, /* of a map */
    LEDGER_OUTPUTS = 2,              /* verdicts, dead letters */
    LEDGER_TEXT = 2900               /* the largest text; a broker takes 4,096 bytes by default */
};

struct ledger {
    int64_t low;        /* see above */
    int64_t next;       /* one past the highest offset that was read */
    int64_t reopen_end; /* the owner before had opened offsets below this; at most low + LEDGER_SPAN */
    int64_t position;   /* of the results: the next to be read */
    int64_t outputs[LEDGER_OUTPUTS];
    int64_t probe;    /* the last that may be open, because owners died: open ones are few; -1: nothing is suspected */
    uint32_t probes;  /* owners, the writer included, that opened a few at a time, fewer each */
    uint32_t crashes; /* owners in a row that died, this one counted as well (crashes.h) */
    uint32_t n_open;
    uint64_t log_id;                 /* of which cluster, topic and partition; ledger_log_id */
    uint64_t writer;                 /* who wrote it: another number in every process */
    uint64_t finished[LEDGER_WORDS]; /* bit of offset o: o % LEDGER_SPAN; of [low, next) */
    uint64_t open[LEDGER_WORDS];
    int64_t since[LEDGER_WORDS]; /* r of the open ones of this word */
};

enum ledger_place {
    LEDGER_NEW,      /* opened now */
    LEDGER_FINISHED, /* done before */
    LEDGER_BEYOND    /* past the span: nothing was noted, ask again when low has moved */
};

/* Nothing finished, nothing open: all begins at `low`, the results at `position`. */
void ledger_init(struct ledger *ledger, uint64_t log_id, int64_t low, int64_t position);

/* Which topic's partition this is; so that a copy of it under another name or in another cluster is known for one. */
uint64_t ledger_log_id(const char *cluster, const char *topic, int32_t partition);

/* An offset was read from the log. Offsets come in rising order; those at or above low, for below it all is
 * finished. */
enum ledger_place ledger_read(struct ledger *ledger, int64_t offset);
/* The log has nothing more below this offset. */
void ledger_read_to(struct ledger *ledger, int64_t offset);

/* An offset is settled: by its owner, or as the log of verdicts shows. What is finished already stays so; what is not
 * in [low, low + LEDGER_SPAN) is ignored. */
void ledger_finish(struct ledger *ledger, int64_t offset);
bool ledger_is_finished(const struct ledger *ledger, int64_t offset);

/* Where the next owner has to read the results from. */
int64_t ledger_results_from(const struct ledger *ledger);

/* What was finished below `start` is gone from the log, and so is the rest: go on there. Returns how many were neither
 * finished nor will ever be. */
uint64_t ledger_skip_to(struct ledger *ledger, int64_t start);

/* The state as text for the commit at `low`; `text` has LEDGER_TEXT bytes. Returns its length. Mind that open requests
 * are not in it: they are what is not finished. */
size_t ledger_encode(const struct ledger *ledger, char *text);

/* Read what the owner before committed at `low`. Its `next` is low, nothing is open. ERR_VERSION: another version, or
 * no ledger at all; ERR_MALFORMED: damaged, or committed at another offset than it says; ERR_CONFIG: of another
 * cluster, topic or partition. `err` says it to a person. */
enum err_code ledger_decode(struct ledger *ledger, uint64_t log_id, int64_t low, const char *text, size_t len,
                            struct err *err);

#endif
