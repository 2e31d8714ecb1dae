/* Predicates on one column: how they are found in the tree, evaluated on the data, and compared with the question.
 *
 * Three steps decide whether any row meets a predicate: exact statistics, the value index, and a probe with LIMIT 1.
 * The value index can only confirm a match, because the collation of the column may match a value that it does not
 * find. The probe runs on the FROM item of the column as the statement defines it. Comparison with the question accepts
 * the literal word for word, inflected forms, short codes and dates. */
#include "signals/support/predicate.h"

#include "lib/question/forms.h"
#include "signals/support/probe.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_literal(const struct sql_node *node)
{
    return sql_plain_literal(node) != NULL;
}

/* True for a string in double quotes. The tree has a COLUMN node for it, but it acts as a literal. */
static bool is_quoted_string(const struct sql_node *node)
{
    return node->kind == SQL_COLUMN && node->ref && node->ref->kind == SQL_REF_STRING;
}

/* Returns the only column in `side`. Returns NULL if there is none or more than one, or if `side` contains a subquery
 * or an aggregate. */
static const struct sql_ref *only_column(const struct sql_node *side)
{
    const struct sql_ref *found = NULL;
    for (const struct sql_node *n = side; n; n = sql_walk(side, n)) {
        if (n->kind == SQL_SUBQUERY || n->kind == SQL_EXISTS || n->kind == SQL_QUANTIFIED || n->kind == SQL_STAR)
            return NULL;
        if (n->kind == SQL_CALL && (sql_is_aggregate(n) || sql_kid(n, CALL_WINDOW))) return NULL;
        if (n->kind != SQL_COLUMN || is_quoted_string(n)) continue;
        if (found || !n->ref || n->ref->kind != SQL_REF_COLUMN) return NULL;
        found = n->ref;
    }
    return found;
}

static void add_literal(struct vsig_predicate *predicate, const struct sql_node *node)
{
    const struct sql_node *literal = sql_plain_literal(node);
    if (literal && predicate->n_literals < VSIG_MAX_PREDICATE_LITERALS)
        predicate->literals[predicate->n_literals++] = literal;
}

/* Returns the operand with the column, if all other operands are literals, and adds these to the predicate. Returns
 * NULL if the node is not a predicate. */
static const struct sql_node *column_side(const struct sql_node *node, struct vsig_predicate *predicate)
{
    const struct sql_node *side = sql_kid(node, 0);
    switch (node->kind) {
    case SQL_BINARY:
        if (!sql_is_comparison(node->op) && node->op != SQL_OP_IS && node->op != SQL_OP_IS_NOT) return NULL;
        if (is_literal(side))
            side = node->kids[1];
        else if (!is_literal(node->kids[1]))
            return NULL;
        add_literal(predicate, node->kids[side == node->kids[0]]);
        return side;
    case SQL_LIKE:
        if (!is_literal(sql_kid(node, LIKE_PATTERN))) return NULL;
        add_literal(predicate, node->kids[LIKE_PATTERN]);
        return side;
    case SQL_BETWEEN:
        if (!is_literal(node->kids[BETWEEN_LOW]) || !is_literal(node->kids[BETWEEN_HIGH])) return NULL;
        add_literal(predicate, node->kids[BETWEEN_LOW]);
        add_literal(predicate, node->kids[BETWEEN_HIGH]);
        return side;
    case SQL_IN: {
        const struct sql_node *list = sql_kid(node, IN_RIGHT);
        if (!sql_is(list, SQL_LIST) || list->n_kids == 0) return NULL;
        for (uint32_t i = 0; i < list->n_kids; i++) {
            if (!is_literal(list->kids[i])) return NULL;
            add_literal(predicate, list->kids[i]);
        }
        return side;
    }
    case SQL_UNARY: return node->op == SQL_OP_ISNULL || node->op == SQL_OP_NOTNULL ? side : NULL;
    default: return NULL;
    }
}

static bool read_predicate(const struct vsig_subject *subject, const struct sql_node *node, struct vsig_predicate *out)
{
    *out = (struct vsig_predicate){.node = node, .live = -1};
    const struct sql_node *side = column_side(node, out);
    out->ref = side ? only_column(side) : NULL;
    if (!out->ref || !out->ref->source) return false;
    out->column = schema_column_of(subject->schema, out->ref);
    out->bare = sql_plain_column(side) != NULL;
    return out->column != NULL;
}

struct vsig_predicate_list {
    uint32_t n;
    struct vsig_predicate items[];
};

