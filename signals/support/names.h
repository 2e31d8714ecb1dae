/* Names for messages. A message may contain names of the schema and numbers, but never a value. Values go into
 * facts. */
#ifndef ASSAY_SIGNALS_SUPPORT_NAMES_H
#define ASSAY_SIGNALS_SUPPORT_NAMES_H

#include "signals/vsig.h"

/* Returns a name such as "singer.age" from the schema. Returns the output name of a computed column, or "?" if it has
 * none. Never NULL. */
const char *vsig_column_name(const struct vsig_subject *subject, const struct sql_ref *ref);
/* Returns the name of output number `output` of a source, in the form of vsig_column_name. */
const char *vsig_output_name(const struct vsig_subject *subject, const struct sql_source *source, int output);
/* Returns "singer", or "singer (T1)" if the block reads that table more than once. Returns "a subquery" for an unnamed
 * one. */
const char *vsig_source_name(const struct vsig_subject *subject, const struct sql_source *source);

/* Returns the number with the matching word: "1 column" or "2 columns". Never NULL. */
const char *vsig_counted(const struct vsig_subject *subject, unsigned n, const char *one, const char *many);

/* Returns the schema column whose values a source's output has. Returns NULL if the output is computed. */
const struct schema_column *vsig_column_at(const struct vsig_subject *subject, const struct sql_source *source,
                                           int output);

/* True if the question contains one of the phrases. The list ends with NULL. Phrases consist of folded words or stems,
 * separated by single spaces. False without a question. */
bool vsig_question_says(const struct vsig_subject *subject, const char *const *phrases);

/* True if the question is about missing values: "unknown", "null", "blank". False without a question. */
bool vsig_question_says_null(const struct vsig_subject *subject);

/* True if a name of two to five letters abbreviates a folded word. A name of two letters must be the start of the word
 * ("op" for "operators"). A longer one must have letters of the word in their order ("appt" for "appointments"). */
bool vsig_abbreviates(const char *name, const char *word);

/* True if the question names the table, not only one of its columns. False without a question. */
bool vsig_question_names_table(const struct vsig_subject *subject, int table);

#endif
