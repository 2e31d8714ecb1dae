/* DESIGN: one pool for each role. A table row has all differences between the roles.
 *
 * A thread takes a question, calls the scorer, and sends the response as a result of its role's family. The function of
 * a role fills the result; a failure becomes a result with a code and a message. The limit of questions per minute is a
 * token bucket that is checked when a question is submitted.
 */
#include "coordinator/model_pool.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_THREADS = 4, MAX_THREADS = 64, DEFAULT_WAITING = 1024, DEFAULT_TIMEOUT_MS = 60000, OFFER_MS = 100 };

struct job {
    struct core_model_question question; /* its pointers refer to `texts` */
    char texts[];
};

struct model_pool {
    struct model_pool_config config;
    struct scorer *scorer;
    struct examples *examples; /* NULL if there are no few-shot examples */
    pthread_t threads[MAX_THREADS];
    uint32_t n_threads;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t more;
    GQueue waiting;  /* queue of struct job; guarded by the lock */
    double left;     /* questions left in the budget; guarded by the lock */
    int64_t left_ns; /* time at which `left` was computed; guarded by the lock */
};

/* --- one response --- */

/* Returns the deadline on the scorer's clock. */
static int64_t deadline_of(const struct model_pool *pool, const struct core_model_question *question)
{
    int64_t now = clock_now_ns(), timeout = pool->config.timeout_ms * 1000000;
    if (!question->deadline_ns) return now + timeout;
    int64_t left = question->deadline_ns - bus_now_ns(pool->config.bus);
    return now + (left < 0 ? 0 : left);
}

/* Sends the result. Retries until the queue has capacity or the pool closes. */
static void send_result(struct model_pool *pool, const struct msg_result *result)
{
    struct msg_buffer buffer = {0};
    char key[MSG_KEY_TEXT];
    if (msg_encode_result(&buffer, result) == ERR_OK) {
        struct bus_out out = {.topic = BUS_RESULTS,
                              .partition = result->key.partition,
                              .key = key,
                              .key_len = msg_key_text(result->key, key),
                              .value = buffer.bytes,
                              .len = buffer.len};
        enum err_code code = ERR_FULL;
        while (code == ERR_FULL && !atomic_load(&pool->stopping))
            code = bus_produce(pool->config.bus, &out, 1, OFFER_MS, NULL);
    }
    msg_buffer_free(&buffer);
}

/* Formats the names of backend, model and instructions, such as "chat judge-small, judge/1". */
static void name_model(struct model_pool *pool, const struct scorer_reply *reply, char *out, size_t room)
{
    char version[48];
    scorer_prompt_version(pool->scorer, version, sizeof version);
    snprintf(out, room, "%s%s%s%s%s", reply->backend ? reply->backend : "remote", *reply->model ? " " : "",
             reply->model, *version ? ", " : "", version);
}

/* Memory for the parts of a response, until it is sent. */
struct parts {
    struct scorer_reply reply;
    char *text; /* text that the model wrote */
    char source[160];
    struct msg_proposal proposal;
    struct msg_explanation explanation;
};

static enum err_code verify(struct model_pool *pool, const struct core_model_question *question,
                            struct msg_result *result, struct parts *parts, struct err *err)
{
    return scorer_entails(pool->scorer, question->premise, question->hypothesis, deadline_of(pool, question),
                          &result->p, &parts->reply, err);
}

/* Formats the name of the model and the version of its instructions. */
static void name_source(struct model_pool *pool, struct parts *parts)
{
    char version[48];
    const char *model = parts->reply.model;
    scorer_prompt_version(pool->scorer, version, sizeof version);
    snprintf(parts->source, sizeof parts->source, "%s, %s", *model ? model : "a model", version);
}

static enum err_code correct(struct model_pool *pool, const struct core_model_question *question,
                             struct msg_result *result, struct parts *parts, struct err *err)
{
    const struct examples_shots *with = &pool->config.shots;
    char *shown = pool->examples ? examples_with_shots(pool->examples, question->premise, with->key, with->n) : NULL;
    enum err_code code = scorer_correct(pool->scorer, shown ? shown : question->premise, deadline_of(pool, question),
                                        &parts->text, &parts->reply, err);
    free(shown);
    if (code) return code;
    name_source(pool, parts);
    parts->proposal =
        (struct msg_proposal){.sql = {parts->text, (uint32_t)strlen(parts->text)}, .source = parts->source};
    result->proposals = &parts->proposal;
    result->n_proposals = 1;
    return ERR_OK;
}

static enum err_code polish(struct model_pool *pool, const struct core_model_question *question,
                            struct msg_result *result, struct parts *parts, struct err *err)
{
    enum err_code code =
        scorer_polish(pool->scorer, question->premise, deadline_of(pool, question), &parts->text, &parts->reply, err);
    if (code) return code;
    name_source(pool, parts);
    parts->explanation.prose = parts->text;
    result->explanation = &parts->explanation;
    return ERR_OK;
}

static const struct {
    const char *thread, *family;
    enum err_code (*open)(const struct scorer_config *config, struct scorer **out, struct err *err);
    enum err_code (*ask)(struct model_pool *pool, const struct core_model_question *question, struct msg_result *result,
                         struct parts *parts, struct err *err);
} roles[MODEL_ROLES] = {
    [MODEL_VERIFIER] = {"verifier", MSG_VERIFIER, scorer_open, verify},
    [MODEL_CORRECTOR] = {"corrector", MSG_CORRECTOR, scorer_open_corrector, correct},
    [MODEL_POLISHER] = {"polisher", MSG_POLISHER, scorer_open_polisher, polish},
};

