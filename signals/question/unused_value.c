/* unused_value: the query does not use a value that the question states, or it filters by a value that neither question
 * nor evidence states.
 *
 * The query must contain quoted strings, whole or in part. It must contain a number as such, as its neighbour (> 4 for
 * "at least 5"), in a date, or as LIMIT. It must contain proper names as literals if the database contains them. The
 * evidence may replace values that it explains. Words that also name a table or column are not values.
 *
 * The second check is our addition to the catalogue. It reports a literal in a condition that has no word and no digits
 * in common with the question and the evidence. It skips codes, flags and columns of few values. There the question's
 * word and the stored value differ by design (female, 'F'). */
#include "signals/support/contradiction.h"
#include "signals/support/links.h"
#include "signals/support/query.h"
#include "signals/support/units.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_PLAIN,
    OPT_UNASKED,
    OPT_MIN_DISTINCT,
    MAX_LITERALS = 64,
    MIN_PART = 3,
    MIN_STEM = 4,
    MAX_CODE = 3,
    MAX_HITS = 4,
    MAX_FEW = 12
};

static const float LEAST_WEIGHT = 0.5F;

struct literal {
    const struct sql_node *node;
    const char *text;    /* folded, without wildcards at its ends */
    const char *letters; /* only the letters and digits of `text` */
    double number;
    bool is_number;
};

struct literals {
    struct literal items[MAX_LITERALS];
    uint32_t n;
};

/* Returns the text, folded and without wildcards of LIKE at its ends. */
static char *plain_text(struct arena *arena, const struct sql_node *node)
{
    size_t start = 0, end = node->text_len;
    while (start < end && (node->text[start] == '%' || node->text[start] == '*')) start++;
    while (end > start && (node->text[end - 1] == '%' || node->text[end - 1] == '*')) end--;
    return text_fold(arena, node->text + start, end - start);
}

static bool collect(const struct vsig_subject *subject, struct literals *out)
{
    out->n = 0;
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        if (query_literal(n, NULL) != n || !n->text || out->n == MAX_LITERALS) continue;
        struct literal *literal = &out->items[out->n++];
        *literal = (struct literal){.node = n};
        literal->is_number = query_literal_number(n, &literal->number);
        if (!(literal->text = plain_text(subject->arena, n))) return false;
        if (!(literal->letters = text_letters(subject->arena, literal->text, strlen(literal->text)))) return false;
    }
    return true;
}

/* True if the texts are equal, one contains the other, or they share a stem (Canada, Canadian). The caller passes only
 * letters and digits, so "a, b" equals "a , b". */
static bool texts_meet(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), shared = 0;
    if (strcmp(a, b) == 0) return true;
    if (a_len >= MIN_PART && strstr(b, a)) return true;
    if (b_len >= MIN_PART && strstr(a, b)) return true;
    while (a[shared] && a[shared] == b[shared]) shared++;
    return shared >= MIN_STEM && shared + 3 >= a_len && shared + 3 >= b_len;
}

/* True if a literal of the query expresses the value: as the same text, in another form, or as its code in another
 * column of the row. */
static bool has_text(struct vsig_run *run, const struct literals *literals, const struct question_value *value,
                     const char *letters)
{
    struct vsig_subject *subject = run->subject;
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    struct question_text said, has;
    for (uint32_t i = 0; i < literals->n; i++)
        if (texts_meet(literals->items[i].letters, letters)) return true;
    if (!literals->n || !question_text_of(subject->arena, value->text, strlen(value->text), &said)) return false;
    for (uint32_t i = 0; i < literals->n; i++) {
        const char *text = literals->items[i].text;
        if (question_text_of(subject->arena, text, strlen(text), &has) &&
            question_form_between(&said, &has) > QUESTION_FORM_SPELLING)
            return true;
    }
    uint32_t n = value->n_hits ? vsig_predicates(subject, all) : 0;
    for (uint32_t i = 0; i < value->n_hits && i < MAX_HITS && n; i++)
        if (vsig_stands_for(subject, all, n, subject->schema->columns[value->hits[i].column], value->hits[i].form))
            return true;
    return false;
}

/* True if the text contains the digits as a separate number. */
static bool has_digits(const char *text, const char *digits)
{
    size_t len = strlen(digits);
    for (const char *p = text; len && (p = strstr(p, digits)); p++)
        if (!(p > text && g_ascii_isdigit(p[-1])) && !g_ascii_isdigit(p[len])) return true;
    return false;
}

