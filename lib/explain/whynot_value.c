/* Finds facts about one condition that removes all rows: its literal, and the stored values nearest to the literal.
 *
 * A condition is read as `column OP literal`. Of a list, the first literal that the column does not hold is read.
 * Statistics and the value index show whether the column holds the literal. The value index also gives the nearest
 * texts. The nearest numbers need one statement, within the limits of the search. */
#include "lib/explain/whynot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- column OP literal ------------------------------------------------------------------------------------------ */

struct comparison {
    const struct sql_node *column, *literal; /* each is the whole operand, with its sign */
    enum sql_op op;
};

static bool of_binary(const struct sql_node *n, struct comparison *out)
{
    enum sql_op op = (enum sql_op)n->op;
    if (!sql_is_comparison(op) && op != SQL_OP_IS) return false;
    const struct sql_node *left = n->kids[0], *right = n->kids[1];
    if (sql_plain_literal(left)) {
        *out = (struct comparison){right, left, sql_op_swap(op)};
        return true;
    }
    *out = (struct comparison){left, right, op};
    return true;
}

/* Reads literal number `at` of the condition. For IN (a, b), the caller chooses the first literal that the column does
 * not hold. */
static bool of_node(const struct sql_node *n, uint32_t at, struct comparison *out)
{
    switch (n->kind) {
    case SQL_BINARY: return at == 0 && of_binary(n, out);
    case SQL_LIKE:
        *out = (struct comparison){n->kids[LIKE_VALUE], n->kids[LIKE_PATTERN], (enum sql_op)n->op};
        return at == 0 && !(n->flags & SQL_F_NOT);
    case SQL_BETWEEN:
        if (at > 1 || n->flags & SQL_F_NOT) return false;
        *out = (struct comparison){n->kids[BETWEEN_VALUE], n->kids[BETWEEN_LOW + at], at ? SQL_OP_LE : SQL_OP_GE};
        return true;
    case SQL_IN:
        if (n->flags & SQL_F_NOT || !sql_is(n->kids[IN_RIGHT], SQL_LIST) || at >= n->kids[IN_RIGHT]->n_kids)
            return false;
        *out = (struct comparison){n->kids[IN_VALUE], n->kids[IN_RIGHT]->kids[at], SQL_OP_EQ};
        return true;
    default: return false;
    }
}

static bool is_number(const struct sql_node *literal)
{
    return sql_is(literal, SQL_LITERAL) && (literal->op == SQL_LIT_INT || literal->op == SQL_LIT_FLOAT);
}

static const char *written(struct arena *arena, const struct explain_source *source, const struct sql_node *operand,
                           const struct sql_node *literal)
{
    bool spelt = is_number(literal) && operand->end > operand->start && operand->end <= source->stmt->len;
    if (spelt) return arena_strndup(arena, source->stmt->text + operand->start, operand->end - operand->start);
    return literal->text ? arena_strndup(arena, literal->text, literal->text_len)
                         : sql_op_text((enum sql_op)literal->op);
}

static const struct schema_stats *numbers_of(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    bool all = stats->rows > stats->nulls && !stats->texts && !stats->blobs && !stats->sampled;
    return all ? stats : NULL;
}

static double to_double(const struct db_value *value)
{
    return value->type == DB_INT ? (double)value->i : value->f;
}

/* Returns 1 if the column holds a value for which `column OP number` is true, 0 if not, and -1 if unknown. */
static int holds_number(const struct schema_column *column, enum sql_op op, double number)
{
    const struct schema_stats *stats = numbers_of(column);
    if (!stats) return -1;
    double min = to_double(&stats->min), max = to_double(&stats->max);
    switch (op) {
    case SQL_OP_LT: return min < number;
    case SQL_OP_LE: return min <= number;
    case SQL_OP_GT: return max > number;
    case SQL_OP_GE: return max >= number;
    case SQL_OP_EQ: return number < min || number > max ? 0 : -1;
    default: return -1;
    }
}

static int is_stored(const struct explain_source *source, const struct whynot_culprit *c)
{
    size_t len = strlen(c->written);
    if (c->op == SQL_OP_EQ || c->op == SQL_OP_IS) {
        int exact = schema_column_has(source->index, c->column, c->written, len, true);
        if (exact >= 0 || !is_number(c->literal)) return exact;
    }
    return is_number(c->literal) ? holds_number(c->column, c->op, strtod(c->written, NULL)) : -1;
}

static bool read_one(struct arena *arena, const struct explain_source *source, const struct comparison *comparison,
                     struct whynot_culprit *out)
{
    const struct sql_ref *ref = sql_plain_column(comparison->column);
    const struct sql_node *literal = sql_plain_literal(comparison->literal);
    const struct schema_column *column = ref ? schema_column_of(source->index, ref) : NULL;
    if (!column || !literal) return false;
    out->column = column;
    out->literal = literal;
    out->op = comparison->op;
    out->written = written(arena, source, comparison->literal, literal);
    out->stored = out->written ? is_stored(source, out) : -1;
    return out->written != NULL;
}

enum { MAX_LITERALS = 16 };

