/* Defines all options. Flags, environment variables, configuration keys, man pages and completion are derived from this
 * definition.
 *
 * A row is one setting. Rows are in groups. A group is a section of the configuration file, and a command accepts the
 * flags of the groups that it names. The value is stored in a field of `struct settings`, so code reads a typed field
 * such as settings->replay.workers. A new setting needs one field and one row.
 *
 *     flag         --max-iterations=N
 *     environment  ASSAY_JUDGE_MAX_ITERATIONS
 *     file         judge: {max_iterations: N}
 */
#ifndef ASSAY_CLI_SETTINGS_OPTIONS_H
#define ASSAY_CLI_SETTINGS_OPTIONS_H

#include "cli/settings/settings.h"

#include <stddef.h>

enum option_type {
    OPT_FLAG,   /* bool; --name, --name=no */
    OPT_INT,    /* int64_t within [min, max] */
    OPT_REAL,   /* double within [min, max] */
    OPT_TEXT,   /* const char *, NULL if unset */
    OPT_CHOICE, /* const char *, one of `choices` */
    OPT_LIST,   /* struct string_list; the flag may be repeated */
    OPT_SIGNAL, /* NAME.KEY=VALUE: an option of one signal, stored in cli->signals */
    /* struct string_list of NAME=VALUE: settings of a library; a later value of a name replaces the earlier one */
    OPT_PROPERTY
};

struct option_row {
    const char *name; /* name of the flag: words with dashes */
    int key;          /* letter of the short flag, or 0 */
    enum option_type type;
    const char *arg;      /* placeholder in --help; NULL for a flag */
    size_t offset;        /* offset of the field in struct settings */
    const char *fallback; /* default in text form; NULL if there is none */
    const char *choices;  /* accepted values, as "a|b|c", of OPT_CHOICE and OPT_LIST; NULL accepts any text in a list */
    double min, max;
    bool command_line_only; /* the option selects an action, so a file or the environment may not set it */
    const char *sentence;
    enum err_code (*check)(const char *text, struct err *err); /* OPT_LIST: checks an item; NULL accepts any */
};

struct option_group {
    const char *section;
    const char *title;             /* heading in --help and the man page */
    const struct option_row *rows; /* ends with a NULL name */
    /* The rows are keys of a training recipe (--recipe). For one more version they are also accepted as flags,
     * variables and keys of the section, with a warning. These forms are not documented. */
    bool recipe;
};

/* All groups, for code that processes every option (environment, file, documentation); ends with NULL. */
extern const struct option_group *const option_groups[];

extern const struct option_group options_general, options_output, options_judge, options_verifier, options_repair,
    options_encoder, options_llm, options_consult, options_corrector, options_polish, options_database, options_schema,
    options_redis, options_verdicts, options_signals, options_check, options_ddl, options_answer, options_fix,
    options_explain, options_replay, options_eval, options_calibrate, options_feedback, options_examples,
    options_predictor, options_link, options_train, options_recipe, options_mutate, options_doctor, options_config,
    options_log, options_kafka, options_topics, options_coordinator, options_serve, options_dlq, options_worker,
    options_diff, options_range, options_past, options_observe, options_mcp, options_report;

/* True for a key of a training recipe. */
bool option_is_recipe(const struct option_row *row);

/* Returns the row with this section and key (words with underscores, ignoring case), or NULL. */
const struct option_row *option_find(const char *section, const char *key);

/* Returns the group with this section name, or NULL. */
const struct option_group *option_group_find(const char *section);

/* Write the configuration key ("max_iterations") and the environment variable ("ASSAY_JUDGE_MAX_ITERATIONS") of a row
 * to `out`. Text longer than `size` is cut. */
void option_key(const struct option_row *row, char *out, size_t size);
void option_variable(const struct option_group *group, const struct option_row *row, char *out, size_t size);

/* Returns the current value as a configuration file would contain it. `settings` is the struct to which the row's
 * offset refers: struct settings, or struct catalogue_entry. The text lives in the arena. Returns NULL if the arena is
 * full. */
char *option_value_text(struct arena *arena, const struct option_row *row, const void *settings);

/* Parses `text` into the row's field. Copies strings into `arena`. For an OPT_LIST, `text` is one item; it is appended
 * if `append` is true, and otherwise starts a new list. Returns ERR_CONFIG for an invalid text; the message names the
 * accepted values. */
enum err_code option_set(struct arena *arena, const struct option_row *row, const char *text, bool append,
                         void *settings, struct err *err);

/* Parses true, yes, on, 1 and their opposites, ignoring case. Returns false for any other text. */
bool option_parse_bool(const char *text, bool *out);

#endif
