/* Reads relations: FROM, conditions, grain, outputs, order, and set operations.
 *
 * DESIGN. A SELECT is read in this order: sources and joins, conditions, outputs, keys, HAVING. The conditions of inner
 * joins and of WHERE are one set of conjuncts. A derived table or CTE that only selects and computes columns is merged.
 * Its sources and conditions become those of the relation that reads it, and its outputs are read at once. A CTE that
 * is used twice therefore has two instances of its tables. Bindings are a stack: those of a relation are dropped at its
 * end. */
#include "lib/meaning/meaning_int.h"

#include <stdlib.h>
#include <string.h>

/* A relation that is being read. */
struct meaning_builder {
    struct meaning *m;
    struct meaning_term *where; /* conjuncts of WHERE and of inner joins */
    uint32_t cap_sources, n_relations;
};

static void read_from(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *node);

/* --- sources --- */

static struct meaning_source *add_source(struct meaning_reader *r, struct meaning_builder *b,
                                         const struct sql_node *node)
{
    struct meaning *m = b->m;
    if (m->n_sources == b->cap_sources) {
        uint32_t cap = b->cap_sources ? b->cap_sources * 2 : 4;
        struct meaning_source *more = arena_new_array(r->arena, cap, struct meaning_source);
        if (!more) {
            r->failed = true;
            return NULL;
        }
        if (m->n_sources) memcpy(more, m->sources, m->n_sources * sizeof *more);
        m->sources = more;
        b->cap_sources = cap;
    }
    struct meaning_source *source = &m->sources[m->n_sources++];
    *source = (struct meaning_source){.table = -1, .start = node->start, .end = node->end};
    return source;
}

static struct meaning_binding *add_binding(struct meaning_reader *r, const struct sql_source *source)
{
    struct meaning_binding *binding = arena_new(r->arena, struct meaning_binding);
    if (!binding) {
        r->failed = true;
        return NULL;
    }
    *binding = (struct meaning_binding){.source = source, .scope = r->scope, .next = r->bindings};
    r->bindings = binding;
    return binding;
}

static const char *name_instance(struct meaning_reader *r, const struct meaning *m, int table)
{
    const struct sql_catalog *catalog = r->bound->catalog;
    const char *name = catalog->table_name(catalog->self, table);
    unsigned n = 1;
    for (uint32_t i = 0; i < m->n_sources; i++) n += m->sources[i].table == table;
    const char *plain = meaning_lower(r, name, strlen(name));
    if (n == 1) return plain;
    char *numbered = arena_printf(r->arena, "%s#%u", plain, n);
    if (!numbered) r->failed = true;
    return numbered ? numbered : plain;
}

static void read_table(struct meaning_reader *r, struct meaning_builder *b, const struct sql_source *source)
{
    const char *name = name_instance(r, b->m, source->table);
    struct meaning_source *added = add_source(r, b, source->node);
    struct meaning_binding *binding = add_binding(r, source);
    if (!added || !binding) return;
    added->name = binding->name = name;
    added->table = source->table;
}

static const struct sql_node *query_of(const struct sql_source *source)
{
    return source->of ? source->of->query : NULL;
}

static bool has_window(const struct sql_node *items)
{
    for (const struct sql_node *n = items; n; n = sql_walk(items, n))
        if (n->kind == SQL_CALL && sql_kid(n, CALL_WINDOW)) return true;
    return false;
}

/* True for a query that only selects and computes columns, row by row. */
static bool is_simple(const struct sql_source *source)
{
    const struct sql_node *query = query_of(source), *select = sql_kid(query, QUERY_BODY);
    if (!sql_is(select, SQL_SELECT) || sql_kid(query, QUERY_LIMIT) || sql_kid(query, QUERY_ORDER) ||
        sql_kid(query, QUERY_WITH))
        return false;
    return !sql_kid(select, SELECT_DISTINCT) && !sql_kid(select, SELECT_GROUP) && !sql_kid(select, SELECT_HAVING) &&
           !source->of->aggregate && !source->of->arm && !has_window(sql_kid(select, SELECT_ITEMS));
}

