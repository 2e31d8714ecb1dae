/* Checks every HTTP request before it is routed. Refuses requests that a web page of another origin sent.
 *
 * DESIGN. A browser sends requests for any page to any address, including loopback addresses. For a form's media type,
 * the browser does not ask the server first. So each listener checks the same fields, in this order, before it reads
 * anything else:
 *
 *    400  duplicate field of HTTP_GATE_FIELDS; Host is not HOST or HOST:PORT; a control character in the path
 *    421  Host is not an accepted name of the listener: a foreign page resolved its own name to this address
 *    403  Origin is not the origin of the request's target, or is `null`
 *    403  Sec-Fetch-Site is neither `same-origin` nor `none` (pages on other ports of this machine send `same-site`)
 *    415  the body of a POST does not have the media type of its route
 *
 * Responses have no CORS field, so the preflight of a foreign page fails and no foreign page can read a response. A
 * link on another site may open the page itself (`may_link`), which contains no data. Programs send neither Origin nor
 * Sec-Fetch-Site and pass. Rejected: a list of trusted origins, since only the server's own page may send requests.
 *
 * The checks are pure functions of the fields. They allocate nothing. Thread: any.
 */
#ifndef ASSAY_SERVER_HTTP_GATE_H
#define ASSAY_SERVER_HTTP_GATE_H

#include "server/libmicrohttpd.h"

#include <stdbool.h>

/* The schemes with which a browser may reach a listener. */
enum http_gate_schemes {
    HTTP_GATE_HTTP = 1,
    HTTP_GATE_HTTPS = 2,
    HTTP_GATE_EITHER = HTTP_GATE_HTTP | HTTP_GATE_HTTPS /* a proxy before a plain listener may end TLS */
};

struct http_gate {
    bool local; /* Host must be a name of this machine or one of `hosts` */
    enum http_gate_schemes schemes;
    const char *const *hosts;
    unsigned n_hosts;
};

/* The fields that a request may contain only once. If a field is duplicate, a proxy and this server may use different
 * values. */
#define HTTP_GATE_FIELDS(X)                                                                                            \
    X(HOST, "Host")                                                                                                    \
    X(ORIGIN, "Origin")                                                                                                \
    X(SITE, "Sec-Fetch-Site")                                                                                          \
    X(MODE, "Sec-Fetch-Mode")                                                                                          \
    X(DESTINATION, "Sec-Fetch-Dest")                                                                                   \
    X(TYPE, "Content-Type")                                                                                            \
    X(LENGTH, "Content-Length")                                                                                        \
    X(AUTHORIZATION, "Authorization")                                                                                  \
    X(MCP_VERSION, "MCP-Protocol-Version")                                                                             \
    X(MCP_METHOD, "Mcp-Method")                                                                                        \
    X(MCP_NAME, "Mcp-Name")

enum http_gate_field {
#define X(id, name) HTTP_FIELD_##id,
    HTTP_GATE_FIELDS(X)
#undef X
        HTTP_FIELD_COUNT
};

struct http_gate_fields {
    const char *values[HTTP_FIELD_COUNT]; /* NULL if the request does not have the field */
    bool repeated;                        /* a field occurs more than once */
    bool escaped_control;                 /* the path or the query contains a control character */
};

/* A response that ends the request; all texts are static. */
struct http_gate_refusal {
    unsigned status;
    const char *title, *code, *detail;
};

/* Reads the fields of a request. The texts live as long as the request. */
void http_gate_read(struct MHD_Connection *connection, struct http_gate_fields *out);
/* Returns the refusal, or NULL if the request passes. `may_link` means that a link on another site may open this
 * path. */
const struct http_gate_refusal *http_gate_check(const struct http_gate *gate, const struct http_gate_fields *fields,
                                                bool may_link);
/* Returns true if the media type of the body is `accepts`; parameters are ignored. */
bool http_gate_has_type(const struct http_gate_fields *fields, const char *accepts);

/* The fields of every response: name, value. */
#define HTTP_GATE_HEADERS(X)                                                                                           \
    X("X-Content-Type-Options", "nosniff")                                                                             \
    X("Cross-Origin-Resource-Policy", "same-origin")
/* Adds these fields to a response. */
void http_gate_add_headers(struct MHD_Response *response);

#endif
