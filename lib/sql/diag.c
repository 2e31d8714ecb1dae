/* Formats diagnostics for a person: the place, the message, and the expected tokens. */
#include "lib/sql/parser.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/sql/grammar.h"

enum { SHOWN_WORD = 40, SHOWN_EXPECTED = 6, SHOWN_LINE = 100, TAB = 8 };

bool sql_token_is(const struct sql_parser *p, struct sql_token token, const char *word)
{
    return sql_name_is(p->text + token.start, token.len, word, strlen(word));
}

void sql_diag_locate(const char *text, struct sql_diag *diag)
{
    diag->line = diag->column = 1;
    for (uint32_t i = 0; i < diag->start; i++) {
        if (text[i] == '\n')
            diag->line++, diag->column = 1;
        else if (((unsigned char)text[i] & 0xc0) != 0x80)
            diag->column++;
    }
}

struct sql_diag *sql_diag_add(struct sql_parser *p, enum err_code code, uint32_t start, uint32_t end,
                              const char *message)
{
    struct sql_diag **at = &p->stmt->diags;
    for (; *at && (*at)->start <= start; at = &(*at)->next)
        if ((*at)->start == start && message && strcmp((*at)->message, message) == 0)
            return NULL; /* reported already */
    if (p->n_diags >= p->limits.max_diags && !*at) return NULL;
    struct sql_diag *diag = message ? arena_new(p->arena, struct sql_diag) : NULL;
    if (!diag) {
        p->full = true;
        return NULL;
    }
    *diag = (struct sql_diag){.code = code, .start = start, .end = end, .message = message, .next = *at};
    sql_diag_locate(p->text, diag);
    *at = diag;
    if (++p->n_diags <= p->limits.max_diags) return diag;
    while ((*at)->next) at = &(*at)->next; /* the limit is exceeded: drop the last one */
    *at = NULL;
    p->n_diags--;
    return diag == p->stmt->diags || *at != diag ? diag : NULL;
}

/* ---- messages ------------------------------------------------------------------------------------------------ */

/* Returns the number of bytes of `text` to show: at most SHOWN_WORD, and no part of a character. */
static int shown(const char *text, uint32_t len)
{
    if (len <= SHOWN_WORD) return (int)len;
    uint32_t n = SHOWN_WORD;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
    return (int)n;
}

static const char *illegal(const struct sql_parser *p, struct sql_token token)
{
    char c = p->text[token.start];
    if (c == '\'') return "unterminated string";
    if (c == '"' || c == '`') return "unterminated quoted name";
    if (c == '[') return "unterminated bracket";
    if (c == ']') return "closing bracket without an opening bracket";
    if ((c == 'x' || c == 'X') && token.len > 1) return "a blob literal needs an even number of hexadecimal digits";
    if ((c >= '0' && c <= '9') || c == '.') return "invalid number: letters follow its digits";
    return "unexpected character";
}

/* Returns the description of the token, to follow "unexpected". A value's text is never shown, and a word in double
 * quotes may be a value. */
static const char *called(struct sql_parser *p, struct sql_token token)
{
    const char *text = p->text + token.start;
    switch (token.code) {
    case SQL_END_OF_TEXT: return "end of the SQL";
    case T_STRING: return "string";
    case T_INTEGER:
    case T_FLOAT: return "number";
    case T_BLOB: return "blob";
    default: break;
    }
    if (*text == '"' || *text == '`' || *text == '[') return "quoted name";
    const char *format = token.len > SHOWN_WORD ? "\"%.*s...\"" : "\"%.*s\"";
    return arena_printf(p->arena, *text == '"' ? "%.*s" : format, shown(text, token.len), text);
}

/* Returns the expected tokens as "a, b or c". */
static const char *listed(struct sql_parser *p, const char *const *expected, uint32_t n)
{
    size_t len = 1;
    if (n > SHOWN_EXPECTED) n = SHOWN_EXPECTED;
    for (uint32_t i = 0; i < n; i++) len += strlen(expected[i]) + 4;
    char *text = arena_alloc(p->arena, len), *at = text;
    if (!text) return NULL;
    *at = '\0';
    for (uint32_t i = 0; i < n; i++) at = stpcpy(stpcpy(at, i == 0 ? "" : i + 1 < n ? ", " : " or "), expected[i]);
    return text;
}

