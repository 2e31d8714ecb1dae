/* Characters that are invisible or reorder the text around them. They are shown as escapes wherever untrusted text is
 * printed. Bidirectional controls make SQL look different from the SQL that runs; tags and variation selectors hide
 * words in it. */
#ifndef ASSAY_LIB_BASE_INVISIBLE_H
#define ASSAY_LIB_BASE_INVISIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* True for C0, DEL and C1 controls, Unicode's default ignorables, and line and paragraph separators. Thread: any. */
bool is_invisible(uint32_t character);

#endif
