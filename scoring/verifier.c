/* DESIGN: loads the verifier's file, and computes the parts of P(entails).
 *
 *   {"format": "assay-verifier", "version": 2, "command",
 *    "components": hashed linear models, one for each component (lib/learn/hashed.h),
 *    "content": a classifier over verifier_row (lib/learn/classifier.h), calibrated for even odds,
 *    "wording": weight of the learned score of the question's words (lib/question/wording.h); optional,
 *    "generators": {name: {"vote", "first", "none", "temperature"}}; "" is a generator without a name, "*" several}
 *
 * The content model is fitted with equal total weight of right and wrong samples. So its log-odds are evidence, which
 * can be added to the log-odds of the context.
 *
 * Rejected: one model over content and context. In the available logs, the first beam is right in 98 % of all cases,
 * and mutants have no votes. */
#include "scoring/verifier.h"

#include "lib/learn/blocks.h"
#include "lib/learn/classifier.h"
#include "lib/learn/hashed.h"
#include "lib/learn/json_file.h"
#include "lib/learn/logit.h"
#include "scoring/verifier_context.h"
#include "scoring/verifier_row.h"

#include <glib.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <xxhash.h>

enum { CACHE_SLOTS = 64, CACHE_QUESTION_BYTES = 2048 };
enum { VERIFIER_VERSION = 2 /* 1: hashed models with all their buckets */, MAX_GENERATORS = 1024, KEY_BYTES = 4 << 20 };
static const char FORMAT[] = "assay-verifier";
static const double LEAST_P = 1e-4;

/* The expected components of a question. They are cached because each candidate of the question needs them, mostly more
 * than once. Several slots are needed because candidates of several questions alternate. */
struct cached_question {
    char question[CACHE_QUESTION_BYTES]; /* "" if the slot is free */
    double expected[SQL_COMPONENT_COUNT];
};

struct question_cache {
    pthread_mutex_t lock;
    struct cached_question items[CACHE_SLOTS]; /* by hash of the question; a later question replaces an earlier one */
};

struct verifier_model {
    struct hashed_model *components;
    struct learn_model *content;
    /* For each feature of the content model: its column of verifier_row, or -1. */
    int from[LEARN_MAX_FEATURES];
    double wording;         /* weight of the learned score of the question's words; 0 if the file has none */
    GHashTable *generators; /* name → struct verifier_prior; may be NULL */
    struct question_cache *cache;
    uint64_t digest;
};

/* --- judging --- */

static bool predict(const struct verifier_model *model, const char *question, double *expected)
{
    struct arena arena;
    uint64_t keys[VERIFIER_MAX_KEYS];
    arena_init(&arena, KEY_BYTES);
    uint32_t n = verifier_keys(&arena, question, keys);
    arena_free(&arena);
    if (n) hashed_predict(model->components, keys, n, expected);
    return n != 0;
}

static bool expected_components(const struct verifier_model *model, const char *question, double *expected)
{
    if (!question || !*question) return false;
    size_t len = strlen(question), size = SQL_COMPONENT_COUNT * sizeof *expected;
    if (len >= CACHE_QUESTION_BYTES) return predict(model, question, expected);
    struct question_cache *all = model->cache;
    struct cached_question *item = &all->items[XXH3_64bits(question, len) % CACHE_SLOTS];
    pthread_mutex_lock(&all->lock);
    bool known = strcmp(item->question, question) == 0;
    if (known) memcpy(expected, item->expected, size);
    pthread_mutex_unlock(&all->lock);
    if (known) return true;
    if (!predict(model, question, expected)) return false;
    pthread_mutex_lock(&all->lock);
    memcpy(item->question, question, len + 1);
    memcpy(item->expected, expected, size);
    pthread_mutex_unlock(&all->lock);
    return true;
}

/* Returns the weighted score of the question's words, which is learned from pairs of a right and a wrong query. The
 * trees alone make little use of this score, because most of their training questions are about databases without such
 * pairs (lib/question/wording.h). */
