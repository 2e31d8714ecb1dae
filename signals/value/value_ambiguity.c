/* value_ambiguity: a literal of the query also occurs in another column, and the question refers to that column more
 * closely (SQLens A.1).
 *
 * Two measures decide. The first is lexical: how well the words of the question name the column, and how close they are
 * to the value. The second is the cosine of the embeddings of question and column. A column is reported only if it
 * leads by the margin in the first measure and is not behind in the second. A column is embedded only after the lexical
 * measure selects it, because embedding is expensive.
 *
 * Numbers with fewer than `min_digits` digits and booleans are skipped, because they occur in many columns. Values that
 * occur in more than `max_columns` columns are skipped too. So are columns that a key joins, and columns that the
 * evidence names. */
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { OPT_MARGIN, OPT_MAX_COLUMNS, OPT_MIN_DIGITS, OPT_NAMED, MAX_HITS = 16, MAX_TEXT = 200, NEAR = 2, FAR = 5 };

/* A literal that is compared for equality with a column. */
struct use {
    const struct sql_node *node, *literal;
    const struct schema_column *column;
};

static bool is_boolean(const char *text, size_t len)
{
    static const char *const WORDS[] = {"yes", "no", "true", "false", "y", "n", "t", "f", "m"};
    for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
        if (sql_name_is(text, len, WORDS[i], strlen(WORDS[i]))) return true;
    return false;
}

static bool is_telling(const struct vsig_run *run, const struct sql_node *literal)
{
    size_t len = literal->text_len, digits = 0;
    if (!literal->text || len < 2 || len > MAX_TEXT || is_boolean(literal->text, len)) return false;
    for (size_t i = 0; i < len; i++) digits += g_ascii_isdigit(literal->text[i]) != 0;
    return digits < len || (double)digits >= vsig_opt(run, OPT_MIN_DIGITS);
}

/* True if the evidence names the column. There is then no ambiguity. */
static bool evidence_names(const struct question *question, const struct schema_column *column)
{
    return question->evidence_score && question->evidence_score[column->id] > 0.9F;
}

/* Finds the tokens of the question that state the literal. Returns false if there are none. */
static bool place_of(const struct question *question, const char *folded, struct arena *arena, uint32_t *first,
                     uint32_t *last)
{
    for (uint32_t i = 0; i < question->n_values; i++) {
        const char *text = text_fold(arena, question->values[i].text, strlen(question->values[i].text));
        if (!text || strcmp(text, folded) != 0) continue;
        *first = question->values[i].first;
        *last = *first + question->values[i].n_tokens - 1;
        return true;
    }
    return false;
}

/* Returns how closely the question refers to the column near the tokens [first, last]: a score from 0 to 1.3. */
static double closeness(const struct question *question, const struct schema_column *column, uint32_t first,
                        uint32_t last)
{
    double best = 0;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->id != column->id) continue;
        uint32_t end = m->first + m->n_tokens - 1;
        uint32_t gap = end < first ? first - end : m->first > last ? m->first - last : 0;
        /* the words of the value itself do not name a column */
        if (gap == 0 && m->n_tokens <= last - first + 1) continue;
        double score = m->score * (gap <= NEAR ? 1 : gap <= FAR ? 0.6 : 0.3);
        best = score > best ? score : best;
    }
    return best + 0.3 * (double)question->table_score[column->table];
}

static bool embed_column(const struct vsig_subject *subject, const struct schema_column *column, float *out)
{
    const char *text = arena_printf(subject->arena, "%s %s %s", subject->schema->tables[column->table].name,
                                    column->name, column->full_name ? column->full_name : "");
    return text && subject->embedder->embed(subject->embedder, text, strlen(text), out);
}

/* Returns 1 if the embedding of the question is at least as close to `other` as to `used`, else 0. Returns -1 if there
 * is no embedding. */
static int embedding_agrees(const struct vsig_subject *subject, const struct schema_column *used,
                            const struct schema_column *other)
{
    const struct text_embedder *embedder = subject->embedder;
    if (!embedder) return -1;
    float *vectors = arena_array(subject->arena, 3 * (size_t)embedder->dim, sizeof *vectors);
    if (!vectors) return -1;
    float *question = vectors, *a = vectors + embedder->dim, *b = a + embedder->dim;
    if (embedder == text_builtin_embedder())
        memcpy(question, subject->analysis->embedding, TEXT_DIM * sizeof *question);
    else if (!embedder->embed(embedder, subject->question, strlen(subject->question), question))
        return -1;
    if (!embed_column(subject, used, a) || !embed_column(subject, other, b)) return -1;
    return text_cosine(question, b, embedder->dim) >= text_cosine(question, a, embedder->dim);
}

