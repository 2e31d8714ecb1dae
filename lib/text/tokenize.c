/* Splits a question into words, numbers, quoted strings and punctuation.
 *
 * Each rule is a scanner that inspects the text at a position. It returns the number of bytes that it consumes, or 0.
 * The rules are tried in the order of RULES. The last rule always consumes one code point, so the scan ends. */
#include "lib/text/internal.h"
#include "lib/text/lexicon.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 64 * 1024, QUOTED_MAX = 400, NUMBER_MAX = 64 };

struct text_token *token_push(struct token_list *list)
{
    if (list->n == list->room) {
        uint32_t room = list->room ? list->room * 2 : 16;
        struct text_token *items = arena_array(list->arena, room, sizeof *items);
        if (!items) return NULL;
        if (list->n) memcpy(items, list->items, list->n * sizeof *items);
        list->items = items;
        list->room = room;
    }
    struct text_token *token = &list->items[list->n++];
    *token = (struct text_token){0};
    return token;
}

bool text_is_stop(const char *word)
{
    const struct lexeme *known = lexeme_find(word);
    return known && known->is_stop;
}

/* Returns the entry of the number word before the hyphen, or NULL if there is none. */
static const struct lexeme *number_before(const char *norm, const char *dash)
{
    char word[16];
    if ((size_t)(dash - norm) >= sizeof word) return NULL;
    memcpy(word, norm, (size_t)(dash - norm));
    word[dash - norm] = '\0';
    const struct lexeme *known = lexeme_find(word);
    return known && known->is_number ? known : NULL;
}

long text_number_in_span(const char *word)
{
    enum { MOST = 1000000 };
    const char *dash = strchr(word, '-');
    if (!dash || dash == word || !dash[1] || strchr("0123456789", dash[1])) return 0;
    const struct lexeme *known = number_before(word, dash);
    char *end;
    double number = known ? known->number : (double)strtol(word, &end, 10);
    bool whole = known || end == dash;
    return whole && number > 0 && number <= MOST ? (long)number : 0;
}

/* True if both halves are number words, tens and ones: "twenty-five". */
static bool hyphen_number(const char *norm, double *number)
{
    const char *dash = strchr(norm, '-');
    const struct lexeme *left = dash ? number_before(norm, dash) : NULL, *right = dash ? lexeme_find(dash + 1) : NULL;
    if (!left || !right || !right->is_number) return false;
    if (left->number < 20 || left->number > 90 || right->number < 1 || right->number > 9) return false;
    *number = left->number + right->number;
    return true;
}

bool token_finish(struct arena *arena, struct text_token *token, const char *norm)
{
    if (!norm) return false;
    token->norm = token->stem = norm;
    token->word = TEXT_NO_WORD;
    if (token->kind != TEXT_WORD) return true;
    bool fits = strnlen(norm, WORD_MAX) < WORD_MAX;
    struct word_facts facts = {.known = NULL};
    if (fits) word_look(norm, &facts);
    const struct lexeme *known = facts.known; /* valid for all entries of the tables, because all their words fit */
    if (known) {
        token->is_stop = known->is_stop;
        token->is_number = known->is_number;
        token->number = known->number;
    } else {
        token->is_number = hyphen_number(norm, &token->number);
    }
    if (!fits) return true;
    if (strcmp(facts.stem, norm) != 0) token->stem = arena_strdup(arena, facts.stem);
    token->word = facts.number;
    return token->stem != NULL;
}

static bool digit_at(const struct token_scan *scan, const char *p)
{
    return p < scan->end && g_ascii_isdigit(*p);
}

static bool word_char_at(const struct token_scan *scan, const char *p)
{
    uint32_t cp;
    return p < scan->end && (utf8_read(p, scan->end, &cp), is_word_char(cp));
}

static const char *skip_digits(const struct token_scan *scan, const char *p)
{
    while (digit_at(scan, p)) p++;
    return p;
}

/* Opening and closing quotation marks. A straight mark opens a quotation only if it does not follow a word directly. */
static const struct {
    const char *open, *close;
} QUOTES[] = {{"'", "'"},
              {"\"", "\""},
              {"\xE2\x80\x98", "\xE2\x80\x99"},
              {"\xE2\x80\x9C", "\xE2\x80\x9D"},
              {"\xC2\xAB", "\xC2\xBB"},
              {"`", "`"}};

