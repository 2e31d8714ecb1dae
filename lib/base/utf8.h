/* Which part of a text is valid UTF-8: for writing text of unknown origin where only UTF-8 is allowed. */
#ifndef ASSAY_LIB_BASE_UTF8_H
#define ASSAY_LIB_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the character at `text` (NUL-terminated, not empty): 1 to 4; 0 when none starts there (overlong forms,
 * surrogates and what lies past U+10FFFF are none). Thread: any. */
unsigned utf8_length(const char *text);

/* How many of the first bytes are valid UTF-8 without a NUL; len: all. Quick where they are ASCII. */
size_t utf8_valid_bytes(const char *text, size_t len);

#endif
