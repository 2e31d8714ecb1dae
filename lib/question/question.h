/* What the question says, read once a request: the ground of the value and question families.
 *
 * Reading goes from certain to guessed: tokens; values; mentions of columns and tables; cues (words that ask for an
 * operator, an aggregate, an order ...); and the requested outputs, the noun phrases that the answer's columns should
 * be. Everything is a hint with its span: signals decide what it is worth. Rules are data: lib/question/cues.c.
 */
#ifndef ASSAY_LIB_QUESTION_QUESTION_H
#define ASSAY_LIB_QUESTION_QUESTION_H

#include "lib/schema/schema.h"
#include "lib/text/lexicon.h"
#include "lib/text/text.h"

enum question_value_kind {
    QUESTION_VALUE_QUOTED,   /* stood in quotes in the question */
    QUESTION_VALUE_NUMBER,   /* 42, 1,000, two, twice */
    QUESTION_VALUE_DATABASE, /* a run of words that the value index knows */
    QUESTION_VALUE_NAME      /* a capitalised run that it does not know */
};

struct question_value {
    enum question_value_kind kind;
    uint32_t start, end;           /* bytes of the question */
    const char *text;              /* as written, quotes off; numbers in canonical form */
    double number;                 /* of QUESTION_VALUE_NUMBER, as it stands: 10 of "ten million" */
    double scaled;                 /* with the scale behind it: 10,000,000; else the number itself */
    uint32_t first, n_tokens;      /* tokens of the question */
    const struct schema_hit *hits; /* columns that hold it; NULL when none */
    uint32_t n_hits;
    bool capital; /* some word of it starts with a capital, the first word of a sentence aside */
    bool spelled; /* a number in words: "one" may as well be a pronoun */
    bool is_name; /* every word of it also names a table or column: "Students" */
};

/* A column or table that words of the question name. */
struct question_mention {
    int table;    /* table number */
    int column;   /* column number in the table, or -1 for the table itself */
    uint32_t id;  /* column id; UINT32_MAX for a table */
    double score; /* 0..1: share of the name's words found, synonyms less */
    bool exact;   /* by their stems alone, no synonym among them */
    /* Of the least certain of its words, what the name's is to the text's: TEXT_RELATION_SAME when exact. The mentions of
     * `struct question` are SAME or, by the hand-made table, SYNONYM; any other kind is among its weak ones only. */
    enum text_relation_kind kind;
    uint32_t first, n_tokens;
};

/* What a cue asks for. `op` of a cue says more: a comparison operator, SQL_ASC / SQL_DESC, or SQL_OP_NONE. */
enum question_cue_kind {
    QUESTION_CUE_IDIOM,    /* nothing: hides shorter cues ("most of", "not only") */
    QUESTION_CUE_COMPARE,  /* op, number */
    QUESTION_CUE_BETWEEN,  /* number, number2; op SQL_OP_GT: the bounds are out, SQL_OP_GE: they are in, NONE: open */
    QUESTION_CUE_COUNT,    /* how many, number of */
    QUESTION_CUE_QUANTITY, /* how much, amount: count or sum or a column */
    QUESTION_CUE_AVERAGE,
    QUESTION_CUE_TOTAL,
    QUESTION_CUE_MAXIMUM,   /* as a value: maximum, highest; op SQL_DESC */
    QUESTION_CUE_MINIMUM,   /* op SQL_ASC */
    QUESTION_CUE_EXTREME,   /* superlative; op SQL_DESC, SQL_ASC, or NONE where the column decides (best, fastest) */
    QUESTION_CUE_FIRST,     /* superlative of time; op as for a date column: oldest ASC, latest DESC */
    QUESTION_CUE_TOP,       /* top 3, number */
    QUESTION_CUE_SORT,      /* sorted by, in order of */
    QUESTION_CUE_DIRECTION, /* ascending, from high to low, alphabetical; op */
    QUESTION_CUE_NOT,
    QUESTION_CUE_BOTH,
    QUESTION_CUE_EITHER, /* either, or */
    QUESTION_CUE_EACH,
    QUESTION_CUE_DISTINCT,
    QUESTION_CUE_RATIO,   /* percentage, ratio, per: a computed number; op SQL_OP_SUB for a difference */
    QUESTION_CUE_MEMBER,  /* who has, in any: a hint that a join filters */
    QUESTION_CUE_NTH,     /* second highest: rank, op */
    QUESTION_CUE_INCLUDE, /* including those without: nothing is dropped for want of a partner */
    QUESTION_CUE_ONLY,    /* only, nothing but */
    QUESTION_CUE_PERIOD,  /* a month or a day of the week (rank), monthly */
    QUESTION_CUE_KINDS
};

