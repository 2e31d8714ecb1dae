#include "tests/unit/signals/case_file.h"

#include <string.h>

static void line_free(gpointer data)
{
    struct case_line *line = data;
    g_free(line->key);
    g_free(line->value);
    g_free(line);
}

static struct case_line *add_line(struct case_file *file, const char *text, unsigned number)
{
    const char *colon = strchr(text, ':');
    if (!colon) return NULL;
    struct case_line *line = g_new0(struct case_line, 1);
    line->key = g_strstrip(g_strndup(text, (gsize)(colon - text)));
    line->value = g_strstrip(g_strdup(colon + 1));
    line->number = number;
    g_ptr_array_add(file->lines, line);
    return line;
}

static void append(struct case_line *line, const char *text)
{
    char *joined = g_strconcat(line->value, *line->value ? "\n" : "", text, NULL);
    g_free(line->value);
    line->value = joined;
}

static char *read_lines(struct case_file *file, char **texts)
{
    struct case_line *last = NULL;
    bool inside = false; /* true within the text of a schema */
    for (unsigned i = 0; texts[i]; i++) {
        const char *text = texts[i];
        if (inside) {
            inside = strcmp(text, "end") != 0;
            if (inside) append(last, text);
        } else if (*text == ' ' && last) {
            append(last, g_strstrip(texts[i]));
        } else if (*text && *text != '#') {
            last = add_line(file, text, i + 1);
            if (!last) return g_strdup_printf("%s:%u: not \"key: value\"", file->path, i + 1);
            inside = strcmp(last->key, "schema") == 0 && !*last->value;
        }
    }
    return inside ? g_strdup_printf("%s: a schema lacks its `end`", file->path) : NULL;
}

struct case_file *case_file_read(const char *path, char **why)
{
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL)) {
        *why = g_strdup_printf("%s: cannot be read", path);
        return NULL;
    }
    struct case_file *file = g_new0(struct case_file, 1);
    file->path = g_strdup(path);
    file->lines = g_ptr_array_new_with_free_func(line_free);
    char **texts = g_strsplit(text, "\n", -1);
    *why = read_lines(file, texts);
    g_strfreev(texts);
    g_free(text);
    if (!*why) return file;
    case_file_free(file);
    return NULL;
}

void case_file_free(struct case_file *file)
{
    g_ptr_array_unref(file->lines);
    g_free(file->path);
    g_free(file);
}
