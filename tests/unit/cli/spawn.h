/* Running the program itself, in a folder of its own. */
#ifndef ASSAY_TESTS_UNIT_CLI_SPAWN_H
#define ASSAY_TESTS_UNIT_CLI_SPAWN_H

#include <stdbool.h>
#include <stddef.h>

struct run {
    int status; /* exit status; -signal when it was killed */
    char *out, *err;
};

/* A fresh folder, the working directory from now on, with shop/shop.sqlite in it; and the environment of a user who has
 * set nothing. Call it from a suite's .init; scratch_end from .fini. */
void scratch_begin(void);
void scratch_end(void);

/* Run assay with these arguments (the last one NULL) and `input` on its standard input (NULL: nothing). The caller owes
 * run_free. A run that takes longer than two minutes is killed. */
struct run assay_with(const char *input, const char *const *args);
#define assay(...)           assay_with(NULL, (const char *const[]){__VA_ARGS__, NULL})
#define assay_input(in, ...) assay_with(in, (const char *const[]){__VA_ARGS__, NULL})
void run_free(struct run *run);

/* The same with standard output at `path`; run.out is "". */
struct run assay_onto(const char *path, const char *const *args);

/* The same with a limit on the size of files that the program writes, in bytes. */
struct run assay_within(size_t file_bytes, const char *const *args);

/* Start it and leave it running: process id. The second one with a limit on the size of its files, in bytes. */
int assay_start(const char *const *args);
int assay_start_within(size_t file_bytes, const char *const *args);

void write_file(const char *path, const char *text);
char *read_file(const char *path); /* NULL: cannot be read. g_free */

/* A log of n lines about the shop, ids q-1 ...; every third has three candidates. g_free */
char *shop_log(unsigned n);

#endif
