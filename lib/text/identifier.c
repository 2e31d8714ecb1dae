/* Splits names of tables and columns into words.
 *
 * A name is split at each character that is neither a letter nor a digit. It is also split at a change of case
 * (avgSalary, HTTPServer), and between letters and digits. Two known words that are written as one (firstname, stuid)
 * are split, too. Abbreviations are then expanded. If an expansion has several words, it gives several tokens with the
 * same span. */
#include "lib/text/internal.h"

#include <glib.h>
#include <string.h>

enum part { PART_NONE, PART_LOWER, PART_UPPER, PART_DIGIT };

static enum part part_of(uint32_t cp)
{
    if (cp == '_' || !is_word_char(cp)) return PART_NONE;
    if (cp < 0x80 ? g_ascii_isdigit((char)cp) : g_unichar_isdigit(cp)) return PART_DIGIT;
    return (cp < 0x80 ? g_ascii_isupper((char)cp) : g_unichar_isupper(cp)) ? PART_UPPER : PART_LOWER;
}

static enum part part_at(const char *p, const char *end, unsigned *n)
{
    uint32_t cp = 0;
    *n = p < end ? utf8_read(p, end, &cp) : 0;
    return p < end ? part_of(cp) : PART_NONE;
}

/* Returns the end of the word that starts at p. */
static const char *word_end(const char *p, const char *end)
{
    unsigned n, next_n;
    enum part last = part_at(p, end, &n);
    for (p += n;; p += n) {
        enum part now = part_at(p, end, &n);
        if (now == PART_NONE) return p;
        if ((now == PART_DIGIT) != (last == PART_DIGIT)) return p;
        if (last == PART_LOWER && now == PART_UPPER) return p;
        /* the last capital of a run begins the next word: HTTP|Server. An exception is a plural s: IDs is one word. */
        if (last == PART_UPPER && now == PART_UPPER && part_at(p + n, end, &next_n) == PART_LOWER) {
            unsigned after;
            if (!(p[n] == 's' && part_at(p + n + next_n, end, &after) != PART_LOWER)) return p;
        }
        last = now;
    }
}

static bool push_word(struct token_list *list, const char *word, size_t len, uint32_t start, uint32_t end)
{
    struct text_token *token = token_push(list);
    if (!token) return false;
    token->kind = g_ascii_isdigit(*word) ? TEXT_NUMBER : TEXT_WORD;
    token->start = start;
    token->end = end;
    char *norm = arena_strndup(list->arena, word, len);
    if (token->kind == TEXT_NUMBER && norm) {
        token->is_number = true;
        token->number = g_ascii_strtod(norm, NULL);
    }
    return token_finish(list->arena, token, norm);
}

static bool push_phrase(struct token_list *list, const char *phrase, uint32_t start, uint32_t end)
{
    while (*phrase) {
        size_t n = strcspn(phrase, " ");
        if (!push_word(list, phrase, n, start, end)) return false;
        phrase += n + (phrase[n] == ' ');
    }
    return true;
}

static bool push_expanded(struct token_list *list, const char *word, uint32_t start, uint32_t end)
{
    const struct lexeme *known = lexeme_find(word);
    bool expand = known && known->expansion && (!known->expands_inside || list->n > 0);
    return push_phrase(list, expand ? known->expansion : word, start, end);
}

static bool is_known(const char *word)
{
    const struct lexeme *known = lexeme_find(word);
    if (known && (known->is_known || known->expansion)) return true;
    char stem[WORD_MAX];
    stem_into(word, stem);
    known = lexeme_find(stem);
    return known && known->n_groups;
}

/* Words that may be the second half of a name written as one word. */
static const struct tail {
    const char *text;
    size_t len;
} TAILS[] = {
#define TAIL(text)                                                                                                     \
    {                                                                                                                  \
        text, sizeof(text) - 1                                                                                         \
    }
    TAIL("id"),     TAIL("name"), TAIL("no"),   TAIL("num"),   TAIL("code"), TAIL("date"),  TAIL("type"),
    TAIL("number"), TAIL("time"), TAIL("desc"), TAIL("count"), TAIL("year"), TAIL("title"), TAIL("address"),
#undef TAIL
};

/* True if the word ends with the tail. Compares the last letter first, because it nearly always decides. */
static bool has_tail(const char *word, size_t len, const struct tail *tail)
{
    return len >= tail->len + 3 && word[len - 1] == tail->text[tail->len - 1] &&
           memcmp(word + len - tail->len, tail->text, tail->len) == 0;
}

static bool is_whole(const char *word)
{
    const struct lexeme *known = lexeme_find(word);
    return known && (known->expansion || known->is_stop || known->is_known);
}

/* Returns the length of the first half of a word such as "firstname" or "stuid"; 0 if it has no halves. The second half
 * must be one of TAILS, and the first a known word. */
static size_t glued(const char *word)
{
    size_t len = strlen(word);
    if (len >= WORD_MAX) return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(TAILS); i++) {
        if (!has_tail(word, len, &TAILS[i])) continue;
        if (is_whole(word)) return 0;
        char head[WORD_MAX];
        size_t n = len - TAILS[i].len;
        memcpy(head, word, n);
        head[n] = '\0';
        if (is_known(head)) return n;
    }
    return 0;
}

bool is_plain_word(const char *name, size_t len)
{
    char word[WORD_MAX];
    if (len == 0 || len >= sizeof word) return false;
    for (size_t i = 0; i < len; i++) {
        if (name[i] < 'a' || name[i] > 'z') return false;
        word[i] = name[i];
    }
    word[len] = '\0';
    const struct lexeme *known = lexeme_find(word);
    bool expanded = known && known->expansion && !known->expands_inside;
    return !expanded && !glued(word);
}

static bool push_piece(struct token_list *list, const char *name, const char *p, const char *end)
{
    char *word = text_fold(list->arena, p, (size_t)(end - p));
    if (!word) return false;
    uint32_t start = (uint32_t)(p - name), stop = (uint32_t)(end - name);
    size_t cut = glued(word);
    if (!cut) return push_expanded(list, word, start, stop);
    char *head = arena_strndup(list->arena, word, cut);
    return head && push_expanded(list, head, start, start + (uint32_t)cut) &&
           push_expanded(list, word + cut, start + (uint32_t)cut, stop);
}

struct text_tokens text_split_identifier(struct arena *arena, const char *name, size_t len)
{
    enum { NAME_MAX_BYTES = 1024 };
    struct text_tokens tokens = {.source = name, .len = len > NAME_MAX_BYTES ? NAME_MAX_BYTES : len};
    struct token_list list = {.arena = arena};
    if (!(list.items = arena_array(arena, list.room = 8, sizeof *list.items))) return tokens;
    const char *end = name + tokens.len;
    for (const char *p = name; p < end;) {
        unsigned n;
        if (part_at(p, end, &n) == PART_NONE) {
            p += n;
            continue;
        }
        const char *stop = word_end(p, end);
        if (!push_piece(&list, name, p, stop)) return tokens;
        p = stop;
    }
    tokens.items = list.items;
    tokens.n = list.n;
    return tokens;
}
