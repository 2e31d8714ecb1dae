/* The headers of every file of the page, besides HTTP_GATE_HEADERS (server/http_gate.h), as name, value, ... The build
 * adds a file's ETag (page/embed.cmake). */
#ifndef ASSAY_PAGE_HEADERS_H
#define ASSAY_PAGE_HEADERS_H

/* A page may run, load and connect only to files of this server. It cannot be framed and cannot submit forms. Browsers
 * revalidate files each time, and an unchanged file is answered with 304. */
#define PAGE_HEADERS                                                                                                   \
    "Content-Security-Policy",                                                                                         \
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "          \
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",                                                 \
        "Referrer-Policy", "no-referrer", "Cross-Origin-Opener-Policy", "same-origin", "Cache-Control", "no-cache"

#endif
