/* Describes what a query does, in terms of the question.
 *
 * One walk over the tree fills a query_view with the first aggregate of each kind, the order, the limit, negations, set
 * operations and more. Comparisons with a number are found in any spelling, including date bounds that express years.
 * An odd column is one that the query uses and no word of the question means, although the question names an unused
 * column. The answer block is the top block, or the derived table of a SELECT * over that table alone. */
#include "signals/support/query.h"

#include "lib/question/frame.h"

#include "signals/support/predicate.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WANTED_SCORE = 0.6;

static const struct {
    const char *name;
    enum query_aggregate aggregate;
} AGGREGATES[] = {{"count", QUERY_COUNT}, {"sum", QUERY_SUM}, {"total", QUERY_SUM},
                  {"avg", QUERY_AVG},     {"max", QUERY_MAX}, {"min", QUERY_MIN}};

bool query_foreign(struct vsig_run *run)
{
    if (!run->subject->analysis->foreign) return false;
    vsig_unavailable(run, "the question is not in English");
    return true;
}

static enum query_aggregate aggregate_named(const struct sql_node *call)
{
    for (size_t i = 0; i < G_N_ELEMENTS(AGGREGATES); i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i].name, strlen(AGGREGATES[i].name)))
            return AGGREGATES[i].aggregate;
    return QUERY_OTHER_AGGREGATE;
}

enum query_aggregate query_aggregate_of(const struct sql_node *node)
{
    return sql_is(node, SQL_CALL) && sql_is_aggregate(node) ? aggregate_named(node) : QUERY_AGGREGATES;
}

bool query_has_aggregate(const struct sql_node *expr)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n))
        if (query_aggregate_of(n) != QUERY_AGGREGATES) return true;
    return false;
}

const struct sql_block *query_answer_block(const struct vsig_subject *subject)
{
    const struct sql_block *block = subject->bound->top;
    while (block && block->n_sources == 1 && block->sources[0].of && block->n_outputs && block->outputs[0].expr == NULL)
        block = block->sources[0].of; /* SELECT * FROM (...) */
    return block && sql_is(block->node, SQL_SELECT) ? block : NULL;
}

bool query_in_answer(const struct vsig_subject *subject, const struct sql_node *node)
{
    const struct sql_block *block = sql_block_of(subject->bound, node), *answer = query_answer_block(subject);
    return block && answer && sql_clause_of(node) == SQL_CLAUSE_SELECT && block->query == answer->query &&
           block->role == answer->role;
}

static bool is_negation(const struct sql_node *node)
{
    switch (node->kind) {
    case SQL_UNARY: return node->op == SQL_OP_NOT || node->op == SQL_OP_NOTNULL;
    case SQL_BINARY: return node->op == SQL_OP_NE || node->op == SQL_OP_IS_NOT || node->op == SQL_OP_IS_DISTINCT;
    case SQL_LIKE:
    case SQL_BETWEEN:
    case SQL_IN: return node->flags & SQL_F_NOT;
    case SQL_COMPOUND: return node->op == SQL_EXCEPT || node->op == SQL_EXCEPT_ALL;
    case SQL_QUANTIFIED: return node->op == SQL_OP_NE;
    default: return false;
    }
}

static bool is_null_test(const struct sql_node *node)
{
    if (sql_is(node, SQL_UNARY)) return node->op == SQL_OP_ISNULL;
    const struct sql_node *right = sql_kid(node, 1);
    return sql_is(node, SQL_BINARY) && node->op == SQL_OP_IS && sql_is(right, SQL_LITERAL) && right->op == SQL_LIT_NULL;
}

static void first(const struct sql_node **slot, const struct sql_node *node)
{
    if (!*slot) *slot = node;
}

static void look_compound(struct query_view *view, const struct sql_node *node)
{
    switch (node->op) {
    case SQL_UNION: first(&view->compound[QUERY_UNION], node); break;
    case SQL_UNION_ALL: first(&view->compound[QUERY_UNION_ALL], node); break;
    case SQL_INTERSECT:
    case SQL_INTERSECT_ALL: first(&view->compound[QUERY_INTERSECT], node); break;
    default: first(&view->compound[QUERY_EXCEPT], node); break;
    }
}

