#include "signals/support/contradiction.h"

#include "signals/support/query.h"
#include "signals/support/sibling.h"

#include <glib.h>
#include <string.h>

/* Without the wildcards of LIKE; false where one stands inside. */
static bool plain_part(const struct sql_node *literal, const char **text, size_t *len)
{
    *text = literal->text;
    *len = literal->text_len;
    while (*len && (**text == '%' || **text == '*')) ++*text, --*len;
    while (*len && ((*text)[*len - 1] == '%' || (*text)[*len - 1] == '*')) --*len;
    return *len > 0 && !memchr(*text, '%', *len);
}

static bool is_text(const struct sql_node *literal)
{
    return literal->text && (literal->kind == SQL_COLUMN || literal->op == SQL_LIT_STRING);
}

static bool is_equality(const struct sql_node *node)
{
    return node->kind == SQL_IN || node->kind == SQL_LIKE ||
           (node->kind == SQL_BINARY && (node->op == SQL_OP_EQ || node->op == SQL_OP_NE || node->op == SQL_OP_IS));
}

bool vsig_stands_for(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                     const struct schema_column *column, const char *stored)
{
    struct question_text wanted, has;
    if (!question_text_of(subject->arena, stored, strlen(stored), &wanted)) return true;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < all[i].n_literals; l++) {
            const char *text;
            size_t len;
            if (!all[i].literals[l]->text || !plain_part(all[i].literals[l], &text, &len)) continue;
            if (!question_text_of(subject->arena, text, len, &has)) continue;
            if (question_form_between(&wanted, &has) != QUESTION_FORM_NONE) return true;
            if (len >= 3 && strstr(wanted.folded, has.folded)) return true;
            if (all[i].column != column && is_equality(all[i].node) &&
                vsig_stand_together(subject, all[i].column, text, len, column, stored) == 1)
                return true;
        }
    return false;
}

/* Words of the question that say another value of the column by its very name, and so nothing else; n 0: none. */
struct taken {
    uint32_t first, n;
};

/* Words of the text and of the question that begin alike: "comp. sci." and computer science. */
static bool begins_alike(const struct text_tokens *said, const struct text_tokens *words, struct taken taken)
{
    enum { MIN_START = 3, LONG_START = 5 }; /* AssocProf: associate professor */
    for (uint32_t w = 0; w < words->n; w++) {
        if (words->items[w].kind == TEXT_PUNCT || words->items[w].is_stop) continue;
        const char *word = words->items[w].stem;
        for (uint32_t i = 0; i < said->n; i++) {
            if (said->items[i].is_stop || said->items[i].kind == TEXT_PUNCT) continue;
            if (i >= taken.first && i < taken.first + taken.n) continue;
            size_t least = MIN(strlen(word), strlen(said->items[i].stem));
            if (least >= MIN_START && strncmp(word, said->items[i].stem, least > LONG_START ? LONG_START : least) == 0)
                return true;
            if (text_word_similarity(words->items[w].norm, said->items[i].norm) > 0.5) return true;
        }
    }
    return false;
}

/* A short code by the letters that a word begins with: CS of computer science, 'Comp'. */
static bool is_short_for(const struct text_tokens *said, const char *folded)
{
    enum { MAX_CODE = 4 };
    size_t len = strlen(folded);
    if (len > MAX_CODE) return false;
    for (uint32_t i = 0; i < said->n; i++)
        if (said->items[i].kind == TEXT_WORD && !said->items[i].is_stop && said->items[i].norm[0] == folded[0])
            return true;
    return false;
}

