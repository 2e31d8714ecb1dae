/* Prepares a candidate and its question once, for all groups of features (extract.h).
 *
 * The extraction has each use of a column by clause, the best mention of each column, and the tables that the query
 * reads. Shared helpers compare texts, mentions and cues. Lists are bounded: columns beyond EXTRACT_MAX_USED count only
 * in `uses`. All memory is from the caller's arena. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MATCH_PREFIX = 4, MATCH_REST = 3, MATCH_PART = 3 };

float extract_column_score(const struct extraction *ex, const struct schema_column *column)
{
    if (!ex->question) return (float)NAN;
    float score = ex->question->column_score[column->id];
    float told = ex->question->evidence_score ? ex->question->evidence_score[column->id] : 0;
    return score > told ? score : told;
}

const struct question_mention *extract_best_mention(const struct extraction *ex, const struct schema_column *column)
{
    uint16_t at = ex->mention_of[column->id];
    return at == EXTRACT_NO_MENTION ? NULL : &ex->question->mentions[at];
}

bool extract_overlaps(const struct question_mention *mention, uint32_t first, uint32_t n_tokens)
{
    return mention->first < first + n_tokens && first < mention->first + mention->n_tokens;
}

float extract_cue_distance(const struct extraction *ex, const struct question_mention *mention, unsigned kinds)
{
    float nearest = (float)NAN;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (!(kinds >> cue->kind & 1U)) continue;
        uint32_t cue_end = cue->first + cue->n_tokens, end = mention->first + mention->n_tokens;
        float gap = cue_end <= mention->first ? (float)(mention->first - cue_end)
                    : end <= cue->first       ? (float)(cue->first - end)
                                              : 0;
        if (!(gap >= nearest)) nearest = gap;
    }
    return nearest;
}

const char *extract_letters(struct arena *arena, const char *text, size_t len)
{
    char *out = text_fold(arena, text, len);
    size_t n = 0;
    for (const char *p = out; p && *p; p++)
        if (g_ascii_isalnum(*p) || (unsigned char)*p >= 0x80) out[n++] = *p;
    if (out) out[n] = '\0';
    return out;
}

bool extract_texts_match(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), shared = 0;
    if (!a_len || !b_len) return false;
    if (a_len >= MATCH_PART && strstr(b, a)) return true;
    if (b_len >= MATCH_PART && strstr(a, b)) return true;
    while (a[shared] && a[shared] == b[shared]) shared++;
    if (shared == a_len && shared == b_len) return true;
    return shared >= MATCH_PREFIX && shared + MATCH_REST >= a_len && shared + MATCH_REST >= b_len;
}

void extract_mark_explained(struct extraction *ex, uint32_t first, uint32_t n_tokens)
{
    for (uint32_t i = first; i < first + n_tokens && i < ex->question->tokens.n; i++) ex->explained[i] = true;
}

/* --- columns --- */

static bool is_join_node(const struct extraction *ex, const struct sql_node *node)
{
    const struct sql_node *parent = node->parent;
    if (sql_is(parent, SQL_USING)) return true;
    for (uint32_t i = 0; i < ex->shape->n_pairs; i++)
        if (ex->shape->pairs[i].node == parent) return true;
    return false;
}

static enum column_use use_of(const struct extraction *ex, const struct sql_ref *ref)
{
    static const enum column_use by_clause[SQL_CLAUSE_COUNT] = {
        [SQL_CLAUSE_SELECT] = USE_JOIN, /* in a subquery, whose output goes to the enclosing condition */
        [SQL_CLAUSE_FROM] = USE_CONDITION,   [SQL_CLAUSE_WHERE] = USE_CONDITION, [SQL_CLAUSE_GROUP] = USE_GROUP,
        [SQL_CLAUSE_HAVING] = USE_CONDITION, [SQL_CLAUSE_ORDER] = USE_ORDER,     [SQL_CLAUSE_LIMIT] = USE_CONDITION,
        [SQL_CLAUSE_WINDOW] = USE_GROUP};
    const struct sql_node *node = ref->node;
    if (is_join_node(ex, node)) return USE_JOIN;
    enum sql_clause clause = sql_clause_of(node);
    if (clause != SQL_CLAUSE_HAVING && ref->aggregate) return USE_ARGUMENT;
    if (clause == SQL_CLAUSE_SELECT && query_in_answer(ex->subject, node)) return USE_ANSWER;
    return clause < SQL_CLAUSE_COUNT ? by_clause[clause] : USE_JOIN;
}

