/* Scores how well the words of a question fit the parts of a meaning, with a linear model.
 *
 * DESIGN. The frame (frame.h) and the alignment (align.h) know only the phrases of their tables. This model learns
 * other phrases from pairs of a right and a wrong query for one question (train/business). The score is a sum of
 * weights, one for each key. A key combines a word of the question with a part of the meaning:
 *
 * - A part is one item of the printed meaning (meaning_print), or two consecutive items, with the name of their line:
 *   "where: COLUMN <", "measure: count". An item for a column, table, literal or number holds only its kind, and
 *   whether the question names it. So a part means the same in all databases.
 * - A word is a stem that is common in training, or two words in a row. In such a pair, an uncommon word counts as a
 *   blank.
 * - Each part makes a key with each word. A part that the question names also makes a key with each word near that
 *   name. This key includes the side of the name on which the word is.
 *
 * Keys are hashed into a table of signed bytes. Words that occur in no training pair have no effect.
 *
 * Thread: a model is read-only and may be shared. One thread at a time may use the words of a question. */
#ifndef ASSAY_LIB_QUESTION_WORDING_H
#define ASSAY_LIB_QUESTION_WORDING_H

#include "lib/base/error.h"
#include "lib/meaning/meaning.h"

struct wording_model {
    uint32_t bits;          /* base-2 logarithm of the number of weights, at most WORDING_MAX_BITS */
    uint32_t n_common;      /* number of common stems, at most WORDING_MAX_COMMON */
    float scale;            /* factor of each weight */
    const uint32_t *common; /* hashes of the common stems, sorted */
    const int8_t *weights;
    void *owned; /* memory of a loaded model; NULL for the bundled one */
};

enum { WORDING_MAX_BITS = 22, WORDING_MAX_COMMON = 100000 };

/* Returns the model of models/wording.bin, which is linked in; NULL if that file has another version. Thread: any. */
const struct wording_model *wording_bundled(void);

/* Load and save a model file. Return ERR_CONFIG with `err` if the file cannot be read or written, or is not a model of
 * this version. After wording_load the caller must call wording_free. */
enum err_code wording_load(const char *path, struct wording_model *out, struct err *err);
enum err_code wording_save(const char *path, const struct wording_model *model, struct err *err);
void wording_free(struct wording_model *model);

/* The words of a question and its evidence. */
struct wording_words;

/* Reads the words of a question and its evidence (may be NULL). Reads at most 256 words and ignores the rest. Selects
 * the bundled model. Returns NULL if the arena is full. */
struct wording_words *wording_read(struct arena *arena, const char *question, const char *evidence);

/* Replaces the model; NULL uses none. The model must outlive the words. */
void wording_use(struct wording_words *wording, const struct wording_model *model);

struct wording_score {
    float sum;   /* sum over all keys, above 0 if the question fits the query; NAN without a model */
    float mean;  /* `sum` / square root of the number of keys */
    float least; /* lowest sum of any part */
};

/* Scores a meaning. Temporary memory comes from the arena. All members are NAN if the arena is full. */
struct wording_score wording_score(struct arena *arena, const struct wording_words *wording,
                                   const struct meaning *meaning);

/* Return data for training in *out, and its count, which is 0 also if the arena is full. The first function gives the
 * hashes of all words, in order and with repeats. A 0 precedes the words of the evidence. The second function gives all
 * keys of a meaning, without repeats. */
uint32_t wording_words(const struct wording_words *wording, const uint32_t **out);
uint32_t wording_keys(struct arena *arena, const struct wording_words *wording, const struct meaning *meaning,
                      const uint64_t **out);

/* Returns the index of a key's weight. */
static inline uint32_t wording_place(const struct wording_model *model, uint64_t key)
{
    return (uint32_t)(key >> (64 - model->bits));
}

#endif
