/* Declarations shared by the files of coordinator/. */
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

/* The progress of a candidate. The verdict's msg_judged has its other data. */
struct candidate_state {
    uint64_t hash[2];
    bool needs_tasks; /* true if tasks judge it: it parses, repeats no other candidate, and is within max_iterations */
    bool sent;
    int64_t sent_ns;
    uint32_t pending; /* bits of the families whose results are missing */
    struct msg_result *results[VSIG_FAMILY_COUNT];
    const float *features; /* FEATURE_COUNT values; NULL if the explain family has no usable result */
    bool verifier_pending; /* the remote verifier's response is outstanding */
    bool verifier_asked;   /* the remote verifier was called */
    bool consulted;        /* true if a language model was called about it (consult.c) */
    struct core_verifier_answer remote_answer;
    struct models_score score;
};

/* Maximum number of candidates that proposals may add to a request. */
enum { MAX_PROPOSED = 64 };

/* Phases of the search for a repair, see repair.c. */
enum repair_phase { REPAIR_NOT_BEGUN, REPAIR_PROPOSING, REPAIR_CORRECTING, REPAIR_JUDGING, REPAIR_OVER };

/* State of the corrector's rounds. */
struct correcting {
    uint32_t rounds; /* number of calls so far */
    /* the candidate to correct: the answer, or the most likely query that the corrector has written */
    uint32_t current;
    double p_current;      /* P(correct) of that query alone; NAN if it does not run */
    uint64_t told;         /* bits of the signals whose findings the corrector has received */
    uint32_t first_new;    /* first candidate of the last round */
    const char *tried;     /* the corrector's last query if that query cannot be judged; otherwise NULL */
    const char *tried_why; /* why `tried` cannot be judged */
};

struct repair {
    enum repair_phase phase;
    uint32_t best;                     /* candidate that is the answer without a repair, or NO_CANDIDATE */
    uint32_t of;                       /* index of the candidate to repair */
    double p_old;                      /* P(correct) of that candidate alone; NAN if it does not run */
    const struct msg_result *proposed; /* the worker's result with proposals */
    struct correcting correcting;
    const struct msg_proposal **proposals; /* indexed by candidate, minus n_given */
    struct msg_repaired *found;
    const char *note; /* why there is no repair although one was requested; may be NULL */
};

/* Progress of a language model's opinions on candidates, see consult.c. */
struct consult {
    bool pending;
    bool concluded;   /* the last opinion has arrived, and the decision has not been made again since */
    uint32_t of;      /* candidate of the last opinion */
    int64_t until_ns; /* deadline of the outstanding opinion */
    uint32_t asked;   /* number of the request's candidates that were submitted */
    struct msg_usage usage;
    const char *note; /* why no opinion was requested although the decision was in doubt; may be NULL */
};

/* Progress of a clarification question, see ask.c. */
struct ask {
    bool over;         /* whether to ask was already considered */
    bool pending;      /* the wording is outstanding */
    bool concluded;    /* the wording has arrived or failed */
    uint32_t best;     /* candidate that is the answer without a question, or NO_CANDIDATE */
    uint32_t *offered; /* one candidate of each offered reading */
    uint32_t n_offered;
    double gain;
    struct msg_clarification *clarification; /* NULL if no question is asked */
    const char *note;                        /* why no question is asked although it would pay; may be NULL */
};

/* Progress of requesting the source rows of the answer's result, see story.c. */
struct story {
    bool over; /* whether to request rows was already considered */
    bool pending;
    uint32_t best; /* candidate whose rows are requested: the answer */
};

/* A verdict whose explanation is being reworded, see polish.c. */
struct polish {
    bool pending;
    struct msg_verdict verdict;
};

/* Lookup of the cached verdict of an equal request, and caching of this request's verdict; see lookup.c. */
struct lookup {
    char key[VERDICT_CACHE_KEY + 1]; /* "" if the request does not use the cache */
    bool pending;
    int64_t until_ns;  /* deadline of the lookup */
    const char *state; /* state of the database in the first result; NULL if there is no result or the state is
                        * unknown */
    bool unlike;       /* a later result had another state, or none */
};