/* True if a key joins the columns, so their values stand for the same things. */
static bool same_thing(const struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b)
{
    bool derived = false;
    return schema_join_between(subject->schema, a->id, b->id, &derived) || derived;
}

static bool query_compares(const struct vsig_subject *subject, const struct schema_column *column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        if (ref->clause == SQL_CLAUSE_WHERE && schema_column_of(subject->schema, ref) == column) return true;
    }
    return false;
}

/* Returns the other column that the question refers to most closely, and sets *lead to its lead over the used column.
 * Returns NULL if no column leads by the margin. */
static const struct schema_column *best_rival(const struct vsig_run *run, const struct use *use,
                                              const struct schema_hit *hits, uint32_t n, uint32_t first, uint32_t last,
                                              double *lead)
{
    const struct vsig_subject *subject = run->subject;
    double used = closeness(subject->analysis, use->column, first, last);
    const struct schema_column *best = NULL;
    *lead = vsig_opt(run, OPT_MARGIN);
    for (uint32_t i = 0; i < n; i++) {
        const struct schema_column *other = subject->schema->columns[hits[i].column];
        if (other == use->column || same_thing(subject, use->column, other) || query_compares(subject, other)) continue;
        double over = closeness(subject->analysis, other, first, last) - used;
        if (over <= *lead) continue;
        *lead = over;
        best = other;
    }
    return best;
}

static void report(struct vsig_run *run, const struct use *use, const struct schema_column *other)
{
    const struct schema_index *schema = run->subject->schema;
    const char *used_table = schema->tables[use->column->table].name, *table = schema->tables[other->table].name;
    struct vsig_finding *finding = vsig_fire(
        run, VSIG_WARNING, use->node, "%s.%s also contains this value and matches the question better than %s.%s",
        table, other->name, used_table, use->column->name);
    vsig_add_fact(run, finding, "value", true, "%.*s", (int)use->literal->text_len, use->literal->text);
    vsig_add_fact(run, finding, "column", false, "%s.%s", table, other->name);
}

static enum err_code check_use(struct vsig_run *run, const struct use *use)
{
    const struct vsig_subject *subject = run->subject;
    struct schema_hit hits[MAX_HITS];
    uint32_t first, last;
    if (!is_telling(run, use->literal) || evidence_names(subject->analysis, use->column)) return ERR_OK;
    uint32_t n = schema_values_with(subject->schema, use->literal->text, use->literal->text_len, hits, MAX_HITS);
    if (!n || (double)n > vsig_opt(run, OPT_MAX_COLUMNS)) return ERR_OK;
    const char *folded = text_fold(subject->arena, use->literal->text, use->literal->text_len);
    if (!folded) return ERR_LIMIT_MEMORY;
    if (!place_of(subject->analysis, folded, subject->arena, &first, &last)) return ERR_OK;
    double lead;
    const struct schema_column *rival = best_rival(run, use, hits, n, first, last, &lead);
    int agrees = rival ? embedding_agrees(subject, use->column, rival) : 0;
    if (agrees < 0)
        vsig_unavailable(run, "no embedding");
    else if (agrees)
        report(run, use, rival);
    return ERR_OK;
}

static enum err_code check_in(struct vsig_run *run, const struct sql_node *node)
{
    const struct schema_column *column = query_column(run->subject, sql_kid(node, IN_VALUE));
    const struct sql_node *list = sql_kid(node, IN_RIGHT);
    if (!column || !sql_is(list, SQL_LIST)) return ERR_OK;
    for (uint32_t i = 0; i < list->n_kids; i++) {
        struct use use = {node, query_literal(list->kids[i], NULL), column};
        enum err_code code = use.literal ? check_use(run, &use) : ERR_OK;
        if (code != ERR_OK) return code;
    }
    return ERR_OK;
}

static enum err_code check_equality(struct vsig_run *run, const struct sql_node *node)
{
    for (unsigned side = 0; side < 2; side++) {
        struct use use = {node, query_literal(sql_kid(node, 1 - side), NULL),
                          query_column(run->subject, sql_kid(node, side))};
        if (use.literal && use.column) return check_use(run, &use);
    }
    return ERR_OK;
}

