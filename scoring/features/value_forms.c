/* Features of values, by degree. They measure the form in which the question gives the literals of the query, and the
 * values that the query lacks. They also cover numbers with units, parts of dates, and keys that contain text, NULL or
 * blanks. */
#include "lib/question/forms.h"
#include "scoring/features/extract.h"
#include "signals/support/contradiction.h"
#include "signals/support/units.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_MONTHS = 12, LEAST_YEAR = 1000, LAST_YEAR = 2999 };

/* --- forms of texts --- */

static const enum feature_index BY_FORM[QUESTION_FORMS] = {
    [QUESTION_FORM_NONE] = FEATURE_forms_none,     [QUESTION_FORM_SPELLING] = FEATURE_forms_spelling,
    [QUESTION_FORM_PART] = FEATURE_forms_part,     [QUESTION_FORM_INITIALS] = FEATURE_forms_initials,
    [QUESTION_FORM_PEOPLE] = FEATURE_forms_people, [QUESTION_FORM_CODE] = FEATURE_forms_code,
    [QUESTION_FORM_DATE] = FEATURE_forms_date,     [QUESTION_FORM_WORD] = FEATURE_forms_word,
    [QUESTION_FORM_SAME] = FEATURE_forms_same,
};

static bool is_text(const struct sql_node *literal)
{
    return literal->text && literal->text_len && (literal->kind == SQL_COLUMN || literal->op == SQL_LIT_STRING);
}

static void trim(const struct sql_node *literal, const char **text, size_t *len)
{
    *text = literal->text;
    *len = literal->text_len;
    while (*len && **text == '%') ++*text, --*len;
    while (*len && (*text)[*len - 1] == '%') --*len;
}

/* True if this column does not contain the whole pattern as a value, and another column that the query reads does. */
static bool is_whole_elsewhere(const struct extraction *ex, const struct schema_column *column, const char *text,
                               size_t len)
{
    struct schema_hit hits[8];
    uint32_t n = schema_values_with(ex->schema, text, len, hits, G_N_ELEMENTS(hits));
    bool elsewhere = false;
    for (uint32_t i = 0; i < n; i++) {
        if (hits[i].column == column->id) return false;
        elsewhere |= ex->reads[ex->schema->columns[hits[i].column]->table];
    }
    return elsewhere;
}

static void set_form(struct extraction *ex, const struct vsig_predicate *predicate, const struct sql_node *literal,
                     float *least)
{
    const char *text;
    size_t len;
    enum question_form stored = QUESTION_FORM_NONE;
    trim(literal, &text, &len);
    if (!len) return;
    enum question_form said = question_says_text(ex->arena, ex->question, text, len, NULL);
    float strength = (float)question_form_strength(said);
    ex->out[BY_FORM[said]]++;
    if (isnan(*least) || strength < *least) *least = strength;
    bool like = predicate->node->kind == SQL_LIKE;
    int has = schema_column_has(ex->schema, predicate->column, text, len, true);
    if (like) {
        ex->out[FEATURE_pattern_is_value] += has == 1;
        ex->out[FEATURE_pattern_elsewhere] += is_whole_elsewhere(ex, predicate->column, text, len);
    } else if (has == 0 &&
               question_stored_form(ex->arena, ex->question, ex->schema, predicate->column, text, len, &stored)) {
        ex->out[FEATURE_forms_stored_otherwise]++;
    }
}

/* Sets whether the literal of a yes/no column agrees with the question: "no" agrees with "not" or "without". */
static void set_flag(struct extraction *ex, const struct sql_node *literal)
{
    struct question_text text, yes, no;
    if (!question_text_of(ex->arena, literal->text, literal->text_len, &text) || text.folded[0] == '\0') return;
    if (!question_text_of(ex->arena, "yes", 3, &yes) || !question_text_of(ex->arena, "no", 2, &no)) return;
    bool is_yes = question_form_between(&text, &yes) == QUESTION_FORM_CODE || strcmp(text.folded, "yes") == 0;
    bool is_no = question_form_between(&text, &no) == QUESTION_FORM_CODE || strcmp(text.folded, "no") == 0;
    if (is_yes == is_no) return;
    bool negated = ex->question->cue_counts[QUESTION_CUE_NOT] > 0 || question_has(ex->question, "without") ||
                   question_has(ex->question, "no");
    ex->out[FEATURE_flags_agree] += negated == is_no;
    ex->out[FEATURE_flags_disagree] += negated != is_no;
}

static bool is_flag_column(const struct schema_column *column)
{
    return column->stats.distinct <= 2 && column->stats.distinct > 0;
}

static void set_forms(struct extraction *ex, const struct vsig_predicate *all, uint32_t n)
{
    float least = NAN;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < all[i].n_literals; l++) {
            const struct sql_node *literal = all[i].literals[l];
            if (!literal->text) continue;
            if (is_flag_column(all[i].column) && all[i].node->kind == SQL_BINARY) set_flag(ex, literal);
            if (is_text(literal)) set_form(ex, &all[i], literal, &least);
        }
    ex->out[FEATURE_form_least] = least;
}

