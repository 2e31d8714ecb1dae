/* Checks provenance against the database, candidate by candidate, over a query log. */
#ifndef ASSAY_TESTS_UNIT_EXPLAIN_TRACE_LOG_H
#define ASSAY_TESTS_UNIT_EXPLAIN_TRACE_LOG_H

#include "lib/schema/schema.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

struct trace_tally {
    unsigned executable; /* distinct candidates and gold queries of a database that run */
    unsigned rows, no_source, empty, nothing, unavailable;
    unsigned checked; /* arms whose select list was computed again over their source rows */
    unsigned differ;  /* of these, arms that did not give the explained row */
    unsigned unsaid;  /* arms that no check statement exists for */
    unsigned inexact;
    unsigned found, minimal, no_data, not_found; /* why-not outcomes of the counts `empty` and `nothing` */
    unsigned probes;
    unsigned statements, arms, inner_arms, condition_arms;
    GArray *own, *sql, *why; /* of int64_t, NULL: not wanted. ns of each trace without its statements, of these, and of
                                each whole why-not */
};

/* Adds to *tally and prints each faulty candidate to stderr. Returns false if the log is missing. */
bool trace_log(const char *log, const char *databases, struct trace_tally *tally);

/* Likewise for one candidate. Resets the arena. */
void trace_candidate(struct db *db, const struct schema_index *index, struct arena *arena, const char *sql,
                     struct trace_tally *tally);

/* Returns the number of covered candidates: traced with right values, or known to have no source row, with the
 * reason. */
unsigned trace_covered(const struct trace_tally *tally);
void trace_print(const struct trace_tally *tally, const char *name, FILE *out);

#endif
