/* The learned part of judging: label model, classifier and verifier, and how they are combined.
 *
 * decision.json has the settings that measured best on the training logs:
 *
 *   {"schema": "assay.decision", "version": 1, "strategy": "rerank", "threshold": 0.8,
 *    "margin": {"ranked": 0.05, "sampled": 0}, "label_threshold": 0.5, "entailment_threshold": 0.5,
 *    "cyclesql_threshold": 0.5, "repair_margin": 0.5, "critical": ["empty_predicate", ...], "combine": [0, 0.5, 0.5],
 *    "unfamiliar": [0, 1], "command": "..."}
 *
 * - threshold: The P(correct) at which a candidate validates.
 * - margin: The lead in P(correct) that another candidate of a ranked or sampled list needs over the first one that
 *   executes.
 * - repair_margin: The lead in P(correct) that a repair needs over the query that it replaces.
 * - critical: The order of signals in which a corrector receives their findings.
 * - label_threshold, entailment_threshold: The thresholds of the signals' probability and of the entailment, if a
 *   strategy uses both models.
 * - cyclesql_threshold: The threshold of the entailment, if a strategy uses the verifier alone.
 * - combine: z = c0 + c1 logit p + c2 logit entailment. If the verifier was fitted to feedback on the generator, z is
 *   logit P(correct).
 * - unfamiliar: For other generators, which differ from the training logs, logit P(correct) = u0 + u1 z.
 * - builtin_share: The weight of the built-in verifier's log-odds if there is also a remote verifier. The remote
 *   verifier has the remaining weight. It is one number, or one for each order of candidates
 *   ({"ranked": 0.8, "unknown": 0.7}). The default is 0.
 * - schema_only: Two numbers as in `unfamiliar`, for a candidate that was judged from a schema without data. They never
 *   raise P. If they are absent, P is at most 0.5 for such a candidate.
 *
 * Without the file, the strategy is first_valid, all thresholds and repair_margin are 0.5, and logit P(correct) is the
 * mean of the log-odds. */
#include "scoring/models.h"

#include "scoring/features/features.h"
#include "signals/vsig.h"

#include "lib/learn/blocks.h"
#include "lib/learn/logit.h"

#include <dlfcn.h>
#include <glib.h>
#include <jansson.h>
#include <link.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* the kernel's limit on symbolic links in a path */
static const double DEFAULT_THRESHOLD = 0.5, DEFAULT_REPAIR_MARGIN = 0.5;
static const double DEFAULT_WEIGHTS[3] = {0, 0.5, 0.5}, IDENTITY[2] = {0, 1};

/* Returns the folder of models beside a program or library of this name, or NULL. Debian's libraries are one folder
 * deeper than its programs. `..` removes the last name of the path as written. So if a build folder is a link to
 * another disk, the search starts at the link and not at its target. */
static char *models_beside(const char *program)
{
    static const char *const near[] = {"../share/assay/models", "../../share/assay/models", "../../../models",
                                       "../../models"};
    char *home = g_path_get_dirname(program), *found = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(near) && !found; i++) {
        char *path = g_build_filename(home, near[i], NULL);
        found = g_canonicalize_filename(path, NULL);
        if (!g_file_test(found, G_FILE_TEST_IS_DIR)) g_clear_pointer(&found, g_free);
        g_free(path);
    }
    g_free(home);
    return found;
}

/* Returns the target of a link as an absolute path. Returns NULL if the path is not a link. */
static char *read_link(const char *path)
{
    char *target = g_file_read_link(path, NULL), *home = g_path_get_dirname(path);
    char *whole = target ? g_canonicalize_filename(target, home) : NULL;
    g_free(home);
    g_free(target);
    return whole;
}

