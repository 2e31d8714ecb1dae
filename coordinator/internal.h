/* What the files of coordinator/ share. */
#ifndef ASSAY_COORDINATOR_INTERNAL_H
#define ASSAY_COORDINATOR_INTERNAL_H

#include "coordinator/coordinator.h"
#include "coordinator/core.h"
#include "coordinator/duplicates.h"
#include "coordinator/verdict_cache.h"
#include "lib/base/tracing.h"
#include "scoring/models.h"
#include "scoring/verifier.h"
#include "scoring/verifier_context.h"
#include "scoring/votes.h"
#include "signals/vsig.h"

#include <math.h>

/* --- core.c, ingest.c, decide.c: one open request --- */

/* A candidate on its way. Everything else about it is in the verdict's own msg_judged. */
struct candidate_state {
    uint64_t hash[2];
    bool needs_tasks; /* is judged by tasks: parses, repeats nothing, within max_iterations */
    bool sent;
    int64_t sent_ns;
    uint32_t pending; /* families that have not answered; bits */
    struct msg_result *results[VSIG_FAMILY_COUNT];
    const float *features; /* [FEATURE_COUNT]; NULL: the explain family has not answered, or has nothing to say */
    bool verifier_pending; /* the remote verifier has been asked and has not answered */
    bool verifier_asked;   /* it has been asked */
    bool consulted;        /* a language model has been asked about it, see consult.c */
    struct core_verifier_answer remote_answer;
    struct models_score score;
};

/* Candidates that a request may get beside those that came with it. */
enum { MAX_PROPOSED = 64 };

/* A repair on its way, see repair.c. */
enum repair_phase { REPAIR_NOT_BEGUN, REPAIR_PROPOSING, REPAIR_CORRECTING, REPAIR_JUDGING, REPAIR_OVER };

/* A corrector's rounds. */
struct correcting {
    uint32_t rounds;       /* that it was asked for */
    uint32_t current;      /* what it is asked about: the answer, or the surest query that it has written */
    double p_current;      /* of that alone; NAN: it does not run */
    uint64_t told;         /* signals whose findings it was told; bits */
    uint32_t first_new;    /* candidates from here on came of the last round */
    const char *tried;     /* the query that it wrote last, where that cannot be judged; NULL */
    const char *tried_why; /* why not */
};

struct repair {
    enum repair_phase phase;
    uint32_t best;                     /* the answer without a repair; NO_CANDIDATE */
    uint32_t of;                       /* candidate that is to be repaired */
    double p_old;                      /* of it alone; NAN: it does not run */
    const struct msg_result *proposed; /* what the worker said */
    struct correcting correcting;
    const struct msg_proposal **proposals; /* of the candidates behind those that were given */
    struct msg_repaired *found;
    const char *note; /* why there is none, though one was asked for */
};

/* A language model's opinion on its way, see consult.c. */
struct consult {
    bool pending;
    bool concluded;   /* the last one has come, and the decision is not taken again yet */
    uint32_t of;      /* candidate of the last one */
    int64_t until_ns; /* that the one on its way is waited for */
    uint32_t asked;   /* candidates, of the request */
    struct msg_usage usage;
    const char *note; /* why none was asked for, though there is doubt; NULL */
};

/* A question to the person who asked, on its way: see ask.c. */
struct ask {
    bool over;         /* it was thought about */
    bool pending;      /* words are asked for */
    bool concluded;    /* and have come, or will not */
    uint32_t best;     /* the answer without a question; NO_CANDIDATE */
    uint32_t *offered; /* a candidate of each reading that is offered */
    uint32_t n_offered;
    double gain;
    struct msg_clarification *clarification; /* NULL: nothing is asked */
    const char *note;                        /* why not, though it would have paid; NULL */
};

/* The rows behind the answer, see story.c. */
struct story {
    bool over; /* it was thought about */
    bool pending;
    uint32_t best; /* the answer whose rows are asked for */
};

/* A verdict that waits for its explanation to be polished, see polish.c. */
struct polish {
    bool pending;
    struct msg_verdict verdict;
};

