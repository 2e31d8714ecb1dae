/* Compiles tables of patterns, and finds the longest pattern at a token (pattern.h).
 *
 * Each pattern is a row of steps, and each step is a set of words as bits. An index lists the rows that may begin with
 * a given word or with a number, so only few rows are tried at a token. Matching backtracks over optional steps. */
#include "lib/question/pattern.h"

#include <glib.h>
#include <string.h>

enum { MAX_WORDS = 2048, SET_PARTS = MAX_WORDS / 64 };

/* One word of a compiled pattern, as a set of word numbers. */
struct step {
    uint64_t set[SET_PARTS];
    bool number, any, optional;
};

struct pattern_row {
    const struct step *steps;
    uint32_t n_steps;
};

struct pattern_table {
    GHashTable *ids; /* word → number + 1 */
    struct step *steps;
    struct pattern_row *patterns;
    GArray *starts[MAX_WORDS], *number_starts; /* uint16_t row numbers: rows that may begin with the word; rows that may
                                                * begin with a number */
};

uint32_t pattern_word(const struct pattern_table *table, const char *word)
{
    gpointer found = g_hash_table_lookup(table->ids, word);
    return found ? GPOINTER_TO_UINT(found) - 1 : PATTERN_NO_WORD;
}

static void step_add(struct pattern_table *table, struct step *step, const char *word, size_t len)
{
    char *copy = g_strndup(word, len);
    uint32_t id = pattern_word(table, copy);
    if (id == PATTERN_NO_WORD) {
        id = g_hash_table_size(table->ids);
        g_assert(id < MAX_WORDS);
        g_hash_table_insert(table->ids, copy, GUINT_TO_POINTER(id + 1));
    } else {
        g_free(copy);
    }
    step->set[id / 64] |= 1ULL << id % 64;
}

/* Compiles one word of a pattern, the bytes [p, end). */
static void step_compile(struct pattern_table *table, struct step *step, const char *p, const char *end)
{
    if (*p == '?' && end - p > 1) {
        step->optional = true;
        p++;
    }
    while (p < end) {
        size_t len = strcspn(p, "| ");
        if (len == 1 && *p == '#')
            step->number = true;
        else if (len == 1 && *p == '*')
            step->any = true;
        else
            step_add(table, step, p, len);
        p += len + 1;
    }
}

static void start_add(struct pattern_table *table, uint32_t word, uint16_t index)
{
    if (!table->starts[word]) table->starts[word] = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    g_array_append_val(table->starts[word], index);
}

static void pattern_index(struct pattern_table *table, uint16_t index)
{
    const struct pattern_row *pattern = &table->patterns[index];
    for (uint32_t s = 0; s < pattern->n_steps; s++) {
        const struct step *step = &pattern->steps[s];
        for (uint32_t part = 0; part < SET_PARTS; part++)
            for (uint64_t rest = step->set[part]; rest; rest &= rest - 1)
                start_add(table, part * 64 + (uint32_t)__builtin_ctzll(rest), index);
        if (step->number) g_array_append_val(table->number_starts, index);
        if (!step->optional) return;
    }
}

static const char *pattern_of(const void *rows, size_t stride, uint32_t row)
{
    return *(const char *const *)((const char *)rows + stride * row);
}

static uint32_t count_steps(const void *rows, size_t stride, uint32_t n)
{
    uint32_t steps = 0;
    for (uint32_t i = 0; i < n; i++, steps++)
        for (const char *p = pattern_of(rows, stride, i); *p; p++) steps += *p == ' ';
    return steps;
}

const struct pattern_table *pattern_compile(const void *rows, size_t stride, uint32_t n)
{
    g_assert(n <= UINT16_MAX);
    struct pattern_table *table = g_new0(struct pattern_table, 1);
    table->ids = g_hash_table_new(g_str_hash, g_str_equal);
    table->number_starts = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    struct step *next = table->steps = g_new0(struct step, count_steps(rows, stride, n));
    table->patterns = g_new0(struct pattern_row, n);
    for (uint32_t i = 0; i < n; i++) {
        struct pattern_row *pattern = &table->patterns[i];
        pattern->steps = next;
        for (const char *p = pattern_of(rows, stride, i); *p; pattern->n_steps++) {
            size_t len = strcspn(p, " ");
            step_compile(table, next++, p, p + len);
            p += len + (p[len] == ' ');
        }
        pattern_index(table, (uint16_t)i);
    }
    return table;
}

