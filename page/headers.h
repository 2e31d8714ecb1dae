/* Lists the headers of every file of the page as name, value, ... HTTP_GATE_HEADERS (server/http_gate.h) has further
 * ones, and the build adds the ETag of each file (page/embed.cmake). */
#ifndef ASSAY_PAGE_HEADERS_H
#define ASSAY_PAGE_HEADERS_H

/* The page may run scripts, load files and connect only from this server. It cannot be framed and cannot submit forms.
 * Browsers revalidate files each time, and the server answers 304 for an unchanged file. */
#define PAGE_HEADERS                                                                                                   \
    "Content-Security-Policy",                                                                                         \
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "          \
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",                                                 \
        "Referrer-Policy", "no-referrer", "Cross-Origin-Opener-Policy", "same-origin", "Cache-Control", "no-cache"

#endif
