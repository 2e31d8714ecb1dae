/* The messages of a fleet: requests, tasks, results, verdicts. Structs are here, bytes in proto/FORMAT.md.
 *
 *    requests → coordinator → tasks.<family> → worker → results → coordinator → verdicts
 *
 * Ownership:
 *   1. a decoded message and everything in it lives in its arena and no longer needs the bytes
 *   2. an encoded message is a buffer that the caller frees with msg_buffer_free
 *   3. encoding only reads
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

/* Bounds, checked before the counted objects are allocated. */
enum {
    MSG_MAX_BYTES = 64 << 20,    /* one message */
    MSG_MAX_DEPTH = 16,          /* nesting */
    MSG_MAX_LINE = 16 << 20,     /* one line of a log */
    MSG_MAX_CANDIDATES = 4096,   /* in one request */
    MSG_MAX_JOINED = 30,         /* tasks in one message: of 5 candidates, with 5 or 6 families each */
    MSG_MAX_QUESTION = 64 << 10, /* bytes of the question, or of the evidence */
    MSG_MAX_META = 1 << 20,      /* bytes of meta as JSON */
    MSG_MAX_SCHEMA = 256 << 10,  /* bytes of DDL in place of a database */
    MSG_MAX_SQL = 1 << 20,       /* bytes of one candidate; the parser's limit is lower */
    MSG_MAX_NAME = 256,          /* id, db, family, generator */
    MSG_MAX_ANSWERS = 8,         /* user answers in one request */
    MSG_MAX_UNCERTAIN = 64,      /* places of a linking */
    MSG_MAX_LIST = 1024,         /* families, generators, denied columns, findings, clauses ... */
    MSG_MAX_PREMISE = 64 << 10   /* bytes of an explanation's prose, and of its premise */
};

/* Text or bytes with a length. After decoding, `bytes` is NUL-terminated but may contain NULs. */
struct msg_text {
    const char *bytes;
    uint32_t len;
};

/* Strategies: X(ID, name, description). Names, the choices of the command line and its help are derived from this list.
 * The requirements of a strategy are its row in coordinator/rules.c. The position is the number on the wire: append
 * only. */
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

/* Policies for requests without a validated candidate: X(ID, name, status of the verdict). Append only, as above. */
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

/* Origins of a request's candidates, which give their positions and votes a meaning: X(ID, name, description). Append
 * only, as above. scoring/verifier_context.h has their weights. */
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

/* The modes of repair, a search for a similar query with a higher P(correct): X(ID, name, description). Append only. */
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
    /* the part derived from the statement, and the verifier's numbers; runs no statement of its own */
    MSG_PART_STATEMENT,
    MSG_PART_ROWS, /* the prose alone, with the rows behind the result, or why there are none */
    MSG_PART_COUNT
};
enum msg_state { MSG_SILENT, MSG_FIRED, MSG_UNAVAILABLE, MSG_STATE_COUNT }; /* as enum vsig_state */
enum msg_severity { MSG_NOTE, MSG_WARNING, MSG_ERROR, MSG_SEVERITY_COUNT }; /* as enum vsig_severity */
enum msg_status {
    MSG_STATUS_FAILED,      /* could not be judged; see reason */
    MSG_STATUS_VALIDATED,   /* P(correct) of the chosen candidate reaches the threshold */
    MSG_STATUS_REPAIRED,    /* P(correct) of a repair reaches the threshold */
    MSG_STATUS_BEST_EFFORT, /* no candidate validated: the best one, flagged */
    MSG_STATUS_ABSTAINED,   /* no candidate validated: no SQL */
    MSG_STATUS_ASK,         /* no candidate validated: questions for the user */
    MSG_STATUS_COUNT
};

/* Return the name as in JSON and on the command line ("first_valid", "best_effort", "values", "fired"), or NULL for
 * unset. The by_name functions return -1 for an unknown name. */
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
    uint32_t count; /* beams or samples with this text; 0 is read as 1 */
    double score;   /* of the generator; NAN if unknown */
    const char *const *generators;
    uint32_t n_generators;
};