/* Returns the column of a source that * expands to under this name; NULL if the source has none. */
static struct meaning_term *read_star_column(struct meaning_reader *r, const struct sql_source *source,
                                             const struct sql_output *output)
{
    const struct sql_catalog *catalog = r->bound->catalog;
    if (source->kind == SQL_SOURCE_TABLE && source->table == output->table)
        return meaning_read_source_column(r, source, output->column,
                                          catalog->column_name(catalog->self, output->table, output->column), NULL);
    for (uint32_t i = 0; source->kind != SQL_SOURCE_TABLE && i < source->n_outputs; i++)
        if (sql_name_is(source->outputs[i].name, source->outputs[i].name_len, output->name, output->name_len))
            return meaning_read_source_column(r, source, (int)i, "", NULL);
    return NULL;
}

/* Reads an output. A column of * is unknown if several sources may provide it. */
static struct meaning_term *read_output(struct meaning_reader *r, const struct sql_block *block, uint32_t i)
{
    const struct sql_output *output = &block->outputs[i];
    struct meaning_term *found = NULL;
    if (output->expr) return meaning_read_term(r, output->expr);
    for (uint32_t s = 0; s < block->n_sources; s++) {
        struct meaning_term *column = read_star_column(r, &block->sources[s], output);
        if (column && found) return meaning_term_unknown(r, "a column of a star over several sources", block->node);
        if (column) found = column;
    }
    return found ? found : meaning_term_unknown(r, "a column of a star", block->node);
}

/* Merges a simple query: reads its sources and conditions into the current relation, and then its outputs. */
static void merge_query(struct meaning_reader *r, struct meaning_builder *b, const struct sql_source *source)
{
    const struct sql_block *block = source->of;
    const struct meaning_reading reading = {block, r->reading};
    const struct sql_node *from = sql_kid(block->node, SELECT_FROM), *where = sql_kid(block->node, SELECT_WHERE);
    struct meaning_term **terms = arena_new_array(r->arena, block->n_outputs, struct meaning_term *);
    if (!terms) {
        r->failed = true;
        return;
    }
    r->reading = &reading;
    for (uint32_t i = 0; from && i < from->n_kids; i++) read_from(r, b, from->kids[i]);
    if (where) b->where = meaning_join_terms(r, "and", b->where, meaning_read_condition(r, sql_kid(where, 0), false));
    for (uint32_t i = 0; i < block->n_outputs; i++) terms[i] = read_output(r, block, i);
    r->reading = reading.outer;
    struct meaning_binding *binding = add_binding(r, source);
    if (!binding) return;
    binding->terms = terms;
    binding->n_terms = block->n_outputs;
}

static void read_relation(struct meaning_reader *r, struct meaning_builder *b, const struct sql_source *source)
{
    const struct meaning_reading reading = {source->of, r->reading};
    r->reading = &reading;
    struct meaning *relation = meaning_read_query(r, query_of(source));
    r->reading = reading.outer;
    struct meaning_source *added = add_source(r, b, source->node);
    struct meaning_binding *binding = add_binding(r, source);
    char *name = arena_printf(r->arena, "q%u", ++b->n_relations);
    if (!added || !binding || !name || !relation) {
        r->failed = true;
        return;
    }
    added->name = binding->relation_name = name;
    added->relation = binding->relation = relation;
}

static void fail_condition(struct meaning_reader *r, struct meaning_builder *b, const char *reason,
                           const struct sql_node *node)
{
    b->where = meaning_join_terms(r, "and", b->where, meaning_term_unknown(r, reason, node));
}

static bool is_sample(const struct sql_node *table)
{
    return table->text3 && table->text3_len >= 11 && sql_name_is(table->text3, 11, "tablesample", 11);
}

static bool is_being_read(const struct meaning_reader *r, const struct sql_block *block)
{
    for (const struct meaning_reading *at = r->reading; at; at = at->outer)
        if (at->block == block) return true;
    return false;
}

