/* Periods: the years, quarters, months and days of dates.
 *
 * DESIGN. A date is an ISO text or a date of the engine. A function that truncates a date (strftime, date_trunc,
 * to_char, substr ...) is a term of kind PERIOD with the form of its value. A comparison of a period with a literal
 * becomes a condition on the date itself: `date in 2024-05`, or a bound at the start of a period. Two bounds with
 * exactly one calendar period between them become that period. Other pairs of bounds become the period "low..high",
 * which excludes high. The bound <= '2024-12-31' is not converted: compared as text, it excludes the times of that
 * day. */
#include "lib/meaning/meaning_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DATE_LEN = 10, MOST_LABEL = 32 };

/* --- calls ---------------------------------------------------------------------------------------------------- */

struct meaning_format {
    const char *text, *period, *form;
};

/* Formats of strftime, DATE_FORMAT and to_char. */
static const struct meaning_format formats[] = {
    {"%Y", "year", "2024"},          {"%Y-%m", "month", "2024-01"},       {"%Y-%m-%d", "day", "2024-01-01"},
    {"%m", "month of year", "01"},   {"%d", "day of month", "01"},        {"%w", "day of week", "0"},
    {"%H", "hour of day", "00"},     {"%j", "day of year", "001"},        {"YYYY", "year", "2024"},
    {"YYYY-MM", "month", "2024-01"}, {"YYYY-MM-DD", "day", "2024-01-01"}, {"MM", "month of year", "01"},
};

/* Fields of EXTRACT and date_part, and functions that have the name of a field. */
static const struct meaning_format fields[] = {
    {"year", "year", "number"},         {"month", "month of year", "number"}, {"quarter", "quarter of year", "number"},
    {"day", "day of month", "number"},  {"hour", "hour of day", "number"},    {"dow", "day of week", "number"},
    {"week", "week of year", "number"}, {"doy", "day of year", "number"},
};

static const char *const cuts[] = {"year", "quarter", "month", "week", "day", "hour"};

static const struct meaning_format *find_format(const struct meaning_format *rows, size_t n, const char *text,
                                                size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(rows[i].text) == len && strncmp(rows[i].text, text, len) == 0) return &rows[i];
    return NULL;
}

#define FIND_FORMAT(rows, text, len) find_format(rows, sizeof(rows) / sizeof *(rows), text, len)

static struct meaning_term *make_period(struct meaning_reader *r, const char *period, const char *form,
                                        struct meaning_term *date, const struct sql_node *node)
{
    struct meaning_term *term = meaning_term_make(r, MEANING_PERIOD, period, &date, 1, node);
    if (r->failed) return term;
    term->form = form;
    meaning_term_rehash(term);
    return term;
}

/* Returns the text between the quotes of a string literal, or NULL. */
static const char *text_of(const struct meaning_term *value, size_t *len)
{
    if (!meaning_is_value(value, NULL) || value->name[0] != '\'') return NULL;
    *len = strlen(value->name) - 2;
    return value->name + 1;
}

/* Reads a format as a period, or returns NULL. `percent`: the format is one of strftime or DATE_FORMAT, not of
 * to_char. */
static struct meaning_term *read_format(struct meaning_reader *r, const struct sql_node *node,
                                        struct meaning_term *format, struct meaning_term *date, bool percent)
{
    size_t len;
    const char *text = text_of(format, &len);
    bool fits = text && (len > 0 && text[0] == '%') == percent;
    const struct meaning_format *row = fits ? FIND_FORMAT(formats, text, len) : NULL;
    return row ? make_period(r, row->period, row->form, date, node) : NULL;
}

static struct meaning_term *read_field(struct meaning_reader *r, const struct sql_node *node, const char *text,
                                       size_t len, struct meaning_term *date)
{
    const char *name = meaning_lower(r, text, len);
    const struct meaning_format *row = FIND_FORMAT(fields, name, len);
    return row ? make_period(r, row->period, row->form, date, node) : NULL;
}

static struct meaning_term *read_cut(struct meaning_reader *r, const struct sql_node *node, struct meaning_term *field,
                                     struct meaning_term *date)
{
    size_t len;
    const char *text = text_of(field, &len), *name = text ? meaning_lower(r, text, len) : "";
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (strcmp(cuts[i], name) == 0) return make_period(r, cuts[i], "date", date, node);
    return NULL;
}

/* Reads substr(date, 1, 4) or left(date, 7) as a period. Returns NULL for other lengths. */
static struct meaning_term *read_prefix(struct meaning_reader *r, const struct sql_node *node,
                                        struct meaning_term *date, struct meaning_term *length)
{
    static const struct meaning_format rows[] = {
        {"4", "year", "2024"}, {"7", "month", "2024-01"}, {"10", "day", "2024-01-01"}};
    if (date->kind != MEANING_COLUMN || !meaning_is_value(length, NULL)) return NULL;
    const struct meaning_format *row = FIND_FORMAT(rows, length->name, strlen(length->name));
    return row ? make_period(r, row->period, row->form, date, node) : NULL;
}