/* The options of a request; a field of 0 means the configured default. */
struct msg_options {
    int64_t deadline_ms;     /* from the request's arrival; below 0 without limit */
    uint32_t max_iterations; /* most candidates to judge; default: all */
    uint32_t speculate;      /* candidates to judge concurrently */
    enum msg_strategy strategy;
    enum msg_policy policy;
    enum msg_expose expose;
    double threshold;            /* minimum P(correct) to validate; default: the model's own */
    double alpha;                /* replaces threshold: maximum share of wrong answers among validated ones */
    const char *const *families; /* families to run; empty: all */
    uint32_t n_families;
    const char *const *deny_columns; /* "table.column" whose values are never shown */
    uint32_t n_deny_columns;
    enum msg_order order;     /* unset: according to feedback on the generator, otherwise unknown */
    enum msg_explain explain; /* off: as if `families` did not contain `explain` */
    enum msg_repair repair;   /* unset: off */
    double repair_margin;     /* minimum increase of P(correct) by a repair; default: the model's own */
    double delta;             /* 1 - confidence of the guarantee about alpha; default: 0.1 */
    double ask_gain;          /* policy ask: minimum expected increase of P(correct) for a question; default: 0.05 */
    bool no_cache;            /* ignore cached verdicts, and do not cache this one */
};

/* A user's choice: the ids of a clarification question in an earlier verdict and of one of its choices. */
struct msg_answer {
    const char *question, *choice;
};

/* A place where a schema linker is unreliable (docs/linking.md): it was about to write this name. */
struct msg_uncertain {
    const char *stage; /* "tables" or "columns" */
    const char *name;  /* "table.column" for a column; NULL at the end of its list, where a name may be missing */
    double p;          /* probability that its choice was wrong; NAN if unknown */
};

/* Output of a schema linker for the question. */
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
    const char *gold; /* only copied to the verdict; must not influence the judgement */
    const char *meta; /* JSON text, copied to the verdict */
    uint64_t tag;     /* sender's own number, copied to the verdict */
    struct msg_options options;
    const char *traceparent;
    struct msg_answer *answers; /* to clarification questions of earlier verdicts on the same question, in that order */
    uint32_t n_answers;
    struct msg_linking *linking; /* NULL without linker output */
    const char *schema;          /* DDL to judge by in place of data; db is then a label; NULL to use the database */
};

/* --- task and result --- */

/* Identifies a request: its position in the requests topic. */
struct msg_key {
    int32_t partition;
    int64_t offset;
};

/* Writes "<partition>-<offset>", the key of all messages of a request, NUL-terminated. Returns its length. */
enum { MSG_KEY_TEXT = 40 };
uint32_t msg_key_text(struct msg_key key, char out[MSG_KEY_TEXT]);

struct msg_task {
    struct msg_key key; /* the result goes to the same partition number */
    uint64_t hash[2];   /* digest of normalised SQL, db, question, evidence */
    uint32_t candidate; /* first candidate with that content; for logs only, never used for matching */
    const char *family;
    const char *db, *question, *evidence;
    struct msg_text sql;
    int64_t deadline_ns; /* on the transport's clock (bus_now_ns); 0 without deadline */
    enum msg_expose expose;
    const char *const *deny_columns;
    uint32_t n_deny_columns;
    const char *traceparent;
    bool proposes;                /* family explain: return similar queries in place of an explanation */
    struct msg_finding *findings; /* if it proposes: findings on this query, whose marked clauses are changed first */
    uint32_t n_findings;
    bool describes; /* with `proposes`: return the schema as text too */
    struct msg_candidate
        *readings; /* family explain: SQL of other readings; describe in words how these and the task's own differ */
    uint32_t n_readings;
    struct msg_linking *linking; /* of the request; may be NULL */
    const char *schema;          /* of the request; may be NULL */
    /* the reader of the result accepts several of a request in one message (msg_next_result) */
    bool joins;
    enum msg_part part; /* of the family explain */
};

