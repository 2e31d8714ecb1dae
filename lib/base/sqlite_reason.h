/* Describes a failed call on a SQLite file that Assay writes. SQLite's message is not enough: it is "disk I/O error"
 * both for a full disk and for a limit on the size of files. */
#ifndef ASSAY_LIB_BASE_SQLITE_REASON_H
#define ASSAY_LIB_BASE_SQLITE_REASON_H

#include <errno.h>
#include <glib.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

enum { SQLITE_REASON_BYTES = 256 };

/* Writes SQLite's message to `out`, followed by the system's message if access to the file failed. Returns `out`. Call
 * it before any other use of the handle, because a rollback clears both messages. After a failed COMMIT SQLite has
 * stored no errno, so the global errno is used. */
static inline const char *sqlite_reason(sqlite3 *db, char out[SQLITE_REASON_BYTES])
{
    int code = sqlite3_errcode(db) & 0xFF, kept = sqlite3_system_errno(db);
    bool of_file = code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL;
    int why = !of_file ? 0 : kept ? kept : errno;
    snprintf(out, SQLITE_REASON_BYTES, "%s%s%s", sqlite3_errmsg(db), why ? ": " : "", why ? g_strerror(why) : "");
    return out;
}

#endif
