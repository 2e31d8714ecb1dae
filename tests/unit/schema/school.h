/* The school database of tests/data/schema, built and indexed. */
#ifndef ASSAY_TESTS_UNIT_SCHEMA_SCHOOL_H
#define ASSAY_TESTS_UNIT_SCHEMA_SCHOOL_H

#include "lib/schema/schema.h"
#include "tests/unit/db/fixture.h"

struct school {
    struct fixture f;
    struct schema_index *index;
};

/* From tests/data/schema/school.sql, or from `sql` when it is given. Options may be NULL. */
void school_open(struct school *school, const char *sql, const struct schema_options *options);
void school_end(struct school *school);

/* "table.column"; asserts that it is there. */
const struct schema_column *school_column(const struct school *school, const char *name);
uint32_t school_table(const struct school *school, const char *name);

/* The join of two columns; NULL: none. */
const struct schema_join *school_join(const struct school *school, const char *from, const char *to);

#endif
