/* Maps the names and values of an example's script to another schema: by type, keys and words, never by name alone.
 *
 * If a part of the example has a counterpart in the target, it gets that name. Otherwise the schema's tables and
 * columns are scored. The weights of the scores are hand-set, not fitted. Choices are made in a fixed order, tables
 * before their columns. A caller can therefore request the next best option of any choice. */
#include "repair/transfer_int.h"

#include <glib.h>
#include <string.h>

enum { MAX_SOURCES = 16, MAX_COLUMNS = 32, MAX_VALUES = 8, MAX_PHRASE = 4 };

/* A FROM item of the example, with the name that qualifies its columns, and its counterpart in the target. */
struct source_map {
    const char *name;
    uint32_t name_len;
    int known;      /* number of the table in the example's catalogue, or -1 */
    const char *as; /* name of the counterpart in the target */
    int table;      /* table of the target's schema; -1 for a subquery */
};

struct column_map {
    const struct sql_node *from;       /* a COLUMN node of the example, text2.text */
    const char *as, *column;           /* qualifier (may be NULL) and name in the target */
    const struct schema_column *meant; /* NULL if the column is computed or unknown */
};

struct rebind {
    struct transfer *t;
    struct choices *choices;
    struct source_map sources[MAX_SOURCES];
    struct column_map columns[MAX_COLUMNS];
    uint32_t n_sources, n_columns;
};

/* An option of a choice, with its score. */
struct option {
    uint32_t at;
    double score;
};

/* Inserts an option into the list of the best, highest score first. Of equal scores, the earlier option comes first.
 * Returns their number. */
static uint32_t rank(struct option best[TRANSFER_MAX_OPTIONS], uint32_t n, struct option next)
{
    uint32_t at = n;
    while (at && best[at - 1].score < next.score) at--;
    if (at == TRANSFER_MAX_OPTIONS) return n;
    uint32_t kept = MIN(n, TRANSFER_MAX_OPTIONS - 1);
    memmove(&best[at + 1], &best[at], (kept - at) * sizeof *best);
    best[at] = next;
    return kept + 1;
}

static uint32_t choose(struct choices *c, uint32_t n_options)
{
    if (c->n == TRANSFER_MAX_CHOICES) return 0;
    uint32_t asked = c->asked[c->n];
    c->options[c->n++] = n_options;
    return MIN(asked, n_options - 1);
}

/* --- similarity --- */

static double shared_words(const struct text_tokens *x, const struct text_tokens *y)
{
    uint32_t common = 0;
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t j = 0; j < y->n; j++)
            if (strcmp(x->items[i].stem, y->items[j].stem) == 0) {
                common++;
                break;
            }
    return x->n + y->n ? 2.0 * common / (x->n + y->n) : 0;
}

/* Returns the share of the name's words that the question contains. */
static double in_question(const struct transfer *t, const struct text_tokens *words)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < words->n; i++)
        for (uint32_t j = 0; j < t->question.n; j++)
            if (strcmp(words->items[i].stem, t->question.items[j].stem) == 0) {
                found++;
                break;
            }
    return words->n ? (double)found / words->n : 0;
}

static struct text_tokens words_of(const struct transfer *t, const char *name)
{
    return text_split_identifier(t->arena, name, strlen(name));
}

/* --- parts with a counterpart in the target --- */

static bool same_name(const char *x, uint32_t x_len, const char *y)
{
    return x && y && sql_name_is(x, x_len, y, strlen(y));
}

static const char *exposed(const struct transfer *t, const struct sql_node *source)
{
    const char *name = source->alias ? source->alias : source->text;
    return name ? arena_strndup(t->arena, name, source->alias ? source->alias_len : source->text_len) : NULL;
}

static const struct source_map *find_source(const struct rebind *r, const char *name, uint32_t len)
{
    for (uint32_t i = 0; name && i < r->n_sources; i++)
        if (sql_name_is(r->sources[i].name, r->sources[i].name_len, name, len)) return &r->sources[i];
    return NULL;
}

static struct source_map *add_source(struct rebind *r, const char *name, uint32_t len, const char *as, int table)
{
    if (!name || !as || r->n_sources == MAX_SOURCES) return NULL;
    r->sources[r->n_sources] = (struct source_map){name, len, -1, as, table};
    return &r->sources[r->n_sources++];
}

