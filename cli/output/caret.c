#include "cli/output/caret.h"
#include "cli/output/terminal.h"

#include <glib.h>
#include <string.h>

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0U) == 0x80U;
}

void caret_position(const char *sql, size_t len, uint32_t at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < len && i < at; i++) {
        if (sql[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (!is_continuation(sql[i])) {
            ++*column;
        }
    }
}

/* Returns the end of the line to print that starts at `start`: the next newline, or the last space within `width`. */
static size_t piece_end(const char *sql, size_t len, size_t start, unsigned width)
{
    const char *newline = memchr(sql + start, '\n', len - start);
    size_t line_end = newline ? (size_t)(newline - sql) : len, end = start, space = 0;
    unsigned columns = 0;
    while (end < line_end) {
        size_t next = end + 1;
        while (next < line_end && is_continuation(sql[next])) next++;
        columns += text_width(sql + end, next - end);
        if (columns > width) return space > start ? space : end > start ? end : next;
        if (sql[end] == ' ') space = next;
        end = next;
    }
    return line_end;
}

/* Prints one line of carets under the piece [start, end). Takes the marks whose bit in `todo` is set. Leaves out a mark
 * if earlier carets already cover its columns. Returns the bits of the printed marks. */
static guint64 caret_line(FILE *stream, const char *sql, size_t start, size_t end, const struct mark *marks, unsigned n,
                          guint64 todo, unsigned indent)
{
    GString *line = g_string_new(NULL);
    guint64 done = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!(todo & 1ULL << i)) continue;
        size_t from = MAX(marks[i].start, start), to = MIN(marks[i].end, end);
        unsigned left = text_width(sql + start, from - start), wide = to > from ? text_width(sql + from, to - from) : 1;
        if (line->len > 0 && left < line->len + 1) continue;
        g_string_append_printf(line, "%*s", (int)(left - (unsigned)line->len), "");
        for (unsigned k = 0; k < wide; k++) g_string_append_c(line, '^');
        g_string_append_printf(line, " [%u]", marks[i].number);
        done |= 1ULL << i;
    }
    fprintf(stream, "%*s%s%s%s\n", (int)indent, "", style_start(STYLE_BAD), line->str, style_end());
    g_string_free(line, TRUE);
    return done;
}

static bool touches(const struct mark *mark, size_t start, size_t end, bool last)
{
    if (mark->end > mark->start) return mark->start < end && mark->end > start;
    return mark->start >= start && (mark->start < end || last);
}

void caret_print(FILE *stream, const char *sql, size_t len, const struct mark *marks, unsigned n_marks, unsigned indent,
                 unsigned width)
{
    unsigned n = MIN(n_marks, 64);
    unsigned room = width > indent + 20 ? width - indent : 20;
    for (size_t start = 0; start < len || start == 0;) {
        size_t end = piece_end(sql, len, start, room);
        fprintf(stream, "%*s", (int)indent, "");
        print_safe(stream, sql + start, end - start, false);
        fputc('\n', stream);
        guint64 todo = 0;
        for (unsigned i = 0; i < n; i++)
            if (touches(&marks[i], start, end, end == len)) todo |= 1ULL << i;
        while (todo) todo &= ~caret_line(stream, sql, start, end, marks, n, todo, indent);
        start = end < len && sql[end] == '\n' ? end + 1 : end;
        if (end == len) break;
    }
}
