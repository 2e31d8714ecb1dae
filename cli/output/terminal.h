/* Colours, measures, escapes and wraps text for a terminal. By default, colours are used only on a terminal. NO_COLOR
 * disables them, and --color has priority over both. */
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

/* terminal_output returns true if standard output is a terminal, terminal_progress if standard error is. */
bool terminal_output(void);
bool terminal_progress(void);

/* Returns a user's text in printable form. Invisible characters (lib/base/invisible.h), such as escape sequences and
 * direction marks, become \uXXXX or \UXXXXXXXX. Invalid UTF-8 bytes become \xXX. Tabs and line ends become spaces, but
 * newlines stay if `lines` is true. Free with g_free. print_safe prints this form. */
char *safe_text(const char *text, size_t len, bool lines);
void print_safe(FILE *stream, const char *text, size_t len, bool lines);

/* Returns the number of columns on a terminal that print_safe needs for `len` bytes of UTF-8. */
unsigned text_width(const char *text, size_t len);

/* Returns the number of columns of the stream's terminal, or 80 if the stream is not a terminal. */
unsigned terminal_width(FILE *stream);

/* Prints text as print_safe does, wrapped at spaces to the terminal's width. Each line begins with `indent` spaces. The
 * first line begins with `lead` instead, which has the same width. A word longer than a line is broken. */
void print_paragraph(FILE *stream, const char *lead, unsigned indent, const char *text);

#endif
