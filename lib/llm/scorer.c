/* Opens and closes scorers, and makes their calls: checks the texts, looks up the cache, calls the backend and counts
 * the outcome. */
#include "lib/base/bom.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/llm/scorer_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKENDS(X) X(tei) X(chat)

static const struct scorer_backend *const backends[] = {
#define X(name) &scorer_##name,
    BACKENDS(X)
#undef X
};

enum { KEY_ROOM = 4096, MAX_VERSION = 48, MAX_PROMPT = 16 << 10 };

struct scorer_config scorer_defaults(void)
{
    return (struct scorer_config){.backend = "tei",
                                  .max_tokens = 1024,
                                  .timeout_ms = 10000,
                                  .max_attempts = 3,
                                  .backoff_ms = 200,
                                  .backoff_cap_ms = 5000,
                                  .retry_after_max_ms = 30000,
                                  .retry_share = 0.2,
                                  .breaker_failures = 5,
                                  .breaker_open_ms = 10000,
                                  .max_text_bytes = 262144,
                                  .max_reply_bytes = 1048576,
                                  .cache_entries = 4096};
}

const char *const *scorer_backends(void)
{
    static const char *const names[] = {
#define X(name) #name,
        BACKENDS(X)
#undef X
            NULL};
    return names;
}

/* --- opening ---------------------------------------------------------------------------------------------------- */

static const struct scorer_backend *backend_find(const char *name)
{
    for (unsigned i = 0; name && i < G_N_ELEMENTS(backends); i++)
        if (strcmp(backends[i]->name, name) == 0) return backends[i];
    return NULL;
}

/* Checks the ranges of the numbers. Within these ranges no calculation of lib/llm overflows. They also detect most
 * typing errors. */
static enum err_code check_numbers(const struct scorer_config *c, struct err *err)
{
    static const int64_t day_ms = 86400000;
    const struct {
        const char *name;
        int64_t value, low, high;
    } rows[] = {
        {"timeout_ms", c->timeout_ms, 1, day_ms},
        {"max_attempts", c->max_attempts, 1, 20},
        {"backoff_ms", c->backoff_ms, 0, day_ms},
        {"backoff_cap_ms", c->backoff_cap_ms, 0, day_ms},
        {"retry_after_max_ms", c->retry_after_max_ms, 0, day_ms},
        {"breaker_open_ms", c->breaker_open_ms, 0, day_ms},
        {"max_text_bytes", (int64_t)MIN(c->max_text_bytes, INT64_MAX), 1, 1 << 24},
        {"max_reply_bytes", (int64_t)MIN(c->max_reply_bytes, INT64_MAX), 1, 1 << 26},
        {"cache_entries", c->cache_entries, 0, 1 << 24},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++)
        if (rows[i].value < rows[i].low || rows[i].value > rows[i].high)
            return err_set(err, ERR_CONFIG, "%s must be %lld to %lld, got %lld", rows[i].name, (long long)rows[i].low,
                           (long long)rows[i].high, (long long)rows[i].value);
    if (!(c->retry_share >= 0 && c->retry_share <= 10)) return err_set(err, ERR_CONFIG, "retry_share must be 0 to 10");
    return ERR_OK;
}

static enum err_code key_from_file(const char *path, char key[KEY_ROOM], struct err *err)
{
    FILE *file = fopen(path, "re");
    bool read = file && fgets(key, KEY_ROOM, file);
    if (file) fclose(file);
    if (read) bom_strip(key, strlen(key));
    return read ? ERR_OK : err_set(err, ERR_CONFIG, "cannot read key file '%.200s'", path);
}

/* Reads the key; sets `key` to "" if none is configured. Refuses characters that a header cannot contain, because a
 * line break in the key would add headers. */
static enum err_code read_key(const struct scorer_config *config, char key[KEY_ROOM], struct err *err)
{
    key[0] = 0;
    if (config->key_file && config->key_variable)
        return err_set(err, ERR_CONFIG, "both a key file and a key variable are set" ERR_HINT "set only one of them");
    if (!config->key_file && !config->key_variable) return ERR_OK;
    const char *value = config->key_variable ? getenv(config->key_variable) : NULL;
    enum err_code code = ERR_OK;
    if (config->key_file)
        code = key_from_file(config->key_file, key, err);
    else if (!value)
        code = err_set(err, ERR_CONFIG, "environment variable %.80s is not set; it should contain the key",
                       config->key_variable);
    else if (g_strlcpy(key, value, KEY_ROOM) >= KEY_ROOM)
        code = err_set(err, ERR_CONFIG, "the key is too long");
    if (code != ERR_OK) return code;
    g_strchomp(key);
    for (const char *c = key; *c; c++)
        if (!g_ascii_isgraph(*c)) return err_set(err, ERR_CONFIG, "the key contains a non-printable character");
    return *key ? ERR_OK : err_set(err, ERR_CONFIG, "the key is empty");
}