static void read_source(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *node, bool optional)
{
    const struct sql_source *source = node->ref ? node->ref->source : NULL;
    const struct sql_block *block = sql_block_of(r->bound, node);
    for (uint32_t i = 0; !source && block && i < block->n_sources; i++)
        if (block->sources[i].node == node) source = &block->sources[i];
    bool is_query = source && source->of && (source->kind == SQL_SOURCE_CTE || source->kind == SQL_SOURCE_DERIVED);
    if (r->depth >= MEANING_MAX_DEPTH || r->n_terms >= MEANING_MAX_TERMS || b->m->n_sources >= MEANING_MAX_SOURCES)
        fail_condition(r, b, "the query is too large", node);
    else if (source && source->kind == SQL_SOURCE_TABLE && is_sample(node))
        fail_condition(r, b, "a sample of a table", node);
    else if (source && source->kind == SQL_SOURCE_TABLE)
        read_table(r, b, source);
    else if (is_query && is_being_read(r, source->of))
        fail_condition(r, b, "a recursive query", node);
    else if (is_query && !optional && is_simple(source))
        merge_query(r, b, source);
    else if (is_query)
        read_relation(r, b, source);
    else
        fail_condition(r, b, "a table function", node);
}

/* --- joins --- */

/* True if the left side contains a right or full join. The column that USING merges is then not that of the left
 * side. */
static bool keeps_right_side(const struct sql_node *join)
{
    const struct sql_node *left = sql_kid(join, JOIN_LEFT);
    for (; sql_is(left, SQL_JOIN) || sql_is(left, SQL_FROM_PAREN); left = sql_kid(left, 0))
        if (left->kind == SQL_JOIN && (left->op == SQL_JOIN_RIGHT_OUTER || left->op == SQL_JOIN_FULL_OUTER))
            return true;
    return false;
}

static struct meaning_term *read_using(struct meaning_reader *r, const struct sql_node *join)
{
    struct sql_join_pair *pairs;
    if (keeps_right_side(join)) return meaning_term_unknown(r, "USING after a right join", join);
    struct meaning_term *all = NULL;
    int n = sql_join_pairs(r->arena, r->bound, &pairs);
    if (n < 0) r->failed = true;
    for (int i = 0; i < n; i++) {
        bool own =
            pairs[i].node == join || (pairs[i].node->kind == SQL_NAME && sql_up(pairs[i].node, SQL_JOIN) == join);
        const struct sql_ref *sides[] = {pairs[i].left, pairs[i].right};
        struct meaning_term *terms[2];
        for (int s = 0; own && s < 2; s++) {
            const struct sql_ref *ref = sides[s];
            const struct sql_catalog *catalog = r->bound->catalog;
            bool table = ref->source && ref->source->kind == SQL_SOURCE_TABLE && ref->column >= 0;
            terms[s] = !ref->source
                           ? meaning_term_unknown(r, "a column of USING", join)
                           : meaning_read_source_column(
                                 r, ref->source, table ? ref->column : ref->output,
                                 table ? catalog->column_name(catalog->self, ref->table, ref->column) : "", join);
        }
        if (own)
            all = meaning_join_terms(r, "and", all, meaning_compare_terms(r, "=", terms[0], terms[1], pairs[i].node));
    }
    return all;
}

static struct meaning_term *read_on(struct meaning_reader *r, const struct sql_node *join)
{
    const struct sql_node *on = sql_kid(join, JOIN_ON);
    if (sql_kid(join, JOIN_USING) || join->flags & SQL_F_NATURAL) return read_using(r, join);
    struct meaning_term **parts = NULL, *all = on ? meaning_read_condition(r, sql_kid(on, 0), false) : NULL;
    if (!all) return NULL;
    uint32_t n = meaning_conjuncts(r, all, &parts);
    return meaning_from_conjuncts(r, parts, n);
}

