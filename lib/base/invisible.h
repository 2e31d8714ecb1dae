/* Characters that are invisible or that reorder the text around them. Wherever untrusted text is printed, they are
 * printed as escapes. Without that, bidirectional controls could make SQL look different from the SQL that runs, and
 * tags and variation selectors could hide words in it. */
#ifndef ASSAY_LIB_BASE_INVISIBLE_H
#define ASSAY_LIB_BASE_INVISIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* True for control characters (C0, DEL, C1), Unicode's default ignorables, and line and paragraph separators. Thread:
 * any. */
bool is_invisible(uint32_t character);

#endif
