/* aggregate_mismatch: compares the aggregates that the question asks for with those of the query.
 *
 * Two tables hold the rules. ASKED: a cue of the question requires one of several aggregates; an average requires AVG
 * or a quotient. The rule fires if the query has none of them, and no column that stores such a number. UNASKED: an
 * aggregate of the query requires one of several cues. The rule fires if neither the question nor the evidence has such
 * a cue. Other checks have their own functions. They find, for example, COUNT without DISTINCT where the question
 * counts different things, and COUNT instead of SUM of a column of quantities. */
#include "signals/support/counted.h"
#include "signals/support/names.h"
#include "signals/support/query.h"

#include <glib.h>
#include <inttypes.h>
#include <string.h>

enum { OPT_UNASKED, OPT_DISTINCT, OPT_TABLE };

#define CUE(kind) (1U << QUESTION_CUE_##kind)
#define AGG(name) (1U << QUERY_##name)

/* Other ways to compute the requested number. For example, a query may find an extreme by sorting, and an average by
 * dividing. */
enum other_way { NO_OTHER_WAY, BY_SORTING = 1, BY_DIVIDING = 2, BY_NUMBER = 4, BY_ADDING = 8 };

static const struct asked_rule {
    enum question_cue_kind cue;
    unsigned aggregates;        /* bits of query_aggregate; one of them in the query is enough */
    unsigned other;             /* bits of enum other_way; one of them in the query is enough */
    const char *const names[6]; /* a column of the query with such a word in its name already stores the number */
    const char *what;
} ASKED[] = {
    {QUESTION_CUE_AVERAGE, AGG(AVG), BY_DIVIDING, {"averag", "avg", "mean", NULL}, "an average"},
    {QUESTION_CUE_TOTAL,
     AGG(SUM) | AGG(COUNT),
     BY_ADDING,
     {"total", "sum", "overal", "number", "amount", NULL},
     "a total"},
    {QUESTION_CUE_COUNT,
     AGG(COUNT) | AGG(SUM),
     BY_NUMBER,
     {"count", "number", "total", "frequenc", "quantiti", NULL},
     "a count"},
    {QUESTION_CUE_MAXIMUM, AGG(MAX), BY_SORTING, {"maximum", "max", "highest", NULL}, "a maximum"},
    {QUESTION_CUE_MINIMUM, AGG(MIN), BY_SORTING, {"minimum", "min", "lowest", NULL}, "a minimum"},
};

static const struct unasked_rule {
    enum query_aggregate aggregate;
    /* true if the rule applies only to aggregates in the answer, false if it applies anywhere */
    bool in_answer;
    unsigned cues;               /* bits of cues; one of them justifies the aggregate */
    const char *const words[28]; /* folded words of the question or the evidence that also justify it */
    const char *what;
} UNASKED[] = {
    {QUERY_AVG,
     false,
     CUE(AVERAGE) | CUE(RATIO),
     {"average", "averag", "avg", "mean", "typical", "typically", "normally", "usually", NULL},
     "an average"},
    {QUERY_SUM,
     true,
     CUE(TOTAL) | CUE(QUANTITY) | CUE(COUNT) | CUE(RATIO) | CUE(AVERAGE) | CUE(EXTREME),
     {"sum",    "total", "overall", "all",    "how",      "whole", "entire",   "together", "pay",
      "paid",   "spend", "spent",   "earn",   "earned",   "bill",  "billed",   "takings",  "turnover",
      "income", "given", "out",     "funnel", "expenses", "cost",  "invoiced", NULL},
     "a total"},
    {QUERY_COUNT,
     true,
     CUE(COUNT) | CUE(QUANTITY) | CUE(TOTAL) | CUE(RATIO) | CUE(AVERAGE),
     {"many", "often", "number", "count", "times", "size", "frequency", "statistics", "funnel", NULL},
     "a count"},
    {QUERY_MAX,
     true,
     CUE(MAXIMUM) | CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(RATIO) | CUE(COMPARE),
     {"most", "max", "maximum", "highest", "largest", "top", "range", "peak", "end", "record", "recent", NULL},
     "a maximum"},
    {QUERY_MIN,
     true,
     CUE(MINIMUM) | CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(RATIO) | CUE(COMPARE),
     {"least", "min", "minimum", "lowest", "smallest", "range", "start", "ever", "begin", "bottom", NULL},
     "a minimum"},
};

