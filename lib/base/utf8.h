/* Finds the valid UTF-8 in a text from outside the program, for outputs that must be UTF-8. */
#ifndef ASSAY_LIB_BASE_UTF8_H
#define ASSAY_LIB_BASE_UTF8_H

#include <stddef.h>

/* Returns the length of the character at the start of `text`: 1 to 4 bytes. `text` is NUL-terminated and not empty.
 * Returns 0 if it does not start with a valid character. Overlong forms, surrogates and values past U+10FFFF are
 * invalid. Thread: any. */
unsigned utf8_length(const char *text);

/* Returns the length of the longest prefix of `text` that is valid UTF-8 without a NUL, at most `len`. Fast for ASCII.
 */
size_t utf8_valid_bytes(const char *text, size_t len);

#endif
