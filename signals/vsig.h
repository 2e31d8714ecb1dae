/* Validation signals: each looks at one candidate and says fired, silent or unavailable, with findings at clauses.
 *
 * A signal is one file signals/<family>/<name>.c whose last block is `const struct vsig_def vsig_<name>`; one row in
 * vsig_list.h; one file of cases. Signals see a parsed and bound candidate, the schema index, a
 * database handle where they declare the need, and the question. They never see Kafka, Redis, msgpack or HTTP.
 *
 * Ownership:
 *   1. if init failed, nothing is to be freed
 *   2. what eval allocates lives in the run's arena and dies with the candidate
 *   3. a subject belongs to one thread at a time, definitions and option sets are shared and read-only
 */
#ifndef ASSAY_SIGNALS_VSIG_H
#define ASSAY_SIGNALS_VSIG_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "lib/sql/bind.h"
#include "lib/text/text.h"

/* VSIG_EXPLAIN has no signals: its worker explains the candidate and measures what the verifier wants to know. VSIG_LLM asks a language model
 * (support/ask.h), where one is configured, about the candidates that the other families leave in doubt. */
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

/* note: shown in the report and a feature, no vote. warning and error: a vote for "wrong", weaker or stronger. */
enum vsig_severity { VSIG_NOTE, VSIG_WARNING, VSIG_ERROR };

/* data: statistics or values of the schema index. Whatever needs the database or a result needs it as well. */
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
    const char *label;   /* "WHERE", "JOIN", "SELECT" ... : sql_clause_name of where it stands */
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

/* What one signal said of one candidate. */
struct vsig_verdict {
    enum vsig_state state;
    const char *reason; /* of VSIG_UNAVAILABLE, else NULL */
    struct vsig_finding *findings;
    uint32_t n_findings; /* at most VSIG_MAX_FINDINGS are kept */
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
    const char *sentence; /* what fires it, one sentence */
    /* For the error report (SQLens §4.4). */
    const char *description, *example, *instruction;
    const struct vsig_option *options; /* ends with a NULL name; NULL: none */
    /* Look at run->subject and call vsig_fire / vsig_note / vsig_unavailable. Anything but ERR_OK makes the signal
     * unavailable with that code's name as the reason (ERR_LIMIT_TIME, ERR_LIMIT_MEMORY ...). Thread: eval. */
    enum err_code (*eval)(struct vsig_run *run);
};

/* A place at which the schema linker that the request tells of is not to be trusted. */
struct vsig_uncertain {
    bool columns;     /* else it was linking tables */
    const char *name; /* that it was about to write, of a column "table.column"; NULL: it ended its list there */
    double p;         /* that it went wrong; NAN */
};

/* The candidate and all there is to know about it. Filled by vsig_subject_init; families share it. */
struct vsig_subject {
    struct arena *arena;
    const char *sql;
    size_t sql_len;
    const struct sql_stmt *stmt;
    const struct sql_bound *bound;
    const struct schema_index *schema;
    struct db *db; /* NULL: signals that need it are unavailable */
    const struct text_embedder *embedder;
    const char *question, *evidence; /* NULL when the request has none */
    const struct question *analysis; /* what the question says, see question.h; NULL without a question */
    enum err_code code;              /* of vsig_subject_init: anything but ERR_OK makes every signal unavailable */
    enum err_code refused;           /* of vsig_refuse: likewise */

    const struct vsig_shape *shape; /* conditions and joins, block by block: made on first use by vsig_shape() */
    const struct query_view *view;  /* what the query does: made on first use by query_look() */
    const struct vsig_predicate_list *predicates; /* made on first use by vsig_predicates() */
    const struct link_query *links; /* which part stands for which word: made on first use by vsig_links() */
    const struct vsig_contradictions *contradictions; /* made on first use by vsig_contradictions() */
    const struct vsig_kept *kept;                     /* made on first use by vsig_kept_look() */
    const struct vsig_roles *roles;                   /* made on first use by vsig_roles_look() */

