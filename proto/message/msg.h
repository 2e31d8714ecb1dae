/* What travels: requests, tasks, results, verdicts. Structs here, bytes in proto/FORMAT.md.
 *
 *   requests → coordinator → tasks.<family> → worker → results → coordinator → verdicts
 *
 * Ownership:
 *   1. a decoded message and everything in it lives in the arena it was decoded into and needs the bytes no more
 *   2. an encoded message is a buffer that the caller frees with msg_buffer_free
 *   3. encoding only reads
 *
 * Absent is zero: NULL text, 0, an empty list; a real that may be unknown is NAN. Absent fields take no bytes. To add a
 * field: a new id at the end of its table in msg.c and a raised MSG_MINOR; ids are never used again. Readers skip the
 * ids they do not know and refuse another MSG_MAJOR.
 *
 * Thread: any; a message belongs to one thread at a time.
 */
#ifndef ASSAY_PROTO_MESSAGE_MSG_H
#define ASSAY_PROTO_MESSAGE_MSG_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { MSG_MAJOR = 1, MSG_MINOR = 11 };
enum { MSG_SCHEMA_VERSION = 2 }; /* of the verdict as JSON */

/* Bounds, checked before anything is allocated for what they count. */
enum {
    MSG_MAX_BYTES = 64 << 20,    /* one message */
    MSG_MAX_DEPTH = 16,          /* nesting */
    MSG_MAX_LINE = 16 << 20,     /* one line of a log */
    MSG_MAX_CANDIDATES = 4096,   /* of a request */
    MSG_MAX_JOINED = 30,         /* tasks in one message: of 5 candidates, where 5 or 6 families look at each */
    MSG_MAX_QUESTION = 64 << 10, /* bytes of the question, or of the evidence */
    MSG_MAX_META = 1 << 20,      /* bytes of meta as JSON */
    MSG_MAX_SCHEMA = 256 << 10,  /* bytes of DDL in place of a database */
    MSG_MAX_SQL = 1 << 20,       /* bytes of one candidate; what may be judged is less: the parser's cap */
    MSG_MAX_NAME = 256,          /* id, db, family, generator */
    MSG_MAX_ANSWERS = 8,         /* of a person, with one request */
    MSG_MAX_UNCERTAIN = 64,      /* places of a linking */
    MSG_MAX_LIST = 1024,         /* families, generators, denied columns, findings, clauses ... */
    MSG_MAX_PREMISE = 64 << 10   /* bytes of an explanation's prose, and of its premise */
};

/* Text or bytes with a length. `bytes` is NUL-terminated after decoding, but may hold a NUL too. */
struct msg_text {
    const char *bytes;
    uint32_t len;
};

/* Strategies: X(ID, name, what it does). Names, the command line's choices and its help follow from this list; what a
 * strategy asks of a candidate is its row in coordinator/rules.c. The place is the number on the wire: append only. */
#define MSG_STRATEGIES(X)                                                                                              \
    X(FIRST_VALID, first_valid, "judge candidates in order until one validates")                                       \
    X(RERANK, rerank, "judge all candidates and return the best one")                                                  \
    X(DETECT_THEN_RERANK, detect_then_rerank,                                                                          \
      "judge all candidates only if the first one that executes does not validate")                                    \
    X(CYCLESQL, cyclesql, "judge candidates in order, by the verifier alone")                                          \
    X(CORRECT, correct,                                                                                                \
      "take the first candidate that executes, and repair it if the repair is clearly more likely correct")

enum msg_strategy {
    MSG_STRATEGY_UNSET,
#define X(id, name, sentence) MSG_##id,
    MSG_STRATEGIES(X)
#undef X
        MSG_STRATEGY_COUNT
};

/* Policies, for when nothing validates: X(ID, name, status of the verdict). Likewise; append only. */
#define MSG_POLICIES(X)                                                                                                \
    X(BEST_EFFORT, best_effort, MSG_STATUS_BEST_EFFORT)                                                                \
    X(ABSTAIN, abstain, MSG_STATUS_ABSTAINED)                                                                          \
    X(ASK, ask, MSG_STATUS_ASK)

enum msg_policy {
    MSG_POLICY_UNSET,
#define X(id, name, status) MSG_##id,
    MSG_POLICIES(X)
#undef X
        MSG_POLICY_COUNT
};

/* How the candidates of a request came about, so what their places and votes mean: X(ID, name, what it says). Likewise;
 * append only. What each is worth: scoring/verifier_context.h. */
