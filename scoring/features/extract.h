/* Internal to the feature files: one reading of the candidate against the question.
 *
 * Every function fills its own rows of `out` and leaves the others unchanged; an unknown value stays NAN. Work is
 * bounded by MAX_USED columns, by the question's limits on mentions and values, and by the limits on a statement. */
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
    EXTRACT_MAX_QUESTION_WORDS = 200 /* words of the question that are compared with phrases */,
    EXTRACT_NO_MENTION = UINT16_MAX
};

/* The ways in which a query uses a column. */
enum column_use {
    USE_ANSWER,    /* shows it */
    USE_CONDITION, /* filters by it */
    USE_GROUP,
    USE_ORDER,
    USE_ARGUMENT, /* aggregates it */
    USE_JOIN,     /* joins by it; no evidence of the question's intent */
    USE_COUNT
};

struct used_column {
    const struct schema_column *column;
    const struct sql_node *node; /* NULL if the column comes from a * */
    enum column_use use;
    float score; /* score of its mention, or of the evidence's */
};

/* A literal of a condition, or of LIMIT. */
struct condition_literal {
    const struct sql_node *node;
    const struct schema_column *column; /* column that it is compared with; may be NULL */
    const char *letters;                /* folded, letters and digits alone, wildcards off */
    double number;
    int value;      /* index of the matching value of the question, or -1 */
    uint32_t first; /* token of the question that contains it; UINT32_MAX if none */
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
    uint16_t *mention_of; /* by column id: its best mention; EXTRACT_NO_MENTION */
    bool *reads;          /* by table number */
    struct condition_literal literals[EXTRACT_MAX_LITERALS];
    uint32_t n_literals;
    bool *value_used; /* by value of the question */
    bool *explained;  /* by token of the question: a part of the query explains it */
    bool *covered;    /* by token of the question: a phrase of the explanation has the word */
};

/* Initialises the extraction. Returns false if the arena is full. */
bool extract_init(struct extraction *ex, struct vsig_subject *subject, struct arena *arena, float *out);

/* Returns the score of a column's best mention, the evidence's included; 0 without a mention. */
float extract_column_score(const struct extraction *ex, const struct schema_column *column);
const struct question_mention *extract_best_mention(const struct extraction *ex,
                                                    const struct schema_column *column); /* or NULL */
bool extract_overlaps(const struct question_mention *mention, uint32_t first, uint32_t n_tokens);
/* Returns the tokens between a mention and the nearest cue of these kinds (bits); NAN without such a cue. */
float extract_cue_distance(const struct extraction *ex, const struct question_mention *mention, unsigned kinds);
/* Return the letters and digits of a text, folded (NULL if the arena is full), and compare two of them. */
const char *extract_letters(struct arena *arena, const char *text, size_t len);
bool extract_texts_match(const char *a, const char *b);
void extract_mark_explained(struct extraction *ex, uint32_t first, uint32_t n_tokens);

/* The groups of features, in this order: schema counts the words that values and operators explain. */
bool extract_values(struct extraction *ex);
void extract_value_forms(struct extraction *ex); /* a part of extract_values */
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
void extract_sums(struct extraction *ex); /* sums of all other groups: call it last */
void extract_alignment(struct extraction *ex, const struct explanation *explanation); /* may be NULL */

#endif