/* Reads an outer join. Its optional side must be a single source, because the source has the condition of the join. */
static void read_outer(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *join,
                       const struct sql_node *optional)
{
    while (sql_is(optional, SQL_FROM_PAREN) && !optional->alias) optional = sql_kid(optional, 0);
    if (!sql_is(optional, SQL_TABLE) && !sql_is(optional, SQL_DERIVED)) {
        fail_condition(r, b, "an outer join of several tables", join);
        return;
    }
    uint32_t at = b->m->n_sources;
    read_source(r, b, optional, true);
    struct meaning_term *on = read_on(r, join);
    if (r->failed || b->m->n_sources != at + 1) return;
    b->m->sources[at].join = MEANING_LEFT;
    b->m->sources[at].on = on;
}

static void read_join(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *join)
{
    const struct sql_node *left = sql_kid(join, JOIN_LEFT), *right = sql_kid(join, JOIN_RIGHT);
    bool swapped = join->op == SQL_JOIN_RIGHT_OUTER;
    bool inner = join->op == SQL_JOIN_INNER || join->op == SQL_JOIN_CROSS;
    if (inner) {
        read_from(r, b, left);
        read_from(r, b, right);
        b->where = meaning_join_terms(r, "and", b->where, read_on(r, join));
        return;
    }
    if (join->op == SQL_JOIN_FULL_OUTER) { /* conditions of its sides would wrongly apply to its result */
        fail_condition(r, b, "a full outer join", join);
        return;
    }
    if (swapped && b->m->n_sources) { /* the engines differ on which earlier sources it joins */
        fail_condition(r, b, "a right join behind other sources", join);
        return;
    }
    read_from(r, b, swapped ? right : left);
    read_outer(r, b, join, swapped ? left : right);
}

static void read_from(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *node)
{
    while (sql_is(node, SQL_FROM_PAREN) && !node->alias) node = sql_kid(node, 0);
    if (!node || r->failed) return;
    if (++r->depth >= MEANING_MAX_DEPTH)
        fail_condition(r, b, "the query is too large", node);
    else if (node->kind == SQL_JOIN)
        read_join(r, b, node);
    else
        read_source(r, b, node, false);
    r->depth--;
}

/* --- one SELECT --- */

static void read_keys(struct meaning_reader *r, struct meaning *m, const struct sql_node *group)
{
    uint32_t n = group->n_kids;
    m->keys = arena_new_array(r->arena, n + 1, struct meaning_term *);
    if (!m->keys) {
        r->failed = true;
        return;
    }
    m->grain = MEANING_KEYS;
    for (uint32_t i = 0; i < n; i++) {
        const struct sql_node *key = group->kids[i];
        unsigned long ordinal = sql_is(key, SQL_LITERAL) && key->op == SQL_LIT_INT ? strtoul(key->text, NULL, 10) : 0;
        m->keys[i] = ordinal >= 1 && ordinal <= m->n_outputs ? m->outputs[ordinal - 1].term : meaning_read_term(r, key);
    }
    if (group->flags & SQL_F_ROLLUP) m->keys[n++] = meaning_term_unknown(r, "with rollup", group);
    m->n_keys = meaning_terms_sort(m->keys, n, true);
}

static void read_outputs(struct meaning_reader *r, struct meaning *m, const struct sql_block *block)
{
    m->outputs = arena_new_array(r->arena, block->n_outputs, struct meaning_output);
    if (!m->outputs) {
        r->failed = true;
        return;
    }
    for (uint32_t i = 0; i < block->n_outputs; i++) {
        m->outputs[i].name = arena_strndup(r->arena, block->outputs[i].name, block->outputs[i].name_len);
        m->outputs[i].term = read_output(r, block, i);
    }
    m->n_outputs = block->n_outputs;
}

/* True if the term is computed from keys and literals alone. Any other column has the value of an arbitrary row of the
 * group. */
