/* Where a MariaDB server is: mariadb://user@host:port/database?ssl_ca=FILE. */
#ifndef ASSAY_LIB_DB_MARIADB_ADDRESS_H
#define ASSAY_LIB_DB_MARIADB_ADDRESS_H

#include <stdbool.h>

struct mariadb_address {
    char *user, *password; /* NULL: none is given */
    char *host, *socket;   /* NULL: 127.0.0.1; by TCP */
    unsigned port;
    char *database;
    bool encrypted, verified; /* without TLS there is no connection; nor without a certificate that fits */
    char *ca, *cert, *key;    /* files; NULL: the system's authorities, no certificate of our own */
};

/* Is it such a URL, well formed or not? */
bool mariadb_address_claims(const char *url);
/* Read one; mariadb_address_free. NULL: it is malformed, and nothing of it may be repeated. */
struct mariadb_address *mariadb_address_parse(const char *url);
struct mariadb_address *mariadb_address_copy(const struct mariadb_address *address);
void mariadb_address_free(struct mariadb_address *address); /* NULL is fine */

/* db_path_shown, db_path_has_secret, db_path_with_password */
char *mariadb_address_shown(const char *url, bool name_only);
bool mariadb_address_has_secret(const char *url);
char *mariadb_address_with_password(const char *url, const char *password);

#endif
