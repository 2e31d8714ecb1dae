/* The newest verdicts that callers may read again by id: a bounded number and size of all together.
 *
 * Thread: any, for all calls. */
#ifndef ASSAY_SERVER_RECENT_VERDICTS_H
#define ASSAY_SERVER_RECENT_VERDICTS_H

#include <jansson.h>
#include <stddef.h>

struct recent_verdicts;

/* At most `max` verdicts and max_bytes; the oldest go first. */
struct recent_verdicts *recent_verdicts_new(unsigned max, size_t max_bytes);
void recent_verdicts_free(struct recent_verdicts *verdicts); /* NULL is fine */

/* Copied. One of more than max_bytes is not kept. */
void recent_verdicts_put(struct recent_verdicts *verdicts, const char *owner, const char *id, const char *json,
                         size_t len);
/* The newest of that owner and id, malloc'd; NULL: not here (not yet, or not any more, or another's). */
char *recent_verdicts_find(struct recent_verdicts *verdicts, const char *owner, const char *id);
/* Appends the ids of that owner to `ids`, newest first, each once. */
void recent_verdicts_list(struct recent_verdicts *verdicts, const char *owner, json_t *ids);

#endif
