/* Inspects the divisions of a query: the order of their operands, and whether they lose the fraction.
 *
 * Each operand is reduced to its core, without casts, factors and guards. Three rules decide the order. The first
 * compares the words of the operands with the words around "per", "ratio of" and similar phrases. The second expects a
 * part divided by its whole, if the question asks for a share. The third expects rows divided by distinct things, if
 * the question asks for an average count. Divisions by a number only change the unit and are skipped. */
#include "signals/support/quotient.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/query.h"
#include "signals/support/types.h"

#include <math.h>
#include <string.h>

enum { RIGHT_REACH = 4, MAX_STEPS = 400, MAX_DEPTH = 12 };

static const char *const SHARES[] = {"percent", "percentag", "share",   "proport", "fraction", "ratio",
                                     "rate",    "pct",       "portion", "%",       NULL};

/* Words of the question, and the words in column names that they stand for. Both are stems. */
static const struct {
    const char *said, *named;
} MEANINGS[] = {{"capita", "popul"},    {"inhabit", "popul"},  {"person", "popul"}, {"resid", "popul"},
                {"head", "popul"},      {"peopl", "popul"},    {"mile", "distanc"}, {"kilometr", "distanc"},
                {"kilomet", "distanc"}, {"km", "distanc"},     {"top", "max"},      {"highest", "max"},
                {"top", "maximum"},     {"bottom", "min"},     {"lowest", "min"},   {"bottom", "minimum"},
                {"highest", "maximum"}, {"lowest", "minimum"}, {"dollar", "price"}, {"cost", "price"},
                {"output", "gdp"},      {"hour", "hour"}};

/* --- the two operands --- */

/* Removes casts, factors, rounding and guards against zero. */
static const struct sql_node *bare(const struct sql_node *node)
{
    for (unsigned depth = 0; node && depth < MAX_DEPTH; depth++) {
        double factor;
        bool product = sql_is(node, SQL_BINARY) && node->op == SQL_OP_MUL;
        bool guard = sql_is(node, SQL_CALL) && node->text &&
                     (sql_name_is(node->text, node->text_len, "nullif", 6) ||
                      sql_name_is(node->text, node->text_len, "round", 5));
        if (sql_is(node, SQL_CAST) || (sql_is(node, SQL_UNARY) && node->op == SQL_OP_PLUS))
            node = sql_kid(node, 0);
        else if (guard)
            node = sql_kid(sql_kid(node, CALL_ARGS), 0);
        else if (product && query_literal_number(sql_kid(node, 0), &factor))
            node = sql_kid(node, 1);
        else if (product && query_literal_number(sql_kid(node, 1), &factor))
            node = sql_kid(node, 0);
        else
            return node;
    }
    return node;
}

enum extent { EXTENT_OTHER, EXTENT_PART, EXTENT_WHOLE };

static bool is_condition(const struct sql_node *node)
{
    return sql_is(node, SQL_CASE) || sql_is(node, SQL_LIKE) || sql_is(node, SQL_IN) || sql_is(node, SQL_BETWEEN) ||
           (sql_is(node, SQL_BINARY) &&
            (sql_is_comparison(node->op) || node->op == SQL_OP_AND || node->op == SQL_OP_OR || node->op == SQL_OP_IS ||
             node->op == SQL_OP_IS_NOT)) ||
           (sql_is(node, SQL_UNARY) && (node->op == SQL_OP_ISNULL || node->op == SQL_OP_NOTNULL));
}

/* Returns whether the node counts or sums only part of the rows, because it has a condition, or all of them. */
static enum extent extent_of(const struct sql_node *node)
{
    enum query_aggregate aggregate = query_aggregate_of(node);
    const struct sql_node *argument = sql_kid(sql_kid(node, CALL_ARGS), 0);
    if (sql_is(node, SQL_SUBQUERY)) {
        const struct sql_node *select = sql_kid(sql_kid(node, 0), QUERY_BODY);
        const struct sql_node *item = sql_kid(sql_kid(sql_kid(select, SELECT_ITEMS), 0), 0);
        bool count = sql_is(select, SQL_SELECT) && query_aggregate_of(item) == QUERY_COUNT;
        return !count ? EXTENT_OTHER : sql_kid(select, SELECT_WHERE) ? EXTENT_PART : EXTENT_WHOLE;
    }
    if (aggregate == QUERY_AGGREGATES) return EXTENT_OTHER;
    if (sql_kid(node, CALL_FILTER)) return EXTENT_PART;
    if (aggregate == QUERY_SUM) return is_condition(argument) ? EXTENT_PART : EXTENT_WHOLE;
    if (aggregate != QUERY_COUNT) return EXTENT_OTHER;
    if (node->flags & SQL_F_STAR || sql_is(argument, SQL_LITERAL)) return EXTENT_WHOLE;
    return is_condition(argument) || sql_is(argument, SQL_CALL) ? EXTENT_PART : EXTENT_WHOLE;
}

