/* What a backend is, and what it may use. Inside lib/llm only. */
#ifndef ASSAY_LIB_LLM_SCORER_INT_H
#define ASSAY_LIB_LLM_SCORER_INT_H

#include "lib/llm/answers.h"
#include "lib/llm/http.h"
#include "lib/llm/retry_policy.h"
#include "lib/llm/scorer.h"

#include <glib.h>
#include <jansson.h>
#include <pthread.h>

/* One question on its way. Lives on the caller's stack. */
struct call {
    struct scorer *scorer;
    const char *premise, *hypothesis;
    int64_t deadline_ns;
    struct scorer_reply *info; /* never NULL */
    struct err *err;           /* never NULL */
    char *text;                /* what a backend of texts was told; owned by the call */
    bool admitted;             /* the breaker let an attempt through and has not been told yet how it went */
};

/* What a chat model is asked for, apart from how it is reached (chat.c). */
struct chat_task {
    const char *(*prompt)(const struct scorer *scorer); /* the instructions */
    json_t *(*data)(const struct call *);               /* the user's message: one JSON object; NULL: out of memory */
    json_t *(*schema)(const struct call *);             /* of the answer, as response_format wants it */
    /* The content as an answer. False: it is none in the form asked for. */
    bool (*read)(struct call *call, const json_t *choice, const char *content, double *p);
    bool logprobs;            /* of use */
    const char *instructions; /* linked in, the first line their version */
};

/* A backend speaks one protocol. Adding one: a file whose last block is this table, a row in scorer.c. */
struct scorer_backend {
    const char *name;
    /* Does the configuration have what this backend needs? NULL: nothing of its own. */
    enum err_code (*check)(const struct scorer_config *config, struct err *err);
    /* What it remembers of its endpoint, shared by all calls. Never NULL. */
    void *(*open)(void);
    void (*close)(void *state);
    /* Ask once, by call_exchange alone. On ERR_OK *p is finite and in [0, 1]. */
    enum err_code (*ask)(struct call *call, double *p);
    const struct chat_task *chat; /* of the backends that are chat models; else NULL */
    bool texts;                   /* its answers are texts (call.text) and not remembered */
};

extern const struct scorer_backend scorer_tei, scorer_chat, scorer_correct_backend, scorer_polish_backend,
    scorer_object_backend, scorer_embed_backend;
extern const struct chat_task chat_judge, chat_correct, chat_polish, chat_object;

/* Parts of a chat_task whose answer is one text: the instructions without their version, a user's own before those that are linked
 * in; the call's premise, which is JSON; the first object of the content that has text under `member`. */
const char *chat_own_prompt(const struct scorer *scorer);
json_t *chat_own_data(const struct call *call);
bool chat_read_text(struct call *call, const char *content, const char *member, double *p);

/* The ladder of shapes, for the task of the call's backend. */
enum err_code chat_ask(struct call *call, double *p);
void *chat_open(void);
void chat_close(void *state);
enum err_code chat_check(const struct scorer_config *config, struct err *err);

struct scorer {
    const struct scorer_backend *backend;
    void *state;                 /* the backend's */
    struct scorer_config config; /* texts owned; key_file, key_variable and proxy are not kept */
    char *prompt;                /* of config.prompt_file or a form, whole; NULL: the one that is linked in */
    char *schema;                /* of a form, JSON; NULL: the task has its own */
    struct http *http;
    struct retry_policy policy;
    struct answers *answers;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t woken; /* scorer_stop */
    bool stopped;
    struct scorer_stats stats;
};

/* Send, and send again while the error may be temporary; waits, budget, breaker and deadline are respected. ERR_OK:
 * status 200 and *reply has the body. After ERR_REMOTE *reply has the body too, for whoever can learn from it. The
 * caller owes http_reply_clear always. */
enum err_code call_exchange(struct call *call, const char *path, const char *body, struct http_reply *reply);

/* Reading replies, apart from asking for them, so that a fuzzer can hand in any bytes. `reply` has a body.
 * tei_learn: what /info says goes into the scorer's memory. tei_read: an answer, in the light of that memory.
 * chat_read: a completion; *formless: it speaks, but not in the form asked for. */
enum err_code tei_learn(struct call *call, const struct http_reply *reply);
enum err_code tei_read(struct call *call, const struct http_reply *reply, double *p);
enum err_code chat_read(struct call *call, const struct http_reply *reply, double *p, bool *formless);

#endif
