/* Detects exchanged roles of two columns, and exchanged sides of a self-join.
 *
 * A table of axes lists the words of opposite roles, such as source and destination. Two columns of a table form a pair
 * if they have the two roles of an axis. Also, their names must differ in one word only, or both must refer to the same
 * table. The words beside a literal of the question tell its role. Strong words count within a short distance, and weak
 * ones only directly before the value. The sides of a self-join are child and parent, and words such as "boss of"
 * distinguish them. */
#include "signals/support/role.h"

#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "signals/support/names.h"
#include "signals/support/predicate.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { REACH = 7, WEAK_REACH = 3, AFTER = 4, MAX_HOPS = 2, NO_SIDE = -1 };

/* Words of the two opposite roles, as stems. `name` has words of column names, and `said` has words of the question.
 * The words in `weak` count only shortly before a value. */
static const struct axis {
    const char *const name[2][10], *const said[2][12], *const weak[2][4];
} AXES[] = {
    {{{"sourc", "src", "origin", "departur", "depart", "from", "start", "begin", "pickup", NULL},
      {"destin", "dest", "dst", "arriv", "to", "end", "finish", "target", "dropoff", NULL}},
     {{"depart", "departur", "leav", "left", "origin", "start", "began", "begin", "sourc", "outbound", NULL},
      {"arriv", "destin", "land", "end", "finish", "reach", "bound", "termin", "toward", "target", NULL}},
     {{"from", "out", NULL}, {"to", "into", NULL}}},
    {{{"home", "host", NULL}, {"away", "visit", "visitor", "guest", NULL}},
     {{"home", "host", NULL}, {"away", "visit", "visitor", "guest", NULL}},
     {{NULL}, {NULL}}},
    {{{"winner", "win", "won", "victor", NULL}, {"loser", "lose", "lost", NULL}},
     {{"winner", "won", "win", "victor", NULL}, {"loser", "lost", "lose", NULL}},
     {{NULL}, {NULL}}},
    {{{"mother", NULL}, {"father", NULL}},
     {{"mother", "mom", "mum", "matern", NULL}, {"father", "dad", "patern", NULL}},
     {{NULL}, {NULL}}},
    {{{"sender", "send", "sent", NULL}, {"receiv", "recipi", "receiver", NULL}},
     {{"sender", "sent", "send", NULL}, {"receiv", "receiver", "recipi", NULL}},
     {{"from", "by", NULL}, {"to", NULL}}},
    {{{"buyer", "buy", "bought", NULL}, {"seller", "sell", "sold", NULL}},
     {{"buyer", "bought", "buy", NULL}, {"seller", "sold", "sell", NULL}},
     {{NULL}, {NULL}}},
    {{{"birth", "born", NULL}, {"death", "die", "dead", NULL}},
     {{"birth", "born", NULL}, {"death", "die", "dead", "deceas", NULL}},
     {{NULL}, {NULL}}},
};

/* The role of a column. */
struct part {
    const struct schema_column *column, *other; /* `other` is the column with the opposite role */
    const struct axis *axis;
    int side;
};

struct look {
    struct vsig_subject *subject;
    const struct vsig_shape *shape;
    struct vsig_roles *out;
    unsigned said; /* bit 1U << index for each axis that the question has a word for */
};

/* --- the role of a column --- */

static bool name_has(const struct schema_column *column, const char *const *words)
{
    for (uint32_t i = 0; i < column->words.n; i++)
        if (question_token_is(&column->words.items[i], words)) return true;
    return false;
}

static int side_of(const struct axis *axis, const struct schema_column *column)
{
    bool a = name_has(column, axis->name[0]), b = name_has(column, axis->name[1]);
    return a == b ? NO_SIDE : b;
}

static int refers_to(const struct schema_index *schema, const struct schema_column *column)
{
    for (uint32_t i = 0; i < schema->n_joins; i++)
        if (schema->joins[i].n_pairs == 1 && schema->joins[i].from[0] == column->id)
            return (int)schema->joins[i].to_table;
    return -1;
}

