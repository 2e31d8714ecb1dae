/* Files of tensors in the safetensors format: eight bytes with the length of a JSON header, the header, and the
 * numbers, contiguous and little-endian. The header has name, type and offset of each tensor, and a text for each key
 * of `__metadata__`.
 *
 * Files are untrusted. Header and counts are bounded, and every tensor is within the file. Rows are read on request:
 * memory does not grow with the file, and a file that shrinks meanwhile is an error, not a crash. Tensors have one or
 * two dimensions of F16 and F32; others are refused by name. Thread: an object by one at a time. */
#ifndef ASSAY_LIB_LEARN_TENSORS_H
#define ASSAY_LIB_LEARN_TENSORS_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TENSORS_MAX_HEADER = 1 << 20,
    TENSORS_MAX = 4096,
    TENSORS_MAX_COLUMNS = 1 << 20,
};

enum tensor_type { TENSOR_F16, TENSOR_F32 };

struct tensor {
    char *name;
    enum tensor_type type;
    uint64_t rows, columns; /* a tensor of one dimension has one row */
    uint64_t offset;        /* of its first number in the file */
};

struct tensors {
    char *path;                 /* path, or the name of the bytes in messages */
    int fd;                     /* -1 for bytes in memory */
    const unsigned char *bytes; /* borrowed */
    uint64_t size;
    struct tensor *items; /* ordered by name */
    uint32_t n;
    void *metadata; /* private */
    void *buffer;   /* of one row */
};

/* Opens a file. Returns ERR_IO, ERR_MALFORMED, ERR_LIMIT_BYTES or ERR_LIMIT_COUNT. On success the caller owes
 * tensors_close. */
enum err_code tensors_open(const char *path, struct tensors **out, struct err *err);
/* Opens bytes in memory, which must outlive the object. `name` identifies them in messages. */
enum err_code tensors_read(const void *bytes, size_t len, const char *name, struct tensors **out, struct err *err);
void tensors_close(struct tensors *tensors);

/* Returns a text of `__metadata__`, or NULL. Lives as long as the object. */
const char *tensors_metadata(const struct tensors *tensors, const char *key);
/* Returns the tensor of this name, or NULL. */
const struct tensor *tensors_find(const struct tensors *tensors, const char *name);
/* Reads one row as floats. Returns ERR_IO, or ERR_MALFORMED for a row that does not exist or has a number that is not
 * finite. */
enum err_code tensors_row(struct tensors *tensors, const struct tensor *tensor, uint64_t row, float *out,
                          struct err *err);
/* Reads all rows, contiguous. */
enum err_code tensors_all(struct tensors *tensors, const struct tensor *tensor, float *out, struct err *err);

/* --- writing --- */

struct tensors_writer; /* collects */

struct tensors_writer *tensors_writer_new(void);
void tensors_writer_free(struct tensors_writer *writer);
void tensors_writer_metadata(struct tensors_writer *writer, const char *key, const char *text);
/* Copies the numbers. Names are not repeated. */
void tensors_writer_add(struct tensors_writer *writer, const char *name, enum tensor_type type, const float *numbers,
                        uint64_t rows, uint64_t columns);
/* Writes the file, completely or not at all. Returns ERR_IO. */
enum err_code tensors_writer_save(const struct tensors_writer *writer, const char *path, struct err *err);

/* Convert from and to half precision. Values beyond its range become infinity. */
float tensor_from_half(uint16_t half);
uint16_t tensor_to_half(float value);

#endif