/* Returns the path of the shared library that contains this code. Returns NULL if the program itself contains it. */
static char *own_library(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((void *)(uintptr_t)models_load, &info, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    return map && map->l_name[0] ? realpath(map->l_name, NULL) : NULL;
}

/* Finds the models beside the program, which may be installed or in a build folder. Tries the program's own file, then
 * the name that started it. If that name is a link, tries each target in turn. Returns NULL if there are no models. */
static char *find_beside_program(void)
{
    char *program = g_file_read_link("/proc/self/exe", NULL), *found = program ? models_beside(program) : NULL;
    const char *started = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    g_free(program);
    program = started ? g_canonicalize_filename(started, NULL) : NULL;
    for (unsigned i = 0; program && !found && i < MAX_LINKS; i++) {
        char *next = read_link(program);
        found = models_beside(program);
        g_free(program);
        program = next;
    }
    g_free(program);
    return found;
}

/* Finds the models beside this code. A library searches beside itself, because the files beside its host program belong
 * to another project. */
static char *find_near(void)
{
    char *library = own_library();
    char *found = library ? models_beside(library) : find_beside_program();
    free(library);
    return found;
}

static char *find_dir(const char *dir)
{
    const char *asked = dir ? dir : g_getenv("ASSAY_MODELS");
    char *found = asked ? g_strdup(asked) : find_near();
    if (!found && g_file_test(MODELS_INSTALLED, G_FILE_TEST_IS_DIR)) found = g_strdup(MODELS_INSTALLED);
    return found ? found : g_strdup(".");
}

/* Returns the path of the file to load: the requested file, otherwise the shipped one. Returns NULL for "none". */
static char *model_path(const char *dir, const char *name, const char *asked)
{
    if (asked && strcmp(asked, "none") == 0) return NULL;
    return asked ? g_strdup(asked) : g_build_filename(dir, name, NULL);
}

static uint64_t digest_of(const char *path)
{
    uint64_t digest = 0;
    model_file_digest(path, &digest);
    return digest;
}

/* Returns the version text of a file, such as "label_model.json 1a2b3c4d". */
static char *version_of(const char *path, uint64_t digest)
{
    char *base = g_path_get_basename(path);
    char *out = g_strdup_printf("%s %08x", base, (unsigned)(digest >> 32));
    g_free(base);
    return out;
}

static enum err_code unusable(const char *what, const char *path, const struct err *why, struct err *err)
{
    return err_set(err, ERR_CONFIG,
                   "the %s %s cannot be used: %s" ERR_HINT
                   "name another file, set ASSAY_MODELS to another directory, or use 'none'",
                   what, path, why->text);
}

static enum err_code load_label_model(struct scoring_models *m, const char *path, struct err *err)
{
    struct err why = {0};
    if (!path) return ERR_OK;
    if (lm_load(path, &m->label_model, &why)) return unusable("label model", path, &why, err);
    unsigned n;
    const char *const *names = votes_names(VOTES_REQUEST, &n);
    lm_map_init(&m->map, m->label_model, names, n);
    m->label_model_version = version_of(path, digest_of(path));
    return ERR_OK;
}

/* Loads the classifier. With `optional`, a missing file is not an error. */
static enum err_code load_classifier(struct scoring_models *m, const char *path, bool optional, struct err *err)
{
    struct err why = {0};
    if (!path || (optional && access(path, F_OK) != 0)) return ERR_OK;
    if (learn_load(path, &m->classifier, &why)) return unusable("classifier", path, &why, err);
    unsigned n;
    const char *const *names = votes_feature_names(VOTES_REQUEST, &n);
    m->n_features = learn_n_features(m->classifier);
    if (m->n_features > MODELS_MAX_FEATURES)
        return err_set(err, ERR_CONFIG, "the classifier %s has %u features; the limit is %d", path, m->n_features,
                       MODELS_MAX_FEATURES);
    learn_map(m->classifier, names, n, m->from);
    m->classifier_version = version_of(path, digest_of(path));
    return ERR_OK;
}

/* Loads the verifier. With `optional`, a missing file is not an error. */
static enum err_code load_verifier(struct scoring_models *m, const char *path, bool optional, struct err *err)
{
    struct err why = {0};
    if (!path || (optional && access(path, F_OK) != 0)) return ERR_OK;
    if (verifier_load(path, &m->verifier, &why)) return unusable("verifier", path, &why, err);
    m->verifier_version = version_of(path, verifier_digest(m->verifier));
    return ERR_OK;
}

static enum err_code bad_decision(const char *path, const char *what, struct err *err)
{
    return err_set(err, ERR_CONFIG, "the decision file %s: %s", path, what);
}

static enum err_code read_share(const json_t *root, const char *key, const char *path, double *out, struct err *err)
{
    const json_t *value = json_object_get(root, key);
    if (!value) return ERR_OK;
    *out = json_number_value(value);
    if (json_is_number(value) && *out >= 0 && *out <= 1) return ERR_OK;
    return err_set(err, ERR_CONFIG, "the decision file %s: %s is not a number from 0 to 1", path, key);
}

/* Reads a constant and n - 1 weights, which must not be negative. Leaves `weights` unchanged if the file has none. */
static bool read_weights(const json_t *root, const char *key, double *weights, size_t n)
{
    const json_t *list = json_object_get(root, key);
    if (!list) return true;
    if (json_array_size(list) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *weight = json_array_get(list, i);
        weights[i] = json_number_value(weight);
        if (!json_is_number(weight) || fabs(weights[i]) > 100 || (i && weights[i] < 0)) return false;
    }
    return true;
}

/* Reads {"ranked": 0.05, "sampled": 0}, or one number for both. Lists of unknown order have no margin. */
static enum err_code read_margins(struct scoring_models *m, const json_t *root, const char *path, struct err *err)
{
    static const enum msg_order orders[] = {MSG_ORDER_RANKED, MSG_ORDER_SAMPLED};
    const json_t *margin = json_object_get(root, "margin");
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < G_N_ELEMENTS(orders) && margin && !code; i++) {
        bool one = !json_is_object(margin);
        code = read_share(one ? root : margin, one ? "margin" : msg_order_name(orders[i]), path, &m->margins[orders[i]],
                          err);
    }
    return code;
}

