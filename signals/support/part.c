/* Compares the parts of dates (year, month, day, weekday) that the query extracts with those that the question names.
 *
 * The query extracts a part by strftime, to_char, EXTRACT, date_part, a named function such as year, or substr. The
 * question names months and weekdays by words, and years by numbers. A literal that is compared with an extracted part
 * must match the part that the question means by this number. The most common values of the column show whether
 * strftime can read them. Parts that are grouped or displayed are compared with phrases such as "by month". */
#include "signals/support/part.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/query.h"

#include <ctype.h>
#include <glib.h>
#include <math.h>
#include <string.h>

enum { NO_NUMBER = -1, MONTHS = 12, WEEKDAYS = 7, FIRST_YEAR = 1000, LAST_YEAR = 2999 };

static const char *const NAMES[VSIG_PART_COUNT] = {[VSIG_PART_NONE] = "nothing",
                                                   [VSIG_PART_YEAR] = "year",
                                                   [VSIG_PART_MONTH] = "month",
                                                   [VSIG_PART_DAY] = "day of the month",
                                                   [VSIG_PART_WEEKDAY] = "day of the week",
                                                   [VSIG_PART_YEAR_MONTH] = "month of one year"};

const char *vsig_part_name(enum vsig_date_part part)
{
    return NAMES[part];
}

/* --- parts in the query --- */

/* Formats of strftime and to_char, fields of EXTRACT and date_part, and names of functions. */
static const struct {
    const char *text;
    enum vsig_date_part part;
} FORMS[] = {{"%Y", VSIG_PART_YEAR},          {"%m", VSIG_PART_MONTH},       {"%d", VSIG_PART_DAY},
             {"%w", VSIG_PART_WEEKDAY},       {"%u", VSIG_PART_WEEKDAY},     {"%Y-%m", VSIG_PART_YEAR_MONTH},
             {"%m-%Y", VSIG_PART_YEAR_MONTH}, {"YYYY", VSIG_PART_YEAR},      {"MM", VSIG_PART_MONTH},
             {"DD", VSIG_PART_DAY},           {"D", VSIG_PART_WEEKDAY},      {"YYYY-MM", VSIG_PART_YEAR_MONTH},
             {"year", VSIG_PART_YEAR},        {"month", VSIG_PART_MONTH},    {"day", VSIG_PART_DAY},
             {"dow", VSIG_PART_WEEKDAY},      {"isodow", VSIG_PART_WEEKDAY}, {"dayofmonth", VSIG_PART_DAY}};

static enum vsig_date_part part_of_form(const char *text, size_t len)
{
    for (size_t i = 0; text && i < G_N_ELEMENTS(FORMS); i++) {
        bool exact = strlen(FORMS[i].text) == len && strncmp(FORMS[i].text, text, len) == 0;
        if (exact ||
            (islower((unsigned char)FORMS[i].text[0]) && sql_name_is(text, len, FORMS[i].text, strlen(FORMS[i].text))))
            return FORMS[i].part;
    }
    return VSIG_PART_NONE;
}

/* True for a format with year and day but without month, such as %Y-%d. No question needs this combination. */
static bool lacks_month(const struct sql_node *form)
{
    const char *text = form ? form->text : NULL;
    size_t n = text ? form->text_len : 0;
    bool day = g_strstr_len(text ? text : "", (gssize)n, "%d"), year = g_strstr_len(text ? text : "", (gssize)n, "%Y");
    return day && year && !g_strstr_len(text, (gssize)n, "%m");
}

struct taken {
    enum vsig_date_part part;
    const struct sql_node *date; /* the date expression */
    bool by_format;              /* extracted by strftime, which returns NULL for texts that it cannot read */
};

/* Returns the part that substr(date, from, n) extracts from a date in the form 2014-08-31. */
static enum vsig_date_part part_of_slice(const struct sql_node *args)
{
    static const struct {
        int from, n;
        enum vsig_date_part part;
    } SLICES[] = {{1, 4, VSIG_PART_YEAR}, {6, 2, VSIG_PART_MONTH}, {9, 2, VSIG_PART_DAY}, {1, 7, VSIG_PART_YEAR_MONTH}};
    double from, n;
    if (!query_literal_number(sql_kid(args, 1), &from) || !query_literal_number(sql_kid(args, 2), &n))
        return VSIG_PART_NONE;
    for (size_t i = 0; i < G_N_ELEMENTS(SLICES); i++)
        if (fabs(from - SLICES[i].from) < 0.5 && fabs(n - SLICES[i].n) < 0.5) return SLICES[i].part;
    return VSIG_PART_NONE;
}

static bool is_named(const struct sql_node *call, const char *name)
{
    return call->text && sql_name_is(call->text, call->text_len, name, strlen(name));
}

