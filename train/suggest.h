/* Words that a team may want to write down (words.yaml, lib/schema/terms.c), found in a log with gold queries: those of
 * questions that no name of the schema explains, and that keep company with one column or one value of the gold. */
#ifndef ASSAY_TRAIN_SUGGEST_H
#define ASSAY_TRAIN_SUGGEST_H

#include "lib/schema/schema.h"

#include <stdio.h>

struct suggest;

/* The caller owes suggest_free. Thread: one at a time. */
struct suggest *suggest_new(void);
void suggest_free(struct suggest *suggest);

/* One line of a log; `evidence` may be NULL. A gold query that does not parse or bind is passed over. */
void suggest_add(struct suggest *suggest, const char *db, const struct schema_index *schema, const char *question,
                 const char *evidence, const char *gold);

/* What is proposed, as words.yaml of each database, the databases and their words in the order of the alphabet. Count of
 * words. Values are those of the log's queries; none is read from a database. */
unsigned suggest_print(const struct suggest *suggest, FILE *out);

#endif