/* Reads {"ranked": 0.8, "sampled": 0.9, "unknown": 0.7}, or one number for all orders. */
static enum err_code read_shares(struct scoring_models *m, const json_t *root, const char *path, struct err *err)
{
    const json_t *shares = json_object_get(root, "builtin_share");
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < MSG_ORDER_COUNT && shares && !code; i++) {
        bool one = !json_is_object(shares);
        const char *name = msg_order_name((enum msg_order)i);
        if (one || name)
            code = read_share(one ? root : shares, one ? "builtin_share" : name, path, &m->builtin_share[i], err);
    }
    return code;
}

/* Reads names of signals, the most critical first. Signals that are not in the list rank last. */
static bool read_critical(struct scoring_models *m, const json_t *list)
{
    memset(m->critical, UINT8_MAX, sizeof m->critical);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        const struct vsig_def *def = name ? vsig_by_name(name) : NULL;
        if (!def || i >= UINT8_MAX) return false;
        m->critical[def->id] = (uint8_t)i;
    }
    return !list || json_is_array(list);
}

static enum err_code read_decision(struct scoring_models *m, const json_t *root, const char *path, struct err *err)
{
    const char *schema = json_string_value(json_object_get(root, "schema"));
    const char *strategy = json_string_value(json_object_get(root, "strategy"));
    if (!schema || strcmp(schema, "assay.decision") != 0)
        return bad_decision(path, "schema is not assay.decision", err);
    if (json_integer_value(json_object_get(root, "version")) != 1)
        return bad_decision(path, "unsupported version", err);
    int value = strategy ? msg_strategy_by_name(strategy) : (int)m->strategy;
    if (value < 0) return bad_decision(path, "unknown strategy", err);
    m->strategy = (enum msg_strategy)value;
    enum err_code code = read_share(root, "threshold", path, &m->threshold, err);
    if (!code) code = read_margins(m, root, path, err);
    if (!code) code = read_shares(m, root, path, err);
    if (!code) code = read_share(root, "label_threshold", path, &m->label_threshold, err);
    if (!code) code = read_share(root, "entailment_threshold", path, &m->entailment_threshold, err);
    if (!code) code = read_share(root, "cyclesql_threshold", path, &m->cyclesql_threshold, err);
    if (!code) code = read_share(root, "repair_margin", path, &m->repair_margin, err);
    if (!code && !read_critical(m, json_object_get(root, "critical")))
        code = bad_decision(path, "critical is not a list of signals", err);
    if (!code && !read_weights(root, "combine", m->weights, G_N_ELEMENTS(m->weights)))
        code = bad_decision(path, "combine is not a list of three numbers in range", err);
    m->knows_schemas = json_object_get(root, "schema_only") != NULL;
    if (!code && !read_weights(root, "schema_only", m->schema_only, G_N_ELEMENTS(m->schema_only)))
        code = bad_decision(path, "schema_only is not a list of two numbers in range", err);
    if (!code && !read_weights(root, "unfamiliar", m->unfamiliar, G_N_ELEMENTS(m->unfamiliar)))
        code = bad_decision(path, "unfamiliar is not a list of two numbers in range", err);
    return code;
}

