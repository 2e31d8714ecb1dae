/* Infers the type of an expression.
 *
 * A column has the type that all its values share according to the statistics. An empty column has the type of its
 * affinity. Operators and functions follow the rules of SQLite. Columns of derived tables are resolved to their
 * expressions, within a budget of steps. The result is UNKNOWN if the values may have several types or the budget is
 * used up. */
#include "signals/support/types.h"

#include <strings.h>

enum vsig_type vsig_type_of_column(const struct schema_column *column)
{
    static const enum vsig_type BY_AFFINITY[] = {
        [SCHEMA_TEXT] = VSIG_TYPE_TEXT,       [SCHEMA_INTEGER] = VSIG_TYPE_INT,  [SCHEMA_REAL] = VSIG_TYPE_REAL,
        [SCHEMA_NUMERIC] = VSIG_TYPE_UNKNOWN, [SCHEMA_BLOB] = VSIG_TYPE_UNKNOWN,
    };
    const struct schema_stats *stats = &column->stats;
    uint64_t kinds[] = {stats->ints, stats->reals, stats->texts, stats->blobs};
    static const enum vsig_type TYPES[] = {VSIG_TYPE_INT, VSIG_TYPE_REAL, VSIG_TYPE_TEXT, VSIG_TYPE_BLOB};
    enum vsig_type found = VSIG_TYPE_NULL;
    for (unsigned i = 0; i < 4; i++) {
        if (!kinds[i]) continue;
        if (found != VSIG_TYPE_NULL) return VSIG_TYPE_UNKNOWN;
        found = TYPES[i];
    }
    return found == VSIG_TYPE_NULL ? BY_AFFINITY[column->affinity] : found;
}

/* The expression of a derived column may use another derived column twice, at every level of nesting. Without a budget,
 * the number of steps doubles with each level. */
enum { MAX_STEPS = 500 };
struct asker {
    const struct vsig_subject *subject;
    int budget;
};

static enum vsig_type type_of(struct asker *asker, const struct sql_node *expr);

static enum vsig_type of_literal(const struct sql_node *literal)
{
    switch (literal->op) {
    case SQL_LIT_NULL: return VSIG_TYPE_NULL;
    case SQL_LIT_TRUE:
    case SQL_LIT_FALSE:
    case SQL_LIT_INT: return VSIG_TYPE_INT;
    case SQL_LIT_FLOAT: return VSIG_TYPE_REAL;
    case SQL_LIT_BLOB: return VSIG_TYPE_BLOB;
    default: return VSIG_TYPE_TEXT;
    }
}

/* Returns the type of a value that is one of two expressions, as in CASE. */
static enum vsig_type either(enum vsig_type a, enum vsig_type b)
{
    if (a == VSIG_TYPE_NULL || a == b) return b;
    return b == VSIG_TYPE_NULL ? a : VSIG_TYPE_UNKNOWN;
}

static enum vsig_type arithmetic(enum vsig_type a, enum vsig_type b)
{
    if (a == VSIG_TYPE_REAL || b == VSIG_TYPE_REAL) return VSIG_TYPE_REAL;
    return a == VSIG_TYPE_INT && b == VSIG_TYPE_INT ? VSIG_TYPE_INT : VSIG_TYPE_UNKNOWN;
}

static enum vsig_type of_binary(struct asker *asker, const struct sql_node *expr)
{
    switch (expr->op) {
    case SQL_OP_ADD:
    case SQL_OP_SUB:
    case SQL_OP_MUL:
    case SQL_OP_DIV: return arithmetic(type_of(asker, expr->kids[0]), type_of(asker, expr->kids[1]));
    case SQL_OP_CONCAT: return VSIG_TYPE_TEXT;
    case SQL_OP_POW: return VSIG_TYPE_REAL;
    case SQL_OP_ARROW:
    case SQL_OP_ARROW2:
    case SQL_OP_OTHER: return VSIG_TYPE_UNKNOWN;
    default: return VSIG_TYPE_INT; /* comparisons, logic and bit operators */
    }
}

