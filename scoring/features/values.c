/* Compares the values that the question states with the literals of the query.
 *
 * Each literal is searched in the question and in the evidence. A text is also searched in the column that it is
 * compared with. The features count literals without a source, texts that the column does not contain, and values of
 * the question that the query does not use. A doubtful value, such as a plain word that is also a value, counts a
 * quarter. extract_value_forms adds features by degree. Literals beyond EXTRACT_MAX_LITERALS are ignored. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const double EQUAL = 1e-9;

static const struct sql_node *comparison_of(const struct sql_node *literal)
{
    const struct sql_node *node = literal->parent;
    while (sql_is(node, SQL_LIST) || sql_is(node, SQL_UNARY) || sql_is(node, SQL_CAST)) node = node->parent;
    bool compares = (sql_is(node, SQL_BINARY) && sql_is_comparison((enum sql_op)node->op)) || sql_is(node, SQL_IN) ||
                    sql_is(node, SQL_LIKE) || sql_is(node, SQL_BETWEEN);
    return compares ? node : NULL;
}

static const struct schema_column *compared_column(const struct extraction *ex, const struct sql_node *comparison)
{
    for (unsigned i = 0; comparison && i < 2; i++) {
        const struct schema_column *column = query_column(ex->subject, sql_kid(comparison, i));
        if (column) return column;
    }
    return NULL;
}

static bool matches_value(const struct extraction *ex, const struct condition_literal *literal, uint32_t v)
{
    const struct question_value *value = &ex->question->values[v];
    if (value->kind == QUESTION_VALUE_NUMBER && literal->is_number)
        return fabs(fabs(value->number) - fabs(literal->number)) < EQUAL ||
               fabs(fabs(value->scaled) - fabs(literal->number)) < EQUAL;
    const char *letters = extract_letters(ex->arena, value->text, strlen(value->text));
    return letters && extract_texts_match(letters, literal->letters);
}

/* Finds a literal in the question: as one of its values, otherwise as a word or number. */
static void find_in_question(struct extraction *ex, struct condition_literal *literal)
{
    literal->value = -1;
    literal->first = UINT32_MAX;
    for (uint32_t v = 0; v < ex->question->n_values; v++) {
        if (!matches_value(ex, literal, v)) continue;
        ex->value_used[v] = true;
        extract_mark_explained(ex, ex->question->values[v].first, ex->question->values[v].n_tokens);
        if (literal->value >= 0) continue;
        literal->value = (int)v;
        literal->first = ex->question->values[v].first;
    }
    for (uint32_t i = 0; i < ex->question->tokens.n && literal->value < 0; i++) {
        const struct text_token *t = &ex->question->tokens.items[i];
        bool same = t->is_number && literal->is_number && fabs(t->number - literal->number) < EQUAL;
        if (!same && (t->is_stop || t->kind == TEXT_PUNCT || !extract_texts_match(t->norm, literal->letters))) continue;
        ex->explained[i] = true;
        if (literal->first == UINT32_MAX) literal->first = i;
    }
}

static bool is_in_evidence(const struct extraction *ex, const struct condition_literal *literal)
{
    for (uint32_t i = 0; i < ex->question->evidence.n; i++) {
        const struct text_token *t = &ex->question->evidence.items[i];
        if (t->is_number && literal->is_number && fabs(t->number - literal->number) < EQUAL) return true;
        if (!t->is_stop && t->kind != TEXT_PUNCT && extract_texts_match(t->norm, literal->letters)) return true;
    }
    return false;
}

static bool read_literal(struct extraction *ex, const struct sql_node *node)
{
    struct condition_literal *literal = &ex->literals[ex->n_literals];
    const struct sql_node *comparison = comparison_of(node);
    size_t start = 0, end = node->text_len;
    *literal = (struct condition_literal){.node = node, .value = -1, .first = UINT32_MAX};
    while (start < end && (node->text[start] == '%' || node->text[start] == '*')) start++;
    while (end > start && (node->text[end - 1] == '%' || node->text[end - 1] == '*')) end--;
    literal->letters = extract_letters(ex->arena, node->text + start, end - start);
    literal->is_number = query_literal_number(node, &literal->number);
    literal->in_limit = sql_clause_of(node) == SQL_CLAUSE_LIMIT;
    literal->pattern = sql_is(comparison, SQL_LIKE);
    literal->column = compared_column(ex, comparison);
    if (!literal->letters) return false;
    if (ex->question) find_in_question(ex, literal);
    ex->n_literals++;
    return true;
}

static float distance(uint32_t a, uint32_t b)
{
    return a > b ? (float)(a - b) : (float)(b - a);
}

struct tally {
    float n, unsaid, number_unsaid, absent, folded, exact, named, elsewhere, distance, n_distance, repeated, rival;
};

