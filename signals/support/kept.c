/* Determines whether the question asks for rows without a partner, and whether the query drops them.
 *
 * The question is classified by its frame, its cues and lists of phrases. Then each join pair of the answer block is
 * checked for rows that it drops. The statistics of its two columns give a lower bound of their number. Conditions on
 * the optional side of an outer join also drop rows. The cause that drops the most rows is recorded. No statement runs,
 * and sampled columns prove nothing. */
#include "signals/support/kept.h"

#include "lib/question/frame.h"
#include "lib/question/question.h"
#include "signals/support/predicate.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

static const char *const EACH[] = {"each", "every", "all", "full", "whole", "complete", "per", NULL};

static const char *const ONLY[] = {"leave out",
                                   "leaving out",
                                   "left out",
                                   "skip",
                                   "skip the rest",
                                   "ignore those",
                                   "ignore the",
                                   "actually have",
                                   "actually has",
                                   "only those",
                                   "only the ones",
                                   "at least one",
                                   "that have any",
                                   "who have any",
                                   "do not list those",
                                   "no zeros",
                                   NULL};
static const char *const NONE[] = {"without", "none", "no", "nobody", "zero", "never", "nothing", "0", NULL};
static const char *const TOO[] = {"too", "also", "as well", "still", "even", "include", "included", "including", NULL};
enum { HINT_REACH = 8 };

/* True if a word of NONE and a word of TOO are at most HINT_REACH tokens apart. */
static bool is_hinted(const struct question *question)
{
    struct question_phrase none = {0, 0}, too;
    while (question_phrase_find(question, NONE, none.first + none.n_tokens, &none)) {
        uint32_t from = none.first > HINT_REACH ? none.first - HINT_REACH : 0;
        if (question_phrase_find(question, TOO, from, &too) && too.first <= none.first + HINT_REACH) return true;
    }
    return false;
}

/* True if the question explicitly asks to include rows without a partner. */
static bool is_asked_for(const struct question *question, struct question_phrase *at)
{
    const struct frame_element *zeros = frame_find(question->frame, FRAME_ZEROS);
    if (zeros) {
        *at = (struct question_phrase){zeros->first, zeros->n_tokens};
        return true;
    }
    int cue = question_cue_next(question, QUESTION_CUE_INCLUDE, 0);
    if (cue < 0 || question->cues[cue].weak) return false;
    *at = (struct question_phrase){question->cues[cue].first, question->cues[cue].n_tokens};
    return true;
}

/* Returns the first table that the phrase `said`, or the three tokens after it, name. Returns -1 if there is none. */
static int spoken_table(const struct vsig_subject *subject, const struct question_phrase *said)
{
    enum { BEHIND = 3 };
    const struct question *question = subject->analysis;
    uint32_t best = UINT32_MAX;
    int table = -1;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        bool near = m->first >= said->first && m->first < said->first + said->n_tokens + BEHIND;
        if (m->column >= 0 || !near || m->first >= best || m->score < 0.6) continue;
        best = m->first;
        table = m->table;
    }
    return table;
}

static void look_at_question(const struct vsig_subject *subject, struct vsig_kept *kept)
{
    if (!subject->analysis) return;
    const struct question *question = subject->analysis;
    struct question_phrase each;
    bool only = frame_find(question->frame, FRAME_NO_ZEROS) && !frame_find(question->frame, FRAME_ZEROS);
    if (!only && is_asked_for(question, &kept->said)) {
        kept->asked = VSIG_KEEP_SAID;
        kept->spoken = spoken_table(subject, &kept->said);
    }
    if (kept->asked == VSIG_KEEP_SAID) return;
    if (only || question_phrase_find(question, ONLY, 0, &each))
        kept->asked = VSIG_KEEP_ONLY;
    else if (is_hinted(question))
        kept->asked = VSIG_KEEP_HINTED;
    else if (question_phrase_find(question, EACH, 0, &each))
        kept->asked = VSIG_KEEP_EACH;
}

