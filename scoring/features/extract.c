#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MEETING_PREFIX = 4, MEETING_REST = 3, MEETING_PART = 3 };

float look_score(const struct look *look, const struct schema_column *column)
{
    if (!look->asked) return (float)NAN;
    float score = look->asked->column_score[column->id];
    float told = look->asked->evidence_score ? look->asked->evidence_score[column->id] : 0;
    return score > told ? score : told;
}

const struct question_mention *look_mention(const struct look *look, const struct schema_column *column)
{
    uint16_t at = look->mention_of[column->id];
    return at == LOOK_NO_MENTION ? NULL : &look->asked->mentions[at];
}

bool look_overlaps(const struct question_mention *mention, uint32_t first, uint32_t n_tokens)
{
    return mention->first < first + n_tokens && first < mention->first + mention->n_tokens;
}

float look_cue_distance(const struct look *look, const struct question_mention *mention, unsigned kinds)
{
    float nearest = (float)NAN;
    for (uint32_t i = 0; i < look->asked->n_cues; i++) {
        const struct question_cue *cue = &look->asked->cues[i];
        if (!(kinds >> cue->kind & 1U)) continue;
        uint32_t cue_end = cue->first + cue->n_tokens, end = mention->first + mention->n_tokens;
        float gap = cue_end <= mention->first ? (float)(mention->first - cue_end)
                    : end <= cue->first       ? (float)(cue->first - end)
                                              : 0;
        if (!(gap >= nearest)) nearest = gap;
    }
    return nearest;
}

const char *look_letters(struct arena *arena, const char *text, size_t len)
{
    char *out = text_fold(arena, text, len);
    size_t n = 0;
    for (const char *p = out; p && *p; p++)
        if (g_ascii_isalnum(*p) || (unsigned char)*p >= 0x80) out[n++] = *p;
    if (out) out[n] = '\0';
    return out;
}

bool look_meet(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), shared = 0;
    if (!a_len || !b_len) return false;
    if (a_len >= MEETING_PART && strstr(b, a)) return true;
    if (b_len >= MEETING_PART && strstr(a, b)) return true;
    while (a[shared] && a[shared] == b[shared]) shared++;
    if (shared == a_len && shared == b_len) return true;
    return shared >= MEETING_PREFIX && shared + MEETING_REST >= a_len && shared + MEETING_REST >= b_len;
}

void look_explain(struct look *look, uint32_t first, uint32_t n_tokens)
{
    for (uint32_t i = first; i < first + n_tokens && i < look->asked->tokens.n; i++) look->explained[i] = true;
}

/* --- columns --- */

static bool inside_aggregate(const struct sql_node *node)
{
    for (const struct sql_node *n = node->parent; n && !sql_is(n, SQL_SELECT); n = n->parent)
        if (sql_is(n, SQL_CALL) && sql_is_aggregate(n)) return true;
    return false;
}

static bool is_join_node(const struct look *look, const struct sql_node *node)
{
    const struct sql_node *parent = node->parent;
    if (sql_is(parent, SQL_USING)) return true;
    for (uint32_t i = 0; i < look->shape->n_pairs; i++)
        if (look->shape->pairs[i].node == parent) return true;
    return false;
}

static enum look_use use_of(const struct look *look, const struct sql_node *node)
{
    static const enum look_use by_clause[SQL_CLAUSE_COUNT] = {
        [SQL_CLAUSE_SELECT] = LOOK_JOIN, /* of a subquery: what it hands to the condition around it */
        [SQL_CLAUSE_FROM] = LOOK_CONDITION,   [SQL_CLAUSE_WHERE] = LOOK_CONDITION, [SQL_CLAUSE_GROUP] = LOOK_GROUP,
        [SQL_CLAUSE_HAVING] = LOOK_CONDITION, [SQL_CLAUSE_ORDER] = LOOK_ORDER,     [SQL_CLAUSE_LIMIT] = LOOK_CONDITION,
        [SQL_CLAUSE_WINDOW] = LOOK_GROUP};
    if (is_join_node(look, node)) return LOOK_JOIN;
    enum sql_clause clause = sql_clause_of(node);
    if (clause != SQL_CLAUSE_HAVING && inside_aggregate(node)) return LOOK_ARGUMENT;
    if (clause == SQL_CLAUSE_SELECT && query_in_answer(look->subject, node)) return LOOK_ANSWER;
    return clause < SQL_CLAUSE_COUNT ? by_clause[clause] : LOOK_JOIN;
}

static void use(struct look *look, const struct schema_column *column, const struct sql_node *node, enum look_use as)
{
    look->uses[column->id] |= (uint8_t)(1U << as);
    if (look->n_used == LOOK_MAX_USED) return;
    look->used[look->n_used++] = (struct look_used){column, node, as, look_score(look, column)};
}

static void use_columns(struct look *look)
{
    const struct sql_bound *bound = look->subject->bound;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct schema_column *column = ref->kind == SQL_REF_COLUMN ? schema_column_of(look->schema, ref) : NULL;
        if (column) use(look, column, ref->node, use_of(look, ref->node));
    }
    for (uint32_t i = 0; look->answer && i < look->answer->n_outputs; i++) {
        const struct sql_output *output = &look->answer->outputs[i];
        if (!output->expr && output->table >= 0 && output->column >= 0)
            use(look, look->schema->tables[output->table].columns + output->column, NULL, LOOK_ANSWER);
    }
    for (uint32_t b = 0; b < bound->n_blocks; b++)
        for (uint32_t i = 0; i < bound->blocks[b]->n_sources; i++)
            if (bound->blocks[b]->sources[i].table >= 0) look->reads[bound->blocks[b]->sources[i].table] = true;
}

static void find_mentions(struct look *look)
{
    memset(look->mention_of, 0xFF, look->schema->n_columns * sizeof *look->mention_of);
    for (uint32_t i = 0; look->asked && i < look->asked->n_mentions; i++) {
        const struct question_mention *m = &look->asked->mentions[i];
        if (m->column < 0) continue;
        uint16_t *best = &look->mention_of[m->id];
        if (*best == LOOK_NO_MENTION || m->score > look->asked->mentions[*best].score) *best = (uint16_t)i;
    }
}

bool look_init(struct look *look, struct vsig_subject *subject, struct arena *arena, float *out)
{
    const struct schema_index *schema = subject->schema;
    *look = (struct look){
        .subject = subject, .schema = schema, .asked = subject->asked, .arena = arena, .out = out, .n_used = 0};
    look->shape = vsig_shape(subject);
    look->answer = query_answer_block(subject);
    look->uses = arena_array(arena, schema->n_columns + 1, sizeof *look->uses);
    look->mention_of = arena_array(arena, schema->n_columns + 1, sizeof *look->mention_of);
    look->reads = arena_array(arena, schema->n_tables + 1, sizeof *look->reads);
    if (!look->shape || !look->uses || !look->mention_of || !look->reads) return false;
    if (look->asked) {
        look->value_used = arena_array(arena, look->asked->n_values + 1, sizeof *look->value_used);
        look->explained = arena_array(arena, look->asked->tokens.n + 1, sizeof *look->explained);
        look->covered = arena_array(arena, look->asked->tokens.n + 1, sizeof *look->covered);
        if (!look->value_used || !look->explained || !look->covered) return false;
    }
    query_look(subject, &look->view);
    find_mentions(look);
    use_columns(look);
    return true;
}
