/* What may be promised of answers: "at most a share alpha is wrong, with confidence 1 - delta", from verdicts whose truth is known
 * (lib/learn/risk.h), by generator.
 *
 * A file (`assay calibrate`) holds these verdicts as numbers, P, whether it was right and what it was like, and what they were judged by: a promise is
 * about answers chosen as they were. With other models it is refused; a request of another strategy, repair or use of language models gets none. A
 * generator whose own records do not carry a promise shares that of all together ("all"), which is about their mixture; one that
 * the file does not know gets none. Read-only once loaded; any thread.
 *
 * A database with GUARANTEE_OF_DATABASE records of a generator or more is a group of its own ("parser-7/shop"), which alone decides about it; the
 * generator's group is the rest of them then, so that it is about the databases that it is asked for. Which databases have one depends on
 * the number of their records, never on what was right, so nothing is chosen after the fact.
 */
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
    GUARANTEE_OF_DATABASE = 200 /* records of a database that make a group of it */
};

/* What the verdicts were judged by. Versions of models that are not there are "". */
struct guarantee_conditions {
    const char *label_model, *classifier, *verifier;
};

struct guarantee;

/* ERR_CONFIG, with what is wrong and what to do, for a file that is none, of another version, of other models, or broken; ERR_IO.
 * `conditions`: those of this process. The caller owes guarantee_free. */
enum err_code guarantee_load(const char *path, const struct guarantee_conditions *conditions, struct guarantee **out,
                             struct err *err);
void guarantee_free(struct guarantee *guarantee);

/* Groups, the one of all generators and those of databases among them; they are numbered from 0. */
uint32_t guarantee_n_groups(const struct guarantee *guarantee);
/* Begin to watch a group's traffic (risk_shift). */
void guarantee_watch(const struct guarantee *guarantee, uint32_t group, struct risk_shift *shift);
/* One more answer of that traffic: its P and traits count. True: it is no longer like the records. */
bool guarantee_saw(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer,
                   struct risk_shift *shift);
/* What an answer is like: how many agree with it and how many do not, how sure their surest is, what the models say, its length and rows.
 * `chosen`: its place among the candidates; of a repair, the one that it repairs. */
void guarantee_traits(const struct msg_judged *candidates, uint32_t n, uint32_t chosen, float out[RISK_TRAITS]);

/* risk_p_value in a group; of the answer its P and traits count. */
double guarantee_p_value(const struct guarantee *guarantee, uint32_t group, const struct risk_record *answer);

struct guarantee_asked {
    double alpha, delta;
    const char *generator; /* verifier_generator; NULL: several */
    const char *db;
    enum msg_strategy strategy;
    bool repairs;
    const char *llm; /* when a language model is asked, and what its word weighs, as text; "": never */
};

struct guarantee_found {
    int group;        /* -1: the generator is not known, or the request is not judged as the records were */
    const char *name; /* of the group, or the generator; lives as long as the guarantee, or the request */
    struct risk_promise promise;
    const char *why; /* there is none: a sentence; a constant. NULL: it holds */
};

/* What can be promised of the request's answer. */
struct guarantee_found guarantee_find(const struct guarantee *guarantee, const struct guarantee_asked *asked);

#endif
