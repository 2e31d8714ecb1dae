/* Searches an allow list: names in sorted order, compared without case. */
#ifndef ASSAY_LIB_DB_ALLOW_LIST_H
#define ASSAY_LIB_DB_ALLOW_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* True if `name` is one of the n `names`. Thread: any. */
bool allow_list_has(const char *const *names, size_t n, const char *name, size_t len);

#endif