/* Reads the first literal that the column does not hold; if it holds all, the first literal. */
static void read_node(struct arena *arena, const struct explain_source *source, const struct sql_node *node,
                      struct whynot_culprit *culprit)
{
    struct comparison comparison;
    for (uint32_t i = 0; i < MAX_LITERALS && culprit->stored != 0 && of_node(node, i, &comparison); i++) {
        struct whynot_culprit one = *culprit;
        if (!read_one(arena, source, &comparison, &one)) continue;
        if (!culprit->literal || one.stored == 0) *culprit = one;
    }
}

static const struct sql_node *next_of_or(const struct sql_node *top, const struct sql_node *n)
{
    return n->kind == SQL_BINARY && n->op == SQL_OP_OR ? sql_walk(top, n) : sql_walk_over(top, n);
}

void whynot_read(struct arena *arena, const struct explain_source *source, struct whynot_culprit *culprit)
{
    const struct sql_node *top = culprit->node;
    uint32_t budget = MAX_LITERALS, held = 0;
    for (const struct sql_node *n = top; n && budget; n = next_of_or(top, n)) {
        if (n->kind == SQL_BINARY && n->op == SQL_OP_OR) continue;
        struct whynot_culprit one = *culprit;
        one.stored = -1;
        one.literal = NULL;
        read_node(arena, source, n, &one);
        held += one.stored != 0;
        if (one.literal && (!culprit->literal || (one.stored == 0 && culprit->stored != 0))) *culprit = one;
        budget--;
    }
    /* If one side of an OR is never true but the other may be, the OR is not the cause. */
    if (held && culprit->stored == 0 && top->kind == SQL_BINARY && top->op == SQL_OP_OR) culprit->stored = -1;
}

/* ---- nearest values --------------------------------------------------------------------------------------------- */

static const char *value_text(struct arena *arena, const struct db_value *value)
{
    char real[DB_REAL_TEXT];
    switch (value->type) {
    case DB_INT: return arena_printf(arena, "%" PRId64, value->i);
    case DB_FLOAT: return arena_strndup(arena, real, db_real_text(value->f, real));
    case DB_TEXT: return arena_strndup(arena, value->text, value->len);
    case DB_BLOB:
    case DB_NULL: break;
    }
    return NULL;
}

static void put_nearest(struct whynot_culprit *c, const char *text)
{
    if (!text || c->n_nearest == WHYNOT_MAX_NEAREST) return;
    for (uint32_t i = 0; i < c->n_nearest; i++)
        if (strcmp(c->nearest[i], text) == 0) return;
    c->nearest[c->n_nearest++] = text;
}

/* Finds the stored numbers nearest to a number, with one statement. */
static void nearest_numbers(struct arena *arena, const struct explain_source *source, struct whynot_culprit *c,
                            struct whynot *out)
{
    const char *name = db_quote_name(arena, c->column->name, strlen(c->column->name));
    const char *from = schema_quote_table(arena, &source->index->tables[c->column->table]);
    if (!name || !from) return;
    char *sql =
        arena_printf(arena, "SELECT %s FROM %s WHERE %s IS NOT NULL GROUP BY %s ORDER BY abs(%s - %c1), %s LIMIT %d",
                     name, from, name, name, name, db_dialect(source->db)->parameter, name, WHYNOT_MAX_NEAREST);
    struct db_value number = {.type = DB_FLOAT, .f = strtod(c->written, NULL)};
    struct db_result result;
    if (!sql) return;
    out->probes++;
    if (db_query(source->db, arena, sql, strlen(sql), &number, 1, WHYNOT_MAX_NEAREST, &result, NULL)) return;
    out->sql_ns += result.ns;
    for (uint32_t i = 0; i < result.n_rows; i++) put_nearest(c, value_text(arena, &result.values[i]));
}

/* Removes the wildcards of a pattern: Jetblue for '%Jetblue%'. */
static const char *without_wildcards(struct arena *arena, const char *pattern)
{
    char *text = arena_strdup(arena, pattern), *to = text;
    for (const char *from = text; from && *from; from++)
        if (*from != '%' && *from != '_') *to++ = *from;
    if (to) *to = '\0';
    return text;
}

static void nearest_texts(struct arena *arena, const struct explain_source *source, struct whynot_culprit *c)
{
    const char *text = c->op == SQL_OP_LIKE ? without_wildcards(arena, c->written) : c->written;
    const char *found[WHYNOT_MAX_NEAREST];
    if (!text) return;
    uint32_t n = schema_nearest_values(arena, source->index, c->column, text, strlen(text), found, WHYNOT_MAX_NEAREST);
    for (uint32_t i = 0; i < n; i++) put_nearest(c, found[i]);
}

void whynot_nearest(struct arena *arena, const struct explain_source *source, struct whynot_culprit *c,
                    struct whynot *out)
{
    if (!c->column || c->stored == 1) return;
    const struct schema_stats *stats = &c->column->stats;
    bool up = c->op == SQL_OP_GT || c->op == SQL_OP_GE, down = c->op == SQL_OP_LT || c->op == SQL_OP_LE;
    if (up || down)
        put_nearest(c, value_text(arena, up ? &stats->max : &stats->min));
    else if (is_number(c->literal) && numbers_of(c->column))
        nearest_numbers(arena, source, c, out);
    else if (c->op == SQL_OP_EQ || c->op == SQL_OP_IS || c->op == SQL_OP_LIKE)
        nearest_texts(arena, source, c);
}
