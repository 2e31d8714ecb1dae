/* Parses an entry of `deny_columns`: the name of denied columns in the configuration or in a request.
 *
 * An entry follows the rules of SQL identifiers: `column`, `table.column` or `schema.table.column`. A part may be
 * quoted in "", `` or []. Blanks around a part are ignored. `*` as the column means all columns of the table.
 *
 * An entry is ambiguous if names may contain dots: x.y.z is the column z, y.z or x.y.z. Each dot between parts may
 * separate schema, table and column. A column is denied if it matches any such division. A dot inside quotes belongs to
 * its part.
 *
 * This is the only parser of entries. lib/schema/denied.c matches columns with it. Settings, token files and the
 * coordinator check entries with it.
 */
#ifndef ASSAY_LIB_SCHEMA_DENY_NAME_H
#define ASSAY_LIB_SCHEMA_DENY_NAME_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DENY_NAME_BYTES = 1024, DENY_NAME_DOTS = 16 };

struct deny_name {
    uint16_t len, n_dots;
    uint16_t dots[DENY_NAME_DOTS];  /* offsets of the dots between parts */
    bool all_columns;               /* true if the column is `*`; `text` is then the table */
    char text[DENY_NAME_BYTES + 1]; /* parts without quotes and outer blanks, joined by dots; NUL-terminated */
};

/* Parses an entry. `out` holds a copy of its text. Returns ERR_MALFORMED for a malformed entry; `err` describes the
 * fault without quoting the entry. Thread: any.
 */
enum err_code deny_name_parse(const char *entry, struct deny_name *out, struct err *err);

/* Checks an entry. Returns ERR_MALFORMED for a malformed entry; `err` quotes the entry and gives the fault and the
 * right form. Thread: any. */
enum err_code deny_name_check(const char *entry, struct err *err);

/* Checks a list up to the first malformed entry. Errors as for deny_name_check. */
enum err_code deny_names_check(const char *const *entries, uint32_t n, struct err *err);

/* Returns the last part: the shortest column name that the entry can mean. For `table.*` returns the table. The text
 * belongs to `name`. */
const char *deny_name_last(const struct deny_name *name);

/* True if the entry can mean this column. NULL for schema, table or column matches every name. SQLite's tables have no
 * schema; an entry may give `main`. Names are compared without case. With `name->all_columns` only the table is
 * compared. Thread: any. */
bool deny_name_covers(const struct deny_name *name, const char *schema, const char *table, const char *column);

#endif
