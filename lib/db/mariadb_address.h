/* The address of a MariaDB server: mariadb://user@host:port/database?ssl_ca=FILE. */
#ifndef ASSAY_LIB_DB_MARIADB_ADDRESS_H
#define ASSAY_LIB_DB_MARIADB_ADDRESS_H

#include <stdbool.h>

struct mariadb_address {
    char *user, *password; /* NULL if the URL has none */
    char *host, *socket;   /* NULL host: 127.0.0.1; NULL socket: TCP */
    unsigned port;
    char *database;
    bool encrypted, verified; /* require TLS; require a certificate that matches */
    char *ca, *cert, *key;    /* files; without `ca` the system's authorities are used; without `cert` and `key` the
                               * client has no certificate */
};

/* True if `url` has the scheme of MariaDB, well formed or not. */
bool mariadb_address_claims(const char *url);
/* Parses a URL. Free with mariadb_address_free. Returns NULL if the URL is malformed; no part of it may then appear in
 * a message. */
struct mariadb_address *mariadb_address_parse(const char *url);
struct mariadb_address *mariadb_address_copy(const struct mariadb_address *address);
void mariadb_address_free(struct mariadb_address *address); /* NULL is fine */

/* db_path_shown, db_path_has_secret, db_path_with_password */
char *mariadb_address_shown(const char *url, bool name_only);
bool mariadb_address_has_secret(const char *url);
char *mariadb_address_with_password(const char *url, const char *password);

#endif
