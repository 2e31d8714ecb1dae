/* Finds months that are extracted without their year, and wrong numbers of weekdays.
 *
 * One table lists the functions and formats that extract a month or a weekday. Engines number the weekdays differently,
 * so each row has the numbers of Sunday and Monday. */
#include "signals/support/calendar.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { DAYS = 7, WEEKEND_NAME = DAYS, NO_DAY = -1, SHORT_NAME = 3 };

/* A function, or EXTRACT, with its format. `exact` is true if the case of the format matters. */
struct date_form {
    const char *call, *format;
    bool exact, weekday;
    int sunday, monday;
};

static const struct date_form FORMS[] = {
    {"strftime", "%m", true, false, 0, 0},      {"date_format", "%m", true, false, 0, 0},
    {"date_format", "%c", true, false, 0, 0},   {"date_format", "%b", true, false, 0, 0},
    {"date_format", "%M", true, false, 0, 0},   {"extract", "month", false, false, 0, 0},
    {"date_part", "month", false, false, 0, 0}, {"to_char", "MM", false, false, 0, 0},
    {"to_char", "Mon", false, false, 0, 0},     {"to_char", "Month", false, false, 0, 0},
    {"to_char", "FMMM", false, false, 0, 0},    {"to_char", "FMMon", false, false, 0, 0},
    {"to_char", "FMMonth", false, false, 0, 0}, {"month", NULL, false, false, 0, 0},
    {"monthname", NULL, false, false, 0, 0},    {"strftime", "%w", true, true, 0, 1},
    {"strftime", "%u", true, true, 7, 1},       {"date_format", "%w", true, true, 0, 1},
    {"extract", "dow", false, true, 0, 1},      {"date_part", "dow", false, true, 0, 1},
    {"extract", "isodow", false, true, 7, 1},   {"date_part", "isodow", false, true, 7, 1},
    {"to_char", "D", false, true, 1, 2},        {"to_char", "ID", false, true, 7, 1},
    {"dayofweek", NULL, false, true, 1, 2},     {"weekday", NULL, false, true, 6, 0},
};

static bool text_is(const char *text, size_t len, const char *word, bool exact)
{
    if (exact) return strlen(word) == len && strncmp(word, text, len) == 0;
    return text && sql_name_is(text, len, word, strlen(word));
}

/* A call that extracts a part of a date: the name of its function, its format, and the date. */
struct date_call {
    const char *name;
    size_t name_len;
    const char *format;
    size_t format_len;
    const struct sql_node *date;
};

static bool read_call(const struct sql_node *node, struct date_call *call)
{
    *call = (struct date_call){.name = node->text, .name_len = node->text_len};
    if (sql_is(node, SQL_EXTRACT)) {
        *call = (struct date_call){"extract", strlen("extract"), node->text, node->text_len, sql_kid(node, 0)};
        return call->format && call->date;
    }
    const struct sql_node *args = sql_is(node, SQL_CALL) ? sql_kid(node, CALL_ARGS) : NULL;
    if (!args || !node->text || args->n_kids < 1 || args->n_kids > 2) return false;
    const struct sql_node *first = query_literal(args->kids[0], NULL);
    const struct sql_node *second = args->n_kids == 2 ? query_literal(args->kids[1], NULL) : NULL;
    const struct sql_node *format = args->n_kids == 1 ? NULL : first ? first : second;
    if (args->n_kids == 2 && (!format || !format->text)) return false;
    call->format = format ? format->text : NULL;
    call->format_len = format ? format->text_len : 0;
    call->date = args->kids[args->n_kids == 2 && first ? 1 : 0];
    return true;
}

/* Returns the row of FORMS for a node that extracts a month or a weekday, and sets *date. Returns NULL for any other
 * node. */
