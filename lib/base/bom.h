/* The byte-order mark that some editors put before UTF-8. It carries no information, so readers of text skip it. */
#ifndef ASSAY_LIB_BASE_BOM_H
#define ASSAY_LIB_BASE_BOM_H

#include <stddef.h>
#include <string.h>

/* Returns the length of the mark at the start of the text, 3, or 0 if there is none. Thread: any. */
static inline size_t bom_length(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

/* Removes the mark from a text of `len` bytes and a NUL. Returns the new length. Thread: any. */
static inline size_t bom_strip(char *text, size_t len)
{
    size_t mark = bom_length(text, len);
    if (mark) memmove(text, text + mark, len - mark + 1);
    return len - mark;
}

#endif
