/* The interface of a backend, and the functions that a backend may use. Only for files of lib/llm. */
#ifndef ASSAY_LIB_LLM_SCORER_INT_H
#define ASSAY_LIB_LLM_SCORER_INT_H

#include "lib/llm/answers.h"
#include "lib/llm/http.h"
#include "lib/llm/retry_policy.h"
#include "lib/llm/scorer.h"

#include <glib.h>
#include <jansson.h>
#include <pthread.h>

/* One call in progress, on the caller's stack. */
struct call {
    struct scorer *scorer;
    const char *premise, *hypothesis;
    int64_t deadline_ns;
    struct scorer_reply *info; /* never NULL */
    struct err *err;           /* never NULL */
    char *text;                /* answer of the model if it is a text; owned by the call */
    bool admitted;             /* the breaker admitted an attempt whose outcome has not been reported yet */
};

/* A task of a chat model: its instructions, input and answer. chat.c implements the protocol for all tasks. */
struct chat_task {
    const char *(*prompt)(const struct scorer *scorer); /* returns the instructions */
    json_t *(*data)(const struct call *);   /* returns the user message, a JSON object, or NULL if out of memory */
    json_t *(*schema)(const struct call *); /* returns the schema of the answer, for response_format */
    /* Reads the answer from `content`. Returns false if it does not have the requested form. */
    bool (*read)(struct call *call, const json_t *choice, const char *content, double *p);
    bool logprobs;            /* the request asks for log probabilities */
    const char *instructions; /* linked-in instructions, with their version on the first line */
};

/* A backend implements one protocol. To add a backend, write a file that defines this table, and add a row in scorer.c.
 */
struct scorer_backend {
    const char *name;
    /* Checks settings that only this backend requires. May be NULL. */
    enum err_code (*check)(const struct scorer_config *config, struct err *err);
    /* Creates the backend's state, which all calls of a scorer share. Never returns NULL. */
    void *(*open)(void);
    void (*close)(void *state);
    /* Makes a call. Sends requests only through call_exchange. Sets *p; the caller checks that it is in [0, 1]. */
    enum err_code (*ask)(struct call *call, double *p);
    const struct chat_task *chat; /* task of a chat model; NULL for other backends */
    bool texts;                   /* answers are texts (call.text), which are not cached */
};

extern const struct scorer_backend scorer_tei, scorer_chat, scorer_correct_backend, scorer_polish_backend,
    scorer_object_backend, scorer_embed_backend;
extern const struct chat_task chat_judge, chat_correct, chat_polish, chat_object;

/* Functions shared by chat tasks:
 * - chat_own_prompt returns the instructions without their version: those of the user, otherwise the linked-in ones.
 * - chat_own_data returns the call's premise, which is JSON.
 * - chat_read_text stores the text `member` of the first JSON object in `content` that has it. */
const char *chat_own_prompt(const struct scorer *scorer);
json_t *chat_own_data(const struct call *call);
bool chat_read_text(struct call *call, const char *content, const char *member, double *p);

/* Runs the chat task of the call's backend. Relaxes the form of the request step by step until the server accepts it
 * (chat.c). */
enum err_code chat_ask(struct call *call, double *p);
void *chat_open(void);
void chat_close(void *state);
enum err_code chat_check(const struct scorer_config *config, struct err *err);

struct scorer {
    const struct scorer_backend *backend;
    void *state;                 /* state of the backend */
    struct scorer_config config; /* owns its texts; those needed only on opening are NULL */
    char *prompt; /* instructions of the user or the form, with version; NULL selects the linked-in ones */
    char *schema; /* JSON schema of a form; NULL for other tasks */
    struct http *http;
    struct retry_policy policy;
    struct answers *answers;
    pthread_mutex_t lock; /* protects the members below */
    pthread_cond_t woken; /* signalled by scorer_stop */
    bool stopped;
    struct scorer_stats stats;
};

/* Sends a request, and retries it after temporary errors within the limits of the retry policy and the deadline.
 * Returns ERR_OK for status 200; *reply then has the body. After ERR_REMOTE *reply has the body too, for diagnosis. The
 * caller must always call http_reply_clear. */
enum err_code call_exchange(struct call *call, const char *path, const char *body, struct http_reply *reply);

/* Read replies. They send nothing, so that a fuzzer can call them with any bytes. `reply` must have a body.
 * - tei_learn reads a reply of /info and stores its labels in the scorer.
 * - tei_read reads a reply of /predict, using these labels.
 * - chat_read reads a chat completion. Sets *formless to true if the completion has text, but not in the requested
 *   form. */
enum err_code tei_learn(struct call *call, const struct http_reply *reply);
enum err_code tei_read(struct call *call, const struct http_reply *reply, double *p);
enum err_code chat_read(struct call *call, const struct http_reply *reply, double *p, bool *formless);

#endif
