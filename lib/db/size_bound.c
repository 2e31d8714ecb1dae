/* Computes upper bounds of the sizes of all expressions of a statement (size_bound.h). size_work.c computes the time of
 * calls. postgres_sizes.c and mariadb_sizes.c contain the tables of functions. */
#include "lib/db/size_bound.h"
#include "lib/db/size_names.h"

#include <math.h>
#include <string.h>

enum {
    PASSES = 16,
    COUNT_OF_PARAM = 1000000,
    DIGEST = 128,
    MOST_COLUMNS = 64,
    PAD_UNIT = 16,
    POWER_BYTES = 30000,
    MOST_POWER_BYTES = 150000,
    BIG = 1024
};

struct sizing {
    const struct size_engine *engine;
    const struct sql_stmt *stmt;
    const struct sql_node **nodes; /* nodes, indexed by id */
    struct size *sizes;            /* their sizes, indexed by id */
    uint32_t n;
    struct size_names *names;
    GArray *counts; /* counts found in this pass */
};

/* --- sums --------------------------------------------------------------------------------------------------------- */

static struct size fixed_size(double bytes)
{
    return (struct size){.fixed = bytes, .number = INFINITY};
}

static struct size sum_of(struct size a, struct size b)
{
    return (struct size){a.fixed + b.fixed, a.data + b.data, INFINITY, a.grown || b.grown, a.computed || b.computed};
}

static struct size times(struct size a, double fixed, double data)
{
    a.fixed = a.fixed > 0 ? a.fixed * fixed : 0;
    a.data = a.data > 0 ? a.data * data : 0;
    a.number = INFINITY;
    return a;
}

static struct size at_most(struct size a, double bytes)
{
    a.fixed = fmin(a.fixed, bytes);
    a.data = fmin(a.data, bytes);
    return a;
}

static struct size of_node(const struct sizing *s, const struct sql_node *n)
{
    return n && n->id < s->n ? s->sizes[n->id] : (struct size){0};
}

static struct size sum_of_kids(const struct sizing *s, const struct sql_node *n)
{
    struct size sum = {.number = INFINITY};
    for (uint32_t i = 0; n && i < n->n_kids; i++) sum = sum_of(sum, of_node(s, n->kids[i]));
    if (n && n->n_kids == 1) sum.number = of_node(s, n->kids[0]).number;
    return sum;
}

