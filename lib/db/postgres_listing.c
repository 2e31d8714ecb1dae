/* Lists the catalogue of a PostgreSQL server. */
#include "lib/db/db_engine.h"

#include <glib.h>

/* Returns the affinity of a type. Values of types other than numbers and bytes are texts. */
static enum db_affinity postgres_affinity(const char *type)
{
    static const struct {
        const char *start;
        enum db_affinity affinity;
    } rules[] = {
        {"smallint", DB_AFFINITY_INTEGER}, {"integer", DB_AFFINITY_INTEGER}, {"bigint", DB_AFFINITY_INTEGER},
        {"oid", DB_AFFINITY_INTEGER},      {"boolean", DB_AFFINITY_NUMERIC}, {"numeric", DB_AFFINITY_NUMERIC},
        {"real", DB_AFFINITY_REAL},        {"double", DB_AFFINITY_REAL},     {"bytea", DB_AFFINITY_BLOB},
    };
    if (g_str_has_suffix(type, "[]")) return DB_AFFINITY_TEXT;
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (g_str_has_prefix(type, rules[i].start)) return rules[i].affinity;
    return DB_AFFINITY_TEXT;
}

/* Lists the tables that the role may read, in all schemas that it may use except the server's own. An unqualified name
 * refers to the table that the search path finds. Partitions are not listed separately. A foreign table is listed as a
 * view, because the cost of reading it is unknown. If a table was never analysed, its number of rows is estimated from
 * its size. */
#define POSTGRES_TABLES                                                                                                \
    "SELECT c.relname, CASE WHEN c.relkind IN ('v', 'f') THEN 'view' ELSE 'table' END,"                                \
    " CASE WHEN c.relkind IN ('v', 'm') THEN pg_catalog.pg_get_viewdef(c.oid) END,"                                    \
    " pg_catalog.obj_description(c.oid, 'pg_class'),"                                                                  \
    " CASE WHEN c.relkind IN ('v', 'f') THEN 0 WHEN c.reltuples >= 0 THEN c.reltuples::bigint"                         \
    " WHEN c.relkind = 'p' THEN coalesce((SELECT sum(pg_catalog.pg_relation_size(relid) / 64)::bigint"                 \
    " FROM pg_catalog.pg_partition_tree(c.oid) WHERE isleaf), 0)"                                                      \
    " ELSE pg_catalog.pg_relation_size(c.oid) / 64 END,"                                                               \
    " s.nspname, NOT pg_catalog.pg_table_is_visible(c.oid),"                                                           \
    " EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))"                          \
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace"                             \
    " WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition"                                           \
    " AND s.nspname !~ '^pg_' AND s.nspname <> 'information_schema'"                                                   \
    " AND pg_catalog.has_schema_privilege(s.oid, 'USAGE')"                                                             \
    " AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))"   \
    " ORDER BY 7, c.oid"

#define POSTGRES_COLUMNS                                                                                               \
    "SELECT a.attnum - 1, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull, NULL,"             \
    " coalesce((SELECT pg_catalog.array_position(k.conkey, a.attnum) FROM pg_catalog.pg_constraint k"                  \
    " WHERE k.conrelid = a.attrelid AND k.contype = 'p'), 0), CASE a.attgenerated WHEN '' THEN 0 ELSE 3 END,"          \
    " pg_catalog.col_description(a.attrelid, a.attnum),"                                                               \
    " (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef d"                                 \
    " WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.attgenerated <> '')"                                   \
    " FROM pg_catalog.pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped"                                        \
    " AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AND a.attrelid = "

#define POSTGRES_INDEXES                                                                                               \
    "SELECT 0, i.indexrelid::text, i.indisunique AND i.indisvalid, CASE WHEN i.indisprimary THEN 'pk' ELSE 'u' END,"   \
    " i.indpred IS NOT NULL OR i.indexprs IS NOT NULL FROM pg_catalog.pg_index i WHERE i.indrelid = "

