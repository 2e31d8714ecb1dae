/* Recognises two texts as forms of one thing: "French" and France, "women" and 'F', "March" and 3, "United States" and
 * 'USA', "cats" and cat.
 *
 * Users seldom write a value as a column stores it. These functions compare two texts, find the stored value that a
 * text means, and find the values of a column that a question says. They use only the words of the question, not its
 * meaning. */
#ifndef ASSAY_LIB_QUESTION_FORMS_H
#define ASSAY_LIB_QUESTION_FORMS_H

#include "lib/question/question.h"

/* The form in which two texts are the same; later ones are more certain. */
enum question_form {
    QUESTION_FORM_NONE,
    QUESTION_FORM_SPELLING, /* one or two letters differ */
    QUESTION_FORM_PART,     /* one contains the other as whole words: "Nairn" and 'University of Nairn' */
    QUESTION_FORM_INITIALS, /* United States, USA */
    QUESTION_FORM_PEOPLE,   /* a people or its language, and its country: French, France */
    QUESTION_FORM_CODE,     /* female, F; yes, T; March, 3 */
    QUESTION_FORM_DATE,     /* one day or month in two notations */
    QUESTION_FORM_WORD,     /* plural or another ending */
    QUESTION_FORM_SAME,     /* equal except for case, accents, spaces and punctuation */
    QUESTION_FORMS
};

/* Returns the strength of a form, from 0 for NONE to 1 for SAME. */
double question_form_strength(enum question_form form);
/* Returns the form in words, for a finding: "a code of it". The text is static. */
const char *question_form_name(enum question_form form);

/* A text prepared for comparison. */
struct question_text {
    const char *folded, *letters; /* `letters` has letters and digits only */
    struct text_tokens words;
    unsigned codes; /* bits of the rows in the table of codes that have it */
    bool people;    /* true for a people, a language or a country */
};
/* Prepares a text. Returns false if the arena is full, or the text is empty or longer than 200 bytes. */
bool question_text_of(struct arena *arena, const char *text, size_t len, struct question_text *out);
/* Returns the most certain form in which two texts are the same. Allocates nothing, and is fast for unrelated texts. */
enum question_form question_form_between(const struct question_text *a, const struct question_text *b);
/* Returns the most certain form in which the question or its evidence says the text. It compares the values, single
 * words, and runs of as many words as the text has. *first (may be NULL) gets the token; UINT32_MAX if the evidence has
 * a more certain form, or nothing says the text. Results are cached for each question and text. */
enum question_form question_says_text(struct arena *arena, const struct question *question, const char *text,
                                      size_t len, uint32_t *first);

/* Returns the column's value that means a text which the column does not hold as written. Tries the most frequent
 * values, the nearest ones, and the tables of this file; the most certain form wins. *form gets that form. Returns NULL
 * if there is no such value or it is unknown. The result is in `arena` or in the question's arena. Results are cached
 * for each question, column and text; not if `question` is NULL. */
const char *question_stored_form(struct arena *arena, const struct question *question,
                                 const struct schema_index *schema, const struct schema_column *column,
                                 const char *text, size_t len, enum question_form *form);

/* A value of a column that words of the question mean. */
struct question_said {
    uint32_t first, n_tokens;
    const char *stored; /* as the column stores it */
    enum question_form form;
    bool sure; /* true for a proper name, a quotation or another form; false for a plain word that is also a value */
};
enum { QUESTION_MAX_SAID = 8 };
/* Returns the values of the column that the question says, in any form, except codes of genders and of yes and no. At
 * most 200 words are compared with 16 values. *n gets the count, at most QUESTION_MAX_SAID. Results are cached in the
 * question's arena, so one thread at a time may use a question. Returns NULL if that arena is full. */
const struct question_said *question_values_of(const struct question *question, const struct schema_index *schema,
                                               const struct schema_column *column, uint32_t *n);

enum question_gender { QUESTION_NO_GENDER, QUESTION_MALE, QUESTION_FEMALE, QUESTION_BOTH_GENDERS };
/* Returns the gender that a word says ("women"). A single letter counts only if `codes`. */
enum question_gender question_gender_of(const char *word, size_t len, bool codes);
/* Returns true if the column's values are genders: at most four different ones, a male and a female one among them. */
bool question_column_is_gender(const struct schema_column *column);

/* Returns the genders that the question mentions, as bits 1U << enum question_gender. Words inside longer values or
 * names do not count. *first gets the last such word; it is unchanged if there is none. */
unsigned question_genders(const struct question *question, uint32_t *first);

/* The parts of a date; -1 for an absent part. */
struct question_date {
    int year, month, day;
};
/* Reads 2014, 2014-03-05, 3/5/2014, March 2014, 5 March 2014 or Mar 5th, 2014, and ignores a time after it. `day_first`
 * decides how 3/5/2014 is read. Returns false if the text is no such date. */
bool question_read_date(const char *text, size_t len, bool day_first, struct question_date *out);

#endif
