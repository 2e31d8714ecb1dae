/* Prints the help of commands, and suggests the nearest flag or command for an unknown word (help.h). argp formats the
 * text; this file selects the rows. Commands with many flags show only the main ones unless all are requested. */
#include "cli/help.h"
#include "cli/output/destination.h"
#include "lib/text/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_USAGE = 0x10, KEY_VERSION };

const struct argp_option help_options[] = {
    {.name = "help", .key = '?', .arg = "all", .flags = OPTION_ARG_OPTIONAL, .doc = "show main options; all: show all"},
    {.key = 'h', .flags = OPTION_HIDDEN},
    {.name = "usage", .key = KEY_USAGE, .doc = "show a short usage message"},
    {.name = "version", .key = 'V', .doc = "show the version"},
    {0}};

error_t help_on_key(int key, const char *arg, struct argp_state *state, void (*short_help)(const struct command *),
                    const struct command *command)
{
    bool all = arg && strcmp(arg, "all") == 0;
    if (key == 'h' || key == '?') {
        if (arg && !all) argp_error(state, "--help or --help=all");
        if (short_help && !all)
            short_help(command);
        else
            argp_state_help(state, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK);
    } else if (key == KEY_USAGE) {
        argp_state_help(state, stdout, ARGP_HELP_USAGE);
    } else if (key == 'V') {
        puts(program_version());
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    exit(close_stdout(0));
}

/* --- the main flags ---------------------------------------------------------------------------------------------- */

static unsigned count_flags(const struct command *command)
{
    unsigned n = 0;
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++) n++;
    return n;
}

static const struct option_row *exact_flag(const struct command *command, const char *name)
{
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++)
            if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

static void add_option(GArray *options, const struct option_row *row)
{
    struct argp_option option = {.name = row->name,
                                 .key = row->key ? row->key : 0x100 + (int)options->len,
                                 .arg = row->arg,
                                 .doc = row->sentence,
                                 /* each flag gets a group of its own, because argp sorts within a group */
                                 .group = (int)options->len + 1};
    g_array_append_val(options, option);
}

/* Adds the main flags of the command, or all if there are few. */
static void add_options(GArray *options, const struct command *command, bool few)
{
    char **names = g_strsplit(command->main_flags ? command->main_flags : "", " ", -1);
    for (char **name = names; !few && *name; name++) {
        const struct option_row *row = exact_flag(command, *name);
        if (row) add_option(options, row);
    }
    for (const struct option_group *const *g = command->groups; few && *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++) add_option(options, row);
    g_strfreev(names);
}

/* Removes the note on flag arguments that argp adds to the help. */
static char *without_note(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

void help_print(const struct command *command)
{
    unsigned n = count_flags(command);
    bool few = !command->main_flags;
    GArray *options = g_array_new(TRUE, TRUE, sizeof(struct argp_option));
    add_options(options, command, few);
    const char *end = strpbrk(command->description, ".\n");
    while (end && *end == '.' && end[1] && !g_ascii_isspace(end[1])) end = strpbrk(end + 1, ".\n");
    char *first = end ? g_strndup(command->description, (size_t)(end - command->description) + (*end == '.'))
                      : g_strdup(command->description);
    char *rest =
        few ? g_strdup_printf("For details see `assay %s --help=all` or `man assay-%s`.", command->name, command->name)
            : g_strdup_printf("`assay %s --help=all` shows all %u flags, as does `man assay-%s`.", command->name, n,
                              command->name);
    char *doc = g_strdup_printf("%s\v%s", first, rest), *name = g_strdup_printf("assay %s", command->name);
    struct argp argp = {.options = (const struct argp_option *)(void *)options->data,
                        .args_doc = command->args,
                        .doc = doc,
                        .help_filter = without_note};
    argp_help(&argp, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG, name);
    g_free(name);
    g_free(doc);
    g_free(rest);
    g_free(first);
    g_array_free(options, TRUE);
}

/* --- suggestions ------------------------------------------------------------------------------------------------- */

static bool is_help_flag(const char *name, size_t len)
{
    for (const struct argp_option *option = help_options; option->key; option++)
        if (option->name && strncmp(option->name, name, len) == 0) return true;
    return false;
}

const struct option_row *help_find_flag(const struct command *command, const char *name, size_t len)
{
    const struct option_row *found = NULL;
    unsigned n = 0;
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++) {
            if (strncmp(row->name, name, len) != 0) continue;
            if (strlen(row->name) == len) return row;
            found = row;
            n++;
        }
    return n == 1 ? found : NULL;
}

struct nearest {
    const char *word, *name;
    unsigned least;
};

/* Accepts a name if at most a third of the letters differ, or if it begins with the word. */
static void consider(struct nearest *nearest, const char *name)
{
    unsigned limit = (unsigned)MAX(1, strlen(nearest->word) / 3);
    unsigned far = text_distance(nearest->word, name, limit);
    if (far > limit && strlen(nearest->word) > 2 && g_str_has_prefix(name, nearest->word)) far = limit;
    if (far > limit || (nearest->name && far >= nearest->least)) return;
    nearest->name = name;
    nearest->least = far;
}

const char *help_near_flag(const struct command *command, const char *word)
{
    struct nearest nearest = {.word = word};
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++)
            consider(&nearest, row->name);
    for (const struct argp_option *option = help_options; option->key; option++)
        if (option->name) consider(&nearest, option->name);
    return nearest.name;
}

const char *help_near_command(const char *word)
{
    struct nearest nearest = {.word = word};
    for (const struct command *const *c = commands; *c; c++) consider(&nearest, (*c)->name);
    consider(&nearest, "help");
    consider(&nearest, "version");
    return nearest.name;
}

/* True if the flag takes the next argument as its value. */
static bool takes_next(const struct option_row *row)
{
    return row->type != OPT_FLAG;
}

static const struct option_row *short_flag(const struct command *command, char letter)
{
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++)
            if (row->key == letter) return row;
    return NULL;
}

char *help_unknown_flag(const struct command *command, int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        const struct option_row *row = NULL;
        if (word[0] != '-' || !word[1]) continue;
        size_t len = word[1] == '-' ? strcspn(word + 2, "=") : 0;
        if (word[1] != '-')
            row = word[2] ? NULL : short_flag(command, word[1]);
        else if (!(row = help_find_flag(command, word + 2, len)) && !is_help_flag(word + 2, len))
            return g_strndup(word + 2, len);
        if (row && takes_next(row) && !(len && word[2 + len])) i++;
    }
    return NULL;
}