static bool is_said(struct vsig_subject *subject, const struct schema_column *column, const char *text, size_t len,
                    struct taken taken)
{
    const struct question *question = subject->analysis;
    struct question_text literal;
    if (question_says_text(subject->arena, question, text, len, NULL) != QUESTION_FORM_NONE) return true;
    if (!question_text_of(subject->arena, text, len, &literal)) return true;
    if (begins_alike(&question->tokens, &literal.words, taken) ||
        begins_alike(&question->evidence, &literal.words, (struct taken){0}) ||
        is_short_for(&question->tokens, literal.folded))
        return true;
    for (uint32_t i = 0; i < question->n_values; i++) { /* the name of the code, in another column of its row */
        const struct question_value *value = &question->values[i];
        for (uint32_t h = 0; h < value->n_hits && h < 3; h++) {
            const struct schema_column *other = subject->schema->columns[value->hits[h].column];
            if (other != column && vsig_stand_together(subject, column, text, len, other, value->hits[h].form) == 1)
                return true;
        }
    }
    return false;
}

static bool add(struct vsig_contradiction *out, uint32_t *count, const struct vsig_predicate *predicate, uint32_t l,
                struct question_said said, bool sure)
{
    if (*count == VSIG_MAX_CONTRADICTIONS) return false;
    out[(*count)++] = (struct vsig_contradiction){predicate, predicate->literals[l], said, sure};
    return true;
}

/* The other gender alone is what the question speaks of. */
static void look_at_gender(struct vsig_subject *subject, const struct vsig_predicate *predicate, uint32_t l,
                           struct vsig_contradiction *out, uint32_t *count)
{
    const struct sql_node *literal = predicate->literals[l];
    uint32_t first = 0;
    unsigned said = question_genders(subject->analysis, &first);
    enum question_gender wanted = question_gender_of(literal->text, literal->text_len, true);
    bool is_not = (predicate->node->flags & SQL_F_NOT) != 0 || predicate->node->op == SQL_OP_NE;
    if (subject->analysis->evidence.n > 0 || query_is_excluded(predicate->node)) return;
    if (said != 1U << QUESTION_MALE && said != 1U << QUESTION_FEMALE) return;
    if (wanted == QUESTION_NO_GENDER &&
        (is_not || is_said(subject, predicate->column, literal->text, literal->text_len, (struct taken){0})))
        return; /* neither of them ('X'), and not left out */
    if ((said == 1U << wanted) != is_not) return;
    enum question_form form;
    const char *word = subject->analysis->tokens.items[first].norm;
    const char *stored =
        question_stored_form(subject->arena, subject->schema, predicate->column, word, strlen(word), &form);
    add(out, count, predicate, l, (struct question_said){first, 1, stored ? stored : word, form, true}, true);
}

static void look_at_value(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                          const struct vsig_predicate *predicate, uint32_t l, struct vsig_contradiction *out,
                          uint32_t *count)
{
    struct question_said said[QUESTION_MAX_SAID];
    const char *text;
    size_t len;
    if (!plain_part(predicate->literals[l], &text, &len)) return;
    uint32_t n_said = question_values_of(subject->arena, subject->analysis, subject->schema, predicate->column, said);
    for (uint32_t i = 0; i < n_said; i++) {
        bool by_name = said[i].form >= QUESTION_FORM_WORD && said[i].first != UINT32_MAX;
        struct taken taken = {by_name ? said[i].first : 0, by_name ? said[i].n_tokens : 0};
        if (is_said(subject, predicate->column, text, len, taken)) continue;
        if (vsig_stands_for(subject, all, n, predicate->column, said[i].stored)) continue;
        add(out, count, predicate, l, said[i], said[i].sure);
        return;
    }
}

uint32_t vsig_contradictions(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                             struct vsig_contradiction out[VSIG_MAX_CONTRADICTIONS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_equality(all[i].node)) continue;
        for (uint32_t l = 0; l < all[i].n_literals; l++) {
            if (!is_text(all[i].literals[l])) continue;
            if (question_column_is_gender(all[i].column))
                look_at_gender(subject, &all[i], l, out, &count);
            else
                look_at_value(subject, all, n, &all[i], l, out, &count);
        }
    }
    return count;
}
