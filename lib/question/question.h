/* The analysis of a question, made once for each request. The value and question signal families are built on it.
 *
 * question_read runs from certain facts to guesses:
 * - tokens;
 * - values;
 * - mentions of columns and tables;
 * - cues: words that ask for an operator, an aggregate, an order and so on;
 * - requested outputs: the noun phrases that name the columns of the answer.
 *
 * Each item is a hint with its span. The signals decide how much it is worth. The rules are data:
 * lib/question/cues.c. */
#ifndef ASSAY_LIB_QUESTION_QUESTION_H
#define ASSAY_LIB_QUESTION_QUESTION_H

#include "lib/schema/schema.h"
#include "lib/text/lexicon.h"
#include "lib/text/text.h"

enum question_value_kind {
    QUESTION_VALUE_QUOTED,   /* in quotes in the question */
    QUESTION_VALUE_NUMBER,   /* 42, 1,000, two, twice */
    QUESTION_VALUE_DATABASE, /* a run of words that the value index holds */
    QUESTION_VALUE_NAME      /* a capitalised run that the value index does not hold */
};

struct question_value {
    enum question_value_kind kind;
    uint32_t start, end;           /* bytes of the question */
    const char *text;              /* the value as written, without quotes; a number in canonical form */
    double number;                 /* value of a QUESTION_VALUE_NUMBER without its scale: 10 for "ten million" */
    double scaled;                 /* `number` times the scale word that follows: 10,000,000; equal to `number` without
                                    * a scale word */
    uint32_t first, n_tokens;      /* tokens of the question */
    const struct schema_hit *hits; /* columns that hold the value; NULL if none */
    uint32_t n_hits;
    bool capital; /* true if the value is quoted, has a number, or has a capital that does not begin a sentence */
    bool spelled; /* true for a number in words; "one" may also be a pronoun */
    bool is_name; /* true if each word also names a table or column: "Students" */
};

/* A column or table that words of the question name. */
struct question_mention {
    int table;    /* table number */
    int column;   /* column number in the table; -1 for the table itself */
    uint32_t id;  /* column id; UINT32_MAX for a table */
    double score; /* 0..1: share of the name's words that were found; synonyms count less */
    bool exact;   /* true if all its words matched by stem, and none as a synonym */
    /* How the least certain matched word of the text relates to its word of the name. It is TEXT_RELATION_SAME if
     * `exact`. In `mentions` of `struct question` it is SAME, or SYNONYM by the hand-made table. Only `weak` has other
     * kinds. */
    enum text_relation_kind kind;
    uint32_t first, n_tokens;
};

/* The purpose of a cue. The cue's `op` is a comparison operator, SQL_ASC or SQL_DESC where stated, and otherwise
 * SQL_OP_NONE. */
enum question_cue_kind {
    QUESTION_CUE_IDIOM,    /* no purpose; prevents matches of shorter cues in its words ("most of", "not only") */
    QUESTION_CUE_COMPARE,  /* has op and number */
    QUESTION_CUE_BETWEEN,  /* has number and number2; op SQL_OP_GT excludes the bounds, SQL_OP_GE includes them */
    QUESTION_CUE_COUNT,    /* how many, number of */
    QUESTION_CUE_QUANTITY, /* how much, amount: asks for a count, a sum or a column */
    QUESTION_CUE_AVERAGE,
    QUESTION_CUE_TOTAL,
    QUESTION_CUE_MAXIMUM,   /* a value: maximum, highest; op SQL_DESC */
    QUESTION_CUE_MINIMUM,   /* op SQL_ASC */
    QUESTION_CUE_EXTREME,   /* superlative; op SQL_DESC or SQL_ASC; SQL_OP_NONE if the column decides the direction
                             * (best, fastest) */
    QUESTION_CUE_FIRST,     /* superlative of time; op of the order by a date column: oldest is SQL_ASC, latest is
                             * SQL_DESC */
    QUESTION_CUE_TOP,       /* top 3; has number */
    QUESTION_CUE_SORT,      /* sorted by, in order of */
    QUESTION_CUE_DIRECTION, /* ascending, from high to low, alphabetical; has op */
    QUESTION_CUE_NOT,
    QUESTION_CUE_BOTH,
    QUESTION_CUE_EITHER, /* either, or */
    QUESTION_CUE_EACH,
    QUESTION_CUE_DISTINCT,
    QUESTION_CUE_RATIO,   /* percentage, ratio, per: a computed number; op SQL_OP_SUB for a difference */
    QUESTION_CUE_MEMBER,  /* who has, in any: suggests that a join only filters rows */
    QUESTION_CUE_NTH,     /* second highest; has rank and op */
    QUESTION_CUE_INCLUDE, /* including those without: rows without a partner are kept */
    QUESTION_CUE_ONLY,    /* only, nothing but */
    QUESTION_CUE_PERIOD,  /* a month or a day of the week (with rank), monthly */
    QUESTION_CUE_KINDS
};

