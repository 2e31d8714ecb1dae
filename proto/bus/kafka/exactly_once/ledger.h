/* The settled requests of one partition, as a plain struct. The commit of the consumer group contains it as text.
 *
 *                  low                       next            low + LEDGER_SPAN
 *    ── finished ──┤ open or finished, a bit each ├── unread ──┤ may not be opened
 *
 * low is the lowest unfinished offset; all requests below it are finished. Above low, one bit for each offset says
 * whether the request is finished. A new owner of the partition reads the log from low on, skips finished requests and
 * opens the others. A commit contains the whole state, so the next commit repairs the loss of an earlier one.
 *
 * Offsets are compared, never counted. Transaction markers and retention leave holes, and low passes over them.
 *
 * r: a position in the results of the partition. When a request was opened, the results had been read up to r or
 * further. All its results therefore have offsets of r or more. r is stored once for each 64 offsets, rounded down. A
 * new owner thus reads a few results again and misses none.
 *
 * outputs: the ends of the output topics' partitions before the last transaction that wrote to them. Records after
 * these ends may have been committed without this ledger, so a take-over reads them back.
 *
 * This module uses no Kafka, threads or clocks. The struct is copied by assignment.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H
#define ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEDGER_VERSION = 1,
    LEDGER_SPAN = 16384,             /* requests with offsets of at least low + LEDGER_SPAN are not opened */
    LEDGER_WORDS = LEDGER_SPAN / 64, /* number of words of a bitmap */
    LEDGER_OUTPUTS = 2,              /* number of output topics: verdicts, dead letters */
    LEDGER_TEXT = 2900               /* maximum length of the text; a broker accepts 4,096 bytes by default */
};

struct ledger {
    int64_t low;        /* lowest unfinished offset */
    int64_t next;       /* one past the highest offset that was read */
    int64_t reopen_end; /* the previous owner had opened only offsets below this; at most low + LEDGER_SPAN */
    int64_t position;   /* next offset of the results to read */
    int64_t outputs[LEDGER_OUTPUTS];
    int64_t probe;    /* last offset that may be open while only a few requests are opened because owners died; -1
                       * without suspects */
    uint32_t probes;  /* number of owners, including the writer, that opened a few requests at a time; each opens fewer
                       * than the last */
    uint32_t crashes; /* number of consecutive owners that died, including this one (crashes.h) */
    uint32_t n_open;
    uint64_t log_id;                 /* identifies cluster, topic and partition; from ledger_log_id */
    uint64_t writer;                 /* identifies the process that wrote the ledger; unique for each process */
    uint64_t finished[LEDGER_WORDS]; /* offset o has bit o % LEDGER_SPAN; valid for [low, next) */
    uint64_t open[LEDGER_WORDS];
    int64_t since[LEDGER_WORDS]; /* r of the open offsets of each word */
};

enum ledger_place {
    LEDGER_NEW,      /* the offset is now open */
    LEDGER_FINISHED, /* the offset was already finished */
    LEDGER_BEYOND    /* the offset is past the span and was not recorded; read it again after low has moved */
};

/* Initializes a ledger without finished or open requests. Reading begins at `low` in the requests and at `position` in
 * the results. */
void ledger_init(struct ledger *ledger, uint64_t log_id, int64_t low, int64_t position);

/* Returns a hash of the partition's identity. It differs for a copy of the log under another name or in another
 * cluster. */
uint64_t ledger_log_id(const char *cluster, const char *topic, int32_t partition);

/* Records that an offset was read from the log. Offsets must increase and be at least low. */
enum ledger_place ledger_read(struct ledger *ledger, int64_t offset);
/* Records that the log has no more records below this offset. */
void ledger_read_to(struct ledger *ledger, int64_t offset);

/* Records that an offset is settled, either by its owner or because the log of verdicts contains its verdict.
 * Idempotent. Ignores offsets outside [low, low + LEDGER_SPAN). */
void ledger_finish(struct ledger *ledger, int64_t offset);
bool ledger_is_finished(const struct ledger *ledger, int64_t offset);

/* Returns the offset from which the next owner must read the results. */
int64_t ledger_results_from(const struct ledger *ledger);

/* Skips the records below `start`, which the log has deleted. Returns how many of them were unfinished and are thus
 * lost. */
uint64_t ledger_skip_to(struct ledger *ledger, int64_t start);

/* Writes the state as text for the commit at `low` and returns its length. `text` has LEDGER_TEXT bytes. The text does
 * not contain the open requests: the reader derives them from the unfinished ones. */
size_t ledger_encode(const struct ledger *ledger, char *text);

/* Reads the state that the previous owner committed at `low`. Afterwards `next` is low, and no request is open.
 *
 * Returns ERR_VERSION for another version or a text that is not a ledger. Returns ERR_MALFORMED if the text is damaged
 * or was committed at another offset. Returns ERR_CONFIG if it belongs to another cluster, topic or partition. `err`
 * has the message.
 */
enum err_code ledger_decode(struct ledger *ledger, uint64_t log_id, int64_t low, const char *text, size_t len,
                            struct err *err);

#endif
