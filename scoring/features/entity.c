/* Compares the requested entity with the returned one. For example, "Which issues have no editor" requests issues and
 * not editors, and "how many complaints did customers make" counts complaints and not customers.
 *
 * The requested entity is the first word that names a table. If the question has "how many", the search starts after
 * it; otherwise it starts at the beginning. The returned entity is the table of the first output, or the table that
 * this output references as a key. For a count, it is the table whose rows are counted, or the entity of a DISTINCT. */
#include "scoring/features/extract.h"

#include "lib/question/link.h"
#include "lib/question/phrase.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const float NAMED = 0.45F, NAMED_COLUMN = 0.6F, NOT_THE_HEAD = 0.6F;
enum { MAX_BEHIND_COUNT = 6, MAX_TABLES = 2, NO_WORD = UINT32_MAX };

/* Rates how well a word of the question names a table. The last word of a name has the most weight, because
 * "customer_orders" contains orders. */
static float names_table(const struct extraction *ex, uint32_t word, uint32_t table)
{
    const struct link_name *name = &ex->question->links->tables[table];
    uint32_t n = ex->schema->tables[table].words.n;
    float best = 0;
    for (uint32_t i = 0; word != NO_WORD && i < name->n; i++)
        if (name->hits[i].word == word)
            best = MAX(best, name->hits[i].strength * (name->hits[i].slot + 1U == n ? 1 : NOT_THE_HEAD));
    return best;
}

static float names_any_table(const struct extraction *ex, uint32_t word)
{
    float best = 0;
    for (uint32_t t = 0; t < ex->schema->n_tables; t++) best = MAX(best, names_table(ex, word, t));
    return best;
}

static float names_column(const struct extraction *ex, uint32_t word, const struct schema_column *column)
{
    const struct link_name *name = &ex->question->links->columns[column->id];
    float best = 0;
    for (uint32_t i = 0; word != NO_WORD && i < name->n; i++)
        if (name->hits[i].word == word) best = MAX(best, name->hits[i].strength);
    return best;
}

/* True for a column that is not a name or a key. */
static bool is_plain_column(const struct extraction *ex, const struct schema_column *column)
{
    return !query_is_generic(ex->subject, column) && !schema_is_foreign_key(ex->schema, column->id);
}

static float names_any_column(const struct extraction *ex, uint32_t word)
{
    const struct link_question *links = ex->question->links;
    float best = 0;
    for (uint32_t i = 0; i < links->n_linked; i++) {
        const struct schema_column *column = ex->schema->columns[links->linked[i]];
        if (is_plain_column(ex, column)) best = MAX(best, names_column(ex, word, column));
    }
    return best;
}

/* Returns the first word that names a table or a column. The search starts at a token and covers `within` words.
 * Returns NO_WORD if no word does. */
static uint32_t first_word(const struct extraction *ex, uint32_t token, uint32_t within, bool column)
{
    const struct link_question *links = ex->question->links;
    for (uint32_t w = 0; w < links->n_words && within; w++) {
        if (links->words[w].token < token || links->words[w].cue >= 0 || links->words[w].weight <= 0) continue;
        within--;
        float strength = column ? names_any_column(ex, w) : names_any_table(ex, w);
        if (strength >= (column ? NAMED_COLUMN : NAMED)) return w;
    }
    return NO_WORD;
}

static uint32_t asked_word(const struct extraction *ex)
{
    int cue = question_cue_next(ex->question, QUESTION_CUE_COUNT, 0);
    uint32_t word = NO_WORD;
    if (cue >= 0) {
        const struct question_cue *count = &ex->question->cues[cue];
        word = first_word(ex, count->first + count->n_tokens, MAX_BEHIND_COUNT, false);
    }
    return word == NO_WORD ? first_word(ex, 0, UINT32_MAX, false) : word;
}

/* --- the returned entity --- */

enum counted { COUNTS_NOTHING, COUNTS_ROWS, COUNTS_KEY, COUNTS_REFERENCE, COUNTS_VALUES, COUNTS_VALUES_ALL };

struct answered {
    uint32_t tables[MAX_TABLES];
    uint32_t n;
    const struct schema_column *column; /* NULL if rows are counted, or the output is computed */
    enum counted counted;
};

static void add_table(struct answered *out, uint32_t table)
{
    if (out->n < MAX_TABLES) out->tables[out->n++] = table;
}

static int referred_table(const struct extraction *ex, const struct schema_column *column)
{
    for (uint32_t i = 0; i < ex->schema->n_joins; i++) {
        const struct schema_join *join = &ex->schema->joins[i];
        if (join->n_pairs == 1 && join->from[0] == column->id) return (int)join->to_table;
    }
    return -1;
}

