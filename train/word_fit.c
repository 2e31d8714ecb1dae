/* Fits the weights of the wording model to pairs (word_fit.h). Reads the pairs, finds the keys that only one of the two
 * queries has, and fits a model for each fold without its databases. */
#include "train/word_fit.h"

#include "eval/label.h"
#include "lib/learn/liblinear.h"
#include "lib/question/question.h"
#include "lib/question/wording.h"
#include "lib/sql/sql.h"

#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum { COMMON_IN = 4, KEY_IN = 2, LARGEST = 127, ARENA_BYTES = 256 << 20 };

static const char BLIND[] = ".bin"; /* suffix of the file of a fold's model */
static const double CLIP = 8;       /* largest weight, in standard deviations */

struct word_pair {
    char *db, *question, *evidence, *right, *wrong, *where;
    uint32_t database;            /* number of the database, from 0 */
    struct feature_node *differs; /* keys of only one query: 1 right, -1 wrong; scaled to length 1, ends at index -1 */
    uint32_t n;
};

struct word_fit {
    const struct word_fit_options *options;
    struct word_fit_result *result;
    GArray *pairs;        /* struct word_pair */
    GPtrArray *databases; /* names of the databases */
    struct labeler *labeler;
    struct arena arena;
    GArray *common;             /* uint32_t, sorted */
    struct wording_model model; /* The common words, with the weights of the current fit. */
    int8_t *weights;
};

/* --- pairs --- */

static void free_pair(void *p)
{
    struct word_pair *pair = p;
    g_free(pair->db);
    g_free(pair->question);
    g_free(pair->evidence);
    g_free(pair->right);
    g_free(pair->wrong);
    g_free(pair->where);
    g_free(pair->differs);
}

static void skip_line(struct word_fit *fit, const char *where, const char *why)
{
    fit->result->unused++;
    if (fit->options->skipped) fit->options->skipped(where, why);
}

static uint32_t number_of_database(struct word_fit *fit, const char *name)
{
    for (uint32_t i = 0; i < fit->databases->len; i++)
        if (strcmp(fit->databases->pdata[i], name) == 0) return i;
    g_ptr_array_add(fit->databases, g_strdup(name));
    return fit->databases->len - 1;
}

static void add_line(struct word_fit *fit, const char *where, const char *text, size_t len)
{
    json_t *line = json_loadb(text, len, 0, NULL);
    const char *db = json_string_value(json_object_get(line, "db")),
               *question = json_string_value(json_object_get(line, "question")),
               *right = json_string_value(json_object_get(line, "right")),
               *wrong = json_string_value(json_object_get(line, "wrong"));
    if (db && question && right && wrong) {
        struct word_pair pair = {.db = g_strdup(db),
                                 .question = g_strdup(question),
                                 .evidence = g_strdup(json_string_value(json_object_get(line, "evidence"))),
                                 .right = g_strdup(right),
                                 .wrong = g_strdup(wrong),
                                 .where = g_strdup(where),
                                 .database = number_of_database(fit, db)};
        g_array_append_val(fit->pairs, pair);
    } else {
        skip_line(fit, where, "a pair is an object with db, question, right and wrong");
    }
    json_decref(line);
}

static enum err_code read_pairs(struct word_fit *fit, const char *path, struct err *err)
{
    struct lines lines;
    enum err_code code = lines_open(path, &lines, err);
    if (code) return code;
    int more;
    while ((more = lines_next(&lines)) > 0) {
        char *where = lines_where(&lines);
        if (lines.text) add_line(fit, where, lines.text, lines.len);
        g_free(where);
    }
    if (more < 0) code = err_set(err, ERR_IO, "%s: %s", path, lines_error(&lines));
    lines_close(&lines);
    return code;
}

/* --- common words --- */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Counts each word once for each database that has it. */
static void count_words(struct word_fit *fit, const struct word_pair *pair, GHashTable *seen, GHashTable *counts)
{
    const uint32_t *words = NULL;
    arena_reset(&fit->arena);
    const struct wording_words *wording = wording_read(&fit->arena, pair->question, pair->evidence);
    uint32_t n = wording ? wording_words(wording, &words) : 0;
    for (uint32_t i = 0; i < n; i++) {
        gint64 key = (gint64)words[i] << 16 | (pair->database & 0xFFFF);
        gpointer word = GUINT_TO_POINTER(words[i]);
        if (words[i] && g_hash_table_add(seen, g_memdup2(&key, sizeof key)))
            g_hash_table_insert(counts, word,
                                GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(counts, word)) + 1));
    }
}

