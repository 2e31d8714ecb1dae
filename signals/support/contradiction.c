/* Finds literals that contradict the question: it states another value for the same column.
 *
 * There are three checks. A literal in a gender column contradicts a question that mentions only the other gender. A
 * "yes" in a flag column contradicts a question that negates the column. Any other text literal contradicts a question
 * that states another value of its column. A literal is accepted if the question or the evidence mentions it in any
 * form. It is also accepted if another literal of the query expresses the stated value. */
#include "signals/support/contradiction.h"

#include "lib/question/frame.h"
#include "lib/text/lexicon.h"
#include "signals/support/query.h"
#include "signals/support/sibling.h"

#include <glib.h>
#include <string.h>

/* Removes the wildcards of LIKE at both ends of a literal. Returns false if nothing remains or a wildcard is inside. */
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

/* Tokens of the question that name another value of the column, so they cannot refer to the literal. n is 0 if there
 * are none. */
struct taken {
    uint32_t first, n;
};

/* True if a word of the literal and a word of the question have the same beginning, such as "comp. sci." and "computer
 * science". */
static bool begins_alike(const struct text_tokens *said, const struct text_tokens *words, struct taken taken)
{
    enum { MIN_START = 3, LONG_START = 5 }; /* so that "AssocProf" matches "associate professor" */
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

/* True if a text of up to four letters has the same first letter as a word of the question: CS and "computer
 * science". */
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
    /* the question may contain the code's name, from another column of the same row */
    for (uint32_t i = 0; i < question->n_values; i++) {
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

/* Reports a literal of the other gender if the question mentions one gender only. */
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
        return; /* a literal that is no gender ('X'), and that the question mentions or the query negates */
    if ((said == 1U << wanted) != is_not) return;
    enum question_form form;
    const char *word = subject->analysis->tokens.items[first].norm;
    const char *stored = question_stored_form(subject->arena, subject->analysis, subject->schema, predicate->column,
                                              word, strlen(word), &form);
    add(out, count, predicate, l, (struct question_said){first, 1, stored ? stored : word, form, true}, true);
}

/* True for a list of almost all values of the column, where the question excludes another one: status IN ('open',
 * 'paid') for "void excluded". */
static bool lists_what_is_left(const struct vsig_subject *subject, const struct vsig_predicate *predicate)
{
    static const unsigned EXCLUDES = 1U << FRAME_LEFT_OUT | 1U << FRAME_EXCEPT | 1U << FRAME_KEPT | 1U << FRAME_ANY;
    const struct question *question = subject->analysis;
    bool list = predicate->node->kind == SQL_IN && predicate->n_literals >= 2;
    if (!list || (double)predicate->n_literals + 2 < (double)predicate->column->stats.distinct) return false;
    return (question->frame && question->frame->kinds & EXCLUDES) ||
           question_cue_any(question, 1U << QUESTION_CUE_NOT) || (predicate->node->flags & SQL_F_NOT);
}

/* Checks one literal against the values that the question states. Returns false if the arena of the question is
 * full. */
static bool look_at_value(struct vsig_subject *subject, const struct vsig_predicate *all, uint32_t n,
                          const struct vsig_predicate *predicate, uint32_t l, struct vsig_contradiction *out,
                          uint32_t *count)
{
    const char *text;
    size_t len;
    uint32_t n_said;
    if (!plain_part(predicate->literals[l], &text, &len) || lists_what_is_left(subject, predicate)) return true;
    const struct question_said *said =
        question_values_of(subject->analysis, subject->schema, predicate->column, &n_said);
    for (uint32_t i = 0; i < n_said; i++) {
        bool by_name = said[i].form >= QUESTION_FORM_WORD && said[i].first != UINT32_MAX;
        struct taken taken = {by_name ? said[i].first : 0, by_name ? said[i].n_tokens : 0};
        if (is_said(subject, predicate->column, text, len, taken)) continue;
        if (vsig_stands_for(subject, all, n, predicate->column, said[i].stored)) continue;
        add(out, count, predicate, l, said[i], said[i].sure);
        break;
    }
    return said != NULL;
}

/* Returns 1 for yes, true, Y, T and 1. Returns 0 for no, false, N, F and 0. Returns -1 for any other text. */
static int yes_or_no(const char *text, size_t len)
{
    static const char *const WORDS[2][6] = {{"no", "n", "false", "f", "0", NULL}, {"yes", "y", "true", "t", "1", NULL}};
    for (int yes = 0; yes < 2; yes++)
        for (const char *const *word = WORDS[yes]; *word; word++)
            if (sql_name_is(text, len, *word, strlen(*word))) return yes;
    return -1;
}

/* True for a column with exactly two values, "yes" and "no" in any form. *no gets the stored form of "no". */
static bool is_flag(const struct schema_column *column, const char **no)
{
    int seen[2] = {0};
    if (column->stats.distinct != 2 || column->stats.n_top != 2) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const struct db_value *value = &column->stats.top[i].value;
        int says = value->type == DB_TEXT                                    ? yes_or_no(value->text, value->len)
                   : value->type == DB_INT && value->i >= 0 && value->i <= 1 ? (int)value->i
                                                                             : -1;
        if (says < 0) return false;
        seen[says]++;
        if (!says) *no = value->type == DB_TEXT ? value->text : "0";
    }
    return seen[0] == 1 && seen[1] == 1;
}

