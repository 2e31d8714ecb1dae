/* Checks windows: running totals, moving windows, previous and next rows, groups, ties, and first or last rows.
 *
 * Each section has the helpers of one aspect and ends with its function. A check compares the frame, the order and the
 * partition of a window with the words of the element. It adds no item for a form that it does not recognise. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1000000 };

static bool is_measure(const struct meaning_term *window)
{
    return align_is(window, MEANING_WINDOW, "measure");
}

static bool is_running(const struct meaning_term *window)
{
    return is_measure(window) && window->window && window->window->n_order &&
           g_str_has_suffix(window->window->frame, "to the current row");
}

/* Returns the number of rows before the current row, for a frame that ends with the current row. Returns -1 for other
 * frames. */
static long rows_before(const struct meaning_term *window)
{
    static const char *const starts[] = {"rows between ", "rows "};
    const char *frame = window->window ? window->window->frame : "";
    for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
        if (!g_str_has_prefix(frame, starts[i])) continue;
        char *end;
        long n = strtol(frame + strlen(starts[i]), &end, 10);
        if (strcmp(end, " preceding") == 0 || strcmp(end, " preceding and current row") == 0) return n;
    }
    return -1;
}

/* Returns the number of rows after the current row, for a frame that begins with the current row. Returns -1 for other
 * frames. */
static long rows_after(const struct meaning_term *window)
{
    static const char start[] = "rows between current row and ";
    const char *frame = window->window ? window->window->frame : "";
    char *end;
    if (!g_str_has_prefix(frame, start)) return -1;
    long n = strtol(frame + sizeof start - 1, &end, 10);
    return g_str_has_prefix(end, " following") ? n : -1;
}

/* --- running totals --- */

static bool says_backwards(const struct aligner *a)
{
    static const char *const words[] = {"backwards", "backward",  "remaining", "remain",     "descending",
                                        "reverse",   "countdown", "left",      "outstanding"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (question_has(a->question, words[i])) return true;
    return false;
}

/* True for words that always request a running total. Other words, such as "so far", may request a plain total. */
static bool is_plain_request(const struct aligner *a, const struct frame_element *element)
{
    static const char *const words[] = {"running", "cumulative", "cumulatively", "accumulated"};
    return align_says_any(a, element, words, G_N_ELEMENTS(words));
}

void align_running(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_RUNNING);
    if (!asked || align_asked(a, FRAME_MOVING)) return;
    const struct meaning_term *other = NULL;
    bool found = false;
    for (uint32_t i = 0; i < a->windows.n; i++) {
        const struct meaning_term *term = a->windows.items[i].term;
        if (!is_measure(term)) continue;
        if (!is_running(term)) {
            other = term;
            continue;
        }
        const struct meaning_key *key = &term->window->order[0];
        found = true;
        if (key->descending && align_is_date(a, key->term) && !says_backwards(a))
            align_differ(a, ALIGN_RUNNING, asked, term, !question_cue_any(a->question, 1U << QUESTION_CUE_FIRST),
                         "the running total adds up from the latest date to the earliest date");
        else
            align_agree(a, ALIGN_RUNNING, asked, term);
    }
    if (!found && other && is_plain_request(a, asked))
        align_differ(a, ALIGN_RUNNING, asked, other, true,
                     "the question asks for a running total, but the window does not add up row by row");
}

static bool asks_for_each(const struct aligner *a)
{
    return a->question->cue_counts[QUESTION_CUE_EACH] || question_has(a->question, "per") ||
           question_has(a->question, "by") || align_asked(a, FRAME_OWN);
}

/* True if the window's relation shows a column that identifies entities. Dates, unique columns and keys of the order do
 * not count. */
static bool shows_things(const struct aligner *a, const struct align_part *part)
{
    const struct meaning_window *window = part->term->window;
    for (uint32_t i = 0; i < part->owner->n_outputs; i++) {
        const struct meaning_term *term = part->owner->outputs[i].term;
        const struct schema_column *column = align_column(a, meaning_follow(term, NULL));
        bool plain = column && !column->unique && !align_is_date(a, term) && align_names_thing(a, column);
        for (uint32_t k = 0; k < window->n_order; k++) plain &= window->order[k].term->hash != term->hash;
        if (plain) return true;
    }
    return false;
}

/* True if the relation shows a column of the entity that follows "every": "For every show, list its bookings with the
 * running total". */
