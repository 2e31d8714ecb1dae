/* projection_mismatch: compares the select list with the outputs that the question asks for.
 *
 * There are three checks, ordered from the safest to the least safe:
 *   1. The answer has a column that no word of the question means, and also columns that the question means.
 *   2. The answer has more or fewer columns than the question has output phrases, and the list of phrases is certain.
 *   3. A phrase names a column by all its words, and no column of the answer is related to it.
 *
 * First and last name count as one column. Computed columns that one phrase explains also count as one. `SELECT *`
 * answers vague questions. */
#include "lib/question/frame.h"
#include "signals/support/bare.h"
#include "signals/support/meaning.h"
#include "signals/support/names.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { OPT_COUNT, OPT_DISTINCT, OPT_MAX_DROPPED, OPT_PROBE, MAX_OUTPUTS = 32 };

/* A column of the answer. */
struct shown {
    const struct sql_node *node;        /* expression of the column, or the select list for a column of * */
    const struct schema_column *column; /* NULL if the column is computed */
    bool part_of_name;                  /* true for first or last name */
    bool grouped;                       /* true if the rows are grouped by it */
};

struct answer_columns {
    struct shown items[MAX_OUTPUTS];
    uint32_t n;
    bool star, wide; /* wide: true if there are more than MAX_OUTPUTS columns */
};

static const char *const NAME_PARTS[] = {"first", "last",  "middl", "forenam", "surnam",
                                         "fname", "lname", "f",     "l",       NULL};

/* True if the rows are grouped by the column, or the group determines it: the name of a musical that is grouped by its
 * id. */
static bool is_grouped_by(struct vsig_subject *subject, const struct sql_block *block, const struct sql_node *expr)
{
    const struct sql_node *group = sql_kid(block->node, SELECT_GROUP);
    const struct sql_ref *shown = expr ? sql_plain_column(expr) : NULL;
    for (uint32_t i = 0; shown && group && i < group->n_kids; i++) {
        const struct sql_ref *by = sql_plain_column(group->kids[i]);
        if (by && (by == shown || (by->table == shown->table && by->column == shown->column))) return true;
    }
    const struct vsig_shape *shape = shown && group ? vsig_shape(subject) : NULL;
    struct vsig_bare bare;
    return shape && vsig_bare_init(&bare, subject, &shape->blocks[block->index]) && !vsig_bare_find(&bare, expr);
}

static void read_answer(struct vsig_subject *subject, const struct sql_block *block, struct answer_columns *answer)
{
    const struct sql_node *items = sql_kid(block->node, SELECT_ITEMS);
    *answer = (struct answer_columns){.n = 0};
    for (uint32_t i = 0; items && i < items->n_kids; i++) answer->star |= items->kids[i]->kind == SQL_STAR;
    for (uint32_t i = 0; i < block->n_outputs; i++) {
        const struct sql_output *output = &block->outputs[i];
        if (answer->n == MAX_OUTPUTS) {
            answer->wide = true;
            return;
        }
        struct shown *shown = &answer->items[answer->n++];
        shown->node = output->expr ? output->expr : items;
        if (output->table >= 0 && output->column >= 0 && (!output->expr || sql_plain_column(output->expr)))
            shown->column = subject->schema->tables[output->table].columns + output->column;
        shown->grouped = is_grouped_by(subject, block, output->expr);
        shown->part_of_name = query_name_has(shown->column, NAME_PARTS);
    }
}

/* Returns the best score with which words of the phrase name the column, or 0. */
static double phrase_score(const struct question *question, const struct question_output *phrase, uint32_t column)
{
    double best = 0;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        bool overlaps = m->first < phrase->first + phrase->n_tokens && m->first + m->n_tokens > phrase->first;
        if (overlaps && m->id == column && m->score > best) best = m->score;
    }
    return best;
}

static bool any_vague(const struct question *question)
{
    for (uint32_t i = 0; i < question->n_outputs; i++)
        if (question->outputs[i].vague) return true;
    return false;
}