static const char *unexpected(struct sql_parser *p, struct sql_token token, const char *const *expected, uint32_t n)
{
    if (token.code == T_ILLEGAL) return illegal(p, token);
    const char *what = called(p, token), *list = listed(p, expected, n);
    if (!what || !list) return NULL;
    if (token.code == T_RESERVED || token.code == T_TABLE)
        return arena_printf(p->arena, "%s is a reserved word of SQL; use double quotes to make it a name", what);
    if (n == 0) return arena_printf(p->arena, "unexpected %s", what);
    if (token.code == SQL_END_OF_TEXT) return arena_printf(p->arena, "unexpected end of the SQL: expected %s", list);
    return arena_printf(p->arena, "unexpected %s: expected %s", what, list);
}

void sql_diag_unexpected(struct sql_parser *p, struct sql_token token, const char *const *expected, uint32_t n,
                         const char *hint)
{
    const char *message = unexpected(p, token, expected, n);
    if (message && hint) message = arena_printf(p->arena, "%s; %s", message, hint);
    struct sql_diag *diag = sql_diag_add(p, ERR_SYNTAX, token.start, token.start + token.len, message);
    if (!diag || n == 0) return;
    const char **copy = arena_new_array(p->arena, n, const char *);
    if (!copy) return;
    memcpy(copy, expected, n * sizeof *copy);
    diag->expected = copy;
    diag->n_expected = n;
}

/* ---- rendering ----------------------------------------------------------------------------------------------- */

/* Returns the columns that a character takes on a terminal; a tab extends to the next multiple of TAB. */
static unsigned width_of(gunichar c, unsigned column)
{
    if (c == '\t') return TAB - column % TAB;
    if (c < ' ' || c == 0x7f || g_unichar_iszerowidth(c)) return 0;
    return g_unichar_iswide(c) ? 2 : 1;
}

static unsigned width(const char *text, const char *end, unsigned column)
{
    while (text < end) {
        column += width_of(g_utf8_get_char(text), column);
        text = g_utf8_next_char(text);
    }
    return column;
}

static const char *back(const char *text, const char *from, unsigned characters)
{
    while (from > text && characters-- > 0) from = g_utf8_prev_char(from);
    return from;
}

static const char *forth(const char *from, const char *end, unsigned characters)
{
    while (from < end && characters-- > 0) from = g_utf8_next_char(from);
    return from < end ? from : end;
}

/* Draws the line, with tabs as spaces and without control characters. */
static void draw(GString *out, const char *text, const char *end, unsigned column)
{
    while (text < end) {
        gunichar c = g_utf8_get_char(text);
        unsigned wide = width_of(c, column);
        if (c == '\t')
            g_string_append_printf(out, "%*s", (int)wide, "");
        else if (wide || c > 0x7f)
            g_string_append_len(out, text, g_utf8_next_char(text) - text);
        column += wide;
        text = g_utf8_next_char(text);
    }
}

/* Draws the line around `at` and the carets under [at, end); a long line is cut to a window around them. */
static void underline(GString *out, const char *line, const char *line_end, const char *at, const char *end)
{
    const char *from = line, *to = line_end;
    if (line_end - line > SHOWN_LINE) {
        from = back(line, at, SHOWN_LINE / 2);
        to = forth(at, line_end, SHOWN_LINE / 2);
    }
    const char *lead = from > line ? "..." : "";
    unsigned margin = (unsigned)strlen(lead), column = width(from, at, margin);
    unsigned carets = width(at, end < to ? end : to, column) - column;
    g_string_append_printf(out, "\n  %s", lead);
    draw(out, from, to, margin);
    g_string_append_printf(out, "%s\n  %*s^", to < line_end ? "..." : "", (int)column, "");
    for (unsigned i = 1; i < carets; i++) g_string_append_c(out, '~');
}

char *sql_diag_render(struct arena *arena, const struct sql_stmt *stmt, const struct sql_diag *diag)
{
    const char *text = stmt->text, *end = text + stmt->len, *at = text + diag->start;
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "line %u, column %u: %s", diag->line, diag->column, diag->message);
    if (diag->code != ERR_ENCODING && diag->code != ERR_LIMIT_BYTES && at <= end) {
        const char *line = at, *line_end = at;
        while (line > text && line[-1] != '\n') line--;
        while (line_end < end && *line_end != '\n') line_end++;
        underline(out, line, line_end, at, text + diag->end);
    }
    char *copy = arena_strndup(arena, out->str, out->len);
    g_string_free(out, TRUE);
    return copy;
}
