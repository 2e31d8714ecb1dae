/* libcurl, loaded on first use (lib/base/late.h). */
#ifndef ASSAY_LIB_LLM_LIBCURL_H
#define ASSAY_LIB_LLM_LIBCURL_H

#include "lib/base/late.h"

#include <curl/curl.h>

/* Undefines curl's macros for these functions, because their bodies call functions that are not linked. */
#undef curl_easy_getinfo
#undef curl_easy_setopt

#define LIBCURL_CALLS(X)                                                                                               \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_reset)                                                                                                 \
    X(curl_easy_setopt)                                                                                                \
    X(curl_free)                                                                                                       \
    X(curl_global_init)                                                                                                \
    X(curl_multi_add_handle)                                                                                           \
    X(curl_multi_cleanup)                                                                                              \
    X(curl_multi_info_read)                                                                                            \
    X(curl_multi_init)                                                                                                 \
    X(curl_multi_perform)                                                                                              \
    X(curl_multi_poll)                                                                                                 \
    X(curl_multi_remove_handle)                                                                                        \
    X(curl_multi_wakeup)                                                                                               \
    X(curl_slist_append)                                                                                               \
    X(curl_slist_free_all)                                                                                             \
    X(curl_url)                                                                                                        \
    X(curl_url_cleanup)                                                                                                \
    X(curl_url_get)                                                                                                    \
    X(curl_url_set)
LATE_CALLS(libcurl, LIBCURL_CALLS)
#include "lib/llm/libcurl_late.h"

#endif