    const struct meaning *meaning;     /* what the query computes: made on first use by vsig_meaning() */
    const struct alignment *alignment; /* of the question and the meaning: made on first use by vsig_alignment() */

    const struct vsig_uncertain *uncertain; /* of the request's linking */
    uint32_t n_uncertain;

    const struct vsig_reply *reply; /* what a language model said of it (support/ask.h); NULL: none was asked */

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

/* The value of option number `index` of the running signal. */
double vsig_opt(const struct vsig_run *run, unsigned index);

/* Add a finding whose clause is the span of `node` (its nearest ancestor with a span). fire votes, note does not. The
 * returned finding may get more clauses and facts; NULL when the arena is full or VSIG_MAX_FINDINGS is met (the vote
 * counts). */
struct vsig_finding *vsig_fire(struct vsig_run *run, enum vsig_severity severity, const struct sql_node *node,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vsig_finding *vsig_note(struct vsig_run *run, const struct sql_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void vsig_add_clause(struct vsig_run *run, struct vsig_finding *finding, const struct sql_node *node);
void vsig_add_fact(struct vsig_run *run, struct vsig_finding *finding, const char *key, bool from_data,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
void vsig_unavailable(struct vsig_run *run, const char *reason);

/* Do notes of this signal tell what the data holds (no row has this value, a join meets nothing)? People are shown
 * those although they do not vote. */
bool vsig_tells_of_data(enum vsig_id id);

/* Makes every signal unavailable for the reason `why`, and vsig_result fail with it: the statement is never run. Before the
 * first vsig_result. */
void vsig_refuse(struct vsig_subject *subject, enum err_code why);
/* The candidate's own result (bounded by the handle's limits), run on first call. NULL with subject->result_code set.
 */
const struct db_result *vsig_result(struct vsig_subject *subject);

/* Registry. Names are unique; unknown: NULL / -1. */
const struct vsig_def *vsig_by_id(enum vsig_id id);
const struct vsig_def *vsig_by_name(const char *name);
const struct vsig_def *const *vsig_all(unsigned *n); /* in order of ids */
const char *vsig_family_name(enum vsig_family family);
int vsig_family_by_name(const char *name);
const char *vsig_state_name(enum vsig_state state);
const char *vsig_severity_name(enum vsig_severity severity);
const char *vsig_cause_name(enum vsig_cause cause);

/* Defaults; then one setting at a time: key "enabled" or an option's name. ERR_CONFIG with the known keys in `err`.
 * Caller owes vsig_options_free. */
struct vsig_options *vsig_options_new(void);
/* Room and defaults for one more definition: vsig_options_new does it for all listed ones, tests for theirs. */
void vsig_options_add(struct vsig_options *options, const struct vsig_def *def);
enum err_code vsig_options_set(struct vsig_options *options, const char *signal, const char *key, double value,
                               struct err *err);
void vsig_options_free(struct vsig_options *options);

/* Run one signal: checks its needs, times it, turns its error code into a reason. Thread: eval. */
void vsig_run_one(struct vsig_subject *subject, const struct vsig_def *def, const struct vsig_options *options,
                  struct vsig_verdict *verdict);

/* Run all enabled signals of a family. out[id] is filled for those; others stay as they were. Thread: eval. */
void vsig_run_family(struct vsig_subject *subject, enum vsig_family family, const struct vsig_options *options,
                     struct vsig_verdict *out /* [VSIG_ID_END] */);

/* Prepare a subject: parse, bind, analyse the question (`analysis` may be shared between the candidates of a
 * request: pass the one of an earlier subject or NULL). Errors are the parser's and binder's; stmt / bound are set
 * as far as it came. All pointers must outlive the subject. */
struct question;
enum err_code vsig_subject_init(struct vsig_subject *subject, struct arena *arena, const struct schema_index *schema,
                                struct db *db, const char *sql, size_t sql_len, const char *question,
                                const char *evidence, const struct question *analysis);

#endif
