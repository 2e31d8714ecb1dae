/* The backend for text-embeddings-inference, which uses /predict with sentence pairs.
 *
 * Models differ in the name and the position of the label "entails". The names come from /info (id2label). /info is
 * requested once, and again after an answer with other labels, because another model may have been deployed. Scores are
 * matched by label, never by position. A request contains one pair, so it is within the server's limit on batches. The
 * server truncates a long pair, because only the server knows the tokens.
 */
#include "lib/llm/remote_json.h"
#include "lib/llm/scorer_int.h"

#include <string.h>

enum { MAX_LABELS = 16, LABEL_ROOM = 64 };

struct label {
    long id;
    char name[LABEL_ROOM];
};

struct labels {
    bool known; /* the labels below are valid */
    unsigned n; /* 0 if /info listed none; the names in the answers are then used */
    struct label of[MAX_LABELS];
};

struct tei {
    pthread_mutex_t lock;
    struct labels labels;
};

static void *tei_open(void)
{
    struct tei *tei = g_new0(struct tei, 1);
    pthread_mutex_init(&tei->lock, NULL);
    return tei;
}

static void tei_close(void *state)
{
    struct tei *tei = state;
    pthread_mutex_destroy(&tei->lock);
    g_free(tei);
}

/* --- labels ----------------------------------------------------------------------------------------------------- */

/* Returns k of a name "LABEL_k", or -1 for other names. Models without label names use LABEL_k. */
static long numbered(const char *name)
{
    if (g_ascii_strncasecmp(name, "LABEL_", 6) != 0 || !g_ascii_isdigit(name[6])) return -1;
    char *end = NULL;
    gint64 k = g_ascii_strtoll(name + 6, &end, 10);
    return *end || k >= 1000 ? -1 : (long)k;
}

static const struct label *label_find(const struct labels *labels, const char *name)
{
    long k = numbered(name);
    for (unsigned i = 0; i < labels->n; i++)
        if (strcmp(labels->of[i].name, name) == 0 || labels->of[i].id == k) return &labels->of[i];
    return NULL;
}

/* True if a label begins with "entail" in any case, such as "entailment". False for "not_entailment". */
static bool name_entails(const char *name)
{
    return g_ascii_strncasecmp(name, "entail", 6) == 0;
}

static bool label_add(struct labels *labels, const char *id, const json_t *name)
{
    char *end = NULL;
    gint64 number = g_ascii_strtoll(id, &end, 10);
    const char *text = json_string_value(name);
    if (end == id || *end || number < 0 || number >= 1000 || !text || strlen(text) >= LABEL_ROOM) return false;
    if (labels->n == MAX_LABELS) return false;
    struct label *label = &labels->of[labels->n++];
    label->id = (long)number;
    g_strlcpy(label->name, text, LABEL_ROOM);
    return true;
}

static enum err_code read_info(struct call *call, const struct http_reply *reply, struct labels *out)
{
    json_t *root = remote_json(reply->body, reply->len), *type = json_object_get(root, "model_type"), *kind = NULL;
    const char *name = NULL;
    const json_t *names = NULL;
    json_object_foreach(type, name, kind) if (!names) names = json_object_get(kind, "id2label");
    enum err_code code = ERR_OK;
    if (!json_is_object(root))
        code = err_set(call->err, ERR_MALFORMED, "the model endpoint did not describe its model in JSON");
    else if (type && !json_is_object(names))
        code = err_set(call->err, ERR_CONFIG, "the model endpoint does not serve a classifier of sentence pairs");
    json_t *label = NULL;
    if (code == ERR_OK && names) {
        json_object_foreach((json_t *)names, name, label)
        {
            if (label_add(out, name, label)) continue;
            code = err_set(call->err, ERR_CONFIG, "the model endpoint has labels that are not entailment labels");
            break;
        }
    }
    json_decref(root);
    return code;
}

static struct labels labels_get(struct tei *tei)
{
    pthread_mutex_lock(&tei->lock);
    struct labels labels = tei->labels;
    pthread_mutex_unlock(&tei->lock);
    return labels;
}

static void labels_set(struct tei *tei, const struct labels *labels)
{
    pthread_mutex_lock(&tei->lock);
    tei->labels = *labels;
    pthread_mutex_unlock(&tei->lock);
}

enum err_code tei_learn(struct call *call, const struct http_reply *reply)
{
    struct labels labels = {.known = true};
    enum err_code code = read_info(call, reply, &labels);
    if (code == ERR_OK) labels_set(call->scorer->state, &labels);
    return code;
}