static enum err_code open_http(const struct scorer_config *config, struct http **out, struct err *err)
{
    char key[KEY_ROOM];
    enum err_code code = read_key(config, key, err);
    if (code != ERR_OK) return code;
    char *endpoint = g_strdup(config->endpoint ? config->endpoint : "");
    for (size_t n = strlen(endpoint); n && endpoint[n - 1] == '/'; n--) endpoint[n - 1] = 0;
    struct http_settings settings = {.endpoint = endpoint,
                                     .key = *key ? key : NULL,
                                     .plain_key = config->plain_key,
                                     .ca_file = config->ca_file,
                                     .proxy = config->proxy,
                                     .max_bytes = config->max_reply_bytes};
    code = http_open(&settings, out, err);
    explicit_bzero(key, sizeof key);
    g_free(endpoint);
    return code;
}

static void keep_texts(struct scorer *s)
{
    struct scorer_config *c = &s->config;
    c->backend = s->backend->name;
    c->endpoint = g_strdup(c->endpoint);
    c->model = g_strdup(c->model);
    c->entail_label = g_strdup(c->entail_label);
    c->key_file = c->key_variable = c->ca_file = c->proxy = c->prompt_file = NULL;
}

static enum err_code open_backend(const struct scorer_backend *backend, const struct scorer_config *config,
                                  struct scorer **out, struct err *err)
{
    enum err_code code = check_numbers(config, err);
    if (code == ERR_OK && backend->check) code = backend->check(config, err);
    struct http *http = NULL;
    if (code == ERR_OK) code = open_http(config, &http, err);
    if (code != ERR_OK) return code;

    struct scorer *s = g_new0(struct scorer, 1);
    static const int64_t ms = 1000000;
    struct retry_limits limits = {config->backoff_ms * ms, config->backoff_cap_ms * ms, config->retry_share,
                                  config->breaker_failures, config->breaker_open_ms * ms};
    s->backend = backend;
    s->state = backend->open();
    s->config = *config;
    keep_texts(s);
    s->http = http;
    retry_policy_init(&s->policy, &limits, config->seed);
    s->answers = answers_new(config->cache_entries);
    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->woken);
    *out = s;
    return ERR_OK;
}

/* Reads a file of the user's own instructions: a version on the first line, and text after it. */
static enum err_code read_prompt(const char *path, char **out, struct err *err)
{
    struct input input;
    enum err_code code = input_read(path, &input, err);
    if (code) return err_set(err, ERR_CONFIG, "cannot read the model's instructions: %.200s", path);
    size_t version = strcspn(input.text, "\n");
    bool good = version && version < MAX_VERSION && input.len > version + 1 && input.len <= MAX_PROMPT &&
                g_utf8_validate(input.text, (gssize)input.len, NULL);
    if (good)
        *out = g_strdup(input.text);
    else
        code = err_set(err, ERR_CONFIG,
                       "%.200s is not an instructions file: expected a version of up to %d characters on the first "
                       "line, then text, at most %d bytes of UTF-8",
                       path, MAX_VERSION - 1, MAX_PROMPT);
    input_free(&input);
    return code;
}

static enum err_code open_with_prompt(const struct scorer_backend *backend, const struct scorer_config *config,
                                      struct scorer **out, struct err *err)
{
    char *prompt = NULL;
    *out = NULL;
    enum err_code code = config->prompt_file ? read_prompt(config->prompt_file, &prompt, err) : ERR_OK;
    if (!code) code = open_backend(backend, config, out, err);
    if (code)
        g_free(prompt);
    else
        (*out)->prompt = prompt;
    return code;
}