static bool has_aggregate(const struct query_view *view, unsigned aggregates)
{
    for (unsigned i = 0; i < QUERY_AGGREGATES; i++)
        if (aggregates >> i & 1U && view->aggregate[i]) return true;
    return (view->windowed & aggregates) != 0;
}

/* True if the answer shows a number that is not a key. The column "points" answers "how many points". */
static bool shows_number(const struct vsig_subject *subject)
{
    const struct sql_block *answer = query_answer_block(subject);
    for (uint32_t i = 0; answer && i < answer->n_outputs; i++) {
        const struct sql_output *output = &answer->outputs[i];
        if (output->table < 0) {
            if (output->expr && !sql_plain_column(output->expr)) return true;
            continue;
        }
        const struct schema_column *column = subject->schema->tables[output->table].columns + output->column;
        bool number = column->stats.ints + column->stats.reals + column->stats.numeric_texts > 0 ||
                      column->affinity != SCHEMA_TEXT;
        if (number && !column->pk && !schema_is_foreign_key(subject->schema, column->id)) return true;
    }
    return false;
}

static bool other_way(const struct vsig_subject *subject, const struct query_view *view, unsigned other)
{
    if (other & BY_SORTING && (view->any_limit || view->window)) return true;
    if (other & BY_DIVIDING && view->division) return true;
    if (other & BY_ADDING && view->difference) return true;
    return other & BY_NUMBER && shows_number(subject);
}

/* True if the cue is part of a requested output, not of a condition or an order. */
static bool in_asked_list(const struct question *question, const struct question_cue *cue)
{
    for (uint32_t i = 0; i < question->n_outputs; i++)
        if (cue->first < question->outputs[i].first + question->outputs[i].n_tokens &&
            cue->first + cue->n_tokens > question->outputs[i].first)
            return true;
    return false;
}

/* Returns a cue of this kind that is not weak, or NULL. With `in_list`, the cue must be part of a requested output. */
static const struct question_cue *sure_cue(const struct question *question, enum question_cue_kind kind, bool in_list)
{
    for (int i = question_cue_next(question, kind, 0); i >= 0; i = question_cue_next(question, kind, (uint32_t)i + 1))
        if (!question->cues[i].weak && (!in_list || in_asked_list(question, &question->cues[i])))
            return &question->cues[i];
    return NULL;
}

static void check_asked(struct vsig_run *run, const struct query_view *view)
{
    const struct vsig_subject *subject = run->subject;
    for (size_t i = 0; i < G_N_ELEMENTS(ASKED); i++) {
        const struct asked_rule *rule = &ASKED[i];
        if (!sure_cue(subject->analysis, rule->cue, rule->cue == QUESTION_CUE_COUNT) ||
            has_aggregate(view, rule->aggregates))
            continue;
        if (other_way(subject, view, rule->other) || query_uses_name(subject, rule->names)) continue;
        vsig_fire(run, VSIG_ERROR, view->items, "the question asks for %s, but the query does not compute one",
                  rule->what);
    }
}

/* Reports "the total amount" computed as COUNT(amount). */
static void check_total_counted(struct vsig_run *run, const struct query_view *view)
{
    struct vsig_counted_things things;
    const struct question *question = run->subject->analysis;
    bool total = question_cue_any(question, CUE(TOTAL)) || question_has(question, "total");
    if (view->aggregate[QUERY_SUM] || !total || question->cue_counts[QUESTION_CUE_COUNT]) return;
    vsig_counted_look(run->subject, &things);
    if (things.amounts && run->subject->analysis->column_score[things.amount->id] > 0.6F)
        vsig_fire(run, VSIG_ERROR, things.amounts, "the question asks for a total of %s, but the query counts its rows",
                  things.amount->name);
}

static bool says_word(const struct question *question, const char *const *words)
{
    for (; *words; words++)
        if (question_has(question, *words)) return true;
    return false;
}

/* True if the question implies a sum or a count for each group: "wages by carer", "the tickets of each show". */
static bool is_implied(const struct vsig_subject *subject, enum query_aggregate aggregate, const struct sql_node *call)
{
    static const char *const EACH[] = {"per", "by", "each", "every", "its", "their", "all", NULL};
    const struct sql_block *block = sql_block_of(subject->bound, call);
    bool adds = aggregate == QUERY_SUM || aggregate == QUERY_COUNT;
    return adds && block && sql_is(block->node, SQL_SELECT) && sql_kid(block->node, SELECT_GROUP) &&
           says_word(subject->analysis, EACH);
}

