/* Guarantees on answers, by generator: "at most a share alpha is wrong, with confidence 1 - delta". They are computed
 * from labelled verdicts (lib/learn/risk.h).
 *
 * A file (`assay calibrate`) holds for each verdict P, correctness and traits, and for all the conditions of judging. A
 * guarantee covers only answers that are chosen under these conditions. A process with other models refuses the file. A
 * request with another strategy, repair option or use of language models gets no guarantee. A generator whose own
 * records do not support a guarantee shares that of the group "all", which is about the mixture. A generator that the
 * file does not contain gets none. Read-only once loaded; any thread.
 *
 * A database with at least GUARANTEE_OF_DATABASE records of a generator forms a group of its own ("parser-7/shop"),
 * which alone decides for that database. The generator's group then holds the other records, so that it covers the
 * databases that it is used for. The number of records alone decides which databases have a group, never correctness,
 * so nothing is selected after the fact. */
#ifndef ASSAY_SCORING_GUARANTEE_H
#define ASSAY_SCORING_GUARANTEE_H

#include "lib/learn/risk.h"
#include "proto/message/msg.h"

#define GUARANTEE_FORMAT "assay.calibration"
#define GUARANTEE_ALL    "all" /* the group of all generators */
enum {
    GUARANTEE_VERSION = 2,
    GUARANTEE_MAX_GROUPS = 256,
    GUARANTEE_MAX_RECORDS = 200000,
    GUARANTEE_MAX_DATABASES = 65536,
    GUARANTEE_OF_DATABASE = 200 /* records of a database that form a group */
};

/* Conditions under which the verdicts were judged. The version of an absent model is "". */
struct guarantee_conditions {
    const char *label_model, *classifier, *verifier;
};

struct guarantee;

/* Loads a file. Returns ERR_CONFIG with problem and hint in `err` if the file is broken, is no guarantee file, has
 * another version, or is for other models. Returns ERR_IO if it cannot be read. `conditions` are those of this process.
 * The caller owes guarantee_free. */
enum err_code guarantee_load(const char *path, const struct guarantee_conditions *conditions, struct guarantee **out,
                             struct err *err);
void guarantee_free(struct guarantee *guarantee);

/* Returns the number of groups, including "all" and those of databases. Groups are numbered from 0. */
uint32_t guarantee_n_groups(const struct guarantee *guarantee);
/* Begins to monitor a group's traffic (risk_shift). */
void guarantee_watch(const struct guarantee *guarantee, uint32_t group, struct risk_shift *shift);
/* Adds one answer of that traffic; only its P and traits are read. Returns true if the traffic no longer resembles the
 * records. */
bool guarantee_saw(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer,
                   struct risk_shift *shift);
/* Computes the traits of an answer. They are the numbers of candidates that agree and disagree with it, the highest P
 * that disagrees, the models' outputs, and its length and rows. `chosen` is its index among the candidates; for a
 * repair, that of the repaired candidate. */
void guarantee_traits(const struct msg_judged *candidates, uint32_t n, uint32_t chosen, float out[RISK_TRAITS]);

/* Computes risk_p_value in a group. Only P and traits of the answer are read. */
double guarantee_p_value(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer);

struct guarantee_asked {
    double alpha, delta;
    const char *generator; /* verifier_generator; NULL if there are several */
    const char *db;
    enum msg_strategy strategy;
    bool repairs;
    const char *llm; /* when a language model is requested, and the weight of its answer, as text; "" for never */
};

struct guarantee_found {
    int group;        /* -1 if the generator is unknown, or the request is not judged as the records were */
    const char *name; /* of the group, or the generator; lives as long as the guarantee, or the request */
    struct risk_promise promise;
    const char *why; /* reason why there is no guarantee: a constant sentence; NULL if it holds */
};

/* Finds the guarantee for the request's answer. */
struct guarantee_found guarantee_find(const struct guarantee *guarantee, const struct guarantee_asked *asked);

#endif
