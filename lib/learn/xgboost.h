/* xgboost, loaded at first use (lib/base/late.h). */
#ifndef ASSAY_LIB_LEARN_XGBOOST_H
#define ASSAY_LIB_LEARN_XGBOOST_H

#include "lib/base/late.h"

#include <xgboost/c_api.h>

#define XGBOOST_CALLS(X)                                                                                               \
    X(XGBGetLastError)                                                                                                 \
    X(XGBoosterBoostOneIter)                                                                                           \
    X(XGBoosterCreate)                                                                                                 \
    X(XGBoosterFree)                                                                                                   \
    X(XGBoosterPredict)                                                                                                \
    X(XGBoosterSaveModelToBuffer)                                                                                      \
    X(XGBoosterSetParam)                                                                                               \
    X(XGBoosterUpdateOneIter)                                                                                          \
    X(XGDMatrixCreateFromMat)                                                                                          \
    X(XGDMatrixFree)                                                                                                   \
    X(XGDMatrixSetFloatInfo)
LATE_CALLS(xgboost, XGBOOST_CALLS)
#include "lib/learn/xgboost_late.h"

#endif
