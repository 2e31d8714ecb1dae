/* Why a call on a SQLite file of our own failed: SQLite alone says "disk I/O error", of a full disk and of a size limit. */
#ifndef ASSAY_LIB_BASE_SQLITE_REASON_H
#define ASSAY_LIB_BASE_SQLITE_REASON_H

#include <errno.h>
#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

enum { SQLITE_REASON_BYTES = 256 };

/* Writes SQLite's words, and the system's after a failure of the file. Call it before anything else uses the handle: a
 * rollback forgets both. SQLite keeps no errno of a failed COMMIT, so errno itself is read then. */
static inline const char *sqlite_reason(sqlite3 *db, char out[SQLITE_REASON_BYTES])
{
    int code = sqlite3_errcode(db) & 0xFF, kept = sqlite3_system_errno(db);
    bool of_file = code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL;
    int why = !of_file ? 0 : kept ? kept : errno;
    snprintf(out, SQLITE_REASON_BYTES, "%s%s%s", sqlite3_errmsg(db), why ? ": " : "", why ? g_strerror(why) : "");
    return out;
}

#endif
