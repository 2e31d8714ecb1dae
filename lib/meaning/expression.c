/* Reads expressions, with one function for each kind of node. */
#include "lib/meaning/meaning_int.h"

#include <string.h>

typedef struct meaning_term *node_reader(struct meaning_reader *r, const struct sql_node *node);

static struct meaning_term *make_value(struct meaning_reader *r, const char *text, const struct sql_node *node)
{
    if (!text) r->failed = true;
    return meaning_term_make(r, MEANING_VALUE, text ? text : "", NULL, 0, node);
}

static struct meaning_term *read_literal(struct meaning_reader *r, const struct sql_node *node)
{
    int len = (int)node->text_len;
    switch (node->op) {
    case SQL_LIT_NULL: return make_value(r, "null", node);
    case SQL_LIT_TRUE: return make_value(r, "true", node);
    case SQL_LIT_FALSE: return make_value(r, "false", node);
    case SQL_LIT_STRING: return make_value(r, arena_printf(r->arena, "'%.*s'", len, node->text), node);
    case SQL_LIT_INT:
    case SQL_LIT_FLOAT: return make_value(r, meaning_lower(r, node->text, node->text_len), node);
    case SQL_LIT_CURRENT:
        return meaning_term_make(r, MEANING_CALL, meaning_lower(r, node->text, node->text_len), NULL, 0, node);
    default: return make_value(r, arena_printf(r->arena, "%s %.*s", sql_op_text(node->op), len, node->text), node);
    }
}

/* Reads a literal with a type. A date or timestamp becomes its text: DATE '2024-01-01' is '2024-01-01'. Other types
 * remain. */
static struct meaning_term *read_typed(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning_term *value = meaning_read_term(r, sql_kid(node, 0));
    if (sql_name_is(node->text, node->text_len, "interval", 8)) {
        const char *unit = node->text2 ? meaning_lower(r, node->text2, node->text2_len) : "";
        const char *name = arena_printf(r->arena, "interval %s", unit);
        return meaning_term_make(r, MEANING_CALL, name ? name : "interval", &value, 1, node);
    }
    const char *type = meaning_lower(r, node->text, node->text_len);
    bool is_date = strncmp(type, "date", 4) == 0 || strncmp(type, "timestamp", 9) == 0;
    return is_date ? value : meaning_term_make(r, MEANING_CALL, type, &value, 1, node);
}

static struct meaning_term *read_param(struct meaning_reader *r, const struct sql_node *node)
{
    if (node->text_len == 1) return meaning_term_unknown(r, "a parameter without a name", node);
    return make_value(r, arena_strndup(r->arena, node->text, node->text_len), node);
}

