/* Checks calculations: missing values, ratios, shares, changes, differences, distinct counts, and rows that UNION
 * drops.
 *
 * Each section has the helpers of one aspect and ends with its function. A check adds no item unless it recognises the
 * form of the calculation. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <string.h>

enum { MOST_STEPS = 500 };

/* --- words of the question --- */

static const char *const NEGATIONS[] = {"no",   "not",     "without", "lack",  "lacks", "lacking", "missing",
                                        "none", "unknown", "empty",   "blank", "null",  "never",   NULL};

static bool is_any_word(const char *word, const char *const *list)
{
    while (*list && !text_same(word, *list)) list++;
    return *list != NULL;
}

/* Returns the tokens of the sentence around a token. */
static struct align_run sentence_of(const struct text_tokens *tokens, uint32_t token)
{
    static const char *const ends[] = {".", "?", "!", ";", NULL};
    struct align_run run = {tokens, token, token};
    while (run.first && !is_any_word(tokens->items[run.first - 1].norm, ends)) run.first--;
    while (run.end < tokens->n && !is_any_word(tokens->items[run.end].norm, ends)) run.end++;
    return run;
}

/* --- missing values --- */

static bool is_zero(const struct meaning_term *term)
{
    return align_is(term, MEANING_VALUE, "0") || align_is(term, MEANING_VALUE, "0.0");
}

/* True for COALESCE(x, 0) and IFNULL(x, 0). */
static bool fills_zero(const struct meaning_term *term)
{
    bool call = align_is(term, MEANING_CALL, "coalesce") || align_is(term, MEANING_CALL, "ifnull") ||
                align_is(term, MEANING_CALL, "nvl");
    return call && term->n_parts && is_zero(term->parts[term->n_parts - 1]);
}

static bool may_be_missing(const struct aligner *a, const struct meaning_term *term)
{
    const struct schema_column *column = align_column(a, meaning_follow(term, NULL));
    return column && !column->not_null && (column->stats.nulls || column->stats.sampled);
}

/* True if a condition of the relation drops the rows in which the operand is NULL. */
static bool drops_missing(const struct meaning *owner, const struct meaning_term *operand)
{
    for (uint32_t i = 0; i < owner->n_conditions; i++)
        if (align_is(owner->conditions[i], MEANING_OPERATION, "is not null") &&
            owner->conditions[i]->parts[0]->hash == operand->hash)
            return true;
    return false;
}

/* True if the question leaves out the entities that have no value in the column: "leaving out loans without a fee". */
static bool leaves_out_missing(const struct aligner *a, const struct schema_column *column)
{
    static const char *const skips[] = {"leave",        "leaving", "left",     "skip", "skipping", "exclude",
                                        "excluding",    "ignore",  "ignoring", "omit", "omitting", "disregard",
                                        "disregarding", "guess",   "guesses",  NULL};
    enum { REACH = 4 };
    const struct text_tokens *tokens = &a->question->tokens;
    for (uint32_t i = 0; i < tokens->n; i++) {
        if (!is_any_word(tokens->items[i].norm, NEGATIONS)) continue;
        struct align_run run = sentence_of(tokens, i), named = {tokens, i + 1, MIN(run.end, i + 1 + REACH)};
        bool skip = false;
        for (uint32_t k = run.first; k < i; k++) skip |= is_any_word(tokens->items[k].norm, skips);
        if (skip && align_run_names(a, &named, column)) return true;
    }
    return false;
}

/* Checks AVG(COALESCE(x, 0)) if the question leaves out entities without x. The words that say so are not an element of
 * the frame. */
static void check_filled(struct aligner *a, const struct align_part *part)
{
    const struct meaning_term *term = part->term;
    if (!align_is(term, MEANING_MEASURE, "avg") || !term->n_parts || !fills_zero(term->parts[0])) return;
    const struct meaning_term *operand = term->parts[0]->parts[0];
    const struct schema_column *column = align_column(a, meaning_follow(operand, NULL));
    if (!column || !may_be_missing(a, operand) || drops_missing(part->owner, operand)) return;
    if (leaves_out_missing(a, column))
        align_differ(a, ALIGN_MISSING, NULL, term, true,
                     "the question leaves missing values out, but the average counts them as 0");
}

/* Returns x for COALESCE(x, 0) and for x. */
static const struct meaning_term *unfilled(const struct meaning_term *term)
{
    return fills_zero(term) ? term->parts[0] : term;
}