/* Computes the least and the greatest number of columns that can answer the requested outputs. */
static void asked_range(const struct question *question, uint32_t *low, uint32_t *high)
{
    *low = question->n_outputs;
    *high = 0;
    /* for "how many starts and landings", one number may be enough */
    for (uint32_t i = 1; i < question->n_outputs; i++) {
        const struct question_output *output = &question->outputs[i];
        *low -= question->outputs[i - 1].computed && !output->computed && output->entity;
    }
    for (uint32_t i = 0; i < question->n_outputs; i++)
        *high += question->outputs[i].entity && !question->outputs[i].computed ? 2 : 1;
}

/* True for a name or key, which identifies the row. Questions for a number of each row also expect such a column. */
static bool is_label(const struct vsig_subject *subject, const struct shown *shown)
{
    return shown->column && !shown->part_of_name && query_is_generic(subject, shown->column);
}

/* True for a text or key of the things in "each shop" or "per shop". It distinguishes their rows. */
static bool is_of_each_thing(const struct question *question, const struct shown *shown)
{
    static const char *const EACH[] = {"each", "every", "per", NULL};
    const struct schema_column *column = shown->column;
    if (!column || !(column->pk || column->unique || column->affinity == SCHEMA_TEXT)) return false;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column < 0 && m->table == (int)column->table && m->score > 0.6 && m->first &&
            g_strv_contains(EACH, question->tokens.items[m->first - 1].norm))
            return true;
    }
    return false;
}

/* Returns the number of columns that are missing because one expression combines several, such as a + b or first ||
 * last. */
static uint32_t joined_columns(const struct answer_columns *answer)
{
    uint32_t joined = 0;
    for (uint32_t i = 0; i < answer->n; i++) {
        uint32_t inside = 0;
        const struct sql_node *root = answer->items[i].node;
        if (answer->items[i].column) continue;
        for (const struct sql_node *n = root; n; n = sql_walk(root, n)) inside += sql_is(n, SQL_COLUMN);
        joined += inside > 1 ? inside - 1 : 0;
    }
    return joined;
}

/* True if the question names the column in "year by year". It identifies the rows, so the query may return it as
 * well. */
static bool is_said_by(const struct question *question, const struct schema_column *column)
{
    const struct text_token *t = question->tokens.items;
    for (uint32_t i = 0; column && i + 2 < question->tokens.n; i++) {
        if (strcmp(t[i].stem, t[i + 2].stem) != 0 || strcmp(t[i + 1].norm, "by") != 0) continue;
        for (uint32_t w = 0; w < column->words.n; w++)
            if (strcmp(column->words.items[w].stem, t[i].stem) == 0) return true;
    }
    return false;
}

/* --- columns by the meaning of the query --- */

/* True for a computed expression, such as a period or a CASE, that the rows are grouped by. */
static bool is_computed_key(const struct meaning *m, const struct meaning_term *term)
{
    const struct meaning *owner = m;
    bool key = false;
    term = meaning_follow(term, term->relation ? &owner : NULL);
    for (uint32_t i = 0; term->kind != MEANING_COLUMN && i < owner->n_keys; i++)
        key |= owner->keys[i]->hash == term->hash;
    return key;
}

static bool has_term(const struct meaning_term *term, uint64_t hash, unsigned depth)
{
    if (term->hash == hash) return true;
    for (uint32_t i = 0; depth && i < term->n_parts; i++)
        if (has_term(term->parts[i], hash, depth - 1)) return true;
    return false;
}

/* True if another output is computed from this one, such as a running total from the monthly totals beside it. */
static bool is_operand(const struct meaning *m, uint32_t output)
{
    enum { LEVELS = 6 };
    const struct meaning_term *own = m->outputs[output].term;
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const struct meaning_term *other = m->outputs[i].term;
        if (own->kind != MEANING_COLUMN && other->hash != own->hash && has_term(other, own->hash, LEVELS)) return true;
    }
    return false;
}