static bool is_over_keys(const struct meaning *m, const struct meaning_term *term)
{
    for (uint32_t i = 0; i < m->n_keys; i++)
        if (m->keys[i]->hash == term->hash) return true;
    bool plain = term->kind == MEANING_VALUE || term->kind == MEANING_OPERATION || term->kind == MEANING_CALL ||
                 term->kind == MEANING_CASE || term->kind == MEANING_PERIOD;
    for (uint32_t i = 0; plain && i < term->n_parts; i++) plain = is_over_keys(m, term->parts[i]);
    return plain;
}

/* Reads HAVING. A condition on the keys alone is moved to the conditions on the rows. */
static void read_having(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *having)
{
    struct meaning *m = b->m;
    struct meaning_term *condition = meaning_read_condition(r, sql_kid(having, 0), false), *group = NULL;
    struct meaning_term **parts = NULL;
    uint32_t n = meaning_conjuncts(r, condition, &parts);
    for (uint32_t i = 0; i < n; i++) {
        bool on_rows = m->grain == MEANING_KEYS && is_over_keys(m, parts[i]);
        struct meaning_term **to = on_rows ? &b->where : &group;
        *to = meaning_join_terms(r, "and", *to, parts[i]);
    }
    m->n_group_conditions = meaning_conjuncts(r, group, &m->group_conditions);
}

static bool shows_keys(const struct meaning *m)
{
    for (uint32_t k = 0; k < m->n_keys; k++) {
        bool shown = false;
        for (uint32_t i = 0; i < m->n_outputs; i++) shown |= m->outputs[i].term->hash == m->keys[k]->hash;
        if (!shown) return false;
    }
    return true;
}

/* Reads DISTINCT. Over rows it groups by all outputs; over groups it has no effect if all keys are shown. */
static void read_distinct(struct meaning_reader *r, struct meaning *m, const struct sql_node *distinct)
{
    if (distinct->n_kids) {
        m->limit = "one row for each DISTINCT ON";
        r->n_unknown++;
        return;
    }
    if (m->grain != MEANING_ROWS) {
        m->distinct = m->grain == MEANING_KEYS && !shows_keys(m);
        return;
    }
    m->keys = arena_new_array(r->arena, m->n_outputs, struct meaning_term *);
    if (!m->keys) {
        r->failed = true;
        return;
    }
    for (uint32_t i = 0; i < m->n_outputs; i++) m->keys[i] = m->outputs[i].term;
    m->n_keys = meaning_terms_sort(m->keys, m->n_outputs, true);
    m->grain = MEANING_KEYS;
}

static int by_source_name(const void *a, const void *b)
{
    return strcmp(((const struct meaning_source *)a)->name, ((const struct meaning_source *)b)->name);
}

/* Adds the condition that the first output is equal to `x`: on the rows, or on the groups. */
static void require_match(struct meaning_reader *r, struct meaning_builder *b, const struct sql_node *x)
{
    struct meaning *m = b->m;
    struct meaning_term *equal = meaning_compare_terms(r, "=", meaning_read_term(r, x), m->outputs[0].term, x);
    if (m->grain == MEANING_ROWS) {
        b->where = meaning_join_terms(r, "and", b->where, equal);
        return;
    }
    struct meaning_term *all = meaning_from_conjuncts(r, m->group_conditions, m->n_group_conditions);
    all = meaning_join_terms(r, "and", all, equal);
    m->n_group_conditions = meaning_conjuncts(r, all, &m->group_conditions);
}