static uint32_t read_predicates(const struct vsig_subject *subject, struct vsig_predicate out[VSIG_MAX_PREDICATES])
{
    uint32_t n = 0;
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *node = root; node && n < VSIG_MAX_PREDICATES; node = sql_walk(root, node))
        if (read_predicate(subject, node, &out[n])) n++;
    return n;
}

uint32_t vsig_predicates(struct vsig_subject *subject, struct vsig_predicate out[VSIG_MAX_PREDICATES])
{
    const struct vsig_predicate_list *known = subject->predicates;
    if (known) {
        memcpy(out, known->items, known->n * sizeof *out);
        return known->n;
    }
    uint32_t n = read_predicates(subject, out);
    struct vsig_predicate_list *kept = arena_alloc(subject->arena, sizeof *kept + n * sizeof *out);
    if (!kept) return n;
    kept->n = n;
    memcpy(kept->items, out, n * sizeof *out);
    subject->predicates = kept;
    return n;
}

static bool number_of(const struct sql_node *literal, double *out)
{
    if (literal->kind != SQL_LITERAL || (literal->op != SQL_LIT_INT && literal->op != SQL_LIT_FLOAT)) return false;
    char digits[64];
    if (literal->text_len >= sizeof digits) return false;
    memcpy(digits, literal->text, literal->text_len);
    digits[literal->text_len] = '\0';
    char *end;
    *out = strtod(digits, &end);
    const struct sql_node *sign = literal->parent;
    if (sql_is(sign, SQL_UNARY) && sign->op == SQL_OP_NEG) *out = -*out;
    return *end == '\0';
}

static double stat_number(const struct db_value *value)
{
    return value->type == DB_INT ? (double)value->i : value->f;
}

/* Decides a comparison with a number by the column's minimum and maximum. The column has only numbers. Returns 1 or 0,
 * or -1 if they do not decide. */
static int by_bounds(const struct schema_stats *stats, enum sql_op op, double number)
{
    double low = stat_number(&stats->min), high = stat_number(&stats->max);
    switch (op) {
    case SQL_OP_LT: return low < number;
    case SQL_OP_LE: return low <= number;
    case SQL_OP_GT: return high > number;
    case SQL_OP_GE: return high >= number;
    case SQL_OP_EQ: return number < low || number > high ? 0 : -1;
    default: return -1;
    }
}

bool vsig_is_null_test(const struct sql_node *node, bool *negated)
{
    if (node->kind == SQL_UNARY && (node->op == SQL_OP_ISNULL || node->op == SQL_OP_NOTNULL)) {
        *negated = node->op == SQL_OP_NOTNULL;
        return true;
    }
    if (node->kind != SQL_BINARY || (node->op != SQL_OP_IS && node->op != SQL_OP_IS_NOT)) return false;
    const struct sql_node *literal = sql_plain_literal(node->kids[1]);
    *negated = node->op == SQL_OP_IS_NOT;
    return literal && literal->op == SQL_LIT_NULL;
}

/* Decides a predicate by the schema index, without a statement. Returns 1 or 0, or -1 if the index does not decide.
 * Only a plain column of a table has statistics. */
static int by_statistics(const struct vsig_subject *subject, const struct vsig_predicate *predicate)
{
    const struct schema_stats *stats = &predicate->column->stats;
    const struct sql_node *node = predicate->node;
    if (stats->sampled || !predicate->bare || predicate->ref->source->kind != SQL_SOURCE_TABLE) return -1;
    if (stats->rows == 0) return 0;
    bool negated;
    if (vsig_is_null_test(node, &negated)) return negated ? stats->nulls < stats->rows : stats->nulls > 0;
    if (node->kind != SQL_BINARY || predicate->n_literals != 1) return -1;
    const struct sql_node *literal = predicate->literals[0];
    bool swapped = sql_plain_literal(node->kids[0]) == literal;
    enum sql_op op = swapped ? sql_op_swap(node->op) : (enum sql_op)node->op;
    double number;
    bool numeric = number_of(literal, &number);
    if (numeric && stats->texts == 0 && stats->blobs == 0 && stats->nulls < stats->rows) {
        int decided = by_bounds(stats, op, number);
        if (decided >= 0) return decided;
    }
    if (op != SQL_OP_EQ || numeric || !literal->text) return -1;
    /* Use only a "yes" of the value index: a "no" may still match under the collation of the column. */
    return schema_column_has(subject->schema, predicate->column, literal->text, literal->text_len, true) == 1 ? 1 : -1;
}

