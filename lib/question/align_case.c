/* Checks conditional amounts: their sign, and the order and names of the columns that show them. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <string.h>

/* --- signs --- */

/* Returns the sign of an amount: -1 for -x, -1 * x and -1, 0 for 0, 1 for other amounts. */
static int sign_of(const struct meaning_term *term)
{
    if (align_is(term, MEANING_OPERATION, "negative") || align_is(term, MEANING_VALUE, "-1")) return -1;
    if (align_is(term, MEANING_VALUE, "0") || align_is(term, MEANING_VALUE, "0.0")) return 0;
    int sign = 1;
    for (uint32_t i = 0; align_is(term, MEANING_OPERATION, "*") && i < term->n_parts; i++)
        sign *= sign_of(term->parts[i]);
    return sign;
}

/* Returns the literal of "column = literal"; NULL for other conditions. */
static const struct meaning_term *literal_of(const struct meaning_term *condition)
{
    bool equal = align_is(condition, MEANING_OPERATION, "=") && condition->n_parts == 2;
    return equal && align_is(condition->parts[1], MEANING_VALUE, NULL) ? condition->parts[1] : NULL;
}

/* True if the subtracted amount follows the words of the element, as in "minus X". False if it precedes them, as in "X
 * subtracted". */
static bool names_behind(const struct aligner *a, const struct frame_element *asked)
{
    static const char *const words[] = {"minus", "less", "deduct", "deducting", "subtract", "subtracting", "net"};
    return asked->kind == FRAME_DIFFERENCE && align_says_any(a, asked, words, G_N_ELEMENTS(words));
}

struct subtracted {
    const struct frame_element *asked;
    bool behind;
    uint32_t gap; /* tokens between the element and the best literal */
    const char *text;
};

static void offer_literal(struct subtracted *best, const char *text, uint32_t token)
{
    uint32_t end = best->asked->first + best->asked->n_tokens;
    bool inside = token >= best->asked->first && token < end, after = token >= end;
    uint32_t gap = inside ? 0 : after ? token - end : best->asked->first - token;
    if ((!inside && after != best->behind) || gap >= best->gap) return;
    best->gap = gap;
    best->text = text;
}

/* Returns the literal of the column that the question subtracts. It is the nearest literal on the side of the element
 * where names_behind expects it. Returns NULL if there is none. */
static const char *subtracted_value(const struct aligner *a, const struct frame_element *asked,
                                    const struct schema_column *column)
{
    struct subtracted best = {asked, names_behind(a, asked), UINT32_MAX, NULL};
    uint32_t n;
    const struct question_said *said = question_values_of(a->question, a->schema, column, &n);
    for (uint32_t i = 0; said && i < n; i++) offer_literal(&best, said[i].stored, said[i].first);
    for (uint32_t t = 0; t < column->stats.n_top; t++) {
        const struct db_value *value = &column->stats.top[t].value;
        uint32_t token;
        if (value->type == DB_TEXT && align_word_at(a, value->text, value->len, &token))
            offer_literal(&best, arena_strndup(a->arena, value->text, value->len), token);
    }
    return best.text;
}

static bool is_text(const struct meaning_term *literal, const char *text)
{
    size_t n = strlen(text);
    return literal->name[0] == '\'' && strlen(literal->name) == n + 2 && strncmp(literal->name + 1, text, n) == 0;
}

static void check_sign(struct aligner *a, const struct frame_element *asked, const struct meaning_term *term)
{
    int otherwise = term->n_parts % 2 ? sign_of(term->parts[term->n_parts - 1]) : 0;
    for (uint32_t i = 0; i + 1 < term->n_parts; i += 2) {
        const struct meaning_term *literal = literal_of(term->parts[i]);
        const struct schema_column *column = literal ? align_column(a, term->parts[i]->parts[0]) : NULL;
        const char *subtracted = column ? subtracted_value(a, asked, column) : NULL;
        int sign = sign_of(term->parts[i + 1]);
        if (!subtracted || !sign) continue;
        bool same = is_text(literal, subtracted);
        if (same ? sign > 0 && otherwise < 0 : sign < 0)
            align_differ(a, ALIGN_SIGN, asked, term, true,
                         "the query adds the rows that the question subtracts, and subtracts the others");
        else if (same && sign < 0)
            align_agree(a, ALIGN_SIGN, asked, term);
        else
            continue;
        return;
    }
}

void align_sign(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_NEGATIVE);
    if (!asked) asked = align_asked(a, FRAME_DIFFERENCE);
    for (uint32_t i = 0; asked && i < a->cases.n; i++) check_sign(a, asked, a->cases.items[i].term);
}

/* --- columns --- */

/* Returns the literal that distinguishes an output: 'web' for COUNT(*) FILTER (WHERE channel = 'web'). Returns NULL if
 * there is none. */
static const struct meaning_term *literal_of_output(const struct meaning_output *output)
{
    const struct meaning_term *term = meaning_follow(output->term, NULL);
    if (term->kind == MEANING_RATIO) term = meaning_follow(term->parts[0], NULL);
    return term->kind == MEANING_MEASURE && term->rows ? literal_of(term->rows) : NULL;
}

static bool is_named(const char *name, const struct meaning_term *literal)
{
    size_t n = strlen(literal->name);
    char text[64], folded[128];
    if (!name || literal->name[0] != '\'' || n - 2 >= sizeof text || n < 5 || strlen(name) >= sizeof folded)
        return false;
    memcpy(text, literal->name + 1, n - 2);
    text[n - 2] = '\0';
    for (char *c = text; *c; c++) *c = g_ascii_isalnum(*c) ? g_ascii_tolower(*c) : '_';
    for (size_t i = 0; i <= strlen(name); i++) folded[i] = g_ascii_tolower(name[i]);
    return strstr(folded, text) != NULL;
}

/* Checks two outputs that differ in one literal. Reports a difference if each output has the name that fits the other,
 * or if the question requests the reverse order. */
static void check_columns(struct aligner *a, const struct meaning_output *first, const struct meaning_output *second)
{
    const struct frame_element *asked = align_asked(a, FRAME_IN_ORDER);
    const struct meaning_term *one = literal_of_output(first), *two = literal_of_output(second);
    uint32_t at, behind;
    if (!one || !two || one->hash == two->hash) return;
    if (is_named(first->name, two) && is_named(second->name, one) && !is_named(first->name, one))
        align_differ(a, ALIGN_COLUMNS, NULL, first->term, true,
                     "each of two columns has the name of the value that the other one is of");
    else if (asked && align_said_at(a, one, &at) && align_said_at(a, two, &behind) && at > behind)
        align_differ(a, ALIGN_COLUMNS, asked, first->term, true,
                     "the columns are in another order than the question gives them");
}

void align_columns(struct aligner *a)
{
    const struct meaning *m = a->meaning;
    for (uint32_t i = 0; i + 1 < m->n_outputs; i++)
        for (uint32_t j = i + 1; j < MIN(m->n_outputs, i + 4); j++) check_columns(a, &m->outputs[i], &m->outputs[j]);
}