static void look_call(const struct vsig_subject *subject, struct query_view *view, const struct sql_node *node)
{
    enum query_aggregate aggregate = query_aggregate_of(node);
    if (sql_kid(node, CALL_WINDOW)) {
        first(&view->window, node);
        view->windowed |= 1U << aggregate_named(node);
    }
    if (node->flags & SQL_F_DISTINCT) first(&view->distinct, node);
    if (aggregate == QUERY_AGGREGATES) return;
    first(&view->aggregate[aggregate], node);
    if (!view->answer[aggregate] && query_in_answer(subject, node)) view->answer[aggregate] = node;
}

static void look_node(const struct vsig_subject *subject, struct query_view *view, const struct sql_node *node)
{
    if (is_negation(node)) first(&view->negation, node);
    if (is_null_test(node)) first(&view->is_null, node);
    switch (node->kind) {
    case SQL_CALL: look_call(subject, view, node); break;
    case SQL_COMPOUND: look_compound(view, node); break;
    case SQL_ORDER: first(&view->any_order, node); break;
    case SQL_LIMIT: first(&view->any_limit, node); break;
    case SQL_DISTINCT: first(&view->distinct, node); break;
    case SQL_GROUP: first(&view->group, node); break;
    case SQL_HAVING: first(&view->having, node); break;
    case SQL_IN:
        if (sql_is(sql_kid(node, IN_RIGHT), SQL_LIST) && sql_kid(node, IN_RIGHT)->n_kids > 1)
            first(&view->in_list, node);
        break;
    case SQL_BINARY:
        if (node->op == SQL_OP_OR) first(&view->or_node, node);
        if (node->op == SQL_OP_DIV) first(&view->division, node);
        if (node->op == SQL_OP_SUB || node->op == SQL_OP_ADD) first(&view->difference, node);
        break;
    default: break;
    }
}

static void look(const struct vsig_subject *subject, struct query_view *view)
{
    *view = (struct query_view){0};
    const struct sql_block *answer = query_answer_block(subject);
    if (answer) {
        view->select = answer->node;
        view->items = sql_kid(answer->node, SELECT_ITEMS);
        view->order = sql_kid(answer->query, QUERY_ORDER);
        view->limit = sql_kid(answer->query, QUERY_LIMIT);
    }
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        look_node(subject, view, n);
}

void query_look(struct vsig_subject *subject, struct query_view *view)
{
    if (subject->view) {
        *view = *subject->view;
        return;
    }
    look(subject, view);
    struct query_view *kept = arena_alloc(subject->arena, sizeof *kept);
    if (kept) *kept = *view;
    subject->view = kept;
}

bool query_is_excluded(const struct sql_node *node)
{
    bool excluded = false;
    for (const struct sql_node *n = node->parent, *below = node; n; below = n, n = n->parent) {
        bool flips = (n->kind == SQL_UNARY && n->op == SQL_OP_NOT) ||
                     (n->kind == SQL_IN && n->flags & SQL_F_NOT && below == sql_kid(n, IN_RIGHT)) ||
                     (n->kind == SQL_COMPOUND && (n->op == SQL_EXCEPT || n->op == SQL_EXCEPT_ALL) && below->slot == 1);
        excluded ^= flips;
    }
    return excluded;
}

const struct sql_node *query_literal(const struct sql_node *node, bool *negative)
{
    bool minus = false;
    while (sql_is(node, SQL_UNARY) && (node->op == SQL_OP_NEG || node->op == SQL_OP_PLUS)) {
        minus ^= node->op == SQL_OP_NEG;
        node = sql_kid(node, 0);
    }
    if (negative) *negative = minus;
    if (sql_is(node, SQL_LITERAL)) return node;
    if (sql_is(node, SQL_TYPED) || sql_is(node, SQL_CAST)) return query_literal(sql_kid(node, 0), negative);
    return sql_is(node, SQL_COLUMN) && node->ref && node->ref->kind == SQL_REF_STRING ? node : NULL;
}

bool query_literal_number(const struct sql_node *node, double *number)
{
    bool negative;
    const struct sql_node *literal = query_literal(node, &negative);
    char text[64], *end;
    if (!literal || !literal->text || !literal->text_len || literal->text_len >= sizeof text) return false;
    if (sql_is(literal, SQL_LITERAL) && (literal->op == SQL_LIT_BLOB || literal->op == SQL_LIT_NULL)) return false;
    memcpy(text, literal->text, literal->text_len);
    text[literal->text_len] = '\0';
    *number = g_ascii_strtod(text, &end);
    if (negative) *number = -*number;
    return end != text && *end == '\0';
}

static bool equals(const struct sql_node *node, double number)
{
    double value;
    return query_literal_number(node, &value) && value <= number && value >= number;
}

