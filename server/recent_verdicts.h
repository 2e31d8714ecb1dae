/* Stores the newest verdicts, which callers can read by id. The total number and size have limits.
 *
 * Thread: any, for all functions.
 */
#ifndef ASSAY_SERVER_RECENT_VERDICTS_H
#define ASSAY_SERVER_RECENT_VERDICTS_H

#include <jansson.h>
#include <stddef.h>

struct recent_verdicts;

/* Makes a store for at most `max` verdicts and max_bytes; the oldest are dropped first. */
struct recent_verdicts *recent_verdicts_new(unsigned max, size_t max_bytes);
void recent_verdicts_free(struct recent_verdicts *verdicts); /* NULL is allowed */

/* Stores a copy. Ignores a verdict larger than max_bytes. */
void recent_verdicts_put(struct recent_verdicts *verdicts, const char *owner, const char *id, const char *json,
                         size_t len);
/* Returns the newest verdict of that owner and id, allocated with malloc. Returns NULL if no such verdict is stored: it
 * is not ready, was already dropped, or has another owner. */
char *recent_verdicts_find(struct recent_verdicts *verdicts, const char *owner, const char *id);
/* Appends the ids of that owner to `ids`, newest first, without duplicates. */
void recent_verdicts_list(struct recent_verdicts *verdicts, const char *owner, json_t *ids);

#endif
