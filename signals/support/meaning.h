/* The meaning of a candidate (lib/meaning/meaning.h) and its alignment with the question (lib/question/align.h). Both
 * are computed once for each candidate. Signals and features share them. */
#ifndef ASSAY_SIGNALS_SUPPORT_MEANING_H
#define ASSAY_SIGNALS_SUPPORT_MEANING_H

#include "lib/question/align.h"
#include "signals/vsig.h"

/* Reads the meaning of the candidate. *out is NULL if the candidate has no query. Returns ERR_OK, or ERR_LIMIT_MEMORY
 * if the arena is full. A check that needs the meaning must return this error. Thread: eval. */
enum err_code vsig_read_meaning(struct vsig_subject *subject, const struct meaning **out);

/* Returns the meaning, for callers that also work without it. Returns NULL if there is none or the arena is full.
 * Thread: eval. */
const struct meaning *vsig_meaning(struct vsig_subject *subject);

/* Returns the alignment with the question. Returns NULL without a question, or if the arena is full. Thread: eval. */
const struct alignment *vsig_alignment(struct vsig_subject *subject);

/* Returns the innermost node that covers the bytes [start, end) of the statement, or the root if both are 0. */
const struct sql_node *vsig_node_at(const struct vsig_subject *subject, uint32_t start, uint32_t end);

/* Reports the differences of one group (enum align_group) between question and query. A certain difference is an error,
 * any other a warning. */
enum err_code vsig_report_differences(struct vsig_run *run, enum align_group group);

#endif
