/* window_rows: the result shows that a window reads other rows than intended.
 *
 * A running total with the default frame gives rows that tie in its order the same total, so it jumps. LAG and LEAD
 * read the previous or next row. This row is not the previous or next period if a period is missing. It belongs to
 * another thing if the window is ordered by the thing first but not partitioned by it. The result of the candidate
 * shows these faults. */
#include "lib/question/frame.h"
#include "lib/question/question.h"
#include "signals/support/meaning.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 600 };

/* Kinds of frame elements that refer to another row. */
static const unsigned STEPS = 1U << FRAME_PREVIOUS | 1U << FRAME_NEXT | 1U << FRAME_CHANGE | 1U << FRAME_DIFFERENCE;

struct window_rows {
    struct vsig_run *run;
    const struct meaning *meaning;
    const struct db_result *result;
};

static const struct db_value *cell(const struct window_rows *w, uint32_t row, uint32_t column)
{
    return &w->result->values[(size_t)row * w->result->n_columns + column];
}

/* Returns the number of the output that is this term, or -1 if there is none. */
static int output_of(const struct window_rows *w, const struct meaning_term *term)
{
    uint64_t hash = meaning_follow(term, NULL)->hash;
    for (uint32_t i = 0; i < w->meaning->n_outputs; i++)
        if (meaning_follow(w->meaning->outputs[i].term, NULL)->hash == hash) return (int)i;
    return -1;
}

/* --- running totals with ties --- */

/* True if the term sums an amount that is always positive, or counts rows. A running total then grows with each row. */
static bool always_grows(const struct window_rows *w, const struct meaning_term *term)
{
    const struct meaning_term *measure = term->n_parts ? meaning_follow(term->parts[0], NULL) : NULL;
    if (!measure || measure->kind != MEANING_MEASURE) return false;
    if (strcmp(measure->name, "count") == 0) return !measure->n_parts;
    const struct schema_column *column =
        measure->n_parts ? align_term_column(w->run->subject->schema, meaning_follow(measure->parts[0], NULL)) : NULL;
    if (strcmp(measure->name, "sum") != 0 || !column || column->stats.sampled || column->stats.nulls) return false;
    const struct db_value *min = &column->stats.min;
    return !column->stats.texts && ((min->type == DB_INT && min->i > 0) || (min->type == DB_FLOAT && min->f > 0));
}

static bool same_cells(const struct window_rows *w, uint32_t a, uint32_t b, const int *columns, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (db_value_compare(cell(w, a, (uint32_t)columns[i]), cell(w, b, (uint32_t)columns[i])) != 0) return false;
    return true;
}

static bool shows_single_rows(const struct window_rows *w)
{
    for (uint32_t i = 0; i < w->meaning->n_outputs; i++) {
        const struct schema_column *column =
            align_term_column(w->run->subject->schema, meaning_follow(w->meaning->outputs[i].term, NULL));
        if (column && column->unique) return true;
    }
    return false;
}

/* True if the question asks for a running total of days or longer periods, as in "up to and including the whole day".
 * Rows of one day then have the same total on purpose. */
static bool asks_for_days(const struct question *question)
{
    static const char *const WORDS[] = {"day",   "days",    "daily", "date",   "dates",
                                        "month", "monthly", "week",  "weekly", "year"};
    const struct frame_element *running = frame_find(question->frame, FRAME_RUNNING);
    uint32_t end = MIN(running->first + running->n_tokens + 3, question->tokens.n);
    for (uint32_t i = running->first; i < end; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(WORDS); w++)
            if (g_str_equal(question->tokens.items[i].norm, WORDS[w]) && i > running->first &&
                !g_str_equal(question->tokens.items[i - 1].norm, "of"))
                return true;
    return question_has(question, "whole") || question_has(question, "entire");
}

static void check_running(struct window_rows *w, const struct meaning_term *term)
{
    enum { MOST = 8 };
    const struct meaning_window *window = term->window;
    int columns[MOST];
    uint32_t n = 0;
    bool grows = strcmp(term->name, "measure") == 0 && strcmp(window->frame, "range to the current row") == 0;
    if (asks_for_days(w->run->subject->analysis)) return;
    if (!grows || !window->n_order || window->n_partition + 1 > MOST || !always_grows(w, term)) return;
    int total = output_of(w, term);
    if (total < 0 || !shows_single_rows(w)) return;
    columns[n++] = total;
    for (uint32_t i = 0; i < window->n_partition; i++) {
        int key = output_of(w, window->partition[i]);
        if (key < 0) return;
        columns[n++] = key;
    }
    for (uint32_t a = 0; a < w->result->n_rows; a++)
        for (uint32_t b = a + 1; b < w->result->n_rows; b++) {
            if (!same_cells(w, a, b, columns, n)) continue;
            vsig_fire(w->run, VSIG_WARNING, vsig_node_at(w->run->subject, term->start, term->end),
                      "rows that tie in the ORDER BY of the window have the same running total, so the total jumps");
            return;
        }
}

