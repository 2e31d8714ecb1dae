/* Colour, width and progress. Colours only where a person looks; NO_COLOR wins over the terminal, --color over both. */
#ifndef ASSAY_CLI_OUTPUT_TERMINAL_H
#define ASSAY_CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_WARN };

/* Decide once: `when` is auto, always or never. Thread: main, before output. */
void terminal_init(const char *when);

/* Escape sequences for standard output, or "" without colour. style_end() undoes any. */
const char *style_start(enum style style);
const char *style_end(void);

/* Does a person read standard output? And standard error? */
bool terminal_output(void);
bool terminal_progress(void);

/* Text from users as it may be printed: what is invisible (lib/base/invisible.h), escape sequences and marks of
 * direction above all, as \uXXXX or \UXXXXXXXX, bytes that are no UTF-8 as \xXX, tabs and line ends as spaces; newlines
 * stay if `lines`. g_free. */
char *safe_text(const char *text, size_t len, bool lines);
void print_safe(FILE *stream, const char *text, size_t len, bool lines);

/* Columns that `len` bytes of UTF-8 text take on a terminal as print_safe writes them. */
unsigned text_width(const char *text, size_t len);

/* Columns of the terminal behind the stream; 80 where there is none. */
unsigned terminal_width(FILE *stream);

/* Print text as print_safe does, lines broken at spaces to the terminal's width, each behind `indent` spaces; the first
 * one behind `lead`, which is as long. A word that is longer than a line is broken. */
void print_paragraph(FILE *stream, const char *lead, unsigned indent, const char *text);

#endif
