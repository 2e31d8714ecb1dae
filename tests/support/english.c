#include "tests/support/english.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *pattern;
} FAULTS[] = {
    {"a word twice", "\\b(the|a|an|of|in|is|are|to|and|or|with|by|that|where|row|rows|its|their|no|not|each) \\1\\b"},
    {"an article behind one", "\\b(same|different|each|every|no|its|their|an?) the\\b"},
    {"a verb behind an article", "\\bthe (is|are|was|has|have|did|does|can|took)\\b"},
    {"a number behind an article", "\\bthe [0-9]"},
    {"one of many",
     "\\b(?<![.,])1 (different|rows|columns|tables|values|groups|queries|subqueries|bytes|candidates)\\b"},
    {"a mass noun in the plural", "\\b\\w*(datas|informations|equipments|staffs|childs|womans|mans|persons)\\b"},
    {"a before a vowel", "\\b[Aa] (?=[aeiou]\\w)(?!uni|use|usu|uti|eu|one\\b|once\\b)"},
    {"an before a consonant", "\\b[Aa]n (?=[b-df-hj-np-tv-z]\\w)(?!hour|honest|honou?r|heir)"},
    {"two verbs", "\\b(is|are|was) (is|are|was|equals)\\b"},
    {"two blanks", "  "},
    {"a blank before a stop", " [,.;:!?)]"},
    {"a blank behind a parenthesis", "\\( "},
    {"two stops", "[,;:]{2}|[^.]\\.\\.([^.]|$)|[,;:] ?[,;.]"},
    {"a small letter begins a sentence", "[a-z)\"] ?\\. [a-z]"},
    {"an empty quote in backticks", "``"},
    {"a name ends in nothing", "\\b(of|the|an?)[.,;:)](?!\\w)"},
    {"number behind number", "\\b[0-9]+ [0-9]"},
};
enum { N_FAULTS = sizeof FAULTS / sizeof *FAULTS };

static const GRegex *regex_of(size_t i)
{
    static GRegex *compiled[N_FAULTS];
    if (!compiled[i]) compiled[i] = g_regex_new(FAULTS[i].pattern, G_REGEX_OPTIMIZE, 0, NULL);
    return compiled[i];
}

/* Returns the end of the quote that begins at `open`, or NULL. A doubled single quote does not end it. */
static const char *end_of_quote(const char *open)
{
    for (const char *c = open + 1; *c; c++) {
        if (*c != *open) continue;
        if (*open == '\'' && c[1] == '\'')
            c++;
        else
            return c;
    }
    return NULL;
}

/* Returns the text with Q in place of each quoted part, or NULL if a quote is never closed. Free with g_free. */
static char *without_quotes(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *c = text; *c; c++) {
        bool opens = strchr("'\"`|", *c) && (c == text || strchr(" ([,=", c[-1]));
        const char *end = opens ? end_of_quote(c) : NULL;
        if (opens && !end) {
            g_string_free(out, TRUE);
            return NULL;
        }
        bool empty = opens && *c == '`' && end == c + 1;
        g_string_append_c(out, opens && !empty ? 'Q' : *c);
        if (empty) g_string_append_c(out, *end);
        if (opens) c = end;
    }
    return g_string_free(out, FALSE);
}

const char *english_fault(const char *text)
{
    char *plain = without_quotes(text);
    const char *fault = plain ? NULL : "a quote that is not closed";
    for (size_t i = 0; plain && i < N_FAULTS && !fault; i++)
        if (g_regex_match(regex_of(i), plain, 0, NULL)) fault = FAULTS[i].name;
    g_free(plain);
    return fault;
}

static void look_at(const char *text, struct english_count *count)
{
    const char *fault = text ? english_fault(text) : NULL;
    count->texts += text != NULL;
    count->faults += fault != NULL;
    if (fault) fprintf(stderr, "%s: %s\n", fault, text);
}

void english_verdict(const json_t *verdict, struct english_count *count)
{
    static const char *const SENTENCES[] = {"explanation", "message", "why", "missing"};
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_array(verdict)) json_array_foreach(verdict, i, value) english_verdict(value, count);
    if (!json_is_object(verdict)) return;
    for (i = 0; i < sizeof SENTENCES / sizeof *SENTENCES; i++)
        look_at(json_string_value(json_object_get(verdict, SENTENCES[i])), count);
    json_array_foreach(json_object_get(verdict, "notes"), i, value) look_at(json_string_value(value), count);
    json_object_foreach((json_t *)(uintptr_t)verdict, key, value)
    {
        if (strcmp(key, "execution") != 0) english_verdict(value, count); /* "execution" holds the engine's text */
    }
}