static struct taken part_of_call(const struct sql_node *call)
{
    static const struct {
        const char *name;
        unsigned form, date;
    } CALLS[] = {{"strftime", 0, 1}, {"date_part", 0, 1}, {"date_trunc", 0, 1}, {"to_char", 1, 0}};
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    for (size_t i = 0; i < G_N_ELEMENTS(CALLS); i++) {
        const struct sql_node *form = query_literal(sql_kid(args, CALLS[i].form), NULL);
        if (is_named(call, CALLS[i].name) && form && args->n_kids == 2)
            return (struct taken){part_of_form(form->text, form->text_len), sql_kid(args, CALLS[i].date), i == 0};
    }
    if (is_named(call, "substr") || is_named(call, "substring"))
        return (struct taken){part_of_slice(args), sql_kid(args, 0), false};
    if (args && args->n_kids == 1)
        return (struct taken){part_of_form(call->text, call->text_len), args->kids[0], false};
    return (struct taken){VSIG_PART_NONE, NULL, false};
}

static struct taken part_of_node(const struct sql_node *node)
{
    if (sql_is(node, SQL_EXTRACT))
        return (struct taken){part_of_form(node->text, node->text_len), sql_kid(node, 0), false};
    return sql_is(node, SQL_CALL) ? part_of_call(node) : (struct taken){VSIG_PART_NONE, NULL, false};
}

/* --- values of the column --- */

/* True for values that begin like 2014-08-31 or 12:30. */
static bool reads_as_date(const struct db_value *value)
{
    static const char *const PATTERNS[] = {"dddd-dd-dd", "dd:dd"};
    if (value->type != DB_TEXT) return false;
    for (size_t p = 0; p < G_N_ELEMENTS(PATTERNS); p++) {
        size_t n = strlen(PATTERNS[p]), same = 0;
        while (same < n && same < value->len &&
               (PATTERNS[p][same] == 'd' ? isdigit((unsigned char)value->text[same]) != 0
                                         : value->text[same] == PATTERNS[p][same]))
            same++;
        if (same == n) return true;
    }
    return false;
}

/* True if strftime cannot read any of the most common values. It reads a bare year such as 2014 as a day number. */
static bool is_unreadable(const struct schema_column *column)
{
    for (uint32_t i = 0; i < column->stats.n_top; i++) {
        const struct db_value *value = &column->stats.top[i].value;
        if (value->type == DB_TEXT ? reads_as_date(value)
                                   : value->type != DB_INT || value->i < FIRST_YEAR || value->i > LAST_YEAR)
            return false;
    }
    return column->stats.n_top > 0;
}

static bool is_iso(const struct schema_column *column)
{
    return column && column->stats.n_top && reads_as_date(&column->stats.top[0].value);
}

/* --- parts in the question --- */

static const char *const MONTH_NAMES[MONTHS][4] = {{"january", "jan", NULL},
                                                   {"february", "feb", NULL},
                                                   {"march", "mar", NULL},
                                                   {"april", "apr", NULL},
                                                   {"may", NULL},
                                                   {"june", "jun", NULL},
                                                   {"july", "jul", NULL},
                                                   {"august", "aug", NULL},
                                                   {"september", "sep", "sept", NULL},
                                                   {"october", "oct", NULL},
                                                   {"november", "nov", NULL},
                                                   {"december", "dec", NULL}};
static const char *const WEEKDAY_NAMES[WEEKDAYS] = {"sunday",   "monday", "tuesday", "wednesday",
                                                    "thursday", "friday", "saturday"};

/* True if the word is the name, or its plural, such as "Decembers". */
static bool is_name(const char *word, const char *name)
{
    size_t len = strlen(name);
    return strncmp(word, name, len) == 0 && (!word[len] || (len > 4 && strcmp(word + len, "s") == 0));
}

static int month_of(const struct text_token *token)
{
    if (token->kind != TEXT_WORD || !token->is_capital) return NO_NUMBER;
    for (int m = 0; m < MONTHS; m++)
        for (const char *const *name = MONTH_NAMES[m]; *name; name++)
            if (is_name(token->norm, *name)) return m + 1;
    return NO_NUMBER;
}

static int weekday_of(const struct text_token *token)
{
    for (int d = 0; token->kind == TEXT_WORD && d < WEEKDAYS; d++)
        if (is_name(token->norm, WEEKDAY_NAMES[d])) return d;
    return NO_NUMBER;
}

/* Returns the part of a date that the question means by this number. Returns NONE if the question does not name the
 * number. */
static enum vsig_date_part part_said(const struct text_tokens *tokens, double number)
{
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct text_token *token = &tokens->items[i];
        int month = month_of(token), day = weekday_of(token);
        if (month != NO_NUMBER && fabs(number - month) < 0.5) return VSIG_PART_MONTH;
        if (day != NO_NUMBER && (fabs(number - day) < 0.5 || (day == 0 && fabs(number - WEEKDAYS) < 0.5)))
            return VSIG_PART_WEEKDAY;
        if (token->kind == TEXT_NUMBER && number >= FIRST_YEAR && fabs(token->number - number) < 0.5)
            return VSIG_PART_YEAR;
    }
    return VSIG_PART_NONE;
}

/* Returns the month that the question names. A compared literal must then equal it. Returns NO_NUMBER if the question
 * names no month or more than one. */