bool vsig_is_share(const struct sql_node *division)
{
    return extent_of(bare(sql_kid(division, 0))) == EXTENT_PART &&
           extent_of(bare(sql_kid(division, 1))) == EXTENT_WHOLE;
}

/* True if an aggregate of each group is divided by a subquery. The subquery is then the whole, even if it has
 * conditions. */
static bool is_of_group(const struct vsig_subject *subject, const struct sql_node *left, const struct sql_node *right)
{
    const struct sql_block *block = sql_block_of(subject->bound, left);
    return block && sql_is(block->node, SQL_SELECT) && sql_kid(block->node, SELECT_GROUP) &&
           query_aggregate_of(left) != QUERY_AGGREGATES && sql_is(right, SQL_SUBQUERY);
}

/* Returns a positive number for a part divided by its whole, a negative one for the reverse, and 0 if unknown. If
 * neither operand has a condition, a subquery is taken as the whole. */
static int order_of_share(const struct vsig_subject *subject, const struct sql_node *left, const struct sql_node *right)
{
    if (is_of_group(subject, left, right)) return 1;
    enum extent over = extent_of(left), under = extent_of(right);
    if (over == EXTENT_PART && under == EXTENT_WHOLE) return 1;
    if (over == EXTENT_WHOLE && under == EXTENT_PART) return -2;
    if (over != EXTENT_WHOLE || under != EXTENT_WHOLE) return 0;
    return sql_is(right, SQL_SUBQUERY) - sql_is(left, SQL_SUBQUERY);
}

/* --- the words of the question --- */

/* Ranges of tokens that name the dividend (left) and the divisor (right). */
struct split {
    uint32_t left, left_end, right, right_end;
};

static bool has_word(const char *const *words, const struct text_token *token)
{
    return question_token_is(token, words);
}

/* Returns the first of `words` in [from, end), or `end`. */
static uint32_t next_word(const struct text_tokens *tokens, const char *const *words, uint32_t from, uint32_t end)
{
    while (from < end && !has_word(words, &tokens->items[from])) from++;
    return from;
}

static bool split_question(const struct question *question, struct split *split)
{
    const struct text_tokens *tokens = &question->tokens;
    static const char *const PER[] = {"per", NULL}, *const CENT[] = {"cent", NULL};
    static const struct {
        const char *const open[6], *const middle[4];
    } FORMS[] = {{{"ratio of", "ratio between", "quotient of", NULL}, {"to", "and", "over", NULL}},
                 {{"how many times", "by what factor", "how much more", NULL}, {"than", "as", NULL}},
                 {{"divide", "dividing", NULL}, {"by", NULL}}};
    for (size_t f = 0; f < sizeof FORMS / sizeof *FORMS; f++) {
        struct question_phrase open;
        if (!question_phrase_find(question, FORMS[f].open, 0, &open)) continue;
        uint32_t left = open.first + open.n_tokens, middle = next_word(tokens, FORMS[f].middle, left, tokens->n);
        *split = (struct split){left, middle, middle + 1, tokens->n};
        if (middle < tokens->n) return true;
    }
    uint32_t per = next_word(tokens, PER, 0, tokens->n);
    if (per + 1 >= tokens->n || has_word(CENT, &tokens->items[per + 1])) return false;
    uint32_t end = per + 1 + RIGHT_REACH;
    *split = (struct split){0, per, per + 1, end < tokens->n ? end : tokens->n};
    return true;
}

static bool means(const struct text_token *said, const struct text_token *named)
{
    if (said->is_stop || said->kind != TEXT_WORD) return false;
    if (strcmp(said->stem, named->stem) == 0 || text_word_similarity(said->norm, named->norm) >= 0.7) return true;
    for (size_t i = 0; i < sizeof MEANINGS / sizeof *MEANINGS; i++)
        if (strcmp(said->stem, MEANINGS[i].said) == 0 &&
            (strcmp(named->stem, MEANINGS[i].named) == 0 || strcmp(named->norm, MEANINGS[i].named) == 0))
            return true;
    return false;
}

/* True if a word in [from, end) means a word of the name. */
static bool any_means(const struct text_tokens *tokens, uint32_t from, uint32_t end, const struct text_tokens *name)
{
    for (uint32_t i = from; i < end; i++)
        for (uint32_t w = 0; w < name->n; w++)
            if (means(&tokens->items[i], &name->items[w])) return true;
    return false;
}