static const struct date_form *form_of(const struct sql_node *node, const struct sql_node **date)
{
    struct date_call call;
    if (!read_call(node, &call)) return NULL;
    *date = call.date;
    for (size_t i = 0; i < G_N_ELEMENTS(FORMS); i++) {
        const struct date_form *form = &FORMS[i];
        if (!form->format != !call.format || !text_is(call.name, call.name_len, form->call, false)) continue;
        if (!form->format || text_is(call.format, call.format_len, form->format, form->exact)) return form;
    }
    return NULL;
}

/* --- weekdays ----------------------------------------------------------------------------------------------------- */

static const char *const DAY_NAMES[DAYS + 1] = {"Sunday",   "Monday", "Tuesday",  "Wednesday",
                                                "Thursday", "Friday", "Saturday", "the weekend"};

static int day_of_number(const struct date_form *form, double number)
{
    if (fabs(number - form->sunday) < 1e-9) return 0;
    for (int day = 1; day < DAYS; day++)
        if (fabs(number - form->monday - (day - 1)) < 1e-9) return day;
    return NO_DAY;
}

/* Returns the weekday with this name. Accepts the plural and the first three letters: "Sunday", "sundays", "Sun". */
static int day_of_name(const char *text, size_t len, bool may_be_short)
{
    for (int day = 0; day < DAYS; day++) {
        size_t full = strlen(DAY_NAMES[day]);
        bool plural = len == full + 1 && (text[full] == 's' || text[full] == 'S');
        if (len != full && !plural && !(may_be_short && len == SHORT_NAME)) continue;
        if (g_ascii_strncasecmp(text, DAY_NAMES[day], MIN(len, full)) == 0) return day;
    }
    return NO_DAY;
}

static unsigned range_of_days(int from, int to)
{
    unsigned days = 1U << to;
    for (int day = from; day != to; day = (day + 1) % DAYS) days |= 1U << day;
    return days;
}

/* True if words other than a name may decide which day the question means: "on weekdays", "the day before Sunday". */
static bool has_other_words(const struct vsig_subject *subject)
{
    static const char *const OTHER[] = {"weekday",  "weekdays",    "workday",    "workdays",  "working",
                                        "business", "working day", "day before", "day after", NULL};
    struct question_phrase at;
    if (question_phrase_find(subject->analysis, OTHER, 0, &at)) return true;
    const struct text_tokens *evidence = &subject->analysis->evidence;
    for (uint32_t i = 0; i < evidence->n; i++)
        if (day_of_name(evidence->items[i].norm, strlen(evidence->items[i].norm), false) != NO_DAY) return true;
    return false;
}

/* Returns the weekdays that the question names, as bits 1U << day. *one gets one of them. */
static unsigned days_said(const struct vsig_subject *subject, int *one)
{
    static const char *const TO[] = {"to", "through", "until", "till", "thru", "-", "–", NULL};
    static const char *const AND[] = {"and", NULL}, *const BETWEEN[] = {"between", NULL};
    static const char *const WEEKEND[] = {"weekend", "weekends", NULL};
    static const char *const OFF[] = {"before", "after", NULL};
    unsigned days = 0;
    if (!subject->analysis || has_other_words(subject)) return 0;
    const struct text_token *items = subject->analysis->tokens.items;
    int last = NO_DAY;
    uint32_t last_at = 0;
    for (uint32_t i = 0; i < subject->analysis->tokens.n; i++) {
        if (question_token_is(&items[i], WEEKEND)) days |= 1U << 0 | 1U << (DAYS - 1);
        int day = items[i].kind == TEXT_WORD ? day_of_name(items[i].norm, strlen(items[i].norm), false) : NO_DAY;
        if (day == NO_DAY) continue;
        if (i > 0 && question_token_is(&items[i - 1], OFF)) return 0;
        bool near = last != NO_DAY && i == last_at + 2;
        bool both = near && last_at > 0 && question_token_is(&items[i - 1], AND) &&
                    question_token_is(&items[last_at - 1], BETWEEN);
        days |= near && (both || question_token_is(&items[i - 1], TO)) ? range_of_days(last, day) : 1U << day;
        last = *one = day;
        last_at = i;
    }
    if (days && last == NO_DAY) *one = WEEKEND_NAME;
    return days;
}

