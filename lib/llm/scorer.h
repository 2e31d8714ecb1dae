/* Remote verifiers: how likely does `premise` entail `hypothesis`, in the eyes of a model that is served elsewhere?
 * The only room that calls a model.
 *
 * A scorer is one endpoint behind one backend:
 *   tei    POST {endpoint}/predict of text-embeddings-inference with a sentence pair; labels and limits from /info
 *   chat   POST {endpoint}/chat/completions with a chat model as judge; the endpoint includes /v1
 * It is shared: any number of threads may ask at the same time. A call blocks its thread until the answer, the deadline
 * or scorer_stop, so it never runs on a poll thread.
 *
 * Premise and question are hostile, and so is every byte of a reply. Whatever the peer does, a call ends by its
 * deadline, within the configured bytes, with a probability in [0, 1] or an error. The class of the error says what to
 * do (lib/base/error.h), the same for all backends:
 *   ERR_UNREACHABLE   retry    no answer: connection, 408/409/429/5xx, breaker open, retries used up
 *   ERR_REMOTE        reject   answered, but not for this input: 400/413/422/424, refusal, cut off
 *   ERR_MALFORMED     reject   answered, but not with what was asked for
 *   ERR_LIMIT_BYTES   reject   premise, hypothesis or reply over its cap
 *   ERR_ENCODING      reject   not UTF-8
 *   ERR_DEADLINE      reject   the caller's deadline
 *   ERR_CANCELLED     reject   scorer_stop
 *   ERR_CONFIG        fatal    401/403/404, a redirect, a certificate that fails, labels that nobody can tell apart
 * A caller that has a verifier of its own uses it on any of these and says so; none of them is a probability of 0.
 *
 * Ownership: a failed scorer_open owes nothing; a scorer owes scorer_close, after the last call has returned. The
 * scorer copies its configuration. All texts are NUL-terminated.
 */
#ifndef ASSAY_LIB_LLM_SCORER_H
#define ASSAY_LIB_LLM_SCORER_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scorer;

/* What to talk to, and how patiently. Fill with scorer_defaults first. */
struct scorer_config {
    const char *backend;  /* "tei", "chat" */
    const char *endpoint; /* base URL, http or https, without query or user; chat: includes /v1 */
    const char *model;    /* chat: its name, required; tei: unused */
    /* The key goes out as a bearer token, is never part of an error, and is wiped on close. At most one of the two;
     * none: no key. A key is refused over plain http to another machine, unless plain_key. */
    const char *key_file;     /* first line of this file */
    const char *key_variable; /* name of an environment variable */
    bool plain_key;
    const char *ca_file; /* certificates to trust instead of the system's; NULL: the system's. TLS is always verified */
    const char *proxy; /* NULL: none, whatever the environment says: data goes only where the configuration sends it */

    const char *entail_label; /* tei: the label that means "entails"; NULL: found by name ("entailment", ...) */
    uint32_t max_tokens;      /* chat: tokens of an answer; reasoning models need room (1,024) */
    /* of a chat model: instructions of one's own, the first line their version; NULL: those of prompts/ that are linked in */
    const char *prompt_file;

    int64_t timeout_ms;         /* one attempt (10,000) */
    uint32_t max_attempts;      /* of one call (3) */
    int64_t backoff_ms;         /* first wait is drawn from [0, this], doubled each time (200) */
    int64_t backoff_cap_ms;     /* longest drawn wait (5,000) */
    int64_t retry_after_max_ms; /* longest Retry-After that a call sits out; longer: ERR_UNREACHABLE (30,000) */
    double retry_share;         /* retries per first attempt in the long run: keeps a brown-out from doubling (0.2) */
    uint32_t breaker_failures;  /* failures in a row that open the breaker (5); 0: no breaker */
    int64_t breaker_open_ms;    /* how long it stays open before one call may try (10,000) */

    size_t max_text_bytes;  /* premise and hypothesis together (262,144) */
    size_t max_reply_bytes; /* body of a reply (1 MiB) */
    uint32_t cache_entries; /* answers remembered, the least recently used go first; 0: none (4,096) */
    uint64_t seed;          /* of the jitter; 0: from the system */
};

