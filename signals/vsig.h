/* Validation signals. Each signal checks one candidate. It is then fired, silent or unavailable, and reports findings
 * at clauses.
 *
 * A signal consists of three parts. The file signals/<family>/<name>.c ends with `const struct vsig_def vsig_<name>`,
 * vsig_list.h has one row for it, and one file holds its cases. A signal reads a parsed and bound candidate, the schema
 * index, the question, and a database handle if it declares the need. Signals have no access to Kafka, Redis, msgpack
 * or HTTP.
 *
 * Ownership:
 *   1. If init fails, the caller has nothing to free.
 *   2. eval allocates from the run's arena, which the owner of the candidate frees.
 *   3. A subject belongs to one thread at a time. Definitions and option sets are shared and read-only. */
#ifndef ASSAY_SIGNALS_VSIG_H
#define ASSAY_SIGNALS_VSIG_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "lib/sql/bind.h"
#include "lib/text/text.h"

/* The families of signals. VSIG_EXPLAIN has no signals: its worker explains the candidate and computes the verifier's
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

/* The kind of mistake that the signal indicates: its root cause (SQLens §3.1, figure 3). */
enum vsig_cause { VSIG_QUESTION_AMBIGUITY, VSIG_DATA_AMBIGUITY, VSIG_MISALIGNMENT, VSIG_CAUSE_COUNT };

enum vsig_state { VSIG_SILENT, VSIG_FIRED, VSIG_UNAVAILABLE };

/* VSIG_NOTE: a fact that the report shows and that does not vote. VSIG_WARNING and VSIG_ERROR: a weaker and a stronger
 * vote for "wrong". */
enum vsig_severity { VSIG_NOTE, VSIG_WARNING, VSIG_ERROR };

/* The inputs of a signal. VSIG_NEEDS_DATA stands for statistics or values of the schema index. A signal that needs the
 * database or a result also needs this data. */
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
    const char *label;   /* the name of the clause by sql_clause_name: "WHERE", "JOIN", "SELECT" ... */
    uint32_t start, end; /* byte offsets in the candidate's text */
};

/* A fact that supports a finding. `from_data` is true if its value was read from the database. `expose: none` then
 * hides the value. */
struct vsig_fact {
    const char *key, *value;
    bool from_data;
    struct vsig_fact *next;
};

enum { VSIG_MAX_CLAUSES = 8, VSIG_MAX_FINDINGS = 16 };

struct vsig_finding {
    enum vsig_id signal;
    enum vsig_severity severity;
    const char *message; /* one sentence for users, with names and numbers only; values go into facts */
    struct vsig_clause clauses[VSIG_MAX_CLAUSES];
    uint32_t n_clauses;
    struct vsig_fact *facts;
    struct vsig_finding *next;
};

/* The outcome of one signal on one candidate. */
struct vsig_verdict {
    enum vsig_state state;
    const char *reason; /* the reason if the state is VSIG_UNAVAILABLE, else NULL */
    struct vsig_finding *findings;
    uint32_t n_findings; /* at most VSIG_MAX_FINDINGS */
    int64_t ns;          /* time that the signal took, in nanoseconds */
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
    unsigned needs; /* bits of enum vsig_need; if a need is not met, the signal is unavailable and eval is not called */
    bool off_by_default;  /* true if measurements did not prove a benefit: the interval of its lift includes 1
                           * (docs/results.md) */
    const char *sentence; /* one sentence: the condition under which the signal fires */
    /* Texts for the error report (SQLens §4.4). */
    const char *description, *example, *instruction;
    const struct vsig_option *options; /* array that ends with an entry without a name; may be NULL */
    /* Checks run->subject and reports with vsig_fire, vsig_note or vsig_unavailable. Any code but ERR_OK makes the
     * signal unavailable, and the code's name is the reason (ERR_LIMIT_TIME, ERR_LIMIT_MEMORY ...). Thread: eval. */
    enum err_code (*eval)(struct vsig_run *run);
};

/* A step of the request's schema linking at which the linker was uncertain. */
struct vsig_uncertain {
    bool columns;     /* true if the linker chose among columns; false for tables */
    const char *name; /* the name that the linker chose, for a column in the form "table.column"; NULL if it ended its
                       * list at this step */
    double p;         /* probability that the choice is wrong; may be NAN */
};

/* The candidate and all facts about it. vsig_subject_init fills it, and all families share it. */
struct vsig_subject {
    struct arena *arena;
    const char *sql;
    size_t sql_len;
    const struct sql_stmt *stmt;
    const struct sql_bound *bound;
    const struct schema_index *schema;
    struct db *db; /* may be NULL; signals that need a database are then unavailable */
    const struct text_embedder *embedder;
    const char *question, *evidence; /* NULL when the request has none */
    const struct question *analysis; /* the analysed question (question.h); NULL without a question */
    enum err_code code;              /* the result of vsig_subject_init; any code but ERR_OK makes every signal
                                      * unavailable */
    enum err_code refused;           /* the code that vsig_refuse was given; any code but ERR_OK makes every signal
                                      * unavailable */

