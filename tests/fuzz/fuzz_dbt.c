/* Reads any bytes as the manifest.json of a dbt project. It is refused as malformed, or each of its keys is printed on
 * one line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/schema/dbt.h"

#define REQUIRE(condition, what)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) fprintf(stderr, "%s: %s\n", what, #condition), abort();                                      \
    } while (0)

static unsigned count_lines(const char *text)
{
    unsigned n = 0;
    for (; (text = strchr(text, '\n')) != NULL; text++) n++;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64], *text = NULL;
    size_t len = 0;
    unsigned n = 0;
    struct err err = {0};
    int file = memfd_create("manifest", 0);
    REQUIRE(file >= 0 && write(file, data, size) == (ssize_t)size, "the file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    FILE *out = open_memstream(&text, &len);
    enum err_code code = schema_dbt_keys(path, out, &n, &err);
    fclose(out);
    close(file);
    REQUIRE(code == ERR_OK || code == ERR_MALFORMED, err.text);
    REQUIRE((code == ERR_OK) == (err.text[0] == '\0'), "an error");
    REQUIRE(count_lines(text) == (n ? n + 1 : 0), text);
    free(text);
    return 0;
}
