/* Reads our own tables (lib/text/words/): relations.txt and countries.txt. The first lines of each file describe its
 * format. */
#include "lib/text/compile/compile.h"

#include <stdlib.h>
#include <string.h>

enum { CODES, NAMES, DEMONYMS, LANGUAGES, PARTS };

/* Returns the number of a phrase whose words are joined by underscores: "united_kingdom". */
static uint32_t word_of(struct build *build, const char *text)
{
    char *phrase = g_strdelimit(g_strdup(text), "_", ' ');
    uint32_t number = build_word_of(build, phrase);
    g_free(phrase);
    return number;
}

static void relate_lists(struct build *build, char *const *as, char *const *bs, enum text_relation_kind kind,
                         double strength)
{
    for (char *const *a = as; *a; a++)
        for (char *const *b = bs; *b; b++)
            if (**a && **b && strcmp(*a, *b) != 0)
                build_relate(build, word_of(build, *a), word_of(build, *b), kind, strength);
}

static enum text_relation_kind kind_named(const char *name)
{
    for (unsigned kind = 1; kind < TEXT_RELATION_KINDS; kind++)
        if (strcmp(text_relation_name((enum text_relation_kind)kind), name) == 0) return (enum text_relation_kind)kind;
    build_fail("no such relation", name);
}

/* Reads a line of the form <relation> <strength> <words> : <words>. */
static void read_relation(struct build *build, char *line)
{
    char **sides = g_strsplit(line, ":", 2);
    char **left = g_strsplit(g_strstrip(sides[0]), " ", -1);
    if (!sides[1] || g_strv_length(left) < 3) build_fail("not a relation", line);
    char **right = g_strsplit(g_strstrip(sides[1]), " ", -1);
    relate_lists(build, left + 2, right, kind_named(left[0]), g_ascii_strtod(left[1], NULL));
    g_strfreev(right);
    g_strfreev(left);
    g_strfreev(sides);
}

/* Reads a line of the form <codes> | <names> | <demonyms> | <languages>. */
static void read_country(struct build *build, char *line)
{
    char **columns = g_strsplit(line, "|", PARTS);
    char **parts[PARTS];
    if (g_strv_length(columns) != PARTS) build_fail("not a country", line);
    for (unsigned i = 0; i < PARTS; i++) parts[i] = g_strsplit(g_strstrip(columns[i]), " ", -1);
    relate_lists(build, parts[NAMES], parts[NAMES], TEXT_RELATION_SYNONYM, 1);
    relate_lists(build, parts[NAMES], parts[CODES], TEXT_RELATION_CODE, 1);
    relate_lists(build, parts[NAMES], parts[DEMONYMS], TEXT_RELATION_DEMONYM, 1);
    relate_lists(build, parts[DEMONYMS], parts[DEMONYMS], TEXT_RELATION_SYNONYM, 0.9);
    relate_lists(build, parts[DEMONYMS], parts[CODES], TEXT_RELATION_CODE, 0.9);
    relate_lists(build, parts[NAMES], parts[LANGUAGES], TEXT_RELATION_DEMONYM, 0.6);
    char *country[] = {(char[]){"country"}, NULL};
    relate_lists(build, parts[NAMES], country, TEXT_RELATION_IS_A, 0.9);
    for (unsigned i = 0; i < PARTS; i++) g_strfreev(parts[i]);
    g_strfreev(columns);
}

static void each_line(struct build *build, const char *folder, const char *name,
                      void (*read)(struct build *build, char *line))
{
    char **lines = build_lines(folder, name);
    for (char **line = lines; *line; line++)
        if (*g_strstrip(*line) && **line != '#') read(build, *line);
    g_strfreev(lines);
}

void tables_read(struct build *build, const char *folder)
{
    each_line(build, folder, "relations.txt", read_relation);
    each_line(build, folder, "countries.txt", read_country);
}
