/* type_mismatch: a comparison or calculation mixes types whose values cannot match. The values of the column prove
 * it. */
#include "signals/support/elapsed.h"
#include "signals/support/names.h"
#include "signals/support/predicate.h"

#include <ctype.h>
#include <string.h>

enum { OPT_SHARE };

static const struct vsig_option OPTIONS[] = {
    [OPT_SHARE] = {"share", 0.95, 0.5, 1.0, "minimum share of a column's values that must be of one kind"},
    {NULL, 0, 0, 0, NULL},
};

enum kind { KIND_UNKNOWN, KIND_NUMBER, KIND_WORDS, KIND_DATE };

static const char *const KIND_NAMES[] = {"unknown values", "numbers", "words", "dates"};

/* Returns the kind of value that nearly all values of the column have. */
static enum kind kind_of_column(const struct vsig_run *run, const struct schema_column *column)
{
    const struct schema_stats *s = &column->stats;
    double values = (double)(s->ints + s->reals + s->texts + s->blobs), share = vsig_opt(run, OPT_SHARE);
    if (values == 0) return KIND_UNKNOWN;
    if ((double)s->date_texts >= share * values) return KIND_DATE;
    if ((double)(s->ints + s->reals + s->numeric_texts) >= share * values) return KIND_NUMBER;
    if ((double)(s->texts - s->numeric_texts - s->date_texts) >= share * values) return KIND_WORDS;
    return KIND_UNKNOWN;
}

static bool looks_numeric(const char *text, size_t len)
{
    size_t digits = 0;
    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)text[i]))
            digits++;
        else if (!strchr(" .,+-%$eE", text[i]))
            return false;
    }
    return digits > 0;
}

/* Writes the shape of a text: each digit becomes 9 and each letter becomes a. "2020-01-31" has the shape 9999-99-99. */
static void shape_of(const char *text, size_t len, char out[32])
{
    size_t n = len < 31 ? len : 31;
    for (size_t i = 0; i < n; i++)
        out[i] = isdigit((unsigned char)text[i]) ? '9' : isalpha((unsigned char)text[i]) ? 'a' : text[i];
    out[n] = '\0';
}

static bool is_number(const struct sql_node *literal)
{
    return literal->kind == SQL_LITERAL && (literal->op == SQL_LIT_INT || literal->op == SQL_LIT_FLOAT);
}

/* True if the literal is a number, or a text that does not begin in the notation of the column's dates. Such a literal
 * cannot equal these dates or be ordered with them. */
static bool other_notation(const struct schema_column *column, const struct sql_node *literal)
{
    if (is_number(literal) || column->stats.min.type != DB_TEXT) return is_number(literal);
    char stored[32], given[32];
    shape_of(column->stats.min.text, column->stats.min.len, stored);
    shape_of(literal->text, literal->text_len, given);
    size_t given_len = strlen(given), shared = given_len < strlen(stored) ? given_len : strlen(stored);
    if (given_len < 4) return true;
    return strncmp(stored, given, shared) != 0; /* a prefix of the notation, such as "2020-01", sorts correctly */
}

static void compare_with_literal(struct vsig_run *run, const struct vsig_predicate *predicate)
{
    if (!predicate->bare || predicate->node->kind == SQL_LIKE || predicate->n_literals == 0) return;
    const struct sql_node *literal = predicate->literals[0];
    if (literal->op != SQL_LIT_STRING && !is_number(literal)) return; /* such as NULL and true */
    if (!literal->text || !literal->text_len) return;                 /* '' is a harmless guard */
    enum kind kind = kind_of_column(run, predicate->column);
    bool number = is_number(literal), numeric_text = !number && looks_numeric(literal->text, literal->text_len);
    bool clash = (kind == KIND_WORDS && number) || (kind == KIND_NUMBER && !number && !numeric_text) ||
                 (kind == KIND_DATE && other_notation(predicate->column, literal));
    if (!clash) return;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, predicate->node, "%s contains %s, but is compared with %s",
                  vsig_column_name(run->subject, predicate->ref), KIND_NAMES[kind],
                  number              ? "a number"
                  : kind == KIND_DATE ? "a text in another format"
                                      : "a text");
    if (predicate->column->stats.min.type == DB_TEXT)
        vsig_add_fact(run, finding, "stored_like", true, "%.*s", (int)predicate->column->stats.min.len,
                      predicate->column->stats.min.text);
}