/* True if the names differ in exactly one word. */
static bool named_alike(const struct schema_column *a, const struct schema_column *b)
{
    uint32_t differ = 0;
    if (a->words.n != b->words.n) return false;
    for (uint32_t i = 0; i < a->words.n; i++) differ += strcmp(a->words.items[i].stem, b->words.items[i].stem) != 0;
    return differ == 1;
}

static bool part_of(const struct look *look, const struct schema_column *column, struct part *part)
{
    const struct schema_index *schema = look->subject->schema;
    const struct schema_table *table = &schema->tables[column->table];
    for (size_t k = 0; k < G_N_ELEMENTS(AXES); k++) {
        int side = look->said >> k & 1U ? side_of(&AXES[k], column) : NO_SIDE;
        if (side == NO_SIDE) continue;
        for (uint32_t i = 0; i < table->n_columns; i++) {
            const struct schema_column *other = &table->columns[i];
            if (other->affinity != column->affinity || side_of(&AXES[k], other) != 1 - side) continue;
            int to = refers_to(schema, column);
            if (!named_alike(column, other) && (to < 0 || to != refers_to(schema, other))) continue;
            *part = (struct part){column, other, &AXES[k], side};
            return true;
        }
    }
    return false;
}

/* Finds the role of the rows of `source`, from a column that refers to them. With `hops`, also searches the sources
 * that `source` refers to. */
static bool part_of_source(const struct look *look, const struct sql_source *source, unsigned hops, struct part *part)
{
    for (uint32_t i = 0; i < look->shape->n_pairs; i++) {
        const struct sql_ref *ends[2] = {look->shape->pairs[i].left, look->shape->pairs[i].right};
        for (unsigned e = 0; e < 2; e++) {
            const struct schema_column *column = schema_column_of(look->subject->schema, ends[1 - e]);
            if (ends[e]->source != source || !column) continue;
            if (part_of(look, column, part)) return true;
        }
    }
    for (uint32_t i = 0; hops && i < look->shape->n_pairs; i++) {
        const struct sql_ref *ends[2] = {look->shape->pairs[i].left, look->shape->pairs[i].right};
        for (unsigned e = 0; e < 2; e++) {
            const struct schema_column *near = schema_column_of(look->subject->schema, ends[e]);
            bool up = ends[e]->source == source && ends[1 - e]->source != source && near && !near->unique;
            if (up && part_of_source(look, ends[1 - e]->source, 0, part)) return true;
        }
    }
    return false;
}

/* --- the role in the question --- */

/* Finds the literal in the question. Returns false if it does not occur exactly once. */
static bool find_literal(const struct look *look, const struct sql_node *literal, struct question_phrase *at)
{
    const struct text_tokens *tokens = &look->subject->analysis->tokens;
    struct text_tokens words = text_tokenize(look->subject->arena, literal->text, literal->text_len);
    uint32_t n_found = 0;
    if (!words.n) return false;
    for (uint32_t i = 0; i + words.n <= tokens->n; i++) {
        uint32_t same = 0;
        while (same < words.n && strcmp(words.items[same].stem, tokens->items[i + same].stem) == 0) same++;
        if (same == words.n) *at = (struct question_phrase){i, words.n}, n_found++;
    }
    return n_found == 1;
}

/* Returns the side of the axis that the words beside the value name, or NO_SIDE. */
static int side_said(const struct text_tokens *tokens, const struct axis *axis, const struct question_phrase *value,
                     bool is_number)
{
    static const char *const IS[] = {"as", "is", "was", "are", "were", NULL};
    for (uint32_t back = 1; back <= REACH && back <= value->first; back++) {
        const struct text_token *token = &tokens->items[value->first - back];
        for (int side = 0; side < 2; side++) {
            if (question_token_is(token, axis->said[side])) return side;
            if (back <= WEAK_REACH && !is_number && question_token_is(token, axis->weak[side])) return side;
        }
    }
    uint32_t end = value->first + value->n_tokens;
    bool told = false;
    for (uint32_t i = end; i < end + AFTER && i < tokens->n; i++) {
        told |= question_token_is(&tokens->items[i], IS);
        for (int side = 0; told && side < 2; side++)
            if (question_token_is(&tokens->items[i], axis->said[side])) return side;
    }
    return NO_SIDE;
}

