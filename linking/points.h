/* Tokens of recordings as points to learn from: a hidden state each, and whether it is a branching point. Positions only; the states are
 * read a layer at a time, so that memory holds one layer of them. Thread: one. */
#ifndef ASSAY_LINKING_POINTS_H
#define ASSAY_LINKING_POINTS_H

#include "linking/trace.h"

struct points {
    struct recording *recordings; /* open */
    uint32_t n_recordings;
    uint32_t *of;  /* of each point its recording */
    uint64_t *row; /* and its row */
    uint8_t *branching;
    size_t n, n_branching, room;
};

/* Tokens of one stage of several recordings that have gold and the same layers. ERR_MALFORMED and what recording_open says. The caller owes
 * points_free in any case. */
enum err_code points_read(const char *const *names, uint32_t n, enum trace_stage stage, struct points *out,
                          struct err *err);
void points_free(struct points *points);

/* The hidden states of a layer by its number, a row a point; g_free. NULL with err: a recording has no such layer, or one of another width
 * than `hidden`, or it does not fit into memory. */
float *points_states(struct points *points, uint32_t layer_number, uint32_t hidden, struct err *err);

#endif