/* True if HAVING has the same aggregate: for "players with more than one transfer", the answer may also show the
 * number. */
static bool is_of_condition(const struct vsig_subject *subject, const struct sql_node *call)
{
    const struct sql_block *block = sql_block_of(subject->bound, call);
    const struct sql_node *having =
        block && sql_is(block->node, SQL_SELECT) ? sql_kid(block->node, SELECT_HAVING) : NULL;
    for (const struct sql_node *n = having; n; n = sql_walk(having, n))
        if (query_aggregate_of(n) == query_aggregate_of(call)) return true;
    return false;
}

/* True for a SUM that counts rows, such as SUM(home > away). */
static bool counts_by_sum(const struct sql_node *call)
{
    const struct sql_node *operand = sql_kid(sql_kid(call, CALL_ARGS), 0);
    bool comparison = sql_is(operand, SQL_BINARY) && sql_is_comparison(operand->op);
    return comparison || query_is_conditional_count(call);
}

static void check_unasked(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    if (vsig_opt(run, OPT_UNASKED) < 0.5) return;
    for (size_t i = 0; i < G_N_ELEMENTS(UNASKED); i++) {
        const struct unasked_rule *rule = &UNASKED[i];
        const struct sql_node *call = (rule->in_answer ? view->answer : view->aggregate)[rule->aggregate];
        if (!call || question->cue_kinds & rule->cues || says_word(question, rule->words)) continue;
        if (is_implied(run->subject, rule->aggregate, call) || is_of_condition(run->subject, call)) continue;
        if (rule->aggregate == QUERY_SUM && counts_by_sum(call)) continue;
        const struct sql_block *block = sql_block_of(run->subject->bound, call);
        vsig_fire(run, block && block->grouped ? VSIG_WARNING : VSIG_ERROR, call,
                  "the query computes %s, but the question does not ask for one", rule->what);
    }
}

/* True for "how many different X": a cue for distinct values shortly after a cue for a count. */
static bool counts_different(const struct question *question)
{
    for (uint32_t i = 0; i + 1 < question->n_cues; i++)
        if (question->cues[i].kind == QUESTION_CUE_COUNT && question->cues[i + 1].kind == QUESTION_CUE_DISTINCT &&
            question->cues[i + 1].first - (question->cues[i].first + question->cues[i].n_tokens) <= 2)
            return true;
    return false;
}

static bool is_key_count(const struct vsig_subject *subject, const struct sql_node *count)
{
    const struct sql_block *block = sql_block_of(subject->bound, count);
    const struct sql_node *args = sql_kid(count, CALL_ARGS);
    const struct schema_column *column = query_column(subject, sql_kid(args, 0));
    if (!block || block->n_sources != 1) return false;
    const struct sql_source *source = &block->sources[0];
    if (count->flags & SQL_F_STAR || !column) /* COUNT(*) counts the rows of the requested thing */
        return source->of || (source->table >= 0 && subject->analysis->table_score[source->table] > 0.9F);
    return column->unique;
}

static void check_distinct(struct vsig_run *run, const struct query_view *view)
{
    const struct sql_node *count = view->answer[QUERY_COUNT];
    if (vsig_opt(run, OPT_DISTINCT) < 0.5 || !count || !counts_different(run->subject->analysis)) return;
    if (view->distinct || view->group || view->compound[QUERY_UNION] || view->compound[QUERY_INTERSECT] ||
        view->compound[QUERY_EXCEPT] || is_key_count(run->subject, count))
        return;
    vsig_fire(run, VSIG_ERROR, count,
              "the question asks for a count of distinct values, but the query counts every row");
}

/* Reports a sum or average without a meaning: of keys, or of texts that are not numbers. */
static void check_argument(struct vsig_run *run, const struct sql_node *call)
{
    const struct schema_column *column = call ? query_column(run->subject, sql_kid(sql_kid(call, CALL_ARGS), 0)) : NULL;
    if (!column) return;
    const struct schema_stats *stats = &column->stats;
    bool scannable = run->subject->schema->tables[column->table].scannable;
    if (stats->sampled && scannable) return; /* tables without data in the index still have their keys */
    bool texts = stats->texts > 0 && stats->ints + stats->reals + stats->numeric_texts == 0;
    bool key = column->pk || schema_is_foreign_key(run->subject->schema, column->id);
    if (!texts && !key) return;
    vsig_fire(run, VSIG_ERROR, call, "the column %s.%s contains %s, so its sum or average is meaningless",
              run->subject->schema->tables[column->table].name, column->name, key ? "keys" : "texts");
}

