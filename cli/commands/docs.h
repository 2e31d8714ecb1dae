/* Declares the pages of `assay docs` that have a separate source file. */
#ifndef ASSAY_CLI_COMMANDS_DOCS_H
#define ASSAY_CLI_COMMANDS_DOCS_H

/* Prints docs/cli.md from the table of commands to standard output. Thread: main. */
void docs_print_cli(void);

#endif