/* Returns the number of columns that identify the group, or that are operands of the other columns. */
static uint32_t context_columns(struct vsig_subject *subject, const struct answer_columns *answer)
{
    const unsigned of_rows = 1U << FRAME_RUNNING | 1U << FRAME_MOVING | 1U << FRAME_PREVIOUS | 1U << FRAME_NEXT |
                             1U << FRAME_CHANGE | 1U << FRAME_SHARE | 1U << FRAME_DIFFERENCE;
    const struct question *question = subject->analysis;
    const struct meaning *m = vsig_meaning(subject);
    bool compares = question->frame && question->frame->kinds & of_rows;
    bool grouped = compares || question_has(question, "by") || question_has(question, "per") ||
                   question->cue_counts[QUESTION_CUE_EACH];
    uint32_t n = 0;
    for (uint32_t i = 0; m && m->n_outputs == answer->n && i < m->n_outputs; i++)
        n += (grouped && is_computed_key(m, m->outputs[i].term)) || (compares && is_operand(m, i));
    return n;
}

/* Returns the number of optional columns: all but one part of a name, and columns that identify the groups or rows. */
static uint32_t optional_columns(struct vsig_subject *subject, const struct answer_columns *answer)
{
    const struct question *question = subject->analysis;
    uint32_t parts = 0, groups = context_columns(subject, answer), labels = 0, computed = 0;
    bool each = question->cue_kinds & (1U << QUESTION_CUE_EACH | 1U << QUESTION_CUE_DISTINCT), each_thing = false;
    for (uint32_t i = 0; i < question->n_outputs; i++) each |= question->outputs[i].computed;
    for (uint32_t i = 0; i < answer->n; i++) {
        parts += answer->items[i].part_of_name;
        groups += each && answer->items[i].grouped && !answer->items[i].part_of_name;
        bool of_each = !answer->items[i].part_of_name && is_of_each_thing(question, &answer->items[i]);
        labels += !answer->items[i].grouped && (of_each || is_label(subject, &answer->items[i]));
        each_thing |= of_each;
        groups += !(each && answer->items[i].grouped) && is_said_by(question, answer->items[i].column);
        computed += !answer->items[i].column;
    }
    bool told_apart = labels && (computed || each_thing || question->cue_counts[QUESTION_CUE_EACH]);
    uint32_t most = question->cue_counts[QUESTION_CUE_EACH] ? labels : 1;
    return (parts ? parts - 1 : 0) + groups + (told_apart ? most : 0);
}

/* True if the question or the evidence refers to the column. If the rows are grouped by it, a reference to its table is
 * enough. */
static bool is_meant(const struct question *question, const struct shown *shown)
{
    if (!shown->column || question->column_score[shown->column->id] > 0) return true;
    if (shown->grouped && question->table_score[shown->column->table] > 0.5F) return true;
    return question->evidence_score && question->evidence_score[shown->column->id] > 0.5F;
}

static bool check_unmeant(struct vsig_run *run, const struct answer_columns *answer)
{
    const struct question *question = run->subject->analysis;
    uint32_t meant = 0;
    const struct shown *odd = NULL;
    bool labels = !question->outputs_closed; /* the key or name may stand for "all contractors" */
    for (uint32_t i = 0; i < answer->n; i++) labels |= !answer->items[i].column;
    for (uint32_t i = 0; i < answer->n; i++) {
        if (is_meant(question, &answer->items[i]) || (labels && is_label(run->subject, &answer->items[i])))
            meant++;
        else if (!odd)
            odd = &answer->items[i];
    }
    uint32_t low, high;
    asked_range(question, &low, &high);
    if (!odd || !meant || answer->n <= high) return false;
    vsig_fire(run, question->outputs_closed ? VSIG_ERROR : VSIG_WARNING, odd->node,
              "the query returns %s.%s, but the question does not mention that column",
              run->subject->schema->tables[odd->column->table].name, odd->column->name);
    return true;
}

