/* Describes the result and the form of the question, so that a model can compare them.
 *
 * Features of the result are its size, NULLs, numbers, repeated rows and repeated keys. Features of the question are
 * its first words (who, when, list), "how many" and plurals. Without a result, only features of the question are set.
 * At most MAX_ROWS rows are read. */
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

/* Returns the share of rows that repeat an earlier row in the first `n_columns` columns. Reads only the first rows.
 * Returns NAN if unknown. */
static float repeated(const struct extraction *ex, const struct db_result *result, uint32_t n_columns)
{
    uint32_t n = MIN(result->n_rows, MAX_ROWS), same = 0;
    uint64_t *hash = arena_array(ex->arena, n + 1, sizeof *hash);
    if (!hash) return (float)NAN;
    if (!n || !result->values) return 0;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n_columns && c < MAX_COLUMNS; c++)
            hash[r] = hash_value(&result->values[(size_t)r * result->n_columns + c], hash[r]);
    qsort(hash, n, sizeof *hash, by_hash);
    for (uint32_t r = 1; r < n; r++) same += hash[r] == hash[r - 1];
    return (float)same / (float)n;
}

static void set_values(struct extraction *ex, const struct db_result *result)
{
    float nulls = 0, numbers = 0;
    size_t n = (size_t)MIN(result->n_rows, MAX_ROWS) * result->n_columns;
    for (size_t i = 0; i < n; i++) {
        nulls += result->values[i].type == DB_NULL;
        numbers += is_number(&result->values[i]);
    }
    if (!n) return;
    ex->out[FEATURE_nulls_share] = nulls / (float)n;
    ex->out[FEATURE_numbers_share] = numbers / (float)n;
    ex->out[FEATURE_first_is_number] = is_number(&result->values[0]);
}

static void set_shape(struct extraction *ex, const struct db_result *result)
{
    const struct db_value *first = result->n_rows && result->n_columns ? &result->values[0] : NULL;
    bool single = first && result->n_rows == 1 && result->n_columns == 1;
    float *out = ex->out;
    out[FEATURE_rows_log] = logf(1 + (float)result->n_rows);
    out[FEATURE_rows_none] = result->n_rows == 0;
    out[FEATURE_rows_one] = result->n_rows == 1;
    out[FEATURE_columns] = (float)result->n_columns;
    out[FEATURE_single_value] = single;
    out[FEATURE_single_null] = single && first->type == DB_NULL;
    out[FEATURE_single_zero] = single && ((first->type == DB_INT && first->i == 0) ||
                                          (first->type == DB_FLOAT && fpclassify(first->f) == FP_ZERO));
    out[FEATURE_repeated_rows] = repeated(ex, result, result->n_columns);
    out[FEATURE_all_equal] =
        result->n_rows > 1 &&
        out[FEATURE_repeated_rows] * (float)MIN(result->n_rows, MAX_ROWS) + 1.5F > (float)MIN(result->n_rows, MAX_ROWS);
}

/* Sets the share of rows that repeat a key in the first column, which shows that a join has multiplied rows. */
static void set_repeated_keys(struct extraction *ex, const struct db_result *result)
{
    const struct sql_output *output = ex->answer && ex->answer->n_outputs ? &ex->answer->outputs[0] : NULL;
    if (!output || output->table < 0 || output->column < 0) return;
    const struct schema_column *column = ex->schema->tables[output->table].columns + output->column;
    ex->out[FEATURE_repeated_keys] = column->unique ? repeated(ex, result, 1) : 0;
}

static void set_whole_table(struct extraction *ex, const struct db_result *result)
{
    bool whole = false;
    for (uint32_t t = 0; t < ex->schema->n_tables; t++)
        whole |= ex->reads[t] && result->n_rows > 1 && ex->schema->tables[t].rows == result->n_rows;
    ex->out[FEATURE_rows_of_table] = whole;
}

/* --- the form of the question --- */

static bool starts_with(const struct question *question, const char *const *words)
{
    for (uint32_t i = 0; i < question->tokens.n && i < 3; i++)
        for (const char *const *word = words; *word; word++)
            if (strcmp(question->tokens.items[i].norm, *word) == 0) return true;
    return false;
}

/* True if the question requests several items, because a requested output ends with a plural. */
static bool asks_plural(const struct question *question)
{
    for (uint32_t p = 0; p < question->n_outputs; p++) {
        uint32_t last = question->outputs[p].first + question->outputs[p].n_tokens;
        const struct text_token *t = last && last <= question->tokens.n ? &question->tokens.items[last - 1] : NULL;
        size_t len = t ? strlen(t->norm) : 0;
        if (len > 3 && t->norm[len - 1] == 's' && t->norm[len - 2] != 's' && strcmp(t->norm, t->stem) != 0) return true;
    }
    return false;
}

static void set_form(struct extraction *ex)
{
    static const char *const WHO[] = {"who", "whom", "whose", NULL}, *const WHEN[] = {"when", NULL},
                             *const WHERE[] = {"where", NULL}, *const WHICH[] = {"which", "what", NULL},
                             *const LIST[] = {"list", "show", "give", "find", "return", "display", NULL},
                             *const YES_NO[] = {"is", "are", "does", "do", "did", "was", "were", "has", NULL};
    const struct question *question = ex->question;
    ex->out[FEATURE_asks_who] = starts_with(question, WHO);
    ex->out[FEATURE_asks_when] = starts_with(question, WHEN);
    ex->out[FEATURE_asks_where] = starts_with(question, WHERE);
    ex->out[FEATURE_asks_which] = starts_with(question, WHICH);
    ex->out[FEATURE_asks_list] = starts_with(question, LIST);
    ex->out[FEATURE_asks_how_many] =
        question->cue_counts[QUESTION_CUE_COUNT] && question->cues[0].kind == QUESTION_CUE_COUNT;
    ex->out[FEATURE_asks_plural] = asks_plural(question);
    bool yes_no = false;
    for (const char *const *word = YES_NO; *word && question->tokens.n; word++)
        yes_no |= strcmp(question->tokens.items[0].norm, *word) == 0;
    ex->out[FEATURE_asks_yes_no] = yes_no;
}

void extract_result(struct extraction *ex)
{
    if (ex->question) set_form(ex);
    const struct db_result *result = vsig_result(ex->subject);
    if (!result) return;
    set_shape(ex, result);
    set_values(ex, result);
    set_repeated_keys(ex, result);
    set_whole_table(ex, result);
}
