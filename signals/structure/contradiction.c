/* contradiction: conditions that no row can meet, and conditions that every row meets.
 *
 * The conditions that must all be true (WHERE, ON of inner joins, HAVING) are translated into sets of values. Each
 * column or expression has one set, and columns that a join makes equal share one. An empty set is a contradiction. For
 * an OR over several columns, each branch is checked. A condition that cannot be translated (a subquery, arithmetic
 * over two columns) allows every value, so each finding is proven. */
#include "signals/support/names.h"
#include "signals/support/shape.h"
#include "signals/support/truth.h"

#include <string.h>
#include <strings.h>

enum { MAX_CONSTRAINTS = 48, MAX_RELATIONS = 24, MAX_OR_DEPTH = 4 };

/* A condition on one term. */
struct constraint {
    const struct sql_node *node;
    struct vsig_truth truth;
};

/* A condition that compares two terms. `orders` has a bit for each order of the left and the right term that the
 * condition allows. */
enum { ORDER_LESS = 1, ORDER_EQUAL = 2, ORDER_MORE = 4 };
struct relation {
    const struct sql_node *node;
    int left, right;
    unsigned orders;
};

struct facts {
    struct vsig_run *run;
    struct vsig_terms *terms;
    struct constraint constraints[MAX_CONSTRAINTS];
    struct relation relations[MAX_RELATIONS];
    const struct sql_node *unread[MAX_CONSTRAINTS]; /* conditions on several columns: OR, IN with a subquery, EXISTS */
    uint32_t n_constraints, n_relations, n_unread;
    int class_of[VSIG_MAX_TERMS]; /* class of each term: terms that joins make equal have the same class, which is the
                                   * index of one of them */
    bool quiet;                   /* true if contradictions are only returned, not reported */
    bool cut;                     /* true if there are more conditions than the arrays can hold */
};

/* --- reading the conditions --- */

static unsigned orders_of(enum sql_op op)
{
    switch (op) {
    case SQL_OP_EQ: return ORDER_EQUAL;
    case SQL_OP_NE: return ORDER_LESS | ORDER_MORE;
    case SQL_OP_LT: return ORDER_LESS;
    case SQL_OP_LE: return ORDER_LESS | ORDER_EQUAL;
    case SQL_OP_GT: return ORDER_MORE;
    case SQL_OP_GE: return ORDER_MORE | ORDER_EQUAL;
    default: return 0;
    }
}

static unsigned turned(unsigned orders)
{
    return (orders & ORDER_EQUAL) | (orders & ORDER_LESS ? ORDER_MORE : 0u) | (orders & ORDER_MORE ? ORDER_LESS : 0u);
}

static bool read_relation(struct facts *facts, const struct sql_node *node)
{
    unsigned orders = node->kind == SQL_BINARY ? orders_of((enum sql_op)node->op) : 0;
    if (!orders || facts->n_relations == MAX_RELATIONS) return false;
    int left = vsig_term_of(facts->terms, node->kids[0]), right = vsig_term_of(facts->terms, node->kids[1]);
    if (left < 0 || right < 0 || left == right) return false;
    facts->relations[facts->n_relations++] = (struct relation){node, left, right, orders};
    return true;
}

static void read_condition(struct facts *facts, const struct sql_node *node)
{
    if (node->kind == SQL_BINARY && node->op == SQL_OP_AND) {
        read_condition(facts, node->kids[0]);
        read_condition(facts, node->kids[1]);
        return;
    }
    facts->terms->calc.failed = false;
    struct vsig_truth truth = vsig_truth_of(facts->terms, node);
    bool understood = truth.term != VSIG_TRUTH_MIXED && !facts->terms->calc.failed;
    if (understood && facts->n_constraints < MAX_CONSTRAINTS)
        facts->constraints[facts->n_constraints++] = (struct constraint){node, truth};
    else if (read_relation(facts, node))
        return;
    else if (!understood && facts->n_unread < MAX_CONSTRAINTS)
        facts->unread[facts->n_unread++] = node;
    else
        facts->cut = true;
}

/* --- classes of equal terms --- */

/* True if the columns have the same affinity. Otherwise the engine converts the values before it compares them, and the
 * sets do not model this. */