static bool each_names_group(const struct aligner *a, const struct align_part *part)
{
    enum { REACH = 3 };
    const struct meaning_window *window = part->term->window;
    for (uint32_t c = 0; c < a->question->n_cues; c++) {
        const struct question_cue *cue = &a->question->cues[c];
        uint32_t from = cue->first + cue->n_tokens;
        const struct align_run run = {&a->question->tokens, from, MIN(from + REACH, a->question->tokens.n)};
        if (cue->kind != QUESTION_CUE_EACH || cue->weak) continue;
        for (uint32_t i = 0; i < part->owner->n_outputs; i++) {
            const struct meaning_term *term = part->owner->outputs[i].term;
            const struct schema_column *column = align_column(a, meaning_follow(term, NULL));
            bool group = column && !column->unique && !align_is_date(a, term) && align_names_thing(a, column);
            for (uint32_t k = 0; k < window->n_order; k++) group &= window->order[k].term->hash != term->hash;
            if (group && align_run_names(a, &run, column)) return true;
        }
    }
    return false;
}

void align_restart(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_RESTART), *running = align_asked(a, FRAME_RUNNING);
    if (!asked && !running) return;
    for (uint32_t i = 0; i < a->windows.n; i++) {
        const struct align_part *part = &a->windows.items[i];
        if (!is_running(part->term)) continue;
        bool parted = part->term->window->n_partition;
        if (asked && !parted)
            align_differ(a, ALIGN_RESTART, asked, part->term, true,
                         "the question asks for a total that starts again, but the window has no PARTITION BY");
        else if (asked)
            align_agree(a, ALIGN_RESTART, asked, part->term);
        else if (!parted && part->owner->grain == MEANING_ROWS && each_names_group(a, part))
            align_differ(a, ALIGN_RESTART, running, part->term, false,
                         "the question asks for a running total of each thing, but the window has no PARTITION BY");
        else if (parted && !asks_for_each(a))
            align_differ(a, ALIGN_RESTART, running, part->term, false,
                         "the window starts the running total again for each group, but the question names no group");
        else if (!parted && a->question->cue_counts[QUESTION_CUE_EACH] && shows_things(a, part))
            align_differ(a, ALIGN_RESTART, running, part->term, false,
                         "the question asks for a running total of each thing, but the window has no PARTITION BY");
    }
}

/* --- moving windows --- */

static const char *const EARLIER[] = {"before", "previous", "preceding", "preceded", "prior", "earlier"};
static const char *const LATER[] = {"after",  "following", "next",     "later",      "subsequent", "ahead",
                                    "follow", "follows",   "followed", "thereafter", "afterwards"};

static bool has_word_of(const struct aligner *a, const struct frame_element *element, const char *const *words,
                        size_t n)
{
    for (uint32_t t = element->first; t < element->first + element->n_tokens; t++)
        for (size_t i = 0; i < n; i++)
            if (text_same(a->question->tokens.items[t].norm, words[i])) return true;
    return false;
}

static bool asks_for_later(const struct aligner *a, const struct frame_element *element)
{
    return has_word_of(a, element, LATER, G_N_ELEMENTS(LATER));
}

/* Returns the number of rows besides the current one that the element requests; 0 if it gives no number. */
static long rows_asked(const struct aligner *a, const struct frame_element *element)
{
    double number = element->number >= 0 ? a->question->values[element->number].number : 0;
    long n = number > 0 && number < MOST_ROWS ? (long)number : 0;
    for (uint32_t i = element->first; !n && i < element->first + element->n_tokens; i++)
        n = text_number_in_span(a->question->tokens.items[i].norm);
    if (n <= 1) return n;
    static const char *const joins[] = {"and", "plus", "with"};
    bool joined = align_says_any(a, element, joins, G_N_ELEMENTS(joins));
    /* as in "and the two before it" */
    for (size_t i = 0; !joined && element->first > 1 && i < G_N_ELEMENTS(joins); i++)
        joined = text_same(a->question->tokens.items[element->first - 2].norm, joins[i]);
    bool beside = asks_for_later(a, element) || has_word_of(a, element, EARLIER, G_N_ELEMENTS(EARLIER));
    return joined && beside ? n : n - 1;
}

/* True for a frame that excludes the current row, or has rows on both sides of it. */
static bool has_other_bounds(const struct meaning_term *window)
{
    const char *frame = window->window ? window->window->frame : "";
    return strstr(frame, "preceding and") && !strstr(frame, "unbounded") && !strstr(frame, "current row");
}

