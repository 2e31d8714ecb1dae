/* Checks which rows count: rows that the question keeps ("inactive ones too", "any status"), and rows that it excludes
 * ("test rows excluded").
 *
 * The words near an element name a column or a value. A condition of the query on that column contradicts "keep" and
 * implements "exclude". If the query has no such condition, the check first makes sure that some column could exclude
 * the rows. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <string.h>

enum {
    REACH = 2, /* number of tokens beside an element that may name the rows */
    FEW = 3,   /* a flag has fewer different values than this */
    MANY = 50  /* a column of kinds has at most this many different values */
};

/* A condition on one column: a comparison with literals or NULL, or the column alone. */
struct row_filter {
    const struct meaning_term *term;
    const struct schema_column *column;
};

struct row_filters {
    const struct aligner *a;
    struct row_filter items[ALIGN_MAX_PARTS];
    uint32_t n;
};

/* Returns the words that an element applies to, up to the nearest punctuation mark. They follow an element such as
 * "any" ("any status") and precede one such as "too" ("drafts too"). */
static struct align_run words_about(const struct aligner *a, const struct frame_element *asked)
{
    const struct text_tokens *tokens = &a->question->tokens;
    struct align_run run = {tokens, asked->first, asked->first + asked->n_tokens};
    bool behind = asked->kind == FRAME_ANY || asked->kind == FRAME_EXCEPT;
    for (unsigned i = 0; !behind && i < REACH && run.first && tokens->items[run.first - 1].kind != TEXT_PUNCT; i++)
        run.first--;
    for (unsigned i = 0; behind && i < REACH && run.end < tokens->n && tokens->items[run.end].kind != TEXT_PUNCT; i++)
        run.end++;
    return run;
}

/* True if more words follow "or not": "zero or not recorded". */
static bool goes_on(const struct aligner *a, const struct frame_element *asked)
{
    const struct text_tokens *tokens = &a->question->tokens;
    uint32_t end = asked->first + asked->n_tokens;
    return text_same(tokens->items[end - 1].norm, "not") && end < tokens->n && tokens->items[end].kind != TEXT_PUNCT;
}

/* --- conditions of the query --- */

static const struct schema_column *column_in(const struct aligner *a, const struct meaning_term *term)
{
    term = meaning_follow(term, NULL);
    const struct schema_column *column = align_column(a, term);
    bool inside = term->kind == MEANING_CALL || term->kind == MEANING_PERIOD || term->kind == MEANING_OPERATION;
    for (uint32_t i = 0; inside && !column && i < term->n_parts; i++) column = column_in(a, term->parts[i]);
    return column;
}

static bool is_test(const struct meaning_term *term)
{
    static const char *const names[] = {
        "=",    "<>",       "in", "not in", "is null",          "is not null",         "<", ">", "<=", ">=",
        "like", "not like", "is", "is not", "is distinct from", "is not distinct from"};
    for (size_t i = 0; term->kind == MEANING_OPERATION && i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(term->name, names[i])) return true;
    return false;
}

static void add_filter(struct row_filters *filters, const struct meaning_term *term, const struct schema_column *column)
{
    if (column && filters->n < ALIGN_MAX_PARTS) filters->items[filters->n++] = (struct row_filter){term, column};
}

static void note_term(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    (void)owner;
    struct row_filters *filters = self;
    if (!is_test(term)) return;
    for (uint32_t i = 1; i < term->n_parts; i++)
        if (term->parts[i]->kind != MEANING_VALUE) return;
    add_filter(filters, term, column_in(filters->a, term->parts[0]));
}

/* Adds the conditions that are only a column or the negation of one. */
static void note_flags(struct row_filters *filters, struct meaning_term *const *conditions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct meaning_term *term = conditions[i];
        if (align_is(term, MEANING_OPERATION, "not") && term->n_parts == 1) term = term->parts[0];
        add_filter(filters, conditions[i], align_column(filters->a, meaning_follow(term, NULL)));
    }
}

static void note_relation(void *self, const struct meaning *m)
{
    note_flags(self, m->conditions, m->n_conditions);
}

static bool says_literal(const struct aligner *a, const struct align_run *run, const struct meaning_term *term)
{
    uint32_t token;
    for (uint32_t i = 0; i < term->n_parts; i++)
        if (align_said_at(a, term->parts[i], &token) && token >= run->first && token < run->end) return true;
    return false;
}

/* True if the filter accepts all values of its column, as "in (1, 2, 3)" does if there are no others. */
static bool takes_all(const struct row_filter *filter)
{
    const struct schema_stats *stats = &filter->column->stats;
    return align_is(filter->term, MEANING_OPERATION, "in") && stats->distinct &&
           filter->term->n_parts > stats->distinct;
}

