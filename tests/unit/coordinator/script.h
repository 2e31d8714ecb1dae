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
    char *sql; /* SQL, or the premise for the verifier */
    int64_t deadline_ns;
    bool proposes;
    uint32_t n_readings;
    uint32_t n_findings;
    enum msg_part part;           /* part that the task requests */
    const char *const *proposals; /* copied from the script into the result */
    const char *state;            /* copied from the script into the result */
};

struct script {
    struct scoring_models *models;
    struct core *core;
    GPtrArray *tasks;             /* struct script_task: tasks without a result */
    GPtrArray *verdicts;          /* JSON, in the order in which the core wrote them */
    GPtrArray *dead;              /* error names of dead letters */
    uint64_t sent;                /* number of tasks sent in all */
    bool whole;                   /* workers act like version 1.10: they ignore `part` and explain completely */
    bool verifier_full;           /* the remote verifier has no capacity */
    const char *const *proposals; /* proposals of the worker for any candidate; ended by NULL */
    const char *correction;       /* query that the corrector proposes; NULL: unreachable */
    const char *polished;         /* text that the polisher returns; NULL: unreachable */
    bool polisher_full;           /* the polisher has no capacity */
    char *told;                   /* last request to the polisher or the corrector */
    void *token;                  /* token of the last verdict or dead letter */
    unsigned duplicates, dropped;
    int64_t lay_ns;      /* age of a request in its topic when the core reads it */
    int64_t spent_ns;    /* work time that each result reports */
    const char *state;   /* database state that results report; NULL: unknown */
    bool cache_full;     /* the cache refuses lookups */
    unsigned looked_for; /* number of lookups */
    char wanted[72];     /* key of the last lookup */
    unsigned n_kept;     /* number of stored verdicts; `kept` is the last one */
    GBytes *kept;        /* bytes of the last stored verdict */
    char kept_state[40], kept_key[72];
};

/* Returns models with a label model in which each fired signal lowers P(correct). */
struct scoring_models *script_models(void);

void script_open(struct script *script, struct msg_options defaults);
/* Opens the script with these models and takes ownership of them. `remote` adds a remote verifier. */
void script_open_models(struct script *script, struct scoring_models *models, struct msg_options defaults, bool remote);
/* Opens the script with a corrector that proposes `correction`. */
void script_open_corrector(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* Opens the script with a polisher whose text is `polished`; a verdict waits 50 ns for it. */
void script_open_polisher(struct script *script, struct msg_options defaults);
/* Opens the script with a remote verifier. */
void script_open_remote(struct script *script, struct msg_options defaults);
/* Opens the script with a cache; a request waits 20 ns for its lookup. */
void script_open_cache(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* Opens the script as if other processes wrote requests too. Duplicates are detected, and every request ends within
 * `max_deadline_ms`. Source rows of results are requested at once. Workers count as idle while their tasks wait less
 * than SCRIPT_IDLE_NS. */
enum { SCRIPT_IDLE_NS = 1000 };
void script_open_shared(struct script *script, int64_t max_deadline_ms);
void script_close(struct script *script);

/* Submits a line of JSON as a request. */
void script_ask_json(struct script *script, struct msg_key key, const char *line, int64_t now_ns);

/* Submits a request of these candidates (ended by NULL) with key (0, number). */
void script_ask(struct script *script, int64_t number, const struct msg_options *options, const char *const *sqls,
                int64_t now_ns);
/* Answers the task at index `place` of the list, and removes it. */
void script_answer(struct script *script, unsigned place, int64_t now_ns);
/* Likewise, with an error that makes the whole family fail. */
void script_answer_failed(struct script *script, unsigned place, enum err_code code, int64_t now_ns);
/* Answers all tasks, including those that follow from the answers. Seed 0 answers in order; other seeds give a random
 * order. */
void script_answer_all(struct script *script, uint64_t seed, int64_t now_ns);
/* Fills *out with the result of the task. */
void script_result(const struct script_task *task, struct arena *arena, struct msg_result *out);
enum err_code script_send(struct script *script, const struct msg_result *result, int64_t now_ns);

/* Returns the only verdict so far as JSON. Asserts that there is one. Release with json_decref. */
json_t *script_verdict(struct script *script);
const char *script_text(const json_t *verdict, const char *key);

#endif
