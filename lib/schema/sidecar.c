/* Reads descriptions beside a database, in BIRD's format. A file database_description/<table>.csv has the columns
 * original_column_name, column_name, column_description, data_format and value_description.
 *
 * People write these files. They are UTF-8, with or without a byte order mark, or Windows-1252. Quoted fields may
 * contain line breaks and doubled quotes. Names may have stray blanks and differ in case. An unusable file is noted and
 * is never an error.
 */
#include "lib/base/bom.h"
#include "lib/schema/schema_int.h"

#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { MAX_BYTES = 4 << 20, MAX_FIELDS = 16 };

enum { FIELD_ORIGINAL, FIELD_NAME, FIELD_DESCRIPTION, FIELD_FORMAT, FIELD_VALUES, N_FIELDS };
static const char *const field_names[N_FIELDS] = {"original_column_name", "column_name", "column_description",
                                                  "data_format", "value_description"};

struct row {
    char *fields[MAX_FIELDS]; /* pointers into the text, unquoted in place; further fields are dropped */
    unsigned n;
};

/* Unquotes the field at *p in place, and moves *p past the closing quote. */
static char *read_quoted(char **p)
{
    char *start = ++*p, *out = start, *in = start;
    while (*in && !(in[0] == '"' && in[1] != '"')) {
        if (*in == '"') in++;
        *out++ = *in++;
    }
    *p = *in ? in + 1 : in;
    *out = '\0';
    return start;
}

/* Reads one record. Returns false at the end of the text. Modifies the NUL-terminated text. */
static bool read_row(char **text, struct row *row)
{
    char *p = *text;
    row->n = 0;
    if (!*p) return false;
    for (;;) {
        char *field = p;
        if (*p == '"') field = read_quoted(&p);
        char *end = p + strcspn(p, ",\r\n"); /* text after a closing quote is dropped */
        char stop = *end;
        if (field == p || stop) *end = '\0';
        if (row->n < MAX_FIELDS) row->fields[row->n++] = g_strstrip(field);
        p = stop ? end + 1 : end;
        if (stop == ',') continue;
        if (stop == '\r' && *p == '\n') p++;
        *text = p;
        return true;
    }
}

/* Finds the position of each field. Returns false if the header lacks the column's name. */
static bool read_header(const struct row *row, int at[N_FIELDS])
{
    for (int i = 0; i < N_FIELDS; i++) {
        at[i] = -1;
        for (unsigned j = 0; j < row->n; j++)
            if (strcasecmp(row->fields[j], field_names[i]) == 0) at[i] = (int)j;
    }
    return at[FIELD_ORIGINAL] >= 0;
}

static const char *field(struct builder *builder, const struct row *row, int at)
{
    const char *text = at >= 0 && (unsigned)at < row->n ? row->fields[at] : "";
    return *text ? arena_strdup(builder->arena, text) : NULL;
}

/* Sets the column's words to those of its name and, if it differs, of its full name. */
void schema_widen_words(struct arena *arena, struct schema_column *column)
{
    if (!column->full_name || strcasecmp(column->full_name, column->name) == 0) return;
    struct text_tokens full = text_split_identifier(arena, column->full_name, strlen(column->full_name));
    struct text_token *items = arena_new_array(arena, (size_t)column->words.n + full.n, struct text_token);
    if (!items || !full.items) return;
    uint32_t n = column->words.n;
    if (n) memcpy(items, column->words.items, n * sizeof *items);
    for (uint32_t i = 0; i < full.n; i++) {
        bool known = false;
        for (uint32_t j = 0; j < n && !known; j++) known = strcmp(items[j].stem, full.items[i].stem) == 0;
        if (!known) items[n++] = full.items[i];
    }
    column->words.items = items;
    column->words.n = n;
}

static void describe(struct builder *builder, struct schema_column *column, const struct row *row,
                     const int at[N_FIELDS])
{
    column->full_name = field(builder, row, at[FIELD_NAME]);
    column->description = field(builder, row, at[FIELD_DESCRIPTION]);
    column->value_description = field(builder, row, at[FIELD_VALUES]);
    bool some = column->full_name || column->description || column->value_description;
    builder->index->has_descriptions |= some;
    schema_widen_words(builder->arena, column);
}

