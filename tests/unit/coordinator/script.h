/* The core under a script: tasks are collected, and results are derived from the SQL and delivered in any order.
 *
 * Words in the text of a candidate determine its results:
 *
 *    bad_name     the engine refuses it
 *    slow         it does not run to its end
 *    no_data      there is no data to run it on
 *    fires_N      N signals fire (1 to 5)
 *    rows_N       its result has N rows (its digest follows from N)
 *    unexplained  the explain family cannot explain it
 *    entails_N    the remote verifier says N / 10 (without: 0.9)
 *    unreachable  the remote verifier cannot be reached
 *    states_X     the signals in order of the registry: s silent, f fires, u unavailable (past the end: silent)
 *
 * A question to the remote verifier is a task of the family "verifier" here, so that it can be answered in any order
 * too. */
#ifndef ASSAY_TESTS_UNIT_COORDINATOR_SCRIPT_H
#define ASSAY_TESTS_UNIT_COORDINATOR_SCRIPT_H

#include "coordinator/internal.h"

#include <jansson.h>

enum { FAMILIES = VSIG_FAMILY_COUNT - 1 }; /* the families that inspect every candidate: all but llm */

struct script_task {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    char family[32];
    char *sql; /* for the verifier, the premise */
    int64_t deadline_ns;
    bool proposes;
    uint32_t n_readings;
    uint32_t n_findings;
    enum msg_part part;           /* the requested part */
    const char *const *proposals; /* of the script, for the result */
    const char *state;            /* of the script, for the result */
};

struct script {
    struct scoring_models *models;
    struct core *core;
    GPtrArray *tasks;             /* of struct script_task without a result yet */
    GPtrArray *verdicts;          /* JSON, in order of arrival */
    GPtrArray *dead;              /* error names */
    uint64_t sent;                /* number of all tasks */
    bool whole;                   /* workers act like 1.10: every explanation is whole, whatever part was requested */
    bool verifier_full;           /* the remote verifier accepts no questions */
    const char *const *proposals; /* proposals of the worker for any candidate; ended by NULL */
    const char *correction;       /* query of the corrector; NULL: unreachable */
    const char *polished;         /* text of the polisher; NULL: unreachable */
    bool polisher_full;           /* the polisher accepts no questions */
    char *told;                   /* last request to the polisher or the corrector */
    void *token;                  /* token of the last verdict or dead letter */
    unsigned duplicates, dropped;
    int64_t lay_ns;      /* age of requests in their topic when they are read */
    int64_t spent_ns;    /* work time that each result reports */
    const char *state;   /* state of the database in results; NULL: unknown */
    bool cache_full;     /* lookups are refused */
    unsigned looked_for; /* number of lookups */
    char wanted[72];     /* key of the last lookup */
    unsigned n_kept;     /* number of stored verdicts; the last one follows */
    GBytes *kept;        /* its bytes */
    char kept_state[40], kept_key[72];
};

/* Returns models with a label model for which every signal indicates "wrong": the more signals fire, the lower is
 * P(correct). */
struct scoring_models *script_models(void);

void script_open(struct script *script, struct msg_options defaults);
/* Opens the script with these models and takes ownership of them. With `remote` there is a remote verifier too. */
void script_open_models(struct script *script, struct scoring_models *models, struct msg_options defaults, bool remote);
/* Likewise, with a corrector whose query is `correction`. */
void script_open_corrector(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* Opens the script with a polisher whose text is `polished`; a verdict waits 50 ns for it. */
void script_open_polisher(struct script *script, struct msg_options defaults);
/* Opens the script with a remote verifier. */
void script_open_remote(struct script *script, struct msg_options defaults);
/* Opens the script with a cache; a request waits 20 ns for its lookup. */
void script_open_cache(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* Opens the script with other writers of requests. Duplicates are detected, and every request ends within
 * `max_deadline_ms`. Rows behind results are requested at once. Workers count as idle while their tasks wait for less
 * than this. */
enum { SCRIPT_IDLE_NS = 1000 };
void script_open_shared(struct script *script, int64_t max_deadline_ms);
void script_close(struct script *script);

/* Submits a line of JSON as a request. */
void script_ask_json(struct script *script, struct msg_key key, const char *line, int64_t now_ns);

/* Submits a request of these candidates (ended by NULL) with key (0, number). */
void script_ask(struct script *script, int64_t number, const struct msg_options *options, const char *const *sqls,
                int64_t now_ns);
/* Answers the task at that place of the list and removes it. */
void script_answer(struct script *script, unsigned place, int64_t now_ns);
/* Likewise, with an error of the whole family. */
void script_answer_failed(struct script *script, unsigned place, enum err_code code, int64_t now_ns);
/* Answers all tasks, including new ones: in order with seed 0, else in a random order derived from the seed. */
void script_answer_all(struct script *script, uint64_t seed, int64_t now_ns);
/* Fills *out with the result of the task. */
void script_result(const struct script_task *task, struct arena *arena, struct msg_result *out);
enum err_code script_send(struct script *script, const struct msg_result *result, int64_t now_ns);

/* Returns the only verdict so far, parsed. The caller must json_decref it. */
json_t *script_verdict(struct script *script);
const char *script_text(const json_t *verdict, const char *key);

#endif
