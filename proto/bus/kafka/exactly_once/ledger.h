/* The settled requests of one partition, as a value. The group's commit carries this state.
 *
 *                  low                       next            low + LEDGER_SPAN
 *    ── finished ──┤ open or finished, a bit each ├── unread ──┤ may not be opened
 *
 * low is the lowest unfinished offset; everything below is finished. Above low, a bit for each offset says whether it
 * is finished. A new owner of the partition reads the log from low on, skips finished requests and opens the rest. A
 * commit carries the whole state, so the next commit makes up for a lost one.
 *
 * Offsets are compared, never counted: transaction markers and retention leave holes, and low passes them.
 *
 * r: open requests were opened when their partition of the results had been read up to r or further, so their results
 * lie at or behind r. It is stored for each 64 offsets, rounded down: more is read again, and nothing is missed.
 *
 * outputs: the ends of the output topics' partitions before the last transaction that wrote to them. Records behind
 * them may have been committed without this ledger, so a take-over reads them back.
 *
 * Uses neither Kafka nor threads nor clocks. The struct is copied by assignment.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H
#define ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_LEDGER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LEDGER_VERSION = 1,
    LEDGER_SPAN = 16384,             /* requests at or past low + LEDGER_SPAN are not opened */
    LEDGER_WORDS = LEDGER_SPAN / 64, /* words of a map */
    LEDGER_OUTPUTS = 2,              /* verdicts, dead letters */
    LEDGER_TEXT = 2900               /* largest text; a broker accepts 4,096 bytes by default */
};

struct ledger {
    int64_t low;        /* see above */
    int64_t next;       /* one past the highest offset that was read */
    int64_t reopen_end; /* the previous owner had opened offsets below this; at most low + LEDGER_SPAN */
    int64_t position;   /* next offset of the results to read */
    int64_t outputs[LEDGER_OUTPUTS];
    int64_t probe;    /* last offset that may be open while few are opened because owners died; -1 without suspects */
    uint32_t probes;  /* owners, the writer included, that opened a few at a time, fewer each */
    uint32_t crashes; /* owners in a row that died, this one counted as well (crashes.h) */
    uint32_t n_open;
    uint64_t log_id;                 /* identifies cluster, topic and partition; ledger_log_id */
    uint64_t writer;                 /* identifies the writing process; differs in every process */
    uint64_t finished[LEDGER_WORDS]; /* offset o has bit o % LEDGER_SPAN; for [low, next) */
    uint64_t open[LEDGER_WORDS];
    int64_t since[LEDGER_WORDS]; /* r of this word's open offsets */
};

enum ledger_place {
    LEDGER_NEW,      /* opened now */
    LEDGER_FINISHED, /* finished before */
    LEDGER_BEYOND    /* past the span: nothing was recorded; read it again when low has moved */
};

/* Initializes a ledger without finished or open requests. Requests begin at `low`, results at `position`. */
void ledger_init(struct ledger *ledger, uint64_t log_id, int64_t low, int64_t position);

/* Returns a hash of the partition's identity. A copy of the log under another name or in another cluster differs. */
uint64_t ledger_log_id(const char *cluster, const char *topic, int32_t partition);

/* Records that an offset was read from the log. Offsets must increase and be at or above low. */
enum ledger_place ledger_read(struct ledger *ledger, int64_t offset);
/* Records that the log has no more records below this offset. */
void ledger_read_to(struct ledger *ledger, int64_t offset);

/* Records that an offset is settled, by its owner or according to the log of verdicts. Idempotent. Ignores offsets
 * outside [low, low + LEDGER_SPAN). */
void ledger_finish(struct ledger *ledger, int64_t offset);
bool ledger_is_finished(const struct ledger *ledger, int64_t offset);

/* Returns the offset from which the next owner must read the results. */
int64_t ledger_results_from(const struct ledger *ledger);

/* Skips records below `start`, which the log has deleted. Returns how many of them were unfinished and are lost. */
uint64_t ledger_skip_to(struct ledger *ledger, int64_t start);

/* Writes the state as text for the commit at `low` and returns its length. `text` has LEDGER_TEXT bytes. Open requests
 * are not in it: the reader derives them from the unfinished ones. */
size_t ledger_encode(const struct ledger *ledger, char *text);

/* Reads the state that the previous owner committed at `low`. `next` is then low, and no request is open. Returns
 * ERR_VERSION for another version or a text that is not a ledger, and ERR_MALFORMED if it is damaged or was committed
 * at another offset. Returns ERR_CONFIG if it belongs to another cluster, topic or partition. `err` has the message. */
enum err_code ledger_decode(struct ledger *ledger, uint64_t log_id, int64_t low, const char *text, size_t len,
                            struct err *err);

#endif