static double wording_of(const struct verifier_model *model, const float *features)
{
    double sum = (double)features[FEATURE_wording_sum];
    return isnan(sum) ? 0 : model->wording * sum;
}

double verifier_content(const struct verifier_model *model, const char *question, const float *features,
                        const float *signals)
{
    float row[VERIFIER_ROW], x[LEARN_MAX_FEATURES];
    double expected[SQL_COMPONENT_COUNT];
    if (!features || isnan(features[FEATURE_COMPONENTS])) return (double)NAN;
    verifier_row(features, signals, expected_components(model, question, expected) ? expected : NULL, row);
    unsigned n = learn_n_features(model->content);
    for (unsigned i = 0; i < n; i++) x[i] = model->from[i] >= 0 ? row[model->from[i]] : (float)NAN;
    return learn_logit(learn_predict(model->content, x), LEAST_P) + wording_of(model, features);
}

static double content_of(const struct verifier_model *model, const struct verifier_subject *s)
{
    float signals[VSIG_ID_END];
    const struct msg_judged *judged = &s->candidates[s->index];
    verifier_row_signals(judged, signals);
    /* An unavailable signal counts as silent. models.c discounts it later. */
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (judged->signals[i].state == MSG_UNAVAILABLE && judged->signals[i].id < VSIG_ID_END)
            signals[judged->signals[i].id] = 0;
    return verifier_content(model, s->request->question, s->features, signals);
}

/* Returns the prior that was fitted to feedback on the request's generator. Returns NULL if there was no feedback. */
static const struct verifier_prior *fitted_prior(const struct verifier_model *model, const struct msg_request *request)
{
    if (!model->generators) return NULL;
    const char *name = verifier_generator(request);
    return g_hash_table_lookup(model->generators, name ? name : "*");
}

static const struct verifier_prior *neutral_prior(const struct verifier_subject *s)
{
    if (!verifier_generator(s->request)) return &verifier_prior_several;
    return s->order == MSG_ORDER_RANKED ? &verifier_prior_ranked : &verifier_prior_one;
}

static struct verifier_prior prior_of(const struct verifier_model *model, const struct verifier_subject *s)
{
    const struct verifier_prior *known = fitted_prior(model, s->request);
    struct verifier_prior prior = known ? *known : *neutral_prior(s);
    /* The order of the request overrides the usual order of the generator. */
    if (s->order == MSG_ORDER_UNKNOWN) prior.first = 0;
    return prior;
}

double verifier_signal_importance(const struct verifier_model *model, const char *signal)
{
    static const char prefix[] = "signal_";
    for (unsigned i = 0; model->content && i < learn_n_features(model->content); i++) {
        const char *name = learn_feature(model->content, i);
        if (strncmp(name, prefix, sizeof prefix - 1) == 0 && strcmp(name + sizeof prefix - 1, signal) == 0)
            return learn_importance(model->content, i);
    }
    return 0;
}

bool verifier_is_fitted(const struct verifier_model *model, const struct msg_request *request)
{
    return model && fitted_prior(model, request);
}

struct verifier_parts verifier_parts(const struct verifier_model *model, const struct verifier_subject *subject)
{
    struct verifier_parts parts = {.content = NAN, .context = 0};
    if (!model) return parts;
    struct verifier_prior prior = prior_of(model, subject);
    parts.content = content_of(model, subject) * prior.temperature;
    parts.context = verifier_context(&prior, subject);
    return parts;
}

double verifier_entails(const struct verifier_model *model, const struct verifier_subject *subject)
{
    struct verifier_parts parts = verifier_parts(model, subject);
    return 1 / (1 + exp(-(parts.content + parts.context)));
}

/* --- loading --- */