static enum vsig_type of_cast(const struct sql_node *cast)
{
    static const struct {
        const char *part;
        enum vsig_type type;
    } PARTS[] = {{"int", VSIG_TYPE_INT},   {"char", VSIG_TYPE_TEXT},    {"text", VSIG_TYPE_TEXT},
                 {"clob", VSIG_TYPE_TEXT}, {"real", VSIG_TYPE_REAL},    {"floa", VSIG_TYPE_REAL},
                 {"doub", VSIG_TYPE_REAL}, {"deci", VSIG_TYPE_UNKNOWN}, {"nume", VSIG_TYPE_UNKNOWN}};
    for (unsigned i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        for (uint32_t at = 0; at + 3 <= cast->text_len; at++) {
            size_t len = PARTS[i].part[3] ? 4 : 3;
            if (at + len <= cast->text_len && strncasecmp(cast->text + at, PARTS[i].part, len) == 0)
                return PARTS[i].type;
        }
    return VSIG_TYPE_UNKNOWN;
}

/* The type of a function's result: a fixed type, or SAME for the type of its arguments. */
enum { SAME = -1 };
static const struct {
    const char *name;
    int type;
} FUNCTIONS[] = {
    {"count", VSIG_TYPE_INT},
    {"length", VSIG_TYPE_INT},
    {"instr", VSIG_TYPE_INT},
    {"unicode", VSIG_TYPE_INT},
    {"sign", VSIG_TYPE_INT},
    {"row_number", VSIG_TYPE_INT},
    {"rank", VSIG_TYPE_INT},
    {"dense_rank", VSIG_TYPE_INT},
    {"avg", VSIG_TYPE_REAL},
    {"total", VSIG_TYPE_REAL},
    {"round", VSIG_TYPE_REAL},
    {"julianday", VSIG_TYPE_REAL},
    {"sqrt", VSIG_TYPE_REAL},
    {"power", VSIG_TYPE_REAL},
    {"pow", VSIG_TYPE_REAL},
    {"sum", SAME},
    {"min", SAME},
    {"max", SAME},
    {"abs", SAME},
    {"coalesce", SAME},
    {"ifnull", SAME},
    {"nullif", SAME},
    {"upper", VSIG_TYPE_TEXT},
    {"lower", VSIG_TYPE_TEXT},
    {"trim", VSIG_TYPE_TEXT},
    {"substr", VSIG_TYPE_TEXT},
    {"substring", VSIG_TYPE_TEXT},
    {"replace", VSIG_TYPE_TEXT},
    {"strftime", VSIG_TYPE_TEXT},
    {"date", VSIG_TYPE_TEXT},
    {"time", VSIG_TYPE_TEXT},
    {"datetime", VSIG_TYPE_TEXT},
    {"printf", VSIG_TYPE_TEXT},
    {"format", VSIG_TYPE_TEXT},
    {"group_concat", VSIG_TYPE_TEXT},
};

static enum vsig_type of_call(struct asker *asker, const struct sql_node *call)
{
    for (unsigned i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++) {
        const char *name = FUNCTIONS[i].name;
        if (!sql_name_is(call->text, call->text_len, name, __builtin_strlen(name))) continue;
        if (FUNCTIONS[i].type != SAME) return (enum vsig_type)FUNCTIONS[i].type;
        enum vsig_type type = VSIG_TYPE_NULL;
        const struct sql_node *args = sql_kid(call, CALL_ARGS);
        for (uint32_t k = 0; args && k < args->n_kids; k++) type = either(type, type_of(asker, args->kids[k]));
        return type;
    }
    return VSIG_TYPE_UNKNOWN;
}

static enum vsig_type of_case(struct asker *asker, const struct sql_node *expr)
{
    enum vsig_type type = VSIG_TYPE_NULL;
    const struct sql_node *otherwise = sql_kid(expr, CASE_ELSE);
    if (otherwise) type = type_of(asker, otherwise);
    for (uint32_t i = CASE_FIRST_WHEN; i < expr->n_kids; i++)
        type = either(type, type_of(asker, sql_kid(expr->kids[i], WHEN_RESULT)));
    return type;
}

static enum vsig_type of_subquery(struct asker *asker, const struct sql_node *expr)
{
    const struct sql_node *select = sql_kid(sql_kid(expr, 0), QUERY_BODY);
    const struct sql_node *item = sql_is(select, SQL_SELECT) ? sql_kid(sql_kid(select, SELECT_ITEMS), 0) : NULL;
    return sql_is(item, SQL_ITEM) ? type_of(asker, sql_kid(item, 0)) : VSIG_TYPE_UNKNOWN;
}

static enum vsig_type of_column(struct asker *asker, const struct sql_ref *ref)
{
    if (!ref) return VSIG_TYPE_UNKNOWN;
    if (ref->kind == SQL_REF_STRING) return VSIG_TYPE_TEXT;
    if (ref->kind == SQL_REF_ROWID) return VSIG_TYPE_INT;
    const struct schema_column *column = schema_column_of(asker->subject->schema, ref);
    if (column) return vsig_type_of_column(column);
    return ref->expr ? type_of(asker, ref->expr) : VSIG_TYPE_UNKNOWN;
}

static enum vsig_type type_of(struct asker *asker, const struct sql_node *expr)
{
    if (!expr || asker->budget-- <= 0) return VSIG_TYPE_UNKNOWN;
    switch (expr->kind) {
    case SQL_LITERAL: return of_literal(expr);
    case SQL_COLUMN: return of_column(asker, expr->ref);
    case SQL_UNARY:
        return expr->op == SQL_OP_NEG || expr->op == SQL_OP_PLUS ? type_of(asker, expr->kids[0]) : VSIG_TYPE_INT;
    case SQL_BINARY: return of_binary(asker, expr);
    case SQL_CAST: return of_cast(expr);
    case SQL_CALL: return of_call(asker, expr);
    case SQL_CASE: return of_case(asker, expr);
    case SQL_SUBQUERY: return of_subquery(asker, expr);
    case SQL_COLLATE: return type_of(asker, expr->kids[0]);
    case SQL_LIKE:
    case SQL_BETWEEN:
    case SQL_IN:
    case SQL_EXISTS: return VSIG_TYPE_INT;
    default: return VSIG_TYPE_UNKNOWN;
    }
}

enum vsig_type vsig_type_of(const struct vsig_subject *subject, const struct sql_node *expr)
{
    struct asker asker = {.subject = subject, .budget = MAX_STEPS};
    return type_of(&asker, expr);
}