static bool check_odd(struct vsig_run *run)
{
    struct query_odd odd;
    if (!query_odd_column(run->subject, SQL_CLAUSE_SELECT, &odd)) return false;
    vsig_fire(run, VSIG_ERROR, odd.node, "the question refers to %s, but the query returns %s", odd.wanted->name,
              odd.used->name);
    return true;
}

/* Returns the column that the requested outputs support least. It is probably the superfluous one. */
static const struct shown *least_asked(const struct question *question, const struct answer_columns *answer)
{
    const struct shown *least = NULL;
    double least_score = 2;
    for (uint32_t i = 0; i < answer->n; i++) {
        double score = 0;
        for (uint32_t p = 0; answer->items[i].column && p < question->n_outputs; p++) {
            double s = phrase_score(question, &question->outputs[p], answer->items[i].column->id);
            score = s > score ? s : score;
        }
        if (!answer->items[i].column)
            for (uint32_t p = 0; p < question->n_outputs; p++) score = question->outputs[p].computed ? 0.9 : score;
        if (score <= least_score) {
            least_score = score;
            least = &answer->items[i];
        }
    }
    return least;
}

static void report_count(struct vsig_run *run, const struct sql_node *at, const struct answer_columns *answer)
{
    const char *asked = vsig_counted(run->subject, run->subject->analysis->n_outputs, "column", "columns");
    vsig_fire(run, VSIG_ERROR, at, "the question asks for %s, but the query returns %u", asked, answer->n);
}

static bool check_count(struct vsig_run *run, const struct answer_columns *answer, const struct sql_node *items)
{
    const struct question *question = run->subject->analysis;
    uint32_t low, high, optional = optional_columns(run->subject, answer);
    if (vsig_opt(run, OPT_COUNT) < 0.5 || !question->outputs_closed) return false;
    asked_range(question, &low, &high);
    if (answer->n - optional > high) {
        report_count(run, least_asked(question, answer)->node, answer);
        return true;
    }
    if (answer->n + joined_columns(answer) >= low) return false;
    report_count(run, items, answer);
    return true;
}

/* True if phrase and name have the same letters when separators are ignored: "partition id" and partitionid. */
static bool same_letters(const struct question *question, const struct question_output *phrase, const char *name)
{
    for (uint32_t i = phrase->first; i < phrase->first + phrase->n_tokens; i++) {
        const char *norm = question->tokens.items[i].norm;
        size_t len = strlen(norm);
        while (*name == '_' || *name == ' ') name++;
        if (len > 1 && norm[len - 1] == 's' && g_ascii_strncasecmp(name, norm, len) != 0) len--;
        if (g_ascii_strncasecmp(name, norm, len) != 0) return false;
        name += len;
    }
    return *name == '\0';
}

/* True if some column of the answer is computed or related to the phrase. Any text column that the question names may
 * answer a "name". */
static bool is_answered(const struct question *question, const struct question_output *phrase,
                        const struct answer_columns *answer, const struct schema_column *named)
{
    bool any_text = named->words.n == 1 && strcmp(named->words.items[0].norm, "name") == 0;
    for (uint32_t i = 0; i < answer->n; i++) {
        const struct schema_column *column = answer->items[i].column;
        if (!column || phrase_score(question, phrase, column->id) > 0 || same_letters(question, phrase, column->name))
            return true;
        if (any_text && column->affinity == SCHEMA_TEXT && question->column_score[column->id] > 0.6F) return true;
    }
    return false;
}

/* True if the mention may be only the name of a table. Also true for a key or name of a table that the query does not
 * read. */
static bool names_no_column(const struct vsig_subject *subject, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < subject->analysis->n_mentions; i++) {
        const struct question_mention *m = &subject->analysis->mentions[i];
        if (m->column < 0 && m->first == mention->first && m->score >= mention->score) return true;
    }
    return query_is_generic(subject, subject->schema->columns[mention->id]) &&
           !query_reads_table(subject, mention->table);
}

