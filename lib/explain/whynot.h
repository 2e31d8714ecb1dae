/* Internal to why-not: the removable parts of a statement, and facts about the conditions among them. */
#ifndef ASSAY_LIB_EXPLAIN_WHYNOT_H
#define ASSAY_LIB_EXPLAIN_WHYNOT_H

#include "lib/explain/trace.h"

enum { WHYNOT_MAX_PARTS = 32 }; /* removable parts; further ones are never removed */

/* A part whose removal may yield a row. Among sets of the same size, those with the most suspicious parts are tried
 * first. */
struct whynot_part {
    struct whynot_culprit culprit;
    unsigned innocence; /* reverse of suspicion: parts with small values are tried first */
    bool out;           /* true if the part is removed in the next probe */
};

struct whynot_parts {
    struct whynot_part list[WHYNOT_MAX_PARTS];
    uint32_t n;
    bool cut; /* true if there were more parts */
};

/* Collects the removable parts below `top`, which is the statement's root or an arm. The most suspicious parts come
 * first. */
void whynot_collect(struct arena *arena, const struct explain_source *source, const struct sql_node *top,
                    struct whynot_parts *parts);

/* Fills in column, literal, op, written and stored, if the condition compares a column with a literal. */
void whynot_read(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit);
/* Finds the stored values nearest to the literal. For a number it runs one statement, which is counted in `out`. */
void whynot_nearest(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit,
                    struct whynot *out);

#endif
