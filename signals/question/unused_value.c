/* unused_value: a value that the question states is nowhere in the query.
 *
 * Quoted strings must be there, whole or in part; numbers as a number, next to it (> 4 for "at least 5"), inside of a
 * literal (a year in a date), or as LIMIT; proper names that the database holds as literals. What the evidence
 * explains may have been replaced by it, and words that also name a table or column state no value. */
#include "signals/question/query.h"

#include <ctype.h>
#include <glib.h>
#include <math.h>
#include <string.h>

enum { OPT_PLAIN, MAX_LITERALS = 64, MIN_PART = 3 };

struct literal {
    const char *text; /* folded, wildcards off */
    double number;
    bool is_number;
};

struct literals {
    struct literal items[MAX_LITERALS];
    uint32_t n;
};

/* Without the wildcards of LIKE. */
static char *plain_text(struct arena *arena, const struct sql_node *node)
{
    size_t start = 0, end = node->text_len;
    while (start < end && (node->text[start] == '%' || node->text[start] == '*')) start++;
    while (end > start && (node->text[end - 1] == '%' || node->text[end - 1] == '*')) end--;
    return text_fold(arena, node->text + start, end - start);
}

static bool collect(const struct vsig_subject *subject, struct literals *out)
{
    out->n = 0;
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        if (query_literal(n, NULL) != n || !n->text || out->n == MAX_LITERALS) continue;
        struct literal *literal = &out->items[out->n++];
        literal->is_number = query_literal_number(n, &literal->number);
        if (!(literal->text = plain_text(subject->arena, n))) return false;
    }
    return true;
}

static bool has_text(const struct literals *literals, const char *folded)
{
    size_t len = strlen(folded);
    for (uint32_t i = 0; i < literals->n; i++) {
        const char *text = literals->items[i].text;
        size_t text_len = strlen(text);
        if (strcmp(text, folded) == 0) return true;
        if (len >= MIN_PART && strstr(text, folded)) return true;
        if (text_len >= MIN_PART && strstr(folded, text)) return true;
    }
    return false;
}

/* "5": as 5, 4 or 6 where a bound may be written either way, or as digits inside of a text. */
static bool has_number(const struct literals *literals, const struct vsig_value *value, bool bound)
{
    for (uint32_t i = 0; i < literals->n; i++) {
        const struct literal *literal = &literals->items[i];
        double gap = fabs(literal->number - value->number);
        if (literal->is_number && (gap < 1e-9 || (bound && gap <= 1))) return true;
        if (strlen(value->text) > 1 && strstr(literal->text, value->text)) return true;
    }
    return false;
}

static bool in_evidence(const struct vsig_question *asked, const struct vsig_value *value)
{
    for (uint32_t i = 0; i < asked->evidence.n; i++) {
        const struct text_token *t = &asked->evidence.items[i];
        if (value->kind == VSIG_VALUE_NUMBER && t->is_number && fabs(t->number - value->number) < 1e-9) return true;
        for (uint32_t v = value->first; v < value->first + value->n_tokens; v++)
            if (!asked->tokens.items[v].is_stop && strcmp(asked->tokens.items[v].stem, t->stem) == 0) return true;
    }
    return false;
}

/* The cue that a number is bound to; NULL. */
static const struct vsig_cue *cue_of(const struct vsig_question *asked, int value)
{
    for (uint32_t i = 0; i < asked->n_cues; i++)
        if (asked->cues[i].number == value || asked->cues[i].number2 == value) return &asked->cues[i];
    return NULL;
}

static bool number_counts(const struct vsig_subject *subject, const struct vsig_value *value, const struct vsig_cue *cue)
{
    if (value->number >= 0 && value->number <= 1 && !(cue && cue->kind == VSIG_CUE_COMPARE && cue->op == SQL_OP_GT)) return false;
    if (value->spelled && !cue) return false;
    if (cue && cue->weak) return false;
    if (vsig_cue_any(subject->asked, 1U << VSIG_CUE_RATIO)) return false;
    const struct vsig_mention *mention = NULL; /* "address line 1" names a column */
    for (uint32_t i = 0; i < subject->asked->n_mentions; i++) {
        const struct vsig_mention *m = &subject->asked->mentions[i];
        if (m->score > 0.6 && m->n_tokens > 1 && value->first >= m->first && value->first < m->first + m->n_tokens) mention = m;
    }
    return !mention;
}

