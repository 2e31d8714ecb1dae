/* The type of an expression's values, by SQLite's rules and by the data of its columns. */
#ifndef ASSAY_SIGNALS_SUPPORT_TYPES_H
#define ASSAY_SIGNALS_SUPPORT_TYPES_H

#include "signals/vsig.h"

enum vsig_type { VSIG_TYPE_UNKNOWN, VSIG_TYPE_NULL, VSIG_TYPE_INT, VSIG_TYPE_REAL, VSIG_TYPE_TEXT, VSIG_TYPE_BLOB };

/* A column's values that are all of one type have that type; mixed ones are UNKNOWN; an empty column goes by its
 * affinity. Bounded work. */
enum vsig_type vsig_type_of(const struct vsig_subject *subject, const struct sql_node *expr);
enum vsig_type vsig_type_of_column(const struct schema_column *column);

#endif