static int table_of(const struct sql_node *source)
{
    return source->ref && source->ref->source ? source->ref->source->table : -1;
}

static void map_sources(struct rebind *r)
{
    const struct transfer *t = r->t;
    for (uint32_t i = 0; i < t->wrong.n; i++) {
        const struct sql_node *from = t->wrong.nodes[i], *to = t->in_target[i];
        bool source = from->kind == SQL_TABLE || from->kind == SQL_DERIVED;
        const char *name = source && to ? exposed(t, from) : NULL;
        if (!name || find_source(r, name, (uint32_t)strlen(name))) continue;
        struct source_map *map = add_source(r, name, (uint32_t)strlen(name), exposed(t, to), table_of(to));
        if (map) map->known = table_of(from);
    }
}

static const struct column_map *find_column(const struct rebind *r, const struct sql_node *from)
{
    for (uint32_t i = 0; i < r->n_columns; i++) {
        const struct sql_node *other = r->columns[i].from;
        bool bare = !from->text2 && !other->text2;
        if (!sql_name_is(from->text, from->text_len, other->text, other->text_len)) continue;
        if (bare ||
            (from->text2 && other->text2 && sql_name_is(from->text2, from->text2_len, other->text2, other->text2_len)))
            return &r->columns[i];
    }
    return NULL;
}

static bool add_column(struct rebind *r, const struct sql_node *from, const char *as, const char *column,
                       const struct schema_column *meant)
{
    if (r->n_columns == MAX_COLUMNS || !column) return false;
    r->columns[r->n_columns++] = (struct column_map){from, as, column, meant};
    return true;
}

/* True if another column of the example already maps to this column. Two different columns of the example usually have
 * two counterparts. */
static bool is_taken(const struct rebind *r, const char *as, const char *column)
{
    for (uint32_t i = 0; i < r->n_columns; i++) {
        const struct column_map *map = &r->columns[i];
        if (map->as && g_ascii_strcasecmp(map->as, as) == 0 && g_ascii_strcasecmp(map->column, column) == 0)
            return true;
    }
    return false;
}

static const char *text_in(const struct transfer *t, const char *text, uint32_t len)
{
    return text ? arena_strndup(t->arena, text, len) : NULL;
}

/* Maps a source of the example by the qualifiers of two matched columns. */
static void map_qualifier(struct rebind *r, const struct sql_node *from, const struct sql_node *to)
{
    const struct sql_source *in = to->ref ? to->ref->source : NULL;
    if (!in || !from->text2 || !to->text2 || find_source(r, from->text2, from->text2_len)) return;
    struct source_map *source =
        add_source(r, from->text2, from->text2_len, text_in(r->t, to->text2, to->text2_len), in->table);
    if (source && from->ref && from->ref->source) source->known = from->ref->source->table;
}

static void map_columns(struct rebind *r)
{
    const struct transfer *t = r->t;
    for (uint32_t i = 0; i < t->wrong.n; i++) {
        const struct sql_node *from = t->wrong.nodes[i], *to = t->in_target[i];
        if (from->kind != SQL_COLUMN || !to || find_column(r, from)) continue;
        add_column(r, from, text_in(t, to->text2, to->text2_len), text_in(t, to->text, to->text_len),
                   to->ref ? schema_column_of(t->schema, to->ref) : NULL);
        map_qualifier(r, from, to);
    }
}

/* Adds the tables of the target that have no counterpart in the example, because the script's columns may belong to
 * them. */
static void add_others(struct rebind *r)
{
    const struct transfer *t = r->t;
    for (uint32_t i = 0; i < t->target.n; i++) {
        const struct sql_node *n = t->target.nodes[i];
        const char *as = n->kind == SQL_TABLE ? exposed(t, n) : NULL;
        bool known = !as || table_of(n) < 0;
        for (uint32_t s = 0; !known && s < r->n_sources; s++) known = g_ascii_strcasecmp(r->sources[s].as, as) == 0;
        if (!known) add_source(r, "", 0, as, table_of(n));
    }
}

/* --- added tables --- */

/* True if, in the example, a column of table `from` references table `to`. */
static bool known_refers(const struct transfer *t, const char *from, const char *to)
{
    for (uint32_t i = 0; i < t->example->n_columns; i++) {
        const struct repair_column *c = &t->example->columns[i];
        if (c->references && g_ascii_strcasecmp(c->table, from) == 0 && g_ascii_strcasecmp(c->references, to) == 0)
            return true;
    }
    return false;
}

