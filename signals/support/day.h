/* Reads days: literals of a query that denote a day, and days that the question mentions. */
#ifndef ASSAY_SIGNALS_SUPPORT_DAY_H
#define ASSAY_SIGNALS_SUPPORT_DAY_H

#include "lib/question/forms.h"
#include "signals/vsig.h"

/* A day that the question mentions: "3 March 2024", "March 3rd", "3/5/2024", "2024-03-03". */
struct vsig_said_day {
    uint32_t first, n_tokens;
    struct question_date dates[2]; /* the date if the day comes first, and if the month comes first; the two are often
                                    * equal; year is -1 if it is missing */
};
enum { VSIG_MAX_SAID_DAYS = 8 };

/* Lists the days that the question mentions, in their order. Returns their number, which is 0 without a question. */
uint32_t vsig_said_days(const struct vsig_subject *subject, struct vsig_said_day out[VSIG_MAX_SAID_DAYS]);

/* True if `day` is the day that the question mentions, in one of the two orders. A mention without a year matches any
 * year. */
bool vsig_is_said_day(const struct vsig_said_day *said, const struct question_date *day);

/* Returns the last token before the day. Skips "the", "day", "date", commas and weekdays. Returns UINT32_MAX if there
 * is no token. */
uint32_t vsig_token_before_day(const struct vsig_subject *subject, const struct vsig_said_day *said);

/* Reads a literal that denotes a day without a time, or the midnight at its start. Accepts '2024-06-30', '2024-06-30
 * 00:00:00', DATE '2024-06-30', CAST('2024-06-30' AS DATE) and date('2024-06-30'). Returns false for other nodes. */
bool vsig_read_day(const struct sql_node *node, struct question_date *day);

/* Returns the next day in the form 2024-07-01. Returns NULL if `day` does not exist or the arena is full. */
const char *vsig_next_day(struct arena *arena, const struct question_date *day);

#endif