static bool is_opposite(const struct text_token *said, const struct text_token *word)
{
    uint32_t a = text_lexicon_stem(said->stem), b = text_lexicon_stem(word->stem);
    return a != TEXT_NO_WORD && b != TEXT_NO_WORD && text_lexicon_relate(a, b).kind == TEXT_RELATION_OPPOSITE;
}

/* Returns the token by which the question negates the column: "no scholarship", "not active", "inactive". Returns -1 if
 * there is none. */
static int denied_at(const struct question *question, const struct schema_column *column)
{
    static const char *const NOT[] = {"no",     "not",    "without", "never", "isn't",
                                      "aren't", "wasn't", "weren't", "non",   NULL};
    for (uint32_t i = 0; i < question->tokens.n; i++) {
        const struct text_token *said = &question->tokens.items[i];
        bool denied = false;
        for (uint32_t back = 1; back <= 2 && back <= i && !denied; back++)
            for (const char *const *not = NOT; *not &&!denied; not ++)
                denied = strcmp(question->tokens.items[i - back].norm, *not ) == 0;
        for (uint32_t w = 0; w < column->words.n && said->kind == TEXT_WORD && !said->is_stop; w++) {
            const struct text_token *word = &column->words.items[w];
            if (word->is_stop) continue;
            if (strcmp(said->stem, word->stem) == 0) return denied ? (int)i : -1;
            if (is_opposite(said, word)) return denied ? -1 : (int)i;
        }
    }
    return -1;
}

/* Reports a "yes" literal if the question negates the column. */
static void look_at_flag(struct vsig_subject *subject, const struct vsig_predicate *predicate,
                         struct vsig_contradiction *out, uint32_t *count)
{
    const struct sql_node *literal = predicate->n_literals == 1 ? predicate->literals[0] : NULL;
    const char *no = NULL;
    if (!sql_is(predicate->node, SQL_BINARY) || predicate->node->op != SQL_OP_EQ || !literal || !literal->text) return;
    if (yes_or_no(literal->text, literal->text_len) != 1 || query_is_excluded(predicate->node)) return;
    if (subject->analysis->evidence.n > 0 || !is_flag(predicate->column, &no)) return;
    int at = denied_at(subject->analysis, predicate->column);
    if (at < 0) return;
    add(out, count, predicate, 0, (struct question_said){(uint32_t)at, 1, no, QUESTION_FORM_CODE, true}, true);
}

static bool look_at_predicate(struct vsig_subject *subject, const struct vsig_predicate *predicate,
                              struct vsig_contradictions *out)
{
    look_at_flag(subject, predicate, out->items, &out->n);
    for (uint32_t l = 0; l < predicate->n_literals; l++) {
        if (!is_text(predicate->literals[l])) continue;
        if (question_column_is_gender(predicate->column))
            look_at_gender(subject, predicate, l, out->items, &out->n);
        else if (!look_at_value(subject, out->predicates, out->n_predicates, predicate, l, out->items, &out->n))
            return false;
    }
    return true;
}

const struct vsig_contradictions *vsig_contradictions(struct vsig_subject *subject)
{
    if (subject->contradictions) return subject->contradictions;
    struct vsig_contradictions *out = arena_new(subject->arena, struct vsig_contradictions);
    if (!out) return NULL;
    out->n_predicates = vsig_predicates(subject, out->predicates);
    for (uint32_t i = 0; i < out->n_predicates; i++)
        if (is_equality(out->predicates[i].node) && !look_at_predicate(subject, &out->predicates[i], out)) return NULL;
    return subject->contradictions = out;
}