/* --- missing periods --- */

/* Returns the number of a period in months since year 0. The value is a year ("2024"), a month ("2024-05"), or the
 * first day of a month. Returns -1 for other values. */
static int period_of(const struct db_value *value)
{
    int year = 0, month = 1, day = 1;
    if (value->type == DB_INT && value->i >= 1000 && value->i <= 3000) return (int)value->i * 12;
    if (value->type != DB_TEXT || value->len < 4) return -1;
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)value->len, value->text);
    int n = sscanf(text, "%4d-%2d-%2d", &year, &month, &day);
    bool whole = n == 1 ? strlen(text) == 4 : n == 2 ? strlen(text) == 7 : n == 3 && day == 1;
    return whole && year >= 1000 && month >= 1 && month <= 12 ? year * 12 + month - 1 : -1;
}

static int compare_numbers(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* True if two adjacent periods of the column are further apart than the closest ones. */
static bool has_gap(const struct window_rows *w, uint32_t column)
{
    int periods[MAX_ROWS], least = 0;
    for (uint32_t i = 0; i < w->result->n_rows; i++)
        if ((periods[i] = period_of(cell(w, i, column))) < 0) return false;
    qsort(periods, w->result->n_rows, sizeof *periods, compare_numbers);
    for (uint32_t i = 1; i < w->result->n_rows; i++) {
        int step = periods[i] - periods[i - 1];
        if (step > 0 && (!least || step < least)) least = step;
    }
    for (uint32_t i = 1; i < w->result->n_rows; i++)
        if (periods[i] - periods[i - 1] > least) return true;
    return false;
}

/* True if the words of the question that refer to another row name a period, as in "the month before". */
static bool asks_for_period(const struct question *question)
{
    static const char *const WORDS[] = {"month",   "months", "quarter", "quarters", "year",     "years",    "yearly",
                                        "monthly", "annual", "period",  "periods",  "calendar", "quarterly"};
    for (uint32_t e = 0; e < question->frame->n; e++) {
        const struct frame_element *element = &question->frame->elements[e];
        uint32_t from = element->first ? element->first - 1 : 0,
                 end = MIN(element->first + element->n_tokens + 2, question->tokens.n);
        for (uint32_t i = from; STEPS >> element->kind & 1U && i < end; i++)
            for (size_t w = 0; w < G_N_ELEMENTS(WORDS); w++)
                if (g_str_equal(question->tokens.items[i].norm, WORDS[w])) return true;
    }
    return false;
}

/* Sets *self if LAG or LEAD reads the key of its own order, such as LAG(month). The query itself then checks whether a
 * period is missing. */
static void find_guard(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    (void)owner;
    bool step = term->kind == MEANING_WINDOW && term->window && term->window->n_order && term->n_parts &&
                (strcmp(term->name, "lag") == 0 || strcmp(term->name, "lead") == 0);
    *(bool *)self |=
        step && meaning_follow(term->parts[0], NULL)->hash == meaning_follow(term->window->order[0].term, NULL)->hash;
}

static bool is_guarded(const struct window_rows *w)
{
    bool guarded = false;
    meaning_visit(w->meaning, &(struct meaning_visitor){.self = &guarded, .term = find_guard});
    return guarded;
}

static void check_step(struct window_rows *w, const struct meaning_term *term)
{
    const struct meaning_window *window = term->window;
    bool step = strcmp(term->name, "lag") == 0 || strcmp(term->name, "lead") == 0;
    if (!step || !window->n_order || window->n_partition || !asks_for_period(w->run->subject->analysis)) return;
    if (is_guarded(w)) return;
    int key = output_of(w, window->order[0].term);
    if (key < 0 || !has_gap(w, (uint32_t)key)) return;
    bool far = term->n_parts > 1 && term->parts[1]->kind == MEANING_VALUE && atoi(term->parts[1]->name) > 1;
    bool calendar = question_has(w->run->subject->analysis, "calendar");
    vsig_fire(w->run, far || calendar ? VSIG_ERROR : VSIG_WARNING,
              vsig_node_at(w->run->subject, term->start, term->end),
              "a period is missing in the rows, so the row before or after is not always the period before or after");
}

/* --- steps across the boundary of a group --- */

/* True for a column whose values name things, not times or amounts: a key, a reference, or texts that are not dates. */
static bool names_things(const struct schema_index *schema, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    bool text = stats->texts > 0 && !stats->ints && !stats->reals && !stats->date_texts && !stats->numeric_texts;
    return text || (!stats->date_texts && (column->pk || schema_is_reference(schema, column->id)));
}

static bool is_order_key(const struct meaning_window *window, const struct meaning_term *term)
{
    uint64_t hash = meaning_follow(term, NULL)->hash;
    for (uint32_t i = 0; i < window->n_order; i++)
        if (meaning_follow(window->order[i].term, NULL)->hash == hash) return true;
    return false;
}

/* True if the column has different values and a repeated value in the result, so there are groups of rows. */
static bool has_groups(const struct window_rows *w, uint32_t column)
{
    bool repeats = false, differs = false;
    for (uint32_t a = 0; a < w->result->n_rows; a++)
        for (uint32_t b = a + 1; b < w->result->n_rows && !(repeats && differs); b++) {
            bool same = db_value_compare(cell(w, a, column), cell(w, b, column)) == 0;
            *(same ? &repeats : &differs) = true;
        }
    return repeats && differs;
}

/* Reports LAG or LEAD over ORDER BY thing, time without PARTITION BY. In the first row of each thing, LAG reads the
 * last row of another thing. */
static void check_boundary(struct window_rows *w, const struct meaning_term *term)
{
    const struct meaning_window *window = term->window;
    bool step = strcmp(term->name, "lag") == 0 || strcmp(term->name, "lead") == 0;
    if (!step || window->n_order < 2 || window->n_partition || !term->n_parts) return;
    if (is_order_key(window, term->parts[0])) return; /* a LAG of the thing itself finds the boundary on purpose */
    const struct meaning_term *first = window->order[0].term;
    const struct schema_column *column = align_term_column(w->run->subject->schema, meaning_follow(first, NULL));
    int key = output_of(w, first);
    if (!column || key < 0 || !names_things(w->run->subject->schema, column) || !has_groups(w, (uint32_t)key)) return;
    struct vsig_finding *finding =
        vsig_fire(w->run, VSIG_ERROR, vsig_node_at(w->run->subject, term->start, term->end),
                  "the window has no PARTITION BY %s, so %s of one %s reads a row of another one", column->name,
                  strcmp(term->name, "lag") == 0 ? "LAG in the first row" : "LEAD in the last row", column->name);
    vsig_add_fact(w->run, finding, "column", false, "%s", column->name);
}

/* True if the result has all rows of the window. LIMIT, DISTINCT, grouping and a condition outside of the window's
 * query remove rows. */
static bool shows_all_rows(const struct window_rows *w, const struct meaning *owner)
{
    const struct meaning *m = w->meaning;
    if (m->limit || m->offset || w->result->truncated) return false;
    return owner == m || (!m->n_conditions && m->grain == MEANING_ROWS && m->n_sources == 1);
}

static void check_window(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    struct window_rows *w = self;
    const struct question_frame *frame = w->run->subject->analysis->frame;
    unsigned asked = frame ? frame->kinds : 0;
    if (term->kind != MEANING_WINDOW || !term->window || w->run->verdict->n_findings >= 2) return;
    check_boundary(w, term);
    if (asked & 1U << FRAME_RUNNING) check_running(w, term);
    if (asked & STEPS && shows_all_rows(w, owner)) check_step(w, term);
}

static enum err_code window_rows_eval(struct vsig_run *run)
{
    const struct meaning *meaning;
    enum err_code code = vsig_read_meaning(run->subject, &meaning);
    const struct question *question = run->subject->analysis;
    if (code || !meaning || meaning->set || !question) return code;
    const struct db_result *result = vsig_result(run->subject);
    if (!result || result->n_rows < 2 || result->n_rows > MAX_ROWS || result->n_columns != meaning->n_outputs)
        return ERR_OK;
    struct window_rows rows = {run, meaning, result};
    meaning_visit(meaning, &(struct meaning_visitor){.self = &rows, .term = check_window});
    return ERR_OK;
}

const struct vsig_def vsig_window_rows = {
    .id = VSIG_ID_window_rows,
    .name = "window_rows",
    .family = VSIG_EXECUTION,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_RESULT | VSIG_NEEDS_QUESTION,
    .sentence = "ties, missing periods or a missing PARTITION BY make a window take other rows than asked",
    .description =
        "A running total with the default frame gives rows that tie the same total. LAG and LEAD read another "
        "row, which is not the period before or after if the data lack a period. Without PARTITION BY it may be a row "
        "of another thing.",
    .example =
        "How did sales change against the month before? - SELECT month, total - LAG(total) OVER (ORDER BY month) "
        "FROM monthly, where a month has no row",
    .instruction =
        "Add a unique column to the ORDER BY of a running total, or use ROWS. Join with the period before by "
        "its date, or fill in missing periods first. Partition LAG and LEAD by the thing.",
    .eval = window_rows_eval,
};