/* Returns the longest mention in the phrase that names a column by all its words, or NULL. */
static const struct question_mention *surely_named(const struct vsig_subject *subject,
                                                   const struct question_output *phrase)
{
    const struct question_mention *best = NULL;
    for (uint32_t i = 0; i < subject->analysis->n_mentions; i++) {
        const struct question_mention *m = &subject->analysis->mentions[i];
        bool inside = m->first >= phrase->first && m->first + m->n_tokens <= phrase->first + phrase->n_tokens;
        if (!inside || m->column < 0 || m->score < 0.99 || names_no_column(subject, m)) continue;
        if (!best || m->n_tokens > best->n_tokens) best = m;
    }
    return best;
}

/* True if the mention belongs to a bound and is not an output: "cost" in "which procedures cost less than 5". */
static bool is_bounded(const struct question *question, const struct question_mention *mention)
{
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        bool bound = cue->kind == QUESTION_CUE_COMPARE || cue->kind == QUESTION_CUE_BETWEEN;
        if (bound && cue->first == mention->first + mention->n_tokens) return true;
    }
    return false;
}

static void check_missing(struct vsig_run *run, const struct answer_columns *answer, const struct sql_node *items)
{
    const struct question *question = run->subject->analysis;
    for (uint32_t p = 0; p < question->n_outputs; p++) {
        const struct question_output *phrase = &question->outputs[p];
        if (phrase->computed || phrase->vague || phrase->entity) continue;
        const struct question_mention *named = surely_named(run->subject, phrase);
        if (!named || is_bounded(question, named) ||
            is_answered(question, phrase, answer, run->subject->schema->columns[named->id]))
            continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_ERROR, items, "the question asks for %s, but the query does not return that column",
                      run->subject->schema->columns[named->id]->name);
        vsig_add_fact(run, finding, "column", false, "%s.%s", run->subject->schema->tables[named->table].name,
                      run->subject->schema->columns[named->id]->name);
        return;
    }
}

/* Reports a query without DISTINCT for "different types", if its rows may repeat. A unique column proves that they do
 * not, if the query reads only one table. */
static void check_distinct(struct vsig_run *run, const struct query_view *view, const struct answer_columns *answer)
{
    const struct question *question = run->subject->analysis;
    const struct sql_block *block = query_answer_block(run->subject);
    if (vsig_opt(run, OPT_DISTINCT) < 0.5 || !question->cue_counts[QUESTION_CUE_DISTINCT] || view->distinct ||
        view->group)
        return;
    if (view->compound[QUERY_UNION] || view->compound[QUERY_INTERSECT] || view->compound[QUERY_EXCEPT] ||
        block->aggregate)
        return;
    for (uint32_t i = 0; i < answer->n; i++)
        if (!answer->items[i].column || (block->n_sources == 1 && answer->items[i].column->unique)) return;
    vsig_fire(run, VSIG_WARNING, view->items,
              "the question asks for distinct values, but the query may return repeated rows");
}

/* Returns the share of rows that DISTINCT removes, or -1 if unknown. Statistics give the share for a unique column, and
 * for one column of one table without conditions. In the remaining cases, which are few, a probe counts the rows. */
static double share_dropped(struct vsig_run *run, const struct sql_block *block, const struct answer_columns *answer)
{
    bool one_table = block->n_sources == 1 && block->sources[0].table >= 0;
    for (uint32_t i = 0; one_table && i < answer->n; i++)
        if (answer->items[i].column && answer->items[i].column->unique) return 0;
    const struct schema_column *only = answer->n == 1 ? answer->items[0].column : NULL;
    if (one_table && only && !sql_kid(block->node, SELECT_WHERE) && !only->stats.sampled && only->stats.rows)
        return 1 - (double)(only->stats.distinct + (only->stats.nulls > 0)) / (double)only->stats.rows;
    const struct db_result *result =
        run->subject->db && vsig_opt(run, OPT_PROBE) > 0.5 ? vsig_result(run->subject) : NULL;
    struct sql_node *copy = result && result->n_rows ? sql_copy(run->subject->arena, run->subject->stmt->root) : NULL;
    if (!copy || copy->kind != SQL_QUERY || !sql_is(sql_kid(copy, QUERY_BODY), SQL_SELECT)) return -1;
    sql_set_kid(sql_kid(copy, QUERY_BODY), SELECT_DISTINCT, NULL);
    struct db_result all;
    if (vsig_probe(run->subject, sql_print(run->subject->arena, copy), result->n_rows * 4 + 1, &all) != ERR_OK)
        return -1;
    return all.n_rows ? 1 - (double)result->n_rows / (double)all.n_rows : -1;
}

