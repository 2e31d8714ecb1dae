/* Guarantees on answers, by generator: "at most a share alpha is wrong, with confidence 1 - delta". They are computed
 * from labelled verdicts (lib/learn/risk.h).
 *
 * A calibration file (`assay calibrate`) has the P, correctness and traits of each verdict, and the conditions under
 * which all of them were judged. A guarantee covers only answers that are chosen under these conditions. A process with
 * other models refuses the file. A request with another strategy, repair option or use of language models gets no
 * guarantee. If a generator's own records do not support a guarantee, the generator gets that of the group "all". This
 * guarantee is about all generators together. A generator that the file does not contain gets none. A loaded guarantee
 * is read-only. Thread: any.
 *
 * A database with at least GUARANTEE_OF_DATABASE records of a generator forms a separate group ("parser-7/shop"). Only
 * this group decides for that generator on that database. The generator's group then holds only the other records, so
 * it represents the other databases. The number of records alone decides which databases have a group. Correctness does
 * not, so the selection cannot bias the guarantee. */
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
    GUARANTEE_OF_DATABASE = 200 /* least number of a database's records that form a group */
};

/* Conditions under which the verdicts were judged. A version is "" if there is no such model. */
struct guarantee_conditions {
    const char *label_model, *classifier, *verifier;
};

struct guarantee;

/* Loads a file. `conditions` are those of this process. Returns ERR_CONFIG with problem and hint in `err` if the file
 * is damaged, has another format or version, or is for other models. Returns ERR_IO if it cannot be read. Free *out
 * with guarantee_free. */
enum err_code guarantee_load(const char *path, const struct guarantee_conditions *conditions, struct guarantee **out,
                             struct err *err);
void guarantee_free(struct guarantee *guarantee);

/* Returns the number of groups, including "all" and those of databases. Groups are numbered from 0. */
uint32_t guarantee_n_groups(const struct guarantee *guarantee);
/* Starts to monitor the traffic of a group (risk_shift). */
void guarantee_watch(const struct guarantee *guarantee, uint32_t group, struct risk_shift *shift);
/* Adds an answer of the group's traffic. Reads only its P and traits. Returns true if the traffic no longer resembles
 * the records. */
bool guarantee_saw(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer,
                   struct risk_shift *shift);
/* Computes the traits of an answer from the request's candidates. They are the shares of votes that agree with it and
 * that are invalid, and the number of candidates. Further traits are the highest P of a candidate that disagrees, the
 * models' outputs, the length of the SQL and the number of rows. `chosen` is the answer's index among the candidates;
 * for a repair, that of the repaired candidate. */
void guarantee_traits(const struct msg_judged *candidates, uint32_t n, uint32_t chosen, float out[RISK_TRAITS]);

/* Returns the p-value of an answer in a group (risk_p_value). Reads only its P and traits. */
double guarantee_p_value(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer);

struct guarantee_asked {
    double alpha, delta;
    const char *generator; /* result of verifier_generator; NULL if there are several generators */
    const char *db;
    enum msg_strategy strategy;
    bool repairs;
    /* When the request consults a language model and how much its answer weighs, as text. "" means never. */
    const char *llm;
};

struct guarantee_found {
    int group; /* -1 if the generator is unknown, or if the request is judged under other conditions than the records */
    /* Name of the group, owned by the guarantee. Without a group: the generator, owned by the request. */
    const char *name;
    struct risk_promise promise;
    /* Reason why there is no guarantee, as a constant sentence. NULL if there is one. */
    const char *why;
};

/* Returns the guarantee for the answer of a request. */
struct guarantee_found guarantee_find(const struct guarantee *guarantee, const struct guarantee_asked *asked);

#endif
