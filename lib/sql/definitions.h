/* Reads a schema from its text: the tables, keys, references and views that DDL defines.
 *
 * Nothing is executed. The reader accepts the union of the DDL of SQLite, PostgreSQL and MySQL. It skips the other
 * statements of their schema dumps. Only names, types and keys are read. Defaults, CHECK, collations, comments and
 * expressions of generated columns are skipped without being parsed. Anything else is an error: data, triggers,
 * functions, ATTACH, PRAGMA, virtual tables. */
#ifndef ASSAY_LIB_SQL_DEFINITIONS_H
#define ASSAY_LIB_SQL_DEFINITIONS_H

#include "lib/base/arena.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of one text. */
enum {
    SQL_MAX_DEFINITIONS_BYTES = 256 << 10,
    SQL_MAX_DEFINED_TABLES = 2000,
    SQL_MAX_DEFINED_COLUMNS = 2000, /* of one table */
    SQL_MAX_DEFINED_KEYS = 1000,    /* of one table */
    SQL_MAX_DEFINED_VIEWS = 200,
    SQL_MAX_VIEW_READS = 1000, /* tables that a view reads, directly and through other views; each level of views may
                                * double the number */
    SQL_MAX_DEFINED_NAME = 256 /* bytes */
};

/* Lists are in the order of the text, except keys: the last key is first. Strings and structs live in the arena. */
struct sql_defined_name {
    const char *name;
    struct sql_defined_name *next;
};

struct sql_defined_column {
    const char *name, *type; /* type: as declared, with single spaces; "" if absent */
    bool not_null;
    struct sql_defined_column *next;
};

/* A primary or unique key, or a reference to another table. */
enum sql_defined_kind { SQL_DEFINED_PRIMARY, SQL_DEFINED_UNIQUE, SQL_DEFINED_REFERENCE };
struct sql_defined_key {
    enum sql_defined_kind kind;
    struct sql_defined_name *columns;
    const char *table;           /* of a reference: the referenced table, without its schema */
    struct sql_defined_name *to; /* of a reference: the referenced columns; NULL means the primary key */
    struct sql_defined_key *next;
};

struct sql_defined_table {
    const char *schema, *name;                 /* schema: NULL if the text gives none */
    struct sql_defined_column *columns, *last; /* last: the end of the list `columns` */
    struct sql_defined_key *keys;              /* the last one first */
    uint32_t n_columns, n_keys;
    bool has_primary;
    struct sql_defined_table *next;
};

struct sql_defined_view {
    const char *schema, *name;
    struct sql_defined_name *columns; /* NULL if the columns are named as in the query */
    const char *query;                /* a SELECT that the parser accepts, without the schemas of tables defined here */
    struct sql_defined_view *next;
};

struct sql_definitions {
    struct sql_defined_table *tables;
    struct sql_defined_view *views; /* each reads only views and tables before it */
    uint32_t n_tables, n_views;
    bool is_sqlite; /* the text has no syntax that belongs to another engine */
};

/* Reads `len` bytes. Returns ERR_SYNTAX, ERR_REFUSED (a statement that defines no table or view), ERR_ENCODING,
 * ERR_LIMIT_* or ERR_DB_EMPTY (the text defines no table). `err` then has the place and a hint. Thread: any. */
enum err_code sql_read_definitions(struct arena *arena, const char *text, size_t len, struct sql_definitions **out,
                                   struct err *err);

#endif