/* True if the term is 0, 1 or NULL. */
static bool is_truth(const struct meaning_term *term)
{
    static const char *const prefixes[] = {"and", "or",   "not",   "=",      "<>",   "<",      ">",     "is ",
                                           "in",  "like", "ilike", "regexp", "glob", "exists", "match", "similar"};
    bool shift = term->kind == MEANING_OPERATION && (strcmp(term->name, "<<") == 0 || strcmp(term->name, ">>") == 0);
    for (size_t i = 0; term->kind == MEANING_OPERATION && !shift && i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(term->name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

/* Reads a condition as a value. The value of NOT NOT x and x AND x is 0 or 1, not x. */
static struct meaning_term *read_condition(struct meaning_reader *r, const struct sql_node *node)
{
    bool as_value = r->as_value;
    r->as_value = true;
    struct meaning_term *term = meaning_read_condition(r, node, false);
    r->as_value = as_value;
    return is_truth(term) ? term : meaning_term_make(r, MEANING_OPERATION, "truth of", &term, 1, node);
}

static struct meaning_term *read_unary(struct meaning_reader *r, const struct sql_node *node)
{
    if (node->op == SQL_OP_NOT || node->op == SQL_OP_ISNULL || node->op == SQL_OP_NOTNULL)
        return read_condition(r, node);
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, 0));
    if (node->op == SQL_OP_PLUS) /* in SQLite, +x removes the column's type from a comparison */
        return x->kind == MEANING_COLUMN ? meaning_term_make(r, MEANING_OPERATION, "plus", &x, 1, node) : x;
    if (node->op == SQL_OP_NEG && meaning_is_value(x, NULL) && x->name[0] != '-' && x->name[0] != '\'')
        return make_value(r, arena_printf(r->arena, "-%s", x->name), node);
    return meaning_term_make(r, MEANING_OPERATION, node->op == SQL_OP_NEG ? "negative" : "bit not", &x, 1, node);
}

static bool is_commutative(uint8_t op)
{
    return op == SQL_OP_ADD || op == SQL_OP_MUL || op == SQL_OP_BITAND || op == SQL_OP_BITOR;
}

static struct meaning_term *read_binary(struct meaning_reader *r, const struct sql_node *node)
{
    if (node->op == SQL_OP_AND || node->op == SQL_OP_OR || node->op == SQL_OP_IS || node->op == SQL_OP_IS_NOT ||
        node->op == SQL_OP_IS_DISTINCT || node->op == SQL_OP_IS_NOT_DISTINCT || sql_is_comparison(node->op))
        return read_condition(r, node);
    struct meaning_term *parts[] = {meaning_read_term(r, sql_kid(node, 0)), meaning_read_term(r, sql_kid(node, 1))};
    const char *op = node->op == SQL_OP_OTHER ? meaning_lower(r, node->text, node->text_len) : sql_op_text(node->op);
    struct meaning_term *ratio = meaning_read_ratio(r, op, parts[0], parts[1], node);
    if (ratio) return ratio;
    if (is_commutative(node->op)) meaning_terms_sort(parts, 2, false);
    return meaning_term_make(r, MEANING_OPERATION, op, parts, 2, node);
}

/* Reads the condition of a WHEN. CASE x WHEN a is CASE WHEN x = a. */
static struct meaning_term *read_when(struct meaning_reader *r, const struct sql_node *operand,
                                      const struct sql_node *when)
{
    if (!operand) return meaning_read_condition(r, sql_kid(when, WHEN_CONDITION), false);
    struct meaning_term *parts[] = {meaning_read_term(r, operand), meaning_read_term(r, sql_kid(when, WHEN_CONDITION))};
    return meaning_compare_terms(r, "=", parts[0], parts[1], when);
}

static struct meaning_term *read_case(struct meaning_reader *r, const struct sql_node *node)
{
    const struct sql_node *otherwise = sql_kid(node, CASE_ELSE);
    struct meaning_term **parts = arena_new_array(r->arena, 2 * (size_t)node->n_kids + 1, struct meaning_term *);
    uint32_t n = 0;
    if (!parts) {
        r->failed = true;
        return meaning_term_unknown(r, "no memory", node);
    }
    for (uint32_t i = CASE_FIRST_WHEN; i < node->n_kids; i++) {
        parts[n++] = read_when(r, sql_kid(node, CASE_OPERAND), node->kids[i]);
        parts[n++] = meaning_read_term(r, sql_kid(node->kids[i], WHEN_RESULT));
    }
    struct meaning_term *last = otherwise ? meaning_read_term(r, otherwise) : NULL;
    if (last && !meaning_is_value(last, "null")) parts[n++] = last; /* ELSE NULL is the same as no ELSE */
    return meaning_term_make(r, MEANING_CASE, "", parts, n, node);
}

static struct meaning_term *read_cast(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, 0));
    const char *type = meaning_lower(r, node->text, node->text_len);
    if (x->kind == MEANING_PERIOD && strncmp(type, "int", 3) == 0 && strlen(x->form) <= 4 && x->form[0] <= '9') {
        struct meaning_term *number = meaning_term_copy(r, x);
        if (r->failed) return x;
        number->form = "number";
        meaning_term_rehash(number);
        return number;
    }
    if (strcmp(type, "date") == 0 && meaning_is_value(x, NULL)) return x;
    const char *name = arena_printf(r->arena, "cast %s", type);
    if (!name) r->failed = true;
    return meaning_term_make(r, MEANING_CALL, name ? name : "cast", &x, 1, node);
}

static struct meaning_term *read_extract(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, 0)), *period = meaning_read_period(r, node, &x, 1);
    if (period) return period;
    const char *name = arena_printf(r->arena, "extract %.*s", (int)node->text_len, node->text);
    return meaning_term_make(r, MEANING_CALL, name ? name : "extract", &x, 1, node);
}

/* Reads COALESCE. COALESCE(sum, 0) is a sum that is 0 without rows. */
static struct meaning_term *read_coalesce(struct meaning_reader *r, struct meaning_term **args, uint32_t n,
                                          const struct sql_node *node)
{
    struct meaning_term *x = args[0];
    if (n == 2 && meaning_is_value(args[1], "0") && x->kind == MEANING_MEASURE &&
        (strcmp(x->name, "sum") == 0 || strcmp(x->name, "count") == 0)) {
        x = meaning_term_copy(r, x);
        if (r->failed) return x;
        x->or_zero = true;
        x->form = NULL;
        meaning_term_rehash(x);
        return x;
    }
    return meaning_term_make(r, MEANING_CALL, "coalesce", args, n, node);
}

