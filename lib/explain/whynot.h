/* Internal to why-not: the removable parts of a statement, and the facts about one such condition. */
#ifndef ASSAY_LIB_EXPLAIN_WHYNOT_H
#define ASSAY_LIB_EXPLAIN_WHYNOT_H

#include "lib/explain/trace.h"

enum { WHYNOT_MAX_PARTS = 32 }; /* parts beyond are never taken out */

/* A condition that may remove all rows. The order of suspicion decides among sets of one size. */
struct whynot_part {
    struct whynot_culprit culprit;
    unsigned innocence; /* small: tried first */
    bool out;           /* taken out in the next probe */
};

struct whynot_parts {
    struct whynot_part list[WHYNOT_MAX_PARTS];
    uint32_t n;
    bool cut; /* there were more */
};

/* All parts below `top`, the statement's root or an arm, the most suspicious first. */
void whynot_collect(struct arena *arena, const struct explain_source *source, const struct sql_node *top,
                    struct whynot_parts *parts);

/* Fill in column, literal, op, written and stored, when the condition compares a column with a literal. */
void whynot_read(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit);
/* The nearest stored values; numbers by a statement of their own, which is counted in out. */
void whynot_nearest(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit,
                    struct whynot *out);

#endif