/* Checks SUM(x) / COUNT(*), which counts a missing value as 0. If the frame has no element for this, the question's
 * words about the column decide. */
static void check_missing_ratio(struct aligner *a, const struct frame_element *zero, const struct frame_element *skip,
                                const struct align_part *part)
{
    const struct meaning_term *top = part->term->parts[0], *bottom = part->term->parts[1];
    if (!align_is(top, MEANING_MEASURE, "sum") || !top->n_parts || top->rows) return;
    if (!align_is(bottom, MEANING_MEASURE, "count") || bottom->n_parts || bottom->rows) return;
    const struct meaning_term *operand = unfilled(top->parts[0]);
    if (!may_be_missing(a, operand) || drops_missing(part->owner, operand)) return;
    if (!zero && !skip && !leaves_out_missing(a, align_column(a, meaning_follow(operand, NULL)))) return;
    if (zero)
        align_agree(a, ALIGN_MISSING, zero, part->term);
    else
        align_differ(a, ALIGN_MISSING, skip, part->term, true,
                     "the question leaves missing values out, but the average counts them as 0");
}

void align_missing(struct aligner *a)
{
    const struct frame_element *zero = align_asked(a, FRAME_AS_ZERO), *skip = align_asked(a, FRAME_SKIP_MISSING);
    for (uint32_t i = 0; !zero && !skip && i < a->measures.n; i++) check_filled(a, &a->measures.items[i]);
    if (zero && skip) return;
    for (uint32_t i = 0; i < a->ratios.n; i++) check_missing_ratio(a, zero, skip, &a->ratios.items[i]);
    if (!zero && !skip) return;
    for (uint32_t i = 0; i < a->measures.n; i++) {
        const struct meaning_term *term = a->measures.items[i].term;
        if (!align_is(term, MEANING_MEASURE, "avg") || !term->n_parts) continue;
        const struct meaning_term *operand = term->parts[0];
        if (fills_zero(operand) && zero)
            align_agree(a, ALIGN_MISSING, zero, term);
        else if (fills_zero(operand) && !drops_missing(a->measures.items[i].owner, operand->parts[0]))
            align_differ(a, ALIGN_MISSING, skip, term, true,
                         "the question leaves missing values out, but the average counts them as 0");
        else if (zero && may_be_missing(a, operand))
            align_differ(a, ALIGN_MISSING, zero, term, true,
                         "the question counts missing values as 0, but the average leaves them out");
    }
}

/* --- ratio of totals, average of ratios --- */

/* True if the term contains a division. *steps limits the work, because each query of a chain may use a column twice,
 * which doubles the work. */
static bool has_quotient(const struct meaning_term *term, unsigned *steps)
{
    if (!*steps) return false;
    --*steps;
    term = meaning_follow(term, NULL);
    if (term->kind == MEANING_RATIO || align_is(term, MEANING_OPERATION, "/")) return true;
    bool wraps = align_is(term, MEANING_OPERATION, "*") || term->kind == MEANING_CALL;
    for (uint32_t i = 0; wraps && i < term->n_parts; i++)
        if (has_quotient(term->parts[i], steps)) return true;
    return false;
}

static bool is_quotient(const struct meaning_term *term)
{
    unsigned steps = MOST_STEPS;
    return has_quotient(term, &steps);
}

static bool is_total(const struct meaning_term *term)
{
    return align_is(term, MEANING_MEASURE, "sum") || align_is(term, MEANING_MEASURE, "count");
}

/* Checks "weighted by x". It requires the sum of the products divided by the sum of the weights, not an average of
 * products. */
static void check_weights(struct aligner *a, const struct frame_element *asked)
{
    for (uint32_t i = 0; i < a->measures.n; i++) {
        const struct meaning_term *term = a->measures.items[i].term;
        if (align_is(term, MEANING_MEASURE, "avg") && term->n_parts &&
            align_is(meaning_follow(term->parts[0], NULL), MEANING_OPERATION, "*"))
            align_differ(a, ALIGN_LEVEL, asked, term, true,
                         "a weighted average is the sum of the products divided by the sum of the weights");
    }
}