static bool is_call(const char *name, const char *first, const char *second)
{
    return strcmp(name, first) == 0 || strcmp(name, second) == 0;
}

struct meaning_term *meaning_read_period(struct meaning_reader *r, const struct sql_node *node,
                                         struct meaning_term **args, uint32_t n)
{
    if (node->kind == SQL_EXTRACT) return read_field(r, node, node->text, node->text_len, args[0]);
    const char *name = meaning_lower(r, node->text, node->text_len);
    if (n == 2 && is_call(name, "strftime", "")) return read_format(r, node, args[0], args[1], true);
    if (n == 2 && is_call(name, "date_format", "")) return read_format(r, node, args[1], args[0], true);
    if (n == 2 && is_call(name, "to_char", "")) return read_format(r, node, args[1], args[0], false);
    if (n == 2 && is_call(name, "date_trunc", "")) return read_cut(r, node, args[0], args[1]);
    if (n == 3 && is_call(name, "substr", "substring") && meaning_is_value(args[1], "1"))
        return read_prefix(r, node, args[0], args[2]);
    if (n == 2 && is_call(name, "left", "")) return read_prefix(r, node, args[0], args[1]);
    size_t len;
    const char *text = n == 2 && is_call(name, "date_part", "") ? text_of(args[0], &len) : NULL;
    if (text) return read_field(r, node, text, len, args[1]);
    if (n == 1 && (is_call(name, "year", "month") || is_call(name, "quarter", "")))
        return read_field(r, node, name, strlen(name), args[0]);
    return n == 1 && is_call(name, "date", "") ? make_period(r, "day", "2024-01-01", args[0], node) : NULL;
}

/* --- calendar ------------------------------------------------------------------------------------------------- */

struct meaning_date {
    int year, month, day;
};

