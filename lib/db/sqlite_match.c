/* LIKE and GLOB (sqlite_match.h). The recursion and the results are those of SQLite's own matcher, also for invalid
 * UTF-8. The functions charge the bytes that they read, and return MATCH_OVER when the statement must stop. */
#include "lib/db/sqlite_match.h"

#include <glib.h>
#include <string.h>

typedef const unsigned char *bytes;

struct match match_like(struct work *work)
{
    return (struct match){.all = '%', .one = '_', .fold = true, .work = work};
}

struct match match_glob(struct work *work)
{
    return (struct match){.all = '*', .one = '?', .other = '[', .sets = true, .work = work};
}

/* Returns the payload bits of the first byte of a character, which is at least 0xc0. 0xfe and 0xff have none. */
static uint32_t lead_bits(unsigned char c)
{
    if (c < 0xe0) return c & 0x1f;
    if (c < 0xf0) return c & 0x0f;
    if (c < 0xf8) return c & 0x07;
    if (c < 0xfc) return c & 0x03;
    return c < 0xfe ? c & 0x01 : 0;
}

static bool continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Reads the next character: a first byte and all continuation bytes after it. This is SQLite's rule, also for invalid
 * UTF-8. At the end it returns 0 and still advances. */
static uint32_t take(bytes *p)
{
    uint32_t c = *(*p)++;
    if (c < 0xc0) return c;
    for (c = lead_bits((unsigned char)c); continues(**p); (*p)++) c = (c << 6) + (0x3f & **p);
    return c < 0x80 || (c & 0xfffff800) == 0xd800 || (c & 0xfffffffe) == 0xfffe ? 0xfffd : c;
}

static bytes skip(bytes p)
{
    if (*p++ >= 0xc0)
        while (continues(*p)) p++;
    return p;
}

bool match_set_escape(struct match *match, const char *escape)
{
    bytes p = (bytes)escape;
    if (!*p || *skip(p)) return false;
    match->other = take(&p);
    if (match->other == match->all) match->all = 0;
    if (match->other == match->one) match->one = 0;
    return true;
}

static uint32_t fold(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static enum match_outcome match_from(const struct match *m, bytes pattern, bytes text);

/* True if `c` is in the set that begins at *pattern, after its "[". Moves *pattern past the "]". */
static bool in_brackets(bytes *pattern, uint32_t c)
{
    uint32_t prior = 0, next = take(pattern);
    bool seen = false, invert = next == '^';
    if (invert) next = take(pattern);
    if (next == ']') {
        seen = c == ']';
        next = take(pattern);
    }
    for (; next && next != ']'; next = take(pattern)) {
        if (next == '-' && **pattern != ']' && **pattern && prior > 0) {
            next = take(pattern);
            if (c >= prior && c <= next) seen = true;
            prior = 0;
        } else {
            if (c == next) seen = true;
            prior = next;
        }
    }
    return next && seen != invert;
}

/* Searches for the single-byte character `c`, and matches `pattern` after each occurrence. */
static enum match_outcome search_byte(const struct match *m, uint32_t c, bytes pattern, bytes text)
{
    char stop[3] = {(char)c, '\0', '\0'};
    if (m->fold) stop[0] = g_ascii_toupper((char)c), stop[1] = g_ascii_tolower((char)c);
    for (;;) {
        size_t n = strcspn((const char *)text, stop);
        if (!work_charge(m->work, n)) return MATCH_OVER;
        text += n;
        if (!*text) return MATCH_NO_FURTHER;
        enum match_outcome outcome = match_from(m, pattern, ++text);
        if (outcome != MATCH_NO) return outcome;
    }
}

static enum match_outcome search_character(const struct match *m, uint32_t c, bytes pattern, bytes text)
{
    uint32_t next;
    while ((next = take(&text)) != 0) {
        if (!work_charge(m->work, 1)) return MATCH_OVER;
        if (next != c) continue;
        enum match_outcome outcome = match_from(m, pattern, text);
        if (outcome != MATCH_NO) return outcome;
    }
    return MATCH_NO_FURTHER;
}

/* Matches `pattern`, which starts with a set, at each position of the text. */
static enum match_outcome search_set(const struct match *m, bytes pattern, bytes text)
{
    for (; *text; text = skip(text)) {
        enum match_outcome outcome = match_from(m, pattern, text);
        if (outcome != MATCH_NO) return outcome;
    }
    return MATCH_NO_FURTHER;
}

/* Matches the part of the pattern after an `all` character. */
static enum match_outcome match_rest(const struct match *m, bytes pattern, bytes text)
{
    uint32_t c;
    while ((c = take(&pattern)) == m->all || (c == m->one && m->one))
        if (c == m->one && take(&text) == 0) return MATCH_NO_FURTHER;
    if (c == 0) return MATCH_YES;
    if (c == m->other) {
        if (m->sets) return search_set(m, pattern - 1, text);
        c = take(&pattern);
        if (c == 0) return MATCH_NO_FURTHER;
    }
    return c < 0x80 ? search_byte(m, c, pattern, text) : search_character(m, c, pattern, text);
}

static bool is_same(const struct match *m, uint32_t a, uint32_t b)
{
    return a == b || (m->fold && a < 0x80 && b < 0x80 && fold(a) == fold(b));
}

static enum match_outcome match_from(const struct match *m, bytes pattern, bytes text)
{
    bytes escaped = NULL; /* position after the last escaped character, so that an escaped `one` is literal */
    uint32_t c;
    while ((c = take(&pattern)) != 0) {
        if (!work_charge(m->work, 0)) return MATCH_OVER;
        if (c == m->all) return match_rest(m, pattern, text);
        if (c == m->other && m->sets) {
            uint32_t next = take(&text);
            if (next == 0 || !in_brackets(&pattern, next)) return MATCH_NO;
            continue;
        }
        if (c == m->other) {
            c = take(&pattern);
            if (c == 0) return MATCH_NO;
            escaped = pattern;
        }
        uint32_t next = take(&text);
        if (is_same(m, c, next)) continue;
        if (c == m->one && pattern != escaped && next != 0) continue;
        return MATCH_NO;
    }
    return *text == '\0' ? MATCH_YES : MATCH_NO;
}

enum match_outcome match_text(const struct match *match, const char *pattern, const char *text)
{
    return match_from(match, (bytes)pattern, (bytes)text);
}
