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

/* The progress of a candidate. Its other data are in the verdict's msg_judged. */
struct candidate_state {
    uint64_t hash[2];
    bool needs_tasks; /* judged by tasks: parses, repeats nothing, within max_iterations */
    bool sent;
    int64_t sent_ns;
    uint32_t pending; /* bits of the families without a result */
    struct msg_result *results[VSIG_FAMILY_COUNT];
    const float *features; /* FEATURE_COUNT values; NULL without a usable result of the explain family */
    bool verifier_pending; /* the remote verifier's response is outstanding */
    bool verifier_asked;   /* the remote verifier was called */
    bool consulted;        /* a language model was called about it, see consult.c */
    struct core_verifier_answer remote_answer;
    struct models_score score;
};

/* Limit of candidates added to a request. */
enum { MAX_PROPOSED = 64 };

/* Progress of a repair, see repair.c. */
enum repair_phase { REPAIR_NOT_BEGUN, REPAIR_PROPOSING, REPAIR_CORRECTING, REPAIR_JUDGING, REPAIR_OVER };

/* Rounds of a corrector. */
struct correcting {
    uint32_t rounds; /* calls so far */
    /* candidate to correct: the answer, or the most likely query that the corrector has written */
    uint32_t current;
    double p_current;      /* P of that query alone; NAN if it does not run */
    uint64_t told;         /* bits of the signals whose findings it has received */
    uint32_t first_new;    /* first candidate of the last round */
    const char *tried;     /* last query that it wrote, if that cannot be judged; otherwise NULL */
    const char *tried_why; /* why it cannot be judged */
};

struct repair {
    enum repair_phase phase;
    uint32_t best;                     /* answer without a repair, or NO_CANDIDATE */
    uint32_t of;                       /* candidate to repair */
    double p_old;                      /* P of that candidate alone; NAN if it does not run */
    const struct msg_result *proposed; /* worker's result */
    struct correcting correcting;
    const struct msg_proposal **proposals; /* by candidate from n_given on */
    struct msg_repaired *found;
    const char *note; /* why there is no repair, though one was requested */
};

/* Progress of a language model's opinion, see consult.c. */
struct consult {
    bool pending;
    bool concluded;   /* the last one has arrived, and the decision is not yet made again */
    uint32_t of;      /* candidate of the last one */
    int64_t until_ns; /* deadline of the current one */
    uint32_t asked;   /* candidates of the request that were submitted */
    struct msg_usage usage;
    const char *note; /* why none was requested in spite of doubt; may be NULL */
};

/* Progress of a clarification question, see ask.c. */
struct ask {
    bool over;         /* was considered */
    bool pending;      /* wording is outstanding */
    bool concluded;    /* wording has arrived or failed */
    uint32_t best;     /* answer without a question, or NO_CANDIDATE */
    uint32_t *offered; /* one candidate of each offered reading */
    uint32_t n_offered;
    double gain;
    struct msg_clarification *clarification; /* NULL without a question */
    const char *note;                        /* why no question is asked, though it would pay; may be NULL */
};

/* Rows behind the answer, see story.c. */
struct story {
    bool over; /* was considered */
    bool pending;
    uint32_t best; /* answer whose rows are requested */
};

/* A verdict with an outstanding rewording, see polish.c. */
struct polish {
    bool pending;
    struct msg_verdict verdict;
};

/* Lookup of an equal request's cached verdict, and caching of this one's; see lookup.c. */
struct lookup {
    char key[VERDICT_CACHE_KEY + 1]; /* "" if the request does not use the cache */
    bool pending;
    int64_t until_ns;  /* deadline of the lookup */
    const char *state; /* state of the database in the first result; NULL without a result or state */
    bool unlike;       /* a result had another state, or none */
};

