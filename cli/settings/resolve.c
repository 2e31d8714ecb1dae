/* Resolves each setting by priority, highest first: flag, environment, --config, the user's file, the system's file,
 * default. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static void remember(struct cli *cli, const char *section, const char *key, const char *origin)
{
    char *name = g_ascii_strdown(section, -1), *low = g_ascii_strdown(key, -1);
    g_hash_table_replace(cli->origins, g_strdup_printf("%s.%s", name, low), g_strdup(origin));
    g_free(name);
    g_free(low);
}

const char *settings_origin(const struct cli *cli, const char *section, const char *key)
{
    char *name = g_strdup_printf("%s.%s", section, key);
    const char *origin = g_hash_table_lookup(cli->origins, name);
    g_free(name);
    return origin ? origin : "default";
}

/* Reports an unknown key and lists the known ones. `group` is NULL if the section is unknown too. */
static enum err_code unknown_key(const struct option_group *group, const char *where, const char *key, struct err *err)
{
    GString *known = g_string_new(NULL);
    for (const struct option_row *row = group ? group->rows : NULL; row && row->name; row++) {
        char name[64];
        option_key(row, name, sizeof name);
        if (!row->command_line_only) g_string_append_printf(known, "%s%s", known->len ? ", " : "", name);
    }
    err_set(err, ERR_CONFIG, "unknown setting '%.60s' in %s '%.60s'%s%s", key,
            group && group->recipe ? "the" : "section", where, known->len ? "; known: " : "", known->str);
    g_string_free(known, TRUE);
    return ERR_CONFIG;
}

/* Warns that the key has moved to the training recipe, and that the next version will refuse it here. */
static void say_moved(const struct option_row *row, const char *origin)
{
    char key[64];
    option_key(row, key, sizeof key);
    complain("%s: deprecated, will be removed in the next version" ERR_HINT
             "set `%s` of the training recipe (--recipe)",
             origin, key);
}

enum err_code settings_set(struct cli *cli, const char *section, const char *key, const char *text, bool append,
                           const char *origin, struct err *err)
{
    const struct option_row *row = option_find(section, key);
    if (!row || row->command_line_only) return unknown_key(option_group_find(section), section, key, err);
    enum err_code code = option_set(&cli->arena, row, text, append, &cli->settings, err);
    if (code != ERR_OK) return code;
    if (option_is_recipe(row)) say_moved(row, origin);
    remember(cli, section, key, origin);
    return ERR_OK;
}

enum err_code settings_set_recipe(struct cli *cli, const char *key, const char *text, bool append, const char *origin,
                                  struct err *err)
{
    const struct option_row *row = option_find(options_recipe.section, key);
    if (!row || !option_is_recipe(row)) return unknown_key(&options_recipe, "training recipe", key, err);
    enum err_code code = option_set(&cli->arena, row, text, append, &cli->settings, err);
    if (code == ERR_OK) remember(cli, options_recipe.section, key, origin);
    return code;
}

enum err_code settings_set_signal(struct cli *cli, const char *signal, const char *key, const char *text,
                                  const char *origin, struct err *err)
{
    bool yes = false;
    char *end = NULL;
    double value = strtod(text, &end);
    if (option_parse_bool(text, &yes) && strcmp(key, "enabled") == 0)
        value = yes;
    else if (strcmp(key, "enabled") == 0 || end == text || *end)
        return err_set(err, ERR_CONFIG, "%s.%s expects %s, got '%.60s'", signal, key,
                       strcmp(key, "enabled") == 0 ? "yes or no" : "a number", text);
    enum err_code code = vsig_options_set(cli->signals, signal, key, value, err);
    if (code != ERR_OK) return code;
    char *name = g_strdup_printf("%s.%s", signal, key);
    remember(cli, options_signals.section, name, origin);
    g_free(name);
    return ERR_OK;
}

enum err_code settings_set_property(struct cli *cli, const char *name, const char *value, const char *origin,
                                    struct err *err)
{
    const struct option_row *row = option_find(options_kafka.section, "property");
    const char *text = arena_printf(&cli->arena, "%s=%s", name, value);
    if (!text) return err_set(err, ERR_NOMEM, "too many settings");
    enum err_code code = option_set(&cli->arena, row, text, true, &cli->settings, err);
    if (code == ERR_OK) remember(cli, options_kafka.section, name, origin);
    return code;
}

