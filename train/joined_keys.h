/* Finds references between columns that a schema does not declare, from the joins of queries that people ran. */
#ifndef ASSAY_TRAIN_JOINED_KEYS_H
#define ASSAY_TRAIN_JOINED_KEYS_H

#include "lib/schema/schema.h"

#include <stdio.h>

struct joined_keys;

/* Makes an empty set of counts. Free with joined_keys_free. Thread: one at a time. */
struct joined_keys *joined_keys_new(void);
void joined_keys_free(struct joined_keys *learn);

/* Counts the joins of one query. Ignores a query that was counted before. Returns false if the query does not parse or
 * bind. */
bool joined_keys_add(struct joined_keys *learn, const char *db, const struct schema_index *schema, const char *sql);

/* Prints the references as the section `keys` of words.yaml (lib/schema/keys.c), for each database, in alphabetical
 * order. A reference is printed if at least three queries join on it. Returns the number of references. */
unsigned joined_keys_print(const struct joined_keys *learn, FILE *out);

#endif
