/* The language models of the family llm: their endpoints, budget and cached replies.
 *
 * One object serves all threads of a process. Each question goes to one endpoint, chosen by weight and question, so
 * equal questions reach the same server. If that endpoint does not reply, the next one is tried. Replies are cached by
 * the hash of all their inputs (model, instructions, question), in memory and, if configured, in Redis. Concurrent
 * identical calls of threads and processes are coalesced. The budget per minute is counted in Redis for the whole
 * fleet, like permits. Without Redis, each process has its share of it.
 *
 * No failure here fails a task. Signals without a reply are unavailable, with a reason ("budget", "unreachable" ...).
 */
#ifndef ASSAY_WORKER_LLM_H
#define ASSAY_WORKER_LLM_H

#include "lib/llm/scorer.h"
#include "signals/support/ask.h"
#include "worker/cache_budget.h"

enum { LLM_MAX_ENDPOINTS = 16 };

struct llm_config {
    struct scorer_config model;   /* settings of every endpoint; its `endpoint` and `prompt_file` are ignored */
    const char *const *endpoints; /* base address including /v1; a prefix "3*" makes the endpoint three times as
                                   * frequent */
    uint32_t n_endpoints;
    const char *prompts;        /* folder with custom instructions (ask_prompt); may be NULL */
    bool single;                /* true: one call for each signal; false: one call for all signals */
    uint32_t entries;           /* maximum replies cached in memory; 0: 4,096 */
    int64_t ttl_ms;             /* lifetime of these replies; 0: a day */
    double price_in, price_out; /* price of a million tokens, in any currency; 0: cost is not counted */
    struct budget_config budget;
};

/* The cost of a candidate. */
struct llm_usage {
    uint32_t calls, cached; /* calls made; replies taken from a cache */
    uint64_t tokens_in, tokens_out;
    double cost;
};

/* A reply for the family's signals. */
struct llm_answer {
    struct vsig_reply reply;
    json_t *parts[ASK_COUNT]; /* JSON values that this struct owns, and to which `reply` points */
    struct llm_usage usage;
    char source[160]; /* name of the model, and versions of its instructions */
};

struct llm;

/* Creates the models. `config` is copied, except for the Redis strings of its budget. Sends nothing. Returns
 * ERR_CONFIG. */
enum err_code llm_open(const struct llm_config *config, struct llm **out, struct err *err);
/* Frees the models. The last call must have ended. NULL is allowed. */
void llm_close(struct llm *llm);
/* Ends running calls within about 50 ms, without a reply. Thread: any. */
void llm_stop(struct llm *llm);

/* Calls a model about a candidate. `data` is the JSON object described in prompts/signals.txt. `deadline_ns` is on
 * clock_now_ns; 0 means no deadline. Free the answer with llm_answer_clear. Blocks. Thread: any. */
void llm_ask(struct llm *llm, const char *data, int64_t deadline_ns, struct llm_answer *out);
void llm_answer_clear(struct llm_answer *answer);

/* X(counter, meaning) */
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
/* Returns the counts since llm_open. Thread: any. */
void llm_get_stats(struct llm *llm, struct llm_stats *out);

#endif