static bool starts_with(const char *p, const char *end, const char *prefix)
{
    size_t n = strlen(prefix);
    return (size_t)(end - p) >= n && memcmp(p, prefix, n) == 0;
}

static size_t scan_quoted(const struct token_scan *scan, const char *p, size_t *inner_start, size_t *inner_len)
{
    unsigned char first = (unsigned char)*p;
    if (first != '\'' && first != '"' && first != '`' && first != 0xE2 && first != 0xC2) return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(QUOTES); i++) {
        if (!starts_with(p, scan->end, QUOTES[i].open)) continue;
        if (is_word_char(utf8_before(scan->start, p))) return 0; /* an apostrophe, or the inch mark of 5" */
        const char *inside = p + strlen(QUOTES[i].open);
        const char *last = scan->end - inside > QUOTED_MAX ? inside + QUOTED_MAX : scan->end;
        for (const char *q = inside; q < last; q++) {
            if (!starts_with(q, scan->end, QUOTES[i].close)) continue;
            const char *after = q + strlen(QUOTES[i].close);
            if (q == inside || word_char_at(scan, after)) continue;
            *inner_start = (size_t)(inside - p);
            *inner_len = (size_t)(q - inside);
            return (size_t)(after - p);
        }
    }
    return 0;
}

/* Scans a number such as -12, 1,234.5, .5 or 10k. Leaves a number that continues as a word (3-D, 2nd, 2014-06-18) to
 * scan_word. */
static size_t scan_number(const struct token_scan *scan, const char *p)
{
    const char *q = p;
    uint32_t before = utf8_before(scan->start, p);
    if (*q == '-' && !is_word_char(before) && before != ')' && before != '.') q++;
    const char *digits = q;
    q = skip_digits(scan, q);
    if (q > digits && q - digits <= 3)
        while (q + 3 < scan->end && *q == ',' && digit_at(scan, q + 1) && skip_digits(scan, q + 1) == q + 4) q += 4;
    if (q == digits && is_word_char(before)) return 0;
    bool whole = q > digits;
    if (q < scan->end && *q == '.' && digit_at(scan, q + 1))
        q = skip_digits(scan, q + 1);
    else if (!whole)
        return 0;
    if (q < scan->end && (*q == 'k' || *q == 'K') && !word_char_at(scan, q + 1)) q++;
    if (word_char_at(scan, q) || q - p >= NUMBER_MAX) return 0;
    return (size_t)(q - p);
}

/* True if the hyphen means a range: "5-10" and "2010-2015" are two numbers each, but "747-400" and "555-1234" are
 * names. */
static bool is_range(const struct token_scan *scan, const char *p, const char *dash)
{
    const char *right = dash + 1, *end = skip_digits(scan, right);
    if (end == right || end - right > 9 || dash - p > 9) return false;
    if (word_char_at(scan, end) || (end < scan->end && (*end == '-' || *end == '/'))) return false;
    ptrdiff_t wider = (end - right) - (dash - p);
    if (wider < 0 || wider > 1) return false;
    return strtoul(p, NULL, 10) < strtoul(right, NULL, 10);
}

/* True if the character at q connects the word [p, q) to the text after it. The caller has checked that a word
 * character follows. */
static bool joins(const struct token_scan *scan, const char *p, const char *q)
{
    bool digits = skip_digits(scan, p) == q;
    switch (*q) {
    case '\'':
    case '&': return !digits || *q == '&';
    case '-': return !digits || !is_range(scan, p, q);
    case '/':
    case ':': return digit_at(scan, q - 1) && digit_at(scan, q + 1);
    case '.': return (q - p == 1 || q[-2] == '.' || memchr(p, '@', (size_t)(q - p))) && !digits;
    case '@': return true;
    default: return starts_with(q, scan->end, "\xE2\x80\x99"); /* ’ */
    }
}

static size_t scan_word(const struct token_scan *scan, const char *p)
{
    const char *q = p;
    for (;;) {
        uint32_t cp;
        while (q < scan->end) {
            unsigned n = utf8_read(q, scan->end, &cp);
            if (!is_word_char(cp)) break;
            q += n;
        }
        if (q == p || q >= scan->end) break;
        unsigned mark = utf8_read(q, scan->end, &cp);
        if (!word_char_at(scan, q + mark) || !joins(scan, p, q)) break;
        q += mark;
    }
    return (size_t)(q - p);
}

