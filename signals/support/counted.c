/* Compares what a query counts with what the question asks for: rows, or the numbers that a column holds.
 *
 * The words after "how many", "the number of" or "the most" name the counted things. They are compared with the table
 * whose rows the query counts, and with columns that already hold the number. Such a column holds numbers, and it is
 * not a key, code, year or rank. Scores are those of the question's mentions, between 0 and 1. */
#include "signals/support/counted.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/names.h"
#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_COUNTS = 16, MAX_NOUN = 3, MIN_ROWS = 2 };

/* Things that seldom have their own rows, and words in the names of columns that hold their number. All words are
 * stems. */
static const struct {
    const char *const said[8], *const held[6];
} HELD[] = {
    {{"peopl", "inhabit", "resid", "citizen", "person", "human", NULL}, {"popul", "inhabit", "resid", NULL}},
    {{"employe", "employee", "staff", "worker", "personnel", NULL}, {"employe", "employee", "staff", "worker", NULL}},
    {{"seat", "place", "spot", NULL}, {"seat", "capac", NULL}},
    {{"spectat", "spectator", "fan", "viewer", "audienc", NULL}, {"attend", "viewer", "audienc", "spectat", NULL}},
    {{"passeng", "passenger", "travel", NULL}, {"passeng", "passenger", NULL}},
    {{"unit", "item", "piec", "copi", NULL}, {"quantiti", "qti", "amount", NULL}},
};

bool vsig_holds_amounts(const struct vsig_subject *subject, const struct schema_column *column)
{
    static const char *const NO_AMOUNT[] = {"id",     "code",    "year",  "date",   "time",  "rank",
                                            "number", "no",      "posit", "phone",  "zip",   "month",
                                            "day",    "version", "round", "season", "level", NULL};
    static const char *const AMOUNT_OF[] = {"of", "total", NULL};
    static const char *const AMOUNTS[] = {"quantiti", "qti",    "amount", "price", "cost",
                                          "salari",   "balanc", "fee",    NULL};
    const struct schema_stats *stats = &column->stats;
    bool numbers = stats->ints + stats->reals > 0 && !stats->texts && !stats->blobs;
    bool texts =
        stats->texts && stats->numeric_texts == stats->texts && !stats->blobs && query_name_has(column, AMOUNTS);
    if (!(numbers || texts) || column->pk || (column->unique && !column->unique_measured) ||
        schema_is_foreign_key(subject->schema, column->id))
        return false;
    if (numbers && !(stats->max.type == DB_FLOAT || (stats->max.type == DB_INT && stats->max.i > 2))) return false;
    if (stats->distinct < 2) return false;
    return !query_name_has(column, NO_AMOUNT) || query_name_has(column, AMOUNT_OF);
}

static bool counts_rows(const struct vsig_subject *subject, const struct sql_node *call)
{
    const struct schema_column *column = query_column(subject, sql_kid(sql_kid(call, CALL_ARGS), 0));
    return (call->flags & SQL_F_STAR) || !column || column->pk || column->unique;
}

static bool has_sum_of(const struct vsig_subject *subject, const struct sql_node *expr,
                       const struct schema_column *column)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n))
        if (query_aggregate_of(n) == QUERY_SUM &&
            query_cast_column(subject, sql_kid(sql_kid(n, CALL_ARGS), 0)) == column)
            return true;
    return false;
}

/* True if the call is the divisor in SUM(x) / COUNT(x), which computes an average. */
static bool divides_its_sum(const struct vsig_subject *subject, const struct sql_node *call,
                            const struct schema_column *column)
{
    for (const struct sql_node *n = call; n->parent && n->parent->kind != SQL_SELECT; n = n->parent)
        if (sql_is(n->parent, SQL_BINARY) && n->parent->op == SQL_OP_DIV && sql_kid(n->parent, 1) == n &&
            has_sum_of(subject, sql_kid(n->parent, 0), column))
            return true;
    return false;
}

/* --- the counted things --- */

