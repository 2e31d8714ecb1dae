/* The messages of a fleet: requests, tasks, results, verdicts. This file has the structs; proto/FORMAT.md describes
 * their encoding.
 *
 *    requests → coordinator → tasks.<family> → worker → results → coordinator → verdicts
 *
 * Ownership:
 *   1. a decoded message and everything in it lives in its arena and no longer needs the bytes
 *   2. an encoded message is a buffer that the caller frees with msg_buffer_free
 *   3. encoding only reads the message
 *
 * Absent values are zero: NULL text, 0, an empty list. A real that may be unknown is NAN. Absent fields take no bytes.
 * To add a field, append a new id to its table in fields.c and raise MSG_MINOR; ids are never reused. Readers skip
 * unknown ids and refuse another MSG_MAJOR.
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
enum { MSG_SCHEMA_VERSION = 2 }; /* version of the verdict as JSON */

/* Bounds. The decoder checks them before it allocates the counted objects. */
enum {
    MSG_MAX_BYTES = 64 << 20,    /* bytes of one message */
    MSG_MAX_DEPTH = 16,          /* levels of nesting */
    MSG_MAX_LINE = 16 << 20,     /* bytes of one line of a log */
    MSG_MAX_CANDIDATES = 4096,   /* candidates in one request */
    MSG_MAX_JOINED = 30,         /* tasks in one message: 5 candidates with 5 or 6 families each */
    MSG_MAX_QUESTION = 64 << 10, /* bytes of the question, or of the evidence */
    MSG_MAX_META = 1 << 20,      /* bytes of meta as JSON */
    MSG_MAX_SCHEMA = 256 << 10,  /* bytes of DDL instead of a database */
    MSG_MAX_SQL = 1 << 20,       /* bytes of one candidate; the parser has a lower limit */
    MSG_MAX_NAME = 256,          /* bytes of an id, db, family or generator */
    MSG_MAX_ANSWERS = 8,         /* user answers in one request */
    MSG_MAX_UNCERTAIN = 64,      /* uncertain positions of a linking */
    MSG_MAX_LIST = 1024,         /* items of each other list: families, generators, denied columns, findings, clauses
                                  * ... */
    MSG_MAX_PREMISE = 64 << 10   /* bytes of an explanation's prose, and of its premise */
};

/* Text or bytes with a length. After decoding, `bytes` is NUL-terminated but may contain NULs. */
struct msg_text {
    const char *bytes;
    uint32_t len;
};

/* Strategies: X(ID, name, description). Names, the choices of the command line and its help are derived from this list.
 * A row in coordinator/rules.c has the requirements of each strategy. The position in the list is the number on the
 * wire, so only append. */
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

/* Policies for requests without a validated candidate: X(ID, name, status of the verdict). Only append, as in
 * MSG_STRATEGIES. */
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

/* Origins of a request's candidates: X(ID, name, description). The origin decides what positions and votes mean; their
 * weights are in scoring/verifier_context.h. Only append, as in MSG_STRATEGIES. */
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

/* The modes of repair, a search for a similar query with a higher P(correct): X(ID, name, description). Only append, as
 * in MSG_STRATEGIES. */
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
/* The modes of explaining and verifying candidates. FULL adds the verifier's input to the verdict, for training. */
enum msg_explain { MSG_EXPLAIN_UNSET, MSG_EXPLAIN_ON, MSG_EXPLAIN_OFF, MSG_EXPLAIN_FULL, MSG_EXPLAIN_COUNT };
/* The part of an explanation that is requested or present. */
enum msg_part {
    MSG_PART_ALL,
    /* the part derived from the statement, and the verifier's numbers; computing it runs no statement */
    MSG_PART_STATEMENT,
    MSG_PART_ROWS, /* only the prose, with the source rows of the result, or why there are none */
    MSG_PART_COUNT
};
enum msg_state { MSG_SILENT, MSG_FIRED, MSG_UNAVAILABLE, MSG_STATE_COUNT }; /* same values as enum vsig_state */
enum msg_severity { MSG_NOTE, MSG_WARNING, MSG_ERROR, MSG_SEVERITY_COUNT }; /* same values as enum vsig_severity */
enum msg_status {
    MSG_STATUS_FAILED,      /* could not be judged; `reason` has the cause */
    MSG_STATUS_VALIDATED,   /* P(correct) of the chosen candidate reaches the threshold */
    MSG_STATUS_REPAIRED,    /* P(correct) of a repair reaches the threshold */
    MSG_STATUS_BEST_EFFORT, /* no candidate validated; the answer is the best one */
    MSG_STATUS_ABSTAINED,   /* no candidate validated; there is no SQL */
    MSG_STATUS_ASK,         /* no candidate validated; there are questions for the user */
    MSG_STATUS_COUNT
};