/* Returns the probe. It prints the FROM item of the column as the statement has it, so qualified names remain valid. */
static const char *probe_text(struct vsig_subject *subject, const struct vsig_predicate *predicate)
{
    const char *with = vsig_probe_with(subject, NULL, NULL);
    const char *from = sql_print(subject->arena, predicate->ref->source->node);
    const char *condition = sql_print(subject->arena, predicate->node);
    if (!with || !from || !condition) return NULL;
    return arena_printf(subject->arena, "%sSELECT 1 FROM %s WHERE %s LIMIT 1", with, from, condition);
}

void vsig_predicate_look(struct vsig_subject *subject, struct vsig_predicate *predicate, uint32_t *probes,
                         uint32_t max_probe)
{
    predicate->code = ERR_OK;
    predicate->live = by_statistics(subject, predicate);
    if (predicate->live >= 0) return;
    if (*probes >= max_probe) {
        predicate->code = ERR_LIMIT_COUNT;
        return;
    }
    ++*probes;
    predicate->live = vsig_probe_any(subject, probe_text(subject, predicate), &predicate->code);
}

static bool tokens_state(struct arena *arena, const struct text_tokens *said, const char *text, size_t len)
{
    struct text_tokens wanted = text_tokenize(arena, text, len);
    if (wanted.n == 0) return false;
    for (uint32_t at = 0; at + wanted.n <= said->n; at++) {
        uint32_t same = 0;
        while (same < wanted.n && strcmp(said->items[at + same].norm, wanted.items[same].norm) == 0) same++;
        if (same == wanted.n) return true;
    }
    return false;
}

/* Removes wildcards at both ends: LIKE '%new york%' states "new york". */
static void trim_pattern(const char **text, size_t *len)
{
    while (*len && ((*text)[0] == '%' || (*text)[0] == '*')) ++*text, --*len;
    while (*len && ((*text)[*len - 1] == '%' || (*text)[*len - 1] == '*')) --*len;
}

static bool value_stated(const struct question *question, const char *text, size_t len)
{
    for (uint32_t i = 0; i < question->n_values; i++)
        if (strlen(question->values[i].text) == len && strncasecmp(question->values[i].text, text, len) == 0)
            return true;
    return false;
}

bool vsig_states_literal(const struct vsig_subject *subject, const struct sql_node *literal)
{
    const struct question *question = subject->analysis;
    if (!question || !literal->text) return false;
    const char *text = literal->text;
    size_t len = literal->text_len;
    trim_pattern(&text, &len);
    if (len == 0) return false;
    return value_stated(question, text, len) || tokens_state(subject->arena, &question->tokens, text, len) ||
           (question->evidence.n > 0 && tokens_state(subject->arena, &question->evidence, text, len));
}

/* True if the text has the words in sequence. Words are compared by their stems. */
static bool has_stems(const struct text_tokens *said, const struct text_tokens *wanted)
{
    for (uint32_t at = 0; at + wanted->n <= said->n; at++) {
        uint32_t same = 0;
        while (same < wanted->n && strcmp(said->items[at + same].stem, wanted->items[same].stem) == 0) same++;
        if (same == wanted->n) return true;
    }
    return false;
}

/* True if the text has the words in sequence, also inside a quoted part. */
static bool speaks_of(struct arena *arena, const struct text_tokens *said, const struct text_tokens *wanted)
{
    if (has_stems(said, wanted)) return true;
    for (uint32_t i = 0; i < said->n; i++) {
        if (said->items[i].kind != TEXT_QUOTED) continue;
        struct text_tokens inner = text_tokenize(arena, said->items[i].norm, strlen(said->items[i].norm));
        if (has_stems(&inner, wanted)) return true;
    }
    return false;
}

/* True for a code of one or two letters at the start of a word in the question: 'F' and "females". */
static bool is_code_of(const struct text_tokens *said, const char *text, size_t len)
{
    enum { MAX_CODE = 2 };
    if (len == 0 || len > MAX_CODE || !g_ascii_isalpha(text[0])) return false;
    for (uint32_t i = 0; i < said->n; i++)
        if (said->items[i].kind == TEXT_WORD && !said->items[i].is_stop && strlen(said->items[i].norm) > len &&
            g_ascii_strncasecmp(said->items[i].norm, text, len) == 0)
            return true;
    return false;
}

static bool has_number(const struct text_tokens *said, long number)
{
    for (uint32_t i = 0; i < said->n; i++)
        if (strtol(said->items[i].norm, NULL, 10) == number) return true;
    return false;
}

