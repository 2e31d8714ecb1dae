/* Serves the page that `assay serve` shows at `/`. The files of this folder are linked into the program. docs/page.md
 * describes the page.
 *
 * A Content-Security-Policy permits the page to run, load and connect to this server's own files only. The files need
 * no token. If the server has tokens, the requests that the page sends need one. */
#ifndef ASSAY_PAGE_PAGE_H
#define ASSAY_PAGE_PAGE_H

#include "server/http_route.h"

struct page_asset {
    const char *path; /* "/", "/page/app.js" */
    const char *type;
    const unsigned char *bytes;
    size_t len;
    const char *const *headers; /* name, value, ..., NULL: the headers of page/headers.h and an ETag */
    const char *etag;           /* value of the ETag header, including the quotes */
};

/* The files. page/embed.cmake generates this table. */
extern const struct page_asset page_assets[];
extern const size_t page_n_assets;

/* Appends a route (struct http_route) for each of the files. */
void page_routes(GArray *routes);

#endif
