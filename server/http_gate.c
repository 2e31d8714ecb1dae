#include "server/http_gate.h"

#include "server/http_server.h"
#include "server/listen.h"

#include <glib.h>
#include <string.h>

/* --- reading --- */

static enum MHD_Result read_field(void *ctx, enum MHD_ValueKind kind, const char *name, const char *value)
{
    static const char *const names[] = {
#define X(id, name) [HTTP_FIELD_##id] = name,
        HTTP_GATE_FIELDS(X)
#undef X
    };
    struct http_gate_fields *fields = ctx;
    (void)kind;
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        bool differ = (name[0] ^ names[i][0]) & ~('a' ^ 'A'); /* first letter only, since most names differ there */
        if (differ || g_ascii_strcasecmp(name, names[i]) != 0) continue;
        fields->repeated |= fields->values[i] != NULL;
        fields->values[i] = value ? value : "";
        break;
    }
    return MHD_YES;
}

void http_gate_read(struct MHD_Connection *connection, struct http_gate_fields *out)
{
    *out = (struct http_gate_fields){.escaped_control = http_server_saw_control(connection)};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, read_field, out);
}

/* --- checks --- */

#define SAY_NAME(id, name) " " name

static bool is_answered(const struct http_gate *gate, const struct listen_authority *host)
{
    for (unsigned i = 0; i < gate->n_hosts; i++)
        if (strlen(gate->hosts[i]) == host->len && g_ascii_strncasecmp(gate->hosts[i], host->host, host->len) == 0)
            return true;
    return listen_is_loopback(host);
}

static const char *scheme_of(enum http_gate_schemes scheme)
{
    return scheme == HTTP_GATE_HTTPS ? "https://" : "http://";
}

/* Returns true if `origin` consists of this scheme and the authority of Host. */
static bool is_origin(const char *origin, enum http_gate_schemes scheme, const struct listen_authority *host)
{
    struct listen_authority page;
    int usual = scheme == HTTP_GATE_HTTPS ? 443 : 80;
    const char *prefix = scheme_of(scheme);
    if (!g_str_has_prefix(origin, prefix) || !listen_read_authority(origin + strlen(prefix), &page)) return false;
    return page.len == host->len && g_ascii_strncasecmp(page.host, host->host, page.len) == 0 &&
           (page.port < 0 ? usual : page.port) == (host->port < 0 ? usual : host->port);
}

static bool is_own_origin(const struct http_gate *gate, const char *origin, const struct listen_authority *host)
{
    return (gate->schemes & HTTP_GATE_HTTP && is_origin(origin, HTTP_GATE_HTTP, host)) ||
           (gate->schemes & HTTP_GATE_HTTPS && is_origin(origin, HTTP_GATE_HTTPS, host));
}

static bool is_text(const char *value, const char *text)
{
    return value && strcmp(value, text) == 0;
}

/* Returns true for a click on a link, which opens a page. A frame, an image or a script has another destination. */
static bool is_link(const struct http_gate_fields *fields)
{
    return !fields->values[HTTP_FIELD_ORIGIN] && is_text(fields->values[HTTP_FIELD_MODE], "navigate") &&
           is_text(fields->values[HTTP_FIELD_DESTINATION], "document");
}

static bool is_own_site(const char *site)
{
    return !site || is_text(site, "same-origin") || is_text(site, "none");
}

const struct http_gate_refusal *http_gate_check(const struct http_gate *gate, const struct http_gate_fields *fields,
                                                bool may_link)
{
    static const struct http_gate_refusal
        repeated = {400, "invalid request", "malformed",
                    "duplicate header field; each of these may appear once:" HTTP_GATE_FIELDS(SAY_NAME)},
        control = {400, "invalid request", "malformed",
                   "the path or the query string contains an encoded control character"},
        host = {400, "invalid request", "malformed", "the Host header is not HOST or HOST:PORT"},
        elsewhere = {421, "unknown host", "refused",
                     "the Host header is not a name of this machine and not one of --host"},
        origin = {403, "cross-origin request", "refused",
                  "the Origin header is not this server's own origin; a proxy in front of it must pass the Host header "
                  "unchanged"},
        site = {403, "cross-origin request", "refused",
                "Sec-Fetch-Site is not same-origin: in a browser only the server's own page may send requests"};
    const char *name = fields->values[HTTP_FIELD_HOST], *from = fields->values[HTTP_FIELD_ORIGIN];
    struct listen_authority authority = {.host = "", .port = -1};
    if (fields->repeated) return &repeated;
    if (fields->escaped_control) return &control;
    if (name && !listen_read_authority(name, &authority)) return &host;
    if (gate->local && !is_answered(gate, &authority)) return &elsewhere;
    if (from && !is_own_origin(gate, from, &authority)) return &origin;
    if (!is_own_site(fields->values[HTTP_FIELD_SITE]) && !(may_link && is_link(fields))) return &site;
    return NULL;
}

bool http_gate_has_type(const struct http_gate_fields *fields, const char *accepts)
{
    const char *type = fields->values[HTTP_FIELD_TYPE];
    size_t len = type ? strcspn(type, "; \t") : 0;
    return len == strlen(accepts) && g_ascii_strncasecmp(type, accepts, len) == 0;
}

/* --- responses --- */

void http_gate_add_headers(struct MHD_Response *response)
{
#define X(name, value) MHD_add_response_header(response, name, value);
    HTTP_GATE_HEADERS(X)
#undef X
}
