#include "cli/output/format.h"
#include "cli/output/terminal.h"

#include <string.h>

static const char *const names[FORMAT_COUNT] = {"text", "jsonl", "json", "csv", "sarif", "junit", "github"};

const char *format_name(enum format format)
{
    return names[format];
}

bool format_choose(const struct cli *cli, unsigned allowed, enum format *out)
{
    const char *name = cli->settings.output.format;
    *out = terminal_output() ? FORMAT_TEXT : FORMAT_JSONL;
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(names[i], name) == 0) *out = (enum format)i;
    if (allowed & 1U << *out) return true;
    complain("%s does not support the format %s", cli->command->name, name);
    return false;
}

void format_json(const json_t *value, enum format format, FILE *stream)
{
    size_t flags = JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY | (format == FORMAT_JSON ? JSON_INDENT(2) : JSON_COMPACT);
    json_dumpf(value, stream, flags);
    fputc('\n', stream);
}

void format_json_text(const char *text, FILE *stream)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    if (value) format_json(value, FORMAT_JSON, stream);
    json_decref(value);
}

json_t *format_text(const char *text)
{
    if (!text) return json_null();
    json_t *plain = json_string(text);
    if (plain) return plain;
    char *valid = g_utf8_make_valid(text, -1);
    json_t *json = json_string(valid);
    g_free(valid);
    return json;
}

void format_json_list(const json_t *list, enum format format, FILE *stream)
{
    if (format == FORMAT_JSON) {
        format_json(list, format, stream);
        return;
    }
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) format_json(item, format, stream);
}
