/* The pages that `assay docs` prints from a file of their own. */
#ifndef ASSAY_CLI_COMMANDS_DOCS_H
#define ASSAY_CLI_COMMANDS_DOCS_H

/* Prints docs/cli.md from the table of commands to standard output. Thread: main. */
void docs_print_cli(void);

#endif