struct request {
    struct core *core;
    struct arena arena; /* owns the pointers below */
    struct msg_key key;
    void *token;
    struct msg_request *message;
    struct msg_options options;  /* resolved: nothing unset */
    double threshold;            /* for P(correct) */
    double entailment_threshold; /* for the entailment; the only one under cyclesql */
    double repair_margin;
    int64_t arrived_ns, deadline_ns; /* 0 means no deadline */
    uint32_t families;               /* bits of the families that judge every candidate */
    bool consults;                   /* a language model may judge some candidates */
    struct candidate_state *states;
    struct msg_judged *judged;
    uint32_t n;
    uint32_t n_given;       /* candidates of the request; proposals for a repair follow them */
    uint32_t next_to_send;  /* first candidate that was not sent */
    uint32_t n_done_prefix; /* candidates before it are done */
    uint32_t tied;          /* 1 + index of the candidate that ties with the best one; 0 if there is none */
    bool evaluate_all;      /* all candidates are judged, in any order */
    int64_t worker_ns;
    struct consult consult;
    struct repair repair;
    struct ask ask;
    struct story story;
    struct msg_guarantee *guarantee; /* NULL if not requested */
    int guarantee_group;             /* group of its traffic; -1 without one */
    struct polish polish;
    struct lookup lookup;
    struct trace_span *span; /* NULL disables tracing, also for the next two */
    const char *traceparent; /* for messages sent on its behalf */
    int64_t deciding_ns;     /* begin of the final decision, on the tracer's clock */
};

enum { SPARE_ARENAS = 256 };

struct core {
    struct core_config config;
    struct core_actions actions;
    GHashTable *open;                 /* key → request */
    int64_t next_deadline;            /* at most the earliest deadline; 0 means no deadline */
    struct arena spare[SPARE_ARENAS]; /* of closed requests, for reuse */
    uint32_t n_spare;
    struct arena scratch;              /* for parsing one candidate, or one request of the history */
    struct duplicates *duplicates;     /* NULL: duplicates are judged */
    struct guarantee_traffic *traffic; /* NULL without a calibration */
    int64_t now_ns;                    /* of the last event */
    int64_t wait_ns;                   /* moving mean of a task's wait for a worker, including both ways */
    int64_t llm_away_ns;               /* no opinion is requested before this time, after a timeout (consult.c) */
    struct core_stats stats;
};

/* Makes sure that core_tick runs by then; 0 changes nothing. */
void core_note_deadline(struct core *core, int64_t deadline_ns);

/* ingest.c: Parses, finds repeats, resolves options. On another code than ERR_OK the request fails with that reason. */
enum err_code ingest_request(struct request *request, struct err *err);

/* Adds proposals, which must live as long as the request, as candidates. Skips repeats, unparsable ones and those
 * beyond MAX_PROPOSED. Returns false if memory is short. */
bool ingest_proposals(struct request *request, const struct msg_proposal *proposals, uint32_t n);

/* decide.c: Decides at each candidate that is done, in order, then sends more or concludes. Returns true if the request
 * is closed and freed. */
bool decide_advance(struct request *request, int64_t now_ns);
/* Returns true if the request's deadline had passed at the last event. */
bool decide_is_past_deadline(const struct request *request);
/* Returns true if the request's deadline has passed, or if workers have spent core_config.max_work_ns on it. No further
 * work is then begun. */
bool decide_is_late(const struct request *request);
/* Concludes with the results so far. */
void decide_deadline(struct request *request, int64_t now_ns);
/* Concludes as failed. */
void decide_failed(struct request *request, const char *reason, const char *message, int64_t now_ns);

/* Publishes the verdict and frees the request. */
void decide_publish(struct request *request, const struct msg_verdict *verdict);

/* Return the id of a request, even if it has none, and the versions of program and models. In the arena; NULL if it is
 * full. */
const char *decide_id(struct request *request);
struct msg_version *decide_versions(struct request *request, uint32_t *n);

/* Returns true if no more results are expected for this candidate. */
bool decide_is_done(const struct request *request, uint32_t index);
/* Returns a candidate's P by itself: without votes, positions, other candidates and remote verifier. NAN if unknown. */
double decide_p_alone(struct request *request, uint32_t index);
/* Sends one task for each family. */
void decide_send(struct request *request, uint32_t index);
/* Returns a task for this candidate, without its family. */
struct msg_task decide_task(const struct request *request, uint32_t index);

