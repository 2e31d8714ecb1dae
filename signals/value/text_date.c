/* text_date: a comparison or sort of dates that are stored as text in a form that does not sort by time.
 *
 * As text, '05/03/2024' is less than '12/01/2024', but it is the later date. The frequent values of the column prove
 * the fault. All have a form with the year at the end, and two of them have another order as texts than as dates. A
 * form with the year first, such as ISO, sorts by time. */
#include "signals/support/ordering.h"

#include <string.h>

enum { MAX_VALUES = 16 };

/* A date with the year at the end. The first two numbers are the day and the month, in either order. */
struct end_date {
    const char *text;
    int first, second, year;
};

/* Reads one or two digits and the separator after them. Returns the number of bytes read, or 0 if the text does not
 * begin with them. */
static size_t read_part(const char *text, char *mark, int *number)
{
    size_t n = 0;
    for (*number = 0; n < 2 && text[n] >= '0' && text[n] <= '9'; n++) *number = *number * 10 + (text[n] - '0');
    *mark = text[n];
    return n && *mark && strchr("/.-", *mark) ? n + 1 : 0;
}

static bool read_end_date(const struct db_value *value, struct end_date *out)
{
    char mark = 0, other = 0;
    if (value->type != DB_TEXT) return false;
    *out = (struct end_date){.text = value->text};
    size_t first = read_part(value->text, &mark, &out->first);
    size_t second = first ? read_part(value->text + first, &other, &out->second) : 0;
    const char *year = value->text + first + second;
    if (!second || mark != other || strspn(year, "0123456789") != 4) return false;
    for (int i = 0; i < 4; i++) out->year = out->year * 10 + (year[i] - '0');
    return (year[4] == '\0' || year[4] == ' ') && out->first <= 31 && out->second <= 31;
}

static int time_of(const struct end_date *date, bool day_first)
{
    int day = day_first ? date->first : date->second, month = day_first ? date->second : date->first;
    return (date->year * 12 + month) * 31 + day;
}

/* True if two dates have another order as texts than in time. */
static bool is_unordered(const struct end_date *dates, uint32_t n, bool day_first)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            if (strcmp(dates[i].text, dates[k].text) < 0 &&
                time_of(&dates[i], day_first) > time_of(&dates[k], day_first))
                return true;
    return false;
}

/* True if all frequent values are such dates, and two of them do not sort by time. */
static bool holds_unordered_dates(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    struct end_date dates[MAX_VALUES];
    uint32_t n = 0;
    bool day_first = false, month_first = false;
    for (uint32_t i = 0; i < stats->n_top && n < MAX_VALUES; i++) {
        if (!read_end_date(&stats->top[i].value, &dates[n])) return false;
        day_first |= dates[n].first > 12;
        month_first |= dates[n].second > 12;
        n++;
    }
    if (n < 2 || (day_first && month_first)) return false;
    if (day_first || month_first) return is_unordered(dates, n, day_first);
    /* it is unknown which comes first, so both readings must sort wrongly */
    return is_unordered(dates, n, true) && is_unordered(dates, n, false);
}

static void report_dates(struct vsig_run *run, const struct vsig_ordering *ordering, const struct schema_table *table)
{
    const char *column = ordering->column->name;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, ordering->node,
                  "%s.%s stores dates as text with the year at the end, so they are not %s by time", table->name,
                  column, vsig_ordering_verb(ordering));
    vsig_add_fact(run, finding, "column", false, "%s.%s", table->name, column);
}

struct text_date_search {
    struct vsig_run *run;
    enum err_code code; /* the error for a column without known values */
};

static void inspect_ordering(void *ctx, const struct vsig_ordering *ordering)
{
    struct text_date_search *search = ctx;
    const struct schema_table *table = &search->run->subject->schema->tables[ordering->column->table];
    if (!table->scannable) search->code = ERR_NO_DATA;
    if (holds_unordered_dates(ordering->column)) report_dates(search->run, ordering, table);
}

static enum err_code text_date_eval(struct vsig_run *run)
{
    struct text_date_search search = {.run = run};
    vsig_each_ordering(run->subject, inspect_ordering, &search);
    return run->verdict->state == VSIG_FIRED ? ERR_OK : search.code;
}

const struct vsig_def vsig_text_date = {
    .id = VSIG_ID_text_date,
    .name = "text_date",
    .family = VSIG_VALUE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "dates stored as text with the year at the end are compared or sorted as text",
    .description = "The column stores dates as text such as '05/03/2024'. As texts they are compared by day or month "
                   "first, so later dates can be less than earlier ones.",
    .example = "`SELECT count(*) FROM booking WHERE day > '01/03/2024'` also counts '05/01/2024'.",
    .instruction = "Compare the year first, then the month, then the day: "
                   "`substr(day, 7, 4) || substr(day, 4, 2) || substr(day, 1, 2)`.",
    .eval = text_date_eval,
};
