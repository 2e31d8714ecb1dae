/* string_column: a double-quoted word is used as a column, but SQLite reads it as a string because no column has that
 * name. */
#include "signals/support/names.h"

#include <string.h>

/* What the query expects at the place of a string literal. */
enum place {
    PLACE_VALUE,  /* a string, as in a comparison or an argument */
    PLACE_COLUMN, /* a column */
};

static bool is_arithmetic(const struct sql_node *node)
{
    return node->kind == SQL_BINARY && node->op >= SQL_OP_ADD && node->op <= SQL_OP_MOD;
}

/* True if the other operand of the comparison contains a column or is a subquery. The word is then a literal. */
static bool faces_column(const struct sql_node *comparison, const struct sql_node *word)
{
    const struct sql_node *other = sql_kid(comparison, comparison->kids[0] == word ? 1 : 0);
    while (other) {
        const struct sql_node *found = NULL;
        for (const struct sql_node *n = other; n && !found; n = sql_walk(other, n))
            if (n->kind == SQL_COLUMN && n->ref && n->ref->kind != SQL_REF_STRING) found = n;
        return found || sql_is(other, SQL_SUBQUERY);
    }
    return false;
}

static enum place place_of(const struct sql_node *word)
{
    const struct sql_node *parent = word->parent;
    if (!parent) return PLACE_VALUE;
    if (parent->kind == SQL_GROUP || parent->kind == SQL_TERM || parent->kind == SQL_PARTITION) return PLACE_COLUMN;
    if (parent->kind == SQL_ITEM) return PLACE_COLUMN;
    if (is_arithmetic(parent)) return PLACE_COLUMN;
    /* the second argument of group_concat is a separator */
    if (parent->kind == SQL_ARGS && sql_is_aggregate(parent->parent))
        return word->slot == 0 ? PLACE_COLUMN : PLACE_VALUE;
    if (parent->kind == SQL_BINARY && sql_is_comparison((enum sql_op)parent->op))
        return faces_column(parent, word) ? PLACE_VALUE : PLACE_COLUMN;
    return PLACE_VALUE;
}

/* True if the word labels an arm of a set operation: SELECT name, "teacher" ... UNION SELECT name, "student" ... */
static bool labels_an_arm(const struct vsig_run *run, const struct sql_node *word)
{
    const struct sql_block *block = sql_block_of(run->subject->bound, word);
    return sql_is(word->parent, SQL_ITEM) && block && block->arm;
}

/* Returns a column of the block's tables whose name is very similar to the word, or NULL. */
static const struct schema_column *near_column(const struct vsig_run *run, const struct sql_node *word)
{
    const struct sql_block *block = sql_block_of(run->subject->bound, word);
    char text[64];
    if (!block || word->text_len < 3 || word->text_len >= sizeof text) return NULL;
    for (uint32_t i = 0; i < word->text_len; i++) {
        char c = word->text[i];
        text[i] = c == ' ' ? '_' : (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    text[word->text_len] = '\0';
    unsigned limit = word->text_len < 6 ? 1 : 2;
    for (uint32_t s = 0; s < block->n_sources; s++) {
        if (block->sources[s].table < 0) continue;
        const struct schema_table *table = &run->subject->schema->tables[block->sources[s].table];
        for (uint32_t c = 0; c < table->n_columns; c++) {
            char name[64];
            size_t len = strlen(table->columns[c].name);
            if (len >= sizeof name || len + limit < word->text_len || len > word->text_len + limit) continue;
            for (size_t i = 0; i <= len; i++) {
                char ch = table->columns[c].name[i];
                name[i] = (char)(ch >= 'A' && ch <= 'Z' ? ch + 32 : ch);
            }
            if (text_distance(text, name, limit) <= limit) return &table->columns[c];
        }
    }
    return NULL;
}

/* True for a string in GROUP BY or ORDER BY, such as 'age'. A constant has no effect there. */
static bool is_idle_literal(const struct sql_node *node)
{
    return node->kind == SQL_LITERAL && node->op == SQL_LIT_STRING && node->parent &&
           (node->parent->kind == SQL_GROUP || node->parent->kind == SQL_TERM);
}

static void look_at(struct vsig_run *run, const struct sql_node *word)
{
    bool must_be_column = place_of(word) == PLACE_COLUMN && !labels_an_arm(run, word);
    const struct schema_column *near = near_column(run, word);
    if (!must_be_column && !near) return;
    struct vsig_finding *finding =
        must_be_column
            ? vsig_fire(run, VSIG_ERROR, word, "a quoted word is used as a column, but no column has that name")
            : vsig_note(run, word, "a quoted word is read as a string, but its spelling is close to the column %s.%s",
                        run->subject->schema->tables[near->table].name, near->name);
    if (near)
        vsig_add_fact(run, finding, "near column", false, "%s.%s", run->subject->schema->tables[near->table].name,
                      near->name);
}

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool quoted_word = n->kind == SQL_COLUMN && n->ref && n->ref->kind == SQL_REF_STRING;
        if (quoted_word || is_idle_literal(n)) look_at(run, n);
    }
    return ERR_OK;
}

const struct vsig_def vsig_string_column = {
    .id = VSIG_ID_string_column,
    .name = "string_column",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "a quoted word that is not a column name is used where a column is expected",
    .description = "SQLite reads a double-quoted word as a string if no column has that name. Where a column is "
                   "expected, the query then returns, groups or orders by a constant.",
    .example = "`SELECT \"Song Name\" FROM singer` returns the text Song Name for each row. Correct: `SELECT Song_Name "
               "FROM singer`.",
    .instruction = "Write the column's real name. If a string is meant, put the string in single quotes and compare a "
                   "column with it.",
    .eval = eval,
};
