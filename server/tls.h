/* The certificate of a listener, read again when its file changes: whoever renews it does not restart the process. */
#ifndef ASSAY_SERVER_TLS_H
#define ASSAY_SERVER_TLS_H

#include "lib/base/error.h"
#include "server/libgnutls.h"

#include <stdbool.h>

struct tls;

/* `cert`: the certificate and those that vouch for it, PEM; `key`: its key, PEM, not encrypted. ERR_CONFIG: they cannot be read, or do not belong
 * together. The caller owes tls_close. */
enum err_code tls_open(const char *cert, const char *key, struct tls **out, struct err *err);
/* When no handshake is under way any more. NULL is fine. */
void tls_close(struct tls *tls);
/* Reads the files again if they are others than before: true, and what is wrong with them in `err`; then the last ones that were right hold. A key that
 * has not come yet to its new certificate is such a fault, and is gone at the next call. Thread: one at a time. */
bool tls_refresh(struct tls *tls, struct err *err);

/* What a handshake shows; it lives for a minute at least. Thread: any. */
void tls_certificate(struct tls *tls, gnutls_pcert_st **certs, unsigned *n_certs, gnutls_privkey_t *key);

#endif
