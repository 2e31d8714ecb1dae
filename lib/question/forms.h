/* One thing in two forms: "French" and France, "women" and 'F', "March" and 3, "United States" and 'USA', "cats" and cat.
 *
 * What a person writes is seldom what a column stores. Here two texts are held against each other, and a column is asked
 * which of its values could stand for a text. Nothing is known of the question beyond its words. */
#ifndef ASSAY_LIB_QUESTION_FORMS_H
#define ASSAY_LIB_QUESTION_FORMS_H

#include "lib/question/question.h"

/* How two texts are the same; the later, the surer. */
enum question_form {
    QUESTION_FORM_NONE,
    QUESTION_FORM_SPELLING, /* one or two letters differ */
    QUESTION_FORM_PART,     /* one holds the other as whole words: "Nairn" and 'University of Nairn' */
    QUESTION_FORM_INITIALS, /* United States, USA */
    QUESTION_FORM_PEOPLE,   /* a people or its language, and the country: French, France */
    QUESTION_FORM_CODE,     /* female, F; yes, T; March, 3 */
    QUESTION_FORM_DATE,     /* one day or month in two notations */
    QUESTION_FORM_WORD,     /* plural, other endings */
    QUESTION_FORM_SAME,     /* but for case, accents, spaces and signs */
    QUESTION_FORMS
};

/* 0 for NONE to 1 for SAME. */
double question_form_strength(enum question_form form);
/* In words, for a finding: "a code of it". */
const char *question_form_name(enum question_form form);

/* A text made ready to be held against others. */
struct question_text {
    const char *folded, *letters; /* letters and digits alone */
    struct text_tokens words;
    unsigned codes; /* rows of the table of codes that have it */
    bool people;    /* it is a people, a language or their country */
};
/* False when the arena is full, or the text is empty or longer than 200 bytes. */
bool question_text_of(struct arena *arena, const char *text, size_t len, struct question_text *out);
/* The surest form in which two texts are one. No memory, and little work where they have nothing in common. */
enum question_form question_form_between(const struct question_text *a, const struct question_text *b);
/* The surest form in which the question or its evidence says the text: one of its values, a word of its own, or a run
 * of words that has as many. *first (may be NULL) gets the token; UINT32_MAX: the evidence, or nothing.
 * Looked for once a question and text. */
enum question_form question_says_text(struct arena *arena, const struct question *question, const char *text,
                                      size_t len, uint32_t *first);

/* The value of the column that stands for a text that it does not hold as written; NULL: none, or not known. Bounded:
 * the most frequent values, the nearest, and what the tables here say. The surest wins. Arena text, or the
 * question's: looked for once a question, column and text (question NULL: nothing is kept). */
const char *question_stored_form(struct arena *arena, const struct question *question,
                                 const struct schema_index *schema, const struct schema_column *column,
                                 const char *text, size_t len, enum question_form *form);

/* A value of a column that words of the question stand for. */
struct question_said {
    uint32_t first, n_tokens;
    const char *stored; /* as the column has it */
    enum question_form form;
    bool sure; /* a proper name or a quotation, or a word of another form; else a plain word that is a value too */
};
enum { QUESTION_MAX_SAID = 8 };
/* The values of the column that the question says, in whatever form; codes of genders and of yes and no are left out.
 * Bounded: 200 words against 16 values. *n gets the count. Looked for once a question and column, and kept in the
 * question's arena, so a question is asked by one thread at a time. NULL when that is full. */
const struct question_said *question_values_of(const struct question *question, const struct schema_index *schema,
                                               const struct schema_column *column, uint32_t *n);

enum question_gender { QUESTION_NO_GENDER, QUESTION_MALE, QUESTION_FEMALE, QUESTION_BOTH_GENDERS };
/* Which of the two a word says ("women"); of a letter, only if `codes`. */
enum question_gender question_gender_of(const char *word, size_t len, bool codes);
/* Do the values of the column tell genders, at least two of them and nothing but (unknown and the like aside)? */
bool question_column_is_gender(const struct schema_column *column);

/* The genders that the question speaks of by words that are neither part of a value nor of a longer name, as bits 1U <<
 * enum question_gender. *first: the last such word. */
unsigned question_genders(const struct question *question, uint32_t *first);

/* The parts of a date: -1 where it does not say. */
struct question_date {
    int year, month, day;
};
/* Read 2014, 2014-03-05, 3/5/2014, March 2014, 5 March 2014, Mar 5th, 2014; a time behind it is left out. `day_first`
 * says how 3/5/2014 is read. */
bool question_read_date(const char *text, size_t len, bool day_first, struct question_date *out);

#endif