/* A verdict that was kept of an equal request, and whether this one's may be: see lookup.c. */
struct lookup {
    char key[VERDICT_CACHE_KEY + 1]; /* "": the request has no part in it */
    bool pending;
    int64_t until_ns;  /* that it is waited for */
    const char *state; /* of the database, as the first result had it; NULL: none has come, or it had none */
    bool unlike;       /* a result had another one, or none */
};

struct request {
    struct core *core;
    struct arena arena; /* of all below */
    struct msg_key key;
    void *token;
    struct msg_request *message;
    struct msg_options options;  /* nothing left open */
    double threshold;            /* of P(correct) */
    double entailment_threshold; /* of the verifier's; under cyclesql the only one */
    double repair_margin;
    int64_t arrived_ns, deadline_ns; /* 0: none */
    uint32_t families;               /* bits, of those that look at every candidate */
    bool consults;                   /* a language model may be asked about some */
    struct candidate_state *states;
    struct msg_judged *judged;
    uint32_t n;
    uint32_t n_given;       /* candidates that came with the request; proposals for a repair stand behind them */
    uint32_t next_to_send;  /* first that was not sent */
    uint32_t n_done_prefix; /* candidates before it are done */
    uint32_t tied;          /* 1 + index of the candidate that cannot be told apart from the best one; 0 if none */
    bool evaluate_all;      /* all candidates are judged, in any order */
    int64_t worker_ns;
    struct consult consult;
    struct repair repair;
    struct ask ask;
    struct story story;
    struct msg_guarantee *guarantee; /* NULL: none was asked for */
    int guarantee_group;             /* whose traffic it is; -1 */
    struct polish polish;
    struct lookup lookup;
    struct trace_span *span; /* NULL: it is not traced; so are the next two */
    const char *traceparent; /* of what is sent on its behalf */
    int64_t deciding_ns;     /* when the decision that ends it began, on the tracer's clock */
};

enum { SPARE_ARENAS = 256 };

struct core {
    struct core_config config;
    struct core_actions actions;
    GHashTable *open;                 /* key → request */
    int64_t next_deadline;            /* no later than the earliest; 0: none */
    struct arena spare[SPARE_ARENAS]; /* of requests that are closed, for the next ones */
    uint32_t n_spare;
    struct arena scratch;              /* of one candidate being parsed, or one request of the past */
    struct duplicates *duplicates;     /* NULL: not looked for */
    struct guarantee_traffic *traffic; /* NULL: there is no calibration */
    int64_t now_ns;                    /* of the last event */
    int64_t wait_ns;                   /* of a task for a worker, both ways with it: a moving mean */
    int64_t llm_away_ns;               /* until then no opinion is asked for: one did not come in time (consult.c) */
    struct core_stats stats;
};

/* core_tick has to come by then; 0: whenever. */
void core_note_deadline(struct core *core, int64_t deadline_ns);

/* ingest.c: parse, find repeats, resolve options. Not ERR_OK: the request fails with that reason. */
enum err_code ingest_request(struct request *request, struct err *err);

/* Proposals, which live as long as the request, become candidates behind those that are there; repeats, what does not parse, and what
 * is beyond MAX_PROPOSED do not. False: no room. */
bool ingest_proposals(struct request *request, const struct msg_proposal *proposals, uint32_t n);

/* decide.c: decide at each candidate that is done, in order, then send more or conclude. True: the request is closed
 * and gone. */
bool decide_advance(struct request *request, int64_t now_ns);
/* True if its deadline had passed at the last event. */
bool decide_is_past_deadline(const struct request *request);
/* True if its deadline has passed, or workers have spent core_config.max_work_ns on it. Nothing more is begun then. */
bool decide_is_late(const struct request *request);
/* Conclude with what there is. */
void decide_deadline(struct request *request, int64_t now_ns);
/* Conclude as failed. */
void decide_failed(struct request *request, const char *reason, const char *message, int64_t now_ns);