struct comparison_list {
    const struct vsig_subject *subject;
    struct query_comparison *items;
    uint32_t n;
};

static void add_comparison(struct comparison_list *list, const struct sql_node *node, const struct sql_node *other,
                           enum sql_op op)
{
    if (list->n == QUERY_MAX_COMPARISONS || query_literal(other, NULL)) return;
    list->items[list->n++] = (struct query_comparison){node, other, op, query_is_excluded(node)};
}

static void compare_in(struct comparison_list *list, const struct sql_node *node, double number)
{
    const struct sql_node *right = sql_kid(node, IN_RIGHT);
    if (!sql_is(right, SQL_LIST)) return;
    for (uint32_t i = 0; i < right->n_kids; i++)
        if (equals(right->kids[i], number))
            add_comparison(list, node, sql_kid(node, IN_VALUE), node->flags & SQL_F_NOT ? SQL_OP_NE : SQL_OP_EQ);
}

/* Returns year if the literal is the first day of the year, -year if it is the last day, and 0 otherwise. */
static int year_end(const struct sql_node *node)
{
    const struct sql_node *literal = query_literal(node, NULL);
    int year, month, day;
    char text[16];
    if (!literal || !literal->text || literal->text_len < 10 || literal->text_len >= sizeof text) return 0;
    memcpy(text, literal->text, literal->text_len);
    text[literal->text_len] = '\0';
    if (sscanf(text, "%4d-%2d-%2d", &year, &month, &day) != 3) return 0;
    return month == 1 && day == 1 ? year : month == 12 && day == 31 ? -year : 0;
}

/* Returns the comparison with `year` that is equivalent to `column op date`, or SQL_OP_NONE if there is none. The date
 * is the first or last day of a year: `end` is the result of year_end. */
static enum sql_op year_op(enum sql_op op, int end, int year)
{
    static const struct {
        enum sql_op op;
        bool last;
        int ahead; /* `year` minus the year of the date */
        enum sql_op means;
    } RULES[] = {{SQL_OP_GE, false, 0, SQL_OP_GE},  {SQL_OP_GE, false, -1, SQL_OP_GT}, {SQL_OP_LT, false, 0, SQL_OP_LT},
                 {SQL_OP_LT, false, -1, SQL_OP_LE}, {SQL_OP_LE, true, 0, SQL_OP_LE},   {SQL_OP_LE, true, 1, SQL_OP_LT},
                 {SQL_OP_GT, true, 0, SQL_OP_GT},   {SQL_OP_GT, true, 1, SQL_OP_GE}};
    for (size_t i = 0; end && i < G_N_ELEMENTS(RULES); i++)
        if (RULES[i].op == op && RULES[i].last == (end < 0) && abs(end) + RULES[i].ahead == year) return RULES[i].means;
    return SQL_OP_NONE;
}

static void compare_year(struct comparison_list *list, const struct sql_node *node, int year)
{
    bool between = sql_is(node, SQL_BETWEEN) && !(node->flags & SQL_F_NOT);
    bool binary = sql_is(node, SQL_BINARY) && sql_is_comparison(node->op);
    const struct sql_node *value = sql_kid(node, between ? BETWEEN_VALUE : 0);
    const struct sql_node *low = between ? sql_kid(node, BETWEEN_LOW) : sql_kid(node, 1);
    const struct sql_node *high = between ? sql_kid(node, BETWEEN_HIGH) : NULL;
    if (!between && !binary) return;
    enum sql_op first = year_op(between ? SQL_OP_GE : node->op, year_end(low), year);
    enum sql_op last = high ? year_op(SQL_OP_LE, year_end(high), year) : SQL_OP_NONE;
    if (first != SQL_OP_NONE) add_comparison(list, node, value, first);
    if (last != SQL_OP_NONE) add_comparison(list, node, value, last);
}

