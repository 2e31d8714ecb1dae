/* Parses the URL of a MariaDB database, such as mariadb://user@host:port/database?ssl_ca=FILE. */
#ifndef ASSAY_LIB_DB_MARIADB_ADDRESS_H
#define ASSAY_LIB_DB_MARIADB_ADDRESS_H

#include <stdbool.h>

struct mariadb_address {
    char *user, *password; /* NULL if the URL has none */
    char *host, *socket;   /* `host` NULL means 127.0.0.1; `socket` NULL means TCP */
    unsigned port;
    char *database;
    bool encrypted, verified; /* TLS is required; a valid certificate that names the host is required */
    char *ca, *cert, *key;    /* files, or NULL. Without `ca` the system's authorities are used. Without `cert` and
                               * `key` the client sends no certificate */
};

/* True if `url` has a scheme of MariaDB. The rest may be malformed. */
bool mariadb_address_claims(const char *url);
/* Parses a URL. Returns NULL if it is malformed; no part of the URL may then appear in a message, because it may
 * contain a password. Free with mariadb_address_free. */
struct mariadb_address *mariadb_address_parse(const char *url);
struct mariadb_address *mariadb_address_copy(const struct mariadb_address *address);
void mariadb_address_free(struct mariadb_address *address); /* may be NULL */

/* Implement db_path_shown and db_path_name, db_path_has_secret, and db_path_with_password. */
char *mariadb_address_shown(const char *url, bool name_only);
bool mariadb_address_has_secret(const char *url);
char *mariadb_address_with_password(const char *url, const char *password);

#endif
