/* Characters that a reader does not see, or that move what he sees: shown as escapes wherever text of others is
 * printed. With the bidirectional ones SQL reads otherwise than it runs, with tags and selectors it carries words that
 * nobody reads. */
#ifndef ASSAY_LIB_BASE_INVISIBLE_H
#define ASSAY_LIB_BASE_INVISIBLE_H

#include <stdbool.h>
#include <stdint.h>

/* C0, DEL and C1 controls, what Unicode calls default ignorable, and separators of lines and paragraphs. Thread: any.
 */
bool is_invisible(uint32_t character);

#endif
