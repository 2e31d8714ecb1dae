/* Narrates calls: aggregates, windows and functions.
 *
 * Tables give the wording of each known aggregate and function. A call with a syntax of its own is quoted. A call with
 * an unknown name is narrated by its name and arguments. For COUNT of a column that is never NULL, the prose says that
 * it counts rows. The premise names the counted column, so it stays exact. */
#include "lib/explain/expr.h"

#include <string.h>

/* Aggregates: the wording before the argument, in the premise and in the prose. */
static const struct aggregate {
    const char *name, *premise, *prose;
} AGGREGATES[] = {
    {"count", "the number of not-NULL values of ", "the number of filled values of "},
    {"sum", "the sum of ", "the sum of "},
    {"total", "the sum (0.0 of nothing) of ", "the sum (0.0 of nothing) of "},
    {"avg", "the average of ", "the average of "},
    {"min", "the minimum of ", "the smallest value of "},
    {"max", "the maximum of ", "the largest value of "},
    {"group_concat", "the concatenation of ", "all values, joined to one text, of "},
    {"string_agg", "the concatenation of ", "all values, joined to one text, of "},
};

static const struct aggregate *aggregate_of(const struct sql_node *call)
{
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i].name, strlen(AGGREGATES[i].name)))
            return &AGGREGATES[i];
    return NULL;
}

const char *narrate_aggregate_name(const struct sql_node *expr)
{
    const struct aggregate *aggregate = sql_is_aggregate(expr) ? aggregate_of(expr) : NULL;
    return aggregate ? aggregate->name : NULL;
}

/* Returns the only source of the block, for wordings such as "the number of ports". Returns NULL if there are
 * several. */
static const struct sql_source *only_source(const struct narrator *t, const struct sql_node *n)
{
    const struct sql_block *block = sql_block_of(t->source->bound, n);
    return block && block->n_sources == 1 ? &block->sources[0] : NULL;
}

static void say_number_of_rows(struct narrator *t, struct say *out, const struct sql_node *call)
{
    const struct sql_source *source = out->prose ? only_source(t, call) : NULL;
    say(out, "the number of ");
    if (source)
        say_source_plural(t, out, source);
    else
        say(out, "rows");
}

static void say_arguments(struct narrator *t, struct say *out, const struct sql_node *args)
{
    for (uint32_t i = 0; args && i < args->n_kids; i++) {
        if (i) say(out, ", ");
        say_operand(t, out, args->kids[i], CONDITION);
    }
}

static void say_different(struct say *out, const struct aggregate *aggregate)
{
    if (strcmp(aggregate->name, "count") == 0) {
        say(out, "the number of different ");
        say_either(out, "not-NULL values of ", "values of ");
        return;
    }
    say_either(out, aggregate->premise, aggregate->prose);
    say(out, "the different values of ");
}

/* Common functions with one argument: "the length of x". */
static const struct {
    const char *name, *before;
} FUNCTIONS[] = {
    {"length", "the length of "},      {"lower", "the lower case of "},     {"upper", "the upper case of "},
    {"abs", "the absolute value of "}, {"round", "the rounded value of "},  {"typeof", "the type of "},
    {"date", "the date of "},          {"julianday", "the Julian day of "}, {"year", "the year of "},
    {"trim", "the trimmed text of "},
};

static bool say_known_function(struct narrator *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (args->n_kids != 1 || call->text2 || args->text) return false;
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (!sql_name_is(call->text, call->text_len, FUNCTIONS[i].name, strlen(FUNCTIONS[i].name))) continue;
        say(out, FUNCTIONS[i].before);
        say_operand(t, out, args->kids[0], ARITHMETIC);
        return true;
    }
    return false;
}

/* True for MATCH (a, b) AGAINST (words). */
static bool is_search(const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    return args->text && args->n_kids > 1 && sql_name_is(call->text, call->text_len, "MATCH", 5);
}

/* True if the value of the expression is used as a condition. */
static bool is_condition(const struct sql_node *expr)
{
    const struct sql_node *in = expr->parent;
    bool logic = sql_is(in, SQL_BINARY) && (in->op == SQL_OP_AND || in->op == SQL_OP_OR);
    bool negated = sql_is(in, SQL_UNARY) && in->op == SQL_OP_NOT;
    return logic || negated || sql_is(in, SQL_WHERE) || sql_is(in, SQL_ON) || sql_is(in, SQL_HAVING);
}

/* Writes "the title or the notes match 'x'" for a condition, and "the relevance of the title and the notes for 'x'"
 * otherwise. */
static void say_search(struct narrator *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    uint32_t last = args->n_kids - 1;
    bool condition = is_condition(call), plural = last > 1 || narrate_is_plural(t, args->kids[0]);
    if (!condition) say(out, "the relevance of ");
    for (uint32_t i = 0; i < last; i++) {
        if (i) say(out, condition ? " or " : " and ");
        say_operand(t, out, args->kids[i], ARITHMETIC);
    }
    say(out, !condition ? " for " : plural ? " match " : " matches ");
    say_operand(t, out, args->kids[last], ARITHMETIC);
}