/* Returns the file's text in UTF-8 without a byte order mark. Returns NULL if it cannot be read. */
static char *read_text(const char *path)
{
    char *bytes = NULL, *text;
    gsize len;
    if (!g_file_get_contents(path, &bytes, &len, NULL)) return NULL;
    const char *start = bytes;
    size_t mark = bom_length(start, len);
    start += mark, len -= mark;
    if (g_utf8_validate_len(start, len, NULL))
        text = g_strndup(start, len);
    else
        text = g_convert(start, (gssize)len, "UTF-8", "WINDOWS-1252", NULL, NULL, NULL);
    if (!text) text = g_convert(start, (gssize)len, "UTF-8", "ISO-8859-1", NULL, NULL, NULL);
    g_free(bytes);
    return text;
}

static void read_csv(struct builder *builder, const char *path, int table)
{
    char *text = read_text(path), *rest = text;
    struct row row;
    int at[N_FIELDS];
    if (!text || !read_row(&rest, &row) || !read_header(&row, at)) {
        builder_note(builder, "%s holds no column descriptions", path);
        g_free(text);
        return;
    }
    while (read_row(&rest, &row)) {
        const char *name = (unsigned)at[FIELD_ORIGINAL] < row.n ? row.fields[at[FIELD_ORIGINAL]] : "";
        int column = schema_find_column(builder->index, table, name, strlen(name));
        if (column >= 0) describe(builder, &builder->index->tables[table].columns[column], &row, at);
    }
    g_free(text);
}

static void read_file(struct builder *builder, const char *dir, const char *name)
{
    size_t len = strlen(name);
    if (len <= 4 || strcasecmp(name + len - 4, ".csv") != 0) return;
    int table = schema_find_table(builder->index, name, len - 4);
    if (table < 0) return;
    char *path = g_build_filename(dir, name, NULL);
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES)
        read_csv(builder, path, table);
    else
        builder_note(builder, "%s is too large or no file", path);
    g_free(path);
}

/* Returns the folder of the description files, or NULL. Free with g_free. */
static char *folder_of(const char *path, const char *given)
{
    if (given) return g_strdup(given);
    char *parent = path && db_is_file(path) ? g_path_get_dirname(path) : NULL;
    char *dir = parent ? g_build_filename(parent, "database_description", NULL) : NULL;
    g_free(parent);
    return dir;
}

/* Returns the path of words.yaml in the given folder; without a folder, the path beside the database. Returns NULL if
 * there is none. Free with g_free. */
static char *words_of(const char *path, const char *given)
{
    if (given) return g_build_filename(given, "words.yaml", NULL);
    char *parent = path && db_is_file(path) ? g_path_get_dirname(path) : NULL;
    char *file = parent ? g_build_filename(parent, "words.yaml", NULL) : NULL;
    g_free(parent);
    return file;
}

/* Returns a number that changes with the file's name, size and time. Returns 0 if the file does not exist. */
static uint64_t stamp_of(const char *file, const char *name)
{
    struct stat st = {0};
    if (!file || stat(file, &st) != 0) return 0;
    int64_t facts[] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    return XXH3_64bits_withSeed(facts, sizeof facts, XXH3_64bits(name, strlen(name)));
}

uint64_t schema_sidecar_stamp(const char *path, const char *descriptions_dir)
{
    char *dir = folder_of(path, descriptions_dir);
    GDir *entries = dir ? g_dir_open(dir, 0, NULL) : NULL;
    const char *name;
    char *words = words_of(path, descriptions_dir);
    /* In a given folder, the loop below finds the file. */
    uint64_t stamp = descriptions_dir ? 0 : stamp_of(words, "words.yaml");
    while (entries && (name = g_dir_read_name(entries)) != NULL) {
        char *file = g_build_filename(dir, name, NULL);
        stamp += stamp_of(file, name); /* a sum does not depend on the order of the files */
        g_free(file);
    }
    if (entries) g_dir_close(entries);
    g_free(words);
    g_free(dir);
    return stamp;
}

enum err_code schema_read_sidecar(struct builder *builder, const char *path)
{
    char *words = words_of(path, builder->options->descriptions_dir);
    if (words) schema_read_words(builder, words);
    g_free(words);
    char *dir = folder_of(path, builder->options->descriptions_dir);
    if (!dir) return ERR_OK;
    GDir *entries = g_dir_open(dir, 0, NULL);
    const char *name;
    while (entries && (name = g_dir_read_name(entries)) != NULL) read_file(builder, dir, name);
    if (entries) g_dir_close(entries);
    g_free(dir);
    return builder->arena->failed ? builder_full(builder) : ERR_OK;
}