struct thing {
    uint32_t first, end; /* range of tokens */
};

/* Finds the words directly after "how many", "the number of" or "the most". */
static bool find_thing(const struct question *question, struct thing *thing)
{
    static const unsigned kinds = 1U << QUESTION_CUE_COUNT;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < question->n_cues; i++) {
            const struct question_cue *cue = &question->cues[i];
            bool fits = pass ? cue->kind == QUESTION_CUE_EXTREME : (kinds >> cue->kind & 1U) != 0;
            if (!fits) continue;
            uint32_t first = cue->first + cue->n_tokens;
            while (first < question->tokens.n && question->tokens.items[first].is_stop) first++;
            uint32_t end = MIN(first + MAX_NOUN, question->tokens.n), at = first;
            while (at < end && question->tokens.items[at].kind == TEXT_WORD && !question->tokens.items[at].is_stop)
                at++;
            *thing = (struct thing){first, at};
            if (at > first) return true;
        }
    return false;
}

static bool touches(const struct question_mention *mention, const struct thing *thing)
{
    return mention->first < thing->end && thing->first < mention->first + mention->n_tokens;
}

/* Returns how well the words of `thing` name the table. */
static float names_table(const struct question *question, const struct thing *thing, int table)
{
    float best = 0;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 && m->table == table && touches(m, thing)) best = MAX(best, (float)m->score);
    }
    return best;
}

/* True if `thing` names the column. Its last words may be words of the column's name, or its first word a usual name
 * for such a number. */
static bool is_held_by(const struct question *question, const struct thing *thing, const struct schema_column *column)
{
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column >= 0 && m->id == column->id && m->exact && m->score > 0.7 && touches(m, thing) &&
            m->first + m->n_tokens >= thing->end)
            return true;
    }
    for (size_t h = 0; h < G_N_ELEMENTS(HELD); h++)
        if (question_token_is(&question->tokens.items[thing->first], HELD[h].said) &&
            query_name_has(column, HELD[h].held))
            return true;
    return false;
}

/* True if a word of `thing` is also a word of the column's name, in the singular or the plural. This holds for
 * "degrees" and degree, but not for "claims" and claimed. */
static bool is_spelled_by(const struct question *question, const struct thing *thing,
                          const struct schema_column *column)
{
    for (uint32_t i = thing->first; i < thing->end; i++)
        for (uint32_t w = 0; w < column->words.n; w++) {
            const char *said = question->tokens.items[i].norm, *word = column->words.items[w].norm;
            const char *longer = strlen(said) > strlen(word) ? said : word, *shorter = longer == said ? word : said;
            size_t len = strlen(shorter);
            if (g_str_has_prefix(longer, shorter) && (!longer[len] || g_str_equal(longer + len, "s"))) return true;
        }
    return false;
}

static bool is_used(const struct vsig_subject *subject, const struct schema_column *column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++)
        if (schema_column_of(subject->schema, subject->bound->refs[i]) == column) return true;
    return false;
}

/* Returns an unused column that holds the number of the things, from a table that the query reads. Returns NULL if
 * `thing` names a table that the query does not read. */
static const struct schema_column *find_held(const struct vsig_subject *subject, const struct thing *thing)
{
    const struct question *question = subject->analysis;
    const struct schema_column *found = NULL;
    for (uint32_t t = 0; t < subject->schema->n_tables; t++) {
        const struct schema_table *table = &subject->schema->tables[t];
        bool reads = query_reads_table(subject, (int)t);
        if (!reads && names_table(question, thing, (int)t) > 0.6F) return NULL;
        for (uint32_t c = 0; reads && !found && c < table->n_columns; c++) {
            const struct schema_column *column = &table->columns[c];
            bool fits = vsig_holds_amounts(subject, column) && is_held_by(question, thing, column);
            fits &= names_table(question, thing, (int)t) <= 0.6F || is_spelled_by(question, thing, column);
            if (fits && is_used(subject, column)) return NULL;
            if (fits) found = column;
        }
    }
    if (!found) return NULL;
    /* the things may be rows of another table that the query reads */
    for (uint32_t t = 0; t < subject->schema->n_tables; t++)
        if (t != found->table && query_reads_table(subject, (int)t) && names_table(question, thing, (int)t) > 0.6F)
            return NULL;
    return found;
}

