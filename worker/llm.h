/* The language models that the family llm asks: where they are, what may be spent on them, and what they said before.
 *
 * One for all threads of a process. A question goes to one endpoint, chosen by its weight and the question, so that equal questions meet the same
 * server; one that does not answer is passed over for the next. Answers are remembered by the hash of all that makes them (model, instructions,
 * question), in memory and, where there is one, in Redis; of threads and processes that ask the same at the same time one asks, and the others
 * wait for what it hears. What may be spent in a minute is counted in Redis for the whole fleet, as permits are, else each process has its share.
 *
 * Nothing here can fail a task: signals without an answer are unavailable, and the reason says why ("budget", "unreachable" ...).
 */
#ifndef ASSAY_WORKER_LLM_H
#define ASSAY_WORKER_LLM_H

#include "lib/llm/scorer.h"
#include "signals/support/ask.h"
#include "worker/cache_budget.h"

enum { LLM_MAX_ENDPOINTS = 16 };

struct llm_config {
    struct scorer_config model; /* of every endpoint: its own `endpoint` and `prompt_file` are not used */
    const char *const
        *endpoints; /* base address with its /v1, or "3*" and that: asked three times as often as one without */
    uint32_t n_endpoints;
    const char *prompts;        /* folder with instructions of one's own (ask_prompt); NULL */
    bool single;                /* a call for each signal; else one for all of them */
    uint32_t entries;           /* answers remembered in memory; 0: 4,096 */
    int64_t ttl_ms;             /* for so long; 0: a day */
    double price_in, price_out; /* of a million tokens, in any currency; 0: not counted */
    struct budget_config budget;
};

/* What a candidate cost. */
struct llm_usage {
    uint32_t calls, cached; /* requests that were sent; answers that were known */
    uint64_t tokens_in, tokens_out;
    double cost;
};

/* An answer for the run of the family's signals. */
struct llm_answer {
    struct vsig_reply reply;
    json_t *parts[ASK_COUNT]; /* owned; the reply points to them */
    struct llm_usage usage;
    char source[160]; /* the model, and the versions of its instructions */
};

struct llm;

/* `config` is copied, but not its budget's Redis strings. Sends nothing. ERR_CONFIG. */
enum err_code llm_open(const struct llm_config *config, struct llm **out, struct err *err);
/* NULL is fine. After the last call. */
void llm_close(struct llm *llm);
/* Calls that run end within some 50 ms, without an answer. Thread: any. */
void llm_stop(struct llm *llm);

/* Ask about a candidate. `data`: the JSON object that prompts/signals.txt speaks of; `deadline_ns` on clock_now_ns's clock, 0: none. The caller owes
 * llm_answer_clear. Blocks. Thread: any. */
void llm_ask(struct llm *llm, const char *data, int64_t deadline_ns, struct llm_answer *out);
void llm_answer_clear(struct llm_answer *answer);

/* counter, what it counts */
#define LLM_COUNTERS(X)                                                                                                \
    X(calls, "requests to language models that were answered or failed")                                               \
    X(failures, "requests to language models that failed")                                                             \
    X(remembered, "questions answered from this process's cache")                                                      \
    X(shared, "questions answered from Redis, or by an identical call of another thread or process")                   \
    X(refused, "questions not asked because the budget was used up")
struct llm_stats {
#define X(name, help) uint64_t name;
    LLM_COUNTERS(X)
#undef X
    uint64_t tokens_in, tokens_out;
    double cost;
};
/* Counts since open. Thread: any. */
void llm_get_stats(struct llm *llm, struct llm_stats *out);

#endif
