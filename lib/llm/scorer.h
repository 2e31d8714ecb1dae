/* Calls remote models. The main use is a verifier, which estimates the probability that `premise` entails `hypothesis`.
 * Only lib/llm calls models.
 *
 * A scorer calls one endpoint with one of these protocols (backends):
 * - tei: POST {endpoint}/predict of text-embeddings-inference, with a sentence pair; /info lists the labels
 * - chat: POST {endpoint}/chat/completions, with a chat model as judge; the endpoint includes /v1
 *
 * Any number of threads may call a scorer at the same time. A call blocks its thread until the answer, the deadline or
 * scorer_stop, so poll threads must not make calls.
 *
 * The premise, the question and every byte of a reply are untrusted. Whatever the peer does, a call ends by its
 * deadline and reads at most the configured bytes. It returns a probability in [0, 1] or an error. All backends have
 * the same errors; the class of an error determines the reaction (lib/base/error.h):
 * - ERR_UNREACHABLE (retry): connection failed, status 408/409/429/5xx, circuit open, or no retries left
 * - ERR_REMOTE (reject): the peer rejected this input: status 400/413/422/424, a refusal, or a truncated answer
 * - ERR_MALFORMED (reject): the answer does not have the requested content
 * - ERR_LIMIT_BYTES (reject): the premise, the hypothesis or the reply is larger than its limit
 * - ERR_ENCODING (reject): the premise or the hypothesis is not UTF-8
 * - ERR_DEADLINE (reject): the caller's deadline passed
 * - ERR_CANCELLED (reject): scorer_stop was called
 * - ERR_CONFIG (fatal): status 401/403/404, a redirect, an untrusted certificate, or ambiguous labels
 *
 * On any of these errors a caller that has a local verifier uses it, and reports that it did. An error never counts as
 * a probability of 0.
 *
 * Ownership: a failed scorer_open leaves nothing to free. Close a scorer with scorer_close after the last call has
 * returned. The scorer copies its configuration. All texts are NUL-terminated.
 */
#ifndef ASSAY_LIB_LLM_SCORER_H
#define ASSAY_LIB_LLM_SCORER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scorer;

/* Configuration of a scorer. Initialise it with scorer_defaults, whose values are in parentheses. */
struct scorer_config {
    const char *backend;  /* "tei" or "chat" */
    const char *endpoint; /* base URL, http or https, without user name and query; for chat with /v1 */
    const char *model;    /* chat: name of the model, required; tei: unused */
    /* Source of the key; set at most one of the two. The key is sent as a bearer token, never appears in an error, and
     * is wiped on close. Plain http to another machine is refused if there is a key, unless plain_key is set. */
    const char *key_file;     /* the key is the first line of this file */
    const char *key_variable; /* the key is the value of this environment variable */
    bool plain_key;
    const char *ca_file; /* trusted certificates; NULL means those of the system */
    const char *proxy;   /* NULL means no proxy; proxies named by environment variables are ignored */

    const char *entail_label; /* tei: label that means "entails"; NULL selects the label that begins with "entail" */
    uint32_t max_tokens;      /* chat: maximum tokens of an answer, including reasoning (1,024) */
    /* chat: file of the user's own instructions, with a version on the first line. NULL selects the instructions in
     * prompts/, which are linked in. */
    const char *prompt_file;

    int64_t timeout_ms;         /* timeout of one attempt (10,000) */
    uint32_t max_attempts;      /* maximum attempts of one call (3) */
    int64_t backoff_ms;         /* first wait: random in [0, backoff_ms]; the range doubles with each retry (200) */
    int64_t backoff_cap_ms;     /* largest upper end of that range (5,000) */
    int64_t retry_after_max_ms; /* longest Retry-After to wait for; a longer one is ERR_UNREACHABLE (30,000) */
    double retry_share;         /* average retries per call; limits the additional load on a degraded server (0.2) */
    uint32_t breaker_failures;  /* consecutive failures that open the breaker; 0 disables it (5) */
    int64_t breaker_open_ms;    /* time that the breaker stays open before it admits one attempt (10,000) */

    size_t max_text_bytes;  /* maximum size of premise and hypothesis together (262,144) */
    size_t max_reply_bytes; /* maximum size of a reply's body (1 MiB) */
    uint32_t cache_entries; /* maximum number of cached answers; 0 disables the cache (4,096) */
    uint64_t seed;          /* seed of the random waits; 0 takes a seed from the system */
};

