#include "signals/support/day.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { ISO_DAY = 10, MOST_TOKENS = 6 }; /* ISO_DAY: bytes of "2024-06-30"; MOST_TOKENS: tokens of "Mar 3rd, 2024" */

/* Reads a run of tokens as a day. The run must begin and end with a part of the date, not with "of". */
static bool read_run(const struct text_tokens *tokens, uint32_t first, uint32_t n, struct vsig_said_day *out)
{
    static const char *const INNER[] = {"of", "t", NULL};
    const struct text_token *from = &tokens->items[first], *to = &tokens->items[first + n - 1];
    if (from->kind == TEXT_PUNCT || to->kind == TEXT_PUNCT) return false;
    if (question_token_is(from, INNER) || question_token_is(to, INNER)) return false;
    *out = (struct vsig_said_day){.first = first, .n_tokens = n};
    for (int way = 0; way < 2; way++) {
        struct question_date *date = &out->dates[way];
        if (!question_read_date(tokens->source + from->start, to->end - from->start, way == 0, date)) return false;
        if (date->day < 1 || date->month < 1) return false;
    }
    return true;
}

uint32_t vsig_said_days(const struct vsig_subject *subject, struct vsig_said_day out[VSIG_MAX_SAID_DAYS])
{
    if (!subject->analysis) return 0;
    const struct text_tokens *tokens = &subject->analysis->tokens;
    uint32_t found = 0;
    for (uint32_t i = 0; i < tokens->n && found < VSIG_MAX_SAID_DAYS; i++) {
        uint32_t n = MIN((uint32_t)MOST_TOKENS, tokens->n - i);
        while (n && !read_run(tokens, i, n, &out[found])) n--;
        if (!n) continue;
        found++;
        i += n - 1;
    }
    return found;
}

bool vsig_is_said_day(const struct vsig_said_day *said, const struct question_date *day)
{
    for (int way = 0; way < 2; way++) {
        const struct question_date *date = &said->dates[way];
        if (date->day == day->day && date->month == day->month && (date->year < 0 || date->year == day->year))
            return true;
    }
    return false;
}

uint32_t vsig_token_before_day(const struct vsig_subject *subject, const struct vsig_said_day *said)
{
    static const char *const SKIPPED[] = {"the",      "monday", "tuesday", "wednesday", "thursday", "friday",
                                          "saturday", "sunday", "day",     "date",      ",",        NULL};
    const struct text_tokens *tokens = &subject->analysis->tokens;
    uint32_t at = said->first;
    while (at > 0 && question_token_is(&tokens->items[at - 1], SKIPPED)) at--;
    return at > 0 ? at - 1 : UINT32_MAX;
}

/* Returns the operand of a cast or a call that converts a text to a date or a time. Returns any other node itself. */
static const struct sql_node *inside_conversion(const struct sql_node *node)
{
    static const char *const CALLS[] = {"date", "datetime", "timestamp", "to_date"};
    if (sql_is(node, SQL_TYPED) || sql_is(node, SQL_CAST)) return sql_kid(node, 0);
    const struct sql_node *args = sql_is(node, SQL_CALL) ? sql_kid(node, CALL_ARGS) : NULL;
    for (size_t i = 0; args && args->n_kids == 1 && i < G_N_ELEMENTS(CALLS); i++)
        if (sql_name_is(node->text, node->text_len, CALLS[i], strlen(CALLS[i]))) return args->kids[0];
    return node;
}

/* True if the text begins with a day in the form 2024-06-30, which is stored in *day. */
static bool reads_as_day(const char *text, struct question_date *day)
{
    return text[4] == '-' && text[7] == '-' && question_read_date(text, ISO_DAY, true, day) && day->day > 0;
}

bool vsig_read_day(const struct sql_node *node, struct question_date *day)
{
    const struct sql_node *literal = inside_conversion(node);
    if (!sql_is(literal, SQL_LITERAL) || literal->op != SQL_LIT_STRING || literal->text_len < ISO_DAY) return false;
    for (size_t i = ISO_DAY; i < literal->text_len; i++)
        if (!strchr(" T0:.Z", literal->text[i])) return false;
    return reads_as_day(literal->text, day);
}

const char *vsig_next_day(struct arena *arena, const struct question_date *day)
{
    GDate date;
    GDateDay d = (GDateDay)day->day;
    GDateMonth m = (GDateMonth)day->month;
    GDateYear y = (GDateYear)day->year;
    if (!g_date_valid_dmy(d, m, y)) return NULL;
    g_date_clear(&date, 1);
    g_date_set_dmy(&date, d, m, y);
    g_date_add_days(&date, 1);
    return arena_printf(arena, "%04d-%02d-%02d", g_date_get_year(&date), (int)g_date_get_month(&date),
                        g_date_get_day(&date));
}
