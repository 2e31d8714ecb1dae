/* Repair without a model: queries one edit away from a candidate, each with the reason why it may be the one that was meant.
 *
 * A proposal claims nothing: it is judged like any candidate, and takes the old one's place only where that makes it
 * surer by a margin (repair_is_better). Few edits of a wrong query are right, so the reason to believe in one is the judge
 * alone; the order only decides which are looked at when there are too many.
 */
#ifndef ASSAY_REPAIR_PROPOSE_H
#define ASSAY_REPAIR_PROPOSE_H

#include "lib/question/link.h"
#include "lib/sql/diff.h"

/* Part of the query that a finding marks: bytes of its text, and what the finding says. */
struct repair_suspect {
    uint32_t start, end;
    const char *message;
};

struct repair_proposal {
    const char *sql;    /* NUL-terminated, in the arena */
    const char *reason; /* what a suspect says that it changes; NULL: nothing but that it is near */
};

/* A column that an example's queries use, as another schema may have one like it. */
struct repair_column {
    const char *table;
    const char *column; /* NULL: the table alone is used */
    const char *type;   /* as declared; NULL or "": none */
    bool primary_key;
    const char *references; /* the table that it refers to as a foreign key; NULL: none */
};

/* A wrong query, the one that was meant, and what is known of their columns; of a column that is not listed nothing is. */
struct repair_example {
    const char *question; /* NULL: not known */
    const char *wrong, *right;
    const struct repair_column *columns;
    uint32_t n_columns;
};

/* Examples that are looked at, those of them whose queries are taken, and these queries. */
enum { REPAIR_MAX_EXAMPLES = 40, REPAIR_MAX_FITTING = 5, REPAIR_MAX_TRANSFERRED = 12 };
enum { REPAIR_MAX_PROPOSALS = 40, REPAIR_MAX_SUSPECTS = 64 };

/* What is to be repaired, and what proposals may show. */
struct repair_query {
    const char *sql;
    size_t len;
    const struct repair_suspect *suspects;
    uint32_t n_suspects;
    const struct link_query *links;        /* what of the question the query answers; NULL: not known */
    const char *question;                  /* NULL: not known */
    const struct repair_example *examples; /* whose scripts are tried on it, nearest first */
    uint32_t n_examples;                   /* those past REPAIR_MAX_EXAMPLES are left out */
    bool values;                           /* may they hold values of the data? */
    const char *const *deny_columns;       /* "table.column": none of theirs */
    uint32_t n_deny_columns;
};

/* Up to REPAIR_MAX_PROPOSALS: nearest stored values for texts that their column does not hold; what the question says and the
 * query does not; what the scripts of examples make of the query (transfer.h); then single edits, those that change a suspect first,
 * none that drops a text which the question says. Where a name does not bind, other names for it, and the table that has it joined;
 * then the scripts. The same arguments give the same proposals. Count; -1 with `err` set when the SQL does not parse, nothing can be
 * made of a name that does not bind, or memory is short. Thread: any. */
int repair_propose(struct arena *arena, const struct schema_index *schema, const struct repair_query *query,
                   struct repair_proposal **out, struct err *err);

/* May a proposal with P(correct) `after` take the place of a query with `before` (NAN: it was not judged, or does not run)? */
bool repair_is_better(double before, double after, double threshold, double margin);

/* One step from the old query to the new one. */
struct repair_step {
    const char *clause; /* "WHERE", "SELECT list" ... */
    const char *was;    /* its text; NULL: there was nothing */
    const char *now;
};
enum { REPAIR_MAX_STEPS = 16 };

/* The steps from one query to the other, clause by clause, in order of the text; at most REPAIR_MAX_STEPS. Count; -1 when one does
 * not parse or the arena is full. Thread: any. */
int repair_steps(struct arena *arena, const char *before, const char *after, struct repair_step out[REPAIR_MAX_STEPS]);

#endif