struct msg_clause {
    const char *label, *text;
    uint32_t start, end; /* byte offsets in the candidate */
};

struct msg_fact {
    const char *key, *value;
};

enum { MSG_INVALID_SQL = 0 }; /* signal id of `invalid_sql`, which is outside the vector */

struct msg_finding {
    uint32_t signal; /* wire id (signals/vsig_list.h), or MSG_INVALID_SQL */
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
    const char *reason; /* of MSG_UNAVAILABLE */
    int64_t ns;         /* time spent; not sent by workers, who count it in worker_stats */
};

struct msg_row {
    const char *const *values; /* as text; NULL for SQL NULL */
    uint32_t n_values;
};

/* The outcome of running the candidate. */
struct msg_execution {
    const char *code; /* wire name of an err_code; "ok" if it completed */
    const char *message;
    int32_t error_offset; /* byte offset of the engine's error in the candidate; -1 if unknown */
    uint32_t rows, columns;
    int64_t ns;
    uint64_t digest[2];         /* of the bag of rows (lib/db/digest.h) */
    uint64_t ordered_digest[2]; /* of rows and columns in order */
    /* the result uses a denied column: a verdict has no digest, from which values could be guessed */
    bool withheld;
    const char *const *names; /* of the columns; only with a sample */
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
    const char *prose;          /* for people */
    const char *premise;        /* for verifiers: SQL, result and explanation in one text */
    uint64_t components;        /* bits: components of this SQL (lib/sql/components.h); 0 if unknown */
    uint64_t digest[2];         /* of the explained result */
    struct msg_number *numbers; /* features of the verifier, by ascending id */
    uint32_t n_numbers;
};

/* A query similar to the candidate. */
struct msg_proposal {
    struct msg_text sql;
    const char *reason; /* finding that the change resolves; NULL if it is merely similar */
    const char *source; /* model that wrote it; NULL for our own edit */
};

/* Cost of calls to language models. */
struct msg_usage {
    uint32_t calls, cached; /* requests sent; cached responses */
    uint64_t tokens_in, tokens_out;
    double cost;        /* at the prices configured in the worker, in their currency */
    const char *source; /* model of the last response, and the versions of its instructions; NULL without any */
};

/* One reading of a question. */
struct msg_choice {
    const char *id;                /* id that answers refer to; NULL in a result */
    const char *text;              /* in the user's words */
    uint32_t candidate;            /* 1 + index of a candidate with this reading; 0 without one */
    struct msg_execution *returns; /* its result; NULL if unknown */
};

/* A clarification question for the user. */
struct msg_clarification {
    const char *id;   /* id that answers refer to; NULL in a result */
    const char *text; /* question */
    struct msg_choice *choices;
    uint32_t n_choices;
    double gain;         /* average increase of P(correct) by an answer; NAN in a result */
    const char *request; /* its request as JSON, to be sent with an answer; NULL if too large, or in a result */
};

struct msg_result {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *family;
    const char *code;    /* "ok", or why the whole family was unavailable ("db_missing", "deadline" ...) */
    const char *message; /* description of code */
    bool invalid;        /* the engine refuses this SQL: one of the findings is MSG_INVALID_SQL */
    struct msg_signal *signals;
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* of the families execution and explain; otherwise NULL */
    int64_t ns;
    struct msg_explanation *explanation; /* of the explain family; otherwise NULL */
    double p;                            /* of the family MSG_VERIFIER: its entailment */
    bool proposes;                       /* as in the task */
    struct msg_proposal *proposals;
    uint32_t n_proposals;
    const char *schema;      /* if the task `describes`; otherwise NULL */
    struct msg_usage *usage; /* of the family llm; otherwise NULL */
    bool asks;               /* the task has readings */
    /* descriptions of the readings, the task's own first; NULL: see code and message */
    struct msg_clarification *clarification;
    enum msg_part part; /* as in the task; a worker before 1.11 makes all */
    const char *state;  /* state of the database (worker/db_states.h); NULL if unknown */
};

