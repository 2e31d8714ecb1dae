/* Lists the catalogue of the connection's database in MariaDB, as far as the account may see it. */
#include "lib/db/db_engine.h"

#include <glib.h>

/* Values of types other than numbers and bytes are texts. */
static enum db_affinity mariadb_affinity(const char *type)
{
    static const struct {
        const char *start;
        enum db_affinity affinity;
    } rules[] = {
        {"tinyint", DB_AFFINITY_INTEGER}, {"smallint", DB_AFFINITY_INTEGER}, {"mediumint", DB_AFFINITY_INTEGER},
        {"int", DB_AFFINITY_INTEGER},     {"bigint", DB_AFFINITY_INTEGER},   {"year", DB_AFFINITY_INTEGER},
        {"bit", DB_AFFINITY_INTEGER},     {"decimal", DB_AFFINITY_NUMERIC},  {"float", DB_AFFINITY_REAL},
        {"double", DB_AFFINITY_REAL},     {"tinyblob", DB_AFFINITY_BLOB},    {"blob", DB_AFFINITY_BLOB},
        {"mediumblob", DB_AFFINITY_BLOB}, {"longblob", DB_AFFINITY_BLOB},    {"binary", DB_AFFINITY_BLOB},
        {"varbinary", DB_AFFINITY_BLOB},  {"geometry", DB_AFFINITY_BLOB},    {"point", DB_AFFINITY_BLOB},
        {"linestring", DB_AFFINITY_BLOB}, {"polygon", DB_AFFINITY_BLOB},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (g_str_has_prefix(type, rules[i].start)) return rules[i].affinity;
    return DB_AFFINITY_TEXT;
}

/* SQL around a text literal that contains a quoted name. The expression yields the name without quotes. */
#define UNQUOTE_BEFORE "REPLACE(REVERSE(SUBSTR(REVERSE(SUBSTR("
#define UNQUOTE_AFTER  ", 2)), 2)), '\"\"', '\"')"

/* A table whose storage engine reads remote data is listed as a view, because the cost of reading it is unknown. */
#define MARIADB_TABLES                                                                                                 \
    "SELECT t.table_name, CASE WHEN t.table_type = 'VIEW' OR t.engine IN ('CONNECT', 'FEDERATED', 'SPIDER') THEN"      \
    " 'view' ELSE 'table' END, NULLIF(v.view_definition, ''),"                                                         \
    " CASE WHEN t.table_type <> 'VIEW' THEN NULLIF(t.table_comment, '') END, COALESCE(t.table_rows, 0),"               \
    " t.table_schema, 0, 0 FROM information_schema.tables AS t LEFT JOIN information_schema.views AS v"                \
    " ON v.table_schema = t.table_schema AND v.table_name = t.table_name"                                              \
    " WHERE t.table_schema = DATABASE() AND t.table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')"                \
    " ORDER BY t.table_name"

#define MARIADB_COLUMNS                                                                                                \
    "SELECT c.ordinal_position - 1, c.column_name, c.column_type, c.is_nullable = 'NO', NULL,"                         \
    " COALESCE(k.seq_in_index, 0), CASE WHEN c.is_generated = 'ALWAYS' THEN 3 ELSE 0 END,"                             \
    " NULLIF(c.column_comment, ''), c.generation_expression, c.collation_name IS NOT NULL AND"                         \
    " RIGHT(c.collation_name, 9) <> 'nopad_bin' FROM information_schema.columns AS c"                                  \
    " LEFT JOIN information_schema.statistics AS k ON k.table_schema = c.table_schema AND k.table_name = c.table_name" \
    " AND k.column_name = c.column_name AND k.index_name = 'PRIMARY'"                                                  \
    " WHERE c.table_schema = DATABASE() AND c.table_name = " UNQUOTE_BEFORE

/* Includes the table, because index names are unique only within a table. */
#define INDEX_NAME "CONCAT(HEX(table_name), '.', HEX(index_name))"

#define MARIADB_INDEXES                                                                                                \
    "SELECT DISTINCT 0, " INDEX_NAME ", non_unique = 0, CASE WHEN index_name = 'PRIMARY' THEN 'pk' ELSE 'u' END, 0"    \
    " FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = " UNQUOTE_BEFORE

#define MARIADB_INDEX                                                                                                  \
    "SELECT seq_in_index, 0, column_name FROM information_schema.statistics WHERE table_schema = DATABASE()"           \
    " AND " INDEX_NAME " = " UNQUOTE_BEFORE

#define MARIADB_FOREIGN_KEYS                                                                                           \
    "SELECT DENSE_RANK() OVER (ORDER BY constraint_name), referenced_table_schema, referenced_table_name,"             \
    " column_name, referenced_column_name FROM information_schema.key_column_usage"                                    \
    " WHERE referenced_table_name IS NOT NULL AND table_schema = DATABASE() AND table_name = " UNQUOTE_BEFORE

#define MARIADB_ALL_COLUMNS                                                                                            \
    "SELECT c.table_schema, c.table_name, c.column_name FROM information_schema.columns AS c"                          \
    " WHERE c.table_schema = DATABASE()"

const struct db_listing mariadb_listing = {
    .name_is_text = true,
    .tables = MARIADB_TABLES,
    .columns = {MARIADB_COLUMNS, UNQUOTE_AFTER " ORDER BY c.ordinal_position"},
    .indexes = {MARIADB_INDEXES, UNQUOTE_AFTER " ORDER BY index_name"},
    .index = {MARIADB_INDEX, UNQUOTE_AFTER " ORDER BY seq_in_index"},
    .foreign_keys = {MARIADB_FOREIGN_KEYS, UNQUOTE_AFTER " ORDER BY constraint_name, ordinal_position"},
    .all_columns = MARIADB_ALL_COLUMNS,
    .comments = true,
    .expressions = true,
    .folds = true,
    .sample = {" WHERE 100 * rand(1) < ", ""},
    .affinity = mariadb_affinity,
};