/* consult.c: Requests a language model's opinion on the likely answer. Returns true if one is outstanding; the request
 * then stays open. */
bool consult_begin(struct request *request, uint32_t best, int64_t now_ns);
bool consult_is_pending(const struct request *request);
/* Takes a result of the family llm, whose candidate is already gathered. */
void consult_take(struct request *request, uint32_t index, const struct msg_result *result);
/* Stops waiting for the opinion after a timeout. Its signals are unavailable, and no other opinion is requested. */
void consult_give_up(struct request *request, int64_t now_ns);
/* Returns true if the wait for the opinion has timed out. */
bool consult_is_late(const struct request *request, int64_t now_ns);
/* Consumes a new opinion: returns its candidate once, or NO_CANDIDATE. */
uint32_t consult_concluded(struct request *request);

/* lookup.c: Looks up the cached verdict of an equal request. Returns true if a lookup is outstanding; the request then
 * stays open. */
bool lookup_begin(struct request *request, int64_t now_ns);
bool lookup_is_pending(const struct request *request);
/* Returns true if the lookup has timed out. */
bool lookup_is_late(const struct request *request, int64_t now_ns);
/* Takes the outcome of a lookup. Returns true if it was the verdict, and the request is closed and freed. Otherwise the
 * request must be judged. */
bool lookup_take(struct request *request, const struct core_found *found, int64_t now_ns);
/* Stops waiting for the lookup after a timeout. The request must be judged. */
void lookup_give_up(struct request *request);
/* Records the state of the database of a result that counts; NULL if it is unknown. */
void lookup_note_state(struct request *request, const char *state);
/* Caches a complete verdict if equal requests may reuse it. */
void lookup_keep(struct request *request, const struct msg_verdict *verdict);

/* ask.c: Checks that the answers belong to questions about this request. Returns ERR_MALFORMED otherwise. */
enum err_code ask_check_answers(struct request *request, struct err *err);
/* Returns true if all candidates must be judged, whatever the strategy, to weigh their readings. */
bool ask_looks_at_all(const struct request *request);
/* Updates P(correct) of the candidates, all scored, by the request's answers. */
void ask_apply_answers(struct request *request);
/* Requests the wording of a clarification question. Returns true if it pays; the request then stays open. At most
 * once. */
bool ask_begin(struct request *request);
bool ask_is_pending(const struct request *request);
/* Returns true if wording for this candidate is outstanding. ask_take consumes it. */
bool ask_awaits(const struct request *request, const uint64_t hash[2]);
void ask_take(struct request *request, const struct msg_result *result);
/* Stops waiting for the wording; no question is asked. `why` goes into a note. */
void ask_give_up(struct request *request, const char *why);

/* spans.c: Begins the request's own span, once it can be read. Does nothing without tracing. */
void spans_begin(struct request *request, int64_t now_ns);
/* Returns the request's trace context for other processes; zeroed without tracing. */
struct trace_context spans_context(const struct request *request);
/* Begin and end a span below the request's own span. */
void spans_begin_part(const struct request *request, const char *name, struct trace_span *out);
void spans_end_part(const struct request *request, struct trace_span *span, enum err_code code);
/* Marks the begin of the decision; spans_decided writes the span `decide` with the verdict, and spans_end ends the
 * request's span. */
void spans_decide(struct request *request);
void spans_decided(const struct request *request, const struct msg_verdict *verdict);
void spans_end(struct request *request, const struct msg_verdict *verdict);

/* repair.c: Looks for a similar query with a higher P(correct). `best` is the answer, or NO_CANDIDATE. Returns true if
 * a search is running; the request then stays open. At most once. */