static bool refers(const struct schema_index *schema, uint32_t from, uint32_t to)
{
    for (uint32_t j = 0; j < schema->n_joins; j++)
        if (schema->joins[j].from_table == from && schema->joins[j].to_table == to) return true;
    return false;
}

static const char *known_table(const struct transfer *t, int known)
{
    return known >= 0 ? t->catalog->table_name(t->catalog->self, known) : NULL;
}

static double score_table(const struct rebind *r, int known, const struct text_tokens *words, uint32_t table)
{
    const struct transfer *t = r->t;
    const struct schema_table *candidate = &t->schema->tables[table];
    const char *name = known_table(t, known);
    double score = 3 * shared_words(words, &candidate->words) + 2 * in_question(t, &candidate->words);
    if (g_ascii_strcasecmp(name, candidate->bare) == 0) score += 1;
    for (uint32_t i = 0; i < r->n_sources; i++) {
        const struct source_map *s = &r->sources[i];
        const char *other = known_table(t, s->known);
        if (!other || s->table < 0) continue;
        if ((uint32_t)s->table == table) score += s->known == known ? 8 : -2;
        if (known_refers(t, name, other)) score += refers(t->schema, table, (uint32_t)s->table) ? 3 : -1;
        if (known_refers(t, other, name)) score += refers(t->schema, (uint32_t)s->table, table) ? 3 : -1;
    }
    return score;
}

/* True if no source of the target has this name, and no added source has it. */
static bool is_free(const struct rebind *r, const char *name)
{
    const struct flat_tree *target = &r->t->target;
    for (uint32_t i = 0; i < r->n_sources; i++)
        if (g_ascii_strcasecmp(r->sources[i].as, name) == 0) return false;
    for (uint32_t i = 0; i < target->n; i++) {
        const struct sql_node *n = target->nodes[i];
        if (n->kind != SQL_TABLE && n->kind != SQL_DERIVED) continue;
        if (n->alias ? same_name(n->alias, n->alias_len, name) : same_name(n->text, n->text_len, name)) return false;
    }
    return true;
}

static const char *free_name(const struct rebind *r, const char *table)
{
    const char *base = g_strrstr(table, ".") ? g_strrstr(table, ".") + 1 : table, *name = base;
    for (unsigned k = 2; name && !is_free(r, name) && k < 2 + MAX_SOURCES; k++)
        name = arena_printf(r->t->arena, "%s_%u", base, k);
    return name;
}

static bool choose_table(struct rebind *r, const struct sql_node *from)
{
    const struct transfer *t = r->t;
    const char *name = exposed(t, from);
    int known = table_of(from);
    struct option best[TRANSFER_MAX_OPTIONS];
    uint32_t n = 0;
    if (known < 0) return false;
    const struct text_tokens words = words_of(t, known_table(t, known));
    for (uint32_t i = 0; i < t->schema->n_tables; i++)
        n = rank(best, n, (struct option){i, score_table(r, known, &words, i)});
    if (!n) return false;
    uint32_t table = best[choose(r->choices, n)].at;
    struct source_map *map =
        add_source(r, name, (uint32_t)strlen(name), free_name(r, t->schema->tables[table].name), (int)table);
    if (map) map->known = known;
    return map != NULL;
}

static bool choose_tables(struct rebind *r)
{
    const struct flat_tree *right = &r->t->right;
    for (uint32_t i = 0; i < right->n; i++) {
        const struct sql_node *n = right->nodes[i];
        const char *name = n->kind == SQL_TABLE && r->t->is_new[i] ? exposed(r->t, n) : NULL;
        if (!name || find_source(r, name, (uint32_t)strlen(name))) continue;
        if (!choose_table(r, n)) return false;
    }
    return true;
}

/* --- columns that join the added tables --- */

static bool is_new_column(const struct rebind *r, const struct sql_node *n)
{
    return sql_is(n, SQL_COLUMN) && r->t->is_new[n->id] && n->text2;
}

/* Scores a join of the schema as the counterpart of the condition `left` = `right` of the example. `back` exchanges the
 * two sides of the join. */
