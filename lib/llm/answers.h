/* Answers remembered by the hash of their request: bounded, the least recently used goes first. Thread: any. */
#ifndef ASSAY_LIB_LLM_ANSWERS_H
#define ASSAY_LIB_LLM_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

struct answers;

enum { ANSWER_KEY = 32, ANSWER_MODEL = 64 };

struct answer {
    char key[ANSWER_KEY + 1]; /* hex */
    char model[ANSWER_MODEL]; /* as served */
    bool logprobs;
    double p;
};

/* At most `most` answers; 0: none are kept. Never NULL. Owes answers_free. */
struct answers *answers_new(uint32_t most);
void answers_free(struct answers *answers);

/* Copy the answer with this key out; false: not there. */
bool answers_get(struct answers *answers, const char *key, struct answer *out);
void answers_put(struct answers *answers, const struct answer *answer);

#endif
