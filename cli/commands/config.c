/* assay config print: prints the settings in the form of a file, with the origin of each. */
#include "cli/settings/catalogue.h"
#include "proto/bus/transport.h"

#include <stdio.h>
#include <string.h>

/* Prints a value in YAML: without quotes if that is safe, otherwise in double quotes. */
static void print_value(const struct option_row *row, const char *text)
{
    bool plain = row->type == OPT_FLAG || row->type == OPT_INT || row->type == OPT_REAL || row->type == OPT_LIST;
    for (const char *c = text; *c && !plain; c++)
        if (!g_ascii_isalnum(*c) && !strchr("_./-", *c)) {
            char *escaped = g_strescape(text, NULL);
            printf("\"%s\"", escaped);
            g_free(escaped);
            return;
        }
    fputs(text, stdout);
}

/* Prints the properties of librdkafka, each under its own name. Hides secret values. */
static void print_properties(struct cli *cli, const struct option_group *group, const struct string_list *list)
{
    static const struct option_row as_text = {.type = OPT_TEXT};
    for (unsigned i = 0; i < list->n; i++) {
        const char *value = strchr(list->items[i], '=') + 1;
        char *name = g_strndup(list->items[i], (gsize)(value - list->items[i]) - 1);
        printf("  %s: ", name);
        print_value(&as_text, bus_property_is_secret(name) && !g_str_has_prefix(value, "file:") ? "(secret)" : value);
        if (cli->settings.config.origin) printf("  # %s", settings_origin(cli, group->section, name));
        putchar('\n');
        g_free(name);
    }
}

static void print_group(struct cli *cli, const struct option_group *group)
{
    bool titled = false;
    if (group->recipe) return;
    for (const struct option_row *row = group->rows; row->name; row++) {
        char key[64];
        option_key(row, key, sizeof key);
        char *text = option_value_text(&cli->arena, row, &cli->settings);
        if (row->type == OPT_PROPERTY)
            print_properties(cli, group,
                             (const struct string_list *)(const void *)((const char *)&cli->settings + row->offset));
        if (row->command_line_only || !text || !*text) continue;
        if (!titled) printf("%s:\n", group->section);
        titled = true;
        printf("  %s: ", key);
        print_value(row, text);
        if (cli->settings.config.origin) printf("  # %s", settings_origin(cli, group->section, key));
        putchar('\n');
    }
}

static void print_signal_value(struct cli *cli, const char *signal, const char *key, const char *value)
{
    printf("    %s: %s", key, value);
    if (cli->settings.config.origin) {
        char *name = g_strdup_printf("%s.%s", signal, key);
        printf("  # %s", settings_origin(cli, options_signals.section, name));
        g_free(name);
    }
    putchar('\n');
}

static void print_signals(struct cli *cli)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    printf("%s:\n", options_signals.section);
    for (unsigned i = 0; i < n; i++) {
        printf("  %s:\n", all[i]->name);
        print_signal_value(cli, all[i]->name, "enabled", cli->signals->enabled[all[i]->id] ? "true" : "false");
        for (unsigned k = 0; all[i]->options && all[i]->options[k].name; k++) {
            char value[32];
            snprintf(value, sizeof value, "%g", cli->signals->values[all[i]->id][k]);
            print_signal_value(cli, all[i]->name, all[i]->options[k].name, value);
        }
    }
}

/* Prints the entries of the catalogue. Users choose the names of databases, so the names are always quoted. No setting
 * contains a password. */
static void print_catalogue(struct cli *cli)
{
    const struct catalogue *catalogue = cli->catalogue;
    static const struct option_row as_text = {.type = OPT_TEXT};
    if (catalogue) puts("databases:");
    for (uint32_t i = 0; catalogue && i < catalogue->n; i++) {
        const struct catalogue_entry *entry = catalogue->entries[i];
        fputs("  ", stdout);
        print_value(&as_text, entry->name);
        printf(cli->settings.config.origin ? ":  # %s\n" : ":\n", entry->origin);
        for (const struct option_row *row = catalogue_rows; row->name; row++) {
            char key[64], *text = option_value_text(&cli->arena, row, entry);
            bool unset = !text || !*text || (row->fallback && strcmp(text, row->fallback) == 0) ||
                         (row->type == OPT_LIST && !entry->deny_columns.n);
            if (unset) continue;
            option_key(row, key, sizeof key);
            printf("    %s: ", key);
            print_value(row, text);
            putchar('\n');
        }
    }
}

static int config_run(struct cli *cli)
{
    if (strcmp(cli->args[0], "check") == 0) return 0; /* main has already read the settings without an error */
    if (strcmp(cli->args[0], "print") != 0) {
        complain("unknown config action '%s', expected print or check", cli->args[0]);
        return EXIT_ERROR;
    }
    for (const struct option_group *const *g = option_groups; *g; g++) print_group(cli, *g);
    print_signals(cli);
    print_catalogue(cli);
    return 0;
}

const struct command command_config = {
    .name = "config",
    .guide = "configuration.md",
    .sentence = "show or check the settings",
    .args = "print | check",
    .description =
        "print writes the settings in effect, in the form of a configuration file. With --origin, it also shows where "
        "each value comes from. check only reads the settings, and prints nothing if they are valid.",
    .examples = "assay config print --origin\nassay config check --config assay.yaml",
    .words = "check print",
    .groups = (const struct option_group *const[]){&options_config, &options_general, NULL},
    .min_args = 1,
    .max_args = 1,
    .run = config_run,
};