static void find_common(struct word_fit *fit)
{
    GHashTable *seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    GHashTable *counts = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (guint i = 0; i < fit->pairs->len; i++)
        count_words(fit, &g_array_index(fit->pairs, struct word_pair, i), seen, counts);
    GHashTableIter iter;
    gpointer word, count;
    for (g_hash_table_iter_init(&iter, counts); g_hash_table_iter_next(&iter, &word, &count);) {
        uint32_t hash = GPOINTER_TO_UINT(word);
        if (GPOINTER_TO_UINT(count) >= COMMON_IN) g_array_append_val(fit->common, hash);
    }
    g_array_sort(fit->common, by_value);
    g_hash_table_destroy(seen);
    g_hash_table_destroy(counts);
    fit->model.common = (const uint32_t *)(void *)fit->common->data;
    fit->model.n_common = fit->result->common = fit->common->len;
}

/* --- differences --- */

/* Reads the indexes of a query's keys, sorted and distinct. Returns their number. Returns 0 also if the query's meaning
 * is unknown. */
static uint32_t read_places(struct word_fit *fit, const struct schema_index *schema,
                            const struct wording_words *wording, const char *sql, uint32_t **out)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    struct meaning *meaning = NULL;
    const uint64_t *keys = NULL;
    *out = NULL;
    if (sql_parse(&fit->arena, sql, strlen(sql), NULL, &stmt) != ERR_OK ||
        sql_bind(&fit->arena, stmt, &schema->catalog, &bound) != ERR_OK || bound->diags ||
        meaning_read(&fit->arena, bound, &meaning) != ERR_OK)
        return 0;
    uint32_t n = wording_keys(&fit->arena, wording, meaning, &keys), kept = 0;
    uint32_t *places = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) places[i] = wording_place(&fit->model, keys[i]);
    qsort(places, n, sizeof *places, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || places[kept - 1] != places[i]) places[kept++] = places[i];
    *out = places;
    return kept;
}

static void keep_differences(struct word_pair *pair, const uint32_t *right, uint32_t n_right, const uint32_t *wrong,
                             uint32_t n_wrong)
{
    pair->differs = g_new(struct feature_node, n_right + n_wrong + 1);
    for (uint32_t r = 0, w = 0; r < n_right || w < n_wrong;) {
        uint32_t a = r < n_right ? right[r] : UINT32_MAX, b = w < n_wrong ? wrong[w] : UINT32_MAX;
        if (a != b)
            pair->differs[pair->n++] = (struct feature_node){.index = (int)MIN(a, b) + 1, .value = a < b ? 1 : -1};
        r += a <= b;
        w += b <= a;
    }
}

static void compare_pair(struct word_fit *fit, struct word_pair *pair)
{
    arena_reset(&fit->arena);
    struct schema_index *schema = labeler_schema(fit->labeler, fit->options->schemas, pair->db, fit->options->limits);
    struct wording_words *wording = schema ? wording_read(&fit->arena, pair->question, pair->evidence) : NULL;
    uint32_t *right = NULL, *wrong = NULL, n_right = 0, n_wrong = 0;
    if (wording) {
        wording_use(wording, &fit->model);
        n_right = read_places(fit, schema, wording, pair->right, &right);
        n_wrong = read_places(fit, schema, wording, pair->wrong, &wrong);
    }
    if (n_right && n_wrong)
        keep_differences(pair, right, n_right, wrong, n_wrong);
    else
        skip_line(fit, pair->where, schema ? "a query cannot be read" : "the database cannot be opened");
    g_free(right);
    g_free(wrong);
    if (schema) schema_unref(schema);
}