static void compare_node(struct comparison_list *list, const struct sql_node *node, double number)
{
    enum { FIRST_YEAR = 1000, LAST_YEAR = 2999 };
    if (number >= FIRST_YEAR && number <= LAST_YEAR && floor(number) >= number) compare_year(list, node, (int)number);
    if (sql_is(node, SQL_BINARY) && sql_is_comparison(node->op)) {
        if (equals(sql_kid(node, 1), number))
            add_comparison(list, node, sql_kid(node, 0), node->op);
        else if (equals(sql_kid(node, 0), number))
            add_comparison(list, node, sql_kid(node, 1), sql_op_swap(node->op));
    } else if (sql_is(node, SQL_BETWEEN)) {
        bool not = node->flags & SQL_F_NOT;
        if (equals(sql_kid(node, BETWEEN_LOW), number))
            add_comparison(list, node, sql_kid(node, BETWEEN_VALUE), not ? SQL_OP_LT : SQL_OP_GE);
        if (equals(sql_kid(node, BETWEEN_HIGH), number))
            add_comparison(list, node, sql_kid(node, BETWEEN_VALUE), not ? SQL_OP_GT : SQL_OP_LE);
    } else if (sql_is(node, SQL_IN)) {
        compare_in(list, node, number);
    }
}

uint32_t query_compared_with(const struct vsig_subject *subject, double number,
                             struct query_comparison out[QUERY_MAX_COMPARISONS])
{
    struct comparison_list list = {subject, out, 0};
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        compare_node(&list, n, number);
    return list.n;
}

uint32_t query_compared_with_value(const struct vsig_subject *subject, const struct question_value *value,
                                   struct query_comparison out[QUERY_MAX_COMPARISONS])
{
    uint32_t n = query_compared_with(subject, value->number, out);
    return n || value->scaled == value->number ? n : query_compared_with(subject, value->scaled, out);
}

const struct schema_column *query_column(const struct vsig_subject *subject, const struct sql_node *expr)
{
    const struct sql_ref *ref = expr ? sql_plain_column(expr) : NULL;
    return ref ? schema_column_of(subject->schema, ref) : NULL;
}

const struct schema_column *query_cast_column(const struct vsig_subject *subject, const struct sql_node *expr)
{
    while (sql_is(expr, SQL_CAST) || (sql_is(expr, SQL_UNARY) && expr->op == SQL_OP_PLUS)) expr = sql_kid(expr, 0);
    return query_column(subject, expr);
}

bool query_name_has(const struct schema_column *column, const char *const *stems)
{
    for (uint32_t i = 0; column && i < column->words.n; i++)
        for (const char *const *stem = stems; *stem; stem++)
            if (strcmp(column->words.items[i].stem, *stem) == 0 || strcmp(column->words.items[i].norm, *stem) == 0)
                return true;
    return false;
}

bool query_uses_name(const struct vsig_subject *subject, const char *const *stems)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++)
        if (query_name_has(schema_column_of(subject->schema, subject->bound->refs[i]), stems)) return true;
    return false;
}

bool query_is_generic(const struct vsig_subject *subject, const struct schema_column *column)
{
    static const char *const GENERIC[] = {"name",     "id",     "identifi", "code", "titl",
                                          "descript", "detail", "number",   NULL};
    const struct text_tokens *table = &subject->schema->tables[column->table].words;
    if (column->pk || schema_is_foreign_key(subject->schema, column->id)) return true;
    for (uint32_t i = 0; i < column->words.n; i++) {
        bool generic = false;
        for (const char *const *word = GENERIC; *word && !generic; word++)
            generic =
                strcmp(column->words.items[i].stem, *word) == 0 || strcmp(column->words.items[i].norm, *word) == 0;
        for (uint32_t t = 0; t < table->n && !generic; t++)
            generic = strcmp(column->words.items[i].stem, table->items[t].stem) == 0;
        if (!generic) return false;
    }
    return true;
}

/* True if the condition around the node compares the column with a text that the column may contain. The question then
 * means the column by its value. */
static bool is_held_value(const struct vsig_subject *subject, const struct sql_node *node,
                          const struct schema_column *column)
{
    const struct sql_node *condition = node->parent;
    for (const struct sql_node *n = condition; n; n = sql_walk(condition, n)) {
        if (query_literal(n, NULL) != n || !n->text || g_ascii_isdigit(n->text[0])) continue;
        if (schema_column_has(subject->schema, column, n->text, n->text_len, false) != 0) return true;
    }
    return false;
}

static bool is_used(const struct vsig_subject *subject, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct schema_column *column = schema_column_of(subject->schema, subject->bound->refs[i]);
        if (!column) continue;
        if (column->id == mention->id) return true;
        /* the query uses another column that the same words name */
        for (uint32_t m = 0; m < subject->analysis->n_mentions; m++) {
            const struct question_mention *other = &subject->analysis->mentions[m];
            bool overlaps =
                other->first < mention->first + mention->n_tokens && other->first + other->n_tokens > mention->first;
            if (other->id == column->id && overlaps) return true;
        }
    }
    return false;
}