void align_level(struct aligner *a)
{
    const struct frame_element *pooled = align_asked(a, FRAME_POOLED), *each = align_asked(a, FRAME_MEAN_EACH);
    const struct meaning_term *nested = NULL, *plain = NULL, *totals = NULL;
    if (pooled && align_says(a, pooled, "weighted")) check_weights(a, pooled);
    if (!pooled == !each) return;
    for (uint32_t i = 0; i < a->measures.n; i++) {
        const struct meaning_term *term = a->measures.items[i].term;
        if (!align_is(term, MEANING_MEASURE, "avg") || !term->n_parts) continue;
        const struct meaning_term *operand = meaning_follow(term->parts[0], NULL);
        bool inner = is_quotient(operand) || operand->kind == MEANING_MEASURE;
        *(inner ? &nested : &plain) = term;
    }
    for (uint32_t i = 0; i < a->ratios.n; i++) {
        const struct meaning_term *term = a->ratios.items[i].term;
        if (is_total(term->parts[0])) totals = term;
    }
    if (pooled && nested && is_quotient(nested->parts[0]))
        align_differ(a, ALIGN_LEVEL, pooled, nested, true,
                     "the question asks for a ratio of totals, but the query averages ratios");
    else if (pooled && totals)
        align_agree(a, ALIGN_LEVEL, pooled, totals);
    else if (each && nested)
        align_agree(a, ALIGN_LEVEL, each, nested);
    else if (each && (totals || plain))
        align_differ(a, ALIGN_LEVEL, each, totals ? totals : plain, false,
                     "the question averages a value of each thing, but the query takes all rows together");
}

/* --- shares --- */

static bool has_condition(const struct meaning *m, const struct meaning_term *condition)
{
    for (uint32_t i = 0; i < m->n_conditions; i++)
        if (m->conditions[i]->hash == condition->hash) return true;
    return false;
}

static bool is_join(const struct meaning_term *condition)
{
    return align_is(condition, MEANING_OPERATION, "=") && condition->parts[0]->kind != MEANING_VALUE &&
           condition->parts[1]->kind != MEANING_VALUE;
}

static bool keeps_all_conditions(const struct meaning *whole, const struct meaning *part)
{
    for (uint32_t i = 0; i < part->n_conditions; i++)
        if (!is_join(part->conditions[i]) && !has_condition(whole, part->conditions[i])) return false;
    return true;
}

/* Checks the share of each group: a measure of the group's rows divided by the same measure of a subquery. */
static void check_whole(struct aligner *a, const struct frame_element *asked, const struct align_part *part)
{
    const struct meaning_term *top = part->term->parts[0], *bottom = part->term->parts[1];
    if (!is_total(top) || top->rows || !meaning_is_subquery(bottom) || part->owner->grain != MEANING_KEYS) return;
    if (align_is_correlated(bottom->relation))
        align_differ(a, ALIGN_WHOLE, asked, bottom, false,
                     "the share is taken of a group, so the shares of all groups do not add up to the whole");
    else if (!keeps_all_conditions(bottom->relation, part->owner))
        align_differ(a, ALIGN_WHOLE, asked, bottom, false,
                     "the whole of the share has other rows than its parts: a condition of the query is missing in it");
    else
        align_agree(a, ALIGN_WHOLE, asked, bottom);
}

void align_whole(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_SHARE);
    for (uint32_t i = 0; asked && i < a->ratios.n; i++) check_whole(a, asked, &a->ratios.items[i]);
}

/* Returns 1 if the condition selects rows that have something, -1 if it selects rows that lack it, 0 if unknown. */
static int polarity_of(const struct aligner *a, const struct meaning_term *rows)
{
    if (!rows || rows->kind != MEANING_OPERATION) return 0;
    if (g_str_equal(rows->name, "is null")) return -1;
    if (g_str_equal(rows->name, "is not null")) return 1;
    const struct schema_column *column = rows->n_parts == 2 ? align_column(a, rows->parts[0]) : NULL;
    bool flag = column && column->stats.distinct <= 2 && !column->stats.sampled && column->stats.ints;
    if (!flag || !g_str_equal(rows->name, "=")) return 0;
    return align_is(rows->parts[1], MEANING_VALUE, "1") ? 1 : align_is(rows->parts[1], MEANING_VALUE, "0") ? -1 : 0;
}

/* Returns the polarity of a numerator. COUNT(x) counts the rows that have x, and COUNT(*) - COUNT(x) counts the rows
 * that lack it. */