/* Drops the keys that occur in the pairs of too few databases. Scales the other keys of each pair to length 1. */
static void drop_rare(struct word_fit *fit)
{
    size_t places = (size_t)1 << fit->model.bits;
    uint8_t *counts = g_new0(uint8_t, places + 1);
    uint32_t *last = g_new0(uint32_t, places + 1); /* for each key, the last counted database; numbers from 1 */
    for (uint32_t d = 0; d < fit->databases->len; d++)
        for (guint i = 0; i < fit->pairs->len; i++) {
            const struct word_pair *pair = &g_array_index(fit->pairs, struct word_pair, i);
            for (uint32_t k = 0; pair->database == d && k < pair->n; k++) {
                int place = pair->differs[k].index;
                counts[place] = (uint8_t)MIN(counts[place] + (last[place] != d + 1), KEY_IN);
                last[place] = d + 1;
            }
        }
    for (guint i = 0; i < fit->pairs->len; i++) {
        struct word_pair *pair = &g_array_index(fit->pairs, struct word_pair, i);
        uint32_t kept = 0;
        for (uint32_t k = 0; k < pair->n; k++)
            if (counts[pair->differs[k].index] >= KEY_IN) pair->differs[kept++] = pair->differs[k];
        if (!pair->differs) continue;
        for (uint32_t k = 0; k < kept; k++) pair->differs[k].value /= sqrt(kept);
        pair->differs[kept] = (struct feature_node){.index = -1};
        pair->n = kept;
    }
    g_free(counts);
    g_free(last);
}

/* --- weights --- */

static void be_silent(const char *text)
{
    (void)text;
}

/* Puts the weights of a fit into the model as signed bytes. */
static void set_weights(struct word_fit *fit, const struct model *fitted)
{
    size_t places = (size_t)1 << fit->model.bits, n = 0;
    double sign = fitted->label[0] == 1 ? 1 : -1, squares = 0;
    for (size_t i = 0; i < places; i++) {
        squares += fitted->w[i] * fitted->w[i];
        n += fabs(fitted->w[i]) > 0;
    }
    double limit = n ? CLIP * sqrt(squares / (double)n) : 1;
    fit->model.scale = (float)(limit / LARGEST);
    fit->result->keys = 0;
    for (size_t i = 0; i < places; i++) {
        fit->weights[i] = (int8_t)lround(CLAMP(sign * fitted->w[i] / limit, -1, 1) * LARGEST);
        fit->result->keys += fit->weights[i] != 0;
    }
}

/* Fits the model on the pairs outside of a fold; -1 means all pairs. The fold of a database is its number modulo the
 * number of folds. */
static enum err_code fit_without(struct word_fit *fit, int fold, struct err *err)
{
    guint n = 0;
    struct feature_node **x = g_new(struct feature_node *, fit->pairs->len + 1);
    double *y = g_new(double, fit->pairs->len + 1);
    for (guint i = 0; i < fit->pairs->len; i++) {
        struct word_pair *pair = &g_array_index(fit->pairs, struct word_pair, i);
        if (!pair->n || (int)(pair->database % fit->options->folds) == fold) continue;
        bool turned = n % 2; /* inverts every other pair, so that both labels occur */
        for (uint32_t k = 0; turned && k < pair->n; k++) pair->differs[k].value = -pair->differs[k].value;
        x[n] = pair->differs;
        y[n++] = turned ? -1 : 1;
    }
    struct problem problem = {.l = (int)n, .n = 1 << fit->model.bits, .y = y, .x = x, .bias = -1};
    struct parameter parameter = {.solver_type = L2R_LR_DUAL, .eps = 0.01, .C = fit->options->cost};
    const char *wrong = n < 2 ? "there are too few pairs" : check_parameter(&problem, &parameter);
    if (!wrong) {
        set_print_string_function(be_silent);
        struct model *fitted = train(&problem, &parameter);
        set_weights(fit, fitted);
        free_and_destroy_model(&fitted);
    }
    for (guint i = 0; i < n; i++) /* undoes the inversion of pairs */
        for (struct feature_node *node = x[i]; y[i] < 0 && node->index > 0; node++) node->value = -node->value;
    g_free(x);
    g_free(y);
    return wrong ? err_set(err, ERR_CONFIG, "the wording model cannot be fitted: %s", wrong) : ERR_OK;
}

static double score_pair(const struct word_fit *fit, const struct word_pair *pair)
{
    double sum = 0;
    for (uint32_t k = 0; k < pair->n; k++) sum += pair->differs[k].value * fit->weights[pair->differs[k].index - 1];
    return sum;
}

static enum err_code save_blind(struct word_fit *fit, int fold, struct err *err)
{
    enum err_code code = ERR_OK;
    for (uint32_t d = 0; fit->options->blind && d < fit->databases->len && code == ERR_OK; d++) {
        if ((int)(d % fit->options->folds) != fold) continue;
        char *path = g_strdup_printf("%s/%s%s", fit->options->blind, (const char *)fit->databases->pdata[d], BLIND);
        code = wording_save(path, &fit->model, err);
        g_free(path);
    }
    return code;
}

