/* Reads any bytes as the DDL of a schema, creates the database and indexes it. If the text can be read, SQLite must be
 * able to create the schema. Views are excepted, because SQLite may not support their queries. No table may return a
 * row, and the index must report that no rows were inspected. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/schema/schema.h"
#include "lib/sql/definitions.h"

#define REQUIRE(condition, what)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) fprintf(stderr, "%s: %s\n", what, #condition), abort();                                      \
    } while (0)

static void look_into(struct db *db)
{
    static const char sql[] = "SELECT 1";
    struct arena arena;
    struct db_result result;
    struct schema_index *index;
    struct err err = {0};
    arena_init(&arena, 0);
    REQUIRE(db_query(db, &arena, sql, strlen(sql), NULL, 0, 0, &result, &err) == ERR_NO_DATA, "a query");
    arena_free(&arena);
    enum err_code code = schema_build(db, "fuzz", NULL, NULL, &index, &err);
    REQUIRE(code == ERR_OK || code == ERR_LIMIT_MEMORY, err.text);
    if (code) return;
    REQUIRE(index->no_data, "an index");
    for (uint32_t i = 0; i < index->n_columns; i++) {
        const struct schema_stats *stats = &index->columns[i]->stats;
        REQUIRE(stats->sampled && !stats->rows && !stats->n_top && !index->columns[i]->unique_measured, "a column");
    }
    for (uint32_t i = 0; i < index->n_tables; i++) REQUIRE(!index->tables[i].scannable, "a table");
    schema_unref(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct sql_definitions *definitions;
    struct db *db = NULL;
    struct err err = {0};
    arena_init(&arena, 64U << 20);
    enum err_code code = sql_read_definitions(&arena, (const char *)data, size, &definitions, &err);
    REQUIRE((code == ERR_OK) == (definitions != NULL) && (code == ERR_OK) == (err.text[0] == '\0'), "an error");
    bool views = !code && definitions->views;
    arena_free(&arena);
    if (code || memchr(data, '\0', size)) return 0;
    char *path = malloc(sizeof DB_SCHEMA_PREFIX + size);
    memcpy(path, DB_SCHEMA_PREFIX, strlen(DB_SCHEMA_PREFIX));
    memcpy(path + strlen(DB_SCHEMA_PREFIX), data, size);
    path[strlen(DB_SCHEMA_PREFIX) + size] = '\0';
    code = db_open(path, NULL, &db, &err);
    free(path);
    REQUIRE(code == ERR_OK || views, err.text);
    if (!code) look_into(db);
    db_close(db);
    return 0;
}
