/* What the feature files share: one reading of the candidate in the question's terms.
 *
 * Every function fills its own rows of `out` and leaves the rest alone; what it cannot know it leaves NAN. Work is
 * bounded by MAX_USED columns, by the question's caps on mentions and values, and by the caps on a statement. */
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
    EXTRACT_MAX_QUESTION_WORDS = 200 /* words of the question that are held against phrases */,
    EXTRACT_NO_MENTION = UINT16_MAX
};

/* What a query does with a column. */
enum column_use {
    USE_ANSWER,    /* shows it */
    USE_CONDITION, /* filters by it */
    USE_GROUP,
    USE_ORDER,
    USE_ARGUMENT, /* aggregates it */
    USE_JOIN,     /* joins by it: says nothing about what the question asks for */
    USE_COUNT
};

struct used_column {
    const struct schema_column *column;
    const struct sql_node *node; /* NULL: from a * */
    enum column_use use;
    float score; /* of its mention, or of the evidence's */
};

/* A literal of a condition, or of LIMIT. */
struct condition_literal {
    const struct sql_node *node;
    const struct schema_column *column; /* it is compared with; NULL */
    const char *letters;                /* folded, letters and digits alone, wildcards off */
    double number;
    int value;      /* the question's value that it is; -1 */
    uint32_t first; /* token of the question where it stands; UINT32_MAX: nowhere */
    bool is_number, in_limit, pattern;
};

struct extraction {
    struct vsig_subject *subject;
    const struct schema_index *schema;
    const struct question *question; /* NULL: no question */
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
    bool *explained;  /* by token of the question: something in the query answers for it */
    bool *covered;    /* likewise: some phrase of the explanation has the word */
};

/* False when the arena is full. */
bool extract_init(struct extraction *ex, struct vsig_subject *subject, struct arena *arena, float *out);

/* Score of a column's best mention, the evidence's included; 0: none. */
float extract_column_score(const struct extraction *ex, const struct schema_column *column);
const struct question_mention *extract_best_mention(const struct extraction *ex,
                                                    const struct schema_column *column); /* or NULL */
bool extract_overlaps(const struct question_mention *mention, uint32_t first, uint32_t n_tokens);
/* Tokens between a mention and the nearest cue of these kinds (bits); NAN: no such cue. */
float extract_cue_distance(const struct extraction *ex, const struct question_mention *mention, unsigned kinds);
/* Letters and digits of a text, folded; NULL when the arena is full. Do two of them mean the same? */
const char *extract_letters(struct arena *arena, const char *text, size_t len);
bool extract_texts_match(const char *a, const char *b);
void extract_mark_explained(struct extraction *ex, uint32_t first, uint32_t n_tokens);

/* The groups of features, in this order: values and operators explain words that schema counts. */
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
void extract_sums(struct extraction *ex); /* over what all others found: last */
void extract_alignment(struct extraction *ex, const struct explanation *explanation); /* NULL: nothing */

#endif
