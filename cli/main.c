/* The entry point: finds the command, builds argp's options from the option tables, resolves settings, and runs the
 * command. */
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/output/destination.h"
#include "cli/output/terminal.h"
#include "lib/db/executor.h"

#include "cli/commit.h" /* the build generates it; defines ASSAY_COMMIT */

#include <argp.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND(name)        extern const struct command command_##name;
#define HIDDEN_COMMAND(name) extern const struct command command_##name;
#include "cli/commands/list.h"

#define COMMAND(name) &command_##name,
#define HIDDEN_COMMAND(name)
const struct command *const commands[] = {
#include "cli/commands/list.h"
    NULL};

#define COMMAND(name)
#define HIDDEN_COMMAND(name) &command_##name,
static const struct command *const hidden_commands[] = {
#include "cli/commands/list.h"
    NULL};

static const struct command *find_in(const struct command *const *list, const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0) list++;
    return *list;
}

const struct command *command_find(const char *name)
{
    const struct command *shown = find_in(commands, name);
    return shown ? shown : find_in(hidden_commands, name);
}

const char *program_commit(void)
{
    return ASSAY_COMMIT;
}

const char *program_version(void)
{
    static char text[128];
    snprintf(text, sizeof text, "assay " ASSAY_VERSION " (commit " ASSAY_COMMIT ", SQLite %s)", db_engine_version());
    return text;
}

/* --- one command's flags ------------------------------------------------------------------------------------ */

enum { MAX_FLAGS = 4096, FIRST_LONG_KEY = 0x100 };

struct parse {
    struct cli *cli;
    GArray *options; /* struct argp_option, ends with zeros */
    GPtrArray *rows; /* parallel to options: the row, or NULL for a heading */
    GArray *flags;   /* struct flag */
    GPtrArray *args; /* char * */
};

static char *flag_help(const struct option_row *row)
{
    bool shown = row->fallback && row->type != OPT_FLAG && row->fallback[0] != '-';
    return g_strdup_printf("%s%s%s%s%s%s%s", row->sentence, row->choices ? " [" : "", row->choices ? row->choices : "",
                           row->choices ? "]" : "", shown ? " (default " : "", shown ? row->fallback : "",
                           shown ? ")" : "");
}

static void add_group(struct parse *parse, const struct option_group *group, int number)
{
    struct argp_option heading = {.doc = group->title, .group = number};
    if (!group->recipe) {
        g_array_append_val(parse->options, heading);
        g_ptr_array_add(parse->rows, NULL);
    }
    for (const struct option_row *row = group->rows; row->name; row++) {
        struct argp_option option = {.name = row->name, .arg = row->arg, .doc = flag_help(row), .group = number};
        option.key = row->key ? row->key : FIRST_LONG_KEY + (int)parse->rows->len;
        if (row->type == OPT_FLAG && !row->command_line_only) {
            option.arg = "yes|no";
            option.flags = OPTION_ARG_OPTIONAL;
        }
        if (group->recipe) option.flags |= OPTION_HIDDEN;
        g_array_append_val(parse->options, option);
        g_ptr_array_add(parse->rows, (gpointer)row);
    }
}

static const struct option_row *row_of(const struct parse *parse, int key)
{
    for (guint i = 0; i < parse->rows->len; i++)
        if (parse->rows->pdata[i] && g_array_index(parse->options, struct argp_option, i).key == key)
            return parse->rows->pdata[i];
    return NULL;
}

static error_t on_flag(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    if (key == ARGP_KEY_ARG) {
        g_ptr_array_add(parse->args, arg);
        return 0;
    }
    if (key == ARGP_KEY_END) {
        const struct command *command = parse->cli->command;
        int n = (int)parse->args->len;
        if (n < command->min_args) argp_error(state, "too few arguments");
        if (command->max_args >= 0 && n > command->max_args) argp_error(state, "too many arguments");
        return 0;
    }
    const struct option_row *row = row_of(parse, key);
    if (!row) return help_on_key(key, arg, state, help_print, parse->cli->command);
    if (parse->flags->len >= MAX_FLAGS) argp_error(state, "too many flags");
    struct flag flag = {row, arg ? arg : "true"};
    g_array_append_val(parse->flags, flag);
    return 0;
}

static void parse_free(struct parse *parse)
{
    for (guint i = 0; i < parse->rows->len; i++)
        if (parse->rows->pdata[i]) g_free((gpointer)g_array_index(parse->options, struct argp_option, i).doc);
    g_array_free(parse->options, TRUE);
    g_ptr_array_free(parse->rows, TRUE);
    g_array_free(parse->flags, TRUE);
}

/* Reports an unknown flag with the nearest known one. */
static bool flags_are_known(const struct command *command, int argc, char *const *argv)
{
    char *unknown = help_unknown_flag(command, argc, argv);
    if (!unknown) return true;
    const char *near = help_near_flag(command, unknown);
    complain("%s has no flag '--%.80s'%s%s%s" ERR_HINT "run `assay %s --help=all` to list the flags", command->name,
             unknown, near ? ": did you mean --" : "", near ? near : "", near ? "?" : "", command->name);
    g_free(unknown);
    return false;
}

