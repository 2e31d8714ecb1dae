/* Equalities between columns that do not refer to each other (SQLens A.1).
 *
 * Small integer ids include each other by chance: of the column pairs that no schema declares, three in ten have
 * full inclusion. So an inferred pair counts only with its names, a key on one side, and no declared foreign key on
 * either side.
 */
#include "signals/common/names.h"
#include "signals/common/shape.h"

#include <string.h>

enum { OPT_MIN_INCLUSION };

static const struct vsig_option OPTIONS[] = {
    {"min_inclusion", 0.95, 0, 1, "share of one column's values found in the other for an undeclared pair to count as valid"},
    {NULL},
};

static bool same_words(const struct text_tokens *a, const struct text_tokens *b)
{
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->items[i].stem, b->items[i].stem) != 0) return false;
    return a->n > 0;
}

/* "student_id" against "id" of student: the column's words are the table's and then the other column's. */
static bool named_after(const struct schema_index *schema, const struct schema_column *from, const struct schema_column *to)
{
    const struct text_tokens *table = &schema->tables[to->table].words;
    if (from->words.n != table->n + to->words.n) return false;
    for (uint32_t i = 0; i < from->words.n; i++) {
        const struct text_token *word = i < table->n ? &table->items[i] : &to->words.items[i - table->n];
        if (strcmp(from->words.items[i].stem, word->stem) != 0) return false;
    }
    return true;
}

static bool names_match(const struct schema_index *schema, const struct schema_column *a, const struct schema_column *b)
{
    return same_words(&a->words, &b->words) || named_after(schema, a, b) || named_after(schema, b, a);
}

static bool is_valid(struct vsig_run *run, const struct schema_column *a, const struct schema_column *b)
{
    const struct schema_index *schema = run->subject->schema;
    if (a == b) return true; /* rows of a self-join that share the value */
    bool derived = false;
    const struct schema_join *join = schema_join_between(schema, a->id, b->id, &derived);
    if (derived || (join && join->declared)) return true;
    if (!join || join->inclusion < vsig_opt(run, OPT_MIN_INCLUSION)) return false;
    if (schema_is_foreign_key(schema, a->id) || schema_is_foreign_key(schema, b->id)) return false;
    return (a->unique || b->unique) && names_match(schema, a, b);
}

/* What the schema offers instead: a declared edge between the two tables. */
static const struct schema_join *declared_edge(const struct schema_index *schema, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->declared && ((join->from_table == a && join->to_table == b) || (join->from_table == b && join->to_table == a)))
            return join;
    }
    return NULL;
}

static void report(struct vsig_run *run, const struct sql_join_pair *pair, const struct schema_column *a,
                   const struct schema_column *b)
{
    const struct schema_index *schema = run->subject->schema;
    const char *a_table = schema->tables[a->table].name, *b_table = schema->tables[b->table].name;
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, pair->node, "%s.%s and %s.%s do not refer to each other", a_table,
                                             a->name, b_table, b->name);
    vsig_add_fact(run, finding, "columns", false, "%s.%s, %s.%s", a_table, a->name, b_table, b->name);
    const struct schema_join *edge = declared_edge(schema, a->table, b->table);
    if (!edge) return;
    const struct schema_column *from = schema->columns[edge->from[0]], *to = schema->columns[edge->to[0]];
    vsig_add_fact(run, finding, "declared join", false, "%s.%s = %s.%s", schema->tables[from->table].name, from->name,
                  schema->tables[to->table].name, to->name);
}

static enum err_code eval(struct vsig_run *run)
{
    const struct vsig_shape *shape = vsig_shape(run->subject);
    if (!shape) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < shape->n_pairs; i++) {
        const struct sql_join_pair *pair = &shape->pairs[i];
        const struct schema_column *a = schema_column_of(run->subject->schema, pair->left);
        const struct schema_column *b = schema_column_of(run->subject->schema, pair->right);
        if (a && b && !is_valid(run, a, b)) report(run, pair, a, b);
    }
    return ERR_OK;
}

const struct vsig_def vsig_incorrect_join_predicate = {
    .id = VSIG_ID_incorrect_join_predicate,
    .name = "incorrect_join_predicate",
    .family = VSIG_JOIN,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "an equality joins two columns that are no foreign key pair, declared, derived or safely inferred",
    .description = "The query joins two columns of which neither refers to the other. Equal numbers in them mean different "
                   "things, so rows are paired by chance.",
    .example = "client.client_id = account.account_id: a client and an account with the same number have nothing to do with "
               "each other; the table disp links them.",
    .instruction = "Join along the foreign keys of the schema, through the linking table if there is one.",
    .options = OPTIONS,
    .eval = eval,
};
