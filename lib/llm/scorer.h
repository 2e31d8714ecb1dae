/* Remote models. A verifier estimates how likely it is that `premise` entails `hypothesis`. Only lib/llm calls models.
 *
 * A scorer is one endpoint behind one backend:
 * - tei: POST {endpoint}/predict of text-embeddings-inference with a sentence pair; labels and limits from /info
 * - chat: POST {endpoint}/chat/completions with a chat model as judge; the endpoint includes /v1
 *
 * A scorer is shared: any number of threads may call it at the same time. A call blocks its thread until the answer,
 * the deadline or scorer_stop, so it must not run on a poll thread.
 *
 * Premise and question are untrusted, and so is every byte of a reply. Whatever the peer does, a call ends by its
 * deadline, within the configured bytes, with a probability in [0, 1] or an error. The errors are the same for all
 * backends; their class determines the reaction (lib/base/error.h):
 * - ERR_UNREACHABLE (retry): no answer: connection, 408/409/429/5xx, circuit open, retries used up
 * - ERR_REMOTE (reject): an answer, but not for this input: 400/413/422/424, refusal, cut off
 * - ERR_MALFORMED (reject): an answer without the requested content
 * - ERR_LIMIT_BYTES (reject): premise, hypothesis or reply over its cap
 * - ERR_ENCODING (reject): not UTF-8
 * - ERR_DEADLINE (reject): the caller's deadline
 * - ERR_CANCELLED (reject): scorer_stop
 * - ERR_CONFIG (fatal): 401/403/404, a redirect, an untrusted certificate, ambiguous labels
 *
 * On any of these errors, a caller with a local verifier uses that verifier and reports this. No error counts as a
 * probability of 0.
 *
 * Ownership: after a failed scorer_open there is nothing to free. Close a scorer with scorer_close, after the last call
 * has returned. The scorer copies its configuration. All texts are NUL-terminated.
 */
#ifndef ASSAY_LIB_LLM_SCORER_H
#define ASSAY_LIB_LLM_SCORER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scorer;

/* Configuration of the endpoint, the retries and the bounds. Fill with scorer_defaults first. */
struct scorer_config {
    const char *backend;  /* "tei", "chat" */
    const char *endpoint; /* base URL, http or https, without query or user; chat: includes /v1 */
    const char *model;    /* chat: its name, required; tei: unused */
    /* The key is sent as a bearer token, never appears in an error, and is wiped on close. Set at most one of the two;
     * with neither there is no key. A key is refused over plain http to another machine, unless plain_key is set. */
    const char *key_file;     /* first line of this file */
    const char *key_variable; /* name of an environment variable */
    bool plain_key;
    const char *ca_file; /* trusted certificates; NULL means the system's. TLS is always verified */
    const char *proxy;   /* NULL uses no proxy, also if the environment names one: data goes only where the
                          * configuration sends it */

    const char *entail_label; /* tei: the label that means "entails"; NULL finds it by name ("entailment", ...) */
    uint32_t max_tokens;      /* chat: tokens of an answer; reasoning models need room (1,024) */
    /* Own instructions of a chat model, with their version on the first line; NULL uses the linked ones of prompts/. */
    const char *prompt_file;

    int64_t timeout_ms;         /* one attempt (10,000) */
    uint32_t max_attempts;      /* of one call (3) */
    int64_t backoff_ms;         /* first wait: random in [0, this], doubled each time (200) */
    int64_t backoff_cap_ms;     /* upper bound of that range (5,000) */
    int64_t retry_after_max_ms; /* longest Retry-After that a call waits for; longer ones are ERR_UNREACHABLE
                                 * (30,000) */
    double retry_share; /* retries per first attempt in the long run: keeps a degraded server from receiving double
                         * load (0.2) */
    uint32_t breaker_failures; /* failures in a row that open the breaker (5); 0 disables it */
    int64_t breaker_open_ms;   /* how long it stays open before one call is admitted (10,000) */

    size_t max_text_bytes;  /* premise and hypothesis together (262,144) */
    size_t max_reply_bytes; /* body of a reply (1 MiB) */
    uint32_t cache_entries; /* cached answers, with least-recently-used eviction; 0 disables the cache (4,096) */
    uint64_t seed;          /* of the jitter; 0 takes one from the system */
};