static bool alike(const struct vsig_term *a, const struct vsig_term *b)
{
    return a->column && b->column && a->column->affinity == b->column->affinity;
}

static void merge_classes(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->terms->n; i++) facts->class_of[i] = (int)i;
    for (uint32_t i = 0; i < facts->n_relations; i++) {
        const struct relation *r = &facts->relations[i];
        if (r->orders != ORDER_EQUAL || !alike(&facts->terms->items[r->left], &facts->terms->items[r->right])) continue;
        int from = facts->class_of[r->left], to = facts->class_of[r->right];
        for (uint32_t t = 0; t < facts->terms->n; t++)
            if (facts->class_of[t] == from) facts->class_of[t] = to;
    }
}

/* True if a relation compares a term of the class with another term. The terms of the class then cannot be NULL. */
static bool is_related(const struct facts *facts, int class)
{
    for (uint32_t i = 0; i < facts->n_relations; i++)
        if (facts->class_of[facts->relations[i].left] == class || facts->class_of[facts->relations[i].right] == class)
            return true;
    return false;
}

static struct vsig_domain start_of(struct facts *facts, int class)
{
    struct vsig_domain domain = vsig_domain_values(&facts->terms->calc);
    domain.null = !is_related(facts, class);
    for (uint32_t t = 0; t < facts->terms->n; t++)
        if (facts->class_of[t] == class)
            domain = vsig_domain_and(&facts->terms->calc, &domain, &facts->terms->items[t].start);
    return domain;
}

static bool is_integer(const struct facts *facts, int class)
{
    for (uint32_t t = 0; t < facts->terms->n; t++)
        if (facts->class_of[t] == class && facts->terms->items[t].integer) return true;
    return false;
}

static bool is_impossible(const struct facts *facts, int class, const struct vsig_domain *domain)
{
    if (facts->terms->calc.failed) return false;
    return vsig_domain_is_empty(domain) || (is_integer(facts, class) && !vsig_domain_has_integer(domain));
}

/* --- reports --- */

static const char *term_name(const struct facts *facts, int term)
{
    const struct vsig_term *t = &facts->terms->items[term];
    if (t->source) return vsig_output_name(facts->run->subject, t->source, t->output);
    if (sql_is(t->expr, SQL_CALL) && t->expr->text) {
        const char *name = arena_printf(facts->run->subject->arena, "%.*s(...)", (int)t->expr->text_len, t->expr->text);
        if (name) return name;
    }
    return "the expression";
}

static void report_one(struct facts *facts, const struct constraint *c)
{
    if (facts->quiet) return;
    if (c->truth.term == VSIG_TRUTH_CONSTANT) {
        vsig_fire(facts->run, VSIG_ERROR, c->node, "the condition is not true for any row");
        return;
    }
    const char *name = term_name(facts, c->truth.term);
    struct vsig_finding *finding =
        vsig_fire(facts->run, VSIG_ERROR, c->node, "no value of %s can satisfy the condition", name);
    vsig_add_fact(facts->run, finding, "column", false, "%s", name);
}

static void report_pair(struct facts *facts, const struct sql_node *a, const struct sql_node *b, int term)
{
    if (facts->quiet) return;
    const char *name = term_name(facts, term);
    struct vsig_finding *finding =
        vsig_fire(facts->run, VSIG_ERROR, a, "no value of %s can satisfy these conditions together", name);
    vsig_add_clause(facts->run, finding, b);
    vsig_add_fact(facts->run, finding, "column", false, "%s", name);
}

/* Reports the fewest conditions that contradict each other: one, otherwise two, otherwise the last of the class. */
static void report_class(struct facts *facts, int class)
{
    struct vsig_calc *calc = &facts->terms->calc;
    struct vsig_domain start = start_of(facts, class);
    const struct constraint *last = NULL;
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        const struct constraint *a = &facts->constraints[i];
        if (a->truth.term < 0 || facts->class_of[a->truth.term] != class) continue;
        last = a;
        struct vsig_domain one = vsig_domain_and(calc, &start, &a->truth.yes);
        if (is_impossible(facts, class, &one)) {
            report_one(facts, a);
            return;
        }
        for (uint32_t k = 0; k < i; k++) {
            const struct constraint *b = &facts->constraints[k];
            if (b->truth.term < 0 || facts->class_of[b->truth.term] != class) continue;
            struct vsig_domain two = vsig_domain_and(calc, &one, &b->truth.yes);
            if (!is_impossible(facts, class, &two)) continue;
            report_pair(facts, b->node, a->node, a->truth.term);
            return;
        }
    }
    if (last) report_one(facts, last);
}

