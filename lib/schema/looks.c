/* Recognises texts that are numbers, dates or times. */
#include "lib/schema/tally.h"

#include <glib.h>
#include <string.h>

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && g_ascii_isdigit(*p)) p++;
    return p;
}

bool looks_numeric(const char *text, size_t len)
{
    const char *p = text, *end = text + len;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *whole = skip_digits(p, end);
    bool some = whole > p;
    if (whole < end && *whole == '.') {
        const char *fraction = skip_digits(whole + 1, end);
        some |= fraction > whole + 1;
        whole = fraction;
    }
    return some && whole == end;
}

/* A run of digits. */
struct number {
    int value;
    size_t digits; /* 0 if there are none */
};

static struct number read_number(const char **p, const char *end)
{
    struct number n = {0, 0};
    for (; *p < end && g_ascii_isdigit(**p) && n.digits < 5; (*p)++, n.digits++) n.value = n.value * 10 + (**p - '0');
    return n;
}

static bool in_range(struct number n, size_t max_digits, int low, int high)
{
    return n.digits >= 1 && n.digits <= max_digits && n.value >= low && n.value <= high;
}

/* Matches 12:30, 12:30:05 or 12:30:05.123, optionally followed by AM, PM, Z or an offset. */
static bool is_time(const char *p, const char *end)
{
    struct number hour = read_number(&p, end);
    if (!in_range(hour, 2, 0, 24) || p == end || *p != ':') return false;
    for (int part = 0; part < 2 && p < end && *p == ':'; part++) {
        p++;
        struct number n = read_number(&p, end);
        if (n.digits != 2 || n.value > 60) return false;
    }
    if (p < end && *p == '.') p = skip_digits(p + 1, end);
    while (p < end && strchr(" AaPpMmZ+-:0123456789", *p)) p++;
    return p == end;
}

static bool is_rest_time(const char *p, const char *end)
{
    if (p == end) return true;
    return (*p == 'T' || *p == ' ') && is_time(p + 1, end);
}

static bool is_year(struct number n)
{
    return n.digits == 4 && n.value >= 1000 && n.value <= 2999;
}

/* Matches three numbers with the same separator: y-m-d, d-m-y or m-d-y. */
static bool is_numeric_date(const char *p, const char *end)
{
    struct number a = read_number(&p, end);
    if (p == end || !strchr("-/.", *p)) return false;
    char sign = *p++;
    struct number b = read_number(&p, end);
    if (p == end || *p++ != sign) return false;
    struct number c = read_number(&p, end);
    bool middle = in_range(b, 2, 1, 31);
    bool year_first = is_year(a) && middle && in_range(c, 2, 1, 31);
    bool year_last = in_range(a, 2, 1, 31) && middle && (is_year(c) || (c.digits == 2 && sign != '.'));
    return (year_first || year_last) && is_rest_time(p, end);
}

/* Returns the length of the month name at p, full or abbreviated. Returns 0 if there is none. */
static size_t month_name(const char *p, const char *end)
{
    static const char *const months[] = {"january", "february", "march",     "april",   "may",      "june",
                                         "july",    "august",   "september", "october", "november", "december"};
    size_t letters = 0;
    while (p + letters < end && g_ascii_isalpha(p[letters])) letters++;
    if (letters < 3 || letters > 9) return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(months); i++) {
        if (g_ascii_tolower(*p) != months[i][0]) continue;
        bool whole = letters == strlen(months[i]);
        bool cut = letters == 3 || (letters == 4 && i == 8);
        if ((whole || cut) && g_ascii_strncasecmp(p, months[i], letters) == 0) return letters;
    }
    return 0;
}

static const char *skip_signs(const char *p, const char *end)
{
    while (p < end && strchr(" -,./", *p)) p++;
    return p;
}

/* Matches "3 May 2001", "May 3, 2001", "May 2001", "03-MAY-01". */
static bool is_named_date(const char *p, const char *end)
{
    struct number day = read_number(&p, end);
    p = skip_signs(p, end);
    size_t month = month_name(p, end);
    if (!month) return false;
    p = skip_signs(p + month, end);
    struct number n = read_number(&p, end);
    if (!day.digits && in_range(n, 2, 1, 31)) {
        p = skip_signs(p, end);
        n = read_number(&p, end);
    }
    return (is_year(n) || (day.digits && n.digits == 2)) && is_rest_time(p, end);
}

bool looks_like_date(const char *text, size_t len)
{
    if (len < 5 || len > 40) return false;
    const char *end = text + len;
    if (!g_ascii_isdigit(*text)) return is_named_date(text, end);
    return is_numeric_date(text, end) || is_time(text, end) || is_named_date(text, end);
}