static struct size largest_kid(const struct sizing *s, const struct sql_node *n, uint32_t from)
{
    struct size most = {0};
    for (uint32_t i = from; n && i < n->n_kids; i++) most = size_larger(most, of_node(s, n->kids[i]));
    return most;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Returns the expression from which PostgreSQL derives the name of an item. For casts and similar nodes this is the
 * expression inside. */
static const struct sql_node *named_by(const struct sql_node *x)
{
    for (;;) {
        const struct sql_node *inner = NULL;
        if (sql_is(x, SQL_CAST) || sql_is(x, SQL_COLLATE) || sql_is(x, SQL_SUBSCRIPT)) inner = sql_kid(x, 0);
        if (sql_is(x, SQL_CASE)) inner = sql_kid(x, CASE_ELSE);
        if (sql_is(x, SQL_SUBQUERY) || sql_is(x, SQL_QUERY)) inner = sql_kid(x, x->kind == SQL_QUERY ? QUERY_BODY : 0);
        if (sql_is(x, SQL_SELECT)) inner = sql_kid(sql_kid(x, SELECT_ITEMS), 0);
        if (sql_is(x, SQL_ITEM) && !x->text) inner = sql_kid(x, 0);
        if (!inner) return x;
        x = inner;
    }
}

static const char *word_for(const struct sql_node *x)
{
    static const struct {
        enum sql_kind kind;
        const char *word;
    } words[] = {{SQL_CASE, "case"},     {SQL_ARRAY, "array"},    {SQL_ROW, "row"},          {SQL_EXTRACT, "extract"},
                 {SQL_EXISTS, "exists"}, {SQL_TYPED, "interval"}, {SQL_LITERAL, "?column?"}, {SQL_BINARY, "?column?"}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (sql_is(x, words[i].kind)) return words[i].word;
    return "?column?";
}

/* Exports an item of a SELECT under its alias. Without an alias, exports it under all names that PostgreSQL and MariaDB
 * derive. */
static void raise_item(struct sizing *s, const struct sql_node *of, const struct sql_node *item, struct size size)
{
    if (item->text) {
        size_names_raise(s->names, of, item->text, item->text_len, size);
        return;
    }
    const struct sql_node *by = named_by(item);
    bool has_text = sql_is(by, SQL_COLUMN) || sql_is(by, SQL_CALL) || sql_is(by, SQL_ITEM) || sql_is(by, SQL_FIELD);
    const char *word = word_for(by);
    size_names_raise(s->names, of, has_text ? by->text : word, has_text ? by->text_len : strlen(word), size);
    for (const struct sql_node *x = sql_kid(item, 0); x && sql_is(x, SQL_CAST); x = sql_kid(x, 0))
        size_names_raise(s->names, of, x->text, x->text_len, size);
    if (!sql_is(sql_kid(item, 0), SQL_COLUMN))
        size_names_raise(s->names, of, s->stmt->text + item->start, item->end - item->start, size);
}

/* Returns the whole query to whose rows `part` contributes, possibly as an operand of UNION or a similar operator. */
static const struct sql_node *whole_query(const struct sql_node *part)
{
    while (part->parent && (part->parent->kind == SQL_QUERY || part->parent->kind == SQL_COMPOUND)) part = part->parent;
    return part;
}

/* Returns the first SELECT or VALUES of a query, which names the columns. */
static const struct sql_node *first_side(const struct sql_node *query)
{
    while (query && query->kind != SQL_SELECT && query->kind != SQL_VALUES)
        query = sql_kid(query, query->kind == SQL_QUERY ? QUERY_BODY : 0);
    return query;
}

static const struct sql_node *columns_of(const struct sql_node *side)
{
    return sql_is(side, SQL_SELECT) ? sql_kid(side, SELECT_ITEMS) : sql_kid(side, 0);
}

static bool has_star(const struct sql_node *columns)
{
    for (uint32_t i = 0; columns && i < columns->n_kids; i++)
        if (columns->kids[i]->kind == SQL_STAR) return true;
    return false;
}

/* Exports column i of a query with the given size. */
static void raise_column(struct sizing *s, const struct sql_node *query, uint32_t i, struct size size)
{
    const struct sql_node *source = query->parent, *first = first_side(query), *names = NULL;
    const struct sql_node *item = sql_kid(columns_of(first), i);
    if (sql_is(source, SQL_CTE)) names = sql_kid(source, CTE_NAMES);
    if (sql_is(source, SQL_DERIVED)) names = sql_kid(source, DERIVED_NAMES);
    if (sql_is(item, SQL_ITEM)) raise_item(s, first, item, size);
    if (!sql_is(source, SQL_CTE) && !sql_is(source, SQL_DERIVED)) return;
    if (sql_is(item, SQL_ITEM)) raise_item(s, source, item, size);
    const struct sql_node *name = sql_kid(names, i);
    if (name) size_names_raise(s->names, source, name->text, name->text_len, size);
    char made[24];
    int len = g_snprintf(made, sizeof made, "column%u", i + 1);
    if (sql_is(first, SQL_VALUES)) size_names_raise(s->names, source, made, (size_t)len, size);
}

/* Exports the columns of a SELECT or of a row of VALUES. If there is a `*`, the positions of columns are unknown, so
 * all positions get the largest size. */
static void name_columns(struct sizing *s, const struct sql_node *side, const struct sql_node *columns)
{
    const struct sql_node *query = whole_query(side), *first = columns_of(first_side(query));
    bool star = has_star(columns) || has_star(first);
    for (uint32_t i = 0; i < (star ? MOST_COLUMNS : columns->n_kids); i++) {
        struct size size = of_node(s, star ? columns : sql_kid(columns, i));
        const struct sql_node *item = sql_kid(columns, i), *x = sql_is(item, SQL_ITEM) ? sql_kid(item, 0) : item;
        size.computed |= sql_is(x, SQL_LITERAL) ? x->op == SQL_LIT_STRING : !sql_is(x, SQL_COLUMN);
        raise_column(s, query, i, size);
    }
}

/* Exports the names of a source in FROM or WITH. The name of the source itself refers to a whole row. */
static void name_source(struct sizing *s, const struct sql_node *n)
{
    static const char *const own[] = {"key", "value"};
    struct size size = n->kind == SQL_TABLE ? size_names_row(s->names, n, s->sizes) : of_node(s, n);
    bool is_cte = n->kind == SQL_CTE;
    const char *text = is_cte || (n->kind == SQL_TABLE && !n->alias) ? n->text : n->alias;
    size_names_raise(s->names, n, text, text == n->text ? n->text_len : n->alias_len, size);
    const struct sql_node *list = n->kind == SQL_TABLE       ? sql_kid(n, 0)
                                  : n->kind == SQL_FROM_CALL ? sql_kid(n, FROM_CALL_NAMES)
                                                             : NULL;
    for (uint32_t i = 0; list && i < list->n_kids; i++)
        size_names_raise(s->names, n, list->kids[i]->text, list->kids[i]->text_len, size);
    if (n->kind != SQL_FROM_CALL) return;
    size.computed = true;
    const struct sql_node *call = sql_kid(n, FROM_CALL_CALL);
    size_names_raise(s->names, n, call->text, call->text_len, size);
    for (size_t i = 0; i < G_N_ELEMENTS(own); i++) size_names_raise(s->names, n, own[i], strlen(own[i]), size);
}

/* --- counts ------------------------------------------------------------------------------------------------------- */

static double cap_of(const struct sizing *s, double unit)
{
    double most = fmax(1, floor(SIZE_VALUE / fmax(unit, 1)));
    return s->engine->by_digits ? pow(10, fmax(1, floor(log10(most)))) : most;
}

/* Returns the maximum of a count. If it is known only at run time, records it for capping and returns its cap. */
static double count_of(struct sizing *s, const struct sql_node *n, double unit)
{
    double number = of_node(s, n).number;
    if (!n || isfinite(number)) return n ? number : 1;
    double most = cap_of(s, unit);
    struct size_count count = {n->start, n->end, (uint64_t)most};
    g_array_append_val(s->counts, count);
    return most;
}

static double number_of_literal(const struct sql_node *n)
{
    char text[40], *end;
    if (n->op == SQL_LIT_NULL || n->text_len == 0 || n->text_len >= sizeof text) return n->text_len ? INFINITY : 0;
    memcpy(text, n->text, n->text_len);
    text[n->text_len] = '\0';
    double number = g_ascii_strtod(text, &end);
    return *end || isnan(number) ? INFINITY : fabs(number);
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static const struct sql_node *argument(const struct sql_node *call, unsigned i)
{
    return sql_kid(sql_kid(call, CALL_ARGS), i);
}

/* Returns the size of a formatted text, from the widths (%10s) of a literal format. Any other format counts as
 * unbounded, unless it is a column. */
static struct size formatted(const struct sizing *s, const struct sql_node *call)
{
    const struct sql_node *format = argument(call, 0);
    struct size all = sum_of_kids(s, sql_kid(call, CALL_ARGS)), most = largest_kid(s, sql_kid(call, CALL_ARGS), 1);
    if (!sql_is(format, SQL_LITERAL)) return of_node(s, format).fixed > 0 ? fixed_size(INFINITY) : all;
    double width = 0, places = 0, number = 0;
    for (uint32_t i = 0; i < format->text_len; i++) {
        char c = format->text[i];
        number = g_ascii_isdigit(c) ? number * 10 + (c - '0') : 0;
        width = fmax(width, number);
        places += c == '%';
        if (c == '*') return fixed_size(INFINITY);
    }
    struct size size = sum_of(all, times(most, places, places));
    size.fixed += places * width;
    return size;
}

static struct size replaced(const struct sizing *s, const struct sql_node *call)
{
    const struct sql_node *from = argument(call, 1);
    struct size text = of_node(s, argument(call, 0)), with = of_node(s, argument(call, 2));
    double length = sql_is(from, SQL_LITERAL) ? fmax(1, from->text_len) : 1, each = with.fixed / length;
    struct size size = times(text, 1 + each + with.data, fmax(1, each));
    size.data += 4 * with.data;
    size.grown |= with.grown;
    return size;
}

static struct size matched(const struct sizing *s, const struct sql_node *call)
{
    struct size text = of_node(s, argument(call, 0)), with = of_node(s, argument(call, 2));
    struct size size = times(text, 1 + size_total(with), 1 + with.fixed / 2);
    size.fixed += with.fixed;
    size.data += 32 * with.data;
    return size;
}

static struct size part_of(const struct sizing *s, const struct sql_node *call)
{
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    struct size whole = size_larger(of_node(s, sql_kid(args, 0)), (struct size){0});
    if (!args || args->n_kids < 2) return whole;
    double characters = of_node(s, args->kids[args->n_kids - 1]).number;
    whole.number = INFINITY;
    return isfinite(characters) && characters > 0 ? at_most(whole, characters * 4) : whole;
}

static struct size joined(const struct sizing *s, struct size each)
{
    struct size size = times(each, s->engine->rows, SIZE_ROWS_DATA);
    size.grown = true;
    return size;
}

static struct size power(const struct sizing *s, const struct sql_node *base, const struct sql_node *exponent)
{
    double times_of = of_node(s, exponent).number;
    if (!exponent || !isfinite(times_of)) return fixed_size(POWER_BYTES);
    double digits = fmin(size_total(of_node(s, base)), SIZE_NUMBER);
    return fixed_size(fmin(MOST_POWER_BYTES, SIZE_NUMBER + digits * times_of));
}

static struct size separated(const struct sizing *s, const struct sql_node *call)
{
    struct size all = sum_of_kids(s, sql_kid(call, CALL_ARGS));
    struct size between = of_node(s, argument(call, 1));
    return times(all, 1 + between.fixed, 1 + fmin(between.fixed, 4));
}

/* Returns the size of a repeated or padded text, or of a text of spaces. */
static struct size counted(struct sizing *s, const struct sql_node *call, enum size_result how)
{
    struct size unit = how == SIZE_REPEATED ? of_node(s, argument(call, 0)) : fixed_size(how == SIZE_PADDED ? 4 : 1);
    /* assumes that no statement needs a padding of a megabyte */
    double each = how == SIZE_PADDED ? PAD_UNIT : size_total(unit);
    double n = count_of(s, argument(call, how == SIZE_SPACES ? 0 : 1), each);
    struct size size = fixed_size(size_total(unit) > 0 ? size_total(unit) * n : 0);
    size.computed = unit.computed;
    return size;
}

static struct size result_of(struct sizing *s, const struct sql_node *call, const struct size_rule *rule)
{
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    struct size all = sum_of_kids(s, args);
    double scale = rule->scale > 0 ? (double)rule->scale : 1;
    switch (rule->result) {
    case SIZE_OF_ALL: return times(all, scale, scale);
    case SIZE_OF_NUMBER: return fixed_size(SIZE_NUMBER);
    case SIZE_OF_DIGEST: return fixed_size(DIGEST);
    case SIZE_OF_LARGEST: return largest_kid(s, args, 0);
    case SIZE_OF_PART: return part_of(s, call);
    case SIZE_REPEATED:
    case SIZE_PADDED:
    case SIZE_SPACES: return counted(s, call, rule->result);
    case SIZE_REPLACED: return replaced(s, call);
    case SIZE_MATCHED: return matched(s, call);
    case SIZE_FORMATTED: return formatted(s, call);
    case SIZE_SEPARATED: return separated(s, call);
    case SIZE_INDENTED: return times(all, 1 + all.fixed + all.data, 1 + all.data);
    case SIZE_SET: return times(all, 64, 64);
    case SIZE_JOINED: return joined(s, all);
    case SIZE_POWER: return power(s, argument(call, 0), argument(call, 1));
    }
    return all;
}

/* Returns the maximum value of a call if its arguments determine it, otherwise INFINITY. */
static double number_of_call(const struct sizing *s, const struct sql_node *call)
{
    static const char *const least[] = {"least"}, *const most[] = {"coalesce", "greatest", "ifnull", "nvl"};
    static const char *const same[] = {"abs", "ceil", "ceiling", "floor", "round", "trunc", "truncate", "sign"};
    const struct sql_node *args = sql_kid(call, CALL_ARGS);
    double number = INFINITY;
    if (!args || !args->n_kids) return number;
    for (uint32_t i = 0; i < args->n_kids; i++) number = fmin(number, of_node(s, args->kids[i]).number);
    if (sql_name_is(call->text, call->text_len, least[0], strlen(least[0]))) return number;
    for (size_t i = 0; i < G_N_ELEMENTS(most); i++)
        if (sql_name_is(call->text, call->text_len, most[i], strlen(most[i]))) return largest_kid(s, args, 0).number;
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
        if (sql_name_is(call->text, call->text_len, same[i], strlen(same[i])))
            return of_node(s, args->kids[0]).number + 1;
    return INFINITY;
}

static struct size size_of_call(struct sizing *s, const struct sql_node *call)
{
    struct size size = result_of(s, call, size_rule_of(s->engine, call->text, call->text_len));
    size.number = number_of_call(s, call);
    size.computed |= !size_is_plain(call);
    return size;
}

/* --- operators ---------------------------------------------------------------------------------------------------- */

static double number_of_binary(enum sql_op op, double a, double b)
{
    switch (op) {
    case SQL_OP_ADD:
    case SQL_OP_SUB: return a + b;
    case SQL_OP_MUL: return a > 0 && b > 0 ? a * b : 0;
    case SQL_OP_MOD: return b;
    default: return INFINITY;
    }
}

static bool is_arithmetic(enum sql_op op)
{
    return op == SQL_OP_ADD || op == SQL_OP_SUB || op == SQL_OP_MUL || op == SQL_OP_DIV || op == SQL_OP_MOD;
}

static struct size size_of_binary(const struct sizing *s, const struct sql_node *n)
{
    struct size a = of_node(s, sql_kid(n, 0)), b = of_node(s, sql_kid(n, 1)), all = sum_of(a, b);
    if (sql_is_comparison(n->op) || n->op == SQL_OP_AND || n->op == SQL_OP_OR) return fixed_size(8);
    if (n->op == SQL_OP_POW) return power(s, sql_kid(n, 0), sql_kid(n, 1));
    if (is_arithmetic(n->op) && size_total(all) <= 2 * BIG) all = fixed_size(SIZE_NUMBER);
    all.number = number_of_binary(n->op, a.number, b.number);
    return all;
}

static struct size size_of_unary(const struct sizing *s, const struct sql_node *n)
{
    struct size size = of_node(s, sql_kid(n, 0));
    bool negative = n->op == SQL_OP_NEG && sql_is(sql_kid(n, 0), SQL_LITERAL);
    if (n->op != SQL_OP_PLUS && n->op != SQL_OP_VARIADIC) size.number = negative ? 0 : INFINITY;
    return size;
}

/* Returns the size of a cast. Only some casts, such as to jsonb, produce more bytes than they read. */
static struct size size_of_cast(const struct sizing *s, const struct sql_node *n)
{
    const struct size_rule *rule = size_rule_of_cast(s->engine, n);
    struct size size = of_node(s, sql_kid(n, 0));
    double number = size.number;
    if (rule->scale > 0) size = times(size, (double)rule->scale, (double)rule->scale);
    size.number = number;
    return size;
}

/* Returns the size of a literal: its written length, or the length of a number for a keyword. */
static struct size size_of_literal(const struct sql_node *n)
{
    bool text = n->op == SQL_LIT_STRING || n->op == SQL_LIT_BLOB || n->op == SQL_LIT_BITS;
    struct size size = fixed_size(text || n->op == SQL_LIT_FLOAT || n->op == SQL_LIT_INT ? n->text_len : SIZE_NUMBER);
    size.number = number_of_literal(n);
    return size;
}

static struct size size_of_array(const struct sizing *s, const struct sql_node *n)
{
    struct size size = sum_of_kids(s, n);
    return n->flags & SQL_F_SUBQUERY ? joined(s, size) : size;
}

static struct size measure(struct sizing *s, const struct sql_node *n)
{
    switch ((enum sql_kind)n->kind) {
    case SQL_LITERAL: return size_of_literal(n);
    case SQL_PARAM: return (struct size){.data = SIZE_COLUMN, .number = COUNT_OF_PARAM};
    case SQL_COLUMN: return size_names_find(s->names, n);
    case SQL_STAR: return size_names_star(s->names);
    case SQL_CALL: return size_of_call(s, n);
    case SQL_CAST: return size_of_cast(s, n);
    case SQL_BINARY: return size_of_binary(s, n);
    case SQL_UNARY: return size_of_unary(s, n);
    case SQL_CASE: return largest_kid(s, n, CASE_ELSE);
    case SQL_WHEN: return of_node(s, sql_kid(n, WHEN_RESULT));
    case SQL_ARRAY: return size_of_array(s, n);
    case SQL_COMPOUND:
    case SQL_VALUES: return largest_kid(s, n, 0);
    case SQL_QUERY: return of_node(s, sql_kid(n, QUERY_BODY));
    case SQL_SELECT: return of_node(s, sql_kid(n, SELECT_ITEMS));
    case SQL_CTE: return of_node(s, sql_kid(n, CTE_QUERY));
    case SQL_DERIVED: return of_node(s, sql_kid(n, DERIVED_QUERY));
    case SQL_FROM_CALL: return of_node(s, sql_kid(n, FROM_CALL_CALL));
    case SQL_EXTRACT: return fixed_size(SIZE_NUMBER);
    case SQL_SUBSCRIPT: return of_node(s, sql_kid(n, 0));
    case SQL_LIKE:
    case SQL_BETWEEN:
    case SQL_IN:
    case SQL_EXISTS:
    case SQL_QUANTIFIED: return fixed_size(8);
    default: return sum_of_kids(s, n);
    }
}

/* --- the statement ------------------------------------------------------------------------------------------------ */

static void name_node(struct sizing *s, const struct sql_node *n)
{
    if (n->kind == SQL_SELECT) name_columns(s, n, sql_kid(n, SELECT_ITEMS));
    for (uint32_t i = 0; n->kind == SQL_VALUES && i < n->n_kids; i++) name_columns(s, n, n->kids[i]);
    if (n->kind == SQL_CTE || n->kind == SQL_DERIVED || n->kind == SQL_FROM_CALL || n->kind == SQL_TABLE)
        name_source(s, n);
}

static void run_pass(struct sizing *s)
{
    size_names_begin(s->names);
    g_array_set_size(s->counts, 0);
    for (uint32_t i = s->n; i-- > 0;) {
        s->sizes[i] = measure(s, s->nodes[i]);
        name_node(s, s->nodes[i]);
    }
}

/* Repeats passes until no name grows. Settles the names that still grow after every PASSES passes; names that depend on
 * them may then grow. */
static void find_sizes(struct sizing *s)
{
    for (unsigned i = 0; i < 3 * PASSES; i++) {
        run_pass(s);
        if (!size_names_have_grown(s->names)) return;
        if (i % PASSES == PASSES - 1) size_names_settle(s->names);
    }
    run_pass(s);
}

static int by_end(const void *a, const void *b)
{
    const struct size_count *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static enum err_code check_counts(GArray *counts, struct err *err)
{
    g_array_sort(counts, by_end);
    for (guint i = 1; i < counts->len; i++)
        if (g_array_index(counts, struct size_count, i).start < g_array_index(counts, struct size_count, i - 1).end)
            return err_set(err, ERR_REFUSED,
                           "a count computed from another count is not allowed" ERR_HINT
                           "write a number, or least(n, 1000)");
    return ERR_OK;
}

static enum err_code check_work(struct sizing *s, struct err *err)
{
    struct work_sum sum = {0};
    enum err_code code = ERR_OK;
    for (uint32_t i = 0; i < s->n && !code; i++) code = work_add(s->engine, s->nodes[i], s->sizes, s->n, &sum, err);
    return code ? code : work_check(s->engine, &sum, err);
}

static bool list_nodes(struct sizing *s, struct arena *arena)
{
    for (const struct sql_node *n = s->stmt->root; n; n = sql_walk(s->stmt->root, n)) s->n = MAX(s->n, n->id + 1);
    s->nodes = (const struct sql_node **)arena_array(arena, s->n, sizeof *s->nodes);
    s->sizes = arena_new_array(arena, s->n, struct size);
    if (!s->nodes || !s->sizes) return false;
    for (const struct sql_node *n = s->stmt->root; n; n = sql_walk(s->stmt->root, n)) s->nodes[n->id] = n;
    for (uint32_t i = 0; i < s->n; i++)
        if (!s->nodes[i]) s->nodes[i] = s->stmt->root;
    return true;
}

enum err_code size_check(const struct size_engine *engine, const struct sql_stmt *stmt, GArray *counts, struct err *err)
{
    struct arena arena;
    struct sizing s = {.engine = engine, .stmt = stmt};
    arena_init(&arena, 0);
    if (!list_nodes(&s, &arena)) {
        arena_free(&arena);
        return err_set(err, ERR_LIMIT_MEMORY, "out of memory for the sizes of the statement");
    }
    GArray *own = g_array_new(FALSE, FALSE, sizeof(struct size_count));
    s.names = size_names_new(s.nodes, s.n);
    s.counts = own;
    find_sizes(&s);
    enum err_code code = check_work(&s, err);
    if (!code) code = check_counts(own, err);
    if (!code && counts && own->len) g_array_append_vals(counts, own->data, own->len);
    size_names_free(s.names);
    g_array_free(own, TRUE);
    arena_free(&arena);
    return code;
}

/* --- capping counts ----------------------------------------------------------------------------------------------- */

static void put_count(const struct size_engine *engine, const char *sql, const struct size_count *count, GString *out)
{
    const char *text = sql + count->start;
    gssize len = (gssize)(count->end - count->start);
    unsigned long long most = count->most;
    g_string_append(out, engine->count_open);
    g_string_append_len(out, text, len);
    if (engine->count_again) {
        g_string_append(out, engine->count_again);
        g_string_append_len(out, text, len);
        most = (unsigned long long)(log10((double)most) + 0.5);
    }
    g_string_append_printf(out, engine->count_close, most);
}

GString *size_counts_apply(const struct size_engine *engine, const char *sql, size_t len, GArray *counts)
{
    GString *out = g_string_new(NULL);
    size_t at = 0;
    g_array_sort(counts, by_end);
    for (guint i = 0; i < counts->len; i++) {
        const struct size_count *count = &g_array_index(counts, struct size_count, i);
        g_string_append_len(out, sql + at, (gssize)(count->start - at));
        put_count(engine, sql, count, out);
        at = count->end;
    }
    g_string_append_len(out, sql + at, (gssize)(len - at));
    return out;
}

uint32_t size_counts_shift(const struct size_engine *engine, const GArray *counts, uint32_t at)
{
    size_t by = 0;
    for (guint i = 0; i < counts->len; i++) {
        const struct size_count *count = &g_array_index(counts, struct size_count, i);
        if (at < count->start) continue;
        by += strlen(engine->count_open);
        if (at < count->end) continue;
        char close[64];
        by += (size_t)g_snprintf(close, sizeof close, engine->count_close, (unsigned long long)count->most);
    }
    return at + (uint32_t)by;
}
