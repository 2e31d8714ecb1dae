/* Provides the certificate of a listener, and reloads it when its file changes. So a renewal needs no restart. */
#ifndef ASSAY_SERVER_TLS_H
#define ASSAY_SERVER_TLS_H

#include "lib/base/error.h"
#include "server/libgnutls.h"

#include <stdbool.h>

struct tls;

/* Opens a certificate. `cert` is the file with the certificate and its chain (PEM), `key` the file with its unencrypted
 * key (PEM). Returns ERR_CONFIG if they cannot be read or do not match. Close with tls_close. */
enum err_code tls_open(const char *cert, const char *key, struct tls **out, struct err *err);
/* Frees the certificates. No handshake may be in progress. NULL is allowed. */
void tls_close(struct tls *tls);
/* Reloads the files if they changed; returns true then, with any error in `err`. After an error the last valid
 * certificate stays in use. If a new certificate is written before its key, one call fails and the next one succeeds.
 * Thread: one at a time. */
bool tls_refresh(struct tls *tls, struct err *err);

/* Returns the certificate for a handshake; it lives for at least a minute. Thread: any. */
void tls_certificate(struct tls *tls, gnutls_pcert_st **certs, unsigned *n_certs, gnutls_privkey_t *key);

#endif
