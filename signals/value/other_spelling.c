/* other_spelling: a condition on texts selects other rows than its literal suggests.
 *
 * Equality with one spelling misses the rows with another one ('GERMLINE' and 'Germline'). If the question contains an
 * underscore, the same `_` in a LIKE pattern matches any character. A probe of the data proves both cases. */
#include "lib/question/question.h"
#include "signals/support/names.h"
#include "signals/support/predicate.h"
#include "signals/support/probe.h"

#include <glib.h>
#include <string.h>

enum { MAX_HITS = 16, MAX_PATTERN = 120 };

/* --- other spellings --- */

static bool is_text(const struct sql_node *literal)
{
    return literal->kind == SQL_LITERAL && literal->op == SQL_LIT_STRING;
}

/* True if another literal of the query is `form`, the other spelling. */
static bool is_used(const struct vsig_subject *subject, const char *form)
{
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (is_text(n) && n->text_len == strlen(form) && memcmp(n->text, form, n->text_len) == 0) return true;
    return false;
}

static struct sql_node *make_text(struct arena *arena, const char *text)
{
    struct sql_node *node = sql_make_text(arena, SQL_LITERAL, text);
    if (node) node->op = SQL_LIT_STRING;
    return node;
}

/* True if the condition misses a row with the other spelling `form`. A collation may treat the two spellings as
 * equal. */
static bool misses(struct vsig_run *run, const struct vsig_predicate *predicate, const struct sql_node *literal,
                   const char *form, enum err_code *code)
{
    struct arena *arena = run->subject->arena;
    struct sql_node *other = sql_copy(arena, predicate->node);
    *code = ERR_LIMIT_MEMORY;
    for (struct sql_node *n = other; n; n = (struct sql_node *)(uintptr_t)sql_walk(other, n))
        if (is_text(n) && n->text_len == literal->text_len && memcmp(n->text, literal->text, n->text_len) == 0) {
            n->text = form;
            n->text_len = (uint32_t)strlen(form);
        }
    const char *wanted = other ? sql_print(arena, other) : NULL, *is = sql_print(arena, predicate->node),
               *from = sql_print(arena, predicate->ref->source->node);
    if (!wanted || !is || !from) return false;
    const char *probe = arena_printf(arena, "SELECT 1 FROM %s WHERE (%s) AND NOT (%s) LIMIT 1", from, wanted, is);
    return vsig_probe_any(run->subject, probe, code) == 1;
}

static bool is_among(const struct vsig_predicate *predicate, const char *form)
{
    for (uint32_t i = 0; i < predicate->n_literals; i++)
        if (predicate->literals[i]->text_len == strlen(form) &&
            memcmp(predicate->literals[i]->text, form, strlen(form)) == 0)
            return true;
    return false;
}

/* True if the question has the literal in quotation marks, in the same spelling. The question may then mean only that
 * spelling. */
static bool is_quoted(const struct vsig_subject *subject, const struct sql_node *literal)
{
    const struct question *question = subject->analysis;
    for (uint32_t i = 0; question && i < question->tokens.n; i++) {
        const struct text_token *t = &question->tokens.items[i];
        if (t->kind == TEXT_QUOTED && t->end - t->start == literal->text_len + 2 &&
            memcmp(question->text + t->start + 1, literal->text, literal->text_len) == 0)
            return true;
    }
    return false;
}

/* True if two texts differ only in blanks at their ends: 'Aberdeen' and 'Aberdeen '. No question means such a
 * difference. */
static bool is_padded(const char *text, size_t len, const struct sql_node *literal)
{
    const char *other = literal->text;
    size_t other_len = literal->text_len;
    while (len && g_ascii_isspace(*text)) text++, len--;
    while (len && g_ascii_isspace(text[len - 1])) len--;
    while (other_len && g_ascii_isspace(*other)) other++, other_len--;
    while (other_len && g_ascii_isspace(other[other_len - 1])) other_len--;
    return len == other_len && memcmp(text, other, len) == 0;
}

/* Returns a frequent value of the column that differs from the literal only in hyphens, blanks or other punctuation.
 * Returns NULL if there is none, or if the column does not contain the literal. Ignores short texts and those that
 * begin or end with a digit, because they may be different codes. */
static const char *other_punctuation(struct vsig_run *run, const struct schema_column *column,
                                     const struct sql_node *literal)
{
    enum { MIN_LETTERS = 5 };
    struct arena *arena = run->subject->arena;
    const struct schema_stats *stats = &column->stats;
    const char *asked = text_letters(arena, literal->text, literal->text_len);
    size_t n = asked ? strlen(asked) : 0;
    if (n < MIN_LETTERS || g_ascii_isdigit(asked[0]) || g_ascii_isdigit(asked[n - 1])) return NULL;
    if (schema_column_has(run->subject->schema, column, literal->text, literal->text_len, false) != 1) return NULL;
    for (uint32_t i = 0; i < stats->n_top; i++) {
        const struct db_value *value = &stats->top[i].value;
        if (value->type != DB_TEXT || is_padded(value->text, value->len, literal)) continue;
        /* texts of equal length may differ in case only, which check_equality reports */
        if (value->len == literal->text_len) continue;
        const char *held = text_letters(arena, value->text, value->len);
        if (held && strcmp(asked, held) == 0) return arena_strndup(arena, value->text, value->len);
    }
    return NULL;
}

/* Returns a spelling of the literal that the column also holds: with other hyphens or blanks ('check-up' and
 * 'checkup'), or in another case. Returns NULL if there is none. */
