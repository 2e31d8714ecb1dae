/* One run of the program: which command, its settings, its terminal.
 *
 * Exit codes are part of the interface: 0 validated (or simply done), 1 judged but not validated, 2 usage,
 * configuration or internal error, 130 interrupted. Standard output is data; everything else goes to standard error.
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
    const char *sentence;                     /* what it does, for the list of commands */
    const char *guide;                        /* the page of docs/ that tells more; NULL if there is none */
    const char *args;                         /* "LOG", "--db FILE SQL..."; a line for each form */
    const char *description;                  /* paragraphs for --help and the man page, separated by a blank line */
    const char *examples;                     /* lines for the man page; NULL: none */
    const struct option_group *const *groups; /* its flags; ends with NULL */
    const char *main_flags;                   /* "db question": what --help shows; NULL: all of them */
    const char *words;                        /* "build show": what its first argument may be; NULL: anything */
    int min_args, max_args;                   /* max_args -1: any number */
    int (*run)(struct cli *cli);              /* exit code. Thread: main */
};

/* The commands of cli/commands/list.h but the hidden ones; ends with NULL. */
extern const struct command *const commands[];
/* Hidden ones too; NULL: there is none of this name. */
const struct command *command_find(const char *name);

struct catalogue; /* cli/settings/catalogue.h */

struct cli {
    const struct command *command;
    struct arena arena; /* settings' text and whatever lives as long as the program */
    struct settings settings;
    struct vsig_options *signals;
    struct catalogue *catalogue; /* the databases of the configuration files; NULL: none */
    GHashTable *origins;         /* "section.key" → where its value comes from; none: the default */
    const char **args;           /* what is not a flag */
    int n_args;
};

/* Fill settings: defaults, then /etc, the user's file, --config, environment, flags, each over the ones before. Prints
 * the error and the hint to standard error; EXIT_ERROR then, else 0. `flags` are (row, text) pairs in order. */
struct flag {
    const struct option_row *row;
    const char *text;
};
int settings_resolve(struct cli *cli, const struct flag *flags, unsigned n_flags);

/* Set a signal's option from text (yes, no, or a number) and remember the origin. */
enum err_code settings_set_signal(struct cli *cli, const char *signal, const char *key, const char *text,
                                  const char *origin, struct err *err);

/* Set a property of librdkafka, by its own name, and remember the origin. */
enum err_code settings_set_property(struct cli *cli, const char *name, const char *value, const char *origin,
                                    struct err *err);

/* Set "section.key" from text and remember the origin; `append` as in option_set. Unknown keys are ERR_CONFIG with the
 * known ones. */
enum err_code settings_set(struct cli *cli, const char *section, const char *key, const char *text, bool append,
                           const char *origin, struct err *err);

/* Set a key of the training recipe. */
enum err_code settings_set_recipe(struct cli *cli, const char *key, const char *text, bool append, const char *origin,
                                  struct err *err);

/* Where "section.key" was set, or "default". */
const char *settings_origin(const struct cli *cli, const char *section, const char *key);

/* Read one YAML file into the settings. A missing file is an error only if `required`. */
enum err_code config_file_read(struct cli *cli, const char *path, bool required, struct err *err);
/* The same for a training recipe: a file, or the mapping itself, from its "{" on. */
enum err_code recipe_read(struct cli *cli, const char *text, struct err *err);

/* Prints "assay: message" to standard error, and the text behind ERR_HINT as "hint: advice" on the next line. Thread:
 * any. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Reports that the log at `path` has no line. */
void complain_empty(const char *path);
/* Prints the message of `err` to standard error, and its hint on a line of its own. Thread: any. */
void complain_text(const struct err *err);
/* Prints "assay: what: message (code)" and the hint; `what` may be NULL. Returns EXIT_ERROR. */
int complain_err(const char *what, const struct err *err);

const char *program_commit(void);  /* "1234567" */
const char *program_version(void); /* "assay 0.1.0 (commit 1234567, SQLite 3.40.1)" */

#endif
