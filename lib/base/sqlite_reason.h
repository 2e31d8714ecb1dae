/* Describes the failure of a call on a SQLite file of our own. SQLite alone reports "disk I/O error" for a full disk
 * and for a size limit. */
#ifndef ASSAY_LIB_BASE_SQLITE_REASON_H
#define ASSAY_LIB_BASE_SQLITE_REASON_H

#include <errno.h>
#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

enum { SQLITE_REASON_BYTES = 256 };

/* Writes SQLite's message and, after a failure of the file, the system's. Call it before any other use of the handle,
 * because a rollback clears both. SQLite stores no errno of a failed COMMIT, so errno itself is read then. */
static inline const char *sqlite_reason(sqlite3 *db, char out[SQLITE_REASON_BYTES])
{
    int code = sqlite3_errcode(db) & 0xFF, kept = sqlite3_system_errno(db);
    bool of_file = code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL;
    int why = !of_file ? 0 : kept ? kept : errno;
    snprintf(out, SQLITE_REASON_BYTES, "%s%s%s", sqlite3_errmsg(db), why ? ": " : "", why ? g_strerror(why) : "");
    return out;
}

#endif