static enum err_code set_defaults(struct cli *cli, struct err *err)
{
    for (const struct option_group *const *g = option_groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++) {
            if (!row->fallback) continue;
            enum err_code code = option_set(&cli->arena, row, row->fallback, false, &cli->settings, err);
            if (code != ERR_OK) return code;
        }
    return ERR_OK;
}

/* Sets NAME.KEY=VALUE of --signal. */
static enum err_code set_signal_flag(struct cli *cli, const char *text, struct err *err)
{
    const char *dot = strchr(text, '.'), *equals = dot ? strchr(dot, '=') : NULL;
    if (!equals) return err_set(err, ERR_USAGE, "--signal expects NAME.KEY=VALUE, got '%.80s'", text);
    char *signal = g_strndup(text, (gsize)(dot - text)), *key = g_strndup(dot + 1, (gsize)(equals - dot - 1));
    enum err_code code = settings_set_signal(cli, signal, key, equals + 1, "flag --signal", err);
    g_free(signal);
    g_free(key);
    return code;
}

/* Sets a signal's option from the environment: ASSAY_SIGNALS_<SIGNAL>_<KEY>. Names and keys contain underscores, so the
 * longest matching signal name wins. */
static enum err_code set_signal_variable(struct cli *cli, const char *rest, const char *value, const char *origin,
                                         struct err *err)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n), *best = NULL;
    size_t longest = 0;
    for (unsigned i = 0; i < n; i++) {
        size_t len = strlen(all[i]->name);
        if (len <= longest || g_ascii_strncasecmp(rest, all[i]->name, len) != 0 || rest[len] != '_') continue;
        best = all[i];
        longest = len;
    }
    if (!best) return err_set(err, ERR_CONFIG, "%s does not name a signal", origin);
    char *key = g_ascii_strdown(rest + longest + 1, -1);
    enum err_code code = settings_set_signal(cli, best->name, key, value, origin, err);
    g_free(key);
    return code;
}

static enum err_code set_list_variable(struct cli *cli, const char *section, const char *key, const char *value,
                                       const char *origin, struct err *err)
{
    gchar **items = g_strsplit(value, ",", -1);
    enum err_code code = ERR_OK;
    for (unsigned i = 0; items[i] && code == ERR_OK; i++)
        code = settings_set(cli, section, key, items[i], i > 0, origin, err);
    g_strfreev(items);
    return code;
}

/* Sets a property from a variable: ASSAY_KAFKA_PROPERTY_SASL_PASSWORD means sasl.password. */
static enum err_code set_property_variable(struct cli *cli, const char *name, const char *value, const char *origin,
                                           struct err *err)
{
    char *property = g_ascii_strdown(name, -1);
    g_strdelimit(property, "_", '.');
    enum err_code code = settings_set_property(cli, property, value, origin, err);
    g_free(property);
    return code;
}

/* Processes one variable ASSAY_SECTION_KEY=VALUE. If SECTION is not a section of the settings, the variable belongs to
 * another program and is ignored. */
static enum err_code set_variable(struct cli *cli, const char *variable, struct err *err)
{
    const char *name = variable + strlen("ASSAY_"), *equals = strchr(variable, '=');
    for (const struct option_group *const *g = option_groups; equals && *g; g++) {
        size_t len = strlen((*g)->section);
        if (g_ascii_strncasecmp(name, (*g)->section, len) != 0 || name[len] != '_') continue;
        char *origin = g_strdup_printf("environment %.*s", (int)(equals - variable), variable);
        char *key = g_strndup(name + len + 1, (gsize)(equals - name) - len - 1);
        const struct option_row *row = option_find((*g)->section, key);
        enum err_code code;
        if (*g == &options_signals)
            code = set_signal_variable(cli, key, equals + 1, origin, err);
        else if (*g == &options_kafka && g_ascii_strncasecmp(key, "property_", strlen("property_")) == 0)
            code = set_property_variable(cli, key + strlen("property_"), equals + 1, origin, err);
        else if (row && row->type == OPT_LIST)
            code = set_list_variable(cli, (*g)->section, key, equals + 1, origin, err);
        else
            code = settings_set(cli, (*g)->section, key, equals + 1, false, origin, err);
        if (code != ERR_OK && err->text[0]) {
            struct err inner = *err;
            err_at(err, code, &inner, "%s", origin);
        }
        g_free(origin);
        g_free(key);
        return code;
    }
    return ERR_OK;
}