/* Return the name as in JSON and on the command line, such as "first_valid", "values" or "fired". Return NULL if the
 * value is unset. The by_name functions return -1 for an unknown name. */
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
    uint32_t count; /* number of beams or samples with this text; 0 counts as 1 */
    double score;   /* score that the generator gave; NAN if unknown */
    const char *const *generators;
    uint32_t n_generators;
};

/* The options of a request. A field of 0 selects the configured default. */
struct msg_options {
    int64_t deadline_ms;     /* time from the request's arrival; a value below 0 means no limit */
    uint32_t max_iterations; /* maximum number of candidates to judge; default: all */
    uint32_t speculate;      /* number of candidates to judge concurrently */
    enum msg_strategy strategy;
    enum msg_policy policy;
    enum msg_expose expose;
    double threshold;            /* minimum P(correct) to validate; default: threshold of the model */
    double alpha;                /* maximum share of wrong answers among validated ones; replaces `threshold` */
    const char *const *families; /* families to run; empty: all */
    uint32_t n_families;
    const char *const *deny_columns; /* columns ("table.column") whose values are never shown */
    uint32_t n_deny_columns;
    enum msg_order order;     /* unset: taken from feedback on the generator; without feedback, unknown */
    enum msg_explain explain; /* off: as if `families` did not contain `explain` */
    enum msg_repair repair;   /* unset: off */
    double repair_margin;     /* minimum increase of P(correct) by a repair; default: margin of the model */
    double delta;             /* 1 - confidence of the guarantee about alpha; default: 0.1 */
    double ask_gain;          /* for policy ask: minimum expected increase of P(correct) for a question; default:
                               * 0.05 */
    bool no_cache;            /* ignore cached verdicts, and do not cache the verdict */
};

/* A user's choice. It has the id of a clarification question in an earlier verdict, and the id of one of its
 * choices. */
struct msg_answer {
    const char *question, *choice;
};

/* A position at which a schema linker is unreliable (docs/linking.md), and the name that it would have written
 * there. */
struct msg_uncertain {
    const char *stage; /* "tables" or "columns" */
    const char *name;  /* "table.column" for a column; NULL at the end of the list, where a name may be missing */
    double p;          /* probability that the linker's choice was wrong; NAN if unknown */
};

/* The output of a schema linker for the question. */
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
    const char *gold; /* gold query; only copied to the verdict; must not influence the judgement */
    const char *meta; /* JSON text, copied to the verdict */
    uint64_t tag;     /* number that the sender gave the request; copied to the verdict */
    struct msg_options options;
    const char *traceparent;
    struct msg_answer *answers; /* answers to clarification questions of earlier verdicts on this question, in the order
                                 * of these verdicts */
    uint32_t n_answers;
    struct msg_linking *linking; /* NULL if no linker output was sent */
    const char *schema;          /* DDL that replaces the database, with `db` as a label only; NULL to use the
                                  * database */
};

/* --- task and result --- */

/* Identifies a request: its position in the requests topic. */
struct msg_key {
    int32_t partition;
    int64_t offset;
};