/* Hand the verdict over and forget the request. */
void decide_publish(struct request *request, const struct msg_verdict *verdict);

/* As verdicts name them: the id of a request that may have none, and program and models; the arena's, NULL where it is full. */
const char *decide_id(struct request *request);
struct msg_version *decide_versions(struct request *request, uint32_t *n);

/* Is nothing more to be learned of it? */
bool decide_is_done(const struct request *request, uint32_t index);
/* What a candidate is worth by itself: without votes, places, others, and a remote verifier. NAN: nothing is known. */
double decide_p_alone(struct request *request, uint32_t index);
/* One task a family. */
void decide_send(struct request *request, uint32_t index);
/* A task for this candidate; its family is still to be set. */
struct msg_task decide_task(const struct request *request, uint32_t index);

/* consult.c: a language model's opinion on the candidate that would be the answer. True: it is asked for, and the request stays open. */
bool consult_begin(struct request *request, uint32_t best, int64_t now_ns);
bool consult_is_pending(const struct request *request);
/* The result of the family llm on that candidate, which is gathered already. */
void consult_take(struct request *request, uint32_t index, const struct msg_result *result);
/* It has not come in time: its signals are unavailable, and none is asked for again. */
void consult_give_up(struct request *request, int64_t now_ns);
/* Is it waited for no longer? */
bool consult_is_late(const struct request *request, int64_t now_ns);
/* The candidate about which an opinion has come since the decision was taken last, once; NO_CANDIDATE. */
uint32_t consult_concluded(struct request *request);

/* lookup.c: a verdict that was kept of an equal request. True: one is looked for, and the request stays open. */
bool lookup_begin(struct request *request, int64_t now_ns);
bool lookup_is_pending(const struct request *request);
/* Is it waited for no longer? */
bool lookup_is_late(const struct request *request, int64_t now_ns);
/* What came of it. True: it was the verdict, and the request is closed and gone; else it is to be judged. */
bool lookup_take(struct request *request, const struct core_found *found, int64_t now_ns);
/* It has not come in time: the request is to be judged. */
void lookup_give_up(struct request *request);
/* A result counts that was made of that state of the database; NULL: nobody knows of which. */
void lookup_note_state(struct request *request, const char *state);
/* The verdict is made: keep it, if an equal request may have it. */
void lookup_keep(struct request *request, const struct msg_verdict *verdict);

/* ask.c: which of several readings of the question is meant. Are the answers those to what was asked about this request? ERR_MALFORMED. */
enum err_code ask_check_answers(struct request *request, struct err *err);
/* Must all candidates be judged, whatever the strategy: are readings weighed against each other? */
bool ask_looks_at_all(const struct request *request);
/* P(correct) of the candidates, all scored, in the light of the answers that came with the request. */
void ask_apply_answers(struct request *request);
/* True: a question pays, and its words are asked for; the request stays open. Never twice. */
bool ask_begin(struct request *request);
bool ask_is_pending(const struct request *request);
/* Is this candidate waiting for words, and they. */
bool ask_awaits(const struct request *request, const uint64_t hash[2]);
void ask_take(struct request *request, const struct msg_result *result);
/* Nothing is asked; `why` goes into a note. */
void ask_give_up(struct request *request, const char *why);

/* spans.c: the request's own span, once it can be read; nothing where it is not traced. */
void spans_begin(struct request *request, int64_t now_ns);
/* Its place in the trace, for what is done elsewhere on its behalf; zeroed: nowhere. */
struct trace_context spans_context(const struct request *request);
/* A span under it. */
void spans_begin_part(const struct request *request, const char *name, struct trace_span *out);
void spans_end_part(const struct request *request, struct trace_span *span, enum err_code code);
/* What is decided from here on is the span `decide`, once the verdict is made; and the end of all. */
void spans_decide(struct request *request);
void spans_decided(const struct request *request, const struct msg_verdict *verdict);
void spans_end(struct request *request, const struct msg_verdict *verdict);

