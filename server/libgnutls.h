/* Declares the functions of gnutls, which is loaded on first use (lib/base/late.h). */
#ifndef ASSAY_SERVER_LIBGNUTLS_H
#define ASSAY_SERVER_LIBGNUTLS_H

#include "lib/base/late.h"

#include <gnutls/abstract.h>

#define LIBGNUTLS_CALLS(X)                                                                                             \
    X(gnutls_free)                                                                                                     \
    X(gnutls_memset)                                                                                                   \
    X(gnutls_pcert_deinit)                                                                                             \
    X(gnutls_pcert_list_import_x509_raw)                                                                               \
    X(gnutls_pk_to_sign)                                                                                               \
    X(gnutls_privkey_deinit)                                                                                           \
    X(gnutls_privkey_import_x509_raw)                                                                                  \
    X(gnutls_privkey_init)                                                                                             \
    X(gnutls_privkey_sign_data)                                                                                        \
    X(gnutls_pubkey_get_pk_algorithm)                                                                                  \
    X(gnutls_pubkey_verify_data2)                                                                                      \
    X(gnutls_session_get_ptr)                                                                                          \
    X(gnutls_strerror)
LATE_CALLS(libgnutls, LIBGNUTLS_CALLS)
#include "server/libgnutls_late.h"

#endif
