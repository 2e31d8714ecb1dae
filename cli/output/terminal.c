/* Implements terminal.h (colour, width, escaping and wrapping of text), and the messages on standard error of cli.h.
 *
 * Each character becomes a glyph with its bytes, its columns and, if it is unsafe, an escape. Printing, measuring and
 * wrapping all use the same glyphs, so widths match the output. */
#include "cli/output/terminal.h"

#include "cli/cli.h"
#include "lib/base/invisible.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool colour;

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

void terminal_init(const char *when)
{
    if (strcmp(when, "auto") != 0)
        colour = strcmp(when, "always") == 0;
    else if (is_set("NO_COLOR"))
        colour = false;
    else if (is_set("CLICOLOR_FORCE") && g_strcmp0(getenv("CLICOLOR_FORCE"), "0") != 0)
        colour = true;
    else
        colour = terminal_output() && g_strcmp0(getenv("TERM"), "dumb") != 0;
}

const char *style_start(enum style style)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[33m"};
    return colour ? codes[style] : "";
}

const char *style_end(void)
{
    return colour ? "\033[0m" : "";
}

bool terminal_output(void)
{
    return isatty(STDOUT_FILENO) == 1;
}

bool terminal_progress(void)
{
    return isatty(STDERR_FILENO) == 1 && !is_set("CI");
}

/* A character, and how it is shown. */
struct glyph {
    size_t bytes;     /* size of the character in the text */
    unsigned columns; /* width on a terminal */
    char escape[12];  /* shown instead of the character; "" shows the character itself */
};

static struct glyph glyph_of(const char *text, size_t len)
{
    gunichar c = *text ? g_utf8_get_char_validated(text, (gssize)len) : 0;
    bool valid = c != (gunichar)-1 && c != (gunichar)-2;
    struct glyph glyph = {valid ? (size_t)g_utf8_skip[(unsigned char)*text] : 1, 1, ""};
    if (!valid)
        snprintf(glyph.escape, sizeof glyph.escape, "\\x%02x", (unsigned char)*text);
    else if (c == '\t' || c == '\n' || c == '\r')
        glyph.escape[0] = ' ';
    else if (is_invisible(c))
        snprintf(glyph.escape, sizeof glyph.escape, c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    else
        glyph.columns = g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    if (*glyph.escape) glyph.columns = (unsigned)strlen(glyph.escape);
    return glyph;
}

char *safe_text(const char *text, size_t len, bool lines)
{
    GString *safe = g_string_sized_new(len + 1);
    for (size_t i = 0; i < len;) {
        struct glyph glyph = glyph_of(text + i, len - i);
        if (*glyph.escape && !(lines && text[i] == '\n'))
            g_string_append(safe, glyph.escape);
        else
            g_string_append_len(safe, text + i, (gssize)glyph.bytes);
        i += glyph.bytes;
    }
    return g_string_free(safe, FALSE);
}

void print_safe(FILE *stream, const char *text, size_t len, bool lines)
{
    char *safe = safe_text(text, len, lines);
    fputs(safe, stream);
    g_free(safe);
}

unsigned text_width(const char *text, size_t len)
{
    unsigned width = 0;
    for (size_t i = 0; i < len;) {
        struct glyph glyph = glyph_of(text + i, len - i);
        width += glyph.columns;
        i += glyph.bytes;
    }
    return width;
}

unsigned terminal_width(FILE *stream)
{
    enum { NO_TERMINAL = 80 };
    struct winsize size;
    int fd = stream == stdout ? STDOUT_FILENO : fileno(stream);
    if (isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return NO_TERMINAL;
}

/* Returns the number of bytes that fit into `room` columns. If the text continues, the line ends at its last space. */
static size_t line_of(const char *text, size_t len, unsigned room)
{
    size_t end = 0, space = 0;
    for (unsigned columns = 0; end < len;) {
        struct glyph glyph = glyph_of(text + end, len - end);
        columns += glyph.columns;
        if (columns > room) break;
        if (text[end] == ' ') space = end;
        end += glyph.bytes;
    }
    return end < len && text[end] != ' ' && space ? space : end;
}

void print_paragraph(FILE *stream, const char *lead, unsigned indent, const char *text)
{
    enum { LEAST = 20 };
    unsigned width = terminal_width(stream), room = width > indent + LEAST ? width - indent : LEAST;
    size_t len = strlen(text);
    fputs(lead, stream);
    while (len) {
        size_t n = line_of(text, len, room);
        print_safe(stream, text, n, false);
        fputc('\n', stream);
        while (n < len && text[n] == ' ') n++;
        text += n;
        len -= n;
        if (len) fprintf(stream, "%*s", (int)indent, "");
    }
}

static void print_message(const char *prefix, const char *text, size_t len)
{
    fputs(prefix, stderr);
    print_safe(stderr, text, len, true);
    fputc('\n', stderr);
}

void complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t hint = err_hint_offset(format, args);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    size_t len = strlen(text), message = MIN(hint, len);
    print_message("assay: ", text, message);
    if (message + 1 < len) print_message("hint: ", text + message + 1, len - message - 1);
    g_free(text);
}

void complain_empty(const char *path)
{
    complain("%s is empty", path);
}

void complain_text(const struct err *err)
{
    int len;
    const char *message = err_message(err, &len);
    complain("%.*s" ERR_HINT "%s", len, message, err_hint(err));
}

int complain_err(const char *what, const struct err *err)
{
    int len;
    const char *message = err_message(err, &len);
    complain("%s%s%.*s (%s)" ERR_HINT "%s", what ? what : "", what ? ": " : "", len, message, err_name(err->code),
             err_hint(err));
    return EXIT_ERROR;
}
