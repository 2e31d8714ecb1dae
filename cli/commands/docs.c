/* Prints manual pages, shell completion, docs/configuration.md and docs/api.md from tables. docs_cli.c prints
 * docs/cli.md. `assay docs` is hidden: the build calls it. */
#include "cli/commands/docs.h"

#include "cli/settings/catalogue.h"
#include "proto/message/json_schema.h"

#include <stdio.h>
#include <string.h>

/* --- troff ---------------------------------------------------------------------------------------------------- */

/* Prints text, with the special characters of troff escaped. A blank line starts a paragraph. */
static void troff(const char *text)
{
    bool line_start = true;
    for (const char *c = text; *c; c++) {
        if (c[0] == '\n' && c[1] == '\n') {
            fputs("\n.PP\n", stdout);
            while (c[1] == '\n') c++;
            line_start = true;
            continue;
        }
        if (line_start && (*c == '.' || *c == '\'')) fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else
            fputc(*c, stdout);
        line_start = *c == '\n';
    }
    fputc('\n', stdout);
}

static void troff_row(const struct option_row *row)
{
    fputs(".TP\n", stdout);
    if (row->key) printf("\\fB\\-%c\\fR, ", row->key);
    printf("\\fB\\-\\-");
    for (const char *c = row->name; *c; c++) printf(*c == '-' ? "\\-" : "%c", *c);
    fputs("\\fR", stdout);
    if (row->type == OPT_FLAG && !row->command_line_only)
        fputs("[=\\fIyes|no\\fR]", stdout);
    else if (row->arg)
        printf("=\\fI%s\\fR", row->arg);
    fputc('\n', stdout);
    troff(row->sentence);
    if (row->choices) printf("One of %s.\n", row->choices);
    if (row->fallback && row->fallback[0] && row->type != OPT_FLAG) {
        fputs("Default: ", stdout);
        troff(row->fallback);
    }
}

static void troff_common(void)
{
    puts(
        ".SH EXIT STATUS\n0 validated (or done), 1 judged but not validated, 2 usage, configuration or internal error, "
        "130 interrupted.");
    puts(
        ".SH FILES\n.TP\n.I /etc/assay/config.yaml\nSystem configuration.\n.TP\n.I $XDG_CONFIG_HOME/assay/config.yaml\n"
        "User configuration. A flag overrides the environment (\\fBASSAY_\\fISECTION\\fB_\\fIKEY\\fR), which overrides "
        "\\-\\-config, the user's file, the system's file and the default.");
}

static void man_command(const struct command *command)
{
    char *name = g_ascii_strup(command->name, -1);
    printf(".TH ASSAY\\-%s 1 \"\" \"assay " ASSAY_VERSION "\" \"Assay\"\n", name);
    g_free(name);
    printf(".SH NAME\nassay\\-%s \\- ", command->name);
    troff(command->sentence);
    printf(".SH SYNOPSIS\n\\fBassay %s\\fR [\\fIOPTION\\fR...] ", command->name);
    troff(command->args);
    puts(".SH DESCRIPTION");
    troff(command->description);
    puts(".SH OPTIONS");
    for (const struct option_group *const *g = command->groups; *g; g++) {
        if ((*g)->recipe) continue;
        printf(".SS %s\n", (*g)->title);
        for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++) troff_row(row);
    }
    if (command->examples) {
        puts(".SH EXAMPLES\n.nf");
        troff(command->examples);
        puts(".fi");
    }
    troff_common();
}

static void man_program(void)
{
    puts(".TH ASSAY 1 \"\" \"assay " ASSAY_VERSION
         "\" \"Assay\"\n.SH NAME\nassay \\- judges SQL written by text\\-to\\-SQL "
         "systems\n.SH SYNOPSIS\n\\fBassay\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\nFor "
         "each "
         "candidate query Assay reports whether it may be trusted, with what probability, and which clauses are "
         "suspect and why.\n.SH "
         "COMMANDS");
    for (const struct command *const *c = commands; *c; c++) {
        printf(".TP\n\\fBassay\\-%s\\fR(1)\n", (*c)->name);
        troff((*c)->sentence);
    }
    troff_common();
}

/* --- completion: words for all shells --------------------------------------------------------------------------- */

/* Returns the accepted values, separated by spaces. For an option of signals, returns all "NAME.KEY=". Returns NULL if
 * any value is accepted. Free with g_free. */
