/* text_number: the query compares or sorts numbers stored as text, and the result differs from that of numbers.
 *
 * As text, '95' is greater than '150'. It is also greater than the number 150, because the engine converts the number
 * to text for a text column. A text among numbers ('T' for a trace of rain) is greater than all of them. Equality is
 * harmless. Probes of the data decide whether the result differs, because texts of one length ('0012', years) sort like
 * their numbers. */
#include "signals/support/names.h"
#include "signals/support/ordering.h"
#include "signals/support/probe.h"
#include "signals/support/query.h"

#include <string.h>
#include <sys/param.h>

enum { OPT_SHARE, OPT_MAX_PROBE, MIN_SEEN = 3 };

static const struct vsig_option OPTIONS[] = {
    [OPT_SHARE] = {"share", 0.8, 0.5, 1, "minimum share of a column's texts that must be numbers"},
    [OPT_MAX_PROBE] = {"max_probe", 4, 0, 100, "maximum number of database queries per candidate"},
    {NULL, 0, 0, 0, NULL},
};

/* The search of one candidate: its probes and their error. */
struct text_number_search {
    struct vsig_run *run;
    uint32_t probes;
    enum err_code code; /* the error of a failed probe */
};

/* True for a text that stands for a missing number: 'null', 'n/a', or an empty text. */
static bool is_missing(const struct db_value *value)
{
    static const char *const WORDS[] = {"null", "none", "n/a", "na", "nan", "-", "?", "unknown", "\\N"};
    if (value->type != DB_TEXT) return false;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (sql_name_is(value->text, value->len, WORDS[i], strlen(WORDS[i]))) return true;
    return value->len == 0;
}

/* Returns the length of the number at the start of the text, such as "1,370" in "1,370 lb". */
static size_t number_at_start(const char *text)
{
    size_t n = 0;
    while ((text[n] >= '0' && text[n] <= '9') || (n && (text[n] == ',' || text[n] == '.') && text[n + 1] >= '0')) n++;
    return n;
}

/* True if each frequent value begins with a number, and the word after it is the same in all: "lb", "of", or none. */
static bool has_one_unit(const struct schema_stats *stats)
{
    const char *unit = NULL;
    size_t unit_len = 0, seen = 0;
    for (uint32_t i = 0; i < stats->n_top; i++) {
        const struct db_value *value = &stats->top[i].value;
        if (is_missing(value)) continue;
        size_t number = value->type == DB_TEXT ? number_at_start(value->text) : 0;
        if (!number) return false;
        const char *rest = value->text + number;
        size_t space = strspn(rest, " "), len = strcspn(rest + space, " ");
        if (*rest && !space) return false; /* a date or a code, such as "12-A" */
        if (unit && (len != unit_len || memcmp(unit, rest + space, len) != 0)) return false;
        unit = rest + space;
        unit_len = len;
        seen++;
    }
    return seen >= MIN_SEEN;
}

/* True for a column of texts that are numbers, or of numbers mixed with texts. A text is greater than any number. */
static bool holds_numbers_as_text(struct text_number_search *search, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    const struct vsig_run *run = search->run;
    if (!run->subject->schema->tables[column->table].scannable) search->code = ERR_NO_DATA;
    bool casts = db_dialect(run->subject->db)->casts_any_text;
    double least = casts ? vsig_opt(run, OPT_SHARE) : 1;
    uint64_t numbers = stats->ints + stats->reals + stats->numeric_texts,
             all = stats->ints + stats->reals + stats->texts;
    for (uint32_t i = 0; i < stats->n_top; i++)
        if (is_missing(&stats->top[i].value)) all -= MIN(all, stats->top[i].count);
    if (stats->texts == 0 || stats->date_texts > 0) return false;
    return (numbers > 0 && (double)numbers >= least * (double)all) || (casts && numbers == 0 && has_one_unit(stats));
}

static bool ask(struct text_number_search *search, const char *sql)
{
    enum err_code code = ERR_LIMIT_COUNT;
    bool yes = search->probes++ < (uint32_t)vsig_opt(search->run, OPT_MAX_PROBE) &&
               vsig_probe_any(search->run->subject, sql, &code) == 1;
    if (code != ERR_OK) search->code = code;
    return yes;
}

/* Returns the expression cast to a number, as the engine converts it. */
static struct sql_node *as_number(struct arena *arena, const struct db_dialect *dialect, const struct sql_node *expr)
{
    struct sql_node *cast = sql_make_text(arena, SQL_CAST, dialect->real_type),
                    *inner = cast ? sql_copy(arena, expr) : NULL;
    if (!inner) return NULL;
    sql_set_kid(cast, 0, inner);
    return cast;
}