struct request {
    struct core *core;
    struct arena arena; /* owns the pointers below */
    struct msg_key key;
    void *token;
    struct msg_request *message;
    struct msg_options options;  /* options with all defaults filled in */
    double threshold;            /* minimum P(correct) */
    double entailment_threshold; /* minimum entailment; the only threshold under cyclesql */
    double repair_margin;
    int64_t arrived_ns, deadline_ns; /* 0 means no deadline */
    uint32_t families;               /* bits of the families that judge every candidate */
    bool consults;                   /* true if a language model may judge some candidates */
    struct candidate_state *states;
    struct msg_judged *judged;
    uint32_t n;
    uint32_t n_given;       /* number of the request's own candidates; proposals for a repair follow them */
    uint32_t next_to_send;  /* index of the first candidate that was not sent */
    uint32_t n_done_prefix; /* all candidates before this index are done */
    uint32_t tied;          /* 1 + index of the candidate that ties with the best one; 0 if no candidate ties */
    bool evaluate_all;      /* all candidates must be judged, in any order */
    int64_t worker_ns;
    struct consult consult;
    struct repair repair;
    struct ask ask;
    struct story story;
    struct msg_guarantee *guarantee; /* NULL if no guarantee was requested */
    int guarantee_group;             /* index of the group of the calibration whose traffic includes this request; -1
                                      * without one */
    struct polish polish;
    struct lookup lookup;
    struct trace_span *span; /* NULL disables tracing; the next two fields are then unused */
    const char *traceparent; /* trace context of the messages sent for this request */
    int64_t deciding_ns;     /* start of the final decision, on the tracer's clock */
};

enum { SPARE_ARENAS = 256 };

struct core {
    struct core_config config;
    struct core_actions actions;
    GHashTable *open;                 /* key → request */
    int64_t next_deadline;            /* not later than the earliest deadline; 0 means no deadline */
    struct arena spare[SPARE_ARENAS]; /* arenas of closed requests, for reuse */
    uint32_t n_spare;
    struct arena scratch;              /* for parsing one candidate, or one earlier request */
    struct duplicates *duplicates;     /* NULL if duplicates are judged */
    struct guarantee_traffic *traffic; /* NULL if there is no calibration */
    int64_t now_ns;                    /* time of the last event */
    int64_t wait_ns;                   /* moving mean of the time that a task waits for a worker, including transport in
                                        * both directions */
    int64_t llm_away_ns;               /* after a timeout, no opinion is requested before this time (consult.c) */
    struct core_stats stats;
};

/* Ensures that core_tick runs at the latest at that time. 0 changes nothing. */
void core_note_deadline(struct core *core, int64_t deadline_ns);

/* ingest.c: Parses the candidates, finds repeats and resolves options. If the result is not ERR_OK, the request fails
 * with that reason. */
enum err_code ingest_request(struct request *request, struct err *err);

/* Adds proposals as candidates. The proposals must live as long as the request. Skips proposals that repeat a
 * candidate, do not parse, or exceed MAX_PROPOSED. Returns false if memory is short. */
bool ingest_proposals(struct request *request, const struct msg_proposal *proposals, uint32_t n);

/* decide.c: Decides on each done candidate in order, then sends more candidates or concludes. Returns true if the
 * request is closed and freed. */
bool decide_advance(struct request *request, int64_t now_ns);
/* Returns true if the request's deadline had passed at the last event. */
bool decide_is_past_deadline(const struct request *request);
/* Returns true if the request's deadline has passed, or if workers have spent core_config.max_work_ns on it. No further
 * work is then begun. */
bool decide_is_late(const struct request *request);
/* Concludes at the deadline, with the results that have arrived. */
void decide_deadline(struct request *request, int64_t now_ns);
/* Concludes with status failed. */
void decide_failed(struct request *request, const char *reason, const char *message, int64_t now_ns);

/* Publishes the verdict and frees the request. */
void decide_publish(struct request *request, const struct msg_verdict *verdict);

/* Return the id of the request, generated if it has none, and the versions of the program and the models. The results
 * are in the arena. Return NULL if the arena is full. */
const char *decide_id(struct request *request);
struct msg_version *decide_versions(struct request *request, uint32_t *n);

/* Returns true if no more results are expected for this candidate. */
bool decide_is_done(const struct request *request, uint32_t index);
/* Returns a candidate's P(correct) alone: without votes, positions, other candidates or the remote verifier. Returns
 * NAN if it is unknown. */
