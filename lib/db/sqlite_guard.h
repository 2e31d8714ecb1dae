/* The authorizer's allow list for untrusted SQL in SQLite, and the classification of engine errors. */
#ifndef ASSAY_LIB_DB_SQLITE_GUARD_H
#define ASSAY_LIB_DB_SQLITE_GUARD_H

#include "lib/base/error.h"
#include "lib/db/work.h"

#include <sqlite3.h>
#include <stdbool.h>

struct guard {
    bool trusted;     /* the program's own statement, which may list the schema */
    bool is_query;    /* a SELECT or VALUES occurred since guard_begin */
    bool varies;      /* a function of the statement or a view reads the clock or is random */
    char denied[128]; /* the operation refused since guard_begin; empty if none */
};

/* Installs the guard on a connection and disables features that Debian's build leaves on. `guard` and `work`, which the
 * replacement functions charge, must outlive the connection. */
int guard_install(sqlite3 *conn, struct guard *guard, struct work *work);

void guard_begin(struct guard *guard, bool trusted);

/* Registers replacements of instr, replace, trim, like, glob, printf and NOCASE. One opcode of the built-in functions
 * can run for minutes and cannot be stopped (sqlite_functions.c). */
int guard_add_functions(sqlite3 *conn, struct work *work);

/* Returns the error of an engine failure by its result code and text. The caller handles SQLITE_INTERRUPT and
 * SQLITE_AUTH. */
enum err_code guard_classify(int rc, const char *message);

#endif
