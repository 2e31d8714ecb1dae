/* Folding: compatibility decomposition without marks, in lower case, with single spaces. It handles one code point at a
 * time, so only the arena limits the length of a text.
 *
 * ASCII text takes a separate fast path with the same result. A table replaces typographic punctuation, and letters
 * that Unicode does not decompose. Bytes that are not valid UTF-8 are read as Latin-1, so both encodings of a text give
 * the same result. */
#include "lib/text/internal.h"

#include <glib.h>
#include <string.h>

unsigned utf8_read_wide(const char *p, const char *end, uint32_t *cp)
{
    gunichar c = g_utf8_get_char_validated(p, end - p);
    if (c >= 0x110000U) return *cp = (unsigned char)*p, 1; /* (gunichar)-1 and -2 mean invalid and truncated UTF-8 */
    *cp = c;
    return c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

uint32_t utf8_before(const char *start, const char *p)
{
    if (p == start) return 0;
    const char *q = p - 1;
    while (q > start && p - q < 4 && ((unsigned char)*q & 0xC0) == 0x80) q--;
    uint32_t cp;
    if (utf8_read(q, p, &cp) != (unsigned)(p - q)) return (unsigned char)p[-1];
    return cp;
}

unsigned utf8_write(char *out, uint32_t cp)
{
    return (unsigned)g_unichar_to_utf8(cp, out);
}

bool is_wide_word_char(uint32_t cp)
{
    return g_unichar_isalnum(cp) || g_unichar_ismark(cp);
}

bool is_wide_space_char(uint32_t cp)
{
    return g_unichar_isspace(cp) || g_unichar_iscntrl(cp) || g_unichar_type(cp) == G_UNICODE_FORMAT;
}

/* Typographic punctuation, and letters that Unicode does not decompose although users often write them without
 * marks. */
static const struct {
    uint32_t cp;
    const char *plain;
} PLAIN[] = {
    {0x00C6, "ae"}, {0x00D0, "d"},  {0x00D8, "o"},  {0x00DE, "th"}, {0x00DF, "ss"}, {0x00E6, "ae"}, {0x00F0, "d"},
    {0x00F8, "o"},  {0x00FE, "th"}, {0x0110, "d"},  {0x0111, "d"},  {0x0131, "i"},  {0x0141, "l"},  {0x0142, "l"},
    {0x0152, "oe"}, {0x0153, "oe"}, {0x1E9E, "ss"}, {0x2010, "-"},  {0x2011, "-"},  {0x2012, "-"},  {0x2013, "-"},
    {0x2014, "-"},  {0x2018, "'"},  {0x2019, "'"},  {0x201C, "\""}, {0x201D, "\""}, {0x2212, "-"},
};

static const char *plain_form(uint32_t cp)
{
    for (size_t i = 0; i < G_N_ELEMENTS(PLAIN); i++)
        if (PLAIN[i].cp == cp) return PLAIN[i].plain;
    return NULL;
}

/* The output of folding. If `out` is NULL, bytes are counted but not written. */
struct folding {
    char *out;
    size_t n;
    bool gap; /* true if a space followed the last letter */
};

static void put(struct folding *to, const char *bytes, size_t n)
{
    if (to->out) memcpy(to->out + to->n, bytes, n);
    to->n += n;
}

static void fold_one(struct folding *to, uint32_t cp)
{
    if (is_space_char(cp)) {
        to->gap = to->n > 0;
        return;
    }
    if (to->gap) put(to, " ", 1);
    to->gap = false;
    const char *plain = cp < 0x80 ? NULL : plain_form(cp);
    char bytes[8];
    if (plain)
        put(to, plain, strlen(plain));
    else if (cp < 0x80)
        put(to, (char[]){ascii_lower((char)cp)}, 1);
    else
        put(to, bytes, utf8_write(bytes, g_unichar_tolower(cp)));
}

static size_t fold_into(const char *text, size_t len, char *out)
{
    struct folding to = {.out = out};
    const char *end = text + len;
    while (text < end) {
        uint32_t cp;
        text += utf8_read(text, end, &cp);
        if (cp < 0x80) {
            fold_one(&to, cp);
            continue;
        }
        gunichar parts[G_UNICHAR_MAX_DECOMPOSITION_LENGTH];
        gsize n_parts = g_unichar_fully_decompose(cp, TRUE, parts, G_N_ELEMENTS(parts));
        for (gsize i = 0; i < n_parts; i++)
            if (!g_unichar_ismark(parts[i])) fold_one(&to, parts[i]);
    }
    return to.n;
}

static bool all_ascii(const char *text, size_t len)
{
    unsigned char seen = 0;
    for (size_t i = 0; i < len; i++) seen |= (unsigned char)text[i];
    return seen < 0x80;
}

/* Does the same as fold_into, for ASCII only. Most texts are ASCII. */
static size_t fold_ascii(const char *text, size_t len, char *out)
{
    size_t n = 0;
    bool gap = false;
    for (size_t i = 0; i < len; i++) {
        if (is_space_char((unsigned char)text[i])) {
            gap = n > 0;
            continue;
        }
        if (gap) out[n++] = ' ';
        gap = false;
        out[n++] = ascii_lower(text[i]);
    }
    return n;
}

/* Returns the number of bytes that the folded text needs, without the NUL. */
static size_t room_for(const char *text, size_t len, bool ascii)
{
    return ascii ? len : fold_into(text, len, NULL);
}

static char *write_folded(const char *text, size_t len, bool ascii, char *out)
{
    size_t n = ascii ? fold_ascii(text, len, out) : fold_into(text, len, out);
    out[n] = '\0';
    return out;
}

char *text_fold(struct arena *arena, const char *text, size_t len)
{
    bool ascii = all_ascii(text, len);
    size_t room = room_for(text, len, ascii);
    char *out = room < SIZE_MAX ? arena_alloc(arena, room + 1) : NULL;
    return out ? write_folded(text, len, ascii, out) : NULL;
}

char *text_fold_short(char *out, size_t size, const char *text, size_t len)
{
    bool ascii = all_ascii(text, len);
    return room_for(text, len, ascii) < size ? write_folded(text, len, ascii, out) : NULL;
}

char *text_letters(struct arena *arena, const char *text, size_t len)
{
    char *out = arena_alloc(arena, len + 1);
    size_t n = 0;
    for (size_t i = 0; out && i < len; i++)
        if (g_ascii_isalnum(text[i]) || (unsigned char)text[i] >= 0x80) out[n++] = g_ascii_tolower(text[i]);
    if (out) out[n] = '\0';
    return out;
}
