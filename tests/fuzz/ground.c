#include "tests/fuzz/ground.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdlib.h>

static void require(bool holds)
{
    if (!holds) abort();
}

void fuzz_ground(const char *script, struct db **db, struct schema_index **schema)
{
    char *folder = g_dir_make_tmp("assay-fuzz-XXXXXX", NULL), *path = g_build_filename(folder, "t.sqlite", NULL);
    sqlite3 *raw = NULL;
    require(sqlite3_open(path, &raw) == SQLITE_OK && sqlite3_exec(raw, script, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(raw);
    const struct db_limits limits = {.time_ms = 20, .max_rows = 1000};
    require(db_open(path, &limits, db, NULL) == ERR_OK);
    require(schema_build(*db, "t", path, NULL, schema, NULL) == ERR_OK);
    g_remove(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
}