#define MSG_ORDERS(X)                                                                                                  \
    X(ORDER_UNKNOWN, unknown, "positions have no meaning")                                                             \
    X(ORDER_RANKED, ranked, "the best guess is first, as in the beam of a parser")                                     \
    X(ORDER_SAMPLED, sampled, "independent samples or several systems, so votes count and positions do not")

enum msg_order {
    MSG_ORDER_UNSET,
#define X(id, name, sentence) MSG_##id,
    MSG_ORDERS(X)
#undef X
        MSG_ORDER_COUNT
};

/* Is a query looked for that is near the answer and surer to be right? X(ID, name, what is done with it). Likewise; append only. */
#define MSG_REPAIRS(X)                                                                                                 \
    X(REPAIR_OFF, off, "no repair")                                                                                    \
    X(REPAIR_PROPOSE, propose, "show the repair beside the answer")                                                    \
    X(REPAIR_APPLY, apply,                                                                                             \
      "return the repair as the answer if its P(correct) is higher by --repair-margin, otherwise show the repair "     \
      "beside the answer")

enum msg_repair {
    MSG_REPAIR_UNSET,
#define X(id, name, sentence) MSG_##id,
    MSG_REPAIRS(X)
#undef X
        MSG_REPAIR_COUNT
};
enum msg_expose { MSG_EXPOSE_UNSET, MSG_EXPOSE_NONE, MSG_EXPOSE_VALUES, MSG_EXPOSE_ROWS, MSG_EXPOSE_COUNT };
/* Are candidates explained and verified? full: the verdict also carries what the verifier saw (for training it). */
enum msg_explain { MSG_EXPLAIN_UNSET, MSG_EXPLAIN_ON, MSG_EXPLAIN_OFF, MSG_EXPLAIN_FULL, MSG_EXPLAIN_COUNT };
/* What of an explanation is asked for, or was made. */
enum msg_part {
    MSG_PART_ALL,
    MSG_PART_STATEMENT, /* what follows from the statement, and the verifier's numbers: no statement of its own is run */
    MSG_PART_ROWS,      /* the prose alone, with the rows behind the result, or why there are none */
    MSG_PART_COUNT
};
enum msg_state { MSG_SILENT, MSG_FIRED, MSG_UNAVAILABLE, MSG_STATE_COUNT }; /* as enum vsig_state */
enum msg_severity { MSG_NOTE, MSG_WARNING, MSG_ERROR, MSG_SEVERITY_COUNT }; /* as enum vsig_severity */
enum msg_status {
    MSG_STATUS_FAILED,      /* could not be judged; see reason */
    MSG_STATUS_VALIDATED,   /* P(correct) of the chosen one reaches the threshold */
    MSG_STATUS_REPAIRED,    /* the same of a repair */
    MSG_STATUS_BEST_EFFORT, /* nothing validated: the best one, flagged */
    MSG_STATUS_ABSTAINED,   /* nothing validated: no SQL */
    MSG_STATUS_ASK,         /* nothing validated: questions for the user */
    MSG_STATUS_COUNT
};

/* Names as in JSON and on the command line ("first_valid", "best_effort", "values", "fired", "warning", "validated");
 * NULL for unset. by_name: -1 when there is none. */
const char *msg_strategy_name(enum msg_strategy strategy);
const char *msg_policy_name(enum msg_policy policy);
const char *msg_order_name(enum msg_order order);
const char *msg_repair_name(enum msg_repair repair);
const char *msg_expose_name(enum msg_expose expose);
const char *msg_state_name(enum msg_state state);
const char *msg_severity_name(enum msg_severity severity);
const char *msg_status_name(enum msg_status status);
int msg_strategy_by_name(const char *name);
int msg_policy_by_name(const char *name);
int msg_order_by_name(const char *name);
int msg_repair_by_name(const char *name);
int msg_expose_by_name(const char *name);
int msg_status_by_name(const char *name);

/* --- request --- */

struct msg_candidate {
    struct msg_text sql;
    uint32_t count; /* beams or samples that gave this text; 0 is read as 1 */
    double score;   /* of the generator; NAN */
    const char *const *generators;
    uint32_t n_generators;
};