static double score_join(const struct rebind *r, const struct schema_join *join, const struct sql_node *left,
                         const struct sql_node *right, bool back)
{
    const struct schema_index *schema = r->t->schema;
    const struct schema_column *from = schema->columns[join->from[0]], *to = schema->columns[join->to[0]];
    const struct schema_column *x = back ? to : from, *y = back ? from : to;
    double score =
        (join->declared ? 2 : 0) - (is_taken(r, find_source(r, left->text2, left->text2_len)->as, x->name) +
                                    is_taken(r, find_source(r, right->text2, right->text2_len)->as, y->name));
    score += same_name(left->text, left->text_len, x->name) ? 1 : 0;
    return score + (same_name(right->text, right->text_len, y->name) ? 1 : 0);
}

static bool choose_join(struct rebind *r, const struct sql_node *left, const struct sql_node *right)
{
    const struct schema_index *schema = r->t->schema;
    const struct source_map *x = find_source(r, left->text2, left->text2_len),
                            *y = find_source(r, right->text2, right->text2_len);
    struct option best[TRANSFER_MAX_OPTIONS];
    uint32_t n = 0;
    if (!x || !y || x->table < 0 || y->table < 0 || find_column(r, left) || find_column(r, right)) return true;
    for (uint32_t j = 0; j < 2 * schema->n_joins; j++) {
        const struct schema_join *join = &schema->joins[j / 2];
        bool back = j % 2;
        if (join->n_pairs != 1 || (int)join->from_table != (back ? y : x)->table ||
            (int)join->to_table != (back ? x : y)->table)
            continue;
        n = rank(best, n, (struct option){j, score_join(r, join, left, right, back)});
    }
    if (!n) return true;
    uint32_t pick = best[choose(r->choices, n)].at;
    const struct schema_join *join = &schema->joins[pick / 2];
    const struct schema_column *from = schema->columns[join->from[0]], *to = schema->columns[join->to[0]];
    bool back = pick % 2;
    return add_column(r, left, x->as, (back ? to : from)->name, back ? to : from) &&
           add_column(r, right, y->as, (back ? from : to)->name, back ? from : to);
}

static bool choose_joins(struct rebind *r)
{
    const struct flat_tree *right = &r->t->right;
    for (uint32_t i = 0; i < right->n; i++) {
        const struct sql_node *n = right->nodes[i];
        if (n->kind != SQL_BINARY || n->op != SQL_OP_EQ || !sql_up(n, SQL_ON)) continue;
        const struct sql_node *x = sql_kid(n, 0), *y = sql_kid(n, 1);
        if (is_new_column(r, x) && is_new_column(r, y) && !choose_join(r, x, y)) return false;
    }
    return true;
}

/* --- other added columns --- */

static bool is_key(const struct schema_index *schema, const struct schema_column *c)
{
    return c->pk || schema_is_foreign_key(schema, c->id);
}

/* Returns the node of the target that an update replaces by this node. Returns NULL if there is none. */
static const struct sql_node *replaced_in_target(const struct transfer *t, const struct sql_node *right)
{
    const struct sql_node *wrong = t->from_wrong[right->id];
    return wrong ? t->in_target[wrong->id] : NULL;
}

static bool is_shown_already(const struct transfer *t, const char *as, const struct schema_column *column)
{
    for (uint32_t i = 0; i < t->target.n; i++) {
        const struct sql_node *n = t->target.nodes[i];
        if (n->kind == SQL_COLUMN && sql_is(n->parent, SQL_ITEM) && same_name(n->text, n->text_len, column->name) &&
            same_name(n->text2, n->text2_len, as))
            return true;
    }
    return false;
}

/* A column that the script adds, with the known facts about it. */
struct wanted {
    const struct sql_node *from;
    const struct source_map *home;     /* counterpart of its table in the target; NULL if unknown */
    const struct repair_column *known; /* NULL if unknown */
    struct text_tokens words;          /* words of its name */
    const char *unbound;               /* unbound name in the target that the column replaces; may be NULL */
};

static struct wanted wanted_of(const struct rebind *r, const struct sql_node *from)
{
    const struct transfer *t = r->t;
    const struct sql_node *old = replaced_in_target(t, from);
    struct wanted w = {.from = from, .known = transfer_column_of(t->catalog, from->ref)};
    w.home = find_source(r, from->text2, from->text2_len);
    if (w.known) w.words = words_of(t, w.known->column);
    bool unbound = sql_is(old, SQL_COLUMN) &&
                   (!old->ref || old->ref->kind == SQL_REF_UNKNOWN || old->ref->kind == SQL_REF_AMBIGUOUS);
    if (unbound) w.unbound = text_in(t, old->text, old->text_len);
    return w;
}

