/* Reads and writes files in the safetensors format (tensors.h): 8 little-endian bytes with the length of the header, a
 * JSON header, then the data.
 *
 * Files are untrusted. The header is bounded. Opening a file checks each tensor's type, shape and byte range. Rows are
 * read on request, by pread or from the caller's bytes. A value that is not finite is an error. */
#include "lib/learn/tensors.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t bytes;
} TYPES[] = {[TENSOR_F16] = {"F16", 2}, [TENSOR_F32] = {"F32", 4}};

/* --- half precision --- */

float tensor_from_half(uint16_t half)
{
    int exponent = (half >> 10) & 0x1F, fraction = half & 0x3FF;
    float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? ldexpf((float)fraction, -24)
                                  : ldexpf((float)(fraction | 0x400), exponent - 25);
    return half & 0x8000 ? -value : value;
}

uint16_t tensor_to_half(float value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    float size = fabsf(value);
    if (isnan(value)) return sign | 0x7E00;
    if (size >= 65520.0F) return sign | 0x7C00; /* would round to a value above the maximum of 65,504 */
    if (size < ldexpf(1, -14)) return sign | (uint16_t)lrintf(ldexpf(size, 24));
    int exponent;
    long fraction = lrintf(ldexpf(frexpf(size, &exponent), 11)); /* a number from 1,024 to 2,048 */
    /* A rounded fraction of 2,048 carries into the exponent. */
    return sign | (uint16_t)(((exponent + 14) << 10) + (fraction - 1024));
}

/* --- the header --- */

static enum err_code malformed(struct tensors *t, struct err *err, const char *name, const char *why)
{
    return err_set(err, ERR_MALFORMED, "%s: tensor %.80s: %s", t->path, name, why);
}