    const struct vsig_shape *shape; /* conditions and joins of each block; computed on first use by vsig_shape() */
    const struct query_view *view;  /* actions of the query; computed on first use by query_look() */
    const struct vsig_predicate_list *predicates;     /* computed on first use by vsig_predicates() */
    const struct link_query *links;                   /* links from the question's words to parts of the query; computed
                                                       * on first use by vsig_links() */
    const struct vsig_contradictions *contradictions; /* computed on first use by vsig_contradictions() */
    const struct vsig_kept *kept;                     /* computed on first use by vsig_kept_look() */
    const struct vsig_roles *roles;                   /* computed on first use by vsig_roles_look() */

    const struct meaning *meaning;     /* the query's meaning; computed on first use by vsig_meaning() */
    const struct alignment *alignment; /* the alignment of the question with the meaning; computed on first use by
                                        * vsig_alignment() */

    const struct vsig_uncertain *uncertain; /* uncertain steps of the request's schema linking */
    uint32_t n_uncertain;

    const struct vsig_reply *reply; /* a language model's reply (support/ask.h); NULL if none was consulted */

    /* The candidate's own result. vsig_result() runs the candidate at most once and sets these fields. */
    struct db_result result;
    enum err_code result_code;
    struct err result_err;
    bool result_known;
};

struct vsig_options { /* The settings of all signals, with defaults filled in. */
    bool enabled[VSIG_ID_END];
    double *values[VSIG_ID_END]; /* for each signal, one value for each entry of def->options */
};

struct vsig_run {
    const struct vsig_def *def;
    struct vsig_subject *subject;
    const struct vsig_options *options;
    struct vsig_verdict *verdict;
};

/* Returns the value of option number `index` of the running signal. */
double vsig_opt(const struct vsig_run *run, unsigned index);

/* Add a finding whose clause is the span of `node`, or of its nearest ancestor with a span. vsig_fire votes, vsig_note
 * does not. The caller may add clauses and facts to the returned finding. Return NULL if the arena is full or
 * VSIG_MAX_FINDINGS is reached; vsig_fire has still voted. */
struct vsig_finding *vsig_fire(struct vsig_run *run, enum vsig_severity severity, const struct sql_node *node,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));
struct vsig_finding *vsig_note(struct vsig_run *run, const struct sql_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void vsig_add_clause(struct vsig_run *run, struct vsig_finding *finding, const struct sql_node *node);
void vsig_add_fact(struct vsig_run *run, struct vsig_finding *finding, const char *key, bool from_data,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));
void vsig_unavailable(struct vsig_run *run, const char *reason);

/* True if notes of this signal report facts of the data, for example that no row has a value. Reports show such notes
 * although they do not vote. */
bool vsig_tells_of_data(enum vsig_id id);

/* Makes every signal unavailable with the reason `why`. vsig_result then fails with the same code, and the statement
 * never runs. Call it before the first vsig_result. */
void vsig_refuse(struct vsig_subject *subject, enum err_code why);
/* Returns the candidate's own result, within the limits of the database handle. The first call runs the statement.
 * Returns NULL and sets subject->result_code if the statement failed. */
const struct db_result *vsig_result(struct vsig_subject *subject);

/* Look up signals and names in the registry. Signal names are unique. Return NULL or -1 for an unknown id or name. */
const struct vsig_def *vsig_by_id(enum vsig_id id);
const struct vsig_def *vsig_by_name(const char *name);
const struct vsig_def *const *vsig_all(unsigned *n); /* in order of ids */
const char *vsig_family_name(enum vsig_family family);
int vsig_family_by_name(const char *name);
const char *vsig_state_name(enum vsig_state state);
const char *vsig_severity_name(enum vsig_severity severity);
const char *vsig_cause_name(enum vsig_cause cause);

/* Returns options with their defaults. Free with vsig_options_free. vsig_options_set changes one setting: the key is
 * "enabled" or the name of an option. It returns ERR_CONFIG if the signal or key is unknown or the value is out of
 * range. If the key is unknown, `err` lists the known keys. */
struct vsig_options *vsig_options_new(void);
/* Adds room for the options of one more definition and sets their defaults. vsig_options_new calls it for all listed
 * definitions, and tests call it for their own. */
void vsig_options_add(struct vsig_options *options, const struct vsig_def *def);
enum err_code vsig_options_set(struct vsig_options *options, const char *signal, const char *key, double value,
                               struct err *err);
void vsig_options_free(struct vsig_options *options);

/* Runs one signal: checks its needs, times it, and turns its error code into a reason. Thread: eval. */
void vsig_run_one(struct vsig_subject *subject, const struct vsig_def *def, const struct vsig_options *options,
                  struct vsig_verdict *verdict);

/* Runs all enabled signals of a family and fills out[id] for them; other entries do not change. Thread: eval. */
void vsig_run_family(struct vsig_subject *subject, enum vsig_family family, const struct vsig_options *options,
                     struct vsig_verdict *out /* VSIG_ID_END entries */);

/* Prepares a subject: parses and binds the query, and analyses the question. `analysis` is that of an earlier candidate
 * of the same request, or NULL. Returns the error of the parser or the binder. In that case, stmt and bound have the
 * parts that were built before the failure. All pointers must outlive the subject. */
struct question;
enum err_code vsig_subject_init(struct vsig_subject *subject, struct arena *arena, const struct schema_index *schema,
                                struct db *db, const char *sql, size_t sql_len, const char *question,
                                const char *evidence, const struct question *analysis);

#endif
