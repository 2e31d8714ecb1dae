/* The frame of a question: requests about the calculation beyond its cues (question.h). Examples are running totals,
 * earlier and later values, ties, entities without related rows, and shares.
 *
 * The rules are patterns of words, the rows of lib/question/frame_rows.h. An element says that the words make such a
 * request. It does not say for which column: lib/question/align.h compares the elements with the meaning of a query. */
#ifndef ASSAY_LIB_QUESTION_FRAME_H
#define ASSAY_LIB_QUESTION_FRAME_H

#include "lib/question/question.h"

/* the kind of an element, and its name in dumps */
#define FRAME_KINDS(X)                                                                                                 \
    X(IDIOM, "idiom")               /* no request: hides the words from other rows */                                  \
    X(RUNNING, "running")           /* a total that grows from row to row */                                           \
    X(RESTART, "restart")           /* the running total begins again for each period or group */                      \
    X(MOVING, "moving")             /* a value over the last rows or periods; `number` is how many */                  \
    X(PREVIOUS, "previous")         /* the value of the previous row, event or period */                               \
    X(NEXT, "next")                 /* the value of the next row, event or period */                                   \
    X(OWN, "own")                   /* a comparison within the group of the row */                                     \
    X(OVERALL, "overall")           /* a comparison with all rows together */                                          \
    X(ZEROS, "zeros")               /* entities without related rows are shown */                                      \
    X(NO_ZEROS, "no_zeros")         /* entities without related rows may be left out */                                \
    X(AS_ZERO, "as_zero")           /* a missing value counts as 0 */                                                  \
    X(SKIP_MISSING, "skip_missing") /* a missing value is excluded from the calculation */                             \
    X(TIES, "ties")                 /* all tied rows are shown */                                                      \
    X(ONE, "one")                   /* one row is shown, even if several tie */                                        \
    X(GAPS, "gaps")                 /* ranks after ties are skipped: 1, 1, 3 */                                        \
    X(NO_GAPS, "no_gaps")           /* ranks after ties are not skipped: 1, 1, 2 */                                    \
    X(POOLED, "pooled")             /* a ratio of totals */                                                            \
    X(MEAN_EACH, "mean_each")       /* an average of the values of each entity */                                      \
    X(SHARE, "share")               /* a part of a whole */                                                            \
    X(CHANGE, "change")             /* growth since an earlier period, relative to that period */                      \
    X(DIFFERENCE, "difference")     /* one amount minus another */                                                     \
    X(NEGATIVE, "negative")         /* an amount counts with the opposite sign */                                      \
    X(IN_ORDER, "in_order")         /* the columns follow the order of the words */                                    \
    X(LATE, "late")                 /* something happened after the planned time */                                    \
    X(EARLY, "early")               /* something happened at or before the planned time */                             \
    X(REPEATS, "repeats")           /* each occurrence counts, even if an equal one was counted already */             \
    X(KEPT, "kept")                 /* the rows that precede the words count, too: "drafts too" */                     \
    X(ANY, "any")                   /* the kind that follows the words does not matter: "any status" */                \
    X(LEFT_OUT, "left_out")         /* the rows that precede the words do not count: "drafts excluded" */              \
    X(EXCEPT, "except")             /* the rows that follow the words do not count: "except drafts" */

enum frame_kind {
#define X(kind, name) FRAME_##kind,
    FRAME_KINDS(X)
#undef X
        FRAME_KIND_COUNT
};

struct frame_element {
    enum frame_kind kind;
    uint32_t first, n_tokens; /* tokens of the question */
    int number;               /* index of a number in the question's values, or -1 */
};

enum { FRAME_MAX_ELEMENTS = 32 };

struct question_frame {
    struct frame_element elements[FRAME_MAX_ELEMENTS]; /* in the order of the question, without overlap */
    uint32_t n;
    unsigned kinds; /* bits 1U << kind of all elements */
};

/* Reads the frame of a question. The question's values must have been read before. Ignores elements beyond
 * FRAME_MAX_ELEMENTS. Returns NULL if the arena is full. Thread: any. */
const struct question_frame *frame_read(struct arena *arena, const struct question *question);

/* Returns the first element of a kind; NULL if there is none or `frame` is NULL. Thread: any. */
const struct frame_element *frame_find(const struct question_frame *frame, enum frame_kind kind);

const char *frame_kind_name(enum frame_kind kind);

#endif
