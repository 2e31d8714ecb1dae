/* Days: the literals of a query that are a day, and the days that a question says. */
#ifndef ASSAY_SIGNALS_SUPPORT_DAY_H
#define ASSAY_SIGNALS_SUPPORT_DAY_H

#include "lib/question/forms.h"
#include "signals/vsig.h"

/* A day that the question says: "3 March 2024", "March 3rd", "3/5/2024", "2024-03-03". */
struct vsig_said_day {
    uint32_t first, n_tokens;
    struct question_date dates[2]; /* read day first and month first; often equal; year -1 if it is not said */
};
enum { VSIG_MAX_SAID_DAYS = 8 };

/* Lists the days of the question in order. Returns their number; 0 without a question. */
uint32_t vsig_said_days(const struct vsig_subject *subject, struct vsig_said_day out[VSIG_MAX_SAID_DAYS]);

/* True if the question means that day. A day without a year fits any year. */
bool vsig_is_said_day(const struct vsig_said_day *said, const struct question_date *day);

/* Returns the token directly before the day, but not "the" or a day of the week. UINT32_MAX if there is none. */
uint32_t vsig_token_before_day(const struct vsig_subject *subject, const struct vsig_said_day *said);

/* Reads a literal that is a day without a time, or its midnight: '2024-06-30', '2024-06-30 00:00:00', DATE
 * '2024-06-30', CAST('2024-06-30' AS DATE), date('2024-06-30'). */
bool vsig_read_day(const struct sql_node *node, struct question_date *day);

/* Returns the day after a day as '2024-07-01', without quotes. NULL if the arena is full or the day does not exist. */
const char *vsig_next_day(struct arena *arena, const struct question_date *day);

#endif
