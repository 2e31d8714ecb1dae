#include "lib/text/units.h"

#include <math.h>

#define PERCENT 1e-2

/* clang-format off */
static const struct text_unit UNITS[] = {
    {"millisecond", TEXT_UNIT_TIME, 1e-3, false}, {"ms", TEXT_UNIT_TIME, 1e-3, false},
    {"second", TEXT_UNIT_TIME, 1, false}, {"sec", TEXT_UNIT_TIME, 1, false}, {"minut", TEXT_UNIT_TIME, 60, false},
    {"minute", TEXT_UNIT_TIME, 60, false}, {"hour", TEXT_UNIT_TIME, 3600, false}, {"hrs", TEXT_UNIT_TIME, 3600, false},
    {"day", TEXT_UNIT_TIME, 86400, false}, {"week", TEXT_UNIT_TIME, 604800, false},
    {"millimet", TEXT_UNIT_LENGTH, 1e-3, false}, {"mm", TEXT_UNIT_LENGTH, 1e-3, false},
    {"centimet", TEXT_UNIT_LENGTH, 1e-2, false}, {"cm", TEXT_UNIT_LENGTH, 1e-2, false},
    {"centimetr", TEXT_UNIT_LENGTH, 1e-2, false}, {"centimeter", TEXT_UNIT_LENGTH, 1e-2, false},
    {"met", TEXT_UNIT_LENGTH, 1, false}, {"m", TEXT_UNIT_LENGTH, 1, false}, {"meter", TEXT_UNIT_LENGTH, 1, false},
    {"metr", TEXT_UNIT_LENGTH, 1, false}, {"kilomet", TEXT_UNIT_LENGTH, 1e3, false},
    {"kilometr", TEXT_UNIT_LENGTH, 1e3, false}, {"kilometer", TEXT_UNIT_LENGTH, 1e3, false},
    {"km", TEXT_UNIT_LENGTH, 1e3, false}, {"mile", TEXT_UNIT_LENGTH, 1609.344, false},
    {"foot", TEXT_UNIT_LENGTH, 0.3048, false}, {"feet", TEXT_UNIT_LENGTH, 0.3048, false},
    {"ft", TEXT_UNIT_LENGTH, 0.3048, false}, {"inch", TEXT_UNIT_LENGTH, 0.0254, false},
    {"gram", TEXT_UNIT_WEIGHT, 1e-3, false}, {"g", TEXT_UNIT_WEIGHT, 1e-3, true},
    {"kilogram", TEXT_UNIT_WEIGHT, 1, false}, {"kilo", TEXT_UNIT_WEIGHT, 1, false}, {"kg", TEXT_UNIT_WEIGHT, 1, false},
    {"ton", TEXT_UNIT_WEIGHT, 1e3, false}, {"tonn", TEXT_UNIT_WEIGHT, 1e3, false},
    {"pound", TEXT_UNIT_WEIGHT, 0.45359237, false}, {"lbs", TEXT_UNIT_WEIGHT, 0.45359237, false},
    {"hundred", TEXT_UNIT_AMOUNT, 1e2, false}, {"thousand", TEXT_UNIT_AMOUNT, 1e3, false},
    {"million", TEXT_UNIT_AMOUNT, 1e6, false}, {"billion", TEXT_UNIT_AMOUNT, 1e9, false},
    {"trillion", TEXT_UNIT_AMOUNT, 1e12, false},
    {"hectar", TEXT_UNIT_AREA, 1e4, false}, {"acr", TEXT_UNIT_AREA, 4046.86, false},
    {"cent", TEXT_UNIT_MONEY, 1e-2, false}, {"cts", TEXT_UNIT_MONEY, 1e-2, false},
    {"penc", TEXT_UNIT_MONEY, 1e-2, false}, {"penni", TEXT_UNIT_MONEY, 1e-2, false},
    {"micro", TEXT_UNIT_MONEY, 1e-6, true}, {"euro", TEXT_UNIT_MONEY, 1, false}, {"eur", TEXT_UNIT_MONEY, 1, false},
    {"dollar", TEXT_UNIT_MONEY, 1, false}, {"usd", TEXT_UNIT_MONEY, 1, false}, {"gbp", TEXT_UNIT_MONEY, 1, false},
    {"chf", TEXT_UNIT_MONEY, 1, false}, {"franc", TEXT_UNIT_MONEY, 1, false},
    {"byte", TEXT_UNIT_DATA, 1, false}, {"kb", TEXT_UNIT_DATA, 1e3, false}, {"kilobyt", TEXT_UNIT_DATA, 1e3, false},
    {"mb", TEXT_UNIT_DATA, 1e6, false}, {"megabyt", TEXT_UNIT_DATA, 1e6, false}, {"gb", TEXT_UNIT_DATA, 1e9, false},
    {"gigabyt", TEXT_UNIT_DATA, 1e9, false}, {"tb", TEXT_UNIT_DATA, 1e12, false},
    {"terabyt", TEXT_UNIT_DATA, 1e12, false},
    {"wh", TEXT_UNIT_ENERGY, 1e-3, false}, {"kwh", TEXT_UNIT_ENERGY, 1, false}, {"mwh", TEXT_UNIT_ENERGY, 1e3, false},
    {"millilitr", TEXT_UNIT_VOLUME, 1e-3, false}, {"millilit", TEXT_UNIT_VOLUME, 1e-3, false},
    {"ml", TEXT_UNIT_VOLUME, 1e-3, false}, {"litr", TEXT_UNIT_VOLUME, 1, false}, {"liter", TEXT_UNIT_VOLUME, 1, false},
    {"hectolitr", TEXT_UNIT_VOLUME, 100, false},
    {"percent", TEXT_UNIT_SHARE, PERCENT, false}, {"%", TEXT_UNIT_SHARE, PERCENT, false},
    {"bp", TEXT_UNIT_SHARE, 1e-4, false}, {"bps", TEXT_UNIT_SHARE, 1e-4, false},
};
/* clang-format on */

bool text_unit_near(double a, double b)
{
    return fabs(a - b) <= 0.02 * fmax(fabs(a), fabs(b));
}

const struct text_unit *text_unit_of(const struct text_token *token, bool of_name)
{
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if ((of_name || !UNITS[i].letter) &&
            (text_same(token->stem, UNITS[i].word) || text_same(token->norm, UNITS[i].word)))
            return &UNITS[i];
    return NULL;
}

const struct text_unit *text_unit_of_name(const struct text_tokens *words)
{
    const struct text_unit *money = NULL;
    uint32_t end = 0;
    while (end < words->n && !text_same(words->items[end].norm, "per")) end++;
    for (uint32_t i = end; i-- > 0;) {
        const struct text_unit *unit = text_unit_of(&words->items[i], true);
        if (unit && unit->thing == TEXT_UNIT_SHARE && unit->factor >= PERCENT) continue;
        if (unit && unit->thing != TEXT_UNIT_MONEY) return unit;
        if (unit && !money) money = unit;
    }
    return money;
}
