/* Characters that are invisible, or that reorder the text around them: shown as escapes wherever untrusted text is
 * printed. Bidirectional controls make SQL look different from what runs; tags and variation selectors hide words in
 * it. */
#ifndef ASSAY_LIB_BASE_INVISIBLE_H
#define ASSAY_LIB_BASE_INVISIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* C0, DEL and C1 controls, what Unicode calls default ignorable, and separators of lines and paragraphs. Thread: any.
 */
bool is_invisible(uint32_t character);

#endif
