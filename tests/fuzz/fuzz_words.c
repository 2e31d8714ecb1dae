/* Reads any bytes as words.yaml of a small schema. The index must be built, and each join and term of it must name
 * columns of the schema. An unusable entry may only add a note. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/schema/schema.h"

#define REQUIRE(condition, what)                                                                                       \
    do {                                                                                                               \
        if (!(condition)) fprintf(stderr, "%s: %s\n", what, #condition), abort();                                      \
    } while (0)

static const char SHOP[] = DB_SCHEMA_PREFIX "CREATE TABLE customer(id INTEGER PRIMARY KEY, code TEXT, status TEXT);"
                                            "CREATE TABLE line(order_id INTEGER, number INTEGER, customer INTEGER);"
                                            "CREATE TABLE item(order_id INTEGER, line INTEGER, customer_id INTEGER);";

static void check(const struct schema_index *index)
{
    for (uint32_t i = 0; i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        REQUIRE(join->n_pairs > 0 && join->from_table < index->n_tables && join->to_table < index->n_tables, "a join");
        for (uint32_t k = 0; k < join->n_pairs; k++) {
            REQUIRE(join->from[k] < index->n_columns && join->to[k] < index->n_columns, "a pair");
            REQUIRE(index->columns[join->from[k]]->table == join->from_table, "a referencing column");
            REQUIRE(index->columns[join->to[k]]->table == join->to_table, "a referenced column");
        }
    }
    for (uint32_t i = 0; i < index->n_terms; i++)
        REQUIRE(index->terms[i].column == UINT32_MAX || index->terms[i].column < index->n_columns, "a term");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *folder, *path;
    struct db *db = NULL;
    struct schema_index *index = NULL;
    struct err err = {0};
    if (!folder) {
        folder = g_dir_make_tmp("assay-fuzz-XXXXXX", NULL);
        path = g_build_filename(folder, "words.yaml", NULL);
    }
    REQUIRE(g_file_set_contents(path, (const char *)data, (gssize)size, NULL), "the file");
    REQUIRE(db_open(SHOP, NULL, &db, &err) == ERR_OK, err.text);
    const struct schema_options options = {.descriptions_dir = folder};
    enum err_code code = schema_build(db, "fuzz", NULL, &options, &index, &err);
    REQUIRE(code == ERR_OK, err.text);
    check(index);
    schema_unref(index);
    db_close(db);
    return 0;
}
