/* table_similarity: another table has the same columns, and the query may read the wrong one (SQLens A.1).
 *
 * The paper accepts any common column. But nearly every schema has two tables with a "name", and only a third of such
 * findings were correct. Here the alternative must have all non-key columns that the query uses of the table. They must
 * be at least two, unless the question names the alternative. An alternative is excluded if the query also reads it, or
 * if the question names the table in use. It is also excluded if only the table in use contains a value that the query
 * searches for. */
#include "signals/support/names.h"

#include <string.h>

enum { OPT_MIN_COLUMNS };
enum { MAX_USED = 32 };

static const struct vsig_option OPTIONS[] = {
    {"min_columns", 2, 1, MAX_USED,
     "if the question names neither table, minimum number of non-key columns that both tables have"},
    {NULL},
};

/* The columns that the query uses of one table. */
struct usage {
    int table;
    const struct sql_node *node; /* the first occurrence of the table */
    const struct schema_column *columns[MAX_USED];
    uint32_t n;
    bool star;
};

static bool is_key(const struct schema_index *schema, const struct schema_column *column)
{
    if (column->pk || schema_is_foreign_key(schema, column->id)) return true;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        for (uint32_t k = 0; k < join->n_pairs; k++)
            if (join->to[k] == column->id || (!join->declared && join->from[k] == column->id)) return true;
    }
    return false;
}

static void note_column(const struct schema_index *schema, struct usage *usage, const struct schema_column *column)
{
    for (uint32_t i = 0; i < usage->n; i++)
        if (usage->columns[i] == column) return;
    if (usage->n < MAX_USED && !is_key(schema, column)) usage->columns[usage->n++] = column;
}

static struct usage read_usage(const struct vsig_run *run, int table, const struct sql_node *node)
{
    struct usage usage = {.table = table, .node = node};
    const struct sql_bound *bound = run->subject->bound;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct schema_column *column =
            ref->kind == SQL_REF_COLUMN ? schema_column_of(run->subject->schema, ref) : NULL;
        if (column && column->table == (uint32_t)table) note_column(run->subject->schema, &usage, column);
        if (ref->kind == SQL_REF_STAR && (!ref->source || ref->source->table == table)) usage.star = true;
    }
    return usage;
}

static bool is_used(const struct sql_bound *bound, uint32_t table)
{
    for (uint32_t i = 0; i < bound->n_refs; i++)
        if (bound->refs[i]->kind == SQL_REF_TABLE && bound->refs[i]->table == (int)table) return true;
    return false;
}

static const struct schema_column *column_named(const struct schema_index *schema, uint32_t table, const char *name)
{
    int column = schema_find_column(schema, (int)table, name, strlen(name));
    return column < 0 ? NULL : &schema->tables[table].columns[column];
}

static bool same_value(const struct db_value *a, const struct db_value *b)
{
    return a->type == b->type && db_value_compare(a, b) == 0;
}

static bool same_values(const struct schema_column *a, const struct schema_column *b)
{
    return a->stats.distinct == b->stats.distinct && a->stats.nulls == b->stats.nulls &&
           same_value(&a->stats.min, &b->stats.min) && same_value(&a->stats.max, &b->stats.max) &&
           a->stats.rows == b->stats.rows;
}

/* True if the values of some common column differ. Otherwise both tables give the same result. */
static bool differs(const struct schema_index *schema, const struct usage *usage, uint32_t other)
{
    for (uint32_t i = 0; i < usage->n; i++)
        if (!same_values(usage->columns[i], column_named(schema, other, usage->columns[i]->name))) return true;
    return false;
}

static bool holds_all(const struct schema_index *schema, const struct usage *usage, uint32_t other)
{
    for (uint32_t i = 0; i < usage->n; i++)
        if (!column_named(schema, other, usage->columns[i]->name)) return false;
    return usage->n > 0;
}

/* Returns the literal in an equality with the column, or NULL. */
static const struct sql_node *literal_of(const struct sql_ref *ref)
{
    const struct sql_node *comparison = ref->node->parent;
    if (!sql_is(comparison, SQL_BINARY) || comparison->op != SQL_OP_EQ) return NULL;
    return sql_plain_literal(comparison->kids[comparison->kids[0] == ref->node ? 1 : 0]);
}

/* True if the table in use contains a literal of the query, and the other table does not. */
static bool values_decide(const struct vsig_run *run, const struct usage *usage, uint32_t other)
{
    const struct schema_index *schema = run->subject->schema;
    for (uint32_t i = 0; i < run->subject->bound->n_refs; i++) {
        const struct sql_ref *ref = run->subject->bound->refs[i];
        if (ref->kind != SQL_REF_COLUMN || ref->table != usage->table || !ref->node->parent) continue;
        const struct sql_node *literal = literal_of(ref);
        const struct schema_column *mine = literal ? schema_column_of(schema, ref) : NULL;
        const struct schema_column *theirs = mine ? column_named(schema, other, mine->name) : NULL;
        if (!theirs || !literal->text) continue;
        if (schema_column_has(schema, mine, literal->text, literal->text_len, false) == 1 &&
            schema_column_has(schema, theirs, literal->text, literal->text_len, false) == 0)
            return true;
    }
    return false;
}

