/* The steps of question_read, in order. Each fills its part of `out`; false: the arena is full. */
#ifndef ASSAY_LIB_QUESTION_READ_H
#define ASSAY_LIB_QUESTION_READ_H

#include "lib/question/question.h"

enum {
    READ_MAX_TOKENS = 2000,
    READ_MAX_VALUES = 64,
    READ_MAX_MENTIONS = 256,
    READ_MAX_WEAK = 128,
    READ_MAX_CUES = 64,
    READ_MAX_TERMS = 16,
    READ_MAX_OUTPUTS = 16,
    READ_MAX_DEFINITIONS = 16,
};

struct reader {
    struct arena *arena;
    const struct schema_index *schema;
    struct question *out;
};

bool read_terms(struct reader *reader, const char *evidence); /* terms, evidence_text; needs the tokens */
bool read_mentions(struct reader *reader); /* mentions, weak, column_score, weak_score, table_score, evidence_score */
bool read_values(struct reader *reader);   /* values; needs mentions */
bool read_definitions(struct reader *reader); /* definitions of the evidence */
bool read_cues(struct reader *reader);        /* cues; needs values and mentions */
bool read_outputs(struct reader *reader);     /* outputs; needs cues */

/* Best mention whose span covers the token, of a column (want_column) or a table; NULL. */
const struct question_mention *read_mention_at(const struct question *question, uint32_t token, bool want_column);

#endif
