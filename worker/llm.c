/* DESIGN: a *form* is the data of one kind of call: the instructions, the schema of the reply, and one scorer for each
 * endpoint.
 *
 * With `single` there is a form for each signal, otherwise one form for all signals. A call takes its estimate from the
 * budget, tries the endpoints one after the other, and settles the actual cost. The reply is cached under a hash of
 * model, instructions and input, but not of the endpoint. One lock guards the counters.
 */
#include "worker/llm.h"

#include "lib/base/clock.h"
#include "worker/cache_replies.h"

#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WEIGHT = 1000, ANSWER_TOKENS = 400, BYTES_A_TOKEN = 4, CALL_MS = 60000 };
static const double MILLION = 1e6;

/* The signals of one call. */
struct form {
    unsigned signals; /* bits of the signals */
    size_t prompt_bytes;
    char *prompt; /* version, instructions and schema: the first part of a question's hash */
    struct scorer *scorers[LLM_MAX_ENDPOINTS];
};

struct llm {
    struct llm_config config;
    unsigned weights[LLM_MAX_ENDPOINTS], all_weights;
    struct form forms[ASK_COUNT];
    uint32_t n_forms;
    struct budget *budget;
    struct replies *replies;
    pthread_mutex_t lock;
    struct llm_stats stats; /* guarded by the lock */
};

/* --- open, close -------------------------------------------------------------------------------------------------- */

/* Reads an endpoint such as "3*https://host/v1". Returns its address and sets *weight. Returns NULL if the text is
 * invalid. */
static const char *read_endpoint(const char *text, unsigned *weight)
{
    char *end;
    *weight = 1;
    if (!g_ascii_isdigit(*text)) return text;
    guint64 n = g_ascii_strtoull(text, &end, 10);
    if (*end != '*' || n < 1 || n > MAX_WEIGHT) return NULL;
    *weight = (unsigned)n;
    return end + 1;
}

static enum err_code open_form(struct llm *llm, unsigned signals, struct err *err)
{
    struct form *form = &llm->forms[llm->n_forms++];
    form->signals = signals;
    char *prompt = ask_prompt(signals, llm->config.prompts, err), *schema = ask_schema(signals);
    enum err_code code = prompt ? ERR_OK : err->code;
    for (uint32_t i = 0; i < llm->config.n_endpoints && !code; i++) {
        struct scorer_config config = llm->config.model;
        config.prompt_file = NULL;
        config.endpoint = read_endpoint(llm->config.endpoints[i], &llm->weights[i]);
        code = config.endpoint ? scorer_open_form(&config, prompt, schema, &form->scorers[i], err)
                               : err_set(err, ERR_CONFIG,
                                         "invalid endpoint '%.100s', expected URL or WEIGHT*URL with a weight up to %d",
                                         llm->config.endpoints[i], MAX_WEIGHT);
    }
    form->prompt = code ? NULL : g_strconcat(prompt, "\n", schema, NULL);
    form->prompt_bytes = form->prompt ? strlen(form->prompt) : 0;
    free(schema);
    free(prompt);
    return code;
}

static enum err_code open_forms(struct llm *llm, struct err *err)
{
    enum err_code code = ERR_OK;
    if (!llm->config.single) return open_form(llm, ASK_ALL, err);
    for (unsigned i = 0; i < ASK_COUNT && !code; i++) code = open_form(llm, 1U << i, err);
    return code;
}

enum err_code llm_open(const struct llm_config *config, struct llm **out, struct err *err)
{
    *out = NULL;
    if (!config->n_endpoints || config->n_endpoints > LLM_MAX_ENDPOINTS)
        return err_set(err, ERR_CONFIG, "the family llm needs 1 to %d endpoints", LLM_MAX_ENDPOINTS);
    struct llm *llm = g_new0(struct llm, 1);
    const struct replies_config replies = {
        .redis = config->budget.redis, .entries = config->entries, .ttl_ms = config->ttl_ms};
    llm->config = *config;
    pthread_mutex_init(&llm->lock, NULL);
    enum err_code code = open_forms(llm, err);
    if (!code) code = budget_open(&config->budget, &llm->budget, err);
    if (!code) code = replies_open(&replies, &llm->replies, err);
    for (uint32_t i = 0; i < config->n_endpoints; i++) llm->all_weights += llm->weights[i];
    if (code)
        llm_close(llm);
    else
        *out = llm;
    return code;
}