/* A comparison of a weekday's number with a literal. */
struct weekday_use {
    const struct date_form *form;
    const struct sql_node *node;
    int day;     /* the weekday that the number stands for, or NO_DAY */
    int label;   /* the weekday that the result of the same WHEN names, or NO_DAY */
    bool listed; /* true if the number is in the list of IN */
};
enum { MAX_USES = 16 };

struct weekday_uses {
    struct weekday_use items[MAX_USES];
    uint32_t n;
};

static void add_use(struct weekday_uses *uses, const struct date_form *form, const struct sql_node *node,
                    const struct sql_node *literal, const struct sql_node *result, bool listed)
{
    double number;
    if (uses->n == MAX_USES || !query_literal_number(literal, &number)) return;
    const struct sql_node *label = query_literal(result, NULL);
    uses->items[uses->n++] =
        (struct weekday_use){form, node, day_of_number(form, number),
                             label && label->text ? day_of_name(label->text, label->text_len, true) : NO_DAY, listed};
}

/* Adds the comparisons of an extracted weekday: by =, <>, IN, or the WHENs of a CASE. */
static void add_uses(struct weekday_uses *uses, const struct date_form *form, const struct sql_node *node)
{
    const struct sql_node *n = node, *parent = node->parent;
    while (sql_is(parent, SQL_CAST)) n = parent, parent = parent->parent;
    if (sql_is(parent, SQL_BINARY) && (parent->op == SQL_OP_EQ || parent->op == SQL_OP_NE)) {
        const struct sql_node *when =
            sql_is(parent->parent, SQL_WHEN) && parent->slot == WHEN_CONDITION ? parent->parent : NULL;
        add_use(uses, form, parent, sql_kid(parent, n->slot == 0 ? 1 : 0), sql_kid(when, WHEN_RESULT), false);
    } else if (sql_is(parent, SQL_IN) && n->slot == IN_VALUE && sql_is(sql_kid(parent, IN_RIGHT), SQL_LIST)) {
        const struct sql_node *list = sql_kid(parent, IN_RIGHT);
        for (uint32_t i = 0; i < list->n_kids; i++) add_use(uses, form, parent, list->kids[i], NULL, true);
    } else if (sql_is(parent, SQL_CASE) && n->slot == CASE_OPERAND) {
        for (uint32_t i = CASE_FIRST_WHEN; i < parent->n_kids; i++)
            add_use(uses, form, parent->kids[i], sql_kid(parent->kids[i], WHEN_CONDITION),
                    sql_kid(parent->kids[i], WHEN_RESULT), false);
    }
}

/* Returns the number of different weekdays that the query compares with. */
static unsigned count_days(const struct weekday_uses *uses)
{
    unsigned days = 0;
    for (uint32_t i = 0; i < uses->n; i++) days |= uses->items[i].day == NO_DAY ? 0 : 1U << uses->items[i].day;
    return (unsigned)__builtin_popcount(days);
}

bool vsig_weekday_slip_find(const struct vsig_subject *subject, struct vsig_weekday_slip *slip)
{
    struct weekday_uses uses = {.n = 0};
    const struct sql_node *root = subject->stmt->root, *date;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct date_form *form = form_of(n, &date);
        if (form && form->weekday) add_uses(&uses, form, n);
    }
    if (!uses.n) return false;
    int one = NO_DAY;
    unsigned said = days_said(subject, &one);
    bool tells = said && count_days(&uses) <= (unsigned)__builtin_popcount(said);
    for (uint32_t i = 0; i < uses.n; i++) {
        const struct weekday_use *use = &uses.items[i];
        bool labelled = use->label != NO_DAY, wrong_label = labelled && use->label != use->day;
        bool unsaid = !labelled && tells && use->day != NO_DAY && !(said >> use->day & 1U);
        bool none = !labelled && use->day == NO_DAY && !use->listed;
        if (!wrong_label && !unsaid && !none) continue;
        int meant = labelled ? use->label : tells ? one : NO_DAY;
        *slip = (struct vsig_weekday_slip){.at = use->node,
                                           .meant = meant == NO_DAY ? NULL : DAY_NAMES[meant],
                                           .taken = use->day == NO_DAY ? NULL : DAY_NAMES[use->day],
                                           .sunday = use->form->sunday,
                                           .monday = use->form->monday,
                                           .labelled = labelled};
        return true;
    }
    return false;
}

