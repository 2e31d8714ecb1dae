/* Parses and formats the URL of a MariaDB database (mariadb_address.h). The parser is strict: an unknown option or a
 * malformed part makes the whole URL invalid. No message quotes an invalid URL, because it may contain a password. */
#include "lib/db/mariadb_address.h"

#include <glib.h>
#include <stddef.h>
#include <string.h>

enum { USUAL_PORT = 3306 };

/* Options after the "?" of the URL, and the member that each sets. */
static const struct {
    const char *name;
    size_t field;
} files[] = {
    {"password", offsetof(struct mariadb_address, password)}, {"socket", offsetof(struct mariadb_address, socket)},
    {"ssl_ca", offsetof(struct mariadb_address, ca)},         {"ssl_cert", offsetof(struct mariadb_address, cert)},
    {"ssl_key", offsetof(struct mariadb_address, key)},
};

/* The values of ssl_mode, which are a subset of libpq's sslmode. */
static const struct {
    const char *name;
    bool encrypted, verified;
} modes[] = {{"disable", false, false}, {"require", true, false}, {"verify-full", true, true}};

static char **text_at(struct mariadb_address *address, size_t field)
{
    return (char **)((char *)address + field);
}

bool mariadb_address_claims(const char *url)
{
    return g_str_has_prefix(url, "mariadb://");
}

static bool take_mode(struct mariadb_address *address, const char *mode)
{
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        if (strcmp(modes[i].name, mode) != 0) continue;
        address->encrypted = modes[i].encrypted;
        address->verified = modes[i].verified;
        return true;
    }
    return false;
}

static bool take_option(struct mariadb_address *address, const char *name, const char *value)
{
    if (strcmp(name, "ssl_mode") == 0) return take_mode(address, value);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        if (strcmp(files[i].name, name) != 0) continue;
        char **text = text_at(address, files[i].field);
        g_free(*text);
        *text = g_strdup(value);
        return true;
    }
    return false;
}

static bool take_options(struct mariadb_address *address, const char *query)
{
    GUriParamsIter iter;
    char *name, *value;
    bool ok = true, chosen = false;
    GError *error = NULL;
    g_uri_params_iter_init(&iter, query, -1, "&", G_URI_PARAMS_NONE);
    while (ok && g_uri_params_iter_next(&iter, &name, &value, &error)) {
        chosen |= strcmp(name, "ssl_mode") == 0;
        ok = take_option(address, name, value);
        g_free(name);
        g_free(value);
    }
    ok = ok && !error;
    g_clear_error(&error);
    if (!chosen && address->ca) address->encrypted = address->verified = true;
    return ok;
}

static bool is_plain_host(const char *host)
{
    for (const char *c = host; *c; c++)
        if (!g_ascii_isalnum(*c) && !strchr("._-:%", *c)) return false;
    return true;
}

struct mariadb_address *mariadb_address_parse(const char *url)
{
    char *user = NULL, *password = NULL, *host = NULL, *path = NULL, *query = NULL;
    int port = -1;
    bool ok = g_uri_split_with_user(url, G_URI_FLAGS_HAS_PASSWORD | G_URI_FLAGS_ENCODED_QUERY, NULL, &user, &password,
                                    NULL, &host, &port, &path, &query, NULL, NULL);
    struct mariadb_address *address = g_new0(struct mariadb_address, 1);
    *address = (struct mariadb_address){.user = user,
                                        .password = password,
                                        .host = g_strdup(host && *host ? host : "127.0.0.1"),
                                        .port = port > 0 ? (unsigned)port : USUAL_PORT,
                                        .database = g_strdup(path && *path == '/' ? path + 1 : "")};
    ok = ok && is_plain_host(address->host) && *address->database && !strchr(address->database, '/');
    ok = ok && (!query || take_options(address, query));
    g_free(host);
    g_free(path);
    g_free(query);
    if (ok) return address;
    mariadb_address_free(address);
    return NULL;
}

struct mariadb_address *mariadb_address_copy(const struct mariadb_address *address)
{
    struct mariadb_address *copy = g_memdup2(address, sizeof *address);
    copy->user = g_strdup(address->user);
    copy->host = g_strdup(address->host);
    copy->database = g_strdup(address->database);
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        *text_at(copy, files[i].field) = g_strdup(*text_at(copy, files[i].field));
    return copy;
}

void mariadb_address_free(struct mariadb_address *address)
{
    if (!address) return;
    if (address->password) explicit_bzero(address->password, strlen(address->password));
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) g_free(*text_at(address, files[i].field));
    g_free(address->user);
    g_free(address->host);
    g_free(address->database);
    g_free(address);
}

char *mariadb_address_shown(const char *url, bool name_only)
{
    struct mariadb_address *address = mariadb_address_parse(url);
    if (!address) return g_strdup(name_only ? "mariadb" : "MariaDB database");
    char *shown = name_only         ? g_strdup(address->database)
                  : address->socket ? g_strdup_printf("MariaDB database '%s' on this machine", address->database)
                                    : g_strdup_printf("MariaDB database '%s' on %s:%u", address->database,
                                                      address->host, address->port);
    mariadb_address_free(address);
    return shown;
}

bool mariadb_address_has_secret(const char *url)
{
    struct mariadb_address *address = mariadb_address_parse(url);
    bool has = !address || address->password;
    mariadb_address_free(address);
    return has;
}

char *mariadb_address_with_password(const char *url, const char *password)
{
    char *escaped = g_uri_escape_string(password, NULL, FALSE);
    char *whole = g_strdup_printf("%s%spassword=%s", url, strchr(url, '?') ? "&" : "?", escaped);
    explicit_bzero(escaped, strlen(escaped));
    g_free(escaped);
    return whole;
}
