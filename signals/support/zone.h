/* Time zones: local times that the question asks for, and times stored in UTC. */
#ifndef ASSAY_SIGNALS_SUPPORT_ZONE_H
#define ASSAY_SIGNALS_SUPPORT_ZONE_H

#include "signals/vsig.h"

/* Finds a use of a stored time without any conversion in the query. The question must ask for the time of a place or
 * for local time, and the question or the evidence must say that times are in UTC. Returns the use, or NULL. *column
 * gets its column. */
const struct sql_node *vsig_unconverted_time(const struct vsig_subject *subject, const struct schema_column **column);

#endif