static bool has_number(const struct literals *literals, const struct question_value *value)
{
    for (uint32_t i = 0; i < literals->n; i++) {
        const struct literal *literal = &literals->items[i];
        if (literal->is_number && (fabs(fabs(literal->number) - fabs(value->number)) < 1e-9 ||
                                   fabs(fabs(literal->number) - fabs(value->scaled)) < 1e-9))
            return true;
        if (has_digits(literal->text, value->text)) return true;
    }
    return false;
}

/* Converts a time in seconds or milliseconds since 1970 to its date. Accepts the years 2001 to 2100. */
static bool epoch_date(const char *text, GDate *out)
{
    enum { SECONDS = 10, MILLISECONDS = 13 };
    size_t len = strlen(text);
    if ((len != SECONDS && len != MILLISECONDS) || strspn(text, "0123456789") != len) return false;
    gint64 seconds = g_ascii_strtoll(text, NULL, 10) / (len == MILLISECONDS ? 1000 : 1);
    GDateTime *time = seconds < G_GINT64_CONSTANT(4102444800) ? g_date_time_new_from_unix_utc(seconds) : NULL;
    if (!time) return false;
    g_date_clear(out, 1);
    g_date_set_dmy(out, (GDateDay)g_date_time_get_day_of_month(time), (GDateMonth)g_date_time_get_month(time),
                   (GDateYear)g_date_time_get_year(time));
    g_date_time_unref(time);
    return true;
}

/* Returns the first and the last day of a literal: '2020-12-31', '20201231', a time since 1970, or the month '2020-12'.
 * Returns false if it is not a date. */
static bool days_of(const char *text, GDate *first, GDate *last)
{
    enum { DIGITS = 8 };
    if (epoch_date(text, first)) {
        *last = *first;
        return true;
    }
    struct question_date date = {0};
    size_t len = strlen(text);
    if (len == DIGITS && strspn(text, "0123456789") == DIGITS) {
        int number = atoi(text);
        date = (struct question_date){.year = number / 10000, .month = number / 100 % 100, .day = number % 100};
    } else if (!question_read_date(text, len, true, &date)) {
        return false;
    }
    if (date.month < 1 || date.year < 1) return false;
    bool whole_month = date.day < 0;
    GDateDay day = (GDateDay)(whole_month ? 1 : date.day);
    GDateMonth month = (GDateMonth)date.month;
    GDateYear year = (GDateYear)date.year;
    if (!g_date_valid_dmy(day, month, year)) return false;
    g_date_clear(first, 1);
    g_date_set_dmy(first, day, month, year);
    *last = *first;
    if (whole_month) g_date_set_day(last, g_date_get_days_in_month(month, year));
    return true;
}

/* Returns the day before a literal's first day, its first day, and the day after its last day. Returns false if the
 * literal is not a date. */
static bool days_around(const char *text, GDate *before, GDate *first, GDate *after)
{
    if (!days_of(text, first, after)) return false;
    *before = *first;
    g_date_subtract_days(before, 1);
    g_date_add_days(after, 1);
    return true;
}

/* True if a date of the query, or the day before or after it, contains the number as year, month or day. "Until 13 May"
 * may be < '2024-05-14'. */
static bool is_part_of_date_near(const struct literals *literals, double number)
{
    for (uint32_t i = 0; i < literals->n; i++) {
        GDate days[3];
        if (!days_around(literals->items[i].text, &days[0], &days[1], &days[2])) continue;
        /* for a month such as '2024-05', the literal contains no day */
        bool month = g_date_days_between(&days[0], &days[2]) > 2;
        for (size_t d = 0; d < G_N_ELEMENTS(days); d++) {
            int parts[] = {g_date_get_year(&days[d]), g_date_get_month(&days[d]), g_date_get_day(&days[d])};
            for (size_t k = 0; k < (month ? 2 : G_N_ELEMENTS(parts)); k++)
                if (fabs(number - parts[k]) < 1e-9) return true;
        }
    }
    return false;
}

/* True if the query compares with the next number: > 4 for "at least 5", >= 6 for "more than 5", and so on. */
static bool has_next_number(const struct vsig_subject *subject, const struct question_value *value,
                            const struct question_cue *cue)
{
    static const struct {
        uint8_t asked, written;
        int step;
    } SAME[] = {
        {SQL_OP_GT, SQL_OP_GE, 1}, {SQL_OP_GE, SQL_OP_GT, -1}, {SQL_OP_LT, SQL_OP_LE, -1}, {SQL_OP_LE, SQL_OP_LT, 1}};
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    for (size_t i = 0; cue && i < G_N_ELEMENTS(SAME); i++) {
        if (cue->kind == QUESTION_CUE_COMPARE && SAME[i].asked != cue->op) continue;
        uint32_t n = query_compared_with(subject, value->number + SAME[i].step, found);
        for (uint32_t f = 0; f < n; f++)
            if (found[f].op == SAME[i].written || found[f].excluded) return true;
    }
    return false;
}

