/* suboptimal_join_tree: a block joins more tables than it needs to connect the required ones (SQLens A.1).
 *
 * A table is required if one of its columns is used outside of join conditions, or if it is filtered or shown by `*`.
 * COUNT(*) requires all tables of its FROM clause, because it counts their combinations. The signal fires for another
 * table if it is provably redundant. Each row then has exactly one partner in it by a NOT NULL foreign key, so removing
 * the table changes no row. Any other table filters or repeats rows. The question may ask for this, so it is only a
 * note.
 *
 * The signal also fires if the question asks for rows without a partner in such a table. It fires for a detour too: the
 * block connects two required tables in more steps than the schema needs. */
#include "signals/support/names.h"
#include "signals/support/shape.h"

static const char *const ABSENCE[] = {"without", "never", "not", "no", "neither", "nor", "except", NULL};

/* True if the query excludes rows anywhere (EXCEPT, NOT IN, NOT EXISTS, <>) or has a left outer join. It may then
 * handle rows without a partner. */
static bool takes_away(const struct vsig_subject *subject)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool difference = n->kind == SQL_COMPOUND && (n->op == SQL_EXCEPT || n->op == SQL_EXCEPT_ALL);
        bool negation = (n->flags & SQL_F_NOT) || (n->kind == SQL_UNARY && n->op == SQL_OP_NOT);
        bool unequal = n->kind == SQL_BINARY && (n->op == SQL_OP_NE || n->op == SQL_OP_IS_NOT);
        if (difference || negation || unequal || (n->kind == SQL_JOIN && n->op == SQL_JOIN_LEFT_OUTER)) return true;
    }
    return false;
}

struct tree {
    struct vsig_run *run;
    const struct vsig_block_shape *shape;
    vsig_sources alive, idle, doubtful;
};

static unsigned count_bits(vsig_sources set)
{
    return (unsigned)__builtin_popcountll(set);
}

/* Returns the remaining sources that join pairs connect with this source. */
static vsig_sources neighbours(const struct tree *tree, vsig_sources bit)
{
    vsig_sources found = 0;
    for (uint32_t i = 0; i < tree->shape->n_pairs; i++) {
        const struct sql_join_pair *pair = tree->shape->pairs[i];
        vsig_sources left = vsig_source_bit(tree->shape->block, pair->left->source);
        vsig_sources right = vsig_source_bit(tree->shape->block, pair->right->source);
        if (left == bit) found |= right & tree->alive;
        if (right == bit) found |= left & tree->alive;
    }
    return found;
}

/* True if a single join pair connects the source to its neighbour, and it follows a key reference that neither drops
 * nor repeats rows. */
static bool keeps_rows(const struct tree *tree, vsig_sources bit)
{
    const struct vsig_block_shape *shape = tree->shape;
    const struct sql_join_pair *only = NULL;
    for (uint32_t i = 0; i < shape->n_conditions; i++) {
        if (!(shape->conditions[i].sources & bit)) continue;
        if ((shape->conditions[i].sources & ~tree->alive) && count_bits(shape->conditions[i].sources) > 1) continue;
        bool joins = false;
        for (uint32_t k = 0; k < shape->n_pairs; k++)
            joins = joins || shape->pairs[k]->node == shape->conditions[i].node;
        if (!joins) return false;
    }
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        vsig_sources both =
            vsig_source_bit(shape->block, pair->left->source) | vsig_source_bit(shape->block, pair->right->source);
        if (!(both & bit) || (both & ~tree->alive)) continue;
        if (only || !pair->conjunct) return false;
        only = pair;
    }
    if (!only) return false;
    bool left = vsig_source_bit(shape->block, only->left->source) == bit;
    const struct schema_index *schema = tree->run->subject->schema;
    const struct schema_column *to = schema_column_of(schema, left ? only->left : only->right);
    const struct schema_column *from = schema_column_of(schema, left ? only->right : only->left);
    if (!to || !from) return false;
    bool derived = false;
    const struct schema_join *join = schema_join_between(schema, from->id, to->id, &derived);
    const struct sql_source *source = left ? only->left->source : only->right->source;
    bool optional = source->join && source->join->op == SQL_JOIN_LEFT_OUTER && source->nullable;
    if (!join || derived || join->n_pairs != 1 || join->to[0] != to->id || !join->to_unique) return false;
    return optional || (join->from_not_null && join->inclusion >= 1.0 && !source->nullable);
}

/* Removes sources that are not required and have only one neighbour. Call it first with `provable`, because removing
 * the redundant sources leaves other sources with only one neighbour. */
static void prune(struct tree *tree, bool provable)
{
    bool more = true;
    while (more && count_bits(tree->alive) > 1) {
        more = false;
        for (unsigned i = 0; i < tree->shape->block->n_sources; i++) {
            vsig_sources bit = (vsig_sources)1 << i;
            if (!(tree->alive & bit) || (tree->shape->used & bit) || count_bits(neighbours(tree, bit)) != 1) continue;
            if (provable && !keeps_rows(tree, bit)) continue;
            tree->alive &= ~bit;
            if (provable)
                tree->idle |= bit;
            else
                tree->doubtful |= bit;
            more = true;
            break;
        }
    }
}

static bool all_tables(const struct sql_block *block)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].kind != SQL_SOURCE_TABLE || block->sources[i].table < 0) return false;
    return true;
}