struct question_cue {
    enum question_cue_kind kind;
    uint8_t op;   /* enum sql_op */
    bool loose;   /* strict and inclusive operators are both fine: after, over, since */
    bool weak;    /* often means something else */
    bool named;   /* its words are part of a column's name: "max_speed", "total_points" */
    bool never;   /* of a negation: not one (never, none, without any), so a set is left out, not rows */
    bool part;    /* of a negation: not all, not every */
    bool hundred; /* of a ratio: in per cent */
    uint8_t rank; /* second: 2; March: 3; Tuesday: 2; 0: none */
    uint32_t first, n_tokens;
    int number, number2; /* the values it bears on, indices into values; -1 */
    int rows;            /* of a superlative, the number of its noun ("which three ... the most"), likewise */
};

/* A requested output: "names" and "ages" in "the names and ages of all singers". */
struct question_output {
    uint32_t first, n_tokens;
    bool computed; /* holds an aggregate cue: its column need not be named */
    bool entity;   /* names a thing, no column of it: "students" may be answered by a name, an id, or both */
    bool vague;    /* "information", "address": any number of columns */
};

/* A word of the team's own (struct schema_term) in the question. */
struct question_term {
    const struct schema_term *term;
    uint32_t first, n_tokens;
};

/* Columns that one name may mean. */
enum { QUESTION_SIDE_COLUMNS = 4 };
struct question_side {
    uint32_t columns[QUESTION_SIDE_COLUMNS]; /* ids */
    uint32_t n;
};

/* A definition of the evidence: `left op literal`, or left / right, left - right. */
struct question_definition {
    uint32_t start, end; /* bytes of the evidence */
    struct question_side left, right;
    uint8_t op;       /* enum sql_op: a comparison, SQL_OP_DIV, SQL_OP_SUB */
    const char *text; /* of the literal, folded; NULL for / and - */
    double number;
    bool is_number;
    bool is_null; /* op is SQL_OP_EQ or SQL_OP_NE: the column is NULL, or is not */
    bool named;   /* a term stands before the formula */
    bool asked;   /* the question has a word of that term */
};

struct question {
    const char *text;
    const char *evidence_text;   /* as given, and what the terms refer to; NULL: neither */
    struct text_tokens tokens;   /* of the question */
    struct text_tokens evidence; /* of the evidence, n = 0 without one */
    struct question_value *values;
    uint32_t n_values;
    struct question_term *terms;
    uint32_t n_terms;
    struct question_mention *mentions; /* best first within a token span */
    uint32_t n_mentions;
    /* What the lexicon (lib/text/lexicon.h) makes of words that name nothing by themselves: "how populous" for residents,
     * "aerodromes" for airports. Guesses, apart, for what is a matter of degree; in order of the text. */
    struct question_mention *weak;
    uint32_t n_weak;
    const float *weak_score;     /* by column id: the best of `weak`, 0: none */
    const float *column_score;   /* by column id: best mention of that column, 0: none */
    const float *table_score;    /* by table number */
    const float *evidence_score; /* by column id: how well the evidence names it; NULL without evidence */
    struct question_cue *cues;   /* in order of the text, not overlapping */
    uint32_t n_cues;
    uint32_t cue_counts[QUESTION_CUE_KINDS]; /* those that are not `named` */
    unsigned cue_kinds;                      /* bits 1U << kind of all cues, `named` ones too */
    struct question_output *outputs;
    uint32_t n_outputs;
    bool outputs_closed;                     /* the list is complete: so many columns are asked for, no more */
    struct question_definition *definitions; /* of the evidence */
    uint32_t n_definitions;
    bool foreign; /* not in English: there are no cues, and nothing is known of what is asked */
    float embedding[TEXT_DIM];
    const struct question_frame *frame; /* of the calculation (frame.h); NULL if `foreign` */
    const struct link_question *links;  /* for linking queries to its words, see link.h */
    struct wording_words *wording;      /* its words, for a learned score (wording.h) */
    struct question_memo *memo;         /* what was found out for other candidates, see memo.h */
};

/* Analyse. NULL when the arena is full. Bounded: 64 KiB of text, 2,000 tokens, 64 values, 256 mentions and 128 weak ones, 64
 * cues, 16 terms.
 * The question, the index and the arena must outlive the result. Thread: eval. */
const struct question *question_read(struct arena *arena, const struct schema_index *schema, const char *question,
                                     const char *evidence);

/* The first cue of a kind at or after cue `from` that is not `named`; -1: none. */
int question_cue_next(const struct question *question, enum question_cue_kind kind, uint32_t from);
/* Is there a cue of any of these kinds (bits 1U << kind)? */
bool question_cue_any(const struct question *question, unsigned kinds);
/* Does the question or the evidence hold this word (folded, or its stem)? */
bool question_has(const struct question *question, const char *word);

#endif
