/* Collects the query's side of linking: its parts and their slots.
 *
 * A column has one part for each of its roles, however often the query writes it. A column that is both shown and
 * grouped by has a single part, so the question needs to say it only once. A table has one part for all its FROM items.
 * Each literal and each kind of operation has one part. */
#include "lib/question/link_int.h"

#include <string.h>

#define CUE(kind) (1U << QUESTION_CUE_##kind)

enum { MAX_LITERAL_WORDS = 4 };

static struct link_part *add_part(struct link_maker *maker, struct link_part like)
{
    struct link_query *out = maker->out;
    if (out->n_parts == LINK_MAX_PARTS) return NULL;
    like.first_slot = out->n_slots;
    out->parts[out->n_parts] = like;
    return &out->parts[out->n_parts++];
}

static void add_slot(struct link_maker *maker, struct link_part *part, uint32_t index, float weight)
{
    struct link_query *out = maker->out;
    if (out->n_slots == LINK_MAX_SLOTS) return;
    out->slots[out->n_slots++] = (struct link_slot){
        .part = (uint8_t)(part - out->parts), .index = (uint8_t)index, .weight = weight, .word = LINK_NO_WORD};
    part->n_slots++;
    part->weight += weight;
}

static void add_name(struct link_maker *maker, struct link_part *part, const struct text_tokens *words,
                     const struct text_tokens *owner)
{
    float weight[LINK_MAX_NAME];
    uint32_t n = link_weigh(words, owner, weight);
    for (uint32_t i = 0; i < n; i++) add_slot(maker, part, i, weight[i]);
}

/* --- columns --- */

static bool in_answer(const struct sql_block *block)
{
    for (; block; block = block->parent) {
        if (block->role == SQL_BLOCK_TOP) return true;
        if (block->role != SQL_BLOCK_DERIVED || !block->parent || block->parent->n_sources != 1) return false;
    }
    return false;
}

static bool joins(const struct link_maker *maker, const struct sql_node *node)
{
    if (sql_is(node->parent, SQL_USING)) return true;
    for (uint32_t i = 0; i < maker->n_pairs; i++)
        if (maker->pairs[i].node == node->parent) return true;
    return false;
}

/* True for the column of IS NULL or IS NOT NULL, for which no word is needed. */
static bool tests_null(const struct sql_node *node)
{
    const struct sql_node *test = node->parent, *right = sql_kid(test, 1);
    if (sql_is(test, SQL_UNARY)) return test->op == SQL_OP_ISNULL || test->op == SQL_OP_NOTNULL;
    return sql_is(test, SQL_BINARY) && sql_is(right, SQL_LITERAL) && right->op == SQL_LIT_NULL;
}

static enum link_role role_of(const struct link_maker *maker, const struct sql_ref *ref)
{
    static const enum link_role by_clause[SQL_CLAUSE_COUNT] = {
        [SQL_CLAUSE_SELECT] = LINK_ROLE_COUNT, [SQL_CLAUSE_FROM] = LINK_CONDITION,
        [SQL_CLAUSE_WHERE] = LINK_CONDITION,   [SQL_CLAUSE_GROUP] = LINK_GROUP,
        [SQL_CLAUSE_HAVING] = LINK_CONDITION,  [SQL_CLAUSE_ORDER] = LINK_ORDER,
        [SQL_CLAUSE_LIMIT] = LINK_CONDITION,   [SQL_CLAUSE_WINDOW] = LINK_GROUP};
    if (joins(maker, ref->node) || tests_null(ref->node)) return LINK_ROLE_COUNT;
    if (ref->clause != SQL_CLAUSE_HAVING && ref->aggregate) return LINK_ARGUMENT;
    if (ref->clause == SQL_CLAUSE_SELECT && in_answer(ref->block)) return LINK_ANSWER;
    return ref->clause < SQL_CLAUSE_COUNT ? by_clause[ref->clause] : LINK_ROLE_COUNT;
}

static struct link_part *find_column(const struct link_maker *maker, enum link_role role, uint32_t id)
{
    for (uint32_t i = 0; i < maker->out->n_parts; i++) {
        struct link_part *part = &maker->out->parts[i];
        if (part->role == role && part->column && part->column->id == id) return part;
    }
    return NULL;
}

static unsigned cues_of_aggregate(const struct sql_node *call);

static unsigned place_cues(enum link_role role, const struct sql_node *node)
{
    static const unsigned by_role[LINK_COLUMN_ROLES] = {
        [LINK_CONDITION] = CUE(COMPARE) | CUE(BETWEEN) | CUE(NOT),
        [LINK_GROUP] = CUE(EACH),
        [LINK_ORDER] = CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(SORT) | CUE(DIRECTION) | CUE(MAXIMUM) | CUE(MINIMUM)};
    const struct sql_node *call = role == LINK_ARGUMENT && node ? node->ref->aggregate : NULL;
    return call ? cues_of_aggregate(call) : by_role[role];
}

