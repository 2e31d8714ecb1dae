/* Tokens of recordings as training points. A point is a hidden state, and whether it is a branching point. A point
 * holds only its position. States are read layer by layer, so memory holds one layer at a time. Thread: one. */
#ifndef ASSAY_LINKING_POINTS_H
#define ASSAY_LINKING_POINTS_H

#include "linking/trace.h"

struct points {
    struct recording *recordings; /* open */
    uint32_t n_recordings;
    uint32_t *of;  /* recording of each point */
    uint64_t *row; /* row of each point */
    uint8_t *branching;
    size_t n, n_branching, room;
};

/* Reads the tokens of one stage of several recordings that have gold and equal layers. Returns ERR_MALFORMED and the
 * errors of recording_open. Free with points_free in any case. */
enum err_code points_read(const char *const *names, uint32_t n, enum trace_stage stage, struct points *out,
                          struct err *err);
void points_free(struct points *points);

/* Returns the hidden states of a layer by its number, one row for each point; free with g_free. Returns NULL with `err`
 * if a recording lacks the layer or has it in another width than `hidden`, or if memory runs out. */
float *points_states(struct points *points, uint32_t layer_number, uint32_t hidden, struct err *err);

#endif