/* True if the query compares with the next number by < or >: > 50 for "51 to 400", > 1 for "2+". For whole numbers the
 * bound is the same. */
static bool has_strict_neighbour(const struct vsig_subject *subject, double number)
{
    static const struct {
        int step;
        uint8_t written;
    } SAME[] = {{-1, SQL_OP_GT}, {1, SQL_OP_LT}};
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    for (size_t i = 0; i < G_N_ELEMENTS(SAME); i++) {
        uint32_t n = query_compared_with(subject, number + SAME[i].step, found);
        for (uint32_t f = 0; f < n; f++)
            if (found[f].op == SAME[i].written) return true;
    }
    return false;
}

/* True if the number is part of a list of consecutive numbers: "numbered 1, 2, 3 ...". */
static bool is_counted_off(const struct question *question, uint32_t i)
{
    const struct question_value *value = &question->values[i];
    for (int side = -1; side <= 1; side += 2) {
        if ((side < 0 && i == 0) || (side > 0 && i + 1 >= question->n_values)) continue;
        const struct question_value *next = side < 0 ? &question->values[i - 1] : value,
                                    *other = side < 0 ? value : &question->values[i + 1];
        uint32_t comma = next->first + next->n_tokens;
        if (other->first == comma + 1 && strcmp(question->tokens.items[comma].norm, ",") == 0 &&
            fabs(other->number - next->number - 1) < 1e-9)
            return true;
    }
    return false;
}

/* True if the number follows "or" and the number below it, which is a lower bound of the query: >= 4 for "severity 4 or
 * 5". */
static bool is_next_of_bound(const struct vsig_subject *subject, uint32_t i)
{
    const struct question *question = subject->analysis;
    const struct question_value *value = &question->values[i], *before = i ? value - 1 : NULL;
    if (!before || fabs(value->number - before->number - 1) > 1e-9) return false;
    uint32_t between = before->first + before->n_tokens;
    if (value->first != between + 1 || strcmp(question->tokens.items[between].norm, "or") != 0) return false;
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    uint32_t n = query_compared_with(subject, before->number, found);
    for (uint32_t f = 0; f < n; f++)
        if (found[f].op == SQL_OP_GE) return true;
    return false;
}

/* True if the literal is the number times a factor of the evidence, or the number and a half in another unit of time.
 * For "2 MB" it may be 2048 if the evidence says that 1 MB is 1,024 kB. For "2 and a half hours" it may be 150. */
static bool is_multiple(const struct question *question, const struct literal *literal, double number)
{
    static const double FACTORS[] = {60, 24, 7, 12, 3600};
    double found = fabs(literal->number), half = question_has(question, "half") ? 0.5 : 0;
    if (!literal->is_number || found <= fabs(number) || number <= 0) return false;
    for (uint32_t e = 0; e < question->evidence.n; e++) {
        const struct text_token *token = &question->evidence.items[e];
        if (token->is_number && token->number > 1 && fabs(token->number * number - found) < 1e-9) return true;
    }
    for (size_t f = 0; half > 0 && f < G_N_ELEMENTS(FACTORS); f++)
        if (fabs((number + half) * FACTORS[f] - found) < 1e-9) return true;
    return false;
}

static bool has_multiple(const struct question *question, const struct literals *literals, double number)
{
    for (uint32_t i = 0; i < literals->n; i++)
        if (is_multiple(question, &literals->items[i], number)) return true;
    return false;
}

static bool is_multiple_of_said(const struct question *question, const struct literal *literal)
{
    for (uint32_t i = 0; i < question->n_values; i++)
        if (question->values[i].kind == QUESTION_VALUE_NUMBER &&
            is_multiple(question, literal, question->values[i].number))
            return true;
    return false;
}

/* True if the block reads the other one, through any number of subqueries. *visits limits the number of inspected
 * blocks, since a CTE may be read many times. */
static bool reads_block(const struct sql_block *block, const struct sql_block *other, unsigned *visits)
{
    for (uint32_t i = 0; *visits && i < block->n_sources; i++) {
        const struct sql_block *of = block->sources[i].of;
        if (!of) continue;
        --*visits;
        if (of == other || reads_block(of, other, visits)) return true;
    }
    return false;
}

/* True if a window may read the year of the number as the period before the next year. For "against December 2023", the
 * query may select 2024 and read the period before with LAG. The condition on 2024 must be outside of the window's
 * query. Inside, it would remove December 2023 first. */
