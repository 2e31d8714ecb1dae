/* libpq, loaded on first use (lib/base/late.h). */
#ifndef ASSAY_LIB_DB_LIBPQ_H
#define ASSAY_LIB_DB_LIBPQ_H

#include "lib/base/late.h"

#include <libpq-fe.h>

#define LIBPQ_CALLS(X)                                                                                                 \
    X(PQbackendPID)                                                                                                    \
    X(PQcancel)                                                                                                        \
    X(PQclear)                                                                                                         \
    X(PQcmdTuples)                                                                                                     \
    X(PQconnectPoll)                                                                                                   \
    X(PQconnectStartParams)                                                                                            \
    X(PQconnectdbParams)                                                                                               \
    X(PQconninfoFree)                                                                                                  \
    X(PQconninfoParse)                                                                                                 \
    X(PQconsumeInput)                                                                                                  \
    X(PQenterPipelineMode)                                                                                             \
    X(PQerrorMessage)                                                                                                  \
    X(PQexec)                                                                                                          \
    X(PQexecParams)                                                                                                    \
    X(PQfinish)                                                                                                        \
    X(PQflush)                                                                                                         \
    X(PQfname)                                                                                                         \
    X(PQfreeCancel)                                                                                                    \
    X(PQftype)                                                                                                         \
    X(PQgetCancel)                                                                                                     \
    X(PQgetResult)                                                                                                     \
    X(PQgetisnull)                                                                                                     \
    X(PQgetlength)                                                                                                     \
    X(PQgetvalue)                                                                                                      \
    X(PQisBusy)                                                                                                        \
    X(PQnfields)                                                                                                       \
    X(PQntuples)                                                                                                       \
    X(PQparameterStatus)                                                                                               \
    X(PQpipelineSync)                                                                                                  \
    X(PQresultErrorField)                                                                                              \
    X(PQresultStatus)                                                                                                  \
    X(PQsendPrepare)                                                                                                   \
    X(PQsendQuery)                                                                                                     \
    X(PQsendQueryParams)                                                                                               \
    X(PQserverVersion)                                                                                                 \
    X(PQsetNoticeReceiver)                                                                                             \
    X(PQsetSingleRowMode)                                                                                              \
    X(PQsetnonblocking)                                                                                                \
    X(PQsocket)                                                                                                        \
    X(PQstatus)                                                                                                        \
    X(PQtransactionStatus)
LATE_CALLS(libpq, LIBPQ_CALLS)
#include "lib/db/libpq_late.h"

#endif
