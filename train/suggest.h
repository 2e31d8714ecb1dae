/* Suggests words for a team's words.yaml (lib/schema/terms.c), from a log with gold queries. A suggested word matches
 * no name in the schema. The gold queries of its questions share one column or one value. */
#ifndef ASSAY_TRAIN_SUGGEST_H
#define ASSAY_TRAIN_SUGGEST_H

#include "lib/schema/schema.h"

#include <stdio.h>

struct suggest;

/* Makes an empty set of counts. Free with suggest_free. Thread: one at a time. */
struct suggest *suggest_new(void);
void suggest_free(struct suggest *suggest);

/* Adds one line of a log; `evidence` may be NULL. A gold query that does not parse or bind is skipped. */
void suggest_add(struct suggest *suggest, const char *db, const struct schema_index *schema, const char *question,
                 const char *evidence, const char *gold);

/* Prints the suggestions as a words.yaml for each database. Databases and words are in alphabetical order. Returns the
 * number of words. Values are those of the log's queries; none is read from a database. */
unsigned suggest_print(const struct suggest *suggest, FILE *out);

#endif
