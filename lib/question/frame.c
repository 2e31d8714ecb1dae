/* Reads the frame of a question by word patterns (lib/question/pattern.h, lib/question/frame_rows.h).
 *
 * At each token, the row that matches the most tokens wins; of several, the first one. No other row can match these
 * tokens. So IDIOM rows hide words, and a longer row hides a shorter one. A row may require that an element of another
 * kind precedes it. For example, "of all" compares with the whole only after a share.
 *
 * Some tokens are read as others: "doesn't" as "not", "customer's" as "x's", "7-day" and "three-month" as "n-day",
 * "company-wide" as "x-wide". A word that no row has is read as its base: "skipping" as "skip". So rows list an
 * inflected form only if its base has another meaning, or if it is already in the table. */
#include "lib/question/frame.h"

#include "lib/question/pattern.h"

#include <pthread.h>
#include <string.h>

static const struct frame_row {
    const char *pattern;
    enum frame_kind kind;
    unsigned needs; /* kinds of elements of which one must precede the row; 0 if none is needed */
} ROWS[] = {
#define X(pattern, kind, needs) {pattern, FRAME_##kind, needs},
#include "lib/question/frame_rows.h"
#undef X
};

enum { WORD_ROOM = 32 };

static const struct pattern_table *rules;

static void compile_rules(void)
{
    rules = pattern_compile(ROWS, sizeof *ROWS, sizeof ROWS / sizeof *ROWS);
}

static void rules_ready(void)
{
    static pthread_once_t built = PTHREAD_ONCE_INIT;
    pthread_once(&built, compile_rules);
}

struct frame_scan {
    struct pattern_text text; /* first member, because accept_row casts a pointer to it */
    const struct question_frame *frame;
};

static bool accept_row(const struct pattern_text *text, uint32_t row, uint32_t first, uint32_t n_tokens)
{
    (void)first, (void)n_tokens;
    const struct frame_scan *scan = (const struct frame_scan *)text;
    return !ROWS[row].needs || ROWS[row].needs & scan->frame->kinds;
}

static bool ends_with(const char *word, const char *end)
{
    size_t n = strlen(word), n_end = strlen(end);
    return n > n_end && strcmp(word + n - n_end, end) == 0;
}

/* Returns the number of the word that consists of the first n bytes of `word` and of `end`. */
static uint32_t find_word(const char *word, size_t n, const char *end)
{
    char copy[WORD_ROOM];
    if (n < 3 || n + strlen(end) >= sizeof copy) return PATTERN_NO_WORD;
    memcpy(copy, word, n);
    memcpy(copy + n, end, strlen(end) + 1);
    return pattern_word(rules, copy);
}

/* Returns the number of the base of an inflected word: "skip" for "skipping". */
static uint32_t find_base(const char *word)
{
    static const struct {
        const char *end, *instead;
        bool doubled; /* true if the letter before the ending is doubled */
    } endings[] = {{"ies", "y", false}, {"es", "", false}, {"s", "", false},   {"ied", "y", false}, {"ed", "", false},
                   {"ed", "e", false},  {"ed", "", true},  {"ing", "", false}, {"ing", "e", false}, {"ing", "", true}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!ends_with(word, endings[i].end) || ends_with(word, "ss")) continue;
        size_t n = strlen(word) - strlen(endings[i].end);
        if (endings[i].doubled && (n < 2 || word[n - 1] != word[n - 2])) continue;
        uint32_t id = find_word(word, n - endings[i].doubled, endings[i].instead);
        if (id != PATTERN_NO_WORD) return id;
    }
    return PATTERN_NO_WORD;
}

/* Returns the number of the word as which a token is read. */
static uint32_t read_as(const char *word)
{
    uint32_t id = pattern_word(rules, word);
    if (id != PATTERN_NO_WORD) return id;
    if (ends_with(word, "n't") || ends_with(word, "n\xE2\x80\x99t")) return pattern_word(rules, "not");
    if (ends_with(word, "'s") || ends_with(word, "\xE2\x80\x99s")) return pattern_word(rules, "x's");
    if (ends_with(word, "-wide")) return pattern_word(rules, "x-wide");
    return text_number_in_span(word) ? pattern_word(rules, "n-day") : find_base(word);
}

static int number_in(const struct pattern_text *text, uint32_t first, uint32_t n_tokens)
{
    for (uint32_t i = first; i < first + n_tokens; i++)
        if (text->value_at[i] >= 0) return text->value_at[i];
    return -1;
}

const struct question_frame *frame_read(struct arena *arena, const struct question *question)
{
    rules_ready();
    struct question_frame *frame = arena_new(arena, struct question_frame);
    struct frame_scan scan = {.frame = frame};
    if (!frame || !pattern_read(&scan.text, arena, rules, question)) return NULL;
    scan.text.accept = accept_row;
    for (uint32_t i = 0; i < question->tokens.n; i++) {
        const struct text_token *t = &question->tokens.items[i];
        if (t->kind == TEXT_WORD) scan.text.ids[i] = read_as(t->norm);
    }
    for (uint32_t i = 0, taken; i < question->tokens.n && frame->n < FRAME_MAX_ELEMENTS; i += taken) {
        int row = pattern_at(&scan.text, i, &taken);
        if (row < 0) taken = 1;
        if (row < 0 || ROWS[row].kind == FRAME_IDIOM) continue;
        frame->elements[frame->n++] = (struct frame_element){ROWS[row].kind, i, taken, number_in(&scan.text, i, taken)};
        frame->kinds |= 1U << ROWS[row].kind;
    }
    return frame;
}

const struct frame_element *frame_find(const struct question_frame *frame, enum frame_kind kind)
{
    for (uint32_t i = 0; frame && i < frame->n; i++)
        if (frame->elements[i].kind == kind) return &frame->elements[i];
    return NULL;
}

const char *frame_kind_name(enum frame_kind kind)
{
    static const char *const names[] = {
#define X(kind, name) name,
        FRAME_KINDS(X)
#undef X
    };
    return (unsigned)kind < FRAME_KIND_COUNT ? names[kind] : "?";
}
