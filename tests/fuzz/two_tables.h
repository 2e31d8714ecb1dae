/* A catalog for fuzz targets that bind names: tables t and u, each with the columns a, b, id and name. */
#ifndef ASSAY_TESTS_FUZZ_TWO_TABLES_H
#define ASSAY_TESTS_FUZZ_TWO_TABLES_H

#include "lib/sql/bind.h"

extern const struct sql_catalog two_tables;

#endif
