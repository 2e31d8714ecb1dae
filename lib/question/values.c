/* Reads the values that the question states: quoted texts, numbers, runs of words that the database holds, and other
 * proper names.
 *
 * At each word, the longest run that the value index holds becomes a value. A run in lower case has at most
 * MAX_PLAIN_RUN words: longer runs are rarely values, and each try costs a lookup. MAX_TRIES limits the lookups of a
 * question. */
#include "lib/question/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_HITS = 8, MAX_RUN = 6, MAX_PLAIN_RUN = 3, MAX_TRIES = 1200, MAX_VALUE_BYTES = 200 };

static const struct {
    const char *word;
    double number;
} TIMES[] = {{"once", 1}, {"twice", 2}, {"thrice", 3}};

static struct question_value *push(struct reader *reader, enum question_value_kind kind, uint32_t first, uint32_t n)
{
    struct question *out = reader->out;
    if (out->n_values == READ_MAX_VALUES) return NULL;
    struct question_value *value = &out->values[out->n_values++];
    const struct text_token *tokens = out->tokens.items;
    *value = (struct question_value){
        .kind = kind, .first = first, .n_tokens = n, .start = tokens[first].start, .end = tokens[first + n - 1].end};
    return value;
}

static bool keep_hits(struct reader *reader, struct question_value *value, const struct schema_hit *hits, uint32_t n)
{
    if (!n) return true;
    struct schema_hit *kept = arena_array(reader->arena, n, sizeof *kept);
    if (!kept) return false;
    memcpy(kept, hits, n * sizeof *kept);
    value->hits = kept;
    value->n_hits = n;
    return true;
}

/* Returns the length in bytes of the UTF-8 character at p. */
static uint32_t char_len(const char *p)
{
    unsigned char c = (unsigned char)*p;
    return c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

static bool add_quoted(struct reader *reader, uint32_t i)
{
    const struct text_token *token = &reader->out->tokens.items[i];
    const char *source = reader->out->text;
    struct question_value *value = push(reader, QUESTION_VALUE_QUOTED, i, 1);
    if (!value) return true;
    uint32_t quote = char_len(source + token->start), start = token->start + quote;
    uint32_t end = token->end > start + quote ? token->end - quote : start;
    while (start < end && source[start] == ' ') start++;
    while (end > start && source[end - 1] == ' ') end--;
    value->text = arena_strndup(reader->arena, source + start, end - start);
    value->capital = true;
    if (!value->text) return false;
    struct schema_hit hits[MAX_HITS];
    uint32_t n = end - start <= MAX_VALUE_BYTES
                     ? schema_values_with(reader->schema, value->text, end - start, hits, MAX_HITS)
                     : 0;
    return keep_hits(reader, value, hits, n);
}

/* Words that multiply the number before them: "ten million", "200 thousand". */
static const struct {
    const char *word;
    double factor;
} SCALES[] = {{"hundred", 100}, {"thousand", 1e3}, {"million", 1e6},   {"millions", 1e6},
              {"billion", 1e9}, {"billions", 1e9}, {"trillion", 1e12}, {"trillions", 1e12}};

/* Returns the number of scale words after the number at `i`. Multiplies *factor by each. */
static uint32_t scale_words(const struct text_tokens *tokens, uint32_t i, double *factor)
{
    uint32_t n = 0;
    for (bool found = true; found && i + n + 1 < tokens->n; n += found) {
        const struct text_token *token = &tokens->items[i + n + 1];
        found = false;
        for (size_t s = 0; s < sizeof SCALES / sizeof SCALES[0] && token->kind == TEXT_WORD && !found; s++) {
            found = strcmp(token->norm, SCALES[s].word) == 0;
            if (found) *factor *= SCALES[s].factor;
        }
    }
    return n;
}

static bool is_times(const struct text_token *token, double *number)
{
    for (size_t i = 0; i < sizeof TIMES / sizeof TIMES[0]; i++)
        if (strcmp(token->norm, TIMES[i].word) == 0) return *number = TIMES[i].number, true;
    return false;
}

/* Adds the number at token `i`. Sets *taken to the number of tokens that it has. */
static bool add_number(struct reader *reader, uint32_t i, double number, bool spelled, uint32_t *taken)
{
    double factor = 1;
    *taken = 1 + scale_words(&reader->out->tokens, i, &factor);
    struct question_value *value = push(reader, QUESTION_VALUE_NUMBER, i, *taken);
    if (!value) return true;
    value->number = number;
    value->scaled = number * factor;
    value->spelled = spelled;
    bool whole = floor(number) == number && fabs(number) < 1e15;
    value->text = whole ? arena_printf(reader->arena, "%.0f", number) : arena_printf(reader->arena, "%.12g", number);
    return value->text != NULL;
}

static bool starts_sentence(const struct text_tokens *tokens, uint32_t i)
{
    if (i == 0) return true;
    const char *before = tokens->items[i - 1].norm;
    return tokens->items[i - 1].kind == TEXT_PUNCT && strchr(".?!:;", before[0]);
}

static bool proper(const struct text_tokens *tokens, uint32_t i)
{
    return tokens->items[i].is_capital && !starts_sentence(tokens, i);
}

static bool may_start(const struct text_tokens *tokens, uint32_t i)
{
    const struct text_token *token = &tokens->items[i];
    if (token->kind == TEXT_NUMBER) return true;
    return token->kind == TEXT_WORD && (!token->is_stop || proper(tokens, i));
}

static bool may_end(const struct text_tokens *tokens, uint32_t i)
{
    return may_start(tokens, i);
}

/* Returns the maximum length of a run that begins at `first`. */
static uint32_t run_room(const struct text_tokens *tokens, uint32_t first, uint32_t limit)
{
    uint32_t n = 0, room = MAX_PLAIN_RUN;
    for (; first + n < limit && n < MAX_RUN; n++) {
        const struct text_token *token = &tokens->items[first + n];
        if (token->kind == TEXT_QUOTED || (token->kind == TEXT_PUNCT && strchr("?!;()", token->norm[0]))) break;
        if (token->is_capital || token->kind == TEXT_NUMBER) room = MAX_RUN;
    }
    return n < room ? n : room;
}

/* True if the run may be a proper name: it has a capitalised word that does not begin a sentence, or it has several
 * words and one is a number. */
static bool has_capital(const struct text_tokens *tokens, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (proper(tokens, i) || (n > 1 && tokens->items[i].kind == TEXT_NUMBER)) return true;
    return false;
}

static bool is_all_name(const struct question *out, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++) {
        if (out->tokens.items[i].is_stop || out->tokens.items[i].kind == TEXT_PUNCT) continue;
        const struct question_mention *column = read_mention_at(out, i, true), *table = read_mention_at(out, i, false);
        if (!(column && column->score > 0.9) && !(table && table->score > 0.9)) return false;
    }
    return true;
}