/* Reads one SELECT. If `x` is not NULL, the first output must be equal to it. */
static void read_select(struct meaning_reader *r, struct meaning *m, const struct sql_node *select,
                        const struct sql_node *x)
{
    struct meaning_builder b = {.m = m};
    const struct sql_block *block = sql_block_of(r->bound, select);
    const struct sql_node *from = sql_kid(select, SELECT_FROM), *where = sql_kid(select, SELECT_WHERE);
    const struct sql_node *group = sql_kid(select, SELECT_GROUP), *having = sql_kid(select, SELECT_HAVING);
    if (!block) {
        r->failed = true;
        return;
    }
    r->grouped = group != NULL;
    for (uint32_t i = 0; from && i < from->n_kids; i++) read_from(r, &b, from->kids[i]);
    if (where) b.where = meaning_join_terms(r, "and", b.where, meaning_read_condition(r, sql_kid(where, 0), false));
    read_outputs(r, m, block);
    m->grain = block->aggregate ? MEANING_ONE : MEANING_ROWS;
    if (group && !r->failed) read_keys(r, m, group);
    if (having) read_having(r, &b, having);
    if (x && m->n_outputs) require_match(r, &b, x);
    m->n_conditions = meaning_conjuncts(r, b.where, &m->conditions);
    if (sql_kid(select, SELECT_DISTINCT) && !r->failed) read_distinct(r, m, sql_kid(select, SELECT_DISTINCT));
    if (!r->failed) meaning_settle_joins(r, m);
    if (!r->failed && m->n_sources) qsort(m->sources, m->n_sources, sizeof *m->sources, by_source_name);
}

/* --- queries --- */

static const char *set_name(uint8_t op)
{
    static const struct {
        uint8_t op;
        const char *name;
    } rows[] = {{SQL_UNION, "union"},         {SQL_UNION_ALL, "union all"},
                {SQL_INTERSECT, "intersect"}, {SQL_INTERSECT_ALL, "intersect all"},
                {SQL_EXCEPT, "except"},       {SQL_EXCEPT_ALL, "except all"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].op == op) return rows[i].name;
    return "set operation";
}

static void read_body(struct meaning_reader *r, struct meaning *m, const struct sql_node *body,
                      const struct sql_node *x);

static struct meaning *read_side(struct meaning_reader *r, const struct sql_node *body)
{
    struct meaning *side = arena_new(r->arena, struct meaning);
    if (!side) {
        r->failed = true;
        return NULL;
    }
    if (sql_is(body, SQL_QUERY)) return meaning_read_query(r, body);
    read_body(r, side, body, NULL);
    if (!r->failed) meaning_rehash(side);
    return side;
}

static int by_meaning_hash(const void *a, const void *b)
{
    uint64_t x = (*(struct meaning *const *)a)->hash, y = (*(struct meaning *const *)b)->hash;
    return (x > y) - (x < y);
}

/* Reads both sides of a set operation. The sides of UNION and INTERSECT are sorted by hash, because their order does
 * not matter. */
static void read_compound(struct meaning_reader *r, struct meaning *m, const struct sql_node *body)
{
    m->set = set_name(body->op);
    m->sides = arena_new_array(r->arena, 2, struct meaning *);
    if (!m->sides) {
        r->failed = true;
        return;
    }
    for (unsigned i = 0; i < 2; i++) m->sides[i] = read_side(r, sql_kid(body, i));
    m->n_sides = 2;
    if (r->failed) return;
    m->outputs = m->sides[0]->outputs;
    m->n_outputs = m->sides[0]->n_outputs;
    if (body->op != SQL_EXCEPT && body->op != SQL_EXCEPT_ALL) qsort(m->sides, 2, sizeof *m->sides, by_meaning_hash);
}

static void read_body(struct meaning_reader *r, struct meaning *m, const struct sql_node *body,
                      const struct sql_node *x)
{
    uint32_t scope = r->scope;
    bool grouped = r->grouped;
    r->scope++;
    if (sql_is(body, SQL_SELECT) && sql_block_of(r->bound, body)) {
        read_select(r, m, body, x);
    } else if (sql_is(body, SQL_COMPOUND) && !x) {
        read_compound(r, m, body);
    } else {
        m->limit = x ? "a set operation in IN" : "VALUES";
        r->n_unknown++;
    }
    r->scope = scope;
    r->grouped = grouped;
}

static const char *text_of_node(struct meaning_reader *r, const struct sql_node *node)
{
    char *text = node ? arena_strndup(r->arena, r->bound->stmt->text + node->start, node->end - node->start) : NULL;
    if (node && !text) r->failed = true;
    return text;
}