/* How to judge; a field of 0 means the configured default. */
struct msg_options {
    int64_t deadline_ms;     /* from the request's arrival; below 0: none */
    uint32_t max_iterations; /* candidates to judge at most; default: all */
    uint32_t speculate;      /* candidates to judge at a time */
    enum msg_strategy strategy;
    enum msg_policy policy;
    enum msg_expose expose;
    double threshold;            /* P(correct) from which a candidate validates; default: the model's own */
    double alpha;                /* instead: the share of wrong answers among the validated that is put up with */
    const char *const *families; /* run only these; empty: all */
    uint32_t n_families;
    const char *const *deny_columns; /* "table.column" whose values are never shown */
    uint32_t n_deny_columns;
    enum msg_order order;     /* unset: as feedback on the generator has it, else unknown */
    enum msg_explain explain; /* off: as if the family `explain` were not among `families` */
    enum msg_repair repair;   /* unset: off */
    double repair_margin;     /* by which a repair must be surer than the old query; default: the model's own */
    double delta;             /* 1 less the confidence of a promise about alpha; default: 0.1 */
    double ask_gain;          /* policy ask: by which an answer must raise P(correct) to be asked for; default: 0.05 */
    bool no_cache;            /* it is judged, whatever verdict is kept, and its own is not */
};

/* What a person chose: a clarification of an earlier verdict, and one of its choices, by their ids. */
struct msg_answer {
    const char *question, *choice;
};

/* A place at which a schema linker is not to be trusted (docs/linking.md): it was about to write this name. */
struct msg_uncertain {
    const char *stage; /* "tables" or "columns" */
    const char *name;  /* of a column "table.column"; NULL: it ended its list there, and something may be missing */
    double p;          /* that its choice was wrong; NAN */
};

/* What a schema linker said of the question. */
struct msg_linking {
    const char *const *tables, *const *columns;
    uint32_t n_tables, n_columns;
    struct msg_uncertain *uncertain;
    uint32_t n_uncertain;
};

struct msg_request {
    const char *id, *db;
    const char *question, *evidence; /* may be NULL */
    struct msg_candidate *candidates;
    uint32_t n_candidates;
    const char *gold; /* only passes through to the verdict: nothing here may look at it */
    const char *meta; /* JSON text, passes through */
    uint64_t tag;     /* the sender's own number, comes back in the verdict */
    struct msg_options options;
    const char *traceparent;
    struct msg_answer *answers; /* to what earlier verdicts on the same question asked, in that order */
    uint32_t n_answers;
    struct msg_linking *linking; /* NULL: there was no linker, or it does not tell */
    const char *schema; /* DDL: no data may be seen, and this is all there is to judge by; db is a label then. NULL */
};

/* --- task and result --- */

/* Which request: where it stands in the requests topic. */
struct msg_key {
    int32_t partition;
    int64_t offset;
};

/* "<partition>-<offset>": the key of whatever belongs to a request. NUL-terminated; its length. */
enum { MSG_KEY_TEXT = 40 };
uint32_t msg_key_text(struct msg_key key, char out[MSG_KEY_TEXT]);

struct msg_task {
    struct msg_key key; /* the partition is also where the result goes */
    uint64_t hash[2];   /* content: normalised SQL, db, question, evidence */
    uint32_t candidate; /* first with that content; for logs only, nothing is matched by it */
    const char *family;
    const char *db, *question, *evidence;
    struct msg_text sql;
    int64_t deadline_ns; /* on the transport's clock (bus_now_ns); 0: none */
    enum msg_expose expose;
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    const char *traceparent;
    bool proposes; /* of the family explain: queries near this one are asked for, in place of an explanation */
    struct msg_finding *findings; /* on this one, where it is so: what they mark is changed first */
    uint32_t n_findings;
    bool describes; /* with `proposes`: the schema as text is wanted too */
    struct msg_candidate *
        readings; /* of the family explain: in what these and the task's own differ is asked for, in words; their SQL */
    uint32_t n_readings;
    struct msg_linking *linking; /* of the request; NULL */
    const char *schema;          /* likewise */
    bool joins;                  /* who reads the result takes several of a request in one message (msg_next_result) */
    enum msg_part part;          /* of the family explain */
};

struct msg_clause {
    const char *label, *text;
    uint32_t start, end; /* bytes of the candidate */
};

struct msg_fact {
    const char *key, *value;
};

enum { MSG_INVALID_SQL = 0 }; /* signal id of `invalid_sql`, which is outside the vector */

struct msg_finding {
    uint32_t signal; /* wire id (signals/vsig_list.h), MSG_INVALID_SQL */
    const char *name;
    enum msg_severity severity;
    const char *message;
    struct msg_clause *clauses;
    uint32_t n_clauses;
    struct msg_fact *facts;
    uint32_t n_facts;
};