/* Writes "<partition>-<offset>", NUL-terminated: the record key of all messages of a request. Returns its length. */
enum { MSG_KEY_TEXT = 40 };
uint32_t msg_key_text(struct msg_key key, char out[MSG_KEY_TEXT]);

struct msg_task {
    struct msg_key key; /* key of the request; the result goes to the same partition number */
    uint64_t hash[2];   /* digest of normalised SQL, db, question, evidence */
    uint32_t candidate; /* first candidate with that content; only for logs, never used for matching */
    const char *family;
    const char *db, *question, *evidence;
    struct msg_text sql;
    int64_t deadline_ns; /* deadline on the transport's clock (bus_now_ns); 0 means no deadline */
    enum msg_expose expose;
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    const char *traceparent;
    bool proposes;                /* for the family explain: return similar queries instead of an explanation */
    struct msg_finding *findings; /* with `proposes`: findings on this query; their clauses are changed first */
    uint32_t n_findings;
    bool describes; /* with `proposes`: also return the schema as text */
    struct msg_candidate
        *readings; /* for the family explain: SQL of other readings. The worker describes in words how they differ from
                    * the task's own */
    uint32_t n_readings;
    struct msg_linking *linking; /* linking of the request; may be NULL */
    const char *schema;          /* schema of the request; may be NULL */
    /* the reader of results accepts several results of a request in one message (msg_next_result) */
    bool joins;
    enum msg_part part; /* requested part, for the family explain */
};

struct msg_clause {
    const char *label, *text;
    uint32_t start, end; /* byte offsets in the candidate */
};

struct msg_fact {
    const char *key, *value;
};

enum { MSG_INVALID_SQL = 0 }; /* signal id of `invalid_sql`, which is not part of the signal vector */

struct msg_finding {
    uint32_t signal; /* wire id of the signal (signals/vsig_list.h), or MSG_INVALID_SQL */
    const char *name;
    enum msg_severity severity;
    const char *message;
    struct msg_clause *clauses;
    uint32_t n_clauses;
    struct msg_fact *facts;
    uint32_t n_facts;
};

/* The report of one signal. */
struct msg_signal {
    uint32_t id;
    const char *name;
    enum msg_state state;
    const char *reason; /* why the signal is unavailable; only with MSG_UNAVAILABLE */
    int64_t ns;         /* time spent; workers do not send it, they count it in worker_stats */
};

struct msg_row {
    const char *const *values; /* values as text; NULL for SQL NULL */
    uint32_t n_values;
};

/* The outcome of running the candidate. */
struct msg_execution {
    const char *code; /* wire name of an err_code; "ok" if it completed */
    const char *message;
    int32_t error_offset; /* byte offset of the engine's error in the candidate; -1 if unknown */
    uint32_t rows, columns;
    int64_t ns;
    uint64_t digest[2];         /* digest of the rows in any order (lib/db/digest.h) */
    uint64_t ordered_digest[2]; /* digest of the rows and columns in their order */
    /* the result uses a denied column; the verdict then has no digest, because values could be guessed from a digest */
    bool withheld;
    const char *const *names; /* names of the columns; only with a sample */
    uint32_t n_names;
    struct msg_row *sample; /* first rows, if the policy exposes rows */
    uint32_t n_sample;
};

/* A number identified by an id, such as a verifier feature (scoring/features/features.h). */
struct msg_number {
    uint32_t id;
    float value; /* finite: unknown numbers are omitted */
};

/* The output of the explain family for a candidate that ran. */
struct msg_explanation {
    const char *prose;          /* explanation for people */
    const char *premise;        /* text for verifiers: SQL, result and explanation */
    uint64_t components;        /* bits of the components of this SQL (lib/sql/components.h); 0 if unknown */
    uint64_t digest[2];         /* digest of the explained result */
    struct msg_number *numbers; /* features of the verifier, in ascending order of id */
    uint32_t n_numbers;
};

