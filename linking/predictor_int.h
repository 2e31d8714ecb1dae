/* Functions that the files of the predictor share. */
#ifndef ASSAY_LINKING_PREDICTOR_INT_H
#define ASSAY_LINKING_PREDICTOR_INT_H

#include "linking/predictor.h"

/* Fills `scores` of a layer from its `p` and the labels of the stage, in ascending order. */
void predictor_rank_points(struct predictor_layer *layer, const struct predictor_stage *stage);
/* Sorts layers by AUC, highest first. */
void predictor_sort_layers(struct predictor_stage *stage);

#endif
