/* The byte-order mark that some editors put before UTF-8. It says nothing: readers of text skip it. */
#ifndef ASSAY_LIB_BASE_BOM_H
#define ASSAY_LIB_BASE_BOM_H

#include <stddef.h>
#include <string.h>

/* Bytes of the mark at the beginning of the text: 3 or 0. Any thread. */
static inline size_t bom_length(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

#endif
