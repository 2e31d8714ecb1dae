#include "lib/llm/remote_json.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* State of a scan that counts brackets outside of strings. */
struct brackets {
    unsigned depth, deepest;
    bool in_string, escaped;
};

static void step(struct brackets *b, char c)
{
    if (b->in_string) {
        if (!b->escaped && c == '"') b->in_string = false;
        b->escaped = !b->escaped && c == '\\';
        return;
    }
    if (c == '"') b->in_string = true;
    if (c == '{' || c == '[') b->depth++;
    if ((c == '}' || c == ']') && b->depth) b->depth--;
    b->deepest = MAX(b->deepest, b->depth);
}

static json_t *parse(const char *text, size_t len, size_t flags)
{
    struct brackets brackets = {0};
    for (size_t i = 0; i < len; i++) {
        step(&brackets, text[i]);
        if (brackets.deepest > REMOTE_JSON_DEPTH) return NULL;
    }
    return json_loadb(text, len, JSON_REJECT_DUPLICATES | flags, NULL);
}

json_t *remote_json(const char *text, size_t len)
{
    return parse(text, len, 0);
}

json_t *remote_json_with_nul(const char *text, size_t len)
{
    return parse(text, len, JSON_ALLOW_NUL);
}

const char *remote_text(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) == json_string_length(value) ? text : NULL;
}

const char *remote_json_object(const char *from, size_t *len)
{
    const char *start = strchr(from, '{');
    struct brackets brackets = {0};
    for (const char *c = start; c && *c; c++) {
        step(&brackets, *c);
        if (brackets.depth) continue;
        *len = (size_t)(c - start) + 1;
        return start;
    }
    return NULL;
}

bool remote_number(const json_t *value, double *out)
{
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return isfinite(*out);
}

void remote_word(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text && *text && n + 1 < room; text++)
        if (g_ascii_isgraph(*text)) out[n++] = *text;
    out[n] = 0;
}
