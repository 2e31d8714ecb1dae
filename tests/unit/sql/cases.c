#include "tests/unit/sql/cases.h"

#include <glib.h>
#include <string.h>

struct reader {
    GString *schema;
    GArray *fields;
    struct golden_case now;
    void (*each)(const struct golden_case *c, void *self);
    void *self;
    size_t n;
};

static void finish_case(struct reader *r)
{
    if (r->now.name) {
        r->now.schema = r->schema->str;
        r->now.fields = (struct case_field *)(void *)r->fields->data;
        r->now.n_fields = r->fields->len;
        r->each(&r->now, r->self);
        r->n++;
    }
    r->now.name = NULL;
    g_array_set_size(r->fields, 0);
}

static void read_line(struct reader *r, char *line, int number)
{
    char *colon = strchr(line, ':');
    if (*line == '#') return;
    if (!*g_strstrip(line)) {
        finish_case(r);
        return;
    }
    if (!colon) return;
    *colon = '\0';
    char *value = g_strstrip(colon + 1);
    if (strcmp(line, "schema") == 0) {
        g_string_append_printf(r->schema, "%s\n", value);
    } else if (strcmp(line, "case") == 0) {
        finish_case(r);
        r->now.name = value;
        r->now.line = number;
    } else {
        struct case_field field = {line, value};
        g_array_append_val(r->fields, field);
    }
}

size_t cases_each(const char *file, void (*each)(const struct golden_case *c, void *self), void *self)
{
    char *path = g_strdup_printf("%s/sql/%s", TEST_DATA, file), *text = NULL;
    struct reader r = {.schema = g_string_new(NULL),
                       .fields = g_array_new(FALSE, FALSE, sizeof(struct case_field)),
                       .now = {.file = file},
                       .each = each,
                       .self = self};
    if (g_file_get_contents(path, &text, NULL, NULL)) {
        char **lines = g_strsplit(text, "\n", -1);
        for (int i = 0; lines[i]; i++) read_line(&r, lines[i], i + 1);
        finish_case(&r);
        g_strfreev(lines);
    }
    g_free(text);
    g_free(path);
    g_array_free(r.fields, TRUE);
    g_string_free(r.schema, TRUE);
    return r.n;
}

const char *case_get(const struct golden_case *c, const char *key)
{
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].key, key) == 0) return c->fields[i].value;
    return NULL;
}