double decide_p_alone(struct request *request, uint32_t index);
/* Sends one task of this candidate for each family. */
void decide_send(struct request *request, uint32_t index);
/* Returns a task for this candidate. The caller must set the family. */
struct msg_task decide_task(const struct request *request, uint32_t index);

/* consult.c: Requests a language model's opinion on the likely answer. Returns true if an opinion is outstanding; the
 * request then stays open. */
bool consult_begin(struct request *request, uint32_t best, int64_t now_ns);
bool consult_is_pending(const struct request *request);
/* Handles a result of the family llm. The candidate's other results must have been gathered before. */
void consult_take(struct request *request, uint32_t index, const struct msg_result *result);
/* Stops waiting for the opinion after a timeout. Its signals are unavailable, and no other opinion is requested. */
void consult_give_up(struct request *request, int64_t now_ns);
/* Returns true if the wait for the opinion has timed out. */
bool consult_is_late(const struct request *request, int64_t now_ns);
/* Returns the candidate of a new opinion, once for each opinion. Returns NO_CANDIDATE if there is no new one. */
uint32_t consult_concluded(struct request *request);

/* lookup.c: Looks up the cached verdict of an equal request. Returns true if a lookup is outstanding; the request then
 * stays open. */
bool lookup_begin(struct request *request, int64_t now_ns);
bool lookup_is_pending(const struct request *request);
/* Returns true if the lookup has timed out. */
bool lookup_is_late(const struct request *request, int64_t now_ns);
/* Handles the outcome of a lookup. Returns true if it was the verdict; the request is then closed and freed. Otherwise
 * the request must be judged. */
bool lookup_take(struct request *request, const struct core_found *found, int64_t now_ns);
/* Stops waiting for the lookup after a timeout. The request must be judged. */
void lookup_give_up(struct request *request);
/* Records the database state of a result that contributes to the verdict. `state` is NULL if unknown. */
void lookup_note_state(struct request *request, const char *state);
/* Caches a complete verdict if equal requests may reuse it. */
void lookup_keep(struct request *request, const struct msg_verdict *verdict);

/* ask.c: Checks that the answers belong to questions about this request. Returns ERR_MALFORMED if they do not. */
enum err_code ask_check_answers(struct request *request, struct err *err);
/* Returns true if all candidates must be judged, regardless of the strategy, to weigh the readings. */
bool ask_looks_at_all(const struct request *request);
/* Updates P(correct) of the candidates by the request's answers. All candidates must have scores. */
void ask_apply_answers(struct request *request);
/* Requests the wording of a clarification question if asking pays. Returns true if so; the request then stays open. Has
 * effect at most once for each request. */
bool ask_begin(struct request *request);
bool ask_is_pending(const struct request *request);
/* Returns true if the wording for this candidate is outstanding. ask_take handles it. */
bool ask_awaits(const struct request *request, const uint64_t hash[2]);
void ask_take(struct request *request, const struct msg_result *result);
/* Stops waiting for the wording; no question is asked. `why` goes into a note. */
void ask_give_up(struct request *request, const char *why);

/* spans.c: Begins the request's own span, once the request has been read. Does nothing without tracing. */
void spans_begin(struct request *request, int64_t now_ns);
/* Returns the request's trace context for other processes. It is zero if tracing is disabled. */
struct trace_context spans_context(const struct request *request);
/* Begin and end a span below the request's own span. */
void spans_begin_part(const struct request *request, const char *name, struct trace_span *out);
void spans_end_part(const struct request *request, struct trace_span *span, enum err_code code);
/* Marks the start of the decision. spans_decided writes the span `decide` with the verdict, and spans_end ends the
 * request's span. */
void spans_decide(struct request *request);
void spans_decided(const struct request *request, const struct msg_verdict *verdict);
void spans_end(struct request *request, const struct msg_verdict *verdict);

/* repair.c: Searches for a similar query with a higher P(correct). `best` is the answer, or NO_CANDIDATE. Returns true
 * if a search is running; the request then stays open. Has effect at most once for each request. */
