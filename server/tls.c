/* Loads a listener's certificate and replaces it when its files change. A new certificate is loaded and checked against
 * its key before it becomes the current one, so a bad file changes nothing. An old certificate may still be in use by
 * handshakes in progress. It is retired and freed at a later refresh, after RETIRED_S seconds. The lock protects the
 * current certificate and the retired ones.
 */
#include "server/tls.h"

#include "lib/base/clock.h"
#include "server/file_watch.h"

#include <glib.h>
#include <pthread.h>

LATE_LIBRARY(libgnutls, LIBGNUTLS_CALLS, LIBGNUTLS_FILE, LIBGNUTLS_PACKAGE)

enum { MAX_CHAIN = 16, MAX_FILE = 1 << 20, RETIRED_S = 60 };

/* A certificate and its key, as the files contained them at one time. */
struct certificate {
    gnutls_pcert_st certs[MAX_CHAIN];
    unsigned n_certs;
    gnutls_privkey_t key;
    int64_t retired_ns; /* time at which another certificate replaced it */
};

struct tls {
    char *cert_path, *key_path;
    struct stat seen_cert, seen_key;
    pthread_mutex_t lock;
    struct certificate *current;
    GQueue retired; /* struct certificate, oldest first: handshakes may still use them */
};

static void certificate_free(struct certificate *certificate)
{
    if (!certificate) return;
    for (unsigned i = 0; i < certificate->n_certs; i++) gnutls_pcert_deinit(&certificate->certs[i]);
    if (certificate->key) gnutls_privkey_deinit(certificate->key);
    g_free(certificate);
}

static enum err_code load_file(const char *path, gnutls_datum_t *out, struct err *err)
{
    char *bytes;
    gsize len;
    GError *error = NULL;
    if (!g_file_get_contents(path, &bytes, &len, &error)) {
        err_set(err, ERR_CONFIG, "%s", error->message);
        g_error_free(error);
        return ERR_CONFIG;
    }
    *out = (gnutls_datum_t){(unsigned char *)bytes, (unsigned)MIN(len, MAX_FILE)};
    return ERR_OK;
}

/* Checks that the key matches the certificate: signs a text and verifies the signature. */
static int check_pair(const struct certificate *certificate)
{
    static unsigned char text[] = "assay";
    const gnutls_datum_t data = {text, sizeof text};
    gnutls_datum_t signature = {0};
    int rc = gnutls_privkey_sign_data(certificate->key, GNUTLS_DIG_SHA256, 0, &data, &signature);
    if (rc >= 0) {
        int algorithm = gnutls_pubkey_get_pk_algorithm(certificate->certs[0].pubkey, NULL);
        rc = gnutls_pubkey_verify_data2(certificate->certs[0].pubkey,
                                        gnutls_pk_to_sign((gnutls_pk_algorithm_t)algorithm, GNUTLS_DIG_SHA256), 0,
                                        &data, &signature);
    }
    (*gnutls_free)(signature.data); /* gnutls_free is a variable of the library, not a function */
    return rc;
}

static enum err_code load(struct tls *tls, struct certificate *out, struct err *err)
{
    gnutls_datum_t cert = {0}, key = {0};
    unsigned n = MAX_CHAIN;
    int rc = 0;
    enum err_code code = load_file(tls->cert_path, &cert, err);
    if (!code) code = load_file(tls->key_path, &key, err);
    if (!code && (rc = gnutls_pcert_list_import_x509_raw(out->certs, &n, &cert, GNUTLS_X509_FMT_PEM, 0)) < 0)
        code =
            err_set(err, ERR_CONFIG, "cannot read a PEM certificate from %s: %s", tls->cert_path, gnutls_strerror(rc));
    out->n_certs = code ? 0 : n;
    if (!code && (gnutls_privkey_init(&out->key) < 0 ||
                  (rc = gnutls_privkey_import_x509_raw(out->key, &key, GNUTLS_X509_FMT_PEM, NULL, 0)) < 0))
        code = err_set(err, ERR_CONFIG, "cannot read a PEM key from %s: %s", tls->key_path, gnutls_strerror(rc));
    if (!code && check_pair(out) < 0)
        code = err_set(err, ERR_CONFIG, "key %s does not match certificate %s", tls->key_path, tls->cert_path);
    if (key.data) gnutls_memset(key.data, 0, key.size);
    g_free(key.data);
    g_free(cert.data);
    return code;
}

/* --- open, refresh, close --- */

static void free_retired(struct tls *tls, int64_t before_ns)
{
    struct certificate *oldest;
    while ((oldest = g_queue_peek_head(&tls->retired)) && oldest->retired_ns <= before_ns)
        certificate_free(g_queue_pop_head(&tls->retired));
}

static void show(struct tls *tls, struct certificate *certificate)
{
    int64_t now = clock_now_ns();
    pthread_mutex_lock(&tls->lock);
    if (tls->current) {
        tls->current->retired_ns = now;
        g_queue_push_tail(&tls->retired, tls->current);
    }
    tls->current = certificate;
    free_retired(tls, now - RETIRED_S * INT64_C(1000000000));
    pthread_mutex_unlock(&tls->lock);
}

bool tls_refresh(struct tls *tls, struct err *err)
{
    *err = (struct err){0};
    bool cert = file_watch_changed(tls->cert_path, &tls->seen_cert),
         key = file_watch_changed(tls->key_path, &tls->seen_key);
    if (!cert && !key) return false;
    struct certificate *certificate = g_new0(struct certificate, 1);
    if (load(tls, certificate, err))
        certificate_free(certificate);
    else
        show(tls, certificate);
    return true;
}

enum err_code tls_open(const char *cert, const char *key, struct tls **out, struct err *err)
{
    struct err why = {0};
    *out = NULL;
    enum err_code code = libgnutls_open(err);
    if (code) return code;
    struct tls *tls = g_new0(struct tls, 1);
    tls->cert_path = g_strdup(cert);
    tls->key_path = g_strdup(key);
    pthread_mutex_init(&tls->lock, NULL);
    g_queue_init(&tls->retired);
    tls_refresh(tls, &why);
    if (why.code) {
        tls_close(tls);
        tls = NULL;
        if (err) *err = why;
    }
    *out = tls;
    return why.code;
}

void tls_close(struct tls *tls)
{
    if (!tls) return;
    free_retired(tls, INT64_MAX);
    certificate_free(tls->current);
    pthread_mutex_destroy(&tls->lock);
    g_free(tls->cert_path);
    g_free(tls->key_path);
    g_free(tls);
}

void tls_certificate(struct tls *tls, gnutls_pcert_st **certs, unsigned *n_certs, gnutls_privkey_t *key)
{
    pthread_mutex_lock(&tls->lock);
    *certs = tls->current->certs;
    *n_certs = tls->current->n_certs;
    *key = tls->current->key;
    pthread_mutex_unlock(&tls->lock);
}