/* True if the words in [from, end) name a column, a text or a counted table in the operand. */
static bool is_named(const struct vsig_subject *subject, const struct sql_node *operand, uint32_t from, uint32_t end)
{
    const struct text_tokens *tokens = &subject->analysis->tokens;
    bool counts = sql_is(operand, SQL_SUBQUERY) || query_aggregate_of(operand) == QUERY_COUNT;
    unsigned steps = 0;
    for (const struct sql_node *n = operand; n && steps++ < MAX_STEPS; n = sql_walk(operand, n)) {
        const struct schema_column *column = sql_is(n, SQL_COLUMN) ? query_column(subject, n) : NULL;
        const struct sql_ref *table = sql_is(n, SQL_TABLE) ? n->ref : NULL;
        bool text = sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_STRING && n->text_len;
        struct text_tokens value = text ? text_tokenize(subject->arena, n->text, n->text_len) : (struct text_tokens){0};
        if (value.items && any_means(tokens, from, end, &value)) return true;
        if (column && any_means(tokens, from, end, &column->words)) return true;
        if (column && counts && any_means(tokens, from, end, &subject->schema->tables[column->table].words))
            return true;
        if (table && table->source && table->source->table >= 0 &&
            any_means(tokens, from, end, &subject->schema->tables[table->source->table].words))
            return true;
    }
    return false;
}

/* Returns a positive number if the question names the operands in the order of the division. Returns a negative one for
 * the reverse order, and 0 if unknown. */
static int order_by_words(const struct vsig_subject *subject, const struct sql_node *left, const struct sql_node *right,
                          const struct split *split)
{
    int over_left = is_named(subject, left, split->left, split->left_end);
    int over_right = is_named(subject, right, split->left, split->left_end);
    int under_left = is_named(subject, left, split->right, split->right_end);
    int under_right = is_named(subject, right, split->right, split->right_end);
    return 2 * (under_right - under_left) + (over_left - over_right);
}

/* Compares a count of distinct things with a count of rows. Returns a positive number for rows divided by things, which
 * is an average. Returns a negative one for things divided by rows, which is at most 1. Returns 0 for other
 * operands. */
static int order_of_counts(const struct sql_node *left, const struct sql_node *right)
{
    if (query_aggregate_of(left) != QUERY_COUNT || query_aggregate_of(right) != QUERY_COUNT) return 0;
    bool left_rows = left->flags & SQL_F_STAR, right_rows = right->flags & SQL_F_STAR;
    if (left_rows && right->flags & SQL_F_DISTINCT) return 1;
    return right_rows && left->flags & SQL_F_DISTINCT ? -2 : 0;
}

static bool asks_for_mean_count(const struct question *question)
{
    static const char *const MEAN[] = {"average", "on average", "averag", "mean number", "typically", "typical", NULL};
    static const char *const COUNT[] = {"how many", "number of", NULL};
    struct question_phrase at;
    return question_phrase_find(question, MEAN, 0, &at) && question_phrase_find(question, COUNT, 0, &at);
}

static void look_at_order(const struct vsig_subject *subject, const struct sql_node *division,
                          const struct split *split, struct vsig_quotients *out)
{
    const struct sql_node *left = bare(sql_kid(division, 0)), *right = bare(sql_kid(division, 1));
    int order = split ? order_by_words(subject, left, right, split) : 0;
    bool by_words = order != 0;
    if (!by_words && out->share_said) order = order_of_share(subject, left, right);
    bool by_count = order == 0 && !out->share_said && asks_for_mean_count(subject->analysis);
    if (by_count) order = order_of_counts(left, right);
    out->upright += order > 0;
    out->inverted += order < 0;
    if (order > -2 || out->at) return;
    out->at = division;
    out->by_words = by_words;
    out->by_count = by_count;
}

static bool is_scaled(const struct sql_node *node)
{
    double number;
    for (unsigned i = 0; sql_is(node, SQL_BINARY) && node->op == SQL_OP_MUL && i < 2; i++)
        if (query_literal_number(sql_kid(node, i), &number) && fabs(number - 100) < 1e-9) return true;
    return false;
}

void vsig_quotients_look(const struct vsig_subject *subject, struct vsig_quotients *quotients)
{
    *quotients = (struct vsig_quotients){0};
    struct split split;
    struct question_phrase at;
    bool is_split = subject->analysis && split_question(subject->analysis, &split);
    quotients->share_said = subject->analysis && question_phrase_find(subject->analysis, SHARES, 0, &at);
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        quotients->scaled += is_scaled(n);
        if (!sql_is(n, SQL_BINARY) || n->op != SQL_OP_DIV) continue;
        double number;
        if (query_literal_number(sql_kid(n, 1), &number)) continue; /* only changes the unit */
        quotients->n++;
        bool whole = vsig_type_of(subject, sql_kid(n, 0)) == VSIG_TYPE_INT &&
                     vsig_type_of(subject, sql_kid(n, 1)) == VSIG_TYPE_INT;
        quotients->whole += whole;
        quotients->exact += !whole;
        if (subject->analysis) look_at_order(subject, n, is_split ? &split : NULL, quotients);
    }
}
