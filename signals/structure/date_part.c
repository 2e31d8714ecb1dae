/* The query takes another part of a date than the question names (the day where it says August), or takes it out of
 * values that the engine's date functions cannot read. */
#include "signals/support/names.h"
#include "signals/support/part.h"

static enum err_code date_part_eval(struct vsig_run *run)
{
    struct vsig_parts parts;
    vsig_parts_look(run->subject, &parts);
    if (parts.unreadable) {
        const struct schema_table *table = &run->subject->schema->tables[parts.column->table];
        vsig_fire(run, VSIG_ERROR, parts.unreadable,
                  "%s.%s holds no dates that this function can read: it gives NULL or another year", table->name,
                  parts.column->name);
    }
    if (parts.monthless)
        vsig_fire(run, VSIG_ERROR, parts.monthless, "year and day are taken without the month between them");
    if (parts.at && !parts.match)
        vsig_fire(run, VSIG_ERROR, parts.at, "the question names a %s, the query takes the %s",
                  vsig_part_name(parts.wanted), vsig_part_name(parts.taken));
    return ERR_OK;
}

const struct vsig_def vsig_date_part = {
    .id = VSIG_ID_date_part,
    .name = "date_part",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "the query compares the day of a date where the question names a month, or takes parts of what is no "
                "date to the engine",
    .description = "The part that is taken out of a date is not the one that the question speaks of, or the column's "
                   "values are in a form of which the date function makes nothing.",
    .example = "Who was hired in August? SELECT name FROM staff WHERE strftime('%d', hired) = '08'",
    .instruction = "Compare the part that the question names: %Y year, %m month, %d day of the month, %w weekday; use "
                   "substr or LIKE where dates are not written as 2014-08-31.",
    .eval = date_part_eval,
};