static char *choices_of(const struct option_row *row)
{
    if (row->type != OPT_SIGNAL) return row->choices ? g_strdelimit(g_strdup(row->choices), "|", ' ') : NULL;
    GString *words = g_string_new(NULL);
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) {
        g_string_append_printf(words, "%s%s.enabled=", i ? " " : "", all[i]->name);
        for (const struct vsig_option *o = all[i]->options; o && o->name; o++)
            g_string_append_printf(words, " %s.%s=", all[i]->name, o->name);
    }
    return g_string_free(words, FALSE);
}

static void print_commands(void)
{
    for (const struct command *const *c = commands; *c; c++) printf(" %s", (*c)->name);
    fputs(" help version", stdout);
}

static void print_flags(const struct command *command)
{
    fputs(" --help --help=all --version", stdout);
    for (const struct option_group *const *g = command->groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++)
            printf(" --%s%s", row->name, row->arg ? "=" : "");
}

/* --- bash ------------------------------------------------------------------------------------------------------ */

static void bash_flags(const struct command *command)
{
    printf("    %s) words=\"", command->name);
    print_flags(command);
    puts("\" ;;");
}

static void bash_choices(void)
{
    for (const struct option_group *const *g = option_groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++) {
            char *words = choices_of(row);
            if (words) printf("    --%s) words=\"%s\" ;;\n", row->name, words);
            g_free(words);
        }
}

/* Prints the completion of commands whose first argument is one of a few words: `assay index <TAB>`. */
static void bash_words(void)
{
    puts("  if [ \"$COMP_CWORD\" = 2 ]; then\n    case ${COMP_WORDS[1]} in");
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->words) printf("    %s) words=\"%s\" ;;\n", (*c)->name, (*c)->words);
    fputs("    help) words=\"", stdout);
    print_commands();
    puts("\" ;;\n    esac\n    case $cur in -*) words= ;; esac\n"
         "    if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); return; fi\n  fi");
}

static void bash_completion(void)
{
    puts("# bash completion for assay; printed by `assay docs bash`.\n"
         "_assay() {\n"
         "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then");
    fputs("    words=\"--help --version", stdout);
    print_commands();
    puts("\"\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n    return\n  fi\n"
         "  # `--flag=value` arrives as three words: --flag, =, value.\n"
         "  if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  case $prev in");
    bash_choices();
    puts("  esac\n  if [ -n \"$words\" ]; then\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n    return\n  fi");
    bash_words();
    puts("  case ${COMP_WORDS[1]} in");
    for (const struct command *const *c = commands; *c; c++) bash_flags(*c);
    puts("  esac\n"
         "  case $cur in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace "
         ";;\n"
         "    *) compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _assay assay");
}

/* --- zsh ------------------------------------------------------------------------------------------------------- */

static void zsh_completion(void)
{
    fputs("#compdef assay\n# zsh completion for assay; printed by `assay docs zsh`.\n_assay() {\n"
          "  if (( CURRENT == 2 )); then\n    compadd -- --help --version",
          stdout);
    print_commands();
    puts("\n    return\n  fi\n  case $words[CURRENT] in");
    for (const struct option_group *const *g = option_groups; *g; g++)
        for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++) {
            char *choices = choices_of(row);
            /* a value must follow, so completion adds no space */
            bool goes_on = choices && g_str_has_suffix(choices, "=");
            if (choices)
                printf("    --%s=*) compset -P '*='; compadd %s-- %s; return ;;\n", row->name, goes_on ? "-S '' " : "",
                       choices);
            g_free(choices);
        }
    puts("    --*=*) compset -P '*='; _files; return ;;\n    -*)\n      case $words[2] in");
    for (const struct command *const *c = commands; *c; c++) {
        printf("        %s) compadd -S '' --", (*c)->name);
        print_flags(*c);
        puts(" ;;");
    }
    puts("      esac\n      return ;;\n  esac\n  if (( CURRENT == 3 )); then\n    case $words[2] in");
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->words) printf("      %s) compadd -- %s; return ;;\n", (*c)->name, (*c)->words);
    fputs("      help) compadd --", stdout);
    print_commands();
    puts("; return ;;\n    esac\n  fi\n  _files\n}\nif [ \"$funcstack[1]\" = _assay ]; then _assay \"$@\"; else "
         "compdef _assay assay; fi");
}

/* --- fish ------------------------------------------------------------------------------------------------------ */