bool query_reads_table(const struct vsig_subject *subject, int table)
{
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++)
        for (uint32_t s = 0; s < subject->bound->blocks[b]->n_sources; s++)
            if (subject->bound->blocks[b]->sources[s].table == table) return true;
    return false;
}

/* True if the words of the mention are not just a value, a table or a cue. */
static bool is_column_word(const struct question *question, const struct question_mention *mention)
{
    uint32_t end = mention->first + mention->n_tokens;
    for (uint32_t i = 0; i < question->n_values; i++)
        if (question->values[i].first < end &&
            question->values[i].first + question->values[i].n_tokens > mention->first && !question->values[i].is_name)
            return false;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 && m->score > 0.7 && m->first < end && m->first + m->n_tokens > mention->first) return false;
    }
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (question->cues[i].first < end && question->cues[i].first + question->cues[i].n_tokens > mention->first &&
            !question->cues[i].named)
            return false;
    return true;
}

/* True if the words only say which rows to include: "deleted or not", "withdrawn ones too", "whatever the state". The
 * query needs no condition on such a column. */
static bool is_about_rows(const struct question *question, const struct question_mention *mention)
{
    enum { REACH = 3 };
    static const unsigned AFTER = 1U << FRAME_KEPT | 1U << FRAME_LEFT_OUT,
                          BEFORE = 1U << FRAME_ANY | 1U << FRAME_EXCEPT;
    const struct question_frame *frame = question->frame;
    uint32_t end = mention->first + mention->n_tokens;
    for (uint32_t i = 0; frame && i < frame->n; i++) {
        const struct frame_element *element = &frame->elements[i];
        uint32_t element_end = element->first + element->n_tokens;
        if (element->first < end && element_end > mention->first && (AFTER | BEFORE) >> element->kind & 1U) return true;
        if (AFTER >> element->kind & 1U && element->first >= end && element->first < end + REACH) return true;
        if (BEFORE >> element->kind & 1U && element_end <= mention->first && element_end + REACH > mention->first)
            return true;
    }
    return end + 1 < question->tokens.n && strcmp(question->tokens.items[end].norm, "or") == 0 &&
           strcmp(question->tokens.items[end + 1].norm, "not") == 0;
}

/* Returns a column that the question clearly names and the query does not use, or NULL. */
static const struct schema_column *unused_mention(const struct vsig_subject *subject)
{
    const struct question *question = subject->analysis;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 || m->score < WANTED_SCORE || !m->exact || !query_reads_table(subject, m->table)) continue;
        const struct schema_column *column = subject->schema->columns[m->id];
        bool wanted = !query_is_generic(subject, column) && is_column_word(question, m) && !is_about_rows(question, m);
        if (wanted && !is_used(subject, m)) return column;
    }
    return NULL;
}

/* True for a column in a NULL test, such as left_on IS NULL for "current employees". */
static bool is_null_tested(const struct sql_node *column)
{
    bool negated;
    return column->parent && vsig_is_null_test(column->parent, &negated);
}

bool query_odd_column(const struct vsig_subject *subject, enum sql_clause clause, struct query_odd *odd)
{
    const struct question *question = subject->analysis;
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        const struct schema_column *used = schema_column_of(subject->schema, ref);
        if (!used || ref->clause != clause || ref->node->kind != SQL_COLUMN || question->column_score[used->id] > 0)
            continue;
        if (query_is_generic(subject, used) || (question->evidence_score && question->evidence_score[used->id] > 0.4F))
            continue;
        if (clause == SQL_CLAUSE_WHERE && (is_held_value(subject, ref->node, used) || is_null_tested(ref->node)))
            continue;
        *odd = (struct query_odd){ref->node, used, unused_mention(subject)};
        return odd->wanted != NULL;
    }
    return false;
}

bool query_is_conditional_count(const struct sql_node *call)
{
    const struct sql_node *operand = call ? sql_kid(sql_kid(call, CALL_ARGS), 0) : NULL;
    if (!sql_is(operand, SQL_CASE)) return false;
    const struct sql_node *otherwise = sql_kid(operand, CASE_ELSE);
    if (otherwise && !sql_is(otherwise, SQL_LITERAL)) return false;
    for (uint32_t i = CASE_FIRST_WHEN; i < operand->n_kids; i++)
        if (!sql_is(sql_kid(sql_kid(operand, i), 1), SQL_LITERAL)) return false;
    return true;
}