enum err_code scorer_open(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    *out = NULL;
    const struct scorer_backend *backend = backend_find(config->backend);
    if (!backend)
        return err_set(err, ERR_CONFIG, "unknown model backend '%.40s'", config->backend ? config->backend : "");
    if (config->prompt_file && !backend->chat)
        return err_set(err, ERR_CONFIG, "backend '%s' does not use instructions", backend->name);
    return open_with_prompt(backend, config, out, err);
}

enum err_code scorer_open_corrector(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    return open_with_prompt(&scorer_correct_backend, config, out, err);
}

enum err_code scorer_open_polisher(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    return open_with_prompt(&scorer_polish_backend, config, out, err);
}

enum err_code scorer_open_form(const struct scorer_config *config, const char *prompt, const char *schema,
                               struct scorer **out, struct err *err)
{
    *out = NULL;
    enum err_code code = open_backend(&scorer_object_backend, config, out, err);
    if (code) return code;
    (*out)->prompt = g_strdup(prompt);
    (*out)->schema = g_strdup(schema);
    return ERR_OK;
}

enum err_code scorer_open_embedder(const struct scorer_config *config, struct scorer **out, struct err *err)
{
    *out = NULL;
    return open_backend(&scorer_embed_backend, config, out, err);
}

void scorer_close(struct scorer *s)
{
    if (!s) return;
    s->backend->close(s->state);
    http_close(s->http);
    retry_policy_free(&s->policy);
    answers_free(s->answers);
    pthread_cond_destroy(&s->woken);
    pthread_mutex_destroy(&s->lock);
    g_free((char *)s->config.endpoint);
    g_free((char *)s->config.model);
    g_free((char *)s->config.entail_label);
    g_free(s->prompt);
    g_free(s->schema);
    g_free(s);
}

void scorer_stop(struct scorer *s)
{
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    pthread_cond_broadcast(&s->woken);
    pthread_mutex_unlock(&s->lock);
    http_stop(s->http);
}

void scorer_stats(struct scorer *s, struct scorer_stats *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->stats;
    pthread_mutex_unlock(&s->lock);
    out->breaker_open = retry_policy_is_open(&s->policy, clock_now_ns());
    retry_policy_counts(&s->policy, &out->breaker_opened, &out->breaker_refused);
}

/* --- a call ----------------------------------------------------------------------------------------------------- */

static enum err_code check_texts(const struct call *call)
{
    size_t premise = strlen(call->premise), hypothesis = strlen(call->hypothesis);
    if (premise > call->scorer->config.max_text_bytes || hypothesis > call->scorer->config.max_text_bytes - premise)
        return err_set(call->err, ERR_LIMIT_BYTES, "premise and question together have more than %zu bytes",
                       call->scorer->config.max_text_bytes);
    if (!g_utf8_validate(call->premise, (gssize)premise, NULL) ||
        !g_utf8_validate(call->hypothesis, (gssize)hypothesis, NULL))
        return err_set(call->err, ERR_ENCODING, "the premise or the question is not valid UTF-8");
    return ERR_OK;
}

/* Hashes everything that affects the answer. Includes the NUL of each part, because otherwise different parts could
 * yield the same bytes. */
static void hash_request(const struct call *call, char out[ANSWER_KEY + 1])
{
    const struct scorer *s = call->scorer;
    const char *parts[] = {s->backend->name,
                           s->config.endpoint,
                           s->config.model ? s->config.model : "",
                           s->config.entail_label ? s->config.entail_label : "",
                           s->backend->chat ? s->backend->chat->prompt(s) : "",
                           call->premise,
                           call->hypothesis};
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++)
        g_checksum_update(sum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_strlcpy(out, g_checksum_get_string(sum), ANSWER_KEY + 1);
    g_checksum_free(sum);
}

/* Reports the outcome of the admitted attempt to the breaker, after the answer has been read. */
static void settle(struct call *call, enum err_code code)
{
    if (!call->admitted) return;
    bool alive = code == ERR_OK || code == ERR_REMOTE;
    bool unknown = code == ERR_CANCELLED || code == ERR_DEADLINE || code == ERR_NOMEM;
    retry_policy_report(&call->scorer->policy, clock_now_ns(),
                        alive     ? BREAKER_ALIVE
                        : unknown ? BREAKER_UNKNOWN
                                  : BREAKER_FAILED);
    call->admitted = false;
}

