/* Lists the catalogue of a SQLite file. */
#include "lib/db/db_engine.h"

#include <glib.h>
#include <string.h>

/* SQLite's rules of column affinity, in order of precedence. */
static enum db_affinity sqlite_affinity(const char *type)
{
    static const struct {
        const char *part;
        enum db_affinity affinity;
    } rules[] = {
        {"int", DB_AFFINITY_INTEGER}, {"char", DB_AFFINITY_TEXT}, {"clob", DB_AFFINITY_TEXT},
        {"text", DB_AFFINITY_TEXT},   {"blob", DB_AFFINITY_BLOB}, {"real", DB_AFFINITY_REAL},
        {"floa", DB_AFFINITY_REAL},   {"doub", DB_AFFINITY_REAL},
    };
    if (!*type) return DB_AFFINITY_BLOB;
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (strcasestr(type, rules[i].part)) return rules[i].affinity;
    return DB_AFFINITY_NUMERIC;
}

const struct db_listing sqlite_listing = {
    .tables = "SELECT name, type, sql, NULL, 0, NULL, 0, 0 FROM sqlite_master WHERE type IN ('table', 'view')"
              " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    .columns = {"PRAGMA table_xinfo(", ")"},
    .indexes = {"PRAGMA index_list(", ")"},
    .index = {"PRAGMA index_info(", ")"},
    .foreign_keys = {"PRAGMA foreign_key_list(", ")"},
    .affinity = sqlite_affinity,
};
