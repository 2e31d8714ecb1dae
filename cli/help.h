/* What the program says of its own use: --help, and suggestions for an unknown word. */
#ifndef ASSAY_CLI_HELP_H
#define ASSAY_CLI_HELP_H

#include "cli/cli.h"

#include <argp.h>

/* The flags that every command has beside its own: end with zeros. */
extern const struct argp_option help_options[];

/* Act on one of them and leave the program; ARGP_ERR_UNKNOWN for any other key. `short_help`: of --help. */
error_t help_on_key(int key, const char *arg, struct argp_state *state, void (*short_help)(const struct command *),
                    const struct command *command);

/* --help of a command: what it does, and the flags that matter first; all of them where there are few. */
void help_print(const struct command *command);

/* The flag of this command with this name or its only beginning; NULL: there is none, or several. */
const struct option_row *help_find_flag(const struct command *command, const char *name, size_t len);

/* What `word` may have been meant for among a command's flags (with dashes before), or among the names of commands;
 * NULL: nothing is near. Arena text or static. */
const char *help_near_flag(const struct command *command, const char *word);
const char *help_near_command(const char *word);

/* The first of these arguments that looks like a flag and is none, without its value; NULL: all are known. g_free */
char *help_unknown_flag(const struct command *command, int argc, char *const *argv);

#endif