static enum err_code load_decision(struct scoring_models *m, const char *path, struct err *err)
{
    json_error_t error;
    if (access(path, F_OK) != 0) return ERR_OK;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root) return bad_decision(path, error.text, err);
    enum err_code code = read_decision(m, root, path, err);
    json_decref(root);
    return code;
}

static enum err_code load_guarantee(struct scoring_models *m, const char *path, struct err *err)
{
    const struct guarantee_conditions conditions = {
        .label_model = m->label_model_version, .classifier = m->classifier_version, .verifier = m->verifier_version};
    return guarantee_load(path, &conditions, &m->guarantee, err);
}

enum err_code models_load(const struct models_files *files, struct scoring_models **out, struct err *err)
{
    struct scoring_models *m = g_new0(struct scoring_models, 1);
    m->strategy = MSG_FIRST_VALID;
    m->threshold = m->label_threshold = m->entailment_threshold = m->cyclesql_threshold = DEFAULT_THRESHOLD;
    m->repair_margin = DEFAULT_REPAIR_MARGIN;
    memset(m->critical, UINT8_MAX, sizeof m->critical);
    memcpy(m->weights, DEFAULT_WEIGHTS, sizeof m->weights);
    memcpy(m->unfamiliar, IDENTITY, sizeof m->unfamiliar);
    char *home = find_dir(files->dir);
    char *label_model_path = model_path(home, "label_model.json", files->label_model);
    char *classifier_path = model_path(home, "classifier.json", files->classifier);
    char *verifier_path = model_path(home, "verifier.json", files->verifier);
    char *decision_path = g_build_filename(home, "decision.json", NULL);
    enum err_code code = load_label_model(m, label_model_path, err);
    if (!code) code = load_classifier(m, classifier_path, !files->classifier, err);
    if (!code) code = load_verifier(m, verifier_path, !files->verifier, err);
    if (!code) code = load_decision(m, decision_path, err);
    if (!code) models_find_unlearned(m);
    if (!code && files->calibration) code = load_guarantee(m, files->calibration, err);
    g_free(decision_path);
    g_free(verifier_path);
    g_free(classifier_path);
    g_free(label_model_path);
    g_free(home);
    if (code) g_clear_pointer(&m, models_free);
    *out = m;
    return code;
}