/* Reports a comparison of two columns with different kinds of values. For example, numbers never equal words. */
static void compare_columns(struct vsig_run *run, const struct sql_node *node)
{
    const struct sql_ref *left = sql_plain_column(node->kids[0]), *right = sql_plain_column(node->kids[1]);
    const struct schema_column *a = left ? schema_column_of(run->subject->schema, left) : NULL;
    const struct schema_column *b = right ? schema_column_of(run->subject->schema, right) : NULL;
    if (!a || !b) return;
    enum kind ka = kind_of_column(run, a), kb = kind_of_column(run, b);
    if (ka == kb || ka == KIND_UNKNOWN || kb == KIND_UNKNOWN) return;
    vsig_fire(run, VSIG_ERROR, node, "%s contains %s, but %s contains %s, so the two columns cannot match",
              vsig_column_name(run->subject, left), KIND_NAMES[ka], vsig_column_name(run->subject, right),
              KIND_NAMES[kb]);
}

static bool is_numeric_aggregate(const struct sql_node *call)
{
    return sql_name_is(call->text, call->text_len, "sum", 3) || sql_name_is(call->text, call->text_len, "avg", 3) ||
           sql_name_is(call->text, call->text_len, "total", 5);
}

/* Reports words or dates as an operand of a calculation, where a word counts as 0. */
static void calculate(struct vsig_run *run, const struct sql_node *node, const struct sql_node *operand)
{
    const struct sql_ref *ref = operand ? sql_plain_column(operand) : NULL;
    const struct schema_column *column = ref ? schema_column_of(run->subject->schema, ref) : NULL;
    enum kind kind = column ? kind_of_column(run, column) : KIND_UNKNOWN;
    if (kind == KIND_WORDS || (kind == KIND_DATE && node->kind == SQL_CALL))
        vsig_fire(run, VSIG_ERROR, node, "%s contains %s, which count as 0 in a calculation",
                  vsig_column_name(run->subject, ref), KIND_NAMES[kind]);
}

/* Reports a subtraction of two dates that does not give days. A number of years is correct if the question asks for
 * years. */
static void subtract(struct vsig_run *run, const struct sql_node *node)
{
    static const char *const YEARS[] = {"year", "age", "old", "older", "decade", "young", "annivers", NULL};
    enum vsig_elapsed elapsed = vsig_elapsed_of(run->subject, node);
    if (elapsed == VSIG_ELAPSED_DIGITS)
        vsig_fire(run, VSIG_ERROR, node,
                  "the dates are subtracted as numbers of the form 20240131, so the result is not a number of days");
    if (elapsed != VSIG_ELAPSED_YEARS || vsig_question_says(run->subject, YEARS) || run->subject->evidence) return;
    vsig_fire(run, run->subject->question ? VSIG_ERROR : VSIG_WARNING, node,
              "the dates are subtracted as text, so only their years count, and the result is not a number of days");
}

static enum err_code eval(struct vsig_run *run)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(run->subject, all);
    for (uint32_t i = 0; i < n; i++) compare_with_literal(run, &all[i]);
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        if (node->kind == SQL_CALL && is_numeric_aggregate(node)) {
            calculate(run, node, sql_kid(sql_kid(node, CALL_ARGS), 0));
        } else if (node->kind == SQL_BINARY && sql_is_comparison(node->op)) {
            compare_columns(run, node);
        } else if (node->kind == SQL_BINARY && node->op >= SQL_OP_ADD && node->op <= SQL_OP_MOD) {
            calculate(run, node, node->kids[0]);
            calculate(run, node, node->kids[1]);
            subtract(run, node);
        }
    }
    return ERR_OK;
}

const struct vsig_def vsig_type_mismatch = {
    .id = VSIG_ID_type_mismatch,
    .name = "type_mismatch",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DATA,
    .sentence = "a comparison or calculation mixes values of types that cannot match",
    .description = "SQLite compares and calculates across types without an error. However, a number never equals a "
                   "word, and a word counts as 0 in a sum.",
    .example = "`WHERE hired > 2020` keeps every row if hired contains texts such as '2020-05-01'. A text is greater "
               "than any number.",
    .instruction = "Compare with a value in the format that the column stores, or convert the column first. For days "
                   "between dates, use DATEDIFF(later, earlier), or julianday(later) - julianday(earlier) in SQLite.",
    .options = OPTIONS,
    .eval = eval,
};