/* A query similar to the candidate. */
struct msg_proposal {
    struct msg_text sql;
    const char *reason; /* finding that the change resolves; NULL if the change resolves none */
    const char *source; /* model that wrote it; NULL if this program derived it */
};

/* Cost of calls to language models. */
struct msg_usage {
    uint32_t calls, cached; /* calls made; responses taken from a cache */
    uint64_t tokens_in, tokens_out;
    double cost;        /* cost at the prices configured in the worker, in their currency */
    const char *source; /* model of the last response, and the versions of its instructions; NULL if there was no
                         * response */
};

/* One reading of a question. */
struct msg_choice {
    const char *id;                /* id that answers use; NULL in a result */
    const char *text;              /* description in the user's words */
    uint32_t candidate;            /* 1 + index of a candidate with this reading; 0 if no candidate has it */
    struct msg_execution *returns; /* result of this reading; NULL if unknown */
};

/* A clarification question for the user. */
struct msg_clarification {
    const char *id;   /* id that answers use; NULL in a result */
    const char *text; /* text of the question */
    struct msg_choice *choices;
    uint32_t n_choices;
    double gain;         /* average increase of P(correct) by an answer; NAN in a result */
    const char *request; /* the request as JSON, which an answer must include; NULL if too large, or in a result */
};

struct msg_result {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *family;
    const char *code;    /* "ok", or the error that made the whole family unavailable ("db_missing", "deadline" ...) */
    const char *message; /* description of code */
    bool invalid;        /* the engine refuses this SQL: one of the findings is MSG_INVALID_SQL */
    struct msg_signal *signals;
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* outcome of executing the candidate; only of the families execution and explain,
                                      * otherwise NULL */
    int64_t ns;
    struct msg_explanation *explanation; /* only of the family explain; otherwise NULL */
    double p;                            /* only of the family MSG_VERIFIER: the entailment */
    bool proposes;                       /* copied from the task */
    struct msg_proposal *proposals;
    uint32_t n_proposals;
    const char *schema;      /* schema as text if the task `describes`; otherwise NULL */
    struct msg_usage *usage; /* only of the family llm; otherwise NULL */
    bool asks;               /* true if the task has readings */
    /* descriptions of the readings, that of the task's own SQL first; if NULL, `code` and `message` give the reason */
    struct msg_clarification *clarification;
    enum msg_part part; /* as in the task; workers before 1.11 always return all parts */
    const char *state;  /* state of the database (worker/db_states.h); NULL if unknown */
};

/* The family of a remote verifier's responses. No tasks have this family. */
#define MSG_VERIFIER "verifier"
/* The family of a corrector's responses: one proposal, or code and message on failure. */
#define MSG_CORRECTOR "corrector"
/* The family of a polisher's responses. A response has the prose of an explanation, and its source in `message`. On
 * failure it has code and message. */
#define MSG_POLISHER "polisher"

/* --- verdict --- */

/* An explanation that a model reworded. It has the same content as the original. */
struct msg_polished {
    const char *text;
    const char *source; /* model that reworded it, and version of the model's instructions */
};

/* One input candidate, in input order. */
struct msg_judged {
    struct msg_text sql;
    uint32_t count; /* number of votes, including those of its repeats */
    double score;
    bool judged;                                 /* if false, all other fields are empty */
    bool invalid;                                /* the candidate has the finding invalid_sql; p_correct is 0 */
    double p_correct, label_model_p, entailment; /* NAN if unknown */
    struct msg_signal *signals;                  /* ordered by id */
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* NULL if the candidate was not executed */
    const char *explanation;
    uint32_t same_as;                  /* 1 + index of the earlier candidate that it repeats; 0 if it repeats none */
    const char *why;                   /* why it was not judged or not chosen, in one sentence */
    struct msg_explanation *explained; /* set only with MSG_EXPLAIN_FULL */
    const char *verifier;              /* model that computed `entailment`; NULL if there is no entailment */
    struct msg_polished *polished;     /* only of the chosen candidate; NULL if not requested or unusable */
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
    const char *was, *now; /* text of the clause before and after; NULL if it is absent */
};