/* --- finding contradictions --- */

static bool judge_class(struct facts *facts, int class)
{
    facts->terms->calc.failed = false;
    struct vsig_domain domain = start_of(facts, class);
    bool constrained = false;
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        const struct constraint *c = &facts->constraints[i];
        if (c->truth.term < 0 || facts->class_of[c->truth.term] != class) continue;
        domain = vsig_domain_and(&facts->terms->calc, &domain, &c->truth.yes);
        constrained = true;
    }
    if (!constrained || !is_impossible(facts, class, &domain)) return false;
    report_class(facts, class);
    return true;
}

static bool judge_relations(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_relations; i++) {
        const struct relation *a = &facts->relations[i];
        for (uint32_t k = i + 1; k < facts->n_relations; k++) {
            const struct relation *b = &facts->relations[k];
            bool straight = a->left == b->left && a->right == b->right,
                 crossed = a->left == b->right && a->right == b->left;
            if (!straight && !crossed) continue;
            if (a->orders & (crossed ? turned(b->orders) : b->orders)) continue;
            report_pair(facts, a->node, b->node, a->left);
            return true;
        }
    }
    return false;
}

/* Finds contradictions with an anti-join. After LEFT JOIN b, the condition b.id IS NULL keeps only rows without a row
 * of b. All other columns of b are then NULL. */
static bool judge_absence(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        const struct constraint *a = &facts->constraints[i];
        const struct vsig_term *absent = a->truth.term >= 0 ? &facts->terms->items[a->truth.term] : NULL;
        bool only_null = a->truth.exact && a->truth.yes.n == 0 && a->truth.yes.null;
        if (!absent || !absent->source || !only_null || !absent->filled || absent->never_null) continue;
        for (uint32_t k = 0; k < facts->n_constraints; k++) {
            const struct constraint *b = &facts->constraints[k];
            if (b->truth.term < 0 || facts->terms->items[b->truth.term].source != absent->source || b->truth.yes.null)
                continue;
            report_pair(facts, a->node, b->node, b->truth.term);
            return true;
        }
    }
    return false;
}

/* Returns the pattern of a LIKE, and sets *len to the length of the text before its first wildcard. x LIKE 'a%' AND x
 * LIKE 'b%' contradict each other. Returns NULL for other nodes. */
static const struct sql_node *prefix_of(const struct facts *facts, const struct sql_node *node, int *term, size_t *len)
{
    if (node->kind != SQL_LIKE || (node->flags & SQL_F_NOT) || (node->op != SQL_OP_LIKE && node->op != SQL_OP_ILIKE))
        return NULL;
    const struct sql_node *pattern = sql_plain_literal(node->kids[LIKE_PATTERN]);
    if (!pattern || !pattern->text || sql_kid(node, LIKE_ESCAPE)) return NULL;
    *term = vsig_term_of(facts->terms, node->kids[LIKE_VALUE]);
    for (*len = 0; *len < pattern->text_len && pattern->text[*len] != '%' && pattern->text[*len] != '_';) ++*len;
    return *term >= 0 ? pattern : NULL;
}

static bool judge_patterns(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        int term, other_term;
        size_t len, other_len;
        const struct sql_node *a = prefix_of(facts, facts->constraints[i].node, &term, &len);
        for (uint32_t k = i + 1; a && k < facts->n_constraints; k++) {
            const struct sql_node *b = prefix_of(facts, facts->constraints[k].node, &other_term, &other_len);
            if (!b || other_term != term || strncasecmp(a->text, b->text, len < other_len ? len : other_len) == 0)
                continue;
            report_pair(facts, facts->constraints[i].node, facts->constraints[k].node, term);
            return true;
        }
    }
    return false;
}

