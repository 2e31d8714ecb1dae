/* The list of phrases of an explanation, and the queue of its queries. */
#include "lib/explain/narrator.h"

#include <string.h>

void narrate_missing(struct narrator *t, const char *sentence)
{
    if (!t->missing) t->missing = sentence;
}

void narrate_column_used(struct narrator *t, const struct schema_column *column)
{
    if (!column || t->n_columns == NARRATE_MAX_COLUMNS) return;
    for (uint32_t i = 0; i < t->n_columns; i++)
        if (t->columns[i] == column->id) return;
    t->columns[t->n_columns++] = column->id;
}

uint32_t narrate_query_number(struct narrator *t, const struct sql_node *query, const struct sql_node *name,
                              enum narrate_role role)
{
    for (uint32_t i = 0; i < t->n_queries; i++)
        if (t->queries[i].node == query) return i;
    if (t->n_queries == NARRATE_MAX_QUERIES) {
        t->cut = true;
        narrate_missing(t, "There are too many queries inside of the query to tell them all.");
        return NARRATE_MAX_QUERIES;
    }
    t->queries[t->n_queries] =
        (struct narrated_query){query, name, role, t->queries[t->query].depth + 1, t->query, false};
    return t->n_queries++;
}

/* Returns the text as a sentence: "in query 2, rows ..." becomes "In query 2, rows ... ." */
static const char *as_sentence(struct narrator *t, const struct say *said)
{
    if (said->len == 0) return "";
    char *text = arena_alloc(t->arena, said->len + 2);
    if (!text) {
        t->full = true;
        return "";
    }
    memcpy(text, said->text, said->len);
    memcpy(text + said->len, ".", 2);
    if (text[0] >= 'a' && text[0] <= 'z') text[0] = (char)(text[0] - 'a' + 'A');
    return text;
}

void narrate_begin(struct narrator *t)
{
    say_clear(&t->premise);
    say_clear(&t->prose);
    t->n_columns = 0;
}

void narrate_end(struct narrator *t, enum explain_kind kind, const struct sql_node *node, bool from_data)
{
    if (t->queries[t->query].in_place && !from_data) say_clear(&t->prose);
    if (t->premise.len + t->prose.len == 0 || t->full) return;
    if (t->n_phrases == NARRATE_MAX_PHRASES) {
        t->cut = true;
        return;
    }
    t->cut |= t->premise.cut || t->prose.cut;
    bool opens = kind == EXPLAIN_SUBQUERY || (t->query && kind == EXPLAIN_SET);
    uint32_t *columns = t->n_columns ? arena_alloc(t->arena, t->n_columns * sizeof *columns) : NULL;
    if (columns) memcpy(columns, t->columns, t->n_columns * sizeof *columns);
    t->full |= t->n_columns && !columns;
    t->phrases[t->n_phrases++] = (struct explain_phrase){
        .kind = kind,
        .from_data = from_data,
        .premise = as_sentence(t, &t->premise),
        .prose = as_sentence(t, &t->prose),
        .node = node,
        .start = node->start,
        .end = node->end,
        .columns = columns,
        .n_columns = t->n_columns,
        .depth = t->queries[t->query].depth,
        .query = t->query,
        .opened = opens ? (int32_t)t->query : -1,
    };
}

void narrate_phrase(struct narrator *t, enum explain_kind kind, const struct sql_node *node, narrate_fn *narrate)
{
    narrate_begin(t);
    narrate(t, &t->premise, node);
    narrate(t, &t->prose, node);
    narrate_end(t, kind, node, false);
}