static int polarity_of_part(const struct aligner *a, const struct meaning_term *part)
{
    if (align_is(part, MEANING_OPERATION, "-") && part->n_parts == 2 &&
        align_is(part->parts[0], MEANING_MEASURE, "count"))
        return -polarity_of_part(a, part->parts[1]);
    if (part->kind != MEANING_MEASURE) return 0;
    if (part->rows) return polarity_of(a, part->rows);
    return align_is(part, MEANING_MEASURE, "count") && part->n_parts && may_be_missing(a, part->parts[0]);
}

static bool is_negated_after(const struct question *question, uint32_t token)
{
    for (int cue = question_cue_next(question, QUESTION_CUE_NOT, 0); cue >= 0;
         cue = question_cue_next(question, QUESTION_CUE_NOT, (uint32_t)cue + 1))
        if (question->cues[cue].first >= token && !question->cues[cue].weak && !question->cues[cue].part) return true;
    return false;
}

void align_complement(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_SHARE);
    if (!asked || !is_negated_after(a->question, asked->first)) return;
    for (uint32_t i = 0; i < a->ratios.n; i++) {
        const struct meaning_term *top = a->ratios.items[i].term->parts[0];
        int polarity = polarity_of_part(a, top);
        if (polarity > 0)
            align_differ(a, ALIGN_COMPLEMENT, asked, top, false,
                         "the question asks for the share of those without it, but the query counts those with it");
        else if (polarity < 0)
            align_agree(a, ALIGN_COMPLEMENT, asked, top);
    }
}

/* --- changes --- */

/* The dates of the rows of a measure. `period` is "2023" for SUM(x) FILTER (WHERE year = 2023). `from` is '2024-04-01'
 * for rows from that day on. */
struct date_bounds {
    const char *period, *from, *before;
    uint64_t column; /* hash of the date column */
};

static void add_bound(struct date_bounds *bounds, const struct meaning_term *condition)
{
    if (condition->kind != MEANING_OPERATION || condition->n_parts != 2 || condition->parts[1]->kind != MEANING_VALUE)
        return;
    const char *value = condition->parts[1]->name;
    bool year = g_str_equal(condition->name, "=") && strspn(value, "0123456789") == 4 && value[4] == '\0';
    const char **bound = year                                        ? &bounds->period
                         : condition->name[0] == '>'                 ? &bounds->from
                         : condition->name[0] == '<'                 ? &bounds->before
                         : strcmp(condition->name, "in period") == 0 ? &bounds->period
                                                                     : NULL;
    if (!bound || strcmp(condition->name, "<>") == 0) return;
    *bound = condition->parts[1]->name;
    bounds->column = condition->parts[0]->hash;
}

/* True if two columns belong to one instance of a table: "sales#2.year" and "sales#2.amount". */
static bool is_one_instance(const struct meaning_term *one, const struct meaning_term *two)
{
    const char *dot = strrchr(one->name, '.');
    size_t len = dot ? (size_t)(dot + 1 - one->name) : 0;
    return len && strncmp(one->name, two->name, len) == 0 && !strchr(two->name + len, '.');
}

static void add_instance_bounds(const struct aligner *a, struct date_bounds *out, const struct meaning_term *column,
                                const struct meaning_term *condition)
{
    if (align_is(condition, MEANING_OPERATION, "and"))
        for (uint32_t i = 0; i < condition->n_parts; i++) add_instance_bounds(a, out, column, condition->parts[i]);
    const struct meaning_term *left = condition->n_parts == 2 ? condition->parts[0] : NULL;
    while (left && left->kind != MEANING_COLUMN && left->n_parts == 1) left = left->parts[0];
    const struct schema_column *base = left && left->kind == MEANING_COLUMN ? align_column(a, left) : NULL;
    if (!base || !is_one_instance(column, left)) return;
    add_bound(out, condition);
    if (out->period || out->from || out->before) out->column = (uint64_t)base->id + 1;
}

/* Returns the dates of the rows that one instance of a table gives, such as 2022 for: sales AS old ON old.year =
 * 2022. */
static struct date_bounds bounds_of_instance(const struct aligner *a, const struct meaning_term *column)
{
    struct date_bounds out = {NULL};
    for (uint32_t r = 0; r < a->n_relations; r++) {
        const struct meaning *m = a->relations[r];
        for (uint32_t i = 0; i < m->n_conditions; i++) add_instance_bounds(a, &out, column, m->conditions[i]);
        for (uint32_t i = 0; i < m->n_sources; i++)
            if (m->sources[i].on) add_instance_bounds(a, &out, column, m->sources[i].on);
    }
    return out;
}