void models_free(struct scoring_models *models)
{
    if (!models) return;
    lm_free(models->label_model);
    learn_free(models->classifier);
    verifier_free(models->verifier);
    guarantee_free(models->guarantee);
    g_free(models->label_model_version);
    g_free(models->classifier_version);
    g_free(models->verifier_version);
    g_free(models);
}

enum msg_strategy models_strategy(const struct scoring_models *models)
{
    return models->strategy;
}
double models_threshold(const struct scoring_models *models)
{
    return models->threshold;
}

/* Returns a score without a model: the sum of the votes' levels, negated. */
static double count_votes(const uint8_t *votes, unsigned n_signals)
{
    double weight = 0;
    for (unsigned i = 0; i < n_signals; i++)
        if (votes[i] != LM_MISSING) weight += votes[i];
    return -weight;
}

static double classify(const struct scoring_models *m, const struct votes_subject *subject, double label_model_p)
{
    float row[MODELS_MAX_FEATURES], mapped[MODELS_MAX_FEATURES];
    votes_feature_row(subject, VOTES_REQUEST, label_model_p, row);
    for (unsigned i = 0; i < m->n_features; i++) mapped[i] = m->from[i] < 0 ? NAN : row[m->from[i]];
    return learn_predict(m->classifier, mapped);
}

static const double LEAST_P = 1e-6;

/* Bounds a probability away from 0 and 1. So neither model can always overrule the other, and no verdict is certain.
 * NaN stays NaN. */
static double bounded(double p)
{
    return p < LEAST_P ? LEAST_P : p > 1 - LEAST_P ? 1 - LEAST_P : p;
}

/* --- unavailable signals ---
 *
 * A missing input must never improve a score. A tree can send a missing value to the better branch. In a forest of
 * signals, a vote may weigh less if its parent is unknown. So each model scores the unavailable signals as silent,
 * their best possible report, and then subtracts the worth of that silence. Each lost signal then lowers the result,
 * for any model and any other losses. The minimum of the scores "as missing" and "as silent" would not guarantee
 * this. */

/* Returns by how much silence of the candidate's unavailable signals would raise the log-odds, in nats. */
static double unavailable_discount(const struct scoring_models *models, const struct msg_judged *judged)
{
    unsigned n;
    double lost = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        if (judged->signals[i].state != MSG_UNAVAILABLE) continue;
        for (unsigned k = 0; models->label_model && k < models->label_model->n_signals; k++) {
            int column = models->map.from[k];
            if (column >= 0 && (unsigned)column < n && (uint32_t)all[column]->id == judged->signals[i].id)
                lost += lm_silence(models->label_model, k);
        }
    }
    return lost;
}

double models_discount(const struct scoring_models *models, const struct msg_judged *judged, double p)
{
    double lost = isnan(p) ? 0 : unavailable_discount(models, judged);
    return lost > 0 ? 1 / (1 + exp(lost - learn_logit(p, LEAST_P))) : p;
}

struct models_score models_score(const struct scoring_models *models, const struct votes_subject *subject)
{
    uint8_t votes[LM_MAX_COLUMNS];
    unsigned n_signals;
    struct models_score out = {NAN, NAN, 0};
    struct votes_subject best = *subject;
    const struct msg_judged *judged = &subject->candidates[subject->index];
    best.unavailable_as_silent = true;
    vsig_all(&n_signals);
    votes_levels(&best, VOTES_REQUEST, votes);
    if (models->label_model) out.p = out.label_model_p = lm_p_correct(models->label_model, &models->map, votes);
    if (models->classifier) out.p = classify(models, &best, out.label_model_p);
    out.label_model_p = models_discount(models, judged, out.label_model_p);
    out.p = models_discount(models, judged, out.p);
    out.score = isnan(out.p) ? count_votes(votes, n_signals) : out.p;
    return out;
}