/* Removes constants from ORDER BY, because they have no effect. */
static void drop_constant_keys(struct meaning *m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_order; i++)
        if (m->order[i].term->kind != MEANING_VALUE) m->order[n++] = m->order[i];
    m->n_order = n;
}

/* Reads order and limit. The order of a subquery counts, too, because an engine may aggregate its rows in that
 * order. */
static void read_end(struct meaning_reader *r, struct meaning *m, const struct sql_node *query)
{
    const struct sql_node *order = sql_kid(query, QUERY_ORDER), *limit = sql_kid(query, QUERY_LIMIT);
    if (limit) {
        m->limit = text_of_node(r, sql_kid(limit, LIMIT_COUNT));
        m->offset = text_of_node(r, sql_kid(limit, LIMIT_OFFSET));
        m->ties = limit->flags & SQL_F_WITH_TIES;
    }
    if (!order) return;
    m->n_order = meaning_read_order(r, order, &m->order);
    for (uint32_t i = 0; i < m->n_order; i++) {
        const struct sql_node *key = sql_kid(order->kids[i], 0);
        unsigned long ordinal = sql_is(key, SQL_LITERAL) && key->op == SQL_LIT_INT ? strtoul(key->text, NULL, 10) : 0;
        if (ordinal >= 1 && ordinal <= m->n_outputs) m->order[i].term = m->outputs[ordinal - 1].term;
    }
    drop_constant_keys(m);
}

static struct meaning *read_whole(struct meaning_reader *r, const struct sql_node *query, const struct sql_node *x)
{
    struct meaning *m = arena_new(r->arena, struct meaning);
    struct meaning_binding *bindings = r->bindings;
    bool grouped = r->grouped, as_value = r->as_value;
    if (!m) {
        r->failed = true;
        return NULL;
    }
    const struct sql_node *body = sql_kid(query, QUERY_BODY);
    r->as_value = false;
    if (++r->depth >= MEANING_MAX_DEPTH) {
        m->limit = "the query is too large";
        r->n_unknown++;
    } else if (sql_is(body, SQL_QUERY)) {
        m = read_whole(r, body, x);
        /* unknown: they follow parentheses */
        r->n_unknown += sql_kid(query, QUERY_ORDER) || sql_kid(query, QUERY_LIMIT);
    } else {
        read_body(r, m, body, x);
        r->scope++;
        r->grouped = sql_kid(body, SELECT_GROUP) != NULL && sql_is(body, SQL_SELECT);
        if (!r->failed) read_end(r, m, query);
        r->scope--;
    }
    r->depth--;
    r->grouped = grouped;
    r->as_value = as_value;
    r->bindings = bindings;
    if (m && !r->failed) meaning_rehash(m);
    return m;
}

struct meaning *meaning_read_query(struct meaning_reader *r, const struct sql_node *query)
{
    return read_whole(r, query, NULL);
}

struct meaning *meaning_read_match(struct meaning_reader *r, const struct sql_node *query, const struct sql_node *x)
{
    struct meaning *m = read_whole(r, query, x);
    if (!m || r->failed || m->set) return m;
    m->n_outputs = m->n_order = 0; /* they do not decide whether there is a row */
    if (m->grain == MEANING_KEYS && m->n_group_conditions == 0 && !m->limit && !m->offset) {
        m->grain = MEANING_ROWS;
        m->n_keys = 0;
        m->distinct = false;
    }
    meaning_rehash(m);
    return m;
}

enum err_code meaning_read(struct arena *arena, const struct sql_bound *bound, struct meaning **out)
{
    struct meaning_reader r = {.arena = arena, .bound = bound};
    *out = NULL;
    if (!bound->top || !bound->stmt->root) return ERR_OK;
    struct meaning *m = meaning_read_query(&r, bound->stmt->root);
    if (r.failed || !m) return ERR_LIMIT_MEMORY;
    m->n_unknown = r.n_unknown;
    if (m->n_unknown) m->hash = 0;
    *out = m;
    return ERR_OK;
}