static struct date_bounds bounds_of(const struct aligner *a, const struct meaning_term *term)
{
    struct date_bounds out = {NULL};
    term = meaning_follow(term, NULL);
    if (term->kind == MEANING_COLUMN && align_column(a, term)) return bounds_of_instance(a, term);
    const struct meaning_term *rows = term->kind == MEANING_MEASURE ? term->rows : NULL;
    bool counts = align_is(term, MEANING_MEASURE, "sum") && !rows && term->n_parts == 1;
    if (counts) rows = term->parts[0]; /* a sum of a condition: SUM(date >= '2024-04-01') */
    if (align_is(rows, MEANING_OPERATION, "and"))
        for (uint32_t i = 0; i < rows->n_parts; i++) add_bound(&out, rows->parts[i]);
    else if (rows)
        add_bound(&out, rows);
    return out;
}

static bool is_earlier(const struct aligner *a, const struct meaning_term *left, const struct meaning_term *right)
{
    struct date_bounds one = bounds_of(a, left), two = bounds_of(a, right);
    if (one.column && one.column == two.column) {
        if (one.period && two.period) return strcmp(one.period, two.period) < 0;
        if (one.from && two.from) return strcmp(one.from, two.from) < 0;
        return one.before && two.from && strcmp(one.before, two.from) <= 0;
    }
    return align_step_of(meaning_follow(left, NULL)) < 0 && align_step_of(meaning_follow(right, NULL)) >= 0;
}

