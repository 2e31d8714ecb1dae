/* What every file of the page is sent with beside HTTP_GATE_HEADERS (server/http_gate.h): name, value, ... ; page/embed.cmake puts a file's ETag behind. */
#ifndef ASSAY_PAGE_HEADERS_H
#define ASSAY_PAGE_HEADERS_H

/* Nothing runs, loads or connects but what this server has; nobody frames it, and it sends no form anywhere. The files are
 * asked for again each time, and answered with 304. */
#define PAGE_HEADERS                                                                                                   \
    "Content-Security-Policy",                                                                                         \
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "          \
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",                                                 \
        "Referrer-Policy", "no-referrer", "Cross-Origin-Opener-Policy", "same-origin", "Cache-Control", "no-cache"

#endif
