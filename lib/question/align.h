/* Aligns the frame of a question (frame.h) with the meaning of a query (lib/meaning/meaning.h).
 *
 * DESIGN. Each aspect is a row of ALIGN_ASPECTS. Its function inspects one kind of element, such as running totals. For
 * each part of the query, it adds an item: the part agrees with the question, or differs from it. It adds no item if it
 * cannot decide. So an unknown part of a meaning never counts as agreement.
 *
 * Signals turn differences into findings. Features count agreements and differences. */
#ifndef ASSAY_LIB_QUESTION_ALIGN_H
#define ASSAY_LIB_QUESTION_ALIGN_H

#include "lib/meaning/meaning.h"
#include "lib/question/link.h"

struct frame_element;

/* the aspect, the suffix of its function align_..., its group, its name */
#define ALIGN_ASPECTS(X)                                                                                               \
    X(RUNNING, running, WINDOW, "running total")                                                                       \
    X(RESTART, restart, WINDOW, "restart of a running total")                                                          \
    X(MOVING, moving, WINDOW, "rows of a moving window")                                                               \
    X(STEP, step, WINDOW, "previous or next row")                                                                      \
    X(PARTITION, partition, WINDOW, "own group or all rows")                                                           \
    X(TIES, ties, WINDOW, "ties")                                                                                      \
    X(FIRST, first, WINDOW, "first or last row")                                                                       \
    X(MISSING, missing, CALCULATION, "missing values in an average")                                                   \
    X(LEVEL, level, CALCULATION, "ratio of totals or average of ratios")                                               \
    X(WHOLE, whole, CALCULATION, "whole of a share")                                                                   \
    X(COMPLEMENT, complement, CALCULATION, "part of a share")                                                          \
    X(BASE, base, CALCULATION, "base of a change")                                                                     \
    X(SIDES, sides, CALCULATION, "sides of a difference")                                                              \
    X(DISTINCT, distinct, CALCULATION, "different things")                                                             \
    X(NULLS, nulls, CALCULATION, "rows without a value")                                                               \
    X(REPEATS, repeats, CALCULATION, "rows that UNION drops")                                                          \
    X(SIGN, sign, CALCULATION, "sign of an amount")                                                                    \
    X(COLUMNS, columns, CALCULATION, "order and names of columns")                                                     \
    X(DIRECTION, direction, CALCULATION, "direction of a comparison")                                                  \
    X(ROWS, rows, CALCULATION, "rows that count")                                                                      \
    X(UNIT, unit, UNITS, "unit of an amount")

enum align_aspect {
#define X(aspect, look, group, name) ALIGN_##aspect,
    ALIGN_ASPECTS(X)
#undef X
        ALIGN_ASPECT_COUNT
};

enum align_group { ALIGN_WINDOW, ALIGN_CALCULATION, ALIGN_UNITS };

struct align_item {
    enum align_aspect aspect;
    bool agrees;
    bool certain;             /* true if only a wrong query has this difference; false if a right query may have it,
                               * too */
    uint32_t first, n_tokens; /* tokens of the question; n_tokens is 0 if no words request the part */
    uint32_t start, end;      /* bytes of the statement; both are 0 if no part implements the request */
    const char *says;         /* one sentence that describes a difference to the user; NULL for an agreement */
};

enum { ALIGN_MAX_ITEMS = 32 };

struct alignment {
    struct align_item items[ALIGN_MAX_ITEMS];
    uint32_t n;
};

/* Aligns a question with a meaning. `links` (may be NULL) gives the words that name each part. Ignores items beyond
 * ALIGN_MAX_ITEMS. Returns NULL if the arena is full. Returns no items if the question has no frame or `meaning` is
 * NULL. Thread: eval. */
const struct alignment *align_make(struct arena *arena, const struct question *question,
                                   const struct schema_index *schema, const struct meaning *meaning,
                                   const struct link_query *links);

/* Returns the column of a term; NULL if it is not a column of a table in the schema. Thread: any. */
const struct schema_column *align_term_column(const struct schema_index *schema, const struct meaning_term *term);

/* Returns true if the alignment has an item for the element: some part of the query agrees with it or differs from
 * it. */
bool align_has_item(const struct alignment *alignment, const struct frame_element *element);

enum align_group align_group(enum align_aspect aspect);
const char *align_aspect_name(enum align_aspect aspect);

#endif
