/* Learning: label model, classifiers, calibration and metrics. Works on numbers only, without SQL or a database. */
#ifndef ASSAY_LIB_LEARN_LEARN_H
#define ASSAY_LIB_LEARN_LEARN_H

#include "lib/learn/calibrate.h"
#include "lib/learn/classifier.h"
#include "lib/learn/label_model.h"
#include "lib/learn/metrics.h"

#endif