/* A query similar to the answer with a higher P(correct). Both probabilities are of the query alone, without votes and
 * positions in a list. */
struct msg_repaired {
    bool applied; /* true if it is the answer, false if it is only shown */
    const char *sql, *old_sql;
    uint32_t of;             /* 1 + index of the candidate that it repairs */
    double p_old, p_correct; /* NAN if unknown, such as for a query that does not run */
    const char *reason;      /* finding that the repair resolves; may be NULL */
    const char *source;      /* model that wrote it; NULL if this program derived it */
    struct msg_step *steps;
    uint32_t n_steps;
    uint32_t n_proposals; /* number of queries that were judged */
};

/* The state of a guarantee: X(ID, name). The guarantee says that at most a share alpha of all answers under the same
 * conditions is wrong, with confidence 1 - delta. */
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
    const char *group; /* generator whose verdicts support the guarantee, or "all" */
    uint32_t records;  /* number of these verdicts */
    enum msg_promise status;
    double p_value;  /* share of wrong answers that appear at least as reliable as this one; NAN if unknown */
    const char *why; /* why the guarantee does not hold, in one sentence; NULL if it holds */
};

struct msg_verdict {
    const char *id, *db;
    uint64_t tag;
    struct msg_key key;
    enum msg_status status;
    const char *reason;  /* cause of a failure or timeout: wire name of an err_code, or another name such as
                          * "no_candidates" */
    const char *message; /* the reason in one sentence */
    const char *sql;     /* the answer; NULL if there is none */
    uint32_t chosen;     /* 1 + index of the answer's candidate; 0 if the answer is a repair or if there is none */
    double p_correct;    /* P(correct) of the chosen candidate or repair; NAN if unknown */
    double threshold;    /* required P(correct); NAN if there is no model */
    struct msg_judged *candidates;
    uint32_t n_candidates;
    struct msg_report *report;
    uint32_t n_report;
    const char *const *questions;
    uint32_t n_questions;
    const char *const *unavailable; /* families whose results did not arrive in time */
    uint32_t n_unavailable;
    uint32_t iterations; /* number of candidates judged by tasks */
    int64_t total_ns;    /* time from arrival to decision */
    int64_t worker_ns;   /* sum of the time over all tasks */
    struct msg_version *versions;
    uint32_t n_versions;
    const char *gold, *meta;     /* copied from the request */
    double entailment_threshold; /* required entailment; NAN if there is no verifier */
    const char *const *notes;    /* limitations of the judgement, such as an unreachable verifier */
    uint32_t n_notes;
    uint64_t request_digest[2];  /* msg_request_digest of the request; zeros if unknown */
    struct msg_repaired *repair; /* NULL if none was found or requested */
    /* with status abstained and ask: root cause, or "not enough evidence"; otherwise NULL */
    const char *cause;
    struct msg_guarantee *guarantee;         /* NULL if not requested, or if there is no calibration */
    struct msg_usage *usage;                 /* cost of language models that judged candidates; NULL if none did */
    struct msg_clarification *clarification; /* with status ask: question about the competing readings; otherwise
                                              * NULL */
    struct msg_answer *answers;              /* user answers of the request that contributed to P(correct) */
    uint32_t n_answers;
    bool cached;         /* true for the cached verdict of an equal request; nothing was judged */
    struct arena *arena; /* owns the verdict's memory if it is set, see msg_verdict_free; not sent */
};

/* --- bytes --- */

struct msg_buffer {
    char *bytes;
    size_t len;
    size_t room; /* capacity, reused for the next message */
};

/* Encode a message. Replace the buffer's content; the buffer must be {0} before its first use. Return ERR_NOMEM, or
 * ERR_LIMIT_BYTES if the message exceeds MSG_MAX_BYTES. */