bool repair_begin(struct request *request, uint32_t best);
bool repair_has_begun(const struct request *request);
/* Returns true if proposals for this candidate are outstanding. */
bool repair_awaits(const struct request *request, const uint64_t hash[2]);
/* Handles the worker's proposals. */
void repair_take_proposals(struct request *request, const struct msg_result *result);
/* Returns true if a corrector's response on this candidate is outstanding. repair_take_correction handles it. */
bool repair_awaits_correction(const struct request *request, const uint64_t hash[2]);
void repair_take_correction(struct request *request, const struct msg_result *result);
/* Sends more proposals within the window. Returns true if all are judged and request->repair has the outcome. */
bool repair_advance(struct request *request);
/* Ends the search for a repair, as if none had been requested. `why` goes into a note. */
void repair_give_up(struct request *request, const char *why);

/* correction.c: Builds the corrector's input about the query to correct. The input has question, evidence, schema, SQL,
 * the findings of `signal`, and the outcome of the corrector's last attempt. Returns JSON in the request's arena.
 * Returns NULL if a text is missing or invalid. */
const char *correction_data(struct request *request, int signal);
/* Returns the signal that SQLens §4.4 selects. It is the most critical signal (`critical` of the models) with a finding
 * on the query to correct that the corrector has not received. Returns -1 if there is none. */
int correction_select(const struct request *request);

/* guarantee.c: Returns a record of the traffic of each group of the calibration. `guarantee` must outlive it. Free with
 * free. Returns NULL if memory is short. */
struct guarantee_traffic *guarantee_traffic_new(const struct guarantee *guarantee);
/* Sets the guarantee of the request, and the threshold that follows from it, for this alpha (delta 0: 0.1). */
void guarantee_begin(struct request *request, double alpha, double delta);
/* Records the answer of a request with a guarantee: candidate `index`, or its repair. `p` is its P(correct); NAN if
 * unknown. */
void guarantee_conclude(struct request *request, uint32_t index, double p);

/* story.c: Returns the part of this candidate's explanation that is requested together with its judgement. */
enum msg_part story_part(const struct request *request, uint32_t index);
/* Requests the source rows of the result of `best`. Returns true if they are outstanding; the request then stays open.
 * Has effect at most once for each request. */
bool story_begin(struct request *request, uint32_t best);
bool story_is_pending(const struct request *request);
/* Returns true if rows for this candidate are outstanding. story_take handles them. */
bool story_awaits(const struct request *request, const uint64_t hash[2]);
void story_take(struct request *request, struct msg_result *result);
/* Returns true if the result, which is for an awaited candidate, contains the awaited part. */
bool story_fits(const struct request *request, const struct msg_result *result);
/* Stops waiting for the rows. The request is then concluded without them. */
void story_give_up(struct request *request);

/* polish.c: Requests a rewording of the chosen answer's explanation. Returns true if a rewording is outstanding. The
 * verdict is then stored, and the request stays open only until decide_publish. Returns false if the verdict can be
 * published; it may have a new note. */
bool polish_begin(struct request *request, struct msg_verdict *verdict);
/* Return true if a complete verdict waits for its rewording, and if that rewording is for this candidate. */
bool polish_is_pending(const struct request *request);
bool polish_awaits(const struct request *request, const uint64_t hash[2]);
/* Handles the polisher's response. */
void polish_take(struct request *request, const struct msg_result *result);
/* Publishes the verdict unchanged; `why` goes into a note. */
void polish_give_up(struct request *request, const char *why);

/* gather.c: Combines a candidate's results into its entry in the verdict. A family without a result becomes
 * unavailable. */
void gather_candidate(struct request *request, uint32_t index);
/* Returns the names of the families in `bits`. */
const char *const *gather_family_names(struct request *request, uint32_t bits, uint32_t *n);

/* report.c: Writes SQLens's error report on one candidate. report_ask writes questions to the user. */
void report_make(struct request *request, uint32_t index, struct msg_verdict *verdict);
/* Returns the root cause (vsig_cause_name) of a missing answer, from the most critical finding on the candidate.
 * Returns "not enough evidence" if there is no finding. */
const char *report_cause(const struct request *request, uint32_t index);
void report_ask(struct request *request, uint32_t index, struct msg_verdict *verdict);

/* --- coverage.c: candidates that too few checks could judge --- */

/* The outcome of executing a candidate. RUN_UNKNOWN means that no family has run it, for example because there is only
 * a schema and no database. */
