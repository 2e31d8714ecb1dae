/* Validation signals: each checks one candidate and is fired, silent or unavailable, with findings at clauses.
 *
 * A signal is one file signals/<family>/<name>.c whose last block is `const struct vsig_def vsig_<name>`, one row in
 * vsig_list.h, and one file of cases. A signal reads a parsed and bound candidate, the schema index, the question, and
 * a database handle if it declares the need. Signals have no access to Kafka, Redis, msgpack or HTTP.
 *
 * Ownership:
 *   1. if init failed, nothing is to be freed
 *   2. memory allocated by eval lives in the run's arena and dies with the candidate
 *   3. a subject belongs to one thread at a time, definitions and option sets are shared and read-only */
#ifndef ASSAY_SIGNALS_VSIG_H
#define ASSAY_SIGNALS_VSIG_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "lib/sql/bind.h"
#include "lib/text/text.h"

/* The families of signals. VSIG_EXPLAIN has none: its worker explains the candidate and computes the verifier's
 * features. VSIG_LLM calls a language model (support/ask.h), if one is configured, for candidates that the other
 * families leave in doubt. */
enum vsig_family {
    VSIG_STRUCTURE,
    VSIG_JOIN,
    VSIG_EXECUTION,
    VSIG_VALUE,
    VSIG_QUESTION,
    VSIG_EXPLAIN,
    VSIG_LLM,
    VSIG_FAMILY_COUNT
};

/* Root cause of an error that the signal points to (SQLens §3.1, figure 3). */
enum vsig_cause { VSIG_QUESTION_AMBIGUITY, VSIG_DATA_AMBIGUITY, VSIG_MISALIGNMENT, VSIG_CAUSE_COUNT };

enum vsig_state { VSIG_SILENT, VSIG_FIRED, VSIG_UNAVAILABLE };

/* note: a feature shown in the report, not a vote. warning and error: a vote for "wrong", weaker or stronger. */
enum vsig_severity { VSIG_NOTE, VSIG_WARNING, VSIG_ERROR };

/* data: statistics or values of the schema index. A signal that needs the database or a result needs data as well. */
enum vsig_need {
    VSIG_NEEDS_DB = 1U << 0,
    VSIG_NEEDS_QUESTION = 1U << 1,
    VSIG_NEEDS_RESULT = 1U << 2,
    VSIG_NEEDS_DATA = 1U << 3
};

enum vsig_id {
#define X(id, name, family) VSIG_ID_##name = (id),
#include "signals/vsig_list.h"
#undef X
    VSIG_ID_END /* one past the highest id */
};

/* A clause that a finding points at. */
struct vsig_clause {
    const char *label;   /* "WHERE", "JOIN", "SELECT" ... : sql_clause_name of its clause */
    uint32_t start, end; /* bytes of the candidate's text */
};

/* A fact behind a finding. `from_data`: its value was read from the database, so `expose: none` hides it. */
struct vsig_fact {
    const char *key, *value;
    bool from_data;
    struct vsig_fact *next;
};

enum { VSIG_MAX_CLAUSES = 8, VSIG_MAX_FINDINGS = 16 };

struct vsig_finding {
    enum vsig_id signal;
    enum vsig_severity severity;
    const char *message; /* one sentence for a person; names and numbers, values only in facts */
    struct vsig_clause clauses[VSIG_MAX_CLAUSES];
    uint32_t n_clauses;
    struct vsig_fact *facts;
    struct vsig_finding *next;
};

/* The outcome of one signal on one candidate. */
struct vsig_verdict {
    enum vsig_state state;
    const char *reason; /* of VSIG_UNAVAILABLE, else NULL */
    struct vsig_finding *findings;
    uint32_t n_findings; /* at most VSIG_MAX_FINDINGS */
    int64_t ns;          /* time spent */
};

/* One option of a signal. Values are doubles; a flag is 0 or 1. */
struct vsig_option {
    const char *name;
    double fallback, min, max;
    const char *sentence;
};

struct vsig_run;

struct vsig_def {
    enum vsig_id id;
    const char *name;
    enum vsig_family family;
    enum vsig_cause cause;
    unsigned needs; /* of enum vsig_need; a need that is not met makes the signal unavailable without calling eval */
    bool off_by_default;  /* measured: its lift interval includes 1 (docs/results.md) */
    const char *sentence; /* condition under which it fires, one sentence */
    /* For the error report (SQLens §4.4). */
    const char *description, *example, *instruction;
    const struct vsig_option *options; /* ends with a NULL name; may be NULL */
    /* Checks run->subject and calls vsig_fire / vsig_note / vsig_unavailable. Any code but ERR_OK makes the signal
     * unavailable with that code's name as the reason (ERR_LIMIT_TIME, ERR_LIMIT_MEMORY ...). Thread: eval. */
    enum err_code (*eval)(struct vsig_run *run);
};

/* An uncertain place of the schema linking in the request. */
struct vsig_uncertain {
    bool columns;     /* false for tables */
    const char *name; /* name that the linker was writing, of a column "table.column"; NULL if it ended its list
                       * there */
    double p;         /* P(error); may be NAN */
};

/* The candidate and all facts about it. Filled by vsig_subject_init; families share it. */
struct vsig_subject {
    struct arena *arena;
    const char *sql;
    size_t sql_len;
    const struct sql_stmt *stmt;
    const struct sql_bound *bound;
    const struct schema_index *schema;
    struct db *db; /* may be NULL: signals that need it are unavailable */
    const struct text_embedder *embedder;
    const char *question, *evidence; /* NULL when the request has none */
    const struct question *analysis; /* the analysed question, see question.h; NULL without a question */
    enum err_code code;              /* of vsig_subject_init: anything but ERR_OK makes every signal unavailable */
    enum err_code refused;           /* code of vsig_refuse, with the same effect */

