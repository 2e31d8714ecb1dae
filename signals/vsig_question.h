/* What the question says, read once a request: the ground of the value and question families. */
#ifndef ASSAY_SIGNALS_VSIG_QUESTION_H
#define ASSAY_SIGNALS_VSIG_QUESTION_H

#include "lib/schema/schema.h"
#include "lib/text/text.h"

enum vsig_value_kind {
    VSIG_VALUE_QUOTED,   /* stood in quotes in the question */
    VSIG_VALUE_NUMBER,   /* 42, 1,000, two */
    VSIG_VALUE_DATABASE, /* a run of words that the value index knows */
    VSIG_VALUE_NAME      /* a capitalised run that it does not know */
};

struct vsig_value {
    enum vsig_value_kind kind;
    uint32_t start, end;    /* bytes of the question */
    const char *text;       /* as written, quotes off; numbers in canonical form */
    uint32_t first, n_tokens; /* tokens of the question */
    const struct schema_hit *hits; /* columns that hold it; NULL when none */
    uint32_t n_hits;
};

/* A column or table that words of the question name. */
struct vsig_mention {
    int table;      /* table number */
    int column;     /* column number in the table, or -1 for the table itself */
    double score;   /* 0..1: share of the name's words found, synonyms less */
    uint32_t first, n_tokens;
};

struct vsig_question {
    const char *text;
    struct text_tokens tokens;   /* of the question */
    struct text_tokens evidence; /* of the evidence, n = 0 without one */
    struct vsig_value *values;
    uint32_t n_values;
    struct vsig_mention *mentions; /* best first within a token span */
    uint32_t n_mentions;
    float embedding[TEXT_DIM];
};

/* Analyse. NULL when the arena is full. Bounded: 64 KiB of text, 2,000 tokens, 64 values, 256 mentions. */
const struct vsig_question *vsig_question_read(struct arena *arena, const struct schema_index *schema,
                                               const char *question, const char *evidence);

#endif
