#include "coordinator/verifier_pool.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_THREADS = 4, MAX_THREADS = 64, DEFAULT_WAITING = 1024, DEFAULT_PATIENCE_MS = 60000, OFFER_MS = 100 };

struct job {
    struct core_question question; /* its texts are in `texts` */
    char texts[];
};

struct asker {
    struct asker_config config;
    struct scorer *scorer;
    pthread_t threads[MAX_THREADS];
    uint32_t n_threads;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t more;
    GQueue waiting; /* of struct job; under the lock */
};

/* --- one answer --- */

/* On the scorer's clock. */
static int64_t deadline_of(const struct asker *asker, const struct core_question *question)
{
    int64_t now = clock_now_ns(), patience = asker->config.patience_ms * 1000000;
    if (!question->deadline_ns) return now + patience;
    int64_t left = question->deadline_ns - bus_now_ns(asker->config.bus);
    return now + (left < 0 ? 0 : left);
}

/* Try to send until there is room, or the asker is being closed. */
static void send_result(struct asker *asker, const struct msg_result *result)
{
    struct msg_buffer buffer = {0};
    char key[40];
    if (msg_encode_result(&buffer, result) == ERR_OK) {
        int len = snprintf(key, sizeof key, "%d-%lld", result->key.partition, (long long)result->key.offset);
        struct bus_out out = {.topic = BUS_RESULTS,
                              .partition = result->key.partition,
                              .key = key,
                              .key_len = (uint32_t)len,
                              .value = buffer.bytes,
                              .len = buffer.len};
        enum err_code code = ERR_FULL;
        while (code == ERR_FULL && !atomic_load(&asker->stopping))
            code = bus_produce(asker->config.bus, &out, 1, OFFER_MS, NULL);
    }
    msg_buffer_free(&buffer);
}

static void answer(struct asker *asker, const struct core_question *question)
{
    struct scorer_reply reply = {0};
    struct err err = {0};
    char name[96];
    int64_t started = clock_now_ns();
    struct msg_result result = {.key = question->key,
                                .hash = {question->hash[0], question->hash[1]},
                                .candidate = question->candidate,
                                .family = MSG_VERIFIER};
    enum err_code code = scorer_entails(asker->scorer, question->premise, question->hypothesis,
                                        deadline_of(asker, question), &result.p, &reply, &err);
    snprintf(name, sizeof name, "%s%s%s", reply.backend ? reply.backend : "remote", *reply.model ? " " : "",
             reply.model);
    result.code = err_name(code);
    result.message = code ? err.text : name;
    result.ns = clock_now_ns() - started;
    send_result(asker, &result);
}

/* --- threads --- */

static struct job *next_job(struct asker *asker)
{
    pthread_mutex_lock(&asker->lock);
    while (!asker->waiting.head && !atomic_load(&asker->stopping)) pthread_cond_wait(&asker->more, &asker->lock);
    struct job *job = atomic_load(&asker->stopping) ? NULL : g_queue_pop_head(&asker->waiting);
    pthread_mutex_unlock(&asker->lock);
    return job;
}

static void *run(void *arg)
{
    struct asker *asker = arg;
    struct job *job;
    pthread_setname_np(pthread_self(), "verifier");
    while ((job = next_job(asker))) {
        answer(asker, &job->question);
        free(job);
    }
    return NULL;
}

bool asker_put(struct asker *asker, const struct core_question *question)
{
    size_t premise = strlen(question->premise) + 1, hypothesis = strlen(question->hypothesis) + 1;
    struct job *job = malloc(sizeof *job + premise + hypothesis);
    if (!job) return false;
    job->question = *question;
    job->question.premise = memcpy(job->texts, question->premise, premise);
    job->question.hypothesis = memcpy(job->texts + premise, question->hypothesis, hypothesis);
    pthread_mutex_lock(&asker->lock);
    bool room = asker->waiting.length < asker->config.max_waiting;
    if (room) g_queue_push_tail(&asker->waiting, job);
    pthread_cond_signal(&asker->more);
    pthread_mutex_unlock(&asker->lock);
    if (!room) free(job);
    return room;
}

static enum err_code start(struct asker *asker, struct err *err)
{
    for (; asker->n_threads < asker->config.threads; asker->n_threads++)
        if (pthread_create(&asker->threads[asker->n_threads], NULL, run, asker))
            return err_set(err, ERR_NOMEM, "no thread for the remote verifier");
    return ERR_OK;
}

enum err_code asker_new(const struct asker_config *config, struct asker **out, struct err *err)
{
    *out = NULL;
    struct asker *asker = calloc(1, sizeof *asker);
    if (!asker) return err_set(err, ERR_NOMEM, "no memory for a remote verifier");
    asker->config = *config;
    if (!asker->config.threads) asker->config.threads = DEFAULT_THREADS;
    if (asker->config.threads > MAX_THREADS) asker->config.threads = MAX_THREADS;
    if (!asker->config.max_waiting) asker->config.max_waiting = DEFAULT_WAITING;
    if (!asker->config.patience_ms) asker->config.patience_ms = DEFAULT_PATIENCE_MS;
    atomic_init(&asker->stopping, false);
    pthread_mutex_init(&asker->lock, NULL);
    pthread_cond_init(&asker->more, NULL);
    g_queue_init(&asker->waiting);
    enum err_code code = scorer_open(config->scorer, &asker->scorer, err);
    if (!code) code = start(asker, err);
    if (code) {
        asker_free(asker);
        return code;
    }
    *out = asker;
    return ERR_OK;
}

void asker_free(struct asker *asker)
{
    if (!asker) return;
    pthread_mutex_lock(&asker->lock);
    atomic_store(&asker->stopping, true);
    pthread_cond_broadcast(&asker->more);
    pthread_mutex_unlock(&asker->lock);
    if (asker->scorer) scorer_stop(asker->scorer);
    for (uint32_t i = 0; i < asker->n_threads; i++) pthread_join(asker->threads[i], NULL);
    scorer_close(asker->scorer);
    g_queue_clear_full(&asker->waiting, free);
    pthread_cond_destroy(&asker->more);
    pthread_mutex_destroy(&asker->lock);
    free(asker);
}