static bool is_negation(const struct sql_node *a, const struct sql_node *b)
{
    if (a->kind == SQL_UNARY && a->op == SQL_OP_NOT) return sql_equal(a->kids[0], b);
    if (b->kind == SQL_UNARY && b->op == SQL_OP_NOT) return sql_equal(b->kids[0], a);
    if (a->kind != SQL_IN || b->kind != SQL_IN || ((a->flags ^ b->flags) & SQL_F_NOT) == 0) return false;
    return sql_equal(a->kids[0], b->kids[0]) && sql_equal(a->kids[1], b->kids[1]);
}

static bool judge_unread(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_unread; i++)
        for (uint32_t k = i + 1; k < facts->n_unread; k++) {
            if (!is_negation(facts->unread[i], facts->unread[k])) continue;
            if (!facts->quiet) {
                struct vsig_finding *finding =
                    vsig_fire(facts->run, VSIG_ERROR, facts->unread[i], "one condition is the negation of the other");
                vsig_add_clause(facts->run, finding, facts->unread[k]);
            }
            return true;
        }
    return false;
}

/* True if no row can meet the conditions in `facts`. Reports them unless `quiet` is set. */
static bool judge(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        const struct constraint *c = &facts->constraints[i];
        if (c->truth.term != VSIG_TRUTH_CONSTANT || !vsig_domain_is_empty(&c->truth.yes)) continue;
        report_one(facts, c);
        return true;
    }
    merge_classes(facts);
    for (uint32_t t = 0; t < facts->terms->n; t++)
        if (facts->class_of[t] == (int)t && judge_class(facts, (int)t)) return true;
    return judge_relations(facts) || judge_absence(facts) || judge_patterns(facts) || judge_unread(facts);
}

/* True if each branch of an OR contradicts the conditions in `around`. */
static bool judge_branches(const struct facts *around, const struct sql_node *node, unsigned depth)
{
    if (depth == MAX_OR_DEPTH) return false;
    if (node->kind == SQL_BINARY && node->op == SQL_OP_OR)
        return judge_branches(around, node->kids[0], depth + 1) && judge_branches(around, node->kids[1], depth + 1);
    struct facts *branch = arena_alloc(around->run->subject->arena, sizeof *branch);
    if (!branch) return false;
    *branch = *around;
    branch->quiet = true;
    read_condition(branch, node);
    return judge(branch);
}

static void judge_ors(struct facts *facts)
{
    for (uint32_t i = 0; i < facts->n_unread; i++) {
        const struct sql_node *node = facts->unread[i];
        if (node->kind != SQL_BINARY || node->op != SQL_OP_OR || !judge_branches(facts, node, 0)) continue;
        vsig_fire(facts->run, VSIG_ERROR, node, "no branch of this OR can be true together with the other conditions");
    }
}

/* --- conditions that are always true --- */

/* True for IS NULL and IS NOT NULL, also under NOT. IS NOT NULL on a column without NULL is redundant but harmless. */
static bool is_null_test(const struct sql_node *node)
{
    if (node->kind == SQL_UNARY && node->op == SQL_OP_NOT) return is_null_test(node->kids[0]);
    if (node->kind == SQL_UNARY) return node->op == SQL_OP_ISNULL || node->op == SQL_OP_NOTNULL;
    if (node->kind != SQL_BINARY || (node->op != SQL_OP_IS && node->op != SQL_OP_IS_NOT)) return false;
    const struct sql_node *literal = sql_plain_literal(node->kids[1]);
    return literal && literal->op == SQL_LIT_NULL;
}

/* True for a condition in ON with equal sides, such as a.x = a.x. The cartesian_product signal reports the missing
 * join, and one fault must not get two votes. */
static bool is_idle_join(const struct sql_node *node)
{
    return sql_clause_of(node) == SQL_CLAUSE_FROM && node->kind == SQL_BINARY &&
           sql_equal(node->kids[0], node->kids[1]);
}