/* --- values of the question that the query lacks --- */

static bool is_met(struct extraction *ex, const struct vsig_predicate *all, uint32_t n,
                   const struct question_value *value)
{
    struct question_text said, has;
    if (!question_text_of(ex->arena, value->text, strlen(value->text), &said)) return true;
    for (uint32_t i = 0; i < ex->n_literals; i++) {
        const char *letters = ex->literals[i].letters;
        if (*letters && question_text_of(ex->arena, letters, strlen(letters), &has) &&
            question_form_between(&said, &has) != QUESTION_FORM_NONE)
            return true;
    }
    for (uint32_t h = 0; h < value->n_hits && h < 3; h++)
        if (vsig_stands_for(ex->subject, all, n, ex->schema->columns[value->hits[h].column], value->hits[h].form))
            return true;
    return false;
}

static void set_unmet(struct extraction *ex, const struct vsig_predicate *all, uint32_t n)
{
    for (uint32_t i = 0; i < ex->question->n_values; i++) {
        const struct question_value *value = &ex->question->values[i];
        if (value->kind == QUESTION_VALUE_NUMBER || value->is_name || ex->value_used[i] || is_met(ex, all, n, value))
            continue;
        bool sure = value->capital || value->kind == QUESTION_VALUE_QUOTED;
        ex->out[sure ? FEATURE_values_unmet : FEATURE_words_unmet]++;
    }
    const struct vsig_contradictions *found = vsig_contradictions(ex->subject);
    for (uint32_t i = 0; found && i < found->n; i++)
        ex->out[found->items[i].sure ? FEATURE_contradictions : FEATURE_contradictions_plain]++;
}

/* --- numbers --- */

static void set_units(struct extraction *ex)
{
    struct vsig_threshold all[VSIG_MAX_THRESHOLDS];
    uint32_t n = vsig_thresholds(ex->subject, all);
    static const enum feature_index by_verdict[] = {[VSIG_UNIT_MET] = FEATURE_units_met,
                                                    [VSIG_UNIT_MISSED] = FEATURE_units_missed,
                                                    [VSIG_UNIT_UNKNOWN] = FEATURE_units_unknown,
                                                    [VSIG_UNIT_SCALED] = FEATURE_units_scaled};
    for (uint32_t i = 0; i < n; i++) {
        float nearest = NAN;
        for (uint32_t v = 0; v < ex->question->n_values; v++) {
            const struct question_value *value = &ex->question->values[v];
            if (value->kind != QUESTION_VALUE_NUMBER) continue;
            enum vsig_unit_verdict verdict = vsig_unit_of(ex->subject, &all[i], value, NULL);
            if (verdict != VSIG_UNIT_NONE) ex->out[by_verdict[verdict]]++;
            float gap = all[i].number != 0 && value->number != 0
                            ? (float)fabs(log10(fabs(all[i].number / value->number)))
                        : all[i].number == value->number ? 0
                                                         : 3;
            if (!(gap >= nearest)) nearest = gap;
        }
        ex->out[FEATURE_numbers_calculated] += all[i].scaled;
        if (!isnan(nearest) && !(nearest <= ex->out[FEATURE_number_gap])) ex->out[FEATURE_number_gap] = nearest;
    }
}

/* --- dates --- */

static bool is_date_column(const struct schema_column *column)
{
    static const char *const NAMES[] = {"date", "year", "time", "day", "month", "birth", "born", "founded", NULL};
    return column->stats.date_texts > 0 || query_name_has(column, NAMES);
}

static bool is_year(double number)
{
    return number >= LEAST_YEAR && number <= LAST_YEAR && floor(number) == number;
}

/* Compares the years of the question with the columns that the query compares with these years. */
static void set_years(struct extraction *ex, const struct vsig_predicate *all, uint32_t n)
{
    for (uint32_t v = 0; v < ex->question->n_values; v++) {
        const struct question_value *value = &ex->question->values[v];
        if (value->kind != QUESTION_VALUE_NUMBER || !is_year(value->number)) continue;
        bool met = false, other = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t l = 0; l < all[i].n_literals; l++) {
                const struct sql_node *literal = all[i].literals[l];
                if (!literal->text || !memmem(literal->text, literal->text_len, value->text, strlen(value->text)))
                    continue;
                met |= is_date_column(all[i].column);
                other |= !is_date_column(all[i].column);
            }
        ex->out[FEATURE_years_met] += met;
        ex->out[FEATURE_years_on_others] += other && !met;
        ex->out[FEATURE_years_unmet] += !other && !met;
    }
}

