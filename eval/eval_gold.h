/* Counts false alarms: how often each signal fires on queries that are known to be right. */
#ifndef ASSAY_EVAL_EVAL_GOLD_H
#define ASSAY_EVAL_EVAL_GOLD_H

#include "proto/message/msg.h"
#include "signals/vsig.h"

#include <glib.h>

enum { EVAL_GOLD_EXAMPLES = 200 }; /* number of ids stored for each signal */

struct eval_gold_signal {
    uint64_t seen, fired, unavailable; /* seen: queries on which the signal was available */
    GPtrArray *ids;                    /* ids of the first EVAL_GOLD_EXAMPLES queries on which it fired */
};

struct eval_gold {
    uint64_t golds, invalid;
    uint64_t left_out; /* requests whose database was unreadable; set by the caller */
    struct eval_gold_signal by_signal[VSIG_ID_END];
};

/* Creates the counts. Free with eval_gold_free. Thread: one at a time. */
struct eval_gold *eval_gold_new(void);
void eval_gold_free(struct eval_gold *golds);

/* Counts a verdict whose first candidate is the gold query. */
void eval_gold_add(struct eval_gold *golds, const struct msg_verdict *verdict);

#endif