double models_blend(const struct scoring_models *models, enum msg_order order, double builtin, double remote)
{
    double share = models->builtin_share[order];
    if (isnan(builtin) || (!isnan(remote) && share <= 0)) return remote;
    if (isnan(remote) || share >= 1) return builtin;
    double z = share * learn_logit(builtin, LEAST_P) + (1 - share) * learn_logit(remote, LEAST_P);
    return bounded(1 / (1 + exp(-z)));
}

double models_combine(const struct scoring_models *models, double p, double entailment, bool fitted)
{
    const double *w = models->weights, *u = fitted ? IDENTITY : models->unfamiliar;
    if (isnan(entailment)) return bounded(p);
    if (isnan(p)) return bounded(entailment);
    double z = w[0] + w[1] * learn_logit(p, LEAST_P) + w[2] * learn_logit(entailment, LEAST_P);
    return bounded(1 / (1 + exp(-(u[0] + u[1] * z))));
}

double models_from_schema(const struct scoring_models *models, double p)
{
    if (isnan(p)) return p;
    if (!models->knows_schemas) return fmin(p, 0.5);
    double z = models->schema_only[0] + models->schema_only[1] * learn_logit(p, LEAST_P);
    return fmin(p, bounded(1 / (1 + exp(-z))));
}

static bool is_weighed(const struct scoring_models *models, const struct vsig_def *def)
{
    for (unsigned i = 0; models->label_model && i < models->label_model->n_signals; i++)
        if (models->map.from[i] >= 0 && strcmp(models->label_model->signals[i].name, def->name) == 0) return true;
    return false;
}

/* The worst report of a language model on a candidate. HEARD_NOTHING means that there is no usable report. */
enum heard { HEARD_NOTHING, HEARD_SILENCE, HEARD_WARNING, HEARD_ERROR };

static enum heard heard_of(const struct scoring_models *models, const struct msg_judged *judged)
{
    unsigned signals = 0, unavailable = 0;
    enum heard worst = HEARD_SILENCE;
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        const struct vsig_def *def = vsig_by_id((enum vsig_id)judged->signals[i].id);
        if (!def || def->family != VSIG_LLM || is_weighed(models, def)) continue;
        signals++;
        unavailable += judged->signals[i].state == MSG_UNAVAILABLE;
        for (uint32_t k = 0; judged->signals[i].state == MSG_FIRED && k < judged->n_findings; k++) {
            const struct msg_finding *finding = &judged->findings[k];
            if (finding->signal != (uint32_t)def->id || finding->severity == MSG_NOTE) continue;
            worst = MAX(worst, finding->severity == MSG_ERROR ? HEARD_ERROR : HEARD_WARNING);
        }
    }
    if (!signals || (worst == HEARD_SILENCE && unavailable * 5 > signals)) return HEARD_NOTHING;
    return worst;
}

double models_hear(const struct scoring_models *models, const struct msg_judged *judged, double hit_rate, double p)
{
    static const double weights[] = {
        [HEARD_NOTHING] = 0, [HEARD_SILENCE] = 1, [HEARD_WARNING] = -0.5, [HEARD_ERROR] = -1};
    double weight = isnan(p) ? 0 : weights[heard_of(models, judged)];
    if (weight == 0) return p;
    return bounded(1 / (1 + exp(-(learn_logit(p, LEAST_P) + weight * learn_logit(hit_rate, LEAST_P)))));
}

bool models_read_features(const struct msg_explanation *explanation, float *out)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++) out[i] = (float)NAN;
    if (!explanation || (!explanation->n_numbers && !explanation->components)) return false;
    for (uint32_t i = 0; i < explanation->n_numbers; i++) {
        int index = features_by_id(explanation->numbers[i].id);
        if (index >= 0 && index < FEATURE_COMPONENTS) out[index] = explanation->numbers[i].value;
    }
    for (unsigned i = FEATURE_COMPONENTS; i < FEATURE_COUNT && explanation->components; i++)
        out[i] = (float)(explanation->components >> (features_id(i) - FEATURE_COMPONENT_ID) & 1);
    return true;
}