static void look_at_value(struct look *look, const struct vsig_predicate *predicate)
{
    struct part part;
    struct question_phrase value;
    struct vsig_roles *out = look->out;
    bool has = part_of(look, predicate->column, &part) ||
               (predicate->ref->source && part_of_source(look, predicate->ref->source, MAX_HOPS, &part));
    if (!has) return;
    for (uint32_t i = 0; i < predicate->n_literals; i++) {
        double number;
        if (!predicate->literals[i]->text || !find_literal(look, predicate->literals[i], &value)) continue;
        int side = side_said(&look->subject->analysis->tokens, part.axis, &value,
                             query_literal_number(predicate->literals[i], &number));
        if (side == NO_SIDE) continue;
        out->match += side == part.side;
        out->mismatch += side != part.side;
        if (side == part.side || out->at) continue;
        out->at = predicate->node;
        out->used = part.column;
        out->wanted = part.other;
    }
}

/* --- roles that the query uses and the question names at any place --- */

static void look_at_words(struct look *look)
{
    const struct sql_bound *bound = look->subject->bound;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct schema_column *column = schema_column_of(look->subject->schema, bound->refs[i]);
        struct part part;
        if (!column || !part_of(look, column, &part)) continue;
        bool own = vsig_question_says(look->subject, part.axis->said[part.side]);
        bool other = vsig_question_says(look->subject, part.axis->said[1 - part.side]);
        look->out->words_match += own;
        look->out->words_mismatch += other && !own;
    }
}

/* --- the two sides of a self-join --- */

static const char *const BOSS[] = {"boss",   "manag", "manager", "supervisor", "superior", "parent", "head",
                                   "leader", "lead",  "mentor",  "chief",      "oversee",  NULL};
static const char *const OF[] = {"of", "for", "to", NULL};
static const char *const MANAGES[] = {"manages", "supervises", "heads", "leads", "oversees", "mentors", NULL};
static const char *const UNDER[] = {"report to",
                                    "reports to",
                                    "reporting to",
                                    "reported to",
                                    "managed by",
                                    "supervised by",
                                    "led by",
                                    "headed by",
                                    "overseen by",
                                    "mentored by",
                                    "work for",
                                    "works for",
                                    "working for",
                                    "work under",
                                    "works under",
                                    "working under",
                                    "subordinates of",
                                    "under",
                                    "reports directly to",
                                    "report directly to",
                                    "reporting directly to",
                                    "direct reports of",
                                    "answers to",
                                    "answer to",
                                    NULL};

enum end { END_UNKNOWN, END_CHILD, END_PARENT };

/* Returns whether the value in the question belongs to the child or to the parent of the relation. */
static enum end end_of_value(const struct question *question, const struct question_phrase *value)
{
    const struct text_tokens *tokens = &question->tokens;
    uint32_t end = value->first + value->n_tokens;
    struct question_phrase under;
    for (uint32_t back = 1; back <= 3 && back <= value->first; back++)
        if (question_phrase_find(question, UNDER, value->first - back, &under) &&
            under.first + under.n_tokens == value->first)
            return END_PARENT;
    const struct text_token *last = &tokens->items[end - 1];
    const char *quote = strchr(last->norm, '\'');
    bool owns =
        (quote && quote[1] == 's') || (end + 1 < tokens->n && strcmp(tokens->items[end].norm, "s") == 0) ||
        (end + 2 < tokens->n && tokens->items[end].kind == TEXT_PUNCT && strcmp(tokens->items[end + 1].norm, "s") == 0);
    for (uint32_t i = end; owns && i < tokens->n && i < end + 4; i++)
        if (question_token_is(&tokens->items[i], BOSS)) return END_CHILD;
    if (value->first >= 1 && question_token_is(&tokens->items[value->first - 1], MANAGES)) return END_CHILD;
    if (value->first >= 2 && question_token_is(&tokens->items[value->first - 1], OF) &&
        question_token_is(&tokens->items[value->first - 2], BOSS))
        return END_CHILD;
    return END_UNKNOWN;
}

