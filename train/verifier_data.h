/* What the verifier learns from: candidates of training questions, each with its features and its label.
 *
 * A log line with candidates gives those that run (beams). One without gives its gold query and, around it, queries
 * that are wrong in ways a text-to-SQL system may be: mutants of the gold, mutants of mutants, and *siblings*, the gold
 * queries of other questions on the same database, those of the most similar question first. Labels come from
 * execution: a mutant or sibling with the gold's result is right. Queries that fail are left out, for the verifier
 * never sees one. So are questions whose gold is itself proved wrong by the data: numbers that are sorted or compared as
 * text, NULL that comes first.
 *
 * Instead of gold a line may have feedback (train/feedback.h): a candidate that was called right stands for the gold,
 * one called wrong labels those with its result, and the others stay unknown.
 *
 * Once a verifier is fitted, a second pass may add its *favourites*: of many single and double mutants those wrong ones
 * that it takes for right although it has not seen their database (struct verifier_search).
 *
 * A database whose questions the wording model was trained on gets a model that has not seen it (train/word_fit.h).
 *
 * Two threads or ten give the same data in the same order.
 */
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
    int op;         /* enum sql_mutator of a mutant, the first one of a double; -1 */
    uint32_t rank;  /* place in its line */
    uint32_t count; /* votes */
    bool right;
    bool unknown; /* nobody said: only with feedback in place of gold */
    uint32_t rows;
    uint64_t digest[2];
    float features[FEATURE_COUNT];
    float signals[VSIG_ID_END]; /* by id: 0 silent, 0.5 a note, 1 warning, 2 error; NAN unavailable */
};

struct verifier_question {
    char *text, *evidence, *db; /* evidence may be NULL */
    char *gold;                 /* NULL: feedback that something was wrong is all there is */
    char **wrong;               /* SQL that feedback calls wrong, NULL at the end; NULL */
    char *generator;            /* that all its candidates name, "" none, "*" several */
    uint64_t components;        /* of the gold query */
    uint32_t first, n;          /* its samples */
    uint32_t given;             /* candidates of its line, those that fail too */
    uint32_t database;          /* from 0, in order of appearance */
    bool gold_empty;
    bool from_feedback;
    bool unreached; /* its database could not be opened */
    bool usable;    /* the gold query runs and binds; without one, something that was called wrong runs */
};

struct verifier_data {
    struct verifier_question *questions;
    uint32_t n_questions, n_databases;
    struct verifier_sample *samples;
    uint32_t n;
    uint32_t skipped;   /* requests without gold, or whose gold does not run */
    uint32_t unreached; /* those whose database could not be opened */
    uint64_t unread;    /* lines that are neither requests nor verdicts nor feedback */
};

/* Search for wrong queries that a verifier likes: in place of the usual candidates `pool` mutants of the gold query and as
 * many mutants of mutants are judged, others than those of a first pass with the same seed, and the `keep` wrong ones
 * that are liked best stay. */
struct verifier_search {
    double (*like)(const void *ctx, const struct verifier_sample *sample); /* thread-safe */
    const void *ctx;
    uint32_t pool, keep;
    uint64_t round; /* another one finds other mutants of mutants */
};

struct verifier_collect {
    const struct worker_databases *databases;
    struct schema_cache *schemas; /* of these databases, by engine_settings_schemas; must outlive the call */
    enum msg_expose expose;       /* what the settings ask for: with none, mutants hold no values of the data */
    const struct db_limits *limits;
    const struct vsig_options *signals;
    const char *blind;                     /* folder of wording models, NAME.bin; NULL: the bundled one for all */
    struct feedback *feedback;             /* NULL: gold alone counts */
    void (*on_empty)(const char *path);    /* told of a log without a line; NULL: nobody is */
    input_skipped skipped;                 /* told of the first lines that cannot be read */
    uint32_t mutants, doubles, siblings;   /* a question */
    uint64_t seed, limit;                  /* limit 0: all lines */
    unsigned threads;                      /* 0: one a processor */
    const struct verifier_search *search;  /* NULL: the usual candidates */
    void (*tick)(void *ctx, double share); /* now and then, on the calling thread; may be NULL */
    void *ctx;
};

/* Read the logs and judge everything. On success the caller owes verifier_data_free. Thread: main; starts its own. */
enum err_code verifier_collect(const struct verifier_collect *config, const char *const *logs, int n_logs,
                               struct verifier_data **out, struct err *err);
void verifier_data_free(struct verifier_data *data);

/* Add the samples of another pass over the same logs to their questions; `more` is emptied of them. */
void verifier_data_merge(struct verifier_data *data, const struct verifier_data *more);

const char *verifier_origin_name(enum verifier_origin origin);

#endif
