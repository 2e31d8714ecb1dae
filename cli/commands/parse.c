/* assay parse: prints the tree of a statement, or the position of its syntax error. */
#include "cli/cli.h"
#include "cli/output/terminal.h"
#include "lib/base/input.h"
#include "lib/sql/sql.h"

#include <stdio.h>
#include <string.h>

static int print_diags(struct arena *arena, const struct sql_stmt *stmt)
{
    for (const struct sql_diag *diag = stmt ? stmt->diags : NULL; diag; diag = diag->next) {
        const char *text = sql_diag_render(arena, stmt, diag);
        if (text) print_safe(stderr, text, strlen(text), true);
        fputc('\n', stderr);
    }
    return EXIT_JUDGED;
}

static int parse_text(struct arena *arena, const char *sql, size_t len)
{
    struct sql_stmt *stmt = NULL;
    enum err_code code = sql_parse(arena, sql, len, NULL, &stmt);
    if (code != ERR_OK && !stmt) {
        complain("%s (%s)", err_meaning(code), err_name(code));
        return EXIT_JUDGED;
    }
    if (stmt->root) {
        const char *dump = sql_dump(arena, stmt->root);
        if (dump) print_safe(stdout, dump, strlen(dump), true);
        fputc('\n', stdout);
    }
    return code == ERR_OK ? 0 : print_diags(arena, stmt);
}

/* Returns true if the argument is SQL, false if it is the name of a file. A text without white space, parenthesis and
 * semicolon can only be a name. */
static bool is_sql(const char *arg)
{
    return strcmp(arg, "-") != 0 && !g_file_test(arg, G_FILE_TEST_EXISTS) && strpbrk(arg, " \t\n(;");
}

static int parse_run(struct cli *cli)
{
    struct err err = {0};
    struct input input = {0};
    const char *arg = cli->n_args ? cli->args[0] : "-";
    if (is_sql(arg))
        input = (struct input){g_strdup(arg), strlen(arg)};
    else if (input_read(arg, &input, &err) != ERR_OK)
        return complain_err(arg, &err);
    struct arena arena;
    arena_init(&arena, 0);
    int code = parse_text(&arena, input.text, input.len);
    arena_free(&arena);
    input_free(&input);
    return code;
}

const struct command command_parse = {
    .name = "parse",
    .sentence = "show the syntax tree of one SQL statement",
    .args = "[SQL|FILE|-]",
    .description = "Parses a SQL statement and prints its syntax tree, with the kind and byte span of each node. The "
                   "statement is an argument, the contents of FILE, or standard input (`-` or no argument).\n\n"
                   "If a statement does not parse, standard error shows the position and what was expected, and the "
                   "exit status is 1. The tree then holds the parts that could be parsed.",
    .examples = "assay parse 'SELECT name FROM customer'\n"
                "assay parse query.sql\n"
                "echo 'SELECT 1' | assay parse",
    .groups = (const struct option_group *const[]){&options_general, NULL},
    .max_args = 1,
    .run = parse_run,
};