/* repair.c: a query near the answer that is surer to be right. `best`: the answer, NO_CANDIDATE where there is none.
 * True: one is looked for, and the request stays open; never twice. */
bool repair_begin(struct request *request, uint32_t best);
bool repair_has_begun(const struct request *request);
/* Is this candidate waiting for proposals? */
bool repair_awaits(const struct request *request, const uint64_t hash[2]);
/* The answer of the worker that was asked for them. */
void repair_take_proposals(struct request *request, const struct msg_result *result);
/* Is a corrector's answer on this candidate waited for; and it. */
bool repair_awaits_correction(const struct request *request, const uint64_t hash[2]);
void repair_take_correction(struct request *request, const struct msg_result *result);
/* Send more of them, within the window. True: all are judged, and what came of it stands in request->repair. */
bool repair_advance(struct request *request);
/* The answer stands as if no repair had been asked for; `why` goes into a note. */
void repair_give_up(struct request *request, const char *why);

/* correction.c: what a corrector is told of the query that is being mended: question, evidence, schema, SQL, what `signal` found on it, and
 * what became of its last try. JSON in the request's arena; NULL: it cannot be said as that. */
const char *correction_data(struct request *request, int signal);
/* The selector of SQLens §4.4: the most critical signal (`critical` of the models) with a finding on that query which the corrector was not told
 * yet. -1: there is none. */
int correction_select(const struct request *request);

/* guarantee.c: what is promised of the answer. The traffic of each group of the calibration, which must outlive it; free. NULL: no memory. */
struct guarantee_traffic *guarantee_traffic_new(const struct guarantee *guarantee);
/* A request that asks for alpha (delta 0: 0.1): what it is promised, and the threshold that this takes. */
void guarantee_begin(struct request *request, double alpha, double delta);
/* Its answer, or what that repairs, is candidate `index`, and has this P; NAN: none. */
void guarantee_conclude(struct request *request, uint32_t index, double p);

/* story.c: the rows behind the answer. What of this candidate's explanation is asked for with its judgement? */
enum msg_part story_part(const struct request *request, uint32_t index);
/* True: those behind `best` are asked for, and the request stays open. Never twice. */
bool story_begin(struct request *request, uint32_t best);
bool story_is_pending(const struct request *request);
/* Is this candidate waiting for them, and they. */
bool story_awaits(const struct request *request, const uint64_t hash[2]);
void story_take(struct request *request, struct msg_result *result);
/* Is the result, of a candidate that waits for one of its family, the part that is waited for? */
bool story_fits(const struct request *request, const struct msg_result *result);
/* The answer goes without them. */
void story_give_up(struct request *request);

/* polish.c: the chosen answer's explanation in a model's words. True: the verdict is kept and the request stays open, for what ends
 * in decide_publish only; false: the verdict, which may have got a note, can go. */
bool polish_begin(struct request *request, struct msg_verdict *verdict);
/* Is the verdict made, and kept? And for an answer on this candidate? */
bool polish_is_pending(const struct request *request);
bool polish_awaits(const struct request *request, const uint64_t hash[2]);
/* That answer. */
void polish_take(struct request *request, const struct msg_result *result);
/* The verdict goes as it is; `why` goes into a note. */
void polish_give_up(struct request *request, const char *why);

/* gather.c: a candidate's results become its entry in the verdict; families that did not answer are unavailable. */
void gather_candidate(struct request *request, uint32_t index);
/* The families of `bits` as names. */
const char *const *gather_family_names(struct request *request, uint32_t bits, uint32_t *n);

/* report.c: SQLens's error report on one candidate, and questions to the user. */
void report_make(struct request *request, uint32_t index, struct msg_verdict *verdict);
/* Why there is no answer: the root cause (vsig_cause_name) that the most critical finding on the candidate points to, or
 * "not enough evidence" where there is none. */
const char *report_cause(const struct request *request, uint32_t index);
void report_ask(struct request *request, uint32_t index, struct msg_verdict *verdict);

/* coverage.c: what the checks could not look at. */