/* What one signal said. */
struct msg_signal {
    uint32_t id;
    const char *name;
    enum msg_state state;
    const char *reason; /* of MSG_UNAVAILABLE */
    int64_t ns;         /* time spent; workers do not send it (they count it, see worker_stats) */
};

struct msg_row {
    const char *const *values; /* text form; NULL: SQL NULL */
    uint32_t n_values;
};

/* What running the candidate gave. */
struct msg_execution {
    const char *code; /* wire name of an err_code, "ok" when it ran to its end */
    const char *message;
    int32_t error_offset; /* byte of the candidate that the engine points at; -1: none */
    uint32_t rows, columns;
    int64_t ns;
    uint64_t digest[2];         /* of the bag of rows (lib/db/digest.h) */
    uint64_t ordered_digest[2]; /* of rows and columns in order */
    bool withheld;              /* the result uses a denied column: a verdict tells no digest, by which values could be
                                   guessed */
    const char *const *names;   /* columns; only with a sample */
    uint32_t n_names;
    struct msg_row *sample; /* first rows, where the policy exposes rows */
    uint32_t n_sample;
};

/* A number that is known by an id, as the features of the verifier are (scoring/features/features.h). */
struct msg_number {
    uint32_t id;
    float value; /* finite: what is not known is left out */
};

/* What the explain family has to say of a candidate that ran. */
struct msg_explanation {
    const char *prose;          /* for people */
    const char *premise;        /* for verifiers: SQL, result and explanation in one text */
    uint64_t components;        /* bits: what this SQL is made of (lib/sql/components.h); 0: not known */
    uint64_t digest[2];         /* of the result that is explained */
    struct msg_number *numbers; /* features of the verifier, by rising id */
    uint32_t n_numbers;
};

/* A query near the candidate. */
struct msg_proposal {
    struct msg_text sql;
    const char *reason; /* what a finding says of what it changes; NULL: nothing but that it is near */
    const char *source; /* the model that wrote it; NULL: an edit of ours */
};

/* What asking language models took. */
struct msg_usage {
    uint32_t calls, cached; /* requests that were sent; answers that were known already */
    uint64_t tokens_in, tokens_out;
    double cost;        /* at the prices that the worker was told, in their currency */
    const char *source; /* the model that answered last, and the versions of its instructions; NULL: none did */
};

/* One of the things that a question may mean. */
struct msg_choice {
    const char *id;                /* an answer names it by that; NULL in a result */
    const char *text;              /* in words of the user */
    uint32_t candidate;            /* 1 + index of one that reads the question so; 0: none that was given does */
    struct msg_execution *returns; /* what it gives; NULL: not known */
};

/* What to ask the person who asked. */
struct msg_clarification {
    const char *id;   /* an answer names it by that; NULL in a result */
    const char *text; /* the question */
    struct msg_choice *choices;
    uint32_t n_choices;
    double gain;         /* by which an answer raises P(correct), on average; NAN in a result */
    const char *request; /* the one that it is about, as JSON, to be sent again with an answer; NULL: too large, or in a
                            result */
};

struct msg_result {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *family;
    const char *code;    /* "ok", or why the whole family could not look ("db_missing", "deadline" ...) */
    const char *message; /* of code */
    bool invalid;        /* the engine refuses this SQL: one of the findings is MSG_INVALID_SQL */
    struct msg_signal *signals;
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* of the families execution and explain; else NULL */
    int64_t ns;
    struct msg_explanation *explanation; /* of the explain family; else NULL */
    double p;                            /* of the family MSG_VERIFIER: what it said */
    bool proposes;                       /* as the task's */
    struct msg_proposal *proposals;
    uint32_t n_proposals;
    const char *schema;                      /* where the task `describes`; NULL */
    struct msg_usage *usage;                 /* of the family llm; else NULL */
    bool asks;                               /* the task has readings */
    struct msg_clarification *clarification; /* their words, the task's own first; NULL: none, see code and message */
    enum msg_part part;                      /* as the task's; a worker before 1.11 makes all */
    const char *state; /* that the database was in (worker/db_states.h); NULL: it cannot be told */
};

/* The family under which the answer of a remote verifier comes back. It has no tasks. */
#define MSG_VERIFIER "verifier"
/* And that of a corrector: one proposal, or the code and message of why there is none. */
#define MSG_CORRECTOR "corrector"
/* And that of a polisher: an explanation's prose, and under `message` who wrote it; or code and message of why there is none. */
#define MSG_POLISHER "polisher"

/* --- verdict --- */