/* Reports SUM(DISTINCT amount), which adds equal amounts only once. It fires only if the data have equal amounts. */
static void check_distinct_sum(struct vsig_run *run, const struct sql_node *call)
{
    const struct schema_column *column = call ? query_column(run->subject, sql_kid(sql_kid(call, CALL_ARGS), 0)) : NULL;
    if (!column || !(call->flags & SQL_F_DISTINCT) || column->unique || column->stats.sampled) return;
    if (question_cue_any(run->subject->analysis, CUE(DISTINCT))) return;
    uint64_t filled = column->stats.rows - column->stats.nulls;
    if (column->stats.distinct >= filled) return;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, call, "DISTINCT drops equal values before they are added up or averaged");
    vsig_add_fact(run, finding, "values, all and different", true, "%" PRIu64 ", %" PRIu64, filled,
                  column->stats.distinct);
}

/* True if the column has the name of a key of a table that the question names, or refers to such a key. Counting
 * "different meters" by the serial number in readings is then correct. */
static bool is_key_of_named(const struct vsig_subject *subject, const struct schema_column *column)
{
    const struct schema_index *schema = subject->schema;
    for (uint32_t t = 0; t < schema->n_tables; t++) {
        if (subject->analysis->table_score[t] < 0.6F) continue;
        for (uint32_t c = 0; c < schema->tables[t].n_columns; c++) {
            const struct schema_column *key = &schema->tables[t].columns[c];
            bool derived = false;
            if ((key->pk || key->unique) &&
                (sql_name_is(key->name, strlen(key->name), column->name, strlen(column->name)) ||
                 schema_join_between(schema, key->id, column->id, &derived)))
                return true;
        }
    }
    return false;
}

/* True if a word of the column's name abbreviates a word directly after the cue for the count: op_id for "how many
 * different operators". */
static bool is_short_for_counted(const struct question *question, const struct schema_column *column)
{
    static const char *const KEYS[] = {"id", "ids", "no", "nr", "code", "key", "number", "num", NULL};
    enum { REACH = 3 };
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind != QUESTION_CUE_COUNT && cue->kind != QUESTION_CUE_DISTINCT) continue;
        uint32_t first = cue->first + cue->n_tokens, end = MIN(first + REACH, question->tokens.n);
        for (uint32_t t = first; t < end && question->tokens.items[t].kind == TEXT_WORD; t++)
            for (uint32_t w = 0; w < column->words.n && !question->tokens.items[t].is_stop; w++)
                if (!g_strv_contains(KEYS, column->words.items[w].norm) &&
                    vsig_abbreviates(column->words.items[w].norm, question->tokens.items[t].norm))
                    return true;
    }
    return false;
}

/* Reports COUNT(DISTINCT column) if neither the question nor the evidence refers to the column. Accepts keys of the
 * counted things. */
static void check_counted(struct vsig_run *run, const struct query_view *view)
{
    const struct vsig_subject *subject = run->subject;
    const struct sql_node *count = view->aggregate[QUERY_COUNT];
    if (!count || !(count->flags & SQL_F_DISTINCT)) return;
    const struct schema_column *column = query_column(subject, sql_kid(sql_kid(count, CALL_ARGS), 0));
    if (!column || column->unique || query_is_generic(subject, column)) return;
    if (subject->analysis->column_score[column->id] > 0 || is_key_of_named(subject, column)) return;
    if (subject->analysis->evidence_score && subject->analysis->evidence_score[column->id] > 0.4F) return;
    if (is_short_for_counted(subject->analysis, column)) return;
    vsig_fire(run, VSIG_ERROR, count,
              "the query counts the distinct values of %s.%s, but the question does not mention that column",
              subject->schema->tables[column->table].name, column->name);
}

/* True if the mention directly follows a cue for a count, a comparison, an extreme or a ratio. */
static bool follows_count(const struct question *question, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        static const unsigned kinds = CUE(COUNT) | CUE(COMPARE) | CUE(EXTREME) | CUE(RATIO);
        if (!(kinds >> cue->kind & 1U)) continue;
        uint32_t end = cue->first + cue->n_tokens;
        if (cue->number >= 0 && question->values[cue->number].first >= end)
            end = question->values[cue->number].first + 1;
        uint32_t reach = cue->kind == QUESTION_CUE_RATIO ? 2 : 1; /* reaches "repairs" in "percentage of the repairs" */
        if (mention->first >= end && mention->first - end <= reach) return true;
    }
    return false;
}

