#include "lib/learn/json_file.h"
#include "lib/base/bom.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum err_code model_file_read(const char *path, char **text, size_t *len, struct err *err)
{
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return err_set(err, ERR_IO, "%s: %s", path, g_strerror(errno));
    size_t room = 65536, n = 0;
    char *buffer = g_try_malloc(room);
    while (buffer) {
        n += fread(buffer + n, 1, room - n, file);
        if (n < room || n > MODEL_FILE_MAX) break;
        char *larger = g_try_realloc(buffer, room *= 2);
        if (!larger) g_free(buffer);
        buffer = larger;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    if (buffer && !failed && n <= MODEL_FILE_MAX) {
        size_t mark = bom_length(buffer, n);
        memmove(buffer, buffer + mark, n - mark);
        *text = buffer;
        *len = n - mark;
        return ERR_OK;
    }
    g_free(buffer);
    if (!buffer) return err_set(err, ERR_NOMEM, "%s: out of memory", path);
    if (failed) return err_set(err, ERR_IO, "%s: cannot be read", path);
    return err_set(err, ERR_LIMIT_BYTES, "%s: larger than %d bytes", path, MODEL_FILE_MAX);
}

enum err_code model_file_write(const char *path, const char *text, struct err *err)
{
    if (!text) return err_set(err, ERR_NOMEM, "%s: out of memory", path);
    GError *failure = NULL;
    if (g_file_set_contents(path, text, -1, &failure)) return ERR_OK;
    enum err_code code = err_set(err, ERR_IO, "%s", failure->message);
    g_error_free(failure);
    return code;
}

enum err_code model_json_check(const json_t *root, const char *format, int version, struct err *err)
{
    const char *name = json_string_value(json_object_get(root, "format"));
    const json_t *number = json_object_get(root, "version");
    if (!name || strcmp(name, format) != 0) return err_set(err, ERR_MALFORMED, "not a file of format %s", format);
    if (!json_is_integer(number)) return err_set(err, ERR_MALFORMED, "the file has no version");
    json_int_t found = json_integer_value(number);
    if (found >= 1 && found <= version) return ERR_OK;
    return err_set(err, ERR_VERSION, "%s has unsupported version %lld; this build reads version %d", format,
                   (long long)found, version);
}

enum err_code model_json_parse(const char *text, size_t len, const char *format, int version, json_t **out,
                               struct err *err)
{
    *out = NULL;
    if (len > MODEL_FILE_MAX) return err_set(err, ERR_LIMIT_BYTES, "model larger than %d bytes", MODEL_FILE_MAX);
    json_error_t where;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    if (!root) return err_set(err, ERR_MALFORMED, "line %d, column %d: %s", where.line, where.column, where.text);
    enum err_code code = model_json_check(root, format, version, err);
    if (code)
        json_decref(root);
    else
        *out = root;
    return code;
}

static bool in_range(const json_t *value, double low, double high, double *out)
{
    if (!json_is_number(value)) return false;
    double number = json_number_value(value);
    if (!(number >= low && number <= high)) return false;
    *out = number;
    return true;
}

bool model_get_real(const json_t *object, const char *key, double low, double high, double *out)
{
    return in_range(json_object_get(object, key), low, high, out);
}

bool model_get_count(const json_t *object, const char *key, size_t most, size_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    if ((unsigned long long)json_integer_value(value) > most) return false;
    *out = (size_t)json_integer_value(value);
    return true;
}

bool model_get_text(const json_t *object, const char *key, size_t room, char *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) return false;
    size_t n = json_string_length(value);
    if (n >= room || strlen(json_string_value(value)) != n) return false;
    memcpy(out, json_string_value(value), n + 1);
    return true;
}

bool model_read_reals(const json_t *array, double low, double high, size_t n, double *out)
{
    if (!json_is_array(array) || json_array_size(array) != n) return false;
    for (size_t i = 0; i < n; i++)
        if (!in_range(json_array_get(array, i), low, high, &out[i])) return false;
    return true;
}

bool model_get_reals(const json_t *object, const char *key, double low, double high, size_t n, double *out)
{
    return model_read_reals(json_object_get(object, key), low, high, n, out);
}

json_t *model_reals(const double *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        if (json_array_append_new(array, json_real(values[i]))) {
            json_decref(array);
            return NULL;
        }
    return array;
}

char *model_plain_text(const char *text)
{
    return g_utf8_make_valid(text ? text : "", -1);
}

char *model_json_text(json_t *root, bool compact)
{
    if (!root) return NULL;
    char *text = json_dumps(root, compact ? JSON_COMPACT : JSON_INDENT(1));
    json_decref(root);
    return text;
}
