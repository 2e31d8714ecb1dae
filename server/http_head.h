/* Validates the head of an HTTP/1 request byte by byte, before a library reads it.
 *
 * DESIGN. Request smuggling exploits differences between two parsers: a proxy sees one request, the server behind it
 * two. Libraries tolerate bare line feeds, folded lines and NULs, each library and version differently. After parsing,
 * such input is no longer visible. So this module accepts only input with one reading. It follows RFC 9112 and rejects
 * wherever the RFC allows it. Lines end with CRLF and are not folded, and each colon directly follows a token. There is
 * one Host, and either one length in digits or exactly `chunked`, never both.
 *
 * A chunked body is inspected in the same way, as far as it has arrived. The library answers an invalid chunk with a
 * page of HTML, and has no option to change that. The functions are pure: no state, no memory.
 */
#ifndef ASSAY_SERVER_HTTP_HEAD_H
#define ASSAY_SERVER_HTTP_HEAD_H

#include <stddef.h>

enum head_state {
    HEAD_PARTIAL, /* valid so far, but incomplete */
    HEAD_WHOLE,
    HEAD_BAD
};

/* Checks the first `len` bytes of a connection. Bytes after a complete head are ignored. For HEAD_BAD, *why is the
 * reason, a static text without any part of the request. */
enum head_state http_head_check(const char *bytes, size_t len, const char **why);
/* Checks the chunks after a complete head, with the same results. HEAD_PARTIAL means that the body is incomplete.
 * HEAD_WHOLE means that it is complete, that it is not chunked, or that its client first waits for 100 Continue. */
enum head_state http_body_check(const char *bytes, size_t len, const char **why);

#endif