static const char *other_form(struct vsig_run *run, const struct schema_column *column, const struct sql_node *literal)
{
    struct schema_hit hits[MAX_HITS];
    const char *form = other_punctuation(run, column, literal);
    if (form || column->folds) return form;
    uint32_t n = schema_values_with(run->subject->schema, literal->text, literal->text_len, hits, MAX_HITS);
    const struct schema_hit *exact = NULL, *other = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (hits[i].column != column->id) continue;
        if (!hits[i].exact && is_padded(hits[i].form, strlen(hits[i].form), literal)) continue;
        *(hits[i].exact ? &exact : &other) = &hits[i];
    }
    return exact && other ? other->form : NULL;
}

static enum err_code check_equality(struct vsig_run *run, const struct vsig_predicate *predicate)
{
    enum err_code code = ERR_OK;
    if (!predicate->bare || predicate->column->unique) return ERR_OK;
    for (uint32_t l = 0; l < predicate->n_literals && code == ERR_OK; l++) {
        const struct sql_node *literal = predicate->literals[l];
        if (!is_text(literal) || is_quoted(run->subject, literal)) continue;
        const char *form = other_form(run, predicate->column, literal);
        if (!form || is_among(predicate, form) || is_used(run->subject, form)) continue;
        if (!misses(run, predicate, literal, form, &code)) continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_ERROR, predicate->node,
                      "the column also holds the text in another spelling, and the condition misses those rows");
        vsig_add_fact(run, finding, "also held", true, "%s", form);
        return ERR_OK;
    }
    return code;
}

/* --- the wildcard _ --- */

/* Returns the pattern with each `_` escaped by "!". Returns NULL if it has no `_`, contains "!", or is too long. */
static const char *escape(struct arena *arena, const struct sql_node *pattern)
{
    char out[2 * MAX_PATTERN + 1];
    size_t n = 0;
    bool found = false;
    if (pattern->text_len > MAX_PATTERN || memchr(pattern->text, '!', pattern->text_len)) return NULL;
    for (size_t i = 0; i < pattern->text_len; i++) {
        bool wildcard = pattern->text[i] == '_';
        if (wildcard) out[n++] = '!';
        found |= wildcard;
        out[n++] = pattern->text[i];
    }
    return found ? arena_strndup(arena, out, n) : NULL;
}

/* True if the question or the evidence contains the text of the pattern, and the text has an underscore. */
static bool says_underline(const struct vsig_subject *subject, const struct sql_node *pattern)
{
    size_t start = 0, end = pattern->text_len;
    while (start < end && pattern->text[start] == '%') start++;
    while (end > start && pattern->text[end - 1] == '%') end--;
    const char *text = arena_strndup(subject->arena, pattern->text + start, end - start);
    const struct question *question = subject->analysis;
    if (!text || !question || !strchr(text, '_')) return false;
    return strstr(question->text, text) || (question->evidence_text && strstr(question->evidence_text, text));
}

static enum err_code check_like(struct vsig_run *run, const struct vsig_predicate *predicate)
{
    struct arena *arena = run->subject->arena;
    const struct sql_node *node = predicate->node, *pattern = sql_kid(node, LIKE_PATTERN);
    if (sql_kid(node, LIKE_ESCAPE) || !is_text(pattern) || !says_underline(run->subject, pattern)) return ERR_OK;
    const char *escaped = escape(arena, pattern);
    if (!escaped) return ERR_OK;
    struct sql_node *strict = sql_copy(arena, node), *text = make_text(arena, escaped), *sign = make_text(arena, "!");
    if (!strict || !text || !sign) return ERR_LIMIT_MEMORY;
    sql_set_kid(strict, LIKE_PATTERN, text);
    sql_set_kid(strict, LIKE_ESCAPE, sign);
    const char *wide = sql_print(arena, node), *narrow = sql_print(arena, strict),
               *from = sql_print(arena, predicate->ref->source->node);
    if (!wide || !narrow || !from) return ERR_LIMIT_MEMORY;
    enum err_code code = ERR_OK;
    const char *probe = arena_printf(arena, "SELECT 1 FROM %s WHERE %s AND NOT (%s) LIMIT 1", from, wide, narrow);
    if (vsig_probe_any(run->subject, probe, &code) == 1)
        vsig_fire(run, VSIG_ERROR, node,
                  "_ in LIKE stands for any letter, so the condition also takes rows without the underline");
    return code;
}

static enum err_code other_spelling_eval(struct vsig_run *run)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    enum err_code code = ERR_OK;
    uint32_t n = vsig_predicates(run->subject, all);
    for (uint32_t i = 0; i < n && code == ERR_OK; i++) {
        bool equal = sql_is(all[i].node, SQL_BINARY) && all[i].node->op == SQL_OP_EQ;
        bool list = sql_is(all[i].node, SQL_IN) && !(all[i].node->flags & SQL_F_NOT);
        if (equal || list) code = check_equality(run, &all[i]);
        if (code == ERR_OK && sql_is(all[i].node, SQL_LIKE) && all[i].node->op == SQL_OP_LIKE && all[i].bare)
            code = check_like(run, &all[i]);
    }
    return code;
}

const struct vsig_def vsig_other_spelling = {
    .id = VSIG_ID_other_spelling,
    .name = "other_spelling",
    .family = VSIG_VALUE,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_DB,
    .sentence = "a condition on texts misses other spellings of its value, or takes other texts too",
    .description =
        "The column holds the value in several spellings, such as 'GERMLINE' and 'Germline' or 'check-up' and "
        "'checkup', and equality finds one of them. Or a _ of the question is a wildcard of LIKE.",
    .example = "How many samples are of germline origin? - SELECT COUNT(*) FROM sample WHERE origin = 'GERMLINE'",
    .instruction = "Compare in lower case, or list all spellings: LOWER(column) IN ('value', 'other spelling'). In "
                   "LIKE, escape _ with ESCAPE.",
    .eval = other_spelling_eval,
};
