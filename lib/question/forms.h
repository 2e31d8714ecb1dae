/* Recognises two texts as forms of one value: "French" and France, "women" and 'F', "March" and 3, "United States" and
 * 'USA', "cats" and cat.
 *
 * Users seldom write a value as a column stores it. These functions compare two texts, find the stored value that a
 * text means, and find the values of a column that a question says. They use only the words of the question, not its
 * meaning. */
#ifndef ASSAY_LIB_QUESTION_FORMS_H
#define ASSAY_LIB_QUESTION_FORMS_H

#include "lib/question/question.h"

/* How two texts say the same value. Later forms are more certain. */
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
    const char *folded, *letters; /* folded text; its letters and digits without all other characters */
    struct text_tokens words;
    unsigned codes; /* bit i is set if row i of the table of codes contains the text */
    bool people;    /* true if the text is a people, a language or a country */
};
/* Prepares a text. Returns false if the arena is full, or the text is empty or longer than 200 bytes. */
bool question_text_of(struct arena *arena, const char *text, size_t len, struct question_text *out);
/* Returns the most certain form in which two texts are the same. Allocates nothing, and is fast for unrelated texts. */
enum question_form question_form_between(const struct question_text *a, const struct question_text *b);
/* Finds the text in the question or its evidence, and returns the most certain form in which it occurs. Compares the
 * text with the values of the question, with single words, and with runs of as many words as the text has. *first (may
 * be NULL) gets the first token in the question. It gets UINT32_MAX if the evidence has a more certain form, or if the
 * text does not occur. Results are cached for each question and text. */
enum question_form question_says_text(struct arena *arena, const struct question *question, const char *text,
                                      size_t len, uint32_t *first);

/* Finds the stored value of a column that a text means, if the column does not hold the text as written. Tries the most
 * frequent values, the values nearest to the text, and the forms from the tables of forms.c. The most certain form
 * wins, and *form gets it. Returns NULL if no such value is found. The result is in `arena` or in the question's arena.
 * If `question` is not NULL, results are cached for each question, column and text. */
const char *question_stored_form(struct arena *arena, const struct question *question,
                                 const struct schema_index *schema, const struct schema_column *column,
                                 const char *text, size_t len, enum question_form *form);

/* A value of a column, and the words of the question that mean it. */
struct question_said {
    uint32_t first, n_tokens;
    const char *stored; /* the value as the column stores it */
    enum question_form form;
    bool sure; /* true for a proper name, a quotation, or a form from the tables; false for a plain word that is also a
                * value */
};
enum { QUESTION_MAX_SAID = 8 };
/* Returns the values of the column that the question says, in any form except codes of genders and codes of yes and no.
 * At most 200 words are compared with 16 values. *n gets the count, at most QUESTION_MAX_SAID. Results are cached in
 * the question's arena, so one thread at a time may use a question. Returns NULL if that arena is full. */
const struct question_said *question_values_of(const struct question *question, const struct schema_index *schema,
                                               const struct schema_column *column, uint32_t *n);

enum question_gender { QUESTION_NO_GENDER, QUESTION_MALE, QUESTION_FEMALE, QUESTION_BOTH_GENDERS };
/* Returns the gender that a word means, such as "women". Single letters count only if `codes` is true. */
enum question_gender question_gender_of(const char *word, size_t len, bool codes);
/* Returns true if the column's values are genders: at most four different values, among them a male and a female
 * one. */
bool question_column_is_gender(const struct schema_column *column);

/* Returns the genders that the question mentions, as bits 1U << enum question_gender. Words inside longer values or
 * names do not count. *first gets the token of the last counted word; it is unchanged if there is none. */
unsigned question_genders(const struct question *question, uint32_t *first);

/* The parts of a date; -1 for an absent part. */
struct question_date {
    int year, month, day;
};
/* Reads a date such as 2014, 2014-03-05, 3/5/2014, March 2014, 5 March 2014 or Mar 5th, 2014. Ignores a time after the
 * date. `day_first` decides whether 3/5/2014 is 3 May or 5 March. Returns false for any other text. */
bool question_read_date(const char *text, size_t len, bool day_first, struct question_date *out);

#endif
