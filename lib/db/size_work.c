/* Computes upper bounds of the time of calls, operators and casts, by the rules of each engine. The time of a regular
 * expression depends on how often it may backtrack. */
#include "lib/db/size_work.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 10000000, /* maximum steps of a match; PCRE then stops */
    STEPS_NS = 35,    /* time of a step */
    PAIR_NS = 30,     /* time of a byte, in addition to that of the pairs */
    COMPARED_NS = 40, /* time of a byte that is sorted, grouped or compared */
    OPTIONALS = 12,   /* maximum number of x? in a pattern, each of which doubles the number of paths */
    DEPTH = 64,       /* maximum depth of nested groups in a pattern */
    PATTERN = 8192,
};

struct size size_larger(struct size a, struct size b)
{
    return (struct size){fmax(a.fixed, b.fixed), fmax(a.data, b.data), fmax(a.number, b.number), a.grown || b.grown,
                         a.computed || b.computed};
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

static int compare_name(const char *name, size_t len, const char *other)
{
    size_t other_len = strlen(other);
    int order = g_ascii_strncasecmp(name, other, MIN(len, other_len));
    return order ? order : (len > other_len) - (len < other_len);
}

const struct size_rule *size_rule_of(const struct size_engine *engine, const char *name, size_t len)
{
    static const struct size_rule usual = {.name = "", .b = 1};
    size_t low = 0, high = engine->n_rules;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = compare_name(name, len, engine->rules[middle].name);
        if (order == 0) return &engine->rules[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return &usual;
}

const struct size_rule *size_rule_of_cast(const struct size_engine *engine, const struct sql_node *cast)
{
    static const struct size_rule usual = {.name = "", .b = 1, .ns = 60};
    const char *type = cast->text;
    for (size_t i = 0; type && i < engine->n_casts; i++) {
        const char *name = engine->casts[i].name;
        size_t len = strlen(name);
        bool begins = cast->text_len >= len && g_ascii_strncasecmp(type, name, len) == 0;
        if (begins && (cast->text_len == len || !g_ascii_isalnum(type[len]))) return &engine->casts[i];
    }
    return &usual;
}

bool size_is_plain(const struct sql_node *call)
{
    static const char *const names[] = {"coalesce", "concat",    "concat_ws", "if",     "ifnull", "lcase", "left",
                                        "lower",    "ltrim",     "mid",       "nullif", "nvl",    "right", "rtrim",
                                        "substr",   "substring", "trim",      "ucase",  "upper"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (sql_name_is(call->text, call->text_len, names[i], strlen(names[i]))) return true;
    return false;
}

static const struct size_rule *rule_of_operator(const struct size_engine *engine, const struct sql_node *n)
{
    for (size_t i = 0; i < engine->n_operators; i++)
        if (engine->operators[i].op == n->op) return &engine->operators[i].rule;
    return NULL;
}

/* --- regular expressions ------------------------------------------------------------------------------------------ */

/* State of the scan of a pattern. A repetition can match a text in many ways if it follows or contains another
 * repetition, or contains a choice. PCRE tries all of these ways. Such a pattern is `heavy`. */
struct pattern {
    char text[PATTERN];
    size_t len;
    bool repeats[DEPTH]; /* for each open group: it contains a repetition or a choice */
    unsigned depth, n_repeats, n_optionals;
    bool was_repeated, heavy; /* the previous atom was repeated; the pattern may take all STEPS */
};

static void append_literal(struct pattern *p, const char *text, size_t len)
{
    p->heavy |= p->len + len > sizeof p->text;
    len = MIN(len, sizeof p->text - p->len);
    memcpy(p->text + p->len, text, len);
    p->len += len;
}

static void gather_literals(struct pattern *p, const struct sql_node *top)
{
    for (const struct sql_node *n = top; n; n = sql_walk(top, n)) {
        if (n->kind == SQL_LITERAL) append_literal(p, n->text, n->text_len);
        if (n->kind == SQL_COLUMN || n->kind == SQL_PARAM) append_literal(p, "x", 1);
        p->heavy |= n->kind == SQL_SUBQUERY;
    }
}

static void begin_group(struct pattern *p, size_t *at)
{
    if (++p->depth >= DEPTH) p->heavy = true;
    p->depth = MIN(p->depth, DEPTH - 1);
    p->repeats[p->depth] = p->was_repeated = false;
    if (*at + 1 < p->len && p->text[*at + 1] == '?') {
        p->heavy |= *at + 2 >= p->len || !strchr(":=!<i", p->text[*at + 2]);
        *at += *at + 2 < p->len ? 2 : 1;
    }
}

static bool repeats_many(const struct pattern *p, size_t at)
{
    char c = p->text[at];
    if (c == '*' || c == '+') return true;
    const char *end = c == '{' ? memchr(p->text + at, '}', p->len - at) : NULL;
    return end && (memchr(p->text + at, ',', (size_t)(end - p->text) - at) || end - p->text - (ptrdiff_t)at > 2);
}

/* Records a repetition. `group` is true if the repeated atom is a group that contains a repetition or a choice. */
static void note_repeat(struct pattern *p, bool group)
{
    p->heavy |= p->was_repeated || group;
    p->was_repeated = true;
    p->repeats[p->depth] = true;
    p->n_repeats++;
}

static size_t skip_class(const struct pattern *p, size_t at)
{
    if (++at < p->len && p->text[at] == '^') at++;
    if (at < p->len && p->text[at] == ']') at++;
    while (at < p->len && p->text[at] != ']') at += p->text[at] == '\\' ? 2 : 1;
    return at;
}

/* Skips the repetition, if any, of the atom that ends at `at`, including a lazy or possessive mark. Returns the
 * position of its last byte, or `at`. */
static size_t pass_repeat(struct pattern *p, size_t at, bool group)
{
    size_t next = at + 1;
    if (next >= p->len || !strchr("*+?{", p->text[next])) {
        p->was_repeated = false;
        return at;
    }
    if (p->text[next] == '?') {
        p->n_optionals++;
        p->repeats[p->depth] = true;
        return next;
    }
    if (repeats_many(p, next)) note_repeat(p, group);
    while (p->text[next] == '{' && at + 1 < p->len && p->text[at + 1] != '}') at++;
    at++;
    while (at + 1 < p->len && strchr("?+", p->text[at + 1])) at++;
    return at;
}

static void scan_pattern(struct pattern *p)
{
    for (size_t i = 0; i < p->len; i++) {
        char c = p->text[i];
        bool group = false;
        if (c == '(') {
            begin_group(p, &i);
            continue;
        }
        if (c == '|') {
            p->repeats[p->depth] = true;
            p->was_repeated = false;
            continue;
        }
        if (c == '\\') p->heavy |= ++i < p->len && g_ascii_isdigit(p->text[i]);
        if (c == '[') i = skip_class(p, i);
        if (c == ')') {
            group = p->repeats[p->depth];
            p->depth -= p->depth > 0;
            p->repeats[p->depth] |= group;
        }
        i = pass_repeat(p, i, group);
    }
    p->heavy |= p->n_optionals > OPTIONALS;
}

/* Returns the maximum number of steps of PCRE on `text`. */
static double steps_of(const struct sql_node *pattern, struct size of_pattern, struct size text)
{
    struct pattern p = {.heavy = of_pattern.computed};
    gather_literals(&p, pattern);
    scan_pattern(&p);
    if (p.heavy) return STEPS;
    double bytes = text.computed || text.grown ? size_total(text) : text.fixed;
    double ways = p.n_repeats >= 3 ? pow(bytes, p.n_repeats) : p.n_repeats == 2 ? bytes * bytes : bytes;
    return fmin(STEPS, ways + text.data * (1 + p.n_repeats));
}

/* --- work --------------------------------------------------------------------------------------------------------- */

struct operands {
    const struct sql_node *nodes[2]; /* arguments a and b */
    struct size sizes[2];
    double bytes; /* bytes of all arguments and of the result */
};

static struct size of_node(const struct sql_node *n, const struct size *sizes, uint32_t n_sizes)
{
    return n && n->id < n_sizes ? sizes[n->id] : (struct size){0};
}

/* Returns the number of pairs of a byte of `a` and a byte of `b`. The size that a grown text may reach is multiplied
 * only by the fixed bytes of the other argument. */
static double pairs_of(struct size a, struct size b)
{
    double most_a = a.grown ? fmax(size_total(a), SIZE_GROWN) : size_total(a);
    double most_b = b.grown ? fmax(size_total(b), SIZE_GROWN) : size_total(b);
    double of_data = size_total(a) * size_total(b);
    return fmax(of_data, fmax(b.fixed > 0 ? most_a * b.fixed : 0, a.fixed > 0 ? a.fixed * most_b : 0));
}

static double shifts_of(const struct operands *x)
{
    const struct sql_node *from = x->nodes[1];
    double bytes = size_total(x->sizes[0]), length = sql_is(from, SQL_LITERAL) ? fmax(1, from->text_len) : 1;
    return bytes * bytes / length;
}

static double work_of(const struct size_engine *engine, const struct size_rule *rule, const struct operands *x)
{
    double ns = rule->ns > 0 ? (double)rule->ns : engine->ns, a = size_total(x->sizes[0]);
    switch (rule->work) {
    case WORK_BY_BYTE: return ns * x->bytes;
    case WORK_BY_PAIR: return ns * pairs_of(x->sizes[0], x->sizes[1]) + PAIR_NS * x->bytes;
    case WORK_BY_SQUARE: return ns * a * a + PAIR_NS * x->bytes;
    case WORK_BY_SHIFT: return ns * pairs_of(x->sizes[0], x->sizes[1]) + shifts_of(x) + PAIR_NS * x->bytes;
    case WORK_BY_STEPS: return STEPS_NS * steps_of(x->nodes[1], x->sizes[1], x->sizes[0]) + PAIR_NS * x->bytes;
    case WORK_BY_EDIT:
        return STEPS_NS * steps_of(x->nodes[1], x->sizes[1], x->sizes[0]) + ns * a * a + PAIR_NS * x->bytes;
    }
    return 0;
}

/* Adds the time of one call. NaN, the product of an infinite size and zero, counts as infinite. */
static void add_work(struct work_sum *sum, double ns, double bytes, const char *name, size_t len)
{
    if (isnan(ns)) ns = INFINITY;
    sum->ns += ns;
    if (ns <= sum->most_ns) return;
    sum->most_ns = ns;
    sum->bytes = bytes;
    sum->name = name;
    sum->name_len = len;
}

static enum err_code check_cap(const struct size_rule *rule, struct size size, const char *name, size_t len,
                               struct err *err)
{
    if (!rule->most || size_total(size) <= rule->most) return ERR_OK;
    return err_set(err, ERR_REFUSED,
                   "%.*s may receive a format, pattern or path of more than %u bytes, which is not allowed" ERR_HINT
                   "write a shorter one",
                   (int)MIN(len, 40), name, rule->most);
}

static const struct sql_node *operand(const struct sql_node *n, unsigned i)
{
    const struct sql_node *args = n->kind == SQL_CALL ? sql_kid(n, CALL_ARGS) : n;
    const struct sql_node *x = sql_kid(args, i);
    return sql_is(x, SQL_UNARY) && x->op == SQL_OP_VARIADIC ? sql_kid(x, 0) : x;
}

static enum err_code add_by_rule(const struct size_engine *engine, const struct size_rule *rule,
                                 const struct sql_node *n, const struct size *sizes, uint32_t n_sizes,
                                 struct work_sum *sum, struct err *err)
{
    const char *name = n->kind == SQL_CALL || n->kind == SQL_CAST ? n->text : rule->name;
    size_t len = n->kind == SQL_CALL || n->kind == SQL_CAST ? n->text_len : strlen(rule->name);
    struct operands x = {.bytes = rule->result == SIZE_JOINED ? 0 : size_total(of_node(n, sizes, n_sizes))};
    const struct sql_node *args = n->kind == SQL_CALL ? sql_kid(n, CALL_ARGS) : n;
    for (unsigned i = 0; i < 2; i++) {
        x.nodes[i] = operand(n, i ? rule->b : rule->a);
        x.sizes[i] = of_node(x.nodes[i], sizes, n_sizes);
    }
    for (uint32_t i = 0; args && i < args->n_kids; i++) x.bytes += size_total(of_node(args->kids[i], sizes, n_sizes));
    add_work(sum, work_of(engine, rule, &x), x.bytes, name, len);
    return check_cap(rule, x.sizes[1], name, len, err);
}

static bool compares(const struct sql_node *n)
{
    return n->kind == SQL_TERM || n->kind == SQL_IN || n->kind == SQL_BETWEEN || n->kind == SQL_GROUP ||
           n->kind == SQL_PARTITION || n->kind == SQL_DISTINCT || n->kind == SQL_QUANTIFIED ||
           (n->kind == SQL_BINARY && sql_is_comparison(n->op));
}

static double bytes_below(const struct sql_node *n, const struct size *sizes, uint32_t n_sizes)
{
    double bytes = 0;
    for (uint32_t i = 0; i < n->n_kids; i++) bytes += size_total(of_node(n->kids[i], sizes, n_sizes));
    return bytes;
}

enum err_code work_add(const struct size_engine *engine, const struct sql_node *n, const struct size *sizes,
                       uint32_t n_sizes, struct work_sum *sum, struct err *err)
{
    const struct size_rule *rule = NULL;
    if (n->kind == SQL_CALL) rule = size_rule_of(engine, n->text, n->text_len);
    if (n->kind == SQL_CAST) rule = size_rule_of_cast(engine, n);
    if (n->kind == SQL_BINARY || n->kind == SQL_LIKE) rule = rule_of_operator(engine, n);
    if (rule) return add_by_rule(engine, rule, n, sizes, n_sizes, sum, err);
    if (!compares(n)) return ERR_OK;
    double bytes = bytes_below(n, sizes, n_sizes);
    add_work(sum, COMPARED_NS * bytes, bytes, "a comparison", strlen("a comparison"));
    return ERR_OK;
}

enum err_code work_check(const struct size_engine *engine, const struct work_sum *sum, struct err *err)
{
    double ms = sum->ns / 1000000;
    if (ms <= SIZE_WORK_MS) return ERR_OK;
    int len = (int)MIN(sum->name_len, 40);
    if (!isfinite(sum->bytes))
        return err_set(err, ERR_REFUSED,
                       "%.*s may receive a text of unknown length, and %s cannot interrupt it" ERR_HINT
                       "write left(text, 1000)",
                       len, sum->name, engine->name);
    return err_set(err, ERR_REFUSED,
                   "%.*s may process %.0f bytes, and %s cannot interrupt it for about %.1f s" ERR_HINT
                   "use shorter texts and patterns",
                   len, sum->name, fmin(sum->bytes, 1e15), engine->name, fmin(ms / 1000, 1e6));
}
