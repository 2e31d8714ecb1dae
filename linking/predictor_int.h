/* Shared by the predictor's files. */
#ifndef ASSAY_LINKING_PREDICTOR_INT_H
#define ASSAY_LINKING_PREDICTOR_INT_H

#include "linking/predictor.h"

/* Fills `scores` from `p` and the stage's labels. */
void predictor_rank_points(struct predictor_layer *layer, const struct predictor_stage *stage);
/* Sorts layers by AUC, highest first. */
void predictor_sort_layers(struct predictor_stage *stage);

#endif