/* True if the question requests a decrease, which is the earlier value minus the later one. */
static bool asks_for_decrease(const struct aligner *a)
{
    static const char *const stems[] = {"decreas", "declin", "drop",   "fall", "fell",
                                        "fallen",  "shrink", "reduct", "loss", "shrank"};
    static const char *const others[] = {"growth", "grow", "grew", "increas", "rise", "rose", "chang"};
    bool decrease = false;
    for (size_t i = 0; i < G_N_ELEMENTS(stems); i++) decrease |= question_has(a->question, stems[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) decrease &= !question_has(a->question, others[i]);
    return decrease;
}

/* Checks a change that is computed from a quotient. "new / old - 1" is growth. "1 - old / new" is relative to the new
 * value. */
static void check_quotient(struct aligner *a, const struct frame_element *asked, const struct meaning_term *minus)
{
    if (minus->n_parts != 2) return;
    const struct meaning_term *left = meaning_follow(minus->parts[0], NULL),
                              *right = meaning_follow(minus->parts[1], NULL);
    bool growth = left->kind == MEANING_RATIO && right->kind == MEANING_VALUE;
    const struct meaning_term *ratio = growth ? left : right;
    if (!growth && (left->kind != MEANING_VALUE || right->kind != MEANING_RATIO)) return;
    const struct meaning_term *top = ratio->parts[0], *bottom = ratio->parts[1];
    if (is_earlier(a, top, bottom))
        align_differ(a, ALIGN_BASE, asked, minus, true,
                     "the change is divided by the later value; growth is relative to the earlier value");
    else if (growth && is_earlier(a, bottom, top))
        align_agree(a, ALIGN_BASE, asked, minus);
}

/* Returns the difference that a numerator contains: new - old in 100.0 * (new - old). Returns NULL if there is none. */
static const struct meaning_term *minus_in(const struct meaning_term *top)
{
    top = meaning_follow(top, NULL);
    if (!align_is(top, MEANING_OPERATION, "*"))
        return align_is(top, MEANING_OPERATION, "-") && top->n_parts == 2 ? top : NULL;
    for (uint32_t i = 0; i < top->n_parts; i++) {
        const struct meaning_term *part = meaning_follow(top->parts[i], NULL);
        if (align_is(part, MEANING_OPERATION, "-") && part->n_parts == 2) return part;
    }
    return NULL;
}

/* Checks a change of the form (new - old) / old. */
static void check_base(struct aligner *a, const struct frame_element *asked, const struct meaning_term *term)
{
    const struct meaning_term *minus = term->n_parts == 2 ? minus_in(term->parts[0]) : NULL;
    if (!minus) return;
    uint64_t bottom = term->parts[1]->hash;
    if (is_earlier(a, minus->parts[0], minus->parts[1]))
        align_differ(a, ALIGN_BASE, asked, term, true, "the change is the earlier value less the later value");
    else if (bottom == minus->parts[0]->hash &&
             (term->kind == MEANING_RATIO || is_earlier(a, minus->parts[1], minus->parts[0])))
        align_differ(a, ALIGN_BASE, asked, term, true,
                     "the change is divided by the later value; growth is relative to the earlier value");
    else if (bottom == minus->parts[1]->hash)
        align_agree(a, ALIGN_BASE, asked, term);
}

void align_base(struct aligner *a)
{
    const struct frame_element *asked = asks_for_decrease(a) ? NULL : align_asked(a, FRAME_CHANGE);
    for (uint32_t i = 0; asked && i < a->minuses.n; i++) check_quotient(a, asked, a->minuses.items[i].term);
    for (uint32_t i = 0; asked && i < a->ratios.n; i++) check_base(a, asked, a->ratios.items[i].term);
    for (uint32_t i = 0; asked && i < a->divisions.n; i++) check_base(a, asked, a->divisions.items[i].term);
}

/* --- differences --- */

static void check_order(struct aligner *a, const struct frame_element *asked, const struct meaning_term *term,
                        int order)
{
    if (order > 0) align_agree(a, ALIGN_SIDES, asked, term);
    if (order < 0)
        align_differ(a, ALIGN_SIDES, asked, term, false, "the query swaps the two sides that the question names");
}

/* True for words that set no order: "the difference between" two amounts may subtract either from the other. */
static bool is_without_order(const struct aligner *a, const struct frame_element *asked)
{
    static const char *const words[] = {"difference", "differences", "differ", "differs", "gap", "between", "spread"};
    return align_says_any(a, asked, words, G_N_ELEMENTS(words));
}

/* True if the question requests the second part minus the first, as in "how many fewer came by web than by phone". */
static bool asks_for_fewer(const struct aligner *a, const struct frame_element *asked)
{
    static const char *const words[] = {"fewer", "less", "lower", "smaller", "cheaper", "shorter"};
    return !align_says(a, asked, "minus") && align_says_any(a, asked, words, G_N_ELEMENTS(words)) &&
           (align_says(a, asked, "many") || align_says(a, asked, "much"));
}

void align_sides(struct aligner *a)
{
    const struct frame_element *asked = align_asked(a, FRAME_DIFFERENCE);
    for (uint32_t i = 0; asked && !is_without_order(a, asked) && i < a->minuses.n; i++) {
        const struct meaning_term *term = a->minuses.items[i].term;
        if (term->n_parts != 2 || align_is_date(a, term->parts[0]) || align_is_date(a, term->parts[1])) continue;
        int order = align_order_of_terms(a, term->parts[0], term->parts[1]);
        check_order(a, asked, term, asks_for_fewer(a, asked) ? -order : order);
    }
    int negation = question_cue_next(a->question, QUESTION_CUE_NOT, 0);
    for (uint32_t i = 0; negation >= 0 && i < a->n_relations; i++) {
        const struct meaning *m = a->relations[i];
        if (!m->set || !g_str_equal(m->set, "except") || m->n_sides != 2) continue;
        check_order(a, NULL, NULL, align_order_around(a, m->sides[0], m->sides[1], a->question->cues[negation].first));
    }
}

/* --- different things --- */

/* True for "how many different X": a cue of distinctness closely follows a cue of counting. */
static bool counts_different(const struct question *question)
{
    for (uint32_t i = 0; i + 1 < question->n_cues; i++) {
        const struct question_cue *count = &question->cues[i], *next = count + 1;
        if (count->kind == QUESTION_CUE_COUNT && next->kind == QUESTION_CUE_DISTINCT &&
            next->first - (count->first + count->n_tokens) <= 2)
            return true;
    }
    return false;
}

/* True if a relation inside the query drops repeated values. */
static bool drops_repeats(const struct aligner *a)
{
    for (uint32_t i = 0; i < a->n_relations; i++) {
        const struct meaning *m = a->relations[i];
        if (m->set && !g_str_has_suffix(m->set, " all")) return true;
        if (m != a->meaning && m->grain == MEANING_KEYS) return true;
    }
    return a->queries.n > 0;
}

void align_distinct(struct aligner *a)
{
    const struct meaning_term *repeats = NULL;
    if (!counts_different(a->question) || drops_repeats(a)) return;
    for (uint32_t i = 0; i < a->measures.n; i++) {
        const struct meaning_term *term = a->measures.items[i].term;
        if (term->distinct) return;
        const struct schema_column *column = term->n_parts ? align_column(a, term->parts[0]) : NULL;
        if (align_is(term, MEANING_MEASURE, "count") && column && !column->unique) repeats = term;
    }
    if (repeats)
        align_differ(a, ALIGN_DISTINCT, NULL, repeats, true,
                     "the question asks for a count of different things, but the query counts each row");
}

/* --- rows without a value --- */

static bool leaves_null_out(const struct aligner *a, const struct meaning_term *condition)
{
    bool excludes = align_is(condition, MEANING_OPERATION, "<>") || align_is(condition, MEANING_OPERATION, "not in");
    return excludes && condition->n_parts > 1 && may_be_missing(a, condition->parts[0]) &&
           condition->parts[1]->kind == MEANING_VALUE;
}

/* The state of a search for a term that tests a column for NULL. */
struct null_test {
    uint64_t column; /* hash of the column's term */
    bool found;
};

static void look_for_null_test(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    (void)owner;
    struct null_test *test = self;
    bool tests = align_is(term, MEANING_OPERATION, "is null") || align_is(term, MEANING_OPERATION, "is not null");
    test->found |= tests && term->parts[0]->hash == test->column;
}

/* True if the sentence adds the entities at `token` to others: "or have no adjuster", "those without one count too". */
static bool adds_things(const struct text_tokens *tokens, uint32_t token)
{
    static const char *const before[] = {"or", "including", "include", "plus", "even", NULL},
                             *const after[] = {"too", "also", "count", "included", "well", NULL},
                             *const against[] = {"out",     "excluded", "exclude", "ignore",
                                                 "ignored", "skip",     "neither", NULL};
    struct align_run run = sentence_of(tokens, token);
    bool adds = false;
    for (uint32_t i = run.first; i < run.end; i++) {
        const char *word = tokens->items[i].norm;
        if (is_any_word(word, against)) return false;
        if (i > run.first && i > token && text_same(word, "count") && text_same(tokens->items[i - 1].norm, "not"))
            return false;
        adds |= is_any_word(word, i < token ? before : after);
    }
    return adds;
}

static bool says_value_of(const struct aligner *a, const struct meaning_term *condition, const struct align_run *run)
{
    uint32_t token;
    for (uint32_t i = 1; i < condition->n_parts; i++)
        if (align_said_at(a, condition->parts[i], &token) && token >= run->first && token < run->end) return true;
    return false;
}

/* True if the question includes the rows that have no value in the column of the condition: "or do not have an adjuster
 * yet". False if the words after the negation name a value: "or without KR as adjuster". */
static bool includes_missing(const struct aligner *a, const struct meaning_term *condition,
                             const struct schema_column *column)
{
    enum { REACH = 5, VALUE_REACH = 8 };
    const struct text_tokens *tokens = &a->question->tokens;
    for (uint32_t i = 0; i < tokens->n; i++) {
        if (!is_any_word(tokens->items[i].norm, NEGATIONS) || !adds_things(tokens, i)) continue;
        struct align_run run = sentence_of(tokens, i), named = run;
        named.first = run.first = i + 1;
        named.end = MIN(run.end, i + 1 + REACH);
        run.end = MIN(run.end, i + 1 + VALUE_REACH);
        if (align_run_names(a, &named, column) && !says_value_of(a, condition, &run)) return true;
    }
    return false;
}

static void check_null_rows(struct aligner *a, const struct frame_element *zeros, const struct meaning_term *condition)
{
    const struct schema_column *column = align_column(a, meaning_follow(condition->parts[0], NULL));
    struct null_test test = {condition->parts[0]->hash, false};
    bool said = column && includes_missing(a, condition, column);
    if (!zeros && !said) return;
    meaning_visit(a->meaning, &(struct meaning_visitor){.self = &test, .term = look_for_null_test});
    if (!test.found)
        align_differ(a, ALIGN_NULLS, zeros, condition, said,
                     "the question includes those without a value, but the condition is not true of NULL");
}

/* Checks IS DISTINCT FROM, which keeps rows with NULL. "Leaving out those without a town" excludes them. */
static void check_kept_nulls(struct aligner *a, const struct meaning_term *condition)
{
    if (!align_is(condition, MEANING_OPERATION, "is distinct from") || condition->n_parts < 2 ||
        condition->parts[1]->kind != MEANING_VALUE || !may_be_missing(a, condition->parts[0]))
        return;
    if (leaves_out_missing(a, align_column(a, meaning_follow(condition->parts[0], NULL))))
        align_differ(a, ALIGN_NULLS, NULL, condition, true,
                     "the question leaves out those without a value, but the condition is true of NULL");
}

void align_nulls(struct aligner *a)
{
    const struct frame_element *zeros = align_asked(a, FRAME_ZEROS);
    for (uint32_t r = 0; r < a->n_relations; r++)
        for (uint32_t i = 0; i < a->relations[r]->n_conditions; i++) {
            check_kept_nulls(a, a->relations[r]->conditions[i]);
            if (leaves_null_out(a, a->relations[r]->conditions[i]))
                check_null_rows(a, zeros, a->relations[r]->conditions[i]);
        }
}

/* --- rows that UNION drops --- */

static bool has_key(const struct aligner *a, const struct meaning *m)
{
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const struct schema_column *column = align_column(a, m->outputs[i].term);
        if (column && column->unique) return true;
    }
    return false;
}