static bool read_at(const struct tensors *t, void *out, size_t n, uint64_t offset)
{
    if (t->bytes && (offset > t->size || n > t->size - offset)) return false;
    if (t->bytes) return memcpy(out, t->bytes + offset, n), true;
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(t->fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static bool read_shape(const json_t *shape, struct tensor *tensor)
{
    size_t n = json_array_size(shape);
    const json_int_t last = json_integer_value(json_array_get(shape, n ? n - 1 : 0)),
                     first = n == 2 ? json_integer_value(json_array_get(shape, 0)) : 1;
    if (n < 1 || n > 2 || first < 0 || last < 1 || last > TENSORS_MAX_COLUMNS || first > INT64_C(1) << 40) return false;
    tensor->rows = (uint64_t)first;
    tensor->columns = (uint64_t)last;
    return true;
}

static enum err_code read_tensor(struct tensors *t, const char *name, const json_t *json, uint64_t begin, uint64_t size,
                                 struct err *err)
{
    struct tensor *tensor = &t->items[t->n];
    const char *type = json_string_value(json_object_get(json, "dtype"));
    const json_t *offsets = json_object_get(json, "data_offsets");
    const json_int_t from = json_integer_value(json_array_get(offsets, 0)),
                     to = json_integer_value(json_array_get(offsets, 1));
    unsigned known = 0;
    while (known < G_N_ELEMENTS(TYPES) && type && strcmp(TYPES[known].name, type) != 0) known++;
    if (!type || known == G_N_ELEMENTS(TYPES)) return malformed(t, err, name, "type must be F16 or F32");
    if (!read_shape(json_object_get(json, "shape"), tensor))
        return malformed(t, err, name, "must have one or two dimensions, the last of at most 1,048,576");
    if (json_array_size(offsets) != 2 || from < 0 || to < from || (uint64_t)to > size)
        return malformed(t, err, name, "lies outside the file, which may be truncated");
    if (tensor->rows * tensor->columns * TYPES[known].bytes != (uint64_t)(to - from))
        return malformed(t, err, name, "shape and number of bytes do not match");
    tensor->name = g_strdup(name);
    tensor->type = (enum tensor_type)known;
    tensor->offset = begin + (uint64_t)from;
    t->n++;
    return ERR_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

static enum err_code read_tensors(struct tensors *t, json_t *header, uint64_t begin, uint64_t size, struct err *err)
{
    const char *name;
    json_t *item;
    enum err_code code = ERR_OK;
    if (json_object_size(header) > TENSORS_MAX)
        return err_set(err, ERR_LIMIT_COUNT, "%s: more than %d tensors", t->path, TENSORS_MAX);
    t->items = g_new0(struct tensor, json_object_size(header) + 1);
    json_object_foreach(header, name, item)
    {
        if (strcmp(name, "__metadata__") == 0)
            t->metadata = json_incref(item);
        else if (!code)
            code = read_tensor(t, name, item, begin, size, err);
    }
    qsort(t->items, t->n, sizeof *t->items, by_name);
    uint64_t widest = 1;
    for (uint32_t i = 0; i < t->n; i++) widest = MAX(widest, t->items[i].columns);
    t->buffer = g_malloc(widest * sizeof(float));
    return code;
}

static enum err_code read_header(struct tensors *t, struct err *err)
{
    unsigned char prefix[8] = {0};
    uint64_t length = 0, size = t->size;
    if (!read_at(t, prefix, sizeof prefix, 0))
        return err_set(err, ERR_MALFORMED, "%s: not a safetensors file", t->path);
    for (int i = 7; i >= 0; i--) length = length << 8 | prefix[i];
    if (length > TENSORS_MAX_HEADER || length + sizeof prefix > size)
        return err_set(err, ERR_MALFORMED, "%s: not a safetensors file, or truncated, or a header larger than %d bytes",
                       t->path, TENSORS_MAX_HEADER);
    char *text = g_malloc(length + 1);
    bool got = read_at(t, text, length, sizeof prefix);
    json_t *header = got ? json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL) : NULL;
    g_free(text);
    enum err_code code =
        json_is_object(header)
            ? read_tensors(t, header, length + sizeof prefix, size - length - sizeof prefix, err)
            : err_set(err, ERR_MALFORMED, "%s: the header of the safetensors file is not a JSON object", t->path);
    json_decref(header);
    return code;
}

static struct tensors *new_tensors(const char *name)
{
    struct tensors *t = g_new0(struct tensors, 1);
    t->path = g_strdup(name);
    t->fd = -1;
    return t;
}

/* Returns the object to the caller; after an error, closes it. */
static enum err_code finish(struct tensors *t, enum err_code code, struct tensors **out)
{
    *out = code ? NULL : t;
    if (code) tensors_close(t);
    return code;
}

enum err_code tensors_open(const char *path, struct tensors **out, struct err *err)
{
    struct stat about;
    struct tensors *t = new_tensors(path);
    t->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (t->fd < 0 || fstat(t->fd, &about) != 0)
        return finish(t, err_set(err, ERR_IO, "%s: %s", path, g_strerror(errno)), out);
    t->size = (uint64_t)about.st_size;
    return finish(t, read_header(t, err), out);
}

enum err_code tensors_read(const void *bytes, size_t len, const char *name, struct tensors **out, struct err *err)
{
    struct tensors *t = new_tensors(name);
    t->bytes = bytes;
    t->size = len;
    return finish(t, read_header(t, err), out);
}

void tensors_close(struct tensors *t)
{
    if (!t) return;
    for (uint32_t i = 0; i < t->n; i++) g_free(t->items[i].name);
    if (t->fd >= 0) close(t->fd);
    json_decref(t->metadata);
    g_free(t->items);
    g_free(t->buffer);
    g_free(t->path);
    g_free(t);
}

const char *tensors_metadata(const struct tensors *t, const char *key)
{
    return json_string_value(json_object_get(t->metadata, key));
}

const struct tensor *tensors_find(const struct tensors *t, const char *name)
{
    struct tensor wanted = {.name = (char *)name};
    return t->n ? bsearch(&wanted, t->items, t->n, sizeof *t->items, by_name) : NULL;
}

/* --- rows --- */

static bool to_floats(const struct tensor *tensor, const unsigned char *bytes, float *out)
{
    for (uint64_t i = 0; i < tensor->columns; i++) {
        if (tensor->type == TENSOR_F16) {
            out[i] = tensor_from_half((uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8));
        } else {
            uint32_t word = (uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 |
                            (uint32_t)bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
            memcpy(&out[i], &word, sizeof word);
        }
        if (!isfinite(out[i])) return false;
    }
    return true;
}

enum err_code tensors_row(struct tensors *t, const struct tensor *tensor, uint64_t row, float *out, struct err *err)
{
    uint64_t bytes = tensor->columns * TYPES[tensor->type].bytes;
    if (row >= tensor->rows) return malformed(t, err, tensor->name, "has fewer rows than there are tokens");
    if (!read_at(t, t->buffer, bytes, tensor->offset + row * bytes))
        return err_set(err, ERR_IO, "%s: cannot be read to the end", t->path);
    if (!to_floats(tensor, t->buffer, out))
        return err_set(err, ERR_MALFORMED, "%s: tensor %.80s: row %llu has a value that is not finite", t->path,
                       tensor->name, (unsigned long long)row);
    return ERR_OK;
}

enum err_code tensors_all(struct tensors *t, const struct tensor *tensor, float *out, struct err *err)
{
    enum err_code code = ERR_OK;
    for (uint64_t row = 0; !code && row < tensor->rows; row++)
        code = tensors_row(t, tensor, row, out + row * tensor->columns, err);
    return code;
}

/* --- writing --- */

struct tensors_writer {
    json_t *header, *metadata;
    GByteArray *data;
};

struct tensors_writer *tensors_writer_new(void)
{
    struct tensors_writer *w = g_new0(struct tensors_writer, 1);
    w->header = json_object();
    w->metadata = json_object();
    w->data = g_byte_array_new();
    return w;
}

void tensors_writer_free(struct tensors_writer *w)
{
    if (!w) return;
    json_decref(w->header);
    json_decref(w->metadata);
    g_byte_array_free(w->data, TRUE);
    g_free(w);
}

void tensors_writer_metadata(struct tensors_writer *w, const char *key, const char *text)
{
    json_object_set_new(w->metadata, key, json_string(text));
}

static void append(GByteArray *data, enum tensor_type type, float value)
{
    uint8_t bytes[4];
    uint32_t word = 0;
    memcpy(&word, &value, sizeof word);
    if (type == TENSOR_F16) word = tensor_to_half(value);
    for (unsigned i = 0; i < TYPES[type].bytes; i++) bytes[i] = (uint8_t)(word >> (8 * i));
    g_byte_array_append(data, bytes, (guint)TYPES[type].bytes);
}

void tensors_writer_add(struct tensors_writer *w, const char *name, enum tensor_type type, const float *numbers,
                        uint64_t rows, uint64_t columns)
{
    json_int_t from = w->data->len;
    for (uint64_t i = 0; i < rows * columns; i++) append(w->data, type, numbers[i]);
    json_object_set_new(w->header, name,
                        json_pack("{s:s,s:[I,I],s:[I,I]}", "dtype", TYPES[type].name, "shape", (json_int_t)rows,
                                  (json_int_t)columns, "data_offsets", from, (json_int_t)w->data->len));
}

enum err_code tensors_writer_save(const struct tensors_writer *w, const char *path, struct err *err)
{
    json_t *whole = json_copy(w->header);
    json_object_set(whole, "__metadata__", w->metadata);
    char *text = json_dumps(whole, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(whole);
    if (!text) return err_set(err, ERR_NOMEM, "%s: out of memory", path);
    uint64_t length = strlen(text);
    GString *out = g_string_new(NULL);
    for (int i = 0; i < 8; i++) g_string_append_c(out, (char)(length >> (8 * i)));
    g_string_append_len(out, text, (gssize)length);
    g_string_append_len(out, (const char *)w->data->data, w->data->len);
    free(text);
    GError *failure = NULL;
    enum err_code code = ERR_OK;
    if (!g_file_set_contents(path, out->str, (gssize)out->len, &failure))
        code = err_set(err, ERR_IO, "%s", failure->message);
    g_clear_error(&failure);
    g_string_free(out, TRUE);
    return code;
}
