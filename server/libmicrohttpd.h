/* Declares the functions of libmicrohttpd, which is loaded on first use (lib/base/late.h). */
#ifndef ASSAY_SERVER_LIBMICROHTTPD_H
#define ASSAY_SERVER_LIBMICROHTTPD_H

#include "lib/base/late.h"

#include <microhttpd.h>

#define LIBMICROHTTPD_CALLS(X)                                                                                         \
    X(MHD_add_connection)                                                                                              \
    X(MHD_add_response_header)                                                                                         \
    X(MHD_create_response_from_buffer)                                                                                 \
    X(MHD_create_response_from_buffer_with_free_callback_cls)                                                          \
    X(MHD_create_response_from_callback)                                                                               \
    X(MHD_destroy_response)                                                                                            \
    X(MHD_get_connection_info)                                                                                         \
    X(MHD_get_connection_values)                                                                                       \
    X(MHD_get_daemon_info)                                                                                             \
    X(MHD_get_timeout)                                                                                                 \
    X(MHD_lookup_connection_value)                                                                                     \
    X(MHD_queue_response)                                                                                              \
    X(MHD_resume_connection)                                                                                           \
    X(MHD_run)                                                                                                         \
    X(MHD_start_daemon)                                                                                                \
    X(MHD_stop_daemon)                                                                                                 \
    X(MHD_suspend_connection)
LATE_CALLS(libmicrohttpd, LIBMICROHTTPD_CALLS)
#include "server/libmicrohttpd_late.h"

#endif
