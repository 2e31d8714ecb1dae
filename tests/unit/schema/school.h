/* Creates and indexes the school database of tests/data/schema. */
#ifndef ASSAY_TESTS_UNIT_SCHEMA_SCHOOL_H
#define ASSAY_TESTS_UNIT_SCHEMA_SCHOOL_H

#include "lib/schema/schema.h"
#include "tests/unit/db/fixture.h"

struct school {
    struct fixture f;
    struct schema_index *index;
};

/* Creates the database from `sql`, or from tests/data/schema/school.sql if `sql` is NULL. Options may be NULL. */
void school_open(struct school *school, const char *sql, const struct schema_options *options);
void school_end(struct school *school);

/* Returns the column named "table.column"; asserts that it exists. */
const struct schema_column *school_column(const struct school *school, const char *name);
uint32_t school_table(const struct school *school, const char *name);

/* Returns the join of two columns, or NULL if there is none. */
const struct schema_join *school_join(const struct school *school, const char *from, const char *to);

/* True if a note of the index contains the text. */
bool school_is_noted(const struct schema_index *index, const char *text);

#endif