/* Selects an index by its object number, because another schema may have an index of the same name. */
#define POSTGRES_INDEX                                                                                                 \
    "SELECT k.n, k.attnum, a.attname FROM pg_catalog.pg_index i"                                                       \
    " CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, n)"                                     \
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum"                          \
    " WHERE k.n <= i.indnkeyatts AND i.indexrelid = pg_catalog.replace("

#define POSTGRES_FOREIGN_KEYS                                                                                          \
    "SELECT k.oid, s.nspname, t.relname, a.attname, b.attname"                                                         \
    " FROM pg_catalog.pg_constraint k CROSS JOIN LATERAL unnest(k.conkey, k.confkey) WITH ORDINALITY AS p(f, r, n)"    \
    " JOIN pg_catalog.pg_class t ON t.oid = k.confrelid JOIN pg_catalog.pg_namespace s ON s.oid = t.relnamespace"      \
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.f"                                    \
    " JOIN pg_catalog.pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = p.r"                                   \
    " WHERE k.contype = 'f' AND k.conparentid = 0 AND k.conrelid = "

/* A join that yields the objects that the views of `from` read, as d.refobjid. Its conditions use the indexes of both
 * catalogues. */
#define READ_BY(from)                                                                                                  \
    " JOIN pg_catalog.pg_rewrite r ON r.ev_class = " from ".id JOIN pg_catalog.pg_depend d"                            \
    " ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = r.oid"                                            \
    " AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> r.ev_class"

#define POSTGRES_READ                                                                                                  \
    " read(id) AS (SELECT d.refobjid FROM me" READ_BY("me") " UNION SELECT d.refobjid FROM read" READ_BY("read") "),"

/* `down` contains the tables and those that inherit from them, because a scan of a table reads the rows of its
 * descendants. `near` adds all ancestors of these tables, because a column may be denied in any ancestor. */
#define POSTGRES_NEAR                                                                                                  \
    " base(id) AS (SELECT c.oid FROM me JOIN pg_catalog.pg_class c ON c.oid = me.id AND c.relkind NOT IN ('v', 'm')"   \
    " UNION SELECT id FROM read),"                                                                                     \
    " down(id) AS (SELECT id FROM base"                                                                                \
    " UNION SELECT i.inhrelid FROM down d JOIN pg_catalog.pg_inherits i ON i.inhparent = d.id),"                       \
    " near(id) AS (SELECT id FROM down"                                                                                \
    " UNION SELECT i.inhparent FROM near n JOIN pg_catalog.pg_inherits i ON i.inhrelid = n.id),"

/* Generated columns and their source columns. Before version 15 the dependencies belong to the column; since then they
 * belong to its expression. A column may be generated in a table and plain in an ancestor. */
#define POSTGRES_COMPUTED                                                                                              \
    " computed(id, num, source) AS (SELECT down.id, d.adnum, p.refobjsubid FROM down"                                  \
    " JOIN pg_catalog.pg_attrdef d ON d.adrelid = down.id JOIN pg_catalog.pg_depend p"                                 \
    " ON p.refclassid = 'pg_catalog.pg_class'::regclass AND p.refobjid = down.id"                                      \
    " AND p.refobjsubid NOT IN (0, d.adnum) AND (p.classid, p.objid, p.objsubid) IN"                                   \
    " (('pg_catalog.pg_attrdef'::regclass, d.oid, 0),"                                                                 \
    " ('pg_catalog.pg_class'::regclass, down.id, d.adnum))),"

/* `shown` lists pairs: columns named `name` show the contents of columns named `source`, in any table of `near`. */
#define POSTGRES_SHOWN                                                                                                 \
    " own(name) AS (SELECT DISTINCT a.attname FROM base b"                                                             \
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = b.id AND a.attnum > 0 AND NOT a.attisdropped),"                   \
    " shown(name, source) AS (SELECT name, name FROM own UNION SELECT g.attname, a.attname FROM computed c"            \
    " JOIN pg_catalog.pg_attribute g ON g.attrelid = c.id AND g.attnum = c.num AND g.attgenerated <> ''"               \
    " JOIN own o ON o.name = g.attname"                                                                                \
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = c.id AND a.attnum = c.source),"

/* Lists the origins of columns. For a table these are the columns from which its columns, or those of its descendants,
 * are inherited or generated. For a view these are the columns of all tables that it reads, directly or through other
 * views, and their origins. If `near` has more than 512 tables, only names are listed, which then stand for columns of
 * any table. */
#define POSTGRES_ORIGINS                                                                                               \
    "::regclass::oid)," POSTGRES_READ POSTGRES_NEAR POSTGRES_COMPUTED POSTGRES_SHOWN                                   \
    " few(yes) AS (SELECT count(*) <= 512 FROM near),"                                                                 \
    " found(name, id, source) AS (SELECT s.name, n.id, s.source FROM few CROSS JOIN shown s CROSS JOIN near n"         \
    " JOIN pg_catalog.pg_attribute a ON a.attrelid = n.id AND a.attname = s.source AND a.attnum > 0 WHERE few.yes"     \
    " UNION ALL SELECT s.name, NULL, s.source FROM few CROSS JOIN shown s WHERE NOT few.yes)"                          \
    " SELECT CASE WHEN m.relkind NOT IN ('v', 'm') THEN f.name END, s.nspname, c.relname, f.source"                    \
    " FROM me JOIN pg_catalog.pg_class m ON m.oid = me.id CROSS JOIN found f"                                          \
    " LEFT JOIN pg_catalog.pg_class c ON c.oid = f.id LEFT JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace"   \
    " WHERE f.id IS DISTINCT FROM me.id OR f.name <> f.source ORDER BY f.name"

#define POSTGRES_ALL_COLUMNS                                                                                           \
    "SELECT s.nspname, c.relname, a.attname FROM pg_catalog.pg_attribute a"                                            \
    " JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace"       \
    " WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"                            \
    " AND s.nspname !~ '^pg_' AND s.nspname <> 'information_schema'"

const struct db_listing postgres_listing = {
    .name_is_text = true,
    .tables = POSTGRES_TABLES,
    .columns = {POSTGRES_COLUMNS, "::regclass ORDER BY a.attnum"},
    .indexes = {POSTGRES_INDEXES, "::regclass ORDER BY i.indexrelid"},
    .index = {POSTGRES_INDEX, ", '\"', '')::oid ORDER BY k.n"},
    .foreign_keys = {POSTGRES_FOREIGN_KEYS, "::regclass ORDER BY k.oid, p.n"},
    .origins = {"WITH RECURSIVE me(id) AS (SELECT ", POSTGRES_ORIGINS},
    .all_columns = POSTGRES_ALL_COLUMNS,
    .comments = true,
    .expressions = true,
    .sample = {" TABLESAMPLE SYSTEM (", ") REPEATABLE (1)"},
    .affinity = postgres_affinity,
};
