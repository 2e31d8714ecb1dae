/* Random statements over a database with denied columns, in all forms that the grammar knows. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_H
#define ASSAY_TESTS_FUZZ_DENIED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What is denied, and the databases: each value of a denied column holds a canary and nothing else does. */
extern const char *const DENIED_COLUMNS[];
enum { N_DENIED_COLUMNS = 3 };
const char *denied_schema(bool postgres);

/* A statement; the same for the same state of `rand`. g_free. */
char *denied_statement(GRand *rand, bool postgres);

/* A canary in these bytes, as it is or in hexadecimal: where it begins. NULL: there is none. */
const char *denied_canary(const char *bytes, size_t len);

#endif
