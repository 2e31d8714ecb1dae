/* The core under a script: tasks are collected, results are made up from the SQL, in any order.
 *
 * What a candidate does follows from words in its text, so that a test reads as it behaves:
 *   bad_name     the engine refuses it
 *   slow         it does not run to its end
 *   no_data      there is no data to run it on
 *   fires_N      N signals fire (1 to 5)
 *   rows_N       its result has N rows (its digest follows from N)
 *   unexplained  the explain family cannot explain it
 *   entails_N    the remote verifier says N / 10 (without: 0.9)
 *   unreachable  the remote verifier cannot be reached
 *   states_X     the signals in order of the registry: s silent, f fires, u could not look (past the end: silent)
 *
 * A question to the remote verifier is a task of the family "verifier" here, so that it is answered in any order too.
 */
#ifndef ASSAY_TESTS_UNIT_COORDINATOR_SCRIPT_H
#define ASSAY_TESTS_UNIT_COORDINATOR_SCRIPT_H

#include "coordinator/internal.h"

#include <jansson.h>

enum { FAMILIES = VSIG_FAMILY_COUNT - 1 }; /* that look at every candidate: all but llm */

struct script_task {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    char family[32];
    char *sql; /* the premise, for the verifier */
    int64_t deadline_ns;
    bool proposes;
    uint32_t n_readings;
    uint32_t n_findings;
    enum msg_part part;           /* asked for */
    const char *const *proposals; /* that its answer has: the script's */
    const char *state;            /* likewise */
};

struct script {
    struct scoring_models *models;
    struct core *core;
    GPtrArray *tasks;             /* of struct script_task, not answered yet */
    GPtrArray *verdicts;          /* JSON, in the order they came */
    GPtrArray *dead;              /* error names */
    uint64_t sent;                /* tasks in all */
    bool whole;                   /* workers are of 1.10: explanations are whole, whatever was asked for */
    bool verifier_full;           /* the remote verifier takes no questions */
    const char *const *proposals; /* what a worker proposes in place of any candidate; ended by NULL */
    const char *correction;       /* what the corrector writes; NULL: it cannot be reached */
    const char *polished;         /* what the polisher writes; NULL: it cannot be reached */
    bool polisher_full;           /* it takes no questions */
    char *told;                   /* what it, or the corrector, was told, the last time */
    void *token;                  /* of the last verdict or dead letter */
    unsigned duplicates, dropped;
    int64_t lay_ns;      /* requests were in their topic for so long when they are read */
    int64_t spent_ns;    /* time of workers that each answer reports */
    const char *state;   /* of the database, as results tell it; NULL: none */
    bool cache_full;     /* nothing can be looked for now */
    unsigned looked_for; /* verdicts */
    char wanted[72];     /* key of the last one */
    unsigned n_kept;     /* verdicts that were to be kept; of the last one: */
    GBytes *kept;        /* its bytes */
    char kept_state[40], kept_key[72];
};

/* Models with a label model that knows every signal as a sign of "wrong": more fired, less likely right. */
struct scoring_models *script_models(void);

void script_open(struct script *script, struct msg_options defaults);
/* With these models, which the script takes over; `remote`: and a remote verifier. */
void script_open_models(struct script *script, struct scoring_models *models, struct msg_options defaults, bool remote);
/* And with a corrector, whose answer is `correction`. */
void script_open_corrector(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* And with a polisher, whose answer is `polished`, and for which a verdict waits 50 ns. */
void script_open_polisher(struct script *script, struct msg_options defaults);
/* The same with a remote verifier. */
void script_open_remote(struct script *script, struct msg_options defaults);
/* And with a cache, which is waited for for 20 ns. */
void script_open_cache(struct script *script, struct scoring_models *models, struct msg_options defaults);
/* As where others write requests: duplicates are looked for, every request ends within that time, rows behind results are
 * looked for at once, and workers whose tasks wait for less than this are idle. */
enum { SCRIPT_IDLE_NS = 1000 };
void script_open_shared(struct script *script, int64_t max_deadline_ms);
void script_close(struct script *script);

/* Hand in a line of JSON. */
void script_ask_json(struct script *script, struct msg_key key, const char *line, int64_t now_ns);

/* Hand in a request of these candidates (NULL ends them) with key (0, number). */
void script_ask(struct script *script, int64_t number, const struct msg_options *options, const char *const *sqls,
                int64_t now_ns);
/* Answer the task at that place of the list and take it off. */
void script_answer(struct script *script, unsigned place, int64_t now_ns);
/* The same with an error of the whole family. */
void script_answer_failed(struct script *script, unsigned place, enum err_code code, int64_t now_ns);
/* Answer all, also those that follow: seed 0 in order, else in an order drawn from it. */
void script_answer_all(struct script *script, uint64_t seed, int64_t now_ns);
/* One result, as it would be for the task. */
void script_result(const struct script_task *task, struct arena *arena, struct msg_result *out);
enum err_code script_send(struct script *script, const struct msg_result *result, int64_t now_ns);

/* The only verdict so far, parsed. Owned by the script's last call: json_decref it. */
json_t *script_verdict(struct script *script);
const char *script_text(const json_t *verdict, const char *key);

#endif
