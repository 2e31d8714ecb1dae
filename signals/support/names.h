/* Names for messages. A message may hold names of the schema and numbers, never a value: values go into facts. */
#ifndef ASSAY_SIGNALS_SUPPORT_NAMES_H
#define ASSAY_SIGNALS_SUPPORT_NAMES_H

#include "signals/vsig.h"

/* Returns "singer.age", by schema name. Returns the output name of a computed column, and "?" if nothing is known.
 * Never NULL. */
const char *vsig_column_name(const struct vsig_subject *subject, const struct sql_ref *ref);
/* Returns the name of output `output` of a source, in the same form. */
const char *vsig_output_name(const struct vsig_subject *subject, const struct sql_source *source, int output);
/* Returns "singer", or "singer (T1)" if the block has several of that table. Returns "a subquery" for an unnamed one.
 */
const char *vsig_source_name(const struct vsig_subject *subject, const struct sql_source *source);

/* Returns "1 column" or "2 columns". Never NULL. */
const char *vsig_counted(const struct vsig_subject *subject, unsigned n, const char *one, const char *many);

/* Returns the schema column behind a source's output, or NULL if it is computed. */
const struct schema_column *vsig_column_at(const struct vsig_subject *subject, const struct sql_source *source,
                                           int output);

/* True if the question contains one of the phrases (NULL-terminated list; folded words or stems, single spaces). False
 * without a question. */
bool vsig_question_says(const struct vsig_subject *subject, const char *const *phrases);

/* True if the question is about missing values: "unknown", "null", "blank". False without a question. */
bool vsig_question_says_null(const struct vsig_subject *subject);

/* True if a name of two to five letters is short for a folded word. A name of two letters is the beginning of the word
 * ("op" of "operators"). A longer one has letters of the word in their order ("appt" of "appointments"). */
bool vsig_abbreviates(const char *name, const char *word);

/* True if the question names the table itself. False without a question. */
bool vsig_question_names_table(const struct vsig_subject *subject, int table);

#endif
