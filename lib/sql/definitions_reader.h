/* Internal to the reader of definitions: its state, and the functions shared by definitions.c (statements) and
 * definitions_table.c (the parenthesised items of a table). */
#ifndef ASSAY_LIB_SQL_DEFINITIONS_READER_H
#define ASSAY_LIB_SQL_DEFINITIONS_READER_H

#include "lib/sql/definitions.h"
#include "lib/sql/parser.h"

#include <glib.h>

struct definitions_reader {
    struct sql_parser scan; /* has the tokens of the text */
    uint32_t at;            /* index of the next token */
    struct arena *arena;
    struct sql_definitions *out;
    struct sql_defined_table **last_table;
    struct sql_defined_view **last_view;
    GHashTable *tables;  /* folded name → struct sql_defined_table */
    GHashTable *views;   /* folded name → number of tables that the view reads, as a pointer */
    GHashTable *columns; /* folded "table\ncolumn", as a set */
    GHashTable *schemas; /* folded names, as a set */
    bool unique;         /* the index being read is unique */
    struct err *err;
    enum err_code code; /* the first failure; nothing is read after it */
};

/* Records a failure at token number `at`: "line 3, column 9: ...". Only the first failure counts. */
void reader_fail(struct definitions_reader *r, uint32_t at, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Returns a name in lower case, as the hash tables have it. The string lives in the arena. */
const char *reader_folded(struct definitions_reader *r, const char *name);

/* --- tokens; no function moves past the end of the text, or after a failure --- */

/* `word` is in upper case; quoted words differ */
bool reader_is(const struct definitions_reader *r, uint32_t at, const char *word);
bool reader_is_mark(const struct definitions_reader *r, uint32_t at, char mark); /* one of ( ) , ; . [ ] */
bool reader_is_word(const struct definitions_reader *r, uint32_t at);            /* quoted or not */
bool reader_is_number(const struct definitions_reader *r, uint32_t at);
bool reader_at_end(const struct definitions_reader *r); /* end of the statement */
bool reader_accept(struct definitions_reader *r, const char *word);
bool reader_accept_mark(struct definitions_reader *r, char mark);
/* Skip the given word or mark. If the next token is another one, they record a failure that names the expected one. */
void reader_expect(struct definitions_reader *r, const char *word);
void reader_expect_mark(struct definitions_reader *r, char mark);
/* Reads a name. Returns NULL after a failure, whose message calls the name `what`. */
const char *reader_name(struct definitions_reader *r, const char *what);
/* Reads name, schema.name or database.schema.name. Returns the name. Sets *schema, to NULL if the text gives none. */
const char *reader_qualified(struct definitions_reader *r, const char *what, const char **schema);
/* Skips one token. If it is an opening parenthesis, skips up to and including the matching one. */
void reader_skip(struct definitions_reader *r);
/* Reads a list such as (a, b(10), c DESC). Sets *plain to true if all entries are columns; otherwise to false, and
 * returns NULL. */
struct sql_defined_name *reader_names(struct definitions_reader *r, bool *plain);

/* --- definitions_table.c --- */

/* Reads the table's items up to its closing parenthesis. */
void reader_table_items(struct definitions_reader *r, struct sql_defined_table *table);
/* Reads one column, or one constraint ([CONSTRAINT name] PRIMARY KEY ..., UNIQUE ..., FOREIGN KEY ..., CHECK ...). */
void reader_table_item(struct definitions_reader *r, struct sql_defined_table *table);
/* Checks that the table has the columns that its key names. Call it at the end of a table, because a key may name
 * columns that the text defines later. */
void reader_check_key(struct definitions_reader *r, const struct sql_defined_table *table,
                      const struct sql_defined_key *key, uint32_t at);
void reader_add_unique(struct definitions_reader *r, struct sql_defined_table *table, struct sql_defined_name *columns,
                       uint32_t at);

#endif