/* Returns the table whose rows a join keeps: the one that no other table references. Returns -1 if there is none. */
static int rows_table(const struct extraction *ex)
{
    const struct sql_block *block = ex->answer;
    int found = -1;
    for (uint32_t s = 0; s < block->n_sources; s++) {
        int table = block->sources[s].table;
        if (table < 0) return -1;
        bool referred = false;
        for (uint32_t i = 0; i < ex->schema->n_joins && !referred; i++)
            for (uint32_t o = 0; o < block->n_sources && !referred; o++)
                referred = o != s && (int)ex->schema->joins[i].to_table == table &&
                           (int)ex->schema->joins[i].from_table == block->sources[o].table;
        if (!referred && found < 0) found = table;
    }
    return found;
}

static void look_at_count(const struct extraction *ex, const struct sql_node *call, struct answered *out)
{
    const struct schema_column *column = query_column(ex->subject, sql_kid(sql_kid(call, CALL_ARGS), 0));
    bool distinct = call->flags & SQL_F_DISTINCT;
    int referred = column ? referred_table(ex, column) : -1, rows = rows_table(ex);
    if (column && column->pk && referred < 0) {
        out->counted = COUNTS_KEY;
        add_table(out, column->table);
    } else if (column && distinct) {
        out->counted = referred >= 0 ? COUNTS_REFERENCE : COUNTS_VALUES;
        if (referred >= 0) add_table(out, (uint32_t)referred);
        out->column = referred >= 0 ? NULL : column;
    } else {
        out->counted = column && referred < 0 ? COUNTS_VALUES_ALL : COUNTS_ROWS;
        if (column) add_table(out, column->table);
        if (!column && rows >= 0) add_table(out, (uint32_t)rows);
    }
}

static bool look_at_answer(const struct extraction *ex, struct answered *out)
{
    *out = (struct answered){.n = 0};
    if (!ex->answer || !ex->answer->n_outputs) return false;
    const struct sql_node *count = ex->view.answer[QUERY_COUNT];
    bool counts = ex->answer->n_outputs == 1 || question_cue_next(ex->question, QUESTION_CUE_COUNT, 0) >= 0;
    for (uint32_t i = 0; counts && i < ex->answer->n_outputs; i++) {
        const struct sql_output *first = &ex->answer->outputs[i];
        if (first->expr && first->expr == count) {
            look_at_count(ex, count, out);
            return true;
        }
    }
    const struct sql_output *first = &ex->answer->outputs[0];
    if (first->table < 0 || first->column < 0) return false;
    out->column = ex->schema->tables[first->table].columns + first->column;
    add_table(out, (uint32_t)first->table);
    int referred = referred_table(ex, out->column);
    if (referred >= 0) add_table(out, (uint32_t)referred);
    return true;
}

/* --- features --- */

static void set_met(struct extraction *ex, uint32_t word, const struct answered *answered)
{
    float met = 0, other = 0;
    for (uint32_t t = 0; t < ex->schema->n_tables; t++) {
        float strength = names_table(ex, word, t);
        bool is_answered = false;
        for (uint32_t i = 0; i < answered->n; i++) is_answered |= answered->tables[i] == t;
        if (is_answered)
            met = MAX(met, strength);
        else
            other = MAX(other, strength);
    }
    ex->out[FEATURE_entity_met] = met;
    ex->out[FEATURE_entity_other] = other;
    ex->out[FEATURE_entity_gap] = met - other;
}

/* Rates the first column: 3 for a name, 2 for the primary key, -1 for a foreign key. Another column has 1 if the
 * question requests it, otherwise 0. */
static float shown(const struct extraction *ex, const struct schema_column *column)
{
    static const char *const NAMES[] = {"name", "titl", "title", "label", "lname", "fname", "surnam", NULL};
    if (query_name_has(column, NAMES)) return 3;
    if (column->pk) return 2;
    if (schema_is_foreign_key(ex->schema, column->id)) return -1;
    return extract_column_score(ex, column) > 0.5F;
}

static bool is_person(const struct extraction *ex, uint32_t table)
{
    static const char *const PERSONAL[] = {"fname", "lname",  "surnam", "birth", "birthday",
                                           "dob",   "gender", "sex",    NULL};
    const struct schema_table *t = &ex->schema->tables[table];
    uint32_t person = text_lexicon_word("person");
    for (uint32_t i = 0; i < t->words.n; i++) {
        enum text_relation_kind kind = text_lexicon_relate(t->words.items[i].word, person).kind;
        if (t->words.items[i].word == person || kind == TEXT_RELATION_HAS_KIND || kind == TEXT_RELATION_IS_A)
            return true;
    }
    for (uint32_t c = 0; c < t->n_columns; c++)
        if (query_name_has(&t->columns[c], PERSONAL)) return true;
    return false;
}