/* True if the only output is a key, a reference or a name. A union of such columns is a set of entities. */
static bool lists_things(const struct aligner *a, const struct meaning *m)
{
    const struct schema_column *column = m->n_outputs == 1 ? align_column(a, m->outputs[0].term) : NULL;
    return column && (align_names_thing(a, column) || g_str_has_suffix(column->name, "_id") ||
                      g_str_has_suffix(column->name, "Id"));
}

static const struct meaning_term *find_total(const struct meaning *m)
{
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const struct meaning_term *term = m->outputs[i].term;
        if (is_total(term) && !term->distinct) return term;
    }
    return NULL;
}

static void check_union(struct aligner *a, const struct meaning *m, const struct meaning *source)
{
    const struct frame_element *asked = align_asked(a, FRAME_REPEATS);
    const struct meaning_term *total = find_total(m);
    bool distinct = question_cue_any(a->question, 1U << QUESTION_CUE_DISTINCT);
    if (!total || !source->n_sides || has_key(a, source->sides[0])) return;
    bool counts_things =
        m->grain == MEANING_ONE && align_is(total, MEANING_MEASURE, "count") && lists_things(a, source->sides[0]);
    if (g_str_equal(source->set, "union") && !distinct && (asked || !counts_things))
        align_differ(a, ALIGN_REPEATS, asked, total, true,
                     "UNION drops equal rows before they are counted or added up; UNION ALL keeps them");
    else if (g_str_equal(source->set, "union all") && distinct && !asked)
        align_differ(a, ALIGN_REPEATS, NULL, total, false,
                     "the question counts different things, but UNION ALL keeps equal rows");
}