bool pattern_read(struct pattern_text *text, struct arena *arena, const struct pattern_table *table,
                  const struct question *question)
{
    const struct text_tokens *tokens = &question->tokens;
    *text = (struct pattern_text){.table = table, .question = question};
    text->ids = arena_array(arena, tokens->n + 1, sizeof *text->ids);
    text->value_at = arena_array(arena, tokens->n + 1, sizeof *text->value_at);
    if (!text->ids || !text->value_at) return false;
    for (uint32_t i = 0; i < tokens->n; i++) {
        const struct text_token *t = &tokens->items[i];
        text->ids[i] = t->kind == TEXT_QUOTED ? PATTERN_NO_WORD : pattern_word(table, t->norm);
        text->value_at[i] = -1;
    }
    for (uint32_t v = 0; v < question->n_values; v++)
        if (question->values[v].kind == QUESTION_VALUE_NUMBER) text->value_at[question->values[v].first] = (int)v;
    return true;
}

static bool step_takes(const struct pattern_text *text, const struct step *step, uint32_t token)
{
    const struct text_token *t = &text->question->tokens.items[token];
    if (t->kind == TEXT_QUOTED) return false;
    if (step->number && text->value_at[token] >= 0) return true;
    if (step->any && t->kind == TEXT_WORD) return true;
    uint32_t id = text->ids[token];
    return id != PATTERN_NO_WORD && step->set[id / 64] >> id % 64 & 1U;
}

/* Returns the number of tokens that a matching step takes. A number includes its scale ("ten million"). */
static int tokens_at(const struct pattern_text *text, const struct step *step, uint32_t token)
{
    int value = step->number ? text->value_at[token] : -1;
    return value < 0 ? 1 : (int)text->question->values[value].n_tokens;
}

/* Returns the number of tokens that the steps from `s` on match, beginning at `token`. Returns -1 if they do not
 * match. */
static int match_steps(const struct pattern_text *text, const struct pattern_row *pattern, uint32_t s, uint32_t token)
{
    if (s == pattern->n_steps) return 0;
    const struct step *step = &pattern->steps[s];
    if (token < text->question->tokens.n && step_takes(text, step, token)) {
        int taken = tokens_at(text, step, token), rest = match_steps(text, pattern, s + 1, token + (uint32_t)taken);
        if (rest >= 0) return rest + taken;
    }
    return step->optional ? match_steps(text, pattern, s + 1, token) : -1;
}

static int best_of(const struct pattern_text *text, const GArray *starts, uint32_t token, uint32_t *n_tokens, int best)
{
    for (guint i = 0; starts && i < starts->len; i++) {
        uint32_t row = g_array_index(starts, uint16_t, i);
        int n = match_steps(text, &text->table->patterns[row], 0, token);
        if (n <= 0 || (uint32_t)n < *n_tokens) continue;
        if ((uint32_t)n == *n_tokens && (best < 0 || (uint32_t)best < row)) continue;
        if (text->accept && !text->accept(text, row, token, (uint32_t)n)) continue;
        *n_tokens = (uint32_t)n;
        best = (int)row;
    }
    return best;
}

int pattern_at(const struct pattern_text *text, uint32_t token, uint32_t *n_tokens)
{
    int best = -1;
    *n_tokens = 0;
    uint32_t id = text->ids[token];
    if (id != PATTERN_NO_WORD) best = best_of(text, text->table->starts[id], token, n_tokens, best);
    if (text->value_at[token] >= 0) best = best_of(text, text->table->number_starts, token, n_tokens, best);
    return best;
}