static int only_month(const struct text_tokens *tokens)
{
    int month = NO_NUMBER;
    for (uint32_t i = 0; i < tokens->n; i++) {
        int here = month_of(&tokens->items[i]);
        if (here != NO_NUMBER && month != NO_NUMBER && here != month) return NO_NUMBER;
        if (here != NO_NUMBER) month = here;
    }
    return month;
}

/* --- comparison of query and question --- */

static bool literal_beside(const struct sql_node *node, double *number)
{
    const struct sql_node *n = node, *parent = node->parent;
    while (sql_is(parent, SQL_CAST)) n = parent, parent = parent->parent;
    if (sql_is(parent, SQL_BINARY) && sql_is_comparison(parent->op))
        return query_literal_number(sql_kid(parent, n->slot == 0 ? 1 : 0), number);
    if (sql_is(parent, SQL_IN) && n->slot == IN_VALUE)
        return query_literal_number(sql_kid(sql_kid(parent, IN_RIGHT), 0), number);
    if (sql_is(parent, SQL_BETWEEN)) return query_literal_number(sql_kid(parent, BETWEEN_LOW), number);
    return false;
}

static void compare_value(const struct text_tokens *tokens, const struct sql_node *node, const struct taken *taken,
                          double number, struct vsig_parts *out)
{
    enum vsig_date_part said = part_said(tokens, number);
    int month = only_month(tokens);
    if (said == VSIG_PART_NONE && taken->part == VSIG_PART_MONTH && month != NO_NUMBER) said = VSIG_PART_YEAR_MONTH;
    if (said == VSIG_PART_NONE) return;
    bool same = said == taken->part;
    out->match += same;
    out->mismatch += !same;
    if (same || out->at) return;
    out->at = node;
    out->wanted = said == VSIG_PART_YEAR_MONTH ? VSIG_PART_MONTH : said;
    out->taken = taken->part;
}

/* Phrases that ask to combine the same month of all years. */
static const char *const ALL_YEARS[] = {"calendar month",         "month of the year",  "all years together",
                                        "all years thrown",       "all years combined", "across all years",
                                        "regardless of the year", "regardless of year", "whatever the year",
                                        "no matter which year",   "no matter the year", NULL};

/* Compares a part that the query groups by or displays with phrases of the question, such as "each year" or "by
 * month". */
static void compare_group(const struct question *question, const struct sql_node *node, enum vsig_date_part part,
                          struct vsig_parts *out)
{
    static const char *const SAID[VSIG_PART_COUNT][14] = {
        [VSIG_PART_NONE] = {NULL},
        [VSIG_PART_YEAR] = {"year", "yearly", "annual", "annually", NULL},
        [VSIG_PART_MONTH] = {"calendar month", "month of the year", "which month", "season", "seasonal", "all years",
                             "across years", "regardless of the year", "regardless of year", "whatever the year",
                             "month", NULL},
        [VSIG_PART_DAY] = {"day of the month", "day of month", "day", NULL},
        [VSIG_PART_WEEKDAY] = {"day of the week", "weekday", "day of week", NULL},
        [VSIG_PART_YEAR_MONTH] = {"month by month", "month and year", "year and month", "monthly", "each month",
                                  "every month", "per month", NULL}};
    static const char *const ANY_YEAR[] = {
        "calendar month", "month of the year", "all years", "across years", "across all years",
        "regardless of",  "whatever the year", "season",    "seasonal",     NULL};
    struct question_phrase at;
    bool own = question_phrase_find(question, SAID[part], 0, &at);
    if (part == VSIG_PART_YEAR_MONTH && question_phrase_find(question, ANY_YEAR, 0, &at)) own = false;
    out->grouped_match += own;
    out->grouped_misfit += !own;
    if (part != VSIG_PART_YEAR_MONTH || out->at || !question_phrase_find(question, ALL_YEARS, 0, &at)) return;
    out->at = node;
    out->wanted = VSIG_PART_MONTH;
    out->taken = part;
}

void vsig_parts_look(const struct vsig_subject *subject, struct vsig_parts *parts)
{
    *parts = (struct vsig_parts){0};
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        struct taken taken = part_of_node(n);
        if (sql_is(n, SQL_CALL) && is_named(n, "strftime") && !parts->monthless &&
            lacks_month(query_literal(sql_kid(sql_kid(n, CALL_ARGS), 0), NULL)))
            parts->monthless = n;
        const struct schema_column *column = taken.part ? query_column(subject, taken.date) : NULL;
        if (!taken.part || (is_named(n, "substr") && !is_iso(column))) continue;
        parts->n++;
        if (taken.by_format && column && is_unreadable(column) && !parts->unreadable) {
            parts->unreadable = n;
            parts->column = column;
        }
        double number;
        if (!subject->analysis) continue;
        if (literal_beside(n, &number))
            compare_value(&subject->analysis->tokens, n->parent, &taken, number, parts);
        else
            compare_group(subject->analysis, n, taken.part, parts);
    }
}