enum coverage_run { RUN_FAILED, RUN_UNKNOWN, RUN_NO_DATA, RUN_DONE };
enum coverage_run coverage_run(const struct msg_judged *judged);

/* Maximum P(correct) of a candidate with low coverage. Such a candidate is unchecked, so its odds are even. The models'
 * own estimate of about 0.8 holds only for data like the training logs. None of the 9,839 honest candidates in those
 * logs had low coverage. */
#define COVERAGE_LOW_P 0.5

/* The numbers of a candidate's signals and of its unavailable signals. */
struct coverage_count {
    uint32_t signals, unavailable;
    const char *reason; /* reason of the first unavailable signal; NULL if all are available */
    bool several;       /* the unavailable signals have different reasons */
};
struct coverage_count coverage_count(const struct msg_judged *judged);
/* Returns true if too few checks were available for this candidate. It is then chosen only if no candidate has enough
 * coverage. */
bool coverage_is_low(const struct request *request, uint32_t index);
/* Returns text about the unavailable checks, to follow "it was not judged: ". Call only if coverage_is_low. */
const char *coverage_why(struct request *request, uint32_t index);
/* Returns the meaning of an error's wire name, as text for people. Returns any other reason unchanged. */
const char *coverage_reason(const char *reason);

/* rules.c: The tests and the procedure of a strategy. */
struct rules {
    bool verifier, signals; /* test each model at its own threshold */
    bool combined;          /* test P(correct) at the request's threshold */
    bool evaluate_all;      /* judge all candidates before choosing */
    bool fallback_to_all;   /* judge all candidates if the first one that executes fails a test */
    bool in_order;          /* if no candidate passes, choose the first one that executes */
    bool
        /* choose the first candidate that executes, valid or not; apply a repair unless the request says otherwise */
        first_only;
    bool verifier_alone; /* the verifier has a threshold of its own; without a verifier the signals decide, and a note
                          * says so */
};
/* Returns the rules of the request's strategy. */
const struct rules *rules_of(const struct request *request);

/* Tiers are compared before scores. A candidate of a higher tier is better. */
enum rules_tier {
    TIER_EXCLUDED,     /* invalid, or its execution did not complete: never the answer */
    TIER_LOW_COVERAGE, /* too few available checks: never validated */
    TIER_JUDGED
};
enum rules_tier rules_tier(const struct request *request, uint32_t index);

/* The first test that a candidate fails, in this order. */
enum rules_test {
    RULES_PASSES,
    RULES_NOT_RUN,      /* execution did not complete */
    RULES_LOW_COVERAGE, /* too few available checks */
    RULES_NO_DATA,      /* judged from a schema alone, for which the decision file has no value */
    RULES_LINKING,      /* depends on names that the request's schema linker was unsure of */
    RULES_VERIFIER,     /* the explanation does not answer the question */
    RULES_SIGNALS,      /* the signals indicate an error */
    RULES_COMBINED      /* P(correct) is too low */
};
/* Returns true if the candidate depends on a name that the request's schema linker was unsure of. Such a candidate must
 * not validate, because the models do not know how unsure the linker was. The policy is then ask or abstain. */
bool rules_linking_is_uncertain(const struct msg_judged *judged);
enum rules_test rules_test(const struct request *request, uint32_t index);

enum { NO_CANDIDATE = UINT32_MAX };

/* why.c: Writes one sentence for each done candidate except the chosen one: why it was rejected. `chosen` is
 * NO_CANDIDATE without an answer, and `best` is the likely answer. why_notes adds notes about the judgement. */
void why_not_chosen(struct request *request, uint32_t chosen, uint32_t best);
/* Returns why no candidate validates, as a sentence about `best`: the test that it fails, or a tie. */
const char *why_not_valid(struct request *request, uint32_t best);
/* Returns why an invalid candidate was rejected, as a sentence. Needs no other data. */
const char *why_invalid(struct request *request, uint32_t index);
/* Returns why there is no answer, as a sentence. `reason` becomes the wire name of the error of the first candidate
 * that did not complete, or "invalid_sql" if none was executed. */
const char *why_none(struct request *request, const char **reason);
void why_notes(struct request *request, struct msg_verdict *verdict);

#endif
