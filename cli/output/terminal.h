/* Colour, width, escaping and wrapping of text on a terminal. Colours are used only on a terminal. NO_COLOR overrides
 * the terminal, and --color overrides both. */
#ifndef ASSAY_CLI_OUTPUT_TERMINAL_H
#define ASSAY_CLI_OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_WARN };

/* Decides once whether to use colours: `when` is auto, always or never. Thread: main, before output. */
void terminal_init(const char *when);

/* Return escape sequences for standard output, or "" without colour. style_end() resets any style. */
const char *style_start(enum style style);
const char *style_end(void);

/* Return true if standard output, or standard error, is a terminal. */
bool terminal_output(void);
bool terminal_progress(void);

/* Returns a user's text in printable form. Invisible characters (lib/base/invisible.h) become \uXXXX or \UXXXXXXXX,
 * above all escape sequences and direction marks. Invalid UTF-8 bytes become \xXX, tabs and line ends spaces; newlines
 * stay if `lines`. Free with g_free. print_safe prints that form. */
char *safe_text(const char *text, size_t len, bool lines);
void print_safe(FILE *stream, const char *text, size_t len, bool lines);

/* Returns the columns that `len` bytes of UTF-8 take on a terminal in the form of print_safe. */
unsigned text_width(const char *text, size_t len);

/* Returns the columns of the stream's terminal, or 80 if the stream is not a terminal. */
unsigned terminal_width(FILE *stream);

/* Prints text as print_safe does, wrapped at spaces to the terminal's width. Each line has `indent` spaces before it;
 * the first has `lead`, which is as long. A word longer than a line is broken. */
void print_paragraph(FILE *stream, const char *lead, unsigned indent, const char *text);

#endif