/* --- the table whose rows are counted --- */

static float counted_score(const struct vsig_subject *subject, const struct sql_node *call, const struct thing *thing)
{
    const struct sql_block *block = sql_block_of(subject->bound, call);
    const struct schema_column *column = query_column(subject, sql_kid(sql_kid(call, CALL_ARGS), 0));
    float best = 0;
    if (column) {
        best = names_table(subject->analysis, thing, (int)column->table);
        for (uint32_t i = 0; i < subject->schema->n_joins; i++)
            if (subject->schema->joins[i].n_pairs == 1 && subject->schema->joins[i].from[0] == column->id)
                best = MAX(best, names_table(subject->analysis, thing, (int)subject->schema->joins[i].to_table));
        return best;
    }
    for (uint32_t s = 0; block && s < block->n_sources; s++)
        if (block->sources[s].table >= 0)
            best = MAX(best, names_table(subject->analysis, thing, block->sources[s].table));
    return best;
}

static void look_at_thing(const struct vsig_subject *subject, struct vsig_counted_things *out)
{
    struct thing thing;
    if (!subject->analysis || !find_thing(subject->analysis, &thing)) return;
    out->asked = 0;
    for (uint32_t t = 0; t < subject->schema->n_tables; t++) {
        float score = names_table(subject->analysis, &thing, (int)t);
        if (score <= out->asked) continue;
        out->asked = score;
        out->asked_table = (int)t;
    }
    if (!out->rows) return;
    out->counted = counted_score(subject, out->rows, &thing);
    if (counts_rows(subject, out->rows)) out->held = find_held(subject, &thing);
}

/* True if the query also computes the sum or average of the column, as for "number of bills and their sum". */
static bool is_added_too(const struct vsig_subject *subject, const struct schema_column *column)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        enum query_aggregate of = query_aggregate_of(n);
        bool adds = of == QUERY_SUM || of == QUERY_AVG;
        if (adds && query_cast_column(subject, sql_kid(sql_kid(n, CALL_ARGS), 0)) == column) return true;
    }
    return false;
}

/* True for COUNT of a column without NULL, if the question asks for the number of its table's rows. */
static bool counts_named_rows(const struct vsig_subject *subject, const struct sql_node *call,
                              const struct schema_column *column)
{
    struct thing thing;
    if (!subject->analysis || !find_thing(subject->analysis, &thing)) return false;
    if (column->stats.sampled || column->stats.nulls) return false;
    float named = MAX(counted_score(subject, call, &thing), names_table(subject->analysis, &thing, (int)column->table));
    return named > 0.6F && !is_held_by(subject->analysis, &thing, column);
}

void vsig_counted_look(const struct vsig_subject *subject, struct vsig_counted_things *things)
{
    *things = (struct vsig_counted_things){.asked = (float)NAN, .counted = (float)NAN, .asked_table = -1};
    const struct sql_node *root = subject->stmt->root;
    unsigned n_counts = 0;
    for (const struct sql_node *n = root; n && n_counts < MAX_COUNTS; n = sql_walk(root, n)) {
        if (query_aggregate_of(n) != QUERY_COUNT) continue;
        n_counts++;
        const struct schema_column *column = query_column(subject, sql_kid(sql_kid(n, CALL_ARGS), 0));
        if (!things->rows) things->rows = n;
        if (things->amounts || !column || n->flags & SQL_F_DISTINCT || !vsig_holds_amounts(subject, column)) continue;
        if (divides_its_sum(subject, n, column) || is_added_too(subject, column)) continue;
        if (counts_named_rows(subject, n, column)) continue;
        things->amounts = n;
        things->amount = column;
    }
    look_at_thing(subject, things);
}
