/* Values: those that the question states, and those that the query compares with. */
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

static const struct schema_column *compared_column(const struct look *look, const struct sql_node *comparison)
{
    for (unsigned i = 0; comparison && i < 2; i++) {
        const struct schema_column *column = query_column(look->subject, sql_kid(comparison, i));
        if (column) return column;
    }
    return NULL;
}

static bool value_is(const struct look *look, const struct look_literal *literal, uint32_t v)
{
    const struct question_value *value = &look->asked->values[v];
    if (value->kind == QUESTION_VALUE_NUMBER && literal->is_number)
        return fabs(fabs(value->number) - fabs(literal->number)) < EQUAL;
    const char *letters = look_letters(look->arena, value->text, strlen(value->text));
    return letters && look_meet(letters, literal->letters);
}

/* Where the question says it: one of its values, else a word of its own. */
static void find_in_question(struct look *look, struct look_literal *literal)
{
    literal->value = -1;
    literal->first = UINT32_MAX;
    for (uint32_t v = 0; v < look->asked->n_values; v++) {
        if (!value_is(look, literal, v)) continue;
        look->value_used[v] = true;
        look_explain(look, look->asked->values[v].first, look->asked->values[v].n_tokens);
        if (literal->value >= 0) continue;
        literal->value = (int)v;
        literal->first = look->asked->values[v].first;
    }
    for (uint32_t i = 0; i < look->asked->tokens.n && literal->value < 0; i++) {
        const struct text_token *t = &look->asked->tokens.items[i];
        bool same = t->is_number && literal->is_number && fabs(t->number - literal->number) < EQUAL;
        if (!same && (t->is_stop || t->kind == TEXT_PUNCT || !look_meet(t->norm, literal->letters))) continue;
        look->explained[i] = true;
        if (literal->first == UINT32_MAX) literal->first = i;
    }
}

static bool told_by_evidence(const struct look *look, const struct look_literal *literal)
{
    for (uint32_t i = 0; i < look->asked->evidence.n; i++) {
        const struct text_token *t = &look->asked->evidence.items[i];
        if (t->is_number && literal->is_number && fabs(t->number - literal->number) < EQUAL) return true;
        if (!t->is_stop && t->kind != TEXT_PUNCT && look_meet(t->norm, literal->letters)) return true;
    }
    return false;
}

static bool read_literal(struct look *look, const struct sql_node *node)
{
    struct look_literal *literal = &look->literals[look->n_literals];
    const struct sql_node *comparison = comparison_of(node);
    size_t start = 0, end = node->text_len;
    *literal = (struct look_literal){.node = node, .value = -1, .first = UINT32_MAX};
    while (start < end && (node->text[start] == '%' || node->text[start] == '*')) start++;
    while (end > start && (node->text[end - 1] == '%' || node->text[end - 1] == '*')) end--;
    literal->letters = look_letters(look->arena, node->text + start, end - start);
    literal->is_number = query_literal_number(node, &literal->number);
    literal->in_limit = sql_clause_of(node) == SQL_CLAUSE_LIMIT;
    literal->pattern = sql_is(comparison, SQL_LIKE);
    literal->column = compared_column(look, comparison);
    if (!literal->letters) return false;
    if (look->asked) find_in_question(look, literal);
    look->n_literals++;
    return true;
}

static float gap(uint32_t a, uint32_t b)
{
    return a > b ? (float)(a - b) : (float)(b - a);
}

struct tally {
    float n, unsaid, number_unsaid, absent, folded, exact, named, elsewhere, distance, n_distance, repeated, rival;
};

/* Does the database hold the literal where the query looks for it? */
static void tally_stored(struct look *look, const struct look_literal *literal, struct tally *t)
{
    const struct sql_node *n = literal->node;
    if (!literal->column || literal->pattern || literal->is_number || n->text_len > 200) return;
    struct schema_hit hit;
    int has = schema_column_has(look->schema, literal->column, n->text, n->text_len, false);
    int exact = schema_column_has(look->schema, literal->column, n->text, n->text_len, true);
    t->exact += exact == 1;
    t->folded += has == 1 && exact == 0;
    if (has != 0) return;
    t->absent++;
    t->elsewhere += schema_values_with(look->schema, n->text, n->text_len, &hit, 1) > 0;
}