static double score_column(const struct rebind *r, const struct wanted *w, const struct source_map *source,
                           const struct schema_column *c)
{
    const struct transfer *t = r->t;
    double score = 2 * in_question(t, &c->words) + (w->home == source ? 2 : 0);
    if (is_taken(r, source->as, c->name)) score -= 3;
    if (w->known) {
        bool was_key = w->known->primary_key || w->known->references;
        score += 3 * shared_words(&w->words, &c->words) + (g_ascii_strcasecmp(w->known->column, c->name) == 0 ? 2 : 0);
        score += w->known->primary_key == (c->pk > 0) ? 0.5 : -1;
        score += was_key == is_key(t->schema, c) ? 1.5 : -1.5;
        score += transfer_is_alike(w->known->type, c->type) ? 1.5 : -1.5;
    }
    if (w->unbound) score += 4 * text_similarity(w->unbound, text_fold(t->arena, c->name, strlen(c->name)));
    if (sql_is(w->from->parent, SQL_ITEM) && is_shown_already(t, source->as, c)) score -= 2;
    return score;
}

/* Chooses a column of the sources that the target has or gets. An option encodes a column and its source. */
static bool choose_column(struct rebind *r, const struct sql_node *from)
{
    const struct schema_index *schema = r->t->schema;
    const struct wanted wanted = wanted_of(r, from);
    struct option best[TRANSFER_MAX_OPTIONS];
    uint32_t n = 0;
    if (wanted.home && wanted.home->table < 0)
        return add_column(r, from, wanted.home->as, text_in(r->t, from->text, from->text_len), NULL);
    for (uint32_t s = 0; s < r->n_sources; s++) {
        const struct source_map *source = &r->sources[s];
        const struct schema_table *table = source->table < 0 ? NULL : &schema->tables[source->table];
        for (uint32_t c = 0; table && c < table->n_columns; c++) {
            const struct schema_column *column = &table->columns[c];
            double score = score_column(r, &wanted, source, column);
            n = rank(best, n, (struct option){column->id * MAX_SOURCES + s, score});
        }
    }
    if (!n) return false;
    uint32_t pick = best[choose(r->choices, n)].at;
    const struct schema_column *column = schema->columns[pick / MAX_SOURCES];
    return add_column(r, from, r->sources[pick % MAX_SOURCES].as, column->name, column);
}

static bool choose_columns(struct rebind *r)
{
    const struct flat_tree *right = &r->t->right;
    for (uint32_t i = 0; i < right->n; i++) {
        const struct sql_node *n = right->nodes[i];
        if (n->kind == SQL_COLUMN && r->t->is_new[i] && !find_column(r, n) && !choose_column(r, n)) return false;
    }
    return true;
}

/* --- values --- */

/* Returns the column that a value is compared with. Returns NULL if it is unknown. */
static const struct schema_column *compared_with(const struct rebind *r, const struct sql_node *literal)
{
    const struct sql_node *n = literal->parent;
    while (n && (n->kind == SQL_LIST || n->kind == SQL_CALL || n->kind == SQL_ARGS || n->kind == SQL_UNARY))
        n = n->parent;
    for (uint32_t i = 0; n && i < n->n_kids; i++) {
        const struct column_map *map = sql_is(n->kids[i], SQL_COLUMN) ? find_column(r, n->kids[i]) : NULL;
        if (map) return map->meant;
    }
    return NULL;
}

static bool lends(const struct transfer *t, const struct schema_column *column)
{
    const struct repair_query *q = t->query;
    return q->values && !schema_column_is_denied(t->schema, column, q->deny_columns, q->n_deny_columns);
}

/* Returns the stored form of a value of the column that occurs as a phrase in the question. Returns NULL if there is
 * none. */
static const char *asked_value(const struct transfer *t, const struct schema_column *column)
{
    struct schema_hit hits[MAX_VALUES];
    for (uint32_t n = MAX_PHRASE; n; n--)
        for (uint32_t i = 0; i + n <= t->question.n; i++) {
            const struct text_token *first = &t->question.items[i], *last = &t->question.items[i + n - 1];
            bool quoted = n == 1 && first->kind == TEXT_QUOTED && first->end - first->start > 2;
            uint32_t start = first->start + quoted, end = last->end - quoted;
            if (n == 1 && first->is_stop) continue;
            uint32_t found = schema_values_with(t->schema, t->question.source + start, end - start, hits, MAX_VALUES);
            for (uint32_t h = 0; h < found; h++)
                if (hits[h].column == column->id) return hits[h].form;
        }
    return NULL;
}