/* Metadata of an answer, for the record of the verdict. Valid after an error too. */
struct scorer_reply {
    const char *backend;           /* static text */
    char model[64];                /* as reported by the server; cut; empty if it is not reported */
    char request[33];              /* hex: hash of endpoint, model, prompt and texts: equal requests, equal hash */
    bool cached;                   /* no request was made for it */
    bool logprobs;                 /* chat: P from the token's probabilities, not from the stated confidence */
    uint32_t attempts;             /* HTTP requests made for it, including fall-backs and /info */
    int status;                    /* HTTP status of the last one; 0 if none arrived */
    int64_t latency_ns;            /* from call to return */
    int64_t tokens_in, tokens_out; /* -1 if not reported */
};

/* Counts since open, for metrics. */
struct scorer_stats {
    uint64_t calls, cached, requests, retries, failures; /* failures: calls without an answer */
    uint64_t breaker_opened, breaker_refused;
    bool breaker_open;
};

struct scorer_config scorer_defaults(void);

/* Checks the configuration and creates a scorer; sends nothing yet. ERR_CONFIG names the invalid setting. Thread: any.
 */
enum err_code scorer_open(const struct scorer_config *config, struct scorer **out, struct err *err);
void scorer_close(struct scorer *scorer); /* NULL is fine */

/* Creates a scorer for a chat model that corrects queries, whatever `backend` says. Use it with scorer_correct; use a
 * verifier with scorer_entails. */
enum err_code scorer_open_corrector(const struct scorer_config *config, struct scorer **out, struct err *err);
/* Creates a scorer for a chat model that polishes explanations. Use it with scorer_polish. */
enum err_code scorer_open_polisher(const struct scorer_config *config, struct scorer **out, struct err *err);

/* Creates a scorer for a chat model that fills in a form. `prompt` has the version of the instructions on its first
 * line. `schema` is the JSON schema of the answer, an object. Both are copied. Use it with scorer_fill. ERR_CONFIG. */
enum err_code scorer_open_form(const struct scorer_config *config, const char *prompt, const char *schema,
                               struct scorer **out, struct err *err);

/* Creates a scorer for an embedding model. Use it with scorer_embed. */
enum err_code scorer_open_embedder(const struct scorer_config *config, struct scorer **out, struct err *err);

/* Computes *p = P(premise entails hypothesis), 0 to 1, not calibrated. `deadline_ns` is on the clock of
 * lib/base/clock.h; the call returns at most about 50 ms after it. `info` and `err` may be NULL. On an error *p is
 * unchanged. Thread: any except the poll thread. */
enum err_code scorer_entails(struct scorer *scorer, const char *premise, const char *hypothesis, int64_t deadline_ns,
                             double *p, struct scorer_reply *info, struct err *err);

/* Requests a corrected query. `data` is a JSON object as described in prompts/correct.txt. *sql is the text of the
 * model, unchecked and malloc'd; NULL on an error. Otherwise like scorer_entails. */
enum err_code scorer_correct(struct scorer *scorer, const char *data, int64_t deadline_ns, char **sql,
                             struct scorer_reply *info, struct err *err);
/* Requests better English. `data` is a JSON object as described in prompts/polish.txt. *text is like *sql of
 * scorer_correct. */
enum err_code scorer_polish(struct scorer *scorer, const char *data, int64_t deadline_ns, char **text,
                            struct scorer_reply *info, struct err *err);
/* Requests a form about `data`, a JSON object. *object is the answer as JSON, malloc'd. It has the members that the
 * schema requires; nothing else is checked. Otherwise like scorer_correct. */
enum err_code scorer_fill(struct scorer *scorer, const char *data, int64_t deadline_ns, char **object,
                          struct scorer_reply *info, struct err *err);
/* Requests vectors. `texts` is a non-empty JSON array of strings. *vectors is a JSON array of as many arrays of finite
 * numbers, all of one length, malloc'd. Otherwise like scorer_correct. */
enum err_code scorer_embed(struct scorer *scorer, const char *texts, int64_t deadline_ns, char **vectors,
                           struct scorer_reply *info, struct err *err);
/* Writes the version of a chat model's instructions, "correct/3", or "" if there are none. Thread: any. */
void scorer_prompt_version(const struct scorer *scorer, char *out, size_t room);

/* Makes every call, current or later, return ERR_CANCELLED within about 50 ms. For draining. Thread: any. */
void scorer_stop(struct scorer *scorer);

/* Copies the counts. Thread: any. */
void scorer_stats(struct scorer *scorer, struct scorer_stats *out);

/* Returns the valid names of `backend`, in order, ending with NULL. Thread: any. */
const char *const *scorer_backends(void);

#endif