/* The family of a remote verifier's responses. It has no tasks. */
#define MSG_VERIFIER "verifier"
/* The family of a corrector's responses: one proposal, or code and message on failure. */
#define MSG_CORRECTOR "corrector"
/* The family of a polisher's responses: an explanation's prose, and its source in `message`; or code and message on
 * failure. */
#define MSG_POLISHER "polisher"

/* --- verdict --- */

/* An explanation reworded by a model, with the same content as ours. */
struct msg_polished {
    const char *text;
    const char *source; /* model, and version of its instructions */
};

/* One input candidate, in input order. */
struct msg_judged {
    struct msg_text sql;
    uint32_t count; /* votes, including those of its repeats */
    double score;
    bool judged;                                 /* if false, all other fields are empty */
    bool invalid;                                /* invalid_sql: p_correct is 0 */
    double p_correct, label_model_p, entailment; /* NAN if unknown */
    struct msg_signal *signals;                  /* by id */
    uint32_t n_signals;
    struct msg_finding *findings;
    uint32_t n_findings;
    struct msg_execution *execution; /* NULL if it was not executed */
    const char *explanation;
    uint32_t same_as;                  /* 1 + index of the candidate that it repeats; 0 if it is new */
    const char *why;                   /* why it was not judged or not chosen, in one sentence */
    struct msg_explanation *explained; /* only with MSG_EXPLAIN_FULL */
    const char *verifier;              /* source of `entailment`; NULL without one */
    struct msg_polished *polished;     /* of the chosen candidate; NULL if not requested or unusable */
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
    const char *was, *now; /* text of the clause; NULL if it is absent */
};

/* A query similar to the answer with a higher P(correct). Both probabilities are of the query alone, without votes and
 * positions of a list. */
struct msg_repaired {
    bool applied; /* true if it is the answer, false if it is only shown */
    const char *sql, *old_sql;
    uint32_t of;             /* 1 + index of the candidate that it repairs */
    double p_old, p_correct; /* NAN if unknown, such as for a query that does not run */
    const char *reason;      /* finding that the repair resolves; may be NULL */
    const char *source;      /* model that wrote it; NULL for our own edit */
    struct msg_step *steps;
    uint32_t n_steps;
    uint32_t n_proposals; /* queries that were judged */
};

/* The state of the guarantee for answers under the same conditions. It says that at most a share alpha of them is
 * wrong, with confidence 1 - delta. */
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
    const char *group; /* generator whose verdicts support it, or "all" */
    uint32_t records;  /* number of these verdicts */
    enum msg_promise status;
    double p_value;  /* share of wrong answers that look at least as reliable as this one; NAN if unknown */
    const char *why; /* why it does not hold, in one sentence; NULL if it does */
};

struct msg_verdict {
    const char *id, *db;
    uint64_t tag;
    struct msg_key key;
    enum msg_status status;
    const char *reason;  /* of a failure or deadline: wire name of an err_code, or "no_candidates" ... */
    const char *message; /* reason in one sentence */
    const char *sql;     /* answer; NULL without an answer */
    uint32_t chosen;     /* 1 + index of the answer's candidate; 0 if the answer is a repair or missing */
    double p_correct;    /* of the chosen; NAN if unknown */
    double threshold;    /* required P(correct); NAN without a model */
    struct msg_judged *candidates;
    uint32_t n_candidates;
    struct msg_report *report;
    uint32_t n_report;
    const char *const *questions;
    uint32_t n_questions;
    const char *const *unavailable; /* families without a timely response */
    uint32_t n_unavailable;
    uint32_t iterations; /* candidates judged by tasks */
    int64_t total_ns;    /* from arrival to decision */
    int64_t worker_ns;   /* sum over tasks */
    struct msg_version *versions;
    uint32_t n_versions;
    const char *gold, *meta;     /* of the request */
    double entailment_threshold; /* required entailment; NAN without a verifier */
    const char *const *notes;    /* limitations of the judgement, such as an unreachable verifier */
    uint32_t n_notes;
    uint64_t request_digest[2];  /* msg_request_digest of the request; zeros if unknown */
    struct msg_repaired *repair; /* NULL if none was found or requested */
    /* of abstained and ask: root cause, "not enough evidence" if unknown; otherwise NULL */
    const char *cause;
    struct msg_guarantee *guarantee;         /* NULL if not requested, or without a calibration */
    struct msg_usage *usage;                 /* of language models that judged candidates; NULL without any */
    struct msg_clarification *clarification; /* of ask: question about the competing readings; otherwise NULL */
    struct msg_answer *answers;              /* of the request: user answers that contributed to P(correct) */
    uint32_t n_answers;
    bool cached;         /* cached verdict of an equal request: nothing was judged */
    struct arena *arena; /* not sent; owns the verdict's memory if set, see msg_verdict_free */
};

