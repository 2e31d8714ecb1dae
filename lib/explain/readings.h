/* In what several readings of a question differ, as one question to the person who asked it, with a choice for each (seed 004,
 * the human's part; docs/ask.md).
 *
 * Words are those of lib/explain's prose, so they follow from the statements and the schema alone: no value of the database is in
 * them but literals of the statements. What all readings have in common is left out. No word of SQL is used, except where a
 * statement has what nobody has words for.
 */
#ifndef ASSAY_LIB_EXPLAIN_READINGS_H
#define ASSAY_LIB_EXPLAIN_READINGS_H

#include "lib/explain/explain.h"
#include "lib/schema/schema.h"

enum { EXPLAIN_MAX_READINGS = 8 };

/* A statement that is one reading; not NUL-terminated, must outlive what is made of it. */
struct explain_statement {
    const char *sql;
    size_t len;
};

struct explain_readings {
    const char *question;       /* "In which order?" */
    const char *const *choices; /* one a reading, in their order; no two are the same */
    uint32_t n;
};

/* Ask about two to EXPLAIN_MAX_READINGS statements; the texts live in `arena`. Errors: ERR_ENGINE when one of them does not parse
 * or bind, ERR_LIMIT_COUNT for fewer or more of them, ERR_REFUSED when two read the same in words, ERR_LIMIT_MEMORY when the arena is
 * full; `err` says which. Thread: any that has the index to itself for reading. */
enum err_code explain_readings(struct arena *arena, const struct schema_index *index,
                               const struct explain_statement *statements, uint32_t n, struct explain_readings *out,
                               struct err *err);

#endif