static void say_function(struct narrator *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (out->prose && is_search(call)) {
        say_search(t, out, call);
        return;
    }
    if (args->text) { /* f(x FROM y FOR z): only the text of the statement has its words in order */
        say_sql(t, out, call);
        return;
    }
    if (!(call->flags & (SQL_F_DISTINCT | SQL_F_STAR)) && say_known_function(t, out, call)) return;
    for (uint32_t i = 0; i < call->text_len && i < NARRATE_NAME_BYTES; i++) {
        char c = call->text[i], lower[2] = {(char)(c >= 'A' && c <= 'Z' ? c | 32 : c), 0};
        say_bytes(out, lower, 1, 1);
    }
    say(out, "(");
    if (call->flags & SQL_F_DISTINCT) say_either(out, "different ", "different values of ");
    if (call->flags & SQL_F_STAR) say(out, "*");
    say_arguments(t, out, args);
    say(out, ")");
}

static void say_terms(struct narrator *t, struct say *out, const struct sql_node *order)
{
    for (uint32_t i = 0; i < order->n_kids; i++) {
        const struct sql_node *term = order->kids[i];
        say_comma(out, i, order->n_kids);
        say_expr(t, out, term->kids[0]);
        say(out, term->op == SQL_DESC ? " descending" : " ascending");
    }
}

static void say_over(struct narrator *t, struct say *out, const struct sql_node *window)
{
    const struct sql_node *partition = window->kids[WINDOW_PARTITION], *order = window->kids[WINDOW_ORDER];
    if (!partition && !order && !window->kids[WINDOW_FRAME] && !window->text2) {
        say(out, " over all rows");
        return;
    }
    say(out, " over the rows");
    if (window->text2) {
        say(out, " of the window ");
        say_bytes(out, window->text2, window->text2_len, NARRATE_NAME_BYTES);
    }
    if (partition) {
        say(out, " with the same ");
        for (uint32_t i = 0; i < partition->n_kids; i++) {
            say_comma(out, i, partition->n_kids);
            say_expr_bare(t, out, partition->kids[i]);
        }
    }
    if (order) {
        say(out, " in the order of ");
        say_terms(t, out, order);
    }
    if (window->kids[WINDOW_FRAME]) {
        say(out, ", frame ");
        say_sql(t, out, window->kids[WINDOW_FRAME]);
    }
}

static void say_call_tail(struct narrator *t, struct say *out, const struct sql_node *call)
{
    if (call->kids[CALL_ORDER]) {
        say(out, ", taken in the order of ");
        say_terms(t, out, call->kids[CALL_ORDER]);
    }
    if (call->kids[CALL_FILTER]) {
        say(out, ", only of rows where ");
        say_operand(t, out, call->kids[CALL_FILTER]->kids[0], CONDITION);
    }
    if (call->kids[CALL_WINDOW]) say_over(t, out, call->kids[CALL_WINDOW]);
}

bool narrate_counts_rows(const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    if (call->flags & SQL_F_DISTINCT) return false;
    if (call->flags & SQL_F_STAR) return true;
    const struct sql_node *literal = args->n_kids == 1 ? sql_plain_literal(args->kids[0]) : NULL;
    return literal && !narrate_is_null(literal);
}

/* True for COUNT of a column that is never NULL, over one table. The prose calls it the number of rows. */
static bool counts_filled(const struct narrator *t, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    const struct sql_source *source = only_source(t, call);
    if ((call->flags & SQL_F_DISTINCT) || args->n_kids != 1 || !source || source->kind != SQL_SOURCE_TABLE)
        return false;
    const struct schema_column *column = schema_column_of(t->index, sql_plain_column(args->kids[0]));
    return column && column->not_null;
}

void say_call(struct narrator *t, struct say *out, const struct sql_node *call)
{
    const struct sql_node *args = call->kids[CALL_ARGS];
    const struct aggregate *aggregate = call->text2 || args->text ? NULL : aggregate_of(call);
    bool is_count = aggregate && strcmp(aggregate->name, "count") == 0;
    bool tail = call->kids[CALL_ORDER] || call->kids[CALL_FILTER] || call->kids[CALL_WINDOW];
    if (tail) say(out, "(");
    if (is_count && (narrate_counts_rows(call) || (out->prose && counts_filled(t, call)))) {
        say_number_of_rows(t, out, call);
    } else if (!aggregate || args->n_kids == 0 || (args->n_kids > 1 && aggregate->name[0] == 'm')) {
        say_function(t, out, call);
    } else {
        if (call->flags & SQL_F_DISTINCT)
            say_different(out, aggregate);
        else
            say_either(out, aggregate->premise, aggregate->prose);
        if (out->prose && sql_plain_literal(args->kids[0])) say(out, "the constant ");
        say_operand(t, out, args->kids[0], ARITHMETIC);
        for (uint32_t i = 1; i < args->n_kids; i++) {
            say(out, " separated by ");
            say_operand(t, out, args->kids[i], ARITHMETIC);
        }
    }
    say_call_tail(t, out, call);
    if (tail) say(out, ")");
}