/* Returns the FROM items whose columns the block displays or groups by, outside of aggregates. */
static vsig_sources entities(const struct vsig_subject *subject, const struct sql_block *block)
{
    vsig_sources out = 0;
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        bool here = ref->block == block && (ref->clause == SQL_CLAUSE_SELECT || ref->clause == SQL_CLAUSE_GROUP);
        if (!here || ref->kind == SQL_REF_TABLE) continue;
        if (ref->kind == SQL_REF_STAR && sql_is(ref->node, SQL_STAR))
            out |= ref->source ? vsig_source_bit(block, ref->source) : vsig_all_sources(block);
        else if (ref->source && !ref->aggregate)
            out |= vsig_source_bit(block, ref->source);
    }
    return out;
}

/* Returns a lower bound for the number of rows of a's table that have no partner in the join a = b. */
static double rows_lost(const struct schema_index *schema, const struct schema_column *a, const struct schema_column *b)
{
    if (a->stats.sampled || b->stats.sampled) return 0;
    double lost = (double)a->stats.nulls, apart = (double)a->stats.distinct - (double)b->stats.distinct;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->n_pairs == 1 && join->from[0] == a->id && join->to[0] == b->id)
            apart = MAX(apart, (1 - join->inclusion) * (double)a->stats.distinct);
    }
    return lost + MAX(apart, 0);
}

static bool found(struct vsig_kept *kept, const struct vsig_subject *subject, enum vsig_drop drop,
                  const struct sql_node *at, const struct schema_column *a, double lost)
{
    if (kept->drop != VSIG_DROP_NOTHING && kept->lost >= lost) return false;
    kept->drop = drop;
    kept->at = at;
    kept->table = a ? (int)a->table : -1;
    kept->rows = a ? (double)subject->schema->tables[a->table].rows : 0;
    kept->lost = lost;
    return true;
}

/* Returns how the join pair drops rows of `own`, or VSIG_DROP_NOTHING. */
static enum vsig_drop drops(const struct sql_join_pair *pair, const struct sql_source *own,
                            const struct sql_source *other, bool other_shown)
{
    const struct sql_node *join = sql_up(pair->node, SQL_JOIN);
    bool outer = join && join->op != SQL_JOIN_INNER && join->op != SQL_JOIN_CROSS;
    if (!own->nullable && !other->nullable) return VSIG_DROP_JOIN;
    if (!outer) return other->nullable ? VSIG_DROP_FILTER : VSIG_DROP_JOIN;
    return own->nullable && !other->nullable && !other_shown ? VSIG_DROP_SIDE : VSIG_DROP_NOTHING;
}

/* Returns the first token of the question that names the table, or UINT32_MAX if there is none. */
static uint32_t first_named(const struct vsig_subject *subject, uint32_t table)
{
    uint32_t first = UINT32_MAX;
    const struct question *question = subject->analysis;
    for (uint32_t i = 0; question && i < question->n_mentions; i++)
        if (question->mentions[i].column < 0 && question->mentions[i].table == (int)table)
            first = MIN(first, question->mentions[i].first);
    return first;
}

/* True if the question asks for all rows of a's table rather than b's, where both are displayed. The question asks for
 * the table that it names first. If this does not decide, it asks for the table that refers to the other one. */
static bool is_main(const struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b)
{
    uint32_t at = first_named(subject, a->table), other = first_named(subject, b->table);
    return at == other ? !a->unique : at < other;
}

/* Assumed number of rows that lose their partners because a condition restricts the partners. The statistics cannot
 * count them. */
static const double MAYBE_LOST = 0.5;

static bool is_filtered(const struct vsig_block_shape *shape, vsig_sources other)
{
    for (uint32_t i = 0; i < shape->n_conditions; i++)
        if (shape->conditions[i].sources == other && shape->conditions[i].clause != SQL_CLAUSE_HAVING) return true;
    return false;
}

