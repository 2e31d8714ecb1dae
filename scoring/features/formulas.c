/* Compares arithmetic that the evidence gives in words or signs with the arithmetic of the query.
 *
 * lib/question/evidence.c reads only definitions whose columns and term it recognises. Many formulas have another form
 * ("uncertainty: the high one minus the low one", "weight over the square of the height"). This file compares their
 * operators with those of the query, regardless of the operands. A factor that is a literal (100, 1.0) only scales the
 * result and is ignored. */
#include "lib/question/phrase.h"
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum kind { SUM, DIFFERENCE, PRODUCT, QUOTIENT, N_KINDS };

static const char *const WORDS[N_KINDS][12] = {
    [SUM] = {"plus", "added to", "adding"},
    [DIFFERENCE] = {"minus", "subtract", "subtracted", "difference between", "difference of", "days between",
                    "years between", "time between", "less the"},
    [PRODUCT] = {"times", "multiplied", "multiply", "product of", "square of", "squared"},
    [QUOTIENT] = {"divided", "divide", "over the", "over all", "over its", "per", "ratio of", "ratio between",
                  "quotient"},
};
static const char *const SQUARED[] = {"square of", "squared", NULL};
static const char *const DIFFERENT[] = {"distinct", "different", "unique", NULL};
static const char SIGNS[N_KINDS] = {[SUM] = '+', [DIFFERENCE] = '-', [PRODUCT] = '*', [QUOTIENT] = '/'};
static const uint8_t OPERATORS[N_KINDS] = {
    [SUM] = SQL_OP_ADD, [DIFFERENCE] = SQL_OP_SUB, [PRODUCT] = SQL_OP_MUL, [QUOTIENT] = SQL_OP_DIV};

/* True if the sign is used as an operator in the text. It must have blanks or brackets on both sides, so it is not part
 * of a word or a date. */
static bool has_sign(const char *text, char sign)
{
    for (const char *at = text; text && (at = strchr(at, sign)); at++)
        if (at > text && strchr(" )", at[-1]) && at[1] && strchr(" (", at[1])) return true;
    return false;
}

static unsigned said(const struct question *question)
{
    unsigned kinds = 0;
    struct question_phrase at;
    for (unsigned k = 0; k < N_KINDS; k++)
        if (question_phrase_in(&question->evidence, WORDS[k], 0, &at) || has_sign(question->evidence_text, SIGNS[k]))
            kinds |= 1U << k;
    return kinds;
}

static const struct schema_column *column_below(const struct extraction *ex, const struct sql_node *root)
{
    const struct schema_column *column = NULL;
    for (const struct sql_node *n = root; n && !column; n = sql_walk(root, n))
        if (sql_is(n, SQL_COLUMN)) column = query_column(ex->subject, n);
    return column;
}

/* The calculations of the query, as sets of operators: all, and those with columns on both sides. `squared` means that
 * a column is multiplied by itself. */
struct arithmetic {
    unsigned any, strict, unmentioned;
    bool squared;
};

static void look_at(const struct extraction *ex, const struct sql_node *node, struct arithmetic *out)
{
    const struct schema_column *sides[2] = {column_below(ex, sql_kid(node, 0)), column_below(ex, sql_kid(node, 1))};
    for (unsigned k = 0; k < N_KINDS; k++) {
        if (node->op != OPERATORS[k]) continue;
        if (sides[0] || sides[1]) out->any |= 1U << k;
        if (sides[0] && sides[1]) out->strict |= 1U << k;
    }
    bool plain = sql_is(sql_kid(node, 0), SQL_COLUMN) && sql_is(sql_kid(node, 1), SQL_COLUMN);
    out->squared |= node->op == SQL_OP_MUL && plain && sides[0] && sides[0] == sides[1];
    for (unsigned i = 0; i < 2 && sides[0] && sides[1]; i++)
        out->unmentioned += !(extract_column_score(ex, sides[i]) > 0);
}

static struct arithmetic done(const struct extraction *ex)
{
    struct arithmetic out = {0};
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (sql_is(n, SQL_BINARY)) look_at(ex, n, &out);
        if (sql_is(n, SQL_UNARY) && n->op == SQL_OP_NEG && column_below(ex, n)) out.any |= 1U << DIFFERENCE;
        if (!sql_is(n, SQL_CALL)) continue;
        if (sql_name_is(n->text, n->text_len, "avg", 3)) out.any |= 1U << QUOTIENT;
        if (sql_name_is(n->text, n->text_len, "pow", 3) || sql_name_is(n->text, n->text_len, "power", 5))
            out.squared = true;
    }
    return out;
}

static bool has_distinct(const struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if ((sql_is(n, SQL_CALL) || sql_is(n, SQL_SELECT)) && n->flags & SQL_F_DISTINCT) return true;
    return false;
}