enum err_code msg_encode_request(struct msg_buffer *out, const struct msg_request *request);
enum err_code msg_encode_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_encode_result(struct msg_buffer *out, const struct msg_result *result);
enum err_code msg_encode_verdict(struct msg_buffer *out, const struct msg_verdict *verdict);
/* Append a message, because tasks or results of one request may share a Kafka message. On failure the existing content
 * stays. Return the same errors as the functions that encode. */
enum err_code msg_append_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_append_result(struct msg_buffer *out, const struct msg_result *result);
void msg_buffer_free(struct msg_buffer *buffer);

/* Decode a message into the arena. Return ERR_MALFORMED (also for another kind of message), ERR_VERSION, ERR_LIMIT_*,
 * or ERR_ENCODING. Return ERR_LIMIT_MEMORY if the arena is full. `err` names the error and its position. */
enum err_code msg_decode_request(struct arena *arena, const void *bytes, size_t len, struct msg_request **out,
                                 struct err *err);
enum err_code msg_decode_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out,
                              struct err *err);
enum err_code msg_decode_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out,
                                struct err *err);
enum err_code msg_decode_verdict(struct arena *arena, const void *bytes, size_t len, struct msg_verdict **out,
                                 struct err *err);
/* Decode the first task or result of a message that may hold several. *used is its length in bytes; the next one begins
 * there. */
enum err_code msg_next_task(struct arena *arena, const void *bytes, size_t len, struct msg_task **out, size_t *used,
                            struct err *err);
enum err_code msg_next_result(struct arena *arena, const void *bytes, size_t len, struct msg_result **out, size_t *used,
                              struct err *err);

/* Decodes a verdict into an arena of its own, so the verdict may outlive its message. Free with msg_verdict_free (NULL
 * is allowed). */
enum err_code msg_decode_verdict_own(const void *bytes, size_t len, struct msg_verdict **out, struct err *err);
void msg_verdict_free(struct msg_verdict *verdict);

/* --- JSON --- */

/* Parses one line of a query log, or a request over HTTP. Checks types, duplicate keys, UTF-8 and the MSG_MAX_ bounds.
 * Ignores unknown keys. Returns ERR_MALFORMED, ERR_ENCODING, ERR_LIMIT_BYTES or ERR_LIMIT_COUNT with a sentence in
 * `err`. The list of candidates may be empty or missing. */
enum err_code msg_request_from_json(struct arena *arena, const char *line, size_t len, struct msg_request **out,
                                    struct err *err);

/* Parses only the options of a request, from an object with the keys of a request. Ignores other keys. The text lives
 * in the arena. Returns the errors of msg_request_from_json. */
enum err_code msg_options_from_json(struct arena *arena, const char *text, size_t len, struct msg_options *out,
                                    struct err *err);

/* Computes a digest of a request's content. It covers db, question, evidence, gold, candidates, options, answers,
 * linking and schema. It excludes id, tag, meta and traceparent. It also excludes reals (score, threshold, alpha,
 * repair_margin, ask_gain), because JSON rounds them. A request read from JSON thus has the same digest as one read
 * from a message. Thread: any. */
void msg_request_digest(const struct msg_request *request, uint64_t out[2]);

/* Return a request or verdict as one line of JSON without newline, allocated with malloc. Return NULL if memory is
 * short. Replace invalid UTF-8 with U+FFFD. */
char *msg_request_to_json(const struct msg_request *request);
char *msg_verdict_to_json(const struct msg_verdict *verdict);
/* Writes a verdict as JSON into a reusable buffer, NUL-terminated. The last member is `line`, the number of the log
 * line that the verdict answers, unless it is 0. Returns ERR_NOMEM if memory is short. */
enum err_code msg_verdict_write_json(struct msg_buffer *out, const struct msg_verdict *verdict, uint64_t line);

#endif