static void add_column(struct link_maker *maker, enum link_role role, const struct schema_column *column,
                       const struct sql_node *node)
{
    maker->uses[column->id] |= (uint8_t)(1U << (role < LINK_COLUMN_ROLES ? role : LINK_LITERAL));
    if (role >= LINK_COLUMN_ROLES || find_column(maker, role, column->id)) return;
    struct link_part *shown = role == LINK_GROUP ? find_column(maker, LINK_ANSWER, column->id) : NULL;
    if (shown) {
        shown->grouped = true;
        shown->cues |= place_cues(LINK_GROUP, node);
        return;
    }
    struct link_part *part = add_part(
        maker,
        (struct link_part){
            .role = role, .node = node, .column = column, .table = (int)column->table, .cues = place_cues(role, node)});
    if (part) add_name(maker, part, &column->words, &maker->question->schema->tables[column->table].words);
}

static void collect_columns(struct link_maker *maker)
{
    const struct schema_index *schema = maker->question->schema;
    for (uint32_t i = 0; i < maker->bound->n_refs; i++) {
        const struct sql_ref *ref = maker->bound->refs[i];
        const struct schema_column *column = ref->kind == SQL_REF_COLUMN ? schema_column_of(schema, ref) : NULL;
        if (column) add_column(maker, role_of(maker, ref), column, ref->node);
    }
    const struct sql_block *answer = maker->bound->top;
    for (uint32_t i = 0; answer && i < answer->n_outputs; i++) {
        const struct sql_output *output = &answer->outputs[i];
        if (output->expr || output->table < 0 || output->column < 0) continue;
        add_column(maker, LINK_ANSWER, schema->tables[output->table].columns + output->column, NULL);
    }
}

/* --- tables --- */

static void add_table(struct link_maker *maker, const struct sql_source *source)
{
    if (source->table < 0 || maker->reads[source->table]) return;
    maker->reads[source->table] = true;
    struct link_part *part =
        add_part(maker, (struct link_part){.role = LINK_TABLE, .node = source->node, .table = source->table});
    if (part) add_name(maker, part, &maker->question->schema->tables[source->table].words, NULL);
}

static void collect_tables(struct link_maker *maker)
{
    for (uint32_t b = 0; b < maker->bound->n_blocks; b++)
        for (uint32_t i = 0; i < maker->bound->blocks[b]->n_sources; i++)
            add_table(maker, &maker->bound->blocks[b]->sources[i]);
}

/* --- operations --- */

static const struct {
    const char *name;
    unsigned cues;
} AGGREGATES[] = {
    {"count", CUE(COUNT) | CUE(QUANTITY) | CUE(EXTREME) | CUE(TOP) | CUE(RATIO)},
    {"sum", CUE(TOTAL) | CUE(QUANTITY) | CUE(COUNT) | CUE(RATIO)},
    {"avg", CUE(AVERAGE)},
    {"max", CUE(MAXIMUM) | CUE(EXTREME) | CUE(FIRST)},
    {"min", CUE(MINIMUM) | CUE(EXTREME) | CUE(FIRST)},
};

static unsigned cues_of_aggregate(const struct sql_node *call)
{
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i].name, strlen(AGGREGATES[i].name)))
            return AGGREGATES[i].cues;
    return 0;
}

struct operation {
    const char *text;
    unsigned cues;
};

static struct operation aggregate_operation(const struct sql_node *call)
{
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++)
        if (sql_name_is(call->text, call->text_len, AGGREGATES[i].name, strlen(AGGREGATES[i].name)))
            return (struct operation){AGGREGATES[i].name, AGGREGATES[i].cues};
    return (struct operation){NULL, 0};
}

static struct operation compound_operation(const struct sql_node *node)
{
    switch (node->op) {
    case SQL_EXCEPT:
    case SQL_EXCEPT_ALL: return (struct operation){"except", CUE(NOT)};
    case SQL_INTERSECT:
    case SQL_INTERSECT_ALL: return (struct operation){"intersect", CUE(BOTH)};
    default: return (struct operation){"union", CUE(EITHER) | CUE(BOTH)};
    }
}

static bool orders_answer(const struct sql_node *term)
{
    return sql_is(term->parent, SQL_ORDER) && sql_is(term->parent->parent, SQL_QUERY);
}

static struct operation binary_operation(const struct sql_node *node)
{
    if (node->op == SQL_OP_OR) return (struct operation){"or", CUE(EITHER)};
    if (node->op == SQL_OP_NE || node->op == SQL_OP_IS_NOT) return (struct operation){"not", CUE(NOT) | CUE(COMPARE)};
    if (node->op == SQL_OP_DIV) return (struct operation){"divided", CUE(RATIO) | CUE(AVERAGE)};
    if (node->op == SQL_OP_LT || node->op == SQL_OP_LE) return (struct operation){"below", CUE(COMPARE)};
    if (node->op == SQL_OP_GT || node->op == SQL_OP_GE) return (struct operation){"above", CUE(COMPARE)};
    return (struct operation){NULL, 0};
}

static struct operation term_operation(const struct sql_node *node)
{
    const unsigned sorts =
        CUE(SORT) | CUE(DIRECTION) | CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(MAXIMUM) | CUE(MINIMUM);
    if (!orders_answer(node)) return (struct operation){NULL, 0};
    return (struct operation){node->op == SQL_DESC ? "descending" : "ascending", sorts};
}