/* An explanation in a model's words, which says what ours says. */
struct msg_polished {
    const char *text;
    const char *source; /* the model, and the version of its instructions */
};

/* One input candidate, in input order. */
struct msg_judged {
    struct msg_text sql;
    uint32_t count; /* votes, those of its repeats included */
    double score;
    bool judged;                                 /* all else is empty when not */
    bool invalid;                                /* invalid_sql: p_correct is 0 */
    double p_correct, label_model_p, entailment; /* NAN: not known */
    struct msg_signal *signals;                  /* by id */
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* NULL: did not come to it */
    const char *explanation;
    uint32_t same_as;                  /* 1 + index of the candidate it repeats; 0: repeats none */
    const char *why;                   /* of a candidate that was not judged, or not chosen: one sentence */
    struct msg_explanation *explained; /* sent under MSG_EXPLAIN_FULL only */
    const char *verifier;              /* that gave `entailment`; NULL: none did */
    struct msg_polished *polished;     /* of the chosen one; NULL: none was asked for, or it was no good */
};

struct msg_report_clause {
    const char *label;
    const char *const *texts;
    uint32_t n_texts;
};

struct msg_report {
    const char *signal, *cause, *description, *example, *instruction;
    struct msg_report_clause *clauses;
    uint32_t n_clauses;
};

struct msg_version {
    const char *name, *value;
};

/* One change from the old query to the new one. */
struct msg_step {
    const char *clause;    /* "WHERE", "SELECT list" ... */
    const char *was, *now; /* its text; NULL: there was, or is, nothing */
};

/* A query near the answer that is surer to be right. Both P are of the query alone, without the votes and places of a list. */
struct msg_repaired {
    bool applied; /* it is the answer; else it stands beside it */
    const char *sql, *old_sql;
    uint32_t of;             /* 1 + index of the candidate that it repairs */
    double p_old, p_correct; /* NAN: not known, as of a query that does not run */
    const char *reason;      /* what a finding says of what it changes; NULL */
    const char *source;      /* the model that wrote it; NULL: an edit of ours */
    struct msg_step *steps;
    uint32_t n_steps;
    uint32_t n_proposals; /* queries that were looked at */
};

/* What is promised of answers that are given under the same conditions: at most a share alpha of them is wrong, with confidence
 * 1 - delta. */
#define MSG_PROMISES(X) X(PROMISE_HELD, held) X(PROMISE_WITHDRAWN, withdrawn) X(PROMISE_TOO_FEW, too_few)
enum msg_promise {
    MSG_PROMISE_UNSET,
#define X(id, name) MSG_##id,
    MSG_PROMISES(X)
#undef X
        MSG_PROMISE_COUNT
};
const char *msg_promise_name(enum msg_promise promise);

struct msg_guarantee {
    double alpha, delta;
    const char *group; /* whose verdicts it rests on: a generator, or "all" */
    uint32_t records;  /* of them */
    enum msg_promise status;
    double p_value;  /* of wrong answers there, the share that looks as sure as this one; NAN: not known */
    const char *why; /* it is not held: a sentence; NULL */
};

struct msg_verdict {
    const char *id, *db;
    uint64_t tag;
    struct msg_key key;
    enum msg_status status;
    const char *reason;  /* of failed and of a deadline: wire name of an err_code, or "no_candidates" ... */
    const char *message; /* the reason in a sentence */
    const char *sql;     /* the answer; NULL: none */
    uint32_t chosen;     /* 1 + index of the candidate; 0: none is the answer, though a repair may be */
    double p_correct;    /* of the chosen; NAN */
    double threshold;    /* that was asked of it; NAN without a model */
    struct msg_judged *candidates;
    uint32_t n_candidates;
    struct msg_report *report;
    uint32_t n_report;
    const char *const *questions;
    uint32_t n_questions;
    const char *const *unavailable; /* families that did not answer in time */
    uint32_t n_unavailable;
    uint32_t iterations; /* candidates judged by tasks */
    int64_t total_ns;    /* from arrival to decision */
    int64_t worker_ns;   /* sum over tasks */
    struct msg_version *versions;
    uint32_t n_versions;
    const char *gold, *meta;     /* of the request */
    double entailment_threshold; /* that was asked of the entailment; NAN without a verifier */
    const char *const *notes;    /* what else to know of the judgement: a verifier that could not be reached ... */
    uint32_t n_notes;
    uint64_t request_digest[2];  /* of the request that it answers, msg_request_digest; zeros: not known */
    struct msg_repaired *repair; /* NULL: none was found, or looked for */
    const char *cause; /* of abstained and ask: the root cause, "not enough evidence" where none is seen; NULL */
    struct msg_guarantee *guarantee;         /* NULL: none was asked for, or there is no calibration */
    struct msg_usage *usage;                 /* of language models that were asked about candidates; NULL: none was */
    struct msg_clarification *clarification; /* of ask: what to ask, where readings of the question are at odds; NULL */
    struct msg_answer *answers;              /* of the request: what a person chose, which counted in P(correct) */
    uint32_t n_answers;
    bool cached;         /* it was kept of an equal request before: nothing was judged */
    struct arena *arena; /* not sent: set when the verdict owns its memory, see msg_verdict_free */
};