static void judge_tautology(struct facts *facts, const struct constraint *c)
{
    if (c->truth.term < 0 || !c->truth.exact || is_null_test(c->node)) return;
    const struct vsig_term *term = &facts->terms->items[c->truth.term];
    facts->terms->calc.failed = false;
    struct vsig_domain rest = vsig_domain_not(&facts->terms->calc, &c->truth.yes);
    if (facts->terms->calc.failed || rest.n > 0) return;
    const char *name = term_name(facts, c->truth.term);
    if (is_idle_join(c->node))
        vsig_note(facts->run, c->node, "%s is compared with itself", name);
    else if (rest.null && !term->never_null)
        vsig_note(facts->run, c->node,
                  "every value of %s except NULL satisfies the condition, so the condition only excludes NULL", name);
    else
        vsig_fire(facts->run, VSIG_WARNING, c->node,
                  "every row satisfies the condition on %s, so the condition filters nothing", name);
}

/* --- blocks of the query --- */

static struct facts *begin(struct vsig_run *run, struct vsig_terms *terms, const struct sql_block *block)
{
    struct facts *facts = arena_alloc(run->subject->arena, sizeof *facts);
    if (!facts) return NULL;
    vsig_terms_init(terms, run->subject, block);
    facts->run = run;
    facts->terms = terms;
    facts->n_constraints = facts->n_relations = facts->n_unread = 0;
    facts->quiet = facts->cut = false;
    return facts;
}

static void finish(struct facts *facts)
{
    if (!judge(facts)) judge_ors(facts);
    for (uint32_t i = 0; i < facts->n_constraints; i++) judge_tautology(facts, &facts->constraints[i]);
}

static void read_block(struct facts *facts, const struct vsig_block_shape *shape)
{
    for (uint32_t i = 0; i < shape->n_conditions; i++)
        if (!shape->conditions[i].outer) read_condition(facts, shape->conditions[i].node);
}

/* Checks a condition that does not combine with others: of CASE WHEN, of FILTER, or of the ON of an outer join. Returns
 * false if the arena is full. */
static bool judge_alone(struct vsig_run *run, const struct sql_block *block, const struct sql_node *condition)
{
    struct vsig_terms terms;
    struct facts *facts = begin(run, &terms, block);
    if (!facts) return false;
    read_condition(facts, condition);
    judge(facts);
    return true;
}

static bool judge_block(struct vsig_run *run, const struct vsig_block_shape *shape, bool *cut)
{
    if (shape->n_conditions == 0) return true;
    struct vsig_terms terms;
    struct facts *facts = begin(run, &terms, shape->block);
    if (!facts) return false;
    read_block(facts, shape);
    finish(facts);
    *cut = *cut || facts->cut;
    for (uint32_t i = 0; i < shape->n_conditions; i++) {
        const struct vsig_condition *condition = &shape->conditions[i];
        bool first = condition->outer && (i == 0 || shape->conditions[i - 1].join != condition->join);
        if (first && !judge_alone(run, shape->block, sql_kid(sql_kid(condition->join, JOIN_ON), 0))) return false;
    }
    return true;
}

static bool judge_cases(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool searched = n->kind == SQL_WHEN && !sql_kid(n->parent, CASE_OPERAND);
        const struct sql_node *condition = searched || n->kind == SQL_FILTER ? sql_kid(n, 0) : NULL;
        if (!condition || sql_plain_literal(condition)) continue;
        const struct sql_block *block = sql_block_of(run->subject->bound, n);
        if (block && !judge_alone(run, block, condition)) return false;
    }
    return true;
}

/* --- arms of set operations --- */

/* What the conditions of an arm establish about one of its output columns. */
struct column_of_arm {
    const struct vsig_term *term;
    struct vsig_domain domain;
    const struct sql_node *condition; /* the first condition on the column; NULL if there is none */
};

static struct column_of_arm look_up(struct facts *facts, const struct sql_block *block, uint32_t output)
{
    struct column_of_arm found = {0};
    const struct sql_node *expr = block->outputs[output].expr;
    int term = expr ? vsig_term_of(facts->terms, expr) : -1;
    if (term < 0) return found;
    merge_classes(facts);
    int class = facts->class_of[term];
    found.term = &facts->terms->items[term];
    found.domain = start_of(facts, class);
    for (uint32_t i = 0; i < facts->n_constraints; i++) {
        const struct constraint *c = &facts->constraints[i];
        if (c->truth.term < 0 || facts->class_of[c->truth.term] != class) continue;
        found.domain = vsig_domain_and(&facts->terms->calc, &found.domain, &c->truth.yes);
        if (!found.condition) found.condition = c->node;
    }
    return found;
}