static struct operation operation_of(const struct sql_node *node)
{
    const struct operation none = {NULL, 0}, negated = {"not", CUE(NOT)};
    switch (node->kind) {
    case SQL_CALL: return sql_is_aggregate(node) ? aggregate_operation(node) : none;
    case SQL_DISTINCT: return (struct operation){"distinct", CUE(DISTINCT)};
    case SQL_GROUP: return (struct operation){"grouped", CUE(EACH)};
    case SQL_COMPOUND: return compound_operation(node);
    case SQL_BINARY: return binary_operation(node);
    case SQL_TERM: return term_operation(node);
    case SQL_LIMIT:
        return (struct operation){"limited", CUE(TOP) | CUE(EXTREME) | CUE(FIRST) | CUE(MAXIMUM) | CUE(MINIMUM)};
    case SQL_UNARY: return node->op == SQL_OP_NOT ? negated : none;
    case SQL_BETWEEN: return (struct operation){"between", CUE(BETWEEN)};
    case SQL_IN:
    case SQL_LIKE: return node->flags & SQL_F_NOT ? negated : none;
    default: return none;
    }
}

static void add_operation(struct link_maker *maker, const struct sql_node *node)
{
    struct operation operation = operation_of(node);
    if (!operation.text) return;
    for (uint32_t i = 0; i < maker->out->n_parts; i++)
        if (maker->out->parts[i].role == LINK_OPERATION && strcmp(maker->out->parts[i].text, operation.text) == 0)
            return;
    struct link_part *part = add_part(
        maker, (struct link_part){
                   .role = LINK_OPERATION, .node = node, .table = -1, .text = operation.text, .cues = operation.cues});
    if (part) add_slot(maker, part, 0, 1);
}

/* --- literals --- */

/* Returns the column with which a literal is compared; NULL if there is none. */
static const struct schema_column *compared_with(const struct link_maker *maker, const struct sql_node *literal)
{
    const struct sql_node *below = literal, *node = literal->parent;
    while (sql_is(node, SQL_LIST) || (sql_is(node, SQL_UNARY) && node->op == SQL_OP_NEG))
        below = node, node = node->parent;
    for (uint32_t i = 0; node && i < node->n_kids; i++) {
        const struct sql_ref *ref = node->kids[i] && node->kids[i] != below ? sql_plain_column(node->kids[i]) : NULL;
        const struct schema_column *column = ref ? schema_column_of(maker->question->schema, ref) : NULL;
        if (column) return column;
    }
    return NULL;
}

static bool is_string(const struct sql_node *node)
{
    return (sql_is(node, SQL_LITERAL) && node->op == SQL_LIT_STRING) ||
           (sql_is(node, SQL_COLUMN) && node->ref && node->ref->kind == SQL_REF_STRING);
}

static bool is_number(const struct sql_node *node)
{
    return sql_is(node, SQL_LITERAL) && (node->op == SQL_LIT_INT || node->op == SQL_LIT_FLOAT);
}

static bool restricts(const struct sql_node *node)
{
    enum sql_clause clause = sql_clause_of(node);
    if (sql_is(node->parent, SQL_ARGS)) return false; /* an argument of a function: strftime('%Y', ...) */
    if (sql_is(node->parent, SQL_BINARY) && !sql_is_comparison(node->parent->op)) return false; /* as in 100 * a / b */
    return clause == SQL_CLAUSE_WHERE || clause == SQL_CLAUSE_HAVING || clause == SQL_CLAUSE_FROM;
}

static void add_literal(struct link_maker *maker, const struct sql_node *node)
{
    if ((!is_string(node) && !is_number(node)) || !restricts(node)) return;
    char *text = arena_strndup(maker->arena, node->text ? node->text : "", node->text ? node->text_len : 0);
    if (!text || !*text) return;
    const struct schema_column *column = compared_with(maker, node);
    struct link_part *part = add_part(maker, (struct link_part){.role = LINK_LITERAL,
                                                                .node = node,
                                                                .column = column,
                                                                .table = column ? (int)column->table : -1,
                                                                .text = text});
    if (!part) return;
    struct text_tokens words = text_tokenize(maker->arena, text, node->text_len);
    uint32_t n = 0;
    for (uint32_t i = 0; words.items && i < words.n && n < MAX_LITERAL_WORDS; i++)
        if (words.items[i].kind != TEXT_PUNCT && (!words.items[i].is_stop || words.n == 1)) {
            if (maker->out->n_slots < LINK_MAX_SLOTS) maker->literal_words[maker->out->n_slots] = &words.items[i];
            add_slot(maker, part, i, 1);
            n++;
        }
    if (!n) add_slot(maker, part, 0, 1);
}

static void collect_nodes(struct link_maker *maker)
{
    const struct sql_node *root = maker->bound->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        add_literal(maker, n);
        add_operation(maker, n);
    }
}

void link_collect(struct link_maker *maker)
{
    collect_columns(maker);
    collect_tables(maker);
    collect_nodes(maker);
}