static void add_use(struct extraction *ex, const struct schema_column *column, const struct sql_node *node,
                    enum column_use as)
{
    ex->uses[column->id] |= (uint8_t)(1U << as);
    if (ex->n_used == EXTRACT_MAX_USED) return;
    ex->used[ex->n_used++] = (struct used_column){column, node, as, extract_column_score(ex, column)};
}

static void use_columns(struct extraction *ex)
{
    const struct sql_bound *bound = ex->subject->bound;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct schema_column *column = ref->kind == SQL_REF_COLUMN ? schema_column_of(ex->schema, ref) : NULL;
        if (column) add_use(ex, column, ref->node, use_of(ex, ref));
    }
    for (uint32_t i = 0; ex->answer && i < ex->answer->n_outputs; i++) {
        const struct sql_output *output = &ex->answer->outputs[i];
        if (!output->expr && output->table >= 0 && output->column >= 0)
            add_use(ex, ex->schema->tables[output->table].columns + output->column, NULL, USE_ANSWER);
    }
    for (uint32_t b = 0; b < bound->n_blocks; b++)
        for (uint32_t i = 0; i < bound->blocks[b]->n_sources; i++)
            if (bound->blocks[b]->sources[i].table >= 0) ex->reads[bound->blocks[b]->sources[i].table] = true;
}

static void find_mentions(struct extraction *ex)
{
    memset(ex->mention_of, 0xFF, ex->schema->n_columns * sizeof *ex->mention_of);
    for (uint32_t i = 0; ex->question && i < ex->question->n_mentions; i++) {
        const struct question_mention *m = &ex->question->mentions[i];
        if (m->column < 0) continue;
        uint16_t *best = &ex->mention_of[m->id];
        if (*best == EXTRACT_NO_MENTION || m->score > ex->question->mentions[*best].score) *best = (uint16_t)i;
    }
}

bool extract_init(struct extraction *ex, struct vsig_subject *subject, struct arena *arena, float *out)
{
    const struct schema_index *schema = subject->schema;
    ex->subject = subject;
    ex->schema = schema;
    ex->question = subject->analysis;
    ex->arena = arena;
    ex->out = out;
    ex->n_used = ex->n_literals = 0; /* the lists are large and seldom full, so they are not cleared */
    ex->value_used = ex->explained = ex->covered = NULL;
    ex->shape = vsig_shape(subject);
    ex->answer = query_answer_block(subject);
    ex->uses = arena_array(arena, schema->n_columns + 1, sizeof *ex->uses);
    ex->mention_of = arena_array(arena, schema->n_columns + 1, sizeof *ex->mention_of);
    ex->reads = arena_array(arena, schema->n_tables + 1, sizeof *ex->reads);
    if (!ex->shape || !ex->uses || !ex->mention_of || !ex->reads) return false;
    if (ex->question) {
        ex->value_used = arena_array(arena, ex->question->n_values + 1, sizeof *ex->value_used);
        ex->explained = arena_array(arena, ex->question->tokens.n + 1, sizeof *ex->explained);
        ex->covered = arena_array(arena, ex->question->tokens.n + 1, sizeof *ex->covered);
        if (!ex->value_used || !ex->explained || !ex->covered) return false;
    }
    query_look(subject, &ex->view);
    find_mentions(ex);
    use_columns(ex);
    return true;
}