/* Prints text as a single-quoted string of fish. */
static void fish_text(const char *text)
{
    fputc('\'', stdout);
    for (; *text; text++) printf(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('\'', stdout);
}

static void fish_flag(const struct command *command, const struct option_row *row)
{
    char *choices = choices_of(row);
    printf("complete -c assay -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
    if (row->key) printf(" -s %c", row->key);
    if (row->arg) fputs(choices ? " -x" : " -r", stdout);
    if (choices) printf(" -a '%s'", choices);
    fputs(" -d ", stdout);
    fish_text(row->sentence);
    fputc('\n', stdout);
    g_free(choices);
}

static void fish_completion(void)
{
    puts("# fish completion for assay; printed by `assay docs fish`.");
    fputs("complete -c assay -f -n __fish_use_subcommand -a 'help version'\n"
          "complete -c assay -f -n '__fish_seen_subcommand_from help' -a '",
          stdout);
    print_commands();
    puts("'");
    for (const struct command *const *c = commands; *c; c++) {
        printf("complete -c assay -f -n __fish_use_subcommand -a %s -d ", (*c)->name);
        fish_text((*c)->sentence);
        fputc('\n', stdout);
        if ((*c)->words)
            printf(
                "complete -c assay -f -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s' -a "
                "'%s'\n",
                (*c)->name, (*c)->words, (*c)->words);
        for (const struct option_group *const *g = (*c)->groups; *g; g++)
            for (const struct option_row *row = (*g)->rows; !(*g)->recipe && row->name; row++) fish_flag(*c, row);
    }
}

/* --- docs/configuration.md -------------------------------------------------------------------------------------- */

static const char *row_type(const struct option_row *row)
{
    static const char *const names[] = {"yes or no", "whole number", "number", "text",
                                        "one of",    "list",         "",       "NAME=VALUE"};
    return names[row->type];
}

static void configuration_row(const struct option_group *group, const struct option_row *row)
{
    char key[64], variable[96];
    option_key(row, key, sizeof key);
    option_variable(group, row, variable, sizeof variable);
    if (row->type == OPT_PROPERTY) g_strlcat(variable, "_<NAME>", sizeof variable);
    char *choices = g_strdup(row->choices ? row->choices : "");
    g_strdelimit(choices, "|", ' ');
    printf("| `%s` | `--%s` | `%s` | %s%s%s | %s%s%s | %s |\n", key, row->name, variable, row_type(row),
           *choices ? ": " : "", choices, row->fallback ? "`" : "", row->fallback ? row->fallback : "",
           row->fallback ? "`" : "", row->sentence);
    g_free(choices);
}

static void configuration_group(const struct option_group *group)
{
    bool any = false;
    if (group->recipe) return;
    for (const struct option_row *row = group->rows; row->name; row++) any |= !row->command_line_only;
    if (!any) return;
    printf(
        "\n## %s\n\n%s.\n\n| key | flag | environment | takes | default | |\n| --- | --- | --- | --- | --- | --- |\n",
        group->section, group->title);
    for (const struct option_row *row = group->rows; row->name; row++)
        if (!row->command_line_only) configuration_row(group, row);
}

static void configuration_signals(void)
{
    unsigned n = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    puts(
        "\n## signals\n\nOne mapping per signal: `enabled`, and the signal's own options. The environment variable is\n"
        "`ASSAY_SIGNALS_<SIGNAL>_<KEY>`, the flag `--signal SIGNAL.KEY=VALUE`.\n\n"
        "| signal | key | default | from | to | |\n| --- | --- | --- | --- | --- | --- |");
    for (unsigned i = 0; i < n; i++) {
        printf("| `%s` | `enabled` | `%s` | | | %s |\n", all[i]->name, all[i]->off_by_default ? "no" : "yes",
               all[i]->sentence);
        for (const struct vsig_option *o = all[i]->options; o && o->name; o++)
            printf("| `%s` | `%s` | `%g` | %g | %g | %s |\n", all[i]->name, o->name, o->fallback, o->min, o->max,
                   o->sentence);
    }
}

/* Prints a key that exists only in configuration files, without a flag or environment variable. */
static void file_row(const struct option_row *row)
{
    char key[64], *choices = g_strdup(row->choices ? row->choices : "");
    option_key(row, key, sizeof key);
    g_strdelimit(choices, "|", ' ');
    printf("| `%s` | %s%s%s | %s%s%s | %s |\n", key, row_type(row), *choices ? ": " : "", choices,
           row->fallback ? "`" : "", row->fallback ? row->fallback : "", row->fallback ? "`" : "", row->sentence);
    g_free(choices);
}

static void configuration_recipe(void)
{
    puts("\n## Training recipe\n\nThe parameters of `assay train`: keys of the file of `--recipe`, or of an inline "
         "mapping such as\n`--recipe '{mutants: 8, rounds: 250}'`. A model file contains its recipe. "
         "As flags and as keys of section `train`\nthey are deprecated: this is the last version that accepts them, "
         "with a warning.\n\n"
         "| key | takes | default | |\n| --- | --- | --- | --- |");
    for (const struct option_row *row = options_recipe.rows; row->name; row++) file_row(row);
}

static void configuration_catalogue(void)
{
    puts("\n## databases\n\nThe catalogue: one mapping per database, under the name that requests use. It is read only "
         "from files. An entry\nreplaces the whole entry of an earlier file. See [databases.md](databases.md).\n\n"
         "```yaml\ndatabases:\n  orders:\n    path: host=db.example dbname=orders user=assay sslmode=verify-full\n"
         "    password_file: /run/secrets/orders\n    deny_columns: [customer.email]\n    max_statements: 20\n```\n\n"
         "| key | takes | default | |\n| --- | --- | --- | --- |");
    for (const struct option_row *row = catalogue_rows; row->name; row++) file_row(row);
}

static void configuration(void)
{
    puts("# Configuration\n\n"
         "`assay docs configuration` prints this page from the option tables; a test compares them.\n\n"
         "A setting comes from the first of these that has it: a flag; the environment; the file of `--config`; the "
         "user's file\n"
         "(`$XDG_CONFIG_HOME/assay/config.yaml`); the system's file (`/etc/assay/config.yaml`, or below "
         "`ASSAY_SYSCONFDIR`); the\n"
         "default. `assay config print --origin` shows each value and where it comes from. Unknown sections, keys and "
         "signals\n"
         "are errors. A list is a YAML sequence in a file, separated by commas in the environment, and a repeated "
         "flag.\n\n"
         "```yaml\njudge:\n  policy: abstain\n  deny_column: [person.email]\nsignals:\n"
         "  empty_predicate: {enabled: true}\n```");
    for (const struct option_group *const *g = option_groups; *g; g++) configuration_group(*g);
    configuration_signals();
    configuration_catalogue();
    configuration_recipe();
}

/* --- docs/api.md ------------------------------------------------------------------------------------------------ */

static void api_choices(const struct json_schema_field *field)
{
    const char *choice;
    for (unsigned i = 0; (choice = field->choice(i)); i++) printf("%s `%s`", i ? "," : ":", choice);
}

static void api_field(const struct json_schema_field *field)
{
    bool of_text = field->kind == JSON_SCHEMA_STRING && !field->list;
    char *kind = json_schema_kind_text(field);
    const char *mark = field->required ? "**" : "";
    printf("| %s`%s`%s | %s | %s", mark, field->name, mark, kind, field->sentence);
    if (field->choice && strcmp(field->name, "code") != 0) api_choices(field);
    if (field->max > 0) printf("; at most %.0f%s", field->max, of_text ? " bytes" : field->list ? " of them" : "");
    puts(" |");
    g_free(kind);
}

static void api(void)
{
    puts("# Requests, verdicts and errors in JSON\n\n"
         "Printed by `assay docs api` from the tables that `/openapi.json` is made of (a test compares). What the keys "
         "mean in full:\n"
         "[formats.md](formats.md); paths and statuses: [http.md](http.md). **Bold** keys are always there.");
    for (const struct json_schema_object *object = json_schema_objects; object->name; object++) {
        printf("\n## %s\n\n%s\n\n| key | is | |\n| --- | --- | --- |\n", object->name, object->sentence);
        for (const struct json_schema_field *field = object->fields; field->name; field++) api_field(field);
    }
}

static const struct {
    const char *name;
    void (*print)(void);
} pages[] = {{"man", man_program},      {"bash", bash_completion},        {"zsh", zsh_completion},
             {"fish", fish_completion}, {"configuration", configuration}, {"api", api},
             {"cli", docs_print_cli}};

static int docs_run(struct cli *cli)
{
    const char *what = cli->args[0];
    const struct command *command = cli->n_args > 1 ? command_find(cli->args[1]) : NULL;
    if (strcmp(what, "man") == 0 && command) {
        man_command(command);
        return 0;
    }
    for (size_t i = 0; cli->n_args == 1 && i < G_N_ELEMENTS(pages); i++)
        if (strcmp(pages[i].name, what) == 0) {
            pages[i].print();
            return 0;
        }
    complain("no page of documentation is called %s" ERR_HINT
             "expected man [COMMAND], bash, zsh, fish, configuration, api or cli",
             what);
    return EXIT_ERROR;
}

const struct command command_docs = {
    .name = "docs",
    .sentence = "print the manual, shell completions, or reference pages",
    .args = "man [COMMAND] | bash | zsh | fish | configuration | api | cli",
    .description = "Prints documentation from the tables of options and of the API.",
    .words = "man bash zsh fish configuration api cli",
    .groups = (const struct option_group *const[]){&options_general, NULL},
    .min_args = 1,
    .max_args = 2,
    .run = docs_run,
};
