/* assay signals: lists the signals. */
#include "cli/cli.h"
#include "cli/output/format.h"
#include "cli/output/table.h"

#include <jansson.h>
#include <stdio.h>

static char *options_text(const struct vsig_def *def)
{
    GString *text = g_string_new(NULL);
    for (const struct vsig_option *o = def->options; o && o->name; o++)
        g_string_append_printf(text, "%s%s=%g", text->len ? " " : "", o->name, o->fallback);
    return g_string_free(text, FALSE);
}

static struct table *signals_table(const struct cli *cli, const struct vsig_def *const *all, unsigned n)
{
    static const struct table_column columns[] = {
        {"signal"}, {"family"}, {"on"}, {"fires when", .wrap = true}, {"options", .wrap = true}, {NULL}};
    struct table *table = table_new(columns);
    for (unsigned i = 0; i < n; i++) {
        char *options = options_text(all[i]);
        table_row(table);
        table_cell(table, 0, "%s", all[i]->name);
        table_cell(table, 1, "%s", vsig_family_name(all[i]->family));
        table_cell(table, 2, "%s", cli->signals->enabled[all[i]->id] ? "yes" : "no");
        table_cell(table, 3, "%s", all[i]->sentence);
        table_cell(table, 4, "%s", options);
        g_free(options);
    }
    return table;
}

static json_t *signal_json(const struct cli *cli, const struct vsig_def *def)
{
    json_t *options = json_array();
    for (unsigned k = 0; def->options && def->options[k].name; k++) {
        const struct vsig_option *o = &def->options[k];
        json_array_append_new(options, json_pack("{s:s,s:f,s:f,s:f,s:f,s:s}", "name", o->name, "value",
                                                 cli->signals->values[def->id][k], "default", o->fallback, "min",
                                                 o->min, "max", o->max, "sentence", o->sentence));
    }
    return json_pack("{s:s,s:s,s:s,s:b,s:b,s:s,s:s*,s:s*,s:s*,s:o}", "name", def->name, "family",
                     vsig_family_name(def->family), "cause", vsig_cause_name(def->cause), "enabled",
                     cli->signals->enabled[def->id], "off_by_default", def->off_by_default, "sentence", def->sentence,
                     "description", def->description, "example", def->example, "instruction", def->instruction,
                     "options", options);
}

static int signals_run(struct cli *cli)
{
    enum format format;
    if (!format_choose(cli, FORMATS_TABLE, &format)) return EXIT_ERROR;
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    if (format == FORMAT_TEXT || format == FORMAT_CSV) {
        struct table *table = signals_table(cli, all, n);
        (format == FORMAT_CSV ? table_print_csv : table_print)(table, stdout);
        table_free(table);
        return 0;
    }
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++) json_array_append_new(list, signal_json(cli, all[i]));
    format_json_list(list, format, stdout);
    json_decref(list);
    return 0;
}

const struct command command_signals = {
    .name = "signals",
    .guide = "configuration.md",
    .sentence = "list the signals with their families, descriptions and options",
    .args = "",
    .description = "Lists every validation signal: its family, whether it is enabled, when it fires, and its options "
                   "with their values. Change signals in the configuration file (section `signals`), or with --signal.",
    .examples = "assay signals\nassay signals --format json",
    .groups = (const struct option_group *const[]){&options_output, &options_signals, &options_general, NULL},
    .run = signals_run,
};
