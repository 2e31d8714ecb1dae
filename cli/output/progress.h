/* Shows the progress of a replay: one line on standard error, redrawn in place, and a summary at the end. */
#ifndef ASSAY_CLI_OUTPUT_PROGRESS_H
#define ASSAY_CLI_OUTPUT_PROGRESS_H

#include "cli/output/latency.h"
#include "proto/message/msg.h"

struct progress {
    int64_t started_ns, drawn_ns;
    uint64_t verdicts, candidates, bad_lines;
    uint64_t by_status[MSG_STATUS_COUNT];
    struct latency latency;
    bool shown; /* true while the line is on the terminal */
};

void progress_start(struct progress *progress);
void progress_count(struct progress *progress, const struct msg_verdict *verdict);

/* Redraws the line if the last redraw was at least 100 ms ago. `share` is the share of the log that was read (0..1),
 * from which the remaining time is estimated. It is negative if unknown. */
void progress_draw(struct progress *progress, double share);

/* Clears the line, so that other text can be written. */
void progress_clear(struct progress *progress);

/* Prints the closing table: status counts, rate, latency. */
void progress_summary(struct progress *progress, bool interrupted);

#endif
