/* Implements tables for people and CSV fields (table.h). A table collects its cells and is printed at the end. */
#include "cli/output/table.h"
#include "cli/output/terminal.h"

#include <glib.h>
#include <libsmartcols.h>
#include <string.h>

struct table {
    const struct table_column *columns;
    unsigned n_columns;
    GPtrArray *cells; /* row-major; NULL if empty */
};

struct table *table_new(const struct table_column *columns)
{
    struct table *table = g_new0(struct table, 1);
    table->columns = columns;
    while (columns[table->n_columns].name) table->n_columns++;
    table->cells = g_ptr_array_new_with_free_func(g_free);
    return table;
}

void table_free(struct table *table)
{
    g_ptr_array_free(table->cells, TRUE);
    g_free(table);
}

void table_row(struct table *table)
{
    g_ptr_array_set_size(table->cells, (gint)(table->cells->len + table->n_columns));
}

static char *visible(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = ' ';
    return text;
}

void table_cell(struct table *table, unsigned column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gpointer *cell = &table->cells->pdata[table->cells->len - table->n_columns + column];
    g_free(*cell);
    *cell = visible(g_strdup_vprintf(format, args));
    va_end(args);
}

void table_print(struct table *table, FILE *stream)
{
    struct libscols_table *out = scols_new_table();
    if (!out) g_error("out of memory");
    bool person = stream == stdout && terminal_output();
    scols_table_set_stream(out, stream);
    scols_table_set_termforce(out, person ? SCOLS_TERMFORCE_AUTO : SCOLS_TERMFORCE_NEVER);
    for (unsigned c = 0; c < table->n_columns; c++) {
        int flags =
            (table->columns[c].right ? SCOLS_FL_RIGHT : 0) | (person && table->columns[c].wrap ? SCOLS_FL_WRAP : 0);
        scols_table_new_column(out, table->columns[c].name, 0, flags);
    }
    for (guint i = 0; i < table->cells->len; i += table->n_columns) {
        struct libscols_line *line = scols_table_new_line(out, NULL);
        for (unsigned c = 0; line && c < table->n_columns; c++) {
            const char *cell = table->cells->pdata[i + c] ? table->cells->pdata[i + c] : "";
            char *safe = safe_text(cell, strlen(cell), false);
            scols_line_set_data(line, c, safe);
            g_free(safe);
        }
    }
    scols_print_table(out);
    scols_unref_table(out);
}

void csv_field(FILE *stream, const char *text, size_t len)
{
    if (!memchr(text, '"', len) && !memchr(text, ',', len) && !memchr(text, '\n', len) && !memchr(text, '\r', len)) {
        fwrite(text, 1, len, stream);
        return;
    }
    fputc('"', stream);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"') fputc('"', stream);
        fputc(text[i], stream);
    }
    fputc('"', stream);
}

void table_print_csv(struct table *table, FILE *stream)
{
    for (unsigned c = 0; c < table->n_columns; c++) {
        if (c) fputc(',', stream);
        csv_field(stream, table->columns[c].name, strlen(table->columns[c].name));
    }
    fputs("\r\n", stream);
    for (guint row = 0; row + table->n_columns <= table->cells->len; row += table->n_columns) {
        for (unsigned c = 0; c < table->n_columns; c++) {
            const char *cell = table->cells->pdata[row + c] ? table->cells->pdata[row + c] : "";
            if (c) fputc(',', stream);
            csv_field(stream, cell, strlen(cell));
        }
        fputs("\r\n", stream);
    }
}
