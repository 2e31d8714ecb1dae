/* Explains a candidate query in words, and the provenance of one row of its result (CycleSQL paper, §IV-B and §IV-C).
 *
 * Input is an explain_source (lib/explain/provenance.h): the bound statement, the schema index, and optionally the
 * database and the result. Output is a list of phrases, each for one clause or one fact, in two renderings:
 *   - premise: regular, exact and complete, for the verifier. Columns are written table.column, and each operator has
 *     one fixed wording. Every clause is included, so statements of different meaning differ in text.
 *   - prose: readable sentences for people. Names are split into words. Columns have their descriptions if the index
 *     has them.
 *
 * There are two kinds of phrases. Operation-level phrases (`from_data` false) follow from the statement and the schema
 * alone and contain no value of the database. Data-level phrases (`from_data` true) describe rows: counts, stored forms
 * of a literal, the representative row's provenance, the reason of an empty result. explain_operations() is the premise
 * without the data-level phrases.
 *
 * The result is deterministic: the same source and options give the same bytes. Text, phrases, graph and nesting have
 * limits. Longer output is truncated with an ellipsis at a UTF-8 boundary, and `missing` reports it. All text is valid
 * UTF-8 without control characters, whatever the database holds. The arena owns all output. Thread: that of the
 * source's handle. */
#ifndef ASSAY_LIB_EXPLAIN_EXPLAIN_H
#define ASSAY_LIB_EXPLAIN_EXPLAIN_H

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/sql/ast.h"

#include <stdbool.h>
#include <stdint.h>

struct explain_source; /* provenance.h */
struct provenance;     /* provenance.h */
struct whynot;         /* provenance.h */

/* kind, name on the wire, content of the phrase */
#define EXPLAIN_KINDS(X)                                                                                               \
    X(SUMMARY, "summary", "what comes back: columns, kinds of aggregation, number of rows")                            \
    X(SELECT, "select", "one column of the result")                                                                    \
    X(FROM, "from", "what is read, when nothing is joined")                                                            \
    X(JOIN, "join", "how tables are joined: topology, direction and columns, kept and repeated rows")                  \
    X(FILTER, "filter", "one condition of WHERE")                                                                      \
    X(GROUP, "group", "what a group is")                                                                               \
    X(HAVING, "having", "one condition on groups")                                                                     \
    X(ORDER, "order", "in which order")                                                                                \
    X(LIMIT, "limit", "how many rows are kept")                                                                        \
    X(SET, "set", "how two queries are combined")                                                                      \
    X(SUBQUERY, "subquery", "a query inside of the query; its phrases follow, one level deeper")                       \
    X(WHY_NOT, "why_not", "why nothing came back")                                                                     \
    X(STORY, "story", "the representative row and the rows it came from")

enum explain_kind {
#define X(kind, name, text) EXPLAIN_##kind,
    EXPLAIN_KINDS(X)
#undef X
        EXPLAIN_KIND_COUNT
};

/* Return the name of a kind, such as "filter", and its description, such as "one condition of WHERE". Any value is
 * safe. Thread: any. */
const char *explain_kind_name(enum explain_kind kind);
const char *explain_kind_meaning(enum explain_kind kind);

struct explain_phrase {
    enum explain_kind kind;
    bool from_data;              /* true if it contains a count, a value or a fact of the database */
    const char *premise;         /* NUL-terminated, one or more sentences; "" if only the prose has this phrase */
    const char *prose;           /* NUL-terminated, one or more sentences; "" if only the premise has this phrase */
    const struct sql_node *node; /* the described clause or expression; the statement's root for SUMMARY; never NULL */
    uint32_t start, end;         /* span of the node in the statement, in bytes */
    const uint32_t *columns;     /* ids of the schema columns that it names, each once, in order of the text */
    uint32_t n_columns;
    uint32_t depth; /* 0 for the statement itself, 1 for its subqueries, CTEs and derived tables, and so on */
    uint32_t query; /* number of its query: 0 for the statement; others are numbered when they are first mentioned */
    int32_t opened; /* for SUBQUERY: number of the query whose phrases follow; else -1 */
};

/* The provenance graph. Tables have columns, and columns have values, which are those of the representative row's
 * source rows. Annotations attach the operation-level phrases to tables and columns. */
enum explain_node_kind { EXPLAIN_NODE_TABLE, EXPLAIN_NODE_COLUMN, EXPLAIN_NODE_VALUE };
enum explain_edge_kind { EXPLAIN_HAS_ATTRIBUTE, EXPLAIN_HAS_VALUE, EXPLAIN_JOINS };
struct explain_node {
    enum explain_node_kind kind;
    const char *name;        /* name of the table or column, or the value as safe, truncated text */
    uint32_t id;             /* table number, column id, or row of the provenance that holds the value */
    const uint32_t *phrases; /* annotations: indices into the phrases */
    uint32_t n_phrases;
};
struct explain_edge {
    enum explain_edge_kind kind;
    uint32_t from, to;
};
struct explain_graph {
    const struct explain_node *nodes;
    uint32_t n_nodes;
    const struct explain_edge *edges;
    uint32_t n_edges;
};

enum explain_expose {
    EXPLAIN_VALUES, /* single values may be shown: those of the representative row, and stored forms of literals */
    EXPLAIN_ROWS,   /* whole source rows may be shown, too */
    EXPLAIN_NONE,   /* no data may be shown except counts */
};

struct explain_options {
    enum explain_expose expose;
    const char *const *deny_columns; /* "table.column" or "column", compared without case; their values never appear */
    uint32_t n_deny_columns;
    uint32_t max_text; /* maximum bytes of the premise, and of the prose; default 8,192 */
    uint32_t max_rows; /* maximum number of source rows that are narrated; default 3 */
    bool may_probe;    /* true if it may run its own statements: for provenance, why-not, and counts of repeated rows */
};
extern const struct explain_options explain_defaults; /* EXPLAIN_VALUES, no denied columns, and may_probe */

struct explanation {
    const struct explain_phrase *phrases;
    uint32_t n_phrases;
    const char *premise; /* the premises of all phrases, in order, joined with a space */
    const char *prose;   /* the prose of all phrases, joined in the same way */
    const char *missing; /* NULL, or one sentence that names the missing part and the reason; the rest is still valid */
    bool cut;            /* true if something exceeded its limit and was truncated */
    const struct provenance *provenance; /* NULL if there is none */
    const struct whynot *whynot;         /* NULL unless there is no source row and may_probe is true */
    const struct explain_graph *graph;   /* never NULL */
    int64_t ns;                          /* time of the whole explanation */
    int64_t sql_ns;                      /* time spent on its own statements, included in `ns` */
};

/* Explains `source`, whose statement must be bound without diagnostics. A NULL `options` means explain_defaults.
 * Explains as much as possible. If a part cannot be explained, returns ERR_OK, and `missing` names the part. Causes are
 * no database, no result, no FROM, a failed probe, or a statement that is nested too deeply. Returns ERR_LIMIT_MEMORY
 * if the arena is full, and ERR_DEADLINE or ERR_CANCELLED of the handle. */
enum err_code explain_query(struct arena *arena, const struct explain_source *source,
                            const struct explain_options *options, struct explanation **out, struct err *err);

/* Returns the premise without data-level phrases. It is the same for every database with this schema. Returns NULL if
 * the arena is full. */
const char *explain_operations(struct arena *arena, const struct explanation *explanation);

#endif