/* Does a candidate execute? Not known when no family has run it; where a schema takes the place of the database nobody
 * was to. */
enum coverage_run { RUN_FAILED, RUN_UNKNOWN, RUN_NO_DATA, RUN_DONE };
enum coverage_run coverage_run(const struct msg_judged *judged);

/* P of a candidate that the checks could not look at is at most this. Nothing is known of it, and that is even odds:
 * the models' own guess, some 0.8, holds for what they were fitted on, and of 9,839 honest candidates of the training
 * logs there was none that the checks could not look at. */
#define COVERAGE_LOW_P 0.5

/* Its signals, and those of them that could not look. */
struct coverage_count {
    uint32_t signals, unavailable;
    const char *reason; /* of the first that could not; NULL: all looked */
    bool several;       /* not all of them for that reason */
};
struct coverage_count coverage_count(const struct msg_judged *judged);
/* Were the checks unable to look at this candidate? Then it is not the answer as long as there is one that was judged.
 */
bool coverage_is_low(const struct request *request, uint32_t index);
/* Which checks were unavailable, after "it was not judged: "; only where coverage_is_low. */
const char *coverage_why(struct request *request, uint32_t index);
/* The meaning of an error's wire name, for people; any other reason is returned as it is. */
const char *coverage_reason(const char *reason);

/* rules.c: which tests a strategy asks for, and how it goes on. */
struct rules {
    bool verifier, signals; /* each model at its own threshold */
    bool combined;          /* P(correct) at the request's */
    bool evaluate_all;      /* all are done before any is taken */
    bool fallback_to_all;   /* as soon as the first that executes fails */
    bool in_order;          /* when none passes: the first that executes */
    bool
        first_only; /* the first that executes is taken, valid or not; a repair is applied unless the request says otherwise */
    bool verifier_alone; /* at a threshold of its own, and never without a note where there is no verifier */
};
/* Those of the request's strategy. */
const struct rules *rules_of(const struct request *request);

/* Compared before any number: the higher tier is the better candidate. */
enum rules_tier {
    TIER_EXCLUDED,     /* invalid, or did not run to its end: never the answer */
    TIER_LOW_COVERAGE, /* the checks could not look at it: never validated */
    TIER_JUDGED
};
enum rules_tier rules_tier(const struct request *request, uint32_t index);

/* What one candidate still lacks to validate. */
enum rules_test {
    RULES_PASSES,
    RULES_NOT_RUN,      /* it did not run to its end */
    RULES_LOW_COVERAGE, /* the checks could not look at it */
    RULES_NO_DATA,      /* it was judged from a schema alone, and the decision file does not say what that is worth */
    RULES_LINKING,      /* it stands on what the request's schema linker was not sure of */
    RULES_VERIFIER,     /* its explanation does not answer the question */
    RULES_SIGNALS,      /* its signals speak against it */
    RULES_COMBINED      /* P(correct) is too low */
};
/* Does it stand on what the request's schema linker was not sure of? A linker that wavers is not outvoted by models that did not see its
 * states: it is asked about, or abstained from. */
bool rules_linking_is_uncertain(const struct msg_judged *judged);
enum rules_test rules_test(const struct request *request, uint32_t index);

enum { NO_CANDIDATE = UINT32_MAX };

/* why.c: why each candidate that is done, but the chosen one, was passed over, in one sentence each; notes on how the
 * judgement came about. `chosen`: NO_CANDIDATE when nothing is returned; `best`: what would have been. */
void why_not_chosen(struct request *request, uint32_t chosen, uint32_t best);
/* What the nearest one still lacks, as a sentence. */
const char *why_not_valid(struct request *request, uint32_t best);
/* The same of one that is invalid, whatever else is known. */
const char *why_invalid(struct request *request, uint32_t index);
/* Why nothing can be returned: `reason` is the wire name of what stopped the first that did not run to its end, or
 * "invalid_sql" where none even began. */
const char *why_none(struct request *request, const char **reason);
void why_notes(struct request *request, struct msg_verdict *verdict);

#endif