struct question_cue {
    enum question_cue_kind kind;
    uint8_t op;   /* enum sql_op */
    bool loose;   /* true if both a strict and an inclusive operator fit: after, over, since */
    bool weak;    /* true if its words often have another meaning */
    bool named;   /* true if its words are part of a column's name: "max_speed", "total_points" */
    bool never;   /* for a negation: true if it means "not one" (never, none, without any) and so excludes entities
                   * instead of rows */
    bool part;    /* for a negation: true if it means "not all" or "not every" */
    bool hundred; /* for a ratio: true if it is in per cent */
    uint8_t rank; /* 2 for "second", 3 for March, 2 for Tuesday; 0 without a rank */
    uint32_t first, n_tokens;
    int number, number2; /* indices into `values` of its numbers, or -1 */
    int rows;            /* for a superlative: index into `values` of the number of its noun ("which three ... the
                          * most"), or -1 */
};

/* A requested output: "names" and "ages" in "the names and ages of all singers". */
struct question_output {
    uint32_t first, n_tokens;
    bool computed; /* true if it contains an aggregate cue; the question then need not name its column */
    bool entity;   /* true if it names an entity but no column: a name, an id or both may answer "students" */
    bool vague;    /* true if any number of columns may answer: "information", "address" */
};

/* A term of the team (struct schema_term) in the question. */
struct question_term {
    const struct schema_term *term;
    uint32_t first, n_tokens;
};

/* The columns that one name of a definition may mean. */
enum { QUESTION_SIDE_COLUMNS = 4 };
struct question_side {
    uint32_t columns[QUESTION_SIDE_COLUMNS]; /* column ids */
    uint32_t n;
};

/* A definition in the evidence: `left op literal`, left / right, or left - right. */
struct question_definition {
    uint32_t start, end; /* bytes of the evidence */
    struct question_side left, right;
    uint8_t op;       /* enum sql_op: a comparison, SQL_OP_DIV or SQL_OP_SUB */
    const char *text; /* the literal, folded; NULL for / and - */
    double number;
    bool is_number;
    bool is_null; /* true for IS NULL (op SQL_OP_EQ) and IS NOT NULL (op SQL_OP_NE) */
    bool named;   /* true if the formula defines a term */
    bool asked;   /* true if the question has a content word of that term, or if the term has no content word */
};

struct question {
    const char *text;
    const char *evidence_text;   /* the given evidence and the meanings of the terms; NULL if there is neither */
    struct text_tokens tokens;   /* tokens of the question */
    struct text_tokens evidence; /* tokens of the evidence; n is 0 without evidence */
    struct question_value *values;
    uint32_t n_values;
    struct question_term *terms;
    uint32_t n_terms;
    struct question_mention *mentions; /* sorted by first token, then best first */
    uint32_t n_mentions;
    /* Mentions that need the lexicon (lib/text/lexicon.h): "how populous" for residents, "aerodromes" for airports.
     * They are guesses, so they are separate from `mentions`. Checks that can use uncertain mentions read them. Each
     * has a content word that no full name of the schema covers. Sorted like `mentions`. */
    struct question_mention *weak;
    uint32_t n_weak;
    const float *weak_score;     /* by column id: best score in `weak`; 0 if none */
    const float *column_score;   /* by column id: score of its best mention; 0 if none */
    const float *table_score;    /* by table number: score of its best mention; 0 if none */
    const float *evidence_score; /* by column id: score of its best mention in the evidence; NULL without evidence */
    struct question_cue *cues;   /* in order of the text, without overlap */
    uint32_t n_cues;
    uint32_t cue_counts[QUESTION_CUE_KINDS]; /* number of cues of each kind that are not `named` */
    unsigned cue_kinds;                      /* bits 1U << kind of all cues, including `named` ones */
    struct question_output *outputs;
    uint32_t n_outputs;
    bool outputs_closed;                     /* true if the question requests no other columns than these */
    struct question_definition *definitions; /* definitions in the evidence */
    uint32_t n_definitions;
    bool foreign; /* true if the question is not in English: it then has no cues, outputs and frame */
    float embedding[TEXT_DIM];
    const struct question_frame *frame; /* the frame (frame.h); NULL if `foreign` */
    const struct link_question *links;  /* the question's side of the links (link.h) */
    struct wording_words *wording;      /* the words, read for the learned score (wording.h) */
    struct question_memo *memo;         /* results cached for later candidates (memo.h) */
};

/* Analyses a question. Limits: 64 KiB of text, 2,000 tokens, 64 values, 256 mentions and 128 weak ones, 64 cues, 16
 * terms. The rest is ignored. `evidence` may be NULL. The question, the evidence, the index and the arena must outlive
 * the result. Returns NULL if the arena is full. Thread: eval. */
const struct question *question_read(struct arena *arena, const struct schema_index *schema, const char *question,
                                     const char *evidence);

/* Returns the index of the first cue of a kind, at or after cue `from`, that is not `named`; -1 if there is none. */
int question_cue_next(const struct question *question, enum question_cue_kind kind, uint32_t from);
/* Returns true if a cue of any of these kinds (bits 1U << kind) is not `named`. */
bool question_cue_any(const struct question *question, unsigned kinds);
/* Returns true if the question or the evidence has this word, by its folded form or its stem. */
bool question_has(const struct question *question, const char *word);

#endif
