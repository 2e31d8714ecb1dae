/* Units by their words: "minutes", "kg", "cents". */
#ifndef ASSAY_LIB_TEXT_UNITS_H
#define ASSAY_LIB_TEXT_UNITS_H

#include "lib/text/text.h"

/* What a unit measures. TEXT_UNIT_AMOUNT (thousand, million) goes with any other. All currencies are one
 * TEXT_UNIT_MONEY, since there are no rates of exchange here. */
enum text_unit_thing {
    TEXT_UNIT_TIME,
    TEXT_UNIT_LENGTH,
    TEXT_UNIT_WEIGHT,
    TEXT_UNIT_AMOUNT,
    TEXT_UNIT_AREA,
    TEXT_UNIT_MONEY,
    TEXT_UNIT_DATA,
    TEXT_UNIT_ENERGY,
    TEXT_UNIT_VOLUME
};

struct text_unit {
    const char *word; /* a stem, or a short form */
    enum text_unit_thing thing;
    /* In the base unit of the thing: second, metre, kilogram, one, square metre, euro, byte, kWh or litre. */
    double factor;
    bool letter; /* a short form that is too short for a sentence: "g" */
};

/* True if two amounts differ by 2 % or less. People round: a mile is 1.6 kilometres. */
bool text_unit_near(double a, double b);

/* Gives the unit that a word names; NULL if it names none. `of_name`: the word is of a column's name, where one letter
 * counts. */
const struct text_unit *text_unit_of(const struct text_token *token, bool of_name);

/* Gives the unit that a column's name says; NULL if it names none. A column of millions of dollars has the unit of
 * millions. A column of hours per week has the unit of hours. */
const struct text_unit *text_unit_of_name(const struct text_tokens *words);

#endif