static struct vsig_finding *mark(struct tree *tree, struct vsig_finding *finding, const struct sql_source *source)
{
    const struct vsig_block_shape *shape = tree->shape;
    vsig_sources bit = vsig_source_bit(shape->block, source);
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = shape->pairs[i];
        vsig_sources both =
            vsig_source_bit(shape->block, pair->left->source) | vsig_source_bit(shape->block, pair->right->source);
        if ((both & bit) && pair->node->kind != SQL_JOIN) vsig_add_clause(tree->run, finding, pair->node);
    }
    vsig_add_fact(tree->run, finding, "table", false, "%s", vsig_source_name(tree->run->subject, source));
    return finding;
}

static void report_extra(struct tree *tree)
{
    const struct sql_block *block = tree->shape->block;
    if (!(tree->idle | tree->doubtful)) return;
    bool absence = vsig_question_says(tree->run->subject, ABSENCE) && !takes_away(tree->run->subject);
    for (unsigned i = 0; i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        vsig_sources bit = vsig_source_bit(block, source);
        const char *name = vsig_source_name(tree->run->subject, source);
        if (tree->idle & bit)
            mark(tree,
                 vsig_fire(tree->run, VSIG_WARNING, source->node,
                           "the query uses no column of %s, and each row has exactly one match there, so the join "
                           "changes nothing",
                           name),
                 source);
        else if (!(tree->doubtful & bit))
            continue;
        else if (absence && !source->nullable && vsig_question_names_table(tree->run->subject, source->table))
            mark(tree,
                 vsig_fire(
                     tree->run, VSIG_WARNING, source->node,
                     "the question asks for rows without %s, but the join keeps only rows with a match in that table",
                     name),
                 source);
        else
            mark(tree,
                 vsig_note(tree->run, source->node,
                           "the query uses no column of %s, so the join only filters or repeats rows", name),
                 source);
    }
}

static bool add_terminal(uint32_t *terminals, uint32_t *n, uint32_t table)
{
    for (uint32_t i = 0; i < *n; i++)
        if (terminals[i] == table) return false;
    terminals[(*n)++] = table;
    return true;
}

/* Reports a detour: the schema connects the required tables with fewer tables than the block joins. Skips blocks with
 * self-joins, because each table counts once. */
static enum err_code report_detour(struct tree *tree)
{
    const struct vsig_subject *subject = tree->run->subject;
    const struct sql_block *block = tree->shape->block;
    uint32_t needed[VSIG_MAX_SOURCES], joined[VSIG_MAX_SOURCES], n_needed = 0, n_joined = 0;
    for (unsigned i = 0; i < block->n_sources; i++) {
        vsig_sources bit = (vsig_sources)1 << i;
        uint32_t table = (uint32_t)block->sources[i].table;
        if ((tree->alive & bit) && !add_terminal(joined, &n_joined, table)) return ERR_OK;
        if (tree->alive & tree->shape->used & bit) add_terminal(needed, &n_needed, table);
    }
    if (n_needed < 2 || n_needed == n_joined) return ERR_OK;
    uint32_t *tables = arena_new_array(subject->arena, subject->schema->n_tables + 1, uint32_t);
    if (!tables) return ERR_LIMIT_MEMORY;
    bool exact = false;
    uint32_t least = schema_steiner(subject->schema, needed, n_needed, tables, &exact);
    if (least == 0 || least >= n_joined) return ERR_OK;
    struct vsig_finding *finding = NULL;
    for (unsigned i = 0; i < block->n_sources; i++) {
        const struct sql_source *source = &block->sources[i];
        bool in_tree = !(tree->alive & ((vsig_sources)1 << i));
        for (uint32_t k = 0; k < least && !in_tree; k++) in_tree = tables[k] == (uint32_t)source->table;
        if (in_tree) continue;
        if (!finding)
            finding = vsig_fire(tree->run, VSIG_WARNING, source->node,
                                "the query joins %u tables, but %u tables are enough for the columns that are used",
                                n_joined, least);
        else
            vsig_add_clause(tree->run, finding, source->node);
        vsig_add_fact(tree->run, finding, "table", false, "%s", vsig_source_name(subject, source));
    }
    vsig_add_fact(tree->run, finding, "shortest tree", false, exact ? "exact" : "approximate");
    return ERR_OK;
}

static enum err_code look_at(struct vsig_run *run, const struct vsig_block_shape *shape)
{
    const struct sql_block *block = shape->block;
    if (block->n_sources < 2 || !all_tables(block)) return ERR_OK;
    if (shape->too_large) return ERR_LIMIT_COUNT;
    struct tree tree = {.run = run, .shape = shape, .alive = vsig_all_sources(block)};
    if (!shape->count_star) {
        prune(&tree, true);
        prune(&tree, false);
    }
    report_extra(&tree);
    return report_detour(&tree);
}

static enum err_code eval(struct vsig_run *run)
{
    return vsig_each_block(run, look_at);
}

const struct vsig_def vsig_suboptimal_join_tree = {
    .id = VSIG_ID_suboptimal_join_tree,
    .name = "suboptimal_join_tree",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "a SELECT joins more tables than are needed to connect the tables whose columns are used",
    .description =
        "The query joins a table that it does not need, or takes a detour between the tables that it needs. An "
        "unnecessary join costs time, and often drops or repeats rows. It can also mean that the question was misread.",
    .example = "`SELECT T1.title FROM concert AS T1 JOIN stadium AS T2 ON T1.stadium_id = T2.stadium_id`. Every "
               "concert has one stadium, and no column of stadium is used.",
    .instruction = "Remove tables whose columns are not used. Connect the other tables by the shortest chain of "
                   "foreign keys. Keep a table that only filters rows if the question asks for that filter.",
    .eval = eval,
};
