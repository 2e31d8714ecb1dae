/* Defines one run of the program: its command and settings, and the functions that print its messages.
 *
 * Exit codes are part of the interface. 0: validated, or done. 1: judged but not validated. 2: usage, configuration or
 * internal error. 130: interrupted. Standard output carries data; everything else goes to standard error.
 */
#ifndef ASSAY_CLI_CLI_H
#define ASSAY_CLI_CLI_H

#include "cli/settings/options.h"
#include "signals/vsig.h"

#include <glib.h>

enum { EXIT_VALIDATED = 0, EXIT_JUDGED = 1, EXIT_ERROR = 2, EXIT_INTERRUPTED = 130 };

struct cli;

struct command {
    const char *name;
    const char *sentence;                     /* summary for the list of commands */
    const char *guide;                        /* page of docs/ with details; NULL if there is none */
    const char *args;                         /* usage, such as "LOG" or "--db FILE SQL..."; one line for each form */
    const char *description;                  /* paragraphs for --help and the man page, separated by a blank line */
    const char *examples;                     /* lines for the man page; NULL if there are none */
    const struct option_group *const *groups; /* groups of its flags; ends with NULL */
    const char *main_flags;                   /* flags that --help shows, such as "db question"; NULL shows all */
    /* allowed values of the first argument, such as "build show"; NULL allows any */
    const char *words;
    int min_args, max_args;      /* max_args is -1 for any number */
    int (*run)(struct cli *cli); /* exit code. Thread: main */
};

/* The commands of cli/commands/list.h except the hidden ones; ends with NULL. */
extern const struct command *const commands[];
/* Returns the command of that name, hidden ones included, or NULL. */
const struct command *command_find(const char *name);

struct catalogue; /* cli/settings/catalogue.h */

struct cli {
    const struct command *command;
    struct arena arena; /* text of settings, and data that lives as long as the program */
    struct settings settings;
    struct vsig_options *signals;
    struct catalogue *catalogue; /* databases of the configuration files; NULL if there are none */
    GHashTable *origins;         /* "section.key" → origin of its value; has no entry for a default */
    const char **args;           /* arguments that are not flags */
    int n_args;
};

/* Fills settings in increasing priority: defaults, /etc, the user's file, --config, environment, flags. `flags` are
 * (row, text) pairs in order. Returns 0, or EXIT_ERROR after printing the error and its hint to standard error. */
struct flag {
    const struct option_row *row;
    const char *text;
};
int settings_resolve(struct cli *cli, const struct flag *flags, unsigned n_flags);

/* Sets a signal's option from text (yes, no, or a number), and records the origin. */
enum err_code settings_set_signal(struct cli *cli, const char *signal, const char *key, const char *text,
                                  const char *origin, struct err *err);

/* Sets a property of librdkafka by its own name, and records the origin. */
enum err_code settings_set_property(struct cli *cli, const char *name, const char *value, const char *origin,
                                    struct err *err);

/* Sets "section.key" from text, and records the origin. `append` is that of option_set. Returns ERR_CONFIG for an
 * unknown key; the message lists the known keys. */
enum err_code settings_set(struct cli *cli, const char *section, const char *key, const char *text, bool append,
                           const char *origin, struct err *err);

/* Sets a key of the training recipe. */
enum err_code settings_set_recipe(struct cli *cli, const char *key, const char *text, bool append, const char *origin,
                                  struct err *err);

/* Returns the origin of the value of "section.key", or "default". */
const char *settings_origin(const struct cli *cli, const char *section, const char *key);

/* Reads a YAML file into the settings. A missing file is an error only if `required`. */
enum err_code config_file_read(struct cli *cli, const char *path, bool required, struct err *err);
/* Reads a training recipe: from a file, or from the mapping itself if the text begins with "{". */
enum err_code recipe_read(struct cli *cli, const char *text, struct err *err);

/* Prints "assay: message" to standard error, and the text after ERR_HINT as "hint: advice" on the next line. Thread:
 * any. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports that the log at `path` is empty. */
void complain_empty(const char *path);
/* Prints the message of `err` to standard error, and its hint on a line of its own. Thread: any. */
void complain_text(const struct err *err);
/* Prints "assay: what: message (code)" and the hint; `what` may be NULL. Returns EXIT_ERROR. */
int complain_err(const char *what, const struct err *err);

const char *program_commit(void);  /* "1234567" */
const char *program_version(void); /* "assay 0.1.0 (commit 1234567, SQLite 3.40.1)" */

#endif