/* Reports the first column in which rows of the two arms cannot be equal. */
static void compare_arms(struct facts *left, const struct sql_block *a, struct facts *right, const struct sql_block *b,
                         bool intersect)
{
    struct vsig_calc *calc = &left->terms->calc;
    for (uint32_t i = 0; i < a->n_outputs && i < b->n_outputs; i++) {
        calc->failed = right->terms->calc.failed = false;
        struct column_of_arm x = look_up(left, a, i), y = look_up(right, b, i);
        if (!x.condition || !y.condition || !alike(x.term, y.term)) continue;
        if (vsig_domain_is_empty(&x.domain) || vsig_domain_is_empty(&y.domain)) return; /* already reported */
        struct vsig_domain both = vsig_domain_and(calc, &x.domain, &y.domain);
        if (calc->failed || right->terms->calc.failed || !vsig_domain_is_empty(&both)) continue;
        const char *name = vsig_column_name(left->run->subject, vsig_plain_column(a->outputs[i].expr));
        struct vsig_finding *finding =
            intersect
                ? vsig_fire(left->run, VSIG_ERROR, x.condition,
                            "no row can be in both queries, because %s cannot have the same value in both", name)
                : vsig_fire(left->run, VSIG_WARNING, x.condition,
                            "the second query removes no rows, because %s cannot have the same value in both queries",
                            name);
        vsig_add_clause(left->run, finding, y.condition);
        vsig_add_fact(left->run, finding, "column", false, "%s", name);
        return;
    }
}

static bool judge_arms(struct vsig_run *run, const struct vsig_shape *shape)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool intersect = n->kind == SQL_COMPOUND && (n->op == SQL_INTERSECT || n->op == SQL_INTERSECT_ALL);
        bool except = n->kind == SQL_COMPOUND && (n->op == SQL_EXCEPT || n->op == SQL_EXCEPT_ALL);
        if ((!intersect && !except) || !sql_is(n->kids[0], SQL_SELECT) || !sql_is(n->kids[1], SQL_SELECT)) continue;
        const struct sql_block *a = sql_block_of(run->subject->bound, n->kids[0]);
        const struct sql_block *b = sql_block_of(run->subject->bound, n->kids[1]);
        if (!a || !b) continue;
        struct vsig_terms terms[2];
        struct facts *left = begin(run, &terms[0], a), *right = begin(run, &terms[1], b);
        if (!left || !right) return false;
        read_block(left, &shape->blocks[a->index]);
        read_block(right, &shape->blocks[b->index]);
        compare_arms(left, a, right, b, intersect);
    }
    return true;
}

static enum err_code eval(struct vsig_run *run)
{
    const struct vsig_shape *shape = vsig_shape(run->subject);
    if (!shape) return ERR_LIMIT_MEMORY;
    bool cut = false; /* true if a block has more conditions than were read; the checks are then incomplete */
    for (uint32_t i = 0; i < run->subject->bound->n_blocks; i++)
        if (!judge_block(run, &shape->blocks[i], &cut)) return ERR_LIMIT_MEMORY;
    if (!judge_cases(run) || !judge_arms(run, shape)) return ERR_LIMIT_MEMORY;
    return cut && run->verdict->state == VSIG_SILENT ? ERR_LIMIT_COUNT : ERR_OK;
}

const struct vsig_def vsig_contradiction = {
    .id = VSIG_ID_contradiction,
    .name = "contradiction",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "no row can satisfy all conditions, or every row satisfies a condition",
    .description = "Some conditions of the query can never be true together, so it finds nothing. Or they are true for "
                   "every row, so they filter nothing.",
    .example = "`WHERE country = 'France' AND country = 'Spain'` finds nothing, because a row has only one country. "
               "`WHERE age <> 30 OR age <> 40` keeps every age.",
    .instruction = "If either value is enough, write OR or IN. If both must occur, look for them in different rows "
                   "(INTERSECT, or a grouped count). For \"neither\", write AND.",
    .eval = eval,
};
