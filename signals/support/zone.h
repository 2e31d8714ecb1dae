/* Finds times that are stored in UTC and used where the question asks for local times. */
#ifndef ASSAY_SIGNALS_SUPPORT_ZONE_H
#define ASSAY_SIGNALS_SUPPORT_ZONE_H

#include "signals/vsig.h"

/* Finds a use of a stored time, if no part of the query converts time zones. The question must ask for local time or
 * the time of a place. The question or the evidence must say that times are in UTC. Returns the use and sets *column to
 * its column. Returns NULL if there is none. */
const struct sql_node *vsig_unconverted_time(const struct vsig_subject *subject, const struct schema_column **column);

#endif