static double number_value(const char *norm)
{
    char plain[NUMBER_MAX + 1];
    size_t n = 0;
    for (; *norm && n < NUMBER_MAX; norm++)
        if (*norm != ',' && *norm != 'k') plain[n++] = *norm;
    plain[n] = '\0';
    return g_ascii_strtod(plain, NULL) * (norm[-1] == 'k' ? 1000 : 1);
}

static bool is_number_start(const char *p)
{
    return g_ascii_isdigit(*p) || *p == '-' || *p == '.';
}

/* True if a token that begins with a number is longer than the number: a date, 2nd, 3-D. */
static bool goes_on_as_word(const struct token_scan *scan, const char *p, size_t number)
{
    if (!g_ascii_isdigit(*p) || !number) return false;
    return scan_word(scan, p) > number;
}

static char *fold_word(struct arena *arena, const char *p, size_t len)
{
    char *norm = arena_alloc(arena, len + 1);
    if (!norm) return NULL;
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)p[i] >= 0x80) return text_fold(arena, p, len);
        norm[i] = ascii_lower(p[i]);
    }
    norm[len] = '\0';
    return norm;
}

struct token_scan token_scan_of(const char *text, size_t len)
{
    return (struct token_scan){text, text + (len > INPUT_MAX ? INPUT_MAX : len), text};
}

static void look_at_token(const struct token_scan *scan, const char *p, struct token_span *span)
{
    uint32_t cp;
    *span = (struct token_span){.text = p, .kind = TEXT_QUOTED};
    if ((span->len = scan_quoted(scan, p, &span->inner, &span->inner_len))) return;
    span->kind = TEXT_NUMBER;
    if (is_number_start(p) && (span->len = scan_number(scan, p)) && !goes_on_as_word(scan, p, span->len)) return;
    span->kind = TEXT_WORD;
    if ((span->len = scan_word(scan, p))) return;
    span->kind = TEXT_PUNCT;
    span->len = utf8_read(p, scan->end, &cp);
}

bool token_next(struct token_scan *scan, struct token_span *span)
{
    while (scan->at < scan->end) {
        uint32_t cp;
        unsigned n = utf8_read(scan->at, scan->end, &cp);
        if (!is_space_char(cp)) {
            look_at_token(scan, scan->at, span);
            scan->at += span->len;
            return true;
        }
        scan->at += n;
    }
    return false;
}

static bool is_capital(const struct token_span *span)
{
    uint32_t cp;
    utf8_read(span->text, span->text + span->len, &cp);
    return cp < 0x80 ? g_ascii_isupper((char)cp) : g_unichar_isupper(cp);
}

bool token_read(struct arena *arena, const struct token_scan *scan, const struct token_span *span,
                struct text_token *token)
{
    const char *norm = span->kind == TEXT_QUOTED ? text_fold(arena, span->text + span->inner, span->inner_len)
                                                 : fold_word(arena, span->text, span->len);
    token->kind = span->kind;
    token->is_number = span->kind == TEXT_NUMBER;
    if (norm && token->is_number) token->number = number_value(norm);
    token->is_capital = span->kind == TEXT_WORD && is_capital(span);
    token->start = (uint32_t)(span->text - scan->start);
    token->end = token->start + (uint32_t)span->len;
    return token_finish(arena, token, norm);
}

struct text_tokens text_tokenize(struct arena *arena, const char *text, size_t len)
{
    struct token_scan scan = token_scan_of(text, len);
    struct text_tokens tokens = {.source = text, .len = (size_t)(scan.end - scan.start)};
    struct token_list list = {.arena = arena};
    struct token_span span;
    if (!(list.items = arena_array(arena, tokens.len / 5 + 8, sizeof *list.items))) return tokens;
    list.room = (uint32_t)(tokens.len / 5 + 8);
    while (token_next(&scan, &span)) {
        struct text_token *token = token_push(&list);
        if (!token || !token_read(arena, &scan, &span, token)) return tokens;
    }
    tokens.items = list.items;
    tokens.n = list.n;
    return tokens;
}
