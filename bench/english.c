/* Finds faults of English in verdicts: bench_english VERDICTS.jsonl...
 *
 * Checks every sentence of every verdict against the patterns of tests/support/english.c. A unit test checks a sample
 * against the same patterns. The files are written by `assay replay` with "explain": true in the log. The exit status
 * is 1 if there is a fault. */
#include "tests/support/english.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static bool read_verdicts(const char *path, struct english_count *count)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    while (file && getline(&line, &size, file) > 0) {
        json_t *verdict = json_loads(line, 0, NULL);
        english_verdict(verdict, count);
        json_decref(verdict);
    }
    free(line);
    if (file) fclose(file);
    return file != NULL;
}

int main(int argc, char **argv)
{
    struct english_count count = {0};
    for (int i = 1; i < argc; i++)
        if (!read_verdicts(argv[i], &count)) {
            perror(argv[i]);
            return 2;
        }
    printf("%" PRIu64 " texts, %" PRIu64 " with a fault\n", count.texts, count.faults);
    return count.faults > 0;
}
