#include "signals/support/period.h"

#include "lib/question/phrase.h"
#include "signals/support/day.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { STATE_REACH = 3 };
enum end { END_NONE, END_START, END_END };

/* Words in the names of start and end columns, as stems. */
static const char *const STARTS[] = {"start", "from", "begin",  "begun", "sinc",
                                     "open",  "hire", "incept", "admit", NULL};
static const char *const ENDS[] = {"end",     "to",   "until",  "till", "expir",  "expiri",   "close",
                                   "through", "thru", "termin", "left", "finish", "discharg", NULL};

static bool name_has(const struct schema_column *column, const char *const *words)
{
    for (uint32_t i = 0; i < column->words.n; i++)
        if (question_token_is(&column->words.items[i], words)) return true;
    return false;
}

/* Returns whether the column is the start or the end of a period. The table must also have a column for the other
 * bound. */
static enum end end_of(const struct vsig_subject *subject, const struct schema_column *column)
{
    bool start = name_has(column, STARTS), end = name_has(column, ENDS);
    if (start == end) return END_NONE;
    const struct schema_table *table = &subject->schema->tables[column->table];
    for (uint32_t i = 0; i < table->n_columns; i++)
        if (&table->columns[i] != column && table->columns[i].affinity == column->affinity &&
            name_has(&table->columns[i], start ? ENDS : STARTS) && !name_has(&table->columns[i], start ? STARTS : ENDS))
            return start ? END_START : END_END;
    return END_NONE;
}

/* True if the question asks for a state on the day, as in "active on 1 May". The day must follow "on", "at" or "of",
 * and a word such as "active" must come shortly before. False if an event or a negation precedes that word, as in
 * "became active on 1 May". */
static bool asks_state(const struct vsig_subject *subject, const struct vsig_said_day *day)
{
    static const char *const STATES[] = {"force",   "valid",    "active",   "effect",  "open", "ongoing", "running",
                                         "current", "underway", "employed", "covered", "live", "insured"};
    static const char *const BARRED[] = {"becom",  "went", "go", "come", "came", "taken", "take",  "enter", "start",
                                         "expire", "not",  "no", "n't",  "put",  "first", "newli", NULL};
    static const char *const ON[] = {"on", "at", "of", NULL};
    const struct text_token *items = subject->analysis->tokens.items;
    uint32_t on = vsig_token_before_day(subject, day);
    if (on == UINT32_MAX || on == 0 || !question_token_is(&items[on], ON)) return false;
    for (uint32_t i = on; i-- > 0 && on - i <= STATE_REACH;)
        for (size_t s = 0; s < G_N_ELEMENTS(STATES); s++) {
            if (strcmp(items[i].norm, STATES[s]) != 0) continue;
            for (uint32_t back = i; back-- > 0 && i - back <= STATE_REACH;)
                if (question_token_is(&items[back], BARRED)) return false;
            return true;
        }
    return false;
}

/* Comparisons of the day with a start column, or with an end column. */
struct bounds {
    const struct sql_node *wrong; /* the first comparison in the wrong direction */
    const struct schema_column *column;
    bool right;
};

/* Adds the comparison `value op day`. `op` must be true for the rows that the query keeps. */
static void add_bound(const struct vsig_subject *subject, const struct vsig_said_day *said, const struct sql_node *node,
                      const struct sql_node *value, const struct sql_node *literal, enum sql_op op,
                      struct bounds bounds[3])
{
    struct question_date day;
    const struct schema_column *column = query_column(subject, value);
    if (!column || !vsig_read_day(literal, &day) || !vsig_is_said_day(said, &day)) return;
    enum end end = end_of(subject, column);
    bool later = op == SQL_OP_GT || op == SQL_OP_GE, earlier = op == SQL_OP_LT || op == SQL_OP_LE;
    if (end == END_NONE || (!later && !earlier)) return;
    struct bounds *own = &bounds[end];
    if (later == (end == END_END))
        own->right = true;
    else if (!own->wrong)
        own->wrong = node, own->column = column;
}

static void add_bounds(const struct vsig_subject *subject, const struct vsig_said_day *said, struct bounds bounds[3])
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool excluded = query_is_excluded(n);
        if (sql_is(n, SQL_BETWEEN) && !excluded && !(n->flags & SQL_F_NOT))
            add_bound(subject, said, n, sql_kid(n, BETWEEN_VALUE), sql_kid(n, BETWEEN_LOW), SQL_OP_GE, bounds);
        if (!sql_is(n, SQL_BINARY) || !sql_is_comparison((enum sql_op)n->op)) continue;
        enum sql_op op = excluded ? sql_op_negate((enum sql_op)n->op) : (enum sql_op)n->op;
        add_bound(subject, said, n, n->kids[0], n->kids[1], op, bounds);
        add_bound(subject, said, n, n->kids[1], n->kids[0], sql_op_swap(op), bounds);
    }
}

bool vsig_period_slip_find(const struct vsig_subject *subject, struct vsig_period_slip *slip)
{
    struct vsig_said_day days[VSIG_MAX_SAID_DAYS];
    uint32_t n = vsig_said_days(subject, days);
    for (uint32_t i = 0; i < n; i++) {
        struct bounds bounds[3] = {{0}};
        if (!asks_state(subject, &days[i])) continue;
        add_bounds(subject, &days[i], bounds);
        for (enum end end = END_START; end <= END_END; end++) {
            if (!bounds[end].wrong || bounds[end].right) continue;
            *slip = (struct vsig_period_slip){bounds[end].wrong, bounds[end].column, end == END_START};
            return true;
        }
    }
    return false;
}
