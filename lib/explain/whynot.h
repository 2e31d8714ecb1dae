/* Internal to why-not: the removable parts of a statement, and the facts about one such condition. */
#ifndef ASSAY_LIB_EXPLAIN_WHYNOT_H
#define ASSAY_LIB_EXPLAIN_WHYNOT_H

#include "lib/explain/trace.h"

enum { WHYNOT_MAX_PARTS = 32 }; /* parts beyond this limit are never removed */

/* A part whose removal may yield a row. Suspicion orders the sets of one size. */
struct whynot_part {
    struct whynot_culprit culprit;
    unsigned innocence; /* small values are tried first */
    bool out;           /* removed in the next probe */
};

struct whynot_parts {
    struct whynot_part list[WHYNOT_MAX_PARTS];
    uint32_t n;
    bool cut; /* there were more */
};

/* Collects all parts below `top`, the statement's root or an arm, the most suspicious first. */
void whynot_collect(struct arena *arena, const struct explain_source *source, const struct sql_node *top,
                    struct whynot_parts *parts);

/* Fills in column, literal, op, written and stored, if the condition compares a column with a literal. */
void whynot_read(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit);
/* Finds the nearest stored values. Numbers take one statement, which is counted in `out`. */
void whynot_nearest(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit,
                    struct whynot *out);

#endif