static void end_span(struct model_pool *pool, const struct core_model_question *question,
                     const struct scorer_reply *reply, enum err_code code, struct trace_span *span)
{
    trace_number(span, "assay.candidate", question->candidate + 1);
    trace_number(span, "assay.attempts", reply->attempts);
    if (reply->status) trace_number(span, "http.response.status_code", reply->status);
    tracer_end(pool->config.tracer, span, code);
}

static void answer(struct model_pool *pool, const struct core_model_question *question)
{
    struct parts parts = {0};
    struct err err = {0};
    char name[160];
    int64_t started = clock_now_ns();
    struct trace_span span;
    tracer_begin(pool->config.tracer, &question->trace, roles[pool->config.role].family, TRACE_CLIENT, &span);
    struct msg_result result = {.key = question->key,
                                .hash = {question->hash[0], question->hash[1]},
                                .candidate = question->candidate,
                                .family = roles[pool->config.role].family};
    enum err_code code = roles[pool->config.role].ask(pool, question, &result, &parts, &err);
    name_model(pool, &parts.reply, name, sizeof name);
    result.code = err_name(code);
    result.message = code ? err.text : *parts.source ? parts.source : name;
    result.ns = clock_now_ns() - started;
    end_span(pool, question, &parts.reply, code, &span);
    send_result(pool, &result);
    free(parts.text);
}

/* --- threads --- */

static struct job *next_job(struct model_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (!pool->waiting.head && !atomic_load(&pool->stopping)) pthread_cond_wait(&pool->more, &pool->lock);
    struct job *job = atomic_load(&pool->stopping) ? NULL : g_queue_pop_head(&pool->waiting);
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *run(void *arg)
{
    struct model_pool *pool = arg;
    struct job *job;
    pthread_setname_np(pthread_self(), roles[pool->config.role].thread);
    while ((job = next_job(pool))) {
        answer(pool, &job->question);
        free(job);
    }
    return NULL;
}

/* Returns true if the budget allows another question. The budget is a bucket with one minute's questions that fills
 * evenly. The caller holds the lock. */
static bool has_budget(struct model_pool *pool)
{
    static const double MINUTE_NS = 60e9;
    double most = pool->config.per_minute;
    int64_t now = clock_now_ns();
    if (!pool->config.per_minute) return true;
    pool->left = MIN(most, pool->left + (double)(now - pool->left_ns) * most / MINUTE_NS);
    pool->left_ns = now;
    return pool->left >= 1;
}

bool model_pool_submit(struct model_pool *pool, const struct core_model_question *question)
{
    size_t premise = strlen(question->premise) + 1, hypothesis = strlen(question->hypothesis) + 1;
    struct job *job = malloc(sizeof *job + premise + hypothesis);
    if (!job) return false;
    job->question = *question;
    job->question.premise = memcpy(job->texts, question->premise, premise);
    job->question.hypothesis = memcpy(job->texts + premise, question->hypothesis, hypothesis);
    pthread_mutex_lock(&pool->lock);
    bool room = pool->waiting.length < pool->config.max_waiting && has_budget(pool);
    pool->left -= room;
    if (room) g_queue_push_tail(&pool->waiting, job);
    pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    if (!room) free(job);
    return room;
}

static enum err_code start(struct model_pool *pool, struct err *err)
{
    for (; pool->n_threads < pool->config.threads; pool->n_threads++)
        if (pthread_create(&pool->threads[pool->n_threads], NULL, run, pool))
            return err_set(err, ERR_NOMEM, "cannot create a thread for the remote model");
    return ERR_OK;
}

enum err_code model_pool_new(const struct model_pool_config *config, struct model_pool **out, struct err *err)
{
    *out = NULL;
    struct model_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return err_set(err, ERR_NOMEM, "no memory for a remote model");
    pool->config = *config;
    if (!pool->config.threads) pool->config.threads = DEFAULT_THREADS;
    if (pool->config.threads > MAX_THREADS) pool->config.threads = MAX_THREADS;
    if (!pool->config.max_waiting) pool->config.max_waiting = DEFAULT_WAITING;
    if (!pool->config.timeout_ms) pool->config.timeout_ms = DEFAULT_TIMEOUT_MS;
    pool->left = pool->config.per_minute;
    pool->left_ns = clock_now_ns();
    atomic_init(&pool->stopping, false);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->more, NULL);
    g_queue_init(&pool->waiting);
    enum err_code code = roles[config->role].open(config->scorer, &pool->scorer, err);
    if (!code && config->shots.path)
        code = examples_open(config->shots.path, false, config->shots.encoder, &pool->examples, err);
    if (!code) code = start(pool, err);
    if (code) {
        model_pool_free(pool);
        return code;
    }
    *out = pool;
    return ERR_OK;
}

void model_pool_free(struct model_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->stopping, true);
    pthread_cond_broadcast(&pool->more);
    pthread_mutex_unlock(&pool->lock);
    if (pool->scorer) scorer_stop(pool->scorer);
    for (uint32_t i = 0; i < pool->n_threads; i++) pthread_join(pool->threads[i], NULL);
    scorer_close(pool->scorer);
    examples_close(pool->examples, NULL);
    g_queue_clear_full(&pool->waiting, free);
    pthread_cond_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
