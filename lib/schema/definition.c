/* Reads a CREATE statement token by token, in the form that SQLite stores. The parser of lib/sql reads only queries,
 * and only the queries and expressions of the statement are needed. */
#include "lib/schema/definition.h"

#include <glib.h>
#include <string.h>

static bool in_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80);
}

/* Returns the end of the token at p. A token is a comment, a quoted text, a word, or one character. */
static const char *token_end(const char *p)
{
    const char *end = NULL;
    if (!*p) return p;
    if (p[0] == '-' && p[1] == '-') return (end = strchr(p, '\n')) ? end : p + strlen(p);
    if (p[0] == '/' && p[1] == '*') return (end = strstr(p + 2, "*/")) ? end + 2 : p + strlen(p);
    if (*p == '\'' || *p == '"' || *p == '`' || *p == '[') {
        char quote = *p;
        end = strchr(p + 1, quote == '[' ? ']' : quote); /* a doubled quote is read as two adjacent texts */
        return end ? end + 1 : p + strlen(p);
    }
    end = p;
    while (in_word(*end)) end++;
    return end > p ? end : p + 1;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    return (size_t)(end - p) == strlen(word) && g_ascii_strncasecmp(p, word, (size_t)(end - p)) == 0;
}

/* Returns the text after the first `word` that is outside parentheses, from `p` on. Returns NULL if there is none. */
static const char *after_word(const char *p, const char *word)
{
    int depth = 0;
    for (const char *end; *p; p = end) {
        end = token_end(p);
        depth += (*p == '(') - (*p == ')');
        if (depth == 0 && is_word(p, end, word)) return end;
        if (depth < 0) return NULL;
    }
    return NULL;
}

/* Returns the parenthesis that closes the opening one at p. Returns NULL if there is none. */
static const char *closing(const char *p)
{
    int depth = 0;
    for (; *p; p = token_end(p)) {
        depth += (*p == '(') - (*p == ')');
        if (depth == 0) return p;
    }
    return NULL;
}

static const char *skip_space(const char *p)
{
    while (g_ascii_isspace(*p) || (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*'))
        p = g_ascii_isspace(*p) ? p + 1 : token_end(p);
    return p;
}

/* Returns the position after the first opening parenthesis. Returns the end of the text if there is none. */
static const char *first_part(const char *p)
{
    while (*p && *p != '(') p = token_end(p);
    return *p ? skip_space(p + 1) : p;
}

/* Returns the end of the current list item: its comma or the closing parenthesis. */
static const char *part_end(const char *p)
{
    int depth = 0;
    for (; *p; p = token_end(p)) {
        if (depth == 0 && (*p == ',' || *p == ')')) return p;
        depth += (*p == '(') - (*p == ')');
    }
    return p;
}

/* True if the name at p, quoted or not, equals `name`. */
static bool names_column(const char *p, const char *name)
{
    const char *end = token_end(p);
    bool quoted = strchr("\"`['", *p) != NULL;
    /* Join the pieces of a name that contains doubled quotes. */
    for (char quote = *p; quoted && quote != '[' && *end == quote;) end = token_end(end);
    if (!quoted) return sql_name_is(p, (size_t)(end - p), name, strlen(name));
    GString *plain = g_string_new(NULL);
    for (const char *c = p + 1; c < end - 1; c++) {
        if (*c == *p && c[1] == *p) c++;
        g_string_append_c(plain, *c);
    }
    bool same = sql_name_is(plain->str, plain->len, name, strlen(name));
    g_string_free(plain, TRUE);
    return same;
}

const char *definition_query(const char *definition)
{
    return after_word(definition, "AS");
}

const char *definition_expression(struct arena *arena, const char *definition, const char *column)
{
    const char *p = definition ? first_part(definition) : "";
    for (const char *end; *p && *p != ')'; p = *end == ',' ? skip_space(end + 1) : end) {
        end = part_end(p);
        const char *as = names_column(p, column) ? after_word(token_end(p), "AS") : NULL;
        if (!as || as > end) continue;
        as = skip_space(as);
        const char *close = *as == '(' ? closing(as) : NULL;
        const char *text = close ? arena_strndup(arena, as, (size_t)(close - as) + 1) : NULL;
        return text ? text : "";
    }
    return "";
}