void llm_close(struct llm *llm)
{
    if (!llm) return;
    for (uint32_t f = 0; f < llm->n_forms; f++) {
        for (unsigned i = 0; i < LLM_MAX_ENDPOINTS; i++) scorer_close(llm->forms[f].scorers[i]);
        g_free(llm->forms[f].prompt);
    }
    budget_close(llm->budget);
    replies_close(llm->replies);
    pthread_mutex_destroy(&llm->lock);
    g_free(llm);
}

void llm_stop(struct llm *llm)
{
    for (uint32_t f = 0; f < llm->n_forms; f++)
        for (uint32_t i = 0; i < llm->config.n_endpoints; i++) scorer_stop(llm->forms[f].scorers[i]);
}

/* --- one call ----------------------------------------------------------------------------------------------------- */

/* Hashes all inputs of the reply. The endpoint is not one of them. */
static void hash_question(const struct llm *llm, const struct form *form, const char *data, char out[REPLIES_KEY + 1])
{
    const char *const parts[] = {llm->config.model.model ? llm->config.model.model : "", form->prompt, data};
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
        g_checksum_update(sum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_strlcpy(out, g_checksum_get_string(sum), REPLIES_KEY + 1);
    g_checksum_free(sum);
}

/* Returns the endpoint to try first for a question, chosen by weight. */
static uint32_t first_endpoint(const struct llm *llm, const char *key)
{
    char head[9];
    g_strlcpy(head, key, sizeof head);
    unsigned at = (unsigned)(g_ascii_strtoull(head, NULL, 16) % llm->all_weights);
    uint32_t i = 0;
    while (at >= llm->weights[i]) at -= llm->weights[i++];
    return i;
}

static double cost_of(const struct llm *llm, double tokens_in, double tokens_out)
{
    return (tokens_in * llm->config.price_in + tokens_out * llm->config.price_out) / MILLION;
}

static struct budget_amount estimate_of(const struct llm *llm, const struct form *form, const char *data)
{
    double tokens_in = (double)(form->prompt_bytes + strlen(data)) / BYTES_A_TOKEN;
    return (struct budget_amount){1, tokens_in + ANSWER_TOKENS, cost_of(llm, tokens_in, ANSWER_TOKENS)};
}

/* Records the cost of a call as the server reports it. If the server does not report it, records the estimate. */
static void account(struct llm *llm, const struct budget_amount *estimate, const struct scorer_reply *reply,
                    bool failed, struct llm_answer *out)
{
    uint64_t tokens_in = reply->tokens_in > 0 ? (uint64_t)reply->tokens_in : 0;
    uint64_t tokens_out = reply->tokens_out > 0 ? (uint64_t)reply->tokens_out : 0;
    bool told = reply->tokens_in >= 0 && reply->tokens_out >= 0;
    double cost = told ? cost_of(llm, (double)tokens_in, (double)tokens_out) : failed ? 0 : estimate->money;
    const struct budget_amount spent = {reply->attempts > 0 ? reply->attempts : 0,
                                        told     ? (double)(tokens_in + tokens_out)
                                        : failed ? 0
                                                 : estimate->tokens,
                                        cost};
    budget_settle(llm->budget, estimate, &spent);
    out->usage.calls += reply->attempts;
    out->usage.tokens_in += tokens_in;
    out->usage.tokens_out += tokens_out;
    out->usage.cost += cost;
    pthread_mutex_lock(&llm->lock);
    llm->stats.calls += reply->attempts;
    llm->stats.failures += failed;
    llm->stats.tokens_in += tokens_in;
    llm->stats.tokens_out += tokens_out;
    llm->stats.cost += cost;
    pthread_mutex_unlock(&llm->lock);
}

static void count(struct llm *llm, uint64_t *counter)
{
    pthread_mutex_lock(&llm->lock);
    ++*counter;
    pthread_mutex_unlock(&llm->lock);
}

static void name_source(const struct form *form, const struct scorer_reply *reply, struct llm_answer *out)
{
    int version = (int)strcspn(form->prompt, "\n");
    snprintf(out->source, sizeof out->source, "%s, %.*s", *reply->model ? reply->model : "a model", version,
             form->prompt);
}

/* Returns true if another endpoint may succeed. Returns false after a timeout, or if the endpoint refused the input
 * itself. */
static bool may_pass_over(enum err_code code)
{
    return code == ERR_UNREACHABLE || code == ERR_CONFIG || code == ERR_MALFORMED;
}

/* Returns the reply. If no endpoint has one, returns NULL and the reason in *reason. */
static char *ask_endpoints(struct llm *llm, const struct form *form, const char *key, const char *data,
                           int64_t deadline_ns, struct llm_answer *out, const char **reason)
{
    char *text = NULL;
    uint32_t first = first_endpoint(llm, key);
    enum err_code code = ERR_UNREACHABLE;
    for (uint32_t i = 0; i < llm->config.n_endpoints && !text && may_pass_over(code); i++) {
        const struct budget_amount estimate = estimate_of(llm, form, data);
        struct scorer_reply reply;
        if (!budget_take(llm->budget, &estimate)) {
            count(llm, &llm->stats.refused);
            *reason = "budget";
            return NULL;
        }
        struct scorer *scorer = form->scorers[(first + i) % llm->config.n_endpoints];
        code = scorer_fill(scorer, data, deadline_ns, &text, &reply, NULL);
        account(llm, &estimate, &reply, code != ERR_OK, out);
        if (!code) name_source(form, &reply, out);
    }
    *reason = err_name(code);
    return text;
}

static void take_parts(const struct form *form, const char *text, const char *reason, struct llm_answer *out)
{
    static const char *const names[] = {
#define X(name) #name,
        ASK_SIGNALS(X)
#undef X
    };
    json_t *answer = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
    for (unsigned i = 0; i < ASK_COUNT; i++) {
        if (!(form->signals >> i & 1)) continue;
        out->parts[i] = json_incref(json_object_get(answer, names[i]));
        out->reply.parts[i] = out->parts[i];
        out->reply.reasons[i] = text ? err_name(ERR_MALFORMED) : reason;
    }
    json_decref(answer);
}

static void fill_form(struct llm *llm, const struct form *form, const char *data, int64_t deadline_ns,
                      struct llm_answer *out)
{
    char key[REPLIES_KEY + 1], *text = NULL;
    const char *reason = NULL;
    hash_question(llm, form, data, key);
    enum replies_found found = replies_find(llm->replies, key, deadline_ns, &text);
    if (found == REPLIES_TO_ASK) {
        text = ask_endpoints(llm, form, key, data, deadline_ns, out, &reason);
        replies_put(llm->replies, key, text);
    } else {
        out->usage.cached++;
        count(llm, found == REPLIES_HERE ? &llm->stats.remembered : &llm->stats.shared);
    }
    take_parts(form, text, reason, out);
    free(text);
}

void llm_ask(struct llm *llm, const char *data, int64_t deadline_ns, struct llm_answer *out)
{
    *out = (struct llm_answer){0};
    if (!deadline_ns) deadline_ns = clock_now_ns() + (int64_t)CALL_MS * 1000000;
    for (uint32_t f = 0; f < llm->n_forms; f++) fill_form(llm, &llm->forms[f], data, deadline_ns, out);
}

void llm_answer_clear(struct llm_answer *answer)
{
    for (unsigned i = 0; i < ASK_COUNT; i++) json_decref(answer->parts[i]);
    *answer = (struct llm_answer){0};
}

void llm_get_stats(struct llm *llm, struct llm_stats *out)
{
    pthread_mutex_lock(&llm->lock);
    *out = llm->stats;
    pthread_mutex_unlock(&llm->lock);
}
