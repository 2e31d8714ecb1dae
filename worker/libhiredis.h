/* hiredis, loaded on first use (lib/base/late.h). */
#ifndef ASSAY_WORKER_LIBHIREDIS_H
#define ASSAY_WORKER_LIBHIREDIS_H

#include "lib/base/late.h"

#include <hiredis/hiredis.h>

#define LIBHIREDIS_CALLS(X)                                                                                            \
    X(freeReplyObject)                                                                                                 \
    X(redisConnectUnixWithTimeout)                                                                                     \
    X(redisConnectWithTimeout)                                                                                         \
    X(redisFree)                                                                                                       \
    X(redisReaderFeed)                                                                                                 \
    X(redisReaderGetReply)
LATE_CALLS(libhiredis, LIBHIREDIS_CALLS)
#include "worker/libhiredis_late.h"

#endif
