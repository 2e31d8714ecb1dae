#include "lib/explain/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

static const char ELLIPSIS[] = "\xe2\x80\xa6";   /* … */
static const char UNREADABLE[] = "\xef\xbf\xbd"; /* U+FFFD */
enum { ELLIPSIS_LEN = sizeof ELLIPSIS - 1, SHOWN_OF_VALUE = 80 };

bool say_init(struct say *out, struct arena *arena, size_t max, bool prose)
{
    *out = (struct say){.text = arena_alloc(arena, max + 1), .max = max, .prose = prose};
    if (!out->text) return false;
    out->text[0] = '\0';
    return true;
}

void say_clear(struct say *out)
{
    out->len = 0;
    out->cut = false;
    out->text[0] = '\0';
}

/* Appends valid UTF-8 as one unit, which is never truncated: a character, or a word that would mislead if truncated. */
static void put(struct say *out, const char *bytes, size_t len)
{
    if (out->cut) return;
    if (out->len + len + ELLIPSIS_LEN <= out->max) {
        memcpy(out->text + out->len, bytes, len);
        out->len += len;
    } else {
        out->cut = true;
        if (out->len + ELLIPSIS_LEN <= out->max) {
            memcpy(out->text + out->len, ELLIPSIS, ELLIPSIS_LEN);
            out->len += ELLIPSIS_LEN;
        }
    }
    out->text[out->len] = '\0';
}

void say(struct say *out, const char *text)
{
    put(out, text, strlen(text));
}

void say_either(struct say *out, const char *premise, const char *prose)
{
    say(out, out->prose ? prose : premise);
}

void say_count(struct say *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    put(out, digits, (size_t)len);
}

void say_counted(struct say *out, uint64_t n, const char *one, const char *many)
{
    say_count(out, n);
    say(out, " ");
    say(out, n == 1 ? one : many);
}

static bool is_control(gunichar c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Returns the number of bytes of the character at `at`, or 0 if the bytes are not valid UTF-8. */
static size_t character(const char *at, const char *end, gunichar *c)
{
    *c = (unsigned char)*at;
    if (*c < 0x80) return 1;
    *c = g_utf8_get_char_validated(at, end - at);
    return *c == (gunichar)-1 || *c == (gunichar)-2 ? 0 : (size_t)(g_utf8_next_char(at) - at);
}

static void put_bytes(struct say *out, const char *bytes, size_t len, size_t most, bool quoted)
{
    const char *end = bytes + len, *stop = bytes + (len > most ? most : len), *run = bytes, *at = bytes;
    while (at < stop && !out->cut) {
        gunichar c;
        size_t n = character(at, end, &c);
        if (n > 0 && !is_control(c) && !(quoted && c == '\'')) {
            at += n;
            continue;
        }
        put(out, run, (size_t)(at - run));
        if (n == 0)
            put(out, UNREADABLE, sizeof UNREADABLE - 1);
        else
            say(out, c == '\'' ? "''" : " ");
        at += n ? n : 1;
        run = at;
    }
    put(out, run, (size_t)(at - run));
    if (len > most) put(out, ELLIPSIS, ELLIPSIS_LEN);
}

void say_bytes(struct say *out, const char *bytes, size_t len, size_t most)
{
    put_bytes(out, bytes, len, most, false);
}

void say_quoted(struct say *out, const char *bytes, size_t len, size_t most)
{
    say(out, "'");
    put_bytes(out, bytes, len, most, true);
    say(out, "'");
}

void say_value(struct say *out, const struct db_value *value)
{
    char real[DB_REAL_TEXT];
    switch (value->type) {
    case DB_INT:
        if (value->i < 0) say(out, "-");
        say_count(out, value->i < 0 ? 0 - (uint64_t)value->i : (uint64_t)value->i);
        return;
    case DB_FLOAT: put(out, real, db_real_text(value->f, real)); return;
    case DB_TEXT: say_quoted(out, value->text, value->len, SHOWN_OF_VALUE); return;
    case DB_BLOB:
        say(out, "a blob of ");
        say_counted(out, value->len, "byte", "bytes");
        return;
    case DB_NULL: break;
    }
    say(out, "NULL");
}

void say_comma(struct say *out, uint32_t i, uint32_t n)
{
    if (i > 0) say(out, i + 1 < n ? ", " : " and ");
}
