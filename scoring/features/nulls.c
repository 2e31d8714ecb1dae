/* Features of NULL, of repeats, and of parts of texts. A question may say "missing", "filled in" or "anywhere in the
 * name". The result does not show whether the query implements such a word. */
#include "lib/question/phrase.h"
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const char *const MISSING[] = {
    "missing",     "empty",          "blank",         "no value",  "not recorded",   "unrecorded",  "unknown",
    "not known",   "not filled",     "null",          "no remark", "no comment",     "no note",     "carry no",
    "carries no",  "without a",      "without any",   "not set",   "unset",          "not given",   "not been given",
    "unspecified", "not specified",  "not available", "lack",      "lacking",        "undefined",   "unrated",
    "not rated",   "never recorded", "left out",      "nothing",   "nobody entered", "not entered", "no known",
    "no recorded", "no data",        "not on file",   NULL};
static const char *const FILLED[] = {"filled in", "filled",     "recorded",    "known",     "on file",
                                     "not null",  "not empty",  "not missing", "not blank", "given",
                                     "specified", "been rated", "on record",   "entered",   "available",
                                     "do have",   "with a",     "measured",    NULL};
static const char *const PARTS[] = {"mention",       "contain",  "containing", "include", "including",   "somewhere",
                                    "anywhere",      "any kind", "kind of",    "part of", "begin",       "start with",
                                    "starting with", "end in",   "end with",   "ending",  "in the name", "in its name",
                                    "in their name", "word",     "letter",     "prefix",  "among",       NULL};

static bool stands_for_null(const struct sql_node *node)
{
    return sql_is(node, SQL_LITERAL) && node->op == SQL_LIT_NULL;
}

/* Returns 1 for a test that keeps NULL values, -1 for a test that keeps other values, 0 for another node. */
static int null_test(const struct sql_node *node)
{
    if (sql_is(node, SQL_UNARY)) return (node->op == SQL_OP_ISNULL) - (node->op == SQL_OP_NOTNULL);
    if (!sql_is(node, SQL_BINARY) || !stands_for_null(sql_kid(node, 1))) return 0;
    return (node->op == SQL_OP_IS) - (node->op == SQL_OP_IS_NOT);
}

static bool replaces_null(const struct sql_node *call)
{
    return sql_name_is(call->text, call->text_len, "coalesce", 8) ||
           sql_name_is(call->text, call->text_len, "ifnull", 6);
}

static void look_at_call(struct extraction *ex, const struct sql_node *call)
{
    enum query_aggregate aggregate = query_aggregate_of(call);
    const struct schema_column *column = query_column(ex->subject, sql_kid(sql_kid(call, CALL_ARGS), 0));
    bool distinct = call->flags & SQL_F_DISTINCT;
    ex->out[FEATURE_null_replaced] += replaces_null(call);
    ex->out[FEATURE_sums_distinct] += distinct && (aggregate == QUERY_SUM || aggregate == QUERY_AVG);
    if (aggregate == QUERY_COUNT && !distinct && column && column->stats.nulls) ex->out[FEATURE_null_dropped]++;
}

static void look_at_tests(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        int test = null_test(n);
        ex->out[FEATURE_null_kept] += test > 0;
        ex->out[FEATURE_null_dropped] += test < 0;
        if (sql_is(n, SQL_CALL)) look_at_call(ex, n);
    }
}

/* True if a frequent value of the column is longer than the text and contains it. */
static bool is_part_of_value(const struct schema_column *column, const struct sql_node *literal)
{
    g_autofree char *text = g_ascii_strdown(literal->text, (gssize)literal->text_len);
    for (uint32_t i = 0; i < column->stats.n_top; i++) {
        const struct db_value *value = &column->stats.top[i].value;
        if (value->type != DB_TEXT || value->len <= literal->text_len) continue;
        g_autofree char *stored = g_ascii_strdown(value->text, (gssize)value->len);
        if (strstr(stored, text)) return true;
    }
    return false;
}

/* Counts texts that are compared for equality although longer values of the column contain them. */
static void look_at_texts(struct extraction *ex)
{
    for (uint32_t i = 0; i < ex->n_literals; i++) {
        const struct condition_literal *literal = &ex->literals[i];
        if (literal->is_number || literal->pattern || !literal->column || !literal->node->text_len) continue;
        ex->out[FEATURE_equals_part] += is_part_of_value(literal->column, literal->node);
    }
}

/* Sets null_as_asked. It is 1 if the query keeps the rows that the question calls missing or present, and -1 if it
 * keeps the opposite rows. It stays NAN if the question or the query does neither or both. */
static void set_stance(struct extraction *ex, bool missing, bool filled)
{
    bool kept = ex->out[FEATURE_null_kept] > 0, dropped = ex->out[FEATURE_null_dropped] > 0;
    if (missing != filled && kept != dropped) ex->out[FEATURE_null_as_asked] = missing == kept ? 1 : -1;
}

void extract_nulls(struct extraction *ex)
{
    static const enum feature_index COUNTS[] = {FEATURE_null_kept, FEATURE_null_dropped, FEATURE_null_replaced,
                                                FEATURE_sums_distinct, FEATURE_equals_part};
    struct question_phrase at;
    if (!ex->question) return;
    for (size_t i = 0; i < G_N_ELEMENTS(COUNTS); i++) ex->out[COUNTS[i]] = 0;
    bool missing = question_phrase_find(ex->question, MISSING, 0, &at);
    bool filled = question_phrase_find(ex->question, FILLED, 0, &at);
    ex->out[FEATURE_null_said] = (float)missing - (float)filled;
    ex->out[FEATURE_parts_said] = question_phrase_find(ex->question, PARTS, 0, &at);
    look_at_tests(ex);
    look_at_texts(ex);
    set_stance(ex, missing, filled);
}
