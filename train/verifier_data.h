/* The verifier's training data: candidates of training questions, each with its features and its label.
 *
 * A log line with candidates (beams) contributes those that run. A line without candidates contributes its gold query
 * and plausible wrong queries. These are mutants of the gold, mutants of mutants, and *siblings*: the gold queries of
 * other questions on the same database, in the order of similarity. Labels come from execution: a mutant or sibling
 * with the gold's result is right. Queries that fail are omitted, because the verifier never sees one. Questions are
 * omitted if their result proves the gold wrong: it sorts or compares numbers as text, or its first row is NULL.
 *
 * Instead of gold a line may have feedback (train/feedback.h). A candidate marked right replaces the gold. A candidate
 * marked wrong labels all candidates with its result. Other candidates stay unlabelled.
 *
 * With a fitted verifier, a second pass may add its *favourites* (struct verifier_search). These are wrong single and
 * double mutants that the verifier scores as right, although it has not seen their database.
 *
 * For a database that the wording model was trained on, a wording model trained without it is used (train/word_fit.h).
 *
 * The data and their order do not depend on the number of threads. */
#ifndef ASSAY_TRAIN_VERIFIER_DATA_H
#define ASSAY_TRAIN_VERIFIER_DATA_H

#include "lib/schema/schema.h"
#include "scoring/features/features.h"
#include "train/feedback.h"
#include "worker/worker.h"

#include <glib.h>

enum verifier_origin {
    ORIGIN_BEAM,
    ORIGIN_GOLD,
    ORIGIN_MUTANT,
    ORIGIN_DOUBLE,
    ORIGIN_SIBLING,
    ORIGIN_FAVOURITE,
    ORIGIN_COUNT
};

struct verifier_sample {
    uint32_t question; /* index into questions */
    enum verifier_origin origin;
    int op;         /* enum sql_mutator of a mutant, the first one of a double, or -1 */
    uint32_t rank;  /* index in its line */
    uint32_t count; /* votes */
    bool right;
    bool unknown; /* correctness is unknown; possible only without a gold query */
    uint32_t rows;
    uint64_t digest[2];
    float features[FEATURE_COUNT];
    float signals[VSIG_ID_END]; /* level by id: 0 silent, 0.5 note, 1 warning, 2 error; NAN unavailable */
};

struct verifier_question {
    char *text, *evidence, *db; /* evidence may be NULL */
    char *gold;                 /* NULL if feedback only marks wrong queries */
    char **wrong;               /* SQL that feedback marks wrong, NULL at the end; may be NULL */
    char *generator;            /* generator that all candidates name; "" for none, "*" for several */
    uint64_t components;        /* components of the gold query (bit set) */
    uint32_t first, n;          /* range of the question's samples */
    uint32_t given;             /* candidates of its line, including those that fail */
    uint32_t database;          /* from 0, in order of appearance */
    bool gold_empty;
    bool from_feedback;
    bool unreached; /* the question's database could not be opened */
    bool usable;    /* the gold query runs, binds and is not faulty; without one, some query marked wrong runs */
};

struct verifier_data {
    struct verifier_question *questions;
    uint32_t n_questions, n_databases;
    struct verifier_sample *samples;
    uint32_t n;
    uint32_t skipped;   /* requests that are not usable */
    uint32_t unreached; /* requests whose database could not be opened */
    uint64_t unread;    /* lines that are neither requests nor verdicts nor feedback */
};

/* Searches for wrong queries that a verifier prefers. It replaces the usual candidates by `pool` mutants of the gold
 * query and as many mutants of mutants. Mutants of a first pass with the same seed are excluded. The `keep` wrong ones
 * with the highest score remain. */
struct verifier_search {
    double (*like)(const void *ctx, const struct verifier_sample *sample); /* thread-safe */
    const void *ctx;
    uint32_t pool, keep;
    uint64_t round; /* another round gives other mutants of mutants */
};

struct verifier_collect {
    const struct worker_databases *databases;
    struct schema_cache *schemas; /* indexes of these databases (engine_settings_schemas); must outlive the call */
    enum msg_expose expose;       /* exposure in the settings: if none, mutants hold no values of the data */
    const struct db_limits *limits;
    const struct vsig_options *signals;
    const char *blind;                     /* folder of wording models, NAME.bin; NULL: one bundled model for all */
    struct feedback *feedback;             /* NULL: only gold labels */
    void (*on_empty)(const char *path);    /* called for each log without lines; may be NULL */
    input_skipped skipped;                 /* called for the first lines that cannot be read */
    uint32_t mutants, doubles, siblings;   /* number for each question */
    uint64_t seed, limit;                  /* limit 0 means all lines */
    unsigned threads;                      /* 0 means one for each processor */
    const struct verifier_search *search;  /* NULL: the usual candidates */
    void (*tick)(void *ctx, double share); /* called periodically on the calling thread; may be NULL */
    void *ctx;
};

/* Reads the logs and judges all candidates. On success, free with verifier_data_free. Thread: main; starts worker
 * threads. */
enum err_code verifier_collect(const struct verifier_collect *config, const char *const *logs, int n_logs,
                               struct verifier_data **out, struct err *err);
void verifier_data_free(struct verifier_data *data);

/* Adds the samples of another pass over the same logs to their questions; `more` becomes empty. */
void verifier_data_merge(struct verifier_data *data, const struct verifier_data *more);

const char *verifier_origin_name(enum verifier_origin origin);

#endif