bool repair_begin(struct request *request, uint32_t best);
bool repair_has_begun(const struct request *request);
/* Returns true if proposals for this candidate are outstanding. */
bool repair_awaits(const struct request *request, const uint64_t hash[2]);
/* Takes the worker's proposals. */
void repair_take_proposals(struct request *request, const struct msg_result *result);
/* Returns true if a corrector's response on this candidate is outstanding. repair_take_correction consumes it. */
bool repair_awaits_correction(const struct request *request, const uint64_t hash[2]);
void repair_take_correction(struct request *request, const struct msg_result *result);
/* Sends more proposals within the window. Returns true if all are judged and request->repair has the outcome. */
bool repair_advance(struct request *request);
/* Ends the search for a repair, as if none had been requested. `why` goes into a note. */
void repair_give_up(struct request *request, const char *why);

/* correction.c: Builds the corrector's input about the query to correct. It has question, evidence, schema, SQL, the
 * findings of `signal`, and the outcome of its last attempt. Returns JSON in the request's arena, or NULL if a text is
 * missing or invalid. */
const char *correction_data(struct request *request, int signal);
/* Returns the signal that SQLens §4.4 selects: the most critical one (`critical` of the models) with a finding on that
 * query that the corrector has not received. Returns -1 if there is none. */
int correction_select(const struct request *request);

/* guarantee.c: Returns the traffic of each group of the calibration, which must outlive it. Free with free. Returns
 * NULL if memory is short. */
struct guarantee_traffic *guarantee_traffic_new(const struct guarantee *guarantee);
/* Sets the guarantee and its threshold for a request with alpha (delta 0: 0.1). */
void guarantee_begin(struct request *request, double alpha, double delta);
/* Records the answer of a request with a guarantee: candidate `index`, or its repair, with this P (NAN if unknown). */
void guarantee_conclude(struct request *request, uint32_t index, double p);

/* story.c: Returns which part of this candidate's explanation is requested with its judgement. */
enum msg_part story_part(const struct request *request, uint32_t index);
/* Requests the rows behind `best`. Returns true if they are outstanding; the request then stays open. At most once. */
bool story_begin(struct request *request, uint32_t best);
bool story_is_pending(const struct request *request);
/* Returns true if rows for this candidate are outstanding. story_take consumes them. */
bool story_awaits(const struct request *request, const uint64_t hash[2]);
void story_take(struct request *request, struct msg_result *result);
/* Returns true if the result, which is for an awaited candidate, contains the awaited part. */
bool story_fits(const struct request *request, const struct msg_result *result);
/* Stops waiting for the rows. The request is then concluded without them. */
void story_give_up(struct request *request);

/* polish.c: Requests a rewording of the chosen answer's explanation. Returns true if one is outstanding: the verdict is
 * stored, and the request stays open for decide_publish only. Returns false if the verdict, perhaps with a new note,
 * can be published. */
bool polish_begin(struct request *request, struct msg_verdict *verdict);
/* Return true if the verdict is complete and stored, and if the rewording is of this candidate. */
bool polish_is_pending(const struct request *request);
bool polish_awaits(const struct request *request, const uint64_t hash[2]);
/* Takes the polisher's response. */
void polish_take(struct request *request, const struct msg_result *result);
/* Publishes the verdict unchanged; `why` goes into a note. */
void polish_give_up(struct request *request, const char *why);

/* gather.c: Combines a candidate's results into its entry in the verdict. Families without a result are unavailable. */
void gather_candidate(struct request *request, uint32_t index);
/* Returns the names of the families in `bits`. */
const char *const *gather_family_names(struct request *request, uint32_t bits, uint32_t *n);

/* report.c: Writes SQLens's error report on one candidate. report_ask writes questions to the user. */
void report_make(struct request *request, uint32_t index, struct msg_verdict *verdict);
/* Returns the root cause (vsig_cause_name) of a missing answer, from the most critical finding on the candidate. It is
 * "not enough evidence" without a finding. */
const char *report_cause(const struct request *request, uint32_t index);
void report_ask(struct request *request, uint32_t index, struct msg_verdict *verdict);

/* coverage.c: unchecked candidates. */

/* The outcome of executing a candidate. Unknown if no family has run it; with a schema in place of the database, none
 * runs it. */
