/* Repair without a model: proposes queries one edit away from a candidate, each with a reason.
 *
 * A proposal makes no claim. It is judged like any candidate, and replaces the old query only if that raises P(correct)
 * by a margin (repair_is_better). Few edits of a wrong query are right, so the judgement alone decides. The order only
 * selects which proposals are judged if there are too many. */
#ifndef ASSAY_REPAIR_PROPOSE_H
#define ASSAY_REPAIR_PROPOSE_H

#include "lib/question/link.h"
#include "lib/sql/diff.h"

/* A part of the query that a finding marks: the bytes of its text, and the finding's message. */
struct repair_suspect {
    uint32_t start, end;
    const char *message;
};

struct repair_proposal {
    const char *sql;    /* NUL-terminated, in the arena */
    const char *reason; /* finding of the suspect that it changes; NULL if it is only near */
};

/* A column that an example's queries use. Another schema may have a similar one. */
struct repair_column {
    const char *table;
    const char *column; /* NULL if only the table is used */
    const char *type;   /* as declared; NULL or "" if unknown */
    bool primary_key;
    const char *references; /* the table that it references as a foreign key; may be NULL */
};

/* A wrong query, its correction, and their known columns. Nothing is known of a column that is not listed. */
struct repair_example {
    const char *question; /* NULL if unknown */
    const char *wrong, *right;
    const struct repair_column *columns;
    uint32_t n_columns;
};

/* Limits: examples that are inspected, examples whose queries are used, and these queries. */
enum { REPAIR_MAX_EXAMPLES = 40, REPAIR_MAX_FITTING = 5, REPAIR_MAX_TRANSFERRED = 12 };
enum { REPAIR_MAX_PROPOSALS = 40, REPAIR_MAX_SUSPECTS = 64 };

/* The query to repair, and the data that proposals may contain. */
struct repair_query {
    const char *sql;
    size_t len;
    const struct repair_suspect *suspects;
    uint32_t n_suspects;
    const struct link_query *links;        /* links between question and query; NULL if unknown */
    const char *question;                  /* NULL if unknown */
    const struct repair_example *examples; /* their scripts are tried on the query, nearest first */
    uint32_t n_examples;                   /* at most REPAIR_MAX_EXAMPLES are used */
    bool values;                           /* true if proposals may contain values of the data */
    const char *const *deny_columns;       /* "table.column" names that proposals must not use */
    uint32_t n_deny_columns;
};

/* Makes up to REPAIR_MAX_PROPOSALS proposals, in this order:
 * - nearest stored values for texts that their column does not hold;
 * - values and columns of the question that the query lacks;
 * - the queries that examples' scripts make of it (transfer.h);
 * - single edits, those of a suspect first; none drops a text that the question says.
 * If a name does not bind, the proposals are other names, joins with the table that has it, and then the scripts. Equal
 * arguments give equal proposals. Returns the count; -1 with `err` if the SQL does not parse, no proposal fits a name
 * that does not bind, or memory runs out. Thread: any. */
int repair_propose(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                   struct repair_proposal **out, struct err *err);

/* True if a proposal with P(correct) `after` may replace a query with `before` (NAN if it was not judged or does not
 * run). */
bool repair_is_better(double before, double after, double threshold, double margin);

/* One step from the old query to the new one. */
struct repair_step {
    const char *clause; /* "WHERE", "SELECT list" ... */
    const char *was;    /* its text; NULL if the clause was absent */
    const char *now;
};
enum { REPAIR_MAX_STEPS = 16 };

/* Lists the steps from one query to the other, clause by clause, in order of the text; at most REPAIR_MAX_STEPS.
 * Returns the count; -1 if a query does not parse or the arena is full. Thread: any. */
int repair_steps(struct arena *arena, const char *before, const char *after, struct repair_step out[REPAIR_MAX_STEPS]);

#endif
