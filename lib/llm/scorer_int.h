/* The interface of a backend, and the functions that it may use. Inside lib/llm only. */
#ifndef ASSAY_LIB_LLM_SCORER_INT_H
#define ASSAY_LIB_LLM_SCORER_INT_H

#include "lib/llm/answers.h"
#include "lib/llm/http.h"
#include "lib/llm/retry_policy.h"
#include "lib/llm/scorer.h"

#include <glib.h>
#include <jansson.h>
#include <pthread.h>

/* One call in progress. Lives on the caller's stack. */
struct call {
    struct scorer *scorer;
    const char *premise, *hypothesis;
    int64_t deadline_ns;
    struct scorer_reply *info; /* never NULL */
    struct err *err;           /* never NULL */
    char *text;                /* text answer of the model; owned by the call */
    bool admitted;             /* the breaker admitted an attempt and its outcome is not yet reported */
};

/* A task of a chat model, independent of the access to it (chat.c). */
struct chat_task {
    const char *(*prompt)(const struct scorer *scorer); /* the instructions */
    json_t *(*data)(const struct call *);               /* the user's message: one JSON object; NULL if out of memory */
    json_t *(*schema)(const struct call *);             /* schema of the answer, in the form of response_format */
    /* Reads the content as an answer. Returns false if it does not have the requested form. */
    bool (*read)(struct call *call, const json_t *choice, const char *content, double *p);
    bool logprobs;            /* true if log probabilities are used */
    const char *instructions; /* linked in, with the version on the first line */
};

/* A backend implements one protocol. To add one: write a file that ends with this table, and a row in scorer.c. */
struct scorer_backend {
    const char *name;
    /* Checks the configuration for this backend. NULL if it has no requirements of its own. */
    enum err_code (*check)(const struct scorer_config *config, struct err *err);
    /* Creates the backend's state for its endpoint, shared by all calls. Never NULL. */
    void *(*open)(void);
    void (*close)(void *state);
    /* Makes one request, only through call_exchange. On ERR_OK *p is finite and in [0, 1]. */
    enum err_code (*ask)(struct call *call, double *p);
    const struct chat_task *chat; /* of a chat model's backend; otherwise NULL */
    bool texts;                   /* its answers are texts (call.text) and are not cached */
};

extern const struct scorer_backend scorer_tei, scorer_chat, scorer_correct_backend, scorer_polish_backend,
    scorer_object_backend, scorer_embed_backend;
extern const struct chat_task chat_judge, chat_correct, chat_polish, chat_object;

/* Parts of a chat_task with one text as answer:
 * - chat_own_prompt returns the instructions without their version: a user's own, otherwise the linked ones.
 * - chat_own_data returns the call's premise, which is JSON.
 * - chat_read_text reads the first object of the content with a text under `member`.
 */
const char *chat_own_prompt(const struct scorer *scorer);
json_t *chat_own_data(const struct call *call);
bool chat_read_text(struct call *call, const char *content, const char *member, double *p);

/* Requests the task of the call's backend. Relaxes the shape of the request step by step until the server accepts it
 * (chat.c). */
enum err_code chat_ask(struct call *call, double *p);
void *chat_open(void);
void chat_close(void *state);
enum err_code chat_check(const struct scorer_config *config, struct err *err);

struct scorer {
    const struct scorer_backend *backend;
    void *state;                 /* the backend's */
    struct scorer_config config; /* texts are owned; key_file, key_variable and proxy are not stored */
    char *prompt;                /* of config.prompt_file or a form, whole; NULL if the linked one is used */
    char *schema;                /* JSON schema of a form; NULL if the task has its own */
    struct http *http;
    struct retry_policy policy;
    struct answers *answers;
    pthread_mutex_t lock; /* of the members below */
    pthread_cond_t woken; /* signalled by scorer_stop */
    bool stopped;
    struct scorer_stats stats;
};

/* Sends a request, and retries while the error may be temporary. Respects waits, budget, breaker and deadline. ERR_OK:
 * status 200, and *reply has the body. After ERR_REMOTE *reply has the body too, for diagnosis. The caller must always
 * call http_reply_clear. */
enum err_code call_exchange(struct call *call, const char *path, const char *body, struct http_reply *reply);

/* Read replies. They are separate from sending, so that a fuzzer can supply any bytes. `reply` must have a body.
 * - tei_learn stores the contents of /info in the scorer.
 * - tei_read reads an answer, using those contents.
 * - chat_read reads a completion; *formless is set if it has text but not the requested form.
 */
enum err_code tei_learn(struct call *call, const struct http_reply *reply);
enum err_code tei_read(struct call *call, const struct http_reply *reply, double *p);
enum err_code chat_read(struct call *call, const struct http_reply *reply, double *p, bool *formless);

#endif