    const struct vsig_shape *shape; /* conditions and joins, block by block: made on first use by vsig_shape() */
    const struct query_view *view;  /* actions of the query: made on first use by query_look() */
    const struct vsig_predicate_list *predicates;     /* made on first use by vsig_predicates() */
    const struct link_query *links;                   /* links of words to parts: made on first use by vsig_links() */
    const struct vsig_contradictions *contradictions; /* made on first use by vsig_contradictions() */
    const struct vsig_kept *kept;                     /* made on first use by vsig_kept_look() */
    const struct vsig_roles *roles;                   /* made on first use by vsig_roles_look() */

    const struct meaning *meaning;     /* the query's meaning: made on first use by vsig_meaning() */
    const struct alignment *alignment; /* of the question and the meaning: made on first use by vsig_alignment() */

    const struct vsig_uncertain *uncertain; /* of the request's linking */
    uint32_t n_uncertain;

    const struct vsig_reply *reply; /* a language model's reply (support/ask.h); NULL if none was consulted */

    /* The candidate's own result, run at most once, by vsig_result(). */
    struct db_result result;
    enum err_code result_code;
    struct err result_err;
    bool result_known;
};

struct vsig_options { /* resolved values for all signals */
    bool enabled[VSIG_ID_END];
    double *values[VSIG_ID_END]; /* parallel to def->options */
};

struct vsig_run {
    const struct vsig_def *def;
    struct vsig_subject *subject;
    const struct vsig_options *options;
    struct vsig_verdict *verdict;
};

/* Returns the value of option number `index` of the running signal. */
double vsig_opt(const struct vsig_run *run, unsigned index);

/* Adds a finding whose clause is the span of `node` (its nearest ancestor with a span). vsig_fire votes, vsig_note does
 * not. Clauses and facts may be added to the returned finding. Returns NULL if the arena is full or VSIG_MAX_FINDINGS
 * is reached; the vote still counts. */
struct vsig_finding *vsig_fire(struct vsig_run *run, enum vsig_severity severity, const struct sql_node *node,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vsig_finding *vsig_note(struct vsig_run *run, const struct sql_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void vsig_add_clause(struct vsig_run *run, struct vsig_finding *finding, const struct sql_node *node);
void vsig_add_fact(struct vsig_run *run, struct vsig_finding *finding, const char *key, bool from_data,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
void vsig_unavailable(struct vsig_run *run, const char *reason);

/* True if notes of this signal report facts of the data (no row has this value, a join matches nothing). Such notes are
 * shown although they do not vote. */
bool vsig_tells_of_data(enum vsig_id id);

/* Makes every signal unavailable for the reason `why`, and lets vsig_result fail with it: the statement never runs.
 * Call it before the first vsig_result. */
void vsig_refuse(struct vsig_subject *subject, enum err_code why);
/* Returns the candidate's own result (bounded by the handle's limits); the first call runs the statement. Returns NULL
 * with subject->result_code set if it failed. */
const struct db_result *vsig_result(struct vsig_subject *subject);

/* Registry. Names are unique. Lookups return NULL or -1 for an unknown id or name. */
const struct vsig_def *vsig_by_id(enum vsig_id id);
const struct vsig_def *vsig_by_name(const char *name);
const struct vsig_def *const *vsig_all(unsigned *n); /* in order of ids */
const char *vsig_family_name(enum vsig_family family);
int vsig_family_by_name(const char *name);
const char *vsig_state_name(enum vsig_state state);
const char *vsig_severity_name(enum vsig_severity severity);
const char *vsig_cause_name(enum vsig_cause cause);

/* Returns options with their defaults. vsig_options_set changes one setting: key "enabled" or an option's name. It
 * returns ERR_CONFIG, with the known keys in `err`, if the key is unknown. Free with vsig_options_free. */
struct vsig_options *vsig_options_new(void);
/* Adds slots and defaults for one more definition. vsig_options_new calls it for all listed ones, tests for their
 * own. */
void vsig_options_add(struct vsig_options *options, const struct vsig_def *def);
enum err_code vsig_options_set(struct vsig_options *options, const char *signal, const char *key, double value,
                               struct err *err);
void vsig_options_free(struct vsig_options *options);

/* Runs one signal: checks its needs, times it, and turns its error code into a reason. Thread: eval. */
void vsig_run_one(struct vsig_subject *subject, const struct vsig_def *def, const struct vsig_options *options,
                  struct vsig_verdict *verdict);

/* Runs all enabled signals of a family and fills out[id] for them; other entries do not change. Thread: eval. */
void vsig_run_family(struct vsig_subject *subject, enum vsig_family family, const struct vsig_options *options,
                     struct vsig_verdict *out /* [VSIG_ID_END] */);

/* Prepares a subject: parses, binds, and analyses the question. `analysis` may be shared between the candidates of a
 * request: pass that of an earlier subject, or NULL. Errors are those of parser and binder; stmt and bound are set up
 * to the failure. All pointers must outlive the subject. */
struct question;
enum err_code vsig_subject_init(struct vsig_subject *subject, struct arena *arena, const struct schema_index *schema,
                                struct db *db, const char *sql, size_t sql_len, const char *question,
                                const char *evidence, const struct question *analysis);

#endif