static int month_said(const struct question *question)
{
    for (uint32_t i = 0; i < question->tokens.n; i++) {
        const struct text_token *token = &question->tokens.items[i];
        if (token->kind != TEXT_WORD || !token->is_capital || i == 0) continue;
        char date[32];
        struct question_date read;
        int len = g_snprintf(date, sizeof date, "1 %.12s 2000", token->norm);
        if (question_read_date(date, (size_t)len, true, &read) && read.month > 0) return read.month;
    }
    return 0;
}

/* True if a literal contains the month, as in strftime('%m', d) = '03', '2014-03-05', LIKE '%-03-%' or month = 3. */
static bool literal_has_month(const struct vsig_predicate *predicate, const struct sql_node *literal, int month)
{
    char middle[16], text[16];
    int len = g_snprintf(middle, sizeof middle, "-%02d", month % (MAX_MONTHS + 1));
    if (memmem(literal->text, literal->text_len, middle, (size_t)len)) return true;
    if (literal->text_len > 2) return false;
    g_snprintf(text, sizeof text, "%.*s", (int)literal->text_len, literal->text);
    if (g_ascii_strtoll(text, NULL, 10) != month) return false;
    const struct sql_node *root = predicate->node;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node))
        if (sql_is(node, SQL_LITERAL) && node->text && node != literal && memchr(node->text, '%', node->text_len))
            return memmem(node->text, node->text_len, "%m", 2) != NULL;
    return true;
}

static void set_months(struct extraction *ex, const struct vsig_predicate *all, uint32_t n)
{
    int month = month_said(ex->question);
    bool met = false;
    if (!month) return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < all[i].n_literals; l++)
            if (all[i].literals[l]->text) met |= literal_has_month(&all[i], all[i].literals[l], month);
    ex->out[met ? FEATURE_month_met : FEATURE_month_unmet] = 1;
}

/* --- keys that contain text, NULL or blanks --- */

static bool holds_text_numbers(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return stats->texts > 0 && stats->date_texts == 0 &&
           (double)(stats->numeric_texts + stats->ints + stats->reals) >=
               0.5 * (double)(stats->texts + stats->ints + stats->reals);
}

static bool has_blank(const struct schema_column *column)
{
    for (uint32_t i = 0; i < column->stats.n_top; i++)
        if (column->stats.top[i].value.type == DB_TEXT && column->stats.top[i].value.len == 0) return true;
    return false;
}

/* True if any condition uses the column, because it may exclude the rows in which the column is empty. */
static bool is_guarded(const struct vsig_predicate *all, uint32_t n, const struct schema_column *column)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i].column == column) return true;
    return false;
}

static void set_key(struct extraction *ex, const struct schema_column *column, bool ascending,
                    const struct vsig_predicate *all, uint32_t n)
{
    bool guarded = is_guarded(all, n, column), blank = has_blank(column);
    ex->out[FEATURE_keys_text_number] += holds_text_numbers(column);
    if (ascending && column->stats.nulls > 0) ex->out[guarded ? FEATURE_keys_null_guarded : FEATURE_keys_null]++;
    if (blank) ex->out[guarded ? FEATURE_keys_blank_guarded : FEATURE_keys_blank]++;
}

static void set_keys(struct extraction *ex, const struct vsig_predicate *all, uint32_t n)
{
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        enum query_aggregate aggregate = query_aggregate_of(node);
        bool extreme = aggregate == QUERY_MAX || aggregate == QUERY_MIN;
        const struct sql_node *key = sql_is(node, SQL_TERM) ? sql_kid(node, 0)
                                     : extreme              ? sql_kid(sql_kid(node, CALL_ARGS), 0)
                                                            : NULL;
        const struct schema_column *column = key ? query_column(ex->subject, key) : NULL;
        bool cast = sql_is(key, SQL_CAST) || (sql_is(key, SQL_BINARY) && key->op == SQL_OP_ADD);
        const struct schema_column *inner = cast ? query_column(ex->subject, sql_kid(key, 0)) : NULL;
        if (column) set_key(ex, column, sql_is(node, SQL_TERM) && node->op != SQL_DESC, all, n);
        if (inner) ex->out[FEATURE_keys_cast] += holds_text_numbers(inner);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum sql_op op = (enum sql_op)all[i].node->op;
        bool ordered =
            sql_is(all[i].node, SQL_BETWEEN) || (sql_is(all[i].node, SQL_BINARY) && op >= SQL_OP_LT && op <= SQL_OP_GE);
        if (!ordered || !holds_text_numbers(all[i].column)) continue;
        ex->out[all[i].bare ? FEATURE_compares_text_number : FEATURE_keys_cast]++;
    }
}

void extract_value_forms(struct extraction *ex)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(ex->subject, all);
    for (unsigned i = FEATURE_forms_none; i <= FEATURE_compares_text_number; i++) ex->out[i] = 0;
    ex->out[FEATURE_number_gap] = NAN;
    set_keys(ex, all, n);
    set_forms(ex, all, n);
    set_unmet(ex, all, n);
    set_units(ex);
    set_years(ex, all, n);
    set_months(ex, all, n);
}