/* True for a date if the question has its year and its day: '2007-11-05' and "November 5th, 2007". */
static bool is_date_of(const struct text_tokens *said, const char *text, size_t len)
{
    enum { DATE = 10, DAY_AT = 8 };
    if (len < DATE || text[4] != '-' || text[7] != '-') return false;
    return has_number(said, strtol(text, NULL, 10)) && has_number(said, strtol(text + DAY_AT, NULL, 10));
}

bool vsig_speaks_of_literal(const struct vsig_subject *subject, const struct sql_node *literal)
{
    if (vsig_states_literal(subject, literal)) return true;
    const struct question *question = subject->analysis;
    if (!question || !literal->text) return false;
    const char *text = literal->text;
    size_t len = literal->text_len;
    trim_pattern(&text, &len);
    struct text_tokens wanted = text_tokenize(subject->arena, text, len);
    if (wanted.n == 0) return false;
    return speaks_of(subject->arena, &question->tokens, &wanted) ||
           speaks_of(subject->arena, &question->evidence, &wanted) || is_code_of(&question->tokens, text, len) ||
           is_date_of(&question->tokens, text, len);
}

/* True if the text contains these bytes as whole words. False for bytes that begin or end with a space. */
static bool holds_bytes(const char *text, const char *wanted, size_t len)
{
    if (!text || len == 0 || wanted[0] == ' ' || wanted[len - 1] == ' ') return false;
    size_t size = strlen(text);
    const char *at = text;
    while ((at = memmem(at, size - (size_t)(at - text), wanted, len))) {
        bool starts = at == text || !g_ascii_isalnum(at[-1]) || !g_ascii_isalnum(wanted[0]);
        bool ends = !g_ascii_isalnum(at[len]) || !g_ascii_isalnum(wanted[len - 1]);
        if (starts && ends) return true;
        at++;
    }
    return false;
}

/* True if the texts are equal when spaces are ignored. */
static bool same_but_spaces(const char *a, size_t len, const char *b)
{
    size_t i = 0;
    for (;;) {
        while (i < len && a[i] == ' ') i++;
        while (*b == ' ') b++;
        if (i == len || !*b) return i == len && !*b;
        if (a[i++] != *b++) return false;
    }
}

enum held { HELD_NOWHERE, HELD_ELSEWHERE, HELD_SPACED, HELD_SPELLED };

/* Returns where the value index has the literal: in the column with other spaces (HELD_SPACED) or in another spelling
 * (HELD_SPELLED), or only in other columns (HELD_ELSEWHERE). */
static enum held where_held(const struct vsig_subject *subject, const struct vsig_predicate *predicate,
                            const struct sql_node *literal)
{
    enum { MAX_HITS = 32 };
    struct schema_hit hits[MAX_HITS];
    enum held held = HELD_NOWHERE;
    uint32_t n = schema_values_with(subject->schema, literal->text, literal->text_len, hits, MAX_HITS);
    for (uint32_t i = 0; i < n; i++) {
        if (hits[i].column == predicate->column->id) {
            if (same_but_spaces(literal->text, literal->text_len, hits[i].form)) return HELD_SPACED;
            held = HELD_SPELLED;
        } else if (held == HELD_NOWHERE) {
            held = HELD_ELSEWHERE;
        }
    }
    return held;
}

bool vsig_question_says_so(const struct vsig_subject *subject, const struct vsig_predicate *predicate)
{
    for (uint32_t i = 0; i < predicate->n_literals; i++) {
        const struct sql_node *literal = predicate->literals[i];
        if (!vsig_states_literal(subject, literal)) return false;
        if (literal->op != SQL_LIT_STRING && literal->kind != SQL_COLUMN) continue;
        enum held held = where_held(subject, predicate, literal);
        bool word_for_word = holds_bytes(subject->question, literal->text, literal->text_len) ||
                             holds_bytes(subject->evidence, literal->text, literal->text_len);
        if (held != HELD_NOWHERE && !(held == HELD_SPACED && word_for_word)) return false;
        if (predicate->column->stats.nulls > 0 && sql_name_is(literal->text, literal->text_len, "null", 4))
            return false;
        const char *text = literal->text;
        size_t len = literal->text_len;
        enum question_form form;
        trim_pattern(&text, &len);
        if (held == HELD_NOWHERE && question_stored_form(subject->arena, subject->analysis, subject->schema,
                                                         predicate->column, text, len, &form))
            return false;
    }
    return predicate->n_literals > 0;
}
