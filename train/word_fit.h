/* Fits the wording model (lib/question/wording.h) to pairs: a question, a right query, and a wrong one.
 *
 * A pair is a line of JSON as train/business/log.py --pairs writes it. A logistic regression (liblinear) learns from
 * the keys that only one query of a pair has. A word is common if questions of at least four databases contain it. Keys
 * that occur in the pairs of one database only get no weight.
 *
 * Databases are split into folds. The folds' models measure the accuracy on unseen databases. The verifier also learns
 * from them how reliable the score is (struct verifier_collect, `blind`). Thread: main. */
#ifndef ASSAY_TRAIN_WORD_FIT_H
#define ASSAY_TRAIN_WORD_FIT_H

#include "lib/base/input.h"
#include "lib/schema/schema.h"
#include "worker/worker.h"

#include <glib.h>

struct word_fit_options {
    const struct worker_databases *databases;
    struct schema_cache *schemas; /* indexes of these databases */
    const struct db_limits *limits;
    unsigned bits, folds;
    double cost; /* cost of liblinear: a higher cost fits the pairs more closely */
    const char *out;
    const char *blind;     /* folder for the folds' models, a file NAME.bin for each database; may be NULL */
    input_skipped skipped; /* called for lines that cannot be used */
};

struct word_fit_result {
    uint32_t pairs, databases, unused; /* `unused` is the number of lines that cannot be used */
    uint32_t common, keys;             /* number of common words; number of weights that are not 0 */
    double preferred;                  /* share of pairs whose right query scores higher, on unseen databases */
};

/* Fits the model to the pairs of the files and saves it. Returns ERR_CONFIG if there are fewer databases than folds or
 * liblinear is missing, ERR_IO if a file cannot be read or written. */
enum err_code fit_words(const struct word_fit_options *options, const char *const *paths, int n_paths,
                        struct word_fit_result *result, struct err *err);

/* Loads the models NAME.bin of a folder. *out maps each NAME to a struct wording_model. Returns ERR_CONFIG if there is
 * no model, or the errors of wording_load. On success, free with g_hash_table_destroy. */
enum err_code load_blind_words(const char *folder, GHashTable **out, struct err *err);

#endif