/* True for a relation whose only effect is to drop equal rows: SELECT DISTINCT amount. */
static bool drops_equal_rows(const struct aligner *a, const struct meaning *m)
{
    if (m->set || m->grain != MEANING_KEYS || m->n_keys != m->n_outputs || has_key(a, m)) return false;
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const struct schema_column *column = align_column(a, m->outputs[i].term);
        if (!column || align_names_thing(a, column)) return false;
    }
    return true;
}

static void check_dropped(struct aligner *a, const struct meaning *m, const struct meaning *source)
{
    const struct meaning_term *total = find_total(m);
    bool adds = total && align_is(total, MEANING_MEASURE, "sum");
    if (!adds || !drops_equal_rows(a, source) || question_cue_any(a->question, 1U << QUESTION_CUE_DISTINCT)) return;
    align_differ(a, ALIGN_REPEATS, NULL, total, true, "DISTINCT drops equal rows before they are added up");
}

void align_repeats(struct aligner *a)
{
    for (uint32_t r = 0; r < a->n_relations; r++) {
        const struct meaning *m = a->relations[r];
        for (uint32_t i = 0; m->grain != MEANING_ROWS && i < m->n_sources; i++)
            if (m->sources[i].relation && m->sources[i].relation->set)
                check_union(a, m, m->sources[i].relation);
            else if (m->sources[i].relation)
                check_dropped(a, m, m->sources[i].relation);
    }
}
