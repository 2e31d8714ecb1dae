/* What the files of the alignment share. */
#ifndef ASSAY_LIB_QUESTION_ALIGN_INT_H
#define ASSAY_LIB_QUESTION_ALIGN_INT_H

#include "lib/question/align.h"
#include "lib/question/forms.h"
#include "lib/question/frame.h"

enum { ALIGN_MAX_PARTS = 24 };

/* A part of the meaning that an aspect looks at. */
struct align_part {
    const struct meaning_term *term;
    const struct meaning *owner;
};

struct align_parts {
    struct align_part items[ALIGN_MAX_PARTS];
    uint32_t n;
};

struct aligner {
    struct arena *arena;
    const struct question *question;
    const struct question_frame *frame;
    const struct schema_index *schema;
    const struct meaning *meaning;
    const struct link_query *links;
    struct align_parts windows, ratios, measures, minuses, cases, comparisons;
    struct align_parts queries;                       /* subqueries that are values */
    const struct meaning *relations[ALIGN_MAX_PARTS]; /* without those of subqueries in terms */
    uint32_t n_relations;
    struct alignment *out;
};

/* Adds an item. `element` (may be NULL): what asks. `term` (may be NULL): where. */
void align_agree(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                 const struct meaning_term *term);
void align_differ(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                  const struct meaning_term *term, bool certain, const char *says);

const struct frame_element *align_asked(const struct aligner *a, enum frame_kind kind);
/* True if a word of the element, or one of the words around it, is `word`. */
bool align_says(const struct aligner *a, const struct frame_element *element, const char *word);

/* True if align_says is true of one of n words. */
bool align_says_any(const struct aligner *a, const struct frame_element *element, const char *const *words, size_t n);

bool align_is(const struct meaning_term *term, enum meaning_kind kind, const char *name);
/* The same as align_term_column. */
const struct schema_column *align_column(const struct aligner *a, const struct meaning_term *term);
/* True for a key, a reference or a text, whose values tell things apart. */
bool align_names_thing(const struct aligner *a, const struct schema_column *column);
/* True if the question says the text of a literal; *token gets where. */
bool align_said_at(const struct aligner *a, const struct meaning_term *value, uint32_t *token);
/* True if the question has the text as a plain word, such as "done"; question_says_text may leave it out. */
bool align_word_at(const struct aligner *a, const char *text, size_t len, uint32_t *token);
/* True if the values of the term are dates or times. */
bool align_is_date(const struct aligner *a, const struct meaning_term *term);
/* True if a term of the relation is a column of an enclosing one. */
bool align_is_correlated(const struct meaning *m);

/* A run of tokens of the question, or of its evidence. */
struct align_run {
    const struct text_tokens *tokens;
    uint32_t first, end;
};

/* True if a word of the run is like `word`. */
bool align_run_says(const struct align_run *run, const char *word);
/* True if the run says a word of the column, or names the thing whose key it is. */
bool align_run_names(const struct aligner *a, const struct align_run *run, const struct schema_column *column);
/* The same of the question with its evidence. */
bool align_names_column(const struct aligner *a, const struct schema_column *column);

/* Says in which order the question names two parts: 1 the first one first, -1 the second one first, 0 unknown. Words
 * of both do not count. */
int align_order_of_terms(const struct aligner *a, const struct meaning_term *first, const struct meaning_term *second);
/* Says on which sides of a negation the question names two relations: 1 the second one behind it, -1 the first one
 * behind it, 0 unknown. `negation` is a token. */
int align_order_around(const struct aligner *a, const struct meaning *first, const struct meaning *second,
                       uint32_t negation);

/* Says which row LAG or LEAD reads: -1 the row before, 1 the row after, 0 neither. */
int align_step_of(const struct meaning_term *window);

/* The aspects: align_window.c, align_measure.c, align_case.c, align_compare.c, align_rows.c,
 * align_unit.c. Each adds items. */
#define X(aspect, look, group, name) void align_##look(struct aligner *a);
ALIGN_ASPECTS(X)
#undef X

#endif