/* Returns 1 if the question asks for persons and the query returns persons, -1 if it returns something else. Returns
 * NAN unless the question begins with "who" and some table contains persons. */
static float who_met(const struct extraction *ex, const struct answered *answered)
{
    const struct text_tokens *tokens = &ex->question->tokens;
    bool met = false, any = false;
    if (!tokens->n || !g_str_has_prefix(tokens->items[0].norm, "who") || !answered->n) return (float)NAN;
    for (uint32_t i = 0; i < answered->n; i++) met |= is_person(ex, answered->tables[i]);
    for (uint32_t t = 0; t < ex->schema->n_tables && !any; t++) any = is_person(ex, t);
    return any ? (met ? 1 : -1) : (float)NAN;
}

/* Returns an array by block: true if the block reads columns other than keys. Returns NULL if the arena is full. */
static const bool *reads_more_than_keys(const struct extraction *ex)
{
    const struct sql_bound *bound = ex->subject->bound;
    bool *more = arena_new_array(ex->arena, bound->n_blocks, bool);
    for (uint32_t i = 0; more && i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct schema_column *c = ref->kind == SQL_REF_COLUMN ? schema_column_of(ex->schema, ref) : NULL;
        if (c && ref->source && ref->source->block && !c->pk && !schema_is_foreign_key(ex->schema, c->id))
            more[ref->source->block->index] = true;
    }
    return more;
}

/* Counts blocks that only filter by keys of a table that the question does not name. They are conditions that the
 * question lacks. */
static float unsaid_filters(const struct extraction *ex)
{
    const struct sql_bound *bound = ex->subject->bound;
    const bool *more = reads_more_than_keys(ex);
    float n = 0;
    if (!more) return (float)NAN;
    for (uint32_t b = 0; b < bound->n_blocks; b++) {
        const struct sql_block *block = bound->blocks[b];
        if (block == ex->answer || block->n_sources != 1 || block->sources[0].table < 0) continue;
        uint32_t table = (uint32_t)block->sources[0].table;
        float named = 0;
        for (uint32_t w = 0; w < ex->question->links->n_words; w++) named = MAX(named, names_table(ex, w, table));
        n += !more[b] && named < NAMED;
    }
    return n;
}

static bool is_key(const struct extraction *ex, const struct schema_column *column)
{
    return column->pk || (column->unique && !column->unique_measured) || schema_is_foreign_key(ex->schema, column->id);
}

/* Rates columns that are compared with each other, are not keys, and are not named by the question. Example: the
 * weights, if pairs of persons "of the same height" are requested. */
static float unsaid_pairs(const struct extraction *ex)
{
    float least = (float)NAN;
    for (uint32_t i = 0; i < ex->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &ex->shape->pairs[i];
        const struct schema_column *a = schema_column_of(ex->schema, pair->left),
                                   *b = schema_column_of(ex->schema, pair->right);
        if (!a || !b || is_key(ex, a) || is_key(ex, b)) continue;
        least = fminf(least, MIN(extract_column_score(ex, a), extract_column_score(ex, b)));
    }
    return isnan(least) ? least : 1 - least;
}

void extract_entity(struct extraction *ex)
{
    struct answered answered;
    if (!ex->question || !ex->question->links) return;
    ex->out[FEATURE_pairs_unsaid] = unsaid_pairs(ex);
    ex->out[FEATURE_filters_unsaid] = unsaid_filters(ex);
    if (!look_at_answer(ex, &answered)) return;
    uint32_t word = asked_word(ex), column = first_word(ex, 0, UINT32_MAX, true);
    ex->out[FEATURE_entity_counted] = (float)answered.counted;
    ex->out[FEATURE_who_met] = who_met(ex, &answered);
    if (answered.column) ex->out[FEATURE_entity_shown] = shown(ex, answered.column);
    if (column != NO_WORD) {
        ex->out[FEATURE_entity_column_first] = word == NO_WORD || column < word;
        if (answered.column) ex->out[FEATURE_entity_column_met] = names_column(ex, column, answered.column);
    }
    if (word == NO_WORD) return;
    ex->out[FEATURE_entity_asked] = names_any_table(ex, word);
    if (answered.n) set_met(ex, word, &answered);
}
