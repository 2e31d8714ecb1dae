/* The result against the form of the question. */
#include "scoring/features/extract.h"

#include "lib/db/digest.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_ROWS = 2000, MAX_COLUMNS = 64 };

static bool is_number(const struct db_value *value)
{
    return value->type == DB_INT || value->type == DB_FLOAT;
}

static uint64_t hash_value(const struct db_value *value, uint64_t seed)
{
    switch (value->type) {
    case DB_INT: return XXH3_64bits_withSeed(&value->i, sizeof value->i, seed + 1);
    case DB_FLOAT: return XXH3_64bits_withSeed(&value->f, sizeof value->f, seed + 2);
    case DB_TEXT:
    case DB_BLOB: return XXH3_64bits_withSeed(value->text, value->len, seed + 3);
    default: return XXH3_64bits_withSeed("", 0, seed + 4);
    }
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The share of the first rows that repeat an earlier one in their first `n_columns` columns; NAN: not known. */
static float repeated(const struct look *look, const struct db_result *result, uint32_t n_columns)
{
    uint32_t n = MIN(result->n_rows, MAX_ROWS), same = 0;
    uint64_t *hash = arena_array(look->arena, n + 1, sizeof *hash);
    if (!hash) return (float)NAN;
    if (!n || !result->values) return 0;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n_columns && c < MAX_COLUMNS; c++)
            hash[r] = hash_value(&result->values[(size_t)r * result->n_columns + c], hash[r]);
    qsort(hash, n, sizeof *hash, by_hash);
    for (uint32_t r = 1; r < n; r++) same += hash[r] == hash[r - 1];
    return (float)same / (float)n;
}

static void set_values(struct look *look, const struct db_result *result)
{
    float nulls = 0, numbers = 0;
    size_t n = (size_t)MIN(result->n_rows, MAX_ROWS) * result->n_columns;
    for (size_t i = 0; i < n; i++) {
        nulls += result->values[i].type == DB_NULL;
        numbers += is_number(&result->values[i]);
    }
    if (!n) return;
    look->out[VERIFIER_nulls_share] = nulls / (float)n;
    look->out[VERIFIER_numbers_share] = numbers / (float)n;
    look->out[VERIFIER_first_is_number] = is_number(&result->values[0]);
}

static void set_shape(struct look *look, const struct db_result *result)
{
    const struct db_value *first = result->n_rows && result->n_columns ? &result->values[0] : NULL;
    bool single = first && result->n_rows == 1 && result->n_columns == 1;
    float *out = look->out;
    out[VERIFIER_rows_log] = logf(1 + (float)result->n_rows);
    out[VERIFIER_rows_none] = result->n_rows == 0;
    out[VERIFIER_rows_one] = result->n_rows == 1;
    out[VERIFIER_columns] = (float)result->n_columns;
    out[VERIFIER_single_value] = single;
    out[VERIFIER_single_null] = single && first->type == DB_NULL;
    out[VERIFIER_single_zero] = single && ((first->type == DB_INT && first->i == 0) ||
                                           (first->type == DB_FLOAT && fpclassify(first->f) == FP_ZERO));
    out[VERIFIER_repeated_rows] = repeated(look, result, result->n_columns);
    out[VERIFIER_all_equal] =
        result->n_rows > 1 && out[VERIFIER_repeated_rows] * (float)MIN(result->n_rows, MAX_ROWS) + 1.5F >
                                  (float)MIN(result->n_rows, MAX_ROWS);
}

/* Rows that a key says are one thing, coming back more than once: a join has multiplied them. */
static void set_repeated_keys(struct look *look, const struct db_result *result)
{
    const struct sql_output *output = look->answer && look->answer->n_outputs ? &look->answer->outputs[0] : NULL;
    if (!output || output->table < 0 || output->column < 0) return;
    const struct schema_column *column = look->schema->tables[output->table].columns + output->column;
    look->out[VERIFIER_repeated_keys] = column->unique ? repeated(look, result, 1) : 0;
}

static void set_whole_table(struct look *look, const struct db_result *result)
{
    bool whole = false;
    for (uint32_t t = 0; t < look->schema->n_tables; t++)
        whole |= look->reads[t] && result->n_rows > 1 && look->schema->tables[t].rows == result->n_rows;
    look->out[VERIFIER_rows_of_table] = whole;
}

/* --- the form of the question --- */

static bool starts_with(const struct question *asked, const char *const *words)
{
    for (uint32_t i = 0; i < asked->tokens.n && i < 3; i++)
        for (const char *const *word = words; *word; word++)
            if (strcmp(asked->tokens.items[i].norm, *word) == 0) return true;
    return false;
}

/* Does the asked list speak of many: is one of its last words a plural? */
static bool asks_plural(const struct question *asked)
{
    for (uint32_t p = 0; p < asked->n_asked; p++) {
        uint32_t last = asked->asked[p].first + asked->asked[p].n_tokens;
        const struct text_token *t = last && last <= asked->tokens.n ? &asked->tokens.items[last - 1] : NULL;
        size_t len = t ? strlen(t->norm) : 0;
        if (len > 3 && t->norm[len - 1] == 's' && t->norm[len - 2] != 's' && strcmp(t->norm, t->stem) != 0) return true;
    }
    return false;
}

static void set_form(struct look *look)
{
    static const char *const WHO[] = {"who", "whom", "whose", NULL}, *const WHEN[] = {"when", NULL},
                             *const WHERE[] = {"where", NULL}, *const WHICH[] = {"which", "what", NULL},
                             *const LIST[] = {"list", "show", "give", "find", "return", "display", NULL},
                             *const YES_NO[] = {"is", "are", "does", "do", "did", "was", "were", "has", NULL};
    const struct question *asked = look->asked;
    look->out[VERIFIER_asks_who] = starts_with(asked, WHO);
    look->out[VERIFIER_asks_when] = starts_with(asked, WHEN);
    look->out[VERIFIER_asks_where] = starts_with(asked, WHERE);
    look->out[VERIFIER_asks_which] = starts_with(asked, WHICH);
    look->out[VERIFIER_asks_list] = starts_with(asked, LIST);
    look->out[VERIFIER_asks_how_many] =
        asked->cue_counts[QUESTION_CUE_COUNT] && asked->cues[0].kind == QUESTION_CUE_COUNT;
    look->out[VERIFIER_asks_plural] = asks_plural(asked);
    bool yes_no = false;
    for (const char *const *word = YES_NO; *word && asked->tokens.n; word++)
        yes_no |= strcmp(asked->tokens.items[0].norm, *word) == 0;
    look->out[VERIFIER_asks_yes_no] = yes_no;
}

void look_result(struct look *look)
{
    if (look->asked) set_form(look);
    const struct db_result *result = vsig_result(look->subject);
    if (!result) return;
    set_shape(look, result);
    set_values(look, result);
    set_repeated_keys(look, result);
    set_whole_table(look, result);
}
