/* The bounds of the engine itself on a connection: sizes, depths and memory.
 *
 * The bound of the longest value depends on the statement. `x+x+x...` reads each x six times as a number, at 4 ns a
 * byte, and nothing can stop it before the next jump. So the bytes of the program (at least 24 an instruction) times
 * those of a value are limited to about a second. A statement of a few lines may still use values of a megabyte, a
 * statement of 64 KiB values of some kilobytes.
 */
#include "lib/db/sqlite_int.h"

#include <glib.h>

/* Fixed limits. db.c checks the statement's length: SQLite's own limit stays wide, because it also bounds the schema's
 * text. The limit on columns stays wide too, because it bounds a table's. The number of instructions bounds the cost
 * between two jumps. */
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
