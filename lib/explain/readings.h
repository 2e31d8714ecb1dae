/* Describes how several readings of a question differ: one question to the user, with a choice for each reading
 * (docs/ask.md).
 *
 * The words are those of lib/explain's prose, so they follow from the statements and the schema alone. The only values
 * of the database that they contain are literals of the statements. Parts common to all readings are left out. SQL
 * words appear only for constructs that have no plain wording. */
#ifndef ASSAY_LIB_EXPLAIN_READINGS_H
#define ASSAY_LIB_EXPLAIN_READINGS_H

#include "lib/explain/explain.h"
#include "lib/schema/schema.h"

enum { EXPLAIN_MAX_READINGS = 8 };

/* A statement that represents one reading. Its text is not NUL-terminated and must outlive the result. */
struct explain_statement {
    const char *sql;
    size_t len;
};

struct explain_readings {
    const char *question;       /* the question to the user, such as "In which order?" */
    const char *const *choices; /* one choice for each reading, in the order of the readings; all differ */
    uint32_t n;
};

/* Asks the user to choose among two to EXPLAIN_MAX_READINGS statements. The texts live in `arena`. Returns ERR_ENGINE
 * if a statement does not parse or bind, and ERR_LIMIT_COUNT if their number is out of range. Returns ERR_REFUSED if
 * two statements have the same wording, and ERR_LIMIT_MEMORY if the arena is full. `err` names the statement. Thread:
 * any with exclusive read access to the index. */
enum err_code explain_readings(struct arena *arena, const struct schema_index *index,
                               const struct explain_statement *statements, uint32_t n, struct explain_readings *out,
                               struct err *err);

#endif