static bool is_year_before(const struct vsig_run *run, const struct query_view *view, const struct literals *literals,
                           double number)
{
    enum { FIRST_YEAR = 1900, LAST_YEAR = 2100, MAX_VISITS = 1000 };
    unsigned visits = MAX_VISITS;
    char next[32];
    const struct sql_bound *bound = run->subject->bound;
    const struct sql_block *window = view->window ? sql_block_of(bound, view->window) : NULL;
    if (!window || number < FIRST_YEAR || number > LAST_YEAR) return false;
    snprintf(next, sizeof next, "%.0f", number + 1);
    for (uint32_t i = 0; i < literals->n; i++) {
        const struct sql_block *block = sql_block_of(bound, literals->items[i].node);
        if (has_digits(literals->items[i].text, next) && block && reads_block(block, window, &visits)) return true;
    }
    return false;
}

static bool in_evidence(const struct question *question, const struct question_value *value)
{
    for (uint32_t i = 0; i < question->evidence.n; i++) {
        const struct text_token *t = &question->evidence.items[i];
        if (value->kind == QUESTION_VALUE_NUMBER && t->is_number && fabs(t->number - value->number) < 1e-9) return true;
        for (uint32_t v = value->first; v < value->first + value->n_tokens; v++)
            if (!question->tokens.items[v].is_stop && strcmp(question->tokens.items[v].stem, t->stem) == 0) return true;
    }
    return false;
}

/* Returns the cue that uses the number, or NULL. */
static const struct question_cue *cue_of(const struct question *question, int value)
{
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (question->cues[i].number == value || question->cues[i].number2 == value) return &question->cues[i];
    return NULL;
}

/* True if the number is a word of a column's name: "address line 1". */
static bool is_in_name(const struct vsig_subject *subject, const struct question_value *value)
{
    for (uint32_t i = 0; i < subject->analysis->n_mentions; i++) {
        const struct question_mention *m = &subject->analysis->mentions[i];
        if (m->column < 0 || value->first < m->first || value->first >= m->first + m->n_tokens) continue;
        const struct text_tokens *words = &subject->schema->columns[m->id]->words;
        for (uint32_t w = 0; w < words->n; w++)
            if (words->items[w].is_number && fabs(words->items[w].number - value->number) < 1e-9) return true;
    }
    return false;
}

/* True if the question explains the number: "(1 = Monday .. 7 = Sunday)". */
static bool is_legend(const struct question *question, const struct question_value *value)
{
    uint32_t next = value->first + value->n_tokens;
    return next < question->tokens.n && strcmp(question->tokens.items[next].norm, "=") == 0;
}

/* Returns the number of a literal, or the year at its start: 1954 for '1954-01-01' and for LIKE '1954-%'. Returns 0 if
 * there is none. */
static double number_of(const struct literal *literal)
{
    enum { YEAR_DIGITS = 4 };
    if (literal->is_number) return literal->number;
    return strspn(literal->text, "0123456789") == YEAR_DIGITS ? strtod(literal->text, NULL) : 0;
}

/* True if the literal is the sum or difference of `number` and a number of the question: 1954 for "turning 70 in
 * 2024". */
static bool is_computed(const struct question *question, double literal, double number)
{
    for (uint32_t i = 0; i < question->n_values; i++) {
        const struct question_value *value = &question->values[i];
        if (value->kind != QUESTION_VALUE_NUMBER) continue;
        double sums[] = {value->number + number, value->number - number, number - value->number};
        for (size_t k = 0; k < G_N_ELEMENTS(sums); k++)
            if (fabs(sums[k] - literal) < 1e-9) return true;
    }
    return false;
}

static bool is_computed_into(const struct question *question, const struct literals *literals, double number)
{
    for (uint32_t i = 0; i < literals->n; i++) {
        double literal = number_of(&literals->items[i]);
        if (fabs(literal) > 2 && is_computed(question, literal, number)) return true;
    }
    return false;
}

static bool number_counts(const struct vsig_subject *subject, const struct question_value *value,
                          const struct question_cue *cue)
{
    if (value->number >= 0 && value->number <= 1 && !(cue && cue->kind == QUESTION_CUE_COMPARE && cue->op == SQL_OP_GT))
        return false;
    if (value->spelled && !cue) return false;
    if (cue && cue->weak) return false;
    if (question_cue_any(subject->analysis, 1U << QUESTION_CUE_RATIO)) return false;
    return !is_in_name(subject, value);
}

static void report(struct vsig_run *run, const struct query_view *view, const struct question_value *value)
{
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, view->select, "a %s of the question does not occur in the query",
                  value->kind == QUESTION_VALUE_NUMBER ? "number" : "value");
    vsig_add_fact(run, finding, "value", false, "%s", value->text);
    for (uint32_t i = 0; i < value->n_hits && i < 3; i++) {
        const struct schema_column *column = run->subject->schema->columns[value->hits[i].column];
        vsig_add_fact(run, finding, "held by", true, "%s.%s", run->subject->schema->tables[column->table].name,
                      column->name);
    }
}

