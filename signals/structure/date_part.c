/* date_part: the query extracts another part of a date than the question names, such as the day for "August".
 *
 * The signal also fires if the date functions of the engine cannot read the values. It fires if a number stands for
 * another weekday than the question names, and if groups by month combine several years. */
#include "signals/support/calendar.h"
#include "signals/support/names.h"
#include "signals/support/part.h"
#include "signals/support/quarter.h"

static void check_weekday(struct vsig_run *run)
{
    struct vsig_weekday_slip slip;
    if (!vsig_weekday_slip_find(run->subject, &slip)) return;
    if (!slip.taken)
        vsig_fire(run, VSIG_ERROR, slip.at,
                  "no day of the week has this number: in this function Sunday is %d and Monday is %d", slip.sunday,
                  slip.monday);
    else if (slip.meant)
        vsig_fire(run, VSIG_ERROR, slip.at,
                  "%s %s, but the number is that of %s: in this function Sunday is %d and "
                  "Monday is %d",
                  slip.labelled ? "the label says" : "the question names", slip.meant, slip.taken, slip.sunday,
                  slip.monday);
}

/* Checks calculations of quarters. Skips questions about seasons, which may begin in another month. */
static void check_quarters(struct vsig_run *run)
{
    static const char *const SEASON[] = {"season", NULL}, *const QUARTER[] = {"quarter", "q1", "q2", "q3", "q4", NULL};
    const struct sql_node *root = run->subject->stmt->root;
    if (vsig_question_says(run->subject, SEASON)) return;
    bool said = vsig_question_says(run->subject, QUARTER);
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (vsig_quarter_of(run->subject, n) != VSIG_QUARTER_WRONG) continue;
        vsig_fire(run, said ? VSIG_ERROR : VSIG_WARNING, n,
                  "this division of the month by 3 separates months of one quarter; (month + 2) / 3 is the quarter");
        return;
    }
}

static enum err_code check_months(struct vsig_run *run)
{
    enum err_code code;
    const struct sql_node *month = vsig_merged_months(run->subject, &code);
    if (month)
        vsig_fire(run, VSIG_ERROR, month,
                  "the months of different years are put together, because the groups have the month without its year");
    return code;
}

static enum err_code date_part_eval(struct vsig_run *run)
{
    struct vsig_parts parts;
    vsig_parts_look(run->subject, &parts);
    if (parts.unreadable) {
        const struct schema_table *table = &run->subject->schema->tables[parts.column->table];
        vsig_fire(run, VSIG_ERROR, parts.unreadable,
                  "this function cannot read the dates of %s.%s, so it returns NULL or a wrong year", table->name,
                  parts.column->name);
    }
    if (parts.monthless)
        vsig_fire(run, VSIG_ERROR, parts.monthless, "the query extracts the year and the day but not the month");
    if (parts.at && !parts.match)
        vsig_fire(run, VSIG_ERROR, parts.at, "the question names a %s, but the query extracts the %s",
                  vsig_part_name(parts.wanted), vsig_part_name(parts.taken));
    check_weekday(run);
    check_quarters(run);
    enum err_code code = check_months(run);
    return run->verdict->state == VSIG_FIRED ? ERR_OK : code;
}

const struct vsig_def vsig_date_part = {
    .id = VSIG_ID_date_part,
    .name = "date_part",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "the query uses a different part of a date than the question means, or a date function on an "
                "unsupported format",
    .description = "The query extracts a different part of the date than the question names. Or the column's values "
                   "have a format that the date function cannot read. Or a number is not that of the day of the week "
                   "meant. Or groups by month put the same month of several years together.",
    .example = "Who was hired in August? - SELECT name FROM staff WHERE strftime('%d', hired) = '08'",
    .instruction =
        "Compare the part that the question names: %Y year, %m month, %d day of the month, %w weekday. For each month "
        "of each year, group by the year and the month. If dates do not look like 2014-08-31, use substr or LIKE.",
    .eval = date_part_eval,
};