/* --- bytes --- */

struct msg_buffer {
    char *bytes;
    size_t len;
    size_t room; /* kept for the next message */
};

/* Append nothing, replace everything: the buffer is overwritten. Start with {0}. ERR_NOMEM; ERR_LIMIT_BYTES past
 * MSG_MAX_BYTES. */
enum err_code msg_encode_request(struct msg_buffer *out, const struct msg_request *request);
enum err_code msg_encode_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_encode_result(struct msg_buffer *out, const struct msg_result *result);
enum err_code msg_encode_verdict(struct msg_buffer *out, const struct msg_verdict *verdict);
/* Append it: tasks of one request, or results of one, may share a message. Where it fails, what was there is kept. Errors as above. */
enum err_code msg_append_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_append_result(struct msg_buffer *out, const struct msg_result *result);
void msg_buffer_free(struct msg_buffer *buffer);

/* ERR_MALFORMED (also for another kind), ERR_VERSION, ERR_LIMIT_* or ERR_ENCODING, with what and where in `err`;
 * ERR_LIMIT_MEMORY when the arena is full. */
enum err_code msg_decode_request(struct arena *arena, const void *bytes, size_t len, struct msg_request **out,
                                 struct err *err);
enum err_code msg_decode_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out,
                              struct err *err);
enum err_code msg_decode_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out,
                                struct err *err);
enum err_code msg_decode_verdict(struct arena *arena, const void *bytes, size_t len, struct msg_verdict **out,
                                 struct err *err);
/* The first task, or result, of a message that may hold several; *used: its bytes, behind which the next one begins. */
enum err_code msg_next_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out, size_t *used,
                            struct err *err);
enum err_code msg_next_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out, size_t *used,
                              struct err *err);

/* A verdict with an arena of its own, which may outlive its message: free it with msg_verdict_free (NULL is fine). */
enum err_code msg_decode_verdict_own(const void *bytes, size_t len, struct msg_verdict **out, struct err *err);
void msg_verdict_free(struct msg_verdict *verdict);

/* --- JSON --- */

/* One line of a query log (or a request over HTTP) as JSON: strict about types, duplicate keys, UTF-8 and the bounds
 * above; keys that are not ours are ignored. Errors: ERR_MALFORMED, ERR_ENCODING, ERR_LIMIT_BYTES, ERR_LIMIT_COUNT with
 * a sentence in `err`. An empty list of candidates, or none, is fine here. */
enum err_code msg_request_from_json(struct arena *arena, const char *line, size_t len, struct msg_request **out,
                                    struct err *err);

/* The options of a request alone, from an object that has them as a request does; other keys are ignored. Text lives in
 * the arena. Errors as above. */
enum err_code msg_options_from_json(struct arena *arena, const char *text, size_t len, struct msg_options *out,
                                    struct err *err);

/* A digest of what a request asks, whatever its id: db, question, evidence, gold, candidates, options, answers, linking and schema. Left out are
 * tag, meta, traceparent, and reals (score, threshold, alpha, repair_margin, ask_gain), which JSON rounds: read from JSON or from a message it
 * is the same. Any thread. */
void msg_request_digest(const struct msg_request *request, uint64_t out[2]);

/* Request and verdict as one line of JSON without newline, malloc'd; NULL: out of memory. Text that is no UTF-8 is
 * written with U+FFFD. */
char *msg_request_to_json(const struct msg_request *request);
char *msg_verdict_to_json(const struct msg_verdict *verdict);
/* The same into a buffer that is kept for the next verdict, NUL-terminated, its last member the line of the log that it
 * answers (0: none). ERR_NOMEM. */
enum err_code msg_verdict_write_json(struct msg_buffer *out, const struct msg_verdict *verdict, uint64_t line);

#endif
