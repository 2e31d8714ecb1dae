#include "lib/base/error.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum err_class class;
    const char *meaning;
} rows[ERR_COUNT] = {
#define X(code, name, class, text) [code] = {name, ERR_CLASS_##class, text},
    ERR_LIST(X)
#undef X
};

static enum err_code known(enum err_code code)
{
    return (unsigned)code < ERR_COUNT ? code : ERR_INTERNAL;
}

const char *err_name(enum err_code code)
{
    return rows[known(code)].name;
}

const char *err_meaning(enum err_code code)
{
    return rows[known(code)].meaning;
}

enum err_class err_class(enum err_code code)
{
    return rows[known(code)].class;
}

const char *err_class_name(enum err_class class)
{
    static const char *const names[] = {"ok", "retry", "reject", "fatal"};
    return (unsigned)class < sizeof names / sizeof *names ? names[class] : "fatal";
}

enum err_code err_from_name(const char *name)
{
    for (int i = 0; i < ERR_COUNT; i++)
        if (strcmp(rows[i].name, name) == 0) return (enum err_code)i;
    return ERR_INTERNAL;
}

/* Returns `end`, or the start of the UTF-8 character that a cut at `end` would split. */
static size_t utf8_cut(const char *text, size_t end)
{
    size_t lead = end;
    while (lead > 0 && ((unsigned char)text[lead - 1] & 0xC0U) == 0x80U) lead--;
    if (lead == 0) return end;
    unsigned char c = (unsigned char)text[lead - 1];
    size_t need = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
    return end - (lead - 1) < need ? lead - 1 : end;
}

size_t err_hint_offset(const char *format, va_list args)
{
    const char *mark = strchr(format, ERR_HINT[0]);
    char message[ERR_TEXT_MAX];
    size_t len = mark ? (size_t)(mark - format) : sizeof message;
    if (len >= sizeof message) return SIZE_MAX;
    memcpy(message, format, len);
    message[len] = '\0';
    va_list copy;
    va_copy(copy, args);
    int n = vsnprintf(NULL, 0, message, copy);
    va_end(copy);
    return n < 0 ? SIZE_MAX : (size_t)n;
}

/* Replaces the separator at `at` by "; ". Removes the separator if the hint is empty or does not fit. */
static void separate_hint(struct err *err, size_t at)
{
    size_t len = strlen(err->text);
    if (at >= len) return;
    if (at == 0 || at + 1 == len || len + 1 >= sizeof err->text) {
        err->text[at] = '\0';
        return;
    }
    memmove(err->text + at + 2, err->text + at + 1, len - at);
    memcpy(err->text + at, "; ", 2);
    err->hint_at = (uint16_t)(at + 2);
}

enum err_code err_set(struct err *err, enum err_code code, const char *format, ...)
{
    if (!err) return code;
    err->code = code;
    err->sqlstate[0] = '\0';
    err->hint_at = 0;
    va_list args;
    va_start(args, format);
    size_t hint = err_hint_offset(format, args);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n < 0)
        err->text[0] = '\0';
    else if ((size_t)n >= sizeof err->text)
        err->text[utf8_cut(err->text, sizeof err->text - 1)] = '\0';
    separate_hint(err, hint);
    return code;
}

enum err_code err_at(struct err *err, enum err_code code, const struct err *inner, const char *place_format, ...)
{
    char place[ERR_TEXT_MAX];
    va_list args;
    va_start(args, place_format);
    vsnprintf(place, sizeof place, place_format, args);
    va_end(args);
    struct err known = *inner; /* has the new code, because its meaning replaces an empty message */
    known.code = code;
    int len;
    const char *message = err_message(&known, &len);
    return err_set(err, code, "%s: %.*s" ERR_HINT "%s", place, len, message, err_hint(inner));
}

const char *err_hint(const struct err *err)
{
    return err->hint_at ? err->text + err->hint_at : "";
}

const char *err_message(const struct err *err, int *len)
{
    const char *text = err->text[0] ? err->text : err_meaning(err->code);
    *len = err->hint_at ? err->hint_at - 2 : (int)strlen(text);
    return text;
}