static bool is_read(const struct vsig_subject *subject, const struct schema_column *column)
{
    return query_reads_table(subject, (int)column->table);
}

/* Checks LIKE '%Ayr%', if no value of the column is just this word. Reports it if another column of the query's tables
 * has the word as a whole value. The word is then probably a place and not a part of a name. */
static void check_pattern(struct vsig_run *run, const struct sql_node *node)
{
    const struct vsig_subject *subject = run->subject;
    const struct sql_node *pattern = query_literal(sql_kid(node, LIKE_PATTERN), NULL);
    struct use use = {node, pattern, query_column(subject, sql_kid(node, LIKE_VALUE))};
    if (!use.column || !pattern || !pattern->text || pattern->text_len < 5 || pattern->text[0] != '%') return;
    const char *text = pattern->text + 1;
    size_t len = pattern->text_len - 2;
    struct schema_hit hits[MAX_HITS];
    uint32_t first, last;
    if (text[len] != '%' || memchr(text, '%', len) || evidence_names(subject->analysis, use.column)) return;
    const char *folded = text_fold(subject->arena, text, len);
    if (!folded || !place_of(subject->analysis, folded, subject->arena, &first, &last)) return;
    if (closeness(subject->analysis, use.column, first, last) > vsig_opt(run, OPT_NAMED)) return;
    const struct schema_column *whole = NULL;
    uint32_t n = schema_values_with(subject->schema, text, len, hits, MAX_HITS);
    for (uint32_t i = 0; i < n; i++) {
        const struct schema_column *other = subject->schema->columns[hits[i].column];
        if (other == use.column) return;
        if (is_read(subject, other) && !query_compares(subject, other)) whole = other;
    }
    if (!whole) return;
    struct vsig_finding *finding = vsig_fire(
        run, VSIG_WARNING, node, "%s.%s contains exactly this value, but the query searches for it as a part of %s",
        subject->schema->tables[whole->table].name, whole->name, use.column->name);
    vsig_add_fact(run, finding, "value", false, "%.*s", (int)len, text);
    vsig_add_fact(run, finding, "column", false, "%s.%s", subject->schema->tables[whole->table].name, whole->name);
}

static enum err_code value_ambiguity_eval(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    enum err_code code = ERR_OK;
    for (const struct sql_node *n = root; n && code == ERR_OK; n = sql_walk(root, n)) {
        bool like =
            sql_is(n, SQL_LIKE) && !memchr(sql_kid(n, LIKE_PATTERN)->text ? sql_kid(n, LIKE_PATTERN)->text : "%", '%',
                                           sql_kid(n, LIKE_PATTERN)->text ? sql_kid(n, LIKE_PATTERN)->text_len : 1);
        if ((sql_is(n, SQL_BINARY) && n->op == SQL_OP_EQ) || like)
            code = check_equality(run, n);
        else if (sql_is(n, SQL_IN))
            code = check_in(run, n);
        else if (sql_is(n, SQL_LIKE))
            check_pattern(run, n);
    }
    return code;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_MARGIN] =
        {"margin", 0.25, 0, 2,
         "minimum difference between the other column's closeness to the question and that of the column that is used"},
    [OPT_MAX_COLUMNS] = {"max_columns", 6, 1, MAX_HITS - 1, "values that occur in more columns are ignored"},
    [OPT_MIN_DIGITS] = {"min_digits", 4, 1, 20, "whole numbers with fewer digits are ignored"},
    [OPT_NAMED] = {"named", 0.6, 0, 2,
                   "LIKE patterns on a column are ignored if the question names that column better than this score"},
    {NULL},
};

const struct vsig_def vsig_value_ambiguity = {
    .id = VSIG_ID_value_ambiguity,
    .name = "value_ambiguity",
    .family = VSIG_VALUE,
    .cause = VSIG_DATA_AMBIGUITY,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "a literal of the query also occurs in another column that is semantically closer to the question",
    .description =
        "More than one column contains the value. The question refers to a different column than the query filters on.",
    .example = "Which clubs play in the city of Lima? - SELECT name FROM club WHERE region = 'Lima'. The column city "
               "also contains 'Lima'.",
    .instruction = "Filter on the column that the question names next to the value.",
    .options = OPTIONS,
    .eval = value_ambiguity_eval,
};