static void look_at_pair(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                         const struct sql_block *block, const struct sql_join_pair *pair, vsig_sources shown,
                         struct vsig_kept *kept)
{
    const struct sql_ref *sides[2] = {pair->left, pair->right};
    for (unsigned i = 0; i < 2; i++) {
        const struct sql_source *own = sides[i]->source, *other = sides[1 - i]->source;
        const struct schema_column *a = schema_column_of(subject->schema, sides[i]);
        const struct schema_column *b = schema_column_of(subject->schema, sides[1 - i]);
        if (!a || !b || a == b || !(shown & vsig_source_bit(block, own))) continue;
        bool other_shown = (shown & vsig_source_bit(block, other)) != 0;
        if (other_shown && !is_main(subject, a, b)) continue;
        enum vsig_drop drop = drops(pair, own, other, other_shown);
        double lost = drop == VSIG_DROP_NOTHING ? 0 : rows_lost(subject->schema, a, b);
        bool filtered = drop == VSIG_DROP_JOIN && kept->asked == VSIG_KEEP_SAID &&
                        is_filtered(shape, vsig_source_bit(block, other));
        if (filtered) lost = MAX(lost, MAYBE_LOST);
        if (lost > 0) found(kept, subject, drop, pair->node, a, lost);
    }
}

static bool has_call(const struct sql_node *node)
{
    for (const struct sql_node *n = node; n; n = sql_walk(node, n))
        if (n->kind == SQL_CALL || n->kind == SQL_CASE || (n->kind == SQL_BINARY && n->op == SQL_OP_OR)) return true;
    return false;
}

/* Reports a condition on the optional side of an outer join. NULL does not meet such a condition, so the condition
 * drops the rows that the join keeps. An IS NULL test sets `anti` instead. */
static void look_at_filters(struct vsig_subject *subject, const struct vsig_block_shape *shape, vsig_sources optional,
                            struct vsig_kept *kept)
{
    for (uint32_t i = 0; i < shape->n_conditions; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        bool negated = false;
        if (condition->clause != SQL_CLAUSE_WHERE || !(condition->sources & optional)) continue;
        if (vsig_is_null_test(condition->node, &negated) && !negated)
            kept->anti = true;
        else if (!(condition->sources & ~optional) && !has_call(condition->node) && kept->drop == VSIG_DROP_NOTHING)
            found(kept, subject, VSIG_DROP_FILTER, condition->node, NULL, 0);
    }
}

/* Checks a query that reads one table and groups by a reference to another table. Reports it if the statistics show
 * that some rows of the other table have no reference. */
static void look_at_one_table(struct vsig_subject *subject, const struct vsig_block_shape *shape,
                              const struct sql_block *block, struct vsig_kept *kept)
{
    const struct sql_node *group = sql_kid(block->node, SELECT_GROUP);
    const struct schema_column *a = query_column(subject, sql_kid(group, 0));
    if (!a || !block->aggregate) return;
    for (uint32_t i = 0; i < subject->schema->n_joins; i++) {
        const struct schema_join *join = &subject->schema->joins[i];
        if (join->n_pairs != 1 || join->from[0] != a->id || !join->to_unique) continue;
        const struct schema_column *to = subject->schema->columns[join->to[0]];
        double lost = rows_lost(subject->schema, to, a);
        bool filtered = kept->asked == VSIG_KEEP_SAID && is_filtered(shape, vsig_all_sources(block));
        if (filtered) lost = MAX(lost, MAYBE_LOST);
        if (lost > 0) found(kept, subject, VSIG_DROP_UNJOINED, group, to, lost);
    }
}

/* Returns the first COUNT(*) of the block, or NULL. */
static const struct sql_node *count_star(const struct sql_block *block)
{
    for (const struct sql_node *n = block->node; n; n = sql_walk(block->node, n))
        if (query_aggregate_of(n) == QUERY_COUNT && n->flags & SQL_F_STAR) return n;
    return NULL;
}

/* True if the words of the phrase `said`, or tokens close to it, name the column or its table. */
static bool is_spoken_of(const struct vsig_subject *subject, const struct vsig_kept *kept,
                         const struct schema_column *column)
{
    enum { BESIDE = 4 };
    const struct text_tokens *said = &subject->analysis->tokens,
                             *names[] = {&column->words, &subject->schema->tables[column->table].words};
    uint32_t from = kept->said.first > BESIDE ? kept->said.first - BESIDE : 0,
             end = MIN(kept->said.first + kept->said.n_tokens + BESIDE, said->n);
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
        for (uint32_t w = 0; w < names[k]->n; w++)
            for (uint32_t i = from; i < end; i++)
                if (!said->items[i].is_stop && strcmp(names[k]->items[w].norm, "id") != 0 &&
                    text_word_similarity(said->items[i].norm, names[k]->items[w].norm) >= 0.6)
                    return true;
    return false;
}

