/* What untrusted SQL may do in SQLite: the authorizer's allow list, and what a refusal is called. */
#ifndef ASSAY_LIB_DB_SQLITE_GUARD_H
#define ASSAY_LIB_DB_SQLITE_GUARD_H

#include "lib/base/error.h"
#include "lib/db/work.h"

#include <sqlite3.h>
#include <stdbool.h>

struct guard {
    bool trusted;  /* the program's own statement: may list the schema */
    bool is_query; /* a SELECT or VALUES was seen since guard_begin */
    bool
        varies; /* something was seen since then that looks at the clock or draws lots, in the statement or in a view */
    char denied[128]; /* what was refused since guard_begin; empty: nothing */
};

/* Install on a connection and close what Debian's build leaves open. `guard` and `work`, which own functions charge,
 * must outlive the connection. */
int guard_install(sqlite3 *conn, struct guard *guard, struct work *work);

void guard_begin(struct guard *guard, bool trusted);

/* Own instr, replace, trim, like, glob, printf and NOCASE: the built-in ones can be made to run for minutes inside one
 * opcode, where nothing can stop them (sqlite_functions.c). */
int guard_add_functions(sqlite3 *conn, struct work *work);

/* The class of an engine failure by its result code and text; SQLITE_INTERRUPT and SQLITE_AUTH are the caller's. */
enum err_code guard_classify(int rc, const char *message);

#endif