/* Reads the command's flags, resolves the settings, and runs the command. On --help and bad usage, argp ends the
 * process. */
static int run_command(struct cli *cli, int argc, char **argv)
{
    struct parse parse = {.cli = cli,
                          .options = g_array_new(TRUE, TRUE, sizeof(struct argp_option)),
                          .rows = g_ptr_array_new(),
                          .flags = g_array_new(FALSE, FALSE, sizeof(struct flag)),
                          .args = g_ptr_array_new()};
    int number = 1;
    for (const struct option_group *const *g = cli->command->groups; *g; g++) add_group(&parse, *g, number++);
    for (const struct argp_option *option = help_options; option->key; option++) {
        g_array_append_val(parse.options, *option);
        g_ptr_array_add(parse.rows, NULL);
    }
    struct argp argp = {.options = (const struct argp_option *)(void *)parse.options->data,
                        .parser = on_flag,
                        .args_doc = cli->command->args,
                        .doc = cli->command->description};
    char *name = g_strdup_printf("assay %s", cli->command->name);
    argv[0] = name;
    int code = EXIT_ERROR;
    if (flags_are_known(cli->command, argc, argv) && argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, &parse) == 0) {
        cli->args = (const char **)parse.args->pdata;
        cli->n_args = (int)parse.args->len;
        code = settings_resolve(cli, (const struct flag *)(void *)parse.flags->data, parse.flags->len);
        if (code == 0) {
            terminal_init(cli->settings.general.color);
            code = cli->command->run(cli);
        }
    }
    parse_free(&parse);
    g_ptr_array_free(parse.args, TRUE);
    g_free(name);
    return code;
}

/* --- assay [--help|--version] COMMAND ------------------------------------------------------------------------ */

/* Makes `assay help` mean `assay --help`, and `assay help COMMAND` mean `assay COMMAND --help`. Exits. */
static void help_word(struct argp_state *state)
{
    const char *name = state->next < state->argc ? state->argv[state->next] : NULL;
    const struct command *command = name ? command_find(name) : NULL;
    const char *near = name ? help_near_command(name) : NULL;
    if (name && !command)
        argp_error(state, "unknown command '%.80s'%s%s%s", name, near ? ": did you mean " : "", near ? near : "",
                   near ? "?" : "");
    help_on_key('h', NULL, state, command ? help_print : NULL, command);
}

static error_t on_command(int key, char *arg, struct argp_state *state)
{
    if (key == ARGP_KEY_NO_ARGS) argp_error(state, "missing command");
    if (key != ARGP_KEY_ARG) return help_on_key(key, arg, state, NULL, NULL);
    struct cli *cli = state->input;
    if (strcmp(arg, "version") == 0) help_on_key('V', NULL, state, NULL, NULL);
    if (strcmp(arg, "help") == 0) help_word(state);
    cli->command = command_find(arg);
    const char *near = cli->command ? NULL : help_near_command(arg);
    if (!cli->command)
        argp_error(state, "unknown command '%.80s'%s%s%s", arg, near ? ": did you mean " : "", near ? near : "",
                   near ? "?" : "");
    cli->n_args = state->next - 1; /* index of the command */
    state->next = state->argc;     /* the remaining words belong to the command */
    return 0;
}

static char *list_commands(void)
{
    GString *text = g_string_new("Judges SQL written by text-to-SQL systems: which candidate may be trusted, with what "
                                 "probability, and which clauses are suspect and why.\vCommands:\n");
    for (const struct command *const *c = commands; *c; c++)
        g_string_append_printf(text, "  %-10s %s\n", (*c)->name, (*c)->sentence);
    g_string_append(text,
                    "\nExit status: 0 validated, 1 judged but not validated, 2 usage, configuration or internal "
                    "error, 130 interrupted. See `assay COMMAND --help` for the main options, `--help=all` for all.");
    return g_string_free(text, FALSE);
}

/* Sets the locale: UTF-8 output in every environment, and numbers in C form, because files contain them. */
static void set_locale(void)
{
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) setlocale(LC_CTYPE, "C.UTF-8");
}

/* Ignores two signals, so that a failed write returns an error instead. The error is EPIPE for a closed connection, and
 * EFBIG for a file at its size limit. By default, the signals end the process. A program that this one starts restores
 * them, or ignores them itself. */
static void ignore_signals_of_writes(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[0], EXECUTOR_NAME) == 0) executor_serve(argv[1]);
    ignore_signals_of_writes();
    outfile_take_stdout();
    set_locale();
    argp_err_exit_status = EXIT_ERROR;
    struct cli cli = {.origins = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    arena_init(&cli.arena, 0);
    cli.signals = vsig_options_new();
    char *doc = list_commands();
    struct argp argp = {.options = help_options, .parser = on_command, .args_doc = "COMMAND [ARGUMENT...]", .doc = doc};
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &cli);
    int at = cli.n_args;
    int code = run_command(&cli, argc - at, argv + at);
    g_free(doc);
    vsig_options_free(cli.signals);
    g_hash_table_destroy(cli.origins);
    arena_free(&cli.arena);
    return close_stdout(code);
}
