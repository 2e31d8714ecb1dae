/* Progress of a replay: one line on standard error, redrawn in place, and the summary at the end. */
#ifndef ASSAY_CLI_OUTPUT_PROGRESS_H
#define ASSAY_CLI_OUTPUT_PROGRESS_H

#include "cli/output/latency.h"
#include "proto/message/msg.h"

struct progress {
    int64_t started_ns, drawn_ns;
    uint64_t verdicts, candidates, bad_lines;
    uint64_t by_status[MSG_STATUS_COUNT];
    struct latency latency;
    bool shown; /* a line stands on the terminal */
};

void progress_start(struct progress *progress);
void progress_count(struct progress *progress, const struct msg_verdict *verdict);

/* Redraw if the last redraw was at least 100 ms ago. `share` of the log that has been read (0..1), for the time left;
 * below 0: not known. */
void progress_draw(struct progress *progress, double share);

/* Take the line off the terminal, so that other text can be written. */
void progress_clear(struct progress *progress);

/* The closing table: verdict mix, rate, latency. */
void progress_summary(struct progress *progress, bool interrupted);

#endif