static struct meaning_term *read_function(struct meaning_reader *r, const struct sql_node *node)
{
    const struct sql_node *list = sql_kid(node, CALL_ARGS);
    uint32_t n = list ? list->n_kids : 0;
    struct meaning_term **args = arena_new_array(r->arena, n, struct meaning_term *);
    const char *name = meaning_lower(r, node->text, node->text_len);
    if (!args) {
        r->failed = true;
        return meaning_term_unknown(r, "no memory", node);
    }
    static const char *const random[] = {"random", "randomblob", "rand", "uuid", "gen_random_uuid"};
    for (size_t i = 0; i < sizeof random / sizeof *random; i++)
        if (strcmp(random[i], name) == 0) return meaning_term_unknown(r, "a random value", node);
    bool is_choice = n == 3 && (strcmp(name, "iif") == 0 || strcmp(name, "if") == 0);
    for (uint32_t i = 0; i < n; i++)
        args[i] =
            is_choice && i == 0 ? meaning_read_condition(r, list->kids[0], false) : meaning_read_term(r, list->kids[i]);
    if (is_choice) return meaning_term_make(r, MEANING_CASE, "", args, 3, node);
    if (n && (strcmp(name, "coalesce") == 0 || strcmp(name, "ifnull") == 0)) return read_coalesce(r, args, n, node);
    struct meaning_term *period = meaning_read_period(r, node, args, n);
    return period ? period : meaning_term_make(r, MEANING_CALL, name, args, n, node);
}

static struct meaning_term *read_call(struct meaning_reader *r, const struct sql_node *node)
{
    if (sql_kid(node, CALL_WINDOW)) return meaning_read_window(r, node);
    return sql_is_aggregate(node) ? meaning_read_measure(r, node) : read_function(r, node);
}

static struct meaning_term *read_subquery(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning *relation = meaning_read_query(r, sql_kid(node, 0));
    struct meaning_term *term = meaning_term_make(r, MEANING_QUERY, "", NULL, 0, node);
    if (r->failed) return term;
    term->relation = relation;
    meaning_term_rehash(term);
    return term;
}

static struct meaning_term *read_collate(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, 0));
    const char *name = arena_printf(r->arena, "collate %.*s", (int)node->text_len, node->text);
    return meaning_term_make(r, MEANING_CALL, name ? name : "collate", &x, 1, node);
}

static struct meaning_term *read_row(struct meaning_reader *r, const struct sql_node *node)
{
    struct meaning_term **parts = arena_new_array(r->arena, node->n_kids, struct meaning_term *);
    if (!parts) {
        r->failed = true;
        return meaning_term_unknown(r, "no memory", node);
    }
    for (uint32_t i = 0; i < node->n_kids; i++) parts[i] = meaning_read_term(r, node->kids[i]);
    return meaning_term_make(r, MEANING_OPERATION, node->kind == SQL_ROW ? "row" : "array", parts, node->n_kids, node);
}

static struct meaning_term *read_unknown(struct meaning_reader *r, const struct sql_node *node)
{
    return meaning_term_unknown(r, sql_kind_name(node->kind), node);
}

struct meaning_term *meaning_read_term(struct meaning_reader *r, const struct sql_node *node)
{
    static node_reader *const readers[SQL_KIND_COUNT] = {
        [SQL_COLUMN] = meaning_read_column,
        [SQL_LITERAL] = read_literal,
        [SQL_TYPED] = read_typed,
        [SQL_PARAM] = read_param,
        [SQL_UNARY] = read_unary,
        [SQL_BINARY] = read_binary,
        [SQL_LIKE] = read_condition,
        [SQL_BETWEEN] = read_condition,
        [SQL_IN] = read_condition,
        [SQL_EXISTS] = read_condition,
        [SQL_CASE] = read_case,
        [SQL_CAST] = read_cast,
        [SQL_CALL] = read_call,
        [SQL_EXTRACT] = read_extract,
        [SQL_SUBQUERY] = read_subquery,
        [SQL_COLLATE] = read_collate,
        [SQL_ROW] = read_row,
        [SQL_ARRAY] = read_row,
    };
    if (!node) return meaning_term_unknown(r, "a part that is missing", NULL);
    if (r->depth >= MEANING_MAX_DEPTH || r->n_terms >= MEANING_MAX_TERMS)
        return meaning_term_unknown(r, "the query is too large", node);
    r->depth++;
    struct meaning_term *term = (readers[node->kind] ? readers[node->kind] : read_unknown)(r, node);
    r->depth--;
    return term;
}