/* --- bytes --- */

struct msg_buffer {
    char *bytes;
    size_t len;
    size_t room; /* capacity, reused for the next message */
};

/* Encode a message, replacing the buffer's content. Start with {0}. Return ERR_NOMEM, or ERR_LIMIT_BYTES past
 * MSG_MAX_BYTES. */
enum err_code msg_encode_request(struct msg_buffer *out, const struct msg_request *request);
enum err_code msg_encode_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_encode_result(struct msg_buffer *out, const struct msg_result *result);
enum err_code msg_encode_verdict(struct msg_buffer *out, const struct msg_verdict *verdict);
/* Append a message: tasks or results of one request may share a Kafka message. On failure the existing content stays.
 * Errors as above. */
enum err_code msg_append_task(struct msg_buffer *out, const struct msg_task *task);
enum err_code msg_append_result(struct msg_buffer *out, const struct msg_result *result);
void msg_buffer_free(struct msg_buffer *buffer);

/* Decode a message into the arena. Return ERR_MALFORMED (also for another kind), ERR_VERSION, ERR_LIMIT_* or
 * ERR_ENCODING, and ERR_LIMIT_MEMORY if the arena is full. `err` names the error and its place. */
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

/* Decodes a verdict with its own arena, which may outlive its message. Free with msg_verdict_free (NULL is allowed). */
enum err_code msg_decode_verdict_own(const void *bytes, size_t len, struct msg_verdict **out, struct err *err);
void msg_verdict_free(struct msg_verdict *verdict);

/* --- JSON --- */

/* Parses one line of a query log, or a request over HTTP. Types, duplicate keys, UTF-8 and the bounds above are
 * checked; unknown keys are ignored. Returns ERR_MALFORMED, ERR_ENCODING, ERR_LIMIT_BYTES or ERR_LIMIT_COUNT with a
 * sentence in `err`. The list of candidates may be empty or missing. */
enum err_code msg_request_from_json(struct arena *arena, const char *line, size_t len, struct msg_request **out,
                                    struct err *err);

/* Parses only the options of a request, from an object with the keys of a request; other keys are ignored. Text lives
 * in the arena. Errors as above. */
enum err_code msg_options_from_json(struct arena *arena, const char *text, size_t len, struct msg_options *out,
                                    struct err *err);

/* Computes a digest of a request's content. It covers db, question, evidence, gold, candidates, options, answers,
 * linking and schema. It excludes id, tag, meta, traceparent, and reals (score, threshold, alpha, repair_margin,
 * ask_gain), which JSON rounds. The digest is therefore the same whether read from JSON or from a message. Thread:
 * any. */
void msg_request_digest(const struct msg_request *request, uint64_t out[2]);

/* Return a request or verdict as one line of JSON without newline, allocated with malloc. Return NULL if memory is
 * short. Invalid UTF-8 is replaced with U+FFFD. */
char *msg_request_to_json(const struct msg_request *request);
char *msg_verdict_to_json(const struct msg_verdict *verdict);
/* Writes a verdict as JSON into a reusable buffer, NUL-terminated. Its last member is the line of the log that it
 * answers, unless `line` is 0. Returns ERR_NOMEM if memory is short. */
enum err_code msg_verdict_write_json(struct msg_buffer *out, const struct msg_verdict *verdict, uint64_t line);

#endif
