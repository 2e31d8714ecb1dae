/* Prints docs/cli.md from the table of commands: first a table of all commands, then the usage, description and
 * examples of each. */
#include "cli/commands/docs.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

enum { COLUMNS = 118 };

/* Prints a paragraph in lines of at most COLUMNS bytes. */
static void print_paragraph(const char *text, size_t len)
{
    while (len > COLUMNS) {
        size_t cut = COLUMNS;
        while (cut > 0 && text[cut] != ' ') cut--;
        if (cut == 0) break;
        printf("%.*s\n", (int)cut, text);
        text += cut + 1;
        len -= cut + 1;
    }
    printf("%.*s\n", (int)len, text);
}

static void print_description(const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        putchar('\n');
        print_paragraph(text, len);
        text += len;
        while (*text == '\n') text++;
    }
}

/* Prints a line for each form of the arguments. */
static void print_usage(const struct command *command)
{
    const char *form = command->args;
    puts("\n```");
    do {
        size_t len = strcspn(form, "\n");
        printf("assay %s%s%.*s\n", command->name, len ? " " : "", (int)len, form);
        form += len;
    } while (*form++ == '\n');
    puts("```");
}

static void print_command(const struct command *command)
{
    printf("\n## assay %s\n", command->name);
    print_usage(command);
    print_description(command->description);
    if (command->examples) printf("\nExamples:\n\n```\n%s\n```\n", command->examples);
    if (command->guide) printf("\nGuide: [%s](%s)\n", command->guide, command->guide);
}

void docs_print_cli(void)
{
    puts("# Commands\n\n"
         "`assay docs cli` prints this page from the table of commands; a test compares them. `assay COMMAND --help` "
         "lists\n"
         "the main flags of a command, `--help=all` lists all. [configuration.md](configuration.md) lists all "
         "settings.\n\n"
         "| command | purpose | guide |\n| --- | --- | --- |");
    for (const struct command *const *c = commands; *c; c++) {
        printf("| [`assay %s`](#assay-%s) | %s | ", (*c)->name, (*c)->name, (*c)->sentence);
        if ((*c)->guide) printf("[%s](%s) ", (*c)->guide, (*c)->guide);
        puts("|");
    }
    puts("\n| exit status | |\n| --- | --- |\n| 0 | validated, or done |\n| 1 | judged, but not validated |\n"
         "| 2 | error in the usage, the configuration or Assay itself |\n| 130 | interrupted |");
    for (const struct command *const *c = commands; *c; c++) print_command(*c);
}
