/* Prints tables for people (with libsmartcols) and for spreadsheets (CSV). */
#ifndef ASSAY_CLI_OUTPUT_TABLE_H
#define ASSAY_CLI_OUTPUT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

struct table;

struct table_column {
    const char *name;
    bool right; /* aligns the column to the right, for numbers */
    bool wrap;  /* cells may be wrapped on a terminal */
};

/* Creates a table. `columns` ends with a NULL name and must outlive the table. Never returns NULL. Free with
 * table_free. */
struct table *table_new(const struct table_column *columns);
void table_free(struct table *table);

/* table_row starts a row; table_cell fills its cells in any order. Control characters are shown as escapes. */
void table_row(struct table *table);
void table_cell(struct table *table, unsigned column, const char *format, ...) __attribute__((format(printf, 3, 4)));

void table_print(struct table *table, FILE *stream);
void table_print_csv(struct table *table, FILE *stream);

/* Writes one CSV field, quoted if necessary (RFC 4180). */
void csv_field(FILE *stream, const char *text, size_t len);

#endif
