/* Decides which error texts a network client may see. Some texts name locations: files, servers or roles. They are for
 * the operator's log only; the client receives the general meaning of the code. */
#ifndef ASSAY_LIB_BASE_LOCATIONS_H
#define ASSAY_LIB_BASE_LOCATIONS_H

#include "lib/base/error.h"

#include <stdbool.h>

/* True if texts of this code may name a location. The codes are those of an unusable database or service, and those of
 * class fatal. Thread: any. */
bool err_names_locations(enum err_code code);

/* Returns the text of `err` if it is public, otherwise the meaning of its code. The text is valid as long as `err`.
 * Thread: any. */
const char *err_public_text(const struct err *err);

#endif
