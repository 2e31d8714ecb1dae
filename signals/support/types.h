/* Infers the type of an expression's values, by SQLite's rules and the data of its columns. */
#ifndef ASSAY_SIGNALS_SUPPORT_TYPES_H
#define ASSAY_SIGNALS_SUPPORT_TYPES_H

#include "signals/vsig.h"

enum vsig_type { VSIG_TYPE_UNKNOWN, VSIG_TYPE_NULL, VSIG_TYPE_INT, VSIG_TYPE_REAL, VSIG_TYPE_TEXT, VSIG_TYPE_BLOB };

/* Return the type of an expression or of a column. A column has the type that all its values share, and UNKNOWN if they
 * have several types. An empty column has the type of its affinity. The work is bounded. */
enum vsig_type vsig_type_of(const struct vsig_subject *subject, const struct sql_node *expr);
enum vsig_type vsig_type_of_column(const struct schema_column *column);

#endif
