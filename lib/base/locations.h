/* Classifies errors whose texts name locations: files, servers, roles. Such texts are for the operator's log; a network
 * client receives the meaning of the code. */
#ifndef ASSAY_LIB_BASE_LOCATIONS_H
#define ASSAY_LIB_BASE_LOCATIONS_H

#include "lib/base/error.h"

#include <stdbool.h>

/* True if a text of this code may name a location: the database is unusable, or the process cannot continue. Thread:
 * any. */
bool err_names_locations(enum err_code code);

/* Returns the public text: that of `err`, or the meaning of its code. The text lives in `err` or is static. Thread:
 * any. */
const char *err_public_text(const struct err *err);

#endif