static void report(struct vsig_run *run, const struct usage *usage, uint32_t other, bool named)
{
    const struct schema_index *schema = run->subject->schema;
    const char *mine = schema->tables[usage->table].name, *theirs = schema->tables[other].name;
    struct vsig_finding *finding =
        named ? vsig_fire(run, VSIG_ERROR, usage->node,
                          "the question names %s, but the query reads %s, which has the same columns", theirs, mine)
              : vsig_fire(run, VSIG_WARNING, usage->node,
                          "%s also has the columns that the query takes from %s, so the query may read the wrong table",
                          theirs, mine);
    vsig_add_fact(run, finding, "alternative", false, "%s", theirs);
    for (uint32_t i = 0; i < usage->n && i < 4; i++) {
        const struct schema_column *a = usage->columns[i], *b = column_named(schema, other, a->name);
        if (same_values(a, b)) continue;
        vsig_add_fact(run, finding, "difference", true,
                      "%s.%s has %llu different values in %llu rows; %s.%s has %llu in %llu rows", mine, a->name,
                      (unsigned long long)a->stats.distinct, (unsigned long long)a->stats.rows, theirs, b->name,
                      (unsigned long long)b->stats.distinct, (unsigned long long)b->stats.rows);
    }
}

/* True if a column of the table in use may refer to the other table: it has the name of that table's key and no more
 * distinct values. */
static bool refers_to(const struct usage *usage, const struct schema_index *schema, uint32_t other)
{
    for (uint32_t i = 0; i < usage->n; i++) {
        const struct schema_column *key = column_named(schema, other, usage->columns[i]->name);
        bool is_key = key && key->pk == 1 && schema->tables[other].n_pk == 1 && !usage->columns[i]->unique;
        if (is_key && usage->columns[i]->stats.distinct <= key->stats.distinct) return true;
    }
    return false;
}

/* True if a table of the query refers to both tables, as credit does to person and title. The query may then refer to
 * the other table's rows by their key. */
static bool is_bridged(const struct vsig_run *run, const struct usage *usage, uint32_t other)
{
    const struct schema_index *schema = run->subject->schema;
    for (uint32_t i = 0; i < schema->n_joins; i++) {
        const struct schema_join *join = &schema->joins[i];
        if (join->to_table != other || !is_used(run->subject->bound, join->from_table)) continue;
        for (uint32_t k = 0; k < schema->n_joins; k++)
            if (schema->joins[k].from_table == join->from_table && schema->joins[k].to_table == (uint32_t)usage->table)
                return true;
    }
    return false;
}

static void look_at(struct vsig_run *run, const struct usage *usage)
{
    const struct schema_index *schema = run->subject->schema;
    bool mine_named = vsig_question_names_table(run->subject, usage->table);
    if (usage->star || usage->n == 0) return;
    for (uint32_t other = 0; other < schema->n_tables; other++) {
        if ((int)other == usage->table || !holds_all(schema, usage, other) || is_used(run->subject->bound, other) ||
            refers_to(usage, schema, other) || is_bridged(run, usage, other))
            continue;
        bool named = vsig_question_names_table(run->subject, (int)other);
        if (mine_named || (!named && usage->n < (uint32_t)vsig_opt(run, OPT_MIN_COLUMNS))) continue;
        if (differs(schema, usage, other) && !values_decide(run, usage, other)) report(run, usage, other, named);
    }
}

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_bound *bound = run->subject->bound;
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        if (ref->kind != SQL_REF_TABLE || ref->table < 0 || !ref->source || ref->source->kind != SQL_SOURCE_TABLE)
            continue;
        bool seen = false;
        for (uint32_t k = 0; k < i && !seen; k++)
            seen = bound->refs[k]->kind == SQL_REF_TABLE && bound->refs[k]->table == ref->table;
        if (seen) continue;
        struct usage usage = read_usage(run, ref->table, ref->node);
        look_at(run, &usage);
    }
    return ERR_OK;
}

const struct vsig_def vsig_table_similarity = {
    .id = VSIG_ID_table_similarity,
    .name = "table_similarity",
    .family = VSIG_JOIN,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "another table also has the columns that the query takes from one table",
    .description = "Two tables have the columns that the query uses, but with different values. The query may read the "
                   "wrong table.",
    .example = "Which cities have an agency? - SELECT city, phone FROM branch. The table agency also has the columns "
               "city and phone.",
    .instruction = "Check the names and values of both tables to find the table that the question means. Take the "
                   "columns from that table.",
    .options = OPTIONS,
    .eval = eval,
};
