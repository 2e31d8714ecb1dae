/* Repair without a language model: proposes queries that are one edit away from a candidate, each with a reason.
 *
 * A proposal need not be correct. It is judged like any candidate, and replaces the old query only if P(correct) rises
 * by a margin (repair_is_better). Most edits of a wrong query are wrong too, so only the judgement decides. If there
 * are too many proposals, their order selects the ones that are judged. */
#ifndef ASSAY_REPAIR_PROPOSE_H
#define ASSAY_REPAIR_PROPOSE_H

#include "lib/question/link.h"
#include "lib/sql/diff.h"

/* A part of the query that a finding marks: its byte range and the finding's message. */
struct repair_suspect {
    uint32_t start, end;
    const char *message;
};

struct repair_proposal {
    const char *sql; /* NUL-terminated, in the arena */
    /* Message of the suspect that the proposal changes. NULL if the proposal changes no suspect. */
    const char *reason;
};

/* A column that the queries of an example use. The target's schema may have a similar one. */
struct repair_column {
    const char *table;
    const char *column; /* NULL if only the table is used */
    const char *type;   /* as declared; NULL or "" if unknown */
    bool primary_key;
    const char *references; /* table that the column references as a foreign key; may be NULL */
};

/* A wrong query, its correction, and the known columns of both. A column that is not listed is unknown. */
struct repair_example {
    const char *question; /* NULL if unknown */
    const char *wrong, *right;
    const struct repair_column *columns;
    uint32_t n_columns;
};

/* Maximum numbers of examples that are tried, of examples whose scripts fit, and of queries from these scripts. */
enum { REPAIR_MAX_EXAMPLES = 40, REPAIR_MAX_FITTING = 5, REPAIR_MAX_TRANSFERRED = 12 };
enum { REPAIR_MAX_PROPOSALS = 40, REPAIR_MAX_SUSPECTS = 64 };

/* The query to repair, and the data that proposals may contain. */
struct repair_query {
    const char *sql;
    size_t len;
    const struct repair_suspect *suspects;
    uint32_t n_suspects;
    const struct link_query *links;        /* links between question and query (lib/question/link.h); NULL if unknown */
    const char *question;                  /* NULL if unknown */
    const struct repair_example *examples; /* examples whose edit scripts are tried on the query, nearest first */
    uint32_t n_examples;                   /* only the first REPAIR_MAX_EXAMPLES are used */
    bool values;                           /* true if proposals may contain values of the data */
    const char *const *deny_columns;       /* "table.column" names that proposals must not use */
    uint32_t n_deny_columns;
};

/* Creates up to REPAIR_MAX_PROPOSALS proposals, in this order:
 * - nearest stored values for texts that their column does not hold;
 * - values and columns that the question names and the query lacks;
 * - queries from the edit scripts of examples (transfer.h);
 * - single edits, first those of a suspect; none removes a text that the question contains.
 * If a name does not bind, the proposals are instead other names, joins with the table that has the name, and then the
 * scripts. Equal arguments give equal proposals. Returns their number. Returns -1 with `err` if the SQL does not parse,
 * a name does not bind and no proposal repairs it, or memory runs out. Thread: any. */
int repair_propose(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                   struct repair_proposal **out, struct err *err);

/* True if a proposal with P(correct) `after` may replace a query with P(correct) `before`. `before` is NAN if the query
 * was not judged or does not run. */
bool repair_is_better(double before, double after, double threshold, double margin);

/* One difference between the old query and the new one. */
struct repair_step {
    const char *clause; /* "WHERE", "SELECT list" ... */
    const char *was;    /* text of the clause in the old query; NULL if it had none */
    const char *now;
};
enum { REPAIR_MAX_STEPS = 16 };

/* Lists the steps from one query to the other, clause by clause, in the order of the text. Returns their number, at
 * most REPAIR_MAX_STEPS. Returns -1 if a query does not parse or the arena is full. Thread: any. */
int repair_steps(struct arena *arena, const char *before, const char *after, struct repair_step out[REPAIR_MAX_STEPS]);

#endif