static void report(struct vsig_run *run, const struct query_view *view, const struct vsig_value *value)
{
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, view->select, "a %s of the question is nowhere in the query",
                                             value->kind == VSIG_VALUE_NUMBER ? "number" : "value");
    vsig_add_fact(run, finding, "value", false, "%s", value->text);
    for (uint32_t i = 0; i < value->n_hits && i < 3; i++) {
        const struct schema_column *column = run->subject->schema->columns[value->hits[i].column];
        vsig_add_fact(run, finding, "held by", true, "%s.%s", run->subject->schema->tables[column->table].name, column->name);
    }
}

static void check_number(struct vsig_run *run, const struct query_view *view, const struct literals *literals, uint32_t i)
{
    const struct vsig_question *asked = run->subject->asked;
    const struct vsig_value *value = &asked->values[i];
    const struct vsig_cue *cue = cue_of(asked, (int)i);
    if (!number_counts(run->subject, value, cue) || has_number(literals, value, cue != NULL)) return;
    if (value->number <= 2 && (view->compound[QUERY_INTERSECT] || view->negation)) return;
    report(run, view, value);
}

/* Is the word a name of the schema, which the query then uses without quotes? */
static bool names_schema(const struct vsig_subject *subject, const char *text)
{
    size_t len = strlen(text);
    if (schema_find_table(subject->schema, text, len) >= 0) return true;
    for (uint32_t t = 0; t < subject->schema->n_tables; t++)
        if (schema_find_column(subject->schema, (int)t, text, len) >= 0) return true;
    return false;
}

/* Does one of the columns that hold the value stand in the query's conditions or its answer at all? */
static bool text_counts(const struct vsig_run *run, const struct vsig_value *value)
{
    if (value->is_name || strlen(value->text) < 2) return false;
    if (value->kind == VSIG_VALUE_QUOTED) return !names_schema(run->subject, value->text);
    if (value->kind == VSIG_VALUE_NAME) return false;
    if (!value->capital) return vsig_opt(run, OPT_PLAIN) > 0.5;
    for (uint32_t i = 0; i < value->n_hits; i++)
        if (run->subject->schema->columns[value->hits[i].column]->affinity == SCHEMA_TEXT ||
            !g_ascii_isdigit(value->text[0]))
            return true;
    return false;
}

static bool check_text(struct vsig_run *run, const struct query_view *view, const struct literals *literals, uint32_t i)
{
    const struct vsig_value *value = &run->subject->asked->values[i];
    if (!text_counts(run, value)) return true;
    const char *folded = text_fold(run->subject->arena, value->text, strlen(value->text));
    if (!folded) return false;
    if (!has_text(literals, folded)) report(run, view, value);
    return true;
}

static enum err_code unused_value_eval(struct vsig_run *run)
{
    const struct vsig_question *asked = run->subject->asked;
    struct query_view view;
    struct literals literals;
    query_look(run->subject, &view);
    if (!view.select || !asked->n_values) return ERR_OK;
    if (!collect(run->subject, &literals)) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < asked->n_values; i++) {
        if (in_evidence(asked, &asked->values[i])) continue;
        if (asked->values[i].kind == VSIG_VALUE_NUMBER) check_number(run, &view, &literals, i);
        else if (!check_text(run, &view, &literals, i)) return ERR_LIMIT_MEMORY;
    }
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_PLAIN] = {"plain_words", 0, 0, 1, "also count words in lower case that some column holds as a value"},
    {NULL},
};

const struct vsig_def vsig_unused_value = {
    .id = VSIG_ID_unused_value,
    .name = "unused_value",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a quoted string, number or database value of the question appears nowhere in the query",
    .description = "The question states a value - in quotes, as a number, or as a name that the database holds - and no literal of the query "
                   "has anything to do with it: a condition was forgotten, or the value was misspelt.",
    .example = "How many rooms are on floor 3? - SELECT COUNT(*) FROM room",
    .instruction = "Use every value that the question states, in a condition on the column that holds it.",
    .options = OPTIONS,
    .eval = unused_value_eval,
};
