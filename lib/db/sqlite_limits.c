/* Sets SQLite's own limits on a connection: sizes, depths and memory.
 *
 * The limit on the longest value depends on the statement. `x+x+x...` reads each x six times as a number, at 4 ns a
 * byte, and cannot be stopped before the next jump. So the size of the compiled statement (at least 24 bytes an
 * instruction) times the longest value is limited, to about one second. A statement of a few lines may use values of a
 * megabyte; a statement of 64 KiB may use values of some kilobytes.
 */
#include "lib/db/sqlite_int.h"

#include <glib.h>

/* Limits that do not depend on db_limits. SQLite's limit on the length of a statement is not lowered, because it also
 * applies to the text of the schema; db.c checks the length. The limit on columns is not lowered, because it also
 * applies to tables. The limit on instructions also limits the time between two jumps. */
static const struct {
    int id, value;
} fixed_limits[] = {
    {SQLITE_LIMIT_COMPOUND_SELECT, 50}, {SQLITE_LIMIT_VDBE_OP, 100000},          {SQLITE_LIMIT_FUNCTION_ARG, 100},
    {SQLITE_LIMIT_ATTACHED, 0},         {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 300}, {SQLITE_LIMIT_VARIABLE_NUMBER, 250},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},    {SQLITE_LIMIT_WORKER_THREADS, 0},
};

void sqlite_apply_limits(struct sqlite_db *self)
{
    const struct db_limits *limits = &self->base.limits;
    for (size_t i = 0; i < G_N_ELEMENTS(fixed_limits); i++)
        sqlite3_limit(self->conn, fixed_limits[i].id, fixed_limits[i].value);
    sqlite3_limit(self->conn, SQLITE_LIMIT_LENGTH, sqlite_as_int(limits->value_bytes));
    sqlite3_limit(self->conn, SQLITE_LIMIT_EXPR_DEPTH, sqlite_as_int(limits->expr_depth));
    meter_bound((int64_t)limits->heap_bytes);
}

void sqlite_bound_values(const struct sqlite_db *self, sqlite3_stmt *stmt)
{
    enum { LEAST = 4096 };
    static const uint64_t PRODUCT = UINT64_C(7500000000);
    if (self->base.limits.killable) return;
    int program = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_MEMUSED, false);
    uint64_t longest = PRODUCT / (uint64_t)MAX(program, 1);
    sqlite3_limit(self->conn, SQLITE_LIMIT_LENGTH,
                  sqlite_as_int(MIN(self->base.limits.value_bytes, MAX(longest, LEAST))));
}
