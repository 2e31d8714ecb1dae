/* Internal to lib/question/align*.c. */
#ifndef ASSAY_LIB_QUESTION_ALIGN_INT_H
#define ASSAY_LIB_QUESTION_ALIGN_INT_H

#include "lib/question/align.h"
#include "lib/question/forms.h"
#include "lib/question/frame.h"

enum { ALIGN_MAX_PARTS = 24 };

/* A part of the meaning that an aspect inspects. */
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
    struct align_parts windows, ratios, measures, minuses, divisions, cases, comparisons;
    struct align_parts queries;                       /* subqueries that are used as values */
    const struct meaning *relations[ALIGN_MAX_PARTS]; /* all relations except those of subqueries in terms */
    uint32_t n_relations;
    struct alignment *out;
};

/* Add an item for an agreement or a difference. `element` (may be NULL) requests the part, and `term` (may be NULL)
 * implements it. `says` is stored without a copy. */
void align_agree(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                 const struct meaning_term *term);
void align_differ(struct aligner *a, enum align_aspect aspect, const struct frame_element *element,
                  const struct meaning_term *term, bool certain, const char *says);

const struct frame_element *align_asked(const struct aligner *a, enum frame_kind kind);
/* Returns true if `word` is in the element, or directly before or after it. */
bool align_says(const struct aligner *a, const struct frame_element *element, const char *word);

/* Returns true if align_says is true for any of the n words. */
bool align_says_any(const struct aligner *a, const struct frame_element *element, const char *const *words, size_t n);

bool align_is(const struct meaning_term *term, enum meaning_kind kind, const char *name);
/* Returns align_term_column for the aligner's schema. */
const struct schema_column *align_column(const struct aligner *a, const struct meaning_term *term);
/* Returns true if the column is a key, a reference or a text column. The values of such a column identify entities. */
bool align_names_thing(const struct aligner *a, const struct schema_column *column);
/* Returns true if question_says_text finds the text of a literal in the question. *token gets the first token of that
 * text. */
bool align_said_at(const struct aligner *a, const struct meaning_term *value, uint32_t *token);
/* Returns true if the question has the text as a single word, such as "done". question_says_text may not find such a
 * word. *token gets the token of that word. */
bool align_word_at(const struct aligner *a, const char *text, size_t len, uint32_t *token);
/* Returns true if the values of the term are dates or times. */
bool align_is_date(const struct aligner *a, const struct meaning_term *term);
/* Returns true if a term of the relation is a column of an enclosing relation. */
bool align_is_correlated(const struct meaning *m);

/* A run of tokens of the question, or of its evidence. */
struct align_run {
    const struct text_tokens *tokens;
    uint32_t first, end;
};

/* Returns true if a word of the run is similar to `word`. */
bool align_run_says(const struct align_run *run, const char *word);
/* Returns true if the run says a word of the column's name or of a table that the column references. For a key, a word
 * of its own table's name also counts. */
bool align_run_names(const struct aligner *a, const struct align_run *run, const struct schema_column *column);
/* Returns true if align_run_names is true for the question or its evidence, or if the question mentions the column. */
bool align_names_column(const struct aligner *a, const struct schema_column *column);

/* Returns the order in which the question names two parts: 1 if the first part comes first, -1 if the second part does,
 * 0 if unknown. Words that name both parts equally do not count. */
int align_order_of_terms(const struct aligner *a, const struct meaning_term *first, const struct meaning_term *second);
/* Compares the places of two relations in the question with that of a negation, whose token is `negation`. Returns 1 if
 * the first relation precedes the negation and the second follows it. Returns -1 if the relations are the other way
 * round, and 0 if unknown. */
int align_order_around(const struct aligner *a, const struct meaning *first, const struct meaning *second,
                       uint32_t negation);

/* Returns the row that LAG or LEAD reads, in ascending order of the window's key. The result is -1 for the row before,
 * 1 for the row after, and 0 for other functions. */
int align_step_of(const struct meaning_term *window);

/* The functions of the aspects, each of which adds items. They are in align_window.c, align_measure.c, align_case.c,
 * align_compare.c, align_rows.c and align_unit.c. */
#define X(aspect, look, group, name) void align_##look(struct aligner *a);
ALIGN_ASPECTS(X)
#undef X

#endif