/* --- order of operands --- */

enum { MAX_BESIDE = 12, MAX_BELOW = 24 };
static const char *const OVER[] = {"/", "divided", "over", NULL};
static const char *const LESS[] = {"-", "minus", NULL};

/* The stems below a node: names of columns and words of texts. */
struct below {
    const char *stems[MAX_BELOW];
    uint32_t n;
};

static void add_words(struct below *below, const struct text_tokens *words)
{
    for (uint32_t i = 0; i < words->n && below->n < MAX_BELOW; i++)
        if (words->items[i].kind == TEXT_WORD && !words->items[i].is_stop)
            below->stems[below->n++] = words->items[i].stem;
}

static void add_below(const struct extraction *ex, const struct sql_node *root, struct below *below)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct schema_column *column = sql_is(n, SQL_COLUMN) ? query_column(ex->subject, n) : NULL;
        if (column) add_words(below, &column->words);
        if (!sql_is(n, SQL_LITERAL) || n->op != SQL_LIT_STRING || !n->text_len) continue;
        struct text_tokens words = text_tokenize(ex->arena, n->text, n->text_len);
        if (words.items) add_words(below, &words);
    }
}

static bool is_among(const struct text_token *token, const char *const *words)
{
    for (; *words; words++)
        if (token->norm && strcmp(token->norm, *words) == 0) return true;
    return false;
}

/* Returns the share of the stems that occur among the tokens [first, end). */
static float said_of(const struct below *below, const struct text_tokens *tokens, uint32_t first, uint32_t end)
{
    float n = 0;
    for (uint32_t b = 0; b < below->n; b++) {
        bool found = false;
        for (uint32_t i = first; i < end && !found; i++)
            found = tokens->items[i].stem && strcmp(tokens->items[i].stem, below->stems[b]) == 0;
        n += found;
    }
    return below->n ? n / (float)below->n : 0;
}

/* True for a token that ends the operands of a sign: an equals sign, a colon, a semicolon, or the start of another
 * clause. */
static bool ends_term(const struct text_token *token)
{
    static const char *const ENDS[] = {"=", ":", ";", "is", "means", "equals", NULL};
    return is_among(token, ENDS);
}

static float order_at(const struct text_tokens *tokens, uint32_t sign, const struct below *left,
                      const struct below *right)
{
    uint32_t first = sign, end = sign + 1;
    while (first > 0 && sign - first < MAX_BESIDE && !ends_term(&tokens->items[first - 1])) first--;
    while (end < tokens->n && end - sign <= MAX_BESIDE && !ends_term(&tokens->items[end])) end++;
    float upright = said_of(left, tokens, first, sign) + said_of(right, tokens, sign + 1, end);
    float inverted = said_of(left, tokens, sign + 1, end) + said_of(right, tokens, first, sign);
    return upright - inverted;
}

/* Sets formula_order. It is above 0 if the operands of a quotient or difference are in the same order as in the
 * evidence. */
static void set_order(struct extraction *ex)
{
    const struct text_tokens *tokens = &ex->question->evidence;
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const char *const *signs = n->op == SQL_OP_DIV ? OVER : LESS;
        if (!sql_is(n, SQL_BINARY) || (n->op != SQL_OP_DIV && n->op != SQL_OP_SUB)) continue;
        struct below left = {.n = 0}, right = {.n = 0};
        add_below(ex, sql_kid(n, 0), &left);
        add_below(ex, sql_kid(n, 1), &right);
        for (uint32_t i = 1; i < tokens->n; i++)
            if (is_among(&tokens->items[i], signs)) {
                ex->out[FEATURE_formula_order] = order_at(tokens, i, &left, &right);
                return;
            }
    }
}

void extract_formulas(struct extraction *ex)
{
    struct question_phrase at;
    if (!ex->question || !ex->question->evidence.n) return;
    set_order(ex);
    unsigned kinds = said(ex->question);
    ex->out[FEATURE_formula_said] = (float)__builtin_popcount(kinds);
    if (question_phrase_in(&ex->question->evidence, DIFFERENT, 0, &at))
        ex->out[FEATURE_formula_different] = has_distinct(ex) ? 1 : -1;
    if (!kinds) return;
    struct arithmetic query = done(ex);
    ex->out[FEATURE_formula_met] = (float)__builtin_popcount(kinds & query.any);
    ex->out[FEATURE_formula_missing] = (float)__builtin_popcount(kinds & ~query.any);
    ex->out[FEATURE_formula_extra] = (float)__builtin_popcount(query.strict & ~kinds);
    ex->out[FEATURE_formula_unmentioned] = (float)query.unmentioned;
    if (question_phrase_in(&ex->question->evidence, SQUARED, 0, &at))
        ex->out[FEATURE_formula_squared] = query.squared ? 1 : -1;
}