void align_moving(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_MOVING);
    for (uint32_t i = 0; asked && i < a->windows.n; i++) {
        const struct meaning_term *term = a->windows.items[i].term;
        if (!is_measure(term)) continue;
        long before = rows_before(term), after = rows_after(term), wanted = rows_asked(a, asked);
        if (has_other_bounds(term)) continue;
        if (asks_for_later(a, asked) != (after >= 0)) {
            align_differ(a, ALIGN_MOVING, asked, term, true,
                         after >= 0 ? "the question asks for earlier rows, but the window takes later rows"
                                    : "the question asks for later rows, but the window takes earlier rows");
            continue;
        }
        if (after >= 0) before = after;
        bool bounded = before >= 0 || g_str_has_prefix(term->window ? term->window->frame : "", "range between ");
        if (!bounded)
            align_differ(a, ALIGN_MOVING, asked, term, true,
                         "the question asks for the last rows only, but the window takes all earlier rows");
        else if (wanted > 0 && before >= 0 && before != wanted)
            align_differ(a, ALIGN_MOVING, asked, term, true,
                         after >= 0 ? "the window takes another number of later rows than the question says"
                                    : "the window takes another number of earlier rows than the question says");
        else
            align_agree(a, ALIGN_MOVING, asked, term);
    }
}

/* --- columns that words name --- */

static bool element_names(const struct aligner *a, const struct frame_element *element, const struct meaning_term *term)
{
    const struct schema_column *column = align_column(a, meaning_follow(term, NULL));
    const struct align_run run = {&a->question->tokens, element->first, element->first + element->n_tokens};
    return column && align_run_names(a, &run, column);
}

/* Returns 1 if the element names the window's groups. Returns -1 if it names another column that the relation shows,
 * and 0 if unknown. */
static int groups_named_by(const struct aligner *a, const struct frame_element *element, const struct align_part *part)
{
    const struct meaning_window *window = part->term->window;
    for (uint32_t i = 0; i < window->n_partition; i++)
        if (element_names(a, element, window->partition[i])) return 1;
    for (uint32_t i = 0; i < part->owner->n_outputs; i++)
        if (element_names(a, element, part->owner->outputs[i].term)) return -1;
    return 0;
}

/* --- previous and next --- */

int align_step_of(const struct meaning_term *window)
{
    bool lag = align_is(window, MEANING_WINDOW, "lag"), lead = align_is(window, MEANING_WINDOW, "lead");
    if ((!lag && !lead) || !window->window || !window->window->n_order) return 0;
    return (lag ? -1 : 1) * (window->window->order[0].descending ? -1 : 1);
}

/* True if an aggregate takes its input from the window, such as an average gap. The result is then the same for the row
 * before and the row after. */
static bool is_aggregated(const struct aligner *a, const struct align_part *part)
{
    return part->owner != a->meaning && a->meaning->grain != MEANING_ROWS;
}

/* True if the window sorts by a measure, or by the value that it reads. The previous row is then not the previous
 * period. */
static bool sorts_by_measure(const struct aligner *a, const struct meaning_term *window)
{
    const struct meaning_term *key = meaning_follow(window->window->order[0].term, NULL);
    if (key->kind == MEANING_MEASURE || key->kind == MEANING_RATIO) return true;
    return window->n_parts && key->hash == meaning_follow(window->parts[0], NULL)->hash && !align_is_date(a, key);
}

static bool says_period(const struct aligner *a, const struct frame_element *element)
{
    static const char *const words[] = {"day",  "week",  "month",  "quarter",  "year",  "season",  "period",
                                        "days", "weeks", "months", "quarters", "years", "seasons", "periods"};
    return align_says_any(a, element, words, G_N_ELEMENTS(words));
}

/* Checks the group in which the window takes the previous or next row. `own` is the element that names the group. */
static void check_step_group(struct aligner *a, const struct frame_element *own, const struct align_part *part)
{
    if (!part->term->window->n_partition)
        align_differ(a, ALIGN_STEP, own, part->term, true,
                     "the question asks for a row of the same group, but the window has no PARTITION BY");
    else if (groups_named_by(a, own, part) < 0)
        align_differ(a, ALIGN_STEP, own, part->term, true,
                     "the window reads a row of another group than the question names");
}