/* Looks up the runs that begin at `first`, longest first. Returns the number of tokens of the found run; 0 if the
 * database holds none of them. */
static uint32_t add_known_run(struct reader *reader, uint32_t first, uint32_t limit, uint32_t *tries, bool *full)
{
    const struct text_tokens *tokens = &reader->out->tokens;
    struct schema_hit hits[MAX_HITS];
    for (uint32_t n = run_room(tokens, first, limit); n > 0; n--) {
        if (!may_end(tokens, first + n - 1) || (n == 1 && tokens->items[first].is_number) || *tries == 0) continue;
        uint32_t start = tokens->items[first].start, end = tokens->items[first + n - 1].end;
        if (end - start > MAX_VALUE_BYTES) continue;
        --*tries;
        uint32_t found = schema_values_with(reader->schema, reader->out->text + start, end - start, hits, MAX_HITS);
        if (!found) continue;
        struct question_value *value = push(reader, QUESTION_VALUE_DATABASE, first, n);
        if (!value) return 0;
        value->text = arena_strndup(reader->arena, reader->out->text + start, end - start);
        value->capital = has_capital(tokens, first, n);
        value->is_name = is_all_name(reader->out, first, n);
        *full |= !value->text || !keep_hits(reader, value, hits, found);
        return n;
    }
    return 0;
}

static uint32_t add_proper_run(struct reader *reader, uint32_t first, uint32_t limit, bool *full)
{
    const struct text_tokens *tokens = &reader->out->tokens;
    uint32_t n = 0;
    while (first + n < limit && tokens->items[first + n].kind == TEXT_WORD && proper(tokens, first + n) &&
           !tokens->items[first + n].is_stop)
        n++;
    struct question_value *value = n ? push(reader, QUESTION_VALUE_NAME, first, n) : NULL;
    if (!value) return 0;
    value->text = arena_strndup(reader->arena, reader->out->text + value->start, value->end - value->start);
    value->capital = true;
    value->is_name = is_all_name(reader->out, first, n);
    *full |= !value->text;
    return n;
}

bool read_values(struct reader *reader)
{
    struct question *out = reader->out;
    const struct text_tokens *tokens = &out->tokens;
    bool full = !(out->values = arena_alloc(reader->arena, READ_MAX_VALUES * sizeof *out->values));
    uint32_t tries = MAX_TRIES;
    for (uint32_t i = 0, n; i < tokens->n && !full; i += n ? n : 1) {
        const struct text_token *token = &tokens->items[i];
        double times;
        n = 0;
        if (token->kind == TEXT_QUOTED)
            full = !add_quoted(reader, i);
        else if (may_start(tokens, i) && (n = add_known_run(reader, i, tokens->n, &tries, &full)))
            continue;
        else if (token->is_number)
            full = !add_number(reader, i, token->number, token->kind == TEXT_WORD, &n);
        else if (is_times(token, &times))
            full = !add_number(reader, i, times, true, &n);
        else
            n = add_proper_run(reader, i, tokens->n, &full);
    }
    return !full;
}
