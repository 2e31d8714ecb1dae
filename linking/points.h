/* Training points from the tokens of recordings. A point is a hidden state and its label: whether the token is a
 * branching point. `points` stores only the positions. States are read layer by layer, so memory holds one layer at a
 * time. Thread: one. */
#ifndef ASSAY_LINKING_POINTS_H
#define ASSAY_LINKING_POINTS_H

#include "linking/trace.h"

struct points {
    struct recording *recordings; /* opened files */
    uint32_t n_recordings;
    uint32_t *of;  /* for each point: its recording */
    uint64_t *row; /* for each point: its row in the recording */
    uint8_t *branching;
    size_t n, n_branching, room;
};

/* Reads the tokens of one stage from several recordings. The recordings must have gold and equal layers. Returns
 * ERR_MALFORMED and the errors of recording_open. Free *out with points_free, also after an error. */
enum err_code points_read(const char *const *names, uint32_t n, enum trace_stage stage, struct points *out,
                          struct err *err);
void points_free(struct points *points);

/* Returns the hidden states of a layer, one row for each point. Free with g_free. Returns NULL with `err` if a
 * recording lacks the layer, if its width is not `hidden`, or if memory runs out. */
float *points_states(struct points *points, uint32_t layer_number, uint32_t hidden, struct err *err);

#endif