void align_step(struct aligner *a)
{
    const struct frame_element *previous = align_asked(a, FRAME_PREVIOUS), *next = align_asked(a, FRAME_NEXT),
                               *own = align_asked(a, FRAME_OWN);
    bool both = previous && next;
    if (!previous && !next) previous = align_asked(a, FRAME_CHANGE);
    if (!previous && !next) return;
    for (uint32_t i = 0; i < a->windows.n; i++) {
        const struct align_part *part = &a->windows.items[i];
        int step = align_step_of(part->term), wanted = previous ? -1 : 1;
        const struct frame_element *asked = previous ? previous : next;
        if (!step) continue;
        if (own) check_step_group(a, own, part);
        if (says_period(a, asked) && sorts_by_measure(a, part->term))
            align_differ(a, ALIGN_STEP, asked, part->term, true,
                         "the question asks for another period, but the window sorts by an amount");
        else if (!both && step != wanted && !is_aggregated(a, part))
            align_differ(a, ALIGN_STEP, asked, part->term, true,
                         previous ? "the question asks for the row before, but the window reads the row after"
                                  : "the question asks for the row after, but the window reads the row before");
        else if (!own && !part->term->window->n_partition && asks_for_each(a) && shows_things(a, part))
            align_differ(a, ALIGN_STEP, asked, part->term, false,
                         "the window has no PARTITION BY, so it reads the row of another thing");
        else if (!both && step == wanted)
            align_agree(a, ALIGN_STEP, asked, part->term);
    }
}

/* --- groups of windows --- */

/* True for a subquery that is used as a value and returns one measure. */
static bool is_scalar(const struct meaning_term *query)
{
    const struct meaning *m = query->relation;
    return m->grain == MEANING_ONE && m->n_outputs == 1 && !m->set;
}

static void check_keys(struct aligner *a, const struct meaning_term *term)
{
    for (uint32_t i = 0; i < term->window->n_partition; i++) {
        const struct schema_column *column = align_column(a, meaning_follow(term->window->partition[i], NULL));
        if (!column || align_names_column(a, column)) continue;
        align_differ(a, ALIGN_PARTITION, NULL, term, false,
                     "the window has a row group for each value of a column that the question does not name");
        return;
    }
}

/* Returns the column of the condition "t.c = outer t.c", which makes a subquery read the rows of the same group.
 * Returns NULL for other conditions. */
static const struct schema_column *self_group(const struct aligner *a, const struct meaning_term *condition)
{
    if (!align_is(condition, MEANING_OPERATION, "=") || condition->n_parts != 2) return NULL;
    const struct schema_column *left = align_column(a, condition->parts[0]),
                               *right = align_column(a, condition->parts[1]);
    bool outer = meaning_is_outer(condition->parts[0]) != meaning_is_outer(condition->parts[1]);
    return outer && left == right ? left : NULL;
}

static void check_self_groups(struct aligner *a, const struct meaning_term *query)
{
    const struct meaning *m = query->relation;
    for (uint32_t i = 0; i < m->n_conditions; i++) {
        const struct schema_column *column = self_group(a, m->conditions[i]);
        if (!column || column->unique || align_names_column(a, column)) continue;
        align_differ(a, ALIGN_PARTITION, NULL, query, false,
                     "the query compares with rows that share a column which the question does not name");
        return;
    }
}

/* Returns the element that requests all rows; NULL if there is none. "The whole order" is one group, so it does not
 * count. "All thrown together" counts only if the query has no ratio. */
static const struct frame_element *asked_of_all(const struct aligner *a)
{
    const struct frame_element *overall = align_asked(a, FRAME_OVERALL);
    if (!overall && !a->ratios.n) overall = align_asked(a, FRAME_POOLED);
    bool group = overall && (align_says(a, overall, "whole") || align_says(a, overall, "entire"));
    return group ? NULL : overall;
}

/* True for "of the year" if the question names exactly one year. The group is then all rows. */
static bool is_only_period(const struct aligner *a, const struct frame_element *element)
{
    static const char *const years[] = {"year", "years", "year's"};
    if (!element || !align_says_any(a, element, years, G_N_ELEMENTS(years))) return false;
    for (uint32_t i = 0, found = 0; i < a->question->n_values; i++) {
        const struct question_value *value = &a->question->values[i];
        bool year = value->kind == QUESTION_VALUE_NUMBER && value->number >= 1900 && value->number <= 2100;
        found += year;
        if (i + 1 == a->question->n_values) return found == 1;
    }
    return false;
}

