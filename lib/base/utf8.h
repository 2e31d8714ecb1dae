/* Finds the valid UTF-8 in a text of unknown origin, for outputs that allow only UTF-8. */
#ifndef ASSAY_LIB_BASE_UTF8_H
#define ASSAY_LIB_BASE_UTF8_H

#include <stddef.h>

/* Returns the bytes of the character at `text` (NUL-terminated, not empty): 1 to 4. Returns 0 if no valid character
 * starts there; overlong forms, surrogates and values past U+10FFFF are invalid. Thread: any. */
unsigned utf8_length(const char *text);

/* Returns how many of the first bytes are valid UTF-8 without a NUL, at most `len`. Fast for ASCII. */
size_t utf8_valid_bytes(const char *text, size_t len);

#endif
