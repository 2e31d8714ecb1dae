/* Finds the columns that words of a question name. */
#include "lib/question/align_int.h"

#include <glib.h>

/* True for words that only mark a key or a name. The other words of a column suffice: "bike" alone says "bike_no". */
static bool is_key_word(const char *word)
{
    static const char *const words[] = {"id", "no", "code", "number", "key", "name", "identifier", "ref"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_str_equal(words[i], word)) return true;
    return false;
}

bool align_run_says(const struct align_run *run, const char *word)
{
    for (uint32_t i = run->first; i < run->end; i++) {
        const struct text_token *token = &run->tokens->items[i];
        if (!token->is_stop && text_word_similarity(token->norm, word) >= 0.6) return true;
    }
    return false;
}

static bool says_word_of(const struct align_run *run, const struct text_tokens *words)
{
    for (uint32_t i = 0; i < words->n; i++)
        if (!is_key_word(words->items[i].norm) && align_run_says(run, words->items[i].norm)) return true;
    return false;
}

static bool has_own_word(const struct schema_column *column)
{
    for (uint32_t i = 0; i < column->words.n; i++)
        if (!is_key_word(column->words.items[i].norm)) return true;
    return false;
}

/* True if the run names a table that the column references. */
static bool says_referenced(const struct aligner *a, const struct align_run *run, const struct schema_column *column)
{
    for (uint32_t i = 0; i < a->schema->n_joins; i++) {
        const struct schema_join *join = &a->schema->joins[i];
        bool refers = join->n_pairs == 1 && join->from[0] == column->id;
        if (refers && says_word_of(run, &a->schema->tables[join->to_table].words)) return true;
    }
    return false;
}

bool align_run_names(const struct aligner *a, const struct align_run *run, const struct schema_column *column)
{
    if (says_word_of(run, &column->words) || says_referenced(a, run, column)) return true;
    bool key = column->pk || !has_own_word(column);
    return key && says_word_of(run, &a->schema->tables[column->table].words);
}

bool align_names_column(const struct aligner *a, const struct schema_column *column)
{
    const struct align_run question = {&a->question->tokens, 0, a->question->tokens.n},
                           evidence = {&a->question->evidence, 0, a->question->evidence.n};
    return align_run_names(a, &question, column) || align_run_names(a, &evidence, column) ||
           a->question->column_score[column->id] > 0 || a->question->weak_score[column->id] > 0;
}
