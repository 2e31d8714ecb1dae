/* The page that `assay serve` shows at `/`: the files of this folder, linked into the program. docs/page.md says what it does.
 *
 * All of them come with a Content-Security-Policy that lets nothing run, load or connect but this server's own files. They are for
 * anybody: what they ask for then takes a token where the server has tokens.
 */
#ifndef ASSAY_PAGE_PAGE_H
#define ASSAY_PAGE_PAGE_H

#include "server/http_route.h"

struct page_asset {
    const char *path; /* "/", "/page/app.js" */
    const char *type;
    const unsigned char *bytes;
    size_t len;
    const char *const *headers; /* name, value, ..., NULL: the page's, and an ETag */
    const char *etag;           /* in its quotes */
};

/* Made of the files by page/embed.cmake. */
extern const struct page_asset page_assets[];
extern const size_t page_n_assets;

/* Appends a row (struct http_route) for each of the files. */
void page_routes(GArray *routes);

#endif