/* --- months ------------------------------------------------------------------------------------------------------- */

/* True if the question asks for each month of each year. */
static bool asks_each_month(const struct question *question)
{
    static const char *const EACH[] = {"each month",
                                       "every month",
                                       "per month",
                                       "monthly",
                                       "month by month",
                                       "month over month",
                                       "each calendar month",
                                       "every calendar month",
                                       "per calendar month",
                                       "for the months",
                                       "year and month",
                                       "month and year",
                                       NULL};
    static const char *const ANY_YEAR[] = {"calendar month",
                                           "month of the year",
                                           "month of year",
                                           "all years",
                                           "across years",
                                           "across the years",
                                           "regardless of",
                                           "whatever the year",
                                           "season",
                                           "seasonal",
                                           "seasonality",
                                           "which month",
                                           "what month",
                                           "any year",
                                           "every year",
                                           "years combined",
                                           "years together",
                                           "irrespective",
                                           "ignoring",
                                           "no matter",
                                           "twelve months",
                                           "12 months",
                                           NULL};
    struct question_phrase at;
    if (!question_phrase_find(question, EACH, 0, &at)) return false;
    for (uint32_t i = 0; i < question->tokens.n; i++) { /* the question gives an example with a year: "like 2023-11" */
        const char *norm = question->tokens.items[i].norm;
        if (strlen(norm) == strlen("2023-11") && strspn(norm, "0123456789") == 4 && norm[4] == '-') return true;
    }
    return !question_phrase_find(question, ANY_YEAR, 0, &at);
}

/* Returns the expression of a group key, also if the key is an alias or a position. */
static const struct sql_node *key_expression(const struct sql_node *key, const struct sql_node *items)
{
    double number;
    if (sql_is(key, SQL_LITERAL) && query_literal_number(key, &number)) {
        const struct sql_node *item = number >= 1 ? sql_kid(items, (unsigned)number - 1) : NULL;
        return sql_is(item, SQL_ITEM) ? sql_kid(item, 0) : NULL;
    }
    if (key->kind == SQL_COLUMN && key->ref && key->ref->kind == SQL_REF_ALIAS) return key->ref->expr;
    return key;
}

/* True for ROLLUP, CUBE and GROUPING SETS, which add groups for totals. */
static bool makes_totals(const struct sql_node *key)
{
    static const char *const CALLS[] = {"rollup", "cube", "grouping sets"};
    for (size_t i = 0; sql_is(key, SQL_CALL) && i < G_N_ELEMENTS(CALLS); i++)
        if (text_is(key->text, key->text_len, CALLS[i], false)) return true;
    return false;
}

/* True for substr(date, 6, 2), which extracts the month of an ISO date. */
static bool is_month_slice(const struct sql_node *node, const struct sql_node **date)
{
    static const char *const CALLS[] = {"substr", "substring", "mid"};
    const struct sql_node *args = sql_is(node, SQL_CALL) ? sql_kid(node, CALL_ARGS) : NULL;
    double from, n;
    if (!args || args->n_kids != 3 || !node->text) return false;
    if (!query_literal_number(args->kids[1], &from) || !query_literal_number(args->kids[2], &n)) return false;
    *date = args->kids[0];
    for (size_t i = 0; i < G_N_ELEMENTS(CALLS); i++)
        if (text_is(node->text, node->text_len, CALLS[i], false)) return fabs(from - 6) < 0.5 && fabs(n - 2) < 0.5;
    return false;
}