/* Requests the labels unless they are known. Two threads may do so at the same time; both receive the same labels. */
static enum err_code know_labels(struct call *call)
{
    struct tei *tei = call->scorer->state;
    if (labels_get(tei).known) return ERR_OK;
    struct http_reply reply;
    enum err_code code = call_exchange(call, "/info", NULL, &reply);
    if (code == ERR_OK) code = tei_learn(call, &reply);
    http_reply_clear(&reply);
    /* A gateway may forward only /predict. The names in the answers are used then. */
    if (code != ERR_CONFIG || (reply.status != 404 && reply.status != 405)) return code;
    labels_set(tei, &(struct labels){.known = true});
    return ERR_OK;
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

/* State while the scores of one answer are read. */
struct reading {
    const struct labels *labels;
    const char *wanted;      /* configured label; NULL selects the label whose name begins with "entail" */
    unsigned n, n_entailing; /* number of scores; number of scores whose label means entailment */
    double sum, p;
    const char *seen[MAX_LABELS];
};

static bool is_wanted(const struct reading *r, const char *name, const struct label *label)
{
    if (!r->wanted) return name_entails(label ? label->name : name);
    long k = numbered(r->wanted);
    if (label && label->id == k) return true;
    return g_ascii_strcasecmp(label ? label->name : name, r->wanted) == 0 || g_ascii_strcasecmp(name, r->wanted) == 0;
}

/* Reads a score. Returns NULL, or a description of its fault. */
static const char *read_score(struct reading *r, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "label"));
    double score = 0;
    if (!name || !remote_number(json_object_get(entry, "score"), &score)) return "a score without a label or a value";
    if (score < 0 || score > 1) return "a score that is not a probability";
    if (r->n == MAX_LABELS) return "more labels than an entailment model has";
    const struct label *label = label_find(r->labels, name);
    if (r->labels->n && !label) return "an unknown label";
    for (unsigned i = 0; i < r->n; i++)
        if (strcmp(r->seen[i], label ? label->name : name) == 0) return "a duplicate label";
    r->seen[r->n++] = label ? label->name : name;
    r->sum += score;
    if (!is_wanted(r, name, label)) return NULL;
    r->n_entailing++;
    r->p = score;
    return NULL;
}

/* Reads the scores of one pair: [[{label, score}, ...]] or [{label, score}, ...]. Returns NULL, or a description of the
 * fault. */
static const char *read_scores(struct reading *r, const json_t *root)
{
    const json_t *list = json_is_array(json_array_get(root, 0)) ? json_array_get(root, 0) : root;
    if (!json_is_array(root) || json_array_size(list) == 0) return "no scores";
    if (list != root && json_array_size(root) != 1) return "scores for more than one pair";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *fault = read_score(r, json_array_get(list, i));
        if (fault) return fault;
    }
    if (r->labels->n && r->n != r->labels->n) return "scores for only some of the labels";
    if (r->n > 1 && (r->sum < 0.98 || r->sum > 1.02)) return "probabilities whose sum is not 1";
    return NULL;
}

enum err_code tei_read(struct call *call, const struct http_reply *reply, double *p)
{
    struct tei *tei = call->scorer->state;
    const struct labels labels = labels_get(tei);
    struct reading r = {.labels = &labels, .wanted = call->scorer->config.entail_label};
    json_t *root = remote_json(reply->body, reply->len);
    const char *fault = root ? read_scores(&r, root) : "invalid JSON";
    json_decref(root);
    if (fault) {
        labels_set(tei, &(struct labels){.known = false});
        return err_set(call->err, ERR_MALFORMED, "the model endpoint sent %s", fault);
    }
    if (r.n_entailing != 1)
        return err_set(call->err, ERR_CONFIG,
                       "cannot tell which of the model's %u labels means entailment" ERR_HINT "set entail_label", r.n);
    *p = r.p;
    return ERR_OK;
}

static char *predict_body(const struct call *call)
{
    json_t *json =
        json_pack("{s:[[s,s]],s:b,s:b}", "inputs", call->premise, call->hypothesis, "truncate", 1, "raw_scores", 0);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    return text;
}

static enum err_code tei_ask(struct call *call, double *p)
{
    enum err_code code = know_labels(call);
    if (code != ERR_OK) return code;
    char *body = predict_body(call);
    if (!body) return err_set(call->err, ERR_NOMEM, "out of memory");
    struct http_reply reply;
    code = call_exchange(call, "/predict", body, &reply);
    if (code == ERR_OK) code = tei_read(call, &reply, p);
    http_reply_clear(&reply);
    free(body);
    return code;
}

const struct scorer_backend scorer_tei = {
    .name = "tei",
    .open = tei_open,
    .close = tei_close,
    .ask = tei_ask,
};