/* True if a comparison has the number, converted to the unit of its column: 600000 for "ten minutes" in milliseconds.
 * Considers only the comparison `node` if it is not NULL. */
static bool is_met_in_unit(const struct vsig_subject *subject, const struct question_value *value,
                           const struct sql_node *node)
{
    struct vsig_threshold all[VSIG_MAX_THRESHOLDS];
    uint32_t n = vsig_thresholds(subject, all);
    for (uint32_t i = 0; i < n; i++)
        if ((!node || all[i].node == node) && vsig_unit_of(subject, &all[i], value, NULL) == VSIG_UNIT_MET) return true;
    return false;
}

static void check_number(struct vsig_run *run, const struct query_view *view, const struct literals *literals,
                         uint32_t i)
{
    const struct question *question = run->subject->analysis;
    const struct question_value *value = &question->values[i];
    const struct question_cue *cue = cue_of(question, (int)i);
    if (!number_counts(run->subject, value, cue) || has_number(literals, value)) return;
    if (is_part_of_date_near(literals, value->number) || is_legend(question, value)) return;
    if (is_computed_into(question, literals, value->number)) return;
    if (has_next_number(run->subject, value, cue) || is_met_in_unit(run->subject, value, NULL)) return;
    if (has_strict_neighbour(run->subject, value->number) || is_counted_off(question, i)) return;
    if (is_next_of_bound(run->subject, i) || has_multiple(question, literals, value->number)) return;
    if (is_year_before(run, view, literals, value->number)) return;
    if (value->number <= 2 && (view->compound[QUERY_INTERSECT] || view->negation)) return;
    report(run, view, value);
}

/* True if the quoted words name a table or column. The query then needs no literal with them. */
static bool names_schema(const struct vsig_subject *subject, const struct question_value *value)
{
    const char *text = value->text;
    size_t len = strlen(text);
    if (value->n_hits) return false;
    if (schema_find_table(subject->schema, text, len) >= 0) return true;
    for (uint32_t t = 0; t < subject->schema->n_tables; t++)
        if (schema_find_column(subject->schema, (int)t, text, len) >= 0) return true;
    return strchr(text, ' ') != NULL && !g_ascii_isupper(text[0]); /* as in "the date in location from" */
}

/* True if the query must contain the value as a literal: a quoted text, or a capitalized word that the database
 * contains. A lower-case word counts only with the option plain_words. */
static bool text_counts(const struct vsig_run *run, const struct question_value *value)
{
    if (value->is_name || strlen(value->text) < 2) return false;
    if (value->kind == QUESTION_VALUE_QUOTED) return !names_schema(run->subject, value);
    if (value->kind == QUESTION_VALUE_NAME) return false;
    if (!value->capital) return vsig_opt(run, OPT_PLAIN) > 0.5;
    for (uint32_t i = 0; i < value->n_hits; i++)
        if (run->subject->schema->columns[value->hits[i].column]->affinity == SCHEMA_TEXT ||
            !g_ascii_isdigit(value->text[0]))
            return true;
    return false;
}

static bool check_text(struct vsig_run *run, const struct query_view *view, const struct literals *literals, uint32_t i)
{
    const struct question_value *value = &run->subject->analysis->values[i];
    if (!text_counts(run, value)) return true;
    const char *folded = text_fold(run->subject->arena, value->text, strlen(value->text));
    const char *letters = folded ? text_letters(run->subject->arena, folded, strlen(folded)) : NULL;
    if (!letters) return false;
    if (*letters && !has_text(run, literals, value, letters)) report(run, view, value);
    return true;
}

/* Returns the condition in which the literal restricts the rows, and sets *column to the restricted column. Returns
 * NULL if it is in no such condition. */
static const struct sql_node *condition_of(const struct vsig_subject *subject, const struct sql_node *literal,
                                           const struct schema_column **column)
{
    enum sql_clause clause = sql_clause_of(literal);
    if (clause != SQL_CLAUSE_WHERE && clause != SQL_CLAUSE_HAVING && clause != SQL_CLAUSE_FROM) return NULL;
    const struct sql_node *node = literal->parent;
    if (sql_is(node, SQL_LIST)) node = node->parent;
    bool compares = (sql_is(node, SQL_BINARY) && sql_is_comparison(node->op)) || sql_is(node, SQL_IN) ||
                    sql_is(node, SQL_LIKE) || sql_is(node, SQL_BETWEEN);
    if (!compares) return NULL;
    *column = query_column(subject, sql_kid(node, sql_kid(node, 0) == literal ? 1 : 0));
    return node;
}