static bool is_shown(const struct look *look, const struct sql_source *source)
{
    const struct vsig_block_shape *shape = source->block ? &look->shape->blocks[source->block->index] : NULL;
    return shape && (shape->shown & vsig_source_bit(shape->block, source));
}

static void count_end(struct look *look, const struct sql_join_pair *pair, bool match)
{
    look->out->ends_match += match;
    look->out->ends_mismatch += !match;
    if (!match && !look->out->ends_at) look->out->ends_at = pair->node;
}

static void look_at_ends(struct look *look, const struct sql_join_pair *pair, const struct vsig_predicate *predicates,
                         uint32_t n)
{
    static const char *const THAN[] = {"than their", "than his", "than her", "than its", "than the one who", NULL};
    const struct text_tokens *tokens = &look->subject->analysis->tokens;
    const struct schema_column *left = schema_column_of(look->subject->schema, pair->left);
    const struct schema_column *right = schema_column_of(look->subject->schema, pair->right);
    if (!left || !right || left->table != right->table || left->unique == right->unique) return;
    const struct sql_source *child = left->unique ? pair->right->source : pair->left->source,
                            *parent = left->unique ? pair->left->source : pair->right->source;
    if (!child || !parent || child == parent) return;
    struct question_phrase at;
    if (question_phrase_find(look->subject->analysis, THAN, 0, &at))
        for (uint32_t i = at.first + at.n_tokens; i < tokens->n && i < at.first + at.n_tokens + 3; i++)
            if (question_token_is(&tokens->items[i], BOSS) && is_shown(look, child) != is_shown(look, parent))
                count_end(look, pair, is_shown(look, child));
    for (uint32_t i = 0; i < n; i++) {
        const struct sql_source *source = predicates[i].ref->source;
        if ((source != child && source != parent) || !predicates[i].n_literals || !predicates[i].literals[0]->text ||
            !find_literal(look, predicates[i].literals[0], &at))
            continue;
        enum end end = end_of_value(look->subject->analysis, &at);
        if (end != END_UNKNOWN) count_end(look, pair, (end == END_CHILD) == (source == child));
    }
}

/* Returns the axes for which the question has words, as bits. */
static unsigned axes_said(const struct vsig_subject *subject)
{
    unsigned said = 0;
    for (size_t k = 0; k < G_N_ELEMENTS(AXES); k++)
        for (int side = 0; side < 2; side++)
            if (vsig_question_says(subject, AXES[k].said[side]) || vsig_question_says(subject, AXES[k].weak[side]))
                said |= 1U << k;
    return said;
}

const struct vsig_roles *vsig_roles_look(struct vsig_subject *subject)
{
    if (subject->roles) return subject->roles;
    struct vsig_roles *roles = arena_new(subject->arena, struct vsig_roles);
    struct look look = {subject, vsig_shape(subject), roles, axes_said(subject)};
    if (!roles || !look.shape) return NULL;
    if (!subject->analysis) return subject->roles = roles;
    struct vsig_predicate predicates[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(subject, predicates);
    for (uint32_t i = 0; i < n; i++) look_at_value(&look, &predicates[i]);
    for (uint32_t i = 0; i < look.shape->n_pairs; i++) look_at_ends(&look, &look.shape->pairs[i], predicates, n);
    look_at_words(&look);
    return subject->roles = roles;
}
