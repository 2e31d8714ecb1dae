#include "cli/output/region.h"
#include "cli/output/caret.h"

#include <glib.h>

struct region region_of(const struct sql_file *file, const struct msg_text *sql, const struct msg_clause *clause)
{
    uint32_t start = clause ? MIN(clause->start, sql->len) : 0;
    uint32_t end = clause ? MIN(MAX(clause->end, start), sql->len) : sql->len;
    struct region region = {.start = start, .end = end};
    caret_position(sql->bytes, sql->len, start, &region.line, &region.column);
    caret_position(sql->bytes, sql->len, end, &region.end_line, &region.end_column);
    if (!file) return region;
    region.line += file->line - 1;
    region.end_line += file->line - 1;
    region.start += file->start;
    region.end += file->start;
    return region;
}

char *region_uri(const struct sql_file *file)
{
    char *path = g_uri_escape_string(file->path, "/", FALSE);
    char *uri = g_path_is_absolute(file->path) ? g_strconcat("file://", path, NULL) : g_strdup(path);
    g_free(path);
    return uri;
}