/* True if the word is the ordinal of the number: "third", "3rd" or "fourth-grade". */
static bool is_ordinal(const struct text_token *token, double number)
{
    unsigned ordinal = token->kind == TEXT_WORD ? text_ordinal(token->norm) : 0;
    return ordinal && fabs(ordinal - number) < 1e-9;
}

static bool tokens_meet(const struct text_tokens *tokens, const struct literal *literal)
{
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct text_token *t = &tokens->items[i];
        if (t->kind == TEXT_PUNCT) continue;
        if (literal->is_number && t->is_number && fabs(fabs(t->number) - fabs(literal->number)) <= 1) return true;
        if (literal->is_number && is_ordinal(t, literal->number)) return true;
        if (literal->is_number && has_digits(t->norm, literal->text)) return true; /* such as 18:00 */
        if (strlen(t->norm) >= MIN_PART && strcmp(literal->letters, t->norm) == 0)
            return true; /* also a stop word, such as "done" */
        if (!t->is_stop && strlen(t->stem) >= MIN_PART && strstr(literal->letters, t->stem)) return true;
        if (t->kind == TEXT_NUMBER && has_digits(literal->text, t->norm)) return true;
        if (t->kind == TEXT_QUOTED && strstr(t->norm, literal->text)) return true;
    }
    return false;
}

/* True if the words have a similar meaning or the same stem, or if one abbreviates the other ("Comp." and
 * "computer"). */
static bool words_meet(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), least = a_len < b_len ? a_len : b_len;
    return (least >= MIN_PART && strncmp(a, b, least) == 0) || texts_meet(a, b) || text_word_similarity(a, b) > 0.5;
}

/* True if the literal is a number of the question with its scale: 2000000 for "2 million". */
static bool is_scaled_value(const struct question *question, const struct literal *literal)
{
    for (uint32_t i = 0; i < question->n_values && literal->is_number; i++)
        if (question->values[i].kind == QUESTION_VALUE_NUMBER &&
            fabs(question->values[i].scaled - fabs(literal->number)) < 1e-9)
            return true;
    return false;
}

/* True if each part of the literal is the beginning of a word in the question: AssocProf for "associate professors". */
static bool is_run_together(struct vsig_run *run, const struct literal *literal)
{
    const struct text_tokens *said = &run->subject->analysis->tokens;
    struct text_tokens parts = text_split_identifier(run->subject->arena, literal->node->text, literal->node->text_len);
    if (!parts.items || parts.n < 2 || memchr(literal->node->text, ' ', literal->node->text_len)) return false;
    for (uint32_t p = 0; p < parts.n; p++) {
        const char *part = parts.items[p].norm;
        bool met = false;
        for (uint32_t i = 0; i < said->n && !met; i++)
            met = strlen(part) >= MIN_PART && g_str_has_prefix(said->items[i].norm, part);
        if (!met) return false;
    }
    return true;
}

/* True if the text contains the year, a date in it ("2024-01-01", "2024-Q1"), or its decade ("the 1980s"). */
static bool says_year(const struct text_tokens *tokens, GDateYear year)
{
    char digits[16], decade[16];
    snprintf(digits, sizeof digits, "%u", (unsigned)year);
    snprintf(decade, sizeof decade, "%us", (unsigned)(year / 10 * 10));
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct text_token *token = &tokens->items[i];
        if (token->is_number && fabs(token->number - year) < 0.5) return true;
        if (has_digits(token->norm, digits) || strcmp(token->norm, decade) == 0) return true;
    }
    return false;
}

/* True if the question or the evidence has the year of a date literal, or of the day before or after it. For example, <
 * '2025-01-01' and < '2025-01' fit 2024, and >= '2024-01-01' fits "after 2023". */
static bool is_next_to_said_year(const struct question *question, const struct literal *literal)
{
    GDate days[3];
    if (!days_around(literal->text, &days[0], &days[1], &days[2])) return false;
    for (size_t i = 0; i < G_N_ELEMENTS(days); i++)
        if (says_year(&question->tokens, g_date_get_year(&days[i])) ||
            says_year(&question->evidence, g_date_get_year(&days[i])))
            return true;
    return false;
}

