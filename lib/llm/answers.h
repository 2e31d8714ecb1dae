/* A cache of answers. The key is a hash of the request. When the cache is full, it evicts the least recently used
 * answer. Thread: any. */
#ifndef ASSAY_LIB_LLM_ANSWERS_H
#define ASSAY_LIB_LLM_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

struct answers;

enum { ANSWER_KEY = 32, ANSWER_MODEL = 64 };

struct answer {
    char key[ANSWER_KEY + 1]; /* hash of the request, in hex */
    char model[ANSWER_MODEL]; /* name reported by the server */
    bool logprobs;
    double p;
};

/* Creates a cache of at most `most` answers; 0 disables it. Never returns NULL. Free with answers_free. */
struct answers *answers_new(uint32_t most);
void answers_free(struct answers *answers);

/* Copies the answer with this key to *out. Returns false if there is none. */
bool answers_get(struct answers *answers, const char *key, struct answer *out);
void answers_put(struct answers *answers, const struct answer *answer);

#endif