static enum err_code fit_folds(struct word_fit *fit, struct err *err)
{
    double won = 0;
    uint32_t n = 0;
    for (int fold = 0; fold < (int)fit->options->folds; fold++) {
        enum err_code code = fit_without(fit, fold, err);
        if (code == ERR_OK) code = save_blind(fit, fold, err);
        if (code) return code;
        for (guint i = 0; i < fit->pairs->len; i++) {
            const struct word_pair *pair = &g_array_index(fit->pairs, struct word_pair, i);
            if (!pair->differs || (int)(pair->database % fit->options->folds) != fold) continue;
            double by = score_pair(fit, pair);
            won += by > 0 ? 1 : by < 0 ? 0 : 0.5;
            n++;
        }
    }
    fit->result->pairs = n;
    fit->result->preferred = n ? won / n : (double)NAN;
    return ERR_OK;
}

static enum err_code fit_all(struct word_fit *fit, struct err *err)
{
    find_common(fit);
    for (guint i = 0; i < fit->pairs->len; i++) compare_pair(fit, &g_array_index(fit->pairs, struct word_pair, i));
    fit->result->databases = fit->databases->len;
    if (fit->databases->len < fit->options->folds)
        return err_set(err, ERR_CONFIG, "pairs of at least %u databases are needed, there are %u" ERR_HINT "add pairs",
                       fit->options->folds, fit->databases->len);
    drop_rare(fit);
    enum err_code code = fit_folds(fit, err);
    if (code == ERR_OK) code = fit_without(fit, -1, err);
    return code == ERR_OK ? wording_save(fit->options->out, &fit->model, err) : code;
}

enum err_code fit_words(const struct word_fit_options *options, const char *const *paths, int n_paths,
                        struct word_fit_result *result, struct err *err)
{
    *result = (struct word_fit_result){0};
    enum err_code code = liblinear_open(err);
    if (code) return code;
    struct word_fit fit = {.options = options,
                           .result = result,
                           .pairs = g_array_new(FALSE, FALSE, sizeof(struct word_pair)),
                           .databases = g_ptr_array_new_with_free_func(g_free),
                           .labeler = labeler_new(options->databases),
                           .common = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                           .weights = g_new0(int8_t, (size_t)1 << options->bits)};
    g_array_set_clear_func(fit.pairs, free_pair);
    arena_init(&fit.arena, ARENA_BYTES);
    fit.model = (struct wording_model){.bits = options->bits, .weights = fit.weights};
    for (int i = 0; i < n_paths && code == ERR_OK; i++) code = read_pairs(&fit, paths[i], err);
    if (code == ERR_OK) code = fit_all(&fit, err);
    arena_free(&fit.arena);
    g_array_free(fit.pairs, TRUE);
    g_ptr_array_free(fit.databases, TRUE);
    g_array_free(fit.common, TRUE);
    labeler_free(fit.labeler);
    g_free(fit.weights);
    return code;
}

/* --- models of the folds --- */

static void free_model(void *model)
{
    wording_free(model);
    g_free(model);
}

static enum err_code load_blind(const char *folder, const char *file, GHashTable *models, struct err *err)
{
    char *path = g_build_filename(folder, file, NULL);
    struct wording_model *model = g_new0(struct wording_model, 1);
    g_hash_table_insert(models, g_strndup(file, strlen(file) - strlen(BLIND)), model);
    enum err_code code = wording_load(path, model, err);
    g_free(path);
    return code;
}

enum err_code load_blind_words(const char *folder, GHashTable **out, struct err *err)
{
    enum err_code code = ERR_OK;
    const char *file;
    GDir *dir = g_dir_open(folder, 0, NULL);
    *out = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_model);
    while (code == ERR_OK && dir && (file = g_dir_read_name(dir)))
        if (g_str_has_suffix(file, BLIND)) code = load_blind(folder, file, *out, err);
    if (dir) g_dir_close(dir);
    if (code == ERR_OK && !g_hash_table_size(*out))
        code = err_set(err, ERR_CONFIG,
                       "no wording model in %s" ERR_HINT "run `assay train wording` with --blind first", folder);
    if (code == ERR_OK) return ERR_OK;
    g_hash_table_destroy(*out);
    *out = NULL;
    return code;
}