/* True if some row meets the condition as text but not as a number, or the reverse. */
static bool compares_otherwise(struct text_number_search *search, const struct vsig_predicate *predicate)
{
    struct arena *arena = search->run->subject->arena;
    const struct db_dialect *dialect = db_dialect(search->run->subject->db);
    struct sql_node *other = sql_copy(arena, predicate->node);
    for (unsigned i = 0; other && i < 2 && i < other->n_kids; i++) {
        if (!other->kids[i] || !sql_plain_column(predicate->node->kids[i])) continue;
        struct sql_node *number = as_number(arena, dialect, predicate->node->kids[i]);
        if (!number) return false;
        sql_set_kid(other, i, number);
    }
    const char *by_letters = sql_print(arena, predicate->node), *by_number = other ? sql_print(arena, other) : NULL;
    const char *from = sql_print(arena, predicate->ref->source->node);
    if (!by_letters || !by_number || !from) return false;
    return ask(search, arena_printf(arena, "SELECT 1 FROM %s WHERE (%s) <> (%s) LIMIT 1", from, by_letters, by_number));
}

/* Returns an SQL expression for the number in a text column. If the dialect can cast any text, it reads "1,370 lb" as
 * 1370. */
static const char *number_text(struct arena *arena, const char *name, const struct db_dialect *dialect)
{
    return dialect->casts_any_text ? arena_printf(arena, "CAST(replace(%s, ',', '') AS %s)", name, dialect->real_type)
                                   : arena_printf(arena, "CAST(%s AS %s)", name, dialect->real_type);
}

/* True if two values of the column have another order as numbers than as texts. */
static bool sorts_otherwise(struct text_number_search *search, const struct schema_column *column)
{
    const struct vsig_subject *subject = search->run->subject;
    struct arena *arena = subject->arena;
    const char *table = schema_quote_table(arena, &subject->schema->tables[column->table]);
    const char *name = db_quote_name(arena, column->name, strlen(column->name));
    if (!table || !name) return false;
    const struct db_dialect *dialect = db_dialect(subject->db);
    const char *key = number_text(arena, name, dialect), *x = number_text(arena, "x", dialect);
    const char *y = number_text(arena, "y", dialect);
    if (!key || !x || !y) return false;
    return ask(search,
               arena_printf(arena,
                            "SELECT 1 FROM (SELECT %s AS x, lag(%s) OVER (ORDER BY %s) AS y FROM %s WHERE %s IS "
                            "NOT NULL) AS t WHERE x < y AND %s > %s LIMIT 1",
                            name, name, key, table, name, x, y));
}

static void report(struct vsig_run *run, const struct sql_node *node, const struct schema_column *column,
                   const char *does)
{
    const char *table = run->subject->schema->tables[column->table].name;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, node, "%s.%s stores numbers as text, so they are not %s as numbers", table,
                  column->name, does);
    vsig_add_fact(run, finding, "column", false, "%s.%s", table, column->name);
}

/* True if a condition of the query excludes the texts that are not numbers, such as temp <> ''. */
static bool leaves_texts_out(const struct text_number_search *search, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    const struct sql_node *root = search->run->subject->stmt->root;
    if (!stats->ints && !stats->reals) return false; /* for texts only, such a condition changes no type */
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool differs =
            sql_is(n, SQL_BINARY) && n->op == SQL_OP_NE && query_column(search->run->subject, n->kids[0]) == column;
        if (differs && sql_is(n->kids[1], SQL_LITERAL) && n->kids[1]->op == SQL_LIT_STRING) return true;
    }
    return false;
}

static void inspect_ordering(void *ctx, const struct vsig_ordering *ordering)
{
    struct text_number_search *search = ctx;
    const struct schema_column *column = ordering->column;
    if (!ordering->predicate && leaves_texts_out(search, column)) return;
    if (!holds_numbers_as_text(search, column)) return;
    if (ordering->predicate ? compares_otherwise(search, ordering->predicate) : sorts_otherwise(search, column))
        report(search->run, ordering->node, column, vsig_ordering_verb(ordering));
}

static enum err_code text_number_eval(struct vsig_run *run)
{
    struct text_number_search search = {.run = run};
    vsig_each_ordering(run->subject, inspect_ordering, &search);
    return run->verdict->state == VSIG_FIRED ? ERR_OK : search.code;
}

const struct vsig_def vsig_text_number = {
    .id = VSIG_ID_text_number,
    .name = "text_number",
    .family = VSIG_EXECUTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_DB,
    .sentence = "numbers stored as text are compared or sorted as text, but their numeric order is different",
    .description = "The column stores numbers as text, so '95' is greater than '150'. The query compares or sorts "
                   "these values as text, not as numbers.",
    .example = "`SELECT model FROM car ORDER BY horsepower DESC LIMIT 1` returns the model with '95' if horsepower "
               "contains the texts '95' and '150'.",
    .instruction = "Convert the column to a number first: `CAST(horsepower AS REAL)`.",
    .options = OPTIONS,
    .eval = text_number_eval,
};
