/* Collects decision vectors of judged candidates (vectors.h). Rows are appended to arrays. Matrices are built from them
 * on request. */
#include "eval/vectors.h"

#include <math.h>
#include <string.h>

struct vectors *vectors_new(unsigned flags)
{
    struct vectors *v = g_new0(struct vectors, 1);
    v->flags = flags;
    votes_names(flags, &v->n_votes);
    const char *const *names = votes_feature_names(flags, &v->n_features);
    v->label_model_p = -1;
    for (unsigned i = 0; i < v->n_features; i++)
        if (strcmp(names[i], "label_model_p") == 0) v->label_model_p = (int)i;
    v->votes = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    v->features = g_array_new(FALSE, TRUE, sizeof(float));
    v->right = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    v->database = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    v->question = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    v->made = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    v->detection = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    v->databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return v;
}

void vectors_free(struct vectors *v)
{
    if (!v) return;
    g_array_free(v->votes, TRUE);
    g_array_free(v->features, TRUE);
    g_array_free(v->right, TRUE);
    g_array_free(v->database, TRUE);
    g_array_free(v->question, TRUE);
    g_array_free(v->made, TRUE);
    g_array_free(v->detection, TRUE);
    g_hash_table_destroy(v->databases);
    g_free(v);
}

uint32_t vectors_database(GHashTable *numbers, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, name));
    if (number) return number;
    number = g_hash_table_size(numbers) + 1;
    g_hash_table_insert(numbers, g_strdup(name), GUINT_TO_POINTER(number));
    return number;
}

static bool is_among(const char *name, const char *const *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Clears the features of the newest row that depend on the whole request. */
static void forget_request(struct vectors *v)
{
    unsigned n = 0, n_own = 0;
    const char *const *names = votes_names(v->flags, &n), *const *own = votes_names(0, &n_own);
    uint8_t *votes = &g_array_index(v->votes, uint8_t, (size_t)v->n * v->n_votes);
    for (unsigned i = 0; i < n; i++)
        if (!is_among(names[i], own, n_own)) votes[i] = LM_MISSING;
    names = votes_feature_names(v->flags, &n);
    own = votes_feature_names(0, &n_own);
    for (unsigned i = 0; i < n; i++)
        if (!is_among(names[i], own, n_own)) vectors_features(v, v->n)[i] = (float)NAN;
}

static void add_row(struct vectors *v, const struct votes_subject *subject, uint8_t right, uint32_t database,
                    uint8_t detection, uint8_t made)
{
    g_array_set_size(v->votes, v->votes->len + v->n_votes);
    g_array_set_size(v->features, v->features->len + v->n_features);
    votes_levels(subject, v->flags, &g_array_index(v->votes, uint8_t, (size_t)v->n * v->n_votes));
    votes_feature_row(subject, v->flags, (double)NAN, vectors_features(v, v->n));
    if (made) forget_request(v);
    g_array_append_val(v->right, right);
    g_array_append_val(v->made, made);
    g_array_append_val(v->database, database);
    g_array_append_val(v->question, v->n_questions);
    g_array_append_val(v->detection, detection);
    v->n++;
}

void vectors_add(struct vectors *v, const struct msg_verdict *verdict, const struct labels *labels, bool made)
{
    uint32_t database = vectors_database(v->databases, verdict->db ? verdict->db : ""), first = LABEL_NONE;
    if (labels && labels->first_executable != LABEL_NONE) {
        first = labels->first_executable;
        uint32_t same = verdict->candidates[first].same_as;
        if (same) first = same - 1;
    }
    struct votes_company company;
    votes_look_around(verdict->candidates, verdict->n_candidates, verdict->n_candidates, &company);
    for (uint32_t i = 0; i < verdict->n_candidates; i++) {
        const struct msg_judged *judged = &verdict->candidates[i];
        if (!judged->judged || judged->invalid || judged->same_as) continue;
        struct votes_subject subject = {.candidates = verdict->candidates,
                                        .n_candidates = verdict->n_candidates,
                                        .n_seen = verdict->n_candidates,
                                        .index = i,
                                        .places = true,
                                        .company = &company};
        uint8_t right = labels ? labels->of[i] == LABEL_RIGHT : VECTORS_UNLABELLED;
        add_row(v, &subject, right, database, labels && i == first && !labels->gold_empty, made);
    }
    v->n_questions++;
}

struct lm_matrix *vectors_matrix(const struct vectors *v, const uint8_t *use, struct err *err)
{
    unsigned n = 0;
    const struct lm_column *columns = votes_columns(v->flags, &n);
    struct lm_matrix *matrix = lm_matrix_new(columns, n, err);
    for (uint32_t row = 0; matrix && row < v->n; row++) {
        if (use && !use[row]) continue;
        if (lm_matrix_add(matrix, vectors_votes(v, row), 1, err) == ERR_OK) continue;
        lm_matrix_free(matrix);
        return NULL;
    }
    return matrix;
}

void vectors_set_label_model_p(struct vectors *v, const struct lm_model *model)
{
    unsigned n = 0;
    const char *const *names = votes_names(v->flags, &n);
    struct lm_map map;
    lm_map_init(&map, model, names, n);
    for (uint32_t row = 0; v->label_model_p >= 0 && row < v->n; row++)
        vectors_features(v, row)[v->label_model_p] = (float)lm_p_correct(model, &map, vectors_votes(v, row));
}

double vectors_share_wrong(const struct vectors *v, const uint8_t *use)
{
    uint32_t labelled = 0, wrong = 0;
    for (uint32_t row = 0; row < v->n; row++) {
        if ((use && !use[row]) || vectors_right(v, row) == VECTORS_UNLABELLED) continue;
        labelled++;
        wrong += vectors_right(v, row) == 0;
    }
    return labelled ? (double)wrong / labelled : (double)NAN;
}