/* What is known of an answer, for the verdict's record. Valid after an error too. */
struct scorer_reply {
    const char *backend;           /* static text */
    char model[64];                /* as the server says it served; cut; empty when it does not say */
    char request[33];              /* hex: hash of endpoint, model, prompt and texts: equal requests, equal hash */
    bool cached;                   /* no request was made for it */
    bool logprobs;                 /* chat: P from the token's probabilities, not from the stated confidence */
    uint32_t attempts;             /* HTTP requests made for it, fall-backs and /info included */
    int status;                    /* HTTP status of the last one; 0: none came */
    int64_t latency_ns;            /* from call to return */
    int64_t tokens_in, tokens_out; /* -1: not told */
};

/* Counts since open, for metrics. */
struct scorer_stats {
    uint64_t calls, cached, requests, retries, failures; /* failures: calls without an answer */
    uint64_t breaker_opened, breaker_refused;
    bool breaker_open;
};

struct scorer_config scorer_defaults(void);

/* Check the configuration and make a scorer; nothing is sent yet. ERR_CONFIG says which setting is wrong.
 * Thread: any. */
enum err_code scorer_open(const struct scorer_config *config, struct scorer **out, struct err *err);
void scorer_close(struct scorer *scorer); /* NULL is fine */

/* The same for a chat model that mends queries, whatever `backend` says. It takes scorer_correct, a verifier takes scorer_entails. */
enum err_code scorer_open_corrector(const struct scorer_config *config, struct scorer **out, struct err *err);
/* And for one that polishes explanations; it takes scorer_polish. */
enum err_code scorer_open_polisher(const struct scorer_config *config, struct scorer **out, struct err *err);

/* And for one that fills in a form: `prompt` as a file of instructions, its version on the first line; `schema`, of the answer, which is an
 * object, as JSON. Both are copied. It takes scorer_fill. ERR_CONFIG. */
enum err_code scorer_open_form(const struct scorer_config *config, const char *prompt, const char *schema,
                               struct scorer **out, struct err *err);

/* And for an embedding model; it takes scorer_embed. */
enum err_code scorer_open_embedder(const struct scorer_config *config, struct scorer **out, struct err *err);

/* *p = P(premise entails hypothesis), 0 to 1, not calibrated. `deadline_ns`: on the clock of lib/base/clock.h; the call
 * returns at most some 50 ms after it. `info` and `err` may be NULL. On an error *p is untouched. Thread: any, not the
 * poll thread. */
enum err_code scorer_entails(struct scorer *scorer, const char *premise, const char *hypothesis, int64_t deadline_ns,
                             double *p, struct scorer_reply *info, struct err *err);

/* Ask for a better query. `data`: a JSON object with what prompts/correct.txt speaks of. *sql: malloc'd, not looked at here:
 * whatever the model wrote; NULL on an error. Else as scorer_entails. */
enum err_code scorer_correct(struct scorer *scorer, const char *data, int64_t deadline_ns, char **sql,
                             struct scorer_reply *info, struct err *err);
/* Ask for better English. `data`: a JSON object with what prompts/polish.txt speaks of. *text: as *sql of scorer_correct. */
enum err_code scorer_polish(struct scorer *scorer, const char *data, int64_t deadline_ns, char **text,
                            struct scorer_reply *info, struct err *err);
/* Ask for a form about `data`, a JSON object. *object: the answer as JSON, malloc'd; it has the members that the schema requires, and no
 * more is known of it. Else as *sql of scorer_correct. */
enum err_code scorer_fill(struct scorer *scorer, const char *data, int64_t deadline_ns, char **object,
                          struct scorer_reply *info, struct err *err);
/* Vectors. `texts`: a JSON array of strings, not empty; *vectors: a JSON array of as many arrays of finite numbers, all of one length,
 * malloc'd. Else as *sql of scorer_correct. */
enum err_code scorer_embed(struct scorer *scorer, const char *texts, int64_t deadline_ns, char **vectors,
                           struct scorer_reply *info, struct err *err);
/* Version of a chat model's instructions, "correct/3"; "" where there are none. Thread: any. */
void scorer_prompt_version(const struct scorer *scorer, char *out, size_t room);

/* Every call, running and to come, returns ERR_CANCELLED within some 50 ms. For draining. Thread: any. */
void scorer_stop(struct scorer *scorer);

/* Thread: any. */
void scorer_stats(struct scorer *scorer, struct scorer_stats *out);

/* The names that `backend` takes, in order, with a NULL at the end. Thread: any. */
const char *const *scorer_backends(void);

#endif
