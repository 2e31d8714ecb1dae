/* Reads the words of a question and the parts of a printed meaning, and sums the weights of their keys (wording.h).
 *
 * All sets are arrays of hashes with a fixed capacity. wording_score looks up each key when it makes it; only
 * wording_keys stores the keys. */
#include "lib/question/wording.h"

#include "lib/text/text.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    MAX_WORDS = 256,
    MAX_GRAMS = 2 * MAX_WORDS + 1,
    MAX_NAME_WORDS = 16, /* words of a name or literal */
    MAX_PARTS = 1024,
    MAX_ITEMS = 2048, /* items of a printed meaning */
    MAX_NEAR = 4096,
    REACH = 2, /* words on each side of a name */
    WORD_BYTES = 48
};

struct wording_words {
    const struct wording_model *model;
    uint32_t n, n_grams;
    uint32_t words[MAX_WORDS];   /* hashes of the words; 0 separates question and evidence */
    uint32_t numbers[MAX_WORDS]; /* hash of the digits of a number word; else 0 */
    uint32_t common[MAX_WORDS];  /* the hash if the word is common; else 0 */
    uint32_t grams[MAX_GRAMS];   /* hashes of common words and of pairs; sorted, each once */
};

/* --- words --- */

static uint32_t hash_of(const char *text, size_t len)
{
    uint32_t hash = (uint32_t)XXH3_64bits(text, len);
    return hash ? hash : 1;
}

static bool is_letter(char c)
{
    return g_ascii_isalpha(c) || (unsigned char)c >= 0x80;
}

/* Returns the number of bytes of the word at the start of a text. A word is a number, a run of signs, or letters up to
 * a capital that follows a lower-case letter. Returns 0 if the text starts with any other byte. */
static size_t word_length(const char *text, size_t len)
{
    size_t n = 0;
    if (is_letter(*text)) {
        while (n < len && is_letter(text[n]) && !(n && g_ascii_isupper(text[n]) && g_ascii_islower(text[n - 1]))) n++;
    } else if (g_ascii_isdigit(*text)) {
        while (n < len && (g_ascii_isdigit(text[n]) || (text[n] == '.' && n + 1 < len && g_ascii_isdigit(text[n + 1]))))
            n++;
    } else {
        while (n < len && strchr("%<>=", text[n])) n++;
    }
    return n;
}

static uint32_t hash_of_word(struct arena *arena, const char *text, size_t len)
{
    char word[WORD_BYTES];
    len = MIN(len, sizeof word - 1);
    for (size_t i = 0; i < len; i++) word[i] = g_ascii_tolower(text[i]);
    word[len] = '\0';
    const char *stem = is_letter(*word) ? text_stem(arena, word) : word;
    return stem ? hash_of(stem, strlen(stem)) : 1;
}

/* Fills `out` with the hashes of the words of a text. Words of letters need at least `least` bytes. Returns the number
 * of hashes. */
static uint32_t split_words(struct arena *arena, const char *text, size_t len, size_t least, uint32_t *out,
                            uint32_t max)
{
    uint32_t n = 0;
    for (size_t at = 0, size; at < len && n < max; at += size ? size : 1) {
        size = word_length(text + at, len - at);
        if (size && (size >= least || !is_letter(text[at]))) out[n++] = hash_of_word(arena, text + at, size);
    }
    return n;
}

/* Returns the hash of the digits of a number word, because a question says "three" where a query has 3. Returns 0 for
 * any other word. */