/* True if the question asks to include rows without a partner, and an outer join keeps those rows: "visits without a
 * checker". */
static bool keeps_meant(const struct vsig_subject *subject, const struct sql_block *block,
                        const struct vsig_block_shape *shape, vsig_sources optional, const struct vsig_kept *kept)
{
    for (uint32_t i = 0; i < shape->n_pairs; i++) { /* a later inner join drops the rows again */
        const struct sql_join_pair *pair = shape->pairs[i];
        const struct sql_node *join = sql_up(pair->node, SQL_JOIN);
        bool inner = !join || join->op == SQL_JOIN_INNER || join->op == SQL_JOIN_CROSS;
        if (inner)
            optional &= ~(vsig_source_bit(block, pair->left->source) | vsig_source_bit(block, pair->right->source));
    }
    for (uint32_t i = 0; kept->asked == VSIG_KEEP_SAID && i < shape->n_pairs; i++) {
        const struct sql_ref *sides[2] = {shape->pairs[i]->left, shape->pairs[i]->right};
        vsig_sources both = vsig_source_bit(block, sides[0]->source) | vsig_source_bit(block, sides[1]->source);
        for (unsigned k = 0; both & optional && k < 2; k++) {
            const struct schema_column *column = schema_column_of(subject->schema, sides[k]);
            if (column && is_spoken_of(subject, kept, column)) return true;
        }
    }
    return false;
}

/* True for COALESCE(depot, 'no depot') in the answer. It gives rows without a value their own label. */
static bool fills_with_text(const struct sql_block *block)
{
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    for (const struct sql_node *n = items; n; n = sql_walk(items, n)) {
        if (!sql_is(n, SQL_CALL) ||
            !(sql_name_is(n->text, n->text_len, "coalesce", 8) || sql_name_is(n->text, n->text_len, "ifnull", 6)))
            continue;
        const struct sql_node *args = sql_kid(n, CALL_ARGS);
        const struct sql_node *last = args && args->n_kids ? args->kids[args->n_kids - 1] : NULL;
        if (sql_is(last, SQL_LITERAL) && last->op == SQL_LIT_STRING) return true;
    }
    return false;
}

static void look_at_answer(struct vsig_subject *subject, const struct vsig_shape *shapes, struct vsig_kept *kept)
{
    const struct sql_block *block = query_answer_block(subject);
    if (!block || block->arm || block->role != SQL_BLOCK_TOP) return;
    const struct vsig_block_shape *shape = &shapes->blocks[block->index];
    if (shape->too_large) return;
    vsig_sources shown = entities(subject, block), optional = 0;
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].nullable) optional |= vsig_source_bit(block, &block->sources[i]);
    kept->n_outer = (uint32_t)__builtin_popcountll(optional);
    kept->meant = fills_with_text(block) || keeps_meant(subject, block, shape, optional, kept);
    for (uint32_t i = 0; i < shape->n_pairs; i++) look_at_pair(subject, shape, block, shape->pairs[i], shown, kept);
    look_at_filters(subject, shape, optional, kept);
    if (block->n_sources == 1) look_at_one_table(subject, shape, block, kept);
    const struct sql_node *star = optional && block->grouped ? count_star(block) : NULL;
    if (star && kept->drop == VSIG_DROP_NOTHING) found(kept, subject, VSIG_DROP_COUNTED, star, NULL, 0);
}

const struct vsig_kept *vsig_kept_look(struct vsig_subject *subject)
{
    if (subject->kept) return subject->kept;
    const struct vsig_shape *shapes = vsig_shape(subject);
    struct vsig_kept *kept = shapes ? arena_new(subject->arena, struct vsig_kept) : NULL;
    if (!kept) return NULL;
    *kept = (struct vsig_kept){.asked = VSIG_KEEP_UNSAID, .table = -1, .spoken = -1};
    look_at_question(subject, kept);
    look_at_answer(subject, shapes, kept);
    return subject->kept = kept;
}