static enum err_code set_environment(struct cli *cli, struct err *err)
{
    enum err_code code = ERR_OK;
    for (char **v = environ; *v && code == ERR_OK; v++)
        if (strncmp(*v, "ASSAY_", strlen("ASSAY_")) == 0) code = set_variable(cli, *v, err);
    return code;
}

static const struct option_group *group_of(const struct option_row *wanted)
{
    for (const struct option_group *const *g = option_groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; row->name; row++)
            if (row == wanted) return *g;
    return NULL;
}

/* Sets a list of fixed words from a flag, which may name several words: --family=join,value. A flag of another list is
 * one item, because the item may contain commas. */
static enum err_code set_list_flag(struct cli *cli, const struct option_row *row, const char *text, bool append,
                                   struct err *err)
{
    gchar **items = g_strsplit(text, ",", -1);
    enum err_code code = ERR_OK;
    for (unsigned i = 0; items[i] && code == ERR_OK; i++)
        code = option_set(&cli->arena, row, items[i], append || i > 0, &cli->settings, err);
    g_strfreev(items);
    return code;
}

static enum err_code set_flag(struct cli *cli, const struct flag *flag, bool again, struct err *err)
{
    const struct option_row *row = flag->row;
    if (row->type == OPT_SIGNAL) return set_signal_flag(cli, flag->text, err);
    if (row->type == OPT_LIST && row->choices) return set_list_flag(cli, row, flag->text, again, err);
    return option_set(&cli->arena, row, flag->text, again, &cli->settings, err);
}

static enum err_code set_flags(struct cli *cli, const struct flag *flags, unsigned n, struct err *err)
{
    for (unsigned i = 0; i < n; i++) {
        const struct option_row *row = flags[i].row;
        bool again = false;
        for (unsigned k = 0; k < i; k++) again |= flags[k].row == row;
        enum err_code code = set_flag(cli, &flags[i], again, err);
        if (code != ERR_OK) return code;
        char key[64], *origin = g_strdup_printf("flag --%s", row->name);
        option_key(row, key, sizeof key);
        if (option_is_recipe(row)) say_moved(row, origin);
        remember(cli, group_of(row)->section, key, origin);
        g_free(origin);
    }
    return ERR_OK;
}

/* Returns the path of the system's file: in /etc, or in ASSAY_SYSCONFDIR, which packaging and tests set. */
static char *system_file(void)
{
    const char *folder = getenv("ASSAY_SYSCONFDIR");
    return g_build_filename(folder && *folder ? folder : "/etc", "assay", "config.yaml", NULL);
}

static enum err_code read_files(struct cli *cli, const struct flag *flags, unsigned n, struct err *err)
{
    char *system = system_file();
    char *user = g_build_filename(g_get_user_config_dir(), "assay", "config.yaml", NULL);
    enum err_code code = config_file_read(cli, system, false, err);
    if (code == ERR_OK) code = config_file_read(cli, user, false, err);
    for (unsigned i = 0; i < n && code == ERR_OK; i++)
        if (flags[i].row->offset == offsetof(struct settings, general.config) && flags[i].row->type == OPT_TEXT)
            code = config_file_read(cli, flags[i].text, true, err);
    g_free(system);
    g_free(user);
    return code;
}

/* Reads the recipe, whose priority is above the configuration and below the flags. */
static enum err_code read_recipe(struct cli *cli, const struct flag *flags, unsigned n, struct err *err)
{
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < n && code == ERR_OK; i++)
        if (flags[i].row->offset == offsetof(struct settings, train.recipe) && flags[i].row->type == OPT_TEXT)
            code = recipe_read(cli, flags[i].text, err);
    return code;
}

int settings_resolve(struct cli *cli, const struct flag *flags, unsigned n_flags)
{
    struct err err = {0};
    enum err_code code = set_defaults(cli, &err);
    if (code == ERR_OK) code = read_files(cli, flags, n_flags, &err);
    if (code == ERR_OK) code = set_environment(cli, &err);
    if (code == ERR_OK) code = read_recipe(cli, flags, n_flags, &err);
    if (code == ERR_OK) code = set_flags(cli, flags, n_flags, &err);
    if (code == ERR_OK) return 0;
    complain_text(&err);
    return EXIT_ERROR;
}