static enum err_code ask_backend(struct call *call, double *p)
{
    double answer = (double)NAN;
    enum err_code code = call->scorer->backend->ask(call, &answer);
    if (code == ERR_OK && !(answer >= 0 && answer <= 1))
        code = err_set(call->err, ERR_MALFORMED, "the model's response is not a probability");
    settle(call, code);
    if (code == ERR_OK) *p = answer;
    return code;
}

static bool recall(struct call *call, double *p)
{
    struct answer answer;
    if (!answers_get(call->scorer->answers, call->info->request, &answer)) return false;
    call->info->cached = true;
    call->info->logprobs = answer.logprobs;
    g_strlcpy(call->info->model, answer.model, sizeof call->info->model);
    *p = answer.p;
    return true;
}

static void remember(const struct call *call, double p)
{
    struct answer answer = {.p = p, .logprobs = call->info->logprobs};
    g_strlcpy(answer.key, call->info->request, sizeof answer.key);
    g_strlcpy(answer.model, call->info->model, sizeof answer.model);
    answers_put(call->scorer->answers, &answer);
}

static enum err_code answer_call(struct call *call, double *p)
{
    enum err_code code = check_texts(call);
    if (code != ERR_OK) return code;
    hash_request(call, call->info->request);
    if (!call->scorer->backend->texts && recall(call, p)) return ERR_OK;
    code = ask_backend(call, p);
    if (code == ERR_OK && !call->scorer->backend->texts) remember(call, *p);
    return code;
}

static void count_call(struct scorer *s, enum err_code code, bool cached)
{
    pthread_mutex_lock(&s->lock);
    s->stats.calls++;
    s->stats.cached += cached;
    s->stats.failures += code != ERR_OK;
    pthread_mutex_unlock(&s->lock);
}

static enum err_code ask(struct call *call, double *p)
{
    struct scorer_reply *info = call->info;
    *info = (struct scorer_reply){.backend = call->scorer->backend->name, .tokens_in = -1, .tokens_out = -1};
    *call->err = (struct err){0};
    int64_t began = clock_now_ns();
    enum err_code code = answer_call(call, p);
    if (code == ERR_OK) *call->err = (struct err){0}; /* clears the error of an earlier attempt */
    count_call(call->scorer, code, info->cached);
    info->latency_ns = clock_now_ns() - began;
    return code;
}

enum err_code scorer_entails(struct scorer *scorer, const char *premise, const char *hypothesis, int64_t deadline_ns,
                             double *p, struct scorer_reply *info, struct err *err)
{
    struct scorer_reply own_info;
    struct err own_err;
    struct call call = {.scorer = scorer,
                        .premise = premise,
                        .hypothesis = hypothesis,
                        .deadline_ns = deadline_ns,
                        .info = info ? info : &own_info,
                        .err = err ? err : &own_err};
    return ask(&call, p);
}

static enum err_code ask_for_text(struct scorer *scorer, const char *data, int64_t deadline_ns, char **text,
                                  struct scorer_reply *info, struct err *err)
{
    struct scorer_reply own_info;
    struct err own_err;
    double p;
    struct call call = {.scorer = scorer,
                        .premise = data,
                        .hypothesis = "",
                        .deadline_ns = deadline_ns,
                        .info = info ? info : &own_info,
                        .err = err ? err : &own_err};
    enum err_code code = ask(&call, &p);
    *text = code == ERR_OK ? call.text : NULL;
    if (code != ERR_OK) free(call.text);
    return code;
}

enum err_code scorer_correct(struct scorer *scorer, const char *data, int64_t deadline_ns, char **sql,
                             struct scorer_reply *info, struct err *err)
{
    return ask_for_text(scorer, data, deadline_ns, sql, info, err);
}

enum err_code scorer_polish(struct scorer *scorer, const char *data, int64_t deadline_ns, char **text,
                            struct scorer_reply *info, struct err *err)
{
    return ask_for_text(scorer, data, deadline_ns, text, info, err);
}

enum err_code scorer_fill(struct scorer *scorer, const char *data, int64_t deadline_ns, char **object,
                          struct scorer_reply *info, struct err *err)
{
    return ask_for_text(scorer, data, deadline_ns, object, info, err);
}

enum err_code scorer_embed(struct scorer *scorer, const char *texts, int64_t deadline_ns, char **vectors,
                           struct scorer_reply *info, struct err *err)
{
    return ask_for_text(scorer, texts, deadline_ns, vectors, info, err);
}
