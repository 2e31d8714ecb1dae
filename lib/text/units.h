/* Recognises units by their words: "minutes", "kg", "cents". */
#ifndef ASSAY_LIB_TEXT_UNITS_H
#define ASSAY_LIB_TEXT_UNITS_H

#include "lib/text/text.h"

/* The quantity that a unit measures. TEXT_UNIT_AMOUNT (thousand, million) combines with any other. All currencies are
 * one TEXT_UNIT_MONEY, because there are no exchange rates. */
enum text_unit_thing {
    TEXT_UNIT_TIME,
    TEXT_UNIT_LENGTH,
    TEXT_UNIT_WEIGHT,
    TEXT_UNIT_AMOUNT,
    TEXT_UNIT_AREA,
    TEXT_UNIT_MONEY,
    TEXT_UNIT_DATA,
    TEXT_UNIT_ENERGY,
    TEXT_UNIT_VOLUME,
    TEXT_UNIT_SHARE
};

struct text_unit {
    const char *word; /* a stem, or a short form */
    enum text_unit_thing thing;
    /* size in the base unit of its kind: second, metre, kilogram, one, square metre, euro, byte, kWh, litre or whole */
    double factor;
    bool letter; /* true if the word is too short to count as a unit in a sentence: "g" */
};

/* Returns true if two amounts differ by at most 2 %, because users round: a mile is 1.6 kilometres. */
bool text_unit_near(double a, double b);

/* Returns the unit that a word names, or NULL. Set `of_name` for a word of a column's name, where single letters count,
 * too. */
const struct text_unit *text_unit_of(const struct text_token *token, bool of_name);

/* Returns the unit that the name of a column states, or NULL. "Millions of dollars" has the unit of millions, and
 * "hours per week" the unit of hours. A name with "percent" states no unit, because its column may hold 0.2 or 20. */
const struct text_unit *text_unit_of_name(const struct text_tokens *words);

#endif