/* Metadata of a call, recorded with the verdict. Also valid after an error. */
struct scorer_reply {
    const char *backend;           /* name of the backend; static */
    char model[64];                /* name reported by the server, truncated; empty if it reports none */
    char request[33];              /* hash of endpoint, model, prompt and texts, in hex; equal for equal requests */
    bool cached;                   /* the answer came from the cache, without a request */
    bool logprobs;                 /* chat: P comes from token probabilities, not from the stated confidence */
    uint32_t attempts;             /* HTTP requests of the call, including those to /info and those in a relaxed form */
    int status;                    /* last HTTP status received; 0 if none was */
    int64_t latency_ns;            /* duration of the call */
    int64_t tokens_in, tokens_out; /* as reported by the server; -1 if not reported */
};

/* Counts since scorer_open, for metrics. */
struct scorer_stats {
    uint64_t calls, cached, requests, retries, failures; /* failures: calls that returned an error */
    uint64_t breaker_opened, breaker_refused;
    bool breaker_open;
};

struct scorer_config scorer_defaults(void);

/* Validates the configuration and creates a scorer; sends nothing. Returns ERR_CONFIG, naming the invalid setting.
 * Thread: any. */
enum err_code scorer_open(const struct scorer_config *config, struct scorer **out, struct err *err);
void scorer_close(struct scorer *scorer); /* may be NULL */

/* Creates a scorer for a chat model that corrects queries. Ignores config->backend. Call only scorer_correct with it.
 */
enum err_code scorer_open_corrector(const struct scorer_config *config, struct scorer **out, struct err *err);
/* Creates a scorer for a chat model that polishes explanations. Ignores config->backend. Call only scorer_polish with
 * it. */
enum err_code scorer_open_polisher(const struct scorer_config *config, struct scorer **out, struct err *err);

/* Creates a scorer for a chat model that fills in a form. `prompt` holds the instructions, with their version on the
 * first line. `schema` is the JSON schema of the answer, which is an object. Both are copied. Call only scorer_fill
 * with the scorer. Error: ERR_CONFIG. */
enum err_code scorer_open_form(const struct scorer_config *config, const char *prompt, const char *schema,
                               struct scorer **out, struct err *err);

/* Creates a scorer for an embedding model. Call only scorer_embed with it. */
enum err_code scorer_open_embedder(const struct scorer_config *config, struct scorer **out, struct err *err);

/* Sets *p to P(premise entails hypothesis), from 0 to 1 and not calibrated. Leaves *p unchanged on an error.
 * `deadline_ns` is a time of clock_now_ns; the call returns at most about 50 ms after it. `info` and `err` may be NULL.
 * Thread: any except poll threads. */
enum err_code scorer_entails(struct scorer *scorer, const char *premise, const char *hypothesis, int64_t deadline_ns,
                             double *p, struct scorer_reply *info, struct err *err);

/* Requests a corrected query. `data` is a JSON object as described in prompts/correct.txt. Sets *sql to the text of the
 * model, which is not validated; free it with free(). Sets *sql to NULL on an error. Otherwise like scorer_entails. */
enum err_code scorer_correct(struct scorer *scorer, const char *data, int64_t deadline_ns, char **sql,
                             struct scorer_reply *info, struct err *err);
/* Requests an explanation in better English. `data` is a JSON object as described in prompts/polish.txt. *text is like
 * *sql of scorer_correct. */
enum err_code scorer_polish(struct scorer *scorer, const char *data, int64_t deadline_ns, char **text,
                            struct scorer_reply *info, struct err *err);
/* Requests a filled-in form. `data`, the input of the form, is a JSON object. Sets *object to the answer, a JSON
 * object; free it with free(). Checks only that it has the members that the schema requires. Otherwise like
 * scorer_correct. */
enum err_code scorer_fill(struct scorer *scorer, const char *data, int64_t deadline_ns, char **object,
                          struct scorer_reply *info, struct err *err);
/* Requests embedding vectors. `texts` is a non-empty JSON array of strings. Sets *vectors to a JSON array with one
 * vector for each text; free it with free(). A vector is an array of finite numbers; all vectors have the same length.
 * Otherwise like scorer_correct. */
enum err_code scorer_embed(struct scorer *scorer, const char *texts, int64_t deadline_ns, char **vectors,
                           struct scorer_reply *info, struct err *err);
/* Writes the version of a chat model's instructions, such as "correct/3", or "" for other backends. Thread: any. */
void scorer_prompt_version(const struct scorer *scorer, char *out, size_t room);

/* Makes all current and later calls return ERR_CANCELLED within about 50 ms. Used on shutdown. Thread: any. */
void scorer_stop(struct scorer *scorer);

/* Copies the counts to *out. Thread: any. */
void scorer_stats(struct scorer *scorer, struct scorer_stats *out);

/* Returns the valid values of scorer_config.backend, ending with NULL. Thread: any. */
const char *const *scorer_backends(void);

#endif