static bool is_number(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return n > 0;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Reads "2024", "2024-05" or "2024-05-12"; a missing field is 1. Returns the number of fields, or 0. */
static int parse_date(const char *text, size_t len, struct meaning_date *out)
{
    *out = (struct meaning_date){0, 1, 1};
    bool good = (len == 4 || (len >= 7 && text[4] == '-' && is_number(text + 5, 2))) && is_number(text, 4) &&
                (len == 4 || len == 7 || (len == DATE_LEN && text[7] == '-' && is_number(text + 8, 2)));
    if (!good) return 0;
    out->year = atoi(text);
    if (out->year == 9999) return 0; /* the next year is not an ISO text */
    if (len >= 7) out->month = atoi(text + 5);
    if (len == DATE_LEN) out->day = atoi(text + 8);
    if (out->month < 1 || out->month > 12 || out->day < 1 || out->day > days_of_month(out->year, out->month)) return 0;
    return len == 4 ? 1 : len == 7 ? 2 : 3;
}

/* Returns the first day after the year (1 field known), the month (2) or the day (3). */
static struct meaning_date next_date(struct meaning_date d, int fields_known)
{
    if (fields_known == 3 && d.day < days_of_month(d.year, d.month))
        return (struct meaning_date){d.year, d.month, d.day + 1};
    if (fields_known >= 2 && d.month < 12) return (struct meaning_date){d.year, d.month + 1, 1};
    return (struct meaning_date){d.year + 1, 1, 1};
}

static bool same_date(struct meaning_date a, struct meaning_date b)
{
    return a.year == b.year && a.month == b.month && a.day == b.day;
}

/* Returns the name of the period from `low` up to `high`, which it excludes. */
static const char *label_of(struct meaning_reader *r, struct meaning_date low, struct meaning_date high)
{
    char label[MOST_LABEL];
    struct meaning_date quarter = {low.year + (low.month == 10), low.month == 10 ? 1 : low.month + 3, 1};
    if (low.month == 1 && low.day == 1 && same_date(next_date(low, 1), high))
        snprintf(label, sizeof label, "%04d", low.year);
    else if (low.month % 3 == 1 && low.day == 1 && same_date(quarter, high))
        snprintf(label, sizeof label, "%04d-Q%d", low.year, low.month / 3 + 1);
    else if (low.day == 1 && same_date(next_date(low, 2), high))
        snprintf(label, sizeof label, "%04d-%02d", low.year, low.month);
    else if (same_date(next_date(low, 3), high))
        snprintf(label, sizeof label, "%04d-%02d-%02d", low.year, low.month, low.day);
    else
        snprintf(label, sizeof label, "%04d-%02d-%02d..%04d-%02d-%02d", low.year, low.month, low.day, high.year,
                 high.month, high.day);
    char *copy = arena_strdup(r->arena, label);
    if (!copy) r->failed = true;
    return copy ? copy : "";
}

static struct meaning_term *make_in_period(struct meaning_reader *r, struct meaning_term *date, struct meaning_date low,
                                           struct meaning_date high)
{
    struct meaning_term *label = meaning_term_make(r, MEANING_VALUE, label_of(r, low, high), NULL, 0, NULL);
    return meaning_term_make(r, MEANING_OPERATION, "in period", (struct meaning_term *[]){date, label}, 2, NULL);
}

static struct meaning_term *make_bound(struct meaning_reader *r, const char *op, struct meaning_term *date,
                                       struct meaning_date at)
{
    char *text = arena_printf(r->arena, "'%04d-%02d-%02d'", at.year, at.month, at.day);
    if (!text) r->failed = true;
    struct meaning_term *value = meaning_term_make(r, MEANING_VALUE, text ? text : "", NULL, 0, NULL);
    return meaning_term_make(r, MEANING_OPERATION, op, (struct meaning_term *[]){date, value}, 2, NULL);
}

/* --- conditions ----------------------------------------------------------------------------------------------- */

/* Reads LIKE '2024-%' or LIKE '2024-05-%' as a period. Returns NULL for other patterns. */
static struct meaning_term *read_pattern(struct meaning_reader *r, struct meaning_term *left,
                                         struct meaning_term *right)
{
    size_t len;
    struct meaning_date low;
    const char *text = text_of(right, &len);
    if (!text || left->kind != MEANING_COLUMN || len < 6 || text[len - 1] != '%') return NULL;
    size_t digits = text[len - 2] == '-' ? len - 2 : len - 1;
    bool fits = text[len - 2] == '-' ? digits < DATE_LEN : digits == DATE_LEN;
    int n = fits ? parse_date(text, digits, &low) : 0;
    return n ? make_in_period(r, left, low, next_date(low, n)) : NULL;
}

/* Returns the number of date fields of the period if the literal is a value of it; otherwise 0. */
static int fields_of(const struct meaning_term *period, const char *text, size_t len, struct meaning_date *out)
{
    static const char *const names[] = {"", "year", "month", "day"};
    int n = parse_date(text, len, out);
    if (strcmp(period->form, "date") == 0) { /* date_trunc returns the first day of the period */
        for (int i = 1; i <= 3; i++)
            if (n == 3 && strcmp(period->name, names[i]) == 0)
                return (i >= 3 || out->day == 1) && (i >= 2 || out->month == 1) ? i : 0;
        return 0;
    }
    return n && strcmp(period->name, names[n]) == 0 ? n : 0;
}

static struct meaning_term *compare_period(struct meaning_reader *r, const char *op, struct meaning_term *period,
                                           const char *text, size_t len)
{
    struct meaning_date low;
    int n = fields_of(period, text, len, &low);
    if (!n) return NULL;
    struct meaning_term *date = period->parts[0];
    struct meaning_date high = next_date(low, n);
    if (strcmp(op, "=") == 0) return make_in_period(r, date, low, high);
    if (strcmp(op, ">=") == 0) return make_bound(r, ">=", date, low);
    if (strcmp(op, "<") == 0) return make_bound(r, "<", date, low);
    if (strcmp(op, ">") == 0) return make_bound(r, ">=", date, high);
    if (strcmp(op, "<=") == 0) return make_bound(r, "<", date, high);
    return NULL;
}

struct meaning_term *meaning_period_condition(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                              struct meaning_term *right)
{
    size_t len;
    if (strcmp(op, "like") == 0) return read_pattern(r, left, right);
    if (left->kind != MEANING_PERIOD || !meaning_is_value(right, NULL)) return NULL;
    const char *text = text_of(right, &len);
    bool number = strcmp(left->form, "number") == 0;
    if (!text == !number) return NULL;
    return text ? compare_period(r, op, left, text, len)
                : compare_period(r, op, left, right->name, strlen(right->name));
}

/* True if the term is a bound by `op` at the start of a day. Sets *out to the day. */
static bool read_bound(const struct meaning_term *term, const char *op, struct meaning_date *out)
{
    size_t len;
    const char *text = meaning_is_operation(term, op) ? text_of(term->parts[1], &len) : NULL;
    return text && len == DATE_LEN && parse_date(text, len, out) == 3;
}

struct meaning_term *meaning_merge_bounds(struct meaning_reader *r, struct meaning_term *a, struct meaning_term *b)
{
    struct meaning_date low, high;
    if (meaning_is_operation(a, "<")) {
        struct meaning_term *other = a;
        a = b;
        b = other;
    }
    if (!read_bound(a, ">=", &low) || !read_bound(b, "<", &high)) return NULL;
    if (a->parts[0]->hash != b->parts[0]->hash) return NULL;
    struct meaning_term *term = make_in_period(r, a->parts[0], low, high);
    if (!r->failed) term->start = a->start, term->end = b->end;
    return term;
}