enum coverage_run { RUN_FAILED, RUN_UNKNOWN, RUN_NO_DATA, RUN_DONE };
enum coverage_run coverage_run(const struct msg_judged *judged);

/* Largest P of a candidate with low coverage. It is unchecked, so its odds are even: the models' own guess of some 0.8
 * holds only for data like the training logs. None of their 9,839 honest candidates had low coverage. */
#define COVERAGE_LOW_P 0.5

/* The numbers of a candidate's signals and of its unavailable signals. */
struct coverage_count {
    uint32_t signals, unavailable;
    const char *reason; /* reason of the first unavailable signal; NULL if all are available */
    bool several;       /* the unavailable signals have different reasons */
};
struct coverage_count coverage_count(const struct msg_judged *judged);
/* Returns true if too few checks were available for this candidate. It is then not the answer while there is a judged
 * one. */
bool coverage_is_low(const struct request *request, uint32_t index);
/* Returns which checks were unavailable, to follow "it was not judged: ". Only if coverage_is_low. */
const char *coverage_why(struct request *request, uint32_t index);
/* Returns the meaning of an error's wire name, for people. Any other reason is returned unchanged. */
const char *coverage_reason(const char *reason);

/* rules.c: The tests of a strategy, and its procedure. */
struct rules {
    bool verifier, signals; /* each model at its own threshold */
    bool combined;          /* P(correct) at the request's threshold */
    bool evaluate_all;      /* judge all before choosing */
    bool fallback_to_all;   /* judge all once the first that executes fails */
    bool in_order;          /* if none passes: the first that executes */
    bool
        /* take the first that executes, valid or not; apply a repair unless the request says otherwise */
        first_only;
    bool verifier_alone; /* the verifier has a threshold of its own; without a verifier the signals decide, and a note
                          * says so */
};
/* Returns the rules of the request's strategy. */
const struct rules *rules_of(const struct request *request);

/* Compared before the score: the higher tier is the better candidate. */
enum rules_tier {
    TIER_EXCLUDED,     /* invalid or did not complete: never the answer */
    TIER_LOW_COVERAGE, /* too few available checks: never validated */
    TIER_JUDGED
};
enum rules_tier rules_tier(const struct request *request, uint32_t index);

/* The first test that a candidate fails. */
enum rules_test {
    RULES_PASSES,
    RULES_NOT_RUN,      /* did not complete */
    RULES_LOW_COVERAGE, /* too few available checks */
    RULES_NO_DATA,      /* judged from a schema alone, and the decision file has no value for that */
    RULES_LINKING,      /* depends on names that the request's schema linker was unsure of */
    RULES_VERIFIER,     /* explanation does not answer the question */
    RULES_SIGNALS,      /* signals indicate an error */
    RULES_COMBINED      /* P(correct) too low */
};
/* Returns true if the candidate depends on a name that the request's schema linker was unsure of. Models that do not
 * see the linker's states do not overrule it: the policy is ask or abstain. */
bool rules_linking_is_uncertain(const struct msg_judged *judged);
enum rules_test rules_test(const struct request *request, uint32_t index);

enum { NO_CANDIDATE = UINT32_MAX };

/* why.c: Writes why each done candidate other than the chosen one was rejected, in one sentence each. `chosen` is
 * NO_CANDIDATE without an answer, and `best` is the likely answer. why_notes adds notes about the judgement. */
void why_not_chosen(struct request *request, uint32_t chosen, uint32_t best);
/* Returns the test that the nearest candidate fails, as a sentence. */
const char *why_not_valid(struct request *request, uint32_t best);
/* Returns such a sentence for an invalid candidate, whatever else is known. */
const char *why_invalid(struct request *request, uint32_t index);
/* Returns why there is no answer. `reason` is the wire name of the error of the first candidate that did not complete,
 * or "invalid_sql" if none started. */
const char *why_none(struct request *request, const char **reason);
void why_notes(struct request *request, struct msg_verdict *verdict);

#endif
