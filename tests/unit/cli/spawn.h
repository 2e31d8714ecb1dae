/* Runs the program in a scratch folder. */
#ifndef ASSAY_TESTS_UNIT_CLI_SPAWN_H
#define ASSAY_TESTS_UNIT_CLI_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

struct run {
    int status; /* exit status, or -signal if a signal ended it */
    char *out, *err;
};

/* Creates a fresh folder with shop/shop.sqlite, makes it the working directory, and clears all settings of the user
 * from the environment. Call it from a suite's .init, and scratch_end from .fini. */
void scratch_begin(void);
void scratch_end(void);

/* Runs assay with these arguments, ended by NULL, and with `input` on its standard input; NULL means empty. Free with
 * run_free. A run that takes longer than two minutes is killed. */
struct run assay_with(const char *input, const char *const *args);
#define assay(...)           assay_with(NULL, (const char *const[]){__VA_ARGS__, NULL})
#define assay_input(in, ...) assay_with(in, (const char *const[]){__VA_ARGS__, NULL})
void run_free(struct run *run);

/* Likewise, with standard output written to `path`; run.out is "". */
struct run assay_onto(const char *path, const char *const *args);

/* Likewise, with a limit, in bytes, on the size of each file that the program writes. */
struct run assay_within(size_t file_bytes, const char *const *args);

/* Start the program and return its process id. The second function limits the size of each file that it writes, in
 * bytes. */
int assay_start(const char *const *args);
int assay_start_within(size_t file_bytes, const char *const *args);

void write_file(const char *path, const char *text);
char *read_file(const char *path); /* Returns the content of a file, or NULL if it cannot be read. Free with g_free. */

/* Returns a log of n lines about the shop with ids q-1, q-2, ...; every third line has three candidates. Free with
 * g_free. */
char *shop_log(unsigned n);

#endif
