/* Compares words by their meaning: stems, abbreviations, synonyms, and an agent with its action ("singer", "sing"). */
#include "lib/text/internal.h"

#include <glib.h>
#include <string.h>

static const double SAME_STEM = 1, ABBREVIATION = 0.95, SYNONYM = 0.8, AGENT = 0.6;

bool stems_share_group(const char *a, const char *b)
{
    const struct lexeme *x = lexeme_find(a), *y = lexeme_find(b);
    if (!x || !y) return false;
    for (unsigned i = 0; i < x->n_groups; i++)
        for (unsigned j = 0; j < y->n_groups; j++)
            if (x->groups[i] == y->groups[j]) return true;
    return false;
}

unsigned text_synonym_groups(const char *stem, const uint16_t **groups)
{
    const struct lexeme *known = lexeme_find(stem);
    *groups = known ? known->groups : NULL;
    return known ? known->n_groups : 0;
}

/* Copies the word in lower case. Returns false if it is too long for `out`. */
static bool lower(const char *word, char out[WORD_MAX])
{
    size_t n = strnlen(word, WORD_MAX);
    if (n >= WORD_MAX) return false;
    for (size_t i = 0; i <= n; i++) out[i] = g_ascii_tolower(word[i]);
    return true;
}

/* True if `longer` is the agent of the action `shorter`: teach/teacher, write/writer, win/winner, act/actor. */
static bool is_agent(const char *shorter, const char *longer)
{
    size_t n = strlen(shorter);
    if (n < 3 || strncmp(shorter, longer, n) != 0) return false;
    const struct lexeme *known = lexeme_find(longer);
    if (known && known->is_generic) return false; /* "number" is not the agent of "numb" */
    const char *rest = longer + n;
    if (rest[0] == shorter[n - 1] && rest[0] != '\0' && strcmp(rest + 1, "er") == 0) return true;
    return strcmp(rest, "er") == 0 || strcmp(rest, "or") == 0 || (shorter[n - 1] == 'e' && strcmp(rest, "r") == 0);
}

/* Returns the expansion of the word if it is one word. Otherwise returns the word itself. */
static const char *expanded(const char *word)
{
    const struct lexeme *known = lexeme_find(word);
    return known && known->expansion && !strchr(known->expansion, ' ') ? known->expansion : word;
}

double text_word_similarity(const char *a, const char *b)
{
    char x[WORD_MAX], y[WORD_MAX], sx[WORD_MAX], sy[WORD_MAX];
    if (!lower(a, x) || !lower(b, y)) return strcmp(a, b) == 0 ? SAME_STEM : 0;
    if (!*x || !*y) return 0;
    stem_into(x, sx);
    stem_into(y, sy);
    if (strcmp(sx, sy) == 0) return SAME_STEM;
    double scale = 1;
    const char *long_x = expanded(x), *long_y = expanded(y);
    if (long_x != x || long_y != y) {
        stem_into(long_x, sx);
        stem_into(long_y, sy);
        if (strcmp(sx, sy) == 0) return ABBREVIATION;
        scale = ABBREVIATION;
    }
    if (stems_share_group(sx, sy)) return scale * SYNONYM;
    if (is_agent(x, y) || is_agent(y, x) || is_agent(sx, sy) || is_agent(sy, sx)) return scale * AGENT;
    return 0;
}