static const char *nearest_value(const struct transfer *t, const struct schema_column *column,
                                 const struct sql_node *old)
{
    const char *found = NULL;
    if (!sql_is(old, SQL_LITERAL) || old->op != SQL_LIT_STRING) return NULL;
    if (schema_column_has(t->schema, column, old->text, old->text_len, true) != 0) return NULL;
    return schema_nearest_values(t->arena, t->schema, column, old->text, old->text_len, &found, 1) ? found : NULL;
}

/* True if the script replaces the same old value in the target as in the example. The example's new value then applies
 * unchanged. */
static bool is_same_edit(const struct rebind *r, const struct sql_node *literal, const struct sql_node *old)
{
    const struct sql_node *wrong = r->t->from_wrong[literal->id];
    if (wrong && old)
        return wrong->op == old->op && same_name(wrong->text, wrong->text_len, text_in(r->t, old->text, old->text_len));
    return false;
}

static bool is_whole_example(const struct rebind *r)
{
    return sql_equal(r->t->wrong.stmt->root, r->t->target.stmt->root);
}

/* Replaces a text value of the example by one for the target. Numbers, as in LIMIT 1 or > 0, are copied unchanged. */
static bool rebind_value(struct rebind *r, struct sql_node *literal)
{
    const struct transfer *t = r->t;
    const struct sql_node *old = replaced_in_target(t, literal);
    if (literal->op != SQL_LIT_STRING || is_same_edit(r, literal, old) || is_whole_example(r)) return true;
    const struct schema_column *column = compared_with(r, t->right.nodes[literal->id]);
    if (!column || !lends(t, column)) return false;
    const char *value = old ? nearest_value(t, column, old) : NULL;
    if (!value) value = asked_value(t, column);
    if (!value) return schema_column_has(t->schema, column, literal->text, literal->text_len, true) == 1;
    literal->text = value;
    literal->text_len = (uint32_t)strlen(value);
    return true;
}

/* --- the copy --- */

static void set_text(const char **text, uint32_t *len, const char *to)
{
    *text = to;
    *len = to ? (uint32_t)strlen(to) : 0;
}

static bool rename_node(struct rebind *r, struct sql_node *n)
{
    const struct source_map *source;
    const struct column_map *column;
    const char *name;
    switch (n->kind) {
    case SQL_COLUMN:
        if (!(column = find_column(r, r->t->right.nodes[n->id]))) return false;
        set_text(&n->text2, &n->text2_len, column->as);
        set_text(&n->text, &n->text_len, column->column);
        n->quote = n->alias_quote = 0;
        return true;
    case SQL_TABLE:
        name = exposed(r->t, r->t->right.nodes[n->id]);
        if (!name || !(source = find_source(r, name, (uint32_t)strlen(name)))) return false;
        if (source->table < 0) return true;
        set_text(&n->text, &n->text_len, r->t->schema->tables[source->table].bare);
        set_text(&n->text2, &n->text2_len, r->t->schema->tables[source->table].schema);
        set_text(&n->alias, &n->alias_len, g_ascii_strcasecmp(source->as, n->text) == 0 ? NULL : source->as);
        n->quote = 0;
        return true;
    case SQL_STAR:
        if (!n->text || !(source = find_source(r, n->text, n->text_len))) return !n->text;
        set_text(&n->text, &n->text_len, source->as);
        return true;
    case SQL_LITERAL: return rebind_value(r, n);
    default: return true;
    }
}

struct sql_node *transfer_rebind(struct transfer *t, struct choices *choices)
{
    struct rebind r = {.t = t, .choices = choices};
    map_sources(&r);
    map_columns(&r);
    add_others(&r);
    if (!choose_tables(&r) || !choose_joins(&r) || !choose_columns(&r)) return NULL;
    struct sql_node *right = sql_copy(t->arena, t->right.stmt->root);
    for (struct sql_node *n = right; n; n = sql_walk(right, n))
        if (t->is_new[n->id] && !rename_node(&r, n)) return NULL;
    return right;
}
