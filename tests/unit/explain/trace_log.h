/* Checks provenance against the database, candidate by candidate, over a query log. */
#ifndef ASSAY_TESTS_UNIT_EXPLAIN_TRACE_LOG_H
#define ASSAY_TESTS_UNIT_EXPLAIN_TRACE_LOG_H

#include "lib/schema/schema.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct trace_tally {
    unsigned executable; /* distinct candidates and gold queries that run */
    unsigned rows, no_source, empty, nothing, unavailable;
    unsigned checked; /* arms whose select list was computed again from their source rows */
    unsigned differ;  /* checked arms whose computed row differs from the explained one */
    unsigned unsaid;  /* arms that cannot be checked by a statement */
    unsigned inexact;
    unsigned found, minimal, no_data, not_found; /* numbers of why-not outcomes, for results without rows or values */
    unsigned probes;
    unsigned statements, arms, inner_arms, condition_arms;
    GArray *own, *sql, *why; /* int64_t: ns of each trace, of its statements, of each why-not; may be NULL */
};

/* Adds a log to *tally, and prints each faulty candidate to stderr. Returns false if the log does not exist. */
bool trace_log(const char *log, const char *databases, struct trace_tally *tally);

/* Likewise for one candidate. Resets the arena. */
void trace_candidate(struct db *db, const struct schema_index *index, struct arena *arena, const char *sql,
                     struct trace_tally *tally);

/* Returns the number of covered candidates. These are traced with correct values, or have no source row for a known
 * reason. */
unsigned trace_covered(const struct trace_tally *tally);
void trace_print(const struct trace_tally *tally, const char *name, FILE *out);

#endif