/* True if the filter's column may be meant by "any status": it has few values, is no date, and the run names it. */
static bool is_any_of(const struct row_filters *filters, const struct align_run *run, const struct row_filter *filter)
{
    const struct schema_stats *stats = &filter->column->stats;
    bool kind = stats->distinct && stats->distinct <= MANY && stats->date_texts * 2 <= stats->texts;
    return kind && align_run_names(filters->a, run, filter->column);
}

static const struct row_filter *find_filter(const struct row_filters *filters, const struct align_run *run, bool any)
{
    for (uint32_t i = 0; i < filters->n; i++) {
        const struct row_filter *filter = &filters->items[i];
        if (takes_all(filter)) continue;
        if (any ? is_any_of(filters, run, filter)
                : align_run_names(filters->a, run, filter->column) || says_literal(filters->a, run, filter->term))
            return filter;
    }
    return NULL;
}

/* --- columns by which rows could be excluded --- */

static bool run_says_value(const struct aligner *a, const struct align_run *run, const struct schema_column *column)
{
    uint32_t n;
    const struct question_said *said = question_values_of(a->question, a->schema, column, &n);
    for (uint32_t i = 0; said && i < n; i++)
        if (said[i].first >= run->first && said[i].first < run->end) return true;
    return false;
}

static bool is_flag(const struct aligner *a, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    return stats->distinct && stats->distinct < FEW && !column->pk && !schema_is_foreign_key(a->schema, column->id);
}

static bool has_filter(const struct row_filters *filters, const struct schema_column *column)
{
    for (uint32_t i = 0; i < filters->n; i++)
        if (filters->items[i].column == column) return true;
    return false;
}

/* True if a table of the query has a column by which the rows can be excluded. Sets *filtered if the query has a
 * condition on such a column. */
static bool can_leave_out(const struct row_filters *filters, const struct align_run *run, bool *filtered)
{
    const struct aligner *a = filters->a;
    bool found = false;
    for (uint32_t r = 0; r < a->n_relations; r++)
        for (uint32_t s = 0; s < a->relations[r]->n_sources; s++) {
            int number = a->relations[r]->sources[s].table;
            const struct schema_table *table = number < 0 ? NULL : &a->schema->tables[number];
            for (uint32_t c = 0; table && c < table->n_columns; c++) {
                const struct schema_column *column = &table->columns[c];
                if (!run_says_value(a, run, column) && !(is_flag(a, column) && align_run_names(a, run, column)))
                    continue;
                found = true;
                *filtered |= has_filter(filters, column);
            }
        }
    return found;
}

/* --- the aspect --- */

static void check_kept(struct aligner *a, const struct row_filters *filters, const struct frame_element *asked)
{
    const struct align_run run = words_about(a, asked);
    const struct row_filter *filter = find_filter(filters, &run, asked->kind == FRAME_ANY);
    /* the numerator of a share needs conditions */
    bool filtered = false, share = align_asked(a, FRAME_SHARE) && a->ratios.n;
    if (filter && share) return;
    if (filter)
        align_differ(a, ALIGN_ROWS, asked, filter->term, false, "the query leaves out rows that the question keeps");
    else if (can_leave_out(filters, &run, &filtered) && !filtered)
        align_agree(a, ALIGN_ROWS, asked, NULL);
}

static void check_left_out(struct aligner *a, const struct row_filters *filters, const struct frame_element *asked)
{
    const struct align_run run = words_about(a, asked);
    bool filtered = false;
    if (!can_leave_out(filters, &run, &filtered)) return;
    if (filtered)
        align_agree(a, ALIGN_ROWS, asked, NULL);
    else
        align_differ(a, ALIGN_ROWS, asked, NULL, false, "the query keeps rows that the question leaves out");
}

void align_rows(struct aligner *a)
{
    struct row_filters filters = {.a = a};
    const unsigned kept = 1U << FRAME_KEPT | 1U << FRAME_ANY, left_out = 1U << FRAME_LEFT_OUT | 1U << FRAME_EXCEPT;
    if (!(a->frame->kinds & (kept | left_out))) return;
    meaning_visit(a->meaning,
                  &(struct meaning_visitor){.self = &filters, .relation = note_relation, .term = note_term});
    for (uint32_t i = 0; i < a->frame->n; i++) {
        const struct frame_element *asked = &a->frame->elements[i];
        if (kept >> asked->kind & 1 && !goes_on(a, asked)) check_kept(a, &filters, asked);
        if (left_out >> asked->kind & 1) check_left_out(a, &filters, asked);
    }
}
