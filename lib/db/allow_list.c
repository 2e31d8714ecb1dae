#include "lib/db/allow_list.h"

#include <glib.h>
#include <string.h>

bool allow_list_has(const char *const *names, size_t n, const char *name, size_t len)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = (low + n) / 2, other = strlen(names[middle]);
        int order = g_ascii_strncasecmp(name, names[middle], MIN(len, other));
        if (order == 0) order = (len > other) - (len < other);
        if (order == 0) return true;
        if (order < 0)
            n = middle;
        else
            low = middle + 1;
    }
    return false;
}
