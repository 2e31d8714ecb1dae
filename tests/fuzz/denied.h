/* Generates random statements over a database with denied columns. The statements use all forms of the grammar. */
#ifndef ASSAY_TESTS_FUZZ_DENIED_H
#define ASSAY_TESTS_FUZZ_DENIED_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum denied_engine { DENIED_SQLITE, DENIED_POSTGRES, DENIED_MARIADB };
/* The data sets. In the first, every denied value contains a canary, and no other value does. The others differ from
 * each other only in denied values. */
enum denied_data { DENIED_CANARIES, DENIED_LEFT, DENIED_RIGHT, DENIED_DATA };

extern const char *const DENIED_COLUMNS[];
enum { N_DENIED_COLUMNS = 3 };
/* Returns the statements that create the database. Free with g_free. */
char *denied_script(enum denied_engine engine, enum denied_data data);

/* Returns a random statement. Equal states of `rand` give equal statements. Free with g_free. */
char *denied_statement(GRand *rand, enum denied_engine engine);

/* Returns the first canary in these bytes, written literally or in hexadecimal. Returns NULL if there is none. */
const char *denied_canary(const char *bytes, size_t len);

#endif
