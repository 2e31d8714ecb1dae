/* Random statements over a database with denied columns, in all forms that the grammar knows. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_H
#define ASSAY_TESTS_FUZZ_DENIED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum denied_engine { DENIED_SQLITE, DENIED_POSTGRES, DENIED_MARIADB };
/* In the first each denied value holds a canary and nothing else does; the others differ in denied values alone. */
enum denied_data { DENIED_CANARIES, DENIED_LEFT, DENIED_RIGHT, DENIED_DATA };

extern const char *const DENIED_COLUMNS[];
enum { N_DENIED_COLUMNS = 3 };
/* Returns the statements that make the database. g_free. */
char *denied_script(enum denied_engine engine, enum denied_data data);

/* Returns a statement, the same for the same state of `rand`. g_free. */
char *denied_statement(GRand *rand, enum denied_engine engine);

/* A canary in these bytes, as it is or in hexadecimal: where it begins. NULL: there is none. */
const char *denied_canary(const char *bytes, size_t len);

#endif
