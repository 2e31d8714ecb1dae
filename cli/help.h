/* Prints --help, and suggests the nearest flag or command for an unknown word. */
#ifndef ASSAY_CLI_HELP_H
#define ASSAY_CLI_HELP_H

#include "cli/cli.h"

#include <argp.h>

/* Flags that every command has in addition to its own; ends with zeros. */
extern const struct argp_option help_options[];

/* Handles one of help_options and exits. Returns ARGP_ERR_UNKNOWN for any other key. `short_help` prints --help. */
error_t help_on_key(int key, const char *arg, struct argp_state *state, void (*short_help)(const struct command *),
                    const struct command *command);

/* Prints --help of a command: its description and its main flags, or all flags if there are few. */
void help_print(const struct command *command);

/* Returns the flag of this command with this name or unique prefix, or NULL. */
const struct option_row *help_find_flag(const struct command *command, const char *name, size_t len);

/* Return the flag (with leading dashes) or command nearest to `word`, or NULL. The text is static or lives in the
 * arena. */
const char *help_near_flag(const struct command *command, const char *word);
const char *help_near_command(const char *word);

/* Returns the first argument that looks like a flag but is unknown, without its value, or NULL. Free with g_free. */
char *help_unknown_flag(const struct command *command, int argc, char *const *argv);

#endif