/* True if the question or the evidence contains any part of the literal, or a word that is similar to it. */
static bool is_said(struct vsig_run *run, const struct literal *literal)
{
    const struct question *question = run->subject->analysis;
    struct text_tokens words = text_tokenize(run->subject->arena, literal->text, strlen(literal->text));
    if (question_says_text(run->subject->arena, question, literal->text, strlen(literal->text), NULL)) return true;
    if (is_next_to_said_year(question, literal)) return true;
    if (!words.items || is_scaled_value(question, literal) || is_run_together(run, literal) ||
        tokens_meet(&question->tokens, literal) || tokens_meet(&question->evidence, literal))
        return true;
    for (uint32_t w = 0; w < words.n; w++) {
        if (words.items[w].kind != TEXT_WORD || words.items[w].is_stop) continue;
        for (uint32_t i = 0; i < question->tokens.n; i++)
            if (question->tokens.items[i].kind == TEXT_WORD &&
                words_meet(words.items[w].norm, question->tokens.items[i].norm))
                return true;
    }
    return false;
}

/* True if the literal is a power of ten, and the question counts in thousands, millions or the like. The column may
 * then use another scale. */
static bool is_scale(const struct question *question, const struct literal *literal)
{
    static const char *const SCALES[] = {"thousand", "million", "billion", "trillion", "dozen", "kilo"};
    double power = literal->is_number && literal->number > 0 ? log10(literal->number) : 0.5;
    if (fabs(power - round(power)) > 1e-9) return false;
    for (size_t i = 0; i < G_N_ELEMENTS(SCALES); i++)
        if (question_has(question, SCALES[i])) return true;
    return false;
}

/* True for <> with a placeholder for a missing date, such as '0000-00-00'. No question mentions it. */
static bool keeps_nothing_out(const struct sql_node *condition, const struct literal *literal)
{
    return sql_is(condition, SQL_BINARY) && condition->op == SQL_OP_NE && !literal->is_number &&
           strspn(literal->text, " 0-:/.") == strlen(literal->text);
}

/* True if a word of the question is linked to no part of the query, and the column has few values. The word may mean
 * one of them: status = 'done' for "finished visits". */
static bool may_be_meant(struct vsig_run *run, const struct schema_column *column)
{
    const struct link_query *links = vsig_links(run->subject);
    if (!column || !links || column->affinity != SCHEMA_TEXT || column->stats.distinct > MAX_FEW) return false;
    for (uint32_t i = 0; i < links->question->n_words; i++) {
        const struct link_word *word = &links->question->words[i];
        if (links->places[i].part < 0 && word->weight >= LEAST_WEIGHT && word->value < 0 && word->modifies) return true;
    }
    return false;
}

/* True if the question names a unit that has this number of smaller units: nights >= 7 for "a week or longer". */
static bool is_unit_said(const struct question *question, double number)
{
    static const struct {
        double number;
        const char *word;
    } UNITS[] = {{7, "week"},   {14, "fortnight"}, {24, "day"},   {60, "hour"},  {60, "minut"},   {12, "year"},
                 {12, "dozen"}, {30, "month"},     {31, "month"}, {365, "year"}, {90, "quarter"}, {3600, "hour"}};
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (fabs(number - UNITS[i].number) < 1e-9 && question_has(question, UNITS[i].word)) return true;
    return false;
}

static bool is_sum_of_said(const struct question *question, const struct literal *literal)
{
    double number = number_of(literal);
    for (uint32_t i = 0; i < question->n_values && number > 2; i++)
        for (int step = 0; step < 2; step++) /* with step 1, the literal is the first day of the next year */
            if (question->values[i].kind == QUESTION_VALUE_NUMBER &&
                is_computed(question, number - step, question->values[i].number))
                return true;
    return is_unit_said(question, number);
}

/* True if the condition tests part of a date, such as its weekday or hour: strftime('%w', d) IN ('0', '6') for a
 * weekend. */
static bool is_part_of_date(const struct sql_node *condition)
{
    static const char *const CALLS[] = {"strftime", "dayofweek",   "weekday", "hour",  "to_char", "date_part",
                                        "dayname",  "date_format", "extract", "month", "quarter"};
    for (const struct sql_node *n = condition; n; n = sql_walk(condition, n)) {
        if (n->kind == SQL_EXTRACT) return true;
        for (size_t i = 0; n->kind == SQL_CALL && i < G_N_ELEMENTS(CALLS); i++)
            if (sql_name_is(n->text, n->text_len, CALLS[i], strlen(CALLS[i]))) return true;
    }
    return false;
}

/* True for a bound on a column that the question does not mention, such as stars > 2. Such a bound is reported even if
 * the number is small. Bounds of 0 and 1 are usually guards and do not count. */
static bool is_unspoken_bound(const struct vsig_subject *subject, const struct sql_node *condition,
                              const struct literal *literal, const struct schema_column *column)
{
    const struct question *question = subject->analysis;
    bool bound = sql_is(condition, SQL_BETWEEN) ||
                 (sql_is(condition, SQL_BINARY) && condition->op != SQL_OP_EQ && condition->op != SQL_OP_NE);
    if (!bound || !column || !literal->is_number || fabs(literal->number) <= 1 || column->stats.distinct <= 2)
        return false;
    return question->column_score[column->id] <= 0 && question->weak_score[column->id] <= 0 && !question->evidence.n &&
           !query_is_generic(subject, column);
}