static uint32_t number_of(uint32_t word)
{
    static const char *const names[] = {"one",   "two",   "three", "four", "five",   "six",
                                        "seven", "eight", "nine",  "ten",  "eleven", "twelve"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        if (hash_of(names[i], strlen(names[i])) == word) {
            char digits[4];
            int n = g_snprintf(digits, sizeof digits, "%u", i + 1);
            return hash_of(digits, (size_t)n);
        }
    return 0;
}

struct wording_words *wording_read(struct arena *arena, const char *question, const char *evidence)
{
    struct wording_words *wording = arena_new(arena, struct wording_words);
    if (!wording) return NULL;
    wording->n = split_words(arena, question, strlen(question), 1, wording->words, MAX_WORDS);
    if (evidence && wording->n < MAX_WORDS) {
        wording->words[wording->n++] = 0;
        wording->n +=
            split_words(arena, evidence, strlen(evidence), 1, wording->words + wording->n, MAX_WORDS - wording->n);
    }
    for (uint32_t i = 0; i < wording->n; i++) wording->numbers[i] = number_of(wording->words[i]);
    wording_use(wording, wording_bundled());
    return wording;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t sort_once(uint32_t *items, uint32_t n)
{
    uint32_t kept = 0;
    qsort(items, n, sizeof *items, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (!kept || items[kept - 1] != items[i]) items[kept++] = items[i];
    return kept;
}

static uint32_t hash_two(uint32_t a, uint32_t b)
{
    uint32_t both[2] = {a, b};
    return hash_of((const char *)both, sizeof both);
}

void wording_use(struct wording_words *wording, const struct wording_model *model)
{
    wording->model = model;
    wording->n_grams = 0;
    if (!model) return;
    wording->grams[wording->n_grams++] = 1; /* a key of the part without a word */
    for (uint32_t i = 0; i < wording->n; i++) {
        uint32_t word = wording->words[i];
        bool common = word && model->n_common && bsearch(&word, model->common, model->n_common, sizeof word, by_value);
        wording->common[i] = common ? word : 0;
        if (common) wording->grams[wording->n_grams++] = word;
        if (i && (wording->common[i - 1] || common) && word && wording->words[i - 1])
            wording->grams[wording->n_grams++] = hash_two(wording->common[i - 1], wording->common[i]);
    }
    wording->n_grams = sort_once(wording->grams, wording->n_grams);
}

uint32_t wording_words(const struct wording_words *wording, const uint32_t **out)
{
    *out = wording->words;
    return wording->n;
}

/* --- items of a printed meaning --- */

/* A set of positions of words in a question, one bit for each position. */
struct places {
    uint64_t bits[MAX_WORDS / 64];
};

struct wording_item {
    uint32_t hash;
    struct places named; /* positions at which the question names the item */
};

static bool find_places(const struct wording_words *wording, uint32_t word, struct places *places)
{
    bool found = false;
    for (uint32_t i = 0; i < wording->n; i++)
        if (wording->words[i] == word || wording->numbers[i] == word) {
            places->bits[i / 64] |= 1ULL << i % 64;
            found = true;
        }
    return found;
}

/* Makes an item whose hash depends only on its kind and on whether the question names it. A literal is named if the
 * question has all its words. A name is named if the question has one of its words. */
static struct wording_item named_item(struct arena *arena, const struct wording_words *wording, const char *kind,
                                      const char *text, size_t len)
{
    struct wording_item item = {0};
    bool literal = *kind == '\'';
    uint32_t words[MAX_NAME_WORDS], n = split_words(arena, text, len, literal ? 1 : 2, words, MAX_NAME_WORDS),
                                    found = 0;
    for (uint32_t i = 0; i < n; i++) found += find_places(wording, words[i], &item.named);
    bool named = literal ? n && found == n : found > 0;
    item.hash = hash_of(kind, strlen(kind)) + named;
    return item;
}

/* True for numbers that belong to the calculation itself, so that the question need not have them. */
static bool is_constant(const char *text, size_t len)
{
    static const char *const constants[] = {"0", "1", "2", "100", "1.0", "100.0"};
    for (unsigned i = 0; i < G_N_ELEMENTS(constants); i++)
        if (strlen(constants[i]) == len && memcmp(constants[i], text, len) == 0) return true;
    return false;
}

static struct wording_item number_item(struct arena *arena, const struct wording_words *wording, const char *text,
                                       size_t len)
{
    struct wording_item item = named_item(arena, wording, "0", text, len);
    if (is_constant(text, len) && item.hash == hash_of("0", 1)) item.hash = hash_of(text, len);
    return item;
}

/* Words that meaning_print adds, and functions that many databases have. Sorted. */
static const char *const KNOWN[] = {
    "abs",       "after",      "all",        "anti",     "any",      "as",        "ascending", "average",      "before",
    "between",   "by",         "case",       "cast",     "coalesce", "count",     "current",   "date",         "day",
    "default",   "dense_rank", "descending", "distinct", "drop",     "else",      "empty",     "except",       "exists",
    "first",     "following",  "frame",      "from",     "grain",    "group",     "hour",      "if",           "in",
    "inner",     "integers",   "intersect",  "is",       "join",     "julianday", "keep",      "lag",          "last",
    "lead",      "left",       "length",     "like",     "limit",    "lower",     "max",       "maximum",      "min",
    "minimum",   "month",      "not",        "ntile",    "null",     "nullif",    "nulls",     "of",           "offset",
    "one",       "or",         "order",      "outer",    "over",     "partition", "per",       "percent_rank", "period",
    "preceding", "quarter",    "range",      "rank",     "ratio",    "round",     "row",       "row_number",   "rows",
    "self",      "semi",       "strftime",   "substr",   "sum",      "then",      "ties",      "to",           "total",
    "unbounded", "union",      "upper",      "value",    "week",     "when",      "where",     "with",         "x",
    "year"};

static int by_name(const void *key, const void *entry)
{
    return strcmp(key, *(const char *const *)entry);
}

static bool is_known(const char *text, size_t len)
{
    char word[WORD_BYTES];
    if (len >= sizeof word) return false;
    for (size_t i = 0; i < len; i++) word[i] = g_ascii_tolower(text[i]);
    word[len] = '\0';
    return bsearch(word, KNOWN, G_N_ELEMENTS(KNOWN), sizeof *KNOWN, by_name);
}

/* True for the name of a relation: "q1". */
static bool is_relation(const char *text, size_t len)
{
    if (len < 2 || text[0] != 'q') return false;
    for (size_t i = 1; i < len; i++)
        if (!g_ascii_isdigit(text[i])) return false;
    return true;
}

static bool is_name_byte(char c)
{
    return is_letter(c) || g_ascii_isdigit(c) || c == '_' || c == '$';
}

/* Reads a name: "orders.channel", "orders#2.channel", "orders", "sum". *size gets its length in bytes. */
static struct wording_item name_item(struct arena *arena, const struct wording_words *wording, const char *text,
                                     size_t *size)
{
    size_t n = 0, dot;
    while (is_name_byte(text[n])) n++;
    dot = n;
    if (text[dot] == '#')
        while (dot++, g_ascii_isdigit(text[dot])) {
        }
    if (text[dot] == '.' && is_name_byte(text[dot + 1])) {
        size_t end = dot + 1;
        while (is_name_byte(text[end])) end++;
        *size = end;
        if (is_relation(text, n)) return (struct wording_item){.hash = hash_of("q.", 2)};
        return named_item(arena, wording, "column", text + dot + 1, end - dot - 1);
    }
    *size = dot;
    if (is_known(text, n)) return (struct wording_item){.hash = hash_of(text, n)};
    if (is_relation(text, n)) return (struct wording_item){.hash = hash_of("q", 1)};
    return named_item(arena, wording, "name", text, n);
}

/* Reads the item at the start of a text. *size gets its length in bytes. Returns false if the text does not begin with
 * an item. */
static bool read_item(struct arena *arena, const struct wording_words *wording, const char *text, size_t *size,
                      struct wording_item *out)
{
    if (*text == '\'') {
        size_t n = 1;
        while (text[n] && !(text[n] == '\'' && text[n + 1] != '\'')) n += text[n] == '\'' ? 2 : 1;
        *size = n + (text[n] == '\'');
        *out = named_item(arena, wording, "'", text + 1, n - 1);
        return true;
    }
    if (g_ascii_isdigit(*text)) {
        size_t n = 1;
        while (g_ascii_isdigit(text[n]) || (text[n] && strchr(".-:", text[n]) && g_ascii_isdigit(text[n + 1]))) n++;
        *size = n;
        *out = number_item(arena, wording, text, n);
        return true;
    }
    if (is_letter(*text) || *text == '_') {
        *out = name_item(arena, wording, text, size);
        return true;
    }
    size_t n = strspn(text, "<>=!");
    *size = n ? n : 1;
    if (n == 0 && !strchr("-+*/%(),:", *text)) return false;
    *out = (struct wording_item){.hash = hash_of(text, *size)};
    return true;
}

/* --- parts --- */

struct wording_parts {
    struct arena *arena;
    const struct wording_words *wording;
    uint64_t parts[MAX_PARTS]; /* sorted, each once, after merge_parts */
    uint64_t near[MAX_NEAR];   /* keys of named parts with the words near their names; sorted, each once, after
                                * merge_parts */
    uint32_t n, n_near;
};

static uint64_t mix_key(uint64_t part, uint32_t word)
{
    uint64_t x = (part ^ word * 0xC2B2AE3D27D4EB4FULL) * 0x9E3779B97F4A7C15ULL;
    x ^= x >> 32;
    return x * 0xBF58476D1CE4E5B9ULL;
}

static void add_near(struct wording_parts *parts, uint64_t part, uint32_t place)
{
    const struct wording_words *wording = parts->wording;
    uint32_t first = place > REACH ? place - REACH : 0, last = MIN(place + REACH, wording->n - 1);
    for (uint32_t i = first; i <= last && parts->n_near < MAX_NEAR; i++)
        if (i != place && wording->common[i])
            parts->near[parts->n_near++] = mix_key(part, wording->common[i] + (i < place ? 2 : 3));
}

static void add_part(struct wording_parts *parts, uint64_t part, const struct places *named)
{
    if (parts->n < MAX_PARTS) parts->parts[parts->n++] = part;
    for (uint32_t w = 0; named && w < G_N_ELEMENTS(named->bits); w++)
        for (uint64_t bits = named->bits[w]; bits; bits &= bits - 1)
            add_near(parts, part, w * 64 + (uint32_t)__builtin_ctzll(bits));
}

static void add_item(struct wording_parts *parts, uint64_t line, const struct wording_item *before,
                     const struct wording_item *item)
{
    add_part(parts, mix_key(line, item->hash), &item->named);
    if (!before) return;
    struct places both = item->named;
    for (unsigned w = 0; w < G_N_ELEMENTS(both.bits); w++) both.bits[w] |= before->named.bits[w];
    add_part(parts, mix_key(mix_key(line, before->hash), item->hash), &both);
}

/* Returns the hash of the name of a line, without its number, and moves *text past the name. Lines of inner relations
 * have different hashes. */
static uint64_t read_line_name(const char **text)
{
    const char *at = *text;
    bool inner = *at == ' ';
    while (*at == ' ' || g_ascii_isdigit(*at)) at++;
    const char *name = at;
    while (g_ascii_isalpha(*at)) at++;
    size_t n = (size_t)(at - name);
    while (g_ascii_isdigit(*at)) at++;
    *text = at;
    return mix_key(inner, hash_of(name, n));
}

static void read_line(struct wording_parts *parts, const char *text, const char *end, uint32_t *budget)
{
    struct wording_item items[2];
    bool first = true;
    uint64_t line = read_line_name(&text);
    add_part(parts, line, NULL);
    for (unsigned i = 0; text < end && *budget; text++) {
        size_t size = 1;
        if (!read_item(parts->arena, parts->wording, text, &size, &items[i])) continue;
        add_item(parts, line, first ? NULL : &items[1 - i], &items[i]);
        text += size - 1;
        first = false;
        i = 1 - i;
        --*budget;
    }
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorts the parts and removes repeats. A part that occurs more than once adds one further part that says so. */
static void merge_parts(struct wording_parts *parts)
{
    uint32_t kept = 0, n = parts->n;
    uint64_t *all = parts->parts;
    qsort(all, n, sizeof *all, by_key);
    for (uint32_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && all[i + run] == all[i]; run++) {
        }
        uint64_t part = all[i];
        all[kept++] = part;
        if (run > 1) all[kept++] = part + 1;
    }
    parts->n = kept;
    kept = 0;
    qsort(parts->near, parts->n_near, sizeof *parts->near, by_key);
    for (uint32_t i = 0; i < parts->n_near; i++)
        if (!kept || parts->near[kept - 1] != parts->near[i]) parts->near[kept++] = parts->near[i];
    parts->n_near = kept;
}

static struct wording_parts *read_parts(struct arena *arena, const struct wording_words *wording,
                                        const struct meaning *meaning)
{
    struct wording_parts *parts = wording->model && meaning ? arena_alloc(arena, sizeof *parts) : NULL;
    const char *text = parts ? meaning_print(arena, meaning) : NULL;
    uint32_t budget = MAX_ITEMS;
    if (!text) return NULL;
    parts->arena = arena;
    parts->wording = wording;
    parts->n = parts->n_near = 0;
    while (*text) {
        const char *end = strchr(text, '\n');
        if (!end) end = text + strlen(text);
        if (end > text) read_line(parts, text, end, &budget);
        text = *end ? end + 1 : end;
    }
    merge_parts(parts);
    return parts;
}

/* --- keys --- */

uint32_t wording_keys(struct arena *arena, const struct wording_words *wording, const struct meaning *meaning,
                      const uint64_t **out)
{
    const struct wording_parts *parts = read_parts(arena, wording, meaning);
    size_t max = parts ? (size_t)parts->n * wording->n_grams + parts->n_near : 0;
    uint64_t *keys = parts ? arena_new_array(arena, max + 1, uint64_t) : NULL;
    uint32_t n = 0;
    *out = keys;
    if (!keys) return 0;
    for (uint32_t i = 0; i < parts->n; i++)
        for (uint32_t k = 0; k < wording->n_grams; k++) keys[n++] = mix_key(parts->parts[i], wording->grams[k]);
    memcpy(keys + n, parts->near, parts->n_near * sizeof *keys);
    return n + parts->n_near;
}

struct wording_score wording_score(struct arena *arena, const struct wording_words *wording,
                                   const struct meaning *meaning)
{
    struct wording_score out = {(float)NAN, (float)NAN, (float)NAN};
    const struct wording_parts *parts = read_parts(arena, wording, meaning);
    if (!parts || !parts->n) return out;
    const struct wording_model *model = wording->model;
    int32_t sum = 0, least = INT32_MAX;
    for (uint32_t i = 0; i < parts->n; i++) {
        int32_t part = 0;
        for (uint32_t k = 0; k < wording->n_grams; k++)
            part += model->weights[wording_place(model, mix_key(parts->parts[i], wording->grams[k]))];
        sum += part;
        least = MIN(least, part);
    }
    for (uint32_t i = 0; i < parts->n_near; i++) sum += model->weights[wording_place(model, parts->near[i])];
    out.sum = model->scale * (float)sum;
    out.mean = out.sum / sqrtf((float)parts->n * (float)wording->n_grams + (float)parts->n_near);
    out.least = model->scale * (float)least;
    return out;
}
