/* The coordinator: opens requests, fans their candidates out, gathers what the workers say, decides.
 *
 * Three parts. The *models* are read-only and shared. The *core* (core.h) is a state machine without clock, threads or
 * transport: events in, actions out. The *loop* moves messages between a transport and the core. The coordinator opens
 * no database.
 */
#ifndef ASSAY_COORDINATOR_COORDINATOR_H
#define ASSAY_COORDINATOR_COORDINATOR_H

#include "lib/base/error.h"
#include "proto/msg.h"
#include "proto/transport.h"

struct scorer_config; /* lib/llm/scorer.h */

/* --- models --- */

struct coordinator_models;

/* Which files. All but `dir` may be NULL (the one in `dir`), a file that replaces it, or "none". */
struct coordinator_files {
    const char *dir; /* NULL: $ASSAY_MODELS, else the installed ones */
    const char *label_model, *classifier, *verifier;
};

/* Load label_model.json, classifier.json, verifier.json and decision.json. Only the label model must be there. Without
 * any model nothing has a probability: candidates are ranked by the signals that fired and none validates; that is for
 * collecting vectors. ERR_CONFIG: a model is missing and was not left out, or does not fit. */
enum err_code coordinator_models_load(const struct coordinator_files *files, struct coordinator_models **out,
                                      struct err *err);
void coordinator_models_free(struct coordinator_models *models);

/* Strategy and threshold that the decision file recommends. */
enum msg_strategy coordinator_models_strategy(const struct coordinator_models *models);
double coordinator_models_threshold(const struct coordinator_models *models);

/* What one candidate is worth to the signals. p: probability that it is right (NAN without a model), of the classifier
 * where there is one; label_model_p: the label model's alone; score orders candidates, higher is better, always finite.
 */
struct features_subject;
struct coordinator_score {
    double p, label_model_p, score;
};
struct coordinator_score coordinator_score(const struct coordinator_models *models,
                                           const struct features_subject *subject);

/* P(correct) from what the signals and the verifier say apart: calibrated log-odds, added with the weights of the
 * decision file, and believed less where the verifier is not `familiar` with the generator. Either may be NAN: the
 * other one alone decides; NAN when both are. Never 0 or 1: 1e-6 is left. */
double coordinator_combine(const struct coordinator_models *models, double p, double entailment, bool familiar);

/* The features of the verifier as they came in a message: out[VERIFIER_FEATURES] by index, NAN where nothing came.
 * False: nothing came at all. */
bool coordinator_read_features(const struct msg_explanation *explanation, float *out);

/* --- the loop --- */

struct coordinator_config {
    struct bus *bus;
    const char *group;    /* NULL: BUS_GROUP */
    const char *instance; /* another one in each living process of the group, the same after a restart; NULL: "0" */
    const char *from;     /* where a group that has never read begins: "beginning", "end"; NULL: it is refused */
    int64_t commit_ms;    /* between commits, where verdicts are committed; 0: 100 */
    const struct coordinator_models *models;
    struct msg_options defaults;          /* for what a request leaves open */
    uint32_t max_open;                    /* requests open at a time; 0: 64 */
    const struct scorer_config *verifier; /* a remote verifier, asked before the built-in one; NULL: none */
    uint32_t verifier_threads;            /* calls to it at a time; 0: 4 */
    int64_t max_deadline_ms;              /* of any request, where the transport is shared; 0: 600,000 */
};

struct coordinator_stats {
    uint64_t requests, verdicts, rejected; /* rejected: to the DLQ */
    uint64_t by_status[MSG_STATUS_COUNT];
    uint64_t tasks, results, stray; /* stray: results that nobody waits for any more */
    uint64_t deadlines;
    uint64_t verifications, verifier_failures; /* asked of the remote verifier; those that the built-in one judged */
    uint64_t duplicates;                       /* requests that came before, and get no verdict of their own */
    uint64_t cut;                              /* verdicts that were too large and left something out */
    uint64_t unsendable;                       /* tasks that were too large: their families are unavailable */
    int64_t oldest_age_ns;                     /* of the open requests, from its arrival; as of a moment ago */
    uint32_t open;                             /* requests taken and not yet decided */
    uint64_t rejected_by[ERR_COUNT];           /* of dead letters, requests' and results', by what was wrong */
    struct metrics_histogram latency;          /* from a request's arrival up to its verdict, not yet committed */
    struct bus_once_stats once;                /* all 0 where the transport has no transactions */
};

struct coordinator;

/* Subscribes to requests and results. `config` is copied, its pointers must outlive the coordinator. */
enum err_code coordinator_new(const struct coordinator_config *config, struct coordinator **out, struct err *err);
void coordinator_free(struct coordinator *coordinator);

/* Run on the calling thread until coordinator_stop, then finish what is open (bounded by deadlines) and return.
 * Anything but ERR_OK is of class fatal. */
enum err_code coordinator_run(struct coordinator *coordinator, struct err *err);
/* Thread: any. `now`: do not finish what is open. */
void coordinator_stop(struct coordinator *coordinator, bool now);
/* Thread: any. */
void coordinator_stats(struct coordinator *coordinator, struct coordinator_stats *out);
/* When the loop last turned, on clock_now_ns's clock; 0: not yet. Thread: any. */
int64_t coordinator_turned_ns(const struct coordinator *coordinator);

#endif