/* True for equality with a number in a column of codes: code = 20 for "card payment". The question has the word, not
 * the number. */
static bool is_code(const struct sql_node *condition, const struct literal *literal, const struct schema_column *column)
{
    static const char *const NAMES[] = {"code", "type", "kind", "status", "state", "categori", "level", "cd", NULL};
    return column && literal->is_number && sql_is(condition, SQL_BINARY) && condition->op == SQL_OP_EQ &&
           column->stats.distinct <= MAX_FEW && query_name_has(column, NAMES);
}

/* True for a list of nearly all values of a column, if the question excludes something: status IN (all but 'void'). */
static bool lists_the_others(const struct vsig_subject *subject, const struct sql_node *condition,
                             const struct schema_column *column)
{
    enum { MAX_LEFT = 2 };
    const struct sql_node *list = sql_is(condition, SQL_IN) ? sql_kid(condition, 1) : NULL;
    bool most = list && column && !column->stats.sampled && column->stats.distinct <= MAX_FEW && list->n_kids >= 2 &&
                list->n_kids + MAX_LEFT >= column->stats.distinct;
    return most && question_cue_any(subject->analysis, 1U << QUESTION_CUE_NOT);
}

static void check_unasked(struct vsig_run *run, const struct literal *literal)
{
    const struct schema_column *column = NULL;
    const struct sql_node *condition = condition_of(run->subject, literal->node, &column);
    bool unspoken = condition && is_unspoken_bound(run->subject, condition, literal, column);
    if (condition && (is_part_of_date(condition) || is_sum_of_said(run->subject->analysis, literal))) return;
    if (is_multiple_of_said(run->subject->analysis, literal)) return;
    bool small = literal->is_number ? fabs(literal->number) <= 2 : strlen(literal->letters) <= MAX_CODE;
    if (!condition || (small && !unspoken)) return;
    if (!unspoken && column && (double)column->stats.distinct < vsig_opt(run, OPT_MIN_DISTINCT)) return;
    if (g_ascii_strcasecmp(literal->text, "null") == 0) return; /* other signals report = 'null' */
    if (keeps_nothing_out(condition, literal)) return;
    if (may_be_meant(run, column) || is_code(condition, literal, column)) return;
    if (lists_the_others(run->subject, condition, column)) return;
    if (is_said(run, literal) || is_scale(run->subject->analysis, literal)) return;
    for (uint32_t i = 0; i < run->subject->analysis->n_values && literal->is_number; i++)
        if (is_met_in_unit(run->subject, &run->subject->analysis->values[i], condition)) return;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, condition, "the query filters by a value that the question does not state");
    vsig_add_fact(run, finding, "value", false, "%s", literal->text);
}

static enum err_code unused_value_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    struct query_view view;
    struct literals literals;
    query_look(run->subject, &view);
    if (!view.select) return ERR_OK;
    if (!collect(run->subject, &literals)) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < question->n_values; i++) {
        if (in_evidence(question, &question->values[i])) continue;
        if (question->values[i].kind == QUESTION_VALUE_NUMBER)
            check_number(run, &view, &literals, i);
        else if (!check_text(run, &view, &literals, i))
            return ERR_LIMIT_MEMORY;
    }
    for (uint32_t i = 0; vsig_opt(run, OPT_UNASKED) > 0.5 && i < literals.n; i++)
        check_unasked(run, &literals.items[i]);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_PLAIN] = {"plain_words", 0, 0, 1, "also check lower-case words that some column contains as a value"},
    [OPT_UNASKED] = {"unasked", 1, 0, 1,
                     "also report conditions on values that neither the question nor the evidence states"},
    [OPT_MIN_DISTINCT] =
        {"min_distinct", 4, 0, 1e6,
         "values of columns with fewer distinct values are treated as codes, and the question need not state codes"},
    {NULL},
};

const struct vsig_def vsig_unused_value = {
    .id = VSIG_ID_unused_value,
    .name = "unused_value",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the query lacks a value that the question states, or a condition uses a value that is not stated",
    .description = "The question states a value (in quotes, as a number, or as a name in the database), but no literal "
                   "of the query matches it. A condition is missing, or the value is misspelled. Or the query filters "
                   "by a value that neither the question nor the evidence states.",
    .example = "How many rooms are on floor 3? - SELECT COUNT(*) FROM room",
    .instruction = "Use every value that the question states, in a condition on the column that contains it.",
    .options = OPTIONS,
    .eval = unused_value_eval,
};