/* Reports a DISTINCT that the question does not ask for and that removes some rows, but not most. If most rows repeat,
 * the question probably asks for kinds of things. Measured on the training gold: among queries whose rows hardly
 * repeat, nine of ten keep the repeats. Among the others, half do. */
static void check_unasked_distinct(struct vsig_run *run, const struct query_view *view, const struct sql_block *block,
                                   const struct answer_columns *answer)
{
    static const char *const WORDS[] = {"kind", "kinds", "type", "types", "various", "possible",
                                        "each", "every", "once", "which", NULL};
    const struct question *question = run->subject->analysis;
    const struct sql_node *distinct = sql_kid(block->node, SELECT_DISTINCT);
    if (!distinct || distinct->n_kids || view->limit || view->group) return;
    if (question->cue_kinds >> QUESTION_CUE_DISTINCT & 1U || block->aggregate || block->role != SQL_BLOCK_TOP ||
        block->arm)
        return;
    if (block->n_sources > 1) return; /* the join may repeat rows, and DISTINCT removes the repeats */
    for (const char *const *word = WORDS; *word; word++)
        if (question_has(question, *word)) return;
    double dropped = share_dropped(run, block, answer);
    if (dropped > 0 && dropped <= vsig_opt(run, OPT_MAX_DROPPED))
        vsig_fire(run, VSIG_WARNING, distinct,
                  "DISTINCT drops repeated rows, but the question does not ask for distinct rows");
}

static enum err_code projection_mismatch_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    const struct sql_block *block = query_answer_block(run->subject);
    struct query_view view;
    struct answer_columns answer;
    if (query_foreign(run) || !block) return ERR_OK;
    query_look(run->subject, &view);
    read_answer(run->subject, block, &answer);
    if (!answer.n || answer.wide) return ERR_OK;
    check_distinct(run, &view, &answer);
    check_unasked_distinct(run, &view, block, &answer);
    if (any_vague(question) || !question->n_outputs || answer.star) return ERR_OK;
    if (check_unmeant(run, &answer) || check_odd(run)) return ERR_OK;
    if (check_count(run, &answer, view.items)) return ERR_OK;
    check_missing(run, &answer, view.items);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_COUNT] = {"count", 1, 0, 1, "also compare the number of columns if the question's list of columns is clear"},
    [OPT_DISTINCT] = {"distinct", 1, 0, 1, "also report rows that may repeat if the question asks for distinct values"},
    [OPT_MAX_DROPPED] =
        {"max_dropped", 0.4, 0, 1,
         "also report an unrequested DISTINCT that drops at most this share of the rows; 0 turns this check off"},
    [OPT_PROBE] = {"probe", 1, 0, 1, "query the database if the statistics do not show whether DISTINCT drops rows"},
    {NULL},
};

const struct vsig_def vsig_projection_mismatch = {
    .id = VSIG_ID_projection_mismatch,
    .name = "projection_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_QUESTION_AMBIGUITY,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "SELECT lacks a column that the question asks for, or returns an unrequested column",
    .description = "The question lists the attributes that it asks for. The query returns different columns, "
                   "additional columns, or fewer columns.",
    .example = "What is the title of the newest film? - SELECT title, year FROM film ORDER BY year DESC LIMIT 1",
    .instruction = "Return exactly the columns that the question asks for, no more and no fewer.",
    .options = OPTIONS,
    .eval = projection_mismatch_eval,
};
