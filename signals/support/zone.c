#include "signals/support/zone.h"

#include "lib/question/phrase.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { DAY = 10 }; /* bytes of "2024-06-30" */

static const char *const UTC[] = {"utc", "gmt", NULL};

/* True for a time zone other than UTC: "local time", "Tokyo time", "Europe/Vienna", "CET". */
static bool asks_local(const struct text_tokens *tokens)
{
    static const char *const LOCAL[] = {"local", "cet", "cest", "jst", "est",  "edt", "pst", "pdt",
                                        "bst",   "ist", "aest", "eet", "eest", "cst", "cdt", NULL};
    static const char *const TIME[] = {"time", "timezone", NULL};
    static const char *const AREAS[] = {"europe/", "asia/", "america/", "africa/", "australia/", "pacific/"};
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct text_token *token = &tokens->items[i];
        if (question_token_is(token, LOCAL)) return true;
        for (size_t a = 0; a < G_N_ELEMENTS(AREAS); a++)
            if (g_str_has_prefix(token->norm, AREAS[a])) return true;
        bool place = i > 0 && token->kind == TEXT_WORD && token->is_capital && !question_token_is(token, UTC);
        if (place && i + 1 < tokens->n && question_token_is(&tokens->items[i + 1], TIME)) return true;
    }
    return false;
}

static bool says_utc(const struct question *question)
{
    struct question_phrase at;
    return question_phrase_in(&question->tokens, UTC, 0, &at) || question_phrase_in(&question->evidence, UTC, 0, &at);
}

/* True for a date with a time of day or an offset, such as '2024-05-13 22:00' or '2024-05-14 +02'. The query may have
 * converted such a bound to UTC. */
static bool is_moment(const struct sql_node *literal)
{
    if (literal->text_len <= DAY || literal->text[4] != '-') return false;
    for (size_t i = DAY; i < literal->text_len; i++)
        if ((literal->text[i] >= '1' && literal->text[i] <= '9') || strchr("+-", literal->text[i])) return true;
    return false;
}

/* True for a number such as 24 or 86400 in a calculation, which converts between days and hours, minutes or seconds. */
static bool is_scale(const struct sql_node *node)
{
    static const double SCALES[] = {24, 1440, 3600, 86400};
    double number;
    if (!sql_is(node->parent, SQL_BINARY) || sql_is_comparison((enum sql_op)node->parent->op)) return false;
    for (size_t i = 0; query_literal_number(node, &number) && i < G_N_ELEMENTS(SCALES); i++)
        if (number > SCALES[i] - 0.5 && number < SCALES[i] + 0.5) return true;
    return false;
}

/* True for a literal that may shift a time: '+2 hours', 'localtime', '02:00', INTERVAL '2' HOUR. */
static bool is_shift(const struct sql_node *node)
{
    static const char *const WORDS[] = {"hour", "minute", "localtime", "utc", "/"};
    if (node->kind == SQL_TYPED && node->text2 && node->text2_len) {
        char *unit = g_ascii_strdown(node->text2, (gssize)node->text2_len);
        bool fine = strstr(unit, "hour") || strstr(unit, "minute") || strstr(unit, "second");
        g_free(unit);
        return fine;
    }
    if (node->kind == SQL_LITERAL && is_scale(node)) return true;
    if (node->kind != SQL_LITERAL || node->op != SQL_LIT_STRING || !node->text) return false;
    if (is_moment(node)) return true;
    char *text = g_ascii_strdown(node->text, (gssize)node->text_len);
    bool shifts = *text == '+' || (*text == '-' && strchr(text, ':'));
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++) shifts |= strstr(text, WORDS[i]) != NULL;
    g_free(text);
    return shifts;
}

/* True if any part of the query may convert a time zone. */
static bool converts_zone(const struct vsig_subject *subject)
{
    static const char *const CALLS[] = {"timezone",      "convert_tz",   "addtime", "date_add",
                                        "date_sub",      "timestampadd", "adddate", "make_interval",
                                        "from_unixtime", "to_timestamp", "subtime"};
    static const char *const NAMES[] = {"local", "zone", "timezon", "tz", "offset", "utc", NULL};
    const struct sql_node *root = subject->stmt->root;
    if (query_uses_name(subject, NAMES)) return true;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (n->op == SQL_OP_AT_ZONE && n->kind == SQL_BINARY) return true;
        if (is_shift(n)) return true;
        for (size_t i = 0; n->kind == SQL_CALL && n->text && i < G_N_ELEMENTS(CALLS); i++)
            if (sql_name_is(n->text, n->text_len, CALLS[i], strlen(CALLS[i]))) return true;
    }
    return false;
}

/* True if the column has times of day without a time zone. */
static bool holds_plain_times(const struct schema_column *column)
{
    const struct db_value *value = &column->stats.max;
    char *type = g_ascii_strdown(column->type, -1);
    bool zoned = strstr(type, "timestamptz") || strstr(type, "with time zone");
    g_free(type);
    if (zoned || value->type != DB_TEXT || value->len <= DAY + 1) return false;
    return value->text[4] == '-' && value->text[7] == '-' && strchr(" T", value->text[DAY]) != NULL;
}

/* True if the evidence names this column, or names no column with times. */
static bool is_meant(const struct vsig_subject *subject, const struct schema_column *column)
{
    const float *score = subject->analysis->evidence_score;
    if (!score || score[column->id] > 0.9F) return true;
    for (uint32_t i = 0; i < subject->schema->n_columns; i++)
        if (score[i] > 0.9F && holds_plain_times(subject->schema->columns[i])) return false;
    return true;
}

const struct sql_node *vsig_unconverted_time(const struct vsig_subject *subject, const struct schema_column **column)
{
    const struct question *question = subject->analysis;
    if (!question || !says_utc(question) || !asks_local(&question->tokens) || converts_zone(subject)) return NULL;
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        *column = n->kind == SQL_COLUMN ? query_column(subject, n) : NULL;
        if (*column && holds_plain_times(*column) && is_meant(subject, *column)) return n;
    }
    return NULL;
}
