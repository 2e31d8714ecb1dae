/* Reads schema indexes from untrusted bytes, because other hosts may write to the cache. Reading must end in an index
 * that can be queried, or in an error. The first byte chooses between a whole blob and a body, to which the target adds
 * a valid header. A fuzzer could not find the header's checksum. */
#include "lib/schema/blob.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 32 };

static void ask(const struct schema_index *index)
{
    struct arena arena;
    struct schema_hit hits[8];
    const char *near[4];
    arena_init(&arena, 1 << 20);
    FILE *sink = fopen("/dev/null", "w");
    if (sink) schema_print(index, sink, true, true);
    if (sink) fclose(sink);
    schema_values_with(index, "North", 5, hits, 8);
    schema_values_with(index, "3.0", 3, hits, 8);
    for (uint32_t i = 0; i < index->n_columns && i < 64; i++) {
        schema_column_has(index, index->columns[i], "north", 5, false);
        schema_nearest_values(&arena, index, index->columns[i], "Noth", 4, near, 4);
        bool derived;
        schema_join_between(index, i, index->n_columns - 1, &derived);
    }
    uint32_t tables[2] = {0, index->n_tables ? index->n_tables - 1 : 0};
    uint32_t *found = calloc(index->n_tables + 1U, sizeof *found);
    bool exact;
    if (found && index->n_tables) schema_steiner(index, tables, 2, found, &exact);
    free(found);
    arena_free(&arena);
}

static void try_blob(const uint8_t *bytes, size_t len)
{
    struct schema_options options = {.max_bytes = 32 << 20};
    struct schema_index *index;
    if (schema_blob_read(bytes, len, "fuzz", &options, &index, NULL)) return;
    ask(index);
    struct schema_blob again;
    if (schema_blob_write(index, &again, NULL) == ERR_OK) schema_blob_free(&again);
    schema_unref(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    if (data[0] & 1) {
        try_blob(data + 1, size - 1);
        return 0;
    }
    uint8_t *sealed = malloc(HEADER + size - 1);
    if (!sealed) return 0;
    uint32_t version = SCHEMA_BLOB_VERSION, order = 0x01020304;
    uint64_t len = size - 1, checksum = XXH3_64bits(data + 1, len);
    memcpy(sealed, "assay.ix", 8);
    memcpy(sealed + 8, &version, 4);
    memcpy(sealed + 12, &order, 4);
    memcpy(sealed + 16, &len, 8);
    memcpy(sealed + 24, &checksum, 8);
    memcpy(sealed + HEADER, data + 1, len);
    try_blob(sealed, HEADER + len);
    free(sealed);
    return 0;
}
