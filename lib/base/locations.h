/* Which errors name places: files, servers, roles. Their texts are for the operator's log; who asked over a network gets
 * the meaning of the code. */
#ifndef ASSAY_LIB_BASE_LOCATIONS_H
#define ASSAY_LIB_BASE_LOCATIONS_H

#include "lib/base/error.h"

#include <stdbool.h>

/* True if a text of this code may name a location: the database cannot be used, or the process cannot go on. Thread:
 * any. */
bool err_names_locations(enum err_code code);

/* The text that anybody may read: that of `err`, or the meaning of its code. Lives in `err`, or forever. Thread: any. */
const char *err_public_text(const struct err *err);

#endif
