/* What language models said, by the hash of what they were asked: in memory and, where there is one, in Redis for the whole fleet.
 *
 * Of those who ask the same at the same time one asks the model: replies_find says whether the answer is known, or is to be asked for; the others
 * wait for what comes of it. In Redis `<prefix>:llm:<hash>` holds the answer and `<prefix>:llm:<hash>:asked` the lease of the process that asks; one
 * that dies holds the others up for as long as its lease. Redis down: each process asks for itself.
 */
#ifndef ASSAY_WORKER_CACHE_REPLIES_H
#define ASSAY_WORKER_CACHE_REPLIES_H

#include "worker/cache.h"

enum { REPLIES_KEY = 64 }; /* hexadecimal digits of a hash */

struct replies_config {
    struct cache_config redis; /* no address: memory only */
    uint32_t entries;          /* in memory; 0: 4,096 */
    int64_t ttl_ms;            /* 0: a day */
    int64_t lease_ms;          /* 0: 30,000 */
};

enum replies_found {
    REPLIES_TO_ASK, /* replies_put follows, whatever becomes of it */
    REPLIES_HERE,   /* it was in this process's memory */
    REPLIES_SHARED  /* Redis had it, or somebody who asked the same heard it */
};

struct replies;

/* `config` is copied, the strings of redis too. ERR_CONFIG as cache_open. */
enum err_code replies_open(const struct replies_config *config, struct replies **out, struct err *err);
void replies_close(struct replies *replies); /* NULL is fine */

/* The answer in *text, malloc'd, unless it is to be asked for. Waits for somebody who asks the same until clock_now_ns reaches until_ns; then it
 * is to be asked for here. Thread: any. */
enum replies_found replies_find(struct replies *replies, const char *key, int64_t until_ns, char **text);
/* What the model said; NULL: nothing, and whoever waits asks for himself. Thread: any. */
void replies_put(struct replies *replies, const char *key, const char *text);

#endif