/* Does the question name another column that holds the value, better than the one compared? */
static float rival_of(const struct look *look, const struct look_literal *literal)
{
    const struct question_value *value = literal->value >= 0 ? &look->asked->values[literal->value] : NULL;
    float own = literal->column ? look_score(look, literal->column) : 0, best = -1;
    for (uint32_t i = 0; value && literal->column && i < value->n_hits; i++) {
        if (value->hits[i].column == literal->column->id) continue;
        float score = look_score(look, look->schema->columns[value->hits[i].column]) - own;
        best = score > best ? score : best;
    }
    return best;
}

static void tally_literal(struct look *look, uint32_t i, struct tally *t)
{
    const struct look_literal *literal = &look->literals[i];
    const struct question_mention *mention = literal->column ? look_mention(look, literal->column) : NULL;
    bool said = literal->first != UINT32_MAX || told_by_evidence(look, literal);
    if (literal->in_limit) return;
    t->n++;
    if (literal->is_number)
        t->number_unsaid += !said;
    else
        t->unsaid += !said;
    tally_stored(look, literal, t);
    t->named += mention && mention->score > 0.6;
    if (mention && literal->first != UINT32_MAX) {
        t->distance += gap(mention->first, literal->first);
        t->n_distance++;
    }
    t->rival = MAX(t->rival, rival_of(look, literal));
    for (uint32_t k = 0; k < i; k++)
        t->repeated += !look->literals[k].in_limit && strcmp(look->literals[k].letters, literal->letters) == 0;
}

static void set_values(struct look *look)
{
    static const enum verifier_feature unused[] = {[QUESTION_VALUE_QUOTED] = VERIFIER_values_quoted_unused,
                                                   [QUESTION_VALUE_NUMBER] = VERIFIER_values_number_unused,
                                                   [QUESTION_VALUE_DATABASE] = VERIFIER_values_known_unused,
                                                   [QUESTION_VALUE_NAME] = VERIFIER_values_name_unused};
    const struct question *asked = look->asked;
    float n = 0, used = 0, numbers = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(unused); i++) look->out[unused[i]] = 0;
    for (uint32_t i = 0; i < asked->n_values; i++) {
        const struct question_value *value = &asked->values[i];
        bool vague = value->is_name || (value->kind == QUESTION_VALUE_DATABASE && !value->capital) ||
                     (value->kind == QUESTION_VALUE_NUMBER && value->spelled && value->number < 2);
        float weight = vague ? 0.25F : 1;
        n += weight;
        used += look->value_used[i] ? weight : 0;
        numbers += value->kind == QUESTION_VALUE_NUMBER && !value->spelled;
        if (!look->value_used[i]) look->out[unused[value->kind]] += weight;
    }
    look->out[VERIFIER_values_asked] = n;
    look->out[VERIFIER_numbers_asked] = numbers;
    if (n > 0) look->out[VERIFIER_values_used_share] = used / n;
}

static void set_literals(struct look *look)
{
    struct tally t = {.rival = -1};
    float *out = look->out;
    for (uint32_t i = 0; i < look->n_literals; i++) tally_literal(look, i, &t);
    out[VERIFIER_literals] = t.n;
    out[VERIFIER_literals_unsaid] = t.unsaid;
    out[VERIFIER_literals_number_unsaid] = t.number_unsaid;
    out[VERIFIER_literals_absent] = t.absent;
    out[VERIFIER_literals_folded] = t.folded;
    out[VERIFIER_literals_in_column] = t.exact;
    out[VERIFIER_literals_column_named] = t.named;
    out[VERIFIER_literals_elsewhere] = t.elsewhere;
    out[VERIFIER_literals_repeated] = t.repeated;
    if (t.n_distance > 0) out[VERIFIER_literals_distance] = t.distance / t.n_distance;
    if (t.n > 0) out[VERIFIER_literals_rival_score] = t.rival;
    for (uint32_t i = 0; i < look->n_literals; i++)
        if (look->literals[i].in_limit && look->literals[i].number > 1)
            out[VERIFIER_limit_said] = look->literals[i].first != UINT32_MAX;
}

bool look_values(struct look *look)
{
    const struct sql_node *root = look->subject->stmt->root;
    for (const struct sql_node *n = root; n && look->n_literals < LOOK_MAX_LITERALS; n = sql_walk(root, n))
        if (query_literal(n, NULL) == n && n->text && !read_literal(look, n)) return false;
    if (!look->asked) return true;
    set_literals(look);
    set_values(look);
    return true;
}