void verifier_free(struct verifier_model *model)
{
    if (!model) return;
    hashed_free(model->components);
    learn_free(model->content);
    if (model->generators) g_hash_table_destroy(model->generators);
    pthread_mutex_destroy(&model->cache->lock);
    g_free(model->cache);
    g_free(model);
}

static enum err_code load_content(const json_t *object, const struct model_blocks *blocks, struct verifier_model *model,
                                  struct err *err)
{
    if (!object) return err_set(err, ERR_MALFORMED, "the content model is missing");
    enum err_code code = learn_load_json(object, blocks, &model->content, err);
    if (code == ERR_OK) learn_map(model->content, verifier_row_names(), VERIFIER_ROW, model->from);
    return code;
}

static bool load_prior(const json_t *object, struct verifier_prior *prior)
{
    return model_get_real(object, "vote", -10, 10, &prior->vote) &&
           model_get_real(object, "first", -20, 20, &prior->first) &&
           model_get_real(object, "none", 1e-6, 1e6, &prior->none) &&
           model_get_real(object, "temperature", 0, 10, &prior->temperature);
}

static bool load_generators(const json_t *object, struct verifier_model *model)
{
    const char *name;
    json_t *value;
    if (!object) return true;
    if (!json_is_object(object) || json_object_size(object) > MAX_GENERATORS) return false;
    model->generators = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        struct verifier_prior *prior = g_new0(struct verifier_prior, 1);
        g_hash_table_insert(model->generators, g_strdup(name), prior);
        if (!load_prior(value, prior)) return false;
    }
    return true;
}

static enum err_code load(const json_t *root, const struct model_blocks *blocks, struct verifier_model *model,
                          struct err *err)
{
    model->components = hashed_load(json_object_get(root, "components"), blocks);
    if (!model->components || hashed_outputs(model->components) > SQL_COMPONENT_COUNT)
        return err_set(err, ERR_MALFORMED, "the component models are invalid");
    if (hashed_outputs(model->components) < SQL_COMPONENT_COUNT)
        return err_set(err, ERR_VERSION, "the file has %u components, but this build has %d; train it again",
                       hashed_outputs(model->components), SQL_COMPONENT_COUNT);
    if (json_object_get(root, "wording") && !model_get_real(root, "wording", 0, 10, &model->wording))
        return err_set(err, ERR_MALFORMED, "the weight of the wording is invalid");
    if (!load_generators(json_object_get(root, "generators"), model))
        return err_set(err, ERR_MALFORMED, "the numbers of a generator are invalid");
    return load_content(json_object_get(root, "content"), blocks, model, err);
}

static enum err_code load_document(const json_t *root, const struct model_blocks *blocks, struct verifier_model **out,
                                   struct err *err)
{
    struct verifier_model *model = g_new0(struct verifier_model, 1);
    model->cache = g_new0(struct question_cache, 1);
    pthread_mutex_init(&model->cache->lock, NULL);
    enum err_code code = load(root, blocks, model, err);
    if (code)
        verifier_free(model);
    else
        *out = model;
    return code;
}

enum err_code verifier_load_text(const char *text, size_t len, struct verifier_model **out, struct err *err)
{
    json_t *root;
    *out = NULL;
    enum err_code code = model_json_parse(text, len, FORMAT, VERIFIER_VERSION, &root, err);
    if (code) return code;
    code = load_document(root, NULL, out, err);
    json_decref(root);
    return code;
}

enum err_code verifier_load(const char *path, struct verifier_model **out, struct err *err)
{
    struct model_document document;
    struct err inner = {0};
    *out = NULL;
    enum err_code code = model_document_open(path, FORMAT, VERIFIER_VERSION, &document, err);
    if (code) return code;
    code = load_document(document.root, &document.blocks, out, &inner);
    if (!code) (*out)->digest = document.digest;
    model_document_clear(&document);
    return code ? err_at(err, code, &inner, "%s", path) : ERR_OK;
}

uint64_t verifier_digest(const struct verifier_model *model)
{
    return model->digest;
}