void align_partition(struct aligner *a)
{
    const struct frame_element *own = align_asked(a, FRAME_OWN), *overall = asked_of_all(a);
    if (is_only_period(a, own)) own = NULL;
    const struct meaning_term *parted = NULL, *whole = NULL;
    bool other = false;
    for (uint32_t i = 0; i < a->windows.n; i++) {
        const struct meaning_term *term = a->windows.items[i].term;
        if (!term->window) continue;
        check_keys(a, term);
        if (!is_measure(term) || term->window->n_order) continue;
        *(term->window->n_partition ? &parted : &whole) = term;
        other |= own && term->window->n_partition && groups_named_by(a, own, &a->windows.items[i]) < 0;
    }
    for (uint32_t i = 0; i < a->queries.n; i++) {
        const struct meaning_term *term = a->queries.items[i].term;
        check_self_groups(a, term);
        if (is_scalar(term)) *(align_is_correlated(term->relation) ? &parted : &whole) = term;
    }
    if (own && !overall && (parted || whole)) {
        if (parted && other)
            align_differ(a, ALIGN_PARTITION, own, parted, true,
                         "the window has a row group for each value of another column than the question names");
        else if (parted)
            align_agree(a, ALIGN_PARTITION, own, parted);
        else
            align_differ(a, ALIGN_PARTITION, own, whole, is_measure(whole),
                         "the question compares with the own group, but the query compares with all rows");
    } else if (overall && !own && (parted || whole)) {
        if (whole)
            align_agree(a, ALIGN_PARTITION, overall, whole);
        else
            align_differ(a, ALIGN_PARTITION, overall, parted, false,
                         "the question compares with all rows, but the query compares with a group");
    }
}

/* --- ties --- */

/* True if a condition keeps only rank 1, for which RANK and DENSE_RANK are the same. */
static bool keeps_first(const struct aligner *a, const struct meaning_term *window)
{
    for (uint32_t r = 0; r < a->n_relations; r++)
        for (uint32_t i = 0; i < a->relations[r]->n_conditions; i++) {
            const struct meaning_term *c = a->relations[r]->conditions[i];
            if (c->kind != MEANING_OPERATION || c->n_parts != 2 || meaning_follow(c->parts[0], NULL) != window)
                continue;
            if (align_is(c->parts[1], MEANING_VALUE, "1")) return true;
        }
    return false;
}

/* True if the window is subtracted from something, as in month - ROW_NUMBER(). It then serves to find runs of rows, and
 * does not rank. */
static bool is_subtracted(const struct aligner *a, const struct meaning_term *window)
{
    for (uint32_t i = 0; i < a->minuses.n; i++)
        for (uint32_t k = 0; k < a->minuses.items[i].term->n_parts; k++)
            if (meaning_follow(a->minuses.items[i].term->parts[k], NULL) == window) return true;
    return false;
}

static void check_rank(struct aligner *a, const struct align_part *part)
{
    const struct meaning_term *term = part->term;
    const struct frame_element *ties = align_asked(a, FRAME_TIES), *one = align_asked(a, FRAME_ONE),
                               *gaps = align_asked(a, FRAME_GAPS), *none = align_asked(a, FRAME_NO_GAPS);
    bool row = align_is(term, MEANING_WINDOW, "row_number"), rank = align_is(term, MEANING_WINDOW, "rank"),
         dense = align_is(term, MEANING_WINDOW, "dense_rank");
    if ((!row && !rank && !dense) || is_subtracted(a, term)) return;
    if (!term->window->n_partition && part->owner->grain == MEANING_ROWS && each_names_group(a, part))
        align_differ(a, ALIGN_PARTITION, NULL, term, false,
                     "the question ranks within each thing, but the window has no PARTITION BY");
    if (gaps && !none && !keeps_first(a, term)) {
        if (rank)
            align_agree(a, ALIGN_TIES, gaps, term);
        else
            align_differ(a, ALIGN_TIES, gaps, term, true,
                         "the question leaves places empty after a tie, which only RANK does");
    } else if (none && !gaps && !keeps_first(a, term)) {
        if (dense)
            align_agree(a, ALIGN_TIES, none, term);
        else
            align_differ(a, ALIGN_TIES, none, term, true,
                         "the question counts different values or leaves no place empty, which only DENSE_RANK does");
    } else if (ties && !one) {
        if (!row)
            align_agree(a, ALIGN_TIES, ties, term);
        else
            align_differ(a, ALIGN_TIES, ties, term, true,
                         "the question asks for all rows that tie, but ROW_NUMBER gives each place to one row");
    } else if (one && !ties) {
        if (row)
            align_agree(a, ALIGN_TIES, one, term);
        else if (term->window->n_order == 1)
            align_differ(a, ALIGN_TIES, one, term, false,
                         "the question asks for one row, but rows that tie have the same place");
    }
}