bool vsig_extracts_month(const struct sql_node *node)
{
    const struct sql_node *date;
    const struct date_form *form = form_of(node, &date);
    return form ? !form->weekday : is_month_slice(node, &date);
}

/* True if the most common value of the column is a date that begins with its year: 2023-11-05. */
static bool begins_with_year(const struct schema_column *column)
{
    const struct db_value *value = column->stats.n_top ? &column->stats.top[0].value : NULL;
    return value && value->type == DB_TEXT && value->len >= 8 && strspn(value->text, "0123456789") == 4 &&
           value->text[4] == '-';
}

/* Returns the first extraction of a month without its year in an expression, and sets *date. Returns NULL if there is
 * none. */
static const struct sql_node *month_in(const struct vsig_subject *subject, const struct sql_node *expr,
                                       const struct sql_node **date)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n)) {
        const struct date_form *form = form_of(n, date);
        if (!(form && !form->weekday) && !is_month_slice(n, date)) continue;
        const struct schema_column *column = query_cast_column(subject, *date);
        if (column ? begins_with_year(column) : sql_is(n, SQL_EXTRACT) || form) return n;
    }
    return NULL;
}

/* Returns a query that finds a group with the same month of two years. Returns NULL if it cannot be built. */
static const char *two_years_sql(struct vsig_subject *subject, const struct sql_block *block,
                                 const struct sql_node *date)
{
    struct arena *arena = subject->arena;
    const struct sql_node *select = block->node, *group = sql_kid(select, SELECT_GROUP);
    const char *with = vsig_probe_with(subject, NULL, NULL), *day = sql_print(arena, date), *keys = "";
    const char *from = sql_print(arena, sql_kid(select, SELECT_FROM));
    const struct sql_node *condition = sql_kid(select, SELECT_WHERE);
    const char *where = condition ? sql_print(arena, condition) : "";
    for (uint32_t i = 0; i < group->n_kids; i++) {
        const struct sql_node *expr = key_expression(group->kids[i], sql_kid(select, SELECT_ITEMS));
        const char *text = expr && !makes_totals(expr) ? sql_print(arena, expr) : NULL;
        keys = keys && text ? arena_printf(arena, "%s%s%s", keys, i ? ", " : "", text) : NULL;
    }
    if (!with || !day || !from || !where || !keys) return NULL;
    return arena_printf(arena,
                        "%sSELECT 1 %s %s GROUP BY %s HAVING COUNT(DISTINCT substr(CAST(%s AS %s), 1, 4)) > 1 LIMIT 1",
                        with, from, where, keys, day, db_dialect(subject->db)->text_type);
}

const struct sql_node *vsig_merged_months(struct vsig_subject *subject, enum err_code *code)
{
    static const char *const MONTH[] = {"month", "months", "monthly", NULL};
    struct question_phrase at;
    *code = ERR_OK;
    if (!subject->analysis || !subject->db || !asks_each_month(subject->analysis)) return NULL;
    if (question_phrase_in(&subject->analysis->evidence, MONTH, 0, &at)) return NULL;
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++) {
        const struct sql_block *block = subject->bound->blocks[b];
        const struct sql_node *group = sql_is(block->node, SQL_SELECT) ? sql_kid(block->node, SELECT_GROUP) : NULL;
        if (!group || block->correlated || (group->flags & SQL_F_ROLLUP)) continue;
        for (uint32_t i = 0; i < group->n_kids; i++) {
            const struct sql_node *date = NULL,
                                  *key = key_expression(group->kids[i], sql_kid(block->node, SELECT_ITEMS));
            const struct sql_node *month = month_in(subject, key, &date);
            const char *sql = month ? two_years_sql(subject, block, date) : NULL;
            if (sql && vsig_probe_any(subject, sql, code) == 1) return month;
        }
    }
    return NULL;
}