static bool overlap(const struct question_mention *a, const struct question_mention *b)
{
    return a->first < b->first + b->n_tokens && a->first + a->n_tokens > b->first;
}

/* True if the words of the mention also name a table of the query or one of its columns. */
static bool names_a_source(const struct vsig_subject *subject, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < subject->analysis->n_mentions; i++) {
        const struct question_mention *other = &subject->analysis->mentions[i];
        if (overlap(mention, other) && query_reads_table(subject, other->table)) return true;
    }
    return false;
}

static bool table_in_reach(const struct vsig_subject *subject, uint32_t table)
{
    for (uint32_t b = 0; b < subject->bound->n_blocks; b++) {
        const struct sql_block *block = subject->bound->blocks[b];
        for (uint32_t s = 0; s < block->n_sources; s++) {
            const struct sql_source *source = &block->sources[s];
            if (source->table < 0 || source->table == (int)table) return true;
            for (uint32_t j = 0; j < subject->schema->n_joins;
                 j++) { /* rows that refer to that table can stand for its rows */
                const struct schema_join *join = &subject->schema->joins[j];
                if (join->from_table == (uint32_t)source->table && join->to_table == table) return true;
            }
        }
    }
    return false;
}

/* Returns a COUNT, or SUM(CASE WHEN ... THEN 1 ELSE 0 END). */
static const struct sql_node *count_of_rows(const struct query_view *view)
{
    const struct sql_node *sum = view->aggregate[QUERY_SUM];
    return view->aggregate[QUERY_COUNT] ? view->aggregate[QUERY_COUNT] : query_is_conditional_count(sum) ? sum : NULL;
}

/* Reports a query that counts rows for "how many tracks" or "the most tracks", but does not read the table of the
 * tracks. */
static void check_counted_table(struct vsig_run *run, const struct query_view *view)
{
    const struct vsig_subject *subject = run->subject;
    const struct question *question = subject->analysis;
    const struct sql_node *count = count_of_rows(view);
    if (!count || vsig_opt(run, OPT_TABLE) < 0.5) return;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column >= 0 || m->score < 0.99 || !m->exact || !follows_count(question, m)) continue;
        if (table_in_reach(subject, (uint32_t)m->table) || names_a_source(subject, m)) continue;
        vsig_fire(run, VSIG_ERROR, count, "the question asks for a count of %s, but the query does not read that table",
                  subject->schema->tables[m->table].name);
        return;
    }
}

static enum err_code aggregate_mismatch_eval(struct vsig_run *run)
{
    struct query_view view;
    if (query_foreign(run)) return ERR_OK;
    query_look(run->subject, &view);
    if (!view.items) return ERR_OK;
    check_argument(run, view.aggregate[QUERY_SUM]);
    check_argument(run, view.aggregate[QUERY_AVG]);
    check_distinct_sum(run, view.aggregate[QUERY_SUM]);
    check_distinct_sum(run, view.aggregate[QUERY_AVG]);
    check_counted(run, &view);
    check_counted_table(run, &view);
    check_asked(run, &view);
    check_total_counted(run, &view);
    check_unasked(run, &view);
    check_distinct(run, &view);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_UNASKED] = {"unasked", 1, 0, 1, "also report aggregates that the question does not ask for"},
    [OPT_DISTINCT] = {"distinct", 1, 0, 1,
                      "also report COUNT without DISTINCT if the question asks for a count of distinct values"},
    [OPT_TABLE] = {"counted_table", 1, 0, 1,
                   "also report a query that does not read the table whose rows the question counts"},
    {NULL},
};

const struct vsig_def vsig_aggregate_mismatch = {
    .id = VSIG_ID_aggregate_mismatch,
    .name = "aggregate_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence =
        "the query lacks a count, average, total or extreme that the question asks for, or computes an unrequested one",
    .description = "The question names a computation (how many, average, total, maximum ...) that is missing from the "
                   "query. Or the query returns an aggregate that the question does not ask for.",
    .example = "What is the average age of all pilots? - SELECT age FROM pilot",
    .instruction = "Compute exactly what the question names, and remove aggregates that it does not ask for.",
    .options = OPTIONS,
    .eval = aggregate_mismatch_eval,
};