void align_ties(struct aligner *a)
{
    const struct frame_element *ties = align_asked(a, FRAME_TIES);
    for (uint32_t i = 0; i < a->windows.n; i++)
        if (a->windows.items[i].term->window) check_rank(a, &a->windows.items[i]);
    const struct meaning *m = a->meaning;
    bool plain = !a->windows.n && !a->queries.n; /* no window and no subquery may select the tied rows instead */
    if (ties && !align_asked(a, FRAME_ONE) && m->limit && !m->ties && m->n_order)
        align_differ(a, ALIGN_TIES, ties, m->order[0].term, plain,
                     "the question asks for all rows that tie, but LIMIT keeps a fixed number of rows");
}

/* --- first and last --- */

static bool is_named_rank(const struct schema_column *column)
{
    static const char *const words[] = {"rank", "position", "place", "priority", "level", "grade", "order", "seed"};
    for (uint32_t i = 0; column && i < column->words.n; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
            if (g_str_equal(column->words.items[i].norm, words[w])) return true;
    return false;
}

/* True if the question has a word such as "drop". "The biggest drop" is the lowest change, not the highest. */
static bool asks_for_drop(const struct aligner *a)
{
    static const char *const words[] = {"drop", "fall", "fell", "declin", "decreas", "loss", "shrink", "dip"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (question_has(a->question, words[i])) return true;
    return false;
}

/* Returns the direction that all cues of the question have; SQL_OP_NONE if there is no cue, or if they disagree. Cues
 * of time apply to dates, and cues of size to other values. */
static enum sql_op direction_asked(const struct aligner *a, bool date)
{
    enum sql_op all = SQL_OP_NONE;
    if (asks_for_drop(a)) return SQL_OP_NONE;
    for (uint32_t i = 0; i < a->question->n_cues; i++) {
        const struct question_cue *cue = &a->question->cues[i];
        bool first = cue->kind == QUESTION_CUE_FIRST, sort = cue->kind == QUESTION_CUE_DIRECTION;
        bool most = cue->kind == QUESTION_CUE_EXTREME || cue->kind == QUESTION_CUE_MAXIMUM ||
                    cue->kind == QUESTION_CUE_MINIMUM || cue->kind == QUESTION_CUE_TOP;
        if (sort || cue->kind == QUESTION_CUE_NTH) return SQL_OP_NONE;
        if (!date && first) return SQL_OP_NONE; /* the key may stand for the time */
        if (cue->named || cue->op == SQL_OP_NONE || !(date ? first : most && !cue->weak)) continue;
        if (all != SQL_OP_NONE && all != (enum sql_op)cue->op) return SQL_OP_NONE;
        all = (enum sql_op)cue->op;
    }
    return all;
}

/* Checks windows of which only the first row is used: a rank of which a condition keeps only 1, or FIRST_VALUE. */
void align_first(struct aligner *a)
{
    static const char *const says[] = {
        "the question asks for the last or greatest, but the window takes the first or least",
        "the question asks for the first or least, but the window takes the last or greatest"};
    for (uint32_t i = 0; i < a->windows.n; i++) {
        const struct meaning_term *term = a->windows.items[i].term;
        bool rank = align_is(term, MEANING_WINDOW, "row_number") || align_is(term, MEANING_WINDOW, "rank") ||
                    align_is(term, MEANING_WINDOW, "dense_rank");
        bool first = (rank && keeps_first(a, term)) || align_is(term, MEANING_WINDOW, "first_value");
        if (!first || !term->window || !term->window->n_order) continue;
        const struct meaning_key *key = &term->window->order[0];
        if (is_named_rank(align_column(a, meaning_follow(key->term, NULL)))) continue;
        enum sql_op asked = direction_asked(a, align_is_date(a, key->term));
        if (asked == SQL_OP_NONE) continue;
        if ((asked == SQL_DESC) == key->descending)
            align_agree(a, ALIGN_FIRST, NULL, term);
        else
            align_differ(a, ALIGN_FIRST, NULL, term, true, says[key->descending]);
    }
}
