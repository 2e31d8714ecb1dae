/* Internal to the feature files: the data of a candidate and its question that all groups of features share.
 *
 * Every extract_* function of a group sets its own elements of `out` and leaves the others unchanged. An unknown value
 * stays NAN. Work is bounded by EXTRACT_MAX_USED columns, by the question's limits on mentions and values, and by the
 * limits on a statement. */
#ifndef ASSAY_SCORING_FEATURES_EXTRACT_H
#define ASSAY_SCORING_FEATURES_EXTRACT_H

#include "lib/question/question.h"
#include "scoring/features/features.h"
#include "signals/support/query.h"
#include "signals/support/shape.h"

enum {
    EXTRACT_MAX_USED = 256,
    EXTRACT_MAX_LITERALS = 64,
    EXTRACT_MAX_OUTPUTS = 32,
    EXTRACT_MAX_QUESTION_WORDS = 200 /* maximum number of words of the question that are compared with phrases */,
    EXTRACT_NO_MENTION = UINT16_MAX
};

/* The ways in which a query uses a column. */
enum column_use {
    USE_ANSWER,    /* returns it */
    USE_CONDITION, /* filters by it */
    USE_GROUP,
    USE_ORDER,
    USE_ARGUMENT, /* aggregates it */
    USE_JOIN,     /* joins by it, which is no evidence of the question's intent */
    USE_COUNT
};

struct used_column {
    const struct schema_column *column;
    const struct sql_node *node; /* NULL if the column comes from a * */
    enum column_use use;
    float score; /* score of the column's best mention in the question or the evidence */
};

/* A literal in a condition or in LIMIT. */
struct condition_literal {
    const struct sql_node *node;
    const struct schema_column *column; /* column that the literal is compared with; may be NULL */
    const char *letters;                /* folded text, only letters and digits, without wildcards */
    double number;
    int value;      /* index of the matching value in the question, or -1 */
    uint32_t first; /* first token of the question that contains the literal; UINT32_MAX if none */
    bool is_number, in_limit, pattern;
};

struct extraction {
    struct vsig_subject *subject;
    const struct schema_index *schema;
    const struct question *question; /* NULL without a question */
    const struct vsig_shape *shape;
    const struct sql_block *answer; /* NULL for VALUES */
    struct query_view view;
    struct arena *arena;
    float *out;
    struct used_column used[EXTRACT_MAX_USED];
    uint32_t n_used;
    uint8_t *uses;        /* by column id: bits 1 << enum column_use */
    uint16_t *mention_of; /* by column id: index of its best mention, or EXTRACT_NO_MENTION */
    bool *reads;          /* by table number: the query reads the table */
    struct condition_literal literals[EXTRACT_MAX_LITERALS];
    uint32_t n_literals;
    bool *value_used; /* by value of the question: the query uses the value */
    bool *explained;  /* by token of the question: a part of the query explains the token */
    bool *covered;    /* by token of the question: a phrase of the explanation has the word */
};

/* Initialises the extraction. Returns false if the arena is full. */
bool extract_init(struct extraction *ex, struct vsig_subject *subject, struct arena *arena, float *out);

/* Returns the score of a column's best mention in the question or the evidence. Returns 0 without a mention. */
float extract_column_score(const struct extraction *ex, const struct schema_column *column);
const struct question_mention *extract_best_mention(const struct extraction *ex,
                                                    const struct schema_column *column); /* NULL if there is none */
bool extract_overlaps(const struct question_mention *mention, uint32_t first, uint32_t n_tokens);
/* Returns the number of tokens between a mention and the nearest cue. `kinds` is a bit set of cue kinds. Returns NAN if
 * there is no such cue. */
float extract_cue_distance(const struct extraction *ex, const struct question_mention *mention, unsigned kinds);
/* extract_letters returns the folded letters and digits of a text, or NULL if the arena is full. extract_texts_match
 * compares two results of extract_letters. */
const char *extract_letters(struct arena *arena, const char *text, size_t len);
bool extract_texts_match(const char *a, const char *b);
void extract_mark_explained(struct extraction *ex, uint32_t first, uint32_t n_tokens);

/* Groups of features, in the order of the calls. extract_schema comes after extract_values and extract_operators,
 * because it counts the words that they mark as explained. */
bool extract_values(struct extraction *ex);
void extract_value_forms(struct extraction *ex); /* called by extract_values */
void extract_operators(struct extraction *ex);
void extract_asked(struct extraction *ex);
void extract_schema(struct extraction *ex);
void extract_result(struct extraction *ex);
void extract_joins(struct extraction *ex);
void extract_logic(struct extraction *ex);
void extract_measure(struct extraction *ex);
void extract_links(struct extraction *ex);
void extract_formulas(struct extraction *ex);
void extract_entity(struct extraction *ex);
void extract_nulls(struct extraction *ex);
void extract_meaning(struct extraction *ex);
void extract_sums(struct extraction *ex); /* sums over all other groups; call it last */
void extract_alignment(struct extraction *ex, const struct explanation *explanation); /* `explanation` may be NULL */

#endif
