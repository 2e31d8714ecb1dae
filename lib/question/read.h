/* The steps of question_read. Each fills its part of `out` and returns false if the arena is full. The declarations are
 * in the order of the calls. */
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

bool read_terms(struct reader *reader, const char *evidence); /* fills terms and evidence_text; needs the tokens */
bool read_mentions(struct reader *reader);    /* fills mentions, weak and the scores by column and table */
bool read_values(struct reader *reader);      /* fills values; needs mentions */
bool read_definitions(struct reader *reader); /* fills definitions, from the evidence */
bool read_cues(struct reader *reader);        /* fills cues; needs values and mentions */
bool read_outputs(struct reader *reader);     /* fills outputs; needs cues */

/* Returns the best mention of a column (if want_column) or of a table whose span covers the token. Returns NULL if
 * there is none. */
const struct question_mention *read_mention_at(const struct question *question, uint32_t token, bool want_column);

#endif
