/* MariaDB's client library, loaded on first use (lib/base/late.h). */
#ifndef ASSAY_LIB_DB_LIBMARIADB_H
#define ASSAY_LIB_DB_LIBMARIADB_H

#include "lib/base/late.h"

#include <mysql.h>

#define LIBMARIADB_CALLS(X)                                                                                            \
    X(mariadb_connection)                                                                                              \
    X(mysql_close)                                                                                                     \
    X(mysql_errno)                                                                                                     \
    X(mysql_error)                                                                                                     \
    X(mysql_fetch_fields)                                                                                              \
    X(mysql_fetch_lengths)                                                                                             \
    X(mysql_fetch_row_cont)                                                                                            \
    X(mysql_fetch_row_start)                                                                                           \
    X(mysql_field_count)                                                                                               \
    X(mysql_free_result)                                                                                               \
    X(mysql_free_result_cont)                                                                                          \
    X(mysql_free_result_start)                                                                                         \
    X(mysql_get_server_info)                                                                                           \
    X(mysql_get_server_version)                                                                                        \
    X(mysql_get_socket)                                                                                                \
    X(mysql_init)                                                                                                      \
    X(mysql_num_fields)                                                                                                \
    X(mysql_options)                                                                                                   \
    X(mysql_options4)                                                                                                  \
    X(mysql_query)                                                                                                     \
    X(mysql_real_connect)                                                                                              \
    X(mysql_real_connect_cont)                                                                                         \
    X(mysql_real_connect_start)                                                                                        \
    X(mysql_real_query_cont)                                                                                           \
    X(mysql_real_query_start)                                                                                          \
    X(mysql_server_init)                                                                                               \
    X(mysql_sqlstate)                                                                                                  \
    X(mysql_ssl_set)                                                                                                   \
    X(mysql_stmt_close)                                                                                                \
    X(mysql_stmt_errno)                                                                                                \
    X(mysql_stmt_error)                                                                                                \
    X(mysql_stmt_init)                                                                                                 \
    X(mysql_stmt_prepare_cont)                                                                                         \
    X(mysql_stmt_prepare_start)                                                                                        \
    X(mysql_stmt_sqlstate)                                                                                             \
    X(mysql_thread_end)                                                                                                \
    X(mysql_thread_id)                                                                                                 \
    X(mysql_use_result)
LATE_CALLS(libmariadb, LIBMARIADB_CALLS)
#include "lib/db/libmariadb_late.h"

#endif
