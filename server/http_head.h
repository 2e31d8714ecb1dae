/* The head of an HTTP/1 request, looked at byte by byte before any library reads it.
 *
 * DESIGN. Request smuggling lives on what two parsers read differently: a proxy sees one request, the server behind it
 * two. Libraries are forgiving, each in its own way and anew in each version, and what they forgave cannot be seen any
 * more in what they hand on: bare line feeds, folded lines, NULs. So this takes only what has one reading (RFC 9112,
 * with every MAY and SHOULD to reject taken): CRLF, no folding, a token right before each colon, one Host, at most one
 * length in digits or exactly `chunked`, never both. A body in chunks is inspected the same way as far as it is there:
 * the library has no option for its own answer to a bad chunk, which is a page of HTML. Pure functions: no state, no
 * memory.
 */
#ifndef ASSAY_SERVER_HTTP_HEAD_H
#define ASSAY_SERVER_HTTP_HEAD_H

#include <stddef.h>

enum head_state {
    HEAD_PARTIAL, /* sound so far, and not at its end */
    HEAD_WHOLE,
    HEAD_BAD
};

/* What the first `len` bytes of a connection are; what comes behind a whole head is not looked at. HEAD_BAD: *why is
 * what is wrong, a static text without anything of the request. */
enum head_state http_head_check(const char *bytes, size_t len, const char **why);
/* Inspects the chunks behind a whole head, in the same terms. HEAD_PARTIAL: the body has not come to its end. HEAD_WHOLE:
 * it has, or it is none in chunks, or its client waits for 100 Continue first. */
enum head_state http_body_check(const char *bytes, size_t len, const char **why);

#endif