/* Counts whether the compared column contains the literal. */
static void tally_stored(struct extraction *ex, const struct condition_literal *literal, struct tally *t)
{
    const struct sql_node *n = literal->node;
    if (!literal->column || literal->pattern || literal->is_number || n->text_len > 200) return;
    struct schema_hit hit;
    int has = schema_column_has(ex->schema, literal->column, n->text, n->text_len, false);
    int exact = schema_column_has(ex->schema, literal->column, n->text, n->text_len, true);
    t->exact += exact == 1;
    t->folded += has == 1 && exact == 0;
    if (has != 0) return;
    t->absent++;
    t->elsewhere += schema_values_with(ex->schema, n->text, n->text_len, &hit, 1) > 0;
}

/* Returns how much better the question names another column with this value than the compared column. Returns -1 if
 * there is none. */
static float rival_of(const struct extraction *ex, const struct condition_literal *literal)
{
    const struct question_value *value = literal->value >= 0 ? &ex->question->values[literal->value] : NULL;
    float own = literal->column ? extract_column_score(ex, literal->column) : 0, best = -1;
    for (uint32_t i = 0; value && literal->column && i < value->n_hits; i++) {
        if (value->hits[i].column == literal->column->id) continue;
        float score = extract_column_score(ex, ex->schema->columns[value->hits[i].column]) - own;
        best = score > best ? score : best;
    }
    return best;
}

static void tally_literal(struct extraction *ex, uint32_t i, struct tally *t)
{
    const struct condition_literal *literal = &ex->literals[i];
    const struct question_mention *mention = literal->column ? extract_best_mention(ex, literal->column) : NULL;
    bool said = literal->first != UINT32_MAX || is_in_evidence(ex, literal);
    if (literal->in_limit) return;
    t->n++;
    if (literal->is_number)
        t->number_unsaid += !said;
    else
        t->unsaid += !said;
    tally_stored(ex, literal, t);
    t->named += mention && mention->score > 0.6;
    if (mention && literal->first != UINT32_MAX) {
        t->distance += distance(mention->first, literal->first);
        t->n_distance++;
    }
    t->rival = MAX(t->rival, rival_of(ex, literal));
    for (uint32_t k = 0; k < i; k++)
        t->repeated += !ex->literals[k].in_limit && strcmp(ex->literals[k].letters, literal->letters) == 0;
}

static void set_values(struct extraction *ex)
{
    static const enum feature_index unused[] = {[QUESTION_VALUE_QUOTED] = FEATURE_values_quoted_unused,
                                                [QUESTION_VALUE_NUMBER] = FEATURE_values_number_unused,
                                                [QUESTION_VALUE_DATABASE] = FEATURE_values_known_unused,
                                                [QUESTION_VALUE_NAME] = FEATURE_values_name_unused};
    const struct question *question = ex->question;
    float n = 0, used = 0, numbers = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(unused); i++) ex->out[unused[i]] = 0;
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        bool vague = value->is_name || (value->kind == QUESTION_VALUE_DATABASE && !value->capital) ||
                     (value->kind == QUESTION_VALUE_NUMBER && value->spelled && value->number < 2);
        float weight = vague ? 0.25F : 1;
        n += weight;
        used += ex->value_used[i] ? weight : 0;
        numbers += value->kind == QUESTION_VALUE_NUMBER && !value->spelled;
        if (!ex->value_used[i]) ex->out[unused[value->kind]] += weight;
    }
    ex->out[FEATURE_values_asked] = n;
    ex->out[FEATURE_numbers_asked] = numbers;
    if (n > 0) ex->out[FEATURE_values_used_share] = used / n;
}

static void set_literals(struct extraction *ex)
{
    struct tally t = {.rival = -1};
    float *out = ex->out;
    for (uint32_t i = 0; i < ex->n_literals; i++) tally_literal(ex, i, &t);
    out[FEATURE_literals] = t.n;
    out[FEATURE_literals_unsaid] = t.unsaid;
    out[FEATURE_literals_number_unsaid] = t.number_unsaid;
    out[FEATURE_literals_absent] = t.absent;
    out[FEATURE_literals_folded] = t.folded;
    out[FEATURE_literals_in_column] = t.exact;
    out[FEATURE_literals_column_named] = t.named;
    out[FEATURE_literals_elsewhere] = t.elsewhere;
    out[FEATURE_literals_repeated] = t.repeated;
    if (t.n_distance > 0) out[FEATURE_literals_distance] = t.distance / t.n_distance;
    if (t.n > 0) out[FEATURE_literals_rival_score] = t.rival;
    for (uint32_t i = 0; i < ex->n_literals; i++)
        if (ex->literals[i].in_limit && ex->literals[i].number > 1)
            out[FEATURE_limit_said] = ex->literals[i].first != UINT32_MAX;
}

bool extract_values(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n && ex->n_literals < EXTRACT_MAX_LITERALS; n = sql_walk(root, n))
        if (query_literal(n, NULL) == n && n->text && !read_literal(ex, n)) return false;
    if (!ex->question) return true;
    set_literals(ex);
    set_values(ex);
    extract_value_forms(ex);
    return true;
}
